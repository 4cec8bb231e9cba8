"""Margins with |t| and max(t, 0): values by hand, and bounds against neurons and networks by the definition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, sqrt

import numpy as np
import pytest
from scipy.optimize import linprog

from lemmata.certificates.operations import kinked as module
from lemmata.certificates.operations import kinked_unseen
from lemmata.certificates.operations.kinked import (
    Faces,
    KinkedNetwork,
    kinked_margin,
    lean,
    proved_bound,
    triple_tensors,
)
from lemmata.certificates.operations.kinked_unseen import EPSILON, kinked_verdict
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from tests.theorems.planted_faults import changed

AND, XOR = Operation.of([[0, 0], [0, 1]]), Operation.of([[0, 1], [1, 0]])
BOTH = ("abs", "relu")
BY_HAND = {
    ("a row of two labels", "abs"): (Operation.of([[0, 1]]), sqrt(3) / 4),
    ("a row of two labels", "relu"): (Operation.of([[0, 1]]), sqrt(3) / 4),
    ("exclusive or", "abs"): (XOR, sqrt(2) / 4),
    ("exclusive or", "relu"): (XOR, sqrt(2) / 8),
}
"""OPERATION_MARGIN.md, step 31."""


def sigma(activation, t):
    return max(t, -t) if activation == "abs" else max(t, 0)


def answers(activation, tensor, x):
    """|sum_ab R_ab sigma(u_a + v_b)|, for x of shape (m, N)."""
    A, B, _ = tensor.shape
    total = 0.0
    for a in range(A):
        for b in range(B):
            t = x[:, a] + x[:, A + b]
            total = total + np.where(t > 0, t, -t if activation == "abs" else 0.0)[:, None] * tensor[a, b]
    return np.linalg.norm(total, axis=1)


def largest_found(activation, tensor, seed=0):
    """The largest answer of unit x that random search finds: samples, and steps around the best of them."""
    rng = np.random.default_rng(seed)
    size = tensor.shape[0] + tensor.shape[1]
    x = rng.normal(size=(20_000, size))
    for step in (0.3, 0.1, 0.03, 0.01, 0.003, 0.001):
        x /= np.linalg.norm(x, axis=1)[:, None]
        best = x[np.argsort(-answers(activation, tensor, x))[:60]]
        x = np.concatenate([best, (best[:, None] + step * rng.normal(size=(60, 80, size))).reshape(-1, size)])
    x /= np.linalg.norm(x, axis=1)[:, None]
    return answers(activation, tensor, x).max()


def defined_margins(network, given, differences):
    """Margins and a difference of a network by the definition, neuron by neuron, in fractions."""
    A, B, C = given.rows, given.columns, given.label_count
    f = {(a, b, c): Fraction(0) for a in range(A) for b in range(B) for c in range(C)}
    for x, w, mass in zip(network.x, network.w, network.masses, strict=True):
        share = Fraction(mass, int(sum(network.masses))) / sum(t * t for t in (*x, *w))
        for a, b, c in f:
            f[a, b, c] += share * sigma(network.activation, x[a] + x[A + b]) * w[c]
    margins = [f[a, b, given.values[a][b]] - f[a, b, c] for a, b, c in given.triples]
    return margins, [f[a, b, y] - f[a, b, c] for a, b, y, c in differences]


def check_by_hand():
    for (_, activation), (table, value) in BY_HAND.items():
        found = module.kinked_margin(table, activation)
        assert found.lower <= Fraction(value) * (1 + Fraction(1, 10**14))
        assert found.upper >= Fraction(value) * (1 - Fraction(1, 10**14))
        assert found.gap < 1e-6


def check_largest_answers():
    rng = np.random.default_rng(1)
    for activation in BOTH:
        for shape in ((2, 3, 2), (2, 2, 3), (1, 2, 2)):
            tensor = rng.normal(size=shape)
            values, x = module.Faces.of(shape[0], shape[1], activation).peaks(tensor, 1e-9)
            assert answers(activation, tensor, x) == pytest.approx(values, rel=1e-12)
            assert np.linalg.norm(x, axis=1) == pytest.approx(1, rel=1e-12)
            largest = values.max(initial=0.0)
            assert largest * (1 - 1e-4) <= largest_found(activation, tensor) <= largest * (1 + 1e-12)


def check_integers_decide():
    rng = np.random.default_rng(2)
    for activation in BOTH:
        for shape in ((1, 2, 2), (2, 3, 3)):
            faces = module.Faces.of(shape[0], shape[1], activation)
            tensor = rng.integers(-(10**6), 10**6, size=shape)
            square = float(faces.peaks(tensor.astype(float))[0].max()) ** 2
            assert faces.at_most(tensor, ceil(square * (1 + 1e-9)))
            assert not faces.at_most(tensor, floor(square * (1 - 1e-6)))
            assert not faces.at_most(tensor, floor(square / 2))


def check_networks():
    """A margin is above what the bound of it says, by the definition, and that bound is sharp."""
    for activation in BOTH:
        found = module.kinked_margin(AND, activation)
        margins, _ = defined_margins(found.network, AND, [])
        assert 0 <= min(margins) - found.network.margin(AND) < Fraction(1, 10**20)
        assert found.lower <= min(margins) <= found.upper


def check_verdicts():
    """AND without 0 and 0: |t| is wrong, max(t, 0) right; networks that lean the other way come near the bounds."""
    given, towards = AND.without([(0, 0)]), np.zeros((1, 2, 2, 2), np.int64)
    towards[0, 0, 0] = 1, -1
    for activation, verdict, sign in (("abs", "wrong", 1), ("relu", "right", -1)):
        found = kinked_verdict(AND, (0, 0), activation)
        assert found.verdict == verdict
        known, faces, tensors = found.margin, Faces.of(2, 2, activation), triple_tensors(given)
        near = lean(
            faces,
            tensors,
            sign * towards,
            floor=float(known.lower) * (1 - 0.99e-6),
            start=(known.found.x, known.found.w),
        )
        network = KinkedNetwork.near(activation, near.x, near.w, near.masses)
        margins, (at_cell,) = defined_margins(network, given, [(0, 0, 0, 1)])
        assert min(margins) >= (1 - EPSILON) * known.lower
        assert sign * float(at_cell / known.lower) <= sign * found.share
        bound = module.proved_bound(faces, tensors, sign * towards, near.dual, (1 - EPSILON) * known.lower)
        assert 0 <= bound - sign * at_cell <= known.lower / 300


CHECKS = [check_by_hand, check_largest_answers, check_integers_decide, check_networks, check_verdicts]


@pytest.mark.parametrize("check", CHECKS)
def test_sound(check):
    check()


@pytest.mark.parametrize(("shape", "count"), [((1, 2), 4), ((2, 2), 14), ((2, 3), 46), ((3, 3), 230)])
def test_all_patterns_of_signs_are_there(shape, count):
    """Patterns without zeros: matrices of two signs that their sums of rows and of columns determine (Brewbaker)."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40_000, sum(shape))) * rng.choice([1, 0.1], size=(40_000, sum(shape)))
    met = {tuple(row) for row in np.sign(x[:, : shape[0], None] + x[:, None, shape[0] :]).reshape(len(x), -1)}
    listed = {tuple(row) for row in Faces.of(*shape, "relu").signs if all(row)}
    assert met == listed
    assert len(listed) == count
    halves = {tuple(row) for row in Faces.of(*shape, "abs").signs if all(row)}
    assert halves | {tuple(-s for s in row) for row in halves} == listed
    assert len(halves) == count / 2


