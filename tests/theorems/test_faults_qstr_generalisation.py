"""Faults planted in the bounds of the transformer: the deciding checks of their statements have to see them."""

from __future__ import annotations

from types import ModuleType

import pytest

import lemmata.certificates.tokens.feed_forward as feed_forward
import lemmata.certificates.tokens.few_heads as few_heads
import lemmata.certificates.tokens.minimum_norm as minimum_norm
import lemmata.numerics.tokens.query_key_code as codes
import lemmata.numerics.tokens.transformer_bounds as bounds
from lemmata.theorems.qstr import test_hierarchy as hierarchy
from lemmata.theorems.qstr import test_transformer_covers as covers
from lemmata.theorems.qstr import test_transformer_risks as risks
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten


def _fault(
    statement: str, module: ModuleType, check: str, name: str, old: str, new: str, owner: ModuleType = bounds
) -> Fault:
    """One piece of a function changed, in the library's module or where the check has it from."""
    place = module if hasattr(module, name) else owner
    return Fault(
        f"{old} is {new or 'left out'}",
        statement,
        module,
        check,
        place,
        name,
        rewritten(getattr(owner, name), old, new),
    )


CLASS = bounds.TransformerClass
FAULTS = [
    _fault("lemma-12", risks, "test_tail_is_attained", "token_norm_tail", "-exponent / 2", "-exponent / 2.04"),
    _fault("lemma-12", risks, "test_tail_is_attained", "token_norm_tail", "return count *", "return"),
    _fault("lemma-12", risks, "test_tail_is_attained", "safe_token_norm", "(3 *", "(2.94 *"),
    Fault(
        "readout of half the gain",
        "lemma-13",
        covers,
        "test_composed_covers_of_finite_classes",
        CLASS,
        "lipschitz",
        property(lambda self: self.outer * self.inner / 2),
    ),
    Fault(
        "reach without the bias",
        "lemma-14",
        covers,
        "test_sensitivity_of_the_readout",
        CLASS,
        "reach",
        property(lambda self: (self.heads * self.embedding_norm**2).sqrt()),
    ),
    _fault("lemma-14", covers, "test_cover_of_the_readout", "readout_cover", "/ 2", ""),
    _fault(
        "lemma-14",
        covers,
        "test_cover_of_the_readout",
        "readout_cover",
        "networks.readout_parameters - networks.neurons",
        "networks.readout_parameters",
    ),
    Fault(
        "a bias too few",
        "lemma-14",
        covers,
        "test_cover_of_the_readout",
        CLASS,
        "readout_parameters",
        property(lambda self: self.neurons * (self.heads * self.dimension + 1)),
    ),
    _fault(
        "lemma-16",
        covers,
        "test_covers_of_the_query_key_matrices",
        "query_key_cover",
        "4 * (networks.heads",
        "3.9 * (networks.heads",
    ),
    _fault("lemma-16", covers, "test_covers_of_the_query_key_matrices", "query_key_cover", "2 * n *", "2 *"),
    _fault(
        "lemma-16", covers, "test_covers_of_the_query_key_matrices", "query_key_cover", "arb(4).log()", "arb(2).log()"
    ),
    _fault(
        "lemma-16",
        covers,
        "test_covers_of_the_query_key_matrices",
        "query_key_cover",
        "arb(networks.heads).sqrt() * reach",
        "reach",
    ),
    Fault(
        "accuracies that are too coarse",
        "lemma-16",
        covers,
        "test_codes_of_matrices",
        codes,
        "_accuracy",
        lambda level, eps: eps / 2**level,
    ),
    Fault(
        "accuracies that are too fine",
        "lemma-16",
        covers,
        "test_the_longest_code",
        codes,
        "_accuracy",
        lambda level, eps: eps / 2 ** (level + 2),
    ),
    _fault("lemma-16", covers, "test_codes_of_matrices", "_level", "4 ** (level + 1)", "2 ** (level + 1)", codes),
    _fault("lemma-16", covers, "test_codes_of_matrices", "decode_query_key", "+ move.sign", "- move.sign", codes),
    _fault("proposition-17", covers, "test_cover_of_the_class", "log_cover", "radius / (2 *", "radius / ("),
    _fault("proposition-17", covers, "test_cover_of_the_class", "log_cover", "embedding_norm**2", "embedding_norm"),
    _fault("proposition-17", covers, "test_cover_of_the_class", "log_cover", "radius / 2)", "radius)"),
    _fault("lemma-18", risks, "test_chaining_of_finite_classes", "chained_rademacher", "3 *", "2.94 *"),
    _fault("lemma-18", risks, "test_chaining_of_finite_classes", "chained_rademacher", "(now + before)", "now"),
    _fault("lemma-18", risks, "test_rademacher_bound_of_the_losses", "_chained_sums", "2 ** (j + 1)", "2**j"),
    _fault("lemma-18", risks, "test_rademacher_bound_of_the_losses", "_chained_sums", "tau.sqrt()", "tau"),
    _fault("corollary-19", risks, "test_generalisation_gap", "generalisation_gap", "2 * truncated", "truncated"),
    _fault("corollary-19", risks, "test_generalisation_gap", "generalisation_gap", "3 * tau", "2.94 * tau"),
    _fault("lemma-20", risks, "test_truncation_level_by_hand", "truncation_level", "return 4 *", "return 3.92 *"),
    _fault("lemma-20", risks, "test_truncation_level_by_hand", "truncation_level", "2 * rest**2", "rest**2"),
    _fault("lemma-20", risks, "test_truncation_level_by_hand", "truncation_level", "e**2 * c_y", "e * c_y"),
    _fault(
        "lemma-20",
        risks,
        "test_truncation_level_by_hand",
        "truncation_level",
        "_at_least_one(2 *",
        "_at_least_one(1.96 *",
    ),
    _fault("theorem-10", risks, "test_excess_risk_by_hand", "risk_terms", "1 / arb(samples).sqrt()", "arb(0)"),
    _fault(
        "theorem-10",
        risks,
        "test_excess_risk_by_hand",
        "risk_terms",
        "networks.embedding_norm < needed",
        "networks.embedding_norm * 2 < needed",
    ),
    Fault(
        "codes of half the norm",
        "theorem-10",
        risks,
        "test_excess_risk_by_hand",
        bounds.TokenTask,
        "code_norm",
        property(lambda self: self.dimension * bounds.arb(1) / self.sparsity),
    ),
    _fault("theorem-4", risks, "test_norm_ball", "norm_ball_class", "bound / arb(2).sqrt()", "bound / 2"),
    _fault("theorem-4", risks, "test_norm_ball", "norm_ball_class", "arb(task.embedding_dimension).sqrt()", "1"),
    Fault(
        "one code too few",
        "proof-theorem-10-to-4",
        risks,
        "test_bookkeeping_of_the_dimensions",
        bounds.TokenTask,
        "embedding_dimension",
        property(lambda self: self.dimension + self.sparsity * self.encoding),
    ),
    _fault(
        "theorem-1", hierarchy, "test_too_few_heads_are_left_with_a_risk", "few_heads_bound", "(d - H)", "d", few_heads
    ),
    _fault(
        "theorem-1",
        hierarchy,
        "test_samples_of_the_feed_forward_network_are_the_coordinates",
        "samples_needed",
        "(1 - value)",
        "(1 - value * value)",
        feed_forward,
    ),
    _fault(
        "table-1",
        hierarchy,
        "test_samples_of_the_feed_forward_network_are_the_coordinates",
        "samples_needed",
        "length * token_dimension * (1",
        "length * (1",
        feed_forward,
    ),
    _fault(
        "table-1",
        hierarchy,
        "test_samples_of_the_recurrent_network_grow_with_a_power",
        "wide_samples",
        "interpolation_norm(n, depth)",
        "interpolation_norm(n * n, depth)",
        minimum_norm,
    ),
    _fault(
        "theorem-1",
        hierarchy,
        "test_samples_of_the_recurrent_network_grow_with_a_power",
        "wide_samples",
        "generalising_norm(length, depth, risk)",
        "generalising_norm(length, depth + 1, risk)",
        minimum_norm,
    ),
    Fault(
        "embeddings that grow with the length",
        "table-1",
        hierarchy,
        "test_samples_of_the_transformer_grow_with_the_logarithm",
        bounds.TokenTask,
        "embedding_dimension",
        property(lambda self: self.dimension + self.length),
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "qstr", monkeypatch)
