"""Inner products of class functions, exactly, through one prime: no field that contains all values is needed.

Let the values of a table be algebraic integers (integer coefficients in the power basis of Q(zeta_N)) and let every
automorphism of the field permute the rows, as it must permute the irreducible characters. For class functions f_R that
are built from row R in the same way for all R, the sums X[R, S] = sum_C |C| f_R(C) chi_S(C^-1) satisfy
s(X[R, S]) = X[sR, sS] for every automorphism s. Let p = 1 mod N be a prime, P one prime ideal over it, and let integers
m[R, S] = X[R, S] mod P satisfy m[sR, sS] = m[R, S]. Then s(X[R, S] - m[R, S]) lies in P for every s, so
X[R, S] - m[R, S] lies in all primes over p, that is in p Z[zeta_N], as p is unramified. If moreover all conjugates of
X[R, S] - m[R, S] are smaller than p in absolute value, the norm of (X[R, S] - m[R, S])/p is an integer of absolute
value below 1, hence 0. So X = m: an exact equality, proved by arithmetic modulo p.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lcm

import numpy as np
import numpy.typing as npt
from flint import fmpz

from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic
from lemmata.numerics.exact.modular import LARGE, modular_product, prime_with_roots, root_of_order

__all__ = ["IntegralProducts", "unit_group_generators"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IntegralProducts:
    """The rows of a table, shape (rows, K), by the numbers of their distinct values.

    values: (rows, K), all `Cyclotomic`. ``ids[R, C]`` is the position of values[R, C] in ``distinct``.
    """

    values: np.ndarray

    @cached_property
    def _numbered(self) -> tuple[list[Cyclotomic], dict[Cyclotomic, int], IntArray]:
        position: dict[Cyclotomic, int] = {}
        by_object: dict[int, int] = {}  # equal values are mostly one object, and objects compare faster than numbers
        ids = np.empty(self.values.shape, dtype=np.int64)
        for index, value in np.ndenumerate(self.values):
            if id(value) not in by_object:
                by_object[id(value)] = position.setdefault(value, len(position))
            ids[index] = by_object[id(value)]
        return list(position), position, ids

    @property
    def distinct(self) -> list[Cyclotomic]:
        """The distinct values, in the order in which they occur first."""
        return self._numbered[0]

    @property
    def ids(self) -> IntArray:
        """The number of each value, shape (rows, K)."""
        return self._numbered[2]

    def conjugate_ids(self, a: int) -> IntArray:
        """The number of each value's image under zeta -> zeta^a, shape (rows, K); -1 where it is no value at all."""
        distinct, position, ids = self._numbered
        images = [position.get(value.galois(a % value.order) if value.order > 1 else value, -1) for value in distinct]
        return np.array(images, dtype=np.int64)[ids]

    @cached_property
    def order(self) -> int:
        """The order N of the cyclotomic field that all values generate; the field itself is never formed."""
        return lcm(*(value.order for value in self.distinct))

    @cached_property
    def row_permutations(self) -> list[list[int]] | None:
        """How generators of the Galois group permute the rows; None if one maps a row to something else."""
        row_of = {row.tobytes(): R for R, row in enumerate(self.ids)}
        permutations = []
        for a in unit_group_generators(self.order):
            images = [row_of.get(row.tobytes(), -1) for row in self.conjugate_ids(a)]
            if sorted(images) != list(range(len(images))):
                return None
            permutations.append(images)
        return permutations

    @cached_property
    def _height(self) -> int | None:
        """An upper bound of the absolute values of all conjugates of all values; None if one is no integer."""
        polynomials = [value.lifted(value.order) for value in self.distinct]
        if any(polynomial.denom() != 1 for polynomial in polynomials):
            return None
        return max(sum(abs(int(c)) for c in polynomial.numer().coeffs()) for polynomial in polynomials)

    @cached_property
    def _prime(self) -> int:
        return prime_with_roots(self.order, LARGE)

    @cached_property
    def residues(self) -> IntArray:
        """The values modulo one prime over p, shape (rows, K), for integral values."""
        p = self._prime
        root = root_of_order(self.order, p)
        images = []
        for value in self.distinct:
            w, total = pow(root, self.order // value.order, p), 0
            for c in reversed(value.lifted(value.order).numer().coeffs()):
                total = (total * w + int(c)) % p
            images.append(total)
        return np.array(images, dtype=np.int64)[self.ids]

    def products(
        self, sizes: tuple[int, ...], inverses: tuple[int, ...], power: int, classes: list[int]
    ) -> np.ndarray | None:
        """The integers sum_C |C| chi_R(C')^power chi_S(C^-1), C' = classes[C]: shape (rows, rows), Python integers.

        None if this route does not decide: a value that is no algebraic integer, rows that the Galois group does not
        permute, sums that are not integers, or numbers that exceed the largest prime.
        """
        permutations, height = self.row_permutations, self._height
        if permutations is None or height is None:
            return None
        p = self._prime
        if 2 * sum(sizes) * height ** (power + 1) >= p:
            return None
        functions = residues = self.residues[:, classes].astype(object)
        for _ in range(power - 1):
            functions = functions * residues % p
        weighted = self.residues[:, list(inverses)].astype(object) * np.array(sizes, dtype=object) % p
        found = modular_product(functions.astype(np.int64), np.ascontiguousarray(weighted.T).astype(np.int64), p)
        found = np.where(found > p // 2, found - p, found)
        if any((found[np.ix_(images, images)] != found).any() for images in permutations):
            return None
        return found.astype(object)


def unit_group_generators(n: int) -> list[int]:
    """Generators of the group of units modulo n >= 1: primitive roots for the odd prime powers, -1 and 5 for 2^k."""
    generators = []
    for prime, exponent in fmpz(n).factor():
        q, power = int(prime), int(prime) ** int(exponent)
        for g in (-1, 5) if q == 2 else (_primitive_root(q, power),):
            rest = n // power  # g modulo the prime power, 1 modulo the rest
            generators.append((1 + rest * ((g - 1) * pow(rest, -1, power) % power)) % n)
    return [a for a in generators if a != 1]


def _primitive_root(q: int, power: int) -> int:
    """A generator of the units modulo a power of the odd prime q."""
    order = power // q * (q - 1)
    primes = [int(r) for r, _ in fmpz(order).factor()]
    return next(g for g in range(2, power) if g % q and all(pow(g, order // r, power) != 1 for r in primes))
