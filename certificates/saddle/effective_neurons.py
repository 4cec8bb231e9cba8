"""The neurons of a one-layer transformer that adds modulo n, beside those that the theory of maximum margins describes.

*What the theory says* (theorem 7.7, ext-E3): of all networks sum_i (u_i(a) + v_i(b))^2 w_i(c) with the norm L_{2,3},
those of maximum margin have neurons of one frequency each, u, v, w = cos(2 pi (phase + z x/n)), with phase_u + phase_v
= phase_w, and equal masses on all frequencies, so that the logits are sum_z A cos(2 pi z (a + b - c)/n).

*What is read.* A transformer is no such network. Its tables on all n^2 pairs are split without remainder:

    z_i(a, b) = m_i + u_i(a) + v_i(b) + r_i(a, b)       the additive part nearest in the mean square, and the rest
    relu(z_i(a, b))                                     its energy by frequencies of a + b, of a - b, of one of both
    L(a, b)[c] = waves of a + b - c, and the rest       but for the mean over c, which no margin sees

A unit that is positive on all pairs is no ReLU there but a linear map, and counts as a part of the straight path; one
that never is does nothing. The others *switch*, and give the *effective neurons* (m_i, u_i, v_i, w_i), with w_i the
effect of a unit on the logits, without its mean. They are the network itself where r = 0 and the straight path is
constant in c; how far it is from that is a part of the answer: the cells on which they are right, with the straight
path and without.

*Masses.* relu(m + u(a) + v(b)) w(c) does not change if (m, u, v) is multiplied by t > 0 and w divided by it. The least
squared norm, with m shared equally by u and v, is 2 sqrt(|u|^2 + |v|^2 + n m^2/2) |w|: its sum is the norm in which the
effective neurons have a normalised margin. The mass of a neuron is |(u, v)| |w|, and a frequency has in it the mean of
its shares of |(u, v)|^2 and of |w|^2.

*Phases.* The alignment is the mean of cos 2 pi (phase_u + phase_v - phase_w) at the strongest frequency of each neuron,
weighted by mass: 1 where the theory's condition holds. The condition is not foreign to a ReLU: with independent X, Y of
mean 0, E f(m + X + Y) X Y >= 0 for every convex f, since h(y) = E f(m + y + X) X grows (h'(y) is the covariance of X
and f'(m + y + X), which grows in X), and E h(Y) Y is a covariance of that kind again. So the cosines of x and y have a
product of weight >= 0, as it is positive for (X + Y)^2.

*Contributions.* Exactly, not for effective neurons alone: A_j = sum_i A_ij and that of the straight path, where A_ij is
the coefficient of cos(2 pi j (a + b - c)/n) in relu(z_i(a, b)) w_i(c).

*Evenness.* g(d) = sum_j A_j cos(2 pi j d/n) has the sum 0 over all d, so that g(0) - max g <= n/(n - 1) sum_j A_j, with
equality if and only if all wrong labels tie: the A_j are equal then (half for j = n/2), as in the maximum. The quotient
of both sides is a number without units, for the logits that a network has, whatever its norm.

*What the theory does not say*: see `SILENCE`. All numbers are float64 without bounds of rounding errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.pair_transformer import PairTables
from lemmata.numerics.fourier.cyclic import folded_power
from lemmata.numerics.fourier.pairs import AnswerWaves, additive_part, answer_waves, line_energies

__all__ = ["SILENCE", "AdditionReading", "EffectiveNeurons", "effective_neurons", "read_addition"]

Floats = NDArray[np.float64]

SILENT, SWITCHING, LINEAR = 0, 1, 2
SILENCE = (
    "The theory has no theorem for this network: its maximum is certified for squares (u_i(a) + v_i(b))^2 in the norm "
    "L_{2,3} alone, not for ReLUs, biases, attention weights that depend on a and b, a straight path, or weight decay. "
    "So there is no maximum and no deficit here, and a network that differs from the optimum breaks no theorem."
)


@dataclass(frozen=True, eq=False)
class EffectiveNeurons:
    """Neurons relu(m_i + u_i(a) + v_i(b)) w_i(c) of the units that switch; see the module.

    Attributes:
        constants: m, shape (k,).
        u: shape (n, k), of mean 0.
        v: shape (n, k), of mean 0.
        w: shape (n, k), of mean 0.
    """

    constants: Floats
    u: Floats
    v: Floats
    w: Floats

    @property
    def masses(self) -> Floats:
        """|(u_i, v_i)| |w_i|, shape (k,)."""
        return np.sqrt((self.u**2).sum(axis=0) + (self.v**2).sum(axis=0)) * np.sqrt((self.w**2).sum(axis=0))

    @property
    def norm(self) -> float:
        """sum_i 2 sqrt(|u_i|^2 + |v_i|^2 + n m_i^2/2) |w_i|, the least squared norm of the same function."""
        inner = (self.u**2).sum(axis=0) + (self.v**2).sum(axis=0) + len(self.u) * self.constants**2 / 2
        return float((2 * np.sqrt(inner) * np.sqrt((self.w**2).sum(axis=0))).sum())

    def shares(self) -> Floats:
        """The share of the frequencies 1, ..., floor(n/2) in each neuron, shape (k, floor(n/2)); 0 without a mass."""
        inner = _energies(self.u) + _energies(self.v)
        outer = _energies(self.w)
        both = [part / np.where((s := part.sum(axis=1, keepdims=True)) > 0, s, 1) for part in (inner, outer)]
        return (both[0] + both[1]) / 2 * (self.masses > 0)[:, None]

    def frequencies(self) -> NDArray[np.int64]:
        """The strongest frequency of each neuron, shape (k,)."""
        return self.shares().argmax(axis=1) + 1

    def phases(self) -> Floats:
        """phase_u, phase_v and phase_w at the strongest frequency, in turns, shape (3, k)."""
        at = self.frequencies()
        columns = np.arange(len(at))
        return np.array([np.angle(np.fft.rfft(part, axis=0)[at, columns]) for part in (self.u, self.v, self.w)]) / (
            2 * np.pi
        )

    def errors(self) -> Floats:
        """phase_u + phase_v - phase_w in turns, in [-1/2, 1/2), shape (k,)."""
        u, v, w = self.phases()
        return (u + v - w + 0.5) % 1 - 0.5

    def logits(self) -> Floats:
        """sum_i relu(m_i + u_i(a) + v_i(b)) w_i(c), shape (n, n, n)."""
        return np.maximum(self.constants + self.u[:, None] + self.v[None], 0) @ self.w.T


@dataclass(frozen=True, eq=False)
class AdditionReading:
    """What the tables of a network for addition modulo n are made of; see the module.

    Attributes:
        modulus: n.
        silent: how many units are 0 on all pairs.
        linear: how many are positive on all pairs.
        neurons: of the others.
        margins: L(a, b)[a + b] minus the largest other logit, shape (n, n).
        additive_share: of u_i(a) + v_i(b) in the energy of pre-activations of units that switch, weighted by |w_i|^2.
        lines: the shares of the energy of their activations, weighted alike, in functions of a + b, of a - b, of one of
            both, and others, as in `lemmata.numerics.fourier.pairs.LineEnergies`.
        waves: of the logits.
        contributions: A_ij, shape (k, floor(n/2)), see the module.
        straight_share: the energy of the straight path, with the linear units, over that of the logits, both without
            their mean over c.
        additive_right: the share of the cells that are right with additive pre-activations and the straight path.
        neurons_right: likewise, of the effective neurons alone.
        neurons_margin: the least margin of the effective neurons over their norm; 0 without a norm.
        alignment: see the module; NaN without a mass.
        purity: the share of the strongest frequency of a neuron, averaged by mass; NaN without a mass.
    """

    modulus: int
    silent: int
    linear: int
    neurons: EffectiveNeurons
    margins: Floats
    additive_share: float
    lines: tuple[float, ...]
    waves: AnswerWaves
    contributions: Floats
    straight_share: float
    additive_right: float
    neurons_right: float
    neurons_margin: float

    @property
    def right(self) -> float:
        """The share of the cells with a positive margin."""
        return float((self.margins > 0).mean())

    @property
    def explained(self) -> float:
        """The share of the logits, without their mean over c, in cosines of a + b - c, the form of the theory."""
        return float(self.waves.cosine_shares.sum())

    def masses(self) -> Floats:
        """The share of the frequencies 1, ..., floor(n/2) in the mass of the neurons; NaN without a mass."""
        return _mean(self.neurons.shares(), self.neurons.masses)

    @property
    def purity(self) -> float:
        """The share of the strongest frequency of a neuron, averaged by mass; NaN without a mass."""
        return float(_mean(self.neurons.shares().max(axis=1), self.neurons.masses))

    @property
    def alignment(self) -> float:
        """The mean of cos 2 pi (phase_u + phase_v - phase_w) by mass; NaN without a mass."""
        return float(_mean(np.cos(2 * np.pi * self.neurons.errors()), self.neurons.masses))

    def alignments(self) -> Floats:
        """The same for the neurons of each frequency 1, ..., floor(n/2); NaN where no neuron has it."""
        at, cosines, masses = self.neurons.frequencies(), np.cos(2 * np.pi * self.neurons.errors()), self.neurons.masses
        return np.array([_mean(cosines[at == j], masses[at == j]) for j in range(1, self.modulus // 2 + 1)])

    def counts(self) -> NDArray[np.int64]:
        """How many neurons have each strongest frequency 1, ..., floor(n/2)."""
        return np.bincount(self.neurons.frequencies(), minlength=self.modulus // 2 + 1)[1:]

    def carried(self) -> Floats:
        """The share of A_j that the neurons with the strongest frequency j contribute, (floor(n/2),); NaN of 0."""
        at, A = self.neurons.frequencies(), self.waves.cosines
        own = np.array([self.contributions[at == j + 1, j].sum() for j in range(len(A))])
        return np.divide(own, A, out=np.full_like(A, np.nan), where=A != 0)

    @property
    def evenness(self) -> float:
        """(g(0) - max g) over n/(n - 1) sum_j |A_j|, at most 1; see the module. 0 without cosines."""
        g = self.waves.cosine_values(self.modulus)
        most = self.modulus / (self.modulus - 1) * float(np.abs(self.waves.cosines).sum())
        return float((g[0] - g[1:].max()) / most) if most > 0 else 0.0


def effective_neurons(tables: PairTables) -> EffectiveNeurons:
    """The effective neurons of tables; see the module."""
    switch = np.flatnonzero(_kinds(tables) == SWITCHING)
    part = additive_part(tables.preactivations)
    w = (tables.directions - tables.directions.mean(axis=1, keepdims=True)).T
    return EffectiveNeurons(part.mean[switch], part.u[:, switch], part.v[:, switch], w[:, switch])


def read_addition(tables: PairTables) -> AdditionReading:
    """What the tables of a network for (a, b) -> a + b modulo n are made of.

    Args:
        tables: of the network, in whose numbering the right label is a + b.

    Raises:
        ValueError: for logits that do not depend on the label, and n = 2, where there is one wrong label alone.
    """
    n = len(tables.preactivations)
    if n < 3:
        raise ValueError("Frequencies are read for addition modulo n >= 3.")
    logits, kinds = tables.logits, _kinds(tables)
    waves = answer_waves(logits)
    switch = np.flatnonzero(kinds == SWITCHING)
    straight = logits - tables.activations[..., switch] @ tables.directions[switch]
    part = additive_part(tables.preactivations[..., switch])
    lines = line_energies(tables.activations[..., switch])
    neurons = effective_neurons(tables)
    weights = (neurons.w**2).sum(axis=0)
    additive = np.maximum(part.table(), 0) @ tables.directions[switch] + straight
    alone = _margins(neurons.logits())
    return AdditionReading(
        n,
        int((kinds == SILENT).sum()),
        int((kinds == LINEAR).sum()),
        neurons,
        _margins(logits),
        _shares([part.energy, part.rest], weights)[0],
        _shares([lines.total, lines.difference, lines.single, lines.others], weights),
        waves,
        _contributions(tables.activations[..., switch], neurons.w),
        float((_centred(straight) ** 2).sum() / (_centred(logits) ** 2).sum()),
        float((_margins(additive) > 0).mean()),
        float((alone > 0).mean()),
        float(alone.min() / neurons.norm) if neurons.norm > 0 else 0.0,
    )


def _kinds(tables: PairTables) -> NDArray[np.int64]:
    """Whether each unit is SILENT, SWITCHING or LINEAR, shape (m,)."""
    positive = tables.preactivations > 0
    return np.asarray(positive.any(axis=(0, 1)), np.int64) + np.asarray(positive.all(axis=(0, 1)), np.int64)


def _contributions(activations: Floats, w: Floats) -> Floats:
    """A_ij of activations (n, n, k) and directions (n, k), shape (k, floor(n/2))."""
    n = len(w)
    j = np.arange(1, n // 2 + 1)
    sums = np.fft.fft2(activations, axes=(0, 1))[j, j] / n**2
    products = (sums * np.fft.fft(w, axis=0)[j].conj() / n).real
    return (products * np.where(2 * j == n, 1.0, 2.0)[:, None]).T


def _shares(parts: list[Floats], weights: Floats) -> tuple[float, ...]:
    """The shares of parts of energies, shape (k,) each, weighted; NaN without an energy."""
    found = [float(part @ weights) for part in parts]
    return tuple(one / sum(found) if sum(found) > 0 else float("nan") for one in found)


def _margins(logits: Floats) -> Floats:
    """The logit of a + b minus the largest other one, shape (n, n)."""
    n = len(logits)
    a, b = np.ogrid[:n, :n]
    others = logits.copy()
    others[a, b, (a + b) % n] = -np.inf
    return logits[a, b, (a + b) % n] - others.max(axis=2)


def _centred(logits: Floats) -> Floats:
    return logits - logits.mean(axis=2, keepdims=True)


def _energies(part: Floats) -> Floats:
    """The squared norm of each vector at the frequencies 1, ..., floor(n/2), shape (k, floor(n/2))."""
    squares = (part**2).sum(axis=0)
    kept = squares > 0
    result = np.zeros((part.shape[1], len(part) // 2))
    if kept.any():
        result[kept] = folded_power(part.T[kept])[:, 1:] * squares[kept, None]
    return result


def _mean(values: Floats, weights: Floats) -> Floats:
    """The mean along the first axis; NaN where all weights are zero."""
    total = weights.sum()
    return weights @ values / total if total > 0 else np.full(values.shape[1:], np.nan)
