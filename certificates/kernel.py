"""Check that a file proves the maximum margin of composition in a finite group.

    python -I certificates/kernel.py FILE...

Exit status 0: every file is valid; 1: a file is well formed, but its claim is not proved (the first violated line is
printed); 2: a file is malformed or beyond the limits below. The format is described in FORMAT.md. This program uses the
standard library alone and no floating point. Whatever it can compute it computes itself and compares with the file.

The claim. G is a finite group of order n >= 2, and k >= 2. The L_{2,k+1} maximum margin of learning the product of k
elements of G with activation x^k is, by game/UNIVERSAL_MARGIN.md,

    gamma = k! ((k+1) n)^(-(k+1)/2) v,   v = value of the game with payoffs nu^(-(k-1)/2) (1 - psi(C)/psi(1)),

rows the real irreducible representations but the trivial one, of dimension nu and character psi, columns the conjugacy
classes C != {1}, the row player maximising. Files list complex irreducible characters chi. Let d = chi(1). Where the
Frobenius-Schur indicator is 1, psi = chi and nu = d; else psi = 2 Re chi and nu = 2 d. So the payoffs are
(d - Re chi(C)) / w with w = d nu^((k-1)/2). A file gives the group by generators, its classes, its characters, and
numbers y >= 0 for the rows chi != 1, u >= 0 for the columns such that

    sum_chi y_chi (d - Re chi(C)) >= 1  for every C,  hence  v >= 1/(sum_chi y_chi w_chi)  (masses y_chi w_chi, scaled),
    sum_C u_C (d - Re chi(C)) <= w      for every chi, hence v <= 1/(sum_C u_C)            (weights u_C, scaled).

A character and its conjugate are equal rows, one real representation; a class and its inverse are equal columns:
listing both does not change v.
"""

import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import factorial, gcd, isqrt, lcm, prod
from operator import itemgetter, mul
from pathlib import Path
from typing import Any

MAX_BYTES = 16_000_000  # of a file
MAX_BRACKETS = 1_000_000  # lists and objects in a file
MAX_ORDER = 1_000_000  # of the group; to raise it, edit this line
MAX_IMAGES = 20_000_000  # order of the group times degree: memory
MAX_PRODUCTS = 50_000_000  # order of the group times number of classes: time
MAX_COORDINATES = 100_000_000  # entries of the character table times order of the root of unity: time and memory
MAX_WORK = 3 * 10**12  # of products of classes and of characters, in the units of `limited_work`: time
MAX_COEFFICIENTS = 10**6  # absolute values of the coefficients of a cyclotomic integer, added up: time
MAX_CLASSES, MAX_ROOT_ORDER, MAX_GENERATORS, MAX_FACTORS = 1000, 2000, 50, 64
MAX_SEPARATING = 64  # classes that tell all characters apart
MAX_DIGITS = 2000  # of a string, and of the common denominator of all masses and weights
MAX_UNITS, MAX_CONJUGATES = 4, 1 << 26  # automorphisms that save work, and the bits of the numbers that they move
MAX_BITS = 1 << 15  # of the precision in which square roots are enclosed
DECIMAL, DECIMAL_OF_VERSION_1 = r"(0|[1-9]\d*)(\.\d+)?(e-?[1-9]\d{0,2})?", r"0\.\d+"

Permutation = tuple[int, ...]  # of 0, .., degree - 1, by its images
Terms = dict[int, int]  # the cyclotomic integer sum c zeta^e, zeta a primitive root of unity, as {e: c}
Radicals = dict[int, Fraction]  # the real number sum q sqrt(m), m > 0 squarefree, as {m: q} with q != 0
ZERO, ONE = Fraction(0), Fraction(1)


class MalformedError(Exception):
    """The file is no document of the format, or is beyond the limits."""


class ViolatedError(Exception):
    """The document claims something that is not so, or that it does not prove."""


def require(condition: bool, line: str) -> None:
    """ViolatedError unless the condition holds."""
    if not condition:
        raise ViolatedError(line)


# ---- 1. Reading: every part of a document gets the right type and range; nothing is believed yet


