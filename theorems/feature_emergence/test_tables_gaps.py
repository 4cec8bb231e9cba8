"""Two tables at which degree 4 does not reach the maximum margin (ext-T4), and shapes at which it does (ext-T7).

Below: pseudo-moments, which no certificate of degree 4 can contradict; above: a proof of degree 6. What `checked_gap`
accepts is checked again here by flint and from the definitions alone.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from flint import fmpz_mat

from lemmata.certificates.operations.columns import best_network
from lemmata.certificates.operations.forms import form_matrices, residual
from lemmata.certificates.operations.gaps import checked_gap, known_gaps
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.certificates.operations.rounding import rounded_bound
from lemmata.numerics.operations.operation import MISSING, Operation
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort

T4 = "feature-emergence:ext-T4"
T7 = "feature-emergence:ext-T7"
GAPS = {((0, 0, 1), (0, 2, 3)): Fraction(406, 10**7), ((0, 1, 2), (1, 2, 3), (2, 4, 5)): Fraction(213, 10**5)}
"""The tables, and how far every bound of degree 4 is above the margin, relative to it."""
MARGINS = {((0, 0, 1), (0, 2, 3)): 0.140679, ((0, 1, 2), (1, 2, 3), (2, 4, 5)): 0.0764956}
"""The margins that column generation finds from below (`test_networks_come_near_the_proof_of_degree_six`)."""


@check(T4, grade="exact", target="printed")
def test_degree_four_is_above_the_margin() -> None:
    """The pseudo-moments are above the proof of degree 6 by more than the stated share, as squares of rationals."""
    found = {gap.table.values: gap for gap in map(checked_gap, known_gaps())}
    assert found.keys() == GAPS.keys()
    for values, share in GAPS.items():
        gap = found[values]
        assert (1 + share) ** 2 < gap.relaxed_square / gap.margin_square < (1 + share + Fraction(1, 10**5)) ** 2
        low, high = (Fraction(str(MARGINS[values])) * (1 + sign * Fraction(1, 10**5)) for sign in (-1, 1))
        assert low**2 < gap.margin_square < high**2


@check(T4, grade="numeric", target="printed", supporting=True)
def test_networks_come_near_the_proof_of_degree_six(effort: Effort) -> None:
    """So the margin is that of degree 6, to 1e-4, and the proofs above are near to it; the second at full effort."""
    for values in list(MARGINS)[: effort.pick(quick=1, full=2)]:
        table = Operation.of(values)
        assert best_network(table, seed=3).network.margin(table) == pytest.approx(MARGINS[values], rel=1e-4)


@check(T4, grade="exact", target="printed")
@pytest.mark.parametrize("number", [0, 1])
def test_pseudo_moments_by_their_definition(number: int) -> None:
    """All leading minors by flint, one value for each multiset of indices, and the margins as sums over the forms."""
    document = known_gaps()[number]
    values, labels = document["table"]["values"], document["table"]["labels"]
    A, N = len(values), len(values) + len(values[0])
    pairs = list(combinations_with_replacement(range(N), 2))
    lower = document["pseudo_moments"]
    size = len(pairs) + labels
    assert len(lower) == size
    Y = [[lower[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]
    for order in range(1, size + 1):
        assert fmpz_mat([row[:order] for row in Y[:order]]).det() > 0
    moments: dict[tuple[int, ...], set[int]] = {}
    for (i, first), (j, second) in product(enumerate(pairs), repeat=2):
        moments.setdefault(tuple(sorted(first + second)), set()).add(Y[i][j])
    assert all(len(one) == 1 for one in moments.values())
    fourth = sum(min(moments[tuple(sorted((i, i, j, j)))]) for i in range(N) for j in range(N))
    second = sum(Y[k][k] for k in range(len(pairs), size))

    def output(a: int, b: int, k: int) -> int:
        """E (u_a + v_b)^2 z_k, the square multiplied out."""
        terms = product((a, A + b), repeat=2)
        return sum(Y[pairs.index((min(term), max(term)))][len(pairs) + k] for term in terms)

    least = min(
        output(a, b, y) - output(a, b, c)
        for a, row in enumerate(values)
        for b, y in enumerate(row)
        for c in range(labels)
        if c != y
    )
    assert least > 0
    assert checked_gap(document).relaxed_square == Fraction(4 * least**2, 27 * fourth * second)


# ---- at most four rows and columns

SMALL = {
    "2 x 2": Operation.of([[0, 1], [2, 3]]),
    "2 x 2 with an unused label": Operation.of([[0, 1], [1, 2]], labels=4),
    "2 x 2, three cells of five labels": Operation.of([[0, 3], [MISSING, 1]], labels=5),
    "1 x 3": Operation.of([[0, 1, 2]], labels=4),
    "3 x 1": Operation.of([[0], [3], [1]], labels=5),
}


@check(T7, grade="exact", target="printed", cases="the five tables: all multipliers (a basis)")
@proof_steps("tables.md: 16")
@pytest.mark.parametrize("name", SMALL)
def test_one_direction_is_idle(name: str) -> None:
    """Step 16: the forms of all multipliers take (1, .., 1; -1, .., -1) to 0; they take nothing else to 0 together."""
    table = SMALL[name]
    idle = np.array([1] * table.rows + [-1] * table.columns)
    matrices = np.array([form_matrices(residual(table, q)) for q in np.eye(len(table.triples), dtype=np.int64)])
    assert not (matrices @ idle).any()
    if len(table.missing) == 0:
        assert np.linalg.matrix_rank(matrices.reshape(-1, table.size)) == table.size - 1 <= 3


@check(T7, grade="enclosed", target="printed", cases="five tables of four rows and columns, 4 and 5 labels; to 2e-6")
@proof_steps("tables.md: 17")
@pytest.mark.parametrize("name", SMALL)
def test_degree_four_is_exact_on_four_rows_and_columns(name: str) -> None:
    """Step 17: the bound of degree 4, in integers, is not above the margin of an exact network by more than 2e-6."""
    table = SMALL[name]
    square = rounded_bound(table, relaxed_margin(table, kind=4)).proof.square
    found = best_network(table, seed=4).network.floats()
    u, v, w = (
        np.array([[round(float(x) * 2**30) for x in row] for row in part], object)
        for part in (found.u, found.v, found.w)
    )
    network = OperationNetwork(u, v, w, np.array([Fraction(float(p)) for p in found.masses], object))
    margin = network.lower_margin(table)
    assert margin > 0
    assert (1 - Fraction(4, 10**6)) * square < margin**2 <= square
