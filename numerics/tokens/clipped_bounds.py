"""What a single-layer transformer with clipped outputs can fit: the norms of its weights enter by their logarithms.

Outputs are clipped to [-B, B] with B^2 = e^2 C_y u^s, where u >= 1 is an integer, found by bisection, with

    e^u > n^2    and    e^u > 8 n (C_y^2 16^s + B^4).

Then labels exceed B with a probability of at most e^(-u), and what the risk has beyond them is at most n^(-1/2). The
squared errors of the other labels are at most tau = 4 B^2, which depends on the law of the labels and n only.

Source: qstr, remark-clipping (proofs/remarks.md of that chapter).
"""

from __future__ import annotations

from flint import arb

from lemmata.numerics.exact.balls import checked_bound, decided_less
from lemmata.numerics.exact.integers import checked_integer, smallest_integer
from lemmata.numerics.tokens.transformer_bounds import TokenTask, TransformerClass, generalisation_gap

__all__ = ["clipped_excess_risk", "clipping_level"]


def clipping_level(task: TokenTask, samples: int) -> arb:
    """B, where outputs are clipped for n samples.

    Raises:
        ValueError: for n < 1.
    """
    n = checked_integer("The number of samples", samples, 1)
    scale = checked_bound("The scale C_y", task.label_scale, positive=True)

    def bound(u: int) -> arb:
        return arb(2).exp() * scale * arb(u) ** task.label_power

    def enough(u: int) -> bool:
        fourth = 8 * n * (scale**2 * 16**task.label_power + bound(u) ** 2)
        return decided_less(arb(n) ** 2, arb(u).exp()) and decided_less(fourth, arb(u).exp())

    return bound(smallest_integer(1, enough)).sqrt()


def clipped_excess_risk(task: TokenTask, networks: TransformerClass, samples: int, delta: object) -> arb:
    """A bound on the risk of every minimiser of the clipped empirical risk beyond 4 times the approximation error.

    It holds with probability 1 - delta - (nN)^(-1/2) - 1/n if the class contains a network within 2 sqrt(eps) of the
    link: clipping is 1-Lipschitz, so that covers of the networks are covers of the clipped ones.

    Raises:
        ValueError: for n < 1, or as `generalisation_gap`.
    """
    level = 4 * clipping_level(task, samples) ** 2
    return generalisation_gap(networks, level, samples, delta) + 1 / arb(samples).sqrt()
