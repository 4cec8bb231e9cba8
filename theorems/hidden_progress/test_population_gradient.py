"""Displays (B.4), Lemma B.3 and their surroundings: the first population gradient of a ReLU network on a parity.

With y = chi_S(x) and 1{w.x + b > 0} the derivative of a ReLU neuron, a correlation E[y x_j 1{..}] is the Fourier
coefficient of the threshold at S - j or S + j, because x_j^2 = 1. Three routes are compared, all exact:

- the sum over all inputs in integers (`_enumerated`), straight from the right-hand side of (B.4);
- the Walsh-Hadamard transform of the threshold, at the sets that the text names;
- PyTorch's autograd through the whole network and loss, averaged over all inputs. Every summand is 0 or +-1, so that
  float64 is exact there.

For odd n and |b| < 1 the coefficients are those of majority (`test_majority_gap`), which gives Lemma B.3. The text does
not say in this section that n is odd; for even n its third claim fails.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.fourier.boolean import half_coefficient, majority_coefficient
from lemmata.numerics.fourier.gaps import fourier_gap, majority_gap
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

SIZES = [(3, 2), (5, 2), (5, 4), (7, 2), (7, 4), (7, 6), (9, 2), (9, 4), (11, 4)]


def _active(w: np.ndarray, b: Fraction) -> np.ndarray:
    """1{w.x + b > 0} at all inputs, decided in integers."""
    return (sign_inputs(len(w)) @ w * b.denominator + b.numerator > 0).astype(np.int64)


def _enumerated(w: np.ndarray, b: Fraction, k: int) -> tuple[list[fmpq], fmpq]:
    """E[y x_j 1{w.x + b > 0}] for every j, and E[y 1{w.x + b > 0}], with y = x_1 ... x_k."""
    X, size = sign_inputs(len(w)), 2 ** len(w)
    signal = X[:, :k].prod(axis=1) * _active(w, b)
    return [fmpq(int(c), size) for c in signal @ X], fmpq(int(signal.sum()), size)


def _paired_initialisation(n: int, k: int, r: int, seed: int) -> tuple[np.ndarray, np.ndarray, list[Fraction]]:
    """(w, u, b) as the text draws them: w (r, n), u (r,), b a list of r multiples of 1/k in (-1, 1)."""
    rng = np.random.default_rng(seed)
    w, u = rng.choice([-1, 1], size=(r // 2, n)), rng.choice([-1, 1], size=r // 2)
    b = [Fraction(int(i), k) for i in rng.integers(1 - k, k, size=r // 2)]
    return np.concatenate([w, w]), np.concatenate([u, -u]), b + b


def _autograd(w: np.ndarray, u: np.ndarray, b: list[Fraction], k: int, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Gradients in w and b of the mean loss over all inputs, for the network sum_i u_i relu(w_i.x + b_i)."""
    X = torch.tensor(sign_inputs(w.shape[1]), dtype=torch.float64)
    weights = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    biases = torch.tensor([float(x) for x in b], dtype=torch.float64, requires_grad=True)
    f = torch.relu(X @ weights.T + biases) @ torch.tensor(u, dtype=torch.float64)
    margin = X[:, :k].prod(dim=1) * f
    losses = torch.relu(1 - margin) if loss == "hinge" else -margin
    losses.mean().backward()
    assert weights.grad is not None
    assert biases.grad is not None
    return weights.grad.numpy(), biases.grad.numpy()


# ---- the warm-up: one neuron, all weights 1


@check("hidden-progress:unnumbered-warmup", grade="exact", target="printed")
@proof_steps("majority.md: 8")
@pytest.mark.parametrize("n", range(2, 13))
def test_gradient_of_one_neuron_consists_of_neighbouring_coefficients(n: int) -> None:
    """Every k <= n, n even or odd: order k-1 on S, order k+1 elsewhere, of h = 1{sum x >= 0}."""
    X = sign_inputs(n)
    h = (X.sum(axis=1) >= 0).astype(np.int64)
    transform = walsh_hadamard(h)
    for k in range(1, n + 1):
        gradient = -(X[:, :k].prod(axis=1)[:, None] * X * h[:, None]).sum(axis=0)
        S = (1 << k) - 1
        assert gradient.tolist() == [-int(transform[S ^ (1 << j)]) for j in range(n)]
        gap = min(abs(gradient[:k])) - max(abs(gradient[k:]), default=0)
        assert fourier_gap(h, range(k)).gap == fmpq(int(gap), 2**n)


