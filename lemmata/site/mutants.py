"""The share of random mutants that tests kill, by room and over all (`tests/mutants`), and by chapter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lemmata.numerics.runs.confidence import Interval, proportion_interval
from lemmata.theorems.faults import DrawnFault, load_faults, tally
from lemmata.theorems.ledger import Ledger

__all__ = ["KILLED", "Row", "drawn_table", "everywhere_text", "mutants_table", "rows", "summary", "survivors_list"]

KILLED = ("killed", "timeout")
ALL = "all rooms"


@dataclass(frozen=True)
class Row:
    """A room: its places, the mutants drawn, and the share of them that was killed, first and afterwards.

    Attributes:
        timeouts: how many of the killed ones were killed by a time limit.
        equivalent: how many are argued to be equivalent; the second share leaves them out. None if nothing is left.
    """

    room: str
    places: int
    drawn: int
    timeouts: int
    equivalent: int
    first: Interval
    after: Interval | None


def rows(results: dict[str, Any]) -> list[Row]:
    """One row per room with mutants, in the order of the results; the last one is of all rooms together."""
    found = []
    places = results["places"]
    for name in [*places, ALL]:
        mutants = [one for one in results["mutants"] if name in (one["room"], ALL)]
        if not mutants:
            continue
        killed = [one for one in mutants if one["first"]["status"] in KILLED]
        later = [one for one in mutants if (one.get("later") or one["first"])["status"] in KILLED]
        equivalent = sum(bool(one.get("equivalent")) for one in mutants)
        left = len(mutants) - equivalent
        found.append(
            Row(
                name,
                sum(places.values()) if name == ALL else places[name],
                len(mutants),
                sum(one["first"]["status"] == "timeout" for one in mutants),
                equivalent,
                proportion_interval(len(killed), len(mutants)),
                proportion_interval(len(later), left) if left else None,
            )
        )
    return found


def summary(row: Row) -> str:
    """A row in one line."""
    later = ""
    if row.after is not None and row.after != row.first:
        later = f"; after tests were added, and without {row.equivalent} equivalent ones, {_share(row.after)}"
    return f"{_share(row.first)} of {row.drawn} mutants killed, at places drawn from {row.places}{later}"


def mutants_table(results: dict[str, Any]) -> str:
    """The rows as a table of Markdown."""
    lines = [
        "| room | places | drawn | killed | by time-out | equivalent | killed after tests were added |",
        "| --- | --: | --: | --- | --: | --: | --- |",
    ]
    for row in rows(results):
        after = "" if row.after is None else _share(row.after)
        cells = (row.room, row.places, row.drawn, _share(row.first), row.timeouts, row.equivalent, after)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def drawn_table(ledger: Ledger) -> str:
    """The faults drawn for the statements of each chapter, as a table of Markdown."""
    lines = [
        "| chapter | statements | drawn | seen by the statement's own tests on the day of the draw | "
        "today, without those that change nothing | seen by any test | change nothing | open |",
        "| --- | --: | --: | --- | --- | --- | --: | --: |",
    ]
    everything: list[DrawnFault] = []
    for chapter in ledger.chapters:
        found = None if chapter.folder is None else load_faults(chapter.folder)
        if found is not None:
            everything += found.faults
            lines.append(_drawn_row(f"`{chapter.name}`", found.faults))
    return "\n".join([*lines, _drawn_row("all", everything)])


def _drawn_row(name: str, faults: Sequence[DrawnFault]) -> str:
    counts = tally(faults)
    left = counts.drawn - counts.equivalent
    first = proportion_interval(sum(one.seen == "own" for one in faults), max(1, counts.drawn))
    shares = [_share(one) for one in (first, proportion_interval(counts.own, max(1, left)))]
    seen = _share(proportion_interval(counts.seen, max(1, left)))
    statements = len({one.statement for one in faults})
    cells = (name, statements, counts.drawn, *shares, seen, counts.equivalent, counts.open)
    return f"| {' | '.join(map(str, cells))} |"


def survivors_list(results: dict[str, Any]) -> str:
    """The mutants that are alive today, and those that are argued to be equivalent, as a list of Markdown."""
    lines = []
    for one in results["mutants"]:
        status = (one.get("later") or one["first"])["status"]
        if status not in KILLED:
            why = f": equivalent, {one['equivalent']}" if one.get("equivalent") else ""
            lines.append(f"- `{one['file']}`, line {one['line']}{why}\n\n{_change(one)}\n")
    return "\n".join(lines) or "None."


def everywhere_text(draws: Sequence[dict[str, Any]]) -> str:
    """The draws over all rooms (`tests/mutants/draws`), each with what was seen and what was not, as Markdown."""
    parts = []
    for draw in draws:
        mutants = draw["mutants"]
        count = Counter(one["first"]["status"] for one in mutants)
        share = _share(proportion_interval(count["killed"], len(mutants)))
        parts.append(
            f"Seed `{draw['seed'][:12]}`, {len(mutants)} of {draw['drawn']} faults run, in the "
            f"order of the draw; each met {draw['met']}. On the day {count['killed']} were seen, {share}, where "
            f"{100 * draw['criterion']:.0f} % were asked for beforehand; {count['timeout']} ran out of time and "
            f"{count['survived']} survived:\n"
        )
        parts += [
            f"- `{one['file']}`, line {one['line']}: {_today(one)}\n\n{_change(one)}\n"
            for one in mutants
            if one["first"]["status"] != "killed"
        ]
    return "\n".join(parts)


def _today(mutant: dict[str, Any]) -> str:
    """What became of a fault of a draw that was not seen."""
    first = "out of time" if mutant["first"]["status"] == "timeout" else "survived"
    if mutant.get("later"):
        return f"{first}; seen today by `{mutant['later']['by']}`"
    [kind] = [name for name in ("equivalent", "gone", "open") if mutant.get(name)]
    return f"{first}; {kind}: {mutant[kind]}"


def _change(mutant: dict[str, Any]) -> str:
    """The lines before and after, as a block of a list item."""
    sides = (("-", mutant["before"]), ("+", mutant["after"]))
    text = "\n".join(f"  {sign} {line.strip()}" for sign, part in sides for line in part.split("\n"))
    return f"  ```diff\n{text}\n  ```"


def _share(interval: Interval) -> str:
    """Per cent, never rounded in favour of the tests: the share and its lower end down, the upper end up."""
    down = [math.floor(100 * x + 1e-9) for x in (interval.estimate, interval.low)]
    return f"{down[0]} % [{down[1]}, {math.ceil(100 * interval.high - 1e-9)}]"
