"""Classifiers from networks: how symbols become inputs, how outputs become labels, and how often these are right.

    encode       two symbols 0, 1 are -1 and 1; more become one-hot blocks, coordinate by coordinate
    discretize   the sign of one output for two labels, the place of the largest output for more
    accuracy     the probability of the right label, and of a wrong one

A sign of 0 and a largest output that is not unique give no label: they are refused, and never count as right.

Source: variable-creation, definition-3.0 and definition-3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.balls import decided_less
from lemmata.numerics.exact.numbers import sign_of
from lemmata.numerics.exact.systems import conversion, number_system, require_finite

__all__ = ["accuracy", "discretize", "encode"]


def encode(symbols: ArrayLike, alphabet: int) -> NDArray[np.int64]:
    """The inputs of a network for sequences of symbols 0, ..., alphabet - 1.

    Args:
        symbols: shape (..., d).
        alphabet: |S|, at least 2.

    Returns:
        Shape (..., d) with entries -1 and 1 for two symbols, else (..., d |S|) with a one-hot block for each symbol.

    Raises:
        ValueError: for an alphabet below 2, no coordinate, or what is no symbol.
    """
    x = np.asarray(symbols)
    if alphabet < 2 or not x.ndim or not x.shape[-1]:
        raise ValueError(f"Sequences of symbols from an alphabet of at least 2 are encoded, not {x.shape}, {alphabet}.")
    if x.dtype.kind not in "iu" or x.min(initial=0) < 0 or x.max(initial=0) >= alphabet:
        raise ValueError(f"The symbols must be integers from 0 to {alphabet - 1}.")
    if alphabet == 2:
        return 2 * x.astype(np.int64) - 1
    blocks = np.eye(alphabet, dtype=np.int64)[x]
    return blocks.reshape(*x.shape[:-1], x.shape[-1] * alphabet)


def discretize(outputs: ArrayLike, labels: int) -> NDArray[np.int64]:
    """The labels 0, ..., labels - 1 for the outputs of a network.

    Args:
        outputs: shape (..., 1) for two labels, 0 for a negative and 1 for a positive output; else (..., labels).
        labels: |Y|, at least 2.

    Returns:
        Shape (...).

    Raises:
        ValueError: for another shape, numbers that are not finite, an output that is 0 for two labels, a largest one
            that is not unique for more, and balls that leave this undecided.
    """
    f = np.asarray(outputs)
    width = 1 if labels == 2 else labels
    if labels < 2 or not f.ndim or f.shape[-1] != width:
        raise ValueError(f"{labels} labels need at least 2 of them and outputs of width {width}, not {f.shape}.")
    values = conversion(number_system([f]))(f)
    require_finite("the output", values)
    result = np.empty(f.shape[:-1], dtype=np.int64)
    for index in np.ndindex(result.shape):
        row = values[index].tolist()
        result[index] = _sign_label(row[0]) if labels == 2 else _largest(row)
    return result


def accuracy(
    predicted: Sequence[Any] | ArrayLike, right: Sequence[Any] | ArrayLike, probabilities: Sequence[Any]
) -> tuple[Any, Any]:
    """The probabilities of a right and of a wrong label.

    Args:
        predicted, right: labels, shape (n,).
        probabilities: of the n points, in any numbers; of sum 1.

    Returns:
        The accuracy and the error, in the numbers of the probabilities.

    Raises:
        ValueError: for other shapes, no point, a negative probability, or exact ones whose sum is not 1.
    """
    found, known = np.asarray(predicted), np.asarray(right)
    p = list(probabilities)
    if found.ndim != 1 or found.shape != known.shape or len(p) != len(found) or not p:
        raise ValueError(
            f"Labels and probabilities are rows of one length, not {found.shape}, {known.shape}, {len(p)}."
        )
    exact = number_system([np.array(p, dtype=object)]) == "exact"
    if any(x < 0 for x in p) or (exact and sum(p) != 1):
        raise ValueError("Probabilities are not negative and have the sum 1.")
    sums = [p[0] * 0, p[0] * 0]
    for same, x in zip((found == known).tolist(), p, strict=True):
        sums[not same] = sums[not same] + x
    return sums[0], sums[1]


def _sign_label(value: Any) -> int:
    sign = (value > 0) - (value < 0) if isinstance(value, float) else sign_of(value)
    if not sign:
        raise ValueError("An output is 0, whose sign is no label.")
    return int(sign > 0)


def _largest(row: Sequence[Any]) -> int:
    best = max(range(len(row)), key=lambda i: sum(_less(x, row[i]) for x in row))
    if any(i != best and not _less(x, row[best]) for i, x in enumerate(row)):
        raise ValueError("The largest output is not unique, which gives no label.")
    return best


def _less(a: Any, b: Any) -> bool:
    if a is b:
        return False
    return a < b if isinstance(a, float) else sign_of(a - b) < 0 if not hasattr(a, "mid") else decided_less(a, b)
