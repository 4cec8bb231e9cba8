"""Gradient ascent on the margin: its gradient, its smoothing, its honesty, and optima that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lemmata.constructions.groups.cyclic import modular_addition_network
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks, group_inputs, sign_inputs
from lemmata.numerics.groups.tables import cyclic, symmetric
from lemmata.numerics.margins.ascent import ascend, ascend_from_random, normalised_margin, smooth_margin_and_gradient
from lemmata.numerics.margins.evaluation import group_margins

EPS = np.finfo(float).eps
S3_INPUTS, S3_LABELS = group_inputs(6).astype(float), symmetric(3).table.reshape(-1)


def random_weights(width: int, D: int, L: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(width, D)), rng.normal(size=(width, L))


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_gradient_agrees_with_automatic_differentiation(degree: int) -> None:
    hidden, readout = random_weights(7, 12, 6)
    value, gradient = smooth_margin_and_gradient(S3_INPUTS, S3_LABELS, hidden, readout, degree, 3.0)
    u, w = (torch.tensor(part, requires_grad=True) for part in (hidden, readout))
    scores = (torch.tensor(S3_INPUTS) @ u.T) ** degree @ w
    norm = ((u**2).sum(1) + (w**2).sum(1)).pow((degree + 1) / 2).sum()
    right = scores[torch.arange(36), torch.tensor(S3_LABELS)]
    wrong = torch.ones(36, 6, dtype=torch.bool)
    wrong[torch.arange(36), torch.tensor(S3_LABELS)] = False
    margins = ((right[:, None] - scores) / norm)[wrong]
    expected = -torch.logsumexp(-3.0 * margins, 0) / 3.0
    expected.backward()
    assert value == pytest.approx(expected.item(), rel=1e-12)
    assert u.grad is not None
    assert w.grad is not None
    assert np.allclose(gradient, torch.cat([u.grad, w.grad], 1).numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("sharpness", [0.1, 10.0, 1e4])
def test_smoothing_lies_below_the_minimum_and_within_its_bound(sharpness: float) -> None:
    hidden, readout = random_weights(9, 12, 6)
    least = normalised_margin(S3_INPUTS, S3_LABELS, hidden, readout, 2)
    value, _ = smooth_margin_and_gradient(S3_INPUTS, S3_LABELS, hidden, readout, 2, sharpness)
    assert least - math.log(180) / sharpness <= value <= least


def test_margin_does_not_depend_on_the_length_of_the_weights() -> None:
    hidden, readout = random_weights(9, 12, 6)
    margins = [normalised_margin(S3_INPUTS, S3_LABELS, t * hidden, t * readout, 2) for t in (1, 2, 0.5)]
    assert margins == pytest.approx([margins[0]] * 3, rel=1e-14)


def test_margin_of_a_known_network() -> None:
    network = modular_addition_network(5, 6)
    margin = normalised_margin(group_inputs(5).astype(float), cyclic(5).table.reshape(-1), *network.weights(), 2)
    assert margin == pytest.approx(math.sqrt(2 / 27) / (math.sqrt(5) * 4), rel=1e-14)


def test_reported_margin_is_that_of_the_weights() -> None:
    """The independent brute force over all triples agrees with the reported margin."""
    result = ascend_from_random(S3_INPUTS, S3_LABELS, 6, 2, 20, starts=2, iterations=50)
    network = HomogeneousNetwork.from_weights(result.hidden, result.readout, 2)
    summary = group_margins(*group_blocks(network), symmetric(3), network.masses)
    assert result.margin == pytest.approx(summary.minimum * network.scale / network.norm_power, rel=1e-11)
    assert result.margin == max(result.margins)
    assert len(result.margins) == 2


def test_climbing_from_given_weights_gains_and_ends_with_norm_one() -> None:
    hidden, readout = random_weights(12, 12, 6)
    before = hidden.copy()
    climbed = ascend(S3_INPUTS, S3_LABELS, hidden, readout, 2, unit=0.02, iterations=20)
    assert np.array_equal(hidden, before)
    assert normalised_margin(S3_INPUTS, S3_LABELS, *climbed, 2) > normalised_margin(
        S3_INPUTS, S3_LABELS, hidden, readout, 2
    )
    assert np.sum(np.linalg.norm(np.concatenate(climbed, axis=1), axis=1) ** 3) == pytest.approx(1, rel=1e-13)


def test_same_seed_same_result() -> None:
    one, two = (ascend_from_random(S3_INPUTS, S3_LABELS, 6, 2, 12, starts=1, iterations=30, seed=5) for _ in range(2))
    assert np.array_equal(one.hidden, two.hidden)
    assert one.margins != ascend_from_random(S3_INPUTS, S3_LABELS, 6, 2, 12, starts=1, iterations=30, seed=6).margins


def test_stops_when_it_is_enough() -> None:
    assert len(ascend_from_random(S3_INPUTS, S3_LABELS, 6, 2, 12, starts=9, iterations=30, enough=-1.0).margins) == 1


@pytest.mark.parametrize("k", [2, 3])
def test_parity_reaches_its_maximum(k: int) -> None:
    """Theorem 7.8: k! sqrt(2) (k+1)^(-(k+1)/2), for sign inputs and degree k."""
    inputs = sign_inputs(k + 1)
    labels = (inputs[:, :k].prod(axis=1) < 0).astype(np.int64)
    known = math.factorial(k) * math.sqrt(2) * (k + 1) ** (-(k + 1) / 2)
    margin = ascend_from_random(inputs, labels, 2, k, 2**k, enough=0.999 * known, starts=10).margin
    assert 0.999 * known <= margin <= known * (1 + 100 * EPS)


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"labels": S3_LABELS[:5]}, "need shapes"),
            ({"inputs": S3_INPUTS[0]}, "need shapes"),
            ({"outputs": 5}, "must lie in 0..4"),
            ({"outputs": 1}, "at least 2 labels"),
            ({"degree": 0}, "degree must be at least 1"),
            ({"width": 0}, "width must be at least 1"),
            ({"starts": 0}, "starts must be at least 1"),
        ],
    )
    def test_sizes(self, changes: dict, match: str) -> None:
        arguments = {"inputs": S3_INPUTS, "labels": S3_LABELS, "outputs": 6, "degree": 2, "width": 4, **changes}
        with pytest.raises(ValueError, match=match):
            ascend_from_random(**arguments)

    def test_start(self) -> None:
        hidden, readout = random_weights(4, 12, 6)
        with pytest.raises(ValueError, match="positive unit"):
            ascend(S3_INPUTS, S3_LABELS, hidden, readout, 2, unit=0.0)
        with pytest.raises(ValueError, match=r"hidden \(m, 12\)"):
            ascend(S3_INPUTS, S3_LABELS, hidden[:, :3], readout, 2)
