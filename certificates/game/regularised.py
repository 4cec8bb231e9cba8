"""The global minimum of the regularised cross-entropy of group composition, with a proof that it is one.

The loss of a network theta of any width is the mean cross-entropy over all inputs plus lambda ||theta||^(k+1), the
L_{2,k+1} norm to the power of the homogeneity (k = 2 factors: L_{2,3}^3). In the notation of
`lemmata.certificates.game.margin_game`, with M the payoff matrix, sigma = k! ((k+1) n)^(-(k+1)/2), and s_C the number
of elements in column C,

    min_theta L = min_(N >= 0) F(N) = max_t D(t),
    F(N) = log(1 + sum_C s_C exp(-m_C)) + lambda sum_R N_R,       m = sigma N^T M,
    D(t) = -(1 - T) log(1 - T) - sum_C t_C log(t_C / s_C),        T = sum_C t_C <= 1, t >= 0, sigma M t <= lambda.

The least loss is the largest entropy at which no irreducible representation is worth its penalty. The proof is in
REGULARISED_LOSS.md beside this file. It uses no property of a solver: `loss_lower_bound` decides feasibility exactly
and encloses D(t), `loss_of_masses` encloses the loss of an explicit network, and `regularised_optimum` finds a pair
that agrees, in closed form for small lambda and by an interior-point method otherwise.

Source: feature-emergence, ext-E6 (a quantitative form of theorem 7.1); it goes beyond the dissertation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.closed_form import closed_form_margin
from lemmata.certificates.game.equalising import column_sizes, equalising_class_weights, multiplicities
from lemmata.certificates.game.margin_game import MarginGame, margin_scale
from lemmata.numerics.exact.balls import as_balls, ball_max, precision
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic
from lemmata.numerics.exact.numbers import exact_number

__all__ = [
    "RegularisedOptimum",
    "closed_form_limit",
    "loss_lower_bound",
    "loss_of_masses",
    "penalty_limit",
    "regularisation_path",
    "regularised_optimum",
]

BITS = 192  # of all balls: the largest groups of published tables need 180 bits for the order alone
ROUNDING = fmpq(1, 2**48)  # how much class weights from the solver are lowered, until they are exactly feasible

Penalty = int | float | str | Fraction | fmpq
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegularisedOptimum:
    """The minimum of the regularised loss lies in [lower, upper], two balls; both are proved.

    ``class_weights`` (columns,): the exact t of the lower bound; ``masses`` (rows,): N_R of a network whose loss is
    ``upper``; ``margins`` (columns,): its margins m_C at the wrong labels of each column. Masses and margins are
    floats near the optimal ones, correct to about half the digits by which ``lower`` and ``upper`` agree; in the
    closed form they are correctly rounded and ``lower`` and ``upper`` are the same ball.
    """

    game: MarginGame
    penalty: fmpq
    lower: arb
    upper: arb
    class_weights: np.ndarray
    masses: Floats
    margins: Floats
    closed_form: bool

    @property
    def loss(self) -> float:
        """The smallest loss, to floating-point accuracy if ``lower`` and ``upper`` agree that far."""
        return float(self.upper.mid())

    @property
    def gap(self) -> float:
        """A proved upper bound on ``upper`` - ``lower``, by which the minimum may still differ from either."""
        return max(0.0, float((self.upper - self.lower).upper()))

    @property
    def norm(self) -> float:
        """||theta||^(k+1) of the minimiser, the total mass."""
        return float(self.masses.sum())

    @property
    def normalised_margin(self) -> float:
        """gamma_lambda, the smallest margin divided by ||theta||^(k+1).

        Raises ``ValueError`` when the minimiser is the zero network (lambda >= `penalty_limit`).
        """
        if not self.masses.any():
            raise ValueError(
                f"At lambda = {float(self.penalty):.6g} the minimiser is the zero network, which has no normalised "
                f"margin; lambda must be below {float(penalty_limit(self.game)):.12g}."
            )
        return float(self.margins.min()) / self.norm

    @cached_property
    def unused(self) -> tuple[int, ...]:
        """The rows that are proved to have no mass in any minimiser.

        Their payoff at the optimum, which is near that at ``class_weights``, stays below lambda/sigma:
        REGULARISED_LOSS.md, section 6.
        """
        if self.closed_form:
            return ()
        with precision(BITS):
            gap = 2 * arb(self.gap)
            rate = as_balls([_rate(self.game, self.penalty)])[0]
            t, kappas = as_balls(self.class_weights), as_balls(self.game.kappas(self.class_weights))
            squares = (as_balls(self.game.defects) / as_balls(self.game.weights)[:, None]) ** 2
            spread = squares @ t + np.array([ball_max(row) for row in squares]) * gap.sqrt()
            reach = kappas + np.sqrt(gap * spread)
            return tuple(R for R, largest in enumerate(reach) if largest < rate)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The rows that are proved to have mass in the minimiser: without one of them every loss is larger."""
        if self.closed_form:
            return tuple(range(len(self.masses)))
        if not self.masses.any():
            return ()
        candidates = [R for R in range(len(self.masses)) if R not in self.unused]
        return tuple(R for R in candidates if _loss_without(self.game, self.penalty, R) > self.upper)


