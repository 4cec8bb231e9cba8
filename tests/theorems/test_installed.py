"""Lemmata as strangers have it: an installed wheel, no checkout, and a chapter of another package beside it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lemmata.theorems.ledger import THEOREMS, load_ledger

ROOT = THEOREMS.parent
PACKAGES = ("numerics", "constructions", "certificates", "theorems")
LEDGER = """
chapter = "knots"
title = "Knots"
document = "A paper on knots"

[[statement]]
id = "knots:theorem-1"
kind = "theorem"
title = "A machine"
statement = "The machine stops."
where = "Theorem 1"
verdict = "holds"
reach = "cases"
"""
CHECK = """
from lemmata.constructions.turing.machine import parse_machine
from lemmata.theorems.evidence import check

@check("knots:theorem-1", grade="exact", target="printed", cases="one machine")
def test_machine_of_knots():
    assert parse_machine("1RB1LB_1LA1RZ")
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages of a wheel that was built from a copy of the sources, and with a chapter on knots."""
    folder = tmp_path_factory.mktemp("installed")
    source, wheels, site = folder / "source", folder / "wheels", folder / "site"
    for package in (*PACKAGES, "lemmata"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, source / package, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    build = (*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(source))
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    (wheel,) = wheels.glob("lemmata-*.whl")
    install = (*pip, "install", "--no-deps", "--no-index", "--target", str(site), str(wheel))
    subprocess.run(install, check=True, capture_output=True, timeout=300)
    shutil.rmtree(source)
    knots = site / "knots"
    knots.mkdir()
    (knots / "__init__.py").write_text("")
    (knots / "ledger.toml").write_text(LEDGER)
    (knots / "catalogue.txt").write_text("knots:theorem-1\n")
    (knots / "test_knots.py").write_text(CHECK)
    (site / "knots-1.0.dist-info").mkdir()
    (site / "knots-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: knots\nVersion: 1.0\n")
    (site / "knots-1.0.dist-info" / "entry_points.txt").write_text("[lemmata.chapters]\nknots = knots\n")
    return site


def run(
    site: Path, scratch: Path, *arguments: str, also: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A run of Python in a scratch folder that sees the installed packages, and those in ``also``, first.

    ``variables`` are added to the environment.
    """
    places = [site] if also is None else [site, also]
    path = os.pathsep.join(map(str, places))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    environment.pop("PYTEST_ADDOPTS", None)
    command = (sys.executable, *arguments)
    return subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, timeout=600)


def test_statements_run_from_an_installed_wheel_beside_a_chapter_of_another_package(site, tmp_path):
    """All tests are imported from the wheel, and those of circuits run; their assertions stay as they are written,
    because to rewrite those of all files takes most of the time (the statements of a stranger below are rewritten)."""
    chosen = ("--assert=plain", "-k", "test_machine_of_knots or test_circuits")
    files = ("--pyargs", "lemmata.theorems", "knots", *chosen, "--ledger-json=ledger.json")
    done = run(site, tmp_path, "-m", "pytest", "-p", "no:cacheprovider", *files)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > 40
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    chapters = {chapter["name"]: chapter["statements"] for chapter in ledger["chapters"]}
    assert {name: len(statements) for name, statements in chapters.items()} == {
        **{chapter.name: len(chapter.statements) for chapter in load_ledger().chapters},
        "knots": 1,
    }
    assert chapters["knots"][0]["verdict"] == "holds"
    assert ledger["partial"]


def test_the_front_door_of_an_installed_wheel_finds_its_ledgers_proofs_and_results(site, tmp_path):
    program = (
        "import lemmata as lm; from lemmata import theorems; from lemmata.theorems.ledger import load_ledger; "
        "from lemmata.theorems.experiments import committed, load_experiments; print(theorems.__file__); "
        "print(sum(1 for _ in load_ledger().statements()), all(committed(n) for n in load_experiments())); "
        "print(lm.certify('S3').value)"
    )
    done = run(site, tmp_path, "-c", program)
    assert done.returncode == 0, done.stderr[-3000:]
    place, counts, *_ = done.stdout.splitlines()
    assert Path(place).is_relative_to(site)
    assert counts == f"{1 + sum(1 for _ in load_ledger().statements())} True"
    proofs = {path.relative_to(THEOREMS) for path in THEOREMS.glob("*/proofs/*.md")}
    assert proofs
    assert {
        path.relative_to(site / "lemmata/theorems") for path in site.glob("lemmata/theorems/*/proofs/*.md")
    } == proofs


