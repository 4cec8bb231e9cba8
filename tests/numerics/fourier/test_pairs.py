"""Splittings of tables over Z_n x Z_n: each part by its definition, planted parts found, and nothing left over."""

import numpy as np
import pytest

from lemmata.numerics.fourier.pairs import additive_part, answer_waves, line_energies

RNG = np.random.default_rng(0)


def test_the_additive_part_is_that_of_least_squares():
    n = 5
    tables = RNG.normal(size=(n, n, 3)) * [1, 10, 1e6]
    part = additive_part(tables)
    rows, columns = np.divmod(np.arange(n * n), n)
    design = np.concatenate([np.eye(n)[rows], np.eye(n)[columns]], axis=1)
    fitted = design @ np.linalg.lstsq(design, tables.reshape(n * n, 3), rcond=None)[0]
    assert np.allclose(part.table().reshape(n * n, 3), fitted, rtol=1e-10)
    assert np.allclose(part.rest, ((tables.reshape(n * n, 3) - fitted) ** 2).mean(axis=0))
    assert np.allclose(part.energy + part.rest, tables.var(axis=(0, 1)))
    assert min(part.rest / part.energy) > 0.1
    product = np.outer(np.arange(n) - 2, np.arange(n) - 2)[:, :, None]  # a b without its means has no additive part
    assert additive_part(product).energy == 0
    assert additive_part(product).rest == 4


@pytest.mark.parametrize("n", [6, 7])
def test_lines_of_frequencies_are_told_apart(n):
    a, b = np.ogrid[:n, :n]

    def angle(i, j):
        return 2 * np.pi * (i * a + j * b) / n

    planted = [
        2 * np.cos(angle(2, 2) + 1),
        3 * np.sin(angle(1, -1)),
        4 * np.cos(angle(1, 0)) + 5 * np.cos(angle(0, 2)),
        6 * np.cos(angle(1, 2)),
        7 + 0 * np.cos(angle(1, 1)),
    ]
    found = line_energies(np.stack([*planted, sum(planted)], axis=2))
    expected = np.zeros((4, 6))
    expected[[0, 1, 2, 3], [0, 1, 2, 3]] = expected[:, 5] = [2, 4.5, 20.5, 18]
    parts = np.array([found.total, found.difference, found.single, found.others])
    assert np.abs(parts - expected).max() < 1e-12
    noise = RNG.normal(size=(n, n, 1))
    energies = line_energies(noise)
    total = energies.total + energies.difference + energies.single + energies.others
    assert np.allclose(total, noise.var())
    if n == 6:  # (-1)^(a + b) = (-1)^(a - b) counts as a function of the sum
        assert np.isclose(line_energies((-1.0) ** (a + b)[:, :, None]).total, 1)


@pytest.mark.parametrize("n", [4, 5, 7])
def test_waves_of_the_answer_are_found_beside_everything_else(n):
    a, b, c = np.ogrid[:n, :n, :n]
    A, B = RNG.normal(size=(2, n // 2))
    if n % 2 == 0:
        B[-1] = 0
    angles = [2 * np.pi * j * (a + b - c) / n for j in range(1, n // 2 + 1)]
    waves = sum(s * np.cos(x) + t * np.sin(x) for s, t, x in zip(A, B, angles, strict=True))
    unseen = RNG.normal(size=(n, n, 1)) * 5  # no margin sees it
    rest = np.cos(2 * np.pi * (a - b - c) / n) + 3 * np.cos(2 * np.pi * (a - c) / n)
    L = waves + unseen + rest
    found = answer_waves(L)
    assert np.allclose(found.cosines, A)
    assert np.allclose(found.sines, B)
    energy = ((waves + rest) ** 2).mean()
    assert np.isclose(found.rest, (rest**2).mean() / energy)
    assert np.isclose(found.cosine_shares.sum() + found.sine_shares.sum() + found.rest, 1)
    for j, angle in enumerate(angles):
        assert np.isclose(found.cosine_shares[j], ((A[j] * np.cos(angle)) ** 2).mean() / energy)
        assert np.isclose(found.sine_shares[j], ((B[j] * np.sin(angle)) ** 2).mean() / energy)
    by_hand = [sum(A[j] * np.cos(2 * np.pi * (j + 1) * d / n) for j in range(n // 2)) for d in range(n)]
    assert np.allclose(found.cosine_values(n), by_hand)
    large = answer_waves(1e200 * L)
    assert np.allclose(large.cosines, 1e200 * A)
    assert np.isclose(large.rest, found.rest)


def test_what_has_no_split_is_refused():
    with pytest.raises(ValueError, match=r"have the shape \(n, n, k\), not \(2, 3, 1\)"):
        additive_part(np.zeros((2, 3, 1)))
    with pytest.raises(ValueError, match=r"have the shape \(n, n, k\), not \(3, 3\)"):
        line_energies(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"modulo 3 have the shape \(3, 3, 3\)"):
        answer_waves(np.ones((3, 3, 2)))
    for constant in (np.zeros((3, 3, 3)), np.arange(9.0).reshape(3, 3, 1) * np.ones(3) / 7):
        with pytest.raises(ValueError, match="do not depend on the label"):
            answer_waves(constant)
