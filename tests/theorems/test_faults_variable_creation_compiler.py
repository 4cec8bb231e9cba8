"""Faults planted in the library: the deciding checks of the chapter on sparse variable creation have to see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

import lemmata.certificates.sparse.boxes as boxes
import lemmata.certificates.sparse.exhaustive as exhaustive
import lemmata.certificates.sparse.network as network_certificates
import lemmata.constructions.networks.head as heads
import lemmata.constructions.sparse.compiler as compiler
import lemmata.constructions.sparse.memorising as memorising
import lemmata.constructions.sparse.positions as position_families
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.numbers import as_exact
from lemmata.theorems.evidence import MARK
from lemmata.theorems.plugin import Effort
from lemmata.theorems.variable_creation import test_attention_heads as attention_heads
from lemmata.theorems.variable_creation import test_identification as identification
from lemmata.theorems.variable_creation import test_memorising
from lemmata.theorems.variable_creation import test_representation as representation
from lemmata.theorems.variable_creation import test_selection as selection
from lemmata.theorems.variable_creation import test_sparse_functions as sparse_functions

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]
SEEN = (AssertionError, pytest.fail.Exception, network_certificates.SparseNetworkError)
"""What a failing check raises: an assertion, an error that did not come, or a network that is not certified."""


def seen(statements: str, plant: Plant, test: Callable[..., None], *arguments: Any, patch: Patch) -> None:
    """The test decides the statements, passes as it is, and fails once the fault is planted."""
    marks = [mark.args[0] for mark in getattr(test, "pytestmark", []) if mark.name == MARK]
    decided = {one.statement for one in marks if one.kind == "check" and not one.supporting}
    assert {f"variable-creation:{name}" for name in statements.split()} <= decided
    test(*arguments)
    plant(patch)
    with pytest.raises(SEEN):
        test(*arguments)


# ---- the memorising perceptron


def _set(module: Any, name: str, value: Any) -> Plant:
    return lambda patch: patch.setattr(module, name, value)


def _lookup(**changes: Any) -> Plant:
    build = memorising._lookup
    return lambda patch: patch.setattr(memorising, "_lookup", lambda *parts, **known: build(*parts, **known | changes))


BUMPS = {
    "signs of a step": _set(memorising, "SIGNS", (1, -1, 1, -1)),
    "a plateau that is too wide": _set(memorising, "SHIFTS", (2, 1, -1, -3)),
    "a plateau that is shifted": _set(memorising, "SHIFTS", (3, 2, 0, -1)),
}
LAYERS = {
    "printed slopes": _lookup(slopes=(1, 1, -1, -1), shifts=(2, 1, 2, 1)),
    "a threshold that is too high": _lookup(biases=(fmpq(-3), fmpq(-4))),
    "a second ramp that is twice as high": _lookup(scale=fmpq(2)),
}


@pytest.mark.parametrize("fault", BUMPS)
def test_wrong_bumps_are_seen(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_ramps_and_bumps_at_all_breakpoints
    seen("construction-A.25nu", BUMPS[fault], check, Fraction(1, 2), patch=monkeypatch)


@pytest.mark.parametrize("fault", BUMPS | LAYERS)
def test_wrong_layers_are_seen_on_cubes(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_the_network_has_its_values_on_whole_cubes
    seen("lemma-A.25", (BUMPS | LAYERS)[fault], check, 2, 4, Fraction(1, 2), patch=monkeypatch)


@pytest.mark.parametrize("fault", ["signs of a step", *LAYERS])
def test_wrong_layers_are_seen_in_symmetric_functions(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_symmetric_functions_from_a_monotone_one
    seen("lemma-A.22", (BUMPS | LAYERS)[fault], check, 3, patch=monkeypatch)


@pytest.mark.parametrize("fault", ["signs of a step", *LAYERS])
def test_wrong_layers_are_seen_in_all_functions(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_all_functions_from_an_injective_one
    seen("lemma-A.23", (BUMPS | LAYERS)[fault], check, 2, patch=monkeypatch)


@pytest.mark.parametrize("fault", BUMPS)
def test_wrong_bumps_are_seen_on_a_line(fault: str, monkeypatch: Patch) -> None:
    check = test_memorising.test_one_hidden_layer_on_a_line_and_the_output_map_as_first_layer
    seen("remark-A.25", BUMPS[fault], check, patch=monkeypatch)


# ---- heads, keys and certificates


def _wrapped(module: Any, name: str, change: Callable[..., Any]) -> Plant:
    """A function whose result is changed; `change` gets the result and the arguments."""
    original = getattr(module, name)
    return lambda patch: patch.setattr(module, name, lambda *given, **known: change(original(*given, **known), *given))


def _heads(change: Callable[[Head], Head]) -> Plant:
    return _wrapped(compiler, "_head", lambda head, *_: change(head))


COMPILER = {
    "less sharpness": _wrapped(compiler, "_sharpness", lambda R, *_: R * 7 / 10),
    "opposite values": _heads(lambda head: replace(head, value=Affine(-as_exact(head.value.weight)))),
    "a lost head": _heads(lambda head: replace(head, output=Affine(0 * as_exact(head.output.weight)))),  # type: ignore[union-attr]
    "keys of other positions": _heads(lambda head: replace(head, key=Affine(np.roll(as_exact(head.key.weight), 1)))),
    "weak values": _heads(lambda head: replace(head, value=Affine(as_exact(head.value.weight) * fmpq(1, 2)))),
}
ONE_HEAD = {
    "lemma-A.19a": (representation.test_one_head_selects_uniformly, (1,)),
    "lemma-A.19b": (representation.test_one_head_for_each_position, (0,)),
    "lemma-A.20a lemma-A.20b": (
        representation.test_trainable_positions_have_the_error_of_a_closed_form,
        (1, 12, fmpq(1)),
    ),
    "lemma-A.21a": (representation.test_a_bag_of_vectors_gives_one_number, (1,)),
    "lemma-A.21b": (representation.test_a_bag_of_vectors_gives_all_bits, (1,)),
    "setup-4.5": (sparse_functions.test_random_signs_of_logarithmic_dimension_are_enough, ()),
    "proposition-A.18": (sparse_functions.test_symmetric_functions_up_to_twelve_bits, ("deterministic",)),
    "proposition-4.12": (sparse_functions.test_norms_of_heads_and_perceptrons, ("bag", True, Effort("quick"))),
}


@pytest.mark.parametrize("fault", COMPILER)
@pytest.mark.parametrize("statements", ONE_HEAD)
def test_wrong_heads_are_seen(statements: str, fault: str, monkeypatch: Patch) -> None:
    check, arguments = ONE_HEAD[statements]
    seen(statements, COMPILER[fault], check, *arguments, patch=monkeypatch)


def _norm(name: str) -> Plant:
    """A network that reports a norm that is too small by a hundredth."""
    reported = compiler.SparseNetwork.squared_norms
    return lambda patch: patch.setattr(
        compiler.SparseNetwork,
        "squared_norms",
        lambda network: (found := dict(reported(network))) | {name: found[name] * fmpq(99, 100)},
    )


def _ends_only(patch: Patch) -> None:
    """Ranges that are taken from the ends of an interval alone."""
    along = boxes._SumsOfUnits._along

    def faulty(sums: Any, c: int, low: fmpq, high: fmpq) -> Any:
        ends = [along(sums, c, end, end)[0] for end in (low, high)]
        rows = np.array(ends, dtype=object)
        return boxes._extreme(rows, min), boxes._extreme(rows, max)

    patch.setattr(boxes._SumsOfUnits, "_along", faulty)


NO_TOKENS_ELSEWHERE = _set(network_certificates, "_off_values", lambda *_: None)


@pytest.mark.parametrize("statement", ["lemma-A.19a", "lemma-A.19b", "lemma-A.21a", "lemma-A.21b"])
def test_certificates_without_the_tokens_elsewhere_are_seen(statement: str, monkeypatch: Patch) -> None:
    seen(statement, NO_TOKENS_ELSEWHERE, ONE_HEAD[statement][0], 1, patch=monkeypatch)


NORMS = [
    ("lemma-A.19a", "W_V"),
    ("lemma-A.19b", "W_K"),
    ("lemma-A.20a lemma-A.20b", "W_Q"),
    ("lemma-A.21a", "W_C"),
    ("lemma-A.21b", "W_V"),
    ("proposition-4.12", "w"),
]


@pytest.mark.parametrize(("statements", "name"), NORMS)
def test_norms_that_are_too_small_are_seen(statements: str, name: str, monkeypatch: Patch) -> None:
    check, arguments = ONE_HEAD[statements]
    seen(statements, _norm(name), check, *arguments, patch=monkeypatch)


def test_ranges_without_breakpoints_are_seen(monkeypatch: Patch) -> None:
    check = test_memorising.test_the_network_has_its_values_on_whole_cubes
    seen("lemma-A.25", _ends_only, check, 2, 4, Fraction(1, 2), patch=monkeypatch)


def _softmax(change: Callable[[list[Any]], list[Any]]) -> Plant:
    return _wrapped(heads, "_ball_softmax", lambda weights, *_: change(weights))


def _favour_the_first(weights: list[Any]) -> list[Any]:
    """Weights that see the order of the tokens."""
    raised = [2 * weights[0], *weights[1:]]
    return [weight / sum(raised, start=arb(0)) for weight in raised]


def _last_only(patch: Patch) -> None:
    patch.setattr(AttentionLayer, "join", lambda layer, z, outputs: outputs[-1])


def _with_residual(patch: Patch) -> None:
    add = AttentionLayer.join
    patch.setattr(AttentionLayer, "join", lambda layer, z, outputs: add(layer, z, outputs) + 1)


def _not_itself(patch: Patch) -> None:
    """The class token does not attend to itself."""
    attend = Head.__call__
    patch.setattr(
        Head, "__call__", lambda head, z, memory=None, visible=None: attend(head, z, _without(memory), visible)
    )


def _without(memory: Any) -> Any:
    return memory if memory is None or len(memory) < 2 else memory[1:]


def _scaled(name: str) -> Plant:
    """A head whose scores are divided by the root of the key dimension, or doubled."""
    scores = Head.scores
    factor = 2 if name == "doubled" else arb(1) / 2
    return lambda patch: patch.setattr(Head, "scores", lambda head, z, keys: scores(head, z, keys) * factor)


WEIGHTS = {
    "a tenth too much": _softmax(lambda weights: [weight * arb("1.1") for weight in weights]),
    "the first favoured": _softmax(_favour_the_first),
    "squares": _softmax(lambda weights: [weight * weight for weight in weights]),
}
DEFINITIONS = {
    "definition-4.3": (attention_heads.test_heads_are_the_definition_and_do_not_see_the_order, (7,)),
    "definition-4.4": (attention_heads.test_layers_are_the_definition_head_by_head, (7,)),
    "definition-4.4s": (attention_heads.test_the_class_token_attends_to_itself_too, (3,)),
    "lemma-A.24": (attention_heads.test_truncated_softmax_is_close, ()),
    "remark-4.5b": (attention_heads.test_zero_scores_average, (4,)),
    "remark-4.5c": (attention_heads.test_the_effect_of_one_token_vanishes_at_fixed_norms, ()),
}


@pytest.mark.parametrize("fault", WEIGHTS)
@pytest.mark.parametrize("statement", DEFINITIONS)
def test_wrong_weights_are_seen(statement: str, fault: str, monkeypatch: Patch) -> None:
    check, arguments = DEFINITIONS[statement]
    seen(statement, WEIGHTS[fault], check, *arguments, patch=monkeypatch)


def _largest_product(positions: Any) -> tuple[fmpq, tuple[int, int]]:
    """The coherence without the sizes of negative products."""
    rows = positions.numerators
    largest = int((rows @ rows.T - positions.denominator**2 * np.eye(len(rows), dtype=int)).max())
    return fmpq(largest, positions.denominator**2), (0, 1)


OTHERS = {
    "a class token that does not see itself": (
        "definition-4.4s",
        _not_itself,
        attention_heads.test_the_class_token_attends_to_itself_too,
        (3,),
    ),
    "scores that are halved": (
        "definition-4.3",
        _scaled("halved"),
        attention_heads.test_heads_are_the_definition_and_do_not_see_the_order,
        (7,),
    ),
    "a head with too little sharpness": (
        "remark-4.5c",
        COMPILER["less sharpness"],
        attention_heads.test_logarithmic_norms_keep_the_effect,
        (),
    ),
    "an order that matters": (
        "setup-A.2.1a",
        WEIGHTS["the first favoured"],
        sparse_functions.test_a_bag_does_not_depend_on_the_order_of_its_tokens,
        (),
    ),
    "one head of two": (
        "setup-A.2.1c",
        _last_only,
        sparse_functions.test_the_network_is_the_formula_of_its_weights,
        ("deterministic", False),
    ),
    "a residual that is added": (
        "setup-A.2.1c",
        _with_residual,
        sparse_functions.test_the_network_is_the_formula_of_its_weights,
        ("bag", True),
    ),
    "Hadamard words that overlap": (
        "setup-A.2.1b",
        _wrapped(position_families, "hadamard_words", lambda words, *_: abs(words)),
        selection.test_families_lie_between_the_bounds,
        (),
    ),
    "a coherence of the positive products alone": (
        "setup-A.2.1b",
        _set(selection, "coherence", lambda positions: _largest_product(positions)),
        selection.test_families_lie_between_the_bounds,
        (),
    ),
    "a certificate that misses two per cent of the tokens elsewhere": (
        "remark-4.5c",
        _wrapped(network_certificates, "_off_mass", lambda mass, *_: mass * arb("0.98")),
        attention_heads.test_logarithmic_norms_keep_the_effect,
        (),
    ),
    "random signs that repeat": (
        "setup-A.2.1b",
        _wrapped(
            selection,
            "random_sign_positions",
            lambda family, *_: replace(family, numerators=family.numerators[[0] * 2]),
        ),
        selection.test_families_lie_between_the_bounds,
        (),
    ),
    "a key that is a sum of positions": (
        "lemma-A.19a",
        lambda patch: patch.setattr(selection, "dual_vectors", lambda positions, read: positions.rows(list(read))),
        selection.test_the_dual_key_has_the_claimed_scores,
        (2,),
    ),
    "a margin that is too large": (
        "remark-4.5b",
        _wrapped(
            selection,
            "select",
            lambda found, *_: replace(found, key=found.key * 2),
        ),
        selection.test_hulls_decide_what_one_head_can_average,
        (),
    ),
    "a head that is too weak for some string": (
        "proposition-A.18",
        COMPILER["less sharpness"],
        sparse_functions.test_all_strings_one_by_one,
        ("trainable", False, Effort("quick")),
    ),
    "values that belong to other words": (
        "proposition-A.18",
        _wrapped(exhaustive, "hidden_on_cubes", lambda hidden, *_: hidden[::-1]),
        sparse_functions.test_all_strings_one_by_one,
        ("bag", False, Effort("quick")),
    ),
    "a learner that is always right": (
        "remark-4.5a",
        lambda patch: patch.setattr(identification, "identification_probability", lambda *_: fmpq(1)),
        identification.test_success_is_at_most_the_number_of_label_rows,
        (4, 2, 2),
    ),
    "conjunctions that are disjunctions": (
        "remark-4.5a",
        _wrapped(identification, "conjunctions", lambda table, *_: 1 - table[:, ::-1]),
        identification.test_success_is_at_most_the_number_of_label_rows,
        (4, 2, 2),
    ),
    "conjunctions of which one is missing": (
        "remark-4.5a",
        _wrapped(identification, "conjunctions", lambda table, *_: table[:-1]),
        identification.test_success_is_at_most_the_number_of_label_rows,
        (4, 2, 2),
    ),
    "a certificate that forgets the tokens elsewhere": (
        "lemma-A.20a lemma-A.20b",
        _wrapped(network_certificates, "_off_mass", lambda mass, *_: mass * 0),
        representation.test_trainable_positions_have_the_error_of_a_closed_form,
        (1, 12, fmpq(1)),
    ),
    "a certificate that counts half of the tokens elsewhere": (
        "lemma-A.20a lemma-A.20b",
        _wrapped(network_certificates, "_off_mass", lambda mass, *_: mass / 2),
        representation.test_trainable_positions_have_the_error_of_a_closed_form,
        (2, 4, fmpq(1)),
    ),
}


@pytest.mark.parametrize("fault", OTHERS)
def test_other_faults_are_seen(fault: str, monkeypatch: Patch) -> None:
    statements, plant, check, arguments = OTHERS[fault]
    seen(statements, plant, check, *arguments, patch=monkeypatch)
