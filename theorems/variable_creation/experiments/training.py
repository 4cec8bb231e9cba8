"""The trials of this chapter: a sample that one conjunction fits, and attention networks trained on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.learning.attention_training import (
    Adam,
    AttentionReader,
    initial_reader,
    predictions,
    string_codes,
)
from lemmata.numerics.learning.sparse_learners import consistent_conjunctions

__all__ = ["Course", "Sample", "draw_conjunction", "train_reader", "unambiguous_sample"]

SPARSITY = 3
PROBABILITY = 0.5 ** (1 / SPARSITY)
Bits = NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """Labelled strings, and how many samples were drawn until one conjunction alone fitted."""

    bits: Bits
    labels: Bits
    draws: int


@dataclass
class Course:
    """What a run gave at its checks: iterations, accuracies held out, and errors on the training sample.

    ``network`` is the one at the end.
    """

    network: AttentionReader
    steps: list[int] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    train_errors: int = 0

    @property
    def best(self) -> float:
        """The largest accuracy held out."""
        return max(self.accuracy)


def draw_conjunction(rng: np.random.Generator, length: int, chosen: Sequence[int], count: int) -> tuple[Bits, Bits]:
    """Strings whose bits are 1 with probability (1/2)^(1/3), and the conjunctions of the three chosen bits."""
    bits = (rng.random((count, length)) < PROBABILITY).astype(np.int64)
    return bits, bits[:, list(chosen)].all(axis=1).astype(np.int64)


def unambiguous_sample(rng: np.random.Generator, length: int, chosen: Sequence[int], count: int) -> Sample:
    """The first sample that no other conjunction of three bits fits."""
    draws = 0
    while True:
        draws += 1
        bits, labels = draw_conjunction(rng, length, chosen, count)
        if len(consistent_conjunctions(bits, labels, SPARSITY, 2)) == 1:
            return Sample(bits, labels, draws)


def train_reader(
    settings: Mapping[str, Any], sample: Sample, held_out: tuple[Bits, Bits], seed: Sequence[int], stop: bool = True
) -> Course:
    """One run on the whole sample at every iteration; with ``stop`` it ends once the accuracy is above 0.99."""
    network = initial_reader(sample.bits.shape[1], np.random.default_rng(seed), heads=settings["heads"])
    adam, course = Adam(network), Course(network)
    train, test = string_codes(sample.bits), string_codes(held_out[0])
    for step in range(1, settings["iterations"] + 1):
        adam.step(train, sample.labels)
        if step % settings["check_every"]:
            continue
        course.steps.append(step)
        course.accuracy.append(1 - _errors(network, test, held_out[1]) / len(test))
        if stop and course.accuracy[-1] > 0.99:
            break
    course.train_errors = _errors(network, train, sample.labels)
    return course


def _errors(network: AttentionReader, codes: NDArray[np.uint8], labels: Bits) -> int:
    logits = predictions(network, codes)
    return int(((logits[:, 1] > logits[:, 0]) != (labels == 1)).sum())
