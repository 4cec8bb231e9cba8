"""Finite groups: validation names what is wrong, and counts agree with the literature."""

from collections.abc import Callable
from itertools import product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.groups.tables import (
    FiniteGroup,
    alternating,
    cyclic,
    dihedral,
    direct_product,
    elementary_abelian,
    group_from_table,
    relabel,
    symmetric,
)

# A loop of order 5 (Latin square with identity 0, every element its own inverse): x*x = 0 in a group of odd
# order would contradict Lagrange, so it cannot be associative.
LOOP = [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]]

GROUPS = [
    cyclic(2),
    cyclic(7),
    cyclic(12),
    dihedral(3),
    dihedral(4),
    dihedral(6),
    symmetric(3),
    symmetric(4),
    alternating(4),
    elementary_abelian(3),
    direct_product(dihedral(4), cyclic(3)),
]


def is_group_by_brute_force(table: np.ndarray) -> bool:
    """Whether the table is a group, by the axioms in plain loops."""
    n = len(table)
    everything = range(n)
    identities = [e for e in everything if all(table[e][a] == a == table[a][e] for a in everything)]
    if not identities:
        return False
    e = identities[0]
    if not all(any(table[a][b] == e == table[b][a] for b in everything) for a in everything):
        return False
    return all(
        table[table[a][b]][c] == table[a][table[b][c]] for a, b, c in product(everything, everything, everything)
    )


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_axioms_by_brute_force(group: FiniteGroup) -> None:
    assert is_group_by_brute_force(group.table)
    n = group.order
    for g in range(n):
        assert group.table[g, group.inverse[g]] == group.identity
        assert group.squaring[g] == group.table[g, g]


@pytest.mark.parametrize(
    ("build", "order", "sizes"),
    [
        (lambda: cyclic(9), 9, [1] * 9),
        (lambda: dihedral(4), 8, [1, 1, 2, 2, 2]),
        (lambda: dihedral(5), 10, [1, 2, 2, 5]),
        (lambda: dihedral(6), 12, [1, 1, 2, 2, 3, 3]),
        (lambda: symmetric(3), 6, [1, 2, 3]),
        (lambda: symmetric(4), 24, [1, 3, 6, 6, 8]),
        (lambda: symmetric(5), 120, [1, 10, 15, 20, 20, 24, 30]),
        (lambda: symmetric(6), 720, [1, 15, 15, 40, 40, 45, 90, 90, 120, 120, 144]),
        (lambda: alternating(4), 12, [1, 3, 4, 4]),
        (lambda: alternating(5), 60, [1, 12, 12, 15, 20]),
        (lambda: elementary_abelian(4), 16, [1] * 16),
        (
            lambda: direct_product(dihedral(4), symmetric(3)),
            48,
            sorted(np.outer([1, 1, 2, 2, 2], [1, 2, 3]).flat),
        ),
    ],
)
def test_known_classes(build: Callable[[], FiniteGroup], order: int, sizes: list[int]) -> None:
    group = build()
    assert group.order == order
    assert group.class_sizes.tolist() == sizes
    assert group.classes[0].tolist() == [group.identity]
    assert sorted(np.concatenate(group.classes)) == list(range(order))
    assert all(group.class_of[g] == i for i, members in enumerate(group.classes) for g in members)


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_burnside_counts_classes_by_commuting_pairs(group: FiniteGroup) -> None:
    """The number of commuting pairs is n times the number of classes."""
    assert int((group.table == group.table.T).sum()) == group.order * len(group.classes)


def test_symmetric_composes_right_to_left() -> None:
    group = symmetric(4)
    for a, b in [(3, 17), (20, 5), (11, 11)]:
        p, q = group.elements[a], group.elements[b]
        assert isinstance(p, tuple)
        assert isinstance(q, tuple)
        assert group.elements[group.table[a, b]] == tuple(p[x] for x in q)


def test_dihedral_relations() -> None:
    group = dihedral(7)
    r, t = group.elements.index((1, 0)), group.elements.index((0, 1))
    table = group.table
    assert table[table[t, r], t] == group.inverse[r]
    assert group.squaring[t] == group.identity
    assert group.identity == 0


def test_labels_of_products_and_bits() -> None:
    group = elementary_abelian(3)
    assert group.elements[6] == (0, 1, 1)  # 6 = 2 + 4: bits 1 and 2
    both = direct_product(cyclic(2), cyclic(3))
    assert both.elements[5] == (1, 2)
    assert both.family == ("product", ("cyclic", 2), ("cyclic", 3))


