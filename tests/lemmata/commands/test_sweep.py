"""The command that certifies many groups: it resumes, summarises, and says what failed."""

import json

from typer.testing import CliRunner

from lemmata.certificates.groups.sweep import Outcome, sweep
from lemmata.cli import app
from lemmata.commands import sweep as command
from lemmata.numerics.groups.lists import named_groups
from tests.certificates.serial import Serial


def test_the_command_resumes_and_summarises(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "group_list", named_groups)
    folder = tmp_path / "certificates"
    arguments = ["sweep", "--max-order", "6", "--out", str(folder), "--jobs", "1"]
    folder.mkdir()
    assert [outcome.name for outcome in sweep(["Z5"], folder, Serial())] == ["Z5"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "7 groups certified and checked by the kernel, 1 of them in earlier files; 7 satisfy" in result.stdout
    assert "these are all" in result.stderr
    assert len((folder / "summary.csv").read_text().splitlines()) == 8
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert json.loads(result.stdout) == {
        "certified": 7,
        "kept": 7,
        "strict": 7,
        "exact": 7,
        "failed": {},
        "summary": str(folder / "summary.csv"),
    }
    assert sorted(path.suffix for path in folder.iterdir()) == [".csv", *[".json"] * 7]


def test_an_interrupted_command_says_how_to_continue(tmp_path, monkeypatch):
    def interrupted(names, directory, executor, factors):
        yield from sweep(names[:1], directory, Serial(), factors)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "group_list", named_groups)
    monkeypatch.setattr(command, "sweep", interrupted)
    result = CliRunner().invoke(app, ["sweep", "--max-order", "4", "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "stopped after 1 of 4 groups; the same command continues" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["Z2.json"]


def test_a_failing_group_shows_in_the_exit_code(tmp_path, monkeypatch):
    def failing(names, directory, executor, factors):
        yield Outcome(names[0], error="ValueError: no")

    monkeypatch.setattr(command, "group_list", named_groups)
    monkeypatch.setattr(command, "sweep", failing)
    result = CliRunner().invoke(app, ["sweep", "--max-order", "2", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "failed: Z2: ValueError: no" in result.stderr
