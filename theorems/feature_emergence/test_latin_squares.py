"""The largest margins among Latin squares of one order (ext-T13 and ext-T16; proofs/latin-squares.md).

Weights and networks of the library are counted in integers; the bound is held against the exact margins of groups and
against committed documents, which the kernel accepts here once more.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations, product
from math import factorial, isqrt
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import nmod_mat

from lemmata.certificates import operation_kernel
from lemmata.certificates.atlas.committed import atlas_document, atlas_rows
from lemmata.certificates.atlas.lookup import atlas_row
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.operations.balanced import is_balanced
from lemmata.certificates.operations.forms import form_matrices, residual
from lemmata.certificates.operations.latin_squares import latin_square_bound, product_network, steiner_network
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.operations.classes import group_of_operation
from lemmata.numerics.operations.isotopy import carries, isotopism
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.reduced_squares import count_reduced, least_reduced, numbers_of, roles
from lemmata.numerics.operations.squares import (
    latin_square_classes,
    random_latin_square,
    reduced_latin_squares,
    steiner_square,
)
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.exact_weights import listed_network
from lemmata.theorems.plugin import Effort

T13 = "feature-emergence:ext-T13"
T16 = "feature-emergence:ext-T16"
ROLES = ("latin:6:reduced:39", "latin:6:reduced:54")
ROWS = ["012345", "103254", "240513", "351420", "435102", "524031"]
SMALL = [square for n in (2, 3, 4, 5) for square in reduced_latin_squares(n)]


@check(T13, grade="exact", target="printed", cases="all 62 reduced squares of orders 2 to 5, random ones to order 9")
@proof_steps("latin-squares.md: 1, 2")
def test_uniform_weights_leave_products_alone() -> None:
    """The squares cancel, the products are n w less its sum, and the Frobenius norms give the square of the bound."""
    for table in (*SMALL, *(random_latin_square(n, 1) for n in (6, 7, 8, 9))):
        n, values = table.rows, table.values
        matrices = form_matrices(residual(table, np.ones(len(table.triples), np.int64)))
        rows, columns = matrices[:, :n, :n], matrices[:, n:, n:]
        assert not rows.any()
        assert not columns.any()
        w = [k * k + 1 for k in range(n)]
        found = np.tensordot(w, matrices[:, :n, n:], axes=1)
        assert found.tolist() == [[n * w[values[a][b]] - sum(w) for b in range(n)] for a in range(n)]
        frobenius = Fraction(int((found**2).sum()))
        centred = sum((Fraction(x) - Fraction(sum(w), n)) ** 2 for x in w)
        most = 4 * frobenius / centred / len(table.triples) ** 2 / 27  # (2 |W|/|w|)^2, times the best |u| = |v| = |w|
        assert most == latin_square_bound(n)


@check(T13, grade="exact", target="printed", cases="Z_2^k to order 32: equality; all other groups to order 12: less")
@proof_steps("latin-squares.md: 6")
def test_only_the_exclusive_or_attains_the_bound_among_groups() -> None:
    for name in ("Z2", "Z2xZ2", "Z2xZ2xZ2", "Z2xZ2xZ2xZ2", "Z2xZ2xZ2xZ2xZ2"):
        group = parse_group(name)
        assert certify_group(group).gamma ** 2 == latin_square_bound(group.order)
    small = "Z3 Z4 Z5 Z6 S3 Z7 Z8 Z2xZ4 D4 Q8 Z9 Z3xZ3 Z10 D5 Z11 Z12 Z2xZ6 A4 D6 Dic3"
    for name in small.split():
        group = parse_group(name)
        assert certify_group(group).gamma ** 2 < latin_square_bound(group.order)


def _labels_told_apart(table: Operation) -> bool:
    """Whether signs with s(a) t(b) = r(y(a, b)), the neurons of step 3, are different at any two labels for some r."""
    n = table.rows
    rows = [[0] * (3 * n) for _ in table.cells]
    for row, (a, b) in zip(rows, table.cells, strict=True):
        row[a] = row[n + b] = row[2 * n + table.values[a][b]] = 1
    solutions, count = nmod_mat(rows, 2).nullspace()
    return len({tuple(int(solutions[2 * n + c, i]) for i in range(count)) for c in range(n)}) == n


@check(T13, grade="exact", target="printed", cases="all reduced squares to order 5, 3 of order 8, 20 random of order 8")
@proof_steps("latin-squares.md: 3, 4, 5")
def test_signs_tell_labels_apart_only_in_the_exclusive_or() -> None:
    """Against the group that a table is, if it is one: all of its squares are 1."""
    eight = [Operation.of(parse_group(name).to_finite_group().table.tolist()) for name in ("Z2xZ2xZ2", "D4", "Z2xZ4")]
    seen = 0
    for table in (*SMALL, *eight, *(random_latin_square(8, seed) for seed in range(20))):
        group = group_of_operation(table)
        squares = group is not None and (np.diagonal(group.table) == group.table[0, 0]).all()
        assert _labels_told_apart(table) == squares
        seen += squares
    assert seen == 3


@check(T13, grade="exact", target="printed", cases="abelian groups of odd order to 27, and those of order 21 and 27")
@proof_steps("latin-squares.md: 7")
def test_groups_of_odd_order() -> None:
    """The square of the margin is half of the bound's at abelian groups, and less at others."""
    for name in ("Z3", "Z5", "Z9", "Z3xZ3", "Z15", "Z5xZ5", "Z27", "Z3xZ9", "Z3xZ3xZ3"):
        group = parse_group(name)
        assert certify_group(group).gamma ** 2 == latin_square_bound(group.order) / 2
    for name in ("perm:(1,2,3,4,5,6,7);(2,3,5)(4,7,6)", "perm:(1,2,3);(1,4,7)(2,5,8)(3,6,9)"):
        group = parse_group(name)
        assert group.order % 2
        assert certify_group(group).gamma ** 2 <= latin_square_bound(group.order) / 2


