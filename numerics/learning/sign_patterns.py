"""Signs of polynomials and of ReLU networks: how many patterns there are, and the examples that the 0-1 loss needs.

M polynomials of degree <= D in p real variables have at most (M D + 1)^p patterns of signs (> 0 or not): each pattern
has a component of its own, in which a polynomial of degree M D + 2 has an extremum (`sign_pattern_bound`).

For n inputs, the preactivations of hidden layer l of a ReLU network are polynomials of degree l in its p parameters,
once the signs of the layers before are fixed, so that width w and d hidden layers give at most

    (n w + 1)^p (2 n w + 1)^p ... (d n w + 1)^p ((d + 1) n + 1)^p

patterns of signs of the outputs on n inputs, and 0-1 losses have the Rademacher complexity sqrt(2 ln(this)/n) at most.

Source: turing, remark-comparison (there by a citation); proved in proofs/vc-bounds.md there.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from lemmata.numerics.exact.balls import decided_less_equal
from lemmata.numerics.exact.integers import checked_integer, smallest_integer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.generalisation import Exact, erm_bound

__all__ = ["network_log_growth", "sign_loss_bound", "sign_loss_sample_size", "sign_pattern_bound", "vc_bound"]


def sign_pattern_bound(polynomials: int, degree: int, variables: int) -> int:
    """(M D + 1)^p: a bound on the patterns of signs of M polynomials of degree <= D in p variables.

    Raises:
        ValueError: if a number is no integer, or M, D or p is less than 1.
    """
    M = checked_integer("The number of polynomials", polynomials, 1)
    D = checked_integer("The degree", degree, 1)
    return (M * D + 1) ** checked_integer("The number of variables", variables, 1)


def network_log_growth(n: int, parameters: int, width: int, depth: int) -> arb:
    """The logarithm of a bound on the patterns of signs of a ReLU network on n inputs.

    Args:
        n: the number of inputs.
        parameters: p.
        width: w, of every hidden layer.
        depth: d, the number of hidden layers.

    Raises:
        ValueError: as `sign_pattern_bound`.
    """
    size, hidden = checked_integer("The number of inputs", n, 1), checked_integer("The width", width, 1)
    layers = checked_integer("The depth", depth, 1)
    total = arb(sign_pattern_bound(size, layers + 1, 1)).log()
    for layer in range(1, layers + 1):
        total += arb(sign_pattern_bound(size * hidden, layer, 1)).log()
    return checked_integer("The number of parameters", parameters, 1) * total


def vc_bound(parameters: int, width: int, depth: int) -> int:
    """The largest n with 2^n at most the bound on patterns: no more inputs are shattered.

    Raises:
        ValueError: as `network_log_growth`.
    """

    def too_many(n: int) -> bool:
        with precision(192):
            return not decided_less_equal(n * arb(2).log(), network_log_growth(n, parameters, width, depth))

    # ln of the bound is concave in n and n ln 2 linear: once the latter is ahead, it stays ahead
    return smallest_integer(1, too_many) - 1


def sign_loss_bound(n: int, parameters: int, width: int, depth: int) -> arb:
    """A bound, with probability 0.99, on the error of every minimiser of the 0-1 loss, if some network makes none.

    2 Rad + sqrt(2 ln 200/n) with Rad = sqrt(2 ln(patterns)/n).

    Raises:
        ValueError: as `network_log_growth`.
    """
    growth = network_log_growth(n, parameters, width, depth)
    return 2 * (2 * growth / n).sqrt() + erm_bound(0, n)


def sign_loss_sample_size(target: Exact, parameters: int, width: int, depth: int) -> int:
    """The smallest n with `sign_loss_bound` <= target.

    Raises:
        ValueError: as `network_log_growth`, or if the target is not positive.
    """
    goal = as_exact([target])[0]
    if goal <= 0:
        raise ValueError(f"The target must be positive, not {Fraction(str(goal))}.")

    def enough(n: int) -> bool:
        with precision(192):
            return decided_less_equal(sign_loss_bound(n, parameters, width, depth), goal)

    return smallest_integer(1, enough)
