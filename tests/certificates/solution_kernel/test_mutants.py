"""Mutants of the kernel of programs: whatever is changed in it shows on some document."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lemmata.certificates import solution_kernel
from tests.certificates.kernel_mutants import Entry, run, survivors
from tests.certificates.solution_kernel.documents import (
    WRITTEN,
    Document,
    constraints,
    matrix,
    multipliers,
    polygon,
    vector,
    written,
)
from tests.certificates.solution_kernel.forgeries import FORGED
from tests.certificates.solution_kernel.test_kernel import with_value

SOURCE = Path(solution_kernel.__file__).read_text()
SEED = 1129
SHORTER, GIVEN, SIGN = "no list is shorter", "the document was refused before", "the sign is 1 or -1"
EQUIVALENT = {
    "functions: 0 - 1 in kernel.entries(value, where, 0, MAX_ENTRIES)": SHORTER,
    "Constraints: 0 - 1 in kernel.entries(matrices, f'{where}.matrices', 0, MAX_ENTRIES)": SHORTER,
    "Document: 0 - 1 in kernel.entries(variables, 'variables', 0, MAX_ENTRIES)": SHORTER,
    "Document: 0 - 1 in kernel.entries(shape, f'{at}.shape', 0, 64)": SHORTER,
    "Document: self.sign > 0 with GtE at 0": SIGN,
    "Document: 0 - 1 in self.sign > 0": SIGN,
    "check_bound: sign > 0 with GtE at 0": SIGN,
    "check_bound: 0 - 1 in sign > 0": SIGN,
    "check_value: document.sign > 0 with GtE at 0": SIGN,
    "check_value: 0 - 1 in document.sign > 0": SIGN,
    "check_bound: claimed is not None and sign * claimed <= proved without part 0": GIVEN,
    "check_value: claimed is not None and document.sign * (claimed - value) >= 0 without part 0": GIVEN,
    "check_solution: document.point is not None and solution.moved is not None with the other logic": GIVEN,
    "check_solution: document.point is not None and solution.moved is not None without part 0": GIVEN,
    "check_solution: document.point is not None and solution.moved is not None without part 1": GIVEN,
    "check: document.status == 'infeasible' and document.multipliers is not None without part 1": GIVEN,
    "check_solution: 0 + 1 in values.get(j, 0)": "coordinates without a coefficient in what is asked",
    "check_solution: 0 - 1 in values.get(j, 0)": "coordinates without a coefficient in what is asked",
    "check: 0 + 1 in Fraction(0), number 2": "times the denominator 0",
    "check: 0 - 1 in Fraction(0), number 2": "times the denominator 0",
}
"""Mutants that decide every document as the kernel does, and why."""

MALFORMED: list[tuple[str, str, Any]] = [
    ("polygon", "version", 2),
    ("polygon", "version", 0),
    ("polygon", "format", "lemmata/unseen-cell"),
    ("polygon", "more", 1),
    ("polygon", "point.entries.0", True),
    ("polygon", "point.entries.0", "-0"),
    ("polygon", "point.denominator", 0),
    ("polygon", "constraints.denominator", -1),
    ("polygon", "multipliers.denominator", 0),
    ("polygon", "solution.values.denominator", 0),
    ("polygon", "constraints.size", 0),
    ("polygon", "objective.function", []),
    ("polygon", "objective.function", [0, 0, 3, 1]),
    ("polygon", "objective.function", [0, 1, 1, 0, 3]),
    ("polygon", "objective.function", [0, 1, 1, 1, 3]),
    ("polygon", "objective.function", [0, 2, 1]),
    ("polygon", "objective.function", [0, -1, 1]),
    ("matrix", "constraints.matrices.0.0", [[0, 0, 1], [1]]),
    ("matrix", "constraints.matrices", [[]]),
    ("matrix", "multipliers.matrices.0", [[1]]),
    ("matrix", "multipliers.matrices.0", [[1, -1], [-1, 1]]),
    ("matrix", "multipliers.matrices", []),
    ("polygon", "multipliers.inequalities", [0, 0, 5]),
    ("polygon", "multipliers.equations", [0]),
    ("polygon", "solution.places", [1, 0]),
    ("polygon", "solution.places", [0, 0]),
    ("polygon", "solution.places", [0, 2]),
    ("polygon", "solution.places", [-1, 0]),
    ("polygon", "solution.moved", None),
    ("empty_matrix", "solution.moved", "0"),
    ("polygon", "solution.moved", "-1"),
    ("polygon", "solution.slack", "-1/9"),
    ("polygon", "bounds.lower", "1e9"),
    ("polygon", "bounds.lower", "1/0"),
    ("polygon", "objective.sense", "largest"),
    ("polygon", "status", "optimal"),
    ("polygon", "multipliers", None),
    ("polygon", "bounds.lower", None),
    ("polygon", "bounds.upper", None),
    ("polygon", "direction", vector([1, 1])),
    ("empty", "bounds.lower", "0"),
    ("empty", "bounds.upper", "0"),
    ("empty", "multipliers", None),
    ("empty", "point", vector([1, 1])),
    ("unbounded", "point", None),
    ("unbounded", "direction", None),
    ("polygon", "variables.0.name", "\a"),
    ("polygon", "variables.0", {"name": "z", "shape": [0], "places": []}),
    ("polygon", "variables.0.shape", [3]),
    ("polygon", "variables.0.places", [0, 2]),
    ("polygon", "variables.0.places", [-1, 0]),
]
"""A document that is written, a path in it, and a value there."""

JUST: list[tuple[str, str, Any]] = [
    ("polygon", "variables", []),
    ("matrix", "variables.0.shape", []),
    ("matrix", "variables.0.shape", [1] * 64),
    ("matrix", "variables.0.shape", [1] * 65),
    ("simplex", "variables.0", {"name": "z", "shape": [9], "places": [0, 1, 2] * 3}),
    ("polygon", "solution.slack", None),
    ("empty", "constraints.inequalities.0", [0, 0, 1]),  # h = 0
    ("unbounded", "objective.function", [-3, 1, 1]),  # it rises along the direction
    ("unbounded", "objective.function", [3, 0, 1, 1, 2]),  # it stays
    ("unbounded_matrix", "objective.function", [-9, 0, 1]),
]
"""The same, just valid or just not."""


def entries() -> Iterator[Entry]:
    """Documents, malformed ones, ones that are just valid, ones at the limit of work, and forgeries."""
    for name, make in WRITTEN.items():
        yield name, make(), {}
    for name, path, new in MALFORMED + JUST:
        yield f"{name} with {path}", with_value(WRITTEN[name](), path, new), {}
    source = random.Random(SEED)
    for i in range(500):
        value = source.choice(list(WRITTEN.values()))()
        FORGED[i % len(FORGED)](value, source)
        yield f"forgery {i}", value, {}
    yield "a solution of nothing", polygon() | {"solution": {"places": [], "values": vector([])} | NOTHING}, {}
    twice = constraints(1, [], [[0, 0, 1], [0, 0, 1]])  # z = 2 z - z
    weights = multipliers([], [2, -1])
    yield "a negative one", written("minimum", [0, 0, 1], twice, bounds=("0", None), multipliers=weights), {}
    alone = WRITTEN["definite"]() | {"multipliers": None, "bounds": {"lower": "-3", "upper": None}}
    yield "a maximum from below", alone, {}
    alone = WRITTEN["between"]() | {"point": None, "solution": None, "bounds": {"lower": "2", "upper": None}}
    yield "a minimum from below", alone, {}
    yield from parts_of_constraints()
    limits = {"EXACT_UNIT": 7}
    worked = {"work": WRITTEN["definite"](), "exact work": matrix()}
    worked |= {f"{bits} bits": lengthened(str(2 ** (bits - 1))) for bits in (2000, 2997)}
    for name, value in worked.items():
        least = least_work(value, limits)
        for work in (least - 1, least):
            yield f"{name} {work}", value, {"MAX_WORK": work} | limits


NOTHING = {"moved": "0", "slack": "0"}


def parts_of_constraints() -> Iterator[Entry]:
    """x = 2 alone is given, and violates what is of x alone, or nothing is."""
    for f in ([1, 0, -1], [6, 1, -1], [1, 0, -1, 1, 0]):
        matrices = [[[f], [[0, 0, 1, 1, -1], [99]]], [[[0, 0, 1]]], [[f]]]
        for equations, inequalities in (([], []), ([[-5, 1, 1]], []), ([], [[-5, 1, 1]])):
            given = constraints(2, equations, inequalities, matrices)
            for slack in ("0", "1"):
                solution = {"places": [0], "values": vector([2]), "moved": "2", "slack": slack}
                parts: dict[str, Any] = {"bounds": (None, "5"), "point": vector([0, 5]), "solution": solution}
                yield "a part of constraints", written("minimum", [0, 1, 1], given, **parts), {}


def lengthened(unit: str) -> Document:
    """`matrix`, with one row more, in numbers as long as that one."""
    value = matrix()
    value["constraints"]["denominator"] = unit
    value["constraints"]["matrices"] = [[[["0", 0, unit]], [[unit], ["0", 0, unit]], [["0"], ["0"], [unit]]]]
    value["multipliers"]["matrices"] = [[[1], [-1, 1], [0, 0, 0]]]
    value["objective"]["function"] = ["0", 0, unit]
    return value


def least_work(value: Document, limits: dict[str, int]) -> int:
    """The least limit of work with which the kernel decides."""
    low, high = 0, 10**9
    while high - low > 1:
        half = (low + high) // 2
        decided = run(solution_kernel, ("", value, {"MAX_WORK": half} | limits))[0] < 2
        low, high = (low, half) if decided else (half, high)
    return high


def test_mutants_of_the_kernel_show(effort):
    """Quick: a sample; full: all but those that are equivalent."""
    sample = effort.pick(quick=20, full=None)
    assert survivors(solution_kernel, SOURCE, EQUIVALENT, entries(), least=400, sample=sample, seed=SEED) == []
