"""Kernels that run a decoder of sparse integer layers over bits; an index of past keys answers its hard attention.

The stream is a vector of bits h. The weights are one array of integers (`DecoderProgram.code`), read from the first
layer to the last in every step:

    form       constant, n, n times (coordinate, weight): the number constant + sum of weight h[coordinate]
    layer      self, cross, map
    self       0; or 1, digits, forms (base, null, one per place, one per digit), n, n times a value
    value      coordinate, constant, bit, weight, null: a match adds constant + weight (stored bit, -1 for none)
               to the coordinate, the null pair adds null
    cross      0; or 1, forms (base, null, one per bit of the keys), n, n times (coordinate, row of values, null)
    map        n, n copies (target, source); n, n rows; n, n constants (target, bit)
    row        target, scale, bias, n, n inner units (forms), n, n outer units
    outer      bias, weight, n, n times (inner unit, weight)

A row is a network of three ReLU layers whose output relu(...) / scale must be a bit. INDEX.md proves that hard
attention is a look-up (sections 1 and 2) and lists what is checked in integers at every step (section 3); where a check
fails the run stops with a `Fault`.

Source: turing, lemma-C.3, claims C.4 to C.6, lemma-C.7.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["CrossIndex", "DecoderProgram", "Fault", "Readout", "Records", "TimeIndex", "run_decoder"]

Ints = NDArray[np.int64]


class Fault(IntEnum):
    """The reason why a run stopped before its end; the place is a layer and a coordinate of the stream."""

    NONE = 0
    MAP_NOT_BINARY = 1  # a token-wise map put out another number than 0 and 1
    ATTENTION_NOT_BINARY = 2  # adding a value gave another number than 0 and 1
    NO_GAP = 3  # the best key need not be a full match
    TIE = 4  # a full match and the null pair score the same
    TIME_CODE = 5  # the stream does not hold the digits of the time
    POSITION_NOT_FREE = 6  # the positional encoding meets a coordinate that is not 0


_MAP_NOT_BINARY, _ATTENTION_NOT_BINARY, _NO_GAP, _TIE, _TIME_CODE, _POSITION_NOT_FREE = map(int, list(Fault)[1:])


class DecoderProgram(NamedTuple):
    """The weights; see the head of this module.

    ``place`` are the coordinates that self-attention compares, ``time`` those of the positional encoding, most
    significant digit first, ``payload`` those that it copies: all three are read at the input of layer ``index_layer``.
    The keys of the encoder have ``cross_bits`` bits. The answer F after a step is the sum of ``answer_weights`` at the
    coordinates ``answer`` of the output, divided by ``answer_scale``.
    """

    code: Ints
    layers: int
    place: Ints
    time: Ints
    payload: Ints
    index_layer: int
    cross_bits: int
    answer: Ints
    answer_weights: Ints
    answer_scale: int


class CrossIndex(NamedTuple):
    """The encoder's outputs: sorted key codes, shape (m,), and values in the order of the codes, shape (rows, m)."""

    codes: Ints
    values: Ints


class TimeIndex(NamedTuple):
    """The past: the last time at each place (0: none), the time before it at the same place, the stored bits."""

    last: NDArray[np.int32]
    previous: NDArray[np.int32]
    payload: NDArray[np.uint8] | NDArray[np.uint64]


class Readout(NamedTuple):
    """The blocks of coordinates to decode: state, symbol and place after a step, the others before ``visit_layer``.

    These are the last visit, the symbol that the step wrote, and the cell where it did, as later steps find them.
    """

    state: Ints
    symbol: Ints
    place: Ints
    visit: Ints
    written: Ints
    cell: Ints
    visit_layer: int


class Records(NamedTuple):
    """The records of the steps, shape (n,) each: -1 where a block is not one-hot; answers before the division.

    The trace holds the stream before and after the map of every layer, shape (n, layers, 2, width), or n = 0.
    """

    states: NDArray[np.int16]
    symbols: NDArray[np.int16]
    places: Ints
    visits: NDArray[np.int32]
    written: NDArray[np.int16]
    cells: Ints
    answers: Ints
    trace: NDArray[np.uint8]


@njit(cache=True)
def _query(code: Ints, at: int, count: int, h: Ints) -> tuple[int, int, int]:
    """The answer to a query with ``count`` bits of the keys: the decision, the bits of a full match, the position.

    The decision is 1 if full matches win where there are any, 0 if the null pair wins always, else minus a fault. A tie
    of the null pair with a full match is a fault even where there is no full match.
    """
    bits, full, null, least = 0, 0, 0, 1 << 62
    for r in range(count + 2):
        c, stop = code[at], at + 2 + 2 * code[at + 1]
        for e in range(at + 2, stop, 2):
            c += code[e + 1] * h[code[e]]
        at = stop
        if r == 0:
            full = c
        elif r == 1:
            null = c
        elif c > 0:
            bits = 2 * bits + 1
            full += c
            least = min(least, c)
        else:
            bits = 2 * bits
            least = min(least, -c)
    if least <= 0 or null <= full - least:
        return -_NO_GAP, bits, at
    if full == null:
        return -_TIE, bits, at
    return (1 if full > null else 0), bits, at