@check("hidden-progress:unnumbered-warmup", grade="exact", target="printed")
@proof_steps("majority.md: 8")
@pytest.mark.parametrize(("n", "k"), [(3, 2), (5, 2), (7, 3), (7, 4), (9, 4), (11, 2), (13, 6)])
def test_autograd_of_one_neuron_gives_half_the_majority_coefficients(n: int, k: int) -> None:
    """h = (1 + Maj)/2 for odd n; there is a gap for even k < n/2, and nothing at all for odd k."""
    ones = np.ones((1, n), dtype=np.int64)
    gradient, _ = _autograd(ones, np.array([1]), [Fraction(0)], k, "correlation")
    below, above = majority_coefficient(n, k - 1), majority_coefficient(n, k + 1)
    assert [-2 * fmpq(int(g * 2**n), 2**n) for g in gradient[0]] == [below] * k + [above] * (n - k)
    gap = min(abs(gradient[0][:k])) - max(abs(gradient[0][k:]))
    assert 2 * fmpq(int(gap * 2**n), 2**n) == majority_gap(n, k).gap
    assert (gap > 0) == (k % 2 == 0 and n > 2 * k)
    assert not np.array_equal(gradient[0], np.roll(gradient[0], 1)) or k % 2  # a wrong S is noticed


# ---- the unbiased initialisation and (B.4)


@check(
    "hidden-progress:construction-unbiased-init",
    grade="exact",
    target="printed",
    cases="(n, k, r) = (3, 2, 2), (5, 2, 6), (6, 3, 8), (9, 4, 40), one draw each (seed r), all inputs",
)
@proof_steps("one-step.md: 1")
@pytest.mark.parametrize(("n", "k", "r"), [(3, 2, 2), (5, 2, 6), (6, 3, 8), (9, 4, 40)])
def test_paired_network_vanishes_at_every_input(n: int, k: int, r: int) -> None:
    """In rational arithmetic; the neurons themselves do not vanish, and one flipped sign is seen."""
    w, u, b = _paired_initialisation(n, k, r, seed=r)
    X = sign_inputs(n)
    network = TwoLayerNetwork(as_exact(w), as_exact(b), as_exact(u), Ramp())
    assert all((b[i] * k).denominator == 1 and abs(b[i]) < 1 for i in range(r))
    features = network.features(X)
    assert (features != 0).any(axis=0).all()
    assert not (network(X) != 0).any()
    for i in (0, 1, r - 1):  # the features themselves, times k in integers
        assert (features[:, i] * k == np.maximum(k * (X @ w[i]) + int(b[i] * k), 0)).all()
    u[0] = -u[0]
    assert (replace(network, readout=as_exact(u))(X) != 0).any()


@check("hidden-progress:construction-unbiased-init", grade="symbolic", target="printed", supporting=True)
@proof_steps("one-step.md: 1")
def test_pairs_cancel_whatever_they_compute() -> None:
    """u sigma(w.x + b) + (-u) sigma(w.x + b) = 0; the grid -1 + 1/k, ..., 1 - 1/k has 2k - 1 values in (-1, 1)."""
    u, hidden = sp.symbols("u h")
    assert sp.expand(u * hidden + (-u) * hidden) == 0
    k = sp.symbols("k", positive=True)
    assert sp.simplify((1 - 1 / k - (-1 + 1 / k)) * k + 1 - (2 * k - 1)) == 0
    for size in range(1, 30):
        grid = [Fraction(j, size) - 1 for j in range(1, 2 * size)]
        assert len(set(grid)) == 2 * size - 1
        assert (min(grid), max(grid)) == (-1 + Fraction(1, size), 1 - Fraction(1, size))
        assert max(map(abs, grid)) < 1


@check(
    "hidden-progress:equation-B.4",
    grade="exact",
    target="printed",
    cases="8 sizes n <= 11, 6 neurons each (seed n + k), hinge and correlation loss, all inputs",
)
@check("hidden-progress:construction-unbiased-init", grade="exact", target="printed", supporting=True)
@proof_steps("majority.md: 10")
@pytest.mark.parametrize("loss", ["hinge", "correlation"])
@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2), (5, 3), (6, 4), (7, 4), (9, 2), (9, 5), (11, 4)])
def test_population_gradient_is_a_coefficient_of_a_threshold(n: int, k: int, loss: str) -> None:
    """Autograd = -u_i E[y x_j 1{w_i.x + b_i > 0}] = -u_i hat LTF(S - j or S + j), and at S for the bias."""
    w, u, b = _paired_initialisation(n, k, 6, seed=n + k)
    by_weights, by_biases = _autograd(w, u, b, k, loss)
    S = (1 << k) - 1
    assert by_weights.any() or by_biases.any()
    for i in range(6):
        correlations, bias = _enumerated(w[i], b[i], k)
        transform = walsh_hadamard(_active(w[i], b[i]))
        for j in range(n):
            members = [x for x in range(k) if x != j] if j < k else [*range(k), j]
            named = fmpq(int(transform[sum(1 << x for x in members)]), 2**n)
            assert correlations[j] == named
            assert by_weights[i, j] * 2**n == int(-u[i] * correlations[j] * 2**n)
        assert bias == fmpq(int(transform[S]), 2**n)
        assert by_biases[i] * 2**n == int(-u[i] * bias * 2**n)


