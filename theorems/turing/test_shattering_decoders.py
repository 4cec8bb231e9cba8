"""Remark 4.1 (a): decoders of width w shatter Omega(w T) words within T steps, with bounded weights, exactly.

The construction and its proof are in `lemmata.certificates.capacity.decoder_shattering`: n numbers in the start hold n
T labels as digits, of which one is uncovered at every step. So the 0-1 loss as a surrogate needs Omega(w T) examples,
where the margin needs a number that is polylogarithmic in T.
"""

from __future__ import annotations

from fractions import Fraction as Q
from itertools import product

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.capacity.decoder_shattering import RecallingDecoder
from lemmata.certificates.margins.all_layer import operator_norm
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import palindrome_machine
from lemmata.numerics.learning.generalisation import consistent_failure_probability
from lemmata.theorems.evidence import check

REMARK = "turing:remark-4.1"


@check(
    REMARK,
    grade="exact",
    target="printed",
    cases="decoders of one layer; all 2^(n T) labellings for (n, T) = (1, 1), ..., (1, 5), (2, 1), (2, 2), (2, 3), "
    "(3, 1), (3, 2)",
)
@pytest.mark.parametrize(("n", "T"), [*((1, T) for T in range(1, 6)), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
def test_all_labellings_of_the_words_are_realised(n: int, T: int) -> None:
    """Every start is run on every word by the decoder layer of the library.

    The oracle knows nothing of layers: label (j, t) is digit t + 1 of r_j to the base 4, halved.
    """
    decoder = RecallingDecoder(n, T)
    labels = np.array(list(product((0, 1), repeat=n * T)))
    starts = np.array([decoder.start(row.tolist()) for row in labels], dtype=object)
    words = decoder.words()
    assert len({tuple(word) for word in words.tolist()}) == n * T == decoder.points
    for row, start in zip(labels.tolist(), starts, strict=True):
        for point, word in enumerate(words.tolist()):
            (t,) = np.flatnonzero(word)
            digit = int(start[word[t] - 1] * 4 ** (int(t) + 2)) % 4
            assert digit == 2 * row[point]
    assert np.array_equal(decoder.predictions(starts, words), 2 * labels - 1)
    assert decoder.certify() == n * T
    assert decoder.width == max(decoder.stream, *(affine.outputs for affine in decoder.layer.feed_forward.layers))
    assert decoder.one_norm([1] * (n * T)) <= 27 * n + 6 * decoder.bits + 8


@check(REMARK, grade="exact", target="printed", cases="T = 9 and 25, n = 4: 4 random labellings, 3 words each (seed 0)")
@pytest.mark.parametrize("T", [9, 25])
def test_random_labellings_of_long_words(T: int) -> None:
    random, decoder = np.random.default_rng(0), RecallingDecoder(4, T)
    labels = random.integers(2, size=(4, 4 * T))
    starts = np.array([decoder.start(row.tolist()) for row in labels], dtype=object)
    points = random.integers(4 * T, size=3)
    assert np.array_equal(decoder.predictions(starts, decoder.words()[points]), 2 * labels[:, points] - 1)


@check(REMARK, grade="exact", target="printed", supporting=True)
def test_the_number_of_points_is_a_share_of_width_times_steps() -> None:
    """n = floor((w - 2 - P)/4) fits into the width w, and n > w/8 for w >= 2 P + 12, as 8 n >= 2 w - 2 P - 10.

    The numbers of parameters of the layer and the embedding do not depend on T but by P.
    """
    for P in range(1, 40):
        for w in range(2 * P + 12, 2 * P + 60):
            n = (w - 2 - P) // 4
            decoder = RecallingDecoder(n, 2**P - 1)
            assert decoder.bits == P
            assert decoder.width <= w < 8 * n


@check(REMARK, grade="exact", target="printed", cases="n T = 4 words, N = 1, 2, 3 examples")
def test_examples_needed_with_the_0_1_loss() -> None:
    """Shattered words, uniform: some minimiser of the 0-1 loss on N examples errs on all words that were not seen.

    So its error is at least 1 - N/(n T), for sure, and fewer than (1 - eps) n T examples never suffice.
    """
    decoder = RecallingDecoder(2, 2)
    labels = np.array(list(product((0, 1), repeat=4)))
    starts = np.array([decoder.start(row.tolist()) for row in labels], dtype=object)
    target = decoder.predictions(starts[5:6], decoder.words())
    mistakes = np.array((decoder.predictions(starts, decoder.words()) != target).astype(int), dtype=object)
    errors = mistakes.sum(axis=1) * Q(1, 4)
    for n in (1, 2, 3):
        eps = 1 - Q(n, 4) - Q(1, 100)
        assert consistent_failure_probability(mistakes, errors, [Q(1, 4)] * 4, n, eps) == 1
    assert consistent_failure_probability(mistakes, errors, [Q(1, 4)] * 4, 40, Q(1, 100)) < fmpq(1, 1000)


@check(REMARK, grade="enclosed", target="printed", cases="the palindrome machine, T = 6, 24")
@pytest.mark.parametrize("T", [6, 24])
def test_products_of_norms_over_the_steps_are_exponential(T: int) -> None:
    """Norm-based bounds for the unrolled decoder have the product of the norms over all T steps: at least 3^T here.

    Every map of the token-wise parts has an entry of size 1 or more, hence norm at least 1, and the slopes of the
    rounding are 3.
    """
    transformer = compile_turing_machine(palindrome_machine(), T)
    norms = [operator_norm(affine.weight) for layer in transformer.layers for affine in layer.feed_forward.layers]
    step = norms[0] / norms[0]
    for norm in norms:
        assert norm > fmpq(999, 1000)
        step = step * norm
    assert step**T > 3**T
