"""Codes of networks of attention blocks on a sample, block by block, with the error of the outputs verified.

The weights of block i are coded on the outputs of the blocks before it, rebuilt from their codes and rounded to binary
fractions, which whoever has the sample and the codes finds as well: W_Q W_K^T as one vector on all products of two
tokens of a sequence, W_V^T on the tokens, W_C^T on what it reads (`lemmata.certificates.capacity.linear_codes`). The
errors allowed are those of theorem A.17: with D blocks each matrix has the share 1/(3 D) of eps, divided by how much
its block and the blocks behind amplify it. `verify_network_code` does not rely on that: it rebuilds the network, runs
both in balls, and compares the outputs.

Source: variable-creation, theorem A.17 and its proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.certificates.capacity.blocks import SLOPES, AttentionBlock
from lemmata.certificates.capacity.linear_codes import (
    LARGEST_SAMPLE,
    CodeError,
    MatrixCode,
    VectorCode,
    decode_matrix,
    decode_vector,
    encode_matrix,
    encode_vector,
    exact_array,
    exact_table,
)
from lemmata.certificates.capacity.norms import spectral_norm, token_norm
from lemmata.constructions.networks.feed_forward import ActivationName
from lemmata.numerics.exact.balls import as_balls, ball_max, decided_less_equal
from lemmata.numerics.exact.numbers import exact_midpoint, positive_number
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.learning.attention_lipschitz import largest_row_norm

ROUNDING = 2**20
"""The outputs of blocks are rounded to multiples of 1/ROUNDING before the next weights are coded on them."""


@dataclass(frozen=True)
class BlockCode:
    """The code of one block.

    Attributes:
        scores: the code of W_Q W_K^T as one vector.
        values: that of W_V^T.
        mixing: that of W_C^T.
        activation: of the block.
    """

    scores: VectorCode
    values: MatrixCode
    mixing: MatrixCode
    activation: ActivationName

    @property
    def bits(self) -> int:
        """The length of the code in bits."""
        return self.scores.bits + self.values.bits + self.mixing.bits


@dataclass(frozen=True)
class NetworkCode:
    """The codes of the blocks, from the first to the last, and the error of the output tokens that is allowed."""

    blocks: tuple[BlockCode, ...]
    eps: fmpq

    @property
    def bits(self) -> int:
        """The length of the code in bits."""
        return sum(block.bits for block in self.blocks)


def compress_network(blocks: Sequence[AttentionBlock], sample: ArrayLike, eps: object) -> NetworkCode:
    """The code of a network on a sample, with every output token within eps in the Euclidean norm; verified.

    Args:
        blocks: the network; weights exact or float (their binary values).
        sample: X^(1), ..., X^(m), shape (m, T, d), exact numbers or finite floats.
        eps: exact and positive.

    Raises:
        ValueError: for no blocks, shapes that do not fit, eps <= 0, or codes beyond the limits.
    """
    X = _checked_sample(blocks, sample)
    code = _encoded(blocks, X, positive_number("error eps", eps))
    verify_network_code(code, blocks, X)
    return code


def _encoded(blocks: Sequence[AttentionBlock], X: Array, eps: fmpq) -> NetworkCode:
    codes: list[BlockCode] = []
    tokens = X
    for block, (score, value, mixing) in zip(blocks, _allowed_errors(blocks, X, eps), strict=True):
        matrix = exact_table("weights", block.query) @ exact_table("weights", block.key).T
        first = encode_vector(matrix.ravel(), _pairs(tokens), score)
        second = encode_matrix(exact_table("weights", block.value).T, _rows(tokens), value)
        hidden = _hidden(first, second, block.activation, tokens)
        third = encode_matrix(exact_table("weights", block.mixing).T, _rows(hidden), mixing)
        codes.append(BlockCode(first, second, third, block.activation))
        rebuilt = _rebuilt(codes[-1], tokens)
        tokens = _rounded([rebuilt(g) for g in as_balls(tokens)])
    return NetworkCode(tuple(codes), eps)


def rebuild_network(code: NetworkCode, sample: ArrayLike) -> list[AttentionBlock]:
    """The network of a code, with exact weights, W_Q W_K^T in the place of W_Q; it takes sample and code alone.

    Raises:
        CodeError: as `decode_vector` and `decode_matrix`.
    """
    blocks, tokens = [], exact_array("sample", sample)
    for one in code.blocks:
        blocks.append(_rebuilt(one, tokens))
        tokens = _rounded([blocks[-1](g) for g in as_balls(tokens)])
    return blocks


def verify_network_code(code: NetworkCode, blocks: Sequence[AttentionBlock], sample: ArrayLike) -> arb:
    """A bound on the distance of output tokens of the network and of the rebuilt one, as a ball at most eps.

    The network is coded again; so no other code passes.

    Raises:
        CodeError: if a token is farther away, or a symbol of the code is not that of this network.
        ValueError: as `compress_network`, or if a distance is undecided at the working precision.
    """
    X = _checked_sample(blocks, sample)
    if _encoded(blocks, X, code.eps) != code:
        raise CodeError("A symbol or a size of the code is not that of this network.")
    rebuilt, distances = rebuild_network(code, X), []
    for g in as_balls(X):
        given = found = g
        for block, other in zip(blocks, rebuilt, strict=True):
            given, found = block(given), other(found)
        distances.append(largest_row_norm(given - found))
    largest = ball_max(distances)
    if not decided_less_equal(largest, code.eps):
        raise CodeError(f"The rebuilt network has an output at distance {largest}, above {code.eps}.")
    return largest


def _allowed_errors(blocks: Sequence[AttentionBlock], X: Array, eps: fmpq) -> Iterator[tuple[fmpq, fmpq, fmpq]]:
    """The errors of scores, values and mixed tokens of every block."""
    norms = [[spectral_norm(part) for part in (b.score, b.value, b.mixing)] for b in blocks]
    slopes = [as_balls([SLOPES[b.activation]])[0] for b in blocks]
    growth = [L * C * V * (1 + 2 * Q) for L, (Q, V, C) in zip(slopes, norms, strict=True)]
    for i, (L, (_, V, C)) in enumerate(zip(slopes, norms, strict=True)):
        behind = arb(1)
        for factor in growth[i + 1 :]:
            behind *= factor
        share = eps / (3 * len(blocks) * behind)
        radius = token_norm(X) if i == 0 else arb(1)
        yield tuple(_short(share / rate) for rate in (L * C * V * radius, L * C, arb(1)))  # type: ignore[misc]


def _short(ball: arb) -> fmpq:
    """A positive binary fraction of 12 bits or fewer, at most the ball's lower end but for rounding."""
    x = exact_midpoint(ball)
    shift = 12 - (int(x.p).bit_length() - int(x.q).bit_length())
    scaled = x * fmpq(2) ** shift
    return fmpq(int(scaled.floor())) / fmpq(2) ** shift


