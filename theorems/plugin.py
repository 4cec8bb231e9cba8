"""The pytest plugin of the ledger (under construction: options only)."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ledger's command-line options."""
    parser.getgroup("lemmata").addoption("--effort", choices=["quick", "full", "deep"], default="quick")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of `theorems.evidence`."""
    config.addinivalue_line(
        "markers", "evidence(evidence): what the test says about a statement of the ledger."
    )
