"""Targets and sequences of many inputs at once: against those of one input, and bad input."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.recurrent.concepts import (
    Part,
    TargetFunction,
    input_sequence,
    input_sequences,
    interaction,
    target_values,
)

W = np.array([0.6, 0.8, 0.0])


def _target() -> TargetFunction:
    zero, one = fmpq(0), fmpq(1)
    parts = (
        Part(2, 4, 0, (zero, one), W),
        Part(3, 4, 1, (zero, zero, fmpq(-2)), W),
        Part(2, 5, 1, (zero, one, zero, fmpq(1, 2)), W),
    )
    return TargetFunction(5, 2, parts)


def test_many_inputs_at_once():
    x = np.random.default_rng(0).standard_normal((9, 3, 3))
    found = target_values(_target(), x)
    assert found.shape == (9, 5, 2)
    for values, sequence, inputs in zip(found, input_sequences(x, 0.25), x, strict=True):
        np.testing.assert_allclose(values, _target()(inputs).astype(float), atol=1e-13)
        assert (sequence == input_sequence(inputs, 0.25)).all()


def test_bad_input():
    with pytest.raises(ValueError, match=r"shape \(n, 3, 3\)"):
        target_values(_target(), np.zeros((4, 2, 3)))
    with pytest.raises(ValueError, match="L >= 3"):
        input_sequences(np.zeros((4, 0, 3)), 0.5)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        input_sequences(np.zeros((4, 2, 3)), 1.0)


@pytest.mark.parametrize("tokens", [(1,), (1, 1), (0, 1, 2), (0, 3), (-1, 0)])
def test_a_mixed_difference_takes_two_different_rows(tokens):
    x = np.zeros((3, 3))
    with pytest.raises(ValueError, match="two different rows below 3"):
        interaction(lambda z: z.sum(), x, x + 1, tokens)
    assert interaction(lambda z: z[0, 0] * z[2, 0], x, x + 1, (0, 2)) == 1
