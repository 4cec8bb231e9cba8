"""Finite classes of functions on finitely many points, exactly: distances, Rademacher complexity, uniform deviations.

A class is a table of exact numbers with one row for each function. On a sample that shows point i c_i times the signs
of equal points add up to c_i - 2 k with probability binom(c_i, k)/2^(c_i), so that the empirical Rademacher complexity
is a sum over the counts k alone. A sample of m independent draws matters up to order only, so that the probability of
a large deviation of risks is a sum over the multisets of m points.

Source: variable-creation, definition 4.1, definition A.1, theorem A.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import comb, factorial, prod
from typing import Any, Literal, get_args

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.balls import decided_less
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.learning.generalisation import Exact, Table, check_size, compositions, distribution

Norm = Literal["absolute", "maximum", "sum", "euclidean"]
Array = NDArray[Any]


def class_table(table: Table, *, vectors: bool = False) -> Array:
    """The values of a finite class as an object array of rational numbers, (functions, points) or with components.

    Args:
        table: exact numbers, (functions, points), or (functions, points, components) with ``vectors``.
        vectors: whether the functions have vectors as values.

    Raises:
        ValueError: for ragged or empty tables, floats and NaN included in what is not exact, and irrational numbers.
    """
    shape = "(functions, points, components)" if vectors else "(functions, points)"
    try:
        values = as_exact(table)
    except ValueError as error:
        raise ValueError(f"A class is a table {shape} of exact numbers, all rows of one length: {error}") from None
    if values.ndim != 2 + vectors or not values.size:
        raise ValueError(f"A class is a table {shape} that is not empty, not an array of shape {values.shape}.")
    if not all(isinstance(x, fmpq) for x in values.flat):
        raise ValueError("The values of a finite class must be rational numbers.")
    return values


def sample_distances(table: Table, *, norm: Norm = "absolute") -> Array:
    """The greatest distance of two functions at a point of the sample, for all pairs, shape (functions, functions).

    For the Euclidean norm of vectors the squares of the distances, which are rational.

    Args:
        table: as for `class_table`; with components unless the norm is ``absolute``.
        norm: of the values: ``absolute`` for numbers; ``maximum``, ``sum`` or ``euclidean`` for vectors.

    Raises:
        ValueError: as `class_table`, or for an unknown norm.
    """
    if norm not in get_args(Norm):
        raise ValueError(f"The norm is one of {', '.join(get_args(Norm))}, not {norm!r}.")
    values = class_table(table, vectors=norm != "absolute")
    integers, scale = scaled_integers(values)
    gaps = abs(integers[:, None] - integers[None, :])
    if norm == "maximum":
        gaps = gaps.max(axis=-1)
    elif norm == "sum":
        gaps = gaps.sum(axis=-1)
    elif norm == "euclidean":
        gaps, scale = (gaps * gaps).sum(axis=-1), scale * scale
    largest = gaps.max(axis=-1)
    return np.array([[fmpq(int(x), scale) for x in row] for row in largest], dtype=object)


def empirical_rademacher(table: Table, counts: Sequence[int] | None = None) -> fmpq:
    """(1/m) E max over f of sum_i xi_i f(z_i) on a fixed sample, with independent fair signs and no absolute value.

    Args:
        table: (functions, points) exact numbers.
        counts: how many times the sample shows each point; once each if None.

    Raises:
        ValueError: as `class_table`, for counts that are no integers >= 0 of sum >= 1, one for each point, or more than
            `LARGEST_ENUMERATION` sums of signs.
    """
    integers, scale = scaled_integers(class_table(table))
    shown = _counts(integers.shape[1], counts)
    check_size(prod(c + 1 for c in shown), "sums of signs")
    total = 0
    for flips in product(*(range(c + 1) for c in shown)):
        ways = prod(comb(c, k) for c, k in zip(shown, flips, strict=True))
        signs = np.array([c - 2 * k for c, k in zip(shown, flips, strict=True)], dtype=object)
        total += ways * int((integers @ signs).max())
    return fmpq(total, scale * sum(shown) * 2 ** sum(shown))


def sample_law(probabilities: Table, samples: int) -> Iterator[tuple[tuple[int, ...], fmpq]]:
    """All samples of m independent draws up to order, as counts of the points, each with its probability.

    Raises:
        ValueError: for no distribution of exact numbers, m < 1, or more than `LARGEST_ENUMERATION` samples.
    """
    masses, m = distribution(probabilities, samples).tolist(), samples
    check_size(comb(m + len(masses) - 1, m), "samples up to order")
    return _samples(masses, m)


def _samples(masses: list[fmpq], m: int) -> Iterator[tuple[tuple[int, ...], fmpq]]:
    for counts in compositions(m, len(masses)):
        orders = factorial(m) // prod(map(factorial, counts))
        yield counts, orders * prod((q**c for q, c in zip(masses, counts, strict=True)), start=fmpq(1))


def largest_deviation(losses: Table, probabilities: Table, counts: Sequence[int]) -> fmpq:
    """The greatest |risk - empirical risk| of a function, on the sample with these counts.

    Args:
        losses: (functions, points) exact numbers, the loss of each function at each point (x, y).
        probabilities: (points,) exact, non-negative, of sum 1.
        counts: as for `empirical_rademacher`.

    Raises:
        ValueError: for tables, probabilities or counts that are none or do not fit.
    """
    values = class_table(losses)
    shown = _counts(values.shape[1], counts)
    masses = distribution(probabilities, sum(shown)).tolist()
    if len(masses) != len(shown):
        raise ValueError(f"There must be {len(shown)} probabilities, one for each point, not {len(masses)}.")
    weights = np.array([q - fmpq(c, sum(shown)) for q, c in zip(masses, shown, strict=True)], dtype=object)
    return max(abs(x) for x in (values @ weights).tolist())


def deviation_failure_probability(
    losses: Table,
    values: Table,
    probabilities: Table,
    samples: int,
    bound: Callable[[fmpq], arb],
    *,
    lipschitz: Exact = 1,
) -> fmpq:
    """The probability that some function's risk deviates by more than the bound from its empirical risk, exactly.

    Args:
        losses: (functions, points): loss(f(x), y) at each point (x, y), exact.
        values: (functions, points): f(x), exact.
        probabilities: (points,) exact, non-negative, of sum 1.
        samples: m.
        bound: the bound on the deviation, as a ball, from the empirical Rademacher complexity of the values on the
            sample.
        lipschitz: L; losses at one point may differ by L times the difference of the values at most.

    Raises:
        ValueError: for tables and probabilities that do not fit, losses that are not L-Lipschitz, enumerations that are
            too large, or a deviation that the ball of the bound does not decide.
    """
    table, functions = class_table(losses), class_table(values)
    if table.shape != functions.shape:
        raise ValueError(f"Losses and values must have one shape, not {table.shape} and {functions.shape}.")
    L = as_exact([lipschitz])[0]
    gaps = abs(table[:, None] - table[None, :]) - L * abs(functions[:, None] - functions[None, :])
    if any(gap > 0 for gap in gaps.flat):
        raise ValueError(f"The losses of two functions at a point differ by more than {lipschitz} times their values.")
    failing = fmpq(0)
    for counts, probability in sample_law(probabilities, samples):
        if probability and decided_less(
            bound(empirical_rademacher(functions, counts)), largest_deviation(table, probabilities, counts)
        ):
            failing += probability
    return failing


def scaled_integers(values: Array) -> tuple[Array, int]:
    """Rational numbers times their common denominator, as Python integers, and that denominator."""
    scale = common_denominator(values.flat)
    flat = np.empty(values.size, dtype=object)
    flat[:] = [int(x * scale) for x in values.flat]
    return flat.reshape(values.shape), scale


def _counts(points: int, counts: Sequence[int] | None) -> list[int]:
    shown = [1] * points if counts is None else [checked_integer("A count of a point", c, 0) for c in counts]
    if len(shown) != points or not sum(shown):
        raise ValueError(f"The counts must be {points} integers >= 0 of sum >= 1, one for each point, not {counts}.")
    return shown
