"""Wrong networks, steps, sizes, bounds and certificates of sparse parities: a deciding check sees each of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.parity import under_sparse
from lemmata.constructions.parity.over_sparse import SparseInitialization, SteppedNeurons
from lemmata.constructions.parity.under_sparse import UnderSparseStart, UnderSparseStep
from lemmata.numerics.parity.sparse_neurons import under_sparse_neuron
from lemmata.theorems.pareto_frontiers import test_cited_bounds as cited
from lemmata.theorems.pareto_frontiers import test_experiments as runs
from lemmata.theorems.pareto_frontiers import test_good_initializations as starts
from lemmata.theorems.pareto_frontiers import test_good_neurons as good
from lemmata.theorems.pareto_frontiers import test_kernel_bound as kernel
from lemmata.theorems.pareto_frontiers import test_lower_bound as low
from lemmata.theorems.pareto_frontiers import test_majority_half as half
from lemmata.theorems.pareto_frontiers import test_over_sparse_step as step
from lemmata.theorems.pareto_frontiers import test_over_sparse_theorem as over
from lemmata.theorems.pareto_frontiers import test_parity_learning as learning
from lemmata.theorems.pareto_frontiers import test_ramp_readouts as ramps
from lemmata.theorems.pareto_frontiers import test_sampled_steps as sampled
from lemmata.theorems.pareto_frontiers import test_second_layer as second
from lemmata.theorems.pareto_frontiers import test_under_sparse_correlation as cone
from lemmata.theorems.pareto_frontiers import test_under_sparse_gradients as gradients
from lemmata.theorems.pareto_frontiers import test_under_sparse_rate as rate
from lemmata.theorems.pareto_frontiers import test_under_sparse_step as under
from lemmata.theorems.pareto_frontiers.experiments import lottery, sweep
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name, scaled

RUN: dict[str, Any] = {"effort": Effort("quick"), "record_property": print}
CONVEX: dict[str, Any] = {"penalty": Fraction(1, 5), "seed": 1}


def planted(name: str, statement: str, check: Any, owner: Any, attribute: str, faulty: Any, **arguments: Any) -> Fault:
    return Fault(name, statement, sys.modules[check.__module__], check.__name__, owner, attribute, faulty, arguments)


def fed(function: Callable[..., Any], change: Callable[..., tuple[Any, ...]], **options: Any) -> Callable[..., Any]:
    """A function that is given other arguments."""
    return lambda *given, **known: function(*change(*given), **{**known, **options})


def sized(function: Callable[..., Any], size: str, change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function that returns several numbers, one of them changed."""
    return changed(function, lambda found: replace(found, **{size: change(getattr(found, size))}))


def not_mirrored(network: Any) -> Any:
    """The second half repeats the first and does not cancel it."""
    return replace(network, readout=abs(network.readout))


