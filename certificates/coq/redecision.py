"""What is committed, decided once more by the checker that is extracted to OCaml, beside the kernel in Python.

These are all documents of tables and of unseen cells in the archives of the atlas and of the survey of operations;
those of tables with up to 13 rows are among them, which `lemmata.certificates.coq.reproof` leaves out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from lemmata.certificates import kernel, operation_kernel
from lemmata.certificates.atlas.committed import atlas_document, atlas_rows
from lemmata.certificates.coq.compiler import CoqRefusalError
from lemmata.certificates.coq.extracted import checker_mark, decide
from lemmata.certificates.coq.reproof import ARCHIVES, RANDOM, committed_document, committed_tables
from lemmata.certificates.coq.source import coq_terms
from lemmata.numerics.runs.definitions import fingerprint
from lemmata.numerics.runs.items import Done, run

__all__ = ["committed_keys", "decision_totals", "redecide"]

SECTIONS = ("tables", "operations", "unseen")
"""Of the atlas."""
RANDOM_TABLES = next(name for name, archive in ARCHIVES.items() if archive == RANDOM)
BATCH = 10
CODE = ("lemmata.certificates", "lemmata.numerics")


def committed_keys() -> dict[str, list[str]]:
    """The keys of all documents, by section of the atlas, and of the family of random tables."""
    keys = {section: [row["key"] for row in atlas_rows(section) if row["sha256"]] for section in SECTIONS}
    return {**keys, RANDOM_TABLES: [entry["key"] for entry in committed_tables()[RANDOM_TABLES]]}


def redecide(
    program: Path,
    keys: dict[str, list[str]],
    folder: Path | None = None,
    executor: Executor | None = None,
    on_done: Callable[[Done], None] | None = None,
    on_start: Callable[[int], None] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """What the extracted checker and the kernel said about these documents, which both have to accept.

    Each result has the ``key``, the ``statement``, and ``ocaml`` and ``python``, seconds of the processor.

    Args:
        program: the extracted checker.
        keys: of documents (`committed_keys`).
        folder: keeps what is done, so that a second call continues.
        executor: for batches of documents; without it they run here, one after the other.
        on_done: is told each batch.
        on_start: is told their number.

    Raises:
        FailedItemsError: at the end, if documents were not accepted; the others are in their files.
    """
    mark = checker_mark()
    settings = {
        f"{name.replace(':', '-')}-{start:04d}": {"name": name, "keys": some[start:][:BATCH], "checker": mark}
        for name, some in keys.items()
        for start in range(0, len(some), BATCH)
    }
    if on_start is not None:
        on_start(len(settings))
    results = run(partial(_decided, str(program)), settings, folder, executor, on_done, fingerprint(_decided, CODE))
    return {
        name: [one for key, batch in settings.items() if batch["name"] == name for one in results[key]] for name in keys
    }


def _decided(program: str, batch: dict[str, Any]) -> list[dict[str, Any]]:
    results = []
    for key in batch["keys"]:
        data = _document(batch["name"], key)
        begin = time.process_time()
        operation_kernel.check(data)
        python = time.process_time() - begin
        decision = decide(Path(program), coq_terms(kernel.parse(data)))
        if not decision.accepted:
            raise CoqRefusalError(f"The extracted checker refuses {key}.")
        seconds = {"ocaml": round(decision.processor_seconds, 3), "python": round(python, 3)}
        results.append({"key": key, "statement": decision.statement, **seconds})
    return results


def _document(name: str, key: str) -> bytes:
    """A committed document, which has the digest of its row.

    Raises:
        ValueError: for another one, and where there is none.
    """
    if name == RANDOM_TABLES:
        return committed_document(next(entry for entry in committed_tables()[name] if entry["key"] == key))
    return atlas_document(next(row for row in atlas_rows(name) if row["key"] == key))


def decision_totals(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of some results: how many ``documents``, seconds of both in all, their ``ratio``, the ``slowest`` in OCaml."""
    ocaml, python = (sum(one[word] for one in results) for word in ("ocaml", "python"))
    return {
        "documents": len(results),
        "ocaml": round(ocaml, 1),
        "python": round(python, 1),
        "ratio": round(ocaml / python, 1) if python else None,
        "slowest": max(one["ocaml"] for one in results),
    }
