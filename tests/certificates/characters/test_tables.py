"""Character tables: what a correct one says, planted faults, and products."""

from itertools import permutations, product

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.characters import tables
from lemmata.certificates.characters.families import cyclic_characters, symmetric_characters
from lemmata.certificates.characters.tables import CharacterTable, product_characters
from lemmata.numerics.exact.cyclotomic.numbers import root_of_unity, sqrt_rational

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


@pytest.mark.parametrize(
    ("shift", "found"), [(2, r"\(-1\) times in the exterior"), (-4, r"\(-1\) times in the symmetric"), (1, "3/2")]
)
def test_the_symmetric_and_the_exterior_square_are_both_looked_at(shift, found, monkeypatch):
    """Inner products of chi and chi o square for S_3 with one of them moved, which is once in Sym^2 and not in Ext^2.

    Given directly, because no map of squares was found that leaves all symmetric squares characters, but not all
    exterior ones: not one in the tables of two dozen groups of up to 8 classes.
    """
    table = symmetric_characters(3)
    inner_products = tables._inner_products

    def shifted(table, power, classes):
        products = inner_products(table, power, classes).copy()
        if power == 1 and tuple(classes) == table.squares:
            products[1, 1] += shift * table.order
        return products

    monkeypatch.setattr(tables, "_inner_products", shifted)
    with pytest.raises(ValueError, match=rf"character 1 .* would occur {found}.* square of character 1"):
        tables._refuse_wrong_squares(table)


# ---- products


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
