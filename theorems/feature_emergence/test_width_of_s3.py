"""Ext-E4 (d): 12 neurons are the least for S_3; proofs/tight-widths.md.

Optimal neurons of the standard representation rho (degree 2) are u = p' rho q, v = q' rho r, w = p' rho r, up to a
factor, for unit vectors p, q, r of angles alpha, beta, gamma. At the maximum 54 moments of the masses on these angles
vanish, and the differences of 10 characters are among them: there are at least 10 such neurons, and 2 of the sign
representation. Ten equal masses at a cyclic group of order 10 kill the same moments: 12 neurons attain the maximum.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from lemmata.certificates.characters.families import symmetric_characters
from lemmata.certificates.game.closed_form import closed_form_margin
from lemmata.certificates.game.equalising import equalising_class_weights
from lemmata.certificates.game.margin_game import MarginGame
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.groups.tables import symmetric
from lemmata.numerics.margins.evaluation import group_margins
from lemmata.theorems.evidence import check, proof_steps

E4 = "feature-emergence:ext-E4"

Exponents = tuple[int, int, int]
PRIME = 1_000_003 * 12 + 1
"""A candidate for a prime with 12th roots of unity; `_prime` takes the next one."""

TEN: tuple[Exponents, ...] = (
    (0, 0, 0), (1, 0, 1), (2, 0, 2), (2, 0, 0), (0, 0, 2), (1, 2, 1), (2, 2, 2), (0, 2, 2), (0, 2, 0), (2, 2, 0),
)  # fmt: skip
TURNS = (Fraction(3, 10), Fraction(1, 20), Fraction(-1, 10))
"""Angles alpha, beta, gamma of the first of the ten neurons, in turns; those of the t-th are t times as large."""


def vanishing() -> set[Exponents]:
    """The 54 exponents (a, b, c) of exp(i (a alpha + b beta + c gamma)) whose moments vanish at the maximum."""
    even = {(a, b, c) for a, b, c in product((0, 2, -2), (0, 2, -2), (0, 2, -2)) if a or b or c}
    single = {(a, 0, c) for a, c in product((1, -1), (1, -1))}
    first = {(a, b, c) for a, b, c in product((1, -1, 3, -3), (2, -2), (1, -1))}
    return even | single | first | {(c, b, a) for a, b, c in first}


def _prime() -> int:
    candidate = PRIME
    while any(candidate % factor == 0 for factor in range(2, int(candidate**0.5) + 1)):
        candidate += 12
    return candidate


def _expansions(prime: int) -> tuple[list[tuple[int, int]], dict[Exponents, np.ndarray]]:
    """The elements (turns, reflected) of S_3, and 8 (u(a) + v(b))^2 w(c) as trigonometric polynomials of the angles.

    Shape (6, 6, 6) for each exponent, modulo a prime with third roots of unity. A rotation by theta gives
    p' rho q = cos(alpha - beta - theta), a reflection cos(alpha + beta - theta).
    """
    root = next(x for x in range(2, 100) if pow(x, (prime - 1) // 3, prime) != 1)
    zeta = pow(root, (prime - 1) // 3, prime)
    elements = [(k, s) for s in (0, 1) for k in range(3)]

    def cosine(first: int, second: int, element: tuple[int, int]) -> dict[Exponents, int]:
        """Twice the cosine, with the exponents of the two angles that enter."""
        k, reflected = element
        exponents = [0, 0, 0]
        exponents[first], exponents[second] = 1, 1 if reflected else -1
        up = tuple(exponents)
        return {up: pow(zeta, -k % 3, prime), tuple(-x for x in up): pow(zeta, k, prime)}  # type: ignore[dict-item]

    found: dict[Exponents, np.ndarray] = defaultdict(lambda: np.zeros((6, 6, 6), dtype=object))
    for (i, a), (j, b), (l, c) in product(enumerate(elements), repeat=3):
        terms = [*cosine(0, 1, a).items(), *cosine(1, 2, b).items()]
        for (x, f), (y, g), (z, h) in product(terms, terms, cosine(0, 2, c).items()):
            exponent = (x[0] + y[0] + z[0], x[1] + y[1] + z[1], x[2] + y[2] + z[2])
            found[exponent][i, j, l] = (found[exponent][i, j, l] + f * g * h) % prime
    return elements, dict(found)


def _rank(rows: np.ndarray, prime: int) -> int:
    """Of a matrix modulo a prime."""
    rows, rank = rows.copy() % prime, 0
    for column in range(rows.shape[1]):
        pivots = np.flatnonzero(rows[rank:, column])
        if not len(pivots):
            continue
        pivot = rank + pivots[0]
        rows[[rank, pivot]] = rows[[pivot, rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, column]), -1, prime) % prime
        others = [i for i in range(len(rows)) if i != rank and rows[i, column]]
        for i in others:
            rows[i] = (rows[i] - rows[i, column] * rows[rank]) % prime
        rank += 1
        if rank == len(rows):
            break
    return rank


@check(E4, grade="exact", target="printed", supporting=True)
@proof_steps("tight-widths.md: 8, 9")
def test_fifty_four_moments_vanish_at_the_maximum() -> None:
    """Part (d), steps 8 and 9: f(a, b)[c] = F(a, b) + gamma* [c = ab] determines the moments.

    As functions of (a, b, c), the 54 coefficients and that of the exponent 0 are linearly independent modulo functions
    of (a, b): their rank modulo a prime is 55. And the coefficient of the exponent 0 is the standard part of [c = ab].
    """
    prime = _prime()
    elements, found = _expansions(prime)
    assert set(found) == vanishing() | {(0, 0, 0)}
    centred = {x: (6 * f - f.sum(axis=2, keepdims=True)) % prime for x, f in found.items()}
    rows = np.array([centred[x].ravel() for x in sorted(centred)], dtype=object)
    assert len(vanishing()) == 54
    assert len(rows) == 55 == _rank(rows, prime)

    def character(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
        """The character of c^-1 a b: 2, -1, or 0 for a reflection."""
        turn, reflected = a[0] + (-b[0] if a[1] else b[0]), a[1] ^ b[1]
        return 0 if reflected != c[1] else 2 if (turn - c[0]) % 3 == 0 else -1

    expected = np.array([[[character(a, b, c) for c in elements] for b in elements] for a in elements], dtype=object)
    scale = found[0, 0, 0][0, 0, 0] * pow(2, -1, prime) % prime
    assert scale
    assert np.array_equal(found[0, 0, 0], expected * scale % prime)
    assert not (expected.sum(axis=2)).any()


@check(E4, grade="exact", target="printed", supporting=True)
@proof_steps("tight-widths.md: 10")
def test_ten_characters_are_orthonormal() -> None:
    """Part (d), step 10: the differences of the ten are among the vanishing moments."""
    killed = vanishing()
    assert all(tuple(x - y for x, y in zip(one, other, strict=True)) in killed for one, other in combinations(TEN, 2))
    assert len(set(TEN)) == 10


@check(E4, grade="exact", target="printed", supporting=True)
@proof_steps("tight-widths.md: 11")
def test_ten_phases_kill_the_moments() -> None:
    """Part (d), step 11: sum over t = 0, ..., 9 of exp(2 pi i t (a alpha + b beta + c gamma)) = 0 for all 54."""
    for exponents in vanishing():
        step = sum((x * turn for x, turn in zip(exponents, TURNS, strict=True)), start=Fraction(0))
        assert (10 * step).denominator == 1
        assert step.denominator != 1


def _standard() -> np.ndarray:
    """The matrices of the standard representation, shape (6, 2, 2)."""
    (standard,) = (R for R in real_irreps(symmetric(3)) if R.degree == 2)
    return np.asarray(standard.matrices, dtype=float)


def _neurons(angles: np.ndarray) -> tuple[np.ndarray, ...]:
    """u, v, w of shape (m, 6), of joint norm 1, for angles (m, 3), from the representation of the library."""
    rho = _standard() * np.sqrt(2 / 18)
    p, q, r = (np.stack([np.cos(x), np.sin(x)], axis=1) for x in angles.T)
    return tuple(np.einsum("mi,aij,mj->ma", x, rho, y) for x, y in ((p, q), (q, r), (p, r)))


@check(E4, grade="numeric", target="printed")
@proof_steps("tight-widths.md: 9")
def test_outputs_of_random_optimal_neurons_span_fifty_five_dimensions() -> None:
    """Part (d), step 9, from the representation of the library: 1 + 54 dimensions modulo functions of (a, b).

    The outputs of 300 random optimal neurons; the singular values have a gap of ten orders of magnitude there.
    """
    u, v, w = _neurons(np.random.default_rng(0).uniform(0, 2 * np.pi, size=(300, 3)))
    outputs = (u[:, :, None, None] + v[:, None, :, None]) ** 2 * w[:, None, None, :]
    outputs -= outputs.mean(axis=3, keepdims=True)
    values = np.linalg.svd(outputs.reshape(300, -1), compute_uv=False)
    assert values[1 + len(vanishing()) - 1] > 1e-3 * values[0]
    assert values[1 + len(vanishing())] < 1e-13 * values[0]


def twelve_neurons() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """u, v, w of shape (12, 6), of joint norm 1, and the masses: 2 of the sign, 10 of the standard representation."""
    chi = np.array([np.linalg.det(matrix) for matrix in _standard()]) / np.sqrt(18)
    angles = 2 * np.pi * np.arange(10)[:, None] * np.array([float(turn) for turn in TURNS])
    signs = (np.array([chi, chi]), np.array([chi, -chi]), np.array([chi, -chi]))
    u, v, w = (np.vstack(blocks) for blocks in zip(signs, _neurons(angles), strict=True))
    share = 2**2.5 / (1 + 2**2.5)
    return u, v, w, np.array([(1 - share) / 2] * 2 + [share / 10] * 10)


@check(E4, grade="numeric", target="printed")
@proof_steps("tight-widths.md: 11")
def test_twelve_neurons_attain_the_maximum() -> None:
    """Part (d), the construction: unit norms, total mass 1, margin gamma*; without one of them, or turned, less."""
    u, v, w, masses = twelve_neurons()
    game = MarginGame(symmetric_characters(3))
    assert all(t > 0 for t in equalising_class_weights(game))
    gamma = float(closed_form_margin(game))
    np.testing.assert_allclose((u**2 + v**2 + w**2).sum(axis=1), 1, rtol=1e-14)
    assert masses.sum() == pytest.approx(1, rel=1e-15)
    assert len(u) == 12
    # 12 neurons of norm 1: rounding of some 100 eps, and gamma is 0.02
    assert group_margins(u, v, w, symmetric(3), masses).minimum == pytest.approx(gamma, rel=1e-12)
    for i in (0, 1, 2, 7):
        less = masses.copy()
        less[i] = 0
        assert group_margins(u, v, w, symmetric(3), less / less.sum()).minimum < 0.99 * gamma
    turned = w.copy()
    turned[5] = -turned[5]
    assert group_margins(u, v, turned, symmetric(3), masses).minimum < 0.9 * gamma
