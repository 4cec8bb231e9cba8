"""The regularised optimum: against CLARABEL, the network itself, published numbers, and planted faults."""

from dataclasses import replace
from fractions import Fraction
from math import exp, log

import cvxpy as cp
import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.characters.families import dicyclic_characters, dihedral_characters, symmetric_characters
from lemmata.certificates.characters.traces import characters_of
from lemmata.certificates.game import regularised
from lemmata.certificates.game.closed_form import solve_table
from lemmata.certificates.game.equalising import column_sizes, equalising_class_weights
from lemmata.certificates.game.margin_game import MarginGame, margin_scale
from lemmata.certificates.game.regularised import (
    closed_form_limit,
    loss_lower_bound,
    loss_of_masses,
    penalty_limit,
    regularisation_path,
    regularised_optimum,
)
from lemmata.certificates.saddle.pair import group_task
from lemmata.constructions.groups.real_type import group_network
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.groups.tables import symmetric
from lemmata.numerics.margins.descent import objective_and_gradient
from tests.certificates.character_tables import table_named

NAMES = ("Z2", "Z3", "Z4", "Z7", "S3", "S4", "S5", "S6", "Q8", "D4xZ4")
CASES = [
    ("Z7", "1/1000"),
    ("Z4", "1/1000"),
    ("S3", "1/1000"),
    ("S3", "1/100"),
    ("S3", "1/40"),
    ("Q8", "1/1000"),
    ("Q8", "1/90"),
    ("S4", "1/10000"),
    ("S5", "1/100000"),
    ("S6", "1/1000000"),
    ("D4xZ4", "1/10000"),
    ("D4xZ4", "1/1000"),
]


def by_clarabel(game: MarginGame, penalty: float, absent: tuple[int, ...] = ()) -> float:
    """min F(N) without some rows as an exponential-cone program, in units x = sigma N."""
    scale = float(margin_scale(game.table.order))
    payoff = np.delete(game.payoff(), absent, axis=0)
    x = cp.Variable(len(payoff), nonneg=True)
    exponents = cp.hstack([0, np.log(column_sizes(game).astype(float)) - payoff.T @ x])
    return float(
        cp.Problem(cp.Minimize(cp.log_sum_exp(exponents) + penalty / scale * cp.sum(x))).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
        )
    )


@pytest.mark.parametrize(("name", "penalty"), CASES)
def test_against_a_conic_solver(name, penalty):
    optimum = regularised_optimum(table_named(name), penalty)
    # an interior-point solver promises about 8 digits
    assert optimum.loss == pytest.approx(by_clarabel(optimum.game, float(Fraction(penalty))), rel=1e-7)
    assert optimum.lower < optimum.upper + arb(1e-14)
    # the solver works in doubles, with products x z of 1e-15 of the rate: gaps of that size
    assert optimum.gap <= 1e-14
    rows = set(range(len(optimum.masses)))
    assert set(optimum.used) | set(optimum.unused) == rows
    assert not set(optimum.used) & set(optimum.unused)


@pytest.mark.parametrize(
    ("name", "penalty", "loss", "ratio"),
    [
        ("Z7", "1e-3", 0.32684560, 1.0),
        ("Z4", "1e-3", 0.118595003, 0.936333),
        ("Q8", "1e-3", 0.41549447, 0.785749),
        ("S3", "1e-3", 0.24164895, 0.941919),
        ("S3", "1e-7", 6.32745664e-5, 0.980485),
        ("S4", "1e-7", 6.71785058e-4, 0.946396),
        ("S5", "1e-5", 0.59580687, 0.931949),
    ],
)
def test_known_values(name, penalty, loss, ratio):
    optimum = regularised_optimum(table_named(name), penalty)
    assert optimum.loss == pytest.approx(loss, rel=2e-8)
    assert optimum.normalised_margin / float(solve_table(table_named(name)).gamma) == pytest.approx(ratio, abs=6e-7)


@pytest.mark.parametrize("name", ["Z4", "Z7", "S3", "S4", "S5", "Q8"])
def test_closed_form_is_the_convex_program(name, monkeypatch):
    """With the closed form switched off the program finds the same loss, masses and margins."""
    limit = closed_form_limit(MarginGame(table_named(name)))
    assert limit is not None
    for factor in (1e-3, 0.1, 0.9):
        penalty = factor * float(limit.mid())
        closed = regularised_optimum(table_named(name), penalty)
        assert closed.closed_form
        monkeypatch.setattr("lemmata.certificates.game.regularised._closed_form", lambda *_: None)
        program = regularised_optimum(table_named(name), penalty)
        monkeypatch.undo()
        assert not program.closed_form
        assert program.loss == pytest.approx(closed.loss, rel=1e-10)
        # first-order quantities have half of the digits
        np.testing.assert_allclose(program.masses, closed.masses, atol=1e-6 * closed.norm)
        assert program.normalised_margin == pytest.approx(closed.normalised_margin, rel=1e-6)
        assert program.used == closed.used
        assert program.lower <= closed.upper


