"""The theorems on groups compile, rest on no axioms but those of the real numbers, and their constants matter."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

THEORY = Path(__file__).parents[3] / "certificates" / "coq"
FILES = (
    "Statement",
    "Below",
    "Sums",
    "Convolution",
    "Groups",
    "EveryGroup",
    "Representations",
    "Attain",
    "Schur",
    "Universal",
    "Cyclic",
)
THEOREMS = (
    "EveryGroup.every_group",
    "Representations.upper_side",
    "Attain.lower_side",
    "Schur.schur",
    "Universal.universal",
    "Universal.game_value",
    "Universal.closed_form",
    "Cyclic.addition",
    "Cyclic.even_addition",
)
CLAIMS = """
From Coq Require Import Reals Arith.
From Lemmata Require Import Statement Groups EveryGroup Cyclic.
Open Scope R_scope.

Goal forall n, (3 <= n)%nat -> Nat.odd n = true ->
  let table := group_table (Group n (fun a b => (a + b) mod n)%nat O (fun a => (n - a) mod n)%nat) in
  let value := sqrt (2 / 27) / (sqrt (INR n) * (INR n - 1)) in
  (exists net, 0 < norm3 table net /\\ margin_at_least table (value * norm3 table net) net) /\\
  (forall net g, normalized_margin_at_least table g net -> g <= value).
Proof. exact addition. Qed.

Goal forall n, (2 <= n)%nat -> Nat.even n = true ->
  let table := group_table (Group n (fun a b => (a + b) mod n)%nat O (fun a => (n - a) mod n)%nat) in
  let value := 2 / (3 * INR n * sqrt (3 * INR n)) * (INR n / (sqrt 2 * (INR n - 2) + 1)) in
  maximum_margin_between table value value.
Proof. exact even_addition. Qed.

Goal forall G, is_group G -> (2 <= order G)%nat ->
  forall net g, normalized_margin_at_least (group_table G) g net ->
  g <= 2 / (3 * INR (order G) * sqrt (3 * INR (order G))) * (INR (order G) / (INR (order G) - 1)).
Proof. exact every_group. Qed.
"""
AXIOMS_OF_THE_REALS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
COQC = shutil.which("coqc")

pytestmark = pytest.mark.skipif(COQC is None, reason="The command coqc of Coq 8.16 is not installed.")


def compiled(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """What coqc says about the file of a name in a folder."""
    command = [COQC or "coqc", "-R", ".", "Lemmata", f"{name}.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def theory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled files on groups."""
    folder = tmp_path_factory.mktemp("theory")
    for name in FILES:
        shutil.copy(THEORY / f"{name}.v", folder)
        result = compiled(folder, name)
        assert result.returncode == 0, result.stderr
    return folder


def test_nothing_is_admitted():
    for name in FILES:
        words = re.findall(r"\w+", (THEORY / f"{name}.v").read_text())
        assert not {"Admitted", "admit", "Axiom", "Parameter", "Conjecture"} & set(words), name


def test_only_the_axioms_of_the_reals_are_used(theory: Path):
    """Coq prints the assumptions of each theorem in turn."""
    files = " ".join(dict.fromkeys(theorem.split(".")[0] for theorem in THEOREMS))
    question = f"From Lemmata Require {files}.\n" + "".join(f"Print Assumptions {theorem}.\n" for theorem in THEOREMS)
    (theory / "Ask.v").write_text(question)
    result = compiled(theory, "Ask")
    assert result.returncode == 0, result.stderr
    answers = result.stdout.split("Axioms:")[1:]
    assert len(answers) == len(THEOREMS)
    for theorem, answer in zip(THEOREMS, answers, strict=True):
        used = set(re.findall(r"^(\S+)\s*:", answer, re.M))
        assert used, theorem
        assert used <= AXIOMS_OF_THE_REALS, theorem


def test_the_theorems_say_so(theory: Path):
    """The statements in full, with the constants that the theorems abbreviate."""
    (theory / "Claims.v").write_text(CLAIMS)
    result = compiled(theory, "Claims")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("Convolution", "INR m * frobenius d (times d U V) <=", "INR (S m) * frobenius d (times d U V) <="),
        ("Attain", "= 4 * x ^ 3 * character r", "= 5 * x ^ 3 * character r"),
        (
            "Schur",
            "  INR n / INR (d t) * sum (m t) (fun q => J t q i k",
            "  INR n / INR (m t) * sum (m t) (fun q => J t q i k",
        ),
    ],
)
def test_another_constant_is_not_proved(theory: Path, tmp_path: Path, name: str, right: str, wrong: str):
    shutil.copytree(theory, tmp_path, dirs_exist_ok=True)
    text = (THEORY / f"{name}.v").read_text()
    assert text.count(right) == 1
    (tmp_path / f"{name}.v").write_text(text.replace(right, wrong))
    result = compiled(tmp_path, name)
    assert result.returncode == 1, name
    assert "Error" in result.stderr
