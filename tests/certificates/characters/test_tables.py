"""Character tables: planted faults, and the Murnaghan-Nakayama rule against two independent routes."""

from collections import Counter
from functools import cache
from itertools import permutations, product
from math import factorial, prod

import numpy as np
import pytest
from flint import fmpq

from certificates.characters.tables import (
    CharacterTable,
    cyclic_characters,
    partitions,
    product_characters,
    symmetric_characters,
)
from certificates.characters.traces import characters_of
from constructions.representations.orthogonal import real_irreps
from numerics.exact.cyclotomic.numbers import cosine, root_of_unity, sqrt_rational
from numerics.groups.tables import dihedral, elementary_abelian, is_even, relabel, symmetric

D4_VALUES = (
    (1, 1, 1, 1, 1),
    (1, 1, 1, -1, -1),
    (1, 1, -1, 1, -1),
    (1, 1, -1, -1, 1),
    (2, -2, 0, 0, 0),
)


def d4_table(**changes):
    """The table of D_4: classes e, r^2, {r, r^3}, and the two kinds of reflections; faults by keyword."""
    fields = {
        "name": "D_4",
        "values": np.array(D4_VALUES, dtype=object),
        "class_sizes": (1, 1, 2, 2, 2),
        "squares": (0, 0, 1, 0, 0),
        "inverses": (0, 1, 2, 3, 4),
        "class_names": ("e", "r^2", "r", "s", "rs"),
        "irrep_names": ("trivial", "a", "b", "c", "plane"),
    }
    return CharacterTable(**{**fields, **changes})


def d4_values(entry, value):
    values = np.array(D4_VALUES, dtype=object)
    values[entry] = value
    return values


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


# ---- accepted tables


def test_properties_of_a_correct_table():
    table = d4_table()
    assert (table.order, table.degrees, table.indicators) == (8, (1, 1, 1, 1, 2), (1, 1, 1, 1, 1))
    assert table.is_totally_orthogonal()


def test_only_the_squares_tell_D4_from_Q8():
    """In Q_8 the square of i, j and k is the central element -1, and the plane becomes quaternionic."""
    quaternion = d4_table(name="Q_8", squares=(0, 0, 1, 1, 1))
    assert np.array_equal(quaternion.values, d4_table().values)
    assert quaternion.indicators == (1, 1, 1, 1, -1)
    assert not quaternion.is_totally_orthogonal()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 9])
