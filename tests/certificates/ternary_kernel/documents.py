"""Certificates of operations of three arguments, and the verdict of their kernel."""

import json
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from lemmata.certificates import kernel, ternary_kernel
from lemmata.certificates.operations.ternary import certify_ternary
from lemmata.certificates.operations.ternary_survey import cyclic_document
from lemmata.numerics.operations.ternary import TernaryOperation

Document = dict[str, Any]

TABLES = {
    "partial": (np.array([[[0, 1], [1, 0]], [[1, 0], [0, -1]]]), 4),
    "three sides": (np.array([[[0, 1, 2], [1, 0, 2]]]), 4),
    "degree 6": (np.array([[[0, 0], [0, 1]], [[2, 1], [3, 2]]]), 6),
}
NAMES = ("parity", *TABLES)


@cache
def _text(name: str) -> str:
    if name == "parity":
        return json.dumps(cyclic_document(2))
    values, degree = TABLES[name]
    return json.dumps(certify_ternary(TernaryOperation.of(values, name=name), degree=degree).document)


def document(name: str) -> Document:
    """A copy of a document, each made once."""
    return json.loads(_text(name))


def unused_label() -> Document:
    """Parity with a third label that no cell has: its multipliers are zero, and the network tells it worse apart."""
    value = document("parity")
    value["table"]["labels"] = 3
    value["network"]["neurons"] = [[*neuron, 0] for neuron in value["network"]["neurons"]]
    value["multipliers"] = [1, 0] * 8  # the other label, then the one that no cell has
    values = value["table"]["values"]
    labels = [label for plane in values for row in plane for label in row]
    assert value["multipliers"] == [int(k < 2) for y in labels for k in range(3) if k != y]
    n, square, proof = 4, 10, value["proof"]
    old, width = proof["matrix"], 3
    place = [*range(square), *(square + width * i + k for i in range(n) for k in range(2))]
    matrix = [[0] * (i + 1) for i in range(square + n * width)]
    for i, row in enumerate(old):
        for j, entry in enumerate(row):
            matrix[place[i]][place[j]] = entry
    lengths = [2, 2, 2, 6]
    for i, length in enumerate(lengths):
        matrix[square + width * i + 2][-1] = int(Fraction(proof["t_prime"]) * proof["denominator"] * length)
    proof["matrix"] = matrix
    value["margin"] = {"exact": None, "lower": "0.09375", "upper": "0.18750"}
    return value | {"gap": "0.5", "grade": "enclosed"}


def verdict(value: Any) -> tuple[int, str]:
    """The exit status of the kernel for a document, and its line."""
    try:
        return 0, ternary_kernel.check(json.dumps(value).encode())
    except kernel.ViolatedError as error:
        return 1, str(error)
    except kernel.MalformedError as error:
        return 2, str(error)
