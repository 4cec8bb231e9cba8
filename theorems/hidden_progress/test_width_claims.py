"""Appendix B.4.1, by exhaustion: no ReLU network of width k without output bias has the signs of a k-parity, k = 2, 3.

With |u_i| moved into W and b, f = sum_i s_i max(z_i, 0) with s_i = +-1 and z_i affine. Once it is fixed at which inputs
each z_i is positive, the requirements chi(x) f(x) > 0 are linear in the weights, so that one linear program for each
choice of signs s and of sets A_i = {z_i > 0} decides the claim; every refutation is a list of integer multipliers that
is checked in integers. `test_parity_representations` has proofs by hand; this is another route to the same claims.

What is left out is refuted otherwise or by symmetry:
- equal signs s: f has a constant sign, or is 0;
- sets that are not {z > 0} for any affine z: by a certificate each;
- sets that leave an input with chi = 1 without an active neuron of sign + or one with chi = -1 without one of sign -;
- other signs: the order of the neurons is free, and for k = 3, x -> -x turns chi into -chi, (+, -, -) into (+, +, -);
- images under permutations of the inputs and changes of an even number of their signs, which keep chi (k = 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

from lemmata.certificates.duality.farkas import Constraint, FarkasCertificate, FeasiblePoint, decide, find, verify
from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.two_layer import relu_network
from lemmata.theorems.evidence import check, counterexample

Sets = tuple[int, ...]  # bit p of a set: whether it contains input p


def _affine(i: int, x: np.ndarray, sign: int) -> dict[str, int]:
    """The coefficients of sign * z_i(x)."""
    return {f"b{i}": sign, **{f"w{i}{a}": sign * int(entry) for a, entry in enumerate(x)}}


def _positive_exactly_on(i: int, A: int, x: np.ndarray) -> list[Constraint]:
    return [
        Constraint(f"z{i} at {p}", _affine(i, row, 1 if A >> p & 1 else -1), ">" if A >> p & 1 else ">=")
        for p, row in enumerate(x)
    ]


def _system(x: np.ndarray, signs: Sequence[int], sets: Sets, *, output_bias: bool = False) -> list[Constraint]:
    """All z_i positive exactly on A_i, and chi f > 0 at every input."""
    constraints = [c for i, A in enumerate(sets) for c in _positive_exactly_on(i, A, x)]
    for p, row in enumerate(x):
        chi = int(np.prod(row))
        requirement = {"c": chi} if output_bias else {}
        for i, (A, sign) in enumerate(zip(sets, signs, strict=True)):
            if A >> p & 1:
                requirement |= _affine(i, row, sign * chi)
        constraints.append(Constraint(f"f at {p}", requirement, ">"))
    return constraints


@cache
def _half_spaces(k: int) -> list[int]:
    """The sets {z > 0} of affine functions on {-1, 1}^k; every other set is refuted by a certificate of its own."""
    x = sign_inputs(k)
    # decide raises if neither outcome is proved
    return [A for A in range(2 ** len(x)) if isinstance(decide(_positive_exactly_on(0, A, x)), FeasiblePoint)]


def _candidates(x: np.ndarray, signs: Sequence[int]) -> Iterator[Sets]:
    """The sets A_i that cover chi = 1 with signs + and chi = -1 with signs -, equal signs in increasing order."""
    chi = np.prod(x, axis=1)
    wanted = {s: sum(1 << p for p, y in enumerate(chi) if y == s) for s in (1, -1)}
    spaces = _half_spaces(x.shape[1])
    minus = [A for A in spaces if A & wanted[-1] == wanted[-1]]
    plus = [(A,) for A in spaces] if len(signs) == 2 else [(A, B) for A in spaces for B in spaces if A <= B]
    for first in plus:
        if np.bitwise_or.reduce(first) & wanted[1] == wanted[1]:
            yield from ((*first, last) for last in minus)


def _representatives(x: np.ndarray, candidates: Iterator[Sets]) -> tuple[list[Sets], int]:
    """One of each class under the symmetries of the cube that keep chi, and the number of candidates."""
    place = {tuple(row): p for p, row in enumerate(x.tolist())}
    n = x.shape[1]
    tables = []
    for order, flip in product(permutations(range(n)), product((1, -1), repeat=n)):
        if np.prod(flip) == 1:
            images = [place[tuple((row * flip)[list(order)])] for row in x]
            tables.append([sum(1 << images[p] for p in range(len(x)) if A >> p & 1) for A in range(2 ** len(x))])
    seen: set[Sets] = set()
    chosen, count = [], 0
    for sets in candidates:
        count += 1
        if sets not in seen:
            chosen.append(sets)
            seen |= {(*sorted(table[A] for A in sets[:-1]), table[sets[-1]]) for table in tables}
    return chosen, count


@counterexample("hidden-progress:construction-MLP-width-k", grade="exact")
@pytest.mark.parametrize(("k", "half_spaces", "candidates", "classes"), [(2, 14, 9, 4), (3, 104, 8525, 501)])
def test_every_pattern_of_activation_is_refuted(k: int, half_spaces: int, candidates: int, classes: int) -> None:
    """Width k, no output bias: a Farkas certificate for every class of activation patterns."""
    x = sign_inputs(k)
    signs = [1] * (k - 1) + [-1]
    assert len(_half_spaces(k)) == half_spaces
    representatives, count = _representatives(x, _candidates(x, signs))
    assert (count, len(representatives)) == (candidates, classes)
    for sets in representatives:
        system = _system(x, signs, sets)
        assert _contradict(system, find(system).multipliers)


def _contradict(system: Sequence[Constraint], multipliers: Mapping[str, int]) -> bool:
    """The inequalities, all against 0, add up to 0 > 0 with these multipliers, which are not negative."""
    total: Counter[str] = Counter()
    strict = 0
    for one in system:
        times = multipliers.get(one.name, 0)
        if times < 0 or one.bound != 0 or one.relation not in (">", ">="):
            return False
        strict += times * (one.relation == ">")
        for unknown, coefficient in one.coefficients.items():
            total[unknown] += times * coefficient
    return strict > 0 and not any(total.values())


@check("hidden-progress:construction-MLP-width-k", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize("k", [2, 3])
def test_an_output_bias_or_one_more_neuron_makes_the_programs_feasible(k: int) -> None:
    """The patterns of the networks that do represent the parity: feasible, and refuted without the output bias.

    A certificate of the exhaustion with one multiplier changed is refused.
    """
    x = sign_inputs(k)
    for output_bias in (True, False):
        network = relu_network(k, k, output_bias=output_bias, exact=True)
        active = network.features(x) > 0
        sets = tuple(sum(1 << p for p in range(len(x)) if active[p, i]) for i in range(network.width))
        signs = [1 if u > 0 else -1 for u in network.readout]
        assert isinstance(decide(_system(x, signs, sets, output_bias=output_bias)), FeasiblePoint)
        if output_bias:
            assert isinstance(decide(_system(x, signs, sets)), FarkasCertificate)
    system = _system(x, [1] * (k - 1) + [-1], next(_candidates(x, [1] * (k - 1) + [-1])))
    certificate = find(system)
    assert len(certificate.multipliers) > 2
    for name, value in certificate.multipliers.items():
        with pytest.raises(ValueError, match=r"\S"):
            verify(system, FarkasCertificate({**certificate.multipliers, name: value + 1}))
