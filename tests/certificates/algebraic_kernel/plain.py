"""Documents of algebraic margins, judged by their description in ALGEBRAIC_FORMAT.md alone, slowly.

Nothing here is shared with the kernel, which reduces lists of integers and encloses them by powers of one interval:
theta is a ball among all zeros of f, numbers live modulo the factor of f that vanishes there, the identity is evaluated
at random points, and P is eliminated exactly.
"""

import random
import re
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

from flint import acb, arb, ctx, fmpq, fmpq_poly, fmpz_poly

Document = dict[str, Any]
KEYS = {
    "": "format version table field multipliers proof network margin gap grade",
    "table": "name labels values",
    "field": "polynomial low bits",
    "multipliers": "denominator values",
    "proof": "kind denominator square matrix kernel",
    "network": "neurons masses",
    "margin": "exact lower upper",
}
BITS = 3000
DECIMAL = r"(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[1-9][0-9]{0,2})?"


class ShapeError(Exception):
    """A part of a document is not as the format asks."""


def ask(fits: bool) -> None:
    """ShapeError unless that is so."""
    if not fits:
        raise ShapeError


def digits(value: Any) -> int:
    """An integer in a string."""
    ask(type(value) is str and re.fullmatch(r"0|-?[1-9][0-9]{0,1999}", value) is not None and len(value) <= 2000)
    return int(value)


def listed(value: Any, low: int, high: int) -> list[Any]:
    """A list of so many entries."""
    ask(type(value) is list and low <= len(value) <= high)
    return value


class Reals:
    """The field of a document: exact zeros, and signs of balls."""

    def __init__(self, field: Document) -> None:
        coefficients = [digits(c) for c in listed(field["polynomial"], 1, 64)]
        low, bits = digits(field["low"]), field["bits"]
        ask(low >= 1 and type(bits) is int and 0 <= bits <= 6000)
        self.degree = len(coefficients)
        ends = fmpq(low) / fmpq(2) ** bits, fmpq(low + 1) / fmpq(2) ** bits
        f = fmpz_poly([*coefficients, 1])
        inside = []
        for factor, multiplicity in f.factor()[1]:
            for root in zeros(factor):
                at_an_end = next((end for end in ends if factor(end) == 0 and root.contains(arb(end))), None)
                if at_an_end is not None or (root > arb(ends[0]) and root < arb(ends[1])):
                    inside.append((factor, root, multiplicity))
        ask(len(inside) == 1 and inside[0][2] == 1)
        self.modulus, self.theta = fmpq_poly(inside[0][0].coeffs()), inside[0][1]

    def number(self, value: Any) -> fmpq_poly:
        """A number of the document."""
        if type(value) is int:
            ask(value == 0)
            return fmpq_poly([0])
        return fmpq_poly([digits(c) for c in listed(value, self.degree, self.degree)]) % self.modulus

    def sign(self, a: fmpq_poly) -> int:
        """The sign of a."""
        a = a % self.modulus
        if a == 0:
            return 0
        ball = arb(0)
        for c in reversed(a.coeffs()):
            ball = ball * self.theta + arb(fmpq(c))
        assert ball > 0 or ball < 0, "the precision decides every number of these sizes"
        return 1 if ball > 0 else -1

    def inverse(self, a: fmpq_poly) -> fmpq_poly:
        """1/a."""
        common, factor, _ = (a % self.modulus).xgcd(self.modulus)
        return factor / common[0]

    def semidefinite(self, matrix: list[list[fmpq_poly]]) -> bool:
        """Whether a symmetric matrix is positive semidefinite, by exact elimination."""
        rest = [[entry % self.modulus for entry in row] for row in matrix]
        for k in range(len(rest)):
            sign = self.sign(rest[k][k])
            if sign < 0 or (sign == 0 and any(rest[i][k] != 0 for i in range(k, len(rest)))):
                return False
            if sign:
                inverse = self.inverse(rest[k][k])
                for i in range(k + 1, len(rest)):
                    factor = rest[i][k] * inverse % self.modulus
                    for j in range(k + 1, len(rest)):
                        rest[i][j] = (rest[i][j] - factor * rest[k][j]) % self.modulus
        return True


def zeros(polynomial: fmpz_poly) -> list[arb]:
    """The real zeros of an irreducible polynomial, as balls."""
    result = []
    roots: Any = polynomial.complex_roots()
    for root, _ in roots:
        if root.imag.contains(0):
            conjugates = [one for one, _ in roots if one.overlaps(acb(root.real, -root.imag))]
            assert len(conjugates) == 1, "a zero whose ball meets the axis alone is real"
            result.append(root.real)
    return result


def proves(document: Document) -> bool:
    """Whether a document has the format, and all that it says is so."""
    before, ctx.prec = ctx.prec, BITS
    try:
        return _proves(document)
    except ShapeError:
        return False
    finally:
        ctx.prec = before


