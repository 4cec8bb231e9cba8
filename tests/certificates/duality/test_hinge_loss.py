"""Least hinge losses: the parity on good and bad neurons, random programs against a solver, refused certificates."""

from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from lemmata.certificates.duality.hinge_loss import HingeCertificate, least_hinge_loss, verify
from lemmata.constructions.parity.two_layer import post_step_network
from lemmata.numerics.exact.rationals import as_fraction


def problem(k: int, *, printed: bool) -> tuple[Any, list[int], list[Fraction]]:
    x = np.where(np.arange(k) < np.arange(k + 1)[:, None], 1, -1)
    features = post_step_network(k, k, printed=printed, exact=True).features(x)
    return features, [(-1) ** (k - m) for m in range(k + 1)], [Fraction(comb(k, m), 2**k) for m in range(k + 1)]


@pytest.mark.parametrize("k", [2, 4, 6, 8, 10])
def test_the_printed_neurons_cannot_and_the_repaired_ones_can(k: int) -> None:
    assert least_hinge_loss(*problem(k, printed=True)).value == Fraction(4, 2**k)
    assert least_hinge_loss(*problem(k, printed=False)).value == 0
    features, labels, law = problem(k, printed=True)
    (*_, a, b, c) = least_hinge_loss(features, labels, law).multipliers
    assert (a, b, c) == (Fraction(1, 2**k), Fraction(2, 2**k), Fraction(1, 2**k))
    with_bias = np.hstack([features, np.full((k + 1, 1), 1, dtype=object)])
    assert least_hinge_loss(with_bias, labels, law).value == Fraction(4, 2**k)  # still affine on the last three


@pytest.mark.parametrize("k", range(20, 41, 4))
def test_many_signs_are_settled_by_the_same_multipliers(k: int) -> None:
    """Lemma B.4 with weights of the law from 2^-k to 1, where no tolerance separates a weight from 0."""
    certificate = least_hinge_loss(*problem(k, printed=True))
    assert certificate.value == Fraction(4, 2**k)
    assert certificate.multipliers[-3:] == (Fraction(1, 2**k), Fraction(2, 2**k), Fraction(1, 2**k))
    assert least_hinge_loss(*problem(k, printed=False)).value == 0


@pytest.mark.parametrize("exponent", [9, -9, 400, -400])
@pytest.mark.parametrize("k", [8, 40])
def test_the_size_of_features_and_weights_does_not_matter(k: int, exponent: int) -> None:
    features, labels, law = problem(k, printed=True)
    scale = Fraction(10) ** exponent
    plain = least_hinge_loss(features, labels, law)
    scaled = least_hinge_loss([[as_fraction(h) * scale for h in row] for row in features], labels, law)
    assert (scaled.value, scaled.multipliers) == (plain.value, plain.multipliers)
    assert scaled.readout == tuple(u / scale for u in plain.readout)
    weighted = least_hinge_loss(features, labels, [p * scale for p in law])
    assert (weighted.value, weighted.readout) == (plain.value * scale, plain.readout)


@pytest.mark.parametrize("factor", [1, 10**9, 10**400], ids=["1", "10^9", "10^400"])
def test_integers_of_any_size(factor: int) -> None:
    """A random table of shape (10, 4), whose entries are multiplied: the value stays."""
    rng = np.random.default_rng(6)
    features, labels = rng.integers(-9, 10, (10, 4)).astype(object), rng.choice([-1, 1], 10).tolist()
    plain = least_hinge_loss(features, labels, [1] * 10)
    assert plain.value > 0
    assert least_hinge_loss(features * factor, labels, [1] * 10).value == plain.value


@given(seed=st.integers(0, 2**32 - 1), inputs=st.integers(1, 7), width=st.integers(1, 4))
def test_the_value_is_that_of_the_linear_program(seed: int, inputs: int, width: int) -> None:
    """Small integers, often degenerate; the oracle is a program in floating point, right to 1e-7 of values below 7."""
    rng = np.random.default_rng(seed)
    h, y = rng.integers(-3, 4, size=(inputs, width)), rng.choice([-1, 1], size=inputs)
    p = rng.integers(0, 4, size=inputs)
    certificate = least_hinge_loss(h, y.tolist(), p.tolist())
    rows = np.hstack([-y[:, None] * h, -np.eye(inputs)])
    bounds = [(None, None)] * width + [(0, None)] * inputs
    result = linprog(np.concatenate([np.zeros(width), p]), A_ub=rows, b_ub=-np.ones(inputs), bounds=bounds)
    assert abs(result.fun - float(certificate.value)) < 1e-6


def test_edited_certificates_are_refused() -> None:
    features, labels, law = problem(4, printed=True)
    good = least_hinge_loss(features, labels, law)
    verify(features, labels, law, good)
    half = tuple(a / 2 for a in good.multipliers)
    zero = tuple(Fraction(0) for _ in good.multipliers)
    cases: list[tuple[HingeCertificate, str]] = [
        (replace(good, readout=(good.readout[0] + 1, *good.readout[1:])), "read-out has the hinge loss"),
        (replace(good, multipliers=(Fraction(1, 16), *good.multipliers[1:])), "do not annihilate feature"),
        (replace(good, multipliers=(Fraction(-1), *good.multipliers[1:])), "Multiplier 0 is -1"),
        (replace(good, multipliers=(Fraction(1), *good.multipliers[1:])), "Multiplier 0 is 1"),
        (replace(good, multipliers=half), "multipliers sum to 1/8"),
        (replace(good, multipliers=half, value=Fraction(1, 8)), "hinge loss 1/4, not 1/8"),
        (replace(good, multipliers=zero[1:]), "5 multipliers"),
    ]
    for certificate, message in cases:
        with pytest.raises(ValueError, match=message):
            verify(features, labels, law, certificate)
    flipped = [-labels[0], *labels[1:]]
    with pytest.raises(ValueError, match="hinge loss"):
        verify(features, flipped, law, good)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 0]], [1, 1], [1]), "a label and a weight for each input"),
        (([1, 0], [1, 1], [1, 1]), r"shape \(inputs, neurons\)"),
        (([[1]], [2], [1]), "labels must be 1 or -1"),
        (([[1]], [1], [-1]), "at least 0"),
        (([[0.5]], [1], [1]), "exact"),
    ],
)
def test_bad_input_is_refused(arguments: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        least_hinge_loss(*arguments)
