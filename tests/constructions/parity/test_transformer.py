"""The parity transformer: forward passes against each other and against plain NumPy, and refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.parity.transformer import ParityTransformer, parity_transformer
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.functions.activations import gelu


def random_transformer(seed: int, n: int = 4, d: int = 6, m: int = 3, width: int = 5) -> ParityTransformer:
    rng = np.random.default_rng(seed)
    heads = [
        Head(
            *(Affine(rng.normal(size=(d, m))) for _ in range(3)),
            output=Affine(rng.normal(size=(m, d))),
            temperature_squared=m,
            causal=False,
        )
        for _ in range(2)
    ]
    hidden, second = (Affine(rng.normal(size=shape), rng.normal(size=shape[1])) for shape in ((d, width), (width, d)))
    return ParityTransformer(
        Transformer(
            embedding=rng.normal(size=(2, d)),
            prefix=rng.normal(size=(1, d)),
            layers=(
                AttentionLayer(tuple(heads), attending="first"),
                FeedForward((hidden, second), residual=True, activations=("gelu", "identity")),
            ),
            readout=rng.normal(size=d),
            positions=rng.normal(size=(n, d)),
            read="first",
            alphabet=(-1, 1),
        )
    )


def plain_forward(f: ParityTransformer, x: np.ndarray) -> float:
    """One input, formula by formula."""
    t = f.transformer
    attention, mlp = t.layers
    X = np.array([t.prefix[0], *(t.embedding[int(s == 1)] + p for s, p in zip(x, t.positions, strict=True))])
    z = X[0]
    for head in attention.heads:
        scores = (X[0] @ head.query.weight) @ (X @ head.key.weight).T / np.sqrt(head.temperature_squared)
        weights = np.exp(scores) / np.exp(scores).sum()
        z = z + weights @ X @ head.value.weight @ head.output.weight
    hidden, second = mlp.layers
    before = z @ hidden.weight + hidden.bias
    return float(t.readout @ (z + (before * norm.cdf(before)) @ second.weight + second.bias))


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
    f = random_transformer(0)
    module = f.to_torch()
    module(torch.tensor(sign_inputs(4))).square().sum().backward()
    assert sum(p.numel() for p in module.parameters()) == sum(a.size for a in f.transformer.arrays())
    for name, p in module.named_parameters():
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


def changed(head: dict[str, Any] | None = None, **changes: Any) -> ParityTransformer:
    """The random transformer with fields changed, or those of its first head."""
    t = random_transformer(0).transformer
    if head is not None:
        attention, mlp = t.layers
        heads = (replace(attention.heads[0], **head), *attention.heads[1:])
        changes["layers"] = (replace(attention, heads=heads), mlp)
    return ParityTransformer(replace(t, **changes))


def exact_weights() -> ParityTransformer:
    return ParityTransformer(random_transformer(0).transformer.map(lambda a: as_exact(np.round(a).astype(int))))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: parity_transformer(2, 3), "1 <= k <= n"),
        (lambda: parity_transformer(3, [0, 3]), "must lie in"),
        (lambda: parity_transformer(3, 1, beta=0), "must be positive"),
        (lambda: parity_transformer(3, 1, beta=float("inf")), "must be finite"),  # type: ignore[arg-type]
        (lambda: parity_transformer(3, 1)([1, 1]), "must be signs"),
        (lambda: parity_transformer(3, 1)([1, 1, 0]), "must be signs"),
        (lambda: changed(readout=np.ones(5)), "readout reads 5 coordinates, but the stream has 6"),
        (lambda: changed(head={"output": Affine(np.ones((2, 6)))}), "output .* but the shapes are"),
        (lambda: changed(head={"output": None}), "add vectors of widths .3, 6. to it"),
        (lambda: exact_weights()([1, -1, 1, 1]), "A softmax is not rational"),
        (lambda: changed(head={"causal": True}), "not causal"),
        (lambda: changed(head={"weigh": "max"}), "not by 'max'"),
        (lambda: changed(alphabet=(0, 1)), "has the symbols -1 and 1"),
        (lambda: changed(positions=np.zeros((0, 6))), "0 positions"),
        (lambda: changed(readout=np.ones((6, 1))), "a vector as readout"),
    ],
)
def test_refusals(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()
