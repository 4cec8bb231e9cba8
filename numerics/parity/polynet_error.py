"""The exact 0-1 error of a disjoint PolyNet, block by block, by dynamic programming.

A disjoint PolyNet is f(x) = prod_i (v_i x_i + u_i . z_i), where x_i is the relevant sign of block i and z_i its
irrelevant signs, all uniform and independent; the target is chi = prod_i x_i. As x_i z_i is uniform given x_i, the
margin f chi is distributed like prod_i (v_i + s_i) with independent signed sums s_i = u_i . z_i. With
p_i = P(v_i + s_i > 0) and q_i = P(v_i + s_i < 0) it is positive with probability
(prod (p_i + q_i) + prod (p_i - q_i))/2, and everything else, f = 0 included, is an error.

Source: hidden-progress, definition-err and lemma-B.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq

from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.parity.signed_sums import signed_sum_counts

__all__ = ["block_signs", "polynet_error"]


def block_signs(relevant: Any, irrelevant: Sequence[Any]) -> tuple[fmpq, fmpq]:
    """The probabilities (p, q) that relevant + irrelevant . z is positive, and negative, for uniform signs z.

    Args:
        relevant: the weight v, an exact rational number.
        irrelevant: the weights u, possibly none, likewise.

    Raises:
        ValueError: if a weight is a float or not rational, or as `signed_sum_counts`.
    """
    numbers = as_exact([relevant, *irrelevant]).tolist()
    if not all(isinstance(number, fmpq) for number in numbers):
        raise ValueError(f"The weights of a block must be rational numbers, but they are {numbers}.")
    scale = common_denominator(numbers)
    v, *u = (int((number * scale).p) for number in numbers)
    counts = signed_sum_counts(u)
    positive = sum(count for total, count in counts.items() if v + total > 0)
    negative = sum(count for total, count in counts.items() if v + total < 0)
    return fmpq(positive, 2 ** len(u)), fmpq(negative, 2 ** len(u))


def polynet_error(relevant: Sequence[Any], irrelevant: Sequence[Sequence[Any]]) -> fmpq:
    """The error P[sign(f(x)) != chi(x)] with sign(0) = 0, exactly.

    Args:
        relevant: the weights v_1, ..., v_k of the relevant inputs, of any signs.
        irrelevant: for each block its further weights u_i; the blocks may differ in length.

    Raises:
        ValueError: if there is no block, the numbers of blocks differ, a weight is not an exact rational number, or as
            `signed_sum_counts`.
    """
    if len(relevant) != len(irrelevant) or len(relevant) == 0:
        raise ValueError(
            f"There must be one relevant weight for each of k >= 1 blocks, not {len(relevant)} for {len(irrelevant)}."
        )
    nonzero, bias = fmpq(1), fmpq(1)
    for v, u in zip(relevant, irrelevant, strict=True):
        positive, negative = block_signs(v, u)
        nonzero *= positive + negative
        bias *= positive - negative
    return 1 - (nonzero + bias) / 2
