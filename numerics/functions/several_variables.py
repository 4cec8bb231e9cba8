"""Smooth functions of several variables as sums of ReLUs: superpositions of ridge functions, and how large they get.

A function with s = ceil((k-1)/2) + 2 derivatives on [-R, R]^k is, up to an affine part, an integral of ReLUs of ridges
over a finite signed measure: its Fourier transform, in polar coordinates, is a superposition of ridge functions whose
second derivatives are the measure. `sum_bounds` has explicit constants for the total mass and for the number of units
that sampling from the measure needs; one derivative less is not enough, for any k. The proof is in
theorems/deep_icgd/proofs/smooth-sums.md. A network comes from profiles on finitely many directions (`superposition`);
`thinned` draws few of its units, and certifies what that costs.

Source: deep-icgd, lemma-7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, factorial
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_poly

from lemmata.numerics.exact.precision import precision
from lemmata.numerics.functions.relu_sums import ReluSum, ridge
from lemmata.numerics.functions.smooth import ENCLOSURE_BITS, positive_rational, rational, upper_rational

__all__ = ["SumBounds", "deviation_bound", "extension", "sum_bounds", "superposition", "thinned", "units_within"]

_MOST_VARIABLES = 64
_MOST_POINTS = 2**22


def superposition(parts: Sequence[tuple[object, ReluSum, Sequence[object]]], radius: object) -> ReluSum:
    """The sum of weight * profile(direction . z) over the parts, certified on [-R, R]^k with R = radius.

    Its error is the sum of |weight| times the errors of the profiles.

    Args:
        parts: (weight, profile, direction), with one number of variables k for all.
        radius: R, such that |direction . z| stays within the radius of every profile.

    Raises:
        ValueError: if there is no part, the directions differ in length, or `ridge` refuses a part.
    """
    R = positive_rational(radius, "radius")
    if len({len(direction) for _, _, direction in parts}) != 1:
        raise ValueError("A superposition needs one part or more, with directions of one length.")
    ridges = [(rational(weight, "weight"), ridge(profile, direction, R)) for weight, profile, direction in parts]
    return ReluSum(
        np.concatenate([f.coefficients * weight for weight, f in ridges]),
        np.concatenate([f.directions for _, f in ridges]),
        radius=R,
        error=sum((abs(weight) * f.error for weight, f in ridges), fmpq(0)),
    )


def deviation_bound(f: ReluSum, g: ReluSum, cells: int) -> fmpq:
    """An upper bound of |f - g| on the cube of the smaller radius R: the values at the centres of cells^k equal cubes.

    Between centres f - g changes by at most its Lipschitz constant in the largest coordinate, the sum of |c_h| times
    the 1-norm of the direction without its last entry. Values are computed in float64: a sum of M terms, each of size
    at most |c_h| max(1, R) and made by k + 4 roundings, is off by at most (M + k + 8) 2^-52 times the sum of the sizes.

    Raises:
        ValueError: if the numbers of variables differ, both radii are missing, or cells^k is not in [1, 2^22].
    """
    radii = [one.radius for one in (f, g) if one.radius is not None]
    if f.arity != g.arity or not radii:
        raise ValueError("A deviation is between two sums of as many variables, one of them with a radius.")
    if cells < 1 or cells**f.arity > _MOST_POINTS:
        raise ValueError(f"cells^k must be between 1 and {_MOST_POINTS}, not {cells}^{f.arity}.")
    R = min(radii)
    axis = float(R) * (2 * np.arange(cells) + 1 - cells) / cells
    grid = np.meshgrid(*[axis] * f.arity, indexing="ij")
    largest = float(np.max(np.abs(f(*grid) - g(*grid))))
    slope = sum((_slope(one) for one in (f, g)), fmpq(0))
    size = (f.weight + g.weight) * max(R, fmpq(1))
    rounding = size * fmpq(f.units + g.units + f.arity + 8, 2**52)
    return fmpq(*largest.as_integer_ratio()) + slope * R / cells + rounding


def _slope(f: ReluSum) -> fmpq:
    """A Lipschitz constant with respect to the largest coordinate."""
    rows = zip(f.coefficients.tolist(), f.directions.tolist(), strict=True)
    return sum((abs(c) * sum(map(abs, row[:-1]), fmpq(0)) for c, row in rows), fmpq(0))


def units_within(weight: object, error: object, variables: int) -> int:
    """How many units drawn from a sum of ReLUs of this weight are within the error on [-1, 1]^k, for some draw.

    The least H with 2 N exp(-H (error / weight)^2 / 8) < 1, where N = ceil(4 weight / error)^k points are a net on
    which half of the error is allowed; the other half is what a change by the distance to the net costs.

    Raises:
        ValueError: if weight or error is not positive, or variables is not in 1, ..., 64.
    """
    C, eps = positive_rational(weight, "weight"), positive_rational(error, "error")
    _require_variables(variables)
    with precision(ENCLOSURE_BITS):
        N = arb((4 * C / eps).ceil()) ** variables
        return int(upper_rational(8 * arb(C / eps) ** 2 * (2 * N).log()).floor()) + 1


def thinned(f: ReluSum, units: int, cells: int, seed: int) -> ReluSum:
    """A sum of so many ReLUs, drawn from those of f with probabilities |c_h| / C; its |c_h| sum to C as well.

    Each draw counts C / units with the sign of its coefficient, so that the mean over all draws is f. The error is that
    of f plus the certified `deviation_bound` of this draw.

    Raises:
        ValueError: if units < 1, f has no radius, no unit or a window, or cells is refused by `deviation_bound`.
    """
    if units < 1 or f.units == 0 or f.radius is None or f.excluded is not None:
        raise ValueError("To be thinned to one unit or more, a sum needs units and a radius, and no excluded window.")
    sizes = np.array([float(abs(c)) for c in f.coefficients.tolist()])
    counts = np.random.default_rng(seed).multinomial(units, sizes / sizes.sum())
    kept = np.flatnonzero(counts)
    share = f.weight / units
    coefficients = np.array([(1 if f.coefficients[h] > 0 else -1) * share * int(counts[h]) for h in kept], dtype=object)
    drawn = replace(f, coefficients=coefficients, directions=f.directions[kept])
    return replace(drawn, error=f.error + deviation_bound(f, drawn, cells))


# ---- how large sums of ReLUs for smooth functions get


@dataclass(frozen=True)
class SumBounds:
    """Constants of sums of ReLUs for functions of k variables with s derivatives, where L_i R^i <= C_l for i <= s.

    Attributes:
        variables: k.
        derivatives: s = ceil((k-1)/2) + 2, the least number with which such constants exist.
        mass: an upper bound of w, such that all but the affine part is an integral of ReLUs over a mass of w C_l.
        weight: an upper bound of 1 + 2k + w: the sum of the |c_h| is at most weight C_l for every error.
        units: an upper bound of the constant before C_l^2 log(1 + C_l / error) / error^2, the number of units.
    """

    variables: int
    derivatives: int
    mass: fmpq
    weight: fmpq
    units: fmpq

    def units_for(self, size: object, error: object) -> int:
        """How many units suffice for functions with C_l = size: none for error >= size, else 1 + 2k and the drawn.

        Raises:
            ValueError: if size or error is not positive.
        """
        C, eps = positive_rational(size, "size"), positive_rational(error, "error")
        return 0 if eps >= C else 1 + 2 * self.variables + units_within(self.mass * C, eps, self.variables)


def extension(order: int) -> list[tuple[fmpq, fmpq]]:
    """Pairs (alpha, beta), 0 <= beta <= 2, with sum alpha p(-beta) = p(1) for polynomials p of degree <= order.

    For g with so many derivatives on [-1, 1], t -> sum alpha g(1 - beta t) continues g beyond 1 for 0 <= t <= 1, and
    all derivatives up to the order agree at 1.

    Raises:
        ValueError: if order < 1.
    """
    if order < 1:
        raise ValueError(f"order must be an integer >= 1, not {order}.")
    beta = [fmpq(2 * i, order) for i in range(order + 1)]
    pairs = []
    for i, at in enumerate(beta):
        alpha = fmpq(1)
        for other in beta[:i] + beta[i + 1 :]:
            alpha *= (1 + other) / (other - at)
        pairs.append((alpha, at))
    return pairs


def sum_bounds(variables: int) -> SumBounds:
    """The constants for functions of so many variables.

    Raises:
        ValueError: if variables is not in 1, ..., 64.
    """
    k = _require_variables(variables)
    s = (k + 4) // 2
    growth = _continued(s)
    generating = fmpq_poly([q * q / factorial(b) for b, q in enumerate(growth)])
    highest = _power(generating, k, s)[s] * factorial(s)
    lowest = growth[0] ** (2 * k) if k + 3 < 2 * s else fmpq(0)
    with precision(ENCLOSURE_BITS):
        pi, root = arb.pi(), arb(k).sqrt()
        sphere = 2 * pi.sqrt() ** k / (arb(k) / 2).gamma()
        energy = (2 * pi) ** (1 - k) * arb(4**k * (highest + lowest)) / 2
        w = (energy * sphere * 14 * root**3 / 3).sqrt()
        log_2 = arb(2).log()
        units = (2 * k + 2) / log_2 + 8 * w**2 * (1 + k + k * (1 + 4 * w).log() / log_2)
        return SumBounds(k, s, *(upper_rational(value) for value in (w, 1 + 2 * k + w, units)))


def _continued(s: int) -> list[fmpq]:
    """By b <= s, how much larger than C_l a derivative of order b in one variable gets by continuation and cut-off.

    The continuation multiplies a j-th derivative by at most e_j, the sum of |alpha| beta^j (or 1, inside the cube), and
    the cut-off 1 - P on [1, 2], with P' proportional to t^s (1-t)^s, has derivatives of size at most y_j: Leibniz.
    """
    pairs = extension(s)
    e = [max(fmpq(1), sum((abs(alpha) * beta**j for alpha, beta in pairs), fmpq(0))) for j in range(s + 1)]
    slope = fmpq_poly([1, 0, -1]) ** s * (fmpq(factorial(2 * s + 1)) / factorial(s) ** 2 / 4**s)  # P' in v = 2 t - 1
    y = [fmpq(1)]
    for _ in range(s):
        y.append(sum(map(abs, slope.coeffs()), fmpq(0)))
        slope = 2 * slope.derivative()
    return [sum((comb(b, j) * y[j] * e[b - j] for j in range(b + 1)), fmpq(0)) for b in range(s + 1)]


def _power(p: fmpq_poly, exponent: int, degree: int) -> fmpq_poly:
    """The power without its terms above the degree."""
    result = fmpq_poly([1])
    for _ in range(exponent):
        result = fmpq_poly((result * p).coeffs()[: degree + 1])
    return result


def _require_variables(variables: Any) -> int:
    if isinstance(variables, bool) or not isinstance(variables, int) or not 1 <= variables <= _MOST_VARIABLES:
        raise ValueError(f"variables must be an integer from 1 to {_MOST_VARIABLES}, not {variables!r}.")
    return variables
