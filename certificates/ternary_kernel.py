"""Check that a file proves the maximum margin of a finite operation of three arguments.

    python -I certificates/ternary_kernel.py FILE...

Exit status 0: every file is valid; 1: a file is well formed, but its claim is not proved (the first violated line is
printed); 2: a file is malformed or beyond the limits below. The format is described in TERNARY_FORMAT.md. This program
uses the standard library, kernel.py (for reading) and operation_kernel.py (for reading, and for matrices that are
positive semidefinite) alone, and no floating point. Whatever it can compute it computes itself and compares with the
file.

The claim. A table gives labels y(a, b, c) in {0, .., C-1} to some cells of A x B x D. A neuron is omega = (x, w),
x = (u, v, s) in R^A x R^B x R^D and w in R^C, and a network is a probability measure on neurons of length 1: the norm
L_{2,4} of activation x^3. Its outputs are the means of (u_a + v_b + s_c)^3 w, its margin is the least mean of
h_abck = (u_a + v_b + s_c)^3 (w_y - w_k) over the *tests*: given cells (a, b, c) with a label k != y(a, b, c). gamma is
the largest margin.
- Below: integer neurons omega_i with masses p_i stand for the network that has the mass p_i / sum p at
  omega_i / |omega_i|. A mean is sum_i p_i h(omega_i) / |omega_i|^4 / sum p, a rational number.
- Above: the mean of sum q_abck h_abck with q >= 0, sum 1, bounds every margin. It is sum_k w_k T_k(x) with cubic forms
  T_k. If |T(x)|^2 <= t t' |x|^6 for all x, then w.T(x) <= sqrt(t t') |x|^3 |w| <= 3 sqrt(3)/16 sqrt(t t') on neurons of
  length 1, so gamma^2 <= 27/256 t t'. It suffices to show it where the sums of u, of v and of s are equal: T(x) does
  not change when u + alpha, v + beta, s - alpha - beta take their places, and of all these x that one is the shortest.
  There x = sum_i y_i e_i, with orthogonal integer vectors e_i (`basis`), and |x|^2 = sum_i |e_i|^2 y_i^2.
"""

import json
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial, lcm, prod
from operator import mul
from pathlib import Path
from typing import Any

if not __package__:  # a program of three files: in the mode -I nothing else finds the kernels beside this one
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import kernel
    import operation_kernel
    from kernel import MalformedError, require
else:
    from lemmata.certificates import kernel, operation_kernel
    from lemmata.certificates.kernel import MalformedError, require

FORMAT, VERSION = "lemmata/ternary-margin", 1
SPLIT = Fraction(27, 256)  # the square of the largest |x|^3 |w| over |x|^2 + |w|^2 = 1, which is at |x|^2 = 3 |w|^2
MAX_INTEGER, MAX_COORDINATE = operation_kernel.MAX_INTEGER, operation_kernel.MAX_COORDINATE
MAX_SIDE, MAX_TESTS = 200, 20_000  # elements of an argument, and labels; given cells times labels: time
MAX_PRODUCTS = operation_kernel.MAX_PRODUCTS  # neurons times (tests + coordinates): time and memory
MAX_ORDER_CUBED = 10**8  # cube of the order of the matrix: time
MAX_COMMON_BITS = 100_000  # of the least common multiple of all |omega_i|^4: time
MAX_BIT_PRODUCTS = 2 * 10**10  # its bits times neurons times tests: time

Form = dict[tuple[int, ...], int]  # a polynomial: coefficients of monomials, each the sorted tuple of its variables


# ---- 1. Reading: every part of a document gets the right type and range; nothing is believed yet


