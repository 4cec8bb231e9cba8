"""The decision of linear systems against Fourier-Motzkin elimination, and what the plain checker refuses."""

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.certificates.duality.farkas import (
    Constraint,
    FarkasCertificate,
    FeasiblePoint,
    InfeasibleProgramError,
    decide,
    find,
    find_point,
    verify,
    verify_point,
)
from lemmata.certificates.duality.inequalities import Relation, unknowns

TRIANGLE = [
    Constraint("x", {"x": 1}, ">="),
    Constraint("y", {"y": 1}, ">="),
    Constraint("sum", {"x": -2, "y": -3}, ">=", 1),
]
"""x >= 0, y >= 0, -2x - 3y >= 1: the multipliers 2, 3, 1 prove 0 >= 1."""


def eliminate(constraints: Sequence[Constraint]) -> bool:
    """Decide solvability by Fourier-Motzkin elimination: the oracle, which shares nothing with linear programming."""
    names = unknowns(constraints)
    rows: set[tuple[tuple[Fraction, ...], bool, Fraction]] = set()  # a . x >= b, or > b if the flag is set
    for c in constraints:
        a = tuple(Fraction(c.coefficients.get(u, 0)) for u in names)
        rows.add((a, c.relation == ">", Fraction(c.bound)))
        if c.relation == "=":
            rows.add((tuple(-v for v in a), False, Fraction(-c.bound)))
    for i in range(len(names)):
        lower = [row for row in rows if row[0][i] > 0]
        upper = [row for row in rows if row[0][i] < 0]
        rows = {row for row in rows if row[0][i] == 0}
        for a, strict_a, bound_a in lower:
            for b, strict_b, bound_b in upper:
                s, r = -b[i], a[i]
                rows.add(
                    (
                        tuple(s * p + r * q for p, q in zip(a, b, strict=True)),
                        strict_a or strict_b,
                        s * bound_a + r * bound_b,
                    )
                )
    return all(bound < 0 or (bound == 0 and not strict) for _, strict, bound in rows)


@st.composite
def systems(draw: st.DrawFn) -> list[Constraint]:
    number = draw(st.integers(1, 6))
    small = st.integers(-3, 3)
    relation = st.sampled_from(cast(list[Relation], [">=", ">", "="]))
    return [Constraint(f"c{i}", {u: draw(small) for u in "xyz"}, draw(relation), draw(small)) for i in range(number)]


@settings(max_examples=150, deadline=None)
@given(systems())
def test_decisions_agree_with_elimination(constraints):
    outcome = decide(constraints)
    assert isinstance(outcome, FeasiblePoint) == eliminate(constraints)
    if isinstance(outcome, FeasiblePoint):
        verify_point(constraints, outcome)
    else:
        verify(constraints, outcome)


def test_the_elimination_itself_decides_both_ways():
    assert not eliminate(TRIANGLE)
    assert eliminate(TRIANGLE[:2])


def test_a_certificate_is_found_and_reduced_to_small_integers():
    certificate = find(TRIANGLE)
    assert dict(certificate.multipliers) == {"x": 2, "y": 3, "sum": 1}
    assert FarkasCertificate({"x": 4, "y": 6, "sum": 2}) == certificate


@pytest.mark.parametrize("name", ["x", "y", "sum"])
@pytest.mark.parametrize("change", [-1, 1])
def test_one_changed_multiplier_is_rejected(name, change):
    multipliers = {"x": 2, "y": 3, "sum": 1}
    multipliers[name] += change
    with pytest.raises(ValueError, match=r"does not cancel"):
        verify(TRIANGLE, FarkasCertificate(multipliers))


