"""The quadratic networks against the product of the signs, torch, and bad input."""

from math import prod

import numpy as np
import pytest
import torch
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.quadratic import QuadraticNetwork, quadratic_network


@given(st.data(), st.integers(2, 4), st.booleans(), st.booleans())
def test_equals_the_product_of_the_signs_in_all_arithmetics(
    data: st.DataObject, depth: int, bias: bool, exact: bool
) -> None:
    n = data.draw(st.integers(1, 8))
    S = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, min(n, 2 ** (depth - 1))))]
    network = quadratic_network(n, S, depth, output_bias=bias, exact=exact)
    x = sign_inputs(n)
    expected = [prod(row[i] for i in S) for row in x.tolist()]
    # all numbers on the way are small multiples of 1/4, so that float64 is exact
    assert network(x).tolist() == expected
    assert network.to_torch()(torch.as_tensor(x, dtype=torch.float64)).tolist() == expected
    assert network.widths == (*(2 ** (depth - 2 - i) for i in range(depth - 2)), 1 if bias else 2)


W, b = np.ones((2, 3)), np.ones(2)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: quadratic_network(6, 5, 3), "cannot represent a parity of 5"),
        (lambda: quadratic_network(6, 1, 1), "at least 2"),
        (lambda: quadratic_network(3, [3], 2), r"0\.\.2"),
        (lambda: QuadraticNetwork((), np.ones(1)), "one layer or more"),
        (lambda: QuadraticNetwork(((W, b), (W, b)), np.ones(2)), "shapes must be"),
        (lambda: QuadraticNetwork(((W, b),), np.ones(3)), "shapes must be"),
        (lambda: QuadraticNetwork(((W[0], b),), np.ones(2)), "shapes must be"),
        (lambda: QuadraticNetwork(((W, b),), np.ones(2), np.ones(1)), "one number"),
        (lambda: QuadraticNetwork(((W, b),), np.ones(2), fmpq(1)), "cannot be combined with the exact numbers"),
        (lambda: QuadraticNetwork(((W * np.nan, b),), np.ones(2)), "W_1 has NaN"),
        (lambda: quadratic_network(3, 2, 2)(np.ones(2)), r"shape \(\.\.\., 3\)"),
    ],
)
def test_bad_input_is_refused(build: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()  # type: ignore[operator]
