"""The comparator W#: a matrix of rank L - 2 on which the linearised network computes a given target function.

With the null sequence's states hz, patterns and matrices Backz, the row k of W# is

    sum_i sum_(j, r, s) [e_s^T Backz_(i -> j)]_k / (m C_(i -> j, s)) 1{|<w_k, hz_(i-1)>| <= eps_c/sqrt m} H(a_k)
    times hz_(i-1)^T,
    C_(i -> j, s) = |e_s^T Backz_(i -> j)|^2 |hz_(i-1)|^2 / m,

where w_k, a_k are the rows of W and A. H(a) = H_Phi(sqrt(m/2) a)/p with the bounded function H_Phi of lemma 5.1
(`lemmata.constructions.recurrent.indicator.bounded_indicator`) for the accuracy eps_e and the noise level
sigma_i^2 = 2 (i - 2) that the earlier inputs bring, and the probability p = erf(eps_c/(2 |hz_(i-1)|)) of the window. So
W# = sum_i v_i hz_(i-1)^T, and only the v_i and hz_(i-1) are stored. Its norm obeys

    |W#|_F <= sum over the parts of sup|H| / sqrt(m C_(i -> j, s)),

since |Backz| |hz| = sqrt(m C): a bound without any constant left open, that falls like 1/sqrt(m).

Window and noise levels are free parameters: the literal choice of the document (eps_c = eps_e eps_x/(4 C')) needs a
width of more than 10^1000 to have an effect.

Source: rnn-sgd, definition-5.3, lemma-5.2 and claim-G.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import acb, arb, fmpq
from numpy.typing import NDArray

from lemmata.constructions.recurrent.concepts import Part, TargetFunction, null_sequence
from lemmata.constructions.recurrent.elman import ElmanNetwork, Trace, back, trace
from lemmata.constructions.recurrent.indicator import (
    IndicatorFunction,
    bounded_indicator,
    clipping_error,
    hermite,
    sign_slope,
)
from lemmata.numerics.exact.rationals import RationalLike

__all__ = ["Comparator", "PartWeight", "comparator", "conditional_mean", "window_probability"]

Floats = NDArray[np.float64]
ACCURACY = fmpq(1, 2 * 10**6)
"""eps_e, below 1/(S C_s(Phi, S)) for z and z^2 at S = sqrt 7 (L = 5), with the constant 10^4 of the complexities."""


@dataclass(frozen=True, eq=False)
class PartWeight:
    """What one part of the target contributes to W#.

    Attributes:
        part: the part.
        function: H_Phi for the noise level of its token, bounded.
        normaliser: C_(i -> j, s).
        supremum: an upper bound of |H|, that of H_Phi over the probability of the window.
        largest: the largest |H(a_k)| over the rows k within the window, 0 if there is none.
    """

    part: Part
    function: IndicatorFunction
    normaliser: float
    supremum: float
    largest: float


@dataclass(frozen=True, eq=False)
class Comparator:
    """W# = sum_i v_i hz_(i-1)^T in floating point.

    Attributes:
        vectors: v_2, ..., v_(L-1), shape (L - 2, m).
        states: hz_1, ..., hz_(L-2), shape (L - 2, m).
        weights: what the parts contribute.
    """

    vectors: Floats
    states: Floats
    weights: tuple[PartWeight, ...]

    def dense(self) -> Floats:
        """The matrix, shape (m, m)."""
        return self.vectors.T @ self.states

    def frobenius_norm(self) -> float:
        """|W#|_F, from the Gram matrices of the v_i and of the states."""
        return math.sqrt(max(float(((self.vectors @ self.vectors.T) * (self.states @ self.states.T)).sum()), 0.0))

    def norm_bound(self) -> float:
        """The bound of claim G.1 with its constants: sum of sup|H| / sqrt(m C_(i -> j, s)) over the parts."""
        m = self.vectors.shape[1]
        return sum(weight.supremum / math.sqrt(m * weight.normaliser) for weight in self.weights)

    def change(self, network: ElmanNetwork, run: Trace) -> Floats:
        """f_1(W#), ..., f_L(W#), shape (L, d): as `linear_change`, in time O(L m^2) without the matrix."""
        delta = np.zeros(network.width)
        result = []
        for active, state in zip(run.active, run.states[:-1], strict=True):
            delta = (network.state @ delta + (self.states @ state) @ self.vectors) * active
            result.append(network.readout @ delta)
        return np.array(result)


def window_probability(window: float, norm: float) -> float:
    """P[|<w, h>| <= eps_c/sqrt m] = erf(eps_c/(2 |h|)) for w with m normal entries of variance 2/m.

    Raises:
        ValueError: for a window or a norm that is not positive.
    """
    if not window > 0 or not norm > 0:
        raise ValueError(f"A window has a positive width and a state with a positive norm, not {window} and {norm}.")
    return math.erf(window / (2 * norm))


