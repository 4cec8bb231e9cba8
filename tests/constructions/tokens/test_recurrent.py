"""The recurrent networks for token regression outside of the ledger: conversions, roots, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

import lemmata.constructions.tokens.gates as gates
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import BallProjection
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer, elman_cell
from lemmata.constructions.tokens.budgeted import (
    approximate_readout,
    approximate_transition,
    budget,
    budgeted_network,
    copies_network,
    link_constant,
    products_network,
)
from lemmata.constructions.tokens.gates import gated_copy, inner_product, pieces_for, sign_inner_product
from lemmata.constructions.tokens.recurrent import (
    exact_network,
    exact_readout,
    exact_transition,
    gated_update,
    recurrent_network,
    root_above,
)
from lemmata.constructions.tokens.recurrent_class import state_lipschitz, with_state_lipschitz, with_unit_radius
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.tokens.codes import field_codes, orthonormal_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.links import ReluLink, linear_link
from lemmata.numerics.tokens.prompts import draw_prompts

LINK = linear_link([[1, 2]])


def test_a_user_gets_labels_from_prompts() -> None:
    """In all number systems, from codes over a finite field and from general ones."""
    codes = field_codes(10)
    prompts = draw_prompts(3, 10, 2, 1, law="rational", simple=True, seed=4)
    labels = prompts.labels(LINK)
    network = exact_network(2, 1, codes.dimension, 2, LINK)
    assert (network(encode(prompts, codes, "recurrent"))[..., 0] == labels).all()
    balls = network.to_balls()(encode(prompts, codes, "recurrent", "ball"))[..., 0]
    assert all(value in ball for ball, value in zip(balls.ravel(), labels.ravel(), strict=True))
    units = exact_network(2, 1, 10, 2, LINK, "unit").to_float()
    found = units(encode(prompts, orthonormal_codes(10), "recurrent", "float"))[..., 0]
    assert np.abs(found - labels.astype(float)).max() < 1e-12


def test_exact_zeros_survive_in_float64() -> None:
    """The gate of general codes and the rectifier have room for rounding."""
    rng = np.random.default_rng(0)
    codes = field_codes(16).vectors / 4.0
    turned = codes @ np.linalg.qr(rng.standard_normal((16, 16)))[0]
    x = rng.uniform(-1, 1, (16, 1))
    for transition, error in (
        (exact_transition(1, 1, 16, 1, "unit"), 1e-12),
        (approximate_transition(1, 1, 16, 1, 1), 1),
    ):
        for t in range(16):
            z = np.hstack([np.zeros((16, 1)), x, turned, np.tile(turned[t], (16, 1))])
            found = transition.to_float()(z)[:, 0]
            assert (found[np.arange(16) != t] == 0).all()
            assert abs(found[t] - x[t, 0]) <= error


def test_roots_are_rounded_up() -> None:
    for square in (0, 1, 2, 9, 10, Fraction(1, 4), Fraction(2, 9), 10**6 + 1):
        root = root_above(as_exact([square])[0])
        assert root**2 >= as_exact([square])[0]
        assert not square or (root - fmpq(1, 1024)) ** 2 < as_exact([square])[0]
    with pytest.raises(ValueError, match=r"A root is that of a number >= 0, not of -1\."):
        root_above(fmpq(-1))


def test_the_update_in_three_number_systems() -> None:
    x, p = as_exact([["1/3", -2]]), as_exact([[1, "1/2", "3/4"]])
    expected = as_exact([[["1/3", -2], [0, 0], ["1/6", -1]]])
    assert (gated_update(x, p) == expected).all()
    assert np.abs(gated_update(x.astype(float), p.astype(float)) - expected.astype(float)).max() < 1e-15
    balls = gated_update(x * arb(1), p * arb(1))
    assert all(value in ball for ball, value in zip(balls.ravel(), expected.ravel(), strict=True))


def test_the_number_of_weights_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 directions of 4 K units for each of 3 coordinates: 24 units on 6 inputs."""
    monkeypatch.setattr(gates, "LARGEST", 24 * 6)
    assert inner_product(3, 2).layers[0].weight.shape == (6, 24)
    monkeypatch.setattr(gates, "LARGEST", 24 * 6 - 1)
    with pytest.raises(ValueError, match="24 hidden units on 6 inputs, more than 143 weights"):
        inner_product(3, 2)


def test_short_tokens_are_served_as_those_of_half_the_error() -> None:
    """So no size grows as their bound tends to 0, and none is spent on a smaller error than was asked for."""
    short, half = (approximate_transition(1, 1, 1, bound, "1/2") for bound in ("1/1000", "1/4"))
    assert all((a == b).all() for a, b in zip(short.arrays(), half.arrays(), strict=True))


