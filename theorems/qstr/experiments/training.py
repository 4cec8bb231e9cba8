"""Training on token regression with a linear link: data, a head in torch, and the loop.

A prompt has N standard Gaussian tokens of dimension d; position i has the label <u, x_(t_i)> of variance 1, with u of
equal entries and t_i uniform, shared by all positions of a prompt in simple regression. The input of position i is
(x_i; sqrt(d) omega_i; sqrt(d) omega_(t_i)). Codes are random signs over the root of d_e, drawn again while two of them
are too close.

Float32, one thread, fresh prompts in every step, AdamW with the standard weights of torch at the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.numerics.tokens.codes import PositionCodes, random_sign_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.links import linear_link
from lemmata.numerics.tokens.prompts import draw_prompts

if TYPE_CHECKING:
    import torch

__all__ = [
    "LAST_DIGIT",
    "admissible_codes",
    "attention_network",
    "draw_batch",
    "one_thread",
    "steps",
]

# Of a number with four digits a unit of the last one is at most 1e-3. After the 50 and 160 steps of the slices of
# `query_key` and `samples` processors with and without AVX differ by less than 2e-6 of a number, which rounding to four
# digits makes at most one unit.
LAST_DIGIT = 1e-3

Batch = tuple["torch.Tensor", "torch.Tensor"]


def admissible_codes(length: int, dimension: int, largest: float, seed: int) -> PositionCodes:
    """The first random sign codes whose correlations are at most ``largest``, which is 1/2 in the assumption."""
    attempt = 0
    while True:
        codes = random_sign_codes(length, dimension, 10_000 * seed + attempt)
        gram = codes.vectors @ codes.vectors.T
        if np.abs(gram - np.diag(np.diag(gram))).max() <= largest * codes.square:
            return codes
        attempt += 1


def draw_batch(settings: Mapping[str, Any], codes: PositionCodes, count: int, seed: int) -> Batch:
    """Inputs (count, N, d + 2 d_e) and labels (count, N) in float32."""
    import torch

    d = settings["dimension"]
    prompts = draw_prompts(count, settings["length"], d, 1, simple=settings["simple"], seed=seed)
    labels = np.asarray(prompts.labels(linear_link(np.full((1, d), 1 / math.sqrt(d)))), np.float32)
    return torch.from_numpy(np.asarray(encode(prompts, codes, "attention"), np.float32)), torch.from_numpy(labels)


def attention_network(width: int, hidden: int = 100) -> Any:
    """One softmax head with separate matrices for queries, keys, values and output, read out at each token by ReLUs."""
    import torch

    class Attention(torch.nn.Module):
        """The head ``query``, ``key``, ``value``, ``out``, and the ``readout``."""

        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value, self.out = (
                torch.nn.Linear(width, width, bias=False) for _ in range(4)
            )  # fmt: skip
            self.readout = torch.nn.Sequential(
                torch.nn.Linear(width, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
            )

        def forward(self, z: torch.Tensor) -> torch.Tensor:
            scores = self.query(z) @ self.key(z).transpose(1, 2) / math.sqrt(width)
            return self.readout(self.out(torch.softmax(scores, dim=-1) @ self.value(z)))[..., 0]

    return Attention()


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch with one thread, so that sums have one order."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def steps(
    settings: Mapping[str, Any], model: Any, codes: PositionCodes, seed: int, check: Callable[[int, float], bool]
) -> None:
    """Train until ``check``, which gets the number of steps and the mean squared error on test prompts, says stop."""
    import torch

    test = draw_batch(settings, codes, settings["test"], 10**8 * (seed + 1))
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings["rate"], weight_decay=settings["decay"])
    for step in range(settings["steps"] + 1):
        if step % settings["check_every"] == 0:
            with torch.no_grad():
                error = float(((model(test[0]) - test[1]) ** 2).mean())
            if check(step, error):
                return
        z, y = draw_batch(settings, codes, settings["batch"], 10**8 * (seed + 1) + 1 + step)
        optimiser.zero_grad(set_to_none=True)
        ((model(z) - y) ** 2).mean().backward()
        optimiser.step()
