"""The runner of experiments: files, resumption after a kill, failures, executors; and the commands."""

import inspect
import json
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import psutil
import pytest

from lemmata.numerics.runs.items import Done, FailedItemsError, run
from lemmata.numerics.runs.processes import process_pool
from tests.numerics.runs.items import SETTINGS, square


def slow(settings):
    time.sleep(settings["seconds"])
    return settings["seed"]


class Backwards(Executor):
    """Runs nothing before it is asked for, and then the last first: as free as a cluster."""

    def __init__(self):
        self.waiting = []

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        self.waiting.append((future, fn, args))
        if len(self.waiting) == len(SETTINGS):
            for late, function, arguments in reversed(self.waiting):
                late.set_running_or_notify_cancel()
                late.set_result(function(*arguments))
        return future


@pytest.mark.parametrize("make", [lambda: None, Backwards, lambda: ThreadPoolExecutor(2)])
def test_results_do_not_depend_on_the_executor(make, tmp_path):
    results = run(square, SETTINGS, tmp_path / "deep" / "er", make())
    assert results == {f"seed-{seed}": {"square": seed**2, "pair": [1, 2.5]} for seed in range(4)}
    assert list(results) == list(SETTINGS)
    assert json.loads((tmp_path / "deep" / "er" / "seed-3.json").read_text()) == {
        "settings": {"seed": 3, "sizes": [1, 2]},
        "code": "",
        "result": {"square": 9, "pair": [1, 2.5]},
    }


def test_processes_work_too():
    with process_pool(1) as executor:
        assert run(square, SETTINGS, None, executor) == run(square, SETTINGS)


def test_items_are_kept_while_their_settings_are_the_same(tmp_path):
    run(square, SETTINGS, tmp_path)
    (tmp_path / "seed-1.json").write_text('{"settings": {"se')  # as if a disk were full
    changed = {**SETTINGS, "seed-2": {"seed": 7}, "seed-3": {"seed": 3.0, "sizes": (1, 2)}}
    done: list[Done] = []
    results = run(square, changed, tmp_path, None, done.append)
    assert {entry.key: entry.kept for entry in done} == {
        "seed-0": True,
        "seed-1": False,
        "seed-2": False,
        "seed-3": False,
    }
    assert done[0].kept
    assert results["seed-2"]["square"] == 49
    # what is kept is not computed again: an edited result is believed
    edited = {"settings": {"seed": 0, "sizes": [1, 2]}, "code": "", "result": "edited"}
    (tmp_path / "seed-0.json").write_text(json.dumps(edited))
    assert run(square, SETTINGS, tmp_path)["seed-0"] == "edited"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ('{"settings": {"se', "the file is no JSON (JSONDecodeError)"),
        ("[" * 200_000 + "]" * 200_000, "the file is no JSON (RecursionError)"),
        ('{"settings": {"seed": 0}, "code": "1", "result": NaN}', "the file is no JSON (ValueError)"),
        ("\xff\xfe", "the file is no JSON"),
        ("[1]", "the file has other keys than settings, code and result"),
        ('{"settings": {"seed": 0}, "result": 5}', "the file has other keys than settings, code and result"),
        ('{"settings": {"seed": 0}, "code": "2", "result": 5}', "the code has changed since"),
        ('{"settings": {"seed": 1}, "code": "1", "result": 5}', "the settings have changed since"),
    ],
)
def test_corrupt_and_outdated_items_are_computed_again_with_a_word(tmp_path, content, note):
    (tmp_path / "a.json").write_bytes(content.encode("latin-1"))
    done: list[Done] = []
    assert run(square, {"a": {"seed": 0}}, tmp_path, None, done.append, code="1")["a"]["square"] == 0
    assert (done[0].kept, str(done[0].note).startswith(note)) == (False, True)
    assert run(square, {"a": {"seed": 0}}, tmp_path, None, done.append, code="1")["a"]["square"] == 0
    assert (done[1].kept, done[1].note) == (True, None)


def test_temporary_files_of_a_killed_run_are_removed(tmp_path):
    stray, foreign = tmp_path / ".a.json.0123abcd", tmp_path / ".mine.json.0123abcd"
    for path in (stray, foreign):
        path.write_text("half")
    run(square, {"a": {"seed": 0}}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [foreign.name, "a.json"]


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)])
def test_a_failure_does_not_stop_the_others(executor, tmp_path):
    settings = {f"seed-{seed}": {"seed": seed, "bad": 1} for seed in range(4)}
    done: list[Done] = []
    with pytest.raises(FailedItemsError, match="1 of 4 items failed: seed-1: ArithmeticError: no luck") as failure:
        run(square, settings, tmp_path, executor, done.append)
    assert sorted(failure.value.results) == ["seed-0", "seed-2", "seed-3"]
    assert [entry.key for entry in done if entry.error is not None] == ["seed-1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["seed-0.json", "seed-2.json", "seed-3.json"]


def test_a_result_that_is_no_json_is_a_failure():
    with pytest.raises(FailedItemsError, match="The result of a cannot be written as JSON"):
        run(lambda _: float("nan"), {"a": 1})


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"../a": 1}, "is no file name"),
        ({"": 1}, "is no file name"),
        ({"a": 1, "A": 2}, "differ by case only"),
        ({"a": {1}}, "The settings of a cannot be written as JSON"),
        ({"a": float("inf")}, "The settings of a cannot be written as JSON"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_run(settings, reason, tmp_path):
    ran = []
    with pytest.raises(ValueError, match=reason):
        run(ran.append, settings, tmp_path / "new")
    assert not ran
    assert not (tmp_path / "new").exists()


KILLED = """
import sys
from pathlib import Path
from lemmata.numerics.runs.items import run
from lemmata.numerics.runs.processes import process_pool
from worker import slow
if __name__ == "__main__":
    items = {f"seed-{seed}": {"seed": seed, "seconds": 0.0 if seed < 3 else 60.0} for seed in range(6)}
    run(slow, items, Path(sys.argv[1]), process_pool(2))
"""


def test_a_killed_run_leaves_whole_files_and_no_processes_and_is_resumed(tmp_path, pytestconfig):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    (tmp_path / "worker.py").write_text("import time\n\n" + inspect.getsource(slow))
    folder = tmp_path / "items"
    with subprocess.Popen([sys.executable, str(script), str(folder)], cwd=pytestconfig.rootpath) as process:
        deadline = time.monotonic() + 60
        while len(list(folder.glob("seed-*.json"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert len(children) >= 2
    assert not alive
    assert sorted(path.name for path in folder.iterdir()) == ["seed-0.json", "seed-1.json", "seed-2.json"]
    items = {f"seed-{seed}": {"seed": seed, "seconds": 0.0} for seed in range(4)}
    done: list[Done] = []
    assert run(slow, items, folder, None, done.append) == {f"seed-{seed}": seed for seed in range(4)}
    assert [entry.key for entry in done if not entry.kept] == ["seed-3"]


# ---- experiments and their commands
