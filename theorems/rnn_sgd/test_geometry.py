"""States and backward vectors at initialisation, and Gram-Schmidt, on which their proofs rest.

Every preactivation lies in the span of a few columns that are Gaussian and independent, so that what holds for all
vectors of that span holds for the states. The proofs are in `proofs/initial-geometry.md` and `proofs/gram-schmidt.md`;
matrices are written out here, row by row, and the library's numbers are compared with them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import fmpq

from lemmata.constructions.recurrent.comparator import comparator
from lemmata.constructions.recurrent.concepts import Part, TargetFunction, input_sequence, null_sequence
from lemmata.constructions.recurrent.elman import back, random_elman, trace
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.recurrent.gram_schmidt import gram_schmidt
from lemmata.numerics.recurrent.separation import state_cosines
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.rnn_sgd.tokens import unit_tokens
from lemmata.theorems.rnn_sgd.written_out import bounded_function, bounded_supremum, of_part

NOTATION = "rnn-sgd:definition-notation"
NORM = "rnn-sgd:claim-G.1"
GEOMETRY = "rnn-sgd:fact-init-geometry"
POSITIONS = "rnn-sgd:fact-position-adaptivity"
MEASURES = "rnn-sgd:fact-nonlinear-measurements"
FIT = "rnn-sgd:lemma-5.2"
LENGTH = 5
SQUARES = np.array([1.0] + [0.25] * 7)


@check(NOTATION, grade="exact", target="printed", supporting=True, cases="a 3 x 4 matrix of fractions, 9 numbers")
@proof_steps("gram-schmidt.md: 1")
def test_norms_and_the_rectifier() -> None:
    W = [[Fraction(i - 2 * j, i + j + 1) for j in range(4)] for i in range(3)]
    rows = [sum((w * w for w in row), Fraction(0)) for row in W]
    assert sum(rows) == sum((w * w for row in W for w in row), Fraction(0))
    assert all(max(Fraction(x, 3), Fraction(0)) == (x >= 0) * Fraction(x, 3) for x in range(-4, 5))


@check(
    NOTATION,
    grade="exact",
    target="printed",
    cases="60 integer matrices, m <= 6, n <= m, half of them with a dependent vector (seeds 0 to 59)",
)
@proof_steps("gram-schmidt.md: 3")
def test_gram_schmidt_is_exact() -> None:
    """Orthogonal, not 0, and every v_i is the sum of its projections on the first i of them."""
    dependent = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(2, 7))
        n = int(rng.integers(2, m + 1))
        v = as_exact(rng.integers(-4, 5, size=(n, m)))
        if seed % 2:
            v[-1] = 2 * v[0] - v[n // 2 - 1]
        u = gram_schmidt(v)
        gram = u @ u.T
        assert all(gram[i, j] == 0 for i in range(n) for j in range(n) if i != j)
        assert all(gram[i, i] > 0 for i in range(n))
        for i in range(n):
            parts = [(u[k] @ v[i]) / gram[k, k] for k in range(i + 1)]
            assert (sum((p * u[k] for k, p in enumerate(parts)), 0 * v[i]) == v[i]).all()
            dependent += parts[i] == 0
    assert dependent >= 30


def _rounding(m: int, n: int, size: float = 1.0) -> float:
    """A vector of length `size` in R^m, projected twice on n unit vectors, and products measured with what is left.

    Each of the 2 n projections, and the measurement, sums m products in any order: m eps times the length for each.
    """
    return (2 * n + 1) * m * 2.0**-52 * size


@check(NOTATION, grade="numeric", target="printed", cases="20 matrices, m = 30, n = 12, rows 5 and 6 nearly equal")
@proof_steps("gram-schmidt.md: 3")
def test_gram_schmidt_in_floating_point() -> None:
    """Orthonormal up to rounding, where one pass would lose eight digits; the spans by least squares; equal rows."""
    for seed in range(20):
        v = np.random.default_rng(seed).standard_normal((12, 30))
        v[6] = v[5] + 1e-8 * v[6]
        u = gram_schmidt(v)
        longest = float(np.linalg.norm(v, axis=1).max())
        assert np.abs(u @ u.T - np.eye(12)).max() < _rounding(30, 12)
        assert np.abs(v - (v @ u.T) @ u).max() < _rounding(30, 12, longest)
        assert np.abs(np.triu(v @ u.T, 1)).max() < _rounding(30, 12, longest)  # v_i has no part along later ones
        assert (np.diagonal(v @ u.T) > 0).all()
        v[8] = v[2]
        u = gram_schmidt(v)
        assert np.abs(u @ u.T - np.eye(12)).max() < _rounding(30, 12)


@check(
    GEOMETRY,
    NORM,
    grade="numeric",
    target="printed",
    supporting=True,
    cases="m = 50, L = 6, two sequences, 5 networks (seeds 0 to 4)",
)
@proof_steps("initial-geometry.md: 1")
def test_preactivations_lie_in_few_dimensions() -> None:
    """g_l = A x_l + sum_i W u_i <u_i, h_(l-1)> with the u_i of the states before, and |c|^2 = |x_l|^2 + |h_(l-1)|^2."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        network, x = random_elman(50, 5, 1, rng), unit_tokens(rng, 6)
        sequences = (input_sequence(x, 0.2), null_sequence(6, 4, 0.2))
        runs = [trace(network, s) for s in sequences]
        ordered = np.stack([run.states[l] for l in range(1, 6) for run in runs])
        u = gram_schmidt(ordered)
        assert len(u) == 10
        columns = np.concatenate([network.token, network.state @ u.T], axis=1)
        for run, tokens in zip(runs, sequences, strict=True):
            for l in range(1, 7):
                before = run.states[l - 1]
                known = u[: max(2 * (l - 1), 0)]
                length = float(np.linalg.norm(before))
                assert np.abs(known.T @ (known @ before) - before).max() <= _rounding(50, 10, length)
                c = np.concatenate([tokens[l - 1], u @ before])
                assert abs(c @ c - tokens[l - 1] @ tokens[l - 1] - before @ before) < 1e-12
                assert np.abs(np.maximum(columns @ c, 0) - run.states[l]).max() < 1e-12


