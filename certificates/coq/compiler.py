"""Coq at work: the theory compiled once into a folder, and files that it proves or refuses.

The program ``coqc`` and its standard library are all that is needed (Debian's package ``coq``). The compiled theory is
kept in a folder that is named after a hash of its sources and of the version of Coq, so that another version of either
never meets old files. The hashes of all its files stand in the folder too: one that is not as it was made, or that
others may write, is compiled anew. Who can write as this user can still change it; what a stranger's file is checked
with (`lemmata coq --check`) is therefore always compiled for that one check.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lemmata.certificates.coq.claims import Claim, conclusion

__all__ = [
    "AXIOMS",
    "CoqProof",
    "CoqRefusalError",
    "checked_theorem",
    "coq_version",
    "coqc",
    "default_build",
    "find_coq",
    "modules_of",
    "prove",
    "prove_claims",
    "theory",
    "theory_mark",
    "whole_stack",
]

THEORY = Path(__file__).parent
NAME = "Lemmata"
HASHES = "hashes.json"
"""In a folder of a compiled theory: the SHA-256 of every file."""

AXIOMS = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
    }
)
"""The axioms on which the real numbers of Coq's standard library stand: no theorem may assume more."""


class CoqRefusalError(RuntimeError):
    """Coq does not accept a file, or accepts it on more assumptions than the axioms of its real numbers."""


@dataclass(frozen=True)
class CoqProof:
    """What Coq said about a file.

    Attributes:
        theorem: its statement.
        assumptions: the names of the axioms that it rests on.
        seconds: of the run on the file, by the clock.
        processor_seconds: of the same, on the processor.
        size: of the file, in bytes.
        printed: what Coq printed on it.
    """

    theorem: str
    assumptions: tuple[str, ...]
    seconds: float
    processor_seconds: float
    size: int
    printed: str


def find_coq() -> str:
    """The path of ``coqc``.

    Raises:
        ValueError: where it is not installed.
    """
    program = shutil.which("coqc")
    if program is None:
        raise ValueError(
            "There is no program coqc here: install Coq (the package coq of Debian and Ubuntu; its standard library is "
            "enough)."
        )
    return program


def coq_version() -> str:
    """The version of Coq, such as ``8.16.1``.

    Raises:
        ValueError: where ``coqc`` is not installed or does not say its version.
    """
    done = subprocess.run([find_coq(), "--print-version"], capture_output=True, text=True)
    if done.returncode or not done.stdout.strip():
        raise ValueError("The program coqc does not say which version it is.")
    return done.stdout.split()[0]


def modules_of(text: str) -> tuple[str, ...]:
    """The files of the theory that a source requires, by name, each after those that it needs itself.

    Raises:
        ValueError: for a name that the theory has not.
    """
    found: dict[str, None] = {}

    def visit(source: str) -> None:
        for names in re.findall(rf"\bFrom\s+{NAME}\s+Require\s+(?:Import|Export)?\s*([\w\s]+)\.", source):
            for name in names.split():
                if name not in found:
                    visit(_source(name))
                    found[name] = None

    visit(text)
    return tuple(found)


def _source(name: str) -> str:
    try:
        return (THEORY / f"{name}.v").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ValueError(f"The theory has no file {name}.v.") from error


def default_build() -> Path:
    """The folder of compiled theories: ``lemmata`` in the user's folder of caches."""
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "lemmata"


def theory_mark(modules: Iterable[str]) -> str:
    """16 hexadecimal digits that change with the sources of these files of the theory, and with the version of Coq.

    Raises:
        ValueError: where ``coqc`` is not installed.
    """
    sources = sorted((name, _source(name)) for name in modules)
    return hashlib.sha256(repr((coq_version(), sources)).encode()).hexdigest()[:16]


def theory(
    modules: Iterable[str],
    build: Path | None = None,
    time_limit: float | None = None,
    progress: Callable[[str, float], None] | None = None,
    *,
    anew: bool = False,
) -> Path:
    """The folder with so many compiled files of the theory, which are compiled where they are not as they were made.

    Args:
        modules: names, each after those that it needs (`modules_of`).
        build: for compiled theories, by default `default_build`; made if missing.
        time_limit: for each file, in seconds.
        progress: called with the name and the seconds of each file that has been compiled.
        anew: compile them, whatever is there.

    Raises:
        ValueError: where ``coqc`` is not installed, and when a file takes too long.
        CoqRefusalError: when Coq does not accept a file of the theory.
        OSError: for a folder that cannot be written.
    """
    names = tuple(modules)
    folder = default_build() if build is None else build
    sources = {name: _source(name) for name in names}
    final = folder / f"coq-{theory_mark(names)}"
    if not anew and _is_as_made(final, sources):
        return final
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".coq-", dir=folder) as scratch:
        for name, text in sources.items():
            path = Path(scratch) / f"{name}.v"
            path.write_text(text, encoding="utf-8")
            begin = time.perf_counter()
            coqc(path, Path(scratch), time_limit)
            if progress is not None:
                progress(name, time.perf_counter() - begin)
        made = Path(scratch) / "made"
        made.mkdir(mode=0o755)
        for name in names:
            for suffix in (".v", ".vo"):
                (Path(scratch) / f"{name}{suffix}").replace(made / f"{name}{suffix}")
        (made / HASHES).write_text(json.dumps(_hashes(made), indent=1) + "\n", encoding="ascii")
        try:
            if final.exists():
                final.rename(Path(scratch) / "before")
            made.rename(final)
        except OSError:
            if not _is_as_made(final, sources):  # else another process was first
                raise
    return final


