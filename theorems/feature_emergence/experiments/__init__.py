"""The experiments of this chapter that have been run; `lemmata experiment list` shows them."""

from theorems.feature_emergence.experiments.modular import MODULAR_31

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (MODULAR_31,)
