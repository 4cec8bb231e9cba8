"""Check that a file proves the maximum margin of a finite operation to be an exact algebraic number.

    python -I certificates/algebraic_kernel.py FILE...

Exit status as for operation_kernel.py: 0 valid, 1 not proved, 2 malformed or beyond the limits. The format is described
in ALGEBRAIC_FORMAT.md; tables, networks and gamma are those of OPERATION_FORMAT.md. This program uses the standard
library, kernel.py (for reading) and operation_kernel.py (for tables, their forms, and Cholesky factors) alone, and no
floating point.

The numbers. theta is the only zero between two positive numbers of a monic polynomial f with integer coefficients, of
degree d. All numbers of a file are integers in Z[theta], lists of d integers, over integers; products are reduced by f.
A number is zero if all its coefficients are. (If f is reducible a number may be zero otherwise; its sign is then never
decided, and the file proves nothing.) A sign is that of an enclosure by theta's.

The claim, with q_abc >= 0 of sum 1, x = (u, v), M_k the forms of sum q h / 1, and a number s:
- Above. If a positive semidefinite P has m'P m = s|x|^4 - 2 sum_k z_k x'M_k x + |z|^2 in all x and z, then (z = M(x))
  |M(x)|^2 <= s|x|^4, and so gamma^2 <= 4/27 s.
- Below. Neurons x_i with |M(x_i)|^2 = s|x_i|^4 and numbers p_i > 0 stand for the network that has the neuron
  (sqrt(2/3) x_i/|x_i|, sqrt(1/3) M(x_i)/|M(x_i)|) with the share of p_i|x_i|^4 in the sum of all. Its mean of h_abc is
  2/(3 sqrt(3 s)) sum_i p_i (u_a + v_b)^2 (M_y - M_c)(x_i), divided by sum_i p_i|x_i|^4. If that quotient of sums is at
  least s for all triples, gamma^2 >= 4/27 s.
"""

import json
import sys
from collections import defaultdict
from itertools import combinations_with_replacement
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

FORMAT, VERSION = "lemmata/algebraic-margin", 1
MAX_DEGREE = 64  # of theta, and of a claimed polynomial
MAX_FIELD_BITS = 6000  # of the bounds of theta
MAX_ORDER_CUBED = 10**8  # cube of the order of the matrix: time
MAX_WORK = 10**8  # of products of numbers, in the units of `Document`: time
PRECISION = 256  # bits of the largest entry of the matrix whose factor is looked for

Number = tuple[int, ...]  # the coefficients of 1, theta, theta^2, ..


# ---- 1. Numbers


def whole(value: Any, where: str) -> int:
    """An integer from its decimal digits, in a string because it may be long."""
    return int(kernel.string(value, where, r"0|-?[1-9]\d*"))


