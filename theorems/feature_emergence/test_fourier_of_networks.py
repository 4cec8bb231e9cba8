"""Section 7.1, section 7.4, D.6.1 (first half) and D.6.3: what modular addition looks like in Fourier space.

Everything is exact in the cyclotomic field Q(zeta_p). The transform is written out from its definition,
f^(j) = sum_k f(k) exp(-2 pi i j k / p), as a matrix; polynomials in the weights of a neuron are expanded by FLINT. The
proofs by coefficients hold for *all* real weights or phases, for the moduli that are named.

Lemma D.6.3 rests on one observation: written with characters, an aligned neuron (u + v)^2 w of frequency z has, at
(z, z, -z), a coefficient that does not depend on its phases, and nothing at (j, j, -j) for other nonzero j. A network
that answers lambda 1[c = a + b] + F(a, b) needs the same coefficient at all (j, j, -j).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import gcd
from typing import Any

import numpy as np
import pytest
from flint import Ordering, fmpq, fmpq_mpoly_ctx
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.saddle.pair import group_task
from lemmata.constructions.groups.cyclic import modular_addition_network, phase_triples
from lemmata.constructions.networks.inputs import group_blocks, group_inputs
from lemmata.numerics.exact.cyclotomic.numbers import cosine, exact_matmul, rational, root_of_unity
from lemmata.numerics.fourier.cyclic import dft, exact_dft
from lemmata.numerics.groups.tables import cyclic
from lemmata.numerics.margins.evaluation import expected_class_margins
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
EPS = np.finfo(float).eps


def _characters(n: int, sign: int = -1) -> np.ndarray:
    """The matrix exp(sign 2 pi i j k / n), shape (n, n); sign -1 is the printed transform."""
    return np.array([[root_of_unity(sign * j * k, n) for k in range(n)] for j in range(n)], dtype=object)


def _sums(n: int) -> np.ndarray:
    """The table (a + b - c) mod n, shape (n, n, n)."""
    a, b, c = np.ogrid[:n, :n, :n]
    return (a + b - c) % n


def _transform_3d(values: np.ndarray, first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """Sum values[a, b, c] first[j, a] second[k, b] third[l, c] over a, b, c: exact, shape (n, n, n)."""
    n = len(values)
    by_c = exact_matmul(values.reshape(n * n, n), third.T).reshape(n, n, n)
    by_b = exact_matmul(by_c.transpose(0, 2, 1).reshape(n * n, n), second.T).reshape(n, n, n)
    return exact_matmul(by_b.transpose(1, 2, 0).reshape(n * n, n), first.T).reshape(n, n, n).transpose(2, 1, 0)


def _indicator(n: int, scale: int = 1) -> np.ndarray:
    """The function scale * 1[a + b = c] on Z_n^3, as exact numbers."""
    return np.vectorize(lambda rest: fmpq(scale * (rest == 0)), otypes=[object])(_sums(n))


# ---- identity 7.1


@check("feature-emergence:identity-7.1", grade="exact", target="corrected", supporting=True)
@proof_steps("modular-addition.md: 1")
@pytest.mark.parametrize("p", PRIMES)
def test_the_sum_is_the_only_argmax_of_the_cosines(p: int) -> None:
    """For every k != 0 and all a, b: cos(2 pi k (a + b - c) / p) is largest at c = a + b and only there."""
    cosines = [cosine(r, p) for r in range(p)]
    largest = [r for r in range(p) if all(cosines[r] >= other for other in cosines)]
    assert largest == [0]
    for k in range(1, p):
        assert np.array_equal(k * _sums(p) % p == 0, _sums(p) == 0)


@check("feature-emergence:identity-7.1", grade="exact", target="corrected", supporting=True)
@proof_steps("modular-addition.md: 1")
@pytest.mark.parametrize("p", PRIMES[1:])
def test_the_frequencies_together_widen_the_gap_to_p(p: int) -> None:
    """One frequency leaves the gap 1 - cos(2 pi / p) = O(1 / p^2); the sum over k is p 1[c = a + b] - 1."""
    gap = 1 - cosine(1, p)
    assert all(1 - cosine(r, p) >= gap for r in range(1, p))
    assert 0 < gap < fmpq(20, p * p)  # 2 pi^2 < 20 and 1 - cos x <= x^2 / 2
    assert [sum(cosine(k * r, p) for k in range(1, p)) for r in range(p)] == [p - 1] + [-1] * (p - 1)


@check("feature-emergence:identity-7.1", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize(("n", "k"), [(n, k) for n in (4, 6, 9, 15) for k in range(1, n)])
def test_the_argmax_is_unique_exactly_for_coprime_frequencies(n: int, k: int) -> None:
    """Negative control: with a common factor of k and a composite modulus other labels tie with a + b."""
    ties = sum(cosine(k * r, n) == 1 for r in range(n))
    assert ties == gcd(k, n)


@counterexample("feature-emergence:identity-7.1", grade="exact")
def test_the_embedding_of_the_footnote_is_constant(record: Record, p: int = 7) -> None:
    """exp(2 pi i k a) = 1 for all integers k, a, so that all labels get the same logit."""
    embedding = [root_of_unity(k * a, 1) for k in range(1, p) for a in range(p)]
    assert set(embedding) == {rational(1)}
    logits = [(root_of_unity(3 * 2, 1) * root_of_unity(3 * 4, 1) * root_of_unity(-3 * c, 1)).real for c in range(p)]
    assert len(set(logits)) == 1
    record.hypothesis("p = 7 is a prime: its number of divisors", sum(p % d == 0 for d in range(1, p + 1)), "=", 2)
    record.hypothesis("the frequency k = 3 is not 0 modulo p", 3 % p, ">", 0)
    right, *wrong = (float(logits[(2 + 4 + c) % p]) for c in range(p))
    record.violated("the logit of 2 + 4 is larger than the others", right, ">", max(wrong))
    repaired = [(root_of_unity(3 * 2, p) * root_of_unity(3 * 4, p) * root_of_unity(-3 * c, p)).real for c in range(p)]
    assert max(range(p), key=lambda c: repaired[c]) == (2 + 4) % p
    assert sum(logit == max(repaired) for logit in repaired) == 1


# ---- definition 7.4


@check(
    "feature-emergence:definition-7.4",
    grade="exact",
    target="printed",
    cases="p = 3, 5, 7, 11: one rational vector each (seed p)",
)
@proof_steps("modular-addition.md: 14")
@pytest.mark.parametrize("p", [3, 5, 7, 11])
def test_the_transform_is_plancherel_and_symmetric(p: int) -> None:
    """The library's transform is the printed one; sum |f^|^2 = p sum |f|^2; f^(-j) = conj f^(j) for real f."""
    rng = np.random.default_rng(p)
    f = np.array([fmpq(int(x), 7) for x in rng.integers(-20, 21, p)], dtype=object)
    transformed = _characters(p) @ f
    assert all(np.asarray(exact_dft(f)) == transformed)
    assert sum(x * x.conjugate() for x in transformed) == p * sum(x * x for x in f) != 0
    assert all(transformed[-j % p] == transformed[j].conjugate() for j in range(p))
    back = _characters(p, sign=1) @ transformed / p
    assert all(back == f)
    # Fourier sums of length p in floating point: p products and sums, each entry below sum |f|
    rounding = 4 * p * EPS * sum(abs(float(x)) for x in f)
    assert np.abs(dft(f.astype(float)) - transformed.astype(complex)).max() <= rounding


