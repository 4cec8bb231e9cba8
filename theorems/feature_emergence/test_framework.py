"""Sections 7.2 and 7.3 but for their lemmas: homogeneous networks, margins, class weights, and the blueprint.

Definitions are checked as identities: homogeneity symbolically, margins and norms exactly against the words of
the text. Remark D.5 (why b = nu) is proved by two polynomial inequalities, and its consequence for L_{2,2} is
drawn. The blueprint is carried out, step by step and exactly, on modular addition, parity and two groups.
Theorem 7.1 is proved in proofs/vanishing-penalty.md (test_vanishing_penalty); here are linear models and parity.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import sympy as sp
from flint import fmpq, fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.saddle.certificate import MarginCertificate
from lemmata.certificates.saddle.groups import certify_cyclic, certify_real_type
from lemmata.certificates.saddle.pair import judge
from lemmata.certificates.saddle.parity import certify_parity
from lemmata.constructions.groups.memorising import memorising_network
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_inputs, sign_inputs
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, rational, sqrt_rational
from lemmata.numerics.groups.tables import cyclic, dihedral, symmetric
from lemmata.numerics.margins import evaluation
from lemmata.numerics.margins.evaluation import group_margins, parity_margins
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.finite_games import expectation, simplex_grid, tau_grid, ternary_games

EPS = float(np.finfo(float).eps)

# --- Definition 7.2: homogeneous networks, directional support, norms -------------------------------------------------


@check("feature-emergence:definition-7.2", grade="symbolic", target="printed", supporting=True)
@proof_steps("homogeneous-networks.md: 1", "saddle-pairs.md: 4")
def test_neurons_are_homogeneous() -> None:
    """phi(lambda omega) = lambda^nu phi(omega), lambda > 0: nu = 3 for (u_a + v_b)^2 w_c, k + 1 for (u . x)^k w."""
    scale = sp.Symbol("lambda", positive=True)
    k = sp.Symbol("k", integer=True, positive=True)
    u, v, w, s = sp.symbols("u_a v_b w_c s", real=True)
    assert sp.expand((scale * u + scale * v) ** 2 * scale * w - scale**3 * (u + v) ** 2 * w) == 0
    assert sp.simplify((scale * s) ** k * scale * w - scale ** (k + 1) * s**k * w) == 0
    # u . x, written s above, is linear in u
    weights, inputs = sp.symbols("u:4", real=True), sp.symbols("x:4", real=True)
    scaled = sum(scale * a * b for a, b in zip(weights, inputs, strict=True))
    assert sp.expand(scaled - scale * sum(a * b for a, b in zip(weights, inputs, strict=True))) == 0
    # For a negative factor the quadratic neuron changes its sign (nu = 3): homogeneity is positive only.
    assert sp.expand((-u - v) ** 2 * (-w) + (u + v) ** 2 * w) == 0


@st.composite
def integer_weights(draw: st.DrawFn, inputs: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Small integer weights of one to four neurons: hidden (m, inputs), readout (m, outputs)."""
    m = draw(st.integers(1, 4))
    entries = st.lists(st.integers(-3, 3), min_size=m * (inputs + outputs), max_size=m * (inputs + outputs))
    omega = np.array(draw(entries)).reshape(m, inputs + outputs)
    return omega[:, :inputs], omega[:, inputs:]


def outputs_by_definition(hidden: np.ndarray, readout: np.ndarray, k: int, x: list[int]) -> list[int]:
    """f(theta, x) = sum_i (u_i . x)^k w_i, in Python integers."""
    return [
        sum(sum(a * b for a, b in zip(u, x, strict=True)) ** k * w[label] for u, w in zip(hidden, readout, strict=True))
        for label in range(len(readout[0]))
    ]


def margins_by_definition(
    hidden: np.ndarray, readout: np.ndarray, k: int, points: np.ndarray, labels: list[int]
) -> list[int]:
    """g(theta, x, y) = f[y] - max over y' != y of f[y'], for every point."""
    result = []
    for x, y in zip(points.tolist(), labels, strict=True):
        f = outputs_by_definition(hidden.tolist(), readout.tolist(), k, x)
        result.append(f[y] - max(value for label, value in enumerate(f) if label != y))
    return result


