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

Source: qstr, proposition-3 and proposition-21.
"""

from __future__ import annotations

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
]


def printed_few_heads_bound(sparsity: int, dimension: int, heads: int) -> fmpq:
    """1 - H(q+d)/(qd), the document's bound with the constant of its proof; it may be negative."""
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
        ValueError: unless q <= ceil(N/2) - 1, without which the bound is false.
    """
    N = checked_integer("The number of tokens", length, 1)
    if sparsity > (N + 1) // 2 - 1:
        raise ValueError(
            f"The bound needs q <= ceil(N/2) - 1 random tokens, but q = {sparsity} and N = {N}: fewer tokens are "
            "random than the label reads."
        )
    return few_heads_bound(sparsity, dimension, heads) * fmpq(2 * (N // 2 + 1), N)


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
    """What the heads of a layer see from a position whose token is 0.

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


def head_view(layer: AttentionLayer, stream: ResidualStream, query: Array) -> HeadView:
    """The directions w^h = enc W^(e,x) of a layer of merged heads with exact weights.

    Args:
        layer: any layer of heads whose values are the tokens.
        stream: its blocks, with the token in the block x.
        query: the embedding z of the position, exact, shape (D_e,), with the token 0.

    Raises:
        ValueError: if the token is not 0.
    """
    if (query[stream["x"]] != 0).any():
        raise ValueError("The view is that of a position whose own token is 0.")
    rows = [product(head.query(query[None]), head.key.weight.T)[0][stream["x"]] for head in layer.heads]
    w = as_exact(np.array(rows))
    return HeadView(w, rank(w))


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
