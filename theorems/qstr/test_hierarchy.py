"""The summary of the document: how many heads, and how many samples each kind of network needs as prompts grow.

What each sentence rests on stands in the ledger; here are the numbers as functions of N, with every constant. The
argument is in `proofs/hierarchy.md`.
"""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from flint import arb, fmpq

from lemmata.certificates.tokens.feed_forward import certify_feed_forward, samples_needed
from lemmata.certificates.tokens.few_heads import few_heads_bound
from lemmata.certificates.tokens.minimum_norm import wide_samples
from lemmata.certificates.tokens.retrieval import certify_retrieval
from lemmata.constructions.tokens.attention import retrieval_attention
from lemmata.constructions.tokens.separating import separating_attention
from lemmata.constructions.tokens.transformer import token_stream
from lemmata.numerics.tokens.codes import orthonormal_codes, sign_code_dimension
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.prompts import draw_prompts
from lemmata.numerics.tokens.transformer_bounds import TokenTask, TransformerClass, excess_risk
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.qstr.test_transformer_risks import embedding_norm_by_hand, risk_by_hand


@check(
    "qstr:theorem-1",
    grade="enclosed",
    target="printed",
    cases="(q, d) = (2, 1), (4, 1), (3, 2), (1, 3), (2, 2); N = 10",
)
@proof_steps("hierarchy.md: 1")
def test_enough_heads_determine_the_tokens() -> None:
    """Step 1: q heads, in balls; for d < q and independent codes d heads do as well."""
    codes = orthonormal_codes(10)
    for q, d in ((2, 1), (4, 1), (3, 2), (1, 3), (2, 2)):
        heads = retrieval_attention(d, q, codes, 40 * q)
        assert len(heads.heads) == q
        assert certify_retrieval(heads, token_stream(d, q, codes.dimension), codes, 5).error < arb("1e-9")
        if d < q:
            prompts = draw_prompts(1, 10, d, q, law="rational", distinct=True, seed=q + 10 * d)
            network = separating_attention(d, q, codes, sharpness=60)
            assert len(network.attention.heads) == d
            found = network(encode(prompts, codes, system="ball"))
            errors = (found - prompts.selected().sum(axis=-2)).ravel()
            assert max(abs(error) for error in errors) < arb("1e-9")


@check("qstr:theorem-1", grade="exact", target="printed", cases="q, d <= 12 and all numbers of heads")
@proof_steps("hierarchy.md: 2")
def test_too_few_heads_are_left_with_a_risk() -> None:
    """Step 2: for d >= q positive exactly below q heads, by the variance of what is not seen."""
    for q, d in product(range(1, 13), repeat=2):
        for heads in range(1, 14):
            unseen = max(q - heads, 0) * max(d - heads, 0)
            assert few_heads_bound(q, d, heads) == fmpq(unseen, q * d)
            assert d < q or (few_heads_bound(q, d, heads) > 0) == (heads < q)


def _bits_of_samples(bits: int) -> int:
    """The least k for which 2^k prompts of 2^bits tokens leave an excess risk below 1, by bisection.

    At the end the risk is computed once more, in floats, from the sizes of the task.
    """
    length, d, q, failure = 2**bits, 4, 2, fmpq(1, 100)
    task = TokenTask(length, d, q, sign_code_dimension(length, 0.01))

    def networks(n: int) -> TransformerClass:
        norm = task.embedding_norm(n)
        sharpness = arb(2 * q) / d * (4 * norm * length * arb(q).sqrt()).log()  # of lemma 11 at r_a r_w = 2, eps = 1
        return TransformerClass(q, 2, task.embedding_dimension, arb(1), arb(2), sharpness * task.encoding, norm)

    def enough(n: int) -> bool:
        return bool(excess_risk(task, networks(n), n, failure) < 1)

    low, high = 1, 200
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(2**middle) else (middle, high)
    n = 2**high
    assert abs(float(networks(n).embedding_norm) / embedding_norm_by_hand(task, n) - 1) < 1e-12
    _, complexity, chance, _ = risk_by_hand(task, networks(n), n, 0.01)
    expected = complexity + chance + n**-0.5
    assert abs(float(excess_risk(task, networks(n), n, failure)) / expected - 1) < 1e-9
    assert expected < 1
    return high


@check("qstr:theorem-1", grade="enclosed", target="printed", cases="N = 2^5, 2^10, ..., 2^80; d = 4, q = 2")
@check("qstr:table-1", grade="enclosed", target="printed", cases="N = 2^5, 2^10, ..., 2^80; d = 4, q = 2")
@proof_steps("hierarchy.md: 3")
def test_samples_of_the_transformer_grow_with_the_logarithm() -> None:
    """Step 3: squaring N multiplies the number of prompts by at most 16, all constants included."""
    bits = [_bits_of_samples(k) for k in (5, 10, 20, 40, 80)]
    assert all(0 < later - before <= 4 for before, later in pairwise(bits))
    assert 50 < bits[0] < 70


@check("qstr:theorem-1", grade="enclosed", target="printed", cases="N = 10^20, 10^40, 10^60; L_y = 2, 3, 4; risk 1/100")
@check("qstr:table-1", grade="enclosed", target="printed", cases="N = 10^20, 10^40, 10^60; L_y = 2, 3, 4; risk 1/100")
@proof_steps("hierarchy.md: 4")
def test_samples_of_the_recurrent_network_grow_with_a_power() -> None:
    """Step 4: the number of samples that interpolation excludes grows like N^(1/(3 L))."""
    for depth in (2, 3, 4):
        counts = [wide_samples(10**k, depth, fmpq(1, 100)) for k in (20, 40, 60)]
        for before, later in pairwise(counts):
            slope = float(((arb(later) / before).log() / (20 * arb(10).log())).mid())
            assert abs(slope - 1 / (3 * depth)) < 0.01


@check(
    "qstr:theorem-1",
    grade="exact",
    target="printed",
    cases="N = 4, 7; d = 2, 3; every n; random integer prompts, seed 0",
)
@check(
    "qstr:table-1", grade="exact", target="printed", cases="N = 4, 7; d = 2, 3; every n; random integer prompts, seed 0"
)
@proof_steps("hierarchy.md: 5")
def test_samples_of_the_feed_forward_network_are_the_coordinates() -> None:
    """Step 5: certified risk at least 1 - n/(N d) for every n below N d; N d (1 - r) samples for the risk r."""
    rng = np.random.default_rng(0)
    for length, d in product((4, 7), (2, 3)):
        inputs = rng.integers(-9, 10, (length * d, length * d))
        for n in range(1, length * d):
            certificate = certify_feed_forward(inputs[:n], length)
            assert certificate.average == 1 - fmpq(n, length * d) <= certificate.upper
            assert certificate.upper - certificate.lower <= fmpq(1, 10**9)
            assert n < samples_needed(length, d, fmpq(9, 10) * (1 - fmpq(n, length * d)))
        assert samples_needed(length, d, 0) == length * d
        assert samples_needed(10 * length, d, fmpq(1, 3)) == -(-20 * length * d // 3)
