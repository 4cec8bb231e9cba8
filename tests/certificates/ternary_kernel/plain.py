"""Documents of operations of three arguments, judged by TERNARY_FORMAT.md alone.

Nothing here is shared with the kernel, which collects coefficients and factors matrices: here polynomials are compared
by their values at random points modulo a prime, forms are evaluated from their definition, and matrices are decided by
the signs of their characteristic polynomials. (A wrong identity of degree 8 survives all points with probability below
10^-80.)
"""

import random
import re
from fractions import Fraction
from itertools import product
from math import isqrt, lcm, prod
from typing import Any

from flint import fmpz_mat

from tests.certificates.solution_kernel.plain import ShapeError, ask, listed, parts

Document = dict[str, Any]

PRIME = 2**61 - 1
POINTS = 5


def whole(value: Any, low: int, high: int) -> int:
    """An integer in a range."""
    ask(type(value) is int and low <= value <= high)
    return value


def ratio(value: Any) -> Fraction:
    """A positive fraction in lowest terms."""
    ask(type(value) is str and re.fullmatch(r"[0-9]+(/[1-9][0-9]*)?", value) is not None)
    ask(str(Fraction(value)) == value and Fraction(value) > 0)
    return Fraction(value)


def decimal(value: Any) -> tuple[Fraction, Fraction]:
    """A decimal, and the size of its last place."""
    ask(type(value) is str)
    found = re.fullmatch(r"(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:e(-?[1-9][0-9]{0,2}))?", value)
    ask(found is not None)
    assert found is not None
    places, exponent = found[2] or "", int(found[3] or 0)
    step = Fraction(10) ** (exponent - len(places))
    return Fraction(int(found[1] + places)) * step, step


