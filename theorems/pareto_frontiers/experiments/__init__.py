"""The experiments of this chapter; `lemmata experiment list` shows them."""

from lemmata.theorems.pareto_frontiers.experiments.lottery import LOTTERY
from lemmata.theorems.pareto_frontiers.experiments.starts import SPARSE_STARTS
from lemmata.theorems.pareto_frontiers.experiments.sweep import CURVES, SWEEP

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (SWEEP, CURVES, SPARSE_STARTS, LOTTERY)
