"""Inputs of the tasks: one-hot factors of a group, sign vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.exact.systems import Array


def group_inputs(n: int) -> NDArray[np.int64]:
    """All inputs (onehot(a), onehot(b)) of a group task: shape (n^2, 2n), the pair (a, b) in row a n + b."""
    if n < 1:
        raise ValueError(f"The order n of the group must be >= 1, not {n}.")
    one_hot = np.eye(n, dtype=np.int64)
    return np.concatenate([np.repeat(one_hot, n, axis=0), np.tile(one_hot, (n, 1))], axis=1)


def sign_inputs(n: int) -> NDArray[np.int64]:
    """All sign vectors of length n: shape (2^n, n); in row s, x_i = -1 iff bit i of s is set."""
    if n < 1:
        raise ValueError(f"The number n of inputs must be >= 1, not {n}.")
    return 1 - 2 * (np.arange(2**n, dtype=np.int64)[:, None] >> np.arange(n) & 1)


def group_blocks(network: HomogeneousNetwork) -> tuple[Array, Array, Array]:
    """The blocks (u, v, w) of a network for a group task, each (m, n): u reads a, v reads b, w writes c.

    Raises:
        ValueError: unless D = 2 L.
    """
    inputs, n = network.hidden.shape[1], network.readout.shape[1]
    if inputs != 2 * n:
        raise ValueError(f"A network for a group task has D = 2 L, but this one has D = {inputs} and L = {n}.")
    return network.hidden[:, :n], network.hidden[:, n:], network.readout
