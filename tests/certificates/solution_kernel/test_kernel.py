"""The kernel of programs: what it says, that it stands alone, and that the front door writes what it reads."""

import json
import subprocess
import sys
from dataclasses import replace

import cvxpy as cp
import pytest
from typer.testing import CliRunner

import lemmata as lm
from lemmata.certificates import solution_kernel
from lemmata.certificates.groups.kernels import kernel_of
from lemmata.cli import app
from tests.certificates.solution_kernel.documents import (
    WRITTEN,
    Document,
    constraints,
    matrix,
    multipliers,
    polygon,
    simplex,
    unbounded,
    vector,
    verdict,
    written,
)


def with_value(value: Document, path: str, new: object) -> Document:
    """The document with another value at a path like ``point.entries.0``."""
    *above, last = (int(key) if key.isdigit() else key for key in path.split("."))
    parent: object = value
    for key in above:
        parent = parent[key]  # type: ignore[index]
    parent[last] = new  # type: ignore[index]
    return value


def test_the_program_reads_files_alone(tmp_path):
    files = {"good": polygon(), "bad": with_value(polygon(), "bounds.upper", "8/11"), "odd": {"format": 1}}
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value))
    command = [sys.executable, "-I", solution_kernel.__file__, *(str(tmp_path / name) for name in files)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 2
    good, bad, odd = process.stdout.splitlines()
    assert good.endswith(
        "good: valid: program of 2 variables, 0 equations, 4 inequalities and 0 matrices: the maximum is 9/11; no "
        "constraint on the given solution alone is violated by more than 1/2"
    )
    assert bad.endswith("bad: invalid: bounds.upper: is more than the multipliers prove")
    assert "odd: malformed: the document must be an object with exactly the keys" in odd


@pytest.mark.parametrize(
    ("make", "path", "new", "status", "says"),
    [
        (polygon, "bounds.lower", "9.1/11", 2, "bounds.lower must be a string"),
        (polygon, "bounds.lower", "10/11", 1, "bounds.lower: is more than the point proves"),
        (polygon, "point.entries.0", 3, 1, "point: inequality 2 is violated"),
        (polygon, "point.denominator", 0, 2, "point.denominator must be positive"),
        (polygon, "point.entries", [1], 2, "point.entries must be a list of 2 to 2 entries"),
        (polygon, "point.entries.0", 1.5, 2, "is not an integer"),
        (polygon, "point.entries.0", "01", 2, "point.entries[0] must be a string"),
        (polygon, "multipliers.inequalities.0", -1, 1, "multipliers.inequalities[0]: is negative"),
        (polygon, "multipliers.inequalities.0", 1, 1, "the coefficient of variable 0 is not that of the objective"),
        (polygon, "multipliers", None, 2, "point, multipliers, direction and bounds must be those of the status"),
        (polygon, "direction", vector([1, 1]), 2, "point, multipliers, direction and bounds must be those"),
        (polygon, "constraints.inequalities.0", [0, 0], 2, "must have a constant, and pairs of a variable and its"),
        (polygon, "constraints.inequalities.0", [0, 1, 1, 0, 1], 2, "must be an integer from 2 to 1"),
        (polygon, "solution.slack", "49/100", 1, "solution.slack: inequality 3 is violated"),
        (polygon, "solution.slack", "-1", 2, "solution.slack must not be negative"),
        (polygon, "solution.moved", "5/88", 1, "solution.moved: the entry 0 of the point is farther away"),
        (polygon, "solution.moved", None, 2, "solution.moved must be given exactly if the point is"),
        (polygon, "solution.places", [0], 2, "solution.values.entries must be a list of 1 to 1 entries"),
        (polygon, "variables.0.places", [0, 2], 2, "variables[0].places must be an integer from 0 to 1"),
        (polygon, "variables.0.name", "\n", 2, "variables[0].name must be a string"),
        (polygon, "solution.places", [0, 2], 2, "solution.places[1] must be an integer from 1 to 1"),
        (polygon, "objective.sense", "least", 2, "objective.sense must be a string"),
        (simplex, "constraints.equations.0.0", -1, 1, "point: equation 0 is violated"),
        (simplex, "solution.slack", "0.2", 1, "solution.slack: equation 0 is violated"),
        (matrix, "point.entries.0", 0, 1, "point: matrix 0: is not shown to be positive semidefinite"),
        (matrix, "solution.slack", "0.09", 1, "solution.slack: matrix 0: is not shown to be positive semidefinite"),
        (matrix, "multipliers.matrices.0.0.0", 0, 1, "multipliers.matrices[0]: is not shown to be positive"),
        (WRITTEN["empty"], "multipliers.inequalities.2", 2, 1, "the coefficient of variable 1 does not vanish"),
        (WRITTEN["empty"], "multipliers.inequalities", [0, 0, 0], 1, "their combination is not negative"),
        (unbounded, "direction.entries", [0, 0, 0], 1, "the objective does not improve along it"),
        (unbounded, "direction.entries", [-1, 2, -2], 1, "direction: inequality 0 is violated"),
    ],
)
def test_the_first_violated_line_is_printed(make, path, new, status, says):
    found, line = verdict(with_value(make(), path, new))
    assert (found, says in line) == (status, True), line


def test_the_work_on_matrices_is_limited():
    """A matrix of order 350 in numbers of 2000 digits is refused before it is factored."""
    given = constraints(1, [], [], [[[[int(i == j)] for j in range(i + 1)] for i in range(350)]])
    point = {"denominator": str(10**1999), "entries": [0]}
    assert verdict(written("minimum", [0], given, bounds=(None, "0"), point=point)) == (
        2,
        "the matrices together are beyond the limits",
    )
    order = 30
    diagonal = [[[10**18 if i == j else 0] for j in range(i + 1)] for i in range(order)]
    small = constraints(1, [], [], [diagonal])
    weights = multipliers([], [], [[[0] * (i + 1) for i in range(order)]])
    assert verdict(written("minimum", [1], small, bounds=("1", None), multipliers=weights))[0] == 0


def test_the_work_is_counted_for_all_matrices_together(monkeypatch):
    """Three of order 2, in the point, the multipliers and the solution."""
    monkeypatch.setattr(solution_kernel, "MAX_WORK", 24)
    assert verdict(matrix())[0] == 0
    monkeypatch.setattr(solution_kernel, "MAX_WORK", 23)
    assert verdict(matrix()) == (2, "the matrices together are beyond the limits")


def test_constraints_on_other_coordinates_are_not_counted_in_the_slack():
    """x <= 1, y >= x + 5 and a matrix of both: the solution x = 2 violates the first, by 1; y is not given."""
    matrices = [[[[1, 0, -1]], [[0, 1, 1], [50]]], [[[1, 0, -1]], [[0], [1]]]]
    given = constraints(2, [], [[1, 0, -1], [-5, 0, -1, 1, 1]], matrices)
    solution = {"places": [0], "values": vector([2]), "moved": "2", "slack": "1"}
    value = written("minimum", [0, 1, 1], given, bounds=(None, "5"), point=vector([0, 5]), solution=solution)
    assert verdict(value)[1].endswith("no constraint on the given solution alone is violated by more than 1")
    for slack, part in (("99/100", "inequality 0"), ("0", "inequality 0")):
        assert verdict(with_value(value, "solution.slack", slack)) == (1, f"solution.slack: {part} is violated")
    del given["inequalities"][0]
    assert verdict(value) == (1, "solution.slack: matrix 0: is not shown to be positive semidefinite")
    assert verdict(with_value(value, "solution.slack", "1"))[0] == 0


def test_one_bound_alone_is_said():
    value = WRITTEN["between"]() | {"multipliers": None, "bounds": {"lower": None, "upper": "3"}}
    assert verdict(value)[1].endswith("the minimum is at most 3")
    value |= {"point": None, "solution": None, "bounds": {"lower": None, "upper": None}}
    assert verdict(value)[0] == 2


def test_what_is_certified_is_written_and_read(tmp_path):
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Maximize(3 * x[0] + x[1]), [x >= 0, x[0] + 3 * x[1] <= 1, 7 * x[0] - x[1] <= 1])
    problem.solve(solver=cp.CLARABEL)
    found, file = lm.certify_solution(problem), tmp_path / "polygon.json"
    lm.save(found, file)
    assert kernel_of(file) == solution_kernel.__file__
    assert lm.check(file).reason.startswith("program of 2 variables, 0 equations, 4 inequalities")
    assert lm.check(found)
    document = json.loads(file.read_text())
    assert document == lm.document_of(found)
    assert document["bounds"] == {"lower": "9/11", "upper": "9/11"}
    assert document["variables"] == [{"name": "x", "shape": [2], "places": [0, 1]}]
    said = CliRunner().invoke(app, ["explain", str(file)])
    assert (said.exit_code, "the maximum is 9/11" in said.output.replace("\n", " ")) == (0, True)
    said = CliRunner().invoke(app, ["explain", str(file), "--json"])
    assert json.loads(said.output)["bounds"] == document["bounds"]
    document["bounds"]["upper"] = "8/11"
    assert lm.check(document).status == "invalid"


