"""Lemma B.9: the 0-1 error of a disjoint PolyNet from its weights v_i (relevant) and u_i (irrelevant).

The error is exact (a dynamic program over signed sums, checked here against all 2^n inputs of the network itself);
the bounds are evaluated in balls. Both printed bounds fail, and each is repaired by the constant of the inequality that
its proof cites: Hoeffding's for signs, and Berry-Esseen's for summands that are not identically distributed.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb, factorial

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.polynet import PolyNet
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.parity.polynet_error import block_signs, polynet_error
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

BERRY_ESSEEN = arb("0.56")

Block = tuple[fmpq, tuple[int, ...]]


def _network(blocks: list[Block]) -> tuple[PolyNet, list[int]]:
    """The disjoint PolyNet and the indices of its relevant inputs, the first of each block."""
    n = sum(1 + len(u) for _, u in blocks)
    weights = np.zeros((len(blocks), n), dtype=object)
    relevant, position = [], 0
    for row, (v, u) in enumerate(blocks):
        weights[row, position : position + 1 + len(u)] = [v, *u]
        relevant.append(position)
        position += 1 + len(u)
    return PolyNet(as_exact(weights), np.zeros(len(blocks), dtype=np.int64)), relevant


def _error(blocks: list[Block]) -> fmpq:
    return polynet_error([v for v, _ in blocks], [u for _, u in blocks])


def _norm_squared(u: tuple[int, ...]) -> int:
    return sum(a * a for a in u)


def _printed_upper(blocks: list[Block]) -> arb:
    return 2 * sum(((-arb(v * v) / _norm_squared(u)).exp() for v, u in blocks), arb(0))


def _upper(blocks: list[Block]) -> arb:
    return sum(((-arb(v * v) / (2 * _norm_squared(u))).exp() for v, u in blocks), arb(0))


def _gaussian(v: fmpq, u: tuple[int, ...]) -> arb:
    """P(|N(0, |u|^2)| <= |v|)."""
    return (abs(arb(v)) / (2 * arb(_norm_squared(u))).sqrt()).erf()


def _printed_lower(blocks: list[Block], c: arb) -> arb:
    product = arb(1)
    for v, u in blocks:
        product *= _gaussian(v, u) + c * max(map(abs, u)) / arb(_norm_squared(u)) ** arb(1.5)
    return arb(1) / 2 - product / 2


def _lower(blocks: list[Block]) -> arb:
    product = arb(1)
    for v, u in blocks:
        cubes = sum(abs(a) ** 3 for a in u)
        factor = _gaussian(v, u) + 2 * BERRY_ESSEEN * cubes / arb(_norm_squared(u)) ** arb(1.5)
        product *= factor.min(1)
    return arb(1) / 2 - product / 2


@st.composite
def disjoint_polynets(draw: st.DrawFn) -> list[Block]:
    """Up to 10 inputs in up to 4 blocks, small integer weights of any sign: ties are frequent."""
    k = draw(st.integers(1, 4))
    size = draw(st.integers(1, 10 // k))
    integers = st.integers(-3, 3)
    return [
        (fmpq(draw(integers)), tuple(draw(st.lists(integers, min_size=size - 1, max_size=size - 1)))) for _ in range(k)
    ]


@check(
    "hidden-progress:definition-err",
    grade="sampled",
    target="printed",
    cases="up to 10 inputs in up to 4 blocks, Hypothesis draws of integer weights, all inputs",
)
@proof_steps("polynet-plateau.md: 1")
@given(blocks=disjoint_polynets())
def test_the_error_equals_enumeration(blocks: list[Block]) -> None:
    """err = 1 - (prod (p_i + q_i) + prod (p_i - q_i))/2 is P[sign(f) != chi] with sign(0) = 0, over all 2^n inputs."""
    network, relevant = _network(blocks)
    x = sign_inputs(network.weights.shape[1])
    signs = np.array([(f > 0) - (f < 0) for f in network(x)])
    wrong = int(np.sum(signs != np.prod(x[:, relevant], axis=1)))
    assert _error(blocks) == fmpq(wrong, len(x))


@check("hidden-progress:definition-err", grade="exact", target="printed", supporting=True)
def test_ties_count_as_errors() -> None:
    """u = (1, 1, 1), v = 1, k = 2: f = 0 has probability 39/64, a wrong sign 8/64, and the error is above 1/2."""
    blocks = [(fmpq(1), (1, 1, 1))] * 2
    assert _error(blocks) == fmpq(47, 64)
    network, relevant = _network(blocks)
    x = sign_inputs(8)
    margins = network(x) * np.prod(x[:, relevant], axis=1)
    assert fmpq(int(np.sum(margins == 0)), 256) == fmpq(39, 64)
    assert fmpq(int(np.sum(margins < 0)), 256) == fmpq(8, 64)


@counterexample("hidden-progress:lemma-B.9", grade="enclosed")
@pytest.mark.parametrize(
    ("k", "m", "v", "error"),
    [(1, 3, fmpq(299, 100), fmpq(1, 8)), (2, 3, fmpq(299, 100), fmpq(7, 32)), (1, 100, fmpq(61, 2), None)],
)
def test_the_printed_upper_bound_fails(k: int, m: int, v: fmpq, error: fmpq | None, record: Record) -> None:
    """u = (1, ..., 1) of length m: Hoeffding's exponent for signs is v^2/(2 |u|^2), not v^2/|u|^2."""
    blocks = [(v, (1,) * m)] * k
    if error is None:  # the binomial tail: at least 66 of 100 signs against
        error = fmpq(sum(comb(m, j) for j in range(66, m + 1)), 2**m)
    assert _error(blocks) == error
    assert arb(error) > _printed_upper(blocks)
    if m == 3:
        record.hypothesis(f"prod v_i > 0, k = {k}", v**k, ">", 0)
        says = f"k = {k}, v_i = 2.99, u_i = (1, 1, 1): err <= 2 sum exp(-v_i^2/|u_i|^2)"
        record.violated(says, _error(blocks), "<=", _printed_upper(blocks))
    assert arb(error) <= _upper(blocks)
    if (k, m) == (1, 3):
        record.number("0.1016", _printed_upper(blocks))
        record.number("2.99", v)


