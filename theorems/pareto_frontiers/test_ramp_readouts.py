"""Claim C.6b: the printed biases allow no read-out, those with beta_0 do, for every even k (proofs/ramp-readouts.md).

k + 1 sums against 1 + 2 (k/2 - 1) ramps: certificates of Farkas, in closed form and from a solver, and least hinge
losses with dual multipliers. With beta_0 the system is square and triangular.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.certificates.duality import farkas
from lemmata.certificates.duality.inequalities import FarkasCertificate, FeasiblePoint
from lemmata.certificates.duality.readouts import (
    decide,
    design_grid,
    least_norm_readout,
    least_ramp_loss,
    margin_constraints,
    missing_kink_multipliers,
    verify_least_norm,
)
from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.bias_grids import (
    even_kink_grid,
    offset_grid,
    ramp_features,
    ramp_labels,
    solve_readout,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

LEAST_LOSSES = {2: "1", 4: "0.77344", 6: "0.64579", 8: "0.56510", 10: "0.50859"}
OFFSETS = (fmpq(1, 16), fmpq(1, 2), fmpq(7, 8))


def _slopes(k: int, offset: fmpq) -> list[fmpq]:
    """|P_1|, ..., |P_(k/2)| by the recursion |P_q| = (4k + (2-c) |P_(q-1)|)/c."""
    slopes = [fmpq(0)]
    for _ in range(k // 2):
        slopes.append((4 * k + (2 - offset) * slopes[-1]) / offset)
    return slopes[1:]


def _norm_squared(k: int, offset: fmpq) -> fmpq:
    slopes = [fmpq(0), *_slopes(k, offset)]
    return 1 + 2 * sum(((b + a) ** 2 for a, b in pairwise(slopes)), fmpq(0))


# ---- the printed biases


@counterexample("pareto-frontiers:claim-C.6b", grade="exact", cases="k = 2, 4, ..., 10: certificates and least losses")
@counterexample("pareto-frontiers:lemma-C.6", grade="exact", cases="k = 2, 4, ..., 10: certificates and least losses")
@proof_steps("over-sparse-step.md: 10", "ramp-readouts.md: 6")
@pytest.mark.parametrize("k", sorted(LEAST_LOSSES))
def test_no_read_out_of_the_printed_biases(k: int, record: Record) -> None:
    grid = offset_grid(k, first=1)
    found = decide(k, grid)
    assert isinstance(found, FarkasCertificate)
    farkas.verify(margin_constraints(k, grid), found)
    for name, multiplier in found.multipliers.items() if k > 2 else ():
        edited = FarkasCertificate({**found.multipliers, name: multiplier + 1})
        with pytest.raises(ValueError, match="does not cancel"):
            farkas.verify(margin_constraints(k, grid), edited)
    least = least_ramp_loss(k, grid).value
    assert abs(least - Fraction(LEAST_LOSSES[k])) <= Fraction(1, 2 * 10**5)
    assert least > Fraction(1, 2)
    table = ramp_features(k, grid)
    assert table.shape == (k + 1, k - 1)  # not k x k
    if k == 4:
        of = "pareto-frontiers:claim-C.6b"  # the record of the lemma is that of the features after the step
        record.hypothesis("k is even: k mod 2", k % 2, "=", 0, of=of)
        record.hypothesis("the printed biases, k/2 - 1 of them", len(grid), "=", k // 2 - 1, of=of)
        record.violated("some u* has the loss 0: the least loss over all u*", least, "=", 0, of=of)


@counterexample("pareto-frontiers:claim-C.6b", grade="exact", supporting=True)
@proof_steps("ramp-readouts.md: 6")
def test_explicit_certificates_for_many_k(effort: Effort) -> None:
    """The closed form, checked by the plain checker; for k = 4 and c = 1/16 it is (32, 33, 1)."""
    for k in range(4, effort.pick(quick=42, full=122), 2):
        for offset in OFFSETS:
            constraints = margin_constraints(k, offset_grid(k, offset, first=1))
            farkas.verify(constraints, missing_kink_multipliers(k, offset))
    bounds = {one.name: one.bound for one in margin_constraints(4, offset_grid(4, first=1))}
    found = missing_kink_multipliers(4).multipliers
    scaled = {name: x * bounds[name] for name, x in found.items()}
    assert [Fraction(scaled[f"z = {z}"], sum(scaled.values())) for z in (0, 2, 4)] == [
        Fraction(16, 33),
        Fraction(1, 2),
        Fraction(1, 66),
    ]


@counterexample("pareto-frontiers:claim-C.6b", grade="symbolic", supporting=True)
@proof_steps("ramp-readouts.md: 6")
def test_the_multipliers_annihilate_the_ramps_for_all_offsets() -> None:
    """D_(m+1) = (2/c) sum_q (-rho)^(m-q) D_q, rho = (2-c)/c, for slopes P_1, ..., P_m and none after kink m."""
    c = sp.symbols("c", positive=True)
    rho = (2 - c) / c
    for m in range(1, 7):
        P = [sp.Integer(0), *sp.symbols(f"P1:{m + 1}")]
        steps = [c * P[q] + (2 - c) * P[q - 1] for q in range(1, m + 1)]  # 2k D_q
        last = 2 * P[m]
        combined = sum(2 / c * (-rho) ** (m - q) * steps[q - 1] for q in range(1, m + 1))
        assert sp.expand(sp.cancel(last - combined)) == 0


@counterexample("pareto-frontiers:claim-C.6b", grade="exact", supporting=True)
@proof_steps("ramp-readouts.md: 1")
def test_the_parity_is_not_the_sum_modulo_two() -> None:
    """s_x is even wherever k is; the parity is (-1)^((k - s_x)/2)."""
    for k in (2, 4, 6):
        x = sign_inputs(k)
        sums, labels = x.sum(axis=1), x.prod(axis=1)
        assert not np.any(sums % 2)
        assert np.array_equal(labels, (-1) ** ((k - sums) // 2))
        assert [int(labels[sums == z][0]) for z in range(-k, k + 1, 2)] == ramp_labels(k)


# ---- with beta_0


@check(
    "pareto-frontiers:claim-C.6b",
    grade="exact",
    target="corrected",
    cases="k = 2, 4, ..., 20; offsets 1/16, 1/2, 7/8: read-out, norm and minimality",
)
@proof_steps("ramp-readouts.md: 3, 4")
def test_a_read_out_with_the_further_bias() -> None:
    for k in range(2, 21, 2):
        for offset in OFFSETS:
            grid = offset_grid(k, offset)
            assert len(grid) == k // 2
            assert grid[0] == (offset - k) / (2 * k)
            assert grid[1:] == offset_grid(k, offset, first=1)
            assert max(grid) == (offset - 2) / (2 * k)
            readout = solve_readout(k, grid)
            assert [readout(z) for z in range(-k, k + 1, 2)] == [(-1) ** ((k - z) // 2) for z in range(-k, k + 1, 2)]
            slopes = [fmpq(0), *_slopes(k, offset)]
            weights = [b + a for a, b in pairwise(slopes)]  # kinks 2 - c, 4 - c, ...
            assert [abs(v) for v in reversed(readout.plus)] == weights
            assert readout.plus == readout.minus
            assert readout.norm_squared == _norm_squared(k, offset)
            if k <= 12:
                least = least_norm_readout(k, grid)
                assert least.norm_squared == Fraction(int(readout.norm_squared.p), int(readout.norm_squared.q))
                verify_least_norm(k, grid, least)


@check("pareto-frontiers:claim-C.6b", grade="exact", target="corrected", supporting=True)
@proof_steps("ramp-readouts.md: 4")
def test_norms_of_the_document_and_of_the_best_grid() -> None:
    norms = {2: 181.0, 4: 11952.8, 6: 5.57e5, 8: 2.30e7}
    for k, norm in norms.items():
        assert abs(float(_norm_squared(k, fmpq(1, 16)).p) ** 0.5 / norm - 1) < 2e-3
    assert float(_norm_squared(8, fmpq(1, 2)).p) ** 0.5 < 5059
    for k in (4, 6, 8, 12):
        grid, least = design_grid(k)
        assert grid == even_kink_grid(k)
        q, rest = 8 * k, k // 2 - 2
        assert least.norm_squared == 1 + 2 * (q**2 + (q + 2 * k) ** 2 + rest * (4 * k) ** 2)
        assert isinstance(decide(k, grid), FeasiblePoint)


@check("pareto-frontiers:claim-C.6b", grade="exact", target="corrected", supporting=True)
@proof_steps("ramp-readouts.md: 3")
def test_the_system_is_triangular() -> None:
    """On z = 0, 2, ..., k the ramp with kink 2q - c has the values 0 up to 2q - 2, c/(2k) at 2q, and adds 2/(2k)."""
    for k in (2, 4, 6, 8):
        for offset in (fmpq(1, 16), fmpq(3, 4), fmpq(2)):
            table, half = ramp_features(k, offset_grid(k, offset)), k // 2
            upper = table[half:, 1 : half + 1][:, ::-1]  # rows z = 0, 2, ..., k, columns q = 1, ..., k/2
            expected = [
                [
                    max((fmpq(2 * (row - q)) + offset) / (2 * k), fmpq(0)) if row >= q else fmpq(0)
                    for q in range(1, half + 1)
                ]
                for row in range(half + 1)
            ]
            assert upper.tolist() == expected
            assert not np.any(table[half:, half + 1 :])  # the falling ramps are 0 there
