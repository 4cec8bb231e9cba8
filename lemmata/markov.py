"""Markov chains in context: chains and sequences, predictors, and their losses.

chains       dirichlet_chains, doubly_stochastic_chains, shared_row_chains, stationary_law, sample_sequences
predictors   uniform, unigram, bigram, ngram, stationary_bayes (the best one)
losses       kl_divergence, reference_losses (without sampling), entropy_rate
"""

from numerics.markov.bayes import stationary_bayes
from numerics.markov.chains import (
    dirichlet_chains,
    doubly_stochastic_chains,
    sample_sequences,
    shared_row_chains,
    stationary_law,
)
from numerics.markov.losses import entropy_rate, reference_losses
from numerics.markov.predictors import bigram, kl_divergence, ngram, uniform, unigram

__all__ = [
    "bigram",
    "dirichlet_chains",
    "doubly_stochastic_chains",
    "entropy_rate",
    "kl_divergence",
    "ngram",
    "reference_losses",
    "sample_sequences",
    "shared_row_chains",
    "stationary_bayes",
    "stationary_law",
    "uniform",
    "unigram",
]