@njit(cache=True)
def _search(
    code: Ints, at: int, h: Ints, places: int, times: int, last: NDArray[np.int32], previous: NDArray[np.int32]
) -> tuple[int, int, int]:
    """The last matching time, 0 where the null pair wins, or minus a fault; the links followed; the position."""
    digits = code[at]
    decision, bits, at = _query(code, at + 1, places + digits, h)
    if decision <= 0:
        return decision, 0, at
    place, prefix = bits >> digits, bits & ((1 << digits) - 1)
    low, high = prefix << (times - digits), ((prefix + 1) << (times - digits)) - 1
    walked, s = 0, int(last[place])
    while s > high:
        s = int(previous[s])
        walked += 1
    return (s if s >= low else 0), walked, at


@njit(cache=True)
def _add_values(code: Ints, at: int, h: Ints, stored: int, matched: bool) -> tuple[int, int]:
    """A coordinate that is no bit once the values of a match or the null pair are added, or -1; and the position."""
    first, stop = at + 1, at + 1 + 5 * code[at]
    for e in range(first, stop, 5):
        if matched:
            bit = (stored >> code[e + 2]) & 1 if code[e + 2] >= 0 else 0
            h[code[e]] += code[e + 1] + code[e + 3] * bit
        else:
            h[code[e]] += code[e + 4]
    for e in range(first, stop, 5):
        if h[code[e]] != 0 and h[code[e]] != 1:
            return code[e], stop
    return -1, stop


@njit(cache=True)
def _look_up(code: Ints, at: int, h: Ints, bits: int, codes: Ints, values: Ints) -> tuple[int, int, int]:
    """The fault of a layer's attention to the encoder or 0, its coordinate or -1, and the position."""
    decision, key, at = _query(code, at, bits, h)
    first, stop = at + 1, at + 1 + 3 * code[at]
    if decision < 0:
        return -decision, -1, stop
    token = np.searchsorted(codes, key)
    found = decision > 0 and token < len(codes) and codes[token] == key
    for e in range(first, stop, 3):
        h[code[e]] += values[code[e + 1], token] if found else code[e + 2]
    for e in range(first, stop, 3):
        if h[code[e]] != 0 and h[code[e]] != 1:
            return _ATTENTION_NOT_BINARY, code[e], stop
    return 0, -1, stop


@njit(cache=True)
def _map(code: Ints, at: int, h: Ints, new: Ints, unit: Ints) -> tuple[int, int]:
    """A coordinate that would be no bit after the token-wise map, made in place, or -1; and the position."""
    copies_at, copies = at + 1, code[at]
    for n in range(copies):
        new[n] = h[code[copies_at + 2 * n + 1]]
    at = copies_at + 2 * copies
    rows, at, changed = code[at], at + 1, copies
    for _ in range(rows):
        target, scale, total, inner = code[at], code[at + 1], code[at + 2], code[at + 3]
        at += 4
        for u in range(inner):
            value, stop = code[at], at + 2 + 2 * code[at + 1]
            for e in range(at + 2, stop, 2):
                value += code[e + 1] * h[code[e]]
            unit[u] = max(value, 0)
            at = stop
        outer = code[at]
        at += 1
        for _ in range(outer):
            value, weight, stop = code[at], code[at + 1], at + 3 + 2 * code[at + 2]
            for e in range(at + 3, stop, 2):
                value += code[e + 1] * unit[code[e]]
            total += weight * max(value, 0)
            at = stop
        if total > 0 and total != scale:
            return target, at
        new[changed], new[changed + 1] = target, total > 0
        changed += 2
    for n in range(copies):
        h[code[copies_at + 2 * n]] = new[n]
    for n in range(copies, changed, 2):
        h[new[n]] = new[n + 1]
    stop = at + 1 + 2 * code[at]
    for e in range(at + 1, stop, 2):
        h[code[e]] = code[e + 1]
    return -1, stop


@njit(cache=True)
def _code(h: Ints, coordinates: Ints) -> int:
    """The number with the bits of a block, most significant first."""
    code = 0
    for r in range(len(coordinates)):
        code = 2 * code + int(h[coordinates[r]])
    return code