def _proves(document: Document) -> bool:
    for name, names in KEYS.items():
        part = document[name] if name else document
        ask(type(part) is dict and sorted(part) == sorted(names.split()))
    ask((document["format"], document["version"]) == ("lemmata/algebraic-margin", 1))
    ask(type(document["version"]) is int and (document["gap"], document["grade"]) == ("0", "exact"))
    table, proof = document["table"], document["proof"]
    ask(proof["kind"] == "degree 4")
    ask(
        type(table["name"]) is str and len(table["name"]) <= 2000 and re.fullmatch(r"[ -~]*", table["name"]) is not None
    )
    C, values = table["labels"], listed(table["values"], 1, 200)
    ask(type(C) is int and 2 <= C <= 200)
    for row in values:
        listed(row, len(listed(values[0], 1, 200)), len(values[0]))
        ask(all(type(y) is int and -1 <= y < C for y in row))
    A, N = len(values), len(values) + len(values[0])
    triples = [
        (a, b, y, c) for a, row in enumerate(values) for b, y in enumerate(row) if y >= 0 for c in range(C) if c != y
    ]
    ask(bool(triples))
    reals = Reals(document["field"])
    number = reals.number

    unit = digits(document["multipliers"]["denominator"])
    q = [number(x) for x in listed(document["multipliers"]["values"], len(triples), len(triples))]
    denominator, n = digits(proof["denominator"]), N * (N + 1) // 2 + C
    ask(unit > 0 and denominator > 0)
    matrix = [[number(x) for x in listed(row, i + 1, i + 1)] for i, row in enumerate(listed(proof["matrix"], n, n))]
    for v in listed(proof["kernel"], 0, n):
        full = [number(x) for x in listed(v, n, n)]
        rows = (matrix[i] + [matrix[j][i] for j in range(i + 1, n)] for i in range(n))
        if any(
            sum((a * b for a, b in zip(row, full, strict=True)), fmpq_poly([0])) % reals.modulus != 0 for row in rows
        ):
            return False
    s = number(proof["square"]) / denominator
    P = [[matrix[max(i, j)][min(i, j)] / denominator for j in range(n)] for i in range(n)]
    q = [x / unit for x in q]
    if sum(q, fmpq_poly([0])) % reals.modulus != 1 or any(reals.sign(x) < 0 for x in q):
        return False

    def outputs(x: list[Any]) -> list[fmpq_poly]:
        found = [fmpq_poly([0]) for _ in range(C)]
        for (a, b, y, c), weight in zip(triples, q, strict=True):
            answer = weight * (x[a] + x[A + b]) ** 2
            found[y], found[c] = found[y] + answer, found[c] - answer
        return [one % reals.modulus for one in found]

    source = random.Random(7)
    for _ in range(4):
        x, z = ([fmpq_poly([source.randrange(2**50)]) for _ in range(count)] for count in (N, C))
        m = [x[i] * x[j] for i, j in combinations_with_replacement(range(N), 2)] + z
        left = sum((P[i][j] * m[i] * m[j] for i, j in product(range(n), repeat=2)), fmpq_poly([0]))
        norm = sum((one * one for one in x), fmpq_poly([0]))
        right = s * norm**2 + sum((k * k - 2 * k * form for k, form in zip(z, outputs(x), strict=True)), fmpq_poly([0]))
        if (left - right) % reals.modulus != 0:
            return False

    count = len(listed(document["network"]["neurons"], 1, 10**6))
    shares = [number(p) for p in listed(document["network"]["masses"], count, count)]
    totals, size = dict.fromkeys(triples, fmpq_poly([0])), fmpq_poly([0])
    for neuron, share in zip(document["network"]["neurons"], shares, strict=True):
        x = [number(one) for one in listed(neuron, N, N)]
        M, length = outputs(x), sum((one * one for one in x), fmpq_poly([0]))
        if reals.sign(share) <= 0 or sum((one * one for one in M), -s * length**2) % reals.modulus != 0:
            return False
        size = size + share * length**2
        for a, b, y, c in triples:
            totals[a, b, y, c] = totals[a, b, y, c] + share * (x[a] + x[A + b]) ** 2 * (M[y] - M[c])
    if reals.sign(size) <= 0 or any(reals.sign(total - s * size) < 0 for total in totals.values()):
        return False

    lower, upper = document["margin"]["lower"], document["margin"]["upper"]
    for text in (lower, upper):
        ask(type(text) is str and len(text) <= 2000 and re.fullmatch(DECIMAL, text) is not None)
    places = [len(text.partition("e")[0].partition(".")[2]) for text in (lower, upper)]
    ask(places[0] == places[1] and lower.partition("e")[2] == upper.partition("e")[2])
    step = Fraction(10) ** (int(lower.partition("e")[2] or 0) - places[0])
    low, high = Fraction(lower), Fraction(upper)
    square = s * 4 / 27
    if low <= 0 or high - low != step:
        return False
    if reals.sign(square - rational(low**2)) < 0 or reals.sign(square - rational(high**2)) > 0:
        return False
    claimed = fmpz_poly([digits(c) for c in listed(document["margin"]["exact"], 2, 65)])
    if claimed.degree() < 1 or fmpq_poly(claimed.coeffs())(square) % reals.modulus != 0:
        return False
    between = [
        root
        for factor, _ in claimed.factor()[1]
        for root in zeros(factor)
        if root > arb(rational(low**2)[0]) and root < arb(rational(high**2)[0])
    ]
    ends = [end for end in (low**2, high**2) if fmpq_poly(claimed.coeffs())(fmpq(end.numerator, end.denominator)) == 0]
    return len(between) + len(ends) == 1 and reals.semidefinite(P)


def rational(x: Fraction) -> fmpq_poly:
    """A fraction as a number."""
    return fmpq_poly([fmpq(x.numerator, x.denominator)])
