"""Two-layer ReLU networks from integrals of ridges, with as few units as the exponent d of Lipschitz functions asks.

Let h(z) = the integral of g_theta(theta.z) over the unit sphere of R^d. On the unit ball, with rho = g'',

    h(z) = an affine function + the integral of rho(theta, u) relu(theta.z - u) over the sphere times [-1, 1].

The domain is divided into cells: the faces of the cube over the sphere, times [-1, 1], and their dyadic parts, first
all of level J, then those whose integral of rho^2 exceeds T 2^(-dJ). Each cell and sign of rho is replaced by at most
d + 2 random units with the same mass and the same first moments, and rho as their mean. A cell where theta.z - u has
one sign then shows no error at z, as relu is linear there, and those that the hyperplane of z meets are few:
the error is of the order sqrt(T) 2^(-J(d+3)/2), against sqrt(T) 2^(-Jd/2) for independent units.

Source: qstr, lemma-42 (proofs/lipschitz.md of that chapter, steps 6 to 11).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.exact.integers import checked_integer

__all__ = ["RidgeNetwork", "moment_units", "ridge_network"]

Floats = NDArray[np.float64]
Density = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class RidgeNetwork:
    """What came of the cells.

    Attributes:
        a: the weights of the units, shape (m,).
        W: their rows of norm 1, shape (m, d).
        b: their biases between -1 and 1, shape (m,).
        points: the places (theta, u) of the finite measure that stands for rho, shape (cells, n, d + 1).
        masses: its values, shape (cells, n).
        levels: of the cells, shape (cells,).
    """

    a: Floats
    W: Floats
    b: Floats
    points: Floats
    masses: Floats
    levels: NDArray[np.int64]

    def __call__(self, z: Floats) -> Floats:
        """The values of the network, shape (n,), at points z of shape (n, d)."""
        return np.maximum(z @ self.W.T + self.b, 0) @ self.a

    def mean(self, z: Floats) -> Floats:
        """The sums over the finite measure, shape (n,), which the network has as its mean over the draws."""
        flat = self.points.reshape(-1, self.points.shape[-1])
        return np.maximum(z @ flat[:, :-1].T - flat[:, -1], 0) @ self.masses.ravel()

    def spread(self, z: Floats) -> Floats:
        """V = the sum of (r M)^2 over the cells that the hyperplane of z meets, shape (n,), for z of shape (n, d).

        M is the mass of |rho| in a cell and r the range of |theta.z - u| there, so that the error of the cell, a
        difference of two numbers between -r M^- and r M^+, lies in an interval of length r M: by Hoeffding's inequality
        |error| > t has a probability of at most 2 exp(-2 t^2/V).
        """
        mass = np.abs(self.masses).sum(axis=1)
        result = []
        for one in z:
            values = self.points[..., :-1] @ one - self.points[..., -1]
            low, high = values.min(axis=1), values.max(axis=1)
            met = (low < 0) & (high > 0)
            result.append(float(((mass * np.maximum(-low, high))[met] ** 2).sum()))
        return np.array(result)


def moment_units(points: Floats, masses: Floats, rng: np.random.Generator) -> Floats:
    """Random masses at few of the points, at most one more than coordinates, with the total and the first moments.

    As long as some null vector v of the moments is left, the masses go to masses + s v or masses - t v, the ends of the
    line where one of them becomes 0, with chances t/(s + t) and s/(s + t): their mean does not change.

    Args:
        points: shape (n, k).
        masses: positive, shape (n,).
        rng: of the draws.

    Returns:
        the masses, shape (n,), at least n - k - 1 of them 0, with the given masses as their mean.
    """
    k = points.shape[1] + 1
    result = np.array(masses, dtype=np.float64)
    alive = np.flatnonzero(result > 0)
    while len(alive) > k:
        some = alive[: k + 1]
        moments = np.concatenate([np.ones((1, k + 1)), points[some].T])
        v = np.linalg.svd(moments)[2][-1]
        v = v * np.sign(v[np.argmax(np.abs(v))])  # the sign is the solver's choice, and the draw should not be
        ends = result[some] / np.where(v == 0, np.inf, v)  # the masses reach 0 at -s = ends > 0 or ends < 0
        t, s = ends[v > 0].min(), -ends[v < 0].max()
        up = rng.random() < t / (s + t)
        gone = some[np.flatnonzero(ends == (-s if up else t))]
        result[some] += (s if up else -t) * v
        result[gone] = 0
        result[some] = np.maximum(result[some], 0)
        alive = np.flatnonzero(result > 0)
    return result


def ridge_network(
    dimension: int, density: Density, level: int, budget: float, *, inner: int = 3, seed: int = 0
) -> RidgeNetwork:
    """The random network for the integral of rho(theta, u) relu(theta.z - u) over the sphere times [-1, 1].

    Args:
        dimension: d >= 2.
        density: rho, from theta of shape (n, d) and u of shape (n,) to (n,).
        level: J >= 0.
        budget: T, at least the integral of rho^2; cells with more than T 2^(-dJ) are divided.
        inner: points of the finite measure in each direction of a cell, at the middles of its parts.
        seed: of the draws.

    Raises:
        ValueError: for other numbers.
    """
    d, level = checked_integer("The dimension", dimension, 2), checked_integer("The level", level, 0)
    inner = checked_integer("The number of points in each direction", inner, 2)
    if not budget > 0:
        raise ValueError(f"The budget must be positive, not {budget}.")
    steps = (np.arange(inner) + 0.5) / inner
    grid = np.stack(np.meshgrid(*[steps] * d, indexing="ij"), axis=-1).reshape(-1, d)
    corners = np.stack(np.meshgrid(*[np.arange(2**level)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    faces = np.repeat(np.arange(2 * d), len(corners))
    low, side = np.tile(corners, (2 * d, 1)) * 2 / 2**level - 1, 2 / 2**level
    children = np.stack(np.meshgrid(*[np.arange(2)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    points, masses, levels = [], [], []
    depth = level
    while len(low):
        places, weights = _on_the_sphere(low[:, None] + side * grid, faces)
        rho = density(places[..., :-1].reshape(-1, d), places[..., -1].ravel()).reshape(weights.shape)
        weights = weights * (side / inner) ** d
        heavy = (rho**2 * weights).sum(axis=1) > budget * 2.0 ** (-d * level)
        points.append(places[~heavy])
        masses.append((rho * weights)[~heavy])
        levels.append(np.full(int((~heavy).sum()), depth))
        side, depth = side / 2, depth + 1
        low = (low[heavy][:, None] + side * children).reshape(-1, d)
        faces = np.repeat(faces[heavy], len(children))
    places, values = np.concatenate(points), np.concatenate(masses)
    rng = np.random.default_rng(seed)
    units = [
        np.concatenate([cell[kept], (sign * found[kept])[:, None]], axis=1)
        for cell, value in zip(places, values, strict=True)
        for sign in (1, -1)
        if (found := moment_units(cell, np.maximum(sign * value, 0), rng)).any()
        for kept in [found > 0]
    ]
    found = np.concatenate(units)
    return RidgeNetwork(found[:, -1], found[:, :d], -found[:, d], places, values, np.concatenate(levels))


def _on_the_sphere(y: Floats, faces: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """(theta, u) and the density of the surface for points (y, u) of faces of the cube, shape (cells, n, d)."""
    cells, n, d = y.shape
    x = np.empty((cells, n, d))
    axis, sign = faces % d, 1.0 - 2 * (faces // d)
    for place in range(d):
        on = axis == place
        x[on] = np.insert(y[on, :, : d - 1], place, sign[on, None], axis=2)
    norm = np.linalg.norm(x, axis=-1)
    return np.concatenate([x / norm[..., None], y[..., d - 1 :]], axis=-1), norm**-d
