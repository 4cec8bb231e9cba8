"""Neurons of transformers: planted ones are found, and networks that only look like the theory's are told from it."""

from math import cos, pi

import numpy as np
import pytest

from lemmata.certificates.saddle.effective_neurons import effective_neurons, read_addition
from lemmata.constructions.networks.pair_transformer import PairTables, pair_transformer
from lemmata.numerics.fourier.pairs import answer_waves
from tests.constructions.networks.planted_pairs import aligned, memorising, planted, random_state, wave


def reading(n, neurons):
    return read_addition(pair_transformer(planted(n, neurons), n).tables())


def test_planted_neurons_are_found_with_their_frequencies_phases_and_masses():
    n, errors, sizes = 7, (0.1, -0.2, 0.05), (2.0, 3.0, 0.5)
    neurons = [
        (0.3, wave(n, z, 0.15, size), wave(n, z, 0.4, 2 * size), wave(n, z, 0.55 + error))
        for z, error, size in zip((3, 1, 1), errors, sizes, strict=True)
    ]
    neurons.append((-9.0, wave(n, 2, 0.0), wave(n, 2, 0.0), wave(n, 2, 0.0, 100.0)))  # never positive
    neurons += [(9.0, wave(n, 2, 0.0), wave(n, 2, 0.0), wave(n, 2, 0.0))] * 2  # always positive
    r = reading(n, neurons)
    assert (r.silent, r.linear, len(r.neurons.constants)) == (1, 2, 3)
    assert np.array_equal(r.neurons.frequencies(), [3, 1, 1])
    assert np.allclose(r.neurons.constants, 0.3)
    assert np.allclose(r.neurons.phases()[0] % 1, 0.15)
    assert np.allclose(r.neurons.phases()[1] % 1, 0.4)
    assert np.allclose(r.neurons.errors(), [-error for error in errors])
    masses = np.array([(size**2 * 5 * n / 2 * n / 2) ** 0.5 for size in sizes])
    assert np.allclose(r.neurons.masses, masses)
    shares = masses / masses.sum()
    assert np.allclose(r.masses(), [shares[1] + shares[2], 0, shares[0]])
    assert r.counts().tolist() == [2, 0, 1]
    cosines = np.array([cos(2 * pi * error) for error in errors])
    assert np.isclose(r.alignment, cosines @ shares)
    assert np.allclose(r.alignments()[[0, 2]], [cosines[1:] @ shares[1:] / shares[1:].sum(), cosines[0]])
    assert np.isnan(r.alignments()[1])
    assert np.isclose(r.purity, 1)
    assert np.isclose(r.additive_share, 1)
    logits = pair_transformer(planted(n, neurons), n).tables().logits
    a, b, c = np.ogrid[:n, :n, :n]
    linear = 2 * (9 + sum(np.cos(2 * pi * 2 * x / n) for x in (a, b))) * np.cos(2 * pi * 2 * c / n)
    assert np.isclose(r.straight_share, (linear**2).sum() / ((logits - logits.mean(axis=2, keepdims=True)) ** 2).sum())
    expected = sum(2 * (size**2 * 5 * n / 2 + n * 0.3**2 / 2) ** 0.5 * (n / 2) ** 0.5 for size in sizes)
    assert np.isclose(r.neurons.norm, expected)


def test_a_neuron_that_reads_one_frequency_and_writes_another_is_half_of_each():
    n = 7
    r = reading(n, [(0.3, wave(n, 1, 0.1), wave(n, 1, 0.2), wave(n, 3, 0.3, 5.0))])
    assert np.allclose(r.masses(), [0.5, 0, 0.5])
    assert np.isclose(r.purity, 0.5)


def test_the_form_of_the_theory_with_relus():
    """All pairs of five phases for each frequency: the logits are cosines but for waves that no square makes."""
    n = 11
    r = reading(n, aligned(n))
    assert r.right == r.additive_right == r.neurons_right == 1
    assert r.straight_share < 1e-20
    assert np.isclose(r.neurons_margin, r.margins.min() / r.neurons.norm)
    assert np.allclose(r.masses(), 2 / (n - 1))
    assert np.isclose(r.alignment, 1)
    assert r.waves.sine_shares.sum() < 1e-20
    assert 0.9 < r.explained < 1
    assert (r.waves.cosines > 0).all()
    turned = reading(n, aligned(n, error=0.25))
    assert abs(turned.alignment) < 1e-12
    assert turned.explained < 0.01
    assert turned.right < 0.1
    opposite = reading(n, aligned(n, error=0.5))
    assert np.isclose(opposite.alignment, -1)
    assert np.allclose(opposite.waves.cosines, -r.waves.cosines)
    assert opposite.right == 0
    assert opposite.evenness < 0 < r.evenness <= 1