@pytest.mark.parametrize("activation", BOTH)
def test_no_mixture_of_random_neurons_is_above_a_bound(activation):
    """A linear program over neurons at random: below every bound, and not by much."""
    table = Operation.of([[0, 0, 1], [1, 2, 0]])
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(6000, 5)), rng.normal(size=(6000, 3))
    x[:3000] = rng.choice([-2, -1, 1, 2], size=(3000, 5))  # some sums are 0
    hidden = x[:, :2, None] + x[:, None, 2:]
    hidden = np.where(hidden > 0, hidden, -hidden if activation == "abs" else 0.0)
    payoff = np.array([hidden[:, a, b] * (w[:, table.values[a][b]] - w[:, c]) for a, b, c in table.triples])
    payoff /= 2 * np.linalg.norm(x, axis=1) * np.linalg.norm(w, axis=1)  # the best split of the norm of a neuron
    m = len(x)
    solved = linprog(
        np.r_[np.zeros(m), -1.0],
        np.c_[-payoff, np.ones(len(payoff))],
        np.zeros(len(payoff)),
        np.r_[np.ones(m), 0.0][None],
        [1.0],
        [(0, None)] * m + [(None, None)],
    )
    found = kinked_margin(table, activation)
    assert 0.8 * found.lower <= -solved.fun <= found.upper
    q = np.random.default_rng(5).dirichlet(np.ones(len(table.triples)))
    tensors = triple_tensors(table)
    assert proved_bound(Faces.of(2, 3, activation), tensors[:0], tensors, q) >= found.lower


