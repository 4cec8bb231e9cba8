"""Recurrent networks that store all tokens: words, rounding, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.integrate import quad

from lemmata.constructions.tokens.codebook import (
    Codebook,
    codebook_layer,
    codebook_order,
    lipschitz_extension,
    quantisation_error,
    sign_layer,
    storing_layer,
    storing_radius,
)


@pytest.mark.parametrize(("bits", "bound"), [(1, 1), (2, 3), (3, fmpq(5, 2))])
def test_the_error_of_rounding_is_the_integral_over_the_cells(bits: int, bound: Any) -> None:
    """Against adaptive quadrature, cell by cell, at its own tolerance of 1.5e-8; beyond 40 nothing is left."""
    book = Codebook(1, bits, bound)
    cells = 2**bits
    middles = [float(m.p) / float(m.q) for m in book.midpoints(np.arange(cells))]
    edges = [-40.0, *np.linspace(-float(arb(bound)), float(arb(bound)), cells + 1)[1:-1], 40.0]

    def weighed(s: float, middle: float) -> float:
        return (s - middle) ** 2 * math.exp(-s * s / 2) / math.sqrt(2 * math.pi)

    parts = [
        quad(weighed, low, high, args=(middle,), points=[p for p in (-5, 5) if low < p < high])[0]
        for low, high, middle in zip(edges[:-1], edges[1:], middles, strict=True)
    ]
    assert float(quantisation_error(bits, bound)) == pytest.approx(sum(parts), abs=1e-7)


def test_orders_are_the_least_ones() -> None:
    assert [codebook_order(N, 1) for N in (1, 2, 4, 5, 12, 13, 32, 33)] == [2, 4, 4, 8, 8, 16, 16, 32]
    assert codebook_order(112, 4) == 128
    assert codebook_order(10**6, 5) == 2**20


def test_numbers_are_rounded_to_the_nearest_midpoint() -> None:
    book = Codebook(4, 2, 2)  # cells of length 1
    assert book.quantise([-5, "-1/2", "1/2", 9]).tolist() == [0, 1, 2, 3]
    assert book.quantise([-2.0, -1.0, 0.999, 1.0]).tolist() == [0, 1, 2, 3]
    assert book.midpoints([0, 3]).tolist() == [fmpq(-3, 2), fmpq(3, 2)]


def test_words_return_their_numbers() -> None:
    book, rng = Codebook(9, 3), np.random.default_rng(0)
    for _ in range(3):
        numbers = rng.integers(0, 8, 9)
        assert (book.decode(np.prod(book.words(numbers), axis=0)) == numbers).all()
    with pytest.raises(ValueError, match="no word of the code"):
        book.decode(-np.ones(book.width, dtype=np.int64))
    flipped = np.ones(book.width, dtype=np.int64)
    flipped[5] = -1
    with pytest.raises(ValueError, match="no word of the code"):
        book.decode(flipped)


def test_layers_have_the_widths_of_their_orders() -> None:
    assert codebook_layer(4).outputs == 2 * 16
    assert storing_layer(5).outputs == 10
    assert [storing_radius(N) for N in (2, 3, 10, 101)] == [2, 4, 6, 20]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: codebook_order(0, 1), "N >= 1 numbers of b >= 1 bits, not 0"),
        (lambda: Codebook(3, 0), "not 3 numbers of 0 bits"),
        (lambda: Codebook(3, 2, 0), r"\[-B, B\] with B > 0, not 0"),
        (lambda: Codebook(10**5, 4), "need a field of 65536 elements, but the largest has 2048"),
        (lambda: Codebook(2, 2).quantise([0.5, np.nan]), r"the values has NaN or infinity at \(1,\)"),
        (lambda: Codebook(2, 2).quantise(np.array([arb(1), arb(2)])), "a arb is not exact"),
        (lambda: Codebook(2, 2).words(np.array([0, 4])), "2 numbers from 0 to 3"),
        (lambda: Codebook(2, 2).decode(np.ones(15, dtype=int)), "16 signs"),
        (lambda: Codebook(2, 2).predict([1, 2], [0, 2]), "2 indices from 0 to 1"),
        (lambda: Codebook(2, 2).predict([1, 2, 3], [0, 1]), "A prompt has 2 values"),
        (lambda: codebook_layer(3), "not for 3"),
        (lambda: codebook_layer(64), "powers of two 2, ..., 32, not for 64"),
        (lambda: sign_layer(1, 0), "The scale must be an integer >= 1, not 0"),
        (lambda: storing_layer(1), "nothing to store in prompts of 1 tokens"),
        (lambda: lipschitz_extension([[1]], [1, 2], 1, [[1]]), "needs anchors"),
        (lambda: lipschitz_extension([[1]], [1], -1, [[1]]), "a constant >= 0"),
        (lambda: quantisation_error(3, -1), "B > 0, not -1"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
