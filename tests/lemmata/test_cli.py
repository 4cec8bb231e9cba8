"""The list of commands, and what is loaded to run one of them."""

from tests.lemmata.commands.runner import run


def test_help_names_the_commands_and_the_groups():
    code, output, _ = run("--help")
    assert code == 0
    commands = ("certify", "check", "explain", "sweep", "path", "parity", "show", "ledger")
    assert all(command in output for command in commands)
