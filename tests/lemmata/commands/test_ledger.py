"""`lemmata show` and `lemmata ledger`."""

import json

from lemmata import statement
from lemmata.theorems.ledger import catalogue_ids, load_ledger
from tests.lemmata.commands.runner import run


def test_ledger():
    entries = [one for one in load_ledger().statements() if one.id.startswith("feature-emergence:")]
    code, output, _ = run("ledger", "--chapter", "feature-emergence", "--verdict", "holds")
    assert code == 0
    assert "feature-emergence:theorem-7.7 holds proof * Modular" in output
    marked = sum(one.machine_checked is not None for one in entries if one.verdict == "holds")
    assert f"* {marked} machine-checked in Coq, in part: lemmata show says which part" in output
    assert "turing:" not in output
    assert "open" not in output.split()
    assert f"{len(catalogue_ids())} statements" in run("ledger")[1]
    code, output, error = run("ledger", "--chapter", "nowhere")
    assert (code, output) == (2, "")
    assert "turing" in error
    code, output, error = run("ledger", "--verdict", "maybe")
    assert (code, output) == (2, "")
    assert "repaired" in error


def test_show_one_statement():
    code, output, _ = run("show", "feature-emergence:theorem-7.7")
    assert code == 0
    assert output.startswith("feature-emergence:theorem-7.7 Modular addition")
    assert "verdict" in output
    assert "Edelman" in output
    assert output.count(" claim ") == output.count(" verdict ") == 1


def test_show_prints_an_erratum_with_brackets_as_it_is():
    _, output, _ = run("show", "feature-emergence:construction-D.4")
    assert "terms with $1[k = r(i,j)]/4$" in output
    assert "corrected $2 n^2$ neurons, terms with $1[k = r(a,b)]/4$" in output


def test_show_a_part_of_an_id_lists_all():
    code, output, _ = run("show", "feature-emergence:theorem-7")
    assert code == 0
    assert output.count("feature-emergence:theorem-7") > 2


def test_show_nothing():
    code, output, error = run("show", "nothing")
    assert code == 2
    assert output == ""
    assert "no statement" in error
    assert "'nothing'" in error


def test_a_summary_is_shown_sentence_by_sentence():
    code, output, _ = run("show", "qstr:table-1")
    assert code == 0
    assert "claim verdict provided that rests on" in output
    claims = statement("qstr:table-1").claims
    assert len(claims) == 4
    for claim in claims:
        assert claim.says.split(",")[0] in output  # the rest may stand in another line
        assert all(name in output for name in claim.rests_on)
    (data,) = json.loads(run("show", "qstr:table-1", "--json")[1])
    assert [one["verdict"] for one in data["claims"]] == [claim.verdict for claim in claims]


def test_many_entries_are_listed_and_not_printed_in_full():
    code, output, _ = run("show", "turing")
    assert code == 0
    assert output.endswith("Name one of them to see all that is said of it.")
    assert "decided by" not in output
    assert run("show", "")[0] == 2
