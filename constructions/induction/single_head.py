"""Two layers of one head each that predict two-state 3-grams better than bigrams do (dissertation, section 8.3.3).

With signs s = 1, -1 for the two symbols, the head of layer 1 writes m_j = w s_(j-1) + (1 - w) s_(j-2), w = 1/(1 + e^-2)
= 0.88, up to e^-30 for each token: it attends to both tokens before, mostly to the nearer one. In layer 2 the token p
scores the token j by (alpha s_p + beta m_p) m_j. Where s_p = s_(p-1), the factor is about alpha + beta w: so large that
only the tokens j with s_(j-1) = s_p and s_(j-2) = s_(p-1) count, as for trigrams. Where they differ it is about
alpha - beta w, just enough to prefer s_(j-1) = s_p, as for bigrams. The logits are a multiple of the averages, in
place of their logarithms.
"""

from __future__ import annotations

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.rationals import RationalLike, as_fmpq

__all__ = ["single_trigram_head"]

_FAR = 30
_ALPHA, _SLOPE = fmpq(11, 2), fmpq(5, 2)


def single_trigram_head(
    alpha: RationalLike = _ALPHA, beta: RationalLike = 5, slope: RationalLike = _SLOPE
) -> Transformer:
    """The transformer over the symbols 1, 2, with exact weights of width 6; its outputs are logits.

    Args:
        alpha: what the query takes from the token.
        beta: what it takes from the two tokens before.
        slope: the logits of a token are this multiple of the frequencies that it attends to.

    Raises:
        ValueError: for an argument that is not rational.
    """
    from_token, from_before, factor = (
        _rational(name, given) for name, given in (("alpha", alpha), ("beta", beta), ("slope", slope))
    )
    stream = ResidualStream({"token": 2, "before": 2, "answer": 2})
    eye, sign = np.eye(2, dtype=int).astype(object), np.array([[1, 0], [-1, 0]], dtype=object)
    scores = (0, _FAR + 2, _FAR)  # of the distances 0, 1, 2; <onehot(x_i), score 1> = score
    look_back = Head(
        query=Affine(stream.matrix({("token", "token"): eye})),
        key=Affine(stream.matrix({})),
        value=Affine(stream.matrix({("token", "before"): eye})),
        relative_keys=stream.rows(3, {"token": np.array([[score, score] for score in scores], dtype=object)}),
    )
    match = Head(
        query=Affine(stream.matrix({("token", "token"): sign * from_token, ("before", "token"): sign * from_before})),
        key=Affine(stream.matrix({("before", "token"): sign})),
        value=Affine(stream.matrix({("token", "answer"): eye})),
    )
    return Transformer(
        embedding=stream.rows(2, {"token": eye}),
        prefix=stream.rows(0, {}),
        layers=(AttentionLayer((look_back,)), AttentionLayer((match,))),
        readout=stream.readout(2, {"answer": eye * factor}),
    )


def _rational(name: str, given: RationalLike) -> fmpq:
    value = as_fmpq(given)
    if value is None:
        raise ValueError(f"{name} must be a rational number, not {given!r}.")
    return value
