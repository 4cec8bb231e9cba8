"""Legal files that cost the kernel of operations much are decided; `tests/benchmarks` measures the large ones."""

import pytest

from tests.certificates.operation_documents import verdict
from tests.certificates.operation_kernel.worst import WORST


@pytest.mark.parametrize("name", WORST)
def test_small_files_of_each_family_are_decided(name):
    status, line = verdict(WORST[name].small())
    assert status == WORST[name].status
    assert line.startswith("table of" if status == 0 else "proof.matrix: is not shown to be positive semidefinite")