@pytest.mark.parametrize(
    ("constraints", "multipliers", "message"),
    [
        (TRIANGLE, {}, "0 >= 0, which is no contradiction"),
        (TRIANGLE, {"x": -2, "y": -3, "sum": -1}, "'x' has the negative multiplier -2"),
        (
            [Constraint("a", {"x": 1}, ">", -1), Constraint("b", {"x": 1}, ">=")],  # 0 > 1, but x = 0 solves both
            {"a": -1, "b": 1},
            "'a' has the negative multiplier -1",
        ),
        ([Constraint("a", {"x": 1}, ">", -1), Constraint("b", {"x": 1}, "=")], {"a": -1, "b": 1}, "'a' has the neg"),
        ([Constraint("a", {"x": 1}, ">=", -1), Constraint("b", {"x": 1}, "=")], {"a": -1, "b": 1}, "'a' has the neg"),
        ([Constraint("a", {"x": 1}, ">", 1), Constraint("b", {"x": 1}, "=", 2)], {"a": -2, "b": 2}, "'a' has the neg"),
        (TRIANGLE, {"x": 2, "y": 3, "total": 1}, "'total', which the system does not have"),
        ([Constraint("a", {"x": 1}, ">="), Constraint("b", {"x": -1}, ">=", -1)], {"a": 1, "b": 1}, "0 >= -1"),
        ([Constraint("a", {"x": 1}, ">"), Constraint("b", {"x": -1}, ">=", -1)], {"a": 1, "b": 1}, "0 > -1"),
        ([Constraint("a", {"x": 1}, ">="), Constraint("b", {"x": -1}, ">=")], {"a": 1, "b": 1}, "0 >= 0"),
        ([Constraint("a", {"x": 1}, "="), Constraint("b", {"x": 1}, ">=")], {"a": -1, "b": 1}, "0 >= 0"),
        ([Constraint("a", {"x": 1}, "=", 1)], {}, "0 >= 0"),
        ([*TRIANGLE, TRIANGLE[0]], {"x": 2, "y": 3, "sum": 1}, "Two constraints have the name 'x'"),
        ([], {}, "at least one constraint"),
    ],
)
def test_what_proves_nothing_is_rejected(constraints, multipliers, message):
    with pytest.raises(ValueError, match=message):
        verify(constraints, FarkasCertificate(multipliers))


def test_strictness_alone_is_a_contradiction():
    system = [Constraint("a", {"x": 1}, ">"), Constraint("b", {"x": -1}, ">=")]
    verify(system, FarkasCertificate({"a": 1, "b": 1}))
    assert isinstance(decide(system), FarkasCertificate)
    assert isinstance(decide([Constraint("a", {"x": 1}, ">="), system[1]]), FeasiblePoint)


def test_equations_may_have_negative_multipliers():
    system = [Constraint("a", {"x": 2, "y": 2}, "=", 3), Constraint("b", {"x": 1, "y": 1}, ">=", 2)]
    certificate = find(system)
    assert dict(certificate.multipliers) == {"a": -1, "b": 2}
    verify(system, certificate)


def test_constraints_without_unknowns_decide_themselves():
    assert isinstance(decide([Constraint("absurd", {"x": 0}, ">", 0)]), FarkasCertificate)
    assert isinstance(decide([Constraint("trivial", {}, ">=", 0)]), FeasiblePoint)


def test_large_integers_stay_exact():
    big = 10**30
    system = [Constraint("a", {"x": big + 1, "y": -big}, "="), Constraint("b", {"x": 1}, "=", big)]
    verify_point(system, FeasiblePoint({"x": Fraction(big), "y": Fraction(big + 1)}))
    with pytest.raises(ValueError, match=r"violates the constraint 'a'"):
        verify_point(system, FeasiblePoint({"x": Fraction(big), "y": Fraction(big)}))


def test_the_other_side_is_refused():
    with pytest.raises(ValueError, match=r"no solution"):
        find(TRIANGLE[:2])
    with pytest.raises(ValueError, match=r"no solution"):
        find_point(TRIANGLE)


def test_a_point_is_exact_and_a_moved_one_is_rejected():
    system = [Constraint("a", {"x": 3}, "=", 1), Constraint("b", {"x": -1, "y": 1}, ">")]
    point = find_point(system)
    assert point.values["x"] == Fraction(1, 3)
    with pytest.raises(ValueError, match=r"violates the constraint 'a': its left side is 999/1000"):
        verify_point(system, FeasiblePoint({"x": Fraction(333, 1000), "y": Fraction(1)}))
    with pytest.raises(ValueError, match=r"violates the constraint 'b'"):
        verify_point(system, FeasiblePoint({"x": Fraction(1, 3), "y": Fraction(1, 3)}))


