"""The report of a one-layer transformer that adds modulo n: its neurons beside those of the theory, and its silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from lemmata.certificates.saddle.effective_neurons import SILENCE, AdditionReading
from lemmata.constructions.groups.cyclic import frequency_shares
from lemmata.reports.pictures import save_figure
from lemmata.reports.tables import plain_table, print_table

__all__ = ["TransformerAddition", "addition_summary", "draw_addition", "print_addition"]


@dataclass(frozen=True)
class TransformerAddition:
    """Everything that the report says.

    Attributes:
        task: the group.
        reading: of the network, in its own numbering if it has one.
        numbering: the elements that rows, columns and labels of the file stand for, where it numbers them otherwise.
        scale: how the scores are scaled, in words.
    """

    task: str
    reading: AdditionReading
    numbering: Mapping[str, tuple[str, ...]] | None
    scale: str


def addition_summary(result: TransformerAddition) -> dict[str, Any]:
    """What ``lemmata margin --activation relu --json`` prints; null where nothing is defined."""
    r = result.reading
    total, difference, single, others = r.lines
    alignments = r.alignments()
    return {
        "task": result.task,
        "activation": "relu",
        "units": {"switching": len(r.neurons.constants), "linear": r.linear, "silent": r.silent},
        "cells": r.margins.size,
        "right": r.right,
        "numbering": None
        if result.numbering is None
        else {name: list(all_) for name, all_ in result.numbering.items()},
        "margin": float(r.margins.min()),
        "additive_share": _number(r.additive_share),
        "activations": {
            "a+b": _number(total),
            "a-b": _number(difference),
            "a or b": _number(single),
            "others": _number(others),
        },
        "logits": {
            "cosines": r.explained,
            "sines": float(r.waves.sine_shares.sum()),
            "rest": r.waves.rest,
            "straight_path": r.straight_share,
            "evenness": r.evenness,
        },
        "effective": {
            "right": r.neurons_right,
            "right_with_straight_path": r.additive_right,
            "normalised_margin": r.neurons_margin,
            "purity": _number(r.purity),
            "alignment": _number(r.alignment),
        },
        "frequencies": [
            {
                "frequency": j + 1,
                "neurons": int(r.counts()[j]),
                "mass": _number(r.masses()[j]),
                "optimal": optimal,
                "logit_cosine": float(r.waves.cosines[j]),
                "logit_share": float(r.waves.cosine_shares[j]),
                "carried": _number(r.carried()[j]),
                "alignment": _number(alignments[j]),
            }
            for j, optimal in enumerate(frequency_shares(r.modulus))
        ],
        "theory": SILENCE,
    }


def print_addition(out: Console, result: TransformerAddition) -> None:
    """The report of ``lemmata margin --activation relu``."""
    r = result.reading

    def line(text: str) -> None:
        out.print(escape(text), soft_wrap=True)

    cells = r.margins.size
    switching = len(r.neurons.constants)
    units = switching + r.linear + r.silent
    out.print(
        f"[bold]{escape(result.task)}[/bold]: a one-layer transformer, {units} ReLUs (as told), scores {result.scale}"
    )
    line(f"right on {round(r.right * cells)} of {cells} cells; least margin of the logits {r.margins.min():.6g}")
    if result.numbering is not None:
        line("  in a numbering of its own, which was found from its outputs, up to automorphisms:")
        for name, elements in result.numbering.items():
            line(f"  {name} 0, 1, ... are {', '.join(elements)}")
    line(f"  {switching} units switch; {r.linear} are positive on all pairs, so linear there, and {r.silent} never are")
    line("[1] pre-activations of units that switch: how far attention lets them be u(a) + v(b)")
    line(f"  additive {_percent(r.additive_share)} of their energy, weighted by the effect of a unit on the logits")
    line(
        f"  right with the additive parts alone: {round(r.additive_right * cells)} of {cells} cells; without the "
        f"straight path and linear units, too: {round(r.neurons_right * cells)}"
    )
    names = ("a + b", "a - b", "one of both", "other frequencies")
    parts = ", ".join(f"{name} {_percent(share)}" for name, share in zip(names, r.lines, strict=True))
    line(f"  after the ReLU, functions of: {parts}")
    line("[2] neurons of these units: one frequency each, phases that add up, equal masses?")
    line(
        f"  share of the strongest frequency {_percent(r.purity)}, mean of cos(phase_u + phase_v - phase_w) "
        f"{_decimal(r.alignment)}, by mass"
    )
    line("[3] logits: cosines of w (a + b - c)?")
    line(
        f"  cosines {_percent(r.explained)} of their energy, sines {_percent(float(r.waves.sine_shares.sum()))}, rest "
        f"{_percent(r.waves.rest)}; straight path and linear units have {_percent(r.straight_share)}"
    )
    line(
        f"  margin of the cosines {_percent(r.evenness)} of the largest that amplitudes with this sum can have "
        "(100 % if all wrong labels tie)"
    )
    table = plain_table(
        "frequency", "neurons", "mass", "optimal", "alignment", "logit cosine", "logit share", "carried"
    )
    alignments = r.alignments()
    for j, optimal in enumerate(frequency_shares(r.modulus)):
        table.add_row(
            str(j + 1),
            str(r.counts()[j]),
            f"{r.masses()[j]:.4f}",
            f"{optimal:.4f}",
            _decimal(alignments[j]),
            f"{r.waves.cosines[j]:.4g}",
            f"{r.waves.cosine_shares[j]:.4f}",
            _decimal(r.carried()[j]),
        )
    print_table(out, table)
    line(
        "mass: of the effective neurons; optimal: of one network of maximum margin, with squares; carried: the share "
        "of the cosine that the neurons of this frequency contribute"
    )
    line(f"margin of the effective neurons over their norm {r.neurons_margin:.6g}: nothing is certified beside it")
    line(SILENCE)


def draw_addition(result: TransformerAddition, path: Path) -> None:
    """Draw the masses and the waves of the logits by frequency, and the phases of the neurons, into a file.

    Raises:
        ValueError: as `save_figure`.
        OSError: if it cannot be written.
    """
    from matplotlib.figure import Figure

    r = result.reading
    figure = Figure(figsize=(12, 3.6), dpi=150, layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    places = np.arange(1, r.modulus // 2 + 1)
    left.bar(places - 0.2, r.masses(), 0.4, label="this network")
    left.bar(places + 0.2, frequency_shares(r.modulus), 0.4, label="maximum margin, with squares")
    left.set(xlabel="frequency", ylabel="share of the mass")
    left.legend(fontsize=7)
    middle.bar(places - 0.2, r.waves.cosine_shares, 0.4, label="cosines of a + b - c")
    middle.bar(places + 0.2, r.waves.sine_shares, 0.4, label="sines")
    middle.set(xlabel="frequency", ylabel="share of the logits", title=f"the rest: {_percent(r.waves.rest)}")
    middle.legend(fontsize=7)
    u, v, w = r.neurons.phases()
    masses = r.neurons.masses
    sizes = 60 * masses / (masses.max() or 1.0)
    right.plot([0, 1], [0, 1], color="grey", linewidth=0.6)
    right.scatter((u + v) % 1, w % 1, s=sizes, alpha=0.6)
    right.set(xlabel="phase of u plus phase of v, in turns", ylabel="phase of w, in turns")
    right.set_title("neurons, by mass; the line is the theory's", size=9)
    save_figure(figure, path)


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _percent(share: float) -> str:
    return "not defined" if isnan(share) else f"{100 * share:.4g} %"


def _decimal(value: float) -> str:
    return "-" if isnan(value) else f"{value:.4f}"
