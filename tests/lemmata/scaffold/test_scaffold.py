"""`lemmata new-chapter`: what it writes passes its tests, fails them when it is broken, and bad names are refused."""

import os
import subprocess
import sys
import tomllib

import pytest

from lemmata.scaffold import create_chapter
from lemmata.theorems.ledger import load_ledger
from tests.lemmata.commands.runner import run


def pytest_in(folder, *arguments):
    """Pytest on a chapter as if it was installed: beside it lies what pip writes for its entry point."""
    record = folder.parent / "record" / f"{folder.name}-0.1.0.dist-info"
    record.mkdir(parents=True, exist_ok=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {folder.name}\nVersion: 0.1.0\n")
    points = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]["lemmata.chapters"]
    lines = "\n".join(f"{name} = {module}" for name, module in points.items())
    (record / "entry_points.txt").write_text(f"[lemmata.chapters]\n{lines}\n")
    places = [str(folder), str(record.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "PYTHONDONTWRITEBYTECODE": "1"}
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def test_a_new_chapter_passes_and_its_checks_can_fail(tmp_path):
    code, output, _ = run("new-chapter", "tropical_networks", "--in", str(tmp_path))
    assert code == 0
    assert "its tests pass as they are" in output
    folder = tmp_path / "tropical_networks"
    for path in folder.rglob("*"):
        assert path.suffix != ".txt" or path.name == "catalogue.txt"
        assert path.is_dir() or not {"NAME", "IDS", "TITLE"} & set(path.read_text().replace("-", " ").split())
    done = pytest_in(folder, "--pyargs", "tropical_networks", "tests")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "18 passed" in done.stdout
    assert "tropical_networks" in done.stdout  # the line of the table of verdicts
    construction = folder / "tropical_networks" / "construction.py"
    construction.write_text(construction.read_text().replace("0 if n % 2 else 1", "0"))
    done = pytest_in(folder, "--pyargs", "tropical_networks")
    assert done.returncode == 1
    assert "4 failed" in done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Knots", "lower-case words joined by underscores"),
        ("../knots", "lower-case words"),
        ("knots-2", "lower-case words"),
        ("", "lower-case words"),
        ("class", "a word of Python's own"),
        ("lambda", "a word of Python's own"),
        ("json", "the name of a package that is there already"),
        ("lemmata", "the name of a package that is there already"),
        (load_ledger().chapters[0].name, "There is a chapter"),
    ],
)
def test_names_that_are_refused(tmp_path, name, words):
    code, _, error = run("new-chapter", "--in", str(tmp_path), "--", name)
    assert code == 2
    assert words in error
    assert list(tmp_path.iterdir()) == []


def test_what_exists_is_left_alone(tmp_path):
    (tmp_path / "knots").write_text("mine")
    with pytest.raises(FileExistsError, match="exists"):
        create_chapter("knots", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["knots"]
    assert run("new-chapter", "knots", "--in", str(tmp_path / "nowhere"))[0] == 2
