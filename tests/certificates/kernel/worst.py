"""Legal files that take the kernel long: every limit, and pairs of limits that multiply, driven to the end.

Groups and characters come from formulas, and so does a pair of players: for k = 3 factors all weights are rational, and
the masses y = d/n and the weights u = |C|/n are feasible for every group, by the orthogonality of the characters:

    sum_chi (d/n) (d - Re chi(C)) = 1 for C != {1},      sum_C (|C|/n) (d - Re chi(C)) = d <= d nu = w.

So the files are valid, of grade ``enclosed`` (or ``exact`` where every nu is 1), unless a part is forged on purpose.
"""

import itertools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from lemmata.certificates import kernel
from lemmata.certificates.characters.families import symmetric_characters
from lemmata.constructions.representations.young import partitions

Terms = dict[int, int]
FACTORS = 3
PLACES = 12


@dataclass(frozen=True)
class Table:
    """A group of permutations with its classes and characters, values as {exponent: coefficient}."""

    name: str
    generators: list[list[int]]
    representatives: list[list[int]]
    sizes: list[int]
    inverses: list[int]
    squares: list[int]
    root_order: int
    rows: list[list[Terms]]
    indicators: list[int]
    weights: list[Fraction] = field(default_factory=list)
    masses: list[Fraction] = field(default_factory=list)

    @property
    def order(self) -> int:
        return sum(self.sizes)


def document(table: Table, factors: int = FACTORS, order: int | None = None) -> dict[str, Any]:
    """The document of a table for an odd number of factors; ``order``: another claim."""
    n = table.order
    degrees = [row[0].get(0, 0) if len(row[0]) == 1 else sum(row[0].values()) for row in table.rows]
    masses = table.masses or [Fraction(0 if i == 0 else d, n) for i, d in enumerate(degrees)]
    weights = table.weights or [Fraction(size if j else 0, n) for j, size in enumerate(table.sizes)]
    scales = [kernel.payoff_scale(d, s, factors) for d, s in zip(degrees, table.indicators, strict=True)]
    totals: list[kernel.Radicals] = [
        {1: sum((y * w[1] for y, w in zip(masses, scales, strict=True)), Fraction(0))},
        {1: sum(weights, Fraction(0))},
    ]
    exact = totals[0] == totals[1]
    low, high = (1 / kernel.reciprocal_margin(total, n, factors)[1] for total in totals)
    places = PLACES
    while low * 10**places < 1:
        places += 1
    units = low * 10**places // 1, -(-high * 10**places // 1)
    return {
        "format": "lemmata/group-margin",
        "version": 2,
        "group": {
            "name": table.name,
            "degree": len(table.generators[0]),
            "order": order or n,
            "generators": table.generators,
        },
        "factors": factors,
        "classes": [
            {
                "representative": p,
                "size": size,
                "inverse": inverse,
                "square": square,
                "scaled_weight": {"1": str(u)} if u else {},
            }
            for p, size, inverse, square, u in zip(
                table.representatives, table.sizes, table.inverses, table.squares, weights, strict=True
            )
        ],
        "characters": {
            "root_order": table.root_order,
            "rows": [
                {"values": [written(value) for value in row], "indicator": s, "scaled_mass": str(y)}
                for row, s, y in zip(table.rows, table.indicators, masses, strict=True)
            ],
        },
        "value": {"lower": kernel.text(totals[0]), "upper": kernel.text(totals[1])},
        "margin": {
            "exact": kernel.text(kernel.reciprocal_margin(totals[0], n, factors)) if exact else None,
            "lower": f"0.{int(units[0]):0{places}d}",
            "upper": f"0.{int(units[1]):0{places}d}",
        },
        "grade": "exact" if exact else "enclosed",
    }


def written(value: Terms) -> int | list[list[int]]:
    """A value as a document has it."""
    terms = sorted((e, c) for e, c in value.items() if c)
    if not terms or terms[-1][0] == 0:
        return sum(c for _, c in terms)
    return [[c, e] for e, c in terms]


