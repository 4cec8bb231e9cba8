"""The experiments of this chapter; `lemmata experiment list` shows them."""

from lemmata.theorems.variable_creation.experiments.curves import ATTENTION, CURVES, REPLICATES, THIRD
from lemmata.theorems.variable_creation.experiments.parities import LASTING, PARITIES
from lemmata.theorems.variable_creation.experiments.parities_third import LEARNED
from lemmata.theorems.variable_creation.experiments.sample_sizes import SAMPLE_SIZES

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (SAMPLE_SIZES, CURVES, REPLICATES, THIRD, ATTENTION, PARITIES, LASTING, LEARNED)
