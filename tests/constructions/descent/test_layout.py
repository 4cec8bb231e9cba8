"""The named coordinates of the prompt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.constructions.descent.layout import PromptLayout
from lemmata.numerics.exact.balls import as_balls


def test_layout_names_all_coordinates() -> None:
    layout = PromptLayout((2, 3, 1))
    assert list(layout.stream.sizes) == ["x", "y", "w1", "w2", "p1", "p2", "r'0", "r'1", "g", "s2", "s1", "1", "t"]
    assert layout.stream.width == 2 + 2 * 1 + 9 + 3 * 4 + 2
    z = layout.encode([[1, 2], [3, 4]], [[5]], range(6, 15))
    assert z.tolist() == [
        [1, 2, 5, *range(6, 15), *[0] * 13, 1, 1],
        [3, 4, 0, *range(6, 15), *[0] * 13, 1, 0],
    ]
    assert all(isinstance(entry, fmpq) for entry in z.ravel())
    assert layout.encode([[1.0, 2], [3, 4]], [[5]], range(6, 15)).dtype == np.float64
    assert layout.encode(as_balls([[1, 2], [3, 4]]), [[5]], range(6, 15))[0, 0] == arb(1)
    w = np.arange(9)
    assert (layout.flatten(layout.matrices(w)) == w).all()
    assert layout.weight_rows(2).coordinates.tolist() == [[9, 10, 11]]


@pytest.mark.parametrize("widths", [(), (2,), (2, 0), (2, 1.5), (2, True), (-1, 2), 3, None, ("2", 1)])
def test_bad_widths_are_refused(widths: Any) -> None:
    with pytest.raises(ValueError, match="widths"):
        PromptLayout(widths)
