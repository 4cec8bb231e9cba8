"""Section B.3.2: what is provable about the roles of biases. Without them no ReLU network of two layers sees an odd k.

relu(z) = z/2 + |z|/2. Without biases in the first layer z = w.x is odd in x, so that |z| has coefficients of even order
only and z those of order 1: f(x) = u.relu(W x) + c has none of odd order 3 or more, at any weights. So its hinge loss
on a parity of odd k >= 3 is at least 1, that of f = 0, wherever training goes. A threshold 1{w.x > 0} without ties is
1/2 plus an odd function, and has no coefficient of even order 2 or more: the first gradient of f from a paired start
vanishes on odd k.
"""

from __future__ import annotations

import numpy as np
import pytest

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.activations import Ramp
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.fourier.walsh import walsh_hadamard
from lemmata.theorems.evidence import check, proof_steps

BIASES = "hidden-progress:remark-biases"


def _orders(n: int) -> np.ndarray:
    return np.array([code.bit_count() for code in range(2**n)])


@check(BIASES, grade="sampled", target="printed", cases="n = 3, 5, 6, 7, 20 networks each, all inputs")
@proof_steps("biases.md: 3, 4")
@pytest.mark.parametrize("n", [3, 5, 6, 7])
def test_without_biases_no_odd_parity_is_seen(n: int) -> None:
    """20 networks of 1 to 6 neurons with integer weights (seed n), an output bias of 3 and all coefficients, exactly.

    One bias of 1, and weights whose sum it can outweigh, bring the odd orders back.
    """
    rng = np.random.default_rng(n)
    x = sign_inputs(n)
    odd = (_orders(n) % 2 == 1) & (_orders(n) >= 3)
    seen = 0
    for _ in range(20):
        width = int(rng.integers(1, 7))
        W, u = rng.integers(-5, 6, size=(width, n)), rng.integers(1, 4, size=width)
        bias = np.zeros(width, dtype=int)
        network = TwoLayerNetwork(as_exact(W), as_exact(bias), as_exact(u), Ramp(), as_exact(3).item())
        values = np.array([int(v.p) for v in network(x)])
        transform = walsh_hadamard(values)
        assert np.all(transform[odd] == 0)
        assert np.any(transform[~odd] != 0)
        assert np.maximum(0, 1 - x[:, :3].prod(axis=1) * values).mean() >= 1
        bias[0] = 1
        with_bias = TwoLayerNetwork(as_exact(W), as_exact(bias), as_exact(u), Ramp())
        seen += bool(np.any(walsh_hadamard(np.array([int(v.p) for v in with_bias(x)]))[odd] != 0))
    assert seen >= 5


@check(BIASES, grade="sampled", target="printed", cases="n = 3, 5, 7, 9, 40 thresholds each, all inputs")
@proof_steps("biases.md: 1")
@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_thresholds_without_bias_have_odd_orders_only(n: int) -> None:
    """40 thresholds with odd integer weights, so that no sum is 0: no even order but 0; a bias of 2 brings them."""
    rng = np.random.default_rng(n)
    x = sign_inputs(n)
    even = (_orders(n) % 2 == 0) & (_orders(n) >= 2)
    seen = 0
    for _ in range(40):
        sums = x @ (2 * rng.integers(-3, 3, size=n) + 1)
        assert np.all(sums != 0)
        assert np.all(walsh_hadamard((sums > 0).astype(np.int64))[even] == 0)
        seen += bool(np.any(walsh_hadamard((sums + 2 > 0).astype(np.int64))[even] != 0))
    assert seen >= 10
