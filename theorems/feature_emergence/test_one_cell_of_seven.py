"""Addition modulo 7 without one cell (ext-T12; steps 28 to 30 of proofs/triangles.md).

The payoff is counted triple by triple. Sums over waves and over the other best neurons are exact: a number of the field
of the seventh roots of unity is a list of seven integers, up to a multiple of (1, ..., 1).
"""

from __future__ import annotations

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import linprog

from lemmata.certificates.operations.seven import form_is_semidefinite, margin_shares, null_vectors, seven_weights
from lemmata.certificates.operations.triangle_weights import triangle_conditions
from lemmata.certificates.operations.triangles import one_cell_weights
from lemmata.certificates.operations.wave_form import exact_form, only_waves, wave_form
from lemmata.theorems.evidence import check, proof_steps

T12 = "feature-emergence:ext-T12"
ROOTS = np.exp(2j * np.pi * np.arange(7) / 7)
COSINES = np.stack([ROOTS**k for k in (1, 2, 3)]).real * sqrt(2 / 7)
EXPONENTS = ((0, 0), (2, 0), (-2, 0), (0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1))
POINTS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2), (1, -3), (1, -4), (2, -5))
"""(p, q) for x = (p(p + q), q(p + q), -pq); no two are proportional."""
Floats = NDArray[np.float64]


def weights() -> NDArray[np.int64]:
    return one_cell_weights((7,))[0]


def paid(parts: Any) -> float:
    """The mean of 2 u_a v_b (w_{a+b} - w_{a+b+d}) for the weights."""
    u, v, w = parts
    given = weights()
    total = 0.0
    for a, b, d in np.argwhere(given):
        total += 2 * given[a, b, d] * u[a] * v[b] * (w[(a + b) % 7] - w[(a + b + d) % 7])
    return total / given.sum()


def other_neuron(x: Any, sign: int) -> tuple[Floats, Floats, Floats]:
    """u = sum x_k c_k, v = u or -u, and w."""
    z = [x[m] ** 2 - x[m - 1] * x[m - 2] for m in range(3)]
    u = np.asarray(x, float) @ COSINES
    return u, sign * u, sign * np.asarray(z, float) @ COSINES


@check(T12, grade="enclosed", target="printed")
@proof_steps("triangles.md: 28")
def test_the_form_is_semidefinite_with_two_null_vectors() -> None:
    """Neither other weights nor other vectors will do."""
    given = weights()
    assert seven_weights() is not None
    assert not only_waves((7,), given)
    assert not form_is_semidefinite(given + (np.arange(7) == 1) * (given > 0))
    assert all(x == 0 for x in (exact_form((7,), given) @ null_vectors().T).ravel())
    assert np.linalg.matrix_rank(null_vectors()) == 2


@check(T12, grade="numeric", target="printed", supporting=True, cases="one cell of Z_7: three points, floats to 1e-12")
@proof_steps("triangles.md: 28")
def test_the_exact_form_is_that_of_the_payoff() -> None:
    """The exact matrix against the payoff by counting."""
    matrix = np.array([[float(x.ball(64)) for x in row] for row in exact_form((7,), weights())])
    rng, top = np.random.default_rng(2), sqrt(2 / 7) / 6
    basis = np.stack([part for k in (1, 2, 3) for part in ((ROOTS**k).real, (ROOTS**k).imag)]) * sqrt(2 / 7)
    pair = np.arange(6) // 2
    for _ in range(3):
        x, y, z = rng.normal(size=(3, 6))
        turned = (x[::2] + 1j * x[1::2]) * (y[::2] + 1j * y[1::2])  # cos(t - f) has the parts cos f, sin f
        e = z - np.stack([turned.real, turned.imag], axis=1).ravel()
        point = np.concatenate([e, np.outer(x, y)[pair[:, None] != pair]])
        expected = z @ z + (x @ x) * (y @ y) - 2 * paid((x @ basis, y @ basis, z @ basis)) / top
        assert point @ matrix @ point == pytest.approx(expected, rel=1e-12)


@check(
    T12, grade="numeric", target="printed", supporting=True, cases="one cell of Z_7: other weights, by singular values"
)
@proof_steps("triangles.md: 28")
def test_null_vectors_alone_are_not_enough() -> None:
    """Weights with the same null vectors, far along the line of them that the conditions of ext-T8 leave."""
    given, conditions = weights(), triangle_conditions((7,), [(0, 0)])
    directions = [conditions.spread(x) for x in null_space(conditions.matrix.toarray()).T]
    forms = [wave_form((7,), given + 10 * x) - wave_form((7,), given) for x in directions]
    _, sizes, turned = np.linalg.svd(np.stack([(x @ null_vectors().T).ravel() for x in forms], axis=1))
    assert sizes[-1] < 1e-9 * sizes[0]
    direction = np.tensordot(turned[-1], directions, axes=1)
    whole = np.rint(direction / np.abs(direction[np.abs(direction) > 1e-9]).min()).astype(np.int64)
    other = given - np.sign(whole[given > 0][0]) * 60 * whole
    form = exact_form((7,), other)
    assert all(x == 0 for x in (form @ null_vectors().T).ravel())
    assert np.linalg.eigvalsh(wave_form((7,), other))[0] < -0.1
    assert not form_is_semidefinite(other)


