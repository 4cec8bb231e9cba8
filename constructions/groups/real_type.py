"""Networks for the composition of a finite group whose irreducible representations are of real type.

For an orthogonal irreducible representation R of degree d, the pair of neurons

    (u, v, w) = sqrt(d) (R_ij, R_jk, R_ik)   and   sqrt(d) (R_ij, -R_jk, -R_ik)

outputs ``4 d^(3/2) R_ij(a) R_jk(b) R_ik(c)``. The sum over (i, j, k) is
``4 d^(3/2) tr(R(a) R(b) R(c)^T)``, a multiple of the character chi_R(a b c^-1), which is largest at c = ab.
By Schur orthogonality sum_g R_ij(g)^2 = |G| / d, so that every direction has squared norm r = 3 |G|.
Conversely these norms force R to be orthogonal: if R = P Q P^-1 with Q orthogonal, they require
(P P^T)_ii ((P P^T)^-1)_jj = 1 for all i, j, which for i = j makes the positive definite P P^T diagonal, and
then scalar. So the norms that the network's constructor checks prove it.

With total mass eps_R for R, split equally among its 2 d^3 neurons, `raw` is
``2 sum_R eps_R d^(-3/2) chi_R(a b c^-1)``. The default eps_R = d^(5/2) / S with S = sum_R d^(5/2) makes this
``(2 / S) sum_R d chi_R``. For the list of all nontrivial irreps that is 2(|G| - 1) / S at c = ab and -2 / S
at every other c: all wrong labels tie.

Source: feature-emergence, lemma-D.15, lemma-D.16, theorem-D.9.2 (other masses).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.groups.lists import refuse_several_groups, repeated_pair
from lemmata.constructions.groups.masses import Masses, mass_shares
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.exact.numbers import to_float

if TYPE_CHECKING:
    from lemmata.constructions.representations.orthogonal import Representation


def group_network(
    irreps: Sequence[Representation], masses: Masses | None = None, exact: bool = False
) -> HomogeneousNetwork:
    """The network of 2 d^3 neurons for each nontrivial irrep R of degree d, with total mass 1.

    Args:
        irreps: inequivalent irreducible representations of one group, of real type. Trivial ones are skipped.
        masses: total mass of each nontrivial irrep: a mapping from names (names left out have mass 0), or a
            sequence in the order of the nontrivial irreps. By default proportional to d^(5/2). Irreps of mass
            0 get no neurons.
        exact: Cyclotomic arithmetic instead of float64; needs exact representations and exact masses.

    Returns:
        A network with D = 2n, L = n, degree 2, r = 3n, n = |G|; neurons ordered by irrep, (i, j, k), sign.

    Raises:
        ValueError: if there is no nontrivial irrep; the groups differ; the matrices are not a representation,
            not orthogonal, or not irreducible of real type; two are equivalent; exactness is asked for but not
            given; or the masses are negative, do not sum to 1 (in float64: to within K * eps for K irreps), or
            do not fit the irreps.
    """
    nontrivial = _nontrivial_irreps(irreps)
    n = nontrivial[0].group.order
    if exact:
        inexact = [R.name for R in nontrivial if not R.exact]
        if inexact:
            raise ValueError(f"An exact network needs exact representations, but {', '.join(inexact)} are floats.")
    shares = (
        _default_shares(nontrivial, exact)
        if masses is None
        else mass_shares([R.name for R in nontrivial], masses, exact)
    )
    directions, neuron_masses = [], []
    for R, share in zip(nontrivial, shares, strict=True):
        if share != 0:
            matrices = R.matrices if exact else to_float(R.matrices)
            root: Any = sqrt_rational(R.degree) if exact else np.sqrt(R.degree)
            neurons = real_type_neurons(matrices * root)
            directions.append(neurons)
            neuron_masses += [share / len(neurons)] * len(neurons)
    array = np.concatenate(directions)
    return HomogeneousNetwork(
        array[:, : 2 * n],
        array[:, 2 * n :],
        np.array(neuron_masses, dtype=array.dtype),
        2,
        fmpq(3 * n) if exact else 3.0 * n,
    )


def weights_with_scaling(
    irreps: Sequence[Representation], coefficient_power: float, scale_power: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weights ``scale * coefficient * (R_ij, +-R_jk, +-R_ik)`` for any powers of the degree.

    The coefficient is ``d^coefficient_power / sqrt(3n)`` and the scale ``d^scale_power / (2 S)^(1/3)``, where
    S = sum d^(5/2) over the nontrivial irreps. The powers (0, 1/3) are the printed convention, (1/2, -1/6)
    the equivalent one that scales *unit* neurons. Their combination (1/2, 1/3), unit neurons with the printed
    scale, is not max-margin unless all degrees are equal.

    Returns:
        (hidden, readout) of shapes (m, 2n) and (m, n), m = sum 2 d^3.

    Raises:
        ValueError: as `group_network` for the irreps.
    """
    nontrivial = _nontrivial_irreps(irreps)
    n = nontrivial[0].group.order
    delta = np.cbrt(2 * sum(R.degree**2.5 for R in nontrivial))
    blocks = [
        R.degree ** (coefficient_power + scale_power)
        / (np.sqrt(3 * n) * delta)
        * real_type_neurons(to_float(R.matrices))
        for R in nontrivial
    ]
    weights = np.concatenate(blocks)
    return weights[:, : 2 * n], weights[:, 2 * n :]


def real_type_neurons(matrices: NDArray[Any]) -> NDArray[Any]:
    """The rows (R_ij, +-R_jk, +-R_ik) for real matrices (n, d, d): shape (2 d^3, 3n)."""
    d = matrices.shape[1]
    return np.array(
        [
            np.concatenate([matrices[:, i, j], sign * matrices[:, j, k], sign * matrices[:, i, k]])
            for i, j, k in itertools.product(range(d), repeat=3)
            for sign in (1, -1)
        ]
    )


def _default_shares(irreps: list[Representation], exact: bool) -> list[Any]:
    """The default mass d^(5/2) / S of each irrep."""
    powers = [(sqrt_rational(R.degree) if exact else np.sqrt(R.degree)) * R.degree**2 for R in irreps]
    total = sum(powers)
    return [power / total for power in powers]


def _nontrivial_irreps(irreps: Sequence[Representation]) -> list[Representation]:
    """The irreps without the trivial one, after validation."""
    refuse_several_groups(irreps)
    broken = [R.name for R in irreps if not R.is_homomorphism()]
    if broken:
        raise ValueError(f"{', '.join(broken)} are not representations: R(ab) is not always R(a) R(b).")
    # The values of a real character of degree 1 are 1 and -1 up to rounding.
    nontrivial = [R for R in irreps if R.degree > 1 or np.any(to_float(R.character) < 0)]
    if not nontrivial:
        raise ValueError("There must be at least one nontrivial irrep.")
    characters = np.array([to_float(R.character) for R in nontrivial])
    # The squared norm of a real character is an integer, which rounding recovers from errors below 1/2.
    norms = np.rint(np.sum(characters**2, axis=1) / characters.shape[1]).astype(int)
    for R, norm in zip(nontrivial, norms, strict=True):
        if norm != 1:
            raise ValueError(
                f"{R.name} is not irreducible of real type: its character has squared norm {norm} "
                "instead of 1 (real irreps of complex type have 2, of quaternionic type 4)."
            )
    if repeated := repeated_pair(characters):
        row, column, _ = repeated
        raise ValueError(f"{nontrivial[row].name} and {nontrivial[column].name} are equivalent; only one may be given.")
    return nontrivial
