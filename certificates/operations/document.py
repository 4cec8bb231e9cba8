"""Certificates of operations as documents: what `lemmata.certificates.operation_kernel` checks (OPERATION_FORMAT.md).

`margin_document` states the margin of a table, from a network below and multipliers with a proof above;
`unseen_right`, `unseen_wrong` and `unseen_both` state what near-max-margin networks say of a cell that is not given.
Decimals are rounded outwards. All numbers are computed by the arithmetic of the kernel, and the kernel is the judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor, isqrt, lcm
from pathlib import Path
from typing import Any

from flint import fmpz

from lemmata.certificates import kernel, operation_kernel
from lemmata.certificates.groups.decimals import enclosing_decimals
from lemmata.certificates.operations.apart import ApartNetwork
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.rounding import RoundedBound, UnseenPart
from lemmata.numerics.operations.operation import Cell, Operation

__all__ = [
    "Document",
    "Enclosed",
    "exact_root",
    "gap_decimal",
    "line_of",
    "load",
    "lower_margin",
    "margin_document",
    "root_decimals",
    "threshold_below",
    "unseen_both",
    "unseen_right",
    "unseen_wrong",
]

Document = dict[str, Any]

GAP_DIGITS = 2


class Enclosed:
    """What a document of a margin says, as numbers; a base of certificates.

    Attributes:
        document: with the fields ``margin``, ``gap`` and ``grade``.
    """

    document: Document

    @property
    def lower(self) -> Fraction:
        """The lower bound of the maximum margin, the decimal in the document."""
        return Fraction(self.document["margin"]["lower"])

    @property
    def upper(self) -> Fraction:
        """The upper bound of the maximum margin, the decimal in the document."""
        return Fraction(self.document["margin"]["upper"])

    @property
    def gap(self) -> float:
        """The relative gap, (upper - lower)/upper rounded up; 0 for the grade ``exact``."""
        return float(self.document["gap"])

    @property
    def grade(self) -> str:
        """``"exact"`` or ``"enclosed"``."""
        return self.document["grade"]

    @property
    def exact(self) -> str | None:
        """The margin as a fraction or in radicals, such as ``"1/9*sqrt(6)"``; None for the grade ``enclosed``."""
        return self.document["margin"]["exact"]


def margin_document(
    table: Operation,
    network: OperationNetwork | ApartNetwork,
    bound: RoundedBound,
    *,
    digits: int = 12,
    root: tuple[Fraction, int] | None = None,
) -> Document:
    """The document that claims the maximum margin of a table between that of a network and a proved bound.

    Args:
        table: whole or partial.
        network: exact, with a positive margin; with x and w normalised apart the document has the version 2.
        bound: multipliers and proof.
        digits: significant digits of the decimals.
        root: (q, m) for the claim that q sqrt(m) is the margin, exactly: see `exact_root`.

    Raises:
        ValueError: for a network in floats, with weights too large for the format, or without a positive margin, and
            for fewer than one digit.
    """
    square = bound.proof.square
    if isinstance(network, ApartNetwork):
        version, listed, least = operation_kernel.APART, network.document(), square
        if root is None:
            raise ValueError("Networks with x and w normalised apart are for exact margins alone.")
    else:
        version, listed = operation_kernel.VERSION, _network(network)
        least = lower_margin(table, network) ** 2 if root is None else square
    lower, upper = root_decimals(least, square, digits)
    return {
        "format": operation_kernel.MARGIN,
        "version": version,
        "table": _table(table),
        "network": listed,
        "multipliers": list(bound.multipliers),
        "proof": bound.proof.document(),
        "margin": {"exact": None if root is None else _root_text(*root), "lower": lower, "upper": upper},
        "gap": gap_decimal(lower, upper) if root is None else "0",
        "grade": "enclosed" if root is None else "exact",
    }


def exact_root(
    table: Operation, network: OperationNetwork | ApartNetwork, bound: RoundedBound
) -> tuple[Fraction, int] | None:
    """(q, m) if the margin of the network and the bound are both exactly q sqrt(m), m squarefree, else None."""
    square = bound.proof.square
    product = square.numerator * square.denominator
    if product.bit_length() > 160:
        return None
    m = 1
    for prime, exponent in fmpz(product).factor():
        m *= int(prime) if exponent % 2 else 1
    q = Fraction(isqrt(product // m), square.denominator)
    try:
        given = operation_kernel.Operation(_table(table))
        if isinstance(network, ApartNetwork):
            listed = operation_kernel.ApartNetwork(network.document(), "network", given)
        else:
            listed = operation_kernel.Network(_network(network), "network", given)
        operation_kernel.check_exact(given, listed, _root_text(q, m), square)
    except (kernel.MalformedError, kernel.ViolatedError):
        return None
    return q, m


def lower_margin(table: Operation, network: OperationNetwork) -> Fraction:
    """The lower bound of the margin of an exact network that documents state: to 400 bits, as the kernel computes it.

    Raises:
        ValueError: for a network in floats, with weights too large for the format, or without a positive margin.
    """
    given = operation_kernel.Operation(_table(table))
    try:
        listed = operation_kernel.Network(_network(network), "network", given)
    except kernel.MalformedError as error:
        raise ValueError(f"The network does not fit the format of certificates: {error}.") from error
    least = operation_kernel.least_margin(given, listed)
    if least <= 0:
        raise ValueError(f"The network has the margin {float(least):.3g}, which is not positive: it proves nothing.")
    return least


# ---- unseen cells


def unseen_right(
    table: Operation,
    cell: Cell,
    label: int,
    epsilon: Fraction,
    network: OperationNetwork,
    parts: Sequence[UnseenPart],
    *,
    digits: int = 12,
) -> Document:
    """The document that claims: networks of at least 1 - epsilon times the maximum margin are right at a cell.

    Args:
        table: in which the cell is not given.
        cell: the unseen one.
        label: the true label there.
        epsilon: between 0 and 1.
        network: exact; `threshold_below` says which margin g is claimed from it.
        parts: one for each other label c in increasing order, for f_label - f_c
            (`lemmata.certificates.operations.rounding`).
        digits: significant digits of the threshold and of the bounds.

    Raises:
        ValueError: for parts that do not prove a positive bound at that threshold, and as `lower_margin`.
    """
    g = threshold_below(table, network, epsilon, digits=digits)
    return _unseen(table, cell, label, epsilon, g, "right", [network]) | {
        "parts": [_part(part, Fraction(g), digits) for part in parts]
    }


def unseen_wrong(
    table: Operation,
    cell: Cell,
    label: int,
    epsilon: Fraction,
    network: OperationNetwork,
    weights: Sequence[int],
    part: UnseenPart,
    *,
    digits: int = 12,
) -> Document:
    """The document that claims: networks of at least 1 - epsilon times the maximum margin are wrong at a cell.

    ``weights`` are C nonnegative integers, 0 for the true label, proportional to the probabilities p of the other
    labels; the part is for sum_c p_c f_c - f_label. Other arguments and errors as `unseen_right`.
    """
    g = threshold_below(table, network, epsilon, digits=digits)
    return _unseen(table, cell, label, epsilon, g, "wrong", [network]) | {
        "weights": [int(weight) for weight in weights],
        "parts": [_part(part, Fraction(g), digits)],
    }


def unseen_both(
    table: Operation,
    cell: Cell,
    label: int,
    epsilon: Fraction,
    right: OperationNetwork,
    wrong: OperationNetwork,
    bound: RoundedBound,
    *,
    digits: int = 12,
) -> Document:
    """The document that claims: of two networks of at least 1 - epsilon times the maximum margin one is wrong.

    ``bound`` proves the upper bound of the maximum margin from which the threshold is computed. Other arguments and
    errors as `unseen_right`.
    """
    square = (1 - epsilon) ** 2 * bound.proof.square
    g = root_decimals(square, square, digits)[1]
    return _unseen(table, cell, label, epsilon, g, "both", [right, wrong]) | {
        "upper": {"multipliers": list(bound.multipliers), "proof": bound.proof.document()}
    }


def threshold_below(table: Operation, network: OperationNetwork, epsilon: Fraction, *, digits: int = 12) -> str:
    """The threshold g of `unseen_right` and `unseen_wrong`: 1 - epsilon times the margin of the network, rounded down.

    Raises:
        ValueError: for an epsilon outside of (0, 1), and as `lower_margin`.
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"Epsilon must be between 0 and 1, not {epsilon}.")
    return _decimals((1 - epsilon) * lower_margin(table, network), digits)[0]


