"""Time and memory of the kernel of operations for the worst legal files that are known, each in a process of its own.

The families and their small files, which the tests check, are in `tests/certificates/operation_kernel/worst.py`.
OPERATION_FORMAT.md has a table of what was measured. Each file is decided in under 60 s and 2 GB; nothing here
asserts a time.
"""

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.certificates import operation_kernel
from lemmata.certificates.groups.format import dumps
from tests.benchmarks.bench_worst_files import measured
from tests.certificates.operation_kernel.worst import WORST


@pytest.mark.parametrize("name", WORST)
def test_worst_legal_files(name: str, benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    path = tmp_path / "worst.json"
    path.write_bytes(dumps(WORST[name].large()))
    assert measured(operation_kernel, path, benchmark, f"{name} ({WORST[name].limits})") == WORST[name].status
