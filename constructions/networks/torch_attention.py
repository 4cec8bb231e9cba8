"""Heads and attention layers as torch modules; heads of one form are computed together.

Kept apart because torch is slow to import; `lemmata.constructions.networks.torch` has the dispatch over the types of
layers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch.nn.functional import pad

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import Attending, AttentionLayer, Combination
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch_base import AffineModule, LayerModule, array, columns, module_of, parameter
from lemmata.numerics.exact.numbers import to_float


@module_of(Head)
class HeadModule(LayerModule):
    """A head; or several of one form (see `form`) side by side, which are computed together.

    Its parts are the modules ``query``, ``key``, ``value`` and ``output``, its parameters ``relative_keys``,
    ``null_key`` and ``null_value``; those that the heads lack are None. With H heads all of them have H times as many
    columns, those of the first head first; but ``output`` has H times as many rows, and so adds the heads, which are
    added too where there is no output map, or concatenated.

    The hard maximum (ties within gap/2 averaged) is differentiable in the values alone.
    """

    def __init__(
        self,
        heads: Head | Sequence[Head],
        dtype: torch.dtype | None = None,
        stream: ResidualStream | None = None,
        combination: Combination = "residual",
    ) -> None:
        self.source = (heads,) if isinstance(heads, Head) else tuple(heads)
        head = self.source[0]
        if head.weigh == "hardmax" and head.gap is None:
            raise ValueError("Hard attention as a torch module needs a proven gap: give the head one, or use softmax.")
        super().__init__(head, stream)
        self.query, self.key, self.value = (
            AffineModule(_beside([getattr(part, name) for part in self.source]), dtype)
            for name in ("query", "key", "value")
        )
        outputs = [part.output for part in self.source if part.output is not None]
        self.output = AffineModule(_above(outputs), dtype) if outputs else None
        table = np.concatenate([part.relative_keys for part in self.source], axis=1)
        self.relative_keys = parameter(table, dtype) if len(table) else None
        nulls = [part.null for part in self.source if part.null is not None]
        null = [np.concatenate(parts) for parts in zip(*nulls, strict=True)] or (None, None)
        self.null_key, self.null_value = (None if part is None else parameter(part, dtype) for part in null)
        self.added = combination != "concatenate" and not outputs
        self.weigh, self.causal = head.weigh, head.causal
        self.scale = 1.0 if head.weigh == "hardmax" else head.scale
        self.tie_width = None if head.gap is None else _number(head.gap) / 2

    def forward(
        self, z: torch.Tensor, memory: torch.Tensor | None = None, visible: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The output of the head, shape (..., T, e), for z (..., T, d); memory and visible as for `Head`."""
        if memory is not None and self.relative_keys is not None:
            raise ValueError("A head with relative keys attends to its own sequence, no memory.")
        attended = z if memory is None else memory
        return self.attend(z, self.key(attended), self.value(attended), visible, past=self.causal and memory is None)

    def attend(
        self,
        z: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        visible: torch.Tensor | None = None,
        past: bool = False,
    ) -> torch.Tensor:
        """The output for projected keys (..., n, m) and values (..., n, e'); a decoder keeps those of earlier steps.

        If there are relative keys, or only the past is seen, then the tokens z, (..., T, d), are the last T of the n.
        """
        p, values = self.weights(z, keys, visible, past), self._split(values)
        if self.null_value is None:
            return self._combined(p @ values)
        return self._combined(p[..., :1] * self._split(self.null_value[None]) + p[..., 1:] @ values)

    def weights(
        self, z: torch.Tensor, keys: torch.Tensor, visible: torch.Tensor | None = None, past: bool = False
    ) -> torch.Tensor:
        """The attention weights, shape (..., T, n), or (..., H, T, n) of H > 1 heads; those of a null pair in front."""
        T, n = z.shape[-2], keys.shape[-2]
        if visible is not None and visible.dim() > 2 and len(self.source) > 1:
            visible = visible.unsqueeze(-3)
        if past:
            seen = torch.ones(T, n, dtype=torch.bool, device=z.device).tril(n - T)
            visible = seen if visible is None else seen & visible
        queries = self._split(self.query(z)) * self.scale
        if self.weigh == "relu":  # a positive factor of the queries is one of the scores and of their ReLU
            queries = queries / (n if visible is None else visible.sum(dim=-1, keepdim=True))
        scores = queries @ self._split(keys).transpose(-1, -2)
        if self.relative_keys is not None:
            relative = _by_position(queries @ self._split(self._keys_by_distance(n)).transpose(-1, -2))
            scores += relative if past else relative.tril(n - T)  # without meaning at later tokens
        if self.null_key is not None:
            scores = torch.cat([queries @ self._split(self.null_key[None]).transpose(-1, -2), scores], dim=-1)
            visible = None if visible is None else pad(visible, (1, 0), value=True)
        if visible is not None:
            hidden = torch.zeros(visible.shape, dtype=z.dtype, device=z.device).masked_fill(~visible, -math.inf)
            scores += hidden  # few rows that heads and sequences share: faster than to fill all scores
        if self.weigh == "relu":
            return torch.relu(scores)
        if self.tie_width is not None and self.weigh == "hardmax":
            tied = scores >= scores.max(dim=-1, keepdim=True).values - self.tie_width
            return tied.to(z.dtype) / tied.sum(dim=-1, keepdim=True)
        return torch.softmax(scores, dim=-1)

    def on_symbols(self, table: torch.Tensor, symbols: torch.Tensor) -> torch.Tensor:
        """The output for the tokens z = table[symbols], shape (..., T, e), from symbols and distances alone.

        S_ij = a[x_i, x_j] + b[x_i, i-j], so that the weights of all tokens with one symbol add up to a product of
        exp(a) and a Toeplitz matrix exp(b) with the one-hot tokens: k products in place of T^2 exponentials for each
        sequence, which is several times as fast for few symbols. In a row of a, and of b, what lies more than 80 below
        the largest entry (700 in float64) is lost.

        Args:
            table: shape (k, d).
            symbols: integers 0, ..., k - 1 of shape (..., T).

        Raises:
            ValueError: unless all tokens see those before them and themselves, by a softmax and without a null pair.
        """
        if self.weigh != "softmax" or not self.causal or self.null_key is not None:
            raise ValueError("Only causal softmax heads without a null pair can be computed by symbols.")
        k, T, H = len(table), symbols.shape[-1], len(self.source)
        queries, keys, values, relative = (
            part.unflatten(-1, (H, -1)).transpose(0, 1)
            for part in (self.query(table), self.key(table), self.value(table), self._keys_by_distance(T))
        )
        by_symbol, by_distance = (queries @ part.transpose(-1, -2) * self.scale for part in (keys, relative))
        symbol, distance = (torch.exp(part - part.amax(dim=-1, keepdim=True)) for part in (by_symbol, by_distance))
        toeplitz = _by_position(distance.unsqueeze(-2).expand(-1, -1, T, -1)).tril()
        one_hot = torch.nn.functional.one_hot(symbols, k).to(table.dtype)
        masses = torch.einsum("hmij,...jl->...hmil", toeplitz, one_hot)
        own = symbols[..., None, None, :, None].expand(*masses.shape[:-3], 1, T, k)
        shares = masses.gather(-3, own).squeeze(-3) * symbol[:, symbols].movedim(0, -3)
        result = shares / shares.sum(dim=-1, keepdim=True) @ values
        return self._combined(result if H > 1 else result.squeeze(-3))

    def to_heads(self) -> tuple[Head, ...]:
        """The heads with the present weights, in float64; the first has the bias of all output maps."""
        H = len(self.source)
        parts = {name: columns(getattr(self, name), H) for name in ("query", "key", "value")}
        changes: list[dict[str, Any]] = [{name: part[h] for name, part in parts.items()} for h in range(H)]
        for h, change in enumerate(changes):
            if self.relative_keys is not None:
                change["relative_keys"] = np.split(array(self.relative_keys), H, axis=1)[h]
            if self.null_key is not None and self.null_value is not None:
                change["null"] = tuple(np.split(array(part), H)[h] for part in (self.null_key, self.null_value))
            if self.output is not None:
                output = self.output.to_layer()
                rows = np.split(output.weight, H)[h]
                change["output"] = replace(output, weight=rows) if h == 0 else Affine(rows, fixed=output.fixed)
        return tuple(replace(head, **change) for head, change in zip(self.source, changes, strict=True))

    def _combined(self, result: torch.Tensor) -> torch.Tensor:
        """The outputs of all heads, as `_split`, added or concatenated, after the output map: (..., T, e)."""
        if len(self.source) > 1:
            result = result.sum(dim=-3) if self.added else result.transpose(-2, -3).flatten(-2)
        return result if self.output is None else self.output(result)

    def _keys_by_distance(self, n: int) -> torch.Tensor:
        """The relative keys at the distances n - 1, ..., 0, those that are missing 0."""
        if self.relative_keys is None:
            return self.key.weight.new_zeros(n, self.key.weight.shape[1])
        return pad(self.relative_keys[:n], (0, 0, 0, max(0, n - len(self.relative_keys)))).flip(0)

    def _split(self, columns: torch.Tensor) -> torch.Tensor:
        """The columns of each head, shape (..., H, T, m) for (..., T, H m) if H > 1; of a single head as they are."""
        H = len(self.source)
        return columns if H == 1 else columns.unflatten(-1, (H, -1)).transpose(-2, -3)


