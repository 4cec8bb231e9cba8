"""Tables of piecewise-linear functions, and the compiled loop of descent against reference back-propagation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.descent.layout import PromptLayout
from lemmata.numerics.descent.backpropagation import projected_step, risk_gradient
from lemmata.numerics.descent.piecewise import descend, piecewise_table
from lemmata.numerics.functions.relu_sums import (
    ReluSum,
    affine,
    constant,
    identity,
    piecewise_linear,
    relu_derivative,
    squared_loss_derivative,
)

SEEDS = st.integers(0, 10**6)


@given(SEEDS)
def test_table_of_a_piecewise_linear_function(seed: int) -> None:
    rng = np.random.default_rng(seed)
    knots = sorted(set(rng.integers(-8, 9, size=5).tolist()) | {-9, 9})
    values = [Fraction(int(v), 4) for v in rng.integers(-9, 10, size=len(knots))]
    function = piecewise_linear(knots, values)
    points = np.concatenate([rng.uniform(-12, 12, 50), knots])
    np.testing.assert_allclose(piecewise_table(function)(points), function(points), rtol=0, atol=1e-11)


@pytest.mark.parametrize("function", [identity(), constant(2), affine(2, 1), relu_derivative("1/1000")], ids=str)
def test_tables_of_functions_with_few_kinks(function: ReluSum) -> None:
    points = np.linspace(-2, 2, 401)
    np.testing.assert_allclose(piecewise_table(function)(points), function(points), rtol=0, atol=1e-12)


def test_compiled_loop_agrees_with_reference_back_propagation() -> None:
    """Without the block: `descend` against `lemmata.numerics.descent.backpropagation`, both in float64."""
    rng, layout = np.random.default_rng(5), PromptLayout((3, 2, 2))
    knots, values = (-64, -0.5, 0.25, 1, 64), (-64, -0.5, 1, 0.5, 64)  # three kinks, with arguments in all pieces
    r, dr = (
        piecewise_linear(*(list(map(Fraction, part)) for part in (knots, values))),
        piecewise_linear([-1, 1], [1, 2]),
    )
    w, X, Y = rng.normal(size=layout.weight_count), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    gradient = risk_gradient(
        [V.tolist() for V in layout.matrices(w)],
        X.tolist(),
        Y.tolist(),
        lambda t: float(np.interp(t, knots, values)),
        lambda t: (t + 3) / 2,
        lambda t, y: t - y,
    )
    moved = projected_step([V.tolist() for V in layout.matrices(w)], gradient, 0.3, lambda j, k, b: (-0.25, 1.0))
    lower, upper = np.full_like(w, -0.25), np.ones_like(w)
    tables = piecewise_table(r), piecewise_table(dr)
    result = descend(
        layout.widths, w[None], X[None], Y[None], tables, squared_loss_derivative(), 0.3, (lower, upper), 1
    )
    expected = layout.flatten([np.array(V) for V in moved])
    assert {-0.25, 1.0} < set(expected.tolist())  # both walls are met, and the inside
    np.testing.assert_allclose(result[0, 0], expected, rtol=0, atol=1e-12)
