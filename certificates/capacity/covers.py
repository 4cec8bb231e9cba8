"""Covering numbers of finite classes, certified on both sides: the cover, and why no smaller one exists.

A class is a table of exact values, one row for each function. A set of functions is covered by one centre of the class
if all its members are within the radius of it on the whole sample (a proper cover). If the centre may be any function,
it is covered exactly if its members are pairwise within twice the radius, since for each value separately the middle
of the largest and the smallest is a centre; so the sets are the maximal groups of pairwise near functions. Either way
the covering number is that of a set cover (`lemmata.certificates.capacity.set_cover`).

As a function of the radius the covering number falls at distances of functions (half distances for centres outside)
only, so that it is a step function, with which the entropy integral is exact.

Source: variable-creation, definition 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmata.certificates.capacity.set_cover import (
    CoverError,
    SetCover,
    least_set_cover,
    maximal_cliques,
    verify_set_cover,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.learning.finite_classes import Norm, class_table, sample_distances

Array = NDArray[Any]

LARGEST_CLASS = 200
"""Functions that a class may have."""
LARGEST_GROUPS = 20_000
"""Maximal groups of pairwise near functions that a class may have."""


@dataclass(frozen=True)
class CoverCertificate:
    """A cover of a finite class, and a lower bound on the size of every one.

    Attributes:
        radius: eps.
        proper: whether the centres belong to the class.
        norm: of the values.
        centres: their values on the sample, shape (size, points), or with components.
        assignment: for each function the number of a centre within the radius.
        sets: the cover of the set of functions that it comes from, with the proof of the lower bound.
    """

    radius: fmpq
    proper: bool
    norm: Norm
    centres: Array
    assignment: tuple[int, ...]
    sets: SetCover

    @property
    def size(self) -> int:
        """The number of centres, an upper bound on the covering number."""
        return len(self.centres)

    @property
    def lower(self) -> int:
        """A lower bound on the covering number."""
        return self.sets.lower

    @property
    def exact(self) -> bool:
        """Whether both sides meet, so that the covering number is `size`."""
        return self.sets.exact


def certify_cover(table: Any, radius: object, *, proper: bool = True, norm: Norm = "absolute") -> CoverCertificate:
    """A least cover of a finite class in the supremum norm over the sample, with its certificate, verified.

    Args:
        table: exact values, (functions, points), or (functions, points, components) unless the norm is ``absolute``.
        radius: eps, exact and positive.
        proper: whether centres belong to the class; if not, the norm must be ``absolute`` or ``maximum``.
        norm: of the values, as for `sample_distances`.

    Raises:
        ValueError: for no table, a radius that is not positive, more than `LARGEST_CLASS` functions or
            `LARGEST_GROUPS` groups, or centres outside of the class in another norm.
    """
    eps = as_exact([radius])[0]
    if not eps > 0:
        raise ValueError(f"The radius eps of a cover must be positive, not {radius}.")
    values = class_table(table, vectors=norm != "absolute")
    sets = _near_sets(values, eps, proper, norm)
    found = least_set_cover(sets, len(values))
    centres = values[list(found.chosen)] if proper else _middles(values, [sets[k] for k in found.chosen])
    assignment = [next(j for j, k in enumerate(found.chosen) if sets[k] >> f & 1) for f in range(len(values))]
    certificate = CoverCertificate(eps, proper, norm, centres, tuple(assignment), found)
    verify_cover(values, certificate)
    return certificate


def verify_cover(table: Any, certificate: CoverCertificate) -> None:
    """Check a certificate against the table: all distances, membership of proper centres, and the lower bound.

    Raises:
        CoverError: if something does not hold.
        ValueError: as `certify_cover`.
    """
    values = class_table(table, vectors=certificate.norm != "absolute")
    if len(certificate.assignment) != len(values):
        raise CoverError(f"There must be {len(values)} assignments, one for each function.")
    limit = certificate.radius**2 if certificate.norm == "euclidean" else certificate.radius
    for f, j in enumerate(certificate.assignment):
        if not 0 <= j < certificate.size:
            raise CoverError(f"Function {f} is assigned to centre {j}, which does not exist.")
        pair = np.array([values[f], certificate.centres[j]], dtype=object)
        distance = sample_distances(pair, norm=certificate.norm)[0, 1]
        if distance > limit:
            raise CoverError(f"Function {f} is at distance {distance} from centre {j}, beyond {limit}.")
    rows = {tuple(row.flat) for row in values}
    if certificate.proper and any(tuple(centre.flat) not in rows for centre in certificate.centres):
        raise CoverError("A centre of a proper cover does not belong to the class.")
    if len(certificate.sets.chosen) != certificate.size:
        raise CoverError("The cover of the set of functions has another size than the list of centres.")
    sets = _near_sets(values, certificate.radius, certificate.proper, certificate.norm)
    verify_set_cover(sets, len(values), certificate.sets)


def covering_steps(table: Any, *, proper: bool = True, norm: Norm = "absolute") -> list[tuple[fmpq, int]]:
    """The covering number as a step function of the radius: pairs (radius, number), from radius 0 on.

    Equal numbers are merged; between two radii with one number nothing is computed, as it never grows.

    Raises:
        ValueError: as `certify_cover`, for the Euclidean norm, whose steps are not rational, or if the two sides of
            some covering number do not meet.
    """
    if norm == "euclidean":
        raise ValueError("The radii of the steps are not rational in the Euclidean norm: give another one.")
    values = class_table(table, vectors=norm != "absolute")
    radii = sorted(set(sample_distances(values, norm=norm).flat))
    radii = radii if proper else [radius / 2 for radius in radii]
    numbers: dict[int, int] = {0: len({tuple(row.flat) for row in values})}

    def number(k: int) -> int:
        if k not in numbers:
            found = certify_cover(values, radii[k], proper=proper, norm=norm)
            if not found.exact:
                raise ValueError(
                    f"At the radius {found.radius} the covering number is only known to lie between {found.lower} and "
                    f"{found.size}: take a smaller class."
                )
            numbers[k] = found.size
        return numbers[k]

    def fill(low: int, high: int) -> None:
        if high - low > 1 and number(low) != number(high):
            middle = (low + high) // 2
            number(middle)
            fill(low, middle)
            fill(middle, high)

    number(len(radii) - 1)
    fill(0, len(radii) - 1)
    steps: list[tuple[fmpq, int]] = []
    for k in sorted(numbers):
        if not steps or numbers[k] != steps[-1][1]:
            steps.append((radii[k], numbers[k]))
    return steps


def largest_packing(table: Any, separation: object, *, norm: Norm = "absolute") -> tuple[int, ...]:
    """A largest set of functions with pairwise distances above the separation, by their numbers in the table.

    A packing at 2 eps is no larger than any cover of radius eps, proper or not, and a largest one at eps is a cover.

    Args:
        table: as for `certify_cover`.
        separation: exact, at least 0.
        norm: of the values.

    Raises:
        ValueError: as `certify_cover`, for the separation.
    """
    gap = as_exact([separation])[0]
    if gap < 0:
        raise ValueError(f"The separation of a packing must be at least 0, not {separation}.")
    distances = _distances(class_table(table, vectors=norm != "absolute"), norm)
    limit = gap**2 if norm == "euclidean" else gap
    far = [sum(1 << g for g, x in enumerate(row) if x > limit) for row in distances.tolist()]
    best = max(maximal_cliques(far, LARGEST_GROUPS), key=int.bit_count)
    return tuple(i for i in range(len(far)) if best >> i & 1)


def _distances(values: Array, norm: Norm) -> Array:
    if len(values) > LARGEST_CLASS:
        raise ValueError(f"The class has {len(values)} functions, more than {LARGEST_CLASS}: take a smaller one.")
    return sample_distances(values, norm=norm)


def _near_sets(values: Array, eps: fmpq, proper: bool, norm: Norm) -> list[int]:
    """The sets of functions that one centre covers; those of all centres that are maximal, if it is outside."""
    if not proper and norm not in ("absolute", "maximum"):
        raise ValueError(f"Centres outside of the class are known for absolute and maximum norms, not for {norm!r}.")
    distances = _distances(values, norm).tolist()
    limit = eps if proper else 2 * eps
    limit = limit**2 if norm == "euclidean" else limit
    near = [sum(1 << g for g, x in enumerate(row) if x <= limit) for row in distances]
    return near if proper else maximal_cliques([bits & ~(1 << f) for f, bits in enumerate(near)], LARGEST_GROUPS)


def _middles(values: Array, groups: list[int]) -> Array:
    rows = [[f for f in range(len(values)) if group >> f & 1] for group in groups]
    return np.array([(values[row].max(axis=0) + values[row].min(axis=0)) / 2 for row in rows], dtype=object)
