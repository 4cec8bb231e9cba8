"""What a head of the last layer sums up, where the last symbols of each token and the number of 2s before are known.

In the words of `layers`: f_j, the means of layer 1, lies in a box that depends on the last w symbols up to the token j
and on the number of 2s before these (`kernels.window_means`), and so does every linear function of it, which is known
better than from the box. The query f_t is only known to lie in a box Q around q, by its last symbols and a range of
that number. So the score of the token j is base + query q + (key + q both) f_j, a linear function of f_j, give or take
sum_g |f_tg - q_g| |query_g + both_g f_j - r_g|: a number r . (f_t - q) that is common to all tokens changes no softmax.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.induction.intervals import EXP_TABLE, interval_dot, interval_sum, lower_end, upper_end
from lemmata.certificates.induction.kernels import exponentials, extreme_ratios, window_means
from lemmata.certificates.induction.layers import Layers, Reader
from lemmata.certificates.induction.moments import Terms

__all__ = ["Known", "ones_before", "sum_of_ratios"]

FloatArray = NDArray[np.float64]


def ones_before(t: int, window: int, final: int) -> NDArray[np.int64]:
    """How many symbols 2 are before the last ones, by the numbers of steps from 1 to 1 and of changes, shape (t, t)."""
    stays, changes = np.meshgrid(np.arange(t), np.arange(t), indexing="ij")
    return t - 1 - stays - changes + (changes + 1 + (final & 1)) // 2 - final.bit_count()


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of layer 1.

    Attributes:
        layers: the model.
        window: how many last symbols are known.
        box: f_j by position, last symbols and number of 2s before these, shape (t, 2^window, t, C, 2), NaN beyond.
        hull: the same whatever that number is, shape (t, 2^window, C, 2).
        values: v_j of every head of the last layer, shape (t, 2^window, t, 2).
        direct: d by last symbols and number of 2s before these, shape (2^window, t - window + 1, 2).
    """

    layers: Layers
    window: int
    box: FloatArray
    hull: FloatArray
    values: tuple[FloatArray, ...]
    direct: FloatArray

    @classmethod
    def of(cls, layers: Layers, window: int) -> Known:
        """For a window of 2 symbols at least, and fewer than there are tokens."""
        t, C = layers.t, layers.direct_slope.shape[1]
        units = np.repeat(np.eye(C)[:, None, :, None], 2, axis=1) * np.ones(2)
        boxes = [_means(layers, window, unit) for unit in units]
        box = np.stack(boxes, axis=-2) if C else np.zeros((t, 2**window, t, 0, 2))
        hull = np.stack([np.fmin.reduce(box[..., 0], axis=2), np.fmax.reduce(box[..., 1], axis=2)], axis=-1)
        symbol = np.arange(2**window) & 1
        values = tuple(
            interval_sum(_means(layers, window, one.slope), one.value[len(layers.front) :][:, symbol, None])
            for one in layers.readers
        )
        direct = interval_sum(
            _means(layers, window, layers.direct_slope)[-1, :, : t - window + 1], layers.direct[symbol, None]
        )
        return cls(layers, window, box, hull, values, direct)

    def terms(self, final: int, first: int, end: int) -> list[Terms]:
        """Of every head of the last layer; the query has given last symbols, first to end - 1 times 2 before them."""
        ends = self.box[-1, final, first:end]
        low, high = ends[..., 0].min(axis=0), ends[..., 1].max(axis=0)
        middle = (low + high) / 2
        off: Any = np.maximum(high - middle, middle - low)
        s, exact = final & 1, np.stack([middle, middle], axis=-1)
        return [
            self._terms(reader, s, exact, upper_end(off), v)
            for reader, v in zip(self.layers.readers, self.values, strict=True)
        ]

    def _terms(self, reader: Reader, s: int, middle: FloatArray, off: FloatArray, v: FloatArray) -> Terms:
        """Of one head, for a query with the symbol s and coordinates that are `middle`, give or take `off`."""
        layers, window = self.layers, self.window
        symbol, r = np.arange(2**window) & 1, len(layers.front)
        base = interval_sum(reader.base[s], interval_dot(reader.query[s], middle))
        key = interval_sum(reader.key[s], interval_dot(np.swapaxes(reader.both[s], 1, 2), middle))
        moves = [
            interval_sum(reader.query[s, r:][:, symbol], interval_dot(reader.both[s][symbol], self.hull[:, :, None])),
            interval_sum(reader.query[s, :r, 0], interval_dot(reader.both[s, 0], layers.front[:, None])),
        ]
        at = (np.nanmin(moves[0][..., 0], axis=(0, 1)) + np.nanmax(moves[0][..., 1], axis=(0, 1))) / 2
        tokens, front = (_give_or_take(off, one, at) for one in moves)
        logits = [
            interval_sum(_means(layers, window, key), interval_sum(base[r:][:, symbol], tokens)[:, :, None]),
            interval_sum(interval_sum(base[:r, 0], interval_dot(key[0], layers.front)), front),
        ]
        highest = max(float(np.nanmax(one[..., 1], initial=-np.inf)) for one in logits)
        e, front_e = (exponentials(interval_sum(one, np.full(2, -highest)), EXP_TABLE) for one in logits)
        front_v = interval_sum(reader.value[:r, 0], interval_dot(reader.slope[0], layers.front))
        return Terms(e, v, np.stack([front_e, front_v]))


def sum_of_ratios(t: int, window: int, final: int, grid: int, heads: Sequence[Terms]) -> tuple[FloatArray, FloatArray]:
    """Bounds of what all heads of the last layer add to the difference of logits, by class, two arrays (t, t)."""
    low, high = np.zeros((t, t)), np.zeros((t, t))
    for head in heads:
        ends = np.concatenate([head.v.reshape(-1, 2), head.front[1]])
        least, most = float(np.nanmin(ends)), float(np.nanmax(ends))
        margin = 1e-6 * (1 + abs(least) + abs(most))
        values = np.linspace(least - margin, most + margin, grid)
        ratios = extreme_ratios(t, window, final, values, head.e, head.v, head.front)
        low, high = lower_end(low + ratios[..., 0]), upper_end(high + ratios[..., 1])
    return low, high


def _means(layers: Layers, window: int, slope: FloatArray) -> FloatArray:
    """The number slope . f_j, by the symbol of j, position, last symbols and number of 2s before; slope (2, C, 2)."""
    t, place = layers.t, 0
    total = np.zeros((t, 2**window, t, 2))
    for mixture in layers.mixtures:
        G = mixture.coordinates.shape[2]
        y = interval_dot(slope[:, None, None, place : place + G], mixture.coordinates)
        total = interval_sum(total, window_means(t, window, mixture.weights, y))
        place += G
    for j, code in np.ndindex(t, 2**window):
        known = min(j + 1, window)
        total[j, code, j + 2 - known if code < 2**known else 0 :] = np.nan
    return total


def _give_or_take(off: FloatArray, moves: FloatArray, at: FloatArray) -> FloatArray:
    """An interval around 0 for sum_g x_g (m_g - at_g), |x_g| <= off_g, m_g in an interval; shape (..., 2)."""
    reach: Any = np.zeros(moves.shape[:-2])
    for g, (size, middle) in enumerate(zip(off, at, strict=True)):
        far: Any = upper_end(np.maximum(moves[..., g, 1] - middle, middle - moves[..., g, 0]))
        reach = upper_end(reach + upper_end(size * far))
    return np.stack([-reach, reach], axis=-1)
