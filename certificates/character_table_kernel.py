"""Check that a file proves the maximum margin of every group that has the character table in the file.

    python -I certificates/character_table_kernel.py FILE...

A table is no group: what is proved is *conditional*, and the line printed for a valid file says so. "If this is the
character table of a group, then its maximum margin is .." For a group given by generators, without any condition, see
kernel.py, whose arithmetic, exit statuses and game are used here. The format is described in
CHARACTER_TABLE_FORMAT.md. This program uses the standard library and kernel.py alone and no floating point.

The claim. G is a group of order n with the listed irreducible characters, class sizes and Frobenius-Schur indicators;
k >= 2. By game/UNIVERSAL_MARGIN.md its L_{2,k+1} maximum margin depends on these alone: it is a constant times the
value of the game that kernel.py describes and `kernel.check_game` checks.

What a table can show. No finite list of relations makes a table that of a group, but a table that violates one of the
following is none: sizes and degrees divide n, and add up; the Galois group permutes rows and columns; the rows are
orthonormal (the matrix is square: so are the columns); |C| chi(C)/chi(1) is an algebraic integer; the power maps
commute, with the Galois group too, fit the sizes, and chi(g^p) is congruent to what Frobenius makes of chi(g); the
order of an element divides that of its centraliser; indicators are 1, 0, -1 and fit the squares; the symmetric and the
exterior square of every row are characters; no class has a negative number of square roots.
"""

import json
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import gcd, isqrt, lcm
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # a program of two files: in the mode -I nothing else finds the kernel beside this one
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import kernel
    from kernel import MalformedError, Terms, require
else:
    from lemmata.certificates import kernel
    from lemmata.certificates.kernel import MalformedError, Terms, require

FORMAT, VERSION = "lemmata/table-margin", 1
MAX_CLASSES = 1000
MAX_DIGITS = 120  # of an integer: order, class sizes, values
MAX_WORK = 200_000_000_000  # cube of the number of classes times square of the digits of the order: half a minute
MAX_LENGTH = 20_000  # of a value as text
MAX_ROOT_ORDER = 2000  # of the roots of unity in one value
MAX_PRODUCTS = 100_000_000  # of roots of unity, in all sums: time
MAX_FIELD = 10**30  # least common multiple of the orders of all roots of unity
MAX_PRIME = 100_000  # dividing the order of the group
MAX_POWERS = 40  # power maps
MAX_RADICALS = 1000  # square roots in one class weight
DECIMAL = r"(0|[1-9]\d*)(\.\d+)?(e-?[1-9]\d{0,4})?"  # margins of large groups are very small

Number = tuple[int, Terms]  # (N, {e: c}): the sum of c zeta^e, where zeta = exp(2 pi i/N)
TERM = re.compile(r"([+-]?)(?:(?:(\d+)\*)?E\((\d{1,4})\)(?:\^(\d{1,4}))?|(\d+))", re.ASCII)


# ---- 1. Reading


def whole(value: Any, where: str, low: int) -> int:
    """An integer >= low from a JSON integer, or from a string of digits."""
    if type(value) is str and len(value) <= MAX_DIGITS and re.fullmatch(r"-?\d+", value, re.ASCII):
        value = int(value)
    if type(value) is not int or value < low:
        raise MalformedError(f"{where} must be an integer >= {low} of at most {MAX_DIGITS} digits")
    return value


def number(value: Any, where: str) -> Number:
    """A sum of roots of unity of one order from text such as "-3", "2*E(5)+2*E(5)^4", where E(5) is exp(2 pi i/5)."""
    if type(value) is int:
        return 1, {0: value}
    if type(value) is not str or len(value) > MAX_LENGTH:
        raise MalformedError(f"{where} must be an integer, or a text of at most {MAX_LENGTH} characters")
    order, terms, end = 0, {}, 0
    while end < len(value):
        found = TERM.match(value, end)
        if found is None or (end and not found[1]) or max(len(found[2] or ""), len(found[5] or "")) > MAX_DIGITS:
            raise MalformedError(f"{where} must be a sum of integers and roots of unity such as -3 or 2*E(5)+2*E(5)^4")
        sign, coefficient, root, exponent, constant = found.groups()
        if root is not None and order not in (0, int(root)):
            raise MalformedError(f"{where} must have roots of unity of one order only")
        order = int(root) if root else order
        if root is not None and not 1 <= order <= MAX_ROOT_ORDER:
            raise MalformedError(f"{where} must have roots of unity of an order from 1 to {MAX_ROOT_ORDER}")
        e = int(exponent or 1) % order if root is not None else 0
        c = int(constant or coefficient or 1)
        terms[e] = terms.get(e, 0) + (-c if sign == "-" else c)
        end = found.end()
    if end == 0:
        raise MalformedError(f"{where} must not be empty")
    return order or 1, {e: c for e, c in terms.items() if c}


