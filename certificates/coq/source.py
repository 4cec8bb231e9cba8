"""The Coq file of a certificate: the document as terms, and the theorem that the checkers in Coq make of it.

The kernel of Python decides first (`lemmata.certificates.operation_kernel`); a document that it refuses becomes no
file. What the file claims is checked again by Coq alone: neither the document nor this module is trusted. A mistake
here leads to a file that Coq refuses, or to a theorem about another table, which its statement shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm
from operator import itemgetter, mul
from typing import Any

from lemmata.certificates import operation_kernel
from lemmata.certificates.coq.claims import Claim
from lemmata.certificates.coq.factors import factor_bits
from lemmata.certificates.operations.document import Document, line_of

__all__ = ["CoqFile", "CoqTerms", "coq_file", "coq_terms", "table_term"]

KINDS = {"plane": "Plane", "degree 4": "Degree4", "degree 6": "Degree6"}
ROOT_BITS = (48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 144, 160, 192, 256, 320, 400)
"""Candidates for the scale 2^bits of the roots of a network; the kernel has 400."""

Triples = Iterable[tuple[int, int, int, int]]


@dataclass(frozen=True)
class CoqFile:
    """A file for Coq.

    Attributes:
        text: its lines.
        claim: the theorem that it ends with, and the table.
        words: what the theorem says, in words.
    """

    text: str
    claim: Claim
    words: str


@dataclass(frozen=True)
class CoqTerms:
    """What a file is made of: definitions, the terms that Coq has to compute to be true, by name, and the theorem.

    ``proof`` is a term; ``words`` say what the claim says. ``decided`` is the same document for Decide.v: a constructor
    and its arguments, which are words, integers, fractions, lists, and tuples for the fields of a record.
    """

    table: operation_kernel.Operation
    definitions: tuple[str, ...]
    checks: dict[str, str]
    claim: Claim
    proof: str
    words: str
    decided: tuple[Any, ...]


def coq_file(document: Document) -> CoqFile:
    """The Coq file of a certificate of a table or of a cell that was never seen.

    Raises:
        ValueError: for a document that the kernel refuses, and for one of version 2.
    """
    line_of(document)
    terms = coq_terms(document)
    claim = terms.claim
    lines = [*_head(terms.table, terms.words), *terms.definitions]
    for name, term in terms.checks.items():
        lines += [f"Lemma {name} : {term} = true.", "Proof. vm_cast_no_check (eq_refl true). Qed.", ""]
    lines += [
        "Local Open Scope R_scope.",
        f"Theorem {claim.theorem} :",
        f"  {claim.stated}.",
        f"Proof. exact ({terms.proof}). Qed.",
        "",
        f"Check {claim.theorem}.",
        f"Print Assumptions {claim.theorem}.",
        "",
    ]
    return CoqFile("\n".join(lines), claim, terms.words)


def coq_terms(document: Document) -> CoqTerms:
    """The parts of the file of a document that is well formed, whether or not what it claims is so.

    Raises:
        MalformedError: for a document that is not.
        ValueError: for one of version 2.
    """
    return _margin_terms(document) if document["format"] == operation_kernel.MARGIN else _unseen_terms(document)


# ---- margins


def _margin_terms(document: Document) -> CoqTerms:
    if document["version"] == operation_kernel.APART:
        raise ValueError(
            f"The theory in Coq normalises neurons whole: a document of version {operation_kernel.APART}, with x and w "
            "apart, is checked by operation_kernel.py alone."
        )
    table = operation_kernel.Operation(document["table"])
    network = operation_kernel.Network(document["network"], "network", table)
    margin = document["margin"]
    exact = None if margin["exact"] is None else _exact_side(network, margin["exact"])
    cert, neurons = _upper(document), _neurons(table, network)
    if exact is None:
        low, high = Fraction(margin["lower"]), Fraction(margin["upper"])
        bits = _root_bits(table, network, table.triples, low)
        below = _attains(bits, 0, low)
        above = f"is_below cert {_pair(high)}"
        statement = f"maximum_margin_between T {_real(low)} {_real(high)}"
        rule = "two_sided _ _ _ _ _ _ _ _"
        words = f"the maximum margin is at least {margin['lower']} and at most {margin['upper']}"
        decided = ("Between", _table(table), cert, bits, neurons, low, high)
    else:
        common, q, m = exact
        below = f"attains_root T {m} {common} network_0 {_pair(q)}"
        above = f"is_root cert {m} {_pair(q)}"
        value = f"({_real(q)} * sqrt {m})"
        statement = f"maximum_margin_between T {value} {value}"
        rule = "exact_value _ _ _ _ _ _ _"
        words = f"the maximum margin is exactly {margin['exact']}"
        decided = ("Exactly", _table(table), cert, m, common, neurons, q)
    claim = Claim("maximum_margin", table_term(table.values, table.labels), statement)
    return CoqTerms(
        table,
        (f"{claim.defined}\n", _network(0, neurons), _certificate(cert)),
        {"proved": "check T cert", "attained": below, "compared": above},
        claim,
        f"{rule} proved attained compared",
        words,
        decided,
    )


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
    table: operation_kernel.Operation, network: operation_kernel.Network, triples: Triples, low: Fraction
) -> int:
    """The least candidate of bits with which `differ` in Below.v shows that all differences are at least ``low``.

    The last one where none does; whatever the kernel shows, that one shows as well.
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
    return ROOT_BITS[-1]


