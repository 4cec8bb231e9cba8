"""Products within a token: other number systems, batches, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lemmata.constructions.descent.products import token_product


@pytest.mark.parametrize("tokens", [1, 3, 5])
def test_float64_is_near_the_product(tokens: int) -> None:
    """In a batch, with rounding alone between."""
    x, y = np.random.default_rng(tokens).uniform(-1, 1, (2, 4, 3, tokens))
    network = token_product(tokens).map(lambda array: array.astype(float))
    np.testing.assert_allclose(network.products(x, y), x * y, rtol=0, atol=1e-11)


@pytest.mark.parametrize("tokens", [0, -1, 1.5, True, "2"])
def test_other_numbers_of_tokens_are_refused(tokens: Any) -> None:
    with pytest.raises(ValueError, match="The number of tokens"):
        token_product(tokens)


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((2,), (2,)), ((), ()), ((3, 1), (3, 1))], ids=str)
def test_other_shapes_are_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match=r"must both have shape \(\.\.\., 3\)"):
        token_product(3).encode(*(np.zeros(shape) for shape in shapes))