def test_numpy_integers_become_integers():
    assert Constraint("a", {"x": np.int64(3), "y": np.int64(0)}, ">=").coefficients == {"x": 3}  # type: ignore[dict-item]


@pytest.mark.parametrize("value", [0.5, "1", True, Fraction(1, 2), None])
def test_numbers_that_are_no_integers_are_refused(value):
    with pytest.raises(ValueError, match=r"coefficient of 'x' in constraint 'a' must be an integer"):
        Constraint("a", {"x": value}, ">=")
    with pytest.raises(ValueError, match=r"bound of constraint 'a' must be an integer"):
        Constraint("a", {}, ">=", value)
    with pytest.raises(ValueError, match=r"multiplier of 'a' must be an integer"):
        FarkasCertificate({"a": value})


def test_values_and_relations_are_checked():
    with pytest.raises(ValueError, match=r"value of 'x' must be an integer or a Fraction, not 0\.5"):
        FeasiblePoint({"x": 0.5})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"relation '<'"):
        Constraint("a", {}, "<")  # type: ignore[arg-type]


class TestWhatToTurn:
    """An error names the knob, and turning it helps."""

    def test_the_other_side_is_named(self):
        with pytest.raises(InfeasibleProgramError, match=r"so there is one: call find_point, or decide"):
            find(TRIANGLE[:2])
        verify_point(TRIANGLE[:2], find_point(TRIANGLE[:2]))
        with pytest.raises(InfeasibleProgramError, match=r"there is a certificate of that: call find, or decide"):
            find_point(TRIANGLE)
        verify(TRIANGLE, find(TRIANGLE))

    def test_a_strict_inequality_that_only_ties_has_no_point(self):
        system = [Constraint("a", {"x": 1}, ">"), Constraint("b", {"x": -1}, ">=")]
        with pytest.raises(InfeasibleProgramError, match=r"there is a certificate of that"):
            find_point(system)


SCALES = [10**9, 10**30, 10**400]


@settings(max_examples=60, deadline=None)
@given(systems(), st.data())
def test_the_size_of_a_constraint_or_an_unknown_does_not_matter(constraints, data):
    """Every constraint, and every unknown, times 1 or up to 10^400: the same answer as without, by elimination."""
    sizes = {u: data.draw(st.sampled_from([1, *SCALES])) for u in "xyz"}
    scaled = []
    for c in constraints:
        factor = data.draw(st.sampled_from([1, *SCALES]))
        row = {u: factor * sizes[u] * a for u, a in c.coefficients.items()}
        scaled.append(Constraint(c.name, row, c.relation, factor * c.bound))
    assert isinstance(decide(scaled), FeasiblePoint) == eliminate(constraints)


@pytest.mark.parametrize("scale", SCALES, ids=["10^9", "10^30", "10^400"])
def test_an_excess_of_any_size_decides(scale):
    """x + y >= 0, -x - y >= 0 and N x + (N + 1) y = 1 have a solution; a bound of 1/N instead of 0 leaves none."""
    near = [
        Constraint("a", {"x": 1, "y": 1}, ">="),
        Constraint("b", {"x": -1, "y": -1}, ">="),
        Constraint("c", {"x": scale, "y": scale + 1}, "=", 1),
    ]
    point = decide(near)
    assert isinstance(point, FeasiblePoint)
    assert point.values == {"x": -1, "y": 1}
    assert isinstance(decide([*near[:2], Constraint("c", {"x": scale, "y": scale}, "=", 1)]), FarkasCertificate)


@pytest.mark.parametrize(("bound", "used"), [(1, {"x", "not x"}), (2, {"y", "not y"})])
def test_of_two_contradictions_of_size_1_the_one_with_smaller_multipliers_is_found(bound, used):
    """0 > 0 from x > 0, -2x >= 0 with multipliers of sum 3/2; 0 >= 1 from y >= b, -y >= 0 with those of sum 2/b."""
    constraints = [
        Constraint("x", {"x": 1}, ">"),
        Constraint("not x", {"x": -2}, ">="),
        Constraint("y", {"y": 1}, ">=", bound),
        Constraint("not y", {"y": -1}, ">="),
    ]
    multipliers = find(constraints).multipliers
    assert {name for name, multiplier in multipliers.items() if multiplier} == used
