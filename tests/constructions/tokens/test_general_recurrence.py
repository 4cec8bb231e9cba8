"""Networks with any transitions: what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lemmata.constructions.tokens.general_recurrence import GeneralRecurrence


def _network(radius: Any = 1, shape: tuple[int, ...] = (2, 2), project: Any = lambda h: h) -> GeneralRecurrence:
    def step(h: Any, x: Any, t: Any, i: int) -> Any:
        return h + x[:2]

    return GeneralRecurrence(step, step, project, radius, np.eye(2), np.ones(shape), lambda u, w, x, t, i: u[0] + w[1])


def test_predictions_read_the_past_and_the_future() -> None:
    network = _network(100)
    x = np.array([[1.0, 2.0], [10.0, 20.0], [5.0, 7.0]])
    assert network.width == 2
    assert network(x, np.zeros((3, 1), dtype=int)).tolist() == [42.0, 1 + 12, 11.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _network(shape=(2, 3)), r"square matrices of one width, not of the shapes \[\(2, 2\), \(2, 3\)\]"),
        (lambda: _network(shape=()), r"not of the shapes \[\(2, 2\), \(\)\]"),
        (lambda: _network(0), "a ball of positive radius, not 0"),
        (lambda: _network(float("nan")), "not nan"),
        (lambda: _network()(np.zeros((3, 2)), np.zeros((2, 1))), r"not the shapes \(3, 2\) and \(2, 1\)"),
        (lambda: _network()(np.ones((3, 2)), np.zeros((3, 1))), "left the ball of radius 1 after position 0"),
        (lambda: _network()(np.full((3, 2), np.nan), np.zeros((3, 1))), "nan"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
