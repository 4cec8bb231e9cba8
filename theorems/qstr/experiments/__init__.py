"""The experiments of this chapter; `lemmata experiment list` shows them."""

from theorems.experiments import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = ()
