"""Explicit max-margin networks for the composition of any finite group.

For an irreducible unitary representation R of degree d the neurons (u, v, w), each with sign +-, are, up to the factor
that gives every direction the squared norm r = 3n:

    real type          sqrt(d)   (R_ij,            +-R_jk,               +-R_ik)                        2 d^3 neurons
    complex type       sqrt(2d)  (Re x R_ij,       Re x^4 R_jk,          Re x^5 R_ik),   x^6 = 1        6 d^3
    quaternionic type  sqrt(2d)  (Re R_ij q,       +-Re conj(q) R_jk r,  +-Re R_ik r),  q, r in 1,i,j,k  4 d^3

where a quaternionic R is a matrix of e x e quaternions, d = 2e, and 32 e^3 = 4 d^3. The neurons of one R, of equal
mass, add up to a multiple of the character of the real representation rho that R belongs to (R itself; R and its
conjugate; R twice), of dimension nu = d for real type and 2d otherwise: with total mass eps_rho,

    raw(a, b)[c] = 2 sum_rho eps_rho nu_rho^(-3/2) chi_rho(a b c^-1).

This is the case k = 2 of PRODUCTS.md: section 1 has the norms, sections 2 to 4 what is left of the square for each
type, and section 5 the sum over the indices. Masses that solve the game on the character table make the network
optimal; they are arguments here, and `certificates` computes them. Neurons are ordered by irrep, then (i, j, k), then
x, or (q, r, sign), or sign.

Source: feature-emergence, ext-E1; lemmas D.15 and D.16 for real type.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.groups.lists import refuse_several_groups, repeated_pair
from lemmata.constructions.groups.masses import Masses, mass_shares
from lemmata.constructions.groups.real_type import real_type_neurons
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.representations.unitary import UnitaryIrrep
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.groups.quaternions import CONJUGATION, PRODUCT_INDEX, PRODUCT_SIGN, UNITS

__all__ = [
    "any_group_network",
    "complex_type_neurons",
    "equalising_shares",
    "neurons_of",
    "quaternion_group_network",
    "quaternionic_type_neurons",
]

PHASES = 6


def any_group_network(irreps: Sequence[UnitaryIrrep], masses: Masses | None = None) -> HomogeneousNetwork:
    """The network of total mass 1 in float64 with the neurons of every nontrivial irrep of positive mass.

    Args:
        irreps: inequivalent irreducible representations of one group, one of each complex-conjugate pair at most, as
            `unitary_irreps` returns them. The trivial one is skipped.
        masses: total mass eps_rho of each real representation: a mapping from the names of ``irreps`` (names left out
            have mass 0), or a sequence in the order of the nontrivial irreps. By default `equalising_shares`.

    Returns:
        A network with D = 2n, L = n, degree 2, r = 3n.

    Raises:
        ValueError: if the groups differ, no irrep is nontrivial, two are equivalent or conjugate, or the masses are
            negative, do not sum to 1 to within rounding, or do not fit the irreps.
    """
    nontrivial = _nontrivial(irreps)
    n = nontrivial[0].group.order
    shares = mass_shares([R.name for R in nontrivial], equalising_shares(nontrivial) if masses is None else masses)
    blocks = [(neurons_of(R), share) for R, share in zip(nontrivial, shares, strict=True) if share > 0]
    directions = np.concatenate([neurons for neurons, _ in blocks])
    neuron_masses = np.concatenate([np.full(len(neurons), share / len(neurons)) for neurons, share in blocks])
    return HomogeneousNetwork(directions[:, : 2 * n], directions[:, 2 * n :], neuron_masses, 2, 3.0 * n)


def equalising_shares(irreps: Sequence[UnitaryIrrep]) -> list[float]:
    """The masses proportional to dim V_rho nu^(1/2) for the real representations rho of the nontrivial irreps given.

    V_rho is the space that the entries of rho span, of dimension d^2, or 2 d^2 for a conjugate pair. With all
    nontrivial irreps of a group every wrong label has the same margin; it is the largest margin when the condition of
    theorem 7.9, with these weights, holds (all groups of order up to 31).
    """
    weights = [
        R.degree**2 * (1 if R.indicator else 2) * np.sqrt(R.degree * (1 if R.indicator == 1 else 2)) for R in irreps
    ]
    total = sum(weights)
    return [weight / total for weight in weights]


def neurons_of(irrep: UnitaryIrrep) -> NDArray[np.float64]:
    """The directions (u, v, w) of one irrep, shape (m, 3n), of squared norm 3n; m = 2 d^3, 6 d^3 or 4 d^3."""
    if irrep.kind == "real":
        return real_type_neurons(np.sqrt(irrep.degree) * irrep.matrices)
    if irrep.kind == "complex":
        return np.sqrt(2 * irrep.degree) * complex_type_neurons(irrep.matrices)
    return np.sqrt(2 * irrep.degree) * quaternionic_type_neurons(irrep.quaternions())


def complex_type_neurons(matrices: NDArray[np.complex128]) -> NDArray[np.float64]:
    """The rows (Re x R_ij, Re x^4 R_jk, Re x^5 R_ik), x^6 = 1, for matrices (n, d, d): shape (6 d^3, 3n)."""
    turned = np.array([_rotated(matrices, t) for t in range(PHASES)])  # (6, n, d, d)
    d = matrices.shape[1]
    return np.array(
        [
            np.concatenate([turned[t][:, i, j], turned[4 * t % PHASES][:, j, k], turned[5 * t % PHASES][:, i, k]])
            for i, j, k in itertools.product(range(d), repeat=3)
            for t in range(PHASES)
        ]
    )


def quaternionic_type_neurons(quaternions: NDArray[Any]) -> NDArray[Any]:
    """The rows (Re R_ij q, +-Re conj(q) R_jk r, +-Re R_ik r) for quaternions (n, e, e, 4): shape (32 e^3, 3n).

    The entries keep their arithmetic: floats, or exact numbers in an object array.
    """
    e = quaternions.shape[1]
    right = [_real_part_of_product(quaternions, q) for q in range(4)]  # Re(R q), each (n, e, e)
    rows = []
    for i, j, k in itertools.product(range(e), repeat=3):
        for q, r in itertools.product(range(4), repeat=2):
            # Re(conj(q) z r) = Re(z r conj(q)), and r conj(q) is a unit up to sign
            sign, unit = CONJUGATION[q] * PRODUCT_SIGN[r, q], PRODUCT_INDEX[r, q]
            u, v, w = right[q][:, i, j], int(sign) * right[unit][:, j, k], right[r][:, i, k]
            rows += [np.concatenate([u, v, w]), np.concatenate([u, -v, -w])]
    return np.array(rows)


def quaternion_group_network(masses: Sequence[Any] | None = None) -> HomogeneousNetwork:
    """The network of Q_8 over the rationals: 2 neurons for each character of degree 1 and 32 for the quaternions.

    masses: total masses (int or fmpq) of the characters that are 1 on i, on j, on k, and of the quaternions. The
    default (1, 1, 1, 8)/11 is optimal, with margin (16/11) 24^(-3/2) at every wrong label. Integer directions; r = 24.
    """
    shares = [fmpq(1, 11)] * 3 + [fmpq(8, 11)] if masses is None else list(masses)
    shares = mass_shares(["i", "j", "k", "quaternions"], shares, exact=True)
    elements = np.concatenate([UNITS[unit] * sign for unit in range(4) for sign in (1, -1)]).reshape(8, 4)
    rows = []
    for kept in (1, 2, 3):
        character = np.array([1 if unit in (0, kept) else -1 for unit in range(4)]).repeat(2)
        rows.append(real_type_neurons(character.reshape(8, 1, 1)))
    rows.append(2 * quaternionic_type_neurons(elements.reshape(8, 1, 1, 4)))
    directions = as_exact(np.concatenate(rows))
    neuron_masses = [share / len(block) for share, block in zip(shares, rows, strict=True) for _ in block]
    return HomogeneousNetwork(directions[:, :16], directions[:, 16:], np.array(neuron_masses), 2, fmpq(24))


def _rotated(matrices: NDArray[np.complex128], t: int) -> NDArray[np.float64]:
    """The real part of x R for x = e^(2 pi i t / 6)."""
    cosine, sine = (1.0, 0.5, -0.5, -1.0, -0.5, 0.5)[t], np.sqrt(0.75) * (0, 1, 1, 0, -1, -1)[t]
    return cosine * matrices.real - sine * matrices.imag


def _real_part_of_product(quaternions: NDArray[Any], unit: int) -> NDArray[Any]:
    """The real part of z q for the quaternions z on the last axis, q = 1, i, j or k: up to sign one coordinate of z."""
    return int(PRODUCT_SIGN[unit, unit]) * quaternions[..., unit]


def _nontrivial(irreps: Sequence[UnitaryIrrep]) -> list[UnitaryIrrep]:
    """The irreps without the trivial one, after validation."""
    refuse_several_groups(irreps)
    # A character of degree 1 with mean 1/2 or more is trivial: all others have mean 0.
    nontrivial = [R for R in irreps if R.degree > 1 or abs(np.mean(R.character)) < 0.5]
    if not nontrivial:
        raise ValueError("There must be at least one nontrivial irreducible representation.")
    if repeated := repeated_pair(np.array([R.character for R in nontrivial])):
        row, column, word = repeated
        names = f"{nontrivial[row].name} and {nontrivial[column].name}"
        raise ValueError(f"{names} are {word}; only one of the two may be given.")
    return nontrivial
