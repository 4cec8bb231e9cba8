"""Edited certificates for both checkers: the kernel in Python, and the programs in Coq that are proved sound.

Coq gets what the kernel has read: a document that is malformed never reaches it. It decides about the table, the
networks, the multipliers, the proofs, and the numbers that bound the margin; not about which decimal is the closest
(`margin.lower`, `margin.upper`, `threshold`, `bound`), nor about `gap`, `grade` and `name`. So the verdict of the
kernel that is compared is that of its parts, without those lines.
"""

import random
import re
from fractions import Fraction
from math import ceil, floor, isqrt
from pathlib import Path
from typing import Any

from lemmata.certificates import operation_kernel
from lemmata.certificates.coq.compiler import coqc
from lemmata.certificates.coq.source import coq_terms
from lemmata.certificates.kernel import ViolatedError

Document = dict[str, Any]


def kernel_accepts(document: Document) -> bool:
    """Whether the kernel finds true what Coq decides about.

    Raises:
        MalformedError: for a document that is malformed.
    """
    try:
        if document["format"] == operation_kernel.MARGIN:
            return _margin_is_proved(document)
        read = operation_kernel.Unseen(document)
        if read.table.values[read.a][read.b] != -1:
            return False
        return _both_are_shown(read) if read.verdict == "both" else _verdict_is_proved(read)
    except ViolatedError:
        return False


def _margin_is_proved(document: Document) -> bool:
    table = operation_kernel.Operation(document["table"])
    network = operation_kernel.Network(document["network"], "network", table)
    proof = operation_kernel.Proof(document["proof"], "proof", table)
    square = operation_kernel.upper_square(
        table, proof, operation_kernel.multipliers(document["multipliers"], "multipliers", table)
    )
    margin = document["margin"]
    low, high = Fraction(margin["lower"]), Fraction(margin["upper"])
    if "attains_root" in coq_terms(document).checks["attained"]:  # else Coq is asked about the decimals alone
        operation_kernel.check_exact(table, network, margin["exact"], square)
        return True
    return operation_kernel.least_margin(table, network) >= low and high >= 0 and square <= high**2


def _verdict_is_proved(read: operation_kernel.Unseen) -> bool:
    if operation_kernel.least_margin(read.table, read.networks[0]) < read.threshold / (1 - read.epsilon):
        return False
    wanted = [[int(k == c) for k in range(read.table.labels)] for c in read.others]
    weights, sign = ([read.weights], 1) if read.verdict == "wrong" else (wanted, -1)
    for part, p in zip(read.parts, weights, strict=True):
        gain = read.threshold * Fraction(sum(part.multipliers), part.denominator)
        part.bound = _closest_bound(gain, Fraction(4, 27) * part.proof.t * part.proof.t_prime)
        operation_kernel.check_part(read, part, p, sign)
    return True


def _closest_bound(gain: Fraction, square: Fraction) -> tuple[int, Fraction]:
    """The decimal of 30 places that `check_part` asks for: the largest at most gain - sqrt(square)."""
    unit = 10**30
    units = floor(gain * unit) - isqrt(ceil(square * unit**2)) - 2
    while (rest := gain * unit - units - 1) >= 0 and rest**2 >= square * unit**2:
        units += 1
    return units, Fraction(1, unit)


def _both_are_shown(read: operation_kernel.Unseen) -> bool:
    table, upper = read.table, read.threshold / (1 - read.epsilon)
    unseen = [(read.a, read.b, read.label, c) for c in read.others]
    right, wrong = (operation_kernel.enclosures(table, network, unseen) for network in read.networks)
    return (
        operation_kernel.upper_square(table, read.proofs[0], read.upper) <= upper**2
        and all(operation_kernel.least_margin(table, network) >= read.threshold for network in read.networks)
        and all(low > 0 for low, _ in right)
        and any(high < 0 for _, high in wrong)
    )


def coq_accepts(documents: list[Document], theory: Path, folder: Path) -> list[bool]:
    """Whether Coq computes all checks of each document to be true; one run for all of them."""
    lines = [
        "From Coq Require Import Reals ZArith QArith List Bool.",
        "From Lemmata Require Import Statement Checker Sound Unseen Below Value.",
        "Import ListNotations.",
        "Local Open Scope nat_scope.",
    ]
    known: dict[str, str] = {}  # lists of numbers by text: most are those of another edit, and are read once

    def known_as(found: re.Match[str]) -> str:
        text = found[0].strip()
        if text not in known:
            known[text] = f"z{len(known)}"
            lines.append(f"Definition {known[text]} := {text.removesuffix('%Z')}%Z.")
        return f" {known[text]}"

    for i, document in enumerate(documents):
        terms = coq_terms(document)
        definitions = [re.sub(r"\[[^][]*\]%Z|\n  \[[^][]*\]", known_as, text) for text in terms.definitions[1:]]
        one_by_one = "".join(f"if {term} then " for term in terms.checks.values()) + "true"
        verdict = f"Definition verdict := {one_by_one}{' else false' * len(terms.checks)}."
        lines += [f"Module M{i}.", terms.definitions[0], *definitions, verdict, f"End M{i}."]
    lines += [f"Eval vm_compute in [{'; '.join(f'M{i}.verdict' for i in range(len(documents)))}]."]
    path = folder / "edits.v"
    path.write_text("\n".join(lines), encoding="ascii")
    return [word == "true" for word in re.findall(r"\b(?:true|false)\b", coqc(path, theory))]


def keep_true(document: Document, source: random.Random) -> None:
    """An edit that leaves everything true: another scale of masses, of a neuron, of a matrix, or of multipliers."""
    kind, k = source.randrange(4), source.randint(2, 9)
    network = document.get("network") or source.choice(document["networks"])
    above = document if "proof" in document else document["upper"] or source.choice(document["parts"])
    if kind == 0:
        network["masses"] = [k * mass for mass in network["masses"]]
    elif kind == 1:
        i = source.randrange(len(network["neurons"]))
        network["neurons"][i] = [k * x for x in network["neurons"][i]]
    elif kind == 2:
        above["proof"]["denominator"] *= k
        above["proof"]["matrix"] = [[k * entry for entry in row] for row in above["proof"]["matrix"]]
    else:
        above["multipliers"] = [k * q for q in above["multipliers"]]
        if "denominator" in above:
            above["denominator"] *= k
