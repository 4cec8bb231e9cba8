"""Lemma C.5: gradients on a sample are accurate at the initialization, and need not be elsewhere.

Proof for all sizes: proofs/sample-gradients.md.
"""

from __future__ import annotations

import math
from math import comb

import numpy as np
import sympy as sp
from flint import arb, fmpq, fmpz_poly

from lemmata.constructions.parity.bias_grids import offset_grid
from lemmata.constructions.parity.over_sparse import draw_over_sparse, population_gradients, sample_gradients
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.parity.sparse_neurons import over_sparse_values
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort


@check(
    "pareto-frontiers:lemma-C.5",
    grade="exact",
    target="printed",
    supporting=True,
    cases="n = 2, r = 1, u = 100, delta = 1/2, tau = 1, m = 12",
)
@proof_steps("sample-gradients.md: 4")
def test_large_output_weights_spoil_the_bound() -> None:
    """Parameters that no initialization has: f = 100 sigma(0 x + 1) - 100 = 0, and the gradient in w_1 is -100 x_2.

    m = 12 >= 4 log(16) samples; |100 mean| <= 1 only if the 12 signs cancel, with probability 231/1024 < 1 - delta:
    that all entries are accurate is no likelier.
    """
    assert 4 * math.log(4 * 2 * 1 / 0.5) <= 12
    accurate = sum(fmpq(comb(12, j), 2**12) for j in range(13) if 100 * abs(2 * j - 12) <= 12)
    assert accurate == fmpq(231, 1024) < fmpq(1, 2)


@check(
    "pareto-frontiers:lemma-C.5",
    grade="sampled",
    target="printed",
    cases="(n, k, s) = (9, 2, 7), 6 pairs, delta = 1/10, tau = |C|/4, 60 samples (seed 5)",
)
@proof_steps("sample-gradients.md: 3")
def test_every_entry_is_accurate() -> None:
    """m = 2 log(4nr/delta)/tau^2, half of the printed number: 60 samples without failure (0.9^60 < 0.002).

    A 30th of the sample fails in more than a tenth of the draws. The entries of the biases have the mean 0, k even.
    """
    n, k, s, delta = 9, 2, 7, 0.1
    rng, support = np.random.default_rng(5), (1, 6)
    drawn = draw_over_sparse(n, s, offset_grid(k), 6, rng)
    assert set(drawn.signs.tolist()) == {-1, 1}
    tau = float(arb(abs(over_sparse_values(s, k).relevant))) / 4
    exact = to_float(population_gradients(drawn, support))
    x = rng.choice([-1, 1], (40, n))
    y = x[:, support].prod(axis=1)
    active = x @ drawn.rows.T + to_float(drawn.bias) > 0
    defined = [[fmpq(int((y * active[:, i]) @ x[:, j]), 40) for j in range(n)] for i in range(6)]
    assert sample_gradients(drawn, x, y).tolist() == defined  # the means of y 1{w_i.x + b_i > 0} x_j
    assert np.abs(exact).max() > 2 * tau  # neither the gradients nor the tolerance are trivial
    enough = math.ceil(2 * math.log(4 * n * 12 / delta) / tau**2)

    def failures(m: int) -> int:
        failed = 0
        for _ in range(60):
            x = rng.choice([-1, 1], (m, n))
            y = x[:, support].prod(axis=1)
            weights = to_float(sample_gradients(drawn, x, y)) - exact
            biases = ((x @ drawn.rows.T > 0) * y[:, None]).mean(axis=0)
            failed += bool(max(np.abs(weights).max(), np.abs(biases).max()) > tau)
        return failed

    assert failures(enough) == failures(2 * enough) == 0  # half of the printed number, and the printed one
    assert failures(enough // 30) > 6


@check("pareto-frontiers:lemma-C.5", grade="enclosed", target="printed", supporting=True)
@proof_steps("sample-gradients.md: 1, 2")
def test_the_tail_of_one_entry(effort: Effort) -> None:
    """An entry is the mean of m values -1, 0, 1 with probabilities 1/4 - g/2, 1/2, 1/4 + g/2: its exact tails.

    They stay below 2 exp(-m tau^2/2) for g = C at (k, s) = (2, 7), (4, 17), and are not far below for small tau.
    """
    for k, s in [(2, 7), (4, 17)]:
        g = over_sparse_values(s, k).relevant
        for m in effort.pick(quick=[40, 200], full=[40, 200, 1000]):
            unit = int((g / 2).q) * 4
            law = fmpz_poly([int(unit * (fmpq(1, 4) - g / 2)), unit // 2, int(unit * (fmpq(1, 4) + g / 2))]) ** m
            for steps in (4, 8, 16):
                tau = fmpq(steps, 40)
                tail = sum(int(law[j]) for j in range(2 * m + 1) if abs(fmpq(j - m, m) - g) > tau)
                assert arb(fmpq(tail, unit**m)) <= 2 * (-arb(m * tau**2) / 2).exp()


@check("pareto-frontiers:lemma-C.5", grade="symbolic", target="printed", supporting=True)
@proof_steps("sample-gradients.md: 3")
def test_the_union_over_all_entries() -> None:
    """(nr + r) 2 exp(-m tau^2/2) at m = 2 log(4nr/delta)/tau^2 is delta (n+1)/(2n) <= delta."""
    n, r, delta, tau, m = sp.symbols("n r delta tau m", positive=True)
    tail = 2 * sp.exp(-2 * (m * tau) ** 2 / (m * 2**2))  # Hoeffding, values in an interval of length 2
    assert sp.simplify(tail - 2 * sp.exp(-m * tau**2 / 2)) == 0
    union = (n * r + r) * tail.subs(m, 2 * sp.log(4 * n * r / delta) / tau**2)
    assert sp.simplify(union - delta * (n + 1) / (2 * n)) == 0
