"""How narrow a max-margin network can be: cyclic groups of odd order, parity, real characters, S_3.

At the maximum, complementary slackness makes every neuron optimal and every wrong label tie (the class weights and the
distribution of the points are positive for cyclic groups of odd order and for parity). The outputs are then known, and
the masses solve linear equations:

- Z_n, n odd: for each frequency seven moments of the phases vanish, which makes six characters of the torus orthonormal
  with respect to the masses; so there are at least six atoms.
- Parity: the masses on the 2^(k-1) antipodal pairs of sign patterns must be equal.
- A real character of degree 1: both signs of w occur.
- S_3: 54 moments vanish, ten characters are orthonormal: test_width_of_s3; ascents here.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import combinations, product
from math import gcd, log2

import numpy as np
import pytest
import sympy as sp

from lemmata.certificates.saddle.groups import certify_cyclic
from lemmata.certificates.saddle.parity import certify_parity
from lemmata.constructions.groups.real_type import real_type_neurons
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.solved_groups import ascent, rounding
from lemmata.theorems.plugin import Effort

E4 = "feature-emergence:ext-E4"

# Cyclic groups of odd order

Exponents = tuple[int, int]
SIX: tuple[Exponents, ...] = ((0, 0), (1, 1), (2, 2), (2, 0), (3, 1), (1, -1))


def _moments() -> dict[tuple[int, int, int], set[Exponents]]:
    """The frequencies of (cos(A + u) + cos(B + v))^2 cos(C + u + v), and the exponents of (u, v) at each.

    Up to conjugation: gamma = 1 or -1 for C; the entries are those with gamma = 1. An angle is a vector in the basis
    (A, B, C, u, v), and a cosine the sum of two exponentials.
    """
    A, B, C = (1, 0, 0, 1, 0), (0, 1, 0, 0, 1), (0, 0, 1, 1, 1)
    found: dict[tuple[int, int, int], set[Exponents]] = defaultdict(set)
    for first, second, s, r, t in product((A, B), (A, B), (1, -1), (1, -1), (1, -1)):
        a, b, c, u, v = (s * x + r * y + t * z for x, y, z in zip(first, second, C, strict=True))
        found[(a, b, c) if c > 0 else (-a, -b, -c)].add((u, v) if c > 0 else (-u, -v))
    return dict(found)


@cache
def _killed() -> frozenset[Exponents]:
    """The characters of the phases (u, v) whose integral against the masses vanishes at the maximum, and inverses."""
    moments = _moments()
    del moments[(-1, -1, 1)]  # a + b - c: the frequency of the right label
    values = [exponents for entries in moments.values() for exponents in entries]
    return frozenset([*values, *((-u, -v) for u, v in values)])


@check(E4, grade="symbolic", target="printed", supporting=True)
@proof_steps("tight-widths.md: 2")
def test_fewer_than_six_neurons_for_a_frequency_are_impossible() -> None:
    """Part (a), the lower bound, for every odd n.

    At the maximum f(a, b)[c] = F(a, b) + gamma* [c = a + b], and the neurons of frequency z are aligned cosines of
    equal amplitudes with some masses on the phases (u, v) (lemma D.6.1b). The nine frequencies of their outputs are
    distinct modulo the order m of z, for every odd m >= 3: some entry of each difference is +-1, +-2 or +-4, a unit
    modulo m. And z differs from -z. So the Fourier coefficients of f that involve c are single moments of the masses;
    they vanish except at a + b - c, which makes seven moments vanish. The one at a + b - c is the mass itself, and is
    positive.

    The differences of six characters of (u, v) are among them: these are orthonormal in the space L^2 of the masses,
    whose dimension, the number of atoms, is then at least 6.
    """
    moments = _moments()
    assert len(moments) == 9
    assert all(len(exponents) == 1 for exponents in moments.values())
    for one, other in combinations(moments, 2):
        units = [abs(x - y) for x, y in zip(one, other, strict=True) if x != y]
        assert any(entry in (1, 2, 4) for entry in units)
    killed = _killed()
    assert killed == {
        (s * u, s * v) for s in (1, -1) for u, v in ((1, 1), (3, 1), (1, -1), (1, 3), (2, 2), (2, 0), (0, 2))
    }
    assert all((a - c, b - d) in killed for (a, b), (c, d) in combinations(SIX, 2))


@check(E4, grade="exact", target="printed", supporting=True)
@proof_steps("tight-widths.md: 1")
@pytest.mark.parametrize("n", [3, 5, 9, 15, 21, 25, 35])
def test_frequencies_stay_distinct_modulo_odd_numbers(n: int) -> None:
    """Residues, directly, for composite n too; for n = 4 two of them merge."""

    def residues(n: int, z: int) -> set[tuple[int, ...]]:
        return {tuple(s * z * x % n for x in triple) for triple in _moments() for s in (1, -1)}

    for z in range(1, (n + 1) // 2):
        assert len(residues(n, z)) == 18
        assert n // gcd(n, z) >= 3
    assert len(residues(4, 1)) < 18


@check(E4, grade="exact", target="printed", supporting=True)
def test_this_argument_gives_no_more_than_six() -> None:
    """Negative control: no seven characters have all their differences among the vanishing moments."""
    killed = sorted(_killed())  # up to translation one of the characters is (0, 0)
    cliques: list[tuple[Exponents, ...]] = [((0, 0),)]
    sizes = []
    while cliques:
        sizes.append(len(cliques[0]))
        cliques = [
            (*clique, new)
            for clique in cliques
            for new in killed
            if (len(clique) == 1 or new > clique[-1]) and all((new[0] - u, new[1] - v) in _killed() for u, v in clique)
        ]
    assert sizes[-1] == 6


@check(E4, grade="exact", target="printed")
@proof_steps("tight-widths.md: 3")
@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_six_neurons_for_a_frequency_suffice(n: int) -> None:
    """Part (a), the construction: 3(n - 1) neurons with the phases t (1, 4, 5)/6 attain the maximum, exactly."""
    certificate = certify_cyclic(n, per_frequency=6, exact=True)
    assert certificate.accepted
    assert certificate.network.width == 3 * (n - 1)
    assert certificate.gamma > 0


@check(E4, grade="symbolic", target="printed", supporting=True)
@proof_steps("tight-widths.md: 3")
def test_six_phases_kill_the_moments_for_every_n() -> None:
    """Part (a), all odd n: sum over t of exp(2 pi i t (e_u + 4 e_v)/6) = 0 for the seven moments."""
    assert all((u + 4 * v) % 6 != 0 for u, v in _killed())


@check(E4, grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize(("width", "low", "high"), [(4, 0.0, 0.98), (5, 0.97, 0.98), (6, 0.9999, 1.0)])
def test_ascent_on_z3_needs_six_neurons(width: int, low: float, high: float, effort: Effort) -> None:
    """The best of random starts (seed 1): 0.970, 0.978 and 1 of the maximum with 4, 5 and 6 neurons."""
    result, gamma = ascent("Z3", width, starts=effort.pick(quick=3, full=100), enough=0.9999)
    assert low * gamma <= result.margin <= high * gamma + rounding(width)


# Parity and real characters


@check(E4, grade="exact", target="printed")
@proof_steps("tight-widths.md: 4")
@pytest.mark.parametrize("k", range(1, 11))
def test_parity_needs_every_pair_of_patterns(k: int) -> None:
    """Part (b). At the maximum neurons are lambda (s on S, 0 elsewhere; prod(s) (1, -1)) with signs s (theorem 7.8), of
    mass mu(s), and sum_s mu(s) phi(s x) is constant for phi(t) = prod(t) (sum t)^k. So mu^(T) phi^(T) = 0 for T not
    empty. phi^ is positive on all T of even size: it counts the words of length k in which exactly the letters outside
    T occur an odd number of times, and there are k - |T| such letters. Hence mu^ vanishes there, and mu(s) + mu(-s),
    a function on the quotient by -1 with these T as characters, is constant: all 2^(k-1) pairs have mass.
    """
    bits = np.arange(2**k)[:, None] >> np.arange(k) & 1
    signs = 1 - 2 * bits
    transform = walsh_hadamard(signs.prod(axis=1) * signs.sum(axis=1) ** k)
    even = bits.sum(axis=1) % 2 == 0
    assert even.sum() == 2 ** (k - 1)
    assert np.all(transform[even] > 0)
    assert np.all(transform[~even] == 0)


@check(E4, grade="exact", target="printed")
@proof_steps("tight-widths.md: 4")
@pytest.mark.parametrize("k", range(1, 6))
def test_parity_with_all_pairs_attains_the_maximum(k: int) -> None:
    """Part (b), the construction."""
    certificate = certify_parity(k + 1, k, exact=True)
    assert certificate.accepted
    assert log2(certificate.network.width) == k - 1


@check(E4, grade="exact", target="printed")
@proof_steps("tight-widths.md: 5")
def test_a_real_character_needs_both_signs_of_the_readout() -> None:
    """Part (c). Optimal neurons are (s chi, r chi, s r chi) with signs s, r; at the maximum the sum of their outputs
    mu (s chi(a) + r chi(b))^2 s r chi(c) is a multiple of chi(a b c) apart from terms without c. It is
    2 mu (chi(abc) + s r chi(c)), so sum of mu s r = 0: neurons with s r = 1 and with s r = -1; two suffice.
    """
    for s, r, a, b, c in product((1, -1), repeat=5):
        assert (s * a + r * b) ** 2 * s * r * c == 2 * (a * b * c + s * r * c)
    (one, other) = real_type_neurons(np.array([1, -1]).reshape(2, 1, 1))
    assert one.tolist() == [1, -1, 1, -1, 1, -1]
    assert other.tolist() == [1, -1, -1, 1, -1, 1]


@check(E4, grade="symbolic", target="printed", supporting=True)
@proof_steps("tight-widths.md: 5")
def test_one_neuron_cannot_even_answer_on_z2() -> None:
    """(u(a) + v(b))^2 (w(a + b) - w(a + b + 1)) is positive for no (u, v, w) on all inputs: the sign is that of
    w(0) - w(1) for a = b and the opposite for a != b.
    """
    w0, w1, square = sp.symbols("w0 w1 x")
    assert sp.expand(square * (w0 - w1) + square * (w1 - w0)) == 0


@check(E4, grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize(("width", "low", "high"), [(1, 0.0, 0.0), (2, 0.9999, 1.0)])
def test_ascent_on_z2_needs_two_neurons(width: int, low: float, high: float) -> None:
    result, gamma = ascent("Z2", width, starts=10, enough=0.9999)
    assert low * gamma - rounding(width) <= result.margin <= high * gamma + rounding(width)


@check(E4, grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize(("width", "low", "high"), [(11, 0.98, 0.99), (12, 0.9999, 1.0)])
def test_ascent_on_s3_needs_twelve_neurons(width: int, low: float, high: float, effort: Effort) -> None:
    """Part (d), an observation: 0.987 and 1 of the maximum for the best of up to 40 (at full effort 400) starts."""
    starts = effort.pick(quick=40, full=400)
    result, gamma = ascent("S3", width, starts=starts, enough=0.9999 if width == 12 else 0.986)
    assert low * gamma <= result.margin <= high * gamma + rounding(width)
