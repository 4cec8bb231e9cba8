"""The ledger and the results of experiments in the front door."""

from io import StringIO

import pytest
from rich.console import Console

import lemmata as lm
from tests.lemmata.commands.runner import run


def test_an_entry_is_printed_as_by_the_command(capsys):
    lm.show("turing:theorem-4.1")
    printed = capsys.readouterr().out
    assert printed.startswith("turing:theorem-4.1")
    assert " ".join(printed.split()) == run("show", "turing:theorem-4.1")[1]
    console = Console(file=StringIO(), width=80)
    lm.show("feature-emergence:theorem-7", console=console)
    assert capsys.readouterr().out == ""
    assert console.file.getvalue().count("feature-emergence:theorem-7") > 2
    with pytest.raises(ValueError, match="no statement of the ledger has an id that contains 'nothing'"):
        lm.show("nothing")


def test_one_statement():
    entry = lm.statement("feature-emergence:theorem-7.7")
    assert entry.verdict == "holds"
    assert entry.title.startswith("Modular addition")
    with pytest.raises(ValueError, match=r"no statement 'feature-emergence:theorem-7' in the ledger"):
        lm.statement("feature-emergence:theorem-7")


def test_committed_results():
    assert lm.results("parity-progress")["experiment"] == "parity-progress"
    with pytest.raises(ValueError, match="There is no experiment 'nothing'"):
        lm.results("nothing")
