"""The under-sparse initialisation, Lemmas C.13 to C.15 and the footnote on its dense part: gradients at the start.

A neuron has weight 1 on S' (s coordinates) and epsilon elsewhere; its gradient, correlated with chi_S, is
g_i = E[1{w.x + b > 0} x_i chi_S]. The oracle is the sum over all inputs in integers (`_enumerated`, NumPy); for 17 and
more inputs it is the compiled enumeration of the library, which the tests of the library compare with others.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.under_sparse import draw_under_sparse
from lemmata.numerics.fourier.boolean import half_coefficient, threshold_coefficient
from lemmata.numerics.parity.sparse_neurons import (
    enumerated_gradient,
    over_sparse_neuron,
    sparse_gradient,
    under_sparse_neuron,
    under_sparse_values,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.records import Record

NONE = fmpq(0)
PAIRS = [(4, 2), (6, 2), (6, 4)]
CONFIGURATIONS = [
    (n, k, s, common) for n in range(7, 15) for k, s in PAIRS for common in range(max(0, k + s - n), s + 1)
]
"""The classes of (S, S') up to permutations for n = 7, ..., 14: common = |S n S'|."""


def _sets(n: int, k: int, s: int, common: int) -> tuple[list[int], list[int]]:
    """S and S' of these sizes, scattered over the inputs."""
    order = np.random.default_rng([n, k, s, common]).permutation(n).tolist()
    return sorted(order[:k]), sorted(order[:common] + order[k : k + s - common])


def _enumerated(n: int, S: list[int], ones: list[int], epsilon: fmpq, bias: fmpq = NONE) -> list[fmpq]:
    scale = int(epsilon.q) * int(bias.q)
    weights = np.full(n, int(epsilon * scale))
    weights[ones] = scale
    x = sign_inputs(n)
    signal = x[:, S].prod(axis=1) * (x @ weights + int(bias * scale) > 0)
    return [fmpq(int(total), 2**n) for total in signal @ x]


def _maj(n: int, degree: int) -> fmpq:
    """The coefficient of Maj_n with sign(0) = -1."""
    return 2 * threshold_coefficient(n, degree) - (1 if degree == 0 else 0)


def _lemma_in_support(n: int, S: set[int], ones: set[int], i: int) -> fmpq:
    """The right-hand side of Lemma C.13."""
    both = S & ones
    return half_coefficient(len(ones), len(both - {i})) * _maj(n - len(ones), len(S - (both | {i}))) / 2


def _lemma_outside(n: int, S: set[int], ones: set[int], i: int) -> fmpq:
    """The right-hand side of Lemma C.14."""
    both = S & ones
    return half_coefficient(len(ones), len(both | (ones & {i}))) * _maj(n - len(ones), len((S | {i}) - ones)) / 2


def _small_weights(n: int, s: int) -> list[fmpq]:
    """A very small one, a typical one, and one that is almost as large as is allowed."""
    return [fmpq(1, 1000), fmpq(1, 2 * (n - s) + 1), fmpq(99, 100 * (n - s))]


# ---- Lemmas C.13 and C.14


@check("pareto-frontiers:lemma-C.13", grade="exact", target="printed")
@proof_steps("under-sparse-gradients.md: 9")
@pytest.mark.parametrize(("n", "k", "s", "common"), CONFIGURATIONS)
def test_gradient_at_inputs_of_the_support(n: int, k: int, s: int, common: int) -> None:
    """All i in S, three small weights: 243 neurons, n even and odd, all overlaps."""
    S, ones = _sets(n, k, s, common)
    for epsilon in _small_weights(n, s):
        g = _enumerated(n, S, ones, epsilon)
        assert [g[i] for i in S] == [_lemma_in_support(n, set(S), set(ones), i) for i in S]


@check("pareto-frontiers:lemma-C.14", grade="exact", target="printed")
@proof_steps("under-sparse-gradients.md: 10")
@pytest.mark.parametrize(("n", "k", "s", "common"), CONFIGURATIONS)
def test_gradient_at_inputs_outside_of_the_support(n: int, k: int, s: int, common: int) -> None:
    """All i outside of S, three small weights: 243 neurons, n even and odd, all overlaps."""
    S, ones = _sets(n, k, s, common)
    outside = [i for i in range(n) if i not in S]
    for epsilon in _small_weights(n, s):
        g = _enumerated(n, S, ones, epsilon)
        assert [g[i] for i in outside] == [_lemma_outside(n, set(S), set(ones), i) for i in outside]


@check("pareto-frontiers:lemma-C.13", "pareto-frontiers:lemma-C.14", grade="exact", target="printed", supporting=True)
@proof_steps("under-sparse-gradients.md: 9, 10")
@pytest.mark.parametrize("n", [15, 16, 17])
def test_larger_sizes_by_the_compiled_enumeration(n: int, effort: Effort) -> None:
    """k = 4, 6, 8 and s = 2, 4, 6, all overlaps; n + 3 <= 20 at full effort. The closed form of the library agrees."""
    size = effort.pick(quick=n, full=n + 3)
    nonzero = 0
    for k, s in [*PAIRS, (8, 2), (8, 4), (8, 6)]:
        for common in range(s + 1):
            S, ones = _sets(size, k, s, common)
            neuron = under_sparse_neuron(size, ones, fmpq(1, 2 * size))
            g = enumerated_gradient(neuron, S).tolist()
            lemma = [(_lemma_in_support if i in S else _lemma_outside)(size, set(S), set(ones), i) for i in range(size)]
            assert g == lemma == sparse_gradient(neuron, S).tolist()
            nonzero += any(x != 0 for x in g)
    assert nonzero > 10


@check("pareto-frontiers:lemma-C.13", grade="exact", target="printed", supporting=True)
@proof_steps("under-sparse-gradients.md: 7")
@pytest.mark.parametrize(("n", "k", "s"), [(9, 4, 2), (10, 4, 2), (11, 6, 4)])
def test_the_small_weight_must_be_small(n: int, k: int, s: int) -> None:
    """At epsilon = 3/(n-s) the small weights overrule the ones, and the formula fails; at odd s it fails too."""
    S, ones = list(range(k)), list(range(s))
    large = _enumerated(n, S, ones, fmpq(3, n - s))
    assert large[k - 1] != _lemma_in_support(n, set(S), set(ones), k - 1)
    odd = _enumerated(n, S, list(range(s - 1)), fmpq(1, 2 * n))
    assert not any(x != 0 for x in odd)


# ---- Lemma C.15: good neurons


@check("pareto-frontiers:lemma-C.15", grade="exact", target="printed")
@proof_steps("under-sparse-gradients.md: 11")
@pytest.mark.parametrize("n", [7, 8, 9, 10, 11, 12, 13])
def test_good_neurons_see_three_values(n: int) -> None:
    """Every set of ones inside one S, k = 4, 6: the values of the library in the places that the lemma names."""
    for k, s in PAIRS:
        values = under_sparse_values(n, k, s)
        assert values.relevant == half_coefficient(s, s) * _maj(n - s, k - s - 1) / 2 != 0
        assert values.irrelevant == half_coefficient(s, s) * _maj(n - s, k - s + 1) / 2 != 0
        S = list(range(n - k, n))
        for ones in list(combinations(S, s))[::4]:
            g = _enumerated(n, S, list(ones), fmpq(1, 2 * n))
            expected = [0 if i in ones else values.relevant if i in S else values.irrelevant for i in range(n)]
            assert g == expected


@check("pareto-frontiers:lemma-C.15", grade="exact", target="printed", supporting=True)
def test_values_of_the_catalogue_and_a_bad_neuron() -> None:
    """(n, k, s) = (11, 4, 2): -35/512 and 5/512. With one of the ones outside of S the places are others."""
    values = under_sparse_values(11, 4, 2)
    assert (values.relevant, values.irrelevant) == (fmpq(-35, 512), fmpq(5, 512))
    bad = _enumerated(11, [0, 1, 2, 3], [0, 4], fmpq(1, 22))
    assert [i for i in range(11) if bad[i] != 0] == [0, 4]


# ---- the footnote: no gradient without the small weights


@check("pareto-frontiers:fact-no-dense-part", grade="exact", target="printed")
@proof_steps("under-sparse-gradients.md: 12")
@pytest.mark.parametrize(("n", "k", "s", "common"), CONFIGURATIONS)
def test_no_gradient_without_small_weights(n: int, k: int, s: int, common: int) -> None:
    """All overlaps: the closed form and the sums vanish; with the small weights they agree, and some do not vanish."""
    S, ones = _sets(n, k, s, common)
    assert sparse_gradient(over_sparse_neuron(n, ones), S).tolist() == [0] * n == _enumerated(n, S, ones, fmpq(0))
    small = fmpq(1, 2 * n)
    assert sparse_gradient(under_sparse_neuron(n, ones, small), S).tolist() == _enumerated(n, S, ones, small)
    if common == s:
        assert any(x != 0 for x in _enumerated(n, S, ones, fmpq(1, 2 * n)))


@check("pareto-frontiers:fact-no-dense-part", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize(("n", "k"), [(9, 4), (10, 4), (11, 6), (12, 6)])
def test_one_missing_input_is_seen_at_odd_s(n: int, k: int) -> None:
    """s = k - 1 is odd and outside of the claim: the one missing input has a gradient."""
    g = _enumerated(n, list(range(k)), list(range(k - 1)), fmpq(0))
    assert [i for i in range(n) if g[i] != 0] == [k - 1]


# ---- the initialisation


@check("pareto-frontiers:definition-init-under", grade="exact", target="corrected")
@proof_steps("under-sparse-gradients.md: 8, 13")
@pytest.mark.parametrize(("n", "k", "s"), [(6, 4, 2), (7, 4, 2), (8, 6, 4), (9, 6, 2)])
def test_the_start_vanishes_and_its_biases_change_no_gradient(n: int, k: int, s: int) -> None:
    """A random network with epsilon just below 1/(n-s): output 0 everywhere, gradients as without bias, by sums.

    All overlaps and all k biases: for even n also where the sum of all signs ties.
    """
    epsilon = fmpq(99, 100 * (n - s))
    start = draw_under_sparse(n, k, s, epsilon, 40, np.random.default_rng(n))
    network = start.network()
    x = sign_inputs(n)
    assert not network(x).any()
    assert (network.features(x) != 0).any()
    allowed = {epsilon * fmpq(odd, 2 * k) for odd in range(1 - k, k, 2)}
    assert set(start.biases.tolist()) <= allowed
    assert len(allowed) == k
    for common in range(max(0, k + s - n), s + 1):
        S, ones = _sets(n, k, s, common)
        unbiased = sparse_gradient(under_sparse_neuron(n, ones, epsilon), S).tolist()
        for bias in allowed:
            assert _enumerated(n, S, ones, epsilon, bias) == unbiased
            assert sparse_gradient(under_sparse_neuron(n, ones, epsilon, bias), S).tolist() == unbiased


@counterexample("pareto-frontiers:definition-init-under", grade="exact")
@proof_steps("under-sparse-gradients.md: 13")
def test_the_printed_bound_of_the_small_weight_does_not_serve(record: Record, epsilon: fmpq = fmpq(9, 10)) -> None:
    """At n - s = k it is epsilon < 1: with 9/10 the gradient is not that of Lemma C.13. At n - s < k it is 1/0."""
    n, k, s = 6, 4, 2
    bound = len(list(combinations(range(n - s), k)))
    assert bound == 1
    assert len(list(combinations(range(7 - 2), 6))) == 0  # (n, k, s) = (7, 6, 2)
    g = _enumerated(n, [0, 1, 2, 3], [0, 1], epsilon)
    small = _enumerated(n, [0, 1, 2, 3], [0, 1], fmpq(1, 10))
    assert g != small
    assert small[2] == under_sparse_values(n, k, s).relevant
    record.hypothesis("epsilon < 1/C(n-s,k)", epsilon, "<", fmpq(1, bound))
    record.hypothesis("s < k", s, "<", k)
    record.violated("the gradient in S without S' is that of Lemma C.15", g[2], "=", small[2])