@check(T13, grade="exact", target="printed", cases="n = 3, 7, 15, 31, in integers")
@proof_steps("latin-squares.md: 8")
@pytest.mark.parametrize("n", [3, 7, 15, 31])
def test_the_network_of_a_projective_space(n: int) -> None:
    """What both kinds of neurons say in all cells, their lengths, and their masses to the last bit."""
    table, network = steiner_square(n), steiner_network(n)
    assert all(
        (a + 1) ^ (b + 1) ^ (y + 1) == 0 or a == b == y
        for (a, b), y in zip(product(range(n), repeat=2), table.array().ravel().tolist(), strict=True)
    )
    assert network.squares().tolist() == [3 * n] * n + [3] * (2 * n)
    waves, units = network.masses[:n].tolist(), network.masses[n:].tolist()
    assert len(set(waves)) == len(set(units)) == 1
    assert units[0] == Fraction(n + 1, 2)
    assert 0 <= n**3 - waves[0] ** 2 < Fraction(1, 2**50)
    u, v, w = (part.astype(np.int64) for part in (network.u, network.v, network.w))
    for kind, diagonal, elsewhere in ((slice(0, n), 0, 2 * (n + 1)), (slice(n, None), 4, 0)):
        said = np.einsum("iab,ic->abc", (u[kind, :, None] + v[kind, None, :]) ** 2, w[kind])
        right = np.take_along_axis(said, table.array()[:, :, None], axis=2)
        margins = (right - said)[np.arange(n) != table.array()[:, :, None]].reshape(n, n, n - 1)
        assert (margins[np.eye(n, dtype=bool)] == diagonal).all()
        assert (margins[~np.eye(n, dtype=bool)] == elsewhere).all()


def _root(number: int) -> Fraction:
    """The square root, to 100 bits after the point."""
    return Fraction(isqrt(number << 200), 1 << 100)


@check(T13, grade="exact", target="printed", cases="n = 3, 7, 15: the margin, its roots to 128 bits")
@proof_steps("latin-squares.md: 8, 9")
@pytest.mark.parametrize("n", [3, 7, 15])
def test_a_network_above_every_group(n: int) -> None:
    """At 15 the proved margin is above that of the groups of that order, and everywhere the one of the statement."""
    lower = steiner_network(n).lower_margin(steiner_square(n))
    scaled = lower * (n * (n + 1) * _root(27) + n * n * _root(27 * n))
    assert abs(scaled - 2 * (n + 1)) < Fraction(1, 2**40)
    assert (lower**2 > latin_square_bound(n) / 2 * Fraction(121, 100)) == (n >= 15)
    assert lower**2 < latin_square_bound(n)


@check(T13, grade="symbolic", target="printed", supporting=True)
@proof_steps("latin-squares.md: 9")
def test_the_quotient_is_more_than_a_tenth_above_1_from_15_on() -> None:
    """With s = sqrt(n) = sqrt(15) + t all coefficients of 10 numerators less 11 denominators are positive."""
    s, t = sp.symbols("s t")
    difference = sp.expand((10 * sp.sqrt(2) * (s**4 - 1) - 11 * (s**4 + s**3 + s)).subs(s, sp.sqrt(15) + t))
    assert all(coefficient > 0 for coefficient in sp.Poly(difference, t).all_coeffs())


