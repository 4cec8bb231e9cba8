"""Width, samples and small weight with which one step on an under-sparse network suffices, with explicit constants.

Let k and s be even, s < k, and n so large that |xi_irr| <= |xi_rel|/4 (`lemmata.numerics.parity.sparse_neurons`). For
an accuracy a in (0, 1] and a probability delta of failure take

    epsilon = a/(4 k^2 (n-s)),    tau = a |xi_rel|/(4 k^2 (k-s)),
    r >= 2 k (C(n,s)/C(k,s)) log(2k/delta),    m >= (2/tau^2) log(2 n r/delta).

With probability 1 - delta two things happen. There is a neuron with its ones in S at each of the k kinks: a pair hits a
kink with probability C(k,s)/(k C(n,s)), and one of its output weights has the right sign. All estimated gradients are
within tau (Hoeffding). Then the truncation keeps just S \\ A at these neurons, and the read-out of
`lemmata.constructions.parity.under_sparse` is within 2k^2 ((k-s) tau/|xi_rel| + (n-s) epsilon) = a of the parity on the
cube.

As |xi_rel| >= p (k-s-3)!!/(2 sqrt 2) (n-s)^(-(k-s-1)/2) with p = C(s,s/2)/2^s, the number of samples is of the order
n^(k-s-1) log n for fixed k, s, a and delta, and the width of the order n^s.

Training the whole network (`lemmata.constructions.parity.under_sparse_training`, `training_sizes`) takes samples and
width of the same orders, and no accuracy of the first step: for a loss l and n >= 2k + s,

    tau_1 = |xi_rel|/(4 (k-s)),    tau_2 = 2^-k/(4 k^4),    r >= 2 k (C(n,s)/C(k,s)) log(4k/delta),
    epsilon = min(1/(4(n-s)), 2/(k 2^k r)),    T >= 4 B^2 G^2/l^2,    B^2 = 4 (1 + 4k (4k^2-1)/3),    G^2 = 1 + 4 k^2 r,
    m >= (2/tau_1^2) log(4 n r/delta), (2/tau_2^2) log(32 n r/delta).

Source: pareto-frontiers, theorem C.16, as its ledger entry repairs it, and conjecture-end-to-end.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod
from typing import Any

from flint import arb, fmpq

from lemmata.numerics.exact.numbers import ceiling
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.numerics.fourier.boolean import half_coefficient
from lemmata.numerics.parity.sparse_neurons import check_under_sparse, under_sparse_values

__all__ = [
    "TrainingSizes",
    "UnderSparseSizes",
    "good_share",
    "relevant_bound",
    "slope_gradient",
    "training_sizes",
    "under_sparse_sizes",
]


@dataclass(frozen=True)
class UnderSparseSizes:
    """Sizes that suffice.

    Attributes:
        epsilon: the small weight at the start.
        tolerance: tau, the error that every estimated gradient may have.
        width: r, even.
        samples: m.
    """

    epsilon: fmpq
    tolerance: fmpq
    width: int
    samples: int


@dataclass(frozen=True)
class TrainingSizes:
    """Sizes with which training the whole network succeeds.

    Attributes:
        epsilon: the small weight at the start.
        first_tolerance: tau_1, the error that the gradients of the first step may have.
        later_tolerance: tau_2, that of the other steps of the first layer.
        width: r, even.
        samples: m.
        rate: w, the rate of the output weights over kappa^2, falling as 1 - t/T.
        steps: T, of the output weights.
    """

    epsilon: fmpq
    first_tolerance: fmpq
    later_tolerance: fmpq
    width: int
    samples: int
    rate: fmpq
    steps: int


def good_share(n: int, k: int, s: int) -> fmpq:
    """The probability C(k,s)/C(n,s) that s random ones lie in the support.

    Raises:
        ValueError: unless the sizes are under-sparse.
    """
    check_under_sparse(n, k, s)
    return fmpq(comb(k, s), comb(n, s))


def relevant_bound(n: int, k: int, s: int) -> fmpq:
    """The lower bound p^2 ((k-s-3)!!)^2/(8 (n-s)^(k-s-1)) of xi_rel^2.

    Raises:
        ValueError: unless the sizes are under-sparse.
    """
    check_under_sparse(n, k, s)
    factor = half_coefficient(s, s) * prod(range(k - s - 3, 0, -2))
    return factor**2 / (8 * (n - s) ** (k - s - 1))


def under_sparse_sizes(n: int, k: int, s: int, accuracy: Any, delta: Any) -> UnderSparseSizes:
    """The least sizes of the formulas above.

    Args:
        n: the number of inputs.
        k: the number of inputs of the parity, even.
        s: the number of ones, even, below k.
        accuracy: a, a rational number in (0, 1].
        delta: a rational number in (0, 1).

    Raises:
        ValueError: if the sizes are not under-sparse, |xi_irr| > |xi_rel|/4 (n - k < 4 (k-s-1), or for even n
            n - k + 1 < 4 (k-s-1)), or a or delta is out of range.
    """
    relevant = _relevant(n, k, s)
    a, failure = as_fmpq(accuracy), as_fmpq(delta)
    if a is None or not 0 < a <= 1 or failure is None or not 0 < failure < 1:
        raise ValueError(f"The accuracy lies in (0, 1] and delta in (0, 1), both rational, not {accuracy} and {delta}.")
    tau = a * relevant / (4 * k**2 * (k - s))
    half = ceiling(k / good_share(n, k, s) * arb(2 * k / failure).log())
    samples = ceiling(2 / tau**2 * arb(4 * n * half / failure).log())
    return UnderSparseSizes(a / (4 * k**2 * (n - s)), tau, 2 * half, samples)


def slope_gradient(k: int, theta: int) -> fmpq:
    """G_theta, the Fourier coefficient of 1{x_1 + ... + x_k > theta} at k-1 of its k signs, for even k and odd theta.

    Raises:
        ValueError: unless k is even and theta one of the kinks -(k-1), -(k-3), ..., k-1.
    """
    if k < 2 or k % 2 or theta not in range(1 - k, k, 2):
        raise ValueError(f"The kinks are odd, from -(k-1) to k-1, and k is even; not {theta} at k = {k}.")
    sign = (-1) ** ((k - 1 - theta) // 2)
    return fmpq(sign * comb(k - 1, (k - 1 + theta) // 2) * theta, 2**k * (k - 1))


def training_sizes(n: int, k: int, s: int, loss: Any, delta: Any) -> TrainingSizes:
    """The least sizes of the formulas above for training the whole network.

    Args:
        n: the number of inputs, at least 2k + s.
        k: the number of inputs of the parity, even.
        s: the number of ones, even, below k.
        loss: a rational number in (0, 1).
        delta: likewise.

    Raises:
        ValueError: as `under_sparse_sizes`, and for n < 2k + s.
    """
    check_under_sparse(n, k, s)
    if n < 2 * k + s:
        raise ValueError(f"There must be n >= 2k + s = {2 * k + s} inputs, not {n}.")
    relevant = _relevant(n, k, s)
    wanted, failure = as_fmpq(loss), as_fmpq(delta)
    if wanted is None or not 0 < wanted < 1 or failure is None or not 0 < failure < 1:
        raise ValueError(f"The loss and delta lie in (0, 1), both rational, not {loss} and {delta}.")
    first, later = relevant / (4 * (k - s)), fmpq(1, 4 * k**4 * 2**k)
    half = ceiling(k / good_share(n, k, s) * arb(4 * k / failure).log())
    samples = max(
        ceiling(2 / first**2 * arb(8 * n * half / failure).log()),
        ceiling(2 / later**2 * arb(64 * n * half / failure).log()),
    )
    bound, slope = 4 * (1 + fmpq(4 * k * (4 * k**2 - 1), 3)), fmpq(1 + 8 * k**2 * half)
    epsilon = min(fmpq(1, 4 * (n - s)), fmpq(1, k * 2**k * half))
    steps = ceiling(arb(4 * bound * slope / wanted**2))
    return TrainingSizes(epsilon, first, later, 2 * half, samples, wanted / (2 * slope), steps)


def _relevant(n: int, k: int, s: int) -> fmpq:
    """|xi_rel|.

    Raises:
        ValueError: if the sizes are not under-sparse, or |xi_irr| is more than a quarter of it.
    """
    values = under_sparse_values(n, k, s)
    if 4 * abs(values.irrelevant) > abs(values.relevant):
        raise ValueError(
            f"At n = {n}, k = {k}, s = {s} the irrelevant inputs have a gradient of more than a quarter of the "
            f"relevant one ({values.irrelevant} beside {values.relevant}): take more inputs, or a larger s."
        )
    return abs(values.relevant)
