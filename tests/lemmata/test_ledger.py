"""The ledger and the results of experiments in the front door."""

from io import StringIO

import pytest
from rich.console import Console

import lemmata as lm
from lemmata._ledger import find_statements
from lemmata.theorems.ledger import OLDER, catalogue_ids, spelled
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


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("induction-heads:proposition-8.2", "induction-heads:proposition-8.2"),
        ("INDUCTION_HEADS: Prop 8.2", "induction-heads:proposition-8.2"),
        ("turing theorem 4.1", "turing:theorem-4.1"),
        ("lemmata.theorems.turing:Theorem-4.1", "turing:theorem-4.1"),
        ("deep-icgd:def-1", "deep-icgd:definition-1"),
        (" pareto-frontiers:def-sq-sgd ", "pareto-frontiers:definition-sq-sgd"),
    ],
)
def test_an_id_may_be_spelled_as_it_comes(text, id):
    assert lm.statement(text).id == id
    assert [entry.id for _, entry in find_statements(text)] == [id]


@pytest.mark.parametrize("text", ["hidden_progress", "Hidden Progress", "theorems.hidden_progress", "hidden-progress:"])
def test_a_chapter_shows_all_its_statements(text):
    entries = [entry for _, entry in find_statements(text)]
    assert [entry.id for entry in entries] == [name for name in catalogue_ids() if name.startswith("hidden-progress:")]


@pytest.mark.parametrize("text", ["", " ", ":", "-"])
def test_no_text_is_no_id(text):
    with pytest.raises(ValueError, match="no statement of the ledger"):
        find_statements(text)


def test_no_two_ids_are_spelled_alike_and_none_is_of_the_older_kinds():
    names = catalogue_ids()
    assert len({spelled(name) for name in names}) == len(names)
    assert [name for name in names if name.partition(":")[2].partition("-")[0] in OLDER] == []


def test_committed_results():
    assert lm.results("parity-progress")["experiment"] == "parity-progress"
    with pytest.raises(ValueError, match="There is no experiment 'nothing'"):
        lm.results("nothing")
