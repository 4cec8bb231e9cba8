"""The experiments of this chapter; `lemmata experiment list` shows them."""

from lemmata.theorems.hidden_progress.experiments.courses import GROKKING, NO_PLATEAU, PROGRESS
from lemmata.theorems.hidden_progress.experiments.curves import CURVES, SCALING
from lemmata.theorems.hidden_progress.experiments.descent import DESCENT
from lemmata.theorems.hidden_progress.experiments.flips_again import FLIPS_AGAIN
from lemmata.theorems.hidden_progress.experiments.grid import (
    GRID,
    LARGE_BATCHES,
    LARGEST_BATCHES,
    UNLUCKY,
    UNLUCKY_AGAIN,
)
from lemmata.theorems.hidden_progress.experiments.neurons import GAP_GROWTH, HIDDEN_PROGRESS
from lemmata.theorems.hidden_progress.experiments.panels import EXPONENTS, LEFT, ROWS
from lemmata.theorems.hidden_progress.experiments.quadratic import QUADRATIC
from lemmata.theorems.hidden_progress.experiments.relu_networks import DECAYS, FLIPS, WIDTH_TIMES
from lemmata.theorems.hidden_progress.experiments.search import LAW, STARTS
from lemmata.theorems.hidden_progress.experiments.single_models import POLYNETS, SINUSOIDS
from lemmata.theorems.hidden_progress.experiments.times import CELLS, NOISE, NULL_MODEL, WIDTHS
from lemmata.theorems.hidden_progress.experiments.transformers import LEFT_TRANSFORMER, ROW_TRANSFORMER

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (
    CELLS,
    NULL_MODEL,
    WIDTHS,
    NOISE,
    PROGRESS,
    GROKKING,
    NO_PLATEAU,
    CURVES,
    SCALING,
    SINUSOIDS,
    POLYNETS,
    QUADRATIC,
    LAW,
    STARTS,
    GAP_GROWTH,
    HIDDEN_PROGRESS,
    WIDTH_TIMES,
    DECAYS,
    GRID,
    UNLUCKY,
    UNLUCKY_AGAIN,
    DESCENT,
    LARGE_BATCHES,
    FLIPS,
    FLIPS_AGAIN,
    LEFT,
    ROWS,
    EXPONENTS,
    LARGEST_BATCHES,
    LEFT_TRANSFORMER,
    ROW_TRANSFORMER,
)