class Table:
    """The given cells: those where `values` is not -1. Variables: the elements of all arguments, then the labels."""

    def __init__(self, value: Any) -> None:
        self.name, labels, values = kernel.fields(value, "table", "name labels values")
        kernel.string(self.name, "table.name", r"[ -~]*")
        self.labels = kernel.integer(labels, "table.labels", 2, MAX_SIDE)
        kernel.entries(values, "table.values", 1, MAX_SIDE)
        kernel.entries(values[0], "table.values[0]", 1, MAX_SIDE)
        kernel.entries(values[0][0], "table.values[0][0]", 1, MAX_SIDE)
        self.sides = len(values), len(values[0]), len(values[0][0])
        if self.sides[0] * self.sides[1] * self.sides[2] * self.labels > MAX_TESTS:
            raise MalformedError(f"table: more than {MAX_TESTS} cells times labels are beyond the limits")
        self.size = sum(self.sides)  # N
        labels_at = [
            operation_kernel.integers(row, f"table.values[{i}][{j}]", self.sides[2], -1, self.labels - 1)
            for i, plane in enumerate(values)
            for j, row in enumerate(kernel.entries(plane, f"table.values[{i}]", self.sides[1], self.sides[1]))
        ]
        a, b, c = (range(sum(self.sides[:j]), sum(self.sides[: j + 1])) for j in range(3))
        self.tests = [  # the variables of the cell, then the labels y and k
            (cell, y, k)
            for cell, y in zip(product(a, b, c), (y for row in labels_at for y in row), strict=True)
            for k in range(self.labels)
            if y not in (-1, k)
        ]
        if not self.tests:
            raise MalformedError("table.values must have a cell that is given")