def _rebuilt(code: BlockCode, tokens: Array) -> AttentionBlock:
    width = tokens.shape[2]
    hidden = _hidden(code.scores, code.values, code.activation, tokens)
    scores = decode_vector(code.scores, _pairs(tokens)).reshape(width, width)
    values = decode_matrix(code.values, _rows(tokens)).T
    mixing = decode_matrix(code.mixing, _rows(hidden)).T
    return AttentionBlock(scores, np.eye(width, dtype=np.int64), values, mixing, code.activation)


def _hidden(scores: VectorCode, values: MatrixCode, activation: ActivationName, tokens: Array) -> Array:
    """What W_C reads in the rebuilt block, rounded; W_C itself plays no part in it."""
    width = tokens.shape[2]
    W_V = decode_matrix(values, _rows(tokens)).T
    W = decode_vector(scores, _pairs(tokens)).reshape(width, width)
    block = AttentionBlock(W, np.eye(width, dtype=np.int64), W_V, 0 * W_V.T, activation)
    return _rounded([block.hidden(g) for g in as_balls(tokens)])


def _pairs(tokens: Array) -> Array:
    """All products x_tau x_t^T of two tokens of a sequence, shape (m T^2, d^2)."""
    m, T, d = tokens.shape
    return (tokens[:, :, None, :, None] * tokens[:, None, :, None, :]).reshape(m * T * T, d * d)


def _rows(tokens: Array) -> Array:
    return tokens.reshape(-1, tokens.shape[2])


def _rounded(sequences: Sequence[Array]) -> Array:
    """The midpoints of balls, rounded to multiples of 1/ROUNDING."""
    balls = np.array(sequences, dtype=object)
    flat = np.empty(balls.size, dtype=object)
    flat[:] = [fmpq(int((exact_midpoint(x) * ROUNDING + fmpq(1, 2)).floor()), ROUNDING) for x in balls.flat]
    return flat.reshape(balls.shape)


def _checked_sample(blocks: Sequence[AttentionBlock], sample: ArrayLike) -> Array:
    X = exact_array("sample", sample)
    if not blocks:
        raise ValueError("A network has at least one block.")
    width = blocks[0].query.shape[0]
    if X.ndim != 3 or not X.size or X.shape[2] != width or any(b.query.shape[0] != width for b in blocks):
        raise ValueError(f"The sample must have shape (m, T, {width}), the width of all blocks, not {X.shape}.")
    if X.shape[0] * X.shape[1] ** 2 * width**2 > LARGEST_SAMPLE:
        raise ValueError(f"The pairs of tokens have more than {LARGEST_SAMPLE:,} entries: take a smaller sample.")
    return X
