"""Check that a file proves the maximum margin of a finite operation, or what it says about a cell that was never seen.

    python -I certificates/operation_kernel.py FILE...

Exit status 0: every file is valid; 1: a file is well formed, but its claim is not proved (the first violated line is
printed); 2: a file is malformed or beyond the limits below. The formats are described in OPERATION_FORMAT.md. This
program uses the standard library and kernel.py (for reading, and for sums of square roots) alone, and no floating
point. Whatever it can compute it computes itself and compares with the file.

The claim. A table gives labels y(a, b) in {0, .., C-1} to some cells of A x B. A neuron is omega = (u, v, w) in R^A x
R^B x R^C, and a network of norm 1 is a probability measure on neurons of length 1. Its outputs are the means of
(u_a + v_b)^2 w, its margin is the least mean of h_abc = (u_a + v_b)^2 (w_y - w_c) over the *triples*: given cells
(a, b) with a label c != y(a, b). gamma is the largest margin. Integer neurons omega_i with masses p_i stand for the
network that has the mass p_i / sum p at omega_i / |omega_i|. (Version 2: see `ApartNetwork`.)

A tensor R_abk with sum_k R_abk = 0 stands for the function sum_abk R_abk (u_a + v_b)^2 w_k = sum_k w_k x'M_k x of a
neuron, x = (u, v). If |M(x)| = |(x'M_k x)_k| <= phi |x|^2 for all x, then it is at most 2/(3 sqrt 3) phi on neurons of
length 1, because s^2 sqrt(1 - s^2) <= 2/(3 sqrt 3). A *proof* in a file shows phi^2 <= t t' (`check_proof`).
- The mean of sum q_abc h_abc with q >= 0, sum 1, is a bound of every margin: gamma^2 <= 4/27 t t' for its tensor.
- An unseen cell e of true label y: let G be f_y - sum_c p_c f_c there, with probabilities p. With l >= 0 and the tensor
  of sum l_abc h_abc - G every network of margin at least g has G >= g sum l - 2/(3 sqrt 3) phi. With + G it is - G.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isqrt
from operator import mul
from pathlib import Path
from typing import Any

if not __package__:  # a program of two files, or a part of one: in the mode -I nothing else finds the kernel beside
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import kernel
    from kernel import MalformedError, require
else:
    from lemmata.certificates import kernel
    from lemmata.certificates.kernel import MalformedError, require

MARGIN, UNSEEN, VERSION = "lemmata/operation-margin", "lemmata/unseen-cell", 1
APART = 2  # the version of an exact margin whose network has x and w normalised apart
MAX_INTEGER = 10**19  # of multipliers, masses and entries of matrices
MAX_COORDINATE = 10**12  # of a neuron
MAX_SIDE, MAX_TRIPLES = 200, 20_000  # rows, columns, labels; given cells times labels: time
MAX_PRODUCTS = 10_000_000  # neurons times (triples + coordinates): time and memory
MAX_ORDER_CUBED = 10**9  # cubes of the orders of all matrices in a file together: time
MAX_EXACT = 10**12  # n^5 bits^2 for the elimination without rounding of a matrix of order n: time
MAX_ROOT = 10**10  # squared length of a neuron in an exact margin: time
MAX_LENGTHS, MAX_TERMS = 50, 20_000  # different lengths in an exact margin, and triples times them: time
MAX_FIELD_ROOT = 10**6  # under the root in the coordinates of neurons: time
BITS = 400  # below one, of the enclosure of a margin
EXTRA_BITS = 64  # of a Cholesky factor, beyond half of those of the matrix

Values = list[list[int]]  # of a table, or the lower triangle of a symmetric matrix
Tensor = list[list[list[int]]]  # R_abk, times a common denominator


# ---- 1. Reading: every part of a document gets the right type and range; nothing is believed yet


def integers(value: Any, where: str, length: int, low: int, high: int) -> list[int]:
    """A list of so many integers from low to high."""
    entries = kernel.entries(value, where, length, length)
    return [kernel.integer(entry, f"{where}[{i}]", low, high) for i, entry in enumerate(entries)]


def positive(value: Any, where: str) -> Fraction:
    """A fraction above zero."""
    result = kernel.fraction(value, where)
    if result <= 0:
        raise MalformedError(f"{where} must be positive")
    return result


class Operation:
    """The given cells: those where `values` is not -1."""

    def __init__(self, value: Any) -> None:
        name, labels, values = kernel.fields(value, "table", "name labels values")
        self.name = kernel.string(name, "table.name", r"[ -~]*")  # printed in quotes, never checked
        self.labels = kernel.integer(labels, "table.labels", 2, MAX_SIDE)
        self.rows = len(kernel.entries(values, "table.values", 1, MAX_SIDE))
        self.columns = len(kernel.entries(values[0], "table.values[0]", 1, MAX_SIDE))
        self.values: Values = [
            integers(row, f"table.values[{a}]", self.columns, -1, self.labels - 1) for a, row in enumerate(values)
        ]
        self.size = self.rows + self.columns  # of x
        cells = [(a, b, y) for a, row in enumerate(self.values) for b, y in enumerate(row) if y >= 0]
        if not cells or len(cells) * self.labels > MAX_TRIPLES:
            raise MalformedError(f"table.values must have a given cell, and at most {MAX_TRIPLES} triples")
        self.triples = [(a, b, y, c) for a, b, y in cells for c in range(self.labels) if c != y]


class Network:
    """Integer neurons and their masses."""

    def __init__(self, value: Any, where: str, table: Operation) -> None:
        neurons, masses = kernel.fields(value, where, "neurons masses")
        length = table.size + table.labels
        most = MAX_PRODUCTS // (len(table.triples) + length)
        count = len(kernel.entries(neurons, f"{where}.neurons", 1, most))
        self.neurons = [
            integers(neuron, f"{where}.neurons[{i}]", length, -MAX_COORDINATE, MAX_COORDINATE)
            for i, neuron in enumerate(neurons)
        ]
        self.masses = integers(masses, f"{where}.masses", count, 1, MAX_INTEGER)
        if not all(map(any, self.neurons)):
            raise MalformedError(f"{where}.neurons must not be zero")


class ApartNetwork:
    """Neurons (x, w), x = (u, v) = x_0 + x_1 sqrt(root), and p = p_0 + p_1 sqrt(root) > 0 for each, all of integers.

    A neuron stands for (sqrt(2/3) x/|x|, sqrt(1/3) w/|w|), of length 1, with the share of p |x|^2 in the sum of all: so
    a mean of (u_a + v_b)^2 (w_y - w_c) is that of sum p (u_a + v_b)^2 (w_y - w_c) 2/(9 |w|^2) sqrt(3 |w|^2), divided by
    `size` = sum p |x|^2. No neuron needs another denominator, and those with x = 0 count for nothing.
    """

    def __init__(self, value: Any, where: str, table: Operation) -> None:
        root, neurons, masses = kernel.fields(value, where, "root neurons masses")
        self.root = kernel.integer(root, f"{where}.root", 1, MAX_FIELD_ROOT)
        most = MAX_PRODUCTS // (len(table.triples) + 2 * table.size + table.labels)
        count = len(kernel.entries(neurons, f"{where}.neurons", 1, most))
        masses = kernel.entries(masses, f"{where}.masses", count, count)
        self.masses = [
            integers(mass, f"{where}.masses[{i}]", 2, -MAX_INTEGER, MAX_INTEGER) for i, mass in enumerate(masses)
        ]
        if any(kernel.sign(radical(p, q, self.root)) <= 0 for p, q in self.masses):
            raise MalformedError(f"{where}.masses must be positive")
        self.neurons: list[tuple[list[int], list[int], list[int]]] = []
        for i, neuron in enumerate(neurons):
            at = f"{where}.neurons[{i}]"
            parts = zip(kernel.entries(neuron, at, 3, 3), (table.size, table.size, table.labels), strict=True)
            x, y, w = [integers(part, at, length, -MAX_COORDINATE, MAX_COORDINATE) for part, length in parts]
            self.neurons.append((x, y, w))
        self.squares = [sum(map(mul, w, w)) for _, _, w in self.neurons]
        if not all(self.squares):
            raise MalformedError(f"{where}.neurons must have no w that is zero")
        if 3 * max(self.squares) > MAX_ROOT:
            raise MalformedError(f"{where}.neurons must have shorter w")
        if len(set(self.squares)) > MAX_LENGTHS or len(table.triples) * len(set(self.squares)) > MAX_TERMS:
            raise MalformedError(f"{where}.neurons: have too many different lengths of w")
        self.units: dict[int, tuple[kernel.Radicals, kernel.Radicals]] = {}  # without and with sqrt(root)
        for square in set(self.squares):
            unit = kernel.times_root({1: Fraction(2, 9 * square)}, 3 * square)
            self.units[square] = unit, kernel.times_root(unit, self.root)
        one, other = 0, 0
        for (p, q), (x, y, _) in zip(self.masses, self.neurons, strict=True):
            s, t = sum(map(mul, x, x)) + self.root * sum(map(mul, y, y)), 2 * sum(map(mul, x, y))
            one, other = one + p * s + self.root * q * t, other + p * t + q * s
        self.size = radical(one, other, self.root)
        if kernel.sign(self.size) <= 0:
            raise MalformedError(f"{where}.neurons must have an x that is not zero")

    def total(self, table: Operation, a: int, b: int, y: int, c: int) -> kernel.Radicals:
        """The mean of (u_a + v_b)^2 (w_y - w_c), times `size`."""
        ones: Counter[int] = Counter()
        others: Counter[int] = Counter()
        for (p, q), square, (x, x_root, w) in zip(self.masses, self.squares, self.neurons, strict=True):
            s, t = x[a] + x[table.rows + b], x_root[a] + x_root[table.rows + b]
            s, t = s * s + self.root * t * t, 2 * s * t
            ones[square] += (p * s + self.root * q * t) * (w[y] - w[c])
            others[square] += (p * t + q * s) * (w[y] - w[c])
        result: kernel.Radicals = {}
        for square, one in ones.items():
            unit, with_root = self.units[square]
            result = kernel.plus(result, unit, Fraction(one))
            result = kernel.plus(result, with_root, Fraction(others[square]))
        return result


def radical(one: int, other: int, root: int) -> kernel.Radicals:
    """one + other sqrt(root)."""
    return kernel.plus({1: Fraction(one)}, kernel.times_root({1: Fraction(other)}, root))


class Proof:
    """What is to show phi^2 <= t t': a matrix, as integers over a denominator, of a plane, degree 4 or degree 6."""

    def __init__(self, value: Any, where: str, table: Operation) -> None:
        kind, t, t_prime, denominator, matrix = kernel.fields(value, where, "kind t t_prime denominator matrix")
        self.where = where
        self.kind = kernel.string(kind, f"{where}.kind", "plane|degree 4|degree 6")
        self.t, self.t_prime = positive(t, f"{where}.t"), positive(t_prime, f"{where}.t_prime")
        self.denominator = kernel.integer(denominator, f"{where}.denominator", 1, MAX_INTEGER)
        N, C = table.size, table.labels
        if self.kind == "plane" and C > 3:
            raise MalformedError(f"{where}.kind must not be plane for more than 3 labels")
        self.order = {
            "plane": 2 * N,
            "degree 4": N * (N + 1) // 2 + C,
            "degree 6": N * (N + 1) * (N + 2) // 6 + N * C,
        }[self.kind]
        if self.order**3 > MAX_ORDER_CUBED:
            raise MalformedError(f"{where}: a matrix of order {self.order} is beyond the limits")
        rows = kernel.entries(matrix, f"{where}.matrix", self.order, self.order)
        self.matrix: Values = [
            integers(row, f"{where}.matrix[{i}]", i + 1, -MAX_INTEGER, MAX_INTEGER) for i, row in enumerate(rows)
        ]


