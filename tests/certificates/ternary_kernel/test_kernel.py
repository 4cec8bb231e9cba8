"""The kernel of three arguments, and all kernels as programs that need nothing but Python."""

import json
import subprocess
import sys

import pytest

from lemmata.certificates import algebraic_kernel, operation_kernel, solution_kernel, ternary_kernel
from tests.certificates.algebraic_kernel.documents import document as algebraic_document
from tests.certificates.kernel_mutants import run
from tests.certificates.operation_documents import parity_document
from tests.certificates.solution_kernel.documents import WRITTEN
from tests.certificates.ternary_kernel.documents import document, unused_label, verdict
from tests.certificates.ternary_kernel.plain import proves

DOCUMENTS = {
    operation_kernel: parity_document,
    algebraic_kernel: lambda: algebraic_document("00/01"),
    solution_kernel: WRITTEN["polygon"],
    ternary_kernel: lambda: document("parity"),
}


@pytest.mark.parametrize("kernel", DOCUMENTS, ids=lambda kernel: kernel.__name__.rpartition(".")[2])
def test_a_kernel_needs_no_installed_package(kernel, tmp_path):
    """-I and -S: neither the folder of the caller nor site-packages can be imported from."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(DOCUMENTS[kernel]()))
    bad.write_text("{}")
    command = [sys.executable, "-I", "-S", kernel.__file__, str(good), str(bad)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 2, process.stderr
    first, second = process.stdout.splitlines()
    assert ": valid: " in first
    assert ": malformed: " in second


def test_what_it_says():
    assert verdict(document("parity")) == (
        0,
        'table of three arguments, 2 x 2 x 2, with 2 labels called "a b c in Z_2", maximum margin from 0.187500000000 '
        "to 0.187500000000 (exact)",
    )
    changed = document("parity")
    changed["proof"]["matrix"][0][0] += 1
    status, line = verdict(changed)
    assert status == 1
    assert line.startswith("proof.matrix: the coefficient of the variables (0, 0, 0, 0) is ")


def test_a_label_that_no_cell_has():
    assert verdict(unused_label())[0] == 0
    assert proves(unused_label())


def test_definiteness_is_decided_by_rounding_or_by_elimination(monkeypatch):
    """The exact matrix is singular, which no rounded factor shows; the other one is definite."""
    monkeypatch.setattr(operation_kernel, "MAX_EXACT", 0)
    refused = "proof.matrix: is not shown to be positive semidefinite"
    assert run(ternary_kernel, ("", document("parity"), {})) == (1, refused)
    assert run(ternary_kernel, ("", document("partial"), {}))[0] == 0
