"""Descent on circuits: what is refused, and arithmetic; the iterates are checked in the chapter on sparse functions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from lemmata.constructions.circuits.arithmetic import Circuit, Gate, two_layer_mlp
from lemmata.constructions.circuits.training import chunks, descend, epochs, mean_gradient, mean_loss
from lemmata.numerics.learning.losses import LOSSES

LINE = Circuit(2, (Gate("*", (0, 1)),), (2,))
SQUARE = LOSSES["square"]


def share(size: int) -> Fraction:
    return Fraction(1, size)


def test_one_weight_by_hand() -> None:
    """(theta x - y)^2 at theta = 3: examples (2, 1) and (1, -1) with weights 1/4 and 3/4."""
    batch = [([2], 1, Fraction(1, 4)), ([1], -1, Fraction(3, 4))]
    assert mean_loss(LINE, [3], batch, SQUARE) == Fraction(25, 4) + 12
    assert mean_gradient(LINE, [3], batch, SQUARE) == [5 + 6]
    assert descend(LINE, [3], [batch], [Fraction(1, 11)], SQUARE) == [[3], [2]]
    assert descend(LINE, [3], [batch], [1], SQUARE, lambda theta: [4 * theta[0]]) == [[3], [-20]]
    assert descend(LINE, [3], [], [], SQUARE) == [[3]]


def test_batches() -> None:
    sample = [([i], i) for i in range(6)]
    assert [[x[0] for x, _, _ in batch] for batch in chunks(sample, 2, share)] == [[0, 1], [2, 3], [4, 5]]
    assert [len(batch) for batch in chunks(sample, 1, share)] == [1] * 6
    assert {weight for batch in chunks(sample, 3, share) for _, _, weight in batch} == {Fraction(1, 3)}
    passes = epochs(sample, 3, [range(6), [5, 4, 3, 2, 1, 0]], share)
    assert [[y for _, y, _ in batch] for batch in passes] == [[0, 1, 2], [3, 4, 5], [5, 4, 3], [2, 1, 0]]


@pytest.mark.parametrize("size", [0, -1, 4, 7])
def test_batches_divide_the_examples(size: int) -> None:
    with pytest.raises(ValueError, match="divisor"):
        chunks([([i], i) for i in range(6)], size, share)
    with pytest.raises(ValueError, match="divisor"):
        chunks([], 1, share)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [1, 2, 3]])
def test_orders_are_permutations(order: list[int]) -> None:
    with pytest.raises(ValueError, match="each of the 3 examples once"):
        epochs([([i], i) for i in range(3)], 1, [order], share)


def test_inputs_fit() -> None:
    batch: list[Any] = [([2], 1, 1)]
    with pytest.raises(ValueError, match="one rate for each batch"):
        descend(LINE, [3], [batch], [1, 1], SQUARE)
    with pytest.raises(ValueError, match="do not fill"):
        mean_gradient(LINE, [3, 4], batch, SQUARE)
    with pytest.raises(ValueError, match="do not fill"):
        descend(two_layer_mlp(2, 1), [1, 1, 1], [batch], [1], SQUARE)
    with pytest.raises(ValueError, match="needs an example"):
        mean_loss(LINE, [3], [], SQUARE)
    with pytest.raises(ValueError, match="a parameter"):
        mean_loss(Circuit(1, (), (0,)), [], batch, SQUARE)
    with pytest.raises(ValueError, match="one output"):
        mean_loss(Circuit(2, (), (0, 1)), [3], batch, SQUARE)
