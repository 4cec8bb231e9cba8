"""The memory that is asked for, against what the operating system reports."""

from pathlib import Path

import pytest

from lemmata.numerics.runs import memory
from lemmata.numerics.runs.memory import available_memory, require_memory


def test_the_line_of_the_system_is_read_in_kibibytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "meminfo"
    report.write_text("MemTotal: 50000 kB\nMemAvailable:    30000 kB\n")
    monkeypatch.setattr(memory, "Path", lambda _: report)
    assert available_memory() == 30_000 * 1024
    require_memory(30_000 * 1024, "The table")
    with pytest.raises(ValueError, match=r"The table needs 0.0 GiB of memory, but 0.0 GiB are available."):
        require_memory(30_000 * 1024 + 1, "The table")
    report.write_text("MemAvailable: 1 kB\n")
    require_memory(memory.ALWAYS_THERE, "The table")  # too little to ask for
    report.unlink()
    assert available_memory() > 2**20  # all physical memory


def test_the_need_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"^The table needs 1048576\.0 GiB of memory, but \d+\.\d GiB are available\.$"
    ):
        require_memory(2**50, "The table")