def penalty_limit(game: MarginGame) -> Cyclotomic:
    """The lambda from which on the zero network is optimal: sigma max nu^(-(k-1)/2), exactly.

    The maximum is over the dimensions nu of the nontrivial irreducible real representations.

    Proof: REGULARISED_LOSS.md, section 4.
    """
    return margin_scale(game.table.order, game.factors) * max(game.kappas(_uniform(game)))


def closed_form_limit(game: MarginGame) -> arb | None:
    """The lambda up to which the closed form holds, so that every representation is used below; None if never.

    It is gamma*/(1 + e^x) with x = max_R sum_C s_C h_C Re chi_R(C) / d_R: REGULARISED_LOSS.md, section 5.
    """
    t = equalising_class_weights(game)
    if not all(weight > 0 for weight in t):
        return None
    with precision(BITS):
        heights = _heights(game, t)
        ratios = (_characters(game) * heights) @ _sizes(game) / as_balls(game.degrees)
        return as_balls([closed_form_margin(game)])[0] / (1 + ball_max(ratios).exp())


def loss_lower_bound(game: MarginGame, penalty: Penalty, class_weights: np.ndarray) -> arb:
    """A ball around D(t); no network of any width has a regularised loss below it (REGULARISED_LOSS.md, section 2).

    Args:
        game: the margin game.
        penalty: lambda > 0.
        class_weights: exact t, shape (columns,).

    Raises:
        ValueError: naming what makes t infeasible, and what to turn: a negative entry, a total above 1, or a
            representation with sigma (M t)_R > lambda. All three are decided exactly.
    """
    exact_penalty = _exact_penalty(penalty)
    names = game.table.class_names
    if class_weights.shape != (len(game.columns),):
        raise ValueError(f"There must be {len(game.columns)} class weights, not an array of {class_weights.shape}.")
    for column, weight in zip(game.columns, class_weights, strict=True):
        if weight < 0:
            raise ValueError(
                f"The class weight of {names[column]} is negative: {float(weight):.6g}. Set it to 0, and scale all of "
                "them down where a representation is then worth more than its penalty."
            )
    rest = 1 - sum(class_weights, start=fmpq(0))
    if rest < 0:
        raise ValueError(
            f"The class weights must add up to at most 1, but give {float(1 - rest):.12g}. Divide them by their sum."
        )
    rate = _rate(game, exact_penalty)
    for row, kappa in zip(game.rows, game.kappas(class_weights), strict=True):
        if kappa > rate:
            raise ValueError(
                f"The class weights make {game.table.irrep_names[row]} worth {float(kappa / rate):.12g} times its "
                "penalty: the bound would not be one. Divide the class weights by more than that, or raise lambda."
            )
    return _entropy(class_weights, rest, column_sizes(game))


def loss_of_masses(game: MarginGame, penalty: Penalty, masses: np.ndarray) -> arb:
    """A ball around F(N), the loss of the explicit networks with exact masses N >= 0 (rows,).

    Raises:
        ValueError: for another number of masses, or a negative one.
    """
    if masses.shape != (len(game.rows),) or any(mass < 0 for mass in masses):
        raise ValueError(f"The masses must be {len(game.rows)} numbers >= 0, not {masses!r}.")
    exact_penalty = _exact_penalty(penalty)
    with precision(BITS):
        scale, weights = as_balls([margin_scale(game.table.order, game.factors)])[0], as_balls(game.weights)
        margins = scale * ((as_balls(masses) / weights) @ as_balls(game.defects))
        total = _sizes(game) @ np.exp(-margins)
        return (1 + total).log() + arb(exact_penalty) * sum(as_balls(masses), start=arb(0))


