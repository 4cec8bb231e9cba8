"""In-context regression of random tanh networks: data, a small GPT-2-like transformer, and two ways to train instead.

A task is a network R^d -> R of N tanh layers (the output included, as in definition-1) with hidden width K and weights
from N(0, g^2 / inputs); its inputs come from w_1 N(-2, I) + w_2 N(2, I), cut off at +-6. R^2 at prompt length k is over
all
tasks: 1 minus the mean squared error at the query after k examples over the variance of the answers there.

The alternatives see the same prompts: a network of the task's architecture trained on each by Adam for 100 epochs,
where the best epoch is chosen by the answers to the queries (so does the document); and the descent block of
`lemmata.constructions.descent.block` from random weights of the same law, its forward pass iterated by the compiled
loop.

Source: deep-icgd, experiment-setup. The document gives neither width nor activation nor scale of its networks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.bounds import approximate_activation
from lemmata.constructions.descent.fast import fast_trajectory
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head, Weighing
from lemmata.constructions.networks.layer import Layer
from lemmata.constructions.networks.layer_norm import LayerNorm
from lemmata.constructions.networks.residual import Residual
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.functions.relu_sums import squared_loss_derivative
from lemmata.numerics.functions.smooth import tanh

if TYPE_CHECKING:
    import torch

__all__ = [
    "DIMENSION",
    "LARGEST_INPUT",
    "best_trained",
    "descent_block",
    "descent_r_squared",
    "label_mean_r_squared",
    "predictions",
    "r_squared",
    "sample_tasks",
    "train_transformer",
    "transformer",
    "widths",
]

FloatArray = NDArray[np.float64]

DIMENSION, HIDDEN, GAIN, LARGEST_INPUT, LARGEST_WEIGHT = 2, 4, 1.5, 6, 4


def widths(layers: int) -> tuple[int, ...]:
    """(d, K, ..., K, 1)."""
    return (DIMENSION, *(HIDDEN,) * (layers - 1), 1)


def sample_weights(layers: int, tasks: int, rng: np.random.Generator) -> FloatArray:
    """Weights of random networks, shape (tasks, D_N)."""
    layout = PromptLayout(widths(layers))
    matrices = [
        GAIN / np.sqrt(a) * rng.normal(size=(tasks, b, a))
        for a, b in zip(layout.widths[:-1], layout.widths[1:], strict=True)
    ]
    return layout.flatten(matrices)


def sample_tasks(
    layers: int, tasks: int, length: int, share: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Inputs of shape (tasks, length, d), a ``share`` of them around +2, and answers of shape (tasks, length)."""
    centres = np.where(rng.random((tasks, length, 1)) < share, 2.0, -2.0)
    x = np.clip(centres + rng.normal(size=(tasks, length, DIMENSION)), -LARGEST_INPUT, LARGEST_INPUT)
    return x, outputs(layers, sample_weights(layers, tasks, rng), x)


def outputs(layers: int, weights: FloatArray, x: FloatArray, activation: Any = np.tanh) -> FloatArray:
    """What the networks answer: weights (..., D_N) and inputs (..., length, d) to (..., length)."""
    p = x
    for V in PromptLayout(widths(layers)).matrices(weights):
        p = activation(np.einsum("...nb,...kb->...nk", p, V))
    return p[..., 0]


def r_squared(predicted: FloatArray, answers: FloatArray) -> FloatArray:
    """1 - mean squared error / variance, over the first axis (the tasks)."""
    return 1 - ((predicted - answers) ** 2).mean(axis=0) / answers.var(axis=0)


def label_mean_r_squared(answers: FloatArray, lengths: Sequence[int]) -> list[float]:
    """R^2 of the mean of the labels in the prompt, which ignores all inputs."""
    return [float(r_squared(answers[:, :k].mean(axis=1), answers[:, k])) for k in lengths]


def transformer(attention: Weighing, blocks: int, width: int, heads: int, pairs: int) -> torch.nn.Module:
    """The torch module of a `Transformer` over x_1, y_1, x_2, ... with learned absolute positions and random weights.

    Its blocks are attention and an MLP, each with a normalisation in front and a residual connection. Linear maps start
    as those of torch do.

    Args:
        attention: "softmax", or "relu": the ReLU of the score divided by the number of visible tokens.
        blocks: attention and MLP with a hidden layer as wide as the stream, each.
        width: of the stream.
        heads: a divisor of the width.
        pairs: the longest prompt, the query included; positions beyond those that are trained stay random.
    """
    import torch

    def affine(inputs: int, outputs: int) -> Affine:
        start = torch.nn.Linear(inputs, outputs)
        return Affine(start.weight.detach().numpy().T, start.bias.detach().numpy())

    norm, size = LayerNorm(np.ones(width), np.zeros(width)), width // heads
    read_in, positions = affine(DIMENSION + 1, width), 0.02 * torch.randn(2 * pairs - 1, width)
    layers: list[Layer] = []
    for _ in range(blocks):
        W, b = (part.reshape(-1, 3, heads, size) for part in affine(width, 3 * width).arrays())
        maps = [[Affine(W[:, part, h], b[0, part, h]) for part in range(3)] for h in range(heads)]
        attended = tuple(Head(*qkv, weigh=attention, temperature_squared=size) for qkv in maps)
        layers.append(Residual((norm, AttentionLayer(attended, "concatenate"), affine(width, width))))
        hidden, output = affine(width, width), affine(width, width)
        layers.append(Residual((norm, FeedForward((hidden, output), activations=("gelu", "identity")))))
    source = Transformer(read_in, np.zeros((0, width)), (*layers, norm), affine(width, 1), positions.numpy())
    return source.to_torch(dtype=torch.float32)


