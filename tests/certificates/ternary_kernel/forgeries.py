"""Forged documents of operations of three arguments: edits anywhere, and edits whose consequences are mended."""

import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from math import isqrt, prod
from typing import Any

from tests.certificates.operation_documents import edit_any_leaf, edit_entries
from tests.certificates.solution_kernel.plain import ShapeError
from tests.certificates.ternary_kernel.plain import Judged, increasing

Document = dict[str, Any]


def edit_leaf(value: Document, source: random.Random) -> None:
    """An integer, a digit or a word anywhere, each field as likely as another."""
    edit_any_leaf(value, source, ["1/5", "0", 1], ["exact", "enclosed", "degree 4", "degree 6", None])


def edit_list(value: Document, source: random.Random) -> None:
    """An entry of some list dropped, doubled or exchanged."""
    owners = [value["network"]["neurons"], value["network"]["masses"], value["multipliers"], value["proof"]["matrix"]]
    owners += [*value["table"]["values"], *value["network"]["neurons"], *value["proof"]["matrix"][1:]]
    edit_entries(source.choice(owners), source)


def edit_neuron(value: Document, source: random.Random) -> None:
    """Another network, with the decimals that it has."""
    neurons, masses = value["network"]["neurons"], value["network"]["masses"]
    i = source.randrange(len(neurons))
    kind = source.randrange(4)
    if kind == 0:
        j = source.randrange(len(neurons[i]))
        neurons[i][j] += source.choice([-1, 1]) * source.choice([1, 1 + abs(neurons[i][j]) // 1000])
    elif kind == 1:
        masses[i] += source.choice([1, masses[i], 1 + masses[i] // 10**6])
    elif kind == 2:
        neurons[i] = [2 * x for x in neurons[i]]
        if max(map(abs, neurons[i])) > 10**12:
            neurons[i] = [x // 4 for x in neurons[i]]
    else:
        neurons[i] = [-x for x in neurons[i]]
    mend_decimals(value)


def edit_t(value: Document, source: random.Random) -> None:
    """t and t' raised or lowered, with the diagonal that makes the identity hold."""
    judged, proof = Judged(value), value["proof"]
    step = source.choice([-1, 1]) * source.choice(
        [1, 2, proof["denominator"] // 10**6 + 1, proof["denominator"] // 50 + 1]
    )
    lengths = [sum(x * x for x in e) for e in judged.vectors()]
    n, both = len(lengths), source.random() < 0.7
    shift = Fraction(step, proof["denominator"])
    if min(Fraction(proof["t"]), Fraction(proof["t_prime"])) + shift <= 0:
        return
    proof["t"] = str(Fraction(proof["t"]) + shift)
    if both:
        proof["t_prime"] = str(Fraction(proof["t_prime"]) + shift)
    pure = increasing(n, 2 + judged.r)
    beside = [m for m in increasing(n, 1 + judged.r) for _ in range(judged.C)]
    for i, m in enumerate([*pure, *beside]):
        if i < len(pure) or both:
            times = len(set(permutations_of(m)))
            proof["matrix"][i][i] += step * times * prod(lengths[j] for j in m)
    mend_decimals(value)


def permutations_of(m: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All orders of at most three variables."""
    if len(m) < 2:
        return [m]
    return [(first, *rest) for i, first in enumerate(m) for rest in permutations_of(m[:i] + m[i + 1 :])]


def edit_matrix(value: Document, source: random.Random) -> None:
    """Two entries with one product of monomials moved against each other, so that the identity still holds."""
    judged, matrix = Judged(value), value["proof"]["matrix"]
    n = judged.N - 2
    vector = [*increasing(n, 2 + judged.r)]
    vector += [(*m, n + k) for m in increasing(n, 1 + judged.r) for k in range(judged.C)]
    places: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for i, m in enumerate(vector):
        for j in range(i + 1):
            places.setdefault(tuple(sorted(m + vector[j])), []).append((i, j))
    (a, b), (c, d) = source.sample(source.choice([p for p in places.values() if len(p) > 1]), 2)
    step = source.choice([-1, 1]) * source.choice([1, 100, value["proof"]["denominator"] // 100 + 1])
    matrix[a][b] += step * (2 if c != d else 1)
    matrix[c][d] -= step * (2 if a != b else 1)


def edit_scale(value: Document, source: random.Random) -> None:
    """The multipliers, or the matrix and its denominator, times a number: nothing changes."""
    factor = source.choice([2, 3, 5])
    if source.random() < 0.5:
        value["multipliers"] = [factor * q for q in value["multipliers"]]
    else:
        value["proof"]["denominator"] *= factor
        value["proof"]["matrix"] = [[factor * x for x in row] for row in value["proof"]["matrix"]]


def edit_table(value: Document, source: random.Random) -> None:
    """Another label in a cell, or none, with the decimals of the network on the new table."""
    values, labels = value["table"]["values"], value["table"]["labels"]
    row = source.choice([row for plane in values for row in plane])
    row[source.randrange(len(row))] = source.randrange(-1, labels)
    with suppress(ShapeError):  # tests that appear or vanish leave the wrong number of multipliers
        mend_decimals(value)


def edit_claim(value: Document, source: random.Random) -> None:
    """One side, the gap or the grade moved by a little."""
    margin = value["margin"]
    field = source.choice(["lower", "upper"])
    places = len(margin[field].partition(".")[2])
    units = int(Fraction(margin[field]) * 10**places) + source.choice([-1, 1, -(10**3), 10**3])
    margin[field] = written(units, places)
    if value["grade"] == "enclosed":
        mend_gap(value)
    elif source.random() < 0.3:
        value["grade"], margin["exact"] = "enclosed", None
        mend_gap(value)


def written(units: int, places: int) -> str:
    """Units of a last place, as a decimal."""
    units = max(units, 0)
    return f"{units // 10**places}.{units % 10**places:0{places}}"


def mend_decimals(value: Document) -> None:
    """The decimals, the gap and the grade of the network and of t t'."""
    judged, margin = Judged(value), value["margin"]
    places = len(margin["lower"].partition(".")[2])
    below, square = judged.network_margin(), Fraction(27, 256) * judged.t * judged.t_prime
    margin["lower"] = written(int(below * 10**places) if below > 0 else 0, places)
    scaled = square * 100**places
    root = isqrt(int(scaled))
    margin["upper"] = written(root if root * root == scaled else root + 1, places)
    if value["grade"] == "exact":
        if below * below == square:
            margin["exact"] = str(below)
            return
        value["grade"], margin["exact"] = "enclosed", None
    mend_gap(value)


def mend_gap(value: Document) -> None:
    """The gap of the decimals, to two digits."""
    low, high = (Fraction(value["margin"][side]) for side in ("lower", "upper"))
    gap = (high - low) / high if high else Fraction(0)
    if gap <= 0:
        value["gap"] = "0"
        return
    places = 1
    while gap * 10**places < 10:
        places += 1
    units = -int(-gap * 10**places // 1)
    value["gap"] = written(units, places)


FORGED: list[Callable[[Document, random.Random], None]] = [
    edit_leaf, edit_list, edit_neuron, edit_t, edit_matrix, edit_scale, edit_table, edit_claim, edit_leaf,
]  # fmt: skip
