"""Where a result comes from: the version of Lemmata, the commit of its checkout, the date, the version of Python."""

import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def origin(root: Path) -> dict[str, str | None]:
    """Version, commit (None outside a checkout; with "+changes" if files differ from it), date in UTC, Python.

    Args:
        root: the folder that holds the packages.
    """
    return {
        "lemmata": _version(),
        "commit": commit(root),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
    }


def commit(root: Path, among: Sequence[Path] = ()) -> str | None:
    """The commit of the checkout in a folder, with "+changes" if tracked files differ from it; None outside of one.

    Args:
        root: the folder.
        among: the files, those of git and others, that may not differ; all that are tracked if there are none.
    """
    head = _git(root, "rev-parse", "HEAD")
    if not head or not (root / ".git").exists():
        return None
    only = ["--", *map(str, among)] if among else ["--untracked-files=no"]
    return head + ("+changes" if _git(root, "status", "--porcelain", *only) else "")


def _version() -> str:
    try:
        return version("lemmata")
    except PackageNotFoundError:
        return "not installed"


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
