"""How many samples one sparse step needs when it is run: the event that Hoeffding's inequality bounds, sampled.

A run draws a start of so many pairs and a sample, and asks whether every estimated gradient is within the tolerance of
the population's, at falling numbers of samples (prefixes of one sample, sqrt 2 apart). If R runs all succeed at a
number of samples, a run fails there with probability below 1 - (1/20)^(1/R), with confidence 95 % for a number fixed
beforehand. `lemmata.constructions.parity.frontier.SparseStart.samples` is the number that is proved.

Source: pareto-frontiers, lemma C.5 (the estimate), ext-odd-sizes (odd k); the runs are ours.
"""

from __future__ import annotations

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.constructions.parity.frontier import SparseStart
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.parity.sparse_neurons import over_sparse_neuron, sparse_gradient, under_sparse_neuron

__all__ = ["enough_samples"]

_CHUNK = 2**13  # samples at once: float32 is exact for counts below 2^24, whatever the order of a sum
_ACTIVE = 2**25  # samples times pairs at once, for the memory
_MOST_WORK = 10**12
_HALVINGS = 24


def enough_samples(start: SparseStart, pairs: int, most: int, runs: int = 20, seed: int = 0) -> int | None:
    """The least of the numbers most/2^(j/2), j < 24, at which, as at all larger ones, every one of the runs succeeds.

    Args:
        start: n, k, s.
        pairs: neurons, each with its own ones.
        most: the largest number of samples to try, such as the proved one.
        runs: how many starts and samples are drawn.
        seed: of the generators; run i has its own, of (seed, i).

    Returns:
        The number of samples; None if some run fails with ``most`` already, or if all runs together would take more
        than 10^12 multiplications.

    Raises:
        ValueError: unless pairs, most and runs are positive integers.
    """
    for name, value in (("pairs", pairs), ("samples", most), ("runs", runs)):
        checked_integer(f"The number of {name}", value, 1)
    if 2 * runs * most * pairs * start.n > _MOST_WORK:
        return None
    sizes = sorted({max(1, round(most / 2 ** (j / 2))) for j in range(_HALVINGS)})
    good = np.ones(len(sizes), dtype=bool)
    for run in range(runs):
        good &= _within(start, pairs, sizes, np.random.default_rng((seed, run)))
    failed = np.flatnonzero(~good)
    first = failed[-1] + 1 if len(failed) else 0
    return sizes[first] if first < len(sizes) else None


def _within(start: SparseStart, pairs: int, sizes: list[int], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Whether all estimates are within the tolerance, at each of the increasing sizes: shape (sizes,)."""
    n, k = start.n, start.k
    ones = rng.permuted(np.tile(np.arange(n) < start.s, (pairs, 1)), axis=1)
    small = start.regime == "under"
    # over-sparse: the sum of the ones; under-sparse: with 1/(2n) times the sum of the others, as integers
    weights = np.where(ones, 2 * n, 1) if small else ones
    weights = weights.astype(np.float32)
    # for odd k and s < k a positive bias turns the gradient, as all inputs tie; the others count as 0
    raised = rng.integers(0, k, pairs) < (k - 1) // 2 if small and k % 2 else np.zeros(pairs, dtype=bool)
    bias = (raised / 2).astype(np.float32)
    target = _gradients(start, ones)
    target[raised] *= -1
    tolerance = float(arb(start.tolerance))
    counts = np.zeros((pairs, n))
    chunk = max(1, min(_CHUNK, _ACTIVE // pairs))
    done, found = 0, []
    for size in sizes:
        while done < size:
            x = rng.choice(np.array([-1, 1], dtype=np.float32), size=(min(chunk, size - done), n))
            active = (x @ weights.T + bias > 0).astype(np.float32)
            counts += active.T @ (x * x[:, :k].prod(axis=1, keepdims=True))
            done += len(x)
        found.append(bool((np.abs(counts / size - target) <= tolerance).all()))
    return np.array(found)


def _gradients(start: SparseStart, ones: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The population gradients of neurons with these ones, S the first k inputs: shape (pairs, n)."""
    n, k, s = start.n, start.k, start.s
    result = np.empty(ones.shape)
    hits = ones[:, :k].sum(axis=1)
    for hit in np.unique(hits):
        chosen = (*range(int(hit)), *range(k, k + s - int(hit)))
        under = start.regime == "under"
        neuron = under_sparse_neuron(n, chosen, fmpq(1, 2 * n)) if under else over_sparse_neuron(n, chosen)
        exact = sparse_gradient(neuron, range(k))
        is_one, relevant = neuron.weights == fmpq(1), np.arange(n) < k
        rows = ones[hits == hit]
        table = np.empty(rows.shape)
        for one in (False, True):
            for inside in (False, True):
                places = np.flatnonzero((is_one == one) & (relevant == inside))
                if len(places):
                    table[(rows == one) & (relevant == inside)] = float(arb(exact.tolist()[places[0]]))
        result[hits == hit] = table
    return result
