"""The sizes that theorem 5.5 demands for learning a k-sparse parity by SGD on a ReLU MLP, and an audit of its proof.

The proof takes epsilon' = epsilon/(64 k^2 n), delta' = epsilon/8 and needs, with L = log(2(k+1)/epsilon') and the
coefficient xi = xi_{k-1} of the majority of n inputs:

    width      some pair of neurons supplies each of the k + 1 biases, except with probability delta';
    batch      B >= (2/tau^2) log(4nr/delta'), tau = |xi|/(16k sqrt(2nL)), so that all gradients are tau-accurate;
    inputs     the learned features are 1/(8k^2)-close to the ideal ones, except with probability epsilon';
    steps      16 k^1.5 sqrt(r) n/sqrt(T-1) <= epsilon/4, the regret of theorem B.6 with M = 8k^1.5, rho = 2 sqrt(r) n,
               that is T - 1 >= 2^12 k^3 r n^2/epsilon^2.

`audit` evaluates both sides of each in ball arithmetic, for any sizes. The printed sizes fail three of the four.

`corrected_sizes` are those of the theorem as the ledger repairs it: the printed width and steps, and another batch.

Source: hidden-progress, theorem-5.5-full, lemma-B.5, lemma-B.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from flint import arb, fmpq

from lemmata.numerics.exact.integers import smallest_integer
from lemmata.numerics.exact.numbers import as_exact, ceiling
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.parity.sgd_sizes import check_sizes, top_coefficient

__all__ = ["Demand", "MlpSizes", "audit", "corrected_sizes", "printed_sizes", "repaired_sizes"]

_BITS = 256  # enough to round the batch sizes, of up to 10^70, to integers


@dataclass(frozen=True)
class MlpSizes:
    """Sizes of a run: n inputs (odd), parity of k (even), accuracy epsilon, width r (even), batch B, steps T.

    Raises:
        ValueError: unless k >= 2 is even, n > k is odd, r is even, epsilon > 0 and r, B, T >= 1.
    """

    n: int
    k: int
    epsilon: fmpq
    width: int
    batch: int
    steps: int

    def __post_init__(self) -> None:
        check_sizes(self.n, self.k)
        if self.width % 2 or min(self.width, self.batch, self.steps) < 1 or not self.epsilon > 0:
            raise ValueError(
                "The width must be even (neurons come in pairs), and width, batch, steps and epsilon positive, not "
                f"{self.width}, {self.batch}, {self.steps} and {self.epsilon}."
            )


@dataclass(frozen=True)
class Demand:
    """One condition of the proof: ``value`` must be at most ``allowed``."""

    name: str
    value: arb
    allowed: arb

    @property
    def met(self) -> bool:
        """Whether it certainly holds."""
        return bool(self.value <= self.allowed)

    @property
    def failed(self) -> bool:
        """Whether it certainly fails."""
        return bool(self.value > self.allowed)


def repaired_sizes(k: int, epsilon: Any) -> MlpSizes:
    """Sizes for which the repaired proof closes: the least odd n >= 160 k^4 L, then the least r (by the exponential
    bound of lemma B.5), B and T.

    Raises:
        ValueError: unless k >= 4 is even and 0 < epsilon < 1/2 is rational.
    """
    eps = _checked(k, epsilon)
    n = smallest_integer(160 * k**4, lambda n: arb(n) >= 160 * k**4 * _log(n, k, eps))
    n += 1 - n % 2
    width = ceiling((2 * k - 1) * 2**k * (8 * (k + 1) / arb(eps)).log())
    width += width % 2
    steps = 2**12 * k**3 * width * n**2 / eps**2
    with precision(_BITS):
        return MlpSizes(n, k, eps, width, ceiling(_batch(n, k, eps, width)), 1 + -(-int(steps.p) // int(steps.q)))


def corrected_sizes(k: int, epsilon: Any) -> MlpSizes:
    """The least odd n >= 160 k^4 L, the printed width and steps, and B = 2^10 k^2 n L log(32nr/epsilon)/xi_{k-1}^2.

    Raises:
        ValueError: unless k >= 2 is even and 0 < epsilon < 1/2 is rational.
    """
    eps = _checked(k, epsilon, least=2)
    n = smallest_integer(160 * k**4, lambda n: arb(n) >= 160 * k**4 * _log(n, k, eps)) | 1
    printed = printed_sizes(k, eps, n)
    with precision(_BITS):
        return replace(printed, batch=ceiling(_batch(n, k, eps, printed.width)))


def printed_sizes(k: int, epsilon: Any, n: int) -> MlpSizes:
    """The printed width, batch (with c_1 = 1) and steps, for n inputs.

    Raises:
        ValueError: unless k >= 2 is even, 0 < epsilon < 1/2 is rational and n > k is odd.
    """
    eps = _checked(k, epsilon, least=2)
    check_sizes(n, k)
    width = ceiling(k * 2**k * (8 * k / arb(eps)).log())
    width += width % 2
    steps = 2**9 * k**3 * width * n**2 / eps**2
    with precision(_BITS):
        logs = (128 * k**3 * n / arb(eps)).log() * (32 * n * width / arb(eps)).log()
        batch = ceiling(2**8 * arb(k) ** arb(fmpq(7, 6)) * n * math.comb(n, k - 1) * logs)
    return MlpSizes(n, k, eps, width, batch, -(-int(steps.p) // int(steps.q)))


def audit(sizes: MlpSizes) -> list[Demand]:
    """The four conditions of the repaired proof at the given sizes, each with both of its sides."""
    with precision(_BITS):
        return _audit(sizes)


def _audit(sizes: MlpSizes) -> list[Demand]:
    n, k, eps = sizes.n, sizes.k, arb(sizes.epsilon)
    log, xi = _log(n, k, sizes.epsilon), top_coefficient(n, k)
    tau = xi / (16 * k * (2 * n * log).sqrt())
    hit = fmpq(1, 2 ** (k - 1) * (2 * k - 1))
    missing = (k + 1) * arb(1 - hit) ** (sizes.width // 2)
    root = (2 * n * log).sqrt()
    distance = tau / xi * (1 + arb(1) / k + root / k) + arb(fmpq(k - 1, 2 * k * (n - k))) * root
    steps = arb(2**12 * k**3 * sizes.width * n**2 / sizes.epsilon**2)
    return [
        Demand("width", missing, eps / 8),
        Demand("batch", _batch(n, k, sizes.epsilon, sizes.width), arb(sizes.batch)),
        Demand("inputs", distance, arb(fmpq(1, 8 * k * k))),
        Demand("steps", steps, arb(sizes.steps - 1)),
    ]


def _log(n: int, k: int, epsilon: fmpq) -> arb:
    """L = log(2(k+1)/epsilon'), epsilon' = epsilon/(64 k^2 n)."""
    return (128 * (k + 1) * k**2 * n / arb(epsilon)).log()


def _batch(n: int, k: int, epsilon: fmpq, width: int) -> arb:
    """(2/tau^2) log(4nr/delta')."""
    xi = top_coefficient(n, k)
    return 1024 * k**2 * n * _log(n, k, epsilon) * (32 * n * width / arb(epsilon)).log() / xi**2


def _checked(k: int, epsilon: Any, least: int = 4) -> fmpq:
    eps = as_exact([epsilon])[0]
    if k < least or k % 2:
        raise ValueError(f"k must be even and at least {least}, not {k} (at k = 2 lemma B.4 lacks a bias).")
    if not (isinstance(eps, fmpq) and 0 < eps < fmpq(1, 2)):
        raise ValueError(f"epsilon must be a rational number between 0 and 1/2, not {epsilon}.")
    return eps
