"""Upper bounds of all-layer margins: small perturbations of the parameters that flip a prediction, found and replayed.

`smallest_flip` searches in floating point; what it finds is rounded to rationals with a common denominator and
evaluated again in exact arithmetic, so that the squared norm of the result is an upper bound of rho^2 whatever the
search did. `replay` checks such a perturbation alone. Parameters may be shared: the perturbation moves the shared
vector theta', and the network reads theta'[sharing] (definition D.5).

The search is sequential quadratic programming without curvature: with margin f (positive where the prediction is right)
and gradient g at delta, the shortest vector in the half-space where the linearised margin is at most 0 is
((g . delta - f) / ||g||^2) g; delta moves a part of the way there. A fixed point with f = 0 satisfies the first-order
conditions of the margin problem. Several starts run as one batch; those that meet a zero gradient are kicked.

Source: turing, definition-all-layer-margin, definition-D.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.circuits.relu import CircuitNetwork
from lemmata.numerics.exact.numbers import as_exact, sign_of, to_float
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.exact.systems import Array

__all__ = ["Flip", "MarginTarget", "circuit_target", "directions", "largest_change", "replay", "smallest_flip"]

Floats = NDArray[np.float64]
DENOMINATOR = 2**40
"""The common denominator of the perturbations that the search returns."""


@dataclass(frozen=True, eq=False)
class MarginTarget:
    """A network at one input, as a function of its shared parameters.

    Attributes:
        parameters: the exact parameters theta', shape (p,).
        output: theta' -> F(x, theta'), from shape (..., p) to (...,), for float64, torch tensors and exact numbers.
        label: 1 where F > 0 is right, 0 where F < 0 is.

    Raises:
        ValueError: if the unperturbed network does not predict the label, so that its margin is 0.
    """

    parameters: NDArray[np.object_]
    output: Callable[[Any], Any]
    label: int

    def __post_init__(self) -> None:
        if self.label not in (0, 1):
            raise ValueError(f"The label must be 0 or 1, not {self.label!r}.")
        if self.exact_margin([Fraction(0)] * len(self.parameters)) <= 0:
            raise ValueError(f"The unperturbed network does not predict the label {self.label}: its margin is 0.")

    @property
    def sign(self) -> int:
        """1 or -1, the right sign of F."""
        return 2 * self.label - 1

    def exact_margin(self, delta: list[Fraction]) -> Fraction:
        """The right sign times F(x, theta' + delta) in exact arithmetic: at most 0 where the prediction flips."""
        value = self.sign * np.asarray(self.output(self.parameters + as_exact(delta)), dtype=object).item()
        return as_fraction(value)

    def margins(self, deltas: Floats) -> Floats:
        """The right sign times F for perturbations of shape (n, p), in float64, shape (n,)."""
        return self.sign * self.output(to_float(self.parameters) + deltas)


@dataclass(frozen=True)
class Flip:
    """A perturbation that flips the prediction: an upper bound of the all-layer margin.

    Attributes:
        numerators: delta times ``denominator``, by the places of the parameters that move.
        denominator: the common denominator.
        margin: the right sign times F(x, theta' + delta), exact and at most 0.
    """

    numerators: Mapping[int, int]
    denominator: int
    margin: Fraction

    @property
    def norm_squared(self) -> Fraction:
        """The exact squared 2-norm of delta, at least rho^2."""
        return Fraction(sum(n * n for n in self.numerators.values()), self.denominator**2)

    @property
    def norm(self) -> float:
        """The 2-norm of delta, to float64."""
        return float(self.norm_squared) ** 0.5

    def delta(self, size: int) -> list[Fraction]:
        """The perturbation as a vector of length ``size``."""
        return [Fraction(self.numerators.get(place, 0), self.denominator) for place in range(size)]

    def document(self) -> dict[str, Any]:
        """The perturbation as plain data for JSON; see `replay`."""
        numerators = {str(place): str(n) for place, n in self.numerators.items()}
        return {"denominator": str(self.denominator), "numerators": numerators, "norm": self.norm}


def circuit_target(
    network: CircuitNetwork, x: Array, sharing: NDArray[np.int64] | None = None, parameters: Array | None = None
) -> MarginTarget:
    """A circuit network at the bits x, shape (m,); its label is the sign of the network's own output.

    Args:
        network: naive or corrected.
        x: the input.
        sharing: for each parameter of the network its place in the shared vector; none is shared if None.
        parameters: the exact shared vector, required with ``sharing``.

    Raises:
        ValueError: if the shared vector does not give the parameters of the network, or a step uses a place twice.
    """
    theta = network.parameters
    shared = theta if parameters is None else as_exact(parameters)
    if sharing is not None:
        _check_sharing(network, theta, shared, sharing)
    bits = np.asarray(x, dtype=np.int64)[None, :]

    def output(theta: Any) -> Any:
        unshared = theta if sharing is None else theta[..., sharing]
        return network.output(unshared, _like(bits, theta))[..., 0]

    return MarginTarget(shared, output, int(sign_of(output(shared).item()) > 0))


def smallest_flip(target: MarginTarget, starts: int = 16, steps: int = 300, seed: int = 0) -> Flip | None:
    """The shortest flip that the search finds, re-evaluated exactly; None if it finds none.

    Args:
        target: the network at an input.
        starts: 0 itself and ``starts - 1`` random perturbations, of lengths from 1/100 to 1.
        steps: steps of the search.
        seed: of the random starts.
    """
    random = np.random.default_rng(seed)
    p = len(target.parameters)
    radii = np.geomspace(0.01, 1.0, max(starts - 1, 1))[:, None]
    delta = np.vstack([np.zeros((1, p)), directions(random, starts - 1, p) * radii[: starts - 1]])
    best, best_norm = None, np.full(1, np.inf)
    for step in range(steps):
        margin, gradient = _margin_and_gradient(target, delta)
        norms = np.where(margin <= 0, np.linalg.norm(delta, axis=1), np.inf)
        if norms.min() < best_norm:
            best, best_norm = delta[int(norms.argmin())].copy(), norms.min()
        squared = (gradient**2).sum(1)
        aim = margin + (1e-2 if step < steps // 2 else 1e-6)  # beyond 0, which steps part of the way never reach
        goal = (((gradient * delta).sum(1) - aim) / np.maximum(squared, 1e-300))[:, None] * gradient
        goal_norm = np.linalg.norm(goal, axis=1, keepdims=True)
        goal *= np.minimum(1.0, 2.0 / np.maximum(goal_norm, 1e-300))  # linearisation says nothing far away
        kick = delta + 0.1 * directions(random, len(delta), p)
        part = 0.5 if step < steps // 2 else 0.5 * 0.98 ** (step - steps // 2)
        delta = np.where((squared > 1e-20)[:, None], (1 - part) * delta + part * goal, kick)
    return None if best is None else _exact_flip(target, _shortened(target, best))


def largest_change(
    target: MarginTarget, radius: float, starts: int = 16, steps: int = 100, seed: int = 0
) -> tuple[Floats, Floats]:
    """Perturbations in the ball of a radius that lower the margin as far as projected gradient steps can.

    Returns:
        the margins, shape (starts,), and the perturbations, shape (starts, p), all of norm at most ``radius``.
    """
    random = np.random.default_rng(seed)
    p = len(target.parameters)
    delta = radius * directions(random, starts, p)
    lowest, where = target.margins(delta), delta.copy()
    for step in range(steps):
        margin, gradient = _margin_and_gradient(target, delta)
        better = margin < lowest
        lowest, where = np.where(better, margin, lowest), np.where(better[:, None], delta, where)
        length = np.linalg.norm(gradient, axis=1, keepdims=True)
        stride = radius * 0.5 * (1 - step / steps)
        delta = np.where(length > 1e-10, delta - stride * gradient / np.maximum(length, 1e-300), delta)
        delta *= np.minimum(1.0, radius / np.maximum(np.linalg.norm(delta, axis=1, keepdims=True), 1e-300))
    return lowest, where


def directions(random: np.random.Generator, count: int, p: int) -> Floats:
    """Random unit vectors, shape (count, p): one third each dense Gaussian, with equal magnitudes, and sparse.

    Equal magnitudes means entries of +-1/sqrt(p); a sparse direction moves between 1 and 8 parameters.
    """
    result = random.standard_normal((count, p))
    result[1::3] = np.sign(result[1::3])
    for row in result[2::3]:
        kept = random.choice(p, size=min(p, int(random.integers(1, 9))), replace=False)
        mask = np.zeros(p, dtype=bool)
        mask[kept] = True
        row[~mask] = 0.0
    return result / np.linalg.norm(result, axis=1, keepdims=True)


def replay(target: MarginTarget, document: Mapping[str, Any]) -> Flip:
    """The flip that plain data describe, after a check in exact arithmetic that it flips the prediction.

    Raises:
        ValueError: if the data are malformed, a place is no parameter, or the prediction does not flip.
    """
    try:
        denominator = int(document["denominator"])
        numerators = {int(place): int(n) for place, n in document["numerators"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError("A perturbation has a 'denominator' and 'numerators' by place, all integers.") from None
    p = len(target.parameters)
    if denominator < 1 or not all(0 <= place < p for place in numerators):
        raise ValueError(f"The denominator must be positive, and the places must lie in 0 to {p - 1}.")
    flip = Flip(numerators, denominator, Fraction(0))
    margin = target.exact_margin(flip.delta(p))
    if margin > 0:
        raise ValueError(f"The perturbation does not flip the prediction: the margin is still {margin} > 0.")
    return Flip(numerators, denominator, margin)


def _margin_and_gradient(target: MarginTarget, delta: Floats) -> tuple[Floats, Floats]:
    import torch

    moved = torch.from_numpy(delta).requires_grad_(True)
    margin = target.sign * target.output(torch.from_numpy(to_float(target.parameters)) + moved)
    (gradient,) = torch.autograd.grad(margin.sum(), moved)
    return margin.detach().numpy(), gradient.numpy()


def _shortened(target: MarginTarget, delta: Floats) -> Floats:
    """A flipping perturbation, scaled down towards the first sign change that bisection meets."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if target.margins(middle * delta[None])[0] <= 0 else (middle, high)
    return high * delta


def _exact_flip(target: MarginTarget, delta: Floats) -> Flip | None:
    """A perturbation rounded to rationals, lengthened by parts in 10^9 until it flips the prediction exactly."""
    for growth in (0.0, *(1e-9 * 4.0**k for k in range(12))):
        integers = np.rint(delta * (1 + growth) * DENOMINATOR).astype(np.int64)
        numerators = {int(place): int(integers[place]) for place in np.flatnonzero(integers)}
        flip = Flip(numerators, DENOMINATOR, Fraction(0))
        margin = target.exact_margin(flip.delta(len(delta)))
        if margin <= 0:
            return Flip(numerators, DENOMINATOR, margin)
    return None


def _check_sharing(network: CircuitNetwork, theta: Array, shared: Array, sharing: NDArray[np.int64]) -> None:
    if sharing.shape != theta.shape or not np.all((sharing >= 0) & (sharing < len(shared))):
        raise ValueError(f"The sharing must name one of {len(shared)} shared parameters for each of {len(theta)}.")
    if not np.all(shared[sharing] == theta):
        raise ValueError("The shared vector does not give the parameters of the network.")
    for name, places in network.blocks():
        if len(np.unique(sharing[places])) < places.stop - places.start:
            raise ValueError(f"Layer-based sharing repeats no parameter within a layer, but {name} does.")


def _like(bits: NDArray[np.int64], theta: Any) -> Any:
    """The bits in the number system of the parameters."""
    if not isinstance(theta, np.ndarray):
        return theta.new_tensor(bits)
    return as_exact(bits) if theta.dtype == object else bits.astype(np.float64)
