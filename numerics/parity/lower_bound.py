"""Which parities gradient descent cannot see: the statistical-query lower bound on a given network and trajectory.

A model h(theta, x) with r parameters and |dh/dtheta_i| <= 1 is trained on y = chi_S(x) with a loss whose derivative is
l_0(h) - y (the square loss has l_0(h) = h). The target enters the population gradient through

    E[chi_S dh/dtheta_i]                                         (a Fourier coefficient of a table of 2^n numbers)

alone. Parseval: the squares of these, over all sets S, have the sum E (dh/dtheta_i)^2 <= 1. Follow the trajectory
theta* that descends on the population loss of the target 0, with T steps. The deviation of S is the largest of its rT
coefficients; by counting, at most 4 r T/tau^2 sets have a deviation above tau/2. The others are *hidden*: where the
empirical gradients are within tau/2 of the population's, noise

    xi_t = E[l_0(h) grad h] - (empirical gradient for chi_S),    max |xi_t| <= tau,

keeps noisy descent theta <- theta - eta (gradient + R'(theta) + xi) on theta*, step for step, bit for bit. R is the
regularizer decay/2 |theta|^2. All C(n,k) coefficients of a degree come from one Walsh-Hadamard transform for each
coordinate and step.

Numbers are float64 or exact (object arrays of `fmpq`). Floating-point gradients are rounded to multiples of 2^-40, so
that the noise is an exact difference and the two trajectories agree to the last bit.

Source: pareto-frontiers, section 6.3.1, proposition 6.3, lemma C.1, assumption 6.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.fourier.gaps import support_indices
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.numerics.runs.memory import require_memory

__all__ = [
    "HiddenRun",
    "NoisyDescent",
    "ParityView",
    "class_bound",
    "class_deviations",
    "parity_view",
    "relu_tables",
    "run_hidden",
    "view_bound",
]

Array = NDArray[Any]
Model = Callable[[Array], tuple[Array, Array]]

LARGEST_INPUTS = 20
"""The largest number n of inputs: every table has 2^n rows."""
_GRID = 2.0**40
_SLACK = 2.0**-40
"""Floating-point derivatives may exceed 1 by so much."""


@dataclass(frozen=True)
class NoisyDescent:
    """A model and how it is trained.

    Attributes:
        model: maps theta, shape (r,), to the tables of h, shape (2^n,), and of its derivatives, shape (2^n, r), in the
            order of `lemmata.numerics.fourier.walsh`; for instance `relu_tables`.
        rate: eta.
        decay: of the regularizer decay/2 |theta|^2.
        loss: l_0, a function of arrays; the identity, which is that of the square loss, if None.
    """

    model: Model
    rate: Any
    decay: Any = 0
    loss: Callable[[Array], Array] | None = None


@dataclass(frozen=True, eq=False)
class ParityView:
    """What a target-free trajectory can see of the parities of k inputs.

    Attributes:
        inputs: n.
        degree: k.
        tau: the largest noise.
        trajectory: theta*_0, ..., theta*_T, shape (T + 1, r).
        gradients: E[l_0(h) grad h] at theta*_0, ..., theta*_(T-1), shape (T, r).
        sets: the sets S as bit masks, increasing, shape (C(n,k),).
        deviations: max over steps and coordinates of |E[chi_S dh/dtheta_i]|, in the order of ``sets``.
        visible_mass: sum over S of E[chi_S dh/dtheta_i]^2, shape (T, r): at most 1 by Parseval.
    """

    inputs: int
    degree: int
    tau: Any
    trajectory: Array
    gradients: Array
    sets: NDArray[np.int64]
    deviations: Array
    visible_mass: Array

    @property
    def hidden(self) -> list[tuple[int, ...]]:
        """The sets whose deviation is at most tau/2, as increasing indices."""
        return [_members(S) for S, size in zip(self.sets, self.deviations, strict=True) if 2 * size <= self.tau]

    @property
    def exposed(self) -> list[tuple[int, ...]]:
        """The other sets: at most 4 r T/tau^2 of them."""
        return [_members(S) for S, size in zip(self.sets, self.deviations, strict=True) if 2 * size > self.tau]


@dataclass(frozen=True, eq=False)
class HiddenRun:
    """A run of noisy descent on the target chi_S, against the noise that should hide it.

    Attributes:
        support: S.
        trajectory: theta_0, ..., theta_T, shape (T + 1, r).
        noise: xi_0, ..., xi_(T-1), shape (T, r), clipped to [-tau, tau].
        needed: the largest entry of the noise that would have been needed.
        hidden: whether the trajectory is the target-free one, bit for bit.
    """

    support: tuple[int, ...]
    trajectory: Array
    noise: Array
    needed: Any
    hidden: bool


def relu_tables(n: int, width: int) -> Model:
    """The model h(x) = sum_i u_i (w_i . x + b_i)_+ + c with theta = (w_1, ..., w_width, b, u, c).

    There are r = width (n + 2) + 1 parameters. The derivatives are at most 1 in absolute value where
    |w_i|_1 + |b_i| <= 1 and |u_i| <= 1. The slope of the ReLU at 0 is 0.

    Raises:
        ValueError: unless 1 <= n <= 20 and width >= 1; on use, for parameters of another shape.
    """
    if not 1 <= n <= LARGEST_INPUTS or width < 1:
        raise ValueError(f"A network needs 1 <= n <= {LARGEST_INPUTS} inputs and a width >= 1, not {n} and {width}.")
    return partial(_relu_tables, n, width)


def _relu_tables(n: int, width: int, theta: Array) -> tuple[Array, Array]:
    count = width * (n + 2) + 1
    if theta.shape != (count,):
        raise ValueError(f"The parameters must have shape ({count},), not {theta.shape}.")
    require_memory(16 * 2**n * (count + 3 * width), f"The derivatives of {count} parameters at 2^{n} inputs")
    x = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    w, b, u, c = np.split(theta, [width * n, width * (n + 1), width * (n + 2)])
    z = x @ w.reshape(width, n).T + b
    on = np.asarray(z > 0, dtype=bool)
    active = np.where(on, z, 0 * z)
    slopes = np.where(on, u, 0 * z)
    first = (slopes[:, :, None] * x[:, None, :]).reshape(2**n, width * n)
    ones = np.full((2**n, 1), theta.dtype.type(1) if theta.dtype != object else fmpq(1), dtype=theta.dtype)
    return active @ u + c[0], np.concatenate([first, slopes, active, ones], axis=1)


def parity_view(descent: NoisyDescent, start: ArrayLike, steps: int, k: int, tau: object) -> ParityView:
    """What ``steps`` steps of target-free descent can see of the parities of k inputs.

    Args:
        descent: the model and its training.
        start: theta_0, shape (r,): floats, or exact rational numbers, which keep everything exact.
        steps: T.
        k: the degree of the parities.
        tau: the largest noise, a number like those of ``start``.

    Raises:
        ValueError: unless steps >= 1, 1 <= k <= n and tau > 0; for tables of other shapes, NaN or infinity, or a
            derivative above 1 in absolute value (saying where: the bound is for normalised models).
    """
    if steps < 1 or not _positive(tau):
        raise ValueError(f"The lower bound needs at least one step and noise tau > 0, not {steps} and {tau}.")
    theta = _parameters(start)
    trajectory, gradients, masses, sizes, n = [theta], [], [], [], 0
    for step in range(steps):
        h, slopes = _tables(descent, theta, step)
        n = _inputs(h)
        sets = _sets_of_size(n, k)
        correlations = np.stack([_coefficients(column, sets) for column in slopes.T])
        sizes.append(np.maximum.reduce(np.abs(correlations), axis=0))
        masses.append((correlations * correlations).sum(axis=1))
        gradients.append(_rounded(_mean(_loss(descent, h)[:, None] * slopes)))
        theta = _step(descent, theta, gradients[-1])
        trajectory.append(theta)
    deviations = np.maximum.reduce(np.stack(sizes), axis=0)
    return ParityView(
        n,
        k,
        _number(tau, theta),
        np.stack(trajectory),
        np.stack(gradients),
        _sets_of_size(n, k),
        deviations,
        np.stack(masses),
    )


def run_hidden(
    descent: NoisyDescent, view: ParityView, support: Iterable[int], batches: Sequence[ArrayLike]
) -> HiddenRun:
    """A run on the target chi_S with the noise that keeps it on the target-free trajectory, as far as tau allows.

    Args:
        descent: as for ``view``.
        view: the trajectory to stay on.
        support: S, k inputs.
        batches: for each step the inputs of its sample, as indices 0, ..., 2^n - 1, in any number, repeated or not.

    Raises:
        ValueError: if S has not k elements, the number of batches is not that of the steps, or a batch is empty or
            holds other numbers.
    """
    members = support_indices(view.inputs, support)
    if len(members) != view.degree:
        raise ValueError(f"The view is of the parities of {view.degree} inputs, but the support has {len(members)}.")
    if len(batches) != len(view.gradients):
        raise ValueError(f"There must be a batch for each of the {len(view.gradients)} steps, not {len(batches)}.")
    signs = _signs(view.inputs, members)
    theta = view.trajectory[0]
    trajectory, noises, needed = [theta], [], 0 * view.tau
    for step, (batch, aim) in enumerate(zip(batches, view.gradients, strict=True)):
        rows = _rows(batch, len(signs))
        h, slopes = _tables(descent, theta, step)
        residual = _loss(descent, h[rows]) - signs[rows]
        gradient = _rounded(_mean(residual[:, None] * slopes[rows]))
        wanted = aim - gradient
        needed = max(needed, max(np.abs(wanted).tolist()))
        noise = np.minimum(np.maximum(wanted, -view.tau), view.tau)
        theta = _step(descent, theta, gradient + noise)
        trajectory.append(theta)
        noises.append(noise)
    run = np.stack(trajectory)
    return HiddenRun(members, run, np.stack(noises), needed, bool(np.all(run == view.trajectory)))


def view_bound(n: int, k: int, parameters: int, steps: int, tau: object) -> fmpq:
    """The share 1 - 4 r T/(tau^2 C(n,k)) of the parities that surely stay hidden; 0 or less says nothing.

    For theta_0 at random it is also, for the best hidden parity, a bound on the probability that it stays hidden: at
    least 1 - delta if r T/(tau^2 delta) <= C(n,k)/4.

    Args:
        n: inputs.
        k: the degree.
        parameters: r.
        steps: T.
        tau: the largest noise, an exact rational number.

    Raises:
        ValueError: unless 1 <= k <= n, the counts are at least 1, and tau > 0 is exact.
    """
    noise = as_exact([tau])[0]
    if not 1 <= k <= n or min(parameters, steps) < 1 or not noise > 0:
        raise ValueError(
            f"The bound needs 1 <= k <= n, at least one parameter and step, and tau > 0, not n = {n}, k = {k}, "
            f"r = {parameters}, T = {steps}, tau = {tau}."
        )
    return 1 - 4 * parameters * steps / (noise * noise * comb(n, k))


def class_deviations(descent: NoisyDescent, start: ArrayLike, steps: int, targets: ArrayLike) -> Array:
    """max |E[f dh/dtheta_i]| over steps and coordinates of target-free descent, for each f of a class, shape (D,).

    Args:
        descent: the model and its training.
        start: theta_0, shape (r,).
        steps: T.
        targets: tables of the functions f, shape (D, 2^n), numbers like those of ``start``.

    Raises:
        ValueError: unless steps >= 1, for tables of other shapes, or as `parity_view`.
    """
    if steps < 1:
        raise ValueError(f"The lower bound needs at least one step, not {steps}.")
    theta, found = _parameters(start), []
    f = np.asarray(targets)
    for step in range(steps):
        h, slopes = _tables(descent, theta, step)
        if f.ndim != 2 or f.shape[1] != len(h):
            raise ValueError(f"The functions are tables of shape (D, {len(h)}), not {f.shape}.")
        found.append(np.maximum.reduce(np.abs(_over(f @ slopes, len(h))), axis=1))
        theta = _step(descent, theta, _rounded(_mean(_loss(descent, h)[:, None] * slopes)))
    return np.maximum.reduce(np.stack(found), axis=0)


def class_bound(functions: int, parameters: int, steps: int, tau: object) -> fmpq:
    """The share 1 - 8 r T/(tau^2 D) of D functions with correlations of at most 1/D that surely stay hidden.

    Args:
        functions: D.
        parameters: r.
        steps: T.
        tau: the largest noise, an exact rational number.

    Raises:
        ValueError: unless the counts are at least 1, and tau > 0 is exact.
    """
    noise = as_exact([tau])[0]
    if min(functions, parameters, steps) < 1 or not noise > 0:
        raise ValueError(
            f"The bound needs at least one function, parameter and step, and tau > 0, not D = {functions}, "
            f"r = {parameters}, T = {steps}, tau = {tau}."
        )
    return 1 - 8 * parameters * steps / (noise * noise * functions)


def _parameters(start: ArrayLike) -> Array:
    theta = np.asarray(start)
    if theta.ndim != 1 or not theta.size:
        raise ValueError(f"The parameters must be a nonempty vector, not of shape {theta.shape}.")
    if theta.dtype == object:
        return as_exact(theta)
    theta = theta.astype(np.float64)
    if not np.all(np.isfinite(theta)):
        raise ValueError("The parameters must be finite numbers.")
    return theta


def _tables(descent: NoisyDescent, theta: Array, step: int) -> tuple[Array, Array]:
    """h and its derivatives at theta, checked."""
    h, slopes = descent.model(theta)
    rows = len(h) if h.ndim == 1 else 0
    if rows < 2 or rows & (rows - 1) or slopes.shape != (rows, len(theta)):
        raise ValueError(
            f"The model must return tables of shapes (2^n,) and (2^n, {len(theta)}) with n >= 1, not {h.shape} and "
            f"{slopes.shape}."
        )
    if theta.dtype != object and not (np.all(np.isfinite(h)) and np.all(np.isfinite(slopes))):
        raise ValueError(f"The model returned NaN or infinity at step {step}: descent has diverged.")
    sizes = np.maximum.reduce(np.abs(slopes), axis=0)
    worst = max(range(len(theta)), key=lambda i: sizes[i])
    if sizes[worst] > (1 if theta.dtype == object else 1 + _SLACK):
        raise ValueError(
            f"At step {step} the derivative in parameter {worst} reaches {float(sizes[worst])}, but the bound is for "
            "derivatives of absolute value at most 1: scale the model down, or take a smaller rate."
        )
    return h, slopes


def _sets_of_size(n: int, k: int) -> NDArray[np.int64]:
    if not 1 <= k <= n:
        raise ValueError(f"The degree k of the parities must be in 1, ..., {n}, not {k}.")
    codes = np.arange(2**n, dtype=np.int64)
    return codes[np.bitwise_count(codes) == k]


def _inputs(table: Array) -> int:
    return (len(table) - 1).bit_length()


def _members(code: Any) -> tuple[int, ...]:
    return tuple(i for i in range(int(code).bit_length()) if int(code) >> i & 1)


def _signs(n: int, members: tuple[int, ...]) -> NDArray[np.int64]:
    """chi_S at all inputs."""
    code = sum(1 << i for i in members)
    return 1 - 2 * (np.bitwise_count(np.arange(2**n, dtype=np.int64) & code).astype(np.int64) & 1)


def _coefficients(column: Array, sets: NDArray[np.int64]) -> Array:
    """E[chi_S f] for a table f and the sets S."""
    return _over(walsh_hadamard(column)[sets], len(column))


def _over(values: Array, count: int) -> Array:
    return values * fmpq(1, count) if values.dtype == object else values / count


def _mean(rows: Array) -> Array:
    return _over(rows.sum(axis=0), len(rows))


def _rounded(gradient: Array) -> Array:
    return gradient if gradient.dtype == object else np.round(gradient * _GRID) / _GRID


def _loss(descent: NoisyDescent, h: Array) -> Array:
    return h if descent.loss is None else descent.loss(h)


def _step(descent: NoisyDescent, theta: Array, gradient: Array) -> Array:
    rate, decay = _number(descent.rate, theta), _number(descent.decay, theta)
    return theta - rate * (gradient + decay * theta)


def _number(value: object, theta: Array) -> Any:
    """A number of the kind of theta."""
    return as_exact([value])[0] if theta.dtype == object else float(value)  # type: ignore[arg-type]


def _positive(tau: Any) -> bool:
    return bool(tau > 0) if not isinstance(tau, str) else bool(as_exact([tau])[0] > 0)


def _rows(batch: ArrayLike, count: int) -> NDArray[np.int64]:
    rows = np.asarray(batch)
    if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= count:
        raise ValueError(f"A batch is a nonempty vector of indices of inputs, 0, ..., {count - 1}.")
    return rows.astype(np.int64)