@check(
    "feature-emergence:definition-7.2",
    grade="exact",
    target="printed",
    cases="two networks of three rational neurons, norms 3, 4, 5 and 1, 6, 8, on all inputs of order 2",
)
@proof_steps("homogeneous-networks.md: 2")
@pytest.mark.parametrize(("numbers", "factor"), [((3, 4, 5), 6), ((1, 6, 8), 9)])
def test_norm_and_network_depend_on_masses_only(numbers: tuple[int, ...], factor: int) -> None:
    """Neurons 3, 4, 5 times unit directions: norm L_{2,3} 6, because 27 + 64 + 125 = 216; likewise 1, 6, 8, 9.

    The library's mass form (mu_i = lambda_i^3) has the same outputs and sum mu_i = ||theta||^3; its directional
    support is the set of unit directions.
    """
    units = [
        [fmpq(entry, 3) for entry in row] for row in ([1, 2, 0, 0, 2, 0], [0, -2, 1, 2, 0, 0], [2, 1, 0, 0, 0, -2])
    ]
    directions = np.array(units, dtype=object)
    weights = np.array(numbers, dtype=object)[:, None] * directions
    norms = [math.isqrt(int((row * row).sum())) for row in weights]
    assert norms == list(numbers)
    assert sum(norm**3 for norm in norms) == factor**3
    masses = np.array([fmpq(number**3) for number in numbers], dtype=object)
    network = HomogeneousNetwork(directions[:, :4], directions[:, 4:], masses, 2, fmpq(1))
    assert network.norm_power == factor**3
    for x in group_inputs(2).tolist():
        assert list(network.raw(x)) == outputs_by_definition(weights[:, :4].tolist(), weights[:, 4:].tolist(), 2, x)
    # normalised: theta / ||theta|| has masses of sum 1 and outputs divided by ||theta||^3
    unit = HomogeneousNetwork(network.hidden, network.readout, masses / factor**3, 2, fmpq(1))
    assert unit.norm_power == 1
    assert (unit.raw(group_inputs(2)) * factor**3 == network.raw(group_inputs(2))).all()
    # The norm concatenates the parts of a neuron before it takes powers.
    apart = sum(float((part * part).sum()) ** 1.5 for row in weights for part in (row[:2], row[2:4], row[4:]))
    assert apart < 0.99 * factor**3


@check("feature-emergence:definition-7.2", grade="exact", target="printed", supporting=True)
@proof_steps("homogeneous-networks.md: 3")
@given(weights=integer_weights(4, 2), c=st.integers(1, 5), shift=st.integers(-3, 3))
def test_margins_scale_by_the_power_and_ignore_constants(
    weights: tuple[np.ndarray, np.ndarray], c: int, shift: int
) -> None:
    """h(c theta) = c^nu h(theta); adding a constant to all entries of w changes no margin."""
    hidden, readout = weights
    points, labels = group_inputs(2), [0, 1, 1, 0]
    g = margins_by_definition(hidden, readout, 2, points, labels)
    assert margins_by_definition(c * hidden, c * readout, 2, points, labels) == [c**3 * margin for margin in g]
    assert margins_by_definition(hidden, readout + shift, 2, points, labels) == g


# --- Definition 7.3: margins ------------------------------------------------------------------------------------------


@check(
    "feature-emergence:definition-7.3",
    grade="sampled",
    target="printed",
    cases="Z_2, Z_3, Z_4, S_3: 30 derandomised Hypothesis draws of integer networks of up to four neurons each",
)
@proof_steps("homogeneous-networks.md: 4")
@pytest.mark.parametrize("group", [cyclic(2), cyclic(3), cyclic(4), symmetric(3)], ids=lambda group: group.name)
@given(data=st.data())
def test_group_margin_is_the_definition(group: Any, data: st.DataObject) -> None:
    """The margin over all triples, by NumPy and by compiled loops, is the definition; integers below 2^53: exactly."""
    n = group.order
    hidden, readout = data.draw(integer_weights(2 * n, n))
    g = margins_by_definition(hidden, readout, 2, group_inputs(n), group.table.reshape(-1).tolist())
    for few in (0, evaluation.FEW_NUMBERS):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluation, "FEW_NUMBERS", few)
            summary = group_margins(hidden[:, :n], hidden[:, n:], readout, group)
        assert summary.minimum == min(g)
        assert summary.point_maximum == max(g)


