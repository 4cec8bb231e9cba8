"""The Turing-machine transformer as a torch module: the same weights as parameters, hard-max or softmax attention.

Kept apart because torch is slow to import; use `turing_module` (or `TuringTransformer.to_torch`) and `run_torch`.

Source: turing, def-transformer and remark-4.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from constructions.networks.affine import Affine
from constructions.networks.decoder import DecoderAttention, DecoderLayer
from constructions.turing.compiler import TuringTransformer
from constructions.turing.evaluators.dense import dense_memory
from constructions.turing.evaluators.run import MEMORY_LIMIT, TransformerRun, check_memory, decoded_run
from numerics.exact.numbers import to_float

Pair = tuple[torch.Tensor, torch.Tensor]


class TorchAffine(torch.nn.Module):
    """z W + b, with the parameters ``weight`` and ``bias``."""

    def __init__(self, layer: Affine, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight, self.bias = (_parameter(array, dtype) for array in layer.arrays())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., e) for z of shape (..., d)."""
        return z @ self.weight + self.bias


class TorchDecoderAttention(torch.nn.Module):
    """A head with biases and a null pair; hard (ties averaged) if ``sharpness`` is None, else softmax.

    The hard maximum is differentiable in the values alone.
    """

    def __init__(self, head: DecoderAttention, dtype: torch.dtype) -> None:
        super().__init__()
        self.query, self.key, self.value = (TorchAffine(part, dtype) for part in (head.query, head.key, head.value))
        self.null_key, self.null_value = (_parameter(array, dtype) for array in (head.null_key, head.null_value))
        self.tie_width = head.tie_width
        self.sharpness = head.sharpness if head.normalisation == "softmax" else None

    def forward(
        self, z: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, visible: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Shape (B, d), for z (B, d) and projected keys (B, n, m) and values (B, n, d)."""
        query = self.query(z)
        scores = (keys @ query[:, :, None])[:, :, 0]
        if visible is not None:
            scores = scores.masked_fill(~visible, -torch.inf)
        scores = torch.cat([(query @ self.null_key)[:, None], scores], dim=1)
        if self.sharpness is None:
            tied = scores >= scores.max(dim=1, keepdim=True).values - self.tie_width
            p = tied.to(z.dtype) / tied.sum(dim=1, keepdim=True)
        else:
            p = torch.softmax(self.sharpness * scores, dim=1)
        return z + p[:, :1] * self.null_value + (p[:, None, 1:] @ values)[:, 0]


class TorchDecoderLayer(torch.nn.Module):
    """Self-attention, attention to the encoder, three ReLU layers; an absent attention is the identity."""

    def __init__(self, layer: DecoderLayer, dtype: torch.dtype) -> None:
        super().__init__()
        own, cross = layer.self_attention, layer.cross_attention
        self.own = None if own is None else TorchDecoderAttention(own, dtype)
        self.cross = None if cross is None else TorchDecoderAttention(cross, dtype)
        self.functional = torch.nn.ModuleList(TorchAffine(part, dtype) for part in layer.feed_forward.layers)

    def forward(
        self, z: torch.Tensor, history: Pair | None, encoder: Pair | None, visible: torch.Tensor
    ) -> torch.Tensor:
        """Shape (B, d), for z (B, d) and the projected memories of both attentions."""
        if self.own is not None and history is not None:
            z = self.own(z, *history)
        if self.cross is not None and encoder is not None:
            z = self.cross(z, *encoder, visible)
        for affine in self.functional:
            z = torch.relu(affine(z))
        return z


class TorchTuringTransformer(torch.nn.Module):
    """The decoder run for the time steps 0, ..., T; all weights are parameters, the positions are not."""

    def __init__(self, transformer: TuringTransformer, dtype: torch.dtype, softmax: float | None) -> None:
        super().__init__()
        self.transformer = transformer
        self.stack = [TorchDecoderLayer(layer, dtype) for layer in transformer.layers]
        self.layers = torch.nn.ModuleList(self.stack)  # the same, registered
        for head in self.modules():
            if isinstance(head, TorchDecoderAttention):
                head.sharpness = softmax
        self.embedding, self.start, self.classifier = (
            _parameter(array, dtype) for array in (transformer.embedding, transformer.start, transformer.classifier)
        )

    def encode(self, words: Sequence[Sequence[int]]) -> Pair:
        """The encoder's outputs (B, m, d), padded, and which of them exist, (B, m)."""
        codes = [self.transformer.encode(word) for word in words]
        longest = max(len(rows) for rows in codes)
        positions = np.zeros((len(words), longest, self.transformer.layout.width))
        symbols, visible = (np.zeros((len(words), longest), dtype=np.int64) for _ in range(2))
        for b, (word, rows) in enumerate(zip(words, codes, strict=True)):
            positions[b, : len(word)] = rows - self.transformer.embedding[list(word)]
            symbols[b, : len(word)], visible[b, : len(word)] = word, 1
        fixed = torch.as_tensor(positions, dtype=self.embedding.dtype)
        return self.embedding[torch.as_tensor(symbols)] + fixed, torch.as_tensor(visible, dtype=torch.bool)

    def forward(self, words: Sequence[Sequence[int]], hidden: bool = False) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The outputs o_0, ..., o_T, shape (B, T + 1, d), and those of all layers, (B, T + 1, layers, d), or None."""
        encoded, visible = self.encode(words)
        crosses = [layer.cross for layer in self.stack]
        memory = [None if cross is None else (cross.key(encoded), cross.value(encoded)) for cross in crosses]
        history: list[list[Pair]] = [[] for _ in self.layers]
        outputs, inner = [], []
        z = (self.start + self._beta(0)).expand(len(words), -1)
        for time in range(self.transformer.steps + 1):
            for number, layer in enumerate(self.stack):
                z = layer(z, self._history(layer.own, history[number], z, time), memory[number], visible)
                if hidden:
                    inner.append(z)
            outputs.append(z)
            z = z + self._beta(time + 1)
        stacked = torch.stack(outputs, dim=1)
        shape = (len(words), len(outputs), len(self.layers), z.shape[1])
        return stacked, torch.stack(inner, dim=1).reshape(shape) if hidden else None

    def _beta(self, time: int) -> torch.Tensor:
        return torch.as_tensor(self.transformer.beta(time), dtype=self.start.dtype)

    def _history(
        self, head: TorchDecoderAttention | None, history: list[Pair], z: torch.Tensor, time: int
    ) -> Pair | None:
        """The projected memory of a layer's self-attention, its input at this time included but for time 0."""
        if head is None:
            return None
        if time > 0:
            history.append((head.key(z), head.value(z)))
        if not history:
            return z.new_zeros(len(z), 0, len(head.null_key)), z.new_zeros(len(z), 0, z.shape[1])
        keys, values = (torch.stack([pair[part] for pair in history], dim=1) for part in range(2))
        return keys, values


def turing_module(
    transformer: TuringTransformer, *, dtype: torch.dtype | None = None, softmax: float | None = None
) -> TorchTuringTransformer:
    """The torch module of a compiled machine.

    Args:
        transformer: the compiled machine.
        dtype: of the parameters, float64 (the default) or float32.
        softmax: the sharpness (inverse temperature) of softmax attention; None for hard attention.

    Raises:
        ValueError: for a sharpness that is not positive.
    """
    if softmax is not None and not softmax > 0:
        raise ValueError(f"The sharpness of a softmax must be positive, not {softmax!r}.")
    return TorchTuringTransformer(transformer, torch.float64 if dtype is None else dtype, softmax)


def run_torch(
    module: TorchTuringTransformer,
    words: Sequence[Sequence[int]],
    *,
    hidden: bool = False,
    memory_limit: int = MEMORY_LIMIT,
) -> TransformerRun:
    """The run on a batch of words, without gradients; the score gap is not recorded (NaN).

    Raises:
        ValueError: for no word, a word that cannot be encoded, or too much memory (bytes); before any work starts.
    """
    if not words:
        raise ValueError("A run needs at least one word; give [()] for the empty one.")
    transformer = module.transformer
    check_memory(dense_memory(transformer, len(words), hidden), memory_limit, transformer.steps, len(words), "torch")
    with torch.no_grad():
        outputs, inner = module(words, hidden)
    arrays = [None if part is None else part.double().cpu().numpy() for part in (outputs, inner)]
    assert arrays[0] is not None  # the outputs are always there
    return decoded_run(module.transformer, arrays[0], arrays[1], np.nan)


def _parameter(array: np.ndarray, dtype: torch.dtype) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.tensor(to_float(array), dtype=dtype))
