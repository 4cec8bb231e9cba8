"""Forged documents of algebraic margins: random edits, edits repaired so that equations hold again, and true ones.

An edit is a function of (document, random source) that changes the document in place, and returns the document.
"""

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from flint import ctx, fmpz_poly

from tests.certificates.operation_documents import at, edit_entries, leaves

Document = dict[str, Any]
Edit = Callable[[Document, random.Random], None]


def numbers(value: Document) -> list[list[str]]:
    """All numbers of a document that are not 0, as lists of coefficients."""
    groups = [value["multipliers"]["values"], *value["proof"]["matrix"], *value["proof"]["kernel"]]
    groups += [*value["network"]["neurons"], value["network"]["masses"], [value["proof"]["square"]]]
    return [number for group in groups for number in group if number]


def add(value: Document, row: list[Any], i: int, coefficients: list[int]) -> None:
    """Coefficients added to an entry of a list of numbers."""
    old = row[i] or ["0"] * len(value["field"]["polynomial"])
    new = [int(a) + b for a, b in zip(old, coefficients, strict=True)]
    row[i] = [str(c) for c in new] if any(new) else 0


def monomials(value: Document) -> list[tuple[int, ...]]:
    """The indices of rows of the matrix."""
    table = value["table"]
    N = len(table["values"]) + len(table["values"][0])
    return [*combinations_with_replacement(range(N), 2), *((N + k,) for k in range(table["labels"]))]


def constant(value: Document, c: int) -> list[int]:
    """The coefficients of an integer."""
    return [c, *(0 for _ in value["field"]["polynomial"][1:])]


# ---- random


def edit_coefficient(value: Document, source: random.Random) -> None:
    number = source.choice(numbers(value))
    i = source.randrange(len(number))
    old = int(number[i])
    number[i] = str(source.choice([old + 1, old - 1, -old, 2 * old, 0, old + source.randint(-(10**6), 10**6)]))


def edit_leaf(value: Document, source: random.Random) -> None:
    """An integer or a digit anywhere but in the name, each field as likely as another."""
    paths = [path for path in leaves(value) if path[-1] != "name"]
    field = source.choice(sorted({tuple(key for key in path if isinstance(key, str)) for path in paths}))
    path = source.choice([p for p in paths if tuple(key for key in p if isinstance(key, str)) == field])
    parent, key = at(value, path[:-1]), path[-1]
    if isinstance(parent[key], int):
        parent[key] += source.choice([-2, -1, 1, 2, 1000])
        return
    places = [i for i, character in enumerate(parent[key]) if character.isdigit()]
    if not places:
        parent[key] = source.choice(["exact", "enclosed", "degree 6", "0"])
        return
    i = source.choice(places)
    parent[key] = parent[key][:i] + source.choice("0123456789") + parent[key][i + 1 :]


def edit_list(value: Document, source: random.Random) -> None:
    """An entry of some list dropped, doubled or exchanged."""
    names = [("multipliers", "values"), ("proof", "matrix"), ("proof", "kernel"), ("network", "neurons")]
    names += [("network", "masses"), ("margin", "exact"), ("field", "polynomial"), ("table", "values")]
    one, other = source.choice(names)
    entries = value[one][other]
    if source.random() < 0.5 and isinstance(entries[0], list):
        entries = source.choice(entries)
    edit_entries(entries, source)


def edit_table(value: Document, source: random.Random) -> None:
    values = value["table"]["values"]
    row = source.choice(values)
    row[source.randrange(len(row))] = source.randrange(-1, value["table"]["labels"])


# ---- repaired: some equations are made to hold again


def edit_conjugate(value: Document, source: random.Random) -> None:
    """theta becomes another real zero of f: all equations stay, and signs and the margin change."""
    f = fmpz_poly([*(int(c) for c in value["field"]["polynomial"]), 1])
    before, ctx.prec = ctx.prec, 400
    roots: Any = f.complex_roots()
    real = [root.real for root, _ in roots if root.imag.contains(0) and root.real > 0]
    value["field"]["bits"] = 200
    value["field"]["low"] = str(int((source.choice(real) * 2**200).floor().unique_fmpz())) if real else "1"
    ctx.prec = before


def edit_square(value: Document, source: random.Random) -> None:
    """A smaller or larger s, with a matrix for which the identity holds."""
    proof = value["proof"]
    unit = int(proof["denominator"])
    lowered = source.choice([-1, 1, -1000, unit, -unit])
    vector = monomials(value)
    one = [proof["square"]]
    add(value, one, 0, constant(value, lowered))
    proof["square"] = one[0]
    for i, m in enumerate(vector):
        if len(m) == 2 and m[0] == m[1]:
            for j in range(i + 1):
                if len(vector[j]) == 2 and vector[j][0] == vector[j][1]:
                    add(value, proof["matrix"][i], j, constant(value, lowered))


def edit_gram(value: Document, source: random.Random) -> None:
    """Two entries of the matrix for the same monomial changed against each other: the identity stays."""
    vector = monomials(value)
    cells: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for i, m in enumerate(vector):
        for j in range(i + 1):
            cells.setdefault(tuple(sorted(m + vector[j])), []).append((i, j))
    (i, j), (k, h) = source.sample(source.choice([places for places in cells.values() if len(places) > 1]), 2)
    change = source.choice([1, -1, 7, int(value["proof"]["denominator"])])
    matrix = value["proof"]["matrix"]
    add(value, matrix[i], j, constant(value, change * (2 if k == h else 1)))
    add(value, matrix[k], h, constant(value, -change * (2 if i == j else 1)))


