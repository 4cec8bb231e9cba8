"""Sweeps over groups: which groups, resumption after a kill, faulty files, failures; and the parts of a report."""

import csv
import json
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations

import numpy as np
import psutil
import pytest
from typer.testing import CliRunner

from certificates import kernel
from certificates.game.closed_form_report import closed_form_report
from certificates.game.enclosure import enclose
from certificates.game.rational import RationalGame
from certificates.groups import sweep as sweep_module
from certificates.groups.certify import GroupMarginCertificate, certify_group
from certificates.groups.contents import solution_of, table_of
from certificates.groups.document import document_of
from certificates.groups.format import dumps, load
from certificates.groups.report import margin_report
from certificates.groups.sweep import COLUMNS, Outcome, certify_to_file, file_name, sweep, write_summary
from certificates.saddle.attainment import attained_margin
from certificates.saddle.optimal_network import network_numbers, optimal_network
from lemmata.cli import app
from lemmata.commands import sweep as command
from numerics.groups import lists as group_lists
from numerics.groups.lists import GROUP_COUNTS, group_list, isomorphic, named_groups
from numerics.groups.names import gap_available, parse_group


class Serial(Executor):
    """Runs everything at once, in this process, in the order of submission."""

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def swept(names, directory, **kwargs) -> dict[str, Outcome]:
    return {outcome.name: outcome for outcome in sweep(names, directory, Serial(), **kwargs)}


# ---- which groups


def test_named_groups_are_pairwise_non_isomorphic():
    groups = [parse_group(name) for name in named_groups(24).names]
    by_fingerprint: dict[tuple, list] = {}
    for group in groups:
        table = group.to_finite_group()
        # orders of elements, and how often each element is a square or a commutator: an invariant of another kind
        squares = np.bincount(table.squaring, minlength=table.order)
        commutators = table.table[table.table, table.inverse[table.table.T]]
        counts = np.bincount(commutators.ravel(), minlength=table.order)
        classes = group.classes
        orders = classes.element_orders[classes.class_of]
        by_fingerprint.setdefault(tuple(sorted(zip(orders, squares, counts, strict=True))), []).append(group)
    for same in by_fingerprint.values():
        for first, second in combinations(same, 2):
            assert not isomorphic(first, second)
    assert [group.order for group in groups] == sorted(group.order for group in groups)


