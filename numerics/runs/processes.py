"""Pools of worker processes on this machine that never outlive the process that started them."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process

__all__ = ["end_with_parent", "process_pool"]


def process_pool(workers: int) -> ProcessPoolExecutor:
    """A pool of fresh interpreters (not forks, which are unsafe beside threads) that end with this process."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=end_with_parent)


def end_with_parent() -> None:
    """Make this worker process end when the process that started it is killed; an initializer for process pools."""
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
