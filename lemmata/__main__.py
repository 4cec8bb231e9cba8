"""The command line as ``python -m lemmata``."""

from lemmata.cli import main

main()
