"""Random cyclotomic numbers for the tests, and their values by another route."""

from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import strategies as st

from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic

ORDERS = [1, 2, 3, 4, 5, 6, 8, 9, 12, 15, 16, 20, 21, 24, 30]
fractions = st.fractions(min_value=-9, max_value=9, max_denominator=12)


@st.composite
def elements(draw: st.DrawFn, orders: list[int] = ORDERS) -> Cyclotomic:
    order = draw(st.sampled_from(orders))
    return Cyclotomic(order, draw(st.lists(fractions, max_size=min(order, 6))))


MP = mpmath.mp.clone()
MP.dps = 60


def oracle(x: Cyclotomic) -> Any:
    """The number by 60-digit floating point from its coordinates; shares no code with the library."""
    zeta = MP.exp(2j * MP.pi / x.order)
    values = [Fraction(c) for c in x.coefficients]
    return MP.fsum(MP.mpf(c.numerator) / c.denominator * zeta**e for e, c in enumerate(values))
