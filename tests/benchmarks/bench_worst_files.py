"""Time and memory of three kernels for the worst legal files that are known, each in a process of its own.

The families and their small files, which the tests check, are in the files `worst.py` of `tests/certificates/kernel`,
`algebraic_kernel` and `ternary_kernel`. FORMAT.md and ALGEBRAIC_FORMAT.md say what was measured. Each file is decided
in under 60 s and 2 GB; nothing here asserts a time. The memory of a process that starts another counts twice.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.certificates import algebraic_kernel, kernel, ternary_kernel
from tests.certificates.algebraic_kernel import worst
from tests.certificates.kernel.worst import WORST
from tests.certificates.ternary_kernel import worst as ternary

PROGRAM = """
import resource, runpy, sys
sys.argv = ["kernel.py", sys.argv[1]]
try:
    runpy.run_path({kernel!r}, run_name="__main__")
except SystemExit as status:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(status.code, round(usage.ru_utime + usage.ru_stime, 1), usage.ru_maxrss // 1024)
"""


def measured(program: ModuleType, path: Path, benchmark: BenchmarkFixture, what: str) -> int:
    """The exit status of a kernel for a file; prints its time and memory."""
    command = [sys.executable, "-I", "-c", PROGRAM.format(kernel=program.__file__), str(path)]
    done = benchmark.pedantic(
        lambda: subprocess.run(command, capture_output=True, text=True, check=True, timeout=600), rounds=1, iterations=1
    )
    *_, line = done.stdout.splitlines()
    status, seconds, megabytes = line.split()
    size = path.stat().st_size / 1e6
    print(f"\n{what}: {size:.1f} MB, status {status}, {seconds} s, {megabytes} MB of memory")
    return int(status)


@pytest.mark.parametrize("name", WORST)
def test_worst_legal_files(name: str, benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    path = tmp_path / "worst.json"
    path.write_bytes(WORST[name].large())
    assert measured(kernel, path, benchmark, f"{name} ({WORST[name].limits})") in (WORST[name].status, 2)


@pytest.mark.parametrize("name", worst.WORST)
def test_worst_legal_files_of_algebraic_margins(name: str, benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    path = tmp_path / "worst.json"
    path.write_text(json.dumps(worst.worst_document(worst.WORST[name][1]), separators=(",", ":")))
    assert measured(algebraic_kernel, path, benchmark, name) in (0, 2)


@pytest.mark.parametrize("name", ternary.WORST)
def test_worst_legal_files_of_three_arguments(name: str, benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    path, family = tmp_path / "worst.json", ternary.WORST[name]
    path.write_bytes(ternary.worst_bytes(family.large()))
    assert measured(ternary_kernel, path, benchmark, f"{name} ({family.limits})") == family.status
