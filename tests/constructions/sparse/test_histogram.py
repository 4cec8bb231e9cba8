"""The network that reads a histogram: its torch twin, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lemmata.constructions.sparse.histogram import compile_histogram, histograms


def test_the_module_computes_the_same() -> None:
    network = compile_histogram(5, (3, 1), [0, 1, 2, 3, 4, 5], alphabet=3).to_float()
    strings = np.random.default_rng(0).integers(0, 3, (50, 5))
    module = network.to_torch(dtype=torch.float64)
    assert np.abs(module(torch.as_tensor(strings)).detach().numpy() - network(strings)).max() < 1e-9


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="6 histograms, not"):
        compile_histogram(5, (3, 1), [0, 1], alphabet=3)
    with pytest.raises(ValueError, match="outside"):
        compile_histogram(2, (3,), [0, 1], alphabet=2)
    with pytest.raises(ValueError, match="number of symbols"):
        histograms(2, 1)
