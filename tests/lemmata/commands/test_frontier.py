"""`lemmata frontier`."""

import itertools
import json
from fractions import Fraction
from math import comb

import pytest
from flint import fmpq

from lemmata.constructions.parity import frontier_runs
from lemmata.constructions.parity.frontier import sparse_start
from lemmata.constructions.parity.frontier_runs import enough_samples
from lemmata.reports.frontier import frontier_rows, plot_frontier, shown_sparsities
from tests.lemmata.commands.runner import run


def test_the_table_and_the_lower_bound():
    code, output, _ = run("frontier", "50", "4", "--sparsity", "2", "--sparsity", "25")
    assert code == 0
    assert "Success frontier of the parity of 4 of 50 inputs" in output
    share = comb(4, 2) / comb(50, 2)
    assert f"{share:.3g}" in output
    assert "hidden: up to so many samples" in output
    assert "the printed proof for s > k asks for" in output


def test_json_has_exact_numbers():
    code, output, _ = run("frontier", "50", "4", "--json")
    rows = json.loads(output)
    assert code == 0
    assert [row["regime"] for row in rows][:2] == ["under", "over"]
    first = rows[0]
    assert Fraction(first["good"]) == Fraction(comb(4, 2), comb(50, 2))
    assert Fraction(first["relevant"]) / Fraction(first["irrelevant"]) == Fraction(-47, 1)  # (n-k+1)/(k-s-1), n even
    assert first["printed"] is None
    assert all((row["proof"] is None) == (row["regime"] == "over" and row["s"] % 2 == 0) for row in rows)
    assert all(row["proof"]["samples"] > row["samples"] for row in rows if row["proof"])
    assert all(row["printed"]["samples"] > row["proof"]["samples"] for row in rows[1:] if row["proof"])
    assert all(row["found"] is None for row in rows)
    widths = [row["width"] for row in rows if row["regime"] == "over"]
    assert widths == sorted(widths, reverse=True)


def test_a_budget_is_judged_sparsity_by_sparsity():
    code, output, _ = run("frontier", "50", "4", "--sparsity", "2", "--sparsity", "49", "--width", "20000",
                          "--samples", "300000")  # fmt: skip
    assert code == 0
    assert "With width 20000 and 300000 samples" in output
    assert output.count("not bounded") == 1
    assert "lower bound at this width: 1 samples" in output
    budget = ("--width", "10910", "--samples", "196889", "--json")
    row = json.loads(run("frontier", "50", "4", "--sparsity", "2", *budget)[1])[0]
    assert 0.0049 < row["short"] <= 0.005
    assert 0.0049 < row["off"] <= 0.005
    _, output, _ = run("frontier", "200", "8", "--sparsity", "101", "--width", "10", "--samples", "1000")
    assert "below the lower bound" in output


def test_an_odd_parity_has_a_frontier_without_theorems():
    code, output, _ = run("frontier", "30", "3", "--sparsity", "14")
    assert code == 0
    assert "the theorems are for even k, odd s above k and even s below it" in output
    assert "with all constants" not in output
    assert "cut midway" not in output


def test_sparsities_beyond_the_theorems_say_what_cuts_them():
    """k = 3, n = 20: s = 8 with truncation midway, s = 2 below k; k = 4, s = 3, where one input is missing."""
    code, output, _ = run("frontier", "20", "3", "--sparsity", "2", "--sparsity", "8")
    assert code == 0
    assert "s = 8: cut midway between the gradients 0.0195 on S and -0.0117 off it" in output
    rows = json.loads(run("frontier", "20", "3", "--sparsity", "2", "--sparsity", "8", "--json")[1])
    assert [row["regime"] for row in rows] == ["under", "over"]
    assert Fraction(rows[0]["relevant"]) == Fraction(comb(18, 9), 2**20)
    assert Fraction(rows[0]["irrelevant"]) / Fraction(rows[0]["relevant"]) == Fraction(-1, 17)
    assert all(row["proof"] is None and row["printed"] is None for row in rows)
    missing = json.loads(run("frontier", "20", "4", "--sparsity", "3", "--json")[1])[0]
    assert (missing["relevant"], missing["irrelevant"]) == ("-1/4", "0")
    for size in ("20", "200"):  # the samples grow like log n only
        assert json.loads(run("frontier", size, "4", "--sparsity", "3", "--json")[1])[0]["samples"] < 5000


