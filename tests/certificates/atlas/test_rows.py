"""Every row of the committed table, read off its document here, without what has made the table."""

import itertools
import json
import re
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from math import gcd, prod

import pytest
from sympy import expand, radsimp, sympify

from lemmata.certificates.atlas.catalogue import catalogue
from lemmata.certificates.atlas.committed import atlas_document, atlas_rows, committed_atlas
from lemmata.certificates.atlas.documents import row_of
from lemmata.certificates.atlas.machines import machine_row
from lemmata.certificates.margins.turing_direct import direct_margin_bound
from lemmata.certificates.margins.turing_ones import measured_ones
from lemmata.certificates.margins.turing_scores import score_flip
from lemmata.certificates.operations import unseen_survey
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import busy_beaver
from lemmata.numerics.groups.lists import isomorphic
from lemmata.numerics.groups.names import gap_available, parse_group, small_group_structure
from lemmata.numerics.groups.permutations import PermutationGroup

ROWS = list(atlas_rows())
DOCUMENTS = {row["key"]: json.loads(atlas_document(row)) for row in ROWS if row["sha256"]}
MEMBERS = {"right": 1, "wrong": 1, "both": 2}
NAMED = 233
WRITTEN = {
    "groups": "structure aliases order classes margin exact gap grade",
    "sporadic": "aliases order classes margin exact gap grade",
    "operations": "shape proof margin exact gap grade",
    "tables": "shape proof margin exact gap grade",
    "latin": "shape proof margin exact gap grade",
    "latin7": "shape proof margin exact gap grade symmetries classes",
    "unseen": "shape label verdict epsilon threshold bound proof grade",
    "exact": "shape proof margin exact gap grade",
    "machines": "machine command margin exact gap grade decided_by",
}


def rows_of(*sections):
    return [(row, DOCUMENTS[row["key"]]) for row in ROWS if row["section"] in sections and row["sha256"]]


def test_rows_say_what_is_known_here_and_nothing_else():
    for row in ROWS:
        if row["key"] != "small-1-1":
            own = {"section", "key", "name", *WRITTEN[row["section"]].split()}
            assert set(row) == own | {"bytes", "sha256", "seconds", "reason"}
            assert row["seconds"] >= 0


def test_margins_are_those_of_the_documents():
    for row, document in rows_of("groups", "sporadic", "operations", "tables", "latin", "latin7"):
        said = document["margin"]
        assert (*row["margin"], row["exact"], row["grade"]) == (
            said["lower"],
            said["upper"],
            said["exact"],
            document["grade"],
        )
        low, high = map(Decimal, row["margin"])
        assert 0 < low <= high
        assert (row["exact"] is None) == (row["grade"] == "enclosed")
        gap = Decimal(row["gap"])
        if row["grade"] == "exact":
            assert gap == 0
        else:
            assert gap * high >= Decimal("0.9") * (high - low)  # decimals are a unit further apart than the bounds
            assert gap * high <= Decimal("1.1") * (high - low)


