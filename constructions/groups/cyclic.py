"""Max-margin networks for addition modulo n, for every n >= 2.

A neuron of frequency z with phases (th_u, th_v, th_w) in turns is

    u(a) = cos 2 pi (th_u + z a / n),   v(b) = cos 2 pi (th_v + z b / n),   w(c) = cos 2 pi (th_w + z c / n),

and it is *aligned* if th_u + th_v = th_w modulo 1. Averaged over the phase triples of `phase_triples`, the
neuron's output ``(u(a) + v(b))^2 w(c)`` is ``cos(2 pi z (a + b - c) / n) / 2``: all other terms of the
product cancel. Summing over all frequencies with equal masses makes every wrong label tie.

For even n the frequency n/2 is its own conjugate: its cosines are the signs (-1)^a, of twice the squared norm
and with two phases only. Directions of equal norm are then sqrt(2) cos for the other frequencies, and the
wrong labels tie if the frequency n/2 has mass 1 / (1 + sqrt(2) (n - 2)) and the others share the rest
equally.

Source: feature-emergence, construction-D.6.2 (8 neurons for each frequency), ext-E4 (6, which is the least
possible for odd n), ext-E3 (even n), lemma-D.6.1b (aligned neurons are the optimal ones), claim-D.1 (random
phases).
"""

from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.exact.cyclotomic.numbers import cosine, sqrt_rational

PhaseTriple = tuple[Fraction, Fraction, Fraction]


def phase_triples(per_frequency: int) -> tuple[PhaseTriple, ...]:
    """The phases (th_u, th_v, th_w) of the neurons of one frequency, in turns (1 stands for 2 pi).

    8 gives the four product-to-sum pairs ``(x + y)^2 t - (x - y)^2 t = 4 x y t``, one for each term of cos(a
    + b - c) = ccc - ssc + scs + css; 6 gives the tight set t (1, 4, 5) / 6, t = 0..5; 2 gives the pair for
    the self-conjugate frequency n/2.

    Raises:
        ValueError: for any other number.
    """
    quarters = {
        2: ((0, 0, 0), (0, 2, 2)),
        8: (
            *((0, 0, 0), (0, 2, 2)),  # x = cos a,  y = cos b,  t = cos c
            *((1, -1, 0), (1, 1, 2)),  # x = -sin a, y = sin b,  t = cos c
            *((-1, 0, -1), (-1, 2, 1)),  # x = sin a,  y = cos b,  t = sin c
            *((0, -1, -1), (0, 1, 1)),  # x = cos a,  y = sin b,  t = sin c
        ),
    }
    if per_frequency == 6:
        return tuple((Fraction(t, 6), Fraction(4 * t, 6), Fraction(5 * t, 6)) for t in range(6))
    if per_frequency not in quarters:
        raise ValueError(f"There are phase triples for 2, 6 or 8 neurons, not for {per_frequency}.")
    return tuple((Fraction(u, 4), Fraction(v, 4), Fraction(w, 4)) for u, v, w in quarters[per_frequency])


