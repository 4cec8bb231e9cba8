"""The command `lemmata audit`: all that speaks for and against entries of the ledger, as one table."""

from __future__ import annotations

from typing import Annotated

import typer

from lemmata._ledger import find_statements
from lemmata.commands.console import echo_json, out, refusals

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Audit entries of the ledger: what forces each verdict, faults, proofs, records, results.")
def audit(
    what: Annotated[str, typer.Argument(help="a chapter, the id of a statement, or a part of one")],
    as_json: Annotated[bool, typer.Option("--json", help="the same for programs")] = False,
) -> None:
    """What each verdict rests on, and what speaks against it; exit 1 if an entry breaks a rule of the ledger."""
    with refusals():
        found = find_statements(what)
    from lemmata.reports.audit import audit_data, print_audit
    from lemmata.theorems.audit import audit_chapter

    wanted = {entry.id for _, entry in found}
    chapters = {chapter.name: chapter for chapter, _ in found}
    audits = [one for chapter in chapters.values() for one in audit_chapter(chapter) if one.statement.id in wanted]
    if as_json:
        echo_json([audit_data(one) for one in audits])
    else:
        print_audit(out, audits)
    raise typer.Exit(int(any(one.errors for one in audits)))
