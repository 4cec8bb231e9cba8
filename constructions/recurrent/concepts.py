"""Target functions of a sequence that add up over its tokens, and the sequences that a recurrent network is fed with.

The concept class: for outputs j = 3, ..., L, F*_(j,s)(x*) = sum of Phi(<w, x*_i>) over the parts (i -> j, s) with
2 <= i < j, for unit vectors w with last coordinate 0 and polynomials Phi with Phi(0) = 0. The true inputs x*_2, ...,
x*_(L-1) are unit vectors with last coordinate 1/2, made from vectors of norm at most 1 by `padded`; the network reads
x_1 = (0, 1), x_l = (eps_x x*_l, 0), x_L = (0, eps_x), or the null sequence, whose tokens are all on the last axis.

Lemma 5.1 asks for a w with last coordinate 0, the printed class does not; a w with one is a shifted polynomial of a w
without (`indicator_function` with `far`). The printed padding has norm sqrt(5)/2.

Source: rnn-sgd, definition-data, definition-3.1, definition-concept-class, example-3.5 and definition-null-sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.exact.cyclotomic.element import Cyclotomic
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq, rational_root
from lemmata.numerics.exact.systems import Array, matrix_product, number_system

__all__ = [
    "Part",
    "TargetFunction",
    "input_sequence",
    "input_sequences",
    "interaction",
    "lag_networks",
    "null_sequence",
    "padded",
    "target_values",
]

Floats = NDArray[np.float64]

TOLERANCE = 1e-12
"""How far a norm in floating point may be from 1: some 30 roundings for each of 100 coordinates."""


@dataclass(frozen=True, eq=False)
class Part:
    """One summand Phi(<w, x*_i>) of the output (j, s).

    Attributes:
        source: i, the position of the token, at least 2.
        target: j > i, the position of the output.
        output: s, from 0.
        coefficients: those of Phi from c_0 = 0 on, exact.
        direction: w, shape (d_x,), a unit vector with last coordinate 0; exact numbers or floats.

    Raises:
        ValueError: for positions out of order, Phi(0) != 0, or a w that is not of norm 1 or has a last coordinate.
    """

    source: int
    target: int
    output: int
    coefficients: tuple[fmpq, ...]
    direction: Array

    def __post_init__(self) -> None:
        if not 2 <= self.source < self.target or self.output < 0:
            raise ValueError(
                f"A part goes from a token i >= 2 to a later output j and a coordinate s >= 0, not from {self.source} "
                f"to {self.target}, coordinate {self.output}."
            )
        exact = tuple(as_fmpq(c) for c in self.coefficients)
        if not exact or any(c is None for c in exact) or exact[0]:
            raise ValueError(
                "Phi is given by exact coefficients c_0, c_1, ... with c_0 = Phi(0) = 0, not "
                f"{list(self.coefficients)}."
            )
        object.__setattr__(self, "coefficients", exact)
        w = np.asarray(self.direction)
        object.__setattr__(self, "direction", w)
        if w.ndim != 1 or len(w) < 2:
            raise ValueError(f"A direction is a vector of d_x >= 2 coordinates, not an array of shape {w.shape}.")
        if w[-1] != 0:
            raise ValueError(
                f"The last coordinate of w must be 0, as lemma 5.1 asks for, but is {w[-1]}: since that of all inputs "
                "is 1/2, put the constant into Phi (`indicator_function` with `far`)."
            )
        square = (w * w).sum()
        away = square != 1 if number_system([w]) == "exact" else not abs(float(square) - 1) <= TOLERANCE
        if away:
            raise ValueError(f"The direction w must have norm 1, but its square is {square}.")

    def __call__(self, inputs: Array) -> object:
        """Phi(<w, x*_i>) for x*_2, ..., x*_(L-1), shape (L - 2, d_x)."""
        z = matrix_product(inputs[self.source - 2][None], self.direction[:, None])[0, 0]
        result = z * 0
        for c in reversed(self.coefficients):
            result = result * z + (c if number_system([inputs, self.direction]) == "exact" else float(c.p) / float(c.q))
        return result


@dataclass(frozen=True, eq=False)
class TargetFunction:
    """The sum of its parts, for sequences of length L and d outputs a token.

    Raises:
        ValueError: for L < 3, d < 1, or parts that do not fit.
    """

    length: int
    outputs: int
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        checked_integer("The length L", self.length, 3)
        checked_integer("The number of outputs d", self.outputs, 1)
        widths = {len(part.direction) for part in self.parts}
        if not self.parts or len(widths) > 1:
            raise ValueError(f"A target function has parts on inputs of one width, at least one part, not {widths}.")
        for part in self.parts:
            if part.target > self.length or part.output >= self.outputs:
                raise ValueError(
                    f"A part for the output ({part.target}, {part.output}) does not fit L = {self.length}, "
                    f"d = {self.outputs}."
                )

    def __call__(self, inputs: ArrayLike) -> Array:
        """F*_j(x*) for j = 1, ..., L, shape (L, d), zero for j < 3; inputs x*_2, ..., x*_(L-1), shape (L - 2, d_x).

        Raises:
            ValueError: for inputs of another shape.
        """
        x = np.asarray(inputs)
        if x.shape != (self.length - 2, len(self.parts[0].direction)):
            raise ValueError(
                f"The inputs x*_2, ..., x*_{self.length - 1} have the shape "
                f"({self.length - 2}, {len(self.parts[0].direction)}), not {x.shape}."
            )
        exact = number_system([x, *(part.direction for part in self.parts)]) == "exact"
        result = (
            np.full((self.length, self.outputs), fmpq(0), dtype=object)
            if exact
            else np.zeros((self.length, self.outputs))
        )
        for part in self.parts:
            result[part.target - 1, part.output] += part(x)
        return result


def target_values(target: TargetFunction, inputs: Floats) -> Floats:
    """F*_j(x*) in floating point for n inputs at once, shape (n, L, d), zero for j < 3.

    Args:
        target: the target function.
        inputs: x*_2, ..., x*_(L-1) for each of n inputs, shape (n, L - 2, d_x).

    Raises:
        ValueError: for inputs of another shape.
    """
    x = np.asarray(inputs, dtype=np.float64)
    if x.ndim != 3 or x.shape[1:] != (target.length - 2, len(target.parts[0].direction)):
        raise ValueError(
            f"The inputs have the shape (n, {target.length - 2}, {len(target.parts[0].direction)}), not {x.shape}."
        )
    result = np.zeros((len(x), target.length, target.outputs))
    for part in target.parts:
        z = x[:, part.source - 2] @ to_float(part.direction)
        result[:, part.target - 1, part.output] += np.polynomial.polynomial.polyval(
            z, [float(c.p) / float(c.q) for c in part.coefficients]
        )
    return result


def padded(vector: Sequence[RationalLike]) -> Array:
    """The true input ((sqrt 3/2) z, (sqrt 3/2) sqrt(1 - |z|^2), 1/2), exactly, for an exact z of norm at most 1.

    It has the norm 1 and the last coordinate 1/2. A target Phi(<w, z>) becomes Phi(2/sqrt 3 <(w, 0, 0), x*>).

    Raises:
        ValueError: for numbers that are not exact, or a norm above 1.
    """
    z = [as_fmpq(entry) for entry in vector]
    known: list[fmpq] = [entry for entry in z if entry is not None]
    if len(known) < len(z) or not z or (rest := 1 - sum((entry * entry for entry in known), fmpq(0))) < 0:
        raise ValueError(f"Padding takes an exact vector of norm at most 1, not {list(vector)}.")
    half_root = sqrt_rational(fmpq(3, 4))
    last: list[fmpq | Cyclotomic] = [half_root * sqrt_rational(rest), fmpq(1, 2)]
    result = np.empty(len(known) + 2, dtype=object)
    result[:] = [half_root * entry for entry in known] + last
    return result


def input_sequence(inputs: ArrayLike, epsilon: object) -> Array:
    """The actual sequence x_1, ..., x_L, shape (L, d_x + 1), for x*_2, ..., x*_(L-1), shape (L - 2, d_x), and eps_x.

    Raises:
        ValueError: for another shape, no input, or eps_x outside (0, 1).
    """
    x = np.asarray(inputs)
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(f"The inputs x*_2, ..., x*_(L-1) have the shape (L - 2, d_x), L >= 3, not {x.shape}.")
    result = null_sequence(len(x) + 2, x.shape[1], epsilon)
    if x.dtype != object and result.dtype == object and x.dtype.kind == "f":
        raise ValueError("Inputs in floating point take an eps_x in floating point.")
    middle = epsilon * x
    result = result.astype(np.result_type(result.dtype, middle.dtype))
    result[1:-1, :-1] = middle
    result[1:-1, -1] = middle[:, 0] * 0
    return result


def input_sequences(inputs: Floats, epsilon: float) -> Floats:
    """The actual sequences of n inputs in floating point, shape (n, L, d_x + 1); inputs of shape (n, L - 2, d_x).

    Raises:
        ValueError: for another shape, or eps_x outside (0, 1).
    """
    x = np.asarray(inputs, dtype=np.float64)
    if x.ndim != 3 or 0 in x.shape:
        raise ValueError(f"The inputs of n sequences have the shape (n, L - 2, d_x), L >= 3, not {x.shape}.")
    result = np.zeros((len(x), x.shape[1] + 2, x.shape[2] + 1))
    result[:] = null_sequence(x.shape[1] + 2, x.shape[2], float(epsilon))
    result[:, 1:-1, :-1] = epsilon * x
    result[:, 1:-1, -1] = 0
    return result


def null_sequence(length: int, width: int, epsilon: object) -> Array:
    """The null sequence x_1 = (0, 1), x_l = (0, eps_x), shape (L, d_x + 1).

    Raises:
        ValueError: for L < 3, d_x < 1, or eps_x outside (0, 1).
    """
    L, d_x = checked_integer("The length L", length, 3), checked_integer("The input width d_x", width, 1)
    if not 0 < epsilon < 1:  # pyright: ignore[reportOperatorIssue]
        raise ValueError(f"The input scale eps_x must lie strictly between 0 and 1, not be {epsilon}.")
    floating = isinstance(epsilon, float | np.floating)
    result = np.zeros((L, d_x + 1)) if floating else np.full((L, d_x + 1), fmpq(0), dtype=object)
    result[:, -1] = epsilon  # pyright: ignore[reportCallIssue, reportArgumentType]
    result[0, -1] = 1
    return result


def interaction(function: Callable[[Array], Array], inputs: Array, others: Array, tokens: Iterable[int]) -> Array:
    """The mixed second difference of a function in two tokens, of the function's shape: 0 for every target function.

    F(x) - F(x with token a replaced) - F(x with token b replaced) + F(x with both replaced). A function with a value
    other than 0 does not belong to the concept class.

    Args:
        function: of inputs of shape (L - 2, d_x).
        inputs: one sequence of inputs.
        others: the inputs that replace those at the two tokens, of the same shape.
        tokens: two different rows of the inputs, from 0.

    Raises:
        ValueError: for tokens that are not two different rows.
    """
    chosen = list(tokens)
    if len(chosen) != 2 or chosen[0] == chosen[1] or not all(0 <= row < len(inputs) for row in chosen):
        raise ValueError(f"A mixed difference takes two different rows below {len(inputs)}, not {chosen}.")

    def replaced(*rows: int) -> Array:
        result = inputs.copy()
        result[list(rows)] = others[list(rows)]
        return function(result)

    first, second = chosen
    return function(inputs) - replaced(first) - replaced(second) + replaced(first, second)


def lag_networks(
    length: int, hidden: Sequence[Array], readouts: Sequence[Array], coefficients: Sequence[RationalLike]
) -> TargetFunction:
    """The target F*_j = sum_(i < j) A_(j-i) phi(V_(j-i) x*_i), one two-layer network for each lag, by its parts.

    A row v of V_lag with entry a of A_lag is the part with w = v/|v| and Phi(z) = a phi(|v| z).

    Args:
        length: L.
        hidden: V_1, ..., V_(L-2), each of shape (p, d_x) with last column 0 and rows of rational norm, not 0.
        readouts: A_1, ..., A_(L-2), each of shape (d, p), exact.
        coefficients: those of the polynomial phi, exact, phi(0) = 0.

    Raises:
        ValueError: for another number of lags, or as `Part` and `TargetFunction`.
    """
    if not len(hidden) == len(readouts) == length - 2:
        raise ValueError(f"For L = {length} there are {length - 2} lags, not {len(hidden)} and {len(readouts)}.")
    parts, known = [], as_exact(list(coefficients))
    for lag, (V, A) in enumerate(zip(hidden, readouts, strict=True), start=1):
        for row, v in enumerate(np.asarray(V)):
            square = fmpq(0) + (v * v).sum()
            size = rational_root(square)
            if not size:
                raise ValueError(
                    f"Row {row} of V_{lag} has the square {square}; exact parts need rational norms, not 0."
                )
            for s, a in enumerate(as_exact(np.asarray(A)[:, row])):
                scaled = tuple(a * c * size**k for k, c in enumerate(known))
                parts += [Part(i, i + lag, s, scaled, v / size) for i in range(2, length - lag + 1)]
    return TargetFunction(length, len(np.asarray(readouts[0])), tuple(parts))