@check(
    GEOMETRY,
    NORM,
    grade="sampled",
    target="printed",
    supporting=True,
    cases="1000 networks of width 12, L = 5 (seed 0)",
)
@proof_steps("initial-geometry.md: 1")
def test_columns_are_fresh() -> None:
    """The entries of W u_1, ..., W u_4 have mean 0, variance 2/m, and no correlation among them, with A, or with h.

    All inner products of these columns, with those of A and with h_1, within 4.5 standard errors.
    """
    rng, m = np.random.default_rng(0), 12
    sums, squares = np.zeros((4, 10)), np.zeros((4, 10))
    for _ in range(1000):
        network = random_elman(m, 5, 1, rng)
        h = trace(network, null_sequence(5, 4, 0.3)).states
        columns = (network.state @ gram_schmidt(h[1:5]).T).T
        others = np.concatenate([columns, network.token.T, h[1:2]])
        values = columns @ others.T - 2 * np.eye(4, 10)
        sums += values
        squares += values**2
    scores = sums / np.sqrt(squares)
    assert np.abs(scores).max() < 4.5


@check(
    GEOMETRY,
    grade="sampled",
    target="printed",
    cases="16 networks of width 100 and 400 (full: 2000), L = 8, eps_x = 0.5 (seeds 0 to 15)",
)
@proof_steps("initial-geometry.md: 3")
def test_norms_of_states(effort: Effort) -> None:
    """|h_l|^2/(|h_(l-1)|^2 + |x_l|^2) is 1 within six standard deviations, and within four errors in the mean.

    A ratio has the variance 5/m: (2/m)^2 times m times 3/2 - 1/4. It shrinks as the width grows.
    """
    largest = {}
    for m in (100, effort.pick(quick=400, full=2000)):
        found = []
        for seed in range(16):
            rng = np.random.default_rng(seed)
            network = random_elman(m, 5, 1, rng)
            for tokens in (input_sequence(unit_tokens(rng, 8), 0.5), null_sequence(8, 4, 0.5)):
                squares = (trace(network, tokens).states ** 2).sum(axis=1)
                found.append(squares[1:] / (squares[:-1] + SQUARES))
        ratios = np.array(found)
        largest[m] = np.abs(ratios - 1).max()
        assert largest[m] < 6 * math.sqrt(5 / m)
        # sequences of one network share its randomness, so that only half of the values count
        assert abs(ratios.mean() - 1) < 4 * math.sqrt(5 / m / (ratios.size / 2))
    assert max(largest, key=largest.__getitem__) == 100


