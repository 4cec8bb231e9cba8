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

from lemmata.extras import missing_extra

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = {
    "certify": "Certify the maximum margin of products in a group, exactly; of any operation, from both sides.",
    "check": "Check certificate files with the kernel, a program of its own that trusts nothing.",
    "coq": "Prove a certificate of an operation or an unseen cell once more in Coq.",
    "explain": "Explain a certificate file: what it proves, and how.",
    "sweep": "Certify all groups up to an order: one file per group, and summary.csv.",
    "characters": "Certify the tables of the character table library: one entry each, and tables.json.",
    "survey": "Certify families of tables of finite operations: one entry each, and operations.json.",
    "atlas": "Show the atlas of certified margins, write the certificate of a row, or make all of it.",
    "path": "Show the least regularised loss of a group, proved from both sides, for one or more lambda.",
    "margin": "Measure how far a trained network is from the certified maximum margin of a group or an operation.",
    "induction": "Measure a trained attention-only transformer against the n-gram predictors; see its heads.",
    "parity": "Certify the maximum margin of the parity of K of N bits, with the activation x^K.",
    "unseen": "Certify what all networks of nearly maximum margin say of cells that they never saw.",
    "frontier": "Show with which width and how many samples one gradient step finds the parity of K of N inputs.",
    "circuit": "Compile a Boolean circuit into a ReLU network; verify every layer, and bound its margin.",
    "capacity": "Bound what attention heads of given norms, or trained ones, can learn: printed and corrected.",
    "sparse": "Compile a function of a few of many symbols into an attention layer and a perceptron; prove it right.",
    "turing": "Compile a Turing machine into a transformer and run its weights.",
    "show": "Show what the ledger says of a statement, for example feature-emergence:theorem-7.7.",
    "audit": "Audit entries of the ledger: what forces each verdict, faults, proofs, records, results.",
    "ledger": "List the statements of the ledger, with their verdicts.",
    "new-chapter": "Write the skeleton of a chapter of your own, with a worked example.",
    "experiment": "Repeat experiments of the documents, and show what they gave.",
}
"""What each command does, in one line; its module has the same name, with _ for -."""


RENAMED = {"tables": "characters"}
"""Commands under their earlier names, and what they are called now."""
NARROW = 80
"""Columns of a terminal below which help has no frames: in these the names of options would be cut off."""


class LazyCommands(TyperGroup):
    """A group whose commands are known by name and help, and imported when one of them is to run."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: TyperCommand(name, short_help=text, help=text) for name, text in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The name, the command itself in place of its line in the list, and the arguments that are left."""
        if args and args[0] in RENAMED:
            ctx.fail(f"The command {args[0]} is called {RENAMED[args[0]]} now.")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            module = str(command.name).replace("-", "_")
            command = typer.main.get_command(import_module(f"lemmata.commands.{module}").app)
            _without_frames(command)
        return name, command, rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The list of the commands."""
        _without_frames(self)
        formatter.width = min(formatter.width, shutil.get_terminal_size().columns)
        super().format_help(ctx, formatter)


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
        app(prog_name="lemmata")
    except ModuleNotFoundError as error:
        sentence = missing_extra(error)
        if sentence is None:
            raise
        typer.echo(f"error: {sentence}", err=True)
        raise SystemExit(2) from error
