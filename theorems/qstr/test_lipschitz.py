"""Lemma 42: networks from plane waves on a disc, and from ridges on a ball, their errors, sizes and weights.

The proof is in `proofs/lipschitz.md`; errors are measured at points of the disc and the ball.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.numerics.functions.lipschitz_networks import ball_network, sizes_for
from lemmata.numerics.functions.ridges import ridge_network
from lemmata.numerics.functions.waves import lipschitz_waves
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort

LIPSCHITZ = "qstr:lemma-42"
R, L = 2, 3


def _extended(function: Callable[[arb, arb], arb]) -> Callable[[object, object], arb]:
    """The function of the nearest point of the disc of radius R."""

    def value(x: object, y: object) -> arb:
        u, v = arb(x), arb(y)  # type: ignore[arg-type]
        norm = (u * u + v * v).sqrt()
        return function(u * R / norm, v * R / norm) if norm > R else function(u, v)

    return value


FUNCTIONS: dict[str, Callable[[arb, arb], arb]] = {
    "norm": lambda x, y: L * ((x * x + y * y).sqrt() - arb(R) / 2),
    "distance to a line": lambda x, y: L * (abs(3 * x / 5 - 4 * y / 5) - arb(1) / 2),
    "zigzag": lambda x, _: L * abs(x - (x + arb(1) / 2).mid().floor()),
}


def _interpolated(w: np.ndarray, amplitude: tuple[float, float], x: np.ndarray, pieces: int) -> float:
    """The broken line through c cos(w.z) + s sin(w.z) at equal distances along w, at a point."""
    knots = np.linspace(-R, R, pieces + 1) * float(np.linalg.norm(w))
    values = amplitude[0] * np.cos(knots) + amplitude[1] * np.sin(knots)
    return float(np.interp(w @ x, knots, values)) if w.any() else amplitude[0]


@check(
    LIPSCHITZ,
    grade="numeric",
    target="corrected",
    cases="d = 2, R = 2, L = 3: a zigzag (full: two more), L R/eps = 2; 25 points of the disc (full: 300)",
)
@proof_steps("lipschitz.md: 1, 2, 4")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_lipschitz_functions_on_a_disc(name: str, effort: Effort) -> None:
    """Steps 1 to 4: the error is at most eps = L R/2, and units, rows, biases and weights are within the claim."""
    if effort.name == "quick" and name != "zigzag":
        return
    ratio, function, eps = 2, FUNCTIONS[name], L * R / 2
    degree, pieces = sizes_for(2, ratio)
    assert math.pi**2 * 2 * L * R / (3 * (degree + 2)) <= eps / 2 < math.pi**2 * 2 * L * R / (3 * (degree + 1))
    waves = lipschitz_waves(_extended(function), (L, L), R, degree)
    assert waves.error <= fmpq(L * R, 2 * ratio) + fmpq(1, 10**6)
    weighted = sum(float(a * a + b * b) * float(sum((x * x for x in w), fmpq(0))) for w, (a, b) in waves.terms.items())
    assert 0 < weighted <= 2 * math.pi**2 * L**2 / 2
    # the kernel keeps the lowest wave, sin(beta x) with beta = 3/(2 R), but for its factor cos(pi/(N + 2))
    lowest = lipschitz_waves(lambda x, _: (arb(x) * 3 / (2 * R)).sin(), (L, L), R, 5).terms
    assert abs(lowest[fmpq(3, 2 * R), fmpq(0)][1] - (arb.pi() / 7).cos()) < 1e-6
    assert sum(abs(float(c)) + abs(float(s)) for c, s in lowest.values()) == pytest.approx(
        math.cos(math.pi / 7), abs=1e-5
    )
    a, W, b = ball_network(waves, pieces)
    count = 2 * (degree + 1) ** 2
    assert len(a) == len(W) == len(b) <= 3 * (count + 1) * pieces
    assert pieces**2 >= 3.34 * ratio * 2 * degree * math.sqrt(count) > (pieces - 1) ** 2
    assert np.linalg.norm(W, axis=1).max() <= (1 + 1e-12) / R
    assert np.abs(b).max() <= 1 + 1e-12
    assert math.sqrt(len(a)) * np.linalg.norm(a) <= 12 * 2 * L * R * degree * math.sqrt(count + 1)
    terms = [(np.array([float(y) for y in w]), (float(c), float(s))) for w, (c, s) in waves.terms.items()]
    squares = ((float(a * a + b * b), float(sum((x * x for x in w), fmpq(0)))) for w, (a, b) in waves.terms.items())
    bend = sum(math.sqrt(size) * square for size, square in squares) * (2 * R / pieces) ** 2 / 8  # step 3
    assert 0 < bend <= eps / 2
    rng, worst = np.random.default_rng(ratio), 0.0
    for _ in range(effort.pick(quick=25, full=300)):
        angle, radius = rng.uniform(0, 2 * math.pi), R * math.sqrt(rng.random())
        x = radius * np.array([math.cos(angle), math.sin(angle)])
        found = float(np.maximum(W @ x + b, 0) @ a)
        near = float(waves(*(arb(float(t)) for t in x)))
        waved = sum(_interpolated(w, amplitude, x, pieces) for w, amplitude in terms)
        assert abs(found - waved) < 1e-9 * (1 + np.abs(a).sum())
        assert abs(waved - near) <= bend
        worst = max(worst, abs(found - float(function(arb(x[0]), arb(x[1])))))
    assert 0 < worst <= eps


# ---- ridges: differences of two Gaussians in R^3, whose ridges have closed forms

CURVATURES, CENTRES, SIGNS = ((16, 16, 16), (64, 4, 4)), ((0.3, 0.2, -0.1), (-0.2, 0.1, 0.1)), (1.0, -1.0)
Array = NDArray[np.float64]


def bumps(z: Array) -> Array:
    """h(z) = sum of +-exp(-(z - c).Q(z - c)/2), Q diagonal, shape (n,), for z of shape (n, 3)."""
    return sum(
        sign * np.exp(-((z - np.array(centre)) ** 2 @ np.array(Q)) / 2)
        for sign, centre, Q in zip(SIGNS, CENTRES, CURVATURES, strict=True)
    )


def ridge(theta: Array, t: Array, Q: tuple[int, int, int], derivative: int) -> Array:
    """-1/(8 pi^2) times the second derivative of the plane integrals 2 pi/(s det(Q)^(1/2)) exp(-t^2/(2 s^2)), derived.

    Here s^2 = theta.Q^-1 theta; the derivatives of exp(-x^2/2) are Hermite's polynomials times it.
    """
    s = np.sqrt(theta**2 @ (1 / np.array(Q)))
    x = t / s
    hermite = {0: x**2 - 1, 1: 3 * x - x**3, 2: x**4 - 6 * x**2 + 3}[derivative] / s ** (2 + derivative)
    return -hermite * np.exp(-(x**2) / 2) / (4 * math.pi * s * math.sqrt(math.prod(Q)))


def density(theta: Array, u: Array, derivative: int = 2) -> Array:
    """The ridges of h or their derivatives, shape (n,), for theta of shape (n, 3) and u of shape (n,)."""
    return sum(
        sign * ridge(theta, u - theta @ np.array(centre), Q, derivative)
        for sign, centre, Q in zip(SIGNS, CENTRES, CURVATURES, strict=True)
    )


def sphere(count: int) -> tuple[Array, Array]:
    """A rule on the sphere of R^3: Gauss and Legendre in height, 2 count equal angles; (n, 3) and (n,)."""
    height, weight = np.polynomial.legendre.leggauss(count)
    angle = (np.arange(2 * count) + 0.5) * math.pi / count
    radius = np.sqrt(1 - height**2)
    theta = np.stack(
        [np.outer(radius, np.cos(angle)), np.outer(radius, np.sin(angle)), np.outer(height, np.ones(2 * count))], -1
    )
    return theta.reshape(-1, 3), np.repeat(weight * math.pi / count, 2 * count)


def in_the_ball(count: int) -> Array:
    """Uniform points of the unit ball of R^3."""
    rng = np.random.default_rng(count)
    z = rng.standard_normal((count, 3))
    return z * (rng.random(count) ** (1 / 3) / np.linalg.norm(z, axis=1))[:, None]


@check(
    LIPSCHITZ,
    grade="numeric",
    target="corrected",
    supporting=True,
    cases="d = 3, two Gaussians, 50 points",
)
@proof_steps("lipschitz.md: 7, 8")
def test_a_function_is_the_integral_of_its_ridges() -> None:
    """Step 7 by a rule on the sphere; step 8: the integral of the squares in t against that in the frequency.

    The rule of 90 heights is exact up to degree 179; the ridges are entire, and the error falls a thousandfold from 60
    to 90 and to 120 heights.
    """
    theta, weight = sphere(90)
    z = in_the_ball(50)
    found = np.array([density(theta, theta @ one, 0) @ weight for one in z])
    assert np.abs(found - bumps(z)).max() < 1e-9
    assert np.ptp(bumps(z)) > 1
    t, r, pole = np.linspace(-4, 4, 4001), np.linspace(0, 60, 60001), np.array([[0.0, 0.0, 1.0]])
    round_one = CURVATURES[0]
    squares = 4 * math.pi * float((ridge(pole, t, round_one, 2) ** 2).sum()) * (t[1] - t[0])
    # The real part has half of (2 pi)^(1 - 2d) times the integral of |w|^6 |h^|^2, |h^|^2 = (2 pi)^3 4^-6 e^(-r^2/16).
    frequencies = (2 * math.pi) ** -2 * 4.0**-6 * 4 * math.pi * float((r**8 * np.exp(-((r / 4) ** 2))).sum())
    assert 2 * squares == pytest.approx(frequencies * (r[1] - r[0]), rel=1e-9)


@check(
    LIPSCHITZ,
    grade="sampled",
    target="corrected",
    cases="d = 2, one density, level 0; 400 draws at 4 points, 5 standard errors",
)
@proof_steps("lipschitz.md: 10")
def test_units_have_the_measure_as_their_mean() -> None:
    """Step 10: errors have the mean 0, and vary; the sum of squared lengths V by hand, for the density 1 at 0."""

    def tilted(theta: Array, u: Array) -> Array:
        return theta[:, 0] + u - 0.2

    z = np.array([[0.0, 0.0], [0.3, 0.4], [-0.5, 0.1], [0.2, -0.9]])
    nets = [ridge_network(2, tilted, 0, 100.0, inner=4, seed=seed) for seed in range(400)]
    errors = np.array([net(z) - net.mean(z) for net in nets])
    deviation = errors.std(axis=0)
    assert (deviation > 0.05).all()
    assert (np.abs(errors.mean(axis=0)) < 5 * deviation / math.sqrt(len(nets))).all()
    assert ((errors**2).mean(axis=0) < nets[0].spread(z) / 4).all()  # the variance within an interval
    even = ridge_network(2, lambda theta, u: np.ones(len(u)), 0, 100.0, inner=4)
    # the four points of a face are at 1/4 and 3/4, the density there 16/17 and 16/25, and u goes up to 3/4
    assert even.spread(np.zeros((1, 2)))[0] == pytest.approx(4 * (3 / 4 * 2 * (16 / 17 + 16 / 25)) ** 2, rel=1e-12)


@check(
    LIPSCHITZ,
    grade="sampled",
    target="corrected",
    cases="d = 3, two Gaussians, levels 1 and 2 of the cells (full: 3), 200 points; 3 draws each, p = 1e-6",
)
@proof_steps("lipschitz.md: 9, 10, 11")
def test_few_units_stand_for_a_density_of_ridges(effort: Effort) -> None:
    """Steps 9 to 11: the numbers of cells and units, their moments, the sum of squares V, the errors, the weights.

    V falls as 2^-(J(d + 3)), as 2^-Jd for free draws. The errors are compared with those of as many free draws from
    the same measure, whose variance is exact: they are below those, and fall faster.
    """
    d, area = 3, 4 * math.pi
    theta, weight = sphere(60)
    u = (np.arange(400) + 0.5) / 200 - 1
    squares = [density(theta, np.full(len(theta), x)) ** 2 @ weight for x in u]
    budget = 1.01 * float(np.sum(squares)) / 200
    z = in_the_ball(200)
    slope, value = (density(theta, np.full(len(theta), -1.0), k) * weight for k in (1, 0))
    affine = value.sum() + (z @ theta.T + 1) @ slope
    errors, free, lengths = [], [], []
    for level in range(1, effort.pick(quick=3, full=4)):
        net = ridge_network(d, density, level, budget, inner=max(2, 12 // 2**level), seed=0)
        deepest = int(net.levels.max()) - level
        cells = len(net.levels)
        assert 2 * d * 2 ** (d * level) <= cells <= 2 ** (d * level) * (2 * d + 2**d * deepest)
        assert (deepest > 0) == (level > 1)
        volume = sum(2.0 ** -(d * j) for j in net.levels.tolist()) * 2**d  # of the cubes over the cells
        assert volume == pytest.approx(2 * d * 2**d)
        assert len(net.a) <= 2 * (d + 2) * cells
        assert np.abs(np.linalg.norm(net.W, axis=1) - 1).max() < 1e-12
        assert np.abs(net.b).max() <= 1
        assert np.abs(net.a).sum() == pytest.approx(np.abs(net.masses).sum())
        assert np.abs(net.masses).sum() <= math.sqrt(2 * area * budget)
        flat = net.points.reshape(-1, d + 1)
        assert np.allclose(net.a @ np.column_stack([net.W, -net.b]), net.masses.ravel() @ flat, atol=1e-9)
        V = net.spread(z)
        assert 0 < V.max() <= 19 * area * (2 * math.sqrt(d)) ** 3 * budget * 2.0 ** (-(d + 3) * level)
        lengths.append(V.mean())
        found = []
        for seed in range(3):
            other = ridge_network(d, density, level, budget, inner=max(2, 12 // 2**level), seed=seed) if seed else net
            error = np.abs(other(z) - net.mean(z))
            assert (error <= np.sqrt(V * math.log(2 * 3 * len(z) / 1e-6) / 2)).all()
            found.append((error**2).mean())
        errors.append(math.sqrt(np.mean(found)))
        units, masses = np.maximum(z @ flat[:, :-1].T - flat[:, -1], 0), net.masses.ravel()
        total = np.abs(masses).sum()
        free.append(math.sqrt(np.mean(total * (units**2 @ np.abs(masses)) - (units @ masses) ** 2) / len(net.a)))
        # the finite measure has parts of side 1/6, and bumps are at least 1/8 wide
        assert np.abs(net.mean(z) + affine - bumps(z)).max() < 0.2 * np.ptp(bumps(z))
    assert all(one < other for one, other in zip(errors, free, strict=True))
    for (one, other), (drawn, later) in zip(itertools.pairwise(errors), itertools.pairwise(free), strict=True):
        assert one / other > drawn / later
    for one, other in itertools.pairwise(lengths):
        assert one / other > 2 ** (d + 3 / 2)  # nearer to 2^(d + 3) than to 2^d, in logarithms
