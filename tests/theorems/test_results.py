"""The committed results: they say which code made them, and a slice of each comes out again today.

A slice that a check of a chapter repeats is not repeated here.
"""

import ast
import importlib
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lemmata.theorems.experiments
from lemmata.numerics.runs.definitions import uses
from lemmata.theorems.experiments import (
    PACKAGES,
    Experiment,
    assert_begins,
    assert_follows,
    committed,
    find_experiment,
    load_experiments,
    slice_again,
)
from lemmata.theorems.ledger import THEOREMS

NAMES = sorted(load_experiments())
SLICE_AGAIN = (Path(inspect.getfile(slice_again)), slice_again.__name__)


def repeated(path: Path) -> set[str]:
    """The experiments whose slices the tests of a module repeat.

    A test repeats slices if it uses `slice_again`: of the experiments in its decorators, which parametrise it, and of
    that in its body, if it names one alone. Where it names several nothing says which of them it repeats.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    imported = {
        alias.asname or alias.name: value
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module is not None and ".experiments" in node.module
        for alias in node.names
        if isinstance(value := getattr(importlib.import_module(node.module), alias.name), Experiment)
    }

    def named(nodes: list[Any]) -> set[str]:
        names = {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        return {imported[name].name for name in names & imported.keys()}

    for node in tree.body:
        if not (isinstance(node, ast.FunctionDef) and node.name.startswith("test_")):
            continue
        if SLICE_AGAIN in uses(path, node.name, PACKAGES).definitions:
            outside, inside = named(node.decorator_list), named(node.body)
            found |= outside if outside else inside if len(inside) == 1 else set()
    return found


REPEATED = set[str]().union(
    *(repeated(path) for path in sorted(THEOREMS.glob("*/test_*.py")) if "slice_again" in path.read_text("utf-8"))
)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_says_what_made_it_and_follows_from_its_items(name: str) -> None:
    summary = committed(name)
    assert summary is not None
    made = summary["origin"]
    assert made.keys() == {"lemmata", "commit", "date", "python", "code"}
    assert len(made["commit"]) == 40, "made by files that differ from every commit"
    assert len(made["code"]) == 16
    assert_follows(summary)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REPEATED])
def test_a_slice_of_every_result_comes_out_again(name: str) -> None:
    summary = committed(name)
    assert summary is not None
    again, kept = slice_again(summary)
    assert_begins(summary, again, kept)


def test_the_slices_that_checks_of_the_chapters_repeat_are_found() -> None:
    """One is repeated through a helper; one is named by a check that repeats none; two by a check that names both."""
    assert {"conjunction-sample-sizes", "conjunction-curves", "trained-query-key"} <= REPEATED <= set(NAMES)
    assert not REPEATED & {"attention-parities", "token-regression-samples", "token-regression-long-prompts"}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("parity-widths", {"seeds": [99]}),
        ("parity-sinusoid-gap", {"seed": 99}),
        ("trigrams", {"seed": 99, "steps": 20}),
        ("trigrams", {"rate": 1.02e-2, "steps": 20}),
        ("in-context-regression-longer", {"seed": 99, "until": 100}),
        ("in-context-regression-longer", {"rate": 3.06e-3, "until": 100}),
        ("modular-addition-31", {"rate": 0.051, "steps": 10}),
        ("trained-query-key", {"rate": 1.02e-3, "steps": 50}),
    ],
)
def test_a_slice_with_another_seed_or_rate_is_not_the_same(
    name: str, changes: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rate that is larger by a fiftieth is seen through the tolerance of the experiment."""
    chapter, experiment = find_experiment(name)
    other = replace(experiment, slice=(experiment.slice[0], {**experiment.slice[1], **changes}))
    monkeypatch.setattr(lemmata.theorems.experiments, "load_experiments", lambda: {name: (chapter, other)})
    summary = committed(name)
    assert summary is not None
    again, kept = slice_again(summary)
    with pytest.raises(AssertionError, match=r"a slice repeated: \["):
        assert_begins(summary, again, kept)