class Field:
    """Z[theta]: theta is the only zero of f between low and low + 1, over 2^bits."""

    def __init__(self, value: Any) -> None:
        polynomial, low, bits = kernel.fields(value, "field", "polynomial low bits")
        self.degree = d = len(kernel.entries(polynomial, "field.polynomial", 1, MAX_DEGREE))
        self.f = [whole(c, f"field.polynomial[{i}]") for i, c in enumerate(polynomial)]  # but for theta^d
        self.bits = kernel.integer(bits, "field.bits", 0, MAX_FIELD_BITS)
        self.low = whole(low, "field.low")
        if self.low < 1:
            raise MalformedError("field.low must be positive")
        f = [*self.f, 1]
        ends = [sum(c * x**i << (self.bits * (d - i)) for i, c in enumerate(f)) for x in (self.low, self.low + 1)]
        require(min(ends) <= 0 <= max(ends), "field: f has no zero between low and low + 1")
        self.below, self.above = [1 << self.bits], [1 << self.bits]  # bounds of theta^i, times 2^bits
        for i in range(1, d):
            shift = self.bits * (i - 1)
            self.below.append(self.low**i >> shift)
            self.above.append(((self.low + 1) ** i >> shift) + 1)
        least, most = self.enclosure(derivative(f))
        require(least > 0 or most < 0, "field: f has perhaps another zero between low and low + 1")
        self.reduced = [tuple(-c for c in self.f)]  # theta^d, theta^(d+1), ..
        for _ in range(d - 2):
            last = self.reduced[-1]
            shifted = (0, *last[:-1])
            self.reduced.append(tuple(a - last[-1] * c for a, c in zip(shifted, self.f, strict=True)))
        self.length = max(abs(c).bit_length() for row in [self.above, *self.reduced] for c in row)  # bits

    def number(self, value: Any, where: str) -> Number:
        """A number: 0, or its d coefficients."""
        if value == 0 and type(value) is int:
            return (0,) * self.degree
        coefficients = kernel.entries(value, where, self.degree, self.degree)
        return tuple(whole(c, where) for c in coefficients)

    def numbers(self, value: Any, where: str, low: int, high: int) -> list[Number]:
        """From low to high numbers."""
        return [self.number(x, f"{where}[{i}]") for i, x in enumerate(kernel.entries(value, where, low, high))]

    def of(self, a: int) -> Number:
        """An integer."""
        return (a, *(0,) * (self.degree - 1))

    def times(self, a: Number, b: Number) -> Number:
        """a b."""
        d = self.degree
        product = [0] * (2 * d - 1)
        for i, x in enumerate(a):
            if x:
                for j, y in enumerate(b):
                    product[i + j] += x * y
        for top, power in zip(product[d:], self.reduced, strict=False):
            if top:
                for i, c in enumerate(power):
                    product[i] += top * c
        return tuple(product[:d])

    def enclosure(self, a: Number) -> tuple[int, int]:
        """Bounds of 2^bits a."""
        pairs = list(zip(a, self.below, self.above, strict=True))
        return sum(c * (l if c > 0 else h) for c, l, h in pairs), sum(c * (h if c > 0 else l) for c, l, h in pairs)

    def sign(self, a: Number) -> int:
        """The sign of a."""
        low, high = self.enclosure(a)
        if low <= 0 <= high and any(a):
            raise MalformedError("field.bits are too few to tell a sign")
        return (low > 0) - (high < 0)

    def near(self, a: Number, shift: int) -> int:
        """An integer at a distance of at most 1 from a 2^shift."""
        low, high = self.enclosure(a)
        by = self.bits - shift
        if by < 0 or high > ((low >> by) + 2) << by:
            raise MalformedError("field.bits are too few for the entries of the matrix")
        return (low >> by) + 1


def plus(*numbers: Number) -> Number:
    """A sum."""
    return tuple(map(sum, zip(*numbers, strict=True)))


def scaled(a: Number, factor: int) -> Number:
    """An integer times a number."""
    return tuple(c * factor for c in a)


def derivative(f: list[int]) -> Number:
    """The coefficients of f'."""
    return tuple(i * c for i, c in enumerate(f))[1:]


# ---- 2. Reading


class Document:
    """The parts of a document, each of the right type and range; nothing is believed yet."""

    def __init__(self, value: Any) -> None:
        names = "format version table field multipliers proof network margin gap grade"
        kind, version, table, field, multipliers, proof, network, margin, gap, grade = kernel.fields(
            value, "the document", names
        )
        kernel.string(kind, "format", FORMAT)
        kernel.integer(version, "version", VERSION, VERSION)
        kernel.string(gap, "gap", "0")
        kernel.string(grade, "grade", "exact")
        self.table = table = operation_kernel.Operation(table)
        self.field = field = Field(field)
        N, C, T = table.size, table.labels, len(table.triples)

        unit, listed = kernel.fields(multipliers, "multipliers", "denominator values")
        self.unit = whole(unit, "multipliers.denominator")
        self.multipliers = field.numbers(listed, "multipliers.values", T, T)

        kind, denominator, square, matrix, vectors = kernel.fields(
            proof, "proof", "kind denominator square matrix kernel"
        )
        kernel.string(kind, "proof.kind", "degree 4")
        self.denominator = whole(denominator, "proof.denominator")
        self.square = field.number(square, "proof.square")
        self.order = n = N * (N + 1) // 2 + C
        if n**3 > MAX_ORDER_CUBED:
            raise MalformedError(f"proof.matrix: of the order {n} is beyond the limits")
        kernel.entries(matrix, "proof.matrix", n, n)
        self.matrix = [field.numbers(row, f"proof.matrix[{i}]", i + 1, i + 1) for i, row in enumerate(matrix)]
        kernel.entries(vectors, "proof.kernel", 0, n)
        self.kernel = [field.numbers(v, f"proof.kernel[{i}]", n, n) for i, v in enumerate(vectors)]

        neurons, masses = kernel.fields(network, "network", "neurons masses")
        count = len(kernel.entries(neurons, "network.neurons", 1, kernel.MAX_BRACKETS))
        self.neurons = [field.numbers(x, f"network.neurons[{i}]", N, N) for i, x in enumerate(neurons)]
        self.masses = field.numbers(masses, "network.masses", count, count)

        exact, lower, upper = kernel.fields(margin, "margin", "exact lower upper")
        kernel.entries(exact, "margin.exact", 2, MAX_DEGREE + 1)
        self.exact = [whole(c, f"margin.exact[{i}]") for i, c in enumerate(exact)]
        self.lower = operation_kernel.decimal(lower, "margin.lower")
        self.upper = operation_kernel.decimal(upper, "margin.upper")
        self.decimals = lower, upper
        if self.unit < 1 or self.denominator < 1:
            raise MalformedError("denominators must be positive")
        products = n**2 * (len(vectors) + 1) + count * (C * N**2 + T) + len(exact) ** 2
        rows = [*self.matrix, *self.kernel, *self.neurons, self.masses, self.multipliers, [self.square]]
        bits = max(abs(c).bit_length() for row in rows for number in row for c in number)
        length = (bits + field.length) // 1000 + 1  # the time of a product is at most about its square
        if products * (8 + field.degree**2 * length**2) > MAX_WORK:
            raise MalformedError("the products of numbers are beyond the limits")


