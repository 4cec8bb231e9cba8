"""Executors by name: clear refusals, and a cluster of processes on this machine, some of them killed in the middle.

Commands run from end to end, with a worker killed and with the scheduler killed.
"""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress

import dask
import pytest
from distributed import LocalCluster

from lemmata.certificates.groups.sweep import file_name, sweep
from lemmata.commands.workers import workers
from lemmata.numerics.groups.lists import group_list
from lemmata.numerics.groups.names import gap_available
from lemmata.numerics.runs.executors import ClusterExecutor, ExecutorLostError, _work, completed, executor_at
from lemmata.numerics.runs.items import Done, FailedItemsError, run
from lemmata.numerics.runs.processes import stop
from lemmata.theorems.experiments import find_experiment
from tests.lemmata.commands.runner import run as lemmata
from tests.numerics.runs.cluster_tasks import deadly, hold, wait_once
from tests.numerics.runs.items import SETTINGS, square

PATIENCE = 60.0  # seconds, of a busy machine
SOON = 20.0


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two processes with two threads each, which gives up a task with its second worker."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0") as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def address(cluster):
    return cluster.scheduler_address.replace("tcp", "dask")


@pytest.fixture
def executor(address):
    with executor_at(address, 1, PATIENCE) as cluster:
        assert isinstance(cluster, ClusterExecutor)
        yield cluster


def test_results_are_those_of_this_process(executor, tmp_path):
    assert run(square, SETTINGS, tmp_path, executor) == run(square, SETTINGS)
    assert len(list(tmp_path.glob("seed-*.json"))) == len(SETTINGS)


def test_a_failure_does_not_stop_the_others(executor):
    with pytest.raises(FailedItemsError, match="1 of 4 items failed: seed-1: ArithmeticError: no luck") as failure:
        run(square, {f"seed-{seed}": {"seed": seed, "bad": 1} for seed in range(4)}, None, executor)
    assert sorted(failure.value.results) == ["seed-0", "seed-2", "seed-3"]


def test_a_process_does_one_task_after_the_other(executor):
    times = run(hold, {f"task-{number}": {"seconds": 0.2} for number in range(8)}, None, executor).values()
    processes = {process: sorted(span for one, *span in times if one == process) for process, _, _ in times}
    assert os.getpid() not in processes
    assert max(map(len, processes.values())) > 1
    for spans in processes.values():
        assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))


def test_a_worker_killed_in_the_middle_loses_nothing(executor, tmp_path):
    items = {f"item-{number}": {"number": number, "slow": number == 2, "folder": str(tmp_path)} for number in range(10)}
    killed = threading.Thread(target=kill_at, args=(tmp_path / "place",))
    killed.start()
    done: list[Done] = []
    assert run(wait_once, items, tmp_path / "items", executor, done.append) == {
        f"item-{number}": number for number in range(10)
    }
    killed.join()
    assert (tmp_path / "place").exists()
    assert sorted(one.key for one in done) == sorted(items)
    assert not any(one.error for one in done)
    assert sorted(path.stem for path in (tmp_path / "items").iterdir()) == sorted(items)


def kill_at(place):
    deadline = time.monotonic() + PATIENCE
    while not place.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(int(place.read_text()), signal.SIGKILL)


def test_a_task_that_kills_workers_is_given_up_and_the_others_are_kept(executor, tmp_path):
    run(square, SETTINGS, tmp_path, executor)
    with pytest.raises(FailedItemsError, match="bad: KilledWorker"):
        run(deadly, {"bad": {}}, tmp_path, executor)
    assert not (tmp_path / "bad.json").exists()
    assert len(list(tmp_path.iterdir())) == len(SETTINGS)


