"""The certificate of (n, k)-sparse parity: theorem 7.8, exact over the rationals up to one square root.

For uniform q a neuron (u, w) with w = (alpha (1, 1) + beta (1, -1))/sqrt 2 has the expected margin
sqrt 2 k! beta prod_{j in S} u_j, because k! prod_S u_j prod_S x_j is the only part of (u.x)^k that correlates with the
parity. The arithmetic-geometric mean inequality for the k + 1 squares u_j^2, beta^2, whose sum is at most 1, bounds it
by sqrt 2 k! (k + 1)^(-(k+1)/2).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import factorial

from flint import fmpq

from lemmata.certificates.saddle.certificate import MarginCertificate
from lemmata.certificates.saddle.pair import judge, only_wrong_label, parity_task
from lemmata.constructions.parity.max_margin import sparse_parity_network
from lemmata.constructions.parity.support import checked_support
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, sqrt_rational

__all__ = ["certify_parity", "parity_bound"]


def parity_bound(k: int) -> Cyclotomic:
    """The neuron-wise bound sqrt(2 (k!)^2 / (k+1)^(k+1)), k >= 1, whose square is rational."""
    if k < 1:
        raise ValueError(f"The parity must involve k >= 1 coordinates, but k = {k}.")
    return sqrt_rational(fmpq(2 * factorial(k) ** 2, (k + 1) ** (k + 1)))


def certify_parity(n: int, support: int | Iterable[int], exact: bool = True) -> MarginCertificate:
    """The certificate of the network of theorem 7.8 for the parity of ``support`` (or of the first k inputs) in n bits.

    ``exact=False`` evaluates the network in floating point, for sizes beyond a few thousand inputs.

    Raises:
        ValueError: for k < 1, k > n, repeated or out-of-range coordinates.
    """
    coordinates = tuple(checked_support(n, support))
    network = sparse_parity_network(n, coordinates, exact=exact)
    weights = only_wrong_label(parity_task(n, coordinates))
    bound = parity_bound(len(coordinates))
    return MarginCertificate(weights.task.name, bound, network, weights, judge(network, weights, bound))
