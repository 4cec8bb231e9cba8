"""Where many tasks are run, from what a user types: processes of this machine, or the workers of a Dask cluster.

A task of a cluster is a function at the top level of a module with its arguments; its result comes back, and files are
written by the process that asked. A task whose worker is lost is given to another one by the scheduler, which gives up
after a few lost workers. Workers run tasks in threads, but much of numerics is not made for several threads at a time
(the precision of balls and the seeds of generators belong to the process), so that a worker process does one task
after the other, however many threads it has.
"""

from __future__ import annotations

import hashlib
import logging
import platform
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, as_completed
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lemmata.numerics.runs.processes import process_pool

__all__ = ["ClusterExecutor", "ExecutorLostError", "completed", "executor_at"]

PATIENCE = 10.0  # seconds until an address without an answer is given up
LONGEST_GREETING = 1 << 20  # bytes
PACKAGES = ("numerics", "constructions", "certificates", "theorems")
"""Of the toolkit: in a checkout each is a link in the folder of the package `lemmata`, in a wheel a folder."""

_one_at_a_time = threading.Lock()


class ExecutorLostError(RuntimeError):
    """The executor has dropped work: a cluster whose scheduler is gone, or has been started again."""


def completed(futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    """The futures as they are done; none of them may be cancelled by the caller before it has them all.

    Raises:
        ExecutorLostError: as soon as a future was cancelled, which is how a client of Dask says that it lost the
            connection to its scheduler.
    """
    for future in as_completed(futures):
        if future.cancelled():
            raise ExecutorLostError("The executor was lost, with the work that it had.")
        yield future


def executor_at(where: str | None, jobs: int, patience: float = PATIENCE) -> Executor:
    """The executor that a text describes.

    Args:
        where: none for processes of this machine, or ``dask://HOST:PORT``, the scheduler of a Dask cluster.
        jobs: the number of processes of this machine; a cluster has the workers that it has.
        patience: seconds for a scheduler to answer, and for the first worker to be there.

    Raises:
        ValueError: for another text, without the extra ``cluster``, if no scheduler answers, and if it has no workers.
    """
    if where is None:
        return process_pool(jobs)
    match = re.fullmatch(r"dask://([^\s/@:]+|\[[0-9A-Fa-f:]+\]):(\d{1,5})/?", where)
    if match is None or not 0 < int(match[2]) < 1 << 16:
        raise ValueError(
            f"There is no executor {where!r}; accepted is dask://HOST:PORT, the address of the scheduler of a Dask "
            "cluster. Without an executor, processes of this machine do the work."
        )
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise ValueError(
            f"The executor {where} needs Dask, which is an optional extra: pip install 'lemmata[cluster]'."
        ) from error
    logging.getLogger("distributed").setLevel(logging.WARNING)  # not that a connection was closed, with a traceback
    address = f"tcp://{match[1]}:{match[2]}"
    try:
        _greet(match[1].strip("[]"), int(match[2]), patience)
        client = distributed.Client(address, timeout=patience, set_as_default=False)
    except OSError as error:  # a TimeoutError is one
        raise ValueError(f"No Dask scheduler answers at {where} within {patience:g} seconds.") from error
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError as error:
        client.close()
        raise ValueError(
            f"The Dask scheduler at {where} has no workers; start some with: dask worker {address} --nthreads 1"
        ) from error
    return ClusterExecutor(client)


def _greet(host: str, port: int, patience: float) -> None:
    """Hear the first bytes of a scheduler: the length of its greeting. The client would wait for them for ever.

    Raises:
        OSError: if there are none in time, or others.
    """
    with socket.create_connection((host, port), patience) as connection:
        connection.settimeout(patience)
        first = connection.recv(8, socket.MSG_WAITALL)
    if len(first) < 8 or int.from_bytes(first, "little") > LONGEST_GREETING:
        raise ConnectionError("This is no Dask scheduler.")


class ClusterExecutor(Executor):
    """The workers of a Dask cluster, through its client, which is closed with this executor."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executor = client.get_executor(pure=False)
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future of a task. It fails on a worker whose code is not that of this process."""
        return self._executor.submit(_work, code_digest(), fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which goes on. Tasks that have begun there end there, and nobody sees their results."""
        if self._closed:
            return
        self._closed = True
        if not wait or self._client.status != "running":  # it says at length that connections were closed
            for name in ["distributed", "tornado", *logging.root.manager.loggerDict]:
                if name.partition(".")[0] in ("distributed", "tornado"):  # some have levels of their own
                    logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()


def _work(code: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a worker does."""
    if code != code_digest():
        raise RuntimeError(
            f"The worker on {platform.node()} has another version of Lemmata or of Python than the command that it "
            "works for: install the same on all machines, and start its workers again."
        )
    with _one_at_a_time:
        return function(*args, **kwargs)


@cache
def code_digest() -> str:
    """A hash of the source files of Lemmata and of the version of Python, as they were when first asked for."""
    digest = hashlib.sha256(".".join(platform.python_version_tuple()[:2]).encode())
    spec = find_spec("lemmata")
    for folder in map(Path, [] if spec is None else spec.submodule_search_locations or []):
        own = (path for path in folder.rglob("*.py") if path.relative_to(folder).parts[0] not in PACKAGES)
        for path in sorted({*own, *(path for package in PACKAGES for path in (folder / package).rglob("*.py"))}):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()
