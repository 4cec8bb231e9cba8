"""Gradients of sparse neurons on a random sample, in integers: what one batch step sees.

For m samples (x, chi_S(x)) the estimate of g_i = E[1{w.x + b > 0} x_i chi_S(x)] is an integer over m. Its summands lie
in [-1, 1], so that by Hoeffding's inequality all entries of r neurons are within tau of g with probability 1 - delta if
m >= (2/tau^2) log(2 n r/delta): `lemmata.numerics.parity.one_step.recovery_samples` with n r inputs and the gap 2 tau.

Source: pareto-frontiers, lemma C.5 and theorem C.16.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, product
from math import comb, prod

import numba
import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.fourier.gaps import support_indices
from lemmata.numerics.parity.sparse_neurons import SparseNeuron

__all__ = ["TrackedCounts", "sampled_counts", "tabulated_counts", "tracked_counts"]

_CHUNK = 2**14
_MOST_INPUTS = 24
_MOST_TRACKED = 16


def sampled_counts(
    neurons: Sequence[SparseNeuron], support: Iterable[int], samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """m times the estimates of the gradients of all neurons on one sample, shape (r, n).

    Args:
        neurons: at least one, all with the same number n of inputs.
        support: S, as different indices from 0 to n-1.
        samples: m, at least 1.
        rng: where the inputs come from.

    Raises:
        ValueError: if there are no neurons or samples, the numbers of inputs differ, the support is no set of inputs,
            or the numbers of a neuron are too long for 64 bits.
    """
    table, offsets, inside = _integers(neurons, support, samples)
    counts = np.zeros(table.shape, dtype=np.int64)
    for start in range(0, samples, _CHUNK):
        size = (min(_CHUNK, samples - start), table.shape[1])
        x = rng.integers(0, 2, size=size, dtype=np.int8) * np.int8(2) - np.int8(1)
        _accumulate(table, offsets, inside, x, np.ones(len(x), dtype=np.int64), counts)
    return counts


def tabulated_counts(
    neurons: Sequence[SparseNeuron], support: Iterable[int], samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The same in law, by drawing how often each of the 2^n inputs occurs: for any number of samples up to 2^62.

    Args and errors as `sampled_counts`; at most 24 inputs.
    """
    table, offsets, inside = _integers(neurons, support, samples)
    n = table.shape[1]
    if n > _MOST_INPUTS or samples >= 2**62:
        raise ValueError(
            f"A table of all inputs holds at most {_MOST_INPUTS} signs and 2^62 samples, not {n} signs and {samples}."
        )
    multiplicities = rng.multinomial(samples, np.full(2**n, 0.5**n))
    counts = np.zeros(table.shape, dtype=np.int64)
    for start in range(0, 2**n, _CHUNK):
        codes = np.arange(start, min(start + _CHUNK, 2**n))
        x = (1 - 2 * ((codes[:, None] >> np.arange(n)) & 1)).astype(np.int8)
        _accumulate(table, offsets, inside, x, multiplicities[codes], counts)
    return counts


