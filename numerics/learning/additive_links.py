"""Sums of functions of one projection each: how many ReLU neurons they need together, from below.

For the P = (2 r + 1)^(D - 1) directions v = (1, v_2, ..., v_D), |v_i| <= r integers, no two of which are parallel, and
signs s take on the cube [0, 1]^D

    g_s(x) = sum_v phi_v(<v, x>),    phi_v(t) = sum_(b < K) s_(v, b) psi(K t - b)/(K R) with period 1,

psi the zigzag from 0 over 1/4 and -1/4 back to 0 on [0, 1], R^2 = 1 + (D - 1) r^2. Each summand is a 1-Lipschitz
function of the projection <v, x>/|v|. For uniform x the numbers <v, x> and <w, x> modulo 1 are independent and uniform,
and phi_v has the mean 0; so the summands are orthogonal, and two g that differ in H signs have the squared distance
H/(12 K^3 R^2). Signs with pairwise H >= P K/4 are 2^(0.188 P K) at least, and m neurons with |a| |(W, b)|_F <= S and
sum errors up to sqrt(eps) tell no more than (1 + 4 S sqrt(D + 1)/sqrt(eps))^(m (D + 2)) functions apart.

Source: qstr, remark-assumption-2-rates (proofs/additive-links.md of that chapter).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import isqrt

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq

__all__ = ["RidgeSum", "directions", "least_neurons", "most_bumps", "squared_distance"]

Integers = NDArray[np.int64]


def directions(dimension: int, reach: int) -> Integers:
    """The (2 r + 1)^(D - 1) vectors with first coordinate 1 and others in -r, ..., r, shape (P, D).

    Raises:
        ValueError: for a dimension or a reach below 1.
    """
    D, r = checked_integer("The dimension", dimension, 1), checked_integer("The reach", reach, 1)
    return np.array([(1, *rest) for rest in product(range(-r, r + 1), repeat=D - 1)], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class RidgeSum:
    """g_s, for signs of shape (P, K).

    Attributes:
        vectors: integer directions, shape (P, D).
        signs: s, entries 1 and -1, shape (P, K).

    Raises:
        ValueError: for shapes that do not fit.
    """

    vectors: Integers
    signs: Integers

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or self.signs.ndim != 2 or len(self.vectors) != len(self.signs):
            raise ValueError(
                f"Directions (P, D) need signs (P, K), but the shapes are {self.vectors.shape}, {self.signs.shape}."
            )

    def summands(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """phi_v(<v, x>), shape (..., P), for points of shape (..., D)."""
        K = self.signs.shape[1]
        place = K * np.mod(points @ self.vectors.T, 1)
        bump = np.minimum(place.astype(int), K - 1)
        u = place - bump
        zigzag = np.minimum(u, np.maximum(0.5 - u, u - 1))
        longest = np.sqrt((self.vectors**2).sum(axis=1).max())
        return self.signs[np.arange(len(self.vectors)), bump] * zigzag / (K * longest)

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """g_s, shape (...), for points of shape (..., D)."""
        return self.summands(points).sum(axis=-1)


def squared_distance(different: int, bumps: int, squared_length: int) -> fmpq:
    """H/(12 K^3 R^2), the mean square of g_s - g_s' on the cube, for signs that differ at H places.

    Args:
        different: H.
        bumps: K.
        squared_length: R^2.
    """
    return fmpq(different) / (12 * fmpq(bumps) ** 3 * fmpq(squared_length))


def most_bumps(dimension: int, reach: int, epsilon: RationalLike) -> int:
    """The largest K for which signs that differ at a quarter of the places give a distance above 4 sqrt(eps).

    Raises:
        ValueError: for sizes below 1, an epsilon that is not exact and positive, or if K = 1 is too large already.
    """
    D, r = checked_integer("The dimension", dimension, 1), checked_integer("The reach", reach, 1)
    eps = as_fmpq(epsilon)
    if eps is None or not eps > 0:
        raise ValueError(f"The squared error is exact and positive, not {epsilon}.")
    most = fmpq((2 * r + 1) ** (D - 1)) / (768 * (1 + (D - 1) * r * r) * eps)  # K^2 is below it
    K = isqrt(int(most.ceil()) - 1)
    if K < 1:
        raise ValueError(f"{(2 * r + 1) ** (D - 1)} summands are no further than 4 sqrt(eps) apart for eps = {eps}.")
    return K


def least_neurons(dimension: int, reach: int, epsilon: RationalLike, size: object) -> arb:
    """What m is at least, if m neurons with |a| |(W, b)|_F <= S come within sqrt(eps) of each g_s on the cube.

    Args:
        dimension: D, the number of coordinates of the input.
        reach: r; there are P = (2 r + 1)^(D - 1) summands.
        epsilon: the squared error, exact.
        size: S, exact or a ball.

    Raises:
        ValueError: as `most_bumps`.
    """
    K, S = most_bumps(dimension, reach, epsilon), as_balls([size])[0]
    places = arb((2 * reach + 1) ** (dimension - 1)) * K
    entropy = arb(3).log() * 3 / 4 - arb(2).log()  # of a ball of a quarter of the places, from that of all signs
    each = (1 + 4 * S * (arb(dimension + 1) / as_balls([epsilon])[0]).sqrt()).log()
    return places * entropy / ((dimension + 2) * each)