def test_a_sweep_that_is_interrupted_on_a_cluster_is_continued(address, executor, tmp_path):
    command = [sys.executable, "-m", "lemmata", "sweep", "--max-order", "40", "--out", str(tmp_path)]
    with subprocess.Popen([*command, "--executor", address], stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + PATIENCE
        while len(list(tmp_path.glob("*.json"))) < 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        try:
            _, error = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert time.monotonic() - interrupted < SOON
    assert process.returncode == 130
    assert b"the same command continues" in error
    assert b"Traceback" not in error
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    kept = {path.name for path in tmp_path.glob("*.json")}
    assert 3 <= len(kept) < len(group_list(40).names)
    names = [name for name in group_list(40).names if file_name(name) in kept]
    outcomes = list(sweep([*names, "D7"], tmp_path, executor))
    assert {outcome.name: outcome.error for outcome in outcomes} == dict.fromkeys([*names, "D7"])
    assert all(outcome.kept for outcome in outcomes if outcome.name in names)
    assert (tmp_path / "D7.json").exists()


@contextmanager
def at_work(folder, count, strike):
    """A block beside which ``strike`` is called as soon as so many files are in the folder; yields what it returned."""
    struck, over = [], threading.Event()

    def watch():
        while not over.wait(0.005):
            kept = names_in(folder)
            if len(kept) >= count:
                struck.append((kept, strike()))
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield struck
    finally:
        over.set()
        watcher.join()


def names_in(folder):
    """The names of the files, without those that are being written."""
    return {path.stem for path in folder.glob("*.json") if not path.name.startswith(".")}


def kill_a_busy_worker(cluster):
    """Kill one that the scheduler has given tasks, and say which."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        busy = {state.address for state in list(cluster.scheduler.workers.values()) if state.processing}
        for nanny in list(cluster.workers.values()):
            if nanny.worker_address in busy and nanny.pid:
                os.kill(nanny.pid, signal.SIGKILL)
                return nanny.pid
        time.sleep(0.005)
    return None


def test_an_experiment_loses_nothing_with_a_worker(cluster, address, tmp_path):
    name = "parity-cells"
    _, experiment = find_experiment(name)
    items, folder = experiment.scales["quick"], tmp_path / f"{name}-quick"
    command = ("experiment", "run", name, "--out", str(tmp_path), "--executor", address, "--json")
    with at_work(folder, 1, lambda: kill_a_busy_worker(cluster)) as struck:
        code, output, error = lemmata(*command)
    [(kept, killed)] = struck
    assert killed is not None
    assert 1 <= len(kept) < len(items)
    assert code == 0
    assert "failed" not in error
    assert names_in(folder) == set(items)
    summary = json.loads(output)
    assert json.loads((tmp_path / f"{name}.json").read_text()) == summary
    times = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert json.loads(lemmata(*command)[1])["items"] == summary["items"]  # a second run keeps all
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == times
    short = min(items, key=lambda key: (folder / f"{key}.json").stat().st_mtime_ns)
    assert json.loads((folder / f"{short}.json").read_text())["result"] == json.loads(
        json.dumps(experiment.work(json.loads(json.dumps(items[short]))))
    )


def test_a_survey_of_tables_loses_nothing_with_a_worker(cluster, address, tmp_path):
    command = ("survey", "--family", "operations:3", "--executor", address, "--json")
    folder = tmp_path / "entries"
    with at_work(folder, 2, lambda: kill_a_busy_worker(cluster)) as struck:
        code, output, error = lemmata(*command, "--out", str(tmp_path))
    [(kept, killed)] = struck
    assert killed is not None
    assert 2 <= len(kept) < 16
    assert code == 0
    assert "failed" not in error
    totals = json.loads(output)["families"]["operations:3"]
    assert (totals["tables"], totals["closed"], totals["left"]) == (16, 16, 0)
    assert len(names_in(folder)) == 16
    entries = json.loads((tmp_path / "operations.json").read_text())["families"]["operations:3"]
    assert len({entry["name"] for entry in entries}) == 16
    for name in sorted(names_in(folder) - kept)[:8]:
        (folder / f"{name}.json").unlink()
    again = lemmata(*command, "--out", str(tmp_path))
    assert again[0] == 0
    assert json.loads((tmp_path / "operations.json").read_text())["families"]["operations:3"] == entries


@pytest.mark.skipif(not gap_available(), reason="the extra gap is not installed")
def test_a_sweep_over_character_tables_loses_nothing_with_a_worker(cluster, address, tmp_path):
    names = ["A5", "A6", "A7", "L2(7)", "L2(8)", "L2(11)", "M11", *(f"Symmetric({n})" for n in range(5, 12))]
    chosen = [part for name in names for part in ("--name", name)]
    with at_work(tmp_path / "entries", 2, lambda: kill_a_busy_worker(cluster)) as struck:
        code, output, _ = lemmata("tables", "--out", str(tmp_path), "--executor", address, "--json", *chosen)
    [(kept, killed)] = struck
    assert killed is not None
    assert 2 <= len(kept) < len(names)
    assert code == 0
    assert {**json.loads(output), "tables": ""} == {"certified": len(names), "refused": {}, "tables": ""}
    assert len(names_in(tmp_path / "entries")) == len(names)


@contextmanager
def mortal_cluster(folder):
    """A scheduler and a worker, in processes of their own: the scheduler's process and its address."""
    file = folder / "scheduler.json"
    tool = [sys.executable, "-m"]
    scheduler = [*tool, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    worker = [*tool, "distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    where = ["--scheduler-file", str(file)]
    with subprocess.Popen([*scheduler, *where], **quiet) as one, subprocess.Popen([*worker, *where], **quiet) as two:
        try:
            deadline, address = time.monotonic() + PATIENCE, None
            while address is None and time.monotonic() < deadline:
                time.sleep(0.02)
                with suppress(FileNotFoundError, ValueError):  # it is not written at one stroke
                    address = json.loads(file.read_text())["address"].replace("tcp", "dask")
            assert address is not None
            executor_at(address, 1, PATIENCE).shutdown()  # the worker is there
            yield one, address
        finally:
            one.kill()
            two.kill()


def test_an_experiment_whose_scheduler_is_lost_says_so_and_is_continued(address, tmp_path):
    name = "parity-cells"
    items, folder = find_experiment(name)[1].scales["quick"], tmp_path / f"{name}-quick"
    command = ("experiment", "run", name, "--out", str(tmp_path), "--executor")
    with mortal_cluster(tmp_path) as (scheduler, doomed), at_work(folder, 2, scheduler.kill) as struck:
        code, output, error = lemmata(*command, doomed)
        gone = time.monotonic()
    [(kept, _)] = struck
    assert (code, output) == (1, "")
    assert f"the scheduler at {doomed} was lost; stopped after {len(names_in(folder))} of {len(items)} items" in error
    assert error.endswith("; the same command continues")
    assert "Traceback" not in error
    assert "failed" not in error
    assert not (tmp_path / f"{name}.json").exists()
    assert kept <= names_in(folder) < set(items)
    assert [path for path in folder.iterdir() if path.suffix != ".json" or path.name.startswith(".")] == []
    before = {path: (path.stat().st_mtime_ns, json.loads(path.read_text())) for path in folder.iterdir()}
    assert time.monotonic() - gone < PATIENCE
    assert lemmata(*command, address)[0] == 0
    assert names_in(folder) == set(items)
    assert {path: (path.stat().st_mtime_ns, json.loads(path.read_text())) for path in before} == before


class Dropping(Executor):
    """An executor that finishes the first task, and then drops all others, as a client without scheduler does."""

    def __init__(self):
        self.futures = []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        if self.futures:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(fn(*args, **kwargs))
        self.futures.append(future)
        return future


def test_work_that_is_dropped_ends_a_run_and_a_sweep(tmp_path):
    with pytest.raises(ExecutorLostError, match="with the work that it had"):
        run(square, SETTINGS, tmp_path / "items", Dropping())
    assert len(names_in(tmp_path / "items")) <= 1
    with pytest.raises(ExecutorLostError):
        list(sweep(["Z2", "Z3"], tmp_path, Dropping()))
    with pytest.raises(ExecutorLostError):
        list(completed([cancelled()]))


def cancelled():
    future = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    return future


@pytest.mark.skipif(not gap_available(), reason="the extra gap is not installed")
def test_workers_ask_gap(executor, tmp_path):
    (outcome,) = sweep(["small:8,3"], tmp_path, executor)
    assert outcome.error is None
    assert outcome.row["margin_exact"]


def test_leaving_does_not_wait_for_tasks(address):
    executor = executor_at(address, 1, PATIENCE)
    futures = [executor.submit(hold, {"seconds": 5.0}) for _ in range(500)]
    start = time.monotonic()
    stop(executor)
    executor.shutdown()
    assert time.monotonic() - start < 4.0
    assert not any(future.done() and not future.cancelled() for future in futures)


def test_other_code_is_refused():
    with pytest.raises(RuntimeError, match="has another version of Lemmata or of Python"):
        _work("another", square, (SETTINGS["seed-0"],), {})


@pytest.mark.parametrize(
    "where",
    ["ray://here:8786", "dask://here", "dask://here:0", "dask://here:65536", "dask://a b:8786", "here:8786", "dask://"],
)
def test_other_addresses_are_refused(where):
    with pytest.raises(ValueError, match=r"There is no executor .*; accepted is dask://HOST:PORT"):
        executor_at(where, 1)


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'lemmata\[cluster\]'"):
        executor_at("dask://localhost:8786", 1)


@pytest.mark.parametrize("greeting", [None, b"", b"SSH", b"SSH-2.0-OpenSSH"])
def test_an_address_without_a_scheduler_is_given_up(greeting):
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = f"dask://127.0.0.1:{server.getsockname()[1]}"
        if greeting is None:
            server.close()
        else:
            threading.Thread(target=greet, args=(server, greeting)).start()
        start = time.monotonic()
        with pytest.raises(ValueError, match=f"No Dask scheduler answers at {where} within 0.5 seconds"):
            executor_at(where, 1, patience=0.5)
    assert time.monotonic() - start < PATIENCE


def greet(server, greeting):
    connection, _ = server.accept()
    with connection:
        connection.sendall(greeting)
        connection.settimeout(PATIENCE)
        with suppress(ConnectionError):
            connection.recv(1)  # until the other side has given up


def test_a_scheduler_without_workers_is_refused():
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0", protocol="tcp") as empty:
        where = empty.scheduler_address.replace("tcp", "dask")
        with pytest.raises(ValueError, match="has no workers; start some with: dask worker tcp://"):
            executor_at(where, 1, patience=1.0)


def test_without_an_address_processes_of_this_machine_work():
    with workers(1, lambda: "") as executor:
        assert executor.submit(os.getpid).result(timeout=PATIENCE) != os.getpid()