def radicals(value: Any, where: str) -> kernel.Radicals:
    """2/5 - 3 sqrt(6) from the object {"1": "2/5", "6": "-3"}; roots are as large as degrees."""
    if type(value) is not dict or len(value) > MAX_RADICALS:
        raise MalformedError(f"{where} must be an object with at most {MAX_RADICALS} keys")
    result = {whole(m, where, 1): kernel.fraction(q, f"{where}[{m[:20]}]") for m, q in value.items()}
    if len(result) < len(value) or not all(result.values()):
        raise MalformedError(f"{where} must have no zeros, and no key twice")
    return result


def small_primes(order: int) -> list[int]:
    """The primes that divide the order of the group."""
    primes, rest = [], order
    for p in range(2, MAX_PRIME + 1):
        if rest % p == 0:
            primes.append(p)
        while rest % p == 0:
            rest //= p
    if rest > 1:
        raise MalformedError(f"table.order must have no prime divisor above {MAX_PRIME}")
    return primes


class Table:
    """A table as it is given: nothing is believed yet but types and ranges."""

    def __init__(self, value: Any) -> None:
        self.products = 0
        names = "name order class_names class_sizes characters powers indicators"
        name, order, class_names, sizes, rows, powers, indicators = kernel.fields(value, "table", names)
        self.name = kernel.string(name, "table.name", r"[ -~]*")  # printed in quotes, never checked
        self.order = whole(order, "table.order", 2)
        self.sizes = [
            whole(size, f"table.class_sizes[{i}]", 1)
            for i, size in enumerate(kernel.entries(sizes, "table.class_sizes", 2, MAX_CLASSES))
        ]
        self.count = count = len(self.sizes)
        if count**3 * len(str(self.order)) ** 2 > MAX_WORK:
            raise MalformedError(f"a table of {count} classes and a group of order {self.order} is beyond the limits")
        for i, class_name in enumerate(kernel.entries(class_names, "table.class_names", count, count)):
            kernel.string(class_name, f"table.class_names[{i}]", r"[ -~]*")  # for the reader, never checked
        self.indicators = [
            kernel.integer(x, f"table.indicators[{R}]", -1, 1)
            for R, x in enumerate(kernel.entries(indicators, "table.indicators", count, count))
        ]
        if type(powers) is not dict or len(powers) > MAX_POWERS:
            raise MalformedError(f"table.powers must be an object with at most {MAX_POWERS} keys")
        self.powers: dict[int, list[int]] = {}
        for key, images in powers.items():
            p = whole(key, "table.powers", 2)
            if str(p) != key or p > MAX_PRIME or any(p % q == 0 for q in range(2, isqrt(p) + 1)):
                raise MalformedError(f"table.powers: the key {key[:20]} is no prime up to {MAX_PRIME}")
            where = f"table.powers[{p}]"
            images = kernel.entries(images, where, count, count)
            self.powers[p] = [kernel.integer(C, f"{where}[{i}]", 0, count - 1) for i, C in enumerate(images)]
        self.primes = small_primes(self.order)
        self.read_characters(rows)
        ones = [R for R, row in enumerate(self.values) if all(self.numbers[x] == (1, {0: 1}) for x in row)]
        self.trivial = ones[0] if ones else -1

    def count_products(self, x: Number, times: int = 1) -> None:
        """MalformedError if so many more products of x with z make too many of them; to be called before they are."""
        self.products += times * len(x[1]) * len(z(x[0]))
        if self.products > MAX_PRODUCTS:
            raise MalformedError(
                f"table.characters: the roots of unity and the power maps need more than {MAX_PRODUCTS} products"
            )

    def read_characters(self, rows: Any) -> None:
        """Each different number once, in ``numbers``; the table holds their positions."""
        position: dict[Any, int] = {}
        by_text: dict[Any, int] = {}
        self.numbers: list[Number] = []
        self.values: list[list[int]] = []
        for R, row in enumerate(kernel.entries(rows, "table.characters", self.count, self.count)):
            where = f"table.characters[{R}]"
            ids = []
            for C, text in enumerate(kernel.entries(row, where, self.count, self.count)):
                if type(text) not in (int, str) or text not in by_text:
                    new = number(text, f"{where}[{C}]")
                    self.count_products(new, 1 + len(primes_of(new[0])))
                    new = smallest(*new)
                    key = new[0], times_z(*new)
                    if key not in position:
                        position[key] = len(self.numbers)
                        self.numbers.append(new)
                    by_text[text] = position[key]
                ids.append(by_text[text])
            self.values.append(ids)
        self.position = position
        self.field = lcm(*(order for order, _ in self.numbers))
        if self.field > MAX_FIELD:
            raise MalformedError(f"the roots of unity in table.characters have orders of a multiple above {MAX_FIELD}")
        if any(c * c > 16 * self.order for _, terms in self.numbers for c in terms.values()):
            raise MalformedError("table.characters must have no coefficient above four square roots of the order")
        self.degrees = []
        for R, row in enumerate(self.values):
            order, terms = self.numbers[row[0]]
            if order != 1 or terms.get(0, 0) < 1:
                raise MalformedError(f"table.characters[{R}][0] must be a positive integer, the degree")
            self.degrees.append(terms[0])