@module_of(AttentionLayer)
class AttentionModule(LayerModule):
    """A layer of heads; ``heads`` holds one module for every run of heads of one form."""

    def __init__(
        self, layer: AttentionLayer, dtype: torch.dtype | None = None, stream: ResidualStream | None = None
    ) -> None:
        super().__init__(layer, stream)
        self.combination: Combination = layer.combination
        self.attending: Attending = layer.attending
        apart = self.combination == "concatenate" and any(head.output is not None for head in layer.heads)
        runs = [(head,) for head in layer.heads] if apart else [tuple(run) for _, run in groupby(layer.heads, form)]
        self.heads: Any = torch.nn.ModuleList(
            HeadModule(run, dtype, stream if len(run) == 1 else None, self.combination) for run in runs
        )

    def forward(self, z: torch.Tensor, last: bool = False) -> torch.Tensor:
        """The stream after the layer, shape (..., T, d'); with ``last``, at the last token alone, (..., 1, d')."""
        if last:
            own = z[..., -1:, :]
            return self.combined(own, [head.attend(own, head.key(z), head.value(z)) for head in self.heads])
        own = z[..., :1, :] if self.attending == "first" else z
        return self.combined(own, [head(own, z) if self.attending == "first" else head(z) for head in self.heads])

    def combined(self, z: torch.Tensor, outputs: Sequence[torch.Tensor]) -> torch.Tensor:
        """The stream after the layer, from the stream z before it and the outputs of ``heads``."""
        if self.combination == "concatenate":
            return torch.cat(list(outputs), dim=-1)
        return z + sum(outputs) if self.combination == "residual" else sum(outputs[1:], start=outputs[0])

    def to_layer(self) -> AttentionLayer:
        """The layer with the present weights, in float64."""
        heads = tuple(head for run in self.heads for head in run.to_heads())
        return AttentionLayer(heads, self.combination, self.attending)


