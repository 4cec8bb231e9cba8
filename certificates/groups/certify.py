"""The max margin of a product in any finite group, from its generators: characters, game, uniqueness, digits.

The margin is k! ((k+1) n)^(-(k+1)/2) val(M) with the payoffs M[rho, C] = nu^(-(k-1)/2) (1 - chi(C)/chi(e)), rho the
nontrivial irreducible real representations, of dimension nu and character chi, C the nontrivial classes
(certificates/game/UNIVERSAL_MARGIN.md). A table lists complex characters; `lemmata.certificates.game.margin_game` says
which of them make one rho.

`certify_group` computes the exact character table (`lemmata.certificates.characters.dixon`), solves the margin game on
it exactly, folded to rational payoffs (`lemmata.certificates.game.rational`), verifies the solution, and decides
exactly whether the optimal masses are the only ones. All of this takes place in rational numbers and square roots
(`lemmata.certificates.game.scaled`), so that it succeeds for every group. Value, margin and optimal pair as numbers of
one cyclotomic field are formed on demand; where the square roots share no field of supported order, the margin is still
known exactly, as a sum of square roots.

The masses ``eps`` of a certificate are constant on orbits of the Galois group, and a vertex of the polytope of such
optimal masses. ``unique`` refers to all optimal masses and is decided by ranks on a strictly complementary pair
(`lemmata.certificates.game.faces` states and proves the criterion): eps is unique exactly if the rows of d_R - Re
chi_R(C), restricted to the characters and classes that are active in that pair, are independent. Groups such as S_6 and
S_7 have many optimal eps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from lemmata.certificates import kernel
from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.faces import OptimalFaces, unfolded_faces
from lemmata.certificates.game.margin_game import GameSolution
from lemmata.certificates.game.rational import RationalGame, unfold
from lemmata.certificates.game.scaled import ScaledSolution, solve_scaled
from lemmata.certificates.groups.decimals import reciprocal_decimals
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, FieldError
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.exact.root_sums import root_sum_number, root_sum_reciprocal
from lemmata.numerics.groups.permutations import PermutationGroup

__all__ = ["GroupMarginCertificate", "certify_group"]


@dataclass(frozen=True, eq=False)
class GroupMarginCertificate:
    """What was proved about products of ``factors`` elements of ``group``.

    ``scaled``: an exact optimal pair of the game, folded by the Galois group; ``faces``: the polytopes of all optimal
    vectors, None where their dimensions are not decided, for the reason in ``obstacle``.
    """

    group: PermutationGroup
    table: CharacterTable
    factors: int
    scaled: ScaledSolution
    faces: OptimalFaces | None
    obstacle: str | None = None

    def __repr__(self) -> str:
        lower, upper = self.enclosure(12)
        return f"GroupMarginCertificate({self.group.name}, factors {self.factors}, {lower}..{upper}, {self.grade})"

    @property
    def grade(self) -> str:
        """``exact``: masses and class weights prove the same value."""
        return "exact"

    @cached_property
    def solution(self) -> GameSolution | None:
        """The optimal pair as cyclotomic numbers; None where there is no such field."""
        try:
            return self._solution
        except FieldError:
            return None

    @cached_property
    def _solution(self) -> GameSolution:
        return unfold(self.scaled.solution)

    @property
    def value(self) -> Cyclotomic:
        """The value of the game, exactly.

        Raises:
            FieldError: where it lies in no cyclotomic field of supported order; ``radicals`` and `enclosure` serve.
        """
        return self._solution.value

    @property
    def gamma(self) -> Cyclotomic:
        """The max margin, exactly; errors as for ``value``."""
        return root_sum_number(
            root_sum_reciprocal({m: fmpq(q.numerator, q.denominator) for m, q in self.radicals.items()})
        )

    @property
    def exact(self) -> str:
        """The max margin in closed form, as certificates and reports have it, such as 1/(36 + 9/2*sqrt(2))."""
        return kernel.text(self.radicals)

    @property
    def radicals(self) -> kernel.Radicals:
        """The max margin exactly in another form: its reciprocal as a sum of square roots q sqrt(m), {m: q}.

        It needs no cyclotomic field.
        """
        value = {m: as_fraction(q) for m, q in self.scaled.reciprocal_value.items()}
        return kernel.reciprocal_margin(value, self.group.order, self.factors)

    @property
    def unique(self) -> bool | None:
        """Whether the optimal masses eps are the only ones, exactly; None (undecided) without ``faces``."""
        return None if self.faces is None else self.faces.unique_masses

    def enclosure(self, digits: int = 30) -> tuple[str, str]:
        """Decimals ``lower <= gamma* <= upper`` with ``digits`` significant digits, rounded outwards.

        They differ by at most one unit in the last place, for any number of digits.

        Raises:
            ValueError: for fewer than one digit.
        """
        return reciprocal_decimals(self.radicals, self.radicals, digits)


def certify_group(group: PermutationGroup, factors: int = 2) -> GroupMarginCertificate:
    """The certificate of the L_{2,k+1} max margin of the product of k = ``factors`` >= 2 elements of ``group``.

    Raises:
        ValueError: for fewer than two factors, and as `lemmata.certificates.characters.dixon.character_table`.
    """
    table = character_table(group)
    scaled = solve_scaled(RationalGame(table, factors))
    try:
        return GroupMarginCertificate(group, table, factors, scaled, unfolded_faces(scaled))
    except FieldError as error:
        return GroupMarginCertificate(group, table, factors, scaled, None, obstacle=str(error))
