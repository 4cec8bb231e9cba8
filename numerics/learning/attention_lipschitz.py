"""Lipschitz constants of softmax attention, in balls: what the textbook argument gives, and the best constants.

Tokens are the rows z_t of Z, of norm at most r. A head without further layers maps the token x of a query to

    f(Z) = sum_t p_t z_t A,     p = softmax(s),     s_t = x M z_t^T + c z_t^T,

with A = W_V W_O, M = W_Q W_K^T and c = b_Q W_K^T, sharpness and temperature taken into M and c. (A bias of the keys
moves all scores of a query alike, a bias of the values all outputs.) With beta = r^2 ||M||, kappa = r |c|, and changes
of a matrix Z measured by their largest row:

- softmax, from the sup norm to the 1-norm: constant 1; |p - p'|_1 <= 2 tanh(w/4), where w = max(s - s') - min(s - s')
  is the oscillation, at most twice the sup norm D. Equality for two classes. (Printed: 2 D.)
- change of the tokens: ||A|| (beta + sqrt(1 + (beta + kappa)^2)), for kappa = 0 the best that serves all lengths.
  (Printed for kappa = 0: ||A|| (1 + 4 beta); with the constant 1 of softmax ||A|| (1 + 2 beta).)
- change of the weights: r ||A|| 2 tanh(w/4) + r ||A - A'||.

Proofs are in theorems/variable_creation/proofs/lipschitz.md.

Source: variable-creation, lemma-A.6, corollary-A.7, lemma-4.7, lemma-A.13 to lemma-A.16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from lemmata.numerics.exact.balls import as_balls, ball_max, ball_min
from lemmata.numerics.exact.systems import Array, require_finite

__all__ = [
    "InputConstants",
    "block_error",
    "entry_sum",
    "head_change",
    "infinity_to_one",
    "input_constants",
    "largest_row_norm",
    "readout_error",
    "softmax_distance",
    "softmax_jacobian",
]

_LARGEST_SIGNS = 16


@dataclass(frozen=True)
class InputConstants:
    """Lipschitz constants of a head in its tokens, largest rows against largest rows; each holds, the last is best.

    Attributes:
        printed: ||A|| (1 + 4 beta + 2 kappa), from the constant 2 of softmax.
        halved: ||A|| (1 + 2 beta + kappa), from the constant 1.
        sharp: ||A|| (beta + sqrt(1 + (beta + kappa)^2)).
    """

    printed: arb
    halved: arb
    sharp: arb


def softmax_jacobian(weights: ArrayLike | Sequence[Any]) -> Array:
    """The Jacobian diag(p) - p p^T of softmax where its value is p, shape (n, n), in the numbers of p.

    Raises:
        ValueError: unless p is one row of numbers.
    """
    p = np.asarray(weights)
    if p.ndim != 1 or not p.size:
        raise ValueError(f"The weights of a softmax are one row of numbers, not an array of shape {p.shape}.")
    result = -np.multiply.outer(p, p)
    for i in range(len(p)):
        result[i, i] = p[i] + result[i, i]
    return result


def entry_sum(matrix: ArrayLike | Sequence[Any]) -> Any:
    """The (1, 1) norm of a matrix, the sum of the sizes of all entries, in their numbers."""
    return sum((abs(x) for x in np.asarray(matrix).ravel().tolist()), start=0)


def infinity_to_one(matrix: ArrayLike | Sequence[Any]) -> Any:
    """The operator norm from the sup norm to the 1-norm, max over signs e of |J e|_1, in the numbers of the entries.

    Exact numbers give it exactly, balls an enclosure. All 2^(n-1) signs up to a common one are tried.

    Raises:
        ValueError: unless it is a matrix with 1 to 16 columns.
    """
    J = np.asarray(matrix)
    if J.ndim != 2 or not 1 <= J.shape[1] <= _LARGEST_SIGNS:
        raise ValueError(f"All signs are tried for matrices of 1 to {_LARGEST_SIGNS} columns, not of shape {J.shape}.")
    n = J.shape[1]
    sums = []
    for word in range(2 ** (n - 1)):
        signs = [-1 if word >> i & 1 else 1 for i in range(n)]
        images = (sum((s * x for s, x in zip(signs, row, strict=True)), start=0) for row in J.tolist())
        sums.append(sum((abs(image) for image in images), start=0))
    return ball_max(sums) if any(isinstance(x, arb) for x in sums) else max(sums)


def softmax_distance(change: ArrayLike | Sequence[Any]) -> arb:
    """The bound 2 tanh(w/4) of the 1-norm distance of two softmaxes, w the oscillation of the change of the scores.

    It is at most the sup norm of the change, and attained by the weights 1/(1 + e^(w/2)) and its complement.

    Args:
        change: s - s', shape (n,); or two numbers, bounds of its largest and of its least entry.

    Raises:
        ValueError: for no entry, several rows, or numbers that are not finite.
    """
    row = as_balls(np.asarray(change))
    if row.ndim != 1 or not row.size:
        raise ValueError(f"The change of the scores is one row of numbers, not an array of shape {row.shape}.")
    require_finite("the change of the scores", row)
    entries = row.tolist()
    return 2 * ((ball_max(entries) - ball_min(entries)) / 4).tanh()


def largest_row_norm(matrix: ArrayLike | Sequence[Any]) -> arb:
    """The largest Euclidean norm of a row; what the document writes as the (2, infinity) norm of the transpose.

    Raises:
        ValueError: unless it is a matrix with a row, of finite numbers.
    """
    rows = as_balls(np.asarray(matrix))
    if rows.ndim != 2 or not rows.shape[0]:
        raise ValueError(f"The largest row is that of a matrix, not of an array of shape {rows.shape}.")
    require_finite("the matrix", rows)
    return ball_max([_length(row) for row in rows.tolist()])


def input_constants(value: Any, score: Any, radius: Any = 1, offset: Any = 0) -> InputConstants:
    """How much the output of a head can change if no token of norm at most r moves by more than 1.

    Args:
        value: an upper bound of ||A||.
        score: of ||M||.
        radius: r.
        offset: an upper bound of |c|.

    Raises:
        ValueError: for a norm that is negative or not finite, or a radius that is not positive.
    """
    A, M, r, c = _norms(value=value, score=score, radius=radius, offset=offset)
    if not r > 0:
        raise ValueError(f"The radius of the tokens must be positive, not {radius!r}.")
    beta, kappa = r * r * M, r * c
    return InputConstants(
        printed=A * (1 + 4 * beta + 2 * kappa),
        halved=A * (1 + 2 * beta + kappa),
        sharp=A * (beta + (1 + (beta + kappa) * (beta + kappa)).sqrt()),
    )


def head_change(norm_constant: Any, output: Any, value: Any, radius: Any, score_change: Any, value_change: Any) -> arb:
    """The bound C L_out B_in r D + L_out V of the change of a head with other scores and values.

    Args:
        norm_constant: C, a Lipschitz constant of the normalisation from the sup norm to the 1-norm; 1 for softmax.
        output: L_out, a Lipschitz constant of the output map.
        value: B_in, with |phi_in(x)| <= B_in |x| for the values of the first head.
        radius: r, a bound of the norms of the tokens.
        score_change: D, the largest change of a score.
        value_change: V, the largest norm of the change of a value; a maximum over tokens.

    Raises:
        ValueError: for numbers that are negative or not finite.
    """
    C, L, B, r, D, V = _norms(
        norm_constant=norm_constant,
        output=output,
        value=value,
        radius=radius,
        score_change=score_change,
        value_change=value_change,
    )
    return C * L * B * r * D + L * V


def block_error(
    slope: Any, mixing: Any, value: Any, score: Any, before: Any, changes: Sequence[Any], *, printed: bool = False
) -> arb:
    """The bound of the error behind a block g -> Pi(sigma(Pi(f(g))) W_C), tokens of norm at most 1.

    Args:
        slope: L_sigma, a Lipschitz constant of the activation.
        mixing: a bound of ||W_C||.
        value: a bound of ||W_V||.
        score: a bound of ||W_K W_Q^T||.
        before: the error e before the block, a largest row.
        changes: the largest rows of sigma(Pi(f)) (W_C - W_C'), of g' (W_Q W_K^T - W_Q' W_K'^T)^T, and of
            g' (W_V - W_V'), all at the second network.
        printed: whether with the printed constants 1 + 4 b and 2, instead of b + sqrt(1 + b^2) and 1.

    Raises:
        ValueError: for numbers that are negative or not finite, or other than three changes.
    """
    if len(changes) != 3:
        raise ValueError(f"There are three changes, of W_C, of W_Q W_K^T and of W_V, not {len(changes)}.")
    L, C, V, b, e = _norms(slope=slope, mixing=mixing, value=value, score=score, before=before)
    of_mixing, of_score, of_value = _norms(of_mixing=changes[0], of_score=changes[1], of_value=changes[2])
    constants = input_constants(V, b)
    inner = (constants.printed if printed else constants.sharp) * e + (2 if printed else 1) * V * of_score + of_value
    return of_mixing + L * C * inner


def readout_error(readout: Any, before: Any, change: Any) -> arb:
    """The bound |w| e + |(w - w') a'| of the change of a linear read-out w a, e the distance of a and a'.

    Raises:
        ValueError: for numbers that are negative or not finite.
    """
    w, e, moved = _norms(readout=readout, before=before, change=change)
    return w * e + moved


def _length(row: Sequence[arb]) -> arb:
    """The Euclidean norm, also of balls around 0, whose squares as products may be negative."""
    least = sum((x.abs_lower() * x.abs_lower() for x in row), start=arb(0)).sqrt()
    return least.union(sum((x.abs_upper() * x.abs_upper() for x in row), start=arb(0)).sqrt())


def _norms(**named: Any) -> list[arb]:
    """The numbers as balls; ValueError that names one which is negative or not finite."""
    result = []
    for name, number in named.items():
        (ball,) = as_balls([number]).tolist()
        if not ball.is_finite() or not ball.upper() >= 0 or ball < 0:
            raise ValueError(f"{name} must be a finite number that is not negative, not {number!r}.")
        result.append(ball)
    return result
