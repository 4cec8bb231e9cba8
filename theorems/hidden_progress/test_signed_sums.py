"""Lemma B.9 without citations: both tails of a sum of signs u.z by elementary arguments, and the error of a PolyNet.

Upper bound. An error needs some u_i.z_i >= |v_i| (if prod v_i > 0). By Markov's inequality P(u.z >= v) is at most
e^(-s v) prod cosh(s u_j) <= exp(-s v + s^2 |u|^2/2), since cosh(t) <= exp(t^2/2) term by term, and s = v/|u|^2 gives
exp(-v^2/(2 |u|^2)). So err <= sum_i exp(-v_i^2/(2 |u_i|^2)).

Lower bound. By the exact formula err >= 1/2 - (1/2) prod_i P(|u_i.z_i| <= |v_i|). The printed bound estimates these
probabilities with a normal law; here by Littlewood and Offord's inequality in Erdos' form: if m entries of u have
|u_j| >= c > 0, then

    P(|u.z| <= v) <= (floor(v/c) + 1) C(m, floor(m/2))/2^m.

1. Fix the signs of the other entries, which moves the interval, and call j "in A" if z_j has the sign of u_j. A larger
   set A has a sum that is larger by 2c at least. So the sets whose sum lies in a half-open interval of length 2c are an
   antichain.
2. Sperner: each of the m! maximal chains of subsets contains one set of an antichain at most, and a set of size a lies
   in a! (m-a)! of them, so sum_A 1/C(m, |A|) <= 1 and there are at most C(m, floor(m/2)) sets.
3. [-v, v] is covered by floor(v/c) + 1 such intervals.

On a plateau it is of the order v/(c sqrt(m)), like the normal law.
"""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.parity.polynet_error import block_signs, polynet_error
from lemmata.numerics.parity.signed_sums import signed_sum_counts
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort

Block = tuple[fmpq, tuple[int, ...]]


