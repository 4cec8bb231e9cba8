"""Certificates of products of k factors: the game on the character table, and the explicit network on all n^k inputs.

The general form of `certificates.saddle.groups`, for every type of representation and every k >= 2 (theorem and proof
in UNIVERSAL_MARGIN.md). The primal side evaluates the network's weights on every input; the dual side is the game,
which sees characters alone. They share nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from certificates.characters.tables import CharacterTable
from certificates.game.closed_form import solve_table
from certificates.saddle.certificate import MarginCertificate
from certificates.saddle.groups import element_weights
from certificates.saddle.pair import ClassWeights, Task, judge
from constructions.groups.products import TypedIrrep, product_inputs, product_labels, product_of_factors_network
from numerics.exact.cyclotomic.numbers import rational
from numerics.groups.tables import FiniteGroup

__all__ = ["certify_product", "character_table_of", "product_class_weights", "product_task"]


def product_task(group: FiniteGroup, factors: int) -> Task:
    """Return the task (a_1, .., a_k) -> a_1 ... a_k on all n^k one-hot inputs, in lexicographic order."""
    name = f"the product of {factors} elements of {group.name}"
    return Task(name, product_inputs(group.order, factors), product_labels(group, factors), group.order)


def product_class_weights(group: FiniteGroup, factors: int, per_element: np.ndarray) -> ClassWeights:
    """Return uniform q and tau(a)[c] = per_element[a_1 ... a_k c^-1], exact or in floats as ``per_element`` (n,) is."""
    task = product_task(group, factors)
    quotient = group.table[task.labels[:, None], group.inverse[None, :]]
    points = len(task.labels)
    q = np.array([fmpq(1, points)] * points) if per_element.dtype == object else np.full(points, 1.0 / points)
    return ClassWeights(task, q, per_element[quotient])


def character_table_of(irreps: Sequence[TypedIrrep]) -> CharacterTable:
    """Return the character table of a group from all its nontrivial irreducible representations, with exact entries.

    Of each conjugate pair one is given. Row 0 is trivial, the columns are the classes of the group in its own order.
    Raises ``ValueError`` naming the first violated property: if one is missing, the table is not square.
    """
    group, heads = irreps[0].group, [int(C[0]) for C in irreps[0].group.classes]
    rows, names = [[rational(1)] * len(heads)], ["1"]
    for R in irreps:
        blocks = 2 * R.entries[heads][..., 0] if R.kind == "quaternionic" else R.entries[heads]
        values = [value + rational(0) for value in np.trace(blocks, axis1=1, axis2=2)]
        rows.append(values)
        names.append(R.name)
        if R.kind == "complex":
            rows.append([value.conjugate() for value in values])
            names.append(f"conj {R.name}")
    return CharacterTable(
        group.name,
        np.array(rows, dtype=object),
        tuple(len(C) for C in group.classes),
        tuple(int(group.class_of[group.squaring[g]]) for g in heads),
        tuple(int(group.class_of[group.inverse[g]]) for g in heads),
        tuple(str(group.elements[g]) for g in heads),
        tuple(names),
    )


def certify_product(irreps: Sequence[TypedIrrep], factors: int, exact: bool = True) -> MarginCertificate:
    """Certify the product of ``factors`` elements of the group of the given exact representations.

    ``irreps``: all nontrivial irreducible representations with exact entries, one of each conjugate pair.
    ``exact=False`` keeps the game exact but evaluates the network in floating point. All n^k inputs are listed.
    """
    group, table = irreps[0].group, character_table_of(irreps)
    solution = solve_table(table, factors)
    masses = dict(zip((table.irrep_names[R] for R in solution.game.rows), solution.eps, strict=True))
    per_element = element_weights(group, solution)
    if exact:
        network = product_of_factors_network(irreps, masses, factors)
    else:
        rounded = {name: float(mass) for name, mass in masses.items()}
        network = product_of_factors_network([R.to_float() for R in irreps], rounded, factors)
    weights = product_class_weights(group, factors, per_element if exact else per_element.astype(float))
    verdict = judge(network, weights, solution.gamma)
    return MarginCertificate(weights.task.name, solution.gamma, network, weights, verdict, solution)