@check(
    MEASURES,
    grade="sampled",
    target="printed",
    cases="16 networks of width 400, L = 8, eps_x = 0.9, 0.5 (seeds 0 to 15)",
)
@proof_steps("complexities.md: 12")
def test_new_signals_become_less_significant() -> None:
    """|A x_l|^2/|W h_(l-1)|^2 is e^2/(1 + (l - 2) e^2), within six standard deviations, and four in the mean.

    |A x_l|^2 and |W h_(l-1)|^2 are off by a share of variance 2/m each, and |h_(l-1)|^2 by 5/m for every step before.
    """
    m, length = 400, 8
    for size in (0.9, 0.5):
        found = []
        for seed in range(16):
            rng = np.random.default_rng([12, seed])
            network = random_elman(m, 5, 1, rng)
            x = input_sequence(unit_tokens(rng, length), size)
            states = trace(network, x).states
            new, old = x[1:] @ network.token.T, states[1:-1] @ network.state.T
            found.append((new**2).sum(axis=1) / (old**2).sum(axis=1))
        times = np.arange(2, length + 1)
        expected = size**2 / (1 + (times - 2) * size**2)
        deviations = np.sqrt((4 + 5 * (times - 1)) / m)
        ratios = np.array(found) / expected
        assert (np.abs(ratios - 1) < 6 * deviations).all()
        assert (np.abs(ratios.mean(axis=0) - 1) < 4 * deviations / np.sqrt(16)).all()
        assert np.mean(found, axis=0)[-1] < np.mean(found, axis=0)[0] / 2


@check(
    GEOMETRY,
    grade="numeric",
    target="printed",
    cases="c_1, ..., c_12; 40 points of Gauss and Legendre, to 10^-12",
)
@check(POSITIONS, grade="numeric", target="printed", supporting=True, cases="c_1, ..., c_12")
@proof_steps("initial-geometry.md: 5")
def test_the_cosines_of_the_limit() -> None:
    """c_(l+1) = 2 E relu(u) relu(v) = (2/pi) int cos(t) cos(t - phi) dt over phi - pi/2 <= t <= pi/2, cos phi = c_l."""
    points, weights = np.polynomial.legendre.leggauss(40)
    found, expected = [float(c) for c in state_cosines(12)], 0.0
    assert found[0] == 0
    for c in found[1:]:
        phi = math.acos(expected)
        half = (math.pi - phi) / 2
        t = phi / 2 + half * points
        expected = 2 / math.pi * half * float(weights @ (np.cos(t) * np.cos(t - phi)))
        assert abs(c - expected) < 1e-12
        assert c < 1


