"""One item of the experiments of this chapter: one seeded run of `lemmata.numerics.margins.group_descent`, as JSON.

The settings name the group ("Z71", "S4"), activation, width, penalty (kind and size), scale (the standard deviation of
the normal weights at the start, which the dissertation does not print), rate, doublings (the steps at which it
doubles), steps, record_at, batch (None for all pairs), precision and seed.

A record has the step, the objective over all pairs, the share of right answers, the normalised L_{2,3} margin in units
of gamma* (quadratic networks; in double precision), and, for the neurons that carry a thousandth of the mean of
||omega||^3 or more: how many they are, how many of them have their largest power in each representation (each
frequency, for a cyclic group), their shares of the mass by it, and the least, the 10th percentile and the median of the
largest power of u, and the least of the largest powers of u, v and w. "all" has the median of u over all neurons.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.characters.families import symmetric_characters
from lemmata.certificates.game.closed_form import closed_form_margin
from lemmata.certificates.game.margin_game import MarginGame
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.fourier.cyclic import folded_power
from lemmata.numerics.groups.tables import FiniteGroup, cyclic, symmetric
from lemmata.numerics.margins.descent import doubling_rate
from lemmata.numerics.margins.evaluation import group_margins
from lemmata.numerics.margins.group_descent import GroupWeights, group_gradient, train_on_group

__all__ = ["CARRYING", "LAST_DIGIT", "group_named", "largest_margin", "representation_powers", "trained_group"]

CARRYING = 1e-3
"""A neuron carries mass if its ||omega||^3 is this share of the mean of all neurons or more."""

# The slices take ten steps, after which the errors of float32 (2^-24) differ by less than 1e-8 of a number between
# processors with and without AVX: far less than a unit of its fifth digit. Then rounding to five digits makes that at
# most one unit, which is at most 1e-4 of the number.
LAST_DIGIT = 1e-4

Floats = NDArray[np.float64]


@cache
def group_named(name: str) -> FiniteGroup:
    """The group "Z71" or "S4"."""
    return cyclic(int(name[1:])) if name[0] == "Z" else symmetric(int(name[1:]))


@cache
def largest_margin(name: str) -> float:
    """gamma* of the group, for quadratic networks and the L_{2,3} norm."""
    n = int(name[1:])
    if name[0] == "Z":
        return float(np.sqrt(2 / (27 * n)) / (n - 1))
    return float(closed_form_margin(MarginGame(symmetric_characters(n))))


@cache
def _projections(name: str) -> tuple[tuple[int, Floats], ...]:
    """Degree and matrix coefficients (n, d^2) of every irreducible representation of a symmetric group."""
    return tuple(
        (R.degree, np.asarray(R.matrices, float).reshape(R.group.order, -1)) for R in real_irreps(group_named(name))
    )


def representation_powers(name: str, rows: Floats) -> Floats:
    """The share of the energy of vectors (m, n) in each representation, (m, representations): frequencies, or irreps.

    For a cyclic group the frequencies j and -j are folded together; the first column is the trivial representation.
    """
    if name[0] == "Z":
        return folded_power(rows)
    n = rows.shape[1]
    energy = [d / n * ((rows @ basis) ** 2).sum(axis=1) for d, basis in _projections(name)]
    return np.array(energy).T / (rows**2).sum(axis=1, keepdims=True)


def _rounded(value: Any) -> float:
    return float(f"{float(value):.5g}")


def _record(settings: dict[str, Any]) -> Callable[[int, GroupWeights], dict[str, Any]]:
    name, activation = settings["group"], settings["activation"]
    table = np.asarray(group_named(name).table)
    kind, size = settings["penalty"]

    def record(step: int, now: GroupWeights) -> dict[str, Any]:
        weights = now.doubles()
        loss, _ = group_gradient(weights, table, activation)
        squares = weights.squares()
        mass = squares**1.5
        carrying = mass >= CARRYING * mass.mean()
        u, v, w = (part.T for part in weights.parts)
        powers = [representation_powers(name, part[carrying]) for part in (u, v, w)]
        largest, place = powers[0].max(axis=1), powers[0].argmax(axis=1)
        bins = powers[0].shape[1]
        result = {
            "step": step,
            "objective": _rounded(loss + size * (mass if kind == "cubic" else squares).sum()),
            "right": _rounded(_right_share(weights, table, activation)),
            "carrying": int(carrying.sum()),
            "neurons": np.bincount(place, minlength=bins).tolist(),
            "shares": [_rounded(x) for x in np.bincount(place, mass[carrying], minlength=bins) / mass.sum()],
            "power": [_rounded(x) for x in np.quantile(largest, (0.0, 0.1, 0.5))],
            "all": _rounded(np.median(representation_powers(name, u).max(axis=1))),
            "least": _rounded(min(power.max(axis=1).min() for power in powers)),
        }
        if activation == "square":
            smallest = group_margins(u, v, w, group_named(name)).minimum
            result["margin"] = _rounded(smallest / mass.sum() / largest_margin(name))
        return result

    return record


def _right_share(weights: GroupWeights, table: NDArray[np.int64], activation: str) -> float:
    """The share of pairs whose largest output is the right one."""
    right = 0
    for a, row in enumerate(weights.u):
        pre = row + weights.v
        hidden = np.maximum(pre, 0) if activation == "relu" else pre * pre
        right += int(((hidden @ weights.w.T).argmax(axis=1) == table[a]).sum())
    return right / table.size


def trained_group(settings: dict[str, Any]) -> dict[str, Any]:
    """The records of one run."""
    table = np.asarray(group_named(settings["group"]).table)
    random = np.random.default_rng([settings["seed"], 0])
    shape, single = (len(table), settings["width"]), settings["precision"] == "single"
    start = [settings["scale"] * random.normal(size=shape) for _ in range(3)]
    _, records = train_on_group(
        GroupWeights(*(part.astype(np.float32) if single else part for part in start)),
        table,
        settings["activation"],
        penalty=(settings["penalty"][0], settings["penalty"][1]),
        rate=doubling_rate(settings["rate"], settings["doublings"]),
        steps=settings["steps"],
        record=_record(settings),
        record_at=tuple(settings["record_at"]),
        batch_size=settings["batch"],
        random=np.random.default_rng([settings["seed"], 1]),
    )
    return {"records": records}
