"""Weights x + y sqrt(2): signs against floats, and changed ones that no longer meet the conditions."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from flint import fmpz_mat

from lemmata.certificates.operations.root_weights import RootWeights, exact_root_weights
from lemmata.certificates.operations.triangle_weights import triangle_conditions


@pytest.fixture(scope="module")
def found() -> RootWeights:
    weights = exact_root_weights(triangle_conditions((2, 4), [(0, 0)]))
    assert weights is not None
    return weights


def test_signs(found: RootWeights) -> None:
    pairs = [*product(range(-3, 4), repeat=2), (665857, -470832), (-665857, 470832), (10**30, -(10**30))]
    signs = replace(found, whole=np.array([x for x, _ in pairs]), root=np.array([y for _, y in pairs])).signs()
    floats = [
        np.sign(x + y * np.sqrt(np.longdouble(2))) if abs(x) < 9 else s for (x, y), s in zip(pairs, signs, strict=True)
    ]
    assert signs.tolist() == floats
    assert signs[-3:].tolist() == [1, -1, -1]  # 665857^2 = 2 470832^2 + 1


def test_changed_weights_are_refused(found: RootWeights) -> None:
    assert found.met()
    assert replace(found, whole=3 * found.whole, root=3 * found.root).met()
    place = int(np.flatnonzero(found.signs())[0])
    for name, size in product(("whole", "root"), (1, -1)):
        changed = getattr(found, name).copy()
        changed[place] += size
        assert not replace(found, **{name: changed}).met()
    assert not replace(found, whole=-found.whole, root=-found.root).met()
    assert not replace(found, whole=0 * found.whole, root=0 * found.root).met()
    assert not replace(found, root=0 * found.root).met()
    assert not replace(
        found, conditions=triangle_conditions((2, 4), [(0, 0)]), whole=found.root, root=found.whole
    ).met()


def test_negative_weights_are_refused(found: RootWeights) -> None:
    """Weights that meet all the equations: those found and a multiple of what the equations do not see."""
    kernel, rank = fmpz_mat(found.conditions.matrix.toarray().tolist()).nullspace()
    assert rank > 0
    change = np.array([int(kernel[i, 0]) for i in range(len(found.whole))], object)
    size = max(map(abs, found.whole)) + max(map(abs, found.root))
    for sign in (1, -1):
        changed = replace(found, whole=found.whole + 10 * sign * size * change)
        assert not changed.met()
        assert changed.signs().min() < 0
        assert not (found.conditions.matrix.toarray().astype(object) @ (changed.whole - found.whole)).any()


def test_balls_and_floats_agree(found: RootWeights) -> None:
    balls, floats = found.balls(), found.values()
    assert all(abs(float(x) - y) <= 1e-12 * abs(y) for x, y in zip(balls.ravel(), floats.ravel(), strict=True))
    assert np.array_equal(found.support() > 0, floats > 1e-9 * floats.max())


def test_where_no_weights_are() -> None:
    assert exact_root_weights(triangle_conditions((4,), [(0, 0)])) is None
