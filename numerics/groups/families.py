"""Generators of families of groups, as permutations, each with its order known in advance.

A ``Recipe`` delays the construction until the order has been compared with a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from lemmata.numerics.groups.finite_fields import prime_power
from lemmata.numerics.groups.matrix import (
    CLASSICAL_GROUPS,
    Permutation,
    affine_generators,
    classical_generators,
    classical_order_factors,
)
from lemmata.numerics.groups.permutations import parse_cycles

__all__ = [
    "FAMILIES",
    "FAMILY_LETTERS",
    "MATHIEU",
    "HugeOrderError",
    "Recipe",
    "bounded_product",
    "product_recipe",
]

HUGE = 10**40


class HugeOrderError(ValueError):
    """The order of a named group exceeds ``HUGE``: it is not even computed."""


@dataclass(frozen=True)
class Recipe:
    """The order of a group and a function that builds generators for it, all on the same points."""

    order: int
    generators: Callable[[], list[Permutation]]


def bounded_product(factors: Iterable[int]) -> int:
    """The product of positive integers; ``HugeOrderError`` as soon as it exceeds 10^40."""
    result = 1
    for factor in factors:
        result *= factor
        if result > HUGE:
            raise HugeOrderError
    return result


def product_recipe(factors: list[Recipe]) -> Recipe:
    """The direct product, acting on the disjoint union of the points of the factors."""

    def generators() -> list[Permutation]:
        parts = [factor.generators() for factor in factors]
        degree = sum(len(part[0]) for part in parts)
        result = []
        offset = 0
        for part in parts:
            size = len(part[0])
            for g in part:
                shifted = (offset + image for image in g)
                result.append((*range(offset), *shifted, *range(offset + size, degree)))
            offset += size
        return result

    return Recipe(bounded_product(factor.order for factor in factors), generators)


def _require(condition: bool, accepted: str) -> None:
    if not condition:
        raise ValueError(accepted)


def _affine(n: int, slope: int, shift: int) -> Permutation:
    return tuple((slope * i + shift) % n for i in range(n))


def _is_prime(p: int) -> bool:
    return (prime_power(p) or (0, 0))[1] == 1


def _is_power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def _cyclic(n: int) -> Recipe:
    _require(n >= 2, "Zn is the cyclic group of order n >= 2")
    return Recipe(n, lambda: [_affine(n, 1, 1)])


def _dihedral(n: int) -> Recipe:
    _require(n >= 1, "Dn is the dihedral group of order 2n, n >= 1 (D1 = Z2 and D2 = Z2^2)")
    if n <= 2:
        return product_recipe([_cyclic(2)] * n)
    return Recipe(2 * n, lambda: [_affine(n, 1, 1), _affine(n, -1, 0)])


def _symmetric(n: int) -> Recipe:
    _require(n >= 2, "Sn is the symmetric group on n >= 2 points")
    return Recipe(bounded_product(range(2, n + 1)), lambda: [_affine(n, 1, 1), (1, 0, *range(2, n))][: n - 1])


def _alternating(n: int) -> Recipe:
    _require(n >= 3, "An is the alternating group on n >= 3 points")

    def generators() -> list[Permutation]:
        three = (1, 2, 0, *range(3, n))
        long = _affine(n, 1, 1) if n % 2 else (0, *(1 + i for i in _affine(n - 1, 1, 1)))
        return [three, long][: n - 2]

    return Recipe(bounded_product(range(3, n + 1)), generators)


def _dicyclic(n: int) -> Recipe:
    """The dicyclic group, a^2n = 1, x^2 = a^n, x a = a^-1 x, acting on the a^i x^j from the left.

    The point a^i x^j has the number i + 2nj, with i mod 2n and j in {0, 1}.
    """
    _require(n >= 2, "Dicn is the dicyclic group of order 4n, n >= 2")

    def generators() -> list[Permutation]:
        m = 2 * n
        a = (*((i + 1) % m for i in range(m)), *(m + (i + 1) % m for i in range(m)))
        x = (*(m + -i % m for i in range(m)), *((n - i) % m for i in range(m)))
        return [a, x]

    return Recipe(4 * n, generators)


def _quaternion(n: int) -> Recipe:
    _require(n >= 8 and _is_power_of_two(n), "Qn is the generalised quaternion group of order n = 8, 16, 32, ...")
    return _dicyclic(n // 4)


def _semidihedral(n: int) -> Recipe:
    """r^(n/2) = s^2 = 1, s r s = r^(n/4 - 1), on Z_(n/2): r is i -> i + 1 and s is i -> (n/4 - 1) i."""
    _require(n >= 16 and _is_power_of_two(n), "SDn is the semidihedral group of order n = 16, 32, 64, ...")
    return Recipe(n, lambda: [_affine(n // 2, 1, 1), _affine(n // 2, n // 4 - 1, 0)])


def _heisenberg(p: int) -> Recipe:
    """The Heisenberg group on F_p^2: (x, y) -> (x + 1, y) and (x, y + x), whose commutator is (x, y) -> (x, y +- 1)."""
    _require(p % 2 == 1 and _is_prime(p), "Hep is the Heisenberg group of order p^3, p an odd prime")

    def generators() -> list[Permutation]:
        points = [(x, y) for x in range(p) for y in range(p)]
        return [tuple((x + 1) % p * p + y for x, y in points), tuple(x * p + (y + x) % p for x, y in points)]

    return Recipe(p**3, generators)


def _extraspecial(sign: str, exponent: int) -> Recipe:
    """Pairs (v, z) of F_2^2k x F_2 with (v, z)(w, y) = (v + w, z + y + b(v, w)), acting by left products.

    b(v, v) is the quadratic form of the squares: sum_i v_2i v_2i+1, and for the sign - also v_0^2 + v_1^2.
    """
    accepted = "2+^(1+2k) and 2-^(1+2k) are the extraspecial groups of order 2^(1+2k), with an even number 2k >= 2"
    _require(exponent >= 2 and exponent % 2 == 0, accepted)

    def generators() -> list[Permutation]:
        form = np.zeros((exponent, exponent), dtype=np.int64)
        for i in range(0, exponent, 2):
            form[i, i + 1] = 1
        if sign == "-":
            form[0, 0] = form[1, 1] = 1
        points = np.arange(2 ** (exponent + 1))
        bits = points[:, None] >> np.arange(1, exponent + 1) & 1  # bit 0 is z
        return [tuple((points ^ (2 << i) ^ (bits @ form[i] & 1)).tolist()) for i in range(exponent)]

    return Recipe(bounded_product(2 for _ in range(exponent + 1)), generators)


def _frobenius(p: int, q: int) -> Recipe:
    """The maps x -> x + 1 and x -> g x on Z_p with g of order q."""
    accepted = "Zp:Zq is the Frobenius group of order pq, p prime and q >= 2 a divisor of p - 1"
    _require(q >= 2 and _is_prime(p) and (p - 1) % q == 0, accepted)

    def generators() -> list[Permutation]:
        smaller = [d for d in range(1, q) if q % d == 0]
        slope = next(g for g in range(2, p) if pow(g, q, p) == 1 and all(pow(g, d, p) != 1 for d in smaller))
        return [_affine(p, 1, 1), _affine(p, slope, 0)]

    return Recipe(p * q, generators)


def _frobenius_of_order(n: int) -> Recipe:
    p, rest = 1, n  # p becomes the largest prime factor
    for d in range(2, n):
        if d * d > rest:
            break
        while rest % d == 0:
            p, rest = d, rest // d
    p = max(p, rest)
    accepted = "Fn is the Frobenius group Zp:Zq of order n = pq, p prime and q >= 2 a divisor of p - 1, such as F20"
    _require(p >= 2 and n // p >= 2 and (p - 1) % (n // p) == 0, accepted)
    return _frobenius(p, n // p)


def _affine_line(q: int) -> Recipe:
    _require(q >= 3 and prime_power(q) is not None, "AGL(1,q) needs a prime power q >= 3")
    return Recipe(q * (q - 1), lambda: affine_generators(q))


def _classical(family: str, n: int, q: int) -> Recipe:
    _require(n >= 2 and prime_power(q) is not None, f"{family}(n,q) needs n >= 2 and a prime power q")
    _require(n % 2 == 0 or not family.endswith("Sp"), f"{family}(n,q) needs an even n")
    if family.endswith("SU"):
        _require(n >= 3 and (n, q) != (3, 2), f"{family}(n,q) needs n >= 3, and q >= 3 for n = 3; SU(2,q) is SL(2,q)")
    order = bounded_product(classical_order_factors(family, n, q))
    return Recipe(order, lambda: classical_generators(family, n, q, order))


# order and generators by degree
MATHIEU = {
    "11": (7920, "(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)"),
    "12": (95040, "(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)", "(1,12)(2,11)(3,6)(4,8)(5,9)(7,10)"),
    "22": (
        443520,
        "(1,2,3,4,5,6,7,8,9,10,11)(12,13,14,15,16,17,18,19,20,21,22)",
        "(1,4,5,9,3)(2,8,10,7,6)(12,15,16,20,14)(13,19,21,18,17)",
        "(1,21)(2,10,8,6)(3,13,4,17)(5,19,9,18)(11,22)(12,14,16,20)",
    ),
}


def _mathieu(degree: str) -> Recipe:
    order, *cycles = MATHIEU[degree]
    return Recipe(order, lambda: [parse_cycles(text, int(degree)) for text in cycles])


def _numbers(build: Callable[..., Recipe]) -> Callable[..., Recipe]:
    return lambda *texts: build(*(int(text) for text in texts))


_N = r"(\d{1,9})"
# how a factor is written, what builds it, and the line of help
FAMILIES: tuple[tuple[str, Callable[..., Recipe], str], ...] = (
    (rf"[ZC]{_N}", _numbers(_cyclic), "Zn or Cn (cyclic, n >= 2)"),
    (rf"D{_N}", _numbers(_dihedral), "Dn (dihedral of order 2n, n >= 1)"),
    (rf"S{_N}", _numbers(_symmetric), "Sn (symmetric, n >= 2)"),
    (rf"A{_N}", _numbers(_alternating), "An (alternating, n >= 3)"),
    (rf"Q{_N}", _numbers(_quaternion), "Qn (generalised quaternion of order n = 8, 16, 32, ...)"),
    (rf"Dic{_N}", _numbers(_dicyclic), "Dicn (dicyclic of order 4n, n >= 2)"),
    (rf"SD{_N}", _numbers(_semidihedral), "SDn (semidihedral of order n = 16, 32, 64, ...)"),
    (rf"He{_N}", _numbers(_heisenberg), "Hep (Heisenberg of order p^3, p an odd prime)"),
    (
        rf"2([+-])\^\(1\+{_N}\)",
        lambda sign, exponent: _extraspecial(sign, int(exponent)),
        "2+^(1+4), 2-^(1+4) (extraspecial of order 32, likewise 2, 6, ... for 4)",
    ),
    (rf"[ZC]{_N}:[ZC]{_N}", _numbers(_frobenius), "Zp:Zq or Cp:Cq (Frobenius, p prime, q a divisor of p - 1)"),
    (rf"F{_N}", _numbers(_frobenius_of_order), "Fn (the Frobenius group Zp:Zq of order n = pq, such as F20)"),
    (rf"AGL\(1,{_N}\)", _numbers(_affine_line), "AGL(1,q)"),
    (
        rf"({'|'.join(CLASSICAL_GROUPS)})\({_N},{_N}\)",
        lambda family, n, q: _classical(family, int(n), int(q)),
        f"{', '.join(f'{family}(n,q)' for family in CLASSICAL_GROUPS)} (q a prime power, n >= 2)",
    ),
    (rf"M({'|'.join(MATHIEU)})", _mathieu, ", ".join(f"M{degree}" for degree in MATHIEU)),
)

FAMILY_LETTERS = ("Z", "C", "D", "S", "A", "Q", "Dic", "SD", "He", "F", "AGL", *CLASSICAL_GROUPS, "M")
"""The letters with which names begin."""
