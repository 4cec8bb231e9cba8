"""Lists of named groups: no group twice, none missing where it is said, and which are isomorphic."""

from itertools import combinations

import numpy as np
import pytest

from lemmata.numerics.groups import lists as group_lists
from lemmata.numerics.groups.lists import GROUP_COUNTS, group_list, isomorphic, named_groups
from lemmata.numerics.groups.names import gap_available, parse_group


def test_named_groups_are_pairwise_non_isomorphic():
    groups = [parse_group(name) for name in named_groups(24).names]
    by_fingerprint: dict[tuple, list] = {}
    for group in groups:
        table = group.to_finite_group()
        # orders of elements, and how often each element is a square or a commutator: an invariant of another kind
        squares = np.bincount(table.squaring, minlength=table.order)
        commutators = table.table[table.table, table.inverse[table.table.T]]
        counts = np.bincount(commutators.ravel(), minlength=table.order)
        classes = group.classes
        orders = classes.element_orders[classes.class_of]
        by_fingerprint.setdefault(tuple(sorted(zip(orders, squares, counts, strict=True))), []).append(group)
    for same in by_fingerprint.values():
        for first, second in combinations(same, 2):
            assert not isomorphic(first, second)
    assert [group.order for group in groups] == sorted(group.order for group in groups)


def test_named_groups_are_complete_below_16_and_say_what_is_missing():
    names = named_groups(15)
    assert len(names.names) == sum(GROUP_COUNTS[1:15])
    assert "these are all" in names.description
    assert "4 of order 16" in named_groups(17).description
    found = named_groups(63)
    assert f"the other {sum(GROUP_COUNTS[1:63]) - len(found.names)} have no name here" in found.description
    assert sum(GROUP_COUNTS[1:63]) == 318
    assert {"SL(2,3)", "He3", "AGL(1,8)", "A5", "2-^(1+4)", "S3xD5", "Z2xZ30"} <= set(found.names)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Z2xZ3", "Z6"), ("D3", "S3"), ("D6", "Z2xS3"), ("Dic2", "Q8"), ("SL(2,4)", "A5"), ("PSL(2,7)", "GL(3,2)"),
        ("AGL(1,4)", "A4"), ("Z4xZ2", "perm:(1,2,3,4);(5,6)"), ("2+^(1+2)", "D4"),
        ("Z7:Z3", "perm:(1,2,3,4,5,6,7);(2,3,5)(4,7,6)"),
    ],
)  # fmt: skip
def test_isomorphic_groups(first, second):
    assert isomorphic(parse_group(first), parse_group(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [("Z4", "Z2xZ2"), ("D4", "Q8"), ("He3", "Z3^3"), ("2+^(1+4)", "2-^(1+4)"), ("SL(2,5)", "S5"), ("Z2xA5", "S5")],
)
def test_groups_that_are_not_isomorphic(first, second):
    assert not isomorphic(parse_group(first), parse_group(second))


def test_the_search_decides_where_the_orders_of_elements_do_not(monkeypatch):
    """Z4:Z4 and Z2xQ8 have equally many elements of each order."""
    monkeypatch.setattr(group_lists, "_kinds", lambda G: G.classes.element_orders[G.classes.class_of])
    first, second = parse_group("Z2xQ8"), parse_group("perm:(1,2,3,4)(5,6,7,8);(1,5)(2,8)(3,7)(4,6)(9,10,11,12)")
    assert first.order == second.order == 16
    orders = [np.bincount(G.classes.element_orders[G.classes.class_of]).tolist() for G in (first, second)]
    assert orders[0] == orders[1]
    assert not isomorphic(first, second)
    assert isomorphic(first, parse_group("Q8xZ2"))


def test_the_list_is_that_of_the_library_where_gap_is_installed():
    names = group_list(8).names
    if gap_available():
        assert names[-5:] == tuple(f"small:8,{i}" for i in range(1, 6))
    else:
        assert names == named_groups(8).names
    assert len(names) == 13


def test_orders_below_two_are_refused():
    with pytest.raises(ValueError, match="at least 2, not 1"):
        group_list(1)
