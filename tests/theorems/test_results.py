"""The committed results: they say which code made them, and slices of each come out again today, at several seeds.

At quick effort the last slice of each is repeated, here or by a check of its chapter, and at full effort all are, here.
"""

import ast
import importlib
import inspect
import json
import platform
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lemmata.theorems.experiments
import lemmata.theorems.rnn_sgd.experiments.comparator as comparator
from lemmata.numerics.runs.comparison import first_difference
from lemmata.numerics.runs.definitions import uses
from lemmata.numerics.runs.manifest import differences
from lemmata.theorems.experiments import (
    PACKAGES,
    SEEDS,
    Experiment,
    assert_begins,
    assert_follows,
    committed,
    find_experiment,
    is_current,
    load_experiments,
    place_of,
    seeds_of,
    slice_again,
)
from lemmata.theorems.ledger import THEOREMS
from lemmata.theorems.manifests import SUFFIX, assert_as_run, parts_of
from lemmata.theorems.plugin import Effort

NAMES = sorted(load_experiments())
SLICE_AGAIN = (Path(inspect.getfile(slice_again)), slice_again.__name__)


def leaves(data: Any, place: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Every leaf of JSON data: the list or dictionary that holds it, its key there, and its place."""
    for key in data if isinstance(data, dict) else range(len(data)):
        inner, within = data[key], f"{place}[{key!r}]"
        if isinstance(inner, dict | list) and inner:
            yield from leaves(inner, within)
        else:
            yield data, key, within


def repeated(path: Path) -> set[str]:
    """The experiments whose slices the tests of a module repeat.

    A test repeats slices if it uses `slice_again`: of the experiment in its body, if it names one alone. Where it names
    several nothing says which of them it repeats.
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
            inside = named(node.body)
            found |= inside if len(inside) == 1 else set()
    return found


REPEATED = set[str]().union(
    *(repeated(path) for path in sorted(THEOREMS.glob("*/test_*.py")) if "slice_again" in path.read_text("utf-8"))
)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_says_what_made_it_and_follows_from_its_items(name: str) -> None:
    summary = committed(name)
    assert summary is not None
    made = summary["origin"]
    assert made.keys() - {"again"} == {"lemmata", "commit", "date", "python", "code"}
    again = made.get("again", made)
    assert again is made or again.keys() == {"code", "commit", "date", "python", "slices"}
    for record in (made, again):
        assert len(record["commit"]) == 40, "made by files that differ from every commit"
        assert len(record["code"]) == 16
    assert_follows(summary)
    assert_as_run(summary, place_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_leaf_of_a_result_that_changed_is_named(name: str, effort: Effort) -> None:
    """By 2 %, or, what is no number, to another: of each part one leaf, drawn with a seed, at full effort 20."""
    summary = committed(name)
    assert summary is not None
    lines, rng = place_of(name).with_suffix(SUFFIX).read_text(encoding="utf-8").splitlines(), Random(name)
    for line, (part, data) in zip(lines, parts_of(summary).items(), strict=True):
        every = list(leaves(data))
        for home, key, place in rng.sample(every, min(len(every), 1 if effort.name == "quick" else 20)):
            before = home[key]
            home[key] = 1.02 * before if type(before) in (int, float) and before else "another"
            expected = f"{part}: the leaf {place} changed, to {json.dumps(home[key])}"
            assert differences(line, {part: data}) == [expected]
            home[key] = before


def test_every_commit_that_made_or_repeated_a_result_stands_in_the_history() -> None:
    """A record that is made on top of commits which a rebase then replaces names nothing that anybody else has."""
    root = THEOREMS.parent
    try:
        asked = ["git", "rev-list", "HEAD"]
        lines = subprocess.run(asked, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        pytest.skip("There is no history here.")
    if not (root / ".git").exists() or (root / ".git" / "shallow").exists():
        pytest.skip("The history here is not that of the project, or a part of it.")
    history, lost = set(lines), []
    for name in NAMES:
        summary = committed(name)
        assert summary is not None
        made = summary["origin"]
        commits = {record["commit"] for record in (made, made.get("again", made))}
        lost += [(name, one) for one in commits - history]
    assert not lost, "push the code first, and then: lemmata experiment again NAME"


def test_the_code_of_today_made_every_result_or_repeated_slices_of_it() -> None:
    """A fingerprint is that of a minor version of Python: under another one nothing can be said."""
    stale = []
    for name in NAMES:
        summary = committed(name)
        assert summary is not None
        made = summary["origin"]
        versions = {record["python"].rpartition(".")[0] for record in (made, made.get("again", made))}
        if platform.python_version().rpartition(".")[0] in versions and not is_current(summary):
            stale.append(name)
    assert not stale, (
        "The code of these results has changed since; commit it, and repeat slices of them by: "
        f"lemmata experiment again {' '.join(stale)}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_slices_of_every_result_come_out_again(name: str, effort: Effort) -> None:
    """At quick effort of those that no check of a chapter repeats, and of several with the same work the first."""
    summary = committed(name)
    assert summary is not None
    first = next(one for one in NAMES if find_experiment(one)[1].work is find_experiment(name)[1].work)
    if effort.name != "quick" or (name not in REPEATED and name == first):
        assert_begins(summary, *slice_again(summary, every=effort.name != "quick"))


def test_the_slices_that_checks_of_the_chapters_repeat_are_found() -> None:
    """One is repeated through a helper; two are named by checks that repeat none; two by a check that names both."""
    assert {"conjunction-sample-sizes", "trained-query-key"} <= REPEATED <= set(NAMES)
    none = {"attention-parities", "conjunction-curves"}
    assert not REPEATED & (none | {"token-regression-samples", "token-regression-long-prompts"})


def seeds(experiment: Experiment) -> list[int]:
    """The seeds of an experiment, in order."""
    return sorted({seed for settings in experiment.scales["full"].values() for seed in seeds_of(settings)})


def repeated_seeds(experiment: Experiment) -> set[int]:
    """Those that its slices repeat."""
    full = experiment.scales["full"]
    return {seed for key, changes in experiment.slices for seed in seeds_of({**full[key], **changes})}


SEVERAL = [name for name in NAMES if len(seeds(find_experiment(name)[1])) > 1]


@pytest.mark.parametrize("name", SEVERAL)
def test_slices_have_the_first_the_last_and_a_middle_seed(name: str) -> None:
    _, experiment = find_experiment(name)
    (first, *between, last), found = seeds(experiment), repeated_seeds(experiment)
    key, changes = experiment.slices[-1]
    assert seeds_of({**experiment.scales["full"][key], **changes}) != [first], "the slice that is repeated at quick"
    covered = {first, last} <= found and bool(found & set(between)) == bool(between)
    assert covered != bool(experiment.unrepeated), experiment.unrepeated or "it has to say which it lacks, and why"


LONG = ("attention-parities", "attention-parities-100", "attention-parities-third")
"""Runs that take minutes with the first seed."""


def ignoring(experiment: Experiment) -> Callable[[Any], Any]:
    """A work that always gets the first seed."""
    first = seeds(experiment)[0]

    def work(settings: Any) -> Any:
        (name,) = settings.keys() & set(SEEDS)
        one = [first] * len(settings[name]) if isinstance(settings[name], list) else first
        return experiment.work({**settings, name: one})

    return work


@pytest.mark.parametrize("name", [name for name in SEVERAL if name not in ("in-context-regression", *LONG)])
def test_a_work_that_ignores_its_seed_is_seen(name: str, effort: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a slice with another seed, of which the last one is tried first; of one experiment no run is repeated.

    At quick effort of every fifth experiment: that the last slices have other seeds is tested above for all.
    """
    if effort.name == "quick" and SEVERAL.index(name) % 5:
        pytest.skip("Every fifth experiment; all at --effort full.")
    chapter, experiment = find_experiment(name)
    (first, *_), full = seeds(experiment), experiment.scales["full"]
    summary = committed(name)
    assert summary is not None
    for one in experiment.slices[::-1]:
        if seeds_of({**full[one[0]], **one[1]}) == [first]:
            continue
        stuck = replace(experiment, work=ignoring(experiment), slice=one, others=())
        monkeypatch.setattr(
            lemmata.theorems.experiments, "load_experiments", lambda found=stuck: {name: (chapter, found)}
        )
        again, kept = slice_again(summary)
        if first_difference(again, kept, experiment.rounding, begins=True) is not None:
            return
    pytest.fail(f"No slice of {name} sees that its work ignores the seed.")


@pytest.mark.parametrize("name", LONG)
def test_long_runs_that_ignore_their_seed_are_seen(name: str) -> None:
    """Their losses differ within twenty iterations, from which those of the right seed are the committed ones."""
    _, experiment = find_experiment(name)
    summary = committed(name)
    assert summary is not None
    item = summary["items"][experiment.slice[0]]
    (right,) = item["settings"]["seeds"]
    found = [
        experiment.work({**item["settings"], "iterations": 20, "seeds": [seed]})["losses"]
        for seed in (right, seeds(experiment)[0])
    ]
    differences = [first_difference(one, item["result"]["losses"], experiment.rounding, begins=True) for one in found]
    assert differences[0] is None
    assert differences[1] is not None


def test_networks_that_are_all_the_first_one_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeds of one experiment are counted from a first one, and its slice has four of them."""
    build = comparator._one
    monkeypatch.setattr(comparator, "_one", lambda settings, seed: build(settings, settings["first"]))
    summary = committed("comparator-slopes")
    assert summary is not None
    with pytest.raises(AssertionError, match=r"a slice repeated: \['m500-c0.06'\]\['first'\]\[1\]"):
        assert_begins(summary, *slice_again(summary))


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
    other = replace(experiment, slice=(experiment.slice[0], {**experiment.slice[1], **changes}), others=())
    monkeypatch.setattr(lemmata.theorems.experiments, "load_experiments", lambda: {name: (chapter, other)})
    summary = committed(name)
    assert summary is not None
    again, kept = slice_again(summary)
    with pytest.raises(AssertionError, match=r"a slice repeated: \["):
        assert_begins(summary, again, kept)
