"""The maximum margins of families of tables: one small entry each, in parallel and resumable.

A family is a text: ``classes:3x3``, one table of every class up to renaming of rows, columns and labels and swap of the
arguments; ``random:4x4:4:SEED:COUNT``, tables of independent uniform labels with the seeds SEED, SEED + 1, ...;
``operations:7``, the operations of `OPERATIONS` modulo 2, ..., 7; ``large``, the tables of `LARGE`. Every entry was
written after `lemmata.certificates.operation_kernel` had accepted the certificate that it summarises; what was computed
in floating point alone, the bound of degree 4 where degree 6 was needed, is called so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from lemmata.certificates.groups.format import dumps
from lemmata.certificates.operations.certify import AIM, OperationCertificate, certify_operation
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.certificates.operations.rounding import proof_order
from lemmata.numerics.operations.classes import isotopy_classes
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries, operation_symmetries
from lemmata.numerics.runs.definitions import fingerprint
from lemmata.numerics.runs.items import Done, run

__all__ = [
    "FAMILIES",
    "committed_operations",
    "family",
    "operations_document",
    "survey_operations",
    "survey_totals",
    "surveyed_certificate",
]

FORMAT, VERSION = "lemmata/operation-survey", 1
COMMITTED = Path(__file__).parent / "results" / "operations.json"

FAMILIES = (
    "classes:2x2",
    "classes:2x3",
    "classes:3x3",
    "random:4x4:4:1:1000",
    "operations:7",
    "large",
)
"""What the committed survey holds."""

OPERATIONS = ("a+b", "a-b", "a*b", "a/b", "a^2+b^2", "a^2+ab+b^2", "max", "gcd")
"""The operations of a family ``operations:P``, modulo 2, ..., P; max and gcd of the numbers 0, .., n - 1."""

LARGE = (
    *("group:S3", "conj:S3"),
    *(f"op:{operation}:{p}" for p in (11, 13) for operation in ("a+b", "a*b", "a/b", "a^2+b^2", "a^2+ab+b^2")),
    *(f"random:12x12:3:{seed}" for seed in (1, 2, 3)),
)
"""Two tables of S_3; primes above 7; and larger tables of three labels."""

MAX_TABLES = 1_000_000
"""Of one family."""

LARGEST_DEGREE_6 = 700
"""The order of the largest matrix of degree 6 that is tried where a gap is left: about a minute."""

CODE = ("lemmata.numerics", "lemmata.constructions", "lemmata.certificates")


def family(name: str) -> dict[str, dict[str, Any]]:
    """The tables of a family: settings of items by key, each with the rows of labels or the name of a table.

    Raises:
        ValueError: for a text that names no family, a family without tables, and one of too many.
    """
    if match := re.fullmatch(r"classes:(\d{1,4})x(\d{1,4})", name):
        tables = isotopy_classes(int(match[1]), int(match[2]))
        _refuse_count(name, len(tables))
        return {
            f"classes-{match[1]}x{match[2]}-{number}": {"values": [list(row) for row in table.values]}
            for number, table in enumerate(tables)
        }
    if match := re.fullmatch(r"(random:\d+x\d+:\d+):(\d{1,18}):(\d{1,18})", name):
        first, count = int(match[2]), int(match[3])
        _refuse_count(name, count)
        names = [f"{match[1]}:{seed}" for seed in range(first, first + count)]
    elif match := re.fullmatch(r"operations:(\d{1,18})", name):
        _refuse_count(name, max(int(match[1]) - 1, 0) * len(OPERATIONS))
        names = [f"op:{operation}:{n}" for n in range(2, int(match[1]) + 1) for operation in OPERATIONS]
    elif name == "large":
        names = list(LARGE)
    else:
        raise ValueError(
            f"There is no family {name!r}; accepted are classes:3x3, random:4x4:4:SEED:COUNT, operations:7 and large."
        )
    return {_key(text): {"name": text} for text in names}


def _refuse_count(name: str, count: int) -> None:
    if not 1 <= count <= MAX_TABLES:
        raise ValueError(f"The family {name} has {count} tables; from 1 to {MAX_TABLES} are certified.")


def _key(text: str) -> str:
    """A file name for a table: letters and digits of its name, and a hash."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '_', text)}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def survey_item(settings: dict[str, Any]) -> dict[str, Any]:
    """The entry of one table, given by ``values`` or by ``name``.

    ``margin`` holds the decimals of the certificate; ``degree_4`` is present where degree 6 gave the bound, and is then
    what no bound of degree 4 is below, in floating point; ``digest`` the SHA-256 of the certificate.
    """
    if "values" in settings:
        table = Operation.of(settings["values"])
        name = {"values": "/".join("".join(map(str, row)) for row in table.values)}
    else:
        table, name = parse_operation(settings["name"]), {"name": settings["name"]}
    symmetries = operation_symmetries(table)
    certificate = surveyed_certificate(table, symmetries)
    document = certificate.document
    entry = {
        **name,
        "shape": [table.rows, table.columns, table.label_count],
        "symmetries": symmetries.order,
        "kind": certificate.kind,
        "margin": [document["margin"]["lower"], document["margin"]["upper"]],
        "exact": certificate.exact,
        "gap": document["gap"],
        "neurons": len(document["network"]["neurons"]),
        "digest": hashlib.sha256(dumps(document)).hexdigest(),
    }
    if certificate.kind == "degree 6":
        entry["degree_4"] = relaxed_margin(table, kind=4, symmetries=symmetries).dual
    return entry


