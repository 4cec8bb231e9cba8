"""Which positions one head can select: near-orthogonal vectors, sharp coherence, and averages over a subspace.

The general statements are proved in proofs/selection.md. Margins are distances of hulls, found and proved exactly.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import comb, e, log

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.duality.farkas import Constraint, FarkasCertificate, decide
from lemmata.certificates.sparse.selection import farkas_system, select, verify_selection
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.sparse.compiler import dual_vectors
from lemmata.constructions.sparse.positions import (
    CodedPositions,
    PositionTable,
    coherence,
    gram_matrix,
    hadamard_positions,
    integral,
    orthonormal_positions,
    position_table,
    random_sign_positions,
)
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record


def critical_gram(s: int, delta: fmpq) -> np.ndarray:
    """Inner products of 2 s unit vectors: -Delta in each half, (1 - (s-1) Delta)/s across."""
    across = (1 - (s - 1) * delta) / s
    gram = np.empty((2 * s, 2 * s), dtype=object)
    for i, j in product(range(2 * s), repeat=2):
        gram[i, j] = fmpq(1) if i == j else -delta if (i < s) == (j < s) else across
    return gram


def images(gram: np.ndarray) -> PositionTable:
    """The rows of a Gram matrix: images of the vectors under a linear map that is injective on their span."""
    return PositionTable(*integral(gram))


DELTAS = {s: (fmpq(1, 2 * s - 1), fmpq(2, 4 * s - 3), fmpq(10, 10 * s + 1)) for s in (2, 3, 4, 5)}
CRITICAL = [(s, delta) for s, deltas in DELTAS.items() for delta in deltas]


@counterexample("variable-creation:lemma-A.19a", grade="exact", cases="s = 2, 3, 4, 5; three values of Delta each")
@proof_steps("selection.md: 6, 9")
@pytest.mark.parametrize(("s", "delta"), CRITICAL)
def test_no_head_selects_beyond_the_sharp_coherence(record: Record, s, delta):
    """1/(2s-1) <= Delta < 1/s and T = 2 s: both halves have one mean, so that no key tells them apart.

    Then some score on I is at most some score off I, from which proofs/selection.md derives that no head with ||W_V||
    <= 2, ||W_C|| <= 1 comes within gamma/4 of the target for gamma < 2/(s (5 s + 1)); the last step is checked here.
    At Delta = 1/(2s-1) they are as many as the coherence allows in their dimension, by Welch's bound.
    """
    assert fmpq(1, 2 * s - 1) <= delta < fmpq(1, s)
    gram = critical_gram(s, delta)
    assert max(abs(gram[i, j]) for i, j in combinations(range(2 * s), 2)) == delta
    halves = as_exact(np.kron([1, -1], np.ones(s, dtype=int)))
    assert not (gram @ halves).any()
    for vector, value in eigenvectors(s, delta):
        assert (gram @ vector == value * vector).all()
        assert value >= 0
    selection = select(images(gram), range(s))
    assert not selection.possible
    assert set(selection.affine) == set(selection.convex.values()) == {fmpq(1, s)}
    farkas_system(images(gram), selection)
    epsilon = fmpq(9, 10) * fmpq(2, s * (5 * s + 1)) / 4
    assert fmpq(2, s) * (1 - 4 * s**2 * epsilon) - 2 * (s + 1) * epsilon > (2 * s + 2 + 8 * s) * epsilon
    rank = sum(value > 0 for _, value in eigenvectors(s, delta))
    assert rank == 2 * s - 1
    assert delta != fmpq(1, 2 * s - 1) or delta**2 < welch(2 * s + 1, rank)
    if (s, delta) == CRITICAL[0]:
        gamma, found = 4 * epsilon, max(abs(gram[i, j]) for i, j in combinations(range(2 * s), 2))
        record.hypothesis("the coherence of the 2 s positions is at most Delta", found, "<=", delta)
        record.hypothesis("they are unit vectors (the largest square)", max(gram.diagonal()), "=", 1)
        record.hypothesis(
            "no 2 s + 1 vectors of their space have this coherence (Welch)", delta**2, "<", welch(2 * s + 1, rank)
        )
        record.hypothesis("s <= d, which is their rank and three more; k is free", s, "<=", rank + 3)
        record.hypothesis("Delta < 1/s, s = 2", delta, "<", fmpq(1, s))
        record.hypothesis("gamma > 0", gamma, ">", 0)
        record.hypothesis("gamma <= 1", gamma, "<=", 1)
        record.violated(
            "a head within gamma/4, which forces 2/s <= (5 s + 1) gamma", fmpq(2, s), "<=", (5 * s + 1) * gamma
        )


def welch(count: int, dimension: int) -> fmpq:
    """What the square of the coherence of so many unit vectors is at least: the squares of all products add up."""
    return fmpq(count - dimension, dimension * (count - 1))


def eigenvectors(s: int, delta: fmpq) -> list[tuple[np.ndarray, fmpq]]:
    """A basis of eigenvectors of `critical_gram`, 2 s of them, with their eigenvalues."""
    differences = [np.eye(s, dtype=int)[0] - np.eye(s, dtype=int)[i] for i in range(1, s)]
    ones = np.ones(s, dtype=int)
    within = [(np.kron(half, part), 1 + delta) for half in ([1, 0], [0, 1]) for part in differences]
    sums = [(np.kron([1, 1], ones), 2 * (1 - (s - 1) * delta)), (np.kron([1, -1], ones), fmpq(0))]
    return [(as_exact(vector), value) for vector, value in [*within, *sums]]


def grouped_gram(s: int, j: int, copies: int, delta: fmpq) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Inner products of s vectors and, for each j of them, of some groups of j vectors with the same mean.

    The s vectors have the products -Delta. A group of J consists of y_J + q, y_J the mean of the vectors of J, and q
    the corners of a simplex around 0 in dimensions of its own, of squared length 1 - |y_J|^2: products -Delta again.

    Returns:
        The products, exact, shape (T, T), and the subsets J in the order of their groups, one for each group.
    """
    subsets = [subset for subset in combinations(range(s), j) for _ in range(copies)]
    first = np.full((s, s), -delta, dtype=object)
    first[np.arange(s), np.arange(s)] = fmpq(1)
    means = np.full((s + j * len(subsets), s), fmpq(0), dtype=object)
    means[:s] = as_exact(np.eye(s, dtype=int))
    gram = np.full((len(means), len(means)), fmpq(0), dtype=object)
    square = (j - 1) * (1 + delta) / j
    for g, subset in enumerate(subsets):
        own = slice(s + j * g, s + j * g + j)
        means[own, list(subset)] = fmpq(1, j)
        gram[own, own] = -square / (j - 1)
        gram[np.arange(own.start, own.stop), np.arange(own.start, own.stop)] = square
    return gram + exact_matmul(exact_matmul(means, first), means.T), subsets


