"""The number systems: which arrays belong to which, which mixtures are refused and how they are named, products."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as pairs
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq, fmpz

from lemmata.numerics.exact.cyclotomic.numbers import root_of_unity, sqrt_rational
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import (
    batched_product,
    common_system,
    conversion,
    in_one_system,
    listing,
    matrix_product,
    number_system,
    power,
    product,
    require_finite,
)

ROOT = sqrt_rational(2)


def objects(*entries: Any) -> np.ndarray:
    return np.array(entries, dtype=object)


INTEGERS = [np.array([1, 2]), np.array([1], dtype=np.uint8), np.array([True]), objects(1, 2), objects(fmpz(3))]
RATIONALS = [objects(fmpq(1, 2), 1), objects(Fraction(1, 3))]
CYCLOTOMIC = [objects(ROOT, 1)]
FLOATS = [np.array([0.5]), np.array([0.5], dtype=np.float32), objects(0.5, 1)]
BALLS = [objects(arb(1), 2), objects(arb(0, 1))]


def test_every_array_has_a_system() -> None:
    for array in (*INTEGERS, *RATIONALS, *CYCLOTOMIC):
        assert number_system([array]) == common_system({"a": array}) == "exact"
    for array in FLOATS:
        assert number_system([array]) == common_system({"a": array}) == "float"
    for array in BALLS:
        assert number_system([array]) == common_system({"a": array}) == "ball"


def test_integers_fit_every_system() -> None:
    for integers in INTEGERS:
        for arrays, system in ((RATIONALS, "exact"), (CYCLOTOMIC, "exact"), (FLOATS, "float"), (BALLS, "ball")):
            for array in arrays:
                assert (
                    common_system({"a": integers, "b": array}) == common_system({"a": array, "b": integers}) == system
                )
    for a, b in pairs(RATIONALS, CYCLOTOMIC):
        assert common_system({"a": a, "b": b}) == "exact"


def test_mixtures_are_refused_by_name() -> None:
    for a, b in pairs(FLOATS, RATIONALS + CYCLOTOMIC + BALLS):
        for named in ({"first": a, "whole": INTEGERS[0], "second": b}, {"second": b, "first": a}):
            with pytest.raises(ValueError, match=r"^first in floating point cannot be combined .* of second:"):
                common_system(named)
    for a, b in pairs(CYCLOTOMIC, BALLS):
        with pytest.raises(ValueError, match=r"^first with Cyclotomic numbers cannot be combined .* of second:"):
            common_system({"first": a, "second": b})
    with pytest.raises(ValueError, match=r"^one in floating point cannot be combined .* of one:"):
        common_system({"one": objects(0.5, fmpq(1, 2))})
    for foreign, name in ((np.ones(1, complex), "complex128"), (np.array(["1"]), "str_"), (objects(None), "NoneType")):
        with pytest.raises(ValueError, match=f"^a must hold real numbers, not {name}"):
            common_system({"b": INTEGERS[0], "a": foreign})


def test_one_system_copies_converts_and_protects() -> None:
    source = np.array([[1.0, 2.0]])
    held, system = in_one_system({"a": source, "b": 3, "c": [1, 2]})
    assert system == "float"
    assert all(part.dtype == np.float64 for part in held.values())
    source[0, 0] = 7
    assert held["a"].tolist() == [[1, 2]]
    assert held["b"].item() == 3.0
    with pytest.raises(ValueError, match="read-only"):
        held["a"][0, 0] = 5
    exact, system = in_one_system({"a": np.array([1, 2]), "b": 3})
    assert system == "exact"
    assert {type(x) for part in exact.values() for x in part.ravel().tolist()} == {fmpq}
    balls, system = in_one_system({"a": np.array([1, 2]), "b": objects(arb(1, 0.5))})
    assert system == "ball"
    assert balls["a"].tolist() == [1, 2]
    assert {type(x) for part in balls.values() for x in part.tolist()} == {arb}


def test_bad_places_are_listed() -> None:
    with pytest.raises(ValueError, match=r"weights has NaN or infinity at \(0, 1\), \(1, 0\)\.$"):
        require_finite("weights", np.array([[0, np.nan], [np.inf, 1]]))
    with pytest.raises(ValueError, match=r"a has NaN or infinity at \(1,\)"):
        in_one_system({"a": objects(arb(1), arb("nan"))})
    with pytest.raises(ValueError, match="rate is nan"):
        in_one_system({"rate": float("nan")})
    with pytest.raises(ValueError, match=r"must be real, but a is not at \(1,\)"):
        in_one_system({"a": objects(1, root_of_unity(1, 3))})
    require_finite("a", np.array([1, 2]))
    require_finite("a", objects(fmpq(1), ROOT))
    assert listing(list(range(7))) == "0, 1, 2, 3, 4 and 2 more"
    assert listing([1]) == "1"


def test_conversions() -> None:
    integers = np.array([[1, -2]])
    assert [type(conversion(system)(integers)[0, 0]) for system in ("float", "exact", "ball")] == [
        np.float64,
        fmpq,
        arb,
    ]


@pytest.mark.parametrize("system", ["float", "exact", "ball"])
def test_products_are_sums_over_indices(system: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-3, 4, size=(2, 3, 4)), rng.integers(-3, 4, size=(2, 4, 2))
    expected = np.zeros((2, 3, 2), dtype=int)
    for n, i, j, k in np.ndindex(2, 3, 2, 4):
        expected[n, i, j] += a[n, i, k] * b[n, k, j]
    left, right = conversion(system)(a), conversion(system)(b)
    assert (batched_product(left, right) == expected).all()
    assert (matrix_product(left[0], right[0]) == expected[0]).all()
    assert (product(left, right[0])[0] == expected[0]).all()
    assert (matrix_product(np.array([[1, 1]]) * ROOT, objects([ROOT], [ROOT])) == 4).all()


@pytest.mark.parametrize("exponent", [1, 2, 3, 4])
def test_powers_of_balls_hold_the_powers(exponent: int) -> None:
    """Also of those around 0, by multiplication; and no more than the ends allow, within the rounding of a ball."""
    found = power(np.array([arb("0.5", "0.5"), arb(-3), arb(0, 2)], dtype=object), exponent)
    for ball, ends in zip(found, ((0, 1), (-3, -3), (-2, 2)), strict=True):
        assert all(ball.contains(arb(end) ** exponent) for end in ends)
        assert ball.abs_upper() <= arb(max(map(abs, ends))) ** exponent * (1 + arb(2) ** -20)
    exact = as_exact([fmpq(2, 3), 5])
    assert power(exact, exponent).tolist() == [fmpq(2, 3) ** exponent, fmpq(5) ** exponent]


def test_floats_have_no_product_with_exact_numbers() -> None:
    with pytest.raises(
        ValueError, match=r"different systems meet \(.*float.*\), as where floats are given to an exact"
    ):
        matrix_product(np.array([[0.5]]), objects([fmpq(1, 2)]))