# ---- cells that were never seen


def _unseen_terms(document: Document) -> CoqTerms:
    read = operation_kernel.Unseen(document)
    table, threshold = read.table, read.threshold
    if read.verdict == "both":
        return _both_terms(document, read)
    low = threshold / (1 - read.epsilon)
    bits = _root_bits(table, read.networks[0], table.triples, low)
    neurons = _neurons(table, read.networks[0])
    parts_read = [_part(part) for part in document["parts"]]
    if read.verdict == "right":
        name, conclusion, blanks, parts = "every_network_is_right", "right_at", "_ " * 11, "parts"
        defined = f"Definition parts : list cell_part :=\n{_list([_part_term(part) for part in parts_read])}.\n"
        above = (parts_read,)
    else:
        name, conclusion, blanks, parts = (
            "every_network_is_wrong",
            "wrong_at",
            "_ " * 12,
            f"{_integers(read.weights)} a_part",
        )
        defined = f"Definition a_part : cell_part := {_part_term(parts_read[0])}.\n"
        above = (list(read.weights), parts_read[0])
    claim = Claim(
        name,
        table_term(table.values, table.labels),
        f"not_given T {read.a} {read.b} /\\ {_real(threshold)} <= {_real(low)} /\\ "
        f"(exists net, normalized_margin_at_least T {_real(low)} net) /\\ "
        f"(forall net, normalized_margin_at_least T {_real(threshold)} net -> {conclusion} {_place(read)} net)",
    )
    return CoqTerms(
        table,
        (f"{claim.defined}\n", _network(0, neurons), defined),
        {
            "unseen": f"is_not_given T {read.a} {read.b}",
            "proved": f"check_{read.verdict} {_place(read)} ({_quotient(threshold)}) {parts}",
            "attained": _attains(bits, 0, low),
            "enough": f"is_enough {_pair(threshold)} {_pair(low)}",
        },
        claim,
        f"{read.verdict}_and_possible {blanks}unseen proved attained enough",
        f"every network of margin at least {document['threshold']} is {read.verdict} at cell ({read.a}, {read.b}), "
        f"label {read.label}, and there are such networks",
        (read.verdict.title(), _table(table), read.a, read.b, read.label, threshold, *above, bits, neurons, low),
    )


def _both_terms(document: Document, read: operation_kernel.Unseen) -> CoqTerms:
    table, threshold, first, second = read.table, read.threshold, *read.networks
    upper = threshold / (1 - read.epsilon)
    others = [(read.a, read.b, read.label, c) for c in read.others]
    rights = [low for low, _ in operation_kernel.enclosures(table, first, others)]
    c, wrong = min(
        zip(read.others, (high for _, high in operation_kernel.enclosures(table, second, others)), strict=True),
        key=itemgetter(1),
    )
    p1, p2 = (_simple_below(value) for value in (min(rights), -wrong))
    bits = [_root_bits(table, network, table.triples, threshold) for network in read.networks]
    neurons = [_neurons(table, network) for network in read.networks]
    cert = _upper(document["upper"])
    right_bits = _root_bits(table, first, others, p1)
    wrong_bits = _root_bits(table, second, [(read.a, read.b, c, read.label)], p2)
    cell = f"{read.a}, {read.b}"
    exists = f"exists net, normalized_margin_at_least T {_real(threshold)} net"
    claim = Claim(
        "both_occur",
        table_term(table.values, table.labels),
        f"not_given T {read.a} {read.b} /\\ "
        f"(forall net g, normalized_margin_at_least T g net -> g <= {_real(upper)}) /\\ "
        f"({exists} /\\ right_at {_place(read)} net) /\\ ({exists} /\\ wrong_at {_place(read)} net)",
    )
    return CoqTerms(
        table,
        (f"{claim.defined}\n", *(_network(i, some) for i, some in enumerate(neurons)), _certificate(cert)),
        {
            "unseen": f"is_not_given T {read.a} {read.b}",
            "proved": "check T cert",
            "compared": f"is_below cert {_pair(upper)}",
            "attained": _attains(bits[0], 0, threshold),
            "right": f"differ T {right_bits} network_0 [({cell}, others T {read.label})] {_pair(p1)}",
            "attained_too": _attains(bits[1], 1, threshold),
            "wrong": f"differ T {wrong_bits} network_1 [({cell}, [({c}, {read.label})])] {_pair(p2)}",
        },
        claim,
        f"two_verdicts _ _ _ _ {c} {'_ ' * 15}unseen proved compared attained right attained_too wrong (eq_refl true)",
        f"of two networks of margin at least {document['threshold']} one is right at cell ({read.a}, {read.b}), label "
        f"{read.label}, and one is wrong; no margin is above {float(upper):.12g}, rounded",
        (
            *("Both", _table(table), read.a, read.b, read.label, c, cert, upper, threshold),
            *(bits[0], right_bits, neurons[0], p1),
            *(bits[1], wrong_bits, neurons[1], p2),
        ),
    )