def frequency_shares(n: int, exact: bool = False) -> list[Any]:
    """The mass of each frequency z = 1..floor(n/2) in a max-margin network of total mass 1.

    Odd n: 2/(n - 1) each. Even n: 1/(1 + sqrt(2) (n - 2)) for z = n/2 and 2 sqrt(2)/(1 + sqrt(2) (n - 2))
    otherwise. Floats, or with ``exact`` fmpq (odd n) and Cyclotomic (even n).

    Raises:
        ValueError: if n < 2.
    """
    _check_modulus(n)
    if n % 2:
        return [fmpq(2, n - 1) if exact else 2 / (n - 1)] * (n // 2)
    root = sqrt_rational(2) if exact else np.sqrt(2.0)
    total = 1 + root * (n - 2)
    return [2 * root / total] * (n // 2 - 1) + [1 / total]


def modular_addition_network(n: int, per_frequency: int = 8, exact: bool = False) -> HomogeneousNetwork:
    """The max-margin network for (a, b) -> a + b modulo n, of total mass 1, on (onehot(a), onehot(b)).

    Odd n: ``per_frequency * (n - 1) / 2`` neurons with cosines of amplitude 1, squared norm 3n/2, equal
    masses; `raw` is 1/2 at the correct label and -1/(2(n - 1)) at every other. Even n: ``per_frequency * (n -
    2) / 2 + 2`` neurons with entries sqrt(2) cos and, for the frequency n/2, +-1, squared norm 3n; `raw` is
    2(n - 1)/M and -2/M for M = 1 + sqrt(2) (n - 2).

    Args:
        n: the modulus, n >= 2.
        per_frequency: 8 (as printed) or 6 (tight) neurons for each frequency other than n/2.
        exact: Cyclotomic directions (in the field of the (4n)-th or (6n)-th roots of unity) instead of float64.

    Raises:
        ValueError: if n < 2, or per_frequency is neither 8 nor 6.
    """
    _check_modulus(n)
    if per_frequency not in (6, 8):
        raise ValueError(f"per_frequency must be 8 (as printed) or 6 (tight), not {per_frequency}.")
    directions, masses = [], []
    for z, share in enumerate(frequency_shares(n, exact), start=1):
        triples = phase_triples(2 if 2 * z == n else per_frequency)
        directions += [_direction(n, z, phases, exact) for phases in triples]
        masses += [share / len(triples)] * len(triples)
    array = np.array(directions, dtype=object if exact else np.float64)
    r = fmpq(3 * n, 2) if n % 2 else fmpq(3 * n)
    return HomogeneousNetwork(
        array[:, : 2 * n], array[:, 2 * n :], np.array(masses, dtype=array.dtype), 2, r if exact else float(r)
    )


def random_phase_network(n: int, width: int, rng: np.random.Generator) -> HomogeneousNetwork:
    """A network of aligned neurons with random frequencies, phases and masses (total 1), in float64.

    Each neuron has a frequency drawn with the probabilities `frequency_shares`, uniform phases th_u and th_v
    (0 or 1/2 for the frequency n/2) and th_w = th_u + th_v; the masses are uniform on the simplex. Every
    neuron is optimal and the expected network is max-margin, but a network of finite width is so only by
    accident.

    Raises:
        ValueError: if n < 2 or width < 1.
    """
    _check_modulus(n)
    if width < 1:
        raise ValueError(f"The width must be >= 1, not {width}.")
    z = rng.choice(np.arange(1, n // 2 + 1), size=width, p=frequency_shares(n))
    self_conjugate = 2 * z == n
    phases = rng.uniform(size=(width, 2))
    phases[self_conjugate] = np.round(phases[self_conjugate]) / 2
    phases = np.concatenate([phases, phases.sum(axis=1, keepdims=True)], axis=1)
    turns = phases[:, :, None] + (z[:, None] * np.arange(n) % n / n)[:, None, :]
    directions = np.cos(2 * np.pi * turns).reshape(width, 3 * n)
    directions *= np.sqrt(3 * n / np.sum(directions**2, axis=1, keepdims=True))
    masses = rng.dirichlet(np.ones(width))
    return HomogeneousNetwork(directions[:, : 2 * n], directions[:, 2 * n :], masses, 2, 3.0 * n)


def _direction(n: int, z: int, phases: PhaseTriple, exact: bool) -> NDArray[Any]:
    """The 3n entries (u, v, w) of an aligned neuron: cosines, times sqrt(2) if n is even and z is not n/2."""
    N = 12 * n  # phases are multiples of 1/12 turn, so that all angles are integers in units of 1/N turn
    steps = np.concatenate([(int(N * phase) + 12 * z * np.arange(n)) % N for phase in phases])
    scaled = n % 2 == 0 and 2 * z != n
    if exact:
        amplitude = sqrt_rational(2) if scaled else 1
        return np.array([amplitude * cosine(int(step), N) for step in steps], dtype=object)
    values = _float_cosines(steps, N)
    return np.sqrt(2.0) * values if scaled else values


def _float_cosines(steps: NDArray[np.int64], N: int) -> NDArray[np.float64]:
    """The cosines cos(2 pi steps / N) to about one unit in the last place, for 0 <= steps < N and N a multiple of 4.

    Angles are reduced to at most an eighth of a turn in integers, because the rounding of an angle grows with it.
    """
    quarter = N // 4
    folded = np.minimum(steps, N - steps)  # cosine is even
    sign = np.where(folded > quarter, -1.0, 1.0)
    folded = np.minimum(folded, 2 * quarter - folded)  # cos(1/2 turn - t) = -cos t
    as_cosine = np.cos(2 * np.pi * (folded / N))
    as_sine = np.sin(2 * np.pi * ((quarter - folded) / N))
    return sign * np.where(2 * folded <= quarter, as_cosine, as_sine)


def _check_modulus(n: int) -> None:
    if n < 2:
        raise ValueError(f"The modulus n must be an integer >= 2, not {n}.")