def form(head: Head) -> tuple[Any, ...]:
    """What heads must have in common to be computed together: shapes and options."""
    maps = [part for part in (head.query, head.key, head.value, head.output) if part is not None]
    shapes = [(part.weight.shape, part.bias.shape, part.fixed) for part in maps]
    gap = None if head.gap is None else _number(head.gap)
    return shapes, head.relative_keys.shape, head.null is None, head.weigh, head.causal, head.scale, gap


def _by_position(by_distance: torch.Tensor) -> torch.Tensor:
    """Numbers by distance n - 1, ..., 0 for the last T of n tokens, (..., T, n), by the place of the attended token.

    Right up to the token itself. Row i has to start T - 1 - i columns later: with one column more in front, the rows
    read as one line, from its entry T on, are those of length n.
    """
    T, n = by_distance.shape[-2:]
    return pad(by_distance, (1, 0)).flatten(-2)[..., T:].unflatten(-1, (T, n))


def _number(value: Any) -> float:
    """A number of any system, in float64."""
    return float(to_float([value])[0])


def _beside(parts: Sequence[Affine]) -> Affine:
    """z -> (z W_1 + b_1, z W_2 + b_2, ...)."""
    weights, biases = zip(*((part.weight, part.bias) for part in parts), strict=True)
    return Affine(np.concatenate(weights, axis=1), np.concatenate(biases), fixed=parts[0].fixed)


def _above(parts: Sequence[Affine]) -> Affine:
    """(z_1, z_2, ...) -> z_1 W_1 + b_1 + z_2 W_2 + b_2 + ..."""
    weights, biases = zip(*((part.weight, part.bias) for part in parts), strict=True)
    return Affine(np.concatenate(weights), np.sum(biases, axis=0), fixed=parts[0].fixed)
