"""Documents of programs, judged by SOLUTION_FORMAT.md alone, and the optima of small linear programs by elimination.

Nothing here is shared with the kernel, which adds up integers over common denominators and factors matrices: here
affine functions are evaluated in rational numbers, combinations are compared by their values at n + 1 points, and
matrices are decided by the signs of their characteristic polynomials. `true_claim` does not look at the proof at all.
"""

import re
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from flint import fmpq, fmpq_mat

Document = dict[str, Any]
Function = tuple[Fraction, list[Fraction]]


class ShapeError(Exception):
    """A part of a document is not as the format asks."""


def ask(fits: bool) -> None:
    """ShapeError unless that is so."""
    if not fits:
        raise ShapeError


def parts(value: Any, names: str) -> list[Any]:
    """The values of an object with these keys."""
    ask(type(value) is dict and sorted(value) == sorted(names.split()))
    return [value[name] for name in names.split()]


def listed(value: Any, length: int | None = None) -> list[Any]:
    """A list, of so many entries."""
    ask(type(value) is list and length in (None, len(value)))
    return value


def digits(value: Any) -> int:
    """An integer, as a JSON integer of at most 20 characters or as a string of at most 2000."""
    if type(value) is int:
        ask(len(str(value)) <= 20)
        return value
    ask(type(value) is str and len(value) <= 2000 and re.fullmatch(r"0|-?[1-9][0-9]*", value) is not None)
    return int(value)


def positive(value: Any) -> int:
    """A positive one."""
    ask(digits(value) > 0)
    return digits(value)


def index(value: Any, size: int) -> int:
    """A coordinate."""
    ask(type(value) is int and 0 <= value < size)
    return value


def text(value: Any) -> Fraction:
    """A number such as -3, 2/5 or 0.25."""
    ask(type(value) is str and len(value) <= 2000)
    found = re.fullmatch(r"(-?)([0-9]+)(?:/([1-9][0-9]*)|\.([0-9]+))?", value)
    ask(found is not None)
    assert found is not None
    sign, whole, below, places = found.groups()
    size = Fraction(int(whole + (places or "")), int(below or 1) * 10 ** len(places or ""))
    return -size if sign else size


def vector(value: Any, size: int) -> list[Fraction]:
    """A vector."""
    unit, entries = parts(value, "denominator entries")
    return [Fraction(digits(x), positive(unit)) for x in listed(entries, size)]


def function(value: Any, size: int, unit: int) -> Function:
    """An affine function, with all its coefficients."""
    constant, *rest = listed(value) or [None]
    ask(len(rest) % 2 == 0)
    places = [index(j, size) for j in rest[::2]]
    ask(places == sorted(set(places)))
    known = dict(zip(places, rest[1::2], strict=True))
    return Fraction(digits(constant), unit), [Fraction(digits(known.get(j, 0)), unit) for j in range(size)]


def at(f: Function, z: list[Fraction]) -> Fraction:
    """f(z)."""
    return f[0] + sum((c * x for c, x in zip(f[1], z, strict=True)), Fraction(0))


def linear(f: Function) -> Function:
    """f - f(0)."""
    return Fraction(0), f[1]


def is_semidefinite(lower: list[list[Fraction]]) -> bool:
    """Whether no coefficient of det(x - M) has the sign that it lacks if all eigenvalues are at least 0."""
    n = len(lower)
    M = fmpq_mat(n, n, [fmpq(*lower[max(i, j)][min(i, j)].as_integer_ratio()) for i, j in product(range(n), repeat=2)])
    coefficients = [M.charpoly()[k] for k in range(n + 1)]
    return all((-1) ** (n - k) * c >= 0 for k, c in enumerate(coefficients))