def regularised_optimum(table: CharacterTable, penalty: Penalty, factors: int = 2) -> RegularisedOptimum:
    """The minimum of the regularised loss for a penalty lambda > 0, with its proof from both sides.

    A float penalty stands for its exact binary value.

    Raises:
        ValueError: when lambda is not positive (without a penalty the infimum 0 is not attained).
    """
    game, exact_penalty = MarginGame(table, factors), _exact_penalty(penalty)
    if _rate(game, exact_penalty) >= max(game.kappas(_uniform(game))):
        masses = np.zeros(len(game.rows))
        return RegularisedOptimum(
            game,
            exact_penalty,
            loss_lower_bound(game, exact_penalty, _uniform(game)),
            loss_of_masses(game, exact_penalty, _as_rationals(masses)),
            _uniform(game),
            masses,
            np.zeros(len(game.columns)),
            closed_form=False,
        )
    closed = _closed_form(game, exact_penalty)
    if closed is not None:
        return closed
    masses, t = _solve(game, exact_penalty, tuple(range(len(game.rows))))
    margins = float(margin_scale(table.order, factors)) * (masses @ game.payoff())
    lower = loss_lower_bound(game, exact_penalty, t)
    upper = loss_of_masses(game, exact_penalty, _as_rationals(masses))
    return RegularisedOptimum(game, exact_penalty, lower, upper, t, masses, margins, closed_form=False)


def regularisation_path(
    table: CharacterTable, penalties: Iterable[Penalty], factors: int = 2
) -> Iterator[RegularisedOptimum]:
    """The optimum for each penalty, in the given order; the minimisers of neighbouring penalties are close."""
    for penalty in penalties:
        yield regularised_optimum(table, penalty, factors)


# ---- the closed form


def _closed_form(game: MarginGame, penalty: fmpq) -> RegularisedOptimum | None:
    """The optimum if all equalising class weights and all masses of the closed form are proved positive."""
    t, gamma = equalising_class_weights(game), closed_form_margin(game)
    if not all(weight > 0 for weight in t) or penalty >= gamma:
        return None
    with precision(BITS):
        rho = as_balls([penalty / gamma])[0]
        constant, heights = ((1 - rho) / rho).log(), _heights(game, t)
        scale = as_balls([margin_scale(game.table.order, game.factors)])[0] * game.table.order
        factors = as_balls(multiplicities(game) * game.weights) / scale
        masses = factors * (constant * as_balls(game.degrees) - _characters(game) @ (heights * _sizes(game)))
        if not all(mass > 0 for mass in masses):
            return None
        loss = -(1 - rho).log() + rho * (constant + as_balls(t) @ heights)
        margins = constant + heights
    weights = t * (penalty / gamma)
    return RegularisedOptimum(game, penalty, loss, loss, weights, _floats(masses), _floats(margins), closed_form=True)


def _heights(game: MarginGame, t: np.ndarray) -> np.ndarray:
    """h_C = log(s_C / t_C) as balls."""
    return np.log(_sizes(game) / as_balls(t))


def _characters(game: MarginGame) -> np.ndarray:
    """Re chi_R(C) as balls, shape (rows, columns)."""
    return as_balls(game.degrees[:, None] - game.defects)


# ---- the convex program


def _solve(game: MarginGame, penalty: fmpq, rows: tuple[int, ...]) -> tuple[Floats, np.ndarray]:
    """Masses and exact feasible class weights that are nearly optimal when only ``rows`` may be used."""
    scale = float(margin_scale(game.table.order, game.factors))
    rate, payoff = float(penalty) / scale, game.payoff()[list(rows)]
    units, probabilities = _interior_point(payoff, column_sizes(game).astype(float), rate)
    masses = np.zeros(len(game.rows))
    masses[list(rows)] = units / scale
    t, limit = _as_rationals(probabilities), _rate(game, penalty)
    while any(kappa > limit for kappa in game.kappas(t)[list(rows)]) or sum(t) > 1:
        t = t * (1 - ROUNDING)
    return masses, t


