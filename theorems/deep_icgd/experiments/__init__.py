"""The experiments of this chapter, found by `theorems.experiments.load_experiments`."""

from theorems.deep_icgd.experiments.regression import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
