"""Verdicts on cells that were never seen, against networks that are sampled and against documents that are edited."""

import copy
import json
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog

from lemmata.certificates import kernel, operation_kernel
from lemmata.certificates.operations import (
    programs,
    unseen,
    unseen_networks,
    unseen_parts,
    unseen_programs,
    unseen_survey,
    unseen_symmetry,
)
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.certificates.operations.programs_effort import Effort, TooMuchWorkError
from lemmata.certificates.operations.unseen import unseen_cells
from lemmata.certificates.operations.unseen_networks import leaning_network
from lemmata.certificates.operations.unseen_programs import difference, relaxed_unseen
from lemmata.certificates.operations.unseen_symmetry import cell_image, fixing, respectful, true_labels
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from tests.theorems.planted_faults import changed, given_otherwise, scaled

NONZERO_PRODUCTS = Operation.of([[0, 0, 0], [0, 1, 2], [0, 2, 1]], name="multiplication modulo 3")


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
    result = verdicts(parse_operation("Z2"), (0, 0))
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
    result = verdicts(parse_operation("Z3"), (0, 0))
    (cell,) = result.cells
    assert cell.verdict == "wrong"
    assert cell.margin == pytest.approx(-1.16, abs=0.02)
    for wrong in (1, 2):  # by symmetry the bound of the mean is not one of each, but the sampled networks lie below
        assert sampled_extremes(result, (0, 0), 0, wrong)[0] < cell.margin / 2
    assert cell.document["weights"] == [0, 1, 1]


def asked(text, wrong, epsilon=1e-6):
    """The relaxation of one question about the first cell of a table, its exact part and the threshold."""
    table = parse_operation(text)
    given = table.without([(0, 0)])
    problem = unseen._problem(table, given, {(0, 0): 0}, Fraction(epsilon), None, 0, Effort())
    group = fixing(given, problem.elements, (0, 0), [0] if wrong is None else [0, wrong])
    return problem, group, relaxed_unseen(given, (0, 0), 0, wrong, float(problem.level), group)


@pytest.mark.parametrize(("text", "wrong"), [("Z2", 1), ("Z3", None)])
def test_the_bound_of_the_program_is_that_of_its_proof(text, wrong):
    problem, _, relaxation = asked(text, wrong)
    part, weights = unseen_parts.exact_part(problem.given, relaxation)
    assert unseen_parts.part_value(part, problem.level) == pytest.approx(
        relaxation.bound / float(problem.level), abs=1e-6
    )
    assert weights == ((0, 1) if text == "Z2" else (0, 1, 1))


@pytest.mark.parametrize(("text", "wrong"), [("Z2", 1), ("Z3", None)])
def test_networks_and_proofs_meet(text, wrong):
    """The least and the largest difference of networks of that margin: column generation against the program."""
    problem, group, relaxation = asked(text, wrong, 1e-3)
    differences = [difference(problem.given, (0, 0), 0, row) for row in np.eye(problem.given.label_count)[1:]]
    signs = 1 if wrong is None else -1
    found = leaning_network(
        problem.given, signs * np.array(differences), float(problem.level), problem.network, group, rounds=80
    )
    assert found.value == pytest.approx(-relaxation.bound, rel=1e-6)
    assert found.network.margin(problem.given) >= float(problem.level) * (1 - 1e-9)


def test_the_default_epsilon_is_three_gaps_rounded_up():
    assert unseen._epsilon(None, 1e-9) == Fraction(1, 10**6)
    assert unseen._epsilon(None, 2.4e-6) == Fraction(8, 10**6)
    assert unseen._epsilon(None, 1.5e-4) == Fraction(5, 10**4)
    assert unseen._epsilon(Fraction(1, 1000), 9e-4) == Fraction(1, 1000)


