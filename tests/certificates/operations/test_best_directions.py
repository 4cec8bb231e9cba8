"""Directions of best outputs: small integers, and those that no optimal network needs but every proof meets."""

import json
from functools import cache

import numpy as np
import pytest

from lemmata.certificates.atlas.committed import atlas_document
from lemmata.certificates.atlas.lookup import atlas_row
from lemmata.certificates.operations.best_directions import directions_of, other_directions, simple_directions
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.sharp_optimum import SharpOptimum, sharp_optimum
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries

BITS = 400


@cache
def optimum_of(name: str) -> SharpOptimum:
    enclosed = json.loads(atlas_document(atlas_row(name)))
    table = Operation.of(enclosed["table"]["values"], labels=enclosed["table"]["labels"])
    neurons = np.array(enclosed["network"]["neurons"], float)
    A, N = table.rows, table.size
    masses = np.array(enclosed["network"]["masses"], float)
    network = OperationNetwork(neurons[:, :A], neurons[:, A:N], neurons[:, N:], masses)
    symmetries = operation_symmetries(table).listable()
    found = sharp_optimum(table, symmetries, np.array(enclosed["multipliers"], float), network, bits=BITS)
    assert found is not None
    return found


def floats(w):
    return np.array([float(int(z) >> (BITS - 60)) / 2.0**60 for z in w])


def largest_answer(optimum, w):
    """The largest eigenvalue of w.M over |w| phi."""
    matrices, square = optimum.floats()
    return np.linalg.eigvalsh(np.tensordot(w, matrices, 1)).max() / np.linalg.norm(w) / square**0.5


def test_simple_directions_are_best_and_enough():
    """Multiples of integers whose neurons answer best, and whose answers have a mean of phi on every triple."""
    optimum = optimum_of("001/112/220")
    matrices, square = optimum.floats()
    found = list(simple_directions(optimum))
    assert found
    for directions in found:
        columns = []
        for w in map(floats, directions):
            assert abs(w).max() == 1
            assert any(np.abs(w * k - np.rint(w * k)).max() < 1e-12 for k in range(1, 13))
            assert largest_answer(optimum, w) == pytest.approx(1, abs=1e-9)
            x = np.linalg.eigh(np.tensordot(w, matrices, 1))[1][:, -1]
            answers = np.einsum("okij,k,i,j->o", optimum.forms, w / np.linalg.norm(w), x, x)
            columns.append(answers / optimum.counts / square**0.5)
        shares, *_ = np.linalg.lstsq(
            np.array([*np.array(columns).T, np.ones(len(columns))]), np.ones(len(columns[0]) + 1)
        )
        assert min(shares) > 0
        assert np.array(columns).T @ shares == pytest.approx(1, abs=1e-7)


def test_every_best_neuron_is_met():
    """The exact network of the projective plane needs 20 dimensions of monomials; all best neurons have 26."""
    optimum = optimum_of("latin:7:steiner")
    used = directions_of(optimum, optimum.points)
    others = list(other_directions(optimum, used))
    assert others
    for w in map(floats, others):
        assert largest_answer(optimum, w) == pytest.approx(1, abs=1e-9)
        assert min(np.abs(w - floats(v)).max() for v in used) > 1e-3
    assert list(other_directions(optimum, [*used, *others])) == []
