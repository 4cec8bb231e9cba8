"""The pages of the atlas, from the committed table: every row, with its margin, its digest, or the reason."""

import re

import pytest

from lemmata.certificates.atlas.committed import atlas_rows, committed_atlas
from lemmata.site.atlas import atlas_contents, atlas_pages
from lemmata.site.atlas_pictures import gap_picture, unseen_map
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


def test_the_picture_of_gaps_counts_every_margin_once():
    sections = committed_atlas()["sections"]
    picture = gap_picture(sections)
    bars = re.findall(r"<title>([^<]+): (\d+) of (\d+) (exact|with a gap from (\S+) to (\S+))</title>", picture)
    for section in sections.values():
        gaps = [row["gap"] for row in section["rows"] if row.get("gap") is not None]
        own = [bar[1:] for bar in bars if bar[0] == section["title"]]
        assert sum(int(count) for count, *_ in own) == len(gaps)
        for count, of, words, low, high in own:
            inside = [
                gap for gap in gaps if (gap == "0" if words == "exact" else float(low) <= float(gap) < float(high))
            ]
            assert (int(count), int(of)) == (len(inside), len(gaps))


def test_the_map_of_unseen_cells_has_the_verdict_of_every_row():
    rows = list(atlas_rows("unseen"))
    grids = re.findall(r"<svg .*?</svg>", unseen_map(rows))
    assert sum(grid.count(f'class="{one}"') for grid in grids for one in ("right", "wrong", "both")) == len(rows)
    for row in rows:
        name, _, at = row["name"].partition(", at ")
        [grid] = [grid for grid in grids if f"<title>{name}: " in grid]
        assert f"{at} {row['verdict']}" in grid
        i, j = map(int, at.strip("()").split(","))
        places = re.findall(r'<rect class="(\w+)"', grid)
        assert len(places) == row["shape"][0] * row["shape"][1]
        assert places[i * row["shape"][1] + j] == row["verdict"]
        assert "absent" not in places


def test_a_row_of_another_form_is_no_unseen_cell():
    with pytest.raises(ValueError, match="is no row of an unseen cell"):
        unseen_map([{"name": "S3", "verdict": "right", "shape": [6, 6, 6]}])
