"""Coordinates of neurons in the matrix coefficients of a group, and the margin of a neuron by its definition.

Shared by the theorem modules on finite groups (section D.9). Groups have irreducible representations R of real type
only, with orthogonal matrices of degree d; rho_1, .., rho_n are their n = sum d^2 entries as functions on the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from flint import fmpq

from lemmata.certificates.saddle.certificate import MarginCertificate
from lemmata.certificates.saddle.groups import certify_real_type
from lemmata.constructions.representations.orthogonal import Representation, real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, sqrt_rational
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.groups.tables import FiniteGroup, alternating, dihedral, elementary_abelian, symmetric

EPS = np.finfo(float).eps
GROUPS = {group.name: group for group in (symmetric(3), dihedral(4), dihedral(5), elementary_abelian(3), symmetric(4))}
LARGE = {group.name: group for group in (alternating(5), symmetric(5))}


@cache
def irreps_of(group: FiniteGroup, exact: bool = True) -> tuple[Representation, ...]:
    """The irreducible representations of a group, the trivial one first, with exact or float64 matrices."""
    return tuple(real_irreps(group, exact=exact))


@cache
def certificate_of(group: FiniteGroup) -> MarginCertificate:
    """The exact certificate of a group, made once."""
    return certify_real_type(group)


def basis_of(irreps: tuple[Representation, ...]) -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    """The vectors rho_1, .., rho_n as columns, shape (n, n), and their indices (R, i, j)."""
    indices = [(r, i, j) for r, R in enumerate(irreps) for i, j in product(range(R.degree), repeat=2)]
    return np.stack([irreps[r].matrices[:, i, j] for r, i, j in indices], axis=1), indices


def coordinates_of(irreps: tuple[Representation, ...], u: np.ndarray) -> list[np.ndarray]:
    """alpha_R = (d/n) sum_a u(a) R(a) for each R."""
    return [np.tensordot(u, R.matrices, axes=1) * R.degree / fmpq(len(u)) for R in irreps]


def class_function(group: FiniteGroup, totals: Any) -> np.ndarray:
    """The class function tau with total weight ``totals[C - 1]`` on class C and 0 at the identity."""
    values = [0 * totals[0], *(total / int(size) for total, size in zip(totals, group.class_sizes[1:], strict=True))]
    return np.array(values)[group.class_of]


def equalising_weights(group: FiniteGroup) -> np.ndarray:
    """tau = -(1/S) sum_(R != 1) d^(3/2) chi_R off the identity (lemma D.14), per element, exactly."""
    irreps = irreps_of(group)[1:]
    roots = [sqrt_rational(R.degree) for R in irreps]
    S = sum(R.degree**2 * root for R, root in zip(irreps, roots, strict=True))
    tau = np.array([fmpq(0)] * group.order, dtype=object)
    for R, root in zip(irreps, roots, strict=True):
        tau = tau - R.degree * root / S * R.character
    tau[group.identity] = fmpq(0)
    return tau


def expected_margin(group: FiniteGroup, u: np.ndarray, v: np.ndarray, w: np.ndarray, tau: np.ndarray) -> Any:
    """h(e) - sum_c tau_c h(c), h(c) = E_(a,b) (u(a) + v(b))^2 w(abc), by its definition (D.7), exactly."""
    total = 0
    weighted = [(c, -weight) for c, weight in enumerate(tau) if weight != 0] + [(group.identity, 1)]
    for a, b in product(range(group.order), repeat=2):
        ab = group.table[a, b]
        total = total + (u[a] + v[b]) ** 2 * sum(weight * w[group.table[ab, c]] for c, weight in weighted)
    return total / fmpq(group.order**2)


def kappas_of(group: FiniteGroup, tau: np.ndarray) -> np.ndarray:
    """kappa_R = d^(-1/2) (1 - sum_c tau_c chi_R(c)/d) for the nontrivial R, in floats."""
    return np.array([(1 - tau @ R.character / R.degree) / np.sqrt(R.degree) for R in irreps_of(group, False)[1:]])


def neuron_bound(group: FiniteGroup, tau: np.ndarray) -> float:
    """2 (3n)^(-3/2) max_R kappa_R, which lemma D.13 (corrected) proves for all unit neurons."""
    return 2 * (3 * group.order) ** -1.5 * float(kappas_of(group, tau).max())


def margin_rounding(n: int) -> float:
    """Bound the rounding error of `expected_class_margins` on unit neurons, for weights tau >= 0.

    It averages n^2 products (u(a) + v(b))^2 t(ab) with |t| <= 2 max|w| <= 2 (t itself a sum of n terms), and the
    squares add up to at most 2 n (||u||^2 + ||v||^2) <= 2 n; so the terms add up to at most 4/n in absolute value.
    """
    return 4 / n * (n * n + n + 10) * EPS


def unit_neurons(neurons: np.ndarray) -> np.ndarray:
    """Scale neurons, shape (m, 3, n), to norm 1."""
    return neurons / np.sqrt((neurons**2).sum(axis=(-1, -2), keepdims=True))


def rank_one_neuron(R: Representation, vectors: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The neuron sqrt(d) (x^T R y, y^T R z, x^T R z), of squared norm 3 n for unit vectors x, y, z."""
    root = sqrt_rational(R.degree)
    x, y, z = vectors
    u, v, w = (np.array([left @ M @ right for M in R.matrices]) * root for left, right in ((x, y), (y, z), (x, z)))
    return u, v, w


def unit_vectors(d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three rational unit vectors of length d, of Pythagorean entries, not orthogonal to each other for d > 1."""
    rows = {
        1: (["1"], ["-1"], ["1"]),
        2: (["3/5", "4/5"], ["5/13", "-12/13"], ["8/17", "15/17"]),
        3: (["1/3", "2/3", "2/3"], ["2/7", "3/7", "-6/7"], ["4/9", "-4/9", "7/9"]),
    }
    x, y, z = (as_exact(row) for row in rows[d])
    return x, y, z


def expected_margin_by_targets(group: FiniteGroup, u: np.ndarray, v: np.ndarray, w: np.ndarray, tau: np.ndarray) -> Any:
    """`expected_margin`, with the sum over c taken first: t(x) = w(x) - sum_c tau_c w(xc)."""
    targets = w - exact_matmul(w[group.table], tau[:, None])[:, 0]
    return ((u[:, None] + v[None, :]) ** 2 * targets[group.table]).sum() / fmpq(group.order**2)