def multipliers(value: Any, where: str, table: Operation) -> list[int]:
    """One integer for each triple, none negative, not all zero."""
    result = integers(value, where, len(table.triples), 0, MAX_INTEGER)
    if not any(result):
        raise MalformedError(f"{where} must not all be zero")
    return result


def limited_orders(proofs: Iterable[Proof]) -> None:
    """MalformedError if the matrices together are beyond the limits."""
    if sum(proof.order**3 for proof in proofs) > MAX_ORDER_CUBED:
        raise MalformedError("the matrices together are beyond the limits")


def decimal(value: Any, where: str) -> tuple[int, Fraction]:
    """The units and the size of a unit of a decimal."""
    return kernel.decimal(kernel.string(value, where, kernel.DECIMAL))


# ---- 2. Positive semidefinite matrices


def has_dominated_factor(matrix: Values) -> bool:
    """Whether rounding down to integers finds a Cholesky factor with a remainder that is diagonally dominant.

    It forms a lower triangular integer L, row by row; K = 4^bits times the matrix is L L' + E with a symmetric E. Off
    the diagonal E_ij is the remainder of a division by L_jj, so 0 <= E_ij < L_jj <= top; and E_ii >= n top, because
    that much is subtracted from K_ii before its root is taken. So E_ii > sum_j |E_ij|: E and K are positive definite.
    """
    top = isqrt(max(0, *(row[-1] for row in matrix)) << (2 * EXTRA_BITS))
    factor: Values = []
    for row in matrix:
        new: list[int] = []
        for entry, known in zip(row[:-1], factor, strict=True):
            new.append(((entry << (2 * EXTRA_BITS)) - sum(map(mul, new, known))) // known[-1])
        pivot = (row[-1] << (2 * EXTRA_BITS)) - len(matrix) * top - sum(map(mul, new, new))
        if pivot <= 0:
            return False
        factor.append([*new, isqrt(pivot)])
    return True


def eliminates(matrix: Values, where: str) -> bool:
    """Whether a matrix is positive semidefinite, by Gaussian elimination without fractions or rounding.

    After a step with pivot p the rest is the Schur complement times p (Bareiss: the divisions leave no remainder). A
    matrix is positive semidefinite if and only if each pivot is positive, or zero with zeros in its whole column.
    """
    n, bits = len(matrix), max(abs(x).bit_length() for row in matrix for x in row)
    if n**5 * bits**2 > MAX_EXACT:
        return False  # too much work: nothing is proved
    rest, last = [list(row) for row in matrix], 1
    for k in range(n):
        p = rest[k][k]
        column = [rest[i][k] for i in range(k + 1, n)]
        if p < 0 or (p == 0 and any(column)):
            return False
        if p == 0:
            continue
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                rest[i][j] = (rest[i][j] * p - rest[i][k] * rest[j][k]) // last
        last = p
    return True


# ---- 3. Tensors, and proofs that phi^2 <= t t'


def tensor(table: Operation, weights: list[int]) -> Tensor:
    """R of sum weights_abc h_abc."""
    result = [[[0] * table.labels for _ in range(table.columns)] for _ in range(table.rows)]
    for (a, b, y, c), weight in zip(table.triples, weights, strict=True):
        result[a][b][y] += weight
        result[a][b][c] -= weight
    return result


def forms(R: Tensor) -> list[dict[tuple[int, int], int]]:
    """The coefficients of x_i x_j, i <= j, in the forms x'M_k x = sum_ab R_abk (u_a + v_b)^2, without zero ones."""
    A = len(R)
    result: list[Counter[tuple[int, int]]] = [Counter() for _ in R[0][0]]
    for a, row in enumerate(R):
        for b, entries in enumerate(row):
            for form, entry in zip(result, entries, strict=True):
                if entry:
                    form[a, a] += entry
                    form[A + b, A + b] += entry
                    form[a, A + b] += 2 * entry
    return [dict(form) for form in result]


def check_proof(table: Operation, proof: Proof, R: Tensor, unit: int) -> Fraction:
    """t t' with phi^2 <= t t', for the tensor R / unit.

    Degree 4 + 2r: let m be the vector of the monomials of degree 2 + r in x and of those of degree r times z_k. If P is
    positive semidefinite and m'P m = |x|^(2r) (t|x|^4 - 2 sum_k z_k x'M_k x + t'|z|^2) in all x, z, then the bracket is
    not negative; z = M(x)/t' makes it t|x|^4 - |M(x)|^2/t'.

    Plane (at most 3 labels, M_2 = 0 for two): let A = M_0 - M_1 and B = M_0 + M_1 = -M_2, so |M(x)|^2 = (a^2 + 3b^2)/2
    with a = x'A x, b = x'B x. If [[tI + A, 3B - S], [3B + S, 3(tI - A)]] is positive semidefinite with a skew S, then
    its values p, q, r at (x, 0), (0, x) and between them, p = t + a, q = 3(t - a), r = 3b for |x| = 1, have pq >= r^2:
    a^2 + 3b^2 <= t^2, and phi^2 <= t^2/2 = t t' with t' = t/2.
    """
    if proof.kind == "plane":
        check_plane(table, proof, R, unit)
    else:
        check_identity(table, proof, R, unit)
    proved = has_dominated_factor(proof.matrix) or eliminates(proof.matrix, proof.where)
    require(proved, f"{proof.where}.matrix: is not shown to be positive semidefinite")
    return proof.t * proof.t_prime


def check_plane(table: Operation, proof: Proof, R: Tensor, unit: int) -> None:
    """The matrix has the blocks tI + A, 3(tI - A) and, but for a skew part, 3B."""
    N, t, P, where = table.size, proof.t * proof.denominator, proof.matrix, f"{proof.where}.matrix"
    require(proof.t_prime == proof.t / 2, f"{proof.where}.t_prime: is not t/2")
    M0, M1 = forms(R)[:2]
    for i in range(N):
        for j in range(i + 1):
            twice = 2 if i == j else 1  # a coefficient of x_i x_j is two entries
            first, second = (Fraction(M.get((j, i), 0) * twice * proof.denominator, 2 * unit) for M in (M0, M1))
            A, B, one = first - second, first + second, t if i == j else 0
            require(P[i][j] == one + A, f"{where}[{i}][{j}]: is not that of tI + A")
            require(P[N + i][N + j] == 3 * (one - A), f"{where}[{N + i}][{N + j}]: is not that of 3(tI - A)")
            require(P[N + i][j] + P[N + j][i] == 6 * B, f"{where}[{N + i}][{j}]: is not that of 3B and a skew matrix")


def check_identity(table: Operation, proof: Proof, R: Tensor, unit: int) -> None:
    """Both sides of the identity have the same coefficients; a monomial is the sorted tuple of its variables."""
    N, C, r = table.size, table.labels, int(proof.kind == "degree 6")
    x, z = range(N), range(N, N + C)
    vector = list(combinations_with_replacement(x, 2 + r))
    vector += [(*m, k) for m in combinations_with_replacement(x, r) for k in z]
    found: Counter[tuple[int, ...]] = Counter()
    for i, (row, m) in enumerate(zip(proof.matrix, vector, strict=True)):
        for j, entry in enumerate(row):
            if entry:
                found[tuple(sorted(m + vector[j]))] += entry if i == j else 2 * entry
    bracket = {(i, i, j, j): proof.t * (1 if i == j else 2) for i, j in combinations_with_replacement(x, 2)}
    bracket |= {(k, k): proof.t_prime for k in z}
    for k, form in zip(z, forms(R), strict=True):
        bracket |= {(i, j, k): Fraction(-2 * coefficient, unit) for (i, j), coefficient in form.items()}
    expected: Counter[tuple[int, ...]] = Counter()
    for m, coefficient in bracket.items():
        for factor in [(i, i) for i in x] if r else [()]:
            expected[tuple(sorted(m + factor))] += coefficient * proof.denominator  # type: ignore[assignment]
    for m in sorted(found.keys() | expected.keys()):
        where = f"{proof.where}.matrix: the coefficient of the variables {m}"
        require(found[m] == expected[m], f"{where} is {found[m]} in place of {expected[m]}")


# ---- 4. Networks


def output_differences(
    table: Operation, network: Network, triples: Iterable[tuple[int, int, int, int]]
) -> Iterator[list[int]]:
    """For each (a, b, y, c) the integers mass (u_a + v_b)^2 (w_y - w_c) of all neurons."""
    A, N = table.rows, table.size
    pairs = list(zip(network.neurons, network.masses, strict=True))
    for a, b, y, c in triples:
        yield [mass * (x[a] + x[A + b]) ** 2 * (x[N + y] - x[N + c]) for x, mass in pairs]


def enclosures(
    table: Operation, network: Network, triples: Iterable[tuple[int, int, int, int]]
) -> list[tuple[Fraction, Fraction]]:
    """Bounds of the mean of (u_a + v_b)^2 (w_y - w_c) for each (a, b, y, c); |omega|^-3 is rounded to `BITS` bits."""
    cubes = [sum(map(mul, neuron, neuron)) ** 3 for neuron in network.neurons]
    low = [isqrt((1 << (2 * BITS)) // cube) for cube in cubes]
    scale = sum(network.masses) << BITS
    result = []
    for differences in output_differences(table, network, triples):
        least = sum(map(mul, differences, low))
        spread = sum(map(abs, differences))  # the roots are less than low + 1
        below = sum(d for d in differences if d < 0)
        result.append((Fraction(least + below, scale), Fraction(least + below + spread, scale)))
    return result


def least_margin(table: Operation, network: Network) -> Fraction:
    """A lower bound of the margin of a network on the given cells."""
    return min(low for low, _ in enclosures(table, network, table.triples))


def check_exact_margin(table: Operation, network: Network, value: kernel.Radicals) -> None:
    """Each mean of h_abc is at least the value, by exact comparison of sums of square roots."""
    lengths = [sum(map(mul, neuron, neuron)) for neuron in network.neurons]
    if max(lengths) > MAX_ROOT:
        raise MalformedError("network.neurons: are too long for an exact margin")
    if len(set(lengths)) > MAX_LENGTHS or len(table.triples) * len(set(lengths)) > MAX_TERMS:
        raise MalformedError("network.neurons: have too many different lengths for an exact margin")
    roots = {length: next(iter(kernel.times_root({1: Fraction(1)}, length).items())) for length in set(lengths)}
    total = sum(network.masses)
    differences = output_differences(table, network, table.triples)
    for (a, b, _, c), entries in zip(table.triples, differences, strict=True):
        by_length: Counter[int] = Counter()
        for entry, length in zip(entries, lengths, strict=True):
            by_length[length] += entry
        mean: kernel.Radicals = {}
        for length, entry in by_length.items():  # entry / length^(3/2)
            root, coefficient = roots[length]
            mean = kernel.plus(mean, {root: coefficient * Fraction(entry, length**2 * total)})
        slack = kernel.plus(mean, value, Fraction(-1))
        require(kernel.sign(slack) >= 0, f"network: at cell ({a}, {b}) and label {c} it is below margin.exact")


# ---- 5. The margin of a table


def check_margin(value: Any) -> str:
    """What a document of the margin of a table proves."""
    names = "format version table network multipliers proof margin gap grade"
    _, version, table, network, weights, proof, margin, gap, grade = kernel.fields(value, "the document", names)
    apart = kernel.integer(version, "version", VERSION, APART) == APART
    table = Operation(table)
    network = (ApartNetwork if apart else Network)(network, "network", table)
    proof = Proof(proof, "proof", table)
    weights = multipliers(weights, "multipliers", table)
    kernel.string(grade, "grade", "exact|enclosed")
    exact, lower, upper = kernel.fields(margin, "margin", "exact lower upper")
    (low, step), (high, same) = decimal(lower, "margin.lower"), decimal(upper, "margin.upper")
    gap_units, gap_step = decimal(gap, "gap")
    if exact is not None:
        kernel.string(exact, "margin.exact", r"[1-9]\d*(/\d+)?(\*sqrt\([1-9]\d{0,10}\))?")
    elif apart:
        raise MalformedError(f"margin.exact must be given in a document of version {APART}")
    require((exact is not None) == (grade == "exact"), "grade: is exact exactly if margin.exact is given")

    square = upper_square(table, proof, weights)
    require(step == same, "margin: both decimals need the same number of places and the same exponent")
    closest = False
    if exact is not None:
        check_exact(table, network, exact, square)
        closest = (low * step) ** 2 <= square < ((low + 1) * step) ** 2
    elif isinstance(network, Network):
        closest = low * step <= least_margin(table, network) < (low + 1) * step
    require(low > 0 and closest, "margin.lower: is not the closest decimal")
    require(is_closest_above(high, step, square), "margin.upper: is not the closest decimal")
    relative = Fraction(0) if exact is not None else Fraction(high - low, high)
    require((gap_units - 1) * gap_step < relative <= gap_units * gap_step, "gap: is not the closest decimal")
    return (
        f"table of {table.rows} rows, {table.columns} columns and {table.labels} labels "
        f"called {json.dumps(table.name)}, maximum margin from {lower} to {upper} ({grade})"
    )


def upper_square(table: Operation, proof: Proof, weights: list[int]) -> Fraction:
    """A bound of the square of the maximum margin."""
    return Fraction(4, 27) * check_proof(table, proof, tensor(table, weights), sum(weights))


def is_closest_above(units: int, step: Fraction, square: Fraction) -> bool:
    """Whether units * step is the least multiple of the step that is not below the root of a positive square."""
    return units > 0 and ((units - 1) * step) ** 2 < square <= (units * step) ** 2


def check_exact(table: Operation, network: Network | ApartNetwork, exact: str, square: Fraction) -> None:
    """The text q*sqrt(m) is the root of `square`, and the network has that margin."""
    coefficient, _, root = exact.partition("*sqrt(")
    q, m = kernel.fraction(coefficient, "margin.exact"), int(root[:-1] or 1)
    if m > MAX_ROOT or (m == 1) != (not root):
        raise MalformedError(f"margin.exact must have a root from 2 to {MAX_ROOT}, or none")
    require(kernel.square_part(m) == 1, "margin.exact: the number under the root is not squarefree")
    require(q * q * m == square, "margin.exact: is not the upper bound")
    if isinstance(network, ApartNetwork):
        needed = kernel.times_root({r: q * c for r, c in network.size.items()}, m)
        for a, b, y, c in table.triples:
            slack = kernel.plus(network.total(table, a, b, y, c), needed, Fraction(-1))
            require(kernel.sign(slack) >= 0, f"network: at cell ({a}, {b}) and label {c} it is below margin.exact")
    else:
        check_exact_margin(table, network, {m: q})


# ---- 6. Cells that were never seen


class Part:
    """Multipliers l over a denominator, and a proof for the tensor of sum l_abc h_abc -/+ G."""

    def __init__(self, value: Any, where: str, table: Operation) -> None:
        weights, denominator, proof, bound = kernel.fields(value, where, "multipliers denominator proof bound")
        self.where = where
        self.multipliers = multipliers(weights, f"{where}.multipliers", table)
        self.denominator = kernel.integer(denominator, f"{where}.denominator", 1, MAX_INTEGER)
        self.proof = Proof(proof, f"{where}.proof", table)
        self.bound = decimal(bound, f"{where}.bound")


class Unseen:
    """The parts of a document of an unseen cell."""

    def __init__(self, value: Any) -> None:
        names = "format version table cell label epsilon threshold verdict networks weights parts upper"
        _, version, table, cell, label, epsilon, threshold, verdict, networks, weights, parts, upper = kernel.fields(
            value, "the document", names
        )
        kernel.integer(version, "version", VERSION, VERSION)
        self.table = table = Operation(table)
        self.a, self.b = kernel.entries(cell, "cell", 2, 2)
        kernel.integer(self.a, "cell[0]", 0, table.rows - 1)
        kernel.integer(self.b, "cell[1]", 0, table.columns - 1)
        self.label = kernel.integer(label, "label", 0, table.labels - 1)
        self.others = [c for c in range(table.labels) if c != self.label]
        self.epsilon = positive(epsilon, "epsilon")
        if self.epsilon >= 1:
            raise MalformedError("epsilon must be below 1")
        self.units, self.step = decimal(threshold, "threshold")
        self.threshold = self.units * self.step
        self.verdict = kernel.string(verdict, "verdict", "right|wrong|both")
        count = 2 if self.verdict == "both" else 1
        kernel.entries(networks, "networks", count, count)
        self.networks = [Network(network, f"networks[{i}]", table) for i, network in enumerate(networks)]
        count = {"right": len(self.others), "wrong": 1, "both": 0}[self.verdict]
        kernel.entries(parts, "parts", count, count)
        self.parts = [Part(part, f"parts[{i}]", table) for i, part in enumerate(parts)]
        if (weights is not None) != (self.verdict == "wrong") or (upper is not None) != (self.verdict == "both"):
            raise MalformedError("weights must be null except for wrong, upper must be null except for both")
        self.weights = [] if weights is None else integers(weights, "weights", table.labels, 0, MAX_INTEGER)
        if self.weights and (self.weights[self.label] or not any(self.weights)):
            raise MalformedError("weights must be zero at the label, and not everywhere")
        self.proofs = [part.proof for part in self.parts]
        self.upper: list[int] = []
        if upper is not None:
            weights, proof = kernel.fields(upper, "upper", "multipliers proof")
            self.upper = multipliers(weights, "upper.multipliers", table)
            self.proofs.append(Proof(proof, "upper.proof", table))
        limited_orders(self.proofs)


def check_unseen(value: Any) -> str:
    """What a document of an unseen cell proves."""
    document = Unseen(value)
    table, a, b = document.table, document.a, document.b
    require(table.values[a][b] == -1, "cell: is given in the table")
    require(document.units > 0, "threshold: is not positive")
    if document.verdict == "both":
        check_both(document)
        what = "two networks with at least that margin are shown, of which one is right and one is wrong"
    elif document.verdict == "right":
        check_threshold(document)
        for part, c in zip(document.parts, document.others, strict=True):
            check_part(document, part, [int(k == c) for k in range(table.labels)], -1)
        what = "every network with at least that margin is right"
    else:
        check_threshold(document)
        check_part(document, document.parts[0], document.weights, 1)
        what = "every network with at least that margin is wrong"
    return (
        f"table of {table.rows} rows, {table.columns} columns and {table.labels} labels "
        f"called {json.dumps(table.name)}, {len(table.triples) // (table.labels - 1)} cells given, "
        f"margin at least 1 - {document.epsilon} of the "
        f"maximum: {what} at cell ({a}, {b}), label {document.label}"
    )


def check_threshold(document: Unseen) -> None:
    """The threshold is the closest decimal below 1 - epsilon times the margin of the network, hence of the maximum."""
    units, step, bound = document.units, document.step, least_margin(document.table, document.networks[0])
    closest = units * step <= (1 - document.epsilon) * bound < (units + 1) * step
    require(closest, "threshold: is not the closest decimal below 1 - epsilon times the margin of the network")


def check_part(document: Unseen, part: Part, weights: list[int], sign: int) -> None:
    """The mean of -sign G, G = f_y - sum_c p_c f_c at the cell, is at least part.bound > 0 from the threshold on."""
    total = sum(weights)  # p_c = weights_c / total; everything below times the denominator and the total
    R = tensor(document.table, [weight * total for weight in part.multipliers])
    entries = R[document.a][document.b]
    entries[document.label] += sign * total * part.denominator
    for c, weight in enumerate(weights):
        entries[c] -= sign * weight * part.denominator
    square = Fraction(4, 27) * check_proof(document.table, part.proof, R, total * part.denominator)
    gain = document.threshold * Fraction(sum(part.multipliers), part.denominator)
    units, step = part.bound  # the bound is gain - sqrt(square)
    below, above = gain - units * step, gain - (units + 1) * step
    closest = below >= 0 and below**2 >= square and (above < 0 or above**2 < square)
    require(units > 0 and closest, f"{part.where}.bound: is not the closest decimal, above zero")


def check_both(document: Unseen) -> None:
    """Two networks of at least 1 - epsilon times the maximum margin: the first is right at the cell, the other not."""
    table, proof = document.table, document.proofs[0]
    square = (1 - document.epsilon) ** 2 * upper_square(table, proof, document.upper)
    closest = is_closest_above(document.units, document.step, square)
    require(closest, "threshold: is not the closest decimal above 1 - epsilon times the upper bound")
    for i, network in enumerate(document.networks):
        require(least_margin(table, network) >= document.threshold, f"networks[{i}]: has a margin below the threshold")
    unseen = [(document.a, document.b, document.label, c) for c in document.others]
    right, wrong = (enclosures(table, network, unseen) for network in document.networks)
    require(all(low > 0 for low, _ in right), "networks[0]: is not right at the cell")
    require(any(high < 0 for _, high in wrong), "networks[1]: is not wrong at the cell")


def check(data: bytes) -> str:
    """What a document proves, as a line of text; MalformedError or ViolatedError if it proves nothing."""
    value = kernel.parse(data)
    if type(value) is not dict or value.get("format") not in (MARGIN, UNSEEN):
        raise MalformedError(f"format must be {MARGIN} or {UNSEEN}")
    return check_margin(value) if value["format"] == MARGIN else check_unseen(value)


if __name__ == "__main__":
    sys.exit(kernel.main(sys.argv[1:], check, "operation_kernel.py"))
