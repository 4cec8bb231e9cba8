"""What the commands that measure a trained model share: its file, the picture, and where the report goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from lemmata.commands.console import out

__all__ = ["CHECKPOINTS", "Checkpoint", "Picture", "check_picture", "deliver_measurement"]

CHECKPOINTS = (
    "CHECKPOINT is a state dict of torch, which is read without running its code, an .npz or a .safetensors file."
)
PICTURES = (".png", ".pdf", ".svg")

Checkpoint = Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="the weights")]
Picture = Annotated[Path | None, typer.Option(metavar="FILE", help=f"draw it, to {', '.join(PICTURES)}")]


def check_picture(picture: Path | None) -> None:
    """ValueError for a picture of another kind, or in a directory that does not exist."""
    if picture is None:
        return
    if picture.suffix.lower() not in PICTURES:
        raise ValueError(f"Pictures are files that end in {', '.join(PICTURES)}; got {picture.name!r}.")
    if not picture.absolute().parent.is_dir():
        raise ValueError(f"The directory {picture.absolute().parent} does not exist.")


def deliver_measurement(
    summary: dict[str, Any], report: Callable[[], None], picture: Path | None, as_json: bool
) -> None:
    """The summary as JSON, or the report and where the picture is, which has been drawn."""
    if as_json:
        typer.echo(json.dumps(summary, indent=2, allow_nan=False))
        return
    report()
    if picture is not None:
        out.print(escape(f"picture in {picture}"), soft_wrap=True)
