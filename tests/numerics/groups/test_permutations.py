"""Permutation groups against SymPy, brute-force closures and published class data."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.combinatorics import Permutation
from sympy.combinatorics.perm_groups import PermutationGroup as SymPyGroup

from lemmata.numerics.groups.permutations import MAX_TABLE_ORDER, PermutationGroup, cycle_notation, parse_cycles
from lemmata.numerics.groups.stabilisers import MAX_DEGREE
from lemmata.numerics.groups.tables import (
    FiniteGroup,
    alternating,
    cyclic,
    dihedral,
    direct_product,
    relabel,
    symmetric,
)

Perm = tuple[int, ...]


def compose(a: Perm, b: Perm) -> Perm:
    return tuple(a[x] for x in b)


def closure(generators: Sequence[Perm]) -> list[Perm]:
    """All products of the generators, sorted, by plain search."""
    identity = tuple(range(len(generators[0])))
    found, frontier = {identity}, [identity]
    while frontier:
        frontier = list({compose(s, g) for s in generators for g in frontier} - found)
        found.update(frontier)
    return sorted(found)


def classes_by_brute_force(elements: Sequence[Perm]) -> set[frozenset[Perm]]:
    inverse = {g: tuple(sorted(range(len(g)), key=g.__getitem__)) for g in elements}
    return {frozenset(compose(compose(h, g), inverse[h]) for h in elements) for g in elements}


def from_cycles(*texts: str, degree: int, name: str = "G") -> PermutationGroup:
    return PermutationGroup(tuple(parse_cycles(text, degree) for text in texts), name)


def class_data(group: PermutationGroup) -> Counter[tuple[int, ...]]:
    """What isomorphic groups share: order and size of each class and of the classes of its powers."""
    classes = group.classes
    data = np.stack([classes.element_orders, classes.sizes], axis=1)
    rows = np.concatenate([data[classes.power_map(k)] for k in range(group.exponent)], axis=1)
    return Counter(tuple(row) for row in rows.tolist())


@st.composite
def generator_lists(draw: st.DrawFn, largest: int = 7) -> list[Perm]:
    degree = draw(st.integers(2, largest))
    generators = draw(st.lists(st.permutations(range(degree)).map(tuple), min_size=1, max_size=3))
    identity = tuple(range(degree))
    return generators if any(g != identity for g in generators) else [*generators, (1, 0, *range(2, degree))]


@settings(max_examples=60, deadline=None)
@given(generator_lists(9))
def test_order_agrees_with_sympy(generators: list[Perm]) -> None:
    expected = SymPyGroup([Permutation(list(g)) for g in generators]).order()
    assert PermutationGroup(tuple(generators)).order == expected


@settings(max_examples=40, deadline=None)
@given(generator_lists(5))
def test_elements_and_classes_by_brute_force(generators: list[Perm]) -> None:
    group = PermutationGroup(tuple(generators))
    elements = closure(generators)
    assert [tuple(g) for g in group.elements.tolist()] == elements
    assert np.array_equal(group.index_of(elements), np.arange(group.order))
    by_class: dict[int, set[Perm]] = {}
    for g, label in zip(elements, group.classes.class_of.tolist(), strict=True):
        by_class.setdefault(label, set()).add(g)
    assert {frozenset(members) for members in by_class.values()} == classes_by_brute_force(elements)
    smallest = [tuple(g) for g in group.classes.representatives.tolist()]
    assert [min(by_class[c]) for c in range(len(group.classes))] == smallest
    assert group.exponent == math.lcm(*(Permutation(list(g)).order() for g in elements))


@settings(max_examples=40, deadline=None)
@given(generator_lists(7), st.integers(-30, 30))
def test_power_maps_against_direct_powers(generators: list[Perm], k: int) -> None:
    group = PermutationGroup(tuple(generators))
    classes = group.classes
    assert classes.sizes.sum() == group.order
    for c, g in enumerate(classes.representatives.tolist()):
        power = Permutation(g) ** k
        assert classes.power_map(k)[c] == classes.class_of[group.index_of(power.array_form)]
        assert classes.inverses[c] == classes.class_of[group.index_of((Permutation(g) ** -1).array_form)]
        assert classes.squares[c] == classes.class_of[group.index_of((Permutation(g) ** 2).array_form)]
        assert classes.element_orders[c] == Permutation(g).order()


@settings(max_examples=30, deadline=None)
@given(generator_lists(7), st.randoms(use_true_random=False))
def test_renaming_the_points_keeps_the_class_data(generators: list[Perm], random) -> None:
    degree = len(generators[0])
    renaming = list(range(degree))
    random.shuffle(renaming)
    back = [renaming.index(x) for x in range(degree)]
    renamed = tuple(tuple(renaming[g[back[x]]] for x in range(degree)) for g in generators)
    assert class_data(PermutationGroup(renamed)) == class_data(PermutationGroup(tuple(generators)))


@settings(max_examples=30, deadline=None)
@given(generator_lists(6), st.integers(0, 5))
def test_numbering_depends_on_the_group_alone(generators: list[Perm], position: int) -> None:
    group = PermutationGroup(tuple(generators))
    redundant = tuple(group.elements[(position * 7919) % group.order].tolist())
    again = PermutationGroup((redundant, *reversed(generators)))
    assert np.array_equal(group.elements, again.elements)
    assert np.array_equal(group.classes.class_of, again.classes.class_of)


def test_classes_are_sorted_and_start_with_the_identity() -> None:
    group = from_cycles("(1,2,3,4,5)", "(1,2)", degree=5)
    classes = group.classes
    assert group.elements[0].tolist() == list(range(5))
    assert classes.representatives[0].tolist() == list(range(5))
    assert list(zip(classes.element_orders.tolist(), classes.sizes.tolist(), strict=True)) == [
        (1, 1),
        (2, 10),
        (2, 15),
        (3, 20),
        (4, 30),
        (5, 24),
        (6, 20),
    ]
    assert [cycle_notation(g) for g in classes.representatives] == [
        "()",
        "(4,5)",
        "(2,3)(4,5)",
        "(3,4,5)",
        "(2,3,4,5)",
        "(1,2,3,4,5)",
        "(1,2)(3,4,5)",
    ]
    assert group.exponent == 60


# Orders and class sizes: J. H. Conway et al., Atlas of Finite Groups (centraliser orders), for M11 and M12.
M11_SIZES = [1, 165, 440, 720, 720, 990, 990, 990, 1320, 1584]
M12_CENTRALISERS = [95040, 240, 192, 54, 36, 32, 32, 10, 12, 6, 8, 8, 10, 11, 11]


@pytest.mark.parametrize(
    ("generators", "degree", "order", "sizes", "exponent"),
    [
        (["(1,2,3,4,5,6,7)", "(1,2)"], 7, 5040, None, 420),
        (["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)"], 11, 7920, M11_SIZES, 1320),
        (
            ["(1,2,3,4,5,6,7,8,9,10,11)", "(3,7,11,8)(4,10,5,6)", "(1,12)(2,11)(3,6)(4,8)(5,9)(7,10)"],
            12,
            95040,
            sorted(95040 // c for c in M12_CENTRALISERS),
            1320,
        ),
        (["(1,2,3,4,5,6,7,8,9)", "(1,2)"], 9, math.factorial(9), None, 2520),
    ],
    ids=["S7", "M11", "M12", "S9"],
)
def test_large_groups_have_their_published_classes(generators, degree, order, sizes, exponent) -> None:
    group = from_cycles(*generators, degree=degree)
    assert (group.order, group.exponent) == (order, exponent)
    if sizes is None:  # symmetric: the class of a cycle type has order/z elements, z = product of k^m m!
        forms = [Permutation(g).full_cyclic_form for g in group.classes.representatives.tolist()]
        types = [Counter(map(len, form)) for form in forms]
        sizes = sorted(order // math.prod(k**m * math.factorial(m) for k, m in counts.items()) for counts in types)
    assert sorted(group.classes.sizes.tolist()) == sizes


@pytest.mark.parametrize(
    "group",
    [cyclic(6), dihedral(4), symmetric(4), alternating(5), direct_product(dihedral(3), cyclic(4))],
    ids=str,
)
def test_regular_representation_keeps_the_table(group: FiniteGroup) -> None:
    permuted = PermutationGroup.from_table(group)
    assert permuted.degree == permuted.order == group.order
    again = permuted.to_finite_group()
    assert np.array_equal(again.table, group.table)
    mapping = permuted.classes.in_finite_group(group)
    assert np.array_equal(np.sort(mapping), np.arange(len(group.classes)))
    assert np.array_equal(group.class_sizes[mapping], permuted.classes.sizes)
    for g in range(group.order):
        assert mapping[permuted.classes.class_of[g]] == group.class_of[g]
        assert mapping[permuted.classes.squares[permuted.classes.class_of[g]]] == group.class_of[group.squaring[g]]


def test_regular_representation_of_a_table_whose_identity_is_not_first() -> None:
    moved = relabel(dihedral(4), [3, 0, 1, 2, 7, 5, 6, 4])
    permuted = PermutationGroup.from_table(moved)
    assert permuted.elements[0].tolist() == list(range(8))
    assert class_data(permuted) == class_data(PermutationGroup.from_table(dihedral(4)))
    with pytest.raises(ValueError, match="other conjugacy classes"):
        permuted.classes.in_finite_group(moved)


def test_finite_group_multiplies_permutations() -> None:
    group = from_cycles("(1,2,3)(4,5)", "(1,2)", degree=5)
    finite = group.to_finite_group()
    elements = [tuple(g) for g in group.elements.tolist()]
    for a, b in product(range(group.order), repeat=2):
        assert elements[finite.table[a, b]] == compose(elements[a], elements[b])
    assert finite.elements[0] == "()"
    assert [parse_cycles(str(label), 5) for label in finite.elements] == elements


@given(st.permutations(range(9)).map(tuple))
def test_cycle_notation_round_trip(permutation: Perm) -> None:
    assert parse_cycles(cycle_notation(permutation), 9) == permutation


def test_cycle_notation() -> None:
    assert cycle_notation((1, 2, 0, 4, 3, 5)) == "(1,2,3)(4,5)"
    assert cycle_notation((0, 1)) == "()"
    assert parse_cycles(" ( 1, 2 ,3 ) (4 ,5)") == (1, 2, 0, 4, 3)
    assert parse_cycles("()", 3) == (0, 1, 2)
    assert parse_cycles("(2)(3,1)") == (2, 1, 0)


@pytest.mark.parametrize(
    ("text", "degree", "message"),
    [
        ("", None, "disjoint cycles such as"),
        ("(1,2", None, "disjoint cycles such as"),
        ("1,2", None, "disjoint cycles such as"),
        ("(1,-2)", None, "disjoint cycles such as"),
        ("(1,,2)", None, "disjoint cycles such as"),
        ("(0,1)", None, "numbered from 1; got 0"),
        ("(1,2)(2,3)", None, "the point 2 occurs more than once"),
        ("(1,5)", 4, "moves the point 5, beyond the 4 points"),
        (f"(1,{MAX_DEGREE + 1})", None, f"at most {MAX_DEGREE} points"),
    ],
)
def test_bad_cycles(text: str, degree: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_cycles(text, degree)


@pytest.mark.parametrize(
    ("generators", "message"),
    [
        ((), "at least one generator"),
        (((),), "acts on 1 to"),
        (((1, 0), (0, 1, 2)), "Generator 1 permutes 3 points and generator 0 permutes 2"),
        (((1, 0, 2), (0, 0, 1)), r"Generator 1 = \(0, 0, 1\) is not a permutation of 0..2"),
        (((1, 2, 3),), "is not a permutation of 0..2"),
        (((0.5, 1),), "sequences of integers"),
        ((3,), "sequences of integers"),
        (((0, 1, 2),), "are all the identity; a group must have order at least 2"),
    ],
)
def test_bad_generators(generators, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PermutationGroup(generators)


def test_orders_above_the_limit_are_refused_before_anything_is_listed() -> None:
    rotation, swap = (*range(1, 200), 0), (1, 0, *range(2, 200))
    with pytest.raises(ValueError, match=r"S200 has order at least \d+, above the limit of 1000000 elements; raise it"):
        PermutationGroup((rotation, swap), "S200")
    with pytest.raises(ValueError, match="above the limit of 119"):
        PermutationGroup(((1, 2, 3, 4, 0), (1, 0, 2, 3, 4)), limit=119)
    assert PermutationGroup(((1, 2, 3, 4, 0), (1, 0, 2, 3, 4)), limit=120).order == 120


def test_too_many_points_are_refused() -> None:
    n = 20000
    with pytest.raises(ValueError, match="act on fewer points"):
        PermutationGroup(((*range(1, n), 0),))
    pairs = [tuple(x ^ (x // 2 == i) for x in range(128)) for i in range(19)]  # Z_2^19 on 128 points: 67 million images
    with pytest.raises(ValueError, match="act on fewer points"):
        PermutationGroup(tuple(pairs)).elements  # noqa: B018


def test_strangers_are_not_looked_up() -> None:
    group = from_cycles("(1,2,3)", degree=4, name="Z3")
    assert group.index_of((1, 2, 0, 3)) == 1
    for stranger in [(1, 0, 2, 3), (3, 0, 1, 2), (1, 2, 0, 0)]:
        with pytest.raises(ValueError, match=r"is not an element of Z3"):
            group.index_of([(0, 1, 2, 3), stranger])
    with pytest.raises(ValueError, match="have shape"):
        group.index_of((1, 2, 0))
    with pytest.raises(ValueError, match=r"have images 0\.\.3"):
        group.index_of((1, 2, 0, 4))


def test_big_cayley_tables_are_refused() -> None:
    group = from_cycles("(1,2,3,4,5,6,7)", "(1,2)", degree=7, name="S7")
    with pytest.raises(ValueError, match=f"orders up to {MAX_TABLE_ORDER}"):
        group.to_finite_group()


def test_data_of_a_group_cannot_be_changed() -> None:
    group = from_cycles("(1,2,3)", "(1,2)", degree=3)
    for array in (
        group.elements,
        group.classes.sizes,
        group.classes.class_of,
        group.classes.representatives,
        group.classes.power_table,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
