"""The site: built once from this checkout; its pages, its links, its pictures, and what is refused."""

import gc
import html
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from lemmata.certificates.atlas.committed import committed_atlas
from lemmata.cli import COMMANDS, EXAMPLES
from lemmata.site.authors import author_pages
from lemmata.site.build import ROOT, _filled, broken_links, build_site, remote_sources
from lemmata.site.chapters import chapter_pages, errata_page, opening
from lemmata.site.entries import SHARED, Edges, edges_of, load_library
from lemmata.site.margins import PICTURE, margin_picture
from lemmata.site.mathml import mathml
from lemmata.site.mutants import rows
from lemmata.site.papers import PAPERS
from lemmata.site.picture import chapter_picture, neighbour_picture, whole_picture
from lemmata.site.prose import escaped, fenced, markdown_of, mentioned, statement_place
from lemmata.site.reference import docstring_markdown
from lemmata.site.statements import _fault, _idea, _neighbours, proof_page, statement_page
from lemmata.theorems.citations import citations
from lemmata.theorems.evidence import GRADES
from lemmata.theorems.faults import DrawnFault
from lemmata.theorems.ledger import catalogue_ids, load_ledger
from lemmata.theorems.reached import reached
from lemmata.theorems.trials import FAILS
from tests.mutants.results import load


@pytest.fixture(scope="session")
def library():
    return load_library(ROOT / "notebooks")


