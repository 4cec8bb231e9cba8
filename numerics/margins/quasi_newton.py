"""Limited-memory BFGS for smooth functions, in NumPy.

The direction is the usual two-loop recursion over the last pairs (s, y) of steps and changes of the gradient (Nocedal
and Wright, Numerical Optimization, algorithm 7.4); the step length satisfies the weak Wolfe conditions, found by
doubling and bisection (Lewis and Overton, Nonsmooth optimization via quasi-Newton methods, 2013), which keeps s . y > 0
and works where the function is nearly nonsmooth. SciPy's L-BFGS-B does the same and takes bounds, but factors its tiny
matrices with threaded BLAS, which makes small problems ten times slower on a machine that is busy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["minimise"]

Floats = NDArray[np.float64]
Objective = Callable[[Floats], tuple[float, Floats]]

DECREASE, CURVATURE = 1e-4, 0.9  # the constants of the Wolfe conditions
HALVINGS = 50  # 2^-50: shorter steps do not change a float


def minimise(objective: Objective, start: Floats, *, iterations: int, memory: int = 10) -> Floats:
    """A point with a smaller value of ``objective``, which returns the value and the gradient at x, shape (d,).

    Ends after so many ``iterations``, at a zero gradient, or when rounding leaves no step that decreases the value.
    ``start`` is not modified.

    Raises:
        ValueError: if the value at the start is not finite.
    """
    x = np.array(start, dtype=np.float64)
    value, gradient = objective(x)
    if not np.isfinite(value):
        raise ValueError(f"The objective must be finite at the start, but it is {value}.")
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=memory)
    for _ in range(iterations):
        direction = -_inverse_hessian(pairs, gradient)
        slope = float(direction @ gradient)
        if not slope < 0:
            break
        first = 1.0 if pairs else 1.0 / float(np.linalg.norm(gradient))
        found = _wolfe_step(objective, x, value, direction, slope, first)
        if found is None:
            break
        new_x, new_value, new_gradient = found
        s, y = new_x - x, new_gradient - gradient
        curvature = float(s @ y)
        if curvature > 0:
            pairs.append((s, y, curvature))
        x, value, gradient = new_x, new_value, new_gradient
    return x


def _inverse_hessian(pairs: deque[tuple[Floats, Floats, float]], gradient: Floats) -> Floats:
    """The approximate inverse Hessian times the gradient, by the two-loop recursion."""
    q = gradient.copy()
    coefficients = []
    for s, y, curvature in reversed(pairs):
        coefficients.append(float(s @ q) / curvature)
        q -= coefficients[-1] * y
    if pairs:
        _, y, curvature = pairs[-1]
        q *= curvature / float(y @ y)
    for (s, y, curvature), coefficient in zip(pairs, reversed(coefficients), strict=True):
        q += (coefficient - float(y @ q) / curvature) * s
    return q


def _wolfe_step(
    objective: Objective, x: Floats, value: float, direction: Floats, slope: float, first: float
) -> tuple[Floats, float, Floats] | None:
    """The point, value and gradient at a step with the weak Wolfe conditions; a mere decrease will do at the end."""
    low, high, step = 0.0, np.inf, first
    best = None
    for _ in range(HALVINGS):
        point = x + step * direction
        new_value, gradient = objective(point)
        if not new_value < value + DECREASE * step * slope:
            high = step
        elif float(gradient @ direction) < CURVATURE * slope:
            low, best = step, (point, new_value, gradient)
        else:
            return point, new_value, gradient
        step = (low + high) / 2 if high < np.inf else 2 * low
    return best