def parse(data: bytes) -> Any:
    """The JSON value in the bytes; no floats, no NaN, no long integers, no key twice in an object."""

    def refuse(text: str) -> int:
        raise MalformedError(f"{text[:40]} is not an integer of at most 20 characters")

    def whole(text: str) -> int:
        return int(text) if len(text) <= 20 else refuse(text)

    def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise MalformedError("an object has a key twice")
        return dict(pairs)

    if len(data) > MAX_BYTES or data.count(b"[") + data.count(b"{") > MAX_BRACKETS:
        raise MalformedError(f"the file has more than {MAX_BYTES} bytes or {MAX_BRACKETS} lists and objects")
    try:
        return json.loads(
            data.decode("utf-8"),
            parse_float=refuse,
            parse_constant=refuse,
            parse_int=whole,
            object_pairs_hook=without_duplicates,
        )
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"the file is no JSON text: {str(error)[:200]}") from None


def fields(value: Any, where: str, names: str) -> list[Any]:
    """The values of an object that has exactly the keys in ``names``."""
    if type(value) is not dict or set(value) != set(names.split()):
        raise MalformedError(f"{where} must be an object with exactly the keys {names}")
    return [value[name] for name in names.split()]


def integer(value: Any, where: str, low: int, high: int) -> int:
    """An integer with low <= value <= high."""
    if type(value) is not int or not low <= value <= high:
        raise MalformedError(f"{where} must be an integer from {low} to {high}")
    return value


def entries(value: Any, where: str, low: int, high: int) -> list[Any]:
    """A list whose length is from low to high."""
    if type(value) is not list or not low <= len(value) <= high:
        raise MalformedError(f"{where} must be a list of {low} to {high} entries")
    return value


def string(value: Any, where: str, pattern: str) -> str:
    """A string that matches the pattern."""
    if type(value) is not str or len(value) > MAX_DIGITS or not re.fullmatch(pattern, value, re.ASCII):
        raise MalformedError(f"{where} must be a string of at most {MAX_DIGITS} characters that matches {pattern}")
    return value


def fraction(value: Any, where: str) -> Fraction:
    """A rational number from a string in lowest terms such as "0", "-3", "2/5"."""
    if str(Fraction(string(value, where, r"-?\d+(/[1-9]\d*)?"))) != value:
        raise MalformedError(f"{where} must be in lowest terms")
    return Fraction(value)


def radicals(value: Any, where: str) -> Radicals:
    """2/5 - 3 sqrt(6) from the object {"1": "2/5", "6": "-3"}."""
    if type(value) is not dict or len(value) > 100:
        raise MalformedError(f"{where} must be an object with at most 100 keys")
    result = {int(string(m, where, r"[1-9]\d{0,4}")): fraction(q, f"{where}[{m}]") for m, q in value.items()}
    if not all(result.values()):
        raise MalformedError(f"{where} must have no zeros")
    return result


def permutation(value: Any, where: str, degree: int) -> Permutation:
    """A permutation of 0, .., degree - 1 from the list of its images."""
    images = tuple(integer(image, where, 0, degree - 1) for image in entries(value, where, degree, degree))
    if len(set(images)) < degree:
        raise MalformedError(f"{where} must not have an image twice")
    return images


def cyclotomic_integer(value: Any, where: str, order: int) -> Terms:
    """sum c zeta^e from an integer, or from a list of pairs [c, e] with increasing e."""
    if type(value) is int:
        return {0: integer(value, where, -MAX_COEFFICIENTS, MAX_COEFFICIENTS)} if value else {}
    terms, last = {}, -1
    for pair in entries(value, where, 1, order):
        c, e = entries(pair, where, 2, 2)
        last = integer(e, where, last + 1, order - 1)
        terms[e] = integer(c, where, -MAX_COEFFICIENTS, MAX_COEFFICIENTS)
    if 0 in terms.values() or last == 0:
        raise MalformedError(f"{where} must have non-zero coefficients, and an exponent above 0 or no list")
    if sum(map(abs, terms.values())) > MAX_COEFFICIENTS:
        raise MalformedError(f"{where} has coefficients of over {MAX_COEFFICIENTS} together")
    return terms


