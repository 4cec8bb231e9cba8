"""From strings to tokens: the three input maps, with the class token in front.

    deterministic   x_t = E_(b_t) + P_t   for position vectors P that are given,
    trainable       x_t = E_(b_t) + P_t   for P that is chosen together with the weights,
    bag             x_t = b_t v_t         for bits, so that the order of the tokens does not matter,

and x_CLS = v_CLS. The embeddings E_c of the symbols, v_CLS and the space of the positions are orthogonal, as blocks of
one stream.

Source: variable-creation, setup-A.2.1a.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.sparse.positions import Positions
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array

__all__ = ["InputMap", "MapName", "TokenProducts"]

MapName = Literal["deterministic", "trainable", "bag"]
_LARGEST_STORED = 2**22


@dataclass(frozen=True, eq=False)
class TokenProducts:
    """The inner products of one vector with all tokens that can occur.

    Attributes:
        classes: for each position the number of its row, shape (T,).
        rows: exact, shape (classes, M): the product at symbol c.
        class_token: the product with v_CLS.
    """

    classes: Array
    rows: Array
    class_token: Any

    def at(self, position: int) -> Array:
        """The products at one position, shape (M,)."""
        return self.rows[self.classes[position]]


@dataclass(frozen=True, eq=False)
class InputMap:
    """An input map for strings of length T over M symbols.

    Attributes:
        name: "deterministic", "trainable" or "bag".
        positions: T vectors; of unit length, but for the trainable ones.
        alphabet: M.

    Raises:
        ValueError: for another name, or a bag of vectors with more than two symbols.
    """

    name: MapName
    positions: Positions
    alphabet: int = 2

    def __post_init__(self) -> None:
        if self.name not in get_args(MapName):
            raise ValueError(f"The input maps are {', '.join(get_args(MapName))}, not {self.name!r}.")
        if self.name == "bag" and self.alphabet != 2:
            raise ValueError(f"A bag of vectors is of bits; there is none for {self.alphabet} symbols.")

    @cached_property
    def stream(self) -> ResidualStream:
        """The coordinates of a token: ``symbol`` (not for a bag), ``class`` and ``position``."""
        symbol = {} if self.name == "bag" else {"symbol": self.alphabet}
        return ResidualStream({**symbol, "class": 1, "position": self.positions.dimension})

    @property
    def class_token(self) -> Array:
        """v_CLS, shape (1, d)."""
        return self.stream.rows(1, {"class": [[1]]})

    @property
    def embedding(self) -> Array | Affine:
        """E, shape (M, d); for a bag, whose tokens are vectors, the identity."""
        if self.name == "bag":
            return Affine.identity(self.stream.width)
        return self.stream.rows(self.alphabet, {"symbol": np.eye(self.alphabet, dtype=np.int64)})

    def position_rows(self) -> Array:
        """P in the stream, shape (T, d).

        Raises:
            ValueError: for more entries than fit as exact numbers.
        """
        count, width = self.positions.count, self.stream.width
        if count * width > _LARGEST_STORED:
            raise ValueError(
                f"{count} tokens of width {width} are too many to be stored as exact numbers: use the certificate, "
                "which needs their inner products alone."
            )
        return self.stream.rows(count, {"position": self.positions.rows(np.arange(count))})

    def tokens(self, strings: ArrayLike) -> Array:
        """The tokens of strings, without the class token, exact: shape (..., T, d) for symbols of shape (..., T)."""
        symbols = np.asarray(strings)
        if isinstance(self.embedding, Affine):
            return symbols[..., None] * self.position_rows()
        return self.embedding[symbols] + self.position_rows()

    def products(self, vector: ArrayLike) -> TokenProducts:
        """The inner products of a vector of the stream, exact, shape (d,), with every token that can occur."""
        u = as_exact(vector)
        values, unit = self.positions.products(u[self.stream["position"]])
        distinct, classes = np.unique(values, return_inverse=True)
        along = as_exact(distinct) * unit
        rows = along[:, None] * np.arange(2) if self.name == "bag" else along[:, None] + u[self.stream["symbol"]]
        return TokenProducts(classes.ravel(), rows, u[self.stream["class"]][0])
