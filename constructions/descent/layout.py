"""The prompt of a transformer that trains a network: named coordinates for its data, weights and intermediate values.

A network of N layers without biases, r on every layer (the output included), has the widths (d_x, K_1, ..., K_(N-1),
d_y) and the weights V_j of shape (K_j, K_(j-1)); w lists them row by row, layer after layer, D_N numbers. A token of
the prompt holds, in this order, the blocks

    x, y;  w1, ..., wN (the weights, the same in every token);  p1, ..., pN (outputs of the layers);
    r'0, ..., r'(N-1) (derivatives; r'(j-1) belongs to layer j);  g (gradient of the loss);
    sN, ..., s1 (back-propagated errors);  1 (a constant);  t (1 at examples, 0 at the test token),

in total d_x + 2 d_y + D_N + 3 (K_1 + ... + K_(N-1) + d_y) + 2 coordinates. The test token, the last, has y = 0. A
transformer with softmax needs more scratch (`SoftmaxLayout`).

Source: deep-icgd, equation-2.1, definition-1 and definition-10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lemmata.constructions.networks.stream import Directions, ResidualStream
from lemmata.numerics.exact.systems import Array, conversion, number_system


class TokenLayout:
    """What the layouts of prompts share: blocks for x, y, weights, scratch, 1 and t, and how data are encoded in them.

    Attributes:
        stream: the named blocks.
    """

    stream: ResidualStream

    @property
    def data_sizes(self) -> tuple[int, int]:
        """(d_x, d_y)."""
        raise NotImplementedError

    @property
    def weight_count(self) -> int:
        """The number of weights."""
        raise NotImplementedError

    @cached_property
    def all_weights(self) -> Directions:
        """The directions of w, one for each weight."""
        raise NotImplementedError

    @cached_property
    def scratch(self) -> Directions:
        """The directions of all intermediate values, which are 0 in a prompt."""
        raise NotImplementedError

    @cached_property
    def one(self) -> Directions:
        """The direction of the constant 1, shape (1,)."""
        return self.block("1")

    def block(self, *names: str) -> Directions:
        """The directions of blocks, one after the other."""
        return self.stream.directions(*names)

    def encode(self, inputs: ArrayLike, labels: ArrayLike, weights: ArrayLike) -> Array:
        """The prompt, shape (..., n+1, width), in the widest number system of the arguments.

        Args:
            inputs: x_1, ..., x_(n+1), the test input last, shape (..., n+1, d_x), n >= 1.
            labels: y_1, ..., y_n, shape (..., n, d_y).
            weights: w, shape (D_N,) or (..., D_N).

        Raises:
            ValueError: for other shapes.
        """
        arrays = [np.asarray(array) for array in (inputs, labels, weights)]
        convert = conversion(number_system(arrays))
        x, y, w = (convert(array) for array in arrays)
        self.check_shapes(x, y, w)
        z = convert(np.zeros((*x.shape[:-1], self.stream.width), dtype=np.int64))
        z[..., self.stream["x"]] = x
        z[..., :-1, self.stream["y"]] = y
        z[..., self.all_weights.coordinates] = w[..., None, :]
        z[..., self.stream["1"]] += 1
        z[..., :-1, self.stream["t"]] += 1
        return z

    def check_shapes(self, x: Array, y: Array, w: Array) -> None:
        """ValueError unless inputs, labels and weights have shapes that `encode` accepts."""
        batch, tokens, (d_x, d_y) = x.shape[:-2], x.shape[-2] if x.ndim > 1 else 0, self.data_sizes
        if tokens < 2 or x.shape[-1] != d_x or y.shape != (*batch, tokens - 1, d_y):
            raise ValueError(
                f"A prompt needs inputs (..., n+1, {d_x}) and labels (..., n, {d_y}) with n >= 1, but the shapes "
                f"are {x.shape} and {y.shape}."
            )
        if w.ndim == 0 or w.shape[-1] != self.weight_count or w.shape[:-1] not in ((), batch):
            raise ValueError(f"The start of the weights must have shape (..., {self.weight_count}), but has {w.shape}.")

    def weights(self, z: Array) -> Array:
        """w in every token, shape (..., T, D_N)."""
        return self.all_weights.of(z)


@dataclass(frozen=True)
class PromptLayout(TokenLayout):
    """The coordinates of a token for networks of the given widths.

    Attributes:
        widths: (d_x, K_1, ..., K_(N-1), d_y).
        stream: the named blocks, computed.

    Raises:
        ValueError: for fewer than two widths (N < 1), or widths that are not integers >= 1.
    """

    widths: tuple[int, ...]
    stream: ResidualStream = field(init=False, compare=False)

    def __post_init__(self) -> None:
        try:
            widths = tuple(self.widths)
        except TypeError:
            raise ValueError(f"The widths must be a tuple (d_x, K_1, ..., d_y), not {self.widths!r}.") from None
        if len(widths) < 2:
            raise ValueError(
                f"A network needs N >= 1 layers, that is the widths (d_x, K_1, ..., K_(N-1), d_y), not {widths}."
            )
        if any(not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1 for k in widths):
            raise ValueError(f"The widths (d_x, K_1, ..., K_(N-1), d_y) must be integers >= 1, not {widths}.")
        object.__setattr__(self, "widths", tuple(int(k) for k in widths))
        weights = {f"w{j}": b * a for j, (a, b) in enumerate(pairwise(self.widths), start=1)}
        sizes = {"x": self.widths[0], "y": self.widths[-1]} | weights | self._scratch_sizes() | {"1": 1, "t": 1}
        object.__setattr__(self, "stream", ResidualStream(sizes))

    @property
    def data_sizes(self) -> tuple[int, int]:
        """(d_x, d_y)."""
        return self.widths[0], self.widths[-1]

    @property
    def depth(self) -> int:
        """N, the number of layers of the trained network."""
        return len(self.widths) - 1

    @property
    def weight_count(self) -> int:
        """D_N, the number of weights of the trained network."""
        return sum(a * b for a, b in pairwise(self.widths))

    @property
    def units(self) -> int:
        """K_1 + ... + K_(N-1) + d_y, the number of units of the trained network."""
        return sum(self.widths[1:])

    def output(self, j: int) -> Directions:
        """The directions of p(j), the output of layer j; p(0) = x."""
        return self.block("x" if j == 0 else f"p{j}")

    def weight_rows(self, j: int) -> Directions:
        """The directions of V_j, shape (K_j, K_(j-1))."""
        return self.block(f"w{j}").reshape(self.widths[j], self.widths[j - 1])

    @cached_property
    def all_weights(self) -> Directions:
        """The directions of w, shape (D_N,)."""
        return self.block(*(f"w{j}" for j in range(1, self.depth + 1)))

    @cached_property
    def scratch(self) -> Directions:
        """The directions of all intermediate values, which are 0 in a prompt."""
        return self.block(*self._scratch_sizes())

    def matrices(self, w: ArrayLike) -> list[Array]:
        """V_1, ..., V_N of shapes (..., K_j, K_(j-1)) from w of shape (..., D_N)."""
        array, result, start = np.asarray(w), [], 0
        for a, b in pairwise(self.widths):
            result.append(array[..., start : start + a * b].reshape(*array.shape[:-1], b, a))
            start += a * b
        return result

    def flatten(self, matrices: Sequence[Any]) -> Array:
        """w of shape (..., D_N) from V_1, ..., V_N."""
        return np.concatenate([np.reshape(V, (*np.shape(V)[:-2], -1)) for V in matrices], axis=-1)

    def _scratch_sizes(self) -> dict[str, int]:
        N, k = self.depth, self.widths
        outputs, derivatives = {f"p{j}": k[j] for j in range(1, N + 1)}, {f"r'{j}": k[j + 1] for j in range(N)}
        return outputs | derivatives | {"g": k[N]} | {f"s{j}": k[j] for j in range(N, 0, -1)}


@dataclass(frozen=True)
class SoftmaxLayout(PromptLayout):
    """The coordinates of a token for a transformer with softmax: more scratch, after s1.

    The blocks z1, ..., zN hold the arguments V_j p(j-1), q1, ..., q(N-1) the products V_(j+1)^T s(j+1), and G1, ..., GN
    the gradients s(j) p(j-1)^T of an example, row by row.
    """

    def gradient_rows(self, j: int) -> Directions:
        """The directions of G(j), shape (K_j, K_(j-1))."""
        return self.block(f"G{j}").reshape(self.widths[j], self.widths[j - 1])

    @property
    def gradient(self) -> Directions:
        """The directions of all G(j), in the order of the weights, shape (D_N,)."""
        return self.block(*(f"G{j}" for j in range(1, self.depth + 1)))

    def _scratch_sizes(self) -> dict[str, int]:
        N, k = self.depth, self.widths
        arguments = {f"z{j}": k[j] for j in range(1, N + 1)} | {f"q{j}": k[j] for j in range(1, N)}
        return super()._scratch_sizes() | arguments | {f"G{j}": k[j] * k[j - 1] for j in range(1, N + 1)}


@dataclass(frozen=True)
class RiskLayout(TokenLayout):
    """The coordinates of a token for a general risk: x, y, w, scratch G for the gradient of an example, 1 and t.

    Attributes:
        inputs: d_x.
        labels: d_y.
        count: D_w, the number of weights.
        stream: the named blocks, computed; d_x + d_y + 2 D_w + 2 coordinates.

    Raises:
        ValueError: unless all three are integers >= 1.
    """

    inputs: int
    labels: int
    count: int
    stream: ResidualStream = field(init=False, compare=False)

    def __post_init__(self) -> None:
        sizes = (self.inputs, self.labels, self.count)
        if any(not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1 for k in sizes):
            raise ValueError(f"The sizes (d_x, d_y, D_w) of a general risk must be integers >= 1, not {sizes}.")
        d_x, d_y, count = map(int, sizes)
        blocks = {"x": d_x, "y": d_y, "w": count, "G": count, "1": 1, "t": 1}
        object.__setattr__(self, "stream", ResidualStream(blocks))

    @property
    def data_sizes(self) -> tuple[int, int]:
        """(d_x, d_y)."""
        return self.inputs, self.labels

    @property
    def weight_count(self) -> int:
        """D_w."""
        return self.count

    @cached_property
    def all_weights(self) -> Directions:
        """The directions of w, shape (D_w,)."""
        return self.block("w")

    @cached_property
    def scratch(self) -> Directions:
        """The directions of G, shape (D_w,)."""
        return self.block("G")