# fmt: off
FAULTS = [
    planted("the run forgets the decay", "definition-sq-sgd", low.test_the_two_trajectories_are_those_of_the_definition,
            low, "run_hidden", fed(low.run_hidden, lambda d, *rest: (replace(d, decay=0), *rest)), seed=0, decay=0.1),
    planted("noise beyond tau", "assumption-6.2", low.test_the_printed_assumption_hides_nothing,
            low, "run_hidden", fed(low.run_hidden, lambda d, view, *rest: (d, replace(view, tau=5 * view.tau), *rest))),
    planted("every run called hidden", "proposition-6.3", low.test_the_hidden_parities_of_networks, low, "run_hidden",
            sized(low.run_hidden, "hidden", lambda _: True), n=8, k=3, width=2, seed=0, record_property=print),
    planted("the printed constant", "proposition-6.3", low.test_the_step_of_markov,
            low, "view_bound", changed(low.view_bound, lambda share: (1 + share) / 2), n=5, k=2, r=2, T=1),
    planted("parities of another size", "lemma-C.1", low.test_a_parity_as_derivative_attains_the_bound,
            low, "parity_view", fed(low.parity_view, lambda d, t, T, k, tau: (d, t, T, 3 - k or 3, tau)), n=3),
    planted("the first query left out", "fact-escapes", low.test_exhaustive_search_with_constant_precision,
            low, "query_search", fed(low.query_search, lambda answer, sets, *r: (answer, sets[1:], *r)), n=5, k=2),
    planted("a feature left out", "fact-kernel-lower-bound", kernel.test_kernel_ridge_regression_on_every_parity,
            kernel, "feature_table", fed(kernel.feature_table, lambda table: (table[:, :-1],)), n=5, k=2, m=4, q=2),
    planted("the ascent of the objective", "lemma-C.9", second.test_the_last_iterate_against_the_certified_minimum,
            second, "subgradient_descent", fed(second.subgradient_descent, lambda x, *rest: (-x, *rest)), **CONVEX),
    planted("the least loss of another decay", "claim-C.9-1234",
            second.test_the_last_iterate_against_the_certified_minimum, second, "least_regularised_loss",
            fed(second.least_regularised_loss, lambda x, y, p, decay: (x, y, p, 2 * decay)), **CONVEX),
    planted("the loss of flipped labels", "lemma-C.7", second.test_the_loss_is_lipschitz_in_the_features, second,
            "regularised_loss", fed(second.regularised_loss, lambda x, *rest: (-x, *rest)), dimension=2),
    planted("the printed limit of the weights", "fact-cited-bounds", cited.test_the_weights_of_majority,
            cited, "majority_weight_limit", scaled(cited.majority_weight_limit, fmpq(1, 2)), s=7),
    planted("the irrelevant value with the wrong sign", "lemma-C.3", good.test_gradients_of_good_neurons,
            good, "over_sparse_values", sized(good.over_sparse_values, "irrelevant", lambda c: -c), n=11, k=2, s=9),
    planted("missing inputs left out", "lemma-C.4", good.test_gradients_of_bad_neurons, good, "sparse_gradient",
            fed(good.sparse_gradient, lambda w, S: (w, [i for i in S if i in w.ones])), n=11, k=2, s=9),
    planted("half of the sample", "lemma-C.5", sampled.test_every_entry_is_accurate,
            sampled, "sample_gradients", fed(sampled.sample_gradients, lambda drawn, x, y: (drawn, x[::2], y[::2]))),
    planted("bad neurons read as well", "lemma-C.6", step.test_features_and_loss_after_a_population_step,
            SteppedNeurons, "network", fed(SteppedNeurons.network, lambda after, u, used: (after, u, used | True)),
            size=step.SIZES[0]),
    planted("a step that truncates", "claim-C.6a", step.test_the_irrelevant_weights_change_the_loss_little,
            step, "over_sparse_step", fed(step.over_sparse_step, lambda *a: a, truncate=True), size=step.SIZES[0]),
    planted("every neuron called silent", "claim-C.6c", step.test_bad_neurons_are_silent_and_good_ones_move_little,
            SteppedNeurons, "silent", lambda after: np.ones(len(after.bias), dtype=bool), size=step.SIZES[0]),
    planted("the certificate of another grid", "claim-C.6b", ramps.test_no_read_out_of_the_printed_biases,
            ramps, "decide", lambda k, grid: ramps.missing_kink_multipliers(k, fmpq(1, 2)), k=4),
    planted("a read-out in another order", "claim-C.6b", ramps.test_a_read_out_with_the_further_bias,
            ramps, "solve_readout", sized(ramps.solve_readout, "plus", lambda plus: plus[::-1])),
    planted("a third of the width", "lemma-C.10", starts.test_the_mean_itself_is_met,
            starts, "good_pairs", changed(starts.good_pairs, lambda pairs: pairs // 3), size=(20, 2, 9)),
    planted("the certificate of another step", "theorem-C.11", over.test_no_read_out_after_the_step_reaches_one_half,
            over, "least_step_loss", fed(over.least_step_loss, lambda k, grid, s: (k, grid, s + 2)), s=17),
    planted("a tolerance without the read-out", "theorem-C.11", over.test_errors_up_to_tau_are_harmless, over,
            "over_sparse_sizes", sized(over.over_sparse_sizes, "tolerance", lambda tau: 16 * tau), n=13, k=4, s=11),
    planted("biases raised by a hundredth", "theorem-C.11", over.test_one_truncated_step_computes_the_parity, over,
            "over_sparse_network", sized(over.over_sparse_network, "bias", lambda bias: bias + fmpq(1, 100)), k=2),
    planted("half of the samples", "theorem-6.4", over.test_the_conditions_of_the_plain_theorem, over,
            "over_sparse_sizes", sized(over.over_sparse_sizes, "samples", lambda m: m // 2)),
    planted("a small part of the width", "theorem-6.4", over.test_constants_of_k_alone_serve_the_printed_form, over,
            "frontier_constants", sized(over.frontier_constants, "width", lambda c: c / 2**10), k=4),
    planted("rates twice as large", "theorem-6.4", over.test_falling_rates_lose_no_logarithm, over,
            "falling_rate_descent", fed(over.falling_rate_descent, lambda x, y, p, w, T: (x, y, p, 2 * w, T)), seed=0),
    planted("a start that is not 0", "definition-algorithm",
            learning.test_the_network_starts_at_zero_with_the_slope_of_the_labels, SparseInitialization, "network",
            changed(SparseInitialization.network, not_mirrored), n=6, k=2, s=5),
    planted("half of the sample", "fact-statistical-limit", learning.test_exhaustive_search_around_the_limit, learning,
            "empirical_answers", fed(learning.empirical_answers, lambda x, y: (x[:7], y[:7])), n=10, k=3),
    planted("the printed factor", "lemma-C.12", half.test_closed_form_equals_krawtchouk_sums,
            half, "half_coefficient", scaled(half.half_coefficient, 4**3), m=3),
    planted("the majority of odd sizes", "lemma-C.14", gradients.test_gradient_at_inputs_outside_of_the_support,
            gradients, "threshold_coefficient", fed(gradients.threshold_coefficient, lambda n, t: (n - 1 + n % 2, t)),
            n=10, k=6, s=4, common=4),
    planted("the values of two inputs more", "lemma-C.15", gradients.test_good_neurons_see_three_values,
            gradients, "under_sparse_values", fed(gradients.under_sparse_values, lambda n, k, s: (n + 2, k, s)), n=9),
    planted("small weights beside the ones", "fact-no-dense-part", gradients.test_no_gradient_without_small_weights,
            gradients, "over_sparse_neuron", lambda n, ones: under_sparse_neuron(n, ones, fmpq(1, 2 * n)),
            n=9, k=4, s=2, common=2),
    planted("a start that is not 0", "definition-init-under",
            gradients.test_the_start_vanishes_and_its_biases_change_no_gradient, UnderSparseStart, "network",
            changed(UnderSparseStart.network, not_mirrored), n=6, k=4, s=2),
    planted("a read-out in another order", "theorem-C.16", under.test_the_population_step_computes_the_parity,
            under_sparse, "readout_weights", changed(under_sparse.readout_weights, lambda u: u[::-1]), n=9, k=4, s=2),
    planted("the certificate of the opposite step", "theorem-C.16",
            cone.test_no_subnetwork_of_the_printed_step_correlates_by_half, cone, "best_correlation",
            fed(cone.best_correlation, lambda x, *rest: (-x, *rest)), k=4, s=2, direction=-1, bound=fmpq(38, 100)),
    planted("every neuron called good", "theorem-6.5", under.test_any_errors_within_the_tolerance_leave_the_accuracy,
            UnderSparseStep, "holds", lambda after, S: np.ones(after.network.width, dtype=bool), n=9, k=4, s=2),
    planted("half of the width", "theorem-6.5", under.test_the_width_hits_every_kink,
            under, "under_sparse_sizes", sized(under.under_sparse_sizes, "width", lambda width: width // 2)),
    planted("half of the share", "ext-few-neurons", rate.test_a_neuron_sees_the_parity_at_few_inputs,
            rate, "seen_share", scaled(rate.seen_share, fmpq(1, 2)), n=9, k=2),
    planted("one input more", "ext-few-neurons", rate.test_no_rate_decay_or_truncation_leaves_S_alone,
            rate, "step_spread", changed(rate.step_spread, lambda spread: spread + 1), n=15, k=2, s=0),
    planted("runs without decay", "figure-6.1", runs.test_width_makes_up_for_samples_and_late_generalisation_is_seen,
            sweep, "train_compiled", fed(sweep.train_compiled, lambda *a: a, decay=0.0), **RUN),
    planted("any neurons as tickets", "experiment-lottery",
            runs.test_rewound_neurons_learn_alone_more_often_than_others, lottery, "subnetwork",
            fed(lottery.subnetwork, lambda network, chosen: (network, np.arange(len(chosen)))), **RUN),
]
# fmt: on


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate of another object may also be refused by its verifier."""
    assert_seen(fault, "pareto-frontiers", monkeypatch, (ValueError,) if "certificate" in fault.name else ())
