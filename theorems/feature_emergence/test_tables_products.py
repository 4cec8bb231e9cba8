"""Groups with one product that is not given: certificates of what all networks of nearly maximum margin say (ext-T6).

One cell decides all: translations a -> ga, b -> bh are symmetries of the table that move any cell to any other. The
certificates are documents that `lemmata.certificates.operation_kernel` checks; what they mean is evaluated again here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lemmata import certificates
from lemmata.certificates import operation_kernel
from lemmata.numerics.operations.operation import MISSING, Operation
from lemmata.theorems.evidence import check
from lemmata.theorems.feature_emergence.exact_weights import listed_network

T6 = "feature-emergence:ext-T6"
PRODUCTS: dict[str, tuple[int, Callable[[int, int], int], str]] = {
    "Z_2": (2, lambda a, b: (a + b) % 2, "right"),
    "Z_3": (3, lambda a, b: (a + b) % 3, "wrong"),
    "Z_4": (4, lambda a, b: (a + b) % 4, "wrong"),
    "Z_2^2": (4, lambda a, b: a ^ b, "right"),
    "Z_7": (7, lambda a, b: (a + b) % 7, "right"),
}
EPSILON = Fraction(1, 10**6)


@cache
def documents() -> dict[str, dict[str, Any]]:
    path = Path(certificates.__file__).parent / "operations" / "results" / "unseen-products.json"
    return {document["table"]["name"]: document for document in json.loads(path.read_text(encoding="utf-8"))}


@check(T6, grade="exact", target="printed")
@pytest.mark.parametrize("name", PRODUCTS)
def test_what_all_networks_say_of_a_missing_product(name: str) -> None:
    """The document is of this table without one cell, the kernel accepts it, and its bounds are positive."""
    order, product, verdict = PRODUCTS[name]
    document = documents()[name]
    values = document["table"]["values"]
    a, b = document["cell"]
    wanted = [[product(i, j) if (i, j) != (a, b) else MISSING for j in range(order)] for i in range(order)]
    assert (values, document["table"]["labels"]) == (wanted, order)
    assert (document["label"], document["verdict"]) == (product(a, b), verdict)
    assert Fraction(document["epsilon"]) == EPSILON
    said = operation_kernel.check(json.dumps(document).encode())
    assert f"every network with at least that margin is {verdict}" in said

    threshold = Fraction(document["threshold"])
    table = Operation.of(values, labels=order)
    network = listed_network(document["networks"][0], table)
    margin = network.lower_margin(table)
    assert threshold <= (1 - EPSILON) * margin <= threshold * (1 + Fraction(1, 10**9))
    assert len(document["parts"]) == (order - 1 if verdict == "right" else 1)
    for part in document["parts"]:
        gain = threshold * Fraction(sum(part["multipliers"]), part["denominator"])
        square = Fraction(4, 27) * Fraction(part["proof"]["t"]) * Fraction(part["proof"]["t_prime"])
        assert gain > 0
        assert gain**2 > square
        low, high = (Fraction(part["bound"]) * (1 + sign * Fraction(1, 10**9)) for sign in (-1, 1))
        assert gain > high
        assert (gain - high) ** 2 < square < (gain - low) ** 2  # the bound is gain - sqrt(square)
        assert low > threshold / 10  # far from a tie
