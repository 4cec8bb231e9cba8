"""What is committed, proved once more in Coq: certificates of tables up to 6 x 6, and the theorems on cells.

The survey (`lemmata.certificates.operations.survey`) keeps a line and a digest of each certificate. Here each
certificate is made again, written as a file, and proved; several tables share a run of Coq, which spends most of its
time on loading the real numbers. A certificate that Coq does not accept ends its run with an error: nothing is skipped.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from lemmata.certificates.coq.compiler import THEORY, checked_theorem, coqc, modules_of, prove, theory
from lemmata.certificates.coq.source import coq_file
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.operations.survey import committed_operations, surveyed_certificate
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from lemmata.numerics.runs.items import Done, run

__all__ = ["committed_tables", "reproof_document", "reproof_totals", "reprove", "reprove_cells", "whole_theory"]

LARGEST = 6
"""Rows and columns."""
FAMILIES = ("classes:2x2", "classes:2x3", "classes:3x3", "operations:7", "large")
"""Of the survey; random tables are left out."""
BATCH = 20
"""Tables in a run of Coq."""


def committed_tables() -> dict[str, list[dict[str, Any]]]:
    """The entries of the committed survey that are proved again, by family."""
    families = committed_operations()["families"]
    return {name: [entry for entry in families[name] if max(entry["shape"][:2]) <= LARGEST] for name in FAMILIES}


def reprove(
    entries: Sequence[dict[str, Any]],
    folder: Path | None = None,
    executor: Executor | None = None,
    build: Path | None = None,
    on_done: Callable[[Done], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    batch: int = BATCH,
) -> list[dict[str, Any]]:
    """What Coq said about the certificates of these entries of the survey, in their order.

    Each result has the ``name`` of the table or its ``values``, the ``kind`` of the proof, the ``theorem`` as Coq
    prints it, ``same``: whether the certificate has the digest of the survey, ``certify`` and ``coq``: seconds of the
    processor for making the certificate and for the computations in Coq, and ``bytes``: the size of its file.

    Args:
        entries: of the survey (`committed_tables`).
        folder: keeps what is done, a file for each run of Coq, so that a second call continues.
        executor: for the runs; without it they run here, one after the other.
        build: folder of compiled theories.
        on_done: is told each run.
        on_start: is told their number.
        batch: tables in a run.

    Raises:
        ValueError: where Coq is not installed.
        FailedItemsError: at the end, if certificates were not accepted; the others are in their files.
    """
    compiled = theory(modules_of("From Lemmata Require Import Value."), build)
    settings = {}
    for start in range(0, len(entries), batch):
        some = [
            {key: entry[key] for key in ("values", "name", "digest") if key in entry}
            for entry in entries[start:][:batch]
        ]
        mark = hashlib.sha256(json.dumps(some).encode()).hexdigest()[:12]
        settings[f"tables-{mark}"] = {"tables": some, "theory": str(compiled)}
    if on_start is not None:
        on_start(len(settings))
    results = run(_reproved, settings, folder, executor, on_done)
    return [one for key in settings for one in results[key]]


def whole_theory(build: Path | None = None, progress: Callable[[str, float], None] | None = None) -> Path:
    """The folder with all files of the theory compiled: on tables and on groups (`compiler.theory`)."""
    names = " ".join(sorted(path.stem for path in THEORY.glob("*.v")))
    return theory(modules_of(f"From Lemmata Require Import {names}."), build, progress=progress)


def reprove_cells(build: Path | None = None) -> list[dict[str, Any]]:
    """What Coq said about each file of the folder ``cells``: its name, theorem, seconds and bytes.

    The seconds are those of the processor for the whole run, with loading.

    Raises:
        ValueError: where Coq is not installed.
        CoqRefusalError: when Coq does not accept a file, or on other axioms only.
    """
    compiled, results = whole_theory(build), []
    for source in sorted((THEORY / "cells").glob("*.v")):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / source.name
            path.write_bytes(source.read_bytes())
            proof = prove(path, compiled)
        seconds = round(proof.processor_seconds, 3)
        results.append({"file": source.name, "theorem": proof.theorem, "coq": seconds, "bytes": proof.size})
    return results


def _reproved(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of the tables of one run of Coq."""
    texts, results = [], []
    for entry in settings["tables"]:
        begin = time.process_time()
        table = _table(entry)
        document = surveyed_certificate(table, operation_symmetries(table), apart=False).document
        text = coq_file(document).text
        texts.append(text.replace("(eq_refl true). Qed.", "(eq_refl true). Time Qed."))
        results.append(
            {key: entry[key] for key in ("values", "name") if key in entry}
            | {
                "kind": document["proof"]["kind"],
                "same": hashlib.sha256(dumps(document)).hexdigest() == entry["digest"],
                "certify": round(time.process_time() - begin, 3),
                "bytes": len(text.encode("ascii")),
            }
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.v"
        path.write_text("".join(f"Module M{i}.\n{text}End M{i}.\n" for i, text in enumerate(texts)), encoding="ascii")
        printed = coqc(path, Path(settings["theory"]))
    for result, (theorem, seconds) in zip(results, _blocks(printed), strict=True):
        result |= {"theorem": theorem, "coq": seconds}
    return results


def _table(entry: dict[str, Any]) -> Operation:
    """The table of an entry of the survey."""
    if "name" in entry:
        return parse_operation(entry["name"])
    return Operation.of([[int(label) for label in row] for row in entry["values"].split("/")])


def _blocks(printed: str) -> list[tuple[str, float]]:
    """The theorem of each table, and the seconds of the computations before it.

    Raises:
        CoqRefusalError: when a theorem assumes more than the axioms of the real numbers.
    """
    found = []
    for block in re.split(r"(?<=-> f = g\n)(?=Finished)", printed):
        seconds = sum(
            float(number) for number in re.findall(r"^Finished transaction.*\(([\d.]+)u", block, re.MULTILINE)
        )
        statement = block[block.index("maximum_margin") :]
        found.append((checked_theorem(statement)[0], round(seconds, 3)))
    return found


def reproof_totals(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of some results: how many ``tables``, and ``exact`` and ``same`` ones; seconds and bytes, in all and at most."""
    return {
        "tables": len(results),
        "exact": sum("sqrt" in one["theorem"] for one in results),
        "same": sum(one["same"] for one in results),
        "certify": round(sum(one["certify"] for one in results), 1),
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
