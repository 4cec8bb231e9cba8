"""What a reader copies (README, guides, notebooks) uses the front door alone, and names only what is there."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lemmata as lm

ROOT = Path(lm.__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
GUIDES = [ROOT / "README.md", *sorted((ROOT / "lemmata" / "site" / "pages").glob("*.md"))]


def code_of(path: Path) -> list[str]:
    """The Python of a document: its blocks, or the code cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def prose_of(path: Path) -> str:
    """The text of a document between its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


def pictures_of(path: Path) -> dict[int, str]:
    """The alternative texts of the code cells of a notebook that show pictures, by the number of the cell."""
    found = {}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if any(kind.startswith("image/") for output in cell.get("outputs", ()) for kind in output.get("data", ())):
            found[number] = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
    return found


def imports(code: str) -> Iterator[tuple[str, str]]:
    """Every imported module of ours with the statement that imports it."""
    for node in ast.walk(ast.parse(code)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from ((name, ast.unparse(node)) for name in names if name.partition(".")[0] == "lemmata")


@pytest.mark.parametrize("path", [*filter(code_of, GUIDES), *NOTEBOOKS], ids=lambda path: path.stem)
def test_only_the_front_door_is_imported(path):
    found = [statement for code in code_of(path) for _, statement in imports(code)]
    assert found == ["import lemmata as lm"]


@pytest.mark.parametrize("path", [*GUIDES, *NOTEBOOKS], ids=lambda path: path.stem)
def test_the_text_names_what_is_there(path):
    prose = prose_of(path)
    for name in re.findall(r"`lemmata\.[a-z_.]+", prose):
        pytest.fail(f"{name[1:]} is internal: name what the front door has for it")
    for first, second in re.findall(r"\blm\.(\w+)(?:\.(\w+))?", prose):
        value = getattr(lm, first)
        assert not second or hasattr(value, second)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_picture_says_what_one_sees(path):
    pictures = pictures_of(path)
    assert pictures
    assert {number: text for number, text in pictures.items() if len(text) < 30 or not text.endswith(".")} == {}
    assert len(set(pictures.values())) == len(pictures)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_curves_say_what_their_axes_are(path):
    """Both axes have a name, or the title says what the vertical one is."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for number in pictures_of(path):
        code = "".join(cells[number]["source"])
        if re.search(r"\.(?:plot|errorbar|scatter|semilog[xy]|loglog)\(", code):
            assert re.search("xlabel|set_xticks", code), number
            assert re.search("ylabel|yticklabels|title", code), number


def test_one_number_has_one_form():
    """The margin of S3 in notebooks, README and guides: wherever its decimals are, its exact form is as printed."""
    exact, decimals = lm.certify("S3").exact, lm.certify("S3").enclosure(10)[0][:12]
    assert exact == "1/(36 + 9/2*sqrt(2))"
    found = 0
    for path in [*GUIDES, *NOTEBOOKS]:
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".md":
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(out.get("text", ())) for cell in cells for out in cell.get("outputs", ()))
        lines = text.splitlines()
        for place, line in enumerate(lines):
            if decimals in line and "at most" not in line:
                around = " ".join(lines[max(0, place - 1) : place + 1])
                forms = re.findall(r"\S*sqrt\(\S*", around)
                found += exact in around
                assert exact in around or not forms, (path.name, around)
    assert found >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_use_no_private_name(path):
    assert re.findall(r"\blm(?:\.\w+)*?\._(?!_)\w+", "\n".join(code_of(path))) == []


def test_imports_of_ours_are_found():
    assert [name for name, _ in imports("import numpy\nimport lemmata as lm, lemmata.numerics.exact")] == [
        "lemmata",
        "lemmata.numerics.exact",
    ]
    assert [name for name, _ in imports("def f():\n    from lemmata.theorems.ledger import load_ledger")] == [
        "lemmata.theorems.ledger"
    ]
    assert [name for name, _ in imports("from lemmata.commands import sweep\nfrom numpy import pi")] == [
        "lemmata.commands"
    ]
    assert len(NOTEBOOKS) >= 6
    assert all(len(code_of(path)) > 5 for path in NOTEBOOKS)
