"""The command line: the list of commands, each of which is loaded when it is called.

A command is a module of `lemmata.commands` with a `typer.Typer` called ``app`` that holds it. Listing all commands
therefore imports none of the mathematics, and a command imports its own share only.
"""

from __future__ import annotations

import shutil
import signal
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from lemmata.commands.streams import guarded_streams
from lemmata.extras import missing_extra

__all__ = ["COMMANDS", "EXAMPLES", "PANELS", "app", "main"]

PANELS = {
    "Certify and check": {
        "certify": "Certify the maximum margin of products in a group, exactly; of any operation, from both sides.",
        "check": "Check certificate files with the kernel, a program of its own that trusts nothing.",
        "explain": "Explain a certificate file: what it proves, and how.",
        "coq": "Prove a certificate of an operation or an unseen cell once more in Coq.",
        "unseen": "Certify what all networks of nearly maximum margin say of cells that they never saw.",
        "parity": "Certify the maximum margin of the parity of K of N bits, with the activation x^K.",
        "path": "Show the least regularised loss of a group, proved from both sides, for one or more lambda.",
        "atlas": "Show the atlas of certified margins, write the certificate of a row, or make all of it.",
    },
    "Models that you trained": {
        "margin": "Measure how far a trained network is from the certified maximum margin of a group or an operation.",
        "induction": "Measure a trained attention-only transformer against the n-gram predictors; see its heads.",
        "capacity": "Bound what attention heads of given norms, or trained ones, can learn: printed and corrected.",
    },
    "Constructions": {
        "circuit": "Compile a Boolean circuit into a ReLU network; verify every layer, and bound its margin.",
        "turing": "Compile a Turing machine into a transformer and run its weights.",
        "sparse": "Compile a function of a few of many symbols into an attention layer and a perceptron.",
        "frontier": "Show with which width and how many samples one gradient step finds the parity of K of N inputs.",
    },
    "The ledger": {
        "ledger": "List the statements of the ledger, with their verdicts.",
        "show": "Show what the ledger says of a statement, for example feature-emergence:theorem-7.7.",
        "audit": "Audit entries of the ledger: what forces each verdict, faults, proofs, records, results.",
        "experiment": "Repeat experiments of the documents, and show what they gave.",
        "new-chapter": "Write the skeleton of a chapter of your own, with a worked example.",
    },
    "Data in bulk": {
        "sweep": "Certify all groups up to an order: one file per group, and summary.csv.",
        "characters": "Certify the tables of the character table library: one entry each, and tables.json.",
        "survey": "Certify families of tables of finite operations: one entry each, and operations.json.",
    },
}
"""The commands by what a user asks, each with what it does in one line; its module has the same name, with _ for -."""

COMMANDS = {name: text for commands in PANELS.values() for name, text in commands.items()}

EXAMPLES = {
    "certify": "certify S3 --out s3.json",
    "check": "check s3.json",
    "explain": "explain s3.json",
    "coq": "coq max.json --out max.v --unproved",
    "unseen": "unseen op:add:3 --cells 'without:(0,0)'",
    "parity": "parity 5 3",
    "path": "path S3 --lambda 1e-4",
    "atlas": "atlas --row Q8",
    "margin": "margin model.pt --group S3",
    "induction": "induction heads.pt",
    "capacity": "capacity --samples 1000 --length 50 --width 8 --value-columns 2 --value 1 --scores 3",
    "circuit": "circuit --truth-table 0110",
    "turing": "turing palindromes --steps 12 --input aba",
    "sparse": "sparse 12 2,5,7 01101001",
    "frontier": "frontier 50 6",
    "ledger": "ledger --verdict refuted",
    "show": "show feature-emergence:theorem-7.9",
    "audit": "audit turing:theorem-4.1",
    "experiment": "experiment show parity-progress",
    "new-chapter": "new-chapter knots",
    "sweep": "sweep --max-order 8 --out groups",
    "characters": "characters --name M11 --out tables",
    "survey": "survey --family classes:2x2 --out tables",
}
"""An example of each command, as its help has it; a test runs them all."""

RENAMED = {"tables": "characters"}
"""Commands under their earlier names, and what they are called now."""
NARROW = 80
"""Columns of a terminal below which help has no frames: in these the names of options would be cut off."""


class LazyCommands(TyperGroup):
    """A group whose commands are known by name and help, and imported when one of them is to run."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {
            name: TyperCommand(name, short_help=text, help=text, rich_help_panel=panel)
            for panel, commands in PANELS.items()
            for name, text in commands.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The name, the command itself in place of its line in the list, and the arguments that are left."""
        if args and args[0] in RENAMED:
            ctx.fail(f"The command {args[0]} is called {RENAMED[args[0]]} now.")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            called = str(command.name)
            command = typer.main.get_command(import_module(f"lemmata.commands.{called.replace('-', '_')}").app)
            command.epilog = f"Example: lemmata {EXAMPLES[called]}"
            _without_frames(command)
        return name, command, rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The list of the commands."""
        _without_frames(self)
        formatter.width = min(formatter.width, shutil.get_terminal_size().columns)
        super().format_help(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The same as plain text, panel by panel."""
        for panel, commands in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl(list(commands.items()))


def _without_frames(command: Any) -> None:
    """Make the help of a command and of those below it plain text, where the terminal is narrow."""
    columns = shutil.get_terminal_size().columns
    if columns < NARROW:
        command.rich_markup_mode = None
        command.context_settings["terminal_width"] = columns  # else 50 at least
        for part in getattr(command, "commands", {}).values():
            _without_frames(part)


app = typer.Typer(cls=LazyCommands, no_args_is_help=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"lemmata {version('lemmata')}")
        raise typer.Exit


@app.callback(help="Theorems about neural sequence models and feature learning, made executable.")
def lemmata(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """The options that stand before a command."""


def main() -> None:
    """The command line as a program of its own: an interrupt ends it at once, whatever compiled code it is in.

    Python would see the interrupt only after the compiled code, which may take minutes. The shell reports 130, the
    status of a program that an interrupt has ended. Files are written at one stroke, so that none is left half-written;
    commands with something to say (how far they came, how to continue) take over with `interruptible`.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with guarded_streams():
            app(prog_name="lemmata")
    except ModuleNotFoundError as error:
        sentence = missing_extra(error)
        if sentence is None:
            raise
        typer.echo(f"error: {sentence}", err=True)
        raise SystemExit(2) from error