@njit(cache=True)
def _single(h: Ints, coordinates: Ints) -> int:
    """The position of the only 1 in a block, or -1."""
    found = -1
    for r in range(len(coordinates)):
        if h[coordinates[r]]:
            if found >= 0:
                return -1
            found = r
    return found


@njit(cache=True)
def _add_position(h: Ints, coordinates: Ints, t: int) -> int:
    """A coordinate that was not free when the digits of the time were added, or -1."""
    for r in range(len(coordinates)):
        bit = (t >> (len(coordinates) - 1 - r)) & 1
        if bit and h[coordinates[r]]:
            return coordinates[r]
        h[coordinates[r]] += bit
    return -1


@njit(cache=True)
def _remember(
    h: Ints,
    t: int,
    time_at: Ints,
    place_at: Ints,
    payload_at: Ints,
    last: NDArray[np.int32],
    previous: NDArray[np.int32],
    payload: NDArray[np.uint8] | NDArray[np.uint64],
) -> bool:
    """Whether the stream holds the digits of the time t; if so, the step is added to the past. Time 0 leaves no key."""
    if t == 0:
        return True
    if _code(h, time_at) != t:
        return False
    place = _code(h, place_at)
    previous[t], last[place] = last[place], t
    stored = 0
    for r in range(len(payload_at)):
        stored |= h[payload_at[r]] << r
    payload[t] = stored
    return True


@njit(cache=True)
def run_decoder(
    program: DecoderProgram,
    cross: CrossIndex,
    index: TimeIndex,
    readout: Readout,
    h: Ints,
    time: int,
    halting: bool,
    records: Records,
) -> tuple[int, int, int, int, int]:
    """The outcome of the times time, time + 1, ... on the stream, until the answer is not 0 or the records are full.

    Args:
        program: the weights.
        cross: the encoder's outputs.
        index: the past, which is extended.
        readout: what to record.
        h: the stream as the last step left it, bits, shape (width,); changed.
        time: the number of the next step.
        halting: whether an answer other than 0 ends the run.
        records: what the steps put out, filled.

    Returns:
        The steps done, a `Fault`, its layer, its coordinate (-1: none), and the links followed in all searches.
    """
    # arrays are unpacked once, and attention is written out here: a call counts references to every array that it is
    # given, and a function for the attention of a layer, which needs nine, made a step slower by a seventh
    code, layers, place_at, time_at, payload_at, index_layer, cross_bits, answer_at, answer_weights, _ = program
    keys, cross_values = cross
    last, previous, payload = index
    state_at, symbol_at, head_at, visit_at, written_at, cell_at, visit_layer = readout
    states, symbols, heads, visits, written, cells, answers, trace = records
    new, unit = np.zeros(2 * len(h), np.int64), np.zeros(4 * len(h), np.int64)
    walked, steps, places, times = 0, len(states), len(place_at), len(time_at)
    for n in range(steps):
        t, at = time + n, 0
        wrong = _add_position(h, time_at, t)
        if wrong >= 0:
            return n, _POSITION_NOT_FREE, 0, wrong, walked
        for layer in range(layers):
            if layer == visit_layer:
                visits[n], written[n], cells[n] = _code(h, visit_at), _single(h, written_at), _code(h, cell_at)
            if layer == index_layer and not _remember(h, t, time_at, place_at, payload_at, last, previous, payload):
                return n, _TIME_CODE, layer, -1, walked
            at += 1
            if code[at - 1]:
                match, links, at = _search(code, at, h, places, times, last, previous)
                if t == 0:
                    match = 0  # nothing has been seen but the null pair
                if match < 0:
                    return n, -match, layer, -1, walked
                walked += links
                wrong, at = _add_values(code, at, h, int(payload[match]), match > 0)
                if wrong >= 0:
                    return n, _ATTENTION_NOT_BINARY, layer, wrong, walked
            at += 1
            if code[at - 1]:
                fault, wrong, at = _look_up(code, at, h, cross_bits, keys, cross_values)
                if fault:
                    return n, fault, layer, wrong, walked
            if len(trace):
                for c in range(len(h)):  # assigned slices would compile their error messages, which takes seconds
                    trace[n, layer, 0, c] = h[c]
            wrong, at = _map(code, at, h, new, unit)
            if wrong >= 0:
                return n, _MAP_NOT_BINARY, layer, wrong, walked
            if len(trace):
                for c in range(len(h)):
                    trace[n, layer, 1, c] = h[c]
        states[n], symbols[n] = _single(h, state_at), _single(h, symbol_at)
        heads[n], answer = _code(h, head_at), 0
        for r in range(len(answer_at)):
            answer += answer_weights[r] * h[answer_at[r]]
        answers[n] = answer
        if halting and answer != 0:
            return n + 1, 0, 0, -1, walked
    return steps, 0, 0, -1, walked
