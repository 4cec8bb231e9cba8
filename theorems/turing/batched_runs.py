"""Many compiled machines with one layout on many words at once, from the weights alone, in floats that are integers.

All machines share the weights of all layers but C.1b, which is checked; the products are of small integers, so that
float64 is exact. Scores that tie must have equal values, and everything that a layer hands on must be 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.numerics.exact.systems import Array

Floats = NDArray[np.float64]


def batched_run(machines: Sequence[TuringTransformer], words: Sequence[Sequence[int]]) -> Floats:
    """The outputs o_0, ..., o_T of all machines on all words, shape (M, B, T + 1, d).

    The rounding after every layer is left out, which keeps bits (test_every_digit).
    """
    one = machines[0]
    _require_equal_but_transitions(machines)
    encoded = [one.encode(word).astype(float) for word in words]
    longest, d = max(map(len, encoded)), one.layout.width
    memory, given = np.zeros((longest, 1, len(words), d)), np.zeros((longest, 1, len(words)), dtype=bool)
    for number, rows in enumerate(encoded):
        memory[: len(rows), 0, number], given[: len(rows), 0, number] = rows, True
    z = np.broadcast_to((one.start + one.beta(0)).astype(float), (len(machines), len(words), d))
    histories: list[list[Floats]] = [[] for _ in one.layers]
    outputs = []
    for time in range(one.steps + 1):
        for number, layer in enumerate(one.layers):
            if layer.self_attention is not None:
                histories[number] += [z] if time else []
                z = z + _attended(layer.self_attention, z, np.array(histories[number]).reshape(-1, *z.shape), None)
            if layer.cross_attention is not None:
                z = z + _attended(layer.cross_attention, z, memory, given)
            z = np.maximum(_mapped([t.layers[number].feed_forward.layers[0] for t in machines], layer.name, z), 0)
            assert np.isin(z, (0, 1)).all(), f"The outputs of {layer.name} at time {time} are not all 0 or 1."
        outputs.append(z)
        z = z + one.beta(time + 1)
    return np.stack(outputs, axis=2)


def _mapped(firsts: Sequence[Affine], name: str, z: Floats) -> Floats:
    """z W + b, with the own weights of every machine in the layer C.1b."""
    weight, bias = firsts[0].weight.astype(float), firsts[0].bias
    return z @ np.array([first.weight for first in firsts], dtype=float) + bias if name == "C.1b" else z @ weight + bias


def _attended(head: Head, z: Floats, memory: Floats, given: Array | None) -> Floats:
    """What the head adds to the tokens z, shape (M, B, d), from tokens of shape (n, M or 1, B, d)."""
    query, keys, values = (_affine(head.query, z), _affine(head.key, memory), _affine(head.value, memory))
    scores = (query * keys).sum(-1)
    if given is not None:
        scores = np.where(given, scores, -np.inf)
    scores = np.concatenate([(query @ head.null_key.astype(float))[None], scores])
    null = np.broadcast_to(head.null_value.astype(float), (1, *z.shape))
    values = np.concatenate([null, np.broadcast_to(values, (len(memory), *z.shape))])
    tied = scores == scores.max(0)
    chosen = np.take_along_axis(values, tied.argmax(0)[None, ..., None], axis=0)[0]
    assert (values == chosen).all(-1)[tied].all(), "Tokens that tie have different values."
    return chosen


def _affine(layer: Affine, z: Floats) -> Floats:
    return z @ layer.weight.astype(float) + layer.offset.astype(float)


def _require_equal_but_transitions(machines: Sequence[TuringTransformer]) -> None:
    one = machines[0]
    own = [(layer.name, list(layer.arrays())) for layer in one.layers]
    for other in machines[1:]:
        assert np.array_equal(one.start, other.start)
        assert np.array_equal(one.embedding, other.embedding)
        for (name, mine), theirs in zip(own, other.layers, strict=True):
            if name != "C.1b":
                pairs = zip(mine, theirs.arrays(), strict=True)
                assert all(a is b or np.array_equal(a, b) for a, b in pairs), name
