"""The exact Bayes predictor of two-state chains with uniform transition probabilities and stationary start.

The chain leaves state 1 with probability U and state 2 with probability V, both uniform on (0, 1) and independent, and
x_1 has the stationary law pi = (V, U)/(U + V). Exchanging the symbols, let x_1 = 1. With n_11, n_22 the numbers of
steps that stay and e the number of changes, the sequence has the probability (its evidence)

    Z(n_11, e, n_22) = E[ V/(U+V) (1-U)^n_11 U^ceil(e/2) V^floor(e/2) (1-V)^n_22 ],

and the predictor is the quotient of the evidences of the extended sequence and of the sequence. Two facts give all of
them without cancellation, in time proportional to t^3:
- an evidence is the sum of the evidences of the two extensions, so those of length t follow from those of length t + 1
  by additions of positive numbers (`shorter_evidence`);
- the last layer is a double integral that Gauss-Legendre quadrature gives to full precision (`evidence_layer`): in
  U = rV (and V = rU) the integrand is a polynomial of known degree in both variables, times 1/(1 + r). On [0, 1] the
  function 1/(1 + r) is within 5.8^-d of a polynomial of degree d (Bernstein ellipse through its pole at -1, with
  3 + sqrt(8) > 5.8), and all other factors and weights are positive, so d = 24 leaves a relative error below 1e-17.

Evidences of m steps (length m + 1) are arrays Z[n_11, e] of shape (m+1, m+1) with n_22 = m - n_11 - e; entries with
n_11 + e > m are zero. Source: remark 8.1 of the dissertation, made exact.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.markov.predictors import as_sequences

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LONGEST = 400
"""The largest t; the table of predictions has t^3/6 entries, and evidences of about 2^-t must not underflow."""

_EXTRA_DEGREE = 24


def stationary_bayes(x: ArrayLike) -> FloatArray:
    """The Bayes prediction at every position of sequences over {1, 2} with flat prior and stationary start.

    The first call for a length t builds a table with t^3/6 entries (t = 100: well under a second, t = 400: some
    seconds, 85 MB), which is kept; afterwards every prediction is a look-up.

    Args:
        x: (t,) or (B, t), t <= 400.

    Returns:
        (t, 2) or (B, t, 2): the law of x_{p+1} given x_1, ..., x_p.

    Raises:
        ValueError: if a symbol is not 1 or 2, t = 0, or t > 400.
    """
    sequences = as_sequences(x, 2)
    t = sequences.shape[1]
    _check_steps(t)
    result = _look_up(sequences, *_predictions(t))
    return result[0] if np.ndim(x) == 1 else result


def evidence_layer(steps: int) -> FloatArray:
    """The evidences Z[n_11, e] of all sequences with x_1 = 1 and this many steps, by quadrature.

    Raises:
        ValueError: if steps is not among 0, ..., 400.
    """
    _check_steps(steps)
    # degrees: in the outer variable steps + 1, in r at most steps + 1, times 1/(1 + r)
    outer, outer_weights = _gauss_legendre((steps + 1) // 2 + 1)
    inner, inner_weights = _gauss_legendre((steps + 1 + _EXTRA_DEGREE) // 2 + 1)
    return _quadrature(steps, outer, outer_weights, inner, inner_weights / (1 + inner))


def shorter_evidence(Z: FloatArray) -> FloatArray:
    """The evidences with one step less: each is the sum of those of its two extensions.

    Args:
        Z: (m+1, m+1), as from `evidence_layer(m)`, m >= 1.
    """
    stays, changes = extensions(Z)
    return stays + changes


def predictions_of(Z: FloatArray) -> FloatArray:
    """The predictions P(x_{m+1} = x_m) for all sequences with x_1 = 1 and m - 1 steps, from the evidences with m steps.

    Returns:
        (m, m) indexed by (n_11, e), with n_22 = m - 1 - n_11 - e; entries with n_11 + e > m - 1 are zero.
    """
    stays, changes = extensions(Z)
    possible = _possible(len(stays))
    return np.divide(stays, stays + changes, out=np.zeros_like(stays), where=possible)


def extensions(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The evidences of the extensions by a stay and by a change; the last symbol is 1 exactly if e is even.

    Args:
        Z: (m+1, m+1), as from `evidence_layer(m)`, m >= 1.

    Returns:
        Two arrays of shape (m, m), indexed by (n_11, e) of the sequence with m - 1 steps that is extended.
    """
    m = Z.shape[0] - 1
    odd = np.arange(m) % 2 == 1
    stays = np.where(odd, Z[:m, :m], Z[1:, :m])
    possible = _possible(m)
    return np.where(possible, stays, 0.0), np.where(possible, Z[:m, 1:], 0.0)


