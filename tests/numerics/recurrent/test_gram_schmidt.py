"""Gram-Schmidt: small cases, dependent vectors, bad input."""

import numpy as np
import pytest
from flint import arb

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.recurrent.gram_schmidt import gram_schmidt


def test_small_cases():
    assert gram_schmidt(as_exact([[1, 1], [1, 0]])).tolist() == as_exact([[1, 1], ["1/2", "-1/2"]]).tolist()
    np.testing.assert_allclose(gram_schmidt(np.array([[3.0, 4.0], [1.0, 0.0]])), [[0.6, 0.8], [0.8, -0.6]], atol=1e-15)


def test_dependent_vectors_are_replaced():
    exact = gram_schmidt(as_exact([[0, 0, 0], [2, 0, 0], [0, 3, 0]]))
    assert exact.tolist() == as_exact([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).tolist()
    found = gram_schmidt(np.ones((3, 3)))
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-14)
    assert gram_schmidt(np.array([[1e-200, 0.0]])).tolist() == [[1, 0]]


@pytest.mark.parametrize("vectors", [np.zeros(3), np.zeros((3, 2)), np.zeros((0, 2))])
def test_more_vectors_than_coordinates_are_refused(vectors):
    with pytest.raises(ValueError, match="n vectors of length m >= n"):
        gram_schmidt(vectors)


def test_balls_are_refused():
    with pytest.raises(ValueError, match="undecided"):
        gram_schmidt(np.array([[arb(1), arb(2)]], dtype=object))
