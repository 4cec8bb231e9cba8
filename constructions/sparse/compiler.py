"""From a sparse function to a network of one attention layer and a memorising perceptron.

The class token attends to the positions I that the function reads, so that the heads give nearly

    one of the nodes    g(r) = (2 r - s)/s        for symmetric functions, one head        tokens E_(b_t) + P_t
                        chi(b_1), ..., chi(b_s)   for all functions, s heads               chi(c) = 1 - 2 c/(M - 1)
                        g(r) = (r - s)/(r + 1)    for symmetric functions, one head        tokens b_t v_t
                        (b_i - 1)/(r + 1), i in I for all functions, one head

with r ones at I, and the perceptron has the right value on the whole cube of radius delta = gamma/4 around each node.

*Keys.* With the Gram matrix G of the v_i, i in I, the dual vectors w_i = sum_j (G^-1)_ij v_j have <w_i, v_j> = [i = j],
so the key u = sum_i w_i has <u, v_i> = 1 on I exactly, and the scores R <u, x_t> on I are equal. If the coherence Delta
has (2 s - 1) Delta < 1, then |<u, v_t>| <= kappa = s Delta/(1 - (s - 1) Delta) < 1 off I. With mu = 1 - max(0, <u, v_t>
off I) the other tokens, at most T + 1 - s with the class token, have weights below e^(-R mu) times one on I, so that
R >= log(8 T B/gamma)/mu makes the heads gamma/4-close to the node, for values of size B = 1, or s for one number of a
bag.

The printed key sum_i v_i has unequal scores on I if Delta > 0 and s >= 3, and is kept for comparison.

Source: variable-creation, lemmas A.19, A.20, A.21 (with dual keys), A.22, A.23 (with delta = gamma/4), and A.2.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Weights
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.sparse.functions import SparseFunction, separation
from lemmata.constructions.sparse.inputs import InputMap, MapName
from lemmata.constructions.sparse.memorising import memorising_perceptron
from lemmata.constructions.sparse.positions import (
    Positions,
    PositionTable,
    gram_matrix,
    orthonormal_positions,
    position_table,
)
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.linear import inverse
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, conversion
from lemmata.numerics.functions.smooth import positive_rational

if TYPE_CHECKING:
    import torch

__all__ = ["Keys", "SparseNetwork", "compile_sparse", "dual_vectors", "nodes"]

Keys = Literal["dual", "printed"]
_STEPS = 2**10
"""R is rounded up to a multiple of 1/1024."""


@dataclass(frozen=True, eq=False)
class SparseNetwork(Weights):
    """A network of one attention layer, where the class token alone attends, and a perceptron; see `compile_sparse`.

    Attributes:
        function: what it computes.
        inputs: the input map.
        attention: its heads, added up without a residual; of the columns of W_C those are left out that no perceptron
            reads.
        perceptron: two layers of ReLUs and a linear one.
        gamma: four times the radius of the cubes, and of the accuracy of the heads.
        sharpness: R, the norm of W_Q.
    """

    function: SparseFunction
    inputs: InputMap
    attention: AttentionLayer
    perceptron: FeedForward
    gamma: fmpq
    sharpness: fmpq

    @cached_property
    def transformer(self) -> Transformer:
        """The network over the stored tokens; its tokens are symbols 0, ..., M - 1, or the vectors b_t v_t of a bag.

        Raises:
            ValueError: if the tokens are too many to be stored.
        """
        bag = self.inputs.name == "bag"
        *hidden, last = self.perceptron.layers
        return Transformer(
            embedding=self.inputs.embedding,
            prefix=self.inputs.class_token,
            layers=(self.attention, FeedForward(tuple(hidden))),
            readout=last.weight[:, 0],
            positions=np.zeros((0, 0), dtype=np.int64) if bag else self.inputs.position_rows(),
            read="first",
            alphabet=() if bag else tuple(range(self.inputs.alphabet)),
        )

    def tokens(self, strings: ArrayLike) -> Array:
        """What `transformer` takes for strings of symbols: the strings themselves, or the vectors of a bag."""
        symbols = np.asarray(strings)
        if self.inputs.name != "bag":
            return symbols
        return symbols[..., None] * conversion(self.arithmetic)(self.inputs.position_rows())

    def selected(self, strings: ArrayLike) -> Array:
        """The sum of the heads, which is near a node: shape (..., k) for strings (..., T); in floats or balls."""
        z = self.transformer.stream(self.tokens(strings), 1)
        return z[..., 0, :]

    def __call__(self, strings: ArrayLike) -> Array:
        """The outputs for strings of symbols of shape (..., T): shape (...), in floats or balls, as its weights are.

        Raises:
            ValueError: for strings that do not fit, or tokens too many to be stored; for exact weights, since a softmax
                is not rational (see `to_float`, `to_balls`).
        """
        self.function(strings)  # refuses strings that do not fit
        return self.transformer(self.tokens(strings))

    def with_values(self, values: ArrayLike) -> SparseNetwork:
        """The network of another function that reads the same positions: only the last layer differs.

        Args:
            values: as many as the function has.

        Raises:
            ValueError: for another number of values.
        """
        table = as_exact(values)
        if table.shape != self.function.values.shape:
            raise ValueError(f"The function has {len(self.function.values)} values, not the shape {table.shape}.")
        *hidden, _ = self.perceptron.layers
        last = Affine(np.concatenate([table, -table])[:, None])
        return replace(
            self,
            function=replace(self.function, values=table),
            perceptron=replace(self.perceptron, layers=(*hidden, last)),
        )

    def squared_norms(self) -> Mapping[str, Any]:
        """The squared Frobenius norms of W_Q, W_K, W_V, W_C (the largest of a head), W_1, W_2 (with biases) and w."""
        heads = self.attention.heads
        blocks = {
            "W_Q": max(_square(head.query) for head in heads),
            "W_K": max(_square(head.key) for head in heads),
            "W_V": max(_square(head.value) for head in heads),
            "W_C": max(_square(head.output) for head in heads if head.output is not None),
        }
        return blocks | dict(zip(("W_1", "W_2", "w"), map(_square, self.perceptron.layers), strict=True))

    def to_torch(self, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> torch.nn.Module:
        """The torch module of `transformer`, which takes `tokens`."""
        return self.transformer.to_torch(dtype=dtype, stream=stream)


def compile_sparse(
    function: SparseFunction,
    *,
    inputs: MapName = "deterministic",
    positions: ArrayLike | Positions | None = None,
    gamma: object = None,
    key: Keys | ArrayLike = "dual",
) -> SparseNetwork:
    """The network that computes a sparse function exactly, on all strings.

    A symmetric function of bits takes one head and s + 1 nodes. Any other takes M^s nodes, and s heads, or one for a
    bag of vectors. That the network is right is proved by `lemmata.certificates.sparse.network.certify_sparse`.

    Args:
        function: from `sparse_function`.
        inputs: the input map: "deterministic" positions, "trainable" ones, which are chosen, or a "bag" of vectors.
        positions: T unit vectors, exact, shape (T, d), or one of the families of
            `lemmata.constructions.sparse.positions`; orthonormal if None. Not for trainable ones.
        gamma: how far the nodes are taken to be apart, at most as far as they are; as far as that, and at most 1, if
            None. A smaller one makes the attention sharper.
        key: of the single head for deterministic positions: the "dual" key, the "printed" one (with the printed R), or
            a vector u of shape (d,) with equal products on I, such as a key of largest margin.

    Raises:
        ValueError: for gamma <= 0 or beyond the distance of the nodes, positions that do not fit, and positions too
            coherent for the key, naming the pair.
    """
    mapping = _input_map(function, inputs, positions)
    if not isinstance(key, str) or key != "dual":
        _require_single_key(function, mapping, key)
    points = nodes(function, inputs)
    apart = separation(points)
    step = min(fmpq(1), apart) if gamma is None else positive_rational(gamma, "The distance gamma of the nodes")
    if step > apart:
        raise ValueError(f"The nodes of this function are {apart} apart, so that gamma = {step} is too large.")
    attention, R = _attention(function, mapping, step, key)
    values = function.values
    perceptron = memorising_perceptron(points, values, step / 4)
    return SparseNetwork(function, mapping, attention, perceptron, step, R)


def nodes(function: SparseFunction, inputs: MapName) -> Array:
    """What the heads give in the limit of sharp attention, exact: one row for each value of the function, (n, k)."""
    s, M = function.sparsity, function.alphabet
    if function.symmetric:
        counts = range(s + 1)
        column = [fmpq(r - s, r + 1) if inputs == "bag" else fmpq(2 * r - s, s) for r in counts]
        return np.array(column, dtype=object)[:, None]
    words = function.words()
    if inputs == "bag":
        return as_exact(words - 1) / as_exact(words.sum(axis=1) + 1)[:, None]
    return 1 - as_exact(2 * words) / fmpq(M - 1)


def dual_vectors(positions: Positions, indices: Iterable[int]) -> Array:
    """The vectors w_i in the span of the v_j, j in I, with <w_i, v_j> = 1 if i = j, else 0: exact, shape (s, d).

    Raises:
        ValueError: if the v_j are dependent, naming two that coincide up to sign if there are.
    """
    read = list(indices)
    rows = positions.rows(read)
    gram = gram_matrix(positions, read)
    for a, b in combinations(range(len(read)), 2):
        if abs(gram[a, b]) == gram[a, a] == gram[b, b]:
            sign = "coincide" if gram[a, b] > 0 else "are opposite"
            raise ValueError(f"The positions {read[a]} and {read[b]} {sign}, so that no key can tell them apart.")
    try:
        return exact_matmul(inverse(gram), rows)
    except ValueError as error:
        raise ValueError(f"The vectors of the positions {read} are dependent: they have no dual key.") from error


def _input_map(function: SparseFunction, inputs: MapName, positions: ArrayLike | Positions | None) -> InputMap:
    T, s = function.length, function.sparsity
    if inputs == "trainable":
        if positions is not None:
            raise ValueError("Trainable positions are chosen with the weights: give none, or the map deterministic.")
        columns = np.zeros((T, 1 if function.symmetric else s), dtype=np.int64)
        columns[list(function.indices), 0 if function.symmetric else np.arange(s)] = 1
        return InputMap(inputs, PositionTable(columns, 1), function.alphabet)
    if positions is None:
        family: Positions = orthonormal_positions(T)
    elif isinstance(positions, Positions):
        family = positions
    else:
        family = position_table(positions)
    if family.count != T:
        raise ValueError(f"There are {family.count} position vectors for strings of length {T}.")
    return InputMap(inputs, family, function.alphabet)


def _require_single_key(function: SparseFunction, mapping: InputMap, key: Any) -> None:
    if mapping.name != "deterministic" or not function.symmetric:
        raise ValueError("Another key than the dual one is for the single head of deterministic positions.")
    if isinstance(key, str) and key not in get_args(Keys):
        raise ValueError(f"The keys are {' and '.join(get_args(Keys))}, or a vector, not {key!r}.")


def _attention(function: SparseFunction, mapping: InputMap, gamma: fmpq, key: Any) -> tuple[AttentionLayer, fmpq]:
    """The heads, added without a residual, and R."""
    duals = _duals(function, mapping)
    printed = isinstance(key, str) and key == "printed"
    if printed:
        keys = mapping.positions.rows(list(function.indices)).sum(axis=0)[None, :]
    elif not isinstance(key, str):
        keys = _given_key(function, mapping.positions, key)
    elif function.symmetric or mapping.name == "bag":
        keys = duals.sum(axis=0)[None, :]
    else:
        keys = duals if mapping.name == "trainable" else mapping.positions.rows(list(function.indices))
    margin = _printed_margin(function, mapping) if printed else _margin(function, mapping, keys)
    size = function.sparsity if mapping.name == "bag" and function.symmetric else 1
    R = _sharpness(function.length * size, gamma, margin)
    heads = [_head(function, mapping, R, u, h, duals) for h, u in enumerate(keys)]
    return AttentionLayer(tuple(heads), "sum", "first"), R


def _duals(function: SparseFunction, mapping: InputMap) -> Array:
    if mapping.name != "trainable":
        return dual_vectors(mapping.positions, function.indices)
    count = mapping.positions.dimension
    return as_exact(np.eye(count, dtype=np.int64))


def _given_key(function: SparseFunction, positions: Positions, key: ArrayLike) -> Array:
    """The vector, scaled to products 1 on I."""
    u = as_exact(key)
    if u.shape != (positions.dimension,):
        raise ValueError(f"The key must have shape ({positions.dimension},) like the positions, not {u.shape}.")
    products = exact_matmul(positions.rows(list(function.indices)), u[:, None])[:, 0]
    if not (products == products[0]).all() or products[0] <= 0:
        raise ValueError("The key must have one positive product with all positions that the function reads.")
    return u[None, :] / products[0]


def _margin(function: SparseFunction, mapping: InputMap, keys: Array) -> fmpq:
    """1 - max(0, the largest <u, v_t> at a position that the head shall not select), over all heads."""
    least = fmpq(1)
    read = list(function.indices)
    for h, u in enumerate(keys):
        products, unit = mapping.positions.products(u)
        wanted = read if len(keys) == 1 else [read[h]]
        others = np.ones(function.length, dtype=bool)
        others[wanted] = False
        if not others.any():
            continue
        t = int(np.flatnonzero(others)[np.argmax(products[others])])
        margin = 1 - max(fmpq(0), fmpq(int(products[t])) * unit)
        if margin <= 0:
            raise ValueError(_too_coherent(mapping.positions, wanted, t, 1 - margin))
        least = min(least, margin)
    return least


def _too_coherent(positions: Positions, wanted: list[int], t: int, score: fmpq) -> str:
    products = exact_matmul(positions.rows(wanted), positions.rows([t]).T)[:, 0]
    i = max(range(len(wanted)), key=lambda place: abs(products[place]))
    return (
        f"The positions are too coherent: position {t} has the score {score} under the key of the positions {wanted}, "
        f"which have 1. Its vector has the inner product {products[i]} with that of position {wanted[i]}; a coherence "
        f"below 1/{2 * len(wanted) - 1} is always enough."
    )


def _printed_margin(function: SparseFunction, mapping: InputMap) -> fmpq:
    """1 - s Delta, with the coherence Delta of the positions of I with all."""
    largest = fmpq(0)
    for i in function.indices:
        products, unit = mapping.positions.products(mapping.positions.rows(i))
        products = abs(products)
        products[i] = 0
        largest = max(largest, fmpq(int(products.max())) * unit)
    margin = 1 - function.sparsity * largest
    if margin <= 0:
        raise ValueError(f"The printed key needs a coherence below 1/{function.sparsity}, but it is {largest}.")
    return margin


def _sharpness(tokens: int, gamma: fmpq, margin: fmpq) -> fmpq:
    """log(8 tokens/gamma)/margin, rounded up."""
    ball = arb(8 * tokens / gamma).log() / arb(margin) * _STEPS
    return fmpq(int(ball.upper().ceil().fmpz()), _STEPS)


def _head(function: SparseFunction, mapping: InputMap, R: fmpq, u: Array, h: int, duals: Array) -> Head:
    stream, s = mapping.stream, function.sparsity
    bag = mapping.name == "bag"
    key = stream.readout(1, {"position": u[:, None]} | ({"class": [[1]]} if bag else {}))
    if bag:
        value = stream.readout(s, {"position": duals.T, "class": -np.ones((1, s), dtype=np.int64)})
        output = np.ones((s, 1), dtype=np.int64) if function.symmetric else np.eye(s, dtype=np.int64)
    else:
        M = function.alphabet
        chi = 1 - as_exact(2 * np.arange(M)) / fmpq(M - 1)
        value = stream.readout(1, {"symbol": (-chi if function.symmetric else chi)[:, None]})
        output = np.zeros((1, 1 if function.symmetric else s), dtype=np.int64)
        output[0, h] = 1
    query = stream.readout(1, {"class": np.array([[R]], dtype=object)})
    return Head(Affine(query), Affine(key), Affine(value), output=Affine(output), causal=False)


def _square(layer: Affine | None) -> Any:
    assert layer is not None
    return sum((x * x for array in layer.arrays() for x in array.ravel().tolist()), start=0)