class Document(kernel.Document):  # pyright: ignore[reportGeneralTypeIssues]
    """The parts of a document that `kernel.check_game` and `kernel.check_margin` read, and the table."""

    def __init__(self, value: Any) -> None:
        names = "format version table factors scaled_masses scaled_weights value margin grade"
        kind, version, table, factors, masses, weights, value, margin, grade = kernel.fields(
            value, "the document", names
        )
        kernel.string(kind, "format", FORMAT)
        self.version = kernel.integer(version, "version", 1, VERSION)
        self.factors = kernel.integer(factors, "factors", 2, kernel.MAX_FACTORS)
        self.grade = kernel.string(grade, "grade", "exact|enclosed")
        self.table = Table(table)
        self.name, self.order, count = self.table.name, self.table.order, self.table.count
        self.degrees, self.indicators = self.table.degrees, self.table.indicators
        masses = kernel.entries(masses, "scaled_masses", count, count)
        weights = kernel.entries(weights, "scaled_weights", count, count)
        self.masses = [kernel.fraction(y, f"scaled_masses[{R}]") for R, y in enumerate(masses)]
        self.weights = [radicals(u, f"scaled_weights[{i}]") for i, u in enumerate(weights)]
        self.read_claim(value, margin, DECIMAL)


# ---- 2. Sums of roots of unity


@cache
def primes_of(order: int) -> list[int]:
    """The primes that divide the order of a root of unity."""
    return kernel.prime_divisors(order)


