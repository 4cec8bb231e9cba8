"""The names of conjugacy classes."""

from dataclasses import replace

import pytest

from certificates.characters.traces import characters_of
from constructions.representations.orthogonal import real_irreps
from numerics.groups.tables import (
    FiniteGroup,
    alternating,
    dihedral,
    direct_product,
    elementary_abelian,
    relabel,
    symmetric,
)


def class_names(group: FiniteGroup) -> tuple[str, ...]:
    return characters_of(group, real_irreps(group, exact=True)).class_names


@pytest.mark.parametrize(
    ("group", "names"),
    [
        (symmetric(4), ("e", "(1 2)(3 4)", "(3 4)", "(1 2 3 4)", "(2 3 4)")),
        (alternating(5), ("e", "(1 2 3 4 5)", "(1 2 3 5 4)", "(2 3)(4 5)", "(3 4 5)")),
        (dihedral(4), ("e", "r^2", "r", "t", "r t")),
        (elementary_abelian(2), ("00", "10", "01", "11")),
        (direct_product(elementary_abelian(1), symmetric(3)),
         ("(0, e)", "(1, e)", "(0, (1 2 3))", "(1, (1 2 3))", "(0, (2 3))", "(1, (2 3))")),
    ],
)  # fmt: skip
def test_classes_are_named_as_a_mathematician_would(group, names):
    assert class_names(group) == names


def test_classes_of_a_group_of_unknown_family_keep_their_labels():
    irreps = real_irreps(symmetric(3), exact=True)
    group = relabel(symmetric(3), range(6))
    moved = [replace(irrep, group=group) for irrep in irreps]
    assert characters_of(group, moved).class_names == ("(0, 1, 2)", "(1, 2, 0)", "(0, 2, 1)")