def test_algebraic_margins_are_the_zeros_of_their_documents():
    """A root is evaluated in radicals, or the printed polynomial is that of the document."""
    count = 0
    for row, document in rows_of("exact"):
        said, text = document["margin"], row["exact"]
        coefficients = [int(c) for c in said["exact"]]
        assert [row["margin"], row["grade"], row["gap"]] == [[said["lower"], said["upper"]], "exact", "0"]
        if text.startswith("root of "):
            terms = re.findall(r"([+-]?\d+)(?:\*g\^(\d+))?", text.removeprefix("root of "))
            assert {int(power or 0) // 2: int(c) for c, power in terms} == dict(enumerate(coefficients))
        else:
            count += 1
            gamma = sympify(text)
            assert Decimal(said["lower"]) < Decimal(str(gamma.evalf(30))) < Decimal(said["upper"])
            assert not radsimp(expand(sum(c * expand(gamma**2) ** i for i, c in enumerate(coefficients))))
        values = document["table"]["values"]
        assert row["shape"] == [len(values), len(values[0]), document["table"]["labels"]]
        if "/" in row["name"] and not row["name"].startswith("op:"):
            assert row["name"] == "/".join("".join(map(str, line)) for line in values) + " exactly"
    assert count > 25


def test_tables_have_the_sizes_of_their_documents_and_names():
    for row, document in rows_of("operations", "tables", "latin", "latin7", "unseen"):
        values = document["table"]["values"]
        assert row["shape"] == [len(values), len(values[0]), document["table"]["labels"]]
        if row["section"] == "tables":
            assert row["name"] == "/".join("".join(str(one) for one in line) for line in values)
        if row["section"] in ("operations", "latin", "latin7"):
            assert row["name"].removeprefix("group:") == document["table"]["name"]
        if row["section"] != "unseen":
            assert row["proof"] == document["proof"]["kind"]


OPERATIONS = {
    "a+b": lambda a, b, n: (a + b) % n,
    "add": lambda a, b, n: (a + b) % n,
    "a-b": lambda a, b, n: (a - b) % n,
    "a*b": lambda a, b, n: a * b % n,
    "mul": lambda a, b, n: a * b % n,
    "a/b": lambda a, b, n: a * pow(b, -1, n) % n if gcd(b, n) == 1 else None,
    "a^2+b^2": lambda a, b, n: (a * a + b * b) % n,
    "a^2+ab+b^2": lambda a, b, n: (a * a + a * b + b * b) % n,
    "max": lambda a, b, _: max(a, b),
    "gcd": lambda a, b, _: gcd(a + 1, b + 1),
}


def test_operations_are_what_they_are_called():
    """Up to names of labels, and without the cells that were not seen."""
    count = 0
    for row, document in rows_of("operations", "unseen", "exact"):
        parts = row["name"].partition(" without ")[0].removesuffix(" exactly").split(":")
        if parts[0] != "op":
            continue
        n, names, count = int(parts[2]), {}, count + 1
        values = document["table"]["values"]
        assert len(values) == n
        for a, line in enumerate(values):
            for b, label in enumerate(line):
                value = OPERATIONS[parts[1]](a, b, n)
                if label == -1:
                    assert value is None or row["section"] == "unseen"
                else:
                    assert names.setdefault(value, label) == label
                    assert value is not None
        if row["section"] == "unseen":
            a, b = document["cell"]
            assert names.setdefault(OPERATIONS[parts[1]](a, b, n), document["label"]) == document["label"]
        assert len(set(names.values())) == len(names)
    assert count > 100


def test_cells_have_the_verdicts_of_their_documents():
    for row, document in rows_of("unseen"):
        said = {
            name: document[name] for name in ("label", "verdict", "epsilon", "threshold", "grade") if name in document
        }
        assert {name: row[name] for name in said} == said
        proofs = document["parts"] or [document["upper"]]
        assert row["proof"] == proofs[0]["proof"]["kind"]
        assert len(document["networks"]) == MEMBERS[row["verdict"]]
        if row["verdict"] == "both":
            assert row["bound"] is None
        else:
            assert row["bound"] in [part["bound"] for part in document["parts"]]
            assert all(Decimal(row["bound"]) <= Decimal(part["bound"]) for part in document["parts"])
        place, missing = row["name"].rpartition(", at ")[2], row["name"].partition(" without ")[2].partition(", at ")[0]
        assert place == "({},{})".format(*document["cell"])
        values = document["table"]["values"]
        found = [f"({a},{b})" for a, line in enumerate(values) for b, one in enumerate(line) if one == -1]
        assert missing == ", ".join(found)
        assert place in found


def test_kinds_of_missing_cells_that_have_no_rows_are_those_that_the_page_names():
    done = {row["name"].partition(", at ")[0] for row, _ in rows_of("unseen")}
    planned = defaultdict(set)
    for settings in unseen_survey.rows().values():
        places = ", ".join(f"({a},{b})" for a, b in settings["missing"])
        planned[settings["table"], len(settings["missing"])].add(f"{settings['table']} without {places}")
    left = {kind: (len(names - done), len(names)) for kind, names in planned.items() if names - done}
    assert left == {("op:add:6", 2): (7, 12), ("op:add:7", 2): (5, 5), ("op:add:7", 3): (41, 41)}
    assert done <= set().union(*planned.values())
    assert "but for some kinds of addition modulo 6 and 7" in committed_atlas()["sections"]["unseen"]["what"]


def test_groups_have_the_classes_and_names_of_their_documents():
    for row, document in rows_of("groups"):
        order, number = map(int, row["key"].split("-")[1:])
        assert row["name"] == f"SmallGroup({order},{number})"
        assert row["aliases"][0] == document["group"]["name"] == f"small:{order},{number}"
        assert row["order"] == order == document["group"]["order"]
        sizes = [one["size"] for one in document["classes"]]
        assert (row["classes"], sum(sizes)) == (len(sizes), order)
        assert len(row["aliases"]) <= 2
    for row, document in rows_of("sporadic"):
        sizes = document["table"]["class_sizes"]
        assert row["classes"] == len(sizes)
        assert int(row["order"]) == sum(map(int, sizes)) == int(document["table"]["order"])


def test_names_of_groups_are_those_of_groups_that_are_isomorphic():
    named = [(row, document) for row, document in rows_of("groups") if len(row["aliases"]) == 2]
    assert len(named) == NAMED
    assert len({row["aliases"][1] for row, _ in named}) == NAMED
    for row, document in named:
        group = PermutationGroup(tuple(map(tuple, document["group"]["generators"])))
        assert isomorphic(parse_group(row["aliases"][1]), group), row["key"]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("small-2-1", "Z2"),  # the least order
        ("small-6-1", "S3"),
        ("small-8-4", "Q8"),
        ("small-62-1", "D31"),
        ("small-63-4", "Z3xZ21"),  # the largest order
        ("small-63-2", "Z63"),
        ("small-63-1", None),
    ],
)
def test_groups_are_named_anew_where_no_row_is_known(key, name):
    """Up to the names that the committed row has: the same group has no other."""
    item = next(item for item in catalogue() if item.key == key)
    row = next(row for row in ROWS if row["key"] == key)
    made = row_of(item, atlas_document(row), 0.0)
    order, number = map(int, key.split("-")[1:])
    assert made["aliases"] == [f"small:{order},{number}", *([name] if name else [])] == row["aliases"]


