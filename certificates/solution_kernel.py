"""Check that a file proves bounds of the optimum of a linear or semidefinite program, or that it has none.

    python -I certificates/solution_kernel.py FILE...

Exit status as for operation_kernel.py: 0 valid, 1 not proved, 2 malformed or beyond the limits. The format is described
in SOLUTION_FORMAT.md. This program uses the standard library, kernel.py (for reading) and operation_kernel.py (for
positive semidefinite matrices of integers) alone, and no floating point.

The program. Over z in Q^n minimise or maximise f(z), where e_i(z) = 0, g_i(z) >= 0, and symmetric matrices G_b(z) are
positive semidefinite; f, the e_i, the g_i and the entries of the G_b are affine functions. Let s = 1 for minimising, -1
for maximising, so that s f is minimised.

- A point z that satisfies the constraints: the least s f is at most s f(z).
- Multipliers u_i, v_i >= 0 and positive semidefinite V_b. Where z satisfies the constraints,
  h(z) = sum u_i e_i(z) + sum v_i g_i(z) + sum_b <V_b, G_b(z)> >= 0, because <V, G> = trace(V G) >= 0 for two positive
  semidefinite matrices. If s f and h have the same coefficients of z, s f - h is a number, and s f is at least that.
- If h is a number, and negative, no point satisfies the constraints.
- A direction r, with e_i(z + t r) = e_i(z), g_i(z + t r) - g_i(z) = t g_i'(r) >= 0 and the same for matrices, so that
  z + t r satisfies the constraints for all t >= 0 if z does: s f'(r) < 0 makes s f unbounded below.
"""

import sys
from collections.abc import Container
from copy import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # a program of three files: in the mode -I nothing else finds the kernels beside this one
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import kernel
    import operation_kernel
    from kernel import MalformedError, require
else:
    from lemmata.certificates import kernel, operation_kernel
    from lemmata.certificates.kernel import MalformedError, require

FORMAT, VERSION = "lemmata/program-optimum", 1
MAX_ENTRIES = 10**6  # of a list: variables, constraints
MAX_WORK = 5 * 10**8  # of all matrices that are tested, in the units of `Document.check_semidefinite`: time
EXACT_UNIT = 10**5  # n^5 bits^2 of an elimination without rounding that count as one unit: time
BOUND = r"-?\d+(/[1-9]\d*|\.\d+)?"

Affine = tuple[int, list[tuple[int, int]]]  # c + sum c_j z_j, times a common denominator, as c and the pairs (j, c_j)
Vector = tuple[int, list[int]]  # numbers over a positive denominator


# ---- 1. Reading: every part of a document gets the right type and range; nothing is believed yet


def number(value: Any, where: str) -> int:
    """An integer, in a string if it is long."""
    return value if type(value) is int else int(kernel.string(value, where, r"0|-?[1-9]\d*"))


def numbers(value: Any, where: str, length: int) -> list[int]:
    """A list of so many integers."""
    return [number(x, f"{where}[{i}]") for i, x in enumerate(kernel.entries(value, where, length, length))]


def denominator(value: Any, where: str) -> int:
    """A positive integer."""
    result = number(value, where)
    if result < 1:
        raise MalformedError(f"{where} must be positive")
    return result


def vector(value: Any, where: str, length: int) -> Vector:
    """So many numbers over a common denominator."""
    unit, entries = kernel.fields(value, where, "denominator entries")
    return denominator(unit, f"{where}.denominator"), numbers(entries, f"{where}.entries", length)


def bound(value: Any, where: str) -> Fraction | None:
    """A number such as "-3", "2/5" or "0.25", or none."""
    return None if value is None else Fraction(kernel.string(value, where, BOUND))


def distance(value: Any, where: str) -> Fraction | None:
    """The same, not negative."""
    result = bound(value, where)
    if result is not None and result < 0:
        raise MalformedError(f"{where} must not be negative")
    return result


def affine(value: Any, where: str, size: int) -> Affine:
    """c + c_j z_j + c_k z_k + .. from the list [c, j, c_j, k, c_k, ..] with j < k < .."""
    entries = kernel.entries(value, where, 1, 2 * size + 1)
    if len(entries) % 2 == 0:
        raise MalformedError(f"{where} must have a constant, and pairs of a variable and its coefficient")
    terms, last = [], -1
    for j, c in zip(entries[1::2], entries[2::2], strict=True):
        last = kernel.integer(j, where, last + 1, size - 1)
        terms.append((last, number(c, where)))
    return number(entries[0], where), terms


