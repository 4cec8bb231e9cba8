"""Attention layers on a residual stream with named coordinates: the vocabulary that all transformers here share.

Rows are tokens (row-vector convention, z W), positions count from 0 in this module. An `AttentionHead` maps z, of shape
(T, d), to

    softmax(mask(S / sqrt(temperature_squared))) z W_V,      S_ij = <z_i W_Q, z_j W_K + v_(i-j)>,

with a table v of relative-position keys; or the same with the *hard* maximum, which attends to all maximisers of S_i
alike (ties averaged), the limit of the softmax as the scores are scaled up. A merged score matrix W_QK is the head with
W_Q = W_QK and W_K = I. An `AttentionLayer` adds its heads to the residual stream, or concatenates them without it. An
`AttentionTransformer` embeds tokens 1, ..., k, puts fixed prefix rows in front (such as a beginning-of-sequence token),
and reads out linearly at the tokens.

One forward pass serves three number systems: float64; exact numbers (rationals, cyclotomic: hard attention only, since
a softmax is not rational); rigorous balls. A transformer whose weights mix them is converted to the widest: balls
before floats before exact numbers. The root of the temperature is taken in the forward pass alone, so that hard
attention needs none.

Source: induction-heads, def-transformer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from constructions.homogeneous import Arithmetic
from numerics.balls import as_balls, decided_less
from numerics.cyclotomic import exact_matmul
from numerics.exact import as_exact, to_float

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]
Normalisation = Literal["softmax", "hardmax"]
Combination = Literal["residual", "concatenate"]

_LARGEST_EXACT = 2.0**53  # integers of float64 up to here are exact


@dataclass(frozen=True)
class ResidualStream:
    """Named blocks of coordinates of a residual stream, in order, with their sizes.

    Raises:
        ValueError: if a size is not a positive integer, or there is no block.
    """

    sizes: Mapping[str, int]

    def __post_init__(self) -> None:
        if not self.sizes or any(not isinstance(size, int | np.integer) or size < 1 for size in self.sizes.values()):
            raise ValueError(f"A residual stream needs blocks of integer sizes >= 1, not {dict(self.sizes)}.")

    @property
    def width(self) -> int:
        """The dimension d, the sum of the sizes."""
        return sum(self.sizes.values())

    def __getitem__(self, name: str) -> slice:
        """The coordinates of a block, as a slice."""
        if name not in self.sizes:
            raise ValueError(f"There is no block {name!r}; the blocks are {', '.join(self.sizes)}.")
        names = list(self.sizes)
        start = sum(self.sizes[other] for other in names[: names.index(name)])
        return slice(start, start + self.sizes[name])

    def matrix(self, blocks: Mapping[tuple[str, str], ArrayLike]) -> Array:
        """The (d, d) matrix that maps block ``source`` to block ``target`` by blocks[source, target], else 0."""
        result = np.zeros((self.width, self.width), dtype=object)
        for (source, target), block in blocks.items():
            result[self[source], self[target]] = block
        return result

    def rows(self, count: int, blocks: Mapping[str, ArrayLike]) -> Array:
        """``count`` vectors of the stream, shape (count, d): blocks[name] of shape (count, size), else 0."""
        result = np.zeros((count, self.width), dtype=object)
        for name, block in blocks.items():
            result[:, self[name]] = block
        return result

    def readout(self, outputs: int, blocks: Mapping[str, ArrayLike]) -> Array:
        """The (d, outputs) matrix that reads block ``name`` by blocks[name] of shape (size, outputs), else 0."""
        return self.rows(outputs, {name: np.asarray(block).T for name, block in blocks.items()}).T


@dataclass(frozen=True, eq=False)
class AttentionHead:
    """One attention head, with d inputs, key dimension m and e outputs.

    Attributes:
        query: W_Q, shape (d, m).
        key: W_K, shape (d, m).
        value: W_V, shape (d, e).
        relative_keys: v, shape (R, m); row r is added to the keys at distance i - j = r, later distances get 0.
        temperature_squared: a positive integer; the logits are the scores divided by its root.
        normalisation: "softmax", or "hardmax" (ties averaged).
        causal: whether token i attends to j <= i only, or to all.

    Raises:
        ValueError: for shapes that do not fit, or another temperature or normalisation.
    """

    query: Array
    key: Array
    value: Array
    relative_keys: Array | None = None
    temperature_squared: int = 1
    normalisation: Normalisation = "softmax"
    causal: bool = True

    def __post_init__(self) -> None:
        if self.relative_keys is None:
            object.__setattr__(self, "relative_keys", np.zeros((0, np.shape(self.query)[-1]), dtype=np.int64))
        for name in ("query", "key", "value", "relative_keys"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        q, k, v, r = self.query.shape, self.key.shape, self.value.shape, self.table.shape
        if not (len(q) == len(v) == len(r) == 2 and q == k and v[0] == q[0] and r[1] == q[1]):
            raise ValueError(
                "A head has query (d, m), key (d, m), value (d, e), relative_keys (R, m), "
                f"but the shapes are {q}, {k}, {v}, {r}."
            )
        temperature = self.temperature_squared
        if not isinstance(temperature, int | np.integer) or isinstance(temperature, bool) or temperature < 1:
            raise ValueError(f"temperature_squared must be an integer >= 1, not {temperature!r}.")
        if self.normalisation not in ("softmax", "hardmax"):
            raise ValueError(f"The normalisation is softmax or hardmax, not {self.normalisation!r}.")

    @property
    def table(self) -> Array:
        """The relative keys as an array (R, m), with R = 0 if there are none."""
        assert self.relative_keys is not None  # replaced by an empty table on construction
        return self.relative_keys

    def arrays(self) -> tuple[Array, ...]:
        """All weights."""
        return self.query, self.key, self.value, self.table

    def map(self, convert: Callable[[Array], Array]) -> AttentionHead:
        """The head with every weight array converted."""
        query, key, value, table = (convert(array) for array in self.arrays())
        return replace(self, query=query, key=key, value=value, relative_keys=table)

    def scores(self, z: Array) -> Array:
        """The scores S_ij, before temperature and mask: shape (..., T, T) for z of shape (..., T, d).

        Raises:
            ValueError: if a float64 score overflows.
        """
        queries, keys = _product(z, self.query), _product(z, self.key)
        result = _batched_product(queries, np.swapaxes(keys, -1, -2))
        by_distance, T = _product(queries, self.table.T), z.shape[-2]
        for distance in range(min(len(self.table), T)):
            later = np.arange(distance, T)
            result[..., later, later - distance] = (
                result[..., later, later - distance] + by_distance[..., later, distance]
            )
        if result.dtype == np.float64 and not np.all(np.isfinite(result)):
            raise ValueError("A score overflows float64: choose smaller scales, or balls or exact hard attention.")
        return result

    def attention(self, z: Array) -> Array:
        """The attention weights, shape (..., T, T); rows sum to 1, entries that the mask hides are 0.

        Raises:
            ValueError: for softmax in exact arithmetic; for ties of hard attention that balls leave undecided, or that
                float64 could decide wrongly (queries or keys that are not integers); if a score overflows.
        """
        scores = self.scores(z)
        if scores.dtype == np.float64:
            if self.normalisation == "hardmax":
                self._refuse_inexact_ties(z)
            return self._float_attention(scores)
        is_ball = _system([scores]) == "ball"
        if self.normalisation == "softmax" and not is_ball:
            raise ValueError("A softmax is not rational: use hard attention, balls or float64.")
        result = np.full(scores.shape, arb(0) if is_ball else fmpq(0), dtype=object)
        root = arb(int(self.temperature_squared)).sqrt() if is_ball else None
        for index in np.ndindex(scores.shape[:-1]):
            visible = index[-1] + 1 if self.causal else scores.shape[-1]
            row = scores[index][:visible].tolist()
            if self.normalisation == "hardmax":
                result[index][:visible] = _hard_weights(row, decided_less if is_ball else operator.lt, is_ball)
            else:
                result[index][:visible] = _ball_softmax([x / root for x in row])
        return result

    def __call__(self, z: Array) -> Array:
        """The output of the head, shape (..., T, e)."""
        return _batched_product(self.attention(z), _product(z, self.value))

    def _float_attention(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        T = scores.shape[-1]
        hidden = np.triu(np.ones((T, T), dtype=bool), 1) if self.causal else np.zeros((T, T), dtype=bool)
        logits = np.where(hidden, -np.inf, scores / np.sqrt(float(self.temperature_squared)))
        largest = logits.max(axis=-1, keepdims=True)
        soft = self.normalisation == "softmax"
        weights = np.exp(logits - largest) if soft else (logits == largest).astype(np.float64)
        return weights / weights.sum(axis=-1, keepdims=True)

    def _refuse_inexact_ties(self, z: NDArray[np.float64]) -> None:
        """ValueError unless all sums behind the scores are of integers below 2^53, hence exact."""
        absolute = np.abs(z)
        sizes = [absolute @ np.abs(self.query), absolute @ np.abs(self.key)]
        largest_key = float(sizes[1].max(initial=0.0)) + float(np.abs(self.table).max(initial=0.0))
        integral = all(bool(np.all(part == np.floor(part))) for part in (z, self.query, self.key, self.table))
        if not integral or float(sizes[0].sum(axis=-1).max()) * largest_key > _LARGEST_EXACT:
            raise ValueError(
                "Hard attention in float64 needs integer weights and activations with scores below 2^53, for "
                "otherwise rounding may make or break a tie: use exact arithmetic."
            )


@dataclass(frozen=True, eq=False)
class AttentionLayer:
    """Heads side by side: summed into the residual stream, or concatenated without it.

    Raises:
        ValueError: if there is no head, or an unknown combination.
    """

    heads: tuple[AttentionHead, ...]
    combination: Combination = "residual"

    def __post_init__(self) -> None:
        if not self.heads or self.combination not in ("residual", "concatenate"):
            raise ValueError("A layer needs at least one head, and the combination residual or concatenate.")
        object.__setattr__(self, "heads", tuple(self.heads))

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d') for z of shape (..., T, d)."""
        outputs = [head(z) for head in self.heads]
        if self.combination == "concatenate":
            return np.concatenate(outputs, axis=-1)
        return sum(outputs, start=z)


