"""The complexities of power series: how they compare, and those of powers, sines, exponentials, sigmoids and tanh.

Printed is C_s <= C_eps, which fails for constants, and for z unless eps <= exp(-(2^1.75 - 1)^2); true is it up to the
factor max(K/2, 2^1.75), and without a factor for phi(0) = 0 and small eps. The proofs are in `proofs/complexities.md`.
The library's sums are compared with closed forms and with sums of fractions that are written out here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.recurrent.concepts import lag_networks
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.recurrent.complexities import (
    complexity,
    exponential_series,
    polynomial,
    sine_series,
    smooth_complexity,
    taylor,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

DEFINITION = "rnn-sgd:definition-complexity"
EXAMPLE = "rnn-sgd:example-2.1"
SAMPLES = "rnn-sgd:fact-sample-complexity"
MEASURES = "rnn-sgd:fact-nonlinear-measurements"
POWERS = "z, z^2, z^3, z^7 at R = sqrt 3, K = 10^4, eps = 1/1000, to ten digits"
THRESHOLD = (-((arb(2) ** fmpq(7, 4) - 1) ** 2)).exp()


def _drawn(seed: int) -> list[int]:
    """Coefficients of a random polynomial of degree at most 7."""
    rng = np.random.default_rng(seed)
    return [int(c) for c in rng.integers(-9, 10, size=int(rng.integers(1, 9)))]


@check(
    DEFINITION,
    grade="enclosed",
    target="corrected",
    cases="60 random polynomials of degree at most 7 (seeds 0 to 59), sin, exp - 1; K = 7, 10^4; R = 1/2, 1, 3; 3 eps",
)
@proof_steps("complexities.md: 1, 2, 3")
def test_between_the_complexities() -> None:
    """Steps 1 to 3: C_s <= max(K/2, 2^1.75) C_eps and C_eps(phi, R) <= (1 + eps^(-1/2e))/K C_s(phi, K R).

    Without the factor where phi(0) = 0 and eps is below the threshold; both quotients come near 1 somewhere.
    """
    tightest = arb(0)
    series = [polynomial(_drawn(seed)) for seed in range(60)] + [sine_series(), exponential_series()]
    for phi in [one for one in series if smooth_complexity(one, 1) > 0]:
        for constant, radius, epsilon in (
            (7, fmpq(1, 2), "3/10"),
            (7, 1, "37/10000"),
            (10**4, 3, fmpq(1, 10**9)),
            (7, 3, "3/10"),
        ):
            small, large = smooth_complexity(phi, radius, constant), complexity(phi, radius, epsilon, constant)
            factor = (arb(constant) / 2).max(arb(2) ** fmpq(7, 4))
            assert small <= factor * large
            wide = smooth_complexity(phi, radius * constant, constant)
            power = arb(fmpq(epsilon) if not isinstance(epsilon, str) else fmpq(*map(int, epsilon.split("/"))))
            assert large <= (1 + power ** (-1 / (2 * arb(1).exp()))) / constant * wide
            if phi.coefficient(0) == 0 and epsilon != "3/10":
                assert small <= large
                tightest = tightest.max(small / large)
    assert tightest > arb("0.9")


@check(DEFINITION, grade="enclosed", target="corrected", supporting=True)
@proof_steps("complexities.md: 1")
def test_constants_of_the_comparison() -> None:
    """(i + 1)^(7/(4(i - 1))) < 7 for i = 2, ..., 200, and the threshold is 0.003748."""
    values = [arb(i + 1) ** (arb(7) / (4 * (i - 1))) for i in range(2, 201)]
    assert all(value < 7 for value in values)
    assert all(after < before for before, after in pairwise(values))
    assert abs(THRESHOLD - arb("0.003748")) < arb("0.0000005")


@counterexample(DEFINITION, grade="enclosed", cases="phi = 1, and phi = z for eps = 0.0038, 0.01, 0.3, K = 10^4")
@proof_steps("complexities.md: 2")
def test_the_printed_comparison_fails(record: Record, epsilon: fmpq = fmpq(38, 10**4)) -> None:
    one, z, radius = polynomial([1]), polynomial([0, 1]), 1
    assert smooth_complexity(one, 1) == 10**4
    assert complexity(one, 1, fmpq(1, 1000)) == 2
    record.hypothesis("R >= 0", radius, ">=", 0)
    record.hypothesis("C* is as large as the example 10^4", smooth_complexity(one, 1), ">=", 10**4)
    record.hypothesis("0 < eps", epsilon, ">", 0)
    record.hypothesis("eps < 1", epsilon, "<", 1)
    record.violated("C_s <= C_eps for phi = 1", smooth_complexity(one, radius), "<=", complexity(one, radius, epsilon))
    record.violated("C_s <= C_eps for phi = z", smooth_complexity(z, radius), "<=", complexity(z, radius, epsilon))
    record.number("0.003748", THRESHOLD)
    record.number("0.00374", THRESHOLD, rounded="down")
    for larger in (fmpq(38, 10**4), fmpq(1, 100), fmpq(3, 10)):
        assert smooth_complexity(z, 1) > complexity(z, 1, larger)
    assert smooth_complexity(z, 1) < complexity(z, 1, fmpq(37, 10**4))


@check(
    DEFINITION,
    grade="enclosed",
    target="printed",
    supporting=True,
    cases="sin and exp - 1 at R = 1, K = 10; eps = 10^-4, ..., 10^-64",
)
@proof_steps("complexities.md: 4")
@pytest.mark.parametrize("phi", [sine_series(), exponential_series()], ids=lambda phi: phi.name)
def test_entire_functions_grow_slowly(phi) -> None:
    """Step 4: eps (C_eps - C_s) falls to 0, and log C_eps grows like the cube root of log(1/eps) at most."""
    sizes = [complexity(phi, 1, arb(10) ** -power, 10) for power in (4, 8, 16, 32, 64)]
    small = smooth_complexity(phi, 1, 10)
    shares = [(size - small) * arb(10) ** -power for power, size in zip((4, 8, 16, 32, 64), sizes, strict=True)]
    assert all(after < before / 100 for before, after in pairwise(shares))
    growth = [after.log() - before.log() for before, after in pairwise(sizes)]
    assert all(after < 2 * before for before, after in pairwise(growth))


@check(DEFINITION, grade="enclosed", target="corrected", cases="sin at R = 1, K = 1, 10, 10^4")
def test_the_sums_of_the_sine() -> None:
    """The first sum is sinh(K R); the second, and C_s, are compared with their first 120 terms in fractions.

    And the coefficients of sin and exp - 1 are those of the textbook.
    """
    factorials = [fmpq(1, math.factorial(i)) for i in range(9)]
    assert [exponential_series().coefficient(i) for i in range(9)] == [fmpq(0), *factorials[1:]]
    assert [sine_series().coefficient(i) for i in range(9)] == [(0, 1, 0, -1)[i % 4] * factorials[i] for i in range(9)]
    for constant, epsilon, terms in ((1, fmpq(1, 100), 40), (10, fmpq(1, 10**6), 200)):
        root = (-arb(epsilon).log()).sqrt() * constant
        second = sum(((root / arb(i).sqrt()) ** i / arb(math.factorial(i)) for i in range(1, terms, 2)), arb(0))
        assert abs(complexity(sine_series(), 1, epsilon, constant) - arb(constant).sinh() - second) < arb("1e-8")
    rough = sum(Fraction((i + 1) ** 2, math.factorial(i)) for i in range(1, 40, 2))
    small = smooth_complexity(sine_series(), 1, 1)
    assert small < arb(rough.numerator) / rough.denominator
    assert abs(small - arb("5.44859411764")) < arb("1e-10")
    assert complexity(sine_series(), 1, fmpq(1, 100)).log() / arb(10).log() > 4342


@check(DEFINITION, grade="enclosed", target="corrected", cases=POWERS)
@check(EXAMPLE, grade="enclosed", target="corrected", cases=POWERS)
@proof_steps("complexities.md: 5")
@pytest.mark.parametrize("degree", [1, 2, 3, 7])
def test_powers(degree: int) -> None:
    """Step 5: the closed forms of both complexities of z^d."""
    phi, R, K, epsilon = polynomial([0] * degree + [1]), arb(3).sqrt(), 10**4, fmpq(1, 1000)
    level = -arb(epsilon).log()
    assert complexity(phi, R, epsilon).overlaps((K * R) ** degree * (1 + (level / degree).sqrt() ** degree))
    assert smooth_complexity(phi, R).overlaps(K * arb(degree + 1) ** fmpq(7, 4) * R**degree)
    for value in (complexity(phi, R, epsilon), smooth_complexity(phi, R)):
        assert value.rad() < value * arb("1e-10")


@check(
    SAMPLES,
    grade="enclosed",
    target="printed",
    cases="z, z^2, z^3 and 40 random polynomials of degree at most 7; L = 3, 100, 10^4, eps = 10^-2, 10^-8, 10^-64",
)
@proof_steps("complexities.md: 8, 9")
def test_sizes_for_polynomials_are_polynomials() -> None:
    """Steps 8 and 9: C is at most 2A (K^2 L log(1/eps))^(D/2), and at least a share of it that depends on D alone.

    With m = ((1 + C)/eps)^q, q = 1 and 3: m is below ((1 + b) eps^(-1-D/2))^q, and C^2 below b^2 (log m)^D.
    """
    K, drawn = 10**4, [_drawn(seed) for seed in range(40)]
    for coefficients in [[0, 1], [0, 0, 1], [0, 0, 0, 1], *(one for one in drawn if any(one[1:]))]:
        phi, total = polynomial(coefficients), sum(map(abs, coefficients))
        degree = max(i for i, c in enumerate(coefficients) if c)
        for L in (3, 100, 10**4):
            b = 2 * total * K**degree * arb(L).sqrt() ** degree
            for epsilon in (arb(10) ** -power for power in (2, 8, 64)):
                level = -epsilon.log()
                C = complexity(phi, arb(L).sqrt(), epsilon)
                assert b * level.sqrt() ** degree > C
                assert b * (level / degree).sqrt() ** degree / (2 * total) < C
                for q in (1, 3):
                    m = ((1 + C) / epsilon) ** q
                    assert m < ((1 + b) * epsilon ** (-1 - arb(degree) / 2)) ** q
                    assert b**2 * m.log() ** degree > C**2


@check(
    MEASURES,
    grade="enclosed",
    target="printed",
    cases="a network of 3 rows per lag, |v| = 1 to 25, |a| <= 3, phi = z - 2 z^2 + z^3/3; L = 5, eps = 10^-2 to 10^-64",
)
@proof_steps("complexities.md: 10")
def test_networks_per_lag_have_polynomial_sizes() -> None:
    """The parts of the target are as complex as |a| times phi at |v| sqrt L, and below 2 a_0 A (K rho sqrt L)^D ...

    Both sums over i are written out, in balls; three rows make p = 3 parts from a token to an output.
    """
    hidden = [as_exact(V) for V in ([[3, 4, 0], [0, 2, 0], [-1, 0, 0]], [[7, 24, 0], [1, 0, 0], [0, -3, 0]])]
    readouts = [as_exact(A) for A in ([[1, -2, 3], [0, 1, 1]], [[2, 0, -1], [1, 1, 1]])]
    hidden, readouts, sizes = [*hidden, hidden[0]], [*readouts, readouts[0]], ([5, 2, 1], [25, 1, 3], [5, 2, 1])
    phi, K, root = [(1, fmpq(1)), (2, fmpq(2)), (3, fmpq(1, 3))], 10**4, arb(5).sqrt()
    target = lag_networks(5, hidden, readouts, (0, 1, -2, fmpq(1, 3)))
    for power in (2, 8, 64):
        epsilon = arb(10) ** -power
        level, found = -epsilon.log(), {}
        for part in target.parts:
            key = (part.source, part.target, part.output)
            found.setdefault(key, []).append(complexity(polynomial(part.coefficients), root, epsilon))
        assert {key[:2] for key in found} == {(2, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5)}
        for (source, aim, output), values in found.items():
            lag = aim - source - 1
            assert len(values) == 3
            for value, rho, a in zip(values, sizes[lag], readouts[lag][output], strict=True):
                terms = [c * (K * rho * root) ** i * (1 + (level / i).sqrt() ** i) for i, c in phi]
                assert value.overlaps(abs(a) * sum(terms, arb(0)))
                assert value < 2 * 3 * arb(fmpq(10, 3)) * (K * 25 * root * level.sqrt()) ** 3


@check(
    MEASURES,
    grade="enclosed",
    target="printed",
    cases="z, sin, exp - 1 and 20 random polynomials of degree at most 7 (seeds 0 to 19); L = 3, 100, q = 4, 100",
)
@proof_steps("complexities.md: 11")
def test_the_complexity_suffers_from_the_length() -> None:
    """C(sqrt(q L)) is at least sqrt q C(sqrt L), and not more for z; a constant alone would not see L."""
    drawn = [polynomial([0, *_drawn(seed)[1:]]) for seed in range(20)]
    phis = [phi for phi in drawn if smooth_complexity(phi, 1) > 0]
    assert len(phis) > 12
    for phi in [sine_series(), exponential_series(), *phis]:
        for L, q in ((3, 4), (100, 100)):
            short, long = (complexity(phi, arb(l).sqrt(), fmpq(1, 100), 10) for l in (L, q * L))
            assert long > arb("0.9999") * arb(q).sqrt() * short
            z = [complexity(polynomial([0, 1]), arb(l).sqrt(), fmpq(1, 100), 10) for l in (L, q * L)]
            assert z[1].overlaps(arb(q).sqrt() * z[0])
    assert complexity(polynomial([1]), 2, fmpq(1, 100)) == complexity(polynomial([1]), 1, fmpq(1, 100))


@cache
def _moduli(name: str) -> list[fmpq]:
    """|c_0|, ..., |c_200|."""
    phi = taylor(name, 200)
    return [abs(phi.coefficient(i)) for i in range(201)]


def _degree(name: str, epsilon: Fraction) -> int:
    """The least D from which on the Taylor polynomial of tanh or the sigmoid is within eps on [-1, 1].

    The moduli of the coefficients add up, and are largest at |z| = 1; those beyond the degree 200 are below (2/pi)^200.
    """
    moduli, rest, degree = _moduli(name), fmpq(0), 200
    while degree >= 0 and rest + moduli[degree] <= fmpq(epsilon.numerator, epsilon.denominator):
        rest, degree = rest + moduli[degree], degree - 1
    return degree


@check(EXAMPLE, grade="enclosed", target="corrected", cases="tanh and the sigmoid to degree 200")
@proof_steps("complexities.md: 6")
def test_taylor_polynomials_are_near() -> None:
    """Step 6: coefficients of modulus at most 1 that fall geometrically, and values at z = 1 against arb's tanh."""
    for name, value in (("tanh", arb(1).tanh()), ("sigmoid", 1 / (1 + arb(-1).exp()) - arb(1) / 2)):
        phi = taylor(name, 200)
        coefficients = [phi.coefficient(i) for i in range(201)]
        assert all(abs(c) <= 1 for c in coefficients)
        assert abs(arb(sum(coefficients, fmpq(0))) - value) < arb(2).exp() * (2 / arb.pi()) ** 200 + arb("1e-13")
    signs = [taylor("tanh", 9).coefficient(i) for i in (1, 3, 5, 7, 9)]
    assert signs == [fmpq(1), fmpq(-1, 3), fmpq(2, 15), fmpq(-17, 315), fmpq(62, 2835)]


