"""Codes of softmax heads on a sample, with the error of the outputs verified for weights rebuilt from the code alone.

A head is coded by its score matrix, a vector with the features x_tau x_t^T as points, and by its value matrix
(`lemmata.certificates.capacity.linear_codes`). With G the greatest norm of a value on the sample the output moves by at
most G eps_score + eps_value, since the softmax has the constant 1 from the supremum norm to the 1-norm.
`verify_head_code` does not rely on that: it rebuilds the weights, runs both heads in balls, and compares the outputs.

Source: variable-creation, theorem 4.6, corollary 4.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.certificates.capacity.heads import homogeneous_matrices
from lemmata.certificates.capacity.linear_codes import (
    LARGEST_SAMPLE,
    CodeError,
    MatrixCode,
    VectorCode,
    checked_share,
    decode_matrix,
    decode_vector,
    encode_matrix,
    encode_vector,
    exact_array,
    root_above,
    squared_length,
    verify_matrix_code,
    verify_vector_code,
)
from lemmata.certificates.capacity.norms import head_norms, token_norm
from lemmata.constructions.networks.head import Head, merged_head
from lemmata.numerics.exact.balls import as_balls, decided_less_equal
from lemmata.numerics.exact.numbers import positive_number
from lemmata.numerics.learning.attention_capacity import head_capacity
from lemmata.numerics.learning.budgets import optimal_split
from lemmata.numerics.learning.linear_capacity import map_factor, vector_factor

Array = NDArray[Any]


@dataclass(frozen=True)
class HeadCode:
    """The code of a softmax head on a sample.

    Attributes:
        scores: the code of W_QK, row by row as one vector, on the features x_tau x_t^T.
        values: the code of W_V^T on the tokens.
        eps: the error of the outputs that is allowed, in the Euclidean norm.
        attends: tau, the number of the token that attends.
    """

    scores: VectorCode
    values: MatrixCode
    eps: fmpq
    attends: int

    @property
    def bits(self) -> int:
        """The length of the code in bits."""
        return self.scores.bits + self.values.bits


def compress_head(
    head: Head, sample: ArrayLike, eps: object, *, attends: int = 0, share: object | None = None
) -> HeadCode:
    """The code of a softmax head on a sample, with outputs within eps in the Euclidean norm; verified.

    Args:
        head: a softmax head without biases, null pair, relative keys and output map that sees all tokens; weights exact
            or float (their binary values).
        sample: X^(1), ..., X^(m), shape (m, T, d), exact numbers or finite floats.
        eps: exact and positive.
        attends: tau, the token that attends.
        share: of eps that goes to the scores, exact, in (0, 1); that of the shortest code if it is None.

    Raises:
        ValueError: for another head, shapes that do not fit, eps <= 0, or a code beyond the limits.
    """
    scores, values = exact_head_matrices(head)
    features, tokens = _head_points(sample, attends, len(scores))
    total = positive_number("error eps", eps)
    largest = root_above(max(squared_length(row) for row in tokens @ values))
    if largest == 0:
        raise ValueError("All values of the head on the sample are 0, so that there is nothing to code.")
    part = checked_share(share, lambda: _best_share(scores, values, features, tokens, largest))
    code = HeadCode(
        encode_vector(scores.ravel(), features, part * total / largest),
        encode_matrix(values.T, tokens, (1 - part) * total),
        total,
        attends,
    )
    verify_head_code(code, head, sample)
    return code


def _best_share(scores: Array, values: Array, features: Array, tokens: Array, largest: fmpq) -> arb:
    """The share of the scores in the shortest code, by lemma A.8."""
    columns = sum((root_above(squared_length(column)) for column in values.T), start=fmpq(0))
    size = max(squared_length(scores.ravel()) * max(map(squared_length, features)), fmpq(1, 2**40))
    reach = columns**2 * max(map(squared_length, tokens))
    costs = [size * vector_factor(len(features)), reach * map_factor(values.shape[1], len(tokens))]
    return optimal_split(costs, [largest, 1]).shares[0]


def capacity_in_bits(head: Head, sample: ArrayLike, eps: object) -> arb:
    """The bound C/eps^2 of corollary 4.9, with the norms of this head and of the sample, divided by ln 2.

    Raises:
        ValueError: as `compress_head`.
    """
    scores, values = exact_head_matrices(head)
    X = exact_array("sample", sample)
    _head_points(X, 0, len(scores))
    bound = head_capacity(
        head_norms(values, scores), tokens=token_norm(X), samples=len(X), length=X.shape[1], width=values.shape[1]
    )
    return bound.bound(positive_number("error eps", eps)) / arb(2).log()


def rebuild_head(code: HeadCode, sample: ArrayLike) -> Head:
    """The head of a code, with exact weights W_QK as its query map; it takes the sample and the code alone.

    Raises:
        CodeError: as `decode_vector` and `decode_matrix`.
    """
    width = np.asarray(sample).shape[-1]
    features, tokens = _head_points(sample, code.attends, width)
    scores = decode_vector(code.scores, features).reshape(width, width)
    return merged_head(scores, decode_matrix(code.values, tokens).T, causal=False)


def verify_head_code(code: HeadCode, head: Head, sample: ArrayLike) -> arb:
    """A bound on the distance of the outputs of the head and of the rebuilt one on the sample, as a ball at most eps.

    Raises:
        CodeError: if an output is farther away, or a symbol of the code is not that of this head.
        ValueError: as `compress_head`, or if a distance is undecided at the working precision.
    """
    scores, values = exact_head_matrices(head)
    features, tokens = _head_points(sample, code.attends, len(scores))
    verify_vector_code(code.scores, scores.ravel(), features)
    verify_matrix_code(code.values, values.T, tokens, code.eps)
    rebuilt = rebuild_head(code, sample).map(as_balls)
    given = merged_head(scores, values, causal=False).map(as_balls)
    largest = arb(0)
    for X in as_balls(exact_array("sample", sample)):
        query = X[code.attends : code.attends + 1]
        gap = (given(query, memory=X) - rebuilt(query, memory=X))[0]
        largest = largest.max(sum((x * x for x in gap), start=arb(0)).sqrt())
    if not decided_less_equal(largest, code.eps):
        raise CodeError(f"The rebuilt head has an output at distance {largest}, above {code.eps}.")
    return largest


def exact_head_matrices(head: Head) -> tuple[Array, Array]:
    """W_QK, with scores x_tau^T W_QK x_t, shape (d, d), and W_V, shape (d, e), exact.

    Raises:
        ValueError: if the head is no softmax head of these two matrices that sees all tokens.
    """
    plain = head.weigh == "softmax" and head.null is None and head.output is None and not head.relative_keys.size
    biased = any(part.bias.size for part in (head.query, head.key, head.value))
    if not plain or biased or head.causal or head.temperature_squared != 1:
        raise ValueError(
            "A code needs a softmax head that sees all tokens, with temperature 1 and without biases, null pair, "
            "relative keys and output map."
        )
    values, scores = homogeneous_matrices(head, lambda part: exact_array("weights", part))
    return scores[:-1, :-1], values[:-1]


def _head_points(sample: ArrayLike, attends: int, width: int) -> tuple[Array, Array]:
    """The features x_tau x_t^T and the tokens of all sequences, shapes (m T, d^2) and (m T, d)."""
    X = exact_array("sample", sample)
    if X.ndim != 3 or not X.size or X.shape[2] != width:
        raise ValueError(f"The sample must have shape (m, T, {width}), not {X.shape}.")
    if not 0 <= attends < X.shape[1]:
        raise ValueError(f"Token {attends} cannot attend: there are {X.shape[1]} tokens, numbered from 0.")
    if X.shape[0] * X.shape[1] * width**2 > LARGEST_SAMPLE:
        raise ValueError(f"The features of the sample have more than {LARGEST_SAMPLE:,} entries: take a smaller one.")
    features = X[:, attends, None, :, None] * X[:, :, None, :]
    return features.reshape(-1, width**2), X.reshape(-1, width)
