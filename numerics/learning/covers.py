"""Explicit covers of the ball ||theta||_1 <= alpha in R^p, and the Rademacher complexity that they bound.

Maurey: theta is an average, with weights, of the vectors 0 and +-alpha e_j. The mean of k independent picks has
expected squared distance (alpha ||theta||_1 - ||theta||_2^2)/k <= alpha^2/k from theta, so some mean of k such vectors
is within alpha/sqrt(k): at most (2 p + 1)^k means cover the ball. `sparse_average` finds one greedily: each pick
minimises the distance that is left, which is no worse than the average over the picks.

Chaining: losses in [0, 1] that are (1/gamma)-Lipschitz in theta have covers N_j of radius 2^-j in the supremum norm,
with ln N_j <= ceil(4^j alpha^2/gamma^2) ln(2 p + 1), and one element where 2^-j >= min(1, alpha/gamma). Write a loss as
the last approximation plus the differences of consecutive ones, which have supremum at most 2^-j + 2^(1-j) and take at
most N_j N_(j-1) values. A finite set of vectors of norm <= r in R^n has E max (1/n) <xi, v> <= (r/n) sqrt(2 ln size).
Hence, for every J,

    Rad <= 2^-J + sum_(j=1)^J 3 2^-j sqrt(2 (ln N_j + ln N_(j-1))/n).

At J = ceil(log2 n) this is at most 4/n + 12 sqrt(2) (alpha/gamma) sqrt(ln(2 p + 1)/n) ln n for n >= 2.

Source: turing, proof of lemma 2.3 in appendix A.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.balls import ball_min, decided_less_equal
from lemmata.numerics.exact.integers import smallest_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.generalisation import LARGEST_ENUMERATION, Exact, Table, erm_bound


def ramp_loss(margin: Exact | None, gamma: Exact) -> fmpq:
    """clip(1 - rho/gamma, 0, 1) at the all-layer margin rho, the surrogate loss of lemma 2.3; exact.

    Args:
        margin: rho >= 0, or a lower bound of it; None where no parameter is wrong (infinite).
        gamma: the margin at which the loss is 0, positive.

    Source: turing, definition-ramp-loss.

    Raises:
        ValueError: if rho < 0 or gamma <= 0.
    """
    width = _positive([gamma])[0]
    if margin is None:
        return fmpq(0)
    rho = as_exact([margin])[0]
    if rho < 0:
        raise ValueError(f"An all-layer margin is a distance and not negative, not {margin}.")
    return max(1 - rho / width, fmpq(0))


def maurey_cover(p: int, k: int, alpha: Exact = 1) -> NDArray[np.object_]:
    """All different means of k vectors among 0 and +-alpha e_j, exact, shape (points, p).

    Every theta with ||theta||_1 <= alpha is within alpha/sqrt(k) of one of them.

    Raises:
        ValueError: if p, k < 1, alpha <= 0, or there are more than `LARGEST_ENUMERATION` multisets of k vectors.
    """
    size = _positive([alpha])[0]
    if p < 1 or k < 1 or math.comb(2 * p + k, k) > LARGEST_ENUMERATION:
        raise ValueError(f"A cover needs p, k >= 1 and at most {LARGEST_ENUMERATION:,} means, not p = {p} and k = {k}.")
    signs = [(0, 0)] + [(j, sign) for j in range(p) for sign in (1, -1)]
    means = set()
    for picks in combinations_with_replacement(signs, k):
        counts = [0] * p
        for j, sign in picks:
            counts[j] += sign
        means.add(tuple(counts))
    return np.array(sorted(means), dtype=object) * (size / k)


def sparse_average(theta: Table, k: int, alpha: Exact = 1) -> NDArray[np.object_]:
    """A mean of k vectors among 0 and +-alpha e_j within alpha/sqrt(k) of theta, exact, shape (p,).

    Greedy: the next vector minimises the distance of the sum of t vectors from t theta, whose square then grows by at
    most alpha ||theta||_1 - ||theta||^2, the average over the vectors with the weights that represent theta.

    Raises:
        ValueError: if theta is no vector of exact numbers with ||theta||_1 <= alpha, or k < 1.
    """
    target, size = as_exact(theta), _positive([alpha])[0]
    if target.ndim != 1 or not target.size or sum(abs(x) for x in target) > size or k < 1:
        raise ValueError(f"theta must be a non-empty vector with ||theta||_1 <= {alpha}, and k >= 1, not k = {k}.")
    rest = target * 0  # (sum of the picks) - t theta
    picks = target * 0
    for _ in range(k):
        rest = rest - target
        # |rest + v|^2 - |rest|^2 is 0 for v = 0, and alpha^2 - 2 alpha |rest_j| for the better of +-alpha e_j
        j = max(range(len(rest)), key=lambda i: abs(rest[i]))
        if 2 * abs(rest[j]) > size:
            step = -size if rest[j] > 0 else size
            rest[j] += step
            picks[j] += step
    return picks / k


def log_cover_size(scale: int, alpha: Exact, gamma: Exact, p: int) -> arb:
    """The bound ln N_j for covers of radius 2^-j, j = ``scale``, of losses in [0, 1] (1/gamma)-Lipschitz in theta.

    Raises:
        ValueError: if alpha or gamma is not positive, scale < 0 or p < 1.
    """
    ratio = _ratio_squared(alpha, gamma, p) * fmpq(4) ** scale
    if scale < 0:
        raise ValueError(f"The scale must be >= 0, not {scale}.")
    if scale == 0 or ratio <= 1:
        return arb(0)
    return int(ratio.ceil()) * arb(2 * p + 1).log()


def chaining_bound(n: int, alpha: Exact, gamma: Exact, p: int) -> arb:
    """A bound on the n-sample Rademacher complexity of the losses, as a ball: the best J of the formula above.

    Each J alone decreases in n, hence so does the minimum.

    Raises:
        ValueError: as `log_cover_size`, or if n < 1.
    """
    if n < 1:
        raise ValueError(f"The sample size must be at least 1, not {n}.")
    values, sizes = [arb(1)], [log_cover_size(0, alpha, gamma, p)]
    total = arb(0)
    for j in range(1, n.bit_length() + 2):
        sizes.append(log_cover_size(j, alpha, gamma, p))
        total += 3 * (2 * (sizes[j] + sizes[j - 1]) / n).sqrt() / 2**j
        values.append(total + arb(1) / 2**j)
    return ball_min(values)


def dudley_bound(n: int, alpha: Exact, gamma: Exact, p: int) -> arb:
    """The bound 4/n + 12 sqrt(2) (alpha/gamma) sqrt(ln(2 p + 1)/n) ln n: the closed form, weaker than `chaining_bound`.

    Raises:
        ValueError: as `log_cover_size`, or if n < 2.
    """
    if n < 2:
        raise ValueError(f"The closed form needs n >= 2, not {n}.")
    ratio = arb(_ratio_squared(alpha, gamma, p)).sqrt()
    return arb(4) / n + 12 * (2 * arb(2 * p + 1).log() / n).sqrt() * ratio * arb(n).log()


def margin_error_bound(n: int, alpha: Exact, gamma: Exact, p: int, *, eps: Exact = 0) -> arb:
    """A bound, with probability 0.99, on the 0-1 error of every minimiser of the ramp loss of the all-layer margin.

    eps + 2 Rad + sqrt(2 ln 200/n), where some theta has margin below gamma with probability at most eps, and Rad is
    `chaining_bound`. Decreasing in n.

    Raises:
        ValueError: as `chaining_bound`.
    """
    return as_exact([eps])[0] + 2 * chaining_bound(n, alpha, gamma, p) + erm_bound(0, n)


def margin_sample_size(target: Exact, alpha: Exact, gamma: Exact, p: int, *, eps: Exact = 0) -> int:
    """The smallest n with `margin_error_bound` <= target.

    Raises:
        ValueError: if target <= eps (no n suffices), or as `margin_error_bound`.
    """
    goal = as_exact([target])[0]
    if goal <= as_exact([eps])[0]:
        raise ValueError(f"The bound never falls to eps = {eps}, so no sample reaches the target {target}.")

    def enough(n: int) -> bool:
        with precision(192):  # so that neighbouring sample sizes are told apart
            return decided_less_equal(margin_error_bound(n, alpha, gamma, p, eps=eps), goal)

    return smallest_integer(1, enough)


def margin_free_bound(
    n: int, alpha: Exact, scale: int, p: int, *, empirical: Exact = 0, delta: Exact = Fraction(1, 100)
) -> arb:
    """A bound on the 0-1 error of all theta at once, for every gamma = 2^-k, k = ``scale`` >= 0, at once.

    (mean ramp loss at gamma) + 2 Rad(gamma) + sqrt(ln((k + 1)(k + 2)/delta)/(2 n)): the failure probabilities
    delta/((k + 1)(k + 2)) have sum delta. It is evaluated at a gamma below the margins of the sample.

    Args:
        n: the sample size.
        alpha: the radius of the parameters in the 1-norm.
        scale: k.
        p: the number of parameters.
        empirical: the mean ramp loss on the sample; 0 if all its margins reach gamma.
        delta: the failure probability.

    Raises:
        ValueError: as `chaining_bound`, or if scale < 0 or delta is not in (0, 1).
    """
    share = as_exact([delta])[0]
    if scale < 0 or not 0 < share < 1:
        raise ValueError(f"The scale must be >= 0 and delta in (0, 1), not {scale} and {delta}.")
    deviation = (arb((scale + 1) * (scale + 2) / share).log() / (2 * n)).sqrt()
    return as_exact([empirical])[0] + 2 * chaining_bound(n, alpha, fmpq(1, 2**scale), p) + deviation


def _positive(numbers: list[Exact]) -> list[fmpq]:
    exact = as_exact(numbers).tolist()
    if any(x <= 0 for x in exact):
        raise ValueError(f"The radius alpha and the margin gamma must be positive, not {numbers}.")
    return exact


def _ratio_squared(alpha: Exact, gamma: Exact, p: int) -> fmpq:
    size, margin = _positive([alpha, gamma])
    if p < 1:
        raise ValueError(f"There must be at least one parameter, not {p}.")
    return (size / margin) ** 2
