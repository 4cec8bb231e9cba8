"""Entries of the ledger, one in full or many in a table, for a terminal and for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lemmata.reports.tables import plain_table, print_fields, print_table
from lemmata.theorems.citations import Citation, citations
from lemmata.theorems.evidence import GRADES
from lemmata.theorems.faults import faults_of, tally
from lemmata.theorems.ledger import Chapter, Claim, Statement
from lemmata.theorems.records import fact_rows, load_records
from lemmata.theorems.trials import FAILS

__all__ = ["claimed_grade", "print_ledger", "print_statement", "records_of", "rerun", "statement_data"]


def claimed_grade(evidence: Sequence[Citation]) -> str | None:
    """The weakest grade among the deciding evidence, as the tests claim it; whether they pass, pytest says."""
    grades = [one.evidence.grade for one in evidence if not one.evidence.supporting]
    return max(grades, key=GRADES.index, default=None)


def rerun(evidence: Sequence[Citation]) -> str | None:
    """The command that runs the deciding evidence again, from the folder that holds `theorems`; None without any."""
    nodes = dict.fromkeys(one.node for one in evidence if not one.evidence.supporting)
    return f"pytest {' '.join(nodes)}" if nodes else None


def statement_data(chapter: Chapter, entry: Statement) -> dict[str, Any]:
    """All that the ledger and the tests say of a statement, as plain data."""
    evidence = citations(entry.id)
    return {
        **dataclasses.asdict(entry),
        "depends": list(entry.depends),
        "chapter": chapter.name,
        "document": chapter.document,
        "grade": claimed_grade(evidence),
        "evidence": [{"test": one.node, "line": one.line, **dataclasses.asdict(one.evidence)} for one in evidence],
        "rerun": rerun(evidence),
        "counterexamples": list(records_of(chapter, entry)),
        "drawn_faults": dataclasses.asdict(tally(faults_of(entry.id))),
    }


def records_of(chapter: Chapter, entry: Statement) -> Sequence[Mapping[str, Any]]:
    """The committed records of counterexamples to a statement."""
    found = {} if chapter.folder is None else load_records(chapter.folder)
    return [one for one in found.get(entry.id, ()) if one["violated"]]


def print_statement(out: Console, chapter: Chapter, entry: Statement) -> None:
    """The report of an entry of the ledger: what is claimed, how far it is settled, and the evidence."""
    evidence = citations(entry.id)
    out.print(f"[bold]{entry.id}[/bold]  {escape(entry.title)}")
    fields = (
        ("kind", entry.kind),
        ("document", chapter.document),
        ("where", entry.where),
        ("claim", entry.statement.strip()),
        ("verdict", entry.verdict),
        ("reach", _reach(entry, evidence)),
        ("grade", claimed_grade(evidence)),
        ("scaled", entry.deviation),
        ("proof", entry.proof and f"theorems/{chapter.name}/proofs/{entry.proof}"),
        ("rests on", ", ".join(entry.depends)),
        ("reason", entry.reason),
        ("erratum", entry.erratum),
        ("what fails", entry.fails and FAILS[entry.fails]),
        ("printed", entry.printed),
        ("corrected", entry.corrected),
        ("of the proof", entry.proof_erratum),
        ("for the author", entry.defence),
        ("against it", entry.attack),
        ("looked for", entry.sought),
        ("in Coq", entry.machine_checked),
        ("decided by", "\n".join(_cited(one) for one in evidence if not one.evidence.supporting)),
        ("supporting", _supporting(evidence)),
        ("drawn faults", str(tally(drawn)) if (drawn := faults_of(entry.id)) else None),
        ("rerun", rerun(evidence)),
    )
    print_fields(out, [(label, escape(text)) for label, text in fields if text], indent="  ")
    if entry.claims:
        print_table(out, _claims(entry.claims), prose=["claim", "provided that"])
    if rows := fact_rows(records_of(chapter, entry)):
        table = plain_table("counterexample", "as printed", "computed")
        for row in rows:
            table.add_row(*map(escape, row))
        print_table(out, table, prose=["as printed", "computed"])
    out.print()


def _claims(claims: Sequence[Claim]) -> Table:
    """The sentences of a summary: what is said, how it stands, under which hypotheses, and by what."""
    table = plain_table("claim", "verdict", "provided that", "rests on")
    for claim in claims:
        table.add_row(escape(claim.says), claim.verdict, escape(claim.provided), escape("\n".join(claim.rests_on)))
    return table


def _reach(entry: Statement, evidence: Sequence[Citation]) -> str | None:
    """The reach, with the cases that the deciding checks cover."""
    covered = dict.fromkeys(
        one.evidence.cases for one in evidence if one.evidence.cases is not None and not one.evidence.supporting
    )
    if entry.reach is None:
        return None
    return "; ".join([entry.reach, *covered]) if entry.reach == "cases" else entry.reach


def _cited(one: Citation) -> str:
    """One line of evidence: the test, and what it says of the statement."""
    role = "counterexample" if one.evidence.kind == "counterexample" else f"{one.evidence.target} form"
    cases = f", for {one.evidence.cases}" if one.evidence.cases else ""
    return f"{one.node} ({role}, {one.evidence.grade}{cases})"


def _supporting(evidence: Sequence[Citation]) -> str:
    count = sum(one.evidence.supporting for one in evidence)
    if not count:
        return ""
    return f"{count} more {'test' if count == 1 else 'tests'}: controls, special cases, steps of proofs"


def print_ledger(out: Console, entries: Iterable[tuple[Chapter, Statement]]) -> None:
    """The table of statements, how many they are, and which of them Coq has checked in part."""
    table = plain_table("statement", "verdict", "reach", "title")
    count = marked = 0
    for _, entry in entries:
        mark = "* " if entry.machine_checked else ""
        table.add_row(entry.id, entry.verdict, entry.reach or "", f"{mark}{escape(entry.title)}")
        count += 1
        marked += bool(mark)
    print_table(out, table, prose=["title"])
    out.print("1 statement" if count == 1 else f"{count} statements")
    if marked:
        out.print(f"* {marked} machine-checked in Coq, in part: lemmata show says which part", soft_wrap=True)
