"""Saddle pairs: how a network and a distribution certify each other (lemmas 7.2 to 7.6).

A network theta of total mass at most 1, a distribution q on the inputs and class weights tau on the wrong labels
prove together that theta has maximum margin gamma when

(P)    every margin f(x)[y] - f(x)[y'] of theta is at least gamma, and
(D)    no unit neuron has an expected class-weighted margin E_q[phi(x)[y] - sum_y' tau(x)[y'] phi(x)[y']] above gamma.

(P) is evaluated here, on every input, from the weights alone. (D) cannot be evaluated: it is a bound over all neurons,
proved once (`lemmata.certificates.game.margin_game`, `lemmata.certificates.saddle.parity`) and passed in as the number
``neuron_bound``. When both hold, complementary slackness says that q lives on inputs of smallest margin (7.1) and tau
on labels of largest wrong logit (condition C.1); these are checked too, because a pair that misses them was not meant
to be a saddle.

In exact arithmetic every decision is exact. In floating point a comparison is granted the rounding error of the
forward pass, bounded a priori from the network's size and weights, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_inputs, sign_inputs
from lemmata.constructions.parity.support import checked_support
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, rational, sqrt_rational
from lemmata.numerics.exact.numbers import is_exact
from lemmata.numerics.groups.tables import FiniteGroup

__all__ = [
    "ClassWeights",
    "Task",
    "Verdict",
    "class_function_weights",
    "group_task",
    "judge",
    "only_wrong_label",
    "parity_task",
    "quotient_weights",
    "rounding_of_margin",
]


@dataclass(frozen=True, eq=False)
class Task:
    """A classification task listed point by point: ``inputs`` (N, D), ``labels`` (N,) in range(``label_count``).

    Raises:
        ValueError: unless there are N >= 1 points, at least two labels, and all labels are integers in range.
    """

    name: str
    inputs: np.ndarray
    labels: np.ndarray
    label_count: int

    def __post_init__(self) -> None:
        if self.inputs.ndim != 2 or self.labels.shape != self.inputs.shape[:1] or not self.labels.size:
            raise ValueError(
                f"The task {self.name} needs inputs of shape (N, D) and labels of shape (N,) with N >= 1, "
                f"but they have {self.inputs.shape} and {self.labels.shape}."
            )
        if self.label_count < 2 or self.labels.dtype.kind not in "iu":
            raise ValueError(
                f"The task {self.name} needs at least two labels, numbered by integers, "
                f"but has {self.label_count} of type {self.labels.dtype}."
            )
        outside = np.flatnonzero((self.labels < 0) | (self.labels >= self.label_count))
        if outside.size:
            raise ValueError(
                f"The labels of the task {self.name} must lie in 0..{self.label_count - 1}, "
                f"but point {outside[0]} has {self.labels[outside[0]]}."
            )


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """A distribution ``q`` (N,) on the points and weights ``tau`` (N, L) on the wrong labels of each point.

    Exact arrays are compared exactly, floats to the rounding error of their sums.

    Raises:
        ValueError: unless q >= 0 sums to 1 and every row of tau is >= 0, sums to 1 and vanishes on the correct label.
    """

    task: Task
    q: np.ndarray
    tau: np.ndarray

    def __post_init__(self) -> None:
        points, labels = len(self.task.labels), self.task.label_count
        if self.q.shape != (points,) or self.tau.shape != (points, labels):
            raise ValueError(
                f"The task {self.task.name} needs q of shape ({points},) and tau of shape ({points}, {labels}), "
                f"but they have {self.q.shape} and {self.tau.shape}."
            )
        _refuse_non_distribution(self.q, "q", "the points")
        for point in range(points):
            _refuse_non_distribution(self.tau[point], f"tau at point {point}", "the labels")
            if self.tau[point, self.task.labels[point]] != 0:
                raise ValueError(f"tau at point {point} must vanish on the correct label {self.task.labels[point]}.")


def _refuse_non_distribution(weights: np.ndarray, label: str, over: str) -> None:
    exact = is_exact(weights)
    if not exact and weights.dtype.kind != "f":
        raise ValueError(f"{label} must hold floats or exact numbers; balls cannot be compared with a sum of 1.")
    bad = np.flatnonzero(~_decide(weights, lambda weight: weight >= 0))
    if bad.size:
        raise ValueError(f"{label} must be >= 0, but entry {bad[0]} is {float(weights[bad[0]]):.6g}.")
    total = weights.sum()
    if total != 1 if exact else abs(total - 1) > len(weights) * np.finfo(float).eps:
        raise ValueError(f"{label} must add up to 1 over {over}, but gives {float(total):.12g}.")


def group_task(group: FiniteGroup) -> Task:
    """The task (a, b) -> ab on all n^2 pairs of one-hot inputs, in the order a n + b."""
    return Task(group.name, group_inputs(group.order), np.asarray(group.table).reshape(-1), group.order)


def parity_task(n: int, support: tuple[int, ...]) -> Task:
    """The task x -> prod_{i in S} x_i on all 2^n sign vectors; label 0 is +1, label 1 is -1.

    Raises:
        ValueError: unless the support is nonempty and lists distinct coordinates in 0..n-1.
    """
    inputs, indices = sign_inputs(n), checked_support(n, support)
    return Task(f"parity of {support} in {n} bits", inputs, (1 - np.prod(inputs[:, indices], axis=1)) // 2, 2)


def class_function_weights(group: FiniteGroup, per_element: np.ndarray) -> ClassWeights:
    """Uniform q and tau(a, b)[c] = per_element[a b c^-1] of the task (a, b) -> ab.

    Raises:
        ValueError: unless ``per_element`` (n,) is a class function that vanishes at the identity and sums to 1.
    """
    if per_element.shape != (group.order,):
        raise ValueError(
            f"per_element must have shape ({group.order},), one weight per element, not {per_element.shape}."
        )
    for members in group.classes:
        if any(per_element[g] != per_element[members[0]] for g in members):
            raise ValueError(f"per_element must be constant on conjugacy classes, but is not on {members.tolist()}.")
    return quotient_weights(group_task(group), group, per_element)


def quotient_weights(task: Task, group: FiniteGroup, per_element: np.ndarray) -> ClassWeights:
    """Uniform q and tau(x)[c] = per_element[y c^-1], y the label of x, of a task whose labels are group elements.

    Exact or in floats as ``per_element`` (n,) is.

    Raises:
        ValueError: unless ``per_element`` vanishes at the identity and sums to 1.
    """
    quotient = group.table[np.asarray(task.labels)[:, None], group.inverse[None, :]]
    points = len(task.labels)
    q = np.array([fmpq(1, points)] * points, dtype=object) if is_exact(per_element) else np.full(points, 1.0 / points)
    return ClassWeights(task, q, np.asarray(per_element)[quotient])


def only_wrong_label(task: Task) -> ClassWeights:
    """Uniform q and the only possible tau of a task with two labels.

    Raises:
        ValueError: if the task has more labels.
    """
    if task.label_count != 2:
        raise ValueError(f"The task {task.name} has {task.label_count} labels, so that tau is not determined.")
    points = len(task.labels)
    tau = np.array([[fmpq(int(label == other)) for other in (1, 0)] for label in task.labels], dtype=object)
    return ClassWeights(task, np.array([fmpq(1, points)] * points, dtype=object), tau)


@dataclass(frozen=True)
class Verdict:
    """What `judge` found. ``violations`` is empty exactly when the pair is accepted.

    ``primal``: smallest normalised margin of the network; ``dual``: the bound on every network's; ``gap``: dual -
    primal. They are exact numbers (``Cyclotomic``) or floats, as the network is. ``rounding`` bounds the error of a
    floating-point primal value and is 0 in exact arithmetic.
    """

    name: str
    primal: Any
    dual: Any
    gap: Any
    rounding: float
    violations: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """Whether the pair certifies that the network has maximum margin."""
        return not self.violations


def judge(network: HomogeneousNetwork, weights: ClassWeights, neuron_bound: Cyclotomic) -> Verdict:
    """The verdict whether ``network`` and ``weights`` certify each other, given the proved ``neuron_bound``.

    The network is normalised by its own total mass, so that any network of positive mass may be judged. Source: lemmas
    7.2 and 7.6.

    Raises:
        ValueError: for networks in ball arithmetic, of total mass 0 or whose logits do not fit the task, and for a
            bound that is not positive, or not exact where the network is.
    """
    _refuse_unjudgeable(network, neuron_bound)
    task, exact = weights.task, network.arithmetic == "exact"
    margins = _margins(network, task)
    unit, rounding = _unit_and_rounding(network, task)
    smallest = _minimum(margins[_wrong(task)])
    violations = _slackness_violations(weights, margins, smallest, rounding / float(unit))
    primal = smallest * unit
    dual = neuron_bound if exact else float(neuron_bound)
    gap = dual - primal
    tolerance = rounding + (0.0 if exact else 4 * np.finfo(float).eps * float(dual))
    if float(gap) < -tolerance or (exact and gap < 0):
        violations.append("(D) the margin exceeds the bound on every network: the bound is not one")
    if tolerance >= float(dual):
        violations.append("(P) the rounding error exceeds the bound itself: use exact arithmetic")
    if float(gap) > tolerance or (exact and gap > 0):
        violations.append(f"(P) the smallest margin falls short of the bound by {float(gap / dual):.3g} of it")
    return Verdict(task.name, primal, dual, gap, rounding, tuple(violations))


def _refuse_unjudgeable(network: HomogeneousNetwork, neuron_bound: Cyclotomic) -> None:
    if network.arithmetic == "ball":
        raise ValueError("A network of balls leaves ties undecided; judge it in exact arithmetic or as to_float().")
    if network.arithmetic == "exact" and not isinstance(neuron_bound, Cyclotomic):
        raise ValueError(f"An exact network needs an exact bound (Cyclotomic), not {neuron_bound!r}.")
    if not neuron_bound > 0:
        raise ValueError(f"The bound on all neurons must be positive, but is {float(neuron_bound):.6g}.")
    if not network.norm_power > 0:
        raise ValueError("The network has total mass 0, so it has no normalised margin.")


def _margins(network: HomogeneousNetwork, task: Task) -> np.ndarray:
    """The margins f(x)[y] - f(x)[y'] of the network as it is, shape (N, L), zero at y' = y."""
    logits = network.raw(task.inputs)
    if logits.shape != (len(task.labels), task.label_count):
        raise ValueError(
            f"The task {task.name} needs logits of shape ({len(task.labels)}, {task.label_count}), "
            f"but the network gives {logits.shape}."
        )
    return logits[np.arange(len(task.labels)), task.labels][:, None] - logits


def _wrong(task: Task) -> np.ndarray:
    """Which labels are wrong, shape (N, L)."""
    return np.arange(task.label_count)[None, :] != np.asarray(task.labels)[:, None]


def _unit_and_rounding(network: HomogeneousNetwork, task: Task) -> tuple[Any, float]:
    """What normalises a margin of the network, and a bound on the rounding error of a normalised margin."""
    total, nu = network.norm_power, network.nu
    if network.arithmetic == "exact":
        r = network.norm_squared if isinstance(network.norm_squared, Cyclotomic) else rational(network.norm_squared)
        return 1 / (sqrt_rational(r.to_fmpq()) ** nu * total), 0.0
    unit = float(network.norm_squared) ** (-nu / 2) / float(total)
    sizes = (np.abs(task.inputs) @ np.abs(network.hidden).T) ** network.degree * network.masses
    return unit, float(unit * rounding_of_margin(network, float((sizes @ np.abs(network.readout)).max())))


def _slackness_violations(weights: ClassWeights, margins: np.ndarray, smallest: Any, slack: float) -> list[str]:
    """Where complementary slackness fails: (7.1) for q, condition C.1 for tau."""
    violations = []
    wrong = _wrong(weights.task)
    at_margin = _close(margins, smallest, slack)
    tight_points = (at_margin & wrong).any(axis=1)
    supported = _decide(weights.q, lambda weight: weight > 0)
    off = np.flatnonzero(supported & ~tight_points)
    if off.size:
        violations.append(f"(7.1) q gives weight to point {off[0]}, whose margin is not the smallest")
    weighted = _decide(weights.tau, lambda weight: weight > 0)
    broken = np.argwhere(weighted & wrong & ~at_margin & supported[:, None])
    if broken.size:
        point, label = broken[0]
        violations.append(f"(C.1) tau gives weight to label {label} at point {point}, which is off the margin")
    return violations


def rounding_of_margin(network: HomogeneousNetwork, largest: float) -> float:
    """A bound on the rounding error of a margin computed by ``raw``: first order, doubled for the higher orders.

    ``largest`` bounds the sum of masses_i (|u_i|.|x|)^k |w_i| over the neurons, for all inputs x and all labels. Each
    product mass * (u.x)^k * w carries at most D + k + 2 roundings and its sum over m neurons m more, relative to the
    sum of absolute values; a margin is the difference of two logits, and each stored weight is itself rounded. A
    direction may miss its squared norm by (D + L + 2) eps of it, which changes a unit neuron by nu/2 times that.
    """
    k, m, D, L = network.degree, network.width, network.hidden.shape[1], network.readout.shape[1]
    return 2 * (2 * (m + D * k + 3 * k + 4) + network.nu * (D + L + 2)) * float(np.finfo(float).eps) * largest


def _minimum(values: np.ndarray) -> Any:
    """The smallest entry; exact entries are compared once per distinct value."""
    if not values.size:
        raise ValueError("There is no wrong label, so there is no margin.")
    return min(set(values.tolist()))


def _decide(values: np.ndarray, predicate: Callable[[Any], Any]) -> np.ndarray:
    """The predicate entry by entry, as booleans; an object that occurs often is decided once."""
    if values.dtype != object:
        return np.asarray(predicate(values), dtype=bool)
    decided: dict[int, bool] = {}
    for value in values.flat:
        if id(value) not in decided:
            decided[id(value)] = bool(predicate(value))
    return np.array([decided[id(value)] for value in values.flat], dtype=bool).reshape(values.shape)


def _close(margins: np.ndarray, smallest: Any, slack: float) -> np.ndarray:
    """Where a margin equals the smallest one: exactly, or within twice the rounding error of one margin."""
    if is_exact(margins):
        return _decide(margins, lambda margin: margin == smallest)
    return margins <= smallest + 2 * slack
