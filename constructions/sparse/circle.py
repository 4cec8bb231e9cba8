"""Every sparse function of bits by one head: positions on a circle, and shares 2^i of the positions that are read.

Position t is the point (cos k theta_t, sin k theta_t), k = 1, ..., s, theta_t = 2 pi t/T, so that linear scores are the
trigonometric polynomials of degree s. With the positions theta_1, ..., theta_s that are read,

    q(theta) = log 2 sum_i i l_i(theta) - K prod_i (1 - cos(theta - theta_i)),
    l_i(theta) = prod_(j != i) (1 - cos(theta - theta_j))/(1 - cos(theta_i - theta_j))

is i log 2 at theta_i, i = 0, ..., s - 1, and at most -S at all other positions; so is the class token, and bits play no
part. Values are 1 and -1 at the symbols 1 and 0, and 0 at the class token. So the head gives nearly

    sum_i 2^i (2 b_i - 1)/(2^s - 1),    or (2 r - s)/s    without the first sum, r the number of ones,

one of n numbers that are 2/(n - 1) apart, one for each row of the table of values, and in its order. The perceptron
interpolates between them: n - 2 ReLUs, whose outputs are added to the stream, and an affine readout.

Source: variable-creation, ext-learning (not in the document): proofs/sparse_learning.md there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from flint import acb, acb_poly, arb, fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.sparse.functions import SparseFunction
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.learning.sparse_sample_sizes import BITS, CircleScores, circle_scores

__all__ = ["circle_nodes", "circle_positions", "compile_on_circle"]


def circle_positions(length: int, harmonics: int) -> Array:
    """(cos k theta_t, sin k theta_t), k = 1, ..., s, for t < T, in balls: shape (T, 2 s), cosines first."""
    with precision(BITS):
        turns = [[fmpq(2 * k * t, length) for k in range(1, harmonics + 1)] for t in range(length)]
        return np.array(
            [[*(arb.cos_pi(arb(x)) for x in row), *(arb.sin_pi(arb(x)) for x in row)] for row in turns], dtype=object
        )


def circle_nodes(function: SparseFunction) -> list[fmpq]:
    """What the head gives in the limit of sharp attention, at each row of the table of values: -1, ..., 1, rising."""
    n = len(function.values)
    return [fmpq(2 * i - (n - 1), n - 1) for i in range(n)]


def compile_on_circle(function: SparseFunction) -> Transformer:
    """The network of one head and n - 2 ReLUs whose sign is the function, with a margin of at least 15/16; in balls.

    Args:
        function: of bits, with values 1 and -1, that reads fewer than T positions.

    Raises:
        ValueError: for other symbols or values, or a function that reads every position.
    """
    if function.alphabet != 2 or not all(value in (1, -1) for value in function.values.tolist()):
        raise ValueError("The networks on a circle are for functions of bits with values 1 and -1.")
    s, T = function.sparsity, function.length
    found = circle_scores(s, T, symmetric=function.symmetric)
    stream = ResidualStream({"symbol": 2, "class": 1, "cosine": s, "sine": s})
    with precision(BITS):
        constant, cosines, sines = _score_polynomial(function, found)
        key = stream.readout(1, {"cosine": cosines[:, None], "sine": sines[:, None]})
        key = as_balls(key)
        key[stream["class"], 0] = -found.gap - constant
        head = Head(
            Affine(stream.readout(1, {"class": [[1]]})),
            Affine(key),
            Affine(stream.readout(1, {"symbol": [[-1], [1]]})),
            output=Affine(np.array([[1, 0]])),
            causal=False,
        )
        places = circle_positions(T, s)
        layers, readout = _perceptron(circle_nodes(function), function.values.tolist())
        return Transformer(
            embedding=stream.rows(2, {"symbol": np.eye(2, dtype=np.int64)}),
            prefix=stream.rows(1, {"class": [[1]]}),
            layers=(AttentionLayer((head,), "sum", "first"), *layers),
            readout=readout,
            positions=stream.rows(T, {"cosine": places[:, :s], "sine": places[:, s:]}),
            read="first",
            alphabet=(0, 1),
        )


def _score_polynomial(function: SparseFunction, found: CircleScores) -> tuple[arb, Array, Array]:
    """The constant of q, and its coefficients at cosines and sines, shape (s,) each."""
    s, T = function.sparsity, function.length
    angles = [arb(fmpq(2 * t, T)) for t in function.indices]  # in units of pi
    total = -found.factor * _one_minus_cosines(angles)
    if not function.symmetric:
        for number, angle in enumerate(angles):
            others = [other for other in angles if other is not angle]
            top = arb(2).log() * (s - 1 - number)
            for other in others:
                top /= 1 - arb.cos_pi(angle - other)
            total += top * _one_minus_cosines(others) * acb_poly([0, 1])
    values = [total[s + k] for k in range(s + 1)]
    return (
        values[0].real,
        np.array([2 * value.real for value in values[1:]], dtype=object),
        np.array([-2 * value.imag for value in values[1:]], dtype=object),
    )


def _one_minus_cosines(angles: Sequence[arb]) -> acb_poly:
    """z^n times prod (1 - cos(theta - a pi)) for the n angles a, as a polynomial in z = exp(i theta)."""
    result = acb_poly([1])
    for angle in angles:
        w = acb(arb.cos_pi(angle), arb.sin_pi(angle)) / 2
        result *= acb_poly([-w, 1, -w.conjugate()])
    return result


def _perceptron(nodes: Sequence[fmpq], values: Sequence[fmpq]) -> tuple[tuple[FeedForward, ...], Affine]:
    """Hidden ReLUs at the inner nodes, written beside the mean and added to the stream, and the readout."""
    slopes = [(b - a) / (y - x) for (x, y), (a, b) in zip(pairwise(nodes), pairwise(values), strict=True)]
    readout = Affine(np.array([[slopes[0]], [fmpq(1)]], dtype=object), as_exact([values[0] - slopes[0] * nodes[0]]))
    turns = [after - before for before, after in pairwise(slopes)]
    if not turns:
        return (), readout
    inner = nodes[1:-1]
    first = Affine(
        np.array([[fmpq(1)] * len(inner), [fmpq(0)] * len(inner)], dtype=object), as_exact([-x for x in inner])
    )
    last = Affine(np.array([[fmpq(0), turn] for turn in turns], dtype=object))
    return (FeedForward((first, last), residual=True, activations=("relu", "identity")),), readout