def _interior_point(payoff: Floats, sizes: Floats, rate: float) -> tuple[Floats, Floats]:
    """The minimiser x >= 0 of log(1 + sum_C s_C exp(-m_C)) + rate sum x, m = x^T payoff, and its p_C.

    A primal-dual interior-point method with slacks z = rate - payoff p >= 0 and x z -> 0, where
    p_C = s_C exp(-m_C) / (1 + sum). No margin moves by more than 1 in a step, because p depends on it exponentially. p
    is scaled down so that payoff p <= rate up to rounding.
    """
    count = len(payoff)
    if count == 0:
        return np.zeros(0), sizes / (1 + sizes.sum())
    x, z = np.full(count, 1.0 / payoff.sum(axis=0).mean()), np.full(count, rate)
    p = _probabilities(payoff, sizes, x)
    for _ in range(1000):
        residual = rate - payoff @ p - z
        products = x * z
        if np.abs(residual).max() <= 1e-13 * rate and products.sum() <= 1e-15 * rate:
            break
        slope = payoff @ p
        curvature = (payoff * p) @ payoff.T - np.outer(slope, slope)
        target = 0.1 * products.mean()
        step = np.linalg.solve(curvature + np.diag(z / x), target / x - z - residual)
        change = (target - products - z * step) / x
        length = min(1.0, 1.0 / max(np.abs(step @ payoff).max(), 1e-300))
        for values, moves in ((x, step), (z, change)):
            down = moves < 0
            if down.any():
                length = min(length, 0.99 * float((-values[down] / moves[down]).min()))
        x, z = x + length * step, z + length * change
        p = _probabilities(payoff, sizes, x)
    return x, p * min(1.0, rate / float((payoff @ p).max()))


def _probabilities(payoff: Floats, sizes: Floats, x: Floats) -> Floats:
    raw = sizes * np.exp(-(x @ payoff))
    return raw / (1 + raw.sum())


def _loss_without(game: MarginGame, penalty: fmpq, row: int) -> arb:
    """A lower bound on the loss F(N) of all masses N with N_row = 0."""
    rows = tuple(other for other in range(len(game.rows)) if other != row)
    _, t = _solve(game, penalty, rows)  # feasible for the other rows, exactly
    return _entropy(t, 1 - sum(t, start=fmpq(0)), column_sizes(game))


# ---- shared


def _entropy(t: np.ndarray, rest: Any, sizes: np.ndarray) -> arb:
    """-rest log(rest) - sum_C t_C log(t_C / s_C) as a ball; 0 log 0 = 0, decided exactly."""
    with precision(BITS):
        pairs = [(rest, 1), *zip(t, sizes, strict=True)]
        terms = [(as_balls([weight])[0], arb(int(size))) for weight, size in pairs if weight != 0]
        return -sum((weight * (weight / size).log() for weight, size in terms), start=arb(0))


def _exact_penalty(penalty: Penalty) -> fmpq:
    if isinstance(penalty, float) and np.isfinite(penalty):
        value: Any = fmpq(*penalty.as_integer_ratio())
    elif isinstance(penalty, int | str | Fraction | fmpq) and not isinstance(penalty, bool):
        try:
            value = exact_number(penalty)
        except ValueError as error:
            raise ValueError(f"The penalty lambda = {penalty!r} is not a number: {error}") from None
    else:
        raise ValueError(f"The penalty lambda must be a positive rational number or a float, not {penalty!r}.")
    if value <= 0:
        raise ValueError(f"The penalty lambda must be positive, but is {float(value):.6g}: the infimum would be 0.")
    return value


def _rate(game: MarginGame, penalty: fmpq) -> Cyclotomic:
    """lambda / sigma exactly: the largest payoff that a representation may have."""
    return penalty / margin_scale(game.table.order, game.factors)


def _uniform(game: MarginGame) -> np.ndarray:
    return np.array([fmpq(int(size), game.table.order) for size in column_sizes(game)], dtype=object)


def _sizes(game: MarginGame) -> np.ndarray:
    return as_balls(column_sizes(game))


def _as_rationals(values: Floats) -> np.ndarray:
    return np.array([fmpq(*float(value).as_integer_ratio()) for value in values], dtype=object)


def _floats(balls: Sequence[arb] | np.ndarray) -> Floats:
    return np.array([float(ball.mid()) for ball in balls])
