"""One-step gradients: the transform, the closed form, autograd and samples agree; bad input is refused."""

from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.fourier.gaps import majority_gap
from lemmata.numerics.parity.one_step import (
    batch_gradient,
    derivative_table,
    largest_entries,
    population_gradient,
    recovery_samples,
    sign_gradient,
)


def threshold(z: np.ndarray) -> np.ndarray:
    return (z > 0).astype(float)


def enumerated(h: np.ndarray, x: np.ndarray, support: list[int]) -> list[fmpq]:
    label = np.prod(x[:, support], axis=1)
    return [-fmpq(int(np.sum(h * label * x[:, i])), len(x)) for i in range(x.shape[1])]


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 7))
def test_the_transform_equals_the_sum_over_all_inputs(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = sign_inputs(n)
    support = rng.permutation(n)[: rng.integers(1, n + 1)].tolist()
    h = rng.integers(-5, 6, size=2**n)
    assert population_gradient(h, support).tolist() == enumerated(h, x, support)
    fractions = np.array([fmpq(int(value), 3) for value in h], dtype=object)
    assert population_gradient(fractions, support).tolist() == [g / 3 for g in enumerated(h, x, support)]
    assert np.allclose(population_gradient(h.astype(float), support), population_gradient(h, support).astype(float))
    weights, bias = rng.normal(size=n), float(rng.normal())
    assert np.allclose(derivative_table(np.tanh, weights, bias), np.tanh(x @ weights + bias))


@given(data=st.data(), n=st.sampled_from([3, 5, 7, 9]))
def test_the_closed_form_equals_the_transform(data: st.DataObject, n: int) -> None:
    signs = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    k = data.draw(st.sampled_from(range(2, n + 1, 2)))
    support = data.draw(st.permutations(range(n)))[:k]
    bias = data.draw(st.sampled_from([-0.9, 0.0, 0.5]))
    table = derivative_table(threshold, signs, bias).astype(np.int64)
    assert sign_gradient(signs, support).tolist() == population_gradient(table, support).tolist()


def test_the_gradient_is_that_of_autograd() -> None:
    """A sine at random weights, over all inputs, in float64.

    Pre-activations err by at most (n + 1) 2^-53 (|w|_1 + |b|) on either side, the transform by n 2^-53, and the sum
    over 2^n inputs by at most 2^n 2^-53 of their mean, which is at most 1.
    """
    rng = np.random.default_rng(3)
    n, support = 7, [1, 4, 6]
    start, bias = rng.normal(size=n), 0.3
    x = torch.tensor(sign_inputs(n), dtype=torch.float64)
    w = torch.tensor(start, requires_grad=True)
    loss = -(x[:, support].prod(dim=1) * torch.sin(x @ w + bias)).mean()
    loss.backward()
    assert w.grad is not None
    table = derivative_table(np.cos, start, bias)
    bound = 2 * (n + 2) * (np.abs(start).sum() + 1) + n + 2**n
    assert np.abs(population_gradient(table, support) - w.grad.numpy()).max() < bound * 2.0**-53


def test_batches_tend_to_the_population_gradient_and_reveal_the_support() -> None:
    """n = 31, S = {2, 17}: the support at delta = 1/100, and another one for other labels."""
    n, support, rng = 31, (2, 17), np.random.default_rng(1)
    gap = float(majority_gap(n, 2).gap.p) / float(majority_gap(n, 2).gap.q) / 2
    samples = recovery_samples(n, gap, delta=0.01)
    signs = rng.choice([-1, 1], size=n)
    exact = sign_gradient(signs, support)
    batch = batch_gradient(threshold, signs, 0.0, support, samples, rng)
    assert largest_entries(exact, 2) == largest_entries(batch, 2) == support
    distance = max(abs(b - float(g.p) / float(g.q)) for b, g in zip(batch, exact, strict=True))
    assert 0 < distance < gap / 2
    wrong = batch_gradient(threshold, signs, 0.0, (3, 17), samples, rng)
    assert largest_entries(wrong, 2) == (3, 17) != support


def test_thousands_of_inputs() -> None:
    gradient = sign_gradient(np.ones(2001, dtype=int), (5, 6, 7, 2000))
    assert largest_entries(gradient, 4) == (5, 6, 7, 2000)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: derivative_table(threshold, np.ones(60)), r"neuron with 60 inputs needs \d+\.\d GiB"),
        (lambda: derivative_table(lambda z: np.log(z - 1), [1.0, 1.0]), "NaN or infinity at the pre-activation"),
        (lambda: derivative_table(lambda z: z[:1], [1.0, 1.0]), "must keep the shape"),
        (lambda: derivative_table(threshold, [np.nan]), "finite numbers"),
        (lambda: population_gradient([0, 1, 1], [0]), "length 2"),
        (lambda: population_gradient([0, 1, 1, 0], [0, 1, 2]), "no non-empty set of inputs"),
        (lambda: population_gradient([0, 1, 1, 0], []), "no non-empty set of inputs"),
        (lambda: sign_gradient([1] * 5, [0, 1, 2]), "an even number of indices, not 3: majority is odd"),
        (lambda: sign_gradient([1] * 4, [0, 1]), "odd number of inputs, not 4"),
        (lambda: sign_gradient([1, 2, 1], [0, 1]), "signs 1 or -1"),
        (lambda: sign_gradient([1, 0, 1], [0, 1]), "signs 1 or -1"),
        (lambda: sign_gradient([[1, 1, 1]], [0, 1]), "signs 1 or -1"),
        (lambda: sign_gradient([], [0, 1]), "nonempty vector"),
        (lambda: batch_gradient(threshold, [1.0], 0.0, [0], 0, np.random.default_rng()), "at least one sample"),
        (lambda: batch_gradient(lambda z: z * np.nan, [1.0], 0.0, [0], 4, np.random.default_rng()), "NaN"),
        (lambda: recovery_samples(9, 0.0, 0.1), "no gap at supports with an odd number"),
        (lambda: largest_entries([1.0, -1.0, 0.0], 1), "tie"),
        (lambda: largest_entries([1.0], 2), "1 largest ones, not 2"),
    ],
)
def test_bad_input_is_refused(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()