@check("feature-emergence:definition-7.4", grade="exact", target="printed", cases="p = 3, 5, 7, 11: all points")
@proof_steps("modular-addition.md: 14")
@pytest.mark.parametrize("p", [3, 5, 7, 11])
def test_the_data_set_is_the_addition_table(p: int) -> None:
    """D_p lists every pair (a, b) once, one-hot, with the label a + b mod p."""
    task = group_task(cyclic(p))
    a, b = (np.argmax(half, axis=1) for half in (task.inputs[:, :p], task.inputs[:, p:]))
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == set(product(range(p), repeat=2))
    assert len(task.labels) == p * p
    assert np.array_equal(task.labels, (a + b) % p)
    assert np.array_equal(np.asarray(task.inputs).sum(axis=1), np.full(p * p, 2))


# ---- lemma D.6.1, first half: the expected margin of a neuron


def _neuron_polynomials(n: int) -> tuple[Any, list[Any], list[list[Any]]]:
    """Return E psi' by its definition, the list of eta(delta), and the variables [u, v, w], as polynomials.

    psi' = phi[a + b] - (1/(n-1)) sum of phi[c] over the wrong labels, phi[c] = (u(a) + v(b))^2 w(c), averaged over
    all (a, b); eta(delta) is the average of (u(a) + v(b))^2 w(a + b - delta).
    """
    names = tuple(f"{letter}{a}" for letter in "uvw" for a in range(n))
    context = fmpq_mpoly_ctx.get(names, Ordering.lex)
    gens = list(context.gens())
    u, v, w = gens[:n], gens[n : 2 * n], gens[2 * n :]
    average = fmpq(1, n * n)
    expected, eta = context.constant(0), [context.constant(0) for _ in range(n)]
    total = sum(w, start=context.constant(0))
    for a, b in product(range(n), repeat=2):
        square, right = (u[a] + v[b]) ** 2, w[(a + b) % n]
        expected += average * square * (right - fmpq(1, n - 1) * (total - right))
        for delta in range(n):
            eta[delta] += average * square * w[(a + b - delta) % n]
    return expected, eta, [u, v, w]


