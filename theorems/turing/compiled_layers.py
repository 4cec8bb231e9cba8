"""Single layers of a compiled machine on integer vectors, evaluated by plain NumPy, for the checks of the lemmas."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.machine import random_machine

Integers = NDArray[np.int64]


def compiled(bits: int, *, states: int = 2, symbols: int = 3, left_end: str = "refuse", seed: int = 0) -> Any:
    """A random machine compiled with so many position bits, for the layers that do not depend on the machine."""
    machine = random_machine(np.random.default_rng(seed), states, symbols, "refuse")
    return compile_turing_machine(machine, 1, bits=bits, left_end=left_end, wrap=True)  # type: ignore[arg-type]


def layer_named(transformer: TuringTransformer, name: str) -> DecoderLayer:
    """The layer of this name."""
    return next(layer for layer in transformer.layers if layer.name == name)


def functional(transformer: TuringTransformer, names: list[str], z: Integers) -> Integers:
    """relu(z W_1 + b_1) for the named layers in turn, on rows of integers; all results must be 0 or 1.

    The rounding that follows keeps 0 and 1, which `test_rounding_keeps_bits` checks, so that it is left out.
    """
    for name in names:
        first = layer_named(transformer, name).feed_forward.layers[0]
        z = np.maximum(_affine(first, z), 0)
        assert ((z == 0) | (z == 1)).all(), f"The outputs of {name} are not all 0 or 1."
    return z


def attended(head: Head, z: Integers, memory: Integers) -> tuple[list[Fraction], int, list[int]]:
    """What the head adds to z; the gap below the largest score; the tied indices (0 is the null pair)."""
    query = _affine(head.query, z)
    scores = [query @ head.null_key, *(_affine(head.key, memory) @ query).tolist()]
    values = [head.null_value.tolist(), *_affine(head.value, memory).tolist()]
    tied = [j for j, score in enumerate(scores) if score == max(scores)]
    below = [score for score in scores if score != max(scores)]
    mean = [Fraction(sum(values[j][c] for j in tied), len(tied)) for c in range(len(z))]
    return mean, max(scores) - max(below) if below else 0, tied


def integer_run(transformer: TuringTransformer, words: Sequence[Sequence[int]]) -> Integers:
    """The outputs o_0, ..., o_T on words, shape (B, T + 1, d), from the weights alone, in integers.

    The rounding after every layer is left out, as in `functional`, so that all values have to be bits. Attended tokens
    that tie must have equal values: then the mean is the value of one of them.
    """
    inputs = np.tile(transformer.start + transformer.beta(0), (len(words), 1))
    encoded = [transformer.encode(word).astype(np.int64) for word in words]
    histories: list[list[Integers]] = [[] for _ in transformer.layers]
    outputs = []
    for time in range(transformer.steps + 1):
        z = inputs
        for layer, history in zip(transformer.layers, histories, strict=True):
            history += [z] if time else []
            if layer.self_attention is not None:
                z = np.array([_moved(layer.self_attention, z[b], [h[b] for h in history]) for b in range(len(z))])
            if layer.cross_attention is not None:
                z = np.array([_moved(layer.cross_attention, z[b], list(encoded[b])) for b in range(len(z))])
            z = np.maximum(_affine(layer.feed_forward.layers[0], z), 0)
            assert ((z == 0) | (z == 1)).all(), f"The outputs of {layer.name} at time {time} are not all 0 or 1."
        outputs.append(z)
        inputs = z + transformer.beta(time + 1)
    return np.stack(outputs, axis=1)


def _moved(head: Head, z: Integers, memory: list[Integers]) -> Integers:
    """z and what the head adds to it."""
    query, tokens = _affine(head.query, z), np.array(memory, dtype=np.int64).reshape(len(memory), len(z))
    scores = np.concatenate([[query @ head.null_key], _affine(head.key, tokens) @ query])
    values = np.vstack([head.null_value, _affine(head.value, tokens)])[scores == scores.max()]
    assert (values == values[0]).all(), "Tokens that tie have different values."
    return z + values[0]


def bilinear_form(head: Head) -> Integers:
    """The matrix M with <query(z), key(m)> = (z, 1) M (m, 1)^T, shape (d + 1, d + 1)."""
    query, key = (np.vstack([part.weight, part.bias]) for part in (head.query, head.key))
    return query @ key.T


def null_form(head: Head) -> Integers:
    """The vector v with <query(z), K_0> = <(z, 1), v>, shape (d + 1,)."""
    return np.vstack([head.query.weight, head.query.bias]) @ head.null_key


def attention_norm(layer: DecoderLayer) -> int:
    """The 1-norm of the attention weights."""
    return int(sum(np.abs(array).sum() for head in layer.attentions() for array in head.arrays()))


def functional_norm(layer: DecoderLayer) -> int:
    """The 1-norm of the first ReLU layer."""
    return int(sum(np.abs(array).sum() for array in layer.feed_forward.layers[0].arrays()))


def _affine(layer: Affine, z: Integers) -> Integers:
    return z @ layer.weight + layer.bias
