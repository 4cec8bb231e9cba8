"""Wrong networks, bounds, certificates and runs in the place of the library's: the deciding checks see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.parity.polynet_flow import arithmetic_mean
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name

CHAPTER = "lemmata.theorems.hidden_progress."
REFUSED = ("find", "sign_rank_bound")  # what is wrong with these, the library itself refuses
QUICK: dict[str, Any] = {"effort": Effort("quick")}
RECORD: dict[str, Any] = {"record_property": lambda name, value: None}
CERTIFIED: dict[str, Any] = QUICK | RECORD | {"n": 50, "k": 3, "seeds": 1}
X = sign_inputs(6)
PLANTED = X[:, :3] @ [8, 4, 0] + X[:, :3].prod(axis=1)  # at S = {0, 1} with the gap 4 - 1
Wrong = Callable[[Callable[..., Any]], Callable[..., Any]]


def taking(at: int, change: Callable[[Any], Any]) -> Wrong:
    """One of the positional arguments is changed."""
    return lambda f: lambda *args, **named: f(*args[:at], change(args[at]), *args[at + 1 :], **named)


def forced(**fixed: Any) -> Wrong:
    """Some of the named arguments are these, whatever is given."""
    return lambda f: lambda *args, **named: f(*args, **{**named, **fixed})


def giving(change: Callable[[Any], Any]) -> Wrong:
    """The result is changed."""
    return lambda f: changed(f, change)


def parts(**changes: Callable[[Any], Any]) -> Wrong:
    """Parts of what is built are changed afterwards."""
    return giving(lambda built: replace(built, **{name: new(getattr(built, name)) for name, new in changes.items()}))


def another(S: Any) -> list[int]:
    return [i + 1 for i in S]


def planted(check: str, statement: str, name: str, place: str, wrong: Wrong, *arguments: Any) -> Fault:
    """A fault in a public name of the check's module, or of another one of the chapter in front of a dot."""
    module_name, check = check.split(".")
    module = import_module(f"{CHAPTER}test_{module_name}")
    *elsewhere, attribute = place.split(".")
    owner = import_module(CHAPTER + elsewhere[0]) if elsewhere else module
    faulty = wrong(getattr(owner, attribute))
    return Fault(name, statement, module, f"test_{check}", owner, attribute, faulty, *arguments)


def weights(relevant: Any, irrelevant: Any) -> Wrong:
    """The first layer of a network after the step with other weights."""

    def wrong(f: Callable[..., Any]) -> Callable[..., Any]:
        def built(n: int, k: int, **named: Any) -> Any:
            network = f(n, k, **named)
            factors = np.array([relevant(k)] * k + [irrelevant] * (n - k), dtype=object)
            if network.hidden.dtype != object:
                factors = np.array([int(q.p) / int(q.q) for q in factors])
            return replace(network, hidden=network.hidden * factors)

        return built

    return wrong


