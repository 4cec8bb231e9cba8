"""The pages for the authors of the documents, one for each, to be printed or sent: all that fails, and what is open.

What a page says is what the ledger says; each statement is named as its document numbers it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lemmata.site.entries import Entry, Library
from lemmata.site.papers import PAPERS, Paper, number_of
from lemmata.site.prose import compared, escaped, fenced, markdown_of, statement_place
from lemmata.site.statements import MEANING, table
from lemmata.theorems.ledger import REACHES, VERDICTS
from lemmata.theorems.trials import FAILS

__all__ = ["author_pages", "papers_list"]

ROOT = "../"


def papers_list() -> str:
    """The five documents as a list, each with a link to its page."""
    return "\n".join(
        f"- {escaped(paper.authors)}: [*{escaped(paper.title)}*](authors/{paper.key}.md), {escaped(paper.published)}"
        for paper in PAPERS
    )


def author_pages(library: Library) -> dict[str, str]:
    """The pages by their places: ``authors/<key>.md``."""
    return {f"authors/{paper.key}.md": "\n\n".join(_page(paper, library)) + "\n" for paper in PAPERS}


def _page(paper: Paper, library: Library) -> Iterator[str]:
    entries = [one for one in library.entries.values() if one.chapter.name in paper.chapters]
    wrong = [one for one in entries if one.statement.verdict in ("repaired", "refuted")]
    proofs = [one for one in entries if one.statement.proof_erratum and one not in wrong]
    undecided = [one for one in entries if one.statement.verdict == "open"]
    tests = {one.node for entry in entries for one in entry.deciding}
    yield f"# For the authors: {escaped(paper.name)}"
    yield f"{escaped(paper.authors)}: *{escaped(paper.title)}*, {escaped(paper.published)}."
    yield fenced(f'<p><a href="{paper.key}.pdf">This page as a PDF</a></p>', "{raw} html")
    yield (
        f"Every statement of this document was written down with its hypotheses, {len(entries)} in all with those "
        f"derived on the way, and {len(tests)} tests decide what can be decided. This page says what was found. "
        "Corrections of it are welcome: behind every verdict stands a program, which may be wrong."
    )
    yield _counts(entries)
    yield (
        "A statement that is *repaired* fails as printed in the way that stands beside it; the corrected form was "
        "checked, and so was the counterexample. *Reach* says how far: `proof`, a written proof whose computable steps "
        "are checked; `cases`, the cases that the tests list. In a checkout of Lemmata `lemmata show ID` prints the "
        "evidence, and `pytest` with the names of the tests runs it again."
    )
    for kind, meaning in FAILS.items():
        some = [one for one in wrong if one.statement.fails == kind]
        if some:
            head, _, rest = meaning.partition(": ")
            yield f"## What fails is {head} ({len(some)})"
            yield f"{rest[0].upper()}{rest[1:]}."
            for entry in some:
                yield from _failure(entry)
    if proofs:
        yield f"## Statements that hold, with an error in the printed proof ({len(proofs)})"
        for entry in proofs:
            yield f"{_named(entry)} {_prose(entry.statement.proof_erratum)}"
    if undecided:
        yield f"## What is open ({len(undecided)})"
        for entry in undecided:
            yield f"{_named(entry)} {_prose(entry.statement.reason)}"


def _counts(entries: Sequence[Entry]) -> str:
    reaches = {
        verdict: Counter(one.statement.reach for one in entries if one.statement.verdict == verdict)
        for verdict in VERDICTS
    }
    rows = [
        (verdict, MEANING[verdict], str(count.total()), *(str(count[reach] or "") for reach in REACHES))
        for verdict, count in reaches.items()
        if count
    ]
    return table(("verdict", "meaning", "statements", *REACHES), rows)


def _failure(entry: Entry) -> Iterator[str]:
    statement = entry.statement
    evidence = f"reach {statement.reach}, grade {entry.grade}"
    yield f"{_named(entry)} {_prose(statement.erratum)} ({statement.verdict}; {evidence}.)"
    yield compared(statement.printed, statement.corrected)
    if statement.defence:
        yield f"*For the author.* {_prose(statement.defence)}"


def _named(entry: Entry) -> str:
    """The number and the title of a statement, with a link to its page."""
    statement = entry.statement
    number = number_of(statement.where) or statement.id
    return f"**[{escaped(number)}]({ROOT}{statement_place(statement.id)}.md)** ({_prose(statement.title)})."


def _prose(text: str | None) -> str:
    return markdown_of(text or "", titles={}, root=ROOT).replace("\n", " ")
