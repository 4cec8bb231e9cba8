"""The checks that run in the same session as the planted faults need not be run by these without a fault as well."""

import pytest

from tests.theorems import planted_faults


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note every function that the session runs, with its parameters."""
    for item in session.items:
        if isinstance(item, pytest.Function):
            planted_faults.note_run(item)
