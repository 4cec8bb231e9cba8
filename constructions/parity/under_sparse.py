"""One truncated gradient step on an under-sparse ReLU network, and the parity that a part of it then computes.

Each neuron starts with s coordinates equal to 1, the set A, and the others equal to epsilon < 1/(n-s); its bias is one
of the k values -(epsilon/2k) theta_q with the kinks theta_q = -(k-1) + 2(q-1), q = 1, ..., k. A second half mirrors the
first with the output weights u = +-1 negated, so that the network is 0 at the start and the hinge loss has slope 1.
The first-layer weights take the step

    w <- (1 - lambda) w + eta u trunc(g, gamma),    lambda = 1 - epsilon/2k,  eta = epsilon/(2k |xi_rel|),

where trunc zeroes the entries of size at most gamma = |xi_rel|/2, and nothing else moves. A neuron with A inside S has
g = xi_rel on S \\ A, xi_irr outside of S and 0 on A (`lemmata.numerics.parity.sparse_neurons`). Once |xi_irr| <= gamma,
those with u = sign(xi_rel) end with epsilon/2k on A, (epsilon/2k)(1 + epsilon) on S \\ A and epsilon^2/2k outside of S.
With s_x the sum of x over S and z that over the complement of A, such a neuron is

    (epsilon/2k) max(s_x + epsilon z - theta_q, 0).

The parity alternates at s_x = -k, -k+2, ..., k, and the kinks lie halfway between, so that

    chi_S = 1 + sum_q (-1)^q (4k (2q-1)/epsilon) max((epsilon/2k)(s_x - theta_q), 0)

exactly: with m entries +1 in S the sum is 2 sum_(q<=m) (-1)^q (2q-1)(2(m-q) + 1) = (-1)^m - 1. The term epsilon z moves
no s_x over a kink, |epsilon z| being less than 1, and adds 2 epsilon z sum_(q<=m) (-1)^q (2q-1) = 2 epsilon z (-1)^m m.
So the read-out errs by 2 epsilon m |z|, at most 2 k (n-s) epsilon, which is attained; its margin is 1 + 2 epsilon m z.

Source: pareto-frontiers, appendix C.2.3, theorem C.16 (with the repairs that its ledger entry lists).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.support import Support, checked_support
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.numerics.parity.sparse_neurons import (
    SparseNeuron,
    check_under_sparse,
    sparse_gradient,
    under_sparse_neuron,
    under_sparse_values,
)

__all__ = [
    "UnderSparseStart",
    "UnderSparseStep",
    "bias_kinks",
    "draw_under_sparse",
    "readout_error_bound",
    "readout_weights",
    "silent_neurons",
    "under_sparse_error",
    "under_sparse_margin",
    "under_sparse_network",
    "under_sparse_step",
]


def bias_kinks(k: int) -> list[int]:
    """theta_1, ..., theta_k: -(k-1), -(k-3), ..., k-1."""
    return list(range(1 - k, k, 2))


@dataclass(frozen=True, eq=False)
class UnderSparseStart:
    """The first half of an under-sparse network at the start; the second half mirrors it.

    Attributes:
        n: the number of inputs.
        k: the number of biases, and of inputs of the parity.
        ones: the sets A, shape (r/2, s), each row increasing.
        levels: the indices q - 1 of the kinks, shape (r/2,), from 0 to k-1.
        signs: u, shape (r/2,).
        epsilon: the weight of the other coordinates, rational, in (0, 1/(n-s)).

    Raises:
        ValueError: if k or s is odd, not s < k <= n, epsilon is not in (0, 1/(n-s)), or a shape or entry does not fit.
    """

    n: int
    k: int
    ones: NDArray[np.int64]
    levels: NDArray[np.int64]
    signs: NDArray[np.int64]
    epsilon: Any

    def __post_init__(self) -> None:
        for name in ("ones", "levels", "signs"):
            part = np.array(getattr(self, name), dtype=np.int64)
            part.flags.writeable = False
            object.__setattr__(self, name, part)
        if self.ones.ndim != 2 or not self.levels.shape == self.signs.shape == self.ones.shape[:1] != (0,):
            raise ValueError(
                "The start needs ones of shape (r/2, s), levels and signs of shape (r/2,), r >= 2, not "
                f"{self.ones.shape}, {self.levels.shape} and {self.signs.shape}."
            )
        object.__setattr__(self, "epsilon", checked_epsilon(self.n, self.k, self.s, self.epsilon))
        if any(len(set(row)) < len(row) or not set(row) <= set(range(self.n)) for row in self.ones.tolist()):
            raise ValueError(f"Each set of ones holds different indices from 0 to {self.n - 1}.")
        if not np.all(np.abs(self.signs) == 1):
            raise ValueError("The output weights at the start are +1 and -1.")
        if not np.all((self.levels >= 0) & (self.levels < self.k)):
            raise ValueError(f"The levels of the biases are 0 to {self.k - 1}.")

    @property
    def s(self) -> int:
        """The number of coordinates that are 1."""
        return self.ones.shape[1]

    @property
    def biases(self) -> NDArray[np.object_]:
        """-(epsilon/2k) theta_q of each neuron, shape (r/2,), fmpq."""
        values = as_exact([-theta for theta in bias_kinks(self.k)]) * (self.epsilon / (2 * self.k))
        return values[self.levels]

    @property
    def neurons(self) -> list[SparseNeuron]:
        """The neurons of the first half."""
        rows = zip(self.ones.tolist(), self.biases.tolist(), strict=True)
        return [under_sparse_neuron(self.n, row, self.epsilon, bias) for row, bias in rows]

    def network(self) -> TwoLayerNetwork:
        """The whole network of width r, exact; it is 0 at every input."""
        hidden = np.stack([neuron.weights for neuron in self.neurons])
        return _mirrored(hidden, hidden, self.biases, self.signs)

    def population_gradient(self, support: Support) -> NDArray[np.object_]:
        """The gradients g of the neurons of the first half, shape (r/2, n), fmpq; equal for neurons with equal ones."""
        S = checked_support(self.n, support)
        known: dict[tuple[int, ...], NDArray[np.object_]] = {}
        for neuron in self.neurons:
            if neuron.ones not in known:
                known[neuron.ones] = sparse_gradient(neuron, S)
        return np.stack([known[neuron.ones] for neuron in self.neurons])


def draw_under_sparse(n: int, k: int, s: int, epsilon: Any, width: int, rng: np.random.Generator) -> UnderSparseStart:
    """A random start: uniform sets of s ones, uniform biases and signs.

    Args:
        n: the number of inputs.
        k: the number of inputs of the parity, even.
        s: the number of ones, even, below k.
        epsilon: the weight elsewhere, in (0, 1/(n-s)).
        width: r, even, at least 2.
        rng: the source of randomness.

    Raises:
        ValueError: as `UnderSparseStart`, and for an odd or too small width.
    """
    if width < 2 or width % 2:
        raise ValueError(f"The width must be even, as a second half mirrors the first, and at least 2, not {width}.")
    check_under_sparse(n, k, s)
    half = width // 2
    ones = np.sort(np.stack([rng.permutation(n)[:s] for _ in range(half)]), axis=1)
    return UnderSparseStart(n, k, ones, rng.integers(0, k, half), 2 * rng.integers(0, 2, half) - 1, epsilon)


def checked_epsilon(n: int, k: int, s: int, epsilon: Any) -> fmpq:
    """epsilon as fmpq.

    Raises:
        ValueError: unless the sizes are under-sparse and epsilon is a rational number in (0, 1/(n-s)).
    """
    check_under_sparse(n, k, s)
    value = as_fmpq(epsilon)
    if value is None or not 0 < value * (n - s) < 1:
        raise ValueError(
            f"epsilon must be a rational number in (0, 1/(n-s)) = (0, 1/{n - s}), not {epsilon}: larger ones decide "
            "more than ties, and the gradient is another one."
        )
    return value


# --- the step -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class UnderSparseStep:
    """A network after the step, of width r, with the inputs that each neuron has picked up.

    Attributes:
        start: the start.
        network: after the step, with the output weights of the start.
        moved: the sign, shape (r, n), in which each weight was moved by the gradient: 0 where it was truncated.
    """

    start: UnderSparseStart
    network: TwoLayerNetwork
    moved: NDArray[np.int64]

    def holds(self, support: Support) -> NDArray[np.bool_]:
        """Which of the r neurons read exactly S: ones inside S, and moved up on the rest of S and nowhere else."""
        S = checked_support(self.start.n, support)
        wanted = np.zeros(self.start.n, dtype=np.int64)
        wanted[S] = 1
        ones = np.zeros((len(self.start.ones), self.start.n), dtype=np.int64)
        np.put_along_axis(ones, self.start.ones, 1, axis=1)
        return np.all(np.concatenate([ones, ones]) + self.moved == wanted, axis=1)

    def read_out(self, support: Support) -> TwoLayerNetwork:
        """The network with the output weights that make it the parity: k of the neurons, one for each kink, and 1.

        Raises:
            ValueError: if for some kink no neuron reads exactly S.
        """
        k = self.start.k
        if len(checked_support(self.start.n, support)) != k:
            raise ValueError(f"The biases of this network serve parities of {k} inputs.")
        found = self.holds(support)
        levels = np.concatenate([self.start.levels, self.start.levels])
        weights = np.full(self.network.width, fmpq(0), dtype=object)
        for level, value in enumerate(readout_weights(k, self.start.epsilon)):
            candidates = np.flatnonzero(found & (levels == level))
            if not len(candidates):
                raise ValueError(
                    f"No neuron with the kink {bias_kinks(k)[level]} reads the support: the network is too narrow."
                )
            weights[candidates[0]] = value
        return replace(self.network, readout=weights, output_bias=fmpq(1))


def under_sparse_step(
    start: UnderSparseStart,
    gradients: NDArray[np.object_],
    *,
    gamma: Any = None,
    rate: Any = None,
    decay: Any = None,
) -> UnderSparseStep:
    """The truncated step of the first-layer weights.

    Args:
        start: the network before.
        gradients: g of the first half, shape (r/2, n), rational: `UnderSparseStart.population_gradient`, or the counts
            of `lemmata.numerics.parity.sparse_samples` over the number of samples.
        gamma: entries of size at most gamma are zeroed; |xi_rel|/2 if None.
        rate: eta; epsilon/(2k |xi_rel|) if None.
        decay: lambda; 1 - epsilon/2k if None.

    Raises:
        ValueError: if the gradients do not fit, or a number is not rational.
    """
    g = as_exact(gradients)
    if g.shape != (len(start.ones), start.n):
        raise ValueError(f"The gradients must have the shape {(len(start.ones), start.n)}, not {g.shape}.")
    relevant = abs(under_sparse_values(start.n, start.k, start.s).relevant)
    unit = start.epsilon / (2 * start.k)
    threshold, eta, lost = (
        default if given is None else _rational(name, given)
        for name, given, default in (
            ("gamma", gamma, relevant / 2),
            ("rate", rate, unit / relevant),
            ("decay", decay, 1 - unit),
        )
    )
    truncated = g.copy()
    truncated[abs(g) <= threshold] = fmpq(0)
    before = np.stack([neuron.weights for neuron in start.neurons]) * (1 - lost)
    change = truncated * as_exact(start.signs[:, None]) * eta
    network = _mirrored(before + change, before - change, start.biases, start.signs)
    direction = np.array([[(x > 0) - (x < 0) for x in row] for row in change], dtype=np.int64)
    return UnderSparseStep(start, network, np.concatenate([direction, -direction]))


def silent_neurons(network: TwoLayerNetwork) -> NDArray[np.bool_]:
    """Which ReLU neurons vanish on the whole cube: |w|_1 + b <= 0, the largest pre-activation over all sign vectors."""
    return np.asarray(
        [abs(row).sum() + b <= 0 for row, b in zip(network.hidden, network.bias, strict=True)], dtype=bool
    )


# --- the read-out ---------------------------------------------------------------------------------------------------


def readout_weights(k: int, epsilon: Any) -> list[fmpq]:
    """(-1)^q 4k (2q-1)/epsilon for q = 1, ..., k; times epsilon/2k their sizes sum to 2k^2.

    Raises:
        ValueError: unless k is even and positive and epsilon a positive rational number.
    """
    value = as_fmpq(epsilon)
    if k < 2 or k % 2 or value is None or value <= 0:
        raise ValueError(
            f"The read-out needs an even k >= 2 and a rational epsilon > 0, not k = {k}, epsilon = {epsilon}."
        )
    return [(-1) ** q * 4 * k * (2 * q - 1) / value for q in range(1, k + 1)]


def under_sparse_error(n: int, k: int, s: int, epsilon: Any) -> fmpq:
    """The largest error 2 k (n-s) epsilon of the read-out after the population step, over the whole cube.

    Raises:
        ValueError: as `checked_epsilon`.
    """
    return 2 * k * (n - s) * checked_epsilon(n, k, s, epsilon)


def under_sparse_margin(n: int, k: int, s: int, epsilon: Any) -> fmpq:
    """The least value of chi_S(x) f(x) = 1 + 2 epsilon m z over the cube; the sign of f is the parity where positive.

    With m entries +1 in S, z is least where as many of them as fit lie in A: z = 2 max(m-s, 0) - (n-s).

    Raises:
        ValueError: as `checked_epsilon`.
    """
    value = checked_epsilon(n, k, s, epsilon)
    return 1 + 2 * value * min(m * (2 * max(m - s, 0) - (n - s)) for m in range(k + 1))


def readout_error_bound(network: TwoLayerNetwork, support: Support, epsilon: Any) -> fmpq:
    """A proved bound of the error |f - chi_S| of a read-out over the cube, for any number of inputs, without a list.

    The sum over the neurons of |u| times the l1-distance of their weights to epsilon/2k on S: the read-out of the exact
    weights is the parity, and ReLUs do not expand. After the population step it is k times `under_sparse_error`.

    Args:
        network: as `UnderSparseStep.read_out` or `under_sparse_network` give it, exact.
        support: S.
        epsilon: the small weight at the start.

    Raises:
        ValueError: if the network is not exact, or its biases and output weights are not those of the read-out.
    """
    S = checked_support(network.hidden.shape[1], support)
    k = len(S)
    weights, unit = readout_weights(k, epsilon), _rational("epsilon", epsilon) / (2 * k)
    used = [i for i, u in enumerate(network.readout) if u != 0]
    found = {(network.bias[i], network.readout[i]) for i in used} if network.exact else set()
    wanted = {(-unit * theta, u) for theta, u in zip(bias_kinks(k), weights, strict=True)}
    if len(used) != k or found != wanted or network.output_bias != 1:
        raise ValueError("The network is not exact, or its biases and output weights are not those of the read-out.")
    ideal = np.full(network.hidden.shape[1], fmpq(0), dtype=object)
    ideal[S] = unit
    return sum((abs(network.readout[i]) * abs(network.hidden[i] - ideal).sum() for i in used), fmpq(0))


def under_sparse_network(
    n: int, support: Support, s: int, epsilon: Any, *, ones: Iterable[int] | None = None, exact: bool = False
) -> TwoLayerNetwork:
    """The k neurons that the population step makes of one good set of ones, with the exact read-out.

    Args:
        n: the number of inputs.
        support: S, with an even number k of indices; an integer k stands for 0, ..., k-1.
        s: the number of ones at the start, even, below k.
        epsilon: the small weight at the start, a rational number in (0, 1/(n-s)).
        ones: A, s indices of S; the first s of S if None.
        exact: fmpq weights instead of float64.

    Raises:
        ValueError: as `UnderSparseStart`; if A is no set of s indices of S; or if |xi_irr| > |xi_rel|/2, so that the
            irrelevant inputs pass the truncation: for n - k < 2(k-s-1), or n - k + 1 < 2(k-s-1) at even n.
    """
    S = checked_support(n, support)
    k = len(S)
    A = sorted(S[:s] if ones is None else ones)
    if len(set(A)) != s or not set(A) <= set(S):
        raise ValueError(f"The ones must be {s} different indices of the support {S}, not {A}.")
    sign = 1 if k % 4 == 2 else -1
    start = UnderSparseStart(
        n, k, np.array([A] * k, dtype=np.int64).reshape(k, s), np.arange(k), np.full(k, sign), epsilon
    )
    values = under_sparse_values(n, k, s)
    if 2 * abs(values.irrelevant) > abs(values.relevant):
        raise ValueError(
            f"At n = {n}, k = {k}, s = {s} the irrelevant inputs have the gradient {values.irrelevant}, more than half "
            f"of the relevant {values.relevant}: they pass the truncation. Take more inputs, or a larger s."
        )
    network = under_sparse_step(start, start.population_gradient(S)).read_out(S)
    hidden, bias, readout = network.hidden[:k], network.bias[:k], network.readout[:k]
    if exact:
        return TwoLayerNetwork(hidden, bias, readout, Ramp(), network.output_bias)
    return TwoLayerNetwork(to_float(hidden), to_float(bias), to_float(readout), Ramp(), 1.0)


# --- private helpers ------------------------------------------------------------------------------------------------


def _mirrored(
    first: NDArray[np.object_], second: NDArray[np.object_], biases: NDArray[np.object_], signs: NDArray[np.int64]
) -> TwoLayerNetwork:
    u = as_exact(signs)
    return TwoLayerNetwork(
        np.concatenate([first, second]), np.concatenate([biases, biases]), np.concatenate([u, -u]), Ramp(), fmpq(0)
    )


def _rational(name: str, value: Any) -> fmpq:
    number = as_fmpq(value)
    if number is None:
        raise ValueError(f"The {name} of the step must be a rational number, not {value!r}.")
    return number