class Program:
    """Constraints."""

    def __init__(self, value: Any) -> None:
        size, unit, equations, inequalities, matrices = parts(value, "size denominator equations inequalities matrices")
        ask(type(size) is int and size > 0)
        self.size, self.unit = size, positive(unit)

        def read(functions: Any, length: int | None = None) -> list[Function]:
            return [function(f, size, self.unit) for f in listed(functions, length)]

        self.equations, self.inequalities = read(equations), read(inequalities)
        self.matrices = [[read(row, i + 1) for i, row in enumerate(listed(M))] for M in listed(matrices)]
        ask(all(self.matrices))

    def among(self, places: list[int]) -> None:
        """Leave out each constraint with a coefficient at another coordinate."""
        others = set(range(self.size)) - set(places)

        def kept(f: Function) -> bool:
            return not any(f[1][j] for j in others)

        self.equations, self.inequalities = list(filter(kept, self.equations)), list(filter(kept, self.inequalities))
        self.matrices = [M for M in self.matrices if all(kept(f) for row in M for f in row)]

    def violated(self, z: list[Fraction], slack: Fraction = Fraction(0), along: bool = False) -> bool:
        """Whether z violates a constraint, or its linear part."""
        part = linear if along else tuple
        raised = [[[at(part(f), z) for f in row] for row in M] for M in self.matrices]
        for M in raised:
            for row in M:
                row[-1] += slack
        return (
            any(abs(at(part(f), z)) > slack for f in self.equations)
            or any(at(part(f), z) < -slack for f in self.inequalities)
            or not all(is_semidefinite(M) for M in raised)
        )


def proves(document: Any) -> bool:
    """Whether a document has the format, and what it holds proves what it says."""
    try:
        return _proves(document)
    except ShapeError:
        return False


def _proves(document: Any) -> bool:
    names = "format version variables objective constraints status bounds point multipliers direction solution"
    name, version, variables, objective, given, status, bounds, point, weights, direction, solution = parts(
        document, names
    )
    ask((name, version, type(version)) == ("lemmata/program-optimum", 1, int))
    program = Program(given)
    n = program.size
    sense, goal = parts(objective, "sense function")
    ask(sense in ("minimum", "maximum"))
    s = {"minimum": 1, "maximum": -1}[sense]
    f = function(goal, n, program.unit)
    for variable in listed(variables):
        called, shape, places = parts(variable, "name shape places")
        ask(type(called) is str and len(called) <= 2000 and re.fullmatch(r"[ -~]*", called) is not None)
        ask(all(type(length) is int and length > 0 for length in listed(shape)))
        ask(len([index(j, n) for j in listed(places)]) == prod(shape))
    lower, upper = (None if x is None else text(x) for x in parts(bounds, "lower upper"))
    by_point, by_weights = (upper, lower) if s > 0 else (lower, upper)
    has = {"point": point, "multipliers": weights, "direction": direction, "point's": by_point, "their": by_weights}
    present = {name for name, value in has.items() if value is not None}
    if status == "bounds":
        ask(present in ({"point", "point's"}, {"multipliers", "their"}, {"point", "point's", "multipliers", "their"}))
    else:
        ask(status in ("infeasible", "unbounded"))
        ask(present == ({"multipliers"} if status == "infeasible" else {"point", "direction"}))
    sound = True
    z = None if point is None else vector(point, n)
    if z is not None:
        sound &= not program.violated(z)
        sound &= by_point is None or s * by_point >= s * at(f, z)
    if direction is not None:
        r = vector(direction, n)
        sound &= not program.violated(r, along=True) and s * at(linear(f), r) < 0
    if weights is not None:
        unit, u, v, V = parts(weights, "denominator equations inequalities matrices")
        scale = positive(unit)
        u, v = ([Fraction(digits(x), scale) for x in listed(part)] for part in (u, v))
        ask((len(u), len(v)) == (len(program.equations), len(program.inequalities)))
        V = [[[Fraction(digits(x), scale) for x in listed(row, i + 1)] for i, row in enumerate(listed(M))] for M in V]
        ask([len(M) for M in V] == [len(M) for M in program.matrices])
        sound &= all(x >= 0 for x in v) and all(is_semidefinite(M) for M in V)

        def h(x: list[Fraction]) -> Fraction:
            functions = program.equations + program.inequalities
            total = sum((a * at(e, x) for a, e in zip([*u, *v], functions, strict=True)), Fraction(0))
            for M, G in zip(V, program.matrices, strict=True):
                for i, j in product(range(len(M)), repeat=2):
                    total += M[max(i, j)][min(i, j)] * at(G[max(i, j)][min(i, j)], x)
            return total

        points = [[Fraction(0)] * n] + [[Fraction(int(i == j)) for i in range(n)] for j in range(n)]
        if status == "infeasible":
            sound &= all(h(x) == h(points[0]) for x in points) and h(points[0]) < 0
        else:
            values = {s * at(f, x) - h(x) for x in points}
            sound &= len(values) == 1 and (by_weights is None or s * by_weights <= max(values))
    if solution is not None:
        places, values, moved, slack = parts(solution, "places values moved slack")
        places = [index(j, n) for j in listed(places)]
        ask(places != [] and places == sorted(set(places)))
        values = vector(values, len(places))
        ask((moved is None) == (z is None))
        if z is not None:
            ask(text(moved) >= 0)
            sound &= all(abs(x - z[j]) <= text(moved) for x, j in zip(values, places, strict=True))
        if slack is not None:
            ask(text(slack) >= 0)
            program.among(places)
            known = dict(zip(places, values, strict=True))
            sound &= not program.violated([known.get(j, Fraction(0)) for j in range(n)], text(slack))
    return sound


