"""From covering numbers to generalisation, with explicit constants: entropy integrals, Rademacher and risk bounds.

F is a class of real functions with |f| <= A on a sample of m points; N(eps) is its proper covering number in the
supremum norm on the sample. Let f_j be the element next to f in a cover of radius eps_j = A/2^j, and f_0 = 0. The
differences f_j - f_(j-1) take at most N(eps_j) N(eps_(j-1)) values of supremum at most 3 eps_j, and a finite set of n
vectors of norm <= r has E max <xi, v> <= r sqrt(2 ln n). Summed over j this gives, for every delta >= 0,

    Rad <= 4 delta + 12 integral from delta to A/2 of sqrt(ln N(eps)/m) d eps,

so that the universal constant of Dudley's bound may be 12. If ln N(eps) <= C/eps^2, put K = sqrt(C/m): at delta = 3 K
the right side is 12 K (1 + ln(A/(6 K))) if 6 K <= A, and Rad <= A in any case.

- `entropy_integral`, `entropy_bound`: for covering numbers that are a step function, as they are for finite classes;
- `rademacher_bound`: for ln N(eps) <= C/eps^2. The printed c K (1 + ln(A/K)) is negative for large C; it is refused
  unless C <= A^2 m. The corrected form is c min(A, K (1 + ln^+(A/K))); the sharp one is above;
- `deviation_bound`: from the Rademacher complexity of F to the deviation of risks, for losses in [0, b];
- `generalisation_bound`: both together.

Source: variable-creation, lemma A.2, corollary A.3, theorem A.4, lemma A.5; proved in proofs/generalisation.md there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, get_args

from flint import arb, fmpq

from lemmata.numerics.exact.balls import ball_min, checked_bound, decided_less_equal
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact

Form = Literal["printed", "corrected", "sharp"]
Steps = Sequence[tuple[Any, int]]

CONSTANT = 12
"""The constant c of Dudley's bound that the chain of covers above gives."""


def entropy_integral(steps: Steps, low: object, high: object, samples: int) -> arb:
    """The integral of sqrt(ln N(eps)/m) over low <= eps <= high; 0 if low >= high.

    Args:
        steps: pairs (radius, number): N(eps) = number from this radius up to the next one. The first radius is 0.
        low: exact, at least 0.
        high: exact.
        samples: m.

    Raises:
        ValueError: for steps that are no falling step function from 0 on, low < 0, or m < 1.
    """
    radii, numbers = _checked_steps(steps)
    m = checked_integer("The sample size", samples, 1)
    start, stop = as_exact([low, high]).tolist()
    if start < 0:
        raise ValueError(f"An entropy integral starts at a radius >= 0, not {low}.")
    total = arb(0)
    for k, (radius, number) in enumerate(zip(radii, numbers, strict=True)):
        left = max(start, radius)
        right = stop if k + 1 == len(radii) else min(stop, radii[k + 1])
        if left < right and number > 1:
            total += (right - left) * (arb(number).log() / m).sqrt()
    return total


def entropy_bound(
    steps: Steps, bound: object, samples: int, *, offset: object = 1, factor: object = 1, share: object = 1
) -> arb:
    """The least value over delta >= 0 of offset delta + factor integral from delta to share A of sqrt(ln N/m).

    The objective is linear between consecutive radii, and grows beyond share A, so that its least value is at 0, a
    radius, or share A. 12 times the value with the numbers as they are, and the value with offset = 4, factor = 12,
    share = 1/2, bound the Rademacher complexity.

    Args:
        steps: as for `entropy_integral`.
        bound: A, exact and positive.
        samples: m.
        offset: exact, at least 0.
        factor: exact, at least 0.
        share: exact, in (0, 1].

    Raises:
        ValueError: as `entropy_integral`, or for arguments out of range.
    """
    A, slope, weight, part = as_exact([bound, offset, factor, share]).tolist()
    if not A > 0 or slope < 0 or weight < 0 or not 0 < part <= 1:
        raise ValueError(
            f"The entropy bound needs A > 0, offset, factor >= 0 and 0 < share <= 1, not {bound}, {offset}, {factor}, "
            f"{share}."
        )
    top = part * A
    radii, _ = _checked_steps(steps)
    starts = [radius for radius in radii if radius < top] + [top]
    return ball_min([slope * arb(delta) + weight * entropy_integral(steps, delta, top, samples) for delta in starts])


