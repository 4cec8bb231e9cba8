"""Faults planted in coefficients, gradients, starts and steps of sparse neurons: the deciding checks see them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq

from lemmata.constructions.parity import under_sparse
from lemmata.constructions.parity.under_sparse import UnderSparseStart, readout_weights, under_sparse_step
from lemmata.numerics.fourier.boolean import half_coefficient, threshold_coefficient
from lemmata.numerics.parity.sparse_neurons import (
    GradientValues,
    SparseNeuron,
    sparse_gradient,
    under_sparse_neuron,
    under_sparse_values,
)
from lemmata.numerics.parity.under_sparse_sizes import under_sparse_sizes
from lemmata.theorems.pareto_frontiers import test_majority_half, test_under_sparse_gradients, test_under_sparse_step
from tests.theorems.planted_faults import Fault, assert_seen, fault_name

VALUES, NETWORK = under_sparse_values, UnderSparseStart.network
CASE = {"n": 9, "k": 4, "s": 2, "common": 2}
EVEN = {"n": 10, "k": 6, "s": 4, "common": 4}


def without_sign(n: int, degree: int) -> fmpq:
    return abs(half_coefficient(n, degree))


def larger(n: int, degree: int) -> fmpq:
    return half_coefficient(n, degree) * fmpq(51, 50)


def threshold_of_ties(n: int, degree: int) -> fmpq:
    """1{sum >= 0} in place of 1{sum > 0}."""
    return threshold_coefficient(n, degree) + (half_coefficient(n, degree) if n % 2 == 0 else 0)


def threshold_without_factor(n: int, degree: int) -> fmpq:
    """The factor (n-t)/n of even n left out."""
    return threshold_coefficient(n, degree) * (fmpq(n, n - degree) if n % 2 == 0 and degree % 2 and degree < n else 1)


def with_small_weights(neuron: SparseNeuron, support: Any) -> Any:
    return sparse_gradient(under_sparse_neuron(neuron.n, neuron.ones, fmpq(1, 2 * neuron.n)), support)


def not_mirrored(start: UnderSparseStart) -> Any:
    network = NETWORK(start)
    return replace(network, readout=abs(network.readout))


def printed_ratio(n: int, k: int, s: int) -> GradientValues:
    """xi_irr as it would be if the gap ratio were (n-s)/(k-s-1)."""
    values = VALUES(n, k, s)
    return GradientValues(values.relevant, -values.relevant * fmpq(k - s - 1, n - s))


def flipped_read_out(k: int, epsilon: Any) -> list[fmpq]:
    return [-u for u in readout_weights(k, epsilon)]


def longer_decay(start: UnderSparseStart, gradients: Any) -> Any:
    """The weight decay 1 - epsilon/k: half of what remains of the ones."""
    return under_sparse_step(start, gradients, decay=1 - start.epsilon / (4 * start.k))


def higher_rate(start: UnderSparseStart, gradients: Any) -> Any:
    rate = start.epsilon / (2 * start.k * abs(VALUES(start.n, start.k, start.s).relevant))
    return under_sparse_step(start, gradients, rate=rate * fmpq(51, 50))


def loose_sizes(n: int, k: int, s: int, accuracy: Any, delta: Any) -> Any:
    """tau of the text's proof but for its constants: it keeps the support, and not the accuracy."""
    sizes = under_sparse_sizes(n, k, s, accuracy, delta)
    return replace(sizes, tolerance=abs(VALUES(n, k, s).relevant) / 8)


