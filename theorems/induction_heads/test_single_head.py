"""Figure 8.5: single heads that are better than bigrams on 3-grams, by an explicit construction."""

from __future__ import annotations

import numpy as np

from lemmata.constructions.induction.single_head import single_trigram_head
from lemmata.numerics.markov.predictors import kl_divergence
from lemmata.numerics.runs.confidence import mean_interval
from lemmata.theorems.evidence import check, counterexample
from lemmata.theorems.induction_heads.experiments.measures import TestSet as Sequences
from lemmata.theorems.records import Record

SIZE = 1000


def losses(sequences: Sequences) -> np.ndarray:
    """KL(truth || softmax of the last logits), shape (size,)."""
    head = single_trigram_head().to_float()
    laws = []
    for x in np.array_split(sequences.tokens, 20):
        logits = head(x)[:, -1]
        laws.append(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
    return kl_divergence(sequences.truth, np.concatenate(laws))


@counterexample("induction-heads:figure-8.5", grade="sampled")
@check(
    "induction-heads:figure-8.5",
    grade="sampled",
    target="corrected",
    cases="k = 2, t = 200, 1000 chains with independent uniform rows, one fixed seed, 99.99%",
)
def test_one_head_in_each_layer_is_better_than_bigrams_and_worse_than_trigrams(record: Record) -> None:
    """Pairwise differences of the losses on the same sequences; for a random seed wrong with probability 1e-4."""
    sequences = Sequences.sample("flat", 2, 3, 200, SIZE, seed=11)
    found = losses(sequences)
    assert found.shape == (SIZE,)
    bigram, trigram = (kl_divergence(sequences.truth, sequences.predictions[name]) for name in ("bigram", "trigram"))
    assert mean_interval((found - bigram).tolist(), level=0.9999).high < 0
    share = float(found.mean() / bigram.mean())
    most = max(len(layer.heads) for layer in single_trigram_head().layers)  # pyright: ignore[reportAttributeAccessIssue]
    record.hypothesis("one head in each layer: the most", most, "=", 1)
    record.hypothesis("context length 200, as printed", sequences.tokens.shape[1], "=", 200)
    record.violated("no better than bigrams: their loss is not above that of the heads", round(share, 4), ">=", 1)
    record.number("0.81", share)
    assert mean_interval((found - trigram).tolist(), level=0.9999).low > 0
