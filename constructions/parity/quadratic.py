"""Deep networks with the activation z^2 that represent parities of up to 2^(L-1) signs with L layers.

For two numbers a, b with values +-1 the square (a + b)^2 = 2 + 2ab is an affine function of their product. A tree of
squares therefore multiplies 2^(L-1) signs in L - 1 hidden layers of widths 2^(L-2), ..., 2, 1, and an affine read-out
z/2 - 1 ends it: it needs an output bias. Without one the last layer takes two squares, (a + b)^2 - (a - b)^2 = 4ab.
Fewer signs than leaves are filled up with the constant 1.

Source: hidden-progress, appendix B.3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.held import held_weights, rational_inputs
from lemmata.constructions.parity.support import Support, checked_support
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array


@dataclass(frozen=True, eq=False)
class QuadraticNetwork(Translated):
    """The network f(x) = readout . z_(L-1) + output_bias with z_0 = x and z_i = (W_i z_(i-1) + b_i)^2.

    Attributes:
        layers: the pairs (W_i, b_i) of shapes (r_i, r_(i-1)) and (r_i,), with r_0 = n.
        readout: u, shape (r_(L-1),).
        output_bias: one number.

    Weights are as for `TwoLayerNetwork`.

    Raises:
        ValueError: if there is no layer, shapes do not chain, or the numbers are not finite or not of one kind.
    """

    translator: ClassVar[str] = "parity.torch_networks"

    layers: tuple[tuple[Array, Array], ...] = field(repr=False)
    readout: Array = field(repr=False)
    output_bias: Any = 0

    def __post_init__(self) -> None:
        named = {"readout": self.readout, "output_bias": self.output_bias}
        for i, (weights, bias) in enumerate(self.layers, start=1):
            named |= {f"W_{i}": weights, f"b_{i}": bias}
        held = held_weights(named)
        layers = tuple((held[f"W_{i}"], held[f"b_{i}"]) for i in range(1, len(self.layers) + 1))
        shapes = [(np.shape(weights), np.shape(bias)) for weights, bias in layers]
        widths = [shape[0] if shape else 0 for _, shape in shapes]
        before = [shapes[0][0][-1] if shapes and len(shapes[0][0]) == 2 else 0, *widths]
        chained = all(shape == ((r, s), (r,)) for shape, r, s in zip(shapes, widths, before, strict=False))
        if not shapes or 0 in before or not chained or np.shape(held["readout"]) != (before[-1],):
            raise ValueError(
                "The shapes must be W_i (r_i, r_(i-1)), b_i (r_i,) for one layer or more, and readout (r_(L-1),), "
                f"not {shapes} and {np.shape(held['readout'])}."
            )
        if np.ndim(held["output_bias"]) != 0:
            raise ValueError(f"output_bias must be one number, not an array of shape {np.shape(self.output_bias)}.")
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "readout", held["readout"])
        object.__setattr__(self, "output_bias", held["output_bias"])

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths r_1, ..., r_(L-1) of the hidden layers."""
        return tuple(len(bias) for _, bias in self.layers)

    def __call__(self, x: ArrayLike) -> Array:
        """The outputs of inputs of shape (..., n): shape (...). Errors as for `TwoLayerNetwork`."""
        z = rational_inputs(x, self.layers[0][0])
        for weights, bias in self.layers:
            z = (z @ weights.T + bias) ** 2
        return np.asarray(z @ self.readout + self.output_bias)


def quadratic_network(
    n: int, support: Support, depth: int, *, output_bias: bool = True, exact: bool = False
) -> QuadraticNetwork:
    """The network with L = depth layers (L - 1 hidden ones) that equals chi_S, for 1 <= |S| <= 2^(L-1).

    Args:
        n: the number of inputs.
        support: the k distinct indices of S in 0..n-1, or the integer k for 0..k-1.
        depth: L >= 2.
        output_bias: whether the last hidden layer has one neuron and the read-out a bias -1, or two neurons and none.
        exact: fmpq weights instead of float64 (the same dyadic numbers).

    Raises:
        ValueError: if S is no nonempty set of indices in 0..n-1, depth < 2, or |S| > 2^(depth-1).
    """
    indices = checked_support(n, support)
    if depth < 2:
        raise ValueError(f"The depth must be at least 2 (one hidden layer), not {depth}.")
    if len(indices) > 2 ** (depth - 1):
        raise ValueError(
            f"A network of depth {depth} has degree {2 ** (depth - 1)} in x and cannot represent a parity of "
            f"{len(indices)} signs."
        )
    # the factors as affine functions of the layer below: rows of weights, and constants
    factors = np.full((2 ** (depth - 1), n), fmpq(0), dtype=object)
    factors[np.arange(len(indices)), indices] = fmpq(1)
    constants = np.array([fmpq(int(i >= len(indices))) for i in range(len(factors))], dtype=object)
    layers = []
    while len(factors) > 1:
        weights, bias = factors[::2] + factors[1::2], constants[::2] + constants[1::2]
        if len(factors) == 2 and not output_bias:
            weights = np.concatenate([weights, factors[::2] - factors[1::2]])
            bias = np.concatenate([bias, constants[::2] - constants[1::2]])
        layers.append((weights, bias))
        products = len(factors) // 2
        factors = np.array([[fmpq(int(i == j), 2) for j in range(products)] for i in range(products)], dtype=object)
        constants = np.full(products, fmpq(-1), dtype=object)
    readout = [fmpq(1, 2)] if output_bias else [fmpq(1, 4), fmpq(-1, 4)]
    convert = as_exact if exact else to_float
    return QuadraticNetwork(
        tuple((convert(weights), convert(bias)) for weights, bias in layers),
        convert(np.array(readout, dtype=object)),
        convert(np.array(fmpq(-1 if output_bias else 0), dtype=object)).item(),
    )
