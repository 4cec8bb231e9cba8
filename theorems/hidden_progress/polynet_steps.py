"""The number of steps that theorem 5.8 demands of online SGD on a disjoint PolyNet.

The run itself is `lemmata.numerics.parity.polynet_sgd`. Source: hidden-progress, theorem-5.8-full, lemma-B.9.
"""

from __future__ import annotations

import math

from flint import arb

from lemmata.numerics.exact.integers import smallest_integer

__all__ = ["proved_steps"]


def proved_steps(k: int, block: int, epsilon: float, delta: float, *, printed: bool = True) -> int:
    """The smallest T beyond which T >= 6 log(2nT/delta) log(2k/epsilon) (3n'-2)^(2k-1), as printed.

    With ``printed=False`` it is 12 log(2nT/delta) log(k/epsilon) (3n'-2)^(2k-1), for which the printed chain closes
    with the corrected lemma B.9. The inequality is decided in ball arithmetic.

    Raises:
        ValueError: unless k, n' >= 1, 0 < epsilon < 1/2 and 0 < delta < 1, or if T exceeds 10^308.
    """
    if k < 1 or block < 1:
        raise ValueError(f"A PolyNet has k >= 1 blocks of n' >= 1 inputs, not k = {k} and n' = {block}.")
    if not (0 < epsilon < 0.5 and 0 < delta < 1):
        raise ValueError(f"epsilon must be in (0, 1/2) and delta in (0, 1), not {epsilon} and {delta}.")
    factor = 6 * (arb(2 * k) / arb(epsilon)).log() if printed else 12 * (arb(k) / arb(epsilon)).log()
    factor *= arb(3 * block - 2) ** (2 * k - 1)
    if not math.isfinite(float(factor)):
        raise ValueError(f"The number of steps exceeds 10^308 for k = {k} and n' = {block}.")

    def enough(steps: int) -> bool:
        return bool(arb(steps) >= factor * (2 * k * block * arb(steps) / arb(delta)).log())

    # steps/log(c steps) grows once steps > e/c: beyond `factor` >= e/c the inequality, once true, stays true
    return smallest_integer(max(1, math.ceil(float(factor))), enough)