@dataclass(frozen=True, eq=False)
class TrackedCounts:
    """The joint law of the counts of one neuron at a few inputs, for any number of inputs and samples.

    Attributes:
        summands: the values that chi_S(x) x_i takes, over the tracked i, where the neuron is active, shape (v, t).
        probabilities: of these values, shape (v,); the rest is the probability that the neuron is not active.
    """

    summands: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    def draw(self, samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """The counts at the tracked inputs on one sample, shape (t,).

        Raises:
            ValueError: if there is no sample.
        """
        if samples < 1:
            raise ValueError(f"A batch has at least one sample, not {samples}.")
        shares = np.append(self.probabilities, max(0.0, 1 - self.probabilities.sum()))
        return rng.multinomial(samples, shares)[:-1] @ self.summands


def tracked_counts(neuron: SparseNeuron, support: Iterable[int], tracked: Iterable[int]) -> TrackedCounts:
    """The law of the counts at the tracked inputs alone: exact but for the rounding of the probabilities.

    The signs of S and of the tracked inputs are listed. The others enter by their sums over the ones and over the small
    weights, which are binomial, so that the chance of an active neuron is a sum over these, in integers.

    Args:
        neuron: weights and bias.
        support: S, as different indices from 0 to n-1.
        tracked: the inputs whose counts are wanted, likewise; at most 16 together with S.

    Raises:
        ValueError: if S or the tracked inputs are no set of inputs, or too many.
    """
    S, wanted = support_indices(neuron.n, support), support_indices(neuron.n, tracked)
    listed = sorted(set(S) | set(wanted))
    if len(listed) > _MOST_TRACKED:
        raise ValueError(f"S and the tracked inputs are {len(listed)}: at most {_MOST_TRACKED} are listed.")
    ones, small = set(neuron.ones), set(neuron.small)
    free = len(ones - set(listed)), len(small - set(listed))
    chances: dict[tuple[int, int], float] = {}
    shares: dict[tuple[int, ...], float] = {}
    for signs in product((1, -1), repeat=len(listed)):
        x = dict(zip(listed, signs, strict=True))
        key = sum(x[i] for i in listed if i in ones), sum(x[i] for i in listed if i in small)
        if key not in chances:
            chances[key] = _chance_of_activity(neuron, key, free)
        label = prod(x[i] for i in S)
        summand = tuple(label * x[i] for i in wanted)
        shares[summand] = shares.get(summand, 0.0) + chances[key] / 2 ** len(listed)
    return TrackedCounts(np.array(list(shares), dtype=np.int64), np.array(list(shares.values())))


def _chance_of_activity(neuron: SparseNeuron, sums: tuple[int, int], free: tuple[int, int]) -> float:
    """P[p + epsilon q + b > 0] with p and q these sums and those of so many free signs."""
    scale = common_denominator([neuron.epsilon, neuron.bias])
    epsilon, bias = int(neuron.epsilon * scale), int(neuron.bias * scale)
    below = _binomial_sums(free[1])
    active = 0
    for i in range(free[0] + 1):
        most = scale * (sums[0] + free[0] - 2 * i) + bias + epsilon * (sums[1] + free[1])
        # active with j free small entries -1 while most - 2 epsilon j > 0
        count = -(-most // (2 * epsilon)) if epsilon else (free[1] + 1 if most > 0 else 0)
        active += comb(free[0], i) * below[min(max(count, 0), free[1] + 1)]
    return active / 2 ** (free[0] + free[1])


@cache
def _binomial_sums(n: int) -> list[int]:
    """The sums of the first 0, ..., n + 1 binomials C(n, j)."""
    return list(accumulate((comb(n, j) for j in range(n + 1)), initial=0))


def _integers(
    neurons: Sequence[SparseNeuron], support: Iterable[int], samples: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Weights and biases over one denominator, shapes (r, n) and (r,), and the support; errors as `sampled_counts`."""
    sizes = {neuron.n for neuron in neurons}
    if len(sizes) != 1:
        raise ValueError(f"Give at least one neuron, all with the same number of inputs, not with {sorted(sizes)}.")
    if samples < 1:
        raise ValueError(f"A batch has at least one sample, not {samples}.")
    inside = np.array(support_indices(sizes.pop(), support), dtype=np.int64)
    scale = common_denominator([number for neuron in neurons for number in (neuron.epsilon, neuron.bias)])
    weights = [[int(w * scale) for w in neuron.weights] for neuron in neurons]
    biases = [int(neuron.bias * scale) for neuron in neurons]
    if max(sum(row) + abs(bias) for row, bias in zip(weights, biases, strict=True)) >= 2**62:
        raise ValueError("The numbers of the neurons are too long for the compiled loop: round epsilon and the bias.")
    return np.array(weights, dtype=np.int64), np.array(biases, dtype=np.int64), inside


@numba.njit(cache=True)
def _accumulate(
    weights: NDArray[np.int64],
    biases: NDArray[np.int64],
    inside: NDArray[np.int64],
    x: NDArray[np.int8],
    multiplicities: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Add chi_S(x) x_i of the samples at which a neuron is active to its row of the counts, as often as they occur."""
    rows, n = weights.shape
    for t in range(len(x)):
        label = multiplicities[t]
        for i in inside:
            label *= x[t, i]
        for r in range(rows):
            before = biases[r]
            for i in range(n):
                before += weights[r, i] * x[t, i]
            if before > 0:
                for i in range(n):
                    counts[r, i] += label * x[t, i]
