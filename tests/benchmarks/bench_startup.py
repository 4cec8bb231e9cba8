"""Times from the prompt to the prompt: what a command costs besides its mathematics, next to Python itself.

Every round is a process of its own, in which Numba finds no loops that an earlier one compiled, as on the day of the
installation. Files of compiled Python stay from the first, uncounted round.
"""

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

ROUNDS = 5
CASES = {
    "python -c pass": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import lemmata": ["-c", "import lemmata"],
    "lemmata --version": ["-m", "lemmata", "--version"],
    "lemmata --help": ["-m", "lemmata", "--help"],
    "lemmata show turing:theorem-4.1": ["-m", "lemmata", "show", "turing:theorem-4.1"],
    "lemmata certify S3": ["-m", "lemmata", "certify", "S3"],
    "lemmata parity 5 3": ["-m", "lemmata", "parity", "5", "3"],
    "lemmata circuit --truth-table 0110": ["-m", "lemmata", "circuit", "--truth-table", "0110"],
}
LIMITS = {"import lemmata": 0.3, "lemmata --version": 0.5, "lemmata --help": 0.5, "lemmata certify S3": 1.5}  # seconds


@pytest.mark.parametrize("name", CASES)
def test_time_of_a_process(
    name: str, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The best of all rounds, beside the limit that a quiet machine keeps."""
    caches = count()

    def empty_cache() -> tuple[tuple[str], dict[str, object]]:
        return (str(tmp_path / str(next(caches))),), {}

    def run(cache: str) -> None:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        subprocess.run([sys.executable, *CASES[name]], env=environment, stdout=subprocess.DEVNULL, check=True)

    benchmark.pedantic(run, setup=empty_cache, rounds=ROUNDS, warmup_rounds=1)
    assert benchmark.stats is not None
    with capsys.disabled():
        limit = f"   (at most {LIMITS[name]} s on a quiet machine)" if name in LIMITS else ""
        print(f"\n{name:36} {benchmark.stats.stats.min:6.2f} s{limit}", end="")
