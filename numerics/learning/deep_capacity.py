"""How many Transformers of several layers there are up to eps on m contexts: covering numbers from norms.

The layers are g -> P(sigma(P(RowSoftmax(g W_Q (g W_K)^T) g W_V)) W_C), P the projection of every token on the unit
ball, and a vector w reads one token (the class token, which counts among the T tokens). If the weights of layer i
change, its outputs move by

    b_i = x_C + c L C V r_i x_QK + L C x_V,        r_1 = B_X and r_i = 1 for i > 1,

for changes x_C, x_QK, x_V of the images of its inputs under the three matrices, and later layers amplify that by at
most

    a_j = L C_j V_j (1 + 2 c Q_j),        so by alpha_i = a_(i+1) ... a_D in all,

with spectral norms V, C, Q of W_V, W_C, W_K W_Q^T and c = 1 (2 in the document, which prints the product over the
layers *before* i); Q + sqrt(1 + Q^2) may stand for 1 + 2 c Q (`lemmata.numerics.learning.attention_lipschitz`). Covers
of each matrix on the outputs of the layers before, lemma A.8, and the read-out give

    log N_inf <= (B_w/eps)^2 ((r_w^2 log(2 m + 1))^(1/3) + sum_i alpha_i^(2/3) s_i)^3,
    s_i = ((2 L C_1)^2 l)^(1/3) + ((2 c L C V Q_1 r_i^3)^2 l_Q)^(1/3) + ((2 L C V_1 r_i)^2 l)^(1/3)

with V_1, C_1 = sums of column norms, Q_1 = ||W_K W_Q^T||_(2,1) or its Frobenius norm, l_Q = log(2 m T^2 + 1) (every
query with every key), l = `map_factor`, r_w = min(1, L C, L C_1) of the last layer, a bound on what w reads. The 2s
make the covers respect the other norms.

Tokens of later layers are near to one another, and softmax moves little where they are. If no two tokens of norm at
most 1 are farther apart than delta, and beta = Q delta^2/4, then behind the layer they are at most
L C V delta tanh(beta) apart, and its Lipschitz constant is L C V (beta + sqrt(1 + Q beta)). From delta = 2 on, in
layer 2, this makes every alpha_i less than 5.51 if all spectral norms and L are at most 1, for any number of layers.

Source: variable-creation, theorem-4.11, remark-4.11b, theorem-A.17.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from flint import arb

from lemmata.numerics.exact.balls import ball_max, ball_min, checked_bound
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.learning.attention_lipschitz import input_constants
from lemmata.numerics.learning.budgets import Capacity, CoverPart
from lemmata.numerics.learning.linear_capacity import map_factor, vector_factor

__all__ = [
    "LayerNorms",
    "amplifications",
    "contracted_amplifications",
    "deep_capacity",
    "layer_amplification",
    "printed_deep_capacity",
    "printed_short_deep_capacity",
    "short_deep_capacity",
]

SHORT_DEEP_CONSTANT = 800
"""A constant with which the corrected theorem 4.11 holds, with the factor depth^3."""


@dataclass(frozen=True)
class LayerNorms:
    """What bounds the weights of one layer.

    Attributes:
        value_columns: V_1, at least the sum of the norms of the columns of W_V.
        value: V, at least the spectral norm of W_V.
        score_rows: Q_1, at least ||W_K W_Q^T||_(2,1) or at least its Frobenius norm.
        score: Q, at least the spectral norm of W_K W_Q^T.
        output_columns: C_1, at least the sum of the norms of the columns of W_C.
        output: C, at least the spectral norm of W_C.

    Raises:
        ValueError: for numbers that are negative or not finite.
    """

    value_columns: Any
    value: Any
    score_rows: Any
    score: Any
    output_columns: Any
    output: Any

    def __post_init__(self) -> None:
        for field in fields(self):
            shown = f"The bound {field.name} of a layer"
            object.__setattr__(self, field.name, checked_bound(shown, getattr(self, field.name)))


def layer_amplification(norms: LayerNorms, *, lipschitz: object = 1, softmax: object = 1, sharp: bool = False) -> arb:
    """a = L C V (1 + 2 c Q), a Lipschitz constant of a layer on tokens of norm at most 1; 1 + 4 Q in the document.

    Args:
        norms: of the layer.
        lipschitz: L, of the activation.
        softmax: c; 1 is enough, the document has 2.
        sharp: whether to take Q + sqrt(1 + Q^2), the best constant of the attention, in place of 1 + 2 c Q.

    Raises:
        ValueError: for Lipschitz constants that are negative or not finite.
    """
    L = checked_bound("The Lipschitz constant of the activation", lipschitz)
    c = checked_bound("The Lipschitz constant of the softmax", softmax, positive=True)
    if sharp:
        return L * norms.output * input_constants(norms.value, norms.score).sharp
    return L * norms.output * norms.value * (1 + 2 * c * norms.score)


def amplifications(
    layers: Sequence[LayerNorms],
    *,
    lipschitz: object = 1,
    softmax: object = 1,
    sharp: bool = False,
    order: Literal["later", "earlier"] = "later",
) -> list[arb]:
    """alpha_i, the product of the amplifications of the later layers, for i = 1, ..., D.

    Args:
        layers: at least one.
        lipschitz: L, of the activation.
        softmax: c; 1 is enough, the document has 2.
        sharp: as for `layer_amplification`.
        order: "earlier" for the product over j < i, as it is printed.

    Raises:
        ValueError: for no layer, another order, or as `layer_amplification`.
    """
    if not len(layers) or order not in ("later", "earlier"):
        raise ValueError(f"There must be at least one layer, and the order later or earlier, not {order!r}.")
    factors = [layer_amplification(one, lipschitz=lipschitz, softmax=softmax, sharp=sharp) for one in layers]
    result, product = [], arb(1)
    for factor in factors if order == "earlier" else reversed(factors):
        result.append(product)
        product *= factor
    return result if order == "earlier" else result[::-1]


def contracted_amplifications(layers: Sequence[LayerNorms], *, lipschitz: object = 1) -> list[arb]:
    """alpha_i, i = 1, ..., D, with the slopes of layers whose tokens have come near to one another.

    Layer j > 1 has tokens at most delta_j apart, delta_2 = 2 and delta_(j+1) = min(2, L C V delta_j tanh(beta_j)), and
    the slope L C V (beta_j + sqrt(1 + Q beta_j)), with beta_j = Q delta_j^2/4. If L and all spectral norms are at most
    1, no alpha_i is more than 5.51.

    Args:
        layers: at least one.
        lipschitz: L, of the activation.

    Raises:
        ValueError: for no layer, or a Lipschitz constant that is negative or not finite.

    Source: variable-creation, remark-4.11b.
    """
    if not len(layers):
        raise ValueError("There must be at least one layer.")
    L, distance = checked_bound("The Lipschitz constant of the activation", lipschitz), arb(2)
    slopes = []
    for one in layers[1:]:
        scale, beta = L * one.output * one.value, one.score * distance * distance / 4
        slopes.append(scale * (beta + (1 + one.score * beta).sqrt()))
        distance = ball_min([arb(2), scale * distance * beta.tanh()])
    result = [arb(1)]
    for slope in reversed(slopes):
        result.append(result[-1] * slope)
    return result[::-1]


def deep_capacity(
    layers: Sequence[LayerNorms],
    *,
    readout: object,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    key_width: int | None = None,
    lipschitz: object = 1,
    softmax: object = 1,
    sharp: bool = False,
    contracted: bool = False,
) -> Capacity:
    """The bound C/eps^2 on log N_inf of Transformers of several layers; see the docstring of this module.

    Args:
        layers: the norms of each layer, at least one.
        readout: B_w >= 0.
        tokens: B_X >= 0, the largest norm of an input token.
        samples: m >= 1 contexts.
        length: T >= 1 tokens of a context, the class token among them.
        width: d >= 1, of the tokens.
        key_width: k >= 1, the columns of W_V; d if None.
        lipschitz: L >= 0, of the activation, which is 0 at 0.
        softmax: c; 1 is enough, the document has 2.
        sharp: whether errors are carried through layers by the best constants, as in `layer_amplification`.
        contracted: whether they are carried as in `contracted_amplifications`, which is sharper still.

    Raises:
        ValueError: for numbers that are negative or not finite, counts below 1, or no layer.

    Source: variable-creation, theorem-A.17, corrected and with constants.
    """
    B_w = checked_bound("The bound B_w on the read-out", readout)
    B_X = checked_bound("The bound B_X on the norms of tokens", tokens)
    L = checked_bound("The Lipschitz constant of the activation", lipschitz)
    m, T = checked_integer("The number of samples", samples, 1), checked_integer("The length", length, 1)
    alphas = (
        contracted_amplifications(layers, lipschitz=L)
        if contracted
        else amplifications(layers, lipschitz=L, softmax=softmax, sharp=sharp)
    )
    d = checked_integer("The width", width, 1)
    maps = map_factor(d, m * T), map_factor(d if key_width is None else key_width, m * T)
    last = layers[-1]
    seen = ball_min([arb(1), L * last.output, L * last.output_columns])
    parts = {"read-out": CoverPart((B_w * seen) ** 2 * vector_factor(m), arb(1))}
    c = checked_bound("The Lipschitz constant of the softmax", softmax, positive=True)
    for number, (one, alpha) in enumerate(zip(layers, alphas, strict=True), start=1):
        r, front = B_X if number == 1 else arb(1), B_w * alpha
        parts |= {
            f"layer {number}: output": CoverPart((2 * one.output_columns * L) ** 2 * maps[0], front),
            f"layer {number}: scores": CoverPart(
                (2 * one.score_rows * r**2) ** 2 * vector_factor(m * T**2), front * c * L * one.output * one.value * r
            ),
            f"layer {number}: values": CoverPart((2 * one.value_columns * r) ** 2 * maps[1], front * L * one.output),
        }
    return Capacity(parts)


def printed_deep_capacity(
    layers: Sequence[LayerNorms],
    *,
    readout: object,
    samples: int,
    length: int,
    width: int,
    key_width: int | None = None,
    lipschitz: object = 1,
    constant: object = 1,
) -> Capacity:
    """Theorem A.17 as it is printed, with the constant that it leaves open as an argument: false in several ways.

    constant log(d m T)/eps^2 (B_w^(2/3) + sum_i alpha_i^(2/3) s_i)^3,
    s_i = C_1^(2/3) + (2 d L C V Q_1)^(2/3) + (k L C V_1)^(2/3),

    with c = 2 and alpha_i over the layers before. Arguments and errors as `deep_capacity`; no B_X is printed.
    """
    B_w = checked_bound("The bound B_w on the read-out", readout)
    L = checked_bound("The Lipschitz constant of the activation", lipschitz)
    m, T = checked_integer("The number of samples", samples, 1), checked_integer("The length", length, 1)
    d = checked_integer("The width", width, 1)
    k = d if key_width is None else checked_integer("The key width", key_width, 1)
    factor = checked_bound("The constant", constant, positive=True) * arb(d * m * T).log()
    parts = {"read-out": CoverPart(factor * B_w**2, arb(1))}
    alphas = amplifications(layers, lipschitz=L, softmax=2, order="earlier")
    for number, (one, alpha) in enumerate(zip(layers, alphas, strict=True), start=1):
        bases = {
            "output": one.output_columns,
            "scores": 2 * d * L * one.output * one.value * one.score_rows,
            "values": k * L * one.output * one.value_columns,
        }
        parts |= {f"layer {number}: {name}": CoverPart(factor * base**2, alpha) for name, base in bases.items()}
    return Capacity(parts)


@dataclass(frozen=True)
class _Common:
    """The numbers of theorem 4.11, where all layers have the same bounds, checked."""

    depth: int
    spectral: arb
    columns: arb
    readout: arb
    tokens: arb
    lipschitz: arb

    @classmethod
    def of(
        cls, depth: int, spectral: object, columns: object, readout: object, tokens: object, lipschitz: object
    ) -> _Common:
        return cls(
            checked_integer("The depth", depth, 1),
            checked_bound("The bound C_2 on the spectral norms", spectral),
            checked_bound("The bound C_21 on the (2,1) norms", columns),
            checked_bound("The bound B_w on the read-out", readout),
            checked_bound("The bound B_X on the norms of tokens", tokens),
            checked_bound("The Lipschitz constant of the activation", lipschitz),
        )


def short_deep_capacity(
    depth: int,
    *,
    spectral: object,
    columns: object,
    readout: object,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
) -> Capacity:
    """800 D^3 ((1 + L)(1 + C_2)^4)^(2 D) max(1, B_X)^6 B_w^2 C_21^2 log((d + 1)(2 m T^2 + 1))/eps^2.

    Theorem 4.11 with the powers of `deep_capacity`, which it bounds where all layers have the same bounds and keys have
    at most the width of tokens.

    Args:
        depth: D >= 1 layers.
        spectral: C_2 >= 0, at least all spectral norms.
        columns: C_21 >= 0, at least all (2,1) norms, that of W_K W_Q^T among them.
        readout, tokens, samples, length, width, lipschitz: as for `deep_capacity`, with its errors.
    """
    at = _Common.of(depth, spectral, columns, readout, tokens, lipschitz)
    m, T = checked_integer("The number of samples", samples, 1), checked_integer("The length", length, 1)
    d = checked_integer("The width", width, 1)
    prefactor = SHORT_DEEP_CONSTANT * at.depth**3 * ((1 + at.lipschitz) * (1 + at.spectral) ** 4) ** (2 * at.depth)
    size = (arb(d + 1) * (2 * m * T**2 + 1)).log()
    powers = ball_max([arb(1), at.tokens]) ** 6 * (at.readout * at.columns) ** 2
    return Capacity({"all": CoverPart(prefactor * powers * size, arb(1))})


def printed_short_deep_capacity(
    depth: int,
    *,
    spectral: object,
    columns: object,
    readout: object,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
    exponent: int = 2,
    constant: object = 1,
) -> Capacity:
    """constant (C_2 L)^(exponent D) B_X^2 B_w^2 C_21^2 log(d m T)/eps^2, as theorem 4.11 is printed: false.

    Args:
        depth, spectral, columns, readout, tokens, samples, length, width, lipschitz: as for `short_deep_capacity`.
        exponent: the constant in the exponent O(L), an integer >= 1.
        constant: the other one that is left open.

    Raises:
        ValueError: as `short_deep_capacity`.
    """
    at = _Common.of(depth, spectral, columns, readout, tokens, lipschitz)
    size = checked_integer("The number of samples", samples, 1) * checked_integer("The length", length, 1)
    size *= checked_integer("The width", width, 1)
    power = checked_integer("The constant in the exponent", exponent, 1) * at.depth
    prefactor = checked_bound("The constant", constant, positive=True) * (at.spectral * at.lipschitz) ** power
    cost = prefactor * (at.tokens * at.readout * at.columns) ** 2 * arb(size).log()
    return Capacity({"all": CoverPart(cost, arb(1))})