REFUSED: list[tuple[Any, str]] = [
    (lambda: exact_transition(0, 1, 4, 1), "The dimension of tokens must be an integer >= 1, not 0."),
    (lambda: exact_transition(1, 0, 4, 1), "The sparsity q must be an integer >= 1, not 0."),
    (lambda: exact_transition(1, 1, 0, 1), "The dimension of the codes must be an integer >= 1, not 0."),
    (lambda: exact_transition(1, 1, 4, 0), "The bound B of the tokens must be positive, not 0."),
    (lambda: exact_transition(1, 1, 4, -2), "The bound B of the tokens must be positive, not -2."),
    (lambda: exact_transition(1, 1, 4, 0.5), "must be an exact number"),
    (lambda: exact_transition(1, 1, 8, 1), "Sign codes of dimension 8 hold an irrational root: take a square"),
    (lambda: exact_transition(1, 1, 4, 1, "any"), "The codes are of one kind of sign, unit, not 'any'."),  # type: ignore[arg-type]
    (lambda: exact_transition(10, 100, 10**4, 1), "more than 4,000,000 weights: allow a"),
    (lambda: exact_transition(1000, 10, 16, 1), "The first layer would have 25,928,320 entries, not at most 4,000,000"),
    (lambda: exact_readout(1, 1, 4, 1, LINK), "The link takes 1 tokens of dimension 2, but the network holds 1 of"),
    (lambda: recurrent_network(exact_transition(1, 1, 4, 1), exact_transition(1, 1, 4, 1), 1), "The read-out reads 10"),
    (lambda: exact_network(2, 1, 4, "1/0", LINK), "must be an exact number, and '1/0' is none."),
    (lambda: approximate_transition(1, 1, 4, 1, 0), "The error of the update must be positive, not 0."),
    (lambda: approximate_readout(1, 1, 4, 1, "1/2", LINK), "The link takes 1 tokens of dimension 2"),
    (
        lambda: approximate_transition(1, 1, 64, 50, "1/1000000"),
        "more than 4,000,000 weights: allow a",
    ),
    (lambda: products_network(1, 1, 4, -1), "The error of the inner product must be positive, not -1."),
    (lambda: copies_network(1, 1, 1, 2), "an error of at most the bound 1 of x, not 1/8, 0 and 2."),
    (lambda: budget(1, 1, 1, 0), "The Lipschitz constant must be positive, not 0."),
    (lambda: link_constant(ReluLink(np.array([0]), np.array([[[1]]]), np.array([1]))), "The link is constant"),
    (lambda: budgeted_network(2, 1, 4, 0, LINK, 1), "The bound r_x of the tokens must be positive, not 0."),
    (lambda: gated_copy(1, "1/2", slack=-1), "A gated copy has slack >= 0"),
    (lambda: gated_copy(1, "1/2", carried=-1), "A gated copy has slack >= 0"),
    (lambda: inner_product(4, 0), "The number of pieces must be an integer >= 1, not 0."),
    (lambda: pieces_for(0, 1), "The dimension of the codes must be an integer >= 1, not 0."),
    (lambda: sign_inner_product(3), "hold an irrational root"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_bad_input_is_refused_in_a_sentence(case: int) -> None:
    build, message = REFUSED[case]
    with pytest.raises(ValueError) as error:  # noqa: PT011
        build()
    assert message in str(error.value)
    assert str(error.value).endswith(".")


def test_what_has_no_slope_or_no_unit_ball_is_refused() -> None:
    f = FeedForward((Affine(np.ones((3, 2))), Affine(np.ones((2, 2)))), activations=("relu", "identity"))
    for transition, width in ((f, 0), (f, 3), (FeedForward(f.layers, activations=("gelu", "identity")), 2)):
        with pytest.raises(ValueError, match="A transition here reads a state and a token by ReLU layers"):
            state_lipschitz(transition, width)
    for constant in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="A Lipschitz constant is a finite number >= 0"):
            with_state_lipschitz(f, 2, constant)
    assert (with_state_lipschitz(f, 2, 0.0).layers[0].weight[:2] == 0).all()
    bound, readout = BallProjection(2, 2), FeedForward((Affine(np.ones((3, 2))), Affine(np.ones((2, 1)))))
    cell = RecurrentCell(f, residual=True, bound=bound)
    for network, message in (
        (
            RecurrentLayer(elman_cell(np.eye(2), np.ones((1, 2))), readout=Affine(np.ones((2, 1)))),
            "balls of one radius",
        ),
        (RecurrentLayer(cell, keep_token=True, readout=Affine(np.ones((3, 1)))), "at least two layers"),
        (
            RecurrentLayer(cell, None, "before", True, FeedForward(readout.layers, activations=("identity",) * 2)),
            "a ReLU",
        ),
        (
            RecurrentLayer(RecurrentCell(Affine(np.ones((3, 2))), bound=bound), None, "after", True, readout),
            "must have aff",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            with_unit_radius(network)
    z = np.random.default_rng(0).standard_normal((5, 1))
    network = RecurrentLayer(cell, None, "before", True, readout)
    assert np.abs(with_unit_radius(network)(z) - network(z)).max() < 1e-12
