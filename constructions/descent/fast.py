"""The forward pass of many blocks of in-context gradient descent, without the redundancy, for long runs in float64.

In a stream that `DescentBlock.prompt` has made, the weights are the same in every token and the test token takes no
part in the gradient. So the average over tokens in a forward head is the term itself, a family of heads is one
piecewise-linear function, and a block costs as much as one back-propagation, instead of (n+1) times the number of units
per family. What the block does to other streams (a leaking test token, unequal weights) is not reproduced here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.descent.block import DescentBlock
from lemmata.numerics.descent.piecewise import descend, piecewise_table
from lemmata.numerics.exact.numbers import to_float


def fast_trajectory(
    block: DescentBlock, inputs: ArrayLike, labels: ArrayLike, start: ArrayLike, steps: int, every: int = 1
) -> NDArray[np.float64]:
    """The weight slot before the first block and after every ``every`` blocks, shape (1 + steps // every, ..., D_N).

    Agrees with ``block.to_float().trajectory`` up to rounding.

    Args:
        block: in any number system.
        inputs: shape (..., n'+1, d_x), the test input last.
        labels: shape (..., n', d_y).
        start: shape (D_N,) or (..., D_N).
        steps: the number of blocks.
        every: how often to record, between 1 and steps.

    Raises:
        ValueError: as `DescentBlock.prompt`; if steps or every is out of range; if an argument of the activation comes
            into a window that a sum excludes, before any of the steps.
    """
    x, y, w = to_float(inputs), to_float(labels), to_float(start)
    block.check_prompt(x, y, w)
    batch, n = x.shape[:-2], x.shape[-2] - 1
    w = np.broadcast_to(w, (*batch, w.shape[-1]))
    windows = block.activation.excluded is not None or block.derivative.excluded is not None
    records = descend(
        block.layout.widths,
        w.reshape(-1, w.shape[-1]),
        x[..., :-1, :].reshape(-1, n, x.shape[-1]),
        y.reshape(-1, n, y.shape[-1]),
        (piecewise_table(block.activation), piecewise_table(block.derivative)),
        block.loss_derivative,
        float(to_float(np.array(block.effective_step_size(n), dtype=object))),
        (to_float(block.lower), to_float(block.upper)),
        steps,
        1 if windows and 1 <= every <= steps else every,
    ).reshape(-1, *batch, w.shape[-1])
    if windows:
        block.check_windows(x, records[:-1])
        records = records[every - 1 :: every]
    return np.concatenate([w[None], records])
