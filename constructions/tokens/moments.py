"""d heads that come as near as one likes to a sum of squared norms of q > d tokens, with codes of O(log N) dimensions.

Positions are 0, ..., N - 1 with N = 2^k, their codes those of `linear_codes`, and a block is a set of q = 2^m numbers
with the same bits from m on. A position asks for a block below N/2; the block N/2 above it, its twin, holds zeros, as
does the second half of the data of proposition 3. Head h has the scores

    S_ij = G (the number of equal bits from m to k - 2 in j and in the block) + s (x_j)_h + a constant,

so that for a large gain G all attention is on the block and its twin. There, with A(s) = sum_j e^(s (x_j)_h),

    p = A / (A + q)  is the share of the block, read off the code of bit k - 1,        A / q = p / (1 - p),
    o = sum_j e^(s (x_j)_h) (x_j)_h / (A + q) = A'(s) / (A + q)  is in the x-block,    A' / q = o / (1 - p), and

    (2/s) (A' - (A - q)/s) = sum_j (x_j)_h^2 f(s (x_j)_h),        f(u) = 2 (u e^u - e^u + 1) / u^2 = 1 + 2u/3 + ...,

which tends to sum_j (x_j)_h^2 as s tends to 0. No choice of G and s gives it exactly, and no d heads do for q >
d (d + r + 1), r the rank of the codes.

Source: qstr, construction-block-moments (not in the document; complements proposition-3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.layer import Weights
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.tokens.transformer import query_key_head, shown_by_heads, token_stream
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, number_system
from lemmata.numerics.tokens.codes import PositionCodes, linear_codes, scaled_integers

if TYPE_CHECKING:
    import torch

__all__ = ["BlockMoments", "block_moments"]


@dataclass(frozen=True, eq=False)
class BlockMoments(Weights):
    """d heads on blocks of q tokens, and how their output is read; see the docstring of this module.

    Attributes:
        stream: the blocks of z.
        attention: one head for each coordinate of the tokens, concatenated.
        bits: k, for 2^k positions.
        sparsity: q, a power of 2.
        slope_square: s^2, exact.
    """

    stream: ResidualStream
    attention: AttentionLayer
    bits: int
    sparsity: int
    slope_square: fmpq

    def decode(self, outputs: Array) -> Array:
        """What the outputs say of sum_j (x_j)_h^2 over the block, h = 1, ..., d.

        Args:
            outputs: those of the heads at any positions, shape (..., d D_e), floats or balls.

        Returns:
            shape (..., d).

        Raises:
            ValueError: for outputs that do not divide into those of d heads.
        """
        code, mean = shown_by_heads(self.stream, outputs)
        twin = (1 - code[..., self.bits] / code[..., 0]) / 2
        s = scaled_integers([1], self.slope_square, number_system([outputs]))[0]
        return (mean / twin - ((1 - twin) / twin - 1) / s) * (2 * self.sparsity / s)

    def __call__(self, z: Array) -> Array:
        """What the heads say of sum_j |x_j|^2, shape (..., N), for encoded prompts z of shape (..., N, D_e)."""
        return self.decode(self.attention(z)).sum(axis=-1)

    def to_torch(self, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> torch.nn.Module:
        """The torch module of the heads: z to their concatenated outputs, which `decode` takes."""
        from lemmata.constructions.networks.torch import to_torch  # slow to import

        return to_torch(self.attention, dtype=dtype, stream=stream)


def block_moments(
    dimension: int, block_bits: int, bits: int, codes: PositionCodes, *, gain: Any, slope: Any
) -> BlockMoments:
    """The d heads over the embedding of attention, with rational weights.

    Args:
        dimension: d.
        block_bits: m, for q = 2^m tokens in a block.
        bits: k > m, for N = 2^k positions.
        codes: those of `linear_codes` with k bits.
        gain: G' >= 0, exact; the score of one equal bit is 2 G' d/(q d_e).
        slope: s' > 0, exact; the slope is s = s' sqrt(d/(q d_e)).

    Raises:
        ValueError: for other codes or numbers.
    """
    d = checked_integer("The dimension of tokens", dimension, 1)
    m = checked_integer("The bits of a block", block_bits, 0)
    k = checked_integer("The bits of a position", bits, m + 1)
    if codes.count != 2**k or not np.array_equal(codes.vectors[:, : k + 1], linear_codes(k).vectors):
        raise ValueError(f"The codes begin with 1 and the signs of the {k} bits of their positions, as linear_codes.")
    gain, slope = (as_exact([x])[0] for x in (gain, slope))
    if not (gain >= 0 and slope > 0):
        raise ValueError(f"The gain must not be negative and the slope positive, unlike {gain} and {slope}.")
    stream = token_stream(d, 2**m, codes.dimension)
    compare = np.zeros((codes.dimension, codes.dimension), dtype=np.int64)
    shared = np.arange(m + 1, k)  # coordinate 1 + b is that of bit b
    compare[shared, shared] = 1
    heads = []
    for h in range(d):
        tilt = np.zeros((codes.dimension, d), dtype=np.int64)
        tilt[0, h] = 1
        heads.append(query_key_head(stream, {("index_1", "position"): compare * gain, ("position", "x"): tilt * slope}))
    scale = fmpq(d, 2**m * codes.square)
    layer = AttentionLayer(tuple(heads), combination="concatenate")
    return BlockMoments(stream, layer, k, 2**m, slope * slope * scale)
