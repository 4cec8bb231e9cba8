"""Faults planted in networks, constants, class weights and verdicts: the deciding checks of chapter 7 have to see them.

Each fault replaces one name where the library, or the check, looks it up; the check must pass before and raise after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.game import closed_form, equalising, margin_game
from lemmata.certificates.saddle import groups as group_certificates
from lemmata.certificates.saddle import parity as parity_certificates
from lemmata.constructions.groups import cyclic, real_type
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.exact.cyclotomic.numbers import rational
from lemmata.numerics.groups.tables import symmetric
from lemmata.theorems.evidence import MARK
from lemmata.theorems.feature_emergence import (
    group_coordinates,
    small_groups,
    test_all_optimal_group_networks,
    test_characters_of_groups,
    test_closed_form_range,
    test_dense_network,
    test_fourier_of_networks,
    test_framework,
    test_group_class_weights,
    test_group_networks,
    test_group_neurons,
    test_library_neurons,
    test_library_saddle_pairs,
    test_modular_addition,
    test_regularised_optimum,
    test_representations,
    test_sparse_parity,
    test_universal_margin,
)

GAIN = fmpq(51, 50)
S_3 = symmetric(3)


@dataclass(frozen=True)
class Fault:
    """What is replaced, and the deciding check that must turn red.

    Attributes:
        name: what is wrong.
        statements: the statements that the check decides, without the chapter's prefix.
        module: where the check is.
        check: its name.
        owner: the module or class in which a name is replaced.
        attribute: that name.
        faulty: its replacement.
        arguments: those of the check.
    """

    name: str
    statements: tuple[str, ...]
    module: ModuleType
    check: str
    owner: Any
    attribute: str
    faulty: Any
    arguments: dict[str, Any] = field(default_factory=dict)


# ---- the faults, with the names of the library as they were before any of them


def gained(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, two per cent too large."""
    return lambda *arguments, **options: function(*arguments, **options) * GAIN


def gained_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **options: function(*arguments, **options) * 1.02


PHASES, DIRECTION = cyclic.phase_triples, cyclic._direction


def turned_phases(per_frequency: int) -> Any:
    """The readout of the last neuron of each frequency turned by half a period: its sign is wrong."""
    *rest, (u, v, w) = PHASES(per_frequency)
    return (*rest, (u, v, w + Fraction(1, 2)))


def two_frequencies(n: int, z: int, phases: Any, exact: bool) -> Any:
    """Inputs of frequency z, a readout of frequency 2z."""
    return [*DIRECTION(n, z, phases, exact)[: 2 * n], *DIRECTION(n, 2 * z % n, phases, exact)[2 * n :]]


def uneven_shares(n: int, exact: bool = False) -> list[Any]:
    """Masses of the frequencies that differ by a few per cent."""
    half = n // 2
    return [fmpq(1, half) + (fmpq(1, 50) if z == 0 else fmpq(-1, 50) if z == 1 else 0) for z in range(half)]


CLASS_WEIGHTS = group_certificates.class_function_weights


def uneven_weights(group: Any, per_element: Any) -> Any:
    """A twentieth of the weight of one element moved to another."""
    tau = np.array(per_element, dtype=object)
    tau[1], tau[2] = tau[1] * fmpq(19, 20), tau[2] + tau[1] * fmpq(1, 20)
    return CLASS_WEIGHTS(group, tau)


PARITY, GROUP_NETWORK = test_library_neurons.sparse_parity_network, real_type.group_network


def flipped_pattern(*arguments: Any, **options: Any) -> Any:
    """The parity network with the readout of its first neuron negated."""
    network = PARITY(*arguments, **options)
    readout = network.readout.copy()
    readout[0] = -readout[0]
    return replace_network(network, readout=readout)


def replace_network(network: HomogeneousNetwork, **changes: Any) -> HomogeneousNetwork:
    parts = {name: getattr(network, name) for name in ("hidden", "readout", "masses", "degree", "norm_squared")}
    return HomogeneousNetwork(**(parts | changes))


def shifted_masses(*arguments: Any, **options: Any) -> Any:
    """The group network with 2 per cent of the mass of its first neuron moved to its last."""
    network = GROUP_NETWORK(*arguments, **options)
    masses = network.masses.copy()
    moved = masses[0] / 50
    masses[0], masses[-1] = masses[0] - moved, masses[-1] + moved
    return replace_network(network, masses=masses)