def test_proofs_of_degree_four_move():
    """The second of two cells, by a symmetry that moves rows, columns and labels."""
    one, two = verdicts(parse_operation("Z3"), (0, 0), (1, 2), kind=4).cells
    assert two.image_of == (0, 0)
    assert one.verdict == two.verdict == "wrong"
    assert one.margin == two.margin


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
    klein = parse_operation("Z2xZ2")
    (cell,) = verdicts(klein, (0, 0)).cells
    assert cell.verdict == "right"
    assert cell.margin == pytest.approx(1, abs=0.02)
    assert len(cell.document["parts"]) == 3
    two = verdicts(klein, (0, 0), (1, 1)).cells
    assert two[1].image_of == (0, 0)
    assert two[0].verdict == two[1].verdict
    assert [c.document["cell"] for c in two if c.document] == [[0, 0], [1, 1]]


def test_degree_four_agrees_with_the_plane():
    table = parse_operation("Z3")
    plane, four = (verdicts(table, (0, 0), kind=kind).cells[0] for kind in ("plane", 4))
    assert plane.margin == pytest.approx(four.margin, rel=1e-4)
    assert {c.document["parts"][0]["proof"]["kind"] for c in (plane, four)} == {"plane", "degree 4"}


def test_a_larger_epsilon_says_less():
    table = parse_operation("Z2")
    small, large = (verdicts(table, (0, 0), epsilon=Fraction(1, n)).cells[0] for n in (10**6, 10**3))
    assert small.verdict == large.verdict == "right"
    assert large.margin < small.margin
    assert verdicts(table, (0, 0), epsilon=Fraction(1, 4)).cells[0].verdict == "both"


@pytest.mark.parametrize(
    ("name", "missing", "kinds"),
    [
        ("op:add:3", [(0, 0)], ("plane",)),
        ("op:add:5", [(0, 0), (0, 1)], (4, 6)),
        ("S3", [(0, 0)], (4, 6)),
        ("op:add:7", [(0, 0)], (4,)),  # six proofs of order 658
    ],
)
def test_degree_six_is_tried_where_the_kernel_can_check_it(name, missing, kinds):
    given = parse_operation(name).without(missing)
    assert unseen._kinds(given, None) == kinds
    assert unseen._kinds(given, 4) == (4,)


@pytest.mark.parametrize(("seconds", "tried"), [(None, [4, 6]), (0, [4])])
def test_degree_six_stays_within_the_effort(monkeypatch, seconds, tried):
    """A gap that stays makes every kind be tried, but not without time; a program beyond the usual work is refused."""
    table = parse_operation("op:add:4")
    given = table.without([(0, 0)])
    asked = []

    def relaxed(_, *, kind, symmetries, effort):
        asked.append(kind)
        return relaxed_margin(given, kind=4, symmetries=symmetries)

    monkeypatch.setattr(unseen, "relaxed_margin", relaxed)
    monkeypatch.setattr(unseen, "SMALL_GAP", -1.0)
    unseen._problem(table, given, {(0, 0): 0}, None, None, 0, Effort.of(seconds))
    assert asked == tried
    group, small = operation_symmetries(given), Effort(work=10.0)
    with pytest.raises(TooMuchWorkError, match="without being asked: give it seconds"):
        unseen._effort(small, given, 6, group, None)
    assert unseen._effort(small, given, 4, group, None) is unseen._effort(small, given, 6, group, 6) is None


def test_an_empty_claim_is_refused():
    """Epsilon at or below the gap, where perhaps no network at hand is in question."""
    with pytest.raises(ValueError, match="Epsilon is 1e-15, but the maximum margin is known to a relative"):
        verdicts(parse_operation("Z3"), (0, 0), epsilon=Fraction(1, 10**15))
    for epsilon in (Fraction(1), Fraction(2)):
        with pytest.raises(ValueError, match=r"Epsilon must be below 1, not [12]"):
            verdicts(parse_operation("Z2"), (0, 0), epsilon=epsilon)
    with pytest.raises(ValueError, match="the claim would be empty"):
        verdicts(parse_operation("Z2"), (0, 0), epsilon=Fraction(0))


