"""The tool of emulated processors: it says what took effect, what it could not emulate, and what touches floats."""

import sys

import pytest

from tests.machines import __main__ as tool
from tests.machines import interpreters, processors
from tests.machines.processors import (
    MACHINES,
    IllegalInstructionError,
    effective,
    environment,
    not_emulated,
    unlike,
    without_choice,
)

BY_NAME = {machine.name: machine for machine in MACHINES}
HERE = {"processor": "x86_64", "blas": "Haswell", "threads": 2, "dispatched": ["X86_V3", "X86_V4"],
        "supported": ["X86_V3", "X86_V4"], "disabled": [], "torch": "AVX2", "torch threads": 2, "mkl": None,
        "numba": "haswell"}  # fmt: skip


@pytest.fixture(scope="module")
def dispatched():
    return effective(without_choice())["dispatched"]


def test_settings_from_outside_take_effect_and_are_read_back(dispatched):
    machine = BY_NAME["nehalem"]
    found = effective(without_choice() | environment(machine, dispatched))
    if found["processor"] in ("x86_64", "AMD64"):
        assert (found["blas"], found["torch"], found["numba"], found["threads"]) == ("Nehalem", "DEFAULT", "generic", 1)
        assert not_emulated(machine, found) is None
        assert "OpenBLAS Nehalem for SkylakeX" in not_emulated(BY_NAME["skylakex"], found)
    else:
        assert not_emulated(machine, found).startswith("a processor of kind")


def test_what_took_no_effect_is_named():
    assert not_emulated(BY_NAME["here"], {**HERE, "threads": 1, "torch threads": 1, "processor": "aarch64"}) is None
    assert not_emulated(BY_NAME["here"], {**HERE, "threads": 1}) == "threads of torch 2 for 1"
    assert not_emulated(BY_NAME["haswell"], {**HERE, "threads": 1, "torch threads": 1, "disabled": ["X86_V4"]}) is None
    wrong = not_emulated(BY_NAME["haswell"], HERE)
    assert wrong == "NumPy without [] for ['X86_V4'], threads of OpenBLAS 2 for 1, threads of torch 2 for 1"
    without = {**HERE, "blas": "SkylakeX", "torch": "AVX512", "numba": "skylake-avx512", "supported": ["X86_V3"]}
    assert not_emulated(BY_NAME["skylakex"], without) == "no AVX-512 here"
    assert not_emulated(BY_NAME["prescott"], {**HERE, "processor": "aarch64"}) == "a processor of kind aarch64"


def test_another_kind_of_processor_fails_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(processors, "effective", lambda variables: {**HERE, "processor": "aarch64"})
    status = tool.main(["--machine", "zen", "--paths", "tests/machines", "--folder", str(tmp_path)])
    printed = capsys.readouterr().out
    assert status == 0
    assert "not emulated: a processor of kind aarch64" in " ".join(printed.split())
    assert "0 passed, 0 failed" in printed


def test_unknown_names_are_refused_before_anything_runs(capsys):
    assert tool.main(["--machine", "z80"]) == 2
    assert "there is no processor 'z80'; there are here, prescott, nehalem" in capsys.readouterr().err
    assert tool.main(["--touching", "--files", "0"]) == 2
    assert tool.main(["--touching", "--minutes", "nan"]) == 2
    assert capsys.readouterr().err.count("--files is at least 1, and --minutes more than 0") == 2
    assert tool.main(["--paths", "nowhere"]) == 2
    assert "there is nothing to run at nowhere" in capsys.readouterr().err
    assert interpreters.main(["--only", "2.7"]) == 2
    assert "'2.7' is none of 3.11" in capsys.readouterr().err


def test_a_version_that_is_not_here_fails_nothing(monkeypatch, capsys):
    monkeypatch.setattr(interpreters.shutil, "which", lambda name: None)
    assert interpreters.main([]) == 0
    assert capsys.readouterr().out.count("not on this machine") == len(interpreters.VERSIONS)
    assert set(interpreters.promised()) <= set(interpreters.VERSIONS)