@check(
    "feature-emergence:definition-7.3",
    grade="sampled",
    target="printed",
    cases="(n, k) = (1, 1), (2, 2), (3, 2), (4, 3): 30 derandomised Hypothesis draws each, up to four neurons",
)
@pytest.mark.parametrize(("n", "support"), [(1, (0,)), (2, (0, 1)), (3, (0, 2)), (4, (0, 1, 3))])
@given(data=st.data())
def test_parity_margin_is_the_definition(n: int, support: tuple[int, ...], data: st.DataObject) -> None:
    """The same for parity, with the activation x^k; label 0 stands for y = +1."""
    hidden, readout = data.draw(integer_weights(n, 2))
    points, k = sign_inputs(n), len(support)
    labels = [0 if math.prod(x[i] for i in support) == 1 else 1 for x in points.tolist()]
    g = margins_by_definition(hidden, readout, k, points, labels)
    summary = parity_margins(hidden, readout, None, k, support)
    assert (summary.minimum, summary.maximum) == (min(g), max(g))


@check("feature-emergence:definition-7.3", grade="exact", target="printed", supporting=True)
@proof_steps("homogeneous-networks.md: 4", "saddle-pairs.md: 1")
def test_the_margin_is_the_least_expected_margin(effort: Any) -> None:
    """min_D g = min_q E_q g: no distribution is below, the point masses attain it; and h is concave in the masses."""
    positive = 0
    for game in ternary_games(effort.pick(quick=(-1, 2), full=(-1, 0, 2))):
        ends = [game.margins(masses) for masses in np.eye(2, dtype=int) * fmpq(1)]
        for masses in simplex_grid(2, 4, full=True):
            g = game.margins(masses)
            values = [expectation(q, g) for q in simplex_grid(2, 4, full=True)]
            assert min(values) == min(g)
            assert min(g) >= masses[0] * min(ends[0]) + masses[1] * min(ends[1])
            positive += min(g) > 0
    assert positive


# --- Definition 7.3.2: class weights ----------------------------------------------------------------------------------


@check("feature-emergence:definition-7.3.2", grade="exact", target="printed", supporting=True)
@proof_steps("saddle-pairs.md: 3")
def test_weighted_margins_lie_above_and_add_up(effort: Any) -> None:
    """g' >= g with equality iff tau lives on largest wrong logits (C.1); E_q g' is additive over the neurons."""
    seen: Counter[bool] = Counter()
    for game in ternary_games(effort.pick(quick=(-1, 2), full=(-1, 0, 2))):
        taus = list(tau_grid(game, 2))
        uniform = np.array([fmpq(1, 2)] * 2, dtype=object)
        values = [game.neuron_values(uniform, tau) for tau in taus]
        for masses in simplex_grid(2, 2, full=True):
            outputs, g = game.outputs(masses), game.margins(masses)
            for tau, value in zip(taus, values, strict=True):
                weighted = game.weighted_margins(masses, tau)
                assert expectation(uniform, weighted) == expectation(masses, value)
                for x, label in enumerate(game.labels):
                    wrong = [other for other in range(3) if other != label]
                    largest = max(outputs[x, other] for other in wrong)
                    tied = all(tau[x, other] == 0 or outputs[x, other] == largest for other in wrong)
                    assert weighted[x] >= g[x]
                    assert (weighted[x] == g[x]) == tied
                    seen[tied] += 1
    assert seen[True] > 0
    assert seen[False] > 0