@dataclass(frozen=True, eq=False)
class AttentionTransformer:
    """An attention-only transformer over the tokens 1, ..., k, with prefix rows in front of every sequence.

    Attributes:
        embedding: shape (k, d).
        prefix: rows that precede the tokens, shape (r, d), r >= 0.
        layers: the attention layers, first to last.
        readout: P, shape (d', L), where d' is the width after the last layer.
        arithmetic: the number system, computed; all arrays are converted to it and read-only.

    Raises:
        ValueError: for widths that do not fit, or numbers that are not finite.
    """

    embedding: Array
    prefix: Array
    layers: tuple[AttentionLayer, ...]
    readout: Array
    arithmetic: Arithmetic = field(init=False)

    def __post_init__(self) -> None:
        for name in ("embedding", "prefix", "readout"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        object.__setattr__(self, "layers", tuple(self.layers))
        self._check_widths()
        system = _system(self.arrays())
        object.__setattr__(self, "arithmetic", system)
        converted = self._map(_CONVERSIONS[system])
        for name, value in converted.items():
            object.__setattr__(self, name, value)

    @property
    def symbols(self) -> int:
        """The number k of tokens."""
        return self.embedding.shape[0]

    def arrays(self) -> list[Array]:
        """All weights."""
        heads = [array for layer in self.layers for head in layer.heads for array in head.arrays()]
        return [self.embedding, self.prefix, self.readout, *heads]

    def embed(self, x: ArrayLike) -> Array:
        """The stream before the first layer, shape (..., r + t, d), for tokens x of shape (..., t).

        Raises:
            ValueError: if x is empty, is not of integers, or has a token outside 1, ..., k.
        """
        tokens = checked_tokens(x, self.symbols)
        front = np.broadcast_to(self.prefix, (*tokens.shape[:-1], *self.prefix.shape))
        return np.concatenate([front, self.embedding[tokens - 1]], axis=-2)

    def stream(self, x: ArrayLike, layers: int | None = None) -> Array:
        """The stream after the first ``layers`` layers (all of them if None), prefix rows included."""
        z = self.embed(x)
        for layer in self.layers[:layers]:
            z = layer(z)
        return z

    def __call__(self, x: ArrayLike) -> Array:
        """The outputs at the tokens, shape (..., t, L), for tokens x of shape (..., t); see `embed` for errors."""
        return _product(self.stream(x)[..., len(self.prefix) :, :], self.readout)

    def hard(self) -> AttentionTransformer:
        """The same weights with hard attention in every head."""
        layers = [
            replace(layer, heads=tuple(replace(head, normalisation="hardmax") for head in layer.heads))
            for layer in self.layers
        ]
        return replace(self, layers=tuple(layers))

    def to_float(self) -> AttentionTransformer:
        """The same transformer in float64 (midpoints of balls)."""
        return AttentionTransformer(**self._map(to_float))

    def to_balls(self) -> AttentionTransformer:
        """The same transformer in ball arithmetic, enclosed at the working precision."""
        return AttentionTransformer(**self._map(as_balls))

    def to_torch(self, context: int | None = None, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """A torch module with the same weights as trainable parameters (float64 by default).

        Its forward pass takes integer tokens 1, ..., k of shape (..., t) to outputs of shape (..., t, L).

        Args:
            context: if given, every table of relative keys is padded by zeros to this many rows, so that all distances
                below it can be trained.
            dtype: of the parameters.

        Raises:
            ValueError: if a head has hard attention, which has no gradient.
        """
        from constructions.torch_layers import TorchTransformer  # torch is slow to import

        return TorchTransformer(self.to_float(), context, dtype)

    def _check_widths(self) -> None:
        if any(array.ndim != 2 for array in (self.embedding, self.prefix, self.readout)) or not self.embedding.size:
            raise ValueError("The shapes must be embedding (k, d), prefix (r, d), readout (d', L), with k, d >= 1.")
        width = self.embedding.shape[1]
        if self.prefix.shape[1] != width:
            raise ValueError(f"The prefix has width {self.prefix.shape[1]}, but the embedding has {width}.")
        for number, layer in enumerate(self.layers, start=1):
            outputs = [head.value.shape[1] for head in layer.heads]
            fits = layer.combination == "concatenate" or set(outputs) == {width}
            if any(head.query.shape[0] != width for head in layer.heads) or not fits:
                raise ValueError(f"The heads of layer {number} do not fit a stream of width {width}.")
            width = width if layer.combination == "residual" else sum(outputs)
        if self.readout.shape[0] != width:
            raise ValueError(f"The readout reads {self.readout.shape[0]} coordinates, but the stream has {width}.")

    def _map(self, convert: Callable[[Any], Array]) -> dict[str, Any]:
        """The constructor's arguments with every weight array converted and read-only."""

        def frozen(array: Array) -> Array:
            result = np.array(convert(array))  # a copy
            balls = result.ravel() if result.dtype == object else []
            finite = np.all(np.isfinite(result)) if result.dtype == np.float64 else True
            if not finite or any(isinstance(x, arb) and not x.is_finite() for x in balls):
                raise ValueError("The weights of a transformer must be finite.")
            result.flags.writeable = False
            return result

        layers = [
            replace(layer, heads=tuple(head.map(frozen) for head in layer.heads), combination=layer.combination)
            for layer in self.layers
        ]
        arrays = {name: frozen(getattr(self, name)) for name in ("embedding", "prefix", "readout")}
        return {**arrays, "layers": tuple(layers)}


def checked_tokens(x: ArrayLike, symbols: int) -> NDArray[np.int64]:
    """x as an integer array of shape (..., t), t >= 1.

    Raises:
        ValueError: if it is empty, is not of integers, or has a token outside 1, ..., symbols.
    """
    tokens = np.asarray(x)
    if tokens.ndim < 1 or tokens.size == 0:
        raise ValueError(f"A sequence must have at least one token, but the shape is {tokens.shape}.")
    if tokens.dtype.kind not in "iu":
        raise ValueError(f"Tokens must be integers 1, ..., {symbols}, not of type {tokens.dtype}.")
    foreign = sorted(set(tokens.ravel().tolist()) - set(range(1, symbols + 1)))
    if foreign:
        raise ValueError(f"Tokens must be integers 1, ..., {symbols}, but the sequence holds {foreign[:5]}.")
    return tokens.astype(np.int64)


def _system(arrays: Iterable[Array]) -> Arithmetic:
    """The widest number system among the arrays: balls, else floats, else exact numbers."""
    kinds: set[type] = set()
    for array in arrays:
        kinds |= {type(entry) for entry in array.flat} if array.dtype == object else {array.dtype.type}
    if arb in kinds:
        return "ball"
    return "float" if any(issubclass(kind, float | np.floating) for kind in kinds) else "exact"


_CONVERSIONS: dict[Arithmetic, Callable[[Any], Array]] = {"float": to_float, "exact": as_exact, "ball": as_balls}


def _product(z: Array, weights: Array) -> Array:
    """z @ weights for z of shape (..., T, d) and weights (d, e)."""
    return _matrix_product(z.reshape(-1, z.shape[-1]), weights).reshape(*z.shape[:-1], weights.shape[1])


def _batched_product(a: Array, b: Array) -> Array:
    """a @ b over leading axes, (..., T, S) and (..., S, e)."""
    if a.dtype != object or a.ndim == 2:
        return _matrix_product(a, b)
    result = np.empty((*a.shape[:-1], b.shape[-1]), dtype=object)
    for index in np.ndindex(a.shape[:-2]):
        result[index] = _matrix_product(a[index], b[index])
    return result


def _matrix_product(a: Array, b: Array) -> Array:
    if a.dtype == object and _system([a, b]) == "exact":
        return exact_matmul(a, b)
    with np.errstate(over="ignore", invalid="ignore"):  # scores that are not finite are refused by `scores`
        return np.matmul(a, b)


def _hard_weights(row: Sequence[Any], less: Callable[[Any, Any], bool], is_ball: bool) -> list[Any]:
    """1/(number of maximisers) at the maximisers of the row, else 0; `less` must be decided."""
    best = 0
    for j, score in enumerate(row):
        if j > 0 and less(row[best], score):
            best = j
    ties = [j == best or not less(score, row[best]) for j, score in enumerate(row)]
    share = arb(1) / sum(ties) if is_ball else fmpq(1, sum(ties))
    return [share if tie else share * 0 for tie in ties]


def _ball_softmax(row: Sequence[arb]) -> list[arb]:
    """The softmax of a row of balls. It is shifted by an exact number, which changes no enclosed value."""
    shift = max(x.mid() for x in row)
    weights = [(x - shift).exp() for x in row]
    total = sum(weights, start=arb(0))
    return [weight / total for weight in weights]