def test_named_groups_are_complete_below_16_and_say_what_is_missing():
    names = named_groups(15)
    assert len(names.names) == sum(GROUP_COUNTS[1:15])
    assert "these are all" in names.description
    assert "4 of order 16" in named_groups(17).description
    found = named_groups(63)
    assert f"the other {sum(GROUP_COUNTS[1:63]) - len(found.names)} have no name here" in found.description
    assert sum(GROUP_COUNTS[1:63]) == 318
    assert {"SL(2,3)", "He3", "AGL(1,8)", "A5", "2-^(1+4)", "S3xD5", "Z2xZ30"} <= set(found.names)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Z2xZ3", "Z6"), ("D3", "S3"), ("D6", "Z2xS3"), ("Dic2", "Q8"), ("SL(2,4)", "A5"), ("PSL(2,7)", "GL(3,2)"),
        ("AGL(1,4)", "A4"), ("Z4xZ2", "perm:(1,2,3,4);(5,6)"), ("2+^(1+2)", "D4"),
        ("Z7:Z3", "perm:(1,2,3,4,5,6,7);(2,3,5)(4,7,6)"),
    ],
)  # fmt: skip
def test_isomorphic_groups(first, second):
    assert isomorphic(parse_group(first), parse_group(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [("Z4", "Z2xZ2"), ("D4", "Q8"), ("He3", "Z3^3"), ("2+^(1+4)", "2-^(1+4)"), ("SL(2,5)", "S5"), ("Z2xA5", "S5")],
)
def test_groups_that_are_not_isomorphic(first, second):
    assert not isomorphic(parse_group(first), parse_group(second))


def test_the_search_decides_where_the_orders_of_elements_do_not(monkeypatch):
    """Z4:Z4 and Z2xQ8 have equally many elements of each order."""
    monkeypatch.setattr(group_lists, "_kinds", lambda G: G.classes.element_orders[G.classes.class_of])
    first, second = parse_group("Z2xQ8"), parse_group("perm:(1,2,3,4)(5,6,7,8);(1,5)(2,8)(3,7)(4,6)(9,10,11,12)")
    assert first.order == second.order == 16
    orders = [np.bincount(G.classes.element_orders[G.classes.class_of]).tolist() for G in (first, second)]
    assert orders[0] == orders[1]
    assert not isomorphic(first, second)
    assert isomorphic(first, parse_group("Q8xZ2"))


def test_the_list_is_that_of_the_library_where_gap_is_installed():
    names = group_list(8).names
    if gap_available():
        assert names[-5:] == tuple(f"small:8,{i}" for i in range(1, 6))
    else:
        assert names == named_groups(8).names
    assert len(names) == 13


def test_orders_below_two_are_refused():
    with pytest.raises(ValueError, match="at least 2, not 1"):
        group_list(1)


# ---- the sweep


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


def test_the_command_resumes_and_summarises(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "group_list", named_groups)
    folder = tmp_path / "certificates"
    arguments = ["sweep", "--max-order", "6", "--out", str(folder), "--jobs", "1"]
    folder.mkdir()
    certify_to_file("Z5", str(folder))
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "7 groups certified and checked by the kernel, 1 of them in earlier files; 7 satisfy" in result.stdout
    assert "these are all" in result.stderr
    assert len((folder / "summary.csv").read_text().splitlines()) == 8
    assert sorted(path.suffix for path in folder.iterdir()) == [".csv", *[".json"] * 7]


def test_an_interrupted_command_says_how_to_continue(tmp_path, monkeypatch):
    def interrupted(names, directory, executor, factors):
        yield certify_to_file(names[0], str(directory), factors)
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


# ---- what a report says


@pytest.mark.parametrize("name", ["Z6", "Q8", "A5", "SL(2,3)", "PSL(2,7)", "S6"])
def test_a_reading_agrees_with_the_condition_report(name):
    certificate = certify_group(parse_group(name))
    report, reading = closed_form_report(certificate.table), margin_report(document_of(certificate))
    game = report.solution.game
    assert reading.gamma == report.gamma
    assert reading.condition == ("strict" if report.strict else "ties" if report.holds else "fails")
    assert reading.closed_form == report.is_closed_form
    assert reading.excess == pytest.approx(report.excess, rel=1e-12)
    assert [entry.condition for entry in reading.classes] == [(value > 0) - (value < 0) for value in report.sums]
    assert [entry.name.split(" and ")[0] for entry in reading.classes] == [
        game.table.class_names[C] for C in game.columns
    ]
    assert sum(irrep.mass for irrep in reading.irreps) == 1
    assert sum(entry.weight for entry in reading.classes) == 1
    assert sum(entry.size for entry in reading.classes) == reading.order - 1
    eps = np.array([irrep.mass for irrep in reading.irreps], dtype=object)
    margins = game.class_payoffs(eps) / report.solution.value
    assert [entry.margin for entry in reading.classes] == [
        Fraction(int(q.p), int(q.q)) for q in (margin.to_fmpq() for margin in margins)
    ]


def test_a_document_of_a_stranger_is_read_in_its_own_order():
    """Rows in another order, 1 written as -zeta - zeta^2: the same solution."""
    document = document_of(certify_group(parse_group("Z3")))
    document["characters"]["rows"].reverse()
    document["characters"]["rows"][-1]["values"][1] = [[-1, 1], [-1, 2]]
    kernel.check(dumps(document))
    assert [irrep.name for irrep in margin_report(document).irreps] == ["1a and 1b"]
    assert all(value == 1 for value in table_of(document).values[0])
    assert solution_of(document).gamma == certify_group(parse_group("Z3")).gamma


@pytest.mark.parametrize("name", ["S3", "Z7", "A5", "M11", "SL(2,5)"])
def test_enclosed_documents_are_valid_and_contain_the_margin(name, tmp_path):
    exact = certify_group(parse_group(name))
    bounds = enclose(RationalGame(exact.table))
    enclosed = GroupMarginCertificate(exact.group, exact.table, 2, None, None, None, bounds, "a test")
    document = document_of(enclosed)
    kernel.check(dumps(document))
    assert document["grade"] == "enclosed"
    lower, upper = (Fraction(document["margin"][side]) for side in ("lower", "upper"))
    exactly = exact.gamma
    assert float(lower) <= float(exactly) * (1 + 1e-12)
    assert Fraction(exact.enclosure(60)[0]) >= lower
    assert Fraction(exact.enclosure(60)[1]) <= upper
    assert upper - lower < lower / 10**12
    with pytest.raises(ValueError, match="holds no optimum"):
        solution_of(document)


def test_names_that_the_format_does_not_allow_are_rewritten(tmp_path):
    table = tmp_path / "größe.csv"
    table.write_text("0,1\n1,0\n")
    document = document_of(certify_group(parse_group(f"table:{table}")))
    kernel.check(dumps(document))
    assert document["group"]["name"].endswith("gr??e.csv")


@pytest.mark.parametrize(("name", "factors"), [("Q8", 2), ("SL(2,3)", 2), ("S3", 3), ("Z4", 3), ("Q8", 3), ("Z2", 6)])
def test_the_network_attains_the_margin_within_its_rounding_bound(name, factors):
    certificate = certify_group(parse_group(name), factors)
    assert certificate.solution is not None
    group, network = optimal_network(certificate.group, certificate.solution)
    attainment = attained_margin(network, group)
    gamma = float(certificate.gamma)
    assert abs(attainment.margin - gamma) <= min(attainment.rounding, 1e-12 * gamma)
    assert attainment.inputs == group.order**factors
    assert network_numbers(certificate.solution) == network.hidden.size + network.readout.size


def test_other_masses_do_not_attain_it():
    certificate = certify_group(parse_group("S3"), 3)
    group, network = optimal_network(certificate.group, certificate.solution)
    masses = network.masses.copy()
    masses[0] *= 1 + 1e-8
    network = type(network)(network.hidden, network.readout, masses, network.degree, network.norm_squared)
    attainment = attained_margin(network, group)
    assert float(certificate.gamma) - attainment.margin > 10 * attainment.rounding


def test_files_are_read_back(tmp_path):
    certify_to_file("S3", str(tmp_path))
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
