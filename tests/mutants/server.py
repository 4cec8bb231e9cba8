"""A server of test runs: ``python server.py`` in a copy of the tree, a request and an answer per line.

Other people's packages are imported once; each request is a fork, in which the library is imported as it stands on the
disk at that moment and pytest runs. So a mutant costs no start of NumPy and PyTorch, and no state of an earlier run
(a cache, a module) reaches a later one. The server itself never imports anything of this project.

A request is a JSON object: `files` (for pytest), `first` (ids of tests in the order in which they are to run, all
others after them), `only` (whether to leave the others out), `without` (ids to leave out), `stop` (at the first
failure), `cover` (packages of which the executed lines are recorded, by test), `limit` (seconds of the clock, for the
whole run), `limits` (seconds of the processor by test, and `slack` for any other and for the imports), `out` (the file
of the answer), `mutants` (files and their changed texts: the tests run for each, in a fork of their own after they have
been collected, in which the functions that differ have been exchanged; the answer is a list).
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import CodeType, FunctionType

PRELOADED = (
    "numpy", "scipy.stats", "scipy.optimize", "scipy.sparse", "scipy.linalg", "scipy.special", "sympy", "flint",
    "torch", "numba", "cvxpy", "hypothesis", "hypothesis.extra.numpy", "pytest", "matplotlib", "matplotlib.pyplot",
    "rich", "typer", "typer.testing", "coverage",
)  # fmt: skip

IDLE = 120.0
"""Seconds of the clock after which a run that takes no time on the processor is given up."""


class Watch:
    """What a run of pytest did: seconds and outcome of each test, the first failure, the lines under each test."""

    def __init__(self, request, tracer):
        self.request, self.tracer = request, tracer
        self.seconds, self.failed, self.reason, self.late, self.decides = {}, [], "", False, {}
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
        return words | {"late": self.late, "decides": self.decides}

    def pytest_collection_modifyitems(self, items):
        rank = {name: place for place, name in enumerate(self.request["first"])}
        without = set(self.request["without"])
        items[:] = [item for item in items if item.nodeid not in without]
        if self.request["only"]:
            items[:] = [item for item in items if item.nodeid in rank]
        items.sort(key=lambda item: rank.get(item.nodeid, len(rank)))
        for item in items:
            marks = [mark.args[0] for mark in item.iter_markers("evidence")]
            self.decides[item.nodeid] = sorted({one.statement for one in marks if not one.supporting})

    def pytest_runtestloop(self, session):
        """All tests for each of the mutants, if there are any; else pytest's own loop."""
        if not self.request["mutants"]:
            return
        answers = []
        for number, mutant in enumerate(self.request["mutants"]):
            out = f"{self.request['out']}.{number}"
            child = os.fork()
            if child == 0:
                self._run_changed(session, mutant, out)
            ended = finished(child, time.monotonic() + self.request["limit_each"])
            answers.append(json.loads(Path(out).read_text("utf-8")) if Path(out).is_file() else died(ended))
        write_answer(self.request, answers)
        os._exit(0)

    def _run_changed(self, session, mutant, out):
        """The tests in this process, which ends with them."""
        try:
            os.setpgid(0, 0)
            self.request = self.request | {"out": out}
            self.seconds, self.failed, self.reason, self.late = {}, [], "", False
            if session.testsfailed or not plant(mutant["file"], mutant["code"]):
                write_answer(self.request, {"planted": False})
                os._exit(0)
            for item, following in zip(session.items, [*session.items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    break
            signal.setitimer(signal.ITIMER_PROF, 0)
            write_answer(self.request, self.answer(1 if self.failed else 0))
        finally:
            os._exit(1)

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
    import pytest

    tracer = None
    if request["cover"]:
        import coverage

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


def plant(file, text):
    """Exchange the code of all functions of a file of which a changed text has another one; how many there were."""
    path = Path(file).resolve()
    old = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
    count = 0
    changed = {}
    for function in [one for one in gc.get_objects() if type(one) is FunctionType]:
        name = function.__code__.co_filename
        if name not in changed:
            same = name.endswith(path.name) and Path(name).resolve() == path
            changed[name] = differing(old, compile(text, name, "exec", dont_inherit=True)) if same else {}
        code = function.__code__
        new = changed[name].get((code.co_qualname, code.co_firstlineno))
        if new is not None and new.co_freevars == code.co_freevars:
            function.__code__ = new
            count += 1
    return count


def differing(old, new):
    """The codes of the functions at the top and in classes that differ, by qualified name and line of the old one."""
    found = {}
    for one, two in zip(inner_codes(old), inner_codes(new), strict=True):
        if one != two:
            if one.co_flags & 1:  # a function; the body of a class has no fast locals
                found[one.co_qualname, one.co_firstlineno] = two
            else:
                found |= differing(one, two)
    return found


def inner_codes(code):
    """The codes among the constants of a code."""
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def died(ended):
    """The answer for tests that gave none."""
    reason = "the interpreter died" if ended else "more time than the whole run may take"
    return {"status": 3, "seconds": {}, "failed": ["(the interpreter)"], "reason": reason, "late": not ended}


def finished(child, end):
    """Wait for a process until a time; whether it ended by itself. Its group is killed in any case.

    It is killed as well once its group and its session have taken no time on the processor for `IDLE` seconds: it
    waits for what never comes, which no limit on the processor ends.
    """
    spent, since = 0.0, time.monotonic()
    look = since + IDLE / 4
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        now = time.monotonic()
        if now > look:
            taken, look = processor_of(child), now + IDLE / 4
            if taken > spent + 0.05:
                spent, since = taken, now
        if now > end or now > since + IDLE:
            _kill(child)
            os.waitpid(child, 0)
            return False
        time.sleep(0.01)
    _kill(child)  # what the tests have left running
    return True


def processor_of(leader):
    """Seconds that the living processes of a group or session have taken, with their children that have ended."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            if str(leader) in fields[2:4]:  # mutants that are exchanged in memory run in groups of their own
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


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
    signal.signal(signal.SIGTERM, lambda *_: (_kill(child), os._exit(1)))
    return finished(child, time.monotonic() + request["limit"])


def processor_of_children():
    """Seconds of the processor that the children which have ended took."""
    times = os.times()
    return times.children_user + times.children_system


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
        started, spent = time.monotonic(), processor_of_children()
        ended = serve_one(request)
        spent = processor_of_children() - spent
        print(json.dumps({"ended": ended, "wall": time.monotonic() - started, "processor": spent}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or PRELOADED)
