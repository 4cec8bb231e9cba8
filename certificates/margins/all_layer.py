"""Certified lower bounds of the all-layer margin of networks whose layers are followed by corrections (theorem D.6).

The all-layer margin rho(theta, x, y) is the distance, in the 2-norm of the parameter space, from theta to the
parameters that do not predict y at x. A network g_0 = f_0(x), g_i = f_i(zeta_0(g_0), ..., zeta_(i-1)(g_(i-1))), F = g_d
has hidden values h_i = g_i at the unperturbed parameters, and `margin_bound` bounds rho from below if, with |||H||| the
largest 2-norm of a part of H,

    ||f_0(x, t) - f_0(x, t')||       <= mu_0 ||t - t'||                               for ||t - t'|| <= sigma_theta,
    ||f_i(H, t) - f_i(H', t')||      <= kappa_theta ||t - t'|| max(|||H|||, 1) + mu |||H - H'|||
                                                    for ||t - t'|| <= sigma_theta and |||H - H'||| <= sigma_h,
    ||zeta_i(h, s) - zeta_i(h, s')|| <= kappa_xi max(||h||, 1) ||s - s'||             for all h, ||s - s'|| <= sigma_xi,
    zeta_i(h', s) = h_i                                                           for ||h' - h_i|| <= sigma_zeta < 1,
    max(||h_i||, 1) <= lambda   and   F = 1 or -1,

t and s being the true parameters and H true hidden values. This is the source's condition with its two inequalities on
f_i joined into one (which hard-max attention satisfies too, while it violates the second alone) and f_0 controlled near
the true parameters only (which suffices, and which two-layer first steps satisfy). Proof, by induction over i: if all
earlier parts of g are within min(lambda, sigma_zeta) of h, then their norms are at most 2 lambda, the corrections with
true parameters return h exactly, so those with perturbed parameters differ from h by at most 2 lambda kappa_xi
||ds||, which is <= sigma_h; then ||g_i - h_i|| <= kappa_theta lambda ||dt|| + 2 lambda mu kappa_xi ||ds|| <= half of
min(lambda, sigma_zeta) twice. At i = d the output has moved by at most sigma_zeta < 1. No depth enters.

Constants of a ReLU layer relu(h W + b), from |h' W' + b' - h W - b| <= ||W'|| ||h' - h|| + sqrt(||h||^2 + 1) ||dt||:
kappa_theta = sqrt 2, mu = ||W|| + sigma_theta, sigma_h infinite, mu_0 = sqrt(m + 1) on m bits. Constants of two ReLU
layers with hidden bits u of norm at most U: mu = (||W_1|| + sigma_theta) (||W_2|| + sigma_theta), kappa_theta =
sqrt(2 ||W_2||^2 + (U + sqrt 2 sigma_theta)^2 + 1). Constant of rounding with slope s, by the same expansion and
relu(z - c) <= |z| for c >= 0: kappa_xi = sqrt(4 s^2 + 2 (1 + sigma_xi)^2 + 1).

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

from constructions.circuits.relu import CircuitNetwork
from numerics.exact.balls import as_balls, ball_max, ball_min, precision
from numerics.exact.numbers import to_float
from numerics.exact.systems import Array

BITS = 128
Real = arb | fmpq | Fraction | int


@dataclass(frozen=True)
class MarginConstants:
    """The constants of theorem D.6 (see the module), as balls or exact numbers; ``sigma_h`` None means infinite.

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
    """The bound (D.5) with the term that decides it.

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
    """Return upper bounds of the operator norms, step by step, the head last."""
    if not network.roundings:
        raise ValueError("Theorem D.6 bounds corrected networks; this one has no corrections.")
    norms = [[operator_norm(layer.weight) for layer in step.layers] for step in network.steps]
    return [*norms, [operator_norm(network.head.weight)]]


def _constants(
    network: CircuitNetwork, norms: list[list[arb]], sigma_theta: Fraction, sigma_xi: Fraction
) -> MarginConstants:
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
    mantissa, exponent = ball.lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _ball(value: Real | None) -> arb:
    with precision(BITS):
        return as_balls([value])[0]
