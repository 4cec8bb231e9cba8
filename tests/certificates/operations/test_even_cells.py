"""Weights in closed form for one missing cell of an addition table of even order."""

import numpy as np
import pytest

from lemmata.certificates.operations.even_cells import even_cell_weights, even_wave_bounds
from lemmata.certificates.operations.root_weights import RootWeights
from lemmata.certificates.operations.triangle_weights import triangle_conditions


@pytest.mark.parametrize("orders", [(10,), (2, 8), (4, 4)], ids=str)
def test_the_closed_weights_meet_the_conditions_as_one_orbit_after_the_other(orders: tuple[int, ...]) -> None:
    found, conditions = even_cell_weights(orders), triangle_conditions(orders, [(0, 0)])
    places = np.unique(conditions.orbit, return_index=True)[1][1:]
    whole, root = found.whole.ravel()[places], found.root.ravel()[places]
    assert np.array_equal(conditions.spread(whole), found.whole)  # they have all the symmetries
    assert np.array_equal(conditions.spread(root), found.root)
    weights = RootWeights(conditions, whole.astype(object), root.astype(object))
    assert weights.met()
    assert weights.values() / found.scale == pytest.approx(found.values(), abs=1e-9)
    assert not RootWeights(conditions, weights.whole, weights.root[::-1]).met()


@pytest.mark.parametrize("orders", [(9,), (2, 2, 2), (2, 4), (6,)], ids=str)
def test_which_groups_have_no_such_weights(orders: tuple[int, ...]) -> None:
    """Odd order, exclusive or, and n - r = 4, where alpha is not defined."""
    with pytest.raises(ValueError, match="even orders and n - r > 4"):
        even_cell_weights(orders)


@pytest.mark.parametrize(("n", "real"), [(9, 1), (18, 4), (24, 6), (8, 4)])
def test_which_orders_have_no_bounds(n: int, real: int) -> None:
    with pytest.raises(ValueError, match=f"order {n} and {real} real"):
        even_wave_bounds(n, real)
