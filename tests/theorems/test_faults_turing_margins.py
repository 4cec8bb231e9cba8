"""Faults planted in the certificate of compiled machines, layer by layer: the deciding checks have to see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest

import lemmata.certificates.margins.circuit_direct as circuits
import lemmata.certificates.margins.direct as shared
import lemmata.certificates.margins.turing_direct as direct
import lemmata.certificates.margins.turing_facts as facts
import lemmata.certificates.margins.turing_ones as ones
import lemmata.constructions.turing.compiler as compiler
import lemmata.constructions.turing.layers as layers
from lemmata.certificates.margins.turing_scores import ScoreFlip
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.theorems.plugin import Effort
from lemmata.theorems.turing import test_direct_circuits, test_direct_margin, test_small_machines, test_theorem_4_1
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

SIZE = {"states": 2, "symbols": 3, "bits": 3}


def conditions(name: str, owner: ModuleType, attribute: str, faulty: Any) -> Fault:
    """A fault of a coefficient, to be seen by the conditions that are derived once more."""
    check = "test_the_conditions_of_every_layer_from_their_digits"
    return Fault(name, "theorem-4.1", test_direct_margin, check, owner, attribute, faulty, SIZE)


def edited(owner: ModuleType, attribute: str, *edits: tuple[str, str, str]) -> list[Fault]:
    """Faults of one function: a name, a piece of its source, and what stands there instead."""
    function = getattr(owner, attribute)
    return [conditions(name, owner, attribute, rewritten(function, old, new)) for name, old, new in edits]


def scaled(attribute: str, part: str) -> Fault:
    """One fact of a head 2 per cent too small, or one too few of an integer."""
    find: Callable[..., Any] = facts._head_facts

    def faulty(*given: Any) -> Any:
        found = find(*given)
        value = getattr(found, part)
        less = value - 1 if isinstance(value, int) else value * 49 / 50
        return replace(found, **{part: less})

    return conditions(f"{part} of a head", facts, attribute, faulty)


def rounded(*edits: tuple[str, str, str]) -> list[Fault]:
    """Faults of the rounding, in the module that uses it."""
    return [
        conditions(name, direct, "moved_rounding", rewritten(shared.moved_rounding, old, new))
        for name, old, new in edits
    ]


def bound(name: str, old: str, new: str) -> Fault:
    """A fault of the search for the largest radius."""
    return conditions(name, direct, "largest_radius", rewritten(shared.largest_radius, old, new))


COEFFICIENTS = [
    *rounded(
        ("the slope of a rounding", "slope, ends = 1 / ball(high - low)", "slope, ends = 49 / (50 * ball(high - low))"),
        ("one hidden unit instead of two", "2 * slope**2 * extended**2", "slope**2 * extended**2"),
        ("a bias that does not move", "hidden**2 + 1)", "hidden**2)"),
        ("hidden units at a one", "ball(1 - low) ** 2 + ball(1 - high) ** 2", "ball(1 - low) ** 2"),
        ("hidden units that the step does not move", " + arb(2).sqrt() * moved", ""),
        ("hidden units that their weights do not move", " + extended * rho", ""),
        ("a token without its deviation", "((size + moved) ** 2 + 1).sqrt()", "(size**2 + 1).sqrt()"),
        ("a token without a bias", "((size + moved) ** 2 + 1).sqrt()", "((size + moved) ** 2).sqrt()"),
    ),
    *edited(
        direct,
        "_before_rounding",
        ("the norm of the first map", "layer.first_norm * moved", "layer.first_norm * moved * 49 / 50"),
        ("a first map that does not move", " + ((size + moved) ** 2 + 1).sqrt() * rho", ""),
    ),
    *edited(
        direct,
        "_attended",
        ("values that do not move", "moved = moved + _memory(layer, bool(cross), rho, sigma_h) * rho", "moved = moved"),
        ("attended tokens that do not move", "moved + head.value_norm * (rho if cross else sigma_h)", "moved"),
        ("values that are not added", "size + head.value", "size"),
    ),
    *edited(
        direct,
        "_memory",
        ("memories without a bias", "** 2 + 1).sqrt()", "** 2).sqrt()"),
        ("an encoder that does not move", "layer.remembered + rho", "layer.remembered"),
    ),
    *edited(
        direct,
        "_score_loads",
        (
            "the zero head before",
            "passed = _memory(layer, False, rho, sigma_h) if head.cross else arb(0)",
            "passed = arb(0)",
        ),
        ("a query that does not drift", "query = arb(head.query).sqrt() + drift", "query = arb(head.query).sqrt()"),
        (
            "a query's map that does not move",
            "drift = head.query_norm * moved + size * rho",
            "drift = head.query_norm * moved",
        ),
        ("a null key that does not move", "(token**2 + 2).sqrt()", "(token**2 + 1).sqrt()"),
        ("one key instead of two", "query * 2 * token", "query * token"),
        ("the norm of K - K_0", "size * arb(head.null_keys).sqrt()", "size * arb(head.null_keys).sqrt() * 49 / 50"),
        ("the norm of K - K'", "size * arb(head.keys).sqrt()", "size * arb(head.keys).sqrt() * 49 / 50"),
        ("the distance of two scores", "pair * rho / head.spacing", "pair * rho / (head.spacing + 1)"),
    ),
    *edited(
        direct,
        "_token_errors",
        ("keys whose tokens do not move", "keys * (before.along(head.by_key)", "0 * (before.along(head.by_key)"),
        ("keys of a query that does not drift", " + before.norm * head.key_norm * drift", ""),
        ("coordinates that are shared", "if head.disjoint else", "if not head.disjoint else"),
        (
            "an encoder whose tokens do not move",
            "keys * (arb(head.by_key.whole).sqrt()",
            "0 * (arb(head.by_key.whole).sqrt()",
        ),
    ),
    *edited(
        direct,
        "_bit_load",
        ("values that move no bit", "memories * column.whole + own", "own"),
        ("a map that moves no bit", " + own + first", " + first"),
        ("a rounding that moves no bit", " + own + first", " + own"),
        ("one memory", "for cross in (False, True)", "for cross in (True,)"),
        ("attended errors", "errors + before.along(value)", "errors"),
        ("the encoder's errors", "(errors**2 + value.whole).sqrt()", "errors"),
        ("a threshold that is too large", "/ ball(facts.threshold)", "/ (ball(facts.threshold) * 51 / 50)"),
    ),
    *edited(
        direct,
        "_loads",
        ("the wrong rounding", "before = roundings[number - 1]", "before = roundings[number]"),
        ("a classifier that does not move", " + (last.written + sigma_h) ** 2).sqrt()", ").sqrt()"),
        ("tokens that are too close", "norm * rho / sigma_h", "norm * rho / sigma_h * 49 / 50"),
    ),
    bound("a bound that is rounded up", "return DirectBound(low,", "return DirectBound(high * 101 / 100,"),
    bound("a bound that is not the largest", "return DirectBound(low,", "return DirectBound(low * 49 / 50,"),
    bound("the easiest condition", "binding = max(decided", "binding = min(decided"),
    *edited(
        facts,
        "_columns",
        ("one one too few in each block", "[:most]", "[: most - 1]"),
        (
            "the smallest entries",
            "np.sort(squared[stream[name]], axis=0)[::-1]",
            "np.sort(squared[stream[name]], axis=0)",
        ),
    ),
    *edited(
        facts,
        "_layer_facts",
        ("ones of the wrong tokens", "arb(ones.read[number].total)", "arb(ones.written[number].total)"),
        (
            "the norm of the first map of a layer",
            "first_norm=operator_norm(first.weight)",
            "first_norm=operator_norm(first.weight) * 49 / 50",
        ),
        ("values that are not carried on", "np.abs(_whole(head.value.weight)) @ weight", "0 * weight"),
    ),
    *(scaled("_head_facts", part) for part in ("query_norm", "key_norm", "query", "null_keys", "keys", "spacing")),
    *(scaled("_head_facts", part) for part in ("value_norm", "value")),
]


@pytest.mark.parametrize("fault", COEFFICIENTS, ids=fault_name)
def test_a_coefficient_that_is_off_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "turing", monkeypatch)


def lemma(name: str, old: str, new: str) -> Fault:
    faulty = rewritten(ones.lemma_ones, old, new)
    check = "test_the_ones_of_every_layer_are_those_of_the_lemmas"
    return Fault(name, "theorem-4.1", test_direct_margin, check, test_direct_margin, "lemma_ones", faulty, {"bits": 3})


ONES = [
    lemma("a digit too few in scr3", '"scr3": P}', '"scr3": P - 1}'),
    lemma("no flag of the input", '"scr4": 2,', '"scr4": 1,'),
    lemma("carries without a digit", '"aux": P},  # carries', '"aux": P - 1},  # carries'),
    lemma("a first layer without the time", '"pos1": P})  # o_(i-1)', '"pos1": 0})  # o_(i-1)'),
]


COUNTED = [
    ("one of each block of digits", ".sum(1).max()) for name", '.sum(1).max()) - ("pos" in name) for name'),
    ("all of the token", "int(rows.sum(1).max())", "int(rows.sum(1).max()) - 1"),
]
ONES += [
    Fault(
        f"counted on words: {name} too few",
        "theorem-4.1",
        test_direct_margin,
        "test_the_ones_of_every_layer_are_those_of_the_lemmas",
        ones,
        "_counted",
        rewritten(ones._counted, old, new),
        {"bits": 3},
    )
    for name, old, new in COUNTED
]


@pytest.mark.parametrize("fault", ONES, ids=fault_name)
def test_a_one_too_few_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "turing", monkeypatch)


def test_a_slope_that_is_too_small_is_seen_by_the_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check of the coefficients without any formula of them, which supports only: half of the rounding's part."""
    test_direct_margin.test_the_coefficients_of_scores_are_at_least_the_gradients()
    faulty = rewritten(shared.moved_rounding, "2 * slope**2 * extended**2", "slope**2 * extended**2 / 2")
    monkeypatch.setattr(direct, "moved_rounding", faulty)
    with pytest.raises(AssertionError):
        test_direct_margin.test_the_coefficients_of_scores_are_at_least_the_gradients()


