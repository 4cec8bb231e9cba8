"""The minimal model, the linear regime of its loss, and its population gradient for any number of states.

Definition (8.8), the two strategies that the model expresses, and steps (E.6) to (E.13) and (E.26) of lemma E.1, all
against the sequences one by one (`sequence_gradients`).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lemmata.constructions.induction.minimal_model import MinimalModel, bigram_minimal_model, unigram_minimal_model
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.markov.minimal_gradient import (
    chain_stationary_law,
    chain_tensor,
    flat_tensor,
    v_gradient,
    w_gradient,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.induction_heads import sequence_gradients
from lemmata.theorems.induction_heads.sequence_gradients import Chain, chain
from lemmata.theorems.records import Record

ONES = np.ones((2, 2), dtype=int)
CHAINS = [chain("1/3", "3/4"), chain("2/7", "1/5"), chain("9/10", "4/5")]
THREE_STATES = np.array([[fmpq(p, 12) for p in row] for row in ([3, 4, 5], [1, 1, 10], [6, 5, 1])], dtype=object)


def constant(c: Any, *shape: int) -> NDArray[np.object_]:
    return np.full(shape, c, dtype=object)


# ---- the model


@check("induction-heads:definition-minimal", grade="sampled", target="printed", supporting=True)
@proof_steps("gradient.md: 1")
@given(data=st.data(), k=st.integers(1, 4), t=st.integers(1, 7))
def test_matrix_form_of_the_model_is_the_entrywise_form(data: st.DataObject, k: int, t: int) -> None:
    number = st.fractions(-3, 3, max_denominator=4).map(lambda x: fmpq(x.numerator, x.denominator))
    v = data.draw(st.lists(number, min_size=t, max_size=t))
    W = np.array(data.draw(st.lists(number, min_size=k * k, max_size=k * k)), dtype=object).reshape(k, k)
    x = data.draw(st.lists(st.integers(0, k - 1), min_size=t, max_size=t))
    f = MinimalModel(np.array(v, dtype=object), W)(x)
    assert f.tolist() == [sequence_gradients.logits(x, v, W, p) for p in range(1, t + 1)]


@check(
    "induction-heads:definition-minimal",
    grade="exact",
    target="printed",
    cases="k <= 3, t <= 4: all sequences, all weights",
)
@proof_steps("gradient.md: 1")
@pytest.mark.parametrize(("k", "t"), [(1, 4), (2, 1), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4)])
def test_matrix_form_on_all_pairs_of_unit_weights(k: int, t: int) -> None:
    """Both forms are linear in v and in W: equal at v = e_j, W = E_ml, they are equal at all weights.

    At these weights f_{p,i} counts the t' <= p with x_t' = i, x_(t'-j+1) = l, if x_p = m.
    """
    for x, j in product(product(range(k), repeat=t), range(1, t + 1)):
        for m, l in product(range(k), repeat=2):
            W = np.zeros((k, k), dtype=int)
            W[m, l] = 1
            f = MinimalModel(np.eye(t, dtype=int)[j - 1], W)(x)
            for p, i in product(range(1, t + 1), range(k)):
                hits = sum(x[late - 1] == i and x[late - j] == l for late in range(j, p + 1))
                assert f[p - 1, i] == (hits if x[p - 1] == m else 0)


@check("induction-heads:definition-minimal", grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize("t", range(1, 6))
@given(data=st.data())
def test_tensor_gives_loss_and_gradients_at_all_weights(t: int, data: st.DataObject) -> None:
    """At random signed weights, not only at those of the lemma: given P, and on average over the flat prior."""
    number = st.fractions(-3, 3, max_denominator=4).map(lambda x: fmpq(x.numerator, x.denominator))
    v = np.array(data.draw(st.lists(number, min_size=t, max_size=t)), dtype=object)
    W = np.array(data.draw(st.lists(number, min_size=4, max_size=4)), dtype=object).reshape(2, 2)
    delta = fmpq(10**4)  # above 2 * 3 * 3 * t (t+1)/2, the largest difference of two logits
    P = CHAINS[0]
    for C, found in [
        (chain_tensor(P, t), sequence_gradients.of_chain(P, chain_stationary_law(P), v, W, delta)),
        (flat_tensor(t), sequence_gradients.of_flat_prior(v, W, delta)),
    ]:
        assert (found.v == v_gradient(C, W)).all()
        assert (w_gradient(C, v) == found.W).all()
        assert found.loss == delta / 2 - (w_gradient(C, v) * W).sum()


@check(
    "induction-heads:fact-8.3", grade="exact", target="printed", cases="all sequences: (k, t) = (2, 8), (3, 6), (4, 5)"
)
@proof_steps("gradient.md: 2")
@pytest.mark.parametrize(("k", "t"), [(2, 8), (3, 6), (4, 5)])
def test_model_expresses_bigram_and_unigram_counts(k: int, t: int) -> None:
    bigram, unigram = bigram_minimal_model(t, k), unigram_minimal_model(t, k)
    for x in product(range(k), repeat=t):
        pairs, single = bigram(x), unigram(x)
        for p, i in product(range(1, t + 1), range(k)):
            assert pairs[p - 1, i] == sum(x[s] == i and x[s - 1] == x[p - 1] for s in range(1, p))
            assert single[p - 1, i] == x[:p].count(i)


@check("induction-heads:fact-8.3", grade="exact", target="printed", supporting=True)
def test_moved_weights_express_other_counts() -> None:
    """Negative control: one weight moved, or the two layers mixed up, and some sequence tells."""
    x = (0, 1, 0, 0, 1)
    assert (MinimalModel(np.eye(5, dtype=int)[2], np.eye(2, dtype=int))(x) != bigram_minimal_model(5, 2)(x)).any()
    assert (MinimalModel(np.eye(5, dtype=int)[1], ONES)(x) != unigram_minimal_model(5, 2)(x)).any()


@check("induction-heads:fact-8.3", grade="sampled", target="printed", supporting=True)
@given(data=st.data(), k=st.integers(2, 4), t=st.integers(1, 7))
def test_uniform_second_layer_weighs_unigrams_by_position(data: st.DataObject, k: int, t: int) -> None:
    """W = w 11^T: f_{p,i} = w sum over t' <= p with x_t' = i of v_1 + ... + v_t': counts if v = (v_1, 0, ...)."""
    number = st.fractions(-3, 3, max_denominator=4).map(lambda x: fmpq(x.numerator, x.denominator))
    v, w = np.array(data.draw(st.lists(number, min_size=t, max_size=t)), dtype=object), data.draw(number)
    x = data.draw(st.lists(st.integers(0, k - 1), min_size=t, max_size=t))
    f = MinimalModel(v, constant(w, k, k))(x)
    for p, i in product(range(1, t + 1), range(k)):
        assert f[p - 1, i] == w * sum((v[: s + 1].sum() for s in range(p) if x[s] == i), fmpq(0))


# ---- (E.6) to (E.13): the linear regime and the gradient for any number of states


@check(
    "induction-heads:lemma-E.1a",
    grade="exact",
    target="printed",
    cases="c = 2/3, all sequences: k = 2, t = 1, 2, 4, 6, and k = 3, t = 3, 4",
)
@proof_steps("gradient.md: 3")
@pytest.mark.parametrize(("k", "t"), [(2, 1), (2, 2), (2, 4), (2, 6), (3, 3), (3, 4)])
def test_margin_of_the_lemma_keeps_all_hinges_active(k: int, t: int) -> None:
    """0 <= f <= c^2 p(p+1)/2, both attained; hence Delta = c^2 t(t+1)/2 keeps all hinges >= 0, and no less does."""
    c = fmpq(2, 3)
    v, W, bound = constant(c, t), constant(c, k, k), c**2 * t * (t + 1) / 2
    reached = []
    for x in product(range(k), repeat=t):
        logits = MinimalModel(v, W)(x).tolist()
        for p in range(1, t + 1):
            f = logits[p - 1]
            assert f == [c**2 * sum(s + 1 for s in range(p) if x[s] == i) for i in range(k)]
            assert all(0 <= entry <= c**2 * p * (p + 1) / 2 for entry in f)
            reached.append(min(bound + f[i] - f[y] for i in range(k) for y in range(k)))
    assert min(reached) == 0


@check("induction-heads:lemma-E.1a", grade="exact", target="printed", supporting=True)
@proof_steps("gradient.md: 3")
def test_threshold_of_the_margin_is_sharp() -> None:
    """At the threshold with the derivative [z >= 0] of (E.8) the gradient is the linear one; below it, it is not.

    A constant sequence puts a hinge on its kink there, so that the convention [z > 0] gives another gradient.
    """
    t, c, P = 4, fmpq(1), CHAINS[0]
    pi, v, W, bound = chain_stationary_law(P), constant(c, t), constant(c, 2, 2), fmpq(t * (t + 1), 2)
    linear = w_gradient(chain_tensor(P, t), v)
    assert (linear == sequence_gradients.of_chain(P, pi, v, W, bound).W).all()
    assert (linear != sequence_gradients.of_chain(P, pi, v, W, bound * fmpq(9, 10)).W).any()
    still = (0,) * (t + 1)
    kink = sequence_gradients.of_sequence(still, v, W, bound, strict=True)
    assert (kink.W != sequence_gradients.of_sequence(still, v, W, bound).W).any()
    above = sequence_gradients.of_sequence(still, v, W, bound + fmpq(1, 10**6), strict=True)
    assert (above.W == sequence_gradients.of_sequence(still, v, W, bound).W).all()


@check(
    "induction-heads:lemma-E.1b",
    grade="exact",
    target="printed",
    cases="three chains of two states and one of three, t = 1, ..., 4, all sequences",
)
@proof_steps("gradient.md: 5, 6")
@pytest.mark.parametrize("P", [*CHAINS, THREE_STATES], ids=["2 states a", "2 states b", "2 states c", "3 states"])
@pytest.mark.parametrize("t", range(1, 5))
def test_population_gradient_is_the_printed_sum(P: Chain, t: int) -> None:
    """(E.13) and the first lines of (E.26), (E.27) against all sequences, with x_{t+1} and the stationary start.

    For every P, k and t: in the linear regime -dl/df_{p,i} = ([x_{p+1} = i] - 1/k)/t, and df_{p,i}/dW_ml is c times the
    number of s <= t' <= p with x_t' = i, x_p = m, x_s = l. By the Markov property and stationarity a triple has the
    probability pi_l (P^(t'-s))_li (P^(p-t'))_im, and P_mi times that together with x_{p+1} = i: that is (E.13). For v,
    df_{p,i}/dv_j counts the t' >= j with x_t' = i, whose probability together with x_{p+1} = i is pi_i (P^(p+1-t'))_ii.
    """
    k, c, pi = len(P), fmpq(3, 5), chain_stationary_law(P)
    powers = [np.array([[fmpq(int(i == j)) for j in range(k)] for i in range(k)])]
    for _ in range(t):
        powers.append(powers[-1] @ P)
    triples = [(p, late, s) for p in range(1, t + 1) for late in range(1, p + 1) for s in range(1, late + 1)]
    found = sequence_gradients.of_chain(P, pi, constant(c, t), constant(c, k, k), c**2 * t * (t + 1))
    for m, l in product(range(k), repeat=2):
        expected = sum(
            (
                (P[m, i] - fmpq(1, k)) * powers[p - late][i, m] * powers[late - s][l, i] * pi[l]
                for i in range(k)
                for p, late, s in triples
            ),
            fmpq(0),
        )
        assert found.W[m, l] == c / t * expected
    C = chain_tensor(P, t)
    assert (c * w_gradient(C, constant(fmpq(1), t)) == found.W).all()
    assert (found.v == c * v_gradient(C, constant(fmpq(1), k, k))).all()
    for j in range(1, t + 1):
        pairs = [(p, late) for p in range(j, t + 1) for late in range(j, p + 1)]
        truth = sum((pi[i] * powers[p + 1 - late][i, i] for i in range(k) for p, late in pairs), fmpq(0))
        assert found.v[j - 1] == c / t * (truth - fmpq(len(pairs), k))
    assert (found.W != 0).any()


# ---- the effective positional encoding of a transformer


@check(
    "induction-heads:observation-8.4",
    grade="sampled",
    target="corrected",
    cases="three random heads, all sequences of length 4",
)
@pytest.mark.parametrize("seed", range(3))
def test_positional_scores_contain_the_query_matrix(seed: int) -> None:
    """With W_K = 0 the scores of (8.5) at the embeddings are e_{x_i} W_Q v^T, for all sequences of length 4."""
    W_Q, W_V, v = _random_head(seed)
    head = Head(Affine(W_Q), Affine(np.zeros_like(W_Q)), Affine(W_V), relative_keys=v)
    for x in product(range(2), repeat=4):
        z = np.eye(2, dtype=int).astype(object)[list(x)]
        scores = head.scores(z, head.key(z))
        for i in range(4):
            assert [scores[i, i - r] for r in range(i + 1)] == (W_Q @ v.T)[x[i], : i + 1].tolist()


@counterexample("induction-heads:observation-8.4", grade="exact")
@pytest.mark.parametrize("seed", range(3))
def test_unimportant_queries_leave_no_positional_scores(seed: int, record: Record, query: int = 0) -> None:
    """W_Q = 0 makes all scores 0, whatever v is: softmax(e W_K v^T), as printed, is not what the head does."""
    W_K, W_V, v = _random_head(seed)
    W_Q = np.full_like(W_K, query)
    head = Head(Affine(W_Q), Affine(W_K), Affine(W_V), relative_keys=v)
    z = np.eye(2, dtype=int).astype(object)[[0, 1, 1, 0]]
    scores = head.scores(z, head.key(z))
    printed = (W_K @ v.T)[0]
    assert len(set(printed.tolist())) > 1  # so that its softmax is not uniform
    if seed == 0:
        record.hypothesis("W_Q is unimportant: its largest entry", int(abs(W_Q).max()), "=", 0)
        away = int(max(printed) - min(printed))
        record.violated(
            "the positional scores are those of W_K v^T: the spread of the scores", int(abs(scores).max()), "=", away
        )
    assert (scores == 0).all()


def _random_head(seed: int) -> tuple[NDArray[np.object_], ...]:
    entries = np.random.default_rng(seed).integers(1, 7, size=(8, 2))
    matrix = np.array([[fmpq(int(x), 3) for x in row] for row in entries], dtype=object)
    return matrix[:2], matrix[2:4], matrix[4:]
