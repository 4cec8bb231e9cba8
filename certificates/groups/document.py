"""The document of a certified group: what `lemmata.certificates.kernel` checks.

`document_of` writes what a `GroupMarginCertificate` proved; `certificate_document` writes what any pair of scaled
vectors proves for a table. The totals of the scaled vectors are the reciprocals of the two bounds of the value, as sums
of square roots, so that value, margin and grade are computed without a cyclotomic field, by the arithmetic of the
kernel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from lemmata.certificates import kernel
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.groups.certify import GroupMarginCertificate
from lemmata.certificates.groups.decimals import reciprocal_decimals
from lemmata.certificates.groups.format import FORMAT, VERSION, Document, dumps
from lemmata.certificates.groups.scaled_pair import ScaledPair, character_terms, folded_pair
from lemmata.numerics.exact.cyclotomic.numbers import FieldError
from lemmata.numerics.groups.permutations import PermutationGroup

__all__ = ["certificate_document", "document_of", "exceeds_kernel_limits", "kernel_refusal"]

LONGEST_NAME = 200


def document_of(certificate: GroupMarginCertificate, digits: int = 30) -> Document:
    """The document that claims what a certificate proved, with decimals of ``digits`` significant digits.

    Characters of the name that the format does not allow become question marks.

    Raises:
        FieldError: when the characters share no cyclotomic field of supported order. Such a document would be far
            beyond what the kernel reads; the message names the exact margin.
    """
    pair, group = folded_pair(certificate.scaled), certificate.group
    name = re.sub(r"[^ -~]", "?", group.name)
    try:
        document = certificate_document(group, certificate.table, pair, certificate.factors, digits)
    except FieldError as error:
        lower, upper = certificate.enclosure(digits)
        raise FieldError(
            f"The certificate of {group.name} cannot be written: all its characters together need roots of unity of "
            f"order {certificate.table.rows.order}, and the kernel reads orders up to {kernel.MAX_ROOT_ORDER}. The "
            f"maximum margin, which the kernel has not checked, lies between {lower} and {upper} and is "
            f"{kernel.text(certificate.radicals)}."
        ) from error
    document["group"]["name"] = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."
    return document


def kernel_refusal(group: PermutationGroup) -> str | None:
    """Which limit of the kernel every certificate of a group exceeds, known before any work; None for no limit."""
    if group.order > kernel.MAX_ORDER:
        return f"the kernel checks groups of order up to {kernel.MAX_ORDER}, and this one has order {group.order}"
    if group.order * group.degree > kernel.MAX_IMAGES:
        product = f"{group.order} times {group.degree}"
        return f"the kernel checks groups of order times degree up to {kernel.MAX_IMAGES}, not {product}"
    if len(group.generators) > kernel.MAX_GENERATORS:
        return f"the kernel reads up to {kernel.MAX_GENERATORS} generators, not {len(group.generators)}"
    return None


def exceeds_kernel_limits(document: Document) -> bool:
    """Whether a document is of a size that the kernel does not read, whatever is in it.

    A document that does not exceed the limits and that the kernel calls malformed all the same has a fault.
    """
    group, classes, characters = document["group"], document["classes"], document["characters"]
    n, count, data = group["order"], len(classes), dumps(document)
    fractions = [row["scaled_mass"] for row in characters["rows"]]
    fractions += [q for entry in classes for q in entry["scaled_weight"].values()]
    texts = [*fractions, *document["value"].values(), *filter(None, document["margin"].values())]
    return (
        len(data) > kernel.MAX_BYTES
        or data.count(b"[") + data.count(b"{") > kernel.MAX_BRACKETS
        or n > kernel.MAX_ORDER
        or n * group["degree"] > kernel.MAX_IMAGES
        or n * count > kernel.MAX_PRODUCTS
        or count > kernel.MAX_CLASSES
        or characters["root_order"] > min(kernel.MAX_ROOT_ORDER, kernel.MAX_COORDINATES // count**2)
        or len(group["generators"]) > kernel.MAX_GENERATORS
        or document["factors"] > kernel.MAX_FACTORS
        or max(map(len, texts)) > kernel.MAX_DIGITS
        or lcm(*(Fraction(q).denominator for q in fractions)) >= 10**kernel.MAX_DIGITS
    )


def certificate_document(
    group: PermutationGroup, table: CharacterTable, pair: ScaledPair, factors: int = 2, digits: int = 30
) -> Document:
    """The document that claims the margin proved by a pair, for a table whose columns are ``group.classes``.

    The decimals have ``digits`` significant digits. The grade is ``exact`` when masses and weights prove the same
    value, else ``enclosed``. The kernel is the judge of the document.

    Raises:
        ValueError: when the table is not that of the group or the pair not one for the table, when masses or weights
            have no positive sum, or for fewer than one digit.
    """
    if tuple(int(size) for size in group.classes.sizes) != table.class_sizes:
        raise ValueError(
            f"The columns of the table of {table.name} are not the classes of {group.name} in their order."
        )
    if len(pair.masses) != len(table.class_sizes) or len(pair.weights) != len(table.class_sizes):
        raise ValueError(f"The table of {table.name} needs {len(table.class_sizes)} scaled masses and class weights.")
    bounds = _bounds(table, pair, factors)
    lower, upper = reciprocal_decimals(bounds.low, bounds.high, digits)
    return {
        "format": FORMAT,
        "version": VERSION,
        "group": {
            "name": group.name,
            "degree": group.degree,
            "order": group.order,
            "generators": [list(g) for g in group.generators],
        },
        "factors": factors,
        "classes": _classes(group, table, pair),
        "characters": _characters(table, pair),
        "value": {"lower": kernel.text(bounds.masses), "upper": kernel.text(bounds.weights)},
        "margin": {"exact": kernel.text(bounds.low) if bounds.exact else None, "lower": lower, "upper": upper},
        "grade": "exact" if bounds.exact else "enclosed",
    }


@dataclass(frozen=True)
class _Bounds:
    """The reciprocals of the bounds that a scaled pair proves: of the value and of the margin, from below and above."""

    masses: kernel.Radicals
    weights: kernel.Radicals
    low: kernel.Radicals
    high: kernel.Radicals

    @property
    def exact(self) -> bool:
        """Whether the two bounds are the same number."""
        return self.masses == self.weights


def _bounds(table: CharacterTable, pair: ScaledPair, factors: int) -> _Bounds:
    """sum y_R w_R and sum u_C, and what they say of the margin."""
    masses: kernel.Radicals = {}
    for d, indicator, mass in zip(table.degrees, table.indicators, pair.masses, strict=True):
        masses = kernel.plus(masses, kernel.payoff_scale(d, indicator, factors), mass)
    weights: kernel.Radicals = {}
    for weight in pair.weights:
        weights = kernel.plus(weights, weight)
    if kernel.sign(masses) <= 0 or kernel.sign(weights) <= 0:
        raise ValueError(f"The masses and the class weights of {table.name} must have positive sums.")
    low, high = (kernel.reciprocal_margin(total, table.order, factors) for total in (masses, weights))
    return _Bounds(masses, weights, low, high)


def _classes(group: PermutationGroup, table: CharacterTable, pair: ScaledPair) -> list[Document]:
    return [
        {
            "representative": [int(x) for x in group.classes.representatives[C]],
            "size": table.class_sizes[C],
            "inverse": int(table.inverses[C]),
            "square": int(table.squares[C]),
            "scaled_weight": {str(m): str(q) for m, q in weight.items()},
        }
        for C, weight in enumerate(pair.weights)
    ]


def _characters(table: CharacterTable, pair: ScaledPair) -> Document:
    order, rows = character_terms(table)
    return {
        "root_order": order,
        "rows": [
            {"values": [_written(value) for value in row], "indicator": indicator, "scaled_mass": str(mass)}
            for row, indicator, mass in zip(rows, table.indicators, pair.masses, strict=True)
        ],
    }


def _written(terms: kernel.Terms) -> int | list[list[int]]:
    """A cyclotomic integer as the format writes it: an integer, or pairs [c, e] for sum c zeta^e."""
    if set(terms) <= {0}:
        return terms.get(0, 0)
    return [[c, e] for e, c in terms.items()]
