"""The memorising network: any table r: [n]^2 -> [n], with two neurons for each entry and no structure at all.

The pair of neurons ``(e_a, e_b, e_c)`` and ``(e_a, -e_b, -e_c)`` with c = r(a, b) outputs ``((x_a + y_b)^2 -
(x_a - y_b)^2) e_c = 4 x_a y_b e_c``, which on one-hot inputs is 4 e_c at (a, b) and 0 elsewhere. Every weight
vector is one-hot up to sign and scale, so that its power spectrum is flat: networks that interpolate need not
be sparse in Fourier space, they only pay for it with a smaller margin.

Source: feature-emergence, construction-D.4.
"""

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.homogeneous import HomogeneousNetwork


def memorising_weights(table: ArrayLike) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """The printed weights ``(e_a, +-e_b, +-e_{r(a,b)} / 4)``: the network is the indicator of r(a, b).

    Args:
        table: r, integers in 0..n-1 of shape (n, n).

    Returns:
        hidden (2n^2, 2n) and readout (2n^2, n), object arrays of fmpq; neurons 2(a n + b) and 2(a n + b) + 1
        belong to (a, b).

    Raises:
        ValueError: if the table is not square or has entries that are not integers in 0..n-1.
    """
    labels = _checked_table(table)
    n = len(labels)
    zero, one = fmpq(0), fmpq(1)
    hidden = np.full((2 * n * n, 2 * n), zero, dtype=object)
    readout = np.full((2 * n * n, n), zero, dtype=object)
    for a in range(n):
        for b in range(n):
            for pair, sign in enumerate((one, -one)):
                neuron = 2 * (a * n + b) + pair
                hidden[neuron, a] = one
                hidden[neuron, n + b] = sign
                readout[neuron, labels[a, b]] = sign / 4
    return hidden, readout


def memorising_network(table: ArrayLike, balanced: bool = True, exact: bool = False) -> HomogeneousNetwork:
    """The memorising network in mass form: 2n^2 neurons of equal mass 1/(2n^2).

    Args:
        table: r, integers in 0..n-1 of shape (n, n).
        balanced: True for directions ``(e_a, +-e_b, +-e_c)`` with squared norm 3, which have the largest margin among
            the rescalings of this network, 2/(3 sqrt(3) n^2); False for the printed proportions
            ``(e_a, +-e_b, +-e_c / 4)`` with squared norm 33/16.
        exact: rational arithmetic (fmpq) instead of float64.

    Raises:
        ValueError: as for `memorising_weights`.
    """
    hidden, readout = memorising_weights(table)
    width = len(hidden)
    if balanced:
        readout = readout * 4
    network = HomogeneousNetwork(
        hidden,
        readout,
        np.full(width, fmpq(1, width), dtype=object),
        2,
        fmpq(3) if balanced else fmpq(33, 16),
    )
    return network if exact else network.to_float()


def _checked_table(table: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(table)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 1:
        raise ValueError(f"The table must have shape (n, n) with n >= 1, not {array.shape}.")
    if array.dtype.kind not in "iu":
        raise ValueError(f"The table must hold integers, not numbers of type {array.dtype}.")
    n = len(array)
    outside = np.argwhere((array < 0) | (array >= n))
    if len(outside):
        a, b = outside[0]
        raise ValueError(f"The table must have entries in 0..{n - 1}, but entry ({a}, {b}) is {array[a, b]}.")
    return array.astype(np.int64)
