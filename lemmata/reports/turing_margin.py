"""Report of the all-layer margin of a compiled Turing machine: certified, and attacked where the run is short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console

from lemmata.certificates.margins.direct import DirectBound
from lemmata.certificates.margins.turing_direct import direct_margin_bound
from lemmata.certificates.margins.turing_ones import measured_ones
from lemmata.certificates.margins.turing_scores import ScoreFlip, score_flip
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.reports.bounds import rounded_down, rounded_up

__all__ = ["MarginReport", "margin_report", "print_margin"]

ATTACKED_STEPS = 64
"""Runs that are longer are not repeated in exact arithmetic, and so not attacked."""


@dataclass(frozen=True)
class MarginReport:
    """Bounds of the margin: on all words, and on one whose run is short and decided, else None.

    Attributes:
        everywhere: certified for all words that the machine decides.
        here: certified for the one word.
        flip: a change of the weights that flips its answer.
        decided: whether the machine decides the word.
    """

    everywhere: DirectBound
    here: DirectBound | None
    flip: ScoreFlip | None
    decided: bool

    def summary(self, transformer: TuringTransformer) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "certified": float(self.everywhere.value),
            "decided_by": self.everywhere.binding,
            "certified_for_input": None if self.here is None else float(self.here.value),
            "flip": None if self.flip is None else self.flip.norm,
            "flip_at": None if self.flip is None else [transformer.layers[self.flip.layer].name, self.flip.time],
        }


def margin_report(transformer: TuringTransformer, word: tuple[int, ...], *, decided: bool) -> MarginReport:
    """The bounds for a compiled machine and a word that it has decided, or not.

    Raises:
        ValueError: as `direct_margin_bound`.
    """
    everywhere = direct_margin_bound(transformer)
    if not decided or transformer.steps > ATTACKED_STEPS:
        return MarginReport(everywhere, None, None, decided)
    here = direct_margin_bound(transformer, measured_ones(transformer, [word]))
    return MarginReport(everywhere, here, score_flip(transformer, word), decided)


def print_margin(out: Console, transformer: TuringTransformer, report: MarginReport) -> None:
    """Two or three lines: what no smaller change of the weights flips, and what a change does."""
    everywhere = report.everywhere
    out.print(
        f"margin: no change of all weights by {rounded_down(everywhere.value)} in 2-norm flips an answer, whatever the "
        f"input (decided by {everywhere.binding})",
        soft_wrap=True,
    )
    if report.here is None:
        reason = (
            f"for runs of at most {ATTACKED_STEPS} steps"
            if report.decided
            else "where the machine has accepted or rejected"
        )
        out.print(f"for one input it is certified and attacked {reason}", soft_wrap=True)
        return
    attack = "no attack was found"
    if report.flip is not None:
        name = transformer.layers[report.flip.layer].name
        attack = (
            f"a change by {rounded_up(report.flip.norm)} flips it, in exact arithmetic (scores of {name} in step "
            f"{report.flip.time}): {report.flip.norm / float(report.here.value):.2f} times as much"
        )
    out.print(f"for this input: none by {rounded_down(report.here.value)}, and {attack}", soft_wrap=True)
