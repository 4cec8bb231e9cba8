"""Every command, by the example in its help: it runs; and it meets a bad output and a bad disk with one sentence."""

import io
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest
import torch

import lemmata as lm
from lemmata.cli import COMMANDS, EXAMPLES, PANELS, main
from lemmata.numerics.groups.character_library import library_versions
from lemmata.numerics.runs import files

FOLDERS = {"sweep", "characters", "survey", "new-chapter"}  # whose results are files alone
SHORT = {
    "induction": ["--length", "6"],
    "sweep": ["--jobs", "1"],
    "survey": ["--jobs", "1"],
    "characters": ["--jobs", "1"],
}
WRITTEN = {  # what a command writes beside its report
    "certify": [("--out", "a.json"), ("--network", "a.npz")],
    "coq": [("--out", "a.v")],
    "unseen": [("--out", "cells"), ("--picture", "a.png")],
    "atlas": [("--out", "a.json")],
    "margin": [("--picture", "a.png")],
    "induction": [("--picture", "a.svg")],
    "frontier": [("--out", "a.png")],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the examples read: certificates, and the weights of two networks."""
    place = tmp_path_factory.mktemp("files")
    lm.save(lm.certify("S3"), place / "s3.json")
    lm.save(lm.certify("op:max:2"), place / "max.json")
    torch.save(lm.to_torch(lm.optimal_network(lm.certify("S3"))).state_dict(), place / "model.pt")
    torch.save(lm.markov.trained_head(1).model.to_torch().state_dict(), place / "heads.pt")
    return place


@pytest.fixture
def call(folder, tmp_path, monkeypatch):
    """The program itself with arguments and a standard output; its status, and what it says on the standard error."""
    for file in folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)

    def program(arguments, output):
        error, before = io.StringIO(), (sys.argv, sys.stdout, sys.stderr, signal.getsignal(signal.SIGINT))
        sys.argv, sys.stdout, sys.stderr = ["lemmata", *arguments], output, error
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            sys.argv, sys.stdout, sys.stderr, interrupt = before
            signal.signal(signal.SIGINT, interrupt)
        assert "Traceback" not in error.getvalue()
        return ended.value.code or 0, error.getvalue()

    return program


def example(name, without=()):
    words = shlex.split(EXAMPLES[name])
    for option in without:
        if option in words:
            place = words.index(option)
            del words[place : place + 2]
    return [*words, *SHORT.get(name, [])]


def there(name):
    """Skips what needs GAP where there is none."""
    if name == "characters":
        try:
            library_versions()
        except ValueError as error:
            pytest.skip(str(error))


def ascii_output():
    return io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)


def test_every_command_has_a_panel_and_an_example():
    assert [*EXAMPLES] == [*COMMANDS] == [name for panel in PANELS.values() for name in panel]
    assert all(text.split()[0] == name for name, text in EXAMPLES.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_runs_in_ascii_and_forty_columns(name, call, monkeypatch):
    there(name)
    monkeypatch.setenv("COLUMNS", "40")
    output = ascii_output()
    code, error = call(example(name), output)
    assert (code, "error" in error) == (0, False), error
    text = output.buffer.getvalue().decode("ascii")
    assert text.strip()
    assert "\\x1b" not in text


def test_letters_that_ascii_lacks_are_written_out(call):
    output = ascii_output()
    assert call(["show", "deep-icgd:lemma-14"], output) == (0, "")
    assert "\\u03b7 \\u2264 1/L_f" in output.buffer.getvalue().decode("ascii")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in FOLDERS])
def test_a_full_output_and_a_closed_pipe(name, call):
    with Path("/dev/full").open("w", encoding="utf-8") as nothing_fits:
        code, error = call(example(name), nothing_fits)
    assert code == 2
    assert error.splitlines()[-1] == "error: the standard output: No space left on device"
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as pipe:
        code, error = call(example(name), pipe)
        assert (code, error.strip()) == (141, "")


def full(descriptor):
    raise OSError(28, "No space left on device")


def read_only(data, target):
    raise OSError(30, "Read-only file system", str(target.with_name(".temporary")))


@pytest.mark.parametrize(
    ("place", "name", "failure", "reason"),
    [
        (files.os, "fsync", full, "No space left on device"),
        (files, "_replace", read_only, "Read-only file system"),
    ],
    ids=["full disk", "read-only folder"],
)
@pytest.mark.parametrize(
    ("command", "option", "file"), [(command, *pair) for command, pairs in WRITTEN.items() for pair in pairs]
)
def test_the_result_is_shown_before_it_is_written(
    command, option, file, place, name, failure, reason, call, tmp_path, monkeypatch
):
    before = {path.name for path in tmp_path.iterdir()}
    monkeypatch.setattr(place, name, failure)
    output = ascii_output()
    code, error = call([*example(command, without=["--out"]), option, file], output)
    assert code == 2
    last = error.splitlines()[-1]
    assert last.startswith(f"error: {file}")
    assert last.endswith(f": {reason}")
    assert output.buffer.getvalue().strip()
    assert {path.name for path in tmp_path.iterdir()} <= before | {"cells"}
    assert not list(tmp_path.glob("cells/*"))


@pytest.mark.parametrize("command", [*sorted(FOLDERS), "experiment"])
def test_a_folder_that_cannot_be_made_is_refused(command, call):
    there(command)
    words = ["experiment", "run", "parity-cells"] if command == "experiment" else example(command, without=["--out"])
    option = "--in" if command == "new-chapter" else "--out"
    code, error = call([*words, option, "/proc/none"], ascii_output())
    assert (code, error.splitlines()[-1][:6]) == (2, "error:")
    assert "/proc/none" in error
