"""Wrong numbers planted in the checker of Checker.v: the proofs of its soundness no longer go through.

A theorem guards itself, so a few faults are planted at quick effort and all of them at full effort (3 s each).
"""

import subprocess
from pathlib import Path

from lemmata.certificates.coq.compiler import THEORY
from lemmata.theorems.plugin import Effort
from tests.certificates.coq.theory import compiled, needs_coq

FAULTS = (
    ("<=? m - l * l then factors", "<=? m then factors"),
    ("(m - l * l - e ::", "(m - l * l ::"),
    ("scaled (-2 * f)", "scaled (-1 * f)"),
    ("(m ++ n, 2 * c)", "(m ++ n, c)"),
    ("(m ++ m, c) ::", "(m ++ m, 2 * c) ::"),
    ("beta T], 6)] b", "beta T], 3)] b"),
    ("beta T], 3)] (", "beta T], 2)] ("),
    ("(indicator y k - indicator c k)", "(indicator y k + indicator c k)"),
    ("(proof_t p / 2)", "(proof_t p / 1)"),
    ("(4 # 27) *", "(4 # 28) *"),
    ("&& forallb (Z.leb 0) l &&", "&&"),
    ("(Zneg (part_denominator p), (a, b, y, c))", "(Zpos (part_denominator p), (a, b, y, c))"),
    ("if m =? 0 then if all_zero row then", "if m =? 0 then if true then"),
    ("(forallb (fun x => x mod Zpos last =? 0))", "(forallb (fun x => true))"),
    ("(Zneg _ :: _) :: _, _ => false", "(Zneg _ :: _) :: _, _ => true"),
    ("  if forallb (in_table T) (map snd l)\n", "  if true\n"),
    ("Nat.leb (labels T) 3", "Nat.leb (labels T) 4"),
    ("(filter (fun c => negb (Nat.eqb c y)) (seq 0 (labels T))))\n    (given", "(seq 0 (labels T)))\n    (given"),
    ("(rev ms)) ++ scaled (-1)", "(rev ms)) ++ scaled 1"),
    ("Qnum (proof_t_prime p) * dt * d", "Qnum (proof_t_prime p) * dt' * d"),
    ("Qnum (proof_t p) * dt' * d * Zpos unit", "Qnum (proof_t p) * dt' * d"),
    ("if c =? 0 then cancels n d rest else false", "cancels n d rest"),
    ("if Nat.eqb i j then same m' n' else false", "same m' n'"),
    ("Degree6 => poly_product (x2 T) bracket", "Degree6 => poly_product (z2 T) bracket"),
    ("(Z.to_pos (total weights) * part_denominator p)", "(part_denominator p)"),
    ("(Z.to_pos (total (multipliers cert))) (upper", "(Z.to_pos (1 + total (multipliers cert))) (upper"),
)


def first_refused(folder: Path, names: tuple[str, ...] = ("Checker", "Sound", "Unseen")) -> str | None:
    """The first of the files that Coq does not accept."""
    for name in names:
        command = ["coqc", "-Q", ".", "Lemmata", f"{name}.v"]
        if subprocess.run(command, cwd=folder, capture_output=True).returncode:
            return name
    return None


@needs_coq
def test_no_proof_of_a_wrong_checker(tmp_path_factory, tmp_path, effort: Effort):
    theory = compiled(tmp_path_factory.getbasetemp())
    text = (THEORY / "Checker.v").read_text()
    for name in ("Statement.v", "Statement.vo", "Sound.v", "Unseen.v"):
        (tmp_path / name).write_bytes((theory / name).read_bytes())
    for old, new in FAULTS[: effort.pick(quick=2, full=len(FAULTS))]:
        assert text.count(old) == 1, old
        (tmp_path / "Checker.v").write_text(text.replace(old, new))
        assert first_refused(tmp_path) in ("Sound", "Unseen"), old
