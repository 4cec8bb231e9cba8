"""Lemma 1 (8, 15) and definition 3: the gradient of the risk as Kronecker products, and back-propagation.

Exact over Q for polynomial r and l: the oracle writes w + e t for each unit vector e, so that the risk is a polynomial
in t over Q, and reads its linear coefficient; it knows no chain rule.

For all sizes and all differentiable r, l: (D.4) is the product rule for p(j) = r(V_j p(j-1)), entry by entry, since
d(V_j p)[k]/dw = sum_b V_j[k,b] dp[b]/dw + sum_b p[b] dV_j[k,b]/dw, and the second sum is row k of [0, I (x) p^T, 0];
unrolled from j = N down it gives the products of the lemma, whose slices are (3.8), and grouping them from the left
gives (3.7). Each of these steps is checked below at random rational points for every listed shape.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq, fmpq_poly

from lemmata.constructions.descent.layout import PromptLayout
from lemmata.numerics.descent.backpropagation import risk_gradient
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.theorems.deep_icgd.instances import rationals
from lemmata.theorems.evidence import check, proof_steps

POINTS = (
    "2 draws (seeds 0, 1) of weights and of 2 examples for each of the widths of the test; r(t) = 1 + t + t^2/3, "
    "l(t, y) = (t - y)^3/3"
)

EQUAL = [(2, 2, 2), (2, 3, 2), (1, 2, 1), (2, 2, 2, 2), (3, 2, 2, 3), (2, 1, 2, 2, 2)]
UNEQUAL = [(2, 2, 1), (1, 3, 2), (3, 2, 2, 1), (1, 2, 2, 3), (2, 1, 1, 2, 1)]
SHAPES = EQUAL + UNEQUAL


def r(t: Any) -> Any:
    return 1 + t + t * t / 3


def slope(t: Any) -> Any:
    return 1 + 2 * t / 3


def loss(t: Any, y: Any) -> Any:
    return (t - y) * (t - y) * (t - y) / 3


def loss_slope(t: Any, y: Any) -> Any:
    return (t - y) * (t - y)


def outputs_by_loops(matrices: list[Any], x: Any) -> list[Any]:
    """p(0), ..., p(N), for entries that are numbers or polynomials."""
    p = [list(x)]
    for V in matrices:
        p.append([r(sum((v * b for v, b in zip(row, p[-1], strict=True)), fmpq(0))) for row in V])
    return p


def risk(matrices: list[Any], inputs: Any, labels: Any) -> Any:
    """L_n(w) by loops, for entries that are numbers or polynomials."""
    total: Any = fmpq(0)
    for x, y in zip(inputs, labels, strict=True):
        p = outputs_by_loops(matrices, x)[-1]
        total = total + sum((loss(t, target) for t, target in zip(p, y, strict=True)), fmpq(0))
    return total / (2 * len(inputs))


def gradient_by_polynomials(layout: PromptLayout, w: Array, inputs: Any, labels: Any) -> Array:
    """The linear coefficients of t -> L_n(w + t e) for all unit vectors e."""
    result = []
    for position in range(len(w)):
        moved = w.copy()
        moved[position] = fmpq_poly([w[position], 1])
        polynomial = risk([V.tolist() for V in layout.matrices(moved)], inputs, labels)
        result.append(polynomial[1])
    return np.array(result, dtype=object)


def outputs(matrices: list[Array], x: Array) -> list[Array]:
    p = [x]
    for V in matrices:
        p.append(np.array([r(t) for t in V @ p[-1]], dtype=object))
    return p


def diagonal(entries: Any) -> Array:
    result = as_exact(np.zeros((len(entries), len(entries)), dtype=np.int64))
    for k, entry in enumerate(entries):
        result[k, k] = entry
    return result


def derivatives(matrices: list[Array], p: list[Array]) -> list[Array]:
    """R(0), ..., R(N-1)."""
    return [diagonal([slope(t) for t in V @ before]) for V, before in zip(matrices, p, strict=False)]


def kronecker_row(size: int, p: Array) -> Array:
    """I (x) p^T."""
    return np.kron(as_exact(np.eye(size, dtype=np.int64)), p[None, :])


def slices_by_the_lemma(matrices: list[Array], p: list[Array], u: Array) -> list[Array]:
    """A(1), ..., A(N) as printed: (R(N-1) V_N ... V_(j+1) R(j-1) [I (x) p(j-1)^T])^T u."""
    R, N = derivatives(matrices, p), len(matrices)
    result = []
    for j in range(1, N + 1):
        product = R[N - 1]
        for i in range(N, j, -1):
            product = product @ matrices[i - 1] @ R[i - 2]
        result.append((product @ kronecker_row(len(matrices[j - 1]), p[j - 1])).T @ u)
    return result


def example(shape: tuple[int, ...], seed: int, n: int = 2) -> tuple[PromptLayout, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    layout = PromptLayout(shape)
    w = rationals(rng, layout.weight_count) + fmpq(1, 97)  # no argument is a zero of r'
    return layout, w, rationals(rng, n, shape[0]), rationals(rng, n, shape[-1])


def by_back_propagation(layout: PromptLayout, w: Array, inputs: Array, labels: Array) -> Array:
    """The gradient by the reference of the library, which back-propagates by (3.7) and (3.8)."""
    matrices = [V.tolist() for V in layout.matrices(w)]
    slopes = risk_gradient(matrices, inputs.tolist(), labels.tolist(), r, slope, loss_slope)
    return layout.flatten([np.array(V, dtype=object) for V in slopes])


def assert_lemma(shape: tuple[int, ...], seed: int) -> None:
    layout, w, X, Y = example(shape, seed)
    assert abs(X).max() <= 1 >= abs(Y).max()
    matrices = layout.matrices(w)
    total: Any = 0
    for x, y in zip(X, Y, strict=True):
        p = outputs(matrices, x)
        u = np.array([loss_slope(t, target) for t, target in zip(p[-1], y, strict=True)], dtype=object)
        total = total + np.concatenate(slices_by_the_lemma(matrices, p, u))
    derivative = gradient_by_polynomials(layout, w, X, Y)
    assert (derivative == total / (2 * len(X))).all()
    assert (derivative == by_back_propagation(layout, w, X, Y)).all()
    assert all((V != 0).any() for V in layout.matrices(derivative))
    for inputs, labels in ((X, Y[:1]), (X[:1], Y), (X[:0], Y[:0])):  # the risk is over n examples, n >= 1
        with pytest.raises(ValueError, match="as many labels as inputs"):
            by_back_propagation(layout, w, inputs, labels)


@check("deep-icgd:lemma-1", grade="sampled", target="printed", cases=f"{POINTS}; {EQUAL}")
@check("deep-icgd:lemma-8", grade="sampled", target="printed", cases=f"{POINTS}; {EQUAL}")
@proof_steps("gradient.md: 3")
@pytest.mark.parametrize("shape", EQUAL, ids=str)
def test_gradient_is_the_sum_of_kronecker_products(shape: tuple[int, ...], effort: Any) -> None:
    for seed in range(effort.pick(quick=2, full=10)):
        assert_lemma(shape, seed)


@check("deep-icgd:lemma-15", grade="sampled", target="printed", cases=f"{POINTS}; {UNEQUAL}")
@proof_steps("gradient.md: 3")
@pytest.mark.parametrize("shape", UNEQUAL, ids=str)
def test_gradient_with_other_input_and_output_dimensions(shape: tuple[int, ...], effort: Any) -> None:
    for seed in range(effort.pick(quick=2, full=10)):
        assert_lemma(shape, seed)


@check("deep-icgd:lemma-1", grade="sampled", target="printed", supporting=True)
@check("deep-icgd:lemma-8", grade="sampled", target="printed", supporting=True)
@check("deep-icgd:lemma-15", grade="sampled", target="printed", supporting=True)
@proof_steps("gradient.md: 1")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_recursion_of_the_jacobians(shape: tuple[int, ...]) -> None:
    """(D.4) with R(j-1) of size K_j and I of size K_j, j = N included, against derivatives by polynomials."""
    layout, w, X, _ = example(shape, 3, n=1)
    matrices, p, D = layout.matrices(w), outputs(layout.matrices(w), X[0]), layout.weight_count
    R, starts = derivatives(matrices, p), np.cumsum([0, *(V.size for V in matrices)])
    jacobian = as_exact(np.zeros((shape[0], D), dtype=np.int64))
    for j, V in enumerate(matrices):
        inner = V @ jacobian
        inner[:, starts[j] : starts[j + 1]] = inner[:, starts[j] : starts[j + 1]] + kronecker_row(len(V), p[j])
        jacobian = R[j] @ inner
        for position in range(0, D, 2):
            moved = w.copy()
            moved[position] = fmpq_poly([w[position], 1])
            polynomials = outputs_by_loops([U.tolist() for U in layout.matrices(moved)], X[0])[j + 1]
            column = [entry[1] if isinstance(entry, fmpq_poly) else fmpq(0) for entry in polynomials]
            assert jacobian[:, position].tolist() == column


@check(
    "deep-icgd:definition-3",
    grade="sampled",
    target="printed",
    cases=f"one example and weights (seed 4) for each of the widths {SHAPES}",
)
@proof_steps("gradient.md: 4")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_back_propagation_gives_the_slices(shape: tuple[int, ...]) -> None:
    """(3.7) and (3.8) against the products of the lemma."""
    layout, w, X, Y = example(shape, 4, n=1)
    matrices = layout.matrices(w)
    p = outputs(matrices, X[0])
    u = np.array([loss_slope(t, y) for t, y in zip(p[-1], Y[0], strict=True)], dtype=object)
    R, expected = derivatives(matrices, p), slices_by_the_lemma(matrices, p, u)
    s = R[-1] @ u
    for j in range(len(matrices), 0, -1):
        assert (np.kron(as_exact(np.eye(shape[j], dtype=np.int64)), p[j - 1][:, None]) @ s == expected[j - 1]).all()
        if j > 1:
            s = R[j - 2] @ (matrices[j - 1].T @ s)
    assert (by_back_propagation(layout, w, X, Y) == np.concatenate(expected) / 2).all()
    assert all((part != 0).any() for part in expected)


@check("deep-icgd:lemma-8", grade="exact", target="printed", supporting=True)
def test_the_jacobian_of_an_output_row_has_K_rows() -> None:
    """dv_(N_k)/dw is printed as d x D_N, but v_(N_k) has K entries, each with its own unit vector: K x D_N, K != d."""
    layout = PromptLayout((2, 3, 2))
    every = np.eye(layout.weight_count, dtype=np.int64)
    row = every[layout.matrices(np.arange(layout.weight_count))[1][0]]
    assert row.shape == (3, layout.weight_count)
    assert row.shape[0] != layout.widths[-1]
    assert np.linalg.matrix_rank(row) == 3


@check("deep-icgd:lemma-1", grade="exact", target="printed", supporting=True)
def test_column_major_weights_and_a_factor_1_over_n_are_refuted() -> None:
    """Negative controls for the oracle."""
    layout, w, X, Y = example((2, 3, 2), 5)
    good = gradient_by_polynomials(layout, w, X, Y)
    assert (np.concatenate([V.T.ravel() for V in layout.matrices(good)]) != good).any()
    assert (2 * good != good).any()


@check("deep-icgd:lemma-1", grade="numeric", target="printed", supporting=True)
@proof_steps("gradient.md: 4")
@pytest.mark.parametrize("shape", [(3, 4, 4, 2), (2, 5, 5, 5, 1)], ids=str)
def test_reference_back_propagation_agrees_with_autograd(shape: tuple[int, ...]) -> None:
    """The oracle of the exact checks in float64: every sum has at most 50 terms of size below 10, so 1e-12 is safe."""
    rng = np.random.default_rng(6)
    matrices = [rng.uniform(-1, 1, (b, a)) for a, b in pairwise(shape)]
    X, Y = rng.uniform(-1, 1, (4, shape[0])), rng.uniform(-1, 1, (4, shape[-1]))
    tensors = [torch.tensor(V, requires_grad=True) for V in matrices]
    p = torch.tensor(X)
    for V in tensors:
        p = torch.tanh(p @ V.T)
    ((p - torch.tensor(Y)) ** 2 / 2).sum().div(2 * len(X)).backward()
    ours = risk_gradient(
        [V.tolist() for V in matrices],
        X.tolist(),
        Y.tolist(),
        np.tanh,
        lambda t: 1 - np.tanh(t) ** 2,
        lambda t, y: t - y,
    )
    for tensor, V in zip(tensors, ours, strict=True):
        assert tensor.grad is not None
        np.testing.assert_allclose(V, tensor.grad.numpy(), rtol=0, atol=1e-12)
        assert np.abs(V).max() > 1e-4
