"""Definition 5, its claim on spans, and theorem 6: feed-forward networks need N d samples; `proofs/feed-forward.md`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from flint import arb, fmpq

from lemmata.certificates.tokens.feed_forward import (
    certify_feed_forward,
    least_total_norm,
    linear_risk,
    matching_predictor,
    out_of_span,
    samples_needed,
)
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

DEFINITION = "qstr:definition-5"
CLAIM = "qstr:claim-ffn-span"
THEOREM = "qstr:theorem-6"
SIZES = [(2, 2, 1), (3, 2, 2), (3, 2, 4), (2, 3, 6), (4, 3, 5), (5, 1, 3), (6, 2, 13)]


def _inputs(N: int, d: int, n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, N, d, n]).integers(-5, 6, (n, N * d))


# ---- the claim on spans


@check(CLAIM, grade="exact", target="printed")
@proof_steps("feed-forward.md: 1")
@pytest.mark.parametrize("power", [2, 4])
def test_gradients_lie_in_the_span(power: int) -> None:
    """Of a network of cubes with two outputs, by derivatives of the loss as a polynomial in all weights."""
    X, y = _inputs(2, 2, 2), [3, -1]
    W: Any = sympy.Matrix(2, 4, sympy.symbols("w:8"))
    loss: Any = 0
    for row, label in zip(X.tolist(), y, strict=True):
        hidden = [z**3 - z for z in W * sympy.Matrix(row)]
        for readout in ([1, -2], [1, 3]):
            loss += (sum(c * h for c, h in zip(readout, hidden, strict=True)) - label) ** power
    at: Any = {W[k]: sympy.Rational(k % 5 - 2, 3) for k in range(8)}
    gradient = [[sympy.diff(loss, W[k, i]).subs(at) for i in range(4)] for k in range(2)]
    exact = as_exact([[f"{x.p}/{x.q}" for x in row] for row in gradient])
    assert all((row != 0).any() for row in exact)
    assert not (out_of_span(exact, X) != 0).any()
    moved = exact + as_exact([[1, 0, 0, 0]] * 2)
    assert (out_of_span(moved, X) != 0).any()  # the inputs do not span everything


@check(CLAIM, grade="exact", target="printed")
@proof_steps("feed-forward.md: 2")
@pytest.mark.parametrize("start", ["zero", "inside", "outside"])
def test_descent_shrinks_what_lies_outside(start: str) -> None:
    """Stochastic gradient descent on a quadratic network, exactly: outside remains (1 - eta lambda)^s of the start."""
    X = as_exact(_inputs(3, 2, 3))
    y, eta, decay = as_exact([1, -2, 3]), fmpq(1, 200), fmpq(3, 2)
    W = {"zero": 0 * X[:2], "inside": X[:2] + X[1:], "outside": as_exact(np.eye(6, dtype=int)[:2])}[start] / fmpq(5)
    first = out_of_span(W, X)
    assert (first != 0).any() == (start == "outside")
    for step in range(1, 5):
        i = step % 3
        z = W @ X[i]
        error = z[0] ** 2 - 2 * z[1] + z[0] - y[i]
        slopes = np.array([2 * z[0] + 1, fmpq(-2)], dtype=object)
        W = (1 - eta * decay) * W - eta * 2 * error * np.outer(slopes, X[i])
        assert (out_of_span(W, X) == (1 - eta * decay) ** step * first).all()
    assert (W != 0).any()


@check(CLAIM, grade="numeric", target="printed", supporting=True)
@proof_steps("feed-forward.md: 2")
@pytest.mark.parametrize("seed", [0, 1])
def test_trained_networks_lie_in_the_span(seed: int) -> None:
    """Gradients of torch: outside is what the gradient that is left, divided by lambda, allows."""
    torch.manual_seed(seed)
    N, d, n, decay = 4, 3, 5, 0.3
    X = torch.tensor(np.random.default_rng(seed).normal(size=(n, N * d)))
    y = X[:, :d] @ torch.tensor([0.6, 0.0, 0.8], dtype=torch.float64)
    W = (torch.randn(6, N * d, dtype=torch.float64) * 0.7).requires_grad_()
    v = torch.randn(6, dtype=torch.float64)

    def objective() -> torch.Tensor:
        return ((torch.tanh(X @ W.T) @ v - y) ** 2).mean() + decay / 2 * (W**2).sum()

    before = np.linalg.norm(to_float(out_of_span(W.detach().numpy(), X.numpy())))
    for _ in range(300):
        [gradient] = torch.autograd.grad(objective(), W)
        with torch.no_grad():
            W -= 0.3 * gradient
    [gradient] = torch.autograd.grad(objective(), W)
    outside = np.linalg.norm(to_float(out_of_span(W.detach().numpy(), X.numpy())))
    assert outside <= float(gradient.norm()) / decay + 1e-12
    assert outside < 1e-8 * before
    assert float(W.detach().norm()) > 0.01


@check(CLAIM, grade="exact", target="printed")
@proof_steps("feed-forward.md: 3")
@pytest.mark.parametrize(("N", "d", "n"), SIZES)
def test_projecting_keeps_the_loss_and_shortens(N: int, d: int, n: int) -> None:
    X, W = as_exact(_inputs(N, d, n)), as_exact(_inputs(N, d, 3, seed=1))
    outside = out_of_span(W, X)
    inside = W - outside
    assert (inside @ X.T == W @ X.T).all()
    assert (W**2).sum() == (inside**2).sum() + (outside**2).sum()
    assert not (out_of_span(inside, X) != 0).any()
    assert not (out_of_span(X, X) != 0).any()
    assert (outside != 0).any() == (np.linalg.matrix_rank(to_float(X)) < N * d)


# ---- theorem 6


@check(THEOREM, grade="exact", target="printed")
@proof_steps("feed-forward.md: 5")
@pytest.mark.parametrize(("N", "d", "n"), SIZES)
def test_the_average_over_directions_is_a_trace(N: int, d: int, n: int) -> None:
    """1 - rank/(N d) is the mean over an orthonormal basis, also with dependent inputs, and a bound of the largest."""
    for X in (_inputs(N, d, n), np.concatenate([_inputs(N, d, n), _inputs(N, d, n)[:1] * 2])):
        certificate = certify_feed_forward(X, N)
        rank = int(np.linalg.matrix_rank(X.astype(float)))
        risks = [certificate.risk(row) for row in np.eye(d, dtype=int)]
        assert certificate.rank == rank == min(n, N * d)
        assert certificate.average == 1 - fmpq(rank, N * d) == sum(risks, start=fmpq(0)) / d
        assert certificate.upper >= certificate.average >= 1 - fmpq(n, N * d)
        assert all(0 <= risk <= certificate.upper for risk in risks)


@check(THEOREM, grade="numeric", target="printed")
@proof_steps("feed-forward.md: 5")
@pytest.mark.parametrize(("N", "d", "n"), SIZES)
def test_the_worst_direction_is_bracketed(N: int, d: int, n: int) -> None:
    """The bracket against the projector of a singular value decomposition in float64."""
    X = _inputs(N, d, n)
    certificate = certify_feed_forward(X, N)
    _, sizes, rows = np.linalg.svd(X.astype(float), full_matrices=False)
    V = rows[sizes > 1e-9]
    blocks = sum(V[:, t * d : (t + 1) * d].T @ V[:, t * d : (t + 1) * d] for t in range(N)) / N
    worst = 1 - np.linalg.eigvalsh(blocks)[0]
    assert certificate.lower <= certificate.upper <= certificate.lower + fmpq(1, 10**9)
    assert abs(float(certificate.upper.p) / float(certificate.upper.q) - worst) < 1e-8
    assert certificate.risk(certificate.direction) == certificate.lower


@check(THEOREM, grade="numeric", target="printed")
@proof_steps("feed-forward.md: 4")
@pytest.mark.parametrize(("N", "d", "n"), SIZES)
def test_the_matching_predictor_attains_the_bound(N: int, d: int, n: int) -> None:
    """Its risk is computed from its weights; other read-outs of the same span are worse, by least squares as well."""
    X, rng = _inputs(N, d, n), np.random.default_rng(n)
    certificate = certify_feed_forward(X, N)
    for u in (certificate.direction, as_exact(rng.integers(-3, 4, d) * 2 + 1)):
        predictor = matching_predictor(X, N, u)
        assert not (out_of_span(predictor.first_layer, X) != 0).any()
        assert linear_risk(predictor.weights, u) == certificate.risk(u) * (u @ u)
        other = predictor.readout + as_exact(rng.integers(-1, 2, predictor.readout.shape)) / fmpq(100)
        if (other != predictor.readout).any():
            assert linear_risk(other @ predictor.first_layer, u) > certificate.risk(u) * (u @ u)
        targets = np.zeros((N * d, N))
        for t in range(N):
            targets[t * d : (t + 1) * d, t] = to_float(u)
        fit = X.T @ np.linalg.lstsq(X.T.astype(float), targets, rcond=None)[0]
        assert abs(((fit - targets) ** 2).sum() / N - float(to_float(linear_risk(predictor.weights, u)))) < 1e-9


@check(THEOREM, grade="sampled", target="printed", supporting=True)
@proof_steps("feed-forward.md: 4")
@pytest.mark.parametrize("seed", [0, 1])
def test_networks_that_were_trained_are_not_better(seed: int, effort: Effort) -> None:
    """A tanh network with a read-out for every index, trained; its risk on fresh prompts is above that of its rows."""
    torch.manual_seed(seed)
    N, d, n = 5, 2, 6
    rng = np.random.default_rng(seed)
    X = torch.tensor(rng.normal(size=(n, N * d)))
    t = torch.tensor(rng.integers(0, N, n))
    u = torch.tensor([0.6, 0.8], dtype=torch.float64)
    label = (X.reshape(n, N, d)[torch.arange(n), t] * u).sum(dim=1)
    W = torch.zeros(4, N * d, dtype=torch.float64, requires_grad=True)
    v = torch.randn(N, 4, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([W, v], lr=0.2, weight_decay=0.01)
    for _ in range(effort.pick(quick=150, full=3000)):
        optimiser.zero_grad()
        (((torch.tanh(X @ W.T) * v[t]).sum(dim=1) - label) ** 2).mean().backward()
        optimiser.step()
    rows = W.detach().numpy()
    own, bound = certify_feed_forward(rows, N), certify_feed_forward(X.numpy(), N)
    assert np.linalg.norm(to_float(out_of_span(rows, X.numpy()))) < 1e-12 * np.linalg.norm(rows)
    assert np.linalg.norm(rows) > 0.1
    fresh, index = rng.normal(size=(20_000, N * d)), rng.integers(0, N, 20_000)
    truth = (fresh.reshape(-1, N, d)[np.arange(20_000), index] * u.numpy()).sum(axis=1)
    errors = ((np.tanh(fresh @ rows.T) * v.detach().numpy()[index]).sum(axis=1) - truth) ** 2
    floor = max(to_float([one.risk(["3/5", "4/5"]) for one in (own, bound)]))
    assert errors.mean() + 5 * errors.std() / math.sqrt(20_000) > floor > 0.2
    assert certify_feed_forward(rows, N, gap="1/1000").upper >= bound.average


@check(THEOREM, grade="exact", target="printed")
@proof_steps("feed-forward.md: 5, 6")
def test_cases_of_equality() -> None:
    """Single numbers as tokens, and inputs that read whole tokens: the largest risk is 1 - n/(N d)."""
    for N, n in [(3, 1), (5, 4), (4, 4)]:
        certificate = certify_feed_forward(_inputs(N, 1, n), N)
        assert certificate.lower == 1 - fmpq(n, N) == certificate.average
    for N, d, tokens in [(3, 2, 1), (4, 3, 2), (5, 2, 5)]:
        X = np.eye(N * d, dtype=int)[: tokens * d]
        certificate = certify_feed_forward(X, N)
        assert certificate.lower == 1 - fmpq(tokens, N) == 1 - fmpq(len(X), N * d)
        assert samples_needed(N, d, certificate.lower) == len(X)
    assert samples_needed(1000, 10, "1/10") == 9000
    assert samples_needed(7, 3, "1/2") == 11
    assert samples_needed(7, 3, 1) == 0


# ---- the class of algorithms


@counterexample(DEFINITION, grade="exact")
@proof_steps("feed-forward.md: 7, 8")
def test_rescaling_leaves_no_least_norm(record: Record, label: str = "10/3") -> None:
    """(f(T, ./c), c W): the same predictions for every c, and norms that tend to 0, where W = 0 cannot fit."""
    X = as_exact([[1, 2, -1, 0], [3, -1, 1, 1]])  # two prompts with the same indices
    W = as_exact([[1, 0], [1, -1], [0, 2], [-1, 1]])
    bias, readout = as_exact([1, -2]), as_exact([[1], ["2/3"]])
    y = as_exact([4, label])
    norms, predictions = [], []
    for c in (fmpq(1), fmpq(1, 10), fmpq(1, 10**6)):
        rest = Affine(as_exact(np.eye(2, dtype=int)) / c, bias), Affine(readout)
        network = FeedForward((Affine(c * W), *rest), activations=("identity", "relu", "identity"))
        norms.append((network.layers[0].weight ** 2).sum())
        predictions.append(network(X)[:, 0])
        multiple = FeedForward((Affine(c * W[:, :1]), Affine(as_exact([[1 / c]]))), activations=("identity",) * 2)
        assert (multiple(X) == X @ W[:, :1]).all()
        assert (1 / c).q == 1  # of the class of the maps z -> k z, k = 1, 2, ...
    assert norms == [norms[0], norms[0] / 100, norms[0] / 10**12]
    assert norms[0] > 0
    loss = ((network(X)[:, 0] - y) ** 2).sum() / 2
    record.hypothesis("the loss of (f(T, ./c), c W) is at most eps = 0, at c = 10^-6", loss, "<=", 0)
    record.violated(
        "(f, W) has the least norm: its square is at most that of (f(T, ./c), c W)", norms[0], "<=", norms[-1]
    )
    assert all((found == y).all() for found in predictions)
    mean = y.sum() / 2  # with W = 0 both prompts get one number b
    for b in (mean, mean + fmpq(1, 3), fmpq(0)):
        assert ((y - b) ** 2).sum() / 2 == fmpq(1, 9) + (mean - b) ** 2


@check(DEFINITION, grade="numeric", target="corrected")
@proof_steps("feed-forward.md: 9")
@pytest.mark.parametrize(("N", "d", "n"), [(2, 2, 1), (3, 2, 2), (3, 2, 4), (4, 1, 3)])
def test_the_norm_of_all_parameters_has_a_least_value(N: int, d: int, n: int) -> None:
    """A linear network that fits: the least norm is attained by one row, in the span, and by no other scale of it."""
    X, rng = as_exact(_inputs(N, d, n)), np.random.default_rng(n)
    y = as_exact(rng.integers(1, 6, n))
    value, beta = least_total_norm(X, y)
    assert (X @ beta == y).all()
    assert not (out_of_span(beta[None], X) != 0).any()
    solution = np.linalg.lstsq(to_float(X), to_float(y), rcond=None)[0]  # the shortest one
    assert abs(float(value) - 2 * np.linalg.norm(solution)) < 1e-9
    square: Any = beta @ beta
    length = arb(square).sqrt()
    root = length.sqrt()
    assert (root * root + length * length / (root * root)).overlaps(value)
    for scale in (root * 2, root / 2, root * arb("1.1")):  # v = scale, W = beta/scale
        assert scale * scale + length * length / (scale * scale) > value
    for _ in range(20):  # other networks that fit, of two rows
        null = out_of_span(as_exact(rng.integers(-3, 4, (1, N * d))), X)[0]
        v = as_exact(rng.integers(1, 4, 2))
        first = as_exact(rng.integers(-2, 3, N * d)) / fmpq(2)
        W = np.stack([first, (beta + null - v[0] * first) / v[1]])
        assert (X @ (v @ W) == y).all()
        assert arb((v**2).sum() + (W**2).sum()) > value
