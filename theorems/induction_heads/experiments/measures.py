"""What the experiments of this chapter measure, at the last position of sequences that are drawn once for each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.induction.patterns import head_scores
from lemmata.numerics.markov.chains import sample_sequences
from lemmata.numerics.markov.predictors import kl_divergence, ngram
from lemmata.numerics.runs.comparison import below
from lemmata.theorems.induction_heads.experiments.training import as_construction, sample_chains

__all__ = [
    "LAST_DIGIT",
    "TestSet",
    "attention_to",
    "closest",
    "curves",
    "first_below",
    "phases",
    "positional_weights",
    "rounded",
    "symbol_distance",
]

FloatArray = NDArray[np.float64]
STRATEGIES = ("uniform", "unigram", "bigram", "trigram")

# A slice of 4 to 50 steps amplifies the errors 2^-24 of float32 to less than 1e-6 of a number, as
# measured between processors with and without AVX: far less than a unit of the last digit that `rounded` keeps. Then
# rounding makes that at most one unit, and of four digits it is at most 1e-3 of the number.
LAST_DIGIT = 1e-3


@dataclass(frozen=True, eq=False)
class TestSet:
    """Sequences of one prior, with the true law of the next symbol and the predictions of the strategies.

    The strategies are uniform and the n-gram predictors with counts plus one, up to the n of the chains.
    """

    tokens: NDArray[np.int64]  # (size, context), symbols 1, ..., k
    truth: FloatArray  # (size, k)
    predictions: Mapping[str, FloatArray]

    @classmethod
    def sample(cls, prior: str, k: int, n: int, context: int, size: int, seed: int) -> TestSet:
        """Draw the chains and sequences; the seed is another stream than that of the training data."""
        rng = np.random.default_rng([seed, 2])
        chains = sample_chains(prior, k, n, size, rng)
        x = sample_sequences(chains, context, rng)
        state = np.zeros(size, dtype=np.int64)
        for symbol in x[:, -(n - 1) :].T:
            state = state * k + symbol - 1
        predictions = {STRATEGIES[m]: ngram(x, k, m)[:, -1] for m in range(1, n + 1)}
        return cls(x, chains[np.arange(size), state], {"uniform": np.full((size, k), 1 / k), **predictions})

    def lines(self) -> dict[str, float]:
        """The mean loss of every strategy: the horizontal lines of the figures."""
        return {name: float(kl_divergence(self.truth, q).mean()) for name, q in self.predictions.items()}

    def measure(self, model: Any) -> dict[str, float]:
        """The mean loss KL(truth || model), and the mean KL(model || strategy) for every strategy, in nats."""
        import torch

        with torch.no_grad():
            logits = model(torch.from_numpy(self.tokens - 1), last=True)[:, -1].double()
            law = torch.softmax(logits, -1).numpy()
        distances = {name: float(kl_divergence(law, q).mean()) for name, q in self.predictions.items()}
        return {"loss": float(kl_divergence(self.truth, law).mean()), **distances}


def attention_to(model: Any, tokens: NDArray[np.int64]) -> tuple[float, float]:
    """How far the first heads of a two-layer transformer attend as an induction head does, averaged over sequences.

    Returns:
        The weight that layer 1 puts on the previous token, averaged over positions 2, ..., t; and the weight that layer
        2 puts, at the last token, on the tokens whose predecessor equals it.
    """
    first, second = head_scores(as_construction(model), tokens)[:2]
    assert first is not None
    assert second is not None
    return float(first.previous[:, 0].mean()), float(second.matching[:, 0].mean())


def positional_weights(model: Any, count: int) -> FloatArray:
    """The first entries of the effective positional encoding of layer 1, averaged over symbols, shape (count,).

    It is softmax(e_x W_Q v^T / sqrt(d)) (with the corrected W_Q) for a transformer, and v itself for a minimal model.
    """
    if hasattr(model, "v"):
        return model.v.detach().numpy().astype(np.float64)[:count]
    return _encodings(model).mean(axis=0)[:count]


def symbol_distance(model: Any) -> float:
    """The largest total-variation distance between the effective positional encodings of two symbols in layer 1."""
    laws = _encodings(model)
    return float(np.abs(laws[:, None] - laws).sum(axis=2).max() / 2)


def _encodings(model: Any) -> FloatArray:
    """softmax(e_x W_Q v^T / sqrt(d)) of the first head of a transformer, shape (k, t)."""
    weights = as_construction(model)
    head = weights.layers[0].heads[0]
    scores = head.query(weights.embedding) @ head.relative_keys.T / np.sqrt(head.temperature_squared)
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def curves(steps: Iterable[int], last: int, every: int, measure: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Run the steps up to ``last``; measure every so many steps, more often among the first ten times as many.

    Returns:
        Lists by name, with "steps" itself.
    """
    fine = max(1, every // 5)
    found: dict[str, list[Any]] = {"steps": []}
    for step in islice(steps, last + 1):
        if step % every and (step % fine or step > 4 * every):
            continue
        found["steps"].append(step)
        for name, value in measure().items():
            found.setdefault(name, []).append(rounded(value))
    return found


def rounded(value: Any) -> Any:
    """A number or an array of numbers with four significant digits, as JSON."""
    if isinstance(value, np.ndarray | list | tuple):
        return [rounded(entry) for entry in value]
    return float(f"{value:.4g}")


def closest(result: Mapping[str, Any]) -> list[str]:
    """The strategy that the model is closest to, at every measurement."""
    names = [name for name in STRATEGIES if name in result]
    return [min(names, key=lambda name: result[name][i]) for i in range(len(result["steps"]))]


def phases(result: Mapping[str, Any]) -> list[str]:
    """The strategies that the model is closest to, one after the other."""
    return [name for name, _ in groupby(closest(result))]


def first_below(steps: Sequence[int], values: Sequence[float], level: float) -> int | None:
    """The first step that was measured with a value below the level, or None."""
    return next((step for step, value in zip(steps, values, strict=True) if below(value, level)), None)
