"""Faults planted in gradients of the minimal model, single heads and plateaus: Figures E.1, E.2 and 8.5 see them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lemmata.constructions.induction.single_head import single_trigram_head
from lemmata.theorems.induction_heads import test_experiments, test_first_step, test_second_step, test_single_head
from lemmata.theorems.induction_heads.experiments import sizes
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

TENSOR, V, W = test_first_step.flat_tensor, test_first_step.v_gradient, test_first_step.w_gradient
BIAS = "test_figure_of_the_first_step_shows_a_biased_diagonal_and_a_decay"
SECOND = "test_second_step_at_the_parameters_of_the_figure_favours_the_second_position"


def one_of_v_larger(tensor, weights):
    v = V(tensor, weights).copy()
    v[1] = v[1] * 51 / 50
    return v


FAULTS = [
    *(
        Fault(
            name,
            "figure-8.5",
            test_single_head,
            "test_one_head_in_each_layer_is_better_than_bigrams_and_worse_than_trigrams",
            test_single_head,
            "single_trigram_head",
            rewritten(single_trigram_head, old, new),
        )
        for name, old, new in (
            ("the two tokens before exchanged", "(0, _FAR + 2, _FAR)", "(0, _FAR, _FAR + 2)"),
            ("the tokens before not asked for", "sign * from_before", "sign * 0"),
            ("the tokens before with the other sign", "sign * from_before", "-sign * from_before"),
        )
    ),
    Fault(
        "interruptions counted",
        "figure-8.5",
        test_experiments,
        "test_four_stages_at_the_printed_sizes_and_single_heads_below_bigrams",
        sizes,
        "lasting_phases",
        rewritten(sizes.lasting_phases, "lengths[i - 1][0] != lengths[i + 1][0]", "True"),
        {"record_property": lambda name, value: None},
    ),
    Fault(
        "the plateau of the bigrams twice as steep",
        "figure-8.5",
        test_experiments,
        "test_four_stages_at_the_printed_sizes_and_single_heads_below_bigrams",
        test_experiments,
        "rests_at",
        rewritten(sizes.rests_at, "2 * rates[i]", "rates[i]"),
        {"record_property": lambda name, value: None},
    ),
    *(
        Fault(name, statement, module, check, module, "flat_tensor", rewritten(TENSOR, old, new))
        for statement, module, check in (
            ("figure-E.1", test_first_step, BIAS),
            ("figure-E.2", test_second_step, SECOND),
        )
        for name, old, new in (
            ("one position fewer to count", "(t - j) * (t - j + 1)", "(t - j - 1) * (t - j)"),
            ("late powers larger by a fiftieth", "late_sums[t - j - 1] +", "late_sums[t - j - 1] * 51 / 50 +"),
            ("the sum over both powers dropped", " + tail) / t", ") / t"),
        )
    ),
    Fault(
        "early powers dropped", "figure-E.2", test_second_step, SECOND, test_second_step, "flat_tensor",
        rewritten(TENSOR, "(still[0] + early[j])", "still[0]"),
    ),
    Fault(
        "early powers dropped, against samples", "figure-E.2", test_second_step,
        "test_samples_of_the_second_step_estimate_the_contribution", test_second_step, "flat_tensor",
        rewritten(TENSOR, "(still[0] + early[j])", "still[0]"),
    ),
    Fault("W transposed in the states", "figure-E.1", test_first_step, BIAS, test_first_step, "w_gradient",
          lambda tensor, v: W(tensor, v)[::-1]),
    Fault("W larger by a fiftieth", "figure-E.1", test_first_step, BIAS, test_first_step, "w_gradient",
          lambda tensor, v: W(tensor, v) * 51 / 50),
    Fault("v_2 larger by a fiftieth", "figure-E.1", test_first_step, BIAS, test_first_step, "v_gradient",
          one_of_v_larger),
    Fault("v_2 of the second step larger by a fiftieth", "figure-E.2", test_second_step, SECOND, test_second_step,
          "v_gradient", one_of_v_larger),
    Fault("v larger by a fiftieth, against the rounded values", "figure-E.2", test_second_step,
          "test_figure_of_the_second_step", test_second_step, "v_gradient",
          lambda tensor, weights: V(tensor, weights) * 51 / 50),
    Fault("v larger by a fiftieth, against samples", "figure-E.1", test_first_step,
          "test_figure_of_the_first_step", test_first_step, "v_gradient",
          lambda tensor, weights: V(tensor, weights) * 51 / 50),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_deciding_check_sees_the_fault(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "induction-heads", monkeypatch)


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        (sizes._samples_to, "0.75 *", "1.25 *"),
        (sizes._samples_to, "[-p for p", "[p for p"),
        (sizes._samples_at_unigram, ' * item["data"]["doubly stochastic"]', ""),
        (sizes._samples_at_unigram, 'name == "unigram"', 'name == "uniform"'),
    ],
    ids=["the_drop_above_the_line", "the_sign_of_the_weight", "steps_as_samples", "uniform_as_unigram"],
)
def test_what_is_measured_for_figure_8_4a_sees_the_fault(
    function: Callable[..., float], old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statement is open, so that no check decides it."""
    check = test_experiments.test_without_unigrams_no_unigram_plateau_and_an_earlier_head_but_no_much_earlier_loss
    check(lambda name, value: None)
    monkeypatch.setattr(sizes, function.__name__, rewritten(function, old, new))
    with pytest.raises(AssertionError):
        check(lambda name, value: None)
