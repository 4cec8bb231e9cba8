"""The induction heads: their matrices as printed, number systems, torch, symmetries, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.induction.head import (
    bayesian_ngram_head,
    ngram_head,
    printed_induction_head,
    scales_for,
    with_affine_readout,
)
from lemmata.numerics.exact.numbers import to_float

SEQUENCES = st.lists(st.integers(1, 3), min_size=1, max_size=12)


def block(rows: dict[tuple[int, int], int], blocks: int, k: int) -> list[list[int]]:
    """The matrix of blocks, each a multiple of the identity of size k; the rest is 0."""
    matrix = [[0] * (blocks * k) for _ in range(blocks * k)]
    for (a, b), factor in rows.items():
        for j in range(k):
            matrix[a * k + j][b * k + j] = factor
    return matrix


@pytest.mark.parametrize("k", [1, 2, 3])
def test_matrices_are_those_of_the_proof(k: int) -> None:
    c = 5
    transformer = printed_induction_head(k, c).transformer
    first, second = (layer.heads[0] for layer in transformer.layers)
    assert first.query.weight.tolist() == block({(0, 0): c}, 3, k)
    assert first.key.weight.tolist() == block({}, 3, k)
    assert first.value.weight.tolist() == block({(0, 1): 1}, 3, k)
    assert first.relative_keys.tolist() == [[0] * (3 * k), [1] * k + [0] * (2 * k)]
    assert second.query.weight.tolist() == block({(0, 0): c}, 3, k)
    assert second.key.weight.tolist() == block({(1, 0): c}, 3, k)
    assert second.value.weight.tolist() == block({(0, 2): 1}, 3, k)
    assert not second.relative_keys.any()
    assert transformer.readout.tolist() == [[0] * k] * (2 * k) + np.eye(k, dtype=int).tolist()
    assert first.temperature_squared == second.temperature_squared == 3 * k
    assert len(transformer.prefix) == 0


@pytest.mark.parametrize(("n", "k", "pseudo_counts", "width", "prefix"), [
    (2, 3, None, 9, 1),
    (4, 2, None, 10, 3),
    (2, 3, (1, 1, 1), 12, 3),
    (4, 2, (1, 0), 12, 3),
    (3, 2, (4, 1), 10, 5),
])  # fmt: skip
def test_sizes(n: int, k: int, pseudo_counts: Any, width: int, prefix: int) -> None:
    head = ngram_head(n, k) if pseudo_counts is None else bayesian_ngram_head(n, k, pseudo_counts=pseudo_counts)
    assert head.stream.width == width
    assert len(head.transformer.prefix) == prefix
    assert [len(layer.heads) for layer in head.transformer.layers] == [n - 1, 1]
    assert not head.transformer.prefix[:, head.stream["token"]].any()


@given(x=SEQUENCES, seed=st.integers(0, 100), n=st.integers(2, 4))
def test_renaming_the_symbols_renames_the_outputs(x: list[int], seed: int, n: int) -> None:
    order = np.random.default_rng(seed).permutation(3)
    renamed = [int(order[symbol - 1]) + 1 for symbol in x]
    for head in (ngram_head(n, 3).hard(), bayesian_ngram_head(n, 3).hard()):
        assert np.array_equal(head(renamed)[:, order], head(x))


@given(x=SEQUENCES, n=st.integers(2, 3))
def test_number_systems_and_torch_agree(x: list[int], n: int) -> None:
    """Logits are below 30 and carry 4 roundings, weights and sums 60 more: (2 * 4 * 30 + 60) 2^-53 < 1e-13."""
    head = bayesian_ngram_head(n, 3, 30, 7)
    expected = to_float(head.to_balls()(x))
    assert np.abs(head.to_float()(x) - expected).max() < 1e-13
    module = head.transformer.to_torch(context=20)
    assert np.abs(module(torch.tensor(x)).detach().numpy() - expected).max() < 1e-13
    hard = head.to_float().hard()(x)
    assert np.abs(hard - to_float(head.hard()(x))).max() < 1e-15 * len(x)


@given(x=SEQUENCES, n=st.integers(2, 3))
def test_outputs_with_prior_are_distributions(x: list[int], n: int) -> None:
    outputs = bayesian_ngram_head(n, 3).hard()(x)
    assert all(sum(row) == 1 and min(row) > 0 for row in outputs)


def test_without_a_match_the_limit_is_the_mean_over_all_rows() -> None:
    """x = (1, 2): state 2 has not been left, so that the zero row and both tokens are attended alike."""
    assert ngram_head(2, 2).hard()([1, 2])[1].tolist() == [fmpq(1, 3), fmpq(1, 3)]


def test_torch_head_can_be_trained() -> None:
    """A small enough step against the gradient of the cross-entropy lowers it."""
    torch.manual_seed(0)
    module = bayesian_ngram_head(2, 2, 2, 2).transformer.to_torch(context=12)
    x = torch.randint(1, 3, (16, 12))

    def loss() -> torch.Tensor:
        return torch.nn.functional.cross_entropy(module(x)[:, :-1].reshape(-1, 2), (x[:, 1:] - 1).reshape(-1))

    before = loss()
    before.backward()
    with torch.no_grad():
        for parameter in module.parameters():
            assert parameter.grad is not None
            parameter -= 1e-4 * parameter.grad
    assert loss() < before


class TestErrorBound:
    def test_shrinks_with_both_scales_and_grows_with_the_position(self) -> None:
        scales = [(10, 3), (15, 3), (60, 3), (60, 4), (60, 8)]
        bounds = [float(ngram_head(2, 2, *pair).error_bound(50, 10)) for pair in scales]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] < 1e-7
        head = ngram_head(2, 2, 20, 7)
        assert head.error_bound(100, 10) > head.error_bound(50, 10)
        assert head.error_bound(50, 20) < head.error_bound(50, 10)

    def test_without_a_match_only_the_first_layer_leaks(self) -> None:
        assert ngram_head(2, 2, 60, 3).error_bound(5, 0) < 1e-9

    def test_closed_form_for_bigrams(self) -> None:
        """tanh(s eps/4) + (M/N) e^(-s (1 - 2 eps)) with eps = p/(q + p), for the head with one row in front."""
        p, N, c1, c2, d = 9, 2, 12.0, 4.0, 6
        eps, s = p / (math.exp(c1 / math.sqrt(d)) + p), c2**2 / math.sqrt(d)
        expected = math.tanh(s * eps / 4) + (p + 1 - N) / N * math.exp(-s * (1 - 2 * eps))
        assert float(ngram_head(2, 2, c1, c2).error_bound(p, N)) == pytest.approx(expected, rel=1e-12)

    def test_closed_form_for_trigrams(self) -> None:
        """tanh(s (eps + E)/4) + (M/N) e^(-s (1 - eps - 2 E)) with E = 1 - (1 - eps)^2 and eps = (p+1)/(q + p+1)."""
        p, N, c1, c2, d = 9, 2, 9.0, 4.0, 8
        eps, s = (p + 1) / (math.exp(c1 / math.sqrt(d)) + p + 1), c2**2 / math.sqrt(d)
        E = 1 - (1 - eps) ** 2
        expected = math.tanh(s * (eps + E) / 4) + (p + 2 - N) / N * math.exp(-s * (1 - eps - 2 * E))
        assert float(ngram_head(3, 2, c1, c2).error_bound(p, N)) == pytest.approx(expected, rel=1e-12)

    def test_two_leaking_blocks_agree_up_to_a_larger_error_than_one(self) -> None:
        """Section 2 of `ERROR_BOUND.md`: <back 2 of a key, back 1 of the query> errs by more than eps, by at most E."""
        rng, largest = np.random.default_rng(0), 0.0
        for k, c1, t in [(2, 3.0, 5), (2, 9.0, 8), (3, 6.0, 8), (3, 9.0, 12)]:
            head = ngram_head(3, k, c1, 5.0)
            eps = (t + 1) / (math.exp(c1 / math.sqrt(4 * k)) + t + 1)
            for x in rng.integers(1, k + 1, size=(40, t)):
                z = head.transformer.stream(x, 1)
                agree = np.array([j >= 2 and x[j - 2] == x[t - 2] for j in range(t)])
                error = np.abs(z[2:, 2 * k : 3 * k] @ z[-1, k : 2 * k] - agree).max()
                assert error <= 1 - (1 - eps) ** 2 + 1e-12
                largest = max(largest, error / eps)
        assert largest > 1

    def test_impossible_or_unproved_cases_are_refused(self) -> None:
        with pytest.raises(ValueError, match="No bound is known without 1 prefix rows"):
            printed_induction_head(2).error_bound(3, 1)
        with pytest.raises(ValueError, match="There cannot be 3 matches before position 3"):
            ngram_head(2, 2).error_bound(3, 3)
        for position, matches in [(0, 0), (2.5, 1), (3, -1), (3, 0.5)]:
            with pytest.raises(ValueError, match=r"(position|matches) must be an integer"):
                ngram_head(2, 2).error_bound(position, matches)
        assert ngram_head(2, 2).error_bound(np.int64(3), np.int64(1)).overlaps(ngram_head(2, 2).error_bound(3, 1))
        with pytest.raises(ValueError, match="has not occurred"):
            ngram_head(3, 2).error_bound(5, 0)


class TestScales:
    @pytest.mark.parametrize("n", [2, 3, 4])
    @pytest.mark.parametrize("prior", [None, (1, 1), (3, 1)])
    def test_certify_the_tolerance_at_all_positions(self, n: int, prior: Any) -> None:
        t, tolerance = 60, 1e-3
        scales = scales_for(n, 2, t, tolerance, prior)
        head = ngram_head(n, 2, *scales) if prior is None else bayesian_ngram_head(n, 2, *scales, prior)
        for p in range(n, t + 1):
            fewest = 1 if prior is None and n > 2 else 0
            assert all(head.error_bound(p, N) <= tolerance for N in range(fewest, p - n + 2))

    @pytest.mark.parametrize(
        ("context", "tolerance", "prior"), [(60, 0.44, (1, 1)), (30, 0.22, (1, 0)), (100, 0.34, None)]
    )
    def test_the_fewest_matches_decide(self, context: int, tolerance: float, prior: Any) -> None:
        """Half of c1 would do for one match more with a prior, and for none without: neither is what is asked for."""
        c1, c2 = scales_for(2, 2, context, tolerance, prior)
        whole, half = (
            ngram_head(2, 2, c, c2) if prior is None else bayesian_ngram_head(2, 2, c, c2, prior) for c in (c1, c1 // 2)
        )
        fewest, other = (1, 0) if prior is None else (0, 1)
        assert whole.error_bound(context, fewest) <= tolerance
        assert whole.error_bound(context, other) <= tolerance
        assert half.error_bound(context, fewest) > tolerance
        assert half.error_bound(context, other) <= tolerance

    @pytest.mark.parametrize("prior", [None, (1, 1)])
    def test_the_second_scale_is_the_least_that_the_rule_allows(self, prior: Any) -> None:
        """exp(c2^2 / sqrt d - 1) >= 2 R / tolerance, which is false for c2 - 1: d and R are those of the head."""
        t, tolerance = 40, 1e-4
        c1, c2 = scales_for(2, 2, t, tolerance, prior)
        head = ngram_head(2, 2, c1, c2) if prior is None else bayesian_ngram_head(2, 2, c1, c2, prior)
        rows = t + len(head.transformer.prefix)
        enough, fewer = (math.exp(c**2 / math.sqrt(head.stream.width) - 1) for c in (c2, c2 - 1))
        assert enough >= 2 * rows / tolerance > fewer

    def test_bad_requests_are_refused(self) -> None:
        for tolerance in (0.0, 1.0, math.nan):
            with pytest.raises(ValueError, match="tolerance must be in"):
                scales_for(2, 2, 10, tolerance)
        for context in (1, 10.5, True):
            with pytest.raises(ValueError, match="context must be an integer >= 2"):
                scales_for(2, 2, context, 0.1)


class TestBadInput:
    @pytest.mark.parametrize("build", [ngram_head, bayesian_ngram_head])
    def test_orders_and_alphabets(self, build: Any) -> None:
        for n in (1, 0, 2.0, True):
            with pytest.raises(ValueError, match="n must be an integer >= 2"):
                build(n, 2)
        for k in (0, 2.0, True, "a"):
            with pytest.raises(ValueError, match="k must be an integer >= 1"):
                build(2, k)

    @pytest.mark.parametrize("scale", [0, -1, 0.0, math.inf, math.nan, fmpq(-1, 2), arb(0), arb("inf"), arb("nan")])
    def test_scales_that_are_not_positive_and_finite(self, scale: Any) -> None:
        for scales in ((scale, 1), (1, scale)):
            with pytest.raises(ValueError, match="must be positive and finite"):
                ngram_head(2, 2, *scales)

    def test_scales_that_overflow(self) -> None:
        with pytest.raises(ValueError, match="overflows: the scores are up to 1 c"):
            ngram_head(2, 2, 1.0, 1e200)
        with pytest.raises(ValueError, match="beyond the range of float64"):
            ngram_head(2, 2, 1, 10**400).to_float()
        with pytest.raises(ValueError, match="A score overflows float64"):
            ngram_head(2, 2, 1, 10**200).to_float()([1, 2, 1])
        assert ngram_head(2, 2, 1, 10**200).hard()([1, 2, 1])[-1].tolist() == [0, 1]

    def test_scales_of_other_types(self) -> None:
        for scale in (True, None, 1j, "x"):
            with pytest.raises(ValueError):  # noqa: PT011 (each type has its own sentence)
                ngram_head(2, 2, scale)

    def test_pseudo_counts(self) -> None:
        for counts in [(1,), (0, 0), (1, -1), (1.5, 1), (True, True), 5]:
            with pytest.raises(ValueError, match="pseudo-counts must be 2 integers"):
                bayesian_ngram_head(2, 2, pseudo_counts=counts)  # type: ignore[arg-type]

    def test_sequences(self) -> None:
        head = ngram_head(2, 2, 20.0, 6.0)
        for x, message in [([], "at least one token"), ([1, 3], r"holds \[3\]"), ([0, 1], r"holds \[0\]")]:
            with pytest.raises(ValueError, match=message):
                head(x)
        for x in ([1.0, 2.0], [True, False], np.array([1, 2], dtype=object), 1, None, "12", np.ones((2, 0), dtype=int)):
            with pytest.raises(ValueError, match=r"Tokens must be integers|at least one token"):
                head(x)  # type: ignore[arg-type]
        assert np.array_equal(head(np.array([2, 1], dtype=np.uint8)), head([2, 1]))

    def test_sequences_of_the_torch_module(self) -> None:
        """The token 0 would read the last row of the embedding, as index -1."""
        module = ngram_head(2, 2, 20.0, 6.0).transformer.to_torch()
        for x in ([0, 1], [1, 3], []):
            with pytest.raises(ValueError, match=r"tokens 1, \.\.\., 2 only"):
                module(torch.tensor(x, dtype=torch.int64))


def test_affine_readout_keeps_the_number_system() -> None:
    head = ngram_head(2, 2)
    assert with_affine_readout(head, 3, fmpq(1, 2)).transformer.arithmetic == "exact"
    assert with_affine_readout(head.to_float(), 2.6447, 1.0).transformer.arithmetic == "float"
