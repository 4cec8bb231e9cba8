"""Sweeps over groups: resumption after a kill, faulty files, failures, and processes that end."""

import csv
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from lemmata.certificates import kernel
from lemmata.certificates.groups import sweep as sweep_module
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.format import load
from lemmata.certificates.groups.sweep import COLUMNS, Outcome, file_name, sweep, write_summary
from lemmata.numerics.groups.lists import group_list, named_groups
from tests.certificates.serial import Serial


def swept(names, directory, **kwargs) -> dict[str, Outcome]:
    return {outcome.name: outcome for outcome in sweep(names, directory, Serial(), **kwargs)}


def test_one_valid_file_for_each_group_and_a_summary(tmp_path):
    names = named_groups(12).names
    outcomes = swept(names, tmp_path)
    assert not any(outcome.error or outcome.kept for outcome in outcomes.values())
    for name in names:
        kernel.check((tmp_path / file_name(name)).read_bytes())
    write_summary(names, list(outcomes.values())[::-1], tmp_path / "summary.csv")
    with (tmp_path / "summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == list(names)
    assert tuple(rows[0]) == COLUMNS
    assert {row["condition"] for row in rows} == {"strict"}  # up to order 31 it holds everywhere
    by_name = {row["name"]: row for row in rows}
    assert by_name["Q8"]["margin_exact"] == "1/(33*sqrt(6))"
    assert float(by_name["D4"]["margin_lower"]) == pytest.approx(0.015719, abs=1e-6)
    assert {row["unique_masses"] for row in rows} == {"yes"}


def test_finished_files_are_kept_and_broken_ones_are_done_again(tmp_path, monkeypatch):
    names = ["Z2", "Z3", "Z4", "S3", "Q8"]
    first = swept(names, tmp_path)
    files = {name: tmp_path / file_name(name) for name in names}
    valid = {name: file.read_bytes() for name, file in files.items()}
    files["Z2"].write_bytes(valid["Z2"][: len(valid["Z2"]) // 2])  # half written
    files["Z3"].unlink()
    files["Z4"].write_bytes(valid["Q8"])  # valid, but of another group
    files["S3"].write_bytes(valid["S3"].replace(b'"size":3', b'"size":2'))  # false

    certified = []
    monkeypatch.setattr(
        sweep_module, "certify_group", lambda group, k: certified.append(group.name) or certify_group(group, k)
    )
    again = swept(names, tmp_path)
    assert certified == ["Z2", "Z3", "Z4", "S3"]
    assert [name for name in names if again[name].kept] == ["Q8"]
    assert {name: file.read_bytes() for name, file in files.items()} == valid
    assert {name: outcome.row for name, outcome in again.items()} == {
        name: outcome.row for name, outcome in first.items()
    }
    assert not swept(["Q8"], tmp_path, factors=3)["Q8"].kept


def test_a_failure_belongs_to_its_group(tmp_path):
    outcomes = swept(["Z2", "nothing", "Z3"], tmp_path)
    assert outcomes["nothing"].error is not None
    assert "There is no group named 'nothing'" in outcomes["nothing"].error
    assert outcomes["Z2"].error is outcomes["Z3"].error is None
    write_summary(["Z2", "nothing", "Z3"], list(outcomes.values()), tmp_path / "summary.csv")
    assert len((tmp_path / "summary.csv").read_text().splitlines()) == 3


def test_a_document_that_the_kernel_rejects_is_not_written(tmp_path, monkeypatch):
    def wrong(certificate):
        document = document_of(certificate)
        document["classes"][1]["size"] += 1
        return document

    monkeypatch.setattr(sweep_module, "document_of", wrong)
    outcome = swept(["S3"], tmp_path)["S3"]
    assert outcome.error is not None
    assert "ViolatedError" in outcome.error
    assert not list(tmp_path.iterdir())


def test_names_that_share_a_file_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Several groups would be written to Z2_Z3"):
        list(sweep(["Z2:Z3", "Z2,Z3"], tmp_path, Serial()))
    assert len({file_name(name) for name in named_groups(63).names}) == len(named_groups(63).names)


def test_results_come_as_they_finish_from_any_executor(tmp_path):
    with ThreadPoolExecutor(2) as executor:
        assert {outcome.name for outcome in sweep(["Z2", "Z5", "S3"], tmp_path, executor)} == {"Z2", "Z5", "S3"}


def test_files_are_read_back(tmp_path):
    swept(["S3"], tmp_path)
    assert load(tmp_path / "S3.json") == json.loads((tmp_path / "S3.json").read_bytes())


def test_a_killed_sweep_leaves_whole_files_and_no_processes_and_is_resumed(tmp_path):
    command = [sys.executable, "-c", "from lemmata.cli import app; app()", "sweep", "--max-order", "30"]
    command += ["--out", str(tmp_path), "--jobs", "2"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("*.json"))) < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    kept = sorted(path.name for path in tmp_path.glob("*.json"))
    assert 5 <= len(kept) < len(group_list(30).names)
    _, alive = psutil.wait_procs(children, timeout=20)
    assert children
    assert not alive
    for name in kept:
        kernel.check((tmp_path / name).read_bytes())
    names = [name for name in group_list(30).names if file_name(name) in kept]
    assert all(outcome.kept for outcome in swept(names, tmp_path).values())
