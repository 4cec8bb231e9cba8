"""Sparsity, width, samples and steps with which an over-sparse network learns a parity, with all constants.

Let k be even, s odd, and take a grid of K = k/2 biases, one kink in each interval [2q - 2, 2q), all at most
-(1 + theta)/(2k). A and B are the 1-norm (without the constant) and the 2-norm of its read-out (`bias_grids`), C and c
the gradients of a good neuron, p its probability, P = r/2 the number of pairs. With probability 1 - delta gradient
descent with the step of `over_sparse` and a second layer trained with weight decay reaches a hinge loss of at most eps.

**Truncated**, s > 3k - 2, for every eps:

    tau = min(|C|/2 - |c|, theta |C|, |C|/A),    P >= (K/p) log(4K/delta),
    m >= max((2/tau^2) log(4nP/delta), 2^(k+3) log(2^(k+2)/delta)),
    T/(1 + log T) >= 2176 (1 + P) B^2/eps^2    (decay lambda = eps/(8 B^2)).

**Plain**, s > 4k, with e = eps/5, r' = P p/K, R^2 = 1 + kr':

    s - k >= (A (k-1)/(k e))^2,    P >= (8K/p) log(8K/delta),
    tau = (|C|/n) min(theta, k e/A, k e/(B sqrt(12 k r'))),
    m >= max((2/tau^2) log(8nP/delta), 2 (2 + A)^2 log(4/delta)/e^2,
             (2 sqrt(6) B R + (1 + sqrt(6) B R) sqrt(2 log(8/delta)))^2/e^2),
    T/(1 + log T) >= 68 (R + e/(2 sqrt(6) B))^2 B^2/e^2    (decay lambda = e/B^2).

The proof is theorems/pareto_frontiers/proofs/over-sparse-theorem.md.

Source: pareto-frontiers, theorems 6.4 and C.11 as their ledger entries repair them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from lemmata.constructions.parity.bias_grids import even_kink_grid, solve_readout
from lemmata.numerics.exact.integers import smallest_integer
from lemmata.numerics.exact.numbers import exact_midpoint
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.numerics.parity.good_neurons import check_over_sparse, good_probability
from lemmata.numerics.parity.sparse_neurons import over_sparse_values

__all__ = ["OverSparseSizes", "over_sparse_sizes"]


@dataclass(frozen=True)
class OverSparseSizes:
    """Sizes that suffice.

    Attributes:
        least_sparsity: the least s that the condition on s allows (k and eps given).
        pairs: P; the width is 2P.
        tolerance: tau, the error that every estimated gradient may have.
        samples: m.
        steps: T, of the second layer.
        decay: lambda, its weight decay.
    """

    least_sparsity: int
    pairs: int
    tolerance: fmpq
    samples: int
    steps: int
    decay: fmpq

    @property
    def width(self) -> int:
        """r = 2P."""
        return 2 * self.pairs


def over_sparse_sizes(
    n: int, k: int, s: int, epsilon: Any, delta: Any, biases: Sequence[object] | None = None, *, truncate: bool = True
) -> OverSparseSizes:
    """The least sizes of the formulas above.

    Args:
        n: the number of inputs.
        k: the number of inputs of the parity, even.
        s: the odd number of ones of a neuron.
        epsilon: the hinge loss to reach, a rational number in (0, 1).
        delta: the probability of failure, a rational number in (0, 1).
        biases: the grid; `even_kink_grid(k)` if None, with theta = 1/2.
        truncate: whether the gradient is truncated at |C|/2.

    Raises:
        ValueError: if s is even, not in k+1..n or below the least sparsity, k is odd, epsilon or delta is out of range,
            or the grid has no read-out or theta <= 0.
    """
    check_over_sparse(n, k, s)
    eps, failure = as_fmpq(epsilon), as_fmpq(delta)
    if eps is None or not 0 < eps < 1 or failure is None or not 0 < failure < 1:
        raise ValueError(f"epsilon and delta must be rational numbers in (0, 1), not {epsilon} and {delta}.")
    readout = solve_readout(k, even_kink_grid(k) if biases is None else biases)
    slack = -2 * k * max(readout.biases) - 1
    if slack <= 0:
        raise ValueError(f"All biases must lie below -1/{2 * k}, so that bad neurons stay silent despite errors.")
    A, squared, levels = readout.one_norm, readout.norm_squared, k // 2
    least = 3 * k - 1 if truncate else max(4 * k + 1, k + _ceiling(arb((A * (k - 1) * 5 / (k * eps)) ** 2)))
    least += 1 - least % 2
    if s < least:
        raise ValueError(f"These constants need a sparsity of at least {least}, not {s}.")
    values, share = over_sparse_values(s, k), good_probability(n, k, s)
    size = abs(values.relevant)
    if truncate:
        tau = min(size / 2 - abs(values.irrelevant), slack * size, size / A)
        pairs = _ceiling(levels / share * arb(4 * levels / failure).log())
        samples = max(
            _ceiling(2 / tau**2 * arb(4 * n * pairs / failure).log()),
            _ceiling(2 ** (k + 3) * arb(2 ** (k + 2) / failure).log()),
        )
        needed = arb(2176 * (1 + pairs) * squared / eps**2)
        return OverSparseSizes(least, pairs, tau, samples, _steps(needed), eps / (8 * squared))
    e, B = eps / 5, arb(squared).sqrt()
    pairs = _ceiling(8 * levels / share * arb(8 * levels / failure).log())
    r_prime = pairs * share / levels
    R = arb(1 + k * r_prime).sqrt()
    last = exact_midpoint((k * e / (B * arb(12 * k * r_prime).sqrt())).lower())
    tau = size / n * min(slack, k * e / A, last)
    wide = arb(6).sqrt() * B * R
    samples = max(
        _ceiling(2 / tau**2 * arb(8 * n * pairs / failure).log()),
        _ceiling(2 * (2 + A) ** 2 / e**2 * arb(4 / failure).log()),
        _ceiling(((2 * wide + (1 + wide) * (2 * arb(8 / failure).log()).sqrt()) / e) ** 2),
    )
    needed = 68 * ((R + e / (2 * arb(6).sqrt() * B)) * B / e) ** 2
    return OverSparseSizes(least, pairs, tau, samples, _steps(needed), e / squared)


def _steps(needed: arb) -> int:
    """The least T >= 1 with T/(1 + log T) >= needed; the quotient rises with T."""
    return smallest_integer(1, lambda steps: bool(arb(steps) / (1 + arb(steps).log()) >= needed))


def _ceiling(x: arb) -> int:
    """An integer that is at least x, and less than 1 + 10^-9 above it for the sizes here."""
    return int(exact_midpoint(x.upper().ceil()))