def test_an_open_cell_is_asked_about_once_more():
    """Nearer to the network that is shown, and not when the reader chose epsilon."""
    table = parse_operation("Z2")
    given = table.without([(0, 0)])
    asked = []

    def ask(problem):
        asked.append((problem.epsilon, problem.threshold))
        verdict = "right" if problem.epsilon < Fraction(1, 10**5) else "open"
        return unseen._Finding(verdict, (0.0, 0.0), {}, (), (), problem.epsilon, problem.threshold)

    problem = unseen._problem(table, given, {(0, 0): 0}, None, None, 0, Effort())
    wide = replace(problem, epsilon=Fraction(1, 100), threshold="0.3")
    assert unseen._nearer(wide, ask).verdict == "right"
    assert [float(epsilon) for epsilon, _ in asked] == [0.01, 1e-6]
    assert float(asked[1][1]) == pytest.approx(problem.lower * (1 - 1e-6), rel=1e-10)
    assert float(asked[1][1]) < problem.lower * (1 - 1e-6)
    assert unseen._nearer(replace(wide, fixed_epsilon=True), ask).verdict == "open"


def test_networks_that_miss_the_threshold_leave_a_cell_open(monkeypatch):
    monkeypatch.setattr(unseen_parts, "NETWORK_BITS", 7)
    (cell,) = verdicts(NONZERO_PRODUCTS, (1, 1)).cells
    assert (cell.verdict, cell.margin, cell.document) == ("open", None, None)
    assert "has a margin below the threshold" in cell.reason


def test_programs_that_prove_nothing_leave_a_cell_open(monkeypatch):
    """For any reason that a program can have, the words say what is known."""

    def fail(*_, **__):
        raise programs.OperationProgramError("none")

    monkeypatch.setattr(unseen, "relaxed_unseen", fail)
    for name, direction in (("Z2", "wrong"), ("Z3", "right")):
        (cell,) = verdicts(parse_operation(name), (0, 0)).cells
        assert cell.verdict == "open"
        assert f"no network that is {direction} was found" in cell.reason
        assert "no program gave a bound" in cell.reason
    assert unseen._room(-0.25, "down to", -0.25) == "the bound leaves room down to -0.25 of the threshold"


def test_what_is_no_question_is_refused():
    table = parse_operation("Z3")
    with pytest.raises(ValueError, match="there is no unseen cell"):
        unseen_cells(table, table)
    with pytest.raises(ValueError, match="different shapes"):
        unseen_cells(table, parse_operation("Z2"))
    values = [[1, 1, 2], [1, 2, 0], [2, 0, -1]]
    with pytest.raises(ValueError, match=r"Cell \(0, 0\) is given with a label that is not the one"):
        unseen_cells(table, Operation.of(values))
    with pytest.raises(ValueError, match="there is no unseen cell"):
        unseen_cells(table.without([(0, 0)]), table.without([(0, 0)]))
    given = table.without([(0, 0)])
    group = operation_symmetries(table.without([(0, 0), (0, 1)]))
    for cell, label, wrong, floor, match in (
        ((1, 1), 0, 1, 0.1, "is given"),
        ((0, 0), 0, 0, 0.1, "must be different ones"),
        ((0, 0), 0, 3, 0.1, "must be different ones"),
        ((0, 0), 0, 1, 0.0, "must be positive"),
    ):
        with pytest.raises(ValueError, match=match):
            relaxed_unseen(given, cell, label, wrong, floor, group)


def test_which_symmetries_are_used():
    table = parse_operation("Z3")
    given = table.without([(0, 0)])
    assert true_labels(table, given) == {(0, 0): 0}
    elements = respectful(table, given)
    assert len(elements) == 4  # the swap and x -> -x
    assert all(cell_image(given, g, (0, 0)) == (0, 0) for g in elements)
    assert fixing(given, elements, (0, 0), [0]).order == 4
    assert fixing(given, elements, (0, 0), [0, 1]).order == 2
    constant_row = Operation.of([[0, 1], [0, 0]])  # exchanging columns and labels takes the second row to two ones
    partial = constant_row.without([(1, 0), (1, 1)])
    assert (operation_symmetries(partial).order, len(respectful(constant_row, partial))) == (2, 1)
    two = table.without([(0, 0), (0, 1)])
    assert {cell_image(two, g, (0, 0)) for g in respectful(table, two)} == {(0, 0), (0, 1)}


