"""The command `lemmata capacity`: how much heads with given norms, or trained ones, can learn from m contexts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer
from flint import fmpq

from lemmata.certificates.capacity.reading import ROLES, read_trained
from lemmata.certificates.capacity.report import CapacityReport, deep_report, head_report, trained_report
from lemmata.certificates.capacity.trained import PeeledNorm, measured_reader
from lemmata.commands.console import err, out, refusals
from lemmata.constructions.networks.checkpoints import read_tensors
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
    width: Annotated[int | None, typer.Option(help="outputs of a head, d; read from a file")] = None,
    tokens: Annotated[str | None, typer.Option(help="largest norm of a token, with its position")] = None,
    delta: Annotated[str, typer.Option(help="probability of failure")] = "0.01",
    value_columns: Annotated[str | None, typer.Option(help="sum of the norms of the columns of W_V")] = None,
    value: Annotated[str | None, typer.Option(help="spectral norm of W_V")] = None,
    scores: Annotated[str | None, typer.Option(help="sum of the row norms, or Frobenius norm, of W_Q W_K^T")] = None,
    heads: Annotated[
        int | None, typer.Option(min=1, help="heads that are added, or lie side by side in a file")
    ] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="layers with projections on the unit ball")] = None,
    score: Annotated[
        str | None, typer.Option(help="with --layers: spectral norm of W_Q W_K^T, if not that of --scores")
    ] = None,
    output_columns: Annotated[str | None, typer.Option(help="with --layers: sum of the column norms of W_C")] = None,
    output: Annotated[
        str | None, typer.Option(help="with --layers: spectral norm of W_C, if not that of --output-columns")
    ] = None,
    readout: Annotated[str | None, typer.Option(help="norm of the read-out")] = None,
    lipschitz: Annotated[str | None, typer.Option(help="Lipschitz constant of the activation")] = None,
    loss_lipschitz: Annotated[str | None, typer.Option(help="Lipschitz constant of the loss")] = None,
    loss_bound: Annotated[str | None, typer.Option(help="largest value of the loss")] = None,
    state_dict: Annotated[
        Path | None, typer.Option(metavar="FILE", help="trained heads: state dict of torch, .npz, .safetensors")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ROLE", help=f"what a tensor of the file is: {', '.join(ROLES)}, unused"),
    ] = None,
    logit: Annotated[
        str | None, typer.Option(help="the output of the file that is read, such as 3, or 1-0 for a difference")
    ] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="embedding and positions were fixed before the sample was drawn")
    ] = False,
    residual: Annotated[
        bool | None, typer.Option(help="whether heads of the file are added to the stream, if both is too much")
    ] = None,
    activation: Annotated[
        str | None, typer.Option(help="of the hidden layer of a perceptron in the file: relu")
    ] = None,
    scale: Annotated[float | None, typer.Option(help="factor on the scores, if not that of the module")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of a report")] = False,
) -> None:
    """The tables of constants, parts, norms and risks; exit 2 for input that is refused."""
    with refusals():
        failure, notes, norms = _number("--delta", delta), [], []
        one = _Assumed(notes)
        common: dict[str, Any] = {
            "samples": samples,
            "length": length,
            "loss_lipschitz": one("--loss-lipschitz", loss_lipschitz, "the Lipschitz constant of the loss"),
            "loss_bound": one("--loss-bound", loss_bound, "the largest value of the loss"),
        }
        given = {"--value-columns": value_columns, "--value": value, "--scores": scores}
        if state_dict is not None:
            typed = {**given, "--layers": layers, "--lipschitz": lipschitz, "--width": width}
            excess = [name for name, text in typed.items() if text is not None]
            if excess:
                raise ValueError(f"Give either --state-dict or {', '.join(excess)}, not both.")
            with err.status("measuring norms"):
                options: dict[str, Any] = {"heads": heads, "scale": scale, "logit": logit, "activation": activation}
                reader = read_trained(read_tensors(state_dict), roles=_roles(role), **options)
                told = None if tokens is None else _number("--tokens", tokens)
                measured = measured_reader(reader, tokens=told, frozen=frozen, residual=residual)
                norm = None if readout is None else _number("--readout", readout)
                report, norms = trained_report(measured, readout=norm, delta=failure, **common)
            if readout is not None:
                notes.append(f"assumed: a readout of norm at most {readout}, as told, whatever the sample")
            notes += [f"assumed: {line}" for line in measured.assumed]
            notes += [f"read as {what}: {', '.join(names)}" for what, names in reader.by_role().items()]
            notes.append(
                "norms that training chose are rounded up to powers 2^(j/4), which share the probability of failure: "
                "1/(4 (|j| + 1)^2) each, so that the bound holds for all of them at once"
            )
            title = f"Capacity of {_count(len(reader.heads), 'trained head')}"
            if reader.perceptron is not None:
                title += f" and a perceptron of {_count(reader.perceptron.inward.outputs, 'ReLU')}"
                notes.append(
                    "C is that of linear readers with twice the norm of all paths to the output: the Rademacher "
                    "complexity of the perceptron is no larger"
                )
        else:
            common |= {
                "tokens": one("--tokens", tokens, "the largest norm of a token"),
                "readout": one("--readout", readout, "the norm of the readout"),
                "lipschitz": one("--lipschitz", lipschitz, "the Lipschitz constant of the activation"),
                "delta": failure,
            }
            report, title = _of_norms(given, width, heads or 1, layers, (score, output_columns, output), common, one)
            notes.append("the norms bound a class that is fixed before the sample is drawn")
    if as_json:
        shown = {**report.as_dict(), "norms": [_norm(n) for n in norms], "notes": notes}
        typer.echo(json.dumps(_finite(shown), indent=2, allow_nan=False))
        return
    print_capacity(out, report, title, delta, notes, norms)


class _Assumed:
    """The numbers that were not given, each with a line in the report."""

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes

    def __call__(self, name: str, text: str | None, what: str) -> fmpq:
        if text is None:
            self.notes.append(f"assumed: {what} is 1 ({name})")
        return _number(name, "1" if text is None else text)


def _of_norms(
    given: Mapping[str, str | None],
    width: int | None,
    heads: int,
    layers: int | None,
    more: tuple[str | None, str | None, str | None],
    common: Mapping[str, Any],
    one: _Assumed,
) -> tuple[CapacityReport, str]:
    """The report for norms that were typed, and its title. A spectral norm is at most the norm beside it."""
    norms = _norms(given)
    if width is None:
        raise ValueError("Give --width, the number of outputs of a head.")
    score, output_columns, output = more
    if layers is None:
        foreign = [name for name, text in zip(("--score", "--output-columns", "--output"), more, strict=True) if text]
        if foreign:
            raise ValueError(f"{', '.join(foreign)} is for layers with projections: give --layers.")
        report = head_report([HeadNorms(*norms)] * heads, width=width, **common)
        return report, f"Capacity of {_count(heads, 'head')}"
    if heads != 1:
        raise ValueError("The theory of several layers (--layers) has one head in each, so give no --heads.")
    Q = norms[2] if score is None else _number("--score", score)
    C_1 = one("--output-columns", output_columns, "the sum of the column norms of W_C")
    C = C_1 if output is None else _number("--output", output)
    layer = LayerNorms(norms[0], norms[1], norms[2], min(Q, norms[2]), C_1, min(C, C_1))
    return deep_report([layer] * layers, width=width, **common), f"Capacity of {_count(layers, 'layer')}"


def _roles(given: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or []]
    if any(not middle for _, middle, _ in pairs):
        raise ValueError("A role is given as NAME=ROLE, such as emb.weight=embedding (--role).")
    return {name: role for name, _, role in pairs}


def _finite(value: Any) -> Any:
    """The same with null for every number that floats cannot hold, which JSON cannot either."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _norm(norm: PeeledNorm) -> dict[str, Any]:
    return {
        "name": norm.name,
        "norm": float(norm.norm.mid()),
        "counted": float(norm.counted.mid()),
        "exponent": f"{norm.exponent}/4",
        "share": f"1/{norm.share.q}",
    }


def _norms(given: Mapping[str, str | None]) -> list[fmpq]:
    """The three norms; W_V has at most the sum of its columns for a spectral norm, if that is not given."""
    columns, value, scores = given.values()
    if columns is None or scores is None:
        missing = [name for name, text in given.items() if text is None and name != "--value"]
        raise ValueError(f"Give {', '.join(missing)}, or --state-dict FILE with the weights.")
    V_1 = _number("--value-columns", columns)
    V = V_1 if value is None else _number("--value", value)
    return [V_1, min(V, V_1), _number("--scores", scores)]


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
