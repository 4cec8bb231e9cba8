"""Audits of softmax heads: how far their outputs can move, proved from above and found from below.

The upper bounds are the formulas of `lemmata.numerics.learning.attention_lipschitz` with operator norms that are proved
by elimination in balls. The lower bounds come from a search in float64 over tokens of the ball of radius r, with many
starts at once, some of them at the singular vectors of W_Q W_K^T and of W_V W_O where the worst case of all heads
lies. What the search finds is taken as exact binary numbers, and the head itself is run on it in balls: a lower bound
that is proved as well. One token asks; the others come in a few kinds, each repeated, since the constant that holds for
all lengths is only approached in long sequences.

Source: variable-creation, lemma-A.13, lemma-A.14, corollary-A.7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from lemmata.certificates.capacity.heads import homogeneous_matrices
from lemmata.certificates.margins.all_layer import operator_norm
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array, require_finite
from lemmata.numerics.learning.attention_lipschitz import input_constants, largest_row_norm, softmax_distance

__all__ = ["InputAudit", "WeightAudit", "audit_attention", "audit_weights", "head_matrices"]

BITS = 128
Floats = NDArray[np.float64]
_KINDS = 4
_STEP, _LEAST_STEP = 2.0**-14, 2.0**-40
_LARGEST, _LARGEST_SCORE = 1e100, 1e12


@dataclass(frozen=True, eq=False)
class InputAudit:
    """How much the output of a head moves with its tokens: largest rows against largest rows.

    Attributes:
        printed: the bound ||A|| (1 + 4 beta + 2 kappa) from the printed constant 2 of softmax.
        halved: ||A|| (1 + 2 beta + kappa), from the constant 1.
        upper: ||A|| (beta + sqrt(1 + (beta + kappa)^2)): what is proved, for sequences of every length.
        lower: a ratio that is attained.
        tokens, moved: where, two matrices of shape (T, d) with rows of norm at most r; the last token asks.
    """

    printed: arb
    halved: arb
    upper: arb
    lower: arb
    tokens: Floats
    moved: Floats

    @property
    def attained(self) -> float:
        """The share of the proved bound that was found, at most 1."""
        return float((self.lower / self.upper).mid()) if self.upper > 0 else 1.0


@dataclass(frozen=True, eq=False)
class WeightAudit:
    """How far two heads are apart on tokens of norm at most r.

    Attributes:
        printed: 2 r ||A|| D + r ||A - A'||, D the bound r^2 ||M - M'|| + r |c - c'| of the changes of scores.
        halved: r ||A|| D + r ||A - A'||.
        upper: 2 r ||A|| tanh(D/2) + r ||A - A'||: what is proved.
        lower: a distance that is attained.
        tokens: where, shape (T, d); the last token asks.
    """

    printed: arb
    halved: arb
    upper: arb
    lower: arb
    tokens: Floats

    @property
    def attained(self) -> float:
        """The share of the proved bound that was found, at most 1."""
        return float((self.lower / self.upper).mid()) if self.upper > 0 else 1.0


def head_matrices(head: Head) -> tuple[Array, Array, Array]:
    """A = W_V W_O, M = W_Q W_K^T and c = b_Q W_K^T of a head, with sharpness and temperature in M and c, as balls.

    The scores of a query x are x M z^T + c z^T, up to a number that all tokens share. Shapes (d, e), (d, d), (d,).

    Raises:
        ValueError: for a head that is no softmax, or has relative keys or a null pair, or whose tokens do not attend to
            tokens of their own width, or have no coordinate; for weights that are not finite.
    """
    if head.weigh != "softmax":
        raise ValueError(f"Only heads that weigh by softmax have a Lipschitz constant here, not by {head.weigh}.")
    if len(head.relative_keys) or head.null is not None:
        raise ValueError("Heads with relative keys or a null pair are not audited: give a head without them.")
    if head.key.inputs != head.inputs:
        raise ValueError(
            f"The tokens attend to one another, but the head reads tokens of width {head.inputs} and a memory of width "
            f"{head.key.inputs}."
        )
    if not head.inputs or not head.key_dimension or not head.outputs:
        raise ValueError("A head that is audited has tokens, keys and outputs of at least one coordinate.")
    for name in ("query", "key", "value", "output"):
        part = getattr(head, name)
        if part is not None:
            require_finite(f"the weight of the {name}", part.weight)
            require_finite(f"the bias of the {name}", part.bias)
    A, M = homogeneous_matrices(head)
    return A[:-1], M[:-1, :-1], M[-1, :-1]


def audit_attention(
    head: Head | Sequence[ArrayLike], radius: Any = 1, *, length: int = 65, starts: int = 64, seed: int = 0
) -> InputAudit:
    """How much the output of a softmax head can move with its tokens: proved, and found by search.

    Args:
        head: a head, or its matrices W_Q, W_K, W_V of shapes (d, k), (d, k), (d, e), and perhaps W_O.
        radius: r, the bound of the norms of the tokens, before and after.
        length: T, the number of tokens in the search, at least 2. What is proved holds for all lengths.
        starts: how many searches are made.
        seed: of the random starts.

    Raises:
        ValueError: as `head_matrices`; for matrices of other shapes, a radius that is not positive and finite, a length
            below 2, or no start; for a radius below 1e-100, or values above 1e100 or scores above 1e12 on the ball.
    """
    head, r, copies = _checked(head, radius, length, starts)
    with precision(BITS):
        A, M, c = head_matrices(head)
        value, score, offset = operator_norm(A), operator_norm(M), largest_row_norm(c[None])
        bounds = input_constants(value, score, r, offset)
        _require_moderate(r, [value * r], [score * r * r, offset * r])
        parts = tuple(to_float(part) for part in (A, M, c))
        reach = float(to_float([r.lower()])[0])
        kinds, directions = _search(_local_constant, parts, reach, copies, starts, seed)
        step = _STEP / (1 + float((score * r * r + offset * r).mid()))
        tokens, moved = _pair(kinds, directions, parts, reach, copies, max(step, _LEAST_STEP))
        _require_inside(r, tokens, moved)
        gap = largest_row_norm(tokens - moved)
        ratio = _distance(head, head, tokens, moved) / gap if gap > 0 else arb(0)
        return InputAudit(bounds.printed, bounds.halved, bounds.sharp, ratio.lower().max(arb(0)), tokens, moved)


def audit_weights(
    head: Head | Sequence[ArrayLike],
    other: Head | Sequence[ArrayLike],
    radius: Any = 1,
    *,
    length: int = 65,
    starts: int = 64,
    seed: int = 0,
) -> WeightAudit:
    """How far two softmax heads can be apart on tokens of a ball: proved, and found by search.

    Args and errors as `audit_attention`; also for heads of different widths.
    """
    head, r, copies = _checked(head, radius, length, starts)
    other, _, _ = _checked(other, radius, length, starts)
    if (head.inputs, head.outputs) != (other.inputs, other.outputs):
        raise ValueError(
            f"The heads map widths {head.inputs} to {head.outputs} and {other.inputs} to {other.outputs}: they have to "
            "be the same."
        )
    with precision(BITS):
        (A, M, c), (A2, M2, c2) = head_matrices(head), head_matrices(other)
        D = r * r * operator_norm(M - M2) + r * largest_row_norm((c - c2)[None])
        first, second = r * operator_norm(A), r * operator_norm(A - A2)
        _require_moderate(r, [first, second], [r * r * operator_norm(M), r * largest_row_norm(c[None]), D])
        parts = tuple(to_float(part) for part in (A, M, c, A2, M2, c2))
        reach = float(to_float([r.lower()])[0])
        kinds, _ = _search(_change, parts, reach, copies, starts, seed)
        tokens = _repeated(_inside(kinds, reach), copies)
        _require_inside(r, tokens)
        lower = _distance(head, other, tokens, tokens).lower().max(arb(0))
        upper = first * softmax_distance([D, -D]) + second
        return WeightAudit(2 * first * D + second, first * D + second, upper, lower, tokens)


def _checked(head: Head | Sequence[ArrayLike], radius: Any, length: int, starts: int) -> tuple[Head, arb, list[int]]:
    """The head, the radius as a ball, and how often each kind of token but the last is repeated."""
    T, _ = checked_integer("The length", length, 2), checked_integer("The number of starts", starts, 1)
    if not isinstance(head, Head):
        parts = [np.asarray(part) for part in head]
        if len(parts) not in (3, 4) or any(part.ndim != 2 for part in parts):
            raise ValueError("Give a head, or the matrices W_Q, W_K, W_V of its queries, keys and values, perhaps W_O.")
        W_Q, W_K, W_V = (Affine(part) for part in parts[:3])
        head = Head(W_Q, W_K, W_V, output=Affine(parts[3]) if len(parts) == 4 else None, causal=False)
    (r,) = as_balls([radius]).tolist()
    if not r.is_finite() or not r > 0:
        raise ValueError(f"The radius of the tokens must be positive and finite, not {radius!r}.")
    kinds = min(_KINDS, T - 1)
    return head, r, [(T - 1 + i) // kinds for i in range(kinds)]


def _require_moderate(radius: arb, values: Sequence[arb], scores: Sequence[arb]) -> None:
    """The sizes on the ball leave room in float64 for their products, and in balls for the exponentials."""
    large = [*(size <= _LARGEST for size in values), *(size <= _LARGEST_SCORE for size in scores)]
    if not all(large) or not radius >= 1 / _LARGEST:
        raise ValueError(
            f"The search is for a radius of at least {1 / _LARGEST:g}, values of at most {_LARGEST:g} and scores of at "
            f"most {_LARGEST_SCORE:g} on the ball: divide the weights, or change the radius."
        )


def _require_inside(radius: arb, *sequences: Floats) -> None:
    """The norms of all tokens are at most the lower end of the radius, as exact numbers."""
    if not all(largest_row_norm(tokens) <= radius.lower() for tokens in sequences):
        raise ArithmeticError("The search left the ball by rounding.")


def _distance(head: Head, other: Head, tokens: Floats, moved: Floats) -> arb:
    """The distance of the outputs at the last token, enclosed."""
    outputs = []
    for network, rows in ((head, tokens), (other, moved)):
        z = as_balls(rows)
        outputs.append(network.map(as_balls)(z[-1:], memory=z)[0])
    return largest_row_norm((outputs[0] - outputs[1])[None])


# ---- the search, in float64; a batch of matrices of shape (n, K + 1, d), the last row asks

_Objective = Callable[[Floats, Floats, Sequence[Floats], Floats], Floats]


def _softmax(Z: Floats, M: Floats, c: Floats, log_copies: Floats) -> tuple[Floats, Floats]:
    """The weights of the kinds of tokens, shape (n, K + 1), and the vectors q with scores q z^T, shape (n, d)."""
    q = Z[:, -1] @ M + c
    scores = np.einsum("ntd,nd->nt", Z, q) + log_copies
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True), q


def _gradients(Z: Floats, w: Floats, parts: Sequence[Floats], log_copies: Floats) -> Floats:
    """The gradients of w f(Z) in the tokens, added over the copies of each kind; shape (n, K + 1, d)."""
    A, M, c = parts
    p, q = _softmax(Z, M, c, log_copies)
    v = w @ A.T
    along = np.einsum("ntd,nd->nt", Z, v)
    y = along - (p * along).sum(axis=1, keepdims=True)
    result = p[:, :, None] * (v[:, None] + y[:, :, None] * q[:, None])
    result[:, -1] += np.einsum("nt,ntd->nd", p * y, Z) @ M.T
    return result


def _local_constant(Z: Floats, w: Floats, parts: Sequence[Floats], log_copies: Floats) -> Floats:
    """The sum over tokens of the norms of the gradients of w f, |w| = 1: the local Lipschitz constant of w f."""
    unit = w / np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1e-300)
    return np.linalg.norm(_gradients(Z, unit, parts, log_copies), axis=2).sum(axis=1)


def _change(Z: Floats, w: Floats, parts: Sequence[Floats], log_copies: Floats) -> Floats:
    """The distance of the outputs of two heads; w plays no part."""
    outputs = []
    for A, M, c in (parts[:3], parts[3:]):
        p, _ = _softmax(Z, M, c, log_copies)
        outputs.append(np.einsum("nt,ntd->nd", p, Z) @ A)
    return np.linalg.norm(outputs[0] - outputs[1], axis=1)


def _inside(Z: Floats, radius: float) -> Floats:
    """The tokens projected on the ball, a little inside."""
    norms = np.linalg.norm(Z, axis=-1, keepdims=True)
    return Z * (radius * (1 - 2.0**-40) / np.maximum(norms, radius))


def _first_tokens(parts: Sequence[Floats], shape: tuple[int, int, int], radius: float, seed: int) -> Floats:
    """The starts: random ones, and pairs of opposite singular vectors seen from another one."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal(shape) * radius
    A, M = parts[0], parts[1]
    left, _, right = np.linalg.svd(M)
    seen = [*np.linalg.svd(A)[0].T[:2], *right[:2]]
    asking = [*left.T[:2], *(-left.T[:2])]
    for i, (u, x) in enumerate((u, x) for u in seen for x in asking):
        if i < shape[0]:
            Z[i, :-1] = radius * np.outer([(-1) ** k for k in range(shape[1] - 1)], u)
            Z[i, -1] = radius * x
    return _inside(Z, radius)