@cache
def z(order: int) -> list[tuple[int, int]]:
    """The polynomial z of `kernel.Packing`, the product of x^(N/p) - 1 over the primes p that divide N = ``order``."""
    terms: Terms = {}
    primes = primes_of(order)
    for chosen in product((False, True), repeat=len(primes)):
        e = sum(order // p for p, taken in zip(primes, chosen, strict=True) if taken) % order
        terms[e] = terms.get(e, 0) + (-1) ** (len(primes) - sum(chosen))
    return list(terms.items())


def times_z(order: int, terms: Terms) -> tuple[tuple[int, int], ...]:
    """The coefficients of c z in Z[x]/(x^N - 1): equal for equal numbers c(zeta), and for no others.

    All coefficients are divisible by an integer q exactly if c(zeta)/q is an algebraic integer. For if c z = q f, then
    f vanishes where z does: f = P g, z = P h with P = (x^N - 1)/Phi_N, and c h = q g modulo Phi_N. But P(zeta) is
    N/(zeta Phi_N'(zeta)), of the same norm as z(zeta) by the formula for the discriminant; so h(zeta) is a unit.
    """
    found: Terms = {}
    for e, c in terms.items():
        for f, d in z(order):
            place = (e + f) % order
            found[place] = found.get(place, 0) + c * d
    return tuple(sorted((e, c) for e, c in found.items() if c))


def smallest(order: int, terms: Terms) -> Number:
    """The same number as a sum of roots of unity of the least order.

    Let N = p r. If p divides r, then 1, zeta, .., zeta^(p-1) are a basis over the field of zeta^p: only the first may
    occur. If not, then zeta = zeta_p^a zeta_r^b with a r + b p = 1, and zeta_p, .., zeta_p^(p-1) are a basis over the
    field of zeta_r: as 1 is minus their sum, a number x_0 + x_1 zeta_p + .. of that field has x_1 = x_2 = .. and is
    x_0 - x_1.
    """
    for p in primes_of(order):
        while order % p == 0:
            rest = order // p
            parts: dict[int, Terms] = {}
            if rest % p == 0:
                for e, c in terms.items():
                    parts.setdefault(e % p, {})[e // p] = c
            else:
                a, b = pow(rest, -1, p), pow(p, -1, rest)
                for e, c in terms.items():
                    parts.setdefault(a * e % p, {})[b * e % rest] = c
            first, others = parts.pop(0, {}), {times_z(rest, part): part for part in parts.values()}
            if rest % p == 0 or len(parts) < p - 1:
                others.setdefault((), {})
            if len(others) > 1 or (rest % p == 0 and () not in others):
                break
            (other,) = others.values()
            order, terms = rest, {e: first.get(e, 0) - other.get(e, 0) for e in first.keys() | other.keys()}
    return order, {e: c for e, c in terms.items() if c}


def combination(parts: list[tuple[int, Number]]) -> list[int]:
    """The coefficients of c z for the sum c(zeta) of factor x over the pairs (factor, x)."""
    order = lcm(*(x[0] for _, x in parts))
    total: Terms = {}
    for factor, (own, terms) in parts:
        for e, c in terms.items():
            total[e * order // own] = total.get(e * order // own, 0) + factor * c
    return [c for _, c in times_z(order, total)]


def image(x: Number, a: int) -> Number:
    """The sum of c zeta^(a e) for that of c zeta^e."""
    order, terms = x
    found: Terms = {}
    for e, c in terms.items():
        found[a * e % order] = found.get(a * e % order, 0) + c
    return order, found


def generators(field: int) -> list[int]:
    """Integers that generate the units modulo ``field``, so that zeta -> zeta^a generate the Galois group."""
    found = []
    for q in kernel.prime_divisors(field):
        power = q
        while field % (power * q) == 0:
            power *= q
        if q == 2:
            local = [power - 1, 5][: 0 if power == 2 else 1 if power == 4 else 2]
        else:
            phi = power // q * (q - 1)
            powers = [phi // r for r in kernel.prime_divisors(phi)]
            local = [
                next(g for g in range(2, power + 1) if gcd(g, q) == 1 and all(pow(g, e, power) != 1 for e in powers))
            ]
        rest = field // power
        found += [(1 + (a - 1) * rest * pow(rest, -1, power)) % field for a in local]  # a modulo power, 1 modulo rest
    return found


def conjugates(table: Table, a: int) -> list[int]:
    """For each number the position of its image under zeta -> zeta^a."""
    images = []
    for x in table.numbers:
        table.count_products(x)
        order, terms = image(x, a)
        key = order, times_z(order, terms)
        require(key in table.position, f"table.characters: a conjugate of the value {written(x)} does not occur")
        images.append(table.position[key])
    return images


def written(x: Number) -> str:
    """A number as text, cut after 60 characters."""
    order, terms = x
    return ("+".join(f"{c}*E({order})^{e}" if e else str(c) for e, c in sorted(terms.items())) or "0")[:60]


# ---- 3. What a table can show


def check_table(table: Table) -> None:
    """The relations of the header, in this order; ViolatedError names the first that fails."""
    check_sizes(table)
    rows, permutations = check_galois(table)
    check_maps(table, permutations)
    check_products(table, rows)
    check_powers(table)
    check_orders(table)
    check_square_roots(table)


def check_sizes(table: Table) -> None:
    """Class sizes, degrees, the trivial character, and the algebraic integers |C| chi(C)/chi(1)."""
    n = table.order
    require(table.sizes[0] == 1, "table.class_sizes[0]: must be 1, the identity comes first")
    require(sum(table.sizes) == n, f"table.class_sizes: add up to {sum(table.sizes)}, not to the order {n}")
    for i, size in enumerate(table.sizes):
        require(n % size == 0, f"table.class_sizes[{i}]: {size} does not divide the order {n}")
    for R, d in enumerate(table.degrees):
        require(n % d == 0, f"table.characters[{R}][0]: the degree {d} does not divide the order {n}")
    total = sum(d * d for d in table.degrees)
    require(total == n, f"table.characters: the squares of the degrees add up to {total}, not to the order {n}")
    require(table.trivial >= 0, "table.characters: the trivial character, a row of ones, is missing")
    known = set()
    for R, row in enumerate(table.values):
        for C, x in enumerate(row):
            if (key := (table.degrees[R], table.sizes[C], x)) not in known:
                known.add(key)
                table.count_products(table.numbers[x])
                multiple = combination([(table.sizes[C], table.numbers[x])])
                integral = all(c % table.degrees[R] == 0 for c in multiple)
                require(integral, f"table.characters[{R}][{C}]: times the class size, is no multiple of the degree")


def check_galois(table: Table) -> tuple[list[int], list[list[int]]]:
    """The Galois group permutes the rows, with their indicators, and the columns, with their sizes.

    A row of each orbit is given back, and what generators of the group do to the columns.
    """
    rows = {tuple(row): R for R, row in enumerate(table.values)}
    columns = {column: C for C, column in enumerate(zip(*table.values, strict=True))}
    for kind, lines in (("row", rows), ("column", columns)):
        require(len(lines) == table.count, f"table.characters: a {kind} occurs twice")
    first, found = list(range(table.count)), []
    for a in generators(table.field):
        images = conjugates(table, a)
        permutations = []
        for kind, lines in (("row", rows), ("column", columns)):
            targets = [lines.get(tuple(images[x] for x in line), -1) for line in lines]
            missing = targets.index(-1) if -1 in targets else None
            require(missing is None, f"table.characters: no {kind} is conjugate to {kind} {missing}")
            permutations.append(targets)
        for i, target in enumerate(permutations[1]):
            same = table.sizes[i] == table.sizes[target]
            require(same, f"table.class_sizes[{i}]: differs from that of the conjugate column {target}")
        for R, target in enumerate(permutations[0]):
            same = table.indicators[R] == table.indicators[target]
            require(same, f"table.indicators[{R}]: differs from that of the conjugate row {target}")
            low, high = sorted((first[R], first[target]))
            first = [low if x == high else x for x in first]  # one orbit
        found.append(permutations[1])
    return sorted(set(first)), found


def check_maps(table: Table, permutations: list[list[int]]) -> None:
    """Power maps fix the identity, fit the sizes of centralisers, and commute with one another and the Galois group."""
    for p, images in table.powers.items():
        where = f"table.powers[{p}]"
        require(images[0] == 0, f"{where}[0]: must be 0, the identity")
        for i, target in enumerate(images):
            fits = table.sizes[i] % table.sizes[target] == 0
            require(fits, f"{where}[{i}]: the size of class {target} does not divide that of class {i}")
            for q, others in table.powers.items():
                commute = images[others[i]] == others[target]
                require(commute, f"{where}[{i}]: does not commute with the power map for {q}")
            for permutation in permutations:
                commute = images[permutation[i]] == permutation[target]
                require(commute, f"{where}[{i}]: does not commute with the Galois group")


def root_modulo(field: int, bound: int) -> tuple[int, int]:
    """(m, w) with m > ``bound`` such that zeta -> w is a homomorphism of rings from Z[zeta], zeta = exp(2 pi i/field).

    It is enough that w^N = 1 and that w^(N/p) - 1 is a unit modulo m for the primes p that divide N: x^N - 1 is the
    product of all Phi_d with d dividing N, and for d < N the number Phi_d(w) divides one of these units.
    """
    primes, m = kernel.prime_divisors(field), 1 + field * (bound // field + 1)
    while True:
        for g in range(2, 100) if pow(2, m - 1, m) == 1 else ():  # prime, most likely
            w = pow(g, (m - 1) // field, m)
            if pow(w, field, m) == 1 and all(gcd(pow(w, field // p, m) - 1, m) == 1 for p in primes):
                return m, w
        m += field


def centred(x: int, m: int) -> int:
    """The residue of x modulo m from -m/2 to m/2."""
    return (x + m // 2) % m - m // 2


def check_products(table: Table, some: list[int]) -> None:
    """Inner products of rows, of their squares and of rows at squares, with all rows.

    X = sum_C |C| f(C) conj(chi(C)) is an algebraic integer, for f(C) = chi'(C), chi'(C)^2, or chi'(C^2). The Galois
    group permutes the classes, with their sizes and squares, so it leaves X fixed: X is an integer. It is known modulo
    m by the homomorphism, and |X| < m/2 by the triangle inequality: that decides it. One row chi' of each orbit, in
    ``some``, suffices.
    """
    n, classes, squares = table.order, range(table.count), table.powers.get(2)
    norms = [sum(map(abs, terms.values())) for _, terms in table.numbers]
    sup = [max(norms[row[C]] for row in table.values) for C in classes]
    at_square = [sup[C] for C in squares or []] or [0 for _ in classes]
    m, w = root_modulo(
        table.field, 2 * sum(table.sizes[C] * sup[C] * (sup[C] + sup[C] ** 2 + at_square[C]) for C in classes)
    )
    residues = []
    for order, terms in table.numbers:
        root = pow(w, table.field // order, m)
        residues.append(
            terms.get(0, 0) if order == 1 else centred(sum(c * pow(root, e, m) for e, c in terms.items()), m)
        )
    bar = conjugates(table, -1)
    columns = [[centred(table.sizes[C] * residues[bar[row[C]]], m) for row in table.values] for C in classes]
    rows = [[residues[x] for x in table.values[R]] for R in some]
    for R, found in zip(some, inner_products(rows, columns, m), strict=True):
        for S, x in enumerate(found):
            fine = x == (n if R == S else 0)
            require(fine, f"table.characters: rows {R} and {S} have the inner product {Fraction(x, n)}")
    if squares is None:
        return
    of_squares = inner_products([[x * x for x in row] for row in rows], columns, m)
    at_squares = inner_products([[row[C] for C in squares] for row in rows], columns, m)
    for R, products, adams in zip(some, of_squares, at_squares, strict=True):
        indicator = Fraction(adams[table.trivial], n)
        require(table.indicators[R] == indicator, f"table.indicators[{R}]: is {indicator} by the squares")
        for S in classes:
            for kind, sign in (("symmetric", 1), ("exterior", -1)):
                times = Fraction(products[S] + sign * adams[S], 2 * n)
                fine = times >= 0 and times.denominator == 1
                require(fine, f"table.powers[2]: the {kind} square of row {R} has row {S} {times} times")


def inner_products(rows: list[list[int]], columns: list[list[int]], m: int) -> Iterator[list[int]]:
    """For each row a the sums of a_C b_C over C for all b, columns[C] = all b_C, as residues from -m/2 to m/2.

    All sums of a row are made at once: the b_C are digits of one integer, wide enough for every sum.
    """
    largest = [max(map(abs, column)) for column in columns]
    bound = max(sum(abs(a) * b for a, b in zip(row, largest, strict=True)) for row in rows)
    width = max(bound, *largest).bit_length() // 8 + 1
    half, size = 1 << (8 * width - 1), width * len(columns[0])
    halves = int.from_bytes(half.to_bytes(width, "little") * len(columns[0]), "little")

    def packed(digits: list[int]) -> int:
        return int.from_bytes(b"".join((x + half).to_bytes(width, "little") for x in digits), "little") - halves

    integers = [packed(column) for column in columns]
    for row in rows:
        total = sum(a * x for a, x in zip(row, integers, strict=True) if a) + halves
        data = total.to_bytes(size, "little")
        digits = [int.from_bytes(data[i : i + width], "little") - half for i in range(0, size, width)]
        yield [centred(x, m) for x in digits]


def check_powers(table: Table) -> None:
    """The power maps fit the values.

    If g^N = 1, then chi(g) is a sum of N-th roots of unity, chi(g^p) that of their p-th powers. So chi(g^p) is the
    image of chi(g) under zeta -> zeta^p if p does not divide N, and congruent to c(zeta^p) for chi(g) = c(zeta) always.
    The least order of roots of unity for chi(g) divides N, so that in the first case p does not divide that either.
    """
    orders = element_orders(table)
    for p, images in table.powers.items():
        known = set()
        for i, target in enumerate(images):
            prime_to = table.order % p != 0 or (bool(orders) and orders[i] % p != 0)
            for R, row in enumerate(table.values):
                if (key := (row[i], row[target], prime_to)) not in known:
                    known.add(key)
                    x, y = table.numbers[row[i]], table.numbers[row[target]]
                    table.count_products(x)
                    if prime_to:
                        order, terms = image(x, p)
                        fine = table.position.get((order, times_z(order, terms))) == row[target]
                    else:
                        table.count_products((lcm(x[0], y[0]), x[1] | y[1]))
                        fine = all(c % p == 0 for c in combination([(1, y), (-1, image(x, p))]))
                    require(
                        fine, f"table.powers[{p}][{i}]: does not fit the values of row {R} there and at class {target}"
                    )


def check_orders(table: Table) -> None:
    """The order of elements divides that of their centralisers, and is 1 for the identity alone."""
    for i, o in enumerate(element_orders(table)):
        require((o == 1) == (i == 0), f"table.powers: class {i} has elements of order {o}")
        fits = table.order // table.sizes[i] % o == 0
        require(fits, f"table.powers: the order {o} of elements of class {i} does not divide that of their centraliser")


def element_orders(table: Table) -> list[int]:
    """The order of the elements of each class, if there is a power map for each prime that divides n; else [].

    The p-part of the order of g is p^a, where a is the least exponent for which p does not divide the order of g^(p^a),
    that is, for which this class is g^(p^b) for infinitely many b.
    """
    if not set(table.primes) <= table.powers.keys():
        return []
    orders = [1] * table.count
    for p in table.primes:
        images = table.powers[p]
        periodic = set(range(table.count))
        for _ in range(table.order.bit_length()):
            periodic = {images[C] for C in periodic}
        for i in range(table.count):
            C, steps = i, 0
            while C not in periodic:
                C, steps = images[C], steps + 1
            orders[i] *= p**steps
    return orders


def check_square_roots(table: Table) -> None:
    """The numbers of square roots, sum_chi indicator chi(C), are no negative ones; non-real rows have indicator 0.

    Indicators are constant on Galois orbits, so the sums are integers, and equal to the sums of Galois means.
    """
    bar = conjugates(table, -1)
    for R, row in enumerate(table.values):
        real = all(bar[x] == x for x in row)
        require(
            real == (table.indicators[R] != 0),
            f"table.indicators[{R}]: is {table.indicators[R]} for a row that is {'real' if real else 'not real'}",
        )
    means = galois_means(table)
    for C in range(table.count):
        roots = sum(s * means[row[C]] for s, row in zip(table.indicators, table.values, strict=True))
        require(roots >= 0, f"table.indicators: class {C} has {roots} square roots")


def galois_means(table: Table) -> list[Fraction]:
    """For each number the mean of its Galois conjugates."""
    of_order: dict[int, list[int]] = {}
    for i, (order, _) in enumerate(table.numbers):
        of_order.setdefault(order, []).append(i)
    means = [Fraction(0)] * len(table.numbers)
    for order, places in of_order.items():
        for i, mean in zip(places, kernel.galois_means(order, [[table.numbers[i][1] for i in places]])[0], strict=True):
            means[i] = mean
    return means


# ---- 4. The claim


def condition(table: Table) -> str:
    """What is assumed of a table beyond what was checked."""
    missing = [str(p) for p in table.primes if p not in table.powers]
    given = (
        "class sizes and power maps"
        if not missing
        else f"class sizes and indicators; no power map for {', '.join(missing)}"
    )
    name = json.dumps(table.name)  # quoted, so that it ends where it ends
    return f"IF the table called {name} is the character table of a group of order {table.order} ({given})"


def check(data: bytes) -> str:
    """What a document proves, as a line of text; MalformedError or ViolatedError if it proves nothing."""
    document = Document(kernel.parse(data))
    table = document.table
    check_table(table)
    by_number = galois_means(table)
    means = [[by_number[x] for x in row] for row in table.values]
    kernel.check_margin(document, *kernel.check_game(document, means))
    return (
        f"{condition(table)}, THEN for {document.factors} factors it has the "
        f"maximum margin from {document.margin[0]} to {document.margin[1]} ({document.grade})"
    )


if __name__ == "__main__":
    sys.exit(kernel.main(sys.argv[1:], check, "character_table_kernel.py"))
