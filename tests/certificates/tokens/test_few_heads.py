"""Bounds for few heads against their formulas, ranks of explicit vectors and projections, and what is refused."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.tokens.few_heads import (
    block_diagonal_bound,
    conditioned_rank,
    few_heads_bound,
    head_view,
    hidden_variance,
    least_risk,
    printed_few_heads_bound,
    repeated_counts,
    repeated_few_heads_bound,
    repeated_variance,
)
from lemmata.constructions.tokens.attention import retrieval_attention
from lemmata.constructions.tokens.separating import separating_attention
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.tokens.codes import orthonormal_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.prompts import Prompts


def test_the_bounds():
    assert printed_few_heads_bound(4, 6, 1) == fmpq(14, 24)
    assert few_heads_bound(4, 6, 1) == fmpq(3, 4) * fmpq(5, 6)
    assert few_heads_bound(4, 6, 1) - printed_few_heads_bound(4, 6, 1) == fmpq(1, 24)
    assert few_heads_bound(2, 3, 3) == 0
    assert few_heads_bound(2, 3, 5) == 0
    assert block_diagonal_bound(4, 3) == fmpq(1, 4)
    assert block_diagonal_bound(4, 5) == 0
    assert least_risk(2, 2, 1, 8) == fmpq(10, 8) * fmpq(1, 4)


@pytest.mark.parametrize(("q", "d", "H"), [(2, 2, 1), (3, 4, 2), (5, 5, 3)])
def test_ranks_of_general_heads(q, d, H):
    rng = np.random.default_rng(q)
    alpha, w = as_exact(rng.integers(1, 50, (H, q))), as_exact(rng.integers(-9, 10, (H, d)))
    assert conditioned_rank(alpha, w) == H * (q + d) - H * H
    assert hidden_variance(alpha, w) == 2 * (q - H) * (d - H) == 2 * (q * d - conditioned_rank(alpha, w))


def test_dependent_heads_see_less():
    alpha, w = as_exact([[1, 2, 3], [2, 4, 6]]), as_exact([[1, 0], [0, 0]])
    assert hidden_variance(alpha, w) == 2 * 2 * 1
    assert conditioned_rank(alpha, w) == 2 + 3 - 1


def test_views_of_layers():
    codes = orthonormal_codes(6)
    prompts = Prompts(as_exact(np.zeros((1, 6, 2), dtype=int)), np.zeros((1, 6, 2), dtype=int))
    z = encode(prompts, codes)[0]
    split = head_view(retrieval_attention(2, 2, codes, 3), separating_attention(2, 2, codes).stream, z[5])
    assert (split.rank, split.bound(2)) == (0, 0)
    network = separating_attention(2, 2, codes)
    view = head_view(network.attention, network.stream, z[5])
    assert (view.rank, view.bound(2)) == (2, 0)
    assert (view.directions == np.eye(2, dtype=int)).all()
    z[5, 0] = fmpq(1)
    with pytest.raises(ValueError, match="own token is 0"):
        head_view(network.attention, network.stream, z[5])
    assert (head_view(network.attention, network.stream, z[5], given=True).directions == np.eye(2, dtype=int)).all()


def test_repeated_tokens():
    assert repeated_counts(3, 9) == (1, 1, 1)
    assert repeated_counts(8, 9) == (2, 2, 2, 2)
    assert repeated_counts(5, 6) == (3, 2)
    assert repeated_few_heads_bound(3, 4, 1, 9) == least_risk(3, 4, 1, 9)
    assert repeated_few_heads_bound(5, 4, 1, 6) == fmpq(8, 6) * fmpq(3, 4) * fmpq(4, 5)
    assert repeated_few_heads_bound(5, 1, 1, 6) == 0
    assert repeated_variance([[1, 0]], (3, 2)) == 2 * 4
    assert repeated_variance([[1, 1], [2, 2]], (3, 1)) == 2 * 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: least_risk(2, 1, 1, 4), r"needs q <= ceil\(N/2\) - 1 random tokens, but q = 2 and N = 4"),
        (lambda: few_heads_bound(0, 1, 1), "sparsity q must be an integer >= 1"),
        (lambda: repeated_counts(3, 3), "q < N, which q = 3 and N = 3"),
        (lambda: repeated_variance([[1, 2]], (1, 2, 3)), "for 3 counts"),
        (lambda: hidden_variance([[1]], [[1], [2]]), "of the heads are needed"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
