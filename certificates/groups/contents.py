"""What a document holds, as objects of the library: its characters, its optimal pair, its solved game.

The inverse of `lemmata.certificates.groups.document`. A document scales its vectors by the value and averages them over
the Galois group (`lemmata.certificates.groups.scaled_pair`); `shares` undoes the scaling, `solution_of` rebuilds the
whole game and verifies the pair again. Otherwise nothing is checked here that the kernel checks.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from lemmata.certificates import kernel
from lemmata.certificates.characters.dixon import atlas_names
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.margin_game import GameSolution, MarginGame, verify
from lemmata.certificates.groups.format import Document
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, rational
from lemmata.numerics.exact.root_sums import root_sum_number

__all__ = ["document_names", "document_terms", "shares", "solution_of", "table_of", "trivial_row"]


def shares(document: Document) -> tuple[Cyclotomic, list[Cyclotomic], list[Cyclotomic]]:
    """The value v, the masses eps_R of the characters and the weights t_C of the classes, of a valid document.

    eps_R = y_R w_R / (sum of all) and t_C = u_C / (sum of all) are exact and add up to 1. A pair of conjugate
    characters has two equal entries, and so has a pair of inverse classes. For ``enclosed`` v is the lower bound.
    """
    rows, k = document["characters"]["rows"], document["factors"]
    masses = [
        Fraction(row["scaled_mass"]) * root_sum_number(kernel.payoff_scale(row["values"][0], row["indicator"], k))
        for row in rows
    ]
    weights = [
        root_sum_number({int(m): Fraction(q) for m, q in entry["scaled_weight"].items()})
        for entry in document["classes"]
    ]
    inverse_value, total = 1 / sum(masses, start=rational(0)), 1 / sum(weights, start=rational(0))
    return inverse_value, [mass * inverse_value for mass in masses], [weight * total for weight in weights]


def table_of(document: Document) -> CharacterTable:
    """The character table in a document, the trivial character first.

    Raises:
        ValueError: when it is not a character table (the kernel rejects such a document).
    """
    order, terms = document_terms(document)
    sequence = _trivial_first(document)
    values = np.empty((len(terms), len(terms)), dtype=object)
    for position, R in enumerate(sequence):
        for C, value in enumerate(terms[R]):
            values[position, C] = Cyclotomic(order, [value.get(e, 0) for e in range(order)]).minimal()
    class_names, irrep_names = document_names(document)
    entries = document["classes"]
    return CharacterTable(
        document["group"]["name"],
        values,
        tuple(entry["size"] for entry in entries),
        tuple(entry["square"] for entry in entries),
        tuple(entry["inverse"] for entry in entries),
        class_names,
        tuple(irrep_names[R] for R in sequence),
    )


def solution_of(document: Document) -> GameSolution:
    """The exact optimal pair in a document, verified again.

    Raises:
        ValueError: for the grade ``enclosed``, and when the pair is not optimal.
    """
    if document["grade"] != "exact":
        raise ValueError(f"The certificate of {document['group']['name']} encloses the margin; it holds no optimum.")
    value, masses, weights = shares(document)
    game = MarginGame(table_of(document), document["factors"])
    sequence = _trivial_first(document)
    eps = [masses[sequence[R]] * (2 if game.table.indicators[R] == 0 else 1) for R in game.rows]
    t = [weights[C] * (1 if game.table.inverses[C] == C else 2) for C in game.columns]
    return verify(game, value, np.array(eps, dtype=object), np.array(t, dtype=object))


def document_terms(document: Document) -> tuple[int, list[list[kernel.Terms]]]:
    """N and the table of a document as integers {e: c}, which stand for sum c zeta^e; rows as listed."""
    order = document["characters"]["root_order"]
    return order, [
        [kernel.cyclotomic_integer(value, "values", order) for value in row["values"]]
        for row in document["characters"]["rows"]
    ]


def document_names(document: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the classes and of the characters as in the ATLAS: element order and letter, degree and letter."""
    orders = [_element_order(entry["representative"]) for entry in document["classes"]]
    degrees = [row["values"][0] for row in document["characters"]["rows"]]
    return atlas_names(orders, "A"), atlas_names(degrees, "a")


def trivial_row(means: list[list[Fraction]]) -> int:
    """The row of the trivial character, from the Galois means of all values: the row of ones."""
    return next(R for R, row in enumerate(means) if all(mean == 1 for mean in row))


def _trivial_first(document: Document) -> list[int]:
    """The rows of a document with the trivial character moved to the front."""
    order, terms = document_terms(document)
    first = trivial_row(kernel.galois_means(order, terms))
    return [first, *(R for R in range(len(terms)) if first != R)]


def _element_order(permutation: list[int]) -> int:
    lengths, seen = {1}, set()
    for start in range(len(permutation)):
        length, point = 0, start
        while point not in seen:
            seen.add(point)
            length, point = length + 1, permutation[point]
        lengths.add(max(length, 1))
    return lcm(*lengths)
