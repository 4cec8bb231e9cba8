"""Gradients of neurons with weights 0, 1 and epsilon: three routes agree, good neurons have two values, bad input."""

from itertools import product

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.parity.one_step import derivative_table, population_gradient
from lemmata.numerics.parity.sparse_neurons import (
    GradientValues,
    SparseNeuron,
    enumerated_gradient,
    even_sparse_values,
    is_good,
    odd_under_sparse_values,
    over_sparse_neuron,
    over_sparse_values,
    sparse_gradient,
    summed_gradient,
    under_sparse_neuron,
    under_sparse_values,
)


def neurons(n: int, ones: list[int]) -> list[SparseNeuron]:
    """Neurons of both families whose small weights decide ties only, with biases of both signs."""
    rest = n - len(ones)
    small = fmpq(1, 2 * rest + 3)
    over = [over_sparse_neuron(n, ones, b) for b in (0, fmpq(1, 3), fmpq(-1, 3))]
    return over + [under_sparse_neuron(n, ones, small, b * small) for b in (0, fmpq(3, 4), fmpq(-3, 4)) if rest]


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9])
def test_the_closed_form_equals_sums_and_enumeration(n: int) -> None:
    """All sizes of the support and of the ones, all overlaps, six neurons each; a third of the gradients are not 0."""
    nonzero, total = 0, 0
    for k, s in product(range(1, n + 1), range(n + 1)):
        for common in range(max(0, k + s - n), min(k, s) + 1):
            ones = [*range(common), *range(k, k + s - common)]
            for neuron in neurons(n, ones):
                g = sparse_gradient(neuron, range(k)).tolist()
                assert g == enumerated_gradient(neuron, range(k)).tolist()
                assert g == summed_gradient(neuron, range(k)).tolist()
                nonzero, total = nonzero + any(x != 0 for x in g), total + 1
    assert 3 * nonzero > total > 150


@given(data=st.data(), n=st.integers(2, 9))
def test_sums_and_the_transform_agree_for_any_small_weight(data: st.DataObject, n: int) -> None:
    """Weights 0, 1 and epsilon = a/64 in any places: float64 is exact for these."""
    kinds = data.draw(st.lists(st.sampled_from("01e"), min_size=n, max_size=n))
    epsilon, bias = fmpq(data.draw(st.integers(1, 63)), 64), fmpq(data.draw(st.integers(-200, 200)), 64)
    places = {kind: tuple(i for i in range(n) if kinds[i] == kind) for kind in "1e"}
    neuron = SparseNeuron(n, places["1"], places["e"], epsilon if places["e"] else 0, bias)
    support = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    weights = [float(int(w * 64)) / 64 for w in neuron.weights]
    table = derivative_table(lambda z: (z > 0).astype(float), weights, float(int(bias * 64)) / 64).astype(np.int64)
    expected = [-x for x in population_gradient(table, support)]
    assert summed_gradient(neuron, support).tolist() == enumerated_gradient(neuron, support).tolist() == expected


def test_twenty_inputs_and_a_thousand() -> None:
    neuron = under_sparse_neuron(20, (0, 1), fmpq(1, 37))
    g = sparse_gradient(neuron, range(6)).tolist()
    assert g == enumerated_gradient(neuron, range(6)).tolist()
    values = under_sparse_values(20, 6, 2)
    assert g == [0] * 2 + [values.relevant] * 4 + [values.irrelevant] * 14
    large = sparse_gradient(over_sparse_neuron(1000, range(101)), range(4))
    assert large[:4].tolist() == [over_sparse_values(101, 4).relevant] * 4
    assert large[4:101].tolist() == [over_sparse_values(101, 4).irrelevant] * 97
    assert not large[101:].any()


def test_values_of_good_neurons() -> None:
    """Values of the catalogue, and ratios for all small sizes."""
    assert under_sparse_values(11, 4, 2) == GradientValues(fmpq(-35, 512), fmpq(5, 512))
    assert over_sparse_values(17, 4).relevant == fmpq(-429, 65536)
    for n, k, s in product(range(3, 40), range(2, 40, 2), range(0, 40, 2)):
        if s < k < n:
            values = under_sparse_values(n, k, s)
            assert values.ratio == fmpq(n - k + (n % 2 == 0), k - s - 1)
            assert (values.relevant > 0) == (k % 4 == 2)
    for s, k in product(range(3, 60, 2), range(2, 60, 2)):
        if k < s:
            assert over_sparse_values(s, k).ratio == fmpq(s - k, k - 1)
    assert under_sparse_values(21, 4, 2).samples == 1 / (under_sparse_values(21, 4, 2).gap ** 2) > 100
    assert under_sparse_values(6, 6, 2).irrelevant == 0
    for n, k, s in ((7, 6, 2), (5, 4, 2)):  # a negative gap, and none
        with pytest.raises(ValueError, match="No number of samples reveals"):
            _ = under_sparse_values(n, k, s).samples


