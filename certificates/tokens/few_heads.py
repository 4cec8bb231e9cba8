"""What H heads cannot see: exact conditional variances, and lower bounds of the risk with fewer than min(q, d) heads.

The data: x_1, ..., x_q are standard Gaussians, and the label of a position i whose own token is 0 is
y = (qd)^(-1/2) sum_(j <= q) (|x_j|^2 - d). A head has the scores <w, x_j> + c_j there, with one vector w for all keys,
w = enc_i W^(e,x), and shows sum_j alpha_j x_j. Given the projections of all x_j on the span of the w, of dimension r_w,
the weights are fixed; what the heads show beyond is r_a = rank(alpha) combinations of the remainders, which are
independent of that. So the variance of sum_j |x_j|^2 that nothing seen explains is exactly

    2 (q - r_a)(d - r_w),

and the risk, over at least half of the positions, is at least (1 - H/q)(1 - H/d) for H <= min(q, d). The document's
bound 1 - H(q+d)/(qd) takes the r_a d + q r_w vectors (e_r times alpha, w times e_j) for independent, though r_a r_w of
them are not. If the query-key matrices do not multiply data with positions, then r_w = 0: 1 - H/q.

If fewer than q < N tokens are random, the label may repeat them: with token l counted c_l times the variance is at
least 2 (d - r_w) times the sum of c_l^2 over all but the r_a largest c_l. If all tokens are random, positions that do
not ask for their own token give (1 - H/q)(1 - H/d) for every q < N: then w depends on the own token, which is
independent.

Source: qstr, proposition-3 and proposition-21.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.linear import rank
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, product

__all__ = [
    "HeadView",
    "block_diagonal_bound",
    "conditioned_rank",
    "few_heads_bound",
    "head_view",
    "hidden_variance",
    "least_risk",
    "printed_few_heads_bound",
    "repeated_counts",
    "repeated_few_heads_bound",
    "repeated_variance",
]


def printed_few_heads_bound(sparsity: int, dimension: int, heads: int) -> fmpq:
    """1 - H(q+d)/(qd), the document's bound with the constant of its proof; it may be negative.

    With three times the loss, 1 - 3 H(q+d)/(qd), it is a bound for all q < N: `repeated_few_heads_bound` is above that.
    """
    q, d, H = _sizes(sparsity, dimension, heads)
    return 1 - fmpq(H * (q + d), q * d)


def few_heads_bound(sparsity: int, dimension: int, heads: int) -> fmpq:
    """(1 - H/q)(1 - H/d) for H <= min(q, d), else 0: no transformer with H heads has a smaller risk on the data.

    The number q of random tokens is at most ceil(N/2) - 1, so that all of them are before the middle of the prompt.
    """
    q, d, H = _sizes(sparsity, dimension, heads)
    return fmpq((q - H) * (d - H), q * d) if min(q, d) >= H else fmpq(0)


def block_diagonal_bound(sparsity: int, heads: int) -> fmpq:
    """max(0, 1 - H/q), for every d, if the query-key matrices do not multiply data with positions."""
    q, _, H = _sizes(sparsity, 1, heads)
    return max(fmpq(0), 1 - fmpq(H, q))


def least_risk(sparsity: int, dimension: int, heads: int, length: int) -> fmpq:
    """(2/N) (floor(N/2) + 1) (1 - H/q)(1 - H/d): `few_heads_bound` times twice the share of the hard positions.

    Raises:
        ValueError: unless q <= ceil(N/2) - 1; for larger q < N see `repeated_few_heads_bound`.
    """
    N = checked_integer("The number of tokens", length, 1)
    if sparsity > (N + 1) // 2 - 1:
        raise ValueError(
            f"The bound needs q <= ceil(N/2) - 1 random tokens, but q = {sparsity} and N = {N}: fewer tokens are "
            "random than the label reads."
        )
    return few_heads_bound(sparsity, dimension, heads) * fmpq(2 * (N // 2 + 1), N)


def repeated_counts(sparsity: int, length: int) -> tuple[int, ...]:
    """How often q indices ask for each of the k = ceil(N/2) - 1 random tokens, as evenly as possible, zeros left out.

    For q < N no token is asked for more than three times.

    Raises:
        ValueError: unless q < N and N >= 3 (else no token is random).
    """
    q, N = checked_integer("The sparsity q", sparsity, 1), checked_integer("The number of tokens", length, 3)
    if q >= N:
        raise ValueError(f"The labels read few of the tokens, q < N, which q = {q} and N = {N} do not satisfy.")
    k = (N + 1) // 2 - 1
    return tuple(q // k + (l < q % k) for l in range(min(q, k)))


def repeated_variance(weights: ArrayLike, counts: Sequence[int]) -> fmpq:
    """2 tr(((I - P) D (I - P))^2) for D = diag(c) and the projector P on the rows of the weights.

    That is the variance of sum_l c_l x_l^2 for standard Gaussian numbers x whose products with the weights are all 0;
    other values of these products leave at least as much (proofs/few-heads.md, step 7).

    Args:
        weights: alpha, exact, shape (H, k): the attention weights of the tokens.
        counts: c, k numbers.

    Raises:
        ValueError: for shapes that do not fit.
    """
    alpha = as_exact(weights)
    if alpha.ndim != 2 or alpha.shape[1] != len(counts) or not alpha.size:
        raise ValueError(f"Weights (H, k) for {len(counts)} counts are needed, not {alpha.shape}.")
    left = as_exact(np.eye(len(counts), dtype=np.int64))
    for row in _orthogonal_rows(alpha):
        left = left - np.outer(row, row) / (row * row).sum()
    inner = product(left * as_exact(list(counts)), left)
    return 2 * (inner * inner.T).sum()


def repeated_few_heads_bound(sparsity: int, dimension: int, heads: int, length: int) -> fmpq:
    """(2/N)(floor(N/2) + 1)(1 - H/d) sum c_l^2/q over all but the H largest of `repeated_counts`; 0 if H >= d.

    No transformer with H heads has a smaller risk if the hard positions ask for the tokens c_l times: for every q < N
    at least 1 - 3 H(q+d)/(qd), and `least_risk` where no token is repeated.

    Raises:
        ValueError: as `repeated_counts`.
    """
    q, d, H = _sizes(sparsity, dimension, heads)
    left = sum(c * c for c in sorted(repeated_counts(q, length), reverse=True)[H:])
    return fmpq(2 * (length // 2 + 1), length) * max(fmpq(0), 1 - fmpq(H, d)) * fmpq(left, q)


def hidden_variance(weights: ArrayLike, directions: ArrayLike) -> int:
    """2 (q - rank alpha)(d - rank w), the variance of sum_j |x_j|^2 given what the heads show.

    Args:
        weights: alpha, exact, shape (H, q): the attention weights of the q tokens.
        directions: w, exact, shape (H, d).

    Raises:
        ValueError: for shapes that do not fit.
    """
    alpha, w = _pair(weights, directions)
    return 2 * (alpha.shape[1] - rank(alpha)) * (w.shape[1] - rank(w))


def conditioned_rank(weights: ArrayLike, directions: ArrayLike) -> int:
    """The rank of all vectors alpha^h x e_r and e_j x w^h in R^(qd), which the document bounds by H(q+d).

    It is r_a d + q r_w - r_a r_w, so that 2 (qd - rank) is `hidden_variance`. Arguments and errors as there.
    """
    alpha, w = _pair(weights, directions)
    (_, q), (_, d) = alpha.shape, w.shape
    rows = [np.kron(row, as_exact(np.eye(d, dtype=np.int64))[r]) for row in alpha for r in range(d)]
    rows += [np.kron(as_exact(np.eye(q, dtype=np.int64))[j], row) for j in range(q) for row in w]
    return rank(as_exact(np.array(rows)))


@dataclass(frozen=True)
class HeadView:
    """What the heads of a layer see from a position, whose own token is given and not among those it asks for.

    Attributes:
        directions: w, exact, shape (H, d): the scores are <w, x_j> + c_j.
        rank: of w.
    """

    directions: Array
    rank: int

    def bound(self, sparsity: int) -> fmpq:
        """(1 - r_a/q)(1 - r_w/d), r_a = min(H, q): no readout has a smaller share of Var y = 2 as its error there."""
        H, d = self.directions.shape
        return (1 - fmpq(min(H, sparsity), sparsity)) * (1 - fmpq(self.rank, d))


def head_view(layer: AttentionLayer, stream: ResidualStream, query: Array, *, given: bool = False) -> HeadView:
    """The directions w^h, the part of z W^h that meets the tokens, of a layer of merged heads with exact weights.

    For a token 0 that is enc W^(e,x); else it depends on the own token, which is taken as given.

    Args:
        layer: any layer of heads whose values are the tokens.
        stream: its blocks, with the token in the block x.
        query: the embedding z of the position, exact, shape (D_e,).
        given: whether the own token may be any, because what is seen is asked for given this token.

    Raises:
        ValueError: if the own token is not 0, unless it is given.
    """
    if not given and (query[stream["x"]] != 0).any():
        raise ValueError("The view is that of a position whose own token is 0; given=True takes it as given.")
    rows = [product(head.query(query[None]), head.key.weight.T)[0][stream["x"]] for head in layer.heads]
    w = as_exact(np.array(rows))
    return HeadView(w, rank(w))


def _orthogonal_rows(rows: Array) -> list[Array]:
    """An orthogonal basis of the span of the rows, by Gram and Schmidt without roots."""
    basis: list[Array] = []
    for row in rows:
        for other in basis:
            row = row - other * ((row * other).sum() / (other * other).sum())
        if (row != 0).any():
            basis.append(row)
    return basis


def _sizes(q: int, d: int, H: int) -> tuple[int, int, int]:
    return (
        checked_integer("The sparsity q", q, 1),
        checked_integer("The dimension of tokens", d, 1),
        checked_integer("The number of heads", H, 1),
    )


def _pair(weights: ArrayLike, directions: ArrayLike) -> tuple[Array, Array]:
    alpha, w = as_exact(weights), as_exact(directions)
    if alpha.ndim != 2 or w.ndim != 2 or len(alpha) != len(w) or not alpha.size or not w.size:
        raise ValueError(f"Weights (H, q) and directions (H, d) of the heads are needed, not {alpha.shape}, {w.shape}.")
    return alpha, w
