"""Products of two numbers of one token, exactly, by ReLU attention and one feed-forward layer.

A head multiplies what the attending token holds with what the attended tokens hold, summed over all tokens. So numbers
that every token holds alike can be multiplied, with each other and with those of the token. Let o_1 <= ... <= o_T be
the numbers u of the T tokens in order. Then the square of u, in the token that has it, is the piecewise-linear function
through the points (o_k, o_k^2),

    u^2 = o_1^2 + (u - o_1)(o_1 + o_2) + sum_{k=2}^{T-1} relu(u - o_k)(o_{k+1} - o_{k-1}),

each term a number of the token times a number that all share, and 4 x y = (x + y)^2 - (x - y)^2. The order is found by

    c_0 = u,      c_m(i) = sum_s relu(c_{m-1}(i) - c_{m-1}(s)),      m = 1, ..., T-1.

All c_m are nondecreasing functions of u, so that in the order of u the sum I_m of c_m over all tokens is
sum_k p_m(k) o_k with p_0 = 1 and p_{m+1}(k) = (k-1) p_m(k) - sum_{j>k} p_m(j), a polynomial in k of degree m+1. T
polynomials of degrees 0, ..., T-1 are independent on the T points 1, ..., T, so that o is a fixed linear function of I.
Ties do no harm.

T - 1 layers of attention for c_1, ..., c_{T-1}, one for o, one feed-forward layer for relu(u - o_k) (if T >= 3), and
one of attention for the squares: T + 2 layers, those of attention with two heads, one for x + y and one for x - y. The
weights depend on T.

Source: deep-icgd, remark-3, corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import ArrayLike

from lemmata.constructions.descent.layers import applied_units
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stored import StoredFeedForward
from lemmata.constructions.networks.stream import Directions, ResidualStream
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, conversion, number_system

Form = Mapping[str, int]
"""A linear form of a token: coefficients of the coordinates with these names."""

_SIGNS = {"+": 1, "-": -1}


@dataclass(frozen=True, eq=False)
class TokenProduct(Translated):
    """The layers that write x y into ``product`` in every token; see `token_product`.

    Attributes:
        tokens: T; on another number of tokens the layers compute something else.
        stream: the named coordinates.
        layers: in order of application.
    """

    translator: ClassVar[str] = "descent.torch"

    tokens: int
    stream: ResidualStream
    layers: tuple[AttentionLayer | StoredFeedForward, ...]

    def encode(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The stream with the numbers x and y of the tokens, of shape (..., T) each.

        Raises:
            ValueError: for other shapes.
        """
        arrays = np.asarray(x), np.asarray(y)
        if arrays[0].shape != arrays[1].shape or not arrays[0].ndim or arrays[0].shape[-1] != self.tokens:
            raise ValueError(f"x and y must both have shape (..., {self.tokens}), not {[a.shape for a in arrays]}.")
        convert = conversion(number_system(arrays))
        z = convert(np.zeros((*arrays[0].shape, self.stream.width), dtype=np.int64))
        for name, array in (("x", convert(arrays[0])), ("y", convert(arrays[1]))):
            z[..., self.stream[name]] = array[..., None]
        z[..., self.stream["1"]] += 1
        return z

    def __call__(self, z: Array) -> Array:
        """The stream after all layers, shape (..., T, width)."""
        for layer in self.layers:
            z = layer(z)
        return z

    def products(self, x: ArrayLike, y: ArrayLike) -> Array:
        """What the layers write into ``product``, shape (..., T), for numbers as `encode` takes them."""
        return self(self.encode(x, y))[..., self.stream["product"]][..., 0]

    def map(self, convert: Callable[[Array], Array]) -> Self:
        """The same layers with all weights converted."""
        return replace(self, layers=tuple(layer.map(convert) for layer in self.layers))


def token_product(tokens: int) -> TokenProduct:
    """The layers that multiply x and y within each of T tokens exactly.

    Raises:
        ValueError: if T is no integer >= 1.
    """
    T = checked_integer("The number of tokens", tokens, 1)
    names = [
        f"{name}{sign}" for sign in _SIGNS for name in (*(f"c{m}" for m in range(1, T)), *_ordered(T), *_hinges(T))
    ]
    stream = ResidualStream(dict.fromkeys(("x", "y", *names, "product", "1"), 1))
    layers: list[AttentionLayer | StoredFeedForward] = [_compare(stream, m, T) for m in range(1, T)]
    layers.append(_order(stream, T))
    if T > 2:
        layers.append(_hinge_layer(stream, T))
    layers.append(_multiply(stream, T))
    return TokenProduct(T, stream, tuple(layers))


