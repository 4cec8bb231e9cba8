"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from lemmata.certificates import kernel

__all__ = ["DEFAULT_JOBS", "AsJson", "Factors", "Group", "Jobs", "Limit", "OptionalGroup", "Seconds", "Where"]

DEFAULT_JOBS = os.cpu_count() or 1

Group = Annotated[str, typer.Argument(metavar="GROUP", help="name of the group, for example Z7, S4 or Q8")]
OptionalGroup = Annotated[str | None, typer.Argument(metavar="GROUP", help="name of the group, or ctbl:NAME")]
Limit = Annotated[
    int, typer.Option(min=1, help="largest order of a group that is accepted; memory grows with the order")
]
Factors = Annotated[int, typer.Option(metavar="K", min=2, max=kernel.MAX_FACTORS, help="factors of the product")]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="processes, on this machine")]
Where = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="ADDRESS",
        help="work elsewhere: dask://HOST:PORT is the scheduler of a Dask cluster (the extra cluster)",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(metavar="S", min=0, help="time for degree 6; by default it is tried up to a fixed amount of work"),
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for programs instead of a report")]