def test_good_and_bad_neurons() -> None:
    assert is_good(over_sparse_neuron(9, range(5)), (0, 3))
    assert not is_good(over_sparse_neuron(9, range(5)), (0, 5))
    assert is_good(under_sparse_neuron(9, (2, 5), fmpq(1, 20)), (1, 2, 4, 5))
    assert is_good(over_sparse_neuron(9, (2, 5)), (2, 5))
    assert not is_good(under_sparse_neuron(9, (2, 6), fmpq(1, 20)), (1, 2, 4, 5))


def test_the_longest_numbers_of_the_compiled_loop() -> None:
    """Over a denominator of 2^61 the numbers add to 2^62 - 1; the neuron is active where its one input is 1."""
    assert enumerated_gradient(over_sparse_neuron(2, (0,), fmpq(1 - 2**61, 2**61)), (0,)).tolist() == [fmpq(1, 2), 0]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SparseNeuron(4, (0, 0)), "different indices"),
        (lambda: SparseNeuron(4, (0,), (0, 1), fmpq(1, 9)), "different indices"),
        (lambda: SparseNeuron(4, (4,)), "different indices"),
        (lambda: SparseNeuron(4, (0,), (1,), 0), "no small weights"),
        (lambda: SparseNeuron(4, (0,), (1,), 1), "below 1"),
        (lambda: SparseNeuron(4, (0,), (1,), fmpq(-1, 5)), "at least 0"),
        (lambda: SparseNeuron(4, (0,), (1,), 0.1), "must be a rational number"),
        (lambda: over_sparse_neuron(4, (0,), float("nan")), "must be a rational number"),
        (lambda: sparse_gradient(under_sparse_neuron(9, (0, 1), fmpq(2, 7)), (0, 1, 2, 3)), "epsilon"),
        (lambda: sparse_gradient(over_sparse_neuron(9, (0, 1, 2), 1), (0, 1)), "or the bias"),
        (lambda: sparse_gradient(under_sparse_neuron(9, (0, 1), fmpq(1, 9), fmpq(1, 9)), (0, 1)), "the bias is 1/9"),
        (lambda: sparse_gradient(SparseNeuron(9, (0, 1), (2, 3, 4), fmpq(1, 9), fmpq(1, 9)), (0, 1)), "< 1 epsilon"),
        (lambda: sparse_gradient(SparseNeuron(9, (0, 1), (2, 3), fmpq(1, 9), fmpq(2, 9)), (0, 1)), "< 2 epsilon"),
        (lambda: sparse_gradient(over_sparse_neuron(4, (0,)), (4,)), "different indices"),
        (lambda: enumerated_gradient(over_sparse_neuron(27, (0,)), (0,)), r"There are 2\^27 inputs"),
        (lambda: enumerated_gradient(over_sparse_neuron(4, (0,), fmpq(1, 2**70)), (0,)), "too long"),
        (lambda: enumerated_gradient(over_sparse_neuron(2, (0,), fmpq(-(2**61), 2**61 + 1)), (0,)), "too long"),
        (lambda: over_sparse_values(9, 3), "even k"),
        (lambda: over_sparse_values(8, 2), "odd s"),
        (lambda: over_sparse_values(5, 6), "2 <= k < s"),
        (lambda: under_sparse_values(9, 5, 2), "even k"),
        (lambda: under_sparse_values(9, 4, 3), "even s"),
        (lambda: under_sparse_values(9, 4, 4), "s < k"),
        (lambda: under_sparse_values(3, 4, 2), "k <= n"),
        (lambda: odd_under_sparse_values(9, 4, 2), "k or s is odd, not k = 4 and s = 2"),
        (lambda: odd_under_sparse_values(9, 6, 4), "k or s is odd, not k = 6 and s = 4"),
        (lambda: odd_under_sparse_values(9, 3, 0), "1 <= s < k <= n, not n = 9, k = 3, s = 0"),
        (lambda: odd_under_sparse_values(9, 3, 3), "1 <= s < k"),
        (lambda: odd_under_sparse_values(4, 5, 2), "k <= n"),
    ],
)
def test_bad_input_is_refused(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(("s", "k"), [(7, 2), (6, 1), (6, 6), (4, 6)])
def test_values_of_even_sparsity_are_those_of_more_ones_than_relevant_inputs(s: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"an even s and 2 <= k < s, not k = {k}, s = {s}"):
        even_sparse_values(s, k)
