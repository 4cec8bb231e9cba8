"""The ledger: what the documents claim, with verdicts, and the committed results of the experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lemmata.theorems.ledger import Chapter, Statement, load_ledger, spelled

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["results", "show", "statement"]

MANY = 12
"""Of more statements than these only the list is printed."""


def find_statements(text: str) -> list[tuple[Chapter, Statement]]:
    """The statement of an id with its chapter, or else all whose ids contain the text, however it is spelled.

    Raises:
        ValueError: if there is none.
    """
    wanted = spelled(text)
    all_of_them = [(chapter, entry) for chapter in load_ledger().chapters for entry in chapter.statements]
    found = [pair for pair in all_of_them if wanted and wanted in spelled(pair[1].id)]
    if not found:
        raise ValueError(
            f"no statement of the ledger has an id that contains {text!r}. "
            "Ids look like feature-emergence:theorem-7.7; a part such as theorem-7 lists all that contain it."
        )
    return [pair for pair in found if spelled(pair[1].id) == wanted] or found


def show(text: str, *, console: Console | None = None) -> None:
    """The entries of the ledger with this id, or whose ids contain the text, printed as `lemmata show` does.

    Of more than `MANY` the list is printed, with their verdicts and titles.

        lm.show("turing:theorem-4.1")

    Args:
        text: an id such as "feature-emergence:theorem-7.7", or a part of one, in any case and with blanks; a chapter,
            also by the name of its package, such as "hidden_progress".
        console: where to print; the standard output if None.

    Raises:
        ValueError: if there is none.
    """
    from rich.console import Console

    from lemmata.reports.ledger import print_ledger, print_statement

    out, found = console or Console(highlight=False), find_statements(text)
    if len(found) > MANY:
        print_ledger(out, found)
        out.print("Name one of them to see all that is said of it.", soft_wrap=True)
        return
    for chapter, entry in found:
        print_statement(out, chapter, entry)


def statement(id: str) -> Statement:
    """The entry of the ledger with this id: its title, verdict, erratum, and the printed and corrected forms.

    Case and blanks do not matter, and an older id (``deep-icgd:def-1``) is understood.

    Raises:
        ValueError: if there is none.
    """
    [*found] = (entry for entry in load_ledger().statements() if spelled(entry.id) == spelled(id))
    if not found:
        raise ValueError(f"There is no statement {id!r} in the ledger; lm.show prints all whose ids contain a text.")
    return found[0]


def results(experiment: str) -> dict[str, Any]:
    """The committed results of an experiment that repeats one of a document; what `lemmata experiment show` prints.

    Args:
        experiment: a name from `lemmata experiment list`, such as "parity-progress".

    Returns:
        A JSON document with ``title``, ``verdicts`` by statement, ``criteria``, ``numbers`` and all ``items``.

    Raises:
        ValueError: for an unknown name, and if no results are committed yet.
    """
    from lemmata.theorems.experiments import committed

    summary = committed(experiment)
    if summary is None:
        raise ValueError(
            f"No results of {experiment} are committed yet; lemmata experiment run {experiment} makes some."
        )
    return summary