@check(GEOMETRY, grade="sampled", target="printed", cases="3 networks of width 1000 (full: 8000), L = 8, equal tokens")
@check(
    POSITIONS,
    grade="sampled",
    target="printed",
    supporting=True,
    cases="3 networks of width 1000 (full: 8000), L = 8, equal tokens, eps_x = 0.05 (seeds 0 to 2)",
)
@proof_steps("initial-geometry.md: 5")
def test_states_at_different_times_are_apart(effort: Effort) -> None:
    """Equal tokens at all times: |cos(h_l, h_l') - c_l| <= 2 eps_x + l (4 eps_x^2 + 9 delta), delta = 1/sqrt m."""
    m, epsilon = effort.pick(quick=1000, full=8000), 0.05
    cosines = [float(c) for c in state_cosines(8)]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        network, x = random_elman(m, 5, 1, rng), np.repeat(unit_tokens(rng, 3), 6, axis=0)
        h = trace(network, input_sequence(x, epsilon)).states[1:]
        unit = h / np.linalg.norm(h, axis=1, keepdims=True)
        for l in range(1, 8):
            for other in range(l + 1, 9):
                error = abs(unit[l - 1] @ unit[other - 1] - cosines[l])
                assert error <= 2 * epsilon + l * (4 * epsilon**2 + 9 / math.sqrt(m))
                assert error < 0.12
                assert unit[l - 1] @ unit[other - 1] < 0.93


@check(
    FIT,
    GEOMETRY,
    grade="sampled",
    target="corrected",
    supporting=True,
    cases="8 networks of width 500 (full: 4000), L = 7, eps_x = 0.01 (seeds 0 to 7)",
)
@proof_steps("initial-geometry.md: 12")
def test_distance_to_the_null_sequence(effort: Effort) -> None:
    """|h_l - hz_l|^2 and |p_l|^2 are near 2 (l - 1) eps_x^2, and <h_l - hz_l, hz_l> is small beside eps_x.

    The means of |p|^2 over the networks are so within 3 of their standard errors, at each l.
    """
    m, epsilon = effort.pick(quick=500, full=4000), 0.01
    found = np.zeros((8, 5))
    for seed in range(8):
        rng = np.random.default_rng(seed)
        network, x = random_elman(m, 5, 1, rng), unit_tokens(rng, 7)
        h, hz = (trace(network, s).states for s in (input_sequence(x, epsilon), null_sequence(7, 4, epsilon)))
        assert (h[1] == hz[1]).all()
        for l in range(2, 7):
            away = h[l] - hz[l]
            along = away @ hz[l] / np.linalg.norm(hz[l])
            wanted = 2 * (l - 1) * epsilon**2
            orthogonal = away @ away - along**2
            # l steps, each off by |c - c0| <= sqrt(2 l) eps_x times a fluctuation of order m^(-1/2)
            assert abs(along) < 4 * l**1.5 * epsilon / math.sqrt(m) + 2 * l * epsilon**2
            found[seed, l - 2] = orthogonal / wanted
    error = found.std(axis=0, ddof=1) / math.sqrt(8)
    assert (np.abs(found.mean(axis=0) - 1) < 3 * error + 1 / m).all()


