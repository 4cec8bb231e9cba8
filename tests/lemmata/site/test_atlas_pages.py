"""The pages of the atlas, from the committed table: every row, with its margin, its digest, or the reason."""

import re

import pytest

from lemmata.certificates.atlas.committed import atlas_rows, committed_atlas
from lemmata.site.atlas import atlas_contents, atlas_pages
from lemmata.site.prose import escaped, statement_place
from lemmata.theorems.ledger import load_ledger

TITLES = {statement.id: statement.title for statement in load_ledger().statements()}
PAGES = atlas_pages(TITLES)


@pytest.mark.parametrize("section", committed_atlas()["sections"])
def test_every_row_has_a_line(section):
    lines = [line for line in PAGES[f"atlas/{section}.md"].splitlines() if line.startswith("| ")][1:]
    rows = list(atlas_rows(section))
    assert len({line.count("|") for line in lines}) == 1
    for line, row in zip([line for line in lines if "---" not in line], rows, strict=True):
        assert line.startswith(f"| {escaped(row['name'])} |")
        if row["sha256"]:
            assert f"`{row['sha256'][:12]}`" in line
        else:
            [said] = [part for part in PAGES[f"atlas/{section}.md"].split("\n\n") if escaped(row["reason"]) in part]
            assert escaped(row["name"]) in said
        shown = [row.get("exact"), *(row.get("margin") or ()), row.get("threshold"), row.get("verdict")]
        assert all(text in line for text in shown if text)


def test_statements_and_formats_are_linked():
    groups = PAGES["atlas/groups.md"]
    assert f"(../{statement_place('feature-emergence:theorem-7.9')}.md)" in groups
    assert "(../formats/UNIVERSAL_MARGIN.md)" in groups
    for section in committed_atlas()["sections"].values():
        assert set(section["statements"]) <= set(TITLES)


def test_the_first_page_counts_every_section():
    contents = atlas_contents()
    for name, section in committed_atlas()["sections"].items():
        assert re.search(rf"\]\(atlas/{name}\.md\) \| {len(section['rows'])} \|", contents)
