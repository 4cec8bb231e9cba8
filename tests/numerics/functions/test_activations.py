"""The ReLU of balls and of algebraic numbers."""

from __future__ import annotations

import numpy as np
from flint import arb, fmpq

from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.functions.activations import relu


def test_relu_of_an_undecided_ball_is_an_enclosure() -> None:
    wide = relu(np.array([arb(0, 1), arb(-3, 1), arb(3, 1)], dtype=object))
    assert all(wide[0].contains(x) for x in (0, 1))
    assert wide[1] == 0
    assert all(wide[2].contains(x) for x in (2, 4))


def test_relu_signs_algebraic_numbers_exactly() -> None:
    root = sqrt_rational(2)
    assert relu(np.array([root - fmpq(14142, 10000), fmpq(14142, 10000) - root], dtype=object)).tolist() == [
        root - fmpq(14142, 10000),
        0,
    ]
