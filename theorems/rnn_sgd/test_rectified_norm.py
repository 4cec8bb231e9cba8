"""Footnote 2: the map x -> relu(W x) of a random matrix stretches some vectors by far more than sqrt 2.

With entries of variance 2/m the norm lies between sqrt 3 and 1 + sqrt 2 (`proofs/rectified-norm.md`); ascent finds
vectors near the upper end, and balls certify them. Printed are sqrt 2, and 1 for the variance sqrt(2)/m.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from lemmata.numerics.recurrent.rectified_norm import first_column_vector, stretch, stretched_vector
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

FOOTNOTE = "rnn-sgd:footnote-2"
SEEDS = [0, 1, 2]
CASES = "m = 250, seeds 0, 1, 2"


def _matrix(seed: int, width: int = 250) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((width, width)) * math.sqrt(2 / width)


@check(FOOTNOTE, grade="enclosed", target="corrected", cases=CASES)
@proof_steps("rectified-norm.md: 2")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_certificate_from_below(seed: int) -> None:
    """The vector of step 2 has a stretch of at least that of W^T y, whose square is 3 - 2/m within five deviations."""
    W = _matrix(seed)
    y = np.maximum(W[:, 0], 0)
    square = float(((W.T @ (y / np.linalg.norm(y))) ** 2).sum())
    assert abs(square - 3 + 2 / 250) < 5 * math.sqrt(14 / 250)
    x = first_column_vector(W)
    value = stretch(W, x)
    assert abs(value - float(np.linalg.norm(np.maximum(W @ x, 0)) / np.linalg.norm(x))) < arb("1e-12")
    assert value >= arb(square).sqrt() - arb("1e-9")
    assert value > arb("1.6")


@counterexample(FOOTNOTE, grade="enclosed", cases=CASES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_norm_is_not_the_root_of_two(seed: int, record: Record) -> None:
    """A vector stretched by more than 2.3, and by more than 1.9 at the variance sqrt(2)/m, where 1 is printed."""
    W = _matrix(seed)
    x = stretched_vector(W, 300)
    assert stretch(W, x) > arb("2.3")
    assert stretch(W * 2**-0.25, x) > arb("1.9")
    if seed == 0:
        m, error = len(W), 5 * math.sqrt(2 / W.size)
        record.hypothesis("W is square", W.shape[0], "=", W.shape[1])
        for power, factor in ((2, 1), (4, 3)):  # normal entries of variance 2/m: moments 1 and 3 times its powers
            found = float((W**power).mean()) / (2 / m) ** (power // 2) / factor
            says = f"the moment {power} of the entries over that of N(0, 2/m) is 1 within five standard errors"
            record.hypothesis(says, abs(found - 1), "<=", error * math.sqrt(factor * 16 / 9))
        # three digits, rounded down: those are the same on every machine
        known, smaller = (Fraction(int(1000 * float(stretch(V, x).lower())), 1000) for V in (W, W * 2**-0.25))
        record.violated("nothing is stretched by more than the printed norm, sqrt 2", known, "<=", arb(2).sqrt())
        record.violated("nor by more than 1 at the variance sqrt(2)/m", smaller, "<=", 1)


@check(FOOTNOTE, grade="numeric", target="corrected", cases=CASES)
@proof_steps("rectified-norm.md: 3")
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_found_is_above_the_bound(seed: int) -> None:
    """Ascent stays below 1 + sqrt 2 + delta with exp(-m delta^2/4) = 10^-6, and comes within 0.1 of 1 + sqrt 2."""
    W = _matrix(seed)
    x = stretched_vector(W, 300)
    assert abs(np.linalg.norm(x) - 1) < 1e-12  # a unit vector
    value = stretch(W, x)
    delta = (4 * arb(10**6).log() / 250).sqrt()
    assert value < 1 + arb(2).sqrt() + delta
    assert value > 1 + arb(2).sqrt() - arb("0.1")
    typical = stretch(W, np.random.default_rng(9).standard_normal(250))
    assert abs(typical - 1) < arb("0.3")


@check(FOOTNOTE, grade="numeric", target="corrected", supporting=True, cases="m = 40, seed 3, 2000 vectors")
@proof_steps("rectified-norm.md: 1")
def test_the_two_forms_of_the_norm() -> None:
    """|relu(W x)| = <y, W x> for its own y, and no unit y >= 0 has more."""
    rng, W = np.random.default_rng(3), _matrix(3, 40)
    x = stretched_vector(W, 200)
    image = np.maximum(W @ x, 0)
    y = image / np.linalg.norm(image)
    assert abs(float(y @ W @ x) - np.linalg.norm(image)) < 1e-12
    others = np.abs(rng.standard_normal((2000, 40)))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert (others @ (W @ x)).max() <= np.linalg.norm(image) + 1e-12
    assert np.linalg.norm(W.T @ y) >= np.linalg.norm(image) - 1e-12


@check(FOOTNOTE, grade="enclosed", target="corrected", supporting=True)
@proof_steps("rectified-norm.md: 4")
def test_the_other_variance(record: Record) -> None:
    """2^(-1/4) times sqrt 3 and 1 + sqrt 2: 1.456 and 2.031."""
    factor = arb(2) ** (-arb(1) / 4)
    assert abs(factor * arb(3).sqrt() - arb("1.4565")) < arb("0.0001")
    assert abs(factor * (1 + arb(2).sqrt()) - arb("2.0301")) < arb("0.0001")
    record.number("1.456", factor * arb(3).sqrt(), rounded="down")
    record.number("2.031", factor * (1 + arb(2).sqrt()), rounded="up")