@check("feature-emergence:lemma-D.6.1a", grade="exact", target="printed", supporting=True)
@proof_steps("modular-addition.md: 3, 4")
@pytest.mark.parametrize("n", [2, 3, 5, 7, 9, 11, 13])
def test_expected_margin_in_fourier_space(n: int) -> None:
    """E psi' = 2/((n-1) n^2) sum_{j != 0} u^(j) v^(j) w^(-j), coefficient by coefficient: for all real u, v, w.

    The sides are compared as polynomials, so that no mean of u, v or w needs to vanish; in particular the squares
    u^2 w and v^2 w cancel identically.
    """
    expected, _, _ = _neuron_polynomials(n)
    F = _characters(n)
    nonzero = F[1:]  # rows j != 0: the transforms of the unit vectors are the columns of F
    pairs = (nonzero[:, :, None] * nonzero[:, None, :]).reshape(n - 1, n * n)
    displayed = exact_matmul(pairs.T, np.conjugate(nonzero)).reshape(n, n, n) * fmpq(2, (n - 1) * n * n)
    coefficients: dict[tuple[int, int, int], fmpq] = {}
    for exponents, coefficient in expected.to_dict().items():
        letters = np.repeat(np.arange(3 * n), exponents)
        assert len(letters) == 3
        assert [int(letter) // n for letter in letters] == [0, 1, 2], "a square did not cancel"
        coefficients[(int(letters[0]), int(letters[1]) - n, int(letters[2]) - 2 * n)] = coefficient
    assert len(coefficients) == n**3
    for index, coefficient in coefficients.items():
        assert displayed[index] == coefficient


@check("feature-emergence:lemma-D.6.1a", grade="exact", target="printed", supporting=True)
@proof_steps("modular-addition.md: 2")
@pytest.mark.parametrize("n", [3, 5, 7])
def test_expected_margin_as_a_difference_of_averages(n: int) -> None:
    """(D.1): E psi' = eta(0) - E_{delta != 0} eta(delta) = n/(n-1) (eta(0) - E_delta eta(delta))."""
    expected, eta, _ = _neuron_polynomials(n)
    others = sum(eta[2:], start=eta[1])
    assert expected == eta[0] - fmpq(1, n - 1) * others
    assert expected == fmpq(n, n - 1) * (eta[0] - fmpq(1, n) * (eta[0] + others))


@check("feature-emergence:lemma-D.6.1a", grade="exact", target="printed", supporting=True)
@proof_steps("modular-addition.md: 4")
@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_cross_average_in_fourier_space(n: int) -> None:
    """E_{a,b} u(a) v(b) w(a + b - delta) = n^-3 sum_j u^(j) v^(j) w^(-j) rho^(j delta), for every delta and u, v, w."""
    F = _characters(n)
    sums = _sums(n)
    for delta in range(n):
        pairs = (F[:, :, None] * F[:, None, :]).reshape(n, n * n)
        phase = np.array([root_of_unity(j * delta, n) for j in range(n)], dtype=object)[:, None]
        displayed = exact_matmul(pairs.T, np.conjugate(F) * phase).reshape(n, n, n) * fmpq(1, n**3)
        direct = (sums == delta).astype(object) * fmpq(1, n * n)
        assert np.all(displayed == direct)


@check(
    "feature-emergence:lemma-D.6.1a",
    grade="sampled",
    target="printed",
    cases="n = 2, 3, 4, 5, 7, 8, 11, 31: 30 derandomised Hypothesis draws of Gaussian weights",
)
@given(n=st.sampled_from([2, 3, 4, 5, 7, 8, 11, 31]), seed=st.integers(0, 2**32 - 1))
def test_expected_margin_kernel_agrees_with_the_transform(n: int, seed: int) -> None:
    """The library's evaluator by definition against the floating-point transform, for random weights."""
    u, v, w = np.random.default_rng(seed).normal(size=(3, 1, n)) + 1.0  # far from mean zero
    tau = np.full(n, 1.0 / (n - 1))
    tau[0] = 0.0
    direct = expected_class_margins(u, v, w, cyclic(n), tau)[0]
    spectra = np.fft.fft(u[0]) * np.fft.fft(v[0]) * np.conjugate(np.fft.fft(w[0]))
    # n^2 squares (|u| + |v|)^2 against targets of size |w| + mean |w|, averaged: n^2 + n additions
    size = (np.abs(u).max() + np.abs(v).max()) ** 2 * 2 * np.abs(w).max()
    assert abs(direct - 2 / ((n - 1) * n * n) * spectra[1:].real.sum()) <= 4 * (n * n + n) * EPS * size


# ---- lemma D.6.3: all frequencies occur

Monomial = tuple[tuple[int, int, int], tuple[int, int]]


def _aligned_neuron_spectrum(p: int, z: int) -> Counter[Monomial]:
    """The aligned neuron of frequency z, amplitude 1 and *arbitrary* phases as a sum of characters of Z_p^3.

    With s = exp(i theta_u), t = exp(i theta_v) and theta_w = theta_u + theta_v,

        u(a) = (s rho^(za) + s^-1 rho^(-za)) / 2,   v(b) with t,   w(c) with s t,

    so that (u(a) + v(b))^2 w(c) is a sum of terms rho^(ja + kb + lc) s^x t^y / 8. The result maps ((j, k, l), (x, y))
    to the number of terms; the entries j, k, l are reduced modulo p.
    """
    inner = [((e * z, 0), (e, 0)) for e in (1, -1)] + [((0, e * z), (0, e)) for e in (1, -1)]
    terms: Counter[Monomial] = Counter()
    for (first, x), (second, y), e in product(inner, inner, (1, -1)):
        frequency = ((first[0] + second[0]) % p, (first[1] + second[1]) % p, e * z % p)
        terms[frequency, (x[0] + y[0] + e, x[1] + y[1] + e)] += 1
    return terms


def _by_frequency(spectrum: Counter[Monomial]) -> dict[tuple[int, int, int], dict[tuple[int, int], Fraction]]:
    """Collect the terms of one character: frequency -> polynomial in the phases s, t."""
    collected: dict[tuple[int, int, int], dict[tuple[int, int], Fraction]] = {}
    for (frequency, powers), count in spectrum.items():
        collected.setdefault(frequency, {})[powers] = Fraction(count, 8)
    return collected


@check("feature-emergence:lemma-D.6.3", grade="exact", target="corrected", supporting=True)
@check("feature-emergence:theorem-7.7", grade="exact", target="printed", supporting=True)
@check("feature-emergence:theorem-7.0", grade="exact", target="printed", supporting=True)
@proof_steps("modular-addition.md: 12")
@pytest.mark.parametrize("p", PRIMES[1:] + (9, 15, 21))
def test_every_frequency_of_the_answer_needs_its_own_neurons(p: int) -> None:
    """A neuron of frequency z, whatever its phases, lives on {j = 0} u {k = 0} u {j, k, l = +-z}; and at (z, z, -z) its
    coefficient is 1/4 for all phases, while at (j, j, -j) with j != 0, +-z it has none.

    A max-margin network is F(a, b) + lambda 1[c = a + b] with lambda > 0 (lemma 7.6), which has lambda p^2 at every
    (j, j, -j): so each frequency has a neuron, and even the same total mass.
    """
    for z in range(1, (p - 1) // 2 + 1):
        spectrum = _by_frequency(_aligned_neuron_spectrum(p, z))
        for j, k, l in spectrum:
            assert j == 0 or k == 0 or {j, k, l} <= {z, p - z}
        on_diagonal = {j: polynomial for (j, k, l), polynomial in spectrum.items() if j == k == -l % p != 0}
        assert on_diagonal == {j: {(0, 0): Fraction(1, 4)} for j in (z, p - z)}


@check("feature-emergence:lemma-D.6.3", grade="exact", target="corrected", supporting=True)
@proof_steps("modular-addition.md: 11")
@pytest.mark.parametrize("p", [3, 5, 7])
def test_transform_of_the_answer_and_of_functions_of_the_input(p: int) -> None:
    """lambda 1[a + b = c] has lambda p^2 at j = k = -l and 0 elsewhere; F(a, b) lives on l = 0, where it is F^."""
    F = _characters(p)
    scale = 3
    transformed = _transform_3d(_indicator(p, scale), F, F, F)
    for j, k, l in np.ndindex(p, p, p):
        assert transformed[j, k, l] == (scale * p * p if j == k == -l % p else 0)
    inputs_only = np.array([[fmpq(int(x))] * p for x in np.random.default_rng(p).integers(-9, 10, p * p)], dtype=object)
    transformed = _transform_3d(inputs_only.reshape(p, p, p), F, F, F)
    plane = exact_matmul(exact_matmul(F, inputs_only[:, 0].reshape(p, p)), F.T)
    assert np.all(transformed[:, :, 0] == p * plane)
    assert np.all(transformed[:, :, 1:] == 0)


@check(
    "feature-emergence:lemma-D.6.3",
    grade="exact",
    target="corrected",
    cases="p = 5, 7: all neurons of the network with six for each frequency",
)
@proof_steps("modular-addition.md: 12")
@pytest.mark.parametrize("p", [5, 7])
def test_transform_of_explicit_neurons(p: int) -> None:
    """The printed transforms of u, v, w and of 2 u v w, on the neurons of the explicit network, with j, k, l."""
    F = _characters(p)
    network = modular_addition_network(p, per_frequency=6, exact=True)
    u, v, w = group_blocks(network)
    for i in range(network.width):
        z = i // 6 + 1
        spectra = [F @ block[i] for block in (u, v, w)]
        phases = phase_triples(6)[i % 6]
        for spectrum, phase in zip(spectra, phases, strict=True):
            turn = root_of_unity(phase.numerator, phase.denominator)
            predicted = {z: turn * fmpq(p, 2), p - z: turn.conjugate() * fmpq(p, 2)}  # amplitude 1, not sqrt(2/(3p))
            assert all(spectrum[j] == predicted.get(j, 0) for j in range(p))
        neuron = (u[i][:, None] + v[i][None, :])[:, :, None] ** 2 * w[i]
        transformed = _transform_3d(neuron, F, F, F)
        for j, k, l in product(range(p), repeat=3):
            if j != 0 and k != 0:
                assert transformed[j, k, l] == 2 * spectra[0][j] * spectra[1][k] * spectra[2][l]
                assert (transformed[j, k, l] != 0) == ({j, k, l} <= {z, p - z})


@check("feature-emergence:lemma-D.6.3", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize("per_frequency", [6, 8])
def test_transform_of_the_explicit_network(per_frequency: int) -> None:
    """Off l = 0 the network is lambda p^2 on the diagonal (j, j, -j) alone; 0 there at a frequency that is left out."""
    p = 7
    F = _characters(p)
    network = modular_addition_network(p, per_frequency, exact=True)
    outputs = network.raw(group_inputs(p)).reshape(p, p, p)
    margin = outputs[0, 0, 0] - outputs[0, 0, 1]
    assert margin > 0
    transformed = _transform_3d(outputs, F, F, F)
    for j, k, l in np.ndindex(p, p, p):
        if l != 0:
            assert transformed[j, k, l] == (margin * p * p if j == k == -l % p else 0)
    u, v, w = group_blocks(network)
    kept = [i for i in range(network.width) if i // per_frequency != 1]  # leave the frequency 2 out
    squares = (u[kept][:, :, None] + v[kept][:, None, :]) ** 2
    poorer = exact_matmul(squares.reshape(len(kept), -1).T, network.masses[kept][:, None] * w[kept])
    transformed = _transform_3d(poorer.reshape(p, p, p), F, F, F)
    diagonal = {j: transformed[j, j, -j] for j in range(1, p)}
    assert {j for j, value in diagonal.items() if value == 0} == {2, p - 2}


@counterexample("feature-emergence:lemma-D.6.3", grade="exact")
def test_transform_with_one_index_forgets_two_variables(record: Record) -> None:
    """With j in all three exponents the answer lambda 1[a + b = c] has 0, not lambda p^2, at (1, 1, -1), and two
    different functions have the same transform."""
    p = 5
    F = _characters(p)

    def printed(values: np.ndarray) -> list[Any]:
        return [sum(F[j, (a + b + c) % p] * values[a, b, c] for a, b, c in np.ndindex(p, p, p)) for j in range(p)]

    answer = _indicator(p)
    assert printed(answer)[1] == 0
    assert _transform_3d(answer, F, F, F)[1, 1, p - 1] == p * p
    moved = np.full((2, p, p, p), fmpq(0), dtype=object)
    moved[0, 1, 0, 0] = moved[1, 0, 1, 0] = fmpq(1)
    assert printed(moved[0]) == printed(moved[1])
    assert np.any(_transform_3d(moved[0], F, F, F) != _transform_3d(moved[1], F, F, F))
    record.hypothesis("the margin lambda of 1[a + b = c]", answer[0, 0, 0] - answer[0, 0, 1], ">", 0)
    record.violated("the displayed transform is lambda p^2 at (1, 1, -1)", abs(complex(printed(answer)[1])), "=", p * p)
