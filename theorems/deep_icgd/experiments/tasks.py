"""In-context regression of random tanh networks: data, a small GPT-2-like transformer, and two ways to train instead.

A task is a network R^d -> R of N tanh layers (the output included, as in def-1) with hidden width K and weights from
N(0, g^2 / inputs); its inputs come from w_1 N(-2, I) + w_2 N(2, I), cut off at +-6. R^2 at prompt length k is over all
tasks: 1 minus the mean squared error at the query after k examples over the variance of the answers there.

The alternatives see the same prompts: a network of the task's architecture trained on each by Adam for 100 epochs,
where the best epoch is chosen by the answers to the queries (so does the document); and the descent block of
`constructions.descent.block` from random weights of the same law, its forward pass iterated by the compiled loop.

Source: deep-icgd, experiment-setup. The document gives neither width nor activation nor scale of its networks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constructions.descent.block import DescentBlock, gradient_descent_block
from constructions.descent.bounds import approximate_activation
from constructions.descent.fast import fast_trajectory
from constructions.descent.layout import PromptLayout
from numerics.functions.relu_sums import squared_loss_derivative
from numerics.functions.smooth import tanh

if TYPE_CHECKING:
    import torch

__all__ = [
    "DIMENSION",
    "LARGEST_INPUT",
    "best_trained",
    "descent_block",
    "descent_r_squared",
    "label_mean_r_squared",
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


def transformer(attention: str, blocks: int, width: int, heads: int, pairs: int) -> torch.nn.Module:
    """Pre-norm blocks with learned absolute positions over x_1, y_1, x_2, ...; predicts y_k at x_k.

    Args:
        attention: "softmax", or "relu": the ReLU of the score divided by the number of visible tokens.
        blocks: attention and MLP with a hidden layer as wide as the stream, each.
        width: of the stream.
        heads: a divisor of the width.
        pairs: the longest prompt, the query included; positions beyond those that are trained stay random.
    """
    import torch
    from torch.nn import functional

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
            self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
            self.up, self.down = torch.nn.Linear(width, width), torch.nn.Linear(width, width)

        def forward(self, z: torch.Tensor) -> torch.Tensor:
            batch, tokens, _ = z.shape
            q, k, v = self.qkv(self.norms[0](z)).view(batch, tokens, 3, heads, -1).permute(2, 0, 3, 1, 4)
            if attention == "softmax":
                mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                visible = torch.arange(1, tokens + 1, dtype=z.dtype)[:, None]
                scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
                mixed = (functional.relu(scores).tril() / visible) @ v
            z = z + self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))
            return z + self.down(functional.gelu(self.up(self.norms[1](z))))

    class Regressor(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.read_in = torch.nn.Linear(DIMENSION + 1, width)
            self.positions = torch.nn.Parameter(0.02 * torch.randn(2 * pairs - 1, width))
            self.blocks = torch.nn.Sequential(*(Block() for _ in range(blocks)))
            self.norm, self.read_out = torch.nn.LayerNorm(width), torch.nn.Linear(width, 1)

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            """Inputs (batch, n, d) and answers (batch, n), the last of which is not read, to predictions (batch, n)."""
            tokens = x.new_zeros(*y.shape, 2, DIMENSION + 1)
            tokens[..., 0, :-1], tokens[..., 1, -1] = x, y
            z = self.read_in(tokens.flatten(1, 2)[:, :-1])
            return self.read_out(self.norm(self.blocks(z + self.positions[: z.shape[1]])))[:, ::2, 0]

    return Regressor()


def train_transformer(item: Mapping[str, Any]) -> torch.nn.Module:
    """Train on fresh tasks around -2 in every step; mean squared error at all positions, Adam, cosine decay."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(item["seed"])
    rng = np.random.default_rng([item["seed"], item["layers"]])
    model = transformer(item["attention"], item["blocks"], item["width"], item["heads"], item["longest"] + 1)
    optimiser = torch.optim.Adam(model.parameters(), item["rate"])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, item["steps"])
    for _ in range(item["steps"]):
        x, y = (
            torch.tensor(a, dtype=torch.float32)
            for a in sample_tasks(item["layers"], item["batch"], item["trained"] + 1, 0.0, rng)
        )
        loss = ((model(x, y) - y) ** 2).mean()
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