def order_weights(tokens: int) -> Array:
    """P of shape (T, T) with I_m = sum_k P[m, k] o_k for the sums I_m of c_m over all tokens."""
    rows = [[fmpq(1)] * tokens]
    for _ in range(tokens - 1):
        p = rows[-1]
        rows.append([k * p[k] - sum(p[k + 1 :], fmpq(0)) for k in range(tokens)])
    return as_exact(rows)


def _ordered(T: int) -> list[str]:
    return [f"o{k}" for k in range(1, T + 1)]


def _hinges(T: int) -> list[str]:
    return [f"h{k}" for k in range(2, T)]


def _number(sign: str) -> dict[str, int]:
    """u = x + y or x - y."""
    return {"x": 1, "y": _SIGNS[sign]}


def _head(
    stream: ResidualStream, query: Sequence[Form], key: Sequence[Form], value: Mapping[tuple[str, str], fmpq]
) -> Head:
    """The head with the score sum_a query_a(z_i) key_a(z_s), which adds value times a source to a target."""

    def matrix(forms: Sequence[Form]) -> Array:
        W = as_exact(np.zeros((stream.width, len(forms)), dtype=np.int64))
        for a, form in enumerate(forms):
            for name, coefficient in form.items():
                W[stream[name], a] = fmpq(coefficient)
        return W

    V = stream.matrix({place: as_exact([[number]]) for place, number in value.items()})
    return Head(Affine(matrix(query)), Affine(matrix(key)), Affine(as_exact(V)), weigh="relu", causal=False)


def _compare(stream: ResidualStream, m: int, T: int) -> AttentionLayer:
    """c_m(i) = sum_s relu(c_{m-1}(i) - c_{m-1}(s)); heads average, hence the factor T."""
    heads = []
    for sign in _SIGNS:
        before = _number(sign) if m == 1 else {f"c{m - 1}{sign}": 1}
        negative = {name: -coefficient for name, coefficient in before.items()}
        heads.append(_head(stream, [before, {"1": 1}], [{"1": 1}, negative], {("1", f"c{m}{sign}"): fmpq(T)}))
    return AttentionLayer(tuple(heads))


def _order(stream: ResidualStream, T: int) -> AttentionLayer:
    """o = P^-1 I, in every token: the score is 1 everywhere."""
    inverse = fmpq_mat(T, T, order_weights(T).ravel().tolist()).inv()
    heads = []
    for sign in _SIGNS:
        value = {}
        for k, target in enumerate(_ordered(T)):
            value |= {(name, target + sign): T * c * inverse[k, 0] for name, c in _number(sign).items()}
            value |= {(f"c{m}{sign}", target + sign): T * inverse[k, m] for m in range(1, T)}
        heads.append(_head(stream, [{"1": 1}], [{"1": 1}], value))
    return AttentionLayer(tuple(heads))


def _hinge_layer(stream: ResidualStream, T: int) -> StoredFeedForward:
    """h_k = relu(u - o_k), k = 2, ..., T-1."""
    layers = []
    for sign, factor in _SIGNS.items():
        o, h = (stream.directions(*(f"{a}{k}{sign}" for k in range(2, T))) for a in ("o", "h"))
        sources: list[Directions] = [stream.directions("x"), stream.directions("y"), o]
        layers.append(applied_units(as_exact([1]), as_exact([[1, factor, -1]]), sources, h))
    return layers[0].beside(layers[1])


def _multiply(stream: ResidualStream, T: int) -> AttentionLayer:
    """(u^2 of x + y) / 4 - (u^2 of x - y) / 4: the score is u^2 >= 0, the same for every attended token."""
    heads = []
    for sign, factor in _SIGNS.items():
        o = [name + sign for name in _ordered(T)]
        query: list[Form] = [{o[0]: 1}]
        key: list[Form] = [{o[0]: 1}]
        if T > 1:
            query.append(_number(sign) | {o[0]: -1})
            key.append({o[0]: 1, o[1]: 1})
        for k, name in enumerate(_hinges(T), start=1):  # o[k] is o_{k+1}
            query.append({name + sign: 1})
            key.append({o[k + 1]: 1, o[k - 1]: -1})
        heads.append(_head(stream, query, key, {("1", "product"): fmpq(factor, 4)}))
    return AttentionLayer(tuple(heads))
