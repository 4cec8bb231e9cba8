"""Bounds on margins at all inputs: against the range itself, and what is refused."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.parity.two_layer import relu_network
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.parity.exhaustive import margin_range
from lemmata.numerics.parity.margin_bounds import margin_bounds


@pytest.mark.parametrize("seed", range(6))
def test_the_range_lies_between_the_bounds(seed: int) -> None:
    """And is attained where one neuron is, or no other input is read."""
    rng = np.random.default_rng(seed)
    n, r = 8, (1, 4)[seed % 2]
    hidden, bias, readout = (
        as_exact(rng.integers(-6, 7, size)) / fmpq(int(rng.integers(1, 6))) for size in ((r, n), r, r)
    )
    support = rng.choice(n, 3, replace=False).tolist()
    low, high = margin_range(hidden, bias, readout, support, fmpq(2, 3))
    below, above = margin_bounds(hidden, bias, readout, support, fmpq(2, 3))
    assert below <= low <= high <= above
    if r == 1:
        assert (below, above) == (low, high)
    hidden[:, [j for j in range(n) if j not in support]] = fmpq(0)
    again = margin_bounds(hidden, bias, readout, support, fmpq(2, 3))
    assert again == margin_range(hidden, bias, readout, support, fmpq(2, 3))
    assert again != (below, above)


def test_floats_count_with_their_binary_values() -> None:
    network = relu_network(60, (2, 5, 6), exact=True)
    assert margin_bounds(network.hidden, network.bias, network.readout, (2, 5, 6), network.output_bias) == (1, 1)
    tenth = margin_bounds(np.array([[0.1]]), np.array([0.0]), np.array([1.0]), (0,), 0)
    assert tenth == (0, fmpq(*(0.1).as_integer_ratio()))
    assert margin_bounds([[2, -1]], [1], [3], (0,), -1) == (1, 11)  # 3 relu(2 +- 1 + 1) - 1, 1 - 3 relu(-2 +- 1 + 1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bias": [0]}, "shapes must be"),
        ({"hidden": [[np.inf, 1.0], [1.0, 1.0]]}, "infinity"),
        ({"support": (0, 2)}, "support"),
        ({"hidden": np.ones((2, 20), dtype=int), "support": range(17)}, "at most 16 inputs"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, object], words: str) -> None:
    given = {"hidden": [[1, 1], [1, -1]], "bias": [0, 1], "readout": [1, 2], "support": (0, 1)} | changes
    with pytest.raises(ValueError, match=words):
        margin_bounds(**given)  # type: ignore[arg-type]
