"""Experiments of the documents, repeated: what is run, what is measured, and what counts as reproduced.

A chapter lists its experiments as ``EXPERIMENTS`` in `theorems/<chapter>/experiments.py`. Each has settings for two
scales ("full", minutes, for which the criteria are meant; "quick", seconds, to try it out), a function that does one
item (usually one seed), and a function that turns the results into numbers with confidence intervals and into criteria,
each met or not. The criteria are written down before the runs that they judge. A figure is "reproduced" if all criteria
that name it are met, "partly" if some are, and "not reproduced" if none is.

`results/<name>.json` in the folder of a chapter is the committed summary of a run at full scale, with the results of
all items, so that `recomputed` can judge it again, and with its origin: version, commit, date and a fingerprint of the
code that made it. A manifest beside it has hashes of all that the run gave (`lemmata.theorems.manifests`).

`slice_again` repeats slices of items, a second or so each, at the first, the last and a middle one of the seeds, which
must be part of what is committed: bit for bit, or, where rounding depends on the processor, to the `rounding` of the
experiment. Quick tests repeat the last slice, which has not the first seed alone. Where the code has changed since,
`repeat` runs all slices and writes beside the origin that they came out again, and with which code: a result that
neither names is stale (`is_current`).
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from lemmata.numerics.runs.comparison import close_calls, first_difference
from lemmata.numerics.runs.definitions import fingerprint, uses
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.items import Done, run
from lemmata.theorems.ledger import THEOREMS, catalogue_ids
from lemmata.theorems.manifests import assert_as_run
from lemmata.theorems.origin import commit, origin

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
    "is_current",
    "load_experiments",
    "place_of",
    "recomputed",
    "repeat",
    "run_experiment",
    "seeds_of",
    "slice_again",
    "verdict",
    "write_summary",
]

Scale = Literal["quick", "full"]
Verdict = Literal["reproduced", "partly", "not reproduced"]
Json = Any
Summary = dict[str, Any]
Slice = tuple[str, Mapping[str, Json]]

SCALES: tuple[Scale, ...] = get_args(Scale)
PACKAGES = ("lemmata.numerics", "lemmata.constructions", "lemmata.certificates", "lemmata.theorems")
"""The packages whose code a fingerprint covers."""
SEEDS = ("seeds", "trials", "seed", "first")
"""The names of the setting that holds the seeds of an item: a list of them, or one."""


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
            takes a second or so and gives a part of that item's result: its beginning, and of lists with an entry for
            each seed the entries of those that are left.
        others: more slices, at other seeds. Together they have the first and the last seed of the experiment, and one
            in between.
        unrepeated: which of these they lack, and why: what is fragile on other processors, or takes too long.
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
    slice: Slice
    others: tuple[Slice, ...] = ()
    unrepeated: str = ""
    rounding: float = 0.0

    def __post_init__(self) -> None:
        unknown = [statement for statement in self.statements if statement not in catalogue_ids()]
        if unknown or not self.statements:
            raise ValueError(f"The experiment {self.name} is about {unknown or 'nothing'}, which the ledger lacks.")
        if set(self.scales) != set(SCALES) or not all(self.scales.values()):
            raise ValueError(f"The experiment {self.name} needs items for each of the scales {' and '.join(SCALES)}.")
        for key, changes in self.slices:
            if key not in self.scales["full"] or not set(changes) <= set(self.scales["full"][key]):
                raise ValueError(
                    f"The slice of {self.name} needs an item of the full scale and settings of it, not {key}."
                )
        if not 0 <= self.rounding <= 0.01:
            raise ValueError(f"Rounding errors of {self.name} are between 0 and a hundredth, not {self.rounding}.")

    @property
    def slices(self) -> tuple[Slice, ...]:
        """All slices that are repeated."""
        return (self.slice, *self.others)


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


def seeds_of(settings: Mapping[str, Json]) -> list[int]:
    """The seeds of an item, as its settings name them; none where they name none."""
    found = next((settings[name] for name in SEEDS if name in settings), [])
    return list(found) if isinstance(found, list) else [found]


def slice_again(summary: Summary, *, every: bool = False) -> tuple[Json, Json]:
    """The last slice of an experiment, or all, repeated now, and those parts of a summary that must be their like.

    Returns:
        Two dictionaries by slice: what comes out now, and the committed result of its item, where lists that have an
        entry for each seed have those of the repeated seeds alone: what comes out now must be its beginning.

    Raises:
        ValueError: if the summary has not the item of a slice.
        AssertionError: if a slice has no number, which would be the beginning of every result.
    """
    _, experiment = find_experiment(summary["experiment"])
    again, kept = {}, {}
    for key, changes in experiment.slices if every else experiment.slices[-1:]:
        if key not in summary["items"]:
            raise ValueError(f"The summary of {experiment.name} has no item {key}, of which the slice is repeated.")
        settings, whole = summary["items"][key]["settings"], summary["items"][key]["result"]
        part = json.loads(json.dumps(experiment.work({**settings, **changes})))
        assert _has_number(part), f"{experiment.name}, a slice repeated: {key} with {changes} has no number."
        for name in changes:
            whole = _entries(part, whole, *_places(name, settings, changes))
        label = f"{key}, {json.dumps(changes)}" if key in again else key
        again[label], kept[label] = part, whole
    return again, kept


def _places(name: str, settings: Mapping[str, Json], changes: Mapping[str, Json]) -> tuple[int, list[int]]:
    """How many values a setting of an item has, and which of these a slice repeats: of a list, or of ``runs``, the
    number of seeds from ``seed`` on."""
    before, after = settings[name], changes[name]
    if isinstance(before, list) and isinstance(after, list) and set(after) <= set(before):
        return len(before), [before.index(one) for one in after]
    if name == "seed" and "runs" in changes:
        ahead = changes["seed"] - settings["seed"]
        return settings["runs"], [ahead + run for run in range(changes["runs"])]
    return 0, []


def _entries(part: Json, whole: Json, count: int, places: list[int]) -> Json:
    """A result with the entries at some places, in the outermost lists that have so many where a part has as many."""
    if places == list(range(len(places))):
        return whole  # it begins with them
    if isinstance(part, dict) and isinstance(whole, dict):
        return {key: _entries(part.get(key), value, count, places) for key, value in whole.items()}
    if not isinstance(part, list) or not isinstance(whole, list):
        return whole
    if len(whole) == count and len(part) == len(places):
        return [whole[place] for place in places]
    like = [*part, *part[-1:] * len(whole)]  # what is not repeated is as deep as what is
    return [_entries(first, second, count, places) for first, second in zip(like, whole, strict=False)]


def assert_begins(summary: Summary, part: Json, whole: Json) -> None:
    """A result, computed now, is the beginning of a committed one: see `Experiment.rounding`.

    Args:
        summary: of the experiment that both are results of.
        part: what was computed now; its lists may be shorter, and its dictionaries have fewer keys.
        whole: the committed result, or the entries of it that `slice_again` gives.

    Raises:
        AssertionError: if not, with the first difference; and for a part without a number, which begins every result.
    """
    _, experiment = find_experiment(summary["experiment"])
    assert _has_number(part), f"{experiment.name}, a slice repeated: it has no number."
    difference = first_difference(part, whole, experiment.rounding, begins=True)
    assert difference is None, f"{experiment.name}, a slice repeated: {difference}."


def is_current(summary: Summary) -> bool:
    """Whether the code of today made a result, or repeated its slices, which came out as committed.

    Fingerprints are compared, which are those of a minor version of Python.
    """
    _, experiment = find_experiment(summary["experiment"])
    made = summary["origin"]
    return code_of(experiment) in (made["code"], made.get("again", {}).get("code"))


def repeat(summary: Summary) -> Summary:
    """Repeat the slices of a result; the summary with a record of it in its origin, in the place of an older one.

    Raises:
        ValueError: outside a checkout, and if files with the code differ from the commit, which the record names.
        AssertionError: as `assert_begins`: a slice does not come out as committed; or as `assert_as_run`: what is
            committed is not what the run gave.
    """
    _, experiment = find_experiment(summary["experiment"])
    root = THEOREMS.parent
    used = uses(Path(inspect.getfile(experiment.work)), experiment.work.__name__, PACKAGES).definitions
    made = origin(root) | {"commit": commit(root, sorted({path.resolve() for path, _ in used}))}
    if made["commit"] is None or len(made["commit"]) != 40:
        raise ValueError(f"Commit the code of {experiment.name} first: the record of its slices names a commit.")
    again, kept = slice_again(summary, every=True)
    assert_begins(summary, again, kept)
    assert_as_run(summary, place_of(experiment.name))
    record = {
        "code": code_of(experiment),
        "commit": made["commit"],
        "date": made["date"],
        "python": made["python"],
        "slices": [[key, dict(changes)] for key, changes in experiment.slices],
    }
    return {**summary, "origin": {**summary["origin"], "again": record}}


def _has_number(value: Json) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _summary(
    experiment: Experiment,
    scale: str,
    settings: Mapping[str, Json],
    results: Mapping[str, Json],
    made: Mapping[str, Json],
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


def place_of(name: str) -> Path:
    """The file of the committed summary of an experiment, whether it is there or not.

    Raises:
        ValueError: if there is no such experiment.
    """
    chapter, _ = find_experiment(name)
    return THEOREMS / chapter / "results" / f"{name}.json"


def committed(name: str) -> Summary | None:
    """The committed summary of an experiment, or None if there is none yet.

    Raises:
        ValueError: if there is no such experiment.
    """
    path = place_of(name)
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
