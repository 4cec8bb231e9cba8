"""The command line in this process, as its tests call it."""

from typer.testing import CliRunner

from lemmata.cli import app


def run(*arguments: str) -> tuple[int, str, str]:
    """The exit code, standard output and standard error, with runs of blanks and line breaks as one blank."""
    result = CliRunner().invoke(app, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, " ".join(result.stdout.split()), " ".join(result.stderr.split())
