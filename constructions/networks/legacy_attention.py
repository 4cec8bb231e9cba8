"""Attention layers on a residual stream with named coordinates: the vocabulary that all transformers here share.

Rows are tokens (row-vector convention, z W), positions count from 0 in this module. An `AttentionHead` maps z, of shape
(T, d), to

    softmax(mask(S / sqrt(temperature_squared))) z W_V,      S_ij = <z_i W_Q, z_j W_K + v_(i-j)>,

with a table v of relative-position keys; or the same with the *hard* maximum, which attends to all maximisers of S_i
alike (ties averaged), the limit of the softmax as the scores are scaled up. A merged score matrix W_QK is the head with
W_Q = W_QK and W_K = I. An `AttentionLayer` adds its heads to the residual stream, or concatenates them without it.
`constructions.networks.transformer` stacks layers between an embedding and a readout. Biases, a null pair and attention
over a separate memory are in `constructions.networks.decoder`, token-wise maps in
`constructions.networks.feed_forward`.

One forward pass serves three number systems: float64; exact numbers (rationals, cyclotomic: hard attention only, since
a softmax is not rational); rigorous balls. The root of the temperature is taken in the forward pass alone, so that hard
attention needs none.

Source: induction-heads, def-transformer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from numerics.exact.balls import decided_less
from numerics.exact.systems import Array, batched_product, number_system, product

Normalisation = Literal["softmax", "hardmax"]
Combination = Literal["residual", "concatenate"]

_LARGEST_EXACT = 2.0**53  # integers of float64 up to here are exact


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
        queries, keys = product(z, self.query), product(z, self.key)
        result = batched_product(queries, np.swapaxes(keys, -1, -2))
        by_distance, T = product(queries, self.table.T), z.shape[-2]
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
        is_ball = number_system([scores]) == "ball"
        if self.normalisation == "softmax" and not is_ball:
            raise ValueError("A softmax is not rational: use hard attention, balls or float64.")
        result = np.full(scores.shape, arb(0) if is_ball else fmpq(0), dtype=object)
        root = arb(int(self.temperature_squared)).sqrt() if is_ball else None
        for index in np.ndindex(scores.shape[:-1]):
            visible = index[-1] + 1 if self.causal else scores.shape[-1]
            row = scores[index][:visible].tolist()
            if self.normalisation == "hardmax":
                result[index][:visible] = hard_weights(row, decided_less if is_ball else operator.lt, is_ball)
            else:
                result[index][:visible] = _ball_softmax([x / root for x in row])
        return result

    def __call__(self, z: Array) -> Array:
        """The output of the head, shape (..., T, e)."""
        return batched_product(self.attention(z), product(z, self.value))

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


def hard_weights(row: Sequence[Any], less: Callable[[Any, Any], bool], is_ball: bool) -> list[Any]:
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
