"""Unitary irreducible representations of any group: complete, accurate to rounding, in the form of their type."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from lemmata.constructions.representations import unitary
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.constructions.representations.unitary import EPS, UnitaryIrrep, unitary_irreps
from lemmata.numerics.groups.quaternions import quaternion_group
from lemmata.numerics.groups.tables import (
    FiniteGroup,
    alternating,
    cyclic,
    dihedral,
    direct_product,
    relabel,
    symmetric,
)

Q8 = quaternion_group()
EXTRASPECIAL = direct_product(Q8, dihedral(4))  # holds 2_-^{1+4} = Q8 o D4 as a quotient: degree 4, quaternionic type

GROUPS = {
    "Z_2": (cyclic(2), "R1 R1"),
    "Z_3": (cyclic(3), "R1 C1"),
    "Z_12": (cyclic(12), "R1 R1 C1 C1 C1 C1 C1"),
    "S_3": (symmetric(3), "R1 R1 R2"),
    "Q8": (Q8, "R1 R1 R1 R1 H2"),
    "A_4": (alternating(4), "R1 C1 R3"),
    "Q8 x Z_3": (direct_product(Q8, cyclic(3)), "R1 R1 R1 R1 C1 C1 C1 C1 C2 H2"),
    "Q8 x Q8": (direct_product(Q8, Q8), "R1 " * 16 + "H2 " * 8 + "R4"),
    "Q8 x D_4": (EXTRASPECIAL, "R1 " * 16 + "R2 " * 4 + "H2 " * 4 + "H4"),
    "A_5": (alternating(5), "R1 R3 R3 R4 R5"),
    "Z_7": (cyclic(7), "R1 C1 C1 C1"),
    "S_5": (symmetric(5), "R1 R1 R4 R4 R5 R5 R6"),
    "Z_101": (cyclic(101), "R1 " + "C1 " * 50),
}


@cache
def irreps_of(name: str) -> tuple[UnitaryIrrep, ...]:
    return unitary_irreps(GROUPS[name][0])


@pytest.mark.parametrize("name", GROUPS)
class TestEveryGroup:
    def test_list_is_complete_and_of_the_known_types(self, name: str) -> None:
        group, kinds = GROUPS[name]
        irreps = irreps_of(name)
        assert [R.name.split(".")[0] for R in irreps] == kinds.split()
        assert sum(R.degree**2 * (2 if R.kind == "complex" else 1) for R in irreps) == group.order
        assert np.allclose(irreps[0].matrices, 1)

    def test_schur_orthogonality(self, name: str) -> None:
        """All entries of all irreps and of the conjugates of complex ones are orthogonal, with squares n/d."""
        group, _ = GROUPS[name]
        irreps = irreps_of(name)
        every = [R.matrices for R in irreps] + [R.matrices.conj() for R in irreps if R.kind == "complex"]
        basis = np.concatenate([M.reshape(group.order, -1) * np.sqrt(M.shape[1]) for M in every], axis=1)
        gram = basis.conj().T @ basis / group.order
        # unitary by Schur; n products of entries that are good to a few eps each
        assert np.abs(gram - np.eye(group.order)).max() < 8 * group.order * EPS

    def test_homomorphism_and_unitarity_hold_to_a_few_units_in_the_last_place(self, name: str) -> None:
        group, _ = GROUPS[name]
        rng = np.random.default_rng(0)
        a, b = rng.integers(group.order, size=(2, 1000))
        for R in irreps_of(name):
            error = np.abs(R.matrices[a] @ R.matrices[b] - R.matrices[group.table[a, b]]).max()
            # three stored matrices, each entry good to a few eps (the average of the polish), rows of norm 1
            assert max(error, R.defect) < 8 * (R.degree + 1) * EPS


def test_agrees_with_the_exact_representations_of_real_type() -> None:
    for group in (symmetric(4), alternating(5), dihedral(5)):
        known = {tuple(np.round(R.character.astype(float), 9) + 0.0) for R in real_irreps(group)}
        assert {tuple(np.round(R.character, 9) + 0.0) for R in unitary_irreps(group)} == known


def test_quaternions_multiply_as_quaternions() -> None:
    R = irreps_of("Q8 x D_4")[-1]
    assert R.name == "H4.1"
    x = R.quaternions()
    assert x.shape == (64, 2, 2, 4)
    a, b = np.random.default_rng(1).integers(64, size=2)
    p, q = x[a][:, :, None], x[b][None]

    def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Hamilton's product, by scalar and vector parts."""
        scalar = p[..., :1] * q[..., :1] - np.sum(p[..., 1:] * q[..., 1:], axis=-1, keepdims=True)
        cross = np.cross(np.broadcast_to(p[..., 1:], (2, 2, 2, 3)), np.broadcast_to(q[..., 1:], (2, 2, 2, 3)))
        return np.concatenate([scalar, p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + cross], axis=-1)

    assert np.allclose(product(p, q).sum(axis=1), x[R.group.table[a, b]], atol=1e-14)


