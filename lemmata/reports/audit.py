"""The audit of a chapter or of an entry of the ledger, for a terminal and for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lemmata.reports.tables import plain_table, print_table
from lemmata.theorems.audit import Audit

__all__ = ["HEAD", "audit_data", "audit_row", "audit_table", "print_audit"]

HEAD = ("statement", "verdict", "decided by", "judged", "drawn faults", "proof", "counterexample", "results")
"""The columns of an audit."""


def audit_data(one: Audit) -> dict[str, Any]:
    """An audit as plain data."""
    return {**dataclasses.asdict(one), "statement": one.statement.id, "verdict": one.statement.verdict}


def audit_row(one: Audit) -> tuple[str, ...]:
    """The cells of an audit, in the order of `HEAD`."""
    entry = one.statement
    roles = ((one.printed, "printed"), (one.corrected, "corrected"), (one.counterexamples, "counterexample"))
    decided = ", ".join(f"{count} {role}" for count, role in roles if count)
    faults = f"{one.faults.own} of {one.faults.drawn} by its own checks, {one.faults.seen} by any"
    proof = f"{_count(one.steps, 'step', 'steps')}, {len(one.unchecked)} without a check" if one.steps else ""
    record = f"{_count(one.hypotheses, 'hypothesis', 'hypotheses')}, {one.violated} violated" if one.violated else ""
    results = "; ".join(
        f"{kept.experiment}: {kept.verdict}, {kept.date}{'' if kept.current else ', by earlier code'}"
        for kept in one.results
    )
    return (
        entry.id,
        "/".join(word for word in (entry.verdict, entry.reach, one.grade, entry.fails) if word),
        decided,
        one.judged or "",
        faults if one.faults.drawn else "",
        proof,
        record,
        results,
    )


def audit_table(audits: Sequence[Audit]) -> Table:
    """A row for each entry."""
    table = plain_table(*HEAD)
    for one in audits:
        table.add_row(*map(escape, audit_row(one)))
    return table


def print_audit(out: Console, audits: Sequence[Audit]) -> None:
    """The table, and every rule that is broken."""
    print_table(out, audit_table(audits), prose=HEAD[2:])
    errors = [error for one in audits for error in one.errors]
    for error in errors:
        out.print(escape(error), style="red", soft_wrap=True)
    stale = len({kept.experiment for one in audits for kept in one.results if not kept.current})
    count = len(audits)
    out.print(
        f"{_count(count, 'entry', 'entries')}, {_count(len(errors), 'broken rule', 'broken rules')}, "
        f"{_count(stale, 'committed result', 'committed results')} by earlier code",
        soft_wrap=True,
    )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
