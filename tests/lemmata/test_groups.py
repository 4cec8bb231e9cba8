"""The command line: what it prints, for whom, and with which exit code."""

import json
from dataclasses import replace
from fractions import Fraction
from math import factorial, sqrt
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from certificates import kernel
from certificates.characters.tables import characters_of
from certificates.game.enclosure import enclose
from certificates.game.rational import RationalGame
from certificates.groups.certify import certify_group
from certificates.saddle.attainment import attained_margin
from certificates.saddle.parity import certify_parity
from constructions.networks.files import load_npz
from constructions.networks.inputs import group_blocks
from constructions.representations.orthogonal import real_irreps
from lemmata import cli
from numerics.groups.tables import (
    FiniteGroup,
    alternating,
    dihedral,
    direct_product,
    elementary_abelian,
    relabel,
    symmetric,
)
from numerics.margins.evaluation import group_margins


def run(*arguments: str) -> tuple[int, str, str]:
    """Return the exit code, standard output and standard error, with runs of blanks and line breaks as one blank."""
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, " ".join(result.stdout.split()), " ".join(result.stderr.split())


def test_certify_modular_addition():
    code, output, error = run("certify", "Z7")
    assert code == 0
    assert error == ""
    assert "Z7: the product (a, b) -> ab in a group of order 7" in output
    assert "norm L_{2,3}" in output
    gamma = sqrt(Fraction(2, 27 * 7 * 6**2))  # theorem 7.7
    assert "maximum margin 1/(9*sqrt(42)) at least 0.0171448166624546566956771625293" in output
    assert f"{gamma:.12g}" == "0.0171448166625"
    assert "grade exact" in output
    assert "from the weights of 18 explicit neurons on all 49 inputs" in output
    assert "attained" in output
    assert "not attained" not in output
    assert "1b and 1g 1 complex 1/3 0.3333333333" in output
    assert "7A and 7F (1,2,3,4,5,6,7) 2 1/3 0.3333333333 1" in output


def test_certify_symmetric_group_names_classes_by_cycles():
    code, output, _ = run("certify", "S3")
    assert code == 0
    # closed form of theorem 7.9: gamma* = 2 / (3 sqrt(3 n) S) with S = 1 + 2^(5/2)
    assert f"{2 / (3 * sqrt(18) * (1 + 2**2.5)):.12f}"[:-1] in output
    assert "3A (1,2,3) 2 34/31 - 12/31*sqrt(2)" in output
    assert "2A (2,3) 3 -3/31 + 12/31*sqrt(2)" in output
    assert "2a 2 real 32/31 - 4/31*sqrt(2)" in output
    assert "Closed form: holds" in output
    assert "Optimal masses: unique." in output


def test_a_quaternionic_representation_is_said_to_be_so():
    code, output, _ = run("certify", "Q8")
    assert code == 0
    assert "maximum margin 1/(33*sqrt(6))" in output
    assert "2a 2 quaternionic 8/11" in output


def test_a_group_where_the_closed_form_fails():
    code, output, _ = run("certify", "PSL(2,7)")
    assert code == 0
    assert "Closed form: fails. The condition sum is positive at 7A and 7B" in output
    assert "7A and 7B (2,3,4,5,6,7,8) 48" in output
    assert "7/6" in output  # the margin at these labels
    assert "some optimal network uses: 3a, 6a, 7a." in output
    assert "not evaluated (order above 120; raise it with --evaluate)" in output


def test_a_group_with_many_optima_says_so():
    _, output, _ = run("certify", "S6")
    assert "Optimal masses: not unique, a polytope of dimension" in output


def test_a_group_from_permutations_and_one_from_a_table(tmp_path):
    code, output, _ = run("certify", "perm:(1,2,3)(4,5);(1,2)")
    assert code == 0
    assert "a group of order 12" in output
    table = tmp_path / "klein.csv"
    table.write_text("0,1,2,3\n1,0,3,2\n2,3,0,1\n3,2,1,0\n")
    code, output, _ = run("certify", f"table:{table}")
    assert code == 0
    assert "maximum margin 1/(9*sqrt(3))" in output


