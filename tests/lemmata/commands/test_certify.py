"""`lemmata certify`: what it prints, and with which exit code."""

import json
import os
from dataclasses import replace
from fractions import Fraction
from math import factorial, sqrt
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import lemmata
from lemmata.certificates import kernel
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.saddle.attainment import attained_margin
from lemmata.cli import app
from lemmata.commands import certify
from lemmata.constructions.networks.files import load_npz
from lemmata.constructions.networks.inputs import group_blocks
from lemmata.numerics.margins.evaluation import group_margins
from tests.certificates.documents import enclosing_document
from tests.lemmata.commands.runner import run


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
    assert "1b and 1g 2 complex 1/3 0.3333333333" in output
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
    assert "2a 4 quaternionic 8/11" in output


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
    result = CliRunner().invoke(app, ["certify", group])
    assert result.exit_code == 0
    assert (
        max(len(line.rstrip()) for line in result.stdout.splitlines() if "evaluate" not in line and " = " not in line)
        <= 80
    )
    assert "\x1b" not in result.stdout


def test_json():
    result = CliRunner().invoke(app, ["certify", "Q8", "--json", "--digits", "40"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["group"] == {"name": "Q8", "order": 8, "degree": 8, "classes": 5}
    assert found["grade"] == "exact"
    assert found["margin"]["exact"] == "1/(33*sqrt(6))"
    lower, upper = Fraction(found["margin"]["lower"]), Fraction(found["margin"]["upper"])
    assert lower**2 < Fraction(1, 33**2 * 6) < upper**2
    assert upper - lower == Fraction(1, 10**41)
    assert len(found["margin"]["lower"].lstrip("0.")) == 40
    sizes = [(row["dimension"], row["degree"], row["indicator"]) for row in found["irreps"]]
    assert sizes == [(1, 1, 1), (1, 1, 1), (1, 1, 1), (4, 2, -1)]
    assert found["network"]["neurons"] == 38
    assert abs(found["network"]["margin"] - float(lower)) <= found["network"]["rounding"]


def test_the_readme_shows_the_true_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["certify", "S3", "--out", "s3.json"])
    printed = "\n".join(line.rstrip() for line in result.stdout.splitlines())
    readme = (Path(lemmata.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    exact, _, numeric = printed.partition("; ")  # what follows are rounding errors, which may differ elsewhere
    assert f"$ .venv/bin/lemmata certify S3 --out s3.json\n{exact}; " in readme
    assert numeric.splitlines()[-1] in readme
    assert run("check", "s3.json")[1] in " ".join(readme.split())


@pytest.mark.parametrize("option", ["--out", "--network"])
@pytest.mark.parametrize(("name", "words"), [("", "is a directory; name a file."), ("a/b", "does not exist.")])
def test_a_destination_is_refused_before_the_work(tmp_path, monkeypatch, option, name, words):
    monkeypatch.setattr("lemmata.commands.certify.certify_group", lambda *_, **__: pytest.fail("the work has begun"))
    code, _, error = run("certify", "S3", option, str(tmp_path / name))
    assert code == 2
    assert words in " ".join(error.split())


def test_a_file_beyond_the_limits_of_the_kernel_is_written_with_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "MAX_ORDER", 5)
    code, output, error = run("certify", "S3", "--out", str(tmp_path / "s3.json"))
    assert code == 0
    assert "written to" in output
    assert "kernel not checked: group.order must be an integer from 2 to 5" in output
    assert "note: the certificate will not be checked: the kernel checks groups of order up to 5" in error


def test_the_kernel_judges_what_is_printed(tmp_path, monkeypatch):
    """A document with a false value is neither printed nor written; the true one of Z_2 is 2 * 12!/26^(13/2)."""
    code, output, _ = run("certify", "Z2", "--factors", "12")
    assert code == 0
    assert "at least 0.608191292354109958994939123765" in output
    assert "kernel valid" in output
    true = certify.document_of

    def false(certificate, digits):
        document = true(certificate, digits)
        document["margin"]["lower"] = document["margin"]["lower"].replace("9", "8")
        return document

    monkeypatch.setattr(certify, "document_of", false)
    code, output, error = run("certify", "S3", "--out", str(tmp_path / "s3.json"))
    assert code == 2
    assert output == ""
    assert "The kernel refuses the certificate that was found, and nothing is claimed: margin.lower" in error
    assert list(tmp_path.iterdir()) == []


def test_a_document_within_the_limits_that_the_kernel_cannot_read_is_an_error(tmp_path, monkeypatch):
    true = certify.document_of

    def malformed(certificate, digits):
        document = true(certificate, digits)
        document["characters"]["rows"][2]["scaled_mass"] = "2/6"
        return document

    monkeypatch.setattr(certify, "document_of", malformed)
    code, output, error = run("certify", "S3", "--out", str(tmp_path / "s3.json"))
    assert (code, output) == (2, "")
    assert "cannot read the certificate that was found, which is within its limits; nothing is claimed" in error
    assert "characters.rows[2].scaled_mass must be in lowest terms" in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("MAX_BYTES", 500),
        ("MAX_BRACKETS", 20),
        ("MAX_ORDER", 5),
        ("MAX_IMAGES", 17),
        ("MAX_PRODUCTS", 17),
        ("MAX_CLASSES", 2),
        ("MAX_GENERATORS", 1),
        ("MAX_FACTORS", 2),
        ("MAX_DIGITS", 20),
        ("MAX_SEPARATING", 1),
    ],
)
def test_a_document_beyond_any_limit_is_not_checked_and_says_so(limit, value, monkeypatch):
    monkeypatch.setattr(kernel, limit, value)
    code, output, _ = run("certify", "S3", "--factors", "3")
    assert code == 0
    assert "kernel not checked: " in output


