"""The closed forms of appendix E of the dissertation, as printed, for numbers of any kind.

`a`, `b` are the probabilities to stay, lam = a + b - 1, and powers of lam with an exponent that contains t are passed
as an argument of their own (L = lam^t and so on), so that the same code runs on numbers, on rational functions,
and on symbols, where t is a symbol as well. All updates are for c = eta = 1, without the initial value, without the
factor 1/t, and before the average over a and b.
"""

from __future__ import annotations

from typing import Any


def sums(lam: Any, t: Any, L: Any) -> tuple[Any, Any, Any, Any]:
    """The braces (I), (II), (III) and (IV) of (E.17); L = lam^t."""
    first = (
        (lam - (t + 1) * lam * L + t * lam**2 * L) / (1 - lam) ** 2
        - (1 - L) / ((1 - 1 / lam) * (1 - lam))
        + t / (lam - 1)
    )
    second = lam**2 * (1 - L) / (1 - lam) - lam * (t * (t + 3)) / 2 + lam**0 * (t * (t + 1)) / 2
    third = t * lam / (1 - lam) - (lam**2 - lam**2 * L) / (1 - lam) ** 2 - lam**0 * (t * (t + 1)) / 2
    fourth = lam**0 * (t * (t + 1) * (t + 2)) / 6
    return first, second, third, fourth


def beta_gamma(a: Any, b: Any) -> tuple[list[list[Any]], list[list[Any]]]:
    """beta and gamma with (P^n)_ij = (beta_ij lam^n + gamma_ij)/(lam - 1), read off (E.15)."""
    return [[a - 1, 1 - a], [1 - b, b - 1]], [[b - 1, a - 1], [b - 1, a - 1]]


def w_update(a: Any, b: Any, I: Any, II: Any, III: Any, IV: Any) -> list[list[Any]]:
    """The braces of (E.19) to (E.22)."""
    d, h = a + b - 2, a**0 / 2
    both = 2 * (a - 1) * (b - 1)
    return [
        [
            (b - 1) * (a - h) / d**3
            * ((a - 1) * (a - b) / d * I + both / d**2 * II + both / d * III + (b - 1) * (b - a) * IV),
            (a - 1) * (a - h) / d**3
            * ((1 - b) * (a - b) / d * I + both / d**2 * II - 2 * (b - 1) ** 2 / d * III + (b - 1) * (b - a) * IV),
        ],
        [
            (b - 1) * (h - b) / d**3
            * ((1 - a) * (a - b) / d * I - both / d**2 * II + 2 * (a - 1) ** 2 / d * III + (a - 1) * (b - a) * IV),
            (a - 1) * (h - b) / d**3
            * ((b - 1) * (a - b) / d * I - both / d**2 * II - both / d * III + (a - 1) * (b - a) * IV),
        ],
    ]  # fmt: skip


def v_update(a: Any, b: Any, N: Any, L: Any) -> Any:
    """The brace of (E.28), N = t - j + 1 and L = lam^N."""
    lam, one = a + b - 1, a**0
    triangle = one * N * (N + 1) / 2
    return triangle * (((a - 1) ** 2 + (b - 1) ** 2) / (lam - 1) ** 2 - one / 2) + 2 * lam * (a - 1) * (b - 1) / (
        lam - 1
    ) ** 3 * ((lam - lam * L) / (1 - lam) - N)


def diagonal_logit(i: int, p: Any, lam: Any, L: Any, pi: Any, beta: Any, gamma: Any) -> Any:
    """The diagonal part of (E.31): d f_{p,i} / d v_1 without (rho - c'); L = lam^p."""
    return pi[i] / (lam - 1) * (p * gamma[i][i] + beta[i][i] * (L - 1) / (lam - 1))


def later_logit(i: int, l: int, n: Any, lam: Any, M: Any, L: Any, beta: Any, gamma: Any) -> Any:
    """The brace of (E.32) and (E.36) for j >= 2; n = p - j + 1, M = lam^(j-1), L = lam^n."""
    return (
        beta[i][l] * beta[l][i] * M * (L - 1) / (lam - 1)
        + beta[i][l] * gamma[l][i] * (L - 1) / (lam - 1)
        + n * (gamma[i][l] * beta[l][i] * M + gamma[i][l] * gamma[l][i])
    )


def first_diagonal_update(a: Any, b: Any, t: Any, L: Any) -> Any:
    """The brace of (E.37) as printed; L = lam^t."""
    lam, h = a + b - 1, a**0 / 2
    linear = ((b - 1) ** 2 * (a - h) + (a - 1) ** 2 * (b - h)) / (lam - 1) ** 2
    return ((lam - lam * L) / (1 - lam) - t) * (a - 1) * (b - 1) / (lam - 1) ** 2 + linear * t * (t - 1) / 2


def first_diagonal_update_corrected(a: Any, b: Any, t: Any, L: Any) -> Any:
    """(E.37) with lam (a-1)(b-1)/(lam-1)^3 in the first term and t (t+1)/2 in the second."""
    lam, h = a + b - 1, a**0 / 2
    linear = ((b - 1) ** 2 * (a - h) + (a - 1) ** 2 * (b - h)) / (lam - 1) ** 2
    return ((lam - lam * L) / (1 - lam) - t) * lam * (a - 1) * (b - 1) / (lam - 1) ** 3 + linear * t * (t + 1) / 2


def later_diagonal_update(a: Any, b: Any, N: Any, M: Any, L: Any, sign: int) -> Any:
    """The sum in (E.38); N = t - j + 1, M = lam^(j-1), L = lam^N.

    `sign` is 1 for the denominator lam - 1 of the second inner fraction, as printed, and -1 for 1 - lam.
    """
    lam, one = a + b - 1, a**0
    beta, gamma = beta_gamma(a, b)
    pi = [(b - 1) / (lam - 1), (a - 1) / (lam - 1)]
    P = [[a, 1 - a], [1 - b, b]]
    total = 0 * one
    for i in range(2):
        for l in range(2):
            brace = (
                beta[i][l] * beta[l][i] / (lam - 1) * ((lam * M - lam * M * L) / (1 - lam) - N * M)
                + beta[i][l] * gamma[l][i] / (lam - 1) * (sign * (lam - lam * L) / (lam - 1) - N)
                + one * N * (N + 1) / 2 * (gamma[i][l] * beta[l][i] * M + gamma[i][l] * gamma[l][i])
            )
            total += pi[l] / (lam - 1) ** 2 * (P[l][i] - one / 2) * brace
    return total
