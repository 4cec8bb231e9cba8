"""Faults planted in over-sparse neurons, steps, grids and sizes: the deciding checks of the statements see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.parity.over_sparse import SparseInitialization
from lemmata.numerics.exact.numbers import as_exact
from lemmata.theorems.pareto_frontiers import test_good_initializations as starts
from lemmata.theorems.pareto_frontiers import test_good_neurons as good
from lemmata.theorems.pareto_frontiers import test_over_sparse_step as step
from lemmata.theorems.pareto_frontiers import test_over_sparse_theorem as theorem
from lemmata.theorems.pareto_frontiers import test_parity_learning as learning
from lemmata.theorems.pareto_frontiers import test_ramp_readouts as ramps
from lemmata.theorems.pareto_frontiers import test_sampled_steps as sampled
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, fault_name

VALUES, GRADIENT = good.over_sparse_values, good.sparse_gradient


NETWORK, SIZES = theorem.over_sparse_network, theorem.over_sparse_sizes
SOLVE, STEP, GRADIENTS = ramps.solve_readout, step.over_sparse_step, step.population_gradients


def small_network() -> dict[str, Any]:
    step.setting.cache_clear()  # the read-out belongs to the setting
    return {"size": step.SIZES[0]}


def flipped(k: int, biases: Any) -> Any:
    """The read-out with the sign of its last weight turned."""
    found = SOLVE(k, biases)
    return replace(found, plus=(*found.plus[:-1], -found.plus[-1]))


def louder(*arguments: Any, **options: Any) -> Any:
    """The step with a rate larger by a fiftieth."""
    after = STEP(*arguments, **options)
    return replace(after, hidden=after.hidden * fmpq(51, 50))


def unaware(*arguments: Any, **options: Any) -> Any:
    """The sizes with a tolerance that only truncation bounds, without the read-out."""
    found = SIZES(*arguments, **options)
    return replace(found, tolerance=found.tolerance * 16)


def few_samples(*arguments: Any, **options: Any) -> Any:
    found = SIZES(*arguments, **options)
    return replace(found, samples=found.samples // 1000)


def shifted(network: Any) -> Any:
    """The network with its first bias raised by a hundredth."""
    bias = np.array(network.bias)
    bias[0] += fmpq(1, 100)
    return replace(network, bias=bias)


def wide(*arguments: Any, **options: Any) -> Any:
    """The step with irrelevant weights five times as large."""
    after = STEP(*arguments, **options)
    inside = np.zeros(after.hidden.shape[1], dtype=bool)
    inside[list(after.support)] = True
    return replace(after, hidden=after.hidden * as_exact(np.where(inside, 1, 5)))


def a_little_wide(*arguments: Any, **options: Any) -> Any:
    """The step with irrelevant weights larger by a fiftieth."""
    after = STEP(*arguments, **options)
    inside = np.isin(np.arange(after.hidden.shape[1]), after.support)
    return replace(after, hidden=after.hidden * as_exact(np.where(inside, 50, 51)) / 50)


def sizes_with(change: Callable[[Any], dict[str, Any]]) -> Callable[..., Any]:
    """The sizes with some of them replaced."""

    def changed(*arguments: Any, **options: Any) -> Any:
        found = SIZES(*arguments, **options)
        return replace(found, **change(found))

    return changed


def all_good(drawn: Any, support: Any) -> Any:
    return np.ones(len(drawn.rows), dtype=bool)


READS = "test_a_read_out_with_the_further_bias"
SILENT = "test_bad_neurons_are_silent_and_good_ones_move_little"
FEATURES = "test_features_and_loss_after_a_population_step"
CLOSE = "test_the_irrelevant_weights_change_the_loss_little"


def first_size() -> dict[str, Any]:
    return {"n": 11, "k": 2, "s": 9}


FAULTS = [
    Fault(
        "draws with replacement",
        "lemma-C.2",
        good,
        "test_the_probability_of_a_good_neuron",
        good,
        "good_probability",
        lambda n, k, s: fmpq(s, n) ** k,
    ),
    Fault(
        "the irrelevant value with the wrong sign",
        "lemma-C.3",
        good,
        "test_gradients_of_good_neurons",
        good,
        "over_sparse_values",
        lambda s, k: type(VALUES(s, k))(VALUES(s, k).relevant, -VALUES(s, k).irrelevant),
        first_size,
    ),
    Fault(
        "the irrelevant value larger by a fiftieth",
        "lemma-C.3",
        good,
        "test_the_ratio_of_the_two_values",
        good,
        "over_sparse_values",
        lambda s, k: type(VALUES(s, k))(VALUES(s, k).relevant, VALUES(s, k).irrelevant * fmpq(51, 50)),
        lambda: {"effort": Effort("quick")},
    ),
    Fault(
        "a constant that some sizes undercut",
        "lemma-C.3",
        good,
        "test_the_constant_kappa_is_the_infimum",
        good,
        "gradient_floor",
        lambda k, floor=good.gradient_floor: floor(k) * arb("1.02"),
    ),
    Fault(
        "a bad neuron with the gradient of a good one",
        "lemma-C.4",
        good,
        "test_gradients_of_bad_neurons",
        good,
        "sparse_gradient",
        lambda neuron, support: GRADIENT(neuron, support) + VALUES(9, 2).irrelevant,
        first_size,
    ),
    Fault(
        "a third of the width",
        "lemma-C.10",
        starts,
        "test_the_mean_itself_is_met",
        starts,
        "good_pairs",
        lambda *sizes, pairs=starts.good_pairs: pairs(*sizes) // 3,
        lambda: {"size": (20, 2, 9)},
    ),
    Fault(
        "a good neuron in every draw",
        "lemma-C.10",
        starts,
        "test_the_mean_itself_is_met",
        starts,
        "balance_probability",
        lambda pairs, hit, *rest, law=starts.balance_probability: law(pairs, 2 * hit, *rest),
        lambda: {"size": (40, 4, 17)},
    ),
    Fault(
        "the population gradient larger by a half",
        "lemma-C.5",
        sampled,
        "test_every_entry_is_accurate",
        sampled,
        "population_gradients",
        lambda *arguments: GRADIENTS(*arguments) * fmpq(3, 2),
    ),
    Fault(
        "the sample gradient with the wrong sign",
        "lemma-C.5",
        sampled,
        "test_every_entry_is_accurate",
        sampled,
        "sample_gradients",
        lambda *arguments, gradients=sampled.sample_gradients: -gradients(*arguments),
    ),
    Fault(
        "the sample gradient larger by a fiftieth",
        "lemma-C.5",
        sampled,
        "test_every_entry_is_accurate",
        sampled,
        "sample_gradients",
        lambda *arguments, gradients=sampled.sample_gradients: gradients(*arguments) * fmpq(51, 50),
    ),
    Fault("a read-out sign flipped", "claim-C.6b", ramps, READS, ramps, "solve_readout", flipped),
    Fault(
        "the grid without its first bias",
        "claim-C.6b",
        ramps,
        READS,
        ramps,
        "offset_grid",
        lambda k, offset, first=0, grid=ramps.offset_grid: grid(k, offset, first=1),
    ),
    Fault(
        "a grid with kinks at wrong places",
        "claim-C.6b",
        ramps,
        READS,
        ramps,
        "offset_grid",
        lambda k, offset, first=0, grid=ramps.offset_grid: grid(k, offset * fmpq(51, 50), first=first),
    ),
    Fault("the rate larger by a fiftieth", "claim-C.6c", step, SILENT, step, "over_sparse_step", louder, small_network),
    Fault(
        "bad neurons get the gradient of good ones",
        "claim-C.6c",
        step,
        SILENT,
        step,
        "population_gradients",
        lambda drawn, support: GRADIENTS(drawn, support) + VALUES(9, 2).relevant,
        small_network,
    ),
    Fault(
        "a bad neuron called good", "lemma-C.6", step, FEATURES, SparseInitialization, "good", all_good, small_network
    ),
    Fault("a read-out sign flipped", "lemma-C.6", step, FEATURES, step, "solve_readout", flipped, small_network),
    Fault(
        "a read-out sign flipped",
        "lemma-C.6",
        step,
        "test_the_loss_falls_with_the_sparsity",
        step,
        "solve_readout",
        flipped,
    ),
    Fault(
        "irrelevant weights five times as large",
        "claim-C.6a",
        step,
        CLOSE,
        step,
        "over_sparse_step",
        wide,
        small_network,
    ),
    *(
        Fault(
            "a sparsity that is too small",
            statement,
            theorem,
            "test_the_conditions_of_the_plain_theorem",
            theorem,
            "over_sparse_sizes",
            sizes_with(lambda found: {"least_sparsity": found.least_sparsity - 2}),
        )
        for statement in ("theorem-C.11", "theorem-6.4")
    ),
    Fault(
        "irrelevant weights larger by a fiftieth",
        "claim-C.6a",
        step,
        CLOSE,
        step,
        "over_sparse_step",
        a_little_wide,
        small_network,
    ),
    *(
        Fault(name, statement, theorem, check, theorem, "over_sparse_sizes", sizes_with(change))
        for statement in ("theorem-C.11", "theorem-6.4")
        for check in ("test_the_conditions_of_the_plain_theorem", "test_the_conditions_of_the_truncated_theorem")
        for name, change in [
            ("fewer steps by a fiftieth", lambda found: {"steps": found.steps * 49 // 50}),
            ("fewer samples by a fiftieth", lambda found: {"samples": found.samples * 49 // 50}),
            ("fewer pairs by a fiftieth", lambda found: {"pairs": found.pairs * 49 // 50}),
        ]
    ),
    *(
        Fault(name, statement, theorem, check, theorem, attribute, faulty, arguments)
        for statement in ("theorem-C.11", "theorem-6.4")
        for name, check, attribute, faulty, arguments in [
            (
                "a bias raised by a hundredth",
                "test_one_truncated_step_computes_the_parity",
                "over_sparse_network",
                lambda n, support, s, biases=None, exact=True: shifted(NETWORK(n, support, s, biases, exact=exact)),
                lambda: {"k": 2},
            ),
            (
                "noise above tau",
                "test_errors_up_to_tau_are_harmless",
                "over_sparse_sizes",
                unaware,
                lambda: {"n": 13, "k": 4, "s": 11},
            ),
            (
                "a read-out sign flipped",
                "test_errors_up_to_tau_are_harmless",
                "solve_readout",
                flipped,
                lambda: {"n": 9, "k": 2, "s": 7},
            ),
        ]
    ),
    Fault(
        "a thousandth of the samples",
        "theorem-C.11",
        theorem,
        "test_the_first_step_at_the_sizes_of_the_theorem",
        theorem,
        "over_sparse_sizes",
        few_samples,
        lambda: {"n": 14, "k": 2, "s": 9, "draws": 4},
    ),
    Fault(
        "irrelevant weights five times as large",
        "theorem-C.11",
        theorem,
        "test_the_loss_at_the_sparsity_of_the_theorem",
        theorem,
        "over_sparse_step",
        wide,
    ),
    Fault(
        "a network blind to the last relevant input",
        "definition-parity",
        learning,
        "test_a_parity_is_the_xor_of_its_bits",
        learning,
        "relu_network",
        lambda n, S, build=learning.relu_network: build(n, S[:-1] or S),
    ),
    Fault(
        "an oracle that looks at half of the sample",
        "fact-statistical-limit",
        learning,
        "test_exhaustive_search_around_the_limit",
        learning,
        "empirical_answers",
        lambda x, y, answers=learning.empirical_answers: answers(x[: len(x) // 2 + 1], y[: len(y) // 2 + 1]),
        lambda: {"n": 10, "k": 3},
    ),
    Fault(
        "the sample gradient with the wrong sign",
        "definition-algorithm",
        learning,
        "test_the_network_starts_at_zero_with_the_slope_of_the_labels",
        learning,
        "sample_gradients",
        lambda *arguments, gradients=learning.sample_gradients: -gradients(*arguments),
        lambda: {"n": 6, "k": 2, "s": 5},
    ),
    Fault(
        "samples that grow with n",
        "fact-interpolation",
        learning,
        "test_a_constant_sparsity",
        learning,
        "over_sparse_sizes",
        lambda n, *rest, **options: replace(SIZES(n, *rest, **options), samples=n),
    ),
    Fault(
        "samples of the untruncated step",
        "fact-interpolation",
        learning,
        "test_a_linear_sparsity",
        learning,
        "over_sparse_sizes",
        lambda n, *rest, **options: replace(
            SIZES(n, *rest, **options), samples=SIZES(n, *rest, **options).samples * n**2
        ),
    ),
    Fault(
        "an nth of the samples with truncation",
        "fact-interpolation",
        learning,
        "test_a_linear_sparsity",
        learning,
        "over_sparse_sizes",
        lambda n, *rest, **options: (
            replace(SIZES(n, *rest, **options), samples=SIZES(n, *rest, **options).samples // n)
            if not options
            else SIZES(n, *rest, **options)
        ),
    ),
    Fault(
        "an nth of the samples without truncation",
        "fact-interpolation",
        learning,
        "test_a_linear_sparsity",
        learning,
        "over_sparse_sizes",
        lambda n, *rest, **options: (
            replace(SIZES(n, *rest, **options), samples=SIZES(n, *rest, **options).samples // n)
            if options
            else SIZES(n, *rest, **options)
        ),
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "pareto-frontiers", monkeypatch, refusals=(ValueError,))
    step.setting.cache_clear()
