"""Symmetry: orbits of triples and of moments, and Gram matrices that fall into blocks.

A symmetry of a table permutes its rows, columns and labels (a swap moves rows to columns), and with them the monomials
of a program. By convexity the multipliers and the Gram matrix may be taken invariant. An invariant matrix is positive
semidefinite if and only if it is so on one subspace for each irreducible representation that occurs: the image of one
vector of the representation under all invariant matrices (the *commutant*). For a representation of multiplicity m that
is real, complex or quaternionic the subspace has dimension m, 2 m or 4 m. Both a representation and its subspace are
found numerically from a random element of the commutant; a failure of this would show as slack of the bound, never as a
wrong bound, since the matrix is checked in full coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from lemmata.certificates.operations.programs_form import block_rows
from lemmata.certificates.operations.programs_template import Template
from lemmata.numerics.operations.operation import MISSING, Operation

__all__ = ["Generators", "HasGenerators", "Permutations", "Reduction", "generators_of", "reduction", "triple_orbits"]

SEED = 20_120


class HasGenerators(Protocol):
    """Anything with generators: permutations of the |A| + |B| + C points."""

    @property
    def generators(self) -> Sequence[ArrayLike]:
        """The permutations, each by its images."""
        ...


Permutations = Sequence[ArrayLike] | HasGenerators
"""Generators of a group of symmetries, or an object that has them."""

Generators = tuple[NDArray[np.int64], ...]
"""The same, checked and as arrays, without the identity."""


@dataclass(frozen=True)
class Reduction:
    """A program in invariant coordinates.

    Attributes:
        spread: from the orbits of moments to all moments, shape (moments, orbits), entries 0 and 1.
        blocks: order and rows of each block in the orbits of moments, as in `ConeData`.
        expanded: from the Gram matrices of the blocks to the invariant Gram matrix in all (scaled) coordinates.
    """

    spread: sparse.csr_array
    blocks: tuple[tuple[int, sparse.csr_array], ...]
    expanded: Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]

    @property
    def sums(self) -> sparse.csr_array:
        """From coefficients of moments to coefficients of their orbits."""
        return sparse.csr_array(self.spread.T)


def generators_of(symmetries: Permutations | None, points: int) -> Generators:
    """The permutations of so many points as arrays, without the identity.

    Raises:
        ValueError: for something that is no permutation of the points.
    """
    if symmetries is None:
        return ()
    listed = symmetries if isinstance(symmetries, Sequence) else symmetries.generators
    arrays = tuple(np.asarray(generator, np.int64) for generator in listed)
    for array in arrays:
        if array.shape != (points,) or not np.array_equal(np.sort(array), np.arange(points)):
            raise ValueError(f"A symmetry of this table is a permutation of {points} points: rows, columns and labels.")
    return tuple(array for array in arrays if not np.array_equal(array, np.arange(points)))


def triple_orbits(table: Operation, generators: Generators) -> NDArray[np.int64]:
    """The number of the orbit of each of `table.triples`.

    Raises:
        ValueError: for a permutation that is no symmetry of the table.
    """
    triples = np.array(table.triples)
    index = np.full((table.rows, table.columns, table.label_count), -1)
    index[tuple(triples.T)] = np.arange(len(triples))
    values = table.array()
    images = []
    for number, generator in enumerate(generators):
        left, right = generator[triples[:, 0]], generator[triples[:, 1] + table.rows]
        a, b = np.minimum(left, right), np.maximum(left, right) - table.rows
        c = generator[triples[:, 2] + table.size] - table.size
        good = ((a >= 0) & (a < table.rows) & (b >= 0) & (b < table.columns) & (c >= 0)).all()
        if good:
            labels = generator[values[triples[:, 0], triples[:, 1]] + table.size] - table.size
            good = (values[a, b] == labels).all() and (values[a, b] != MISSING).all()
        if not good:
            raise ValueError(f"Permutation {number} is no symmetry of the table {table.name}.")
        images.append(index[a, b, c])
    return _components(len(triples), images)


def _components(count: int, images: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The orbits of permutations, numbered."""
    if not images:
        return np.arange(count)
    ends = np.concatenate(images)
    starts = np.tile(np.arange(count), len(images))
    graph = sparse.csr_array((np.ones(len(ends)), (starts, ends)), shape=(count, count))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def reduction(shape: Template, generators: Generators) -> Reduction:
    """The program of a template in coordinates invariant under the permutations."""
    if not generators:
        return _whole(shape)
    d = shape.dimension
    images = [shape.image(generator) for generator in generators]
    pairs = _components(d * d, [(image[:, None] * d + image[None, :]).ravel() for image in images]).reshape(d, d)
    # The orbit of a moment is the set of the moments of an orbit of pairs; several orbits of pairs can be the same one.
    count = int(pairs.max()) + 1
    joined = sparse.csr_array((np.ones(d * d), (pairs.ravel(), shape.moment_of.ravel())), shape=(count, shape.moments))
    graph = sparse.bmat([[None, joined], [joined.T, None]])
    moments = np.unique(connected_components(graph, directed=False)[1][count:], return_inverse=True)[1]
    orbits = int(moments.max()) + 1
    spread = sparse.csr_array(
        (np.ones(shape.moments), (np.arange(shape.moments), moments)), shape=(shape.moments, orbits)
    )
    bases = _bases(pairs)
    orbit_of = moments[shape.moment_of]
    rows = _rows(bases, orbit_of, shape.scale, orbits)
    blocks = tuple((basis.shape[1], part) for basis, part in zip(bases, rows, strict=True))
    sizes = np.bincount(pairs.ravel())

    def expanded(grams: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        whole = sum(basis @ gram @ basis.T for basis, gram in zip(bases, grams, strict=True))
        means = np.bincount(pairs.ravel(), weights=np.asarray(whole).ravel()) / sizes
        return means[pairs]

    return Reduction(spread, blocks, expanded)


@lru_cache(maxsize=16)
def _whole(shape: Template) -> Reduction:
    """The program without symmetry."""
    rows = block_rows(shape.moment_of, shape.scale, shape.moments)
    return Reduction(
        sparse.csr_array(sparse.eye_array(shape.moments)),
        ((shape.dimension, rows),),
        lambda grams: grams[0].copy(),
    )


def _bases(pairs: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Orthonormal bases of one subspace for each irreducible representation, from the orbits of pairs."""
    d, orbits = len(pairs), int(pairs.max()) + 1
    generator = np.random.default_rng(SEED)
    element = generator.standard_normal(orbits)[pairs]
    values, vectors = np.linalg.eigh(element + element.T)
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > 1e-8 * np.abs(values).max())
    spaces = np.split(np.arange(d), starts[1:])
    mixing = generator.standard_normal((orbits, min(d, 4 * len(spaces)) + 1))
    done = np.zeros(len(spaces), bool)
    bases = []
    monomials = [np.flatnonzero(np.diag(pairs) == orbit) for orbit in np.unique(np.diag(pairs))]
    row, column = np.indices((d, d)).reshape(2, -1)
    for number, space in enumerate(spaces):
        if done[number]:
            continue
        vector = vectors[:, space] @ generator.standard_normal(len(space))
        moved = sparse.csr_array((vector[column], (row, pairs.ravel())), shape=(d, orbits))
        basis = _spanned(moved @ mixing, monomials)
        for other in range(number, len(spaces)):
            done[other] |= float(np.linalg.norm(basis.T @ vectors[:, spaces[other]])) > 1e-6
        bases.append(basis)
    return bases


def _spanned(vectors: NDArray[np.float64], parts: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """An orthonormal basis of the span of the columns, which is the sum of its projections to the parts.

    The projection to an orbit of monomials commutes with the symmetries. Vectors that stay in one orbit keep the rows
    of the blocks sparse.
    """
    size, columns = np.abs(vectors).max(), []
    for part in parts:
        left, singular, _ = np.linalg.svd(vectors[part], full_matrices=False)
        kept = left[:, singular > 1e-9 * size]
        column = np.zeros((len(vectors), kept.shape[1]))
        column[part] = kept
        columns.append(column)
    return np.hstack(columns)


def _rows(
    bases: list[NDArray[np.float64]], orbit_of: NDArray[np.int64], scale: NDArray[np.float64], orbits: int
) -> list[sparse.csr_array]:
    """The rows of each block in orbits of moments: its lower triangle by columns, off-diagonal ones times sqrt 2."""
    d = len(scale)
    # One row for each pair of an orbit and a row of the whole matrix that it meets, sorted by orbits.
    pairs, inverse = np.unique(orbit_of * d + np.arange(d)[:, None], return_inverse=True)
    met = sparse.csr_array((np.ones(d * d), (inverse.ravel(), np.tile(np.arange(d), d))), shape=(len(pairs), d))
    bounds, rows = np.searchsorted(pairs // d, np.arange(orbits + 1)), pairs % d
    blocks = []
    for basis in bases:
        scaled = basis * scale[:, None]
        inner, outer = met @ scaled, scaled[rows]
        j, i = np.triu_indices(basis.shape[1])
        factor = np.where(i == j, 1.0, np.sqrt(2))
        entries = np.empty((len(i), orbits))
        for orbit in range(orbits):
            part = slice(bounds[orbit], bounds[orbit + 1])
            entries[:, orbit] = (outer[part].T @ inner[part])[i, j] * factor
        entries[np.abs(entries) < 1e-13 * np.abs(entries).max()] = 0.0
        blocks.append(sparse.csr_array(entries))
    return blocks
