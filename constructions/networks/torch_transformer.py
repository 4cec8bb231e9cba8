"""Transformers as torch modules: the same weights, trainable, and read back by `to_layer`.

Kept apart because torch is slow to import; use `Transformer.to_torch`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch import to_torch
from lemmata.constructions.networks.torch_attention import AttentionModule, HeadModule
from lemmata.constructions.networks.torch_base import AffineModule, ShownModule, array, module_of, parameter
from lemmata.constructions.networks.transformer import Transformer, listed


@module_of(Transformer)
class TransformerModule(ShownModule):
    """A transformer; ``embedding``, ``prefix``, ``positions``, ``readout`` and all ``layers`` are trainable.

    Attributes:
        context: the most tokens that it is for; None if there is no limit.

    Raises:
        ValueError: as `Transformer.to_torch`.
    """

    def __init__(
        self,
        transformer: Transformer,
        dtype: torch.dtype | None = None,
        stream: ResidualStream | None = None,
        context: int | None = None,
        by_symbol: bool = False,
    ) -> None:
        super().__init__()
        self.source = transformer
        self.embedding, self.readout = (_part(part, dtype) for part in (transformer.embedding, transformer.readout))
        self.prefix = parameter(transformer.prefix, dtype) if len(transformer.prefix) else None
        self.positions = parameter(transformer.positions, dtype) if len(transformer.positions) else None
        self.layers: Any = torch.nn.ModuleList(
            to_torch(layer, dtype=dtype, stream=stream) for layer in transformer.layers
        )
        self.context = len(transformer.positions) or None if context is None else context
        self.by_symbol = by_symbol
        self.numbers: Any
        self.register_buffer("numbers", _numbers(transformer.alphabet), persistent=False)
        mixing = [n for n, layer in enumerate(self.layers) if any(isinstance(m, HeadModule) for m in layer.modules())]
        self.mixing = [n if isinstance(self.layers[n], AttentionModule) else None for n in mixing] or [None]
        if by_symbol and (self.positions is not None or self.mixing[0] != 0 or not self.source.symbols):
            raise ValueError("By symbols, heads are computed in a first layer that sees symbols and no positions.")

    def forward(self, tokens: torch.Tensor, last: bool = False) -> torch.Tensor:
        """The outputs as of the transformer; with ``last``, those at the last token alone, (..., 1, L).

        Raises:
            ValueError: if there is no token, or a symbol is not in the alphabet.
        """
        last = last and self.source.read == "tokens"
        rows, z = self._embed(tokens)
        for number, layer in enumerate(self.layers):
            ends = last and number == self.mixing[-1]  # the layers after it read the last row alone
            if number == 0 and self.by_symbol:
                table = self.embedding if self.prefix is None else torch.cat([self.embedding, self.prefix])
                z = layer.combined(z, [head.on_symbols(table, rows) for head in layer.heads])
                z = z[..., -1:, :] if ends else z
            else:
                z = layer(z, last=True) if ends else layer(z)
        if self.source.read == "first":
            z = z[..., 0, :]
        elif last:
            z = z[..., -1:, :]
        else:
            z = z[..., len(self.source.prefix) :, :]
        return self.readout(z) if isinstance(self.readout, AffineModule) else z @ self.readout

    def to_layer(self) -> Transformer:
        """The transformer with the present weights, in float64."""
        parts = {name: getattr(self, name) for name in ("embedding", "prefix", "positions", "readout")}
        weights = {name: _values(part) for name, part in parts.items() if part is not None}
        return replace(self.source, layers=tuple(layer.to_layer() for layer in self.layers), **weights)

    def _embed(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The numbers of all rows, those of the prefix after those of the symbols, and the stream."""
        r, k = len(self.source.prefix), self.source.symbols
        if isinstance(self.embedding, AffineModule):
            rows, z = tokens, self.embedding(tokens)
        else:
            rows = self._rows(tokens)
            z = self.embedding[rows]
        if self.positions is not None:
            z = z + self.positions[: z.shape[-2]]
        if self.prefix is not None:
            front = torch.arange(k, k + r, device=rows.device).expand(*rows.shape[:-1], r)
            rows = torch.cat([front, rows], dim=-1) if k else rows
            z = torch.cat([self.prefix.expand(*z.shape[:-2], *self.prefix.shape), z], dim=-2)
        return rows, z

    def _rows(self, tokens: torch.Tensor) -> torch.Tensor:
        """The numbers 0, ..., k - 1 of symbols, or ValueError."""
        places = tokens - self.source.alphabet[0]
        if tokens.numel() and int(places.min()) >= 0 and int(places.max()) < len(self.numbers):
            rows = places if len(self.numbers) == self.source.symbols else self.numbers[places]
            if int(rows.min()) >= 0:
                return rows
        raise ValueError(f"The module takes at least one token, and tokens {listed(self.source.alphabet)} only.")


def _part(part: Any, dtype: torch.dtype | None) -> Any:
    return AffineModule(part, dtype) if isinstance(part, Affine) else parameter(part, dtype)


def _values(part: Any) -> Any:
    return part.to_layer() if isinstance(part, AffineModule) else array(part)


def _numbers(alphabet: tuple[int, ...]) -> torch.Tensor:
    """The numbers of all integers from the first symbol to the last; -1 where the alphabet has a gap."""
    numbers = {symbol: number for number, symbol in enumerate(alphabet)}
    return torch.tensor([numbers.get(a, -1) for a in range(alphabet[0], alphabet[-1] + 1)] if alphabet else [])
