"""Functions on grids as networks: their number systems and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lemmata.constructions.descent.grid import grid_network, score_network
from lemmata.numerics.exact.numbers import as_exact, to_float

VALUES = as_exact([[[1], [-2]], [[3], [0]], [[2], [5]]])


def test_float_and_torch_agree_with_the_exact_network() -> None:
    exact = grid_network([(-2, 2), (0, 3)], VALUES)
    network = grid_network([(-2, 2), (0, 3)], to_float(VALUES))
    z = np.random.default_rng(0).integers(-12, 13, (20, 2)) / 4
    found = network(z)
    assert found == pytest.approx(to_float(exact(as_exact((4 * z).astype(int)) / 4)))
    assert network.to_torch()(torch.from_numpy(z)).detach().numpy() == pytest.approx(found)
    assert found.dtype == np.float64
    assert float(grid_network([(-1, 1)], as_exact([[0], [4]]))(as_exact(["1/2"]))[0]) == 3


def test_scores_are_cut_off_at_the_nodes() -> None:
    network = score_network(lambda x, t: -x / t, 1, 2, (1, 2), 1, (5, 2))
    assert network(np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 2.0], [-2.0, 2.0]])).ravel() == pytest.approx(
        [-1, -1, -0.5, 1]
    )
    assert network(np.array([3.0, 1.0])) == pytest.approx([0])


@pytest.mark.parametrize(
    ("axes", "values"),
    [([], VALUES), ([(0, 1)], VALUES), ([(1, 0), (0, 1)], VALUES), ([(0, 1), (0, 1)], VALUES[:1])],
)
def test_bad_grids_are_refused(axes: Any, values: Any) -> None:
    with pytest.raises(ValueError, match="A grid needs axes"):
        grid_network(axes, values)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"radius": 0}, "radius must be positive"),
        ({"cut": -1}, "cut must be positive"),
        ({"times": (0, 1)}, "times must be positive"),
        ({"times": (2, 1)}, "A grid of scores needs"),
        ({"nodes": (1, 2)}, "A grid of scores needs"),
        ({"dimension": 0}, "A grid of scores needs"),
        ({"score": lambda x, t: x[:1]}, "The score must map points"),
    ],
)
def test_bad_scores_are_refused(changes: dict[str, Any], message: str) -> None:
    good = {"score": lambda x, t: -x, "dimension": 1, "radius": 2, "times": (1, 2), "cut": 1, "nodes": (3, 2)}
    with pytest.raises(ValueError, match=message):
        score_network(**(good | changes))
