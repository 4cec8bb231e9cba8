"""Networks of sparse functions: all strings in float64 and balls, and what is refused."""

from itertools import product

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.sparse.compiler import compile_sparse, dual_vectors
from lemmata.constructions.sparse.functions import is_strictly_monotone, separation, sparse_function
from lemmata.constructions.sparse.positions import hadamard_positions, orthonormal_positions, random_sign_positions
from lemmata.numerics.exact.numbers import to_float

MAPS = ("deterministic", "trainable", "bag")


def strings(length, alphabet=2):
    return np.array(list(product(range(alphabet), repeat=length)))


def by_dictionary(indices, values, x):
    """The values by reading bits one after another."""
    table = {str(word): value for word, value in zip(product((0, 1), repeat=len(indices)), values, strict=True)}
    return [table[str(tuple(int(row[i]) for i in indices))] for row in x]


@pytest.mark.parametrize("inputs", MAPS)
@pytest.mark.parametrize("values", [[3, -1, 4, 1, -5, 9, 2, 6], [1, -2, 3, 5]], ids=["any", "symmetric"])
def test_the_network_has_the_values_on_all_strings(inputs, values):
    indices, x = (6, 0, 3), strings(7)
    network = compile_sparse(sparse_function(7, indices, values), inputs=inputs)
    full = values if len(values) == 8 else [values[sum(word)] for word in product((0, 1), repeat=3)]
    assert np.abs(network.to_float()(x) - by_dictionary(indices, full, x)).max() < 1e-9
    some = x[[5, 100]]
    assert all(abs(part) < 1e-10 for part in network.to_balls()(some) - by_dictionary(indices, full, some))


def test_three_symbols():
    x = strings(4, 3)
    function = sparse_function(4, (1, 3), lambda a, b: 3 * a - b, alphabet=3)
    for inputs in ("deterministic", "trainable"):
        network = compile_sparse(function, inputs=inputs)
        assert network.gamma == 1
        assert np.abs(network.to_float()(x) - (3 * x[:, 1] - x[:, 3])).max() < 1e-9


@pytest.mark.parametrize("inputs", ["deterministic", "bag"])
def test_coherent_positions(inputs):
    x = strings(8)
    network = compile_sparse(
        sparse_function(8, (0, 5), [2, -1, 7]), inputs=inputs, positions=random_sign_positions(8, 4, 1)
    )
    assert np.abs(network.to_float()(x) - np.array([2, -1, 7])[x[:, 0] + x[:, 5]]).max() < 1e-9


def test_order_of_a_bag_does_not_matter():
    network = compile_sparse(sparse_function(5, (0, 3), "0110"), inputs="bag").to_float()
    x = np.array([1, 1, 0, 1, 0])
    tokens = network.tokens(x)
    for order in ([4, 2, 0, 3, 1], [1, 0, 2, 3, 4]):
        assert abs(network.transformer(tokens[order]) - network.transformer(tokens)) < 1e-12


def test_dual_vectors():
    positions = random_sign_positions(6, 5, 2)
    duals = dual_vectors(positions, (4, 1, 0))
    assert (duals @ positions.rows([4, 1, 0]).T == np.eye(3, dtype=int)).all()


def test_another_function_differs_in_the_last_layer_alone():
    network = compile_sparse(sparse_function(4, (1, 2), "0110"))
    other = network.with_values([5, 6, 7, 8])
    assert other.attention is network.attention
    assert np.abs(other.to_float()(strings(4)) - (5 + 2 * strings(4)[:, 1] + strings(4)[:, 2])).max() < 1e-9
    with pytest.raises(ValueError, match="has 4 values, not the shape"):
        network.with_values([1, 2])


def test_properties_of_functions():
    function = sparse_function(4, (1, 2), [0, "1/2", 2])
    assert function.symmetric
    assert is_strictly_monotone(function.values, "1/2")
    assert not is_strictly_monotone(function.values, "3/5")
    assert function([[0, 1, 1, 0], [1, 0, 1, 0]]).tolist() == [2, fmpq(1, 2)]
    assert separation([[0, 0], [3, 1], [0, 2]]) == 2
    assert to_float(sparse_function(3, (2,), "01").at([[1], [0]])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, (1, 4), "0110"), r"positions 0\.\.3, but \[4\] lie outside"),
        ((4, (-1, 2), "0110"), r"but \[-1\] lie outside"),
        ((4, (1, 1), "0110"), r"must be different, but it repeats \[1\]"),
        ((4, (), "0"), "but there is none"),
        ((4, (1, 2), "01101"), r"has 4 values, or 3 by the number of ones, but 5 are given"),
        ((4, (1, 2), [0.5, 1, 2, 3]), "is not exact"),
        ((0, (0,), "01"), "length of the strings must be an integer >= 1"),
    ],
)
def test_bad_functions_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sparse_function(*arguments)


def test_bad_strings_are_refused():
    with pytest.raises(ValueError, match=r"must have 3 symbols 0, \.\.\., 1"):
        sparse_function(3, (0,), "01")([0, 2, 1])
    with pytest.raises(ValueError, match="must have 3 symbols"):
        compile_sparse(sparse_function(3, (0,), "01")).to_float()([0, 1])
    with pytest.raises(ValueError, match="softmax is not rational"):
        compile_sparse(sparse_function(3, (0,), "01"))([0, 1, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0}, "distance gamma of the nodes must be positive, not 0"),
        ({"gamma": -1}, "must be positive, not -1"),
        ({"gamma": 2}, "are 1 apart, so that gamma = 2 is too large"),
        ({"inputs": "sorted"}, "input maps are deterministic, trainable, bag, not 'sorted'"),
        ({"positions": orthonormal_positions(5)}, "5 position vectors for strings of length 4"),
        ({"positions": [[1, 0], [0, 1], [1, 0], [0, -1]]}, "position 2 has the score 1 .* 1 with that of position 0"),
        ({"positions": [[1, 0], [1, 0], [0, 1], [0, -1]]}, "positions 0 and 1 coincide"),
        ({"positions": [[1, 0], [-1, 0], [0, 1], [0, -1]]}, "positions 0 and 1 are opposite"),
        ({"inputs": "trainable", "positions": orthonormal_positions(4)}, "Trainable positions are chosen"),
        ({"key": "sum"}, "keys are dual and printed, or a vector, not 'sum'"),
        ({"key": [1, 0, 0, 0]}, "one positive product with all positions"),
        ({"key": [1, 1]}, r"shape \(4,\) like the positions"),
        ({"key": "printed", "inputs": "bag"}, "single head of deterministic positions"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        compile_sparse(sparse_function(4, (0, 1), [0, 1, 3]), **options)


def test_dependent_positions_and_the_printed_key_are_refused():
    rows = hadamard_positions(1)
    with pytest.raises(ValueError, match="are dependent: they have no dual key"):
        compile_sparse(sparse_function(8, (0, 1, 2, 3, 4), [0] * 6), positions=rows)
    with pytest.raises(ValueError, match="needs a coherence below 1/2, but it is 1/2"):
        compile_sparse(sparse_function(8, (0, 1), [0, 1, 2]), positions=rows, key="printed")


def test_symbols_of_a_bag_are_bits():
    with pytest.raises(ValueError, match="bag of vectors is of bits"):
        compile_sparse(sparse_function(4, (0, 1), range(9), alphabet=3), inputs="bag")


def test_too_many_tokens_are_not_stored():
    network = compile_sparse(sparse_function(3000, (0, 1), [0, 1, 2]))
    with pytest.raises(ValueError, match="too many to be stored"):
        network.to_float()(np.zeros(3000, dtype=int))