def _search(
    objective: _Objective, parts: Sequence[Floats], radius: float, copies: Sequence[int], starts: int, seed: int
) -> tuple[Floats, Floats]:
    """The best tokens, shape (K + 1, d), and direction of the output; random steps that shrink where they fail."""
    d, e = parts[0].shape
    log_copies = np.log(np.array([*copies, 1.0]))
    Z = _first_tokens(parts, (starts, len(copies) + 1, d), radius, seed)
    rng = np.random.default_rng([seed, 1])
    w = rng.standard_normal((starts, e))
    w[: starts // 2] = np.linalg.svd(parts[0])[2][0]
    best, size = objective(Z, w, parts, log_copies), np.full(starts, 0.3)
    for _ in range(600):
        mask = rng.random(Z.shape[:2])[:, :, None] < 0.5
        nearby = _inside(Z + mask * size[:, None, None] * radius * rng.standard_normal(Z.shape), radius)
        turned = w + size[:, None] * rng.standard_normal(w.shape) * (rng.random(starts)[:, None] < 0.5)
        found = objective(nearby, turned, parts, log_copies)
        better = found > best
        Z[better], w[better], best[better] = nearby[better], turned[better], found[better]
        size = np.clip(np.where(better, size * 1.5, size * 0.93), 1e-6, 0.5)
    winner = int(np.argmax(best))
    return Z[winner], w[winner] / max(float(np.linalg.norm(w[winner])), 1e-300)


def _repeated(kinds: Floats, copies: Sequence[int]) -> Floats:
    """The sequence with its copies, the asking token last."""
    return np.repeat(kinds, [*copies, 1], axis=0)


def _pair(
    kinds: Floats, w: Floats, parts: Sequence[Floats], radius: float, copies: Sequence[int], size: float
) -> tuple[Floats, Floats]:
    """Two sequences at a small distance along the gradients, a share of the radius, both inside the ball."""
    log_copies = np.log(np.array([*copies, 1.0]))
    gradients = _gradients(kinds[None], w[None], parts, log_copies)[0]
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    step = radius * size * gradients / np.where(norms > 0, norms, 1)
    middle = kinds * (1 - 2 * size)
    return tuple(_repeated(_inside(middle + sign * step, radius), copies) for sign in (1, -1))  # type: ignore[return-value]
