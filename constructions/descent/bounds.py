"""Ranges of a trained network on a box of weights, and sums of ReLUs that are certified on them.

With |w| <= m coordinate by coordinate and |p(j-1)| <= b_(j-1), the arguments of layer j are at most

    rho_j = max_k sum_b m(v_jk)[b] b_(j-1),      b_j = sup_{|t| <= rho_j} |r(t)|,      b_0 = the bound of the inputs,

exactly in rationals, for r itself or for the sum of ReLUs in its place. They bound the same arguments as the corrected
radii of the document, rho_(j+1) = B_v sqrt(K) sup |r|; the printed ones, without sqrt(K), are too small.

Source: deep-icgd, lemma-2 (corrected radii) and lemma-4 (corrected R_3).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import fmpq

from lemmata.constructions.descent.layout import PromptLayout, TokenLayout
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.interpolation import interpolant, interpolant_within
from lemmata.numerics.functions.relu_sums import ReluSum
from lemmata.numerics.functions.smooth import SmoothFunction, rational

Box = tuple[object, object]

_MOST_GROWTH = 16  # of the radius by the errors of the sums; it grows by 1/64 or more in each round


def box_arrays(layout: TokenLayout, box: Box) -> tuple[Array, Array]:
    """The lower and the upper end of the box, shape (D_N,) each, from exact numbers or arrays of that shape.

    Raises:
        ValueError: if box is no pair, an end has another shape or is not exact, or lower > upper somewhere.
    """
    if not isinstance(box, tuple | list) or len(box) != 2:
        raise ValueError(f"The box must be a pair (lower, upper), not {box!r}.")
    ends: list[Array] = []
    for name, end in zip(("lower", "upper"), box, strict=True):
        array = as_exact(np.asarray(end, dtype=object))
        if array.shape not in ((), (layout.weight_count,)):
            raise ValueError(f"The {name} end of the box must be a number or have shape ({layout.weight_count},).")
        ends.append(np.array(np.broadcast_to(array, (layout.weight_count,))))
    crossed = np.flatnonzero((ends[0] > ends[1]).astype(bool))
    if len(crossed):
        raise ValueError(f"The box is empty: its lower end exceeds its upper end at weight {crossed[0]}.")
    return ends[0], ends[1]


def preactivation_bounds(
    layout: PromptLayout, box: Box, input_bound: object, largest: Callable[[fmpq], fmpq]
) -> tuple[list[fmpq], list[fmpq]]:
    """(rho_1, ..., rho_N) and (b_0, ..., b_N); `largest` maps rho to an upper bound of sup_{|t| <= rho} |r(t)|.

    Raises:
        ValueError: for a box that does not fit, or a negative input bound.
    """
    lower, upper = box_arrays(layout, box)
    sizes = np.array([max(abs(lo), abs(hi)) for lo, hi in zip(lower, upper, strict=True)], dtype=object)
    outputs = [rational(input_bound, "input_bound")]
    if outputs[0] < 0:
        raise ValueError(f"input_bound, the bound of the inputs in size, must be >= 0, not {outputs[0]}.")
    arguments: list[fmpq] = []
    for V in layout.matrices(sizes):
        arguments.append(max(sum(row, fmpq(0)) for row in V.tolist()) * outputs[-1])
        outputs.append(largest(arguments[-1]))
    return arguments, outputs


def largest_value(function: ReluSum) -> Callable[[fmpq], fmpq]:
    """rho -> max_{|t| <= rho} |f(t)| of a sum of ReLUs of one argument, exactly: it is attained at a kink or an end."""

    def largest(rho: fmpq) -> fmpq:
        points = [-rho, rho, *(t for t in function.breakpoints() if abs(t) < rho)]
        return max(abs(value) for value in function(np.array(points, dtype=object)).tolist())

    return largest


def approximate_activation(
    widths: tuple[int, ...],
    function: SmoothFunction,
    box: Box,
    input_bound: object,
    *,
    pieces: int | None = None,
    error: object | None = None,
) -> tuple[ReluSum, ReluSum]:
    """Sums of ReLUs for a smooth activation and its derivative, certified wherever the box of weights can lead.

    Args:
        widths: (d_x, K_1, ..., K_(N-1), d_y).
        function: the activation r.
        box: the ends of the box of weights, as in `box_arrays`.
        input_bound: a bound of the inputs in size, the test input included.
        pieces: uniform knots, so many pieces on each side of 0; or
        error: a sup-error > 0 for both sums, with few knots. Exactly one of the two.

    Raises:
        ValueError: if not exactly one of pieces and error is given, error <= 0, pieces < 1, the box does not fit, or
            the pieces are so few that their errors lead further and further out, layer by layer.
    """
    if (pieces is None) == (error is None):
        raise ValueError("Give either pieces, the number of knots per side, or error, the largest error, not both.")
    layout = PromptLayout(widths)
    if error is not None:
        eps = rational(error, "error")
        if eps <= 0:
            raise ValueError(f"error, the largest error of the sums of ReLUs, must be positive, not {eps}.")
        radius = _radius(layout, box, input_bound, lambda rho: function.bound(-rho, rho) + eps)
        return interpolant_within(function, radius, eps), interpolant_within(function.derivative(), radius, eps)
    assert pieces is not None
    first = radius = _radius(layout, box, input_bound, lambda rho: function.bound(-rho, rho))
    while radius <= _MOST_GROWTH * first:
        activation = interpolant(function, radius, pieces)
        own = largest_value(activation)
        needed = _radius(layout, box, input_bound, lambda rho, own=own: max(function.bound(-rho, rho), own(rho)))
        if needed <= radius:
            return activation, interpolant(function.derivative(), radius, pieces)
        radius = needed * fmpq(65, 64)  # a sum with longer pieces may have larger values
    raise ValueError(
        f"pieces = {pieces} are too few for {function.name} on this box: the errors of the sum lead to ever larger "
        "arguments. Give more pieces, or error."
    )


def _radius(layout: PromptLayout, box: Box, input_bound: object, largest: Callable[[fmpq], fmpq]) -> fmpq:
    """A short bound of all arguments of a function whose values `largest` bounds."""
    radii, _ = preactivation_bounds(layout, box, input_bound, largest)
    return fmpq(max((max(radii) * 1024).ceil(), 1), 1024)
