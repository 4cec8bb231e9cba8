"""Prompts of q-sparse token regression, their labels, and the risks of predictions.

A prompt is N tokens x_i in R^d, each with q indices t_i; position i has the label y_i = g(x_(t_i1), ..., x_(t_iq)). In
simple token regression all positions of a prompt have the same indices. Positions count from 0. All arrays carry the
prompts of a batch in front.

Source: qstr, definition-2 and definition-risks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, conversion, number_system, require_finite
from lemmata.numerics.tokens.codes import Integers
from lemmata.numerics.tokens.links import Link

__all__ = ["Law", "Prompts", "averaged_risk", "draw_prompts", "pointwise_risk", "population_risk", "require_memory"]

Law = Literal["gaussian", "sphere", "signs", "rational"]
MEMORY = 2**33
"""The bytes that one array may take if nothing else is said: 8 GiB."""


@dataclass(frozen=True, eq=False)
class Prompts:
    """n prompts of N tokens.

    Attributes:
        tokens: x, shape (n, N, d), floats, exact numbers or balls.
        indices: t, integers 0, ..., N - 1, shape (n, N, q); repetitions are allowed.

    Raises:
        ValueError: for shapes that do not fit, indices out of range, or tokens that are not finite, naming the place.
    """

    tokens: Array
    indices: Integers

    def __post_init__(self) -> None:
        x, t = np.asarray(self.tokens), np.asarray(self.indices)
        if x.ndim != 3 or not x.size or t.ndim != 3 or not t.size or t.shape[:2] != x.shape[:2]:
            raise ValueError(
                f"Prompts have tokens (n, N, d) and indices (n, N, q), but the shapes are {x.shape}, {t.shape}."
            )
        require_finite("tokens", x)
        if t.dtype.kind not in "iu" or t.min() < 0 or t.max() >= x.shape[1]:
            raise ValueError(
                f"The indices of prompts of {x.shape[1]} tokens are the integers 0, ..., {x.shape[1] - 1}."
            )
        object.__setattr__(self, "tokens", x)
        object.__setattr__(self, "indices", t.astype(np.int64))

    @property
    def count(self) -> int:
        """n."""
        return self.tokens.shape[0]

    @property
    def length(self) -> int:
        """N."""
        return self.tokens.shape[1]

    @property
    def dimension(self) -> int:
        """d."""
        return self.tokens.shape[2]

    @property
    def sparsity(self) -> int:
        """q."""
        return self.indices.shape[2]

    @property
    def simple(self) -> bool:
        """Whether the positions of every prompt have the same indices."""
        return bool((self.indices == self.indices[:, :1]).all())

    def selected(self) -> Array:
        """The tokens x_(t_il), shape (n, N, q, d)."""
        return self.tokens[np.arange(self.count)[:, None, None], self.indices]

    def labels(self, link: Link) -> Array:
        """y, shape (n, N), for a link from (..., q, d) to (...); see `lemmata.numerics.tokens.links`."""
        return link(self.selected())

    def relabelled(self, order: ArrayLike) -> Prompts:
        """The prompts with position i moved to order[i], for a permutation of 0, ..., N - 1: the labels move along.

        Raises:
            ValueError: if it is no permutation.
        """
        pi = np.asarray(order)
        if pi.shape != (self.length,) or sorted(pi.tolist()) != list(range(self.length)):
            raise ValueError(f"The new order must be a permutation of 0, ..., {self.length - 1}.")
        back = np.argsort(pi)
        return Prompts(self.tokens[:, back], pi[self.indices][:, back])


def draw_prompts(
    count: int,
    length: int,
    dimension: int,
    sparsity: int,
    *,
    law: Law = "gaussian",
    simple: bool = False,
    distinct: bool = False,
    seed: int = 0,
) -> Prompts:
    """Independent random prompts with uniform indices.

    Args:
        count: n.
        length: N.
        dimension: d.
        sparsity: q, at most N.
        law: of the tokens: "gaussian", standard; "sphere", uniform of length sqrt(d); "signs", +-1, exact; "rational",
            uniform on the multiples of 1/4 in [-2, 2], exact. The first two are float64.
        simple: one draw of indices for each prompt, shared by its positions.
        distinct: the q indices of a position differ (uniform over those), else they are independent.
        seed: of the generator.

    Raises:
        ValueError: for numbers that are not positive integers, q > N, another law, or more than memory holds.
    """
    n, N = checked_integer("The number of prompts", count, 1), checked_integer("The number of tokens", length, 1)
    d, q = checked_integer("The dimension of tokens", dimension, 1), checked_integer("The sparsity q", sparsity, 1)
    if q > N:
        raise ValueError(f"A label reads at most all N = {N} tokens of its prompt, not q = {q}.")
    if law not in get_args(Law):
        raise ValueError(f"The law of the tokens is one of {', '.join(get_args(Law))}, not {law!r}.")
    rows = 1 if simple else N
    require_memory("The tokens and indices of the prompts", (n, N, max(d, q)))
    rng = np.random.default_rng(seed)
    if law == "signs":
        tokens: Array = as_exact(2 * rng.integers(0, 2, (n, N, d)) - 1)
    elif law == "rational":
        tokens = as_exact(rng.integers(-8, 9, (n, N, d))) * fmpq(1, 4)
    else:
        tokens = rng.standard_normal((n, N, d))
        if law == "sphere":
            tokens *= np.sqrt(d) / np.linalg.norm(tokens, axis=-1, keepdims=True)
    if distinct:
        flat = [rng.choice(N, q, replace=False) for _ in range(n * rows)]
        indices = np.array(flat, dtype=np.int64).reshape(n, rows, q)
    else:
        indices = rng.integers(0, N, (n, rows, q))
    return Prompts(tokens, np.array(np.broadcast_to(indices, (n, N, q))))


def require_memory(what: str, shape: tuple[int, ...], limit: int = MEMORY) -> None:
    """ValueError if an array of 8-byte numbers of this shape takes more than the limit in bytes."""
    size = 8
    for part in shape:
        size *= int(part)
    if size > limit:
        raise ValueError(
            f"{what} of shape {shape} would take {size / 2**30:.1f} GiB, more than {limit / 2**30:.1f} GiB: take fewer "
            "or shorter prompts, or work in blocks."
        )


def averaged_risk(predictions: Array, labels: Array) -> Any:
    """R_(n,N) = (1/(nN)) sum over prompts and positions of (yhat - y)^2, exact for exact numbers.

    Args:
        predictions: yhat, shape (n, N).
        labels: y, shape (n, N).

    Raises:
        ValueError: for shapes that differ or are no matrix, or numbers that are not finite.
    """
    errors = _squared_errors(predictions, labels)
    return errors.sum() / errors.size


def pointwise_risk(predictions: Array, labels: Array, positions: ArrayLike) -> Any:
    """R_n = (1/n) sum over prompts of (yhat - y)^2 at one position j each.

    Args:
        predictions: yhat, shape (n, N).
        labels: y, shape (n, N).
        positions: j, integers 0, ..., N - 1, shape (n,).

    Raises:
        ValueError: as `averaged_risk`, and for positions out of range.
    """
    errors = _squared_errors(predictions, labels)
    j = np.asarray(positions)
    if j.shape != errors.shape[:1] or j.dtype.kind not in "iu" or j.min() < 0 or j.max() >= errors.shape[1]:
        raise ValueError(f"Each of the {len(errors)} prompts needs a position 0, ..., {errors.shape[1] - 1}.")
    return errors[np.arange(len(errors)), j].sum() / len(errors)


def population_risk(predictions: Array, labels: Array, probabilities: ArrayLike) -> Any:
    """R = (1/N) E |yhat - y|^2 under a law on finitely many prompts.

    Args:
        predictions: yhat, shape (n, N), for every prompt of the law.
        labels: y, shape (n, N).
        probabilities: shape (n,), not negative, with the sum 1 (up to rounding for floats).

    Raises:
        ValueError: as `averaged_risk`, and for other probabilities.
    """
    errors = _squared_errors(predictions, labels)
    p = np.asarray(probabilities)
    fits = p.shape == errors.shape[:1] and all(x >= 0 for x in p.tolist())
    if not fits or abs(sum(p.tolist()) - 1) > (1e-9 if number_system([p]) == "float" else 0):
        raise ValueError(f"The {len(errors)} prompts need probabilities that are not negative and have the sum 1.")
    p = conversion(number_system([p, errors]))(p)
    return (p * errors.sum(axis=1)).sum() / errors.shape[1]


def _squared_errors(predictions: Array, labels: Array) -> Array:
    guesses, y = np.asarray(predictions), np.asarray(labels)
    if guesses.ndim != 2 or guesses.shape != y.shape or not y.size:
        raise ValueError(f"Predictions and labels have one shape (n, N), not {guesses.shape} and {y.shape}.")
    require_finite("predictions", guesses)
    require_finite("labels", y)
    convert = conversion(number_system([guesses, y]))
    errors = convert(guesses) - convert(y)
    return errors * errors