@check("feature-emergence:definition-7.3.2", grade="symbolic", target="printed", supporting=True)
@proof_steps("homogeneous-networks.md: 5", "saddle-pairs.md: 3")
@pytest.mark.parametrize("labels", [2, 3, 4])
def test_the_excess_of_the_weighted_margin(labels: int) -> None:
    """g' - g = sum_y' tau[y'] (max - f[y']): nonnegative terms, for all logits and weights."""
    right, largest = sp.symbols("f_y M")
    f, tau = sp.symbols(f"f1:{labels}"), sp.symbols(f"tau1:{labels}")
    weighted = right - sum(t * value for t, value in zip(tau, f, strict=True))
    excess = sum(t * (largest - value) for t, value in zip(tau, f, strict=True))
    # modulo sum tau = 1
    remainder = sp.expand(weighted - (right - largest) - excess - largest * (1 - sum(tau)))
    assert remainder == 0


# --- Remark D.5: why b = nu -------------------------------------------------------------------------------------------

EXPONENTS = [(b, nu) for b in range(1, 9) for nu in range(1, 9) if b != nu]


@check("feature-emergence:remark-D.5", grade="exact", target="printed", supporting=True)
@proof_steps("homogeneous-networks.md: 7, 8")
@pytest.mark.parametrize(("b", "nu"), EXPONENTS)
def test_optimal_norm_profiles(b: int, nu: int) -> None:
    """argmax of sum z_i^nu over z >= 0, sum z_i^b <= 1: one neuron if b < nu, m equal norms if b > nu.

    b < nu: z^b - z^nu = z^b (1 - z^(nu-b)) >= 0 on [0, 1], zero only at 0 and 1; so sum z^nu <= sum z^b <= 1, with
    equality iff one z_i is 1. b > nu: with c = m^(-1/b),
        (b - nu) c^b + nu z^b - b c^(b-nu) z^nu = (z - c)^2 P(z, c),  P with nonnegative coefficients, P > 0 for c > 0;
    summed over i this gives sum z^nu <= m c^nu = m^(1 - nu/b), with equality iff all z_i are c.
    """
    one, z = fmpq_poly([1]), fmpq_poly([0, 1])
    if b < nu:
        difference = z**b - z**nu
        quotient, remainder = divmod(difference, z**b * (one - z))
        assert remainder == 0
        assert list(quotient.coeffs()) == [1] * (nu - b)  # positive on [0, 1]
    else:
        # homogeneous in (z, c), so c = 1 without loss of generality
        tangent = (b - nu) * one + nu * z**b - b * z**nu
        quotient, remainder = divmod(tangent, (z - one) ** 2)
        assert remainder == 0
        assert all(coefficient >= 0 for coefficient in quotient.coeffs())
        assert quotient[0] == b - nu > 0


@check("feature-emergence:remark-D.5", grade="exact", target="printed", supporting=True)
@proof_steps("homogeneous-networks.md: 8")
@given(
    entries=st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any),
    exponents=st.sampled_from(EXPONENTS),
)
def test_norm_profiles_by_integers(entries: list[int], exponents: tuple[int, int]) -> None:
    """The two power-mean inequalities with their cases of equality, cleared of roots, on integer vectors."""
    b, nu = exponents
    m, low, high = len(entries), sum(z**b for z in entries), sum(z**nu for z in entries)
    if b < nu:
        assert high**b <= low**nu
        assert (high**b == low**nu) == (sum(z > 0 for z in entries) == 1)
    else:
        assert high**b <= m ** (b - nu) * low**nu
        assert (high**b == m ** (b - nu) * low**nu) == (len(set(entries)) == 1)