def test_more_factors():
    code, output, _ = run("certify", "Z2", "--factors", "5")
    assert code == 0
    gamma = factorial(5) * 2.0 ** ((1 - 5) / 2) * 6.0 ** (-6 / 2)  # k! 2^((1-k)/2) (k+1)^(-(k+1)/2)
    assert f"at least {gamma:.9f}"[:-1] in output
    assert "(a_1, .., a_5) -> a_1 ... a_5" in output
    assert "on all 32 inputs" in output


def test_long_tables_put_equal_neighbours_on_one_line():
    code, output, _ = run("certify", "Z2^4")
    assert code == 0
    assert "1b, .., 1p (15 rows, each) 1 real 1/15 0.06666666667" in output
    assert "1c " not in output


@pytest.mark.parametrize("group", ["Z30", "S5", "2-^(1+4)", "M11", "He5", "Z2^6"])
def test_reports_fit_into_80_columns_without_colours(group):
    result = CliRunner().invoke(cli.app, ["certify", group])
    assert result.exit_code == 0
    assert max(len(line.rstrip()) for line in result.stdout.splitlines() if "evaluate" not in line) <= 80
    assert "\x1b" not in result.stdout


def test_json():
    result = CliRunner().invoke(cli.app, ["certify", "Q8", "--json", "--digits", "40"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["group"] == {"name": "Q8", "order": 8, "degree": 8, "classes": 5}
    assert found["grade"] == "exact"
    assert found["margin"]["exact"] == "1/(33*sqrt(6))"
    lower, upper = Fraction(found["margin"]["lower"]), Fraction(found["margin"]["upper"])
    assert lower**2 < Fraction(1, 33**2 * 6) < upper**2
    assert upper - lower == Fraction(1, 10**41)
    assert len(found["margin"]["lower"].lstrip("0.")) == 40
    assert found["network"]["neurons"] == 38
    assert abs(found["network"]["margin"] - float(lower)) <= found["network"]["rounding"]


def test_a_certificate_is_written_checked_and_explained(tmp_path):
    file = tmp_path / "a5.json"
    code, output, _ = run("certify", "A5", "--out", str(file))
    assert code == 0
    assert "lemmata check" in output
    code, checked, _ = run("check", str(file))
    assert code == 0
    assert "valid: group of order 60 called A5" in checked
    code, explained, _ = run("explain", str(file))
    assert code == 0
    assert "some optimal network uses: 3a, 3b, 4a." in explained
    assert "Classes on the margin of every optimal network: 3A, 5A, 5B." in explained
    assert "1.034221197 times the closed form" in explained
    report = output.partition("Network attains")[0]
    assert explained.startswith(report)


def test_the_readme_shows_the_true_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli.app, ["certify", "S3", "--out", "s3.json"])
    printed = "\n".join(line.rstrip() for line in result.stdout.splitlines())
    readme = (Path(cli.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    exact, _, numeric = printed.partition("; ")  # what follows are rounding errors, which may differ elsewhere
    assert f"$ .venv/bin/lemmata certify S3 --out s3.json\n{exact}; " in readme
    assert numeric.splitlines()[-1] in readme
    assert run("check", "s3.json")[1] in " ".join(readme.split())


def test_a_file_beyond_the_limits_of_the_kernel_is_written_with_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "MAX_ORDER", 5)
    code, output, error = run("certify", "S3", "--out", str(tmp_path / "s3.json"))
    assert code == 0
    assert "written to" in output
    assert "note: the kernel refuses so large a file: group.order must be an integer from 2 to 5" in error


def tampered(file, change):
    document = json.loads(file.read_bytes())
    change(document)
    file.write_text(json.dumps(document))


def test_false_and_malformed_files(tmp_path):
    good, false, broken = (tmp_path / name for name in ("good.json", "false.json", "broken.json"))
    for file in (good, false):
        run("certify", "S3", "--out", str(file))
    tampered(false, lambda document: document["classes"][1].update(size=2))
    broken.write_text("{")
    assert run("check", str(good), str(false))[0] == 1
    code, output, _ = run("check", str(good), str(false), str(broken), str(tmp_path / "none.json"))
    assert code == 2
    assert "good.json: valid: " in output
    assert "false.json: invalid: classes[1].size: the class has 3 elements" in output
    assert "broken.json: malformed: " in output
    assert "none.json: malformed: No such file" in output
    code, output, _ = run("explain", str(false))
    assert code == 1
    assert "invalid: classes[1].size" in output
    code, output, error = run("explain", str(broken))
    assert (code, output) == (2, "")
    assert "is no certificate" in error
    assert run("explain", str(tmp_path / "none.json"))[0] == 2


def test_an_enclosed_certificate_says_so(tmp_path, monkeypatch):
    def enclosed(group, factors):
        exact = certify_group(group, factors)
        bounds = enclose(RationalGame(exact.table, factors))
        return replace(exact, solution=None, margin=None, faces=None, bounds=bounds, obstacle="a test")

    monkeypatch.setattr(cli, "certify_group", enclosed)
    file = tmp_path / "s3.json"
    code, output, _ = run("certify", "S3", "--out", str(file))
    assert code == 0
    assert "grade enclosed (proved from both sides)" in output
    assert "Uniqueness: undecided" in output
    assert "maximum margin at least 0.02360496931049" in output
    assert "not evaluated (the optimal masses are enclosed, not exact)" in output
    assert run("check", str(file))[0] == 0
    assert "grade enclosed" in run("explain", str(file))[1]
    assert run("certify", "S3", "--network", str(tmp_path / "s3.npz"))[0] == 2


def test_the_network_is_written(tmp_path):
    file = tmp_path / "d4.npz"
    code, output, _ = run("certify", "D4", "--network", str(file))
    assert code == 0
    assert "Network written to" in output
    network = load_npz(file)
    with np.load(file) as arrays:
        table = arrays["table"]
    margin = group_margins(*group_blocks(network), table, network.masses).minimum * network.scale
    assert margin == pytest.approx(0.015719, abs=1e-6)


@pytest.mark.parametrize("name", ["Q9", "Z", "S33x", "[red]"])
def test_other_names_are_refused_with_the_accepted_ones(name):
    code, output, error = run("certify", name)
    assert code == 2
    assert output == ""
    assert repr(name.rstrip("x"))[:-1] in error
    assert name == "Q9" or "Accepted: Zn or Cn" in error


def test_a_huge_order_says_the_limit_and_how_to_raise_it():
    code, output, error = run("certify", "S12")
    assert (code, output) == (2, "")
    assert "order 479001600, above the limit of 1000000" in error
    assert "--limit" in error
    assert run("certify", "S5", "--limit", "100")[0] == 2
    assert run("certify", "perm:(1,2,3,4,5,6,7,8,9,10,11,12);(1,2)")[2].count("--limit") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("Z1",),
        ("S3", "--factors", "1"),
        ("S3", "--digits", "0"),
        ("S3", "--out", "no/such/folder/s3.json"),
        ("S3", "--out", "."),
        ("S3", "--network", "s3.txt"),
        ("table:none.csv",),
        ("perm:(1,2",),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output, error = run("certify", *arguments)
    assert (code, output) == (2, "")
    assert error
    assert not list(tmp_path.iterdir())


def test_a_network_that_misses_the_maximum_is_noticed(monkeypatch):
    def short(network, group):
        attainment = attained_margin(network, group)
        return replace(attainment, margin=attainment.margin * (1 - 1e-9))

    monkeypatch.setattr(cli, "attained_margin", short)
    code, output, _ = run("certify", "S3")
    assert code == 1
    assert "not attained" in output
    assert run("certify", "S3", "--json")[0] == 1


def test_path():
    code, output, _ = run("path", "S3", "--lambda", "1e-7", "--lambda", "1/20")
    assert code == 0
    assert "1e-07 6.327456636e-05" in output
    assert "0.98048531 2 of 2" in output
    assert "0.05 1.791759469" in output  # log 6: the zero network
    assert "0 - 0 of 2" in output
    code, output, error = run("path", "S3", "--lambda", "many")
    assert (code, output) == (2, "")
    assert "'many'" in error
    assert run("path", "S3", "--lambda", "-1")[0] == 2


def test_ledger():
    code, output, _ = run("ledger", "--chapter", "feature-emergence", "--verdict", "holds")
    assert code == 0
    assert "feature-emergence:theorem-7.7 holds Modular addition" in output
    assert "turing:" not in output
    assert "open" not in output.split()
    assert "525 statements" in run("ledger")[1]
    code, output, error = run("ledger", "--chapter", "nowhere")
    assert (code, output) == (2, "")
    assert "turing" in error
    code, output, error = run("ledger", "--verdict", "maybe")
    assert (code, output) == (2, "")
    assert "repaired" in error


def test_a_rejected_certificate_says_why(monkeypatch):
    certificate = certify_parity(3, 2)
    verdict = replace(certificate.verdict, violations=("(P) the smallest margin falls short",))
    monkeypatch.setattr(cli, "certify_parity", lambda n, k, exact: replace(certificate, verdict=verdict))
    code, output, _ = run("parity", "3", "2")
    assert code == 1
    assert "rejected: (P) the smallest margin falls short" in output
    assert "accepted" not in output


def test_parity():
    code, output, _ = run("parity", "4", "3")
    assert code == 0
    assert "Parity of the first 3 of 4 bits" in output
    assert "norm L_{2,4}" in output
    squared = Fraction(2 * 6**2, 4**4)  # theorem 7.8: 2 (k!)^2 / (k+1)^(k+1)
    assert f"gamma*^2 {squared} {float(squared):.12g}" in output
    assert "gap 0 exactly" in output


def test_parity_of_many_bits_is_evaluated_in_floating_point():
    code, output, _ = run("parity", str(cli.LARGEST_EXACT_PARITY + 1), "2")
    assert code == 0
    assert "every input, floating-point" in output


@pytest.mark.parametrize(
    ("n", "k", "reason"),
    [("3", "5", "k = 5 and n = 3"), ("3", "0", "k = 0 and n = 3"), ("17", "2", "N = 17 exceeds 16")],
)
def test_parities_out_of_range_are_refused(n, k, reason):
    code, output, error = run("parity", n, k)
    assert code == 2
    assert output == ""
    assert reason in error


def test_show_one_statement():
    code, output, _ = run("show", "feature-emergence:theorem-7.7")
    assert code == 0
    assert output.startswith("feature-emergence:theorem-7.7 Modular addition")
    assert "verdict" in output
    assert "Edelman" in output
    assert output.count("feature-emergence:") == 1


def test_show_prints_an_erratum_with_brackets_as_it_is():
    _, output, _ = run("show", "feature-emergence:construction-D.4")
    assert "terms with 1[k = r(i,j)]/4" in output
    assert "corrected 2 n^2 neurons, terms with 1[k = r(a,b)]/4" in output


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


def test_help_names_the_commands_and_the_groups():
    code, output, _ = run("--help")
    assert code == 0
    commands = ("certify", "check", "explain", "sweep", "path", "parity", "show", "ledger")
    assert all(command in output for command in commands)


def class_names(group: FiniteGroup) -> tuple[str, ...]:
    return characters_of(group, real_irreps(group, exact=True)).class_names


@pytest.mark.parametrize(
    ("group", "names"),
    [
        (symmetric(4), ("e", "(1 2)(3 4)", "(3 4)", "(1 2 3 4)", "(2 3 4)")),
        (alternating(5), ("e", "(1 2 3 4 5)", "(1 2 3 5 4)", "(2 3)(4 5)", "(3 4 5)")),
        (dihedral(4), ("e", "r^2", "r", "t", "r t")),
        (elementary_abelian(2), ("00", "10", "01", "11")),
        (direct_product(elementary_abelian(1), symmetric(3)),
         ("(0, e)", "(1, e)", "(0, (1 2 3))", "(1, (1 2 3))", "(0, (2 3))", "(1, (2 3))")),
    ],
)  # fmt: skip
def test_classes_are_named_as_a_mathematician_would(group, names):
    assert class_names(group) == names


def test_classes_of_a_group_of_unknown_family_keep_their_labels():
    irreps = real_irreps(symmetric(3), exact=True)
    group = relabel(symmetric(3), range(6))
    moved = [replace(irrep, group=group) for irrep in irreps]
    assert characters_of(group, moved).class_names == ("(0, 1, 2)", "(1, 2, 0)", "(0, 2, 1)")