@check(
    SAMPLES, grade="enclosed", target="printed", cases="truncated tanh and sigmoid, L = 4, 64, eps = 10^-2 to 10^-16"
)
@check(
    EXAMPLE,
    grade="enclosed",
    target="corrected",
    cases="truncated tanh and sigmoid, R = 1, 2, 8, K = 10^4, eps = 10^-2, 10^-4, 10^-8, 10^-16",
)
@proof_steps("complexities.md: 6, 8")
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
@pytest.mark.parametrize("radius", [1, 2, 8])
def test_truncated_series_within_the_corrected_power(name: str, radius: int) -> None:
    """log C/log(1/eps) stays below q (1 + log R) with the q of step 6, D <= q_0 log(1/eps) + 3."""
    for power in (2, 4, 8, 16):
        epsilon = Fraction(1, 10**power)
        degree = _degree(name, epsilon)
        assert degree <= 2.4 * power * math.log(10) + 3
        level = -arb(fmpq(1, 10**power)).log()
        bound = (
            (2 + arb(degree + 1).log() * fmpq(11, 4))
            + degree * (arb(10**4) * radius).log()
            + level / (2 * arb(1).exp())
        )
        assert complexity(taylor(name, degree), radius, fmpq(1, 10**power)).log() <= bound
        assert smooth_complexity(taylor(name, degree), radius).log() <= bound + arb(10**4).log()


