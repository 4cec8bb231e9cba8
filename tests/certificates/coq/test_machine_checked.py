"""What the ledger calls machine-checked is a theorem of the folder of that name, whose assumptions a test reads."""

import re
from pathlib import Path

from lemmata.certificates.coq.compiler import THEORY
from lemmata.theorems.ledger import load_ledger

CLAIMED = {
    statement.id: statement.machine_checked.partition(": ")[0].split(", ")
    for statement in load_ledger().statements()
    if statement.machine_checked
}


def test_the_theorems_exist():
    assert "feature-emergence:theorem-7.7" in CLAIMED
    for statement, names in CLAIMED.items():
        for name in names:
            file, _, theorem = name.partition(".")
            text = (THEORY / f"{file}.v").read_text()
            assert re.search(rf"^(?:Theorem|Corollary) {theorem}\b", text, re.MULTILINE), (statement, name)


def test_a_test_reads_their_assumptions():
    tests = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("test_*.py")))
    for statement, names in CLAIMED.items():
        for name in names:
            assert re.search(rf'"{re.escape(name)}"|exact \(?{name.partition(".")[2]}\b', tests), (statement, name)


def test_what_is_not_proved_is_said():
    for statement in load_ledger().statements():
        if statement.machine_checked:
            assert "Not proved in Coq: " in statement.machine_checked, statement.id
