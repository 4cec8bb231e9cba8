"""The proof string by string agrees with that for all strings at once, and sees faults."""

from dataclasses import replace

import pytest
from flint import fmpq

from lemmata.certificates.sparse.exhaustive import certify_exhaustively
from lemmata.certificates.sparse.network import SparseNetworkError, certify_sparse
from lemmata.constructions.sparse.compiler import compile_sparse
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.constructions.sparse.positions import random_sign_positions


@pytest.mark.parametrize("inputs", ["deterministic", "trainable", "bag"])
@pytest.mark.parametrize("values", [[3, -1, 4, 1], [1, -2, 3]], ids=["any", "symmetric"])
def test_both_proofs_agree(inputs, values):
    """Trainable positions attain the worst case; the others come near to it."""
    network = compile_sparse(sparse_function(7, (4, 1), values), inputs=inputs)
    one, all_at_once = certify_exhaustively(network), certify_sparse(network)
    assert one.strings == 128
    assert one.error <= all_at_once.error * (1 + fmpq(1, 10**20))
    assert one.error >= all_at_once.error * fmpq(6, 10)
    if inputs == "trainable":
        assert one.error >= all_at_once.error * (1 - fmpq(1, 10**20))


def test_three_symbols_and_coherent_positions():
    network = compile_sparse(sparse_function(5, (0, 3), range(9), alphabet=3), positions=random_sign_positions(5, 6, 0))
    assert certify_exhaustively(network).strings == 243


def test_faults_are_seen():
    network = compile_sparse(sparse_function(6, (1, 4), [2, -1, 7]))
    weaker = replace(network, attention=network.attention.map(lambda array: array * fmpq(4, 5)))
    with pytest.raises(SparseNetworkError, match=r"At the string \[0, 0, .* off the node"):
        certify_exhaustively(weaker)
    other = replace(network, function=sparse_function(6, (1, 4), [2, -1, 8]))
    with pytest.raises(SparseNetworkError, match=r"At the string \[0, 1, 0, 0, 1, 0\] the network gives 7"):
        certify_exhaustively(other)


def test_what_is_too_large_or_not_exact_is_refused():
    with pytest.raises(ValueError, match="131072 strings, more than 65536"):
        certify_exhaustively(compile_sparse(sparse_function(17, (1, 4), "0110")))
    with pytest.raises(ValueError, match="exact weights"):
        certify_exhaustively(compile_sparse(sparse_function(3, (1,), "01")).to_float())
