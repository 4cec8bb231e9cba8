"""Lemma 42 with the exponents that plane waves give: networks on a disc, their errors, sizes and weights.

The proof is in `proofs/lipschitz.md`; errors are measured at points of the disc.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.numerics.functions.lipschitz_networks import ball_network, sizes_for
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
