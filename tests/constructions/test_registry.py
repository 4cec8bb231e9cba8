"""Every construction in every number system, as a torch module, and in its stored and its dense form."""

import numpy as np
import pytest
from flint import arb

from constructions.registry import REGISTRY, Registered
from numerics.exact.balls import as_balls
from numerics.exact.numbers import as_exact, to_float
from numerics.exact.systems import power

NAMES = [one.name for one in REGISTRY]
SEEDS = range(3)


def tolerance(reference) -> float:
    """Fewer than 4096 operations follow one another, each with a relative error of 2^-53, on numbers of this size."""
    return 4096 * 2.0**-53 * max(1.0, float(np.abs(reference).max()))


def outputs(one: Registered, seed: int):
    instance = one.build()
    x = one.inputs(instance, np.random.default_rng([seed, 7]))
    return instance, x, {system: one.run(one.convert(instance, system), one.given(x, system)) for system in one.systems}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("one", REGISTRY, ids=NAMES)
def test_number_systems_and_torch_agree(one: Registered, seed: int) -> None:
    instance, x, found = outputs(one, seed)
    reference = found[one.systems[0]]
    floats = found["float"]
    assert floats.dtype == np.float64
    assert np.ptp(floats) > 0, "the outputs are not all the same"
    size = to_float(reference)
    assert np.abs(floats - size).max() <= tolerance(size)
    if "ball" in found:
        radius = max(float(ball.rad()) for ball in found["ball"].ravel())
        assert radius < 1e-9
        assert np.abs(to_float(found["ball"]) - size).max() <= tolerance(size) + radius
        if "exact" in found:
            enclosed = as_balls(found["exact"], 256).ravel()
            assert all(a.overlaps(b) for a, b in zip(found["ball"].ravel(), enclosed, strict=True))
    if one.module is not None:
        by_torch = one.run_torch(instance, one.module(instance), x)
        assert np.abs(by_torch - floats).max() <= tolerance(size)


@pytest.mark.parametrize("one", [one for one in REGISTRY if one.dense], ids=lambda one: one.name)
def test_stored_and_dense_forms_agree(one: Registered) -> None:
    instance, x, found = outputs(one, 0)
    assert one.dense is not None
    dense = one.dense(instance)
    for system, stored in found.items():
        again = one.run(one.convert(dense, system), one.given(x, system))
        if system == "exact":
            assert (again == stored).all()
        elif system == "ball":
            assert all(a.overlaps(b) for a, b in zip(again.ravel(), stored.ravel(), strict=True))
        else:
            assert np.abs(again - stored).max() <= tolerance(stored)


def test_powers_of_balls_that_hold_zero_are_finite() -> None:
    """FLINT's own `**` gives NaN there, which the networks of groups in ball arithmetic once did too."""
    ball = np.array([arb(0, 1e-17)], dtype=object)
    (square,), (cube,) = power(ball, 2), power(ball, 3)
    assert square.is_finite()
    assert 0 in square
    assert cube.is_finite()
    assert (power(as_exact([2, -3]), 3) == [8, -27]).all()
