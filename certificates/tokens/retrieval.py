"""How far attention is from the tokens to which a position points: the supremum over all prompts, enclosed.

Let every head of a layer compare the code of one index with the code of the position and read nothing else. Then its
scores are numbers S_tj of the index t and the position j, the same for all prompts, and for tokens in a ball of radius
r its x-block is off by at most 2 r (1 - p_t(t)), p_t = softmax(S_t), with equality for x_t = v, x_j = -v, |v| = r. So

    sup over prompts, positions and tokens = 2 r max_t (1 - p_t(t)),

one number for each head, that N^2 exact scores give. For scores alpha (d/q) <omega_t, omega_j> and correlations of at
most c it is at most 2 r (N-1) e^(-m) / (1 + (N-1) e^(-m)), m = alpha (d/q)(1-c), with equality if all of them are c.

Source: qstr, lemma-11; the document's bound is 2 r N e^(-alpha d/(2q)), for c = 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq

from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.tokens.attention import lipschitz_ball
from lemmata.numerics.exact.balls import as_balls, ball_max
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, matrix_product
from lemmata.numerics.tokens.codes import PositionCodes
from lemmata.numerics.tokens.encoding import encoding_scale
from lemmata.numerics.tokens.links import ReluLink

__all__ = ["RetrievalCertificate", "certify_retrieval", "label_bound", "printed_bound", "retrieval_bound"]


@dataclass(frozen=True)
class RetrievalCertificate:
    """The suprema of the distances of the x-blocks of a layer's heads from the tokens that they retrieve.

    Attributes:
        radius: r, of the ball of the tokens.
        errors: one for each head, enclosed.
        worst: for each head an index t at which its supremum is attained: by x_t = v, x_j = -v, |v| = r.
        margins: for each head the least S_tt - S_tj, j != t, exact.
    """

    radius: Any
    errors: tuple[arb, ...]
    worst: tuple[int, ...]
    margins: tuple[fmpq, ...]

    @property
    def error(self) -> arb:
        """The largest of the errors."""
        return ball_max(self.errors)


def retrieval_bound(length: int, radius: Any, margin: Any) -> arb:
    """2 r (N-1) e^(-m) / (1 + (N-1) e^(-m)), which no error exceeds if all scores are m below that of the target.

    Args:
        length: N.
        radius: r.
        margin: m, in any number system.
    """
    others = checked_integer("The number of tokens", length, 1) - 1
    r, m = (as_balls(np.array([x], dtype=object))[0] for x in (radius, margin))
    leak = others * (-m).exp()
    return 2 * r * leak / (1 + leak)


def printed_bound(length: int, dimension: int, sparsity: int, radius: Any, sharpness: Any) -> arb:
    """2 r N e^(-alpha d/(2q)), the bound of the document for correlations of at most 1/2."""
    r, alpha = (as_balls(np.array([x], dtype=object))[0] for x in (radius, sharpness))
    return 2 * r * length * (-alpha * dimension / (2 * sparsity)).exp()


def certify_retrieval(
    layer: AttentionLayer, stream: ResidualStream, codes: PositionCodes, radius: Any
) -> RetrievalCertificate:
    """The suprema for head h and the token t_ih, h = 1, ..., q, over all prompts with tokens in the ball.

    Args:
        layer: q heads with softmax weights and exact numbers, as `retrieval_attention` builds them, or changed.
        stream: its blocks.
        codes: N of them.
        radius: r, positive.

    Raises:
        ValueError: for a head with other scores than those of index h and position, or values that are not the tokens,
            for another number of heads, or a radius that is not positive.
    """
    q = len(stream.sizes) - 2
    if layer.head_count != q:
        raise ValueError(f"There are {q} indices for each position, and {layer.head_count} heads.")
    r = as_balls(np.array([radius], dtype=object))[0]
    if not r > 0:
        raise ValueError(f"The radius must be positive, not {radius}.")
    scale = encoding_scale(stream.sizes["x"], q, "attention") / codes.square
    errors, worst, margins = [], [], []
    for number, head in enumerate(layer.heads, start=1):
        block = _comparison(head, stream, number)
        vectors = as_exact(codes.vectors)
        scores = matrix_product(matrix_product(vectors, block), vectors.T) * (scale * as_exact([head.sharpness])[0])
        shares = [_share_of_others(row, t) for t, row in enumerate(scores.tolist())]
        t = max(range(len(shares)), key=lambda place: shares[place].mid())
        errors.append(2 * r * ball_max(shares))
        worst.append(t)
        margins.append(_least_margin(scores))
    return RetrievalCertificate(radius, tuple(errors), tuple(worst), tuple(margins))


def label_bound(link: ReluLink, certificate: RetrievalCertificate) -> arb:
    """r_a r_w sqrt(sum_h error_h^2), which no label of the link is off by more than, on the certificate's prompts."""
    return lipschitz_ball(link) * sum((error * error for error in certificate.errors), start=arb(0)).sqrt()


def _comparison(head: Head, stream: ResidualStream, number: int) -> Array:
    """The block of W_QK from index `number` to the position, exact; ValueError if the head has anything else."""
    rest = head.query.weight.copy()
    place = stream[f"index_{number}"], stream["position"]
    block = rest[place].copy()
    rest[place] = 0
    identity = np.eye(stream.width, dtype=np.int64)
    plain = head.weigh == "softmax" and not head.causal and head.null is None and head.output is None
    plain = plain and not len(head.relative_keys) and head.temperature_squared == 1
    plain = plain and not any((part.bias != 0).any() for part in (head.query, head.key, head.value))
    same = all((part.weight == identity).all() for part in (head.key, head.value))
    if not plain or not same or (rest != 0).any():
        raise ValueError(
            f"Head {number} must compare index {number} with the position and read nothing else, and have the tokens "
            "themselves as values, for its scores to be the same for all prompts."
        )
    return as_exact(block)


def _share_of_others(scores: list[fmpq], target: int) -> arb:
    """1 - softmax at the target, without the loss of digits of a difference."""
    others = sum((arb(x - scores[target]).exp() for j, x in enumerate(scores) if j != target), start=arb(0))
    return others / (1 + others)


def _least_margin(scores: Array) -> fmpq:
    rows = scores.tolist()
    gaps = [row[t] - x for t, row in enumerate(rows) for j, x in enumerate(row) if j != t]
    return min(gaps, default=fmpq(0))
