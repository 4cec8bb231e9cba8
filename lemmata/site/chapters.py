"""The pages of a chapter: its statements, and three that tell what it rests on: source, completeness, reliability.

The three are what a reader of a database of mathematics wants to know of each of its sections: where the statements
come from, which of them are there, and why one should believe what is said of them. All is counted from the ledger.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lemmata.reports.audit import HEAD, audit_row
from lemmata.reports.ledger import rerun
from lemmata.site.entries import Edges, Entry, Library
from lemmata.site.papers import heading
from lemmata.site.picture import chapter_picture
from lemmata.site.prose import compared, markdown_of, statement_place
from lemmata.site.statements import MEANING, table
from lemmata.theorems.audit import audit_chapter
from lemmata.theorems.evidence import GRADES
from lemmata.theorems.experiments import committed, load_experiments
from lemmata.theorems.faults import SEEN, load_faults
from lemmata.theorems.ledger import DECIDED, REACHES, VERDICTS, Chapter, Statement
from lemmata.theorems.trials import FAILS

__all__ = ["chapter_pages", "errata_page", "erratum_weight", "statements_index"]

ROOT = "../"
_HTML = "```{raw} html\n"


def chapter_pages(chapter: Chapter, library: Library, edges: Edges) -> dict[str, str]:
    """The pages of a chapter by their place on the site: ``chapters/<name>.md`` and the three about it."""
    entries = [library.entries[one.id] for one in chapter.statements]
    name = chapter.name
    return {
        f"chapters/{name}.md": _overview(chapter, entries),
        f"chapters/{name}-source.md": _source(chapter, entries, library),
        f"chapters/{name}-completeness.md": _completeness(chapter, entries, library),
        f"chapters/{name}-reliability.md": _reliability(chapter, entries),
        f"chapters/{name}-dependencies.md": _dependencies(chapter, library, edges),
    }


def statements_index(library: Library) -> str:
    """The page that lists every statement of all chapters."""
    rows = [_row(entry, "../") for entry in library.entries.values()]
    head = ("statement", "verdict", "reach", "grade", "title")
    return f"# All statements\n\n{_counted(list(library.entries.values()))}\n\n{table(head, rows)}\n"


def erratum_weight(statement: Statement) -> tuple[int, int]:
    """The place of an erratum among those where the same fails: smaller is heavier."""
    verdicts = ("refuted", "repaired", "open", "holds", "context")
    kinds = ("theorem", "proposition", "corollary", "lemma", "claim")
    kind = kinds.index(statement.kind) if statement.kind in kinds else len(kinds)
    return verdicts.index(statement.verdict), kind


def errata_page(library: Library) -> str:
    """The page of all that fails as printed, by what it is that fails, the heaviest first."""
    wrong = [one for one in library.entries.values() if one.statement.erratum or one.statement.proof_erratum]
    wrong.sort(key=lambda one: erratum_weight(one.statement))
    groups = {_heading(name): [one for one in wrong if one.statement.fails == name] for name in FAILS}
    groups["Not settled"] = [one for one in wrong if one.statement.fails is None and one.statement.erratum]
    groups["The printed proof of a statement that holds"] = [one for one in wrong if one.statement.erratum is None]
    counts = [(f"[{name}](#{_anchor(name)})", str(len(found))) for name, found in groups.items() if found]
    parts = [
        "# Errata",
        f"{len(wrong)} statements err as printed, or in their proofs. They are sorted by what it is that fails. The "
        "page of each has the author's best case and what remains against it, the counterexample with every printed "
        "hypothesis as the test computes it, and the tests: counterexamples to the printed form, and checks of the "
        "corrected one.",
        table(("what fails", "statements"), counts),
    ]
    for name, found in groups.items():
        if found:
            parts += [f"({_anchor(name)})=\n## {name}", *map(_erratum, found)]
    return "\n\n".join(parts) + "\n"


def _heading(name: str) -> str:
    """What fails, as a heading."""
    return FAILS[name].partition(":")[0].capitalize()


def _anchor(heading: str) -> str:
    return "errata-" + heading.casefold().replace(" ", "-")


def _erratum(entry: Entry) -> str:
    """A statement that errs and its erratum: how it begins, what is printed and what is right; the rest is folded."""
    statement = entry.statement
    words = [_named(statement.id, ""), heading(entry.chapter, statement), _plain(statement.title)]
    first, rest = opening(statement.erratum or f"In the proof: {statement.proof_erratum}")
    more = [rest, statement.defence and f"For the author: {statement.defence}"]
    folded = "\n\n".join(markdown_of(text, titles={}, root="") for text in more if text)
    parts = [
        " · ".join(words) + f" · *{statement.verdict}*",
        markdown_of(re.sub(";$", " ...", first), titles={}, root=""),
        compared(statement.printed, statement.corrected),
    ]
    if folded:
        parts += [f"{_HTML}<details><summary>more</summary>\n```", folded, f"{_HTML}</details>\n```"]
    return "\n\n".join(part for part in parts if part)


def opening(text: str) -> tuple[str, str]:
    """The first sentence of a text, or its first part before a semicolon, and the rest; formulas stay whole."""
    for found in re.finditer(r"[.;]\s+(?=[A-Zα-ωa-z$(])", text):
        first = text[: found.start() + 1]
        if first.count("$") % 2 == 0 and len(first) > 30 and not re.search(r"\b(?:e\.g|i\.e|cf|Eq|resp)\.$", first):
            return first, text[found.end() :]
    return text, ""


def _overview(chapter: Chapter, entries: Sequence[Entry]) -> str:
    links = "\n".join(
        f"- [{label}]({chapter.name}-{page}.md)"
        for page, label in (
            ("source", "Source: the document, and where each statement stands in it"),
            ("completeness", "Completeness: what is settled, and what is not"),
            ("reliability", "Reliability: by what kind of evidence, and how to run it again"),
            ("dependencies", "Dependencies: a picture of what rests on what"),
        )
    )
    pages = "\n".join(
        f"{page.capitalize()} <{chapter.name}-{page}>"
        for page in ("source", "completeness", "reliability", "dependencies")
    )
    head = ("statement", "verdict", "reach", "grade", "title")
    return "\n\n".join(
        [
            f"# {chapter.title}",
            f"Document: {_plain(chapter.document)}.",
            _counted(entries),
            _bar(entries),
            links,
            f"```{{toctree}}\n:hidden:\n\n{pages}\n```",
            "## Statements",
            table(head, [_row(entry, "../") for entry in entries]) + "\n",
        ]
    )


def _source(chapter: Chapter, entries: Sequence[Entry], library: Library) -> str:
    rows = [(_link(entry), entry.statement.kind, _prose(entry.statement.where, library)) for entry in entries]
    return "\n\n".join(
        [
            f"# Source of {_lower(chapter.title)}",
            f"All statements come from one document: {_plain(chapter.document)}. They are told in our own words, "
            "with every hypothesis and quantifier; the last column says where each stands, with words to search for.",
            table(("statement", "kind", "where"), rows) + "\n",
        ]
    )


def _completeness(chapter: Chapter, entries: Sequence[Entry], library: Library) -> str:
    kinds = Counter(entry.statement.kind for entry in entries)
    verdicts = {kind: Counter(one.statement.verdict for one in entries if one.statement.kind == kind) for kind in kinds}
    rows = [
        (kind, str(count), *(str(verdicts[kind][verdict] or "") for verdict in VERDICTS))
        for kind, count in kinds.most_common()
    ]
    open_ones = [entry for entry in entries if entry.statement.verdict == "open"]
    scaled = [entry for entry in entries if entry.statement.reach == "scaled"]
    parts = [
        f"# Completeness of {_lower(chapter.title)}",
        f"The list of statements is frozen in `theorems/{chapter.name}/catalogue.txt`: {len(entries)} ids, each "
        "of which has an entry.",
        table(("kind", "all", *VERDICTS), rows),
        "## What is open",
        _described(open_ones, lambda entry: entry.statement.reason, library) or "Nothing.",
        "## Experiments under another protocol than the printed one",
        _described(scaled, lambda entry: entry.statement.deviation, library) or "None.",
    ]
    return "\n\n".join(parts) + "\n"


def _reliability(chapter: Chapter, entries: Sequence[Entry]) -> str:
    decided = [entry for entry in entries if entry.statement.verdict in DECIDED]
    rows = [
        (grade, MEANING[grade], *(str(_count(decided, reach, grade) or "") for reach in REACHES)) for grade in GRADES
    ]
    tests = {one.node for entry in entries for one in entry.evidence}
    counterexamples = {one.node for entry in entries for one in entry.evidence if one.evidence.kind == "counterexample"}
    parts = [
        f"# Reliability of {_lower(chapter.title)}",
        f"{len(tests)} tests are evidence in this chapter, {len(counterexamples)} of them counterexamples to what is "
        "printed. A decided statement counts below under the weakest grade among the tests that decide it, and "
        "under its reach; [what each grade trusts](../trust.md) is a page of its own.",
        table(("grade", "meaning", *REACHES), rows),
        *_drawn(chapter),
        "Wrong functions and changed weights that are planted in the library on purpose, each of which has to turn a "
        f"deciding test red, are kept in `tests/theorems/test_faults_{chapter.name}.py`; not every statement has one.",
        "All of them again, in a checkout:",
        f"```console\nmake theorems\n.venv/bin/pytest theorems/{chapter.name} --effort full\n```",
        "## Entry by entry",
        "What each verdict rests on, when it was last judged, how many of the faults drawn for it are seen, the steps "
        "of its proof, the printed hypotheses and violated conclusions in the record of its counterexample, and "
        f"committed results; `lemmata audit {chapter.name}` prints the same, with every rule that an entry breaks.",
        table(HEAD, [(_named(one.statement.id), *audit_row(one)[1:]) for one in audit_chapter(chapter)]),
        "## Experiments",
        _experiments(chapter) or "None.",
        "## How to run each statement again",
        "\n".join(f"- {_link(entry)}: `{command}`" for entry in decided if (command := rerun(entry.evidence))),
    ]
    return "\n\n".join(parts) + "\n"


def _drawn(chapter: Chapter) -> Iterator[str]:
    """How many faults were drawn for the statements of a chapter, and by what they are seen."""
    found = load_faults(Path(str(chapter.folder)))
    if found is None:
        return
    counts = {name: sum(one.now == name and not one.equivalent for one in found.faults) for name in SEEN}
    first = sum(one.seen == "own" for one in found.faults)
    yield (
        f"For the statements of this chapter {len(found.faults)} faults were drawn at random among the lines that "
        f"their deciding tests execute ([how](../mutants.md); seed {found.seed}, code `{found.version[:12]}`). On "
        f"the day of the draw the statement's own tests saw {first}. Today its own tests see {counts['own']}, the rest "
        f"of the chapter {counts['chapter']} more, other tests {counts['suite']} more; {counts['nothing']} are open, "
        f"and {sum(one.equivalent is not None for one in found.faults)} change nothing that a test could see."
    )


def _experiments(chapter: Chapter) -> str:
    """The experiments of a chapter, with what their committed results say and which code made them."""
    rows = []
    for name in [name for name, (home, _) in load_experiments().items() if home == chapter.name]:
        summary = committed(name)
        if summary is None:
            rows.append((f"`{name}`", "no committed results", "", ""))
            continue
        verdicts = ", ".join(f"{_named(one)} {verdict}" for one, verdict in summary["verdicts"].items())
        made = str(summary["origin"]["commit"] or "")
        rows.append((f"`{name}`", verdicts, str(len(summary["items"])), f"`{made[:12]}`"))
    return table(("experiment", "verdicts", "items", "made by commit"), rows) if rows else ""


def _dependencies(chapter: Chapter, library: Library, edges: Edges) -> str:
    return (
        "\n\n".join(
            [
                f"# Dependencies of {_lower(chapter.title)}",
                "On the left, in blue, the entry of one statement cites another; on the right, in orange, two "
                "statements are decided by running the same function of the library. The edges are read from the "
                "ledger and from the code of the tests; other chapters are left out, and statements without edges. "
                "Below the mouse a name shows what it is joined to, and it leads to its page.",
                f'```{{raw}} html\n<div class="scrolling">{chapter_picture(chapter, library, edges)}</div>\n'
                '<script src="../_static/dependencies.js"></script>\n```',
            ]
        )
        + "\n"
    )


def _count(entries: Iterable[Entry], reach: str, grade: str) -> int:
    return sum(entry.statement.reach == reach and entry.grade == grade for entry in entries)


def _counted(entries: Sequence[Entry]) -> str:
    counts = Counter(entry.statement.verdict for entry in entries)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return f"{len(entries)} statements: {words}."


def _bar(entries: Sequence[Entry]) -> str:
    """The verdicts of a chapter as a bar, each as long as its share."""
    counts = Counter(entry.statement.verdict for entry in entries)
    parts = "".join(
        f'<span class="{verdict}" style="flex-grow: {counts[verdict]}" title="{counts[verdict]} {verdict}"></span>'
        for verdict in VERDICTS
        if counts[verdict]
    )
    return f'{_HTML}<div class="verdicts" role="img" aria-label="{_counted(entries)}">{parts}</div>\n```'


def _described(entries: Iterable[Entry], text: Callable[[Entry], str | None], library: Library) -> str:
    return "\n".join(
        f"- {_link(entry)}, {_plain(entry.statement.title)}. {_prose(text(entry) or '', library)}" for entry in entries
    )


def _row(entry: Entry, root: str) -> tuple[str, ...]:
    statement = entry.statement
    return _link(entry, root), statement.verdict, statement.reach or "", entry.grade or "", _plain(statement.title)


def _link(entry: Entry, root: str = ROOT) -> str:
    return _named(entry.statement.id, root)


def _named(name: str, root: str = ROOT) -> str:
    return f"[{name}]({root}{statement_place(name)}.md)"


def _prose(text: str, library: Library) -> str:
    return markdown_of(text, titles=library.titles, root=ROOT).replace("\n", " ")


def _plain(text: str) -> str:
    return markdown_of(text, titles={}, root=ROOT)


def _lower(title: str) -> str:
    """A title in the middle of a sentence; names keep their capitals."""
    first = title.split(" ")[0]
    return title if first[1:] != first[1:].lower() or first in ("Turing", "Markov") else title[0].lower() + title[1:]