def comparator(
    network: ElmanNetwork, target: TargetFunction, epsilon: float, window: float, accuracy: RationalLike = ACCURACY
) -> Comparator:
    """W# for a network in floating point and a target function.

    Args:
        network: W, A, B as at initialisation.
        target: the target function; its length L and outputs d are those of the network's task.
        epsilon: eps_x in (0, 1), the scale of the inputs, for the null sequence.
        window: eps_c > 0; for an effect eps_c << eps_x << 1 and m eps_c >> 1.
        accuracy: eps_e in (0, 1), exact, at which H is clipped: lemma 5.1 asks for eps_e <= 1/(S C_s(Phi, S)).

    Raises:
        ValueError: for an exact network, widths that do not fit, and as `null_sequence`, `window_probability` and
            `bounded_indicator`.
    """
    width = network.token.shape[1] - 1
    if (
        network.state.dtype != np.float64
        or len(target.parts[0].direction) != width
        or target.outputs > len(network.readout)
    ):
        raise ValueError(
            f"The comparator takes a network in float64 with inputs of width {len(target.parts[0].direction)} and at "
            f"least {target.outputs} outputs, not {network.state.dtype}, {width} and {len(network.readout)}."
        )
    m = network.width
    null = trace(network, null_sequence(target.length, width, float(epsilon)))
    vectors, weights = np.zeros((target.length - 2, m)), []
    scaled = math.sqrt(m / 2) * network.token[:, :-1]
    for part in target.parts:
        state = null.states[part.source - 1]
        backward = back(network, null, part.source, part.target)[part.output]
        normaliser = float((backward @ backward) * (state @ state)) / m
        function = bounded_indicator(part.coefficients, fmpq(2 * (part.source - 2)), accuracy)
        values = np.zeros(m)
        inside = np.abs(network.state @ state) <= window / math.sqrt(m)
        rows = scaled[inside]
        values[inside] = function(rows @ part.direction.astype(float), rows[:, -1])
        probability = window_probability(window, float(np.linalg.norm(state)))
        values /= probability
        vectors[part.source - 2] += backward * values / (m * normaliser)
        supremum = math.nextafter(float(function.supremum().abs_upper()) / probability, math.inf)
        weights.append(PartWeight(part, function, normaliser, supremum, float(np.abs(values).max())))
    return Comparator(vectors, null.states[1 : target.length - 1].copy(), tuple(weights))


def conditional_mean(
    function: IndicatorFunction, null_state: Floats, state: Floats, epsilon: float, alignment: float, window: float
) -> arb:
    """E[1{|<w, hz>| <= eps_c/sqrt m} 1{<w, h> + <a, x> >= 0} H(a)] over fresh w, a, enclosed for the given states.

    This is the quantity of lemma 5.2. In units of standard deviations let u be the component of w along hz. Then
    <w, h> is c u, c = <h, hz>/|hz|, plus a normal number of variance q = |h|^2 - c^2. Given u, integrating by parts in
    alpha, and for the partner "linear" in beta, leaves derivatives of the normal distribution function at c u/T,
    T^2 = q + eps_x^2, or `sign_slope`; one integral over the window remains, and balls enclose it. What is clipped
    widens them by `clipping_error`: alpha and beta are independent of u.

    Args:
        function: H_Phi, clipped or not; with the partner "sign" no term may have the degree 0.
        null_state: hz_(i-1), not 0.
        state: h_(i'-1).
        epsilon: eps_x.
        alignment: t = <w*, x*_(i')>, in [-sqrt(3)/2, sqrt(3)/2].
        window: eps_c.

    Raises:
        ValueError: for a term of degree 0 with the partner "sign", a null state of 0, or numbers out of range.
    """
    if function.partner == "sign" and any(term.degree == 0 for term in function.terms):
        raise ValueError("The conditional mean takes no term of degree 0 (`far`) with the partner 'sign'.")
    if not abs(alignment) <= math.sqrt(0.75) or not 0 < epsilon < 1:
        raise ValueError(f"Needed are |t| <= sqrt(3)/2 and 0 < eps_x < 1, not {alignment} and {epsilon}.")
    null_norm = arb(float(null_state @ null_state)).sqrt()
    c = arb(float(state @ null_state)) / null_norm
    rest = arb(float(state @ state)) - c * c
    total = (rest.max(arb(0)) + arb(epsilon) ** 2).sqrt()
    half = arb(window) / (arb(2).sqrt() * null_norm)
    rho_alpha, rho_beta = arb(epsilon) * arb(alignment) / total, arb(epsilon) / (2 * total)
    slope = rho_beta / (1 - rho_beta**2).sqrt()

    def integrand(u: acb, _: bool) -> acb:
        y = -c / total * u  # the indicator is {G >= y} for a standard normal G, given u
        tail = (y / arb(2).sqrt()).erfc() / 2
        density = (-y * y / 2).exp() / (2 * arb.pi()).sqrt()
        value = arb(function.constant) * tail
        for term, weight in zip(function.terms, weights, strict=True):
            factor = weight * rho_alpha**term.degree
            if term.paired and function.partner == "sign":
                error, bell = (slope * y / arb(2).sqrt()).erf(), (-((slope * y) ** 2) / 2).exp() * (2 / arb.pi()).sqrt()
                value -= factor * sign_slope(term.degree - 1, y, slope, density, error, bell)  # degree is even
            else:
                order = term.degree + int(term.paired)
                factor *= rho_beta if term.paired else 1
                value += factor * hermite(order - 1, y) * density  # pyright: ignore[reportArgumentType]
        return value * (-u * u / 2).exp() / (2 * arb.pi()).sqrt()

    weights = function.weights()
    inside = acb.integral(integrand, -half, half).real
    mean = inside / (half / arb(2).sqrt()).erf()
    return mean if function.levels is None else mean + arb(0, clipping_error(function).abs_upper())
