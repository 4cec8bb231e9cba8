"""Induction heads: explicit ones, and one that is trained."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.induction.head import bayesian_ngram_head, ngram_head, printed_induction_head, scales_for
from lemmata.constructions.networks.transformer import Transformer

__all__ = [
    "TrainedHead",
    "bayesian_ngram_head",
    "ngram_head",
    "printed_induction_head",
    "scales_for",
    "train_induction_head",
]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrainedHead:
    """The course of a training run, measured at the last position of sequences from chains that were not trained on.

    steps: the measured steps, shape (S,).
    loss: the mean loss KL(truth || model) in nats, shape (S,).
    distances: the mean KL(model || strategy) in nats, for the strategies "uniform", "unigram" and "bigram".
    lines: the mean loss of each strategy.
    previous: the weight that the head of layer 1 puts on the previous token, shape (S,).
    phases: the strategies that the model was closest to, one after the other.
    models: the transformer after the steps that were asked for.
    """

    steps: NDArray[np.int64]
    loss: FloatArray
    distances: Mapping[str, FloatArray]
    lines: Mapping[str, float]
    previous: FloatArray
    phases: tuple[str, ...]
    models: Mapping[int, Transformer]


def train_induction_head(
    k: int = 2,
    context: int = 48,
    *,
    width: int = 16,
    steps: int = 450,
    batch: int = 64,
    rate: float = 3e-3,
    every: int = 10,
    keep: Collection[int] = (),
    test_sequences: int = 1000,
    seed: int = 1,
) -> TrainedHead:
    """The training of a two-layer attention-only transformer with small random weights on in-context Markov chains.

    AdamW on fresh sequences of chains with uniform rows, as in the experiments of the chapter on induction heads
    (`theorems/induction_heads/experiments`), in float32.

    Args:
        k: number of states.
        context: length t of the sequences.
        width: of the residual stream.
        steps: the number of steps.
        batch: sequences in a step.
        rate: the learning rate.
        every: the number of steps from one measurement to the next.
        keep: the steps whose transformer is returned.
        test_sequences: sequences on which is measured.
        seed: of the weights, of the training data and, as another stream, of the test data.
    """
    import torch  # slow to import

    from lemmata.theorems.induction_heads.experiments.measures import TestSet, attention_to, phases
    from lemmata.theorems.induction_heads.experiments.training import as_construction, training_steps, transformer

    test = TestSet.sample("flat", k, 2, context, test_sequences, seed)
    model = transformer(k, context, layers=2, heads=1, width=width, seed=seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    measured: dict[str, list[float]] = {}
    models: dict[int, Transformer] = {}
    for step in islice(training_steps(model, optimiser, {"flat": batch}, k, 2, seed), steps + 1):
        if step % every == 0:
            previous = attention_to(model, test.tokens[:20])[0]
            for name, value in {"steps": step, "previous": previous, **test.measure(model)}.items():
                measured.setdefault(name, []).append(value)
        if step in keep:
            models[step] = as_construction(model)
    return TrainedHead(
        steps=np.array(measured["steps"]),
        loss=np.array(measured["loss"]),
        distances={name: np.array(measured[name]) for name in test.predictions},
        lines=test.lines(),
        previous=np.array(measured["previous"]),
        phases=tuple(phases(measured)),
        models=models,
    )
