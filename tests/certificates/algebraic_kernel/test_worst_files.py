"""Legal files that cost the kernel of algebraic margins much are decided.

`tests/benchmarks/bench_worst_files.py` measures the large files of the same families.
"""

import pytest

from lemmata.certificates import algebraic_kernel
from tests.certificates.algebraic_kernel import worst
from tests.certificates.algebraic_kernel.corpus import rational_document
from tests.certificates.algebraic_kernel.documents import document, verdict
from tests.certificates.algebraic_kernel.plain import proves


@pytest.mark.parametrize("name", worst.WORST)
def test_small_files_of_each_family_are_valid(name):
    value = worst.worst_document(worst.WORST[name][0])
    assert value != rational_document()
    assert verdict(value)[0] == 0
    assert proves(value)


def test_irrational_numbers_are_moved_too():
    """theta^2 = 2 to a polynomial of degree 6."""
    value = worst.driven(document("00/01"), worst.Size(3, 9, 9, neurons=9, bits=1500))
    assert len(value["field"]["polynomial"]) == 6
    assert verdict(value)[0] == 0
    assert proves(value)


def test_long_coefficients_of_f_are_counted(monkeypatch):
    """They make products long, whose numbers are short."""
    monkeypatch.setattr(algebraic_kernel, "MAX_WORK", 10**6)
    short, long = (worst.worst_document(worst.Size(4, bits, 8, bits=900)) for bits in (8, 2500))
    assert verdict(short)[0] == 0
    assert verdict(long) == (2, "the products of numbers are beyond the limits")
