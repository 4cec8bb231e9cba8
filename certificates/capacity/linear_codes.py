"""Codes of linear maps: lists of points of a sample from which weights with nearly the same outputs are rebuilt.

A vector w with ||w|| <= B on points of norm at most R is coded by the steps of a perceptron that starts at 0 and knows
w: while some |(w_k - w).x_i| > eps, it names the point with the largest error and the sign of that error, and moves

    u = w_k - (eps/R^2) sign x_i,      w_(k+1) = r u,

r = 1 if ||u|| <= B. Otherwise let q = B/||u|| < 1; every r with 2 q - 1 <= r <= q brings u into the ball and no farther
from any of its points v, as ||u - v||^2 - ||r u - v||^2 >= (1 - r) ((1 + r) ||u||^2 - 2 B ||u||) >= 0. So r may be a
short binary number, found from B^2 and ||u||^2 alone, and all is exact. Each step reduces ||w_k - w||^2 by more than
eps^2/R^2: there are at most K = ceil((B R/eps)^2) - 1 steps, and the code is a number of K digits in base 2 N + 1.
Whoever has the points repeats the moves without knowing w.

A matrix W whose rows have norms of sum at most B is coded by Maurey's average, k picks of rows that stand for the row
norms, and one perceptron for each row, at the radius eps_2 sqrt(share of the row in the picks).

Source: variable-creation, lemma A.10, lemma 4.10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact, positive_number
from lemmata.numerics.exact.systems import require_finite
from lemmata.numerics.learning.covers import sparse_average
from lemmata.numerics.learning.linear_capacity import row_radii

Array = NDArray[Any]

LARGEST_SAMPLE = 2_000_000
"""Numbers that the points of a code may have in all."""
LARGEST_STEPS = 100_000
"""Steps that a code may take at most."""


class CodeError(ValueError):
    """A code does not belong to the weights, or the weights rebuilt from it miss the allowed error."""


@dataclass(frozen=True)
class VectorCode:
    """The steps of the perceptron for one vector; all but the steps is known beforehand.

    Attributes:
        steps: pairs (i, sign of the error at point i).
        eps: the error allowed at every point.
        squared_norm: B^2.
        squared_radius: R^2, the largest squared norm of the points.
        points: N.
    """

    steps: tuple[tuple[int, int], ...]
    eps: fmpq
    squared_norm: fmpq
    squared_radius: fmpq
    points: int

    @property
    def limit(self) -> int:
        """K = ceil((B R/eps)^2) - 1, or 0: the most steps that any vector of norm at most B takes."""
        return max(int((self.squared_norm * self.squared_radius / self.eps**2).ceil()) - 1, 0)

    @property
    def bits(self) -> int:
        """The length of the code in bits, the same for all vectors of norm at most B: K digits in base 2 N + 1."""
        return ((2 * self.points + 1) ** self.limit - 1).bit_length()

    def to_integer(self) -> int:
        """The code as one number below 2^bits: the digit of step (i, 1) is 2 i + 1, of (i, -1) 2 i + 2, of a stop 0."""
        number = 0
        for i, sign in reversed(self.steps):
            number = number * (2 * self.points + 1) + 2 * i + (1 if sign > 0 else 2)
        return number

    def with_integer(self, number: int) -> VectorCode:
        """The code with the steps of that number.

        Raises:
            CodeError: if the number is negative, has more than K digits, or goes on after a stop.
        """
        steps, base = [], 2 * self.points + 1
        rest = checked_integer("The number of a code", number, 0)
        while rest:
            rest, digit = divmod(rest, base)
            if digit == 0 or len(steps) == self.limit:
                raise CodeError(f"{number} is no code of at most {self.limit} steps on {self.points} points.")
            steps.append(((digit - 1) // 2, 1 if digit % 2 else -1))
        return replace(self, steps=tuple(steps))


def encode_vector(
    weights: ArrayLike, points: ArrayLike, eps: object, *, squared_norm: object | None = None
) -> VectorCode:
    """The code of w on the points x_1, ..., x_N, with |(w' - w).x_i| <= eps for the vector w' rebuilt from it.

    Args:
        weights: w, shape (d,), exact numbers or finite floats (their binary values).
        points: shape (N, d), likewise.
        eps: exact and positive.
        squared_norm: B^2 >= ||w||^2, exact; ||w||^2 itself if it is None.

    Raises:
        ValueError: for shapes that do not fit, numbers that are not finite, eps <= 0, B^2 < ||w||^2, or a sample or a
            number of steps beyond the limits.
    """
    w, X = _vector_and_points(weights, points)
    size = squared_length(w) if squared_norm is None else as_exact([squared_norm])[0]
    if size < squared_length(w):
        raise ValueError(f"The squared norm of the vector is {squared_length(w)}, more than {squared_norm}.")
    start = VectorCode((), positive_number("error eps", eps), size, max(map(squared_length, X)), len(X))
    if start.limit > LARGEST_STEPS:
        raise ValueError(f"The code may take {start.limit:,} steps, more than {LARGEST_STEPS:,}: allow a larger error.")
    walk = _Walk(start, X)
    targets = X @ w
    steps = []
    while (step := _largest_error(walk.values - targets, start.eps)) is not None:
        if len(steps) == start.limit:  # excluded by the bound on the number of steps
            raise CodeError(f"The perceptron has not ended after {start.limit} steps.")
        steps.append(step)
        walk.move(*step)
    return replace(start, steps=tuple(steps))


def decode_vector(code: VectorCode, points: ArrayLike) -> Array:
    """The vector of a code, exact, shape (d,), of norm at most B; it takes the points and the code alone.

    Raises:
        CodeError: for points of another number or larger norm than those of the code, or steps that name none.
    """
    X = exact_table("points", points)
    if len(X) != code.points or max(map(squared_length, X)) > code.squared_radius:
        raise CodeError(f"The code is for {code.points} points of squared norm at most {code.squared_radius}.")
    if len(code.steps) > code.limit or any(not 0 <= i < code.points or s not in (1, -1) for i, s in code.steps):
        raise CodeError(f"A code has at most {code.limit} steps, each a point and a sign.")
    w, walk = X[0] * 0, _Walk(code, X)
    for i, sign in code.steps:
        w = (w - walk.step * sign * X[i]) * walk.move(i, sign)
    return w


def verify_vector_code(code: VectorCode, weights: ArrayLike, points: ArrayLike) -> fmpq:
    """The largest error of the rebuilt vector on the points, once the code is known to be that of these weights.

    Every step must name the point with the largest error at its time, and the sign of it; so no other list passes.

    Raises:
        CodeError: if a step does not, or the error is above eps at the end.
        ValueError: as `encode_vector`.
    """
    w, X = _vector_and_points(weights, points)
    rebuilt = decode_vector(code, X)
    targets, walk = X @ w, _Walk(code, X)
    for number, step in enumerate(code.steps):
        if _largest_error(walk.values - targets, code.eps) != step:
            raise CodeError(f"Step {number} of the code does not correct the largest error of these weights.")
        walk.move(*step)
    error = max(abs(x) for x in X @ (rebuilt - w))
    if error > code.eps:
        raise CodeError(f"The vector that is rebuilt has the error {error} at some point, above {code.eps}.")
    return error


class _Walk:
    """The perceptron as its points see it: the values w_k.x_i and the squared norm of w_k, without w_k itself."""

    def __init__(self, code: VectorCode, X: Array) -> None:
        self.X, self.bound = X, code.squared_norm
        self.step = code.eps / code.squared_radius if code.squared_radius else fmpq(0)
        self.values, self.square = X @ (X[0] * 0), fmpq(0)
        self.products: dict[int, Array] = {}

    def move(self, i: int, sign: int) -> fmpq:
        """Make one step; the result is the factor r by which it ends."""
        s = self.step * sign
        if i not in self.products:
            self.products[i] = self.X @ self.X[i]
        self.square += s * s * self.products[i][i] - 2 * s * self.values[i]
        self.values = self.values - s * self.products[i]
        r = _shrinking(self.bound, self.square)
        self.values, self.square = self.values * r, self.square * r * r
        return r


def _shrinking(bound: fmpq, square: fmpq) -> fmpq:
    """1 if square <= bound, else the shortest binary r with 2 q - 1 <= r <= q, q = sqrt(bound/square), rounded down."""
    if square <= bound:
        return fmpq(1)
    ratio, bits = bound / square, 1
    while True:
        r = fmpq(isqrt(int((ratio * 4**bits).floor())), 2**bits)
        if (1 + r) ** 2 >= 4 * ratio:
            return r
        bits += 1


def _largest_error(errors: Array, eps: fmpq) -> tuple[int, int] | None:
    i = max(range(len(errors)), key=lambda j: abs(errors[j]))
    return None if abs(errors[i]) <= eps else (i, 1 if errors[i] > 0 else -1)


@dataclass(frozen=True)
class MatrixCode:
    """Maurey's picks and a perceptron for each row of a matrix W that acts as x -> W x.

    Attributes:
        picks: how many of the k picks fall on each row; what is missing to k fell on 0.
        rows: the codes of the rows, scaled to the norms that the picks stand for.
        norm: B, at least the sum of the row norms, rational.
        row_error: e_1, the error of the row norms in the 2-norm.
        error: e_2, the error of the rows together.
    """

    picks: tuple[int, ...]
    rows: tuple[VectorCode, ...]
    norm: fmpq
    row_error: fmpq
    error: fmpq

    @property
    def draws(self) -> int:
        """k = ceil((B/e_1)^2), the number of picks."""
        return int((self.norm**2 / self.row_error**2).ceil())

    @property
    def bits(self) -> int:
        """The length in bits: k picks among the rows and 0, and the codes of the rows."""
        return ((len(self.picks) + 1) ** self.draws - 1).bit_length() + sum(row.bits for row in self.rows)


def encode_matrix(weights: ArrayLike, points: ArrayLike, eps: object, *, share: object | None = None) -> MatrixCode:
    """The code of W on the points, with ||(W' - W) x_i|| <= eps for the matrix W' rebuilt from it.

    Args:
        weights: W, shape (rows, d), exact numbers or finite floats.
        points: shape (N, d), likewise.
        eps: exact and positive.
        share: of eps that goes to the rows; the rest goes to the row norms. Exact, in (0, 1); that of the shortest
            code, as lemma A.8 divides it, if it is None.

    Raises:
        ValueError: as `encode_vector`, and for a share out of range.
    """
    W, X = exact_table("weights", weights), exact_table("points", points)
    if W.shape[1] != X.shape[1]:
        raise ValueError(f"Rows of length {W.shape[1]} do not act on points of length {X.shape[1]}.")
    total = positive_number("error eps", eps)
    norm, radius = sum(_row_norms(W), start=fmpq(0)), root_above(max(map(squared_length, X)))
    if norm == 0 or radius == 0:  # 0 stands for the matrix, by a code of no bits
        return _filled(MatrixCode((), (), fmpq(0), total, total), W * 0, X)
    part = checked_share(share, lambda: row_radii(norm, radius, total, len(X), len(W))[1] / total)
    code = MatrixCode((), (), norm, (1 - part) * total / radius, part * total)
    if code.draws > LARGEST_STEPS:
        raise ValueError(f"The code takes {code.draws:,} picks, more than {LARGEST_STEPS:,}: allow a larger error.")
    return _filled(code, W, X)


def _filled(code: MatrixCode, W: Array, X: Array) -> MatrixCode:
    """The code with the picks and rows of a matrix; all else of it is given."""
    norms = _row_norms(W)
    means = sparse_average(norms, code.draws, code.norm) if code.draws else [fmpq(0)] * len(W)
    picks = tuple(int(x * code.draws / code.norm) if x else 0 for x in means)
    rows = []
    for j, (length, radius) in enumerate(_row_budgets(code, picks)):
        target = W[j] * (length / norms[j]) if norms[j] else W[j]
        rows.append(encode_vector(target, X, radius, squared_norm=length**2))
    return replace(code, picks=picks, rows=tuple(rows))


def _row_norms(W: Array) -> list[fmpq]:
    return [root_above(squared_length(row)) for row in W]


def decode_matrix(code: MatrixCode, points: ArrayLike) -> Array:
    """The matrix of a code, exact, shape (rows, d); the sum of its row norms is at most B.

    Raises:
        CodeError: as `decode_vector`, or if the parts of the code do not fit together.
    """
    budgets = _row_budgets(code, code.picks)
    if len(code.rows) != len(code.picks) or sum(code.picks) > code.draws or min(code.picks) < 0:
        raise CodeError(f"A code has one perceptron for each row, and at most {code.draws} picks.")
    for row, (length, radius) in zip(code.rows, budgets, strict=True):
        if row.squared_norm != length**2 or row.eps != radius:
            raise CodeError("The code of a row has another norm or error than the picks say.")
    return np.array([decode_vector(row, points) for row in code.rows], dtype=object)


def verify_matrix_code(code: MatrixCode, weights: ArrayLike, points: ArrayLike, eps: object) -> fmpq:
    """The largest squared error ||(W' - W) x_i||^2 of the rebuilt matrix, once the code is known to be that of W.

    Picks and steps are found again from W; so no other code passes.

    Raises:
        CodeError: if the error is above eps^2, or the code is another one or not valid.
        ValueError: as `encode_matrix`.
    """
    W, X = exact_table("weights", weights), exact_table("points", points)
    limit = positive_number("error eps", eps)
    rebuilt = decode_matrix(code, X)
    if rebuilt.shape != W.shape:
        raise CodeError(f"The code is for a matrix of shape {rebuilt.shape}, not {W.shape}.")
    norm = sum(_row_norms(W), start=fmpq(0))
    if code.norm not in (0, norm) or _filled(code, W if code.norm else W * 0, X) != code:
        raise CodeError("The picks or steps are not those of the code of this matrix.")
    error = max(squared_length(row) for row in X @ (rebuilt - W).T)
    if error > limit**2:
        raise CodeError(f"The matrix that is rebuilt has the squared error {error} at some point, above {limit**2}.")
    return error


def _row_budgets(code: MatrixCode, picks: tuple[int, ...]) -> list[tuple[fmpq, fmpq]]:
    """For each row the norm that its picks stand for, and its share of the error; a row without picks needs none."""
    chosen, draws = max(sum(picks), 1), max(code.draws, 1)
    return [(code.norm * n / draws, root_below(code.error**2 * n / chosen) if n else code.error) for n in picks]


def root_below(q: fmpq) -> fmpq:
    """A rational number at most sqrt(q), and at least (1 - 2^-20) sqrt(q), for q >= 0."""
    bits = 24 + max(0, (int(q.q).bit_length() - int(q.p).bit_length()) // 2 + 1)
    return fmpq(isqrt(int((q * 4**bits).floor())), 2**bits)


def root_above(q: fmpq) -> fmpq:
    """A rational number at least sqrt(q), and at most (1 + 2^-20) sqrt(q), for q >= 0; the root if it is rational."""
    below = root_below(q)
    return below if below**2 == q else q / below


def checked_share(share: object | None, best: Callable[[], arb]) -> fmpq:
    """The share in (0, 1), or the best one as a rational number with denominator 1024.

    Raises:
        ValueError: if it is not in (0, 1).
    """
    if share is None:
        return fmpq(min(max(round(1024 * float(best().mid())), 1), 1023), 1024)
    part = as_exact([share])[0]
    if not 0 < part < 1:
        raise ValueError(f"The share of an error must lie in (0, 1), not {share}.")
    return part


def exact_array(name: str, values: Any) -> Array:
    """Exact numbers as they are, finite floats as their binary values."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"The {name} must be an array, all rows of one length.") from None
    if array.dtype.kind == "f":
        require_finite(name, array)
        flat = np.empty(array.size, dtype=object)
        flat[:] = [Fraction(x) for x in array.ravel().tolist()]
        array = flat.reshape(array.shape)
    return as_exact(array)


def exact_table(name: str, values: Any) -> Array:
    """A matrix of exact numbers that is not empty nor beyond `LARGEST_SAMPLE`, from what `exact_array` takes."""
    table = exact_array(name, values)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"The {name} must be a matrix that is not empty, not of shape {table.shape}.")
    if table.size > LARGEST_SAMPLE:
        raise ValueError(f"The {name} have {table.size:,} entries, more than {LARGEST_SAMPLE:,}.")
    return table


def _vector_and_points(weights: Any, points: Any) -> tuple[Array, Array]:
    w, X = exact_array("weights", weights), exact_table("points", points)
    if w.shape != X.shape[1:]:
        raise ValueError(f"The weights must be a vector of length {X.shape[1]}, as the points, not of shape {w.shape}.")
    return w, X


def squared_length(x: Array) -> fmpq:
    """The squared Euclidean norm of a vector."""
    return sum((a * a for a in x), start=fmpq(0))