def test_a_found_network_is_what_it_says():
    table = parse_operation("Z3")
    given = table.without([(0, 0)])
    result = unseen_cells(table, given)
    start = np.array(result.cells[0].document["networks"][0]["neurons"], float)
    masses = np.array(result.cells[0].document["networks"][0]["masses"], float)
    network = OperationNetwork(start[:, :3], start[:, 3:6], start[:, 6:], masses)
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
    return verdicts(parse_operation("Z3"), (0, 0)).cells[0].document


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_document_is_refused(wrong_document, edit):
    document = copy.deepcopy(wrong_document)
    EDITS[edit](document)
    assert document != wrong_document
    with pytest.raises((kernel.ViolatedError, kernel.MalformedError)):
        operation_kernel.check(json.dumps(document).encode())


# ---- wrong values planted in the library


def survey_counts():
    kinds = [unseen_survey.kinds_of_missing(parse_operation("op:add:3"), k) for k in (1, 2, 3)]
    assert [len(found) for found in kinds] == [1, 3, 6]
    assert [sum(found.values()) for found in kinds] == [9, 36, 84]  # all sets of cells


class Fault(NamedTuple):
    """A name of a module, what it is replaced by, and a check with its arguments."""

    owner: Any
    attribute: str
    wrong: Any
    check: Any
    arguments: tuple[Any, ...] = ()


BOUND, MEET = test_the_bound_of_the_program_is_that_of_its_proof, test_networks_and_proofs_meet
EPSILON, CARRIED = test_the_default_epsilon_is_three_gaps_rounded_up, test_proofs_of_degree_four_move
FOUR, NINE = test_one_cell_of_four_is_filled_in_rightly, test_one_cell_of_nine_is_filled_in_wrongly
DISAGREE, GROUPS = test_two_networks_that_disagree, test_which_symmetries_are_used
EMPTY = test_an_empty_claim_is_refused


def part_of(function, name, change):
    """The function with one attribute of its result changed."""
    return changed(function, lambda found: replace(found, **{name: change(getattr(found, name))}))


def moved(change):
    """The function `moved_part` with changes that are made of the part that is moved."""
    right = unseen_parts.moved_part

    def wrong(part, *given):
        found = right(part, *given)
        return replace(found, **change(part, found))

    return wrong


