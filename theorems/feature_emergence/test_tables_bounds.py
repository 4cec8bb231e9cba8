"""The maximum margin of any table and its bounds by sums of squares (ext-T1; proof in proofs/tables.md).

Forms, symmetries and Gram matrices of the library are evaluated against the definition h_abc = (u_a + v_b)^2
(w_y - w_c) in integers; networks with exact margins are held against the bounds.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
import sympy as sp

from lemmata.certificates.operations.columns import best_network
from lemmata.certificates.operations.forms import NEURON_FACTOR, Kind, form_matrices, form_values, residual
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.certificates.operations.rounding import RoundedBound, rounded_bound
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.operation import MISSING, Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.exact_weights import in_units

T1 = "feature-emergence:ext-T1"

TABLES = {
    "whole": Operation.of([[0, 1, 2], [2, 0, 3]]),
    "partial": Operation.of([[0, 1], [MISSING, 2], [1, MISSING]]),
    "an unused label": Operation.of([[0, 1], [1, 0]], labels=3),
}
CASES = "2 x 3 with 4 labels, 3 x 2 with 4 of 6 cells given, 2 x 2 with an unused label"


def payoff(table: Operation, neuron: list[int], triple: tuple[int, int, int]) -> int:
    """h_abc by its definition; the neuron lists u, v and w."""
    a, b, c = triple
    w = neuron[table.size :]
    return (neuron[a] + neuron[table.rows + b]) ** 2 * (w[table.values[a][b]] - w[c])


@check(T1, grade="exact", target="printed", cases=CASES + ": all q, x and w (a basis of the forms)")
@proof_steps("tables.md: 3")
@pytest.mark.parametrize("name", TABLES)
def test_payoffs_are_quadratic_forms(name: str) -> None:
    """Step 3. Both sides are linear in q and w and quadratic in x: unit vectors, and sums of two for x, decide."""
    table = TABLES[name]
    N, C = table.size, table.label_count
    for place, triple in enumerate(table.triples):
        q = np.zeros(len(table.triples), object)
        q[place] = 1
        matrices = form_matrices(residual(table, q))
        for i, j in combinations_with_replacement(range(N), 2):
            x = [int(k in (i, j)) for k in range(N)]
            values = form_values(matrices, np.array(x, object))
            for k in range(C):
                assert values[k] == payoff(table, [*x, *(int(k == other) for other in range(C))], triple)


@check(T1, grade="numeric", target="printed", supporting=True)
@proof_steps("tables.md: 4")
def test_the_best_split_of_a_neuron() -> None:
    """Step 4: 4/27 - s^2 (1 - s) = (s - 2/3)^2 (s + 1/3), which is not negative, and 0 at s = 2/3 alone."""
    s = sp.symbols("s", nonnegative=True)
    assert sp.expand(sp.Rational(4, 27) - s**2 * (1 - s) - (s - sp.Rational(2, 3)) ** 2 * (s + sp.Rational(1, 3))) == 0
    assert abs(NEURON_FACTOR - float(sp.sqrt(sp.Rational(4, 27)))) < 1e-15


@check(T1, grade="exact", target="printed", cases=CASES + ": the linear map from q to the forms")
@proof_steps("tables.md: 5")
@pytest.mark.parametrize("name", TABLES)
def test_no_multipliers_have_the_form_zero(name: str) -> None:
    """Step 5: the coefficient of u_a v_b in the form of the right label is 2 sum_c q_abc, which is not 0 for q >= 0."""
    table = TABLES[name]
    columns = np.eye(len(table.triples), dtype=np.int64)
    matrices = np.array([form_matrices(residual(table, q)) for q in columns])
    for a, b in table.cells:
        own = [table.triples[place][:2] == (a, b) for place in range(len(columns))]
        mixed = 2 * matrices[:, table.values[a][b], a, table.rows + b]
        assert mixed.tolist() == [2 * one for one in own]


SYMMETRIC = {
    "addition modulo 3": (named_operation("a+b", 3), 36),
    "max on 3": (named_operation("max", 3), 2),
    "a cell of Z_3 missing": (named_operation("a+b", 3).without([(1, 2)]), 4),
    "2 x 3": (Operation.of([[0, 1, 2], [2, 0, 1]]), 6),
}


@check(T1, grade="exact", target="printed", cases="Z_3, max on 3, Z_3 without a cell, 2 x 3: all generators")
@proof_steps("tables.md: 6")
@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetries_keep_margins(name: str) -> None:
    """Step 6: h at the image of a triple and of a neuron is h, for neurons of distinct prime-like coordinates."""
    table, least = SYMMETRIC[name]
    found = operation_symmetries(table)
    assert found.order >= least
    neuron = [3**k for k in range(table.size + table.label_count)]
    for permutation in found.generators:
        moved = [0] * len(neuron)
        for point, image in enumerate(permutation):
            moved[image] = neuron[point]
        images = []
        for a, b, c in table.triples:
            row, column = sorted((permutation[a], permutation[table.rows + b]))
            image = (row, column - table.rows, permutation[table.size + c] - table.size)
            assert image in table.triples
            assert payoff(table, moved, image) == payoff(table, neuron, (a, b, c))
            images.append(image)
        assert len(set(images)) == len(table.triples)


# ---- Gram matrices

PROGRAMS: dict[str, tuple[Operation, Kind]] = {
    "degree 4": (TABLES["whole"], 4),
    "degree 4, partial": (TABLES["partial"], 4),
    "degree 6": (Operation.of([[0, 1], [1, 2]]), 6),
}


GRAMS = (
    "2 x 3, 4 labels and 3 x 2, 4 cells by degree 4; 2 x 2, 3 labels by degree 6; as many points as monomials, seed 7"
)


@cache
def rounded(name: str) -> RoundedBound:
    table, kind = PROGRAMS[name]
    return rounded_bound(table, relaxed_margin(table, kind=kind))


@check(T1, grade="sampled", target="printed", cases=GRAMS)
@proof_steps("tables.md: 7")
@pytest.mark.parametrize("name", PROGRAMS)
def test_gram_matrices_satisfy_the_identity(name: str) -> None:
    """Step 7: m'P m is |x|^(2r) (t|x|^4 - 2 sum q h + t'|z|^2), with h by its definition, at random integer points."""
    table, kind = PROGRAMS[name]
    r = {4: 0, 6: 1}[int(kind)]
    proof, weights = rounded(name).proof, rounded(name).multipliers
    total, rng = sum(weights), np.random.default_rng(7)
    pure = list(combinations_with_replacement(range(table.size), 2 + r))
    mixed = [(i, k) for i in (range(table.size) if r else [-1]) for k in range(table.label_count)]
    assert proof.matrix.shape == (len(pure) + len(mixed),) * 2
    P = proof.matrix.astype(object)
    for _ in range(len(pure)):
        x, z = rng.integers(-4, 5, table.size).tolist(), rng.integers(-4, 5, table.label_count).tolist()
        m = [int(np.prod([x[i] for i in one])) for one in pure] + [z[k] * (x[i] if i >= 0 else 1) for i, k in mixed]
        length = sum(entry**2 for entry in x)
        game = Fraction(
            sum(q * payoff(table, [*x, *z], one) for q, one in zip(weights, table.triples, strict=True)), total
        )
        value = proof.t * length**2 - 2 * game + proof.t_prime * sum(entry**2 for entry in z)
        assert Fraction(int(np.array(m, object) @ P @ np.array(m, object)), proof.denominator) == length**r * value
    assert np.linalg.eigvalsh(proof.matrix / proof.denominator)[0] > -1e-9


@check(
    T1,
    grade="enclosed",
    target="printed",
    cases="the tables of the Gram matrices; one good network, 10 random ones, seed 5",
)
@proof_steps("tables.md: 7")
@pytest.mark.parametrize("name", PROGRAMS)
def test_networks_stay_below_the_bounds(name: str) -> None:
    """Step 7: no exact network has a margin above the rounded bound, and one comes within 1e-5 of it."""
    table, _ = PROGRAMS[name]
    square, rng = rounded(name).proof.square, np.random.default_rng(5)
    found = best_network(table, seed=1).network.floats()
    best = in_units(found.u, found.v, found.w, found.masses)
    reached = best.lower_margin(table)
    assert 0 < reached**2 <= square
    assert float(reached) ** 2 > (1 - 2e-5) * float(square)
    for _ in range(10):
        u, v, w = (part + 0.05 * rng.standard_normal(part.shape) for part in (found.u, found.v, found.w))
        margin = in_units(u, v, w, found.masses).lower_margin(table)
        assert margin <= 0 or margin**2 <= square
