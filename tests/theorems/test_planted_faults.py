"""A check that the session runs anyway is not run without a fault once more; every other check is."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.theorems.plugin import Effort
from tests.theorems import planted_faults
from tests.theorems.planted_faults import passes_without_fault


def failing(n: int = 1, effort: Any = None, record_property: Any = None) -> None:
    """A check that is red without any fault."""
    raise AssertionError


@settings(database=None)
@given(n=st.integers())
def drawn(n: int) -> None:
    """A red check of examples."""
    raise AssertionError


@pytest.fixture
def session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Tells the faults that a function is a test of this session, with parameters and marks."""
    monkeypatch.setattr(planted_faults, "_RUN", set())

    def add(function: Callable[..., Any], *marks: pytest.MarkDecorator, **parameters: Any) -> None:
        item = pytest.Function.from_parent(request.node.parent, name=function.__name__, callobj=function)
        if parameters:
            item.callspec = SimpleNamespace(params=parameters)  # type: ignore[assignment]
        for mark in marks:
            item.add_marker(mark)
        planted_faults.note_run(item)

    return add


QUICK = {"effort": Effort("quick"), "record_property": print}


def test_what_the_session_runs_is_not_run_again(session: Callable[..., None]) -> None:
    session(failing)
    passes_without_fault(failing, QUICK)
    session(failing, n=2)
    passes_without_fault(failing, {"n": 2, **QUICK})


@pytest.mark.parametrize(
    "arguments", [{"n": 3}, {"effort": Effort("full")}, {"record_property": None}], ids=["n", "effort", "record"]
)
def test_other_arguments_are_run(session: Callable[..., None], arguments: dict[str, Any]) -> None:
    session(failing)
    session(failing, n=2)
    with pytest.raises(AssertionError):
        passes_without_fault(failing, {**QUICK, **arguments})


@pytest.mark.parametrize("mark", [pytest.mark.skip, pytest.mark.xfail], ids=["skip", "xfail"])
def test_a_test_that_may_fail_is_run(session: Callable[..., None], mark: pytest.MarkDecorator) -> None:
    session(failing, mark)
    with pytest.raises(AssertionError):
        passes_without_fault(failing, QUICK)


def test_without_the_statements_in_the_session_and_for_drawn_examples_the_check_is_run(
    session: Callable[..., None],
) -> None:
    with pytest.raises(AssertionError):
        passes_without_fault(failing, QUICK)
    session(drawn)
    with pytest.raises(AssertionError):
        passes_without_fault(drawn, {"n": 0})