def test_documents_of_every_status_and_long_numbers():
    x, y = cp.Variable(2), cp.Variable(name="y")
    for objective, given, status in (
        (cp.Minimize(x[0]), [x[0] >= 1, x[0] + x[1] <= 0, x[1] >= 0], "infeasible"),
        (cp.Minimize(x[0]), [x[0] + x[1] <= 0], "unbounded"),
        (cp.Maximize(1 - cp.norm1(x)), [cp.sum(x) == 0.1, x >= -0.3], "bounds"),
        (cp.Minimize(y), [y * 3.1 + 0.7 >= 0.1, y <= 1e-9], "bounds"),
    ):
        problem = cp.Problem(objective, given)
        problem.solve(solver=cp.CLARABEL)
        document = lm.document_of(lm.certify_solution(problem))
        assert document["status"] == status
        assert verdict(document)[0] == 0


def test_where_nothing_was_proved_there_is_no_document():
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [x >= 1])
    problem.solve(solver=cp.CLARABEL)
    found = lm.certify_solution(problem)
    with pytest.raises(ValueError, match="Nothing was proved, so that there is no certificate"):
        lm.document_of(replace(found, status="nothing"))


def test_a_proof_that_the_kernel_refuses_is_not_written(tmp_path):
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [x >= 1])
    problem.solve(solver=cp.CLARABEL)
    found = lm.certify_solution(problem)
    with pytest.raises(ValueError, match="The kernel refuses the proof that was found"):
        lm.save(replace(found, lower=found.lower + 1), tmp_path / "optimum.json")
    assert not list(tmp_path.iterdir())
