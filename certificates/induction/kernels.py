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
    "exponentials",
    "extreme_ratios",
    "least_totals",
    "sums_of_squares",
    "window_counts",
    "window_means",
]

FloatArray = NDArray[np.float64]
POINTS = 6
"""How many means are tried between the least and the largest one, whatever the number of ones."""
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
def _ones(j: int, stays: int, changes: int, last: int) -> int:
    """The number of symbols 1 among j + 1 symbols with so many steps from 0 to 0 and changes."""
    return j - stays - changes + (changes + 1 + last) // 2


@njit(cache=True)
def _ones_before(j: int, known: int, full: int, stays: int, changes: int) -> int:
    """The number of symbols 1 before the known ones, which the last ones of the code `full` are, up to token j."""
    count = _ones(j, stays, changes, full & 1)
    for place in range(min(j + 1, known)):
        count -= (full >> place) & 1
    return count


@njit(cache=True)
def window_means(t: int, known: int, weights: FloatArray, y: FloatArray) -> FloatArray:
    """The mean of y over the rows up to token j, by its last `known` symbols and the number of symbols 1 before them.

    Args:
        t: the number of tokens, the last of all rows.
        known: how many symbols are known.
        weights: e of token j and its symbol for a row and its symbol, shape (t, 2, rows, 2, 2); not negative.
        y: by the symbol of token j, the row and its symbol, shape (2, rows, 2, 2).

    Returns:
        Bounds over all earlier symbols that have the number of ones, shape (t, 2^known, t, 2), NaN beyond.
    """
    front = weights.shape[2] - t
    out = np.full((t, 2**known, t, 2), np.nan)
    e, z = np.empty((front + known, 2)), np.empty((front + known, 2))
    before, now, more, last = np.empty(t + 1), np.empty(t + 1), np.empty(t + 1), 0.0
    for j in range(t):
        n = min(j + 1, known)
        earlier = j + 1 - n
        for code in range(2**n):
            w, values = weights[j, code & 1], y[code & 1]
            for place in range(front + n):
                row, symbol = place, 0
                if place >= front:
                    row, symbol = front + j - (place - front), (code >> (place - front)) & 1
                for end in range(2):
                    e[place, end], z[place, end] = w[row, symbol, end], values[row, symbol, end]
            tail_e, tail_z = w[front : front + earlier], values[front : front + earlier]
            high = _largest_mean(1.0, front + n, e, z, tail_e, tail_z)
            low = -_largest_mean(-1.0, front + n, e, z, tail_e, tail_z)
            for side in range(2):
                sign, least, most = (1.0, low, high) if side == 1 else (-1.0, -high, -low)
                for ones in range(earlier + 1):
                    before[ones], out[j, code, ones, side] = np.inf, sign * most
                if earlier == 0 or not low < high:
                    continue
                for point in range(POINTS):
                    rho = most if point == POINTS - 1 else least + (most - least) * (point / (POINTS - 1))
                    _sums_by_ones(sign, rho, front + n, e, z, tail_e, tail_z, more, now)
                    for ones in range(earlier + 1):
                        if now[ones] <= 0.0 and before[ones] > 0.0:
                            bound = rho if point == 0 else _chord(last, rho, before[ones], now[ones])
                            out[j, code, ones, side] = sign * bound
                        # once not above 0, it stays so: what rounding adds later changes nothing
                        before[ones] = now[ones] if before[ones] > 0.0 else before[ones]
                    last = rho
    return out