def functions(value: Any, where: str, size: int) -> list[Affine]:
    """A list of affine functions."""
    return [affine(f, f"{where}[{i}]", size) for i, f in enumerate(kernel.entries(value, where, 0, MAX_ENTRIES))]


class Constraints:
    """e_i = 0, g_i >= 0 and G_b positive semidefinite, times a common denominator."""

    def __init__(self, value: Any, where: str) -> None:
        names = "size denominator equations inequalities matrices"
        size, unit, equations, inequalities, matrices = kernel.fields(value, where, names)
        self.size = n = kernel.integer(size, f"{where}.size", 1, MAX_ENTRIES)
        self.denominator = denominator(unit, f"{where}.denominator")
        self.equations = functions(equations, f"{where}.equations", n)
        self.inequalities = functions(inequalities, f"{where}.inequalities", n)
        self.matrices: list[list[list[Affine]]] = []  # lower triangles
        for b, rows in enumerate(kernel.entries(matrices, f"{where}.matrices", 0, MAX_ENTRIES)):
            at = f"{where}.matrices[{b}]"
            rows = [functions(row, f"{at}[{i}]", n) for i, row in enumerate(kernel.entries(rows, at, 1, MAX_ENTRIES))]
            for i, row in enumerate(rows):
                kernel.entries(row, f"{at}[{i}]", i + 1, i + 1)
            self.matrices.append(rows)

    def among(self, places: Container[int]) -> "Constraints":
        """Those in which no coordinate has a coefficient but the given ones."""

        def fits(f: Affine) -> bool:
            return all(j in places or c == 0 for j, c in f[1])

        result = copy(self)
        result.equations = [f for f in self.equations if fits(f)]
        result.inequalities = [f for f in self.inequalities if fits(f)]
        result.matrices = [rows for rows in self.matrices if all(fits(f) for row in rows for f in row)]
        return result


class Multipliers:
    """u, v and the lower triangles of V, over a common denominator."""

    def __init__(self, value: Any, constraints: Constraints) -> None:
        unit, u, v, V = kernel.fields(value, "multipliers", "denominator equations inequalities matrices")
        self.denominator = denominator(unit, "multipliers.denominator")
        self.equations = numbers(u, "multipliers.equations", len(constraints.equations))
        self.inequalities = numbers(v, "multipliers.inequalities", len(constraints.inequalities))
        count = len(constraints.matrices)
        self.matrices: list[list[list[int]]] = []
        for b, rows in enumerate(kernel.entries(V, "multipliers.matrices", count, count)):
            at, order = f"multipliers.matrices[{b}]", len(constraints.matrices[b])
            rows = kernel.entries(rows, at, order, order)
            self.matrices.append([numbers(row, f"{at}[{i}]", i + 1) for i, row in enumerate(rows)])


class Solution:
    """What a solver gave: some coordinates, how far they are from the point, and how much they violate."""

    def __init__(self, value: Any, size: int, has_point: bool) -> None:
        places, values, moved, slack = kernel.fields(value, "solution", "places values moved slack")
        count, last = len(kernel.entries(places, "solution.places", 1, size)), -1
        for i, j in enumerate(places):
            last = kernel.integer(j, f"solution.places[{i}]", last + 1, size - 1)
        self.places: list[int] = places
        self.unit, self.values = vector(values, "solution.values", count)
        self.moved = distance(moved, "solution.moved")
        if (self.moved is not None) != has_point:
            raise MalformedError("solution.moved must be given exactly if the point is")
        self.text, self.slack = slack, distance(slack, "solution.slack")


