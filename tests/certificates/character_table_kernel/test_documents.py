"""Certificates from tables: what the kernel accepts, refuses, prints, imports."""

import ast
import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lemmata.certificates import character_table_kernel, kernel
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.document import document_of
from lemmata.numerics.groups.names import parse_group
from tests.certificates.character_table_kernel import worst
from tests.certificates.given_character_tables import NAMES, document_bytes, table_certificate, verdict

PROGRAM = Path(character_table_kernel.__file__)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factors", [2, 3, 7])
def test_certificates_are_valid_and_say_what_a_group_certificate_says(name, factors):
    document = table_certificate(name, factors)
    group = parse_group(document["table"]["name"])
    expected = document_of(certify_group(group, factors))
    for part in ("value", "margin", "grade"):
        assert document[part] == expected[part]
    status, line = verdict(document)
    assert status == 0
    assert line.startswith(
        f"IF the table called {json.dumps(group.name)} is the character table of a group of order {group.order} "
    )
    assert f"THEN for {factors} factors it has the maximum margin from {document['margin']['lower']}" in line


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all numbers, texts and empty objects."""
    if isinstance(value, dict | list) and value:
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))
    else:
        yield path


def changed(value: Any) -> list[Any]:
    """Other values of the same type, and one of another."""
    if isinstance(value, dict):
        return [{"1": "1"}, None]
    if isinstance(value, int):
        return [value + 1, -value - 1, str(value + 1), None, float(value)]
    forged = [value + "0", "-" + value, "1" + value, "", value.replace("1", "2") + " "]
    return [text for text in forged if text != value] + [None, 1.5]


@pytest.mark.parametrize("name", ["S4", "C7_C3", "Q8"])
def test_every_field_counts(name):
    document = table_certificate(name)
    free = {("table", "name")} | {("table", "class_names", i) for i in range(20)}
    paths = list(leaves(document))
    assert len(paths) > 60
    for path in paths:
        for other in changed(_at(document, path)):
            forged = copy.deepcopy(document)
            _at(forged, path[:-1])[path[-1]] = other
            harmless = path in free and isinstance(other, str) and other.isascii()
            assert (verdict(forged)[0] == 0) == harmless, (path, other)


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("part", ["", "table", "value", "margin"])
def test_keys_are_neither_missing_nor_unknown(part):
    for remove in (True, False):
        document = table_certificate("S4")
        place = document[part] if part else document
        keys = list(place) if remove else ["unknown"]
        for key in keys:
            forged = copy.deepcopy(document)
            target = forged[part] if part else forged
            if remove:
                del target[key]
            else:
                target[key] = 1
            assert verdict(forged)[0] == 2


def test_swapped_columns_are_refused_unless_everything_moves_with_them():
    document = table_certificate("Z8")
    swapped = copy.deepcopy(document)
    for row in swapped["table"]["characters"]:
        row[1], row[4] = row[4], row[1]
    assert verdict(swapped)[0] == 1  # all sizes are 1: only the power maps and the weights tell
    for p, images in swapped["table"]["powers"].items():
        images[1], images[4] = images[4], images[1]
        swapped["table"]["powers"][p] = [{1: 4, 4: 1}.get(C, C) for C in images]
    weights = swapped["scaled_weights"]
    weights[1], weights[4] = weights[4], weights[1]
    assert verdict(swapped)[0] == 0


def test_swapped_columns_that_permute_the_rows_only_are_the_same_table():
    document = table_certificate("S4")  # times the sign: 2B and 4A change places
    for row in document["table"]["characters"]:
        row[2], row[4] = row[4], row[2]
    rows = [tuple(row) for row in document["table"]["characters"]]
    assert sorted(rows) == sorted(tuple(row) for row in table_certificate("S4")["table"]["characters"])
    assert verdict(document)[0] == 0


def test_rows_in_another_order_prove_the_same():
    document = table_certificate("S4")
    for part in (document["table"]["characters"], document["table"]["indicators"], document["scaled_masses"]):
        part.reverse()
    assert verdict(document)[0] == 0


def test_masses_and_weights_must_be_feasible():
    document = table_certificate("S4")
    moved = copy.deepcopy(document)
    place = next(R for R, mass in enumerate(moved["scaled_masses"]) if mass != "0")
    moved["scaled_masses"][place] = "0"
    assert "the masses give it less than 1" in verdict(moved)[1]
    doubled = copy.deepcopy(document)
    place = next(C for C, weight in enumerate(doubled["scaled_weights"]) if weight)
    doubled["scaled_weights"][place] = {"1": "1000"}
    assert "the weights give it more than w" in verdict(doubled)[1]
    outside = copy.deepcopy(document)
    outside["scaled_weights"][place] = {"5": "1"}
    assert "has a square root that no w has" in verdict(outside)[1]


@pytest.mark.parametrize("name", ["S4", "C7_C3", "Q8"])
def test_any_roots_of_unity_are_accepted(name):
    """Values in roots of larger orders, with sums that vanish, prove the same."""
    document = table_certificate(name)
    plain = verdict(document)
    for row in document["table"]["characters"]:
        for C, text in enumerate(row[1:], 1):
            order, terms = character_table_kernel.number(text, "value")
            order, terms = 6 * order, {6 * e: c for e, c in terms.items()}
            p = 2 + C % 2
            pad = {(C + j * order // p) % order: 1 for j in range(p)}
            whole = {e: terms.get(e, 0) + pad.get(e, 0) for e in terms.keys() | pad.keys()}
            row[C] = "+".join(f"{c}*E({order})^{e}" for e, c in whole.items() if c).replace("+-", "-")
    assert verdict(document) == plain
    assert plain[0] == 0


def test_products_of_roots_are_counted(monkeypatch):
    """In the tables that the benchmark has larger; the count stops the work before it is done."""
    large = worst.document(worst.padded_cyclic(12, 36, 400, 3))
    assert verdict(large) == (1, "classes[1]: the masses give it less than 1")
    monkeypatch.setattr(character_table_kernel, "MAX_PRODUCTS", 2000)
    assert verdict(large)[0] == 2
    assert "need more than 2000 products" in verdict(large)[1]


def test_without_a_power_map_the_condition_says_so():
    document = table_certificate("Q8")
    document["table"]["powers"] = {}
    status, line = verdict(document)
    assert status == 0
    assert "(class sizes and indicators; no power map for 2)" in line
    document["table"]["indicators"] = [1] * 5  # those of D_4, which has the same characters
    assert verdict(document)[0] == 1  # another margin


def test_the_program_runs_alone(tmp_path):
    valid, false, broken = (tmp_path / name for name in ("valid", "false", "broken"))
    valid.write_bytes(document_bytes("S4"))
    forged = table_certificate("S4")
    forged["table"]["class_sizes"][1] = 4
    false.write_text(json.dumps(forged))
    broken.write_text("{")
    for name in (PROGRAM.name, "kernel.py"):  # nothing else of this project is there
        shutil.copy(PROGRAM.with_name(name), tmp_path)

    def run(*paths: Path) -> tuple[int, str]:
        command = [sys.executable, "-IS", str(tmp_path / PROGRAM.name), *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/", check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    assert run(valid)[0] == 0
    assert ': valid: IF the table called "S4" is' in run(valid)[1]
    assert run(valid, false)[0] == 1
    assert ": invalid: table.class_sizes: add up to 25" in run(false)[1]
    assert run(valid, broken, false)[0] == 2
    assert run()[0] == 2
    assert "usage: python -I character_table_kernel.py FILE" in run()[1]


def test_it_imports_the_standard_library_and_the_other_kernel_only():
    tree = ast.parse(PROGRAM.read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert imported - {"lemmata", "kernel"} <= sys.stdlib_module_names
    assert {type(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)} & {float, complex} == set()


MALFORMED = {
    "too many classes": (("table", "class_sizes"), [1] * 1001, "table.class_sizes must be a list of 2 to 1000 entries"),
    "too few rows": (("table", "characters"), [], "table.characters must be a list of 5 to 5 entries"),
    "too large an order": (("table", "order"), "9" * 121, "table.order must be an integer >= 2 of at most 120 digits"),
    "a large prime": (("table", "order"), 2 * 100003, "table.order must have no prime divisor above 100000"),
    "no prime": (("table", "powers"), {"4": [0] * 5}, "table.powers: the key 4 is no prime up to 100000"),
    "a prime twice": (("table", "powers"), {"02": [0] * 5}, "table.powers: the key 02 is no prime"),
    "no powers": (("table", "powers"), [], "table.powers must be an object with at most 40 keys"),
    "no class": (("table", "powers", "2", 1), 5, r"table.powers[2][1] must be an integer from 0 to 4"),
    "no degree": (("table", "characters", 1, 0), "-1", "table.characters[1][0] must be a positive integer, the degree"),
    "no real degree": (("table", "characters", 1, 0), "E(3)", "table.characters[1][0] must be a positive integer"),
    "a large value": (("table", "characters", 3, 1), 20, "table.characters must have no coefficient above four square"),
    "a list": (("table", "characters", 3, 1), [1], "table.characters[3][1] must be an integer, or a text"),
    "true": (("table", "characters", 3, 1), True, "table.characters[3][1] must be an integer, or a text"),
    "no indicator": (("table", "indicators", 1), 2, "table.indicators[1] must be an integer from -1 to 1"),
    "one factor": (("factors",), 1, "factors must be an integer from 2 to 64"),
    "many factors": (("factors",), 65, "factors must be an integer from 2 to 64"),
    "no name": (("table", "class_names", 1), "\n", "table.class_names[1] must be a string"),
    "no format": (("format",), "lemmata/group-margin", "format must be a string"),
    "another version": (("version",), 2, "version must be an integer from 1 to 1"),
    "a zero": (("scaled_weights", 1), {"1": "0"}, "scaled_weights[1] must have no zeros, and no key twice"),
    "a key twice": (
        ("scaled_weights", 1),
        {"2": "1", "02": "1"},
        "scaled_weights[1] must have no zeros, and no key tw",
    ),
    "no weight": (("scaled_weights", 1), [], "scaled_weights[1] must be an object with at most 1000 keys"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_what_is_malformed_is_named(case):
    path, value, line = MALFORMED[case]
    document = table_certificate("S4")
    _at(document, path[:-1])[path[-1]] = value
    status, found = verdict(document)
    assert (status, found[: len(line)]) == (2, line)


def test_fields_that_are_too_large_are_malformed():
    table = table_certificate("Z2")["table"]
    primes = [p for p in range(1900, 2000) if all(p % q for q in range(2, 45))][:10]
    assert len(primes) == 10
    table["characters"] = [[1, 1], [1, 1]]
    table["class_sizes"], count = [1] * 12, 12
    table |= {"order": 12, "class_names": [""] * count, "indicators": [0] * count, "powers": {}}
    table["characters"] = [[1, *[f"E({p})" for p in primes], 1] for _ in range(count)]
    with pytest.raises(kernel.MalformedError, match=f"have orders of a multiple above 1{'0' * 30}$"):
        character_table_kernel.Table(table)


def test_tables_beyond_the_work_are_malformed_before_it():
    table = table_certificate("Z2")["table"]
    table["class_sizes"] = [1] * 900
    table["order"] = "9" * 120
    with pytest.raises(
        kernel.MalformedError, match=r"a table of 900 classes and a group of order 9+ is beyond the limits"
    ):
        character_table_kernel.Table(table)
