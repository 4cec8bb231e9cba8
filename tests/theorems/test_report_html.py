"""The HTML page of the ledger: complete, self-contained, and safe whatever the ledger says."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from theorems.evidence import Evidence
from theorems.ledger import Chapter, Ledger, Statement, catalogue_ids, load_ledger
from theorems.report_html import render, sources
from theorems.verdicts import Check, record

HOSTILE = "</script><script>alert('x')</script> \"quoted\" & <!-- slot: chapters --> <img src=x onerror=alert(1)>"
VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """Collects what the tests look at, and insists that every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.tags if name in (attributes.get("class") or "").split()]

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def _check(statement: str, test: str = "test_a", outcome: str = "passed", kind: str = "check") -> Check:
    evidence = Evidence(statement, kind, "exact", "printed")  # pyright: ignore[reportArgumentType]
    return Check(f"theorems/turing/test_x.py::{test}", "theorems/turing/test_x.py", 3, evidence, outcome, 1.234, 1)


def _record(checks: list[Check], *statements: Statement) -> dict[str, Any]:
    ledger = Ledger((Chapter("turing", "Circuits", "A paper", statements),))
    return record(ledger, checks, effort="quick", python="3.11.0")


def test_page_shows_every_statement_and_loads_nothing() -> None:
    page = Page(render(record(load_ledger(), [], effort="quick", python="3.11.0")))
    assert [one["id"] for one in page.with_class("statement")] == [one.id for one in load_ledger().statements()]
    assert len(page.with_class("statement")) == len(catalogue_ids())
    assert len(page.with_class("chapter")) == 9
    assert not any(attributes.keys() & {"src", "srcset", "action"} for _, attributes in page.tags)
    assert all((attributes.get("href") or "#").startswith("#") for _, attributes in page.tags)
    assert page.count("link") == 0
    assert page.count("script") == 1
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_everything_from_the_ledger_is_escaped() -> None:
    hostile = Statement("turing:theorem-3.1", "lemma", HOSTILE, HOSTILE, "repaired", None, HOSTILE, HOSTILE, HOSTILE)
    opened = Statement("turing:lemma-2.3", "lemma", "Title", "lines 1-2", "open", HOSTILE)
    check = _check("turing:theorem-3.1", test=HOSTILE)
    ledger = Ledger((Chapter("turing", HOSTILE, HOSTILE, (hostile, opened)),))
    data = record(ledger, [check], effort=HOSTILE, python=HOSTILE)
    page = Page(render(data, sources={check.test: HOSTILE}, root=f"../{HOSTILE}"))
    plain = Page(render(_record([_check("turing:theorem-3.1")], hostile, opened)))
    assert page.count("script") == plain.count("script") == 1
    assert page.count("img") == 0
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    # Title twice for the chapter (table, heading), document, effort, Python; statement: title, source, erratum, two
    # forms, reason; check: name, code.
    assert sum(HOSTILE in text for text in page.texts) == 13


def test_statement_shows_verdict_grade_erratum_and_checks() -> None:
    erratum = {"erratum": "The sign is wrong.", "printed": "+1", "corrected": "-1"}
    statement = Statement("turing:theorem-3.1", "theorem", "Signs", "lines 1-2", "refuted", **erratum)
    other = Statement("turing:lemma-2.3", "lemma", "Other", "lines 3-4", "holds")
    counterexample = _check("turing:theorem-3.1", kind="counterexample")
    failed = _check("turing:theorem-3.1", test="test_b", outcome="failed")
    code = {counterexample.test: "def test_a():\n    assert 1 < 2"}
    page = Page(render(_record([counterexample, failed], statement, other), sources=code, root="../my files"))
    article, rest = page.with_class("statement")
    assert article["data-verdict"] == "refuted"
    assert article["data-grade"] == "exact"
    assert article["data-with"] == "erratum checks failure"
    assert (rest["data-grade"], rest["data-with"]) == ("", "")
    text = "\n".join(page.texts)
    for expected in (
        "The sign is wrong.",
        "+1",
        "-1",
        "lines 1-2",
        "passed · counterexample · exact · 1.23 s",
        "failed · checks the printed form · exact · 1.23 s",
        "assert 1 < 2",
        "theorems/turing/test_x.py:3",
        "Its checks did not run this time.",
        "1 failed",
    ):
        assert expected in text, expected
    links = {attributes.get("href") for tag, attributes in page.tags if tag == "a"}
    assert {"#turing:theorem-3.1", "../my%20files/theorems/turing/test_x.py"} <= links


def test_page_of_a_written_json_file_is_the_same() -> None:
    data = record(load_ledger(), [_check("turing:theorem-3.1")], effort="deep", python="3.11.0")
    assert render(json.loads(json.dumps(data))) == render(data)


def test_code_of_the_checks_is_found_with_its_decorators(tmp_path: Path) -> None:
    (tmp_path / "theorems" / "turing").mkdir(parents=True)
    method = "    @mark\n    def test_in(self):\n        return '''\n  x'''"
    text = f"@mark\n@other(\n    1\n)\ndef test_a():\n    pass\n\nclass TestX:\n{method}\n"
    (tmp_path / "theorems" / "turing" / "test_x.py").write_text(text, encoding="utf-8")
    checks = [_check("turing:theorem-3.1", test=test) for test in ("test_a", "TestX::test_in", "test_gone")]
    found = sources(_record(checks, Statement("turing:theorem-3.1", "theorem", "T", "lines 1-2", "holds")), tmp_path)
    prefix = "theorems/turing/test_x.py::"
    assert found.keys() == {f"{prefix}test_a", f"{prefix}TestX::test_in"}
    assert found[f"{prefix}test_a"] == "@mark\n@other(\n    1\n)\ndef test_a():\n    pass"
    assert found[f"{prefix}TestX::test_in"] == "@mark\ndef test_in(self):\n    return '''\n  x'''"


def test_code_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    data = _record([_check("turing:theorem-3.1")], Statement("turing:theorem-3.1", "theorem", "T", "l", "holds"))
    assert sources(data, tmp_path) == {}
    (tmp_path / "theorems" / "turing").mkdir(parents=True)
    (tmp_path / "theorems" / "turing" / "test_x.py").write_text("def test_a(:", encoding="utf-8")
    assert sources(data, tmp_path) == {}


@pytest.mark.parametrize("data", [{}, {"format": "lemmata/ledger", "version": 2}, {"format": "other", "version": 1}])
def test_other_records_are_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the page is made from format 'lemmata/ledger', version 1"):
        render(data)
