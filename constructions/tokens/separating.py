"""d heads whose output determines all tokens, for any number q of indices: fewer than q heads are enough if d < q.

Let u_1, ..., u_N be the dual vectors of linearly independent codes. Head h has the scores

    S_ij = A n_ij + s (x_j)_h,         n_ij = the number of indices of position i that are j,

where the first part compares the codes by sum_j u_j u_j^T, and the second is the product of a constant functional of
the query's position, c = sum_j u_j, with coordinate h of the key. Its weights p_j, j = 1, ..., N, can be read off the
position block of its output, which is sum_j p_j omega_j, and o = sum_j p_j (x_j)_h off the x-block. Now

    log p_j = A n_j + s (x_j)_h - log Z,         so that, taking the mean under p,
    (x_j)_h = o + (L_j - sum_m p_m L_m) / s,     L_j = log p_j - A n_j,

without any error, if the n_j are known. They are, as soon as 2 s |x| < A/2: since sum_j n_j = q, the number n_j is the
integer next to (log p_j - mean_m log p_m) / A + q/N.

So the outputs of d heads determine the tokens and how often each is pointed to, hence every label that does not depend
on the order of the tokens. The scores need the data and the position in one product, so that the bound for
block-diagonal query-key matrices is not contradicted.

Source: qstr, construction-min-qd-heads (sharpened: no error from the other tokens, and repeated indices).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, fmpq

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.layer import Weights
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.tokens.attention import dual_codes
from lemmata.constructions.tokens.transformer import query_key_head, shown_by_heads, token_stream
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, conversion, number_system
from lemmata.numerics.tokens.codes import PositionCodes, scaled_integers

if TYPE_CHECKING:
    import torch

__all__ = ["SeparatingAttention", "separating_attention"]


@dataclass(frozen=True, eq=False)
class SeparatingAttention(Weights):
    """d heads, and how their output is read; see the docstring of this module.

    Attributes:
        stream: the blocks of z.
        attention: one head for each coordinate of the tokens, concatenated.
        duals: u, shape (N, d_e), the functionals that read the weights off the position blocks.
        sparsity: q.
        gain: A, the score of one index, an exact number.
        slope_square: s^2, exact.
    """

    stream: ResidualStream
    attention: AttentionLayer
    duals: Array
    sparsity: int
    gain: fmpq
    slope_square: fmpq

    @property
    def dimension(self) -> int:
        """d, the number of heads."""
        return self.stream.sizes["x"]

    def weights_of(self, outputs: Array) -> tuple[Array, Array]:
        """The attention weights p, shape (..., d, N), and o, shape (..., d), from the concatenated outputs of heads.

        Raises:
            ValueError: for outputs that do not divide into those of d heads.
        """
        position, o = shown_by_heads(self.stream, outputs)
        read = position @ conversion(number_system([outputs]))(self.duals).T
        return read / read.sum(axis=-1, keepdims=True), o

    def decode(self, outputs: Array) -> tuple[Array, Array]:
        """The numbers n_j and the tokens x_j, j = 1, ..., N, from the outputs of the heads at any positions.

        Args:
            outputs: shape (..., d D_e), floats or balls.

        Returns:
            The numbers, integers of shape (..., N), and the tokens, shape (..., N, d).

        Raises:
            ValueError: if the tokens are too large for the gain, so that the numbers do not add up to q, or balls leave
                them undecided.
        """
        p, o = self.weights_of(outputs)
        system = number_system([outputs])
        A, mean = conversion(system)(as_exact([self.gain, fmpq(self.sparsity, p.shape[-1])]))
        s = scaled_integers([1], self.slope_square, system)[0]
        if system == "float" and not (p > 0).all():
            raise ValueError("Weights of attention are too small to be read in float64: use balls, or a smaller gain.")
        logs = np.log(p)
        shifted = (logs - logs.mean(axis=-1, keepdims=True)) / A
        counts = _nearest(shifted[..., 0, :] + mean)
        if (counts.sum(axis=-1) != self.sparsity).any() or (counts < 0).any():
            raise ValueError(
                f"The tokens are too large for the gain {self.gain}: the indices found do not number {self.sparsity}."
            )
        levels = logs - A * counts[..., None, :]
        tokens = o[..., None] + (levels - (p * levels).sum(axis=-1, keepdims=True)) / s
        return counts, np.swapaxes(tokens, -1, -2)

    def __call__(self, z: Array) -> Array:
        """sum_l x_(t_il), shape (..., N, d), for encoded prompts z of shape (..., N, D_e); errors as for `decode`."""
        return self.label(z, lambda tokens: tokens)

    def label(self, z: Array, function: Callable[[Array], Array]) -> Array:
        """sum_l f(x_(t_il)) for every position, shape (..., N, e), for f from (..., d) to (..., e).

        Args:
            z: encoded prompts, shape (..., N, D_e), floats or balls.
            function: f, on arrays of tokens.
        """
        counts, tokens = self.decode(self.attention(z))
        return (counts[..., None] * function(tokens)).sum(axis=-2)

    def to_torch(self, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> torch.nn.Module:
        """The torch module of the heads: z to their concatenated outputs, which `decode` takes."""
        from lemmata.constructions.networks.torch import to_torch  # slow to import

        return to_torch(self.attention, dtype=dtype, stream=stream)


def separating_attention(
    dimension: int, sparsity: int, codes: PositionCodes, *, sharpness: Any = 25, slope: Any = 1
) -> SeparatingAttention:
    """The d heads over the embedding of attention, with rational weights.

    Args:
        dimension: d.
        sparsity: q, any number.
        codes: N of them, linearly independent; v their integer vectors, s their square.
        sharpness: A' > 0, exact; A = A' d/(q s).
        slope: s' > 0, exact; the slope is s' sqrt(d/(q s)).

    Raises:
        ValueError: for linearly dependent codes, or other numbers.
    """
    d = checked_integer("The dimension of tokens", dimension, 1)
    q = checked_integer("The sparsity q", sparsity, 1)
    A, slope = (as_exact([x])[0] for x in (sharpness, slope))
    if not (A > 0 and slope > 0):
        raise ValueError(f"The sharpness and the slope must be positive, not {A} and {slope}.")
    stream, duals = token_stream(d, q, codes.dimension), dual_codes(codes)
    compare = (duals.T @ duals) * A
    constant = duals.sum(axis=0)[:, None] * slope
    heads = []
    for h in range(d):
        blocks = {(f"index_{number}", "position"): compare for number in range(1, q + 1)}
        blocks["position", "x"] = constant * np.eye(d, dtype=np.int64)[h]
        heads.append(query_key_head(stream, blocks))
    scale = fmpq(d, q * codes.square)
    layer = AttentionLayer(tuple(heads), combination="concatenate")
    return SeparatingAttention(stream, layer, duals, q, A * scale, slope * slope * scale)


def _nearest(numbers: Array) -> Array:
    """The integers next to the numbers; ValueError if a ball holds a point that is half way."""
    if numbers.dtype != object:
        return np.rint(numbers).astype(np.int64)
    result = np.zeros(numbers.shape, dtype=np.int64)
    for index, x in np.ndenumerate(numbers):
        found = (x + arb(fmpq(1, 2))).floor().unique_fmpz()
        if found is None:
            raise ValueError("The number of indices at a token is undecided: raise the precision or the gain.")
        result[index] = int(found)
    return result
