"""The experiments of this chapter; `lemmata experiment list` shows them."""

from theorems.feature_emergence.experiments.modular import MODULAR_31, MODULAR_71

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (MODULAR_71, MODULAR_31)
