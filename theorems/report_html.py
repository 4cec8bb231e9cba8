"""The ledger as one self-contained HTML page (`--ledger-html`).

`render` turns the record of `lemmata.theorems.verdicts.record` into the page, `render_errata` into a page of the errata
alone, the heaviest first; `sources` reads the code of the checks that the pages quote. The template `report.html`
beside this file holds the style and the script; everything that comes from the record is escaped here, and mathematics
becomes MathML, so that the page needs neither a script nor a network to show it.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lemmata.theorems.evidence import GRADES
from lemmata.theorems.ledger import DECIDED, REACHES
from lemmata.theorems.mathml import html_of
from lemmata.theorems.verdicts import FAILED, SHOWN, totals

TEMPLATE = Path(__file__).with_name("report.html")

_MEANING = {
    "holds": "true as printed",
    "repaired": "false or vague as printed, true as corrected",
    "refuted": "false, no repair known",
    "open": "not checked, or only in part",
    "context": "claims nothing checkable",
    FAILED: "a deciding piece of evidence fails",
    "all": "every parameter value, by the machine alone",
    "proof": "every parameter value, by a written proof with checked steps",
    "cases": "the listed cases only",
    "scaled": "under another protocol than the printed one",
    "symbolic": "for all parameter values",
    "exact": "exact arithmetic on finite cases",
    "enclosed": "rigorous interval arithmetic",
    "numeric": "floating point, derived tolerance",
    "sampled": "random sampling, stated confidence",
}


_ORIGIN = {"lemmata": "Lemmata", "commit": "commit", "date": "run on", "python": "Python"}


def sources(record: Mapping[str, Any], root: Path) -> dict[str, str]:
    """The code of every test function that `record` cites, by test name; `root` holds the cited files.

    A test whose file or function can no longer be found is left out.
    """
    cited: dict[str, set[str]] = {}
    for chapter in record["chapters"]:
        for statement in chapter["statements"]:
            for check in statement["checks"]:
                cited.setdefault(check["file"], set()).add(check["test"])
    code = {}
    for file, tests in cited.items():
        try:
            text = (root / file).read_text(encoding="utf-8")
            tree = ast.parse(text)
        except (OSError, ValueError, SyntaxError):
            continue
        lines = text.splitlines()
        for name, node in _functions(tree, file):
            if name in tests:
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                code[name] = "\n".join(
                    # A line of a multi-line string may start left of the function.
                    line[node.col_offset :] if not line[: node.col_offset].strip() else line
                    for line in lines[first - 1 : node.end_lineno]
                )
    return code


def render(record: Mapping[str, Any], *, sources: Mapping[str, str] | None = None, root: str = ".") -> str:
    """The page for `record`, the content of a ledger JSON file.

    Args:
        record: what `lemmata.theorems.verdicts.record` returns.
        sources: code of the checks by test name, see the function `sources`; without it no code is quoted.
        root: path from the folder of the page to the folder that holds `theorems`, for the links to the tests.

    Raises:
        ValueError: `record` is not a ledger of version 2.
    """
    _require_ledger(record)
    chapters = record["chapters"]
    slots = {
        "title": "Lemmata: the ledger",
        "facts": _facts(record),
        "banner": _banner(record),
        "overview": "\n".join(_overview_row(chapter) for chapter in chapters),
        "legend": "".join(f'<li><i class="{verdict}"></i>{verdict}</li>' for verdict in SHOWN),
        "chips": _chips(record),
        "chapters": "\n".join(_chapter(chapter, sources or {}, root) for chapter in chapters),
    }
    return _filled(slots)


def render_errata(record: Mapping[str, Any], *, sources: Mapping[str, str] | None = None, root: str = ".") -> str:
    """The page of all errata: printed and corrected forms and the counterexamples, the heaviest first.

    The weight of an erratum is that of the verdict (refuted before repaired before errata of statements that are open
    or hold, before those of proofs alone), then that of the kind (theorems, propositions, corollaries, lemmas, claims,
    the rest).

    Args and errors as in `render`.
    """
    _require_ledger(record)
    errata = sorted(
        ((one, chapter) for chapter in record["chapters"] for one in chapter["statements"] if _has_erratum(one)),
        key=lambda pair: erratum_weight(pair[0]),
    )
    articles = "\n".join(_statement(one, chapter["name"], sources or {}, root) for one, chapter in errata)
    words = ", ".join(
        f"{sum(one['verdict'] == verdict for one, _ in errata)} {verdict}"
        for verdict in SHOWN
        if any(one["verdict"] == verdict for one, _ in errata)
    )
    heading = _plural(len(errata), "erratum", "errata")
    slots = {
        "title": "Lemmata: errata",
        "facts": _facts(record),
        "banner": _banner(record),
        "overview": "",
        "legend": "",
        "chips": "",
        "chapters": (
            f'<details class="chapter" id="errata" open><summary><h2>{heading}</h2>'
            f'<span class="shown"></span></summary>\n'
            f'<p class="document">The heaviest first: {words}.</p>\n{articles}\n</details>'
        ),
    }
    return _filled(slots)


def erratum_weight(statement: Mapping[str, Any]) -> tuple[int, int]:
    """The place of an erratum among all: smaller is heavier; see `render_errata`."""
    verdicts = ("refuted", "repaired", FAILED, "open", "holds", "context")
    kinds = ("theorem", "proposition", "corollary", "lemma", "claim")
    of_proof = 10 if statement["erratum"] is None else 0
    kind = kinds.index(statement["kind"]) if statement["kind"] in kinds else len(kinds)
    return of_proof + verdicts.index(statement["verdict"]), kind


def _has_erratum(statement: Mapping[str, Any]) -> bool:
    return statement["erratum"] is not None or statement["proof_erratum"] is not None


def _require_ledger(record: Mapping[str, Any]) -> None:
    if (record.get("format"), record.get("version")) != ("lemmata/ledger", 2):
        raise ValueError(
            f"The record has format {record.get('format')!r}, version {record.get('version')!r}; "
            "the page is made from format 'lemmata/ledger', version 2."
        )


def _filled(slots: Mapping[str, str]) -> str:
    # Slots are HTML comments, and escaped text contains no "<": nothing that is filled in can be a slot.
    page = TEMPLATE.read_text(encoding="utf-8")
    for name, content in slots.items():
        page = page.replace(f"<!-- slot: {name} -->", content)
    return page


def _banner(record: Mapping[str, Any]) -> str:
    """A warning where the run was partial: what did not run shows no evidence here."""
    if not record["partial"]:
        return ""
    names = escape(", ".join(name.replace("_", " ") for name in record["partial"]))
    return f'<p class="banner"><b>Partial run.</b> Not run as a whole, so that evidence is missing here: {names}.</p>'


def _functions(
    tree: ast.Module | ast.ClassDef, prefix: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a module and of its classes with their pytest names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}::{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}::{node.name}")


def _plural(count: int, noun: str, plural: str = "") -> str:
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def _facts(record: Mapping[str, Any]) -> str:
    """The line under the title: how much there is, where it comes from, and how it was run."""
    counts = record["totals"]
    decided = sum(counts["verdicts"][verdict] for verdict in DECIDED)
    facts = [
        _plural(counts["statements"], "statement"),
        f"{decided} decided",
        _plural(counts["errata"], "erratum", "errata"),
        _plural(counts["checks"], "check") + f", {counts['outcomes']['failed']} failed",
        f"effort {record['effort']}",
        *(f"{name} {record[key][:16]}" for key, name in _ORIGIN.items() if record.get(key)),
    ]
    return "".join(f"<li>{escape(fact)}</li>" for fact in facts)


def _overview_row(chapter: Mapping[str, Any]) -> str:
    """The row of the opening table: the chapter's title, its bar of verdicts, and the numbers in words."""
    counts = totals(chapter["statements"])
    present = [(verdict, counts["verdicts"][verdict]) for verdict in SHOWN if counts["verdicts"][verdict]]
    words = ", ".join(f"{count} {verdict}" for verdict, count in present)
    bar = "".join(f'<i class="{verdict}" style="flex-grow:{count}"></i>' for verdict, count in present)
    failed = counts["outcomes"]["failed"]
    name = escape(chapter["name"])
    return (
        f'<tr><th scope="row"><a href="#{name}">{escape(chapter["title"])}</a></th>'
        f'<td class="bar"><div role="img" aria-label="{words}" title="{words}">{bar}</div></td>'
        f'<td class="number">{words}</td>'
        f'<td class="number">{_plural(counts["checks"], "check")}'
        + (f', <strong class="bad">{failed} failed</strong>' if failed else "")
        + "</td></tr>"
    )


