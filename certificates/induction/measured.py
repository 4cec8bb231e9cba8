"""An attention-only model against the n-gram predictors: its loss, its distance from each, and where its heads attend.

Data: chains of k states whose rows are uniform on the simplex. The first symbol is uniform, whatever the chain: then
counting with plus one, the bigram predictor, is the Bayes predictor. Or it has the stationary law of its chain: then
the Bayes predictor for two states is that of `lemmata.numerics.markov.bayes`, and for more it has no closed form, so
that losses are means over chains that are drawn, of KL(row of x_t || q).

All is measured at the last of t positions. With q the model's law of the next symbol and b that of Bayes, the loss is

    E KL(row of x_t || q) = E KL(row of x_t || b) + E KL(b || q),

because b is the mean of the row given the sequence. The first term is the loss of Bayes: for a stationary start a
finite sum (`lemmata.numerics.markov.losses`), for a uniform one the mean over sequences of a closed form in the counts
a_j with A = sum a_j,

    E KL(row || a/A) = sum_j (a_j/A) (psi(a_j + 1) - ln a_j) - psi(A + 1) + ln A,      row ~ Dirichlet(a).

Where there are few sequences all of them are run, each with its probability; otherwise as many as asked for are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma

from lemmata.certificates.induction.cells import Start
from lemmata.certificates.induction.evaluated import MOST_EVALUATED, evaluate_losses
from lemmata.certificates.induction.layers import attention_layers
from lemmata.certificates.induction.losses import (
    LONGEST,
    LossCertificate,
    bound_losses,
    enumerate_losses,
    refine_losses,
)
from lemmata.certificates.induction.tables import two_heads
from lemmata.constructions.induction.patterns import head_scores, matches
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.markov.bayes import LONGEST as LONGEST_BAYES
from lemmata.numerics.markov.bayes import stationary_bayes
from lemmata.numerics.markov.chains import dirichlet_chains, sample_sequences
from lemmata.numerics.markov.losses import reference_losses
from lemmata.numerics.markov.predictors import bigram, kl_divergence, ngram, ngram_counts, uniform, unigram
from lemmata.numerics.runs.confidence import Interval, mean_interval

__all__ = [
    "MOST_SYMBOLS", "MeasuredHead", "MeasuredModel", "Outputs", "certified_loss", "checked_start", "measure_model",
]  # fmt: skip

FloatArray = NDArray[np.float64]
Outputs = Literal["logits", "probabilities"]

MOST_SYMBOLS = 64
MOST_ENUMERATED = 1 << 12
"""The largest number of sequences of which all are run."""
MOST_CERTIFIED = 12
"""The largest t for which the loss is proved sequence by sequence; beyond it by classes."""
NUMBERS_AT_ONCE = 1 << 23
"""How many numbers a head may hold at a time."""
SUM_ERROR = 1e-6
"""How far sums of probabilities may be from one: those of models in float32 are by less."""


@dataclass(frozen=True)
class MeasuredHead:
    """A head, counted from 1 in its layer, counted from 1.

    Attributes:
        previous: its weight on the token before, averaged over positions 2, ..., t.
        induction: the weight of the last token on those that followed an equal one, over the sequences that have such;
            None if (almost) none has.
    """

    layer: int
    head: int
    previous: Interval
    induction: Interval | None


@dataclass(frozen=True)
class MeasuredModel:
    """What is measured, in nats; a value that all sequences give has an interval of no width and level 1.

    Attributes:
        symbols: k.
        length: t.
        start: the law of the first symbol, "stationary" or "uniform".
        sequences: how many were run.
        seed: with which they were drawn; None if they are all.
        loss: of the model, E KL(row of x_t || model).
        excess: E KL(Bayes || model), by which the loss exceeds that of the Bayes predictor; None where that one has no
            closed form, for a stationary start over more than two symbols.
        references: the losses of the predictors, "Bayes" first where it is known.
        distances: E KL(model || predictor).
        heads: of all layers, first to last.
        chance: previous and induction score of a head that attends to everything alike.
        sums_to_one: whether the outputs, as they are, are probabilities up to rounding.
    """

    symbols: int
    length: int
    start: Start
    sequences: int
    seed: int | None
    loss: Interval
    excess: Interval | None
    references: Mapping[str, Interval]
    distances: Mapping[str, Interval]
    heads: tuple[MeasuredHead, ...]
    chance: tuple[float, float]
    sums_to_one: bool


def measure_model(
    model: Transformer,
    length: int,
    *,
    samples: int = 2000,
    seed: int = 0,
    outputs: Outputs = "logits",
    start: Start | None = None,
) -> MeasuredModel:
    """The measurements of a causal attention model over k symbols.

    Args:
        model: over the symbols 1, ..., k, with k outputs.
        length: t, from 2 to 400; also how many positions the model must have.
        samples: how many sequences are drawn where there are more than 4096, or Bayes is not known.
        seed: of the chains and sequences.
        outputs: whether the outputs are logits, or probabilities already.
        start: the law of the first symbol; None is stationary over two symbols and uniform over more.

    Raises:
        ValueError: for other arguments; for more than 64 symbols; for outputs that are said to be probabilities and are
            none; as a call of the model.
    """
    k, t = model.symbols, checked_integer("The length", length, 2)
    samples, seed = checked_integer("The number of samples", samples, 2), checked_integer("The seed", seed, 0)
    if t > LONGEST_BAYES:
        raise ValueError(f"Models are measured on sequences of up to {LONGEST_BAYES} symbols, not {t}.")
    if not 2 <= k <= MOST_SYMBOLS:
        raise ValueError(f"Models are measured over 2 to {MOST_SYMBOLS} symbols, not {k}.")
    if outputs not in get_args(Outputs):
        raise ValueError(f"Outputs are {' or '.join(get_args(Outputs))}, not {outputs!r}.")
    start = checked_start(start, k)
    data = _data(k, t, samples, seed, start)
    logs, sums_to_one = _log_laws(model, data.x, outputs)
    law = np.exp(logs)
    law /= law.sum(axis=1, keepdims=True)
    excess = np.sum(data.target * (np.log(data.target) - logs), axis=1)
    references = {name: data.mean(data.base + kl_divergence(data.target, q)) for name, q in data.laws.items()}
    if k == 2 and start == "stationary":
        known = asdict(reference_losses(t))
        references |= {name: _exactly(known[name.lower()]) for name in references if name.lower() in known}
    heads, chance = _heads(model, data)
    return MeasuredModel(
        symbols=k,
        length=t,
        start=start,
        sequences=len(data.x),
        seed=seed if data.weights is None else None,
        loss=data.mean(data.base + excess),
        excess=data.mean(excess) if "Bayes" in data.laws else None,
        references=references,
        distances={name: data.mean(kl_divergence(law, q)) for name, q in data.laws.items()},
        heads=heads,
        chance=chance,
        sums_to_one=sums_to_one,
    )


def checked_start(start: str | None, symbols: int) -> Start:
    """The law of the first symbol: None is stationary over two symbols and uniform over more.

    Raises:
        ValueError: if it is neither.
    """
    if start is None:
        return "stationary" if symbols == 2 else "uniform"
    if start == "stationary" or start == "uniform":
        return start
    raise ValueError(f"The start is stationary or uniform, not {start!r}.")


def certified_loss(
    model: Transformer,
    length: int,
    *,
    window: int | None = None,
    grid: int = 32,
    blocks: int = 1,
    start: Start | None = None,
) -> LossCertificate:
    """The proven loss of a model: on all sequences where that is cheap, then by classes.

    All sequences of a model that `circuit_tables` accepts are run up to t = 12, with a stationary start; of any other
    one in balls, of which there may be 1024. Classes are those of two symbols, for models of one or two layers.

    Args:
        model: with as many logits as symbols.
        length: t.
        window, grid, blocks: of the classes, as for `bound_losses`; without a window they are refined, as by
            `refine_losses`.
        start: as for `measure_model`.

    Raises:
        ValueError: for a length above 62, or for too many sequences of a model that has no proof by classes; for a
            stationary start over more than two symbols; as `bound_losses`.
    """
    t, k = checked_integer("The length", length, 1), model.symbols
    if t > LONGEST:
        raise ValueError(f"Losses are proved for up to {LONGEST} symbols, not {t}.")
    start = checked_start(start, k)
    if start == "stationary" and t <= MOST_CERTIFIED and _has_tables(model):
        return enumerate_losses(model, t)
    if k**t <= MOST_EVALUATED:
        return evaluate_losses(model, t, start)
    try:
        attention_layers(model)
    except ValueError as error:
        try:
            return evaluate_losses(model, t, start)
        except ValueError as other:
            raise ValueError(f"{error} {other}") from error
    if window is None:
        return refine_losses(model, t, grid, start)
    return bound_losses(model, t, window, grid, blocks, start)


def _has_tables(model: Transformer) -> bool:
    try:
        two_heads(model)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class _Data:
    """Sequences, all or drawn, with what does not depend on the model.

    Attributes:
        x: shape (N, t).
        weights: their probabilities if they are all, else None; shape (N,).
        laws: the predictions after each sequence, shape (N, k), by the name of the predictor.
        target: the predictions of Bayes, or where it has no closed form the row of x_t in the chain; shape (N, k).
        base: the loss of Bayes, given each sequence or on average, 0 for the row itself; shape (N,). The loss of q is
            base + KL(target || q).
    """

    x: NDArray[np.int64]
    weights: FloatArray | None
    laws: Mapping[str, FloatArray]
    target: FloatArray
    base: FloatArray

    def mean(self, values: ArrayLike, chosen: NDArray[np.bool_] | None = None) -> Interval:
        """The mean of a number for each sequence, or over those that are chosen; infinite if one is."""
        some = np.ones(len(self.x), dtype=bool) if chosen is None else chosen
        numbers = np.asarray(values, dtype=np.float64)[some]
        if not np.isfinite(numbers).all():
            return _exactly(float("inf"))
        if self.weights is None:
            return mean_interval(numbers.tolist())
        return _exactly(float(numbers @ self.weights[some] / self.weights[some].sum()))


def _data(k: int, t: int, samples: int, seed: int, start: Start) -> _Data:
    rows: FloatArray | None = None
    known = k == 2 or start == "uniform"
    everything = known and k**t <= MOST_ENUMERATED
    if everything:
        x = np.stack(np.unravel_index(np.arange(k**t), (k,) * t), axis=1) + 1
    else:
        rng = np.random.default_rng(seed)
        chains = dirichlet_chains(k, samples, rng)
        x = sample_sequences(chains, t, rng, start=start)
        rows = chains[np.arange(samples), x[:, -1] - 1]
    predictors = {"trigram": ngram(x, k, 3), "bigram": bigram(x, k), "unigram": unigram(x, k), "uniform": uniform(x, k)}
    laws = {name: law[:, -1] for name, law in predictors.items()}
    if not known:
        assert rows is not None
        return _Data(x, None, laws, rows, np.zeros(len(x)))
    bayes = stationary_bayes(x) if start == "stationary" else predictors["bigram"]
    weights = None
    if everything:  # the first symbol is uniform on average over the chains, and Bayes predicts all others
        weights = np.take_along_axis(bayes[:, :-1], x[:, 1:, None] - 1, axis=2)[..., 0].prod(axis=1) / k
    base = np.full(len(x), reference_losses(t).bayes) if start == "stationary" else _row_loss(x, k)
    return _Data(x, weights, {"Bayes": bayes[:, -1], **laws}, bayes[:, -1], base)


def _row_loss(x: NDArray[np.int64], k: int) -> FloatArray:
    """E KL(row of x_t || its posterior mean) given each sequence, for uniform rows that do not influence x_1."""
    a = ngram_counts(x, k)[np.arange(len(x)), x[:, -1] - 1] + 1.0
    A = a.sum(axis=1)
    return np.sum(a * (digamma(a + 1) - np.log(a)), axis=1) / A - digamma(A + 1) + np.log(A)


def _chunks(model: Transformer, x: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The sequences in parts that fit into memory."""
    rows = len(model.prefix) + x.shape[1]
    widest = max(rows, model.width)
    return np.array_split(x, max(1, -(-len(x) * rows * widest // NUMBERS_AT_ONCE)))


def _log_laws(model: Transformer, x: NDArray[np.int64], outputs: Outputs) -> tuple[FloatArray, bool]:
    """The logarithms of the model's law after each sequence, -inf where it is 0, shape (N, k).

    Returns:
        With them, whether the outputs are probabilities as they are.
    """
    found = np.concatenate([model(part)[:, -1].astype(np.float64) for part in _chunks(model, x)])
    if found.shape[1:] != (model.symbols,):
        raise ValueError(
            f"A model over {model.symbols} symbols needs as many outputs, not the shape {found.shape[1:]}."
        )
    if not np.isfinite(found).all():
        raise ValueError("Some outputs of the model are not finite.")
    sums = found.sum(axis=1, keepdims=True)
    sums_to_one = bool((found >= 0).all() and (np.abs(sums - 1) <= SUM_ERROR).all())
    if outputs == "logits":
        highest = found.max(axis=1, keepdims=True)
        return found - highest - np.log(np.exp(found - highest).sum(axis=1, keepdims=True)), sums_to_one
    if not sums_to_one:
        raise ValueError(
            f"The outputs are no probabilities: they are from {found.min():.6g} to {found.max():.6g}, their sums from "
            f"{sums.min():.6g} to {sums.max():.6g}. Read them as logits."
        )
    with np.errstate(divide="ignore"):
        return np.log(found / sums), True


def _heads(model: Transformer, data: _Data) -> tuple[tuple[MeasuredHead, ...], tuple[float, float]]:
    """The scores of all heads, and those of one that attends to everything alike."""
    parts = [[one for one in head_scores(model, part) if one is not None] for part in _chunks(model, data.x)]
    followers, rows = matches(data.x), len(model.prefix) + data.x.shape[1]
    has = np.asarray(followers.any(axis=1))

    def induction(shares: FloatArray) -> Interval | None:
        return data.mean(shares, has) if np.count_nonzero(has) > 1 else None

    heads = []
    for number, layer in enumerate(zip(*parts, strict=True), start=1):
        previous = np.concatenate([one.previous for one in layer])
        matching = np.concatenate([one.matching for one in layer])
        for head in range(previous.shape[1]):
            scores = data.mean(previous[:, head]), induction(matching[:, head])
            heads.append(MeasuredHead(number, head + 1, *scores))
    alike = induction(followers.sum(axis=1) / rows)
    before = float(np.mean(1 / np.arange(len(model.prefix) + 2, rows + 1)))
    return tuple(heads), (before, 0.0 if alike is None else alike.estimate)


def _exactly(value: float) -> Interval:
    return Interval(value, value, value, 1.0)
