"""The experiments of this chapter; `lemmata experiment list` shows them."""

from lemmata.theorems.induction_heads.experiments.phases import PHASES
from lemmata.theorems.induction_heads.experiments.sizes import (
    TRIGRAMS_200,
    TRIGRAMS_LONGER,
    UNIGRAM_SIGNAL_100,
    UNIGRAM_SIGNAL_LONGER,
)
from lemmata.theorems.induction_heads.experiments.variants import MORE_SYMBOLS, ONE_LAYER, TRIGRAMS, UNIGRAM_SIGNAL

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (
    PHASES,
    ONE_LAYER,
    MORE_SYMBOLS,
    TRIGRAMS,
    UNIGRAM_SIGNAL,
    TRIGRAMS_200,
    TRIGRAMS_LONGER,
    UNIGRAM_SIGNAL_100,
    UNIGRAM_SIGNAL_LONGER,
)
