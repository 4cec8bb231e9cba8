"""The bounded function H of lemma 5.1 for z and z^2, in closed form: an oracle that shares no code with the library.

With S^2 = 1 + 2 (i - 2) and the level B = sqrt 8 (sqrt k + sqrt log(1/eps_e)) of the power k, for |alpha| <= B

    c z:    c S sqrt(2 pi) alpha,
    c z^2:  -c pi S^2 sqrt(4 S^2 - 1) (alpha^2 - 1) sign(beta),

and 0 beyond. Sources: rnn-sgd, lemma-5.1, lemma-5.2 and definition-5.3; `proofs/indicator.md`, steps 2 to 4.
"""

from __future__ import annotations

import math

import numpy as np

from lemmata.constructions.recurrent.concepts import Part

__all__ = ["bounded_function", "bounded_supremum", "of_part", "part_function"]


def bounded_function(
    power: int, coefficient: float, variance: float, alpha: np.ndarray, beta: np.ndarray, accuracy: float = 5e-7
) -> np.ndarray:
    """H for coefficient * z^power, power 1 or 2, and the noise of this variance."""
    S = math.sqrt(1 + variance)
    inside = np.abs(alpha) <= _level(power, accuracy)
    if power == 1:
        return coefficient * S * math.sqrt(2 * math.pi) * alpha * inside
    return -coefficient * math.pi * S**2 * math.sqrt(4 * S**2 - 1) * (alpha**2 - 1) * np.sign(beta) * inside


def bounded_supremum(power: int, coefficient: float, variance: float, accuracy: float = 5e-7) -> float:
    """The bound of |H| that `proofs/indicator.md` sums up: at the level, with alpha^2 + 1 for alpha^2 - 1."""
    S, level = math.sqrt(1 + variance), _level(power, accuracy)
    if power == 1:
        return abs(coefficient) * S * math.sqrt(2 * math.pi) * level
    return abs(coefficient) * math.pi * S**2 * math.sqrt(4 * S**2 - 1) * (level**2 + 1)


def of_part(part: Part) -> tuple[int, float, float]:
    """The power, the coefficient and the variance 2 (i - 2) of the noise, of a part with one power."""
    power = len(part.coefficients) - 1
    last = part.coefficients[power]
    return power, float(last.p) / float(last.q), 2.0 * (part.source - 2)


def part_function(part: Part, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """H of a part with the powers z and z^2: the sum of theirs."""
    parts = [(k, float(c.p) / float(c.q)) for k, c in enumerate(part.coefficients) if c != 0]
    return sum((bounded_function(k, c, 2.0 * (part.source - 2), alpha, beta) for k, c in parts), 0 * alpha)


def _level(power: int, accuracy: float) -> float:
    return math.sqrt(8) * (math.sqrt(power) + math.sqrt(-math.log(accuracy)))