@check("feature-emergence:remark-D.5", grade="exact", target="printed", supporting=True)
@proof_steps("homogeneous-networks.md: 9")
@given(weights=integer_weights(6, 3))
def test_weight_decay_leaves_nothing_to_certify_modulo_three(weights: tuple[np.ndarray, np.ndarray]) -> None:
    """With L_{2,2} every maximiser of E_q g' is one neuron, which answers with one label: its margin is <= 0.

    But (7.1) and C.1 would make its margin E_q g' > 0, and the largest margin is positive. So no pair (q, tau)
    certifies it.
    """
    hidden, readout = weights[0][:1], weights[1][:1]  # b = 2 < nu = 3: a single neuron
    points, labels = group_inputs(3), cyclic(3).table.reshape(-1).tolist()
    assert min(margins_by_definition(hidden, readout, 2, points, labels)) <= 0
    network = memorising_network(cyclic(3).table, exact=True)
    raw = network.raw(points)
    assert all(raw[x, label] > max(np.delete(raw[x], label)) for x, label in enumerate(labels))
    assert certify_cyclic(3).gamma > 0  # max over unit neurons of E_q g', for the uniform q and tau


# --- Section 7.3.3: the blueprint -------------------------------------------------------------------------------------

CERTIFIED = {
    "Z_3": lambda: certify_cyclic(3, per_frequency=8),
    "Z_5": lambda: certify_cyclic(5),
    "parity (3, 2)": lambda: certify_parity(3, 2),
    "parity (4, 3)": lambda: certify_parity(4, (0, 2, 3)),
    "S_3": lambda: certify_real_type(symmetric(3)),
    "D_4": lambda: certify_real_type(dihedral(4)),
}


@pytest.fixture(scope="module", params=CERTIFIED, ids=lambda name: name)
def certificate(request: pytest.FixtureRequest) -> MarginCertificate:
    """The exact certificates on which the blueprint is checked."""
    return CERTIFIED[request.param]()


def weighted_values(certificate: MarginCertificate, hidden: np.ndarray, readout: np.ndarray) -> np.ndarray:
    """E_q psi' of each neuron by definition: the average of phi[y] - sum_y' tau[y'] phi[y']; shape (m,)."""
    task, q, tau = certificate.weights.task, certificate.weights.q, certificate.weights.tau
    powers = (hidden @ task.inputs.T) ** certificate.network.degree  # (m, N)
    selection = -tau
    for x, label in enumerate(task.labels):
        selection[x, label] += 1
    return ((powers * q) @ selection * readout).sum(axis=1)


@check(
    "feature-emergence:blueprint-7.3.3",
    grade="exact",
    target="printed",
    cases="Z_3, Z_5, parity (3, 2) and (4, 3), S_3, D_4",
)
@proof_steps("saddle-pairs.md: 10")
def test_the_blueprint_certifies(certificate: MarginCertificate) -> None:
    """(1) q is uniform; (2) every neuron attains gamma*; (3) all points are on the margin and C.1 holds.

    That no neuron exceeds gamma* is the content of theorems 7.7 to 7.9 (lemmas D.6.1, D.7, D.13); step 3 is decided
    from the outputs of the network alone.
    """
    network, weights = certificate.network, certificate.weights
    assert len(set(weights.q.tolist())) == 1
    unit = rational(1)
    for _ in range(network.nu):
        unit *= sqrt_rational(Cyclotomic.to_fmpq(rational(network.norm_squared)))
    values = weighted_values(certificate, network.hidden, network.readout)
    assert all(value == certificate.gamma * unit for value in values)

    raw, labels = network.raw(weights.task.inputs), weights.task.labels
    expected = certificate.gamma * unit * network.norm_power
    for x, label in enumerate(labels):
        for other in range(weights.task.label_count):
            if other != label:
                margin = raw[x, label] - raw[x, other]
                assert margin == expected if weights.tau[x, other] > 0 else margin >= expected
    assert certificate.accepted
    assert certificate.gamma > 0


