"""A pytest plugin that notes, for every test, what its assertions saw and whether it read committed results.

With the option `enable_assertion_pass_hook` pytest tells the values in every assertion that passes. Their digest is the
same on two processors unless a value depends on the processor, up to the digits that NumPy and torch print; so
two runs find the tests that floating point reaches, and no list of them is kept by hand. Outcomes and digests go to
the JSON file that `LEMMATA_MACHINE_NOTES` names; after `LEMMATA_MACHINE_SECONDS` the run stops.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("tests")
_PASSING = re.compile(r"0x[0-9a-f]+|/[^\s'\"]*pytest-of-[^\s'\"]*|\d+(\.\d+)? ?m?s\b")
"""What differs in every run: addresses of objects, temporary folders, durations."""
_digests: dict[str, Any] = {}
_reads: set[str] = set()
_current: list[str] = []
_outcomes: dict[str, dict[str, Any]] = {}


def pytest_configure(config: pytest.Config) -> None:
    """Print all digits, and watch which files are opened."""
    import numpy as np

    np.set_printoptions(precision=17)
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        sys.addaudithook(_watch)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _current and isinstance(arguments[0], str | os.PathLike):
        path = Path(arguments[0])
        if "results" in path.parts and {"theorems", "certificates"} & set(path.parts):
            _reads.add(_current[-1])


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin to count the time, in every process that runs tests: a worker of pytest-xdist stops only by itself."""
    seconds = os.environ.get("LEMMATA_MACHINE_SECONDS")
    if seconds:
        session.config.pluginmanager.register(_Clock(session, time.monotonic() + float(seconds)))


class _Clock:
    """Stops a run at a time."""

    def __init__(self, session: pytest.Session, end: float) -> None:
        self.session, self.end = session, end

    def pytest_runtest_logfinish(self) -> None:
        """Look at the time after every test; the collection counts as well."""
        if time.monotonic() > self.end:
            self.session.shouldstop = "the time for this processor is over"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Remember which test runs."""
    _current.append(item.nodeid)
    try:
        return (yield)
    finally:
        _current.pop()


def pytest_assertion_pass(item: pytest.Item, lineno: int, orig: str, expl: str) -> None:
    """Add the values of an assertion to the digest of its test."""
    seen = f"{lineno} {orig} {_PASSING.sub('', expl)}\n"
    _digests.setdefault(item.nodeid, hashlib.sha256()).update(seen.encode("utf-8", "replace"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the digest with the last report of a test, through the workers' channel too."""
    report = yield
    if report.when == "teardown":
        digest = _digests.pop(item.nodeid, None)
        report.seen = [digest.hexdigest()[:16] if digest else "", item.nodeid in _reads]  # pyright: ignore
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep outcome and digest of a test."""
    kept = _outcomes.setdefault(report.nodeid, {"outcome": "passed", "seen": "", "reads": False})
    if report.outcome == "failed" or (report.outcome == "skipped" and kept["outcome"] == "passed"):
        kept["outcome"] = report.outcome
    if hasattr(report, "seen"):
        kept["seen"], kept["reads"] = report.seen


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the notes; the workers of pytest-xdist leave it to their controller."""
    file = os.environ.get("LEMMATA_MACHINE_NOTES")
    if file and not hasattr(session.config, "workerinput"):
        Path(file).write_text(json.dumps(_outcomes), encoding="utf-8")
