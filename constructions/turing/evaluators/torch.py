"""The Turing-machine transformer as a torch module: the same weights as parameters, hard-max or softmax attention.

Kept apart because torch is slow to import: `TuringTransformer.to_torch` makes the module, and the evaluator "torch"
(`constructions.turing.evaluators.registry`) runs it.

Source: turing, def-transformer and remark-4.1.
"""

from __future__ import annotations

import numpy as np
import torch

from constructions.networks.stream import ResidualStream
from constructions.networks.torch import DecoderModule, HeadModule, module_of, parameter, to_torch
from constructions.turing.compiler import TuringTransformer
from constructions.turing.evaluators.run import TransformerRun, Words, decoded_run

__all__ = ["TuringModule", "to_torch"]

Pair = tuple[torch.Tensor, torch.Tensor]


@module_of(TuringTransformer)
class TuringModule(torch.nn.Module):
    """The decoder run for the time steps 0, ..., T; all weights are parameters, the positions are not.

    Its parts are the modules ``layers`` and the parameters ``embedding``, ``start`` and ``classifier``. For softmax
    attention give it `TuringTransformer.softened`.
    """

    def __init__(
        self, transformer: TuringTransformer, dtype: torch.dtype | None = None, stream: ResidualStream | None = None
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.stack = [DecoderModule(layer, dtype, stream) for layer in transformer.layers]
        self.layers = torch.nn.ModuleList(self.stack)  # the same, registered
        self.embedding, self.start, self.classifier = (
            parameter(array, dtype) for array in (transformer.embedding, transformer.start, transformer.classifier)
        )

    def encode(self, words: Words) -> Pair:
        """The encoder's outputs (B, m, d), padded, and which of them exist, (B, 1, m)."""
        codes = [self.transformer.encode(word) for word in words]
        longest = max(len(rows) for rows in codes)
        positions = np.zeros((len(words), longest, self.transformer.layout.width))
        symbols, visible = (np.zeros((len(words), longest), dtype=np.int64) for _ in range(2))
        for b, (word, rows) in enumerate(zip(words, codes, strict=True)):
            positions[b, : len(word)] = rows - self.transformer.embedding[list(word)]
            symbols[b, : len(word)], visible[b, : len(word)] = word, 1
        fixed = torch.as_tensor(positions, dtype=self.embedding.dtype)
        return self.embedding[torch.as_tensor(symbols)] + fixed, torch.as_tensor(visible, dtype=torch.bool)[:, None]

    def forward(self, words: Words, hidden: bool = False) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The outputs o_0, ..., o_T, shape (B, T + 1, d), and those of all layers, (B, T + 1, layers, d), or None."""
        encoded, visible = self.encode(words)
        crosses = [layer.cross for layer in self.stack]
        memory = [None if cross is None else (cross.key(encoded), cross.value(encoded)) for cross in crosses]
        history: list[Pair | None] = [None for _ in self.layers]
        outputs, inner = [], []
        z = (self.start + self._beta(0)).expand(len(words), 1, -1)
        for time in range(self.transformer.steps + 1):
            for number, layer in enumerate(self.stack):
                history[number] = _remembered(layer.own, history[number], z, time)
                z = layer(z, history[number], memory[number], visible)
                if hidden:
                    inner.append(z)
            outputs.append(z)
            z = z + self._beta(time + 1)
        stacked = torch.cat(outputs, dim=1)
        shape = (len(words), len(outputs), len(self.layers), z.shape[-1])
        return stacked, torch.cat(inner, dim=1).reshape(shape) if hidden else None

    def run(self, words: Words, hidden: bool = False) -> TransformerRun:
        """The run on B >= 1 words, without gradients; the score gap is not recorded (NaN)."""
        with torch.no_grad():
            outputs, inner = self(words, hidden)
        layers = None if inner is None else _array(inner)
        return decoded_run(self.transformer, _array(outputs), layers, np.nan)

    def _beta(self, time: int) -> torch.Tensor:
        return torch.as_tensor(self.transformer.beta(time), dtype=self.start.dtype)


def _remembered(head: HeadModule | None, past: Pair | None, z: torch.Tensor, time: int) -> Pair | None:
    """The projected memory of a layer's self-attention, its input at this time included but for time 0."""
    if head is None:
        return None
    seen = z if time > 0 else z[:, :0]
    keys, values = head.key(seen), head.value(seen)
    return (keys, values) if past is None else (torch.cat([past[0], keys], dim=1), torch.cat([past[1], values], dim=1))


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.double().cpu().numpy()
