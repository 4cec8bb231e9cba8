"""Which sets of missing cells leave the maximum margin of an addition table as it is: verdicts that can be checked.

    python -m lemmata.certificates.operations.forced_survey DIR

Every row is a group, given by the orders of its cyclic factors, and its missing cells, one set of each kind under the
maps (a, b) -> (t a + x, t b + y) and the exchange. Its verdict and what shows it:

- *forced*: weights of triangles, integers, for even orders with the integers "roots" times sqrt(2); by ext-T11 or
  ext-T15 every network of maximum margin on the given cells has the whole margin in all cells;
- *larger*: the maximum margin on the given cells is larger than that of the whole table: integers that contradict
  what weights of triangles would have to meet;
- *undecided*: neither was found.

`checked_row` needs no solver.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np

from lemmata.certificates.operations.root_weights import RootWeights, exact_root_weights
from lemmata.certificates.operations.triangle_contradictions import Contradiction, contradiction, contradicts
from lemmata.certificates.operations.triangle_weights import (
    conditions_met,
    exact_weights,
    triangle_conditions,
)
from lemmata.certificates.operations.wave_form import only_waves
from lemmata.certificates.operations.wave_networks import margins_decide
from lemmata.numerics.runs.files import write_atomically
from lemmata.numerics.runs.rows import made_by, printed_rows, rows_document

__all__ = ["checked_row", "committed_forced", "cyclic_kinds", "settings"]

FORMAT, VERSION = "lemmata/forced-survey", 1
COMMITTED = Path(__file__).parent / "results" / "forced.json"
Cells = tuple[tuple[int, int], ...]

ONE_MISSING = ((9,), (3, 3), (15,), (21,))
MORE_MISSING = ((9, 2), (11, 2), (13, 2), (7, 2), (7, 3))
ONE_MISSING_EVEN = ((4,), (6,), (8,), (2, 4), (10,), (12,), (2, 6), (14,), (16,), (2, 8), (4, 4), (2, 2, 4))
MORE_MISSING_EVEN = ((8, 2), (10, 2))


def cyclic_kinds(n: int, count: int) -> dict[Cells, int]:
    """Sets of ``count`` cells of the table of addition modulo n, one of each kind, and how many are of its kind."""
    cells = [(a, b) for a in range(n) for b in range(n)]
    units = [t for t in range(1, n) if gcd(t, n) == 1]
    found: dict[Cells, int] = {}
    seen: set[Cells] = set()
    for rest in combinations(cells[1:], count - 1):  # every set has a translate with (0, 0)
        chosen = (cells[0], *rest)
        if chosen in seen:
            continue
        turned = {
            tuple(sorted((t * pair[i] % n, t * pair[1 - i] % n) for pair in chosen)) for t in units for i in (0, 1)
        }
        orbit = {tuple(sorted(((a + x) % n, (b + y) % n) for a, b in one)) for one in turned for x, y in cells}
        found[chosen] = len(orbit)
        seen |= {one for one in orbit if one[0] == cells[0]}
    return found


def settings() -> dict[str, dict[str, Any]]:
    """The settings of every row by its key: the orders of a group and its missing cells."""
    found: dict[str, tuple[tuple[int, ...], Cells]] = {}
    for one, more in ((ONE_MISSING, MORE_MISSING), (ONE_MISSING_EVEN, MORE_MISSING_EVEN)):
        found |= {"-".join(map(str, orders)) + "-1-0": (orders, ((0, 0),)) for orders in one}
        for n, count in more:
            found |= {f"{n}-{count}-{i}": ((n,), cells) for i, cells in enumerate(cyclic_kinds(n, count))}
    return {
        key: {"orders": list(orders), "missing": [list(cell) for cell in cells]}
        for key, (orders, cells) in found.items()
    }


def survey_row(settings: dict[str, Any]) -> dict[str, Any]:
    """The verdict of one row, with what shows it."""
    orders, missing = _read(settings)
    conditions = triangle_conditions(orders, missing)
    if conditions.doubled.all():
        weights = exact_weights(conditions)
        if weights is not None and only_waves(orders, weights) and margins_decide(orders, weights):
            places = np.unique(conditions.orbit, return_index=True)[1][1:]  # the first is that of -1
            return settings | {"verdict": "forced", "weights": weights.ravel()[places].tolist()}
    else:
        both = exact_root_weights(conditions)
        if both is not None and only_waves(orders, both.balls()) and margins_decide(orders, both.support()):
            return settings | {"verdict": "forced", "weights": both.whole.tolist(), "roots": both.root.tolist()}
    if (found := contradiction(conditions)) is not None:
        parts = {name: getattr(found, name).tolist() for name in ("combination", "neurons", "shares")}
        return settings | {"verdict": "larger"} | parts
    return settings | {"verdict": "undecided"}


def _read(row: dict[str, Any]) -> tuple[tuple[int, ...], Cells]:
    return tuple(row["orders"]), tuple((a, b) for a, b in row["missing"])


def checked_row(row: dict[str, Any]) -> str:
    """The verdict of a row if what it holds shows it; without a solver.

    Raises:
        ValueError: if it does not.
    """
    orders, missing = _read(row)
    conditions = triangle_conditions(orders, missing)
    if row["verdict"] == "forced" and "roots" in row:
        both = RootWeights(conditions, np.array(row["weights"], object), np.array(row["roots"], object))
        shown = both.met() and only_waves(orders, both.balls()) and margins_decide(orders, both.support())
    elif row["verdict"] == "forced":
        weights = conditions.spread(np.array(row["weights"], np.int64))
        shown = (
            conditions_met(orders, weights, missing) and only_waves(orders, weights) and margins_decide(orders, weights)
        )
    elif row["verdict"] == "larger":
        neurons = np.array(row["neurons"], np.int64).reshape(-1, 3, len(conditions.orbit))
        found = Contradiction(np.array(row["combination"], np.int64), neurons, np.array(row["shares"], np.int64))
        shown = contradicts(conditions, found)
    else:
        shown = row["verdict"] == "undecided"
    if not shown:
        raise ValueError(f"The row of {orders} without {missing} does not show its verdict {row['verdict']}.")
    return row["verdict"]


@cache
def committed_forced() -> dict[str, Any]:
    """The survey that comes with this toolkit: ``origin``, how it was made, and ``rows``."""
    return json.loads(COMMITTED.read_text(encoding="ascii"))


def main(arguments: Sequence[str]) -> None:
    """All rows in a folder; a second run continues the first."""
    folder = Path(arguments[0])

    rows = printed_rows(survey_row, settings(), folder / "rows")
    origin = made_by("python -m lemmata.certificates.operations.forced_survey DIR")
    write_atomically(rows_document(FORMAT, VERSION, origin, {"rows": rows}), folder / "forced.json")


if __name__ == "__main__":
    main(sys.argv[1:])
