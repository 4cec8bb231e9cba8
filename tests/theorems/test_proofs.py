"""The written proofs: numbered steps, below each the tests that name it, mathematics as TeX, short lines."""

import re
from pathlib import Path

import pytest

from lemmata.site.mathml import split_mathematics
from lemmata.theorems import proofs
from lemmata.theorems.evidence import proof_steps
from lemmata.theorems.ledger import THEOREMS, Chapter, Ledger, Statement, load_ledger
from lemmata.theorems.proofs import checked_steps, proof_errors, with_checks

MARKED = "@check('turing:theorem-3.1', grade='exact', target='printed')\n@proof_steps({})\ndef {}(): pass\n\n"
PROOF = "# A\n\n1. One.\n   Check: turing/test_a.py::test_a\n2. Two.\n   Check: none\n"
WIDTH = 160
NOT_TEX = re.compile(
    r"<=|>=|!=|\^|\|\||[A-Za-z]_[A-Za-z0-9({]|\s[<>]\s|[\u0370-\u03ff\u2070-\u209f\u2190-\u22ff²³·×√‖⟨⟩]"
)
"""Signs of mathematics that stands outside of formulas."""


def notation_errors(text: str) -> list[str]:
    """What the house style refuses in a proof: long lines, mathematics that is no TeX, ids that cannot become links."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("Check:")]
    errors = [f"A line has {len(line)} characters: {line[:40]}..." for line in lines if len(line) > WIDTH]
    errors += [f"The id {found[0]} is code." for found in re.finditer(r"`[a-z]+(?:-[a-z]+)*:[A-Za-z0-9][^` ]*`", text)]
    pieces = list(split_mathematics("\n".join(line for line in lines if not line.startswith("#"))))
    if not any(formula for _, formula, _ in pieces):
        errors.append("There is no TeX.")
    for prose, _, _ in pieces:
        words = re.sub(r"`[^`]*`|[\w./-]+\.(?:md|py)\b", "", prose)
        errors += [
            f"Mathematics outside of dollars: {found[0]!r} in {prose.strip()!r}." for found in NOT_TEX.finditer(words)
        ]
    return errors


@pytest.mark.parametrize(
    "path",
    sorted(THEOREMS.glob("*/proofs/*.md")),
    ids=lambda path: f"{path.parents[1].name}-{path.stem}",
)
def test_proofs_are_written_in_tex_and_short_lines(path: Path) -> None:
    assert not notation_errors(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. Let $x\\le1$ and `a_b <= c^2`, by a_b.md.\n   Check: theorems/x_y/test_a.py::test_" + 160 * "a", None),
        ("1. Let $x$.\n   " + 160 * "a", "A line has 163 characters"),
        ("1. Nothing.", "There is no TeX"),
        ("Statement: `turing:lemma-B.1`.\n\n1. Let $x$.", "The id `turing:lemma-B.1` is code"),
        ("1. Let $x$ and y <= 1.", "'<='"),
        ("1. Let $x$ and y_1.", "'y_1'"),
        ("1. Let $x$ and e^2.", r"'\^'"),
        ("1. Let $x$ and ε.", "'ε'"),
        ("1. Let $x$ and √2.", "'√'"),
        ("1. Let $x$ and y > z.", "' > '"),
    ],
)
def test_other_notations_are_found(text: str, message: str | None) -> None:
    found = notation_errors(text)
    assert (not found) if message is None else any(re.search(message, one) for one in found)


@pytest.fixture
def chapter(tmp_path: Path) -> Chapter:
    """A chapter with a proof of two steps, of which a test checks the first."""
    folder = tmp_path / "turing"
    (folder / "proofs").mkdir(parents=True)
    (folder / "proofs" / "a.md").write_text(PROOF)
    (folder / "test_a.py").write_text(MARKED.format("'a.md: 1'", "test_a"))
    entry = Statement("turing:theorem-3.1", "theorem", "T", "C.", "W", "holds", "proof", proof="a.md")
    return Chapter("turing", "T", "D", (entry,), folder)


@pytest.mark.parametrize("name", [one.name for one in load_ledger().chapters])
def test_the_proofs_of_a_chapter_break_no_rule(name: str) -> None:
    assert not list(proof_errors(next(one for one in load_ledger().chapters if one.name == name)))


def test_every_proof_belongs_to_a_statement_that_names_it() -> None:
    named = {
        (chapter.name, statement.proof): statement.id
        for chapter in load_ledger().chapters
        for statement in chapter.statements
        if statement.proof is not None
    }
    assert {(path.parents[1].name, path.name) for path in THEOREMS.glob("*/proofs/*.md")} == set(named)
    for (chapter, name), identity in named.items():
        assert identity in (THEOREMS / chapter / "proofs" / str(name)).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("proof", "tests", "message"),
    [
        (PROOF, MARKED.format("'a.md: 1'", "test_a"), None),
        (PROOF.replace("2.", "3."), MARKED.format("'a.md: 1'", "test_a"), "numbered [1, 3]"),
        ("Words.\n", MARKED.format("'a.md: 1'", "test_a"), "numbered []"),
        (PROOF, MARKED.format("'a.md: 3'", "test_a"), "test_a names step 3 of a.md, whose steps end with 2."),
        (PROOF, MARKED.format("'b.md: 1'", "test_a"), "names the proof b.md, which is not in turing/proofs."),
        (PROOF, "@proof_steps('a.md: 1')\ndef test_a(): pass\n", "is evidence for no statement"),
        (PROOF, MARKED.format("'a.md: 1, 2'", "test_a"), "step 2 says 'Check: none', but turing/test_a.py::test_a"),
        (PROOF.replace("   Check: none\n", ""), MARKED.format("'a.md: 1'", "test_a"), "no test names step 2"),
        (PROOF, MARKED.format("'a.md: 1'", "test_b"), "are not those of the tests"),
        (PROOF.replace("test_a\n", "test_a.\n"), MARKED.format("'a.md: 1'", "test_a"), "are not those of the tests"),
        (PROOF, "", "no test names a step of it"),
    ],
)
def test_faulty_proofs_are_found(chapter: Chapter, proof: str, tests: str, message: str | None) -> None:
    folder = Path(str(chapter.folder))
    (folder / "proofs" / "a.md").write_text(proof)
    (folder / "test_a.py").write_text(tests)
    found = list(proof_errors(chapter))
    assert (not found) if message is None else any(message in one for one in found)


def test_a_renamed_test_changes_its_line_alone(chapter: Chapter, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(str(chapter.folder))
    (folder / "test_a.py").write_text(MARKED.format("'a.md: 1'", "test_z") + MARKED.format("'a.md: 1'", "test_new"))
    monkeypatch.setattr(proofs, "load_ledger", lambda: Ledger((chapter,)))
    assert proofs.main(["turing"]) == 1
    assert (folder / "proofs" / "a.md").read_text() == PROOF
    assert proofs.main(["turing", "--write"]) == 0
    written = (folder / "proofs" / "a.md").read_text()
    assert written == PROOF.replace("::test_a\n", "::test_z\n   Check: turing/test_a.py::test_new\n")
    assert checked_steps(chapter, chapter.statements[0])[2] == ()
    assert checked_steps(chapter, chapter.statements[0])[1] == tuple(
        f"turing/test_a.py::{name}" for name in ("test_z", "test_new")
    )


def test_checks_end_a_step() -> None:
    text = "9. Nine,\n\n       a = b.\n\n## Two\n\n10. Ten:\n    more.\n\n    More.\n    Check: old\n\nEnd.\n"
    assert with_checks(text, {9: ["a"], 10: ["b", "c"]}) == (
        "9. Nine,\n\n       a = b.\n   Check: a\n\n## Two\n\n"
        "10. Ten:\n    more.\n\n    More.\n    Check: b\n    Check: c\n\nEnd.\n"
    )


@pytest.mark.parametrize("places", [(), ("a.md",), ("a.md: ",), ("a: 1",), ("a.md: 1,2",), ("a.md: 1", "a.md: 2, 1")])
def test_places_that_are_none_are_refused(places: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="Steps of"):
        proof_steps(*places)
