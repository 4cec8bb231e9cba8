"""The experiments of this chapter, found by `lemmata.theorems.experiments.load_experiments`."""

from lemmata.theorems.deep_icgd.experiments.longer import LONGER
from lemmata.theorems.deep_icgd.experiments.regression import REGRESSION

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (REGRESSION, LONGER)
