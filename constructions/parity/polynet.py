"""PolyNets: products of affine forms, prod_i (w_i . x + b_i), one of which is a parity as it stands.

With the rows w_j = e_j for j in S and no biases the network is chi_S(x) = prod_{j in S} x_j itself, on all real inputs.

Source: hidden-progress, construction-polynet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.held import hold_weights, rational_inputs
from lemmata.constructions.parity.support import Support, checked_support
from lemmata.numerics.exact.systems import Array


@dataclass(frozen=True, eq=False)
class PolyNet(Translated):
    """The network f(x) = prod_i (w_i . x + b_i).

    Attributes:
        weights: the w_i, shape (k, n).
        bias: the b_i, shape (k,).

    Numbers and errors as for `lemmata.constructions.parity.two_layer.TwoLayerNetwork`.
    """

    translator: ClassVar[str] = "parity.torch_networks"

    weights: Array = field(repr=False)
    bias: Array = field(repr=False)

    def __post_init__(self) -> None:
        hold_weights(self, ("weights", "bias"))
        if self.weights.ndim != 2 or 0 in self.weights.shape or self.bias.shape != self.weights.shape[:1]:
            raise ValueError(
                "The shapes must be weights (k, n) and bias (k,) with k, n >= 1, "
                f"not {self.weights.shape} and {self.bias.shape}."
            )

    def __call__(self, x: ArrayLike) -> Array:
        """The outputs of inputs of shape (..., n): shape (...). Errors as for `TwoLayerNetwork`."""
        return np.asarray(np.prod(rational_inputs(x, self.weights) @ self.weights.T + self.bias, axis=-1))


def polynet(n: int, support: Support, *, exact: bool = False) -> PolyNet:
    """The PolyNet prod_{j in S} x_j: rows e_j for j in S, no biases. Args and errors as for `relu_network`."""
    indices = checked_support(n, support)
    weights = np.zeros((len(indices), n), dtype=np.int64)
    weights[np.arange(len(indices)), indices] = 1
    return PolyNet(weights if exact else weights.astype(float), np.zeros(len(indices), dtype=np.int64))
