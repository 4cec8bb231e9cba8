"""The experiments of this chapter; `lemmata experiment list` shows them."""

from theorems.variable_creation.experiments.curves import ATTENTION

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (ATTENTION,)