def rademacher_bound(
    entropy: object, bound: object, samples: int, *, constant: object = CONSTANT, form: Form = "corrected"
) -> arb:
    """A bound on the Rademacher complexity of a class with |f| <= A and ln N(eps) <= C/eps^2 for every eps > 0.

    With K = sqrt(C/m): ``printed`` c K (1 + ln(A/K)), ``corrected`` c min(A, K (1 + ln^+(A/K))), and ``sharp``, where
    the constant is not used, min(A, 12 K (1 + ln^+(A/(6 K)))).

    Args:
        entropy: C, at least 0; a ball or anything that `as_balls` accepts.
        bound: A, positive, likewise.
        samples: m.
        constant: c, positive, likewise; the corrected form is proved for c >= 12.
        form: which of the three.

    Raises:
        ValueError: for arguments out of range or not finite, or the printed form where C > A^2 m or C = 0: its value
            is negative for large C, which bounds nothing, and undefined at 0.
    """
    C = checked_bound("The entropy C", entropy)
    A, c, m = (
        checked_bound("The bound A", bound, positive=True),
        checked_bound("The constant c", constant, positive=True),
        checked_integer("The sample size", samples, 1),
    )
    _known(form)
    if form == "printed":
        if not C > 0 or not decided_less_equal(C, A * A * m):
            raise ValueError(
                f"The printed bound needs 0 < C <= A^2 m, but C = {C} and A^2 m = {A * A * m}; for large C it is below "
                "0. The corrected form holds for every C >= 0."
            )
        K = (C / m).sqrt()
        return c * K * (1 + (A / K).log())
    if C == 0:
        return arb(0)
    K = (C / m).sqrt()
    if form == "sharp":
        return ball_min([A, CONSTANT * K * (1 + _positive_log(A / (6 * K)))])
    return c * ball_min([A, K * (1 + _positive_log(A / K))])


def deviation_bound(
    rademacher: object,
    samples: int,
    delta: object,
    *,
    lipschitz: object = 1,
    loss_bound: object = 1,
    form: Form = "corrected",
) -> arb:
    """A bound on |risk - empirical risk| for all functions at once with probability >= 1 - delta.

    ``printed`` 4 L Rad + 2 b sqrt(ln(1/delta)/(2 m)), which fails for delta near 1; ``corrected`` 2 L Rad + 3 b
    sqrt(ln(4/delta)/(2 m)); ``sharp`` the same with ln(3/delta), as there are three events.

    Args:
        rademacher: the empirical Rademacher complexity of the functions, at least 0; a ball, or as `as_balls` accepts.
        samples: m.
        delta: the probability of failure, in (0, 1).
        lipschitz: L, at least 0, the Lipschitz constant of the loss in its first argument.
        loss_bound: b, positive; losses lie in [0, b].
        form: which of the three.

    Raises:
        ValueError: for arguments out of range or not finite.
    """
    rad, L = (
        checked_bound("The Rademacher complexity", rademacher),
        checked_bound("The Lipschitz constant", lipschitz),
    )
    b, m = (
        checked_bound("The bound b of the loss", loss_bound, positive=True),
        checked_integer("The sample size", samples, 1),
    )
    failure = checked_bound("The probability delta", delta, positive=True)
    if not failure < 1:
        raise ValueError(f"The probability of failure delta must lie in (0, 1), not {delta}.")
    _known(form)
    events = {"printed": 1, "corrected": 4, "sharp": 3}[form]
    slope, factor = (4, 2) if form == "printed" else (2, 3)
    return slope * L * rad + factor * b * ((events / failure).log() / (2 * m)).sqrt()


def generalisation_bound(
    entropy: object,
    bound: object,
    samples: int,
    delta: object,
    *,
    lipschitz: object = 1,
    loss_bound: object = 1,
    constant: object = CONSTANT,
    form: Form = "corrected",
) -> arb:
    """A bound on |risk - empirical risk| for all f at once with probability >= 1 - delta, from ln N(eps) <= C/eps^2.

    `deviation_bound` at `rademacher_bound`, both in the same form. The hypothesis is for all samples of m points.

    Raises:
        ValueError: as these two; in particular the printed form is refused where C > A^2 m.
    """
    rad = rademacher_bound(entropy, bound, samples, constant=constant, form=form)
    return deviation_bound(rad, samples, delta, lipschitz=lipschitz, loss_bound=loss_bound, form=form)


def _positive_log(x: arb) -> arb:
    return x.log().max(arb(0))


def _known(form: str) -> None:
    if form not in get_args(Form):
        raise ValueError(f"The form is one of {', '.join(get_args(Form))}, not {form!r}.")


def _checked_steps(steps: Steps) -> tuple[list[fmpq], list[int]]:
    if not len(steps) or any(len(pair) != 2 for pair in steps):
        raise ValueError("The covering numbers are a list of pairs (radius, number) that is not empty.")
    radii = as_exact([radius for radius, _ in steps]).tolist()
    numbers = [checked_integer("A covering number", number, 1) for _, number in steps]
    rising = all(a < b for a, b in pairwise(radii))
    falling = all(a >= b for a, b in pairwise(numbers))
    if radii[0] != 0 or not rising or not falling:
        raise ValueError("Covering numbers start at radius 0, at growing radii, and never grow with the radius.")
    return radii, numbers
