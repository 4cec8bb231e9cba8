"""Faults planted in gaps, training and statistics: the deciding checks on experiments with parities see them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lemmata.numerics.fourier import gaps
from lemmata.numerics.parity import compiled_training, sinusoidal_neuron, training
from lemmata.numerics.runs import confidence, ranks, trends
from lemmata.theorems.hidden_progress import (
    test_descent,
    test_flipped_labels,
    test_network_runs,
    test_progress,
    test_sinusoid_gaps,
)
from lemmata.theorems.hidden_progress.experiments import descent, neurons, relu_networks
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

QUICK = Effort("quick")
WIDTHS = "test_medians_level_off_and_upper_tails_shorten_with_the_width"
DECAY = "test_weight_decay_widens_the_samples_that_suffice_until_it_is_too_large"
LABELS = "test_networks_learn_from_labels_that_are_almost_coins"
STEPS: Any = compiled_training._descend
GAP, MAJORITY = gaps.sinusoid_gap, gaps.majority_gap
DRAWN: dict[str, Any] = {"law": "gaussian", "k": 4, "effort": QUICK, "record_property": lambda name, value: None}

FAULTS = [
    *(
        Fault(
            name,
            "experiment-B.8-left",
            test_sinusoid_gaps,
            "test_relaxed_gaps_of_random_sinusoids",
            test_sinusoid_gaps,
            "sinusoid_gap",
            rewritten(GAP, old, new),
            DRAWN,
        )
        for name, old, new in (
            (
                "the sines larger by a fiftieth",
                "sine_product, cosine_product = arb(1)",
                "sine_product, cosine_product = arb(51) / 50",
            ),
            ("the cosines larger by a fiftieth", "= arb(1), arb(1)", "= arb(1), arb(51) / 50"),
            ("the phase a quarter turn off", "len(chosen) - 1)", "len(chosen))"),
            ("the irrelevant sine forgotten", "abs(sines[j] * rest * sine_product)", "abs(rest * sine_product)"),
            ("the relevant cosine forgotten", "abs(cosines[i] * rest", "abs(rest"),
        )
    ),
    Fault(
        "the gap of signs larger by a fiftieth",
        "experiment-B.8-left",
        test_sinusoid_gaps,
        "test_gaps_of_signs_are_comparable_at_every_length",
        test_sinusoid_gaps,
        "sinusoid_gap",
        rewritten(GAP, "= arb(1), arb(1)", "= arb(1), arb(51) / 50"),
        {"k": 2},
    ),
    Fault(
        "the gap of majority larger by a fiftieth",
        "experiment-B.8-left",
        test_sinusoid_gaps,
        "test_gaps_of_signs_are_comparable_at_every_length",
        test_sinusoid_gaps,
        "majority_gap",
        rewritten(MAJORITY, "abs(majority_coefficient(n, k - 1))", "51 * abs(majority_coefficient(n, k - 1)) / 50"),
        {"k": 2},
    ),
    *(
        Fault(
            name,
            statement,
            test_progress,
            test,
            sinusoidal_neuron,
            "_descend",
            rewritten(sinusoidal_neuron._descend, old, new),
            {"effort": QUICK},
        )
        for statement, test in (
            ("experiment-5.3", "test_weights_move_while_the_accuracy_is_flat"),
            ("experiment-B.8-right", "test_the_relaxed_gap_grows_along_sgd"),
        )
        for name, old, new in (
            ("steps longer by a fiftieth", "rate * neurons.scale", "1.02 * rate * neurons.scale"),
            ("the bias stays", "neurons.biases += pull.sum(axis=1)", "pass"),
        )
    ),
    *(
        Fault(
            name,
            "experiment-5.3",
            test_progress,
            "test_weights_move_while_the_accuracy_is_flat",
            sinusoidal_neuron,
            "_record",
            rewritten(sinusoidal_neuron._record, old, new),
            {"effort": QUICK},
        )
        for name, old, new in (
            ("the largest relevant weight", "sizes[:, :k].min(", "sizes[:, :k].max("),
            ("irrelevant weights larger by a fiftieth", "sizes[:, k:].max(", "1.02 * sizes[:, k:].max("),
            ("the mean movement", "- start).max(axis=1)", "- start).mean(axis=1)"),
            ("the movement of relevant weights alone", "- start).max(", "- start)[:, :k].max("),
            ("the accuracy on a larger parity", "held[:, :k]", "held[:, : k + 1]"),
        )
    ),
    Fault(
        "labels of neurons flipped more often by a fiftieth",
        "experiment-5.3",
        test_progress,
        "test_weights_move_while_the_accuracy_is_flat",
        test_progress,
        "train_neurons",
        rewritten(sinusoidal_neuron.train_neurons, "< noise, -y", "< 1.02 * noise, -y"),
        {"effort": QUICK},
    ),
    Fault(
        "starts of neurons larger by a fiftieth",
        "experiment-5.3",
        test_progress,
        "test_weights_move_while_the_accuracy_is_flat",
        test_progress,
        "initial_neurons",
        rewritten(sinusoidal_neuron.initial_neurons, "weights / math.sqrt(n), b", "1.02 * weights / math.sqrt(n), b"),
        {"effort": QUICK},
    ),
    Fault(
        "a shift for one input more",
        "experiment-5.3",
        test_progress,
        "test_weights_move_while_the_accuracy_is_flat",
        sinusoidal_neuron,
        "parity_shift",
        rewritten(sinusoidal_neuron.parity_shift, "(k - 1) % 4", "k % 4"),
        {"effort": QUICK},
    ),
    *(
        Fault(
            name,
            "definition-progress-measure",
            test_progress,
            "test_weights_are_random_walks_with_the_drift_of_the_gradient",
            owner,
            attribute,
            rewritten(function, old, new),
        )
        for name, owner, attribute, function, old, new in (
            (
                "steps longer by a fiftieth",
                sinusoidal_neuron,
                "_descend",
                sinusoidal_neuron._descend,
                "rate * neurons.scale",
                "1.02 * rate * neurons.scale",
            ),
            (
                "one sample less in the mean",
                sinusoidal_neuron,
                "_descend",
                sinusoidal_neuron._descend,
                "x.shape[1])",
                "(x.shape[1] - 1))",
            ),
            (
                "the sines taken for cosines",
                test_progress,
                "sinusoid_coefficient",
                gaps.sinusoid_coefficient,
                "sines[i] if i in T else cosines[i]",
                "cosines[i] if i in T else sines[i]",
            ),
        )
    ),
    Fault(
        "a permutation test of the other side",
        "definition-progress-measure",
        test_progress,
        "test_movement_and_relevant_weights_predict_the_time_left",
        neurons,
        "rank_correlation",
        rewritten(ranks.rank_correlation, "drawn <= observed", "drawn >= observed"),
        {"effort": QUICK},
    ),
    Fault(
        "ties broken by their order",
        "definition-progress-measure",
        test_progress,
        "test_movement_and_relevant_weights_predict_the_time_left",
        neurons,
        "rank_correlation",
        rewritten(ranks.rank_correlation, "stats.rankdata(values)", 'stats.rankdata(values, "ordinal")'),
        {"effort": QUICK},
    ),
    Fault(
        "neurons of networks take longer steps",
        "experiment-5.3",
        test_progress,
        "test_weights_move_while_the_accuracy_is_flat",
        compiled_training,
        "_descend",
        lambda *args: STEPS(*args[:-2], args[-2] * np.float32(1.02), args[-1]),
        {"effort": QUICK},
    ),
    Fault(
        "labels that are never flipped",
        "experiment-5.3",
        test_progress,
        "test_weights_move_while_the_accuracy_is_flat",
        compiled_training,
        "_descend",
        lambda *args: STEPS(*args[:-3], 0.0, *args[-2:]),
        {"effort": QUICK},
    ),
    Fault(
        "the gap of the cosine",
        "experiment-B.8-right",
        test_progress,
        "test_the_relaxed_gap_grows_along_sgd",
        neurons,
        "sinusoid_gap",
        rewritten(GAP, "len(chosen) - 1)", "len(chosen))"),
        {"effort": QUICK},
    ),
    Fault(
        "cosines larger by a fiftieth",
        "experiment-B.8-right",
        test_progress,
        "test_the_relaxed_gap_grows_along_sgd",
        neurons,
        "sinusoid_gap",
        rewritten(GAP, "= arb(1), arb(1)", "= arb(1), arb(51) / 50"),
        {"effort": QUICK},
    ),
    *(
        Fault(
            name,
            statement,
            module,
            check,
            compiled_training,
            "_descend",
            faulty,
            {"effort": QUICK},
        )
        for statement, module, check in (
            ("experiment-5.4-left-B.10", test_network_runs, WIDTHS),
            ("experiment-5.4-right-B.11", test_network_runs, DECAY),
            ("experiment-B.12", test_flipped_labels, LABELS),
        )
        for name, faulty in (
            ("steps longer by a fiftieth", lambda *args: STEPS(*args[:-2], args[-2] * np.float32(1.02), args[-1])),
            *(
                [("no weight decay", lambda *args: STEPS(*args[:-1], np.float32(1)))]
                if check == DECAY
                else [("batches of one sample less", lambda *args: STEPS(*args[:-4], args[-4] - 1, *args[-3:]))]
            ),
        )
    ),
    Fault(
        "labels flipped more often by a fiftieth",
        "experiment-B.12",
        test_flipped_labels,
        LABELS,
        compiled_training,
        "_descend",
        lambda *args: STEPS(*args[:-3], 1.02 * args[-3], *args[-2:]),
        {"effort": QUICK},
    ),
    *(
        Fault(
            name,
            "experiment-B.13",
            test_descent,
            "test_the_rate_of_descent_grows_with_width_and_batch",
            training,
            function.__name__,
            rewritten(function, old, new),
            {"effort": QUICK},
        )
        for name, function, old, new in (
            ("steps longer by a fiftieth", training._descend, "np.float32(rate) * g", "np.float32(1.02 * rate) * g"),
            ("a power too low in the slope", training.network_gradient, "network.degree - 1)", "network.degree)"),
            ("the factor of the power forgotten", training.network_gradient, "np.float32(network.degree) *", ""),
            ("the output bias forgotten", training.network_output, " + network.output_bias", ""),
        )
    ),
    *(
        Fault(
            name,
            statement,
            module,
            check,
            owner,
            function.__name__,
            rewritten(function, old, new),
            {"effort": QUICK},
        )
        for name, statement, module, check, owner, function, old, new in (
            (
                "a bootstrap of one half of the level",
                "experiment-5.4-left-B.10",
                test_network_runs,
                WIDTHS,
                relu_networks,
                ranks.bootstrap_interval,
                "drawn, level)",
                "drawn, level / 2)",
            ),
            (
                "a trend of the other side",
                "experiment-5.4-right-B.11",
                test_network_runs,
                DECAY,
                relu_networks,
                trends.trend_test,
                "norm.sf(z)",
                "norm.cdf(z)",
            ),
            (
                "ranks of the other side",
                "experiment-B.12",
                test_flipped_labels,
                LABELS,
                relu_networks,
                ranks.rank_correlation,
                "drawn <= observed",
                "drawn >= observed",
            ),
            (
                "intervals of twice the width",
                "experiment-B.13",
                test_descent,
                "test_the_rate_of_descent_grows_with_width_and_batch",
                descent,
                confidence.mean_interval,
                "float(stats.t.ppf",
                "2 * float(stats.t.ppf",
            ),
        )
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "hidden-progress", monkeypatch)