def least_error(s: int, j: int, copies: int, values: fmpq, step: fmpq) -> fmpq:
    """What no head with values up to a size falls below: half of the change of the target at s - j + 1 bits of I.

    These bits have the smallest weights, and together they change the head by 2 (s - j + 1) B/m at most.
    """
    hidden = s - j + 1
    return hidden * (step / 2 - values / copies)


BEYOND = [(2, 2, fmpq(1, 3)), (2, 2, fmpq(2, 5)), (3, 3, fmpq(1, 5)), (4, 3, fmpq(1, 5))]


@check("variable-creation:lemma-A.21a", grade="numeric", target="corrected", supporting=True)
@proof_steps("selection.md: 12")
@pytest.mark.parametrize(("s", "j", "delta"), BEYOND)
def test_groups_with_the_means_of_all_subsets_have_the_same_coherence(s, j, delta):
    """(2 j - 1) Delta >= 1: unit vectors, coherence Delta, and the sum of each group is that of its subset of I."""
    assert (2 * j - 1) * delta >= 1
    copies = 2
    gram, subsets = grouped_gram(s, j, copies, delta)
    T = len(gram)
    assert len(subsets) == comb(s, j) * copies
    assert all(gram[t, t] == 1 for t in range(T))
    assert max(abs(gram[a, b]) for a, b in combinations(range(T), 2)) == delta
    for g, subset in enumerate(subsets):
        difference = np.zeros(T, dtype=int)
        difference[list(subset)] = 1
        difference[s + j * g : s + j * g + j] = -1
        assert not (gram @ as_exact(difference)).any()
    assert np.linalg.eigvalsh(to_float(gram)).min() > -1e-12


