"""The max-margin certificate: a network, a distribution, and the exact number that both attain."""

from __future__ import annotations

from dataclasses import dataclass

from lemmata.certificates.game.margin_game import GameSolution
from lemmata.certificates.saddle.pair import ClassWeights, Verdict
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic

__all__ = ["MarginCertificate"]


@dataclass(frozen=True, eq=False)
class MarginCertificate:
    """What proves that ``gamma`` is the maximum normalised margin of a task.

    ``network`` attains it, ``weights`` bound every network by it, and ``verdict`` is the outcome of
    `lemmata.certificates.saddle.pair.judge` on the two. ``game`` is the solved matrix game for group tasks and None for
    parity.
    """

    name: str
    gamma: Cyclotomic
    network: HomogeneousNetwork
    weights: ClassWeights
    verdict: Verdict
    game: GameSolution | None = None

    def __repr__(self) -> str:
        """Name, value and outcome: the arrays of the network and of the weights would fill pages."""
        outcome = "accepted" if self.accepted else "rejected"
        return f"MarginCertificate({self.name}, gamma* = {float(self.gamma):.12g}, {outcome})"

    @property
    def gamma_squared(self) -> Cyclotomic:
        """The square of the maximum margin: rational for cyclic groups of odd order and for parity."""
        return self.gamma * self.gamma

    @property
    def accepted(self) -> bool:
        """Whether the network and the class weights certify each other."""
        return self.verdict.accepted
