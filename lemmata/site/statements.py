"""The page of a statement: claim, verdict, printed against corrected, proof, tests, what it rests on, how to cite.

Each page says only what the ledger, the proofs and the decorators of the tests say; whether the tests pass, `pytest
theorems` tells, and the page prints the command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lemmata.reports.ledger import records_of, rerun
from lemmata.site.entries import Edges, Entry, Library
from lemmata.site.papers import heading
from lemmata.site.picture import neighbour_picture
from lemmata.site.prose import compared, fenced, markdown_of, statement_place, with_links
from lemmata.theorems.citations import Citation
from lemmata.theorems.faults import DrawnFault, faults_of, load_faults, tally
from lemmata.theorems.ledger import Statement
from lemmata.theorems.records import fact_rows
from lemmata.theorems.trials import FAILS

__all__ = ["MEANING", "proof_page", "statement_page", "table"]

MEANING = {
    "holds": "true as printed",
    "repaired": "what is printed fails, in the way that its erratum says; the corrected form holds",
    "refuted": "false, and no repair is known",
    "open": "not settled, or only in part",
    "context": "claims nothing that could be checked",
    "all": "for every parameter value, by the machine alone",
    "proof": "for every parameter value, by a written proof whose computable steps are checked",
    "cases": "for the cases that the tests list, and no others",
    "scaled": "an experiment under another protocol than the printed one",
    "symbolic": "for all values of the parameters",
    "exact": "exact arithmetic on the stated finite cases",
    "enclosed": "rigorous bounds",
    "numeric": "floating point with a derived tolerance",
    "sampled": "random draws, with seed and confidence",
}
"""What the words for verdicts, reaches and grades mean, in a line each."""

_SEEN = {"own": "its own tests", "chapter": "its chapter", "suite": "other tests", "nothing": "nothing"}
ROOT = "../../"
_STEP = re.compile(r"^\d+\. ((?:.+\n?)+?)(?=^ *Check:|^\d+\. |\n|\Z)", re.MULTILINE)
_CHECK = re.compile(r"^( *)Check: (\S+)$", re.MULTILINE)


def statement_page(entry: Entry, library: Library, edges: Edges, version: str) -> str:
    """The page of a statement as Markdown (MyST), for the place `lemmata.site.prose.statement_place`."""
    statement = entry.statement

    def prose(text: str) -> str:
        return markdown_of(text, titles=library.titles, root=ROOT)

    parts = [
        f"# {prose(heading(entry.chapter, statement))}: {prose(statement.title)}",
        _facts(entry),
        "## Claim",
        prose(statement.statement),
        f"Where: {prose(statement.where)}. Document: {prose(entry.chapter.document)}.",
        f"## Verdict: {statement.verdict}",
        *_verdict(entry, prose),
        *_errata(entry, prose),
        *_claims(entry, prose),
        *_proof(entry),
        *_tests(entry),
        *_faults(entry),
        *_neighbours(entry, library, edges),
        *_cite(entry, version),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def proof_page(path: Path, library: Library) -> str:
    """A written proof as a page: its file, with the tests of each step as a list, and ids as links.

    It ends with the trial of its statements that fail as printed: what fails, and what both sides said.
    """
    text = path.read_text(encoding="utf-8")
    listed = _CHECK.sub(lambda found: f"{found[1]}- Check: {found[2] if found[2] == 'none' else f'`{found[2]}`'}", text)
    proved = [one for one in library.entries.values() if one.statement.proof == path.name and one.statement.fails]
    tried = [one for one in proved if Path(str(one.chapter.folder)).resolve() == path.parent.parent.resolve()]
    return with_links(listed, titles=library.titles, root=ROOT) + "".join(_tried(tried, library))


def _tried(entries: Sequence[Entry], library: Library) -> Iterator[str]:
    """The trial of the statements of a proof, one part each."""
    if entries:
        yield "\n\n## What fails as printed, and what both sides said\n"
    for entry in entries:
        statement = entry.statement
        said = [f"{_link(statement.id)} ({statement.verdict}): {FAILS[str(statement.fails)]}."]
        said += [
            f"**{label}.** {markdown_of(text, titles=library.titles, root=ROOT)}" for label, text in _trial(statement)
        ]
        yield "\n" + "\n\n".join(said) + "\n"


def _trial(statement: Statement) -> list[tuple[str, str]]:
    """What both sides said of a statement that fails as printed, and what was looked for, each with its label."""
    sides = (
        ("For the author", statement.defence),
        ("Against it", statement.attack),
        ("Looked for", statement.sought),
    )
    return [(label, text) for label, text in sides if text]


def _facts(entry: Entry) -> str:
    """The line of badges under the title."""
    statement = entry.statement
    words = [statement.verdict, *(one for one in (statement.reach, entry.grade) if one)]
    badges = " ".join(f'<span class="badge {word}" title="{MEANING[word]}">{word}</span>' for word in words)
    chapter = entry.chapter
    return (
        f"`{statement.id}` · {statement.kind} · [{chapter.title}]({ROOT}chapters/{chapter.name}.md)\n\n"
        f"```{{raw}} html\n<p>{badges}</p>\n```"
    )


def _verdict(entry: Entry, prose: Callable[[str], str]) -> Iterator[str]:
    statement = entry.statement
    yield f"*{statement.verdict}*: {MEANING[statement.verdict]}."
    if statement.reach:
        yield f"Reach *{statement.reach}*: {MEANING[statement.reach]}."
    if entry.grade:
        yield f"Grade *{entry.grade}*, the weakest of the deciding tests: {MEANING[entry.grade]}."
    if statement.reason:
        yield f"**What is open.** {prose(statement.reason)}"
    if statement.deviation:
        yield f"**Printed against run.** {prose(statement.deviation)}"
    if statement.machine_checked:
        names, _, text = statement.machine_checked.partition(": ")
        yield f"**Machine-checked in Coq.** `{names}`: {prose(text)}"


def _errata(entry: Entry, prose: Callable[[str], str]) -> Iterator[str]:
    statement = entry.statement
    if statement.erratum:
        yield "## Erratum"
        yield prose(statement.erratum)
        if statement.fails:
            yield f"**What fails:** {FAILS[statement.fails]}."
    elif statement.proof_erratum:
        yield "## Erratum of the proof"
    yield compared(statement.printed, statement.corrected)
    if statement.proof_erratum:
        yield ("**In the printed proof.** " if statement.erratum else "") + prose(statement.proof_erratum)
    for label, text in _trial(statement):
        yield f"**{label}.** {prose(text)}"
    if rows := fact_rows(records_of(entry.chapter, statement)):
        yield "The counterexample, as the test computes it:"
        yield _called("record", table(("", "as printed", "computed"), rows))


def _claims(entry: Entry, prose: Callable[[str], str]) -> Iterator[str]:
    if not entry.statement.claims:
        return
    yield "## Sentence by sentence"
    rows = [
        (prose(one.says), one.verdict, prose(one.provided), ", ".join(_link(name) for name in one.rests_on))
        for one in entry.statement.claims
    ]
    yield table(("claim", "verdict", "provided that", "rests on"), rows)


def _proof(entry: Entry) -> Iterator[str]:
    if entry.statement.proof:
        name = entry.statement.proof.removesuffix(".md")
        yield "## Proof"
        yield f"Written out step by step: [{name}]({ROOT}proofs/{entry.chapter.name}/{name}.md)."
        yield _idea(Path(str(entry.chapter.folder)) / "proofs" / entry.statement.proof)


def _idea(path: Path) -> str:
    """The headings of a proof, or the opening words of its steps: how it goes, at a glance."""
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    if len(headings) >= 2:
        return "Its parts:\n\n" + "\n".join(f"- {heading.strip()}" for heading in headings)
    steps = [_first_sentence(" ".join(step.split())) for step in _STEP.findall(text)]
    return "Its steps begin:\n\n" + "\n".join(f"- {step}" for step in steps) if steps else ""


def _first_sentence(text: str) -> str:
    """Up to the first full stop or colon that ends a word and stands in no formula."""
    ends = (one.start() for one in re.finditer(r"(?<=[.:])\s", text))
    return text[: next((end for end in ends if text[:end].count("$") % 2 == 0), None)]


def _plain(text: str) -> str:
    return markdown_of(text.replace("$", r"\$"), titles={}, root=ROOT)


def _tests(entry: Entry) -> Iterator[str]:
    yield "## Tests"
    if not entry.evidence:
        yield "None." if entry.statement.verdict != "context" else "None: it claims nothing that could be checked."
        return
    deciding = [one for one in entry.evidence if not one.evidence.supporting]
    supporting = [one for one in entry.evidence if one.evidence.supporting]
    if deciding:
        yield _called("tests", table(("decided by", "role", "grade", "cases"), [_test(one) for one in deciding]))
    if supporting:
        yield "Supporting (controls, special cases, steps of proofs):"
        yield "\n".join(f"- `{one.node}`" for one in supporting)
    if command := rerun(entry.evidence):
        yield "Run the deciding ones again, in a checkout:"
        yield fenced(command.replace(" ", " \\\n  "), "console")
    if entry.notebooks:
        yield "Notebook: " + ", ".join(f"[{name}]({ROOT}notebooks/{name}.ipynb)" for name in entry.notebooks) + "."


def _faults(entry: Entry) -> Iterator[str]:
    """The faults that were drawn for the entry, each with what became of it."""
    faults = faults_of(entry.statement.id)
    if not faults:
        return
    yield "## Drawn faults"
    yield f"Of the lines that the deciding tests execute, changed at random: {tally(faults)}."
    found = load_faults(Path(str(entry.chapter.folder)))
    if found is not None and entry.statement.id in found.why:
        yield _plain(found.why[entry.statement.id])
    yield table(("where", "before", "after", "seen by"), [_fault(one) for one in faults])


def _fault(one: DrawnFault) -> tuple[str, str, str, str]:
    seen = f"changes nothing: {_plain(one.equivalent)}" if one.equivalent else _SEEN[one.now]
    if one.now == "nothing" and one.open:
        seen = f"open: {_plain(one.open)}"
    return f"`{one.file}`, line {one.line}", _code(one.before), _code(one.after), seen


def _code(text: str) -> str:
    """Code in the cell of a table, on one line."""
    return "``" + " ".join(text.split()).replace("|", "\\|") + "``"


def _test(one: Citation) -> tuple[str, str, str, str]:
    role = "counterexample" if one.evidence.kind == "counterexample" else f"{one.evidence.target} form"
    return f"`{one.node}`", role, one.evidence.grade, _plain(one.evidence.cases or "")


def _neighbours(entry: Entry, library: Library, edges: Edges) -> Iterator[str]:
    """What the entry cites, what cites it, and what is decided by the same functions."""
    name = entry.statement.id
    cited, citing, sharing = edges.claims.get(name, ()), edges.citing(name), edges.sharing(name)
    if cited or citing or sharing:
        yield "## What it depends on, and what depends on it"
        picture = neighbour_picture(name, library, edges)
        script = f'<script src="{ROOT}_static/dependencies.js"></script>'
        yield fenced(f'<div class="scrolling">{picture}</div>\n{script}', "{raw} html")
    if cited:
        yield "Its entry cites:\n\n" + _titled(cited, library)
    if citing:
        yield "Cited by:\n\n" + _titled(citing, library)
    if sharing:
        lines = (
            f"- {_link(other)}: "
            + ", ".join(f"`{function}`" for function in functions[:3])
            + (f" and {len(functions) - 3} more" if len(functions) > 3 else "")
            for other, functions in sharing.items()
        )
        yield "Decided by running the same functions of the library:\n\n" + "\n".join(lines)


def _titled(names: Iterable[str], library: Library) -> str:
    return "\n".join(f"- {_link(name)}: {_plain(library.titles[name])}" for name in names)


def _cite(entry: Entry, version: str) -> Iterator[str]:
    statement = entry.statement
    words = [f"Lemmata {version}", statement.id]
    files = list(dict.fromkeys(one.file for one in entry.deciding))
    words += [files[0] if len(files) == 1 else f"{len(files)} test files"] if files else []
    words += [f"verdict {statement.verdict}"]
    words += [f"grade {entry.grade}"] if entry.grade else []
    words += [f"reach {statement.reach}"] if statement.reach else []
    yield "## How to cite"
    yield fenced(", ".join(words) + ".")


def _link(name: str) -> str:
    return f"[{name}]({ROOT}{statement_place(name)}.md)"


def _called(name: str, rows: str) -> str:
    """A table with a class for the style sheet."""
    return f"```{{rst-class}} {name}\n```\n\n{rows}"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown; cells are one line each, and pipes in them are escaped."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in rows:
        cells = (re.sub(r"\s*\n\s*", " ", cell).replace("$$", "$") for cell in row)
        lines.append("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in cells) + " |")
    return "\n".join(lines)
