"""Listings of the pages: at most 85 columns, and the same program as before."""

import ast
import json
import re

import pytest

from lemmata.site.build import ROOT
from lemmata.site.listings import COLUMNS, narrowed
from lemmata.site.reference import reference_pages

LISTING = re.compile(r"^( *)(`{3,})(\w*)\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)
GUIDES = sorted((ROOT / "lemmata" / "site" / "pages").glob("*.md"))
FORMATS = sorted((ROOT / "certificates").rglob("*FORMAT.md"))


def listings(text):
    return [(found[3], found[4]) for found in LISTING.finditer(text)]


@pytest.mark.parametrize("path", [*GUIDES, *FORMATS], ids=lambda path: path.stem)
def test_pages_have_listings_of_at_most_85_columns_that_say_the_same(path):
    text = path.read_text(encoding="utf-8")
    shown = narrowed(text)
    assert LISTING.sub("", shown) == LISTING.sub("", text)
    for (language, before), (same, after) in zip(listings(text), listings(shown), strict=True):
        assert language == same
        if language != "diff":
            assert [line for line in after.split("\n") if len(line) > 85 and " " in line.strip()] == []
        if language in ("python", "py"):
            assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(before))
        elif language == "console":
            assert commands(after) == commands(before)
        else:
            assert after.split() == before.split()


def commands(text):
    """The words of each command of a shell, without comments."""
    joined = text.replace("\\\n", " ")
    return [words for line in joined.split("\n") if (words := re.sub(r"(^| )# .*", "", line).split())]


def test_signatures_of_the_reference_have_at_most_85_columns():
    wide = 0
    for text in reference_pages().values():
        for (_, before), (_, after) in zip(listings(text), listings(narrowed(text)), strict=True):
            wide += any(len(line) > COLUMNS for line in before.split("\n"))
            assert [line for line in after.split("\n") if len(line) > COLUMNS and " " in line.strip()] == []
            bare = [re.sub(r"#.*", "", one) for one in (before, after)]
            assert "".join(bare[0].split()) == "".join(bare[1].split())
    assert wide > 100


def test_code_in_notebooks_has_at_most_85_columns():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                lines = "".join(cell["source"]).split("\n")
                assert [line for line in lines if len(line) > COLUMNS] == [], path.name


@pytest.mark.parametrize(
    ("language", "line", "shown"),
    [
        ("python", f"f({'a' * 40})  # {'word ' * 12}end", [f"f({'a' * 40})  # {'word ' * 6}word",
                                                          f"{' ' * 45}# {'word ' * 5}end"]),
        ("python", f"  f({'a' * 70})  # a comment", ["  # a comment", f"  f({'a' * 70})"]),
        ("python", f"f('a # b', {'a, ' * 30}b)", [f"f('a # b', {'a, ' * 24}a,", "    a, a, a, a, a, b)"]),
        ("python", f"x = 1 + {'a + ' * 25}b", [f"x = 1 + {'a + ' * 25}b"]),  # no bracket to break in
        ("console", f"run {'--flag ' * 14}end", [f"run {'--flag ' * 10}--flag \\", f"  {'--flag ' * 3}end"]),
        ("console", f"  test_{'a' * 90} \\", [f"  test_{'a' * 90} \\"]),  # goes on already
        ("text", f"{'word ' * 18}end", [f"{'word ' * 16}word", "  word end"]),
        ("json", f'["{"a " * 40}", 1]', [f'["{"a " * 40}",', "  1]"]),
        ("diff", f"- {'word ' * 20}", [f"- {'word ' * 20}"]),
    ],
)  # fmt: skip
def test_long_lines_go_on_in_the_next_one(language, line, shown):
    expected = "\n".join(shown)
    assert (
        narrowed(f"{'w ' * 99}\n\n```{language}\n{line}\n```\n") == f"{'w ' * 99}\n\n```{language}\n{expected}\n```\n"
    )
