"""The one sentence for arguments that must be integers."""

import numpy as np
import pytest

from lemmata.numerics.exact.integers import checked_integer


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_integers_are_returned_as_python_integers(value: object) -> None:
    assert type(checked_integer("n", value, 3)) is int


@pytest.mark.parametrize("value", [2, -1, 3.0, np.float64(3), True, np.True_, "3", None, np.array(3)])
def test_everything_else_is_refused_by_name(value: object) -> None:
    with pytest.raises(ValueError, match="n must be an integer >= 3, not "):
        checked_integer("n", value, 3)
