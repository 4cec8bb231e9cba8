"""The pytest plugin of the ledger (under construction: options only)."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ledger's command-line options."""
    parser.getgroup("lemmata").addoption("--effort", choices=["quick", "full", "deep"], default="quick")
