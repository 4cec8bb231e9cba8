"""The minimal model of a statistical induction head: two linear attention-like layers, one of them purely positional.

f(E) = mask(E W (M E)^T) E for the one-hot matrix E of the sequence, shape (t, k), the lower-triangular Toeplitz matrix
M_{s',s} = v_{s'-s+1}, and a mask that puts zeros above the diagonal: equation (8.8) of the dissertation, (E.2) in its
appendix. Entry by entry, f_{p,i} = sum_{t'<=p} [x_t' = i] sum_{s<=t'} v_{t'-s+1} W_{x_p, x_s}. Nothing is normalised:
the outputs are logits. The first layer, v, weighs positions; the second, W, compares states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.networks.layer import Weights
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.systems import in_one_system, require_finite

__all__ = ["MinimalModel", "bigram_minimal_model", "unigram_minimal_model"]


@dataclass(frozen=True, eq=False)
class MinimalModel(Weights):
    """The minimal model with position weights v, shape (t,), and state weights W, shape (k, k).

    v[j-1] weighs the token j-1 places back. Entries are floats, exact numbers (integers and `LogTwo` among them) or
    balls. Symbols are 0, ..., k-1, and sequences may have any length from 1 to t.

    Raises:
        ValueError: if v is no non-empty vector or W no square matrix, or an entry is no number or not finite.
    """

    translator: ClassVar[str] = "induction.torch"

    v: NDArray[Any]
    W: NDArray[Any]

    def __post_init__(self) -> None:
        for name in ("v", "W"):
            weights = np.asarray(getattr(self, name))
            if weights.dtype == object:
                require_finite(name, weights)
            else:
                weights = in_one_system({name: weights})[0][name]
            object.__setattr__(self, name, weights)
        if np.ndim(self.v) != 1 or not len(self.v):
            raise ValueError(f"v has shape {np.shape(self.v)}: give a vector with one weight for each position.")
        if np.ndim(self.W) != 2 or self.W.shape[0] != self.W.shape[1] or not self.W.size:
            raise ValueError(f"W has shape {np.shape(self.W)}: give a square matrix, one row for each state.")

    @property
    def context(self) -> int:
        """t, the longest sequence."""
        return len(self.v)

    @property
    def states(self) -> int:
        """k, the number of states."""
        return len(self.W)

    def __call__(self, x: Sequence[int] | NDArray[np.integer]) -> NDArray[Any]:
        """The logits f of one sequence of length p <= t, shape (p, k): row p-1 predicts the token after x_1..x_p.

        Raises:
            ValueError: if the sequence is empty, longer than t, or has a symbol outside 0..k-1.
        """
        tokens = self.checked_tokens(x)
        length = len(tokens)
        E = np.eye(self.states, dtype=int)[tokens]
        places = np.arange(length)
        back = places[:, None] - places[None, :]
        past = back >= 0
        M = np.where(past, self.v[np.abs(back)], 0)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            logits = np.where(past, E @ self.W @ (M @ E).T, 0) @ E
        if logits.dtype.kind == "f" and not np.isfinite(logits).all():
            raise ValueError("A logit overflows float64: choose smaller weights, or exact ones.")
        return logits

    def checked_tokens(self, x: Sequence[int] | NDArray[np.integer]) -> NDArray[np.integer]:
        """The sequence as an array of 1 to t integers 0, ..., k-1.

        Raises:
            ValueError: if it is something else.
        """
        tokens = np.asarray(x)
        if tokens.ndim != 1 or tokens.dtype.kind not in "iu" or not 1 <= len(tokens) <= self.context:
            raise ValueError(
                f"The sequence has shape {tokens.shape} and dtype {tokens.dtype}: "
                f"give a vector of 1 to {self.context} integers."
            )
        wrong = np.flatnonzero((tokens < 0) | (tokens >= self.states))
        if len(wrong):
            raise ValueError(
                f"Symbol {tokens[wrong[0]]} at position {wrong[0] + 1} is no state: "
                f"the states are 0 to {self.states - 1}."
            )
        return tokens


def bigram_minimal_model(t: int, k: int) -> MinimalModel:
    """v = (0, 1, 0, ...), W = I: the logits count the successors of earlier occurrences of the current state.

    Raises:
        ValueError: if t is no integer of at least 2, or k none of at least 1.
    """
    t, k = checked_integer("The context length t", t, 2), checked_integer("The number of states k", k, 1)
    return MinimalModel(_unit(t, 1), np.array([[fmpq(int(m == l)) for l in range(k)] for m in range(k)]))


def unigram_minimal_model(t: int, k: int) -> MinimalModel:
    """v = (1, 0, ...), W = 1 1^T: the logits count the states seen so far.

    Raises:
        ValueError: if t or k is no integer of at least 1.
    """
    t, k = checked_integer("The context length t", t, 1), checked_integer("The number of states k", k, 1)
    return MinimalModel(_unit(t, 0), np.array([[fmpq(1)] * k] * k))


def _unit(t: int, position: int) -> NDArray[np.object_]:
    return np.array([fmpq(int(j == position)) for j in range(t)], dtype=object)
