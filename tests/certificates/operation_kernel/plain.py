"""Documents of operations, judged by their description in OPERATION_FORMAT.md alone, slowly.

Nothing here is shared with the kernel, which compares coefficients, factors matrices and encloses by integers: both
sides of an identity are evaluated at random points, eigenvalues counted by Descartes' rule, and outputs are balls.
"""

import random
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from math import comb, isqrt, prod
from typing import Any

from flint import arb, fmpq, fmpz_mat

from lemmata.numerics.exact.precision import precision

Document = dict[str, Any]
DECIMAL = r"(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[1-9][0-9]{0,2})?"


def symmetric(triangle: Sequence[Sequence[int]]) -> list[list[int]]:
    """The whole matrix of a lower triangle."""
    n = len(triangle)
    return [[triangle[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def signature(triangle: Sequence[Sequence[int]]) -> tuple[int, int, int]:
    """How many eigenvalues are positive, zero, negative: the characteristic polynomial has real roots alone."""
    coefficients = [int(c) for c in fmpz_mat(symmetric(triangle)).charpoly().coeffs()]
    zero = next(i for i, c in enumerate(coefficients) if c)

    def changes(values: list[int]) -> int:
        signs = [c > 0 for c in values if c]
        return sum(one != other for one, other in pairwise(signs))

    positive, negative = changes(coefficients), changes([c * (-1) ** i for i, c in enumerate(coefficients)])
    assert positive + zero + negative == len(triangle)
    return positive, zero, negative


def triples(table: Document) -> list[tuple[int, int, int, int]]:
    """All (a, b, y, c): the given cells (a, b) with their label y, and each other label c."""
    values, labels = table["values"], range(table["labels"])
    return [
        (a, b, y, c) for a, row in enumerate(values) for b, y in enumerate(row) if y != -1 for c in labels if c != y
    ]


def margin_form(table: Document, weights: Sequence[int]) -> Any:
    """The function (x, k) -> M_k(x): the mean of (u_a + v_b)^2 ([k = y] - [k = c]) over triples with these weights."""
    rows, total = len(table["values"]), sum(weights)
    weighted = list(zip(triples(table), weights, strict=True))

    def form(x: Sequence[int], k: int) -> Fraction:
        found = sum(w * (x[a] + x[rows + b]) ** 2 * ((k == y) - (k == c)) for (a, b, y, c), w in weighted)
        return Fraction(found, total)

    return form


def satisfies_identity(table: Document, proof: Document, form: Any, points: int = 6) -> bool:
    """Whether the matrix is that of the polynomial that is to be a sum of squares, or has the blocks of a plane.

    A polynomial of degree at most 6 that is not zero vanishes at a random point of 2^60 values for each variable with
    probability below 2^-57 (Schwartz, Zippel). A plane is compared exactly, by polarisation.
    """
    N, C = len(table["values"]) + len(table["values"][0]), table["labels"]
    P, unit = symmetric(proof["matrix"]), proof["denominator"]
    t, t_prime = Fraction(proof["t"]), Fraction(proof["t_prime"])
    if proof["kind"] == "plane":
        basis = [[int(i == j) for j in range(N)] for i in range(N)]

        def polar(i: int, j: int, sign: int) -> Fraction:
            def value(x: list[int]) -> Fraction:
                return form(x, 0) + sign * form(x, 1)

            both = [one + other for one, other in zip(basis[i], basis[j], strict=True)]
            return (value(both) - value(basis[i]) - value(basis[j])) / 2

        return (C <= 3 and t_prime * 2 == t and len(P) == 2 * N) and all(
            Fraction(P[i][j], unit) == t * (i == j) + polar(i, j, -1)
            and Fraction(P[N + i][N + j], unit) == 3 * (t * (i == j) - polar(i, j, -1))
            and Fraction(P[N + i][j] + P[N + j][i], unit) == 6 * polar(i, j, 1)
            for i, j in product(range(N), repeat=2)
        )
    r = {"degree 4": 0, "degree 6": 1}[proof["kind"]]
    source = random.Random(31)
    for _ in range(points):
        x, z = ([source.randrange(2**60) for _ in range(n)] for n in (N, C))
        m = [prod(one) for one in combinations_with_replacement(x, 2 + r)]
        m += [prod(one) * k for one in combinations_with_replacement(x, r) for k in z]
        if len(m) != len(P):
            return False
        left = sum(a * sum(p * b for p, b in zip(row, m, strict=True)) for a, row in zip(m, P, strict=True))
        norm = sum(a * a for a in x)
        bracket = t * norm**2 - 2 * sum(k * form(x, i) for i, k in enumerate(z)) + t_prime * sum(k * k for k in z)
        if Fraction(left, unit) != norm**r * bracket:
            return False
    return True


# ---- Whole documents, as OPERATION_FORMAT.md describes them


class ShapeError(Exception):
    """A part of a document has another type, number or range than the format asks."""


def ask(fits: bool) -> None:
    """ShapeError unless that is so."""
    if not fits:
        raise ShapeError


def keys(value: Any, names: str) -> None:
    """An object with exactly these keys."""
    ask(isinstance(value, dict) and sorted(value) == sorted(names.split()))


def whole(value: Any, low: int, high: int) -> None:
    """An integer from low to high."""
    ask(type(value) is int and low <= value <= high)


def wholes(value: Any, count: int, low: int, high: int) -> None:
    """So many of them."""
    ask(type(value) is list and len(value) == count)
    for one in value:
        whole(one, low, high)


def word(value: Any, pattern: str) -> None:
    """A text of that form."""
    ask(type(value) is str and re.fullmatch(pattern, value) is not None)


def ratio(value: Any) -> None:
    """A positive fraction in lowest terms."""
    word(value, r"[1-9][0-9]*(/[1-9][0-9]*)?")
    ask(str(Fraction(value)) == value)


def filled(value: Any) -> None:
    """A list of 1 to 200."""
    ask(type(value) is list and 1 <= len(value) <= 200)


def table_shape(table: Any) -> None:
    """A table with a given cell."""
    keys(table, "name labels values")
    word(table["name"], "[ -~]*")
    whole(table["labels"], 2, 200)
    rows = table["values"]
    filled(rows)
    filled(rows[0])
    for row in rows:
        wholes(row, len(rows[0]), -1, table["labels"] - 1)
    ask(any(label >= 0 for row in rows for label in row))


def sizes(table: Document) -> tuple[int, int]:
    """Rows and columns together, and labels."""
    return len(table["values"]) + len(table["values"][0]), table["labels"]


def apart_shape(network: Any, table: Document) -> None:
    """Neurons of a quadratic field, x = x_0 + x_1 sqrt(root) not always zero and w never, with positive numbers."""
    keys(network, "root neurons masses")
    whole(network["root"], 1, 10**6)
    (N, C), neurons, masses = sizes(table), network["neurons"], network["masses"]
    ask(type(neurons) is list and neurons != [] and type(masses) is list and len(masses) == len(neurons))
    for neuron in neurons:
        ask(type(neuron) is list and len(neuron) == 3)
        for part, count in zip(neuron, (N, N, C), strict=True):
            wholes(part, count, -(10**12), 10**12)
        ask(0 < 3 * sum(w * w for w in neuron[2]) <= 10**10)
    for mass in masses:
        wholes(mass, 2, -(10**19), 10**19)
    root = arb(network["root"]).sqrt()
    ask(all(p + q * root > 0 for p, q in masses))
    ask(any(abs(x + y * root) > arb(2) ** -900 for one, other, _ in neurons for x, y in zip(one, other, strict=True)))


def network_shape(network: Any, table: Document) -> None:
    """Neurons that are not zero, with masses."""
    keys(network, "neurons masses")
    ask(type(network["neurons"]) is list and network["neurons"] != [])
    for neuron in network["neurons"]:
        wholes(neuron, sum(sizes(table)), -(10**12), 10**12)
        ask(set(neuron) != {0})
    wholes(network["masses"], len(network["neurons"]), 1, 10**19)


def proof_shape(proof: Any, table: Document) -> None:
    """A triangle of the order that its kind asks."""
    keys(proof, "kind t t_prime denominator matrix")
    word(proof["kind"], "plane|degree 4|degree 6")
    ratio(proof["t"])
    ratio(proof["t_prime"])
    whole(proof["denominator"], 1, 10**19)
    (N, C), kind = sizes(table), proof["kind"]
    ask(kind != "plane" or C <= 3)
    orders = {"plane": 2 * N, "degree 4": comb(N + 1, 2) + C, "degree 6": comb(N + 2, 3) + N * C}
    ask(type(proof["matrix"]) is list and len(proof["matrix"]) == orders[kind])
    for i, row in enumerate(proof["matrix"]):
        wholes(row, i + 1, -(10**19), 10**19)


def multipliers_shape(value: Any, table: Document) -> None:
    """One for each triple, one of them above zero."""
    wholes(value, len(triples(table)), 0, 10**19)
    ask(any(value))


def margin_shape(document: Any) -> None:
    """A document of a margin."""
    keys(document, "format version table network multipliers proof margin gap grade")
    whole(document["version"], 1, 2)
    table_shape(document["table"])
    (network_shape if document["version"] == 1 else apart_shape)(document["network"], document["table"])
    proof_shape(document["proof"], document["table"])
    multipliers_shape(document["multipliers"], document["table"])
    word(document["grade"], "exact|enclosed")
    keys(document["margin"], "exact lower upper")
    for text in (document["margin"]["lower"], document["margin"]["upper"], document["gap"]):
        word(text, DECIMAL)
    ask(document["version"] == 1 or document["margin"]["exact"] is not None)
    if document["margin"]["exact"] is not None:
        word(document["margin"]["exact"], r"[1-9][0-9]*(/[0-9]+)?(\*sqrt\([1-9][0-9]{0,10}\))?")


def unseen_shape(document: Any) -> None:
    """A document of a cell."""
    keys(document, "format version table cell label epsilon threshold verdict networks weights parts upper")
    whole(document["version"], 1, 1)
    table = document["table"]
    table_shape(table)
    wholes(document["cell"], 2, 0, 10**19)
    whole(document["cell"][0], 0, len(table["values"]) - 1)
    whole(document["cell"][1], 0, len(table["values"][0]) - 1)
    whole(document["label"], 0, table["labels"] - 1)
    ratio(document["epsilon"])
    ask(Fraction(document["epsilon"]) < 1)
    word(document["threshold"], DECIMAL)
    word(document["verdict"], "right|wrong|both")
    found, labels = document["verdict"], table["labels"]
    ask(type(document["networks"]) is list and len(document["networks"]) == (2 if found == "both" else 1))
    for network in document["networks"]:
        network_shape(network, table)
    count = {"right": labels - 1, "wrong": 1, "both": 0}[found]
    ask(type(document["parts"]) is list and len(document["parts"]) == count)
    for part in document["parts"]:
        keys(part, "multipliers denominator proof bound")
        multipliers_shape(part["multipliers"], table)
        whole(part["denominator"], 1, 10**19)
        proof_shape(part["proof"], table)
        word(part["bound"], DECIMAL)
    ask((document["weights"] is not None) == (found == "wrong"))
    ask((document["upper"] is not None) == (found == "both"))
    if found == "wrong":
        wholes(document["weights"], labels, 0, 10**19)
        ask(any(document["weights"]) and document["weights"][document["label"]] == 0)
    if found == "both":
        keys(document["upper"], "multipliers proof")
        multipliers_shape(document["upper"]["multipliers"], table)
        proof_shape(document["upper"]["proof"], table)


def step_of(text: str) -> Fraction:
    """What one more in the last place of a decimal adds."""
    digits, _, exponent = text.partition("e")
    return Fraction(10) ** (int(exponent or 0) - len(digits.partition(".")[2]))


def ball(number: Fraction | int) -> arb:
    """A rational number as a ball."""
    number = Fraction(number)
    return arb(fmpq(number.numerator, number.denominator))


def outputs(table: Document, network: Document, listed: Sequence[tuple[int, int, int, int]]) -> list[arb]:
    """The means of f_y - f_c at the cells of the (a, b, y, c)."""
    rows, (N, _) = len(table["values"]), sizes(table)
    pairs = list(zip(network["neurons"], network["masses"], strict=True))
    cubes = [arb(sum(c * c for c in x) ** 3).sqrt() for x, _ in pairs]
    means = []
    for a, b, y, c in listed:
        mean = arb(0)
        for (x, mass), cube in zip(pairs, cubes, strict=True):
            mean += mass * (x[a] + x[rows + b]) ** 2 * (x[N + y] - x[N + c]) / cube
        means.append(mean / sum(network["masses"]))
    return means


def outputs_apart(table: Document, network: Document, listed: Sequence[tuple[int, int, int, int]]) -> list[arb]:
    """The same, with x and w normalised apart and shares p |x|^2: each neuron is made one of length 1."""
    rows, root = len(table["values"]), arb(network["root"]).sqrt()
    means, total = [arb(0) for _ in listed], arb(0)
    for (one, other, w), (p, q) in zip(network["neurons"], network["masses"], strict=True):
        x = [i + j * root for i, j in zip(one, other, strict=True)]
        length = sum((i * i for i in x), arb(0)).sqrt()
        if length < arb(2) ** -900:
            continue
        share = (p + q * root) * length**2
        unit = [i / length * (arb(2) / 3).sqrt() for i in x]
        outputs = [i / arb(sum(j * j for j in w)).sqrt() / arb(3).sqrt() for i in w]
        total += share
        for i, (a, b, y, c) in enumerate(listed):
            means[i] += share * (unit[a] + unit[rows + b]) ** 2 * (outputs[y] - outputs[c])
    return [mean / total for mean in means]


def proves(table: Document, proof: Document, form: Any) -> bool:
    """Whether a proof shows |M(x)|^2 <= t t' |x|^4."""
    return signature(proof["matrix"])[2] == 0 and satisfies_identity(table, proof, form, points=1)


def square_of(proof: Document) -> Fraction:
    """(2/(3 sqrt 3))^2 t t'."""
    return Fraction(4, 27) * Fraction(proof["t"]) * Fraction(proof["t_prime"])


def margin_holds(document: Document) -> bool:
    """Whether a document of the right shape proves a margin."""
    table, network, proof = (document[name] for name in ("table", "network", "proof"))
    low, high = (document["margin"][name] for name in ("lower", "upper"))
    lower, upper, step = Fraction(low), Fraction(high), step_of(low)
    exact, square = document["margin"]["exact"], square_of(proof)
    if (exact is None) != (document["grade"] == "enclosed") or step != step_of(high) or lower <= 0:
        return False
    means = (outputs if document["version"] == 1 else outputs_apart)(table, network, triples(table))
    if exact is None:
        tight = all(mean >= ball(lower) for mean in means) and any(mean < ball(lower + step) for mean in means)
        relative = 1 - lower / upper if upper else Fraction(0)
    else:
        q, _, root = exact.rstrip(")").partition("*sqrt(")
        m = int(root or 1)
        ask(str(Fraction(q)) == q and m <= 10**10 and (m > 1 or not root))
        if any(m % d**2 == 0 for d in range(2, isqrt(m) + 1)) or Fraction(q) ** 2 * m != square:
            return False
        value = ball(Fraction(q)) * arb(m).sqrt()
        tight = lower**2 <= square < (lower + step) ** 2 and all(mean - value > -(arb(2) ** -900) for mean in means)
        relative = Fraction(0)
    gap, unit = Fraction(document["gap"]), step_of(document["gap"])
    return (
        tight
        and upper > 0
        and (upper - step) ** 2 < square <= upper**2
        and gap - unit < relative <= gap
        and proves(table, proof, margin_form(table, document["multipliers"]))
    )


def part_form(document: Document, part: Document, shares: list[Fraction], sign: int) -> Any:
    """The function (x, k) -> M_k(x) of sum l h + sign (f_y - sum_c p_c f_c) at the cell."""
    table, (a, b), y = document["table"], document["cell"], document["label"]
    known, total = margin_form(table, part["multipliers"]), sum(part["multipliers"])
    rows, scale = len(table["values"]), Fraction(total, part["denominator"])

    def form(x: Sequence[int], k: int) -> Fraction:
        return scale * known(x, k) + sign * (x[a] + x[rows + b]) ** 2 * ((k == y) - shares[k])

    return form


def unseen_holds(document: Document) -> bool:
    """Whether a document of the right shape proves what it says of its cell."""
    table, (a, b), y = document["table"], document["cell"], document["label"]
    text, labels = document["threshold"], range(table["labels"])
    g, step, share = Fraction(text), step_of(text), 1 - Fraction(document["epsilon"])
    if table["values"][a][b] != -1 or g <= 0:
        return False
    margins = [outputs(table, network, triples(table)) for network in document["networks"]]
    at_cell = [(a, b, y, c) for c in labels if c != y]
    if document["verdict"] == "both":
        proof = document["upper"]["proof"]
        square = share**2 * square_of(proof)
        right, wrong = (outputs(table, network, at_cell) for network in document["networks"])
        return (
            (g - step) ** 2 < square <= g**2
            and all(mean >= ball(g) for means in margins for mean in means)
            and all(mean > 0 for mean in right)
            and any(mean < 0 for mean in wrong)
            and proves(table, proof, margin_form(table, document["upper"]["multipliers"]))
        )
    if any(mean * ball(share) < ball(g) for mean in margins[0]):
        return False
    if not any(mean * ball(share) < ball(g + step) for mean in margins[0]):
        return False
    if document["verdict"] == "right":
        claims = [([Fraction(k == c) for k in labels], -1) for c in labels if c != y]
    else:
        claims = [([Fraction(weight, sum(document["weights"])) for weight in document["weights"]], 1)]
    for part, (shares, sign) in zip(document["parts"], claims, strict=True):
        bound, unit = Fraction(part["bound"]), step_of(part["bound"])
        gain, square = g * Fraction(sum(part["multipliers"]), part["denominator"]), square_of(part["proof"])
        if bound <= 0 or gain < bound or (gain - bound) ** 2 < square:
            return False
        if gain >= bound + unit and (gain - bound - unit) ** 2 >= square:
            return False
        if not proves(table, part["proof"], part_form(document, part, shares, sign)):
            return False
    return True


def status(document: Any) -> int:
    """0 for a document that proves its claim, 1 for one that does not, 2 for one that is none."""
    with precision(1200):
        try:
            known = isinstance(document, dict) and document.get("format")
            if known == "lemmata/operation-margin":
                margin_shape(document)
                return 0 if margin_holds(document) else 1
            ask(known == "lemmata/unseen-cell")
            unseen_shape(document)
            return 0 if unseen_holds(document) else 1
        except ShapeError:
            return 2
