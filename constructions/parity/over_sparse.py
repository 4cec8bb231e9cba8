"""A two-layer ReLU network before and after one gradient step from sparse 0/1 weights, in exact arithmetic.

The network f(x) = sum_i u_i sigma(w_i.x + b_i) comes in pairs of neurons with equal w and b and opposite u, so that
f = 0, every example has the hinge slope -y, and the gradient in w_i is -u_i E[y 1{w_i.x + b_i > 0} x]. A step with
weight decay 1 and rate eta = 1/(2k|C|) leaves w_i = eta u_i g_i, with g_i from
`lemmata.numerics.parity.sparse_neurons`:

    a good neuron:            +-(1/(2k)) (1_S + (c/C) 1_(w - S)), a ramp of the sum over S, beside small weights,
    one that misses i of S:   +-(1/(2k)) e_i, silent on the whole cube if its bias is at most -1/(2k),
    one that misses more:     0, silent.

Truncation of the gradient at |C|/2 removes the small weights, if |c| < |C|/2, that is s > 3k - 2, and also removes
errors of the gradient below |C|/2 - |c|: what is left of a good neuron is supported on S. A neuron is silent on the
cube if and only if |w|_1 + b <= 0, because max_x w.x = |w|_1. A read-out of the ramps (`bias_grids`), averaged over the
good neurons of each bias, computes the parity exactly if the step is truncated and without error.

Source: pareto-frontiers, definition-algorithm, lemma C.6, theorem C.11 and the footnote on truncation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.bias_grids import AlternatingReadout, even_kink_grid, solve_readout
from lemmata.constructions.parity.support import Support, checked_support
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.parity.good_neurons import check_over_sparse
from lemmata.numerics.parity.sparse_neurons import over_sparse_neuron, over_sparse_values, sparse_gradient
from lemmata.numerics.runs.memory import require_memory

__all__ = [
    "SparseInitialization",
    "SteppedNeurons",
    "draw_over_sparse",
    "over_sparse_network",
    "over_sparse_step",
    "population_gradients",
    "sample_gradients",
]


@dataclass(frozen=True, eq=False)
class SparseInitialization:
    """Neurons of a network of width 2 * pairs before the step; the second half repeats them with opposite signs.

    Attributes:
        rows: w_i, 0 or 1, shape (pairs, n), the same odd number s of ones in each.
        bias: b_i, rational numbers with |b_i| < 1, shape (pairs,).
        signs: u_i, 1 or -1, shape (pairs,).

    Raises:
        ValueError: for other shapes or values: an even number of ones lets the bias decide at ties, and a bias of
            absolute value 1 or more changes which inputs a neuron sees.
    """

    rows: NDArray[np.int64]
    bias: Array
    signs: NDArray[np.int64]

    def __post_init__(self) -> None:
        rows, signs = np.array(self.rows), np.array(self.signs)
        bias = as_exact(list(self.bias)) if len(self.bias) else np.empty(0, dtype=object)
        if rows.ndim != 2 or 0 in rows.shape or not bias.shape == signs.shape == rows.shape[:1]:
            raise ValueError(
                f"The shapes must be rows (pairs, n), bias (pairs,), signs (pairs,), not {rows.shape}, {bias.shape}, "
                f"{signs.shape}."
            )
        if not np.all((rows == 0) | (rows == 1)) or not np.all((signs == 1) | (signs == -1)):
            raise ValueError("The rows must hold 0 and 1, and the signs must be 1 or -1.")
        counts = set(rows.sum(axis=1).tolist())
        if len(counts) != 1 or min(counts) % 2 == 0:
            raise ValueError(f"All rows must have the same odd number of ones, not {sorted(counts)}.")
        if not all(isinstance(b, fmpq) and -1 < b < 1 for b in bias):
            raise ValueError("The biases must be exact rational numbers between -1 and 1.")
        for name, part in (("rows", rows.astype(np.int64)), ("bias", bias), ("signs", signs.astype(np.int64))):
            part.setflags(write=False)
            object.__setattr__(self, name, part)

    @property
    def sparsity(self) -> int:
        """The number s of ones of every row."""
        return int(self.rows[0].sum())

    def good(self, support: Support) -> NDArray[np.bool_]:
        """Which pairs contain the support, shape (pairs,)."""
        return np.all(self.rows[:, checked_support(self.rows.shape[1], support)] == 1, axis=1)

    def network(self) -> TwoLayerNetwork:
        """The whole network before the step, of width 2 * pairs, exactly: it is 0 everywhere."""
        hidden = as_exact(np.vstack([self.rows, self.rows]))
        bias = np.concatenate([self.bias, self.bias])
        return TwoLayerNetwork(hidden, bias, as_exact(np.concatenate([self.signs, -self.signs])), Ramp(), fmpq(0))


@dataclass(frozen=True, eq=False)
class SteppedNeurons:
    """The neurons after the step; those of the second half are their mirror images, -hidden with the same bias.

    Attributes:
        hidden: w_i of the first half, fmpq, shape (pairs, n).
        bias: b_i, shape (pairs,).
        support: S.
        rising: whether a good neuron rises with sum_S x, shape (pairs,): u_i C > 0.
    """

    hidden: Array
    bias: Array
    support: tuple[int, ...]
    rising: NDArray[np.bool_]

    def largest_sums(self) -> Array:
        """|w_i|_1 + b_i, the largest pre-activation of a neuron and of its mirror image over the cube, (pairs,)."""
        return np.abs(self.hidden).sum(axis=1) + self.bias

    def silent(self) -> NDArray[np.bool_]:
        """Which neurons are 0 on the whole cube, with their mirror images: if and only if |w|_1 + b <= 0."""
        return np.array([x <= 0 for x in self.largest_sums()])

    def recovered(self) -> NDArray[np.bool_]:
        """Which neurons have exactly the support as their nonzero weights, shape (pairs,)."""
        inside = np.zeros(self.hidden.shape[1], dtype=bool)
        inside[list(self.support)] = True
        return np.array([np.array_equal(row != 0, inside) for row in self.hidden])

    def network(self, readout: AlternatingReadout, used: ArrayLike) -> TwoLayerNetwork:
        """The network of width 2 * pairs with a read-out, averaged over the used pairs of each bias, exactly.

        Args:
            readout: of the ramps sigma(+-z/(2k) + b), for biases among those of the neurons.
            used: which pairs it reads, shape (pairs,), usually the good ones; the others get the weight 0.

        Raises:
            ValueError: for another k or shape, or if no used pair has one of the biases.
        """
        mask = np.asarray(used, dtype=bool)
        if mask.shape != self.bias.shape or readout.k != len(self.support):
            raise ValueError(
                f"The mask of the used pairs must have the shape {self.bias.shape}, and the read-out the degree "
                f"{len(self.support)}, not {mask.shape} and {readout.k}."
            )
        first, second = (np.array([fmpq(0)] * len(mask), dtype=object) for _ in range(2))
        for bias, plus, minus in zip(readout.biases, readout.plus, readout.minus, strict=True):
            members = [i for i in np.flatnonzero(mask) if self.bias[i] == bias]
            if not members:
                raise ValueError(f"No used pair has the bias {bias}: draw more neurons.")
            for i in members:
                rise, fall = (first, second) if self.rising[i] else (second, first)
                rise[i], fall[i] = plus / len(members), minus / len(members)
        hidden = np.vstack([self.hidden, -self.hidden])
        weights = np.concatenate([first, second])
        return TwoLayerNetwork(hidden, np.concatenate([self.bias, self.bias]), weights, Ramp(), readout.constant)


def draw_over_sparse(
    n: int, s: int, biases: Sequence[object], pairs: int, rng: np.random.Generator
) -> SparseInitialization:
    """Pairs with uniformly random rows of s ones, biases from the grid, and signs.

    Raises:
        ValueError: if there is no pair or no bias, s is not in 1..n, the rows do not fit in memory (saying how much
            they need), or as `SparseInitialization`.
    """
    grid = as_exact(list(biases)) if len(biases) else []
    if pairs < 1 or not len(grid) or not 1 <= s <= n:
        raise ValueError(
            f"Draw at least one pair, from at least one bias, with 1 <= s <= n ones, not {pairs} pairs from "
            f"{len(grid)} biases with s = {s} and n = {n}. (The printed grid is empty for k = 2.)"
        )
    require_memory(2 * 8 * pairs * n, f"An initialization of {pairs} pairs with {n} inputs")
    rows = np.zeros((pairs, n), dtype=np.int64)
    for row in rows:
        row[rng.choice(n, s, replace=False)] = 1
    chosen = np.array([grid[j] for j in rng.integers(0, len(grid), pairs)], dtype=object)
    return SparseInitialization(rows, chosen, rng.choice([-1, 1], pairs))


def population_gradients(initialization: SparseInitialization, support: Support) -> Array:
    """E[chi_S(x) 1{w_i.x + b_i > 0} x] of every pair, exactly: shape (pairs, n).

    Raises:
        ValueError: as `checked_support` and `check_over_sparse`.
    """
    rows = initialization.rows
    n, indices = rows.shape[1], checked_support(rows.shape[1], support)
    check_over_sparse(n, len(indices), initialization.sparsity)
    return np.array(
        [sparse_gradient(over_sparse_neuron(n, np.flatnonzero(w).tolist()), indices) for w in rows], dtype=object
    )


def sample_gradients(initialization: SparseInitialization, x: ArrayLike, y: ArrayLike) -> Array:
    """The same averaged over a sample of signs x (m, n) with labels y (m,), as rational numbers: shape (pairs, n).

    Raises:
        ValueError: unless x and y hold signs and their shapes fit.
    """
    inputs, labels = np.asarray(x), np.asarray(y)
    rows = initialization.rows
    if inputs.ndim != 2 or inputs.shape[1] != rows.shape[1] or labels.shape != inputs.shape[:1] or not len(labels):
        raise ValueError(
            f"A sample has inputs (m, {rows.shape[1]}) and labels (m,) with m >= 1, not {inputs.shape} and "
            f"{labels.shape}."
        )
    if not np.all(np.abs(inputs) == 1) or not np.all(np.abs(labels) == 1):
        raise ValueError("The inputs and the labels of a sample must be 1 or -1.")
    # odd sums, |bias| < 1: a neuron is active where its sum is positive. All sums below are integers below 2^53.
    active = inputs.astype(np.float64) @ rows.T > 0
    totals = (active * labels[:, None].astype(np.float64)).T @ inputs
    exact = as_exact(totals.astype(np.int64))
    return exact / fmpq(len(labels))


def over_sparse_step(
    initialization: SparseInitialization,
    support: Support,
    gradients: ArrayLike | None = None,
    *,
    truncate: bool = True,
) -> SteppedNeurons:
    """The neurons after one step with weight decay 1 and rate 1/(2k|C|) on their weights.

    Args:
        initialization: the network before.
        support: S, with an even number k of elements, k < s.
        gradients: estimates of E[y 1{w_i.x + b_i > 0} x], shape (pairs, n), exact rational numbers; those of the
            population if None.
        truncate: whether entries of absolute value at most |C|/2 are set to 0 first.

    Raises:
        ValueError: for gradients of another shape or that are not exact; as `population_gradients`.
    """
    rows = initialization.rows
    indices = checked_support(rows.shape[1], support)
    k = len(indices)
    check_over_sparse(rows.shape[1], k, initialization.sparsity)
    relevant = over_sparse_values(initialization.sparsity, k).relevant
    found = population_gradients(initialization, indices) if gradients is None else as_exact(np.asarray(gradients))
    if found.shape != rows.shape or not all(isinstance(g, fmpq) for g in found.flat):
        raise ValueError(f"The gradients must be exact rational numbers of the shape {rows.shape}, not {found.shape}.")
    if truncate:
        found = found.copy()
        found[np.abs(found) <= abs(relevant) / 2] = fmpq(0)
    signs = as_exact(initialization.signs)
    hidden = found * signs[:, None] / (2 * k * abs(relevant))
    rising = (initialization.signs > 0) == (relevant > 0)
    return SteppedNeurons(hidden, initialization.bias, tuple(indices), rising)


def over_sparse_network(
    n: int, support: Support, s: int, biases: Sequence[object] | None = None, *, exact: bool = False
) -> TwoLayerNetwork:
    """The network of width k that a truncated step makes of one good pair for each bias: it equals chi_S.

    Args:
        n: the number of inputs.
        support: S, with even k.
        s: the odd number of ones of a neuron, 3k - 2 < s <= n.
        biases: k/2 biases at most -1/(2k), with one kink in each interval [2q - 2, 2q); `even_kink_grid` if None.
        exact: fmpq weights instead of float64.

    Raises:
        ValueError: for k and s out of range, and biases that have no read-out (see `solve_readout`).
    """
    indices = checked_support(n, support)
    k = len(indices)
    check_over_sparse(n, k, s)
    if s <= 3 * k - 2:
        raise ValueError(
            f"Truncation at |C|/2 keeps the irrelevant weights unless s > 3k - 2 = {3 * k - 2}, but s = {s}."
        )
    readout = solve_readout(k, even_kink_grid(k) if biases is None else biases)
    order = [*indices, *np.setdiff1d(np.arange(n), indices).tolist()]
    rows = np.zeros((len(readout.biases), n), dtype=np.int64)
    rows[:, order[:s]] = 1
    before = SparseInitialization(rows, np.array(readout.biases, dtype=object), np.ones(len(rows), dtype=np.int64))
    network = over_sparse_step(before, indices).network(readout, np.ones(len(rows), dtype=bool))
    if exact:
        return network
    hidden, bias, weights, constant = (
        to_float(as_exact(part)) for part in (network.hidden, network.bias, network.readout, [network.output_bias])
    )
    return TwoLayerNetwork(hidden, bias, weights, network.activation, constant.item())
