"""The attention head, one for all constructions: softmax, hard maximum or ReLU; relative keys, a null pair, a memory.

Rows are tokens (row-vector convention, z W), positions count from 0. A token z_i and the tokens m_j of a memory, which
is z itself in self-attention, have the scores

    S_ij = <q_i, k_j + v_(i-j)>,      q = z W_Q + b_Q,   k = m W_K + b_K,      v a table of relative keys,

and, if there is a null pair (K_0, V_0), one more score <q_i, K_0> at index 0. With b the sharpness and t the squared
temperature, the weights of the visible tokens are

    softmax:   softmax(b S_i / sqrt(t)),
    hardmax:   equal on all maximisers of S_i (ties averaged), the limit of the softmax as b grows,
    relu:      relu(b S_ij / sqrt(t)) / (number of visible tokens),

and the head returns sum_j p_ij (m_j W_V + b_V), with p_i0 V_0 if there is a null pair, times W_O + b_O if there is an
output map. A merged score matrix W_QK is the query map of a head whose key map is the fixed identity (`merged_head`).

One forward pass serves three number systems: float64; exact numbers (rationals, cyclotomic; no softmax, which is not
rational); rigorous balls. Roots are taken in the forward pass alone, so that hard attention needs none.

Ties of the hard maximum are decided exactly or refused. In float64 that needs scores that are sums of integers below
2^53, or a proven `gap`: if exact scores tie or differ by at least the gap, all scores within gap/2 of the largest tie,
as long as rounding moves a score by less than gap/4.

Source: induction-heads, definition-transformer; turing, definition-transformer; deep-icgd, definition-7.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Any, Literal, get_args

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.balls import decided_less
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.rationals import rational_root
from lemmata.numerics.exact.systems import Array, batched_product, conversion, number_system, product
from lemmata.numerics.functions.activations import relu

Weighing = Literal["softmax", "hardmax", "relu"]

_LARGEST_EXACT = 2.0**53  # integers of float64 up to here are exact


@dataclass(frozen=True, eq=False)
class Head(Layer):
    """One attention head, with d inputs, key dimension m and e outputs; see the docstring of this module.

    Attributes:
        query: W_Q, b_Q, from width d to m; a matrix stands for a map without bias, here and below.
        key: W_K, b_K, from the width d' of the memory to m.
        value: W_V, b_V, from d' to e', the width of the output map, or e if there is none.
        weigh: "softmax", "hardmax" (ties averaged) or "relu".
        sharpness: b > 0, the factor on the scores, a number in any system.
        temperature_squared: t, a positive integer; the scores are divided by its root.
        relative_keys: v, shape (R, m); row r is added to the keys at distance i - j = r, other distances get 0; R = 0
            if it is not given.
        null: (K_0, V_0) of shapes (m,) and (e',), or None.
        output: W_O, b_O, from e' to e, or None.
        causal: whether token i attends to j <= i only, or to all; of self-attention.
        gap: a proven least distance of exact scores that do not tie, or None.

    Raises:
        ValueError: for shapes that do not fit, or another weighing, sharpness, temperature or gap.
    """

    query: Affine
    key: Affine
    value: Affine
    weigh: Weighing = "softmax"
    sharpness: Any = 1
    temperature_squared: int = 1
    relative_keys: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    null: tuple[Array, Array] | None = None
    output: Affine | None = None
    causal: bool = True
    gap: Any = None

    def __post_init__(self) -> None:
        for name in ("query", "key", "value"):
            object.__setattr__(self, name, Affine.of(getattr(self, name)))
        if self.output is not None:
            object.__setattr__(self, "output", Affine.of(self.output))
        table = np.asarray(self.relative_keys)
        object.__setattr__(self, "relative_keys", table if table.size else np.zeros((0, self.query.outputs), np.int64))
        if self.null is not None:
            null_key, null_value = self.null
            object.__setattr__(self, "null", (np.asarray(null_key), np.asarray(null_value)))
        self._check_shapes()
        self._check_numbers()

    @property
    def inputs(self) -> int:
        """The width d of the tokens that attend."""
        return self.query.inputs

    @property
    def outputs(self) -> int:
        """The width e of the output."""
        return self.value.outputs if self.output is None else self.output.outputs

    @property
    def key_dimension(self) -> int:
        """m."""
        return self.query.outputs

    @property
    def scale(self) -> float:
        """b / sqrt(t), the factor on the scores, in float64."""
        return float(to_float([self.sharpness])[0]) / sqrt(self.temperature_squared)

    @cached_property
    def _tie_width(self) -> float:
        """The distance below the largest score at which a float64 score still counts as tied, gap/2."""
        return 0.0 if self.gap is None else float(to_float([self.gap])[0]) / 2

    @property
    def null_key(self) -> Array:
        """K_0, shape (m,); ValueError if the head has no null pair."""
        return self._null_pair()[0]

    @property
    def null_value(self) -> Array:
        """V_0, shape (e',); ValueError if the head has no null pair."""
        return self._null_pair()[1]

    def scores(self, z: Array, keys: Array) -> Array:
        """The scores without temperature and mask, shape (..., T, n), one more in front if there is a null pair.

        Args:
            z: tokens, shape (..., T, d).
            keys: the projected memory `key` (memory), shape (..., n, m). For relative keys the tokens z are the last T
                of the n tokens, of which a decoder keeps the keys.

        Raises:
            ValueError: if a float64 score overflows.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            result = self._scores(self.query(z), keys)
        if result.dtype == np.float64 and not np.isfinite(result).all():
            raise ValueError("A score overflows float64: choose smaller scales, or balls or exact hard attention.")
        return result

    def _scores(self, queries: Array, keys: Array) -> Array:
        if keys.shape[-2]:
            result = batched_product(queries, np.swapaxes(keys, -1, -2))
        else:
            result = np.zeros((*queries.shape[:-1], 0), dtype=queries.dtype)
        if len(self.relative_keys):
            by_distance = product(queries, self.relative_keys.T)
            first = keys.shape[-2] - queries.shape[-2]
            for distance in range(min(len(self.relative_keys), keys.shape[-2])):
                later = np.arange(max(distance - first, 0), queries.shape[-2])
                result[..., later, first + later - distance] += by_distance[..., later, distance]
        if self.null is not None:
            result = np.concatenate([product(queries, self.null[0][:, None]), result], axis=-1)
        return result

    def weights(self, scores: Array, visible: Array | None = None, *, decided: bool = False) -> Array:
        """The attention weights of `scores`, same shape; hidden entries are 0.

        Args:
            scores: shape (..., T, n), or (..., T, n + 1) with a null pair.
            visible: which tokens of the memory are seen, shape broadcastable to (..., T, n); all of them if None.
            decided: that ties of float64 scores are known to be exact, as `attention` finds out.

        Raises:
            ValueError: for a softmax of exact numbers; for ties that balls leave undecided, or that float64 could
                decide wrongly; if a token sees nothing.
        """
        if visible is not None:
            visible = np.broadcast_to(visible, (*scores.shape[:-1], scores.shape[-1] - (self.null is not None)))
            if self.null is not None:
                visible = np.concatenate([np.ones((*visible.shape[:-1], 1), dtype=bool), visible], axis=-1)
        if not (scores.shape[-1] if visible is None else visible.any(axis=-1).all()):
            raise ValueError("A token sees no token: give a null pair, or a mask that leaves it one.")
        if self.weigh == "relu":
            return self._relu_weights(scores, visible)
        if scores.dtype == np.float64:
            if self.weigh == "hardmax" and self.gap is None and not decided:
                raise ValueError(_UNDECIDED)
            return self._float_weights(scores, visible)
        return self._object_weights(scores, visible)

    def attention(self, z: Array, memory: Array | None = None, visible: Array | None = None) -> Array:
        """The attention weights for tokens z, shape (..., T, n) or with the null pair's in front (..., T, n + 1).

        Args:
            z: shape (..., T, d).
            memory: shape (..., n, d'); z itself, and then causal as the head is, if None.
            visible: as for `weights`; what the causal mask hides stays hidden.

        Raises:
            ValueError: as `scores` and `weights`; for relative keys with a memory, which has no distances.
        """
        if memory is not None and len(self.relative_keys):
            raise ValueError("Relative keys need distances: a head with them attends to its own sequence, no memory.")
        attended = z if memory is None else memory
        with np.errstate(over="ignore", invalid="ignore"):  # scores that are not finite are refused
            keys = self.key(attended)
        if memory is None and self.causal:
            past = np.tril(np.ones((z.shape[-2], z.shape[-2]), dtype=bool))
            visible = past if visible is None else past & visible
        scores = self.scores(z, keys)
        decided = (
            self.weigh == "hardmax" and scores.dtype == np.float64 and self.gap is None and self._integral(z, attended)
        )
        return self.weights(scores, visible, decided=decided)

    def combine(self, p: Array, values: Array) -> Array:
        """sum_j p_j v_j and the null value's share, after the output map: (..., T, e).

        Args:
            p: attention weights as `weights` gives them.
            values: the projected memory `value` (memory), shape (..., n, e').
        """
        if self.null is None:
            result = batched_product(p, values)
        else:
            result = p[..., :1] * self.null[1]
            if values.shape[-2]:
                result = result + batched_product(p[..., 1:], values)
        return result if self.output is None else self.output(result)

    def __call__(self, z: Array, memory: Array | None = None, visible: Array | None = None) -> Array:
        """The output of the head, shape (..., T, e), no residual added; arguments and errors as `attention`."""
        return self.combine(self.attention(z, memory, visible), self.value(z if memory is None else memory))

    def read_mask(self) -> Array:
        """Coordinates that the queries, and for a memory of the same width the keys and values, read."""
        result = self.query.read_mask()
        for part in (self.key, self.value):
            result = result | part.read_mask() if part.inputs == self.inputs else result
        return result

    def write_mask(self) -> Array:
        """Coordinates that the values, the null value or the output map write."""
        if self.output is not None:
            return self.output.write_mask()
        result = self.value.write_mask()
        return result if self.null is None else result | (self.null[1] != 0)

    def _null_pair(self) -> tuple[Array, Array]:
        if self.null is None:
            raise ValueError("The head has no null pair.")
        return self.null

    def _check_shapes(self) -> None:
        q, k, v = (part.weight.shape for part in (self.query, self.key, self.value))
        table = self.relative_keys.shape
        null = None if self.null is None else tuple(part.shape for part in self.null)
        fits = q[1] == k[1] and k[0] == v[0] and table[1:] == q[1:]
        fits = fits and null in (None, ((q[1],), (v[1],))) and (not table[0] or k[0] == q[0])
        if not fits or (self.output is not None and self.output.inputs != v[1]):
            output = None if self.output is None else self.output.weight.shape
            raise ValueError(
                "A head has query (d, m), key (d', m), value (d', e'), relative_keys (R, m) if d' = d, "
                f"null ((m,), (e',)), output (e', e), but the shapes are {q}, {k}, {v}, {table}, {null}, {output}."
            )

    def _check_numbers(self) -> None:
        if self.weigh not in get_args(Weighing):
            raise ValueError(f"A head weighs by {', '.join(get_args(Weighing))}, not by {self.weigh!r}.")
        if self.weigh == "relu" and self.null is not None:
            raise ValueError("ReLU attention has no null pair.")
        temperature = self.temperature_squared
        if not isinstance(temperature, int | np.integer) or isinstance(temperature, bool) or temperature < 1:
            raise ValueError(f"temperature_squared must be an integer >= 1, not {temperature!r}.")
        for name in ("sharpness", "gap"):
            number = getattr(self, name)
            if number is not None and not number > 0:
                raise ValueError(f"The {name} must be positive, not {number!r}.")

    def _scaled(self, scores: Array) -> Array:
        """b S / sqrt(t) in the numbers of the scores."""
        if scores.dtype == np.float64:
            logits = scores if self.temperature_squared == 1 else scores / sqrt(self.temperature_squared)
            return logits if self.sharpness == 1 else logits * to_float([self.sharpness])[0]
        system = number_system([scores])
        sharpness = conversion(system)([self.sharpness])[0]
        if self.temperature_squared == 1:
            return scores if self.sharpness == 1 else scores * sharpness
        if system == "ball":
            return scores * (sharpness / arb(int(self.temperature_squared)).sqrt())
        root = rational_root(fmpq(int(self.temperature_squared)))
        if root is None:
            raise ValueError(f"The root of the squared temperature {self.temperature_squared} is not rational.")
        return scores * (sharpness / root)

    def _relu_weights(self, scores: Array, visible: Array | None) -> Array:
        result = relu(self._scaled(scores))
        if visible is None:
            return result / scores.shape[-1] if result.dtype == np.float64 else result * fmpq(1, scores.shape[-1])
        seen = visible.sum(axis=-1, keepdims=True)
        shares = 1.0 / seen if result.dtype == np.float64 else np.vectorize(lambda n: fmpq(1, int(n)), otypes="O")(seen)
        return np.where(visible, result * shares, 0 * result)

    def _float_weights(self, scores: NDArray[np.float64], visible: Array | None) -> NDArray[np.float64]:
        logits = scores if self.weigh == "hardmax" else self._scaled(scores)
        if visible is not None:
            logits = np.where(visible, logits, -np.inf)
        largest = logits.max(axis=-1, keepdims=True)
        if self.weigh == "softmax":
            weights = np.exp(logits - largest)
        else:
            weights = (logits >= largest - self._tie_width).astype(np.float64)
        return weights / weights.sum(axis=-1, keepdims=True)

    def _object_weights(self, scores: Array, visible: Array | None) -> Array:
        is_ball = number_system([scores]) == "ball"
        if self.weigh == "softmax":
            if not is_ball:
                raise ValueError("A softmax is not rational: use hard attention, balls or float64.")
            scores = self._scaled(scores)
        result = np.full(scores.shape, arb(0) if is_ball else fmpq(0), dtype=object)
        less = decided_less if is_ball else operator.lt
        for index in np.ndindex(scores.shape[:-1]):
            seen = slice(None) if visible is None else np.flatnonzero(visible[index])
            row = scores[index][seen].tolist()
            result[index][seen] = hard_weights(row, less, is_ball) if self.weigh == "hardmax" else _ball_softmax(row)
        return result

    def _integral(self, z: NDArray[np.float64], memory: NDArray[np.float64]) -> bool:
        """Whether all sums behind the scores are of integers below 2^53, hence exact."""
        null = [] if self.null is None else [self.null[0]]
        maps = [array for part in (self.query, self.key) for array in (part.weight, part.bias)]
        arrays = (z, memory, *maps, self.relative_keys, *null)
        if not all(bool(np.all(part == np.floor(part))) for part in arrays):
            return False
        queries, keys = (part.map(np.abs)(np.abs(tokens)) for part, tokens in ((self.query, z), (self.key, memory)))
        largest = max(float(keys.max(initial=0.0)), *(float(np.abs(part).max(initial=0.0)) for part in null), 0.0)
        largest += float(np.abs(self.relative_keys).max(initial=0.0))
        return float(queries.sum(axis=-1).max()) * largest <= _LARGEST_EXACT


_UNDECIDED = (
    "Hard attention in float64 needs integer weights and activations with scores below 2^53, for otherwise rounding "
    "may make or break a tie, or a proven gap between scores that do not tie: use exact arithmetic."
)


def merged_head(scores: ArrayLike, value: Affine | ArrayLike | None = None, **options: Any) -> Head:
    """The head with the scores <z_i W_QK, m_j> of one merged matrix.

    Args:
        scores: W_QK, shape (d, d'), in the rows the tokens that attend. It is the query map, and the key map is fixed.
        value: as for `Head`; the tokens of the memory themselves if None, as a fixed map.
        options: further fields of `Head`.

    Source: qstr, definition-transformer (with the transpose of its W_QK where that acts on columns).
    """
    query = Affine.of(scores)
    tokens = Affine.identity(query.outputs)
    return Head(query, tokens, tokens if value is None else value, **options)  # type: ignore[arg-type]


def hard_weights(row: Sequence[Any], less: Callable[[Any, Any], bool], is_ball: bool) -> list[Any]:
    """1/(number of maximisers) at the maximisers of the row, else 0; `less` must be decided."""
    best = 0
    for j in range(1, len(row)):
        if less(row[best], row[j]):
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
