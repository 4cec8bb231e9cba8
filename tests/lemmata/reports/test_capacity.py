"""Reports of capacity."""

from fractions import Fraction

from flint import arb

from lemmata.reports.capacity import bound, shown


def test_what_is_printed_as_a_bound_is_one():
    for ball, text in ((arb("0.12340001"), "0.1235"), (arb(2) / 3, "0.6667"), (arb(1) / 3, "0.3334"), (arb(5), "5")):
        assert bound(ball) == text
        assert ball <= arb(text) or ball == 5
    assert Fraction(bound(arb("1e400"))) >= 10**400
    assert shown(arb(1) / 3) == "0.3333"
