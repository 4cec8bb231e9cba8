"""Remark A.2.4: symmetric functions of M symbols have a small representation, too; one head gives the histogram.

For M that grows with s it is not small. The proof is step 18 of `proofs/representation.md`; the oracle counts symbols
of whole strings.
"""

from __future__ import annotations

import itertools
from collections import Counter
from math import comb

import numpy as np
import pytest

from lemmata.constructions.sparse.histogram import compile_histogram, histograms
from lemmata.numerics.exact.numbers import as_exact
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.variable_creation.instances import strings

REMARK = "variable-creation:remark-A.2.4"


def _drawn(s: int, alphabet: int, seed: int) -> tuple[dict[tuple[int, ...], int], list[int]]:
    """A random integer for each multiset of s symbols, and the same in the order of `histograms`."""
    rng = np.random.default_rng(seed)
    table = {}
    for multiset in itertools.combinations_with_replacement(range(alphabet), s):
        counted = Counter(multiset)
        table[tuple(counted[c] for c in range(1, alphabet))] = int(rng.integers(-9, 10))
    return table, [table[tuple(row)] for row in histograms(s, alphabet).tolist()]


@check(
    REMARK,
    grade="enclosed",
    target="printed",
    cases="random symmetric functions: s = 3 symbols out of M = 3 (T = 5), s = 2 out of 4 (T = 4), s = 4 bits (T = 6); "
    "all strings one by one, in balls",
)
@proof_steps("representation.md: 18")
@pytest.mark.parametrize(("T", "read", "alphabet"), [(5, (4, 0, 2), 3), (4, (1, 3), 4), (6, (5, 1, 0, 3), 2)])
def test_one_head_and_the_histogram(T: int, read: tuple[int, ...], alphabet: int) -> None:
    s = len(read)
    table, values = _drawn(s, alphabet, T)
    network = compile_histogram(T, read, values, alphabet=alphabet)
    [attention, perceptron] = network.layers
    assert len(attention.heads) == 1  # pyright: ignore[reportAttributeAccessIssue]
    n = comb(s + alphabet - 1, alphabet - 1)
    assert [layer.outputs for layer in perceptron.layers] == [4 * (alphabet - 1) * n, 2 * n]  # pyright: ignore[reportAttributeAccessIssue]
    balls, seen = network.to_balls(), set()
    words = strings(T, alphabet)
    for word, found in zip(words.tolist(), balls(words), strict=True):
        counted = Counter(word[i] for i in read)
        wanted = table[tuple(counted[c] for c in range(1, alphabet))]
        assert abs(found - wanted) * 10**10 < 1
        seen.add(wanted)
    assert len(seen) > 3


@check(
    REMARK,
    grade="numeric",
    target="printed",
    supporting=True,
    cases="s = 5 symbols out of M = 3 at random positions, T = 60, 2000 random strings with all histograms; float64",
)
@proof_steps("representation.md: 18")
def test_long_strings() -> None:
    rng = np.random.default_rng(7)
    read = rng.choice(60, 5, replace=False)
    table, values = _drawn(5, 3, 1)
    network = compile_histogram(60, read, values, alphabet=3).to_float()
    words = rng.integers(0, 3, (2000, 60))
    counted = np.stack([(words[:, read] == c).sum(axis=1) for c in (1, 2)], axis=1)
    assert len(np.unique(counted, axis=0)) == len(table) == 21
    # weights of the perceptron are at most 4 s (1 + 3) and 10, its sums have 168 terms of size below 100
    assert np.abs(network(words) - [table[tuple(row)] for row in counted.tolist()]).max() < 1e-9


@check(REMARK, grade="exact", target="printed", cases="M = 3, s = 1, ..., 12; M = 2, ..., 6, s = 1, ..., 5")
@proof_steps("representation.md: 18")
def test_histograms_are_few() -> None:
    """C(s + M - 1, M - 1) of them, counted as multisets: s + 1 for bits, (s + 1)(s + 2)/2 for M = 3, M^s for s = 1.

    For M = s they are not few: 2^(s-1) at least.
    """
    for s, alphabet in [*((s, 3) for s in range(1, 13)), *itertools.product(range(1, 6), range(2, 7))]:
        words = itertools.combinations_with_replacement(range(alphabet), s)
        wanted = {tuple(Counter(word)[c] for c in range(1, alphabet)) for word in words}
        found = histograms(s, alphabet)
        assert {tuple(row) for row in found.tolist()} == wanted
        assert len(found) == len(wanted) == comb(s + alphabet - 1, alphabet - 1)
        assert alphabet > 2 or (found[:, 0] == range(s + 1)).all()
        assert alphabet != 3 or 2 * len(found) == (s + 1) * (s + 2)
        assert alphabet != s or len(found) >= 2 ** (s - 1)
    values = as_exact([int(r.sum() % 2) for r in histograms(8, 3)])
    network = compile_histogram(9, range(8), values, alphabet=3)
    assert len(network.layers[0].heads) == 1  # pyright: ignore[reportAttributeAccessIssue]
    assert network.layers[1].layers[1].outputs // 2 == 45  # pyright: ignore[reportAttributeAccessIssue]