NEURONS = real_type.real_type_neurons


def unsigned_neurons(matrices: Any) -> Any:
    """(R_ij, R_jk, R_ik) twice: the sign of the pairs is lost."""
    return np.repeat(NEURONS(matrices)[::2], 2, axis=0)


MEMORY = test_dense_network.memorising_weights


def weak_readout(table: Any) -> Any:
    hidden, readout = MEMORY(table)
    return hidden, readout * fmpq(4, 5)


MEMORISING = test_dense_network.memorising_network


def swapped_memory(table: Any, **options: Any) -> Any:
    """The network of the table with the labels 0 and 1 exchanged at the input (0, 0)."""
    other = np.array(table).copy()
    other[0, 0] = 1 - other[0, 0]
    return MEMORISING(other, **options)


JUDGE = test_library_saddle_pairs.judge


def lenient(without: str) -> Callable[..., Any]:
    """A verdict that overlooks the violations of one condition."""

    def judged(*arguments: Any) -> Any:
        verdict = JUDGE(*arguments)
        kept = tuple(text for text in verdict.violations if not text.startswith(without))
        return replace(verdict, violations=kept)

    return judged


def higher_bound(network: Any, weights: Any, bound: Any) -> Any:
    return JUDGE(network, weights, bound * GAIN)


WEIGHTS = HomogeneousNetwork.weights


def linear_weights(network: HomogeneousNetwork) -> Any:
    """Weights scaled by the masses instead of their roots of degree nu."""
    factor = np.array([float(mass) for mass in network.masses])[:, None] / float(network.norm_squared) ** 0.5
    return network.hidden.astype(float) * factor, network.readout.astype(float) * factor


REAL_IRREPS = small_groups.real_irreps


def sheared(group: Any, exact: bool = False) -> Any:
    """All representations of degree > 1 in a basis that is not orthogonal: still homomorphisms."""
    result = []
    for R in REAL_IRREPS(group, exact=exact):
        if R.degree == 1:
            result.append(R)
            continue
        matrices = R.matrices.copy()
        matrices[:, 0, 1:] = 2 * matrices[:, 0, 1:]
        matrices[:, 1:, 0] = matrices[:, 1:, 0] / 2
        result.append(replace(R, matrices=matrices))
    return result


def without_sign(group: Any, exact: bool = False) -> Any:
    """The trivial representation in place of the second one."""
    first, second, *rest = REAL_IRREPS(group, exact=exact)
    return [first, replace(second, matrices=first.matrices), *rest]


ALL_CONDITIONS = equalising.condition_sums


def conditions_with_the_trivial_one(game: Any) -> Any:
    """COND with the trivial representation in the sum, as the hypothesis is printed."""
    return ALL_CONDITIONS(game) + rational(1)


VERIFY = test_group_class_weights.verify


def verify_other_masses(game: Any, value: Any, eps: Any, t: Any) -> Any:
    """The pair with the class weights in the opposite order."""
    return VERIFY(game, value, eps, np.array(t, dtype=object)[::-1])


PARITY_MEANS = test_library_neurons.expected_parity_margins
CLASS_MEANS, SCALE = test_fourier_of_networks.expected_class_margins, margin_game.margin_scale

