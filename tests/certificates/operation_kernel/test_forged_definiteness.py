"""Forgeries that break the definiteness of a matrix alone: the identity still holds, one eigenvalue is negative."""

import copy
import random
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Any

import pytest

from lemmata.certificates import operation_kernel
from tests.certificates.operation_documents import margin_certificate, parity_document, verdict
from tests.certificates.operation_kernel.plain import margin_form, satisfies_identity, signature

Document = dict[str, Any]
Change = list[tuple[int, int, int]]
COUNT = 24
LINE = "proof.matrix: is not shown to be positive semidefinite"


def document_of(name: str) -> Document:
    return parity_document() if name == "parity" else margin_certificate(name)


def invisible(document: Document) -> list[Change]:
    """Changes of entries that change nothing of the polynomial, or of what is asked of the blocks of a plane.

    Two pairs of monomials with the same product: one entry more here, one less there, twice as much on the diagonal.
    Beside 3B in a plane: the entries of a skew matrix more.
    """
    table, proof = document["table"], document["proof"]
    N, C = len(table["values"]) + len(table["values"][0]), table["labels"]
    if proof["kind"] == "plane":
        pairs, source = list(combinations(range(N), 2)), random.Random(23)
        skew = [{pair: sign} for pair in pairs for sign in (1, -1)]
        skew += [{pair: source.randint(-9, 9) for pair in pairs} for _ in range(COUNT)]  # less symmetric ones
        return [[entry for (i, j), x in one.items() for entry in ((N + i, j, x), (N + j, i, -x))] for one in skew]
    r = int(proof["kind"] == "degree 6")
    monomials = list(combinations_with_replacement(range(N), 2 + r))
    monomials += [(*m, N + k) for m in combinations_with_replacement(range(N), r) for k in range(C)]
    places = defaultdict(list)
    for i, one in enumerate(monomials):
        for j, other in enumerate(monomials[: i + 1]):
            places[tuple(sorted(one + other))].append((i, j))
    return [
        [(i, j, sign * (1 + (i == j))), (k, l, -sign * (1 + (k == l)))]
        for equal in places.values()
        for (i, j), (k, l) in combinations(equal, 2)
        for sign in (1, -1)
    ]


def with_change(document: Document, change: Change, times: int) -> Document:
    forged = copy.deepcopy(document)
    for i, j, entry in change:
        forged["proof"]["matrix"][i][j] += times * entry
    return forged


def just_indefinite(document: Document, change: Change, excess: Fraction) -> Document | None:
    """The change, as often as makes the matrix indefinite and by that share more; None where it takes too much."""
    most = 10**19 // 4
    low, high = 0, max(1, document["proof"]["denominator"] // 2**30)
    while signature_is_definite(with_change(document, change, high)):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        if signature_is_definite(with_change(document, change, middle)):
            low = middle
        else:
            high = middle
    return with_change(document, change, high + int(excess * high))


def signature_is_definite(document: Document) -> bool:
    return signature(document["proof"]["matrix"])[2] == 0


@cache
def forgeries(name: str) -> list[Document]:
    """With one negative eigenvalue: the change as often as makes it negative, and up to twice as often."""
    document = document_of(name)
    listed = invisible(document)
    random.Random(17).shuffle(listed)
    found = []
    for i, change in enumerate(listed):
        forged = just_indefinite(document, change, (Fraction(0), Fraction(1, 100), Fraction(1))[i % 3])
        if forged is not None and signature(forged["proof"]["matrix"])[2] == 1:
            found.append(forged)
        if len(found) == COUNT:
            break
    return found


@pytest.mark.parametrize(("name", "least"), [("parity", 8), ("plane", 20), ("degree 4", 20), ("degree 6", 20)])
def test_one_negative_eigenvalue_is_refused_and_nothing_else_refuses_it(monkeypatch, name, least):
    document = document_of(name)
    assert verdict(document)[0] == 0
    assert signature_is_definite(document)
    found = forgeries(name)
    assert len(found) >= least
    form = margin_form(document["table"], document["multipliers"])
    for forged in found:
        assert satisfies_identity(document["table"], forged["proof"], form, points=1)
        assert verdict(forged) == (1, LINE)
    accepted = verdict(document)
    monkeypatch.setattr(operation_kernel, "has_dominated_factor", lambda _: True)
    assert [verdict(forged) for forged in found] == [accepted] * len(found)


@pytest.mark.parametrize("name", ["plane", "degree 4", "degree 6"])
def test_the_same_changes_are_accepted_where_the_matrix_stays_definite(name):
    """So that it is definiteness that is refused, and not the change."""
    document = document_of(name)
    form = margin_form(document["table"], document["multipliers"])
    definite = [with_change(document, change, 1) for change in invisible(document)[:40]]
    definite = [one for one in definite if signature_is_definite(one)]
    assert len(definite) >= 20
    for one in definite:
        assert satisfies_identity(document["table"], one["proof"], form, points=1)
        assert verdict(one)[0] == 0


@pytest.mark.parametrize("name", ["plane", "degree 4", "degree 6"])
def test_the_identity_of_the_tests_tells_other_entries_apart(name):
    document = document_of(name)
    form = margin_form(document["table"], document["multipliers"])
    source = random.Random(3)
    for _ in range(10):
        forged = copy.deepcopy(document)
        row = source.choice(forged["proof"]["matrix"])
        row[source.randrange(len(row))] += source.choice([-1, 1])
        assert not satisfies_identity(document["table"], forged["proof"], form, points=1)
        assert verdict(forged)[0] == 1
