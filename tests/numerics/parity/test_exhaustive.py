"""The margins at all inputs against a plain enumeration of the forward pass, faults of the weights, bad input."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.two_layer import relu_network
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.parity.exhaustive import margin_range


@pytest.mark.parametrize("seed", range(6))
def test_the_range_is_that_of_the_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, r = 7, 5
    hidden, bias, readout = (
        as_exact(rng.integers(-6, 7, size)) / fmpq(int(rng.integers(1, 6))) for size in ((r, n), r, r)
    )
    support, constant = rng.choice(n, 3, replace=False).tolist(), fmpq(2, 3)
    x = sign_inputs(n)
    outputs = np.maximum(as_exact(x) @ hidden.T + bias, fmpq(0)) @ readout + constant
    margins = outputs * as_exact(x[:, support].prod(axis=1))
    assert margin_range(hidden, bias, readout, support, constant) == (min(margins), max(margins))


def test_a_parity_has_margin_one_and_a_fault_shows() -> None:
    network = relu_network(10, (2, 5, 6), exact=True)
    parts = network.hidden, network.bias, network.readout, (2, 5, 6), network.output_bias
    assert margin_range(*parts) == (1, 1)
    assert margin_range(parts[0], parts[1], -100 * parts[2], parts[3], -100 * parts[4]) == (-100, -100)
    moved = np.array(network.hidden)
    moved[1, 0] += fmpq(1, 10**6)
    low, high = margin_range(moved, *parts[1:])
    assert low < 1 < high


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bias": [0]}, "shapes must be"),
        ({"hidden": [[0.5, 1], [1, 1]]}, "exact"),
        ({"hidden": np.ones((2, 41), dtype=int)}, "one by one"),
        ({"readout": [2**40, 1], "hidden": [[2**30, 1], [1, 1]]}, "64-bit"),
        ({"output_bias": -(2**63)}, "64-bit"),
        ({"support": (0, 2)}, "support"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, object], words: str) -> None:
    given = {"hidden": [[1, 1], [1, -1]], "bias": [0, 1], "readout": [1, 2], "support": (0, 1)} | changes
    with pytest.raises(ValueError, match=words):
        margin_range(**given)
