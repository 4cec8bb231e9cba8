"""What the bounds for classes of functions refuse."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.parity.lower_bound import NoisyDescent, class_bound, class_deviations


def test_what_is_refused():
    descent = NoisyDescent(lambda theta: (np.zeros(4), np.ones((4, 1))), 1)
    with pytest.raises(ValueError, match=r"tables of shape \(D, 4\)"):
        class_deviations(descent, [0.0], 1, np.ones((2, 5)))
    with pytest.raises(ValueError, match="at least one step"):
        class_deviations(descent, [0.0], 0, np.ones((2, 4)))
    with pytest.raises(ValueError, match="at least one function"):
        class_bound(0, 1, 1, 1)
    assert class_bound(16, 1, 1, 1) == fmpq(1, 2)
    assert class_deviations(descent, [0.0], 2, np.array([[1.0, 1, -1, -1], [1, 1, 1, -1]])).tolist() == [0, 0.5]
