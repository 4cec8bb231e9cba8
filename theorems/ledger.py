"""The ledger: every statement of the documents, with its verdict.

`theorems/<chapter>/ledger.toml` lists the statements of a chapter; `theorems/catalogue.txt` is the frozen
list of all ids, kept apart so that a statement cannot vanish from a ledger unnoticed. `load_ledger` reads and
validates both and names every fault at once.
"""

import functools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

THEOREMS = Path(__file__).resolve().parent
VERDICTS = ("holds", "repaired", "refuted", "open", "context")
DECIDED = ("holds", "repaired", "refuted")
"""The verdicts that rest on passing evidence."""

_ID = re.compile(r"[a-z]+(-[a-z]+)*:[A-Za-z0-9][A-Za-z0-9.\-]*")
_KIND = re.compile(r"[a-z]+")


class LedgerError(ValueError):
    """The ledger contradicts its own rules; `errors` holds one full sentence for each fault."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("The ledger is malformed:\n" + "\n".join(f"- {error}" for error in errors))
        self.errors = tuple(errors)


@dataclass(frozen=True)
class Statement:
    """One entry of a ledger.

    `source` gives line numbers in the plain text of the document. `reason` says what is missing, for an open
    statement and no other. `erratum` says in one sentence what is wrong as printed; `printed` and `corrected`
    are the two forms in short.
    """

    id: str
    kind: str
    title: str
    source: str
    verdict: str
    reason: str | None = None
    erratum: str | None = None
    printed: str | None = None
    corrected: str | None = None


@dataclass(frozen=True)
class Chapter:
    """A folder of `theorems/`: its name, title, document, and statements in the order of the document."""

    name: str
    title: str
    document: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Ledger:
    """All chapters, in alphabetical order of their folders."""

    chapters: tuple[Chapter, ...]

    def statements(self) -> Iterator[Statement]:
        """Yield every statement, chapter by chapter."""
        for chapter in self.chapters:
            yield from chapter.statements


@functools.cache
def catalogue_ids(directory: Path = THEOREMS) -> tuple[str, ...]:
    """Return the frozen list of all statement ids (`catalogue.txt` in `directory`)."""
    return tuple((directory / "catalogue.txt").read_text(encoding="utf-8").split())


def chapter_of(statement_id: str) -> str:
    """Return the folder that a statement belongs to: `"deep-icgd:eq-2.1"` lies in `"deep_icgd"`."""
    return statement_id.partition(":")[0].replace("-", "_")


def load_ledger(directory: Path = THEOREMS) -> Ledger:
    """Read and validate every `<chapter>/ledger.toml` below `directory` against its `catalogue.txt`.

    Raises:
        LedgerError: with one sentence for every fault: unreadable file, unknown or missing key, unknown
            verdict, reason missing from an open statement or present on another, repaired or refuted
            statement without erratum, duplicate id, id of another chapter, id that the catalogue or the
            ledgers lack.
    """
    errors: list[str] = []
    chapters = tuple(
        chapter
        for path in sorted(directory.glob("*/ledger.toml"))
        if (chapter := _read_chapter(path, errors)) is not None
    )
    ledger = Ledger(chapters)
    errors += _catalogue_errors(ledger, catalogue_ids(directory))
    if errors:
        raise LedgerError(errors)
    return ledger


def _catalogue_errors(ledger: Ledger, catalogue: tuple[str, ...]) -> list[str]:
    """Compare the ids of the ledgers with the frozen list."""
    errors = []
    listed: set[str] = set()
    for statement in ledger.statements():
        if statement.id in listed:
            errors.append(f"The statement {statement.id} stands in the ledger more than once.")
        listed.add(statement.id)
    if len(catalogue) != len(set(catalogue)):
        errors.append("catalogue.txt lists an id more than once.")
    errors += [
        f"The statement {name} of catalogue.txt is missing from the ledgers."
        for name in catalogue
        if name not in listed
    ]
    known = set(catalogue)
    errors += [f"The statement {name} of the ledgers is not in catalogue.txt." for name in sorted(listed - known)]
    return errors


def _read_chapter(path: Path, errors: list[str]) -> Chapter | None:
    """Return the chapter in `path`, or None when it cannot be read; append its faults to `errors`."""
    name = path.parent.name
    where = f"{name}/ledger.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        errors.append(f"{where} cannot be read: {error}.")
        return None
    entries = content.pop("statement", None)
    errors += _key_errors(where, content, required=("chapter", "title", "document"), optional=())
    if content.get("chapter", name) != name:
        errors.append(f'{where} says chapter = {content["chapter"]!r}, but its folder is "{name}".')
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        errors.append(f"{where} needs its statements as a non-empty list of [[statement]] tables.")
        entries = []
    statements = []
    for position, entry in enumerate(entries, start=1):
        label = f"{where}, {entry['id'] if isinstance(entry.get('id'), str) else f'statement number {position}'}"
        faults = _statement_errors(label, name, entry)
        errors += faults
        # A faulty entry keeps its place, so that its id is not reported as missing too.
        known = {field.name: entry.get(field.name) for field in fields(Statement)}
        if isinstance(known["id"], str):
            statements.append(Statement(**known))
    return Chapter(name, str(content.get("title", "")), str(content.get("document", "")), tuple(statements))


def _statement_errors(label: str, chapter: str, entry: dict[str, Any]) -> list[str]:
    """Return the faults of one [[statement]] table, each a sentence that starts with `label`."""
    errors = _key_errors(
        label,
        entry,
        required=("id", "kind", "title", "source", "verdict"),
        optional=("reason", "erratum", "printed", "corrected"),
    )
    if errors:
        return errors
    verdict = entry["verdict"]
    if not _ID.fullmatch(entry["id"]) or chapter_of(entry["id"]) != chapter:
        errors.append(f'{label}: an id of this chapter looks like "{chapter.replace("_", "-")}:theorem-1.2".')
    if not _KIND.fullmatch(entry["kind"]):
        errors.append(f"{label}: the kind {entry['kind']!r} is not one lower-case word such as theorem.")
    if verdict not in VERDICTS:
        errors.append(f"{label}: unknown verdict {verdict!r}; the verdicts are {', '.join(VERDICTS)}.")
    elif verdict == "open" and "reason" not in entry:
        errors.append(f"{label}: an open statement needs a reason that says what is missing.")
    elif verdict != "open" and "reason" in entry:
        errors.append(f"{label}: only an open statement has a reason, and this one is {verdict!r}.")
    if verdict in ("repaired", "refuted") and "erratum" not in entry:
        errors.append(f"{label}: a {verdict} statement needs an erratum that says what is wrong as printed.")
    if "erratum" not in entry and ("printed" in entry or "corrected" in entry):
        errors.append(f"{label}: printed and corrected forms belong to an erratum, which is missing.")
    return errors


def _key_errors(
    label: str, table: dict[str, Any], *, required: tuple[str, ...], optional: tuple[str, ...]
) -> list[str]:
    """Return the faults of the keys of `table`: missing, unknown, or not a non-empty string."""
    allowed = required + optional
    errors = [f"{label}: the key {key!r} is missing." for key in required if key not in table]
    errors += [
        f"{label}: unknown key {key!r}; the keys are {', '.join(allowed)}." for key in table if key not in allowed
    ]
    errors += [
        f"{label}: {key} must be a non-empty string, not {value!r}."
        for key, value in table.items()
        if key in allowed and (not isinstance(value, str) or not value.strip())
    ]
    return errors
