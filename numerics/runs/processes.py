"""Pools of worker processes on this machine that never outlive the process that started them."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Executor, InvalidStateError, ProcessPoolExecutor
from multiprocessing import get_context, parent_process

__all__ = ["end_with_parent", "process_pool", "stop"]


def process_pool(workers: int) -> ProcessPoolExecutor:
    """A pool of fresh interpreters (not forks, which are unsafe beside threads) that end with this process."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=end_with_parent)


def stop(executor: Executor) -> None:
    """The end of an executor at once: nothing new begins, and worker processes of this machine are terminated.

    What they were computing is lost; ``shutdown`` alone would wait for it.
    """
    if isinstance(executor, ProcessPoolExecutor):
        # The thread of the pool tells the future of every item that its process is gone, and fails if one was cancelled
        # meanwhile. Nothing follows from that, and nobody should read its traceback.
        report = threading.excepthook
        threading.excepthook = lambda failed: None if failed.exc_type is InvalidStateError else report(failed)
        for child in list((executor._processes or {}).values()):  # its own; None once it was shut down
            child.terminate()
        # Without its processes that thread ends at once; at the end of the interpreter it would close its pipe while
        # the interpreter writes to it.
        executor.shutdown(wait=True, cancel_futures=True)
    else:
        executor.shutdown(wait=False, cancel_futures=True)


def end_with_parent() -> None:
    """Make this worker process end when the process that started it is killed; an initializer for process pools.

    Interrupts from the terminal go to all processes at once; the process that started this one decides what they mean.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
