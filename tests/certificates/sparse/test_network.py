"""The certificate of a sparse network: it agrees with all strings one by one, and sees what is wrong."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.sparse.network import SparseNetworkError, certify_sparse
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.sparse.compiler import compile_sparse, nodes
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.constructions.sparse.inputs import InputMap
from lemmata.constructions.sparse.memorising import memorising_perceptron
from lemmata.constructions.sparse.positions import PositionTable, random_sign_positions
from lemmata.numerics.exact.balls import as_balls

MAPS = ("deterministic", "trainable", "bag")


def strings(length):
    return np.array(list(product((0, 1), repeat=length)))


@pytest.mark.parametrize("inputs", MAPS)
@pytest.mark.parametrize("values", [[3, -1, 4, 1], [1, -2, 3]], ids=["any", "symmetric"])
def test_the_bound_holds_for_every_string_and_is_nearly_attained(inputs, values):
    network = compile_sparse(sparse_function(6, (4, 1), values), inputs=inputs)
    certificate = certify_sparse(network)
    x = strings(6)
    found = network.to_balls().selected(x)
    table = dict(zip(map(tuple, certificate.words.tolist()), nodes(network.function, inputs), strict=True))
    words = x[:, [4, 1]].tolist()
    if network.function.symmetric:
        words = [sorted(word, reverse=True) for word in words]
    centres = as_balls([table[tuple(word)] for word in words])
    distances = [max(abs(part) for part in row) for row in (found - centres).tolist()]
    worst = max(distances, key=float)
    assert all(distance <= arb(certificate.error) + arb("1e-12") for distance in distances)
    assert worst > arb(certificate.error) * arb("0.6")
    assert certificate.error <= certificate.radius == network.gamma / 4


def test_other_functions_share_the_certificate():
    certificate = certify_sparse(compile_sparse(sparse_function(12, (2, 5, 7), "01101001")))
    for values in ([0] * 8, list(range(8)), [fmpq(1, 3)] * 8):
        other = certificate.of_function(np.array(values, dtype=object))
        assert other.values.tolist() == values
    with pytest.raises(ValueError, match="has 8 values"):
        certificate.of_function(np.array([1, 2], dtype=object))


def test_all_positions_may_be_read():
    for inputs in MAPS:
        certificate = certify_sparse(compile_sparse(sparse_function(2, (1, 0), [1, 2, 3, 5]), inputs=inputs))
        assert certificate.values.tolist() == [1, 2, 3, 5]
        assert certificate.off_mass < 1


def with_heads(network, change):
    return replace(network, attention=network.attention.change(Head, change))


def query(factor):
    return lambda head: replace(head, query=Affine(head.query.weight * factor))


FAULTS = {
    "half of the sharpness": lambda n: with_heads(n, query(fmpq(1, 2))),
    "opposite values": lambda n: with_heads(n, lambda head: replace(head, value=Affine(-head.value.weight))),
    "nodes for gamma doubled": lambda n: replace(n, gamma=2 * n.gamma),
    "another function": lambda n: replace(n, function=sparse_function(8, (1, 6), [2, -1, 8])),
    "other positions read": lambda n: replace(n, function=sparse_function(8, (1, 5), [2, -1, 7])),
    "a weight of the perceptron": lambda n: replace(n, perceptron=_moved(n.perceptron)),
    "a perceptron for another radius": lambda n: replace(
        n, perceptron=memorising_perceptron([[-1], [0], [1]], [2, -1, 7], fmpq(1, 8))
    ),
}


def _moved(perceptron):
    first, *rest = perceptron.layers
    bias = first.bias.copy()
    bias[0] += fmpq(1, 100)
    return replace(perceptron, layers=(replace(first, bias=bias), *rest))


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_seen(name):
    network = compile_sparse(sparse_function(8, (1, 6), [2, -1, 7]))
    certify_sparse(network)
    with pytest.raises(SparseNetworkError):
        certify_sparse(FAULTS[name](network))


def test_a_duplicated_position_is_seen():
    network = compile_sparse(sparse_function(8, (1, 6), [2, -1, 7]))
    numerators = np.eye(8, dtype=np.int64)
    numerators[3] = numerators[6]
    changed = replace(network, inputs=InputMap("deterministic", PositionTable(numerators, 1)))
    with pytest.raises(SparseNetworkError, match="only known to be within"):
        certify_sparse(changed)


def test_the_printed_key_is_seen():
    function = sparse_function(400, (0, 1, 2), [0, 1, 2, 3])
    positions = random_sign_positions(400, 12, 1)
    certify_sparse(compile_sparse(function, positions=positions))
    with pytest.raises(SparseNetworkError, match="only known to be within"):
        certify_sparse(compile_sparse(function, positions=positions, key="printed"))


def test_what_is_not_covered_is_refused():
    network = compile_sparse(sparse_function(4, (0, 1), "0110"))
    with pytest.raises(ValueError, match="exact weights"):
        certify_sparse(network.to_float())
    with pytest.raises(ValueError, match="softmax heads"):
        certify_sparse(with_heads(network, lambda head: replace(head, weigh="hardmax")))
    with pytest.raises(ValueError, match="temperature 1"):
        certify_sparse(with_heads(network, lambda head: replace(head, temperature_squared=4)))
