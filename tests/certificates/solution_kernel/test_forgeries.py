"""Forged documents of programs: none is accepted that an independent judge refuses or whose claim is false."""

import json
import random
from collections import Counter
from fractions import Fraction
from functools import cache

import cvxpy as cp

import lemmata as lm
from tests.certificates.solution_kernel.documents import WRITTEN, Document, verdict
from tests.certificates.solution_kernel.forgeries import FORGED, same_claim
from tests.certificates.solution_kernel.plain import interval_of_values, proves, true_claim

SEED = 20261129


@cache
def pentagon() -> str:
    """The document of the theta function of the pentagon, with what a solver found."""
    X = cp.Variable((5, 5), symmetric=True, name="X")
    problem = cp.Problem(
        cp.Maximize(cp.sum(X)), [X >> 0, cp.trace(X) == 1, *(X[i, (i + 1) % 5] == 0 for i in range(5))]
    )
    problem.solve(solver=cp.CLARABEL)
    return json.dumps(lm.document_of(lm.certify_solution(problem)))


def documents() -> list[Document]:
    return [*(make() for make in WRITTEN.values()), json.loads(pentagon())]


def test_the_judge_and_the_kernel_accept_what_is_written():
    for value in documents():
        assert verdict(value)[0] == 0
        assert proves(value)
        assert value["constraints"]["matrices"] or true_claim(value)


def test_elimination_finds_optima_that_are_known():
    names = ("polygon", "simplex", "between", "empty", "unbounded")
    made = {name: interval_of_values(WRITTEN[name]()) for name in names}
    assert made["polygon"][1:] == (Fraction(9, 11), True)
    assert made["simplex"][1] == Fraction(5, 2)
    assert made["between"][0] == Fraction(7, 3)
    assert not made["empty"][2]
    assert made["unbounded"] == (None, None, True)


def test_forgeries_are_refused(effort):
    """Full: more than 2,000 of them. An edit may leave the document true; then the judge says so."""
    count = effort.pick(quick=270, full=4500)
    source = random.Random(SEED)
    seen: Counter[tuple[bool, int]] = Counter()
    refused: Counter[str] = Counter()
    linear = 0
    for i in range(count):
        value, edit = source.choice(documents()), FORGED[i % len(FORGED)]
        edit(value, source)
        status, line = verdict(value)
        truth = proves(value)
        seen[truth, status] += 1
        refused[edit.__name__] += not truth
        assert truth or status, f"{edit.__name__}: {line}"
        assert not truth or not status, f"{edit.__name__}: {line}"
        if not status and not value["constraints"]["matrices"]:
            linear += 1
            assert true_claim(value), f"{edit.__name__}: {line}"
    assert seen[False, 1] + seen[False, 2] > 0.5 * count, seen
    assert seen[False, 1] > 0.2 * count, seen
    assert linear > 0.05 * count, linear
    assert min(refused[edit.__name__] for edit in FORGED) > 0, refused


def test_edits_that_leave_the_claim_true_are_accepted():
    source = random.Random(SEED)
    for value in documents():
        same_claim(value, source)
        assert proves(value)
        assert verdict(value)[0] == 0
