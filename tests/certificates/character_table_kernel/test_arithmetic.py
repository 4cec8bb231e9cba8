"""The arithmetic of the kernel for tables, against FLINT, SymPy and brute force."""

from fractions import Fraction
from math import gcd
from random import Random

import pytest
import sympy
from flint import fmpq_poly

from lemmata.certificates import character_table_kernel, kernel
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic
from lemmata.numerics.groups.names import parse_group
from tests.certificates.given_character_tables import given_table


def reduced(order: int, terms: dict[int, int]) -> list[Fraction]:
    """The coordinates of a cyclotomic integer in the power basis, by division with remainder."""
    cyclotomic = fmpq_poly([int(c) for c in reversed(sympy.Poly(sympy.cyclotomic_poly(order)).all_coeffs())])
    coefficients = [terms.get(e, 0) for e in range(order)]
    return [Fraction(int(c.p), int(c.q)) for c in (fmpq_poly(coefficients) % cyclotomic).coeffs()]


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6, 8, 9, 12, 15, 30, 36, 60, 105])
def test_equal_numbers_and_multiples_have_such_coefficients(order):
    rng = Random(order)
    seen = {"equal": 0, "different": 0, "divisible": 0, "not divisible": 0}
    for _ in range(60):
        terms = {rng.randrange(order): rng.randrange(-3, 4) for _ in range(4)}
        moved = dict(terms)
        if rng.random() < 0.7:  # add a vanishing sum: all p-th roots of unity times one root
            p = rng.choice(sympy.primefactors(order) or [1])
            shift, c = rng.randrange(order), rng.choice([-2, 1, 3])
            for j in range(p if p > 1 else 0):
                e = (shift + j * order // p) % order
                moved[e] = moved.get(e, 0) + c
        else:
            moved[rng.randrange(order)] = rng.randrange(-3, 4)
        equal = reduced(order, terms) == reduced(order, moved)
        seen["equal" if equal else "different"] += 1
        assert (character_table_kernel.times_z(order, terms) == character_table_kernel.times_z(order, moved)) == equal
        q = rng.choice([2, 3, 4, 5, 6])
        multiple = {e: q * c for e, c in terms.items()} if rng.random() < 0.5 else terms
        for e, c in moved.items():
            multiple[e] = multiple.get(e, 0) + c - terms.get(e, 0)
        integral = all(c % q == 0 for c in reduced(order, multiple))
        seen["divisible" if integral else "not divisible"] += 1
        found = character_table_kernel.combination([(1, (order, multiple))])
        assert all(c % q == 0 for c in found) == integral
    assert all(seen.values()) or order == 1


@pytest.mark.parametrize("order", [1, 3, 4, 5, 8, 9, 12, 15, 20, 21, 36, 45, 60])
def test_a_number_in_any_roots_becomes_that_in_the_smallest(order):
    """Least by the Galois group: over no field of roots of order order/p all conjugates are the number itself."""
    rng = Random(order)
    for _ in range(40):
        terms = {rng.randrange(order): rng.choice([-2, -1, 1, 3]) for _ in range(rng.randrange(5))}
        factor = rng.choice([1, 2, 3, 4, 5, 6, 9])
        large = {e * factor: c for e, c in terms.items()}
        for _ in range(rng.randrange(4)):  # sums that vanish
            p, shift = rng.choice(sympy.primefactors(order * factor) or [1]), rng.randrange(order * factor)
            for j in range(p if p > 1 else 0):
                e = (shift + j * order * factor // p) % (order * factor)
                large[e] = large.get(e, 0) + 1
        least, found = character_table_kernel.smallest(order * factor, {e: c for e, c in large.items() if c})
        scale = order * factor // least
        assert scale * least == order * factor
        lifted = {e * scale: c for e, c in found.items()}
        assert reduced(order * factor, lifted) == reduced(order * factor, large)
        again = character_table_kernel.smallest(order, terms)
        assert again[0] == least
        assert character_table_kernel.times_z(*again) == character_table_kernel.times_z(least, found)
        for p in sympy.primefactors(least):
            units = [u for u in range(1, least + 1) if gcd(u, least) == 1 and (u - 1) % (least // p) == 0]
            images = [reduced(least, character_table_kernel.image((least, found), u)[1]) for u in units]
            assert any(image != reduced(least, found) for image in images)


def test_combinations_meet_in_the_field_of_all():
    x, y = (12, {1: 2, 5: -1}), (15, {2: 3, 0: 1})
    exact = Cyclotomic(12, [0, 2, 0, 0, 0, -1]) * 4 - Cyclotomic(15, [1, 0, 3]) * 7
    order = 60
    coefficients = exact.lifted(order).coeffs()
    terms = {e: int(c.p) for e, c in enumerate(coefficients)}
    expected = [c for _, c in character_table_kernel.times_z(order, terms)]
    assert sorted(character_table_kernel.combination([(4, x), (-7, y)])) == sorted(expected)
    assert character_table_kernel.combination([(1, (4, {1: 1})), (-1, (12, {3: 1}))]) == []


@pytest.mark.parametrize("field", [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 24, 25, 32, 49, 60, 63, 120, 210, 360, 529])
def test_generators_generate_all_units(field):
    reached, fresh = {1 % field}, [1 % field]
    generators = character_table_kernel.generators(field)
    while fresh:
        fresh = [x for x in {a * g % field for a in fresh for g in generators} if x not in reached]
        reached.update(fresh)
    assert reached == {a % field for a in range(1, field + 1) if gcd(a, field) == 1}


@pytest.mark.parametrize("field", [1, 2, 3, 4, 5, 6, 8, 12, 15, 30, 35, 105, 120])
@pytest.mark.parametrize("bound", [1, 10**6, 10**30])
def test_the_root_is_a_zero_of_the_cyclotomic_polynomial(field, bound):
    m, w = character_table_kernel.root_modulo(field, bound)
    assert m > bound
    assert sympy.Poly(sympy.cyclotomic_poly(field)).eval(w) % m == 0


@pytest.mark.parametrize("field", range(1, 31))
def test_the_modulus_is_above_every_bound(field):
    for bound in range(3 * field + 4):
        m, w = character_table_kernel.root_modulo(field, bound)
        assert m > bound
        assert m % field == 1 % field
        assert pow(w, field, m) == 1


def test_a_composite_modulus_would_do_and_a_wrong_root_would_not():
    m, w = character_table_kernel.root_modulo(12, 100)
    assert sympy.cyclotomic_poly(12).subs("x", pow(w, 2, m)) % m != 0


def test_inner_products_are_those_of_plain_sums():
    rng = Random(5)
    rows = [[rng.randrange(-(10**8), 10**8) for _ in range(7)] for _ in range(4)]
    columns = [[rng.randrange(-(10**12), 10**12) for _ in range(5)] for _ in range(7)]
    m = 10**40 + 1
    plain = [[sum(row[C] * columns[C][S] for C in range(7)) for S in range(5)] for row in rows]
    assert list(character_table_kernel.inner_products(rows, columns, m)) == plain
    small = 1001
    assert list(character_table_kernel.inner_products(rows, columns, small)) == [
        [(x + 500) % small - 500 for x in line] for line in plain
    ]
    extreme = [[-1, 1], [1, 1], [-1, -1]]
    corners = [[127, -127, 0], [128, -128, 1]]
    assert list(character_table_kernel.inner_products(extreme, corners, m)) == [
        [1, -1, 1],
        [255, -255, 1],
        [-255, 255, -1],
    ]


@pytest.mark.parametrize("name", ["S4", "Z8", "SL(2,3)", "M11", "Z12", "D4xS3", "C7:C3"])
def test_orders_of_elements_are_those_of_the_group(name):
    table, group = character_table_kernel.Table(given_table(name)), parse_group(name)
    assert character_table_kernel.element_orders(table) == [int(order) for order in group.classes.element_orders]
    table.powers.popitem()
    assert character_table_kernel.element_orders(table) == []


NUMBERS = {
    "0": (1, {}),
    "-12": (1, {0: -12}),
    "E(5)": (5, {1: 1}),
    "-E(5)-E(5)^4": (5, {1: -1, 4: -1}),
    "2*E(7)+2*E(7)^2-3*E(7)^4": (7, {1: 2, 2: 2, 4: -3}),
    "1+E(4)": (4, {0: 1, 1: 1}),
    "E(3)+E(3)": (3, {1: 2}),
    "E(3)-E(3)": (3, {}),
    "E(3)^4": (3, {1: 1}),
    "123456789012345678901234567890": (1, {0: 123456789012345678901234567890}),
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_read_as_gap_writes_them(text):
    assert character_table_kernel.number(text, "x") == NUMBERS[text]


NOT_NUMBERS = ["", "+", "E", "E(0)", "E(2001)", "E(3)+E(4)", "1.5", "1/2", "2E(3)", "E(3)E(3)", "E(3)^-1", " 1", "1 "]


@pytest.mark.parametrize(
    "text", [*NOT_NUMBERS, "9" * 121, "9" * 121 + "*E(3)", "E(3)" + "+E(3)" * 5000, "٣", 1.5, None, [1], True]
)
def test_what_is_no_number_is_malformed(text):
    with pytest.raises(kernel.MalformedError, match=r"^x must "):
        character_table_kernel.number(text, "x")


@pytest.mark.parametrize("text", ["", "1.0", "+1", "1" * 121, "a", 1.0, True, None, "-1"])
def test_what_is_no_positive_integer_is_malformed(text):
    with pytest.raises(kernel.MalformedError, match=r"^x must be an integer >= 1 of at most 120 digits"):
        character_table_kernel.whole(text, "x", 1)


def test_means_are_those_of_the_field():
    table = character_table_kernel.Table(given_table("C7:C3"))
    means = character_table_kernel.galois_means(table)
    for (order, terms), mean in zip(table.numbers, means, strict=True):
        exact = Cyclotomic(order, [terms.get(e, 0) for e in range(order)]).mean_conjugate()
        assert Fraction(int(exact.p), int(exact.q)) == mean
