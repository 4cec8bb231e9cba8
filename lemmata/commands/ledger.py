"""The command `lemmata ledger`: the statements of the ledger with their verdicts and reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from lemmata.commands.console import echo_json, out, refusals
from lemmata.reports.ledger import claimed_grade, print_ledger, statement_data
from lemmata.theorems.citations import citations
from lemmata.theorems.evidence import GRADES
from lemmata.theorems.ledger import REACHES, VERDICTS, Chapter, Statement, load_ledger

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="List the statements of the ledger, with their verdicts and reaches.")
def ledger(
    chapter: Annotated[
        str | None, typer.Option(metavar="C", help="only this chapter, such as feature_emergence")
    ] = None,
    verdict: Annotated[str | None, typer.Option(metavar="V", help=f"only this verdict: {', '.join(VERDICTS)}")] = None,
    reach: Annotated[str | None, typer.Option(metavar="R", help=f"only this reach: {', '.join(REACHES)}")] = None,
    grade: Annotated[str | None, typer.Option(metavar="G", help=f"only this grade: {', '.join(GRADES)}")] = None,
    kind: Annotated[str | None, typer.Option(metavar="K", help="only this kind, such as theorem")] = None,
    text: Annotated[str | None, typer.Option(metavar="T", help="only entries that contain this text")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="all that is known of them, for programs")] = False,
) -> None:
    """The table of statements; exit 2 for an unknown chapter, verdict, reach, grade or kind."""
    chapters = load_ledger().chapters
    wanted = None if chapter is None else chapter.replace("-", "_")
    with refusals():
        _require("chapter", wanted, [entry.name for entry in chapters])
        _require("verdict", verdict, VERDICTS)
        _require("reach", reach, REACHES)
        _require("grade", grade, GRADES)
        _require("kind", kind, sorted({one.kind for entry in chapters for one in entry.statements}))
    found = [
        (entry, one)
        for entry, one in _entries(chapters)
        if wanted in (None, entry.name)
        and verdict in (None, one.verdict)
        and reach in (None, one.reach)
        and kind in (None, one.kind)
        and (text is None or text.casefold() in _words(one))
        and (grade is None or claimed_grade(citations(one.id)) == grade)
    ]
    if as_json:
        echo_json([statement_data(entry, one) for entry, one in found])
    else:
        print_ledger(out, found)


def _entries(chapters: Sequence[Chapter]) -> Iterator[tuple[Chapter, Statement]]:
    return ((entry, one) for entry in chapters for one in entry.statements)


def _words(entry: Statement) -> str:
    """All texts of an entry, for searching."""
    texts = (entry.id, entry.title, entry.statement, entry.where, entry.erratum, entry.reason, entry.proof_erratum)
    return "\n".join(text for text in texts if text).casefold()


def _require(name: str, value: str | None, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        raise ValueError(f"There is no {name} {value!r}; the {name}s are {', '.join(known)}.")