def test_cyclic_tables(n):
    table = cyclic_characters(n)
    values = table.values.astype(complex)
    expected = np.exp(2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
    # 4 roundings: two of the exact numbers, two in numpy's exponential and its argument (at most 2 pi n of size)
    assert abs(values - expected).max() < 4 * 2 * np.pi * n * 2.0**-53
    self_dual = 2 if n % 2 == 0 else 1
    assert Counter(table.indicators) == {1: self_dual, 0: n - self_dual} or n == 2
    assert table.is_totally_orthogonal() == (n == 2)


def test_stored_values_cannot_be_changed():
    """The tests ran on the values as they were; a later change would leave an unchecked table."""
    table = d4_table()
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 2


def test_the_table_does_not_follow_its_argument():
    values = np.array(D4_VALUES, dtype=object)
    table = d4_table(values=values)
    values[4, 0] = 7
    assert table.degrees == (1, 1, 1, 1, 2)


# ---- planted faults


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": d4_values((1, 1), 1.0)}, r"exact: entry \(1, 1\) is 1.0 of type float"),
        ({"values": np.array(D4_VALUES, dtype=float)}, "exact: entry"),
        ({"values": d4_values((4, 0), "2")}, "type str"),
        ({"values": np.array(D4_VALUES, dtype=object)[:4]}, "5 x 5 values"),
        ({"values": d4_values((4, 0), 3)}, "squares of the degrees .* 8, but give 13"),
        ({"values": d4_values((4, 0), -2)}, "degree of character 4 .* positive integer"),
        ({"values": d4_values((4, 0), 0)}, "degree of character 4 .* positive integer"),
        ({"values": d4_values((4, 0), fmpq(1, 2))}, "degree of character 4 .* positive integer"),
        ({"values": d4_values((4, 0), sqrt_rational(2))}, "degree of character 4 .* positive integer"),
        ({"values": d4_values((0, 2), -1)}, "Row 0 must be the trivial character"),
        ({"values": np.array(D4_VALUES, dtype=object)[[1, 0, 2, 3, 4]]}, "Row 0 must be the trivial"),
        ({"values": d4_values((1, 2), -1)}, r"0 \(trivial\) and 1 \(a\) violate orthogonality"),
        ({"values": d4_values((4, 1), 2)}, "violate orthogonality"),
        ({"values": np.array(D4_VALUES, dtype=object)[[0, 1, 1, 3, 4]]}, r"1 \(a\) and 2 \(b\) violate"),
        ({"values": d4_values((4, 2), root_of_unity(1, 4))}, "conjugate values"),
        ({"class_sizes": (1, 2, 1, 2, 2)}, "violate orthogonality"),
        ({"class_sizes": (1, 1, 1, 1, 4)}, "violate orthogonality"),
        ({"class_sizes": (1, 1, 2, 2, 3)}, "must divide the group order 9, but 2 does not"),
        ({"class_sizes": (2, 1, 1, 2, 2)}, "identity first"),
        ({"class_sizes": (1, 0, 2, 2, 3)}, "positive"),
        ({"class_sizes": (1, 1, 2.0, 2, 2)}, r"class_sizes must hold integers, but entry 2 is 2\.0"),
        ({"class_sizes": (1, 1, 2, 2)}, "4 classes needs 4 x 4"),
        ({"squares": (0, 0, 5, 0, 0)}, r"squares must map classes 0\.\.4"),
        ({"squares": (0, 0, -1, 0, 0)}, r"squares must map classes 0\.\.4"),
        ({"squares": (0, 0, 1.0, 0, 0)}, "squares must hold integers, but entry 2"),
        ({"squares": (1, 0, 0, 0, 0)}, "fix class 0"),
        ({"squares": (0, 0, 1, 0)}, r"one entry per class \(5\), but has 4"),
        ({"squares": (0, 0, 0, 0, 0)}, "map of squares gives character 4 .* indicator 2"),
        ({"squares": (0, 1, 1, 0, 0)}, "map of squares gives character"),
        ({"squares": (0, 1, 2, 3, 4)}, "map of squares"),
        ({"inverses": (0, 1, 2, 4, 3)}, "conjugate values on class 3 and on the class 4"),
        ({"inverses": (0, 1, 2, 3, 5)}, r"inverses must map classes 0\.\.4"),
        ({"class_names": ("e",)}, "class_names must have one entry per class"),
        ({"irrep_names": ("e",) * 6}, "irrep_names must have one entry per class"),
    ],
)
def test_planted_faults_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        d4_table(**changes)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least 2 elements"):
        CharacterTable("1", np.array([[1]], dtype=object), (1,), (0,), (0,), ("e",), ("trivial",))


def z3_table(**changes):
    zeta = root_of_unity(1, 3)
    fields = {
        "name": "Z_3",
        "values": np.array([[1, 1, 1], [1, zeta, zeta**2], [1, zeta**2, zeta]], dtype=object),
        "class_sizes": (1, 1, 1),
        "squares": (0, 2, 1),
        "inverses": (0, 2, 1),
        "class_names": ("0", "1", "2"),
        "irrep_names": ("trivial", "a", "b"),
    }
    return CharacterTable(**{**fields, **changes})


def test_complex_tables_check_inverses_and_squares():
    assert z3_table().indicators == (1, 0, 0)
    with pytest.raises(ValueError, match="conjugate values"):
        z3_table(inverses=(0, 1, 2))
    with pytest.raises(ValueError, match="map of squares"):
        z3_table(squares=(0, 0, 1))
    # the indicators alone do not see that 1 + 1 is not 1: half of chi^2 + chi o square is no character
    with pytest.raises(ValueError, match="map of squares"):
        z3_table(squares=(0, 1, 2))


