"""The experiments of this chapter; `lemmata experiment list` shows them."""

from lemmata.theorems.feature_emergence.experiments.modular import MODULAR_31
from lemmata.theorems.feature_emergence.experiments.symmetric import SYMMETRIC_3_4, SYMMETRIC_5

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (MODULAR_31, SYMMETRIC_3_4, SYMMETRIC_5)
