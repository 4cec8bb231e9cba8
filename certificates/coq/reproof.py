"""What is committed, proved once more in Coq: certificates of the survey of operations, and the theorems on cells.

The survey (`lemmata.certificates.operations.survey`) keeps a line and a digest of each certificate. Here the
certificate itself is read from a committed archive, so that nothing depends on a solver or a processor; it has to have
the digest of the survey. It is written as a file and proved; several tables share a run of Coq, which spends most of
its time on loading the real numbers. What is proved has to lie within the committed interval. A certificate of which
this is not so ends its run with an error: nothing is skipped.

Left out are eleven tables whose matrices are large, ten modulo 11 and 13 and op:a^2+b^2:7, which are for the extracted
checker (`lemmata.certificates.coq.redecision`), and of the random tables those that took a bound of degree 6: they have
no committed document, as README.md of this folder explains.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

from lemmata.certificates import kernel
from lemmata.certificates.atlas.archive import SUFFIX, unpacked
from lemmata.certificates.atlas.committed import RESULTS
from lemmata.certificates.coq.claims import Claim
from lemmata.certificates.coq.compiler import (
    THEORY,
    CoqRefusalError,
    modules_of,
    prove,
    prove_claims,
    theory,
    theory_mark,
)
from lemmata.certificates.coq.source import coq_file, table_term
from lemmata.certificates.operations import survey
from lemmata.certificates.operations.rounding import KINDS, proof_order
from lemmata.certificates.operations.survey import committed_operations, family
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.runs.definitions import fingerprint
from lemmata.numerics.runs.items import Done, run

__all__ = [
    "ARCHIVES",
    "RANDOM",
    "committed_document",
    "committed_tables",
    "reproof_document",
    "reproof_totals",
    "reprove",
    "reprove_cells",
    "whole_theory",
]

LARGEST = 160
"""The order of a matrix; beyond, Coq needs minutes and gigabytes."""
RANDOM = survey.COMMITTED.parent / f"random{SUFFIX}"
ARCHIVES = {
    "classes:2x2": RESULTS / f"tables{SUFFIX}",
    "classes:2x3": RESULTS / f"tables{SUFFIX}",
    "classes:3x3": RESULTS / f"tables{SUFFIX}",
    "random:4x4:4:1:1000": RANDOM,
    "operations:7": RESULTS / f"operations{SUFFIX}",
    "large": RESULTS / f"operations{SUFFIX}",
}
"""Of the documents of each family of the survey."""
BATCH = 20
"""Tables in a run of Coq."""
MODULES = modules_of("From Lemmata Require Import Value.")
CODE = ("lemmata.certificates", "lemmata.numerics")


def committed_tables() -> dict[str, list[dict[str, Any]]]:
    """The entries of the committed survey that are proved again, by family, each with its ``family`` and ``key``."""
    families = committed_operations()["families"]
    return {
        name: [
            {"family": name, "key": key, **entry}
            for key, entry in zip(family(name), families[name], strict=True)
            if _order(entry) <= LARGEST and not (ARCHIVES[name] == RANDOM and entry["kind"] == "degree 6")
        ]
        for name in ARCHIVES
    }


def _order(entry: dict[str, Any]) -> int:
    """Of the matrix of a proof."""
    rows, columns, labels = entry["shape"]
    return proof_order(rows + columns, labels, next(kind for kind, name in KINDS.items() if name == entry["kind"]))


def reprove(
    entries: Sequence[dict[str, Any]],
    compiled: Path,
    folder: Path | None = None,
    executor: Executor | None = None,
    on_done: Callable[[Done], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    batch: int = BATCH,
) -> list[dict[str, Any]]:
    """What Coq said about the certificates of these entries of the survey, in their order.

    Each result has the ``name`` of the table or its ``values``, the ``kind`` of the proof, the ``table`` and the
    ``theorem`` as Statement.v has them, ``coq``: seconds of the processor for the computations, and ``bytes``: the
    size of the file. Results that are kept in the folder are those of this code and this theory; they are compared with
    the survey like new ones, but what Coq said of them is believed.

    Args:
        entries: of the survey (`committed_tables`).
        compiled: the folder of the theory (`whole_theory`).
        folder: keeps what is done, a file for each run of Coq, so that a second call continues.
        executor: for the runs; without it they run here, one after the other.
        on_done: is told each run.
        on_start: is told their number.
        batch: tables in a run.

    Raises:
        ValueError: where Coq is not installed.
        FailedItemsError: at the end, if certificates were not accepted; the others are in their files.
        CoqRefusalError: for a kept result about another table than its entry, or with bounds beyond those of it.
    """
    settings = {}
    for start in range(0, len(entries), batch):
        some = [{key: entry[key] for key in ("family", "key", "digest")} for entry in entries[start:][:batch]]
        mark = hashlib.sha256(json.dumps(some).encode()).hexdigest()[:12]
        settings[f"tables-{mark}"] = {"tables": some, "theory": theory_mark(MODULES)}
    if on_start is not None:
        on_start(len(settings))
    code = fingerprint(_reproved, CODE)
    results = run(partial(_reproved, str(compiled)), settings, folder, executor, on_done, code)
    proved = [one for key in settings for one in results[key]]
    for entry, one in zip(entries, proved, strict=True):
        _refuse_other_claims(entry, _claim(one))
    return [
        {key: entry[key] for key in ("values", "name") if key in entry} | one
        for entry, one in zip(entries, proved, strict=True)
    ]


def whole_theory(build: Path, progress: Callable[[str, float], None] | None = None) -> Path:
    """The folder with all files of the theory, on tables and on groups, compiled anew."""
    names = " ".join(sorted(path.stem for path in THEORY.glob("*.v")))
    return theory(modules_of(f"From Lemmata Require Import {names}."), build, progress=progress, anew=True)


def reprove_cells(compiled: Path) -> list[dict[str, Any]]:
    """What Coq said about each file of the folder ``cells``: its name, theorem, seconds and bytes.

    The seconds are those of the processor for the whole run, with loading.

    Raises:
        ValueError: where Coq is not installed.
        CoqRefusalError: when Coq does not accept a file, or on other axioms only.
    """
    results = []
    for source in sorted((THEORY / "cells").glob("*.v")):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / source.name
            path.write_bytes(source.read_bytes())
            proof = prove(path, compiled)
        seconds = round(proof.processor_seconds, 3)
        results.append({"file": source.name, "theorem": proof.theorem, "coq": seconds, "bytes": proof.size})
    return results


def _reproved(compiled: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of the tables of one run of Coq."""
    texts, claims, results = [], [], []
    for entry in settings["tables"]:
        document = kernel.parse(committed_document(entry))
        made = coq_file(document)
        text = made.text.partition(f"\nCheck {made.claim.theorem}.")[0]
        texts.append(text.replace("(eq_refl true). Qed.", "(eq_refl true). Time Qed."))
        claims.append(made.claim)
        results.append(
            {
                "kind": document["proof"]["kind"],
                "table": made.claim.table,
                "theorem": made.claim.statement,
                "bytes": len(made.text),
            }
        )
    modules = "".join(f"Module M{i}.\n{text}\nEnd M{i}.\n" for i, text in enumerate(texts))
    if len(texts) == 1:
        modules = texts[0]
    printed = prove_claims(modules, claims, Path(compiled)).printed
    spent = iter(re.findall(r"^Finished transaction.*\(([\d.]+)u", printed, re.MULTILINE))
    for result, text in zip(results, texts, strict=True):
        result["coq"] = round(sum(float(next(spent)) for _ in range(text.count("Time Qed."))), 3)
    return results


