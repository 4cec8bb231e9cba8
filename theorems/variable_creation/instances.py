"""Networks of sparse functions that the tests of this chapter share, and how their norms are compared."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from flint import arb, fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.sparse.compiler import SparseNetwork, compile_sparse
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.constructions.sparse.positions import (
    PositionTable,
    random_sign_positions,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision

MAPS: tuple[Any, ...] = ("deterministic", "trainable", "bag")
ROUNDING = arb(1) / 1024
"""R is rounded up to a multiple of 1/1024."""


def strings(length: int, alphabet: int = 2) -> np.ndarray:
    """All strings of symbols, shape (M^T, T)."""
    return np.array(list(product(range(alphabet), repeat=length)))


def kappa(s: int, delta: fmpq) -> fmpq:
    """The bound of the dual key's scores elsewhere, for the coherence Delta."""
    return s * delta / (1 - (s - 1) * delta)


@cache
def signs(T: int, root: int, seed: int) -> PositionTable:
    """Random sign vectors in root^2 dimensions."""
    return random_sign_positions(T, root, seed)


def squared_norms_within(network: SparseNetwork, **bounds: Any) -> bool:
    """Whether squared Frobenius norms are at most those of the bounds, balls or exact numbers, and 2^-40.

    Those that the network reports have to be the sums of the squares of its entries, which are added up here.
    """
    squares = network.squared_norms()
    if dict(squares) != _added_squares(network):
        return False
    with precision(192):
        return all(arb(squares[name]) <= arb(bound) ** 2 + arb(2) ** -40 for name, bound in bounds.items())


def _added_squares(network: SparseNetwork) -> dict[str, fmpq]:
    """The squares of all entries, by fractions: those of the largest head, and those of W_1, W_2 and w with biases."""

    def added(*arrays: Any) -> fmpq:
        entries = [entry for array in arrays for entry in as_exact(array).ravel().tolist() if entry]
        total = sum((Fraction(int(entry.p), int(entry.q)) ** 2 for entry in entries), Fraction(0))
        return fmpq(total.numerator, total.denominator)

    heads = network.attention.heads
    outputs = [head.output.weight for head in heads if head.output is not None]
    layers = zip(("W_1", "W_2", "w"), network.perceptron.layers, strict=True)
    return {
        "W_Q": max(added(head.query.weight) for head in heads),
        "W_K": max(added(head.key.weight) for head in heads),
        "W_V": max(added(head.value.weight) for head in heads),
        "W_C": max(added(output) for output in outputs),
    } | {name: added(layer.weight, layer.offset) for name, layer in layers}


def with_heads(network: SparseNetwork, change: Any) -> SparseNetwork:
    """The network with every head changed."""
    return replace(network, attention=network.attention.change(Head, change))


def sharpened(network: SparseNetwork, bound: arb) -> SparseNetwork:
    """The network with the largest multiple of 2^-32 below the bound for R; the compiler rounds R up."""
    R = fmpq(int((bound * 2**32).lower().floor().fmpz()), 2**32)
    heads = with_heads(network, lambda head: replace(head, query=Affine(head.query.weight * (R / network.sharpness))))
    return replace(heads, sharpness=R)


def general(T: int, read: Any, alphabet: int = 2, **options: Any) -> SparseNetwork:
    """The network of a function with different values at all words, not taken for a symmetric one."""
    count = alphabet ** len(list(read))
    function = sparse_function(T, read, list(range(count)), alphabet=alphabet)
    return compile_sparse(replace(function, symmetric=False), **options)
