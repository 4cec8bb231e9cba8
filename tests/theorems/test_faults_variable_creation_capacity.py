"""Faults planted in the capacity bounds: deciding checks of the chapter on variable creation have to see them."""

from __future__ import annotations

from typing import Any

import pytest
from flint import arb, fmpq

import lemmata.certificates.capacity.blocks as blocks
import lemmata.certificates.capacity.linear_codes as linear_codes
import lemmata.certificates.capacity.norms as norms
import lemmata.certificates.capacity.shattering as shattering
import lemmata.constructions.networks.head as network_heads
import lemmata.numerics.learning.attention_capacity as attention
import lemmata.numerics.learning.attention_lipschitz as attention_lipschitz
import lemmata.numerics.learning.budgets as budgets
import lemmata.numerics.learning.deep_capacity as deep
import lemmata.numerics.learning.linear_capacity as linear
from lemmata.theorems.variable_creation import test_deep_capacity as layers
from lemmata.theorems.variable_creation import test_head_capacity as heads
from lemmata.theorems.variable_creation import test_head_components as components
from lemmata.theorems.variable_creation import test_linear_covers as covers
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten


def times(function: Any, factor: Any) -> Any:
    """The function with its value multiplied."""
    return lambda *given, **known: function(*given, **known) * factor


def plus(function: Any, term: Any) -> Any:
    """The function with a term added to its value."""
    return lambda *given, **known: function(*given, **known) + term


def split_with(change: Any) -> Any:
    """`optimal_split` with its parts changed."""
    original = budgets.optimal_split

    def faulty(*given: Any, **known: Any) -> budgets.BudgetSplit:
        found = original(*given, **known)
        return budgets.BudgetSplit(
            **{name: getattr(found, name) for name in ("cost", "radii", "shares")} | change(found)
        )

    return faulty


TWO_PERCENT = arb(51) / 50
FAMILY_MARGIN: Any = shattering.SignFamily.__dict__["margin"]
LINEAR = {
    "a step too many": ("perceptron_steps", plus(linear.perceptron_steps, 1)),
    "a step too few": ("perceptron_steps", plus(linear.perceptron_steps, -1)),
    "no sign": ("vector_factor", lambda points: arb(2 * points).log()),
    "two percent": ("vector_factor", times(linear.vector_factor, TWO_PERCENT)),
}
ORTHONORMAL = ("test_orthonormal_points_take_all_steps_and_hold_all_signs", {"root": 3, "R": fmpq(2)})
COUNTED = ("test_the_codes_are_a_cover_of_the_counted_size", {"N": 2, "squared": 3})
FAULTS = [
    Fault(
        "columns for rows",
        "notation-4.2",
        covers,
        "test_norms_of_columns_and_of_tokens",
        covers,
        "token_norm",
        lambda X: norms.pq_norm(X, 2, float("inf")),
        {"seed": 1},
    ),
    Fault(
        "p and q exchanged",
        "notation-4.2",
        covers,
        "test_norms_of_columns_and_of_tokens",
        covers,
        "pq_norm",
        lambda X, p, q: norms.pq_norm(X, q, p),
        {"seed": 1},
    ),
    Fault(
        "two percent",
        "notation-4.2",
        covers,
        "test_norms_of_columns_and_of_tokens",
        norms,
        "_norm",
        times(norms._norm, TWO_PERCENT),
        {"seed": 1},
    ),
    Fault(
        "square roots for cube roots",
        "lemma-A.8",
        covers,
        "test_the_best_division_of_a_budget",
        budgets,
        "cube_root",
        lambda x: x.sqrt(),
        {"seed": 1},
    ),
    Fault(
        "a cost that is too small",
        "lemma-A.8",
        covers,
        "test_the_best_division_of_a_budget",
        covers,
        "optimal_split",
        split_with(lambda found: {"cost": found.cost / TWO_PERCENT}),
        {"seed": 1},
    ),
    Fault(
        "radii of other parts",
        "lemma-A.8",
        covers,
        "test_the_best_division_of_a_budget",
        covers,
        "optimal_split",
        split_with(lambda found: {"radii": found.radii[::-1]}),
        {"seed": 1},
    ),
    *[
        Fault(name, statement, covers, check, linear, attribute, faulty, arguments)
        for name, (attribute, faulty) in LINEAR.items()
        for statement in ("lemma-A.10", "fact-4.2lin")
        for check, arguments in (COUNTED,)
    ],
    Fault(
        "an error that is halved",
        "lemma-A.10",
        covers,
        ORTHONORMAL[0],
        covers,
        "perceptron_steps",
        lambda B, R, eps: linear.perceptron_steps(B, R, eps / 2),
        ORTHONORMAL[1],
    ),
    Fault(
        "printed constant",
        "lemma-A.10",
        covers,
        "test_the_printed_bound_is_a_weaker_one",
        covers,
        "printed_linear_capacity",
        times(linear.printed_linear_capacity, fmpq(35, 36)),
        {"B": 1, "R": 7, "eps": "1/10"},
    ),
    Fault(
        "no rounding of the averages",
        "lemma-4.10",
        covers,
        "test_the_closed_form_is_the_best_of_the_two_stages",
        linear,
        "map_factor",
        lambda d, N: (arb(d + 1).log().root(3) + arb(2 * N + 1).log().root(3)) ** 3,
        {"B": 2, "R": 3, "eps": "1/10"},
    ),
    Fault(
        "two percent",
        "lemma-4.10",
        covers,
        "test_the_closed_form_is_the_best_of_the_two_stages",
        linear,
        "map_factor",
        times(linear.map_factor, TWO_PERCENT),
        {"B": 2, "R": 3, "eps": "1/10"},
    ),
    Fault(
        "row radii of another budget",
        "lemma-4.10",
        covers,
        "test_the_closed_form_is_the_best_of_the_two_stages",
        linear,
        "optimal_split",
        lambda costs, rates, eps: budgets.optimal_split(costs, rates, eps * TWO_PERCENT),
        {"B": 2, "R": 3, "eps": "1/10"},
    ),
    Fault(
        "a power of the norm",
        "lemma-4.10",
        covers,
        "test_matrices_of_signs_are_below_the_bound_with_its_exponents",
        covers,
        "linear_map_capacity",
        lambda norm, radius, eps, points, outputs: (
            linear.linear_map_capacity(norm, radius, eps, points, outputs) / arb(norm)
        ),
        {"rows": 2, "root": 2},
    ),
]


