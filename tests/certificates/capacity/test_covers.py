"""Covers of finite classes against brute force, faults in certificates, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from flint import fmpq

import lemmata.certificates.capacity.set_cover as set_cover
from lemmata.certificates.capacity.covers import certify_cover, covering_steps, largest_packing, verify_cover
from lemmata.certificates.capacity.set_cover import CoverError, least_set_cover, maximal_cliques, verify_set_cover


def table(seed: int, functions: int = 7, points: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(-4, 5, (functions, points))


def brute_force(sets: np.ndarray) -> int:
    """The least number of rows of a Boolean matrix that cover all columns."""
    sizes = range(1, len(sets) + 1)
    return next(k for k in sizes if any(sets[list(c)].any(axis=0).all() for c in combinations(range(len(sets)), k)))


@pytest.mark.parametrize("seed", range(8))
def test_proper_covering_numbers_by_brute_force(seed):
    values = table(seed)
    distances = abs(values[:, None] - values[None]).max(axis=-1)
    for radius in (1, 2, 3, 5):
        found = certify_cover(values, radius)
        assert found.exact
        assert found.size == brute_force(distances <= radius)


@pytest.mark.parametrize("seed", range(8))
def test_improper_covering_numbers_by_brute_force(seed):
    values = table(seed)
    for radius in (fmpq(1, 2), 1, 2):
        groups = [
            [f in group for f in range(len(values))]
            for size in range(1, len(values) + 1)
            for group in combinations(range(len(values)), size)
            if (np.ptp(values[list(group)], axis=0) <= 2 * radius).all()
        ]
        found = certify_cover(values, radius, proper=False)
        assert found.size == found.lower == brute_force(np.array(groups))


@pytest.mark.parametrize(("norm", "order"), [("maximum", np.inf), ("sum", 1), ("euclidean", 2)])
def test_covers_of_vectors(norm, order):
    values = np.random.default_rng(5).integers(-3, 4, (7, 2, 2))
    distances = np.linalg.norm(values[:, None] - values[None], ord=order, axis=-1).max(axis=-1)
    for radius in (2, 3, 4):
        assert certify_cover(values, radius, norm=norm).size == brute_force(distances <= radius + 1e-9)


def test_steps_are_the_covering_numbers():
    values = table(3, functions=9)
    steps = covering_steps(values)
    for radius in [fmpq(k, 2) for k in range(1, 20)]:
        expected = next(number for start, number in reversed(steps) if start <= radius)
        assert certify_cover(values, radius).size == expected
    assert covering_steps([[1, 2]]) == [(0, 1)]
    assert covering_steps([[1, 2], [1, 2]]) == [(0, 1)]


@pytest.mark.parametrize("seed", range(5))
def test_packings_and_covers(seed):
    values = table(seed)
    distances = abs(values[:, None] - values[None]).max(axis=-1)
    for radius in (1, 2, 3):
        packing = largest_packing(values, radius)
        assert all(distances[a, b] > radius for a, b in combinations(packing, 2))
        assert len(largest_packing(values, 2 * radius)) <= certify_cover(values, radius, proper=False).size
        assert certify_cover(values, radius).size <= len(packing)


CYCLE = [0b00011, 0b00110, 0b01100, 0b11000, 0b10001]  # five arcs of a circle: 5/2 by weights, 3 by parity


def test_a_gap_of_the_weights_is_closed_by_them_rounded_up():
    found = least_set_cover(CYCLE, 5)
    assert (len(found.chosen), found.lower, found.searched) == (3, 3, False)
    assert sum(found.weights, start=fmpq(0)) == fmpq(5, 2)


FANO = [0b0000111, 0b0011001, 0b1100001, 0b0101010, 0b1010010, 0b1001100, 0b0110100]


def test_a_larger_gap_is_closed_by_a_search():
    blocks = [block ^ 0b1111111 for block in FANO]  # complements of lines: any two miss a point
    found = least_set_cover(blocks, 7)
    assert (len(found.chosen), found.lower, found.searched) == (3, 3, True)
    verify_set_cover(blocks, 7, found)
    with pytest.raises(CoverError, match="search does not show"):
        verify_set_cover(blocks, 7, replace(found, lower=4))


def test_a_search_that_is_given_up_leaves_a_gap():
    found = least_set_cover([block ^ 0b1111111 for block in FANO], 7, largest_search=2)
    assert not found.exact
    assert found.lower == 2


def test_a_cover_that_is_too_large_is_improved(monkeypatch):
    monkeypatch.setattr(set_cover, "_program_cover", lambda sets, elements, matrix: list(range(len(sets))))
    assert len(least_set_cover(CYCLE, 5).chosen) == 3


def test_the_program_finds_a_cover_that_the_largest_sets_first_would_not():
    """Two halves, and a set of four that leaves one element of each: without a search to improve what was found."""
    found = least_set_cover([0b110110, 0b000111, 0b111000], 6, largest_search=0)
    assert (found.chosen, found.lower, found.searched) == ((1, 2), 2, False)


def test_wrong_set_covers_are_rejected():
    found = least_set_cover(CYCLE, 5)
    with pytest.raises(CoverError, match="do not cover"):
        verify_set_cover(CYCLE, 5, replace(found, chosen=found.chosen[:2]))
    with pytest.raises(CoverError, match="above 1"):
        verify_set_cover(CYCLE, 5, replace(found, weights=tuple(y * fmpq(51, 50) for y in found.weights)))
    with pytest.raises(CoverError, match="do not show"):
        verify_set_cover(CYCLE, 5, replace(found, lower=4))
    with pytest.raises(CoverError, match="weights >= 0"):
        verify_set_cover(CYCLE, 5, replace(found, weights=(fmpq(-1), *found.weights[1:])))


def test_wrong_covers_are_rejected():
    values = table(1)
    found = certify_cover(values, 3)
    with pytest.raises(CoverError, match="beyond"):
        verify_cover(values, replace(found, radius=fmpq(1, 2)))
    moved = replace(found, centres=found.centres + fmpq(1, 100), radius=fmpq(7, 2))
    with pytest.raises(CoverError, match="does not belong"):
        verify_cover(values, moved)
    with pytest.raises(CoverError, match="does not exist"):
        verify_cover(values, replace(found, assignment=(99, *found.assignment[1:])))
    with pytest.raises(CoverError, match="assignments"):
        verify_cover(values, replace(found, assignment=found.assignment[1:]))
    with pytest.raises(CoverError, match="another size"):
        verify_cover(values, replace(found, sets=replace(found.sets, chosen=(0,) * 9)))


def test_a_function_at_a_little_more_than_the_radius_is_not_covered():
    found = certify_cover([[0], [100], [50]], 50)
    assert found.size == 1
    with pytest.raises(CoverError, match=r"distance 51 from centre 0, beyond 50"):
        verify_cover([[-1], [100], [50]], found)


@pytest.mark.parametrize("seed", range(4))
def test_packings_of_vectors_by_brute_force(seed):
    values = np.random.default_rng(seed).integers(-3, 4, (7, 2, 2))
    squares = ((values[:, None] - values[None]) ** 2).sum(axis=-1).max(axis=-1)
    for gap in (2, 3, 4):
        groups = [c for k in range(1, 8) for c in combinations(range(7), k)]
        apart = [c for c in groups if all(squares[a, b] > gap**2 for a, b in combinations(c, 2))]
        found = largest_packing(values, gap, norm="euclidean")
        assert found in apart
        assert len(found) == max(map(len, apart))


@pytest.mark.parametrize("seed", range(4))
def test_steps_of_improper_covers(seed):
    values = table(seed)
    steps = covering_steps(values, proper=False)
    for radius in [fmpq(k, 4) for k in range(1, 20)]:
        expected = next(number for start, number in reversed(steps) if start <= radius)
        assert certify_cover(values, radius, proper=False).size == expected


def test_cliques_of_a_path():
    assert sorted(maximal_cliques([0b010, 0b101, 0b010], 5)) == [0b011, 0b110]
    with pytest.raises(ValueError, match="maximal groups"):
        maximal_cliques([0, 0, 0], 2)


@pytest.mark.parametrize("radius", [0, -1])
def test_radii_that_are_not_positive_are_refused(radius):
    with pytest.raises(ValueError, match="radius eps"):
        certify_cover(table(0), radius)


def test_bad_classes_are_refused():
    with pytest.raises(ValueError, match="more than 200"):
        certify_cover(np.arange(201)[:, None], 1)
    with pytest.raises(ValueError, match="one length"):
        certify_cover([[1, 2], [3]], 1)
    with pytest.raises(ValueError, match="not exact"):
        certify_cover([[float("nan")]], 1)
    with pytest.raises(ValueError, match="Centres outside"):
        certify_cover([[[1, 2]]], 1, proper=False, norm="sum")
    with pytest.raises(ValueError, match="Euclidean"):
        covering_steps([[[1, 2]]], norm="euclidean")
    with pytest.raises(ValueError, match="separation"):
        largest_packing(table(0), -1)


def test_bad_set_systems_are_refused():
    with pytest.raises(ValueError, match="Sets are integers"):
        least_set_cover([0b100], 2)
    with pytest.raises(ValueError, match="in no set"):
        least_set_cover([0b1], 2)