class Document:
    """The parts of a document: what `fields` lists, one list for each part of a class or of a character."""

    def __init__(self, value: Any) -> None:
        names = "format version group factors classes characters value margin grade"
        kind, version, group, factors, classes, characters, value, margin, grade = fields(value, "the document", names)
        string(kind, "format", "lemmata/group-margin")
        self.version = integer(version, "version", 1, 2)
        self.factors = integer(factors, "factors", 2, MAX_FACTORS)
        self.grade = string(grade, "grade", "exact|enclosed")

        name, degree, order, generators = fields(group, "group", "name degree order generators")
        self.name = string(name, "group.name", r"[ -~]*")  # printed in quotes, never checked
        self.order = n = integer(order, "group.order", 2, MAX_ORDER)
        degree = integer(degree, "group.degree", 2, MAX_IMAGES // n)
        self.generators = [
            permutation(g, f"group.generators[{i}]", degree)
            for i, g in enumerate(entries(generators, "group.generators", 1, MAX_GENERATORS))
        ]

        count = len(entries(classes, "classes", 2, min(MAX_CLASSES, MAX_PRODUCTS // n)))
        names = "representative size inverse square scaled_weight"
        columns = [(f"classes[{i}]", fields(entry, f"classes[{i}]", names)) for i, entry in enumerate(classes)]
        self.representatives = [permutation(c[0], f"{at}.representative", degree) for at, c in columns]
        self.sizes = [integer(c[1], f"{at}.size", 1, n) for at, c in columns]
        self.inverses = [integer(c[2], f"{at}.inverse", 0, count - 1) for at, c in columns]
        self.squares = [integer(c[3], f"{at}.square", 0, count - 1) for at, c in columns]
        self.weights = [radicals(c[4], f"{at}.scaled_weight") for at, c in columns]

        order, rows = fields(characters, "characters", "root_order rows")
        limit = min(MAX_ROOT_ORDER, MAX_COORDINATES // count**2)
        self.root_order = N = integer(order, "characters.root_order", 1, limit)
        names = "values indicator scaled_mass"
        entries(rows, "characters.rows", count, count)
        rows = [
            (f"characters.rows[{i}]", fields(entry, f"characters.rows[{i}]", names)) for i, entry in enumerate(rows)
        ]
        tables = [(f"{at}.values", entries(r[0], f"{at}.values", count, count)) for at, r in rows]
        self.characters = [[cyclotomic_integer(x, at, N) for x in values] for at, values in tables]
        self.degrees = [integer(values[0], f"{at}[0]", 1, isqrt(n)) for at, values in tables]
        self.indicators = [integer(r[1], f"{at}.indicator", -1, 1) for at, r in rows]
        self.masses = [fraction(r[2], f"{at}.scaled_mass") for at, r in rows]
        self.read_claim(value, margin, DECIMAL_OF_VERSION_1 if version == 1 else DECIMAL)

    def read_claim(self, value: Any, margin: Any, decimal: str) -> None:
        """The value and the margin, and the common denominator of the masses and weights that prove them."""
        coefficients = self.masses + [q for weight in self.weights for q in weight.values()]
        self.denominator = 1
        for q in coefficients:
            self.denominator = lcm(self.denominator, q.denominator)
            if self.denominator >= 10**MAX_DIGITS:
                raise MalformedError(f"the masses and weights have a common denominator of over {MAX_DIGITS} digits")

        number = r"1/\(.*\)"
        lower, upper = fields(value, "value", "lower upper")
        self.value = string(lower, "value.lower", number), string(upper, "value.upper", number)
        exact, lower, upper = fields(margin, "margin", "exact lower upper")
        self.margin_exact = exact if exact is None else string(exact, "margin.exact", number)
        self.margin = string(lower, "margin.lower", decimal), string(upper, "margin.upper", decimal)


# ---- 2. The group and its conjugacy classes


def compose(p: Permutation, q: Permutation) -> Permutation:
    """The permutation x -> p(q(x))."""
    return itemgetter(*q)(p)


def inverse(p: Permutation) -> Permutation:
    """The inverse permutation."""
    return tuple(sorted(range(len(p)), key=p.__getitem__))


def check_order(document: Document) -> tuple[set[Permutation], list[Permutation]]:
    """The elements of the group, all products of generators as it is finite, and the generators that are needed.

    It has the claimed order. A generator is not needed if it is a product of those before it; each of the others makes
    the group at least twice as large, so that they are few.
    """
    identity = tuple(range(len(document.generators[0])))
    elements, known, needed = [identity], {identity}, []
    for g in document.generators:
        if g in known:
            continue
        needed.append(g)
        by_generator, old = [itemgetter(*h) for h in needed], len(elements)
        for i, p in enumerate(elements):  # the list grows while it is read
            for times_h in by_generator if i >= old else by_generator[-1:]:  # old elements times old ones are known
                product = times_h(p)
                if product not in known:
                    known.add(product)
                    elements.append(product)
            require(len(elements) <= document.order, f"group.order: the group has more than {document.order} elements")
    require(len(elements) == document.order, f"group.order: the group has {len(elements)} elements")
    return known, needed


def check_classes(document: Document) -> tuple[dict[Permutation, int], list[list[Permutation]]]:
    """The class of each element, and the classes; the listed ones are all conjugacy classes of the group.

    The class of p is the smallest set that contains p and, with q, also g^-1 q g for each generator g.
    """
    elements, generators = check_order(document)
    conjugations = [(itemgetter(*g), inverse(g)) for g in generators]
    class_of: dict[Permutation, int] = {}
    classes: list[list[Permutation]] = []
    for i, p in enumerate(document.representatives):
        require(p in elements, f"classes[{i}].representative: is not in the group")
        require(p not in class_of, f"classes[{i}].representative: lies in classes[{class_of.get(p)}]")
        members = [p]
        class_of[p] = i
        for q in members:
            for times_g, g_inverse in conjugations:
                conjugate = itemgetter(*times_g(q))(g_inverse)
                if conjugate not in class_of:
                    class_of[conjugate] = i
                    members.append(conjugate)
        require(len(members) == document.sizes[i], f"classes[{i}].size: the class has {len(members)} elements")
        classes.append(members)
    require(len(class_of) == document.order, f"classes: the classes have {len(class_of)} elements together")
    first = document.representatives[0]
    require(compose(first, first) == first, "classes[0]: must be the class of the identity")
    for i, p in enumerate(document.representatives):
        of_inverse, of_square = class_of[inverse(p)], class_of[compose(p, p)]
        require(document.inverses[i] == of_inverse, f"classes[{i}].inverse: is class {of_inverse}")
        require(document.squares[i] == of_square, f"classes[{i}].square: is class {of_square}")
    return class_of, classes


# ---- 3. The characters


def prime_divisors(n: int) -> list[int]:
    """The primes that divide n."""
    primes, p = [], 2
    while n > 1:
        if n % p == 0:
            primes.append(p)
        while n % p == 0:
            n //= p
        p += 1
    return primes


class Packing:
    """Exact arithmetic in Z[zeta], zeta a primitive N-th root of unity, with one integer for each number.

    A polynomial c of Z[x]/(x^N - 1) is stored as c(2^b) modulo 2^(b N) - 1. This is a homomorphism of rings, and it is
    injective on polynomials with coefficients below 2^(b-1) in absolute value: a difference of two, with lowest term
    a x^e, has at 2^b a value below 2^(b N) - 1 in absolute value that is divisible by 2^(b e), not by 2^(b e + b).

    Let z be the product of x^(N/p) - 1 over the primes p that divide N: among the N-th roots of unity, exactly those
    that are not primitive are its zeros. Hence c(zeta) = 0 if and only if c z vanishes at all N-th roots of unity, that
    is c z = 0 in Z[x]/(x^N - 1). If the absolute values of the coefficients of c add up to at most L, so do those of
    c z to at most 2^(number of primes) L.
    """

    def __init__(self, order: int, bound: int) -> None:
        """Serve for polynomials c whose coefficients add up to at most ``bound`` in absolute value."""
        primes = prime_divisors(order)
        self.width = (bound << (len(primes) + 1)).bit_length()
        self.bits = self.width * order
        self.modulus = (1 << self.bits) - 1
        self.shifts = [self.bits // p for p in primes]

    def reduce(self, x: int) -> int:
        """x modulo 2^bits - 1."""
        while not 0 <= x < self.modulus:
            x = 0 if x == self.modulus else (x & self.modulus) + (x >> self.bits)
        return x

    def pack(self, terms: Terms) -> int:
        """What stores c."""
        return sum(c << (self.width * e) for e, c in terms.items())

    def times_z(self, terms: Terms, factor: int = 1) -> int:
        """What stores factor c z: equal for equal numbers factor c(zeta), and for no others."""
        packed = factor * self.pack(terms)
        for shift in self.shifts:  # z is the product of x^(N/p) - 1
            packed = (packed << shift) - packed
        return self.reduce(packed)


def separating_classes(document: Document, packing: Packing) -> list[int]:
    """Classes C, small ones first, for which the values chi(C) / d tell all rows apart; compare n chi(C) / d."""
    n, rows = document.order, range(len(document.characters))
    chosen: list[int] = []
    kind = [0 for _ in rows]  # equal for rows that are not told apart yet
    for i in sorted(rows, key=document.sizes.__getitem__):
        values = [packing.times_z(document.characters[R][i], n // document.degrees[R]) for R in rows]
        kinds: dict[tuple[int, int], int] = {}
        refined = [kinds.setdefault((kind[R], values[R]), len(kinds)) for R in rows]
        if len(kinds) > len(set(kind)):
            chosen.append(i)
            kind = refined
        if len(kinds) == len(rows):
            return chosen
        if len(chosen) == MAX_SEPARATING:
            raise MalformedError(f"{MAX_SEPARATING} classes do not tell all characters apart")
    twin = next(R for R in rows if kind[R] in kind[:R])
    raise ViolatedError(f"characters.rows[{twin}]: is proportional to rows[{kind.index(kind[twin])}]")


def limited_work(packing: Packing, work: int, products: int, sums: int, permutations: int, degree: int) -> int:
    """The work with so many more products and sums of packed numbers, and products of permutations; within the limit.

    A unit is some 10^-11 seconds.
    """
    work += packing.bits * (isqrt(packing.bits) * products + 20 * sums) + 2500 * permutations * (degree + 50)
    if work > MAX_WORK:
        raise MalformedError(
            f"the products of classes and of characters are beyond the limit of {MAX_WORK} units of work"
        )
    return work


def conjugate_rows(document: Document, packing: Packing) -> set[int]:
    """Rows that are images of earlier rows under some automorphisms zeta -> zeta^a of Q(zeta)."""
    N = document.root_order
    names = [[tuple(terms.items()) for terms in row] for row in document.characters]
    distinct = {name for row in names for name in row}
    if len(distinct) * packing.bits > MAX_CONJUGATES:
        return set()  # too much memory: no work is saved
    kinds: dict[int, int] = {}
    kind = {name: kinds.setdefault(packing.times_z(dict(name)), len(kinds)) for name in distinct}
    rows = [tuple(kind[name] for name in row) for row in names]
    row_of = {row: R for R, row in enumerate(rows)}
    units = [a for a in range(2, N) if gcd(a, N) == 1][:MAX_UNITS]
    images = [
        {kind[name]: kinds.get(packing.times_z({e * a % N: c for e, c in name}), -1) for name in distinct}
        for a in units
    ]
    known: set[int] = set()
    for R in range(len(rows)):
        reached = [] if R in known else [R]
        for S in reached:  # the list grows while it is read
            for image in images:
                T = row_of.get(tuple(map(image.__getitem__, rows[S])), R)
                if T > R and T not in known:
                    known.add(T)
                    reached.append(T)
    return known


def check_characters(
    document: Document, class_of: dict[Permutation, int], classes: list[list[Permutation]]
) -> list[list[Fraction]]:
    """The `galois_means` of the rows, which are the irreducible characters of the group, each once.

    The K classes C_j, as sums of elements, are a basis of the centre of the group algebra. Let r_j lie in C_j, let chi
    be a row, d = chi(1), and omega(C_j) = |C_j| chi(r_j) / d. For some classes C_i and for all j it is checked that

        |C_i| chi(r_i) chi(r_j) = d sum_{x in C_i} chi(x r_j),                                                     (1)

    that is omega(C_i) omega(C_j) = omega(C_i C_j): omega is an eigenvector, of eigenvalue omega(C_i), of the matrix of
    multiplication by C_i. These matrices commute, and the central characters of the K irreducible characters are a
    basis of joint eigenvectors. The classes C_i are chosen such that the rows have K different tuples of eigenvalues
    omega(C_i). Each tuple is then that of one central character, its joint eigenspace is a line, and omega is on it;
    omega and the central character agree, because both are 1 at {1}. So the row is an irreducible character times d
    divided by the degree of that character; this positive factor is 1, because the row and the character both satisfy

        sum_j |C_j| chi(r_j) chi(r_j^-1) = n.                                                                      (2)

    In (1) and (2) all numbers but values of chi are rational, so that an automorphism of Q(zeta) takes them to the same
    equations for the conjugate row: one row for each set of `conjugate_rows` is enough.

    The indicators are (1/n) sum_j |C_j| chi(r_j^2), rational numbers, which are their own Galois means.
    """
    n, sizes, count = document.order, document.sizes, len(document.sizes)
    longest = max(sum(map(abs, terms.values())) for row in document.characters for terms in row)
    packing = Packing(document.root_order, 2 * n * longest**2)  # bounds what is compared below
    for R, d in enumerate(document.degrees):
        require(n % d == 0, f"characters.rows[{R}].values[0]: does not divide the order {n}")
    terms, degree = sum(map(len, itertools.chain(*document.characters))) + count**2, len(document.representatives[0])
    work = limited_work(packing, 0, count**2, 2 * terms, 0, degree)
    chosen, known = separating_classes(document, packing), conjugate_rows(document, packing)
    for i in chosen:  # one by one: memory for the products of one class
        work = limited_work(packing, work, count**2, terms + count**2, sizes[i] * count, degree)
        by_class = [itemgetter(*p) for p in document.representatives]
        products = [Counter(map(class_of.__getitem__, map(times_r, classes[i]))) for times_r in by_class]
        work = limited_work(packing, work, 0, count * sum(map(len, products)), 0, degree)
        for R, row in enumerate(document.characters):
            if R in known:
                continue
            d, where = document.degrees[R], f"characters.rows[{R}]"
            chi_i, chi_z = packing.pack(row[i]), [packing.times_z(terms) for terms in row]
            for j, found in enumerate(products):
                difference = sizes[i] * chi_i * chi_z[j] - d * sum(times * chi_z[c] for c, times in found.items())
                line = f"{where}: is not multiplicative on classes[{i}], classes[{j}]"
                require(packing.reduce(difference) == 0, line)
            if i == chosen[0]:
                norm = sum(sizes[j] * packing.pack(row[j]) * chi_z[document.inverses[j]] for j in range(count))
                line = f"{where}: does not have norm 1 with degree {d}"
                require(packing.reduce(norm) == packing.times_z({0: n}), line)
    means = galois_means(document.root_order, document.characters)
    common, rows = over_one_denominator(means)
    for R, indicator in enumerate(document.indicators):
        total = sum(sizes[j] * rows[R][document.squares[j]] for j in range(count))
        require(total == n * indicator * common, f"characters.rows[{R}].indicator: is {Fraction(total, n * common)}")
    return means


def galois_means(order: int, rows: list[list[Terms]]) -> list[list[Fraction]]:
    """For each cyclotomic integer the mean of its Galois conjugates, a rational number.

    The conjugates of a primitive m-th root of unity are all of them; their mean is mu(m) / phi(m).
    """
    primes_of = {}
    for e in {e for row in rows for terms in row for e in terms}:
        m = order // gcd(e, order)
        primes = prime_divisors(m)
        if prod(primes) == m:
            primes_of[e] = primes
    common = lcm(*(prod(p - 1 for p in primes) for primes in primes_of.values()))
    mean_of = {e: common // prod(1 - p for p in primes) for e, primes in primes_of.items()}
    totals = [[sum(c * mean_of.get(e, 0) for e, c in terms.items()) for terms in row] for row in rows]
    fractions = {total: Fraction(total, common) for row in totals for total in row}
    return [[fractions[total] for total in row] for row in totals]


# ---- 4. The game


def square_part(a: int) -> int:
    """The largest f such that f^2 divides a > 0."""
    f, p = 1, 2
    while p * p <= a:
        while a % (p * p) == 0:
            a, f = a // (p * p), f * p
        if a % p == 0:
            a //= p
        p += 1
    return f


def times_root(x: Radicals, a: int) -> Radicals:
    """x sqrt(a)."""
    f = square_part(a)
    b = a // f**2  # squarefree, and so is m b / gcd(m, b)^2
    return {m * b // gcd(m, b) ** 2: q * f * gcd(m, b) for m, q in x.items()}


def plus(x: Radicals, y: Radicals, factor: Fraction = ONE) -> Radicals:
    """x + factor y."""
    total = {m: x.get(m, ZERO) + factor * y.get(m, ZERO) for m in x.keys() | y.keys()}
    return {m: q for m, q in total.items() if q}


def sign(x: Radicals) -> int:
    """The sign of x: -1, 0 or 1.

    Square roots of different squarefree numbers are linearly independent over the rational numbers (Besicovitch 1940):
    only the empty sum is 0, and any other is decided by enclosures r <= 2^bits sqrt(m) <= r + 1 with enough bits.
    """
    bits = 64
    while x:
        roots = {m: isqrt(m << (2 * bits)) for m in x}
        if sum(q * (roots[m] + (q < 0)) for m, q in x.items()) > 0:
            return 1
        if sum(q * (roots[m] + (q > 0)) for m, q in x.items()) < 0:
            return -1
        bits *= 2
        require(bits <= MAX_BITS, f"a sum of square roots is too close to zero for {MAX_BITS} bits")
    return 0


def payoff_scale(degree: int, indicator: int, factors: int) -> Radicals:
    """w = degree nu^((k-1)/2), nu the dimension of the real representation."""
    dimension = degree if indicator == 1 else 2 * degree
    return times_root({1: Fraction(degree)}, dimension ** (factors - 1))


def over_one_denominator(table: list[list[Fraction]]) -> tuple[int, list[tuple[int, ...]]]:
    """A common denominator of all entries, and the rows times it."""
    common = lcm(*{x.denominator for row in table for x in row})
    return common, [tuple(x.numerator * (common // x.denominator) for x in row) for row in table]


def check_game(document: Document, means: list[list[Fraction]]) -> tuple[Radicals, Radicals]:
    """The sums of y_chi w_chi and of u_C, for masses y and weights u that are feasible.

    It is enough to check the inequalities with Re chi(C) replaced by the mean of its Galois conjugates: an automorphism
    turns the table of characters into itself with rows permuted, and also into itself with columns permuted, and y and
    u are constant on the orbits of both. The orbits are the rows and columns with equal means, because the means over
    different orbits are linearly independent.
    """
    count, (common, rows) = range(len(means)), over_one_denominator(means)
    columns = list(zip(*rows, strict=True))
    first_row, first_column = ({entry: i for i, entry in reversed(list(enumerate(table)))} for table in (rows, columns))
    for i in count:
        R, C = first_row[rows[i]], first_column[columns[i]]
        require(document.masses[i] == document.masses[R], f"characters.rows[{i}].scaled_mass: differs from rows[{R}]")
        require(document.weights[i] == document.weights[C], f"classes[{i}].scaled_weight: differs from classes[{C}]")
    require(not document.weights[0], "classes[0].scaled_weight: must be empty, the identity is no wrong answer")

    w = [payoff_scale(d, s, document.factors) for d, s in zip(document.degrees, document.indicators, strict=True)]
    roots = {1}.union(*w)  # square roots of squarefree numbers
    mass_total: Radicals = {}
    weight_total: Radicals = {}
    for R in count:
        require(document.masses[R] >= 0, f"characters.rows[{R}].scaled_mass: is negative")
        require(document.masses[R] == 0 or set(means[R]) != {1}, f"characters.rows[{R}].scaled_mass: trivial character")
        mass_total = plus(mass_total, w[R], document.masses[R])
    for i in count[1:]:
        require(document.weights[i].keys() <= roots, f"classes[{i}].scaled_weight: has a square root that no w has")
        require(sign(document.weights[i]) >= 0, f"classes[{i}].scaled_weight: is negative")
        weight_total = plus(weight_total, document.weights[i])

    # integers: the defects times `common`, masses and weights times their common denominator, sums times both
    defects = [[d * common - mean for mean in row] for d, row in zip(document.degrees, rows, strict=True)]
    unit = document.denominator
    masses = [int(mass * unit) for mass in document.masses]
    weights = {m: [int(u.get(m, ZERO) * unit) for u in document.weights] for m in roots}
    for i, column in enumerate(zip(*defects, strict=True)):
        if i and first_column[columns[i]] == i:
            require(sum(map(mul, masses, column)) >= common * unit, f"classes[{i}]: the masses give it less than 1")
    for R in count:
        if first_row[rows[R]] < R:
            continue  # equal means: an equal slack
        slack = {m: w[R].get(m, ZERO) * common * unit - sum(map(mul, weights[m], defects[R])) for m in roots}
        slack = {m: q for m, q in slack.items() if q}
        require(sign(slack) >= 0, f"characters.rows[{R}]: the weights give it more than w")
    return mass_total, weight_total


# ---- 5. The claim


def text(x: Radicals) -> str:
    """1/x as text, such as 1/(8/15 + 4/5*sqrt(3))."""
    terms = [str(q) if m == 1 else f"{q}*sqrt({m})" for m, q in sorted(x.items())]
    return f"1/({' + '.join(terms)})".replace("+ -", "- ")


def reciprocal_margin(reciprocal_value: Radicals, order: int, factors: int) -> Radicals:
    """1/gamma = ((k+1) n)^((k+1)/2) / (k! v) from 1/v."""
    scaled = times_root(reciprocal_value, ((factors + 1) * order) ** (factors + 1))
    return {m: q / factorial(factors) for m, q in scaled.items()}


def decimal(text: str) -> tuple[int, Fraction]:
    """The units and the size of a unit: "0.0236" is 236 units of 10^-4, "1.5e-9" is 15 of 10^-10."""
    digits, _, exponent = text.partition("e")
    whole, _, places = digits.partition(".")
    return int(whole + places), Fraction(10) ** (int(exponent or 0) - len(places))


def check_margin(document: Document, mass_total: Radicals, weight_total: Radicals) -> None:
    """The claimed value, margin and grade are the proved ones, the decimals the closest ones with so many places."""
    for name, claim, total in zip(("lower", "upper"), document.value, (mass_total, weight_total), strict=True):
        require(claim == text(total), f"value.{name}: is {text(total)}")
    require(sign(plus(mass_total, weight_total, -ONE)) >= 0, "value: the lower bound is above the upper bound")
    grade = "exact" if mass_total == weight_total else "enclosed"
    require(document.grade == grade, f"grade: is {grade}")

    low = reciprocal_margin(mass_total, document.order, document.factors)
    high = reciprocal_margin(weight_total, document.order, document.factors)
    exact = text(low) if grade == "exact" else None
    require(document.margin_exact == exact, f"margin.exact: is {exact}")
    (lower, step), (upper, same) = map(decimal, document.margin)
    require(step == same, "margin: both decimals need the same number of places and the same exponent")

    def compare(units: int, reciprocal: Radicals) -> int:  # the sign of units * step - 1/reciprocal
        return sign(plus({1: -ONE}, reciprocal, units * step))

    require(compare(lower, low) <= 0 < compare(lower + 1, low), "margin.lower: is not the closest decimal")
    require(compare(upper - 1, high) < 0 <= compare(upper, high), "margin.upper: is not the closest decimal")


def check(data: bytes) -> str:
    """What a document proves, as a line of text; MalformedError or ViolatedError if it proves nothing."""
    document = Document(parse(data))
    means = check_characters(document, *check_classes(document))
    check_margin(document, *check_game(document, means))
    return (
        f"group of order {document.order} called {json.dumps(document.name)}, {document.factors} factors, "
        f"maximum margin from {document.margin[0]} to {document.margin[1]} ({document.grade})"
    )


def main(paths: list[str], check: Callable[[bytes], str] = check, program: str = "kernel.py") -> int:
    """The exit status for some files, of which each is checked and gets a printed line."""
    if not paths:
        print(f"usage: python -I {program} FILE...")
    status = 0 if paths else 2
    for path in paths:
        try:
            with Path(path).open("rb") as file:
                code, line = 0, f"valid: {check(file.read(MAX_BYTES + 1))}"
        except ViolatedError as error:
            code, line = 1, f"invalid: {error}"
        except MalformedError as error:
            code, line = 2, f"malformed: {error}"
        except OSError as error:
            code, line = 2, f"malformed: {error.strerror}"
        print(f"{ascii(path)[1:-1]}: {line}")
        status = max(status, code)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