def surveyed_certificate(
    table: Operation, symmetries: OperationSymmetries, *, apart: bool = True
) -> OperationCertificate:
    """The certificate of a table that a survey keeps: of degree 6 where degree 4 leaves a gap and it is not too large.

    ``apart`` as in `certify_operation`.

    Raises:
        ValueError, OperationProgramError: as `certify_operation`.
    """
    certificate = certify_operation(table, symmetries=symmetries, apart=apart)
    order = proof_order(table.size, table.label_count, 6)
    if certificate.gap > AIM and certificate.kind == "degree 4" and order <= LARGEST_DEGREE_6:
        certificate = min(certificate, certify_operation(table, kind=6, symmetries=symmetries), key=_gap)
    return certificate


def _gap(certificate: OperationCertificate) -> float:
    return certificate.gap


def survey_operations(
    names: Sequence[str],
    folder: Path | None = None,
    executor: Executor | None = None,
    on_done: Callable[[Done], None] | None = None,
    on_start: Callable[[int], None] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """The entries of each family; with a folder they are kept in files, and a second run continues.

    ``on_start`` is told the number of tables, ``on_done`` each one that is done.

    Raises:
        ValueError: for a text that names no family, before anything is run.
        FailedItemsError: at the end, if some tables failed; the others are in their files.
    """
    settings = {name: family(name) for name in names}
    everything = {key: one for items in settings.values() for key, one in items.items()}
    if on_start is not None:
        on_start(len(everything))
    results = run(survey_item, everything, folder, executor, on_done, code=fingerprint(survey_item, CODE))
    return {name: [results[key] for key in items] for name, items in settings.items()}


def survey_totals(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of a family: how many tables are ``exact``, ``closed`` to 10^-6 or ``left``, and the largest gaps.

    ``widest`` is the largest relative gap of a certificate; ``degree_4`` counts the tables of which a certificate of
    degree 6 is below every bound of degree 4, and ``excess`` is the largest share by which that is so.
    """
    gaps = [float(entry["gap"]) for entry in entries]
    excess = [
        entry["degree_4"] / float(entry["margin"][1]) - 1
        for entry in entries
        if "degree_4" in entry and entry["degree_4"] > float(entry["margin"][1]) * (1 + AIM)
    ]
    return {
        "tables": len(entries),
        "exact": sum(entry["exact"] is not None for entry in entries),
        "closed": sum(gap <= AIM for gap in gaps),
        "left": sum(gap > AIM for gap in gaps),
        "widest": max(gaps),
        "degree_4": len(excess),
        "excess": max(excess, default=0.0),
    }


def operations_document(families: dict[str, list[dict[str, Any]]], origin: dict[str, Any]) -> bytes:
    """The file of a survey: a line for each entry."""
    parts = []
    for name, entries in families.items():
        lines = ",\n".join("   " + json.dumps(entry, separators=(",", ":")) for entry in entries)
        parts.append(f"  {json.dumps(name)}: [\n{lines}\n  ]")
    head = json.dumps({"format": FORMAT, "version": VERSION, "origin": origin}, indent=1)[:-2]
    body = ",\n".join(parts)
    return f'{head},\n "families": {{\n{body}\n }}\n}}\n'.encode("ascii")


def committed_operations() -> dict[str, Any]:
    """The survey that comes with this toolkit: ``origin``, how it was made, and ``families``."""
    return json.loads(COMMITTED.read_text(encoding="ascii"))
