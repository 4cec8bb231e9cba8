"""Deep networks of attention blocks with projections on the unit ball, and how errors of weights add up in them.

A block maps tokens, the rows of g, to Pi(sigma(Pi(f(g))) W_C), where f is softmax self-attention with W_Q, W_K, W_V and
Pi projects every row on the unit ball. `block_errors` runs two networks side by side, in balls, and compares their
distance behind every block with the bound that the distance before the block and the changes of its weights give.

Source: variable-creation, definition-4.4.3, lemma-A.15, lemma-A.16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from lemmata.certificates.margins.all_layer import operator_norm
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import ActivationName, FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.projection import BallProjection
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.systems import Array, matrix_product, require_finite
from lemmata.numerics.learning.attention_lipschitz import block_error, largest_row_norm, readout_error

__all__ = ["AttentionBlock", "BlockError", "block_errors", "readout_errors"]

SLOPES: dict[ActivationName, Any] = {"relu": 1, "identity": 1, "gelu": "113/100"}
"""Lipschitz constants of the activations; the largest slope of the GeLU is 1.1289..."""


@dataclass(frozen=True, eq=False)
class AttentionBlock:
    """One block; matrices W_Q, W_K of shape (d, k), W_V of shape (d, k'), W_C of shape (k', d).

    Raises:
        ValueError: for shapes that do not fit, numbers that are not finite, or another activation.
    """

    query: Array
    key: Array
    value: Array
    mixing: Array
    activation: ActivationName = "relu"

    def __post_init__(self) -> None:
        for name in ("query", "key", "value", "mixing"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        q, k, v, c = (part.shape for part in (self.query, self.key, self.value, self.mixing))
        if not all(len(shape) == 2 for shape in (q, k, v, c)) or q != k or v[0] != q[0] or c != v[::-1]:
            raise ValueError(
                f"A block has W_Q and W_K (d, k), W_V (d, k'), W_C (k', d), but the shapes are {q}, {k}, {v}, {c}."
            )
        for name in ("query", "key", "value", "mixing"):
            require_finite(f"the matrix of the {name}", getattr(self, name))
        if self.activation not in SLOPES:
            raise ValueError(f"The activation is one of {', '.join(SLOPES)}, not {self.activation!r}.")

    def hidden(self, g: Array) -> Array:
        """sigma(Pi(f(g))), shape (T, k'), in balls."""
        head = Head(Affine(self.query), Affine(self.key), Affine(self.value), causal=False).map(as_balls)
        mixed = BallProjection(self.value.shape[1])(AttentionLayer((head,), "sum")(as_balls(g)))
        identity = Affine.identity(self.value.shape[1])
        return FeedForward((identity,), activations=(self.activation,))(mixed)

    def __call__(self, g: Array) -> Array:
        """The tokens behind the block, shape (T, d), in balls."""
        return BallProjection(self.mixing.shape[1])(matrix_product(self.hidden(g), as_balls(self.mixing)))

    @property
    def score(self) -> Array:
        """W_Q W_K^T, in balls."""
        return matrix_product(as_balls(self.query), as_balls(self.key).T)


@dataclass(frozen=True)
class BlockError:
    """Two networks behind a block.

    Attributes:
        error: e, the largest distance of two rows, enclosed.
        bound: what lemma A.15 gives with the best constants, b + sqrt(1 + b^2) and 1.
        printed: what it gives with the printed ones, 1 + 4 b and 2.
    """

    error: arb
    bound: arb
    printed: arb


def block_errors(
    blocks: Sequence[AttentionBlock], others: Sequence[AttentionBlock], tokens: ArrayLike
) -> list[BlockError]:
    """The distance of two networks behind each of their blocks, and its bounds by the distance before.

    The norms of the weights are those of the first network.

    Args:
        blocks, others: the networks, block by block of the same shapes and activation.
        tokens: X, shape (T, d), rows of norm at most 1.

    Raises:
        ValueError: for no block, networks that do not fit each other or the tokens, or a token outside of the unit
            ball, where the bounds fail.
    """
    X = as_balls(np.asarray(tokens))
    _check(blocks, others, X)
    g = other_g = X
    before, result = arb(0), []
    for block, other in zip(blocks, others, strict=True):
        weights = as_balls(block.mixing) - as_balls(other.mixing)
        values = as_balls(block.value) - as_balls(other.value)
        changes = [
            largest_row_norm(matrix_product(other.hidden(other_g), weights)),
            largest_row_norm(matrix_product(other_g, (block.score - other.score).T)),
            largest_row_norm(matrix_product(other_g, values)),
        ]
        slope = SLOPES[block.activation]
        mixing, value, score = (operator_norm(part) for part in (block.mixing, block.value, block.score))
        bounds = [
            block_error(slope, mixing, value, score, before, changes, printed=printed) for printed in (False, True)
        ]
        g, other_g = block(g), other(other_g)
        before = largest_row_norm(g - other_g)
        result.append(BlockError(before, bounds[0], bounds[1]))
    return result


def readout_errors(outputs: ArrayLike, others: ArrayLike, readout: ArrayLike, other: ArrayLike) -> BlockError:
    """The distance of w a and w' a', and the bound of lemma A.16, where a and a' are the class tokens' outputs.

    Args:
        outputs, others: a and a', shape (d,).
        readout, other: w and w', shape (d,).

    Raises:
        ValueError: unless all four are rows of one length, of finite numbers.
    """
    rows = [as_balls(np.asarray(part)) for part in (outputs, others, readout, other)]
    if any(row.ndim != 1 or row.shape != rows[0].shape or not row.size for row in rows):
        raise ValueError(f"Outputs and read-outs are rows of one length, not {[row.shape for row in rows]}.")
    a, a2, w, w2 = rows
    for row in rows:
        require_finite("the read-out", row)
    error = abs(_dot(w, a) - _dot(w2, a2))
    bound = readout_error(largest_row_norm(w[None]), largest_row_norm((a - a2)[None]), abs(_dot(w - w2, a2)))
    return BlockError(error, bound, bound)


def _dot(a: Array, b: Array) -> arb:
    return sum((x * y for x, y in zip(a.tolist(), b.tolist(), strict=True)), start=arb(0))


def _check(blocks: Sequence[AttentionBlock], others: Sequence[AttentionBlock], X: Array) -> None:
    if not blocks or len(blocks) != len(others):
        raise ValueError(
            f"Two networks have the same number of blocks, at least one, not {len(blocks)}, {len(others)}."
        )
    for one, other in zip(blocks, others, strict=True):
        shapes = [(b.query.shape[0], b.value.shape, b.activation) for b in (one, other)]
        if shapes[0] != shapes[1] or X.ndim != 2 or X.shape[1] != one.query.shape[0]:
            raise ValueError(
                f"The blocks and tokens do not fit: widths, values and activations {shapes}, tokens {X.shape}."
            )
    if not X.shape[0] or not largest_row_norm(X) <= 1:
        raise ValueError(
            "The bounds hold for tokens of norm at most 1: divide them, and W_Q W_K^T and W_V accordingly."
        )