# ---- 3. Above


def forms(document: Document) -> list[dict[tuple[int, int], Number]]:
    """The coefficients of x_i x_j, i <= j, in the forms `unit` x'M_k x = `unit` sum_ab R_abk (u_a + v_b)^2."""
    field, table = document.field, document.table
    zero = field.of(0)
    result: list[dict[tuple[int, int], Number]] = [defaultdict(lambda: zero) for _ in range(table.labels)]
    for (a, b, y, c), q in zip(table.triples, document.multipliers, strict=True):
        for k, signed in ((y, q), (c, scaled(q, -1))):
            form, v = result[k], table.rows + b
            form[a, a] = plus(form[a, a], signed)
            form[v, v] = plus(form[v, v], signed)
            form[a, v] = plus(form[a, v], signed, signed)
    return [dict(form) for form in result]


def check_multipliers(document: Document) -> None:
    """They are not negative, and their sum is the denominator."""
    for i, q in enumerate(document.multipliers):
        require(document.field.sign(q) >= 0, f"multipliers.values[{i}]: is negative")
    total = plus(*document.multipliers)
    require(total == document.field.of(document.unit), "multipliers: their sum is not 1")


def check_identity(document: Document, M: list[dict[tuple[int, int], Number]]) -> None:
    """unit m'P m = unit (s|x|^4 - 2 sum z_k x'M_k x + |z|^2), times the denominator, coefficient by coefficient."""
    field, N, unit, denominator = document.field, document.table.size, document.unit, document.denominator
    variables, labels = range(N), range(N, N + document.table.labels)
    vector = [*combinations_with_replacement(variables, 2), *((k,) for k in labels)]
    zero = field.of(0)
    found: dict[tuple[int, ...], Number] = defaultdict(lambda: zero)
    for i, (row, m) in enumerate(zip(document.matrix, vector, strict=True)):
        for j, entry in enumerate(row):
            key = tuple(sorted(m + vector[j]))
            found[key] = plus(found[key], scaled(entry, unit if i == j else 2 * unit))
    expected: dict[tuple[int, ...], Number] = defaultdict(lambda: zero)
    for i, j in combinations_with_replacement(variables, 2):
        expected[i, i, j, j] = scaled(document.square, unit if i == j else 2 * unit)
    for k, form in zip(labels, M, strict=True):
        expected[k, k] = field.of(unit * denominator)
        for (i, j), coefficient in form.items():
            expected[i, j, k] = scaled(coefficient, -2 * denominator)
    for m in sorted(found.keys() | expected.keys()):
        require(found[m] == expected[m], f"proof.matrix: the coefficient of the variables {m} is another one")


