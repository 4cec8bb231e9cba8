"""Numba kernels on the tables of a model: the outputs on all sequences, and on classes of sequences.

Tables are intervals (`intervals`): `weights` = exp(first), pairs, steps, direct, copied of `tables.CircuitTables`, with
one more axis of length 2. Symbols are 0 and 1; a sequence x_1 ... x_t is the number with these binary digits, x_1 the
most significant. See PROOF.md for what is proved, and why.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lemmata.certificates.induction.intervals import add, down, exp_high, exp_low, multiply, up

__all__ = [
    "all_outputs",
    "extreme_ratios",
    "least_totals",
    "sums_of_squares",
    "token_terms",
    "window_counts",
    "window_masses",
]

FloatArray = NDArray[np.float64]
Interval = tuple[float, float]
IntArray = NDArray[np.int64]


@njit(cache=True)
def mass(weights: FloatArray, code: int, known: int, j: int) -> Interval:
    """The mass of token j's attention in layer 1 on the symbol 1, given its last `known` symbols (itself included).

    The j - known tokens before may be anything: the mass is largest if all of them are 1, and least if all are 0.
    """
    symbol = code & 1
    ones_low = ones_high = zeros_low = zeros_high = 0.0
    for distance in range(known):
        other = (code >> distance) & 1
        low, high = weights[symbol, other, distance, 0], weights[symbol, other, distance, 1]
        if other == 1:
            ones_low, ones_high = down(ones_low + low), up(ones_high + high)
        else:
            zeros_low, zeros_high = down(zeros_low + low), up(zeros_high + high)
    tail_ones, tail_zeros = 0.0, 0.0
    for distance in range(known, j):
        tail_ones = up(tail_ones + weights[symbol, 1, distance, 1])
        tail_zeros = up(tail_zeros + weights[symbol, 0, distance, 1])
    ones_low, zeros_low = max(ones_low, 0.0), max(zeros_low, 0.0)
    ones_high, zeros_high = up(ones_high + tail_ones), up(zeros_high + tail_zeros)
    low = down(ones_low / up(ones_low + zeros_high)) if ones_low > 0.0 else 0.0
    least = down(ones_high + zeros_low)  # not above 0 where all that is known has underflowed
    high = up(ones_high / least) if zeros_low > 0.0 and least > 0.0 else 1.0
    return max(low, 0.0), min(high, 1.0)


@njit(cache=True)
def score(pairs: FloatArray, steps: FloatArray, m: Interval, other: Interval) -> Interval:
    """The logit of layer 2 for entries pairs[s, s'], steps[s, r] and the masses of both tokens."""
    base = add((pairs[0, 0], pairs[0, 1]), (steps[0, 0], steps[0, 1]))
    with_m = multiply(add((pairs[1, 0], pairs[1, 1]), (steps[1, 0], steps[1, 1])), m)
    slope = add((pairs[2, 0], pairs[2, 1]), multiply((pairs[3, 0], pairs[3, 1]), m))
    return add(add(base, with_m), multiply(slope, other))


@njit(cache=True)
def affine(row: FloatArray, m: Interval) -> Interval:
    """row[0] + row[1] m."""
    return add((row[0, 0], row[0, 1]), multiply((row[1, 0], row[1, 1]), m))


@njit(cache=True)
def all_outputs(
    t: int,
    weights: FloatArray,
    pairs: FloatArray,
    steps: FloatArray,
    direct: FloatArray,
    copied: FloatArray,
    table: FloatArray,
) -> FloatArray:
    """Enclosures of the difference of the logits at the last token, for all 2^t sequences, shape (2^t, 2)."""
    out = np.empty((2**t, 2))
    masses, values = np.empty((t, 2)), np.empty((t, 2))
    symbols = np.full(t, -1)
    for code in range(2**t):
        fresh = False
        for j in range(t):
            symbol = (code >> (t - 1 - j)) & 1
            fresh = fresh or symbol != symbols[j]
            if fresh:
                symbols[j] = symbol
                m = mass(weights, code >> (t - 1 - j), j + 1, j + 1)
                masses[j, 0], masses[j, 1] = m
                values[j, 0], values[j, 1] = affine(copied[symbol], m)
        s, m = symbols[t - 1], (masses[t - 1, 0], masses[t - 1, 1])
        top, bottom = (0.0, 0.0), (0.0, 0.0)
        for j in range(t):
            logit = score(pairs[s, symbols[j]], steps[s, t - 1 - j], m, (masses[j, 0], masses[j, 1]))
            e = exp_low(logit[0], table), exp_high(logit[1], table)
            bottom = add(bottom, e)
            top = add(top, multiply(e, (values[j, 0], values[j, 1])))
        inverse = down(1.0 / bottom[1]), up(1.0 / bottom[0])
        result = add(affine(direct[s], m), multiply(top, inverse))
        out[code, 0], out[code, 1] = result
    return out


@njit(cache=True)
def window_masses(t: int, known: int, weights: FloatArray) -> FloatArray:
    """The masses of layer 1 by position 1, ..., t and last symbols, shape (t, 2^known, 2).

    At a position j < known the codes are those of all its j symbols.
    """
    out = np.full((t, 2**known, 2), np.nan)
    for j in range(1, t + 1):
        n = min(j, known)
        for code in range(2**n):
            out[j - 1, code] = mass(weights, code, n, j)
    return out


@njit(cache=True)
def token_terms(
    t: int,
    known: int,
    final: int,
    masses: FloatArray,
    pairs: FloatArray,
    steps: FloatArray,
    copied: FloatArray,
    table: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Intervals of e_j and v_j for a query after `known` given symbols, by position and last symbols, NaN beyond.

    Args:
        t: more than known.
        known: at least 2.
        final: the code of the last symbols.
        masses: those of `window_masses`.

    Returns:
        e, v: shapes (t, 2^known, 2).
    """
    s = final & 1
    m = (masses[t - 1, final, 0], masses[t - 1, final, 1])
    e, v = np.full((t, 2**known, 2), np.nan), np.full((t, 2**known, 2), np.nan)
    for j in range(t):
        for code in range(2 ** min(j + 1, known)):
            other = (masses[j, code, 0], masses[j, code, 1])
            logit = score(pairs[s, code & 1], steps[s, t - 1 - j], m, other)
            e[j, code, 0], e[j, code, 1] = exp_low(logit[0], table), exp_high(logit[1], table)
            v[j, code] = affine(copied[code & 1], other)
    return e, v


@njit(cache=True)
def extreme_ratios(t: int, known: int, final: int, grid: FloatArray, e: FloatArray, v: FloatArray) -> FloatArray:
    """Bounds of sum_j e_j v_j / sum_j e_j over all sequences of each class that end with `known` given symbols.

    A class has n steps from 0 to 0 and e changes; the bounds are in out[n, e], NaN where there is no such sequence.

    Args:
        t, known, final: as for `token_terms`.
        grid: increasing; it begins below and ends above all v_j.
        e, v: those of `token_terms`.
    """
    out = np.full((t, t, 2), np.nan)
    before = np.empty((t, t))
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        for g in range(len(grid)):
            rho = grid[g] if side == 1 else grid[len(grid) - 1 - g]
            largest = _largest_sums(t, known, final, sign, rho, e, v)
            for n in range(t):
                for changes in range(t - n):
                    now = largest[n, changes]
                    if now > -np.inf and now <= 0.0 and np.isnan(out[n, changes, side]):
                        out[n, changes, side] = _crossing(grid, g, sign, before[n, changes], now)
            before = largest
    return out


@njit(cache=True)
def _crossing(grid: FloatArray, g: int, sign: float, before: float, now: float) -> float:
    """Where the chord from the last value above 0 to the first one that is not meets 0; convexity makes it a bound."""
    rho = grid[g] if sign > 0 else grid[len(grid) - 1 - g]
    if g == 0:
        return rho
    last = grid[g - 1] if sign > 0 else grid[len(grid) - g]
    share = min(up(before / down(before - now)), 1.0) if before - now > 0.0 else 1.0
    if sign > 0:
        return min(up(last + up(up(rho - last) * share)), rho)
    return max(down(last - up(up(last - rho) * share)), rho)


@njit(cache=True)
def _largest_sums(t: int, known: int, final: int, sign: float, rho: float, e: FloatArray, v: FloatArray) -> FloatArray:
    """The largest sign sum_j e_j (v_j - rho) of the sequences of every class, by dynamic programming."""
    states = 2 ** (known - 1)
    side = 1 if sign > 0 else 0
    best = np.full((states, t, t), -np.inf)
    for x in range(2):
        best[x, 0, 0] = _term(sign, rho, e[0, x], v[0, x, side])
    for j in range(1, t):
        new = np.full((states, t, t), -np.inf)
        old = 2 ** min(j, known - 1)
        for code in range(old):
            for x in range(2):
                full = 2 * code + x
                if j == t - 1 and full != final:
                    continue
                term = _term(sign, rho, e[j, full], v[j, full, side])
                target = full % states
                stay = 1 if full & 3 == 0 else 0
                change = 1 if (full & 1) != ((full >> 1) & 1) else 0
                for n in range(j):
                    for changes in range(j - n):
                        value = best[code, n, changes]
                        if value > -np.inf:
                            value = up(value + term)
                            if value > new[target, n + stay, changes + change]:
                                new[target, n + stay, changes + change] = value
        best = new
    return best[final % states]


@njit(cache=True, inline="always")
def _term(sign: float, rho: float, e: FloatArray, v: float) -> float:
    """An upper bound of sign e (v - rho) for the weights e of an interval."""
    gap = up(sign * (v - rho))
    return up(gap * (e[1] if gap >= 0.0 else e[0]))


@njit(cache=True)
def least_totals(t: int, known: int, final: int, e: FloatArray) -> FloatArray:
    """The least sum_j e_j of the sequences of every class, or less; infinite where there is none."""
    return -_largest_sums(t, known, final, -1.0, 0.0, e, np.ones_like(e))


@njit(cache=True)
def sums_of_squares(t: int, known: int, final: int, terms: FloatArray) -> FloatArray:
    """Sums over the sequences of every class of X_a = sum_j x_a(j) and of X_a^2, and of X_0 X_1, by [n, e].

    No number is negative, so that each result is off by at most 2^-42 of itself: from one position to the next no more
    than 12 roundings follow one another, and none underflows if numbers that are not 0 lie between 2^-400 and 2^300.

    Args:
        t, known, final: as for `token_terms`, t <= 62.
        terms: x_a(j) by position and last symbols, shape (t, 2^known, A).

    Returns:
        X_0, ..., X_(A-1), X_0^2, ..., X_(A-1)^2, X_0 X_1, shape (t, t, 2 A + 1).
    """
    states, A = 2 ** (known - 1), terms.shape[2]
    sums = np.zeros((states, t, t, 2 * A + 2))  # the last one is the number of sequences
    for x in range(2):
        sums[x, 0, 0, -1] = 1.0
        for a in range(A):
            sums[x, 0, 0, a], sums[x, 0, 0, A + a] = terms[0, x, a], terms[0, x, a] * terms[0, x, a]
        sums[x, 0, 0, 2 * A] = terms[0, x, 0] * terms[0, x, 1]
    for j in range(1, t):
        new = np.zeros_like(sums)
        for code in range(2 ** min(j, known - 1)):
            for x in range(2):
                full = 2 * code + x
                if j == t - 1 and full != final:
                    continue
                stay = 1 if full & 3 == 0 else 0
                change = 1 if (full & 1) != ((full >> 1) & 1) else 0
                term = terms[j, full]
                for n in range(j):
                    for changes in range(j - n):
                        old = sums[code, n, changes]
                        if old[-1] > 0.0:
                            into = new[full % states, n + stay, changes + change]
                            for a in range(A):
                                into[a] += old[a] + old[-1] * term[a]
                                into[A + a] += old[A + a] + 2.0 * old[a] * term[a] + old[-1] * term[a] * term[a]
                            mixed = old[0] * term[1] + old[1] * term[0] + old[-1] * term[0] * term[1]
                            into[2 * A] += old[2 * A] + mixed
                            into[-1] += old[-1]
        sums = new
    return sums[final % states, :, :, :-1]


@njit(cache=True)
def window_counts(t: int, known: int, final: int) -> IntArray:
    """The number of sequences of every class that end with the given symbols, by [n, e], exactly for t <= 62."""
    states = 2 ** (known - 1)
    count = np.zeros((states, t, t), dtype=np.int64)
    for x in range(2):
        count[x, 0, 0] = 1
    for j in range(1, t):
        new = np.zeros((states, t, t), dtype=np.int64)
        for code in range(2 ** min(j, known - 1)):
            for x in range(2):
                full = 2 * code + x
                if j == t - 1 and full != final:
                    continue
                stay = 1 if full & 3 == 0 else 0
                change = 1 if (full & 1) != ((full >> 1) & 1) else 0
                for n in range(j):
                    for changes in range(j - n):
                        new[full % states, n + stay, changes + change] += count[code, n, changes]
        count = new
    return count[final % states]
