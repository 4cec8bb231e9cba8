"""Where heads attend: by plain loops, and in constructed heads."""

import numpy as np

from lemmata.constructions.induction.head import bayesian_ngram_head, ngram_head, scales_for
from lemmata.constructions.induction.patterns import head_scores, matches
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer

X = np.array([[1, 2, 1, 1, 2], [2, 2, 1, 2, 1], [1, 1, 1, 1, 2]])


def test_the_tokens_after_an_equal_one():
    assert matches(X).tolist() == [
        [False, False, True, False, False],
        [False, False, False, True, False],
        [False, False, False, False, False],
    ]
    assert matches([1, 1, 1]).tolist() == [[False, True, True]]


def test_scores_are_those_of_plain_loops():
    rng = np.random.default_rng(2)
    heads = tuple(
        Head(
            Affine(rng.normal(size=(4, 3))),
            Affine(rng.normal(size=(4, 3))),
            Affine(rng.normal(size=(4, 4))),
            null=(rng.normal(size=3), rng.normal(size=4)),
        )
        for _ in range(2)
    )
    between = FeedForward((Affine(rng.normal(size=(4, 4))),), residual=True)
    layers = (AttentionLayer(heads), between, AttentionLayer(heads[:1]))
    model = Transformer(rng.normal(size=(2, 4)), rng.normal(size=(2, 4)), layers, np.eye(4))
    found = head_scores(model, X)
    assert found[1] is None
    for number in (0, 2):
        z = model.stream(X, number)
        one = found[number]
        assert one is not None
        for h, head in enumerate(layers[number].heads):  # type: ignore[union-attr]
            q, k = z @ head.query.weight, z @ head.key.weight
            for b in range(3):
                rows = []
                for i in range(2, 7):
                    masses = np.exp([q[b, i] @ head.null_key, *(q[b, i] @ k[b, j] for j in range(i + 1))])
                    rows.append((masses / masses.sum())[3:])  # the null pair and two rows in front
                before = np.mean([rows[i][i - 1] for i in range(1, 5)])
                after = sum(rows[4][j] for j in range(1, 5) if X[b, j - 1] == X[b, 4])
                assert abs(one.previous[b, h] - before) < 1e-12
                assert abs(one.matching[b, h] - after) < 1e-12


def test_a_constructed_head_looks_back_and_copies():
    x = np.random.default_rng(0).integers(1, 4, (50, 30))
    some = matches(x).any(axis=1)
    first, second = head_scores(ngram_head(2, 3, 60.0, 8.0).transformer, x)
    assert first is not None
    assert second is not None
    assert first.previous.min() > 1 - 1e-6
    assert second.matching[some].min() > 1 - 1e-6
    scales = scales_for(2, 3, 30, 1e-7, (1, 1, 1))
    with_prior = head_scores(bayesian_ngram_head(2, 3, *map(float, scales)).transformer, x)[1]
    assert with_prior is not None
    count = matches(x).sum(axis=1)
    assert np.abs(with_prior.matching[:, 0] - count / (count + 3)).max() < 1e-7


def test_a_single_token_has_none_before():
    (first, second) = head_scores(ngram_head(2, 2, 9.0, 4.0).transformer, [2])
    assert first is not None
    assert second is not None
    assert first.previous.tolist() == [[0.0]]
    assert second.matching.tolist() == [[0.0]]