def test_the_squares_of_Z5_must_be_the_doubling():
    """All maps that permute the four other classes give the right indicators; only doubling is a square map."""
    table = cyclic_characters(5)
    for images in permutations(range(1, 5)):
        arguments = (table.name, table.values, table.class_sizes, (0, *images), table.inverses)
        names = table.class_names, table.irrep_names
        if images == (2, 4, 1, 3):
            assert CharacterTable(*arguments, *names).indicators == (1, 0, 0, 0, 0)
        else:
            with pytest.raises(ValueError, match="map of squares"):
                CharacterTable(*arguments, *names)


# ---- the symmetric groups


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


# ---- products and explicit matrices


def test_product_table_against_counting_in_the_product_group():
    """Z_2 x S_3: sizes and indicators from the factors, values as products."""
    first, second = symmetric_characters(2), symmetric_characters(3)
    table = product_characters(first, second)
    assert table.class_sizes == tuple(a * b for a, b in product(first.class_sizes, second.class_sizes))
    for (r, R), (s, S) in product(enumerate(first.values), enumerate(second.values)):
        assert list(table.values[r * 3 + s]) == [x * y for x in R for y in S]
    assert table.is_totally_orthogonal()
    assert product_characters(first, cyclic_characters(3)).indicators == (1, 0, 0, 1, 0, 0)


def test_product_of_quaternionic_types_is_real():
    quaternion = d4_table(name="Q_8", squares=(0, 0, 1, 1, 1))
    table = product_characters(quaternion, quaternion)
    expected = tuple(a * b for a, b in product(quaternion.indicators, quaternion.indicators))
    assert table.indicators == expected
    assert table.indicators[-1] == 1


@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_dihedral_tables_from_matrices(n):
    """Classes and characters 2 cos(2 pi j k/n) of D_n, read off the elements r^k t^s."""
    group = dihedral(n)
    table = characters_of(group, real_irreps(group, exact=True))
    assert table.order == 2 * n
    assert table.class_sizes == tuple(len(C) for C in group.classes)
    assert table.degrees.count(2) == (n - 1) // 2
    planes = {
        tuple(2 * cosine(j * k, n) if s == 0 else 0 for s, k in (divmod(int(C[0]), n) for C in group.classes))
        for j in range(1, (n + 1) // 2)
    }
    assert {tuple(row) for row, d in zip(table.values, table.degrees, strict=True) if d == 2} == planes


def test_the_trivial_character_moves_to_the_front():
    group = symmetric(3)
    irreps = real_irreps(group, exact=True)
    table = characters_of(group, irreps[::-1])
    assert all(value == 1 for value in table.values[0])
    assert sorted(table.irrep_names) == sorted(irrep.name for irrep in irreps)


def test_characters_of_refuses_what_is_no_complete_exact_list():
    group = elementary_abelian(2)
    irreps = real_irreps(group, exact=True)
    with pytest.raises(ValueError, match="floating-point"):
        characters_of(group, real_irreps(group, exact=False))
    with pytest.raises(ValueError, match="4 x 4 values"):
        characters_of(group, irreps[:-1])
    with pytest.raises(ValueError, match="violate orthogonality"):
        characters_of(group, [*irreps[:-1], irreps[1]])
    with pytest.raises(ValueError, match="multiplication table is not that of"):
        characters_of(dihedral(4), irreps)
    shuffled = relabel(dihedral(4), [0, 4, 1, 5, 2, 6, 3, 7])
    with pytest.raises(ValueError, match="multiplication table is not that of"):
        characters_of(shuffled, real_irreps(dihedral(4), exact=True))


def test_degrees_of_large_symmetric_groups_by_hook_lengths():
    """The first column of the table of S_9 is n! over the product of the hook lengths."""
    table = symmetric_characters(9)
    for shape, degree in zip(partitions(9), table.degrees, strict=True):
        columns = [sum(part > j for part in shape) for j in range(shape[0])]
        hooks = [shape[i] - j + columns[j] - i - 1 for i in range(len(shape)) for j in range(shape[i])]
        assert degree == factorial(9) // prod(hooks)
