"""Which sets of missing cells leave the maximum margin of an addition table as it is: committed verdicts, checked again.

    python -m lemmata.certificates.operations.forced_survey FILE

Every row is a group, given by the orders of its cyclic factors, and its missing cells, one set of each kind under the
maps (a, b) -> (t a + x, t b + y) and the exchange. Its verdict and what shows it:

- *forced*: integer weights of triangles; by ext-T11 every network of maximum margin on the given cells has the whole
  margin in all cells;
- *larger*: the maximum margin on the given cells is larger than that of the whole table. Either a combination of the
  conditions of ext-T8 that no weights can meet, or a network with a larger margin;
- *undecided*: neither was found.

`checked_row` needs no solver.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from itertools import combinations
from math import gcd, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.columns import best_network, integer_network
from lemmata.certificates.operations.document import lower_margin
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.triangle_weights import (
    TriangleConditions,
    conditions_met,
    contradiction,
    contradicts,
    exact_weights,
    near_weights,
    triangle_conditions,
)
from lemmata.certificates.operations.wave_form import only_waves
from lemmata.certificates.operations.wave_networks import margins_decide
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from lemmata.numerics.runs.files import write_atomically

__all__ = ["checked_row", "committed_forced", "cyclic_kinds", "larger_margin", "settings"]

FORMAT, VERSION = "lemmata/forced-survey", 1
COMMITTED = Path(__file__).parent / "results" / "forced.json"
BITS = 16
"""Of the entries of a network."""
ROUNDS = 60
"""Of the search for it."""

Cells = tuple[tuple[int, int], ...]

ONE_MISSING = ((9,), (3, 3), (15,), (21,), (27,), (3, 9))
MORE_MISSING = ((7, 2), (7, 3), (9, 2), (11, 2), (13, 2))


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
        orbit = {
            tuple(sorted(((a + x) % n, (b + y) % n) for a, b in one))
            for one in turned
            for x in range(n)
            for y in range(n)
        }
        found[chosen] = len(orbit)
        seen |= {one for one in orbit if one[0] == cells[0]}
    return found


def settings() -> list[tuple[tuple[int, ...], Cells]]:
    """The group and the missing cells of every row."""
    one = [(orders, ((0, 0),)) for orders in ONE_MISSING]
    return one + [((n,), cells) for n, count in MORE_MISSING for cells in cyclic_kinds(n, count)]


def survey_row(orders: tuple[int, ...], missing: Cells) -> dict[str, Any]:
    """The verdict of one row, with what shows it."""
    conditions = triangle_conditions(orders, missing)
    row: dict[str, Any] = {"orders": list(orders), "missing": [list(cell) for cell in missing]}
    if (combination := contradiction(conditions)) is not None:
        return row | {"verdict": "larger", "combination": combination.tolist()}
    weights = exact_weights(conditions)
    if weights is not None and only_waves(orders, weights) and margins_decide(orders, weights):
        places = np.unique(conditions.orbit, return_index=True)[1][1:]  # the first is that of -1
        return row | {"verdict": "forced", "weights": weights.ravel()[places].tolist()}
    network = _network(conditions) if len(orders) == 1 else None
    return row | ({"verdict": "undecided"} if network is None else {"verdict": "larger", "network": network})


def checked_row(row: dict[str, Any]) -> str:
    """The verdict of a row if what it holds shows it; without a solver.

    Raises:
        ValueError: if it does not.
    """
    orders, missing = tuple(row["orders"]), tuple((a, b) for a, b in row["missing"])
    conditions = triangle_conditions(orders, missing)
    if row["verdict"] == "forced":
        weights = conditions.spread(np.array(row["weights"], np.int64))
        shown = (
            conditions_met(orders, weights, missing) and only_waves(orders, weights) and margins_decide(orders, weights)
        )
    elif "combination" in row:
        shown = contradicts(conditions, np.array(row["combination"], np.int64))
    elif "network" in row:
        shown = larger_margin(orders[0], missing, row["network"])
    else:
        shown = row["verdict"] == "undecided"
    if not shown:
        raise ValueError(f"The row of {orders} without {missing} does not show its verdict {row['verdict']}.")
    return row["verdict"]


def larger_margin(n: int, missing: Cells, network: dict[str, Any]) -> bool:
    """Whether a network of integers has a larger margin on the given cells than the maximum on all, exactly.

    Args:
        n: the table is addition modulo n, n odd.
        missing: its cells that are not given.
        network: "neurons", lists of the n entries of u, of v and of w, and "masses", all integers.

    Raises:
        ValueError: as `OperationNetwork` and `lower_margin`.
    """
    neurons = np.array(network["neurons"], object)
    masses = np.array([Fraction(p) for p in network["masses"]], object)
    given = named_operation("a+b", n).without(list(missing))
    least = lower_margin(given, OperationNetwork(neurons[:, :n], neurons[:, n : 2 * n], neurons[:, 2 * n :], masses))
    return least**2 > Fraction(2, 27 * n * (n - 1) ** 2)


def _network(conditions: TriangleConditions) -> dict[str, Any] | None:
    """A network of integers with a larger margin on the given cells than the whole table has; None without one."""
    n = conditions.orders[0]
    given = named_operation("a+b", n).without(list(conditions.missing))
    near = near_weights(conditions)
    start: NDArray[Any] | None = None
    if near is not None:
        weights = conditions.spread(np.maximum(near, 0))
        start = np.array([weights[a, b, (c - a - b) % n] for a, b, c in given.triples])
    found = best_network(given, start_q=start, symmetries=operation_symmetries(given).listable(), rounds=ROUNDS)
    exact = integer_network(found, BITS)
    top = max(exact.masses)
    masses = [int(p * 2**BITS / top) for p in exact.masses]
    parts = np.concatenate([exact.u, exact.v, exact.w], axis=1)
    kept = [i for i, p in enumerate(masses) if p > 0]
    network = {"neurons": [[int(x) for x in parts[i]] for i in kept], "masses": [masses[i] for i in kept]}
    return network if larger_margin(n, conditions.missing, network) else None


@cache
def committed_forced() -> dict[str, Any]:
    """The survey that comes with this toolkit: ``origin``, how it was made, and ``rows``."""
    return json.loads(COMMITTED.read_text(encoding="ascii"))


def main(arguments: Sequence[str]) -> None:
    """Make the survey and write it to a file."""
    entries = []
    for orders, missing in settings():
        entries.append(survey_row(orders, missing))
        print(prod(orders), missing, entries[-1]["verdict"], flush=True)
    origin = {
        "command": "python -m lemmata.certificates.operations.forced_survey FILE",
        "lemmata": version("lemmata"),
        "python": platform.python_version(),
        "date": str(date.today()),
    }
    lines = ",\n".join("  " + json.dumps(entry, separators=(",", ":")) for entry in entries)
    head = json.dumps({"format": FORMAT, "version": VERSION, "origin": origin}, indent=1)[:-2]
    write_atomically(f'{head},\n "rows": [\n{lines}\n ]\n}}\n'.encode("ascii"), Path(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
