"""The command `lemmata induction`: a trained attention-only transformer against the n-gram predictors."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lemmata.certificates.induction.cells import Start
from lemmata.certificates.induction.losses import LossCertificate
from lemmata.certificates.induction.measured import Outputs, certified_loss, checked_start, measure_model
from lemmata.commands.console import err, out, refusals
from lemmata.commands.models import CHECKPOINTS, Checkpoint, Picture, deliver_measurement
from lemmata.commands.options import AsJson
from lemmata.constructions.networks.attention_checkpoints import ACCEPTED_ATTENTION, AttentionOnly, load_attention_only
from lemmata.reports.induction import ModelReport, draw_model, model_summary, print_model
from lemmata.reports.pictures import check_picture

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(
    help="Measure a trained attention-only transformer against the n-gram predictors on Markov chains in context: its "
    "loss, its distance from each of them, where its heads attend; proved where there are at most 1024 "
    "sequences, and by classes of sequences where it has one or two layers over two symbols. "
    f"{CHECKPOINTS} "
    f"Weights: {ACCEPTED_ATTENTION}. LayerNorm, MLPs and rotary positions are refused. Attention "
    "is taken to be causal, with a softmax."
)
def induction(
    checkpoint: Checkpoint,
    symbols: Annotated[
        int | None, typer.Option(metavar="K", help="symbols: the first K tokens, by default all")
    ] = None,
    length: Annotated[int | None, typer.Option(metavar="T", help="symbols seen, by default as the weights say")] = None,
    heads: Annotated[
        int | None, typer.Option(metavar="H", help="heads in a layer, where the names leave it open")
    ] = None,
    scale: Annotated[float | None, typer.Option(help="factor on the scores, by default 1/sqrt(key dimension)")] = None,
    bos: Annotated[str, typer.Option(metavar="TOKENS", help="tokens in front of every sequence, for example 0")] = "",
    outputs: Annotated[
        str, typer.Option(metavar="KIND", help="what the readout gives: logits or probabilities")
    ] = "logits",
    samples: Annotated[int, typer.Option(metavar="N", help="sequences drawn, where there are more than 4096")] = 2000,
    seed: Annotated[int, typer.Option(help="of the sequences")] = 0,
    window: Annotated[
        int | None,
        typer.Option(metavar="W", help="symbols that a proof by classes knows, at a cost of 4^W; by default refined"),
    ] = None,
    grid: Annotated[int, typer.Option(help="output values that a proof by classes tries")] = 32,
    blocks: Annotated[int, typer.Option(help="parts in which it takes earlier symbols, with --window")] = 1,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="LAW", help="law of the first symbol: stationary (by default over 2 symbols) or uniform (over more)"
        ),
    ] = None,
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Losses, distances and heads; exit 2 when the input is refused."""
    with refusals():
        check_picture(picture)
        kind: Outputs = "probabilities" if outputs == "probabilities" else "logits"
        if kind != outputs:
            raise ValueError(f"Outputs are logits or probabilities, not {outputs!r}.")
        weights = load_attention_only(checkpoint, symbols=symbols, heads=heads, scale=scale, bos=_tokens(bos))
        t = weights.length if length is None else length
        with err.status("running the model"):
            law = checked_start(start, weights.model.symbols)
            measured = measure_model(weights.model, t, samples=samples, seed=seed, outputs=kind, start=law)
            proof = _proof(weights, t, kind, law, window=window, grid=grid, blocks=blocks)
        result = ModelReport(checkpoint.name, weights, kind, measured, proof)
    deliver_measurement(
        model_summary(result),
        lambda: print_model(out, result),
        picture,
        lambda path: draw_model(result, path),
        as_json,
    )


def _proof(
    weights: AttentionOnly, length: int, outputs: Outputs, start: Start, **settings: Any
) -> LossCertificate | str:
    """The proven loss, or why there is none."""
    if outputs != "logits":
        return "Losses are proved of models whose outputs are logits."
    try:
        return certified_loss(weights.model, length, start=start, **settings)
    except ValueError as error:
        return str(error)


def _tokens(text: str) -> list[int]:
    """Token ids that are separated by commas."""
    try:
        return [int(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        raise ValueError(f"Tokens are numbers, separated by commas, for example 0 or 2,3; not {text!r}.") from None
