"""The minimal model against its entrywise definition and torch, and its gradient tensor against autograd."""

from itertools import product

import numpy as np
import pytest
import torch
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.induction.curriculum import last_logits, long_second_step, two_step_models
from lemmata.constructions.induction.minimal_model import MinimalModel, bigram_minimal_model, unigram_minimal_model
from lemmata.numerics.markov.minimal_gradient import (
    chain_stationary_law,
    chain_tensor,
    flat_tensor,
    spread_moments,
    symmetric_tensor,
    v_gradient,
    w_gradient,
)


def rational_array(draw, shape):
    values = st.fractions(min_value=-3, max_value=3, max_denominator=4)
    flat = [draw(values) for _ in range(int(np.prod(shape)))]
    return np.array([fmpq(x.numerator, x.denominator) for x in flat], dtype=object).reshape(shape)


@st.composite
def models_and_sequences(draw):
    k, t = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    length = draw(st.integers(1, t))
    x = draw(st.lists(st.integers(0, k - 1), min_size=length, max_size=length))
    return MinimalModel(rational_array(draw, (t,)), rational_array(draw, (k, k))), x


@given(models_and_sequences())
def test_matrix_form_is_the_entrywise_form_and_torch_agrees(case):
    model, x = case
    logits = model(x)
    for p, i in product(range(len(x)), range(model.states)):
        total = fmpq(0)
        for late in range(p + 1):
            for s in range(late + 1):
                total += model.v[late - s] * model.W[x[p], x[s]] * int(x[late] == i)
        assert logits[p, i] == total
    found = model.to_torch()(torch.tensor([x])).detach().numpy()[0]
    # at most 28 terms of magnitude at most 9, each with a relative rounding error of a few 2^-53
    assert np.abs(found - model.to_float()(x)).max() < 1e-12
    assert np.abs(found - logits.astype(float)).max() < 1e-12


def test_bad_input():
    model = unigram_minimal_model(4, 3)
    for x, message in [([], "1 to 4 integers"), ([0] * 5, "1 to 4"), ([0.0], "integers"), ([[0]], "vector of")]:
        with pytest.raises(ValueError, match=message):
            model(np.array(x))
    with pytest.raises(ValueError, match="Symbol 3 at position 2 is no state: the states are 0 to 2"):
        model([0, 3])
    with pytest.raises(ValueError, match="v has shape"):
        MinimalModel(np.ones((2, 2)), np.eye(2))
    with pytest.raises(ValueError, match="W has shape"):
        MinimalModel(np.ones(2), np.ones((2, 3)))
    for t, k in [(1, 2), (2.5, 2), (3, 0), (3, True)]:
        with pytest.raises(ValueError, match=r"must be an integer >= [12]"):
            bigram_minimal_model(t, k)
    for t, k in [(0, 2), (3, -1)]:
        with pytest.raises(ValueError, match="must be an integer >= 1"):
            unigram_minimal_model(t, k)
    for v in ([np.nan, 1], [np.inf, 1]):
        with pytest.raises(ValueError, match="v has NaN or infinity"):
            MinimalModel(np.array(v), np.eye(2))
    with pytest.raises(ValueError, match="v must hold real numbers"):
        MinimalModel(np.array(["a", "b"]), np.eye(2))
    with pytest.raises(ValueError, match="overflows float64"):
        MinimalModel(np.array([1e308, 1e308]), 1e10 * np.eye(2))([0, 0])
    assert MinimalModel([0, 1], [[1, 0], [0, 1]])([0, 0]).tolist() == [[0, 0], [1, 0]]  # lists are taken
    with pytest.raises(ValueError, match=r"Row 1 .* must sum to 1"):
        chain_tensor(np.array([[0.5, 0.5], [0.5, 0.6]]), 3)
    with pytest.raises(ValueError, match=r"Entry \(0, 1\)"):
        chain_tensor(np.array([[2, -1], [0, 1]]), 3)
    with pytest.raises(ValueError, match="shape"):
        chain_stationary_law(np.ones((1, 2)))
    with pytest.raises(ValueError, match="more than one stationary law"):
        chain_stationary_law(np.eye(2))
    with pytest.raises(ValueError, match="no unique solution"):
        chain_stationary_law(np.eye(2, dtype=int))
    for call in (flat_tensor, lambda t: symmetric_tensor(t, [1])):
        for t in (0, 2.5, True):
            with pytest.raises(ValueError, match=rf"context length t must be an integer >= 1, not {t}"):
                call(t)
    assert (flat_tensor(np.int64(3)) == flat_tensor(3)).all()
    with pytest.raises(ValueError, match=r"W has shape \(3, 3\), but the tensor belongs to \(2, 2\)"):
        v_gradient(flat_tensor(3), np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"v has shape \(2,\), but the tensor belongs to \(3,\)"):
        w_gradient(flat_tensor(3), np.ones(2))
    with pytest.raises(ValueError, match="order 0"):
        symmetric_tensor(2, [1, 0])
    with pytest.raises(ValueError, match="spread"):
        spread_moments(1, 3)