@check("hidden-progress:equation-B.4", grade="exact", target="printed", supporting=True)
def test_gradient_differs_once_the_network_does_not_vanish() -> None:
    """Without the pairing, hinge loss: the inputs beyond the margin drop out, so (B.4) needs f = 0."""
    w, u, b = _paired_initialisation(7, 4, 2, seed=1)
    gradient, _ = _autograd(w[:1], u[:1], b[:1], 4, "hinge")
    correlations, _ = _enumerated(w[0], b[0], 4)
    assert gradient[0].tolist() != [float(-u[0]) * int(c.p) / int(c.q) for c in correlations]


# ---- Lemma B.3


def _closed_form(w: np.ndarray, k: int) -> list[fmpq]:
    """-g_ij/u_i: (1/2) xi chi(w) at [k] - j or [k] + j."""
    n = len(w)
    below, above = majority_coefficient(n, k - 1) / 2, (majority_coefficient(n, k + 1) / 2 if k < n else fmpq(0))
    character = prod(int(x) for x in w[:k])
    return [character * int(w[j]) * (below if j < k else above) for j in range(n)]


@check(
    "hidden-progress:lemma-B.3",
    grade="sampled",
    target="printed",
    cases="9 sizes n <= 11, 6 sign vectors each (seed n k), all 2k - 1 biases",
)
@proof_steps("majority.md: 11")
@pytest.mark.parametrize(("n", "k"), SIZES)
def test_closed_form_of_the_population_gradient(n: int, k: int, effort: Effort) -> None:
    """Against the enumeration, for signs w up to symmetry; a full grid of biases. n >= 2(k+1)^2 is not needed."""
    rng = np.random.default_rng(n * k)
    draws = [np.array([*first, *rng.choice([-1, 1], size=n - 2)]) for first in product((1, -1), repeat=2)]
    draws += [np.array(rng.choice([-1, 1], size=n)) for _ in range(effort.pick(quick=2, full=20))]
    for w in draws:
        expected = _closed_form(w, k)
        assert expected[0] != 0 != expected[-1]
        for i in range(1 - k, k):
            weights, bias = _enumerated(w, Fraction(i, k), k)
            assert weights == expected
            assert bias == 0
        flipped = w.copy()
        flipped[0] = -flipped[0]
        assert _enumerated(flipped, Fraction(0), k)[0] != expected  # a flipped weight is noticed


@check("hidden-progress:lemma-B.3", grade="exact", target="printed", cases="n = 19, k = 2, one sign vector")
@proof_steps("majority.md: 11")
def test_closed_form_at_printed_sizes() -> None:
    """Sizes with n >= 2(k+1)^2, by autograd: n = 19, k = 2, with paired neurons."""
    n, k = 19, 2
    w, u, b = _paired_initialisation(n, k, 2, seed=3)
    by_weights, by_biases = _autograd(w, u, b, k, "correlation")
    for i in range(2):
        expected = [-int(u[i]) * c for c in _closed_form(w[i], k)]
        assert [fmpq(int(g * 2**n), 2**n) for g in by_weights[i]] == expected
        assert by_biases[i] == 0


@check(
    "hidden-progress:lemma-B.3",
    grade="sampled",
    target="printed",
    cases="odd n <= 11, even k, Hypothesis draws of signs and biases",
)
@given(st.integers(1, 5), st.data())
def test_closed_form_for_any_bias_below_one(half: int, data: Any) -> None:
    n = 2 * half + 1
    k = 2 * data.draw(st.integers(1, half))
    w = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    b = data.draw(st.fractions(-1, 1, max_denominator=100).filter(lambda x: abs(x) < 1))
    weights, bias = _enumerated(w, b, k)
    assert weights == _closed_form(w, k)
    assert bias == 0


@check("hidden-progress:lemma-B.3", grade="exact", target="printed", supporting=True)
def test_for_even_n_the_bias_gradient_does_not_vanish() -> None:
    """So n is odd, as in Theorem 5.5.

    n = 18 >= 2(k+1)^2, k = 2, w = 1: gamma = +-u/2 times the coefficient of 1{sum x = 0}, by the sign of b.
    """
    n, k = 18, 2
    w = np.ones(n, dtype=np.int64)
    expected = half_coefficient(n, k) / 2
    assert expected != 0
    for b, sign in ((Fraction(-1, 2), -1), (Fraction(0), -1), (Fraction(1, 2), 1)):
        _, bias = _enumerated(w, b, k)
        assert bias == sign * expected


