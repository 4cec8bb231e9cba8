"""Verdicts on cells that were never seen, against networks that are sampled and against documents that are edited."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from certificates import kernel, operation_kernel
from certificates.tables import unseen, unseen_parts, unseen_programs
from certificates.tables.neurons import TableNetwork
from certificates.tables.unseen import unseen_cells
from certificates.tables.unseen_networks import leaning_network
from certificates.tables.unseen_programs import difference, relaxed_unseen
from certificates.tables.unseen_symmetry import cell_image, fixing, respectful, true_labels
from numerics.tables.names import parse_table
from numerics.tables.symmetries import table_symmetries
from numerics.tables.table import Table

NONZERO_PRODUCTS = Table.of([[0, 0, 0], [0, 1, 2], [0, 2, 1]], name="multiplication modulo 3")


def verdicts(table, *cells, **options):
    return unseen_cells(table, table.without(cells), **options)


def outputs(neurons, a, b, A, N):
    """(u_a + v_b)^2 w of unit neurons (m, N + C), by the definition."""
    lengths = np.linalg.norm(neurons, axis=1) ** 3
    return ((neurons[:, a] + neurons[:, A + b]) ** 2 / lengths)[:, None] * neurons[:, N:]


def sampled_extremes(result, cell, label, wrong, count=4000):
    """The least and the most f_label - f_wrong of networks over random neurons with margins of the threshold."""
    given, document = result.given, result.cells[0].document
    A, N, C = given.rows, given.size, given.label_count
    rng = np.random.default_rng(5)
    known = np.array(document["networks"][0]["neurons"], float)
    near = np.repeat(known, 40, axis=0)
    near += np.linalg.norm(near, axis=1)[:, None] * 0.05 * rng.normal(size=near.shape)
    neurons = np.concatenate([rng.normal(size=(count, N + C)), known, near])
    margins = [
        outputs(neurons, a, b, A, N)[:, given.values[a][b]] - outputs(neurons, a, b, A, N)[:, c]
        for a, b in given.cells
        for c in range(C)
        if c != given.values[a][b]
    ]
    floor = float(result.threshold)
    seen = outputs(neurons, *cell, A, N)[:, label] - outputs(neurons, *cell, A, N)[:, wrong]
    found = []
    for sign in (1, -1):
        solved = linprog(
            sign * seen / floor,
            -np.array(margins) / floor,
            np.full(len(margins), -1.0),
            np.ones((1, len(seen))),
            [1.0],
            method="highs",
        )
        assert solved.status == 0
        found.append(sign * solved.fun)
    return found


def test_one_cell_of_four_is_filled_in_rightly():
    result = verdicts(parse_table("Z2"), (0, 0))
    (cell,) = result.cells
    assert cell.verdict == "right"
    least, most = sampled_extremes(result, (0, 0), 0, 1)
    assert 0 < cell.margin <= least <= most
    assert cell.margin == pytest.approx(
        1 / 9, abs=2e-3
    )  # of networks of maximum margin exactly; epsilon costs its root
    assert result.gap < float(result.epsilon) == 1e-6
    assert "every network with at least that margin is right at cell (0, 0)" in operation_kernel.check(
        json.dumps(cell.document).encode()
    )


def test_one_cell_of_nine_is_filled_in_wrongly():
    """Every network of nearly maximum margin on eight cells of addition modulo 3 errs at the ninth."""
    result = verdicts(parse_table("Z3"), (0, 0))
    (cell,) = result.cells
    assert cell.verdict == "wrong"
    assert cell.margin == pytest.approx(-1.16, abs=0.02)
    for wrong in (1, 2):  # by symmetry the bound of the mean is not one of each, but the sampled networks lie below
        assert sampled_extremes(result, (0, 0), 0, wrong)[0] < cell.margin / 2
    assert cell.document["weights"] == [0, 1, 1]


def test_two_networks_that_disagree():
    """A product of two units modulo 3 that was not seen is a tie; exact integers show both answers."""
    result = verdicts(NONZERO_PRODUCTS, (1, 1))
    (cell,) = result.cells
    assert cell.verdict == "both"
    given, N = result.given, 6
    for network, right in zip(cell.document["networks"], (True, False), strict=True):
        neurons, masses = np.array(network["neurons"], float), np.array(network["masses"], float)
        f = {(a, b): masses @ outputs(neurons, a, b, 3, N) / masses.sum() for a in range(3) for b in range(3)}
        least = min(f[a, b][given.values[a][b]] - f[a, b][c] for a, b, c in given.triples)
        assert least >= (1 - float(result.epsilon)) * result.upper * (1 - 1e-9)
        assert (np.argmax(f[1, 1]) == 1) == right


def test_a_proof_is_carried_over_by_symmetry():
    """Four elements, all wrong labels by one proof; two missing cells, the second by the first."""
    klein = parse_table("Z2xZ2")
    (cell,) = verdicts(klein, (0, 0)).cells
    assert cell.verdict == "right"
    assert cell.margin == pytest.approx(1, abs=0.02)
    assert len(cell.document["parts"]) == 3
    two = verdicts(klein, (0, 0), (1, 1)).cells
    assert two[1].image_of == (0, 0)
    assert two[0].verdict == two[1].verdict
    assert [c.document["cell"] for c in two if c.document] == [[0, 0], [1, 1]]


def test_degree_four_agrees_with_the_plane():
    table = parse_table("Z3")
    plane, four = (verdicts(table, (0, 0), kind=kind).cells[0] for kind in ("plane", 4))
    assert plane.margin == pytest.approx(four.margin, rel=1e-4)
    assert {c.document["parts"][0]["proof"]["kind"] for c in (plane, four)} == {"plane", "degree 4"}


def test_a_larger_epsilon_says_less():
    table = parse_table("Z2")
    small, large = (verdicts(table, (0, 0), epsilon=Fraction(1, n)).cells[0] for n in (10**6, 10**3))
    assert small.verdict == large.verdict == "right"
    assert large.margin < small.margin
    assert verdicts(table, (0, 0), epsilon=Fraction(1, 4)).cells[0].verdict == "both"


def test_an_empty_claim_is_refused():
    """Epsilon at or below the gap, where perhaps no network at hand is in question."""
    with pytest.raises(ValueError, match="Epsilon is 1e-15, but the maximum margin is known to a relative"):
        verdicts(parse_table("Z3"), (0, 0), epsilon=Fraction(1, 10**15))
    for epsilon in (Fraction(1), Fraction(2)):
        with pytest.raises(ValueError, match=r"Epsilon must be below 1, not [12]"):
            verdicts(parse_table("Z2"), (0, 0), epsilon=epsilon)
    with pytest.raises(ValueError, match="the claim would be empty"):
        verdicts(parse_table("Z2"), (0, 0), epsilon=Fraction(0))


def test_an_open_cell_is_asked_about_once_more():
    """Nearer to the network that is shown, and not when the reader chose epsilon."""
    table = parse_table("Z2")
    given = table.without([(0, 0)])
    asked = []

    def ask(problem):
        asked.append((problem.epsilon, problem.threshold))
        verdict = "right" if problem.epsilon < Fraction(1, 10**5) else "open"
        return unseen._Finding(verdict, (0.0, 0.0), {}, (), (), problem.epsilon, problem.threshold)

    problem = unseen._problem(table, given, {(0, 0): 0}, None, None, 0)
    wide = replace(problem, epsilon=Fraction(1, 100), threshold="0.3")
    assert unseen._nearer(wide, ask).verdict == "right"
    assert [float(epsilon) for epsilon, _ in asked] == [0.01, 1e-6]
    assert float(asked[1][1]) == pytest.approx(problem.lower * (1 - 1e-6), rel=1e-10)
    assert float(asked[1][1]) < problem.lower * (1 - 1e-6)
    assert unseen._nearer(replace(wide, fixed_epsilon=True), ask).verdict == "open"


def test_what_is_no_question_is_refused():
    table = parse_table("Z3")
    with pytest.raises(ValueError, match="there is no unseen cell"):
        unseen_cells(table, table)
    with pytest.raises(ValueError, match="different shapes"):
        unseen_cells(table, parse_table("Z2"))
    values = [[1, 1, 2], [1, 2, 0], [2, 0, -1]]
    with pytest.raises(ValueError, match=r"Cell \(0, 0\) is given with a label that is not the one"):
        unseen_cells(table, Table.of(values))
    with pytest.raises(ValueError, match="there is no unseen cell"):
        unseen_cells(table.without([(0, 0)]), table.without([(0, 0)]))
    given = table.without([(0, 0)])
    group = table_symmetries(table.without([(0, 0), (0, 1)]))
    for cell, label, wrong, floor, match in (
        ((1, 1), 0, 1, 0.1, "is given"),
        ((0, 0), 0, 0, 0.1, "must be different ones"),
        ((0, 0), 0, 3, 0.1, "must be different ones"),
        ((0, 0), 0, 1, 0.0, "must be positive"),
    ):
        with pytest.raises(ValueError, match=match):
            relaxed_unseen(given, cell, label, wrong, floor, group)


def test_which_symmetries_are_used():
    table = parse_table("Z3")
    given = table.without([(0, 0)])
    assert true_labels(table, given) == {(0, 0): 0}
    elements = respectful(table, given)
    assert len(elements) == 4  # the swap and x -> -x
    assert all(cell_image(given, g, (0, 0)) == (0, 0) for g in elements)
    assert fixing(given, elements, (0, 0), [0]).order == 4
    assert fixing(given, elements, (0, 0), [0, 1]).order == 2
    two = table.without([(0, 0), (0, 1)])
    assert {cell_image(two, g, (0, 0)) for g in respectful(table, two)} == {(0, 0), (0, 1)}


def test_a_found_network_is_what_it_says():
    table = parse_table("Z3")
    given = table.without([(0, 0)])
    result = unseen_cells(table, given)
    start = np.array(result.cells[0].document["networks"][0]["neurons"], float)
    masses = np.array(result.cells[0].document["networks"][0]["masses"], float)
    network = TableNetwork(start[:, :3], start[:, 3:6], start[:, 6:], masses)
    tensor = difference(given, (0, 0), 0, np.array([0.0, 1.0, 0.0]))
    group = fixing(given, respectful(table, given), (0, 0), [0, 1])
    floor = 0.99 * result.lower
    found = leaning_network(given, tensor[None], floor, network, group, rounds=8)
    f = found.network.outputs()
    assert found.network.margin(given) >= floor * (1 - 1e-9)
    assert f[0, 0, 0] - f[0, 0, 1] == pytest.approx(found.value, abs=1e-6 * floor)
    assert found.value <= found.bound
    with pytest.raises(ValueError, match="less than the floor"):
        leaning_network(given, tensor[None], 2 * floor, network, group)


EDITS = {
    "a larger threshold": lambda d: d.update(threshold=str(Fraction(d["threshold"]) and "0.4")),
    "a smaller epsilon": lambda d: d.update(epsilon="1/10000000"),
    "another label": lambda d: d.update(label=1),
    "the other verdict": lambda d: d.update(verdict="right"),
    "a given cell": lambda d: d.update(cell=[1, 1]),
    "multipliers moved": lambda d: d["parts"][0]["multipliers"].reverse(),
    "a multiplier more": lambda d: d["parts"][0]["multipliers"].__setitem__(0, d["parts"][0]["multipliers"][0] + 1),
    "half the denominator": lambda d: d["parts"][0].update(denominator=d["parts"][0]["denominator"] // 2),
    "weights on one label": lambda d: d.update(weights=[0, 1, 0]),
    "a weight on the true label": lambda d: d.update(weights=[1, 1, 1]),
    "t a little lower": lambda d: d["parts"][0]["proof"].update(
        t=str(Fraction(d["parts"][0]["proof"]["t"]) * (1 - Fraction(1, 10**6)))
    ),
    "a larger bound": lambda d: d["parts"][0].update(bound="0.2"),
}


@pytest.fixture(scope="module")
def wrong_document():
    return verdicts(parse_table("Z3"), (0, 0)).cells[0].document


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_document_is_refused(wrong_document, edit):
    document = copy.deepcopy(wrong_document)
    EDITS[edit](document)
    assert document != wrong_document
    with pytest.raises((kernel.ViolatedError, kernel.MalformedError)):
        operation_kernel.check(json.dumps(document).encode())


def turned(function):
    return lambda *arguments: -function(*arguments)


FAULTS = {
    "the sign of the difference": (unseen_programs, "difference", turned(unseen_programs.difference)),
    "weights that are not shares": (
        unseen_parts,
        "_rounded_weights",
        lambda weights, keep=unseen_parts._rounded_weights: tuple(
            2 * x + (i == 1) for i, x in enumerate(keep(weights))
        ),
    ),
    "bounds that are not computed": (
        unseen,
        "part_value",
        lambda part, threshold: 1.0,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(monkeypatch, fault):
    """The kernel refuses what comes of it, or the verdict is no longer reached."""
    module, name, replacement = FAULTS[fault]
    monkeypatch.setattr(module, name, replacement)
    if fault == "bounds that are not computed":
        monkeypatch.setattr(unseen_programs, "difference", turned(unseen_programs.difference))
        with pytest.raises(ValueError, match="prove nothing"):
            verdicts(parse_table("Z3"), (0, 0))
        return
    with pytest.raises(AssertionError):
        test_one_cell_of_nine_is_filled_in_wrongly()
