"""Legal files of algebraic margins that take the kernel long: every limit, and pairs of limits, driven to the end.

A document over the zeros of f becomes one over those of f(p), p a polynomial with p(theta) for the old theta. Neurons,
masses and vectors of the kernel are multiplied by numbers with large coefficients, and each of them is listed again.
The table may get empty rows: in their variables y the form s|x|^4 has the squares of all x_i y_j and y_i y_j more.
"""

import json
import random
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

from flint import fmpq, fmpz_poly

from lemmata.certificates import algebraic_kernel
from tests.certificates.algebraic_kernel.corpus import rational_document

Document = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """What is driven.

    Attributes:
        field: the degree of p.
        f: bits of its coefficients.
        factor: bits of the coefficients of factors.
        vectors, neurons: how many are listed at least.
        rows: that are empty.
        claim: the degree of the claimed polynomial, at least.
        places: of its decimals.
        bits: of theta.
    """

    field: int = 1
    f: int = 2
    factor: int = 1
    vectors: int = 0
    neurons: int = 0
    rows: int = 0
    claim: int = 0
    places: int = 12
    bits: int = algebraic_kernel.MAX_FIELD_BITS


def driven(base: Document, size: Size) -> Document:
    """A document that proves the same, but for the empty rows, and takes longer."""
    value = with_rows(base, size.rows)
    source = random.Random(1)
    old, bits = value["field"], size.bits
    f = fmpz_poly([int(c) for c in old["polynomial"]] + [1])
    p = fmpz_poly([0, *(source.getrandbits(size.f) + 1 for _ in range(size.field - 1)), 1])
    p -= p(1) - (int(old["low"]) >> old["bits"]) + 1  # p(1) is below the old theta, p(3) is above
    new = f(p)
    d = new.degree()
    ends = [fmpq(int(old["low"]) + i, 2 ** old["bits"]) for i in (0, 1)]
    rises = f(ends[1]) > 0

    def below(x: fmpq) -> bool:
        y = p(x)
        return y <= ends[0] or (y < ends[1] and (f(y) < 0) == rises)

    low, high = 1 << bits, 3 << bits
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(fmpq(middle, 1 << bits)) else (low, middle)
    value["field"] = {"polynomial": [str(int(new[i])) for i in range(d)], "low": str(low), "bits": bits}

    def number(a: Any, factor: fmpz_poly) -> Any:
        if not a:
            return 0
        product = fmpz_poly([int(c) for c in a])(p) * factor % new
        return [str(int(product[i])) for i in range(d)]

    def dense() -> fmpz_poly:
        return fmpz_poly([source.getrandbits(size.factor) + 1 for _ in range(size.field if size.factor > 1 else 1)])

    def repeated(listed: list[Any], count: int) -> list[Any]:
        return [listed[i % len(listed)] for i in range(max(len(listed), count // len(listed) * len(listed)))]

    one, proof, network = fmpz_poly([1]), value["proof"], value["network"]
    value["multipliers"]["values"] = [number(q, one) for q in value["multipliers"]["values"]]
    proof["square"] = number(proof["square"], one)
    proof["matrix"] = [[number(a, one) for a in row] for row in proof["matrix"]]
    factor, mass = dense(), dense()
    vectors = [[number(a, factor) for a in v] for v in proof["kernel"]]
    neurons = [[number(a, factor) for a in x] for x in network["neurons"]]
    proof["kernel"] = repeated(vectors, size.vectors)
    network["neurons"] = repeated(neurons, size.neurons)
    network["masses"] = repeated([number(a, mass) for a in network["masses"]], size.neurons)
    return with_claim(value, size)


def with_rows(base: Document, more: int) -> Document:
    """A copy with empty rows."""
    value = json.loads(json.dumps(base))
    rows = value["table"]["values"]
    A, N, C = len(rows), len(rows) + len(rows[0]), value["table"]["labels"]
    place = [*range(A), *range(A + more, N + more)]  # of the old variables
    rows += [[-1] * len(rows[0])] * more
    proof, network = value["proof"], value["network"]
    square = proof["square"]
    old = [*combinations_with_replacement(place, 2), *((N + more + k,) for k in range(C))]
    new = [*combinations_with_replacement(range(N + more), 2), *((N + more + k,) for k in range(C))]
    number = {m: i for i, m in enumerate(old)}
    twice = [str(2 * int(c)) for c in square]

    def entry(m: tuple[int, ...], k: tuple[int, ...]) -> Any:
        if m in number and k in number:
            i, j = number[m], number[k]
            return proof["matrix"][max(i, j)][min(i, j)]
        return 0 if m != k else square if m[0] == m[1] else twice

    proof["matrix"] = [[entry(m, k) for k in new[: i + 1]] for i, m in enumerate(new)]
    proof["kernel"] = [[v[number[m]] if m in number else 0 for m in new] for v in proof["kernel"]]
    network["neurons"] = [[*x[:A], *([0] * more), *x[A:]] for x in network["neurons"]]
    return value


def with_claim(value: Document, size: Size) -> Document:
    """The same with longer decimals, and a claimed polynomial of large degree."""
    margin = value["margin"]
    exact = fmpz_poly([int(c) for c in margin["exact"]])
    places, more = size.places, size.places - 12
    low, high = (int(margin[side][2:]) * 10 ** (places - len(margin[side]) + 2) for side in ("lower", "upper"))

    def side(units: int) -> bool:
        return sum(int(c) * units ** (2 * i) * 100 ** (places * (exact.degree() - i)) for i, c in enumerate(exact)) > 0

    below = side(low)
    while high - low > 1 and more > 0:
        middle = (low + high) // 2
        low, high = (middle, high) if side(middle) == below else (low, middle)
    if more > 0:
        margin["lower"], margin["upper"] = f"0.{low:0{places}d}", f"0.{high:0{places}d}"
    exact *= fmpz_poly([10**9 + i for i in range(max(size.claim - exact.degree(), 0) + 1)])
    margin["exact"] = [str(int(c)) for c in exact.coeffs()]
    return value


WORST: dict[str, tuple[Size, Size]] = {
    "long numbers": (Size(3, 40, 300, neurons=6, bits=1500), Size(4, 1000, 5900, neurons=280)),
    "a large degree": (Size(6, 10, 60, bits=1500), Size(13, 10, 5900, neurons=27)),
    "many neurons": (Size(neurons=20), Size(neurons=21_000)),
    "a large matrix": (Size(rows=1, vectors=8), Size(rows=23, vectors=6)),
    "a long claim": (Size(places=60, claim=20), Size(places=1780, claim=64)),
}
"""Of each family a small size and one near the limits, for a table of the margin 1/(3 sqrt 3)."""


def worst_document(size: Size) -> Document:
    """The document of a size."""
    return driven(rational_document(), size)
