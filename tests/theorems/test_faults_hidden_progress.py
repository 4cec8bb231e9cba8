"""Faults planted in gaps, networks, errors and flows: the deciding checks of the statements on them see them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.parity.activations import Power
from lemmata.constructions.parity.polynet import PolyNet
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.numerics.fourier.gaps import FourierGap
from lemmata.theorems.hidden_progress import (
    test_parity_representations,
    test_parity_transformer,
    test_polynet_flow,
    test_random_neurons,
    test_recovery,
)
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, fault_name


class Draws:
    """Takes the place of Hypothesis's `data`: gives the listed values, one after the other."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)

    def draw(self, _: Any) -> Any:
        return self.values.pop(0)


def table_with_a_gap() -> dict[str, Any]:
    """A table planted on the subsets of S = {0, 1}, with its gap, and the largest error that is drawn."""
    support, h = (0, 1), np.random.default_rng(1).integers(-3, 4, size=64)
    for i in support:
        h = h + 4 * test_recovery.X[:, 1 - i]
    sizes = [abs(g) for g in test_recovery._gradient(h, support)]
    return {"case": (h, support, min(sizes[:2]) - max(sizes[2:])), "data": Draws(99)}


def cubic_network() -> dict[str, Any]:
    """Four units with the activation z^2, for the parity of three inputs; a row is w, b and u."""
    return {"data": Draws([[1, 2, -1, 0, 3, 1, 1, 2]] * 4, 2), "k": 3, "width": 4}


NETWORK, POLYNET, GROWTH, ERROR, END = (
    TwoLayerNetwork.__call__,
    PolyNet.__call__,
    test_polynet_flow.growth_time,
    test_polynet_flow.polynet_error,
    test_polynet_flow.plateau_end,
)


def blind_to_the_first_input(network: TwoLayerNetwork, x: Any) -> Any:
    return NETWORK(network, np.concatenate([0 * np.asarray(x)[..., :1], np.asarray(x)[..., 1:]], axis=-1))


def without_the_first_factor(network: PolyNet, x: Any) -> Any:
    return POLYNET(PolyNet(network.weights[1:], network.bias[1:]), x)


FAULTS = [
    Fault(
        "the weakest member taken for the strongest",
        "definition-Gamma",
        test_random_neurons,
        "test_the_largest_entry_is_in_the_support",
        FourierGap,
        "relaxed_gap",
        property(lambda gap: gap.weakest_below - gap.strongest_above),
        lambda: {"seed": 1, "k": 3},
    ),
    Fault(
        "the inputs outside forgotten",
        "definition-Gamma",
        test_random_neurons,
        "test_the_largest_entry_is_in_the_support",
        FourierGap,
        "relaxed_gap",
        property(lambda gap: gap.strongest_below),
        lambda: {"seed": 1, "k": 3},
    ),
    Fault(
        "the strongest member taken for the weakest",
        "proposition-B.7",
        test_recovery,
        "test_the_largest_entries_are_the_support",
        FourierGap,
        "gap",
        property(lambda gap: gap.strongest_below - gap.strongest_above),
        table_with_a_gap,
    ),
    Fault(
        "the gap larger by a fiftieth",
        "proposition-B.7",
        test_recovery,
        "test_the_largest_entries_are_the_support",
        FourierGap,
        "gap",
        property(lambda gap: (gap.weakest_below - gap.strongest_above) * fmpq(51, 50)),
        table_with_a_gap,
    ),
    Fault(
        "an input is not read",
        "definition-MLP",
        test_parity_transformer,
        "test_sgd_commutes_with_permutations",
        TwoLayerNetwork,
        "__call__",
        blind_to_the_first_input,
        lambda: {"seed": 0},
    ),
    *(
        Fault(
            name,
            "definition-MLP",
            test_parity_transformer,
            "test_the_network_is_the_printed_formula",
            TwoLayerNetwork,
            "__call__",
            faulty,
            lambda: {"seed": 0},
        )
        for name, faulty in (
            ("the output scaled by 51/50", lambda network, x: np.asarray(NETWORK(network, x) * fmpq(51, 50))),
            ("the bias left out", lambda network, x: NETWORK(replace(network, bias=0 * network.bias), x)),
        )
    ),
    Fault(
        "the power one too high",
        "unnumbered-degree-obstruction",
        test_parity_representations,
        "test_networks_with_a_power_below_k_have_no_correlation",
        Power,
        "__call__",
        lambda power, z: z ** (power.degree + 1),
        cubic_network,
    ),
    *(
        Fault(
            name,
            "unnumbered-polynet-gradient",
            test_polynet_flow,
            "test_the_population_gradient",
            PolyNet,
            "__call__",
            faulty,
            lambda: {"k": 3, "block": 2},
        )
        for name, faulty in (
            ("the sign flipped", lambda network, x: -POLYNET(network, x)),
            ("the first factor left out", without_the_first_factor),
            ("the output scaled by 51/50", lambda network, x: POLYNET(network, x) * fmpq(51, 50)),
        )
    ),
    Fault(
        "the first factor left out",
        "definition-disjoint-polynet",
        test_polynet_flow,
        "test_first_unit_vectors_give_the_parity",
        PolyNet,
        "__call__",
        without_the_first_factor,
        lambda: {"k": 3, "block": 3},
    ),
    Fault(
        "the time longer by a fiftieth",
        "equation-B.7",
        test_polynet_flow,
        "test_the_quadrature_solves_the_flow",
        test_polynet_flow,
        "growth_time",
        lambda initial, growth: GROWTH(initial, growth) * fmpq(51, 50),
    ),
    Fault(
        "the time longer by a fiftieth",
        "lemma-B.8",
        test_polynet_flow,
        "test_equality_for_equal_weights",
        test_polynet_flow,
        "growth_time",
        lambda initial, growth: GROWTH(initial, growth) * fmpq(51, 50),
        lambda: {"k": 4},
    ),
    Fault(
        "the plateau ends at half the weight",
        "theorem-5.7",
        test_polynet_flow,
        "test_the_share_of_time_after_the_plateau",
        test_polynet_flow,
        "plateau_end",
        lambda m, k, gamma: max(END(m, k, gamma) // 2, 1),
        lambda: {"k": 4, "effort": Effort("quick")},
    ),
    Fault(
        "there is no error",
        "informal-theorem-5.3",
        test_polynet_flow,
        "test_one_and_two_blocks_have_no_plateau",
        test_polynet_flow,
        "polynet_error",
        lambda relevant, irrelevant: ERROR(relevant, [()] * len(irrelevant)),
        lambda: {"k": 2, "root": 10},
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "hidden-progress", monkeypatch)