def _chips(record: Mapping[str, Any]) -> str:
    """The groups of filter buttons."""
    counts = record["totals"]
    groups = {
        "verdict": [(verdict, verdict, counts["verdicts"][verdict]) for verdict in SHOWN],
        "reach": [(reach, reach, counts["reaches"][reach]) for reach in REACHES],
        "grade": [(grade, grade, counts["grades"][grade]) for grade in GRADES],
        "with": [
            ("erratum", "erratum", counts["errata"]),
            ("checks", "checks", sum(bool(one["checks"]) for one in _statements(record))),
            ("failure", "failed check", sum(_fails(one) for one in _statements(record))),
        ],
        "chapter": [
            (chapter["name"], chapter["name"].replace("_", " "), len(chapter["statements"]))
            for chapter in record["chapters"]
        ],
    }
    return "\n".join(
        f"<fieldset><legend>{group}</legend>{''.join(_chip(group, *chip) for chip in chips)}</fieldset>"
        for group, chips in groups.items()
    )


def _chip(group: str, value: str, label: str, count: int) -> str:
    meaning = f' title="{_MEANING[value]}"' if value in _MEANING else ""
    return (
        f'<button type="button" class="chip" aria-pressed="false" data-group="{group}" '
        f'data-value="{escape(value)}"{meaning}>{escape(label)} <small>{count}</small></button>'
    )