def test_a_class_that_ties_leaves_no_closed_form(monkeypatch):
    """Its height log(s/0) is infinite. No table of this file has one, so that the weights of S_5 are overwritten."""
    game = MarginGame(table_named("S5"))
    assert closed_form_limit(game) is not None
    t = equalising_class_weights(game)
    t[0], t[1] = t[0] + t[1], t[1] * 0
    monkeypatch.setattr("lemmata.certificates.game.regularised.equalising_class_weights", lambda _: t)
    assert closed_form_limit(game) is None
    assert not regularised_optimum(game.table, "1e-9").closed_form


@pytest.mark.parametrize("name", ["Z4", "S3", "S4", "S5", "Q8"])
def test_beyond_its_limit_the_closed_form_is_no_minimum(name):
    limit = closed_form_limit(MarginGame(table_named(name)))
    assert limit is not None
    below, above = (regularised_optimum(table_named(name), float(limit.mid()) * f) for f in (0.999, 1.001))
    assert below.closed_form
    assert not above.closed_form
    assert above.unused
    # its formula is a lower bound still, but not attained
    game = above.game
    rho = float(above.penalty) / float(solve_table(table_named(name)).gamma)
    t = equalising_class_weights(game) * (above.penalty / solve_table(table_named(name)).gamma)
    heights = np.log(column_sizes(game).astype(float) / t.astype(float) * rho)
    formula = -log(1 - rho) + rho * (log((1 - rho) / rho) + float(t.astype(float) @ heights) / rho)
    assert float(loss_lower_bound(game, above.penalty, t).mid()) == pytest.approx(formula, rel=1e-12)
    assert loss_lower_bound(game, above.penalty, t) < above.lower


def test_s5_has_no_six_dimensional_neurons_at_the_dissertations_penalty():
    table = symmetric_characters(5)
    (six,) = [i for i, R in enumerate(MarginGame(table).rows) if table.degrees[R] == 6]
    optimum = regularised_optimum(table, "1e-5")
    assert optimum.unused == (six,)
    assert len(optimum.used) == 5
    limit = closed_form_limit(optimum.game)
    assert limit is not None
    assert float(limit.mid()) == pytest.approx(3.70699e-8, rel=1e-5)
    assert regularised_optimum(table, "3.70e-8").used == tuple(range(6))
    assert regularised_optimum(table, "3.71e-8").unused == (six,)


@pytest.mark.parametrize(("name", "penalty"), [("S5", "1/100000"), ("S6", "1/1000000"), ("D4xZ4", "1/1000")])
def test_unused_rows_are_those_that_section_6_leaves_below_the_rate(name, penalty):
    """The largest gap at which a row is unused, from sqrt(2 gap (sum M^2 t + max M^2 sqrt(2 gap))) = rate - M t."""
    optimum = regularised_optimum(table_named(name), penalty)
    payoff, t = optimum.game.payoff(), optimum.class_weights.astype(float)
    rate = float(optimum.penalty) / float(margin_scale(optimum.game.table.order))
    assert optimum.unused
    for R in optimum.unused:
        room = rate - float(payoff[R] @ t)
        spread, largest = float(payoff[R] ** 2 @ t), float((payoff[R] ** 2).max())
        low, high = 0.0, 1.0
        for _ in range(200):
            gap = (low + high) / 2
            beyond = 2 * gap * (spread + largest * (2 * gap) ** 0.5) > room**2
            low, high = (low, gap) if beyond else (gap, high)
        for factor, below in ((0.99, True), (1.01, False)):
            wider = replace(optimum, upper=optimum.lower + arb(factor * low))
            assert (R in wider.unused) == below


@pytest.mark.parametrize(("name", "penalty"), [("S5", "1/100000"), ("D4xZ4", "1/10000")])
def test_rows_are_used_where_their_absence_costs_more_than_the_upper_bound(name, penalty):
    """With an upper bound above the loss without a row, that row may be absent, however good the lower bound is."""
    optimum = regularised_optimum(table_named(name), penalty)
    assert len(optimum.used) > 1
    for R in optimum.used:
        without = by_clarabel(optimum.game, float(Fraction(penalty)), absent=(R,))
        assert without > optimum.loss
        for shift, used in ((-1e-6, True), (1e-6, False)):  # the solver promises about 8 digits
            assert (R in replace(optimum, upper=arb(without * (1 + shift))).used) == used