PARTS = attention._head_parts


def parts_with(**changes: Any) -> Any:
    """The covers of a head with their cost or rate multiplied: ``scores_cost=2`` and the like."""

    def faulty(norms: attention.HeadNorms, at: Any) -> dict[str, budgets.CoverPart]:
        found = PARTS(norms, at)
        for name, factor in changes.items():
            part, _, field = name.partition("_")
            known = {"cost": found[part].cost, "rate": found[part].rate}
            scale: Any = factor(norms, at) if callable(factor) else factor
            known[field] = known[field] * scale
            found[part] = budgets.CoverPart(**known)
        return found

    return faulty


HEAD_PARTS = {
    "two percent in the scores": parts_with(scores_cost=TWO_PERCENT),
    "two percent in the values": parts_with(values_rate=TWO_PERCENT),
    "no doubling for a proper cover": parts_with(values_cost=arb(1) / 4),
    "the power of tokens of the proof": parts_with(scores_cost=lambda norms, at: 1 / at.tokens**2),
    "the power of tokens of the statement": parts_with(scores_cost=lambda norms, at: 1 / at.tokens**4),
    "no norm of the values beside the scores": parts_with(scores_rate=lambda norms, at: 1 / norms.value),
    "no Lipschitz constant": parts_with(values_rate=lambda norms, at: 1 / at.lipschitz),
}
BEST = ("corollary-4.9", "test_the_bound_is_the_best_division_between_scores_and_values", {"seed": 3})
SUMS = ("lemma-A.12", "test_heads_that_are_added_share_the_error", {"seed": 2})
SHIFT = ("lemma-A.11", "test_positions_are_a_shift_of_the_tokens", {"seed": 1})
RADII = ("theorem-4.6", "test_the_radii_of_theorem_4_6_are_used_up", {"small": fmpq(1, 100)})


