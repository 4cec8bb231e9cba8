"""Certificates of many groups, one file each, in parallel and resumable.

Each group is certified in a worker of a `concurrent.futures.Executor`, which may be on another machine. The process
that sweeps reads and writes the files: what comes back is written atomically, once its own kernel has accepted it. A
file that is there already is sent to the worker, and kept when the kernel accepts it and it is about the named group
(the same generators and the same number of factors); anything else is done again. So a sweep that was killed continues
where it was.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path

from lemmata.certificates import kernel
from lemmata.certificates.game.faces import OptimalFaces, optimal_faces
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.contents import solution_of
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.format import Document, dumps
from lemmata.certificates.groups.report import margin_report
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.runs.executors import completed
from lemmata.numerics.runs.files import write_atomically

__all__ = ["COLUMNS", "Outcome", "file_name", "sweep", "write_summary"]

COLUMNS = (
    "name",
    "order",
    "classes",
    "factors",
    "grade",
    "margin_lower",
    "margin_upper",
    "margin_exact",
    "condition",
    "closed_form",
    "unique_masses",
    "unique_class_weights",
    "file",
)


@dataclass(frozen=True)
class Outcome:
    """What became of a group: its line of the summary, or in ``error`` why there is none; ``kept``: an earlier file."""

    name: str
    row: dict[str, str] = field(default_factory=dict)
    kept: bool = False
    error: str | None = None


def file_name(name: str) -> str:
    """The name of the file of a group: letters, digits, + and -, with _ for anything else."""
    return re.sub(r"[^A-Za-z0-9+-]", "_", name) + ".json"


def sweep(names: Sequence[str], directory: Path, executor: Executor, factors: int = 2) -> Iterator[Outcome]:
    """The outcomes of certifying the named groups into files of ``directory``, as they finish.

    A group that fails does not stop the others.

    Raises:
        ValueError: when two names have the same file.
        ExecutorLostError: if the executor lost its scheduler; what was certified is in its files.
    """
    shared = [name for name, times in Counter(map(file_name, names)).items() if times > 1]
    if shared:
        raise ValueError(f"Several groups would be written to {shared[0]}.")
    pending = {
        executor.submit(certify_named, name, factors, _content(directory / file_name(name))): name for name in names
    }
    for future in completed(pending):
        name = pending.pop(future)
        try:
            yield _written(directory, *future.result())
        except Exception as error:  # whatever happens in a worker belongs to its group
            yield Outcome(name, error=f"{type(error).__name__}: {error}")


def certify_named(name: str, factors: int = 2, content: bytes | None = None) -> tuple[Outcome, bytes | None]:
    """The outcome of certifying a group with the bytes of its file, or none if ``content`` serves: the earlier file."""
    group = parse_group(name)
    document = None if content is None else _valid(content, group, factors)
    if document is not None:
        faces = optimal_faces(solution_of(document)) if document["grade"] == "exact" else None
        return Outcome(name, _row(name, document, faces), kept=True), None
    certificate = certify_group(group, factors)
    document = document_of(certificate)
    return Outcome(name, _row(name, document, certificate.faces)), dumps(document)


def _content(path: Path) -> bytes | None:
    """The bytes of an earlier file, if there is one that a kernel would look at."""
    try:
        return path.read_bytes() if path.stat().st_size <= kernel.MAX_BYTES else None
    except OSError:
        return None


def _written(directory: Path, outcome: Outcome, data: bytes | None) -> Outcome:
    """The same outcome, once the bytes that came with it are in their file, which the kernel has to accept."""
    if data is not None:
        kernel.check(data)
        write_atomically(data, directory / file_name(outcome.name))
    return outcome


def write_summary(names: Sequence[str], outcomes: Sequence[Outcome], path: Path) -> None:
    """The writing of the outcomes to a CSV file, in the order of ``names``; the file is never half written."""
    rows = {outcome.name: outcome.row for outcome in outcomes if outcome.error is None}
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([rows[name][column] for column in COLUMNS] for name in names if name in rows)
    write_atomically(text.getvalue().encode("utf-8"), path)


def _valid(content: bytes, group: PermutationGroup, factors: int) -> Document | None:
    """The document in the bytes of a file, if the kernel accepts it and it is about ``group``; None otherwise."""
    try:
        kernel.check(content)
    except (kernel.MalformedError, kernel.ViolatedError):
        return None
    document = kernel.parse(content)
    same = document["group"]["generators"] == [list(g) for g in group.generators] and document["factors"] == factors
    return document if same else None


def _row(name: str, document: Document, faces: OptimalFaces | None) -> dict[str, str]:
    reading = margin_report(document)
    margin = document["margin"]
    return {
        "name": name,
        "order": str(reading.order),
        "classes": str(reading.class_count),
        "factors": str(reading.factors),
        "grade": reading.grade,
        "margin_lower": margin["lower"],
        "margin_upper": margin["upper"],
        "margin_exact": margin["exact"] or "",
        "condition": reading.condition,
        "closed_form": _yes(reading.closed_form),
        "unique_masses": "" if faces is None else _yes(faces.unique_masses),
        "unique_class_weights": "" if faces is None else _yes(faces.unique_class_weights),
        "file": file_name(name),
    }


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"
