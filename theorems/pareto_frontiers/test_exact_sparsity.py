"""The remark on s = k: the right subnetwork is there at the start, and one step on the output weights finds it.

Proof: proofs/exact-sparsity.md.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.exact_sparsity import (
    kink_correlation,
    selected_network,
    selected_pairs,
    selection_sizes,
)
from lemmata.theorems.evidence import check, proof_steps

REMARK = "pareto-frontiers:remark-exact-sparsity"


@check(REMARK, grade="exact", target="printed", cases="(n, k) = (5, 2), (7, 4), (8, 6); correlations to k = 40")
@proof_steps("exact-sparsity.md: 1, 2")
@pytest.mark.parametrize(("n", "k"), [(5, 2), (7, 4), (8, 6)])
def test_only_the_support_correlates(n: int, k: int) -> None:
    """Sums over the cube for all sets of ones and all kinks: 0 but at S, and at least 2^-k there."""
    x, S = sign_inputs(n), tuple(range(n - k, n))
    labels = x[:, S].prod(axis=1)
    for ones in combinations(range(n), k):
        for q in range(1, k + 1):
            features = np.maximum(x[:, ones].sum(axis=1) - (2 * q - k - 1), 0)
            mean = fmpq(int(labels @ features), 2**n)
            assert mean == (kink_correlation(k, q) if ones == S else 0)
            assert features.min() >= 0
            assert features.max() <= 2 * k - 1
    for degree in range(2, 41, 2):
        assert all(abs(kink_correlation(degree, q)) >= fmpq(1, 2**degree) for q in range(1, degree + 1))


@check(REMARK, grade="exact", target="printed", cases="(n, k) = (3, 2), (6, 4), (8, 6), all inputs")
@proof_steps("exact-sparsity.md: 5")
def test_what_is_selected_computes_the_parity() -> None:
    for n, S in [(3, (0, 2)), (6, (1, 2, 3, 5)), (8, (0, 1, 2, 4, 6, 7))]:
        x = sign_inputs(n)
        assert selected_network(n, S)(x).tolist() == x[:, S].prod(axis=1).tolist()
    with pytest.raises(ValueError, match="even number"):
        selected_network(5, (0, 1, 2))


@check(
    REMARK,
    grade="sampled",
    target="printed",
    cases="(n, k) = (8, 2), (7, 4), delta = 1/1000, 40 draws each at the width and the samples of the proof",
)
@proof_steps("exact-sparsity.md: 3, 4")
@pytest.mark.parametrize(("n", "k"), [(8, 2), (7, 4)])
def test_one_step_selects_the_subnetwork(n: int, k: int) -> None:
    """No failure in 40 draws: it is rarer than 1/10 with confidence 98 per cent. A 200th of the samples mostly fails.

    The bounds of the failure are delta/2 each: of a missed kink exactly, of an error by Hoeffding's inequality.
    """
    rng, x, delta = np.random.default_rng([8, n, k]), sign_inputs(n), fmpq(1, 1000)
    pairs, m = selection_sizes(n, k, delta)
    share = arb(fmpq(1, k * comb(n, k)))
    missed = sum(((-1) ** (j + 1) * comb(k, j) * (1 - j * share) ** pairs for j in range(1, k + 1)), start=arb(0))
    assert delta / 20 < missed <= delta / 2
    wide = 2 * (2 * k - 1)  # the length of the interval of the summands
    assert 2 * pairs * (-2 * m * arb(fmpq(1, 2 ** (k + 1) * wide)) ** 2).exp() <= delta / 2
    sets, failures = list(combinations(range(n), k)), 0
    for _ in range(40):
        S = sets[rng.integers(len(sets))]
        chosen, kinks = rng.integers(len(sets), size=pairs), rng.integers(1, k + 1, size=pairs)
        rows = np.zeros((pairs, n), dtype=int)
        rows[np.arange(pairs)[:, None], np.array(sets)[chosen]] = 1
        right = np.array([sets[i] == S for i in chosen])
        y = x[:, S].prod(axis=1)
        assert set(kinks[right].tolist()) == set(range(1, k + 1))
        assert np.array_equal(selected_pairs(rows, kinks, x, y, rng.multinomial(m, [2.0**-n] * 2**n)), right)
        few = selected_pairs(rows, kinks, x, y, rng.multinomial(m // 200, [2.0**-n] * 2**n))
        failures += not np.array_equal(few, right)
    assert failures > 20
