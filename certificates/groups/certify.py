"""The max margin of a product in any finite group, from its generators: characters, game, uniqueness, digits.

The margin is k! ((k+1) n)^(-(k+1)/2) val(M) with the payoffs M[rho, C] = nu^(-(k-1)/2) (1 - chi(C)/chi(e)), rho the
nontrivial irreducible real representations, of dimension nu and character chi, C the nontrivial classes
(certificates/game/UNIVERSAL_MARGIN.md). A table lists complex characters; `certificates.game.margin_game` says which
of them make one rho.

`certify_group` computes the exact character table (`certificates.characters.dixon`), solves the margin game on it
exactly, folded to rational payoffs (`certificates.game.rational`), verifies the solution, and decides exactly whether
the optimal masses are the only ones. Where exact arithmetic is out of reach (the square roots of the degrees share no
cyclotomic field of supported order) it returns two rational bounds instead and says so: the grade is ``exact`` or
``enclosed``.

The masses ``eps`` of a certificate are constant on orbits of the Galois group, and a vertex of the polytope of such
optimal masses. ``unique`` refers to all optimal masses and is decided by ranks on a strictly complementary pair
(`certificates.game.faces` states and proves the criterion): eps is unique exactly if the rows of d_R - Re chi_R(C),
restricted to the characters and classes that are active in that pair, are independent. Groups such as S_6 and S_7 have
many optimal eps.
"""

from __future__ import annotations

from dataclasses import dataclass

from certificates.characters.dixon import character_table
from certificates.characters.tables import CharacterTable
from certificates.game.enclosure import GameEnclosure, enclose
from certificates.game.faces import OptimalFaces, optimal_faces
from certificates.game.margin_game import GameSolution, solve
from certificates.game.rational import RationalGame, unfold
from certificates.groups.decimals import outward_decimals
from numerics.exact.cyclotomic.numbers import Cyclotomic
from numerics.groups.permutations import PermutationGroup

__all__ = ["GroupMarginCertificate", "certify_group"]


@dataclass(frozen=True, eq=False)
class GroupMarginCertificate:
    """What `certify_group` proved about products of ``factors`` elements of ``group``.

    ``solution``, ``margin`` and ``faces`` are an exact optimal pair, the exact margin, and the polytopes of all optimal
    vectors; they are None when exact arithmetic was out of reach, for the reason in ``obstacle``, and ``bounds`` then
    encloses the value.
    """

    group: PermutationGroup
    table: CharacterTable
    factors: int
    solution: GameSolution | None
    margin: Cyclotomic | None
    faces: OptimalFaces | None
    bounds: GameEnclosure | None = None
    obstacle: str | None = None

    def __repr__(self) -> str:
        lower, upper = self.enclosure(12)
        return f"GroupMarginCertificate({self.group.name}, factors {self.factors}, {lower}..{upper}, {self.grade})"

    @property
    def grade(self) -> str:
        """``exact`` when the value is known exactly, ``enclosed`` when it is only bounded from both sides."""
        return "enclosed" if self.solution is None else "exact"

    @property
    def value(self) -> Cyclotomic:
        """The value of the game, exactly; ``ValueError`` for the grade ``enclosed``."""
        return self._exact[0].value

    @property
    def gamma(self) -> Cyclotomic:
        """The max margin, exactly; ``ValueError`` for the grade ``enclosed``."""
        return self._exact[1]

    @property
    def unique(self) -> bool | None:
        """Whether the optimal masses eps are the only ones, exactly; None (undecided) for the grade ``enclosed``."""
        return None if self.faces is None else self.faces.unique_masses

    def enclosure(self, digits: int = 30) -> tuple[str, str]:
        """Decimals ``lower <= gamma* <= upper`` with ``digits`` significant digits, rounded outwards.

        For the grade ``exact`` they differ by at most one unit in the last place, for any number of digits. For the
        grade ``enclosed`` more digits do not bring the bounds closer.

        Raises:
            ValueError: for fewer than one digit.
        """
        if self.bounds is not None:
            return outward_decimals(self.bounds.margin_lower, self.bounds.margin_upper, digits)
        return outward_decimals(self.gamma, self.gamma, digits)

    @property
    def _exact(self) -> tuple[GameSolution, Cyclotomic]:
        if self.solution is None or self.margin is None:
            raise ValueError(
                f"The margin of {self.group.name} is enclosed, not exact ({self.obstacle}); use enclosure(digits)."
            )
        return self.solution, self.margin


def certify_group(group: PermutationGroup, factors: int = 2) -> GroupMarginCertificate:
    """The certificate of the L_{2,k+1} max margin of the product of k = ``factors`` >= 2 elements of ``group``.

    Raises:
        ValueError: for fewer than two factors, and where neither an exact nor an enclosed result is obtained.
    """
    table = character_table(group)
    folded = RationalGame(table, factors)
    try:
        vertex = solve(folded)
        faces = optimal_faces(unfold(optimal_faces(vertex).interior))
        return GroupMarginCertificate(group, table, factors, unfold(vertex), vertex.gamma, faces)
    except ValueError as error:  # a field beyond the supported orders
        return GroupMarginCertificate(group, table, factors, None, None, None, enclose(folded), str(error))
