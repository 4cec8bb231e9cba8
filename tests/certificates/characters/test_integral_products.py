"""Inner products of characters modulo one prime: the same as in the common field, where there is one."""

from collections import Counter
from math import gcd, isqrt

import numpy as np
import pytest
from flint import fmpq

import lemmata.certificates.characters.integral_products as integral_products
from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.characters.integral_products import unit_group_generators
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul, root_of_unity, sqrt_rational
from tests.certificates.permutations import A5, L7, M11, Q8, linear_fractional


@pytest.mark.parametrize("group", [A5, L7, M11, Q8], ids=lambda group: group.name)
def test_products_modulo_a_prime_agree_with_the_common_field(group):
    table = character_table(group)
    sizes = np.array(table.class_sizes, dtype=object)
    weighted = (sizes * table.values[:, list(table.inverses)]).T
    for power, classes in ((1, list(range(len(sizes)))), (2, list(range(len(sizes)))), (1, list(table.squares))):
        modular = table.rows.products(table.class_sizes, table.inverses, power, classes)
        assert modular is not None
        assert (modular == exact_matmul(table.values[:, classes] ** power, weighted)).all()


def test_a_table_whose_common_field_is_out_of_reach():
    """The values of PSL(2, 61) generate the field of order lcm(15, 31, 61) = 28365, beyond the supported 20 000."""
    table = character_table(linear_fractional(61))
    assert (table.order, len(table.degrees)) == (113460, 33)
    assert Counter(table.degrees) == {1: 1, 31: 2, 60: 15, 61: 1, 62: 14}
    with pytest.raises(ValueError, match="out of reach"):
        exact_matmul(table.values, table.values.T)


def test_the_modular_route_declines_what_it_cannot_decide():
    """Rows that conjugation does not permute, fractions, and a sum that is not an integer."""
    zeta = root_of_unity(1, 5)
    everything = [0, 1]
    for values in ([[1, 1], [1, zeta]], [[1, 1], [1, root_of_unity(0, 1) / 2]]):
        rows = integral_products.IntegralProducts(np.array(values, dtype=object) * root_of_unity(0, 1))
        assert rows.products((1, 1), (0, 1), 1, everything) is None
    third = root_of_unity(1, 3)
    twice = np.array([[third], [third], [third**2], [third**2]], dtype=object)
    assert integral_products.IntegralProducts(twice).row_permutations is None
    conjugates = np.array([[zeta, zeta], [zeta**2, zeta**2], [zeta**3, zeta**3], [zeta**4, zeta**4]], dtype=object)
    assert integral_products.IntegralProducts(conjugates).products((1, 1), (0, 1), 1, everything) is None


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("sizes", [(1, 1), (1, 3)])
def test_the_modular_route_decides_up_to_the_bound_of_its_proof_and_no_further(sizes, power):
    """The largest height with 2 sum |C| height^(power + 1) < p is decided, rightly; one more is not."""
    one = root_of_unity(0, 1)

    def products(height):
        values = np.array([[1, 1], [1, height]], dtype=object) * one
        rows = integral_products.IntegralProducts(values)
        found = rows.products(sizes, (0, 1), power, [0, 1])
        return rows._prime, found, exact_matmul(values**power, (np.array(sizes, dtype=object) * values).T)

    p = products(1)[0]
    height, beyond = 1, p
    while beyond - height > 1:
        middle = (height + beyond) // 2
        height, beyond = (middle, beyond) if 2 * sum(sizes) * middle ** (power + 1) < p else (height, middle)
    _, found, exact = products(height)
    assert found is not None
    assert (found == exact).all()
    for larger in (beyond, 2 * beyond, 10 * beyond, p):
        assert products(larger)[1] is None


def test_the_height_counts_all_coefficients():
    """A multiple of sqrt 2 = zeta_8 - zeta_8^3: a coefficient would pass the guard, the sum of both does not."""
    one = root_of_unity(0, 1)

    def products(number):
        values = np.array([[number * sqrt_rational(2), one], [-number * sqrt_rational(2), one]], dtype=object)
        rows = integral_products.IntegralProducts(values)
        return rows._prime, rows.products((1, 1), (0, 1), 1, [0, 1])

    p, found = products(1)
    assert (found == [[3, -1], [-1, 3]]).all()
    number = isqrt(p // 4) - 1
    assert 2 * 2 * number**2 < p
    assert products(number)[1] is None


@pytest.mark.parametrize("entry", [(1, 3), (3, 4), (4, 2)])
def test_planted_faults_in_a_large_table_are_refused(entry):
    table = character_table(A5)
    for wrong in (table.values[entry] + 1, -table.values[entry] - 1, fmpq(1, 2), table.values[entry] + 2**70):
        values = table.values.copy()
        values[entry] = wrong
        with pytest.raises(ValueError, match=r"conjugate|orthogonality|map of squares"):
            CharacterTable(
                "bad", values, table.class_sizes, table.squares, table.inverses, table.class_names, table.irrep_names
            )


@pytest.mark.parametrize("n", range(1, 121))
def test_generators_of_the_units(n):
    reached, frontier = {1 % n}, [1 % n]
    while frontier:
        x = frontier.pop()
        for a in unit_group_generators(n):
            if (y := x * a % n) not in reached:
                reached.add(y)
                frontier.append(y)
    assert reached == {a % n for a in range(n) if gcd(a, n) == 1}
