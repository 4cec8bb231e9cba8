"""A change of basis of the residual stream that no output shows, and the way back.

For an orthogonal matrix Q every row z of the stream is written as z Q. What is added to the stream is multiplied by Q
from the right, what reads it by Q' from the left:

    E -> E Q,   W_Q -> Q'W_Q,   W_K -> Q'W_K,   W_V -> Q'W_V,   W_O -> W_O Q  (or W_V -> Q'W_V Q),   U -> Q'U.

Then scores, hidden units and outputs are what they were, as Q Q' = 1. The coordinates have lost their names: the block
with the coordinates i is now the span of the rows i of Q, which the key knows. The basis of a stream is hidden only if
nothing acts on single coordinates of it, so that layers must add to it; behind a layer that does not, such as a ReLU of
the stream itself, the coordinates would be privileged, and such a network is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.zoo.models import Part, ZooModel
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Array, product

__all__ = ["Key", "Kind", "disguise", "rotated", "undo"]

Kind = Literal["rational", "signed permutation", "float"]


@dataclass(frozen=True, eq=False)
class Key:
    """What undoes a disguise.

    Attributes:
        matrix: Q, orthogonal, shape (d, d): rows of the stream are z Q in the disguise.
        stream: the named coordinates before.
        parts: what the heads and layers do.
    """

    matrix: Array
    stream: ResidualStream
    parts: tuple[Part, ...]

    def directions(self, name: str) -> Array:
        """The orthonormal directions of a block in the disguised stream, shape (size, d).

        Raises:
            ValueError: for a name that no block has.
        """
        return self.matrix[self.stream[name]]


def disguise(model: ZooModel, seed: int, kind: Kind = "rational") -> tuple[ZooModel, Key]:
    """A network with the same outputs in a random basis of its residual stream, without names, and the key.

    Args:
        model: of the zoo, all of whose layers add to the stream.
        seed: of the basis.
        kind: "rational" for a dense orthogonal matrix of rational numbers, so that exact weights stay exact, "signed
            permutation", or "float" for a matrix drawn uniformly (by Haar measure), in float64.

    Raises:
        ValueError: for another kind, a model that is disguised already, and a network that acts on single coordinates.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"A disguise is {', '.join(get_args(Kind))}, not {kind!r}.")
    if model.stream is None:
        raise ValueError("The model has no named coordinates: it is disguised already.")
    matrix = _MATRICES[kind](model.stream.width, np.random.default_rng(seed))
    network = rotated(model.network, matrix)
    return replace(model, network=network, stream=None, parts=()), Key(matrix, model.stream, model.parts)


def undo(model: ZooModel, key: Key) -> ZooModel:
    """The network in its own basis, with its names.

    Raises:
        ValueError: for a model that has names, or a key of another width.
    """
    if model.stream is not None:
        raise ValueError("The model has named coordinates: there is no disguise to undo.")
    return replace(model, network=rotated(model.network, key.matrix.T), stream=key.stream, parts=key.parts)


def rotated(network: Transformer, matrix: Array) -> Transformer:
    """The transformer whose stream holds z Q where that of the given one holds z.

    Args:
        network: with symbols as tokens, and layers that add to the stream.
        matrix: Q, orthogonal, shape (d, d).

    Raises:
        ValueError: for another shape, for layers that do not add to the stream, and a network of another type.
    """
    if not isinstance(network, Transformer):
        raise ValueError(
            f"A {type(network).__name__} acts on single coordinates of its stream, which privileges its basis: only "
            "transformers whose layers add to the stream are disguised."
        )
    d = network.width
    if matrix.shape != (d, d):
        raise ValueError(
            f"The stream has width {d}, so that the matrix must have the shape {(d, d)}, not {matrix.shape}."
        )

    def read(part: Any) -> Any:
        if isinstance(part, Affine):
            return replace(part, weight=_product(matrix.T, part.weight))
        return _product(matrix.T, part)

    def written(part: Any) -> Any:
        if isinstance(part, Affine):
            bias = _product(part.bias, matrix) if part.bias.size else part.bias
            return replace(part, weight=_product(part.weight, matrix), bias=bias)
        return _product(part, matrix) if part.size else part

    return replace(
        network,
        embedding=written(network.embedding),
        prefix=written(network.prefix),
        positions=written(network.positions),
        layers=tuple(_layer(layer, read, written) for layer in network.layers),
        readout=read(network.readout),
    )


def _layer(layer: Any, read: Callable[[Any], Any], written: Callable[[Any], Any]) -> Any:
    """A layer in another basis."""
    if isinstance(layer, AttentionLayer) and layer.combination == "residual":
        return replace(layer, heads=tuple(_head(head, read, written) for head in layer.heads))
    if isinstance(layer, FeedForward) and layer.residual and layer.activations[-1] == "identity":
        parts = list(layer.layers)
        parts[0] = read(parts[0])
        parts[-1] = written(parts[-1])
        return replace(layer, layers=tuple(parts))
    raise ValueError(
        f"A layer of the type {type(layer).__name__} acts on single coordinates of the stream, or does not add to it, "
        "which privileges its basis: only attention and token-wise maps that add to the stream are disguised."
    )


def _head(head: Head, read: Callable[[Any], Any], written: Callable[[Any], Any]) -> Head:
    """A head in another basis; where it has no output map, its values are what it writes."""
    value, output, null = read(head.value), head.output, head.null
    if output is None:
        value = written(value)
        null = None if null is None else (null[0], written(null[1]))
    else:
        output = written(output)
    return replace(head, query=read(head.query), key=read(head.key), value=value, output=output, null=null)


def _product(left: Array, right: Array) -> Array:
    """The matrix product, in float64 if one factor is, in the numbers of both else."""
    if left.dtype == np.float64 or right.dtype == np.float64:
        return to_float(left) @ to_float(right)
    return product(left, right)


def _rational(d: int, rng: np.random.Generator) -> Array:
    """A product of d reflections 1 - 2 vv'/v'v in vectors of entries -1, 0, 1, two of them not zero at least."""
    matrix = _signed_permutation(d, rng)
    for _ in range(d):
        v = np.zeros(d, np.int64)
        v[rng.choice(d, min(d, 3), replace=False)] = rng.choice([-1, 1], min(d, 3))
        v = np.array([fmpq(int(x)) for x in v], dtype=object)
        matrix = matrix - np.outer(matrix @ v, v) * fmpq(2, int(v @ v))
    return matrix


def _signed_permutation(d: int, rng: np.random.Generator) -> Array:
    """A permutation of the coordinates, and signs."""
    matrix = np.full((d, d), fmpq(0), dtype=object)
    for row, (column, sign) in enumerate(zip(rng.permutation(d), rng.choice([-1, 1], d), strict=True)):
        matrix[row, column] = fmpq(int(sign))
    return matrix


def _float(d: int, rng: np.random.Generator) -> Array:
    """The orthogonal factor of a Gaussian matrix, with the signs that make it uniform."""
    Q, R = np.linalg.qr(rng.standard_normal((d, d)))
    return Q * np.sign(np.diag(R))


_MATRICES: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "rational": _rational,
    "signed permutation": _signed_permutation,
    "float": _float,
}
