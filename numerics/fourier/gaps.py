"""Fourier gaps, which reveal a hidden parity: of majority, of any Boolean function, and of sinusoidal neurons.

The Fourier gap of h at a set S compares the coefficients of the sets S minus one element with those of the sets S plus
one (conventions of `lemmata.numerics.fourier.walsh`).

For h(x) = sin(a.x + phase) the coefficient is a product, sin(phase + pi |T|/2) prod_T sin a_i prod_{not T} cos a_i:
the imaginary part of E[chi_T e^{i (a.x + phase)}], where E[x e^{iax}] = i sin a and E[e^{iax}] = cos a.

Source: hidden-progress, definition-5.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.balls import as_balls, ball_max, ball_min
from lemmata.numerics.fourier.boolean import check_majority, majority_coefficient
from lemmata.numerics.fourier.walsh import walsh_hadamard


@dataclass(frozen=True)
class FourierGap:
    """How well the coefficients next to a set S separate the members of S from the rest; fmpq, float or arb.

    For h = sigma'(w.x + b), the population gradient in w_i of a neuron that shall learn chi_S is, up to one factor,
    hat h(S - i) for i in S and hat h(S + i) for i outside, so a positive `gap` lets one read S off the gradient.

    Attributes:
        weakest_below: min over i in S of |hat h(S - i)|.
        strongest_below: max over i in S of |hat h(S - i)|.
        strongest_above: max over j outside S of |hat h(S + j)|; 0 if S is everything.
    """

    weakest_below: Any
    strongest_below: Any
    strongest_above: Any

    @property
    def gap(self) -> Any:
        """The largest gamma for which h has a gamma-Fourier gap at S; negative or 0 if there is none."""
        return self.weakest_below - self.strongest_above

    @property
    def relaxed_gap(self) -> Any:
        """The difference strongest_below - strongest_above: if positive, at least one member of S can be read off."""
        return self.strongest_below - self.strongest_above


def support_indices(n: int, support: Iterable[int]) -> tuple[int, ...]:
    """The members of a support, in their order.

    Raises:
        ValueError: unless they are different indices from 0 to n-1, at least one.
    """
    chosen = tuple(support)
    outside = [i for i in chosen if not 0 <= i < n]
    if not chosen or outside or len(set(chosen)) < len(chosen):
        raise ValueError(
            f"The support {list(chosen)} is no non-empty set of inputs: give different indices from 0 to {n - 1}."
        )
    return chosen


def majority_gap(n: int, k: int) -> FourierGap:
    """The gap of Maj_n at every set of k inputs, exactly. For odd k all three coefficients are 0.

    Raises:
        ValueError: if n is even or negative, or k is not in 1..n.
    """
    check_majority(n)
    if not 1 <= k <= n:
        raise ValueError(f"The support of a parity of {n} inputs has 1 to {n} elements, not {k}.")
    below = abs(majority_coefficient(n, k - 1))
    return FourierGap(below, below, abs(majority_coefficient(n, k + 1)) if k < n else fmpq(0))


def fourier_gap(values: ArrayLike, support: Iterable[int]) -> FourierGap:
    """The gap of any function, by the Walsh-Hadamard transform.

    Args:
        values: (2^n,) the table in the order of `lemmata.numerics.fourier.walsh` (bit i of the index is set where x_i =
            -1). Integers and exact objects give an exact result, floats a float64.
        support: the set S, as indices from 0 to n-1.

    Raises:
        ValueError: if the length is no power of two, a float is NaN or infinite, the support no non-empty set of
            inputs, or as `walsh_hadamard`.
    """
    transform = walsh_hadamard(values)
    if transform.dtype == np.float64 and not np.all(np.isfinite(transform)):
        raise ValueError("The table holds NaN or infinity (or its sums overflow), so that it has no Fourier gap.")
    n = len(transform).bit_length() - 1
    chosen = support_indices(n, support)
    code = sum(1 << i for i in chosen)
    unit = 2.0**-n if transform.dtype == np.float64 else fmpq(1, 2**n)

    def magnitude(T: int) -> Any:
        return abs(transform[T].item() if isinstance(transform[T], np.generic) else transform[T]) * unit

    return _summarise(
        [magnitude(code ^ (1 << i)) for i in chosen],
        [magnitude(code ^ (1 << j)) for j in range(n) if j not in chosen],
        zero=0 * unit,
    )


def _summarise(below: list[Any], above: list[Any], zero: Any) -> FourierGap:
    if any(isinstance(x, arb) for x in below):
        return FourierGap(ball_min(below), ball_max(below), ball_max(above) if above else zero)
    return FourierGap(min(below), max(below), max(above, default=zero))


def _shift_by_quarter_turns(phase: arb, turns: int) -> arb:
    """The sine of phase + turns pi/2, without rounding pi."""
    value = phase.cos() if turns % 2 else phase.sin()
    return -value if turns % 4 >= 2 else value


def _leave_one_out(factors: Sequence[arb]) -> list[arb]:
    """The products of all factors but one, without a division."""
    before = list(accumulate(factors[:-1], mul, initial=arb(1)))
    after = list(accumulate(reversed(factors[1:]), mul, initial=arb(1)))[::-1]
    return [a * b for a, b in zip(before, after, strict=True)]


def _sines_and_cosines(weights: ArrayLike | Sequence[Any], phase: object) -> tuple[list[arb], list[arb], arb]:
    angles = as_balls(weights)
    if angles.ndim != 1 or angles.size == 0:
        raise ValueError(f"The weights have shape {angles.shape}: give a non-empty vector, one weight per input.")
    (start,) = as_balls([phase])
    return [a.sin() for a in angles], [a.cos() for a in angles], start


def sinusoid_coefficient(weights: ArrayLike | Sequence[Any], phase: object, members: Iterable[int]) -> arb:
    """An enclosure of E[sin(weights.x + phase) chi_T(x)]; for the cosine add pi/2 to the phase.

    Args:
        weights: (n,) finite floats (taken at their exact binary value), exact numbers or balls.
        phase: one such number.
        members: the set T, as different indices from 0 to n-1; it may be empty.

    Raises:
        ValueError: if the weights are no vector of such numbers, or T is no set of inputs.
    """
    sines, cosines, start = _sines_and_cosines(weights, phase)
    chosen = tuple(members)
    T = set(support_indices(len(sines), chosen)) if chosen else set()
    result = _shift_by_quarter_turns(start, len(T))
    for i in range(len(sines)):
        result *= sines[i] if i in T else cosines[i]
    return result


def sinusoid_gap(weights: ArrayLike | Sequence[Any], phase: object, support: Iterable[int]) -> FourierGap:
    """The gap of x -> sin(weights.x + phase), enclosed in balls, in O(n) operations.

    With c = |sin(phase + pi (k-1)/2)| prod_S |sin a_i| prod_{not S} |cos a_j| it equals
    c (min_S |cot a_i| - max_{not S} |tan a_j|): positive where c > 0 and all |a_i| < pi/4.

    Args and errors as in `sinusoid_coefficient`; the support must not be empty.
    """
    sines, cosines, start = _sines_and_cosines(weights, phase)
    chosen = support_indices(len(sines), support)
    inside = set(chosen)
    others = [j for j in range(len(sines)) if j not in inside]
    prefix = abs(_shift_by_quarter_turns(start, len(chosen) - 1))  # the same for k - 1 and k + 1, up to the sign
    sine_product, cosine_product = arb(1), arb(1)
    for i in chosen:
        sine_product *= sines[i]
    for j in others:
        cosine_product *= cosines[j]
    below = zip(chosen, _leave_one_out([sines[i] for i in chosen]), strict=True)
    above = zip(others, _leave_one_out([cosines[j] for j in others]), strict=True) if others else []
    return _summarise(
        [prefix * abs(cosines[i] * rest * cosine_product) for i, rest in below],
        [prefix * abs(sines[j] * rest * sine_product) for j, rest in above],
        zero=arb(0),
    )
