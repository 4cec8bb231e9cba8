"""Lipschitz functions of several variables as sums of waves and of ReLUs: what theorem 6 needs of gradients.

The sums are compared with the positive mean that they stand for, by its definition in balls, and their errors with the
formulas of the proof; one of them drives a transformer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.descent.risk import risk_descent_block
from lemmata.numerics.functions import waves
from lemmata.theorems.evidence import check, proof_steps


def kernel(degree: int, t: arb) -> arb:
    """|sum_j a_j exp(ijt)|^2 / sum_j a_j^2."""
    a = [(arb.pi() * (j + 1) / (degree + 2)).sin() for j in range(degree + 1)]
    real = sum((s * (j * t).cos() for j, s in enumerate(a)), arb(0))
    imaginary = sum((s * (j * t).sin() for j, s in enumerate(a)), arb(0))
    return (real**2 + imaginary**2) / sum((s * s for s in a), arb(0))


def positive_mean(function: Callable[..., Any], R: fmpq, degree: int, z: tuple[fmpq, ...]) -> arb:
    """The mean of the folded function over all places of the circle against the product kernel, by the definition."""
    beta, M = 3 / (2 * R), 2 * (degree + 1)
    angles = [arb.pi() * (2 * j + 1) / M for j in range(M)]
    folded = [a if j < M // 2 else 2 * arb.pi() - a for j, a in enumerate(angles)]
    places = [max(-float(R), min(float(R), float((a - arb.pi() / 2) / beta))) for a in folded]
    kernels = [[kernel(degree, beta * t + arb.pi() / 2 - a) for a in angles] for t in z]
    total = arb(0)
    for index in product(range(M), repeat=len(z)):
        weight = arb(1)
        for row, j in zip(kernels, index, strict=True):
            weight *= row[j]
        total += weight * arb(function(*(places[j] for j in index)))
    return total / M ** len(z)


FOLDED: dict[str, tuple[Callable[..., Any], list[int], int]] = {
    "distance": (lambda w, x: abs(w - x), [1, 1], 4),
    "two kinks": (lambda w, x: abs(w) - 2 * abs(x - w / 2), [2, 2], 3),
    "one variable": (lambda w: max(w, 0 * w), [1], 24),
    "three variables": (lambda w, x, y: abs(w - x) - y, [1, 1, 1], 2),
}


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="numeric",
    target="printed",
    cases="four piecewise linear functions of 1, 2, 2, 3 variables, N = 24, 4, 3, 2, R = 1, 1/2, 6 points; seed 1",
)
@proof_steps("risk.md: 7, 8")
@pytest.mark.parametrize("name", FOLDED)
def test_waves_of_a_lipschitz_function_are_the_positive_mean(name: str) -> None:
    """The coefficients against the mean by its definition, to 1e-9; the error stated and the error seen."""
    function, constants, degree = FOLDED[name]
    rng = np.random.default_rng(1)
    for R in (fmpq(1), fmpq(1, 2)):
        sums = waves.lipschitz_waves(function, constants, R, degree)
        stated = float(arb.pi() ** 2 / (3 * (degree + 2)) * arb(R) * sum(constants))
        assert stated <= float(sums.error) <= stated + 1e-9
        points = [tuple(R * fmpq(int(t), 64) for t in row) for row in rng.integers(-64, 65, (6, len(constants)))]
        for z in points:
            value = sums(*z)
            assert abs(value - positive_mean(function, R, degree, z)) < 1e-9
            assert abs(value - arb(function(*z))) < sums.error


@check("deep-icgd:theorem-6", grade="numeric", target="printed", supporting=True)
@proof_steps("risk.md: 6")
def test_kernel_is_positive_and_that_of_the_plain_sum_is_not() -> None:
    """The error that the proof takes from the kernel is not met by the plain Fourier sum, whose kernel has signs."""
    assert min(float(kernel(4, arb(t) / 50)) for t in range(-157, 158)) > -1e-12
    assert min(1 + 2 * sum(np.cos(m * t / 50) for m in range(1, 5)) for t in range(-157, 158)) < -1


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="numeric",
    target="printed",
    cases="two waves, their product, and 400 points of the interpolants of a wave at distances 1/4 and 1/2",
)
@proof_steps("risk.md: 8, 9")
def test_errors_of_sums_are_what_the_proof_says() -> None:
    """The errors of products and interpolants by their formulas, and the interpolant of a wave nearly attains its."""
    f = replace(waves.wave([1, 0], 3, -4, 1), error=fmpq(1, 8))
    g = replace(waves.wave([1, 2], "1/2", "1/4", 1), error=fmpq(1, 16))
    assert (f.size, g.size) == (7, fmpq(3, 4))
    assert (f * g).error == 7 * fmpq(1, 16) + (fmpq(3, 4) + fmpq(1, 16)) * fmpq(1, 8)
    assert (f + g.scaled(-2)).error == fmpq(1, 8) + fmpq(1, 8)
    for distance, pieces in ((fmpq(1, 4), 12), (fmpq(1, 2), 6)):
        plain = waves.wave([1, 2], 1, 0, 1)  # reach 3
        sums = plain.relu_sum(distance)
        assert sums.error == fmpq(3, pieces) ** 2 / 8 + fmpq(1, 2**40)
        assert sums.radius == 1
        t = np.linspace(-1, 1, 400)
        off = np.abs(sums(t, t) - np.cos(3 * t)).max()
        assert 0.95 * float(sums.error) < off <= float(sums.error)
        assert sum(map(abs, sums.directions[0].tolist())) <= 1
    assert g.error == replace(waves.wave([1], 1, 0, 3), error=g.error).along([1, -2], 1).error
    third = waves.lipschitz_waves(lambda z: fmpq(1, 3), [0], 1, 3)  # nothing but the rounding of coefficients
    assert all(terms == (0, 0) for (w,), terms in third.terms.items() if w)
    assert 0 < abs(third.terms[(fmpq(0),)][0] - fmpq(1, 3)) <= third.error < fmpq(1, 2**36)
    steep = waves.lipschitz_waves(lambda z: fmpq(0), [2**20], 1, 3)  # and here of the places: 2^20 2^-40
    assert abs(arb(steep.error) - 2**20 * arb.pi() ** 2 / 15 - fmpq(1, 2**20)) < 1e-9
    turned = waves.wave([-1, 2], "1/2", "3/4", 1)  # a frequency whose first entry is negative is stored as (1, -2)
    for x, y in ((fmpq(1, 3), fmpq(1, 2)), (fmpq(-1), fmpq(2, 7))):
        phase = arb(2 * y - x)
        assert abs(turned(x, y) - phase.cos() / 2 - 3 * phase.sin() / 4) < 1e-12
    mixed = waves.wave([2], "3/5", "4/5", 1).relu_sum("1/4")
    assert mixed.error == fmpq(7, 5) * fmpq(1, 4) ** 2 / 8 + fmpq(1, 2**40)


@check(
    "deep-icgd:theorem-6",
    "deep-icgd:theorem-3",
    grade="numeric",
    target="printed",
    cases="l' = |w - x| - y, N = 2, n = 3, three steps, 4 starts; seed 4",
)
@proof_steps("risk.md: 9")
def test_descent_on_a_loss_whose_gradient_is_lipschitz_and_no_more() -> None:
    """The explicit network of the proof, end to end, against projected descent; its error is the one of the proof."""
    function, constants, degree = FOLDED["three variables"]
    sums = waves.lipschitz_waves(function, constants, 1, degree).relu_sum("1/2")
    block = risk_descent_block((1, 1), 3, "1/8", [sums], (-1, 1), 1, 1)
    eps, run, rng = float(block.gradient_error), block.to_float(), np.random.default_rng(4)
    assert eps < np.pi**2 / 4 + 0.3
    for _ in range(4):
        x, y, w = rng.uniform(-1, 1, (4, 1)), rng.uniform(-1, 1, (3, 1)), rng.uniform(-1, 1, 1)
        found = run.trajectory(run.prompt(x, y, w), 3)
        for before, after in pairwise(found):
            free = before - (np.abs(before - x[:-1, 0]) - y[:, 0]).mean() / 8
            assert abs(after - np.clip(free, -1, 1))[0] <= eps / 8 + 1e-12
