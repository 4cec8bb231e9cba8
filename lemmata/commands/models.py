"""What the commands that measure a trained model share: its file, the picture, and where the report goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from lemmata.commands.console import deliver_picture
from lemmata.reports.pictures import PICTURES

__all__ = ["CHECKPOINTS", "Checkpoint", "Picture", "deliver_measurement"]

CHECKPOINTS = (
    "CHECKPOINT is a state dict of torch, which is read without running its code, an .npz or a .safetensors file."
)

Checkpoint = Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="the weights")]
Picture = Annotated[Path | None, typer.Option(metavar="FILE", help=f"draw it, to {', '.join(PICTURES)}")]


def deliver_measurement(
    summary: dict[str, Any],
    report: Callable[[], None],
    picture: Path | None,
    draw: Callable[[Path], None],
    as_json: bool,
) -> None:
    """The summary as JSON, or the report; then the picture, and where it is."""
    if as_json:
        typer.echo(json.dumps(summary, indent=2, allow_nan=False))
    else:
        report()
    deliver_picture(picture, draw, as_json)