@njit(cache=True)
def _largest_mean(
    sign: float, known: int, e: FloatArray, z: FloatArray, tail_e: FloatArray, tail_z: FloatArray
) -> float:
    """At least the largest mean of sign z, over so many known rows and all symbols of the tail.

    Newton's method finds a number rho that is almost the largest mean; what is returned is one for which sum of
    e (sign z - rho) is seen not to be positive, or the largest sign z.
    """
    side = 1 if sign > 0 else 0
    top = -np.inf
    for i in range(known):
        top = max(top, sign * z[i, side])
    for i in range(len(tail_e)):
        top = max(top, sign * tail_z[i, 0, side], sign * tail_z[i, 1, side])
    rho = -np.inf
    for _ in range(8):
        above, below = 0.0, 0.0
        for i in range(known):
            value = sign * z[i, side]
            weight = e[i, 1] if value >= rho else e[i, 0]
            above, below = above + weight * value, below + weight
        for i in range(len(tail_e)):
            zero, one = sign * tail_z[i, 0, side], sign * tail_z[i, 1, side]
            a = tail_e[i, 0, 1] if zero >= rho else tail_e[i, 0, 0]
            b = tail_e[i, 1, 1] if one >= rho else tail_e[i, 1, 0]
            if rho == -np.inf or a * (zero - rho) >= b * (one - rho):
                above, below = above + a * zero, below + a
            else:
                above, below = above + b * one, below + b
        if not below > 0.0 or not above / below > rho:
            break
        rho = above / below
    if not rho > -np.inf:
        return top
    room = 2.0**-46 * (abs(rho) + abs(top)) + 2.0**-500
    for _ in range(8):
        total = 0.0
        for i in range(known):
            total = up(total + _term(sign, sign * (rho + room), e[i], z[i, side]))
        for i in range(len(tail_e)):
            zero = _term(sign, sign * (rho + room), tail_e[i, 0], tail_z[i, 0, side])
            total = up(total + max(zero, _term(sign, sign * (rho + room), tail_e[i, 1], tail_z[i, 1, side])))
        if total <= 0.0:
            return min(rho + room, top)
        room *= 16.0
    return top


@njit(cache=True)
def _sums_by_ones(
    sign: float,
    rho: float,
    known: int,
    e: FloatArray,
    z: FloatArray,
    tail_e: FloatArray,
    tail_z: FloatArray,
    more: FloatArray,
    out: FloatArray,
) -> None:
    """At least the largest sum of e (sign z - rho), by the number of symbols 1 in the tail; `more` is for its use.

    The symbol 1 stands where it adds most.
    """
    side, n, total = 1 if sign > 0 else 0, len(tail_e), 0.0
    for i in range(known):
        total = up(total + _term(sign, sign * rho, e[i], z[i, side]))
    for i in range(n):
        zero = _term(sign, sign * rho, tail_e[i, 0], tail_z[i, 0, side])
        gain = up(_term(sign, sign * rho, tail_e[i, 1], tail_z[i, 1, side]) - zero)
        total = up(total + zero)
        place = i
        while place > 0 and more[place - 1] < gain:
            more[place] = more[place - 1]
            place -= 1
        more[place] = gain
    out[0] = total
    for ones in range(n):
        out[ones + 1] = up(out[ones] + more[ones])


@njit(cache=True)
def _chord(last: float, rho: float, before: float, now: float) -> float:
    """At least the point where the chord from (last, before), above 0, to (rho, now), which is not, meets 0."""
    share = min(up(before / down(before - now)), 1.0) if before - now > 0.0 else 1.0
    return min(up(last + up(up(rho - last) * share)), rho)


def exponentials(logits: FloatArray, table: FloatArray) -> FloatArray:
    """The exponentials of intervals, shape (..., 2); NaN stays."""
    return _exponentials(np.ascontiguousarray(logits).reshape(-1, 2), table).reshape(logits.shape)


@njit(cache=True)
def _exponentials(logits: FloatArray, table: FloatArray) -> FloatArray:
    out = np.full(logits.shape, np.nan)
    for i in range(len(logits)):
        if not np.isnan(logits[i, 0]):
            out[i, 0], out[i, 1] = exp_low(logits[i, 0], table), exp_high(logits[i, 1], table)
    return out


@njit(cache=True)
def extreme_ratios(
    t: int, known: int, final: int, grid: FloatArray, e: FloatArray, v: FloatArray, front: FloatArray
) -> FloatArray:
    """Bounds of sum_j e_j v_j / sum_j e_j over all sequences of each class that end with `known` given symbols.

    A class has n steps from 0 to 0 and c changes; the bounds are in out[n, c], NaN where there is no such sequence.

    Args:
        t: more than known.
        known: at least 2.
        final: the code of the last symbols.
        grid: increasing; it begins below and ends above all v_j.
        e, v: by position, last symbols and number of symbols 1 before them, shapes (t, 2^known, t, 2).
        front: e and v of rows in front, shape (2, r, 2).
    """
    out = np.full((t, t, 2), np.nan)
    before = np.empty((t, t))
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        last = 0.0
        for g in range(len(grid)):
            rho = grid[g] if side == 1 else -grid[len(grid) - 1 - g]
            largest = _largest_sums(t, known, final, sign, sign * rho, e, v, front)
            for n in range(t):
                for changes in range(t - n):
                    now = largest[n, changes]
                    if now > -np.inf and now <= 0.0 and np.isnan(out[n, changes, side]):
                        bound = rho if g == 0 else _chord(last, rho, before[n, changes], now)
                        out[n, changes, side] = sign * bound
                    elif g == len(grid) - 1 and now > -np.inf and np.isnan(out[n, changes, side]):
                        out[n, changes, side] = sign * rho  # no mean is beyond all v_j
            before, last = largest, rho
    return out


