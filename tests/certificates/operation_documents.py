"""Certificates of operations, one of them written by hand, and the verdict of their kernel."""

import copy
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from lemmata.certificates import kernel, operation_kernel
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.operations.certify import OperationCertificate, certify_operation
from lemmata.certificates.operations.document import threshold_below, unseen_both, unseen_right, unseen_wrong
from lemmata.certificates.operations.forms import residual
from lemmata.certificates.operations.programs import relaxed_family
from lemmata.certificates.operations.rounding import UnseenPart, rounded_part
from lemmata.numerics.operations.operation import Cell, Operation


def parity_document() -> dict[str, Any]:
    """Addition mod 2: sqrt(6)/9 exactly, from two neurons, and from A = 2 M_0 = ((u_0 - u_1)(v_0 - v_1)) <= |x|^2."""
    block = [[2, 0, 0, 0], [0, 2, 0, 0], [1, -1, 2, 0], [-1, 1, 0, 2]]  # twice the matrix of |x|^2 + x'A x
    other = [[6, 0, 0, 0], [0, 6, 0, 0], [-3, 3, 6, 0], [3, -3, 0, 6]]  # of 3 (|x|^2 - x'A x)
    matrix = [row[: i + 1] for i, row in enumerate(block)] + [[0] * 4 + row[: i + 1] for i, row in enumerate(other)]
    return {
        "format": "lemmata/operation-margin",
        "version": 1,
        "table": {"name": "addition mod 2", "labels": 2, "values": [[0, 1], [1, 0]]},
        "network": {"neurons": [[1, -1, 1, -1, 1, -1], [1, -1, -1, 1, -1, 1]], "masses": [1, 1]},
        "multipliers": [1, 1, 1, 1],
        "proof": {"kind": "plane", "t": "1", "t_prime": "1/2", "denominator": 2, "matrix": matrix},
        "margin": {"exact": "1/9*sqrt(6)", "lower": "0.272165526975", "upper": "0.272165526976"},
        "gap": "0",
        "grade": "exact",
    }


def verdict(document: dict[str, Any]) -> tuple[int, str]:
    """The exit status of the kernel for a document, and its line."""
    try:
        return 0, operation_kernel.check(json.dumps(document).encode())
    except kernel.ViolatedError as error:
        return 1, str(error)
    except kernel.MalformedError as error:
        return 2, str(error)


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """What stands at a path of keys and indices."""
    for key in path:
        value = value[key]
    return value


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all numbers and texts."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))
    else:
        yield path


def edit_any_leaf(value: Any, source: random.Random, parts: list[Any], words: list[Any]) -> None:
    """An integer, a digit, a null or a word anywhere but in names, each field as likely as another.

    Args:
        value: the document.
        source: of the choice.
        parts: what takes the place of a null.
        words: what takes the place of a word.
    """
    paths = [path for path in leaves(value) if path[-1] != "name"]
    field = source.choice(sorted({tuple(key for key in path if isinstance(key, str)) for path in paths}))
    path = source.choice([p for p in paths if tuple(key for key in p if isinstance(key, str)) == field])
    parent, key = at(value, path[:-1]), path[-1]
    old = parent[key]
    if isinstance(old, int):
        parent[key] = source.choice([old + 1, old - 1, -old, 2 * old, 0, old + source.randint(-9, 9)])
    elif old is None:
        parent[key] = copy.deepcopy(source.choice(parts))
    elif places := [i for i, character in enumerate(old) if character.isdigit()]:
        i = source.choice(places)
        parent[key] = old[:i] + source.choice("0123456789") + old[i + 1 :]
    else:
        parent[key] = source.choice(words)


def edit_entries(entries: list[Any], source: random.Random) -> None:
    """An entry of a list dropped, doubled, or exchanged with another."""
    i, j, kind = source.randrange(len(entries)), source.randrange(len(entries)), source.randrange(3)
    if kind == 0:
        del entries[i]
    elif kind == 1:
        entries.insert(i, copy.deepcopy(entries[j]))
    else:
        entries[i], entries[j] = entries[j], entries[i]


