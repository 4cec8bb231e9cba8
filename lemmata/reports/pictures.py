"""Pictures as files: the kinds that there are, and how they appear, whole."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from lemmata.numerics.runs.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PICTURES", "check_picture", "save_figure"]

PICTURES = (".png", ".pdf", ".svg")


def check_picture(picture: Path | None) -> None:
    """ValueError for a picture of another kind, or in a directory that does not exist."""
    if picture is None:
        return
    if picture.suffix.lower() not in PICTURES:
        raise ValueError(f"Pictures are files that end in {', '.join(PICTURES)}; got {picture.name!r}.")
    if not picture.absolute().parent.is_dir():
        raise ValueError(f"The directory {picture.absolute().parent} does not exist.")


def save_figure(figure: Figure, picture: Path) -> None:
    """A figure in a file, at one stroke.

    Raises:
        ValueError: for another kind of file, or one in a directory that does not exist.
        OSError: if it cannot be written.
    """
    check_picture(picture)
    drawn = BytesIO()
    figure.savefig(drawn, format=picture.suffix[1:].lower())
    write_atomically(drawn.getvalue(), picture)