# ---- ext-T16


def _document(name: str) -> dict[str, Any]:
    """The committed document of a table, once the kernel has accepted it."""
    data = atlas_document(atlas_row(name))
    operation_kernel.check(data)
    return json.loads(data)


def _bounds(name: str, table: Operation) -> tuple[Fraction, Fraction]:
    """Of the margin of a table, by the document of the row of that name."""
    document = _document(name)
    assert document["table"]["values"] == [list(row) for row in table.values]
    return Fraction(document["margin"]["lower"]), Fraction(document["margin"]["upper"])


def _turned(table: Operation) -> Operation:
    """The square of the triples (b, y, a)."""
    values = [[0] * table.rows for _ in range(table.rows)]
    for a, b in table.cells:
        values[b][table.values[a][b]] = a
    return Operation.of(values)


@check(T16, grade="numeric", target="printed", cases="orders 5 to 7: 8 squares with positive weights, 2 with zeros")
@proof_steps("latin-squares.md: 10, 11, 12")
def test_products_of_networks_of_maximum_margin() -> None:
    """Nothing is lost where all weights are positive, for the square with other roles neither; something elsewhere.

    Under weights q of sum 1 the mean of the margins is at most the bound above, so that none exceeds the least by more
    than the gap over the least q. Where none exceeds it by more than d, step 11 leaves of f a multiple of E and three
    times a function without its means of size d, at most 8 d in all. So products, in any roles, have margins that are
    off by at most 16 d, but for rounding.
    """
    rounding = 1e-13  # of sums of fewer than 10^4 products below 1
    positive = ("5:reduced:15", "7:steiner", *(f"6:reduced:{k}" for k in (1, 2, 5, 41, 225, 244)))
    for name in (*positive, "5:reduced:1", "6:reduced:54"):
        document = _document(f"latin:{name}")
        table = Operation.of(document["table"]["values"])
        network = listed_network(document["network"], table)
        found, margins, upper = product_network(network), network.margins(table), float(document["margin"]["upper"])
        weights = np.array([int(q) for q in document["multipliers"]], float) / sum(map(int, document["multipliers"]))
        assert (weights.min() * len(weights) > 0.1) == (name in positive)
        if name in positive:
            assert np.ptp(margins) <= upper * float(document["gap"]) / weights.min() + rounding
            assert margins.min() - 16 * np.ptp(margins) - rounding <= found.margin(table) <= upper + rounding
            turned = product_network(OperationNetwork(network.v, network.w, network.u, network.masses))
            assert abs(turned.margin(_turned(table)) - found.margin(table)) <= 32 * np.ptp(margins) + rounding
        else:
            assert found.margin(table) < 0.99 * upper


@check(T16, grade="exact", target="printed", cases="the two squares of the statement, by the kernel")
@proof_steps("latin-squares.md: 13")
def test_a_margin_that_depends_on_the_roles() -> None:
    first, second = (parse_operation(name) for name in ROLES)
    assert ["".join(map(str, row)) for row in first.values] == ROWS
    moved = isotopism(_turned(first), second)
    assert moved is not None
    assert carries(_turned(first), second, moved)
    (_, least), (most, _) = map(_bounds, ROLES, (first, second))
    assert least < Fraction(2063517, 10**8)
    assert most > Fraction(2063557, 10**8)


@check(
    T16,
    grade="exact",
    target="printed",
    cases="all classes of orders 5 and 6, one square of order 7; documents above 200 kB at --effort full",
)
@proof_steps("latin-squares.md: 13")
def test_which_squares_to_order_7_have_the_largest_margin(effort: Effort) -> None:
    """Exact margins of groups against the documents of all other classes, which are counted by their symmetries."""
    six = {certify_group(parse_group(name)).gamma ** 2 for name in ("Z6", "S3")}
    assert len(six) == 1
    assert (66 - 81 * 961 * max(six)) ** 2 == 512  # (2/(9 sqrt 2 (1 + 4 sqrt 2)))^2 = (66 - 16 sqrt 2)/(81 31^2)
    assert max(six) < Fraction(66, 81 * 961)
    largest = {5: certify_group(parse_group("Z5")).gamma ** 2, 6: max(six)}
    checked = 0
    for n, groups, count in ((5, {15}, 2), (6, {1, 34}, 22)):
        squares, classes = list(reduced_latin_squares(n)), latin_square_classes(n)
        assert len(classes) == count
        assert sum(one.reduced for one in classes) == len(squares)
        for number in (one.number for one in classes if one.number <= one.swapped):
            name, table = f"latin:{n}:reduced:{number}", squares[number - 1]
            assert (group_of_operation(table) is not None) == (number in groups)
            if atlas_row(name)["bytes"] < 200_000 or effort.pick(quick=False, full=True):
                lower, upper = _bounds(name, table)
                assert lower**2 <= largest[n]
                assert (upper**2 < largest[n]) == (number not in groups)
                checked += 1
    assert checked >= 12
    lower, upper = _bounds("latin:7:steiner", steiner_square(7))
    assert Fraction(18098, 10**6) < lower <= upper < Fraction(18099, 10**6)
    assert lower**2 > certify_group(parse_group("Z7")).gamma ** 2


