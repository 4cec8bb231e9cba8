"""Maximum margins that are algebraic numbers, exactly: from an enclosure to a document (ALGEBRAIC_FORMAT.md).

An enclosed optimum is refined to thousands of bits; the square of the margin, the multipliers and the directions of the
outputs are recognised in a number field; both sides are solved exactly there (`algebraic_sides`); and
`lemmata.certificates.algebraic_kernel` decides. Most tables have optima in fields of large degree: there it gives up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from math import gcd, isqrt, lcm
from typing import Any

import numpy as np
from flint import fmpq, fmpq_poly
from numpy.typing import NDArray

from lemmata.certificates import algebraic_kernel, kernel
from lemmata.certificates.operations.algebraic_sides import BestNeurons, exact_matrix, exact_neurons, few_neurons
from lemmata.certificates.operations.best_directions import directions_of, other_directions, simple_directions
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.number_field import Element, NumberField, field_of, minimal_polynomial
from lemmata.certificates.operations.sharp_optimum import Fixed, SharpOptimum, sharp_optimum
from lemmata.certificates.operations.special_points import special_points
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries, operation_symmetries

__all__ = ["algebraic_document"]

Document = dict[str, Any]
Vector = Sequence[Element]

BITS = (3300, 8000)
"""Of the optimum, in turn: numbers of degree 16 are recognised if their polynomials have coefficients of 120 or 300."""
FIELD_BITS = 1200
"""Of the generator of the field in a document."""
DIGITS = 12
"""Significant digits of the decimals."""


def algebraic_document(
    table: Operation,
    q: Sequence[int] | NDArray[np.float64],
    network: OperationNetwork,
    *,
    symmetries: OperationSymmetries | None = None,
    bits: Sequence[int] = BITS,
) -> Document | None:
    """The document of the exact margin of a table, which the kernel has accepted; None where it is not recognised.

    Args:
        table: the table.
        q, network: multipliers and a network that enclose the margin up to a relative gap of about 10^-7.
        symmetries: of the table, by default all.
        bits: to which the optimum is refined; the second number is tried where the first finds nothing, and so on.
    """
    symmetries = (operation_symmetries(table) if symmetries is None else symmetries).listable()
    for precision in bits:
        optimum = sharp_optimum(table, symmetries, np.asarray(q, float), network, bits=precision)
        if optimum is None:
            return None
        for directions in _candidates(optimum):
            if (made := _document(optimum, directions)) is not None:
                return made
    return None


def _candidates(optimum: SharpOptimum) -> Iterator[list[Fixed]]:
    """Sets of directions of outputs that may be those of an optimal network with coordinates in a small field."""
    yield directions_of(optimum, optimum.points)
    if optimum.freedom:
        if (points := special_points(optimum)) is not None:
            yield directions_of(optimum, points)
        yield from simple_directions(optimum)


def _document(optimum: SharpOptimum, directions: Sequence[Fixed]) -> Document | None:
    """The document of an optimum whose network has outputs along some directions, if the kernel accepts it."""
    found = _recognised(optimum, directions)
    if found is None:
        return None
    field, square, multipliers, spaces = found
    others = other_directions(optimum, directions, lambda w: _inside(optimum, found[0], w) is not None)
    inside = [_inside(optimum, field, w) for w in others]
    if None in inside and (larger := _recognised(optimum, [*directions, *others])) is not None:
        field, square, multipliers, spaces = larger
    else:
        spaces = [*spaces, *(one for one in inside if one is not None)]
    zero = fmpq_poly([0])
    matrices = [
        [
            [sum((q * int(c) for q, c in zip(multipliers, entry, strict=True) if c), zero) for entry in row]
            for row in np.moveaxis(optimum.forms[:, k], 0, -1)
        ]
        for k in range(optimum.table.label_count)
    ]
    best = [_best_neurons(field, matrices, square, w, root) for w, root in spaces]
    used = best[: len(directions)]
    if not all(one.basis for one in best):
        return None
    few = few_neurons(field, optimum, used)
    below = None if few is None else exact_neurons(field, optimum, square, few)
    if below is None and (below := exact_neurons(field, optimum, square, used)) is None:
        return None
    above = exact_matrix(field, optimum, square, matrices, best)
    if above is None:
        return None
    made = _assembled(optimum, field, square, multipliers, below, above)
    try:
        algebraic_kernel.check(json.dumps(made).encode())
    except (kernel.MalformedError, kernel.ViolatedError):
        return None
    return made


def _best_neurons(
    field: NumberField, matrices: list[list[list[Element]]], square: Element, w: list[Element], root: Element
) -> BestNeurons:
    """The best neurons with outputs along w, for the eigenvalue |w| phi of w.M."""
    N = range(len(matrices[0]))
    shifted = [[field.dot(w, [matrix[i][j] for matrix in matrices]) - (root if i == j else 0) for j in N] for i in N]
    return BestNeurons(w, field.times(square, field.inverse(root)), field.nullspace(shifted))


def _inside(optimum: SharpOptimum, field: NumberField, w: Fixed) -> tuple[list[Element], Element] | None:
    """w and |w| phi as numbers of a field; None where they are not recognised."""
    elements = [field.element(int(number)) for number in (*w, _root(optimum, w))]
    exact = [element for element in elements if element is not None]
    return (exact[:-1], exact[-1]) if len(exact) == len(elements) else None


def _root(optimum: SharpOptimum, w: Fixed) -> int:
    """|w| phi."""
    return isqrt((sum(int(z) * int(z) for z in w) >> optimum.bits) * optimum.square)


def _recognised(
    optimum: SharpOptimum, directions: Sequence[Fixed]
) -> tuple[NumberField, Element, list[Element], list[tuple[list[Element], Element]]] | None:
    """The field, phi^2, the multipliers, and each direction w of outputs with |w| phi."""
    roots = [_root(optimum, w) for w in directions]
    numbers = [optimum.square, *optimum.multipliers, *(z for w in directions for z in w), *roots]
    found = field_of([int(number) for number in numbers], optimum.bits)
    if found is None:
        return None
    field, (square, *rest) = found
    o, C = len(optimum.used), optimum.table.label_count
    multipliers, rest = rest[:o], rest[o:]
    spaces = [(rest[C * i : C * i + C], root) for i, root in enumerate(rest[C * len(roots) :])]
    return field, square, multipliers, spaces


def _assembled(
    optimum: SharpOptimum,
    field: NumberField,
    square: Element,
    multipliers: list[Element],
    below: tuple[list[list[Element]], list[Element]],
    above: tuple[list[list[Element]], list[list[Element]]],
) -> Document:
    table, bits = optimum.table, optimum.bits
    number_of = {int(orbit): i for i, orbit in enumerate(optimum.used)}
    by_triple = [
        multipliers[number_of[int(orbit)]] if int(orbit) in number_of else fmpq_poly([0])
        for orbit in optimum.symmetries.triple_orbits()
    ]
    unit, values = _cleared(by_triple)
    matrix, kernel_basis = above
    denominator, entries = _cleared([square, *(entry for i, row in enumerate(matrix) for entry in row[: i + 1])])
    rest = iter(entries[1:])
    neurons, masses = [], []
    for x, p in zip(*below, strict=True):
        factor = _primitive_factor(x)
        neurons.append([z * factor for z in x])
        masses.append(p / factor**4)
    factor = _primitive_factor(masses)
    gamma_square = 4 * field.value(square) // 27
    polynomial = minimal_polynomial(gamma_square, bits)
    assert polynomial is not None, "an element of a field of small degree has a small degree"
    lower, upper = _decimals(gamma_square, bits)
    name = "".join(c if " " <= c <= "~" else "?" for c in table.name)[: kernel.MAX_DIGITS]

    def numbers(elements: Iterable[Element]) -> list[Any]:
        return [_text(field, element) for element in elements]

    return {
        "format": algebraic_kernel.FORMAT,
        "version": algebraic_kernel.VERSION,
        "table": {"name": name, "labels": table.label_count, "values": [list(row) for row in table.values]},
        "field": {
            "polynomial": [str(c) for c in field.polynomial[:-1]],
            "low": str(field.theta >> (field.bits - FIELD_BITS)),
            "bits": FIELD_BITS,
        },
        "multipliers": {"denominator": str(unit), "values": numbers(values)},
        "proof": {
            "kind": "degree 4",
            "denominator": str(denominator),
            "square": _text(field, entries[0]),
            "matrix": [numbers(next(rest) for _ in range(i + 1)) for i in range(len(matrix))],
            "kernel": [numbers(z * _primitive_factor(v) for z in v) for v in kernel_basis],
        },
        "network": {"neurons": [numbers(x) for x in neurons], "masses": numbers(p * factor for p in masses)},
        "margin": {"exact": [str(c) for c in polynomial], "lower": lower, "upper": upper},
        "gap": "0",
        "grade": "exact",
    }


def _cleared(elements: Sequence[Element]) -> tuple[int, list[Element]]:
    """The least common denominator, and the elements times it."""
    common = lcm(*(int(element.denom()) for element in elements))
    return common, [element * common for element in elements]


def _primitive_factor(elements: Vector) -> fmpq:
    """What makes all coefficients integers without a common divisor."""
    common, whole = _cleared(elements)
    divisor = gcd(*(int(c) for element in whole for c in element.numer().coeffs()))
    return fmpq(common, divisor or 1)


def _text(field: NumberField, element: Element) -> Any:
    """A number as it stands in documents."""
    numerator = element.numer()
    return [str(int(numerator[i])) for i in range(field.degree)] if element != 0 else 0


def _decimals(square: int, bits: int) -> tuple[str, str]:
    """The decimals on both sides of the root of 2^-bits times an integer."""
    root = isqrt(square << bits)
    places = DIGITS
    while root * 10**places >> bits < 10 ** (DIGITS - 1):
        places += 1
    units = root * 10**places >> bits
    return f"0.{units:0{places}d}", f"0.{units + 1:0{places}d}"