def true_claim(document: Document) -> bool:
    """Whether the bounds, or that there are none, are so for a linear program: its values by Fourier's elimination."""
    low, high, feasible = interval_of_values(document)
    lower, upper = (None if x is None else text(x) for x in document["bounds"].values())
    minimised = document["objective"]["sense"] == "minimum"
    best, by_point = (low, upper) if minimised else (high, lower)
    if document["status"] == "infeasible":
        return not feasible
    if document["status"] == "unbounded":
        return feasible and best is None
    if not feasible or best is None:  # a bound by multipliers says of all points what is so for none
        one_sided = lower is None if minimised else upper is None
        return by_point is None if not feasible else one_sided
    return (lower is None or lower <= best) and (upper is None or best <= upper)


def interval_of_values(document: Document) -> tuple[Fraction | None, Fraction | None, bool]:
    """The least and the largest value of the objective, None if there is none, and whether there is any point."""
    program = Program(document["constraints"])
    assert not program.matrices
    n = program.size
    f = function(document["objective"]["function"], n, program.unit)
    rows = [(c, [*a, Fraction(0)]) for c, a in program.inequalities]  # c + a.(z, t) >= 0
    for c, a in program.equations:
        rows += [(c, [*a, Fraction(0)]), (-c, [*(-x for x in a), Fraction(0)])]
    rows += [(f[0], [*f[1], Fraction(-1)]), (-f[0], [*(-x for x in f[1]), Fraction(1)])]  # t = f(z)
    for j in range(n):
        kept = [row for row in rows if row[1][j] == 0]
        for (c, a), (d, b) in product([r for r in rows if r[1][j] > 0], [r for r in rows if r[1][j] < 0]):
            p, q = -b[j], a[j]
            kept.append((p * c + q * d, [p * x + q * y for x, y in zip(a, b, strict=True)]))
        rows = list({(c / m, tuple(x / m for x in a)): None for c, a in kept if (m := max(map(abs, (c, *a))))})
        rows = [(c, list(a)) for c, a in rows]
    low, high = None, None
    for c, a in rows:
        t = a[-1]
        if t == 0 and c < 0:
            return None, None, False
        if t > 0:
            low = max(x for x in (low, -c / t) if x is not None)
        elif t < 0:
            high = min(x for x in (high, -c / t) if x is not None)
    return low, high, low is None or high is None or low <= high
