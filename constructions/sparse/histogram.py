"""Symmetric functions of M symbols by one head: the histogram of the symbols at I, and a perceptron that reads it.

A function of the s symbols at I that does not depend on their order is one of the numbers r_c of positions of I that
have the symbol c = 1, ..., M - 1. One head with the key sum_(i in I) w_i (dual vectors) has equal scores R on I,
and with the values e_c at symbol c, 0 at symbol 0 and at the class token it gives nearly (r_1/s, ..., r_(M-1)/s). Two
histograms differ by 1/s or more in a coordinate, so that a memorising perceptron with C(s + M - 1, M - 1) nodes of
M - 1 coordinates does the rest; for M = 2 these are the s + 1 nodes of bits, and for fixed M polynomially many in s.

Source: variable-creation, remark-A.2.4 (proofs/representation.md of that chapter, step 18).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.sparse.compiler import dual_vectors
from lemmata.constructions.sparse.functions import checked_indices
from lemmata.constructions.sparse.inputs import InputMap
from lemmata.constructions.sparse.memorising import memorising_perceptron
from lemmata.constructions.sparse.positions import orthonormal_positions
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact

__all__ = ["compile_histogram", "histograms"]


def histograms(sparsity: int, alphabet: int) -> NDArray[np.int64]:
    """All (r_1, ..., r_(M-1)) with sum at most s, in lexicographic order, shape (C(s + M - 1, M - 1), M - 1).

    Raises:
        ValueError: for s < 1 or M < 2.
    """
    s, M = (
        checked_integer("The number of positions", sparsity, 1),
        checked_integer("The number of symbols", alphabet, 2),
    )
    return np.array([r for r in product(range(s + 1), repeat=M - 1) if sum(r) <= s], dtype=np.int64)


def compile_histogram(length: int, indices: Iterable[int], values: ArrayLike, *, alphabet: int) -> Transformer:
    """The network that computes a symmetric function of the symbols at I exactly, on all strings of 0, ..., M - 1.

    Args:
        length: T.
        indices: I, different positions, counted from 0.
        values: exact numbers, one for each row of `histograms`, in its order.
        alphabet: M >= 2.

    Returns:
        One attention layer with one head, and a perceptron; orthonormal positions, the class token first.

    Raises:
        ValueError: for indices or sizes out of range, and another number of values.
    """
    T = checked_integer("The length of the strings", length, 1)
    read = checked_indices(T, indices)
    s, table = len(read), as_exact(values)
    counts = histograms(s, alphabet)
    if table.shape != counts.shape[:1]:
        raise ValueError(f"{s} symbols out of {alphabet} have {len(counts)} histograms, not {table.shape} values.")
    mapping = InputMap("deterministic", orthonormal_positions(T), alphabet)
    R = arb(8 * T * s).log().upper().ceil()
    symbols = np.eye(alphabet, dtype=np.int64)[:, 1:]
    head = Head(
        Affine(mapping.stream.readout(1, {"class": np.array([[fmpq(int(R.fmpz()))]], dtype=object)})),
        Affine(mapping.stream.readout(1, {"position": dual_vectors(mapping.positions, read).sum(axis=0)[:, None]})),
        Affine(mapping.stream.readout(alphabet - 1, {"symbol": symbols})),
        output=Affine(np.eye(alphabet - 1, dtype=np.int64)),
        causal=False,
    )
    *hidden, last = memorising_perceptron(as_exact(counts) / fmpq(s), table, fmpq(1, 4 * s)).layers
    return Transformer(
        embedding=mapping.embedding,
        prefix=mapping.class_token,
        layers=(AttentionLayer((head,), "sum", "first"), FeedForward(tuple(hidden))),
        readout=last.weight[:, 0],
        positions=mapping.position_rows(),
        read="first",
        alphabet=tuple(range(alphabet)),
    )