def test_runs_are_shown_beside_what_is_proved():
    code, output, _ = run("frontier", "9", "2", "--sparsity", "7", "--runs", "3")
    assert code == 0
    assert "found: enough in all of 3 runs (seeds 0 to 2)" in output
    row = json.loads(run("frontier", "9", "2", "--sparsity", "7", "--runs", "3", "--json")[1])[0]
    assert row["found"] == enough_samples(sparse_start(9, 2, 7), row["width"] // 2, row["samples"], 3) < row["samples"]


def test_a_run_that_fails_with_all_samples_is_told(monkeypatch):
    monkeypatch.setattr(frontier_runs, "_within", lambda start, pairs, sizes, rng: [False] * len(sizes))
    code, output, _ = run("frontier", "9", "2", "--sparsity", "7", "--runs", "3")
    assert code == 0
    assert "- where one failed with all samples, or for too much work" in output
    assert json.loads(run("frontier", "9", "2", "--sparsity", "7", "--runs", "3", "--json")[1])[0]["found"] is None


def test_more_copies_need_more_width():
    one, three = (json.loads(run("frontier", "30", "2", "--sparsity", "9", "--copies", c, "--json")[1])[0]["width"]
                  for c in ("1", "3"))  # fmt: skip
    assert three > one


@pytest.mark.parametrize("sizes", [("60", "6"), ("1000", "40")])
def test_the_picture_is_a_png_with_points(tmp_path, sizes):
    path = tmp_path / "frontier.png"
    code, output, _ = run("frontier", *sizes, "--out", str(path))
    assert code == 0
    assert f"picture in {path}"[:20] in output
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 20_000


@pytest.mark.parametrize(("n", "k"), [(50, 6), (100, 8), (20, 3), (60, 4)])
def test_labels_of_the_picture_do_not_cover_each_other(n, k):
    """The labels of sparsities, as they are set, in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = frontier_rows(n, k, shown_sparsities(n, k), fmpq(1, 100), fmpq(1, 10), 1)
    figure = Figure(figsize=(7.2, 4.6), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    plot_frontier(axes, n, k, rows)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in axes.texts]
    assert len(boxes) > 1
    assert [(a, b) for (a, one), (b, other) in itertools.combinations(boxes, 2) if one.overlaps(other)] == []


def test_the_table_is_shown_where_its_picture_has_no_room():
    code, output, error = run("frontier", "4096", "64", "--epsilon", "1e-99", "--out", "picture.png")
    assert code == 2
    assert "Success frontier" in output
    assert "no room for numbers above 10^300" in error


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("50", "1"), "a number k >= 2 of inputs, not 1"),
        (("50", "3", "--sparsity", "13"), "For an odd k = 3 a neuron with an odd number s = 13"),
        (("4", "6"), "must be above k = 6"),
        (("9000", "4"), "at most 4096"),
        (("5", "4"), "No sparsity lets truncation tell"),
        (("500", "66"), "k <= 64 relevant inputs"),
        (("50", "4", "--sparsity", "51"), "4 < s <= 50, not 51"),
        (("50", "4", "--sparsity", "4"), "At s = k = 4"),
        (("50", "4", "--sparsity", "7"), "as much or more: no truncation tells them apart. Their signs do"),
        (("20", "3", "--sparsity", "6"), "the gradient is 0.0312 for relevant inputs and -0.0312 for others"),
        (("21", "3", "--sparsity", "2"), "the first gradient of every neuron is 0 at every input: an odd parity shows"),
        (("20", "6", "--sparsity", "3"), "the sum of 3 ones, an odd number, never ties"),
        (("50", "4", "--delta", "0"), "--delta needs a number between 0 and 1"),
        (("50", "4", "--delta", "x"), "--delta needs a number between 0 and 1"),
        (("50", "4", "--epsilon", "2"), "--epsilon needs a number between 0 and 1"),
        (("50", "4", "--out", "/nowhere/picture.png"), "The directory /nowhere does not exist"),
        (("50", "4", "--out", "picture.what"), "Pictures are files that end in"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments, reason):
    code, output, error = run("frontier", *arguments)
    assert code == 2
    assert output == ""
    assert reason in " ".join(error.split())
