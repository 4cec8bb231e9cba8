"""Enclosed evidences against exact ones, which are found by expansion."""

import numpy as np
import pytest
from flint import arb

from lemmata.numerics.exact.precision import precision
from lemmata.numerics.markov.enclosed import enclosed_evidence, enclosed_extensions
from lemmata.numerics.markov.enumeration import all_sequences, stationary_evidence, transitions


@pytest.mark.parametrize("t", [1, 2, 5, 9])
def test_evidences_contain_the_exact_ones(t):
    with precision(256):
        total = arb(0)
        for x in all_sequences(2, t):
            (n11, n12), (n21, _) = transitions(x, 2)
            counts = np.array([n11]), np.array([n12 + n21])
            one, two = (found[0] for found in enclosed_extensions(t - 1, x[0], *counts))
            for symbol, found in ((1, one), (2, two)):
                exact = stationary_evidence((*x, symbol)).ball(300)
                assert found.overlaps(exact)
                assert abs(found - exact) < exact / 2**60
            total += one + two
        assert abs(total - 1) < 1e-30


def test_long_evidences_are_sharp_and_add_up():
    Z, longer = enclosed_evidence(60), enclosed_evidence(61)
    for n11, e in ((0, 0), (60, 0), (0, 60), (20, 20), (7, 33)):
        stay = longer[n11 + 1, e] if e % 2 == 0 else longer[n11, e]
        assert Z[n11, e].overlaps(stay + longer[n11, e + 1])
        assert float(Z[n11, e].rad()) < 1e-25 * float(Z[n11, e].mid())


@pytest.mark.parametrize("steps", [-1, 129, 2.5])
def test_other_lengths_are_refused(steps):
    with pytest.raises(ValueError, match="steps"):
        enclosed_evidence(steps)
