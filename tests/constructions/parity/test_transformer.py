"""The parity transformer: forward passes against each other and against plain NumPy, and refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm

from constructions.networks.affine import Affine
from constructions.networks.inputs import sign_inputs
from constructions.networks.legacy_attention import AttentionHead
from constructions.parity.transformer import ParityTransformer, gelu, parity_transformer
from numerics.exact.balls import as_balls


def random_transformer(seed: int, n: int = 4, d: int = 6, m: int = 3, width: int = 5) -> ParityTransformer:
    rng = np.random.default_rng(seed)
    heads = [
        AttentionHead(*(rng.normal(size=(d, m)) for _ in range(3)), temperature_squared=m, causal=False)
        for _ in range(2)
    ]
    return ParityTransformer(
        tokens=rng.normal(size=(3, d)),
        positions=rng.normal(size=(n, d)),
        heads=tuple(heads),
        outputs=tuple(rng.normal(size=(m, d)) for _ in heads),
        hidden=Affine(rng.normal(size=(d, width)), rng.normal(size=width)),
        second=Affine(rng.normal(size=(width, d)), rng.normal(size=d)),
        readout=rng.normal(size=d),
    )


def plain_forward(f: ParityTransformer, x: np.ndarray) -> float:
    """One input, formula by formula."""
    X = np.array([f.tokens[2], *(f.tokens[int(s == 1)] + p for s, p in zip(x, f.positions, strict=True))])
    z = X[0]
    for head, output in zip(f.heads, f.outputs, strict=True):
        scores = (X[0] @ head.query) @ (X @ head.key).T / np.sqrt(head.temperature_squared)
        weights = np.exp(scores) / np.exp(scores).sum()
        z = z + weights @ X @ head.value @ output
    before = z @ f.hidden.weight + f.hidden.bias
    return float(f.readout @ (z + (before * norm.cdf(before)) @ f.second.weight + f.second.bias))


@pytest.mark.parametrize("seed", range(3))
def test_forward_passes_agree(seed: int) -> None:
    f = random_transformer(seed)
    X = sign_inputs(4)
    values = f(X)
    assert values.shape == (16,)
    assert np.abs(values - [plain_forward(f, x) for x in X]).max() < 1e-10
    assert np.abs(values - f.to_torch()(torch.tensor(X)).detach().numpy()).max() < 1e-10
    for value, ball in zip(values, f.to_balls()(X), strict=True):
        assert abs(ball - float(value)) < 1e-10
    assert f.to_balls().to_float()(X).tolist() == values.tolist()
    assert np.abs(f(X.reshape(4, 4, 4)).ravel() - values).max() < 1e-12


def test_every_torch_parameter_is_trainable() -> None:
    module = random_transformer(0).to_torch()
    module(torch.tensor(sign_inputs(4))).square().sum().backward()
    assert len(list(module.parameters())) == 3 + 2 * 4 + 2 + 4
    for name, p in module.named_parameters():
        if "relative_keys" not in name:
            assert p.grad is not None
            assert p.grad.abs().max() > 0, name


def test_the_explicit_weights_attend_to_the_support() -> None:
    f = parity_transformer(5, [1, 3])
    attention = f.attention(sign_inputs(5))[0]
    assert attention.shape == (32, 6)
    assert np.abs(attention - [0, 0, 0.5, 0, 0.5, 0]).max() < 1e-15


def test_gelu_of_floats_and_balls() -> None:
    x = np.array([-3.0, -0.5, 0.0, 0.5, 40.0])
    expected = torch.nn.functional.gelu(torch.tensor(x)).numpy()
    assert np.abs(gelu(x) - expected).max() < 1e-14
    assert all(abs(ball - float(e)) < 1e-13 for ball, e in zip(gelu(as_balls(x)), expected, strict=True))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: parity_transformer(2, 3), "1 <= k <= n"),
        (lambda: parity_transformer(3, [0, 3]), "must lie in"),
        (lambda: parity_transformer(3, 1, beta=0), "must be positive"),
        (lambda: parity_transformer(3, 1, beta=float("inf")), "must be finite"),  # type: ignore[arg-type]
        (lambda: parity_transformer(3, 1)([1, 1]), "must be signs"),
        (lambda: parity_transformer(3, 1)([1, 1, 0]), "must be signs"),
        (lambda: replace(random_transformer(0), readout=np.ones(5)), "readout do not fit"),
        (lambda: replace(random_transformer(0), outputs=()), "outputs do not fit"),
        (lambda: replace(random_transformer(0), readout=np.ones(6, dtype=int)), "all floats or all balls"),
        (
            lambda: replace(
                random_transformer(0), heads=tuple(replace(h, causal=True) for h in random_transformer(0).heads)
            ),
            "not causal",
        ),
    ],
)
def test_refusals(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()
