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
- the ramps add up to (-1)^(k-m) as in `lemmata.constructions.parity.two_layer`: y_0 - 2 y_0 m - 4 sum_(0<j<k) y_j (m -
  j)_+ with y_j = (-1)^(k-j). The constant is the output bias b_2.

One forward pass serves float64 and balls (neither a softmax nor a GeLU is rational).

Source: hidden-progress, appendix B.4.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Weights
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.parity.support import checked_support
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.systems import Array

STREAM = ResidualStream({"bit": 1, "relevant": 1, "class": 1, "mean": 1, "output": 1})
SIGNS = (-1, 1)


@dataclass(frozen=True, eq=False)
class ParityTransformer(Weights):
    """A transformer from n signs to one number, read at its class token.

    Attributes:
        transformer: its embedding is E_(-1), E_(+1), its prefix E_CLS, its positions are P_1, ..., P_n; its layers are
            an `AttentionLayer` where the first token alone attends, with W_out as the output maps of the heads, and a
            `FeedForward` with a residual; its readout is u.

    Raises:
        ValueError: for other symbols, prefixes or positions, or if it is not read at the first token as one number.
    """

    translator: ClassVar[str] = "parity.torch_networks"

    transformer: Transformer

    def __post_init__(self) -> None:
        f = self.transformer
        one_number = f.read == "first" and isinstance(f.readout, np.ndarray) and f.readout.ndim == 1
        if f.alphabet != SIGNS or len(f.prefix) != 1 or not len(f.positions) or not one_number:
            raise ValueError(
                "A parity transformer has the symbols -1 and 1, one class token, positions, and a vector as readout of "
                f"the first row, not the symbols {f.alphabet}, {len(f.prefix)} rows in front, {len(f.positions)} "
                f"positions, and a readout at {f.read!r}."
            )

    @property
    def inputs(self) -> int:
        """The number n of signs."""
        return len(self.transformer.positions)

    def attention(self, x: ArrayLike) -> list[Array]:
        """For each head the attention of the class token, shape (..., n + 1), the class token first."""
        X = self.transformer.embed(self._checked(x))
        heads = (head for layer in self.transformer.layers if isinstance(layer, AttentionLayer) for head in layer.heads)
        return [head.attention(X[..., :1, :], memory=X)[..., 0, :] for head in heads]

    def __call__(self, x: ArrayLike) -> Array:
        """The outputs for signs of shape (..., n): shape (...).

        Raises:
            ValueError: if the last axis has not length n, or an entry is neither 1 nor -1.
        """
        return self.transformer(self._checked(x))

    def _checked(self, x: ArrayLike) -> Array:
        signs = np.asarray(x)
        if signs.shape[-1:] != (self.inputs,) or not np.all((signs == 1) | (signs == -1)):
            raise ValueError(f"The inputs must be signs 1 or -1, {self.inputs} in a row, not of shape {signs.shape}.")
        return signs.astype(np.int64)


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
    head = Head(
        query=Affine(_column("class", fmpq(B.numerator, B.denominator))),
        key=Affine(_column("relevant", 1)),
        value=Affine(_column("bit", 1)),
        output=Affine(STREAM.rows(1, {"mean": [[1]]})),
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
    exact = Transformer(
        embedding=STREAM.rows(2, {"bit": [[-1], [1]]}),
        prefix=STREAM.rows(1, {"class": [[1]]}),
        layers=(
            AttentionLayer((head,), attending="first"),
            FeedForward((hidden, second), residual=True, activations=("gelu", "identity")),
        ),
        readout=_column("output", 1)[:, 0],
        positions=STREAM.rows(n, {"relevant": [[int(i in members)] for i in range(n)]}),
        read="first",
        alphabet=SIGNS,
    )
    return ParityTransformer(exact.to_float())


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