class Network:
    """Integer neurons and their masses; `common` is a common multiple of all |omega_i|^4."""

    def __init__(self, value: Any, table: Table) -> None:
        neurons, masses = kernel.fields(value, "network", "neurons masses")
        length = table.size + table.labels
        count = len(kernel.entries(neurons, "network.neurons", 1, MAX_TESTS))
        if count * (len(table.tests) + length) > MAX_PRODUCTS:
            raise MalformedError("network.neurons: are too many")
        self.neurons = [
            operation_kernel.integers(neuron, f"network.neurons[{i}]", length, -MAX_COORDINATE, MAX_COORDINATE)
            for i, neuron in enumerate(neurons)
        ]
        self.masses = operation_kernel.integers(masses, "network.masses", count, 1, MAX_INTEGER)
        if not all(map(any, self.neurons)):
            raise MalformedError("network.neurons must not be zero")
        fourth = [sum(map(mul, neuron, neuron)) ** 2 for neuron in self.neurons]
        self.common = 1
        for power in fourth:
            self.common = lcm(self.common, power)
            if self.common.bit_length() > MAX_COMMON_BITS:
                raise MalformedError("network.neurons: have too many different lengths")
        if self.common.bit_length() * count * len(table.tests) > MAX_BIT_PRODUCTS:
            raise MalformedError("network.neurons: are too many for so many different lengths")
        self.shares = [mass * (self.common // power) for mass, power in zip(self.masses, fourth, strict=True)]

    def margin(self, table: Table) -> Fraction:
        """The least mean of h_abck, exactly."""
        N, least = table.size, []
        for (a, b, c), y, k in table.tests:
            answers = [(x[a] + x[b] + x[c]) ** 3 * (x[N + y] - x[N + k]) for x in self.neurons]
            least.append(sum(map(mul, answers, self.shares)))
        return Fraction(min(least), self.common * sum(self.masses))


class Proof:
    """What is to show |T(x)|^2 <= t t' |x|^6: a matrix, as integers over a denominator, of degree 4 or 6 (r = 0, 1)."""

    def __init__(self, value: Any, table: Table) -> None:
        kind, t, t_prime, denominator, matrix = kernel.fields(value, "proof", "kind t t_prime denominator matrix")
        self.r = int(kernel.string(kind, "proof.kind", "degree 4|degree 6") == "degree 6")
        self.t = operation_kernel.positive(t, "proof.t")
        self.t_prime = operation_kernel.positive(t_prime, "proof.t_prime")
        self.denominator = kernel.integer(denominator, "proof.denominator", 1, MAX_INTEGER)
        n = table.size - 2
        squares = n * (n + 1) // 2
        order = squares + n * table.labels if self.r == 0 else squares * (n + 2) // 3 + squares * table.labels
        if order**3 > MAX_ORDER_CUBED:
            raise MalformedError(f"proof: a matrix of order {order} is beyond the limits")
        self.matrix = [
            operation_kernel.integers(row, f"proof.matrix[{i}]", i + 1, -MAX_INTEGER, MAX_INTEGER)
            for i, row in enumerate(kernel.entries(matrix, "proof.matrix", order, order))
        ]


# ---- 2. Cubic forms, and proofs that |T(x)|^2 <= t t' |x|^6


def basis(sides: tuple[int, ...]) -> list[list[int]]:
    """Orthogonal integer vectors that span the (u, v, s) in which all three have the same sum.

    First those that are zero but for one argument, (1, .., 1, -j, 0, .., 0) there; then one constant on each argument.
    """
    size, result = sum(sides), []
    for start, side in zip((0, sides[0], sides[0] + sides[1]), sides, strict=True):
        for j in range(1, side):
            ones = [1] * j + [-j]
            result.append([0] * start + ones + [0] * (size - start - j - 1))
    common = lcm(*sides)
    return [*result, [common // side for side in sides for _ in range(side)]]


def cubic_forms(table: Table, multipliers: list[int]) -> list[Form]:
    """The forms T_k(y) of sum q_abck h_abck = sum_k w_k T_k, for integers q."""
    vectors = basis(table.sides)
    weights: dict[tuple[int, ...], list[int]] = {}
    for (cell, y, k), weight in zip(table.tests, multipliers, strict=True):
        entries = weights.setdefault(cell, [0] * table.labels)
        entries[y] += weight
        entries[k] -= weight
    forms: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(table.labels)]
    for cell, entries in weights.items():
        line = [sum(e[i] for i in cell) for e in vectors]  # u_a + v_b + s_c = sum_i line_i y_i
        for m in combinations_with_replacement([i for i, value in enumerate(line) if value], 3):
            coefficient = multinomial(m) * line[m[0]] * line[m[1]] * line[m[2]]
            for form, entry in zip(forms, entries, strict=True):
                if entry:
                    form[m] += coefficient * entry
    return [dict(form) for form in forms]


def multinomial(m: tuple[int, ...]) -> int:
    """The coefficient of a monomial in a power of the sum of the variables."""
    return factorial(len(m)) // prod(map(factorial, Counter(m).values()))


def monomials(table: Table, r: int) -> list[tuple[int, ...]]:
    """Those of degree 2 + r in y, in lexicographic order, then those of degree 1 + r times z_0, .., z_(C-1)."""
    y, z = range(table.size - 2), range(table.size - 2, table.size - 2 + table.labels)
    return [
        *combinations_with_replacement(y, 2 + r),
        *((*m, k) for m in combinations_with_replacement(y, 1 + r) for k in z),
    ]


def target(table: Table, forms: list[Form], total: int, t: Fraction, t_prime: Fraction, r: int) -> dict[Any, Fraction]:
    """The coefficients of |x|^(2r) (t|x|^4 - 2 sum_k z_k T_k(y) + t'|x|^2 |z|^2), x = sum y_i e_i, T over the total."""
    lengths = [sum(map(mul, e, e)) for e in basis(table.sides)]
    n = len(lengths)
    bracket = {
        (i, i, j, j): t * lengths[i] * lengths[j] * (1 if i == j else 2)
        for i, j in combinations_with_replacement(range(n), 2)
    }
    for k, form in enumerate(forms):
        bracket |= {(i, i, n + k, n + k): t_prime * lengths[i] for i in range(n)}
        bracket |= {(*m, n + k): Fraction(-2 * coefficient, total) for m, coefficient in form.items()}
    if r == 0:
        return bracket
    result: dict[Any, Fraction] = {}
    for m, coefficient in bracket.items():
        for i in range(n):
            key = tuple(sorted((i, i, *m)))
            result[key] = result.get(key, Fraction(0)) + coefficient * lengths[i]
    return result


def check_proof(table: Table, proof: Proof, multipliers: list[int]) -> Fraction:
    """t t' with |T(x)|^2 <= t t' |x|^6 for all x, where T is of the multipliers over their sum.

    Let m be the vector of `monomials`. If P is positive semidefinite and m'P m is the polynomial of `target` in all y
    and z, then t|x|^4 - 2 sum_k z_k T_k + t'|x|^2 |z|^2 is never negative, and z = T / (t' |x|^2) makes it
    t|x|^4 - |T|^2 / (t' |x|^2).
    """
    vector = monomials(table, proof.r)
    found: Counter[tuple[int, ...]] = Counter()
    for i, (row, m) in enumerate(zip(proof.matrix, vector, strict=True)):
        for j, entry in enumerate(row):
            if entry:
                found[tuple(sorted(m + vector[j]))] += entry if i == j else 2 * entry
    t, t_prime = proof.t * proof.denominator, proof.t_prime * proof.denominator
    forms = [{m: c * proof.denominator for m, c in form.items()} for form in cubic_forms(table, multipliers)]
    expected = target(table, forms, sum(multipliers), t, t_prime, proof.r)
    for m in sorted(found.keys() | expected.keys()):
        where = f"proof.matrix: the coefficient of the variables {m}"
        require(found[m] == expected.get(m, 0), f"{where} is {found[m]} in place of {expected.get(m, 0)}")
    proved = operation_kernel.has_dominated_factor(proof.matrix) or operation_kernel.eliminates(proof.matrix, "proof")
    require(proved, "proof.matrix: is not shown to be positive semidefinite")
    return proof.t * proof.t_prime


# ---- 3. The document


def check(data: bytes) -> str:
    """What a document proves, as a line of text; MalformedError or ViolatedError if it proves nothing."""
    value = kernel.parse(data)
    if type(value) is not dict or value.get("format") != FORMAT:
        raise MalformedError(f"format must be {FORMAT}")
    names = "format version table network multipliers proof margin gap grade"
    _, version, table, network, multipliers, proof, margin, gap, grade = kernel.fields(value, "the document", names)
    kernel.integer(version, "version", VERSION, VERSION)
    table = Table(table)
    network, proof = Network(network, table), Proof(proof, table)
    multipliers = operation_kernel.integers(multipliers, "multipliers", len(table.tests), 0, MAX_INTEGER)
    if not any(multipliers):
        raise MalformedError("multipliers must not all be zero")
    kernel.string(grade, "grade", "exact|enclosed")
    exact, lower, upper = kernel.fields(margin, "margin", "exact lower upper")
    exact = None if exact is None else operation_kernel.positive(exact, "margin.exact")
    low, step = operation_kernel.decimal(lower, "margin.lower")
    high, same = operation_kernel.decimal(upper, "margin.upper")
    gap_units, gap_step = operation_kernel.decimal(gap, "gap")
    require((exact is not None) == (grade == "exact"), "grade: is exact exactly if margin.exact is given")

    below, square = network.margin(table), SPLIT * check_proof(table, proof, multipliers)
    if exact is not None:
        require(exact == below, "margin.exact: is not the margin of the network")
        require(exact**2 == square, "margin.exact: is not the upper bound")
    require(step == same, "margin: both decimals need the same number of places and the same exponent")
    require(low > 0 and low * step <= below < (low + 1) * step, "margin.lower: is not the closest decimal")
    require(operation_kernel.is_closest_above(high, step, square), "margin.upper: is not the closest decimal")
    relative = Fraction(0) if exact is not None else Fraction(high - low, high)
    require((gap_units - 1) * gap_step < relative <= gap_units * gap_step, "gap: is not the closest decimal")
    sides = " x ".join(map(str, table.sides))
    return (
        f"table of three arguments, {sides}, with {table.labels} labels called {json.dumps(table.name)}, "
        f"maximum margin from {lower} to {upper} ({grade})"
    )


if __name__ == "__main__":
    sys.exit(kernel.main(sys.argv[1:], check, "ternary_kernel.py"))