@check("variable-creation:lemma-A.21a", grade="sampled", target="corrected", supporting=True, cases="40 random heads")
@proof_steps("selection.md: 13")
@pytest.mark.parametrize("seed", range(40))
def test_heads_of_a_bag_do_not_see_the_lightest_bit(seed):
    """s = 2, m = 60 pairs: with the heavier token of each pair on, flipping the lighter bit of I moves a head little.

    The bound 2 B/m is that of proofs/selection.md; heads are of any norm of keys, with values up to B = 8.
    """
    rng = np.random.default_rng(seed)
    copies, delta, B = 60, 1 / 3, 8.0
    basis = np.eye(copies + 2)
    y, q = basis[0] * np.sqrt((1 - delta) / 2), basis[1:] * np.sqrt((1 + delta) / 2)
    V = np.concatenate([[y + a, y - a] for a in q])
    V = np.concatenate([V, np.zeros((len(V), 1))], axis=1)
    v = np.eye(copies + 3)[-1]
    key = rng.normal(size=copies + 3) * float(10 ** rng.uniform(-1, 2))
    key[0] += float(10 ** rng.uniform(-1, 2.5)) * (seed % 3)
    value = rng.normal(size=copies + 3)
    value *= B / np.linalg.norm(value)
    head = Head(Affine(v[:, None]), Affine(key[:, None]), Affine(value[:, None]), causal=False)
    scores = V @ key
    light = int(np.argmin(scores[:2]))
    bits = np.zeros(len(V))
    for pair in range(1, copies + 1):
        bits[2 * pair + int(np.argmax(scores[2 * pair : 2 * pair + 2]))] = 1
    for other in (0, 1):
        bits[1 - light] = other
        outputs = []
        for bit in (0, 1):
            bits[light] = bit
            z = np.concatenate([[v], bits[:, None] * V])
            outputs.append(float(head(z[:1], memory=z)[0, 0]))
        assert abs(outputs[1] - outputs[0]) <= 2 * B / copies


@counterexample("variable-creation:lemma-A.21a", "variable-creation:lemma-A.21b", grade="exact")
@proof_steps("selection.md: 13")
def test_no_head_reads_two_bits_of_a_bag_beyond_the_sharp_coherence(
    record: Record, gamma: fmpq = fmpq(3, 4), delta: fmpq = fmpq(1, 3)
):
    """s = 2, Delta = 1/3, gamma = 3/4: 129 pairs with the mean of v_1 and v_2, T = 260; any g and any norm of keys.

    Values have size at most B = ||W_V|| ||W_C|| <= 2 s s = 8. With the heavier token of each pair on, flipping the
    lighter bit of I changes a head by 2 B/m at most, and g by 1/2 at least: proofs/selection.md, step 12.
    """
    s, copies = 2, 129
    gram, subsets = grouped_gram(s, 2, copies, delta)
    found = max(abs(x) for x in gram[np.triu_indices(len(gram), 1)])
    least = least_error(s, 2, copies, fmpq(2 * s * s), fmpq(1, s))
    assert len(subsets) == copies
    record.hypothesis("the coherence of the T = 260 vectors is at most Delta", found, "<=", delta)
    record.hypothesis("they are unit vectors (the largest square)", max(gram.diagonal()), "=", 1)
    rank = int(np.linalg.matrix_rank(to_float(gram)))
    record.hypothesis("s <= d, which is their rank and three more; k is free", s, "<=", rank + 3)
    record.hypothesis("Delta < 1/s, s = 2", delta, "<", fmpq(1, s))
    record.hypothesis("s Delta < gamma", s * delta, "<", gamma)
    record.hypothesis("gamma < 1", gamma, "<", 1)
    record.violated("some head of the printed norms is within gamma/4 of some g", least, "<=", gamma / 4)
    for s, j, _ in BEYOND:  # below 2 (s - j + 1)/s no head is near, for many groups
        gamma = (2 * fmpq(s - j + 1, s)) * fmpq(99, 100)
        assert least_error(s, j, 10**6, fmpq(2 * s * s), fmpq(1, s)) > gamma / 4


