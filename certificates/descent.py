"""A certificate for gradient descent in context: how far one block of the transformer is from a true gradient step.

The sums of ReLUs inside the block are compared with the true activation, its derivative and the derivative of the loss
(rigorously, here and anew: what the sums say of themselves is not believed). The three errors enter the corrected
error recursion (`lemmata.numerics.descent.errors`), which bounds the error of the gradient for *all* weights of a box
and all data within the bounds of the block, or for one given weight vector; and, with a Lipschitz constant of the
gradient on the box, the distance from projected gradient descent after any number of steps.

Source: deep-icgd, theorem-1 and corollary-1.1, corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.descent.block import DescentBlock
from lemmata.constructions.descent.bounds import Box, largest_value, preactivation_bounds
from lemmata.numerics.descent.errors import (
    ErrorRecursion,
    LayerBounds,
    LossBounds,
    gradient_error,
    gradient_lipschitz,
    trajectory_error,
)
from lemmata.numerics.exact.balls import precision
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.functions.interpolation import sup_error
from lemmata.numerics.functions.relu_sums import ReluSum
from lemmata.numerics.functions.smooth import SmoothFunction, identity

__all__ = ["StepCertificate", "certify_step"]

_BITS = 96


@dataclass(frozen=True)
class StepCertificate:
    """What `certify_step` proved.

    Attributes:
        activation_error: eps_r >= sup |rbar - r| on the interval of the block's sum.
        derivative_error: eps_r' >= sup |rbar' - r'|.
        loss_error: eps_l >= sup |ubar - u|, one coordinate.
        recursion: e_p, e_r', e_g, S, e_s and the bound of the gradient, layer by layer.
        lipschitz: L_f, a Lipschitz constant of the true gradient for all weights within the same bounds.
        step_size: eta.
    """

    activation_error: fmpq
    derivative_error: fmpq
    loss_error: fmpq
    recursion: ErrorRecursion
    lipschitz: arb
    step_size: fmpq

    @property
    def gradient_error(self) -> float:
        """An upper bound of |gradbar - grad L_n|_2, rounded up."""
        return _upper(self.recursion.gradient)

    def report(self, measured: float | None = None) -> str:
        """The chain of bounds as text, layer by layer, and beside its end a measured error of the gradient."""
        r = self.recursion
        errors = (self.activation_error, self.derivative_error, self.loss_error)
        lines = ["eps_r {:.3g}, eps_r' {:.3g}, eps_l {:.3g}".format(*map(float, to_float(list(errors))))]
        lines.append("layer  e_p        e_r'       S          e_s")
        for j, row in enumerate(zip(r.forward[1:], r.slopes, r.sizes, r.backward, strict=True), start=1):
            lines.append(f"{j:5}  " + "  ".join(f"{_upper(x):<9.3g}" for x in row))
        lines.append(f"certified error of the gradient {self.gradient_error:.3g}")
        if measured is not None:
            ratio = f", ratio {self.gradient_error / measured:.3g}" if measured > 0 else ""
            lines.append(f"measured error of the gradient  {measured:.3g}{ratio}")
        return "\n".join(line.rstrip() for line in lines)

    def trajectory_error(self, steps: int) -> list[float]:
        """Upper bounds of |wbar^l - w^l|_2, l = 0, ..., steps, against projected gradient descent from the same start.

        Valid if the certificate is for the whole box (not for one weight vector) and the box is where the block
        projects to.

        Raises:
            ValueError: if steps is no integer >= 1.
        """
        errors = [self.recursion.gradient] * checked_integer("The number of steps", steps, 1)
        with precision(_BITS):
            return [_upper(d) for d in trajectory_error(errors, self.step_size, self.lipschitz)]


def certify_step(
    block: DescentBlock,
    activation: SmoothFunction,
    loss_derivative: SmoothFunction = identity,
    *,
    weights: ArrayLike | None = None,
) -> StepCertificate:
    """The certificate of one step of the block against the network with the true activation and loss.

    Args:
        block: built by `gradient_descent_block`; its box and its bounds of inputs and labels are the range.
        activation: r.
        loss_derivative: phi', for the loss sum_k phi(t_k - y_k); the identity for half the squared distance.
        weights: exact, shape (D_N,), to certify the step at this weight vector only (sharper); default: all of the box.

    Raises:
        ValueError: if a sum of the block claims a smaller error than it has, is not a function of t - y (the loss), or
            its arguments leave the interval on which it is certified; if weights do not fit or lie outside the box.
    """
    box = _range(block, weights)
    own_largest = largest_value(block.activation)

    def largest(rho: fmpq) -> fmpq:  # of r and of rbar
        return max(activation.bound(-rho, rho), own_largest(rho))

    radii, outputs = preactivation_bounds(block.layout, box, block.input_bound, largest)
    for name, sums in (("activation", block.activation), ("derivative", block.derivative)):
        sums.require(max(radii), f"The argument of the {name}, for the true network,")
    eps_r = _verified(block.activation, activation, "activation", radii)
    eps_s = _verified(block.derivative, activation.derivative(), "derivative", radii)
    distance = outputs[-1] + block.label_bound
    profile = _profile(block.loss_derivative, distance)
    eps_l = _verified(profile, loss_derivative, "loss_derivative", (distance,))
    with precision(_BITS):
        layers = _layer_bounds(block, box, activation, (eps_r, eps_s), (radii, outputs))
        outputs_count = arb(block.layout.widths[-1])
        loss = LossBounds(
            size=outputs_count.sqrt() * (loss_derivative.bound(-distance, distance) + arb(eps_l)),
            lipschitz=arb(loss_derivative.bound(-distance, distance, 1)),
            error=arb(eps_l),
        )
        inputs = arb(block.layout.widths[0]).sqrt() * block.input_bound
        recursion = gradient_error(layers, loss, inputs)
        lipschitz = gradient_lipschitz(layers, loss, inputs)
    return StepCertificate(eps_r, eps_s, eps_l, recursion, lipschitz, block.step_size)


def _range(block: DescentBlock, weights: ArrayLike | None) -> Box:
    """The box of the block, or the one weight vector as a box."""
    if weights is None:
        return block.lower, block.upper
    w = as_exact(np.asarray(weights, dtype=object))
    if w.shape != block.lower.shape:
        raise ValueError(f"weights must have shape {block.lower.shape}, not {w.shape}.")
    if not np.all((block.lower <= w) & (w <= block.upper)):
        raise ValueError("weights must lie in the box of the block.")
    return w, w


def _verified(sums: ReluSum, function: SmoothFunction, name: str, arguments: Sequence[fmpq]) -> fmpq:
    """The rigorous sup-error of the sum on its interval (or, if it is exact everywhere, on that of its arguments)."""
    on = sums if sums.radius is not None else sums.on(max(*arguments, fmpq(1)))
    error = sup_error(on, function)
    if error > sums.error * fmpq(17, 16) + fmpq(1, 2**60):  # bounds of derivatives are 1/16 too large at most
        raise ValueError(
            f"The {name} of the block claims the error {float(sums.error):.3g} against {function.name}, but only "
            f"{float(error):.3g} can be certified: it was built for another function, or with fewer knots."
        )
    return error


def _profile(ridge: ReluSum, distance: fmpq) -> ReluSum:
    """The function f of one argument with ubar(t, y) = f(t - y), on |t - y| <= distance."""
    a = ridge.directions
    if ridge.arity != 2 or any(t + y != 0 for t, y in a[:, :2].tolist()):
        raise ValueError("loss_derivative of the block must be a function of t - y, of the two arguments (t, y).")
    profile = ReluSum(ridge.coefficients, a[:, [0, 2]], error=ridge.error)
    radius = None if ridge.radius is None else 2 * ridge.radius
    if radius is not None and distance > radius:
        raise ValueError(f"t - y may reach {float(distance):.4g}, but loss_derivative is certified to {float(radius)}.")
    return replace(profile, radius=radius)


def _layer_bounds(
    block: DescentBlock,
    box: Box,
    activation: SmoothFunction,
    errors: tuple[fmpq, fmpq],
    ranges: tuple[list[fmpq], list[fmpq]],
) -> list[LayerBounds]:
    """The bounds of every layer that the error recursion needs, over the box."""
    (lower, upper), (radii, outputs) = box, ranges
    sizes = np.array([max(abs(a), abs(b)) for a, b in zip(np.asarray(lower), np.asarray(upper), strict=True)])
    layers = []
    for V, rho, largest in zip(block.layout.matrices(sizes), radii, outputs[1:], strict=True):
        rows = [_norm(row) for row in V.tolist()]
        layers.append(
            LayerBounds(
                width=len(V),
                norm=_norm(V.ravel().tolist()),
                row=max(rows, key=lambda x: x.upper()),
                activation=arb(len(V)).sqrt() * largest,
                lipschitz=arb(activation.bound(-rho, rho, 1)),
                slope=arb(activation.bound(-rho, rho, 1) + errors[1]),
                slope_lipschitz=arb(activation.bound(-rho, rho, 2)),
                error=arb(errors[0]),
                slope_error=arb(errors[1]),
            )
        )
    return layers


def _norm(entries: Sequence[Any]) -> arb:
    """The 2-norm of exact numbers, rounded up to a point (so that maxima are decided)."""
    return sum((arb(x * x) for x in entries), arb(0)).sqrt().upper()


def _upper(x: arb) -> float:
    """A float64 that is at least x."""
    return float(np.nextafter(float(x.upper()), np.inf))
