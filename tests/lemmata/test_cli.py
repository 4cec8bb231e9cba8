"""The list of commands, and what is loaded to run one of them."""

import json
import subprocess
import sys

import pytest

import lemmata
from lemmata.cli import COMMANDS
from tests.lemmata.commands.runner import run

PACKAGES = ("numerics", "constructions", "certificates", "theorems")
SLOW = {"sympy", "numba", "torch", "cvxpy", "matplotlib"}
MATHEMATICS = {"numpy", "flint", "scipy", *(f"lemmata.{name}" for name in PACKAGES)}


def test_help_names_the_commands_and_the_groups():
    code, output, _ = run("--help")
    assert code == 0
    commands = ("certify", "check", "explain", "sweep", "path", "parity", "show", "ledger")
    assert all(command in output for command in commands)


def test_help_says_what_every_command_does():
    _, output, _ = run("--help")
    for name, text in COMMANDS.items():
        assert f"{name} {text[:30]}" in output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there(name):
    code, output, error = run(name, "--help")
    assert (code, error) == (0, "")
    assert f"{name} [OPTIONS]" in output
    assert COMMANDS[name].partition(";")[0].rstrip(".") in output.replace("│ ", "")
    assert "completion" not in output  # that of the shell is installed for lemmata itself, or not at all


def test_the_version():
    assert run("--version") == (0, f"lemmata {lemmata.__version__}", "")


def test_an_unknown_command_is_refused():
    code, output, error = run("certfy", "S3")
    assert (code, output) == (2, "")
    assert "No such command 'certfy'" in error
    assert "'certify'" in error


def loaded(*arguments: str) -> set[str]:
    """The modules that are loaded when a command line has run, in a process of its own."""
    code = (
        "import atexit, json, sys; atexit.register(lambda: print(json.dumps([*sys.modules]), file=sys.stderr)); "
        f"from lemmata.cli import app; app({list(arguments)!r})"
    )
    return set(json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stderr))


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_the_list_of_commands_loads_none_of_the_mathematics(arguments):
    assert not loaded(*arguments) & (SLOW | MATHEMATICS)


@pytest.mark.parametrize("arguments", [("show", "turing:theorem-4.1"), ("ledger", "--chapter", "turing")])
def test_the_ledger_is_read_without_numpy(arguments):
    assert not loaded(*arguments) & {"numpy", "flint", "scipy", *SLOW}


def test_a_small_group_is_certified_and_evaluated_without_a_compiler():
    assert not loaded("certify", "S3") & SLOW
