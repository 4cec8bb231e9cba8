"""A copy of the tree, and the server of test runs that lives in it (`server.py`)."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.mutants.server import died

ROOT = Path(__file__).parents[2]
LIBRARY = ("numerics", "constructions", "certificates", "theorems", "lemmata")
"""The packages whose code is mutated, and whose executed lines are recorded."""


def files_of_the_tree(root: Path = ROOT) -> list[str]:
    """The files of the checkout as they are, also those that are not committed yet, without what git ignores."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True).stdout
    return [name for name in listed.split("\0") if name and ((root / name).is_file() or (root / name).is_symlink())]


def copy_of_the_tree(target: Path, root: Path = ROOT) -> None:
    """The files and links of the checkout elsewhere, with their times, so that nothing ever touches the checkout."""
    for name in files_of_the_tree(root):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_symlink():
            shutil.copy2(root / name, path, follow_symlinks=False)


@dataclass(frozen=True)
class Request:
    """What one run of pytest is asked to do; `server.py` has the words."""

    files: Sequence[str]
    limit: float
    first: Sequence[str] = ()
    only: bool = False
    without: Sequence[str] = ()
    stop: bool = False
    cover: Sequence[str] = ()
    limits: dict[str, float] = field(default_factory=dict)
    slack: float = 60.0
    mutants: Sequence[dict[str, str]] = ()
    limit_each: float = 0.0


class ServerError(RuntimeError):
    """The server of test runs ended, which no request makes it do."""


class Worker:
    """A copy of the tree with a server of test runs; a context manager, which ends the server and its tests.

    Args:
        tree: the folder of the copy.
        preloaded: packages that the server imports once; those that the library needs, unless others are given.
    """

    def __init__(self, tree: Path, preloaded: Sequence[str] = ()) -> None:
        self.tree = tree
        self._scratch = tempfile.TemporaryDirectory(prefix="lemmata-mutants-")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(tree), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "agg",
        }
        command = [sys.executable, str(Path(__file__).with_name("server.py")), *preloaded]
        self._server = subprocess.Popen(
            command, cwd=tree, env=environment, stdin=-1, stdout=-1, text=True, start_new_session=True
        )
        self._answer()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """The end of the server, and of the run that is under way."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._server.pid, signal.SIGTERM)
        self._server.wait()
        self._scratch.cleanup()

    def run(self, request: Request) -> dict[str, Any] | None:
        """One run of pytest: status, seconds by test, failed tests, the reason of the first; none at its limit.

        Raises:
            ServerError: if the server has ended.
        """
        said, text = self._said(request)
        if not said["ended"]:
            return None
        words = json.loads(text) if text else died(True)
        return words | {"wall": said["wall"], "processor": said["processor"]}

    def run_mutants(self, request: Request) -> list[dict[str, Any] | None]:
        """One run of pytest for each mutant of the request; none where the functions could not be exchanged.

        Raises:
            ServerError: if the server has ended.
        """
        _, text = self._said(request)
        answers = json.loads(text) if text else []
        if not isinstance(answers, list) or len(answers) != len(request.mutants):
            return [None] * len(request.mutants)
        return [one if one.get("planted", True) else None for one in answers]

    def _said(self, request: Request) -> tuple[dict[str, Any], str]:
        """What the server says of a run, and what the run wrote, empty if nothing."""
        out = Path(self._scratch.name) / "answer.json"
        out.unlink(missing_ok=True)
        words = vars(request) | {"out": str(out)}
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(words) + "\n")
        self._server.stdin.flush()
        said = self._answer()
        text = out.read_text(encoding="utf-8") if out.is_file() else ""  # none if the interpreter itself died
        for left in out.parent.glob("answer.json*"):
            left.unlink()
        return said, text

    def _answer(self) -> dict[str, Any]:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            raise ServerError(f"The server of test runs in {self.tree} has ended; its messages stand above.")
        return {} if line == "ready\n" else json.loads(line)
