"""How many linear functions there are up to eps on N points: covering numbers in the supremum norm.

Vectors: for ||w|| <= B and points of norm at most R, the projected perceptron

    w_0 = 0;   while some |(w_k - w).x_i| > eps:   w_(k+1) = P(w_k - (eps/R^2) sign((w_k - w).x_i) x_i)

comes nearer to w by more than eps^2/R^2 in the square at every step, so it makes fewer than (B R/eps)^2 steps. The list
of pairs (i, sign) is a code of what it ends with, and there are at most (2 N + 1)^K lists of at most K pairs:

    log N_inf <= K log(2 N + 1),      K = ceil((B R/eps)^2) - 1.

P may be the projection on any closed convex set of such w that holds 0; the cover then lies in that set. On
orthonormal points the K steps are needed, and the 2^K vectors of signs are 2 eps apart (`sign_packing`).

Matrices with sum of row norms at most B: Maurey's average of K_1 coordinate vectors stands for the row norms, up to
B/sqrt(K_1) in the 2-norm, and a perceptron runs for each row of the matrix with these row norms. With d rows,
a = log(d + 1), b = log(2 N + 1),

    log N_inf <= ceil((B/e_1)^2) a + (ceil((B R/e_2)^2) - 1) b      if e_2 + R e_1 <= eps,
              <= (B R/eps)^2 ((a^(1/3) + b^(1/3))^3 + a) <= 5 (B R/eps)^2 (a + b).

Source: variable-creation, fact-4.2lin, lemma-A.10, lemma-4.10.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from lemmata.numerics.exact.balls import checked_bound
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.learning.budgets import cube_root, exact_bound, optimal_split

__all__ = [
    "linear_capacity",
    "linear_map_capacity",
    "map_factor",
    "perceptron_steps",
    "printed_linear_capacity",
    "printed_linear_map_capacity",
    "row_radii",
    "sign_packing",
    "two_stage_capacity",
    "vector_factor",
]


def perceptron_steps(norm: object, radius: object, eps: object) -> int:
    """K = ceil((B R/eps)^2) - 1, or 0 if B R = 0: the most steps that the projected perceptron makes.

    Args:
        norm: B >= 0, exact or a float (its binary value).
        radius: R >= 0, the largest norm of the points, likewise.
        eps: the error allowed, > 0, likewise.

    Raises:
        ValueError: for other numbers.
    """
    B, R, error = exact_bound("The norm B", norm), exact_bound("The radius R", radius), exact_bound("eps", eps)
    if error == 0:
        raise ValueError("The error eps must be positive, not 0.")
    return max(int(((B * R / error) ** 2).ceil()) - 1, 0)


def vector_factor(points: int) -> arb:
    """b = log(2 N + 1) for N points: log N_inf <= (B R/eps)^2 b for vectors of norm at most B.

    Raises:
        ValueError: unless N is an integer >= 1.
    """
    return arb(2 * checked_integer("The number of points", points, 1) + 1).log()


def map_factor(outputs: int, points: int) -> arb:
    """(a^(1/3) + b^(1/3))^3 + a, a = log(d + 1), b = log(2 N + 1): the same for matrices of d rows.

    Raises:
        ValueError: unless d and N are integers >= 1.
    """
    a, b = arb(checked_integer("The number of outputs", outputs, 1) + 1).log(), vector_factor(points)
    return (cube_root(a) + cube_root(b)) ** 3 + a


def linear_capacity(norm: object, radius: object, eps: object, points: int) -> arb:
    """K log(2 N + 1): a bound on log N_inf of the functions x -> w.x, ||w|| <= B, on N points of norm at most R.

    The cover is proper. Arguments and errors as `perceptron_steps` and `vector_factor`.

    Source: variable-creation, lemma-A.10, with a better constant.
    """
    return perceptron_steps(norm, radius, eps) * vector_factor(points)


def printed_linear_capacity(norm: object, radius: object, eps: object, points: int) -> arb:
    """36 (B R/eps)^2 log(2 ceil(4 B R/eps + 2) N + 1), as in lemma A.10; arguments and errors as `linear_capacity`."""
    B, R, error = exact_bound("The norm B", norm), exact_bound("The radius R", radius), exact_bound("eps", eps)
    if error == 0:
        raise ValueError("The error eps must be positive, not 0.")
    N = checked_integer("The number of points", points, 1)
    ratio = B * R / error
    return 36 * arb(ratio**2) * arb(2 * int((4 * ratio + 2).ceil()) * N + 1).log()


def sign_packing(norm: object, radius: object, eps: object) -> int:
    """The largest d with B R/sqrt(d) > eps, or 0, for which log N_inf >= d log 2 on the points R e_1, ..., R e_d.

    The 2^d vectors B (+-1, ..., +-1)/sqrt(d) differ by 2 B R/sqrt(d) > 2 eps on some point, so no function is within
    eps of two of them. Arguments and errors as `perceptron_steps`, of which this is the value.
    """
    return perceptron_steps(norm, radius, eps)


def two_stage_capacity(norm: Any, radius: Any, row_error: Any, error: Any, points: int, outputs: int) -> arb:
    """ceil((B/e_1)^2) log(d + 1) + (ceil((B R/e_2)^2) - 1) log(2 N + 1), a bound on log N_inf at e_2 + R e_1.

    Args:
        norm: B, the sum of the row norms.
        radius: R, the largest norm of the points.
        row_error: e_1 > 0, of the row norms, in the 2-norm.
        error: e_2 > 0, of the rows.
        points: N.
        outputs: d, the number of rows.

    Raises:
        ValueError: for numbers that are negative, not finite, or zero where they must be positive.
    """
    rows = arb(checked_integer("The number of outputs", outputs, 1) + 1).log()
    averaged = 0 if exact_bound("The norm B", norm) == 0 else perceptron_steps(norm, 1, row_error) + 1
    return averaged * rows + linear_capacity(norm, radius, error, points)


def linear_map_capacity(norm: object, radius: object, eps: object, points: int, outputs: int) -> arb:
    """(B R/eps)^2 ((a^(1/3) + b^(1/3))^3 + a), a = log(d + 1), b = log(2 N + 1), or 0 if B R <= eps.

    A bound on log N_inf of the maps x -> W x with sum of row norms <= B, in the 2-norm, on N points of norm at most R.
    The cover is proper. It is the best division of eps in `two_stage_capacity`, by lemma A.8, and log(d + 1) for the
    rounding up of the first number, which is at most (B R/eps)^2 log(d + 1).

    Args:
        norm: B >= 0.
        radius: R >= 0.
        eps: the error allowed, > 0.
        points: N >= 1.
        outputs: d >= 1, the number of rows.

    Raises:
        ValueError: for other numbers.

    Source: variable-creation, lemma-4.10, corrected and with constants.
    """
    B, R = checked_bound("The norm B", norm), checked_bound("The radius R", radius)
    error = checked_bound("The error eps", eps, positive=True)
    factor = map_factor(outputs, points)
    if error >= B * R:
        return arb(0)
    return (B * R / error) ** 2 * factor


def row_radii(norm: Any, radius: Any, eps: Any, points: int, outputs: int) -> tuple[arb, arb]:
    """The radii (e_1, e_2), e_2 + R e_1 = eps, that are best for `linear_map_capacity`; B, R > 0, errors as there."""
    B = checked_bound("The norm B", norm, positive=True)
    R = checked_bound("The radius R", radius, positive=True)
    a, b = arb(checked_integer("The number of outputs", outputs, 1) + 1).log(), vector_factor(points)
    first, second = optimal_split([B**2 * a, (B * R) ** 2 * b], [R, 1], eps).radii
    return first, second


def printed_linear_map_capacity(
    norm: object, radius: object, eps: object, points: int, outputs: int, *, constant: object = 1
) -> arb:
    """constant (B R/eps)^2 log(d N), as in lemma 4.10, whose constant is not said; arguments and errors as above."""
    B, R = checked_bound("The norm B", norm), checked_bound("The radius R", radius)
    ratio = B * R / checked_bound("The error eps", eps, positive=True)
    size = checked_integer("The number of outputs", outputs, 1) * checked_integer("The number of points", points, 1)
    return checked_bound("The constant", constant, positive=True) * ratio**2 * arb(size).log()
