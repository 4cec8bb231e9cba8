"""Files of surveys: the committed ones again byte by byte, and rows that a second run keeps."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from lemmata import certificates
from lemmata.numerics.runs.rows import made_by, printed_rows, rows_document

RESULTS = Path(certificates.__file__).parent / "operations" / "results"


@pytest.mark.parametrize("name", ["forced", "unseen", "unseen-curve", "triangle-threshold"])
def test_committed_files_are_written_like_this(name: str) -> None:
    data = (RESULTS / f"{name}.json").read_bytes()
    kept = json.loads(data)
    assert rows_document(kept.pop("format"), kept.pop("version"), kept.pop("origin"), kept) == data


def test_rows_are_kept_and_their_fates_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"two": 2, "one": 1}
    assert printed_rows(bin, settings, tmp_path) == ["0b10", "0b1"]
    assert printed_rows(bin, settings, tmp_path) == ["0b10", "0b1"]
    assert capsys.readouterr().out.split("\n") == ["two: done", "one: done", "two: kept", "one: kept", ""]


def test_an_origin_says_how() -> None:
    origin = made_by("python -m x", near=3)
    assert list(origin) == ["command", "near", "lemmata", "python", "date"]
    assert (origin["command"], origin["near"], origin["python"]) == ("python -m x", 3, platform.python_version())