@njit(cache=True)
def _largest_sums(
    t: int, known: int, final: int, sign: float, rho: float, e: FloatArray, v: FloatArray, front: FloatArray
) -> FloatArray:
    """The largest sign sum_j e_j (v_j - rho) of the sequences of every class, by dynamic programming."""
    states = 2 ** (known - 1)
    side = 1 if sign > 0 else 0
    start = 0.0
    for row in range(front.shape[1]):
        start = up(start + _term(sign, rho, front[0, row], front[1, row, side]))
    best = np.full((states, t, t), -np.inf)
    for x in range(2):
        best[x, 0, 0] = up(start + _term(sign, rho, e[0, x, 0], v[0, x, 0, side]))
    for j in range(1, t):
        new = np.full((states, t, t), -np.inf)
        old = 2 ** min(j, known - 1)
        for code in range(old):
            for x in range(2):
                full = 2 * code + x
                if j == t - 1 and full != final:
                    continue
                terms = np.empty(j + 2 - min(j + 1, known))
                for ones in range(len(terms)):
                    terms[ones] = _term(sign, rho, e[j, full, ones], v[j, full, ones, side])
                target = full % states
                stay = 1 if full & 3 == 0 else 0
                change = 1 if (full & 1) != ((full >> 1) & 1) else 0
                for n in range(j):
                    for changes in range(j - n):
                        value = best[code, n, changes]
                        if value > -np.inf:
                            value = up(value + terms[_ones_before(j, known, full, n + stay, changes + change)])
                            if value > new[target, n + stay, changes + change]:
                                new[target, n + stay, changes + change] = value
        best = new
    return best[final % states]


@njit(cache=True)
def _term(sign: float, rho: float, e: FloatArray, v: float) -> float:
    """An upper bound of sign e (v - rho) for the weights e of an interval."""
    gap = up(sign * (v - rho))
    return up(gap * (e[1] if gap >= 0.0 else e[0]))


def least_totals(t: int, known: int, final: int, e: FloatArray, front: FloatArray) -> FloatArray:
    """The least sum_j e_j of the sequences of every class, or less; infinite where there is none."""
    ones = np.stack([front[0], np.ones_like(front[0])])
    return -_largest_sums(t, known, final, -1.0, 0.0, e, np.ones_like(e), ones)


@njit(cache=True)
def sums_of_squares(t: int, known: int, final: int, terms: FloatArray) -> FloatArray:
    """Sums over the sequences of every class of X_a = sum_j x_a(j) and of X_a^2, and of X_0 X_1, by [n, e].

    No number is negative, so that each result is off by at most 2^-42 of itself: from one position to the next no more
    than 12 roundings follow one another, and none underflows if numbers that are not 0 lie between 2^-400 and 2^300.

    Args:
        t, known, final: as for `extreme_ratios`, t <= 62.
        terms: x_a(j) by position, last symbols and number of symbols 1 before them, shape (t, 2^known, t, A).

    Returns:
        X_0, ..., X_(A-1), X_0^2, ..., X_(A-1)^2, X_0 X_1, shape (t, t, 2 A + 1).
    """
    states, A = 2 ** (known - 1), terms.shape[3]
    sums = np.zeros((states, t, t, 2 * A + 2))  # the last one is the number of sequences
    for x in range(2):
        sums[x, 0, 0, -1] = 1.0
        for a in range(A):
            sums[x, 0, 0, a], sums[x, 0, 0, A + a] = terms[0, x, 0, a], terms[0, x, 0, a] * terms[0, x, 0, a]
        sums[x, 0, 0, 2 * A] = terms[0, x, 0, 0] * terms[0, x, 0, 1]
    for j in range(1, t):
        new = np.zeros_like(sums)
        for code in range(2 ** min(j, known - 1)):
            for x in range(2):
                full = 2 * code + x
                if j == t - 1 and full != final:
                    continue
                stay = 1 if full & 3 == 0 else 0
                change = 1 if (full & 1) != ((full >> 1) & 1) else 0
                for n in range(j):
                    for changes in range(j - n):
                        old = sums[code, n, changes]
                        if old[-1] > 0.0:
                            term = terms[j, full, _ones_before(j, known, full, n + stay, changes + change)]
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
