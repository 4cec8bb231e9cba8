"""GAP in a process of its own, for threads.

GAP as a library handles signals, which Python permits in the main thread alone, and it serves one caller at a time.
Workers of a cluster run their tasks in other threads. What is asked there is computed in the main thread of a second
process, which starts at the first question, answers one after the other, and ends with the process that asks.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, ParamSpec, TypeVar

__all__ = ["in_main_thread", "serve"]

P = ParamSpec("P")
T = TypeVar("T")

_SERVE = "import sys; sys.path[:] = {path!r}; from lemmata.numerics.groups.gap_process import serve; serve()"

_one_at_a_time = threading.Lock()
_processes: list[subprocess.Popen[bytes]] = []  # none or one


def in_main_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function itself in the main thread, and in other threads its value from the process that is kept for them.

    It has to stand at the top level of its module, and arguments, value and exceptions have to be picklable.

    Raises:
        RuntimeError: in other threads, if that process ends before it has answered; the next question starts another.
    """

    @functools.wraps(function)
    def anywhere(*args: P.args, **kwargs: P.kwargs) -> T:
        if threading.current_thread() is threading.main_thread():
            return function(*args, **kwargs)
        return _ask((function.__module__, function.__qualname__, args, kwargs))

    return anywhere


def serve() -> None:
    """Answer the questions that come on the standard input, until it is closed; the main program of the process."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what GAP prints is no answer
    while True:
        try:
            module, name, args, kwargs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = (True, getattr(importlib.import_module(module), name)(*args, **kwargs))
        except Exception as error:  # belongs to whoever asked
            answer = (False, error)
        pickle.dump(answer, answers)
        answers.flush()


def _ask(question: tuple[Any, ...]) -> Any:
    with _one_at_a_time:
        process = _process()
        try:
            pickle.dump(question, _open(process.stdin))
            _open(process.stdin).flush()
            succeeded, answer = pickle.load(_open(process.stdout))
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            _end()
            raise RuntimeError(
                f"The process of GAP ended before it had answered {question[1]}{question[2]}."
            ) from error
    if succeeded:
        return answer
    raise answer


def _process() -> subprocess.Popen[bytes]:
    if not _processes:
        command = [sys.executable, "-c", _SERVE.format(path=sys.path)]
        # a session of its own: an interrupt from the terminal is for the process that asks, and ends this one with it
        _processes.append(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        )
    return _processes[0]


@atexit.register
def _end() -> None:
    while _processes:
        process = _processes.pop()
        process.kill()
        process.communicate()


def _open(pipe: Any) -> BinaryIO:
    return pipe
