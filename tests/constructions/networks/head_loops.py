"""Attention heads with random integer weights, and what a head computes, from the definition by loops over indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb, fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head

EPS = 2.0**-53


def integers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-3, 4, size=shape)


def random_head(seed: int, d: int = 3, m: int = 2, e: int = 3, rows: int = 3, **options: Any) -> Head:
    """Matrices without biases, a table of relative keys, and scores divided by the root of 5."""
    rng = np.random.default_rng(seed)
    query, key, value = (Affine(integers(rng, *shape)) for shape in ((d, m), (d, m), (d, e)))
    return Head(query, key, value, **{"relative_keys": integers(rng, rows, m), "temperature_squared": 5, **options})


def rich_head(seed: int, weigh: Any, *, memory: bool = False, **options: Any) -> Head:
    """A head with biases, an output map, a scale, and what else the weighing admits.

    It is of width 3 and maps to width 4; a memory has width 2.
    """
    rng = np.random.default_rng(seed)
    inner = 2 if memory else 3
    parts: dict[str, Any] = {
        "query": Affine(integers(rng, 3, 2), integers(rng, 2)),
        "key": Affine(integers(rng, inner, 2), integers(rng, 2)),
        "value": Affine(integers(rng, inner, 3), integers(rng, 3)),
        "output": Affine(integers(rng, 3, 4), integers(rng, 4)),
        "weigh": weigh,
        "sharpness": 3,
        "temperature_squared": 4,
    }
    if weigh != "relu":
        parts["null"] = (integers(rng, 2), integers(rng, 3))
    if not memory:
        parts["relative_keys"] = integers(rng, 3, 2)
    return Head(**{**parts, **options})


def mapped(part: Affine, row: Any) -> list[Any]:
    """x W + b."""
    W, b = part.weight.tolist(), part.bias.tolist() or [0] * part.outputs
    return [sum((row[a] * W[a][c] for a in range(len(row))), start=b[c]) for c in range(part.outputs)]


def scores_by_loops(head: Head, z: Any, memory: Any, i: int, places: Any) -> list[Any]:
    """<q_i, k_j + v_(i-j)> for the places j, and <q_i, K_0> in front if there is a null pair."""
    query, result = mapped(head.query, z[i]), []
    if head.null is not None:
        result.append(sum(q * k for q, k in zip(query, head.null[0].tolist(), strict=True)))
    for j in places:
        key = mapped(head.key, memory[j])
        if 0 <= i - j < len(head.relative_keys):
            key = [k + v for k, v in zip(key, head.relative_keys[i - j].tolist(), strict=True)]
        result.append(sum(q * k for q, k in zip(query, key, strict=True)))
    return result


def weights_by_loops(head: Head, scores: list[Any]) -> list[Any]:
    """The weights of one token for what it sees; a softmax in balls, the others in rational numbers."""
    b, t = head.sharpness, head.temperature_squared
    if head.weigh == "hardmax":
        ties = [score == max(scores) for score in scores]
        return [fmpq(int(tie), sum(ties)) for tie in ties]
    if head.weigh == "relu":
        root = math.isqrt(t)
        assert root * root == t
        return [fmpq(max(b * score, 0), root * len(scores)) for score in scores]
    terms = [(arb(b * score) / arb(t).sqrt()).exp() for score in scores]
    return [term / sum(terms, arb(0)) for term in terms]


def head_by_loops(head: Head, z: Any, memory: Any = None, visible: Any = None) -> list[list[Any]]:
    """The outputs for tokens z, lists of integers, as rational numbers or balls.

    Without a memory the tokens attend to themselves, and to no later ones if the head is causal; `visible` hides more.
    """
    attended, outputs = z if memory is None else memory, []
    for i in range(len(z)):
        places = [
            j
            for j in range(len(attended))
            if (memory is not None or not head.causal or j <= i) and (visible is None or visible[i][j])
        ]
        scores = scores_by_loops(head, z, attended, i, places)
        values = [mapped(head.value, attended[j]) for j in places]
        values = values if head.null is None else [head.null[1].tolist(), *values]
        p = weights_by_loops(head, scores)
        row = [
            sum((w * v[c] for w, v in zip(p, values, strict=True)), start=fmpq(0)) for c in range(head.value.outputs)
        ]
        outputs.append(row if head.output is None else mapped(head.output, row))
    return outputs
