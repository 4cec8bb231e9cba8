"""Attention that retrieves the tokens to which a position points: one head for each index, or one for their mean.

*Retrieval.* Head h compares the code of index h with the code of the position,

    score_h(i, j) = alpha <sqrt(d/q) omega_(t_ih), sqrt(d/q) omega_j> = alpha (d/q) <omega_(t_ih), omega_j>,

which is alpha d/q at j = t_ih, and at least alpha (d/q) (1 - c) less elsewhere if all correlations are at most c. So
the token t_ih has all of the weight but a share of at most

    (N-1) e^(-m) / (1 + (N-1) e^(-m)),        m = alpha (d/q) (1 - c),

and for tokens in a ball of radius r the head's x-block is off by at most 2 r times that, with equality for codes whose
correlations are all c, x_t = v and x_j = -v. The document has c = 1/2 and the bound 2 r N e^(-alpha d/(2q)). For links
that a ReLU network is, alpha = (2q/d) log(2 r_a r_w r (N-1) sqrt(q) / error) makes the label's error at most `error`.

*Averaging.* One head with the sum of these scores over h has equal scores at the q indices if they differ and the codes
are orthonormal. With the dual matrix sum_j w_j w_j^T, <w_i, omega_j> = [i = j], that holds for all linearly independent
codes. The weights are e^(A n_j) up to a factor, n_j the number of indices that are j; repeated indices need weights
proportional to n_j instead, which an embedding with the logarithms log n_j gives (`counting_embedding`).

Source: qstr, lemma-11 (equation (A.2)) and remark-sparse-averaging.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Weighing
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.tokens.transformer import TokenTransformer, query_key_head, readout_of, token_stream
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.linear import inverse
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Arithmetic, Array, conversion
from lemmata.numerics.tokens.codes import PositionCodes
from lemmata.numerics.tokens.links import ReluLink
from lemmata.numerics.tokens.prompts import Prompts

__all__ = [
    "averaging_attention",
    "counting_attention",
    "counting_embedding",
    "counting_stream",
    "dual_codes",
    "lipschitz_ball",
    "retrieval_attention",
    "retrieval_sharpness",
    "retrieval_transformer",
]

_STEPS = 2**40
"""A sharpness is rounded up to a multiple of 2^-40, which leaves it below that of the lemma, with N for N - 1."""


def retrieval_sharpness(length: int, dimension: int, sparsity: int, ratio: Any) -> fmpq:
    """alpha = (2q/d) log(ratio (N-1)), rounded up, so that it is below (2q/d) log(ratio N); 0 where that is negative.

    Args:
        length: N.
        dimension: d.
        sparsity: q.
        ratio: 2 r_a r_w r sqrt(q) / error for labels, 2 r / error for tokens; positive, in any number system.

    Raises:
        ValueError: for another ratio, or numbers that are no positive integers.
    """
    N = checked_integer("The number of tokens", length, 1)
    d = checked_integer("The dimension of tokens", dimension, 1)
    q = checked_integer("The sparsity q", sparsity, 1)
    ball = as_balls([ratio])[0]
    if not ball > 0 or not ball.is_finite():
        raise ValueError(f"The ratio of the radius and the error must be positive, not {ratio}.")
    if not ball * (N - 1) > 1:
        return fmpq(0)
    with precision(128):
        steps = (as_balls(np.array([ratio], dtype=object))[0] * (N - 1)).log() * 2 * q / d * _STEPS
        return fmpq(int(steps.upper().ceil().fmpz()), _STEPS)


def retrieval_attention(
    dimension: int, sparsity: int, codes: PositionCodes, sharpness: Any, *, weigh: Weighing = "softmax"
) -> AttentionLayer:
    """The q heads, each with alpha times the identity at the rows of index_h and the columns of the position.

    Args:
        dimension: d.
        sparsity: q, the number of heads.
        codes: N position codes; they should be near-orthogonal, which `PositionCodes.require_near_orthogonal` asks.
        sharpness: alpha, an exact number, not negative; positive for hard attention.
        weigh: "softmax", or "hardmax", the limit of large alpha, which is exact over the rationals.
    """
    stream = token_stream(dimension, sparsity, codes.dimension)
    block = np.eye(codes.dimension, dtype=np.int64).astype(object) * sharpness
    # the scores are integers times this, so that different ones are as far apart
    gap = sharpness * fmpq(dimension, sparsity * codes.square) if weigh == "hardmax" else None
    places = [{(f"index_{h}", "position"): block} for h in range(1, sparsity + 1)]
    heads = [query_key_head(stream, blocks, weigh, gap) for blocks in places]
    return AttentionLayer(tuple(heads), combination="concatenate")


def retrieval_transformer(
    link: ReluLink,
    codes: PositionCodes,
    *,
    radius: Any,
    error: Any,
    weigh: Weighing = "softmax",
) -> TokenTransformer:
    """The transformer whose labels are off by at most `error`, for tokens of length at most `radius`.

    Args:
        link: the ReLU network of the label; it gives q and d.
        codes: N of them, with correlations of at most 1/2.
        radius: r, positive.
        error: the error that attention may cause, positive; that of the link comes in addition.
        weigh: as for `retrieval_attention`.

    Raises:
        ValueError: for codes that are too coherent, naming a pair, or a radius or error that is not positive.
    """
    codes.require_near_orthogonal()
    q, d = link.sparsity, link.dimension
    r, allowed = (as_balls([x])[0] for x in (radius, error))
    if not (r > 0 and allowed > 0):
        raise ValueError(f"The radius and the error must be positive, not {radius} and {error}.")
    ratio = 2 * lipschitz_ball(link) * r * arb(q).sqrt() / allowed
    sharpness = retrieval_sharpness(codes.count, d, q, ratio) if ratio > 0 else fmpq(0)
    stream = token_stream(d, q, codes.dimension)
    return TokenTransformer(stream, retrieval_attention(d, q, codes, sharpness, weigh=weigh), readout_of(link, stream))


def lipschitz_ball(link: ReluLink) -> arb:
    """r_a r_w = |a|_2 |(W, b)|_F of a link, enclosed: a Lipschitz constant."""
    a, W, b = (as_balls(part).ravel() for part in (link.output, link.weight, link.bias))
    squares = [sum((x * x for x in part), start=arb(0)) for part in (a, W, b)]
    return squares[0].sqrt() * (squares[1] + squares[2]).sqrt()


def dual_codes(codes: PositionCodes) -> Array:
    """The rational vectors u_i with <u_i, v_j> = [i = j] for the integer vectors v of the codes, shape (N, d_e).

    Raises:
        ValueError: if the codes are linearly dependent.
    """
    try:
        solved = inverse(as_exact(codes.gram))
    except ValueError as error:
        raise ValueError(
            f"The {codes.count} position codes of dimension {codes.dimension} are linearly dependent: take orthonormal "
            "ones, or more dimensions."
        ) from error
    return conversion("exact")(solved @ as_exact(codes.vectors))


def averaging_attention(
    dimension: int, sparsity: int, codes: PositionCodes, sharpness: Any, *, weigh: Weighing = "softmax"
) -> AttentionLayer:
    """One head with the weights e^(A n_j) up to a factor, n_j the number of indices that are j; A = alpha d/(q s).

    For different indices its x-block is the mean of their tokens up to the share of the other N - q ones, which is
    (N-q) / (q e^A + N - q).

    Args:
        dimension: d.
        sparsity: q.
        codes: linearly independent; s is their integer square.
        sharpness: alpha, an exact number.
        weigh: as for `retrieval_attention`.

    Raises:
        ValueError: if the codes are linearly dependent.
    """
    stream = token_stream(dimension, sparsity, codes.dimension)
    dual = dual_codes(codes)
    block = (dual.T @ dual) * sharpness
    gap = sharpness * fmpq(dimension, sparsity * codes.square) if weigh == "hardmax" else None  # scores are A n_j
    places = {(f"index_{h}", "position"): block for h in range(1, sparsity + 1)}
    return AttentionLayer((query_key_head(stream, places, weigh, gap),), combination="concatenate")


def counting_attention(dimension: int, code_dimension: int) -> AttentionLayer:
    """One head on the blocks x, position and target, with the scores <target_i, position_j>.

    On a `counting_embedding` it averages the q tokens of every position, also where indices are repeated.

    Args:
        dimension: d.
        code_dimension: d_e.
    """
    stream = counting_stream(dimension, code_dimension)
    head = query_key_head(stream, {("target", "position"): np.eye(code_dimension, dtype=np.int64)})
    return AttentionLayer((head,), combination="concatenate")


def counting_stream(dimension: int, code_dimension: int) -> ResidualStream:
    """The blocks x, position and target, of sizes d, d_e and d_e."""
    return ResidualStream({"x": dimension, "position": code_dimension, "target": code_dimension})


def counting_embedding(prompts: Prompts, codes: PositionCodes, gap: Any, system: Arithmetic = "float") -> Array:
    """z_i = (x_i; omega_i; sum_j L_ij w_j), shape (n, N, d + 2 d_e), with the dual codes w, <w_i, omega_j> = [i = j].

    L_ij = log n_ij where n_ij > 0 of the indices of position i are j, else -gap. These are the scores of
    `counting_attention`, so that its weights are n_ij / (q + (N - k) e^(-gap)) at the k different indices.

    Args:
        prompts: n prompts of N tokens.
        codes: N of them, linearly independent.
        gap: positive.
        system: "float" or "ball".

    Raises:
        ValueError: for linearly dependent codes, another gap, or exact numbers, which have no logarithms.
    """
    if system == "exact":
        raise ValueError("Logarithms are not rational: use balls or floats.")
    if not gap > 0:
        raise ValueError(f"The gap must be positive, not {gap}.")
    convert = conversion(system)
    counts = (prompts.indices[..., None] == np.arange(prompts.length)).sum(axis=-2)
    logs = np.concatenate([-convert([gap]), np.log(convert(np.arange(1, prompts.sparsity + 1)))])[counts]
    rows = codes.rows(np.arange(prompts.length), system)
    root = rows[0] @ codes.vectors[0]  # of the integer square, since omega_0 = v_0 / root
    own = np.broadcast_to(rows, (prompts.count, *rows.shape))
    return np.concatenate([convert(prompts.tokens), own, logs @ convert(dual_codes(codes)) * root], axis=-1)
