"""How far the checker of Checker.v has to look to see that a matrix is positive semidefinite.

It factors 4^b times the matrix in integers, last row first, and takes the remainders of a row from the diagonal. The
functions here follow it step by step (`factors`, `eliminates` in Checker.v), so that a file states the least b that
serves, from a few candidates: less work for Coq. They are no proof of anything; Coq computes everything again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

__all__ = ["factor_bits"]

CANDIDATES = (16, 20, 24, 28, 32, 40, 48, 64)
"""Of b. About 20 serve where a proof was rounded to 44 bits with the usual room."""

Rows = list[list[int]]


def factor_bits(lower: Sequence[Sequence[int]]) -> int | None:
    """The ``bits`` of a proof in Checker.v: the least candidate, 0 for elimination, None where neither serves.

    Args:
        lower: the lower triangle of the matrix, rows of 1, 2, 3, .. integers.
    """
    rows = [list(reversed(row)) for row in reversed(lower)]
    for bits in CANDIDATES:
        if _factors(rows, bits):
            return bits
    return 0 if _eliminates(rows) else None


def _factors(upper: Rows, bits: int) -> bool:
    rest = [[entry << (2 * bits) for entry in row] for row in upper]
    while rest:
        m, *row = rest.pop(0)
        if m == 0:
            if any(row):
                return False
            continue
        room = m - len(row) * (isqrt(max(m, 0)) // 2 + 1)
        pivot = isqrt(room) if room > 0 else 0
        if pivot <= 0:
            return False
        quotients = [(2 * entry + pivot) // (2 * pivot) for entry in row]
        errors = [abs(entry - pivot * quotient) for entry, quotient in zip(row, quotients, strict=True)]
        if sum(errors) > m - pivot * pivot:
            return False
        for i, quotient in enumerate(quotients):
            rest[i] = [entry - quotient * other for entry, other in zip(rest[i], quotients[i:], strict=True)]
            rest[i][0] -= errors[i]
    return True


def _eliminates(upper: Rows) -> bool:
    rest, last = [list(row) for row in upper], 1
    while rest:
        m, *row = rest.pop(0)
        if m < 0 or (m == 0 and any(row)):
            return False
        if m == 0:
            continue
        scaled = [
            [m * entry - row[i] * other for entry, other in zip(rest[i], row[i:], strict=True)] for i in range(len(row))
        ]
        if any(entry % last for line in scaled for entry in line):
            return False
        rest, last = [[entry // last for entry in line] for line in scaled], m
    return True
