"""The making of the atlas: every document found or computed, checked by its kernel, and summarised in a table.

A document is kept, from the folder of an earlier run or from the committed archives, if its kernel accepts it and it is
about its row; anything else is computed again. So a run that was killed continues where it was, and a run on a fresh
folder checks what is committed and computes what is missing. A row that can have no document gets the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.certificates import kernel
from lemmata.certificates.atlas.archive import SUFFIX, packed, unpacked
from lemmata.certificates.atlas.catalogue import SECTIONS, Work, works
from lemmata.certificates.atlas.committed import FORMAT, RESULTS, TABLE, VERSION, Row, committed_atlas
from lemmata.certificates.atlas.documents import check_seconds, computed, is_about, row_of
from lemmata.certificates.atlas.machines import machine_row
from lemmata.numerics.runs.executors import completed
from lemmata.numerics.runs.files import write_atomically

__all__ = ["Settled", "atlas_bytes", "build_atlas", "settled", "write_atlas"]

FIELDS_WITHOUT_DOCUMENT: Row = {"margin": [None, None], "exact": None, "gap": None, "grade": None}


@dataclass(frozen=True)
class Settled:
    """What became of the rows of a work: ``rows`` in their order, new documents by key, how many were ``kept``."""

    rows: tuple[Row, ...]
    documents: dict[str, bytes]
    kept: int


def settled(work: Work, found: Mapping[str, bytes], known: Mapping[str, bytes], earlier: Mapping[str, Row]) -> Settled:
    """The rows of a work, with documents that are kept or computed; for a worker.

    Args:
        work: the rows.
        found: documents by key that may be kept.
        known: documents that are about their rows, to take generators from without GAP.
        earlier: rows of the committed table by key.

    Raises:
        kernel.MalformedError, kernel.ViolatedError: if a kernel refuses a document that was computed.
    """
    if work.items[0].section == "machines":
        return Settled(tuple(machine_row(item) for item in work.items), {}, 0)
    seconds: dict[str, float] = {}
    documents: dict[str, bytes] = {}
    for item in work.items:
        if (data := found.get(item.key)) is not None:
            try:
                seconds[item.key] = check_seconds(item.section, data)
            except (kernel.MalformedError, kernel.ViolatedError):
                continue
            if is_about(item, data, known):
                documents[item.key] = data
    kept = len(documents)
    new: dict[str, bytes] = {}
    if kept < len(work.items):
        try:
            new = computed(work, known)
        except ValueError as error:  # a refusal; what else may happen is a fault
            rows = tuple(_row_without(item.key, item.name, str(error)) for item in work.items)
            return Settled(rows, {}, 0)
        documents, kept = new, 0
        seconds = {item.key: check_seconds(item.section, new[item.key]) for item in work.items}
    rows = tuple(row_of(item, documents[item.key], seconds[item.key], earlier.get(item.key)) for item in work.items)
    return Settled(rows, new, kept)


def build_atlas(
    folder: Path,
    executor: Executor,
    *,
    sections: Sequence[str] = tuple(SECTIONS),
    anew: bool = False,
    on_start: Callable[[int], None] = lambda _: None,
    on_done: Callable[[str, Settled], None] = lambda *_: None,
) -> tuple[dict[str, list[Row]], dict[str, Exception]]:
    """The rows of sections, and what failed, by key; documents go to ``folder``/documents/SECTION as they come.

    Args:
        folder: made if missing.
        executor: runs the works; it is not shut down.
        sections: names of `SECTIONS`.
        anew: compute every document, keeping those of the folder alone.
        on_start: told the number of rows.
        on_done: told the section and every work that is settled.

    Raises:
        ValueError: for an unknown section.
        ExecutorLostError: at once, if the executor lost its scheduler; new documents are in the folder.
    """
    if unknown := [name for name in sections if name not in SECTIONS]:
        raise ValueError(f"There is no section {unknown[0]!r}: the atlas has {', '.join(SECTIONS)}.")
    todo = [work for work in works() if work.items[0].section in sections]
    on_start(sum(len(work.items) for work in todo))
    known = {name: unpacked(RESULTS / f"{name}{SUFFIX}") for name in sections}
    earlier = committed_rows()
    for name in sections:
        (folder / "documents" / name).mkdir(parents=True, exist_ok=True)
    pending = {}
    for work in todo:
        section = work.items[0].section
        keys = [item.key for item in work.items]
        committed = {key: known[section][key] for key in keys if key in known[section]}
        found = ({} if anew else committed) | _read(folder / "documents" / section, keys)
        rows = {key: earlier[key] for key in keys if key in earlier}
        pending[executor.submit(settled, work, found, committed, rows)] = work
    rows_by_key: dict[str, Row] = {}
    errors: dict[str, Exception] = {}
    try:
        for future in completed(pending):
            work = pending.pop(future)
            section = work.items[0].section
            try:
                outcome = future.result()
                for key, data in outcome.documents.items():
                    write_atomically(data, folder / "documents" / section / f"{key}.json")
            except Exception as error:  # whatever happens in a worker belongs to its rows
                errors[work.key] = error
                continue
            rows_by_key |= {row["key"]: row for row in outcome.rows}
            on_done(section, outcome)
    finally:
        for future in pending:
            future.cancel()
    table = {
        name: [
            rows_by_key[item.key]
            for work in todo
            for item in work.items
            if item.section == name and item.key in rows_by_key
        ]
        for name in sections
    }
    return table, errors


def write_atlas(folder: Path, table: Mapping[str, Sequence[Row]], origin: Mapping[str, Any]) -> None:
    """The writing of the table and of an archive for each section to a folder, from the documents in it.

    Documents that were kept from the committed archives are taken from there, and an archive that nothing is new in is
    the committed one, whatever the version of the compressor.
    """
    for name, rows in table.items():
        archive = RESULTS / f"{name}{SUFFIX}"
        committed = unpacked(archive)
        keys = [row["key"] for row in rows if row["sha256"] is not None]
        found = committed | _read(folder / "documents" / name, keys)
        documents = {key: found[key] for key in keys}
        if keys:
            same = list(documents.items()) == list(committed.items())
            write_atomically(archive.read_bytes() if same else packed(documents), folder / archive.name)
    write_atomically(atlas_bytes(table, origin), folder / TABLE)


def atlas_bytes(table: Mapping[str, Sequence[Row]], origin: Mapping[str, Any]) -> bytes:
    """The file of the table: a line for each row."""
    parts = []
    for name, rows in table.items():
        section = SECTIONS[name]
        head = {
            "title": section.title,
            "what": section.what,
            "format": section.format,
            "statements": section.statements,
            "theory": section.theory,
        }
        lines = ",\n".join("   " + json.dumps(row, separators=(",", ":")) for row in rows)
        parts.append(f'  {json.dumps(name)}: {json.dumps(head)[:-1]}, "rows": [\n{lines}\n  ]}}')
    top = json.dumps({"format": FORMAT, "version": VERSION, "origin": origin}, indent=1)[:-2]
    body = ",\n".join(parts)
    return f'{top},\n "sections": {{\n{body}\n }}\n}}\n'.encode("ascii")


def committed_rows() -> dict[str, Row]:
    """The rows of the committed table by key; none where there is no table yet."""
    if not (RESULTS / TABLE).is_file():
        return {}
    return {row["key"]: row for section in committed_atlas()["sections"].values() for row in section["rows"]}


def _row_without(key: str, name: str, reason: str) -> Row:
    """The row of what has no document."""
    blank = {"bytes": None, "sha256": None, "seconds": None}
    return {"key": key, "name": name, **FIELDS_WITHOUT_DOCUMENT, **blank, "reason": reason}


def _read(folder: Path, keys: Iterable[str]) -> dict[str, bytes]:
    """The files of documents that are there, of those keys; a file beyond the limit of the kernels is none."""
    documents = {}
    for key in keys:
        path = folder / f"{key}.json"
        if path.is_file() and path.stat().st_size <= kernel.MAX_BYTES:
            documents[key] = path.read_bytes()
    return documents
