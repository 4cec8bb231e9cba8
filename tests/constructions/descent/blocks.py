"""The blocks and the data on which the tests of in-context gradient descent run."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.bounds import (
    approximate_activation,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.functions.relu_sums import (
    constant,
    identity,
    squared_loss_derivative,
)
from lemmata.numerics.functions.smooth import tanh

BOX = ("-1/2", "1/2")


WIDTHS = (2, 3, 4, 1)


def tanh_block(pieces: int = 8, n: int = 3, widths: tuple[int, ...] = WIDTHS, step: object = "1/2") -> DescentBlock:
    sums = approximate_activation(widths, tanh, BOX, 1, pieces=pieces)
    return gradient_descent_block(widths, n, step, *sums, squared_loss_derivative(), BOX, 1, 1)


BLOCK = tanh_block()
"""Three layers, three examples."""


GOOD: dict[str, Any] = {
    "widths": (2, 3, 1),
    "examples": 3,
    "step_size": "1/2",
    "activation": identity(),
    "derivative": constant(1),
    "loss_derivative": squared_loss_derivative(),
    "box": (-1, 1),
    "input_bound": 1,
    "label_bound": 1,
}


def data(rng: np.random.Generator, block: DescentBlock, n: int = 3, batch: tuple[int, ...] = ()) -> tuple[Any, ...]:
    k = block.layout.widths
    return (
        rng.uniform(-1, 1, (*batch, n + 1, k[0])),
        rng.uniform(-1, 1, (*batch, n, k[-1])),
        rng.uniform(-0.5, 0.5, (*batch, block.layout.weight_count)),
    )


def exact_data(rng: np.random.Generator, block: DescentBlock, n: int = 3) -> tuple[Any, ...]:
    return tuple(as_exact((array * 64).astype(np.int64)) / fmpq(64) for array in data(rng, block, n))
