"""How much work a program of degree 6 may take: by default so much, or as much as fits into a time that is given.

The work of a step is known before it is taken (`lemmata.certificates.operations.programs_interior.interior_work`), and
by it the default decides, so that every machine tries the same programs. With a limit of time only memory decides what
is tried, and what the solver has reached when the time is over is rounded like everything else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import comb, inf

__all__ = ["USUAL_WORK", "Effort", "TooMuchWorkError", "least_work", "moment_count"]

USUAL_WORK = 3e10
"""Multiplications a step, of some 20 steps: half a minute."""
MOST_WORK = 16_000**3 / 3
"""With a limit of time: 16,000 moments, whose Schur complement takes 2 GB."""


class TooMuchWorkError(RuntimeError):
    """A program was not tried since it is beyond the effort allowed; the message says what to turn."""


@dataclass(frozen=True)
class Effort:
    """What may be spent on programs of degree 6.

    Attributes:
        work: multiplications a step, at most.
        until: the time on the clock `time.monotonic` at which solvers stop.
        progress: is told what is being done.
    """

    work: float = USUAL_WORK
    until: float = inf
    progress: Callable[[str], None] = lambda _: None

    @classmethod
    def of(cls, seconds: float | None, progress: Callable[[str], None] = lambda _: None) -> Effort:
        """The usual work, or for ``seconds`` from now on whatever fits into memory.

        Raises:
            ValueError: for a negative time, or one that is no number.
        """
        if seconds is None:
            return cls(progress=progress)
        if not seconds >= 0:
            raise ValueError(f"The time for degree 6 is a number of seconds from 0 on, not {seconds}.")
        return cls(MOST_WORK if seconds > 0 else 0.0, time.monotonic() + seconds, progress)

    @property
    def seconds_left(self) -> float:
        """Until the limit of time: infinite without one, 0 after it."""
        return max(0.0, self.until - time.monotonic())

    @property
    def limited(self) -> bool:
        """Whether there is a limit of time."""
        return self.until < inf

    def refuse(self, work: float) -> None:
        """TooMuchWorkError for a program with more multiplications a step, or where no time is left."""
        if work > self.work:
            most = "in any time" if self.limited else "without being asked: give it seconds, or take degree 6"
            raise TooMuchWorkError(
                f"Degree 6 takes {work:.2g} multiplications a step, more than {self.work:.2g} are not done {most}."
            )
        if self.seconds_left == 0:
            raise TooMuchWorkError("The time for degree 6 is over.")


def moment_count(size: int, labels: int) -> int:
    """The number of moments of degree 6: monomials in N = ``size`` variables x and C = ``labels`` variables z."""
    return comb(size + 5, 6) + comb(size + 3, 4) * labels + comb(size + 1, 2) * comb(labels + 1, 2)


def least_work(size: int, labels: int, symmetries: int) -> float:
    """Multiplications a step of degree 6 that so many symmetries cannot save: an orbit has at most as many moments."""
    return (moment_count(size, labels) / symmetries) ** 3 / 3
