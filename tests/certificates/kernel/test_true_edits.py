"""Edits that leave the claim of a certificate true: the kernel accepts them."""

import json
import random

import pytest

from lemmata.certificates import kernel
from tests.certificates.documents import EDITED, SEED, margin_document, reordered, verdict
from tests.certificates.permutations import closure, product_of


def renamed(document):
    document["group"]["name"] = "another name"


def reversed_rows(document):
    document["characters"]["rows"].reverse()


def other_generators(document):
    group = document["group"]
    elements = sorted(closure(group["generators"]))
    group["generators"] = [list(p) for p in elements[-40:]]  # for more than 40 elements a majority: they generate


def conjugate_representatives(document):
    elements = sorted(closure(document["group"]["generators"]))
    for entry in document["classes"]:
        p = tuple(entry["representative"])
        entry["representative"] = list(
            max(q for q in elements for g in elements if product_of(q, g) == product_of(g, p))
        )


def other_root_of_unity(document):
    """Apply the Galois automorphism zeta -> zeta^-1 to all values."""
    change_exponents(document, lambda e, order: -e % order, 1)


def larger_root_order(document):
    change_exponents(document, lambda e, order: 6 * e, 6)


def change_exponents(document, change, factor):
    characters = document["characters"]
    order = characters["root_order"]
    for row in characters["rows"]:
        row["values"] = [
            v if isinstance(v, int) else sorted(([c, change(e, order)] for c, e in v), key=lambda pair: pair[1])
            for v in row["values"]
        ]
    characters["root_order"] = factor * order


TRUE_EDITS = [
    renamed,
    reversed_rows,
    other_generators,
    conjugate_representatives,
    other_root_of_unity,
    larger_root_order,
]


@pytest.mark.parametrize("name", [*EDITED, "Dic3", "C7:C3", "SL(2,3)", "A5"])
@pytest.mark.parametrize("edit", TRUE_EDITS, ids=lambda edit: edit.__name__)
def test_edits_that_leave_the_claim_true_are_accepted(edit, name):
    document = margin_document(name)
    edit(document)
    assert verdict(document) == 0


@pytest.mark.parametrize("name", [*EDITED, "Dic3", "SL(2,3)"])
def test_another_order_of_classes_and_characters_is_accepted(name):
    source = random.Random(SEED)
    document = margin_document(name)
    count = len(document["classes"])
    rows, columns = list(range(count)), [0, *source.sample(range(1, count), count - 1)]
    source.shuffle(rows)
    assert verdict(reordered(document, rows, columns)) == 0


@pytest.mark.parametrize("digits", [1, 5, 50])
def test_another_number_of_digits_is_accepted(digits):
    assert verdict(margin_document("A4", 2, digits)) == 0


def test_white_space_and_order_of_keys_do_not_matter():
    document = margin_document("A4")
    shuffled = json.loads(json.dumps(document), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    kernel.check(json.dumps(shuffled, indent=4).encode())
