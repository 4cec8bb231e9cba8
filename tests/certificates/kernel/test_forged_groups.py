"""Forgeries with the parts of another group: D_4 and Q_8 have the same characters, other indicators, another margin."""

import copy
from itertools import combinations, permutations, product

import pytest

from tests.certificates.documents import margin_document, reordered, verdict


def with_indicators(document, indicators):
    edited = copy.deepcopy(document)
    for row, indicator in zip(edited["characters"]["rows"], indicators, strict=True):
        row["indicator"] = indicator
    return edited


@pytest.mark.parametrize("name", ["D4", "Q8"])
def test_wrong_indicators_are_refused(name):
    document = margin_document(name)
    truth = tuple(row["indicator"] for row in document["characters"]["rows"])
    assert truth.count(-1) == (name == "Q8")
    for indicators in product((-1, 0, 1), repeat=5):
        assert verdict(with_indicators(document, indicators)) == (indicators != truth)


def aligned(document, other):
    """The other document with its rows and columns in an order that gives it the characters of this one."""
    table = [row["values"] for row in document["characters"]["rows"]]
    for order in permutations(range(1, 5)):
        columns = (0, *order)
        rows = [[row["values"][j] for j in columns] for row in other["characters"]["rows"]]
        if sorted(rows) == sorted(table):
            return reordered(other, [rows.index(values) for values in table], columns)
    raise AssertionError("the two groups have different characters")


def parts(document):
    """The parts of a document that distinguish D_4 from Q_8, as functions that write them into another one."""

    def group(target):
        target["group"] = document["group"]
        for entry, own in zip(target["classes"], document["classes"], strict=True):
            entry.update({key: own[key] for key in ("representative", "size", "inverse", "square")})

    def column(key):
        return lambda target: [
            entry.update({key: own[key]}) for entry, own in zip(target["classes"], document["classes"], strict=True)
        ]

    def row(key):
        def write(target):
            for entry, own in zip(target["characters"]["rows"], document["characters"]["rows"], strict=True):
                entry[key] = own[key]

        return write

    def section(key):
        return lambda target: target.update({key: document[key]})

    return [group, column("scaled_weight"), row("indicator"), row("scaled_mass"), section("value"), section("margin")]


def test_every_mixture_of_d4_and_q8_is_refused():
    d4 = margin_document("D4")
    q8 = aligned(d4, margin_document("Q8"))
    assert verdict(q8) == 0
    count = 0
    for mine, other in ((d4, q8), (q8, d4)):
        writers = parts(copy.deepcopy(other))
        for size in range(len(writers) + 1):
            for chosen in combinations(range(len(writers)), size):
                mixture = copy.deepcopy(mine)
                for i in chosen:
                    writers[i](mixture)
                genuine = mixture in (d4, q8)
                assert verdict(mixture) == (0 if genuine else 1), (mine["group"]["name"], chosen)
                count += not genuine
    assert count >= 60


def test_claims_about_another_group_are_refused():
    """All of a certificate but the generators, which generate another group of the same order and degree."""
    document = margin_document("S3")
    document["group"].update(generators=[[1, 2, 0]])
    assert verdict(document) == 1
    for name in ("D4", "Q8", "A4"):
        for other in ("D4", "Q8", "A4"):
            mixture = margin_document(name)
            mixture["group"] = margin_document(other)["group"]
            assert (verdict(mixture) == 0) == (name == other)
