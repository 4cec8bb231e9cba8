"""Addition modulo 3 and 7 without a cell: what every network of nearly maximum margin says there, as Coq theorems."""

from pathlib import Path

import pytest

from lemmata.certificates.coq.compiler import AXIOMS, THEORY, CoqProof, CoqRefusalError, prove
from lemmata.theorems.plugin import Effort
from tests.certificates.coq.theory import compiled, compiled_with_symmetry, needs_coq

CELLS = THEORY / "cells"
EXISTS = "(exists net : network, normalized_margin_at_least T (Q2R g / (1 - 1 / 1000000)) net)"
NEAR = "(forall (net : network) (m : R), normalized_margin_at_least T m net -> 0.999998 * m <= Q2R g)"
ALL = "(forall net : network, normalized_margin_at_least T (Q2R g) net ->"
LEDGER = (
    "(forall M : R, (forall (net : network) (m : R), normalized_margin_at_least T m net -> m <= M) -> "
    "forall net : network, normalized_margin_at_least T ((1 - 1 / 1000000) * M) net ->"
)
"""As ext-T6 says it: networks of at least 1 - 10^-6 times the maximum margin."""


def proved(name: str, root: Path, folder: Path, old: str = "", new: str = "") -> CoqProof:
    """What Coq says about a file of the folder of cells, with one text in place of another."""
    text = (CELLS / f"{name}.v").read_text()
    assert text.count(old) == 1 or not old
    path = folder / f"{name}.v"
    path.write_text(text.replace(old, new) if old else text)
    return prove(path, compiled_with_symmetry(root) if "Symmetry" in text else compiled(root))


@needs_coq
def test_theorems_on_cells(tmp_path_factory, tmp_path, effort: Effort):
    verdicts = {"cells/Three.three_without_a_cell": "wrong_at", "cells/Seven.seven_without_a_cell": "right_at"}
    for name in effort.pick(quick=tuple(verdicts)[:1], full=tuple(verdicts)):
        file, _, theorem = name.removeprefix("cells/").partition(".")
        proof = proved(file, tmp_path_factory.getbasetemp(), tmp_path)
        every, nearly = (f"{which} {verdicts[name]} T 0 0 0 net)" for which in (ALL, LEDGER))
        assert proof.theorem == f"{theorem} : {EXISTS} /\\ {NEAR} /\\ {every} /\\ {nearly}"
        assert set(proof.assumptions) == AXIOMS


@needs_coq
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(a + b) mod 3", "(a + 2 * b) mod 3"),
        ("Nat.eqb a 0 && Nat.eqb b 0", "Nat.eqb a 0 && Nat.eqb b 1"),
        ("Definition g : Q := 471450", "Definition g : Q := 471451"),
        ("Definition g : Q := 471450", "Definition g : Q := 461450"),
        ("check_wrong T 0 0 0 g [0; 1; 1]%Z", "check_wrong T 0 0 0 g [0; 1; 2]%Z"),
        ("is_near T cert (999998 #", "is_near T cert (999999 #"),
        ("(5000000000000 * 999999) = true", "(5000000000000 * 999998) = true"),
        ("least T ((1 - 1 / 1000000) * M)", "least T ((1 - 1 / 999999) * M)"),
    ],
)
def test_other_claims_are_refused(old, new, tmp_path_factory, tmp_path):
    with pytest.raises(CoqRefusalError):
        proved("Three", tmp_path_factory.getbasetemp(), tmp_path, old, new)


def test_the_statement_on_seven():
    """Coq takes half a minute on one core to prove it: here its claim is read."""
    text = (CELLS / "Seven.v").read_text()
    assert "Table 7 7 7 (filter (fun cell => negb (is_corner cell)) sums)" in text
    assert "normalized_margin_at_least T (Q2R g) net -> right_at T 0 0 0 net" in text