def test_a_norm_of_a_flip_that_leaves_weights_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The norm decides how sharp the certificate is said to be; the check of it supports only."""
    sharp, right = test_direct_margin.test_the_certified_margin_is_within_a_factor_six_of_an_exact_flip, ScoreFlip
    norm = right.norm_squared.fget
    assert norm is not None
    for faulty in (
        lambda flip: norm(flip) * Fraction(49, 50),
        lambda flip: norm(replace(flip, moves={name: x for name, x in flip.moves.items() if name != "query.bias"})),
    ):
        monkeypatch.setattr(right, "norm_squared", property(faulty))
        with pytest.raises(AssertionError):
            sharp(Effort("quick"), lambda *_: None)


def test_input_cells_compared_without_their_highest_digit_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long inputs: cells with the code 0 would answer for the cell 2^(P-1)."""
    faulty = rewritten(
        layers.input_layer, "layout.match([(head, cell)], value)", "layout.match([(head[1:], cell[1:])], value)"
    )
    check = "test_inputs_of_any_length_with_the_code_zero_beyond_the_reach"
    fault = Fault(
        "a digit less", "theorem-4.1", test_theorem_4_1, check, compiler, "input_layer", faulty, {"rule": "refuse"}
    )
    assert_seen(fault, "turing", monkeypatch, (ValueError,))


