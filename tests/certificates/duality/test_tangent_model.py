"""Torch networks as tables: against the tables of the library's own network, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lemmata.certificates.duality.features import tangent_features
from lemmata.certificates.duality.tangent_model import flat_parameters, tangent_model
from lemmata.numerics.parity.lower_bound import relu_tables


def test_a_relu_network_has_the_tables_of_the_library() -> None:
    n, width = 5, 3
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(n, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))
    theta = flat_parameters(network)
    h, slopes = tangent_model(network, n)(theta)
    expected = relu_tables(n, width)(theta)
    assert h == pytest.approx(expected[0], abs=1e-12)
    assert slopes == pytest.approx(expected[1], abs=1e-12)
    assert slopes == pytest.approx(tangent_features(network.double(), n), abs=1e-12)
    assert tangent_model(network, n)(theta + 1)[0] != pytest.approx(h)
    assert flat_parameters(network) == pytest.approx(theta)


def test_bad_input_is_refused() -> None:
    network = torch.nn.Linear(3, 1)
    with pytest.raises(ValueError, match="1 <= n <= 12 inputs, not 13"):
        tangent_model(network, 13)
    with pytest.raises(ValueError, match="The network has no parameter"):
        tangent_model(torch.nn.Tanh(), 3)
    with pytest.raises(ValueError, match=r"The network has 4 parameters, but got the shape \(3,\)"):
        tangent_model(network, 3)(np.zeros(3))
    with pytest.raises(ValueError, match="one number for each of the 8 inputs"):
        tangent_model(torch.nn.Linear(3, 2), 3)(np.zeros(8))
