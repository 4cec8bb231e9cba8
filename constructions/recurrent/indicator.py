"""Functions H of a Gaussian vector a whose mean over a half-space, blurred by noise, is a given polynomial.

Let x be a unit vector with last coordinate 1/2, w a unit vector with last coordinate 0, t = <w, x>, a a standard
Gaussian vector, n ~ N(0, sigma^2) independent of it. Write alpha = <w, a>, beta = a_last (independent, standard
normal), S = sqrt(1 + sigma^2), and He_i for the Hermite polynomials of probability theory. For Phi(z) = sum c_i z^i,

    H(a) = 2 c_0 + sum_(i odd) u_i He_i(alpha) + sum_(i >= 2 even) v_i He_i(alpha) g(beta),

    u_i = c_i S^i sqrt(2 pi) / He_(i-1)(0),        He_(2j)(0) = (-1)^j (2j - 1)!!,

has E[1{<a, x> + n >= 0} H(a)] = Phi(t) exactly, for every polynomial Phi, every sigma >= 0 and every such x, with

    g(beta) = beta         and  v_i = 2 c_i S^(i+1) sqrt(2 pi) / He_i(0)     ("linear"), or
    g(beta) = sign(beta)   and  v_i = c_i S^i / K_i(b),  b = 1/sqrt(4 S^2 - 1)   ("sign"),

    K_i(b) = (-1)^(i/2) (i-1)!/pi sum_(p+q = i/2-1) b^(2q+1) / (2^(p+q) p! q! (2q + 1)).

If w has a last coordinate w_d, then <w, x> = |w'| t + w_d/2, with w' the rest of w and t = <w', x>/|w'|: that is the
polynomial Psi(t) = Phi(|w'| t + w_d/2), and a constant term Psi(0) that differs from Phi(0). H then has the constant
2 Phi(0), and the term i = 0 of the even formula, g(beta) with K_0(b) = arctan(b)/pi, makes up the difference on target
and fades off target (`indicator_function` with `far`).

A function of alpha alone has no even powers. The partner sign(beta) makes H bounded as soon as He_i(alpha) is clipped;
`IndicatorFunction.clipped` does it, and the sum stays odd in alpha or beta, so that E[H] = 2 Phi(0) either way. With
the levels of `clipping_level` the clipped H with the partner "sign" is bounded by S C_eps(Phi, S), and its mean misses
Phi(t) by eps at most, for every eps <= 1/(S C_s(Phi, S)) and constants K >= 25 of the complexities
(`theorems/rnn_sgd/proofs/indicator.md`).

Source: rnn-sgd, lemma-5.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq
from lemmata.numerics.exact.systems import Array, number_system

__all__ = [
    "IndicatorFunction",
    "IndicatorTerm",
    "bounded_indicator",
    "clipping_error",
    "clipping_level",
    "hermite",
    "indicator_function",
    "sign_slope",
]

Partner = Literal["linear", "sign"]


@dataclass(frozen=True)
class IndicatorTerm:
    """A term of H: rational * S^power * sqrt(2 pi) * He_degree(alpha) * partner, for the partner "linear".

    Attributes:
        degree: i; 0 only for the difference of Psi(0) and Phi(0).
        rational: c_i / He_(i-1)(0) for odd i; 2 c_i / He_i(0) for even i.
        power: the exponent of S, i for odd and i + 1 for even degree.
        paired: whether the term has the factor g(beta), as terms of even degree have.
    """

    degree: int
    rational: fmpq
    power: int
    paired: bool


@dataclass(frozen=True)
class IndicatorFunction:
    """The function H of a polynomial Phi and a noise level sigma.

    Attributes:
        constant: 2 Phi(0), which is 2 c_0 for a w without last coordinate.
        terms: the terms with c_i != 0, by degree (i = 0: with Psi(0) != Phi(0)).
        variance: sigma^2, exact.
        partner: "linear" for g(beta) = beta, "sign" for g(beta) = sign(beta).
        levels: for each term the B beyond which He_i(alpha) is replaced by 0; None if nothing is clipped.
    """

    constant: fmpq
    terms: tuple[IndicatorTerm, ...]
    variance: fmpq
    partner: Partner = "linear"
    levels: tuple[float, ...] | None = None

    def weights(self) -> list[arb]:
        """The factors u_i and v_i of He_i(alpha) g(beta), by term, enclosed at the working precision."""
        S = (1 + arb(self.variance)).sqrt()
        root = (2 * arb.pi()).sqrt()
        result = []
        for term in self.terms:
            weight = arb(term.rational) * S**term.power * root
            if term.paired and self.partner == "sign":
                b = 1 / (4 * S * S - 1).sqrt()
                # K_i of the linear partner is He_i(0)/(2 S^(i+1) sqrt(2 pi)); that of the sign stands above
                linear = arb(_hermite_at_zero(term.degree)) / (2 * S * root)
                weight = weight * linear / _sign_factor(term.degree, b)
            result.append(weight)
        return result

    def __call__(self, alpha: ArrayLike, beta: ArrayLike) -> Array:
        """H at <w, a> = alpha and a_last = beta, arrays of one shape: floats, or balls where one of them holds balls.

        Raises:
            ValueError: for balls where H is clipped or has the partner "sign" and the case is undecided.
        """
        first, second = np.asarray(alpha), np.asarray(beta)
        if number_system([first, second]) == "float":
            return self._values(to_float(first), to_float(second), [float(w) for w in self.weights()])
        return self._values(as_balls(first), as_balls(second), self.weights())

    def _values(self, alpha: Array, beta: Array, weights: Sequence[Any]) -> Array:
        exact = alpha.dtype == object
        total = 0 * alpha + (arb(self.constant) if exact else float(arb(self.constant)))
        sign = _signs(beta) if self.partner == "sign" and any(term.paired for term in self.terms) else beta
        for number, (term, weight) in enumerate(zip(self.terms, weights, strict=True)):
            values = weight * hermite(term.degree, alpha)
            if self.levels is not None:
                values = values * _within(alpha, self.levels[number])
            total = total + (values * sign if term.paired else values)
        return total

    def clipped(self, levels: Sequence[float]) -> IndicatorFunction:
        """The same with He_i(alpha) replaced by 0 where |alpha| is above the level of the term, one level each.

        Raises:
            ValueError: for another number of levels, or one that is not positive and finite.
        """
        if len(levels) != len(self.terms) or not all(0 < level < math.inf for level in levels):
            raise ValueError(
                f"H has {len(self.terms)} terms with c_i != 0, i >= 1: give as many positive finite levels, "
                f"not {list(levels)}."
            )
        return IndicatorFunction(self.constant, self.terms, self.variance, self.partner, tuple(map(float, levels)))

    def supremum(self) -> arb:
        """An upper bound of |H|, the sum of those of the terms.

        Raises:
            ValueError: if H is unbounded: nothing is clipped, or the partner is "linear" and occurs.
        """
        paired = any(term.paired for term in self.terms)
        if self.terms and (self.levels is None or (paired and self.partner == "linear")):
            raise ValueError("This H is unbounded: clip it, and take the partner 'sign' for even powers.")
        total = abs(arb(self.constant))
        for term, weight, level in zip(self.terms, self.weights(), self.levels or (), strict=True):
            total += abs(weight) * _largest_hermite(term.degree, arb(level))
        return total


def clipping_error(function: IndicatorFunction) -> arb:
    """An upper bound of E|H - H clipped|, by Cauchy-Schwarz: sum |weight| sqrt(i!) P[|alpha| > B]^(1/2).

    Raises:
        ValueError: if nothing is clipped.
    """
    if function.levels is None and function.terms:
        raise ValueError("Nothing of this H is clipped: see IndicatorFunction.clipped.")
    total = arb(0)
    for term, weight, level in zip(function.terms, function.weights(), function.levels or (), strict=True):
        outside = (arb(level) / arb(2).sqrt()).erfc()
        total += abs(weight) * (arb(math.factorial(term.degree)) * outside).sqrt()
    return total


def indicator_function(
    coefficients: Sequence[RationalLike],
    variance: RationalLike,
    partner: Partner = "linear",
    far: RationalLike | None = None,
) -> IndicatorFunction:
    """The function H for Phi(z) = sum c_i z^i and noise of variance sigma^2.

    Args:
        coefficients: c_0, c_1, ..., exact.
        variance: sigma^2 >= 0, exact.
        partner: the function g of beta in even terms.
        far: half the mean of H, the value far off target, exact; c_0 if it is None.

    Raises:
        ValueError: for numbers that are not exact, a negative variance, no coefficient, or another partner.
    """
    exact, noise = [as_fmpq(c) for c in coefficients], as_fmpq(variance)
    away = exact[0] if far is None and exact else as_fmpq(far)
    if not exact or any(c is None for c in exact) or noise is None or noise < 0 or away is None:
        raise ValueError(
            "H takes exact coefficients c_0, c_1, ... (at least one), an exact variance >= 0 and an exact value far "
            f"off target, not {list(coefficients)}, {variance!r} and {far!r}."
        )
    if partner not in get_args(Partner):
        raise ValueError(f"The partner of even powers is 'linear' or 'sign', not {partner!r}.")
    known: list[fmpq] = [c for c in exact if c is not None]
    terms = []
    for i, c in enumerate([known[0] - away, *known[1:]]):
        if c:
            odd = i % 2 == 1
            rational = c / _hermite_at_zero(i - 1) if odd else 2 * c / _hermite_at_zero(i)
            terms.append(IndicatorTerm(i, rational, i if odd else i + 1, not odd))
    return IndicatorFunction(2 * away, tuple(terms), noise, partner)


def bounded_indicator(
    coefficients: Sequence[RationalLike], variance: RationalLike, accuracy: RationalLike
) -> IndicatorFunction:
    """The bounded H of lemma 5.1: the partner "sign", every term clipped at the level for eps.

    Args:
        coefficients: c_0, c_1, ..., exact.
        variance: sigma^2 >= 0, exact.
        accuracy: eps in (0, 1); with eps <= 1/(S C_s(Phi, S)) |H| <= S C_eps(Phi, S), and its mean misses Phi by eps.

    Raises:
        ValueError: as `indicator_function` and `clipping_level`.
    """
    full = indicator_function(coefficients, variance, "sign")
    return full.clipped([clipping_level(term.degree, accuracy) for term in full.terms])


def sign_slope(order: int, y: Any, b: Any, density: Any, error: Any, bell: Any) -> Any:
    """The derivative of this order of phi(y) erf(b y/sqrt 2), phi the normal density, in any number system.

    For G normal with correlations p, q to alpha, beta, and b = q/sqrt(1 - q^2), E[sign(beta) | G = y] is that erf; by
    parts, E[1{G >= y} He_i(alpha) sign(beta)] = (-1)^(i-1) p^i times the derivative of order i - 1.

    Args:
        order: of the derivative, >= 0.
        y: where.
        b: the slope.
        density: phi(y).
        error: erf(b y/sqrt 2).
        bell: sqrt(2/pi) exp(-(b y)^2/2).
    """
    total = (-1) ** order * hermite(order, y) * density * error
    for k in range(1, order + 1):
        inner = b**k * hermite(k - 1, b * y) * bell
        total = total + math.comb(order, k) * (-1) ** (order - 1) * hermite(order - k, y) * density * inner
    return total


def hermite(degree: int, z: Array) -> Array:
    """He_degree(z), by the recursion He_(i+1) = z He_i - i He_(i-1), in any number system."""
    before, value = 0 * z, 0 * z + 1
    for i in range(degree):
        before, value = value, z * value - i * before
    return value


def clipping_level(degree: int, epsilon: object) -> float:
    """B_i = sqrt(8) (sqrt(i) + sqrt(log(1/eps))), rounded up a little.

    Raises:
        ValueError: for eps outside (0, 1), or a degree below 1.
    """
    eps = as_balls([epsilon])[0]
    if not 0 < eps < 1 or degree < 1:
        raise ValueError(
            f"A clipping level takes a degree >= 1 and eps strictly between 0 and 1, not {degree} and {epsilon}."
        )
    level = arb(8).sqrt() * (arb(degree).sqrt() + (-eps.log()).sqrt())
    return math.nextafter(float(level.abs_upper()), math.inf)


def _hermite_at_zero(degree: int) -> int:
    """He_i(0) = (-1)^(i/2) (i - 1)!! for even i."""
    return (-1) ** (degree // 2) * math.prod(range(1, degree, 2))


def _sign_factor(degree: int, b: arb) -> arb:
    """K_i(b) of the docstring of this module."""
    if degree == 0:
        return b.atan() / arb.pi()
    half = degree // 2 - 1
    total = arb(0)
    for q in range(half + 1):
        total += b ** (2 * q + 1) / (2**half * math.factorial(half - q) * math.factorial(q) * (2 * q + 1))
    return (-1) ** (degree // 2) * math.factorial(degree - 1) * total / arb.pi()


def _largest_hermite(degree: int, level: arb) -> arb:
    """An upper bound of |He_i| on [-B, B]: the coefficients in modulus, at B."""
    terms = [
        arb(fmpq(math.factorial(degree), math.factorial(j) * math.factorial(degree - 2 * j) * 2**j))
        * level ** (degree - 2 * j)
        for j in range(degree // 2 + 1)
    ]
    return sum(terms[1:], terms[0])


def _signs(beta: Array) -> Array:
    if beta.dtype != object:
        return np.sign(beta)
    return np.vectorize(_sign, otypes=[object])(beta)


def _sign(ball: arb) -> arb:
    if ball > 0 or ball < 0:
        return arb(1 if ball > 0 else -1)
    raise ValueError(f"The sign of {ball} is undecided: give balls of one sign.")


def _within(alpha: Array, level: float) -> NDArray[Any]:
    if alpha.dtype != object:
        return np.abs(alpha) <= level
    return np.vectorize(lambda a: arb(int(_inside(a, level))), otypes=[object])(alpha)


def _inside(ball: arb, level: float) -> bool:
    if abs(ball) <= level or abs(ball) > level:
        return bool(abs(ball) <= level)
    raise ValueError(f"Whether {ball} is clipped at {level} is undecided: give smaller balls.")
