"""Exact solutions near floats: the kernel of a matrix in fractions."""

from fractions import Fraction

import numpy as np

from lemmata.certificates.operations.exact_equations import rational_kernel


def projection_without(v):
    return np.eye(len(v)) - np.outer(v, v) / (v @ v)


def test_a_kernel_of_fractions_is_recognised_in_any_basis():
    v = np.array([1, -191 / 372, 28 / 93, 0, 5 / 558])
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    for outside in (np.eye(5), turned):
        P = outside.T @ projection_without(v) @ outside
        assert rational_kernel(outside, P) == [[1, Fraction(-191, 372), Fraction(28, 93), 0, Fraction(5, 558)]]


def test_no_kernel_is_made_up():
    """Of a definite matrix, and where the numbers are no fractions of small denominator."""
    assert rational_kernel(np.eye(3), np.eye(3)) == []
    v = np.array([1.0, *(2 ** (k / 7) for k in range(1, 7))])
    assert rational_kernel(np.eye(7), projection_without(v)) == []
