"""The error of a disjoint PolyNet against enumeration of all signs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.parity import signed_sums
from lemmata.numerics.parity.polynet_error import block_signs, polynet_error
from lemmata.numerics.parity.signed_sums import signed_sum_counts

weights = st.integers(-4, 4)


@given(st.lists(weights, max_size=7))
def test_counts_of_signed_sums(u: list[int]) -> None:
    totals = [sum(a * z for a, z in zip(u, signs, strict=True)) for signs in product((1, -1), repeat=len(u))]
    assert signed_sum_counts(u) == {total: totals.count(total) for total in set(totals)}


@pytest.mark.parametrize(("u", "values"), [([3**j for j in range(20)], 2**20), (list(range(20000, 20020)), 400_191)])
def test_the_room_for_the_counts_is_asked_for(u: list[int], values: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For one value per sign vector, or for the integers up to the sum of the weights where these are fewer."""

    def refuse(needed: int, purpose: str) -> None:
        raise MemoryError(f"{purpose} {needed / values:g} bytes each")

    monkeypatch.setattr(signed_sums, "require_memory", refuse)
    with pytest.raises(MemoryError, match=rf"20 signs, with up to {values} values, 300 bytes each"):
        signed_sum_counts(u)


@given(st.lists(st.lists(weights, min_size=1, max_size=4), min_size=1, max_size=3))
def test_error_equals_enumeration(blocks: list[list[int]]) -> None:
    wrong, total = 0, 0
    for signs in product((1, -1), repeat=sum(map(len, blocks))):
        output, parity, position = 1, 1, 0
        for block in blocks:
            output *= int(np.dot(block, signs[position : position + len(block)]))
            parity *= signs[position]
            position += len(block)
        wrong += np.sign(output) != parity
        total += 1
    assert polynet_error([b[0] for b in blocks], [b[1:] for b in blocks]) == fmpq(int(wrong), total)


def test_fractions_are_scaled_to_integers() -> None:
    assert block_signs(Fraction(1, 2), ["1/3", "1/6"]) == (fmpq(3, 4), 0)
    assert block_signs(fmpq(299, 100), [1, 1, 1]) == (fmpq(7, 8), fmpq(1, 8))
    assert polynet_error([5], [[]]) == 0
    assert polynet_error([0], [[]]) == 1


@pytest.mark.parametrize(
    ("relevant", "irrelevant", "message"),
    [
        ([], [], "k >= 1"),
        ([1, 2], [[1]], "one relevant weight for each"),
        ([0.5], [[1]], "float is not exact"),
        ([sqrt_rational(2)], [[1]], "must be rational"),
        ([1], [[3**j for j in range(60)]], r"sum of 60 signs, .* needs \d+\.\d GiB of memory"),
    ],
)
def test_bad_input_is_refused(relevant: list, irrelevant: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        polynet_error(relevant, irrelevant)
