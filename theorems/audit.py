"""All that speaks for and against an entry of the ledger, in one place: what a hostile reader would look up first.

For each statement: what its verdict rests on, when it was judged and whether anything changed since, the faults that
were drawn for its checks, the steps of its proof and those without a check, the committed results, whether the code
that made them is that of today and whether they are what their run gave, the record of its counterexample, and every
rule of the ledger that it breaks. All is read off the files, and nothing is run: whether the tests pass, `pytest
theorems` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lemmata.theorems.citations import citations
from lemmata.theorems.evidence import GRADES
from lemmata.theorems.experiments import committed, is_current, load_experiments, place_of
from lemmata.theorems.faults import Tally, fault_errors, faults_of, tally
from lemmata.theorems.judgement import judgement_errors, load_judgements
from lemmata.theorems.ledger import Chapter, Statement
from lemmata.theorems.manifests import change_since_run
from lemmata.theorems.proofs import checked_steps, proof_errors
from lemmata.theorems.records import load_records

__all__ = ["Audit", "Result", "audit_chapter"]


@dataclass(frozen=True)
class Result:
    """Committed results about a statement: the experiment, its verdict, its date, whether the code is still known to
    give them (`is_current`), and what they hold that their run did not give (`change_since_run`)."""

    experiment: str
    verdict: str
    date: str
    current: bool
    change: str | None


@dataclass(frozen=True)
class Audit:
    """What speaks for and against an entry.

    Attributes:
        statement: the entry.
        grade: the weakest of its deciding checks.
        printed, corrected, counterexamples: how many tests decide it in these roles.
        judged: the date of its last judgement.
        faults: those drawn for its checks.
        steps, unchecked: of its proof, and those among them that no test checks.
        results: of experiments about it.
        hypotheses, violated: how many printed hypotheses and conclusions stand in records of its counterexamples.
        errors: a sentence for each rule of the ledger that it breaks.
    """

    statement: Statement
    grade: str | None
    printed: int
    corrected: int
    counterexamples: int
    judged: str | None
    faults: Tally
    steps: int
    unchecked: tuple[int, ...]
    results: tuple[Result, ...]
    hypotheses: int
    violated: int
    errors: tuple[str, ...]


def audit_chapter(chapter: Chapter) -> Iterator[Audit]:
    """The audit of every entry of a chapter, in the order of its ledger."""
    errors = [*judgement_errors(chapter), *fault_errors(chapter)]
    of_proofs = list(proof_errors(chapter))
    frozen = (None if chapter.folder is None else load_judgements(chapter.folder)) or {}
    records = {} if chapter.folder is None else load_records(chapter.folder)
    results = _results(chapter)
    for statement in chapter.statements:
        deciding = [one.evidence for one in citations(statement.id) if not one.evidence.supporting]
        roles = [one.target if one.kind == "check" else one.kind for one in deciding]
        steps = checked_steps(chapter, statement)
        kept = [one for one in records.get(statement.id, ()) if one["violated"]]
        own = [one for one in errors if re.match(rf"{re.escape(statement.id)}[ :]", one)]
        place = f"{chapter.name}/proofs/{statement.proof}: "
        own += [f"{statement.id}: {one}" for one in of_proofs if one.startswith(place)]
        if statement.verdict in ("repaired", "refuted") and not kept:
            own.append(f"{statement.id}: no counterexample to it has a record.")
        own += [f"{statement.id}: {one.change}" for one in results.get(statement.id, ()) if one.change is not None]
        old = frozen.get(statement.id)
        yield Audit(
            statement,
            max((one.grade for one in deciding), key=GRADES.index, default=None),
            roles.count("printed"),
            roles.count("corrected"),
            roles.count("counterexample"),
            None if old is None else old.date,
            tally(faults_of(statement.id)),
            len(steps),
            tuple(number for number, tests in steps.items() if not tests),
            results.get(statement.id, ()),
            sum(len(one["hypotheses"]) for one in kept),
            sum(len(one["violated"]) for one in kept),
            tuple(own),
        )


def _results(chapter: Chapter) -> Mapping[str, tuple[Result, ...]]:
    found: dict[str, tuple[Result, ...]] = {}
    for name, (home, _) in load_experiments().items():
        summary = committed(name) if home == chapter.name else None
        if summary is not None:
            made = summary["origin"]
            current, change = is_current(summary), change_since_run(summary, place_of(name))
            for statement, verdict in summary["verdicts"].items():
                found[statement] = (
                    *found.get(statement, ()),
                    Result(name, verdict, made["date"][:10], current, change),
                )
    return found
