"""The experiments of this chapter, found by `theorems.experiments.load_experiments`."""

from theorems.deep_icgd.experiments.longer import LONGER
from theorems.deep_icgd.experiments.regression import REGRESSION

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (REGRESSION, LONGER)
