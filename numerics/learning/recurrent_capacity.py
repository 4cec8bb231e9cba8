"""How much recurrent networks with deep transitions can fit: covering numbers, Rademacher bounds, truncation; explicit.

A network with L affine maps and ReLUs between them has all norms ||W_l||_F, ||b_l|| <= R, and inputs of norm <= r. Its
layers have norms M_0 = r, M_l = R (M_(l-1) + 1), and a change of the parameters moves the output by at most

    sum_l R^(L-l) (M_(l-1) ||dW_l|| + ||db_l||)  <=  Lambda ||d theta||,
    Lambda^2 = sum_(l<L) R^(2(L-l)) (M_(l-1)^2 + 1) + M_(L-1)^2.

The p parameters lie in a ball of radius sqrt(2L-1) R, in which at most (1 + 2 sqrt(2L-1) R Lambda/eps)^p points have
distances above eps/Lambda: the logarithm of this number bounds that of a cover by members of the class.

A state h_(i+1) = P(h_i + f(h_i, z_i)), with f alpha-Lipschitz in h, moves by ((1 + alpha)^(j-1) - 1)/alpha times the
largest change of f until position j, which is at most (e - 1) N for alpha <= 1/N. A read-out with the constant C then
gives the three covers of `recurrent_log_cover`, of radii eps/2 and twice eps/(4 e C N).

Losses (f - y)^2 cut at tau >= 1 are 2 sqrt(tau)-Lipschitz in f. One cover of radius a gives the empirical Rademacher
complexity a + tau sqrt(2 ln N(a/(2 sqrt(tau)))/n), here at a = 1/sqrt(n).

Source: qstr, lemma-29 to lemma-34; proved in proofs/recurrent-capacity.md there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from flint import arb, fmpq

from lemmata.numerics.exact.balls import checked_bound
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import rational_root
from lemmata.numerics.learning.generalisation import Exact

__all__ = [
    "RecurrentClass",
    "class_log_cover",
    "deviation_of_truncated_losses",
    "drift",
    "empirical_minimiser_bound",
    "fourth_moment",
    "layer_bounds",
    "log_cover",
    "parameter_slope_squared",
    "recurrent_log_cover",
    "scaled_slope",
    "truncated_rademacher_bound",
    "truncation_level",
]


@dataclass(frozen=True)
class RecurrentClass:
    """Two-directional networks with ||vec Theta|| <= R and transitions 1/N-Lipschitz in the state.

    Attributes:
        transition_parameters, readout_parameters: the numbers of parameters of one transition, and of the read-out.
        transition_depth, readout_depth: L_h and L_y.
        radius: R, a bound of all parameters and of the encoded tokens; exact and at least 1.
        states: r_h, the radius of the ball that keeps the states; exact and positive, None if there is none.

    Raises:
        ValueError: for numbers out of range.
    """

    transition_parameters: int
    readout_parameters: int
    transition_depth: int
    readout_depth: int
    radius: Exact
    states: Exact | None = None

    def __post_init__(self) -> None:
        for name in ("transition_parameters", "readout_parameters", "transition_depth", "readout_depth"):
            checked_integer(f"The number {name}", getattr(self, name), 1)
        object.__setattr__(self, "radius", _at_least(self.radius, 1, "The radius R"))
        if self.states is not None:
            object.__setattr__(self, "states", _at_least(self.states, 0, "The radius r_h"))

    @property
    def parameters(self) -> int:
        """p, of both transitions and the read-out."""
        return 2 * self.transition_parameters + self.readout_parameters

    def state_bound(self, length: int) -> fmpq:
        """The lesser of r_h and (7/4) N R M_(L_h - 1), since updates f(0, z) have a norm of at most R M_(L_h - 1)."""
        R = as_exact([self.radius])[0]
        free = fmpq(7, 4) * length * R * layer_bounds(self.transition_depth, R, R)[-1]  # e - 1 < 7/4
        return free if self.states is None else min(free, as_exact([self.states])[0])


def layer_bounds(depth: int, radius: Exact, inputs: Exact) -> list[fmpq]:
    """M_0, ..., M_(L-1): bounds of the input and of the hidden layers of a network.

    Args:
        depth: L.
        radius: R >= 0, a bound of the Frobenius norms of all weights and of the norms of all biases.
        inputs: r >= 0, a bound of the norms of inputs.

    Raises:
        ValueError: for numbers out of range.
    """
    R, result = _at_least(radius, 0, "The radius R"), [_at_least(inputs, 0, "The bound of the inputs")]
    for _ in range(checked_integer("The depth", depth, 1) - 1):
        result.append(R * (result[-1] + 1))
    return result


def parameter_slope_squared(depth: int, radius: Exact, inputs: Exact) -> fmpq:
    """Lambda^2, the square of the Lipschitz constant of the output in the parameters; arguments as `layer_bounds`."""
    bounds = layer_bounds(depth, radius, inputs)
    R = as_exact([radius])[0]
    hidden = (R ** (2 * (depth - l)) * (M * M + 1) for l, M in enumerate(bounds[:-1], start=1))
    return sum(hidden, bounds[-1] ** 2)


def log_cover(parameters: int, depth: int, radius: Exact, inputs: Exact, error: object) -> arb:
    """p ln(1 + 2 sqrt(2L-1) R Lambda/eps), a bound of the logarithm of the covering number of networks.

    Args:
        parameters: p.
        depth, radius, inputs: as for `layer_bounds`.
        error: eps > 0, a number or a ball.

    Raises:
        ValueError: for numbers out of range.
    """
    p, eps = checked_integer("The number of parameters", parameters, 1), _positive("The radius of a cover", error)
    square = parameter_slope_squared(depth, radius, inputs) * (2 * depth - 1) * as_exact([radius])[0] ** 2
    exact = rational_root(square)
    return p * (1 + 2 * (arb(square).sqrt() if exact is None else arb(exact)) / eps).log()


def scaled_slope(depth: int, radius: Exact, inputs: Exact, reach: Exact) -> fmpq:
    """Lambda', how far a transition moves per unit of its scaled parameters, for states h with alpha |h| <= reach.

    ReLUs are homogeneous, so that the norms of W_2, ..., W_L may be moved into the first layer and the biases: then
    ||W_l|| <= 1 for l >= 2, the part of W_1 that acts on h has at most the norm alpha, the other R^L, b_l R^(L-l+1).
    Distances of parameters are the largest of these operator norms over their bounds. Layers have norms m_1 = reach +
    R^L r + R^L, m_l = m_(l-1) + R^(L-l+1), and Lambda' = m_1 + ... + m_(L-1) + m_(L-1); for L = 1 it is reach + R r.

    Args:
        depth: L.
        radius: R >= 1, as in `layer_bounds`.
        inputs: r >= 0, a bound of the encoded tokens.
        reach: a bound of alpha |h|.

    Raises:
        ValueError: for numbers out of range.
    """
    R, r = _at_least(radius, 1, "The radius R"), _at_least(inputs, 0, "The bound of the inputs")
    L, total = checked_integer("The depth", depth, 1), fmpq(0)
    norm = _at_least(reach, 0, "The reach of the states") + R**L * r
    for l in range(1, L):
        norm += R ** (L - l + 1)
        total += norm
    return total + norm


def drift(length: int, slope: Exact) -> fmpq:
    """((1 + alpha)^(N-1) - 1)/alpha: how far the last state moves if every update moves by 1; N - 1 at alpha = 0.

    Args:
        length: N, at most 10,000.
        slope: alpha >= 0.

    Raises:
        ValueError: for numbers out of range.
    """
    steps, alpha = checked_integer("The number of tokens", length, 1) - 1, _at_least(slope, 0, "The slope alpha")
    if steps >= 10**4:
        raise ValueError(f"The drift over {length} tokens has too many digits: take at most 10,000 tokens.")
    return fmpq(steps) if alpha == 0 else ((1 + alpha) ** steps - 1) / alpha


def recurrent_log_cover(
    length: int,
    error: object,
    lipschitz: object,
    readout: Callable[[arb], arb],
    forward: Callable[[arb], arb],
    backward: Callable[[arb], arb],
) -> arb:
    """ln N_y(eps/2) + ln N_fw(eps/(4 e C N)) + ln N_bw(eps/(4 e C N)), which bounds that of the recurrent networks.

    Args:
        length: N; transitions are 1/N-Lipschitz in the state.
        error: eps > 0.
        lipschitz: C > 0, the product of the operator norms of the read-out.
        readout, forward, backward: the logarithms of the covering numbers of the three parts, as functions of a radius.

    Raises:
        ValueError: for numbers out of range.
    """
    N, eps = checked_integer("The number of tokens", length, 1), _positive("The radius of a cover", error)
    C = _positive("The Lipschitz constant of the read-out", lipschitz)
    small = eps / (4 * arb(1).exp() * C * N)
    return readout(eps / 2) + forward(small) + backward(small)


def class_log_cover(networks: RecurrentClass, length: int, error: object) -> arb:
    """The logarithm of the covering number of a class: p ln(1 + poly(R) N/eps), every constant explicit.

    With r_h its polynomial contains r_h. Without it states of size at most 2 N poly(R) are reached, but transitions
    hardly depend on them, so that scaled layers (`scaled_slope`) keep N from entering twice.

    Args:
        networks: the class.
        length: N.
        error: eps > 0.
    """
    R, H = as_exact([networks.radius])[0], networks.state_bound(length)

    def transition(eps: arb) -> arb:
        if networks.states is None:
            slope = scaled_slope(networks.transition_depth, R, R, H / length)
            return networks.transition_parameters * (1 + 2 * arb(slope) / eps).log()
        return log_cover(networks.transition_parameters, networks.transition_depth, R, H + R, eps)

    def readout(eps: arb) -> arb:
        return log_cover(networks.readout_parameters, networks.readout_depth, R, 2 * H + R, eps)

    return recurrent_log_cover(length, error, arb(R**networks.readout_depth), readout, transition, transition)


def truncated_rademacher_bound(log_covers: Callable[[arb], arb], truncation: object, samples: int) -> arb:
    """1/sqrt(n) + tau sqrt(2 ln N(1/(2 sqrt(tau n)))/n), for the losses (f - y)^2 cut at tau.

    Args:
        log_covers: the logarithm of the covering number of the functions on the sample, as a function of the radius.
        truncation: tau >= 1.
        samples: n.

    Raises:
        ValueError: for numbers out of range.
    """
    n, tau = checked_integer("The sample size", samples, 1), _positive("The truncation tau", truncation)
    if not tau >= 1:
        raise ValueError(f"The truncation tau must be at least 1, not {truncation}.")
    a = 1 / arb(n).sqrt()
    return a + tau * (2 * log_covers(a / (2 * tau.sqrt())) / n).sqrt()


def deviation_of_truncated_losses(rademacher: arb, truncation: object, samples: int, length: int, delta: object) -> arb:
    """2 Rad + tau sqrt(ln(1/delta)/(2n)) + tau N^(-1/2) n^(-3/2), for risks of losses in [0, tau].

    Some function exceeds it with a probability of at most delta + (nN)^(-1/2), where Rad bounds the complexity on
    samples whose tokens all are bounded, which one prompt misses with a probability of at most N (nN)^(-3/2).

    Args:
        rademacher: Rad.
        truncation: tau > 0.
        samples: n.
        length: N.
        delta: in (0, 1).

    Raises:
        ValueError: for numbers out of range.
    """
    n, N = checked_integer("The sample size", samples, 1), checked_integer("The number of tokens", length, 1)
    tau, failure = _positive("The truncation tau", truncation), _positive("The probability delta", delta)
    if not failure < 1:
        raise ValueError(f"The probability of failure delta must lie in (0, 1), not {delta}.")
    return 2 * rademacher + tau * (-failure.log() / (2 * n)).sqrt() + tau / (arb(N).sqrt() * n * arb(n).sqrt())


def empirical_minimiser_bound(
    networks: RecurrentClass, approximation: object, samples: int, length: int, delta: object, truncation: arb
) -> arb:
    """e + (deviation of truncated losses) + 1/sqrt(n): the risk of every empirical minimiser over a class.

    It is exceeded with a probability of at most delta + (nN)^(-1/2), for nN >= 2.

    Args:
        networks: the class, R^2 >= 3 C_x e d ln(nN) + q + 1 and R >= r_h.
        approximation: e, the squared error of some network of the class on tokens of norm at most r_x.
        samples, length, delta: as for `deviation_of_truncated_losses`.
        truncation: tau of `truncation_level`.

    Raises:
        ValueError: for numbers out of range.
    """
    n, error = checked_integer("The sample size", samples, 1), _at_least(as_exact([approximation])[0], 0, "The error e")
    rad = truncated_rademacher_bound(lambda r: class_log_cover(networks, length, r), truncation, n)
    return arb(error) + deviation_of_truncated_losses(rad, truncation, n, length, delta) + 1 / arb(n).sqrt()


def fourth_moment(radius: Exact, depth: int, label_constant: Exact = 1, label_power: int = 1) -> fmpq:
    """D = 64 R^(4L) ((3R + L)^4 + R^4) + 8 C_y^2 4^(2s), which bounds E (yhat - y)^4.

    Args:
        radius: R >= 1, as in `RecurrentClass`, with R^2 >= 3 C_x e d ln(nN) + q + 1 and nN >= 2.
        depth: L, of the read-out.
        label_constant: C_y > 0.
        label_power: s >= 1, an integer here.

    Raises:
        ValueError: for numbers out of range.
    """
    R, L = _at_least(radius, 1, "The radius R"), checked_integer("The depth", depth, 1)
    C, s = _at_least(label_constant, 0, "The constant C_y"), checked_integer("The power s", label_power, 1)
    return 64 * R ** (4 * L) * ((3 * R + L) ** 4 + R**4) + 8 * C**2 * fmpq(4) ** (2 * s)


def truncation_level(radius: Exact, depth: int, samples: int, label_constant: Exact = 1, label_power: int = 1) -> arb:
    """tau = 4 max(R^(2L) (3R + L + R sqrt(v))^2, e^2 C_y v^s), v = ln(2 n D): cutting losses there costs 1/sqrt(n).

    Args:
        radius, depth, label_constant, label_power: as for `fourth_moment`.
        samples: n.

    Raises:
        ValueError: for numbers out of range.
    """
    D, n = fourth_moment(radius, depth, label_constant, label_power), checked_integer("The sample size", samples, 1)
    R, C = as_exact([radius, label_constant]).tolist()
    level = arb(2 * n * D).log()
    of_network = arb(R ** (2 * depth)) * (arb(3 * R + depth) + arb(R) * level.sqrt()) ** 2
    of_label = arb(2).exp() * arb(C) * level**label_power
    return 4 * of_network.max(of_label)


def _at_least(value: Exact, least: int, what: str) -> fmpq:
    number = as_exact([value])[0]
    if not isinstance(number, fmpq) or number < least:
        raise ValueError(f"{what} must be a rational number >= {least}, not {value}.")
    return number


_positive = partial(checked_bound, positive=True)
