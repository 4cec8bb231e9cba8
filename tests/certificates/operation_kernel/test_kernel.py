"""The kernel of operations: what it accepts, what it refuses, and what it imports."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lemmata.certificates import operation_kernel
from tests.certificates.operation_documents import at, margin_certificate, parity_document, unseen_document, verdict
from tests.certificates.operation_kernel.corpus import each_leaf

PROGRAM = Path(operation_kernel.__file__)


def test_addition_mod_2_has_the_margin_of_the_group_of_order_2():
    status, line = verdict(parity_document())
    assert (status, line) == (
        0,
        'table of 2 rows, 2 columns and 2 labels called "addition mod 2", '
        "maximum margin from 0.272165526975 to 0.272165526976 (exact)",
    )


def test_a_name_ends_where_it_ends():
    document = parity_document()
    document["table"]["name"] = 'Z2", maximum margin from 9 to 9 (exact)'
    assert verdict(document)[1].startswith(
        r'table of 2 rows, 2 columns and 2 labels called "Z2\", maximum margin from 9 to 9 (exact)",'
    )


def test_the_exact_margin_may_be_claimed_less_sharply():
    document = parity_document()
    document["margin"]["exact"], document["grade"], document["gap"] = None, "enclosed", "3.7e-12"
    assert verdict(document)[1].endswith("maximum margin from 0.272165526975 to 0.272165526976 (enclosed)")


def test_a_lower_bound_of_zero_claims_nothing():
    document = parity_document()
    document["margin"] |= {"lower": "0.2", "upper": "0.3"}
    assert verdict(document)[0] == 0
    document["margin"] |= {"lower": "0", "upper": "1"}
    assert verdict(document) == (1, "margin.lower: is not the closest decimal")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "right",
            'table of 2 rows, 2 columns and 3 labels called "addition mod 2", 3 cells given, '
            "margin at least 1 - 1/1000 "
            "of the maximum: every network with at least that margin is right at cell (1, 1), label 0",
        ),
        (
            "wrong",
            'table of 3 rows, 3 columns and 3 labels called "addition mod 3", 8 cells given, '
            "margin at least 1 - 1/1000 "
            "of the maximum: every network with at least that margin is wrong at cell (2, 2), label 1",
        ),
        (
            "both",
            'table of 3 rows, 3 columns and 3 labels called "addition mod 3", 8 cells given, '
            "margin at least 1 - 1/2 of "
            "the maximum: two networks with at least that margin are shown, of which one is right and one is wrong at "
            "cell (2, 2), label 1",
        ),
    ],
)
def test_unseen_cells(name, line):
    assert verdict(unseen_document(name)) == (0, line)


@pytest.mark.parametrize("name", ["degree 4", "degree 6"])
def test_coefficients_are_equal_and_not_only_bounded(name):
    """A larger matrix is positive as well, but proves another inequality."""
    document = margin_certificate(name)
    assert verdict(document)[0] == 0
    document["proof"]["matrix"][-1][-1] += 1
    status, line = verdict(document)
    assert status == 1
    assert line.startswith("proof.matrix: the coefficient of the variables")


def test_every_number_counts():
    listed = list(each_leaf(parity_document()))
    assert len(listed) > 500
    for path, other, forged in listed:
        harmless = path == ("table", "name") and isinstance(other, str)
        assert (verdict(forged)[0] == 0) == harmless, (path, other)


@pytest.mark.parametrize("part", [(), ("table",), ("network",), ("proof",), ("margin",)])
def test_keys_are_neither_missing_nor_unknown(part):
    for key in at(parity_document(), part):
        document = parity_document()
        del at(document, part)[key]
        assert verdict(document)[0] == 2
    document = parity_document()
    at(document, part)["more"] = 1
    assert verdict(document)[0] == 2


def test_it_runs_alone_and_says_what_it_found(tmp_path):
    good, bad, none = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "none.json"
    document = parity_document()
    good.write_text(json.dumps(document))
    document["proof"]["t"], document["proof"]["t_prime"] = "999999/1000000", "999999/2000000"
    bad.write_text(json.dumps(document))
    none.write_text("[]")
    program = tmp_path / PROGRAM.name
    for name in (PROGRAM.name, "kernel.py"):  # nothing else of this project is there
        shutil.copy(PROGRAM.with_name(name), tmp_path)
    runs = [
        subprocess.run([sys.executable, "-IS", str(program), *map(str, files)], capture_output=True, text=True, cwd="/")
        for files in ([good], [good, bad], [bad, none], [])
    ]
    assert [run.returncode for run in runs] == [0, 1, 2, 2]
    assert runs[0].stdout.startswith(f"{good}: valid: table of 2 rows")
    assert "invalid: proof.matrix[0][0]: is not that of tI + A" in runs[1].stdout
    assert "malformed: format must be lemmata/operation-margin or lemmata/unseen-cell" in runs[2].stdout
    assert runs[3].stdout == "usage: python -I operation_kernel.py FILE...\n"


def test_it_imports_the_standard_library_and_the_kernel_of_groups_alone():
    modules = set()
    for node in ast.walk(ast.parse(PROGRAM.read_text())):
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module)
    assert {module for module in modules if module.split(".")[0] not in sys.stdlib_module_names} == {
        "kernel",
        "lemmata.certificates",
        "lemmata.certificates.kernel",
    }


def test_the_example_of_the_format_is_the_document_written_by_hand():
    text = PROGRAM.with_name("OPERATION_FORMAT.md").read_text()
    _, _, rest = text.partition("```json\n")
    assert json.loads(rest.partition("```")[0]) == parity_document()
