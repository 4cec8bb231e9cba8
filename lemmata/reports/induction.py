"""The report of an attention-only model: its loss beside those of the n-gram predictors, and where its heads attend."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lemmata.certificates.induction.losses import LossCertificate
from lemmata.certificates.induction.measured import MeasuredHead, MeasuredModel, Outputs
from lemmata.constructions.networks.attention_checkpoints import AttentionOnly
from lemmata.numerics.runs.confidence import Interval
from lemmata.reports.pictures import save_figure
from lemmata.reports.tables import print_table

__all__ = ["ModelReport", "draw_model", "model_summary", "print_model"]


@dataclass(frozen=True)
class ModelReport:
    """Everything that the report says.

    Attributes:
        name: of the file.
        weights: what was found in it.
        outputs: how the outputs were read.
        measured: against the predictors.
        proof: the proven loss, or why there is none.
    """

    name: str
    weights: AttentionOnly
    outputs: Outputs
    measured: MeasuredModel
    proof: LossCertificate | str

    @property
    def closest(self) -> str:
        """The predictor that the model is closest to."""
        distances = self.measured.distances
        return min(distances, key=lambda name: distances[name].estimate)

    @property
    def as_close(self) -> list[str]:
        """Others whose distance lies in the interval of the closest one."""
        distances = self.measured.distances
        bound = distances[self.closest].high
        return [name for name, value in distances.items() if value.estimate <= bound and name != self.closest]


def model_summary(result: ModelReport) -> dict[str, Any]:
    """What ``lemmata induction --json`` prints; an infinite loss is the string "infinite"."""
    measured, model = result.measured, result.weights.model
    proof = result.proof
    if isinstance(proof, str):
        certified: dict[str, Any] = {"refused": proof}
    else:
        low, high = proof.proved.loss
        certified = {"at_least": low, "at_most": high, "above_bayes": list(proof.proved.gap), "method": proof.method}
    return {
        "file": result.name,
        "weights": result.weights.source,
        "symbols": measured.symbols,
        "tokens": list(result.weights.tokens),
        "outputs_left_out": result.weights.left_out,
        "layers": [len(layer.heads) for layer in model.layers],
        "width": model.width,
        "rows_in_front": len(model.prefix),
        "assumed": {
            "attention": "causal softmax",
            "scores": result.weights.scale,
            "normalisation": "none",
            "outputs": result.outputs,
        },
        "data": {
            "prior": "uniform rows",
            "start": measured.start,
            "length": measured.length,
            "sequences": measured.sequences,
            "all": measured.seed is None,
            "seed": measured.seed,
        },
        "outputs_sum_to_one": measured.sums_to_one,
        "loss": _plain(measured.loss),
        "excess": None if measured.excess is None else _plain(measured.excess),
        "predictors": {
            name: {"loss": _plain(loss), "distance": _plain(measured.distances[name])}
            for name, loss in measured.references.items()
        },
        "closest": result.closest,
        "as_close": result.as_close,
        "heads": [
            {
                "layer": head.layer,
                "head": head.head,
                "previous": _plain(head.previous),
                "induction": None if head.induction is None else _plain(head.induction),
            }
            for head in measured.heads
        ],
        "alike": {"previous": measured.chance[0], "induction": measured.chance[1]},
        "certified": certified,
    }


def _plain(value: Interval) -> dict[str, Any]:
    """An interval for JSON, which has no infinity."""
    return {name: number if isfinite(number) else "infinite" for name, number in value.as_dict().items()}


def print_model(out: Console, result: ModelReport) -> None:
    """The report of ``lemmata induction``."""
    measured, weights = result.measured, result.weights
    model, k, t = weights.model, measured.symbols, measured.length

    def line(text: str) -> None:
        out.print(escape(text), soft_wrap=True)

    heads = " + ".join(str(len(layer.heads)) for layer in model.layers)
    out.print(f"[bold]{escape(result.name)}[/bold]: {heads} heads over {k} symbols, width {model.width}")
    left_out = f"; outputs of {weights.left_out} other tokens are not read" if weights.left_out else ""
    line(f"weights: {weights.source}{left_out}")
    line(f"assumed, no file says it: causal softmax, scores {weights.scale}; outputs are {result.outputs};")
    line("  no normalisation without weights of its own (LNPre) between layers")
    if measured.sums_to_one and result.outputs == "logits":
        line("  these outputs are probabilities themselves: are they to be read so? (--outputs probabilities)")
    line(f"data: chains of {k} states with uniform rows, {measured.start} start; predictions after {t} symbols")
    if measured.seed is None:
        line(f"all {measured.sequences} sequences, with their probabilities")
    else:
        line(f"{measured.sequences} sequences drawn with the seed {measured.seed}; [intervals of level 95 %]")
    line(f"loss     {_text(measured.loss)} nats, E KL(row of the chain || model)")
    if measured.excess is None:
        line(f"  above Bayes by an unknown amount: with a stationary start over {k} symbols it has no closed form")
    else:
        line(f"  above Bayes by {_text(measured.excess)}")
    if isinstance(result.proof, str):
        line(f"  no proven loss: {result.proof}")
    else:
        loss, gap = (
            (_decimal(low, ROUND_FLOOR), _decimal(high, ROUND_CEILING))
            for low, high in (result.proof.proved.loss, result.proof.proved.gap)
        )
        cost = f"{result.proof.cells} {result.proof.method} in {result.proof.operations:,} steps"
        line(f"  proved: from {loss[0]} to {loss[1]}, by {cost}")
        line(f"  proved: above Bayes by {gap[0]} to {gap[1]}")
    table = Table("predictor", "its loss", "KL(model || it)", box=None, pad_edge=False)
    for name, loss in measured.references.items():
        table.add_row(name, escape(_text(loss)), escape(_text(measured.distances[name])))
    print_table(out, table)
    others = f"; in its interval also {', '.join(result.as_close)}" if result.as_close else ""
    line(f"closest to: {result.closest}{others}")
    table = Table("head", "previous token", "induction", box=None, pad_edge=False)
    for head in measured.heads:
        induction = "no equal symbol before" if head.induction is None else _text(head.induction)
        table.add_row(_name(head), escape(_text(head.previous)), escape(induction))
    table.add_row("alike", *(f"{score:.4f}" for score in measured.chance))
    print_table(out, table)
    line("previous token: weight on the token before; induction: weight of the last token on those that")
    line("followed an equal one; alike: a head that attends to everything alike")


def _decimal(bound: float, rounding: str) -> Decimal:
    """The bound to twelve decimals, rounded outwards."""
    return Decimal(bound).quantize(Decimal("1e-12"), rounding)


def _name(head: MeasuredHead) -> str:
    return f"{head.layer}.{head.head}"


def _text(value: Interval) -> str:
    """A number with its interval, if it has one."""
    if not isfinite(value.estimate):
        return "infinite"
    if value.low == value.high:
        return f"{value.estimate:.6f}"
    return f"{value.estimate:.4f} [{value.low:.4f}, {value.high:.4f}]"


def draw_model(result: ModelReport, path: Path) -> None:
    """Draw the losses, the distances from the predictors, and the scores of the heads, into a file.

    Raises:
        ValueError: as `save_figure`.
        OSError: if it cannot be written.
    """
    from matplotlib.figure import Figure

    measured = result.measured
    figure = Figure(figsize=(13, 3.8), dpi=150, layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    _bars(left, {"this model": measured.loss, **measured.references}, f"loss after {measured.length} symbols (nats)")
    _bars(middle, measured.distances, "KL(model || predictor) (nats)")
    places, names = np.arange(len(measured.heads)), [_name(head) for head in measured.heads]
    scores = {
        "previous token": [head.previous.estimate for head in measured.heads],
        "induction": [0.0 if head.induction is None else head.induction.estimate for head in measured.heads],
    }
    for (label, values), shift, alike, colour in zip(
        scores.items(), (-0.2, 0.2), measured.chance, ("tab:blue", "tab:orange"), strict=True
    ):
        right.bar(places + shift, values, 0.4, label=label, color=colour)
        right.axhline(alike, linestyle=":", linewidth=1, color=colour, label=f"{label}, attending alike")
    right.set_xticks(places, names)
    right.set(xlabel="layer.head", ylabel="share of attention", ylim=(0, 1.02))
    right.legend(fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.suptitle(f"{result.name}: closest to {result.closest}", size=10)
    save_figure(figure, path)


def _bars(axes: Any, values: dict[str, Interval] | Any, title: str) -> None:
    """A bar for each finite value, with its interval, and its name."""
    shown = {name: value for name, value in values.items() if isfinite(value.estimate)}
    places = np.arange(len(shown))
    estimates = np.array([value.estimate for value in shown.values()])
    errors = [
        estimates - np.array([value.low for value in shown.values()]),
        np.array([value.high for value in shown.values()]) - estimates,
    ]
    colours = ["tab:red" if name == "this model" else "tab:blue" for name in shown]
    axes.barh(places, estimates, xerr=errors, color=colours)
    infinite = [name for name in values if name not in shown]
    axes.set_yticks(places, list(shown))
    axes.invert_yaxis()
    axes.set_xlabel(title + (f"; infinite: {', '.join(infinite)}" if infinite else ""))
