"""The report of a group certificate in the terms of the theorem: masses, class weights, margins by class, condition.

Everything here follows from the numbers in the document by arithmetic on sums of square roots, because it is invariant
under the Galois group (see `lemmata.certificates.groups.scaled_pair`). Only the uniqueness of the optimum needs the
characters
themselves: `lemmata.certificates.groups.contents.solution_of` rebuilds the solved game for
`lemmata.certificates.game.faces`. Nothing is checked here that the kernel checks.

The rows of the theorem (certificates/game/UNIVERSAL_MARGIN.md) are irreducible real representations. A document lists
complex characters: a conjugate pair makes one row, which has the sum of its two equal masses; any other character makes
one row with its mass (one of quaternionic type is taken twice in the real character, which changes no share).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lemmata.certificates import kernel
from lemmata.certificates.game.margin_game import margin_scale
from lemmata.certificates.groups.contents import document_names, document_terms, shares, trivial_row
from lemmata.certificates.groups.format import Document
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic
from lemmata.numerics.groups.permutations import cycle_notation

__all__ = ["ClassReport", "IrrepReport", "MarginReport", "margin_report"]


@dataclass(frozen=True)
class ClassReport:
    """A nontrivial conjugacy class, or a pair of mutually inverse ones: how wrong labels in it are weighted.

    ``element`` is in cycle notation; ``size`` and ``weight`` count both classes of a pair. ``margin`` is the margin of
    the network at these wrong labels divided by the smallest one. ``condition`` is the sign of the condition sum.
    """

    name: str
    element: str
    size: int
    weight: Cyclotomic
    margin: Fraction
    condition: int


@dataclass(frozen=True)
class IrrepReport:
    """A nontrivial irreducible real representation and its share ``mass`` of the network.

    ``name``, ``degree`` and ``indicator`` are those of its complex character, or conjugate pair.
    """

    name: str
    degree: int
    indicator: int
    mass: Cyclotomic

    @property
    def dimension(self) -> int:
        """The dimension nu over the real numbers: the degree for indicator 1 and twice the degree for 0 and -1."""
        return self.degree if self.indicator == 1 else 2 * self.degree


@dataclass(frozen=True)
class MarginReport:
    """A certificate in the terms of the theorem.

    ``gamma``: the lower bound of the margin, exactly; for the grade ``exact`` the margin. ``excess``: it, divided by
    the closed form. ``condition``: ``"strict"`` when all condition sums are negative, ``"ties"`` when some vanish and
    none is positive, else ``"fails"``. ``closed_form``: whether the margin is the closed form, compared exactly.
    """

    name: str
    order: int
    class_count: int
    factors: int
    grade: str
    classes: tuple[ClassReport, ...]
    irreps: tuple[IrrepReport, ...]
    gamma: Cyclotomic
    closed_form: bool
    excess: float
    condition: str


def margin_report(document: Document) -> MarginReport:
    """The report of a well-formed document (see `lemmata.certificates.groups.format`)."""
    group, factors = document["group"], document["factors"]
    value, masses, weights = shares(document)
    rows = _Rows.of(document)
    classes, irreps = _class_reports(document, rows, weights), _irrep_reports(document, rows, masses)
    nontrivial = rows.nontrivial
    total = _combination(rows.scales, rows.degrees, nontrivial)  # S = sum d w; the closed form has the value n / S
    lower = _combination(rows.scales, rows.masses, nontrivial)  # the value is 1 / this
    signs = {report.condition for report in classes}
    return MarginReport(
        name=group["name"],
        order=group["order"],
        class_count=len(document["classes"]),
        factors=factors,
        grade=document["grade"],
        classes=classes,
        irreps=irreps,
        gamma=margin_scale(group["order"], factors) * value,
        closed_form=document["grade"] == "exact" and kernel.plus({}, total, Fraction(1, group["order"])) == lower,
        excess=float(value) * _float(total) / group["order"],
        condition="fails" if 1 in signs else "ties" if 0 in signs else "strict",
    )


@dataclass(frozen=True)
class _Rows:
    """The characters of a document: degrees d, weights w, scaled masses y, Galois means of values, nontrivial rows."""

    degrees: list[int]
    scales: list[kernel.Radicals]
    masses: list[Fraction]
    means: list[list[Fraction]]
    nontrivial: list[int]

    @classmethod
    def of(cls, document: Document) -> _Rows:
        rows = document["characters"]["rows"]
        degrees = [row["values"][0] for row in rows]
        scales = [
            kernel.payoff_scale(d, row["indicator"], document["factors"]) for d, row in zip(degrees, rows, strict=True)
        ]
        means = kernel.galois_means(*document_terms(document))
        trivial = trivial_row(means)
        nontrivial = [R for R in range(len(rows)) if trivial != R]
        return cls(degrees, scales, [Fraction(row["scaled_mass"]) for row in rows], means, nontrivial)


def _class_reports(document: Document, rows: _Rows, weights: Sequence[Cyclotomic]) -> tuple[ClassReport, ...]:
    entries = document["classes"]
    names, _ = document_names(document)
    reports = []
    for C in range(1, len(entries)):
        both = sorted({C, entries[C]["inverse"]})
        if both[0] < C:
            continue
        defects = [rows.masses[R] * (rows.degrees[R] - rows.means[R][C]) for R in rows.nontrivial]
        # the condition sum over a Galois orbit of rows is the sum of the means
        condition = _combination(rows.scales, [row[C] for row in rows.means], rows.nontrivial)
        reports.append(
            ClassReport(
                " and ".join(names[D] for D in both),
                cycle_notation(entries[C]["representative"]),
                sum(entries[D]["size"] for D in both),
                weights[C] * len(both),
                sum(defects, Fraction(0)),
                kernel.sign(condition),
            )
        )
    return tuple(reports)


def _irrep_reports(document: Document, rows: _Rows, masses: Sequence[Cyclotomic]) -> tuple[IrrepReport, ...]:
    _, names = document_names(document)
    conjugates = _conjugates(document)
    reports = []
    for R in rows.nontrivial:
        both = sorted({R, conjugates[R]})
        if both[0] == R:
            indicator = document["characters"]["rows"][R]["indicator"]
            name = " and ".join(names[S] for S in both)
            reports.append(IrrepReport(name, rows.degrees[R], indicator, masses[R] * len(both)))
    return tuple(reports)


def _combination(
    scales: Sequence[kernel.Radicals], factors: Sequence[int | Fraction], rows: Sequence[int]
) -> kernel.Radicals:
    """sum of w_R factors_R over the given rows."""
    total: kernel.Radicals = {}
    for R in rows:
        total = kernel.plus(total, scales[R], Fraction(factors[R]))
    return total


def _conjugates(document: Document) -> list[int]:
    """For each character the row of its complex conjugate, whose values are those at the inverse classes.

    Floating point decides: different irreducible characters differ by more than 1 somewhere.
    """
    order, terms = document_terms(document)
    roots = np.exp(2j * np.pi * np.arange(order) / order)
    values = np.array([[sum(c * roots[e] for e, c in value.items()) for value in row] for row in terms])
    conjugates = values[:, [entry["inverse"] for entry in document["classes"]]]
    return [int(np.abs(values - row).max(axis=1).argmin()) for row in conjugates]


def _float(x: kernel.Radicals) -> float:
    return sum(float(q) * m**0.5 for m, q in x.items())