def test_structures_of_abelian_groups_are_products_of_cyclic_ones():
    for row, document in rows_of("groups"):
        factors = row["structure"].split(" x ")
        cyclic = all(factor[0] == "Z" and factor[1:].isdecimal() for factor in factors)
        assert cyclic == (row["classes"] == row["order"]), row["key"]
        if cyclic:
            sizes = [int(factor[1:]) for factor in factors]
            group = PermutationGroup(tuple(map(tuple, document["group"]["generators"])))
            orders = sorted(
                order for order, size in zip(group.classes.element_orders, group.classes.sizes, strict=True)
            )
            assert prod(sizes) == row["order"]
            assert orders == orders_in(sizes)


def orders_in(sizes):
    """The orders of all elements of a product of cyclic groups, by counting multiples of each."""
    orders = []
    for element in itertools.product(*map(range, sizes)):
        order = 1
        while any(order * one % size for one, size in zip(element, sizes, strict=True)):
            order += 1
        orders.append(order)
    return sorted(orders)


@pytest.mark.skipif(not gap_available(), reason="the extra gap is not installed")
def test_numbers_of_groups_are_those_of_the_small_groups_library():
    from lemmata.numerics.groups.names import gap_interpreter

    gap = gap_interpreter()
    for row, document in rows_of("groups"):
        cycles = ",".join(f"PermList({[image + 1 for image in g]})" for g in document["group"]["generators"])
        order, number = map(int, row["key"].split("-")[1:])
        assert [int(one) for one in gap.eval(f"IdGroup(Group([{cycles}]))")] == [order, number]
        assert row["structure"] == small_group_structure(order, number)


@pytest.mark.parametrize(
    ("key", "machine", "steps"), [("bb4-107", busy_beaver(4), 107), ("bb2-6-blank", busy_beaver(2), 6)]
)
def test_margins_of_machines_are_below_and_above_what_is_certified_and_attacked(key, machine, steps):
    row = next(row for row in ROWS if row["key"] == f"turing-{key}")
    transformer = compile_turing_machine(machine, steps, left_end="two-way")
    blank = key.endswith("blank")
    bound = direct_margin_bound(transformer, measured_ones(transformer, [()]) if blank else None)
    low, unit = Fraction(row["margin"][0]), Fraction(1, 10**14)
    assert 0 <= bound.value - low < unit
    assert row["decided_by"] == bound.binding
    if blank:
        flip = score_flip(transformer, ())
        assert flip is not None
        high = Fraction(row["margin"][1])
        assert high**2 >= flip.norm_squared * (1 - Fraction(1, 10**6))  # the flip is found in floating point
        assert high**2 <= flip.norm_squared * (1 + Fraction(1, 10**6))
    else:
        assert row["margin"][1] is None
        again = machine_row(next(item for item in catalogue() if item.key == row["key"]))
        assert (again["margin"], again["grade"]) == (row["margin"], row["grade"])
