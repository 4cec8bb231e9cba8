"""The same proof string by string: the forward pass of the network in balls, on all strings if they are not too many.

This shares with `lemmata.certificates.sparse.network` the exact ranges of the perceptron, and nothing of the heads:
instead of inner products and a worst case over the symbols elsewhere, every string is embedded and attended to as in a
run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.certificates.sparse.network import SparseNetworkError, hidden_on_cubes
from lemmata.constructions.sparse.compiler import SparseNetwork, nodes
from lemmata.numerics.exact.balls import as_balls, ball_max
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.functions.smooth import upper_rational

__all__ = ["ExhaustiveCertificate", "certify_exhaustively"]

LARGEST_ENUMERATION = 2**16
_BLOCK = 256


@dataclass(frozen=True)
class ExhaustiveCertificate:
    """The outcome for all M^T strings.

    Attributes:
        strings: how many there are.
        error: a proved bound of the distance of the heads from the nodes.
    """

    strings: int
    error: fmpq


def certify_exhaustively(network: SparseNetwork, bits: int = 128) -> ExhaustiveCertificate:
    """The proof that a network is its function, by its forward pass on every string.

    Args:
        network: with exact weights, and at most 2^16 strings.
        bits: the precision of the balls.

    Raises:
        SparseNetworkError: naming a string where a head may leave the cube of its node, or the output is not the value.
        ValueError: for more strings, or weights that are not exact.
    """
    function = network.function
    count = function.alphabet**function.length
    if count > LARGEST_ENUMERATION:
        raise ValueError(f"There are {count} strings, more than {LARGEST_ENUMERATION}: use certify_sparse.")
    if network.arithmetic != "exact":
        raise ValueError("Only a network with exact weights can be certified: certify it before its conversion.")
    words, points, radius = function.words(), nodes(function, network.inputs.name), network.gamma / 4
    rows = points[words.sum(axis=1)] if function.symmetric else points
    hidden = hidden_on_cubes(network.perceptron, rows, radius, words)
    last = network.perceptron.layers[-1]
    values = exact_matmul(hidden, as_exact(last.weight))[:, 0] + as_exact(last.offset)[0]
    places = function.alphabet ** np.arange(function.sparsity)[::-1]
    with precision(bits):
        balls, centres, error = network.to_balls(), as_balls(rows), arb(0)
        for strings in _blocks(function.length, function.alphabet):
            numbers = strings[:, list(function.indices)] @ places
            distances = abs(balls.selected(strings) - centres[numbers])
            for string, row in zip(strings, distances.tolist(), strict=True):
                distance = ball_max([part.upper() for part in row])
                if not distance <= arb(radius):
                    found = float(distance)
                    raise SparseNetworkError(f"At the string {string.tolist()} the heads are {found:.6g} off the node.")
                error = error.max(distance)
            wrong = np.flatnonzero(values[numbers] != function(strings))
            if len(wrong):
                string, value = strings[wrong[0]], values[numbers[wrong[0]]]
                raise SparseNetworkError(f"At the string {string.tolist()} the network gives {value}.")
        return ExhaustiveCertificate(count, upper_rational(error))


def _blocks(length: int, alphabet: int) -> Iterator[NDArray[np.int64]]:
    strings = product(range(alphabet), repeat=length)
    while block := list(islice(strings, _BLOCK)):
        yield np.array(block, dtype=np.int64)
