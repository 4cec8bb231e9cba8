"""The radii of lemmas 2, 3 and 4 need room for the error eps_r itself, beside the factor sqrt(K).

The approximation rbar is controlled on [-R, R] only, and its arguments are made of its own values, which may exceed
those of r by eps_r. So the corrected radii are

    rho_1 = B_v B_x,  rho_(j+1) = B_v sqrt(K) (max_{|t| <= rho_j} |r| + eps_r),  R_1 = R_2 = max rho_j,
    R_3 = max(max_{|t| <= rho_N} |r| + eps_r, B_y, 1).

By induction |<v, pbar(j)>| <= rho_(j+1): each |pbar(j)[k]| <= |r| + eps_r at an argument of size at most rho_j <= R_1,
where rbar is within eps_r of r. Interpolants of tanh and the like, with |rbar| <= max |r|, can do without.
"""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq

from lemmata.constructions.descent.layers import derivative_layer, forward_layer, loss_gradient_layer
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.functions.relu_sums import ReluSum, affine, identity, piecewise_linear, ridge
from lemmata.theorems.evidence import check, proof_steps

EPS, STEEP = fmpq(1, 100), 100


def bent_at(radius: fmpq) -> ReluSum:
    """t + eps on [-R, R], off t by eps; beyond R it falls with slope -100."""
    return piecewise_linear(
        [-radius, fmpq(0), radius, radius + 1], [EPS - radius, EPS, radius + EPS, radius + EPS - STEEP]
    )


def run(layout: PromptLayout, function: ReluSum, x: int = 1) -> Any:
    z = layout.encode(as_exact([[x], [x]]), as_exact([[0]]), as_exact([1] * layout.weight_count))
    for j in range(1, layout.depth + 1):
        z = forward_layer(layout, j, function)(z)
    return z


@check("deep-icgd:lemma-2", grade="exact", target="corrected", supporting=True)
@check("deep-icgd:lemma-9", grade="exact", target="corrected", supporting=True)
@proof_steps("block.md: 9")
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_forward_bound_needs_the_error_in_the_radius(depth: int) -> None:
    """r(t) = t, K = 1, B_v = B_x = 1, all weights and x 1: max |r| = 1 gives R = 1 and the error 99 eps > 2 eps.

    With rho_(j+1) = rho_j + eps the errors are j eps, which attains (3.9).
    """
    layout = PromptLayout((1,) * (depth + 1))
    bad = run(layout, bent_at(fmpq(1)))
    assert layout.output(1).of(bad[0]) == 1 + EPS
    assert abs(layout.output(2).of(bad[0])[0] - 1) == 99 * EPS > 2 * EPS
    good = run(layout, bent_at(1 + (depth - 1) * EPS))
    assert [layout.output(j).of(good[0])[0] for j in range(1, depth + 1)] == [1 + j * EPS for j in range(1, depth + 1)]


@check("deep-icgd:lemma-3", grade="exact", target="corrected", supporting=True)
@check("deep-icgd:lemma-10", grade="exact", target="corrected", supporting=True)
def test_derivative_bound_needs_the_error_in_the_radius() -> None:
    """r' = 1 (L_r' = 0), rbar' = 1 on [-1, 1] and falling beyond: off by 1 at pbar(1) = 1 + eps, where 0 is claimed."""
    layout = PromptLayout((1, 1, 1))
    z = run(layout, affine(1, EPS))
    off = []
    for radius in (fmpq(1), 1 + EPS):
        slope = piecewise_linear([-radius, radius, radius + 1], [1, 1, 1 - STEEP])
        off.append(abs(layout.block("r'1").of(derivative_layer(layout, slope)(z)[0])[0] - 1))
    assert off == [STEEP * EPS, 0]


@check("deep-icgd:lemma-4", grade="exact", target="corrected", supporting=True)
@check("deep-icgd:lemma-11", grade="exact", target="corrected", supporting=True)
def test_mask_needs_the_error_in_its_bound() -> None:
    """u(t, y) = t, read by relu(t) - relu(-t): for R_3 = max |r| = 1 the test token leaks eps, for 1 + eps 0."""
    layout, u = PromptLayout((1, 1)), ridge(identity(), (1, 0))
    z = run(layout, affine(1, EPS))
    leaks = [layout.block("g")[0].of(loss_gradient_layer(layout, u, bound)(z)) for bound in (fmpq(1), 1 + EPS)]
    assert [leak[-1] for leak in leaks] == [EPS, 0]
    assert all(leak[0] == 1 + EPS for leak in leaks)