def _central(m: int) -> fmpq:
    return fmpq(comb(m, m // 2), 2**m)


def _within(u: tuple[int, ...], v: fmpq) -> fmpq:
    """P(|u.z| <= v), exactly."""
    return fmpq(sum(count for total, count in signed_sum_counts(u).items() if abs(total) <= v), 2 ** len(u))


def _littlewood_offord(u: tuple[int, ...], v: fmpq) -> fmpq:
    """The best of the bounds over all c, which may be taken among the |u_j|; 1 if none is smaller."""
    sizes = {abs(a) for a in u if a}
    return min((((v / c).floor() + 1) * _central(sum(abs(a) >= c for a in u)) for c in sizes), default=fmpq(1))


def _lower(blocks: list[Block]) -> fmpq:
    product = fmpq(1)
    for v, u in blocks:
        product *= min(fmpq(1), _littlewood_offord(u, abs(v)))
    return fmpq(1, 2) - product / 2


@check("hidden-progress:lemma-B.9", grade="symbolic", target="corrected", supporting=True)
@proof_steps("polynet-plateau.md: 2")
def test_the_upper_bound() -> None:
    """The ratio of consecutive coefficients of cosh(t), 1/((2j+1)(2j+2)), is at most that of exp(t^2/2), 1/(2(j+1)).

    Both series start with 1. The exponent -s v + s^2 |u|^2/2 at s = v/|u|^2 is -v^2/(2 |u|^2).
    """
    j = sp.symbols("j", integer=True, nonnegative=True)
    assert sp.expand((2 * j + 1) * (2 * j + 2) - 2 * (j + 1)).subs(j, 0) == 0
    assert sp.factor((2 * j + 1) * (2 * j + 2) - 2 * (j + 1)) == 4 * j * (j + 1)
    s, v, norm = sp.symbols("s v norm", positive=True)
    assert sp.simplify((-s * v + s**2 * norm**2 / 2).subs(s, v / norm**2) + v**2 / (2 * norm**2)) == 0


@check("hidden-progress:theorem-5.7-full", grade="exact", target="printed", supporting=True)
@check("hidden-progress:lemma-B.9", grade="exact", target="corrected", supporting=True)
@proof_steps("polynet-plateau.md: 3")
def test_antichains_are_small() -> None:
    """Step 2: a set of size a lies in a! (m-a)! maximal chains (m <= 5), and all antichains of 4 elements by search.

    Binomials grow up to the middle: C(m, a+1)/C(m, a) = (m-a)/(a+1) >= 1 for a < m/2.
    """
    for m in range(1, 6):
        chains = [{frozenset(order[:i]) for i in range(m + 1)} for order in permutations(range(m))]
        for a in range(m + 1):
            for A in combinations(range(m), a):
                assert sum(frozenset(A) in chain for chain in chains) == factorial(a) * factorial(m - a)
        assert all(comb(m, a) <= comb(m, m // 2) for a in range(m + 1))
    m, a = sp.symbols("m a", positive=True)
    assert sp.simplify(sp.expand_func(sp.binomial(m, a + 1) / sp.binomial(m, a)).rewrite(sp.gamma).gammasimp()) == (
        m - a
    ) / (a + 1)
    comparable = [sum(1 << B for B in range(16) if A != B and (A & B in (A, B))) for A in range(16)]
    found: list[int] = []

    def extend(antichain: list[int], allowed: int, start: int) -> None:
        found.append(len(antichain))
        assert sum((fmpq(1, comb(4, A.bit_count())) for A in antichain), fmpq(0)) <= 1
        for A in range(start, 16):
            if allowed >> A & 1:
                extend([*antichain, A], allowed & ~comparable[A], A + 1)

    extend([], 2**16 - 1, 0)
    assert (len(found), max(found)) == (168, 6)  # Dedekind's number, and C(4, 2)


@check(
    "hidden-progress:theorem-5.7-full",
    grade="sampled",
    target="printed",
    cases="up to 9 integer weights of size up to 6, Hypothesis draws",
)
@check(
    "hidden-progress:lemma-B.9",
    grade="sampled",
    target="corrected",
    cases="up to 9 integer weights of size up to 6, Hypothesis draws",
)
@proof_steps("polynet-plateau.md: 3")
@given(u=st.lists(st.integers(-6, 6), min_size=1, max_size=9), c=st.integers(1, 6), data=st.data())
def test_steps_of_the_littlewood_offord_inequality(u: list[int], c: int, data: st.DataObject) -> None:
    """Step 1 on all pairs A < B of one element; half-open intervals of length 2c; step 3; and the inequality itself."""
    large = [a for a in u if abs(a) >= c]
    m = len(large)
    sums = [sum(abs(a) if A >> j & 1 else -abs(a) for j, a in enumerate(large)) for A in range(2**m)]
    assert all(sums[A | 1 << j] - sums[A] >= 2 * c for A in range(2**m) for j in range(m) if not A >> j & 1)
    start = data.draw(st.integers(-40, 40))
    assert sum(start <= total < start + 2 * c for total in sums) <= comb(m, m // 2)
    v = fmpq(data.draw(st.integers(0, 60)), 2)
    pieces = (v / c).floor() + 1
    assert 2 * c * pieces > 2 * v  # so that half-open intervals cover [-v, v]
    assert _within(tuple(u), v) <= pieces * _central(m)


@check(
    "hidden-progress:lemma-B.9",
    grade="sampled",
    target="corrected",
    cases="300 PolyNets of up to 4 blocks of up to 41 weights (seed 99)",
)
@proof_steps("polynet-plateau.md: 4")
def test_the_lower_bound_on_random_draws(effort: Effort) -> None:
    """300 PolyNets (full: 3,000) of up to 4 blocks with up to 40 integer weights, v from above 0 up to |u|_2.

    The factor of the exact formula is P(-v < u.z <= v), at most P(|u.z| <= v). The bound is not vacuous.
    """
    rng = np.random.default_rng(99)
    useful = 0
    for _ in range(effort.pick(quick=300, full=3000)):
        blocks: list[Block] = []
        for _ in range(int(rng.integers(1, 5))):
            u = tuple(int(a) for a in rng.integers(1, 4, size=int(rng.integers(1, 41))) * rng.choice([-1, 1]))
            blocks.append((fmpq(int(rng.integers(1, 2 + int(np.linalg.norm(u)))), int(rng.integers(1, 4))), u))
        for v, u in blocks:
            right, wrong = block_signs(v, u)
            assert right - wrong <= _within(u, v) <= _littlewood_offord(u, v)
        error, lower = polynet_error([v for v, _ in blocks], [u for _, u in blocks]), _lower(blocks)
        assert error >= lower
        useful += lower > 0
    assert useful > 100


@check("hidden-progress:lemma-B.9", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize("m", [4, 9, 100])
def test_the_lower_bound_is_attained_and_no_piece_can_be_spared(m: int) -> None:
    """u = (1, ..., 1), v = 0 or 1 (of the parity of m): equality with one or two central values.

    With floor(v/c) pieces in place of floor(v/c) + 1 it would fail.
    """
    u, v = (1,) * m, fmpq(m % 2)
    pieces = 2 if m % 2 else 1
    assert _within(u, v) == pieces * _central(m) == _littlewood_offord(u, v)
    assert _within(u, v) > (pieces - 1) * _central(m)
