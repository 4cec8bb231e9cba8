"""The frozen judgements: every change of one word is seen, and the command says which."""

import dataclasses
import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lemmata.theorems import judgement
from lemmata.theorems.citations import citations
from lemmata.theorems.evidence import GRADES, TARGETS, Evidence
from lemmata.theorems.judgement import FILE, as_text, changed, judge, judgement_errors, load_judgements, main
from lemmata.theorems.ledger import DECIDED, REACHES, THEOREMS, VERDICTS, Chapter, Statement, load_ledger

CHAPTERS = [one for one in load_ledger().chapters if one.folder is not None and one.folder.is_relative_to(THEOREMS)]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda one: one.name)
def test_every_entry_is_as_it_was_judged(chapter: Chapter) -> None:
    assert not list(judgement_errors(chapter))
    assert chapter.folder is not None
    frozen = load_judgements(chapter.folder)
    assert frozen is not None
    assert list(frozen) == [one.id for one in chapter.statements]
    assert all(re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", one.date) for one in frozen.values())


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda one: one.name)
def test_a_flipped_word_is_seen_in_every_entry(chapter: Chapter) -> None:
    """Verdict and reach to every other word; in every text of the entry one word, drawn with a seed, is left out."""
    assert chapter.folder is not None
    frozen = load_judgements(chapter.folder)
    assert frozen is not None
    rng = random.Random(1)
    for statement in chapter.statements:
        flips = [dataclasses.replace(statement, verdict=one) for one in VERDICTS if one != statement.verdict]
        if statement.verdict in DECIDED:
            flips += [dataclasses.replace(statement, reach=one) for one in REACHES if one != statement.reach]
        for field in dataclasses.fields(Statement):
            text = getattr(statement, field.name)
            if field.name not in ("id", "verdict", "reach") and isinstance(text, str):
                words = text.split(" ")
                del words[rng.randrange(len(words))]
                flips.append(dataclasses.replace(statement, **{field.name: " ".join(words)}))
        for flip in flips:
            assert changed(frozen[statement.id], judge(flip, "2000-01-01")), flip


def other_roles(evidence: Evidence) -> Iterator[Evidence]:
    """Every change of one word in a decorator, and a word dropped from its cases or put there."""
    yield dataclasses.replace(evidence, supporting=not evidence.supporting)
    yield from (dataclasses.replace(evidence, grade=one) for one in GRADES if one != evidence.grade)
    yield from (dataclasses.replace(evidence, target=one) for one in TARGETS if one != evidence.target)
    yield dataclasses.replace(evidence, kind="check" if evidence.kind == "counterexample" else "counterexample")
    words = (evidence.cases or "").split()
    shorter = [" ".join([*words[:place], *words[place + 1 :]]) or None for place in range(len(words))]
    yield from (dataclasses.replace(evidence, cases=one) for one in shorter or ["n = 3"])


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda one: one.name)
def test_every_test_that_changes_its_role_is_seen(chapter: Chapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that decide and tests that support alike: a word of their decorators changed, and each taken away."""
    assert chapter.folder is not None
    frozen = load_judgements(chapter.folder)
    assert frozen is not None
    for statement in chapter.statements:
        found, old = citations(statement.id), frozen[statement.id]
        for place, one in enumerate(found):
            others = [*found[:place], *found[place + 1 :]]
            flips = [[*others, dataclasses.replace(one, evidence=flip)] for flip in other_roles(one.evidence)]
            for now in [others, *flips]:
                monkeypatch.setattr(judgement, "citations", lambda _, now=now: now)
                assert "a test of it, deciding or supporting, changed its role" in changed(old, judge(statement, ""))


def small(tmp_path: Path) -> Chapter:
    entry = Statement("small:lemma-1", "lemma", "T", "C.", "W", "open", reason="Not yet.")
    return Chapter("small", "T", "D", (entry,), tmp_path)


def test_errors_name_the_side_to_change(tmp_path: Path) -> None:
    chapter = small(tmp_path)
    assert not list(judgement_errors(chapter))  # a chapter without judgements
    now = judge(chapter.statements[0], "2026-01-02")
    other = dataclasses.replace(now, verdict="holds", text="0")
    (tmp_path / FILE).write_text(as_text({"small:lemma-1": other, "small:lemma-2": now}), encoding="utf-8")
    load_judgements.cache_clear()
    [first, second] = judgement_errors(chapter)
    assert first.startswith("small:lemma-1 was judged on 2026-01-02, and since then its verdict changed from holds to ")
    assert "put that back, or, if it is meant, freeze it (python -m lemmata.theorems.judgement small --write)" in first
    assert second == "judged.txt of small judges small:lemma-2, which is no statement of its ledger."
    (tmp_path / FILE).write_text("", encoding="utf-8")
    load_judgements.cache_clear()
    [error] = judgement_errors(chapter)
    assert error.startswith("small:lemma-1 has no judgement")
    (tmp_path / FILE).write_text("small:lemma-1 2026-01-02 holds\n", encoding="utf-8")
    load_judgements.cache_clear()
    with pytest.raises(ValueError, match=r"line 1: an id, once, and six words"):
        load_judgements(tmp_path)
    load_judgements.cache_clear()


def test_the_command_writes_what_is_new_and_keeps_other_dates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chapter = small(tmp_path)
    monkeypatch.setattr(judgement, "load_ledger", lambda: dataclasses.replace(load_ledger(), chapters=(chapter,)))
    assert main([]) == 1
    assert capsys.readouterr().out == "small:lemma-1: it is new\n"
    assert main(["small", "--write"]) == 0
    load_judgements.cache_clear()
    assert main([]) == 0
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    (tmp_path / FILE).write_text(re.sub(r" 20\S+ ", " 2020-02-02 ", text), encoding="utf-8")
    load_judgements.cache_clear()
    assert main(["--write"]) == 0
    assert " 2020-02-02 " in (tmp_path / FILE).read_text(encoding="utf-8")
    load_judgements.cache_clear()
    with pytest.raises(SystemExit):
        main(["knots"])


def test_ledgers_have_no_key_that_is_not_judged() -> None:
    known = {field.name for field in dataclasses.fields(Statement)}
    for chapter in CHAPTERS:
        assert chapter.folder is not None
        entries = tomllib.loads((chapter.folder / "ledger.toml").read_text(encoding="utf-8"))["statement"]
        assert all(entry.keys() <= known for entry in entries)
