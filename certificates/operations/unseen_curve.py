"""The share of unseen cells that networks of nearly maximum margin get right, by size and number of missing cells.

    python -m lemmata.certificates.operations.unseen_curve DIR [NAME ...]

Two kinds of points, never mixed:

- *certified* ones count the committed verdicts of `lemmata.certificates.operations.unseen_survey`, where every set of
  so many cells has one: "right" means every network within epsilon of the maximum margin, with a certificate for each
  cell;
- *ascended* ones are experiments: for sets of missing cells drawn at random, a few networks are trained by ascent on
  the normalised margin of the given cells (`training.ascended_network`), and those within `NEAR` of the best one are
  asked. "right" means that each of these few is right at the cell: others may not be, and the maximum may be missed.

The command computes the ascended points, one file for each in DIR/rows, and DIR/unseen-curve.json; a second run
continues the first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.training import ascended_network
from lemmata.certificates.operations.unseen_survey import committed_verdicts, shares
from lemmata.certificates.operations.unseen_symmetry import true_labels
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Cell, Operation
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.rows import made_by, printed_rows, rows_document
from lemmata.numerics.runs.threads import one_thread

__all__ = ["CurvePoint", "ascended_point", "certified_points", "unseen_curve", "unseen_margins"]

FORMAT, VERSION = "lemmata/unseen-curve", 1
COMMITTED = Path(__file__).parent / "results" / "unseen-curve.json"
NEAR = 1e-3
"""How far, relatively, the margin of a network that is asked may be below the best one found."""
SETS, RUNS, SEED = 6, 2, 0
SIZES = range(4, 9)
MISSING = (1, 2, 3, 4, 6, 9, 12)
VERDICTS = ("right", "wrong", "both", "open")


@dataclass(frozen=True)
class CurvePoint:
    """The shares of each verdict among the missing cells of a table, over sets of so many missing cells.

    Attributes:
        table: its name, as `parse_operation` takes it.
        missing: cells that are not given, in every set.
        certified: whether the verdicts have certificates; otherwise they are what a few trained networks say.
        sets: all of them where certified, otherwise the number that was drawn.
        right, wrong, both, open: the shares, of sum 1; open is 0 by ascent.
    """

    table: str
    missing: int
    certified: bool
    sets: int
    right: Fraction
    wrong: Fraction
    both: Fraction
    open: Fraction


def unseen_margins(truth: Operation, given: Operation, network: OperationNetwork) -> dict[Cell, float]:
    """The least of f_y - f_c over labels c other than the true label y, at every unseen cell.

    Args:
        truth: the table with the true labels.
        given: the same table with fewer cells.
        network: any; the numbers are in units of its outputs.

    Raises:
        ValueError: for tables that do not belong together, and when no cell with a known label is unseen.
    """
    outputs: NDArray[Any] = network.outputs()
    found = {}
    for cell, label in true_labels(truth, given).items():
        others = np.delete(np.asarray(outputs[cell], float), label)
        found[cell] = float(outputs[cell][label]) - float(others.max())
    return found


def ascended_point(table: str, missing: int, *, sets: int = SETS, runs: int = RUNS, seed: int = SEED) -> CurvePoint:
    """What networks found by ascent say of the missing cells, for sets of cells drawn at random: an experiment.

    A cell is *right* (*wrong*) if every network of a margin within `NEAR` of the best one found is right (wrong) there,
    a tie counting as wrong, and *both* otherwise.

    Args:
        table: a name that `parse_operation` takes.
        missing: cells left out of each set.
        sets: drawn, each uniformly, independently.
        runs: of ascent for each set.
        seed: of the sets and the starts.

    Raises:
        ValueError: for numbers below 1, as many missing cells as the table has, and when no network that is right on
            the given cells is found.
    """
    truth = parse_operation(table)
    if sets < 1 or runs < 1:
        raise ValueError(f"At least one set and one run are needed, not {sets} and {runs}.")
    if not 1 <= missing < len(truth.cells):
        raise ValueError(f"From 1 to {len(truth.cells) - 1} of the cells of {table} may be missing, not {missing}.")
    rng = np.random.default_rng([seed, missing, truth.size])
    total = dict.fromkeys(VERDICTS, 0)
    for _ in range(sets):
        chosen = rng.choice(len(truth.cells), missing, replace=False)
        given = truth.without([truth.cells[i] for i in sorted(chosen)])
        networks = [ascended_network(given, starts=1, seed=int(rng.integers(2**31))) for _ in range(runs)]
        margins = [network.margin(given) for network in networks]
        if not max(margins) > 0:
            raise ValueError(f"Ascent found no network that is right on the given cells of {table}; take more runs.")
        near = [network for network, m in zip(networks, margins, strict=True) if m >= (1 - NEAR) * max(margins)]
        said = [unseen_margins(truth, given, network) for network in near]
        for cell in said[0]:
            right = {margin[cell] > 0 for margin in said}
            total["both" if len(right) == 2 else "right" if right == {True} else "wrong"] += 1
    return CurvePoint(table, missing, False, sets, *(Fraction(total[v], sets * missing) for v in VERDICTS))


def certified_points() -> tuple[CurvePoint, ...]:
    """The points whose every set of missing cells has a committed verdict for each cell, with certificates."""
    rows = committed_verdicts()["rows"]
    asked = dict.fromkeys((row["table"], len(row["missing"])) for row in rows)
    points = []
    for name, count in asked:
        if (found := shares(rows, name, count)) is not None:
            sets = comb(len(parse_operation(name).cells), count)
            points.append(CurvePoint(name, count, True, sets, *(found[verdict] for verdict in VERDICTS)))
    return tuple(points)


@cache
def unseen_curve() -> tuple[CurvePoint, ...]:
    """The committed points: the certified ones, then those by ascent, for addition modulo n = 4, ..., 8."""
    kept = json.loads(COMMITTED.read_text(encoding="ascii"))["rows"]
    return certified_points() + tuple(_point(row) for row in kept)


def _point(row: dict[str, Any]) -> CurvePoint:
    parts = (Fraction(row[verdict]) for verdict in VERDICTS)
    return CurvePoint(row["table"], row["missing"], False, row["sets"], *parts)


def curve_row(settings: dict[str, Any]) -> dict[str, Any]:
    """An ascended point as the committed file keeps it."""
    with one_thread():
        point = ascended_point(**settings)
    return settings | {verdict: str(getattr(point, verdict)) for verdict in VERDICTS}


def main(arguments: Sequence[str]) -> None:
    """The ascended points in a folder, of the tables that are named or of all."""
    folder, only = Path(arguments[0]), arguments[1:]
    settings = {
        f"add-{n}-{count}": {"table": f"op:add:{n}", "missing": count, "sets": SETS, "runs": RUNS, "seed": SEED}
        for n in SIZES
        for count in MISSING
        if count <= n * n // 2 and (not only or f"op:add:{n}" in only)
    }

    rows = printed_rows(curve_row, settings, folder / "rows")
    origin = made_by("python -m lemmata.certificates.operations.unseen_curve DIR", near=NEAR)
    write_atomically(rows_document(FORMAT, VERSION, origin, {"rows": rows}), folder / "unseen-curve.json")


if __name__ == "__main__":
    main(sys.argv[1:])
