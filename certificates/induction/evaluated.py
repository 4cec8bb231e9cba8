"""The loss of any causal transformer over k symbols, enclosed by running it in balls on every sequence.

Where the compact proof does not apply (absolute positions, tokens in front, biases, more heads or layers, more than two
symbols) all k^t sequences are run, one by one. Over two symbols the chain may start from its stationary law; the cells
are judged as those of `lemmata.certificates.induction.cells` then. Else the first symbol is uniform and independent of
the rows, which are uniform on the simplex: with a_j = 1 + the number of steps from x_t to j and A = sum_j a_j the Bayes
prediction is a/A, counting with plus one, and

    E KL(row of x_t || q) = sum_x P(x) sum_j (a_j/A) (psi(a_j + 1) - psi(A + 1) - ln q_j(x)),

as E[r_j ln r_j] = (a_j/A) (psi(a_j + 1) - psi(A + 1)) for a row r ~ Dirichlet(a), and P(x) = 1/k prod_i a(x_i)/A, the
product of these predictions.
"""

from __future__ import annotations

import time
from itertools import pairwise, product

import numpy as np
from flint import arb, fmpq

from lemmata.certificates.induction.cells import BITS, Judgement, Start, judge, outwards
from lemmata.certificates.induction.intervals import as_intervals
from lemmata.certificates.induction.losses import LossCertificate, cells_of_sequences
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.balls import as_balls, ball_max
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array

__all__ = ["MOST_EVALUATED", "evaluate_losses"]

MOST_EVALUATED = 1 << 10
"""The largest number of sequences that are run in balls."""
AT_ONCE = 64


def evaluate_losses(model: Transformer, t: int, start: Start) -> LossCertificate:
    """The loss of a causal transformer with k logits at the last of t positions, on all k^t sequences.

    Args:
        model: over the symbols 1, ..., k; its layers must run in balls.
        t: at least 1, with k^t <= 1024.
        start: the law of the first symbol; stationary for k = 2 only.

    Raises:
        ValueError: for another t or start, or outputs that are no k finite logits for every token; as a call of the
            model.
    """
    t, k = checked_integer("The number of symbols t", t, 1), model.symbols
    if start == "stationary" and k != 2:
        raise ValueError(f"With a stationary start losses are proved over two symbols, not {k}.")
    if k**t > MOST_EVALUATED:
        longest = max(n for n in range(1, 11) if k**n <= MOST_EVALUATED) if k <= MOST_EVALUATED else 0
        raise ValueError(
            f"All {k}^{t} sequences would have to be run in balls, which is done for up to {MOST_EVALUATED}: ask for a "
            f"length of at most {longest}."
        )
    begun = time.perf_counter()
    with precision(BITS):
        logits = _logits(model, t)
        if start == "stationary":
            proved = judge(cells_of_sequences(t, as_intervals(logits[:, 1] - logits[:, 0])))
        else:
            proved = _judged(logits, k, t)
    return LossCertificate(t, "sequences", t, 0, 1, proved, k**t, t * k**t, time.perf_counter() - begun)


def _logits(model: Transformer, t: int) -> Array:
    """The logits after every sequence in the order of `itertools.product`, shape (k^t, k), in balls."""
    k = model.symbols
    network = model.map(as_balls)
    x = np.array(list(product(range(1, k + 1), repeat=t)))
    found = np.concatenate([as_balls(network(part)[:, -1]) for part in np.array_split(x, -(-len(x) // AT_ONCE))])
    if found.shape != (k**t, k) or not all(ball.is_finite() for ball in found.ravel()):
        raise ValueError(f"A model over {k} symbols needs as many finite logits, not the shape {found.shape[1:]}.")
    return found


def _judged(logits: Array, k: int, t: int) -> Judgement:
    """What the logits of all sequences prove, over chains whose first symbol is uniform."""
    loss = bayes = mean = largest = arb(0)
    for x, row in zip(product(range(k), repeat=t), logits.tolist(), strict=True):
        counts, weight = [[1] * k for _ in range(k)], fmpq(1, k)
        for before, after in pairwise(x):
            weight *= fmpq(counts[before][after], sum(counts[before]))
            counts[before][after] += 1
        a, total = counts[x[-1]], sum(counts[x[-1]])
        normaliser = sum((entry.exp() for entry in row), start=arb(0)).log()
        distance = arb(0)
        for count, entry in zip(a, row, strict=True):
            share = fmpq(count, total)
            expected = arb(count + 1).digamma() - arb(total + 1).digamma()
            loss += weight * share * (expected - entry + normaliser)
            bayes += weight * share * (expected - arb(share).log())
            distance += abs((entry - normaliser).exp() - share) / 2
        mean += weight * distance
        largest = ball_max([largest, distance])
    gap, best = outwards(loss - bayes, loss - bayes, 0.0), outwards(bayes, bayes)
    return Judgement(outwards(loss, loss), best, best, gap, outwards(mean, mean, 0.0), outwards(largest, largest, 0.0))