@pytest.mark.parametrize(("limit", "value"), [("MAX_ROOT_ORDER", 6), ("MAX_COORDINATES", 342)])
def test_a_document_with_too_many_coordinates_is_not_checked_and_says_so(limit, value, monkeypatch):
    monkeypatch.setattr(kernel, limit, value)
    code, output, _ = run("certify", "Z7")
    assert code == 0
    assert "kernel not checked: characters.root_order must be an integer from 1 to 6" in output


def test_characters_without_a_common_field_are_refused_with_the_margin():
    code, output, error = run("certify", "PSL(2,61)")
    assert (code, output) == (2, "")
    assert "need roots of unity of order 28365, and the kernel reads orders up to 2000" in error
    assert "1.75050219111" in error
    assert "and is 1/(32710518*sqrt(305))" in error


def test_where_a_certificate_may_be_written(tmp_path):
    result = CliRunner().invoke(app, ["certify", "S3", "--out", "-"])
    assert result.exit_code == 0
    assert kernel.check(result.stdout_bytes).startswith('group of order 6 called "S3"')
    assert "maximum margin" in result.stderr
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "folder" / "s3.json")
    assert run("certify", "S3", "--out", str(tmp_path / "link.json"))[0] == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "folder" / "s3.json").read_bytes() == result.stdout_bytes
    assert run("certify", "S3", "--out", os.devnull)[0] == 0
    assert Path(os.devnull).is_char_device()
    for arguments, reason in ((("--out", "-", "--json"), "leave out --json"), (("--network", "-"), "is a binary file")):
        code, _, error = run("certify", "S3", *arguments)
        assert code == 2
        assert reason in error


def test_a_document_of_two_bounds_is_explained(tmp_path):
    file = tmp_path / "s3.json"
    file.write_bytes(dumps(enclosing_document("S3")))
    assert run("check", str(file))[0] == 0
    assert "grade enclosed" in run("explain", str(file))[1]


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
    assert name == "Q9" or "Names look like Z7, D4, S5" in error
    assert len(error) < 250


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
        ("S5", "--limit", "-5"),
        ("S3", "--out", "no/such/folder/s3.json"),
        ("S3", "--out", "."),
        ("S3", "--network", "s3.txt"),
        ("S3", "--network", "no/such/folder/s3.npz"),
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

    monkeypatch.setattr(certify, "attained_margin", short)
    code, output, _ = run("certify", "S3")
    assert code == 1
    assert "not attained" in output
    assert run("certify", "S3", "--json")[0] == 1
