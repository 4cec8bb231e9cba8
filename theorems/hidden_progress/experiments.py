"""The experiments of this chapter; `lemmata experiment list` shows them."""

from theorems.hidden_progress.experiments_courses import GROKKING, NO_PLATEAU, PROGRESS
from theorems.hidden_progress.experiments_curves import CURVES, SCALING
from theorems.hidden_progress.experiments_more import POLYNETS, SINUSOIDS
from theorems.hidden_progress.experiments_times import CELLS, NOISE, NULL_MODEL, WIDTHS

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (CELLS, NULL_MODEL, WIDTHS, NOISE, PROGRESS, GROKKING, NO_PLATEAU, CURVES, SCALING, SINUSOIDS, POLYNETS)
