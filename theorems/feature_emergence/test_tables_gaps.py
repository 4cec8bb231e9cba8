"""Two tables at which degree 4 does not reach the maximum margin (ext-T4), in integers from both sides.

Below: pseudo-moments, which no certificate of degree 4 can contradict; above: a proof of degree 6. What `checked_gap`
accepts is checked again here by flint and from the definitions alone.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from flint import fmpz_mat

from certificates.tables.columns import best_network
from certificates.tables.gaps import checked_gap, known_gaps
from numerics.tables.table import Table
from theorems.evidence import check

T4 = "feature-emergence:ext-T4"
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
        assert float(gap.margin_square) ** 0.5 == pytest.approx(MARGINS[values], rel=1e-5)


@check(T4, grade="numeric", target="printed", supporting=True)
def test_networks_come_near_the_proof_of_degree_six() -> None:
    """So the margin is that of degree 6, to 1e-4, and the proofs above are near to it."""
    for values, margin in MARGINS.items():
        assert best_network(Table.of(values), seed=3).network.margin(Table.of(values)) == pytest.approx(
            margin, rel=1e-4
        )


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
