"""A fault planted in the library, and the proof that a deciding check of a statement turns red with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from flint import fmpq

from lemmata.theorems.evidence import MARK
from lemmata.theorems.plugin import Effort

__all__ = [
    "UNRECORDED",
    "Fault",
    "assert_seen",
    "changed",
    "fault_name",
    "given_otherwise",
    "note_run",
    "passes_without_fault",
    "scaled",
]


@dataclass(frozen=True)
class Fault:
    """A replacement of an attribute, and a deciding check of a statement that must fail with it.

    Attributes:
        name: what is wrong.
        statement: the statement, without the chapter's prefix.
        module: where the check is.
        check: its name.
        owner: the module or class in which a name is replaced.
        attribute: that name.
        faulty: its replacement.
        arguments: those of the check, or a function that makes them anew for each call.
    """

    name: str
    statement: str
    module: ModuleType
    check: str
    owner: Any
    attribute: str
    faulty: Any
    arguments: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(default_factory=dict)


_PASSED: set[Any] = set()
"""The checks with plain arguments that have passed in this process without a fault: they need not pass again."""

_RUN: set[tuple[str, str, str]] = set()
"""The file, the name and the parameters of all tests of this session that must pass without a fault anyway."""


class _Unrecorded:
    """In place of a record: what is recorded goes nowhere, so that the asserts of the check have to see the fault."""

    def __getattr__(self, _: str) -> Callable[..., None]:
        return lambda *_args, **_known: None


UNRECORDED: Any = _Unrecorded()

_FIXTURES = {
    "effort": lambda value: isinstance(value, Effort) and value.name == "quick",
    "record": lambda value: value is UNRECORDED,
    "record_property": callable,
}
"""What a check is given beside its parameters, and whether that is what a session at quick effort gives it."""


def _plain(value: Any) -> str | None:
    """A value as text, if it is made of types whose text says everything; else None."""
    if value is None or isinstance(value, int | float | str | fmpq | Effort):
        return repr(value)
    if isinstance(value, Mapping):
        value = [item for pair in sorted(value.items()) for item in pair]
    if not isinstance(value, tuple | list):
        return None
    parts = [_plain(entry) for entry in value]
    return None if None in parts else f"({', '.join(map(str, parts))})"


def fault_name(fault: Fault) -> str:
    """The statement and what is wrong, as the id of a test."""
    return f"{fault.statement}-{fault.name.replace(' ', '_')}"


def skip_the_dearest(fault: Fault, effort: Effort, dearest: frozenset[str]) -> None:
    """Faults that train networks for five seconds and more are planted at full effort."""
    if effort.name == "quick" and fault_name(fault) in dearest:
        pytest.skip("Five seconds and more: at --effort full.")


def assert_seen(
    fault: Fault, chapter: str, monkeypatch: pytest.MonkeyPatch, refusals: tuple[type[BaseException], ...] = ()
) -> None:
    """The check decides the statement of the chapter, passes, and fails by an assertion once the fault is planted.

    `refusals` are errors of the library's own verifiers that count as well.
    """
    function = getattr(fault.module, fault.check)
    marks = [mark.args[0] for mark in getattr(function, "pytestmark", []) if mark.name == MARK]
    assert f"{chapter}:{fault.statement}" in {one.statement for one in marks if not one.supporting}
    run = function.hypothesis.inner_test if hasattr(function, "hypothesis") else function

    def arguments() -> dict[str, Any]:
        given = dict(fault.arguments() if callable(fault.arguments) else fault.arguments)
        return {"record": UNRECORDED, **given} if "record" in inspect.signature(run).parameters else given

    key = None if callable(fault.arguments) else (function, _plain(fault.arguments))
    if key is None or key[1] is None or key not in _PASSED:
        passes_without_fault(function, arguments())
        _PASSED.add(key)
    monkeypatch.setattr(fault.owner, fault.attribute, fault.faulty)
    with pytest.raises((AssertionError, *refusals)):
        run(**arguments())


def note_run(item: pytest.Function) -> None:
    """Note that this session runs the test at quick effort, and is red unless it passes."""
    ordinary = not any(item.get_closest_marker(name) for name in ("skip", "skipif", "xfail"))
    parameters = _plain(item.callspec.params if hasattr(item, "callspec") else {})
    if ordinary and parameters is not None and item.config.getoption("--effort", None) == "quick":
        _RUN.add((*_place(item.function), parameters))


def passes_without_fault(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """The check passes with these arguments: it is run, unless this session runs it with them in any case.

    In `make test` the statements and the faults are one session, which is red if the check fails by itself, so that
    its failure with a fault cannot be taken for the sight of the fault. Where the faults are run alone, the check is
    run here. With Hypothesis the arguments are one example, and a session may draw others: these are always run.
    """
    inner = getattr(function, "hypothesis", None)
    if inner is not None:
        inner.inner_test(**arguments)
        return
    given = {name: value for name, value in arguments.items() if name not in _FIXTURES}
    as_in_session = all(right(arguments[name]) for name, right in _FIXTURES.items() if name in arguments)
    if not as_in_session or (*_place(function), _plain(given)) not in _RUN:
        function(**arguments)


def given_otherwise(function: Callable[..., Any], change: Callable[..., tuple[Any, ...]]) -> Callable[..., Any]:
    """A function that is given other arguments, which the change makes of those in place."""
    return lambda *given, **known: function(*change(*given), **known)


def changed(function: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function whose result is changed."""
    return lambda *given, **known: change(function(*given, **known))


def scaled(function: Callable[..., Any], factor: Any) -> Callable[..., Any]:
    """A function whose result is multiplied by a factor."""
    return changed(function, lambda value: value * factor)


def _place(function: Callable[..., Any]) -> tuple[str, str]:
    """The file and the name, which are the same however the module was imported."""
    return function.__code__.co_filename, function.__qualname__