def radii_with(first: Any = 1, second: Any = 1) -> Any:
    """`head_radii` with its values multiplied."""

    def faulty(*given: Any, **known: Any) -> tuple[arb, arb]:
        scores, values = attention.head_radii(*given, **known)
        return scores * first, values * second

    return faulty


FAULTS += [
    *[
        Fault(name, statement, heads, check, attention, "_head_parts", faulty, arguments)
        for name, faulty in HEAD_PARTS.items()
        for statement, check, arguments in (BEST, SUMS, SHIFT)
        if (statement, name) != ("lemma-A.11", "no Lipschitz constant")  # which is 1 there
    ],
    Fault(
        "a short constant that is too small",
        BEST[0],
        heads,
        BEST[1],
        attention,
        "SHORT_CONSTANT",
        19,
        BEST[2],
    ),
    Fault(
        "a power of tokens that is too small",
        BEST[0],
        heads,
        "test_every_argument_has_the_exponent_of_the_families",
        attention,
        "_head_parts",
        HEAD_PARTS["the power of tokens of the statement"],
        {"family": "scores", "name": "B_X"},
    ),
    Fault(
        "twice as many points",
        BEST[0],
        heads,
        "test_contexts_and_samples_enter_by_their_logarithm",
        attention,
        "vector_factor",
        lambda points: linear.vector_factor(points**2),
        {},
    ),
    Fault(
        "no symmetry",
        BEST[0],
        heads,
        "test_the_corrected_forms_have_the_symmetries_of_the_class",
        attention,
        "_head_parts",
        HEAD_PARTS["the power of tokens of the proof"],
        {"name": "corollary-4.9"},
    ),
    Fault(
        "positions that are left out",
        SHIFT[0],
        heads,
        SHIFT[1],
        attention,
        "_with_positions",
        lambda tokens, positions: budgets.checked_bound("B_X", tokens),
        SHIFT[2],
    ),
    Fault(
        "scores two percent apart", RADII[0], heads, RADII[1], heads, "head_radii", radii_with(TWO_PERCENT), RADII[2]
    ),
    Fault(
        "scores two percent too near",
        RADII[0],
        heads,
        RADII[1],
        heads,
        "head_radii",
        radii_with(1 / TWO_PERCENT),
        RADII[2],
    ),
    Fault(
        "values two percent apart", RADII[0], heads, RADII[1], heads, "head_radii", radii_with(1, TWO_PERCENT), RADII[2]
    ),
    Fault(
        "radii of another constant",
        "theorem-4.6",
        heads,
        "test_products_of_least_covers_cover_the_heads",
        heads,
        "head_radii",
        radii_with(TWO_PERCENT),
        {"seed": 1},
    ),
    Fault(
        "scores of the transpose",
        "definition-4.4.2",
        heads,
        "test_heads_of_one_score_matrix_and_their_symmetry",
        heads,
        "merged_head",
        lambda scores, value, **more: network_heads.merged_head(scores.T, value, **more),
        {"seed": 1},
    ),
    Fault(
        "scores divided by a root",
        "definition-4.4.2",
        heads,
        "test_heads_of_one_score_matrix_and_their_symmetry",
        heads,
        "merged_head",
        lambda scores, value, **more: network_heads.merged_head(scores, value, temperature_squared=2, **more),
        {"seed": 1},
    ),
    Fault(
        "columns for rows of the scores",
        "definition-4.4.2",
        heads,
        "test_heads_of_one_score_matrix_and_their_symmetry",
        norms,
        "_score_norm",
        lambda scores: norms.pq_norm(scores, 2, 1),
        {"seed": 1},
    ),
    Fault(
        "a Frobenius norm of the values",
        "definition-4.4.2",
        heads,
        "test_heads_of_one_score_matrix_and_their_symmetry",
        heads,
        "head_norms",
        rewritten(norms.head_norms, "spectral_norm(W_V)", "frobenius_norm(W_V)"),
        {"seed": 1},
    ),
    Fault(
        "the norm of the scores for that of the outputs",
        "definition-4.4.3",
        layers,
        "test_blocks_are_the_definition_and_keep_tokens_in_the_ball",
        layers,
        "layer_norms",
        rewritten(norms.layer_norms, "spectral_norm(W_C)", "spectral_norm(scores)"),
        {"seed": 5},
    ),
    Fault(
        "a margin with another denominator",
        "lemma-A.12",
        heads,
        "test_the_printed_sum_of_heads_fails_along_a_sequence",
        shattering.SignFamily,
        "margin",
        property(lambda self: FAMILY_MARGIN.fget(self) / TWO_PERCENT),
    ),
]


