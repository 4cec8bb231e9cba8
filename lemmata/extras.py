"""The optional parts of the installation: which extra brings a package that is missing."""

from __future__ import annotations

__all__ = ["EXTRAS", "missing_extra"]

EXTRAS = {
    "torch": "torch",
    "cvxpy": "solvers",
    "clarabel": "solvers",
    "scs": "solvers",
    "matplotlib": "plot",
    "sympy": "test",
    "hypothesis": "test",
    "pytest": "test",
    "latex2mathml": "site",
    "sphinx": "site",
    "dask": "cluster",
    "distributed": "cluster",
}
"""The extra of Lemmata that brings each optional package."""


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """The sentence for a missing package of an extra; None for any other module."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    if extra is None:
        return None
    return f"This needs {package}, which the extra {extra} brings: pip install 'lemmata[{extra}]'."
