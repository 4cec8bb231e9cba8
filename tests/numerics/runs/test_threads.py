"""Linear algebra on one thread, and as before afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.numerics.runs import threads
from lemmata.numerics.runs.threads import one_thread


def counts() -> list[int]:
    assert np.linalg.norm(np.eye(2)) > 0
    return [get() for get, _ in threads._libraries(threads._loaded())]


def test_one_thread_inside_and_the_old_number_afterwards() -> None:
    before = counts()
    if not before:
        pytest.skip("This build of NumPy does not use OpenBLAS, or the system does not list mapped files.")
    with one_thread():
        assert counts() == [1] * len(before)
    assert counts() == before


def test_nothing_happens_where_no_library_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_loaded", frozenset)
    with one_thread():
        assert np.eye(3) @ np.ones(3) == pytest.approx(1)
