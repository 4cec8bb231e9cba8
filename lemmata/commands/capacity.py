"""The command `lemmata capacity`: how much heads with given norms, or trained ones, can learn from m contexts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from flint import fmpq

from lemmata.certificates.capacity.report import (
    CapacityReport,
    deep_report,
    head_report,
    heads_of_state,
    measured_heads,
)
from lemmata.commands.console import err, out, refusals
from lemmata.numerics.exact.numbers import exact_number
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.numerics.learning.attention_capacity import HeadNorms
from lemmata.numerics.learning.deep_capacity import LayerNorms
from lemmata.reports.capacity import print_capacity

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(help="Bound what attention heads of given norms, or trained ones, can learn: printed and corrected.")
def capacity(
    samples: Annotated[int, typer.Option(help="contexts in the sample, m")],
    length: Annotated[int, typer.Option(help="tokens of a context, T")],
    width: Annotated[int | None, typer.Option(help="outputs of a head, d; read from a state dict")] = None,
    tokens: Annotated[str, typer.Option(help="largest norm of a token, with its position")] = "1",
    delta: Annotated[str, typer.Option(help="probability of failure")] = "0.01",
    value_columns: Annotated[str | None, typer.Option(help="sum of the norms of the columns of W_V")] = None,
    value: Annotated[str | None, typer.Option(help="spectral norm of W_V")] = None,
    scores: Annotated[str | None, typer.Option(help="sum of the row norms, or Frobenius norm, of W_Q W_K^T")] = None,
    heads: Annotated[int, typer.Option(min=1, help="heads that are added")] = 1,
    layers: Annotated[int | None, typer.Option(min=1, help="layers with projections on the unit ball")] = None,
    score: Annotated[str, typer.Option(help="with --layers: spectral norm of W_Q W_K^T")] = "1",
    output_columns: Annotated[str, typer.Option(help="with --layers: sum of the column norms of W_C")] = "1",
    output: Annotated[str, typer.Option(help="with --layers: spectral norm of W_C")] = "1",
    readout: Annotated[str, typer.Option(help="norm of the read-out")] = "1",
    lipschitz: Annotated[str, typer.Option(help="Lipschitz constant of the activation")] = "1",
    loss_lipschitz: Annotated[str, typer.Option(help="Lipschitz constant of the loss")] = "1",
    loss_bound: Annotated[str, typer.Option(help="largest value of the loss")] = "1",
    state_dict: Annotated[Path | None, typer.Option(metavar="FILE", help="torch state dict of trained heads")] = None,
    prefix: Annotated[str, typer.Option(help="what stands before the names in the state dict")] = "",
    scale: Annotated[float | None, typer.Option(help="factor on the scores, if not that of the module")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of a report")] = False,
) -> None:
    """The tables of constants, parts and risks; exit 2 for input that is refused."""
    with refusals():
        failure = _number("--delta", delta)
        common: dict[str, Any] = {
            "tokens": _number("--tokens", tokens),
            "samples": samples,
            "length": length,
            "readout": _number("--readout", readout),
            "lipschitz": _number("--lipschitz", lipschitz),
            "loss_lipschitz": _number("--loss-lipschitz", loss_lipschitz),
            "loss_bound": _number("--loss-bound", loss_bound),
        }
        given = {"--value-columns": value_columns, "--value": value, "--scores": scores}
        notes: list[str] = []
        if state_dict is not None:
            if any(text is not None for text in given.values()) or layers is not None:
                raise ValueError("Give either --state-dict or the norms and layers, not both.")
            with err.status("measuring norms"):
                report, notes = _trained(state_dict, heads, prefix, scale, failure, common)
            title = f"Capacity of {_count(heads, 'trained head')}"
        else:
            norms = _norms(given)
            if width is None:
                raise ValueError("Give --width, the number of outputs of a head.")
            if layers is None:
                report = head_report([HeadNorms(*norms)] * heads, delta=failure, width=width, **common)
                title = f"Capacity of {_count(heads, 'head')}"
            else:
                rest = [_number(f"--{name}", text) for name, text in
                        (("score", score), ("output-columns", output_columns), ("output", output))]  # fmt: skip
                layer = LayerNorms(norms[0], norms[1], norms[2], *rest)
                report = deep_report([layer] * layers, delta=failure, width=width, **common)
                title = f"Capacity of {_count(layers, 'layer')}"
            notes.append("the norms bound a class that is fixed before the sample is drawn")
    if as_json:
        typer.echo(json.dumps({**report.as_dict(), "notes": notes}, indent=2))
        return
    print_capacity(out, report, title, delta, notes)


def _trained(
    path: Path, heads: int, prefix: str, scale: float | None, delta: fmpq, common: Mapping[str, Any]
) -> tuple[CapacityReport, list[str]]:
    """The report of the heads in a file, and what is to be said of it."""
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # of many kinds, for files that are no state dict
        raise ValueError(
            f"{path} is no file of tensors alone, as torch.save(module.state_dict(), ...) writes."
        ) from error
    if not isinstance(state, Mapping):
        raise ValueError(f"{path} holds a {type(state).__name__}, not a state dict of tensors by name.")
    measured = measured_heads(heads_of_state(state, heads=heads, prefix=prefix, scale=scale))
    norms, share = measured.rounded()
    report = head_report(
        norms,
        **{**common, "tokens": measured.token_bound(common["tokens"])},
        delta=delta * share,
        width=measured.width,
    )
    notes = ["norms rounded up to powers of two, for all of which the bound holds at once, so that training may choose"]
    if measured.biased:
        notes.append("biases are weights of a constant coordinate: tokens have the norm sqrt(B_X^2 + 1)")
    return report, notes


def _norms(given: Mapping[str, str | None]) -> list[fmpq]:
    missing = [name for name, text in given.items() if text is None]
    if missing:
        raise ValueError(f"Give {', '.join(missing)}, or --state-dict FILE with the weights.")
    return [_number(name, text) for name, text in given.items() if text is not None]


def _number(name: str, text: str) -> fmpq:
    """A number >= 0, exactly as it is written."""
    try:
        value = as_fmpq(exact_number(text))
    except ValueError:
        value = None
    if value is None or value < 0:
        raise ValueError(f"{name} needs a finite number >= 0, such as 1.5 or 3/2, not {text!r}.")
    return value


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
