"""The search by the numbers of the documents: its script, in an engine that runs it, finds every page first."""

import json
import shutil
import subprocess

import pytest

from lemmata.site.build import HERE
from lemmata.site.papers import PAPERS, heading, number_of, paper_of, statements_script
from lemmata.site.prose import statement_place
from lemmata.theorems.ledger import load_ledger

LEDGER = load_ledger()
ENTRIES = {statement.id: (chapter, statement) for chapter in LEDGER.chapters for statement in chapter.statements}


def place(name):
    return f"{statement_place(name)}.html"


def found(queries):
    """For each query the addresses that the script finds, in its order."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js, to run the script of the search")
    script = statements_script(LEDGER) + (HERE / "static" / "numbers.js").read_text(encoding="utf-8")
    script += (
        f"\nconsole.log(JSON.stringify({json.dumps(queries)}.map((q) => lemmataNumbered(q).map((one) => one.place))))"
    )
    run = subprocess.run([node, "-"], input=script, capture_output=True, text=True, check=True)
    return dict(zip(queries, json.loads(run.stdout), strict=True))


def test_every_numbered_page_is_the_first_for_its_number_and_its_document():
    """Where pages share a number (two parts of a lemma), all of them stand first."""
    same, asked = {}, {}
    for name, (chapter, statement) in ENTRIES.items():
        if number := number_of(statement.where):
            paper = paper_of(chapter.name)
            same.setdefault((number, paper.key), []).append(place(name))
            asked[name] = f"{number} {paper.name.partition(' ')[0]}"
    assert len(asked) > 340
    answers = found(list(dict.fromkeys(asked.values())))
    for name, query in asked.items():
        chapter, statement = ENTRIES[name]
        shared = same[number_of(statement.where), paper_of(chapter.name).key]
        assert place(name) in answers[query], query
        assert len({*answers[query]} - {*shared}) <= 1, query


def test_ids_and_parts_of_ids_are_found():
    answers = found(list(ENTRIES))
    assert [name for name in ENTRIES if answers[name][:1] != [place(name)]] == []


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("theorem 7.9", "feature-emergence:theorem-7.9"),
        ("Theorem 7.9.", "feature-emergence:theorem-7.9"),
        ("7.9", "feature-emergence:theorem-7.9"),
        ("Lemma A.24", "variable-creation:lemma-A.24"),
        ("Proposition 8.2", "induction-heads:proposition-8.2"),
        ("prop-8.2", "induction-heads:proposition-8.2"),
        ("induction_heads:prop-8.2", "induction-heads:proposition-8.2"),
        ("Corollary E.2", "induction-heads:corollary-E.2"),
        ("experiment-5.1", "hidden-progress:experiment-5.1"),
        ("Definition 2.1", "turing:definition-2.1"),
        ("def 2.1", "turing:definition-2.1"),
        ("Theorem 1 Mousavi-Hosseini", "qstr:theorem-1"),
        ("dissertation theorem 7.7", "feature-emergence:theorem-7.7"),
        ("theorem 99.9", None),
    ],
)
def test_what_a_reader_types(query, name):
    [answers] = found([query]).values()
    assert answers[:1] == ([place(name)] if name else [])


def test_words_are_left_to_the_search_of_words():
    assert found(["parity", "margin of a group", "7", "theorem"]) == {
        "parity": [],
        "margin of a group": [],
        "7": [place(name) for name, (_, one) in ENTRIES.items() if (number_of(one.where) or "").split()[1:] == ["7"]],
        "theorem": [],
    }


def test_papers_are_those_of_the_ledger():
    for chapter in LEDGER.chapters:
        paper = paper_of(chapter.name)
        assert paper.title.casefold() in chapter.document.casefold()
        assert all(
            one.split()[-1] in chapter.document for one in paper.authors.split(", ") if "anonymous" not in paper.authors
        )
    assert sorted(name for paper in PAPERS for name in paper.chapters) == [one.name for one in LEDGER.chapters]
    assert heading(*ENTRIES["feature-emergence:theorem-7.9"]) == "Theorem 7.9, Edelman 2024"
    assert heading(*ENTRIES["feature-emergence:ext-E1"]) == "Beyond Edelman 2024"