def test_uniform_weights_keep_the_margin_for_every_penalty():
    for name in ("Z2", "Z3", "Z7"):
        game = MarginGame(table_named(name))
        limit, gamma = float(penalty_limit(game)), float(solve_table(table_named(name)).gamma)
        for factor in (1e-6, 1e-2, 0.5, 0.999):
            assert regularised_optimum(table_named(name), factor * limit).normalised_margin == pytest.approx(
                gamma, rel=1e-12
            )


def test_penalties_above_the_limit_leave_nothing():
    for name in NAMES:
        table = table_named(name)
        game = MarginGame(table)
        limit = penalty_limit(game)
        optimum = regularised_optimum(table, float(limit) * (1 + 1e-12))
        assert not optimum.masses.any(), name
        assert optimum.loss == pytest.approx(log(table.order), rel=1e-15)
        assert optimum.used == ()
        with pytest.raises(ValueError, match="zero network"):
            _ = optimum.normalised_margin
        below = regularised_optimum(table, float(limit) * 0.99)
        assert below.masses.any()
        assert below.upper < arb(table.order).log()
    assert penalty_limit(MarginGame(table_named("Z2"))) == 2 / (6 * sqrt_rational(6))


def test_path_is_monotone():
    """As lambda falls, loss and penalty fall and the norm grows; gamma_lambda tends to gamma*."""
    table = table_named("S4")
    path = list(regularisation_path(table, [10.0**-k for k in range(3, 12)]))
    losses, norms = [p.loss for p in path], [p.norm for p in path]
    assert losses == sorted(losses, reverse=True)
    assert norms == sorted(norms)
    assert path[-1].normalised_margin / float(solve_table(table).gamma) > 0.96
    assert all(p.normalised_margin <= float(solve_table(table).gamma) for p in path if p.masses.any())


def test_masses_are_those_of_a_network():
    """The explicit network of S_3 with the optimal masses has the predicted loss, by its forward pass."""
    group = symmetric(3)
    irreps = real_irreps(group, exact=True)
    optimum = regularised_optimum(characters_of(group, irreps), 1e-3)
    names = [optimum.game.table.irrep_names[R] for R in optimum.game.rows]
    shares = dict(zip(names, optimum.masses / optimum.norm, strict=True))
    network = group_network(real_irreps(group), shares)
    scaled = type(network)(network.hidden, network.readout, network.masses * optimum.norm, 2, network.norm_squared)
    hidden, readout = scaled.weights()
    task = group_task(group)
    loss, *_ = objective_and_gradient(task.inputs.astype(float), task.labels, hidden, readout, 2, 1e-3)
    assert loss == pytest.approx(optimum.loss, rel=1e-12)


@given(name=st.sampled_from(sorted(NAMES)), seed=st.integers(0, 2**32 - 1), exponent=st.floats(-6, 0))
def test_weak_duality(name, seed, exponent):
    """Random feasible t and random N: D(t) <= F(N)."""
    rng = np.random.default_rng(seed)
    game = MarginGame(table_named(name))
    scale = float(margin_scale(game.table.order))
    penalty = float(penalty_limit(game)) * 10**exponent
    t = rng.dirichlet(np.ones(len(game.columns))) * rng.uniform()
    t *= min(1.0, penalty / scale / float((game.payoff() @ t).max())) * (1 - 1e-12)
    masses = rng.exponential(size=len(game.rows)) * 10 ** rng.uniform(-2, 2) / scale
    lower = loss_lower_bound(game, penalty, _rational(t))
    assert lower < loss_of_masses(game, penalty, _rational(masses))
    assert lower <= regularised_optimum(table_named(name), penalty).upper


def test_infeasible_class_weights_are_refused():
    game = MarginGame(table_named("S3"))
    good = regularised_optimum(table_named("S3"), "1/100").class_weights
    loss_lower_bound(game, "1/100", good)
    with pytest.raises(ValueError, match=r"worth 1\.0000\d* times its penalty"):
        loss_lower_bound(game, "1/100", good * fmpq(100001, 100000))
    with pytest.raises(ValueError, match="times its penalty"):
        loss_lower_bound(game, "1/101", good)
    with pytest.raises(ValueError, match="negative"):
        loss_lower_bound(game, "1/100", good * fmpq(-1))
    with pytest.raises(ValueError, match="at most 1"):
        loss_lower_bound(game, 1, good * fmpq(1000))
    with pytest.raises(ValueError, match="2 class weights"):
        loss_lower_bound(game, 1, good[:1])
    with pytest.raises(ValueError, match="numbers >= 0"):
        loss_of_masses(game, 1, np.array([fmpq(-1), fmpq(1)], dtype=object))


