"""The Turing-machine transformer as a torch module: the same weights as parameters, hard-max or softmax attention.

Kept apart because torch is slow to import: `TuringTransformer.to_torch` makes the module, and the evaluator "torch"
(`lemmata.constructions.turing.evaluators.registry`) runs it.

Source: turing, definition-transformer and remark-4.1.
"""

from __future__ import annotations

import numpy as np
import torch

from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch import DecoderModule, HeadModule, ShownModule, module_of, parameter, to_torch
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.run import (
    Progress,
    TransformerRun,
    Words,
    decoded_run,
    recording_layer,
    remembered,
)
from lemmata.constructions.turing.evaluators.ties import TieRule

__all__ = ["TuringModule", "to_torch"]

Pair = tuple[torch.Tensor, torch.Tensor]


@module_of(TuringTransformer)
class TuringModule(ShownModule):
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
        outputs, _, inner = self._decode(words, hidden, None, None)
        return outputs, inner

    def _decode(
        self, words: Words, hidden: bool, watch: _TieWatch | None, progress: Progress | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """The outputs, what tokens remember at the recording layer, and the outputs of all layers or None."""
        encoded, visible = self.encode(words)
        crosses = [layer.cross for layer in self.stack]
        memory = [None if cross is None else (cross.key(encoded), cross.value(encoded)) for cross in crosses]
        history: list[Pair | None] = [None for _ in self.layers]
        outputs, tokens, inner = [], [], []
        recording, kept = recording_layer(self.transformer), torch.as_tensor(remembered(self.transformer))
        z = (self.start + self._beta(0)).expand(len(words), 1, -1)
        for time in range(self.transformer.steps + 1):
            for number, layer in enumerate(self.stack):
                if number == recording:
                    tokens.append(z[..., kept])
                history[number] = _remembered(layer.own, history[number], z, time)
                if watch is not None:
                    watch.look(number, time, z, history[number], memory[number], encoded, visible)
                z = layer(z, history[number], memory[number], visible)
                if hidden:
                    inner.append(z)
            outputs.append(z)
            z = z + self._beta(time + 1)
            if progress is not None:
                progress(time)
        stacked = torch.cat(outputs, dim=1)
        shape = (len(words), len(outputs), len(self.layers), z.shape[-1])
        written = torch.cat(tokens, dim=1) if tokens else stacked[..., kept] - 1
        return stacked, written, torch.cat(inner, dim=1).reshape(shape) if hidden else None

    def run(self, words: Words, hidden: bool = False, progress: Progress | None = None) -> TransformerRun:
        """The run on B >= 1 words, without gradients; the score gap is not recorded (NaN).

        Raises:
            ValueError: where scores of hard attention are averaged as ties that are not proved to tie.
        """
        with torch.no_grad():
            outputs, tokens, inner = self._decode(words, hidden, _TieWatch(self), progress)
        layers = None if inner is None else _array(inner)
        classifier = _array(self.classifier.detach())
        return decoded_run(self.transformer, _array(outputs), _array(tokens), layers, np.nan, classifier)

    def _beta(self, time: int) -> torch.Tensor:
        return torch.as_tensor(self.transformer.beta(time), dtype=self.start.dtype)


def _remembered(head: HeadModule | None, past: Pair | None, z: torch.Tensor, time: int) -> Pair | None:
    """The projected memory of a layer's self-attention, its input at this time included but for time 0."""
    if head is None:
        return None
    seen = z if time > 0 else z[:, :0]
    keys, values = head.key(seen), head.value(seen)
    return (keys, values) if past is None else (torch.cat([past[0], keys], dim=1), torch.cat([past[1], values], dim=1))


class _TieWatch:
    """Looks at the scores of every hard attention: what the module averages must be ties (`TieRule`)."""

    def __init__(self, module: TuringModule) -> None:
        self.stack, dtype = module.stack, str(module.start.dtype).removeprefix("torch.")
        heads = [(layer.own, layer.cross) for layer in self.stack]
        self.rules = [[_rule(head, dtype) for head in pair] for pair in heads]
        self.names = [layer.name for layer in module.transformer.layers]
        self.codes: list[np.ndarray | None] = [None for _ in self.stack]

    def look(
        self,
        number: int,
        time: int,
        z: torch.Tensor,
        history: Pair | None,
        memory: Pair | None,
        encoded: torch.Tensor,
        visible: torch.Tensor,
    ) -> None:
        """Raise ValueError where ties are not proved; z has the shape (B, 1, d)."""
        layer, (own, cross), where = self.stack[number], self.rules[number], f"Time {time}, layer {self.names[number]}"
        if own is not None and layer.own is not None and history is not None:
            seen = own.key_codes(_array(z if time > 0 else z[:, :0]))
            past = self.codes[number]
            self.codes[number] = codes = seen if past is None else np.concatenate([past, seen], axis=1)
            _refuse_others(own, layer.own, z, history[0], None, codes, where)
            z = z + layer.own.attend(z, *history)
        if cross is not None and layer.cross is not None and memory is not None:
            codes = cross.key_codes(_array(encoded))
            _refuse_others(cross, layer.cross, z, memory[0], visible, codes, where)


def _rule(head: HeadModule | None, dtype: str) -> TieRule | None:
    return None if head is None or head.weigh != "hardmax" else TieRule.of(head.to_heads()[0], dtype)


def _refuse_others(
    rule: TieRule,
    head: HeadModule,
    z: torch.Tensor,
    keys: torch.Tensor,
    visible: torch.Tensor | None,
    codes: np.ndarray,
    where: str,
) -> None:
    """ValueError unless the head averages those scores alone that are proved to tie."""
    queries = head.query(z)
    assert head.null_key is not None
    found = _array(torch.cat([queries @ head.null_key[:, None], queries @ keys.transpose(-1, -2)], dim=-1))[:, 0]
    if visible is not None:
        found[:, 1:][~visible[:, 0].cpu().numpy()] = -np.inf
    tied = rule.ties(found, rule.query_codes(_array(z)[:, 0]), codes, where)
    averaged = _array(head.weights(z, keys, visible))[:, 0] > 0
    if (averaged != tied).any():
        raise ValueError(
            f"{where}: scores within {head.tie_width} of the largest one are averaged by this module, and they do not "
            "tie: use the dense or the exact evaluator."
        )


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.double().cpu().numpy()
