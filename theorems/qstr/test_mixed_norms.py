"""Lemma 39: mixed norms are submultiplicative; `proofs/mixed-norms.md`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.tokens.mixed_norms import conjugate, mixed_norm
from lemmata.theorems.evidence import check, proof_steps

LEMMA = "qstr:lemma-39"
EXPONENTS: list[Any] = [1, "6/5", "3/2", 2, 3, 5, "inf"]


@check(LEMMA, grade="exact", target="printed")
@proof_steps("mixed-norms.md: 4")
def test_norms_by_hand() -> None:
    """Columns (3, 4), (0, -12) and (1, 1)."""
    A = [[3, 0, 1], [4, -12, 1]]
    root = arb(2).sqrt()
    for p, r, expected in [
        (2, 1, 17 + root),
        (2, 2, arb(171).sqrt()),
        (1, "inf", arb(12)),
        ("inf", 1, arb(17)),
        ("inf", "inf", arb(12)),
        (1, 1, arb(21)),
        (1, 3, arb(7**3 + 12**3 + 2**3).root(3)),
        (3, 1, arb(91).root(3) + 12 + arb(2).root(3)),
        ("3/2", 1, (arb(27).sqrt() + 8) ** (arb(2) / 3) + 12 + arb(4).root(3)),
    ]:
        value = mixed_norm(A, p, r)
        assert value.overlaps(expected)
        assert value.rad() < arb("1e-12")
    assert [conjugate(p) for p in (1, 2, "3/2", 5, "inf")] == ["inf", 2, 3, fmpq(5, 4), 1]


@check(LEMMA, grade="sampled", target="printed", supporting=True)
@proof_steps("mixed-norms.md: 3")
@given(st.integers(0, 2**32), *[st.sampled_from(EXPONENTS)] * 3)
def test_products(seed: int, p: Any, r: Any, s: Any) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 5, size=3)
    A, B = rng.integers(-4, 5, (shape[0], shape[1])), rng.integers(-4, 5, (shape[1], shape[2]))
    left, right = mixed_norm(A @ B, r, s), mixed_norm(A, r, p) * mixed_norm(B, conjugate(p), s)
    assert left < right or left.overlaps(right)


@check(LEMMA, grade="exact", target="printed")
@proof_steps("mixed-norms.md: 4")
@pytest.mark.parametrize("p", [1, "3/2", 2, 3, "inf"])
@pytest.mark.parametrize("r", [1, 2, "inf"])
@pytest.mark.parametrize("s", [1, 3, "inf"])
def test_equality_for_aligned_matrices(p: Any, r: Any, s: Any) -> None:
    """A = a c^T and B = b e^T with |c_j|^p proportional to |b_j|^q: c = (1, 0) and b alike, or all ones."""
    a, e = np.array([[2], [-3], [6]]), np.array([[1, -4]])
    for c in (np.array([[1, 0]]), np.array([[1, 1]])):
        A, B = a @ c, c.T @ e
        left, right = mixed_norm(A @ B, r, s), mixed_norm(A, r, p) * mixed_norm(B, conjugate(p), s)
        assert left.overlaps(right)
        assert left.rad() + right.rad() < arb("1e-10")
    if p not in (1, "inf"):  # a larger exponent than the conjugate one is too large
        A, B = a @ np.array([[1, 1]]), np.array([[1], [1]]) @ e
        assert mixed_norm(A @ B, r, s) > mixed_norm(A, r, p) * mixed_norm(B, "inf", s)


@check(LEMMA, grade="exact", target="printed", supporting=True)
@proof_steps("mixed-norms.md: 1")
def test_one_column() -> None:
    """Step 1: ||A b||_r <= sum_j |b_j| ||A_j||_r, at all signs of a vector and three norms."""
    A = np.array([[1, -2, 0], [3, 1, Fraction(1, 2)]], dtype=object)
    for signs in np.ndindex(2, 2, 2):
        b = np.array([[(1, -1)[sign] * size] for sign, size in zip(signs, (1, 2, 5), strict=True)], dtype=object)
        for r in (1, 2, "inf"):
            whole = sum((abs(int(b[j, 0])) * mixed_norm(A[:, [j]], r, 1) for j in range(3)), start=arb(0))
            image = mixed_norm(A @ b, r, 1)
            assert image < whole or image.overlaps(whole)
