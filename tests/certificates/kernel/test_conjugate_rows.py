"""Rows that the kernel need not check, because they are Galois conjugates of rows that it checks.

Edits of one token that change no verdict: `reached = [] if R in known` (what follows a row that is known is known
already), and in `check_game` `first_row[rows[R]] < R` (rows with equal means have equal slacks).
"""

import cmath
import json
from math import gcd

import pytest

from lemmata.certificates import kernel
from tests.certificates.documents import margin_document

NAMES = ["S4", "Z7", "Z12", "A5", "SL(2,3)", "C7:C3", "Dic5", "Z3xS3", "Q8"]


def document_of(value):
    return kernel.Document(kernel.parse(json.dumps(value).encode()))


def packing_of(document):
    longest = max(sum(map(abs, terms.values())) for row in document.characters for terms in row)
    return kernel.Packing(document.root_order, 2 * document.order * longest**2)


def images_in_floating_point(document, a):
    """For each row the row that is near its image under zeta -> zeta^a; None if there is none."""
    order = document.root_order

    def numbers(power):
        zeta = [cmath.exp(2j * cmath.pi * power * e / order) for e in range(order)]
        return [[sum(c * zeta[e] for e, c in terms.items()) for terms in row] for row in document.characters]

    rows = numbers(1)
    return [
        next((T for T, row in enumerate(rows) if all(abs(x - y) < 1e-6 for x, y in zip(image, row, strict=True))), None)
        for image in numbers(a)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_known_rows_are_all_of_an_orbit_but_its_first(name):
    """The orbits under the smallest units, in floating point: different values differ by far more than 1e-6."""
    document = document_of(margin_document(name))
    order = document.root_order
    units = [a for a in range(2, order) if gcd(a, order) == 1][: kernel.MAX_UNITS]
    first = list(range(len(document.characters)))
    images = [images_in_floating_point(document, a) for a in units]
    for _ in first:
        for image in images:
            for S, T in enumerate(image):
                first[S] = first[T] = min(first[S], first[T])
    expected = {R for R, smallest in enumerate(first) if smallest < R}
    assert kernel.conjugate_rows(document, packing_of(document)) == expected
    assert (len(expected) > 0) == (name not in ("S4", "Q8"))


def test_rows_that_are_no_conjugates_are_checked():
    """Rows 1 to 6 of Z_7 are one orbit; a row with other values belongs to no orbit, and neither does its image."""
    value = margin_document("Z7")
    document = document_of(value)
    assert kernel.conjugate_rows(document, packing_of(document)) == {2, 3, 4, 5, 6}
    values = value["characters"]["rows"][3]["values"]
    values[1], values[2] = values[2], values[1]
    document = document_of(value)
    assert 3 not in kernel.conjugate_rows(document, packing_of(document))
    with pytest.raises(kernel.ViolatedError, match=r"characters\.rows\[3\]"):
        kernel.check(json.dumps(value).encode())


@pytest.mark.parametrize("position", range(7))
def test_a_wrong_first_row_is_not_saved_by_its_conjugates(position):
    """All six nontrivial rows of Z_7 with two columns exchanged are conjugates of one another, and all are wrong."""
    value = margin_document("Z7")
    rows = value["characters"]["rows"]
    rows.insert(position, rows.pop(0))
    kernel.check(json.dumps(value).encode())
    for row in rows:
        row["values"][1], row["values"][2] = row["values"][2], row["values"][1]
    document = document_of(value)
    assert len(kernel.conjugate_rows(document, packing_of(document))) == 5
    with pytest.raises(kernel.ViolatedError, match=r"characters\.rows\[\d\]: is not multiplicative"):
        kernel.check(json.dumps(value).encode())


def test_without_memory_for_conjugates_every_row_is_checked(monkeypatch):
    value = margin_document("Z7")
    document = document_of(value)
    packing = packing_of(document)
    distinct = {tuple(terms.items()) for row in document.characters for terms in row}
    monkeypatch.setattr(kernel, "MAX_CONJUGATES", len(distinct) * packing.bits)
    assert kernel.conjugate_rows(document, packing)
    monkeypatch.setattr(kernel, "MAX_CONJUGATES", len(distinct) * packing.bits - 1)
    assert kernel.conjugate_rows(document, packing) == set()
    assert kernel.check(json.dumps(value).encode()).startswith("group of order 7")


@pytest.mark.parametrize("fault", ["exponents", "itself"])
def test_planted_faults_in_the_search_accept_what_is_false_or_are_seen(fault, monkeypatch):
    """If a row that is no conjugate were called one, a false table would pass: the search matters."""
    value = margin_document("Z7")
    for row in value["characters"]["rows"]:
        row["values"][1], row["values"][2] = row["values"][2], row["values"][1]
    right = kernel.conjugate_rows
    wrong = {
        "exponents": lambda document, packing: set(range(1, 7)),
        "itself": lambda document, packing: right(document, packing) | {1},
    }
    monkeypatch.setattr(kernel, "conjugate_rows", wrong[fault])
    kernel.check_characters(document := document_of(value), *kernel.check_classes(document))
    monkeypatch.undo()
    with pytest.raises(kernel.ViolatedError, match="is not multiplicative"):
        kernel.check_characters(document, *kernel.check_classes(document))
