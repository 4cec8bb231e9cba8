"""Linear and semidefinite programs of other projects."""

from lemmata.certificates.solutions.bracket import certify_solution

__all__ = ["certify_solution"]
