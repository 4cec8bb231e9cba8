"""What the reference back-propagation refuses."""

from __future__ import annotations

from typing import Any

import pytest

from lemmata.numerics.descent.backpropagation import forward, risk_gradient


def test_reference_back_propagation_refuses_bad_shapes() -> None:
    functions: Any = (abs, abs, min)
    with pytest.raises(ValueError, match="as many labels as inputs"):
        risk_gradient([[[1]]], [[1]], [], *functions)
    with pytest.raises(ValueError, match="rows of V_2 must have length 1"):
        risk_gradient([[[1]], [[1, 2]]], [[1]], [[1]], *functions)
    with pytest.raises(ValueError, match="all labels length 1"):
        risk_gradient([[[1]]], [[1]], [[1, 2]], *functions)
    assert forward([[[2]], [[3]]], [1], abs) == [[1], [2], [6]]