@pytest.mark.parametrize(
    ("blas", "refused", "names"),
    [
        ("Haswell", (), ["skylakex", "nehalem"]),
        ("SkylakeX", (), ["nehalem", "haswell"]),
        ("Haswell", ("skylakex",), ["nehalem", "sandybridge"]),
        ("Haswell", ("skylakex", "nehalem", "sandybridge"), []),
    ],
)
def test_two_processors_unlike_this_one(monkeypatch, blas, refused, names):
    def emulated(machine, dispatched):
        return HERE, "its kernels do not run here (SIGILL)" if machine.name in refused else None

    monkeypatch.setattr(processors, "emulated", emulated)
    assert [machine.name for machine in unlike({**HERE, "blas": blas}, 2)] == names


def test_kernels_that_do_not_run_here_fail_nothing(monkeypatch, capsys, tmp_path):
    """As those with AVX-512 on a processor without: the process that is asked is stopped by a signal."""
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{killed}'\n")
    program.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(program))
        with pytest.raises(IllegalInstructionError, match=r"its kernels do not run here \(SIGILL\)"):
            effective(without_choice())
    ask = processors.effective

    def stopped(variables):
        if variables.get("OPENBLAS_CORETYPE") == "SkylakeX":
            raise IllegalInstructionError("its kernels do not run here (SIGILL)")
        return ask(variables)

    monkeypatch.setattr(processors, "effective", stopped)
    status = tool.main(["--machine", "skylakex", "--paths", "tests/machines", "--folder", str(tmp_path / "kept")])
    printed = capsys.readouterr().out
    assert status == 0
    assert "not emulated: its kernels do not run here (SIGILL)" in " ".join(printed.split())
    assert "0 passed, 0 failed" in printed


def test_tests_that_touch_floats_are_found_by_their_values():
    def note(seen, reads=False):
        return {"outcome": "passed", "seen": seen, "reads": reads}

    mine = "tests/machines/test_machines.py"
    here = {f"{mine}::a[1]": note("x"), f"{mine}::a[2]": note("y"), f"{mine}::b": note("z"),
            f"{mine}::c": note("", reads=True), f"{mine}::K::d": note("u"), f"{mine}::e": note("v")}  # fmt: skip
    there = {**here, f"{mine}::a[2]": note("other"), f"{mine}::K::d": note("w")}
    del there[f"{mine}::e"]
    record = tool.found({"here": {"outcomes": here}, "nehalem": {"outcomes": there}})
    assert record["tests"] == {mine: ["K::d", "a", "c", "e"]}
    chosen = tool.touching(record)
    assert chosen[:4] == [f"{mine}::{name}" for name in ("K::d", "a", "c", "e")]
    assert mine not in chosen
    record["files"][mine] = "changed since"
    assert mine in tool.touching(record)
    assert f"{mine}::a" not in tool.touching(record)


def test_a_sample_has_what_changed_and_whole_files_of_the_rest():
    paths = ["a.py::x", "a.py::y", "b.py::x", "c.py::x", "d.py::x", "new.py"]
    samples = [tool.drawn(paths, 2, str(seed)) for seed in range(40)]
    assert {sample[0] for sample in samples} == {"new.py"}
    assert {tuple(sample[1:]) for sample in samples} == {
        ("a.py::x", "a.py::y"),
        ("b.py::x",),
        ("c.py::x",),
        ("d.py::x",),
    }
    assert tool.drawn(paths, 2, "7") == samples[7]
    assert sorted(tool.drawn(paths, 99, "7")) == sorted(paths)


def test_failures_are_listed_with_their_processors(capsys):
    row = {"chosen": HERE, "failed": [], "passed": 3, "seconds": 1, "whole": True}
    tool.print_table({"here": row, "zen": {**row, "failed": ["tests/a.py::b"], "whole": False}})
    printed = capsys.readouterr().out
    assert "failed on zen: tests/a.py::b" in printed
    assert "3, stopped" in printed
    assert "6 passed, 1 failed" in printed


def test_without_a_record_nothing_is_repeated(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(tool, "RECORD", tmp_path / "touching.json")
    assert tool.main(["--touching"]) == 2
    assert "run --find first" in capsys.readouterr().err