def sequence_numbers(steps: int) -> FloatArray:
    """The number of sequences with x_1 = 1 and the counts (n_11, e, n_22), as an array like the evidences.

    There are floor(e/2) + 1 runs of ones, which share n_11 stays, and ceil(e/2) runs of twos.
    """
    # ways[m, r] = C(m + r - 1, m): how r runs share m stays, by Pascal's rule; zero runs take zero stays only
    ways = np.zeros((steps + 1, steps + 2))
    ways[0] = 1.0
    for m in range(1, steps + 1):
        ways[m, 1:] = np.cumsum(ways[m - 1, 1:])
    n11, e = np.indices((steps + 1, steps + 1))
    n22 = np.where(_possible(steps + 1), steps - n11 - e, 0)
    return np.where(_possible(steps + 1), ways[n11, e // 2 + 1] * ways[n22, (e + 1) // 2], 0.0)


def _possible(size: int) -> NDArray[np.bool_]:
    """The places with n_11 + e < size."""
    n11, e = np.indices((size, size))
    return n11 + e < size


def _check_steps(steps: int) -> None:
    if not 0 <= steps <= LONGEST:
        raise ValueError(f"The exact Bayes predictor is tabulated for contexts of at most {LONGEST}, not {steps}.")


def _gauss_legendre(n: int) -> tuple[FloatArray, FloatArray]:
    """The nodes and weights on [0, 1] that are exact for polynomials of degree 2 n - 1."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (1 + nodes) / 2, weights / 2


@lru_cache(maxsize=2)
def _predictions(t: int) -> tuple[FloatArray, IntArray]:
    """The probabilities of a repeated symbol for all counts of at most t - 1 steps; where each number begins."""
    layers: list[FloatArray] = []
    Z = evidence_layer(t)
    for m in range(t, 0, -1):
        layers.append(predictions_of(Z)[_possible(m)])
        Z = shorter_evidence(Z)
    layers.reverse()
    return np.concatenate(layers), np.cumsum([0, *(len(layer) for layer in layers)])[:-1]


@njit(cache=True, nogil=True)
def _look_up(x: IntArray, table: FloatArray, begins: IntArray) -> FloatArray:
    size, t = x.shape
    out = np.empty((size, t, 2))
    for b in range(size):
        first, n11, e = x[b, 0], 0, 0
        for p in range(t):
            if p > 0:
                if x[b, p] != x[b, p - 1]:
                    e += 1
                elif x[b, p] == first:
                    n11 += 1
            # rows n_11 = 0, 1, ... of a triangle with p + 1, p, ... entries
            repeat = table[begins[p] + n11 * (p + 1) - n11 * (n11 - 1) // 2 + e]
            out[b, p, x[b, p] - 1] = repeat
            out[b, p, 2 - x[b, p]] = 1.0 - repeat
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _quadrature(
    steps: int, outer: FloatArray, outer_weights: FloatArray, inner: FloatArray, inner_weights: FloatArray
) -> FloatArray:
    """The two halves U = rV and V = rU of every double integral; sums of positive terms in any order."""
    Z = np.zeros((steps + 1, steps + 1))
    power = np.empty(len(inner))
    for e in range(steps + 1):
        u, v = (e + 1) // 2, e // 2 + 1  # the exponents of U and V, the factor V of the stationary law included
        stays = steps - e
        for i in range(len(outer)):
            large = outer[i]
            weight = outer_weights[i] * large ** (u + v)
            # U = rV: powers of 1 - rV for n_11, closed form (1 - V)^n_22; then the same with the states exchanged
            for j in range(len(inner)):
                power[j] = inner_weights[j] * inner[j] ** float(u)
            for n11 in range(stays + 1):
                total = 0.0
                for j in range(len(inner)):
                    total += power[j]
                    power[j] *= 1.0 - inner[j] * large
                Z[n11, e] += weight * (1.0 - large) ** (stays - n11) * total
            for j in range(len(inner)):
                power[j] = inner_weights[j] * inner[j] ** float(v)
            for n22 in range(stays + 1):
                total = 0.0
                for j in range(len(inner)):
                    total += power[j]
                    power[j] *= 1.0 - inner[j] * large
                Z[stays - n22, e] += weight * (1.0 - large) ** (stays - n22) * total
    return Z
