"""Long work in items: many independent runs, each kept in a file of its own, in parallel and resumable.

An item is a key with settings, and its result a function of the settings alone: seeds belong to them. With a folder,
the file `<key>.json` holds {"settings": ..., "code": ..., "result": ...}. It is written at one stroke once the result
is there, and kept while the settings and the code (a fingerprint, see `lemmata.numerics.runs.definitions`) are the
same: so a killed run continues where it was, and changed settings or changed code start anew. A file that cannot be
read is computed again, and `Done.note` says so; temporary files that a killed run has left are removed.

Files are written by the process that calls `run`, so that workers of an executor may be on other machines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.numerics.runs.executors import completed
from lemmata.numerics.runs.files import write_atomically

__all__ = ["Done", "FailedItemsError", "run"]

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9+=,._-]{0,199}")

Json = Any


@dataclass(frozen=True)
class Done:
    """The fate of an item: ``kept`` from an earlier run, computed now, or failed with ``error``.

    ``note`` says why a file that was there was not kept, if there was one.
    """

    key: str
    kept: bool = False
    error: Exception | None = None
    note: str | None = None


class FailedItemsError(RuntimeError):
    """Some items failed, after all others were done. `errors` holds their exceptions, `results` the other results."""

    def __init__(self, errors: dict[str, Exception], results: dict[str, Json]) -> None:
        reasons = "; ".join(f"{key}: {type(error).__name__}: {error}" for key, error in errors.items())
        super().__init__(f"{len(errors)} of {len(errors) + len(results)} items failed: {reasons}.")
        self.errors, self.results = errors, results


def run(
    work: Callable[[Any], Json],
    settings: Mapping[str, Json],
    folder: Path | None = None,
    executor: Executor | None = None,
    on_done: Callable[[Done], None] | None = None,
    code: str = "",
) -> dict[str, Json]:
    """The results of ``work`` for the settings of every item, by key, in the order of ``settings``.

    Results are as JSON gives them back (tuples become lists), whether computed now or kept.

    Args:
        work: a function of the settings of one item; at the top level of a module if the executor uses processes.
        settings: of each item, JSON. Keys are file names: letters, digits and + = , . _ -, a letter or digit first.
        folder: for the files, made if missing; without it nothing is kept.
        executor: runs the items; without it they run here, one after the other. It is not shut down.
        on_done: called for every item as it is done, kept items first.
        code: a fingerprint of ``work``; items of another are not kept.

    Raises:
        ValueError: before anything is run, if a key is no file name, two differ by case only, or settings are no JSON.
        FailedItemsError: at the end, if some items failed or their results are no JSON; the others are in their files.
        ExecutorLostError: at once, if the executor lost its scheduler; what was done is in its files.
    """
    plain = {key: _as_json(value, f"The settings of {key}") for key, value in settings.items()}
    _check_keys(plain)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_temporaries(folder, plain)
    report = on_done or (lambda _: None)
    results: dict[str, Json] = {}
    errors: dict[str, Exception] = {}
    notes: dict[str, str] = {}
    for key, value in plain.items():
        kept = None if folder is None else _kept(folder / f"{key}.json", value, code)
        if isinstance(kept, str):
            notes[key] = kept
        elif kept is not None:
            results[key] = kept["result"]
            report(Done(key, kept=True))
    todo = {key: value for key, value in plain.items() if key not in results}
    for key, outcome in _outcomes(work, todo, executor):
        try:
            result = _as_json(outcome(), f"The result of {key}")
            if folder is not None:
                data = json.dumps({"settings": plain[key], "code": code, "result": result}, allow_nan=False) + "\n"
                write_atomically(data.encode("utf-8"), folder / f"{key}.json")
        except Exception as error:  # whatever happens in an item belongs to it
            errors[key] = error
            report(Done(key, error=error, note=notes.get(key)))
        else:
            results[key] = result
            report(Done(key, note=notes.get(key)))
    if errors:
        raise FailedItemsError(errors, results)
    return {key: results[key] for key in plain}


def _outcomes(
    work: Callable[[Any], Json], todo: Mapping[str, Json], executor: Executor | None
) -> Iterator[tuple[str, Callable[[], Json]]]:
    """Every item as it finishes, with a function that returns its result or raises its exception."""
    if executor is None:
        for key, value in todo.items():
            yield key, lambda value=value: work(value)
        return
    pending = {executor.submit(work, value): key for key, value in todo.items()}
    try:
        for future in completed(pending):
            yield pending[future], future.result
    finally:
        for future in pending:
            future.cancel()


def _check_keys(keys: Mapping[str, Json]) -> None:
    seen: dict[str, str] = {}
    for key in keys:
        if not _KEY.fullmatch(key):
            raise ValueError(
                f"The key {key!r} is no file name: use up to 200 letters, digits and + = , . _ -, "
                "of which the first is a letter or a digit."
            )
        other = seen.setdefault(key.lower(), key)
        if other != key:
            raise ValueError(f"The keys {other!r} and {key!r} differ by case only: some file systems see one file.")


def _as_json(value: Json, what: str) -> Json:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} cannot be written as JSON ({error}).") from error


def _remove_temporaries(folder: Path, keys: Mapping[str, Json]) -> None:
    """Remove what `write_atomically` leaves when it is killed: .<key>.json.<eight hexadecimal digits>."""
    for path in folder.glob(".*.json.*"):
        key, _, tail = path.name[1:].partition(".json.")
        if key in keys and re.fullmatch(r"[0-9a-f]{8}", tail):
            path.unlink(missing_ok=True)


def _kept(path: Path, settings: Json, code: str) -> dict[str, Json] | str | None:
    """The document in a file if it belongs to these settings and this code, else why not; None without a file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"the file cannot be read ({error})"
    try:
        document = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return f"the file is no JSON ({type(error).__name__})"
    if not isinstance(document, dict) or document.keys() != {"settings", "code", "result"}:
        return "the file has other keys than settings, code and result"
    if document["code"] != code:
        return "the code has changed since"
    # the texts are compared, since 1 == 1.0 == True in Python
    if json.dumps(document["settings"], sort_keys=True) != json.dumps(settings, sort_keys=True):
        return "the settings have changed since"
    return document


def _no_number(text: str) -> Json:
    raise ValueError(f"{text} is no number of JSON.")
