"""`lemmata.numerics.parity.sign_classes`: layers on a class of signs, probabilities of absence, bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.parity.sign_classes import class_readout, no_class_bound, no_class_probability, readout_weights


def test_the_first_full_class_is_used() -> None:
    """k = 4: one pair at each needed level 3..7 of the class of (1, 1, 1, -1), with all signs of w and u."""
    for flips in itertools.product([1, -1], repeat=5):
        w = np.array(flips)[:, None] * np.array([1, 1, 1, -1])
        u = np.array([1, -1, 1, 1, -1])
        second = class_readout(w, u, np.arange(3, 8))
        first = u * np.array(flips) > 0
        assert (second[:5] != 0).tolist() == first.tolist()
        assert (second[:5] + second[5:]).tolist() == [-weight for weight in readout_weights(4)]


def test_one_pair_hits_one_of_the_cells() -> None:
    assert no_class_probability(1, 1, 1, 3) == 0
    assert no_class_probability(2, 3, 1, 1) == fmpq(4, 6)
    assert no_class_bound(1, 1, 1, 1) == 1  # as many pairs as levels: nothing is known


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="even and at least 4"):
        readout_weights(2)
    w, u = np.ones((5, 4), dtype=int), np.ones(5, dtype=int)
    with pytest.raises(ValueError, match="No class of signs"):
        class_readout(w, u, [3, 4, 5, 6, 6])
    with pytest.raises(ValueError, match="shape"):
        class_readout(w, u[:4], [3, 4, 5, 6, 7])
    with pytest.raises(ValueError, match=r"\+1 or -1"):
        class_readout(2 * w, u, [3, 4, 5, 6, 7])
    with pytest.raises(ValueError, match="from 1 to 2k - 1 = 7"):
        class_readout(w, u, [3, 4, 5, 6, 8])
    for sizes in ((0, 3, 2, 5), (2, 3, 2, 0), (2, 3, 4, 5), (2, 3, 0, 5)):
        with pytest.raises(ValueError, match="at least one class"):
            no_class_probability(*sizes)
    with pytest.raises(ValueError, match="at least as many pairs"):
        no_class_bound(2, 3, 2, 1)
