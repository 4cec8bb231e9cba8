"""Experiments of the documents, repeated: what is run, what is measured, and what counts as reproduced.

A chapter lists its experiments as ``EXPERIMENTS`` in `theorems/<chapter>/experiments.py`. Each has settings for two
scales ("full", minutes, for which the criteria are meant; "quick", seconds, to try it out), a function that does one
item (usually one seed), and a function that turns the results into numbers with confidence intervals and into criteria,
each met or not. The criteria are written down before the runs that they judge. A figure is "reproduced" if all criteria
that name it are met, "partly" if some are, and "not reproduced" if none is.

`results/<name>.json` in the folder of a chapter is the committed summary of a run at full scale, with the results of
all items, so that `recomputed` can judge it again, and with its origin: version, commit, date and a fingerprint of the
code that made it. `slice_again` repeats a slice of one item, a second or so, which must be the beginning of what is
committed: bit for bit, or, where rounding depends on the processor, to the `rounding` of the experiment.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from lemmata.numerics.runs.comparison import close_calls, first_difference
from lemmata.numerics.runs.definitions import fingerprint
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.items import Done, run
from lemmata.theorems.ledger import THEOREMS, catalogue_ids
from lemmata.theorems.origin import origin

__all__ = [
    "SCALES",
    "Criterion",
    "Experiment",
    "Findings",
    "assert_begins",
    "assert_follows",
    "assert_met",
    "code_of",
    "committed",
    "committed_results",
    "find_experiment",
    "load_experiments",
    "recomputed",
    "run_experiment",
    "slice_again",
    "verdict",
    "write_summary",
]

Scale = Literal["quick", "full"]
Verdict = Literal["reproduced", "partly", "not reproduced"]
Json = Any
Summary = dict[str, Any]

SCALES: tuple[Scale, ...] = get_args(Scale)
PACKAGES = ("lemmata.numerics", "lemmata.constructions", "lemmata.certificates", "lemmata.theorems")
"""The packages whose code a fingerprint covers."""


@dataclass(frozen=True)
class Criterion:
    """One claim of a statement as the experiment reads it, with its threshold, and whether the runs met it.

    Floats with rounding errors are compared by `below` and `above` of `lemmata.numerics.runs.comparison`: within the
    tolerance of its threshold a number does not meet its criterion, and the summary lists the comparison as
    ``undecided``.
    """

    statement: str
    text: str
    met: bool


@dataclass(frozen=True)
class Findings:
    """What the results say: ``numbers`` (JSON, with confidence intervals and sample sizes) and the criteria."""

    numbers: Mapping[str, Json]
    criteria: tuple[Criterion, ...]


@dataclass(frozen=True)
class Experiment:
    """An experiment about one or more statements of the ledger.

    Attributes:
        name: lower-case words joined by hyphens, unique among all chapters.
        statements: the ids that it is about; its criteria name these and no others.
        title: one line.
        scales: the settings of every item by key, as `lemmata.numerics.runs.items.run` takes them, for "quick" and
            "full".
        work: does one item: settings to result, both JSON; at the top level of a module. Results are committed: keep
            them to a few hundred numbers, with five significant digits.
        summarise: (settings, results) of all items, by key, to findings; a pure function, which is called again on
            the committed results.
        slice: the key of an item of the full scale, and changed settings (fewer seeds, fewer steps) with which ``work``
            takes a second or so and gives the beginning of that item's result.
        rounding: how far floats of a repeated slice may lie apart, relative to the larger. 0 is bit for bit, for
            compiled loops without BLAS and for counts; whatever else it is has its derivation beside it, and the slice
            is so short that training does not amplify rounding errors beyond it. Integers agree exactly.

    Raises:
        ValueError: for a statement that is not in the ledger, a scale that is missing or unknown, a slice of an item
            that does not exist or of settings that it has not, or a rounding outside [0, 0.01].
    """

    name: str
    statements: tuple[str, ...]
    title: str
    scales: Mapping[str, Mapping[str, Json]]
    work: Callable[[Any], Json]
    summarise: Callable[[Mapping[str, Json], Mapping[str, Json]], Findings]
    slice: tuple[str, Mapping[str, Json]]
    rounding: float = 0.0

    def __post_init__(self) -> None:
        unknown = [statement for statement in self.statements if statement not in catalogue_ids()]
        if unknown or not self.statements:
            raise ValueError(f"The experiment {self.name} is about {unknown or 'nothing'}, which the ledger lacks.")
        if set(self.scales) != set(SCALES) or not all(self.scales.values()):
            raise ValueError(f"The experiment {self.name} needs items for each of the scales {' and '.join(SCALES)}.")
        key, changes = self.slice
        if key not in self.scales["full"] or not set(changes) <= set(self.scales["full"][key]):
            raise ValueError(f"The slice of {self.name} needs an item of the full scale and settings of it, not {key}.")
        if not 0 <= self.rounding <= 0.01:
            raise ValueError(f"Rounding errors of {self.name} are between 0 and a hundredth, not {self.rounding}.")


def load_experiments() -> dict[str, tuple[str, Experiment]]:
    """All experiments by name, each with the folder name of its chapter.

    Raises:
        ValueError: if two experiments have one name.
    """
    found: dict[str, tuple[str, Experiment]] = {}
    for path in sorted(THEOREMS.glob("*/experiments/__init__.py")):
        chapter = path.parents[1].name
        for experiment in importlib.import_module(f"lemmata.theorems.{chapter}.experiments").EXPERIMENTS:
            if experiment.name in found:
                raise ValueError(f"There are two experiments of the name {experiment.name}.")
            found[experiment.name] = (chapter, experiment)
    return found


def find_experiment(name: str) -> tuple[str, Experiment]:
    """The chapter and the experiment of a name.

    Raises:
        ValueError: if there is none; the message names all.
    """
    experiments = load_experiments()
    if name not in experiments:
        raise ValueError(
            f"There is no experiment {name!r}; the experiments are {', '.join(experiments) or 'none yet'}."
        )
    return experiments[name]


def run_experiment(
    experiment: Experiment,
    scale: str = "quick",
    folder: Path | None = None,
    executor: Executor | None = None,
    on_done: Callable[[Done], None] | None = None,
) -> Summary:
    """Run all items of a scale, as `lemmata.numerics.runs.items.run` does, and return the summary.

    Raises:
        ValueError: for an unknown scale.
        FailedItemsError: if items failed.
    """
    if scale not in SCALES:
        raise ValueError(f"There is no scale {scale!r}: the scales are {' and '.join(SCALES)}.")
    settings = experiment.scales[scale]
    code = code_of(experiment)
    results = run(experiment.work, settings, folder, executor, on_done, code)
    plain = json.loads(json.dumps(dict(settings)))
    return _summary(experiment, scale, plain, results, {**origin(THEOREMS.parent), "code": code})


def code_of(experiment: Experiment) -> str:
    """The fingerprint of the code that does the items of an experiment."""
    return fingerprint(experiment.work, PACKAGES)


def slice_again(summary: Summary) -> tuple[Json, Json]:
    """The slice of an experiment, repeated now, and the result of its item in a summary, which it must begin.

    Raises:
        ValueError: if the summary has not the item of the slice.
    """
    _, experiment = find_experiment(summary["experiment"])
    key, changes = experiment.slice
    if key not in summary["items"]:
        raise ValueError(f"The summary of {experiment.name} has no item {key}, of which the slice is repeated.")
    item = summary["items"][key]
    return json.loads(json.dumps(experiment.work({**item["settings"], **changes}))), item["result"]


def assert_begins(summary: Summary, part: Json, whole: Json) -> None:
    """A result, computed now, is the beginning of a committed one: see `Experiment.rounding`.

    Args:
        summary: of the experiment that both are results of.
        part: what was computed now; its lists may be shorter, and its dictionaries have fewer keys.
        whole: the committed result.

    Raises:
        AssertionError: if not, with the first difference; and for a part without a number, which begins every result.
    """
    _, experiment = find_experiment(summary["experiment"])
    assert _has_number(part), f"{experiment.name}, a slice repeated: it has no number."
    difference = first_difference(part, whole, experiment.rounding, begins=True)
    assert difference is None, f"{experiment.name}, a slice repeated: {difference}."


def _has_number(value: Json) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _summary(
    experiment: Experiment,
    scale: str,
    settings: Mapping[str, Json],
    results: Mapping[str, Json],
    made: Mapping[str, str | None],
) -> Summary:
    with close_calls() as undecided:
        findings = experiment.summarise(settings, results)
    named = {criterion.statement for criterion in findings.criteria}
    if named != set(experiment.statements):
        raise ValueError(f"The criteria of {experiment.name} are about {sorted(named)}, not {experiment.statements}.")
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "scale": scale,
        "command": f"lemmata experiment run {experiment.name} --scale {scale}",
        "origin": dict(made),
        "verdicts": {statement: verdict(findings, statement) for statement in experiment.statements},
        "criteria": [{"statement": c.statement, "text": c.text, "met": bool(c.met)} for c in findings.criteria],
        **({"undecided": list(undecided)} if undecided else {}),
        "numbers": json.loads(json.dumps(dict(findings.numbers), allow_nan=False)),
        "items": {key: {"settings": settings[key], "result": results[key]} for key in settings},
    }


def verdict(findings: Findings, statement: str) -> Verdict:
    """ "reproduced" if all criteria that name the statement are met, "partly" if some are, else "not reproduced"."""
    met = [criterion.met for criterion in findings.criteria if criterion.statement == statement]
    if all(met):
        return "reproduced"
    return "partly" if any(met) else "not reproduced"


def write_summary(summary: Summary, path: Path) -> None:
    """Write a summary as readable JSON: a line for each number, criterion and item; never half written."""
    lines = []
    for name, value in summary.items():
        if isinstance(value, dict):
            inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(entry)}" for key, entry in value.items())
            lines.append(f" {json.dumps(name)}: {{\n{inner}\n }}")
        elif isinstance(value, list):
            inner = ",\n".join(f"  {json.dumps(entry)}" for entry in value)
            lines.append(f" {json.dumps(name)}: [\n{inner}\n ]")
        else:
            lines.append(f" {json.dumps(name)}: {json.dumps(value)}")
    write_atomically(("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8"), path)


def committed(name: str) -> Summary | None:
    """The committed summary of an experiment, or None if there is none yet.

    Raises:
        ValueError: if there is no such experiment.
    """
    chapter, _ = find_experiment(name)
    path = THEOREMS / chapter / "results" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def committed_results(experiment: Experiment) -> Summary:
    """The committed summary of an experiment.

    Raises:
        AssertionError: if there is none yet.
    """
    summary = committed(experiment.name)
    assert summary is not None, f"There are no committed results of {experiment.name}."
    return summary


def assert_met(summary: Summary, *beginnings: str, statement: str | None = None) -> None:
    """The criteria (of one statement, if it is given) that begin so are met, one or more for each beginning.

    Raises:
        AssertionError: if one is not, or there is none with a beginning.
    """
    for beginning in beginnings:
        found = [
            criterion["met"]
            for criterion in summary["criteria"]
            if statement in (None, criterion["statement"]) and criterion["text"].startswith(beginning)
        ]
        assert found, f"{summary['experiment']} has no criterion{f' on {statement}' if statement else ''}: {beginning}"
        assert all(found), f"not met: {beginning}"


def assert_follows(summary: Summary) -> None:
    """The numbers, criteria and verdicts of a summary follow from its items: floats to `comparison.ROUNDING`.

    Raises:
        AssertionError: if not; it names the first difference.
        ValueError: as `recomputed`.
    """
    difference = first_difference(recomputed(summary), summary)
    assert difference is None, f"{summary['experiment']}, computed again from its items: {difference}."


def recomputed(summary: Summary) -> Summary:
    """The summary that follows from the items of a summary, as the code judges them now.

    Raises:
        ValueError: if the items are not those of the scale, with the settings that the code has now.
    """
    _, experiment = find_experiment(summary["experiment"])
    items = summary["items"]
    settings = {key: item["settings"] for key, item in items.items()}
    if settings != json.loads(json.dumps(dict(experiment.scales[summary["scale"]]))):
        raise ValueError(f"The items of {experiment.name} do not have the settings of the scale {summary['scale']}.")
    results = {key: item["result"] for key, item in items.items()}
    return _summary(experiment, summary["scale"], settings, results, summary["origin"])
