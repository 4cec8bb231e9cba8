"""`lemmata unseen`."""

import json
from dataclasses import replace
from fractions import Fraction
from io import StringIO

import matplotlib.image
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from lemmata.certificates.operations.unseen import unseen_cells
from lemmata.numerics.operations.names import parse_operation
from lemmata.reports.unseen import plot_unseen, print_unseen, table_map
from tests.lemmata.commands.runner import run


@pytest.fixture(scope="module")
def result():
    table = parse_operation("op:mul:3")
    return unseen_cells(table, table.without([(0, 0), (1, 1)]))


def test_the_report_and_its_files(tmp_path):
    picture, folder = tmp_path / "map.png", tmp_path / "new" / "folder"
    code, output, _ = run("unseen", "op:mul:3", "--cells", "without:(0,0),(1,1)", "--out", str(folder),
                          "--picture", str(picture))  # fmt: skip
    assert code == 0
    assert "7 cells given, 2 unseen" in output
    assert "epsilon = 1e-06, above the gap" in output
    assert "0! 0 0 0 1+ 2 0 2 1" in output
    assert "(0, 0) 0 ! wrong <= -0.03" in output
    assert "(1, 1) 1 + right >= 0.03" in output
    pixels = matplotlib.image.imread(picture)
    assert pixels.std() > 0.05
    height, width, _ = pixels.shape
    assert min(height, width) >= 3 * 0.6 * 150  # every cell has room for its letters, at 150 points per inch
    assert height > width  # the title needs some, too
    files = sorted(str(file) for file in folder.iterdir())
    assert len(files) == 2
    code, output, _ = run("check", *files)
    assert code == 0
    assert "every network with at least that margin is wrong at cell (0, 0), label 0" in output


def test_json_has_what_the_report_has():
    code, output, _ = run("unseen", "op:add:2", "--cells", "without:(0,0)", "--eps", "1/1000", "--json")
    summary = json.loads(output)
    assert code == 0
    assert summary["epsilon"] == "1/1000"
    assert summary["margin"]["gap"] < 1e-3
    (cell,) = summary["cells"]
    assert (cell["verdict"], cell["label"], cell["row"], cell["column"]) == ("right", "0", "0", "0")
    assert 0 < cell["margin"] < 1 / 9


@pytest.mark.parametrize("width", [80, 40])
def test_lines_of_a_narrow_terminal(result, width):
    console = Console(width=width, record=True, file=StringIO())
    print_unseen(console, result)
    text = console.export_text()
    drawing = table_map(result, width)
    assert drawing is not None
    assert max(map(len, drawing.plain.splitlines())) <= width
    assert "(1, 1)" in text
    assert "right" in text
    assert table_map(result, 8) is None
    assert "0! 0  0" in drawing.plain


def test_a_claim_about_fewer_networks_says_so(result):
    """On the terminal and in the picture, where a cell has an epsilon of its own."""
    nearer = replace(result.cells[0], epsilon=Fraction(1, 10**9), threshold="0.125")
    changed = replace(result, cells=(nearer, *result.cells[1:]))
    console = Console(width=200, record=True, file=StringIO())
    print_unseen(console, changed)
    text = console.export_text()
    assert "epsilon 1e-09, from the margin 0.125 on" in text
    assert "it is below the gap: the claim is about all networks from that margin" in " ".join(text.split())
    axes = Figure().add_subplot()
    plot_unseen(axes, changed)
    words = [shown.get_text() for shown in axes.texts]
    assert sum("from 1 - 1e-09" in word for word in words) == 1
    assert sum("right" in word or "wrong" in word for word in words) == 2


def test_the_picture_ends_with_its_cells():
    table = parse_operation("op:mul:4")
    axes = Figure().add_subplot()
    plot_unseen(axes, unseen_cells(table, table.without([(0, 0)])))
    assert (axes.get_xlim(), axes.get_ylim()) == ((-0.5, 3.5), (3.5, -0.5))
    assert {patch.get_xy() for patch in axes.patches} == {(b - 0.5, a - 0.5) for a in range(4) for b in range(4)}


def test_long_names_become_numbers():
    table = parse_operation("Z3")
    result = unseen_cells(table, table.without([(0, 0)]))
    drawing = table_map(result, 40)
    assert drawing is not None
    assert drawing.plain.splitlines()[0].split() == ["0!", "1", "2"]


def test_a_table_that_a_theorem_decides():
    code, output, _ = run("unseen", "op:add:13", "--cells", "without:(2,5)")
    assert code == 0
    assert "every network of maximum margin, which is exactly sqrt(2/27)/(12 sqrt(13))" in output
    assert "they rest on a theorem with a written proof, not on certificates" in output
    assert "(2, 5) 7 + right >= 1 the whole margin against every label" in output
    code, output, _ = run("unseen", "op:add:13", "--cells", "without:(2,5)", "--json")
    assert code == 0
    summary = json.loads(output)
    assert summary["epsilon"] == "0"
    assert "by a written proof (feature-emergence:ext-T10)" in summary["cells"][0]["reason"]
    assert summary["margin"]["lower"] < (2 / 27) ** 0.5 / (12 * 13**0.5) < summary["margin"]["upper"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("op:add:3", "--cells", "without:(0,0)", "--eps", "1e-15"), "the claim would be empty"),
        (("op:add:3", "--cells", "without:(0,0)", "--eps", "2"), "--eps needs a number between 0 and 1"),
        (("op:add:3", "--cells", "without:(0,0)", "--eps", "x"), "--eps needs a number between 0 and 1"),
        (("op:add:3", "--cells", "without:(0,0)", "--eps", "1e-999999999"), "--eps needs a number between 0 and 1"),
        (("op:add:3", "--cells", "without:(0,0)", "--picture", "map.xyz"), "end in .png, .pdf, .svg"),
        (("op:add:3", "--cells", "without:(0,0)", "--degree", "5"), "--degree is one of plane, 4, 6"),
        (("op:add:4", "--cells", "without:(0,0)", "--degree", "plane"), "at most three labels"),
        (("op:add:3", "--cells", "without:(7,7)"), "no cell (7, 7)"),
        (("op:add:3", "--cells", "fraction:1:1"), "there is no unseen cell"),
        (("nonsense", "--cells", "without:(0,0)"), "nonsense"),
        (("op:add:3", "--cells", "without:(0,0)", "--picture", "/nowhere/at/all.png"), "does not exist"),
    ],
)
def test_what_is_refused(tmp_path, arguments, words):
    folder = tmp_path / "out"
    code, output, error = run("unseen", *arguments, "--out", str(folder))
    assert (code, output) == (2, "")
    assert words in error
    assert not folder.exists()


def test_a_file_is_no_folder(tmp_path):
    file = tmp_path / "file"
    file.write_text("kept")
    code, _, error = run("unseen", "op:add:2", "--cells", "without:(0,0)", "--out", str(file))
    assert code == 2
    assert "name a directory" in error
    assert file.read_text() == "kept"
