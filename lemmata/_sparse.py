"""Sparse functions of long strings by one attention layer and a perceptron, and the proof that they are right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from lemmata.certificates.sparse.network import certify_sparse
from lemmata.certificates.sparse.selection import Selection, select
from lemmata.constructions.sparse.compiler import Keys, SparseNetwork
from lemmata.constructions.sparse.compiler import compile_sparse as network_of
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.constructions.sparse.inputs import MapName
from lemmata.constructions.sparse.positions import CodedPositions, Positions, orthonormal_positions, position_table
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.functions.smooth import rational

__all__ = ["certify_sparse", "compile_sparse", "near_orthogonal_positions", "select_positions"]

_ORDERS = [2**exponent for exponent in range(1, 9)]


def compile_sparse(
    length: int,
    indices: Iterable[int],
    values: str | ArrayLike | Sequence[Any] | Callable[..., Any],
    *,
    alphabet: int = 2,
    inputs: MapName = "deterministic",
    positions: ArrayLike | Positions | None = None,
    gamma: object = None,
    key: Keys | ArrayLike = "dual",
) -> SparseNetwork:
    """The network that computes, on all strings, a function of a few of their symbols; exact weights.

        lm.compile_sparse(12, (2, 5), "0110")                        # the parity of two of twelve bits
        lm.compile_sparse(12, (0, 3, 7), [0, 0, 1, 1])               # the majority of three, by the number of ones
        lm.compile_sparse(9, (1, 4), lambda a, b: a - b, alphabet=3, inputs="trainable")
        lm.certify_sparse(network)                                   # the proof, for all strings at once
        network.to_float()([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])     # a run

    Args:
        length: T.
        indices: which positions the function reads, counted from 0.
        values: its values at 0..00, 0..01, ..., also as a string of digits; or, of bits, by the number of ones; or a
            Python function of the symbols.
        alphabet: the number of symbols.
        inputs: "deterministic" positions, "trainable" ones, or a "bag" of vectors.
        positions: T unit vectors with exact coordinates, or `near_orthogonal_positions`; orthonormal if None.
        gamma: how far apart the nodes of the perceptron are taken to be; as far as they are, at most 1, if None.
        key: of the single head of a symmetric function: "dual", "printed", or a vector such as the key of
            `select_positions`.

    Returns:
        The network, for calls, `certify_sparse`, `to_torch` and its norms.

    Raises:
        ValueError: for indices out of range or repeated, a wrong number of values, gamma <= 0 or too large, and
            positions that are too coherent, naming the pair.
    """
    function = sparse_function(length, indices, values, alphabet=alphabet)
    return network_of(function, inputs=inputs, positions=positions, gamma=gamma, key=key)


def near_orthogonal_positions(count: int, coherence: object = 0) -> Positions:
    """T unit vectors with inner products between 0 and a bound, in few dimensions; for millions of tokens too.

    Args:
        count: T.
        coherence: the bound, an exact number; 0 for the unit vectors of R^T.

    Returns:
        Codes of length Q^2 over the field of Q elements, with the smallest Q = 2, 4, ..., 256 that does.

    Raises:
        ValueError: for a bound outside of 0, ..., 1, or too small for so many vectors.
    """
    T, bound = checked_integer("The number of positions", count, 1), rational(coherence, "The coherence")
    if not 0 <= bound < 1:
        raise ValueError(f"The coherence must be at least 0 and below 1, not {bound}.")
    if bound == 0:
        return orthonormal_positions(T)
    for order in _ORDERS:
        terms = min(1 + int(bound * order), order)
        if order**terms >= T:
            least = next(k for k in range(1, terms + 1) if order**k >= T)
            return CodedPositions(T, order, least)
    raise ValueError(f"There are no {T} codes with a coherence of at most {bound} in 2^16 dimensions: allow more.")


def select_positions(positions: ArrayLike | Positions, indices: Iterable[int]) -> Selection:
    """The key of largest margin with which one head attends uniformly to the chosen positions, or why there is none.

    The same as `lemmata.certificates.sparse.selection.select`, exact and checked.

    Args:
        positions: vectors of length 1 with exact coordinates, shape (T, d), or `near_orthogonal_positions`.
        indices: the positions to select, counted from 0.

    Returns:
        The selection: whether it is `possible`, its `key` and `squared_margin`, and the two points that prove it.

    Raises:
        ValueError: for indices that are out of range or repeated, or if all positions are selected.
    """
    return select(positions if isinstance(positions, Positions) else position_table(positions), indices)
