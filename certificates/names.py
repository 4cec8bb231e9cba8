"""Groups by name, for the command line and for notebooks."""

from __future__ import annotations

import re
from collections.abc import Callable

from certificates.certificate import MarginCertificate
from certificates.groups import certify_cyclic, certify_real_type
from numerics.groups import FiniteGroup, alternating, dihedral, elementary_abelian, symmetric

__all__ = ["ACCEPTED_NAMES", "certify_named"]

ACCEPTED_NAMES = "Zn (n >= 2), Dn of order 2n (n >= 3), Sn (2 <= n <= 5), Z2^k (k >= 1), A5"

EXACT_ORDER = 24  # up to this order the network itself is evaluated exactly, beyond in floating point

_FAMILIES: tuple[tuple[str, Callable[[int], FiniteGroup], int, int], ...] = (
    (r"D(\d+)", dihedral, 3, 100),
    (r"S(\d+)", symmetric, 2, 5),
    (r"A(\d+)", alternating, 5, 5),
    (r"Z2\^(\d+)", elementary_abelian, 1, 7),
)


def certify_named(name: str) -> MarginCertificate:
    """Certify composition in the group called ``name``, one of ``ACCEPTED_NAMES``.

    The game is solved exactly in any case; the explicit network is evaluated exactly up to order ``EXACT_ORDER`` and in
    floating point, with its rounding error bounded, beyond. Raises ``ValueError`` for other names and sizes.
    """
    if cyclic_name := re.fullmatch(r"Z(\d+)", name):
        n = int(cyclic_name.group(1))
        return certify_cyclic(n, exact=n <= EXACT_ORDER)
    for pattern, build, smallest, largest in _FAMILIES:
        if match := re.fullmatch(pattern, name):
            n = int(match.group(1))
            if not smallest <= n <= largest:
                raise ValueError(f"{name} is out of range: this family is built for {smallest} <= n <= {largest}.")
            group = build(n)
            return certify_real_type(group, exact=group.order <= EXACT_ORDER)
    raise ValueError(f"There is no group named {name!r} here. Accepted: {ACCEPTED_NAMES}.")
