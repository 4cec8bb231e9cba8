"""The curve of missing cells that are got right: committed points, some made again, and the definitions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

from lemmata.certificates.operations import unseen_curve as module
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.unseen_curve import (
    CurvePoint,
    ascended_point,
    certified_points,
    curve_row,
    unseen_curve,
    unseen_margins,
)
from lemmata.certificates.operations.unseen_symmetry import true_labels
from lemmata.numerics.operations.names import parse_operation
from lemmata.reports.unseen_curve import draw_unseen_curve, plot_unseen_curve
from tests.theorems.planted_faults import changed, scaled


def check_margins():
    """By the definition, neuron by neuron, for a network of norm 1."""
    truth = parse_operation("op:add:3")
    rng = np.random.default_rng(1)
    u, v, w = (rng.integers(-5, 6, (4, 3)).astype(float) for _ in range(3))
    masses = np.array([0.1, 0.2, 0.3, 0.4])
    found = module.unseen_margins(truth, truth.without([(0, 1), (2, 2)]), OperationNetwork(u, v, w, masses))
    assert list(found) == [(0, 1), (2, 2)]
    for (a, b), value in found.items():
        norms = [sum(x**2 for x in (*u[i], *v[i], *w[i])) ** 1.5 for i in range(4)]
        f = [sum(masses[i] * (u[i][a] + v[i][b]) ** 2 * w[i][c] / norms[i] for i in range(4)) for c in range(3)]
        y = (a + b) % 3
        assert value == pytest.approx(min(f[y] - f[c] for c in range(3) if c != y), rel=1e-9)


def check_ascended_points():
    """Where every network of nearly maximum margin is known to be wrong, or right, by certificates."""
    wrong = module.ascended_point("op:add:4", 2, sets=2)
    assert wrong == CurvePoint("op:add:4", 2, False, 2, *map(Fraction, (0, 1, 0, 0)))
    right = module.ascended_point("Z2xZ2", 2, sets=2, seed=5)
    assert right == CurvePoint("Z2xZ2", 2, False, 2, *map(Fraction, (1, 0, 0, 0)))


def check_mixed_answers(monkeypatch):
    """Networks that disagree at one cell of two, with margins given by hand."""
    answers = iter([(0.5, -0.1), (0.25, 0.1), (-1.0, -1.0)])
    margins = iter([1.0, 1 - 0.9e-3, 1 - 1.1e-3])  # the third is too far from the best one to be asked

    class Network:
        def margin(self, _):
            return next(margins)

    monkeypatch.setattr(module, "ascended_network", lambda *_, **__: Network())
    monkeypatch.setattr(
        module, "unseen_margins", lambda _, given, __: dict(zip(given.missing, next(answers), strict=True))
    )
    point = module.ascended_point("op:add:5", 2, sets=1, runs=3)
    assert (point.right, point.wrong, point.both, point.open) == (Fraction(1, 2), 0, Fraction(1, 2), 0)


def test_margins_are_those_of_the_definition():
    check_margins()


def test_ascent_agrees_with_certificates():
    check_ascended_points()


def test_networks_that_disagree_are_both(monkeypatch):
    check_mixed_answers(monkeypatch)


def of_margins(change):
    return changed(unseen_margins, lambda margins: {cell: change(value) for cell, value in margins.items()})


def of_point(change):
    return changed(ascended_point, lambda point: replace(point, **change(point)))


TURNED = of_point(lambda point: {"right": point.wrong, "wrong": point.right})
FAULTS = {
    "margins 2 % too large": (module, "unseen_margins", of_margins(lambda value: value * 51 / 50), check_margins),
    "differences turned round": (module, "unseen_margins", of_margins(lambda value: -value), check_margins),
    "a cell dropped": (
        module,
        "unseen_margins",
        changed(unseen_margins, lambda margins: dict(list(margins.items())[1:])),
        check_margins,
    ),
    "another label is right": (
        module,
        "true_labels",
        changed(true_labels, lambda labels: {cell: (label + 1) % 3 for cell, label in labels.items()}),
        check_margins,
    ),
    "outputs 2 % too large": (OperationNetwork, "outputs", scaled(OperationNetwork.outputs, 51 / 50), check_margins),
    "columns for rows": (
        OperationNetwork,
        "outputs",
        changed(OperationNetwork.outputs, lambda f: f.transpose(1, 0, 2)),
        check_margins,
    ),
    "far networks are asked too": (module, "NEAR", 1.0, check_mixed_answers),
    "only the best is asked": (module, "NEAR", 0.0, check_mixed_answers),
    "one run only": (
        module,
        "ascended_point",
        lambda *given, **known: ascended_point(*given, **known | {"runs": 1}),
        check_mixed_answers,
    ),
    "right for wrong": (module, "ascended_point", TURNED, check_mixed_answers),
    "right for wrong by ascent": (module, "ascended_point", TURNED, check_ascended_points),
    "shares of sets": (
        module,
        "ascended_point",
        of_point(lambda point: {"right": point.right * point.missing, "both": point.both * point.missing}),
        check_mixed_answers,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(monkeypatch, name):
    owner, attribute, wrong, check = FAULTS[name]
    with monkeypatch.context() as patch:
        patch.setattr(owner, attribute, wrong)
        with pytest.raises(AssertionError):
            check(*([patch] if check is check_mixed_answers else []))


def test_certified_points_are_those_of_the_committed_verdicts():
    points = {(point.table, point.missing): point for point in certified_points()}
    assert all(p.certified and p.right + p.wrong + p.both + p.open == 1 for p in points.values())
    assert {n: points[f"op:add:{n}", 1].right for n in range(2, 9)} == {2: 1, 3: 0, 4: 0, 5: 1, 6: 1, 7: 1, 8: 1}
    assert [points[f"op:add:{n}", 2].wrong for n in (3, 4, 5)] == [1, 1, 1]
    assert points["op:add:5", 2].sets == 300
    assert [points["Z2xZ2", count].right for count in (1, 2, 3)] == [1, 1, 1]
    assert points["Z2xZ2", 3].sets == 560


def test_ascended_points_say_nothing_else_than_the_certificates():
    """Sets are drawn, so that a point of theirs need not equal a share; but a share of 1 holds for every set."""
    points = unseen_curve()
    certified = {(point.table, point.missing): point for point in points if point.certified}
    compared = 0
    for point in points:
        if point.certified or (known := certified.get((point.table, point.missing))) is None:
            continue
        if known.right == 1:
            assert point.wrong == 0
        if known.wrong == 1:
            assert point.right == 0
        compared += 1
    assert compared == 7


def test_a_committed_point_is_made_again():
    settings = {"table": "op:add:4", "missing": 3, "sets": module.SETS, "runs": module.RUNS, "seed": module.SEED}
    (point,) = [p for p in unseen_curve() if (p.table, p.missing, p.certified) == ("op:add:4", 3, False)]
    row = curve_row(settings)
    assert [Fraction(row[verdict]) for verdict in module.VERDICTS] == [point.right, point.wrong, point.both, 0]


def test_what_is_no_point_is_refused():
    with pytest.raises(ValueError, match="At least one set and one run are needed, not 0 and 2"):
        ascended_point("op:add:3", 1, sets=0)
    with pytest.raises(ValueError, match="From 1 to 8 of the cells of op:add:3 may be missing, not 9"):
        ascended_point("op:add:3", 9)
    whole, ones = parse_operation("op:add:2"), np.ones((1, 2))
    network = OperationNetwork(ones, ones, ones, np.ones(1))
    with pytest.raises(ValueError, match="there is no unseen cell"):
        unseen_margins(whole, whole, network)


def test_the_picture(tmp_path):
    points = unseen_curve()
    axes = Figure().add_subplot()
    plot_unseen_curve(axes, points)
    (line,) = [line for line in axes.lines if line.get_label() == "op:add:8"]
    expected = [float(p.right) for p in points if p.table == "op:add:8" and not p.certified]
    assert line.get_ydata() == pytest.approx(expected)
    draw_unseen_curve(points, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="There are no points to draw"):
        plot_unseen_curve(axes, [])
