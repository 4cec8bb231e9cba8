"""Tables of families of groups: cyclic ones, and the Murnaghan-Nakayama rule against two independent routes."""

from collections import Counter
from functools import cache
from itertools import permutations
from math import factorial, prod

import numpy as np
import pytest

from lemmata.certificates.characters.families import cyclic_characters, symmetric_characters
from lemmata.certificates.characters.traces import characters_of
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.constructions.representations.young import partitions
from lemmata.numerics.groups.tables import is_even, symmetric


def cycle_type(permutation):
    """Lengths of the cycles of a permutation given by its images, in decreasing order."""
    lengths, seen = [], set()
    for start in range(len(permutation)):
        length, point = 0, start
        while point not in seen:
            seen.add(point)
            length, point = length + 1, permutation[point]
        lengths += [length] if length else []
    return tuple(sorted(lengths, reverse=True))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 9])
def test_cyclic_tables(n):
    table = cyclic_characters(n)
    values = table.values.astype(complex)
    expected = np.exp(2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
    # 4 roundings: two of the exact numbers, two in numpy's exponential and its argument (at most 2 pi n of size)
    assert abs(values - expected).max() < 4 * 2 * np.pi * n * 2.0**-53
    self_dual = 2 if n % 2 == 0 else 1
    assert Counter(table.indicators) == {1: self_dual, 0: n - self_dual} or n == 2
    assert table.is_totally_orthogonal() is (n == 2)


@cache
def colourings(sizes, lengths):
    """Number of colourings with sizes[i] points of colour i that are constant on cycles of the given lengths."""
    if any(size < 0 for size in sizes):
        return 0
    if not lengths:
        return 1
    return sum(
        colourings(tuple(size - lengths[0] * (i == colour) for i, size in enumerate(sizes)), lengths[1:])
        for colour in range(len(sizes))
    )


def determinantal_character(shape, lengths):
    """Frobenius: chi_shape = sum_w sgn(w) psi_(shape_i + w_i - i), psi the Young permutation characters."""
    total = 0
    for w in permutations(range(len(shape))):
        sizes = tuple(part + w[i] - i for i, part in enumerate(shape))
        total += (1 if is_even(w) else -1) * colourings(sizes, lengths)
    return total


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_murnaghan_nakayama_equals_the_determinantal_formula(n):
    table = symmetric_characters(n)
    shapes = list(partitions(n))
    for row, shape in enumerate(shapes):
        for column, lengths in enumerate(reversed(shapes)):
            assert table.values[row, column] == determinantal_character(shape, lengths)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_murnaghan_nakayama_equals_the_traces_of_the_young_matrices(n):
    """Rows and columns come in another order there; both are matched by their content."""
    group = symmetric(n)
    traced = characters_of(group, real_irreps(group, exact=True))
    types = list(partitions(n))[::-1]
    order = [types.index(cycle_type(group.elements[C[0]])) for C in group.classes]
    rows = {tuple(int(x.to_fmpq().p) for x in row[order]) for row in symmetric_characters(n).values}
    assert {tuple(int(x.to_fmpq().p) for x in row) for row in traced.values} == rows


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_class_sizes_and_squares_of_the_symmetric_groups_by_counting(n):
    table = symmetric_characters(n)
    types = list(partitions(n))[::-1]
    elements = list(permutations(range(n)))
    counted = Counter(map(cycle_type, elements))
    assert table.class_sizes == tuple(counted[t] for t in types)
    for element in elements:
        squared = tuple(element[element[x]] for x in range(n))
        assert table.squares[types.index(cycle_type(element))] == types.index(cycle_type(squared))


@pytest.mark.parametrize("n", [2, 5, 8])
def test_symmetric_groups_are_totally_orthogonal(n):
    table = symmetric_characters(n)
    assert table.is_totally_orthogonal()
    assert table.order == factorial(n)
    assert set(table.values[:, -1]) <= {-1, 0, 1}  # the last column is the n-cycle: hooks take +-1


def test_names_of_the_symmetric_table():
    table = symmetric_characters(4)
    assert table.class_names == ("1^4", "2^1 1^2", "2^2", "3^1 1^1", "4^1")
    assert table.irrep_names == ("[4]", "[3, 1]", "[2, 2]", "[2, 1, 1]", "[1, 1, 1, 1]")


def test_partitions():
    assert list(partitions(4)) == [(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    assert [sum(1 for _ in partitions(n)) for n in range(11)] == [1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42]


@pytest.mark.parametrize(("build", "bad"), [(symmetric_characters, 1), (cyclic_characters, 1)])
def test_trivial_groups_are_refused(build, bad):
    with pytest.raises(ValueError, match="n >= 2, but n = 1"):
        build(bad)


def test_degrees_of_large_symmetric_groups_by_hook_lengths():
    """The first column of the table of S_9 is n! over the product of the hook lengths."""
    table = symmetric_characters(9)
    for shape, degree in zip(partitions(9), table.degrees, strict=True):
        columns = [sum(part > j for part in shape) for j in range(shape[0])]
        hooks = [shape[i] - j + columns[j] - i - 1 for i in range(len(shape)) for j in range(shape[i])]
        assert degree == factorial(9) // prod(hooks)
