"""Networks with one hidden layer whose output is a parity chi_S(x) = prod_{i in S} x_i of sign vectors x.

The parity of k signs is a function of their sum s = sum_{i in S} x_i, or of the number m = (k + s)/2 of entries +1:
chi_S = (-1)^(k-m), which alternates on s = -k, -k+2, ..., k. Every network here reads s only, through rows w_S = 1_S,
and its activation or its second layer draws the alternating values:

- `relu_network`: a sum of ramps whose slopes change at each value. On consecutive integers an alternating sequence
  y_{m+1} = -y_m has the second difference y_{m+1} - 2 y_m + y_{m-1} = -4 y_m, so that, with y_m = (-1)^(k-m),
  y_m = y_0 - 2 y_0 m - 4 sum_{j=1}^{k-1} y_j (m - j)_+. The constant y_0 is an output bias (width k), or comes from one
  more ramp that starts at m = -1 (width k + 1).
- `power_network`: sum_i u_i (s + b_i)^k is the polynomial of degree k through the alternating values.
- `neuron`: one neuron whose activation itself interpolates: `Zigzag`, `OscillatingPolynomial`, `TriangleWave`,
  `Sinusoid` (lemmata.constructions.parity.activations).
- `post_step_network`: ramps as they stand after one gradient step on a ReLU network, with a second layer.

One forward pass serves float64 and exact rational numbers (object arrays), and the activations serve torch too.

Source: hidden-progress, section 5.3, appendix B.4.1 (architectures), lemma B.4 and its claim 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.held import hold_weights, rational_inputs
from lemmata.constructions.parity.activations import Activation, Power, Ramp, alternating_polynomial
from lemmata.constructions.parity.support import Support, checked_support
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array

_HALF = fmpq(1, 2)


# --- networks ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TwoLayerNetwork(Translated):
    """The network f(x) = readout . activation(hidden x + bias) + output_bias.

    Attributes:
        hidden: W, shape (r, n).
        bias: b, shape (r,).
        readout: u, shape (r,).
        activation: applied entry by entry.
        output_bias: one number.

    Weights are all float64 or all rational numbers, held as fmpq; integers fit both, and are exact among themselves.
    The arrays are copied, read-only.

    Raises:
        ValueError: if the shapes do not fit, a number is not finite, or floats are mixed with exact numbers.
    """

    translator: ClassVar[str] = "parity.torch_networks"

    hidden: Array = field(repr=False)
    bias: Array = field(repr=False)
    readout: Array = field(repr=False)
    activation: Activation
    output_bias: Any = 0

    def __post_init__(self) -> None:
        hold_weights(self, ("hidden", "bias", "readout", "output_bias"))
        hidden, bias, readout = self.hidden.shape, self.bias.shape, self.readout.shape
        if len(hidden) != 2 or 0 in hidden or not bias == readout == hidden[:1] or np.ndim(self.output_bias) != 0:
            raise ValueError(
                "The shapes must be hidden (r, n), bias (r,), readout (r,) with r, n >= 1, and output_bias one number, "
                f"not {hidden}, {bias}, {readout} and {np.shape(self.output_bias)}."
            )

    @property
    def width(self) -> int:
        """The number r of neurons."""
        return len(self.bias)

    @property
    def exact(self) -> bool:
        """Whether the weights are exact rational numbers."""
        return self.hidden.dtype == object

    def features(self, x: ArrayLike) -> Array:
        """The hidden layer activation(hidden x + bias) of inputs (..., n): shape (..., r). Errors as `__call__`."""
        before = rational_inputs(x, self.hidden) @ self.hidden.T + self.bias
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            after = self.activation(before)
        if after.dtype != object and not np.all(np.isfinite(after)):
            at = before[~np.isfinite(after)][0]
            raise ValueError(f"The activation {self.activation} returned NaN or infinity at the pre-activation {at}.")
        return after

    def __call__(self, x: ArrayLike) -> Array:
        """The outputs of inputs of shape (..., n): shape (...), float64 or object like the weights.

        Raises:
            ValueError: if the last axis has not length n, a number is not finite (of the inputs or of the hidden
                layer), or an exact network gets numbers that are not exact and rational.
        """
        return np.asarray(self.features(x) @ self.readout + self.output_bias)


# --- constructions -------------------------------------------------------------------------------------------------


def relu_network(n: int, support: Support, *, output_bias: bool = True, exact: bool = False) -> TwoLayerNetwork:
    """The ReLU network that equals chi_S: width k with an output bias, width k + 1 without.

    Neuron j has the kink m = j; j runs over 0..k-1, and over -1..k-1 without an output bias.

    Args:
        n: the number of inputs.
        support: the k distinct indices of S in 0..n-1, or the integer k for 0..k-1.
        output_bias: whether the constant (-1)^k is an output bias or is drawn by the further neuron.
        exact: fmpq weights instead of float64 (all weights are dyadic, so both are the same numbers).

    Raises:
        ValueError: unless S is a nonempty set of indices in 0..n-1.
    """
    indices = checked_support(n, support)
    k = len(indices)
    first = (-1) ** k
    change = [-2 * first] + [-4 * first * (-1) ** j for j in range(1, k)]  # of the slope at m = 0, 1, ..., k-1
    kinks = list(range(k))
    if not output_bias:
        kinks = [-1, *kinks]
        change = [first, change[0] - first, *change[1:]]
    hidden = _indicator_rows(n, indices, len(kinks)) * _HALF  # m - j = s/2 + k/2 - j
    bias = [fmpq(k, 2) - j for j in kinks]
    return _network(hidden, bias, change, Ramp(), first if output_bias else 0, exact)


def power_network(n: int, support: Support, *, exact: bool = False) -> TwoLayerNetwork:
    """The network of width k with the activation z^k and no output bias that equals chi_S.

    The rows are w_S, and with the interpolant p(s) = sum_l p_l s^l the second layer solves the moment equations
    sum_i u_i b_i^l = p_{k-l} / C(k, l) =: M_l for l = 0..k, one more than there are neurons. They are compatible if and
    only if the polynomial prod_i (z - b_i) = sum_l q_l z^l has sum_l q_l M_l = 0. For odd k, M_l = 0 for odd l and
    nodes that are symmetric about 0 have q_l = 0 for even l. For even k the last node is chosen to make the sum vanish.

    Args and errors as for `relu_network`. In float64 the weights are the exact ones, each rounded.
    """
    indices = checked_support(n, support)
    k = len(indices)
    p = alternating_polynomial(k)
    moments = [p[k - power] / math.comb(k, power) for power in range(k + 1)]
    nodes = _compatible_nodes(moments)
    vandermonde = fmpq_mat([[node**power for node in nodes] for power in range(k)])
    readout = vandermonde.solve(fmpq_mat(k, 1, moments[:k])).entries()
    return _network(_indicator_rows(n, indices, k), nodes, readout, Power(k), 0, exact)


def neuron(n: int, support: Support, activation: Activation, *, exact: bool = False) -> TwoLayerNetwork:
    """The single neuron activation(w_S . x), with readout 1 and no bias. Args and errors as for `relu_network`."""
    return _network(_indicator_rows(n, checked_support(n, support), 1), [0], [1], activation, 0, exact)


def post_step_network(
    n: int, support: Support, *, printed: bool = False, signs: ArrayLike | None = None, exact: bool = False
) -> TwoLayerNetwork:
    """The good neurons of lemma B.4 after one exact gradient step, with an explicit second layer.

    Neuron i has relevant weights 1/(2k), irrelevant weights +-(k-1)/(2k(n-k)) and bias -1/2 + (i+1)/k. Without the
    irrelevant inputs it is ((m + i + 1 - k)/k)_+, with its kink at m = k-1-i. The lemma takes i = 1..k, whose kinks are
    -1, ..., k-2, with the second layer 8k (-1)^(i+1) for i <= k-2, then 6k and -2k. Its repair takes i = 0..k and
    8k (-1)^i for i <= k-2, then -6k and 2k, which makes the noise-free output 2 chi_S.

    Args:
        n: the number of inputs; odd, as the coefficients of majority exist for odd n only, or n = k, which leaves out
            the irrelevant inputs (the limit of large n).
        support: S, with even k. For k = 2 the largest bias is 1 and lies outside the lemma's interval (-1, 1).
        printed: the k neurons and the second layer of the lemma as printed, which do not represent the parity.
        signs: the signs of the irrelevant weights, shape (r, n - k), with the columns in the order of the indices
            outside of S, and r = k if printed, else k + 1; all +1 if None. In the lemma's terms they are
            -u_i w_ij sign(xi_{k-1}).
        exact: fmpq weights instead of float64.

    Raises:
        ValueError: as for `relu_network`; if k is odd; if n is even and n > k; if signs does not fit.
    """
    indices = checked_support(n, support)
    k = len(indices)
    if k % 2:
        raise ValueError(
            f"The support must have an even number of indices, but it has {k}: for odd k and odd n the coefficients "
            "of majority of the even orders k - 1 and k + 1 vanish, and the gradient step moves nothing."
        )
    if n % 2 == 0 and n > k:
        raise ValueError(f"The number n of inputs must be odd (or equal to k = {k}), not {n}: majority needs odd n.")
    kept = list(range(1 if printed else 0, k + 1))
    pattern = np.ones((len(kept), n - k), dtype=np.int64) if signs is None else np.asarray(signs)
    if pattern.shape != (len(kept), n - k) or not np.all(np.abs(pattern) == 1):
        raise ValueError(f"The signs must be +-1 in the shape {(len(kept), n - k)}; the shape is {pattern.shape}.")
    hidden = _indicator_rows(n, indices, len(kept)) * fmpq(1, 2 * k)
    if n > k:
        outside = np.setdiff1d(np.arange(n), indices)
        hidden[:, outside] = as_exact(pattern.astype(np.int64)) * fmpq(k - 1, 2 * k * (n - k))
    bias = [fmpq(i + 1, k) - _HALF for i in kept]
    repaired = [8 * k * (-1) ** i for i in range(k - 1)] + [-6 * k, 2 * k]
    readout = [-u for u in repaired[1:]] if printed else repaired
    return _network(hidden, bias, readout, Ramp(), 0, exact)


# --- private helpers -----------------------------------------------------------------------------------------------


def _indicator_rows(n: int, indices: list[int], rows: int) -> NDArray[np.object_]:
    result = np.full((rows, n), fmpq(0), dtype=object)
    result[:, indices] = fmpq(1)
    return result


def _network(
    hidden: Array, bias: list[Any], readout: list[Any], activation: Activation, output_bias: int, exact: bool
) -> TwoLayerNetwork:
    convert: Callable[[Any], Array] = as_exact if exact else lambda part: to_float(as_exact(part))
    return TwoLayerNetwork(convert(hidden), convert(bias), convert(readout), activation, convert(output_bias).item())


def _compatible_nodes(moments: list[fmpq]) -> list[fmpq]:
    """The k distinct nodes b_i such that the moments 0..k are those of some weights on them; see `power_network`."""
    k = len(moments) - 1
    if k % 2:
        return [fmpq(i) for i in range(-(k // 2), k // 2 + 1)]
    start = 1
    while True:
        nodes = [fmpq(start + i) for i in range(k - 1)]
        q = fmpq_poly([1])
        for node in nodes:
            q *= fmpq_poly([-node, 1])
        below = sum((q[power] * moments[power] for power in range(k)), fmpq(0))
        above = sum((q[power] * moments[power + 1] for power in range(k)), fmpq(0))
        if below != 0 and above / below not in nodes:
            return [*nodes, above / below]
        start += 1