def _statements(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for chapter in record["chapters"]:
        yield from chapter["statements"]


def _fails(statement: Mapping[str, Any]) -> bool:
    return any(check["outcome"] == "failed" for check in statement["checks"])


def _chapter(chapter: Mapping[str, Any], code: Mapping[str, str], root: str) -> str:
    """A collapsible chapter with its statements."""
    counts = totals(chapter["statements"])
    words = ", ".join(f"{counts['verdicts'][verdict]} {verdict}" for verdict in SHOWN if counts["verdicts"][verdict])
    statements = "\n".join(_statement(one, chapter["name"], code, root) for one in chapter["statements"])
    name = escape(chapter["name"])
    return (
        f'<details class="chapter" id="{name}"><summary><h2>{escape(chapter["title"])}</h2>'
        f'<span class="shown"></span></summary>\n'
        f'<p class="document">{escape(chapter["document"])}<br><code>theorems/{name}</code>: {words}.</p>\n'
        f"{statements}\n</details>"
    )


def _statement(statement: Mapping[str, Any], chapter: str, code: Mapping[str, str], root: str) -> str:
    """One statement: heading, badges, what is claimed, what is known of it, and its checks."""
    identity, verdict, grade = escape(statement["id"]), escape(statement["verdict"]), statement["grade"]
    reach = statement["reach"] if statement["verdict"] != FAILED else None
    traits = [
        *(["erratum"] if _has_erratum(statement) else []),
        *(["checks"] if statement["checks"] else []),
        *(["failure"] if _fails(statement) else []),
    ]
    parts = [
        f'<article class="statement {verdict}" id="{identity}" tabindex="-1" data-verdict="{verdict}" '
        f'data-grade="{escape(grade or "")}" data-reach="{escape(reach or "")}" data-chapter="{escape(chapter)}" '
        f'data-with="{" ".join(traits)}">',
        f'<h3><span class="kind">{escape(statement["kind"])}</span> {escape(statement["title"])}</h3>',
        f'<p class="meta"><a class="id" href="#{identity}" title="link to this statement">{identity}</a>'
        f'<span class="badge {verdict}" title="{escape(_MEANING.get(verdict, ""))}">{verdict}</span>'
        + "".join(
            f'<span class="grade" title="{_MEANING.get(word, "")}">{escape(word)}</span>'
            for word in (reach, grade)
            if word
        )
        + f'<span class="source">{escape(statement["where"])}</span></p>',
        f'<p class="claim">{html_of(statement["statement"])}</p>',
    ]
    parts += [
        f'<p class="reason"><b>{label}.</b> {escape(statement[key])}</p>'
        for key, label in (
            ("reason", "Open"),
            ("deviation", "Scaled"),
            ("proof_erratum", "Erratum of the proof"),
            ("machine_checked", "Machine-checked in Coq"),
        )
        if statement[key] is not None
    ]
    if statement["verdict"] == FAILED:
        parts.append(f'<p class="reason bad"><b>Failed.</b> The ledger says {escape(statement["claimed"])}.</p>')
    if statement["proof"] is not None:
        place = escape(f"theorems/{chapter}/proofs/{statement['proof']}")
        link = escape(quote(f"{root}/theorems/{chapter}/proofs/{statement['proof']}"))
        parts.append(f'<p class="reason"><b>Proof.</b> <a href="{link}">{place}</a></p>')
    if statement["depends"]:
        others = ", ".join(f'<a href="#{escape(one)}">{escape(one)}</a>' for one in statement["depends"])
        parts.append(f'<p class="reason"><b>Rests on</b> {others}.</p>')
    if statement["claims"]:
        parts.append(_claims(statement["claims"]))
    if statement["erratum"] is not None:
        parts.append(_erratum(statement))
    if statement["checks"]:
        parts.append(_checks(statement["checks"], code, root))
    elif statement["claimed"] in DECIDED:
        parts.append('<p class="reason">Its checks did not run this time.</p>')
    parts.append("</article>")
    return "\n".join(parts)


def _claims(claims: Sequence[Mapping[str, Any]]) -> str:
    """The sentences of a summary as a table: what is said, how it stands, under which hypotheses, by what."""
    rows = []
    for claim in claims:
        others = ", ".join(f'<a href="#{escape(one)}">{escape(one)}</a>' for one in claim["rests_on"])
        verdict = claim["verdict"]
        rows.append(
            f'<tr><td>{html_of(claim["says"])}</td><td><span class="badge {verdict}">{verdict}</span></td>'
            f"<td>{html_of(claim['provided'])}</td><td>{others}</td></tr>"
        )
    head = "<tr><th>claim</th><th>verdict</th><th>provided that</th><th>rests on</th></tr>"
    return f'<div class="claims"><table>{head}{"".join(rows)}</table></div>'


def _erratum(statement: Mapping[str, Any]) -> str:
    """The erratum, with the printed and the corrected form side by side where the ledger has them."""
    forms = [
        f'<div class="{form}"><dt>{label}</dt><dd>{escape(statement[form])}</dd></div>'
        for form, label in (("printed", "as printed"), ("corrected", "corrected"))
        if statement[form] is not None
    ]
    table = f'<dl class="forms">{"".join(forms)}</dl>' if forms else ""
    return f'<div class="erratum"><p><b>Erratum.</b> {escape(statement["erratum"])}</p>{table}</div>'


def _checks(checks: Sequence[Mapping[str, Any]], code: Mapping[str, str], root: str) -> str:
    """The list of checks, each with its outcome and, folded, its code."""
    return f'<ul class="checks">{"".join(_check(check, code.get(check["test"]), root) for check in checks)}</ul>'


def _check(check: Mapping[str, Any], code: str | None, root: str) -> str:
    outcome = check["outcome"]
    state = {"passed": "good", "failed": "bad"}.get(outcome, "pending")
    name = escape(check["test"].partition("::")[2])
    role = "counterexample" if check["kind"] == "counterexample" else f"checks the {check['target']} form"
    facts = [
        outcome,
        role + (" (supporting)" if check["supporting"] else ""),
        check["grade"],
        *([f"for {check['covers']}"] if check["covers"] else []),
        *([_plural(check["cases"], "run")] if check["cases"] > 1 else []),
        f"{check['seconds']:.2f} s",
    ]
    target = escape(quote(root + "/" + check["file"])) + f"#L{check['line']}"
    link = f'<a href="{target}">{escape(check["file"])}:{check["line"]}</a>'
    listing = f"<pre><code>{escape(code)}</code></pre>" if code is not None else ""
    measured = "".join(
        f"<li>{escape(one['case'] + ': ' if one['case'] else '')}{escape(one['name'] + ' = ' + str(one['value']))}</li>"
        for one in check["measured"]
    )
    values = f'<ul class="measured">{measured}</ul>' if measured else ""
    return (
        f'<li class="{state}"><details><summary><span class="name">{name}</span> '
        f'<span class="facts">{escape(" · ".join(facts))}</span></summary>{link}{values}{listing}</details></li>'
    )
