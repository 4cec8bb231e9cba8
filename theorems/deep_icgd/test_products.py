"""Remark 3: what attention can multiply without an element-wise multiplication layer.

A head multiplies an entry of the token that asks with entries of the tokens that answer, summed over *all* tokens, so
that the product of two entries of one token is mixed with those of others. With two tokens the mixture can be undone.
"""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from sympy import expand, symbols

from constructions.networks.stored import HeadFamily, StoredAttention
from constructions.networks.stream import ResidualStream
from numerics.exact.numbers import as_exact
from numerics.exact.systems import Array
from theorems.deep_icgd.instances import rationals
from theorems.evidence import check

STREAM = ResidualStream(dict.fromkeys(("a", "b", "mean a", "a B", "b A", "S", "A B", "1"), 1))


def linear_head(query: str, key: str, source: str, target: str) -> HeadFamily:
    """Two heads, relu(t) - relu(-t) = t: adds query_i mean_s(key_s source_s) to the target."""
    signs, zeros = as_exact([1, -1]), as_exact([0, 0])
    q, k, one, s, t = (STREAM.directions(name) for name in (query, key, "1", source, target))
    return HeadFamily(q, k, one, s, t, signs, zeros, signs)


def product_by_attention(a: Array, b: Array) -> Array:
    """a_i mean(b) + b_i mean(a) - 2 mean(a) mean(b) + mean(a b) in every token, by two layers of ReLU attention."""
    z = as_exact(np.zeros((len(a), STREAM.width), dtype=np.int64))
    z[:, STREAM["a"]], z[:, STREAM["b"]], z[:, STREAM["1"]] = a[:, None], b[:, None], fmpq(1)
    first = StoredAttention(
        (
            linear_head("1", "1", "a", "mean a"),
            linear_head("a", "1", "b", "a B"),
            linear_head("b", "1", "a", "b A"),
            linear_head("1", "a", "b", "S"),
        )
    )
    second = StoredAttention((linear_head("mean a", "1", "b", "A B"),))
    z = second(first(z))
    aB, bA, S, AB = (z[:, STREAM[name]][:, 0] for name in ("a B", "b A", "S", "A B"))
    return aB + bA - 2 * AB + S


@check("deep-icgd:remark-3", grade="symbolic", target="printed", supporting=True)
def test_identity_for_two_tokens() -> None:
    """2 a_i b_i = a_i B + b_i A - A B + S with the sums A, B, S of a, b, a b over two tokens."""
    a, b, c, d = symbols("a b c d")
    A, B, S = a + c, b + d, a * b + c * d
    assert expand(a * B + b * A - A * B + S - 2 * a * b) == 0
    assert expand(c * B + d * A - A * B + S - 2 * c * d) == 0


@check("deep-icgd:remark-3", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("tokens", [2, 3, 4])
def test_attention_multiplies_within_one_of_two_tokens_but_not_so_within_one_of_more(tokens: int) -> None:
    """Two layers of ReLU attention over Q, 30 random pairs of tokens; the same layers fail on three or more tokens."""
    rng = np.random.default_rng(tokens)
    right = []
    for _ in range(30):
        a, b = rationals(rng, tokens), rationals(rng, tokens)
        right.append(bool((product_by_attention(a, b) == a * b).all()))
    assert all(right) if tokens == 2 else sum(right) < 5