def sizes_times(name: str, factor: fmpq) -> Any:
    """The sizes with one of them multiplied; integers are rounded down."""

    def changed(*arguments: Any) -> Any:
        sizes = under_sparse_sizes(*arguments)
        value = getattr(sizes, name) * factor
        return replace(sizes, **{name: value if name == "epsilon" else int(value.p // value.q)})

    return changed


def small_case() -> dict[str, Any]:
    return {"n": 9, "k": 4, "s": 2}


ERRORS = "test_any_errors_within_the_tolerance_leave_the_accuracy"

FAULTS = [
    Fault(
        "larger by a fiftieth",
        "definition-maj-half",
        test_majority_half,
        "test_coefficients_by_sums_over_all_inputs",
        test_majority_half,
        "half_coefficient",
        larger,
        lambda: {"n": 4},
    ),
    Fault(
        "ties counted as positive",
        "definition-maj-half",
        test_majority_half,
        "test_coefficients_by_sums_over_all_inputs",
        test_majority_half,
        "threshold_coefficient",
        threshold_of_ties,
        lambda: {"n": 4},
    ),
    Fault(
        "the sign forgotten",
        "lemma-C.12",
        test_majority_half,
        "test_closed_form_equals_krawtchouk_sums",
        test_majority_half,
        "half_coefficient",
        without_sign,
        lambda: {"m": 3},
    ),
    Fault(
        "larger by a fiftieth",
        "lemma-C.12",
        test_majority_half,
        "test_closed_form_equals_krawtchouk_sums",
        test_majority_half,
        "half_coefficient",
        larger,
        lambda: {"m": 3},
    ),
    *(
        Fault(
            name,
            f"lemma-C.{number}",
            test_under_sparse_gradients,
            check,
            test_under_sparse_gradients,
            attribute,
            faulty,
            lambda case=case: dict(case),
        )
        for number, check in (
            (13, "test_gradient_at_inputs_of_the_support"),
            (14, "test_gradient_at_inputs_outside_of_the_support"),
        )
        for name, attribute, faulty, case in (
            ("the sign forgotten", "half_coefficient", without_sign, CASE),
            ("the factor of even n left out", "threshold_coefficient", threshold_without_factor, EVEN),
        )
    ),
    Fault(
        "the printed gap ratio",
        "lemma-C.15",
        test_under_sparse_gradients,
        "test_good_neurons_see_three_values",
        test_under_sparse_gradients,
        "under_sparse_values",
        printed_ratio,
        lambda: {"n": 9},
    ),
    Fault(
        "small weights at the other inputs",
        "fact-no-dense-part",
        test_under_sparse_gradients,
        "test_no_gradient_without_small_weights",
        test_under_sparse_gradients,
        "sparse_gradient",
        with_small_weights,
        lambda: {"n": 9, "k": 4, "s": 2, "common": 2},
    ),
    Fault(
        "a second half that is not negated",
        "definition-init-under",
        test_under_sparse_gradients,
        "test_the_start_vanishes_and_its_biases_change_no_gradient",
        UnderSparseStart,
        "network",
        not_mirrored,
        lambda: {"n": 6, "k": 4, "s": 2},
    ),
    Fault(
        "ties counted as positive where the bias is not",
        "definition-init-under",
        test_under_sparse_gradients,
        "test_the_start_vanishes_and_its_biases_change_no_gradient",
        test_under_sparse_gradients,
        "sparse_gradient",
        lambda neuron, support: sparse_gradient(replace(neuron, bias=0), support) * fmpq(1 + (neuron.bias > 0)),
        lambda: {"n": 6, "k": 4, "s": 2},
    ),
    *(
        Fault(
            name,
            statement,
            test_under_sparse_step,
            "test_the_population_step_computes_the_parity",
            under_sparse,
            attribute,
            faulty,
            lambda: {"n": 9, "k": 4, "s": 2},
        )
        for statement in ("theorem-C.16", "theorem-6.5")
        for name, attribute, faulty in (
            ("a flipped read-out", "readout_weights", flipped_read_out),
            ("less weight decay", "under_sparse_step", longer_decay),
            ("the rate higher by a fiftieth", "under_sparse_step", higher_rate),
        )
    ),
    *(
        Fault(
            name,
            statement,
            test_under_sparse_step,
            check,
            test_under_sparse_step,
            "under_sparse_sizes",
            faulty,
            arguments,
        )
        for statement in ("theorem-C.16", "theorem-6.5")
        for name, check, faulty, arguments in (
            ("a small weight larger by a fiftieth", ERRORS, sizes_times("epsilon", fmpq(51, 50)), small_case),
            ("fewer samples by a fiftieth", ERRORS, sizes_times("samples", fmpq(49, 50)), small_case),
            ("half of the width", "test_the_width_hits_every_kink", sizes_times("width", fmpq(1, 2)), dict),
        )
    ),
    *(
        Fault(
            "estimates too far off",
            statement,
            test_under_sparse_step,
            "test_any_errors_within_the_tolerance_leave_the_accuracy",
            test_under_sparse_step,
            "under_sparse_sizes",
            loose_sizes,
            lambda: {"n": 9, "k": 4, "s": 2},
        )
        for statement in ("theorem-C.16", "theorem-6.5")
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "pareto-frontiers", monkeypatch)