@pytest.mark.parametrize(("k", "t"), [(2, 4), (3, 3)])
def test_tensor_is_the_gradient_by_automatic_differentiation(k, t):
    """All k^(t+1) sequences with their probabilities, differentiated by torch; Delta is above every gap."""
    rng = np.random.default_rng(k)
    P = rng.dirichlet(np.ones(k), size=k)
    pi = chain_stationary_law(P)
    sequences = np.array(list(product(range(k), repeat=t + 1)))
    weights = pi[sequences[:, 0]] * np.prod(P[sequences[:, :-1], sequences[:, 1:]], axis=1)
    assert weights.sum() == pytest.approx(1, abs=1e-13)
    model = MinimalModel(rng.normal(size=t), rng.normal(size=(k, k))).to_torch()
    logits = model(torch.tensor(sequences[:, :-1]))
    target = torch.tensor(sequences[:, 1:])[..., None]
    delta = 1000.0
    gaps = delta + logits - logits.gather(2, target)
    assert (gaps > 0).all()
    per_position = (gaps.clamp(min=0).sum(dim=2) - delta) / k
    loss = (torch.tensor(weights) * per_position.mean(dim=1)).sum()
    loss.backward()
    C = chain_tensor(P, t)
    v, W = (model.get_parameter(name) for name in ("v", "W"))
    # sums of at most 81 * 3 * 27 terms of size below 1000: rounding below 1e-9
    assert v.grad is not None
    assert W.grad is not None
    assert np.abs(v_gradient(C, W.detach().numpy()) + v.grad.numpy()).max() < 1e-9
    assert np.abs(w_gradient(C, v.detach().numpy()) + W.grad.numpy()).max() < 1e-9
    assert np.abs(v.grad.numpy()).max() > 1e-3
    exact = w_gradient(C, v.detach().numpy()) * W.detach().numpy()
    assert loss.item() == pytest.approx(delta * (k - 1) / k - exact.sum(), abs=1e-9)


def test_averaged_tensors_agree_with_averages_of_the_tensor():
    """Gauss-Legendre nodes: exact for the symmetric chains (polynomials), and for the flat prior up to its kink."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    nodes, weights = (nodes + 1) / 2, weights / 2
    t = 4
    symmetric = sum(
        w * chain_tensor(np.array([[a, 1 - a], [1 - a, a]]), t) for a, w in zip(nodes, weights, strict=True)
    )
    moments = spread_moments(fmpq(1, 2), t + 1)
    assert np.abs(symmetric - symmetric_tensor(t, moments).astype(float)).max() < 1e-13
    # Duffy: U = w, V = r w and the mirror image make the integrand a polynomial in w, analytic in r
    flat = np.zeros((t, 2, 2))
    for w, weight_w in zip(nodes, weights, strict=True):
        for r, weight_r in zip(*np.polynomial.legendre.leggauss(12), strict=True):
            U, V = w, (r + 1) / 2 * w
            for first, second in ((U, V), (V, U)):
                chain = np.array([[1 - first, first], [second, 1 - second]])
                flat += weight_w * weight_r / 2 * w * chain_tensor(chain, t)
    # 12 nodes integrate 1/(1+r)^3 times a polynomial of degree 8 with an error below 1e-11
    assert np.abs(flat - flat_tensor(t).astype(float)).max() < 1e-9


def test_a_moved_position_is_noticed():
    """Negative control: the tensor with its positions shifted by one is not the gradient."""
    P = np.array([[fmpq(1, 3), fmpq(2, 3)], [fmpq(1, 4), fmpq(3, 4)]])
    C = chain_tensor(P, 4)
    assert (C[0] != C[1]).any()
    assert (v_gradient(C, np.eye(2, dtype=int)) != v_gradient(np.roll(C, 1, axis=0), np.eye(2, dtype=int))).any()


def test_curriculum_refuses_bad_parameters():
    for spread in (fmpq(3, 4), fmpq(0), fmpq(-1, 4)):
        with pytest.raises(ValueError, match=f"spread {spread} is not valid"):
            two_step_models(4, spread)
    with pytest.raises(ValueError, match="float is not exact"):
        two_step_models(4, fmpq(1, 4), w=0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="context length t"):
        two_step_models(0, fmpq(1, 4))
    with pytest.raises(ValueError, match="context length t"):
        long_second_step(0, 0.1, np.eye(2), 1.0, 1.0)
    for spread in (-0.1, 0, 0.9, np.nan):
        with pytest.raises(ValueError, match="spread"):
            long_second_step(5, spread, np.eye(2), 1.0, 1.0)
    for W in (np.ones((3, 3)), np.array([[1.0, 2.0], [3.0, 4.0]])):
        with pytest.raises(ValueError, match="equal diagonal"):
            long_second_step(5, 0.1, W, 1.0, 1.0)
    model = long_second_step(5, 0.1, np.eye(2), 1.0, 1.0)
    for x, message in [([0] * 6, "1 to 5 integers"), ([0, 2], "Symbol 2"), ([], "integers"), ([-1], "Symbol -1")]:
        with pytest.raises(ValueError, match=message):
            last_logits(model, x)


def test_fast_last_row_is_the_last_row():
    model = long_second_step(60, 0.3, np.array([[2.0, 1.0], [1.0, 2.0]]), 1.0, 1.0)
    for seed in range(3):
        x = np.random.default_rng(seed).integers(0, 2, size=50)
        # 50 * 51 / 2 terms below 1: rounding stays below 1e-12
        assert np.abs(last_logits(model, x) - model(x)[-1]).max() < 1e-12
