"""How large every function must be that fits a line on target and nothing off target: lemma 5.2, both bounds at once.

With the noise level s on target, T_j off target and u = 1/s, u_j = eps_x/T_j, the mean over fresh rows is F(u) on
target and F(u_j) off target, F(u) = E[H_0(a) N(u <a, x*>)], N the normal distribution function. For two tokens x+, x-
whose first coordinates are t and -t the difference D(u) of the two F is odd in u. Odd extrapolation,

    D(u) ~ sum_j l_j D(u_j),    l_j = (u/u_j) prod_(k != j) (u^2 - u_k^2)/(u_j^2 - u_k^2),

errs by at most 2 sup|H_0| u^(2q + 1)/(pi (2q + 1)) for q nodes, wherever they lie in (0, u). So D(u_j) near 0 and D(u)
near 2t need a large H_0:

    sup|H_0| >= pi (2q + 1) u^-(2q + 1) (t - error (1 + sum_j |l_j|)).

The proof is in `theorems/rnn_sgd/proofs/off-target.md`. Source: rnn-sgd, lemma-5.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from lemmata.numerics.exact.balls import as_balls

__all__ = ["least_supremum_off_target", "odd_extrapolation", "remainder_bound"]


def odd_extrapolation(point: object, nodes: Sequence[object]) -> list[arb]:
    """The weights l_j of the odd polynomial of degree 2q - 1 through given values at q nodes, at a point.

    Args:
        point: u, exact or a ball.
        nodes: u_1, ..., u_q, exact numbers or balls, certainly positive and with certainly different squares.

    Raises:
        ValueError: without nodes, or for a node that may be 0 or equal to another.
    """
    u, places = as_balls([point])[0], list(as_balls(nodes))
    if not places or not all(one > 0 for one in places):
        raise ValueError(f"Odd extrapolation needs nodes, all certainly positive, not {nodes}.")
    weights = []
    for j, one in enumerate(places):
        weight = u / one
        for k, other in enumerate(places):
            if k != j:
                gap = one * one - other * other
                if not gap != 0:
                    raise ValueError(f"The nodes {j} and {k} cannot be told apart: {one} and {other}.")
                weight *= (u * u - other * other) / gap
        weights.append(weight)
    return weights


def remainder_bound(point: object, count: int) -> arb:
    """u^(2q + 1)/(pi (2q + 1)), which E|N(u Z) - 1/2 - sum_j l_j (N(u_j Z) - 1/2)| does not exceed, Z standard normal.

    Args:
        point: u > 0, above the nodes.
        count: q, the number of nodes.
    """
    return as_balls([point])[0] ** (2 * count + 1) / (arb.pi() * (2 * count + 1))


def least_supremum_off_target(point: object, nodes: Sequence[object], slope: object, error: object) -> arb:
    """What sup|H_0| is at least, if |F(u) -+ t| on target and |F(u_j)| off target are at most `error` for both tokens.

    Args:
        point: u = 1/s, exact or a ball.
        nodes: u_j = eps_x/T_j, as for `odd_extrapolation`, certainly below u.
        slope: t > 0.
        error: the largest error allowed on and off target.

    Returns:
        The bound, enclosed; what is not positive says nothing.

    Raises:
        ValueError: for nodes that do not fit.
    """
    u, t, e = as_balls([point, slope, error])
    weights = odd_extrapolation(u, nodes)
    if not all(one < u for one in as_balls(nodes)):
        raise ValueError(f"The nodes must certainly lie below the point {point}, not at {nodes}.")
    spread = sum((abs(one) for one in weights), arb(1))
    return (t - e * spread) / remainder_bound(u, len(weights))
