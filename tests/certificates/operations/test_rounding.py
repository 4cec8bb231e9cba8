"""Proofs in integers from floats: accepted by the kernel, hardly looser, and refused where nothing can be proved."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lemmata.certificates import operation_kernel
from lemmata.certificates.operations.programs import relaxed_margin, relaxed_phi
from lemmata.certificates.operations.rounding import proof_order, rounded_bound, rounded_multipliers, rounded_proof
from lemmata.numerics.operations.operation import Operation

COUNTEREXAMPLE = Operation.of([[0, 0, 1], [0, 2, 3]], name="smallest gap")
TABLES = [
    (Operation.of([[0, 1], [1, 0]]), "plane"),
    (Operation.of([[0, 1], [1, 0]]), 4),
    (Operation.of([[0, 1, 2], [1, 2, 0], [2, 0, 1]]), "plane"),
    (Operation.of([[0, 1, 2], [1, 2, 0], [2, 0, -1]]), 4),
    (COUNTEREXAMPLE, 4),
    (Operation.of([[0, 1], [1, 2]], labels=4), 6),
]


def checked_square(table: Operation, document: dict, tensor, unit: int) -> Fraction:
    """The bound of phi^2 that the kernel finds proved."""
    values = {"name": "table", "labels": table.label_count, "values": [list(row) for row in table.values]}
    given = operation_kernel.Operation(values)
    proof = operation_kernel.Proof(document, "proof", given)
    return operation_kernel.check_proof(given, proof, tensor, unit)


@pytest.mark.parametrize(("table", "kind"), TABLES)
def test_the_kernel_accepts_the_rounded_bound_of_a_relaxation(table, kind):
    relaxation = relaxed_margin(table, kind=kind)
    rounded = rounded_bound(table, relaxation)
    proof = rounded.proof
    given = operation_kernel.Operation(
        {"name": "", "labels": table.label_count, "values": [list(r) for r in table.values]}
    )
    tensor = operation_kernel.tensor(given, list(rounded.multipliers))
    assert checked_square(table, proof.document(), tensor, sum(rounded.multipliers)) * Fraction(4, 27) == proof.square
    assert -1e-8 < proof.loss < 1e-9
    assert abs(proof.bound / relaxation.bound - 1) < 1e-9
    assert len(proof.matrix) == proof_order(table.size, table.label_count, kind)
    assert np.linalg.eigvalsh(proof.matrix.astype(float))[0] > 0


@pytest.mark.parametrize("kind", ["plane", 4])
def test_the_bound_is_nearly_the_least_for_its_matrix(kind):
    """With t lowered by 1e-9 the same matrix is not positive semidefinite any more: the eigenvalue is used up."""
    table = Operation.of([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    proof = rounded_bound(table, relaxed_margin(table, kind=kind)).proof
    step = int(1e-9 * proof.denominator)
    N = table.size
    weights = np.repeat([1, 3], N) if kind == "plane" else np.ones(len(proof.matrix), int)
    assert np.linalg.eigvalsh((proof.matrix - step * np.diag(weights)).astype(float))[0] < 0


def test_multipliers_are_the_nearest_integers():
    assert rounded_multipliers([1.0, 3.0, -1e-12], bits=20) == (2**18, 3 * 2**18, 0)
    assert rounded_multipliers(np.full(3, 0.1), bits=16) == (21845,) * 3


@pytest.mark.parametrize("q", [[0.0, 0.0], [-1.0, -2.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_multipliers_without_a_positive_one_are_refused(q):
    with pytest.raises(ValueError, match="must be finite numbers, one of them positive"):
        rounded_multipliers(q)


@pytest.mark.parametrize("bits", [15, 53])
def test_bits_out_of_range_are_refused(bits):
    with pytest.raises(ValueError, match="16 to 52 bits"):
        rounded_multipliers([1.0], bits)


def test_other_tensors_than_those_of_multipliers():
    tensor = np.array([[[3, -1, -2], [0, 5, -5]], [[1, 1, -2], [-4, 0, 4]]])
    relaxation = relaxed_phi(tensor / 8, kind=4)
    unit = 2**40
    scaled = tensor * (unit // 8)
    proof = rounded_proof(scaled, unit, 4, relaxation.matrix, relaxation.t, relaxation.t_prime)
    table = Operation.of([[0, 0], [0, 0]], labels=3)
    square = checked_square(table, proof.document(), scaled.tolist(), unit)
    assert abs(float(square) ** 0.5 / relaxation.phi - 1) < 1e-8
    x = np.random.default_rng(1).normal(size=(1000, 4))
    x /= np.linalg.norm(x, axis=1)[:, None]
    values = np.einsum("abk,nab->nk", tensor / 8, (x[:, :2, None] + x[:, None, 2:]) ** 2)
    assert np.linalg.norm(values, axis=1).max() <= float(square) ** 0.5


def test_a_matrix_that_is_no_solution_gives_a_true_bound_all_the_same():
    """Whatever the floats are, the identity is restored and t made large enough; only the bound gets worse."""
    table = COUNTEREXAMPLE
    relaxation = relaxed_margin(table, kind=4)
    noise = np.random.default_rng(2).normal(size=relaxation.matrix.shape) * 1e-3
    worse = rounded_bound(table, replace(relaxation, matrix=relaxation.matrix + noise)).proof
    given = operation_kernel.Operation({"name": "", "labels": 4, "values": [list(row) for row in table.values]})
    multipliers = list(rounded_multipliers(relaxation.q))
    tensor = operation_kernel.tensor(given, multipliers)
    assert checked_square(table, worse.document(), tensor, sum(multipliers)) * Fraction(4, 27) == worse.square
    assert 1e-4 < worse.loss < 0.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": 5}, "of the kind plane, 4 or 6, not 5"),
        ({"kind": "plane"}, "at most three labels, not 4"),
        ({"matrix": np.eye(3)}, "must have order 19 and finite entries"),
        ({"matrix": np.full((19, 19), np.nan)}, "must have order 19 and finite entries"),
        ({"q": np.ones(3)}, "needs as many multipliers"),
    ],
)
def test_what_fits_no_table_is_refused(change, message):
    relaxation = relaxed_margin(COUNTEREXAMPLE, kind=4)
    with pytest.raises(ValueError, match=message):
        rounded_bound(COUNTEREXAMPLE, replace(relaxation, **change))
