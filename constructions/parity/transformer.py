"""The parity transformer: one attention block read at a class token, an MLP with GeLU, and explicit weights.

Rows are tokens, the class token first. With token embeddings E_(-1), E_(+1), E_CLS and positions P_i the stream is
X = (E_CLS; E_(x_i) + P_i), and

    z = X_CLS + sum_h softmax(X_CLS W_Q (X W_K)^T / sqrt(d_attn)) X W_V W_out,
    f(x) = <u, z + GeLU(z W_1 + b_1) W_2 + b_2>.

`parity_transformer` computes chi_S with one head of dimension 1 and k hidden units. Its stream has the coordinates bit
(x_i), relevant (1 on S), class, mean and output:

- the class token asks for `relevant` with strength beta, so that it attends to S, up to weights of order exp(-beta),
  and receives mean = (sum of x over S)/k in `mean`;
- m = k (1 + mean)/2 counts the entries +1, and hidden unit j is GeLU(lambda (m - j)), which is lambda (m - j)_+ at
  integers m up to the tail of the normal distribution beyond lambda;
- the ramps add up to (-1)^(k-m) as in `constructions.parity.two_layer`: y_0 - 2 y_0 m - 4 sum_(0<j<k) y_j (m - j)_+
with
  y_j = (-1)^(k-j). The constant is the output bias b_2.

One forward pass serves float64 and balls (neither a softmax nor a GeLU is rational).

Source: hidden-progress, appendix B.4.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike
from scipy.special import ndtr

from constructions.networks.affine import Affine
from constructions.networks.legacy_attention import AttentionHead
from constructions.networks.stream import ResidualStream
from constructions.parity.support import checked_support
from numerics.exact.balls import as_balls
from numerics.exact.numbers import to_float
from numerics.exact.systems import Array, number_system, product

if TYPE_CHECKING:
    import torch

STREAM = ResidualStream({"bit": 1, "relevant": 1, "class": 1, "mean": 1, "output": 1})


@dataclass(frozen=True, eq=False)
class ParityTransformer:
    """A transformer from n signs to one number, read at its class token.

    Attributes:
        tokens: E_(-1), E_(+1), E_CLS, shape (3, d).
        positions: P_1, ..., P_n, shape (n, d).
        heads: softmax heads that are not causal, with values W_V of shape (d, d_attn).
        outputs: W_out for each head, shape (d_attn, d).
        hidden: W_1 and b_1, from d to d_mlp.
        second: W_2 and b_2, from d_mlp to d.
        readout: u, shape (d,).

    Raises:
        ValueError: if the shapes do not fit, a head is causal or hard, or the numbers are neither all floats nor all
            balls.
    """

    tokens: Array
    positions: Array
    heads: tuple[AttentionHead, ...]
    outputs: tuple[Array, ...]
    hidden: Affine
    second: Affine
    readout: Array

    def __post_init__(self) -> None:
        for name in ("tokens", "positions", "readout"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        object.__setattr__(self, "heads", tuple(self.heads))
        object.__setattr__(self, "outputs", tuple(map(np.asarray, self.outputs)))
        self._check()

    @property
    def inputs(self) -> int:
        """The number n of signs."""
        return len(self.positions)

    def arrays(self) -> list[Array]:
        """All weights."""
        heads = [array for head in self.heads for array in head.arrays()]
        layers = [*self.hidden.arrays(), *self.second.arrays()]
        return [self.tokens, self.positions, *heads, *self.outputs, *layers, self.readout]

    def attention(self, x: ArrayLike) -> list[Array]:
        """For each head the attention of the class token, shape (..., n + 1), the class token first."""
        X = self._embed(x)
        return [head.attention(X)[..., 0, :] for head in self.heads]

    def __call__(self, x: ArrayLike) -> Array:
        """The outputs for signs of shape (..., n): shape (...).

        Raises:
            ValueError: if the last axis has not length n, or an entry is neither 1 nor -1.
        """
        X = self._embed(x)
        z = X[..., :1, :]
        for head, output in zip(self.heads, self.outputs, strict=True):
            z = z + product(head(X)[..., :1, :], output)
        z = z + self.second(gelu(self.hidden(z)))
        return product(z, self.readout[:, None])[..., 0, 0]

    def to_balls(self) -> ParityTransformer:
        """The same weights as balls at the working precision (floats count as they are)."""
        return self._map(as_balls)

    def to_float(self) -> ParityTransformer:
        """The same weights in float64 (midpoints of balls)."""
        return self._map(to_float)

    def to_torch(self) -> torch.nn.Module:
        """A torch module (float64) with the same weights as parameters; it maps signs (..., n) to outputs (...)."""
        from constructions.parity.torch import TorchParityTransformer  # torch is slow to import

        return TorchParityTransformer(self.to_float())

    def _embed(self, x: ArrayLike) -> Array:
        signs = np.asarray(x)
        if signs.shape[-1:] != (self.inputs,) or not np.all((signs == 1) | (signs == -1)):
            raise ValueError(f"The inputs must be signs 1 or -1, {self.inputs} in a row, not of shape {signs.shape}.")
        rows = self.tokens[(signs == 1).astype(np.int64)] + self.positions
        front = np.broadcast_to(self.tokens[2], (*signs.shape[:-1], 1, self.tokens.shape[1]))
        return np.concatenate([front, rows], axis=-2)

    def _map(self, convert: Callable[[Array], Array]) -> ParityTransformer:
        changes: dict[str, Any] = {name: convert(getattr(self, name)) for name in ("tokens", "positions", "readout")}
        changes["heads"] = tuple(head.map(convert) for head in self.heads)
        changes["outputs"] = tuple(map(convert, self.outputs))
        changes["hidden"], changes["second"] = self.hidden.map(convert), self.second.map(convert)
        return replace(self, **changes)

    def _check(self) -> None:
        d = self.tokens.shape[-1]
        shapes = {
            "tokens": self.tokens.shape == (3, d),
            "positions": self.positions.ndim == 2 and self.positions.shape[1] == d and len(self.positions) > 0,
            "heads": all(head.query.shape[0] == d and not len(head.table) for head in self.heads),
            "outputs": [w.shape for w in self.outputs] == [(head.value.shape[1], d) for head in self.heads],
            "hidden": self.hidden.weight.shape[0] == d,
            "second": self.second.weight.shape == (self.hidden.weight.shape[1], d),
            "readout": self.readout.shape == (d,),
        }
        wrong = [field.name for field in fields(self) if not shapes[field.name]]
        if wrong:
            raise ValueError(f"The shapes of {', '.join(wrong)} do not fit a stream of width {d}.")
        if any(head.causal or head.normalisation != "softmax" for head in self.heads):
            raise ValueError("The heads must be softmax heads that are not causal.")
        systems = {number_system([array]) for array in self.arrays() if array.size}
        if systems != {"float"} and systems != {"ball"}:
            raise ValueError("The weights must be all floats or all balls.")


def parity_transformer(
    n: int, support: int | Iterable[int], *, beta: Fraction | int = 60, sharpness: Fraction | int = 256
) -> ParityTransformer:
    """The explicit transformer for chi_S, in float64; `to_balls` gives enclosures.

    In exact arithmetic |f - chi_S| is at most `weights_error`, below 10^-23 for n <= 10 and the default values.

    Args:
        n: the number of inputs.
        support: S, or k for the first k inputs.
        beta: the strength of the attention.
        sharpness: lambda, the scale of the hidden units; with a power of 2 the weights are exact in float64.

    Raises:
        ValueError: as `checked_support`, or if beta or sharpness is not positive and finite.
    """
    members = checked_support(n, support)
    if not (math.isfinite(beta) and math.isfinite(sharpness)):
        raise ValueError(f"The strength and the sharpness must be finite, not {beta} and {sharpness}.")
    k, B, scale = len(members), Fraction(beta), Fraction(sharpness)
    if B <= 0 or scale <= 0:
        raise ValueError(f"The strength and the sharpness must be positive, not {beta} and {sharpness}.")
    tokens = STREAM.rows(3, {"bit": [[-1], [1], [0]], "class": [[0], [0], [1]]})
    positions = STREAM.rows(n, {"relevant": [[int(i in members)] for i in range(n)]})
    head = AttentionHead(
        query=_column("class", fmpq(B.numerator, B.denominator)),
        key=_column("relevant", 1),
        value=_column("bit", 1),
        causal=False,
    )
    slopes = [-2 * (-1) ** k] + [-4 * (-1) ** (k - j) for j in range(1, k)]
    rational = fmpq(scale.numerator, scale.denominator)
    hidden = Affine(
        np.hstack([_column("mean", rational * k / 2)] * k), np.array([rational * (fmpq(k, 2) - j) for j in range(k)])
    )
    second = Affine(
        STREAM.rows(k, {"output": [[c / rational] for c in slopes]}), STREAM.rows(1, {"output": [[(-1) ** k]]})[0]
    )
    exact = (tokens, positions, head, STREAM.rows(1, {"mean": [[1]]}), hidden, second, _column("output", 1)[:, 0])
    tokens, positions, head, output, hidden, second, readout = exact
    return ParityTransformer(
        tokens=to_float(tokens),
        positions=to_float(positions),
        heads=(head.map(to_float),),
        outputs=(to_float(output),),
        hidden=hidden.map(to_float),
        second=second.map(to_float),
        readout=to_float(readout),
    )


def gelu(z: Array) -> Array:
    """x times the normal distribution function at x, element by element, for floats and balls."""
    if z.dtype != object:
        return z * ndtr(z)
    result = np.empty(z.shape, dtype=object)
    half_root = (arb(1) / 2).sqrt()
    result.ravel()[:] = [x * (-x * half_root).erfc() / 2 for x in z.ravel().tolist()]
    return result


def weights_error(n: int, k: int, beta: Any, sharpness: Any) -> arb:
    """4.52 k (n - k + 1) exp(-beta) + 2 k exp(-lambda^2/2), a bound on |f - chi_S| for lambda >= 1, as a ball.

    The class token gives weight e^beta/(k e^beta + n - k + 1) to each token of S, so `mean` is off by at most
    2 (n - k + 1)/(k e^beta), m by (n - k + 1) e^-beta, and f by that times the largest slope of the sum of GeLUs:
    2 + 4 (k - 1) <= 4 k, times the largest slope of GeLU, below 1.13. At integers t != 0, |GeLU(lambda t) - lambda
    (t)_+|/lambda = |t| Q(lambda |t|) <= |t| exp(-lambda^2 t^2/2)/2, with the tail Q of the normal distribution; for
    lambda >= 1 this is largest at |t| = 1.
    """
    decay = (-as_balls([beta])[0]).exp()
    tail = (-(as_balls([sharpness])[0] ** 2) / 2).exp()
    return arb("4.52") * k * (n - k + 1) * decay + 2 * k * tail


def _column(name: str, entry: Any) -> Array:
    """The (d, 1) matrix that reads one coordinate."""
    return STREAM.readout(1, {name: [[entry]]})
