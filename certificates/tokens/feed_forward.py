"""Feed-forward networks on sparse token regression: the risk that every first layer in the span of its inputs has.

A network p -> f(T, W x) sees the Gaussian prompt x in R^(N d) through W x alone. Let P be the projector on the span of
the rows of W, or of the training inputs if the rows are known to lie there, and P_tt its diagonal blocks of size d. The
label <u, x_t> has, given W x, the variance 1 - u^T P_tt u, so that with t uniform

    risk  >=  1 - u^T M u,     M = (1/N) sum_t P_tt,     trace M = rank/N,

with equality for the conditional mean, which is linear in W x. The largest such risk over unit vectors u is
1 - lambda_min(M) >= 1 - rank/(N d), however wide the network is.

`certify_feed_forward` brackets 1 - lambda_min(M): a rational direction u from below, and from above an exact
elimination that proves M - lambda positive definite. All numbers are rational; floats count with their binary values.

Source: qstr, theorem-6 and claim-ffn-span (proofs/feed-forward.md of that chapter).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat
from numpy.typing import ArrayLike

from lemmata.numerics.exact.linear import pivot_columns, solve_unique
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Array, conversion, exact_values, matrix_product, number_system

__all__ = [
    "FeedForwardCertificate",
    "SpanPredictor",
    "certify_feed_forward",
    "least_total_norm",
    "linear_risk",
    "matching_predictor",
    "out_of_span",
    "samples_needed",
]

LARGEST = 4_000_000
"""The largest n N d min(n, N d) of inputs for rational elimination."""


@dataclass(frozen=True, eq=False)
class FeedForwardCertificate:
    """How well any network can do whose first layer has its rows in a given span.

    Attributes:
        length: N, the tokens of a prompt.
        rank: the dimension of the span.
        moment: M, shape (d, d), rational.
        direction: u, rational and not of unit length, shape (d,): its risk is `lower`.
        lower: the risk 1 - u^T M u/u^T u, which no such network undercuts.
        upper: no direction has a larger least risk.
    """

    length: int
    rank: int
    moment: Array
    direction: Array
    lower: fmpq
    upper: fmpq

    @property
    def average(self) -> fmpq:
        """1 - rank/(N d): the least risk of a uniform direction, in expectation; at most `upper`."""
        return 1 - self.moment.trace() / len(self.moment)

    def risk(self, u: ArrayLike | Sequence[Any]) -> fmpq:
        """The least risk 1 - u^T M u/u^T u in a direction u, of any length but 0.

        Raises:
            ValueError: for another shape, the zero vector, or floats that are not finite.
        """
        vector = exact_values("the direction", u)
        if vector.shape != (len(self.moment),) or not any(x != 0 for x in vector):
            raise ValueError(
                f"A direction has the shape ({len(self.moment)},) and is not 0; its shape is {vector.shape}."
            )
        square: Any = vector @ vector
        value: Any = vector @ self.moment @ vector
        return 1 - value / square


@dataclass(frozen=True, eq=False)
class SpanPredictor:
    """The network f(T, W x) = readout[t] . W x for prompts with one index t.

    Attributes:
        first_layer: W, shape (m, N d), rows of the training inputs.
        readout: shape (N, m).
    """

    first_layer: Array
    readout: Array

    @property
    def weights(self) -> Array:
        """The linear predictors of all indices, shape (N, N d)."""
        return matrix_product(self.readout, self.first_layer)

    def __call__(self, t: int, x: Array) -> Array:
        """The prediction at every position of the prompts with the index t (from 0), shape (...,), for x (..., N d)."""
        return x @ self.weights[t]


def certify_feed_forward(
    rows: ArrayLike | Sequence[Any], length: int, *, gap: fmpq | Fraction | str = "1/1000000000"
) -> FeedForwardCertificate:
    """The certificate for first layers in the span of the rows.

    Args:
        rows: the training inputs, or the first layer of a network, shape (n, N d); dependent rows do no harm.
        length: N.
        gap: `upper` exceeds `lower` by this at most, if the eigenvectors of float64 are near enough.

    Raises:
        ValueError: for no row, a width that N does not divide, numbers that are not finite or not real, a gap that is
            not positive or too small for float64, or matrices beyond `LARGEST`.
    """
    basis, inverse = _span(rows)
    d = _token_dimension(basis, length)
    [width] = as_exact([gap]).tolist()
    if not width > 0:
        raise ValueError(f"The gap of a certificate is a positive number, not {gap}.")
    moment = _zeros(d, d)
    for t in range(length):
        block = basis[:, t * d : (t + 1) * d]
        moment = moment + matrix_product(matrix_product(block.T, inverse), block)
    moment = moment / fmpq(length)
    vector = np.linalg.eigh(to_float(moment))[1][:, 0]
    direction = exact_values("the direction", vector)
    square: Any = direction @ direction
    value: Any = direction @ moment @ direction / square
    if not _positive_definite(moment - (value - width) * _identity(d)):
        raise ValueError(
            f"No direction of float64 is within {gap} of the least eigenvalue of the moments: give a larger gap."
        )
    return FeedForwardCertificate(length, len(basis), moment, direction, 1 - value, min(1 - value + width, fmpq(1)))


def out_of_span(weights: ArrayLike | Sequence[Any], rows: ArrayLike | Sequence[Any]) -> Array:
    """The parts of the rows of W that are orthogonal to the span of the training inputs, exactly.

    Args:
        weights: W, shape (m, N d).
        rows: the training inputs, shape (n, N d).

    Raises:
        ValueError: for shapes that do not fit, or as `certify_feed_forward`.
    """
    basis, inverse = _span(rows)
    W = exact_values("the weights", weights)
    if W.ndim != 2 or W.shape[1] != basis.shape[1]:
        raise ValueError(f"A first layer on inputs of width {basis.shape[1]} does not have the shape {W.shape}.")
    inside = matrix_product(matrix_product(matrix_product(W, basis.T), inverse), basis)
    return W - inside


def matching_predictor(rows: ArrayLike | Sequence[Any], length: int, u: ArrayLike | Sequence[Any]) -> SpanPredictor:
    """The network in the span of the training inputs that attains the least risk in the direction u.

    Its prediction at t is the conditional mean of <u, x_t> given the projection of x on the span.

    Raises:
        ValueError: as `certify_feed_forward`, or for a direction of another shape.
    """
    basis, inverse = _span(rows)
    d = _token_dimension(basis, length)
    vector = exact_values("the direction", u)
    if vector.shape != (d,):
        raise ValueError(f"A direction of tokens has the shape ({d},), not {vector.shape}.")
    readout = [matrix_product((basis[:, t * d : (t + 1) * d] @ vector)[None], inverse)[0] for t in range(length)]
    return SpanPredictor(basis, np.array(readout, dtype=object))


def linear_risk(weights: ArrayLike | Sequence[Any], u: ArrayLike | Sequence[Any]) -> Any:
    """(1/N) sum_t E (<u, x_t> - <a_t, x>)^2 for Gaussian x and linear predictors a_t, in the numbers given.

    Args:
        weights: a, shape (N, N d).
        u: shape (d,).

    Raises:
        ValueError: for shapes that do not fit.
    """
    table, vector = np.asarray(weights), np.asarray(u)
    convert = conversion(number_system([table, vector]))
    table, vector = convert(table), convert(vector)
    if table.ndim != 2 or vector.ndim != 1 or table.shape[1] != len(table) * len(vector):
        raise ValueError(
            f"Predictors (N, N d) and a direction (d,) do not have the shapes {table.shape}, {vector.shape}."
        )
    N, d = len(table), len(vector)
    total: Any = 0
    for t in range(N):
        error = table[t].copy()
        error[t * d : (t + 1) * d] = error[t * d : (t + 1) * d] - vector
        total = total + error @ error
    return total / N


def least_total_norm(rows: ArrayLike | Sequence[Any], labels: ArrayLike | Sequence[Any]) -> tuple[arb, Array]:
    """The least ||v||^2 + ||W||_F^2 of linear networks x -> v . W x that fit all labels, and the row that attains it.

    Since v . W = beta has ||v||^2 + ||W||_F^2 >= 2 ||beta||, with equality for one row W = beta/sqrt(||beta||) and the
    read-out sqrt(||beta||), this is twice the norm of the shortest beta that fits. It lies in the span of the inputs.

    Args:
        rows: the inputs, shape (n, N d), independent.
        labels: shape (n,).

    Returns:
        The least squared norm as a ball, and beta, rational, shape (N d,).

    Raises:
        ValueError: for dependent inputs, or shapes that do not fit.
    """
    X, y = exact_values("the inputs", rows), exact_values("the labels", labels)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"Inputs (n, N d) and labels (n,) do not have the shapes {X.shape} and {y.shape}.")
    if len(_independent(X)) < len(X):
        raise ValueError("The inputs are dependent: some labels can be fitted by no linear network.")
    beta = solve_unique(matrix_product(X, X.T), y) @ X
    square: Any = beta @ beta
    return 2 * arb(square).sqrt(), beta


def samples_needed(length: int, token_dimension: int, risk: fmpq | Fraction | str | int) -> int:
    """The least number of samples that the bound 1 - n/(N d) <= risk leaves: ceil(N d (1 - risk)).

    Raises:
        ValueError: unless N, d >= 1 and 0 <= risk <= 1.
    """
    [value] = as_exact([risk]).tolist()
    if length < 1 or token_dimension < 1 or not 0 <= value <= 1:
        raise ValueError(
            f"A risk between 0 and 1 belongs to N, d >= 1 tokens and coordinates, not {risk} to {length} and "
            f"{token_dimension}."
        )
    return int((length * token_dimension * (1 - value)).ceil())


def _span(rows: ArrayLike | Sequence[Any]) -> tuple[Array, Array]:
    """Independent rows of the same span, shape (rank, N d), and the inverse of their Gram matrix."""
    X = np.asarray(rows)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"A span is that of rows of one width, (n, N d) with n >= 1, not of the shape {X.shape}.")
    if X.size * min(X.shape) > LARGEST:
        raise ValueError(f"Rational elimination takes n N d min(n, N d) <= {LARGEST:,}, not the shape {X.shape}.")
    table = exact_values("the table of rows", X)
    basis = table[_independent(table)]
    if not len(basis):
        return basis, _zeros(0, 0)
    gram = matrix_product(basis, basis.T)
    size = len(gram)
    inverse = fmpq_mat(size, size, gram.ravel().tolist()).inv()
    return basis, np.array(inverse.entries(), dtype=object).reshape(size, size)


def _independent(table: Array) -> list[int]:
    return pivot_columns(table.T)


def _token_dimension(basis: Array, length: int) -> int:
    if length < 1 or basis.shape[1] % length:
        raise ValueError(f"{basis.shape[1]} coordinates are not those of {length} tokens of one width.")
    return basis.shape[1] // length


def _positive_definite(matrix: Array) -> bool:
    """Whether all pivots of a symmetric rational matrix are positive, by elimination without exchanges."""
    rest = matrix
    while len(rest):
        pivot = rest[0, 0]
        if not pivot > 0:
            return False
        column = rest[1:, 0]
        rest = rest[1:, 1:] - np.outer(column, column) / pivot
    return True


def _identity(d: int) -> Array:
    return as_exact(np.eye(d, dtype=np.int64))


def _zeros(rows: int, columns: int) -> Array:
    return as_exact(np.zeros((rows, columns), dtype=np.int64))
