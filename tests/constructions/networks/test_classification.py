"""Codes of symbols, labels of outputs and accuracies, in all number systems, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.classification import accuracy, discretize, encode
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.cyclotomic.radicals import sqrt_rational
from lemmata.numerics.exact.numbers import as_exact


def test_codes_keep_the_leading_axes() -> None:
    assert encode([[0, 1], [1, 1]], 2).tolist() == [[-1, 1], [1, 1]]
    assert encode([[[2, 0]]], 3).tolist() == [[[0, 0, 1, 1, 0, 0]]]


@pytest.mark.parametrize(("symbols", "alphabet"), [([0, 2], 2), ([-1, 0], 3), ([0.0, 1.0], 2), (["a"], 2)])
def test_symbols_are_numbers_of_the_alphabet(symbols: Any, alphabet: int) -> None:
    with pytest.raises(ValueError, match="symbols must be integers"):
        encode(symbols, alphabet)


@pytest.mark.parametrize(("symbols", "alphabet"), [([0], 1), (0, 2), (np.zeros((3, 0), int), 2)])
def test_words_have_a_coordinate(symbols: Any, alphabet: int) -> None:
    with pytest.raises(ValueError, match="alphabet of at least 2"):
        encode(symbols, alphabet)


ROOT = sqrt_rational(2)


@pytest.mark.parametrize("convert", [np.array, as_exact, as_balls])
def test_largest_outputs_in_all_systems(convert: Any) -> None:
    assert discretize(convert([[1, 2, -1], [3, 2, 1]]), 3).tolist() == [1, 0]
    assert discretize(convert([[[1, 2, -1]], [[-3, -2, 1]]]), 3).tolist() == [[1], [2]]
    assert discretize(np.array([[0.5, 2.0, -1.0]]), 3).tolist() == [1]


def test_signs_in_all_systems() -> None:
    assert discretize(np.array([[-1e-300], [2.0]]), 2).tolist() == [0, 1]
    assert discretize(as_exact([["-1/7"], [3]]), 2).tolist() == [0, 1]
    assert discretize(as_balls([[-1], [3]]), 2).tolist() == [0, 1]
    assert discretize([[3], [-4]], 2).tolist() == [1, 0]
    assert discretize(np.array([ROOT, ROOT * ROOT, ROOT - 1], dtype=object), 3) == 1


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, fmpq(0)])
def test_zero_has_no_label(zero: Any) -> None:
    with pytest.raises(ValueError, match="no label"):
        discretize(np.array([zero], dtype=object if isinstance(zero, fmpq) else None), 2)


@pytest.mark.parametrize("outputs", [[1, 1, 0], [2.0, 1.0, 2.0], [0, 0, 0]])
def test_ties_have_no_label(outputs: Any) -> None:
    with pytest.raises(ValueError, match="not unique"):
        discretize(outputs, 3)
    with pytest.raises(ValueError, match="not unique"):
        discretize(as_exact([int(x) for x in outputs]), 3)


def test_balls_that_overlap_are_refused() -> None:
    wide = np.array([arb(1, fmpq(1, 2)), arb("1.2"), arb(0)], dtype=object)
    with pytest.raises(ValueError, match="undecided"):
        discretize(wide, 3)
    with pytest.raises(ValueError, match="undecided"):
        discretize(np.array([arb(0, 1)], dtype=object), 2)


@pytest.mark.parametrize(("outputs", "labels"), [([1, 2], 2), ([1, 2], 3), ([1], 1), (1.0, 2)])
def test_widths_fit_the_labels(outputs: Any, labels: int) -> None:
    with pytest.raises(ValueError, match="outputs of width"):
        discretize(outputs, labels)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_outputs_are_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        discretize([1.0, bad, 0.0], 3)


def test_accuracies() -> None:
    assert accuracy([0, 1, 1], [0, 1, 0], [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]) == (
        Fraction(5, 6),
        Fraction(1, 6),
    )
    right, wrong = accuracy(["a", "b"], ["a", "c"], [0.25, 0.75])
    assert (right, wrong) == (0.25, 0.75)


@pytest.mark.parametrize(
    ("predicted", "right", "law", "message"),
    [
        ([0], [0, 1], [1], "one length"),
        ([0, 1], [0, 1], [1], "one length"),
        ([], [], [], "one length"),
        ([0, 1], [0, 1], [Fraction(3, 2), Fraction(-1, 2)], "not negative"),
        ([0, 1], [0, 1], [Fraction(1, 2), Fraction(1, 3)], "sum 1"),
    ],
)
def test_laws_are_laws(predicted: Any, right: Any, law: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        accuracy(predicted, right, law)