RECURSION = ("theorem-A.17", "test_the_deep_bound_is_the_best_division_along_the_recursion", {"seed": 2})
SHORT_DEEP = ("theorem-4.11", "test_the_short_deep_bound_is_above_the_long_one", {"seed": 1})
DEPTH = ("remark-4.11b", "test_small_amplifications_leave_a_cube_of_the_depth", {})
BLOCKS = ("definition-4.4.3", "test_blocks_are_the_definition_and_keep_tokens_in_the_ball", {"seed": 5})


def deep_parts(name: str, *, cost: Any = 1, rate: Any = 1) -> Any:
    """`deep_capacity` with cost or rate of the parts whose names end so multiplied."""
    original = deep.deep_capacity

    def faulty(*given: Any, **known: Any) -> budgets.Capacity:
        parts = dict(original(*given, **known).parts)
        for key, part in parts.items():
            if key.endswith(name):
                parts[key] = budgets.CoverPart(part.cost * cost, part.rate * rate)
        return budgets.Capacity(parts)

    return faulty


def amplified(function: Any, order: str) -> Any:
    """`amplifications` in another order than it was asked for."""
    return lambda *given, **known: function(*given, **(known | {"order": order}))


DEEP = {
    "two percent of the best slope": ("input_constants", lambda value, score: best_slope(value, score * TWO_PERCENT)),
    "products over earlier layers": ("amplifications", amplified(deep.amplifications, "earlier")),
    "three for five": ("layer_amplification", lambda one, **known: deep_slope(one, known, 1)),
    "no Lipschitz constant in the slope": (
        "layer_amplification",
        lambda one, **known: deep_slope(one, known | {"lipschitz": 1}, 2),
    ),
    "two percent in all maps": ("map_factor", times(linear.map_factor, TWO_PERCENT)),
    "a read-out of the largest norm": ("ball_min", lambda balls: arb(1)),
}


def without(function: Any, name: str) -> Any:
    """The function with 1 for an argument."""
    return lambda *given, **known: function(*given, **known | {name: 1})


def best_slope(value: arb, score: arb) -> Any:
    """What `input_constants` gives for these norms."""
    return attention_lipschitz.input_constants(value, score)


def deep_slope(one: deep.LayerNorms, known: dict[str, Any], twice: int) -> arb:
    """L C V (1 + ``twice`` c Q)."""
    known = {"lipschitz": 1, "softmax": 1} | known
    return known["lipschitz"] * one.output * one.value * (1 + twice * known["softmax"] * one.score)


