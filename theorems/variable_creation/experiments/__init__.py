"""The experiments of this chapter; `lemmata experiment list` shows them."""

from theorems.variable_creation.experiments.curves import ATTENTION, CURVES, REPLICATES
from theorems.variable_creation.experiments.parities import PARITIES

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (CURVES, REPLICATES, ATTENTION, PARITIES)
