"""Young's orthogonal form: numbers of tableaux, the relations of transpositions, and what is no partition."""

from math import factorial

import numpy as np
import pytest

from lemmata.constructions.representations.young import partitions, standard_tableaux, young_orthogonal_form
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul


@pytest.mark.parametrize("n", range(2, 8))
def test_number_of_tableaux_by_the_hook_length_formula(n: int) -> None:
    shapes = list(partitions(n))
    assert len(set(shapes)) == len(shapes)
    for shape in shapes:
        columns = [sum(part > j for part in shape) for j in range(shape[0])]
        hooks = [part - j + columns[j] - i - 1 for i, part in enumerate(shape) for j in range(part)]
        tableaux = standard_tableaux(shape)
        assert len(set(tableaux)) == len(tableaux) == factorial(n) // int(np.prod(hooks))
    assert sum(len(standard_tableaux(shape)) ** 2 for shape in shapes) == factorial(n)


def test_coxeter_relations_exact() -> None:
    s = young_orthogonal_form((3, 2, 1), exact=True)
    one = np.eye(16, dtype=int)
    for i, a in enumerate(s):
        assert np.all(exact_matmul(a, a) == one)
        assert np.all(a == a.T)
        for j in range(i + 1, len(s)):
            ab = exact_matmul(a, s[j])
            power = exact_matmul(ab, ab) if j > i + 1 else exact_matmul(exact_matmul(ab, ab), ab)
            assert np.all(power == one)


@pytest.mark.parametrize("shape", [(2, 3), (1,), (2, 0)])
def test_what_is_no_partition_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="partition"):
        young_orthogonal_form(shape)
