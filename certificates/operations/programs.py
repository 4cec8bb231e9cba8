"""Upper bounds of the margin of any table by sums of squares, minimised over the multipliers at the same time.

Every bound here is corrected after the solver: its Gram matrix is projected on the identity of polynomials that it has
to satisfy, and t is raised until the matrix is positive semidefinite. What is returned therefore proves its bound up to
the rounding of floating point, however inaccurate the solver was, and inaccuracy shows as `slack`. Proofs stand in
OPERATION_MARGIN.md, the polynomials in `lemmata.certificates.operations.forms`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lemmata.certificates.operations.forms import NEURON_FACTOR, Kind, kind_for, scaled_phi
from lemmata.certificates.operations.programs_cones import ConeSolution, Solver, solve_cones
from lemmata.certificates.operations.programs_effort import USUAL_WORK, Effort
from lemmata.certificates.operations.programs_form import ConeData
from lemmata.certificates.operations.programs_interior import interior_work
from lemmata.certificates.operations.programs_template import Template, template
from lemmata.certificates.operations.reduction import (
    Generators,
    Permutations,
    Reduction,
    generators_of,
    reduction,
    triple_orbits,
)
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.runs.threads import one_thread

__all__ = ["FamilyRelaxation", "OperationProgramError", "Relaxation", "relaxed_family", "relaxed_margin", "relaxed_phi"]

INTERIOR_WORK = USUAL_WORK
"""Up to so many multiplications a step the interior point method comes first, beyond them SCS, less accurate."""

ACCURACY: dict[Solver, float] = {"interior": 1e-10, "clarabel": 1e-9, "scs": 1e-8}
LIMITS: dict[Solver, int] = {"interior": 60, "clarabel": 200, "scs": 20_000}
SLACK = 1e-6
"""A relative slack above which the other solver is tried too."""

FAILURE = 1e-3
"""A relative slack above which there is no solution."""


class OperationProgramError(RuntimeError):
    """No solver gave a bound; the message says what was tried and what to turn."""


@dataclass(frozen=True)
class FamilyRelaxation:
    """The optimum of a program over an affine family of tensors, R = sum_j lambda_j R_j + R_0.

    Attributes:
        multipliers: lambda >= 0, of sum 1 in each group.
        value: `NEURON_FACTOR` times the bound of phi(R) plus weights . lambda, for these multipliers.
        phi: the bound of phi(R).
        dual: the value of the pseudo-moments of the solver, a lower bound of the program up to its accuracy.
        slack: value - dual.
        kind: of the program.
        matrix: the Gram matrix in the monomials of `lemmata.certificates.operations.forms`, full coordinates, not
            scaled. For the plane program this is [[t I + A, 3 B - S], [3 B + S, 3 (t I - A)]] with
            A = M_0 - M_1 and B = M_0 + M_1.
        t, t_prime: the numbers in the target; t_prime = t.
        pseudo_moments: the values of the functional of the solver at the products of the *scaled* monomials (those of
            `matrix` times `Template.scale`); the functional is 1 at the part of the target for t.
        solver: which one, and its own word on the outcome.
        seconds: wall time of the solver.
    """

    multipliers: NDArray[np.float64]
    value: float
    phi: float
    dual: float
    slack: float
    kind: Kind
    matrix: NDArray[np.float64]
    t: float
    t_prime: float
    pseudo_moments: NDArray[np.float64]
    solver: str
    seconds: float


@dataclass(frozen=True)
class Relaxation:
    """An upper bound of the maximum margin of a table.

    Attributes:
        q: the multipliers of `table.triples`, at least 0, of sum 1, constant on orbits of the symmetries given.
        bound: the margin of every network of norm 1 is at most this, up to rounding of floating point.
        dual: the value of the pseudo-moments of the solver: the relaxation is no better than this, up to its accuracy.
        kind, matrix, t, t_prime, pseudo_moments, solver, seconds: as in `FamilyRelaxation`.
    """

    q: NDArray[np.float64]
    bound: float
    dual: float
    kind: Kind
    matrix: NDArray[np.float64]
    t: float
    t_prime: float
    pseudo_moments: NDArray[np.float64]
    solver: str
    seconds: float


def relaxed_margin(
    table: Operation,
    *,
    kind: Kind | None = None,
    symmetries: Permutations | None = None,
    solver: Solver | None = None,
    accuracy: float | None = None,
    effort: Effort | None = None,
) -> Relaxation:
    """The least bound of the maximum margin of a table that a sum of squares of a kind proves.

    Args:
        kind: "plane" (at most three labels, exact), 4 or 6; by default "plane" or 4, by the number of labels.
        symmetries: of the table, as permutations of the |A| + |B| + C points (rows, columns, labels; a swap moves rows
            to columns), or an object with `generators`. The bound is the same without them, and found more slowly.
        solver: "interior", "scs" or "clarabel"; by default one of the first two by the work of a step, and the other
            one after it when the slack of the bound is more than `SLACK`.
        accuracy: the tolerance of the solver; by default that of `ACCURACY`.
        effort: the limits of work and time for this program; by default none.

    Raises:
        TooMuchWorkError: for a program beyond the effort.
        ValueError: for permutations that are no symmetries of the table, an unknown kind or solver, and the plane
            program with more than three labels.
        OperationProgramError: when no solver gives a bound.
    """
    chosen = kind_for(table.label_count) if kind is None else kind
    generators = generators_of(symmetries, table.size + table.label_count)
    orbits = triple_orbits(table, generators)
    sizes = np.bincount(orbits)
    shape = (table.rows, table.columns, table.label_count)
    tensors = _triple_tensors(table) @ sparse.csr_array(
        (1 / sizes[orbits], (np.arange(len(orbits)), orbits)), shape=(len(orbits), len(sizes))
    )
    found = _solve(
        template(*shape, chosen),
        sparse.csr_array(tensors),
        np.zeros(int(np.prod(shape))),
        np.zeros(len(sizes)),
        np.zeros(len(sizes), np.int64),
        () if chosen == "plane" else generators,
        solver,
        accuracy,
        effort,
    )
    q = found.multipliers[orbits] / sizes[orbits]
    return Relaxation(
        q / q.sum(),
        found.value,
        found.dual,
        chosen,
        found.matrix,
        found.t,
        found.t_prime,
        found.pseudo_moments,
        found.solver,
        found.seconds,
    )


def relaxed_phi(
    tensor: ArrayLike, *, kind: Kind | None = None, symmetries: Permutations | None = None, solver: Solver | None = None
) -> FamilyRelaxation:
    """The least bound of phi of one residual tensor, shape (|A|, |B|, C), sum 0 over labels, as `phi`.

    Args and errors as in `relaxed_family`, for a family without multipliers.
    """
    return relaxed_family([], fixed=tensor, kind=kind, symmetries=symmetries, solver=solver)


def relaxed_family(
    tensors: Sequence[ArrayLike],
    *,
    fixed: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    groups: Sequence[Sequence[int]] = (),
    kind: Kind | None = None,
    symmetries: Permutations | None = None,
    solver: Solver | None = None,
    accuracy: float | None = None,
    effort: Effort | None = None,
) -> FamilyRelaxation:
    """The least value of `NEURON_FACTOR` phi(sum_j lambda_j R_j + R_0) + sum_j weights_j lambda_j over lambda >= 0.

    phi is replaced by its bound of the kind. For an unseen cell: R_j = h_j for the triples, weights -g0, and tensors of
    differences at the cell with a minus sign, weight 0, in a group of their own (or one of them as `fixed`): minus the
    value is then a lower bound of the difference for all networks of margin at least g0.

    Args:
        tensors: R_j, each of shape (|A|, |B|, C) with sum 0 over labels.
        fixed: R_0; by default zero.
        weights: one for each tensor; by default 0.
        groups: disjoint sets of indices of multipliers whose sum is 1; multipliers in no group are free above 0.
        kind, symmetries, solver, accuracy, effort: as in `relaxed_margin`; every tensor has to be invariant under the
            symmetries (sum the tensors of an orbit).

    Raises:
        ValueError: for tensors of different shapes, sums that are not 0, groups that meet, tensors that are not
            invariant, and as `relaxed_margin`.
        OperationProgramError: when no solver gives a bound, for example because the program is unbounded.
    """
    arrays = [np.asarray(tensor, float) for tensor in (*tensors, *(() if fixed is None else (fixed,)))]
    if not arrays or any(array.ndim != 3 or array.shape != arrays[0].shape for array in arrays):
        raise ValueError("The tensors need one common shape (|A|, |B|, C), and there has to be at least one.")
    if any(np.abs(array.sum(axis=2)).max() > 1e-9 * (1 + np.abs(array).max()) for array in arrays):
        raise ValueError("The entries of a residual tensor at a cell have the sum 0 over the labels.")
    rows, columns, labels = arrays[0].shape
    chosen = kind_for(labels) if kind is None else kind
    generators = generators_of(symmetries, rows + columns + labels)
    for array in arrays:
        _refuse_moved(array, generators)
    count = len(tensors)
    group = np.full(count, -1, np.int64)
    for number, members in enumerate(groups):
        if len(members) == 0 or (group[list(members)] >= 0).any():
            raise ValueError("Each group of multipliers has at least one member, and no multiplier is in two groups.")
        group[list(members)] = number
    given = np.zeros(count) if weights is None else np.asarray(weights, float)
    if given.shape != (count,):
        raise ValueError(f"There are {count} tensors and they need as many weights, not {given.shape}.")
    flat = np.stack([array.ravel() for array in arrays], axis=1)
    return _solve(
        template(rows, columns, labels, chosen),
        sparse.csr_array(flat[:, :count]),
        flat[:, count] if fixed is not None else np.zeros(len(flat)),
        given,
        group,
        () if chosen == "plane" else generators,
        solver,
        accuracy,
        effort,
    )


def _triple_tensors(table: Operation) -> sparse.csr_array:
    """The tensors of the single triples, flattened, one column for each."""
    shape = (table.rows, table.columns, table.label_count)
    own = [(a, b, table.values[a][b]) for a, b, _ in table.triples]
    count = len(own)
    index = np.concatenate([np.ravel_multi_index(np.array(t).T, shape) for t in (own, table.triples)])
    values = np.repeat([1.0, -1.0], count)
    return sparse.csr_array((values, (index, np.tile(np.arange(count), 2))), shape=(int(np.prod(shape)), count))


def _refuse_moved(tensor: NDArray[np.float64], generators: Generators) -> None:
    rows, columns, labels = tensor.shape
    size = rows + columns
    square = np.zeros((size, size, labels))
    square[:rows, rows:] = tensor
    square[rows:, :rows] = tensor.transpose(1, 0, 2)
    for number, generator in enumerate(generators):
        points, moved = generator[:size], generator[size:] - size
        image = np.empty_like(square)
        image[np.ix_(points, points, moved)] = square
        if np.abs(image - square).max() > 1e-9 * (1 + np.abs(square).max()):
            raise ValueError(f"Symmetry {number} changes a tensor of the family; sum the tensors of each orbit first.")


@one_thread()
def _solve(
    shape: Template,
    tensors: sparse.csr_array,
    fixed: NDArray[np.float64],
    weights: NDArray[np.float64],
    group: NDArray[np.int64],
    generators: Generators,
    solver: Solver | None,
    accuracy: float | None,
    effort: Effort | None,
) -> FamilyRelaxation:
    """The best corrected bound of the solvers tried: the one given, or first the one for the size, then the other."""
    reduced = reduction(shape, generators)
    factor = NEURON_FACTOR * scaled_phi(shape.kind, 1.0)
    columns = sparse.csr_array(reduced.sums @ (shape.target @ tensors))
    data = ConeData(
        reduced.sums @ shape.norm,
        reduced.sums @ (shape.target @ fixed),
        columns,
        weights / factor,
        group,
        (reduced.sums @ shape.gaussian) / reduced.sums.sum(axis=1),
        reduced.blocks,
    )
    largest = max(order for order, _ in data.blocks)
    work = interior_work(data)
    if effort is not None:
        effort.refuse(work)
    usual: list[Solver] = ["interior", "scs"] if work <= INTERIOR_WORK else ["scs", "interior"]
    if solver is not None and solver not in ACCURACY:
        raise ValueError(f"There is no solver {solver!r}; accepted are {', '.join(ACCURACY)}.")
    order: list[Solver] = [solver] if solver is not None else usual
    best: FamilyRelaxation | None = None
    tried: list[str] = []
    for name in order:
        solution = solve_cones(data, name, accuracy=accuracy or ACCURACY[name], limit=LIMITS[name], effort=effort)
        tried.append(f"{name} ({solution.status})")
        corrected = _corrected(shape, reduced, data, tensors, fixed, solution, f"{name}: {solution.status}")
        if corrected is not None and (best is None or corrected.value < best.value):
            best = corrected
        if effort is not None and effort.seconds_left == 0:
            break
        if best is not None and best.slack <= SLACK * (abs(best.value) + factor * best.t):
            break
    if best is None or abs(best.slack) > FAILURE * (abs(best.value) + factor * best.t):
        raise OperationProgramError(
            f"No solver came near the value of the program of kind {shape.kind!r} with a largest block of order "
            f"{largest}, or it is unbounded; tried: {', '.join(tried)}. Give symmetries, another degree or solver."
        )
    return best


def _corrected(
    shape: Template,
    reduced: Reduction,
    data: ConeData,
    tensors: sparse.csr_array,
    fixed: NDArray[np.float64],
    solution: ConeSolution,
    solver: str,
) -> FamilyRelaxation | None:
    """What the solution proves: multipliers in range, a Gram matrix with exactly the target, t raised as needed."""
    if not all(np.isfinite(gram).all() for gram in (solution.multipliers, *solution.grams)):
        return None
    multipliers = np.maximum(solution.multipliers, 0.0)
    free = data.weights - data.columns.T @ solution.moments
    if (free[data.group < 0] < -FAILURE * np.abs(data.weights).max(initial=0.0)).any():
        return None
    dual = -float(data.fixed @ solution.moments)
    for number in range(int(data.group.max(initial=-1)) + 1):
        dual += float(free[data.group == number].min())
        total = multipliers[data.group == number].sum()
        if total <= 0:
            return None
        multipliers[data.group == number] /= total
    # Now the Gram matrix: the identity of polynomials entry by entry, then the least t.
    scales = np.outer(shape.scale, shape.scale)
    gram = reduced.expanded(solution.grams)
    rest = shape.target @ (tensors @ multipliers + fixed)
    count = np.bincount(shape.moment_of.ravel(), weights=(scales**2).ravel(), minlength=shape.moments)
    present = np.bincount(shape.moment_of.ravel(), weights=(scales * gram).ravel(), minlength=shape.moments)
    t = float(shape.norm @ (present - rest) / (shape.norm @ shape.norm))
    missing = (t * shape.norm + rest - present) / count
    gram += scales * missing[shape.moment_of]
    gram = (gram + gram.T) / 2
    least = float(np.linalg.eigvalsh(gram)[0])
    t -= least
    gram[np.diag_indices_from(gram)] -= least
    factor = NEURON_FACTOR * scaled_phi(shape.kind, 1.0)
    value = factor * t + factor * float(data.weights @ multipliers)
    moments = scales * (reduced.spread @ solution.moments)[shape.moment_of]
    phi = scaled_phi(shape.kind, t)
    return FamilyRelaxation(
        multipliers,
        value,
        phi,
        factor * dual,
        value - factor * dual,
        shape.kind,
        scales * gram,
        t,
        t,
        moments,
        solver,
        solution.seconds,
    )