MODULAR = ("theorem-7.7", "theorem-7.0")
ADDITION = "test_network_and_class_weights_certify_each_other"
TWO = "test_the_verdict_accepts_exactly_the_max_margin_networks_of_two_labels"
FAULTS = [
    *(
        Fault(name, MODULAR, test_modular_addition, ADDITION, owner, attribute, faulty, {"n": n, "per_frequency": 8})
        for name, owner, attribute, faulty, n in (
            ("a readout of the wrong sign", cyclic, "phase_triples", turned_phases, 3),
            ("unequal masses of the frequencies", cyclic, "frequency_shares", uneven_shares, 5),
            ("a readout of another frequency", cyclic, "_direction", two_frequencies, 5),
            ("unequal class weights", group_certificates, "class_function_weights", uneven_weights, 3),
            ("another scale of the game", margin_game, "margin_scale", gained(SCALE), 3),
        )
    ),
    Fault(
        "a readout of the wrong sign",
        ("construction-D.6.2",),
        test_modular_addition,
        "test_outputs_of_the_printed_network",
        cyclic,
        "phase_triples",
        turned_phases,
        {"p": 3},
    ),
    Fault(
        "misaligned phases",
        ("lemma-D.6.1b",),
        test_library_neurons,
        "test_every_neuron_of_the_network_is_optimal",
        cyclic,
        "phase_triples",
        turned_phases,
        {"p": 3, "per_frequency": 8},
    ),
    Fault(
        "a readout of the wrong sign",
        ("identity-7.1",),
        test_library_neurons,
        "test_the_neurons_of_one_frequency_answer_a_plus_b",
        cyclic,
        "_direction",
        two_frequencies,
        {"p": 5},
    ),
    Fault(
        "an average 2 per cent too large",
        ("lemma-D.6.1a",),
        test_fourier_of_networks,
        "test_expected_margin_kernel_agrees_with_the_transform",
        test_fourier_of_networks,
        "expected_class_margins",
        gained_floats(CLASS_MEANS),
        {"n": 3, "seed": 0},
    ),
    Fault(
        "a readout of another frequency",
        ("lemma-D.6.3",),
        test_fourier_of_networks,
        "test_transform_of_explicit_neurons",
        cyclic,
        "_direction",
        two_frequencies,
        {"p": 5},
    ),
    Fault(
        "a pattern of the wrong sign",
        ("theorem-7.8",),
        test_sparse_parity,
        "test_the_network_attains_the_bound_exactly",
        parity_certificates,
        "sparse_parity_network",
        flipped_pattern,
        {"n": 3, "k": 2},
    ),
    Fault(
        "a margin 2 per cent too large",
        ("theorem-7.8",),
        test_sparse_parity,
        "test_the_network_attains_the_bound_exactly",
        parity_certificates,
        "parity_bound",
        gained(parity_certificates.parity_bound),
        {"n": 3, "k": 2},
    ),
    Fault(
        "an average 2 per cent too large",
        ("lemma-D.7a",),
        test_library_neurons,
        "test_the_evaluator_of_parity_gives_the_product_of_the_weights",
        test_library_neurons,
        "expected_parity_margins",
        gained_floats(PARITY_MEANS),
        {"n": 2},
    ),
    Fault(
        "a pattern of the wrong sign",
        ("lemma-D.7a",),
        test_library_neurons,
        "test_every_neuron_of_the_parity_network_attains_the_bound",
        test_library_neurons,
        "sparse_parity_network",
        flipped_pattern,
        {"n": 3, "k": 2},
    ),
    Fault(
        "a readout of 1/5 for 1/4",
        ("construction-D.4",),
        test_dense_network,
        "test_all_tables_of_order_two",
        test_dense_network,
        "memorising_weights",
        weak_readout,
    ),
    Fault(
        "one wrong entry of the table",
        ("theorem-7.0",),
        test_dense_network,
        "test_the_margin_is_positive_and_below_the_maximum",
        test_dense_network,
        "memorising_network",
        swapped_memory,
        {"p": 3, "balanced": True},
    ),
    *(
        Fault(name, ("lemma-7.2", "lemma-7.4"), test_library_saddle_pairs, TWO, test_library_saddle_pairs, "judge", bad)
        for name, bad in (
            ("all violations overlooked", lenient("")),
            ("a bound 2 per cent too large", higher_bound),
        )
    ),
    Fault(
        "labels off the largest wrong logit overlooked",
        ("definition-7.3.2",),
        test_library_saddle_pairs,
        "test_the_verdict_names_exactly_the_broken_conditions",
        test_library_saddle_pairs,
        "judge",
        lenient("(C.1)"),
    ),
    Fault(
        "a bound 2 per cent too large",
        ("lemma-7.6",),
        test_library_saddle_pairs,
        "test_the_verdict_accepts_exactly_the_max_margin_networks_of_three_labels",
        test_library_saddle_pairs,
        "judge",
        higher_bound,
    ),
    Fault(
        "weights scaled by the masses",
        ("lemma-7.3", "lemma-7.5"),
        test_library_saddle_pairs,
        "test_networks_that_maximise_the_expected_margin_use_optimal_neurons",
        HomogeneousNetwork,
        "weights",
        linear_weights,
        {"labels": 3},
    ),
    Fault(
        "weights scaled by the masses",
        ("remark-D.5",),
        test_library_neurons,
        "test_norms_of_the_neurons_of_a_network",
        HomogeneousNetwork,
        "weights",
        linear_weights,
        {"b": 2},
    ),
    Fault(
        "a norm 2 per cent too large",
        ("definition-7.2",),
        test_framework,
        "test_norm_and_network_depend_on_masses_only",
        HomogeneousNetwork,
        "norm_power",
        property(lambda network: sum(network.masses) * GAIN),
        {"numbers": (3, 4, 5), "factor": 6},
    ),
    *(
        Fault(name, (statement,), module, check, owner, attribute, faulty, {"group": S_3})
        for name, statement, module, check, owner, attribute, faulty in (
            (
                "pairs without their sign",
                "theorem-7.9",
                test_group_networks,
                "test_maximum_margin",
                real_type,
                "real_type_neurons",
                unsigned_neurons,
            ),
            (
                "another scale of the game",
                "theorem-7.9",
                test_group_networks,
                "test_maximum_margin",
                margin_game,
                "margin_scale",
                gained(SCALE),
            ),
            (
                "unequal class weights",
                "theorem-7.9",
                test_group_networks,
                "test_every_class_and_every_representation_is_tight",
                group_certificates,
                "class_function_weights",
                uneven_weights,
            ),
            (
                "masses off by 2 per cent",
                "theorem-7.9",
                test_group_networks,
                "test_maximum_margin",
                group_certificates,
                "group_network",
                shifted_masses,
            ),
            (
                "pairs without their sign",
                "lemma-D.15",
                test_group_networks,
                "test_character_network",
                test_group_networks,
                "real_type_neurons",
                unsigned_neurons,
            ),
            (
                "masses off by 2 per cent",
                "lemma-D.16",
                test_group_networks,
                "test_all_wrong_labels_tie",
                group_certificates,
                "group_network",
                shifted_masses,
            ),
            (
                "matrices that are not orthogonal",
                "lemma-D.11",
                test_group_neurons,
                "test_cross_term_has_blocks",
                group_coordinates,
                "real_irreps",
                without_sign,
            ),
            (
                "matrices that are not orthogonal",
                "lemma-D.12",
                test_group_neurons,
                "test_norm_identity",
                group_coordinates,
                "real_irreps",
                sheared,
            ),
            (
                "matrices that are not orthogonal",
                "lemma-D.13",
                test_group_neurons,
                "test_norm_identity",
                group_coordinates,
                "real_irreps",
                sheared,
            ),
            (
                "a representation that is missing",
                "remark-D.9-uniform",
                test_group_neurons,
                "test_uniform_weights_select_the_smallest_degrees",
                group_coordinates,
                "real_irreps",
                without_sign,
            ),
            (
                "masses off by 2 per cent",
                "lemma-D.9.1",
                test_group_neurons,
                "test_the_explicit_network_uses_every_representation",
                group_certificates,
                "group_network",
                shifted_masses,
            ),
            (
                "masses off by 2 per cent",
                "ext-E5",
                test_all_optimal_group_networks,
                "test_max_margin_networks_of_real_type_take_two_values",
                test_all_optimal_group_networks,
                "group_network",
                shifted_masses,
            ),
        )
    ),
    *(
        Fault(name, (statement,), module, check, owner, attribute, faulty, {"name": "S_3"})
        for name, statement, module, check, owner, attribute, faulty in (
            (
                "matrices that are not orthogonal",
                "proposition-D.7",
                test_characters_of_groups,
                "test_matrix_entries_are_orthogonal_with_squared_norm_one_over_d",
                small_groups,
                "real_irreps",
                sheared,
            ),
            (
                "a representation that is missing",
                "theorem-D.8",
                test_characters_of_groups,
                "test_irreducible_characters_are_orthonormal",
                small_groups,
                "real_irreps",
                without_sign,
            ),
            (
                "a representation that is missing",
                "theorem-D.9",
                test_characters_of_groups,
                "test_characters_are_a_basis_of_the_class_functions",
                small_groups,
                "real_irreps",
                without_sign,
            ),
            (
                "matrices that are not orthogonal",
                "lemma-D.10",
                test_characters_of_groups,
                "test_basis_vectors_have_the_four_properties",
                small_groups,
                "real_irreps",
                sheared,
            ),
            (
                "a representation that is missing",
                "theorem-D.5",
                test_representations,
                "test_squares_of_the_degrees_add_up_to_the_order",
                small_groups,
                "real_irreps",
                lambda group, exact=False: REAL_IRREPS(group, exact=exact)[:-1],
            ),
            (
                "matrices that are not orthogonal",
                "definition-7.6.1",
                test_representations,
                "test_indicator_one_gives_as_many_real_irreps_as_classes_and_a_basis",
                small_groups,
                "real_irreps",
                sheared,
            ),
        )
    ),
    Fault(
        "class weights of the printed sign",
        ("lemma-D.14", "theorem-7.9"),
        test_group_class_weights,
        "test_equalising_weights",
        equalising,
        "condition_sums",
        lambda game: -ALL_CONDITIONS(game),
        {"name": "S3"},
    ),
    Fault(
        "the trivial representation in the condition",
        ("lemma-D.14", "theorem-7.9"),
        test_group_class_weights,
        "test_equalising_weights",
        equalising,
        "condition_sums",
        conditions_with_the_trivial_one,
        {"name": "S3"},
    ),
    Fault(
        "class weights in another order",
        ("theorem-D.9.2", "claim-7.6-Sk"),
        test_group_class_weights,
        "test_sub_table_of_a5",
        test_group_class_weights,
        "verify",
        verify_other_masses,
    ),
    Fault(
        "a closed form 2 per cent too large",
        ("ext-E2",),
        test_closed_form_range,
        "test_the_closed_form_is_the_margin_exactly_where_no_condition_sum_is_positive",
        test_closed_form_range,
        "closed_form_margin",
        gained(closed_form.closed_form_margin),
        {"name": "S3"},
    ),
    Fault(
        "a formula 2 per cent too large",
        ("ext-E3",),
        test_closed_form_range,
        "test_formulas_of_theorem_7_7_and_of_elementary_abelian_groups",
        test_closed_form_range,
        "abelian_margin",
        gained(closed_form.abelian_margin),
    ),
    Fault(
        "another scale of the game",
        ("ext-E1",),
        test_universal_margin,
        "test_constants_of_the_bound",
        test_universal_margin,
        "margin_scale",
        gained(SCALE),
    ),
    Fault(
        "a largest penalty 2 per cent too large",
        ("ext-E6",),
        test_regularised_optimum,
        "test_zero_is_the_minimum_exactly_from_lambda_max_on",
        test_regularised_optimum,
        "penalty_limit",
        gained(test_regularised_optimum.penalty_limit),
        {"name": "Z4"},
    ),
]
GAMES = test_library_saddle_pairs.games
CACHES = (
    group_coordinates.irreps_of,
    group_coordinates.certificate_of,
    test_group_networks._logits,
    small_groups.irreps,
    test_group_class_weights._table,
)