@counterexample("hidden-progress:lemma-B.9", grade="enclosed")
@pytest.mark.parametrize("c", [fmpq(56, 100), fmpq(1), fmpq(100), fmpq(10**6)])
def test_the_printed_lower_bound_fails_for_every_constant(c: fmpq, record: Record) -> None:
    """k = 1, u = (s), v = 3s/2: no error, but the printed term c |u|_inf/|u|_2^3 = c/s^2 vanishes as s grows.

    With s^2 >= 10 c the bound is at least 1/2 - (erf(1.5/sqrt 2) + 0.1)/2 > 0.016.
    """
    s = next(s for s in range(1, 10**4) if s * s >= 10 * c)
    blocks = [(fmpq(3 * s, 2), (s,))]
    assert _error(blocks) == 0
    assert _printed_lower(blocks, arb(c)) > arb("0.016")
    assert _lower(blocks) <= 0
    if c == fmpq(56, 100):
        record.hypothesis("prod v_i > 0", blocks[0][0], ">", 0)
        says = f"c = 0.56, u = ({s}), v = 3s/2: the lower bound is at most err"
        record.violated(says, _printed_lower(blocks, arb(c)), "<=", _error(blocks))
        record.number("0.0668", (1 - (arb(3) / 2 / arb(2).sqrt()).erf()) / 2)


