"""The quantiser of the document's proof of universality, with its constants corrected, as sums of ReLUs.

On [0, B] with granularity D and ramps of slope 1/delta (delta <= 1/D):

    ramp_t(z)      = (relu(z/delta - t B/(delta D)) - relu(z/delta - B - t B/(delta D))) / D
                   = 0, (z - t B/D) / (delta D), B/D      for z <= t B/D, in between, and z >= t B/D + delta B,
    quantiser      = sum_{t=0}^{D-1} ramp_t               (it meets the step function off the ramps),
    boxed          = quantiser minus a step of height B at z = B: 0 outside [0, (1 + delta) B],
    penalty        = -B outside [-delta, B + delta], 0 on [0, B].

`step_function` is the discontinuous function that they approximate.

Source: deep-icgd, construction-quantizer: (F.5) to (F.12), corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from lemmata.numerics.functions.relu_sums import ReluSum, piecewise_linear
from lemmata.numerics.functions.smooth import rational

__all__ = ["Quantizer"]


@dataclass(frozen=True)
class Quantizer:
    """The functions above for one choice of the parameters.

    Attributes:
        bound: B > 0.
        granularity: D >= 1, an integer.
        ramp: delta, 0 < delta <= 1/D.

    Raises:
        ValueError: if a parameter is out of range.
    """

    bound: fmpq
    granularity: int
    ramp: fmpq

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", rational(self.bound, "bound"))
        object.__setattr__(self, "ramp", rational(self.ramp, "ramp"))
        D = self.granularity
        if isinstance(D, bool) or not isinstance(D, int) or D < 1:
            raise ValueError(f"granularity must be an integer >= 1, not {D!r}.")
        if self.bound <= 0 or not 0 < self.ramp * D <= 1:
            raise ValueError(
                f"bound must be positive and 0 < ramp <= 1 / granularity, not {self.bound} and {self.ramp}: longer "
                "ramps overlap, and the error exceeds one cell."
            )

    @property
    def cell(self) -> fmpq:
        """B / D."""
        return self.bound / self.granularity

    def ramp_sum(self, t: int) -> ReluSum:
        """ramp_t, t = 0, ..., D-1."""
        return _steps([(t * self.cell, self.ramp * self.bound, self.cell)])

    def quantiser(self) -> ReluSum:
        """The sum of all ramps."""
        return _steps([(t * self.cell, self.ramp * self.bound, self.cell) for t in range(self.granularity)])

    def boxed(self) -> ReluSum:
        """The quantiser minus a step of height B, which takes it back to 0 beyond (1 + delta) B."""
        steps = [(t * self.cell, self.ramp * self.bound, self.cell) for t in range(self.granularity)]
        return _steps([*steps, (self.bound, self.ramp * self.bound, -self.bound)])

    def penalty(self) -> ReluSum:
        """0 on [0, B], down to -B over a ramp of length delta on either side."""
        return _steps([(-self.ramp, self.ramp, self.bound), (self.bound, self.ramp, -self.bound)], start=-self.bound)

    def step_function(self, z: fmpq) -> fmpq:
        """(F.8): 0 for z < 0, (t+1) B/D on [t B/D, (t+1) B/D), B from (D-1) B/D on."""
        if z < 0:
            return fmpq(0)
        return self.cell * min(int((z / self.cell).floor()) + 1, self.granularity)


def _steps(steps: Sequence[tuple[fmpq, fmpq, fmpq]], start: fmpq | None = None) -> ReluSum:
    """The continuous function that begins at `start` and rises by `height` on [position, position + length].

    The steps are given from left to right.
    """
    knots, values, value = [], [], fmpq(0) if start is None else start
    for position, length, height in steps:
        for knot in (position, position + length):
            if not knots or knot > knots[-1]:
                knots.append(knot)
                values.append(value)
            if knot == position:
                value += height
    values[-1] = value
    outer = [knots[0] - 1, *knots, knots[-1] + 1]
    assert all(a < b for a, b in pairwise(outer))
    return piecewise_linear(outer, [fmpq(0) if start is None else start, *values, value])
