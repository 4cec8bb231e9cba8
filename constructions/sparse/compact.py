"""Heads on trainable positions in as few dimensions as lemma A.20 prints: s <= d, where d >= 3 holds E_0, E_1, v_CLS.

The symbols E_0, E_1 and the class token v are the first three basis vectors. A key q that is orthogonal to E_0 - E_1
has the product <q, E_0> = <q, E_1> with every symbol, so that scores do not depend on bits, and a position that is
orthogonal to E_0 - E_1 adds nothing to the values (E_0 - E_1) . x. So positions may lie in the plane of E_0 + E_1 and
v as well as in the span of the d - 3 other basis vectors.

*One head for each position.* The d - 3 other basis vectors, and three unit vectors of that plane:

    k_1 = (E_0 + E_1 + v)/sqrt 3,    k_2 = (E_0 + E_1 - 2 v)/sqrt 6,    k_3 = -k_1.

Their products are <k_1, k_2> = <k_2, k_3> = 0 and <k_1, k_3> = -1. Head h has the key of position h. Beside the score
R of that position, that of a token with the position p is lower by R (1 - <q, p>) >= R, and that of the class token by
R (1 + <q, E_0 - v>) >= R, since <q, E_0 - v> is 0, 3/sqrt 6 and 0 for the three, and 0 for a basis vector.

*One head for all positions.* The position and the key -v on I, so that scores are R on I, 0 elsewhere and -R at the
class token: d = 3 is enough for every s.

With all other scores at least R lower, they have at most the share M/(1 + M) of the attention, M = T e^(-R), and values
lie in [-1, 1]: the error is at most 2 M/(1 + M), which is at most gamma/4 if M <= (gamma/8)/(1 - gamma/8). The largest
multiple R of 2^-n <= gamma/16 below log(8 T/gamma) has M <= gamma/8 e^(gamma/16), and that is enough.

Source: variable-creation, lemma-A.20a and lemma-A.20b.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from flint import arb, fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.smooth import positive_rational

__all__ = ["compact_selection"]

_BITS = 128


def compact_selection(
    length: int, indices: Iterable[int], dimension: int, *, gamma: object = 1, symmetric: bool = False
) -> Transformer:
    """The heads at the class token that read the bits of I, with positions chosen in few dimensions; see the module.

    Args:
        length: T.
        indices: I, s different positions.
        dimension: d >= 3, the width of the tokens; at least s, unless ``symmetric``.
        gamma: four times the accuracy, exact, in (0, 1].
        symmetric: one head that averages I, with the limit (2 r - s)/s at r ones; else s heads, with the limit
            1 - 2 b_i in coordinate i, in the order of the indices.

    Returns:
        The network over bits, exact, of one layer: it gives the first number, or the first s, at the class token. Its
        norms are at most those of lemma A.20: s for the sum of those of the positions, and log(8 T/gamma), 1, 2 and 1
        for W_Q, W_K, W_V and W_C of each head.

    Raises:
        ValueError: for sizes that do not fit, positions that are repeated or out of range, or gamma out of (0, 1].
    """
    T, d = checked_integer("The length T", length, 1), checked_integer("The dimension d", dimension, 3)
    read, step = list(indices), positive_rational(gamma, "The distance gamma of the nodes")
    if not read or len(set(read)) != len(read) or not all(0 <= i < T for i in read):
        raise ValueError(f"The positions must be different numbers from 0 to {T - 1}, at least one, not {read}.")
    if step > 1:
        raise ValueError(f"The distance gamma of the nodes must be at most 1, not {step}.")
    if not symmetric and len(read) > d:
        raise ValueError(f"There are {len(read)} positions to be told apart in {d} dimensions: it takes s <= d.")
    stream = ResidualStream({"symbol": 2, "class": 1} | ({"rest": d - 3} if d > 3 else {}))
    v = stream.rows(1, {"class": [[1]]})
    keys = -v if symmetric else _keys(stream)[: len(read)]
    positions = np.full((T, d), fmpq(0), dtype=object)
    positions[read] = keys
    R = _sharpness(T, step)
    outputs = np.eye(len(keys), dtype=np.int64)
    sign = -1 if symmetric else 1
    heads = [
        Head(
            Affine(stream.readout(1, {"class": np.array([[R]], dtype=object)})),
            Affine(key[:, None]),
            Affine(stream.readout(1, {"symbol": [[sign], [-sign]]})),
            output=Affine(outputs[h : h + 1]),
            causal=False,
        )
        for h, key in enumerate(keys)
    ]
    return Transformer(
        embedding=stream.rows(2, {"symbol": np.eye(2, dtype=np.int64)}),
        prefix=v,
        layers=(AttentionLayer(tuple(heads), "sum", "first"),),
        readout=outputs,
        positions=positions,
        read="first",
        alphabet=(0, 1),
    )


def _keys(stream: ResidualStream) -> Array:
    """The d unit vectors: those of the other dimensions, then k_1, k_2, k_3; exact, shape (d, d)."""
    d = stream.width
    third, sixth = 1 / sqrt_rational(3), 1 / sqrt_rational(6)
    plane = np.array([[third] * 3, [sixth, sixth, -2 * sixth], [-third] * 3], dtype=object)
    keys = np.full((d, d), fmpq(0), dtype=object)
    if d > 3:
        keys[: d - 3, stream["rest"]] = np.eye(d - 3, dtype=np.int64)
    keys[d - 3 :, stream["symbol"]] = plane[:, :2]
    keys[d - 3 :, stream["class"]] = plane[:, 2:]
    return keys


def _sharpness(T: int, gamma: fmpq) -> fmpq:
    """log(8 T/gamma), rounded down to a multiple of 2^-n, the largest up to gamma/16."""
    unit = 2 ** int((16 / gamma).ceil() - 1).bit_length()
    with precision(_BITS + unit.bit_length()):
        ball = (arb(8 * T / gamma).log() * unit).lower().floor()
    return fmpq(int(ball.fmpz()), unit)
