"""Element-wise multiplication: a token-wise layer of heads that multiply projections of the token, without ReLU.

Rows are tokens (row-vector convention, z W). Head m adds <z_i W_Q^m, z_i W_K^m> z_i W_V^m to token i, a cubic
polynomial in that token alone; no other token takes part.

Source: deep-icgd, definition-5 and definition-6 ("EWML").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lemmata.constructions.networks.layer import Layer
from lemmata.numerics.exact.systems import Array, product


@dataclass(frozen=True, eq=False)
class Multiplication(Layer):
    """The map z_i -> z_i + sum_m <z_i W_Q^m, z_i W_K^m> z_i W_V^m with H heads; a list of matrices is stacked.

    Attributes:
        query: all W_Q, shape (H, d, m).
        key: all W_K, shape (H, d, m).
        value: all W_V, shape (H, d, d).

    Raises:
        ValueError: for shapes that do not fit, or without a head.
    """

    kind: ClassVar[str] = "multiplication"

    query: Array
    key: Array
    value: Array

    def __post_init__(self) -> None:
        for name in ("query", "key", "value"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        q, k, v = self.query.shape, self.key.shape, self.value.shape
        if len(q) != 3 or q != k or v != (*q[:2], q[1]) or not q[0]:
            raise ValueError(
                "A multiplication layer has H >= 1 heads with query (H, d, m), key (H, d, m), value (H, d, d), but the "
                f"shapes are {q}, {k}, {v}."
            )

    def __call__(self, z: Array) -> Array:
        """The stream after the layer, shape (..., T, d)."""
        result = z
        for query, key, value in zip(self.query, self.key, self.value, strict=True):
            products = (product(z, query) * product(z, key)).sum(axis=-1, keepdims=True)
            result = result + products * product(z, value)
        return result

    @property
    def head_count(self) -> int:
        """H."""
        return len(self.query)

    def read_mask(self) -> Array:
        """The coordinates that some query, key or value reads."""
        return np.any([(part != 0).any(axis=(0, 2)) for part in (self.query, self.key, self.value)], axis=0)

    def write_mask(self) -> Array:
        """The coordinates that some value writes."""
        return (self.value != 0).any(axis=(0, 1))
