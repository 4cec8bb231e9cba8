"""The experiments of this chapter; `lemmata experiment list` shows them."""

from lemmata.theorems.rnn_sgd.experiments.comparator import COMPARATORS
from lemmata.theorems.rnn_sgd.experiments.training import TRAINING

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (TRAINING, COMPARATORS)