class Judged:
    """The parts of a document, in the words of the format."""

    def __init__(self, value: Any) -> None:
        names = "format version table network multipliers proof margin gap grade"
        form, version, table, network, multipliers, proof, self.margin, self.gap, self.grade = parts(value, names)
        ask(form == "lemmata/ternary-margin" and type(version) is int and version == 1)
        name, labels, values = parts(table, "name labels values")
        ask(type(name) is str and all(" " <= c <= "~" for c in name))
        self.C = whole(labels, 2, 200)
        ask(type(values) is list and bool(values) and type(values[0]) is list and bool(values[0]))
        ask(type(values[0][0]) is list and bool(values[0][0]))
        self.sides = (len(values), len(values[0]), len(values[0][0]))
        self.cells: dict[tuple[int, int, int], int] = {}
        for a, plane in enumerate(values):
            for b, row in enumerate(listed(plane, self.sides[1])):
                for c, label in enumerate(listed(row, self.sides[2])):
                    if whole(label, -1, self.C - 1) >= 0:
                        self.cells[a, b, c] = label
        ask(bool(self.cells))
        self.tests = [(cell, y, k) for cell, y in sorted(self.cells.items()) for k in range(self.C) if k != y]
        self.N = sum(self.sides)
        neurons, masses = parts(network, "neurons masses")
        ask(type(neurons) is list and bool(neurons))
        self.neurons = [[whole(x, -(10**12), 10**12) for x in listed(one, self.N + self.C)] for one in neurons]
        ask(all(any(one) for one in self.neurons))
        self.masses = [whole(x, 1, 10**19) for x in listed(masses, len(neurons))]
        self.q = [whole(x, 0, 10**19) for x in listed(multipliers, len(self.tests))]
        ask(sum(self.q) > 0)
        kind, t, t_prime, denominator, matrix = parts(proof, "kind t t_prime denominator matrix")
        ask(kind in ("degree 4", "degree 6"))
        self.r = 0 if kind == "degree 4" else 1
        self.t, self.t_prime, self.denominator = ratio(t), ratio(t_prime), whole(denominator, 1, 10**19)
        n = self.N - 2
        order = n * (n + 1) * (n + 2) ** self.r // 2 // 3**self.r + n * (n + 1) ** self.r // 2**self.r * self.C
        self.P = [
            [whole(x, -(10**19), 10**19) for x in listed(row, i + 1)] for i, row in enumerate(listed(matrix, order))
        ]

    def sums(self, x: list[Any], cell: tuple[int, int, int]) -> Any:
        """u_a + v_b + s_c."""
        a, b, c = cell
        return x[a] + x[self.sides[0] + b] + x[self.sides[0] + self.sides[1] + c]

    def network_margin(self) -> Fraction:
        """The least mean of f_y - f_k."""
        total, units = sum(self.masses), []
        for neuron, mass in zip(self.neurons, self.masses, strict=True):
            units.append((neuron[: self.N], neuron[self.N :], Fraction(mass, total * sum(x * x for x in neuron) ** 2)))
        return min(
            sum((share * self.sums(x, cell) ** 3 * (w[y] - w[k]) for x, w, share in units), Fraction(0))
            for cell, y, k in self.tests
        )

    def vectors(self) -> list[list[int]]:
        """The basis e_1, .., e_n."""
        found, before = [], 0
        for side in self.sides:
            for j in range(1, side):
                e = [0] * self.N
                e[before : before + j] = [1] * j
                e[before + j] = -j
                found.append(e)
            before += side
        L = lcm(*self.sides)
        return [*found, [L // side for side in self.sides for _ in range(side)]]

    def identity_holds(self) -> bool:
        """Whether both sides have the same values, times denominators, at random points modulo a prime."""
        source, e = random.Random(61), self.vectors()
        n, Q, D = len(e), sum(self.q), self.denominator
        below = self.t.denominator * self.t_prime.denominator
        for _ in range(POINTS):
            y = [source.randrange(PRIME) for _ in range(n)]
            z = [source.randrange(PRIME) for _ in range(self.C)]
            x = [sum(y[i] * e[i][j] for i in range(n)) % PRIME for j in range(self.N)]
            square, other = sum(c * c for c in x), sum(c * c for c in z)
            cubic = sum(
                q * self.sums(x, cell) ** 3 * (z[own] - z[k])
                for q, (cell, own, k) in zip(self.q, self.tests, strict=True)
            )
            first = int(self.t * below) * square**2 + int(self.t_prime * below) * square * other
            right = square**self.r * (first * Q - 2 * cubic * below) * D
            m = [prod(y[i] for i in index) for index in increasing(n, 2 + self.r)]
            m += [prod(y[i] for i in index) * z[k] for index in increasing(n, 1 + self.r) for k in range(self.C)]
            left = sum(
                entry * m[i] * m[j] * (1 if i == j else 2)
                for i, row in enumerate(self.P)
                for j, entry in enumerate(row)
            )
            if (left * Q * below - right) % PRIME:
                return False
        return True

    def is_semidefinite(self) -> bool:
        """Whether no coefficient of det(x - P) has the sign that it lacks if all eigenvalues are at least 0."""
        n = len(self.P)
        M = fmpz_mat(n, n, [self.P[max(i, j)][min(i, j)] for i, j in product(range(n), repeat=2)])
        coefficients = M.charpoly()
        return all((-1) ** (n - k) * coefficients[k] >= 0 for k in range(n + 1))


def increasing(n: int, degree: int) -> list[tuple[int, ...]]:
    """All i_1 <= .. <= i_d below n, in lexicographic order."""
    return [index for index in product(range(n), repeat=degree) if list(index) == sorted(index)]


def proves(value: Any) -> bool:
    """Whether a document is of the format and proves what it claims."""
    try:
        judged = Judged(value)
        exact, lower, upper = parts(judged.margin, "exact lower upper")
        (low, step), (high, same), (gap, place) = decimal(lower), decimal(upper), decimal(judged.gap)
        exact = None if exact is None else ratio(exact)
        ask(judged.grade in ("exact", "enclosed"))
    except (ShapeError, KeyError, TypeError, IndexError):
        return False
    below, square = judged.network_margin(), Fraction(27, 256) * judged.t * judged.t_prime
    if (exact is None) != (judged.grade == "enclosed") or step != same or low <= 0 or not low <= below < low + step:
        return False
    if exact is not None and (exact != below or exact * exact != square):
        return False
    if not (high - step) ** 2 < square <= high**2 or high <= step:
        return False
    wanted = Fraction(0) if exact is not None else (high - low) / high
    return gap - place < wanted <= gap and judged.identity_holds() and judged.is_semidefinite()


def claim_is_possible(value: Any) -> bool:
    """Whether a known neuron contradicts the claimed upper bound: the proof is not looked at.

    The margin of the network of the document, in rational numbers, is a lower bound of the maximum.
    """
    judged = Judged(value)
    margin = judged.network_margin()
    scaled = isqrt(int(margin * margin * 10**60)) if margin > 0 else 0
    return Fraction(scaled, 10**30) <= decimal(judged.margin["upper"])[0]
