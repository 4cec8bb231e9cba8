"""Time and memory of the kernel of character tables for the worst legal files that are known, each in its own process.

The files are constructed in `tests/certificates/character_table_kernel/worst.py`; CHARACTER_TABLE_FORMAT.md says what
was measured. Each file is decided in under 60 s; nothing here asserts a time.
"""

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.certificates import character_table_kernel
from lemmata.certificates.groups.format import dumps
from tests.benchmarks.bench_worst_files import measured
from tests.certificates.character_table_kernel.worst import WORST, document, padded_cyclic


@pytest.mark.parametrize("name", WORST)
def test_worst_legal_files(name: str, benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    path = tmp_path / "worst.json"
    path.write_bytes(dumps(document(padded_cyclic(*WORST[name]))))
    assert measured(character_table_kernel, path, benchmark, name) == 1
