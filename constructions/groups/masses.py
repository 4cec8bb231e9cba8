"""The masses of the irreducible representations in a max-margin network: one for each name, validated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.numerics.exact.numbers import sign_of

Masses = Mapping[str, Any] | Sequence[Any] | NDArray[Any]


def mass_shares(names: Sequence[str], masses: Masses, exact: bool = False) -> list[Any]:
    """The mass of each name, in the order of the names.

    Args:
        names: of the representations.
        masses: a mapping from names (those left out have mass 0), or a sequence in the order of the names.
        exact: whether exact masses are needed: int, fmpq or Cyclotomic.

    Raises:
        ValueError: unless the masses are >= 0 with sum 1 (in float64: to within K * eps for K masses), fit the names,
            and are exact if that is needed.
    """
    if isinstance(masses, Mapping):
        unknown = sorted(set(masses) - set(names))
        if unknown:
            raise ValueError(f"There are masses for {', '.join(unknown)}, but the irreps are {', '.join(names)}.")
        shares: list[Any] = [masses.get(name, 0) for name in names]
    else:
        shares = list(masses)
        if len(shares) != len(names):
            raise ValueError(f"There must be one mass for each of {', '.join(names)}, but there are {len(shares)}.")
    if exact:
        if any(isinstance(share, float) for share in shares):
            raise ValueError("An exact network needs exact masses (int, fmpq, Cyclotomic), not floats.")
        shares = [share * fmpq(1) for share in shares]
        positive, total_is_one = all(sign_of(share) >= 0 for share in shares), sum(shares) == 1
    else:
        shares = [float(share) for share in shares]
        positive = all(share >= 0 for share in shares)
        # K masses, each rounded from an exact one, and K - 1 rounded additions of numbers <= 1.
        total_is_one = abs(sum(shares) - 1) <= len(shares) * np.finfo(np.float64).eps
    if not positive or not total_is_one:
        raise ValueError(f"The masses must be >= 0 with sum 1, but they are {[str(share) for share in shares]}.")
    return shares
