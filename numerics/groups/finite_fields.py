"""Finite fields F_q, q = p^k, by tables.

The element with number a_0 + a_1 p + ... + a_{k-1} p^{k-1} is the polynomial sum_i a_i x^i over F_p modulo a monic
polynomial of degree k for which x generates the multiplicative group: the first such polynomial in lexicographic order.
So 0 and 1 are the numbers 0 and 1, and for prime q the element with number a is the residue a.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_FIELD_ORDER", "FiniteField", "finite_field", "prime_power"]

IntArray = npt.NDArray[np.int64]

MAX_FIELD_ORDER = 2048  # the addition and multiplication tables have q^2 entries


def prime_power(q: int) -> tuple[int, int] | None:
    """The pair (p, k) with q = p^k, p prime, k >= 1; None when q is no prime power."""
    if q < 2:
        return None
    p = next((d for d in range(2, int(q**0.5) + 2) if d * d <= q and q % d == 0), q)
    k = 0
    while q % p == 0:
        q //= p
        k += 1
    return (p, k) if q == 1 else None


def _powers_of_x(p: int, tail: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The powers 1, x, x^2, ... modulo x^k + tail (coefficients from the constant up), until 1 returns or 0 appears."""
    one = (1,) + (0,) * (len(tail) - 1)
    power = one
    while any(power):
        yield power
        carry = power[-1]
        power = tuple((shifted - carry * c) % p for shifted, c in zip((0, *power[:-1]), tail, strict=True))
        if power == one:
            return


class FiniteField:
    """The field F_q with tables ``add``, ``mul`` (q, q) and ``negative``, ``inverse`` (q,), where ``inverse[0]`` is 0.

    ``generator`` is the number of a generator of the multiplicative group.

    Raises:
        ValueError: unless q is a prime power of at most ``MAX_FIELD_ORDER``.
    """

    def __init__(self, q: int) -> None:
        decomposition = prime_power(q)
        if decomposition is None or q > MAX_FIELD_ORDER:
            raise ValueError(f"A field needs a prime power q <= {MAX_FIELD_ORDER} of elements; got q = {q}.")
        self.q = q
        self.p, self.k = decomposition
        weights = self.p ** np.arange(self.k)
        powers: list[tuple[int, ...]] = []
        for tail in product(range(self.p), repeat=self.k):
            powers = list(_powers_of_x(self.p, tail)) if tail[0] else []
            if len(powers) == q - 1:
                break
        self._exp: IntArray = np.array(powers) @ weights  # exponent -> element
        self._log: IntArray = np.zeros(q, dtype=np.int64)
        self._log[self._exp] = np.arange(q - 1)
        self.generator = int(self._exp[1 % (q - 1)])
        digits = np.arange(q)[:, None] // weights % self.p
        self.add: IntArray = (digits[:, None] + digits) % self.p @ weights
        self.mul: IntArray = self._exp[(self._log[:, None] + self._log) % (q - 1)]
        self.mul[0] = self.mul[:, 0] = 0
        self.negative: IntArray = -digits % self.p @ weights
        self.inverse: IntArray = self._exp[-self._log % (q - 1)]
        self.inverse[0] = 0

    def power(self, a: npt.ArrayLike, exponent: int) -> IntArray:
        """The powers a^exponent, element by element, for exponent >= 1."""
        a = np.asarray(a)
        return np.where(a == 0, 0, self._exp[self._log[a] * exponent % (self.q - 1)])

    def apply(self, matrix: npt.ArrayLike, vectors: IntArray) -> IntArray:
        """The products M v of an (n, n) matrix with the rows v of ``vectors``, shape (m, n) -> (m, n)."""
        entries = np.asarray(matrix)
        result = self.mul[entries[:, 0], vectors[:, :1]]
        for j in range(1, entries.shape[1]):
            result = self.add[result, self.mul[entries[:, j], vectors[:, j : j + 1]]]
        return result


@cache
def finite_field(q: int) -> FiniteField:
    """The field with q elements; see ``FiniteField``."""
    return FiniteField(q)
