"""The zoo: networks with named coordinates, and one sentence on what each head and layer does.

Every network comes with weights in its own numbers, a torch module, inputs, and a table of its parts: what they read
and write, by the names of blocks of the residual stream, read off the weights, and what they do, as their source says.

Source: induction-heads, definition-transformer; hidden-progress, appendix B.4.1; turing, lemma-C.1 to lemma-C.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.constructions.induction.head import bayesian_ngram_head, ngram_head, scales_for
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.parity.transformer import STREAM as PARITY_STREAM
from lemmata.constructions.parity.transformer import parity_transformer
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import busy_beaver
from lemmata.numerics.exact.systems import Array

if TYPE_CHECKING:
    import torch

__all__ = ["Part", "ZooModel", "load", "names"]

TOLERANCE = 1e-3
"""Of the heads that count, on all sequences of 12 symbols: their scales are chosen for it, by a proved bound."""

_MACHINE = {
    "C.1a": "Recognises the pair of state and symbol.",
    "C.1b": "Looks up the new state, the symbol to write and the move.",
    "C.2a": "Finds which digits of the position of the head flip when it moves.",
    "C.2b": "Flips them, for a move to either side.",
    "C.2c": "Keeps the side that was moved to: the new position of the head.",
    "C.4": "Attends to earlier steps on the same cell, and says whether there was one.",
    "C.5": "Attends to earlier steps on the same cell, and finds a further digit of the time of the last one.",
    "C.6": "Attends to the last step on the same cell, and copies the symbol that was written there.",
    "C.7": "Attends to the input, and copies its symbol at the cell of the head, if there is one.",
    "C.8a": "Decides between the written symbol, that of the input, and the blank.",
    "C.8b": "Lets the chosen one through.",
    "C.8c": "Writes it as the symbol under the head, and keeps the state.",
}
"""What the layers of a machine do, by the lemma that proves it."""

Draw = Callable[[np.random.Generator, int], Any]


@dataclass(frozen=True)
class Part:
    """A head, or a layer that has none.

    Attributes:
        layer: its number, from 0.
        head: the number of the head in its layer; None for a layer without heads.
        reads: the names of the blocks that queries, keys and values read, or the layer.
        writes: the names of the blocks to which it writes.
        does: what it does, a sentence.
    """

    layer: int
    head: int | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    does: str


@dataclass(frozen=True, eq=False)
class ZooModel:
    """A network that is understood completely.

    Attributes:
        name: in the zoo.
        summary: what it computes, a sentence.
        network: its weights, a `Transformer` but for the machine.
        stream: the named coordinates of its residual stream; None in a disguise.
        parts: what its heads and layers do; empty in a disguise.
        draw: inputs, from a generator and their number.
    """

    name: str
    summary: str
    network: Any
    stream: ResidualStream | None
    parts: tuple[Part, ...]
    draw: Draw

    def __call__(self, inputs: Any) -> Array:
        """The outputs of the network, as its own call gives them.

        Raises:
            ValueError: for the machine, a decoder that is run for many steps.
        """
        if not isinstance(self.network, Transformer):
            raise ValueError("A machine is run step by step: use lm.run_machine(model.network, word).")
        network: Any = self.network
        return network(inputs)

    def inputs(self, count: int, seed: int = 0) -> Any:
        """Inputs drawn at random, always the same for a seed.

        Raises:
            ValueError: for a count below 1.
        """
        if count < 1:
            raise ValueError(f"At least one input is drawn, not {count}.")
        return self.draw(np.random.default_rng(seed), count)

    def to_torch(self, **options: Any) -> torch.nn.Module:
        """The torch module with the same weights, in float64; options as of the network's own `to_torch`."""
        return self.network.to_torch(**options)


def names() -> tuple[str, ...]:
    """The names of all networks of the zoo."""
    return tuple(_ZOO)


def load(name: str) -> ZooModel:
    """A network of the zoo by its name, with named coordinates and what its parts do.

    Raises:
        ValueError: for a name that is not in the zoo.
    """
    if name not in _ZOO:
        raise ValueError(f"There is no {name!r} in the zoo; there are {', '.join(_ZOO)}.")
    return _ZOO[name](name)


def _parts(network: Transformer, stream: ResidualStream, does: list[str]) -> tuple[Part, ...]:
    """The table of the parts, with a sentence for each of them, in order."""
    found = []
    for number, layer in enumerate(network.layers):
        heads = list(enumerate(layer.heads)) if isinstance(layer, AttentionLayer) else [(None, layer)]
        found += [(number, head, part.reads(stream), part.writes(stream)) for head, part in heads]
    return tuple(Part(*place, does=sentence) for place, sentence in zip(found, does, strict=True))


def _counting(n: int, k: int, length: int, pseudo_counts: tuple[int, ...] | None = None) -> Callable[[str], ZooModel]:
    """The n-gram head for k symbols, and sequences of a length."""

    def build(name: str) -> ZooModel:
        c1, c2 = scales_for(n, k, length, TOLERANCE, pseudo_counts)
        head = ngram_head(n, k, c1, c2) if pseudo_counts is None else bayesian_ngram_head(n, k, c1, c2, pseudo_counts)
        back = ["one token", *(f"{h} tokens" for h in range(2, n))]
        does = [
            f"Attends {steps} back and copies the symbol there into the block back {h}."
            for h, steps in enumerate(back, 1)
        ]
        last = "the last symbol" if n == 2 else f"the last {n - 1} symbols"
        prior = "" if pseudo_counts is None else ", and to the rows of the prior"
        does.append(
            f"Attends to every token that follows an occurrence of {last}{prior}, and averages the symbols there."
        )
        return ZooModel(
            name,
            f"Predicts the next of {k} symbols by the frequencies with which they followed {last}.",
            head.transformer,
            head.stream,
            _parts(head.transformer, head.stream, does),
            lambda rng, count: rng.integers(1, k + 1, (count, length)),
        )

    return build


def _parity(name: str) -> ZooModel:
    support = (0, 2, 4)
    network = parity_transformer(5, support, beta=20, sharpness=16).transformer
    does = [
        "Attends from the class token to the relevant positions alone, and writes the mean of their signs.",
        "Turns that mean into the product of the signs, by one hidden unit for every value that it takes.",
    ]
    return ZooModel(
        name,
        "The product of the signs at the positions 0, 2 and 4 of five.",
        network,
        PARITY_STREAM,
        _parts(network, PARITY_STREAM, does),
        lambda rng, count: rng.choice([-1, 1], (count, 5)),
    )


def _machine(name: str) -> ZooModel:
    network = compile_turing_machine(busy_beaver(2), 6)
    stream = network.layout.stream
    parts = []
    for number, layer in enumerate(network.layers):
        does = _MACHINE[layer.name.partition(" ")[0]]
        parts.append(Part(number, None, layer.reads(stream), layer.writes(stream), does))
    return ZooModel(
        name,
        "Six steps of the two-state busy beaver, by a decoder that is fed its own outputs.",
        network,
        stream,
        tuple(parts),
        lambda rng, count: [
            rng.integers(0, network.layout.symbols, int(rng.integers(1, 4))).tolist() for _ in range(count)
        ],
    )


_ZOO: dict[str, Callable[[str], ZooModel]] = {
    "induction head": _counting(2, 3, 12),
    "trigram head": _counting(3, 2, 12),
    "bigram head with prior": _counting(2, 3, 12, (1, 2, 0)),
    "parity transformer": _parity,
    "Turing machine": _machine,
}
