"""The kernel of algebraic margins: what it says, that it stands alone, and that its numbers agree with other ones."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest

from lemmata.certificates import algebraic_kernel, kernel
from lemmata.certificates.atlas.committed import atlas_document, atlas_rows
from lemmata.certificates.operations.radicals import margin_in_radicals
from tests.certificates.algebraic_kernel.corpus import with_square, with_value
from tests.certificates.algebraic_kernel.documents import document, verdict

ROWS = list(atlas_rows("exact"))


def test_the_program_reads_files_alone(tmp_path):
    files = {"good": document("00/01"), "bad": with_square(document("00/01"), -1), "odd": {"format": 1}}
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value))
    command = [sys.executable, "-I", algebraic_kernel.__file__, *(str(tmp_path / name) for name in files)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 2
    good, bad, odd = process.stdout.splitlines()
    assert good.endswith(
        'good: valid: table of 2 rows, 2 columns and 2 labels called "00/01", maximum margin from 0.291706132643 to '
        "0.291706132644, its square an exact zero of a polynomial of degree 2"
    )
    assert "bad: invalid: " in bad
    assert "odd: malformed: the document must be an object with exactly the keys" in odd


@pytest.mark.parametrize(
    ("path", "new", "says"),
    [
        ("field.low", "1", "field: f has no zero between low and low + 1"),
        ("proof.kernel.0.0", ["3", "0"], "proof.kernel[0]: is not in the kernel of the matrix"),
        ("proof.kernel", [], "proof.matrix: is not shown to be positive semidefinite"),
        ("proof.matrix.0.0", ["1", "0"], "proof.matrix: the coefficient of the variables (0, 0, 0, 0) is another one"),
        ("multipliers.denominator", "1", "multipliers: their sum is not 1"),
        ("network.masses.0", ["-1", "0"], "network.masses[0]: is not positive"),
        ("network.masses.0", ["1", "0"], "network: at cell (0, 0) and label 1 it is below the margin"),
        ("network.neurons.0.0", ["1", "0"], "network.neurons[0]: does not answer with the length of the best"),
        ("margin.exact", ["1", "0", "1"], "margin.exact: the square of the margin is no zero"),
        ("margin.lower", "0.291706132642", "margin: the decimals are not consecutive, or zero"),
    ],
)
def test_the_first_violated_line_is_printed(path, new, says):
    assert verdict(with_value(document("00/01"), path, new)) == (1, says)


def test_theta_has_to_be_the_only_zero():
    value = document("00/01")
    value["field"] = {"polynomial": ["6", "-5"], "low": "2", "bits": 0}  # 2 and 3
    assert verdict(value) == (1, "field: f has perhaps another zero between low and low + 1")


def test_another_zero_between_the_decimals_is_seen():
    value = document("00/01")
    exact = [int(c) for c in value["margin"]["exact"]]
    times = [1000 * a - 85 * b for a, b in zip([0, *exact], [*exact, 0], strict=True)]  # and .085 between .04 and .09
    value["margin"] = {"exact": [str(c) for c in times], "lower": "0.2", "upper": "0.3"}
    assert verdict(value) == (1, "margin.exact: has perhaps another zero between the squares of the decimals")


def test_exact_margins_lie_between_the_bounds_of_the_enclosures():
    """Which other code found: a network and a proof in integers (operation_kernel.py)."""
    enclosed = {row["key"]: row for name in ("operations", "tables", "latin") for row in atlas_rows(name)}
    assert len(ROWS) > 30
    for row in ROWS:
        other = enclosed[row["key"].removeprefix("exact-")]
        assert other["grade"] == "enclosed"
        assert Fraction(row["margin"][1]) > Fraction(other["margin"][0])
        assert Fraction(row["margin"][0]) < Fraction(other["margin"][1])


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("op:a+b:4", "small-4-1"),
        ("op:a+b:5", "small-5-1"),
        ("op:a-b:6", "small-6-2"),
        ("op:a-b:7", "small-7-1"),
        ("group:S3", "small-6-1"),
        ("latin:6:reduced:34", "small-6-1"),
    ],
)
def test_groups_have_the_margin_by_characters(name, group):
    """Exactly, by characters (kernel.py)."""
    rows = {row["key"]: row for row in atlas_rows("groups")}
    exact = next(row for row in ROWS if row["name"] == f"{name} exactly")
    assert rows[group]["grade"] == "exact"
    assert float(exact["margin"][0]) == pytest.approx(float(rows[group]["margin"][0]), rel=1e-11)


def test_all_documents_are_accepted(effort):
    """Quick: those of up to 30 kB."""
    for row in ROWS:
        if row["bytes"] < effort.pick(quick=30_000, full=10**9):
            algebraic_kernel.check(atlas_document(row))


def test_margins_in_radicals():
    assert margin_in_radicals([-1, 6], Fraction(0), Fraction(1)) == "1/6*sqrt(6)"
    assert margin_in_radicals([-4, 9], Fraction(0), Fraction(1)) == "2/3"
    assert margin_in_radicals([1, -4, 1], Fraction(0), Fraction(1)) == "sqrt(2-sqrt(3))"
    assert margin_in_radicals([1, -4, 1], Fraction(1), Fraction(2)) == "sqrt(2+sqrt(3))"
    assert margin_in_radicals([-1, 0, -2, 4], Fraction(0), Fraction(2)) == "root of 4*g^6-2*g^4-1"
    with pytest.raises(ValueError, match="no zero"):
        margin_in_radicals([3], Fraction(0), Fraction(1))


def test_text_that_is_no_document_is_malformed():
    with pytest.raises(kernel.MalformedError):
        algebraic_kernel.check(b"[]")