class Document:
    """The parts of a document."""

    def __init__(self, value: Any) -> None:
        names = "format version variables objective constraints status bounds point multipliers direction solution"
        kind, version, variables, objective, constraints, status, bounds, point, multipliers, direction, solution = (
            kernel.fields(value, "the document", names)
        )
        kernel.string(kind, "format", FORMAT)
        kernel.integer(version, "version", VERSION, VERSION)
        self.constraints = Constraints(constraints, "constraints")
        self.size = n = self.constraints.size
        sense, function = kernel.fields(objective, "objective", "sense function")
        self.sense = kernel.string(sense, "objective.sense", "minimum|maximum")
        self.sign = 1 if self.sense == "minimum" else -1
        self.objective = affine(function, "objective.function", n)
        for i, entry in enumerate(kernel.entries(variables, "variables", 0, MAX_ENTRIES)):
            at = f"variables[{i}]"  # for the reader: which coordinates are the entries of which variable
            name, shape, places = kernel.fields(entry, at, "name shape places")
            kernel.string(name, f"{at}.name", r"[ -~]*")
            count = 1
            for length in kernel.entries(shape, f"{at}.shape", 0, 64):
                count *= kernel.integer(length, f"{at}.shape", 1, n * n)
            for place in kernel.entries(places, f"{at}.places", count, count):
                kernel.integer(place, f"{at}.places", 0, n - 1)
        self.status = kernel.string(status, "status", "bounds|infeasible|unbounded")
        self.point = None if point is None else vector(point, "point", n)
        self.multipliers = None if multipliers is None else Multipliers(multipliers, self.constraints)
        self.direction = None if direction is None else vector(direction, "direction", n)
        lower, upper = kernel.fields(bounds, "bounds", "lower upper")
        self.texts = lower, upper
        self.lower, self.upper = bound(lower, "bounds.lower"), bound(upper, "bounds.upper")
        self.solution = None if solution is None else Solution(solution, n, point is not None)
        self.work = 0
        given = tuple(x is not None for x in (point, multipliers, direction, lower, upper))
        of_point, of_multipliers = (upper, lower) if self.sign > 0 else (lower, upper)
        if self.status != "bounds":
            needed = (False, True, False) if self.status == "infeasible" else (True, False, True)
            fits = given == (*needed, False, False)
        else:
            fits = given[0] == (of_point is not None) and given[1] == (of_multipliers is not None) and not given[2]
            fits = fits and (given[0] or given[1])
        if not fits:
            raise MalformedError(
                "point, multipliers, direction and bounds must be those of the status: a bound for a point and one "
                "for multipliers, multipliers alone if infeasible, a point and a direction if unbounded; else null"
            )

    def check_semidefinite(self, matrix: list[list[int]], where: str) -> None:
        """A symmetric matrix, given by its lower triangle, is positive semidefinite; the time is limited before."""
        n, bits = len(matrix), max(abs(x).bit_length() for row in matrix for x in row)
        self.spend(n**3 * (bits // 1000 + 1) ** 2)  # products take about the square of the length of numbers
        if operation_kernel.has_dominated_factor(matrix):
            return
        self.spend(n**5 * bits**2 // EXACT_UNIT)
        require(operation_kernel.eliminates(matrix, where), f"{where}: is not shown to be positive semidefinite")

    def spend(self, work: int) -> None:
        """MalformedError if the work on matrices, with this, is beyond the limit."""
        self.work += work
        if self.work > MAX_WORK:
            raise MalformedError("the matrices together are beyond the limits")


# ---- 2. Points, directions and multipliers


def evaluated(f: Affine, z: Vector) -> int:
    """f(z), times the denominators of both; with the denominator 0 the linear part at z."""
    unit, entries = z
    return f[0] * unit + sum(c * entries[j] for j, c in f[1])


def check_point(document: Document, constraints: Constraints, z: Vector, where: str, slack: Fraction) -> None:
    """z violates no constraint by more than the slack; with the denominator 0 the same for their linear parts."""
    scale, room = slack.denominator, slack.numerator * constraints.denominator * z[0]
    for i, f in enumerate(constraints.equations):
        require(scale * abs(evaluated(f, z)) <= room, f"{where}: equation {i} is violated")
    for i, f in enumerate(constraints.inequalities):
        require(scale * evaluated(f, z) + room >= 0, f"{where}: inequality {i} is violated")
    for b, rows in enumerate(constraints.matrices):
        matrix = [[scale * evaluated(f, z) for f in row] for row in rows]
        for row in matrix:
            row[-1] += room
        document.check_semidefinite(matrix, f"{where}: matrix {b}")


def combination(document: Document, multipliers: Multipliers) -> list[int]:
    """h, times the denominators of constraints and multipliers: its constant, and its coefficients."""
    constraints, result = document.constraints, [0] * (document.size + 1)

    def add(f: Affine, factor: int) -> None:
        result[0] += factor * f[0]
        for j, c in f[1]:
            result[j + 1] += factor * c

    for f, u in zip(constraints.equations, multipliers.equations, strict=True):
        add(f, u)
    for i, (f, v) in enumerate(zip(constraints.inequalities, multipliers.inequalities, strict=True)):
        require(v >= 0, f"multipliers.inequalities[{i}]: is negative")
        add(f, v)
    for b, (rows, V) in enumerate(zip(constraints.matrices, multipliers.matrices, strict=True)):
        for i, (functions, entries) in enumerate(zip(rows, V, strict=True)):
            for j, (f, entry) in enumerate(zip(functions, entries, strict=True)):
                add(f, entry if i == j else 2 * entry)
        document.check_semidefinite(V, f"multipliers.matrices[{b}]")
    return result


# ---- 3. The claim


def check_infeasible(document: Document, multipliers: Multipliers) -> None:
    """h is a negative number."""
    constant, *coefficients = combination(document, multipliers)
    for j, c in enumerate(coefficients):
        require(c == 0, f"multipliers: the coefficient of variable {j} does not vanish")
    require(constant < 0, "multipliers: their combination is not negative")


def check_bound(document: Document, multipliers: Multipliers) -> None:
    """s f - h is a number, and s times the claimed bound is at most that."""
    unit, sign, f = multipliers.denominator, document.sign, document.objective
    constant, *coefficients = combination(document, multipliers)
    rest = [0] * document.size
    for j, c in f[1]:
        rest[j] = sign * unit * c
    for j, (c, other) in enumerate(zip(rest, coefficients, strict=True)):
        require(c == other, f"multipliers: the coefficient of variable {j} is not that of the objective")
    proved = Fraction(sign * unit * f[0] - constant, unit * document.constraints.denominator)
    claimed, name = (document.lower, "lower") if sign > 0 else (document.upper, "upper")
    require(claimed is not None and sign * claimed <= proved, f"bounds.{name}: is more than the multipliers prove")


def check_value(document: Document, z: Vector) -> None:
    """s times the claimed bound is at least s f(z)."""
    value = Fraction(evaluated(document.objective, z), z[0] * document.constraints.denominator)
    claimed, name = (document.upper, "upper") if document.sign > 0 else (document.lower, "lower")
    fits = claimed is not None and document.sign * (claimed - value) >= 0
    require(fits, f"bounds.{name}: is more than the point proves")


def check_solution(document: Document, solution: Solution) -> None:
    """Its distance from the point, in the maximum norm, and its violations are at most what is claimed."""
    values = dict(zip(solution.places, solution.values, strict=True))
    if document.point is not None and solution.moved is not None:
        unit, entries = document.point
        scale, room = solution.moved.denominator, solution.moved.numerator * solution.unit * unit
        for j, value in values.items():
            fits = scale * abs(value * unit - entries[j] * solution.unit) <= room
            require(fits, f"solution.moved: the entry {j} of the point is farther away")
    if solution.slack is not None:
        z = solution.unit, [values.get(j, 0) for j in range(document.size)]
        check_point(document, document.constraints.among(values), z, "solution.slack", solution.slack)


def check(data: bytes) -> str:
    """What a document proves, as a line of text; MalformedError or ViolatedError if it proves nothing."""
    document = Document(kernel.parse(data))
    constraints, solution = document.constraints, document.solution
    if document.point is not None:
        check_point(document, constraints, document.point, "point", Fraction(0))
    if document.direction is not None:
        _, entries = document.direction
        check_point(document, constraints, (0, entries), "direction", Fraction(0))
        falls = document.sign * evaluated(document.objective, (0, entries)) < 0
        require(falls, "direction: the objective does not improve along it")
    if document.status == "infeasible" and document.multipliers is not None:
        check_infeasible(document, document.multipliers)
    elif document.multipliers is not None:
        check_bound(document, document.multipliers)
    if document.status == "bounds" and document.point is not None:
        check_value(document, document.point)
    if solution is not None:
        check_solution(document, solution)
    orders = [len(rows) for rows in constraints.matrices]
    return (
        f"program of {document.size} variables, {len(constraints.equations)} equations, "
        f"{len(constraints.inequalities)} inequalities and {len(orders)} matrices"
        f"{f' of orders up to {max(orders)}' if orders else ''}: {claim(document)}"
    )


def claim(document: Document) -> str:
    """The claim in words."""
    lower, upper = document.texts
    if document.status == "infeasible":
        said = "no point satisfies the constraints"
    elif document.status == "unbounded":
        said = f"the {document.sense} is unbounded"
    elif document.lower == document.upper:
        said = f"the {document.sense} is {lower}"
    else:
        low = "" if lower is None else f" at least {lower}"
        high = "" if upper is None else f" at most {upper}"
        said = f"the {document.sense} is{low}{' and' if low and high else ''}{high}"
    if document.solution is not None and document.solution.slack is not None:
        said += f"; no constraint on the given solution alone is violated by more than {document.solution.text}"
    return said


if __name__ == "__main__":
    sys.exit(kernel.main(sys.argv[1:], check, "solution_kernel.py"))