RELAXED, LEANING, EXACT = relaxed_unseen, leaning_network, unseen_parts.exact_part
FAULTS = {
    "threshold of the program": Fault(
        unseen_programs,
        "relaxed_unseen",
        given_otherwise(RELAXED, lambda *given: (*given[:4], 1.02 * given[4], *given[5:])),
        BOUND,
        ("Z2", 1),
    ),
    "the bound of the program": Fault(
        unseen_programs, "relaxed_unseen", part_of(RELAXED, "bound", lambda x: 1.02 * x), BOUND, ("Z3", None)
    ),
    "sign of G, right": Fault(unseen_programs, "difference", scaled(difference, -1), FOUR),
    "sign of G, wrong": Fault(unseen_programs, "difference", scaled(difference, -1), BOUND, ("Z3", None)),
    "a label without weight": Fault(
        unseen_programs,
        "relaxed_unseen",
        part_of(RELAXED, "weights", lambda x: x * [1, 1, 0]),
        BOUND,
        ("Z3", None),
    ),
    "the factor of a neuron": Fault(programs, "NEURON_FACTOR", 1.02 * programs.NEURON_FACTOR, MEET, ("Z2", 1)),
    "the threshold of a proof": Fault(
        unseen_parts,
        "part_value",
        given_otherwise(unseen_parts.part_value, lambda part, level: (part, level * 51 / 50)),
        BOUND,
        ("Z2", 1),
    ),
    "the gain of a proof": Fault(
        unseen_parts,
        "part_value",
        given_otherwise(
            unseen_parts.part_value,
            lambda part, level: (replace(part, multipliers=[x * 51 // 50 for x in part.multipliers]), level),
        ),
        BOUND,
        ("Z3", None),
    ),
    "the sign of a part": Fault(
        unseen_parts,
        "exact_part",
        given_otherwise(EXACT, lambda given, asked: (given, replace(asked, wrong=1 if asked.wrong is None else None))),
        BOUND,
        ("Z3", None),
    ),
    "weights that are not shares": Fault(
        unseen_parts,
        "exact_part",
        changed(EXACT, lambda found: (found[0], tuple(x * (i + 1) for i, x in enumerate(found[1])))),
        NINE,
    ),
    "multipliers stay": Fault(
        unseen_parts, "moved_part", moved(lambda part, _: {"multipliers": part.multipliers}), CARRIED
    ),
    "the matrix stays": Fault(
        unseen_parts,
        "moved_part",
        moved(lambda part, found: {"proof": replace(found.proof, matrix=part.proof.matrix)}),
        CARRIED,
    ),
    "epsilon of two gaps": Fault(unseen, "GAPS", 2, EPSILON),
    "a smaller least epsilon": Fault(unseen, "LEAST_EPSILON", Fraction(1, 10**7), EPSILON),
    "no gap": Fault(unseen, "lower_margin", scaled(unseen.lower_margin, Fraction(51, 50)), EMPTY),
    "a threshold above the margin": Fault(unseen, "threshold_below", lambda *_: "0.34", FOUR),
    "networks that are not wrong": Fault(
        unseen_networks, "leaning_network", part_of(LEANING, "value", lambda x: -x), FOUR
    ),
    "margins of the networks": Fault(
        unseen_networks,
        "leaning_network",
        given_otherwise(LEANING, lambda *given: (*given[:2], 0.98 * given[2], *given[3:])),
        MEET,
        ("Z2", 1),
    ),
    "the mean over the labels": Fault(
        unseen_networks,
        "leaning_network",
        given_otherwise(LEANING, lambda table, tensors, *given: (table, 1.02 * tensors, *given)),
        MEET,
        ("Z3", None),
    ),
    "the value of a network": Fault(
        unseen_networks, "leaning_network", part_of(LEANING, "value", lambda x: 1.02 * x), MEET, ("Z2", 1)
    ),
    "right and wrong exchanged": Fault(
        unseen,
        "unseen_both",
        given_otherwise(unseen.unseen_both, lambda *given: (*given[:4], given[5], given[4], *given[6:])),
        DISAGREE,
    ),
    "symmetries that move a label": Fault(
        unseen_symmetry, "fixing", given_otherwise(fixing, lambda *given: (*given[:3], [])), GROUPS
    ),
    "symmetries that move the cell": Fault(
        unseen_symmetry, "respectful", lambda _, given: operation_symmetries(given).elements(), GROUPS
    ),
    "another label is true": Fault(
        unseen_symmetry, "true_labels", changed(true_labels, lambda found: dict.fromkeys(found, 1)), GROUPS
    ),
    "kinds of missing cells": Fault(unseen_symmetry, "cell_image", lambda _, __, cell: cell, survey_counts),
    "sizes of the kinds": Fault(
        unseen_survey,
        "kinds_of_missing",
        changed(unseen_survey.kinds_of_missing, lambda found: dict.fromkeys(found, 1)),
        survey_counts,
    ),
}


def test_every_check_passes_without_a_fault():
    for check, arguments in {(fault.check, fault.arguments) for fault in FAULTS.values()}:
        check(*arguments)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(monkeypatch, name):
    fault = FAULTS[name]
    for module in (
        unseen,
        unseen_networks,
        unseen_parts,
        unseen_programs,
        unseen_symmetry,
        unseen_survey,
        programs,
        sys.modules[__name__],
    ):
        if hasattr(module, fault.attribute):
            monkeypatch.setattr(module, fault.attribute, fault.wrong)
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        fault.check(*fault.arguments)
