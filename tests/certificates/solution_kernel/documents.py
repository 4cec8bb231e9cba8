"""Documents of programs, written by hand with optima that are known, and what the kernel says of one."""

import json
from typing import Any

from lemmata.certificates import kernel, solution_kernel

Document = dict[str, Any]


def constraints(size: int, equations: Any = (), inequalities: Any = (), matrices: Any = (), unit: int = 1) -> Document:
    """The constraints of a document."""
    parts = {"equations": equations, "inequalities": inequalities, "matrices": matrices}
    return {"size": size, "denominator": unit} | {name: list(part) for name, part in parts.items()}


def vector(entries: list[int], unit: int = 1) -> Document:
    """A vector of a document."""
    return {"denominator": unit, "entries": entries}


def multipliers(equations: Any = (), inequalities: Any = (), matrices: Any = (), unit: int = 1) -> Document:
    """The multipliers of a document."""
    parts = {"equations": equations, "inequalities": inequalities, "matrices": matrices}
    return {"denominator": unit} | {name: list(part) for name, part in parts.items()}


def written(sense: str, function: list[int], given: Document, status: str = "bounds", **parts: Any) -> Document:
    """A document; what is not given is null."""
    bounds = dict(zip(("lower", "upper"), parts.pop("bounds", (None, None)), strict=True))
    size = given["size"]
    return {
        "format": "lemmata/program-optimum",
        "version": 1,
        "variables": [{"name": "z", "shape": [size], "places": list(range(size))}],
        "objective": {"sense": sense, "function": function},
        "constraints": given,
        "status": status,
        "bounds": bounds,
        "point": None,
        "multipliers": None,
        "direction": None,
        "solution": None,
    } | parts


def polygon() -> Document:
    """max 3 x + y with x, y >= 0, x + 3 y <= 1, 7 x - y <= 1: 9/11 at (2/11, 3/11). A solution that violates by 1/2."""
    given = constraints(2, [], [[0, 0, 1], [0, 1, 1], [1, 0, -1, 1, -3], [1, 0, -7, 1, 1]])
    solution = {
        "places": [0, 1],
        "values": vector([1, 1], 4),
        "moved": "3/44",
        "slack": "1/2",
    }
    return written(
        "maximum",
        [0, 0, 3, 1, 1],
        given,
        bounds=("9/11", "9/11"),
        point=vector([2, 3], 11),
        multipliers=multipliers([], [0, 0, 5, 4], [], 11),
        solution=solution,
    )


def simplex() -> Document:
    """max (4 x + 2 y + 1)/2 with x + y + z = 1, all >= 0: 5/2 at (1, 0, 0). The solution has an equation off by 1/4."""
    given = constraints(3, [[-2, 0, 2, 1, 2, 2, 2]], [[0, 0, 2], [0, 1, 2], [0, 2, 2]], unit=2)
    solution = {
        "places": [0, 1, 2],
        "values": vector([4, 0, 1], 4),
        "moved": "0.25",
        "slack": "0.25",
    }
    return written(
        "maximum",
        [1, 0, 4, 1, 2],
        given,
        bounds=("5/2", "2.5"),
        point=vector([3, 0, 0], 3),
        multipliers=multipliers([-2], [0, 1, 2]),
        solution=solution,
    )


def between() -> Document:
    """min x + 2 with x >= 1/3: bounds 2 and 3 that are not the best; a second variable without constraints or cost."""
    given = constraints(2, [], [[-1, 0, 3]], unit=3)
    return written(
        "minimum",
        [6, 0, 3],
        given,
        bounds=("2", "3"),
        point=vector([2, -7], 5),
        multipliers=multipliers([], [1]),
        solution={
            "places": [1],
            "values": vector([-2]),
            "moved": "3/5",
            "slack": None,
        },
    )


def matrix() -> Document:
    """min t with ((t, 1), (1, t)) positive semidefinite: 1; the solution 9/10 has the eigenvalue -1/10."""
    given = constraints(1, [], [], [[[[0, 0, 1]], [[1], [0, 0, 1]]]])
    return written(
        "minimum",
        [0, 0, 1],
        given,
        bounds=("1", "1"),
        point=vector([1]),
        multipliers=multipliers([], [], [[[1], [-1, 1]]], 2),
        solution={
            "places": [0],
            "values": vector([9], 10),
            "moved": "1/10",
            "slack": "1/10",
        },
    )


def definite() -> Document:
    """max -x - y with ((x, 1, 0), (1, y, 0), (0, 0, 1)) positive semidefinite: -2; bounds with matrices inside."""
    given = constraints(2, [], [], [[[[0, 0, 1]], [[1], [0, 1, 1]], [[0], [0], [1]]]])
    return written(
        "maximum",
        [0, 0, -1, 1, -1],
        given,
        bounds=("-3", "-1.5"),
        point=vector([4, 5], 3),
        multipliers=multipliers([], [], [[[6], [-5, 6], [0, 0, 1]]], 6),
    )


def empty() -> Document:
    """x >= 1, x + y <= 0, y >= 0."""
    given = constraints(2, [], [[-1, 0, 1], [0, 0, -1, 1, -1], [0, 1, 1]])
    return written("minimum", [0, 0, 1], given, "infeasible", multipliers=multipliers([], [1, 1, 1]))


def empty_matrix() -> Document:
    """((1, x), (x, 1)) positive semidefinite and x = 2."""
    given = constraints(1, [[-2, 0, 1]], [], [[[[1]], [[0, 0, 1], [1]]]])
    solution = {
        "places": [0],
        "values": vector([2]),
        "moved": None,
        "slack": "1",
    }
    return written(
        "maximum",
        [0],
        given,
        "infeasible",
        multipliers=multipliers([2], [], [[[1], [-1, 1]]], 3),
        solution=solution,
    )


def unbounded() -> Document:
    """min x - 3 with x + y <= 0, y + w = 2: along (-1, 0, 0)."""
    given = constraints(3, [[-2, 1, 1, 2, 1]], [[0, 0, -1, 1, -1]])
    return written(
        "minimum", [-3, 0, 1], given, "unbounded", point=vector([-2, 2, 2], 2), direction=vector([-2, 1, -1], 1)
    )


def unbounded_matrix() -> Document:
    """max t with ((t, 1), (1, t + y)) positive semidefinite."""
    given = constraints(2, [], [], [[[[0, 0, 1]], [[1], [0, 0, 1, 1, 1]]]])
    return written("maximum", [0, 0, 1], given, "unbounded", point=vector([1, 0]), direction=vector([1, -1], 2))


WRITTEN = {
    make.__name__: make
    for make in (polygon, simplex, between, matrix, definite, empty, empty_matrix, unbounded, unbounded_matrix)
}


def verdict(value: Any) -> tuple[int, str]:
    """The exit status of the kernel, and its line."""
    try:
        return 0, solution_kernel.check(json.dumps(value).encode())
    except kernel.ViolatedError as error:
        return 1, str(error)
    except kernel.MalformedError as error:
        return 2, str(error)
