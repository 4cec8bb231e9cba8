"""Sparsity, width, samples and steps with which an over-sparse network learns a parity, with all constants.

Let k be even, s odd, and take a grid of K = k/2 biases, one kink in each interval [2q - 2, 2q), all at most
-(1 + theta)/(2k). A and B are the 1-norm (without the constant) and the 2-norm of its read-out (`bias_grids`), C and c
the gradients of a good neuron, p its probability, P = r/2 the number of pairs. With probability 1 - delta gradient
descent with the step of `over_sparse` and a second layer trained with weight decay reaches a hinge loss of at most eps.

**Truncated**, s > 3k - 2, for every eps:

    tau = min(|C|/2 - |c|, theta |C|, |C|/A),    P >= (K/p) log(4K/delta),
    m >= max((2/tau^2) log(4nP/delta), 2^(k+3) log(2^(k+2)/delta)),
    T/(1 + log T) >= 2176 (1 + P) B^2/eps^2    (decay lambda = eps/(8 B^2)).

**Plain**, s > 4k, with e = eps/5, r' = P p/K, R^2 = 1 + kr', V = (1 + sqrt 3) B:

    s - k >= (A (k-1)/(k e))^2,    P >= (8K/p) log(10K/delta),
    u = min(theta, (k e/A) sqrt(n/2), (4 e/(7V)) sqrt(kn/r')),    tau = u |C|/n,
    m >= max((2/tau^2) log(10nP/delta), 2n^2 log(5n^2/delta), 2 (2 + A)^2 log(5/delta)/e^2,
             (2VR + (1 + VR) sqrt(log(5/delta)/2))^2/e^2),
    T >= (B G/e)^2,    G = R + u sqrt(r'/(2k))    (no decay; rates (e/G^2)(1 - t/T)).

The error of a step adds up like a root over the inputs, not like a sum, since the loss is a mean over random signs. So
u = theta as soon as n is a multiple of r'/eps^2, and m is then n^2/C^2 log(nP/delta) up to constants, without 1/eps^2:
`frontier_constants` are the constants of the printed form.

The proof is theorems/pareto_frontiers/proofs/over-sparse-theorem.md.

Source: pareto-frontiers, theorem 6.4, and theorem C.11 with one bias more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

from flint import arb, fmpq

from lemmata.constructions.parity.bias_grids import even_kink_grid, solve_readout
from lemmata.numerics.exact.integers import smallest_integer
from lemmata.numerics.exact.numbers import ceiling, exact_midpoint, exact_number
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.numerics.parity.good_neurons import check_over_sparse, good_probability, gradient_floor
from lemmata.numerics.parity.sparse_neurons import over_sparse_values

__all__ = ["FrontierConstants", "OverSparseSizes", "frontier_constants", "over_sparse_sizes"]


@dataclass(frozen=True)
class OverSparseSizes:
    """Sizes that suffice.

    Attributes:
        least_sparsity: the least s that the condition on s allows (k and eps given).
        pairs: P; the width is 2P.
        tolerance: tau, the error that every estimated gradient may have.
        samples: m.
        steps: T, of the second layer.
        decay: lambda, its weight decay; 0 for the plain form.
        rate: w, for rates w (1 - t/T) of the plain form; 0 for the truncated one, whose rates are 1/(lambda t).
    """

    least_sparsity: int
    pairs: int
    tolerance: fmpq
    samples: int
    steps: int
    decay: fmpq
    rate: fmpq

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
    least = 3 * k - 1 if truncate else max(4 * k + 1, k + ceiling(arb((A * (k - 1) * 5 / (k * eps)) ** 2)))
    least += 1 - least % 2
    if s < least:
        raise ValueError(f"These constants need a sparsity of at least {least}, not {s}.")
    values, share = over_sparse_values(s, k), good_probability(n, k, s)
    size = abs(values.relevant)
    if truncate:
        tau = min(size / 2 - abs(values.irrelevant), slack * size, size / A)
        pairs = ceiling(levels / share * arb(4 * levels / failure).log())
        samples = max(
            ceiling(2 / tau**2 * arb(4 * n * pairs / failure).log()),
            ceiling(2 ** (k + 3) * arb(2 ** (k + 2) / failure).log()),
        )
        needed = arb(2176 * (1 + pairs) * squared / eps**2)
        return OverSparseSizes(least, pairs, tau, samples, _steps(needed), eps / (8 * squared), fmpq(0))
    e, V = eps / 5, (1 + arb(3).sqrt()) * arb(squared).sqrt()
    pairs = ceiling(8 * levels / share * arb(10 * levels / failure).log())
    r_prime = pairs * share / levels
    first, second = k * e / A * arb(fmpq(n, 2)).sqrt(), 4 * e / (7 * V) * arb(k * n / r_prime).sqrt()
    unit = min(slack, *(exact_midpoint(bound.lower()) for bound in (first, second)))
    tau = unit * size / n
    R = arb(1 + k * r_prime).sqrt()
    samples = max(
        ceiling(2 / tau**2 * arb(10 * n * pairs / failure).log()),
        ceiling(2 * n**2 * arb(5 * n**2 / failure).log()),
        ceiling(2 * (2 + A) ** 2 / e**2 * arb(5 / failure).log()),
        ceiling(_uniform(V * R, failure / 5) / e**2),
    )
    G = exact_midpoint(((R + unit * arb(r_prime / (2 * k)).sqrt()) ** 2).upper())  # G^2
    return OverSparseSizes(least, pairs, tau, samples, ceiling(arb(squared * G / e**2)), fmpq(0), e / G)


@dataclass(frozen=True)
class FrontierConstants:
    """Constants c_1, ..., c_4 that depend on k, delta and the grid alone, as in theorem 6.4.

    For every eps in (0, 1/2), odd s >= c_1/eps^2, n >= s, r the next even number above c_2 (n/s)^k,
    m >= c_3 (s/k)^(k-1) n^2 log n and T >= c_4/eps^2 steps, the first on the weights, the loss is at most eps but for a
    probability of delta.
    """

    sparsity: fmpq
    width: fmpq
    samples: fmpq
    steps: fmpq


def frontier_constants(k: int, delta: Any = "1/100", biases: Sequence[object] | None = None) -> FrontierConstants:
    """The constants of the printed form (proofs/over-sparse-theorem.md, step 20), rounded up.

    With r_0 = 8 log(10K/delta) the width makes r' lie between r_0 and r_1 = 2^k r_0 + 1.

    Args:
        k: even.
        delta: the probability of failure, a rational number in (0, 1).
        biases: the grid; `even_kink_grid(k)` if None.

    Raises:
        ValueError: as `over_sparse_sizes`.
    """
    failure = as_fmpq(exact_number(delta))
    if failure is None or not 0 < failure < 1:
        raise ValueError(f"delta must be a rational number in (0, 1), not {delta}.")
    readout = solve_readout(k, even_kink_grid(k) if biases is None else biases)
    theta = -2 * k * max(readout.biases) - 1
    if theta <= 0:
        raise ValueError(f"All biases must lie below -1/{2 * k}, so that bad neurons stay silent despite errors.")
    A, squared, levels = readout.one_norm, readout.norm_squared, k // 2
    V = (1 + arb(3).sqrt()) * arb(squared).sqrt()
    low = _above(8 * arb(10 * levels / failure).log())
    high = 2**k * low + 1
    R, spread = arb(1 + k * high).sqrt(), theta * arb(high / (2 * k)).sqrt()
    sparsity = max(
        fmpq(4 * k + 1, 4),
        fmpq(100, 3) * (A * (k - 1) / k) ** 2,
        50 * (A * theta / k) ** 2,
        _above(25 * fmpq(49, 16) * V**2 * theta**2 * high / k),
    )
    pairs = arb(10 * (levels * 2**k * low + 1) / failure).log() / arb(9).log() + k + 1
    samples = max(
        _above(2 * pairs / (theta * gradient_floor(k)) ** 2 * fmpq(k ** (k - 1), factorial(k - 1))),
        _above(2 * (arb(5 / failure).log() / arb(9).log() + 2)),
        _above(50 * (2 + A) ** 2 * arb(5 / failure).log() / (9 * sparsity)),
        _above(25 * _uniform(V * R, failure / 5) / (9 * sparsity)),
    )
    return FrontierConstants(sparsity, 2 * levels * 2**k * low, samples, _above(25 * squared * (R + spread) ** 2 + 1))


def _uniform(size: arb, failure: fmpq) -> arb:
    """(2x + (1 + x) sqrt(log(1/delta)/2))^2: m times the squared uniform deviation of outputs of size at most x."""
    return (2 * size + (1 + size) * (arb(1 / failure).log() / 2).sqrt()) ** 2


def _above(x: arb) -> fmpq:
    """A rational number at least x, not far above it."""
    return exact_midpoint(x.upper())


def _steps(needed: arb) -> int:
    """The least T >= 1 with T/(1 + log T) >= needed; the quotient rises with T."""
    return smallest_integer(1, lambda steps: bool(arb(steps) / (1 + arb(steps).log()) >= needed))
