"""Audits of heads: what is found lies below what is proved, where it is attained, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.certificates.capacity import lipschitz
from lemmata.certificates.capacity.lipschitz import audit_attention, audit_weights, head_matrices
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float

EYE = np.eye(2)
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])


def random_head(seed: int, d: int = 3, k: int = 2, **options: Any) -> Head:
    rng = np.random.default_rng(seed)
    return Head(*(Affine(rng.standard_normal((d, k))) for _ in range(3)), **{"causal": False} | options)


def softmax_rows(head: Head, Z: np.ndarray) -> np.ndarray:
    """The output at the last token, by plain NumPy."""
    q = Z[-1] @ head.query.weight + head.query.offset
    scores = (Z @ head.key.weight + head.key.offset) @ q * head.scale
    p = np.exp(scores - scores.max())
    values = Z @ head.value.weight + head.value.offset
    result = p / p.sum() @ values
    return result if head.output is None else head.output(result)


@pytest.mark.parametrize("seed", range(6))
def test_found_ratios_are_attained_and_below_the_bound(seed: int) -> None:
    """The pair of token matrices, run by plain NumPy: same ratio, tokens inside of the ball."""
    radius = (1, 2, 0.5)[seed % 3]
    head = random_head(seed, causal=seed % 2 == 0)
    audit = audit_attention(head, radius, length=17, starts=32, seed=seed)
    assert audit.tokens.shape == audit.moved.shape == (17, 3)
    for Z in (audit.tokens, audit.moved):
        assert np.linalg.norm(Z, axis=1).max() <= radius
    step = np.linalg.norm(audit.tokens - audit.moved, axis=1).max()
    ratio = np.linalg.norm(softmax_rows(head, audit.tokens) - softmax_rows(head, audit.moved)) / step
    assert abs(ratio - float(audit.lower.mid())) < 1e-9 * max(1.0, ratio)
    assert audit.lower <= audit.upper <= audit.halved <= audit.printed
    assert 0.2 < audit.attained <= 1


@pytest.mark.parametrize("seed", range(4))
def test_found_distances_of_heads_are_attained_and_below_the_bound(seed: int) -> None:
    one, other = random_head(seed), random_head(seed + 10, k=(2, 2, 1, 3)[seed]) if seed < 2 else random_head(seed + 10)
    audit = audit_weights(one, other, length=9, starts=32, seed=seed)
    distance = np.linalg.norm(softmax_rows(one, audit.tokens) - softmax_rows(other, audit.tokens))
    assert abs(distance - float(audit.lower.mid())) < 1e-9 * max(1.0, distance)
    assert audit.lower <= audit.upper <= audit.halved <= audit.printed
    assert audit.attained > 0.2


def test_gradients_of_the_search_are_those_of_autograd() -> None:
    """The gradients in float64, added over the copies of a token, against torch on the whole sequence."""
    rng = np.random.default_rng(3)
    A, M, c, w = (
        rng.standard_normal((3, 2)),
        rng.standard_normal((3, 3)),
        rng.standard_normal(3),
        rng.standard_normal(2),
    )
    kinds, copies = rng.standard_normal((3, 3)), [2, 3]
    Z = torch.tensor(np.repeat(kinds, [*copies, 1], axis=0), requires_grad=True)
    p = torch.softmax(Z @ (torch.tensor(M).T @ Z[-1] + torch.tensor(c)), dim=0)
    (p @ Z @ torch.tensor(A) @ torch.tensor(w)).backward()
    assert Z.grad is not None
    expected = np.stack([Z.grad[:2].sum(0), Z.grad[2:5].sum(0), Z.grad[5]])
    log_copies = np.log([*copies, 1.0])
    found = lipschitz._gradients(kinds[None], w[None], (A, M, c), log_copies)[0]
    assert np.allclose(found, expected, atol=1e-12)


def test_biases_temperature_and_output_maps_are_taken_into_the_matrices() -> None:
    rng = np.random.default_rng(5)
    parts = [as_exact(rng.integers(-3, 4, (3, 2))) for _ in range(3)]
    bias, out = as_exact([1, -2]), as_exact(rng.integers(-3, 4, (2, 4)))
    head = Head(
        Affine(parts[0], bias), Affine(parts[1], as_exact([5, 7])), Affine(parts[2], as_exact([1, 1])),
        sharpness=fmpq(3, 2), temperature_squared=4, output=Affine(out, as_exact([1, 2, 3, 4])), causal=False,
    )  # fmt: skip
    A, M, c = (to_float(part) for part in head_matrices(head))
    W_Q, W_K, W_V = (to_float(part) for part in parts)
    assert np.allclose(A, W_V @ to_float(out))
    assert np.allclose(M, 0.75 * W_Q @ W_K.T)
    assert np.allclose(c, 0.75 * to_float(bias) @ W_K.T)
    audit = audit_attention(head, fmpq(1, 4), length=9, starts=16)
    assert 0 < audit.lower <= audit.upper
    constant = Head(head.query, head.key, Affine(0 * parts[2], as_exact([1, 1])), causal=False)
    still = audit_attention(constant, length=5, starts=4)
    assert still.lower == 0
    assert still.upper.is_zero()
    assert still.attained == 1


@pytest.mark.parametrize("radius", ["1/2", 2, 3])
def test_the_distance_of_two_heads_by_hand(radius: Any) -> None:
    """Scores 3/100 x M y and 1/100 x M y, values 2 z and 2 z: D = r^2/50, the bound 2 r 2 tanh(D/2)."""
    one, other = ((a * EYE, EYE, 2 * EYE) for a in (0.03, 0.01))
    audit = audit_weights(one, other, radius, length=9, starts=16)
    r = arb(fmpq(radius) if isinstance(radius, int) else fmpq(1, 2))
    D = r * r / 50
    assert abs(audit.upper - 2 * r * 2 * (D / 2).tanh()) < arb("1e-8")
    assert abs(audit.halved - 2 * r * D) < arb("1e-8")
    assert abs(audit.printed - 4 * r * D) < arb("1e-8")


def test_searches_come_near_the_best_constant_from_random_starts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    known = audit_attention((TURN, EYE, EYE), length=400)
    assert abs(known.upper - 1 - arb(2).sqrt()) < arb("1e-7")
    assert known.attained > 0.99
    monkeypatch.setattr(
        lipschitz,
        "_first_tokens",
        lambda parts, shape, radius, seed: lipschitz._inside(
            np.random.default_rng(seed).standard_normal(shape), radius
        ),
    )
    assert audit_attention((TURN, EYE, EYE), length=400).attained > 0.95
    assert audit_weights((0.1 * EYE, EYE, EYE), (-0.1 * EYE, EYE, EYE)).attained > 0.95


def test_seeds_repeat_and_lengths_matter() -> None:
    head = random_head(1)
    first, again = audit_attention(head, seed=4), audit_attention(head, seed=4)
    assert (first.tokens == again.tokens).all()
    assert first.lower == again.lower
    assert first.tokens.shape == first.moved.shape == (65, 3)
    assert 0 < audit_attention(head, starts=1).lower <= first.upper  # fewer starts than coordinates
    short = audit_attention((4 * TURN, EYE, EYE), length=2)
    assert short.attained < 0.9  # the bound is for all lengths


def test_heads_and_matrices_alike() -> None:
    head = random_head(2)
    matrices = [head.query.weight, head.key.weight, head.value.weight]
    one, other = audit_attention(head, length=5, starts=8), audit_attention(matrices, length=5, starts=8)
    assert (one.upper - other.upper).contains(0)
    assert one.lower == other.lower
    longer = audit_attention([*matrices, np.ones((2, 1))], length=5, starts=8)
    assert longer.lower <= longer.upper


# ---- what is refused


def with_entry(value: float) -> Head:
    weight = np.eye(2)
    weight[1, 0] = value
    return Head(Affine(weight), Affine(EYE), Affine(EYE), causal=False)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_are_finite(value: float) -> None:
    with pytest.raises(ValueError, match="weight of the query has NaN or infinity"):
        audit_attention(with_entry(value))


@pytest.mark.parametrize("radius", [0, -1, float("inf"), float("nan")])
def test_the_radius_is_positive_and_finite(radius: float) -> None:
    with pytest.raises(ValueError, match=r"radius .* positive and finite|no enclosure"):
        audit_attention((EYE, EYE, EYE), radius)


def test_matrices_fit() -> None:
    with pytest.raises(ValueError, match="W_Q, W_K, W_V"):
        audit_attention((EYE, EYE))
    with pytest.raises(ValueError, match="W_Q, W_K, W_V"):
        audit_attention((EYE, EYE, np.ones(2)))
    with pytest.raises(ValueError, match="the shapes are"):
        audit_attention((EYE, np.ones((2, 3)), EYE))
    with pytest.raises(ValueError, match="have to be the same"):
        audit_weights((EYE, EYE, EYE), (EYE, EYE, np.ones((2, 1))))


@pytest.mark.parametrize(("options", "message"), [({"length": 1}, "length"), ({"starts": 0}, "starts")])
def test_searches_need_tokens_and_starts(options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit_attention((EYE, EYE, EYE), **options)


@pytest.mark.parametrize(("turn", "values", "radius"), [(1e13, 1, 1), (1, 1e101, 1), (1, 1, 1e51), (1, 1, 1e-101)])
def test_sizes_fit_into_floats(turn: float, values: float, radius: float) -> None:
    with pytest.raises(ValueError, match="search is for a radius"):
        audit_attention((turn * TURN, EYE, values * EYE), radius)
    with pytest.raises(ValueError, match="search is for a radius"):
        audit_weights((turn * TURN, EYE, values * EYE), (EYE, EYE, EYE), radius)


MODERATE = [(1e11, 1, 1), (1, 1e99, 1), (1, 1e-200, 1), (1, 1, 1e-99), (4, 1, 1e5)]


@pytest.mark.parametrize(("turn", "values", "radius"), MODERATE)
def test_what_is_found_is_never_below_zero(turn: float, values: float, radius: float) -> None:
    audit = audit_attention((turn * TURN, EYE, values * EYE), radius, length=9, starts=8)
    assert 0 <= audit.lower <= audit.upper


def test_tokens_have_coordinates() -> None:
    with pytest.raises(ValueError, match="at least one coordinate"):
        audit_attention((np.zeros((2, 0)), np.zeros((2, 0)), EYE))


def test_only_softmax_of_the_tokens_themselves() -> None:
    plain = [Affine(EYE)] * 3
    with pytest.raises(ValueError, match="not by hardmax"):
        audit_attention(Head(*plain, weigh="hardmax"))
    with pytest.raises(ValueError, match="null pair"):
        audit_attention(Head(*plain, null=(np.ones(2), np.ones(2))))
    with pytest.raises(ValueError, match="relative keys"):
        audit_attention(Head(*plain, relative_keys=np.ones((2, 2))))
    with pytest.raises(ValueError, match="memory of width 3"):
        audit_attention(Head(Affine(EYE), Affine(np.ones((3, 2))), Affine(np.ones((3, 2))), causal=False))


def test_balls_are_audited_too() -> None:
    head = Head(*(Affine(as_balls(as_exact([["1/3", 0], [0, "1/7"]]))) for _ in range(3)), causal=False)
    audit = audit_attention(head, length=5, starts=8)
    assert 0 < audit.lower <= audit.upper
