"""Finite groups: as Cayley tables with labelled elements, as permutations, and by name.

tables         FiniteGroup, cyclic, dihedral, symmetric, alternating, elementary_abelian, direct_product,
               quaternion_group, group_from_table
permutations   PermutationGroup, parse_group (every name that `lemmata certify` takes)
surveys        committed_survey, the maximum margins of the tables of the character table library, by
               `lm.certify_character_table`
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.groups.character_table_survey import committed_survey
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.groups.quaternions import quaternion_group
from lemmata.numerics.groups.tables import (
    FiniteGroup,
    alternating,
    cyclic,
    dihedral,
    direct_product,
    elementary_abelian,
    group_from_table,
    symmetric,
)

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
