"""Certified lower bounds of the all-layer margin of networks whose layers are followed by corrections (theorem D.6).

The all-layer margin rho(theta, x, y) is the distance, in the 2-norm of the parameter space, from theta to the
parameters that do not predict y at x. A network g_0 = f_0(x), g_i = f_i(zeta_0(g_0), ..., zeta_(i-1)(g_(i-1))), F = g_d
has hidden values h_i = g_i at the unperturbed parameters. If the steps f_i move by at most kappa_theta ||dt||
max(|||H|||, 1) + mu |||dH|||, the corrections zeta_i by at most kappa_xi max(||h||, 1) ||ds|| and map everything within
sigma_zeta < 1 of h_i to h_i, and max(||h_i||, 1) <= lambda, then `margin_bound` bounds rho from below. No depth enters.

Hypotheses, proof, and the constants of ReLU layers and roundings are in ALL_LAYER_MARGIN.md beside this file. The
source asks for two inequalities on f_i; their joint form above is what its proof needs and what hard attention
satisfies.

Source: turing, theorem-D.6, definition-D.2, condition-D.3, condition-D.4, lemma-D.7 to lemma-D.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, fmpq
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lemmata.constructions.circuits.relu import CircuitNetwork
from lemmata.numerics.exact.balls import as_balls, ball_max, ball_min, precision
from lemmata.numerics.exact.numbers import exact_midpoint, to_float
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.exact.systems import Array

__all__ = [
    "BITS",
    "MarginBound",
    "MarginConstants",
    "circuit_constants",
    "circuit_margin_bound",
    "lower_end",
    "margin_bound",
    "operator_norm",
]

BITS = 128
"""The precision of the balls."""
Real = arb | fmpq | Fraction | int


@dataclass(frozen=True)
class MarginConstants:
    """The constants of theorem D.6 (ALL_LAYER_MARGIN.md, section 2), balls or exact; ``sigma_h`` None means infinite.

    Upper bounds serve for mu_0, mu, kappa_theta, kappa_xi and lambda (``lam``), lower bounds for the radii sigma.

    Raises:
        ValueError: if one is not certainly positive, lambda is below 1, or sigma_zeta is not certainly below 1.
    """

    mu_0: Real
    mu: Real
    kappa_theta: Real
    kappa_xi: Real
    lam: Real
    sigma_theta: Real
    sigma_xi: Real
    sigma_zeta: Real
    sigma_h: Real | None = None

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is None and name == "sigma_h":
                continue
            ball = _ball(value)
            if not ball > 0:
                raise ValueError(f"The constant {name} = {value} of theorem D.6 must be positive.")
            object.__setattr__(self, name, ball)
        if _ball(self.lam) < 1:
            raise ValueError(f"Condition D.4 bounds max(||h||, 1) by lambda, so it is at least 1, not {self.lam}.")
        if not _ball(self.sigma_zeta) < 1:
            raise ValueError(f"Theorem D.6 needs a correction radius below 1, not sigma_zeta = {self.sigma_zeta}.")


@dataclass(frozen=True)
class MarginBound:
    """A certified lower bound of an all-layer margin.

    Attributes:
        value: the bound, an exact rational not above the smallest term.
        binding: the name of the smallest term (by midpoints).
        terms: all terms of the minimum, as balls.
        constants: the constants that they come from.
    """

    value: Fraction
    binding: str
    terms: Mapping[str, arb] = field(repr=False)
    constants: MarginConstants = field(repr=False)


def margin_bound(constants: MarginConstants, extra: Mapping[str, Real] | None = None) -> MarginBound:
    """The bound (D.5), ALL_LAYER_MARGIN.md, section 3, with the term that decides it.

    Args:
        constants: of the network.
        extra: further terms, by name, for parameters that belong to no f_i and no zeta_i.
    """
    with precision(BITS):
        c = {name: _ball(value) for name, value in vars(constants).items() if value is not None}
        radius, lam = c["sigma_zeta"], c["lam"]
        terms = {
            "lambda/mu_0": lam / c["mu_0"],
            "sigma_zeta/mu_0": radius / c["mu_0"],
            "sigma_theta": c["sigma_theta"],
            "sigma_xi": c["sigma_xi"],
            "1/(2 kappa_theta)": 1 / (2 * c["kappa_theta"]),
            "sigma_zeta/(2 kappa_theta lambda)": radius / (2 * c["kappa_theta"] * lam),
            "sigma_zeta/(4 lambda mu kappa_xi)": radius / (4 * lam * c["mu"] * c["kappa_xi"]),
            "1/(4 mu kappa_xi)": 1 / (4 * c["mu"] * c["kappa_xi"]),
        }
        if "sigma_h" in c:
            terms["sigma_h/(2 kappa_xi lambda)"] = c["sigma_h"] / (2 * c["kappa_xi"] * lam)
        terms |= {name: _ball(value) for name, value in (extra or {}).items()}
        smallest = ball_min(terms.values())
    binding = min(terms, key=lambda name: float(terms[name].mid()))
    return MarginBound(lower_end(smallest), binding, terms, constants)


def circuit_constants(network: CircuitNetwork, sigma_theta: Fraction, sigma_xi: Fraction) -> MarginConstants:
    """The constants of a corrected circuit network for chosen radii, computed from its weights.

    Raises:
        ValueError: for a network without corrections, to which theorem D.6 does not apply.
    """
    return _constants(network, _norms(network), sigma_theta, sigma_xi)


def _norms(network: CircuitNetwork) -> list[list[arb]]:
    """Upper bounds of the operator norms, step by step, the head last."""
    if not network.roundings:
        raise ValueError("Theorem D.6 bounds corrected networks; this one has no corrections.")
    norms = [[operator_norm(layer.weight) for layer in step.layers] for step in network.steps]
    return [*norms, [operator_norm(network.head.weight)]]


def _constants(
    network: CircuitNetwork, norms: list[list[arb]], sigma_theta: Fraction, sigma_xi: Fraction
) -> MarginConstants:
    """The constants of ALL_LAYER_MARGIN.md, section 5, from the operator norms of all layers."""
    m = network.circuit.inputs
    with precision(BITS):
        s_theta, s_xi = _ball(sigma_theta), _ball(sigma_xi)
        lam = arb(max(map(len, network.circuit.layers))).sqrt()
        slope = _ball(1 / (network.thresholds[1] - network.thresholds[0]))
        head = norms[-1][0] + s_theta
        root = arb(2).sqrt()
        if network.corrections == "steps":
            mu_0, kappa_theta = arb(m + 1).sqrt(), root
            mu = ball_max([head, *(first + s_theta for (first,) in norms[1:-1])])
        else:
            outer = ball_max(second for _, second in norms[:-1])
            kappa_theta = (2 * outer**2 + (lam + root * s_theta) ** 2 + 1).sqrt()
            mu_0 = ((m + 1) * outer**2 + (lam + arb(m + 1).sqrt() * s_theta) ** 2 + 1).sqrt()
            mu = ball_max([head, *((first + s_theta) * (second + s_theta) for first, second in norms[1:-1])])
        kappa_xi = (4 * slope**2 + 2 * (1 + s_xi) ** 2 + 1).sqrt()
    return MarginConstants(mu_0, mu, kappa_theta, kappa_xi, lam, sigma_theta, sigma_xi, network.radius)


def circuit_margin_bound(network: CircuitNetwork) -> MarginBound:
    """The best bound over the radii sigma_theta = sigma_xi = 1, 1/2, 1/4, ..., 2^-20, valid on all inputs alike.

    Small radii give smaller Lipschitz constants, but bound the margin themselves.

    Raises:
        ValueError: for a network without corrections.
    """
    radii = [Fraction(1, 2**k) for k in range(21)]
    norms = _norms(network)
    return max((margin_bound(_constants(network, norms, r, r)) for r in radii), key=lambda bound: bound.value)


def operator_norm(weight: Array) -> arb:
    """An upper bound of the largest singular value of an exact matrix, tight to a few parts in 10^9.

    The matrix splits into blocks that share no row and no column. For a block W and a float estimate c of ||W||^2
    rounded up, all pivots of c I - W^T W positive prove ||W||^2 < c; where they do not, sqrt(||W||_1 ||W||_inf) serves.
    """
    floats = to_float(weight)
    rows, columns = floats.shape
    occupied = csr_array(floats != 0)
    i, j = occupied.nonzero()
    graph = csr_array((np.ones(len(i)), (i, rows + j)), shape=(rows + columns, rows + columns))
    _, label = connected_components(graph, directed=False)
    bounds, seen = [arb(0)], set()
    with precision(BITS):
        for component in np.unique(label[i]):
            block = weight[np.ix_(np.flatnonzero(label[:rows] == component), np.flatnonzero(label[rows:] == component))]
            key = (block.shape, tuple(str(x) for x in block.ravel()))
            if key not in seen:
                seen.add(key)
                bounds.append(_block_norm(block))
        return ball_max(bounds)


def _block_norm(block: Array) -> arb:
    """The bound of `operator_norm` for one block."""
    balls = as_balls(block)
    balls = balls if balls.shape[0] >= balls.shape[1] else balls.T
    estimate = _ball(Fraction(float(np.linalg.norm(to_float(block), 2)))) ** 2
    bound = estimate * (1 + arb(2) ** -30)
    shifted = -(balls.T @ balls)
    shifted[np.diag_indices(len(shifted))] += bound
    if _positive_definite(shifted):
        return bound.sqrt()
    magnitudes = abs(balls)
    return (ball_max(magnitudes.sum(axis=0)) * ball_max(magnitudes.sum(axis=1))).sqrt()


def _positive_definite(matrix: Array) -> bool:
    """Whether elimination proves a symmetric matrix of balls positive definite."""
    rows = matrix.copy()
    for k in range(len(rows)):
        if not rows[k, k] > 0:
            return False
        for i in range(k + 1, len(rows)):
            if not rows[i, k].is_zero():
                rows[i, k:] = rows[i, k:] - rows[i, k] / rows[k, k] * rows[k, k:]
    return True


def lower_end(ball: arb) -> Fraction:
    """The lower end of a ball, rounded down, as an exact fraction."""
    return as_fraction(exact_midpoint(ball.lower()))


def _ball(value: Real | None) -> arb:
    with precision(BITS):
        return as_balls([value])[0]
