"""Legal files that cost the kernel of three arguments much are decided; `tests/benchmarks` measures the large ones."""

import pytest

from tests.certificates.ternary_kernel.documents import verdict
from tests.certificates.ternary_kernel.plain import proves
from tests.certificates.ternary_kernel.worst import WORST


@pytest.mark.parametrize("name", WORST)
def test_small_files_of_each_family_are_valid(name):
    assert verdict(WORST[name].small())[0] == WORST[name].status
    assert proves(WORST[name].small())
