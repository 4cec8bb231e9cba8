"""How far the hidden states of a random ReLU network at different times are from one line.

For entries of variance 2/m, m -> infinity and eps_x -> 0, the cosine between h_l and h_l' depends on min(l, l') alone:
it is c_l with c_0 = 0 and c_(l+1) = kappa(c_l), the arc-cosine kernel of degree one,

    kappa(c) = (sqrt(1 - c^2) + (pi - arccos c) c)/pi = 2 E[relu(u) relu(v)] for standard normal u, v of correlation c.

kappa is 1-Lipschitz, since kappa'(c) = 1 - arccos(c)/pi: so a ball is evaluated at its midpoint and keeps its radius,
without the loss of a square root near c = 1. kappa(c) > c for c < 1, so that c_l increases to 1, with l^2 (1 - c_l) ->
9 pi^2/2.

Source: rnn-sgd, fact-position-adaptivity.
"""

from __future__ import annotations

from flint import arb

from lemmata.numerics.exact.integers import checked_integer

__all__ = ["arc_cosine_kernel", "state_cosines"]


def arc_cosine_kernel(cosine: arb) -> arb:
    """kappa(c), for a ball c in [-1, 1].

    Raises:
        ValueError: for a ball that does not certainly lie in [-1, 1].
    """
    if not abs(cosine) <= 1:
        raise ValueError(f"A cosine must certainly lie in [-1, 1], not in {cosine}.")
    c = cosine.mid()
    return ((1 - c * c).sqrt() + (arb.pi() - c.acos()) * c) / arb.pi() + arb(0, cosine.rad())


def state_cosines(length: int) -> list[arb]:
    """c_0 = 0, c_1, ..., c_length, enclosed.

    Raises:
        ValueError: for a length below 0.
    """
    result = [arb(0)]
    for _ in range(checked_integer("The length", length, 0)):
        result.append(arc_cosine_kernel(result[-1]))
    return result