@pytest.mark.parametrize("name", ["Q8 x Z_3", "A_4", "S_5"])
def test_names_and_characters_do_not_depend_on_the_seed(name: str) -> None:
    group, _ = GROUPS[name]
    for R, S in zip(unitary_irreps(group), unitary_irreps(group, seed=7), strict=True):
        assert R.name == S.name
        assert np.allclose(R.character, S.character, atol=1e-12)


def test_characters_of_a_large_cyclic_group_are_in_their_order_with_positive_imaginary_parts() -> None:
    """exp(2 pi i j g / n), j = 1, 2, ..: by descending real part at g = 1, where imaginary parts begin at 0.029.

    Many are near each other at g = 1, and the one with j = n/2 - 1 has a negative imaginary part at g = 2.
    """
    n = 216
    _, _, *complex_type = unitary_irreps(cyclic(n))
    values = np.array([R.character[1] for R in complex_type])
    assert [R.kind for R in complex_type] == ["complex"] * (n // 2 - 1)
    # one average over the group polishes each entry to a few eps
    assert abs(values - np.exp(2j * np.pi * np.arange(1, n // 2) / n)).max() < 1e-13


def test_numbering_of_the_elements_does_not_matter() -> None:
    group = relabel(Q8, np.random.default_rng(3).permutation(8))
    assert [R.name for R in unitary_irreps(group)] == ["R1.1", "R1.2", "R1.3", "R1.4", "H2.1"]


@pytest.mark.parametrize("name", ["Z_3", "S_3", "Q8", "A_4", "Q8 x D_4"])
def test_errors_beyond_the_tolerance_are_refused(name: str) -> None:
    """4 n d^2 eps in one entry, or in one quaternion: a tenth of it is granted, twice as much is not."""
    for R in irreps_of(name):
        tolerance = 4 * R.group.order * R.degree**2 * 2.0**-52
        for error in (0.1 * tolerance, 2 * tolerance, 1e3 * tolerance, 1e6 * tolerance):
            matrices = R.matrices.copy()
            for i in range(2 if R.kind == "quaternionic" else 1):
                matrices[-1, i, i] += error
            if error < tolerance:
                UnitaryIrrep(R.group, matrices, R.name)
            else:
                with pytest.raises(ValueError, match="is not a unitary representation"):
                    UnitaryIrrep(R.group, matrices, R.name)


class TestRefusals:
    irreps = unitary_irreps(Q8)
    H = irreps[-1].matrices

    def refuse(self, matrices: np.ndarray, match: str, group: FiniteGroup = Q8) -> None:
        with pytest.raises(ValueError, match=match):
            UnitaryIrrep(group, matrices, "X")

    def test_wrong_shape(self) -> None:
        self.refuse(self.H[:7], "matrices of shape")
        self.refuse(self.H[:, :, :1], "matrices of shape")

    def test_not_finite(self) -> None:
        self.refuse(np.full((8, 1, 1), np.nan), "finite")
        self.refuse(np.full((8, 1, 1), "a"), "finite")

    def test_no_homomorphism(self) -> None:
        wrong = self.H.copy()
        wrong[3] *= -1
        self.refuse(wrong, "not a unitary representation")
        self.refuse(self.H * (1 + 1e-9), "not a unitary representation")

    def test_not_unitary(self) -> None:
        P = np.array([[1, 0.1], [0, 1]])
        self.refuse(P @ self.H @ np.linalg.inv(P), "not a unitary representation")

    def test_reducible(self) -> None:
        self.refuse(np.broadcast_to(np.eye(2), (8, 2, 2)), "squared norm 4")

    def test_real_type_with_complex_numbers(self) -> None:
        self.refuse(self.irreps[1].matrices.astype(complex), "must be real")

    def test_quaternionic_type_in_another_basis(self) -> None:
        permuted = irreps_of("Q8 x D_4")[-1].matrices[:, [0, 2, 1, 3]][:, :, [0, 2, 1, 3]]
        self.refuse(permuted, "must have the form", EXTRASPECIAL)

    def test_quaternions_of_another_type(self) -> None:
        with pytest.raises(ValueError, match="no matrix over the quaternions"):
            self.irreps[0].quaternions()


# ---- the three tolerances


@pytest.mark.parametrize("n", [3, 16, 64])
def test_the_tolerance_is_four_n_d_squared_units(n: int) -> None:
    """R(g) (1 + x) for all g violates R(g) R(g)* = 1 by 2 x, and R(gs) = R(g) R(s) by x."""
    for R in unitary_irreps(cyclic(n))[1:]:
        assert R.tolerance == 4 * n * 2.0**-52
        UnitaryIrrep(R.group, R.matrices * (1 + 0.4 * R.tolerance), R.name)
        with pytest.raises(ValueError, match="is not a unitary representation"):
            UnitaryIrrep(R.group, R.matrices * (1 + 0.65 * R.tolerance), R.name)
    for R in unitary_irreps(symmetric(4)):
        assert R.tolerance == 4 * 24 * R.degree**2 * 2.0**-52


@pytest.mark.parametrize(("gap", "separated"), [(0.5, False), (2.0, True)])
def test_gaps_below_the_root_of_the_rounding_unit_do_not_separate(gap: float, separated: bool) -> None:
    """Z_4 with the eigenvalues 1, 3, 1 + gap sqrt(eps) 5, 5 for the characters 0, 1, 2, 3: the real ones nearly tie."""
    eigenvalues = np.array([1, 3, 1 + gap * 2.0**-26 * 5, 5])
    h = np.array([np.mean(eigenvalues * 1j ** (-g * np.arange(4))) for g in range(4)])

    class Drawn:
        parts = iter((h.real, h.imag))

        def normal(self, size: int) -> np.ndarray:
            return next(self.parts)

    found = unitary._split(cyclic(4), Drawn())  # pyright: ignore[reportArgumentType]
    degrees_and_types = sorted((R.shape[1], round(float(np.mean(R[cyclic(4).squaring, 0, 0]).real))) for R in found)
    assert degrees_and_types == ([(1, 0), (1, 1), (1, 1)] if separated else [(1, 0)])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("orders", [(2, 9), (3, 4), (2, 25)])
def test_rounding_does_not_choose_between_conjugates(orders: tuple[int, int], seed: int) -> None:
    """Real values of the first classes have imaginary parts of rounding; the first that is not real decides."""
    group = direct_product(cyclic(orders[0]), cyclic(orders[1]))
    heads = [int(members[0]) for members in group.classes]
    for R in unitary_irreps(group, seed):
        values = np.trace(R.matrices[heads], axis1=1, axis2=2)
        clear = [z.imag for z in values if abs(z.imag) > 0.01]
        assert not clear or clear[0] > 0
        assert bool(clear) == (R.kind == "complex")