def _is_as_made(folder: Path, sources: Mapping[str, str]) -> bool:
    """Whether a folder has the files of these sources and no others, all with the hashes that were noted."""
    try:
        about = folder.stat()
        if about.st_mode & 0o022 or (hasattr(os, "getuid") and about.st_uid != os.getuid()):
            return False
        noted = json.loads((folder / HASHES).read_text(encoding="ascii"))
        same = all((folder / f"{name}.v").read_text(encoding="utf-8") == text for name, text in sources.items())
        return same and noted == _hashes(folder)
    except (OSError, ValueError):
        return False


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.name != HASHES)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def prove_claims(text: str, claims: Sequence[Claim], compiled: Path, time_limit: float | None = None) -> CoqProof:
    """What Coq says about a file and what it claims: claims are read by themselves (`claims.conclusion`).

    Args:
        text: of the file, with a module ``M<i>`` for each claim where there is not just one.
        claims: at least one.
        compiled: the folder of the theory.
        time_limit: for the file, in seconds, and as much again for the conclusion from it.

    Raises:
        ValueError: when one of them takes too long or needs too much memory, and where ``coqc`` is not installed.
        CoqRefusalError: when Coq does not accept the file, when it does not prove the claims, and when they assume more
            than `AXIOMS`.
    """
    before, begin = os.times(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.v"
        path.write_text(text, encoding="ascii")
        printed = coqc(path, compiled, time_limit)
        last = Path(folder) / "conclusion.v"
        last.write_text(conclusion(claims, path.stem), encoding="ascii")
        _, assumptions = checked_theorem(coqc(last, compiled, time_limit))
    seconds, after = time.perf_counter() - begin, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    theorem = " ".join(claim.statement for claim in claims)
    return CoqProof(theorem, assumptions, seconds, spent, len(text), printed)


def prove(path: Path, compiled: Path, time_limit: float | None = None) -> CoqProof:
    """What Coq says about a file that ends with ``Check`` and ``Print Assumptions`` of one theorem.

    Args:
        path: of the file; compiled files are left beside it.
        compiled: the folder of the theory.
        time_limit: in seconds.

    Raises:
        ValueError: when it takes too long, and where ``coqc`` is not installed.
        CoqRefusalError: when Coq does not accept the file, and when the theorem assumes more than `AXIOMS`.
    """
    before, begin = os.times(), time.perf_counter()
    text = coqc(path, compiled, time_limit)
    seconds, after = time.perf_counter() - begin, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    theorem, assumptions = checked_theorem(text)
    return CoqProof(theorem, assumptions, seconds, spent, path.stat().st_size, text)


def checked_theorem(text: str) -> tuple[str, tuple[str, ...]]:
    """What ``Check`` and ``Print Assumptions`` printed: the theorem in one line, and the names of its assumptions.

    Raises:
        CoqRefusalError: for a text without the second, and when the theorem assumes more than `AXIOMS`.
    """
    theorem, mark, rest = text.partition("Axioms:\n")
    if not mark:
        theorem, mark, rest = text.partition("Closed under the global context")
        rest = ""
    if not mark:
        raise CoqRefusalError("Coq did not print the assumptions of a theorem.")
    assumptions = tuple(re.findall(r"^([^\s:]+)", rest, re.MULTILINE))
    if more := sorted(set(assumptions) - AXIOMS):
        raise CoqRefusalError(f"The theorem rests on more than the axioms of Coq's real numbers: {', '.join(more)}.")
    return " ".join(theorem.split()), assumptions


def coqc(path: Path, compiled: Path, time_limit: float | None = None) -> str:
    """What ``coqc`` prints on a file, whose compiled form it leaves beside it; files beside it are ``Received``.

    Raises:
        ValueError: when it takes too long or needs too much memory, and where it is not installed.
        CoqRefusalError: when it does not accept the file.
    """
    command = [find_coq(), "-q", "-Q", str(compiled.resolve()), NAME, path.name]
    if path.parent.resolve() != compiled.resolve():
        command[2:2] = ["-Q", ".", "Received"]
    try:
        done = subprocess.run(
            command,
            cwd=path.parent,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=time_limit,
            preexec_fn=whole_stack,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"Coq did not finish {path.name} within {time_limit:g} seconds.") from error
    if done.returncode < 0 or re.search(r"Stack overflow|Out of memory", done.stderr):
        raise ValueError(
            f"Coq ran out of memory or of its stack on {path.name}, or was ended, which decides nothing: the file is "
            "too large for the limits of this machine (ulimit -s)."
        )
    if done.returncode:
        reason = " ".join(done.stderr.partition("Error:")[2].split()) or f"it ended with status {done.returncode}"
        raise CoqRefusalError(f"Coq does not accept {path.name}: {reason}")
    return done.stdout


def whole_stack() -> None:
    """All the stack that this user may have: Coq reads a list of n terms with a stack of that depth."""
    import resource  # not on every system, but wherever there is Coq's package

    most = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))
