"""The folder of the compiled theory is believed only as it was made, and limits of the machine are no refusals."""

import json
import os
import resource
from pathlib import Path

import pytest

from lemmata.certificates.coq import compiler
from lemmata.certificates.coq.compiler import THEORY, coqc, theory, theory_mark
from lemmata.certificates.coq.source import coq_file
from lemmata.theorems.plugin import Effort
from tests.certificates.coq.theory import compiled, needs_coq
from tests.certificates.operation_documents import parity_document


def poison(folder: Path) -> None:
    """Another Statement.v in the place of ours, compiled, in which every margin is as large as one likes."""
    text = (THEORY / "Statement.v").read_text()
    other = text.replace("g <= output net a b y - output net a b c.", "g <= output net a b y - output net a b c + g.")
    assert other != text
    (folder / "Statement.v").write_text(other)
    coqc(folder / "Statement.v", folder)


@needs_coq
def test_a_folder_that_is_not_as_it_was_made_is_compiled_anew(tmp_path):
    made = theory(["Statement"], tmp_path)
    right = (made / "Statement.vo").read_bytes()
    hashes = (made / compiler.HASHES).read_text()
    inode = made.stat().st_ino
    assert theory(["Statement"], tmp_path).stat().st_ino == inode

    poison(made)  # sources and compiled files, and then the latter alone
    poisoned = (made / "Statement.vo").read_bytes()
    assert poisoned != right
    for source in (None, (THEORY / "Statement.v").read_bytes()):
        if source is not None:
            (made / "Statement.v").write_bytes(source)
            (made / "Statement.vo").write_bytes(poisoned)
        assert theory(["Statement"], tmp_path) == made
        assert (made / "Statement.v").read_text() == (THEORY / "Statement.v").read_text()
        assert (made / "Statement.vo").read_bytes() != poisoned
        assert (made / compiler.HASHES).read_text() != hashes or (made / "Statement.vo").read_bytes() == right


@needs_coq
def test_what_is_asked_for_anew_does_not_look_at_what_is_there(tmp_path, monkeypatch):
    """Whoever may write in the folder may write its hashes as well: then only compiling helps."""
    folder = tmp_path / f"coq-{theory_mark(['Statement'])}"
    folder.mkdir()
    (folder / "Statement.v").write_bytes((THEORY / "Statement.v").read_bytes())
    (folder / "Statement.vo").write_bytes(b"anything")
    (folder / compiler.HASHES).write_text(json.dumps(compiler._hashes(folder)))
    assert theory(["Statement"], tmp_path) == folder
    assert (folder / "Statement.vo").read_bytes() == b"anything"
    assert theory(["Statement"], tmp_path, anew=True) == folder
    assert len((folder / "Statement.vo").read_bytes()) > 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name]


@needs_coq
def test_the_folder_may_be_named_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert theory(["Statement", "Sums"], Path("build")) == Path("build") / f"coq-{theory_mark(['Statement', 'Sums'])}"


@needs_coq
def test_a_folder_that_others_may_write_is_not_believed(tmp_path):
    sources = {"Statement": compiler._source("Statement")}
    made = theory(["Statement"], tmp_path)
    assert compiler._is_as_made(made, sources)
    made.chmod(0o777)
    assert not compiler._is_as_made(made, sources)
    made.chmod(0o755)
    (made / "Other.vo").write_bytes(b"")
    assert not compiler._is_as_made(made, sources)


def program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is called coqc, first on the path; and a file for it."""
    path = folder / "coqc"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    file = folder / "large.v"
    file.write_text("")
    return file


@pytest.mark.parametrize(
    "script",
    ["echo 'Error: Stack overflow.' >&2; exit 1", "echo 'Fatal error: Out of memory' >&2; exit 2", "kill -9 $$"],
)
def test_a_limit_of_the_machine_is_no_refusal(script, tmp_path, monkeypatch):
    file = program(tmp_path, script, monkeypatch)
    with pytest.raises(ValueError, match=r"or of its stack on large\.v, or was ended, which decides nothing"):
        coqc(file, tmp_path)


def test_coq_gets_the_whole_stack(tmp_path, monkeypatch):
    most = resource.getrlimit(resource.RLIMIT_STACK)[1]
    file = program(tmp_path, "ulimit -s", monkeypatch)
    assert coqc(file, tmp_path).strip() == ("unlimited" if most == resource.RLIM_INFINITY else str(most // 1024))


@needs_coq
def test_a_network_of_forty_thousand_neurons(tmp_path, tmp_path_factory, effort: Effort):
    """25 seconds at full effort; at quick effort 40 neurons."""
    document = parity_document()
    count = effort.pick(quick=20, full=20_000)
    document["network"] = {key: count * value for key, value in document["network"].items()}
    made = coq_file(document)
    proof = compiler.prove_claims(made.text, [made.claim], compiled(tmp_path_factory.getbasetemp()))
    assert "((1 / 9) * sqrt 6)" in proof.theorem


def test_coq_warns_of_nothing_that_is_kept_quiet():
    for file in (Path(compiler.__file__), *Path(__file__).parent.glob("*.py")):
        if file != Path(__file__):
            assert '"-w"' not in file.read_text(), file.name