@check("hidden-progress:lemma-B.3", grade="exact", target="printed", supporting=True)
def test_odd_k_moves_the_bias_only() -> None:
    """For odd k the roles change: the weights have gradient 0, the bias has not (n = 7, k = 3: |xi_3|/2 = 1/32)."""
    w = np.array([1, -1, -1, 1, 1, -1, 1])
    weights, bias = _enumerated(w, Fraction(1, 3), 3)
    assert not any(weights)
    assert abs(bias) == abs(majority_coefficient(7, 3)) / 2 == fmpq(1, 32)


@check("hidden-progress:lemma-B.3", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize(("n", "k"), SIZES)
def test_companion_identity_for_the_second_layer(n: int, k: int) -> None:
    """E[y sigma(w.x + b)] = xi_(k-1) chi_[k](w)/2 for every |b| < 1: the gradient in u is not zero."""
    rng = np.random.default_rng(n)
    X = sign_inputs(n)
    for i in range(1 - k, k):
        w = rng.choice([-1, 1], size=n)
        hidden = np.maximum(X @ w * k + i, 0)  # k sigma(w.x + i/k)
        mean = fmpq(int(X[:, :k].prod(axis=1) @ hidden), k * 2**n)
        assert mean == majority_coefficient(n, k - 1) * int(w[:k].prod()) / 2 != 0


# ---- the loss functions


@check("hidden-progress:definition-losses", grade="symbolic", target="corrected")
def test_losses_depend_on_the_label_through_the_margin() -> None:
    """log(1 + e^(-y f)) is -log(e^(y f)/(1 + e^(y f))); slopes at f = 0: -y (hinge, correlation), -y/2, -2y."""
    f, y = sp.symbols("f y", real=True)
    cross_entropy = -sp.log(sp.exp(y * f) / (1 + sp.exp(y * f)))
    assert sp.simplify(sp.exp(-cross_entropy) * (1 + sp.exp(-y * f)) - 1) == 0
    assert sp.simplify(sp.diff(cross_entropy, f).subs(f, 0) + y / 2) == 0
    assert sp.diff(-y * f, f) == -y
    square = sp.diff((y - f) ** 2, f)
    for label in (1, -1):
        assert sp.diff(1 - label * f, f) == -label  # the hinge near f = 0, where 1 - y f > 0
        assert sp.expand((1 - label * f) - (1 + (-label * f))) == 0  # it is 1 + correlation wherever |f| <= 1
        assert square.subs({f: 0, y: label}) == -2 * label
        assert sp.expand(((y - f) ** 2 - (1 - y * f) ** 2).subs(y, label)) == 0
    assert sp.limit(cross_entropy.subs(y, 1), f, sp.oo) == 0
    assert sp.limit(cross_entropy.subs(y, -1), f, -sp.oo) == 0


@counterexample("hidden-progress:definition-losses", grade="exact")
def test_printed_cross_entropy_ignores_the_label(record: Record) -> None:
    """-log(e^f/(1 + e^f)) has slope -1/(1 + e^f) < 0 for both labels: it rewards f -> infinity also for y = -1."""
    f, y = sp.symbols("f y", real=True)
    printed = -sp.log(sp.exp(f) / (1 + sp.exp(f)))
    assert y not in printed.free_symbols
    assert sp.simplify(sp.diff(printed, f) + 1 / (1 + sp.exp(f))) == 0
    corrected = -sp.log(sp.exp(y * f) / (1 + sp.exp(y * f)))
    assert sp.simplify(corrected.subs(y, 1) - printed) == 0
    assert sp.diff(corrected.subs(y, -1), f).subs(f, 0) == sp.Rational(1, 2)  # it pushes f down
    record.no_hypotheses("a definition, for all labels and predictions")
    slopes = [sp.diff(printed.subs(y, label), f).subs(f, 0) for label in (1, -1)]
    record.violated("the slope at 0 has the sign of -y, at y = -1", Fraction(str(slopes[1])), ">", 0)


@check("hidden-progress:definition-losses", grade="numeric", target="corrected", supporting=True)
def test_corrected_cross_entropy_is_that_of_pytorch() -> None:
    f = torch.linspace(-5, 5, 41, dtype=torch.float64)
    for y in (1.0, -1.0):
        target = torch.full_like(f, (1 + y) / 2)
        theirs = torch.nn.functional.binary_cross_entropy_with_logits(f, target, reduction="none")
        # values below 6: a handful of operations, each off by at most 2^-53 relatively to numbers below 1 + e^5 < 2^8
        assert torch.max(torch.abs(theirs - torch.log1p(torch.exp(-y * f)))) < 2.0**-40
        assert torch.max(torch.abs(theirs - torch.log1p(torch.exp(y * f)))) > 1
