"""What the comparator W# computes on many inputs at once, and its mean if the rows of the network were fresh.

f_j(W#) is a sum over the units k. Lemma 5.2 replaces the indicators and values of H at the network's own rows by their
mean over fresh ones; then, for a part (i -> j, s) of the target and the inputs x,

    f_(j', s')(W#) ~ sum over the parts and 2 <= i' <= j' of  b(i', j')  <h_(i'-1), hz_(i-1)>  E(i'),

    b(i', j') = <e_s'^T Back_(i' -> j'), e_s^T Backz_(i -> j)> / (m C_(i -> j, s)),
    E(i') = E[1{|<w, hz_(i-1)>| <= eps_c/sqrt m} 1{<w, h_(i'-1)> + <a, x_i'> >= 0} H(a)],

with states and matrices of the network at hand: attenuation and cross terms included, nothing is neglected but the
dependence between rows and states. The expectation is one integral over the window, here by Gauss-Legendre quadrature;
`lemmata.constructions.recurrent.comparator.conditional_mean` encloses it.

Source: rnn-sgd, lemma-5.2, definition-5.3 and lemma-5.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, ndtr

from lemmata.constructions.recurrent.comparator import Comparator
from lemmata.constructions.recurrent.concepts import input_sequences, null_sequence
from lemmata.constructions.recurrent.elman import ElmanNetwork, back, trace
from lemmata.constructions.recurrent.indicator import IndicatorFunction, hermite, sign_slope

__all__ = ["BatchTrace", "batch_back", "batch_trace", "conditional_means", "fresh_changes", "own_changes"]

Floats = NDArray[np.float64]
NODES = 40
"""The integrand is analytic, with a scale of T/c against a window below that: 40 nodes leave rounding errors."""


@dataclass(frozen=True, eq=False)
class BatchTrace:
    """States h_0, ..., h_L, shape (n, L + 1, m), and patterns D_1, ..., D_L, shape (n, L, m), for n sequences."""

    states: Floats
    active: NDArray[np.bool_]


def batch_trace(network: ElmanNetwork, tokens: Floats) -> BatchTrace:
    """States and patterns of a network in floating point on n sequences, shape (n, L, d_x + 1).

    Raises:
        ValueError: for an exact network, or tokens of another shape.
    """
    x = np.asarray(tokens)
    if network.state.dtype != np.float64 or x.ndim != 3 or x.shape[2] != network.token.shape[1]:
        raise ValueError(
            f"Many sequences are traced in float64, with the shape (n, L, {network.token.shape[1]}), not {x.shape} by "
            f"a network of {network.state.dtype}."
        )
    states = np.zeros((len(x), x.shape[1] + 1, network.width))
    active = np.empty((len(x), x.shape[1], network.width), dtype=bool)
    for l in range(x.shape[1]):
        g = states[:, l] @ network.state.T + x[:, l] @ network.token.T
        active[:, l] = g >= 0
        states[:, l + 1] = np.maximum(g, 0)
    return BatchTrace(states, active)


def batch_back(network: ElmanNetwork, run: BatchTrace, start: int, end: int) -> list[Floats]:
    """Back_(start -> end), ..., Back_(end -> end), each of shape (n, d, m).

    Raises:
        ValueError: unless 1 <= start <= end <= L.
    """
    if not 1 <= start <= end <= run.active.shape[1]:
        raise ValueError(f"Back goes from l to a with 1 <= l <= a <= {run.active.shape[1]}, not from {start} to {end}.")
    result = [np.broadcast_to(network.readout, (len(run.active), *network.readout.shape))]
    for place in range(end, start, -1):
        result.append((result[-1] * run.active[:, place - 1, None]) @ network.state)
    return result[::-1]


def own_changes(found: Comparator, network: ElmanNetwork, run: BatchTrace) -> Floats:
    """f_1(W#), ..., f_L(W#) for n inputs, shape (n, L, d), as `Comparator.change` for one."""
    delta, result = np.zeros((len(run.states), network.width)), []
    for l in range(run.active.shape[1]):
        moved = (run.states[:, l] @ found.states.T) @ found.vectors
        delta = (delta @ network.state.T + moved) * run.active[:, l]
        result.append(delta @ network.readout.T)
    return np.stack(result, axis=1)


def fresh_changes(network: ElmanNetwork, found: Comparator, inputs: Floats, epsilon: float, window: float) -> Floats:
    """The mean of f_1(W#), ..., f_L(W#) if every row were fresh, shape (n, L, d); see the docstring of this module.

    Args:
        network: W, A, B.
        found: the comparator of this network, with the same eps_x and eps_c.
        inputs: x*_2, ..., x*_(L-1) for n inputs, shape (n, L - 2, d_x).
        epsilon: eps_x.
        window: eps_c.
    """
    run = batch_trace(network, input_sequences(inputs, epsilon))
    null = trace(network, null_sequence(inputs.shape[1] + 2, inputs.shape[2], float(epsilon)))
    length, m = run.active.shape[1], network.width
    result = np.zeros((len(inputs), length, len(network.readout)))
    parts = []
    for weight in found.weights:
        part = weight.part
        row = back(network, null, part.source, part.target)[part.output] / (m * weight.normaliser)
        hz, values = null.states[part.source - 1], []
        for place in range(2, length):
            h = run.states[:, place - 1]
            t = inputs[:, place - 2] @ part.direction.astype(float)
            values.append((h @ hz) * conditional_means(weight.function, hz, h, epsilon, t, window))
        parts.append((row, values))
    for end in range(2, length + 1):
        matrices = batch_back(network, run, 2, end)
        for row, values in parts:
            for place in range(2, min(end, length - 1) + 1):
                result[:, end - 1] += (matrices[place - 2] @ row) * values[place - 2][:, None]
    return result


def conditional_means(
    function: IndicatorFunction, null_state: Floats, states: Floats, epsilon: float, alignments: Floats, window: float
) -> Floats:
    """`lemmata.constructions.recurrent.comparator.conditional_mean` in floating point for n states at once, shape (n,).

    Of a clipped H it is the mean before clipping, which is off by at most `clipping_error`.

    Args:
        function: H_Phi; with the partner "sign" no term may have the degree 0.
        null_state: hz_(i-1), shape (m,).
        states: h_(i'-1) of n inputs, shape (n, m).
        epsilon: eps_x.
        alignments: t = <w*, x*_(i')>, shape (n,).
        window: eps_c.

    Raises:
        ValueError: for a term of degree 0 with the partner "sign", or shapes that do not fit.
    """
    if function.partner == "sign" and any(term.degree == 0 for term in function.terms):
        raise ValueError("The conditional mean takes no term of degree 0 (`far`) with the partner 'sign'.")
    if np.shape(states) != (len(alignments), len(null_state)):
        raise ValueError(
            f"For {len(alignments)} alignments there are as many states of width {len(null_state)}, not {states.shape}."
        )
    norm = float(np.linalg.norm(null_state))
    c = states @ null_state / norm
    total = np.sqrt(np.maximum((states**2).sum(axis=1) - c * c, 0) + epsilon**2)
    half = window / (math.sqrt(2) * norm)
    points, weights = np.polynomial.legendre.leggauss(NODES)
    u = half * points
    y = -(c / total)[:, None] * u
    density = np.exp(-y * y / 2) / math.sqrt(2 * math.pi)
    value = float(function.constant.p) / float(function.constant.q) * ndtr(-y)
    rho_beta = epsilon / (2 * total)
    slope = (rho_beta / np.sqrt(1 - rho_beta**2))[:, None]
    error, bell = erf(slope * y / math.sqrt(2)), np.exp(-((slope * y) ** 2) / 2) * math.sqrt(2 / math.pi)
    for term, factor in zip(function.terms, function.weights(), strict=True):
        rho = (epsilon * alignments / total) ** term.degree
        if term.paired and function.partner == "sign":
            moved = -sign_slope(term.degree - 1, y, slope, density, error, bell)
        else:
            rho = rho * (rho_beta if term.paired else 1)
            moved = hermite(term.degree + int(term.paired) - 1, y) * density
        value = value + float(factor) * rho[:, None] * moved
    gaussian = half * weights * np.exp(-u * u / 2) / math.sqrt(2 * math.pi)
    return value @ gaussian / math.erf(half / math.sqrt(2))
