"""The least hinge loss of a second layer on given features, with a proof by linear programming duality, exactly.

For features h(j) (rows), labels y_j = +-1 and a law p on finitely many inputs j, and any read-out u,

    sum_j p_j (1 - y_j u.h(j))_+  >=  sum_j lambda_j (1 - y_j u.h(j))  =  sum_j lambda_j

for every 0 <= lambda <= p with sum_j lambda_j y_j h(j) = 0. A certificate is a read-out and such multipliers whose loss
and sum agree. They are the optimal pair of one linear program, solved exactly for rational numbers of any size.

It decides whether the neurons of a first layer can represent a function at all: on the neurons that lemma B.4 of
hidden-progress names, the least hinge loss of the parity of k signs is 2^(2-k), with multipliers (1, 2, 1)/2^k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.linear_programs import LinearProgram, Optimum, solve_program
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction

__all__ = ["HingeCertificate", "least_hinge_loss", "verify"]

Rows = list[list[Fraction]]


@dataclass(frozen=True)
class HingeCertificate:
    """``readout`` has the hinge loss ``value``, and ``multipliers`` prove that no read-out has a smaller one."""

    readout: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]
    value: Fraction


def least_hinge_loss(features: ArrayLike, labels: Sequence[int], law: Sequence[object]) -> HingeCertificate:
    """The least hinge loss of a read-out of the features, with a verified certificate.

    Args:
        features: shape (inputs, neurons), exact rational numbers; a constant column stands for an output bias.
        labels: +-1 for each input.
        law: the probabilities (or any nonnegative rational weights) of the inputs.

    Raises:
        ValueError: for shapes that do not fit, other labels, negative weights, or numbers that are not exact and
            rational.
    """
    rows, signs, weights = _checked(features, labels, law)
    count, width = len(rows), len(rows[0])
    margins = np.array([[y * h for h in row] for y, row in zip(signs, rows, strict=True)], dtype=object)
    eye = np.eye(count, dtype=int).astype(object)
    # y h.(u+ - u-) + loss - slack = 1; the multipliers of these equations lie between 0 (slack) and p (loss)
    matrix = np.hstack([margins, -margins, eye, -eye])
    right = np.ones(count, dtype=int).astype(object)
    cost = np.array([0] * (2 * width) + weights + [0] * count, dtype=object)
    outcome = solve_program(LinearProgram(matrix, right, cost), range(2 * width, 2 * width + count))
    assert isinstance(outcome, Optimum), "the loss of no read-out is negative"
    vertex = [as_fraction(x) for x in outcome.x]
    readout = tuple(vertex[i] - vertex[width + i] for i in range(width))
    multipliers = [as_fraction(x) for x in outcome.dual[0]]
    value = sum(multipliers, start=Fraction(0))
    certificate = HingeCertificate(readout, tuple(multipliers), value)
    verify(features, labels, law, certificate)
    return certificate


def verify(features: ArrayLike, labels: Sequence[int], law: Sequence[object], certificate: HingeCertificate) -> None:
    """The check that a certificate proves that its value is the least hinge loss, in fractions.

    Raises:
        ValueError: naming what fails: the sizes, the range of the multipliers, a feature that they do not annihilate,
            their sum, the loss of the read-out; or as `least_hinge_loss` for the features, the labels and the law.
    """
    rows, signs, weights = _checked(features, labels, law)
    readout, multipliers = certificate.readout, certificate.multipliers
    if len(readout) != len(rows[0]) or len(multipliers) != len(rows):
        raise ValueError(
            f"The certificate must have {len(rows[0])} read-out weights and {len(rows)} multipliers, "
            f"not {len(readout)} and {len(multipliers)}."
        )
    for j, (multiplier, weight) in enumerate(zip(multipliers, weights, strict=True)):
        if not 0 <= multiplier <= weight:
            raise ValueError(f"Multiplier {j} is {multiplier}, outside of [0, {weight}].")
    for i in range(len(readout)):
        if sum(a * y * row[i] for a, y, row in zip(multipliers, signs, rows, strict=True)) != 0:
            raise ValueError(f"The multipliers do not annihilate feature {i}.")
    if sum(multipliers) != certificate.value:
        raise ValueError(f"The multipliers sum to {sum(multipliers)}, not to {certificate.value}.")
    outputs = [sum(u * h for u, h in zip(readout, row, strict=True)) for row in rows]
    loss = sum(p * max(1 - y * f, Fraction(0)) for p, y, f in zip(weights, signs, outputs, strict=True))
    if loss != certificate.value:
        raise ValueError(f"The read-out has the hinge loss {loss}, not {certificate.value}.")


def _checked(
    features: ArrayLike, labels: Sequence[int], law: Sequence[object]
) -> tuple[Rows, list[int], list[Fraction]]:
    table = as_exact(np.asarray(features))
    weights = as_exact(list(law))
    if table.ndim != 2 or 0 in table.shape or not len(table) == len(labels) == len(weights):
        raise ValueError(
            f"The features must have the shape (inputs, neurons), with a label and a weight for each input, not "
            f"{table.shape}, {len(labels)} and {len(weights)}."
        )
    if not all(isinstance(number, fmpq) for number in [*table.ravel(), *weights]):
        raise ValueError("The features and the law must be rational numbers.")
    if any(y not in (1, -1) for y in labels) or any(p < 0 for p in weights):
        raise ValueError("The labels must be 1 or -1, and the weights of the law at least 0.")
    rows = [[as_fraction(x) for x in row] for row in table]
    return rows, [int(y) for y in labels], [as_fraction(p) for p in weights]