@check("feature-emergence:blueprint-7.3.3", grade="exact", target="printed", supporting=True)
def test_each_step_of_the_blueprint_can_fail(certificate: MarginCertificate) -> None:
    """Step 1 with all weight on one point, step 2 with a spoilt neuron, step 3 with one neuron alone: all detected."""
    network, weights, task = certificate.network, certificate.weights, certificate.weights.task
    # 1. For q on one point, the neuron that reads this point alone beats gamma*: q is not the minimiser.
    x, label = task.inputs[0], task.labels[0]
    other = next(wrong for wrong in range(task.label_count) if wrong != label)
    reader = np.eye(task.label_count, dtype=int)[label] - np.eye(task.label_count, dtype=int)[other]
    value = int(x @ x) ** network.degree * (1 + weights.tau[0, other])
    norm_squared = int(x @ x) + 2
    assert value * value / norm_squared**network.nu > certificate.gamma_squared
    assert reader.sum() == 0
    # 2. A neuron that is turned off its optimum costs margin.
    readout = network.readout.copy()
    readout[0] = -readout[0]
    assert (weighted_values(certificate, network.hidden[:1], readout[:1]) < 0).all()
    spoilt = HomogeneousNetwork(network.hidden, readout, network.masses, network.degree, network.norm_squared)
    assert not judge(spoilt, weights, certificate.gamma).accepted
    # 3. Optimal neurons that are not balanced: (7.3) holds, (7.1) or C.1 does not.
    masses = network.masses * 0
    masses[0] = fmpq(1)
    alone = HomogeneousNetwork(network.hidden, network.readout, masses, network.degree, network.norm_squared)
    named = {violation.split()[0] for violation in judge(alone, weights, certificate.gamma).violations}
    assert named & {"(7.1)", "(C.1)"}


# --- Theorem 7.1 on models where the minimisers are known -------------------------------------------------------------


def regularised_minimiser(z: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    """Minimise mean log(1 + exp(-z_i . w)) + penalty ||w||^2 by damped Newton steps; return w and an error bound.

    The objective is 2 penalty-strongly convex, so the exact minimiser is within ||gradient|| / (2 penalty) of w. The
    gradient itself carries at most (N + d + 8) roundings of terms of size max ||z_i|| (1 + max ||z_i|| ||w||), since
    the sigmoid's argument is a sum of d products, and 2 penalty ||w||.
    """
    N, d = z.shape
    w = np.zeros(d)

    def objective(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -z @ w).mean() + penalty * w @ w)

    def gradient(w: np.ndarray) -> np.ndarray:
        return -(z / (1 + np.exp(z @ w))[:, None]).mean(axis=0) + 2 * penalty * w

    for _ in range(200):
        share = 1 / (1 + np.exp(z @ w))
        hessian = (z * (share * (1 - share))[:, None]).T @ z / N + 2 * penalty * np.eye(d)
        step = np.linalg.solve(hessian, gradient(w))
        while objective(w - step) > objective(w) and np.linalg.norm(step) > EPS * np.linalg.norm(w):
            step /= 2
        w = w - step
        if np.linalg.norm(step) <= EPS * np.linalg.norm(w):
            break
    size, longest = np.linalg.norm(w), np.linalg.norm(z, axis=1).max()
    rounding = (N + d + 8) * EPS * (longest * (1 + longest * size) + 2 * penalty * size)
    return w, float((np.linalg.norm(gradient(w)) + rounding) / (2 * penalty))


