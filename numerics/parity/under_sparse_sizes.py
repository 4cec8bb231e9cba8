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

Source: pareto-frontiers, theorem C.16, as its ledger entry repairs it.
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

__all__ = ["UnderSparseSizes", "good_share", "relevant_bound", "under_sparse_sizes"]


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
    values = under_sparse_values(n, k, s)
    a, failure = as_fmpq(accuracy), as_fmpq(delta)
    if a is None or not 0 < a <= 1 or failure is None or not 0 < failure < 1:
        raise ValueError(f"The accuracy lies in (0, 1] and delta in (0, 1), both rational, not {accuracy} and {delta}.")
    if 4 * abs(values.irrelevant) > abs(values.relevant):
        raise ValueError(
            f"At n = {n}, k = {k}, s = {s} the irrelevant inputs have a gradient of more than a quarter of the "
            f"relevant one ({values.irrelevant} beside {values.relevant}): take more inputs, or a larger s."
        )
    tau = a * abs(values.relevant) / (4 * k**2 * (k - s))
    half = ceiling(k / good_share(n, k, s) * arb(2 * k / failure).log())
    samples = ceiling(2 / tau**2 * arb(4 * n * half / failure).log())
    return UnderSparseSizes(a / (4 * k**2 * (n - s)), tau, 2 * half, samples)
