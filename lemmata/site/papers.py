"""The five documents: who wrote them, which chapters of the ledger are theirs, and how they number their statements."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from lemmata.site.prose import statement_place
from lemmata.theorems.ledger import OLDER, Chapter, Ledger, Statement

__all__ = ["PAPERS", "Paper", "heading", "number_of", "paper_of", "statements_script"]


@dataclass(frozen=True)
class Paper:
    """A document.

    Attributes:
        key: the name of its page.
        name: how it is cited on pages, such as "Edelman 2024".
        authors, title: as it has them.
        published: where, and when.
        chapters: the folders of its chapters in the ledger.
    """

    key: str
    name: str
    authors: str
    title: str
    published: str
    chapters: tuple[str, ...]


PAPERS = (
    Paper(
        "edelman",
        "Edelman 2024",
        "Benjamin L. Edelman",
        "Combinatorial Tasks as Model Systems of Deep Learning",
        "doctoral dissertation, Harvard University, 2024",
        ("variable_creation", "hidden_progress", "pareto_frontiers", "feature_emergence", "induction_heads"),
    ),
    Paper(
        "mousavi-hosseini",
        "Mousavi-Hosseini et al. 2025",
        "Alireza Mousavi-Hosseini, Clayton Sanford, Denny Wu, Murat A. Erdogdu",
        "When Do Transformers Outperform Feedforward and Recurrent Networks? A Statistical Perspective",
        "2025",
        ("qstr",),
    ),
    Paper(
        "statistically-meaningful",
        "Statistically Meaningful Approximation 2021",
        "anonymous (Colin Wei, Yining Chen, Tengyu Ma)",
        "Statistically Meaningful Approximation: A Theoretical Analysis for Approximating Turing Machines with "
        "Transformers",
        "manuscript under double-blind review, 2021; a later version of it, “a Case Study on Approximating Turing "
        "Machines with Transformers”, appeared at NeurIPS 2022 under these names",
        ("turing",),
    ),
    Paper(
        "allen-zhu",
        "Allen-Zhu and Li 2019",
        "Zeyuan Allen-Zhu, Yuanzhi Li",
        "Can SGD Learn Recurrent Neural Networks with Provable Generalization?",
        "NeurIPS 2019",
        ("rnn_sgd",),
    ),
    Paper(
        "wu",
        "Wu et al. 2024",
        "Weimin Wu, Maojiang Su, Jerry Yao-Chieh Hu, Zhao Song, Han Liu",
        "Transformers are Deep Optimizers: Provable In-Context Learning for Deep Model Training",
        "preprint of 5 December 2024",
        ("deep_icgd",),
    ),
)

_NUMBER = re.compile(
    r"((?:Informal )?[A-Z][a-z]+) (\(?[A-Z]?\.?\d[\w.]*\)?)((?: (?:to|and) \(?[A-Z]?\.?\d[\w.]*\)?)?)(?=[ ,;:(]|$)"
)


def paper_of(chapter: str) -> Paper | None:
    """The document of a chapter, by its folder; None for a chapter of another package."""
    return next((paper for paper in PAPERS if chapter in paper.chapters), None)


def number_of(where: str) -> str | None:
    """The number that a statement has in its document, such as "Lemma A.24", by the place in the ledger; or None."""
    found = _NUMBER.match(where)
    return None if found is None else found[0].strip()


def heading(chapter: Chapter, statement: Statement) -> str:
    """What stands before the title of a statement: its number, and the document."""
    paper, number = paper_of(chapter.name), number_of(statement.where)
    name = chapter.title if paper is None else paper.name
    if number is not None:
        return f"{number}, {name}"
    if statement.where.startswith("Not in the document"):
        return f"Beyond {name}"
    return f"Unnumbered {statement.kind}, {name}"


def statements_script(ledger: Ledger) -> str:
    """What the search looks up: of each statement its address, title, names, and the words that tell its document."""
    rows = []
    for chapter in ledger.chapters:
        paper = paper_of(chapter.name)
        about = chapter.name if paper is None else f"{chapter.name} {paper.name} {paper.authors} {paper.published}"
        for statement in chapter.statements:
            title = f"{heading(chapter, statement)}: {statement.title} ({statement.id})"
            place = f"{statement_place(statement.id)}.html"
            rows.append([place, title, sorted(_names(statement)), sorted({*_words(about)})])
    return f"const LEMMATA_STATEMENTS = {json.dumps(rows)};\nconst LEMMATA_OLDER = {json.dumps(OLDER)};\n"


def _names(statement: Statement) -> set[str]:
    """The id of a statement, its part behind the colon, and its number, with and without the kind."""
    names = {statement.id, statement.id.partition(":")[2]}
    if found := _NUMBER.match(statement.where):
        names |= {found[0], f"{found[1].removesuffix('s')} {found[2]}", found[2]}
    return {" ".join(_words(name)) for name in names}


def _words(text: str) -> list[str]:
    """The words of a text as the search compares them; the script has the same rule."""
    return re.sub(r"[^\w.']+|_", " ", text.casefold()).split()
