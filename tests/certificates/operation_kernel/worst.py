"""Legal files that take the kernel of operations long: limits, and pairs of limits that multiply, driven to the end.

Matrices come from random ones, which are moved onto the identity and made positive definite by `rounded_proof`: the
multipliers hardly matter to them. Networks answer 1 in one cell and 0 in the others, by the two neurons e_a +- e_b, and
take many lengths.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from lemmata.certificates.operations.document import Document, lower_margin, margin_document, unseen_both
from lemmata.certificates.operations.forms import Kind, residual
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.rounding import RoundedBound, proof_order, rounded_proof
from lemmata.numerics.operations.operation import Operation
from tests.certificates.operation_documents import apart_document

SEED = 1


@dataclass(frozen=True)
class Worst:
    """A family of files: the limits that it is at, the status, a small and the large file."""

    limits: str
    status: int
    small: Callable[[], Document]
    large: Callable[[], Document]


def one_cell(rows: int, columns: int, labels: int = 2) -> Operation:
    """A table in which only the first cell is given."""
    values = [[-1] * columns for _ in range(rows)]
    values[0][0] = 0
    return Operation.of(values, labels=labels, name="one cell")


def indicators(table: Operation, count: int, longest: int = 10**12) -> OperationNetwork:
    """About ``count`` neurons of random lengths whose outputs tell the labels of all given cells apart."""
    source = random.Random(SEED)
    A, B, C = table.rows, table.columns, table.label_count
    neurons, masses = [], []
    for _ in range(max(1, count // (2 * len(table.cells)))):
        for a, b in table.cells:
            factor, mass = source.randint(longest // 2, longest), source.randint(10**17, 10**18)
            for sign in (1, -1):
                u, v, w = [0] * A, [0] * B, [0] * C
                u[a], v[b], w[table.values[a][b]] = factor, sign * factor, sign * factor
                neurons.append(u + v + w)
                masses.append(Fraction(mass))
    rows = np.array(neurons, object)
    return OperationNetwork(rows[:, :A], rows[:, A : A + B], rows[:, A + B :], np.array(masses, object))


def dense(table: Operation, kind: Kind, bits: int = 50) -> Document:
    """A margin with a dense matrix of entries of about so many bits, far from the best one."""
    n = proof_order(table.size, table.label_count, kind)
    factor = np.random.default_rng(SEED).normal(size=(n, n))
    multipliers = (2**bits,) * len(table.triples)
    unit = sum(multipliers)
    tensor = residual(table, np.array(multipliers, np.int64))
    proof = rounded_proof(tensor, unit, kind, factor @ factor.T / n**0.5, 1.0, 1.0)
    return margin_document(table, indicators(table, 2), RoundedBound(multipliers, proof))


def nearly(table: Operation, bits: int = 50) -> Document:
    """The same with a tiny t': not positive semidefinite, which shows at the last pivots."""
    document = dense(table, 4, bits)
    proof = document["proof"]
    proof["t_prime"] = str(Fraction(1, proof["denominator"]))
    for i in range(-table.label_count, 0):
        proof["matrix"][i][-1] = 1
    return document


def many_neurons(side: int, count: int) -> Document:
    """A margin with many neurons on a table of eight labels."""
    values = [[(a + b) % 8 for b in range(side)] for a in range(side)]
    table = Operation.of(values, labels=8, name="many neurons")
    document, network = dense(table, 4, 40), indicators(table, count)
    least = lower_margin(table, network)
    document["network"] = {
        "neurons": np.concatenate([network.u, network.v, network.w], axis=1).tolist(),
        "masses": [int(mass) for mass in network.masses],
    }
    places = len(document["margin"]["lower"].partition(".")[2])
    lower = Fraction(int(least * 10**places), 10**places)
    upper = Fraction(document["margin"]["upper"])
    document["margin"]["lower"] = f"0.{int(least * 10**places):0{places}d}"
    document["gap"] = str(Decimal(-int(-(upper - lower) / upper * 10**6 // 1)).scaleb(-6))
    return document


def two_networks(side: int, count: int) -> Document:
    """A cell of two verdicts, shown by two networks of so many neurons each."""
    values = [[(a + b) % 8 for b in range(side)] for a in range(side)]
    whole = Operation.of(values, labels=8, name="two networks")
    values[-1][-1] = (values[-1][-1] + 1) % 8
    other = Operation.of(values, labels=8, name="two networks")
    table = whole.without([(side - 1, side - 1)])
    multipliers = (2**40,) * len(table.triples)
    unit = sum(multipliers)
    n = proof_order(table.size, table.label_count, 4)
    factor = np.random.default_rng(SEED).normal(size=(n, n))
    proof = rounded_proof(
        residual(table, np.array(multipliers, np.int64)), unit, 4, factor @ factor.T / n**0.5, 1.0, 1.0
    )
    right, wrong = indicators(whole, count), indicators(other, count)
    return unseen_both(
        table,
        (side - 1, side - 1),
        whole.values[-1][-1],
        1 - Fraction(1, 10**6),
        right,
        wrong,
        RoundedBound(multipliers, proof),
    )


def repeated(count: int) -> Document:
    """An exact margin in a quadratic field whose neurons come so often."""
    document = apart_document()
    for part in ("neurons", "masses"):
        document["network"][part] = document["network"][part] * count
    return document


WORST = {
    "a large plane": Worst(
        "sides, order", 0, lambda: dense(one_cell(5, 5), "plane"), lambda: dense(one_cell(200, 200), "plane")
    ),
    "a large matrix of degree 4": Worst(
        "order", 0, lambda: dense(one_cell(3, 3), 4), lambda: dense(one_cell(22, 21), 4)
    ),
    "a large matrix of degree 6": Worst("order", 0, lambda: dense(one_cell(2, 2), 6), lambda: dense(one_cell(8, 8), 6)),
    "the last pivot": Worst("order", 1, lambda: nearly(one_cell(3, 3)), lambda: nearly(one_cell(22, 21))),
    "exact elimination": Worst(
        "elimination", 1, lambda: nearly(one_cell(2, 2), 24), lambda: nearly(one_cell(5, 5), 24)
    ),
    "many neurons": Worst("neurons, bytes", 0, lambda: many_neurons(2, 100), lambda: many_neurons(4, 56_000)),
    "neurons of a field": Worst("lists", 0, lambda: repeated(50), lambda: repeated(95_000)),
    "two networks": Worst("neurons, bytes", 0, lambda: two_networks(2, 100), lambda: two_networks(4, 70_000)),
}
"""Families of files."""
