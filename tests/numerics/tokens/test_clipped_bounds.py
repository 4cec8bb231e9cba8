"""Where outputs are clipped, against its two conditions, and what the level does not depend on."""

import math

import pytest
from flint import arb

from lemmata.numerics.tokens.clipped_bounds import clipped_excess_risk, clipping_level, fast_excess_risk
from lemmata.numerics.tokens.transformer_bounds import TokenTask, TransformerClass


def test_the_level_grows_as_the_logarithm():
    """B^2 = e^2 u with e^u above n^2 and 8 n (16 + B^4), and not far above."""
    for n in (1, 100, 10**8, 10**16):
        square = float(clipping_level(TokenTask(10, 2, 1, 4), n)) ** 2
        u = square / math.e**2
        needed = max(2 * math.log(n), math.log(8 * n * (16 + square**2)))
        assert needed < u <= needed + 2
        assert u == pytest.approx(round(u))


def test_what_is_refused():
    with pytest.raises(ValueError, match="number of samples"):
        clipping_level(TokenTask(10, 2, 1, 4), 0)
    with pytest.raises(ValueError, match="C_y"):
        clipping_level(TokenTask(10, 2, 1, 4, 1, 0), 5)
    networks = TransformerClass(1, 1, 10, arb(1), arb(1), arb(1), arb(3))
    with pytest.raises(ValueError, match="delta"):
        clipped_excess_risk(TokenTask(10, 2, 1, 4), networks, 5, 2)
    with pytest.raises(ValueError, match="delta"):
        fast_excess_risk(TokenTask(10, 2, 1, 4), networks, 5, 2)
    with pytest.raises(ValueError, match="bounds embeddings by less"):
        fast_excess_risk(TokenTask(10, 2, 1, 4), networks, 10**9, arb("0.1"))
    wide = TransformerClass(1, 1, 10, arb(1), arb(1), arb(1), arb(100))
    with pytest.raises(ValueError, match="approximation eps"):
        fast_excess_risk(TokenTask(10, 2, 1, 4), wide, 5, arb("0.1"), -1)