FAULTS += [
    *[
        Fault(
            name,
            RECURSION[0],
            layers,
            RECURSION[1],
            deep,
            attribute,
            faulty,
            {"seed": 14}
            if attribute == "input_constants"
            else {"seed": 3}
            if "slope" in name or "for" in name
            else RECURSION[2],
        )
        for name, (attribute, faulty) in DEEP.items()
    ],
    *[
        Fault(
            f"{text} of the {part}", RECURSION[0], layers, RECURSION[1], layers, "deep_capacity", faulty, RECURSION[2]
        )
        for part in ("read-out", "output", "scores", "values")
        for text, faulty in (
            ("two percent in the cost", deep_parts(part, cost=TWO_PERCENT)),
            ("two percent in the rate", deep_parts(part, rate=TWO_PERCENT)),
        )
    ],
    *[
        Fault(
            f"the power of {name}",
            statement,
            layers,
            "test_every_argument_of_the_deep_bound_has_the_exponent_of_the_family",
            layers,
            function,
            without(getattr(deep, function), name),
            {"name": name},
        )
        for name in ("readout", "tokens")
        for statement, function in (("theorem-A.17", "deep_capacity"), ("theorem-4.11", "short_deep_capacity"))
    ],
    Fault(
        "tokens without weights",
        RECURSION[0],
        layers,
        "test_the_corrected_deep_bound_has_the_symmetries_of_the_class",
        layers,
        "deep_capacity",
        lambda given, **known: deep.deep_capacity(given, **known | {"tokens": known["tokens"] ** 2}),
        {"case": "tokens against the first layer"},
    ),
    Fault("a smaller constant", SHORT_DEEP[0], layers, SHORT_DEEP[1], deep, "SHORT_DEEP_CONSTANT", 780, SHORT_DEEP[2]),
    Fault(
        "no cube of the depth",
        SHORT_DEEP[0],
        layers,
        SHORT_DEEP[1],
        layers,
        "short_deep_capacity",
        lambda depth, **known: budgets.Capacity(
            {
                name: budgets.CoverPart(part.cost / depth, part.rate)
                for name, part in deep.short_deep_capacity(depth, **known).parts.items()
            }
        ),
        SHORT_DEEP[2],
    ),
    Fault(
        "slopes two percent too small",
        DEPTH[0],
        layers,
        DEPTH[1],
        deep,
        "layer_amplification",
        times(deep.layer_amplification, 1 / TWO_PERCENT),
        DEPTH[2],
    ),
    Fault(
        "seven for five",
        DEPTH[0],
        layers,
        DEPTH[1],
        deep,
        "layer_amplification",
        lambda one, **known: deep_slope(one, known, 3),
        DEPTH[2],
    ),
    *[
        Fault(
            name,
            DEPTH[0],
            layers,
            "test_spectral_norms_of_one_avoid_the_exponential",
            layers,
            "contracted_amplifications",
            rewritten(deep.contracted_amplifications, old, new),
        )
        for name, old, new in (
            ("tokens that come no nearer", "beta.tanh()", "1"),
            ("tokens that come two percent nearer", "beta.tanh()", "beta.tanh() / arb('1.02')"),
            ("half of the slope", "(beta + (1 +", "((1 +"),
            ("another root", "1 + one.score * beta", "1 + beta * beta"),
            ("a slope of two percent more", "slopes.append(scale * ", "slopes.append(arb('1.02') * scale * "),
            ("slopes of the first layers", "reversed(slopes)", "slopes"),
            ("no Lipschitz constant", "scale, beta = L * ", "scale, beta = "),
            ("layers that are one too early", "in layers[1:]", "in layers[:-1]"),
            ("no ball", "ball_min([arb(2), ", "ball_min(["),
        )
    ],
    Fault(
        "no projection behind the layer",
        BLOCKS[0],
        layers,
        BLOCKS[1],
        blocks,
        "BallProjection",
        lambda width: (lambda tokens: tokens) if width == 3 else layers.BallProjection(width),
        BLOCKS[2],
    ),
    Fault(
        "another activation",
        BLOCKS[0],
        layers,
        BLOCKS[1],
        blocks,
        "FeedForward",
        lambda maps, activations: layers_identity(),
        BLOCKS[2],
    ),
    Fault(
        "columns of another matrix",
        BLOCKS[0],
        layers,
        BLOCKS[1],
        layers,
        "layer_norms",
        lambda values, scores, outputs: norms.layer_norms(values, scores, outputs.T.copy().T * TWO_PERCENT),
        BLOCKS[2],
    ),
]


def layers_identity() -> Any:
    """A feed-forward layer that does nothing."""
    return lambda tokens: tokens


