"""Faults planted in distances of features, bounds on sign ranks, quadratic networks and batches: checks see them."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq

import lemmata.certificates.duality.sign_rank as sign_rank
import lemmata.certificates.duality.span_fit as span_fit
import lemmata.constructions.parity.quadratic as quadratic
import lemmata.numerics.parity.batch_noise as batch_noise
import lemmata.numerics.parity.feature_distance as distances
import lemmata.numerics.parity.quadratic_training as training
import lemmata.numerics.parity.random_networks as random_networks
import lemmata.theorems.hidden_progress.experiments.quadratic as experiment
from lemmata.theorems.hidden_progress import (
    test_fixed_features,
    test_layerwise,
    test_layerwise_training,
    test_learned_features,
    test_random_networks,
    test_short_batch,
)
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

STEP: dict[str, Any] = {"n": 7, "k": 2}
PARITIES: tuple[str, dict[str, Any]] = ("test_signs_need_the_root_of_the_number_of_parities", {"n": 6, "k": 3})
CUBE: tuple[str, dict[str, Any]] = ("test_the_bound_is_below_the_dimension_of_a_representation", {})
NOISE: tuple[str, dict[str, Any]] = ("test_the_noise_of_all_batches", {"n": 3, "k": 2, "batch": 2})
SHORT: tuple[str, dict[str, Any]] = ("test_the_short_form", {"k": 2, "epsilon": fmpq(1, 10)})
SHORT_FOUR: tuple[str, dict[str, Any]] = ("test_the_short_form", {"k": 4, "epsilon": fmpq(1, 10)})
NEAR, FAR = "test_no_parity_is_nearer_than_the_bound_for_a_network", "test_wide_inputs_leave_no_network_near_a_parity"
INTERVAL = experiment.proportion_interval
TAILS: dict[str, Any] = {"k": 4, "epsilon": fmpq(1, 10)}

FAULTS = [
    *(
        Fault(
            name,
            "claim-B.4.4",
            test_learned_features,
            "test_tails_of_the_largest_deviations",
            test_learned_features,
            attribute,
            rewritten(getattr(distances, attribute), old, new),
            TAILS,
        )
        for name, attribute, old, new in (
            ("the noise larger by a fiftieth", "feature_distance", "* threshold +", "* threshold * fmpq(51, 50) +"),
            ("the noise smaller by a fiftieth", "feature_distance", "* threshold +", "* threshold * fmpq(49, 50) +"),
            ("the shift of the bias forgotten", "feature_distance", "+ ratio / k", ""),
            ("the threshold of the printed proof", "noise_threshold", "2 * n *", "n / arb(2) *"),
            ("the threshold larger by a fiftieth", "noise_threshold", "(2 * n *", "fmpq(51, 50) * (2 * n *"),
            ("epsilon forgotten", "noise_threshold", "2 * k / arb(epsilon)", "2 * k / arb(1)"),
            ("the accuracy larger by a fiftieth", "largest_ratio", "arb(delta) * k", "arb(delta) * k * fmpq(51, 50)"),
            ("the accuracy smaller by a fiftieth", "largest_ratio", "arb(delta) * k", "arb(delta) * k * fmpq(49, 50)"),
        )
    ),
    *(
        Fault(
            name,
            "claim-B.4.4",
            test_learned_features,
            "test_features_after_the_step",
            owner,
            attribute,
            rewritten(getattr(distances, attribute), old, new),
            STEP,
        )
        for name, owner, attribute, old, new in (
            ("the coefficient of order k + 1 larger", test_learned_features, "irrelevant_weight", "k - 1,", "k,"),
            (
                "the error of irrelevant weights forgotten",
                test_learned_features,
                "irrelevant_weight",
                "+ ratio / k",
                "",
            ),
            ("the irrelevant weights in the range", distances, "irrelevant_weight", "+ ratio / k", "+ ratio / (k + 1)"),
            ("one input less in the range", test_learned_features, "feature_range", "(n - k)", "(n - k - 1)"),
            (
                "the relevant weights at half",
                test_learned_features,
                "feature_range",
                "fmpq(1, 2) + ratio",
                "fmpq(1, 2)",
            ),
        )
    ),
    *(
        Fault(
            name,
            "unnumbered-NTK-size",
            test_fixed_features,
            check,
            owner,
            attribute,
            rewritten(getattr(sign_rank, attribute), old, new),
            arguments,
        )
        for name, check, arguments, owner, attribute, old, new in (
            ("a dimension more", *PARITIES, test_fixed_features, "sign_rank_bound", ">= total", "> 2 * total"),
            ("the columns forgotten", *PARITIES, test_fixed_features, "sign_rank_bound", "(rows * columns)", "rows"),
            ("the power counted once", *CUBE, test_fixed_features, "sign_rank_bound", "D ** (2 * power)", "D**power"),
            (
                "the size of another set",
                *PARITIES,
                test_fixed_features,
                "parity_sign_rank_bound",
                "comb(n, k)",
                "comb(n, k + 1)",
            ),
            ("the root rounded down", *PARITIES, test_fixed_features, "parity_sign_rank_bound", ") + 1", ")"),
            (
                "one row less in the sum",
                *PARITIES,
                sign_rank,
                "_row_sum",
                "abs(int(entry)) for entry in row",
                "abs(int(entry)) // 2 for entry in row",
            ),
            ("the least row sum", *CUBE, sign_rank, "_row_sum", "return max(", "return min("),
            (
                "a fiftieth of the norm forgotten",
                *CUBE,
                sign_rank,
                "_row_sum",
                "return max(sum(abs(int(entry)) for entry in row) for row in result.tolist())",
                "return 49 * max(sum(abs(int(entry)) for entry in row) for row in result.tolist()) // 50",
            ),
            (
                "sets of another size",
                *PARITIES,
                test_fixed_features,
                "parity_matrix",
                "combinations(range(n), k)",
                "combinations(range(n), k - 1)",
            ),
        )
    ),
    Fault(
        "losses larger by a fiftieth",
        "unnumbered-NTK-size",
        test_fixed_features,
        "test_the_square_loss_of_fixed_features",
        test_fixed_features,
        "span_residuals",
        rewritten(span_fit.span_residuals, "1 - size / 2**n", "1 - 49 * size / (50 * 2**n)"),
    ),
    Fault(
        "a projection that is not one",
        "unnumbered-NTK-size",
        test_fixed_features,
        "test_the_square_loss_of_fixed_features",
        test_fixed_features,
        "span_residuals",
        rewritten(
            span_fit.span_residuals, "(basis.transpose() * basis).solve(correlations)", "correlations * fmpq(1, 2**n)"
        ),
    ),
    *(
        Fault(
            name,
            "construction-layerwise",
            test_layerwise_training,
            "test_the_first_runs_of_a_cell_come_out_again",
            experiment,
            attribute,
            rewritten(getattr(training, attribute), old, new),
            {"key": "three-n10-k4"},
        )
        for name, attribute, old, new in (
            ("the parity of one sign more", "train_quadratic", "sizes, k, seed", "sizes, k + 1, seed"),
            ("a larger start", "initial_quadratic", "size=(r, s)) / math.sqrt(s)", "size=(r, s))"),
            ("no biases at the start", "initial_quadratic", "b[i, :r] = rng", "b[i, :r] = 0 * rng"),
        )
    ),
    *(
        Fault(
            name,
            "construction-layerwise",
            test_layerwise,
            "test_depth_l_represents_parities_up_to_two_to_the_l_minus_one",
            test_layerwise,
            "quadratic_network",
            rewritten(quadratic.quadratic_network, old, new),
            {"depth": 3, "n": 5},
        )
        for name, old, new in (
            ("the readout larger by a fiftieth", "[fmpq(1, 2)] if", "[fmpq(51, 100)] if"),
            ("the difference of factors as their sum", "factors[::2] - factors[1::2]", "factors[::2] + factors[1::2]"),
            ("the constant of a product forgotten", "fmpq(-1), dtype", "fmpq(0), dtype"),
            ("factors that are missing are 0", "int(i >= len(indices))", "0 * i"),
        )
    ),
    Fault(
        "a tail with twice the exponent",
        "unnumbered-random-search",
        test_random_networks,
        "test_the_tail_of_sparse_entries",
        test_random_networks,
        "linear_tail",
        rewritten(random_networks.linear_tail, "/ 24", "/ 12"),
    ),
    *(
        Fault(
            name,
            "construction-layerwise",
            test_layerwise_training,
            "test_a_step_has_the_printed_rate_and_batch",
            test_layerwise_training,
            "train_quadratic",
            rewritten(training.train_quadratic, old, new),
            {"k": 2},
        )
        for name, old, new in (
            ("the rate larger by a fiftieth", "rate: float = 0.01", "rate: float = 0.0102"),
            ("a batch of one sample more", "count, batch, rate,", "count, batch + 1, rate,"),
        )
    ),
    Fault(
        "runs that converge counted twice",
        "construction-layerwise",
        test_layerwise_training,
        "test_end_to_end_training_works",
        experiment,
        "proportion_interval",
        lambda successes, trials: INTERVAL(min(2 * successes, trials), trials),
        {"effort": Effort("quick"), "record_property": lambda *args: None},
    ),
    *(
        Fault(
            name,
            "theorem-5.5",
            test_short_batch,
            check,
            owner,
            attribute,
            rewritten(getattr(batch_noise, attribute), old, new),
            arguments,
        )
        for name, (check, arguments), owner, attribute, old, new in (
            ("the dimension without the bias", NOISE, test_short_batch, "noise_tail", "fmpq(n + 1, 2)", "fmpq(n, 2)"),
            (
                "the exponent larger by a fiftieth",
                NOISE,
                test_short_batch,
                "noise_tail",
                "square / 16",
                "square * 51 / 800",
            ),
            ("the bias forgotten", NOISE, test_short_batch, "noisy_moment", " + bias**2", ""),
            ("the noise without the bias", NOISE, test_short_batch, "noisy_moment", "(n + 1) / (k**2", "n / (k**2"),
            ("the irrelevant weights forgotten", NOISE, test_short_batch, "noisy_moment", "(k - 1) ** 2", "0"),
            (
                "the relevant weights larger",
                NOISE,
                test_short_batch,
                "noisy_moment",
                "fmpq(1, 4 * k)",
                "fmpq(51, 200 * k)",
            ),
            ("a larger logarithm", SHORT, test_short_batch, "short_logarithm", "(128 *", "(130 *"),
            (
                "five neurons for two signs",
                SHORT,
                batch_noise,
                "short_logarithm",
                "128 * max(k + 1, 4)",
                "128 * (k + 3)",
            ),
            (
                "a batch smaller by a fiftieth",
                SHORT,
                test_short_batch,
                "short_batch",
                "2**12 *",
                "2**12 * 49 / arb(50) *",
            ),
            ("one power of the coefficient", SHORT, test_short_batch, "short_batch", ", k) ** 2", ", k)"),
            ("one neuron alone", SHORT_FOUR, test_short_batch, "short_loss_bound", "batch=max(k + 1, 4) *", "batch="),
            (
                "the mean weights forgotten",
                SHORT,
                test_short_batch,
                "short_loss_bound",
                " - (k - 1) * root / (2 * k * arb(n - k).sqrt())",
                "",
            ),
            ("the noise of the bias forgotten", SHORT, test_short_batch, "short_loss_bound", "(root + 1)", "root"),
            (
                "the rate larger by a fiftieth",
                SHORT,
                test_short_batch,
                "short_loss_bound",
                "rate = 1 /",
                "rate = fmpq(51, 50) /",
            ),
            ("one class of two", SHORT, test_short_batch, "short_loss_bound", "2 * arb(fmpq(5, 6))", "arb(fmpq(5, 6))"),
            (
                "the fit larger by a fiftieth",
                SHORT,
                test_short_batch,
                "short_loss_bound",
                "arb(epsilon) / 4,",
                "arb(epsilon) * 51 / 200,",
            ),
            (
                "the readout larger by a fiftieth",
                SHORT,
                test_short_batch,
                "short_loss_bound",
                "arb(64 * k**3), moment",
                "arb(64 * k**3) * 51 / 50, moment",
            ),
            (
                "fewer pairs of neurons by a fiftieth",
                SHORT_FOUR,
                test_short_batch,
                "short_loss_bound",
                "width // 2\n",
                "width * 49 // 100\n",
            ),
            (
                "a factor of the coefficient of another order",
                SHORT_FOUR,
                test_short_batch,
                "top_coefficient",
                "n - 2 - 2 * i",
                "n - 2 - i",
            ),
            (
                "levels of the bias forgotten",
                SHORT_FOUR,
                test_short_batch,
                "short_loss_bound",
                "2 * k - 1, k + 1, pairs",
                "2 * k + 1, k + 3, pairs // 4",
            ),
        )
    ),
    *(
        Fault(
            name,
            "unnumbered-random-search",
            test_random_networks,
            check,
            test_random_networks,
            attribute,
            rewritten(getattr(random_networks, attribute), old, new),
            {"init": "uniform"},
        )
        for name, check, attribute, old, new in (
            ("the least weight for the largest", NEAR, "correlation_bound", ".max() / below", ".min() / below"),
            ("half of the bound", NEAR, "correlation_bound", "float(2 * (np", "float((np"),
            ("the limit smaller by a fiftieth", FAR, "correlation_limit", "2 * largest", "1.96 * largest"),
            ("the biases forgotten", FAR, "correlation_limit", " - bias * root", ""),
            ("a slower tail", FAR, "linear_tail", "/ 24", "/ 26"),
            ("a faster tail", FAR, "linear_tail", "/ 24", "/ 23"),
        )
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "hidden-progress", monkeypatch, (ValueError,))  # of verify_sign_rank
