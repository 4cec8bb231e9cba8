"""Maps that keep tokens bounded: the projection on a ball around 0, and clipping to a box; layers without weights.

    projection:  z -> min(1, r / ||z||_2) z = r z / max(r, ||z||_2),        clipping:  z_i -> min(max(z_i, l_i), u_i).

Both are the nearest points of convex sets, hence 1-Lipschitz in the 2-norm.

Source: qstr, definition-rnn-upper; variable-creation, definition-4.4.3 and lemma-A.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.cyclotomic.element import Cyclotomic
from lemmata.numerics.exact.numbers import sign_of
from lemmata.numerics.exact.rationals import as_fmpq, rational_root
from lemmata.numerics.exact.systems import Arithmetic, Array, conversion, number_system


@dataclass(frozen=True, eq=False)
class _Bounded(Layer):
    """A map of tokens of one width that reads and writes all coordinates and has no weights."""

    kind: ClassVar[str] = "bound"

    width: int

    @property
    def inputs(self) -> int:
        """The width of the tokens."""
        return self.width

    @property
    def outputs(self) -> int:
        """The width of the tokens."""
        return self.width

    def read_mask(self) -> Array:
        """All coordinates."""
        return np.ones(self.width, dtype=bool)

    def write_mask(self) -> Array:
        """All coordinates."""
        return np.ones(self.width, dtype=bool)

    def _tokens(self, z: Array) -> tuple[Array, Arithmetic]:
        """z in its number system, converted as a whole, and that system."""
        if z.shape[-1] != self.width:
            raise ValueError(f"The vectors have {z.shape[-1]} coordinates, but the map takes {self.width}.")
        system = number_system([z])
        return conversion(system)(z), system


@dataclass(frozen=True, eq=False)
class BallProjection(_Bounded):
    """The projection of every token on the ball of radius r around 0 in the 2-norm.

    Attributes:
        width: of the tokens.
        radius: r > 0, a number in any system; it is no weight.

    Raises:
        ValueError: for a width below 1 or a radius that is not positive and finite.
    """

    radius: Any = 1

    def __post_init__(self) -> None:
        infinite = isinstance(self.radius, float | arb) and not self.radius < float("inf")
        if self.width < 1 or not self.radius > 0 or infinite:
            raise ValueError(
                f"A projection needs a width of at least 1 and a positive radius, not {self.width} and {self.radius!r}."
            )

    def __call__(self, z: Array) -> Array:
        """The projected tokens, shape (..., width).

        In float64 a token inside stays as it is, and the others have norm r up to (width + 3) roundings. Balls enclose
        the projection, also where it is undecided whether the token lies inside.

        Raises:
            ValueError: for another width; if a float64 norm is not finite; in exact numbers if the norm of a token
                outside is not rational, the radius is no exact number, or a number is not real.
        """
        tokens, system = self._tokens(z)
        radius = conversion(system)([self.radius])[0]
        if system == "float":
            with np.errstate(over="ignore", invalid="ignore"):  # refused below
                norms = np.hypot.reduce(tokens, axis=-1, keepdims=True)
            if not np.isfinite(norms).all():
                raise ValueError("The norm of a token overflows float64, or it holds NaN: give smaller numbers.")
            return tokens * (radius / np.maximum(norms, radius))
        project = _exact_projection if system == "exact" else _ball_projection
        result = np.empty(tokens.shape, dtype=object)
        for index in np.ndindex(tokens.shape[:-1]):
            result[index] = project(tokens[index], radius)
        return result


@dataclass(frozen=True, eq=False)
class Clipping(_Bounded):
    """Every coordinate clipped to an interval.

    Attributes:
        width: of the tokens.
        lower, upper: one number for all coordinates or a tuple of one for each, lower <= upper; they are no weights.

    Raises:
        ValueError: for a width below 1, another number of bounds, or a lower bound above the upper one.
    """

    lower: Any = 0
    upper: Any = 1

    def __post_init__(self) -> None:
        bounds = [self._bound(number) for number in (self.lower, self.upper)]
        if self.width < 1 or any(len(bound) != self.width for bound in bounds):
            raise ValueError(f"Clipping needs a width of at least 1 and bounds for each of {self.width} coordinates.")
        if not all(low <= high for low, high in zip(*bounds, strict=True)):
            raise ValueError(f"The lower bounds {self.lower} must not exceed the upper bounds {self.upper}.")

    def __call__(self, z: Array) -> Array:
        """The clipped tokens, shape (..., width); an enclosure for balls.

        Raises:
            ValueError: for another width; in exact numbers if a bound is no exact number, or a number is not real.
        """
        tokens, system = self._tokens(z)
        lower, upper = (conversion(system)(self._bound(number)) for number in (self.lower, self.upper))
        if system == "float":
            return np.clip(tokens, lower, upper)
        clip = _exact_clip if system == "exact" else _ball_clip
        result = np.empty(tokens.shape, dtype=object)
        for index in np.ndindex(tokens.shape):
            result[index] = clip(tokens[index], lower[index[-1]], upper[index[-1]])
        return result

    def _bound(self, bound: Any) -> tuple[Any, ...]:
        return tuple(bound) if isinstance(bound, tuple) else (bound,) * self.width


def _exact_projection(token: Array, radius: Any) -> Array:
    for number in token.tolist():
        sign_of(number)  # refuses numbers that are not real
    square: Any = sum((number * number for number in token.tolist()), start=fmpq(0))
    if sign_of(square - radius * radius) <= 0:
        return token
    rational = square.to_fmpq() if isinstance(square, Cyclotomic) and square.is_rational() else as_fmpq(square)
    root = None if rational is None else rational_root(rational)
    if root is None:
        raise ValueError(
            f"The token lies outside of the ball, and its norm, the root of {square}, is not rational: use balls or "
            "float64."
        )
    return token * (radius / root)


def _ball_projection(token: Array, radius: arb) -> Array:
    """r z / max(r, norm); squares of the least and largest absolute values bound the norm from both sides."""
    least, largest = (
        sum((bound * bound for bound in bounds), start=arb(0)).sqrt()
        for bounds in ([x.abs_lower() for x in token], [x.abs_upper() for x in token])
    )
    if largest <= radius:
        return token
    scaled = token * (radius / least.union(largest).max(radius))
    return np.array([x.min(radius).max(-radius) for x in scaled], dtype=object)  # no coordinate exceeds the norm


def _exact_clip(x: Any, lower: Any, upper: Any) -> Any:
    return lower if sign_of(x - lower) < 0 else upper if sign_of(x - upper) > 0 else x


def _ball_clip(x: Any, lower: Any, upper: Any) -> Any:
    return x.max(lower).min(upper)