CYCLIC_3 = Operation.of([[0, 1, 2], [1, 2, 0], [2, 0, 1]], name="addition mod 3")
COUNTEREXAMPLE = Operation.of([[0, 0, 1], [0, 2, 3]], name="smallest gap")


@cache
def certificate(name: str) -> OperationCertificate:
    """The certificates that the tests of the kernel and of the documents share, each made once."""
    tables: dict[str, tuple[Operation, Any]] = {
        "plane": (CYCLIC_3, "plane"),
        "partial": (CYCLIC_3.without([(2, 2)]), "plane"),
        "three labels": (Operation.of([[0, 1], [1, -1]], labels=3, name="addition mod 2"), "plane"),
        "degree 4": (COUNTEREXAMPLE, 4),
        "degree 6": (Operation.of([[0, 1], [2, 3]], name="four labels"), 6),
    }
    table, kind = tables[name]
    return certify_operation(table, kind=kind, digits=30)


@cache
def _apart_bytes(rows: tuple[tuple[int, ...], ...]) -> bytes:
    return dumps(certify_operation(Operation.of(rows, name="apart")).document)


def apart_document(name: str = "rows") -> dict[str, Any]:
    """Documents of version 2: 2 sqrt(3)/9 in the field of sqrt(2), and 2 sqrt(5)/15 in that of sqrt(30)."""
    return json.loads(_apart_bytes({"rows": ((0, 0), (1, 1)), "one apart": ((0, 0, 1), (0, 0, 1))}[name]))


def unseen_part(
    table: Operation, cell: Cell, label: int, weights: list[int], sign: int, threshold: float, kind: Any
) -> UnseenPart:
    """A part for an unseen cell, by the program over all multipliers of the triples without symmetry."""
    T = len(table.triples)
    G = np.zeros((table.rows, table.columns, table.label_count))
    G[*cell, label] = 1
    G[*cell] -= np.array(weights) / sum(weights)
    tensors = [residual(table, row) for row in np.eye(T)]
    found = relaxed_family(tensors, fixed=sign * G, weights=np.full(T, -threshold), kind=kind)
    return rounded_part(
        table, cell, label, weights, sign, found.multipliers, found.kind, found.matrix, found.t, found.t_prime
    )


@cache
def unseen_bytes(verdict: str) -> bytes:
    """Documents of an unseen cell: addition mod 2 among three labels is right, mod 3 wrong; a half has both."""
    epsilon = Fraction(1, 1000)
    if verdict == "right":
        made = certificate("three labels")
        table, network = made.table, made.network
        g = float(Fraction(threshold_below(table, network, epsilon, digits=30)))
        parts = [unseen_part(table, (1, 1), 0, weights, -1, g, "plane") for weights in ([0, 1, 0], [0, 0, 1])]
        document = unseen_right(table, (1, 1), 0, epsilon, network, parts, digits=30)
    elif verdict == "wrong":
        network = certificate("partial").network
        table = certificate("partial").table
        g = float(Fraction(threshold_below(table, network, epsilon, digits=30)))
        part = unseen_part(table, (2, 2), 1, [1, 0, 1], 1, g, "plane")
        document = unseen_wrong(table, (2, 2), 1, epsilon, network, [1, 0, 1], part, digits=30)
    else:
        made = certificate("partial")
        whole = certificate("plane").network
        document = unseen_both(made.table, (2, 2), 1, Fraction(1, 2), whole, made.network, bound=made.bound, digits=30)
    return dumps(document)


def unseen_document(verdict: str) -> dict[str, Any]:
    """`unseen_bytes`, a new object in each call."""
    return json.loads(unseen_bytes(verdict))


def margin_certificate(name: str) -> dict[str, Any]:
    """The document of `certificate`, a new object in each call."""
    return copy.deepcopy(certificate(name).document)