@pytest.fixture(scope="session")
def edges(library):
    return edges_of(library)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Built with rare collections of garbage, since the trees of its pages are many objects."""
    target, thresholds = tmp_path_factory.mktemp("site") / "site", gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        counts = build_site(target, jobs=1)  # raises for every warning, broken link and request to the network
    finally:
        gc.set_threshold(*thresholds)
    assert counts["statements"] == len(list(load_ledger().statements()))
    return target


def page(site, place):
    return (site / f"{place}.html").read_text(encoding="utf-8")


def text_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def test_every_statement_proof_and_notebook_has_a_page(site):
    for chapter in load_ledger().chapters:
        for statement in chapter.statements:
            assert statement.id in page(site, statement_place(statement.id))
        for path in (ROOT / "theorems" / chapter.name / "proofs").glob("*.md"):
            assert (site / "proofs" / chapter.name / f"{path.stem}.html").is_file()
        for part in ("", "-source", "-completeness", "-reliability", "-dependencies"):
            assert (site / "chapters" / f"{chapter.name}{part}.html").is_file()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        assert (site / "notebooks" / f"{path.stem}.html").is_file()


def test_an_older_address_leads_to_the_page(site):
    kept = {"def": "definition", "prop": "proposition", "fig": "figure", "cor": "corollary"}
    found = list((site / "statements").glob("*/*.html"))
    for path in found:
        older = path.name.partition("-")[0]
        if older in kept:
            target = path.with_name(path.name.replace(older, kept[older], 1))
            assert target in found
            assert f'content="0; url={target.name}"' in path.read_text(encoding="utf-8")
    assert (site / "statements" / "turing" / "def-2.1.html").is_file()


def test_the_page_of_the_search_alone_loads_the_search_by_number(site):
    for page_, count in (("search", 1), ("index", 0)):
        shown = (site / f"{page_}.html").read_text(encoding="utf-8")
        assert [shown.count(f"/{name}") for name in ("statements.js", "numbers.js")] == [count] * 2


def test_the_built_pages_say_verdict_meaning_reach_and_grade_of_every_entry(site):
    """Read back from the built site, with meanings that stand here in words of their own."""
    meanings = {
        "holds": "true as printed",
        "repaired": "what is printed fails",
        "refuted": "false, and no repair is known",
        "open": "not settled",
        "context": "claims nothing",
    }
    reaches = {
        "all": "every parameter value, by the machine alone",
        "proof": "every parameter value, by a written proof",
        "cases": "the cases that the tests list, and no others",
        "scaled": "another protocol than the printed one",
    }
    count = 0
    for chapter in load_ledger().chapters:
        for entry in written(chapter):
            shown = html.unescape(text_of(page(site, statement_place(entry["id"]))))
            assert f"Verdict: {entry['verdict']}" in shown
            assert [one for one in meanings if f"{one} : {meanings[one]}" in shown] == [entry["verdict"]]
            reach = [entry["reach"]] if "reach" in entry else []
            assert [one for one in reaches if re.search(rf"Reach {one} :[^.]*{reaches[one]}", shown)] == reach
            grade = weakest(entry["id"])
            assert [one for one in GRADES if f"Grade {one} , the weakest" in shown] == ([grade] if grade else [])
            assert re.sub(r"\W", "", entry["where"])[:40] in re.sub(r"\W", "", shown)
            if "fails" in entry:
                assert f"What fails: {FAILS[entry['fails']][:30]}" in shown.replace("What fails :", "What fails:")
            count += 1
    assert count == len(catalogue_ids())


def test_the_page_of_a_statement_says_what_the_ledger_says(site):
    repaired = next(one for one in load_ledger().statements() if one.id == "deep-icgd:lemma-14")
    shown = text_of(page(site, statement_place(repaired.id)))
    assert f"Verdict: {repaired.verdict}" in shown
    for formula in (r"\eta \le L_f", r"\eta \le 1/L_f"):
        assert mathml(formula) in page(site, statement_place(repaired.id))
    for one in citations(repaired.id):
        assert one.test in shown


def written(chapter):
    """The entries of a chapter as its file has them."""
    return tomllib.loads((ROOT / "theorems" / chapter.name / "ledger.toml").read_text(encoding="utf-8"))["statement"]


def weakest(name):
    """The weakest grade of the tests that decide a statement, or None."""
    grades = [one.evidence.grade for one in citations(name) if not one.evidence.supporting]
    return max(grades, key=GRADES.index, default=None)


def under(shown, label):
    """The text below a label on a page with dollars for each formula, and the formulas; None without the label."""
    found = re.search(rf'<p class="which">{label}</p><p>(.*?)</p></div>', shown, re.DOTALL)
    formula = re.compile(r"<math.*?</math>", re.DOTALL)
    return found and (html.unescape(formula.sub("$", found[1])), formula.findall(found[1]))


def as_shown(text):
    """What `under` finds for a text of the ledger."""
    pieces = re.split(r"\$([^$]+)\$", text.strip())
    return "$".join(pieces[::2]), [mathml(source) for source in pieces[1::2]]


def test_pages_show_each_part_of_an_entry_under_its_own_name(library, edges):
    roles = {"counterexample": "counterexample", "printed": "printed form", "corrected": "corrected form"}
    for chapter in library.ledger.chapters:
        for entry in written(chapter):
            name = entry["id"]
            shown = statement_page(library.entries[name], library, edges, "0")
            grade = weakest(name)
            words = [one for one in (entry["verdict"], entry.get("reach"), grade) if one]
            assert re.findall(r'class="badge (\w+)"', shown) == words
            assert f"## Verdict: {entry['verdict']}\n" in shown
            assert (f"Reach *{entry.get('reach')}*:" in shown) == ("reach" in entry)
            assert (f"Grade *{grade}*, the weakest" in shown) == (grade is not None)
            for key, label in (("printed", "As printed"), ("corrected", "Corrected")):
                assert under(shown, label) == (as_shown(entry[key]) if key in entry else None)
            for key, label in (
                ("reason", "**What is open.**"),
                ("deviation", "**Printed against run.**"),
                ("machine_checked", "**Machine-checked in Coq.**"),
            ):
                assert (label in shown) == (key in entry)
            evidence = [(one, one.evidence) for one in citations(name)]
            assert re.findall(r"^\| `(\S+)` \| ([\w ]+) \| (\w+) \|", shown, re.MULTILINE) == [
                (one.node, roles[what.target if what.kind == "check" else what.kind], what.grade)
                for one, what in evidence
                if not what.supporting
            ]
            assert re.findall(r"^- `(\S+::\S+)`$", shown, re.MULTILINE) == [
                one.node for one, what in evidence if what.supporting
            ]


def test_the_page_of_a_proof_ends_with_the_trial_of_its_statements(library):
    for chapter in library.ledger.chapters:
        tried = [entry for entry in written(chapter) if "fails" in entry and "proof" in entry]
        for path in (ROOT / "theorems" / chapter.name / "proofs").glob("*.md"):
            shown = proof_page(path, library)
            wanted = [entry["id"] for entry in tried if entry["proof"] == path.name]
            assert shown.count("**For the author.**") == shown.count("**Against it.**") == len(wanted)
            parts = shown.partition("## What fails as printed")[2].split("**For the author.**")
            for name, before, after in zip(wanted, parts, parts[1:], strict=False):
                assert f"[{name}](../../{statement_place(name)}.md)" in before
                assert re.findall(r"[A-Za-z]{5,}", library.entries[name].statement.attack or "")[0] in after
        assert any("proof" in entry for entry in tried)


def test_counts_are_those_of_the_ledger(library, edges):
    entries = {chapter: written(chapter) for chapter in library.ledger.chapters}
    verdicts = Counter(entry["verdict"] for one in entries.values() for entry in one)
    said = _filled("<!-- slot: counts -->", library, "")
    assert said == f"{verdicts.total()} statements: " + ", ".join(f"{verdicts[one]} {one}" for one in sorted(verdicts))
    wrong = [entry["id"] for one in entries.values() for entry in one if {"erratum", "proof_erratum"} & set(entry)]
    errata = errata_page(library)
    assert errata.startswith(f"# Errata\n\n{len(wrong)} statements err")
    assert sorted(re.findall(r"^\[([\w-]+:\S+)\]\(statements", errata, re.MULTILINE)) == sorted(wrong)
    fails = {entry["id"]: entry.get("fails") for one in entries.values() for entry in one}
    parts = re.split(r"^## (.*)$", errata, flags=re.MULTILINE)[1:]
    for heading, part in zip(parts[::2], parts[1::2], strict=True):
        names = re.findall(r"^\[([\w-]+:\S+)\]\(statements", part, re.MULTILINE)
        assert names
        [kind] = {fails[name] for name in names}
        assert kind is None or heading.casefold().endswith(kind)
        assert f"| [{heading}](#errata-{heading.casefold().replace(' ', '-')}) | {len(names)} |" in errata
    for chapter, own in entries.items():
        pages = chapter_pages(chapter, library, edges)
        complete = pages[f"chapters/{chapter.name}-completeness.md"]
        heading = re.match(r"# Completeness of (.*)\n", complete)[1]
        assert heading.casefold() == chapter.title.casefold()
        assert heading[0].islower()  # no title of a chapter begins with a name
        rows = re.findall(r"^\| (\w+) \| (\d+) \|(.*)\|$", complete, re.MULTILINE)
        assert {kind: int(count) for kind, count, _ in rows} == Counter(entry["kind"] for entry in own)
        head = re.search(r"^\| kind \| all \|(.*)\|$", complete, re.MULTILINE)[1].replace(" ", "").split("|")
        for kind, _, cells in rows:
            numbers = [int(cell) if cell.strip() else 0 for cell in cells.split("|")]
            assert numbers == [sum((e["kind"], e["verdict"]) == (kind, verdict) for e in own) for verdict in head]
        unsettled = complete.split("## What is open")[1].split("## Experiments")[0]
        assert unsettled.count("\n- [") == sum(entry["verdict"] == "open" for entry in own)
        reliable = pages[f"chapters/{chapter.name}-reliability.md"]
        head = re.search(r"^\| grade \| meaning \|(.*)\|$", reliable, re.MULTILINE)[1].replace(" ", "").split("|")
        settled = Counter((weakest(e["id"]), e.get("reach")) for e in own if e["verdict"] not in ("open", "context"))
        for grade, cells in re.findall(r"^\| (\w+) \| [^|]* \|((?:[ \d]*\|)+)$", reliable, re.MULTILINE):
            numbers = [int(cell) if cell.strip() else 0 for cell in cells.split("|")[:-1]]
            assert numbers == [settled.pop((grade, reach), 0) for reach in head]
        assert not settled


def test_what_is_open_is_said_with_its_reason(site):
    for chapter in load_ledger().chapters:
        shown = page(site, f"chapters/{chapter.name}-completeness")
        for statement in chapter.statements:
            if statement.verdict == "open":
                assert f"{statement_place(statement.id).removeprefix('statements/')}.html" in shown


def test_every_guide_is_in_the_contents_and_every_command_in_its_guide(site):
    contents = page(site, "index")
    for path in (ROOT / "lemmata" / "site" / "pages").glob("*.md"):
        assert f'href="{path.stem}.html"' in contents or path.stem == "index"
    shown = text_of(page(site, "command_line"))
    assert [name for name, what in COMMANDS.items() if f"{name} {what.split()[0]}" not in shown] == []
    assert [example for example in EXAMPLES.values() if f"lemmata {example}" not in html.unescape(shown)] == []


def test_the_page_for_the_authors_says_all_that_fails_and_all_that_is_open(library):
    pages = author_pages(library)
    assert len(pages) == len(PAPERS) == 5
    for paper in PAPERS:
        shown = pages[f"authors/{paper.key}.md"]
        for chapter in library.ledger.chapters:
            for entry in written(chapter):
                failing = entry["verdict"] in ("repaired", "refuted", "open") or "proof_erratum" in entry
                there = f"]({'../'}{statement_place(entry['id'])}.md)**" in shown
                assert there == (failing and chapter.name in paper.chapters), entry["id"]


def test_an_erratum_opens_with_a_sentence_and_keeps_every_word(library):
    assert opening("For $x. Y$ the printed constant is 1. It is 2.") == (
        "For $x. Y$ the printed constant is 1.",
        "It is 2.",
    )
    for entry in library.entries.values():
        text = entry.statement.erratum or ""
        first, rest = opening(text)
        assert text.startswith(first)
        assert text.removeprefix(first).strip() == rest.strip()
        assert first.count("$") % 2 == 0


def test_the_picture_of_the_margins_is_that_of_the_atlas():
    rows = committed_atlas()["sections"]["groups"]["rows"]
    drawn = PICTURE.read_text(encoding="utf-8")
    assert drawn == margin_picture(rows)
    assert drawn.count("<title>") == sum(row["margin"][0] is not None for row in rows) > 300


def test_the_share_of_killed_mutants_is_on_its_page(site):
    shown = text_of(page(site, "mutants"))
    for row in rows(load(ROOT / "tests" / "mutants" / "results.json")):
        assert f"{row.room} {row.places} {row.drawn} {int(100 * row.first.estimate + 1e-9)} % [" in shown
    assert page(site, "mutants").count('class="highlight-diff') >= 1
    for draw in (ROOT / "tests" / "mutants" / "draws").glob("*.json"):
        assert f"Seed {draw.stem}" in shown


def test_every_picture_has_an_alternative_text(site):
    shown = {path: re.findall(r"<img\b[^>]*>", path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert sum(len(images) for images in shown.values()) >= 70
    for path, images in shown.items():
        for image in images:
            assert re.search(r'\balt="[^"]{30,}"', image), f"{path.name}: {image[:200]}"


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a> <a href="c.html">c</a> <a href="#no">d</a>')
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="a.html">a</a><a href="https://example.org">e</a>')
    assert sorted(broken_links(tmp_path)) == [
        "a.html links to #no, a place that does not exist",
        "a.html links to b.html#here, a place that does not exist",
        "a.html links to c.html, which does not exist",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://x.org/a.js"></script>',
        "<script async src='//x.org/a.js'></script>",
        '<link rel="stylesheet" href="https://x.org/a.css">',
        '<img alt="" src="http://x.org/a.png">',
        '<style>@import "https://x.org/a.css";</style>',
        "<style>p { background: url(https://x.org/a.png) }</style>",
    ],
)
def test_what_asks_the_network_is_found(tmp_path, text):
    (tmp_path / "a.html").write_text(text)
    assert len(list(remote_sources(tmp_path))) == 1


def test_links_to_other_sites_ask_nothing(tmp_path):
    (tmp_path / "a.html").write_text('<a href="https://x.org">x</a><link rel="canonical" href="https://x.org/a.html">')
    assert list(remote_sources(tmp_path)) == []


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="is no site of Lemmata"):
        build_site(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_evidence_edges_are_functions_that_both_decide_by(library, edges):
    assert edges.evidence
    for (first, second), functions in edges.evidence.items():
        for name in (first, second):
            run = {one for test in library.entries[name].deciding for one in reached(ROOT / test.file, test.test)}
            assert set(functions) <= run
    most = max(len(functions) for functions in edges.evidence.values())
    assert most >= 1
    assert SHARED >= 2


def test_notebooks_belong_to_the_statements_whose_functions_they_call(library):
    assert "max_margin" in library.entries["feature-emergence:theorem-7.7"].notebooks
    assert "start_here" in library.entries["deep-icgd:lemma-14"].notebooks  # named by its id
    assert any(not entry.notebooks for entry in library.entries.values())


def test_claim_edges_are_what_entries_cite(library, edges):
    for name, entry in library.entries.items():
        assert set(entry.statement.depends) <= set(edges.claims[name])
        assert name not in edges.claims[name]
        for other in edges.claims[name]:
            assert name in edges.citing(other)


def test_pictures_are_whole_and_link_to_pages(library, edges):
    for drawn in (
        whole_picture(library, edges),
        *(chapter_picture(one, library, edges) for one in library.ledger.chapters),
    ):
        root = ElementTree.fromstring(drawn)
        assert root.get("role") == "img"
        assert root.get("aria-label")
        links = [one.get("href") for one in root.iter("{http://www.w3.org/2000/svg}a")]
        assert links
    drawn = ElementTree.fromstring(whole_picture(library, edges))
    paths = [one.get("class") for one in drawn.iter("{http://www.w3.org/2000/svg}path")]
    assert paths.count("claim") == sum(len(cited) for cited in edges.claims.values())
    assert paths.count("evidence") == len(edges.evidence)


def test_a_statement_stands_between_what_it_cites_and_what_cites_it(library, edges):
    """Each line ends at the name of the neighbour that it is said to join, on its side; no neighbour is left out."""
    svg = "{http://www.w3.org/2000/svg}"
    for name in library.entries:
        cited, citing, sharing = edges.claims.get(name, ()), edges.citing(name), edges.sharing(name)
        if not (cited or citing or sharing):
            with pytest.raises(ValueError, match="no neighbours"):
                neighbour_picture(name, library, edges)
            continue
        drawn = ElementTree.fromstring(neighbour_picture(name, library, edges))
        middle = float(drawn.get("width", "")) / 2
        named = [(one.get("data-name"), one.find(f"{svg}text")) for one in drawn.iter(f"{svg}a")]
        left = [other for other, text in named if float(text.get("x")) < middle]
        right = [other for other, text in named if float(text.get("x")) > middle]
        assert left == list(cited)
        assert right == [*citing, *sharing]
        paths = list(drawn.iter(f"{svg}path"))
        assert [one.get("class") for one in paths] == ["claim"] * len([*cited, *citing]) + ["evidence"] * len(sharing)
        for path, (other, text) in zip(paths, named, strict=True):
            assert path.get("data-ends") == f"{name} {other}"
            assert (text.text or "") == str(other).removeprefix(f"{name.partition(':')[0]}:")
            x, y = map(float, path.get("d", "").split()[-2:])
            assert abs(x - float(text.get("x"))) == 6
            assert abs(y - float(text.get("y")) + 4) < 0.01
            if path.get("class") == "claim":
                citer, cites = path.findtext(f"{svg}title", "").split(" cites ")
                assert cites in edges.claims[citer]


def test_chords_join_the_dots_of_their_statements(library, edges):
    """Ends are 6 inside of the circle of the dots, below them; the middle of the curve is halfway to the centre."""
    svg = "{http://www.w3.org/2000/svg}"
    drawn = ElementTree.fromstring(whole_picture(library, edges))
    size = float(drawn.get("width", ""))
    assert drawn.get("viewBox") == f"0 0 {size:g} {size:g}"
    dots = {}
    for one in drawn.iter(f"{svg}circle"):
        name = one.findtext(f"{svg}title", "").partition(": ")[0]
        dots[name] = complex(float(one.get("cx", "")), float(one.get("cy", ""))) - complex(size / 2, size / 2)
    assert set(dots) == set(library.entries)
    radius = abs(next(iter(dots.values())))
    assert all(abs(abs(dot) - radius) < 0.1 for dot in dots.values())
    assert 300 < radius < size / 2 - 22
    chords = list(drawn.iter(f"{svg}path"))
    assert len(chords) > 100
    for chord in chords:
        title = chord.findtext(f"{svg}title", "")
        cites = chord.get("class") == "claim"
        a, b = title.split(" cites ") if cites else title.split(" and ", 1)
        b = b if cites else next(name for name in dots if b.startswith(f"{name}: "))
        match = re.fullmatch(r"M(\S+) (\S+)Q(\S+) (\S+) (\S+) (\S+)", chord.get("d", ""))
        assert match
        x, y, p, q, u, v = map(float, match.groups())
        first, pull, last = (complex(*pair) - complex(size / 2, size / 2) for pair in ((x, y), (p, q), (u, v)))
        for end, dot in ((first, dots[a]), (last, dots[b])):  # numbers are rounded to a tenth
            assert abs(end - dot * (radius - 6) / radius) < 0.3
        assert abs(pull - (first + last) / 4) < 0.15  # so that (first + 2 pull + last) / 4 is 3/4 of the chord's middle


def fault(seen, later=None, equivalent=None, missing=None):
    return DrawnFault(
        statement="a:b", file="numerics/x.py", line=7, operator="NumberReplacer", before="x  =\n 1 | y", after="x = 2",
        seen=seen, by="", later=later, later_by="", equivalent=equivalent, open=missing,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (fault("nothing", missing="no test runs it"), "open: no test runs it"),
        (fault("nothing"), "nothing"),
        (fault("nothing", later="chapter", missing="no test runs it"), "its chapter"),
        (fault("own", missing="no test runs it"), "its own tests"),
        (fault("suite"), "other tests"),
        (fault("nothing", equivalent="the same sum"), "changes nothing: the same sum"),
    ],
)
def test_a_fault_is_open_where_nothing_sees_it_and_something_is_missing(drawn, words):
    where, before, after, seen = _fault(drawn)
    assert (where, before, after) == ("`numerics/x.py`, line 7", "``x = 1 \\| y``", "``x = 2``")
    assert seen == words


def test_a_statement_has_neighbours_where_any_kind_of_edge_joins_it(library):
    """Each kind alone, and none: the heading stands exactly where a list follows."""
    first, second = list(library.entries)[:2]
    entry = library.entries[first]
    lists = {
        "Its entry cites": Edges({first: (second,)}, {}),
        "Cited by": Edges({second: (first,)}, {}),
        "Decided by running": Edges({}, {(first, second): ("f", "g", "h", "i")}),
    }
    for words, edges in lists.items():
        heading, drawn, listed = _neighbours(entry, library, edges)
        assert heading.startswith("## ")
        assert f'href="../../{statement_place(second)}.html"' in drawn
        assert '<script src="../../_static/dependencies.js"></script>' in drawn
        assert listed.startswith(words)
        assert second in listed
    for functions, shown in (("fghi", "`f`, `g`, `h` and 1 more"), ("fgh", "`f`, `g`, `h`"), ("f", ": `f`")):
        shared = Edges({}, {(first, second): tuple(functions)})
        assert list(_neighbours(entry, library, shared))[2].endswith(shown)
    assert list(_neighbours(entry, library, Edges({}, {}))) == []


def test_prose_means_itself():
    shown = markdown_of(r"a_b *c* <d> [e] \$5 and $x_1 * y$ | #f", titles={}, root="")
    assert shown == r"a\_b \*c\* \<d\> \[e\] \$5 and $x_1 * y$ \| \#f"
    assert escaped("- a\n1. b\n+ c") == "\\- a\n1\\. b\n\\+ c"
    assert markdown_of("so $$x$$ is", titles={}, root="") == "so \n\n$$\nx\n$$\n\n is"


def test_ids_become_links_only_where_they_are_known():
    shown = markdown_of("see turing:lemma-2.3. Or turing:lemma-99.", titles={"turing:lemma-2.3": ""}, root="../")
    assert shown == "see [turing:lemma-2.3](../statements/turing/lemma-2.3.md). Or turing:lemma-99."
    assert mentioned("https://a:b and qstr:theorem-1, x/turing:y") == ["qstr:theorem-1"]


def test_the_parts_of_a_proof_are_its_headings_or_the_first_sentences_of_its_steps(tmp_path):
    steps = "1. **Heads, from above.** Let $x=2^k$. So\n   Check: a\n2. Then $2x. y\n   =1$: so\n\n   $$x$$\n\n3. A\nb"
    (tmp_path / "proof.md").write_text(steps)
    assert _idea(tmp_path / "proof.md") == (
        "Its steps begin:\n\n- **Heads, from above.** Let $x=2^k$.\n- Then $2x. y =1$:\n- A b"
    )
    (tmp_path / "proof.md").write_text(f"## One $x$\n\n{steps}\n\n## Two\n")
    assert _idea(tmp_path / "proof.md") == "Its parts:\n\n- One $x$\n- Two"


def test_a_fence_is_longer_than_what_it_holds():
    assert fenced("a\n```\nb") == "````text\na\n```\nb\n````"


def test_docstrings_as_markdown():
    text = """The sum of *two* numbers, ``a`` and `b`.

        lm.add(1, 2)

    Args:
        a: a number,
            positive.
        b: another one.

    Raises:
        ValueError: if not.
    """
    assert docstring_markdown(text) == (
        "The sum of \\*two\\* numbers, `a` and `b`.\n\n```python\nlm.add(1, 2)\n```\n\n**Args**\n\n"
        "- `a`: a number, positive.\n- `b`: another one.\n\n**Raises**\n\n- `ValueError`: if not."
    )