def edit_multipliers(value: Document, source: random.Random) -> None:
    """Some weight moved between two triples: the sum stays."""
    listed = value["multipliers"]["values"]
    i, j = source.sample(range(len(listed)), 2)
    change = source.choice([1, int(value["multipliers"]["denominator"]) // 4, int(value["multipliers"]["denominator"])])
    add(value, listed, i, constant(value, change))
    add(value, listed, j, constant(value, -change))


def edit_masses(value: Document, source: random.Random) -> None:
    """A mass replaced by another one, by itself times an integer, or by its opposite."""
    masses = value["network"]["masses"]
    i = source.randrange(len(masses))
    masses[i] = [str(source.choice([-1, 0, 2, 3]) * int(c)) for c in source.choice(masses)]


def edit_neurons(value: Document, source: random.Random) -> None:
    """A neuron left out, or one of which two coordinates are exchanged or one has another sign."""
    network = value["network"]
    i, kind = source.randrange(len(network["neurons"])), source.randrange(3)
    x = network["neurons"][i]
    if kind == 0 and len(network["neurons"]) > 1:
        del network["neurons"][i], network["masses"][i]
    elif kind == 1:
        a, b = source.sample(range(len(x)), 2)
        x[a], x[b] = x[b], x[a]
    else:
        a = source.randrange(len(x))
        x[a] = [str(-int(c)) for c in x[a]] if x[a] else [str(c) for c in constant(value, 1)]


def edit_kernel(value: Document, source: random.Random) -> None:
    """Vectors of the kernel left out, or sums of two in place of one."""
    vectors = value["proof"]["kernel"]
    i = source.randrange(len(vectors))
    if source.random() < 0.5:
        del vectors[i]
    else:
        v = copy.deepcopy(vectors[i])
        for k, entry in enumerate(source.choice(vectors)):
            if entry:
                add(value, v, k, [int(c) for c in entry])
        vectors[i] = v


def edit_decimals(value: Document, source: random.Random) -> None:
    """Both decimals moved, or with fewer places, or more of them."""
    margin = value["margin"]
    places = source.randint(1, 14)
    low = int(Fraction(margin["lower"]) * 10**places) + source.choice([-1, 0, 0, 1])
    margin["lower"] = f"0.{max(low, 0):0{places}d}"
    margin["upper"] = f"0.{max(low, 0) + source.choice([1, 1, 1, 2]):0{places}d}"


def edit_polynomial(value: Document, source: random.Random) -> None:
    """The claimed polynomial times another one, or plus another one."""
    claimed = fmpz_poly([int(c) for c in value["margin"]["exact"]])
    other = fmpz_poly([source.randint(-9, 9), source.randint(-9, 9), source.choice([0, 1])])
    new = claimed * other if source.random() < 0.7 else claimed + other
    value["margin"]["exact"] = [str(int(c)) for c in new.coeffs()] or ["0", "0"]


# ---- edits that leave the claim true


def same_network(value: Document, source: random.Random) -> None:
    """Neurons in another order, some times -1; all masses times a number."""
    network = value["network"]
    order = list(range(len(network["masses"])))
    source.shuffle(order)
    factor = source.randint(1, 9)
    network["neurons"] = [network["neurons"][i] for i in order]
    network["masses"] = [[str(factor * int(c)) for c in network["masses"][i]] for i in order]
    for i, x in enumerate(network["neurons"]):
        if source.random() < 0.5:
            network["neurons"][i] = [[str(-int(c)) for c in one] if one else 0 for one in x]


def same_neuron(value: Document, source: random.Random) -> None:
    """A neuron times an integer k, its mass kept: the others get k^4 times theirs."""
    network, k = value["network"], source.randint(2, 4)
    i = source.randrange(len(network["neurons"]))
    network["neurons"][i] = [[str(k * int(c)) for c in one] if one else 0 for one in network["neurons"][i]]
    for j, mass in enumerate(network["masses"]):
        if j != i:
            network["masses"][j] = [str(k**4 * int(c)) for c in mass]


def same_kernel(value: Document, source: random.Random) -> None:
    """Vectors of the kernel times integers, in another order, one twice."""
    vectors = value["proof"]["kernel"]
    vectors.append(copy.deepcopy(source.choice(vectors)))
    source.shuffle(vectors)
    i, k = source.randrange(len(vectors)), source.choice([-3, -1, 2, 10**30])
    vectors[i] = [[str(k * int(c)) for c in one] if one else 0 for one in vectors[i]]


def same_claim(value: Document, source: random.Random) -> None:
    """The claimed polynomial times an integer, another name, theta to fewer bits."""
    value["margin"]["exact"] = [str(-7 * int(c)) for c in value["margin"]["exact"]]
    value["table"]["name"] = "another one"
    fewer = source.randint(1, 500)
    value["field"]["low"] = str(int(value["field"]["low"]) >> fewer)
    value["field"]["bits"] -= fewer


FORGED: tuple[Edit, ...] = (
    edit_coefficient, edit_leaf, edit_list, edit_table, edit_conjugate, edit_square, edit_gram, edit_multipliers,
    edit_masses, edit_neurons, edit_kernel, edit_decimals, edit_polynomial,
)  # fmt: skip
TRUE: tuple[Edit, ...] = (same_network, same_neuron, same_kernel, same_claim)
