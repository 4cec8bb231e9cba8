"""All groups up to an order that can be reached: from the small groups library of GAP, or by name.

By name, a group is a direct product of indecomposable ones. The decomposition of a finite group into indecomposable
factors is unique up to order and isomorphism (Krull, Remak and Schmidt), so that different multisets of pairwise
non-isomorphic indecomposable groups give non-isomorphic products. It remains to find the indecomposable groups among
the families of `lemmata.numerics.groups.names`: a group of a family is new when it is isomorphic neither to a product
nor to an earlier member of a family, which `isomorphic` decides. (A member that is a product of groups without a name
would count as indecomposable; no member of these families is.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lemmata.numerics.groups.finite_fields import prime_power
from lemmata.numerics.groups.matrix import CLASSICAL_GROUPS
from lemmata.numerics.groups.names import gap_available, parse_group, small_group_count
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.groups.stabilisers import OrderLimitError, StabiliserChain

__all__ = ["GROUP_COUNTS", "GroupList", "group_list", "isomorphic", "named_groups", "small_groups"]

# fmt: off
GROUP_COUNTS = (
    1, 1, 1, 2, 1, 2, 1, 5, 2, 2, 1, 5, 1, 2, 1, 14, 1, 5, 1, 5, 2, 2, 1, 15, 2, 2, 5, 4, 1, 4, 1, 51, 1, 2, 1, 14, 1,
    2, 2, 14, 1, 6, 1, 4, 2, 2, 1, 52, 2, 5, 1, 5, 1, 15, 2, 13, 2, 2, 1, 13, 1, 2, 4, 267, 1, 4, 1, 5, 1, 4, 1, 50, 1,
    2, 3, 4, 1, 6, 1, 52, 15, 2, 1, 15, 1, 2, 1, 12, 1, 10, 1, 4, 2, 2, 1, 231, 1, 5, 2, 16, 1, 4, 1, 14, 2, 2, 1, 45,
    1, 6, 2, 43, 1, 6, 1, 5, 4, 2, 1, 47, 2, 2, 1, 4, 5, 16, 1,
)
# fmt: on
"""The number of groups of order 1, 2, .., 127 up to isomorphism (OEIS A000001)."""


@dataclass(frozen=True)
class GroupList:
    """Names of pairwise non-isomorphic groups, by ascending order; what they are, and what is missed."""

    names: tuple[str, ...]
    description: str


def group_list(max_order: int) -> GroupList:
    """All groups of order 2 to ``max_order`` from the small groups library, or without GAP those with a name.

    Raises:
        ValueError: for ``max_order`` below 2 and for orders that the library does not contain.
    """
    return small_groups(max_order) if gap_available() else named_groups(max_order)


def small_groups(max_order: int) -> GroupList:
    """All groups of order 2 to ``max_order``, as small:ORDER,NUMBER.

    Raises:
        ValueError: as `small_group_count`.
    """
    _refuse_orders(max_order)
    names = tuple(f"small:{n},{i}" for n in range(2, max_order + 1) for i in range(1, small_group_count(n) + 1))
    return GroupList(names, f"all {len(names)} groups of order 2 to {max_order}, from the small groups library")


def named_groups(max_order: int) -> GroupList:
    """The groups of order 2 to ``max_order`` that are direct products of members of the families of `parse_group`.

    Of several names of a group the first in the order of `_family_names` is taken.
    """
    _refuse_orders(max_order)
    families: dict[int, list[PermutationGroup]] = {}
    for group in _families(max_order):
        families.setdefault(group.order, []).append(group)
    indecomposable: list[tuple[str, int]] = []
    by_order: dict[int, list[str]] = {}
    for order in range(2, max_order + 1):
        names = [_product_name(factors) for factors in _products(order, indecomposable)]
        known = [parse_group(name) for name in names] if order in families else []
        for group in families.get(order, []):
            if not any(isomorphic(group, other) for other in known):
                known.append(group)
                names.append(group.name)
                indecomposable.append((group.name, order))
        by_order[order] = names
    return GroupList(tuple(name for names in by_order.values() for name in names), _description(by_order, max_order))


def isomorphic(first: PermutationGroup, second: PermutationGroup) -> bool:
    """Whether two groups are isomorphic, by search for images of the generators; for small groups.

    Elements h_1, .., h_j are images of g_1, .., g_j under an isomorphism of the subgroups that they generate exactly
    when the pairs (g_i, h_i) generate a group of the order of both subgroups.
    """
    if _fingerprint(first) != _fingerprint(second):
        return False
    generators, orders = _independent(first)
    kinds = {kind: np.flatnonzero(_kinds(second) == kind) for kind in set(_kinds(second))}
    wanted = _kinds(first)[first.index_of(generators)]

    def extends(images: list[int]) -> bool:
        if len(images) == len(generators):
            return True
        position = len(images)
        candidates = kinds[wanted[position]]
        if position == 0:  # up to conjugation
            candidates = np.intersect1d(candidates, second.classes.representative_indices)
        for candidate in candidates:
            pairs = [
                np.r_[generators[i], first.degree + second.elements[h]] for i, h in enumerate([*images, int(candidate)])
            ]
            same = (
                _order(pairs, orders[position])
                == orders[position]
                == _order([second.elements[h] for h in [*images, int(candidate)]], orders[position])
            )
            if same and extends([*images, int(candidate)]):
                return True
        return False

    return extends([])


def _kinds(group: PermutationGroup) -> np.ndarray:
    """A number for each element that is equal for elements with equal orders and class sizes, of all their powers."""
    classes = group.classes
    profiles = list(zip(classes.element_orders.tolist(), classes.sizes.tolist(), strict=True))
    powers = [tuple(profiles[D] for D in classes.power_table[:, C]) for C in range(len(classes))]
    return np.array([hash(profile) for profile in powers])[classes.class_of]


def _fingerprint(group: PermutationGroup) -> tuple[int, Counter[int]]:
    return group.order, Counter(_kinds(group).tolist())


def _order(generators: list[np.ndarray], limit: int) -> int:
    """The order of the group that permutations generate, or limit + 1 when it is larger."""
    try:
        return StabiliserChain.of(np.array(generators), limit).order
    except OrderLimitError:
        return limit + 1


def _independent(group: PermutationGroup) -> tuple[np.ndarray, list[int]]:
    """The generators that enlarge the group which the earlier ones generate, and the orders of these groups."""
    kept: list[np.ndarray] = []
    orders: list[int] = []
    for generator in np.array(group.generators):
        order = _order([*kept, generator], group.order)
        if order > (orders[-1] if orders else 1):
            kept.append(generator)
            orders.append(order)
    return np.array(kept), orders


def _families(max_order: int) -> Iterator[PermutationGroup]:
    """The groups of the families up to an order, the best-known names first; members may be isomorphic."""
    primes_and_powers = [q for q in range(2, max_order + 1) if prime_power(q)]
    small_fields = [q for q in primes_and_powers if q * (q - 1) <= 2 * max_order]
    candidates = [
        *(f"Z{q}" for q in primes_and_powers),
        *(f"{family}{n}" for family in "SA" for n in range(3, 8)),
        *(f"{family}{2**i}" for family in ("Q", "SD") for i in range(3, max_order.bit_length())),
        *(f"D{n}" for n in range(3, max_order // 2 + 1)),
        *(f"Dic{n}" for n in range(2, max_order // 4 + 1)),
        *(f"He{p}" for p in primes_and_powers if p**3 <= max_order and p % 2 and prime_power(p) == (p, 1)),
        *(f"2{sign}^(1+{i})" for sign in "+-" for i in range(4, max_order.bit_length() - 1, 2)),
        *(
            f"Z{p}:Z{d}"
            for p in primes_and_powers
            if prime_power(p) == (p, 1)
            for d in range(3, p)
            if (p - 1) % d == 0 and p * d <= max_order
        ),
        *(f"AGL(1,{q})" for q in small_fields if q * (q - 1) <= max_order and q > 2),
        *(f"{family}({n},{q})" for family in CLASSICAL_GROUPS for n in (2, 3, 4) for q in small_fields),
    ]
    for name in candidates:
        try:
            yield parse_group(name, max_order)
        except ValueError:  # above the order, or not a member of the family (Sp of odd dimension, SU(3,2))
            continue


def _products(order: int, factors: list[tuple[str, int]], start: int = 0) -> Iterator[list[str]]:
    """The multisets of at least two factors whose orders multiply to ``order``."""
    for position in range(start, len(factors)):
        name, size = factors[position]
        if size >= order or order % size:
            continue
        rest = order // size
        for second in range(position, len(factors)):
            if factors[second][1] == rest:
                yield [name, factors[second][0]]
        yield from ([name, *others] for others in _products(rest, factors, position))


def _product_name(factors: list[str]) -> str:
    """The name of a product, with the cyclic factors in invariant form: Z2 x Z2 x Z3 is Z2xZ6."""
    powers: dict[int, list[int]] = {}
    for factor in factors:
        if factor[0] == "Z" and factor[1:].isdigit():
            p, _ = prime_power(int(factor[1:])) or (0, 0)
            powers.setdefault(p, []).append(int(factor[1:]))
    columns = [sorted(members, reverse=True) for members in powers.values()]
    depth = max(map(len, columns), default=0)
    cyclic = [int(np.prod([c[i] for c in columns if i < len(c)])) for i in reversed(range(depth))]
    others = [factor for factor in factors if not (factor[0] == "Z" and factor[1:].isdigit())]
    return "x".join([*(f"Z{n}" for n in cyclic), *others])


def _description(by_order: dict[int, list[str]], max_order: int) -> str:
    found = sum(map(len, by_order.values()))
    said = f"{found} groups of order 2 to {max_order} by name, without the extra gap"
    if max_order > len(GROUP_COUNTS):
        return f"{said}; others have no name here"
    missed = {n: GROUP_COUNTS[n - 1] - len(names) for n, names in by_order.items()}
    if not any(missed.values()):
        return f"{said}: these are all"
    listed = ", ".join(f"{count} of order {n}" for n, count in missed.items() if count)
    return f"{said}; the other {sum(missed.values())} have no name here: {listed}"


def _refuse_orders(max_order: int) -> None:
    if max_order < 2:
        raise ValueError(f"The largest order must be at least 2, not {max_order}.")