def _unseen(
    table: Operation,
    cell: Cell,
    label: int,
    epsilon: Fraction,
    threshold: str,
    verdict: str,
    networks: list[OperationNetwork],
) -> Document:
    return {
        "format": operation_kernel.UNSEEN,
        "version": operation_kernel.VERSION,
        "table": _table(table),
        "cell": [int(x) for x in cell],
        "label": int(label),
        "epsilon": str(epsilon),
        "threshold": threshold,
        "verdict": verdict,
        "networks": [_network(network) for network in networks],
        "weights": None,
        "parts": [],
        "upper": None,
    }


def _part(part: UnseenPart, threshold: Fraction, digits: int) -> Document:
    """A part with the largest decimal below threshold * sum of multipliers - bound of the proof."""
    gain = threshold * Fraction(sum(part.multipliers), part.denominator)
    bits = 256
    root = Fraction(isqrt((part.proof.square.numerator << (2 * bits)) // part.proof.square.denominator) + 1, 1 << bits)
    if gain <= root:
        raise ValueError(
            f"The multipliers prove nothing at the margin {float(threshold):.6g}: {float(gain):.9g} is not above "
            f"{float(root):.9g}."
        )
    return {
        "multipliers": list(part.multipliers),
        "denominator": part.denominator,
        "proof": part.proof.document(),
        "bound": _decimals(gain - root, digits)[0],
    }


# ---- files


def load(path: str | Path) -> Document:
    """The document in a file, of one of the two formats but not checked; run the kernel on it for that.

    Raises:
        ValueError: for anything that is no JSON object with one of the formats.
        OSError: for an unreadable file.
    """
    with Path(path).open("rb") as file:
        data = file.read(kernel.MAX_BYTES + 1)
    try:
        document = kernel.parse(data)
    except kernel.MalformedError as error:
        raise ValueError(f"{path} is no certificate of an operation: {error}.") from error
    formats = (operation_kernel.MARGIN, operation_kernel.UNSEEN)
    if type(document) is not dict or document.get("format") not in formats:
        raise ValueError(f"{path} is no certificate of an operation: its format is not one of {', '.join(formats)}.")
    return document


# ---- parts of documents


def _table(table: Operation) -> Document:
    name = "".join(c if " " <= c <= "~" else "?" for c in table.name)[: kernel.MAX_DIGITS]
    return {"name": name, "labels": table.label_count, "values": [list(row) for row in table.values]}


def _network(network: OperationNetwork) -> Document:
    """Neurons, and masses as integers without a common factor, rounded to 60 bits where they are longer."""
    if not network.is_exact:
        raise ValueError("A certificate needs a network of integers; this one is in floats.")
    kept = [i for i, mass in enumerate(network.masses) if mass > 0]
    common = lcm(*(network.masses[i].denominator for i in kept))
    masses = [int(network.masses[i] * common) for i in kept]
    if max(masses) > operation_kernel.MAX_INTEGER:
        top = max(masses)
        masses = [max(1, (mass << 60) // top) for mass in masses]
    parts = (network.u, network.v, network.w)
    return {"neurons": [[x for part in parts for x in part[i]] for i in kept], "masses": masses}


def _decimals(number: Fraction, digits: int) -> tuple[str, str]:
    """The closest decimals on both sides of a positive number."""
    return enclosing_decimals(
        lambda places: floor(number * Fraction(10) ** places),
        lambda places: ceil(number * Fraction(10) ** places),
        digits,
    )


def root_decimals(low: Fraction, high: Fraction, digits: int) -> tuple[str, str]:
    """The closest decimals below sqrt(low) and above sqrt(high), with equally many places."""

    def below(places: int) -> int:
        return isqrt(floor(low * Fraction(100) ** places))

    def above(places: int) -> int:
        scaled = ceil(high * Fraction(100) ** places)
        return isqrt(scaled - 1) + 1

    return enclosing_decimals(below, above, digits)


def _root_text(q: Fraction, m: int) -> str:
    return str(q) if m == 1 else f"{q}*sqrt({m})"


def gap_decimal(lower: str, upper: str) -> str:
    """(upper - lower)/upper, rounded up."""
    low, high = Fraction(lower), Fraction(upper)
    return "0" if low == high else _decimals((high - low) / high, GAP_DIGITS)[1]


def line_of(document: Document, check: Callable[[bytes], str] = operation_kernel.check) -> str:
    """The line that a kernel prints for a document, by default that of operations.

    Raises:
        ValueError: when the kernel refuses it.
    """
    try:
        return check(json.dumps(document).encode())
    except (kernel.MalformedError, kernel.ViolatedError) as error:
        raise ValueError(f"The kernel refuses the certificate: {error}.") from error
