"""Forged documents of programs: random edits, and edits repaired so that the combination of multipliers holds again."""

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpq_mat

from tests.certificates.operation_documents import edit_any_leaf, edit_entries

Document = dict[str, Any]


def edit_leaf(value: Document, source: random.Random) -> None:
    """An integer, a digit or a word anywhere, each field as likely as another."""
    words = ["minimum", "maximum", "bounds", "infeasible", "unbounded", None]
    edit_any_leaf(value, source, ["0", "1", {"denominator": 1, "entries": [1, 1]}], words)


def edit_list(value: Document, source: random.Random) -> None:
    """An entry of some list dropped, doubled or exchanged."""
    edit_entries(source.choice([one for one in every_list(value) if one]), source)


def every_list(value: Any) -> list[list[Any]]:
    """All lists in a document."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return ([value] if isinstance(value, list) else []) + [one for part in inside for one in every_list(part)]


def edit_bound(value: Document, source: random.Random) -> None:
    """A bound, the move or the slack made better or worse by a little or by much."""
    owners = [(value["bounds"], side) for side in ("lower", "upper")]
    owners += [(value["solution"] or {}, name) for name in ("moved", "slack")]
    owners = [(owner, name) for owner, name in owners if owner.get(name) is not None]
    if owners:
        owner, name = source.choice(owners)
        step = Fraction(source.choice([-1, 1]), source.choice([1, 10, 10**9, 10**30]))
        owner[name] = str(Fraction(owner[name]) + step)


def edit_sense(value: Document, source: random.Random) -> None:
    """The other sense, with the bounds exchanged or not, the objective negated or not."""
    value["objective"]["sense"] = {"minimum": "maximum", "maximum": "minimum"}[value["objective"]["sense"]]
    if source.random() < 0.5:
        bounds = value["bounds"]
        bounds["lower"], bounds["upper"] = (x and str(-Fraction(x)) for x in (bounds["upper"], bounds["lower"]))
    if source.random() < 0.5:
        f = value["objective"]["function"]
        f[0] = -int(f[0])
        f[2::2] = [-int(c) for c in f[2::2]]


def edit_status(value: Document, source: random.Random) -> None:
    """Another status, with some parts taken away."""
    value["status"] = source.choice(["bounds", "infeasible", "unbounded"])
    for name in ("point", "multipliers", "direction"):
        if source.random() < 0.3:
            value[name] = None
    for side in ("lower", "upper"):
        if source.random() < 0.5:
            value["bounds"][side] = None
    if value["point"] is not None and value["direction"] is None and value["status"] == "unbounded":
        value["direction"] = copy.deepcopy(value["point"])
    if value["solution"] is not None and value["point"] is None:
        value["solution"]["moved"] = None


def edit_objective(value: Document, source: random.Random) -> None:
    """A constant added to the objective, and to the bounds or to one of them."""
    shift, f = source.choice([-1, 1]), value["objective"]["function"]
    f[0] = int(f[0]) + shift * int(value["constraints"]["denominator"])
    for side, old in value["bounds"].items():
        if old is not None and source.random() < 0.7:
            value["bounds"][side] = str(Fraction(old) + shift)


def edit_point(value: Document, source: random.Random) -> None:
    """The point, the values or the direction moved; the bound of the point follows its value."""
    vectors = [value["point"], value["direction"], (value["solution"] or {}).get("values")]
    vector = source.choice([one for one in vectors if one is not None] or [None])
    if vector is None:
        return
    j = source.randrange(len(vector["entries"]))
    vector["entries"][j] = int(vector["entries"][j]) + source.choice([-1, 1, int(vector["denominator"])])
    side = "upper" if value["objective"]["sense"] == "minimum" else "lower"
    if vector is value["point"] and value["bounds"][side] is not None:
        constant, *rest = value["objective"]["function"]
        total = int(constant) * int(vector["denominator"])
        total += sum(int(c) * int(vector["entries"][i]) for i, c in zip(rest[::2], rest[1::2], strict=True))
        value["bounds"][side] = str(
            Fraction(total, int(vector["denominator"]) * int(value["constraints"]["denominator"]))
        )


def edit_multipliers(value: Document, source: random.Random) -> None:
    """Other multipliers whose combination has the same coefficients; the bound follows its constant."""
    weights, given = value["multipliers"], value["constraints"]
    if weights is None:
        return
    cells = [("equations", (i,), 1, f) for i, f in enumerate(given["equations"])]
    cells += [("inequalities", (i,), 1, f) for i, f in enumerate(given["inequalities"])]
    for b, M in enumerate(given["matrices"]):
        cells += [("matrices", (b, i, j), 1 + (i != j), f) for i, row in enumerate(M) for j, f in enumerate(row)]
    columns = []
    for _, _, factor, (constant, *rest) in cells:
        known = dict(zip(rest[::2], rest[1::2], strict=True))
        columns.append([factor * int(c) for c in (*(known.get(j, 0) for j in range(given["size"])), constant)])
    E = fmpq_mat(given["size"], len(cells), [columns[k][j] for j in range(given["size"]) for k in range(len(cells))])
    reduced, rank = E.rref()
    pivots = [next(k for k in range(len(cells)) if reduced[i, k] != 0) for i in range(rank)]
    free = [k for k in range(len(cells)) if k not in pivots]
    if not free:
        return
    k, step = source.choice(free), source.choice([-1, 1, 2])
    change = [0] * len(cells)
    scale = 1
    for i in range(rank):
        scale *= int(reduced[i, k].q)
    change[k] = scale * step
    for i, p in enumerate(pivots):
        change[p] = -int(reduced[i, k].p) * (scale // int(reduced[i, k].q)) * step
    moved = 0
    for (kind, path, _, _), by, column in zip(cells, change, columns, strict=True):
        owner: Any = weights[kind]
        for key in path[:-1]:
            owner = owner[key]
        owner[path[-1]] = int(owner[path[-1]]) + by
        moved += by * column[-1]
    s = 1 if value["objective"]["sense"] == "minimum" else -1
    side = "lower" if s > 0 else "upper"
    if value["bounds"][side] is not None:
        by = Fraction(-s * moved, int(weights["denominator"]) * int(given["denominator"]))
        value["bounds"][side] = str(Fraction(value["bounds"][side]) + by)


def edit_constraint(value: Document, source: random.Random) -> None:
    """A constraint left out with its multiplier, or a coefficient of it changed."""
    given = value["constraints"]
    kind = source.choice([name for name in ("equations", "inequalities", "matrices") if given[name]])
    i = source.randrange(len(given[kind]))
    if source.random() < 0.5:
        del given[kind][i]
        if value["multipliers"] is not None:
            del value["multipliers"][kind][i]
    else:
        f = source.choice([one for one in every_list(given[kind][i]) if one and not isinstance(one[0], list)])
        f[source.randrange(0, len(f), 2)] = source.randint(-3, 3)


def same_claim(value: Document, source: random.Random) -> None:
    """Common factors, other names, weaker bounds, larger slack: the claim stays true."""
    k = source.randint(2, 10**25)
    for vector in (value["point"], value["direction"], (value["solution"] or {}).get("values")):
        if vector is not None:
            vector["denominator"] = str(k * int(vector["denominator"]))
            vector["entries"] = [str(k * int(x)) for x in vector["entries"]]
    for variable in value["variables"]:
        variable["name"] = "another"
    bounds, solution = value["bounds"], value["solution"]
    less, more = ((Fraction(source.randint(0, 5), 7) * sign) for sign in (-1, 1))
    for owner, name, by in ((bounds, "lower", less), (bounds, "upper", more), (solution or {}, "slack", more)):
        if owner.get(name) is not None:
            owner[name] = str(Fraction(owner[name]) + by)


Edit = Callable[[Document, random.Random], None]
FORGED: tuple[Edit, ...] = (
    edit_leaf, edit_list, edit_bound, edit_sense, edit_status, edit_objective, edit_point, edit_multipliers,
    edit_constraint,
)  # fmt: skip
