"""The format of margin certificates: bytes, files, documentation, and agreement with the solver of the game."""

import json
import os
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from certificates import kernel
from certificates.characters.dixon import character_table
from certificates.game.closed_form import solve_table
from certificates.game.margin_game import MarginGame, solve, verify
from certificates.groups.contents import shares
from certificates.groups.document import certificate_document
from certificates.groups.format import dumps, load, write
from certificates.groups.scaled_pair import ScaledPair, scaled_pair
from numerics.exact.cyclotomic.numbers import cosine
from numerics.groups.names import parse_group
from tests.certificates.documents import document_bytes, margin_document

NAMES = ["Z2", "S3", "D4", "Q8", "Z5", "Z7", "Z12", "A4", "Dic3", "C7:C3", "SL(2,3)", "A5", "S5", "S6", "PSL(2,7)"]


# ---- what a document says about the game


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factors", [2, 3])
def test_shares_are_an_optimal_pair_of_the_game(name, factors):
    """Read back from the document, masses and weights satisfy the checks of another module in another field."""
    document = margin_document(name, factors)
    game = MarginGame(character_table(parse_group(name)), factors)
    value, masses, weights = shares(document)
    table = game.table
    conjugates = [
        next(S for S in range(len(table.values)) if all(table.values[S] == row[list(table.inverses)]))
        for row in table.values
    ]
    eps = [masses[R] if conjugates[R] == R else masses[R] + masses[conjugates[R]] for R in game.rows]
    t = [weights[C] if table.inverses[C] == C else weights[C] + weights[table.inverses[C]] for C in game.columns]
    solution = verify(game, value, np.array(eps, dtype=object), np.array(t, dtype=object))
    assert float(solution.gamma) == pytest.approx(float(document["margin"]["lower"]), rel=1e-15)


@pytest.mark.parametrize("name", ["A4", "Q8", "SL(2,3)", "S5"])
def test_closed_form_and_vertices_give_the_same_document(name):
    """Where the optimum is unique, two routes to it end in the same bytes."""
    group = parse_group(name)
    table = character_table(group)
    document = certificate_document(group, table, scaled_pair(solve_table(table)))
    assert dumps(document) == document_bytes(name)


def test_masses_of_the_closed_form_are_degrees_over_the_order():
    rows = margin_document("SL(2,3)")["characters"]["rows"]
    assert [Fraction(row["scaled_mass"]) for row in rows[1:]] == [Fraction(row["values"][0], 24) for row in rows[1:]]


def test_a_pair_without_square_roots_is_refused():
    table = character_table(parse_group("Z5"))
    solution = solve(MarginGame(table))
    with pytest.raises(ValueError, match="rational"):
        scaled_pair(replace(solution, eps=np.array([cosine(1, 5), 1 - cosine(1, 5)]) * cosine(1, 7)))


# ---- decimals


@pytest.mark.parametrize("digits", [1, 2, 15, 30, 500])
def test_decimals_have_the_requested_length(digits):
    document = margin_document("A5", 2, digits)
    lower, upper = document["margin"]["lower"], document["margin"]["upper"]
    assert len(lower[2:].lstrip("0")) == digits
    assert Fraction(upper) - Fraction(lower) == Fraction(1, 10 ** (len(lower) - 2))
    kernel.check(dumps(document))


def test_rational_margins_are_met_by_equal_decimals():
    """For Z_2 and k = 3 the margin is 3! (4 2)^(-2) 2 = 3/16: a terminating decimal needs no interval."""
    document = margin_document("Z2", 3)
    assert document["margin"]["exact"] == "1/(16/3)"
    assert Fraction(document["margin"]["lower"]) == Fraction(document["margin"]["upper"]) == Fraction(3, 16)
    kernel.check(dumps(document))


