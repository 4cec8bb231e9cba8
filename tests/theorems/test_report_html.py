"""The HTML page of the ledger: complete, self-contained, and safe whatever the ledger says."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lemmata.theorems.evidence import Evidence
from lemmata.theorems.ledger import Chapter, Claim, Ledger, Statement, catalogue_ids, load_ledger
from lemmata.theorems.mathml import formulas, html_of, mathml
from lemmata.theorems.report_html import render, render_errata, sources
from lemmata.theorems.verdicts import Check, record

HOSTILE = "</script><script>alert('x')</script> \"quoted\" & <!-- slot: chapters --> <img src=x onerror=alert(1)>"
VOID = {"meta", "input", "br"}
ORIGIN = {"lemmata": "0.1.0", "commit": "0123456789abcdef0123", "date": "2026-01-01", "python": "3.11.0"}


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


def _check(
    statement: str, test: str = "test_a", outcome: str = "passed", kind: str = "check", supporting: bool = False
) -> Check:
    evidence = Evidence(statement, kind, "exact", "printed", supporting, "n = 2")  # pyright: ignore[reportArgumentType]
    return Check(f"theorems/turing/test_x.py::{test}", "theorems/turing/test_x.py", 3, evidence, outcome, 1.234, 1)


def _statement(identity: str, title: str, verdict: str, **more: Any) -> Statement:
    reach = "cases" if verdict in ("holds", "repaired", "refuted") else None
    return Statement(identity, "theorem", title, "For all $x$.", "Theorem 1", verdict, reach, **more)


def _record(checks: list[Check], *statements: Statement) -> dict[str, Any]:
    ledger = Ledger((Chapter("turing", "Circuits", "A paper", statements),))
    return record(ledger, checks, effort="quick", origin=ORIGIN)


def test_page_shows_every_statement_and_loads_nothing() -> None:
    page = Page(render(record(load_ledger(), [], effort="quick", origin=ORIGIN)))
    assert [one["id"] for one in page.with_class("statement")] == [one.id for one in load_ledger().statements()]
    assert len(page.with_class("statement")) == len(catalogue_ids())
    assert len(page.with_class("chapter")) == 9
    assert not any(attributes.keys() & {"src", "srcset", "action"} for _, attributes in page.tags)
    links = [attributes.get("href") or "#" for _, attributes in page.tags]
    assert all(link.startswith(("#", "./theorems/")) for link in links), "links lead to places of the page and to files"
    assert page.count("link") == 0
    assert page.count("script") == 1
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_everything_from_the_ledger_is_escaped() -> None:
    texts = dict.fromkeys(("erratum", "printed", "corrected", "proof_erratum", "deviation", "proof"), HOSTILE)
    hostile = Statement(
        "turing:theorem-3.1",
        "lemma",
        HOSTILE,
        HOSTILE,
        HOSTILE,
        "repaired",
        "scaled",
        depends=(HOSTILE,),
        **texts,
        claims=(Claim(HOSTILE, HOSTILE, "holds", (HOSTILE,)),),
    )
    opened = _statement("turing:lemma-2.3", "Title", "open", reason=HOSTILE)
    check = _check("turing:theorem-3.1", test=HOSTILE)
    ledger = Ledger((Chapter("turing", HOSTILE, HOSTILE, (hostile, opened)),))
    data = record(ledger, [check], effort=HOSTILE, origin=dict.fromkeys(ORIGIN, HOSTILE), partial=[HOSTILE])
    page = Page(render(data, sources={check.test: HOSTILE}, root=f"../{HOSTILE}"))
    plain = Page(render(_record([_check("turing:theorem-3.1")], hostile, opened)))
    assert page.count("script") == plain.count("script") == 1
    assert page.count("img") == 0
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    # Title twice for the chapter (table, heading), document, effort, banner; statement: title, claim, where, deviation,
    # erratum of the proof, proof, what it rests on, erratum, two forms, a claim with
    # its hypotheses and what it rests on; reason; check: name, code.
    assert sum(HOSTILE in text for text in page.texts) == 21
    errata = Page(render_errata(data, sources={check.test: HOSTILE}, root=f"../{HOSTILE}"))
    assert errata.count("script") == 1
    assert errata.count("img") == 0


def test_statement_shows_verdict_grade_erratum_and_checks() -> None:
    erratum = {"erratum": "The sign is wrong.", "printed": "+1", "corrected": "-1"}
    statement = _statement("turing:theorem-3.1", "Signs", "refuted", depends=("turing:lemma-2.3",), **erratum)
    other = _statement("turing:lemma-2.3", "Other", "holds")
    counterexample = _check("turing:theorem-3.1", kind="counterexample")
    failed = _check("turing:theorem-3.1", test="test_b", outcome="failed", supporting=True)
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
        "Theorem 1",
        "For all ",
        "passed · counterexample · exact · for n = 2 · 1.23 s",
        "failed · checks the printed form (supporting) · exact · for n = 2 · 1.23 s",
        "assert 1 < 2",
        "theorems/turing/test_x.py:3",
        "Its checks did not run this time.",
        "1 failed",
    ):
        assert expected in text, expected
    links = {attributes.get("href") for tag, attributes in page.tags if tag == "a"}
    assert {"#turing:theorem-3.1", "#turing:lemma-2.3", "../my%20files/theorems/turing/test_x.py#L3"} <= links
    assert page.count("math") == 2


def test_a_failing_deciding_check_shows_failed() -> None:
    statement = _statement("turing:theorem-3.1", "Signs", "holds")
    data = _record(
        [_check("turing:theorem-3.1"), _check("turing:theorem-3.1", test="test_b", outcome="failed")], statement
    )
    page = Page(render(data))
    (article,) = page.with_class("statement")
    assert (article["data-verdict"], article["data-reach"]) == ("failed", "")
    assert any("The ledger says holds." in text for text in page.texts)
    assert data["totals"]["verdicts"]["failed"] == 1
    assert data["totals"]["verdicts"]["holds"] == sum(data["totals"]["reaches"].values()) == 0


def test_a_partial_run_carries_a_banner_with_the_chapters() -> None:
    statement = _statement("turing:theorem-3.1", "Signs", "holds")
    ledger = Ledger((Chapter("turing", "Circuits", "A paper", (statement,)),))
    whole = record(ledger, [], effort="quick", origin=ORIGIN)
    part = record(ledger, [], effort="quick", origin=ORIGIN, partial=["turing"])
    assert not Page(render(whole)).with_class("banner")
    assert len(Page(render(part)).with_class("banner")) == 1
    text = " ".join(Page(render(part)).texts)
    assert "evidence is missing here: turing." in text
    for fact in ("Lemmata 0.1.0", "commit 0123456789abcdef", "run on 2026-01-01", "Python 3.11.0"):
        assert fact in text


def test_errata_are_listed_with_the_heaviest_first() -> None:
    def of(number: int, kind: str, verdict: str, **errata: str) -> Statement:
        reach = "cases" if verdict in ("holds", "repaired", "refuted") else None
        return Statement(f"turing:{kind}-{number}", kind, "Title", "Claim.", "Here", verdict, reach, **errata)

    statements = (
        of(1, "lemma", "holds", proof_erratum="A gap."),
        of(2, "lemma", "repaired", erratum="A sign."),
        of(3, "remark", "open", erratum="A typo."),
        of(4, "lemma", "holds"),
        of(5, "theorem", "repaired", erratum="A factor."),
        of(6, "lemma", "refuted", erratum="False."),
    )
    page = Page(render_errata(_record([], *statements)))
    listed = [str(one["id"]).partition("-")[2] for one in page.with_class("statement")]
    assert listed == ["6", "5", "2", "3", "1"]
    assert any("5 errata" in text for text in page.texts)


def test_mathematics_is_mathml_and_what_is_not_understood_stays_readable() -> None:
    page = Page(html_of(r"If $x < \frac{1}{2}$ then $$\sum_{i=1}^n x_i \le 1$$ costs \$5 & more."))
    assert page.count("math") == 2
    assert page.count("mfrac") == 1
    assert {attributes["display"] for tag, attributes in page.tags if tag == "math"} == {"inline", "block"}
    assert "".join(page.texts).endswith(" costs $5 & more.")
    assert html_of(r"$\nosuchcommand{x}$") == r"<code>\nosuchcommand{x}</code>"
    with pytest.raises(ValueError, match="is not understood"):
        mathml(r"\nosuchcommand{x}")


def test_an_escaped_dollar_opens_no_formula() -> None:
    assert formulas(r"costs \$5, not $x$, and \$6") == ["x"]
    assert html_of(r"\$5 or \$6") == "$5 or $6"


def test_every_formula_of_the_ledger_becomes_mathml() -> None:
    for statement in load_ledger().statements():
        for formula in formulas(statement.statement):
            mathml(formula)


def test_page_of_a_written_json_file_is_the_same() -> None:
    data = record(load_ledger(), [_check("turing:theorem-3.1")], effort="deep", origin=ORIGIN)
    assert render(json.loads(json.dumps(data))) == render(data)


def test_code_of_the_checks_is_found_with_its_decorators(tmp_path: Path) -> None:
    (tmp_path / "theorems" / "turing").mkdir(parents=True)
    method = "    @mark\n    def test_in(self):\n        return '''\n  x'''"
    text = f"@mark\n@other(\n    1\n)\ndef test_a():\n    pass\n\nclass TestX:\n{method}\n"
    (tmp_path / "theorems" / "turing" / "test_x.py").write_text(text, encoding="utf-8")
    checks = [_check("turing:theorem-3.1", test=test) for test in ("test_a", "TestX::test_in", "test_gone")]
    found = sources(_record(checks, _statement("turing:theorem-3.1", "T", "holds")), tmp_path)
    prefix = "theorems/turing/test_x.py::"
    assert found.keys() == {f"{prefix}test_a", f"{prefix}TestX::test_in"}
    assert found[f"{prefix}test_a"] == "@mark\n@other(\n    1\n)\ndef test_a():\n    pass"
    assert found[f"{prefix}TestX::test_in"] == "@mark\ndef test_in(self):\n    return '''\n  x'''"


def test_code_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    data = _record([_check("turing:theorem-3.1")], _statement("turing:theorem-3.1", "T", "holds"))
    assert sources(data, tmp_path) == {}
    (tmp_path / "theorems" / "turing").mkdir(parents=True)
    (tmp_path / "theorems" / "turing" / "test_x.py").write_text("def test_a(:", encoding="utf-8")
    assert sources(data, tmp_path) == {}


@pytest.mark.parametrize("data", [{}, {"format": "lemmata/ledger", "version": 1}, {"format": "other", "version": 2}])
def test_other_records_are_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the page is made from format 'lemmata/ledger', version 2"):
        render(data)
