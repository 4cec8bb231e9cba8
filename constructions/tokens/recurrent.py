"""Recurrent networks that solve simple token regression without any error.

The update that a state needs is, with the codes omega of position i and of the indices t_1, ..., t_q,

    Psi(x, t, i) = (x 1{t_1 = i}, ..., x 1{t_q = i}),

since the sum of the updates of the strict past holds x_(t_l) in slot l as soon as t_l has been passed, and 0 before.
Both directions and the position itself together hold all q tokens at every position. The transition has four layers:

    sigma(+-x), units of <omega_i, omega_(t_l)>   ->   sigma(+-x), gates   ->   copies of x behind the gates   ->   Psi

The gate s_l is 1 where the inner product is 1 and 0 where it is at most 1/2, and

    x s = sigma(x - B (1 - s)) - sigma(-x - B (1 - s))        for s in {0, 1}, |x| <= B.

- Sign codes: s = sigma(2 <omega, omega'> - 1) with the exact inner product.
- All unit codes: s = 4 sigma(p - 5/8) - 4 sigma(p - 7/8), where p is within 1/8 of the inner product.

The read-out adds what both states and the position itself hold, and applies the link. The transitions do not read the
state. `lemmata.constructions.tokens.budgeted` has the document's own network, with its errors.

Source: qstr, construction-psi, construction-exact-rnn, corollary-27 and proposition-28.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import BallProjection
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.constructions.tokens.gates import inner_product, pieces_for, sign_inner_product
from lemmata.constructions.tokens.layout import (
    Layout,
    activations,
    carried,
    copy_map,
    first_layer,
    joined,
    spread_map,
    update_minus,
    value_map,
    with_link,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array, matrix_product, number_system
from lemmata.numerics.functions.activations import relu
from lemmata.numerics.functions.smooth import positive_rational
from lemmata.numerics.tokens.links import ReluLink

__all__ = [
    "Codes",
    "exact_network",
    "exact_readout",
    "exact_transition",
    "gated_update",
    "recurrent_network",
    "root_above",
]

Codes = Literal["sign", "unit"]
"""Sign codes (+-1/sqrt(d_e))^(d_e) with a square d_e, or any unit vectors."""


def _gates(layout: Layout, codes: Codes) -> tuple[FeedForward, FeedForward]:
    """The network of the inner products, and that of the gates: q numbers p to q numbers s."""
    q = layout.sparsity
    eye = as_exact(np.eye(q, dtype=np.int64))
    if codes == "sign":
        bend = Affine(2 * eye, as_exact([-1] * q))
        return sign_inner_product(layout.code_dimension), FeedForward((bend, Affine(eye)), activations=activations(2))
    if codes not in get_args(Codes):
        raise ValueError(f"The codes are of one kind of {', '.join(get_args(Codes))}, not {codes!r}.")
    pieces = pieces_for(layout.code_dimension, fmpq(1, 8))
    bend = Affine(np.concatenate([eye, eye], axis=1), as_exact([fmpq(-5, 8)] * q + [fmpq(-7, 8)] * q))
    steps = np.concatenate([4 * eye, -4 * eye])
    return inner_product(layout.code_dimension, pieces), FeedForward((bend, Affine(steps)), activations=activations(2))


def _exact_layers(layout: Layout, bound: fmpq, codes: Codes) -> list[Affine]:
    """The four affine maps to the update, plus the sum of the states for a read-out."""
    inner, gate = _gates(layout, codes)
    first, hidden = first_layer(layout, inner)
    to_values, values = value_map(layout, inner, hidden)
    eye = np.eye(layout.dimension, dtype=np.int64)
    bend, steps = gate.layers
    kept = "kept" in values.sizes
    second = layout.stream({"x+": layout.dimension, "x-": layout.dimension, "gates": bend.outputs}, kept)
    blocks: dict[tuple[str, str], Any] = {("x", "x+"): eye, ("x", "x-"): -eye, ("products", "gates"): bend.weight}
    blocks |= carried(layout, values, {"kept+": 1, "kept-": -1} if kept else {})
    bias = second.rows(1, {"gates": bend.offset[None]})[0]
    to_second = Affine(as_exact(values.matrix(blocks, second)), as_exact(bias))
    third = layout.stream({"update+": layout.slots, "update-": layout.slots}, kept)
    opening = matrix_product(as_exact(steps.weight), as_exact(spread_map(layout))) * bound
    blocks = {("gates", "update+"): opening, ("gates", "update-"): opening}
    for source, sign in (("x+", 1), ("x-", -1)):
        blocks |= {(source, f"update{mark}"): sign * way * copy_map(layout) for mark, way in (("+", 1), ("-", -1))}
    blocks |= carried(layout, second, {"kept+": 1, "kept-": -1} if kept else {})
    closed = as_exact([-bound] * layout.slots)[None]
    bias = third.rows(1, {"update+": closed, "update-": closed})[0]
    to_third = Affine(as_exact(second.matrix(blocks, third)), as_exact(bias))
    return [first, joined(to_values, to_second), to_third, update_minus(layout, third)]


def exact_transition(
    dimension: int, sparsity: int, code_dimension: int, bound: object, codes: Codes = "sign"
) -> FeedForward:
    """The network (h, z) -> Psi(x, t, i), exact for all tokens with |x|_inf <= B and codes of correlations <= 1/2.

    For sign codes its widths are 2 d + 2 q d_e, 2 d + q, 2 q d and q d. The columns of h are zero.

    Args:
        dimension: d.
        sparsity: q.
        code_dimension: d_e; a square for sign codes.
        bound: B, exact and positive.
        codes: "sign", or "unit" for any unit vectors.

    Raises:
        ValueError: for numbers out of range, another kind of codes, or more entries than `LARGEST`.
    """
    layout = Layout.of(dimension, sparsity, code_dimension, "state")
    layers = _exact_layers(layout, positive_rational(bound, "The bound B of the tokens"), codes)
    return FeedForward(tuple(layers), activations=activations(4))


def exact_readout(
    dimension: int, sparsity: int, code_dimension: int, bound: object, link: ReluLink, codes: Codes = "sign"
) -> FeedForward:
    """The network (h^fw, h^bw, z) -> g(h^fw + h^bw + Psi(x, t, i)) with five layers, exact as `exact_transition`.

    Args:
        dimension, sparsity, code_dimension, bound, codes: as for `exact_transition`.
        link: g, exact.

    Raises:
        ValueError: as `exact_transition`, or for a link of other tokens.
    """
    layout = Layout.of(dimension, sparsity, code_dimension, "past", "future")
    layers = _exact_layers(layout, positive_rational(bound, "The bound B of the tokens"), codes)
    return with_link(layout, layers, link)


def recurrent_network(transition: FeedForward, readout: FeedForward, radius: object) -> RecurrentLayer:
    """The two-directional network h_(i+1) = P_r(h_i + f(h_i, z_i)), yhat_i = f_y(h_i^fw, h_i^bw, z_i), h before z_i.

    Args:
        transition: f, for both directions.
        readout: f_y.
        radius: r_h, exact and positive; sqrt(q) (r_x + sqrt(d) eps) and more leave every state as it is.

    Raises:
        ValueError: for a radius that is not exact and positive, or widths that do not fit.
    """
    bound = BallProjection(transition.outputs, positive_rational(radius, "The radius r_h of the states"))
    cell = RecurrentCell(transition, residual=True, bound=bound)
    return RecurrentLayer(cell, cell, "before", True, readout)


def exact_network(
    dimension: int, sparsity: int, code_dimension: int, bound: object, link: ReluLink, codes: Codes = "sign"
) -> RecurrentLayer:
    """The network whose output at every position is g(x_(t_1), ..., x_(t_q)), exactly, for every simple prompt.

    The states are kept in a ball of a radius of at least sqrt(q d) B, which none leaves.

    Args:
        dimension: d.
        sparsity: q.
        code_dimension: d_e; a square for sign codes.
        bound: B, of |x|_inf, exact and positive.
        link: g, exact.
        codes: "sign", or "unit" for any unit vectors.

    Raises:
        ValueError: as `exact_transition` and `exact_readout`.
    """
    sizes = (dimension, sparsity, code_dimension, bound)
    transition = exact_transition(*sizes, codes)
    radius = root_above(fmpq(transition.outputs)) * positive_rational(bound, "The bound B of the tokens")
    return recurrent_network(transition, exact_readout(*sizes, link, codes), radius)


def gated_update(x: Array, products: Array) -> Array:
    """(2 x relu(p_1 - 1/2), ..., 2 x relu(p_q - 1/2)), shape (..., q, d): Psi, if p_l is 1 or at most 1/2.

    Args:
        x: tokens, shape (..., d).
        products: p_l, the inner products <omega_i, omega_(t_l)>, shape (..., q).
    """
    half = fmpq(1, 2) if number_system([products]) == "exact" else 0.5
    return 2 * x[..., None, :] * relu(products - half)[..., None]


def root_above(square: fmpq, bits: int = 10) -> fmpq:
    """The least multiple of 2^-bits that is at least the root of a rational number.

    Raises:
        ValueError: for a negative number.
    """
    if square < 0:
        raise ValueError(f"A root is that of a number >= 0, not of {square}.")
    scaled = int((square * 4**bits).ceil())
    return fmpq(math.isqrt(scaled - 1) + 1 if scaled else 0, 2**bits)
