"""The ledger as one self-contained HTML page (`--ledger-html`).

`render` turns the record of `theorems.verdicts.record` into the page; `sources` reads the code of the checks that the
page quotes. The template `report.html` beside this file holds the style and the script; everything that comes from
the record is escaped here.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from theorems.evidence import GRADES
from theorems.ledger import DECIDED, VERDICTS
from theorems.verdicts import totals

TEMPLATE = Path(__file__).with_name("report.html")

_MEANING = {
    "holds": "true as printed",
    "repaired": "false or vague as printed, true as corrected",
    "refuted": "false, no repair known",
    "open": "not checked, or only in part",
    "context": "claims nothing checkable",
    "symbolic": "for all parameter values",
    "exact": "exact arithmetic on finite cases",
    "enclosed": "rigorous interval arithmetic",
    "numeric": "floating point, derived tolerance",
    "sampled": "random sampling, stated confidence",
}


def sources(record: Mapping[str, Any], root: Path) -> dict[str, str]:
    """Return the code of every test function that `record` cites, by test name; `root` holds the cited files.

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
    """Return the page for `record`, the content of a ledger JSON file.

    Args:
        record: what `theorems.verdicts.record` returns.
        sources: code of the checks by test name, see the function `sources`; without it no code is quoted.
        root: path from the folder of the page to the folder that holds `theorems`, for the links to the tests.

    Raises:
        ValueError: `record` is not a ledger of version 1.
    """
    if (record.get("format"), record.get("version")) != ("lemmata/ledger", 1):
        raise ValueError(
            f"The record has format {record.get('format')!r}, version {record.get('version')!r}; "
            "the page is made from format 'lemmata/ledger', version 1."
        )
    chapters = record["chapters"]
    slots = {
        "facts": _facts(record),
        "overview": "\n".join(_overview_row(chapter) for chapter in chapters),
        "legend": "".join(f'<li><i class="{verdict}"></i>{verdict}</li>' for verdict in VERDICTS),
        "chips": _chips(record),
        "chapters": "\n".join(_chapter(chapter, sources or {}, root) for chapter in chapters),
    }
    # Slots are HTML comments, and escaped text contains no "<": nothing that is filled in can be a slot.
    page = TEMPLATE.read_text(encoding="utf-8")
    for name, content in slots.items():
        page = page.replace(f"<!-- slot: {name} -->", content)
    return page


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
    """Return the line under the title: how much there is, and how it was run."""
    counts = record["totals"]
    decided = sum(counts["verdicts"][verdict] for verdict in DECIDED)
    facts = [
        _plural(counts["statements"], "statement"),
        f"{decided} decided",
        _plural(counts["errata"], "erratum", "errata"),
        _plural(counts["checks"], "check") + f", {counts['outcomes']['failed']} failed",
        f"effort {record['effort']}",
        f"Python {record['python']}",
    ]
    return "".join(f"<li>{escape(fact)}</li>" for fact in facts)


def _overview_row(chapter: Mapping[str, Any]) -> str:
    """Return the row of the opening table: the chapter's title, its bar of verdicts, and the numbers in words."""
    counts = totals(chapter["statements"])
    present = [(verdict, counts["verdicts"][verdict]) for verdict in VERDICTS if counts["verdicts"][verdict]]
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
    """Return the groups of filter buttons."""
    counts = record["totals"]
    groups = {
        "verdict": [(verdict, verdict, counts["verdicts"][verdict]) for verdict in VERDICTS],
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
    """Return a collapsible chapter with its statements."""
    counts = totals(chapter["statements"])
    words = ", ".join(f"{counts['verdicts'][verdict]} {verdict}" for verdict in VERDICTS if counts["verdicts"][verdict])
    statements = "\n".join(_statement(one, chapter["name"], code, root) for one in chapter["statements"])
    name = escape(chapter["name"])
    return (
        f'<details class="chapter" id="{name}"><summary><h2>{escape(chapter["title"])}</h2>'
        f'<span class="shown"></span></summary>\n'
        f'<p class="document">{escape(chapter["document"])}<br><code>theorems/{name}</code>: {words}.</p>\n'
        f"{statements}\n</details>"
    )


def _statement(statement: Mapping[str, Any], chapter: str, code: Mapping[str, str], root: str) -> str:
    """Return one statement: heading, badges, what is known of it, and its checks."""
    identity, verdict, grade = escape(statement["id"]), escape(statement["verdict"]), statement["grade"]
    traits = [
        *(["erratum"] if statement["erratum"] is not None else []),
        *(["checks"] if statement["checks"] else []),
        *(["failure"] if _fails(statement) else []),
    ]
    parts = [
        f'<article class="statement {verdict}" id="{identity}" tabindex="-1" data-verdict="{verdict}" '
        f'data-grade="{escape(grade or "")}" data-chapter="{escape(chapter)}" data-with="{" ".join(traits)}">',
        f'<h3><span class="kind">{escape(statement["kind"])}</span> {escape(statement["title"])}</h3>',
        f'<p class="meta"><a class="id" href="#{identity}" title="link to this statement">{identity}</a>'
        f'<span class="badge {verdict}" title="{escape(_MEANING.get(verdict, ""))}">{verdict}</span>'
        + (f'<span class="grade" title="{_MEANING.get(grade, "")}">{escape(grade)}</span>' if grade else "")
        + f'<span class="source">{escape(statement["source"])}</span></p>',
    ]
    if statement["reason"] is not None:
        parts.append(f'<p class="reason"><b>Open.</b> {escape(statement["reason"])}</p>')
    if statement["erratum"] is not None:
        parts.append(_erratum(statement))
    if statement["checks"]:
        parts.append(_checks(statement["checks"], code, root))
    elif statement["verdict"] in DECIDED:
        parts.append('<p class="reason">Its checks did not run this time.</p>')
    parts.append("</article>")
    return "\n".join(parts)


def _erratum(statement: Mapping[str, Any]) -> str:
    """Return the erratum, with the printed and the corrected form side by side where the ledger has them."""
    forms = [
        f'<div class="{form}"><dt>{label}</dt><dd>{escape(statement[form])}</dd></div>'
        for form, label in (("printed", "as printed"), ("corrected", "corrected"))
        if statement[form] is not None
    ]
    table = f'<dl class="forms">{"".join(forms)}</dl>' if forms else ""
    return f'<div class="erratum"><p><b>Erratum.</b> {escape(statement["erratum"])}</p>{table}</div>'


def _checks(checks: Sequence[Mapping[str, Any]], code: Mapping[str, str], root: str) -> str:
    """Return the list of checks, each with its outcome and, folded, its code."""
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
        *([_plural(check["cases"], "case")] if check["cases"] > 1 else []),
        f"{check['seconds']:.2f} s",
    ]
    target = escape(quote(root + "/" + check["file"]))
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
