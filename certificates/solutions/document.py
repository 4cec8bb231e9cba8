"""Certified solutions as documents: what `lemmata.certificates.solution_kernel` checks (SOLUTION_FORMAT.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import ceil, floor, lcm
from typing import Any

from flint import fmpq

from lemmata.certificates import kernel, solution_kernel
from lemmata.certificates.solutions.bracket import CertifiedSolution
from lemmata.certificates.solutions.programs import ConeProgram, Vector
from lemmata.numerics.exact.rationals import RationalLike, as_fraction

__all__ = ["Document", "document_of_solution"]

Document = dict[str, Any]

LONGEST_EXACT = 32
"""Characters of a bound that is written as the fraction that it is."""
DIGITS = 30
"""Significant ones of a bound that is rounded outwards."""
LONGEST_INTEGER = 10**18
"""Beyond it an integer is written as a string."""


def document_of_solution(found: CertifiedSolution) -> Document:
    """The document that claims what is proved about a problem and its solution; the kernel has accepted it.

    Bounds, slack and move are exact fractions where these are short, and rounded outwards otherwise.

    Raises:
        ValueError: where nothing was proved, and for a proof that is beyond the limits of the kernel.
    """
    if found.status == "nothing":
        raise ValueError(f"Nothing was proved, so that there is no certificate: {' '.join(found.remarks)}")
    read, program = found.read, found.read.program
    sign = -1 if read.maximised else 1
    unit = _denominator(program)
    document = {
        "format": solution_kernel.FORMAT,
        "version": solution_kernel.VERSION,
        "variables": [
            {
                "name": _printable(name),
                "shape": list(places.shape),
                "places": places.ravel().tolist(),
            }
            for name, places in read.places.items()
        ],
        "objective": {
            "sense": "maximum" if read.maximised else "minimum",
            "function": _affine(sign * program.offset, [sign * c for c in program.cost], unit),
        },
        "constraints": _constraints(program, unit),
        "status": found.status if found.status in ("infeasible", "unbounded") else "bounds",
        "bounds": {
            "lower": None if found.lower is None else _text(found.lower, floor),
            "upper": None if found.upper is None else _text(found.upper, ceil),
        },
        "point": None if found.primal is None else _vector(found.primal),
        "multipliers": None if found.multipliers is None else _multipliers(program, found.multipliers),
        "direction": None if found.ray is None else _vector(found.ray),
        "solution": _solution(found),
    }
    try:
        solution_kernel.check(json.dumps(document).encode())
    except kernel.MalformedError as error:
        raise ValueError(f"The proof is beyond what the kernel reads: {error}.") from error
    except kernel.ViolatedError as error:
        raise ValueError(f"The kernel refuses the proof that was found, and nothing is claimed: {error}.") from error
    return document


def _solution(found: CertifiedSolution) -> Document | None:
    """The values that the problem holds; None if it holds none."""
    if not found.read.given:
        return None
    places, values = zip(*sorted(found.read.given.items()), strict=True)
    return {
        "places": list(places),
        "values": _vector([fmpq(*x.as_integer_ratio()) for x in values]),
        "moved": None if found.moved is None else _text(found.moved, ceil),
        "slack": None if found.slack is None else _text(found.slack, ceil),
    }


def _constraints(program: ConeProgram, unit: int) -> Document:
    n, lines = len(program.cost), program.lines
    rows = [[program.rows[i, j] for j in range(n)] for i in range(len(program.shift))]
    functions = [_affine(shift, row, unit) for shift, row in zip(program.shift, rows, strict=True)]
    equations = [
        _affine(-right, [program.equations[i, j] for j in range(n)], unit) for i, right in enumerate(program.right)
    ]
    matrices, start = [], lines
    for order in program.orders:
        matrices.append([functions[start + i * order : start + i * order + i + 1] for i in range(order)])
        start += order**2
    return {
        "size": n,
        "denominator": _written(unit),
        "equations": equations,
        "inequalities": functions[:lines],
        "matrices": matrices,
    }


def _multipliers(program: ConeProgram, point: Vector) -> Document:
    """The parts of a point of the dual program, whose equations have the other sign: u.(E z - f) + v.(G z + h)."""
    unit = lcm(*(int(x.q) for x in point))
    entries = iter(_over(point, unit))
    equations = [next(entries) for _ in program.right]
    inequalities = [next(entries) for _ in range(program.lines)]
    matrices = [[[next(entries) for _ in range(i + 1)] for i in range(order)] for order in program.orders]
    return {"denominator": _written(unit), "equations": equations, "inequalities": inequalities, "matrices": matrices}


def _denominator(program: ConeProgram) -> int:
    """A common denominator of all numbers of a program."""
    parts = (program.cost, [program.offset], program.right, program.shift)
    numbers = [*(x for part in parts for x in part), *program.equations.entries(), *program.rows.entries()]
    return lcm(*(int(x.q) for x in numbers))


def _vector(point: Sequence[fmpq]) -> Document:
    unit = lcm(*(int(x.q) for x in point))
    return {"denominator": _written(unit), "entries": _over(point, unit)}


def _affine(constant: fmpq, row: Sequence[fmpq], unit: int) -> list[int | str]:
    """The constant, and pairs of a variable and its coefficient."""
    first, *rest = _over([constant, *row], unit)
    return [first, *(x for j, c in enumerate(rest) if c != 0 for x in (j, c))]


def _over(numbers: Iterable[fmpq], unit: int) -> list[int | str]:
    """The numerators of numbers over a common denominator."""
    return [_written(int(x.p) * (unit // int(x.q))) for x in numbers]


def _written(x: int) -> int | str:
    return x if abs(x) <= LONGEST_INTEGER else str(x)


def _text(x: RationalLike, rounding: Any) -> str:
    """A number as a fraction if that is short, or rounded to a decimal by `floor` or `ceil`."""
    exact = as_fraction(x)
    if len(str(exact)) <= LONGEST_EXACT:
        return str(exact)
    places = max(0, DIGITS + len(str(exact.denominator)) - len(str(abs(exact.numerator))))
    units = rounding(exact * 10**places)
    return format(Decimal((int(units < 0), tuple(int(c) for c in str(abs(units))), -places)), "f")


def _printable(name: str) -> str:
    return "".join(c if " " <= c <= "~" else "?" for c in name)[: kernel.MAX_DIGITS]