@check(
    "variable-creation:lemma-A.19a",
    grade="exact",
    target="corrected",
    cases="random sign vectors, T = 8, ..., 40, s = 2, 3, 4, with coherence below 1/(2s-1), five seeds each",
)
@proof_steps("representation.md: 2", "selection.md: 5")
@pytest.mark.parametrize("s", [2, 3, 4])
def test_the_dual_key_has_the_claimed_scores(s):
    """1 on I, at most kappa elsewhere, ||u||^2 = 1 G^-1 1 <= s/(1 - (s-1) Delta); the best key is at least as good."""
    tried = 0
    for seed in range(5):
        for T, root in ((8, 16), (20, 20), (40, 24)):
            positions = random_sign_positions(T, root, seed)
            delta, _ = coherence(positions)
            if (2 * s - 1) * delta >= 1:
                continue
            tried += 1
            u = dual_vectors(positions, range(s)).sum(axis=0)
            scores = exact_matmul(positions.rows(np.arange(T)), u[:, None])[:, 0]
            kappa = s * delta / (1 - (s - 1) * delta)
            assert (scores[:s] == 1).all()
            assert abs(scores[s:]).max() <= kappa < 1
            assert (u * u).sum() <= s / (1 - (s - 1) * delta) <= s**2
            if T == 8:
                margin = 1 - scores[s:].max()
                assert select(positions, range(s)).squared_margin >= margin**2 / (u * u).sum()
    assert tried >= 5


@check("variable-creation:lemma-A.19a", grade="exact", target="corrected", supporting=True)
def test_selections_are_checked_and_controls_are_possible():
    """The configuration with a slightly smaller coherence across can be selected; a wrong certificate is refused."""
    gram = critical_gram(2, fmpq(2, 5))
    gram[:2, 2:] = gram[2:, :2] = fmpq(29, 100)
    selection = select(images(gram), (0, 1))
    assert selection.possible
    with pytest.raises(ValueError, match="do not add up"):
        verify_selection(images(gram), replace(selection, affine=(fmpq(1), fmpq(1))))


@check(
    "variable-creation:setup-A.2.1b",
    grade="exact",
    target="corrected",
    cases="d = 4, 16, 64 (basis and Hadamard basis); codes with d = 16, 64, 256; random signs with d = 64, 144, 256, "
    "the largest T below exp(d Delta^2/4), three seeds; orthonormal families",
)
@proof_steps("selection.md: 1, 2, 3, 4")
def test_families_lie_between_the_bounds():
    """Sizes T' and coherences Delta of the families: max(d, exp(d Delta^2/4)) can be had, and Alon's bound holds.

    The coherences of the random families are compared with all products, of which the largest may be negative.
    """
    negative = 0
    for exponent in (1, 2, 3):
        family, d = hadamard_positions(exponent), 4**exponent
        assert family.count == 2 * d
        delta, _ = coherence(family)
        assert delta == fmpq(1, 2**exponent)
        assert_within_the_upper_bound(family.count, d, delta)
    for order, terms in ((4, 2), (8, 2), (16, 2)):
        family = CodedPositions(order**terms, order, terms)
        gram = gram_matrix(family, range(min(family.count, 64)))
        assert max(abs(gram[i, j]) for i, j in combinations(range(len(gram)), 2)) == family.coherence_bound
        assert_within_the_upper_bound(family.count, family.dimension, family.coherence_bound)
    for root, delta in ((8, fmpq(1, 2)), (12, fmpq(2, 5)), (16, fmpq(3, 10))):
        d = root**2
        T = int(e ** (d * float(delta) ** 2 / 4))
        found = [coherence(random_sign_positions(T, root, seed))[0] for seed in range(3)]
        assert min(found) <= delta
        for seed, value in enumerate(found):
            rows = random_sign_positions(T, root, seed).numerators
            off = rows @ rows.T - d * np.eye(T, dtype=int)
            assert value == fmpq(int(abs(off).max()), d)
            negative += int(off.max() < -off.min())
    assert negative > 0
    assert coherence(orthonormal_positions(9))[0] == 0