@pytest.fixture(autouse=True)
def without_caches() -> Iterator[None]:
    """Nothing that was made without a fault is used with it, nor the other way round."""
    clear_caches()
    yield
    clear_caches()


def clear_caches() -> None:
    for cached in CACHES:
        clear = getattr(cached, "cache_clear", None)
        if clear is not None:
            clear()


def decided_by(function: Callable[..., Any]) -> set[str]:
    """The statements that a check decides."""
    return {
        mark.args[0].statement
        for mark in getattr(function, "pytestmark", [])
        if mark.name == MARK and mark.args[0].kind == "check" and not mark.args[0].supporting
    }


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.statements[0]}-{fault.name.replace(' ', '_')}")
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault.module is test_library_saddle_pairs:  # fewer pairs of neurons, with and without the fault
        monkeypatch.setattr(
            test_library_saddle_pairs,
            "games",
            lambda labels, step=1, correct=(0, 1): GAMES(labels, 10 * step, correct),
        )
    function = getattr(fault.module, fault.check)
    assert {f"feature-emergence:{statement}" for statement in fault.statements} <= decided_by(function)
    run = function.hypothesis.inner_test if hasattr(function, "hypothesis") else function
    run(**fault.arguments)
    clear_caches()
    monkeypatch.setattr(fault.owner, fault.attribute, fault.faulty)
    with pytest.raises((AssertionError, ValueError)):
        run(**fault.arguments)


def test_faults_cover_the_families_of_statements() -> None:
    covered = {statement for fault in FAULTS for statement in fault.statements}
    assert len(covered) >= 30
    assert {"theorem-7.7", "theorem-7.8", "theorem-7.9", "theorem-7.0", "theorem-D.9.2"} <= covered