# ---- circuits


def unit(name: str, attribute: str, old: str, new: str, owner: ModuleType = circuits) -> list[Fault]:
    """A fault of the certificate of circuits, for both statements that rest on it."""
    check, faulty = "test_the_conditions_of_every_step_unit_by_unit", rewritten(getattr(owner, attribute), old, new)
    known = {"name": "alternating"}
    return [
        Fault(name, statement, test_direct_circuits, check, circuits, attribute, faulty, known)
        for statement in ("lemma-3.3", "theorem-3.1")
    ]


CIRCUITS = [
    *unit("a rounding that moves nothing", "_unit", "before.along(column.read) ** 2", "arb(0)"),
    *unit("layers that move nothing", "_unit", "total + squared * norm**2", "total"),
    *unit("a rounding's first layer that is still", "_unit", "(total + extended[-1] ** 2).sqrt()", "total.sqrt()"),
    *unit("a radius that is too large", "_loads", "/ ball(network.radius)", "/ (ball(network.radius) * 51 / 50)"),
    *unit("a head that does not move", "_loads", " + (steps[-1].sizes[-1] + sigma_h) ** 2 + 1).sqrt()", ").sqrt()"),
    *unit(
        "tokens that are too close", "_loads", "before.norm * rho / sigma_h", "before.norm * rho / sigma_h * 49 / 50"
    ),
    *unit(
        "weights without a bias",
        "_moved",
        "((size + moved) ** 2 + 1).sqrt())\n        moved",
        "(size + moved))\n        moved",
    ),
    *unit("a step that does not move", "_moved", "norm * moved + extended[-1] * rho", "norm * moved"),
    *unit(
        "a norm that is too small",
        "_moved",
        "norm * moved + extended[-1] * rho",
        "norm * moved * 49 / 50 + extended[-1] * rho",
    ),
    *unit(
        "the thresholds exchanged",
        "_rounding",
        "*network.thresholds,",
        "1 - network.thresholds[0], 1 - network.thresholds[0] + network.radius,",
    ),
    *unit(
        "a functional that is not carried on", "_step_facts", "np.abs(_whole(layer.weight)) @ functional", "functional"
    ),
    *unit(
        "the ones of the output",
        "_step_facts",
        "read = _squares(functional, ones[0])",
        "read = _squares(functional, 1)",
    ),
    *unit("sizes that are too small", "_step_facts", "arb(count).sqrt()", "arb(count).sqrt() * 49 / 50"),
    *unit(
        "a head that reads half",
        "_facts",
        "_squares(_whole(network.head.weight)",
        "_squares(_whole(network.head.weight) // 2",
    ),
    *unit(
        "a one too few", "_counts", "row.append(int(z.sum(axis=1).max()))", "row.append(int(z.sum(axis=1).max()) - 1)"
    ),
    *unit(
        "hidden units at a one in circuits",
        "moved_rounding",
        "ball(1 - low) ** 2 + ball(1 - high) ** 2",
        "ball(low) ** 2 + ball(1 - high) ** 2",
        shared,
    ),
]


@pytest.mark.parametrize("fault", CIRCUITS, ids=fault_name)
def test_a_coefficient_of_circuits_that_is_off_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "turing", monkeypatch)


# ---- the machine


def test_a_wrong_transition_is_seen_in_all_runs_of_two_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """The new state of one pair is another one: in the weights of C.1b alone."""
    build = layers.transition_layers

    def faulty(layout: Any, machine: Any, start_symbol: int) -> Any:
        first, second = build(layout, machine, start_symbol)
        (part,) = second.feed_forward.layers
        weight = part.weight.copy()
        weight[layout.stream["aux"].start + 1, layout.stream["st"]] = 0
        weight[layout.stream["aux"].start + 1, layout.stream["st"].start + 2] = 1
        return [first, replace(second, feed_forward=FeedForward((replace(part, weight=weight),)))]

    for statement in ("theorem-4.1", "construction-assembled"):
        check = "test_halting_machines_of_two_running_states_give_their_answer"
        given = {"rule": "stay", "effort": Effort("quick")}
        with monkeypatch.context() as patch:
            fault = Fault(
                "a state", statement, test_small_machines, check, compiler, "transition_layers", faulty, given
            )
            assert_seen(fault, "turing", patch)
