"""Faults planted in prompts, codes, attention and its certificates: the deciding checks must see them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import ModuleType
from typing import Any

import pytest
from flint import fmpq

import lemmata.certificates.tokens.few_heads as few_heads
import lemmata.certificates.tokens.lipschitz as lipschitz
import lemmata.certificates.tokens.retrieval as retrieval
import lemmata.constructions.networks.head as heads
import lemmata.constructions.tokens.attention as attention
import lemmata.constructions.tokens.separating as separating
import lemmata.constructions.tokens.transformer as transformer
import lemmata.numerics.tokens.codes as codes
import lemmata.numerics.tokens.encoding as encoding
import lemmata.numerics.tokens.gaussian as gaussian
import lemmata.numerics.tokens.links as links
import lemmata.numerics.tokens.prompts as prompts
from lemmata.theorems.plugin import Effort
from lemmata.theorems.qstr import test_attention as attention_checks
from lemmata.theorems.qstr import test_few_heads as few_heads_checks
from lemmata.theorems.qstr import test_prompts as prompt_checks
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

QUICK = Effort("quick")
INDIRECT = (
    "test_the_construction_meets_all_bounds_of_the_lemma",
    "test_the_labels_of_the_construction",
    "test_the_transformer_is_the_definition",
)
"""Checks that reach what builds weights through other functions of the library."""
PLACES = {
    "merged_head": transformer,
    "readout_of": attention,
    "retrieval_sharpness": attention,
    "retrieval_attention": attention,
    "lipschitz_ball": attention,
}
"""Where those functions have it from."""


def _fault(
    statement: str, module: ModuleType, check: str, owner: Any, name: str, old: str, new: str, /, **arguments: Any
) -> Fault:
    """One piece of a function or a method changed, where the check or the library has it from."""
    original = vars(owner)[name]
    getter = original.fget if isinstance(original, property) else getattr(original, "func", original)
    faulty = rewritten(getter, old, new)
    if isinstance(faulty, cached_property):  # which would not find its name in a class that exists
        faulty = property(faulty.func)
    place = module if hasattr(module, name) and isinstance(owner, ModuleType) else owner
    if name in PLACES and (check in INDIRECT or name == "readout_of"):
        place = PLACES[name]
    known: Mapping[str, Any] = arguments
    return Fault(f"{old} is {new or 'left out'}", statement, module, check, place, name, faulty, known)


def _few(statement: str, check: str, owner: Any, name: str, old: str, new: str, /, **arguments: Any) -> Fault:
    return _fault(statement, few_heads_checks, check, owner, name, old, new, **arguments)


def _attention(statement: str, check: str, owner: Any, name: str, old: str, new: str, /, **arguments: Any) -> Fault:
    return _fault(statement, attention_checks, check, owner, name, old, new, **arguments)


def _prompt(statement: str, check: str, owner: Any, name: str, old: str, new: str, /, **arguments: Any) -> Fault:
    return _fault(statement, prompt_checks, check, owner, name, old, new, **arguments)


VARIANCE = ("test_the_variance_of_a_squared_norm", gaussian, "squared_norm_variance")
HIDDEN = "test_the_hidden_variance_is_that_of_the_projector"
SEEN = "test_the_scores_of_a_hard_position_see_one_projection_for_each_head"
SPLIT = "test_block_diagonal_heads_have_the_same_weights_for_all_tokens"
HALF = "test_more_than_half_of_the_positions_are_hard"
MIN = "construction-min-qd-heads"
DETERMINE = ("test_d_heads_determine_all_tokens_for_every_q", {"q": 3, "d": 2, "N": 8})
DECODED = ("test_the_printed_decoding_has_the_error_of_the_leakage", {"q": 3, "d": 2, "N": 8})
SEPARATING = separating.SeparatingAttention

FEW_HEADS = [
    _few("lemma-40", *VARIANCE, "2 * (S * S).sum()", "(S * S).sum() * 51 / 25", d=2, rank=2),
    _few("lemma-40", *VARIANCE, " + 4 * (m", " + 102 * (m", d=2, rank=2),
    _few("lemma-40", *VARIANCE, " + 4 * (m * (S @ m)).sum()", "", d=3, rank=1),
    _few("lemma-40", *VARIANCE, "(m * (S @ m))", "(m * m)", d=3, rank=1),
    _few("proposition-3", HIDDEN, few_heads, "few_heads_bound", "(d - H)", "(d - H + 1)", q=3, d=3),
    _few("proposition-3", HIDDEN, few_heads, "few_heads_bound", "(q - H) * (d - H)", "q * d - H * (q + d)", q=3, d=3),
    _few(
        "proposition-3",
        HIDDEN,
        few_heads,
        "few_heads_bound",
        "(q - H) * (d - H)",
        "fmpq(51, 50) * (q - H) * (d - H)",
        q=3,
        d=3,
    ),
    _few("proposition-3", HIDDEN, few_heads, "few_heads_bound", " if min(q, d)", " if max(q, d)", q=2, d=4),
    _few("proposition-3", HIDDEN, few_heads, "printed_few_heads_bound", "(q + d)", "(q + d - 1)", q=3, d=3),
    _few(
        "proposition-3", HIDDEN, few_heads, "hidden_variance", "w.shape[1] - rank(w)", "w.shape[1] - len(w)", q=3, d=3
    ),
    _few(
        "proposition-3",
        HIDDEN,
        few_heads,
        "hidden_variance",
        "alpha.shape[1] - rank(alpha)",
        "alpha.shape[1] - len(alpha)",
        q=3,
        d=3,
    ),
    _few("proposition-3", HIDDEN, few_heads, "hidden_variance", "2 * ", "1 * ", q=3, d=3),
    _few("proposition-3", HIDDEN, few_heads, "conditioned_rank", "for r in range(d)]", "for r in range(1)]", q=3, d=3),
    _few(
        "proposition-3",
        HIDDEN,
        few_heads,
        "conditioned_rank",
        "for j in range(q) for",
        "for j in range(1) for",
        q=3,
        d=3,
    ),
    _few(
        "proposition-3",
        SEEN,
        few_heads,
        "head_view",
        '.T)[0][stream["x"]]',
        '.T)[0][stream["position"]][:3]',
        q=3,
        d=3,
        H=2,
    ),
    _few(
        "proposition-3",
        SEEN,
        few_heads,
        "head_view",
        "head.query(query[None])",
        "0 * head.query(query[None])",
        q=3,
        d=3,
        H=2,
    ),
    _few(
        "proposition-3",
        SEEN,
        few_heads.HeadView,
        "bound",
        "fmpq(self.rank, d)",
        "fmpq(self.rank - 1, d)",
        q=3,
        d=3,
        H=2,
    ),
    _few("proposition-3", SEEN, few_heads.HeadView, "bound", "min(H, sparsity)", "min(H, sparsity) + 1", q=3, d=3, H=2),
    _few("proposition-3", HALF, few_heads, "least_risk", "N // 2 + 1", "N // 2"),
    _few("proposition-3", HALF, few_heads, "least_risk", "(N + 1) // 2 - 1", "(N + 1) // 2"),
    _few("proposition-21", HALF, few_heads, "least_risk", "2 * (", "fmpq(51, 25) * ("),
    _few("proposition-21", SPLIT, few_heads, "block_diagonal_bound", "fmpq(H, q)", "fmpq(H, q + 1)", q=3, d=2, H=2),
    _few("proposition-21", SPLIT, few_heads, "hidden_variance", "rank(alpha)", "rank(alpha) + 1", q=3, d=2, H=2),
    _few(
        "proposition-21",
        SPLIT,
        transformer,
        "query_key_head",
        "stream.matrix(blocks)",
        'stream.matrix({**blocks, ("position", "x"): [[1]]})',
        q=3,
        d=2,
        H=2,
    ),
    _few(
        "proposition-21",
        "test_retrieving_some_of_the_tokens_attains_the_bound",
        attention,
        "retrieval_attention",
        'f"index_{h}"',
        'f"index_{max(h - 1, 1)}"',
        q=5,
        d=2,
        H=2,
        effort=QUICK,
    ),
]
MINIMAL = [
    _few(MIN, DETERMINE[0], separating, name, old, new, **DETERMINE[1])
    for name, old, new in (
        ("separating_attention", "slope * slope * scale", "slope * slope * scale * fmpq(51, 50)"),
        ("separating_attention", "slope * slope * scale", "slope * scale"),
        ("separating_attention", "A * scale,", "A * scale * fmpq(51, 50),"),
        ("separating_attention", "constant * np.eye(d, dtype=np.int64)[h]", "constant * np.eye(d, dtype=np.int64)[0]"),
        ("separating_attention", "range(1, q + 1)", "range(1, q)"),
        ("separating_attention", "fmpq(d, q * codes.square)", "fmpq(d + 1, q * codes.square)"),
    )
]
MINIMAL += [
    _few(MIN, DETERMINE[0], SEPARATING, name, old, new, **DETERMINE[1])
    for name, old, new in (
        ("decode", "o[..., None] + ", "o[..., None] * fmpq(51, 50) + "),
        ("decode", "- (p * levels).sum(axis=-1, keepdims=True)", "- levels.mean(axis=-1, keepdims=True)"),
        ("decode", "logs - A * counts", "logs + A * counts"),
        ("decode", ") / s\n", ") / (s * s)\n"),
        ("label", "counts[..., None] * ", "(counts[..., None] > 0) * "),
        ("weights_of", "[..., place, place]", "[..., place, 0 * place]"),
    )
]
MINIMAL += [
    _few(MIN, DETERMINE[0], SEPARATING, "decode", "shifted[..., 0, :] + mean", "shifted[..., 0, :]", q=7, d=1, N=8),
    _few(MIN, DECODED[0], SEPARATING, "weights_of", "read / read.sum(axis=-1, keepdims=True)", "read", **DECODED[1]),
    _few(MIN, DECODED[0], separating, "separating_attention", "* slope\n", "* slope * fmpq(51, 50)\n", **DECODED[1]),
    _few(
        MIN,
        DECODED[0],
        separating,
        "separating_attention",
        "(duals.T @ duals) * A",
        "(duals.T @ duals) * A / 2",
        **DECODED[1],
    ),
]

BOUNDS = (
    "test_the_construction_meets_all_bounds_of_the_lemma",
    {"family": "all correlations 1/2", "r": 2, "error": fmpq(1, 10)},
)
LABELS = ("test_the_labels_of_the_construction", {"family": "all correlations 1/2"})
ATTAINED = ("test_the_retrieval_bound_is_attained", {"N": 9, "d": 3, "q": 2})
RANDOM = "test_no_random_instance_exceeds_the_bound"
MEAN = ("test_one_head_gives_the_mean_of_different_tokens", {"N": 10, "d": 2, "q": 3, "make": codes.orthonormal_codes})
REPEATED = ("test_one_head_gives_the_mean_also_of_repeated_tokens", {"N": 6, "d": 2, "q": 3})
MOVED = ("test_attention_moves_at_most_as_its_matrices", {"case": 4})
TIE = ("test_the_constant_1_is_attained_at_a_tie", {"D": 2})
DEFINED = ("test_the_transformer_is_the_definition", {"d": 1, "q": 2, "e": 1, "H": 2})

RETRIEVAL = [
    _attention("lemma-11", BOUNDS[0], owner, name, old, new, **BOUNDS[1])
    for owner, name, old, new in (
        (attention, "retrieval_sharpness", "* 2 * q / d", "* 1.96 * q / d"),
        (attention, "retrieval_sharpness", "* 2 * q / d", "* 2.04 * q / d"),
        (attention, "retrieval_sharpness", "* 2 * q / d", "* 2 / d"),
        (attention, "retrieval_transformer", "2 * lipschitz_ball(link)", "lipschitz_ball(link)"),
        (attention, "retrieval_transformer", "* arb(q).sqrt()", ""),
        (attention, "retrieval_transformer", " * r * ", " * r * r * "),
        (attention, "lipschitz_ball", "squares[1] + squares[2]", "squares[1]"),
        (attention, "retrieval_attention", ".astype(object) * sharpness", ".astype(object) * sharpness * fmpq(51, 50)"),
        (
            attention,
            "retrieval_attention",
            "np.eye(codes.dimension, dtype=np.int64).astype",
            "np.eye(codes.dimension, k=1, dtype=np.int64).astype",
        ),
        (transformer, "readout_of", "link.weight[:, head].T", "link.weight[:, head].T * 2"),
        (retrieval, "certify_retrieval", "2 * r * ball_max", "4 * r * ball_max"),
        (retrieval, "label_bound", "error * error", "error"),
    )
]
RETRIEVAL += [
    _attention("lemma-11", LABELS[0], owner, name, old, new, **LABELS[1])
    for owner, name, old, new in (
        (transformer, "readout_of", "link.weight[:, head]", "link.weight[:, 0]"),
        (transformer, "readout_of", "link.output[:, None]", "link.output[:, None] * 51 / 50"),
        (attention, "retrieval_attention", 'f"index_{h}"', '"index_1"'),
        (encoding, "encode", "rows[prompts.indices]", "rows[prompts.indices[..., ::-1]]"),
    )
]
RETRIEVAL += [
    _attention("lemma-11", ATTAINED[0], owner, name, old, new, **ATTAINED[1])
    for owner, name, old, new in (
        (retrieval, "retrieval_bound", "2 * r * leak", "2.04 * r * leak"),
        (retrieval, "retrieval_bound", "(1 + leak)", "1"),
        (retrieval, "retrieval_bound", ", 1) - 1", ", 1)"),
        (retrieval, "printed_bound", "(2 * sparsity)", "sparsity"),
        (retrieval, "printed_bound", "* length *", "* (length - 1) *"),
        (retrieval, "certify_retrieval", "/ codes.square", "/ codes.square * fmpq(51, 50)"),
        (retrieval, "_share_of_others", "others / (1 + others)", "others"),
        (encoding, "encoding_scale", "fmpq(dimension, sparsity)", "fmpq(dimension)"),
    )
]
RETRIEVAL += [
    _attention(
        "lemma-11",
        RANDOM,
        attention,
        "retrieval_attention",
        "* sharpness\n",
        "* sharpness * 0.9\n",
        effort=QUICK,
        record_property=print,
    ),
    _attention(
        "lemma-11",
        RANDOM,
        encoding,
        "encoding_scale",
        "fmpq(dimension, sparsity)",
        "fmpq(1, sparsity)",
        effort=QUICK,
        record_property=print,
    ),
]
AVERAGES = [
    _attention("remark-sparse-averaging", MEAN[0], attention, "averaging_attention", old, new, **MEAN[1])
    for old, new in (
        ("(dual.T @ dual) * sharpness", "(dual.T @ dual) * sharpness * fmpq(51, 50)"),
        ("range(1, sparsity + 1)", "range(1, sparsity)"),
        ("range(1, sparsity + 1)", "range(2, sparsity + 1)"),
    )
]
AVERAGES += [
    _attention(
        "remark-sparse-averaging", MEAN[0], links, "mean_link", "u * fmpq(1, q)", "u * fmpq(1, q + 1)", **MEAN[1]
    ),
    _attention(
        "remark-sparse-averaging",
        REPEATED[0],
        attention,
        "counting_embedding",
        "* root], axis",
        "* root * 1.02], axis",
        **REPEATED[1],
    ),
    _attention(
        "remark-sparse-averaging",
        REPEATED[0],
        attention,
        "counting_embedding",
        "-convert([gap])",
        "-convert([gap]) / 2",
        **REPEATED[1],
    ),
    _attention(
        "remark-sparse-averaging",
        REPEATED[0],
        attention,
        "counting_embedding",
        "np.arange(1, prompts.sparsity + 1)",
        "np.ones(prompts.sparsity, dtype=int)",
        **REPEATED[1],
    ),
    _attention(
        "remark-sparse-averaging", REPEATED[0], attention, "dual_codes", "solved @", "2 * solved @", **REPEATED[1]
    ),
]
LIPSCHITZ = [
    _attention("lemma-15", check, lipschitz, name, old, new, **arguments)
    for (check, arguments), name, old, new in (
        (MOVED, "query_key_bound", "largest * np.sqrt(total)", "largest * np.sqrt(total) * 2"),
        (MOVED, "query_key_bound", "largest * np.sqrt(total)", "np.sqrt(largest * total)"),
        (MOVED, "query_key_bound", "convert(one.query.weight) - ", "convert(one.query.weight).T - "),
        (MOVED, "query_key_bound", "total + (moved", "(moved"),
        (MOVED, "attention_change", "first(z) - second(z)", "(first(z) - second(z)) / 2"),
        (TIE, "query_key_bound", "largest * np.sqrt(total)", "largest * np.sqrt(total) * 0.98"),
        (TIE, "attention_change", "np.sqrt(", "1.02 * np.sqrt("),
    )
]
DEFINITION = [
    _attention("definition-transformer", DEFINED[0], owner, name, old, new, **DEFINED[1])
    for owner, name, old, new in (
        (heads, "merged_head", "Affine.of(scores)", "Affine.of(np.asarray(scores).T)"),
        (heads, "merged_head", "tokens if value is None", "Affine(2 * tokens.weight) if value is None"),
        (heads.Head, "combine", "result if self.output is None", "result * fmpq(51, 50) if self.output is None"),
        (heads.Head, "_scaled", "return scores if self.sharpness == 1", "return scores / 2 if self.sharpness == 1"),
        (transformer.TokenTransformer, "__call__", "[..., 0]", "[..., 0] * 51 / 50"),
    )
]

GATHER = ("test_labels_are_the_link_at_the_indices", {"name": "ReLU network"})
ONLY = "test_only_the_indices_matter_and_simple_draws_share_them"
MOMENTS = ("test_gaussian_tokens_meet_the_moment_bound_with_constant_1", {"d": 3})
NO_ERROR = "test_links_that_are_relu_networks_have_no_error"
CORRECTED = ("test_the_corrected_dimension_suffices", {"N": 100})
BUILT = "test_codes_that_meet_the_assumption_by_construction"
EMBEDDED = ("test_the_embedding_and_its_length", {"d": 8, "q": 2, "variant": "attention"})
RISKS = "test_the_risks_agree_in_the_mean_and_for_constant_errors"
CODES = codes.PositionCodes

DATA = [
    _prompt("definition-2", GATHER[0], prompts.Prompts, "selected", "self.indices]", "self.indices - 1]", **GATHER[1]),
    _prompt(
        "definition-2",
        GATHER[0],
        prompts.Prompts,
        "simple",
        "self.indices[:, :1]",
        "self.indices[:, 1:2, :1]",
        **GATHER[1],
    ),
    _prompt(
        "definition-2", GATHER[0], prompts.Prompts, "relabelled", "pi[self.indices]", "back[self.indices]", **GATHER[1]
    ),
    _prompt("definition-2", GATHER[0], links.ReluLink, "__call__", " + convert(self.bias)", "", **GATHER[1]),
    _prompt(
        "definition-2", GATHER[0], links, "squared_norm_link", "(tokens * tokens)", "abs(tokens)", name="squared norms"
    ),
    _prompt("definition-2", ONLY, prompts, "draw_prompts", "1 if simple else N", "N"),
    _prompt("definition-2", ONLY, links, "squared_norm_link", "tokens.shape[-1]", "tokens.shape[-2]"),
    _prompt(
        "definition-2",
        ONLY,
        prompts,
        "draw_prompts",
        "rng.integers(0, N, (n, rows, q))",
        "rng.integers(0, 1, (n, rows, q))",
    ),
    _prompt("assumption-1", MOMENTS[0], gaussian, "norm_moment", "(r + d) * half", "(r + d - 1) * half", **MOMENTS[1]),
    _prompt("assumption-1", MOMENTS[0], gaussian, "norm_moment", "** (r * half)", "** r", **MOMENTS[1]),
    _prompt("assumption-1", MOMENTS[0], gaussian, "norm_moment", ".exp()", ".exp() * 1.02", **MOMENTS[1]),
    _prompt("assumption-2", NO_ERROR, links, "max_link", "[u - v, v, -v]", "[u - v, v, v]", name="maximum"),
    _prompt("assumption-2", NO_ERROR, links, "linear_link", "[1, -1]", "[1, 1]", name="linear"),
    _prompt("assumption-2", NO_ERROR, links.ReluLink, "output_radius", "math.sqrt(self.width) * ", "", name="maximum"),
    _prompt("assumption-2", NO_ERROR, links.ReluLink, "weight_radius", " / self.width", "", name="maximum"),
    _prompt(
        "assumption-2",
        NO_ERROR,
        links.ReluLink,
        "weight_radius",
        "(self.weight, self.bias)",
        "(self.weight,)",
        name="ReLU network",
    ),
    _prompt(
        "assumption-2",
        NO_ERROR,
        links.ReluLink,
        "lipschitz_bound",
        "self.output_radius *",
        "1.02 * self.output_radius *",
        name="linear",
    ),
    _prompt("assumption-3", CORRECTED[0], codes, "sign_code_dimension", "8 * ", "7.84 * ", **CORRECTED[1]),
    _prompt(
        "assumption-3", CORRECTED[0], codes, "sign_code_dimension", "N * (N - 1)", "N * (N - 1) / 2", **CORRECTED[1]
    ),
    _prompt("assumption-3", BUILT, CODES, "violations", "2 * np.abs(part)", "2 * part"),
    _prompt("assumption-3", BUILT, CODES, "violations", "> self.square", "> 1.3 * self.square"),
    _prompt("assumption-3", BUILT, CODES, "violations", "> self.square", ">= self.square"),
    _prompt("assumption-3", BUILT, CODES, "coherence", "largest, self.square", "largest, self.square + 1"),
    _prompt(
        "construction-encoding",
        EMBEDDED[0],
        encoding,
        "encode",
        "[conversion(system)(prompts.tokens), own, pointed]",
        "[conversion(system)(prompts.tokens), pointed, own]",
        **EMBEDDED[1],
    ),
    _prompt(
        "construction-encoding",
        EMBEDDED[0],
        encoding,
        "encoding_scale",
        "fmpq(dimension, sparsity)",
        "fmpq(dimension, 2 * sparsity) * 2 * 4",
        **EMBEDDED[1],
    ),
    _prompt(
        "construction-encoding",
        EMBEDDED[0],
        codes,
        "scaled_integers",
        "return values * math.sqrt(",
        "return 1.02 * values * math.sqrt(",
        **EMBEDDED[1],
    ),
    _prompt(
        "construction-encoding",
        EMBEDDED[0],
        codes,
        "scaled_integers",
        "arb(square).sqrt()",
        "arb(square)",
        **EMBEDDED[1],
    ),
    _prompt("construction-encoding", EMBEDDED[0], encoding, "radius", "(sparsity + 1)", "sparsity", **EMBEDDED[1]),
    _prompt("definition-risks", RISKS, prompts, "averaged_risk", "errors.size", "len(errors)"),
    _prompt("definition-risks", RISKS, prompts, "pointwise_risk", "/ len(errors)", "/ (len(errors) + 1)"),
    _prompt(
        "definition-risks",
        RISKS,
        prompts,
        "pointwise_risk",
        "np.arange(len(errors)), j",
        "np.arange(len(errors)), j[::-1]",
    ),
    _prompt("definition-risks", RISKS, prompts, "population_risk", "/ errors.shape[1]", ""),
    _prompt("definition-risks", RISKS, prompts, "population_risk", "p * errors.sum", "p[::-1] * errors.sum"),
]

FAULTS = [*FEW_HEADS, *MINIMAL, *RETRIEVAL, *AVERAGES, *LIPSCHITZ, *DEFINITION, *DATA]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_the_deciding_check_sees_the_fault(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "qstr", monkeypatch, refusals=(ValueError, pytest.fail.Exception))


def test_every_statement_settled_by_these_checks_has_a_fault() -> None:
    assert {fault.statement for fault in FAULTS} == {
        *("definition-2", "assumption-1", "assumption-2", "assumption-3", "construction-encoding", "definition-risks"),
        *("definition-transformer", "lemma-11", "lemma-15", "remark-sparse-averaging"),
        *("lemma-40", "proposition-3", "proposition-21", "construction-min-qd-heads"),
    }
