"""What a single-layer transformer can fit: symmetries of the bounds, and arguments that are refused."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.tokens.transformer_bounds import (
    TokenTask,
    TransformerClass,
    chained_rademacher,
    excess_risk,
    generalisation_gap,
    log_cover,
    norm_ball_class,
    query_key_cover,
    readout_cover,
    risk_terms,
    safe_token_norm,
    token_norm_tail,
    truncation_level,
    volumetric_cover,
)

TASK = TokenTask(100, 4, 2, 16)
NETWORKS = TransformerClass(2, 8, TASK.embedding_dimension, arb(1), arb(2), arb(30), TASK.embedding_norm(1000))
FACTORS = st.fractions(min_value="1/50", max_value=50)


@given(factor=FACTORS)
def test_gains_can_move_between_the_layers_of_the_readout(factor: object) -> None:
    """Scaling a by c and (W, b) by 1/c changes no bound: the network is the same."""
    c = arb(fmpq(factor.numerator, factor.denominator))  # type: ignore[attr-defined]
    moved = replace(NETWORKS, outer=NETWORKS.outer * c, inner=NETWORKS.inner / c)
    assert log_cover(moved, fmpq(1, 3), 100).overlaps(log_cover(NETWORKS, fmpq(1, 3), 100))
    assert truncation_level(TASK, moved, 100).overlaps(truncation_level(TASK, NETWORKS, 100))


@given(factor=FACTORS)
def test_outputs_and_accuracy_scale_together(factor: object) -> None:
    c = arb(fmpq(factor.numerator, factor.denominator))  # type: ignore[attr-defined]
    louder = replace(NETWORKS, outer=NETWORKS.outer * c)
    assert readout_cover(louder, c / 3).overlaps(readout_cover(NETWORKS, arb(1) / 3))
    assert log_cover(louder, c / 3, 100).overlaps(log_cover(NETWORKS, arb(1) / 3, 100))
    wider = replace(NETWORKS, query_key=NETWORKS.query_key * c)
    for first, second in zip(query_key_cover(wider, c, 50), query_key_cover(NETWORKS, 1, 50), strict=True):
        assert first.overlaps(second)


@given(factor=FACTORS)
def test_tokens_and_their_scale_go_together(factor: object) -> None:
    """x -> c x multiplies C_x by c^2."""
    c = arb(fmpq(factor.numerator, factor.denominator))  # type: ignore[attr-defined]
    assert token_norm_tail(7, 3, c**2, 9 * c).overlaps(token_norm_tail(7, 3, 1, 9))
    assert safe_token_norm(7, 3, c**2).overlaps(c * safe_token_norm(7, 3, 1))


def test_covers_grow_as_the_radius_shrinks() -> None:
    sizes = [log_cover(NETWORKS, fmpq(1, 2**k), 100) for k in range(12)]
    assert all(a < b for a, b in itertools.pairwise(sizes))


def test_the_risk_falls_with_samples_at_last() -> None:
    """Vacuous for small samples, as the bounds of the document are; it falls like n^(-1/2) up to logarithms."""
    risks = [
        excess_risk(TASK, replace(NETWORKS, embedding_norm=TASK.embedding_norm(n)), n, fmpq(1, 100))
        for n in (10**10, 10**14, 10**18)
    ]
    assert risks[0] > 100 * risks[2]
    assert risks[2] < 1 < risks[0]


def test_the_terms_add_up_and_name_the_larger_cover() -> None:
    terms = risk_terms(TASK, NETWORKS, 1000, fmpq(1, 100))
    assert terms.total.overlaps(excess_risk(TASK, NETWORKS, 1000, fmpq(1, 100)))
    assert terms.dominant == "attention by volume"
    assert terms.readout < terms.volume < terms.codes
    wide = risk_terms(TASK, replace(NETWORKS, neurons=10**4), 1000, fmpq(1, 100))
    assert wide.dominant == "readout"
    small = replace(NETWORKS, neurons=1, query_key=arb("1e-6"))
    still = risk_terms(TASK, small, 1000, fmpq(1, 100))
    assert still.dominant == "readout"
    assert still.codes < still.volume


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TransformerClass(0, 1, 1, arb(1), arb(1), arb(1), arb(1)), "number heads must be an integer >= 1"),
        (lambda: replace(NETWORKS, outer=arb(0)), "bound outer must be a positive finite number"),
        (lambda: replace(NETWORKS, query_key=float("inf")), "has no enclosure|positive finite number"),
        (lambda: token_norm_tail(1, 1, 1, 1), r"it is false for the norm 1, where norm\^2/\(C_x e d\) is 0\.36788\."),
        (lambda: safe_token_norm(1, 1, 1), "must be an integer >= 2"),
        (lambda: volumetric_cover(0, 1, 1), "number of parameters must be an integer >= 1"),
        (lambda: readout_cover(NETWORKS, 0), "accuracy eps must be a positive"),
        (lambda: query_key_cover(NETWORKS, 1, 0), "number of points must be an integer >= 1"),
        (lambda: chained_rademacher([], 0), "number of points must be an integer >= 1"),
        (lambda: generalisation_gap(NETWORKS, 1, 10, 1), r"must lie in \(0, 1\)"),
        (lambda: generalisation_gap(NETWORKS, 1, 10, 0), "must be a positive"),
        (lambda: TokenTask(3, 1, 4, 2), "A label depends on 4 of 3 tokens"),
        (lambda: excess_risk(TASK, replace(NETWORKS, embedding_norm=1), 10, fmpq(1, 2)), "prompts need"),
        (lambda: norm_ball_class(TASK, 3, -1, 10), "radius R must be a positive"),
        (lambda: truncation_level(TASK, NETWORKS, 0), "number of samples must be an integer >= 1"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
