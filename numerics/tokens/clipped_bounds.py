"""What a single-layer transformer with clipped outputs can fit: the norms of its weights enter by their logarithms.

Outputs are clipped to [-B, B] with B^2 = e^2 C_y u^s, where u >= 1 is an integer, found by bisection, with

    e^u > n^2    and    e^u > 8 n (C_y^2 16^s + B^4).

Then labels exceed B with a probability of at most e^(-u), and what the risk has beyond them is at most n^(-1/2). The
squared errors of the other labels are at most tau = 4 B^2, which depends on the law of the labels and n only.

The means of such errors fall below their expectation mu by sqrt(2 tau mu t/n) with a probability of at most e^(-t), so
that small risks are found with a rate of 1/n in place of its root (`fast_excess_risk`).

Source: qstr, remark-clipping (proofs/remarks.md of that chapter).
"""

from __future__ import annotations

from flint import arb

from lemmata.numerics.exact.balls import ball_min, checked_bound, decided_less
from lemmata.numerics.exact.integers import checked_integer, smallest_integer
from lemmata.numerics.tokens.transformer_bounds import (
    TokenTask,
    TransformerClass,
    generalisation_gap,
    query_key_cover,
    readout_cover,
)

__all__ = ["clipped_excess_risk", "clipping_level", "fast_excess_risk"]


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


def fast_excess_risk(
    task: TokenTask, networks: TransformerClass, samples: int, delta: object, approximation: object = 0
) -> arb:
    """A bound on the risk of every minimiser of the clipped empirical risk, with the rate 1/n where eps is 0.

    (2 sqrt(eps) + 2 rho + sqrt(2 tau (E + ln(1/delta))/n))^2 + n^(-1/2) + tau N^(-1/2) n^(-3/2) for the best of the
    radii rho = B/2^j, E the log-size of a cover at rho by volume, which serves all prompts of bounded tokens. It holds
    with probability 1 - delta - (nN)^(-1/2) - 1/n if the class contains a network within 2 sqrt(eps) of the link.

    Args:
        task: the task; nN >= 2.
        networks: the class, with embeddings bounded by at least `task.embedding_norm(samples)`.
        samples: n.
        delta: inside (0, 1).
        approximation: eps >= 0.

    Raises:
        ValueError: for other numbers, or embeddings that are bounded by less.

    Source: qstr, remark-clipping (proofs/remarks.md, step 10).
    """
    n = checked_integer("The number of samples", samples, 1)
    failure = checked_bound("The failure probability delta", delta, positive=True)
    if not decided_less(failure, 1):
        raise ValueError(f"The failure probability delta must lie in (0, 1), not be {delta!r}.")
    if networks.embedding_norm < task.embedding_norm(n):
        raise ValueError(
            "The class bounds embeddings by less than the prompts need: take task.embedding_norm(samples)."
        )
    clip, near = clipping_level(task, n), 2 * checked_bound("The approximation eps", approximation).sqrt()
    level = 4 * clip**2
    bounds = []
    for j in range(1, n.bit_length() + 2):
        rho = clip / 2**j
        attention = rho / (2 * networks.lipschitz * networks.embedding_norm**2)
        size = readout_cover(networks, rho / 2) + query_key_cover(networks, attention, n)[1]
        bounds.append((near + 2 * rho + (2 * level * (size - failure.log()) / n).sqrt()) ** 2)
    return ball_min(bounds) + 1 / arb(n).sqrt() + level / (arb(task.length) * n**3).sqrt()
