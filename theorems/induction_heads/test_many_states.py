"""The stationary law of a random chain with many states tends to the uniform law: a bound for every k, with its proof.

The k rows of P are independent and uniform on the simplex; u is the uniform law, Q = P - 1u, so that pi - u =
(pi - u) Q + u Q (rows of Q sum to zero, and (pi - u) P = (pi - u) Q as the entries of pi - u do). On the event
|Q| <= 1/2 for the spectral norm, |pi - u|_2 <= 2 |uQ|_2, hence TV(pi, u) <= (sqrt(k)/2) |pi - u|_2 <= sqrt(k) |uQ|_2.
With E|uQ|_2^2 <= 1/k^2 and E|Q|^4 <= E tr (Q Q^T)^2 <= 2/k, by Jensen's and Markov's inequalities,

    E TV(pi, u) <= 1/sqrt(k) + P(|Q| > 1/2) <= 1/sqrt(k) + 32/k  ->  0.

The second moments are rational functions of k, from the moments of the uniform law on the simplex:
E prod p_j^(n_j) = prod n_j! / (k (k+1) ... (k + sum n - 1)).
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, prod, sqrt
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.numerics.markov.chains import dirichlet_chains, stationary_law
from lemmata.numerics.markov.enumeration import dirichlet_moment
from lemmata.theorems.evidence import check, proof_steps

k = sp.symbols("k", positive=True)
Record = Callable[[str, object], None]


def moment(*powers: int) -> Any:
    """E of a product of powers of different coordinates, as a function of k."""
    rising: Any = sp.rf(k, sum(powers))
    return prod(factorial(n) for n in powers) / rising.rewrite(sp.gamma).gammasimp()


VARIANCE = moment(2) - 1 / k**2
COVARIANCE = moment(1, 1) - 1 / k**2


def norm_moments() -> tuple[Any, Any]:
    """E |Q_i|^4 and, for i != i', E (Q_i . Q_i')^2 = tr of the squared covariance; |Q_i|^2 = sum p_j^2 - 1/k."""
    squares = k * moment(2)
    fourth = k * moment(4) + k * (k - 1) * moment(2, 2)
    return fourth - 2 * squares / k + 1 / k**2, k * VARIANCE**2 + k * (k - 1) * COVARIANCE**2


def positive_coefficients(expression: Any) -> bool:
    """Whether numerator and denominator, written in k - 1, have coefficients >= 0, not all zero."""
    shifted = sp.cancel(sp.together(expression.subs(k, k + 1)))
    parts = [sp.Poly(part, k).all_coeffs() for part in sp.fraction(shifted)]
    return all(all(c >= 0 for c in part) and any(c > 0 for c in part) for part in parts)


@check("induction-heads:claim-stationary", grade="symbolic", target="corrected", supporting=True)
@proof_steps("stationary.md: 5, 6")
def test_stationary_law_tends_to_the_uniform_law_with_a_bound_for_every_number_of_states() -> None:
    """The two moment bounds of the module, for all real k >= 1."""
    # E |uQ|^2 = (1/k^2) sum over k rows and k columns of the variance
    column_means = VARIANCE
    assert sp.simplify(column_means - (k - 1) / (k**2 * (k + 1))) == 0
    assert positive_coefficients(1 / k**2 - column_means)
    fourth, cross = norm_moments()
    trace = k * fourth + k * (k - 1) * cross
    assert positive_coefficients(2 / k - trace)
    assert sp.limit(k * trace, k, sp.oo) == 2  # the constant 2 cannot be smaller
    assert not positive_coefficients(sp.Rational(19, 10) / k - trace)  # negative control
    assert sp.limit(1 / sp.sqrt(k) + 32 / k, k, sp.oo) == 0


@check("induction-heads:claim-stationary", grade="exact", target="corrected", cases="k = 2, 3, 7")
@proof_steps("stationary.md: 5, 6")
@pytest.mark.parametrize("states", [2, 3, 7])
def test_moments_of_one_row(states: int) -> None:
    """The formulas in k against rising factorials of the Dirichlet law, and |Q_i|^4 expanded over all coordinates."""

    def exact(*powers: int) -> fmpq:
        return dirichlet_moment([*powers, *[0] * (states - len(powers))], [1] * states)

    for powers in [(1,), (2,), (4,), (1, 1), (2, 2)]:
        assert sp.Rational(str(exact(*powers))) == sp.simplify(moment(*powers).subs(k, states))
    squares = fmpq(0)
    for i in range(states):
        for j in range(states):
            powers = [0] * states
            powers[i] += 2
            powers[j] += 2
            squares += dirichlet_moment(powers, [1] * states)
    found = squares - 2 * states * exact(2) / states + fmpq(1, states**2)
    assert sp.simplify(norm_moments()[0].subs(k, states)) == sp.Rational(str(found))


@check("induction-heads:claim-stationary", grade="sampled", target="corrected", supporting=True)
@proof_steps("stationary.md: 4")
def test_inequalities_on_sampled_chains(record_property: Record) -> None:
    """k = 64, 400 chains, seed 4: TV(pi, u) <= sqrt(k)|uQ|_2 wherever |Q| <= 1/2, which is the case for all of them.

    The mean of tr (Q Q^T)^2 is within five standard errors of its formula (confidence 1 - 6e-7).
    """
    states, size = 64, 400
    P = dirichlet_chains(states, size, np.random.default_rng(4))
    Q = P - 1 / states
    distance = np.abs(stationary_law(P) - 1 / states).sum(axis=1) / 2
    norms = np.linalg.norm(Q, ord=2, axis=(1, 2))
    good = norms <= 0.5
    assert good.sum() > 0.9 * size
    assert (distance[good] <= sqrt(states) * np.linalg.norm(Q.mean(axis=1), axis=1)[good]).all()
    traces = ((Q @ Q.transpose(0, 2, 1)) ** 2).sum(axis=(1, 2))
    fourth, cross = norm_moments()
    expected = float((k * fourth + k * (k - 1) * cross).subs(k, states))
    assert abs(traces.mean() - expected) < 5 * traces.std() / sqrt(size)
    assert distance.mean() < 1 / sqrt(states)
    record_property("largest |Q| at k = 64", round(float(norms.max()), 3))