@check("feature-emergence:theorem-7.1", grade="numeric", target="printed", supporting=True)
@proof_steps("vanishing-penalty.md: 6")
@pytest.mark.parametrize("r", [1, 2, 3])
def test_linear_logistic_regression_approaches_the_support_vector_margin(r: int, effort: Any) -> None:
    """nu = 1: gamma_lambda / gamma* rises, and lies between 1 and a bound in lambda alone that tends to 1.

    Let R = ||w_lambda||, N points. Comparing w_lambda with R w*, which has the same penalty, gives
        log(1 + exp(-R gamma_lambda)) <= N log(1 + exp(-R gamma*)),
    a lower bound on the ratio that tends to 1 as R grows. Comparing with c w*, c = log(1/lambda)/gamma*, gives
        log(1 + exp(-R gamma*)) <= N (log(1 + lambda) + lambda c^r),
    so that R grows without bound as lambda falls. A minimiser with the penalty p ||w||^2 is one with the penalty
    lambda ||w||^r for lambda = 2 p R^(2-r) / r (r >= 1: convex, so stationary is minimal).
    """
    # y_i x_i; the first two are the support vectors: w* = (2, 1)/sqrt 5, gamma* = sqrt 5, exactly
    z = np.array([[1, 3], [3, -1], [4, 0], [2, 2], [1, 4]])
    middle = (z[0] + z[1]) // 2
    assert (middle @ middle, set((z[:2] @ middle).tolist())) == (5, {5})
    assert (z[2:] @ middle > 5).all()
    best = math.sqrt(5)
    v = cp.Variable(2)
    cp.Problem(cp.Maximize(cp.min(z @ v)), [cp.norm(v) <= 1]).solve()
    assert v.value is not None
    # an independent solver, to its own accuracy of about 1e-8
    assert v.value == pytest.approx(middle / best, abs=1e-6)

    def size_of_margin(bound: float) -> float:
        """The m with log(1 + exp(-m)) = bound."""
        return -math.log(math.expm1(bound))

    count, longest = len(z), float(np.linalg.norm(z, axis=1).max())
    upper, proved, penalty = 0.0, -math.inf, math.inf
    for exponent in range(2, effort.pick(quick=7, full=9)):
        previous_upper, previous_proved, previous_penalty = upper, proved, penalty
        w, error = regularised_minimiser(z.astype(float), 10.0**-exponent)
        R = float(np.linalg.norm(w))
        penalty = 2 * 10.0**-exponent * R ** (2 - r) / r
        c = -math.log(penalty) / best
        least_R = size_of_margin(count * (math.log1p(penalty) + penalty * c**r)) / best
        assert R + error >= least_R
        proved = size_of_margin(count * math.log1p(math.exp(-least_R * best))) / (least_R * best)
        margin = float((z @ w).min())
        # lower <= gamma_lambda / gamma* <= upper
        lower = (margin - longest * error) / (R + error) / best
        upper = (margin + longest * error) / (R - error) / best
        assert proved <= lower <= 1
        assert lower > previous_upper
        assert proved > previous_proved
        assert penalty < previous_penalty
    assert proved > 0


@check("feature-emergence:theorem-7.1", grade="numeric", target="printed", supporting=True)
@proof_steps("vanishing-penalty.md: 6")
@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 3), (4, 2)])
def test_regularised_parity_has_the_maximum_margin_at_every_penalty(n: int, k: int) -> None:
    """r = nu: min L_lambda = min_N log(1 + exp(-gamma* N)) + lambda N, attained by max-margin networks only.

    Jensen: the mean of log(1 + exp(-g)) is at least log(1 + exp(-E g)), and E g <= gamma* ||theta||^nu (theorem 7.8).
    """
    certificate = certify_parity(n, k, exact=False)
    gamma, network = float(certificate.gamma), certificate.network
    points = sign_inputs(n)
    labels = certificate.weights.task.labels
    sign = 1 - 2 * labels

    def loss(candidate: HomogeneousNetwork, penalty: float) -> float:
        outputs = candidate(points)
        margins = sign * (outputs[:, 0] - outputs[:, 1])
        return float(np.logaddexp(0, -margins).mean()) + penalty * float(candidate.norm_power)

    rng = np.random.default_rng(k)
    for penalty in (gamma / 3, gamma / 30, gamma / 3000):
        mass = math.log(gamma / penalty - 1) / gamma
        least = math.log1p(math.exp(-gamma * mass)) + penalty * mass
        best = HomogeneousNetwork(network.hidden, network.readout, mass * network.masses, k, network.norm_squared)
        slack = 2 * (certificate.verdict.rounding * mass + 8 * EPS * (1 + least))
        assert loss(best, penalty) == pytest.approx(least, abs=slack)
        for size in (1e-3, 1e-1, 1.0):
            for _ in range(5):
                hidden, readout = best.weights()
                candidate = HomogeneousNetwork.from_weights(
                    hidden + size * rng.standard_normal(hidden.shape),
                    readout + size * rng.standard_normal(readout.shape),
                    k,
                )
                assert loss(candidate, penalty) > least + slack
