"""What sessions with planted faults share: checks that run anyway are run once, and wanted failures stay short."""

from collections.abc import Iterator

import pytest

from tests.theorems import planted_faults


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note every function that the session runs, with its parameters: it need not pass without a fault once more."""
    for item in session.items:
        if isinstance(item, pytest.Function):
            planted_faults.note_run(item)


@pytest.fixture(scope="module", autouse=True)
def wanted_failures_stay_short(request: pytest.FixtureRequest) -> Iterator[None]:
    """Pytest explains no assertion by a whole difference, as it does on CI, where a fault is to make it fail."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.name.startswith("test_faults_"):
            for name in ("CI", "BUILD_NUMBER"):
                patch.delenv(name, raising=False)
        yield
