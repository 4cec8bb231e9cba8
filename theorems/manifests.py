"""Manifests of committed results: `results/<name>.sums` beside the summary, written by the command that runs it.

``lemmata experiment run`` writes both. What a run gave (settings and result of each item) and what made it (the
origin, without the record of later repetitions) have hashes there, so that no leaf changes alone, whether a repeated
slice holds it or not; numbers, criteria and verdicts follow from the items (`assert_follows` of
`lemmata.theorems.experiments`). Nothing writes a manifest for results that are there already, since it would bless
whatever they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.manifest import differences, manifest

__all__ = ["SUFFIX", "assert_as_run", "change_since_run", "parts_of", "write_manifest"]

SUFFIX = ".sums"


def parts_of(summary: dict[str, Any]) -> dict[str, Any]:
    """What a manifest covers of a summary, by name: ``origin`` and ``items/<key>``."""
    origin = {key: value for key, value in summary["origin"].items() if key != "again"}
    return {"origin": origin, **{f"items/{key}": item for key, item in summary["items"].items()}}


def write_manifest(summary: dict[str, Any], path: Path) -> None:
    """Write the manifest of a run that has just ended beside its summary.

    Args:
        summary: of the run.
        path: of the summary's file; the manifest gets `SUFFIX` in the place of its suffix.
    """
    write_atomically(manifest(parts_of(summary)).encode("utf-8"), path.with_suffix(SUFFIX))


def change_since_run(summary: dict[str, Any], path: Path) -> str | None:
    """What a summary holds that its run did not give, by the manifest beside its file, and what to do; None if nothing.

    Raises:
        ValueError: if the file beside it is no manifest.
    """
    beside = path.with_suffix(SUFFIX)
    remedy = (
        f"put that back (git log -p {path.name}), or run it anew ({summary['command']} --out DIR) and commit "
        f"{path.name} and {beside.name} from there; nothing else writes {beside.name}"
    )
    if not beside.is_file():
        return f"{beside.name} is missing beside {path.name}: {remedy}."
    found = differences(beside.read_text(encoding="utf-8"), parts_of(summary))
    return f"{path.name} is not what its run gave: {'; '.join(found)}. Either {remedy}." if found else None


def assert_as_run(summary: dict[str, Any], path: Path) -> None:
    """A summary holds what its run gave.

    Raises:
        AssertionError: if not, as `change_since_run` says.
        ValueError: as there.
    """
    change = change_since_run(summary, path)
    assert change is None, change