def _place(read: operation_kernel.Unseen) -> str:
    return f"T {read.a} {read.b} {read.label}"


def _attains(bits: int, number: int, low: Fraction) -> str:
    return f"attains T {bits} network_{number} {_pair(low)}"


def _simple_below(value: Fraction) -> Fraction:
    """A power of 1/2 that is below a positive number; 1, which will not do, for others."""
    if value <= 0:
        return Fraction(1)
    bits = 1
    while Fraction(1, 1 << bits) > value:
        bits += 1
    return Fraction(1, 1 << bits)


# ---- the fields of records


def _table(table: operation_kernel.Operation) -> tuple[Any, ...]:
    return table.rows, table.columns, table.labels, _cells(table.values)


def _cells(values: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """(a, b, y) where a label is given; -1 stands where none is."""
    return [(a, b, y) for a, row in enumerate(values) for b, y in enumerate(row) if y >= 0]


def _upper(document: Document) -> tuple[Any, ...]:
    """The upper side of a certificate of a table, as in Checker.v."""
    return document["multipliers"], _proof(document["proof"])


def _part(part: dict[str, Any]) -> tuple[Any, ...]:
    return part["multipliers"], part["denominator"], _proof(part["proof"])


def _proof(proof: dict[str, Any]) -> tuple[Any, ...]:
    bits = factor_bits(proof["matrix"]) or 0
    kind, t, t_prime = KINDS[proof["kind"]], Fraction(proof["t"]), Fraction(proof["t_prime"])
    return kind, t, t_prime, proof["denominator"], proof["matrix"], bits


def _neurons(table: operation_kernel.Operation, network: operation_kernel.Network) -> list[tuple[Any, ...]]:
    """Integer neurons as in Below.v: the mass, u, v and w."""
    A, N = table.rows, table.size
    return [
        (mass, list(x[:A]), list(x[A:N]), list(x[N:])) for x, mass in zip(network.neurons, network.masses, strict=True)
    ]


# ---- terms


def table_term(values: Sequence[Sequence[int]], labels: int) -> str:
    """A table of so many labels as a term of Statement.v; -1 stands where a cell is not given."""
    return f"Table {len(values)} {len(values[0])} {labels} [{'; '.join(map(str, _cells(values)))}]"


def _certificate(cert: tuple[Any, ...]) -> str:
    """The definition of the upper side of a certificate of a table."""
    multipliers, proof = cert
    return f"Definition cert : certificate := Certificate {_integers(multipliers)}\n  ({_proof_term(proof)}).\n"


def _proof_term(proof: tuple[Any, ...]) -> str:
    kind, t, t_prime, denominator, rows, bits = proof
    matrix = ";\n".join(f"  [{'; '.join(map(_integer, row))}]" for row in rows)
    return f"Proof {kind} ({_quotient(t)}) ({_quotient(t_prime)}) {denominator} [\n{matrix}]%Z {bits}"


def _part_term(part: tuple[Any, ...]) -> str:
    multipliers, denominator, proof = part
    return f"Part {_integers(multipliers)} {denominator}\n  ({_proof_term(proof)})"


def _network(number: int, neurons: Sequence[tuple[Any, ...]]) -> str:
    """The definition of a list of integer neurons."""
    terms = [f"Build_zneuron {mass} {' '.join(map(_integers, parts))}" for mass, *parts in neurons]
    return f"Definition network_{number} : list zneuron :=\n{_list(terms)}.\n"


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


def _head(table: operation_kernel.Operation, words: str) -> list[str]:
    name = re.sub(r"[^A-Za-z0-9 +*/^=().,:-]", "?", table.name).replace("(*", "( *").replace("*)", "* )")
    rows = "\n".join("      " + " ".join("-" if y < 0 else str(y) for y in row) for row in table.values)
    return [
        f"(* {name}: {words}.",
        "",
        "    The table, rows of labels, - where a cell is not given:",
        "",
        rows,
        "",
        "    Written by `lemmata coq` from a certificate; theory: certificates/coq of Lemmata. *)",
        "",
        "From Coq Require Import Reals ZArith QArith List.",
        "From Lemmata Require Import Statement Checker Sound Unseen Below Value.",
        "Import ListNotations.",
        "Local Open Scope nat_scope.",
        "",
    ]
