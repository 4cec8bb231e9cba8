"""Certificates of group composition: cyclic groups (theorem 7.7) and groups of real type (theorems 7.9, D.9.2).

The game on the character table gives the class weights and the masses of the irreducible representations; the explicit
network with these masses is then evaluated on all triples, so that the primal side rests on its weights alone and
shares nothing with the dual side, which rests on the characters alone.
"""

from __future__ import annotations

import numpy as np

from lemmata.certificates.characters.families import cyclic_characters
from lemmata.certificates.characters.traces import characters_of
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.margin_game import GameSolution
from lemmata.certificates.saddle.certificate import MarginCertificate
from lemmata.certificates.saddle.pair import ClassWeights, class_function_weights, judge
from lemmata.constructions.groups.cyclic import modular_addition_network
from lemmata.constructions.groups.real_type import group_network
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import rational
from lemmata.numerics.groups.tables import FiniteGroup, cyclic

__all__ = ["certify_cyclic", "certify_real_type", "element_weights", "game_class_weights"]


def game_class_weights(group: FiniteGroup, solution: GameSolution, exact: bool = True) -> ClassWeights:
    """Uniform q and the class function tau with the total class weights of a solved game for two factors.

    The columns of the table must be the classes of ``group`` in its own order, as `characters_of` makes them.
    """
    per_element = element_weights(group, solution)
    return class_function_weights(group, per_element if exact else per_element.astype(float))


def element_weights(group: FiniteGroup, solution: GameSolution) -> np.ndarray:
    """The class function tau (n,) with the total class weights of a solved game, exactly.

    The columns of the table must be the classes of ``group`` in its own order.

    Raises:
        ValueError: when the classes of the table have other sizes than those of the group.
    """
    table = solution.game.table
    if tuple(len(C) for C in group.classes) != table.class_sizes:
        raise ValueError(
            f"The table of {table.name} has classes of sizes {table.class_sizes}, but the group has "
            f"{tuple(len(C) for C in group.classes)}."
        )
    per_element = np.array([rational(0)] * group.order, dtype=object)
    for total, C in zip(solution.t, solution.game.columns, strict=True):
        members = np.concatenate([group.classes[D] for D in sorted({C, table.inverses[C]})])
        per_element[members] = total / len(members)
    return per_element


def certify_cyclic(n: int, per_frequency: int = 6, exact: bool = True) -> MarginCertificate:
    """The certificate of addition modulo n, n >= 2, with 6 (tight) or 8 (as printed) neurons per frequency.

    For odd n this is theorem 7.7, gamma^2 = 2/(27 n (n-1)^2). ``exact=False`` evaluates the network in floating point.
    """
    group = cyclic(n)
    network = modular_addition_network(n, per_frequency, exact=exact)
    return _certificate(group, network, solve_table(cyclic_characters(n)), exact)


def certify_real_type(group: FiniteGroup, exact: bool = True) -> MarginCertificate:
    """The certificate of composition in a group all of whose irreducible representations are of real type.

    ``exact=False`` keeps the game exact but evaluates the network in floating point, which the larger groups need (A_5,
    S_5).

    Raises:
        ValueError: for groups without explicit representations (see
            `lemmata.constructions.representations.orthogonal`), and for a group with representations of another type.
    """
    exact_irreps = real_irreps(group, exact=True)
    table = characters_of(group, exact_irreps)
    if not table.is_totally_orthogonal():
        raise ValueError(
            f"The group {table.name} has irreducible representations that are not of real type (indicators "
            f"{table.indicators}); their explicit networks are not of the form of lemma D.15."
        )
    solution = solve_table(table)
    masses = {
        table.irrep_names[R]: mass if exact else float(mass)
        for R, mass in zip(solution.game.rows, solution.eps, strict=True)
    }
    irreps = exact_irreps if exact else real_irreps(group, exact=False)
    return _certificate(group, group_network(irreps, masses, exact=exact), solution, exact)


def _certificate(
    group: FiniteGroup, network: HomogeneousNetwork, solution: GameSolution, exact: bool
) -> MarginCertificate:
    weights = game_class_weights(group, solution, exact)
    verdict = judge(network, weights, solution.gamma)
    return MarginCertificate(group.name, solution.gamma, network, weights, verdict, solution)
