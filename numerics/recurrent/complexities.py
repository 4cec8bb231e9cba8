"""The complexities C_eps and C_s of a power series, enclosed.

For phi(z) = sum c_i z^i, a radius R >= 0 and a constant K ("sufficiently large", 10^4 in the document),

    C_eps(phi, R) = sum_i ((K R)^i + (K R sqrt(log(1/eps)/i))^i) |c_i|,
    C_s(phi, R) = K sum_i (i + 1)^1.75 R^i |c_i|,

where the term i = 0 of C_eps is 2 |c_0|. A series is given by the numbers s_i of c_i = s_i or of c_i = s_i / i!. In the
second case it may be infinite, with |s_i| <= 1: the terms left out are then bounded by a geometric series. Balls have
exponents of any size, so that numbers such as 10^4342 need no logarithms.

Source: rnn-sgd, definition-complexity and example-2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flint import arb, ctx, fmpq

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq

__all__ = [
    "PowerSeries",
    "accuracy_part",
    "complexity",
    "exponential_series",
    "polynomial",
    "power_part",
    "sine_series",
    "smooth_complexity",
    "taylor",
]

DEFAULT_CONSTANT = 10**4
"""The example that the document gives for a sufficiently large constant."""


@dataclass(frozen=True)
class PowerSeries:
    """A power series sum c_i z^i.

    Attributes:
        name: how to call it in messages.
        numerators: the function i -> s_i, exact.
        factorial: whether c_i = s_i / i!; else c_i = s_i.
        degree: the last i with s_i != 0; None for an infinite series, which needs `factorial` and |s_i| <= 1.
    """

    name: str
    numerators: Callable[[int], fmpq]
    factorial: bool = False
    degree: int | None = None

    def __post_init__(self) -> None:
        if self.degree is None and not self.factorial:
            raise ValueError(
                f"The infinite series {self.name} must be given by i! times its coefficients, at most 1 in modulus: "
                "else nothing bounds the terms that are left out."
            )

    def coefficient(self, i: int) -> fmpq:
        """c_i."""
        if self.degree is not None and i > self.degree:
            return fmpq(0)
        result = self.numerators(i)
        for j in range(2, i + 1 if self.factorial else 0):
            result = result / j
        return result

    def truncated(self, degree: int) -> PowerSeries:
        """The sum of the terms of degree at most `degree`."""
        last = degree if self.degree is None else min(degree, self.degree)
        return PowerSeries(f"{self.name} to degree {degree}", self.numerators, self.factorial, last)


def polynomial(coefficients: Sequence[RationalLike]) -> PowerSeries:
    """The polynomial with the coefficients c_0, c_1, ..., exact numbers.

    Raises:
        ValueError: without coefficients, or for numbers that are not exact.
    """
    exact = [as_fmpq(c) for c in coefficients]
    if not exact or any(c is None for c in exact):
        raise ValueError(f"A polynomial takes exact coefficients c_0, c_1, ..., at least one, not {coefficients!r}.")
    known: list[fmpq] = [c for c in exact if c is not None]
    return PowerSeries(f"the polynomial {known}", lambda i: known[i], degree=len(known) - 1)


def sine_series() -> PowerSeries:
    """The sine, sin z, as an infinite series."""
    return PowerSeries("sin", lambda i: fmpq((0, 1, 0, -1)[i % 4]), factorial=True)


def exponential_series() -> PowerSeries:
    """The exponential without its constant, e^z - 1, as an infinite series."""
    return PowerSeries("exp - 1", lambda i: fmpq(int(i > 0)), factorial=True)


def taylor(name: str, degree: int) -> PowerSeries:
    """The Taylor polynomial of tanh, or of the sigmoid minus its value 1/2 at 0, which converge near 0 only.

    Raises:
        ValueError: for another name, or a negative degree.
    """
    if name not in ("tanh", "sigmoid") or degree < 0:
        raise ValueError(
            f"There are Taylor polynomials of tanh and of the sigmoid, of degree at least 0, not {name!r}."
        )
    tanh = [fmpq(0)]
    for k in range(degree):  # the derivative is 1 - tanh^2
        tanh.append((int(k == 0) - sum((tanh[i] * tanh[k - i] for i in range(k + 1)), fmpq(0))) / (k + 1))
    return polynomial(tanh if name == "tanh" else [c / 2 ** (i + 1) for i, c in enumerate(tanh)])


def complexity(phi: PowerSeries, radius: object, epsilon: object, constant: object = DEFAULT_CONSTANT) -> arb:
    """C_eps(phi, R), enclosed at the working precision.

    Args:
        phi: the power series.
        radius: R >= 0, exact or a ball.
        epsilon: in (0, 1), exact or a ball.
        constant: K > 0.

    Raises:
        ValueError: for numbers out of range.
    """
    return power_part(phi, radius, constant) + accuracy_part(phi, radius, epsilon, constant)


def power_part(phi: PowerSeries, radius: object, constant: object = DEFAULT_CONSTANT) -> arb:
    """The part sum_i (K R)^i |c_i| of `complexity`, in which epsilon does not occur; arguments and errors as there."""
    reach = _checked("radius", radius, 0) * _checked("constant", constant, 0)
    return _sum(phi, lambda i: reach**i, lambda i: reach / (i + 1))


def accuracy_part(phi: PowerSeries, radius: object, epsilon: object, constant: object = DEFAULT_CONSTANT) -> arb:
    """The part sum_i (K R sqrt(log(1/eps)/i))^i |c_i| of `complexity`; arguments and errors as there."""
    reach = _checked("radius", radius, 0) * _checked("constant", constant, 0)
    eps = _checked("epsilon", epsilon, 0)
    if not 0 < eps < 1:
        raise ValueError(f"The accuracy epsilon must lie strictly between 0 and 1, not be {epsilon}.")
    root = (-eps.log()).sqrt()

    def factor(i: int) -> arb:
        return arb(1) if i == 0 else (reach * root / arb(i).sqrt()) ** i

    def ratio(i: int) -> arb:
        """A bound on the ratios of consecutive terms from the term i >= 1 on, decreasing in i."""
        return reach * root / arb(i).sqrt() / (i + 1)

    return _sum(phi, factor, ratio)


def smooth_complexity(phi: PowerSeries, radius: object, constant: object = DEFAULT_CONSTANT) -> arb:
    """C_s(phi, R), enclosed at the working precision; arguments and errors as for `complexity`."""
    reach, scale = _checked("radius", radius, 0), _checked("constant", constant, 0)

    def ratio(i: int) -> arb:
        return reach * ((arb(i + 2) / (i + 1)) ** fmpq(7, 4)) / (i + 1)

    return scale * _sum(phi, lambda i: arb(i + 1) ** fmpq(7, 4) * reach**i, ratio)


def _sum(phi: PowerSeries, factor: Callable[[int], arb], ratio: Callable[[int], arb]) -> arb:
    """sum_i factor(i) |c_i|; an infinite series ends where the geometric bound of the rest is below the precision."""
    total = arb(0)
    for i, (numerator, majorant) in enumerate(_terms(phi, factor)):
        total += abs(arb(numerator)) * majorant
        if i == phi.degree:
            return total
        if phi.degree is None and i > 0:
            q = ratio(i)
            if 2 * q < 1 and 2 * majorant * q < total.abs_upper() * arb(2) ** (-ctx.prec):
                return total + arb(1).union(arb(-1)) * 2 * majorant * q
    raise AssertionError("A series has infinitely many terms.")


def _terms(phi: PowerSeries, factor: Callable[[int], arb]) -> Iterator[tuple[fmpq, arb]]:
    """The pairs (s_i, factor(i) or factor(i)/i!)."""
    factorial, i = arb(1), 0
    while True:
        if phi.factorial and i:
            factorial = factorial * i
        yield phi.numerators(i), factor(i) / factorial
        i += 1


def _checked(name: str, value: object, least: int) -> arb:
    """The ball of a number that is certainly finite and at least `least`."""
    ball = as_balls([value])[0]
    if not ball.is_finite() or not ball >= least:
        raise ValueError(f"The {name} must be a finite number of at least {least}, not {value}.")
    return ball