def test_a_margin_above_1_has_true_decimals_that_the_kernel_refuses():
    """For Z_2 the margin exceeds 1 from k = 14 on, but the format knows only decimals 0.ddd: the kernel refuses."""
    document = margin_document("Z2", 14, 12)
    gamma = solve(MarginGame(character_table(parse_group("Z2")), 14)).gamma
    lower, upper = Fraction(document["margin"]["lower"]), Fraction(document["margin"]["upper"])
    assert 1 < lower <= gamma <= upper
    assert upper - lower == Fraction(1, 10**11)
    with pytest.raises(kernel.MalformedError, match=r"margin\.lower"):
        kernel.check(dumps(document))


def test_wrong_arguments_are_refused():
    group = parse_group("S3")
    table = character_table(group)
    pair = scaled_pair(solve(MarginGame(table)))
    with pytest.raises(ValueError, match="digit"):
        certificate_document(group, table, pair, digits=0)
    with pytest.raises(ValueError, match="3 scaled masses"):
        certificate_document(group, table, ScaledPair(pair.masses[1:], pair.weights))
    with pytest.raises(ValueError, match="classes of S4"):
        certificate_document(parse_group("S4"), table, pair)
    with pytest.raises(ValueError, match="positive sums"):
        certificate_document(group, table, ScaledPair((Fraction(0),) * 3, pair.weights))


# ---- bytes and files


def test_bytes_are_deterministic_canonical_and_free_of_floats():
    first = document_bytes("SL(2,3)")
    document = margin_document("SL(2,3)")
    shuffled = json.loads(json.dumps(document), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert dumps(shuffled) == dumps(document) == first
    document_bytes.cache_clear()
    assert document_bytes("SL(2,3)") == first
    assert first.endswith(b"}\n")
    assert first.count(b"\n") == 1
    assert first.isascii()

    def refuse(text):
        raise AssertionError(text)

    json.loads(first, parse_float=refuse, parse_constant=refuse)


def test_floats_cannot_be_written():
    document = margin_document("S3")
    document["factors"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        dumps(document)


def test_a_written_file_is_loaded_again(tmp_path):
    path = tmp_path / "s3.json"
    document = margin_document("S3")
    write(document, path)
    assert path.read_bytes() == document_bytes("S3")
    assert load(path) == document
    assert [entry.name for entry in tmp_path.iterdir()] == ["s3.json"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, failing):
    path = tmp_path / "certificate.json"
    write(margin_document("S3"), path)

    def fail(*_):
        raise OSError("no space left on the device")

    monkeypatch.setattr(*((os, "fsync") if failing == "fsync" else (Path, "replace")), fail)
    with pytest.raises(OSError, match="no space"):
        write(margin_document("D4"), path)
    assert path.read_bytes() == document_bytes("S3")
    assert [entry.name for entry in tmp_path.iterdir()] == ["certificate.json"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"format":"lemmata/group-margin","version":2}', b"[1.5]", b'{"a":1,"a":2}', b"[NaN]", b"\xff"],
)
def test_what_is_no_document_is_not_loaded(tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"no certificate of the format lemmata/group-margin version 1"):
        load(path)


# ---- the documentation

DOCUMENTATION = (Path(kernel.__file__).parent / "FORMAT.md").read_text()


def test_the_example_of_the_documentation_is_valid():
    (example,) = re.findall(r"```json\n(.*?)```", DOCUMENTATION, re.DOTALL)
    assert kernel.check(example.encode()).endswith("(exact)")
    assert dumps(json.loads(example)) == dumps(margin_document("S3", 2, 12))


def test_the_documentation_lists_every_field():
    def keys(value, path=""):
        if isinstance(value, dict):
            if path.endswith("scaled_weight"):
                return {path}
            return {found for key, part in value.items() for found in keys(part, f"{path}.{key}" if path else key)}
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return keys(value[0], f"{path}[{'j' if path == 'classes' else 'i'}]")
        return {path}

    documented = {
        f"{parent}{cell}" if cell.startswith(".") and "[" in parent else cell
        for line in re.findall(r"^\| (`.*?) \|", DOCUMENTATION, re.MULTILINE)
        for parent in ["classes[j]"]
        for cell in re.findall(r"`([^`]+)`", line)
    }
    assert keys(margin_document("S3")) <= documented
    assert documented - keys(margin_document("S3")) <= {"classes", "characters.rows"}
