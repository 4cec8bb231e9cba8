"""Transformers: tokens are embedded, pass through layers of the shared vocabulary, and are read by a linear map.

A sequence x of t tokens becomes the stream

    z = (prefix rows; e_(x_1) + p_1; ...; e_(x_t) + p_t),

with rows in front of every sequence, such as a beginning-of-sequence token, a class token, or rows of a prior, and with
absolute positions p_i if there are any. Layers of any type follow, and a readout, at the tokens or at the first row
alone. The weights live in one number system; those that mix them are converted to the widest: balls before floats
before exact numbers.

Source: induction-heads, definition-transformer; hidden-progress, appendix B.4.1 (class token).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Weights, changed
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.systems import Array, conversion, product

if TYPE_CHECKING:
    import torch

Reading = Literal["tokens", "first"]


@dataclass(frozen=True, eq=False)
class Transformer(Weights):
    """A transformer over symbols, or over vectors as tokens, with prefix rows in front of every sequence.

    Attributes:
        embedding: e, shape (k, d), one row for every symbol; or an affine map to width d, of tokens that are vectors.
        prefix: rows that precede the tokens, shape (r, d), r >= 0.
        layers: first to last.
        readout: P, shape (d', L), or (d',) for one number, with d' the width after the last layer; or an affine map.
        positions: p, shape (n, d), for sequences of up to n tokens; none if it is not given.
        read: at the "tokens", or at the "first" row alone.
        alphabet: the integers that are the symbols, in increasing order; 1, ..., k if it is not given.

    All arrays are converted to one number system, and read-only.

    Raises:
        ValueError: for widths that do not fit, numbers that are not finite, or another alphabet or reading.
    """

    translator: ClassVar[str] = "networks.torch_transformer"

    embedding: Any  # an array or an Affine
    prefix: Array
    layers: tuple[Any, ...]
    readout: Any  # an array or an Affine
    positions: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    read: Reading = "tokens"
    alphabet: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("embedding", "prefix", "readout", "positions"):
            value = getattr(self, name)
            object.__setattr__(self, name, value if isinstance(value, Affine) else np.asarray(value))
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.positions.size:
            object.__setattr__(self, "positions", np.zeros((0, self.width), dtype=np.int64))
        if not self.alphabet and not isinstance(self.embedding, Affine):
            object.__setattr__(self, "alphabet", tuple(range(1, len(self.embedding) + 1)))
        self._check_widths()
        self._check_reading()
        convert = conversion(self.arithmetic)
        for part in fields(self):
            frozen = changed(getattr(self, part.name), np.ndarray, lambda array: _frozen(convert(array)))
            object.__setattr__(self, part.name, frozen)

    @property
    def symbols(self) -> int:
        """The number k of symbols; 0 if the tokens are vectors."""
        return len(self.alphabet)

    @property
    def width(self) -> int:
        """The width d of the stream before the first layer."""
        return self.embedding.outputs if isinstance(self.embedding, Affine) else self.embedding.shape[-1]

    def embed(self, x: ArrayLike) -> Array:
        """The stream before the first layer, shape (..., r + t, d), for tokens x of shape (..., t), or (..., t, q).

        Raises:
            ValueError: if there is no token, or there are more than positions; if a symbol is not in the alphabet.
        """
        if isinstance(self.embedding, Affine):
            tokens = np.asarray(x)
            if tokens.ndim < 2 or tokens.size == 0:
                raise ValueError(f"A sequence must have at least one token, a vector, not the shape {tokens.shape}.")
            rows = self.embedding(tokens)
        else:
            rows = self.embedding[token_numbers(x, self.alphabet)]
        t = rows.shape[-2]
        if len(self.positions):
            if t > len(self.positions):
                raise ValueError(f"There are {len(self.positions)} positions, too few for {t} tokens.")
            rows = rows + self.positions[:t]
        front = np.broadcast_to(self.prefix, (*rows.shape[:-2], *self.prefix.shape))
        return np.concatenate([front, rows], axis=-2)

    def stream(self, x: ArrayLike, layers: int | None = None) -> Array:
        """The stream after the first ``layers`` layers (all of them if None), prefix rows included."""
        z = self.embed(x)
        for layer in self.layers[:layers]:
            z = layer(z)
        return z

    def __call__(self, x: ArrayLike) -> Array:
        """The outputs at the tokens x, shape (..., t, L), or at the first row, (..., L); see `embed` for errors.

        The last axis is missing if the readout is a vector.
        """
        z = self.stream(x)
        z = z[..., len(self.prefix) :, :] if self.read == "tokens" else z[..., :1, :]
        readout = self.readout
        if isinstance(readout, Affine):
            outputs = readout(z)
        else:
            outputs = product(z, readout) if readout.ndim == 2 else product(z, readout[:, None])[..., 0]
        return outputs if self.read == "tokens" else np.take(outputs, 0, axis=z.ndim - 2)

    def hard(self) -> Self:
        """The same weights with hard attention in every head."""
        return self.change(Head, lambda head: replace(head, weigh="hardmax"))

    def to_torch(
        self,
        context: int | None = None,
        *,
        dtype: torch.dtype | None = None,
        stream: ResidualStream | None = None,
        by_symbol: bool = False,
    ) -> torch.nn.Module:
        """A torch module with the same weights as trainable parameters (float64 by default).

        Its forward pass takes tokens as the transformer does to outputs of the same shape. Its method `to_layer` gives
        the transformer with the present weights.

        Args:
            context: if given, every table of relative keys is padded by zeros to this many rows, so that all distances
                below it can be trained.
            dtype: of the parameters.
            stream: if given, the modules print the names of the blocks that the layers read and write.
            by_symbol: whether the first layer is computed by `HeadModule.on_symbols`, which is faster for few symbols;
                its scores must be moderate.

        Raises:
            ValueError: if a head has hard attention, which has no gradient, or the context is no positive number; for a
                first layer that cannot be computed by symbols.
        """
        module = import_module(f"lemmata.constructions.{self.translator}").TransformerModule
        if context is None:
            return module(self, dtype, stream, by_symbol=by_symbol)
        if context < 1:
            raise ValueError(f"The context must have at least one token, not {context}.")
        padded = self.change(Head, lambda head: replace(head, relative_keys=_padded(head.relative_keys, context)))
        return module(padded, dtype, stream, context, by_symbol)

    def _check_widths(self) -> None:
        if isinstance(self.embedding, Affine):
            fits = not self.alphabet
        else:
            fits = self.embedding.ndim == 2 and self.embedding.size > 0
        outputs = 2 if isinstance(self.readout, Affine) else self.readout.ndim
        if not fits or self.prefix.ndim != 2 or self.positions.ndim != 2 or outputs not in (1, 2):
            raise ValueError(
                "The shapes must be embedding (k, d), prefix (r, d), readout (d', L) or (d',), positions (n, d), with "
                "k, d >= 1; an affine embedding has no alphabet."
            )
        width = self.width
        for name, rows in (("prefix", self.prefix), ("table of positions", self.positions)):
            if rows.shape[1] != width:
                raise ValueError(f"The {name} has width {rows.shape[1]}, but the embedding has {width}.")
        for number, layer in enumerate(self.layers, start=1):
            if layer.inputs != width:
                raise ValueError(f"Layer {number} reads {layer.inputs} coordinates, but the stream has {width}.")
            width = layer.outputs
        inputs = self.readout.inputs if isinstance(self.readout, Affine) else self.readout.shape[0]
        if inputs != width:
            raise ValueError(f"The readout reads {inputs} coordinates, but the stream has {width}.")

    def _check_reading(self) -> None:
        if self.read not in get_args(Reading):
            raise ValueError(f"A transformer is read at the tokens or at the first row, not at {self.read!r}.")
        first = any(isinstance(layer, AttentionLayer) and layer.attending == "first" for layer in self.layers)
        if first and self.read != "first":
            raise ValueError("Where the first row alone attends, it alone can be read.")
        alphabet = tuple(self.alphabet)
        rows = 0 if isinstance(self.embedding, Affine) else len(self.embedding)
        if len(alphabet) != rows or list(alphabet) != sorted(set(alphabet)):
            raise ValueError(f"The alphabet must be {rows} integers in increasing order, not {alphabet}.")
        object.__setattr__(self, "alphabet", alphabet)


def token_numbers(x: ArrayLike, alphabet: Sequence[int]) -> NDArray[np.int64]:
    """The places 0, ..., k - 1 of tokens in the alphabet, shape (..., t), t >= 1.

    Raises:
        ValueError: if there is no token, or tokens are not integers of the alphabet, which is in increasing order.
    """
    tokens = np.asarray(x)
    if tokens.ndim < 1 or tokens.size == 0:
        raise ValueError(f"A sequence must have at least one token, but the shape is {tokens.shape}.")
    if tokens.dtype.kind not in "iu":
        raise ValueError(f"Tokens must be integers {listed(alphabet)}, not of type {tokens.dtype}.")
    foreign = sorted(set(tokens.ravel().tolist()) - set(alphabet))
    if foreign:
        raise ValueError(f"Tokens must be integers {listed(alphabet)}, but the sequence holds {foreign[:5]}.")
    return np.searchsorted(np.array(alphabet), tokens.astype(np.int64))


def listed(alphabet: Sequence[int]) -> str:
    """The alphabet in words: 1, ..., k."""
    first, last = alphabet[0], alphabet[-1]
    return f"{first}, ..., {last}" if last - first + 1 == len(alphabet) else ", ".join(map(str, alphabet))


def _padded(table: Array, rows: int) -> Array:
    """The table with rows of zeros below, so that it has at least so many."""
    missing = max(0, rows - len(table))
    return np.concatenate([table, np.zeros((missing, table.shape[1]), dtype=np.int64)])


def _frozen(array: Array) -> Array:
    """A read-only copy, if all entries are finite."""
    result = np.array(array)
    balls = result.ravel() if result.dtype == object else []
    finite = np.all(np.isfinite(result)) if result.dtype == np.float64 else True
    if not finite or any(isinstance(x, arb) and not x.is_finite() for x in balls):
        raise ValueError("The weights of a transformer must be finite.")
    result.flags.writeable = False
    return result