@check(T16, grade="exact", target="printed", cases="random squares of orders 5, 6, 7 in six roles, in integers")
@proof_steps("latin-squares.md: 14")
@pytest.mark.parametrize("n", [5, 6, 7])
def test_balanced_weights_are_weights_in_all_roles(n: int) -> None:
    """Signs and sums of the tensor with its axes permuted, and what it pays neurons, counted triple by triple.

    The tensor is a sum of differences of the random square and another one, which have sum 0 along each line.
    """
    table = random_latin_square(n, 5)
    right = np.eye(n, dtype=np.int64)[table.array()]
    others = [np.eye(n, dtype=np.int64)[random_latin_square(n, seed).array()] for seed in range(40)]
    tensor = sum(k * (right - one) for k, one in enumerate(others, 1))
    assert isinstance(tensor, np.ndarray)
    neuron = [np.random.default_rng(k).integers(-9, 10, n) for k in range(3)]
    u, v, w = neuron
    q = {(a, b, c): -int(tensor[a, b, c]) for a, b, c in table.triples}
    assert is_balanced(table, np.array(list(q.values())))
    assert not is_balanced(table, np.arange(len(q)))
    assert min(q.values()) >= 0
    paid = sum(m * (u[a] + v[b]) ** 2 * (w[table.values[a][b]] - w[c]) for (a, b, c), m in q.items())
    assert paid == 2 * np.einsum("abc,a,b,c->", tensor, u, v, w)
    for axes in permutations(range(3)):
        moved, (x, y, z) = tensor.transpose(axes), (neuron[axis] for axis in axes)
        turned = Operation.of(right.transpose(axes).argmax(axis=2).tolist())
        q = {(a, b, c): -int(moved[a, b, c]) for a, b, c in turned.triples}
        assert min(q.values()) >= 0
        assert sum(m * (x[a] + y[b]) ** 2 * (z[turned.values[a][b]] - z[c]) for (a, b, c), m in q.items()) == paid


@check(T16, grade="exact", target="printed", cases="all classes of order 7; squares counted at --effort full")
@proof_steps("latin-squares.md: 15")
def test_the_largest_margins_of_order_7(effort: Effort) -> None:
    """147 documents with balanced weights, about squares whose classes have as many members as there are squares."""
    files = {row["name"]: atlas_document(row) for row in atlas_rows("latin7")}
    documents = [json.loads(data) for data in files.values()]
    tables = [Operation.of(document["table"]["values"]) for document in documents]
    numbers = numbers_of(np.array([table.array() for table in tables]))
    assert list(files) == [f"latin:7:reduced:{number}" for number in numbers]
    members = {}
    for table in tables:
        for least, symmetries in map(least_reduced, roles(table.array())):
            members[least.tobytes()] = 7 * factorial(7) // symmetries
    assert (len(tables), len(members), sum(members.values())) == (147, 564, 16_942_080)
    if effort.pick(quick=False, full=True):
        assert count_reduced(7) == 16_942_080
    plane, cyclic = steiner_square(7), parse_operation("Z7")
    others, margin = 0, certify_group(parse_group("Z7")).gamma ** 2
    assert Fraction(1714, 10**5) ** 2 < margin < Fraction(1715, 10**5) ** 2
    for table, document, data in zip(tables, documents, files.values(), strict=True):
        operation_kernel.check(data)
        assert is_balanced(table, np.array([int(q) for q in document["multipliers"]]))
        upper = Fraction(document["margin"]["upper"])
        if isotopism(table, plane) is None and isotopism(table, cyclic) is None:
            assert upper < Fraction(1673, 10**5)
            others += 1
        else:
            assert len({least_reduced(role)[0].tobytes() for role in roles(table.array())}) == 1
    assert others == 145
    lower, _ = _bounds("latin:7:steiner", plane)
    assert Fraction(18098, 10**6) ** 2 < lower**2 > margin > Fraction(1673, 10**5) ** 2
