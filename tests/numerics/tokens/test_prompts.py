"""Prompts, links, embeddings and risks against loops over the definitions, and what they refuse."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.tokens.codes import extremal_codes, orthonormal_codes
from lemmata.numerics.tokens.encoding import block_sizes, encode, encoding_scale, radius
from lemmata.numerics.tokens.links import ReluLink, linear_link, max_link, mean_link, squared_norm_link
from lemmata.numerics.tokens.prompts import (
    Prompts,
    averaged_risk,
    draw_prompts,
    pointwise_risk,
    population_risk,
    require_memory,
)


def rational_prompts(**options):
    return draw_prompts(3, 6, 2, 3, law="rational", **options)


def test_labels_are_the_link_of_the_tokens():
    prompts = rational_prompts(seed=4)
    u = np.arange(1, 7).reshape(3, 2)
    v = u[::-1].copy()
    links = {
        linear_link(u): lambda x: (u * x).sum(),
        mean_link(3, [2, -1]): lambda x: (np.array([2, -1]) * x).sum() / 3,
        max_link(u, v): lambda x: max((u * x).sum(), (v * x).sum()),
        squared_norm_link: lambda x: (x * x).sum() - 6,
    }
    for link, expected in links.items():
        labels = prompts.labels(link)
        assert labels.shape == (3, 6)
        for n, i in np.ndindex(3, 6):
            tokens = np.array([prompts.tokens[n, prompts.indices[n, i, m]] for m in range(3)])
            assert labels[n, i] == expected(tokens)
        assert np.allclose(to_float(labels), Prompts(to_float(prompts.tokens), prompts.indices).labels(link))


def test_the_mean_in_floats():
    tokens = np.random.default_rng(0).standard_normal((5, 4, 2))
    wanted = tokens.mean(axis=1) @ [0.5, -2.0]
    assert np.allclose(mean_link(4, [0.5, -2.0])(tokens), wanted)


def test_relabelling_moves_the_labels_along():
    prompts, link = rational_prompts(seed=5), linear_link(np.arange(6).reshape(3, 2))
    order = np.random.default_rng(0).permutation(6)
    moved = prompts.relabelled(order).labels(link)
    assert (moved[:, order] == prompts.labels(link)).all()
    with pytest.raises(ValueError, match="permutation"):
        prompts.relabelled([0, 0, 1, 2, 3, 4])


def test_simple_prompts_share_their_indices():
    assert rational_prompts(simple=True).simple
    assert not rational_prompts().simple
    prompts = draw_prompts(20, 5, 1, 5, distinct=True, law="signs")
    assert (np.sort(prompts.indices, axis=-1) == np.arange(5)).all()
    assert set(draw_prompts(4, 3, 1, 1, law="signs").tokens.ravel()) == {fmpq(-1), fmpq(1)}
    sphere = draw_prompts(2, 3, 4, 1, law="sphere").tokens
    assert np.allclose(np.linalg.norm(sphere, axis=-1), 2)
    same = draw_prompts(2, 3, 4, 1, law="sphere", seed=0).tokens
    assert (sphere == same).all()
    assert not (sphere == draw_prompts(2, 3, 4, 1, law="sphere", seed=1).tokens).all()


def test_radii_of_links():
    link = ReluLink(np.array([3, 4]), np.ones((2, 1, 2)), np.array([0, 2]))
    assert link.output_radius == pytest.approx(5 * 2**0.5)
    assert link.weight_radius == pytest.approx(2)
    assert (link.width, link.sparsity, link.dimension) == (2, 1, 2)


@pytest.mark.parametrize("variant", ["attention", "recurrent"])
def test_the_embedding_block_by_block(variant):
    prompts = draw_prompts(2, 5, 8, 2, law="rational", seed=3)
    codes = extremal_codes(5)
    z = encode(prompts, codes, variant)
    scale = {"attention": 2, "recurrent": 1}[variant]  # the root of d/q = 4
    sizes = block_sizes(8, 2, codes.dimension)
    assert list(sizes) == ["x", "position", "index_1", "index_2"]
    assert sum(sizes.values()) == z.shape[-1] == 8 + 3 * 12
    rows = as_exact(codes.vectors) * fmpq(scale, 2)
    for n, i in np.ndindex(2, 5):
        t = prompts.indices[n, i]
        assert z[n, i].tolist() == [*prompts.tokens[n, i], *rows[i], *rows[t[0]], *rows[t[1]]]
        assert (z[n, i] ** 2).sum() == (prompts.tokens[n, i] ** 2).sum() + 3 * scale**2
    assert np.allclose(to_float(z), encode(prompts, codes, variant, "float"))
    assert radius(5.0, 8, 2, variant) == pytest.approx((25 + 3 * scale**2) ** 0.5)
    assert encoding_scale(8, 2, variant) == scale**2


def test_risks_by_their_sums():
    rng = np.random.default_rng(2)
    guesses, y = as_exact(rng.integers(-4, 5, (3, 4))), as_exact(rng.integers(-4, 5, (3, 4)))
    squares = [[(guesses[i, j] - y[i, j]) ** 2 for j in range(4)] for i in range(3)]
    assert averaged_risk(guesses, y) == sum(map(sum, squares)) / 12
    assert pointwise_risk(guesses, y, [0, 3, 1]) == (squares[0][0] + squares[1][3] + squares[2][1]) / 3
    p = [fmpq(1, 2), fmpq(1, 6), fmpq(1, 3)]
    assert population_risk(guesses, y, p) == sum(p[i] * sum(squares[i]) for i in range(3)) / 4
    assert averaged_risk(to_float(guesses), to_float(y)) == pytest.approx(float(to_float(averaged_risk(guesses, y))))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_prompts(1, 3, 1, 4), "at most all N = 3 tokens of its prompt, not q = 4"),
        (lambda: draw_prompts(1, 3, 1, 1, law="cauchy"), "law of the tokens is one of"),
        (lambda: draw_prompts(1, 0, 1, 1), "number of tokens must be an integer >= 1"),
        (lambda: draw_prompts(10**6, 10**6, 1, 1), "would take 7450.6 GiB"),
        (
            lambda: Prompts(np.array([[[1.0], [np.nan]]]), np.zeros((1, 2, 1), int)),
            r"tokens has NaN or infinity at \(0, 1",
        ),
        (lambda: Prompts(np.zeros((1, 2, 1)), np.full((1, 2, 1), 2)), r"integers 0, \.\.\., 1"),
        (lambda: Prompts(np.zeros((1, 2, 1)), np.zeros((1, 3, 1), int)), "the shapes are"),
        (lambda: linear_link([1, 2]), "weights of shape"),
        (lambda: max_link([[1, 2]], [[1]]), "of one shape"),
        (lambda: max_link([1], [1]), "A maximum has two weights of one shape"),
        (lambda: mean_link(2, [[1]]), "direction of a mean"),
        (lambda: ReluLink(np.ones(2), np.ones((3, 1, 1)), np.ones(3)), "the shapes are"),
        (lambda: ReluLink(np.ones(3), np.ones((3, 1, 1)), np.ones(2)), "the shapes are"),
        (lambda: rational_prompts().labels(linear_link([[1, 2]])), "takes 1 tokens of dimension 2"),
        (lambda: encode(rational_prompts(), orthonormal_codes(5)), "as many position codes, not 5"),
        (lambda: encode(rational_prompts(), orthonormal_codes(6)), r"sqrt\(2/3\) is irrational"),
        (lambda: encode(rational_prompts(), orthonormal_codes(6), system="float", limit=100), "work in blocks"),
        (lambda: encode(rational_prompts(), orthonormal_codes(6), "both"), "encoding is one of"),
        (lambda: averaged_risk(np.ones((2, 2)), np.ones((2, 3))), "one shape"),
        (lambda: averaged_risk(np.ones((1, 1)), np.full((1, 1), np.inf)), "labels has NaN"),
        (lambda: pointwise_risk(np.ones((2, 2)), np.ones((2, 2)), [0, 2]), "needs a position"),
        (lambda: population_risk(np.ones((2, 2)), np.ones((2, 2)), [0.5, 0.6]), "the sum 1"),
        (lambda: population_risk(np.ones((2, 2)), np.ones((2, 2)), [-0.5, 1.5]), "not negative"),
        (lambda: require_memory("A", (2**30,), 2**20), "A of shape"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
