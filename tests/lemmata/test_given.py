"""One door for groups, operations and character tables; a wrong guess is answered with the form that was meant."""

import json
from pathlib import Path

import pytest

import lemmata as lm
from tests.certificates.given_character_tables import FILES
from tests.lemmata.commands.runner import run

AND = [[0, 0], [0, 1]]
S4 = FILES / "S4.json"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with an operation, a Cayley table, lines of cells and a character table."""
    monkeypatch.chdir(tmp_path)
    Path("and.csv").write_text("0,0\n0,1\n")
    Path("cells.csv").write_text("0,0,0\n0,1,1\n1,0,1\n")
    Path("z2.csv").write_text("0,1\n1,0\n")
    Path("s4.json").write_bytes(S4.read_bytes())
    Path("and.json").write_text(json.dumps(AND))


def test_operations_are_certified_by_table_and_by_text(files, tmp_path):
    by_table = lm.certify(lm.operations.Operation.of(AND))
    for text in ("table:and.csv", "table:and.json", "op:a*b:2"):
        found = lm.certify(text)
        assert (found.lower, found.upper) == (by_table.lower, by_table.upper)
    assert 0 < by_table.lower <= by_table.upper
    assert lm.certify("cells:cells.csv").table.cells == ((0, 0), (0, 1), (1, 0))
    assert lm.check(by_table)
    lm.save(by_table, tmp_path / "and-margin.json")
    assert lm.check(tmp_path / "and-margin.json")
    assert lm.document_of(by_table) == by_table.document


def test_an_operation_that_is_a_group_is_certified_as_the_group(files):
    z2 = lm.certify("Z2")
    for given in ("table:z2.csv", "op:add:2", lm.operations.Operation.of([[1, 0], [0, 1]])):
        assert lm.certify(given).gamma == z2.gamma
    for given in ("op:add:5", lm.operations.parse_operation("op:add:5")):
        assert lm.certify(given, limit=5).group.order == 5
        with pytest.raises(ValueError, match="above the limit of 4"):
            lm.certify(given, limit=4)


def test_a_file_that_nests_without_end_is_no_character_table(files):
    Path("deep.json").write_text("[" * 200_000)
    with pytest.raises(ValueError, match=r"deep.json is the name of a file"):
        lm.certify("deep.json")


def test_character_tables_are_certified_from_a_path_a_dictionary_and_a_name_of_a_file(files):
    expected = lm.certify_character_table(S4)
    for given in (S4, "s4.json", Path("s4.json"), json.loads(S4.read_bytes())):
        assert lm.certify(given).gamma == expected.gamma
    assert lm.certify(S4, 3).factors == 3
    assert lm.certify("S4").enclosure(30) == expected.enclosure(30)  # by its elements


WRONG = {
    "and.csv": "and.csv is the name of a file: table:and.csv is the operation in it, or the group",
    "nothing.csv": "nothing.csv is the name of a file, which does not exist: table:nothing.csv is",
    "weights.npz": "lemmata margin weights.npz takes it",
    "max:3": "An operation is written with its prefix: op:max:3.",
    "M": "M is a sporadic group, which is certified by its character table, without its elements: ctbl:M.",
    "baby monster": "without its elements: ctbl:B.",
    "O'N": "without its elements: ctbl:ON.",
    "group:M": "without its elements: ctbl:M.",
    "S_": "There is no group named",
}


@pytest.mark.parametrize("given", WRONG)
def test_a_wrong_guess_gets_the_right_hint_in_python_and_in_the_terminal(files, given):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the sentence is looked at below
        lm.certify(given)
    assert WRONG[given] in str(refused.value)
    code, output, error = run("certify", given)
    assert (code, output) == (2, "")
    assert WRONG[given] in error


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (AND, "An operation that is no group is given as lm.operations.Operation.of"),
        ({"classes": 3}, "must have the format 'lemmata/character-table'"),
        (
            3.5,
            "an operation is a text such as 'op:max:3' or 'ternary:01101001', or a lm.operations.Operation",
        ),
    ],
)
def test_other_objects_are_refused_with_what_is_accepted(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        lm.certify(given)


def test_an_operation_has_two_factors():
    for given in ("op:max:3", "op:a-b:3", lm.operations.Operation.of(AND)):
        with pytest.raises(ValueError, match="is an operation, which has two factors"):
            lm.certify(given, 3)


def test_an_operation_that_is_a_group_in_its_own_names_has_more_factors():
    for given in ("op:add:3", lm.operations.Operation.of([[0, 1, 2], [1, 2, 0], [2, 0, 1]])):
        assert lm.certify(given, 3).gamma == lm.certify("Z3", 3).gamma


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("S3", "S3 is a group, not a character table"),
        ("op:max:3", "op:max:3 is an operation, not a character table"),
        ("monster", "without its elements: ctbl:M"),
    ],
)
def test_what_is_no_character_table_is_called_by_its_kind(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        lm.certify_character_table(given)


def test_earlier_names_say_the_new_ones():
    for old, new in (("tables", "operations"), ("certify_table", "certify_character_table")):
        with pytest.raises(AttributeError, match=f"lemmata.{old} is called lemmata.{new} now"):
            getattr(lm, old)
        assert old not in dir(lm)
    code, _, error = run("tables", "--out", "x")
    assert code == 2
    assert "The command tables is called characters now." in error
    code, _, error = run("margin", "weights.npz", "--table", "op:max:3")
    assert code == 2
    assert "--table is called --operation now: --operation op:max:3" in error
