"""Specification = circuit = model: three separate links, each with numbers of its own.

The specification is counting with plus one, the posterior mean of the current row. The circuit is the constructed
head `bayesian_ngram_head` at finite scales; `constructions/induction/ERROR_BOUND.md` proves how far it is from
counting. The model is what training found. All three are judged on the same sequences, at the last of t positions,
beside the exact Bayes predictor, which also knows that the chain is stationary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb

from lemmata.certificates.induction.cells import BITS, Bounds, Cells, Judgement, judge, outwards
from lemmata.certificates.induction.kernels import window_counts
from lemmata.certificates.induction.losses import MOST_SEQUENCES, LossCertificate, bound_losses, enumerate_losses
from lemmata.constructions.induction.head import CountingHead, bayesian_ngram_head, scales_for
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.precision import precision

__all__ = ["Links", "circuit_cells", "judge_circuit", "three_links"]


@dataclass(frozen=True)
class Links:
    """Three links at the last of t positions; losses in nats, distances in total variation.

    Attributes:
        t: the number of symbols.
        scales: (c1, c2) of the circuit.
        specification: the loss of counting with plus one, and that of the Bayes predictor.
        circuit: what is proved of the circuit; its distances are the link specification = circuit.
        model: what is proved of the model; its distances are the link specification = model.
        mean_distance: the expected distance of the circuit from the model, the link circuit = model.
        largest_distance: the largest over all sequences.
    """

    t: int
    scales: tuple[int, int]
    specification: tuple[Bounds, Bounds]
    circuit: Judgement
    model: LossCertificate
    mean_distance: Bounds
    largest_distance: Bounds


def three_links(
    model: Transformer, t: int, *, tolerance: float = 1e-3, window: int = 3, enumerate_up_to: int = 12
) -> Links:
    """The links between counting, the constructed head and a trained model.

    Args:
        model: as `enumerate_losses` takes it.
        t: at least 2, at most 62.
        tolerance: the circuit's scales are chosen so that its outputs are proved to be so close to counting.
        window: of the compact proof.
        enumerate_up_to: the largest t for which all sequences are run, at most 20.

    Raises:
        ValueError: as `enumerate_losses`, `bound_losses` and `scales_for`.
    """
    c1, c2 = scales_for(2, 2, max(t, 2), tolerance, pseudo_counts=(1, 1))
    circuit = judge_circuit(bayesian_ngram_head(2, 2, c1, c2), t)
    every = t <= min(enumerate_up_to, MOST_SEQUENCES)
    found = enumerate_losses(model, t) if every else bound_losses(model, t, window)
    off = circuit.largest_distance[1]
    mean, largest = found.proved.mean_distance, found.proved.largest_distance
    with precision(BITS):  # the triangle inequality
        between = [outwards(arb(pair[0]) - off, arb(pair[1]) + off, 0.0) for pair in (mean, largest)]
    return Links(
        t=t,
        scales=(c1, c2),
        specification=(circuit.bigram, circuit.bayes),
        circuit=circuit,
        model=found,
        mean_distance=between[0],
        largest_distance=between[1],
    )


def judge_circuit(head: CountingHead, t: int) -> Judgement:
    """What is proved of a constructed head with n = 2, two symbols and pseudo-counts 1, 1, at the last of t positions.

    Raises:
        ValueError: for another head, or t not among 2, ..., 62; where the proved error is no smaller than a probability
            that the head should give, so that its loss has no bound.
    """
    return judge(circuit_cells(head, t))


def circuit_cells(head: CountingHead, t: int) -> Cells:
    """Cells of sequences with the same counts; the outputs are those of counting, give or take the proved error.

    Arguments and errors as for `judge_circuit`.
    """
    if head.n != 2 or head.transformer.symbols != 2 or head.pseudo_counts != (1, 1):
        raise ValueError(
            "The circuit must be a Bayesian induction head, n = 2, over two symbols with pseudo-counts 1, 1."
        )
    if not 2 <= t <= 62:
        raise ValueError(f"The circuit is judged on 2 to 62 symbols, not on {t}.")
    with precision(BITS):
        errors = [head.error_bound(t, matches) for matches in range(t)]
    columns, outputs = [], []
    for final in range(4):
        count = window_counts(t, 2, final)
        for n11, turns in zip(*(axis.tolist() for axis in np.nonzero(count)), strict=True):
            last = final & 1
            begin = last if turns % 2 == 0 else 1 - last
            repeated, leaving = (n11 if last == 0 else t - 1 - n11 - turns), turns // 2
            ahead = (leaving if last == 0 else repeated) + 1
            outputs.append(_logits(ahead, repeated + leaving + 2, errors[repeated + leaving]))
            columns.append((begin + 1, final, n11, turns, int(count[n11, turns])))
    first, endings, stays, changes, count = np.array(columns, dtype=np.int64).T
    return Cells(t, first, endings, stays, changes, count, np.array(outputs))


def _logits(ahead: int, total: int, error: arb) -> Bounds:
    """The difference of logits where the probability of the symbol 2 is ahead/total, give or take the error."""
    with precision(BITS):
        exact = arb(ahead) / total
        low, high = exact - error, exact + error
        if not (low > 0 and high < 1):
            raise ValueError(
                f"The proved error {float(error):.3g} is no smaller than a probability: choose larger scales."
            )
        return outwards((low / (1 - low)).log(), (high / (1 - high)).log())