def predictions(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """What the transformer predicts at every x, shape (batch, n).

    Args:
        model: as of `transformer`.
        x: inputs, shape (batch, n, d).
        y: answers, shape (batch, n); the last is not read.
    """
    tokens = x.new_zeros(*y.shape, 2, DIMENSION + 1)
    tokens[..., 0, :-1], tokens[..., 1, -1] = x, y
    return model(tokens.flatten(1, 2)[:, :-1])[:, ::2, 0]


def train_transformer(item: Mapping[str, Any], losses: list[float] | None = None) -> torch.nn.Module:
    """Train on fresh tasks around -2 in every step; mean squared error at all positions, Adam, cosine decay.

    Args:
        item: the settings; with ``positions`` False there are no positional encodings, and with ``until`` training
            stops after so many of its ``steps``.
        losses: where the loss of every step is appended, if it is given.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(item["seed"])
    rng = np.random.default_rng([item["seed"], item["layers"]])
    model = transformer(item["attention"], item["blocks"], item["width"], item["heads"], item["longest"] + 1)
    if not item.get("positions", True):
        model.get_parameter("positions").requires_grad_(False).zero_()
    optimiser = torch.optim.Adam(model.parameters(), item["rate"])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, item["steps"])
    for _ in range(item.get("until", item["steps"])):
        x, y = (
            torch.tensor(a, dtype=torch.float32)
            for a in sample_tasks(item["layers"], item["batch"], item["trained"] + 1, 0.0, rng)
        )
        loss = ((predictions(model, x, y) - y) ** 2).mean()
        if losses is not None:
            losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return model


def best_trained(
    layers: int, x: FloatArray, y: FloatArray, length: int, rates: Sequence[float], epochs: int, seed: int
) -> float:
    """R^2 at the query of networks trained by Adam on the first ``length`` pairs: the best epoch and rate.

    Which is best is decided by the answers at the queries themselves, so this is more than training can know.
    """
    import torch

    torch.set_num_threads(1)
    start = PromptLayout(widths(layers)).matrices(sample_weights(layers, len(x), np.random.default_rng(seed)))
    inputs, answers = torch.tensor(x[:, : length + 1]), torch.tensor(y[:, : length + 1, None])
    variance, best = float(answers[:, -1].var(unbiased=False)), -np.inf
    for rate in rates:
        matrices = [torch.tensor(V, requires_grad=True) for V in start]
        optimiser = torch.optim.Adam(matrices, rate)
        for _ in range(epochs):
            p = inputs
            for V in matrices:
                p = torch.tanh(p @ V.transpose(-1, -2))
            errors = (p - answers).square()
            best = max(best, 1 - float(errors.detach()[:, -1].mean()) / variance)
            optimiser.zero_grad()
            errors[:, :-1].mean(dim=(1, 2)).sum().backward()
            optimiser.step()
    return best


def descent_block(layers: int, examples: int, step_size: int) -> DescentBlock:
    """The 2N+4 layers of one step, with sums of ReLUs that are within 1/200 of tanh and its derivative."""
    box = (-LARGEST_WEIGHT, LARGEST_WEIGHT)
    sums = approximate_activation(widths(layers), tanh, box, LARGEST_INPUT, error="1/200")
    return gradient_descent_block(
        widths(layers), examples, step_size, *sums, squared_loss_derivative(), box, LARGEST_INPUT, 1
    )


def descent_r_squared(
    layers: int, x: FloatArray, y: FloatArray, length: int, step_size: int, steps: int, every: int, seed: int
) -> list[float]:
    """R^2 at the query after 0, every, 2 every, ... steps of the block on the first ``length`` pairs."""
    block = descent_block(layers, length, step_size)
    start = np.clip(sample_weights(layers, len(x), np.random.default_rng(seed)), -LARGEST_WEIGHT, LARGEST_WEIGHT)
    path = fast_trajectory(block, x[:, : length + 1], y[:, :length, None], start, steps, every)
    query, activation = x[:, length : length + 1], block.activation
    return [float(r_squared(outputs(layers, w, query, activation)[:, 0], y[:, length])) for w in path]