POSITIONS = "test_trained_positions_cost_a_number_linear_in_the_length"
FAULTS += [
    Fault(
        "scores divided by a root",
        "remark-4.4.2b",
        components,
        POSITIONS,
        components,
        "merged_head",
        lambda scores, value, **more: network_heads.merged_head(scores, value, temperature_squared=2, **more),
    ),
    Fault(
        "positions that cost their length",
        "remark-4.4.2b",
        components,
        POSITIONS,
        components,
        "positional_capacity",
        lambda norms, *, length, **more: budgets.Capacity(
            {
                "all": budgets.CoverPart(
                    length * attention.positional_capacity(norms, length=length, **more).constant, arb(1)
                )
            }
        ),
    ),
    Fault(
        "no residual",
        "remark-4.4.2b",
        components,
        "test_residual_connections_add_one_to_the_slope_and_nothing_to_covers",
        components,
        "AttentionLayer",
        lambda given, kind: components_layer(given, "sum"),
        {"seed": 3},
    ),
    *[
        Fault(
            name,
            "remark-4.4.2b",
            components,
            "test_several_heads_cost_a_power_and_projections_keep_tokens_in_the_ball",
            owner,
            attribute,
            faulty,
        )
        for name, owner, attribute, faulty in (
            (
                "a ball that is too large",
                components,
                "BallProjection",
                lambda d: layers.BallProjection(d, 1.02),
            ),
            (
                "a head that is lost",
                components,
                "multi_head_capacity",
                lambda given, **at: attention.multi_head_capacity(given[1:] or given, **at),
            ),
            (
                "two percent of a head",
                components,
                "head_capacity",
                lambda norms, **at: budgets.Capacity(
                    {"all": budgets.CoverPart(attention.head_capacity(norms, **at).constant * TWO_PERCENT, arb(1))}
                ),
            ),
        )
    ],
]


def components_layer(given: Any, kind: Any) -> Any:
    """The attention layer with these heads."""
    from lemmata.constructions.networks.attention import AttentionLayer

    return AttentionLayer(given, kind)


MOVE = linear_codes._Walk.move
FAULTS += [
    *[
        Fault(
            f"a step {text}",
            statement,
            covers,
            check,
            linear_codes._Walk,
            "move",
            faulty,
            arguments,
        )
        for text, faulty in (
            ("with the other sign", lambda walk, i, sign: MOVE(walk, i, -sign)),
            ("at the next point", lambda walk, i, sign: MOVE(walk, (i + 1) % len(walk.values), sign)),
        )
        for statement, check, arguments in (
            ("lemma-A.10", *ORTHONORMAL),
            ("lemma-4.10", "test_matrices_are_rebuilt_from_their_codes", {"seed": 9}),
        )
    ],
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "variable-creation", monkeypatch, refusals=(linear_codes.CodeError,))


def factor_with(function: Any, power: Any) -> Any:
    """`_one_factor` with another factor beside the scores."""
    return lambda factor, given, tokens, lipschitz, beside: function(factor, given, tokens, lipschitz, power(beside))


PRINTED: list[tuple[Any, Any, str, Any]] = [
    (
        heads.test_the_printed_power_of_the_tokens_fails_along_a_sequence,
        attention,
        "_one_factor",
        factor_with(attention._one_factor, lambda beside: beside / TWO_PERCENT),
    ),
    (
        heads.test_the_printed_power_with_positions_fails_along_a_sequence,
        attention,
        "_one_factor",
        factor_with(attention._one_factor, lambda beside: beside / 2),
    ),
    (
        heads.test_the_printed_sum_of_heads_fails_along_a_sequence,
        attention,
        "_one_factor",
        factor_with(attention._one_factor, lambda beside: beside / 2),
    ),
    (
        layers.test_the_readout_belongs_beside_the_whole_bracket,
        layers,
        "printed_deep_capacity",
        lambda given, **known: deep.printed_deep_capacity(given[::-1], **known),
    ),
    (
        layers.test_a_bound_on_the_tokens_is_needed,
        deep,
        "layer_amplification",
        lambda one, **known: deep_slope(one, known, 1),
    ),
    (
        layers.test_the_printed_constraint_on_keys_and_queries_bounds_nothing,
        layers,
        "printed_deep_capacity",
        lambda given, **known: deep.printed_deep_capacity(given, **dict[str, Any](known | {"key_width": None})),
    ),
    (
        layers.test_the_printed_power_of_the_tokens_fails_in_deep_networks,
        layers,
        "printed_short_deep_capacity",
        lambda depth, **known: deep.printed_short_deep_capacity(depth, **known | {"exponent": 2}),
    ),
]


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_counterexamples_see_printed_forms_that_are_not_the_documents(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, owner, attribute, faulty = PRINTED[number]
    check()
    monkeypatch.setattr(owner, attribute, faulty)
    with pytest.raises(AssertionError):
        check()
