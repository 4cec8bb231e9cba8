"""The heads on blocks against sums over the block, and what they refuse."""

import numpy as np
import pytest
import torch

from lemmata.constructions.tokens.moments import block_moments
from lemmata.constructions.tokens.separating import separating_attention
from lemmata.numerics.tokens.codes import linear_codes, orthonormal_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.prompts import Prompts


def test_the_heads_show_tilted_second_moments():
    """What is read off the heads is sum x^2 f(s x), up to rounding and a leakage of e^-60."""
    k, d, q = 4, 2, 4
    codes = linear_codes(k)
    x = np.random.default_rng(0).standard_normal((1, 16, d))
    x[0, 7:] = 0
    network = block_moments(d, 2, k, codes, gain=30 * q * codes.square // d, slope=2)
    found = network.to_float().decode(network.to_float().attention(encode(Prompts(x, np.full((1, 16, 4), 2)), codes)))
    u = float(network.slope_square) ** 0.5 * x[0, :4]
    wanted = (x[0, :4] ** 2 * 2 * (u * np.exp(u) - np.exp(u) + 1) / u**2).sum(axis=0)
    assert np.abs(found[0] - wanted).max() < 1e-11


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"codes": orthonormal_codes(8)}, "signs of the 3 bits"),
        ({"slope": 0}, "slope positive"),
        ({"gain": -1}, "gain must not be negative"),
        ({"bits": 1}, "bits of a position"),
    ],
)
def test_what_is_refused(given, sentence):
    settings = {"dimension": 1, "block_bits": 1, "bits": 3, "codes": linear_codes(3), "gain": 1, "slope": 1} | given
    with pytest.raises(ValueError, match=sentence):
        block_moments(**settings)


def test_outputs_of_another_width_are_refused():
    with pytest.raises(ValueError, match="not 5"):
        block_moments(1, 1, 3, linear_codes(3), gain=1, slope=1).decode(np.zeros(5))


def test_several_heads_that_separate_are_a_module():
    network = separating_attention(2, 3, orthonormal_codes(5), sharpness=9)
    z = np.random.default_rng(1).standard_normal((5, network.stream.width))
    found = network.to_torch()(torch.from_numpy(z)).detach().numpy()
    assert np.abs(found - network.to_float().attention(z)).max() < 1e-12
