"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from certificates import kernel

__all__ = ["Factors", "Group", "Limit", "OptionalGroup"]

Group = Annotated[str, typer.Argument(metavar="GROUP", help="name of the group, for example Z7, S4 or Q8")]
OptionalGroup = Annotated[str | None, typer.Argument(metavar="GROUP", help="name of the group, or ctbl:NAME")]
Limit = Annotated[int, typer.Option(help="largest order of a group that is accepted; memory grows with the order")]
Factors = Annotated[int, typer.Option(metavar="K", min=2, max=kernel.MAX_FACTORS, help="factors of the product")]
