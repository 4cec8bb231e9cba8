"""Certificates of products of k factors: the game on the character table, and the explicit network on all n^k inputs.

The general form of `lemmata.certificates.saddle.groups`, for every type of representation and every k >= 2 (theorem and
proof in certificates/game/UNIVERSAL_MARGIN.md). The primal side evaluates the network's weights on every input; the
dual side is the game, which sees characters alone. They share nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lemmata.certificates.characters.traces import typed_characters
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.saddle.certificate import MarginCertificate
from lemmata.certificates.saddle.groups import element_weights
from lemmata.certificates.saddle.pair import ClassWeights, Task, judge, quotient_weights
from lemmata.constructions.groups.products import TypedIrrep, product_inputs, product_labels, product_of_factors_network
from lemmata.numerics.groups.tables import FiniteGroup

__all__ = ["certify_product", "product_class_weights", "product_task"]


def product_task(group: FiniteGroup, factors: int) -> Task:
    """The task (a_1, .., a_k) -> a_1 ... a_k on all n^k one-hot inputs, in lexicographic order."""
    name = f"the product of {factors} elements of {group.name}"
    return Task(name, product_inputs(group.order, factors), product_labels(group, factors), group.order)


def product_class_weights(group: FiniteGroup, factors: int, per_element: np.ndarray) -> ClassWeights:
    """Uniform q and tau(a)[c] = per_element[a_1 ... a_k c^-1], exact or in floats as ``per_element`` (n,) is.

    Raises:
        ValueError: as `lemmata.certificates.saddle.pair.quotient_weights`.
    """
    return quotient_weights(product_task(group, factors), group, per_element)


def certify_product(irreps: Sequence[TypedIrrep], factors: int, exact: bool = True) -> MarginCertificate:
    """The certificate of the product of ``factors`` elements of the group of the given exact representations.

    Args:
        irreps: all nontrivial irreducible representations with exact entries, one of each conjugate pair.
        factors: k; all n^k inputs are listed.
        exact: False keeps the game exact but evaluates the network in floating point.

    Raises:
        ValueError: when a representation is missing, or the game cannot be solved exactly.
    """
    group, table = irreps[0].group, typed_characters(irreps)
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
