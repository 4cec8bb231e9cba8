"""The command line as ``python -m lemmata``."""

from lemmata.cli import app

app(prog_name="lemmata")