STRANGER = """
import inspect, lemmata as lm
names = [name for name in lm.__all__ if not inspect.ismodule(getattr(lm, name))]
rooms = [name for name in lm.__all__ if name not in names]
inside = [getattr(module, name) for module in (getattr(lm, room) for room in rooms) for name in module.__all__]
print(len(names), len(rooms), len(inside))
print(lm.__file__)
"""


def test_what_a_stranger_types(site, tmp_path):
    """Every public name, a certificate and its check, a machine, an entry of the ledger, and a few statements."""

    def typed(*arguments, **variables):
        done = run(site, tmp_path, *arguments, **variables)
        assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    names, place = typed("-c", STRANGER).splitlines()
    assert all(int(count) > 0 for count in names.split())
    assert Path(place).is_relative_to(site)
    lemmata = ("-m", "lemmata")
    assert "exact (proved, both sides are the same number)" in typed(*lemmata, "certify", "S3", "--out", "s3.json")
    assert 's3.json: valid: group of order 6 called "S3"' in typed(*lemmata, "check", "s3.json")
    assert "s3.json: valid: group" in typed("-I", str(site / "lemmata" / "certificates" / "kernel.py"), "s3.json")
    # To compile the decoder anew in a fresh folder takes ten times as long as these steps take as plain Python.
    assert "halted after 107 steps" in typed(*lemmata, "turing", "bb4", "--verify", NUMBA_DISABLE_JIT="1")
    assert "turing:theorem-4.1" in typed(*lemmata, "show", "turing:theorem-4.1")
    chosen = typed(
        "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "lemmata.theorems.variable_creation.test_shattering"
    )
    assert int(re.findall(r"(\d+) passed", chosen)[-1]) > 0
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == {"s3.json"}


def test_the_package_of_the_guide_has_a_ledger_of_its_own(site, tmp_path):
    """Its files stand in the guide word for word; it uses nothing of ours but the decorators."""
    guide = (ROOT / "lemmata" / "site" / "pages" / "ledger_plugin.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w+\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    names = re.findall(r"`braids/([\w.]+)`", guide)
    assert names == ["__init__.py", "ledger.toml", "catalogue.txt", "test_braids.py"]
    *files, entry = blocks
    theirs = tmp_path / "theirs"
    for folder in ("braids", "braids-1.0.dist-info"):
        (theirs / folder).mkdir(parents=True)
    for name, text in zip(names, files, strict=True):
        (theirs / "braids" / name).write_text(text)
    [(group, points)] = tomllib.loads(entry)["project"]["entry-points"].items()
    information = theirs / "braids-1.0.dist-info"
    information.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: braids\nVersion: 1.0\n")
    information.joinpath("entry_points.txt").write_text(
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = ("-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "braids", "--ledger-json=ledger.json")
    done = run(site, scratch, *command, also=theirs)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "2 passed" in done.stdout
    table = [line.split()[0] for line in done.stdout.splitlines() if re.match(r"[a-z-]+ +\d.*·", line)]
    assert table == ["braids", "braids"]  # statements and checks, and no other chapter
    [chapter] = [
        one for one in json.loads((scratch / "ledger.json").read_text())["chapters"] if one["name"] == "braids"
    ]
    assert [one["verdict"] for one in chapter["statements"]] == ["holds", "refuted"]
    assert set(re.findall(r"\blemmata\.[\w.]+", "".join(files))) == {"lemmata.theorems.evidence"}

    code = theirs / "braids" / "__init__.py"
    code.write_text(code.read_text().replace("2 * (i == j)", "3 * (i == j)"))
    done = run(site, scratch, *command, also=theirs)
    assert done.returncode == 1
    chapters = json.loads((scratch / "ledger.json").read_text())["chapters"]
    [chapter] = [one for one in chapters if one["name"] == "braids"]
    assert [one["verdict"] for one in chapter["statements"]] == ["failed", "failed"]