@counterexample("hidden-progress:lemma-B.9", grade="enclosed", supporting=True)
@pytest.mark.parametrize("c", [fmpq(56, 100), fmpq(10), fmpq(100)])
def test_the_printed_lower_bound_fails_at_weights_of_one(c: fmpq, record: Record) -> None:
    """k = 1, u = (1, ..., 1) of even length m, v = 2.01: the sums -2, 0 and 2 have a probability of about
    3 sqrt(2/(pi m)), the normal law has 2.01 sqrt(2/(pi m)) there, and the printed term is c/m^(3/2)."""
    m = 2 * int((2 * c).ceil()) + 96
    blocks = [(fmpq(201, 100), (1,) * m)]
    assert _error(blocks) == fmpq(2**m - sum(comb(m, m // 2 + j) for j in (-1, 0, 1)), 2 ** (m + 1))
    assert _printed_lower(blocks, arb(c)) > arb(_error(blocks)) >= _lower(blocks)
    if c == fmpq(56, 100):
        record.hypothesis("prod v_i > 0", blocks[0][0], ">", 0)
        says = f"c = 0.56, u = (1, ..., 1) of length {m}, v = 2.01: the lower bound is at most err"
        record.violated(says, _printed_lower(blocks, arb(c)), "<=", _error(blocks))


@counterexample("hidden-progress:lemma-B.9", grade="exact", supporting=True)
def test_the_equalities_of_the_proof_count_ties_twice() -> None:
    """(B.11) at k = 2, u = (1, 1, 1), v = 1: P[odd number of u_i.z_i > |v_i|] + P[f = 0] = 53/64, and err = 47/64."""
    v, u = fmpq(1), (1, 1, 1)
    _, beyond = block_signs(v, u)
    positive, negative = block_signs(v, u)
    odd = (1 - (1 - 2 * beyond) ** 2) / 2
    zero = 1 - (positive + negative) ** 2
    assert odd + zero == fmpq(53, 64)
    assert _error([(v, u)] * 2) == fmpq(47, 64)


@check(
    "hidden-progress:lemma-B.9",
    grade="enclosed",
    target="corrected",
    cases="k = 1, 2 equal blocks, all u with up to 5 entries in 1, ..., 4, all half-integers v up to |u|_1 + 1",
)
@proof_steps("polynet-plateau.md: 2")
def test_the_corrected_bounds_on_all_small_blocks(effort: Effort) -> None:
    """k = 1 and k = 2 equal blocks: all u with up to 5 entries in 1..4, all v in half-integers up to |u|_1 + 1."""
    entries = effort.pick(quick=4, full=6)
    cases, useful = 0, 0
    for length in range(1, 6):
        for u in combinations_with_replacement(range(1, entries + 1), length):
            for twice in range(1, 2 * sum(u) + 3):
                for k in (1, 2):
                    blocks = [(fmpq(twice, 2), u)] * k
                    error = arb(_error(blocks))
                    assert error <= _upper(blocks)
                    assert error >= _lower(blocks)
                    cases += 1
                    useful += bool(_upper(blocks) < 1)
    assert cases > 2 * 1000
    assert useful > 1000


@check("hidden-progress:lemma-B.9", grade="sampled", target="corrected", supporting=True)
@proof_steps("polynet-plateau.md: 4")
@given(blocks=disjoint_polynets())
def test_the_two_relations_behind_the_bounds(blocks: list[Block]) -> None:
    """If prod v_i > 0: P[#{i : u_i.z_i > |v_i|} odd] <= err <= P[some i has u_i.z_i >= |v_i|], exactly."""
    blocks = [(v if v != 0 else fmpq(1), u) for v, u in blocks]
    if np.prod([1 if v > 0 else -1 for v, _ in blocks]) < 0:
        blocks[0] = (-blocks[0][0], blocks[0][1])
    odd, none = fmpq(1), fmpq(1)
    for v, u in blocks:
        right, wrong = block_signs(abs(v), u)
        odd *= 1 - 2 * wrong
        none *= right
    assert (1 - odd) / 2 <= _error(blocks) <= 1 - none


@check("hidden-progress:lemma-B.9", grade="exact", target="corrected", supporting=True)
def test_the_moment_bound_of_hoeffding() -> None:
    """cosh(t) <= exp(t^2/2) term by term, (2j)! >= 2^j j!, which gives P(u.z >= v) <= exp(-v^2/(2 |u|^2))."""
    assert all(factorial(2 * j) >= 2**j * factorial(j) for j in range(60))
    assert all((2 * j + 1) * (2 * j + 2) >= 2 * (j + 1) for j in range(60))  # the ratio of consecutive terms


@check("hidden-progress:lemma-B.9", grade="sampled", target="corrected", supporting=True)
def test_the_corrected_bounds_on_random_draws(effort: Effort) -> None:
    """1,000 PolyNets with up to 4 blocks of up to 40 integer weights, v up to 3 |u|_2; the bounds are not vacuous."""
    rng = np.random.default_rng(9)
    lower_useful, upper_useful = 0, 0
    for _ in range(effort.pick(quick=1000, full=5000)):
        k, length = int(rng.integers(1, 5)), int(rng.integers(1, 41))
        blocks: list[Block] = []
        for _ in range(k):
            u = tuple(int(a) for a in rng.integers(1, 4, size=length) * rng.choice([-1, 1], size=length))
            v = 1 + int(rng.integers(0, 1 + int(3 * np.sqrt(_norm_squared(u)))))
            blocks.append((fmpq(v), u))
        error = arb(_error(blocks))
        lower, upper = _lower(blocks), _upper(blocks)
        assert lower <= error
        assert error <= upper
        lower_useful += bool(lower > 0)
        upper_useful += bool(upper < 1)
    assert lower_useful > 200
    assert upper_useful > 200
