"""The sparse-parity network against products of signs over all inputs."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.parity.max_margin import sparse_parity_network
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational

EPS = float(np.finfo(np.float64).eps)
ROOT = sqrt_rational(2)


def all_signs(n: int) -> np.ndarray:
    return np.array(list(itertools.product((1, -1), repeat=n)))


def smallest_margin(network: HomogeneousNetwork, support: list[int]) -> float:
    """The smallest difference of the correct and the wrong raw output, by a loop over all inputs."""
    margins = []
    for x in all_signs(network.hidden.shape[1]):
        y = math.prod(int(x[i]) for i in support)
        plus, minus = network.raw(x)
        margins.append(plus - minus if y == 1 else minus - plus)
    return min(margins)


@pytest.mark.parametrize(
    ("n", "support"),
    [(1, [0]), (3, [2]), (3, [0, 2]), (4, [3, 1]), (4, [0, 1, 3]), (4, [0, 1, 2, 3]), (5, [4, 0, 2])],
)
def test_exact_output_is_a_multiple_of_the_parity(n: int, support: list[int]) -> None:
    network = sparse_parity_network(n, support, exact=True)
    k = len(support)
    assert network.width == 2 ** (k - 1)
    assert (network.degree, network.nu, network.norm_squared, network.norm_power) == (k, k + 1, k + 1, 1)
    for x in all_signs(n):
        y = math.prod(int(x[i]) for i in support)
        plus, minus = network.raw(x)
        assert plus == ROOT * fmpq(math.factorial(k) * y, 2)
        assert minus == -plus
    # gamma*^2 = 2 (k!)^2 / (k + 1)^(k + 1)
    gamma_squared = fmpq(2 * math.factorial(k) ** 2, (k + 1) ** (k + 1))
    assert network.normalised_squared(ROOT * math.factorial(k)) == gamma_squared


@pytest.mark.parametrize(("k", "gamma_squared"), [(1, 1 / 2), (2, 8 / 27), (3, 9 / 32), (4, 1152 / 3125), (5, 50 / 81)])
def test_float_margin_is_the_published_one(k: int, gamma_squared: float) -> None:
    n = k + 2
    network = sparse_parity_network(n, k)
    x = all_signs(n)
    y = np.prod(x[:, :k], axis=1)
    output = network(x)
    margins = y * (output[:, 0] - output[:, 1])
    # at most k^k in each of 2^(k-1) summands of mean 1, with k + 2^(k-1) + 8 roundings
    rounding = (2 ** (k - 1) + 2 * k + 8) * EPS * 2 * k**k * network.scale
    np.testing.assert_allclose(margins, math.sqrt(gamma_squared), atol=rounding)


def test_exact_and_float_weights_agree() -> None:
    exact, floating = sparse_parity_network(6, [1, 4, 5], exact=True), sparse_parity_network(6, [1, 4, 5])
    np.testing.assert_array_equal(exact.to_float().hidden, floating.hidden)
    np.testing.assert_allclose(exact.to_float().readout, floating.readout, rtol=2 * EPS)


@given(st.data())
def test_neurons_have_the_optimal_shape(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 7))
    support = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    hidden, readout = sparse_parity_network(n, support).weights()
    outside = [i for i in range(n) if i not in support]
    assert np.all(hidden[:, outside] == 0)
    lengths = np.linalg.norm(readout, axis=1)
    np.testing.assert_allclose(np.abs(hidden[:, support]), np.repeat(lengths[:, None], len(support), 1), rtol=8 * EPS)
    assert np.all(readout[:, 0] == -readout[:, 1])
    assert np.all(np.prod(hidden[:, support], axis=1) * readout[:, 0] > 0)
    patterns = {tuple(row) for row in np.sign(hidden[:, support]).astype(int).tolist()}
    antipodes = {tuple(-s for s in row) for row in patterns}
    assert len(patterns) == 2 ** (len(support) - 1)
    assert not patterns & antipodes


def test_faults_lower_the_margin() -> None:
    support = [0, 1, 2]
    good = sparse_parity_network(4, support)
    best = 6 * math.sqrt(2)
    assert smallest_margin(good, support) == pytest.approx(best, rel=64 * EPS)
    assert smallest_margin(good, [0, 1, 3]) < 0
    uneven = dataclasses.replace(good, masses=np.array([0.26, 0.24, 0.25, 0.25]))
    assert smallest_margin(uneven, support) < 0.99 * best
    removed = dataclasses.replace(good, masses=np.array([0.0, 1 / 3, 1 / 3, 1 / 3]))
    assert smallest_margin(removed, support) < 0.9 * best
    signs = np.array([[-1.0], [1.0], [1.0], [1.0]])
    assert smallest_margin(dataclasses.replace(good, readout=good.readout * signs), support) < 0


@pytest.mark.parametrize(
    ("n", "support", "message"),
    [
        (3, 0, "k = 0"),
        (3, -1, "k = 0"),
        (3, 4, "k = 4"),
        (3, [], "k = 0"),
        (3, [0, 1, 2, 0], "k = 4"),
        (3, [0, 3], r"contains \[3\]"),
        (3, [-1, 0], r"contains \[-1\]"),
        (3, [1, 1], r"repeats \[1\]"),
        (0, 1, "n = 0"),
    ],
)
def test_bad_supports(n: int, support: int | list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sparse_parity_network(n, support)


def test_fractional_support_is_refused() -> None:
    with pytest.raises(TypeError):
        sparse_parity_network(3, [0.5])  # type: ignore[list-item]