def data(table: Table, **claims: Any) -> bytes:
    """The bytes of the document of a table."""
    return json.dumps(document(table, **claims), separators=(",", ":")).encode()


# ---- groups


def cycles(moduli: Sequence[int], exponents: Sequence[int]) -> list[int]:
    """The element with these exponents of a product of cyclic groups, on disjoint cycles."""
    images, start = [], 0
    for m, a in zip(moduli, exponents, strict=True):
        images += [start + (x + a) % m for x in range(m)]
        start += m
    return images


def abelian(moduli: Sequence[int], root_order: int | None = None) -> Table:
    """A product of cyclic groups; ``root_order``: a multiple of the least common multiple of their orders."""
    N = root_order or lcm(*moduli)
    elements = list(itertools.product(*map(range, moduli)))
    place = {x: i for i, x in enumerate(elements)}
    multiple = [[place[tuple(f * a % m for a, m in zip(x, moduli, strict=True))] for x in elements] for f in (-1, 2)]
    steps = [N // m for m in moduli]
    rows = [[{sum(a * b * s for a, b, s in zip(x, y, steps, strict=True)) % N: 1} for y in elements] for x in elements]
    indicators = [1 if all(2 * a % m == 0 for a, m in zip(x, moduli, strict=True)) else 0 for x in elements]
    units = [[int(i == j) for j in range(len(moduli))] for i in range(len(moduli))]
    return Table(
        "x".join(f"Z{m}" for m in moduli),
        [cycles(moduli, unit) for unit in units],
        [cycles(moduli, x) for x in elements],
        [1] * len(elements),
        multiple[0],
        multiple[1],
        N,
        rows,
        indicators,
    )


def dihedral(m: int, root_order: int | None = None) -> Table:
    """The symmetries of a polygon with an even number m of corners, order 2m, (m + 6)/2 classes."""
    N, half = root_order or m, m // 2
    step = N // m
    turn = [[(x + a) % m for x in range(m)] for a in range(half + 1)]
    flips = [[(a - x) % m for x in range(m)] for a in (0, 1)]
    rows = []
    for s, t in itertools.product((1, -1), repeat=2):  # the turn by 1 goes to s, the first flip to t
        rows.append([{0: s**a} for a in range(half + 1)] + [{0: t}, {0: s * t}])
    for h in range(1, half):
        pairs = [(h * a * step % N, -h * a * step % N) for a in range(half + 1)]
        rows.append([{x: 1, y: 1} if x != y else {x: 2} for x, y in pairs] + [{}, {}])
    return Table(
        f"D{m}",
        [turn[1], flips[0]],
        [*turn, *flips],
        [1, *([2] * (half - 1)), 1, half, half],
        list(range(half + 3)),
        [min(2 * a, m - 2 * a) for a in range(half + 1)] + [0, 0],
        N,
        rows,
        [1] * (half + 3),
    )


def symmetric(n: int) -> Table:
    """S_n by cycle types; the characters are those of the Murnaghan-Nakayama rule."""
    table = symmetric_characters(n)
    heads = [[x for cycle in cycles_of(shape) for x in cycle] for shape in reversed(list(partitions(n)))]
    return Table(
        f"S{n}",
        [[*range(1, n), 0], [1, 0, *range(2, n)]],
        heads,
        list(table.class_sizes),
        list(table.inverses),
        list(table.squares),
        1,
        [[{0: int(x.to_fmpq())} for x in row] for row in table.values],
        [1] * len(heads),
    )


def product(left: Table, right: Table) -> Table:
    """The direct product of two groups with rational characters, on disjoint points."""
    K, points = len(right.sizes), len(left.generators[0])
    pairs = list(itertools.product(range(len(left.sizes)), range(K)))

    def joined(p: list[int], q: list[int]) -> list[int]:
        return [*p, *(points + x for x in q)]

    e, f = list(range(points)), list(range(len(right.generators[0])))
    return Table(
        f"{left.name}x{right.name}",
        [joined(p, f) for p in left.generators] + [joined(e, q) for q in right.generators],
        [joined(left.representatives[i], right.representatives[j]) for i, j in pairs],
        [left.sizes[i] * right.sizes[j] for i, j in pairs],
        [left.inverses[i] * K + right.inverses[j] for i, j in pairs],
        [left.squares[i] * K + right.squares[j] for i, j in pairs],
        1,
        [[{0: integral(x[i]) * integral(y[j])} for i, j in pairs] for x in left.rows for y in right.rows],
        [s * t for s in left.indicators for t in right.indicators],
    )


def integral(value: Terms) -> int:
    """A rational character value, written with one term at most, of exponent 0 or half of an even root order."""
    return sum(value.values()) * (-1 if max(value, default=0) else 1)


def cycles_of(shape: Sequence[int]) -> list[list[int]]:
    """The images of 0, 1, .. under the cycles of these lengths, cycle by cycle."""
    images, start = [], 0
    for length in shape:
        images.append([start + (x + 1) % length for x in range(length)])
        start += length
    return images


# ---- what makes them slow


def inflated(table: Table, values: Callable[[int, int], bool], coefficient: int, cosets: int) -> Table:
    """Vanishing sums over roots of unity of prime order, added to the values at some (row, class), never to degrees.

    They change no number. ``coefficient`` and the number of ``cosets`` make the sum of absolute coefficients large.
    """
    N = table.root_order
    p = next(p for p in range(2, N + 1) if N % p == 0)
    rows = [list(row) for row in table.rows]
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if j and values(i, j):
                more = dict(value)
                for e in range(max(0, N // p - cosets), N // p):
                    for f in range(e, N, N // p):
                        more[f] = more.get(f, 0) + coefficient
                row[j] = more
    return replace(table, rows=rows)


def with_points(table: Table, degree: int) -> Table:
    """The same group on more points: they are fixed."""
    more = list(range(len(table.generators[0]), degree))
    return replace(
        table,
        generators=[g + more for g in table.generators],
        representatives=[p + more for p in table.representatives],
    )


def with_generators(table: Table, count: int, seed: int = 0) -> Table:
    """The same group with so many generators, random products of the given ones."""
    source = random.Random(seed)
    generators = [list(g) for g in table.generators]
    while len(generators) < count:
        p, q = source.choice(generators), source.choice(generators)
        generators.append([p[x] for x in q])
    return replace(table, generators=generators)


def near_zero(table: Table, digits: int) -> dict[str, Any]:
    """A document for two factors: weights p - q sqrt 2 that only thousands of bits tell from 0, and long masses.

    ``table`` needs a representation of dimension 2. The weights prove no bound, which is the last thing to be decided.
    """
    p, q = 1, 1
    while len(str(p)) < digits:
        p, q = p + 2 * q, p + q
    p, q = (p, q) if p * p > 2 * q * q else (p + 2 * q, p + q)
    d = document(table)
    d["factors"] = 2
    unit = 10 ** (1990 - digits) + 1
    while gcd(unit, p * q) > 1:
        unit += 2
    source = random.Random(0)
    for entry in d["classes"][1:]:
        entry["scaled_weight"] = {"1": str(Fraction(p, unit)), "2": str(Fraction(-q, unit))}
    for row in d["characters"]["rows"][1:]:
        row["scaled_mass"] = str(Fraction(source.randrange(10**digits), unit))
    return d


def longest(table: Table) -> Table:
    """The same values, each with a term of the last exponents, and one as long as the limit of coefficients allows."""
    N = table.root_order
    p = next(p for p in range(2, N + 1) if N % p == 0)
    every = inflated(table, lambda i, j: True, 1, 1)
    return inflated(every, lambda i, j: (i, j) == (1, 1), kernel.MAX_COEFFICIENTS // N - 3, N // p)


def dense(table: Table, terms: int) -> Table:
    """The same values, each with so many terms more."""
    N = table.root_order
    p = next(p for p in range(2, N + 1) if N % p == 0)
    return inflated(table, lambda i, j: True, 1, terms // p)


def forged(table: Table) -> Table:
    """Rows that differ on one of the largest classes alone, which therefore has to tell them apart."""
    count = len(table.sizes)
    far = max(range(count), key=table.sizes.__getitem__)
    rows = [[{0: i + 1 if j == far else 1} for j in range(count)] for i in range(count)]
    return replace(table, rows=rows, indicators=[1] * count, root_order=1)


def transpositions(n: int) -> Table:
    """S_n x Z_2, generated one transposition after the other: every generator is needed."""
    table = product(symmetric(n), abelian([2]))
    fixed = [n, n + 1]
    chain = [[*range(i), i + 1, i, *range(i + 2, n), *fixed] for i in range(n - 1)]
    return replace(table, generators=[*chain, [*range(n), n + 1, n]])


def keys(length: int) -> bytes:
    """An object of so many bytes with different keys."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = itertools.islice(itertools.product(letters, repeat=4), length // 9 - 1)
    return ("{" + ",".join(f'"{"".join(name)}":0' for name in names) + "}").encode()


@dataclass(frozen=True)
class Worst:
    """A family of legal files: the limits that it is at, its files by size, and the exit status for them."""

    limits: str
    status: int
    small: Callable[[], bytes]
    large: Callable[[], bytes]


def two(m: int) -> Table:
    return abelian([2] * m)


def gamma_of(table: Table, digits: int) -> bytes:
    return json.dumps(near_zero(table, digits), separators=(",", ":")).encode()


WORST = {
    "values of long terms": Worst(
        "root order, coefficients, work",
        0,
        lambda: data(longest(abelian([23], 138))),
        lambda: data(longest(abelian([223], 1338))),
    ),
    "several classes that separate": Worst(
        "root order, separating classes, work",
        0,
        lambda: data(longest(abelian([2] * 4, 200))),
        lambda: data(longest(abelian([2] * 6, 2000))),
    ),
    "many terms": Worst(
        "lists, root order, work",
        0,
        lambda: data(dense(abelian([6, 6], 60), 20)),
        lambda: data(dense(abelian([6, 6, 6], 600), 10)),
    ),
    "a large table": Worst("coordinates", 0, lambda: data(abelian([40])), lambda: data(abelian([464]))),
    "products of many classes": Worst("coordinates, work", 0, lambda: data(dihedral(60)), lambda: data(dihedral(722))),
    "many classes on many points": Worst(
        "bytes, images, work",
        0,
        lambda: data(with_points(dihedral(40), 400)),
        lambda: data(with_points(dihedral(600), 8300)),
    ),
    "a large group": Worst(
        "order, images, classes",
        0,
        lambda: data(with_points(transpositions(5), 27)),
        lambda: data(with_points(transpositions(9), 27)),
    ),
    "many generators": Worst(
        "order, generators",
        0,
        lambda: data(with_generators(product(symmetric(5), two(1)), 50)),
        lambda: data(with_generators(product(symmetric(9), two(1)), 50)),
    ),
    "characters that are none": Worst(
        "order, products, images",
        1,
        lambda: data(with_points(forged(product(symmetric(5), two(1))), 27)),
        lambda: data(with_points(forged(product(symmetric(9), two(1))), 27)),
    ),
    "a large class on many points": Worst(
        "bytes, classes, work",
        1,
        lambda: data(with_points(forged(dihedral(20)), 200)),
        lambda: data(with_points(forged(dihedral(1000)), 2900)),
    ),
    "a large rational table": Worst(
        "products, classes",
        0,
        lambda: data(product(two(2), symmetric(4))),
        lambda: data(product(two(6), symmetric(6))),
    ),
    "fractions near zero": Worst(
        "digits, bits",
        1,
        lambda: gamma_of(product(two(1), symmetric(3)), 300),
        lambda: gamma_of(product(two(7), symmetric(3)), 1900),
    ),
    "the most factors": Worst(
        "factors",
        0,
        lambda: data(symmetric(5), factors=63),
        lambda: data(product(two(4), symmetric(7)), factors=63),
    ),
    "keys": Worst("bytes", 2, lambda: keys(100_000), lambda: keys(15_900_000)),
}
"""Families of files; the exit status of the large one is the same, or 2 where it is beyond the limit of work."""
