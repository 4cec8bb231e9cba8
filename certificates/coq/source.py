"""The Coq file of a certificate: the document as terms, and the theorem that the checkers in Coq make of it.

The kernel of Python decides first (`certificates.operation_kernel`); a document that it refuses becomes no file. What
the file claims is checked again by Coq alone: neither the document nor this module is trusted. A mistake here leads to
a file that Coq refuses, or to a theorem about another table, which its statement shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm
from operator import itemgetter, mul
from typing import Any

from certificates import operation_kernel
from certificates.coq.factors import factor_bits
from certificates.tables.document import Document, line_of

__all__ = ["CoqFile", "certificate_term", "coq_file", "table_term"]

KINDS = {"plane": "Plane", "degree 4": "Degree4", "degree 6": "Degree6"}
ROOT_BITS = (48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 144, 160, 192, 256, 320, 400)
"""Candidates for the scale 2^bits of the roots of a network; the kernel has 400."""

Triples = Iterable[tuple[int, int, int, int]]


@dataclass(frozen=True)
class CoqFile:
    """A file for Coq.

    Attributes:
        text: its lines.
        theorem: the name of the theorem that it ends with.
        claim: what the theorem says, in words.
    """

    text: str
    theorem: str
    claim: str


def coq_file(document: Document) -> CoqFile:
    """The Coq file of a certificate of a table or of a cell that was never seen.

    Raises:
        ValueError: for a document that the kernel refuses, and for a proof that the checker in Coq would not accept: a
            matrix that is too close to singular for it, or an enclosure that needs more than 400 bits.
    """
    line_of(document)
    return _margin_file(document) if document["format"] == operation_kernel.MARGIN else _unseen_file(document)


# ---- margins


def _margin_file(document: Document) -> CoqFile:
    table = operation_kernel.Table(document["table"])
    network = operation_kernel.Network(document["network"], "network", table)
    margin = document["margin"]
    exact = None if margin["exact"] is None else _exact_side(network, margin["exact"])
    if exact is None:
        low, high = Fraction(margin["lower"]), Fraction(margin["upper"])
        below = _attains(table, network, 0, low)
        above = f"is_below cert {_pair(high)}"
        statement = f"maximum_margin_between T {_real(low)} {_real(high)}"
        rule = "two_sided _ _ _ _ _ _ _ _"
        claim = f"the maximum margin is at least {margin['lower']} and at most {margin['upper']}"
    else:
        common, q, m = exact
        below = f"attains_root T {m} {common} {_network_name(0)} {_pair(q)}"
        above = f"is_root cert {m} {_pair(q)}"
        value = f"({_real(q)} * sqrt {m})"
        statement = f"maximum_margin_between T {value} {value}"
        rule = "exact_value _ _ _ _ _ _ _"
        claim = f"the maximum margin is exactly {margin['exact']}"
    lines = [
        *_head(table, claim, "Sound Below Value"),
        *_network(0, table, network),
        f"Definition cert : certificate := {certificate_term(document)}.",
        "",
        *_computed("proved", "check T cert"),
        *_computed("attained", below),
        *_computed("compared", above),
        *_theorem("maximum_margin", statement, f"{rule} proved attained compared"),
    ]
    return CoqFile("\n".join(lines), "maximum_margin", claim)


def _exact_side(network: operation_kernel.Network, text: str) -> tuple[int, Fraction, int] | None:
    """(common, q, m) of `attains_root`, or None where the squared lengths are not m times squares."""
    coefficient, _, root = text.partition("*sqrt(")
    q, m = Fraction(coefficient), int(root[:-1] or 1)
    lengths = {sum(map(mul, neuron, neuron)) for neuron in network.neurons}
    roots = {length: isqrt(length // m) for length in lengths}
    if any(m * root * root != length for length, root in roots.items()):
        return None
    return lcm(*(m * m * root**3 for root in roots.values())), q, m


def _root_bits(
    table: operation_kernel.Table, network: operation_kernel.Network, triples: Triples, low: Fraction
) -> int:
    """The least candidate of bits with which `differ` in Below.v shows that all differences are at least ``low``.

    Raises:
        ValueError: when none does.
    """
    squares = [sum(map(mul, neuron, neuron)) for neuron in network.neurons]
    compared = list(triples)
    differences = [
        [(x[a] + x[table.rows + b]) ** 2 * (x[table.size + y] - x[table.size + c]) for x in network.neurons]
        for a, b, y, c in compared
    ]
    total = sum(network.masses)
    for bits in ROOT_BITS:
        roots = [isqrt((mass << bits) ** 2 // square**3) for mass, square in zip(network.masses, squares, strict=True)]
        claim = (low * total) * (1 << bits)
        if all(sum(map(mul, line, roots)) + sum(d for d in line if d < 0) >= claim for line in differences):
            return bits
    raise ValueError("The margin of the network is too close to its decimal for 400 bits.")


# ---- cells that were never seen


def _unseen_file(document: Document) -> CoqFile:
    read = operation_kernel.Unseen(document)
    table, threshold = read.table, read.threshold
    if read.verdict == "both":
        return _both_file(document, read)
    low = threshold / (1 - read.epsilon)
    claim = (
        f"every network of margin at least {document['threshold']} is {read.verdict} at cell ({read.a}, {read.b}), "
        f"label {read.label}, and there are such networks"
    )
    if read.verdict == "right":
        name, conclusion, blanks = "always_right", "right_at", "_ " * 11
        parts = "parts"
        terms = [f"Definition parts : list part :=\n{_list([_part(part) for part in document['parts']])}."]
    else:
        name, conclusion, blanks = "always_wrong", "wrong_at", "_ " * 12
        parts = f"{_integers(read.weights)} a_part"
        terms = [f"Definition a_part : part := {_part(document['parts'][0])}."]
    statement = (
        f"not_given T {read.a} {read.b} /\\\n"
        f"  (exists net, normalized_margin_at_least T {_real(low)} net) /\\\n"
        f"  (forall net, normalized_margin_at_least T {_real(threshold)} net -> {conclusion} {_place(read)} net)"
    )
    lines = [
        *_head(table, claim, "Sound Unseen Below Value"),
        *_network(0, table, read.networks[0]),
        *terms,
        "",
        *_computed("unseen", f"is_not_given T {read.a} {read.b}"),
        *_computed("proved", f"check_{read.verdict} {_place(read)} ({_quotient(threshold)}) {parts}"),
        *_computed("attained", _attains(table, read.networks[0], 0, low)),
        *_theorem(name, statement, f"{read.verdict}_and_possible {blanks}unseen proved attained"),
    ]
    return CoqFile("\n".join(lines), name, claim)


def _both_file(document: Document, read: operation_kernel.Unseen) -> CoqFile:
    table, threshold, first, second = read.table, read.threshold, *read.networks
    upper = threshold / (1 - read.epsilon)
    others = [(read.a, read.b, read.label, c) for c in read.others]
    rights = [low for low, _ in operation_kernel.enclosures(table, first, others)]
    c, wrong = min(
        zip(read.others, (high for _, high in operation_kernel.enclosures(table, second, others)), strict=True),
        key=itemgetter(1),
    )
    p1, p2 = (_simple_below(value) for value in (min(rights), -wrong))
    right_bits = _root_bits(table, first, others, p1)
    wrong_bits = _root_bits(table, second, [(read.a, read.b, c, read.label)], p2)
    claim = (
        f"of two networks of margin at least {document['threshold']} one is right at cell ({read.a}, {read.b}), label "
        f"{read.label}, and one is wrong; no margin is above {float(upper):.12g}, rounded"
    )
    cell = f"{read.a}, {read.b}"
    statement = (
        f"not_given T {read.a} {read.b} /\\\n"
        f"  (forall net g, normalized_margin_at_least T g net -> g <= {_real(upper)}) /\\\n"
        f"  (exists net, normalized_margin_at_least T {_real(threshold)} net /\\ right_at {_place(read)} net) /\\\n"
        f"  (exists net, normalized_margin_at_least T {_real(threshold)} net /\\ wrong_at {_place(read)} net)"
    )
    pairs = f"[({cell}, [({c}, {read.label})])]"
    lines = [
        *_head(table, claim, "Sound Unseen Below Value"),
        *_network(0, table, first),
        *_network(1, table, second),
        f"Definition cert : certificate := {certificate_term(document['upper'])}.",
        "",
        *_computed("unseen", f"is_not_given T {read.a} {read.b}"),
        *_computed("proved", "check T cert"),
        *_computed("compared", f"is_below cert {_pair(upper)}"),
        *_computed("attained", _attains(table, first, 0, threshold)),
        *_computed("right", f"differ T {right_bits} network_0 [({cell}, others T {read.label})] {_pair(p1)}"),
        *_computed("attained_too", _attains(table, second, 1, threshold)),
        *_computed("wrong", f"differ T {wrong_bits} network_1 {pairs} {_pair(p2)}"),
        *_theorem(
            "both_occur",
            statement,
            f"two_verdicts _ _ _ _ {c} {'_ ' * 15}unseen proved compared attained right attained_too wrong "
            "(eq_refl true)",
        ),
    ]
    return CoqFile("\n".join(lines), "both_occur", claim)


def _place(read: operation_kernel.Unseen) -> str:
    return f"T {read.a} {read.b} {read.label}"


def _attains(table: operation_kernel.Table, network: operation_kernel.Network, number: int, low: Fraction) -> str:
    return f"attains T {_root_bits(table, network, table.triples, low)} {_network_name(number)} {_pair(low)}"


def _simple_below(value: Fraction) -> Fraction:
    """A power of 1/2 that is below a positive number."""
    bits = 1
    while Fraction(1, 1 << bits) > value:
        bits += 1
    return Fraction(1, 1 << bits)


# ---- terms


def table_term(table: operation_kernel.Table) -> str:
    """A table as a term of Statement.v."""
    cells = [f"({a}, {b}, {y})" for a, row in enumerate(table.values) for b, y in enumerate(row) if y >= 0]
    return f"Table {table.rows} {table.columns} {table.labels}\n{_list(cells)}"


def certificate_term(document: Document) -> str:
    """The upper side of a certificate of a table as a term of Checker.v.

    Raises:
        ValueError: for a matrix that is too close to singular for the checker in Coq.
    """
    return f"Certificate\n{_integers(document['multipliers'])}\n  ({_proof(document['proof'])})"


def _proof(proof: dict[str, Any]) -> str:
    bits = factor_bits(proof["matrix"])
    if bits is None:
        raise ValueError("The matrix of the proof is too close to singular for the checker in Coq; give it more bits.")
    t, t_prime = Fraction(proof["t"]), Fraction(proof["t_prime"])
    matrix = ";\n".join(f"  [{'; '.join(map(_integer, row))}]" for row in proof["matrix"])
    head = f"Proof {KINDS[proof['kind']]} ({_quotient(t)}) ({_quotient(t_prime)}) {proof['denominator']}"
    return f"{head} [\n{matrix}]%Z {bits}"


def _part(part: dict[str, Any]) -> str:
    return f"Part {_integers(part['multipliers'])} {part['denominator']}\n  ({_proof(part['proof'])})"


def _network(number: int, table: operation_kernel.Table, network: operation_kernel.Network) -> list[str]:
    """The definition of a list of integer neurons as in Below.v."""
    A, N = table.rows, table.size
    neurons = [
        f"Build_zneuron {mass} {_integers(x[:A])} {_integers(x[A:N])} {_integers(x[N:])}"
        for x, mass in zip(network.neurons, network.masses, strict=True)
    ]
    return [f"Definition {_network_name(number)} : list zneuron := {_list(neurons)}.", ""]


def _network_name(number: int) -> str:
    return f"network_{number}"


def _integer(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def _integers(values: Iterable[int]) -> str:
    return f"[{'; '.join(map(_integer, values))}]%Z"


def _list(terms: Sequence[str]) -> str:
    """A list in lines of at most 110 columns, where its terms are not longer themselves."""
    lines, line = [], ""
    for term in terms:
        if line and len(line) + len(term) > 108:
            lines.append(line)
            line = ""
        line = f"{line}; {term}" if line else term
    return "  [" + ";\n   ".join([*lines, line]) + "]"


def _quotient(value: Fraction) -> str:
    return f"{value.numerator} # {value.denominator}"


def _pair(value: Fraction) -> str:
    return f"{_integer(value.numerator)} {value.denominator}"


def _real(value: Fraction) -> str:
    return f"({value.numerator} / {value.denominator})"


def _computed(name: str, term: str) -> list[str]:
    """A lemma that Coq proves by computing, once: when the lemma is closed."""
    return [f"Lemma {name} : {term} = true.", "Proof. vm_cast_no_check (eq_refl true). Qed.", ""]


def _theorem(name: str, statement: str, term: str) -> list[str]:
    return [
        "Local Open Scope R_scope.",
        f"Theorem {name} :",
        f"  {statement}.",
        f"Proof. exact ({term}). Qed.",
        "",
        f"Check {name}.",
        f"Print Assumptions {name}.",
        "",
    ]


def _head(table: operation_kernel.Table, claim: str, modules: str) -> list[str]:
    name = table.name.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
    rows = "\n".join("      " + " ".join("-" if y < 0 else str(y) for y in row) for row in table.values)
    return [
        f"(** {name}: {claim}.",
        "",
        "    The table, rows of labels, - where a cell is not given:",
        "",
        rows,
        "",
        "    Written by `lemmata coq` from a certificate; theory: certificates/coq of Lemmata. *)",
        "",
        "From Coq Require Import Reals ZArith QArith List.",
        f"From Lemmata Require Import Statement Checker {modules}.",
        "Import ListNotations.",
        "Local Open Scope nat_scope.",
        "",
        f"Definition T : table := {table_term(table)}.",
        "",
    ]