@check(GEOMETRY, grade="sampled", target="printed", cases="3 networks of width 200 and 1000 (full: 8000), L = 7, d = 3")
@check(
    NORM,
    grade="sampled",
    target="printed",
    supporting=True,
    cases="3 networks of width 200 and 1000 (full: 8000), L = 7, d = 3 (seeds 0 to 2)",
)
@proof_steps("initial-geometry.md: 9, 17")
def test_backward_vectors_keep_their_length(effort: Effort) -> None:
    """|e_s^T Back_(i -> j)|^2 d/m lies between 1/3 and 3, and nearer to 1 where m is larger; Back_(i -> 7) written out.

    The largest cosine of rows for two different (j, s) falls with the width, too.
    """
    spread, correlation = {}, {}
    for m in (200, effort.pick(quick=1000, full=8000)):
        values, cosines = [], []
        for seed in range(3):
            network = random_elman(m, 5, 3, np.random.default_rng(seed))
            run, state, patterns = trace(network, null_sequence(7, 4, 0.1)), np.zeros(m), []
            for x in [1.0] + [0.1] * 6:
                g = network.state @ state + network.token[:, 4] * x
                patterns.append(g >= 0)
                state = np.maximum(g, 0)
            for i in (2, 4):
                rows = np.concatenate([back(network, run, i, j) for j in range(i + 1, 8)])
                row = network.readout
                for place in range(7, i, -1):
                    row = (row * patterns[place - 1]) @ network.state
                assert np.abs(row - rows[-3:]).max() < 1e-10 * np.abs(row).max()  # to rounding
                norms = np.linalg.norm(rows, axis=1)
                values += list(norms**2 * 3 / m)
                gram = (rows / norms[:, None]) @ (rows / norms[:, None]).T
                cosines.append(np.abs(gram - np.eye(len(rows))).max())
        assert 1 / 3 < min(values) <= max(values) < 3
        spread[m], correlation[m] = max(abs(np.log(values))), max(cosines)
    assert abs(np.log(values).mean()) < 0.3
    assert min(spread, key=spread.__getitem__) > 200
    assert min(correlation, key=correlation.__getitem__) > 200


@check(
    GEOMETRY,
    grade="sampled",
    target="printed",
    cases="2 networks of width 1000 (full: 4000), L = 6, d = 2, eps_x = 0.1, 0.01, 0.001 (seeds 0, 1)",
)
@proof_steps("initial-geometry.md: 18")
def test_backward_matrices_are_near_those_of_the_null_sequence(effort: Effort) -> None:
    """The largest relative distance is not 0 and falls with eps_x, by 1.5 at least for a tenth, by 3 for a hundredth.

    Sign changes go with eps_x, so that the distance goes like its square root.
    """
    m = effort.pick(quick=1000, full=4000)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        network, x, distances = random_elman(m, 5, 2, rng), unit_tokens(rng, 6), []
        for epsilon in (0.1, 0.01, 0.001):
            run, null = (trace(network, s) for s in (input_sequence(x, epsilon), null_sequence(6, 4, epsilon)))
            found = []
            for i in range(2, 6):
                there, wanted = back(network, run, i, 6), back(network, null, i, 6)
                found.append(np.linalg.norm(there - wanted) / np.linalg.norm(wanted))
                assert abs(np.linalg.norm(wanted) ** 2 / m - 1) < 0.5
            distances.append(max(found))
        assert distances[0] > 1.5 * distances[1] > 2.25 * distances[2] > 0
        assert distances[2] < distances[0] / 3


@check(
    GEOMETRY,
    grade="sampled",
    target="printed",
    cases="4 networks of width 100 and 1000 (full: 4000), L = 6, two rows of W and A fresh (seeds 0 to 3)",
)
@proof_steps("initial-geometry.md: 19")
def test_a_few_fresh_rows_change_little(effort: Effort) -> None:
    """|h~_l - h_l| obeys the recursion of the proof, is not 0, and halves at least at the larger width; Back's too."""
    changes, moved = {}, {}
    for m in (100, effort.pick(quick=1000, full=4000)):
        found, backs = [], []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            network, other = random_elman(m, 5, 1, rng), random_elman(m, 5, 1, rng)
            chosen = rng.permutation(m)[: math.ceil(m**0.1)]
            state, token = network.state.copy(), network.token.copy()
            state[chosen], token[chosen] = other.state[chosen], other.token[chosen]
            tokens = input_sequence(unit_tokens(rng, 6), 0.3)
            fresh = replace(network, state=state, token=token)
            runs = [trace(net, tokens) for net in (network, fresh)]
            bound = 0.0
            for h, new in zip(runs[0].states[1:], runs[1].states[1:], strict=True):
                bound = 3 * bound + np.linalg.norm(h[chosen]) + np.linalg.norm(new[chosen])
                assert np.linalg.norm(new - h) <= bound
            found.append(np.linalg.norm(runs[1].states[-1] - runs[0].states[-1]))
            assert found[-1] > 0
            rows = [back(net, run, 2, 6) for net, run in zip((network, fresh), runs, strict=True)]
            backs.append(np.linalg.norm(rows[0] - rows[1]) / np.linalg.norm(rows[0]))
        changes[m], moved[m] = np.mean(found), np.mean(backs)
    small, large = changes
    assert changes[small] > 2 * changes[large]
    assert moved[small] > 1.5 * moved[large] > 0


