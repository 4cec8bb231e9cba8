"""Learning on finite problems, exactly: Rademacher complexity, empirical risk minimisers, sample sizes.

A finite problem has points x with rational probabilities, and finitely many functions as rows of a table (functions,
points). What a theorem of learning theory bounds is then a rational number:

- `rademacher_complexity`: E_x E_xi max_F (1/n) sum_i xi_i F(x_i), without absolute value. The pairs (x_i, xi_i) are
  n independent draws of a signed point, and the maximum depends on the signed counts alone.
- `erm_failure_probability`: the probability that some minimiser of the empirical surrogate loss (the worst tie-break)
  has an error above eps; a sum over the multisets of n points.
- `consistent_failure_probability`: the same for hypotheses that make no mistake on the sample, a property of the set of
  points seen; a sum over sets, for any n.

The bounds are balls. `erm_bound`: if the surrogate loss bounds the loss, has Rademacher complexity <= eps for the
target and some function has surrogate loss <= eps, then with probability 1 - delta every empirical minimiser has loss
<= 3 eps + sqrt(2 ln(2/delta)/n), and <= 5 eps + 2 sqrt(ln(2/delta)/n) with the constants of the printed proof.
`occam_sample_size`: |G| targets, each with a hypothesis without error, need n >= (ln |G| + ln(1/delta))/eps.

Source: turing, definition 2.1, proposition 2.2 and its proof in appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, factorial, prod
from typing import Any, Literal

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, ceiling
from lemmata.numerics.exact.rationals import common_denominator

Exact = int | str | Fraction | fmpq
Table = ArrayLike | Sequence[Any]

LARGEST_ENUMERATION = 2_000_000
"""Samples, up to order, that an exact sum may run through."""


def rademacher_complexity(table: Table, probabilities: Table, n: int) -> fmpq:
    """The expected n-sample Rademacher complexity of the functions in the rows of ``table``.

    Args:
        table: (functions, points) exact numbers, the value of each function at each point.
        probabilities: (points,) exact, non-negative, of sum 1.
        n: the sample size, at least 1.

    Raises:
        ValueError: for shapes that do not fit, numbers that are not exact, no probability distribution, or more than
            `LARGEST_ENUMERATION` signed counts.
    """
    values, masses, _ = _finite_problem(table, probabilities, n)
    ways = sum(2**i * comb(len(masses), i) * comb(n, i) for i in range(min(n, len(masses)) + 1))
    check_size(ways, "signed counts")
    draws = [(i, sign, fmpq(q) / 2) for i, q in enumerate(masses) if q != 0 for sign in (1, -1)]
    law: dict[tuple[int, ...], fmpq] = {(0,) * len(masses): fmpq(1)}
    for _ in range(n):
        following: dict[tuple[int, ...], fmpq] = {}
        for counts, probability in law.items():
            for i, sign, q in draws:
                after = (*counts[:i], counts[i] + sign, *counts[i + 1 :])
                following[after] = following.get(after, fmpq(0)) + probability * q
        law = following
    rows = [row.tolist() for row in values]
    best = (q * max(_dot(row, counts) for row in rows) for counts, q in law.items())
    return sum(best, start=fmpq(0)) / n


def erm_failure_probability(surrogate: Table, errors: Table, probabilities: Table, n: int, eps: Exact) -> fmpq:
    """The probability that some empirical minimiser of the surrogate loss has an error above eps, for one target.

    Args:
        surrogate: (functions, points) exact numbers: the surrogate loss of each function against the target.
        errors: (functions,) exact numbers: the expected loss of each function against the target.
        probabilities: (points,) exact, non-negative, of sum 1.
        n: the sample size, at least 1.
        eps: the error allowed.

    Raises:
        ValueError: as `rademacher_complexity`, for multisets of n points.
    """
    losses, masses, bad = _finite_problem(surrogate, probabilities, n, errors, eps)
    support = [i for i, q in enumerate(masses) if q != 0]
    check_size(comb(n + len(support) - 1, n), "samples up to order")
    positive = masses[support].tolist()
    common = common_denominator(positive)
    integers = [int(q * common) for q in positive]
    scale = common_denominator(losses.flat)
    columns = np.array([[int(x * scale) for x in row] for row in losses[:, support]], dtype=object)
    failing = 0
    for counts in compositions(n, len(support)):
        totals = (columns * np.array(counts, dtype=object)).sum(axis=1)
        if bool(np.any(bad & (totals == totals.min()))):
            orders = factorial(n) // prod(map(factorial, counts))
            failing += orders * prod(q**c for q, c in zip(integers, counts, strict=True))
    return fmpq(failing, common**n)


def seen_set_probabilities(probabilities: Table, n: int) -> NDArray[Any]:
    """The probability that the points of n draws are exactly the set T, shape (2^points,), bit i of T for point i.

    By inclusion and exclusion: sum over subsets U of T of (-1)^|T - U| P(U)^n.

    Raises:
        ValueError: for no probability distribution, n < 1, or more than 16 points.
    """
    masses = distribution(probabilities, n)
    if len(masses) > 16:
        raise ValueError(f"There are 2^{len(masses)} sets of points: give at most 16 points.")
    sums = np.array([fmpq(0)], dtype=object)
    for q in masses:
        sums = np.concatenate([sums, sums + q])
    law = np.array([x**n for x in sums.tolist()], dtype=object)
    for i in range(len(masses)):
        pairs = law.reshape(-1, 2, 2**i)
        pairs[:, 1] = pairs[:, 1] - pairs[:, 0]
    return law


def consistent_failure_probability(mistakes: Table, errors: Table, probabilities: Table, n: int, eps: Exact) -> fmpq:
    """The probability that some function without a mistake on n draws has an error above eps, for one target.

    If one function makes no mistake at all, these are the empirical minimisers of the number of mistakes.

    Args:
        mistakes: (functions, points) of 0 and 1: whether the function is wrong at the point.
        errors: (functions,) exact numbers.
        probabilities: (points,) exact, non-negative, of sum 1; at most 16 points.
        n: the sample size, at least 1.
        eps: the error allowed.

    Raises:
        ValueError: as `seen_set_probabilities`; for shapes that do not fit, or if every function makes mistakes.
    """
    wrong, masses, bad = _finite_problem(mistakes, probabilities, n, errors, eps)
    if any(x not in (0, 1) for x in wrong.flat) or bool(np.all(np.any(wrong != 0, axis=1))):
        raise ValueError("Mistakes are 0 or 1, and one function must make none.")
    sets = np.arange(2 ** len(masses))
    fails = np.zeros(len(sets), dtype=bool)
    for row in wrong[bad]:
        code = sum(1 << i for i, x in enumerate(row) if x != 0)
        fails |= sets & code == 0
    return sum(seen_set_probabilities(masses, n)[fails].tolist(), start=fmpq(0))


# ---- bounds


def erm_bound(
    eps: Exact | arb, n: int, *, delta: Exact = Fraction(1, 100), constants: Literal["printed", "sharp"] = "sharp"
) -> arb:
    """A bound of the loss of every empirical minimiser with probability at least 1 - delta, as a ball.

    ``sharp``: 3 eps + sqrt(2 ln(2/delta)/n), that is 3 eps + 3.256/sqrt(n) at delta = 1/100; ``printed``:
    5 eps + 2 sqrt(ln(2/delta)/n), that is 5 eps + 4.604/sqrt(n).

    Raises:
        ValueError: if n < 1, delta is not in (0, 1), or the constants are not one of these.
    """
    if constants not in ("printed", "sharp"):
        raise ValueError(f"The constants are 'printed' or 'sharp', not {constants!r}.")
    factor, logarithm = (3, 2) if constants == "sharp" else (5, 4)
    return factor * as_balls([eps])[0] + (logarithm * _log_inverse(delta, 2) / _sample_size(n)).sqrt()


def occam_sample_size(targets: int, eps: Exact, *, delta: Exact = Fraction(1, 100)) -> int:
    """The smallest n with n eps >= ln(targets/delta): so many examples teach a finite class up to error eps.

    A hypothesis of error > eps survives n examples with probability < (1 - eps)^n <= exp(-n eps).

    Raises:
        ValueError: if targets < 1, or eps or delta is not in (0, 1).
    """
    if targets < 1 or not 0 < as_exact([eps])[0] < 1:
        raise ValueError(f"A sample size needs at least one target and 0 < eps < 1, not {targets} and {eps}.")
    needed = _log_inverse(delta, targets) / as_balls([eps])[0]
    return max(ceiling(needed), 1)


def turing_machine_count(states: int, symbols: int) -> int:
    """An upper bound on the functions of machines with so many states and symbols, for any number of steps.

    (2 k a)^(k a) 3^k k: a move, a state and a symbol for each of the k a pairs; accepting, rejecting or neither for
    each of the k states; and the initial state.

    Raises:
        ValueError: if states or symbols is below 1.
    """
    if states < 1 or symbols < 1:
        raise ValueError(f"A machine has at least one state and one symbol, not {states} and {symbols}.")
    pairs = states * symbols
    return (2 * pairs) ** pairs * 3**states * states


def circuit_count(inputs: int, gates: int) -> int:
    """An upper bound on the functions of Boolean circuits with so many gates (AND, OR, NOT, identity).

    Gate i reads two of the m = inputs + i nodes before it, in any order (m (m + 1) ways with AND or OR), or one (2 m
    ways); the last gate is the output.

    Raises:
        ValueError: if inputs or gates is below 1.
    """
    if inputs < 1 or gates < 1:
        raise ValueError(f"A circuit has at least one input and one gate, not {inputs} and {gates}.")
    return prod(m * (m + 3) for m in range(inputs, inputs + gates))


# ---- helpers


def _log_inverse(delta: Exact, factor: int) -> arb:
    """The logarithm ln(factor/delta), for delta in (0, 1)."""
    exact = as_exact([delta])[0]
    if not 0 < exact < 1:
        raise ValueError(f"The failure probability delta must lie in (0, 1), but it is {delta}.")
    return arb(factor / exact).log()


def _sample_size(n: int) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"The sample size must be an integer >= 1, not {n!r}.")
    return int(n)


def distribution(probabilities: Table, n: int) -> NDArray[Any]:
    """The probabilities as exact numbers, once they are known to be some, and n to be a sample size."""
    _sample_size(n)
    masses = as_exact(probabilities)
    if masses.ndim != 1 or not masses.size or any(q < 0 for q in masses) or sum(masses.tolist(), start=fmpq(0)) != 1:
        raise ValueError("The probabilities must be a vector of exact numbers >= 0 with sum 1.")
    return masses


def _finite_problem(
    table: Table, probabilities: Table, n: int, errors: Table | None = None, eps: Exact = 0
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """The table, the probabilities, and which functions have an error above eps."""
    values, masses = as_exact(table), distribution(probabilities, n)
    if values.ndim != 2 or not values.shape[0] or values.shape[1] != len(masses):
        raise ValueError(f"The table must have shape (functions, {len(masses)}), not {values.shape}.")
    risks = as_exact(np.zeros(len(values), dtype=int) if errors is None else errors)
    if risks.shape != values.shape[:1]:
        raise ValueError(f"There must be {len(values)} errors, one for each function, not shape {risks.shape}.")
    limit = as_exact([eps])[0]
    return values, masses, np.array([x > limit for x in risks.tolist()])


def check_size(count: int, what: str) -> None:
    """ValueError if an exact sum would run over more than `LARGEST_ENUMERATION` terms."""
    if count > LARGEST_ENUMERATION:
        raise ValueError(
            f"The exact sum would run over {count:,} {what}, more than {LARGEST_ENUMERATION:,}: "
            "take fewer points or a smaller sample."
        )


def _dot(row: list[Any], counts: tuple[int, ...]) -> fmpq:
    return sum((x * c for x, c in zip(row, counts, strict=True) if c), start=fmpq(0))


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All tuples of ``parts`` integers >= 0 with this sum."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)
