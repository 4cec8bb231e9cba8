"""The memorising network against a table look-up in plain Python."""

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.groups.memorising import memorising_network, memorising_weights
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks, group_inputs

EPS = float(np.finfo(np.float64).eps)


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    n = draw(st.integers(1, 5))
    return draw(st.lists(st.lists(st.integers(0, n - 1), min_size=n, max_size=n), min_size=n, max_size=n))


def indicator(table: list[list[int]], value: fmpq) -> np.ndarray:
    n = len(table)
    rows = [[value if c == table[a][b] else fmpq(0) for c in range(n)] for a in range(n) for b in range(n)]
    return np.array(rows, dtype=object)


@given(tables())
def test_printed_weights_compute_the_indicator_exactly(table: list[list[int]]) -> None:
    hidden, readout = memorising_weights(table)
    n = len(table)
    assert hidden.shape == (2 * n * n, 2 * n)
    output = (group_inputs(n).astype(object) @ hidden.T) ** 2 @ readout
    assert np.array_equal(output, indicator(table, fmpq(1)))


@given(tables(), st.booleans())
def test_mass_form_computes_a_multiple_of_the_indicator(table: list[list[int]], balanced: bool) -> None:
    n = len(table)
    network = memorising_network(table, balanced=balanced, exact=True)
    height = fmpq(4 if balanced else 1, 2 * n * n)
    assert np.array_equal(network.raw(group_inputs(n)), indicator(table, height))
    assert network.width == 2 * n * n
    assert network.norm_power == 1
    # the squares of 2 / (3 sqrt(3) n^2) and of 1 / (2 n^2 (33/16)^(3/2))
    margin = fmpq(4, 27 * n**4) if balanced else fmpq(1, 4 * n**4) / fmpq(33, 16) ** 3
    assert network.normalised_squared(height) == margin


@given(tables())
def test_float_network_and_its_weights(table: list[list[int]]) -> None:
    n = len(table)
    network = memorising_network(table)
    expected = 2 / (3 * np.sqrt(3) * n * n) * indicator(table, fmpq(1)).astype(float)
    np.testing.assert_allclose(network(group_inputs(n)), expected, atol=64 * EPS / (n * n))
    again = HomogeneousNetwork.from_weights(*network.weights(), degree=2)
    # 32 roundings for each of the 2n^2 masses
    assert again.norm_power == pytest.approx(1.0, rel=32 * EPS)


def test_balanced_directions_have_blocks_of_equal_norm_and_the_larger_margin() -> None:
    table = [[0, 1], [1, 0]]
    for block in group_blocks(memorising_network(table)):
        np.testing.assert_array_equal(np.linalg.norm(block, axis=1), 1.0)
    printed = memorising_network(table, balanced=False, exact=True)
    balanced = memorising_network(table, exact=True)
    assert balanced.normalised_squared(fmpq(4, 8)) > printed.normalised_squared(fmpq(1, 8))


def test_spectrum_is_flat() -> None:
    rng = np.random.default_rng(0)
    for block in group_blocks(memorising_network(rng.integers(0, 7, size=(7, 7)))):
        power = np.abs(np.fft.fft(block, axis=1)) ** 2
        np.testing.assert_allclose(power, 1.0, atol=64 * EPS)


def test_a_changed_weight_is_noticed() -> None:
    table = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    hidden, readout = memorising_weights(table)
    expected = indicator(table, fmpq(1))
    for array, neuron, entry in ((hidden, 3, 0), (readout, 4, 2)):
        array[neuron, entry] += fmpq(1, 100)
        output = (group_inputs(3).astype(object) @ hidden.T) ** 2 @ readout
        assert not np.array_equal(output, expected)
        array[neuron, entry] -= fmpq(1, 100)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0, 1]], r"shape \(n, n\)"),
        ([0], r"shape \(n, n\)"),
        (np.zeros((0, 0), dtype=int), "n >= 1"),
        ([[0.0, 1.0], [1.0, 0.0]], "integers"),
        ([[True, False], [False, True]], "integers"),
        ([[0, 1], [2, 0]], r"0\.\.1, but entry \(1, 0\) is 2"),
        ([[0, -1], [1, 0]], r"entry \(0, 1\) is -1"),
    ],
)
def test_bad_tables(table: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        memorising_network(table)
    with pytest.raises(ValueError, match=message):
        memorising_weights(table)
