"""Contextual attention: its number systems and refusals."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lemmata.constructions.descent.contextual import contextual_attention, separating_direction, vocabulary
from lemmata.numerics.exact.numbers import as_exact, to_float

FAMILY = [as_exact([[1, 0], [0, 1]]), as_exact([[0, 1], [2, 1]])]


def test_direction_separates_and_is_the_same_for_a_seed() -> None:
    tokens = vocabulary(FAMILY)
    assert tokens.tolist() == [[1, 0], [0, 1], [2, 1]]
    u = separating_direction(tokens, seed=3)
    assert (u == separating_direction(tokens, seed=3)).all()
    assert contextual_attention(FAMILY, 1, seed=3).direction.tolist() == u.tolist()
    vectors = [*tokens, *(a - b for a in tokens for b in tokens if (a != b).any())]
    assert all(
        abs(float(u @ x)) >= 2 / 16 / 2**0.5 * np.linalg.norm(to_float(x)) * float(u @ u) ** 0.5 for x in vectors
    )


def test_float_and_torch_agree_with_the_mean_by_hand() -> None:
    import torch

    mapping = contextual_attention(FAMILY, 1, [2, 1])
    assert (mapping.sharpness, mapping.largest, mapping.spread) == (3, 5, 4)  # places 2, 1, 5
    z = to_float(FAMILY[0])
    weights = np.exp(3 * 2 * np.array([2.0, 1.0]))
    moved = 1 + 0.25 / 5 * (weights @ [2.0, 1.0]) / weights.sum()
    found = mapping.layer.map(to_float)(z)
    assert found[0] == pytest.approx([moved, 0])
    assert mapping.layer.to_torch()(torch.from_numpy(z)).detach().numpy() == pytest.approx(found)
    assert float(mapping.separation) == pytest.approx(2 * 0.05 / 15 * np.exp(-15 * 4))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 1), "A family needs sequences of one shape (n, d)"),
        (([FAMILY[0], as_exact([[1, 0]])], 1), "A family needs sequences of one shape (n, d)"),
        (([as_exact([[1, 0], [1, 0]])], 1), "Sequence 0 holds a token twice"),
        ((FAMILY, 0), "separation"),
        ((FAMILY, 2), "Different tokens must be more than separation = 2 apart"),
        ((FAMILY, 1, [1, 0, 0]), "The direction must have shape (2,)"),
        ((FAMILY, 1, [1, 1]), "The direction must tell all tokens apart"),
        ((FAMILY, 1, [0, 1]), "The direction must tell all tokens apart"),
        (([as_exact([[0, 0], [1, 1]])], 1), "are not 0"),
    ],
)
def test_bad_input_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        contextual_attention(*arguments)  # pyright: ignore[reportArgumentType]