ROWS: list[tuple[Any, ...]] = [
    # gaps and gradients
    ("certified_runs.trained_networks_compute_the_parity_at_all_inputs", "ext-certified-run", "other inputs forgotten",
     "margin_bounds", lambda f: lambda W, *rest: f(W * (np.arange(W.shape[1]) < 3), *rest), CERTIFIED),
    ("certified_runs.trained_networks_compute_the_parity_at_all_inputs", "ext-certified-run", "a tenth of the decay",
     "train_compiled", lambda f: lambda *at, decay, **known: f(*at, decay=decay / 10, **known), CERTIFIED),
    ("search.the_search_finds_the_support", "unnumbered-weak-to-strong", "the last candidate forgotten",
     "heavy_coefficients", giving(lambda found: found[:-1]), {"n": 12, "S": (2, 5, 7), **RECORD}),
    ("majority_gap.closed_form_and_ratio_equal_krawtchouk_sums", "lemma-B.1", "signs forgotten",
     "majority_coefficient", giving(abs), {"first": 0}),
    ("majority_gap.majority_has_no_gap_at_odd_k", "lemma-B.2", "the gap of the even size below",
     "majority_gap", taking(1, lambda k: k - k % 2), {"n": 13, "k": 3}),
    ("population_gradient.closed_form_of_the_population_gradient", "lemma-B.3", "signs forgotten",
     "majority_coefficient", giving(abs), {"n": 5, "k": 4, **QUICK}),
    ("random_neurons.the_largest_entry_is_in_the_support", "definition-Gamma", "inputs outside forgotten",
     "fourier_gap", parts(strongest_above=lambda g: 0), {"seed": 1, "k": 3}),
    ("recovery.the_largest_entries_are_the_support", "proposition-B.7", "the strongest member for the weakest",
     "fourier_gap", giving(lambda gap: replace(gap, weakest_below=gap.strongest_below)),
     {"case": (PLANTED, (0, 1), fmpq(3)), "data": SimpleNamespace(draw=lambda _: 99)}),
    ("recovery.the_support_is_read_off_one_batch", "unnumbered-majority-recovery", "labels of another parity",
     "batch_gradient", taking(3, another), {"n": 11, "k": 2, **QUICK}),
    # networks that represent parities
    ("parity_transformer.the_network_is_the_printed_formula", "definition-MLP", "no biases",
     "TwoLayerNetwork", taking(1, lambda b: 0 * b), {"seed": 0}),
    ("parity_transformer.the_steps_of_the_error_bound", "construction-parity-transformer", "the MLP first",
     "parity_transformer", parts(transformer=lambda t: replace(t, layers=t.layers[::-1]))),
    ("parity_representations.two_layer_networks_represent_every_parity", "construction-MLP-width-k", "one sign turned",
     "relu_network", parts(readout=lambda u: np.append(u[:-1], -u[-1])), {"name": "relu", "extra": 0}),
    ("width_claims.every_pattern_of_activation_is_refuted", "construction-MLP-width-k", "one requirement forgotten",
     "find", taking(0, lambda system: system[:-1]), {"k": 2, "half_spaces": 14, "candidates": 9, "classes": 4}),
    ("parity_representations.a_zigzag_neuron_represents_every_parity", "construction-zigzag", "two signs more",
     "Zigzag", taking(0, lambda k: k + 2)),
    ("parity_representations.an_oscillating_polynomial_represents_every_parity", "construction-oscillating-polynomial",
     "two signs more", "OscillatingPolynomial", taking(0, lambda k: k + 2)),
    ("parity_representations.the_triangle_wave_of_period_four_represents_every_parity",
     "construction-infinite-zigzag", "the printed wave", "TriangleWave", forced(period=2, crest=0)),
    ("parity_representations.a_sinusoidal_neuron_represents_every_parity", "construction-sinusoid", "two signs more",
     "Sinusoid", taking(0, lambda k: k + 2)),
    ("parity_representations.a_polynet_without_biases_represents_every_parity", "construction-polynet",
     "the last factor twice", "polynet", parts(weights=lambda W: W[[*range(1, len(W)), -1]])),
    ("layerwise.depth_l_represents_parities_up_to_two_to_the_l_minus_one", "construction-layerwise",
     "the printed network", "quadratic_network", parts(output_bias=lambda c: 0), {"depth": 3, "n": 6}),
    ("polynet_flow.first_unit_vectors_give_the_parity", "definition-disjoint-polynet", "the first factor left out",
     "PolyNet", lambda f: lambda W, b: f(W[1:], b[1:]), {"k": 3, "block": 3}),
    # one step of SGD, and the second layer after it
    ("population_gradient.paired_network_vanishes_at_every_input", "construction-unbiased-init", "equal signs",
     "TwoLayerNetwork", taking(2, abs), {"n": 3, "k": 2, "r": 2}),
    ("post_step_network.the_repaired_network_has_no_hinge_loss_without_noise", "lemma-B.4", "neurons reversed",
     "post_step_network", parts(readout=lambda u: u[::-1]), {"k": 4}),
    ("post_step_network.the_repaired_network_has_no_hinge_loss_without_noise", "lemma-B.4", "weights 1/(2k + 1)",
     "post_step_network", weights(lambda k: fmpq(2 * k, 2 * k + 1), fmpq(1)), {"k": 4}),
    ("post_step_network.a_perturbed_network_of_the_lemmas_size", "lemma-B.4", "irrelevant weights ten times as large",
     "post_step_network", weights(lambda k: fmpq(1), fmpq(10))),
    ("post_step_network.no_second_layer_on_the_printed_neurons_works", "claim-B.4.5", "the repaired neurons",
     "post_step_network", forced(printed=False), {"k": 4}),
    ("one_step.weights_after_an_accurate_step", "claim-B.4.1", "the gradient of another parity",
     "sign_gradient", taking(1, another), {"n": 7, "k": 4}),
    ("learned_features.tails_of_the_largest_deviations", "claim-B.4.4", "the threshold of the printed proof",
     "noise_threshold", giving(lambda t: t / 2), {"k": 4, "epsilon": fmpq(1, 10)}),
    ("sign_classes.some_class_of_the_network_is_the_parity", "lemma-B.5", "the next neurons read out",
     "class_readout", giving(lambda u: np.roll(u, 1)), {"seed": 1, "k": 4}),
    ("sign_classes.some_class_of_the_network_is_the_parity", "lemma-B.5", "the next neurons read out of two inputs",
     "class_readout", giving(lambda u: np.roll(u, 1)), {"seed": 1, "k": 2}),
    ("sign_classes.two_inputs_have_a_second_layer_as_often_as_stated", "lemma-B.5", "no pair at the bias 1/2 needed",
     "no_readout_probability_for_two", taking(0, lambda pairs: pairs + 1)),
    ("sign_classes.the_loss_at_the_printed_tau", "lemma-B.5", "half of the distance",
     "feature_distance", giving(lambda d: d / 2), {"k": 4, "eps": fmpq(1, 10)}),
    ("sign_classes.full_classes_are_as_frequent_as_stated", "lemma-B.5", "a read-out that never refuses",
     "class_readout", lambda f: lambda *args: None),
    ("one_step.batches_are_accurate", "claim-B.5.1", "the sign", "sign_gradient", giving(lambda g: -g), QUICK),
    ("convex_sgd.the_second_layer_of_a_network", "theorem-B.6", "labels forgotten",
     "network_gradient", taking(2, lambda y: y * y), {"k": 2}),
    ("convex_sgd.the_second_layer_of_a_network", "theorem-B.6", "half of the gradient", "network_gradient",
     giving(lambda found: (found[0], tuple(part / 2 for part in found[1]))), {"k": 2}),
    ("convex_sgd.the_second_layer_of_a_network", "theorem-B.6", "a hinge without its kink", "network_gradient",
     lambda f: lambda network, x, y: f(replace(network, readout=0 * network.readout), x, y), {"k": 4}),
    ("sgd_sizes.the_printed_width_rate_and_steps_suffice", "theorem-5.5-full", "half of the width",
     "sgd_loss_bound", taking(3, lambda width: width // 4 * 2), {"k": 4, "epsilon": fmpq(1, 10)}),
    ("sgd_sizes.second_moments_of_features", "informal-theorem-5.2", "two inputs more",
     "feature_moment", taking(0, lambda n: n + 2), {"n": 7, "k": 4}),
    ("short_batch.the_short_form", "theorem-5.5", "half of the batch",
     "short_batch", giving(lambda batch: batch / 2), {"k": 2, "epsilon": fmpq(1, 10)}),
    # fixed features and random networks
    ("kernels.the_bound_is_attained", "theorem-5.6", "weights outside of the ball",
     "best_fit", taking(2, lambda radius: radius * 51 / 50), {"radius": Fraction(1, 2)}),
    ("fixed_features.the_bound_is_below_the_dimension_of_a_representation", "unnumbered-NTK-size",
     "a certificate of one dimension more", "sign_rank_bound", parts(dimension=lambda D: D + 1)),
    ("fixed_features.the_square_loss_of_fixed_features", "unnumbered-NTK-size", "sets in another order",
     "parity_matrix", giving(lambda A: A[:, ::-1])),
    ("random_networks.the_tail_of_sparse_entries", "unnumbered-random-search", "twice the exponent",
     "linear_tail", giving(lambda tail: tail**2)),
    # PolyNets
    ("polynet_flow.equality_for_equal_weights", "lemma-B.8", "a block left out",
     "growth_time", taking(0, lambda initial: initial[1:]), {"k": 4}),
    ("polynet_flow.envelopes_of_q", "equation-B.8", "the other mean of the squares",
     "geometric_mean", lambda f: arithmetic_mean, {"initial": [fmpq(1), fmpq(2), fmpq(3)], "growth": 10}),
    ("polynet_error.the_error_equals_enumeration", "definition-err", "ties counted as right",
     "polynet_error", taking(0, lambda v: [x + fmpq(1, 4) for x in v]), {"blocks": [(fmpq(1), (1, 1, 1))] * 2}),
    ("polynet_error.the_printed_upper_bound_fails", "lemma-B.9", "an irrelevant weight left out", "polynet_error",
     taking(1, lambda u: [row[1:] for row in u]), {"k": 1, "m": 3, "v": fmpq(299, 100), "error": fmpq(1, 8)}),
    ("polynet_flow.the_share_of_time_after_the_plateau", "theorem-5.7", "a plateau of half the weight",
     "plateau_end", giving(lambda b: max(b // 2, 1)), {"k": 4, **QUICK}),
    ("gaussian_plateau.the_share_of_time_left", "theorem-5.7-full", "growth faster by a fiftieth",
     "growth_time", giving(lambda t: t * fmpq(49, 50)), {"k": 3}),
    ("gaussian_plateau.sums_of_gaussian_weights_spread", "theorem-5.7-full", "all signs equal",
     "signed_sum_counts", lambda f: lambda u: {sum(u): 2 ** (len(u) - 1), -sum(u): 2 ** (len(u) - 1)}, QUICK),
    ("gaussian_plateau.the_error_of_gaussian_weights_by_enumeration", "theorem-5.7-full", "signs of relevant weights",
     "polynet_error", taking(0, lambda v: [abs(x) for x in v])),
    ("polynet_flow.the_share_of_time_after_the_plateau", "informal-theorem-5.3", "a plateau of half the weight",
     "plateau_end", giving(lambda b: max(b // 2, 1)), {"k": 4, **QUICK}),
    ("polynet_sgd.runs_reach_error_zero", "theorem-5.8-full", "a single step",
     "train_polynet", taking(1, lambda steps: 1), {"k": 2, "block": 2, **QUICK}),
    ("polynet_sgd.runs_reach_error_zero", "theorem-5.8", "a relevant weight of the other sign",
     "train_polynet", taking(0, lambda w: [-w[0], *w[1:]]), {"k": 2, "block": 1, **QUICK}),
    ("polynet_sgd.runs_reach_error_zero", "claim-B.11", "a start twice as large",
     "train_polynet", taking(0, lambda w: 2 * w), {"k": 2, "block": 2, **QUICK}),
    ("polynet_sgd.runs_reach_error_zero", "claim-B.12", "a slack without the linear term",
     "train_polynet", parts(smallest_slack=lambda slack: slack + 0.01), {"k": 2, "block": 1, **QUICK}),
    # runs
    ("progress.weights_are_random_walks_with_the_drift_of_the_gradient", "definition-progress-measure",
     "steps longer by a fiftieth", "train_neurons", forced(rate=1.02e-3)),
    ("network_runs.weight_decay_widens_the_samples_that_suffice_until_it_is_too_large", "experiment-5.4-right-B.11",
     "no weight decay", "standing.train_compiled", forced(decay=0.0), QUICK),
    ("experiments_architectures.architectures_learn_at_a_moderate_batch", "empirical-finding-5.1",
     "always the hinge loss", "standing.train_architecture", forced(loss="hinge"), QUICK),
    ("experiments_architectures.some_settings_have_unlucky_starts", "experiment-B.3-B.4", "runs grouped by seeds",
     "group_share", taking(0, lambda groups: list(zip(*groups, strict=True))), QUICK),
]  # fmt: skip
FAULTS = [planted(*row) for row in ROWS]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "hidden-progress", monkeypatch, (ValueError,) * (fault.attribute in REFUSED))