@check(T12, grade="numeric", target="printed", supporting=True, cases="one cell of Z_7: ten neurons, floats to 1e-12")
@proof_steps("triangles.md: 29")
@pytest.mark.parametrize("sign", [1, -1])
def test_other_neurons_are_paid_as_much_as_waves(sign: int) -> None:
    for p, q in POINTS:
        neuron = other_neuron((p * (p + q), q * (p + q), -p * q), sign)
        u, v, w = (part / np.linalg.norm(part) for part in neuron)
        assert paid((u, v, w)) == pytest.approx(sqrt(2 / 7) / 6, rel=1e-12)
        assert np.abs(COSINES @ u).max() < 0.99  # more than one pair
    assert paid(np.array([[1, 1, 1], [1, 1, 1], [1, -1, 1]]) @ COSINES) < 0.5 * 3 * sqrt(3) * sqrt(2 / 7) / 6


def times(x: Any, y: Any) -> Any:
    """A product of two lists."""
    found = np.zeros(7, object)
    for i, j in product(range(7), repeat=2):
        found[(i + j) % 7] += x[i] * y[j]
    return found


def rational(x: Any) -> int:
    """The integer that a list stands for."""
    assert len(set(x[1:])) == 1
    return x[0] - x[1]


def power(t: int) -> Any:
    """A power of the root of unity."""
    return np.array([int(i == t % 7) for i in range(7)], object)


def wave_sums(shares: NDArray[np.int64]) -> list[list[int]]:
    """The sums of shares times chi^i(a) chi^j(b) (chi^-(a + b) - chi^-(a + b + d)), as lists, for the nine (i, j)."""
    sums = []
    for i, j in EXPONENTS:
        total = np.zeros(7, object)
        for a, b, d in np.argwhere(shares):
            change = power(i * a + j * b - a - b) - power(i * a + j * b - a - b - d)
            total = total + int(shares[a, b, d]) * change
        sums.append(total.tolist())
    return sums


def other_sum(shares: NDArray[np.int64], x: Any, sign: int) -> int:
    """The sum of shares times margins of a neuron, exactly, with 2 cos(2 pi k a/7) for c_k(a)."""

    def even(parts: Any, a: int) -> Any:
        return sum(
            (int(c) * (power(k * a) + power(-k * a)) for k, c in zip((1, 2, 3), parts, strict=True)), power(0) * 0
        )

    z = [x[m] ** 2 - x[m - 1] * x[m - 2] for m in range(3)]
    u, w = ([even(parts, a) for a in range(7)] for parts in (x, z))
    squares = {(a, b): times(u[a] + sign * u[b], u[a] + sign * u[b]) for a, b in product(range(7), repeat=2)}
    total = np.zeros(7, object)
    for a, b, d in np.argwhere(shares):
        margin = times(squares[a, b], w[(a + b) % 7] - w[(a + b + d) % 7])
        total = total + sign * int(shares[a, b, d]) * margin
    return rational(total)


@check(T12, grade="exact", target="printed")
@proof_steps("triangles.md: 30")
def test_margins_added_up_leave_waves_only() -> None:
    """The shares, the sums for waves, and polynomials of degree 8 in p and q at ten points."""
    shares, given = margin_shares(), weights()
    assert shares.any()
    assert not shares[0, 0].any()
    assert not shares[:, :, 0].any()
    assert shares[given == 0].min() >= 0
    assert shares.min() < 0
    assert all(len(set(total)) == 1 for total in wave_sums(shares))
    for (p, q), sign in product(POINTS, (1, -1)):
        x = p * (p + q), q * (p + q), -p * q
        assert other_sum(shares, x, sign) == 10584 * sum(x) * x[0] * x[1] * x[2] < 0
    shares[1, 6, 1] += 1
    assert any(len(set(total)) > 1 for total in wave_sums(shares))


@check(T12, grade="sampled", target="printed", supporting=True, cases="one cell of Z_7: a grid of best neurons, 1e-7")
@proof_steps("triangles.md: 30")
def test_networks_of_the_best_neurons_are_right_at_the_cell() -> None:
    """A linear program: the least and the largest margin at (0, 0), and the largest share of other neurons."""
    neurons, number = [], 7
    for k, p, q in product((1, 2, 3), range(number), range(number)):
        s, t = 2 * np.pi * p / number, 2 * np.pi * q / number
        phase = 2 * np.pi * k * np.arange(7) / 7
        neurons.append((np.cos(phase + s), np.cos(phase + t), np.cos(phase + s + t)))
    waves = len(neurons)
    neurons += [other_neuron((p * (p + q), q * (p + q), -p * q), sign) for p, q in POINTS for sign in (1, -1)]
    a, b, d = np.array([t for t in product(range(7), repeat=3) if t[2]]).T
    columns = []
    for neuron in neurons:
        u, v, w = (part / np.linalg.norm(part) / sqrt(3) for part in neuron)
        columns.append((u[a] + v[b]) ** 2 * (w[(a + b) % 7] - w[(a + b + d) % 7]))
    margins = np.stack(columns, axis=1) / (sqrt(2 / 27) / (6 * sqrt(7)))
    seen = (a > 0) | (b > 0)
    others = -(np.arange(len(neurons)) >= waves).astype(float)
    for cost, value in ((margins[~seen][0], 1), (-margins[~seen][2], -1), (others, 0)):
        found: Any = linprog(
            cost, A_ub=-margins[seen], b_ub=-np.ones(seen.sum()), A_eq=np.ones((1, len(cost))), b_eq=[1.0]
        )
        assert found.status == 0
        assert found.fun == pytest.approx(value, abs=1e-6)
