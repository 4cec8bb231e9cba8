"""Steps of SGD written out once more, sample by sample: the oracles of the training runs of this chapter.

Nothing here uses the trainers of `lemmata.numerics.parity`. The random bits come in the order that these document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

__all__ = ["autograd_relu_steps", "autograd_single_steps", "plain_neuron_steps", "plain_polynet_run"]

_MASK = 2**64 - 1


def plain_neuron_steps(
    weights: np.ndarray, biases: np.ndarray, scale: float, shift: float, k: int, rng: np.random.Generator,
    steps: int, batch: int, rate: float, noise: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Weights and biases of sinusoidal neurons after steps on the hinge loss, the validation sample drawn before."""
    w, b = weights.tolist(), biases.tolist()
    runs, n = weights.shape
    for _ in range(steps):
        raw = rng.bytes(-(-runs * batch * n // 8))
        signs = [2 * (raw[i // 8] >> (7 - i % 8) & 1) - 1 for i in range(runs * batch * n)]
        flips = rng.random((runs, batch)) < noise if noise else np.zeros((runs, batch), dtype=bool)
        for r in range(runs):
            push, bias = [0.0] * n, 0.0
            for s in range(batch):
                x = signs[(r * batch + s) * n : (r * batch + s + 1) * n]
                y = math.prod(x[:k]) * (-1 if flips[r, s] else 1)
                slope = math.cos(scale * (sum(a * c for a, c in zip(w[r], x, strict=True)) + b[r]) + shift)
                pull = y * scale * slope / batch
                push, bias = [p + pull * c for p, c in zip(push, x, strict=True)], bias + pull
            w[r], b[r] = [a + rate * p for a, p in zip(w[r], push, strict=True)], b[r] + rate * bias
    return np.array(w), np.array(b)


def _split_mix(seed: int) -> Callable[[], int]:
    """The published generator, in Python's integers."""
    state = seed

    def draw() -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    return draw


def _codes(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    """Samples that are drawn as codes of four signs, the lowest bit first."""
    codes = rng.integers(0, 16, size=(count, -(-n // 4)), dtype=np.uint8)
    return np.array([[2.0 * (row[i // 4] >> (i % 4) & 1) - 1 for i in range(n)] for row in codes.tolist()])


def autograd_relu_steps(
    parameters: tuple[np.ndarray, ...], k: int, rng: np.random.Generator, steps: int, batch: int, rate: float,
    decay: float, noise: float, sample: int | None, held_out: int,
) -> list[np.ndarray]:  # fmt: skip
    """W, b, u and c of u . relu(Wx + b) + c after steps of theta <- (1 - rate decay) theta - rate grad, in float64."""
    n = parameters[0].shape[1]
    _codes(rng, held_out, n)
    fixed = None if sample is None else _codes(rng, sample, n)
    draw = _split_mix(int(rng.integers(0, 2**64, dtype=np.uint64)))
    W, b, u, c = (torch.tensor(part.astype(np.float64), requires_grad=True) for part in parameters)
    for _ in range(steps):
        rows, labels = [], []
        for _ in range(batch):
            if fixed is not None:
                x = fixed[(draw() >> 32) * len(fixed) >> 32].tolist()
            else:
                words = [draw() for _ in range(-(-n // 64))]
                x = [2.0 * (words[i // 64] >> (i % 64) & 1) - 1 for i in range(n)]
            flip = -1.0 if noise and (draw() >> 11) / 2**53 < noise else 1.0
            rows.append(x)
            labels.append(flip * math.prod(x[:k]))
        f = torch.relu(torch.tensor(rows, dtype=torch.float64) @ W.T + b) @ u + c
        loss = torch.clamp(1 - torch.tensor(labels, dtype=torch.float64) * f, min=0).mean()
        gradient = torch.autograd.grad(loss, (W, b, u, c))
        with torch.no_grad():
            for part, slope in zip((W, b, u, c), gradient, strict=True):
                part *= 1 - rate * decay
                part -= rate * slope
    return [part.detach().numpy() for part in (W, b, u, c)]


def autograd_single_steps(
    activation: Callable[[torch.Tensor], torch.Tensor], loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    parameters: tuple[np.ndarray, ...], k: int, rng: np.random.Generator, steps: int, batch: int, rate: float,
    held_out: int,
) -> list[np.ndarray]:  # fmt: skip
    """W, b, u and c of u . s(Wx + b) + c after steps on the mean of a loss of (f, y), in float64."""
    n = parameters[0].shape[1]
    _codes(rng, held_out, n)
    draw = _split_mix(int(rng.integers(0, 2**64, dtype=np.uint64)))
    parts = [torch.tensor(part.astype(np.float64), requires_grad=True) for part in parameters]
    for _ in range(steps):
        rows = []
        for _ in range(batch):
            words = [draw() for _ in range(-(-n // 64))]
            rows.append([2.0 * (words[i // 64] >> (i % 64) & 1) - 1 for i in range(n)])
        x = torch.tensor(rows, dtype=torch.float64)
        W, b, u, c = parts
        f = activation(x @ W.T + b) @ u + c
        gradient = torch.autograd.grad(loss(f, torch.prod(x[:, :k], dim=1)).mean(), parts)
        with torch.no_grad():
            for part, slope in zip(parts, gradient, strict=True):
                part -= rate * slope
    return [part.detach().numpy() for part in parts]


def plain_polynet_run(
    initial: Sequence[Sequence[float]], steps: int, delta: float, seed: int, batch: int
) -> tuple[list[list[float]], float, float, float]:
    """SGD on a disjoint PolyNet as theorem 5.8 has it: the weights, the largest noise |s_ij| and irrelevant weight at
    any time, and the least xi_i w_i1 - 1/2 - (t - 1) eta R^(1-k), R = 3n' - 2, all by plain loops."""
    w = [[float(x) for x in row] for row in initial]
    k, block = len(w), len(w[0])
    n = k * block
    xi = [math.copysign(1.0, row[0]) for row in w]
    eta = 1 / (2 * math.sqrt(2 * steps * math.log(2 * n * steps / delta)))
    noise = [[0.0] * block for _ in range(k)]
    slack = min(xi[i] * w[i][0] - 0.5 for i in range(k))
    largest, irrelevant = 0.0, max((abs(x) for row in w for x in row[1:]), default=0.0)
    inputs = np.random.default_rng(seed).integers(0, 2, size=(steps, batch, k, block), dtype=np.int8)
    for t in range(steps):
        now = [row[:] for row in w]
        norms = [sum(map(abs, row)) for row in now]
        for i in range(k):
            others = [j for j in range(k) if j != i]
            rate = eta / math.prod(norms[j] for j in others)
            for c in range(block):
                gradient = 0.0
                for b in range(batch):
                    x = [[2.0 * int(bit) - 1 for bit in row] for row in inputs[t, b]]
                    label = math.prod(row[0] for row in x)
                    inner = [sum(a * z for a, z in zip(now[j], x[j], strict=True)) for j in range(k)]
                    gradient -= label * math.prod(inner[j] for j in others) * x[i][c] / batch
                mean = -math.prod(now[j][0] for j in others) if c == 0 else 0.0
                w[i][c] -= rate * gradient
                noise[i][c] += rate * (mean - gradient)
        largest = max([largest, *(abs(s) for row in noise for s in row)])
        irrelevant = max([irrelevant, *(abs(x) for row in w for x in row[1:])])
        slack = min(slack, *(xi[i] * w[i][0] - 0.5 - (t + 1) * eta / (3 * block - 2) ** (k - 1) for i in range(k)))
    return w, largest, irrelevant, slack
