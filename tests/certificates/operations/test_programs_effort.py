"""How much work and time degree 6 may take."""

import time
from contextlib import suppress

import pytest

from lemmata.certificates.operations.certify import certify_operation
from lemmata.certificates.operations.programs import OperationProgramError, relaxed_margin
from lemmata.certificates.operations.programs_effort import (
    USUAL_WORK,
    Effort,
    TooMuchWorkError,
    least_work,
    moment_count,
)
from lemmata.certificates.operations.programs_template import template
from lemmata.numerics.operations.names import parse_operation
from tests.certificates.operation_documents import COUNTEREXAMPLE


@pytest.mark.parametrize(("rows", "columns", "labels"), [(1, 1, 2), (2, 3, 4), (3, 3, 5)])
def test_moments_are_counted(rows, columns, labels):
    assert moment_count(rows + columns, labels) == template(rows, columns, labels, 6).moments


def test_symmetries_save_no_more_than_their_number():
    assert least_work(7, 4, 1) == moment_count(7, 4) ** 3 / 3
    assert least_work(7, 4, 2) == least_work(7, 4, 1) / 8
    assert least_work(7, 4, 10**10_000) == 0


def test_without_a_time_the_work_decides():
    effort = Effort.of(None)
    effort.refuse(USUAL_WORK)
    assert not effort.limited
    with pytest.raises(TooMuchWorkError, match="give it seconds"):
        effort.refuse(1.01 * USUAL_WORK)


def test_with_a_time_memory_and_the_clock_decide(monkeypatch):
    effort = Effort.of(100)
    effort.refuse(10 * USUAL_WORK)
    with pytest.raises(TooMuchWorkError, match="in any time"):
        effort.refuse(100 * USUAL_WORK)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 101)
    with pytest.raises(TooMuchWorkError, match="The time for degree 6 is over"):
        effort.refuse(1)


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_what_is_no_time_is_refused(seconds):
    with pytest.raises(ValueError, match="a number of seconds from 0 on"):
        Effort.of(seconds)


def test_solvers_stop_in_time_and_what_they_reached_is_a_bound_or_nothing(effort):
    """A table whose program of degree 6 takes each of them more than a second; bounds only come down to the margin."""
    table = parse_operation("random:4x4:4:1")
    for solver in effort.pick(quick=("scs",), full=("scs", "interior", "clarabel")):
        began = time.monotonic()
        with suppress(OperationProgramError):
            assert relaxed_margin(table, kind=6, solver=solver, effort=Effort.of(1.0)).bound > 0.0829587
        assert time.monotonic() - began < 60


def test_no_seconds_for_degree_6_leave_degree_4():
    told = []
    table = COUNTEREXAMPLE
    made = certify_operation(table, seconds=0, progress=told.append)
    assert made.kind == "degree 4"
    assert told == ["a proof of the kind degree 4", "a network", "a network from 256 starts"]
    with pytest.raises(TooMuchWorkError):
        certify_operation(table, kind=6, seconds=0)


def test_gaps_of_degree_4_are_closed_without_being_asked(effort):
    """Half a minute each at full effort: with nine or more rows and columns together, and for random tables."""
    names = ("random:4x4:6:1", "op:a^2-b^2:7", "latin:6:2", "random:4x4:4:1")
    for table in [COUNTEREXAMPLE, *map(parse_operation, effort.pick(quick=(), full=names))]:
        told = []
        made = certify_operation(table, progress=told.append)
        assert made.kind == "degree 6"
        assert made.gap < 2e-9
        assert any(what.startswith("degree 6: step 9, gap ") for what in told)