def _target() -> TargetFunction:
    axis = np.array([1.0, 0.0, 0.0, 0.0])
    zero, one = fmpq(0), fmpq(1)
    listed = ((2, 4, 0, (zero, one)), (3, 4, 1, (zero, -one)), (2, 5, 1, (zero, zero, one)), (4, 5, 0, (zero, one)))
    return TargetFunction(LENGTH, 2, tuple(Part(i, j, s, c, axis) for i, j, s, c in listed))


@check(
    NORM,
    grade="numeric",
    target="printed",
    cases="m = 200, 800 (full: 3200), 4 networks each (seeds 0 to 3), L = 5, d = 2, four parts, eps_x = eps_c = 0.3",
)
@proof_steps("initial-geometry.md: 10, 11")
def test_the_norm_of_the_comparator(effort: Effort) -> None:
    """|W#|_F of the dense matrix, and its bound sum sup|H|/sqrt(m C) with C from matrices written out, C >= 1/(6 d).

    H and its supremum are written out. With the largest |H| over the rows in the window in the place of the supremum
    the bound is met by a single part up to the correlation of |Back_k| and the window: it is within a factor of 30.
    """
    scaled = {}
    for m in effort.pick(quick=(200, 800), full=(200, 800, 3200)):
        squares = []
        for seed in range(4):
            network = random_elman(m, 5, 2, np.random.default_rng(seed))
            found = comparator(network, _target(), 0.3, 0.3)
            states, patterns = [np.zeros(m)], []
            for x in [1.0] + [0.3] * (LENGTH - 1):
                g = network.state @ states[-1] + network.token[:, 4] * x
                patterns.append(g >= 0)
                states.append(np.maximum(g, 0))
            bound, sampled, vectors = 0.0, 0.0, np.zeros((LENGTH - 2, m))
            for weight in found.weights:
                i, j, s = weight.part.source, weight.part.target, weight.part.output
                row = network.readout[s]
                for place in range(j, i, -1):
                    row = (row * patterns[place - 1]) @ network.state
                h = states[i - 1]
                normaliser = (row @ row) * (h @ h) / m
                assert abs(weight.normaliser / normaliser - 1) < 1e-9
                assert 1 / 12 < normaliser < 2
                inside = np.abs(network.state @ h) <= 0.3 / math.sqrt(m)
                probability = math.erf(0.3 / (2 * np.linalg.norm(h)))
                columns = (math.sqrt(m / 2) * network.token[inside][:, [0, 3]]).T
                values = bounded_function(*of_part(weight.part), *columns) / probability
                largest = float(np.abs(values).max())
                assert abs(weight.largest / largest - 1) < 1e-9
                sampled += largest / math.sqrt(m * normaliser)
                bound += bounded_supremum(*of_part(weight.part)) / probability / math.sqrt(m * normaliser)
                vectors[i - 2, inside] += row[inside] * values / (m * normaliser)
            norm = float(np.linalg.norm(vectors.T @ np.array(states[1 : LENGTH - 1])))
            assert abs(found.frobenius_norm() / norm - 1) < 1e-9
            assert abs(found.norm_bound() / bound - 1) < 1e-9
            assert sampled / 30 < norm <= sampled < bound
            squares.append(m * norm**2)
        scaled[m] = math.sqrt(np.mean(squares))
    assert max(scaled.values()) < 1.5 * min(scaled.values())
