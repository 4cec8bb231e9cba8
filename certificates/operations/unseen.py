"""What all networks of nearly maximum margin say of cells that they never saw, with a certificate for every claim.

The given cells of a table have a maximum margin gamma, enclosed by a network and a proved bound. For each cell that is
not given, but whose true label is known, the question is what *every* network of margin at least (1 - epsilon) gamma on
the given cells answers there:

- *right*: each of them prefers the true label to every other one (`unseen_programs`, one proof for every other label);
- *wrong*: each of them prefers some other label (one proof, about a mean of the other labels);
- *both*: one such network that is right and one that is wrong are shown (`unseen_networks`);
- *open*: none of these was certified; the reason says what was found.

Epsilon exceeds the relative gap of the enclosure. So the network that is shown has itself a margin of at least
(1 - epsilon) gamma, and no claim is about an empty set. Every document is checked by
`lemmata.certificates.operation_kernel` before it is returned. The proofs are in OPERATION_MARGIN.md.

A cell that stays open in this way is asked about once more with an epsilon of 10^-6 of the margin of the network that
is shown. What is proved then holds for every network of at least `UnseenCell.threshold`, and the one that is shown has
that margin; but it is not known to be within that epsilon of the maximum, and `UnseenCell.epsilon` is below the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, log10
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates import operation_kernel
from lemmata.certificates.operations.columns import best_network, integer_network
from lemmata.certificates.operations.document import (
    Document,
    line_of,
    lower_margin,
    threshold_below,
    unseen_both,
    unseen_right,
    unseen_wrong,
)
from lemmata.certificates.operations.forms import Kind
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import OperationProgramError, relaxed_margin
from lemmata.certificates.operations.programs_effort import Effort, TooMuchWorkError, least_work
from lemmata.certificates.operations.rounding import RoundedBound, UnseenPart, proof_order, rounded_bound
from lemmata.certificates.operations.unseen_networks import LeaningNetwork, leaning_network
from lemmata.certificates.operations.unseen_parts import (
    exact_network,
    exact_part,
    moved_network,
    moved_part,
    part_value,
)
from lemmata.certificates.operations.unseen_programs import difference, relaxed_unseen
from lemmata.certificates.operations.unseen_symmetry import cell_image, fixing, respectful, true_labels
from lemmata.numerics.operations.operation import Cell, Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries, operation_symmetries

__all__ = ["UnseenCell", "UnseenCells", "Verdict", "unseen_cells"]

Verdict = Literal["right", "wrong", "both", "open"]

LEAST_EPSILON = Fraction(1, 10**6)
GAPS = 3
"""Epsilon is by default at least so many gaps: room for the networks of the verdict *both*."""
SMALL_GAP = 1e-5
"""A gap above which degree 6 is tried for the margin itself."""
ROUNDS = 25
"""Of column generation for a network that leans one way."""


@dataclass(frozen=True)
class UnseenCell:
    """What the networks in question say of one cell.

    Attributes:
        cell, label: a cell that is not given, and its true label.
        verdict: "right", "wrong", "both" or "open".
        margin: least of f_label - f_c over c at the cell in units of the threshold. *right*: proved to be at least this
            for every network; *wrong*: at most this; *both*: that of the network that is wrong; *open*: None.
        seen: the least such number of a network that was found, and the largest, in units of the threshold; NaN where
            none was looked for. These are examples, no bounds.
        epsilon, threshold: the claim is about networks of margin at least (1 - epsilon) times the maximum; right and
            wrong are proved for all from the threshold on, a decimal. In most cells these are those of `UnseenCells`.
        document: the certificate; None for "open", and where a theorem says it (`forced`, epsilon 0).
        reason: why a cell is open, or the theorem that decides it.
        image_of: the cell whose proof was carried over by a symmetry; None where the cell was worked on itself.
    """

    cell: Cell
    label: int
    verdict: Verdict
    margin: float | None
    seen: tuple[float, float]
    epsilon: Fraction
    threshold: str
    document: Document | None
    reason: str | None = None
    image_of: Cell | None = None


@dataclass(frozen=True, eq=False)
class UnseenCells:
    """The verdicts on all unseen cells of a table.

    Attributes:
        truth, given: the table with the true labels, and with the given cells alone.
        lower, upper: the certified enclosure of the maximum margin on the given cells.
        epsilon: the claims are about networks of margin at least (1 - epsilon) times the maximum; above the gap.
        threshold: the margin from which on *right* and *wrong* are proved, as a decimal. Where epsilon is 0 (`forced`)
            it is the maximum margin itself, as a closed form.
        cells: the verdicts, by rows.
    """

    truth: Operation
    given: Operation
    lower: float
    upper: float
    epsilon: Fraction
    threshold: str
    cells: tuple[UnseenCell, ...]

    @property
    def gap(self) -> float:
        """The relative gap of the enclosure, less than epsilon."""
        return (self.upper - self.lower) / self.upper

    def count(self, verdict: Verdict) -> int:
        """The number of cells with a verdict."""
        return sum(cell.verdict == verdict for cell in self.cells)


def unseen_cells(
    truth: Operation,
    given: Operation,
    *,
    epsilon: Fraction | None = None,
    kind: Kind | None = None,
    seed: int = 0,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> UnseenCells:
    """The verdict on every cell that is not given and whose true label is known, with certificates.

    Args:
        truth: the table with the true labels; cells that it lacks have none.
        given: the same table with fewer cells.
        epsilon: how far below the maximum margin the networks in question may be, above the certified relative gap; by
            default three gaps rounded up to one digit, and 10^-6 at least.
        kind: of all programs; by default "plane" for at most three labels, else degree 4, and 6 where that is not
            enough and the work of a program is at most `USUAL_WORK`, or fits into ``seconds``.
        seed: of the searches for networks.
        seconds: for degree 6 of all cells together, in place of the limit of work; 0 does without degree 6.
        progress: is told what is being done.

    Raises:
        ValueError: for tables that do not belong together, no unseen cell with a known label, an epsilon that is not
            above the gap, or not below 1, a negative time, and when no network with a positive margin is found.
        TooMuchWorkError: for the kind 6 in a time of 0, or beyond the memory that a limited time allows.
        lemmata.certificates.operations.programs.OperationProgramError: when the bound of the margin fails.
    """
    labels = true_labels(truth, given)
    progress("the margin of the given cells")
    doing = ["the margin of the given cells"]
    effort = Effort.of(seconds, lambda what: progress(f"{doing[-1]}, degree 6: {what}"))
    problem = _problem(truth, given, labels, epsilon, kind, seed, effort)
    found: dict[Cell, UnseenCell] = {}
    for cell, label in labels.items():
        source, g = next(
            ((other, g) for other in found for g in problem.elements if cell_image(given, g, other) == cell),  # type: ignore[arg-type]
            (None, None),
        )
        if source is not None and g is not None and problem.findings[source].movable:
            finding = problem.findings[source].moved(problem, g)
        else:
            source = None
            doing.append(f"cell {cell}")
            progress(doing[-1])
            finding = problem.findings[cell] = _finding(problem, cell, label)
        found[cell] = finding.cell(problem, cell, label, source)
    return UnseenCells(
        truth, given, float(problem.lower), problem.upper, problem.epsilon, problem.threshold, tuple(found.values())
    )


@dataclass(frozen=True, eq=False)
class _Problem:
    """The margin of the given cells, and what all questions share."""

    truth: Operation
    given: Operation
    labels: dict[Cell, int]
    kinds: tuple[Kind, ...]
    symmetries: OperationSymmetries
    elements: NDArray[np.int64]
    network: OperationNetwork
    bound: RoundedBound
    lower: Fraction
    upper: float
    epsilon: Fraction
    threshold: str
    fixed_epsilon: bool
    seed: int
    effort: Effort
    findings: dict[Cell, _Finding]

    @property
    def level(self) -> Fraction:
        """The threshold as a number."""
        return Fraction(self.threshold)

    @property
    def floor(self) -> float:
        """The margin that networks are searched for: above (1 - epsilon) upper, and below the one that is known."""
        least = (1 - float(self.epsilon)) * self.upper
        return least + 0.2 * (float(self.lower) - least)


def _problem(
    truth: Operation,
    given: Operation,
    labels: dict[Cell, int],
    epsilon: Fraction | None,
    kind: Kind | None,
    seed: int,
    effort: Effort,
) -> _Problem:
    """The enclosure of the margin of the given cells, by degree 6 where that helps, and epsilon."""
    symmetries = operation_symmetries(given).listable()
    kinds = _kinds(given, kind)
    best: tuple[float, RoundedBound, OperationNetwork, Fraction] | None = None
    for attempt in kinds:
        try:
            relaxation = relaxed_margin(
                given, kind=attempt, symmetries=symmetries, effort=_effort(effort, given, attempt, symmetries, kind)
            )
        except TooMuchWorkError:
            if best is None:
                raise
            continue
        bound = rounded_bound(given, relaxation)
        if best is None or bound.proof.bound < best[0]:
            if best is None:
                network = integer_network(best_network(given, start_q=relaxation.q, symmetries=symmetries, seed=seed))
                best = (bound.proof.bound, bound, network, lower_margin(given, network))
            else:
                best = (bound.proof.bound, bound, best[2], best[3])
        if 1 - float(best[3]) / best[0] <= SMALL_GAP:
            break
    assert best is not None
    upper, bound, network, lower = best
    chosen = _epsilon(epsilon, max(0.0, 1 - float(lower) / upper))
    threshold = threshold_below(given, network, chosen)
    elements = respectful(truth, given)
    return _Problem(
        truth,
        given,
        labels,
        kinds,
        symmetries,
        elements,
        network,
        bound,
        lower,
        upper,
        chosen,
        threshold,
        epsilon is not None,
        seed,
        effort,
        {},
    )


def _kinds(given: Operation, kind: Kind | None) -> tuple[Kind, ...]:
    """The kinds of program that are tried in turn: the one asked for, or what the kernel can check."""
    if kind is not None:
        return (kind,)
    if given.label_count <= 3:
        return ("plane",)
    proofs = given.label_count - 1  # in a document of one cell
    checked = proofs * proof_order(given.size, given.label_count, 6) ** 3 <= operation_kernel.MAX_ORDER_CUBED
    return (4, 6) if checked else (4,)


def _effort(
    effort: Effort, given: Operation, kind: Kind, symmetries: OperationSymmetries, asked: Kind | None
) -> Effort | None:
    """The limits of a program: none where its kind was asked for without a limit of time, and for small ones.

    Raises:
        TooMuchWorkError: where no reduction by the symmetries can bring the work within the limits.
    """
    if kind != 6 or (asked == 6 and not effort.limited):
        return None
    effort.refuse(least_work(given.size, given.label_count, symmetries.order))
    return effort


def _epsilon(wanted: Fraction | None, gap: float) -> Fraction:
    """The epsilon that is wanted if it is above the gap, or the default.

    Raises:
        ValueError: for an epsilon that is not above the gap, or not below 1.
    """
    if wanted is None:
        if GAPS * gap <= LEAST_EPSILON:
            return LEAST_EPSILON
        power = floor(log10(GAPS * gap))
        wanted = ceil(GAPS * gap / 10.0**power) * Fraction(10) ** power
    if wanted <= gap:
        raise ValueError(
            f"Epsilon is {float(wanted):.3g}, but the maximum margin is known to a relative {gap:.3g} only: perhaps no "
            f"network at hand is that near to it, and the claim would be empty. Give an epsilon above that, or none."
        )
    if wanted >= 1:
        raise ValueError(f"Epsilon must be below 1, not {float(wanted):.3g}: from 1 on every network is meant.")
    return wanted


# ---- one cell


@dataclass(frozen=True, eq=False)
class _Finding:
    """What was found about a cell before it is written down."""

    verdict: Verdict
    seen: tuple[float, float]
    parts: dict[int | None, UnseenPart]
    weights: tuple[int, ...]
    networks: tuple[OperationNetwork, ...]
    epsilon: Fraction
    threshold: str
    reason: str | None = None

    @property
    def movable(self) -> bool:
        """Whether a symmetry carries the finding over: proofs in a plane are made again instead."""
        return all(part.proof.kind != "plane" for part in self.parts.values())

    def moved(self, problem: _Problem, g: NDArray[np.int64]) -> _Finding:
        """The finding about the image of the cell."""
        given, N = problem.given, problem.given.size
        weights = [0] * len(self.weights)
        for c, weight in enumerate(self.weights):
            weights[g[N + c] - N] = weight
        return _Finding(
            self.verdict,
            self.seen,
            {
                None if c is None else int(g[N + c] - N): moved_part(part, given, problem.symmetries, g)
                for c, part in self.parts.items()
            },
            tuple(weights),
            tuple(moved_network(network, g) for network in self.networks),
            self.epsilon,
            self.threshold,
            self.reason,
        )

    def cell(self, problem: _Problem, cell: Cell, label: int, source: Cell | None) -> UnseenCell:
        """The verdict with its certificate, which the kernel has accepted."""
        given, epsilon, level = problem.given, self.epsilon, Fraction(self.threshold)
        margin: float | None = None
        document: Document | None = None
        if self.verdict == "right":
            parts = [self.parts[c] for c in range(given.label_count) if c != label]
            document = unseen_right(given, cell, label, epsilon, problem.network, parts)
            margin = min(part_value(part, level) for part in parts)
        elif self.verdict == "wrong":
            part = self.parts[None]
            document = unseen_wrong(given, cell, label, epsilon, problem.network, self.weights, part)
            margin = -part_value(part, level)
        elif self.verdict == "both":
            right, wrong = self.networks
            margin = self.seen[0]
            document = unseen_both(given, cell, label, epsilon, right, wrong, problem.bound)
            try:
                line_of(document)
            except ValueError as error:
                reason = f"two networks that disagree were found, but not their integers: {error}"
                return UnseenCell(cell, label, "open", None, self.seen, epsilon, self.threshold, None, reason, source)
        if document is not None:
            line_of(document)
        return UnseenCell(
            cell, label, self.verdict, margin, self.seen, epsilon, self.threshold, document, self.reason, source
        )


def _finding(problem: _Problem, cell: Cell, label: int) -> _Finding:
    """The verdict on one cell: networks first, then the proof that they leave possible."""
    given = problem.given
    others = [c for c in range(given.label_count) if c != label]
    fixed = fixing(given, problem.elements, cell, [label])
    of_label = fixed.point_orbits()[given.size :]
    first = [c for c in others if c == min(k for k in others if of_label[k] == of_label[c])]
    differences = {c: difference(given, cell, label, np.eye(given.label_count)[c]) for c in others}
    best = _leaning(problem, [differences[c] for c in others], fixed)
    most = best.value / problem.floor
    if best.value <= 1e-7 * problem.floor:
        return _nearer(problem, lambda asked: _wrong(asked, cell, label, fixed, most))
    least = most
    for c in first:
        stabiliser = fixing(given, problem.elements, cell, [label, c])
        worst = _leaning(problem, [-differences[c]], stabiliser)
        least = min(least, -worst.value / problem.floor)
        if worst.value > 1e-7 * problem.floor:
            pair = exact_network(best), exact_network(worst)
            return _Finding("both", (least, most), {}, (), pair, problem.epsilon, problem.threshold)
    return _nearer(problem, lambda asked: _right(asked, cell, label, first, others, (least, most)))


def _nearer(problem: _Problem, ask: Callable[[_Problem], _Finding]) -> _Finding:
    """The finding, and where it is open the one for networks nearer to the one that is shown."""
    finding = ask(problem)
    if finding.verdict != "open" or problem.fixed_epsilon or problem.epsilon <= LEAST_EPSILON:
        return finding
    threshold = threshold_below(problem.given, problem.network, LEAST_EPSILON)
    nearer = ask(replace(problem, epsilon=LEAST_EPSILON, threshold=threshold))
    return finding if nearer.verdict == "open" else nearer


def _leaning(
    problem: _Problem, differences: Sequence[NDArray[np.float64]], group: OperationSymmetries
) -> LeaningNetwork:
    return leaning_network(
        problem.given,
        np.array(differences),
        problem.floor,
        problem.network,
        group,
        enough=1e-3 * problem.floor,
        hopeless=0.0,
        rounds=ROUNDS,
        seed=problem.seed,
    )


def _wrong(problem: _Problem, cell: Cell, label: int, fixed: OperationSymmetries, most: float) -> _Finding:
    """*wrong*, or *open*: no network that is right was found."""
    part, weights, value = _proved(problem, cell, label, None, fixed)
    seen = (float("nan"), most)
    if part is not None:
        return _Finding("wrong", seen, {None: part}, weights, (), problem.epsilon, problem.threshold)
    reason = f"no network that is right was found, and {_room(value, 'up to', -value)}"
    return _Finding("open", seen, {}, (), (), problem.epsilon, problem.threshold, reason)


def _right(
    problem: _Problem, cell: Cell, label: int, first: Sequence[int], others: Sequence[int], seen: tuple[float, float]
) -> _Finding:
    """*right*, or *open*: no network that is wrong was found."""
    given, N = problem.given, problem.given.size
    parts: dict[int | None, UnseenPart] = {}
    for c in others:
        if c in parts:
            continue
        movable = problem.kinds != ("plane",)
        if movable and c not in first:
            continue
        part, _, value = _proved(problem, cell, label, c, fixing(given, problem.elements, cell, [label, c]))
        if part is None:
            reason = (
                f"no network that is wrong was found, and against label {given.label_names[c]} "
                f"{_room(value, 'down to', value)}"
            )
            return _Finding("open", seen, {}, (), (), problem.epsilon, problem.threshold, reason)
        parts[c] = part
        if not movable:
            continue
        for g in problem.elements:
            image = int(g[N + c] - N)
            if cell_image(given, g, cell) == cell and g[N + label] == N + label and image not in parts:  # type: ignore[arg-type]
                parts[image] = moved_part(part, given, problem.symmetries, g)
    return _Finding("right", seen, parts, (), (), problem.epsilon, problem.threshold)


def _room(value: float, direction: str, shown: float) -> str:
    """What a bound that proves nothing still allows, in words."""
    if not np.isfinite(value):
        return "no program gave a bound"
    return f"the bound leaves room {direction} {shown:.3g} of the threshold"


def _proved(
    problem: _Problem, cell: Cell, label: int, wrong: int | None, group: OperationSymmetries
) -> tuple[UnseenPart | None, tuple[int, ...], float]:
    """The first kind of program whose rounded proof has a positive bound; else None, and the best bound of any."""
    best = -np.inf
    for kind in problem.kinds:
        try:
            effort = _effort(problem.effort, problem.given, kind, group, kind if problem.kinds == (6,) else None)
            relaxation = relaxed_unseen(
                problem.given, cell, label, wrong, float(problem.level), group, kind=kind, effort=effort
            )
        except (OperationProgramError, TooMuchWorkError):
            continue
        try:
            part, weights = exact_part(problem.given, relaxation)
        except ValueError:  # too far from a proof to be rounded
            continue
        value = part_value(part, problem.level)
        if value > 1e-9:
            return part, weights, value
        best = max(best, value)
    return None, (), best