def assert_within_the_upper_bound(count: int, d: int, delta: fmpq) -> None:
    """With k = ceil(4 e d Delta^2), T' < 1 + Delta^(-2k); and rank >= n/2 forces n <= 2 binom(d + k - 1, k) before."""
    assert delta**2 * d >= 1
    k = int(np.ceil(4 * e * d * float(delta) ** 2))
    assert log(count) < log(2) + 2 * k * log(1 / float(delta))
    for power in range(1, 4):
        n = -(-(delta.q ** (2 * power)) // delta.p ** (2 * power))
        if count >= n:
            assert n <= 2 * comb(d + power - 1, power)


@counterexample("variable-creation:setup-A.2.1b", grade="exact")
@proof_steps("selection.md: 1")
def test_the_size_is_unbounded_while_d_delta_squared_is_one(record: Record):
    sizes = []
    for exponent in (2, 3, 4):
        family = hadamard_positions(exponent)
        delta, _ = coherence(family)
        assert delta < fmpq(1, 2)
        assert delta**2 * family.dimension == 1
        sizes.append(family.count)
    assert sizes == [32, 128, 512]
    record.hypothesis("Delta < 1/2, here the coherence of 512 vectors in 256 dimensions", delta, "<", fmpq(1, 2))
    record.violated("T' <= exp(6 d Delta^2)", arb(sizes[-1]).log(), "<=", 6 * delta**2 * family.dimension)


@counterexample("variable-creation:remark-4.5b", grade="exact")
@proof_steps("selection.md: 11")
def test_keys_of_a_line_need_not_be_selected(record: Record, second: tuple[int, int] = (2, 0)):
    """Keys (1,0), (2,0) on a line and (0,1), (0,-1) beside it: equal scores on the line are below one beside it."""
    keys = PositionTable(np.array([[1, 0], second, [0, 1], [0, -1]]), 1)
    selection = select(keys, (0, 1))
    assert not selection.possible
    assert isinstance(decide(farkas_system(keys, selection)[0]), FarkasCertificate)
    line = [Constraint("on", {"x": 1}, "="), Constraint("up", {"y": -1}, ">"), Constraint("down", {"y": 1}, ">")]
    assert isinstance(decide(line), FarkasCertificate)
    rank = int(np.linalg.matrix_rank(keys.numerators[:2]))
    record.hypothesis("the two keys lie in a subspace of dimension s = 1", rank, "<=", 1)
    record.violated("a query scores them alike, and above the two others", selection.possible, "=", True)


@check(
    "variable-creation:remark-4.5b",
    grade="exact",
    target="corrected",
    cases="the margin of four families of 6 to 12 keys, among them one with an affine hull that others surround",
)
@proof_steps("selection.md: 11")
def test_hulls_decide_what_one_head_can_average():
    """The largest margin is the distance of the hulls, as a closed form has it; it is 0 if they meet."""
    square = position_table([[1, 0], [-1, 0], [0, 1], [0, -1]])
    assert select(square, (0,)).squared_margin == 1
    assert not select(square, (0, 1)).possible
    for n in (6, 9, 12):
        for s in (1, 2, 4):
            assert select(orthonormal_positions(n), range(s)).squared_margin == fmpq(1, s) + fmpq(1, n - s)
    apart = PositionTable(np.array([[3, 0], [3, 5], [0, 1], [-1, 7], [2, -4]]), 1)
    assert select(apart, (0, 1)).squared_margin == 1