@counterexample(
    EXAMPLE,
    grade="enclosed",
    cases="tanh at R = 1, K = 10^4, eps = 10^-2, ..., 10^-16; sin for the catalogue's numbers",
)
@proof_steps("complexities.md: 7")
def test_the_printed_exponent_fails_at_radius_one(record: Record) -> None:
    """Step 7: at R = 1 the printed bound has exponent 0, but C_eps > eps^-5 for the truncated tanh and sine."""
    radius = fmpq(1)
    for power in (2, 4, 8, 16):
        epsilon = fmpq(1, 10**power)
        degree, level = _degree("tanh", Fraction(1, 10**power)), -arb(epsilon).log()
        size = complexity(taylor("tanh", degree), 1, epsilon)
        if power == 4:
            rest = sum(_moduli("tanh")[degree + 1 :], fmpq(0)) + (2 / arb.pi()) ** 200 * 3
            record.hypothesis("the Taylor polynomial is within eps of tanh on [-1, 1]", rest, "<=", epsilon)
            record.hypothesis("its degree is O(log(1/eps)), with the constants of step 6", degree, "<=", 3 + 3 * level)
            record.hypothesis("R is not negative", radius, ">=", 0)
            printed = (arb(10**6) * arb(radius).log() * level).exp()
            record.violated("C_eps <= (1/eps)^(O(log R)), with 10^6 in the O, at R = 1", size, "<=", printed)
        assert size > (1 / arb(epsilon)) ** 5
    for power, degree, size in ((2, 3, "4.8e11"), (4, 7, "7.2e24"), (8, 11, "4.5e37")):
        found = complexity(sine_series().truncated(degree), 1, fmpq(1, 10**power))
        assert abs(found / arb(size) - 1) < arb("0.02")
