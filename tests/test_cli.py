"""The command line: what it prints, for whom, and with which exit code."""

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import pytest
from typer.testing import CliRunner

from certificates.characters import characters_of
from certificates.groups import certify_cyclic
from certificates.names import ACCEPTED_NAMES
from constructions.representations import real_irreps
from lemmata import cli
from numerics.groups import FiniteGroup, alternating, dihedral, direct_product, elementary_abelian, relabel, symmetric


def run(*arguments: str) -> tuple[int, str, str]:
    """Return the exit code, standard output and standard error, with runs of blanks and line breaks as one blank."""
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, " ".join(result.stdout.split()), " ".join(result.stderr.split())


def test_certify_modular_addition():
    code, output, error = run("certify", "Z7")
    assert code == 0
    assert error == ""
    assert "group Z_7 of 7 elements" in output
    assert "norm L_{2,3}" in output
    squared = Fraction(2, 27 * 7 * 6**2)  # theorem 7.7
    assert f"gamma*^2 {squared} {float(squared):.12g}" in output
    assert f"maximum gamma* 1/378*sqrt(42) {sqrt(squared):.12g}" in output
    assert "network of 18 neurons, every input, exact" in output
    assert "gap 0 exactly" in output
    assert "chi_1 and conjugate 1 1/3" in output
    assert "accepted" in output
    assert "rejected" not in output


def test_certify_symmetric_group_names_classes_by_cycles():
    code, output, _ = run("certify", "S3")
    assert code == 0
    # closed form of theorem 7.9: gamma* = 2 / (3 sqrt(3 n) S) with S = 1 + 2^(5/2)
    assert f"{2 / (3 * sqrt(18) * (1 + 2**2.5)):.12g}" in output
    assert "(1 2 3) 2 34/31 - 12/31*sqrt(2)" in output
    assert "(2 3) 3 -3/31 + 12/31*sqrt(2)" in output
    assert "[2, 1] 2 32/31 - 4/31*sqrt(2)" in output


def test_mutually_inverse_classes_share_a_line_and_their_elements_are_counted():
    _, output, _ = run("certify", "Z4")
    assert "1 and 3 2 -2/7 + 4/7*sqrt(2)" in output
    assert "2 1 9/7 - 4/7*sqrt(2)" in output
    assert "chi_2 1 " in output


def test_floating_point_is_said_to_be_so():
    code, output, _ = run("certify", "D13")
    assert code == 0
    assert "every input, floating-point" in output
    assert "rounding error at most" in output
    assert "0 exactly" not in output


def test_long_tables_put_equal_neighbours_on_one_line():
    code, output, _ = run("certify", "Z2^4")
    assert code == 0
    assert "1000, .., 1111 (15 rows, each) 1 1/15 0.0666666666667" in output
    assert "0100" not in output


@pytest.mark.parametrize("name", ["Q8", "Z", "S33x", "[red]"])
def test_other_names_are_refused_with_the_accepted_ones(name):
    code, output, error = run("certify", name)
    assert code == 2
    assert output == ""
    assert repr(name) in error
    assert ACCEPTED_NAMES in error


@pytest.mark.parametrize("name", ["S6", "Z1", "D2", "A6"])
def test_sizes_out_of_range_are_refused(name):
    code, output, error = run("certify", name)
    assert code == 2
    assert output == ""
    assert error.startswith("error: ")


def test_a_rejected_certificate_says_why(monkeypatch):
    certificate = certify_cyclic(3)
    verdict = replace(certificate.verdict, violations=("(P) the smallest margin falls short",))
    monkeypatch.setattr(cli, "certify_named", lambda name: replace(certificate, verdict=verdict))
    code, output, _ = run("certify", "Z3")
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
    assert "printed 2 p^2 neurons, w = 1[k = r(i,j)]/4" in output
    assert "corrected 2 n^2 neurons, w = 1[k = r(a,b)]/4" in output


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
    assert all(command in output for command in ("certify", "parity", "show", "A5"))


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
