"""A server of test runs: ``python server.py`` in a copy of the tree, a request and an answer per line.

Other people's packages are imported once; each request is a fork, in which the library is imported as it stands on the
disk at that moment and pytest runs. So a mutant costs no start of NumPy and PyTorch, and no state of an earlier run
(a cache, a module) reaches a later one. The server itself never imports anything of this project.

A request is a JSON object: `files` (for pytest), `first` (ids of tests in the order in which they are to run, all
others after them), `only` (whether to leave the others out), `without` (ids to leave out), `stop` (at the first
failure), `cover` (packages of which the executed lines are recorded, by test), `limit` (seconds of the clock, for the
whole run), `limits` (seconds of the processor by test, and `slack` for any other and for the imports), `out` (the file
of the answer).
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path

PRELOADED = (
    "numpy", "scipy.stats", "scipy.optimize", "scipy.sparse", "scipy.linalg", "scipy.special", "sympy", "flint",
    "torch", "numba", "cvxpy", "hypothesis", "hypothesis.extra.numpy", "pytest", "matplotlib", "matplotlib.pyplot",
    "rich", "typer", "typer.testing", "coverage",
)  # fmt: skip


class Watch:
    """What a run of pytest did: seconds and outcome of each test, the first failure, the lines under each test."""

    def __init__(self, request, tracer):
        self.request, self.tracer = request, tracer
        self.seconds, self.failed, self.reason, self.late = {}, [], "", False
        self.current = "(imports)"
        signal.signal(signal.SIGPROF, self._stop)
        self._allow(request["slack"])

    def _allow(self, seconds):
        """Another time on the processor: a loop without end shall not last until the limit of the whole run."""
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def _stop(self, *_):
        self.failed.append(self.current)
        self.late, self.reason = True, "more time on the processor than it may take"
        write_answer(self.request, self.answer(1))
        os._exit(0)

    def answer(self, status):
        """What the server answers."""
        words = {"status": status, "seconds": self.seconds, "failed": self.failed, "reason": self.reason}
        return words | {"late": self.late}

    def pytest_collection_modifyitems(self, items):
        rank = {name: place for place, name in enumerate(self.request["first"])}
        without = set(self.request["without"])
        items[:] = [item for item in items if item.nodeid not in without]
        if self.request["only"]:
            items[:] = [item for item in items if item.nodeid in rank]
        items.sort(key=lambda item: rank.get(item.nodeid, len(rank)))

    def pytest_runtest_logstart(self, nodeid):
        self.current = nodeid
        self._allow(self.request["limits"].get(nodeid, self.request["slack"]))
        if self.tracer is not None:
            self.tracer.switch_context(nodeid)

    def pytest_runtest_logfinish(self):
        if self.tracer is not None:
            self.tracer.switch_context("")

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self._fail(report)

    def pytest_collectreport(self, report):
        if report.failed:
            self._fail(report)

    def _fail(self, report):
        if report.nodeid not in self.failed:
            self.failed.append(report.nodeid)
        if not self.reason:
            lines = [line for line in str(report.longrepr).splitlines() if line.startswith("E ")]
            self.reason = (lines or str(report.longrepr).splitlines()[-1:] or [""])[0].removeprefix("E ").strip()[:200]


def run_tests(request):
    """One run of pytest, in this process; the answer goes to the file `out`."""
    import coverage
    import pytest

    tracer = None
    if request["cover"]:
        here = Path.cwd()
        tracer = coverage.Coverage(
            data_file=None, include=[f"{here / name}/*" for name in request["cover"]], config_file=False
        )
        tracer.start()
    watch = Watch(request, tracer)
    arguments = ["-q", "-p", "no:cacheprovider", *(["-x"] if request["stop"] else []), *request["files"]]
    status = int(pytest.main(arguments, plugins=[watch]))
    signal.setitimer(signal.ITIMER_PROF, 0)
    answer = watch.answer(status)
    if tracer is not None:
        tracer.stop()
        answer["lines"] = _lines(tracer.get_data())
    write_answer(request, answer)


def write_answer(request, answer):
    """The answer in its file, at one stroke."""
    out = Path(request["out"])
    out.with_suffix(".part").write_text(json.dumps(answer), encoding="utf-8")
    out.with_suffix(".part").replace(out)


def _lines(data):
    """The executed lines by file and test; what runs at import belongs to no test."""
    here, lines = Path.cwd(), {}
    for file in data.measured_files():
        tests = {}
        for line, names in data.contexts_by_lineno(file).items():
            for name in names:
                if name:
                    tests.setdefault(name, []).append(line)
        lines[str(Path(file).relative_to(here))] = tests
    return lines


def serve_one(request):
    """The fork of a request; true if it ended by itself, false if it was killed at its limit."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            log = os.open(f"{request['out']}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(log, stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            sys.dont_write_bytecode = not request["cover"]
            run_tests(request)
            status = 0
        finally:
            os._exit(status)
    end = time.monotonic() + request["limit"]
    signal.signal(signal.SIGTERM, lambda *_: (_kill(child), os._exit(1)))
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            _kill(child)
            os.waitpid(child, 0)
            return False
        time.sleep(0.02)
    _kill(child)  # what the tests have left running
    return True


def _kill(group):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def main(preloaded):
    """Requests from the standard input until it ends."""
    sys.path[:] = [str(Path.cwd()), *(place for place in sys.path if place != str(Path(__file__).parent))]
    for name in preloaded:
        importlib.import_module(name)
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        started = time.monotonic()
        ended = serve_one(request)
        print(json.dumps({"ended": ended, "wall": time.monotonic() - started}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or PRELOADED)
