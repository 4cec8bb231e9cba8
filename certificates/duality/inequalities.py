"""Systems of linear inequalities with integer coefficients: what solves one, and what proves that nothing does.

Motzkin's transposition theorem: for constraints a_i . x >= b_i, a_i . x > b_i or a_i . x = b_i, either some x satisfies
all of them, or there are multipliers lambda_i, nonnegative on the inequalities, such that

    sum_i lambda_i a_i = 0   and   sum_i lambda_i b_i > 0, or = 0 with lambda_i > 0 on some strict inequality,

because adding up lambda_i times constraint i then gives 0 > 0. (Without strict inequalities this is Farkas' lemma.)
This module checks either outcome, a `FeasiblePoint` or a `FarkasCertificate`, in integers and fractions, with the
standard library alone. It trusts nothing that a solver says: `lemmata.certificates.duality.farkas` finds the outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd
from operator import index
from types import MappingProxyType
from typing import Literal, get_args

__all__ = ["Constraint", "FarkasCertificate", "FeasiblePoint", "Relation", "unknowns", "verify", "verify_point"]

Relation = Literal[">=", ">", "="]


@dataclass(frozen=True)
class Constraint:
    """``sum_u coefficients[u] * u  relation  bound`` with named real unknowns u and integer coefficients.

    ``name`` identifies the constraint in a certificate. Zero coefficients are dropped.

    Raises:
        ValueError: for a coefficient or bound that is no integer (multiply fractions out first) and for an unknown
            relation.
    """

    name: str
    coefficients: Mapping[str, int]
    relation: Relation
    bound: int = 0

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise ValueError(
                f"Constraint {self.name!r} has the relation {self.relation!r}, but only "
                f"{', '.join(get_args(Relation))} are known; multiply by -1 to turn a constraint around."
            )
        kept = {
            u: _integer(a, f"coefficient of {u!r} in constraint {self.name!r}") for u, a in self.coefficients.items()
        }
        object.__setattr__(self, "coefficients", MappingProxyType({u: a for u, a in kept.items() if a}))
        object.__setattr__(self, "bound", _integer(self.bound, f"bound of constraint {self.name!r}"))


@dataclass(frozen=True)
class FarkasCertificate:
    """Integer multipliers by the names of constraints; a constraint that is not named has the multiplier 0.

    They are divided by their greatest common divisor.

    Raises:
        ValueError: for a multiplier that is no integer.
    """

    multipliers: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept = {name: _integer(m, f"multiplier of {name!r}") for name, m in self.multipliers.items()}
        divisor = gcd(*kept.values()) or 1
        object.__setattr__(self, "multipliers", MappingProxyType({name: m // divisor for name, m in kept.items() if m}))


@dataclass(frozen=True)
class FeasiblePoint:
    """Exact values by the names of the unknowns; an unknown that is not named is 0.

    Raises:
        ValueError: for a value that is neither an integer nor a ``Fraction``.
    """

    values: Mapping[str, Fraction]

    def __post_init__(self) -> None:
        for unknown, value in self.values.items():
            if isinstance(value, bool) or not isinstance(value, int | Fraction):
                raise ValueError(f"The value of {unknown!r} must be an integer or a Fraction, not {value!r}.")
        exact = {unknown: Fraction(value) for unknown, value in self.values.items()}
        object.__setattr__(self, "values", MappingProxyType(exact))


def unknowns(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """The unknowns that occur with a nonzero coefficient, in the order of their first appearance."""
    return tuple(dict.fromkeys(u for constraint in constraints for u in constraint.coefficients))


def verify(constraints: Sequence[Constraint], certificate: FarkasCertificate) -> None:
    """The check that a certificate proves that no real numbers satisfy all constraints; integers only.

    Raises:
        ValueError: naming the first line that fails: two constraints of one name, a multiplier of a constraint that is
            not there, a negative multiplier of an inequality, an unknown that does not cancel, or a sum that is no
            contradiction.
    """
    by_name = _by_name(constraints)
    total: dict[str, int] = {}
    bound, strict = 0, False
    for name, multiplier in certificate.multipliers.items():
        if name not in by_name:
            raise ValueError(f"The certificate multiplies the constraint {name!r}, which the system does not have.")
        constraint = by_name[name]
        if multiplier < 0 and constraint.relation != "=":
            raise ValueError(f"The inequality {name!r} has the negative multiplier {multiplier}.")
        for unknown, coefficient in constraint.coefficients.items():
            total[unknown] = total.get(unknown, 0) + multiplier * coefficient
        bound += multiplier * constraint.bound
        strict = strict or constraint.relation == ">"
    for unknown, coefficient in total.items():
        if coefficient:
            raise ValueError(f"The unknown {unknown!r} does not cancel: its coefficients add up to {coefficient}.")
    if bound < 0 or (bound == 0 and not strict):
        raise ValueError(f"The constraints add up to 0 {'>' if strict else '>='} {bound}, which is no contradiction.")


def verify_point(constraints: Sequence[Constraint], point: FeasiblePoint) -> None:
    """The check that a point satisfies every constraint exactly.

    Raises:
        ValueError: naming the first violated constraint.
    """
    for constraint in _by_name(constraints).values():
        value = sum((a * point.values.get(u, Fraction(0)) for u, a in constraint.coefficients.items()), Fraction(0))
        fine = {
            ">=": value >= constraint.bound,
            ">": value > constraint.bound,
            "=": value == constraint.bound,
        }
        if not fine[constraint.relation]:
            raise ValueError(
                f"The point violates the constraint {constraint.name!r}: its left side is {value}, which is not "
                f"{constraint.relation} {constraint.bound}."
            )


def _by_name(constraints: Sequence[Constraint]) -> dict[str, Constraint]:
    if not constraints:
        raise ValueError("A system needs at least one constraint: every point satisfies the empty one.")
    result: dict[str, Constraint] = {}
    for constraint in constraints:
        if constraint.name in result:
            raise ValueError(
                f"Two constraints have the name {constraint.name!r}; a certificate could not tell them apart."
            )
        result[constraint.name] = constraint
    return result


def _integer(value: object, what: str) -> int:
    if not isinstance(value, bool):
        try:
            return index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise ValueError(f"The {what} must be an integer, not {value!r}.")
