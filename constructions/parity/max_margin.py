"""The max-margin network for sparse parity: the product of k of n signs, with the activation x^k.

For a sign pattern sigma on S the neuron is ``u = sigma`` on S and 0 elsewhere, ``w = (prod sigma) (1, -1) /
sqrt(2)``. One pattern from each antipodal pair {sigma, -sigma} suffices, because the two neurons have the
same output, and by the polarisation identity

    sum over sigma with sigma_1 = 1 of (prod sigma) (sigma . x)^k  =  2^(k-1) k! prod_{i in S} x_i.

So 2^(k-1) neurons of equal mass output a multiple of the parity; fewer cannot attain the margin. Label 0
stands for y = +1, label 1 for y = -1.

Source: feature-emergence, theorem-7.8 and its sharpening.
"""

import itertools
import math

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.parity.support import Support, checked_support
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational


def sparse_parity_network(n: int, support: Support, exact: bool = False) -> HomogeneousNetwork:
    """The network of 2^(k-1) neurons with the largest L_{2,k+1} margin for the parity of the support.

    The directions have squared norm k + 1 and entries +-1 in ``u``, +-1/sqrt(2) in ``w``: optimal neurons
    have ``|u_j| = ||w||``, so that a square root of 2 is unavoidable. `raw` is ``(k!/sqrt(2)) (prod_S x) (1,
    -1)``.

    Args:
        n: the number of inputs.
        support: the k distinct indices S in 0..n-1; or the integer k, which stands for 0..k-1.
        exact: fmpq for ``u`` and the masses and Cyclotomic for ``w`` (the only place of the root), instead of float64.

    Returns:
        A network with D = n, L = 2, degree k, total mass 1.

    Raises:
        ValueError: if k < 1, k > n, or the support repeats an index or leaves 0..n-1.
    """
    indices = checked_support(n, support)
    k = len(indices)
    patterns = [(1, *rest) for rest in itertools.product((1, -1), repeat=k - 1)]
    root = sqrt_rational(fmpq(1, 2)) if exact else math.sqrt(0.5)
    number = fmpq if exact else float
    dtype = object if exact else np.float64
    hidden = np.full((len(patterns), n), number(0), dtype=dtype)
    readout = np.empty((len(patterns), 2), dtype=dtype)
    for neuron, sigma in enumerate(patterns):
        hidden[neuron, indices] = [number(sign) for sign in sigma]
        readout[neuron] = [math.prod(sigma) * root, -math.prod(sigma) * root]
    masses = np.full(len(patterns), number(1) / len(patterns), dtype=dtype)
    return HomogeneousNetwork(hidden, readout, masses, k, number(k + 1))