def test_rectifiers_have_half_the_margin_of_absolute_values_for_a_group():
    table = parse_operation("op:add:3")
    absolute, rectified = kinked_margin(table, "abs"), kinked_margin(table, "relu")
    assert rectified.lower <= absolute.upper / 2
    assert rectified.upper >= absolute.lower / 2


def test_both_kinds_are_shown_by_the_definition():
    table = Operation.of([[0, 1, 2], [0, 2, 1]])
    found = kinked_verdict(table, (0, 0), "abs")
    assert found.verdict == "both"
    given = table.without([(0, 0)])
    worst = []
    for network in found.networks:
        margins, at_cell = defined_margins(network, given, [(0, 0, 0, 1), (0, 0, 0, 2)])
        assert min(margins) >= (1 - EPSILON) * found.margin.upper
        worst.append(min(at_cell))
    assert worst[0] > 0 > worst[1]


def test_verdicts_hold_for_all_networks_within_epsilon(monkeypatch):
    thresholds = []

    def noted(*given):
        thresholds.append(given[-1])
        return proved_bound(*given)

    monkeypatch.setattr(kinked_unseen, "proved_bound", noted)
    found = kinked_verdict(AND, (0, 0), "relu")
    assert set(thresholds) == {(1 - EPSILON) * found.margin.lower}
    assert found.margin.gap < EPSILON / 4


def all_faces_open(faces):
    inner = (faces.signs != 0).all(axis=1)
    return replace(faces, signs=faces.signs[inner], bases=faces.bases[inner], sums=faces.sums[inner])


class Shortened:
    """The faces with a change, in place of the class."""

    def __init__(self, change):
        self.of = lambda *given: change(Faces.of(*given))


FAULTS = {
    "open faces alone": (module, "Faces", Shortened(all_faces_open), check_largest_answers),
    "the other activation": (
        module,
        "Faces",
        Shortened(lambda faces: replace(faces, activation="relu" if faces.activation == "abs" else "abs")),
        check_largest_answers,
    ),
    "margins of the other activation": (
        module,
        "Faces",
        Shortened(lambda faces: replace(faces, activation="relu" if faces.activation == "abs" else "abs")),
        check_by_hand,
    ),
    "every form is called definite": (module, "_positive_definite", lambda _: True, check_integers_decide),
    "no form is called definite": (module, "_positive_definite", lambda _: False, check_integers_decide),
    "bounds 1 % too small": (
        module,
        "proved_bound",
        changed(proved_bound, lambda bound: bound * 99 / 100),
        check_by_hand,
    ),
    "bounds of cells 1 % too small": (
        module,
        "proved_bound",
        changed(proved_bound, lambda bound: bound - abs(bound) / 100),
        check_verdicts,
    ),
    "networks 1 % too good": (
        KinkedNetwork,
        "means",
        changed(KinkedNetwork.means, lambda means: [mean * 101 / 100 for mean in means]),
        check_networks,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(monkeypatch, name):
    owner, attribute, wrong, check = FAULTS[name]
    with monkeypatch.context() as patch:
        patch.setattr(owner, attribute, wrong)
        with pytest.raises((AssertionError, ArithmeticError)):
            check()


def test_refusals():
    with pytest.raises(ValueError, match="The activation is abs or relu, not 'square'"):
        kinked_margin(XOR, "square")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most 7 rows and columns together, not 8"):
        kinked_margin(parse_operation("op:add:4"), "abs")
    with pytest.raises(ValueError, match="add up to less than"):
        Faces.of(1, 2, "abs").at_most(np.full((1, 2, 2), 2**28), 1)
