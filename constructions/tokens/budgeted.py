"""The document's recurrent network for simple token regression, with its budget of errors and explicit weights.

Three affine maps with ReLUs between them compute chi, close to the update Psi of
`lemmata.constructions.tokens.recurrent`:

    (h, z)  ->  (x, p_1, ..., p_q)  ->  (2 x relu(p_1 - 1/2), ..., 2 x relu(p_q - 1/2)),

inner products p_l up to eps_1 (lemma 23), copies up to eps/4 (lemma 25), both from
`lemmata.constructions.tokens.gates`, with eps_1 = eps/(4 ||A_2^T||_(1,inf) ||W_2^T||_(1,inf)), so that chi is within
eps/2 of Psi. A transition applies

    u -> sigma(u - eps/2) - sigma(-u - eps/2),

which is off by at most eps/2 and exactly 0 where |u| <= eps/2. So it is off by at most eps where t_l = i, and exactly 0
elsewhere: its errors do not add up over the positions. The read-out needs no rectifier.

With transitions of error eps_h = e/(4 sqrt(qd) L) and a read-out of error 2 eps_h, for a link of the Lipschitz constant
L = r_a r_w that is off by e, every output is off by at most 2 e.

Source: qstr, lemma-23, lemma-25, proposition-26, corollary-27 and proposition-28.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.recurrent import RecurrentLayer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.tokens.gates import gated_copy, inner_product, pieces_for
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
from lemmata.constructions.tokens.recurrent import recurrent_network, root_above
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.functions.smooth import positive_rational
from lemmata.numerics.tokens.links import ReluLink

__all__ = [
    "approximate_readout",
    "approximate_transition",
    "budget",
    "budgeted_network",
    "copies_network",
    "link_constant",
    "products_network",
]

SLACK = fmpq(1, 8)
"""How far outside of [-1, 1] the approximate inner products may lie."""


def products_network(dimension: int, sparsity: int, code_dimension: int, error: object) -> FeedForward:
    """The network A_1 sigma(W_1 (h, z) + b_1) = (x, p_1, ..., p_q): x exactly, the inner products up to the error.

    Its 2 d + 4 q d_e K hidden units have rows of 1-norm at most 1.

    Args:
        dimension: d.
        sparsity: q.
        code_dimension: d_e.
        error: eps_1 of every inner product, exact and positive.

    Raises:
        ValueError: for numbers out of range, or too many weights.
    """
    layout = Layout.of(dimension, sparsity, code_dimension, "state")
    inner = inner_product(layout.code_dimension, pieces_for(layout.code_dimension, error))
    first, hidden = first_layer(layout, inner)
    return FeedForward((first, value_map(layout, inner, hidden)[0]), activations=activations(2))


def copies_network(dimension: int, sparsity: int, bound: object, error: object) -> FeedForward:
    """The network A_2 sigma(W_2 (x, p) + b_2), (2 x_j relu(p_l - 1/2))_(l,j) up to the error.

    Args:
        dimension: d.
        sparsity: q.
        bound: B, of |x|_inf; |p_l| is at most 1 + `SLACK`.
        error: eps_2 of every coordinate, exact, positive, at most B.

    Raises:
        ValueError: for numbers out of range, or too many units.
    """
    layout = Layout.of(dimension, sparsity, 1)
    parts = ResidualStream({"x": layout.dimension, "products": layout.sparsity})
    return FeedForward(_copies(layout, parts, gated_copy(bound, error, slack=SLACK)), activations=activations(2))


def _copies(layout: Layout, values: ResidualStream, copy: FeedForward) -> tuple[Affine, Affine]:
    """A gated copy for every slot and coordinate, as the maps W_2 and A_2; the sum of the states, if it is kept."""
    units, last = copy.layers
    kept = "kept" in values.sizes
    second = layout.stream({"copies": layout.slots * units.outputs}, kept)
    blocks: dict[tuple[str, str], Any] = {
        ("x", "copies"): np.kron(copy_map(layout), units.weight[:1]),
        ("products", "copies"): np.kron(spread_map(layout), units.weight[1:]),
    }
    blocks |= carried(layout, values, {"kept+": 1, "kept-": -1} if kept else {})
    bias = second.rows(1, {"copies": np.tile(units.offset, layout.slots)[None]})[0]
    into = ResidualStream({"update": layout.slots})
    eye = as_exact(np.eye(layout.slots, dtype=np.int64))
    ends: dict[tuple[str, str], Any] = {("copies", "update"): np.kron(eye, last.weight)}
    return (
        Affine(as_exact(values.matrix(blocks, second)), as_exact(bias)),
        Affine(as_exact(second.matrix(ends | carried(layout, second, {"update": 1}), into))),
    )


def _layers(layout: Layout, bound: fmpq, error: fmpq) -> list[Affine]:
    """The three affine maps to chi, off by at most error/2 where the codes are codes, plus the sum of the states."""
    copy = gated_copy(bound, error / 4, slack=SLACK)
    units, last = copy.layers
    readout = sum((abs(a) for a in last.weight[:, 0].tolist()), fmpq(0))  # ||A_2^T||_(1,inf)
    row = max(abs(w) + abs(v) for w, v in units.weight.T.tolist())  # ||W_2^T||_(1,inf)
    inner_error = min(error / (4 * readout * row), SLACK)
    inner = inner_product(layout.code_dimension, pieces_for(layout.code_dimension, inner_error))
    first, hidden = first_layer(layout, inner)
    to_values, values = value_map(layout, inner, hidden)
    to_copies, to_update = _copies(layout, values, copy)
    return [first, joined(to_values, to_copies), to_update]


def _served(bound: fmpq, error: fmpq) -> tuple[fmpq, fmpq]:
    """A bound of the tokens >= B and an error <= eps, at most twice that bound: so no size grows as B tends to 0."""
    larger = max(bound, min(fmpq(1), error / 2))
    return larger, min(error, 2 * larger)


def approximate_transition(
    dimension: int, sparsity: int, code_dimension: int, bound: object, error: object, *, rectified: bool = True
) -> FeedForward:
    """The document's network (h, z) -> Psi(x, t, i): off by at most eps where t_l = i, exactly 0 elsewhere.

    Args:
        dimension: d.
        sparsity: q.
        code_dimension: d_e; the codes are any unit vectors of correlations at most 1/2.
        bound: B, of |x|_inf, exact and positive.
        error: eps, exact and positive; the error of a coordinate.
        rectified: whether the last two layers are there that make small updates zero; without them the error is at
            most eps/2 everywhere, and nothing is exactly 0.

    Raises:
        ValueError: for numbers out of range, or more entries than `LARGEST`.
    """
    layout = Layout.of(dimension, sparsity, code_dimension, "state")
    B, eps = positive_rational(bound, "The bound B of the tokens"), positive_rational(error, "The error of the update")
    B, eps = _served(B, eps)
    layers = _layers(layout, B, eps)
    if not rectified:
        return FeedForward(tuple(layers), activations=activations(3))
    into = layout.stream({"update+": layout.slots, "update-": layout.slots}, False)
    eye = np.eye(layout.slots, dtype=np.int64)
    split = Affine(as_exact(np.concatenate([eye, -eye], axis=1)), as_exact([-1] * (2 * layout.slots)) * (eps / 2))
    return FeedForward(
        (*layers[:-1], joined(layers[-1], split), update_minus(layout, into)), activations=activations(4)
    )


def approximate_readout(
    dimension: int, sparsity: int, code_dimension: int, bound: object, error: object, link: ReluLink
) -> FeedForward:
    """The document's read-out (h^fw, h^bw, z) -> g(h^fw + h^bw + chi), chi within eps of Psi(x, t, i), not rectified.

    Args:
        dimension, sparsity, code_dimension, bound: as for `approximate_transition`.
        error: eps, the error of a coordinate of chi.
        link: g, exact.

    Raises:
        ValueError: as `approximate_transition`, or for a link of other tokens.
    """
    layout = Layout.of(dimension, sparsity, code_dimension, "past", "future")
    B, eps = positive_rational(bound, "The bound B of the tokens"), positive_rational(error, "The error of the update")
    return with_link(layout, _layers(layout, *_served(B, 2 * eps)), link)


# ---- the budget


def link_constant(link: ReluLink) -> fmpq:
    """A rational number just above r_a r_w = |a|_2 |(W, b)|_F, which bounds the Lipschitz constant of an exact link.

    Raises:
        ValueError: if it is 0.
    """
    parts = (as_exact(link.output), as_exact(np.concatenate([link.weight.ravel(), link.bias])))
    first, second = (sum((x * x for x in part.tolist()), fmpq(0)) for part in parts)
    if first * second == 0:
        raise ValueError("The link is constant: it needs no network.")
    return root_above(first * second)


def budget(dimension: int, sparsity: int, error: object, lipschitz: object) -> tuple[fmpq, fmpq]:
    """The errors e/(4 sqrt(qd) L) of the transitions and e/(2 sqrt(qd) L) of the read-out, rounded down.

    Args:
        dimension: d.
        sparsity: q.
        error: e = sqrt(eps_2NN), that of the link; exact and positive.
        lipschitz: L = r_a r_w; exact and positive.

    Raises:
        ValueError: for numbers out of range.
    """
    layout = Layout.of(dimension, sparsity, 1)
    e, L = positive_rational(error, "The error of the link"), positive_rational(lipschitz, "The Lipschitz constant")
    unit = e / (4 * root_above(fmpq(layout.slots)) * L)
    return unit, 2 * unit


def budgeted_network(
    dimension: int, sparsity: int, code_dimension: int, radius: object, link: ReluLink, error: object
) -> RecurrentLayer:
    """The network of proposition 28: within 2 e of a function that the link approximates up to e, for |x|_2 <= r_x.

    The states lie in a ball of a radius just above sqrt(q) r_x + e/L, which none leaves.

    Args:
        dimension: d.
        sparsity: q.
        code_dimension: d_e.
        radius: r_x, exact and positive.
        link: the two-layer network, exact.
        error: e = sqrt(eps_2NN), exact and positive.

    Raises:
        ValueError: for numbers out of range, a constant link, or too many weights.
    """
    L = link_constant(link)
    of_transition, of_readout = budget(dimension, sparsity, error, L)
    r = positive_rational(radius, "The bound r_x of the tokens")
    sizes = (dimension, sparsity, code_dimension, r)
    states = root_above(fmpq(sparsity)) * r + positive_rational(error, "The error of the link") / L
    transition = approximate_transition(*sizes, of_transition)
    return recurrent_network(transition, approximate_readout(*sizes, of_readout, link), states)
