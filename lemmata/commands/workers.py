"""Work in many processes with a bar of progress, which an interrupt ends at once: sweeps, surveys, experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TypeVar

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lemmata.commands.console import err, interruptible
from lemmata.numerics.runs.executors import ExecutorLostError, executor_at
from lemmata.numerics.runs.items import Done, FailedItemsError
from lemmata.numerics.runs.processes import stop

__all__ = ["counted_items", "progress_bar", "workers"]

Results = TypeVar("Results")


@contextmanager
def workers(jobs: int, stopped: Callable[[], str], where: str | None = None) -> Iterator[Executor]:
    """An executor of so many processes, or the one that ``where`` describes: see `lemmata.numerics.runs.executors`.

    An interrupt terminates them, or leaves the cluster, prints the sentence of ``stopped``, and ends the command with
    the status 130; so does the loss of the scheduler, with the status 1.
    """
    with interruptible(stopped):
        executor = executor_at(where, jobs)
        try:
            yield executor
        except KeyboardInterrupt:
            stop(executor)
            raise
        except ExecutorLostError as error:
            stop(executor)
            lost = "the work was cancelled" if where is None else f"the scheduler at {where} was lost"
            err.print(escape(f"{lost}; {stopped()}"), soft_wrap=True)
            raise typer.Exit(1) from error
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def counted_items(
    jobs: int,
    doing: str,
    batches: str,
    work: Callable[[Executor, Callable[[int], None], Callable[[Done], None]], Results],
) -> Results:
    """The results of work(executor, begin, advance) with a bar; the failed items are printed, and end the command.

    Raises:
        typer.Exit: with status 1 when an item failed.
    """
    finished = 0

    def stopped() -> str:
        return f"stopped after {finished} {batches}; the same command continues"

    try:
        with workers(jobs, stopped) as executor, progress_bar() as bar:
            task = bar.add_task(doing, total=None)

            def begin(total: int) -> None:
                bar.update(task, total=total)

            def advance(_: Done) -> None:
                nonlocal finished
                finished += 1
                bar.update(task, advance=1)

            return work(executor, begin, advance)
    except FailedItemsError as failure:
        for key, error in failure.errors.items():
            err.print(f"[red]failed[/red]: {escape(f'{key}: {error}')}", soft_wrap=True)
        raise typer.Exit(1) from failure


def progress_bar() -> Progress:
    """How many items are done, which was the last, and the time that is left."""
    columns = (TextColumn("{task.description:>14}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err)