def test_generators_generate() -> None:
    group = symmetric(5)
    reached = {group.identity}
    frontier = [group.identity]
    while frontier:
        g = frontier.pop()
        for s in group.generators:
            h = int(group.table[g, s])
            if h not in reached:
                reached.add(h)
                frontier.append(h)
    assert len(reached) == factorial(5)
    assert len(group.generators) <= 6  # subgroup chains at least double


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(GROUPS), st.randoms(use_true_random=False))
def test_relabelling_is_an_isomorphism(group: FiniteGroup, random) -> None:
    permutation = list(range(group.order))
    random.shuffle(permutation)
    renamed = relabel(group, permutation)
    assert renamed.identity == permutation[group.identity]
    assert renamed.class_sizes.tolist() == group.class_sizes.tolist()
    assert {frozenset(permutation[g] for g in c) for c in group.classes} == {frozenset(c) for c in renamed.classes}
    back = relabel(renamed, np.argsort(permutation))
    assert back == group
    assert back.elements == group.elements
    assert hash(back) == hash(group)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(GROUPS), st.data())
def test_one_broken_entry_is_always_refused(group: FiniteGroup, data: st.DataObject) -> None:
    """Rows of a group are permutations, so no table at distance one from a group is a group."""
    n = group.order
    a, b = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    table = group.table.copy()
    table[a, b] = data.draw(st.integers(0, n - 1).filter(lambda x: x != group.table[a, b]))
    with pytest.raises(ValueError, match=r"identity|inverse|associative"):
        group_from_table(table)


@settings(deadline=None, max_examples=300)
@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.integers(0, n - 1), min_size=n * n, max_size=n * n)))
def test_verdict_agrees_with_brute_force_on_any_table(entries: list[int]) -> None:
    n = int(len(entries) ** 0.5)
    table = np.array(entries).reshape(n, n)
    table[0], table[:, 0] = np.arange(n), np.arange(n)  # an identity, so that the later axioms are reached
    if is_group_by_brute_force(table):
        assert group_from_table(table).identity == 0
    else:
        with pytest.raises(ValueError, match=r"inverse|associative"):
            group_from_table(table)


def test_loop_that_is_not_a_group() -> None:
    table = np.array(LOOP)
    assert all(sorted(line) == list(range(5)) for line in [*LOOP, *table.T.tolist()])
    with pytest.raises(ValueError, match="not associative") as caught:
        group_from_table(LOOP)
    numbers = str(caught.value).split("= (")[1].split(")")[0]
    a, b, c = (int(x) for x in numbers.split(","))
    assert LOOP[LOOP[a][b]][c] != LOOP[a][LOOP[b][c]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0, 1], [1]], "rows have different lengths"),
        ([[0, 1]], r"shape is \(1, 2\)"),
        ([0, 1], r"shape is \(2,\)"),
        ([[0]], "order 1"),
        ([[0.0, 1.0], [1.0, 0.0]], "dtype is float64"),
        ([[False, True], [True, False]], "dtype is bool"),
        ([[0, 1], [1, 2]], r"Entry \(1, 1\) of the table is 2"),
        ([[0, 1], [-1, 0]], r"Entry \(1, 0\) of the table is -1"),
        ([[0, 0], [1, 1]], r"no identity.*0\*1 = 0 instead of 1"),
        ([[0, 1], [1, 1]], "Element 1 has no inverse"),
        ([[0, 1, 2], [1, 1, 1], [2, 0, 0]], "Element 1 has no inverse"),  # 2*1 = 0, and 1*2 = 1
        ([[0, 1, 2], [1, 1, 0], [2, 1, 0]], "Element 1 has no inverse"),  # 1*2 = 0, and 2*1 = 1
    ],
)
def test_first_violation_is_named(table: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        group_from_table(table)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: cyclic(1), "at least 2; got 1"),
        (lambda: cyclic(True), "an integer; got True"),
        (lambda: cyclic(2.5), "an integer; got 2.5"),  # type: ignore[arg-type]
        (lambda: dihedral(0), "at least 1; got 0"),
        (lambda: symmetric(1), "between 2 and 7; got 1"),
        (lambda: symmetric(8), "between 2 and 7; got 8"),
        (lambda: alternating(2), "between 3 and 7; got 2"),
        (lambda: elementary_abelian(0), "between 1 and 12; got 0"),
        (lambda: relabel(cyclic(3), [0, 1, 1]), r"must|needs"),
        (lambda: relabel(cyclic(3), [0, 1]), r"must|needs"),
        (lambda: FiniteGroup(cyclic(3).table, elements=("a", "b", "b")), r"must|needs"),
    ],
)
def test_bad_arguments(build: Callable[[], FiniteGroup], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_table_is_read_only_and_copied() -> None:
    table = np.array([[0, 1], [1, 0]])
    group = FiniteGroup(table)
    table[0, 0] = 1
    assert group.table[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        group.table[0, 0] = 1