def test_six_phases_that_are_enough_for_squares_are_not_for_relus():
    """(t, 4 t, 5 t)/6 cancel all other terms of a square (ext-E4), but not u(a) w(c), which a ReLU has."""
    n = 7
    sixths = [
        (0.0, wave(n, z, t / 6), wave(n, z, 4 * t / 6), wave(n, z, 5 * t / 6)) for z in range(1, 4) for t in range(6)
    ]
    r = reading(n, sixths)
    z = pair_transformer(planted(n, sixths), n).tables()
    squares = z.preactivations**2 @ z.directions
    a, b = np.ogrid[:n, :n]
    assert np.array_equal(squares.argmax(axis=2), (a + b) % n)
    assert np.isclose(r.alignment, 1)
    assert np.allclose(r.masses(), 1 / 3)
    assert r.right < 0.5


def test_one_frequency_is_far_from_even():
    n = 7
    r = reading(n, aligned(n)[:25])
    g = [sum(A * cos(2 * pi * (j + 1) * d / n) for j, A in enumerate(r.waves.cosines)) for d in range(n)]
    most = n / (n - 1) * sum(map(abs, r.waves.cosines))
    assert np.isclose(r.evenness, (g[0] - max(g[1:])) / most)
    assert r.evenness < 0.5
    assert np.allclose(r.masses(), [1, 0, 0])