def committed_document(entry: dict[str, Any]) -> bytes:
    """The committed document of an entry of the survey.

    Raises:
        ValueError: where there is none, or one with another digest.
    """
    data = _documents(ARCHIVES[entry["family"]]).get(entry["key"])
    if data is None or hashlib.sha256(data).hexdigest() != entry["digest"]:
        raise ValueError(f"The committed archive has no document of {entry['key']} with the digest of the survey.")
    return data


@cache
def _documents(archive: Path) -> dict[str, bytes]:
    return unpacked(archive)


def _refuse_other_claims(entry: dict[str, Any], claim: Claim) -> None:
    """Compare what is proved with an entry of the survey: the table is the same, the interval not larger.

    Raises:
        CoqRefusalError: where it is not so.
    """
    name = entry.get("name", entry.get("values"))
    table = _table(entry)
    if claim.table != table_term(table.values, table.label_count):
        raise CoqRefusalError(f"What is proved for {name} is about another table.")
    low, high = map(Fraction, entry["margin"])
    lower, upper = claim.squares()
    if not (low**2 <= lower <= upper <= high**2):
        raise CoqRefusalError(
            f"What is proved for {name} does not lie within the committed interval {low} to {high}: {claim.statement}"
        )


def _claim(result: dict[str, Any]) -> Claim:
    """What a result says was proved."""
    return Claim("maximum_margin", result["table"], result["theorem"])


def _table(entry: dict[str, Any]) -> Operation:
    """The table of an entry of the survey."""
    if "name" in entry:
        return parse_operation(entry["name"])
    return Operation.of([[int(label) for label in row] for row in entry["values"].split("/")])


def reproof_totals(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of some results: how many ``tables`` and ``exact`` ones; seconds and bytes, in all and at most."""
    return {
        "tables": len(results),
        "exact": sum(len(set(_claim(one).squares())) == 1 for one in results),
        "coq": round(sum(one["coq"] for one in results), 1),
        "slowest": max(one["coq"] for one in results),
        "bytes": sum(one["bytes"] for one in results),
        "largest": max(one["bytes"] for one in results),
    }


def reproof_document(
    families: dict[str, list[dict[str, Any]]], cells: list[dict[str, Any]], origin: dict[str, Any]
) -> bytes:
    """The file of all results: a line for each table, and one for each file of theorems on cells."""
    parts = []
    for name, results in families.items():
        lines = ",\n".join("   " + json.dumps(one, separators=(",", ":")) for one in results)
        parts.append(f"  {json.dumps(name)}: [\n{lines}\n  ]")
    body = ",\n".join(parts)
    on_cells = ",\n".join("  " + json.dumps(one, separators=(",", ":")) for one in cells)
    start = json.dumps({"origin": origin}, indent=1)[:-2]
    return f'{start},\n "families": {{\n{body}\n }},\n "cells": [\n{on_cells}\n ]\n}}\n'.encode("ascii")
