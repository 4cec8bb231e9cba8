"""Markov chains in context: chains and sequences, predictors and their losses, and proofs about trained heads.

chains       dirichlet_chains, doubly_stochastic_chains, shared_row_chains, stationary_law, sample_sequences
predictors   uniform, unigram, bigram, ngram, stationary_bayes (the best one); single_trigram_head: one head in each
             layer that predicts 3-grams better than bigrams do
losses       kl_divergence, reference_losses (without sampling), entropy_rate
trained      trained_head: five two-layer heads that come with the library, by seed
proofs       enumerate_losses (all sequences), bound_losses (a compact proof): LossCertificate; loss_document,
             check_loss_document; three_links: counting = constructed head = trained head
measuring    measure_model: an attention-only model against these predictors (lm.networks.load_attention_only reads it);
             MeasuredModel; head_scores: where its heads attend
circuits     compare_circuits, constructed_report; circuit_variants, certify_variants: ablations, patches;
             circuit_tables: the numbers that a model is
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.induction.circuits import (
    certify_variants,
    circuit_variants,
    compare_circuits,
    constructed_report,
)
from lemmata.certificates.induction.document import check_loss_document, loss_document
from lemmata.certificates.induction.links import three_links
from lemmata.certificates.induction.losses import LossCertificate, bound_losses, enumerate_losses
from lemmata.certificates.induction.measured import MeasuredModel, measure_model
from lemmata.certificates.induction.tables import circuit_tables
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.induction.patterns import head_scores
from lemmata.constructions.induction.single_head import single_trigram_head
from lemmata.numerics.markov.bayes import stationary_bayes
from lemmata.numerics.markov.chains import (
    dirichlet_chains,
    doubly_stochastic_chains,
    sample_sequences,
    shared_row_chains,
    stationary_law,
)
from lemmata.numerics.markov.losses import entropy_rate, reference_losses
from lemmata.numerics.markov.predictors import bigram, kl_divergence, ngram, uniform, unigram

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