def test_a_network_that_memorises_looks_like_the_optimum_but_for_its_neurons():
    """Every cell has a unit of its own. Logits, masses and phases are those of the theory; no neuron is a wave."""
    n = 5
    r = reading(n, memorising(n))
    assert r.right == 1
    assert np.isclose(r.explained, 1)
    assert np.isclose(r.evenness, 1)
    assert np.allclose(r.masses(), 2 / (n - 1))
    assert np.isclose(r.alignment, 1)
    assert np.isclose(r.purity, 1 / (n // 2))


def test_random_networks_have_no_frequency_and_every_share_is_whole():
    n = 9
    r = read_addition(pair_transformer(random_state(n, units=40), n).tables())
    assert r.right < 0.4
    assert r.explained + r.waves.sine_shares.sum() < 0.2
    assert np.isclose(r.explained + r.waves.sine_shares.sum() + r.waves.rest, 1)
    assert np.isclose(sum(r.lines), 1)
    assert 0 < r.additive_share < 1
    assert np.isclose(r.masses().sum(), 1)
    assert r.purity < 0.6
    assert abs(r.alignment) < 0.5
    assert sum(r.counts()) == len(r.neurons.constants) == 40 - r.silent - r.linear


def test_attention_that_depends_on_both_is_no_sum():
    """z(a, b) = 2 a + b + t a b for a, b in {-1, 0, 1}: a b has the share 4/9 t^2 over 4/9 t^2 + (4 + 1) 2/3."""
    n, t = 3, 4.0
    a, b = np.ogrid[:n, :n]
    z = (2 * (a - 1) + (b - 1) + t * (a - 1) * (b - 1))[:, :, None].astype(float)
    right = (a + b)[:, :, None] % n == np.arange(n)
    r = read_addition(PairTables(z, np.array([[1.0, 2.0, 6.0]]), 15.0 * right))
    assert np.isclose(r.additive_share, 1 - (4 / 9 * t**2) / (4 / 9 * t**2 + 10 / 3))
    assert np.allclose(r.neurons.u[:, 0], [-2, 0, 2])
    assert np.allclose(r.neurons.v[:, 0], [-1, 0, 1])
    assert np.allclose(r.neurons.w[:, 0], [-2, -1, 3])
    logits = np.maximum(z, 0) * [1, 2, 6] + 15 * right
    energies = [((x - x.mean(axis=2, keepdims=True)) ** 2).sum() for x in (15.0 * right, logits)]
    assert np.isclose(r.straight_share, energies[0] / energies[1])
    alone = np.maximum(2 * (a - 1) + (b - 1), 0)[:, :, None] * np.array([1, 2, 6])
    counts = [
        sum(L[i, j, (i + j) % n] > max(L[i, j, c] for c in range(n) if c != (i + j) % n) for i, j in np.ndindex(n, n))
        for L in (logits, alone + 15 * right, alone)
    ]
    assert np.allclose([r.right, r.additive_right, r.neurons_right], np.array(counts) / 9)
    assert len(set(counts)) == 3


@pytest.mark.parametrize("n", [6, 7])
def test_contributions_and_the_straight_path_are_the_waves(n):
    tables = pair_transformer(random_state(n, units=12), n).tables()
    r = read_addition(tables)
    rest = tables.logits - tables.activations @ tables.directions
    on = (tables.preactivations > 0).all(axis=(0, 1))
    rest = rest + tables.activations[..., on] @ tables.directions[on]
    assert np.allclose(r.contributions.sum(axis=0) + answer_waves(rest).cosines, r.waves.cosines)
    at, (j,) = r.neurons.frequencies(), [r.counts().argmax()]
    assert np.isclose(r.carried()[j], r.contributions[at == j + 1, j].sum() / r.waves.cosines[j])
    positive = (tables.preactivations > 0).mean(axis=(0, 1))
    first = np.flatnonzero((positive > 0) & (positive < 1))[:1]
    single = PairTables(tables.preactivations[..., first], tables.directions[first], 0 * tables.straight)
    assert np.allclose(read_addition(single).contributions[0], answer_waves(single.logits).cosines)


def test_the_norm_is_the_least_of_the_same_function():
    rng = np.random.default_rng(3)
    n = 5
    tables = PairTables(rng.normal(size=(n, n, 4)), rng.normal(size=(4, n)), rng.normal(size=(n, n, n)))
    neurons = effective_neurons(tables)

    def squared(parts, scale, shift):
        """Of the weights with m split into two, (u, v) times scale and w over it."""
        m, u, v, w = parts
        inner = ((u + shift) ** 2).sum() + ((v + m - shift) ** 2).sum()
        return scale**2 * inner + (w**2).sum() / scale**2

    total = 0.0
    for m, u, v, w in zip(neurons.constants, neurons.u.T, neurons.v.T, neurons.w.T, strict=True):
        inner = ((u + m / 2) ** 2).sum() + ((v + m / 2) ** 2).sum()
        least = squared((m, u, v, w), ((w**2).sum() / inner) ** 0.25, m / 2)
        total += least
        tried = [squared((m, u, v, w), *rng.uniform(0.1, 3, size=2)) for _ in range(200)]
        assert min(tried) >= least
        assert min(tried) < 2 * least
    assert np.isclose(neurons.norm, total)


def test_products_have_a_weight_that_is_not_negative_for_every_convex_function():
    """E f(m + X + Y) X Y for independent X, Y of mean 0, convex f: ReLUs, squares, and sums of ReLUs."""
    rng = np.random.default_rng(5)
    values = []
    for _ in range(200):
        X, Y = (x - x.mean() for x in rng.normal(size=(2, rng.integers(2, 6))))
        z = rng.normal() + X[:, None] + Y
        knots, slopes = rng.normal(size=5), rng.exponential(size=5)
        for f in (
            np.maximum(z, 0),
            z**2,
            sum(s * np.maximum(z - k, 0) for s, k in zip(slopes, knots, strict=True)) - z,
        ):
            values.append((f * X[:, None] * Y).mean())
    assert min(values) > -1e-12
    assert max(values) > 0.1
    concave = -np.maximum(np.add.outer([-1.0, 1.0], [-1.0, 1.0]), 0)
    assert (concave * np.outer([-1, 1], [-1, 1])).mean() < 0


def test_what_answers_nothing_is_refused():
    flat = PairTables(np.ones((3, 3, 1)), np.ones((1, 3)), np.zeros((3, 3, 3)))
    with pytest.raises(ValueError, match="do not depend on the label"):
        read_addition(flat)
    two = PairTables(np.ones((2, 2, 1)), np.eye(1, 2), np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="n >= 3"):
        read_addition(two)
    dead = read_addition(PairTables(-np.ones((3, 3, 1)), np.eye(1, 3), np.eye(3)[None] + np.zeros((3, 1, 1))))
    assert len(dead.neurons.constants) == 0
    assert np.isnan([dead.purity, dead.alignment, dead.additive_share, *dead.masses(), *dead.lines]).all()
    assert (dead.neurons_right, dead.neurons_margin) == (0, 0)