def test_refused_class_weights_say_what_to_turn():
    """Each message names a repair, and the repaired weights give a bound."""
    game = MarginGame(table_named("S3"))
    optimum = regularised_optimum(table_named("S3"), "1/100")
    good = optimum.class_weights
    with pytest.raises(ValueError, match=r"Divide the class weights by more than that, or raise lambda") as error:
        loss_lower_bound(game, "1/100", good * fmpq(3, 2))
    factor = 1.0001 * float(str(error.value).split("worth ")[1].split(" ")[0])
    repaired = good * fmpq(3, 2) / fmpq(*factor.as_integer_ratio())
    assert loss_lower_bound(game, "1/100", repaired) < optimum.upper
    assert loss_lower_bound(game, "2/100", good * fmpq(3, 2)) > 0
    with pytest.raises(ValueError, match=r"Divide them by their sum"):
        loss_lower_bound(game, 1, good * fmpq(1000))
    assert loss_lower_bound(game, 1, good / sum(good)).is_finite()
    negative = good * np.array([fmpq(-1), fmpq(1)], dtype=object)
    with pytest.raises(ValueError, match=r"is negative: -0\..*Set it to 0"):
        loss_lower_bound(game, "1/100", negative)
    assert loss_lower_bound(game, "1/50", good * np.array([fmpq(0), fmpq(1)], dtype=object)) > 0


def test_class_weights_of_d4_are_no_bound_for_q8_and_conversely():
    """The tables agree, the indicators do not: the optimal t of Q_8 is infeasible for D_4."""
    q8, d4 = MarginGame(dicyclic_characters(2)), MarginGame(dihedral_characters(4))
    t = regularised_optimum(q8.table, "1/1000").class_weights
    # columns of Q_8: a, a^2, x, x a; of D_4: r, r^2, t, r t
    with pytest.raises(ValueError, match="E1 worth"):
        loss_lower_bound(d4, "1/1000", t)
    assert regularised_optimum(d4.table, "1/1000").lower < regularised_optimum(q8.table, "1/1000").lower


def test_penalties_are_exact():
    table = table_named("S3")
    assert regularised_optimum(table, "1e-3").penalty == fmpq(1, 1000)
    assert regularised_optimum(table, Fraction(1, 3)).penalty == fmpq(1, 3)
    assert regularised_optimum(table, 1e-3).penalty == fmpq(*(1e-3).as_integer_ratio())
    for wrong in (0, -1, "-1/2", float("inf"), float("nan"), "x", None, True):
        with pytest.raises(ValueError, match="penalty"):
            regularised_optimum(table, wrong)


def test_more_factors_against_z2_by_hand():
    """Z_2 has one margin: min log(1 + e^-m) + lambda N with m = gamma N, for every number of factors."""
    for factors in (2, 3, 4):
        gamma = float(solve_table(table_named("Z2"), factors).gamma)
        penalty = gamma / 10
        optimum = regularised_optimum(table_named("Z2"), penalty, factors)
        assert exp(-gamma * optimum.norm) == pytest.approx(1 / 9)
        assert optimum.loss == pytest.approx(log(10 / 9) + log(9) / 10)


def _rational(values: np.ndarray) -> np.ndarray:
    return np.array([fmpq(*float(value).as_integer_ratio()) for value in values], dtype=object)


def test_no_row_leaves_the_probabilities_of_the_zero_network():
    """Without representations all margins are 0, and class C has the probability s_C / n."""
    masses, probabilities = regularised._interior_point(np.zeros((0, 3)), np.array([1.0, 2.0, 4.0]), 0.1)
    assert masses.shape == (0,)
    assert probabilities.tolist() == [1 / 8, 2 / 8, 4 / 8]


@pytest.mark.parametrize("rate", [1e-6, 1e-2, 0.3])
def test_the_interior_point_is_feasible_and_stationary(rate):
    """payoff p <= rate, with equality where x > 0; p are the probabilities at x, all to rounding."""
    payoff, sizes = np.array([[2.0, 0.3, 0.5], [0.1, 1.5, 0.2], [0.05, 0.02, 0.03]]), np.array([1.0, 3.0, 2.0])
    x, p = regularised._interior_point(payoff, sizes, rate)
    raw = sizes * np.exp(-(x @ payoff))
    assert p == pytest.approx(raw / (1 + raw.sum()), rel=1e-9)
    slack = rate - payoff @ p
    assert (slack >= -1e-15 * rate).all()
    assert np.abs(x * slack).max() <= 1e-12 * rate
    assert (x > 0).all()


def test_the_probabilities_are_scaled_down_until_they_are_feasible():
    """Whatever accuracy the iteration has, payoff p exceeds the rate by two roundings at most."""
    random = np.random.default_rng(0)
    for _ in range(60):
        payoff, sizes = random.uniform(0.1, 2, (4, 5)), random.integers(1, 9, 5).astype(float)
        rate = 10.0 ** random.uniform(-8, -1)
        _, p = regularised._interior_point(payoff, sizes, rate)
        assert (payoff @ p).max() <= rate * (1 + 4 * 2.0**-52)