def check_definite(document: Document) -> None:
    """P is positive semidefinite.

    The listed vectors v are in its kernel, and P + sum v v' is positive definite after some multiplication of P and of
    each v by powers of 2: on the complement of the vectors, which P maps to itself, it agrees with P. The matrix of
    integers A is near P + sum v v', so that every entry of the difference is at most `error`; as a symmetric matrix the
    difference is at most n times that, and A - n error I has a Cholesky factor.
    """
    field, n = document.field, document.order
    P = document.matrix
    full = [[P[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
    for i, v in enumerate(document.kernel):
        for row in full:
            product = plus(*(field.times(a, b) for a, b in zip(row, v, strict=True)))
            require(not any(product), f"proof.kernel[{i}]: is not in the kernel of the matrix")
    shift = PRECISION - size(document, [a for row in P for a in row])
    A = [[field.near(a, shift) for a in row] for row in P]
    error = 1
    for v in document.kernel:
        shift = PRECISION // 2 - size(document, v)
        near = [field.near(a, shift) for a in v]
        error += 2 * max(map(abs, near)) + 1
        for i, row in enumerate(A):
            for j in range(i + 1):
                row[j] += near[i] * near[j]
    for i, row in enumerate(A):
        row[i] -= n * error
    require(operation_kernel.has_dominated_factor(A), "proof.matrix: is not shown to be positive semidefinite")


def size(document: Document, numbers: list[Number]) -> int:
    """About the binary logarithm of the largest absolute value."""
    return max(abs(document.field.enclosure(a)[0]) for a in numbers).bit_length() - document.field.bits


# ---- 4. Below


def check_network(document: Document, M: list[dict[tuple[int, int], Number]]) -> None:
    """The network has a margin of at least 2/(3 sqrt 3) sqrt(s)."""
    field, table = document.field, document.table
    zero = field.of(0)
    total = zero  # of p |x|^4
    means: dict[tuple[int, int, int, int], Number] = dict.fromkeys(table.triples, zero)  # times `unit`
    for i, (x, p) in enumerate(zip(document.neurons, document.masses, strict=True)):
        require(field.sign(p) > 0, f"network.masses[{i}]: is not positive")
        squares = {(j, k): field.times(x[j], x[k]) for j, k in combinations_with_replacement(range(table.size), 2)}
        length = plus(*(squares[j, j] for j in range(table.size)))
        fourth = field.times(length, length)
        outputs = [plus(zero, *(field.times(c, squares[key]) for key, c in form.items())) for form in M]
        answer = scaled(plus(*(field.times(z, z) for z in outputs)), document.denominator)
        best = scaled(field.times(document.square, fourth), document.unit**2)
        require(answer == best, f"network.neurons[{i}]: does not answer with the length of the best")
        total = plus(total, field.times(p, fourth))
        weighted = [field.times(p, z) for z in outputs]
        for a, b, y, c in table.triples:
            v = table.rows + b
            square = plus(squares[a, a], squares[v, v], scaled(squares[a, v], 2))
            mean = field.times(square, plus(weighted[y], scaled(weighted[c], -1)))
            means[a, b, y, c] = plus(means[a, b, y, c], mean)
    require(field.sign(total) > 0, "network.neurons: are all zero")
    needed = scaled(field.times(document.square, total), -document.unit)
    for (a, b, _, c), mean in means.items():
        slack = plus(scaled(mean, document.denominator), needed)
        require(field.sign(slack) >= 0, f"network: at cell ({a}, {b}) and label {c} it is below the margin")


# ---- 5. The margin


def check_margin(document: Document) -> None:
    """gamma^2 = 4/27 s is a zero of the claimed polynomial, its only one between the squares of the decimals."""
    field = document.field
    above, below = scaled(document.square, 4), 27 * document.denominator  # of gamma^2
    value, power = field.of(0), 1
    for c in reversed(document.exact):  # Horner
        value = plus(field.times(value, above), field.of(c * power))
        power *= below
    require(not any(value), "margin.exact: the square of the margin is no zero")
    (low, step), (high, same) = document.lower, document.upper
    require(step == same and high == low + 1 and low > 0, "margin: the decimals are not consecutive, or zero")
    squares = [(units * step) ** 2 for units in (low, high)]
    for square, side, name in zip(squares, (1, -1), ("lower", "upper"), strict=True):
        slack = plus(scaled(above, square.denominator), field.of(-below * square.numerator))
        require(side * field.sign(slack) >= 0, f"margin.{name}: is on the wrong side")
    slope = derivative(document.exact)  # times a power of the common denominator of the squares, in integers
    ends, unit = ((low * step.numerator) ** 2, (high * step.numerator) ** 2), step.denominator**2
    least = sum(c * ends[c < 0] ** i * unit ** (len(slope) - i) for i, c in enumerate(slope))
    most = sum(c * ends[c > 0] ** i * unit ** (len(slope) - i) for i, c in enumerate(slope))
    require(least > 0 or most < 0, "margin.exact: has perhaps another zero between the squares of the decimals")


def check(data: bytes) -> str:
    """What a document proves, as a line of text; MalformedError or ViolatedError if it proves nothing."""
    document = Document(kernel.parse(data))
    check_multipliers(document)
    M = forms(document)
    check_identity(document, M)
    check_network(document, M)
    check_margin(document)
    check_definite(document)
    table, (lower, upper) = document.table, document.decimals
    return (
        f"table of {table.rows} rows, {table.columns} columns and {table.labels} labels "
        f"called {json.dumps(table.name)}, maximum margin from {lower} to {upper}, its square an exact zero of a "
        f"polynomial of degree {len(document.exact) - 1}"
    )


if __name__ == "__main__":
    sys.exit(kernel.main(sys.argv[1:], check, "algebraic_kernel.py"))
