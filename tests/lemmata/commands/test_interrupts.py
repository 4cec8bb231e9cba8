"""Ctrl-C: every command ends soon, with the status 130, and leaves nothing half-written."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context

import psutil
import pytest
import typer
from rich.console import Console

from lemmata.commands import console
from lemmata.commands.console import interruptible
from lemmata.numerics.runs import files, processes
from lemmata.numerics.runs.files import write_atomically
from tests.lemmata.commands.runner import run

BUSY = 3.0  # seconds of processor time after which a command is in the middle of its work
PATIENCE = 60.0
SOON = 20.0  # a test is no stop-watch: on a busy machine two seconds may be ten


def interrupted(arguments, group=True):
    """Exit status as a shell reports it, and standard error, of a command that is interrupted in the middle."""
    command = [sys.executable, "-m", "lemmata", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        watched, deadline = psutil.Process(process.pid), time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None and processor_time(watched) < BUSY:
            time.sleep(0.05)
        assert process.poll() is None, "the command ended before it could be interrupted"
        workers = watched.children(recursive=True)
        (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
        try:
            _, error = process.communicate(timeout=SOON)
        finally:
            process.kill()
    _, alive = psutil.wait_procs(workers, timeout=SOON)
    assert not alive
    code = process.returncode
    return 128 - code if code < 0 else code, error.decode()


def processor_time(process):
    try:
        family = [process, *process.children(recursive=True)]
        return sum(sum(one.cpu_times()[:2]) for one in family)
    except psutil.NoSuchProcess:
        return 0.0


@pytest.mark.parametrize("group", [True, False], ids=["from the terminal", "to the command alone"])
def test_experiments_end_with_their_workers(tmp_path, group):
    arguments = ["experiment", "run", "parity-cells", "--scale", "full", "--jobs", "2", "--out", str(tmp_path)]
    code, error = interrupted(arguments, group)
    assert code == 130
    assert "items; the same command continues" in error
    assert "Traceback" not in error
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_a_command_in_compiled_code_ends_too():
    code, error = interrupted(["parity", "16", "16"])
    assert code == 130
    assert "Traceback" not in error


def test_sweeps_leave_whole_files(tmp_path):
    code, error = interrupted(["sweep", "--max-order", "60", "--jobs", "1", "--out", str(tmp_path)])
    assert code == 130
    assert "groups; the same command continues" in error
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_an_interrupt_waits_for_the_end_of_a_file(tmp_path, monkeypatch):
    def interrupting(descriptor):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(files.os, "fsync", interrupting)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            write_atomically(b"whole", tmp_path / "file")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"whole"


def test_a_stopped_pool_does_not_finish_its_work_and_leaves_other_processes_alone():
    other = get_context("spawn").Process(target=time.sleep, args=(600,), daemon=True)
    other.start()
    pool = processes.process_pool(1)
    future = pool.submit(time.sleep, 600)
    while not future.running():
        time.sleep(0.05)
    processes.stop(pool)
    processes.stop(pool)  # which may be said twice
    assert future.exception(timeout=SOON) is not None
    assert other.is_alive()
    other.terminate()
    other.join(SOON)


class Interrupted:
    """Something that is destroyed while the user presses Ctrl-C: Python reports the exception and goes on."""

    def __del__(self):
        raise KeyboardInterrupt


def test_an_interrupt_that_python_drops_comes_again():
    before = sys.unraisablehook

    def work():
        with interruptible(lambda: "interrupted"):
            Interrupted()
            time.sleep(PATIENCE)

    started = time.monotonic()
    with pytest.raises(typer.Exit) as stopped:
        work()
    assert time.monotonic() - started < SOON
    assert stopped.value.exit_code == 130
    assert sys.unraisablehook is before


def test_other_exceptions_that_python_drops_are_shown(monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)

    class Broken:
        def __del__(self):
            raise OSError

    with interruptible(lambda: "interrupted"):
        Broken()
    assert [dropped.exc_type for dropped in shown] == [OSError]


def test_long_work_says_what_it_does_where_there_is_no_spinner(monkeypatch, capsys):
    monkeypatch.setattr(console, "PATIENCE", 0.05)
    monkeypatch.setattr(console, "err", Console(file=sys.stderr, force_terminal=False))
    with console.working("counting [a]") as status:
        time.sleep(0.3)
        status.update("almost done")
        time.sleep(0.8)
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("counting [a] (")
    assert said[-1].startswith("almost done (")
    assert 3 <= len(said) <= 6


@pytest.mark.parametrize(
    ("arguments", "module", "text"),
    [
        (["parity", "5", "3"], "parity", "evaluating the network of the parity of 3 of 5 bits on all inputs"),
        (["certify", "random:2x2:2:1"], "operations", "certifying random:2x2:2:1"),
        (["certify", "S3"], "certify", "certifying S3"),
    ],
)
def test_commands_that_may_take_long_say_what_they_do(arguments, module, text, monkeypatch):
    """The work itself, and not only what comes before and after, is in the block that speaks up."""
    said, inside = [], []

    @contextmanager
    def recorded(what):
        said.append(what)
        inside.append(what)
        yield console.err.status("")
        inside.pop()

    command = import_module(f"lemmata.commands.{module}")
    monkeypatch.setattr(command, "working", recorded)
    work = {"parity": "certify_parity", "operations": "_certified", "certify": "certify_group"}[module]
    does = getattr(command, work)
    monkeypatch.setattr(command, work, lambda *given, **named: (inside[-1], does(*given, **named))[1])
    assert run(*arguments)[0] == 0
    assert said == [text]
