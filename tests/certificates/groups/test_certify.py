"""Margins of groups from generators: published values, uniqueness, more factors, and what stays enclosed."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import lemmata.certificates.groups.certify as group_margin
from lemmata.certificates import kernel
from lemmata.certificates.game import faces, scaled
from lemmata.certificates.game.closed_form import closed_form_margin
from lemmata.certificates.game.equalising import condition_sums
from lemmata.certificates.game.margin_game import MarginGame, margin_scale, verify
from lemmata.certificates.game.rational import RationalGame
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.format import dumps
from lemmata.numerics.exact.cyclotomic.numbers import FieldError, sqrt_rational
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import PermutationGroup
from tests.certificates.character_tables import interior_point_value


def small_group_32_5():
    """(Z8 x Z2) : Z2: the words a^i b^j c^k, c a = a b c, b central, under left multiplication by a, b and c."""
    words = [(i, j, k) for i in range(8) for j in range(2) for k in range(2)]
    index = {word: position for position, word in enumerate(words)}
    a = tuple(index[(i + 1) % 8, j, k] for i, j, k in words)
    b = tuple(index[i, 1 - j, k] for i, j, k in words)
    c = tuple(index[i, (j + i) % 2, 1 - k] for i, j, k in words)  # c a^i = a^i b^i c
    return PermutationGroup((a, b, c), "SmallGroup(32,5)")


PUBLISHED = """
Z2 2.7216552698e-01         -1
Z4 5.0268709175e-02         -1
Z2^2 6.4150029910e-02       -1
S3 2.3604969310e-02         -1
Z6 2.3604969310e-02         -1
Z8 1.4346729224e-02         -1
Z4xZ2 1.5719655150e-02      -1
D4 1.5719655150e-02         -1
Q8 1.2371160317e-02         -1
Z2^3 1.9440394784e-02       -1
Z9 1.1340230291e-02         -1.4142
Z3^2 1.1340230291e-02       -1.4142
D5 9.8846033183e-03         -1
Dic3 6.3545509353e-03       -0.6569
A4 6.0331111789e-03         -1.4142
D6 7.7625662922e-03         -1
C7:C3 1.7901419683e-03      -1.4142
SL(2,3) 1.8522675877e-03    -1.4142
S4 2.0766479960e-03         -1
(32,5) 1.5035163260e-03     2.0294
D4xS3 7.6555975421e-04      0.3726
A5 4.3157089877e-04         0.7880
S5 1.3259774900e-04         -0.3031
PSL(2,7) 6.7755456455e-05   0.5820
A6 2.0552209594e-05         4.6393
S6 7.2663033860e-06         11
S7 2.6889824030e-07         106.47
"""
ROWS = [line.split() for line in PUBLISHED.split("\n") if line]


def group_called(name):
    return small_group_32_5() if name == "(32,5)" else parse_group(name)


@pytest.mark.parametrize(("name", "gamma", "condition"), ROWS, ids=[row[0] for row in ROWS])
def test_published_margins_to_all_digits(name, gamma, condition):
    certificate = certify_group(group_called(name))
    assert certificate.grade == "exact"
    assert f"{float(certificate.gamma):.10e}" == gamma
    lower, upper = (Fraction(decimal) for decimal in certificate.enclosure(30))
    assert lower <= Fraction(str(certificate.enclosure(40)[0])) <= upper
    assert upper - lower == Fraction(10) ** (int(gamma.partition("e")[2]) - 29)
    assert abs(lower - Fraction(gamma)) <= Fraction(gamma) / 10**10  # eleven digits are printed
    largest = max(float(value) for value in condition_sums(MarginGame(certificate.table)))
    assert largest == pytest.approx(float(condition), abs=0.5 * 10.0 ** -len(condition.partition(".")[2]))
    closed = closed_form_margin(MarginGame(certificate.table))
    assert (closed == certificate.gamma) == (largest <= 0)
    assert certificate.unique == (name not in ("S6", "S7"))


def test_twenty_seven_groups_are_published():
    assert len(ROWS) == 27


def test_the_margin_tells_the_quaternion_group_from_the_dihedral_group():
    assert certify_group(parse_group("Q8")).gamma == fmpq(16, 11) / sqrt_rational(24) ** 3
    assert certify_group(parse_group("D4")).gamma > certify_group(parse_group("Q8")).gamma


# ---- many optimal masses


def extreme_masses(certificate):
    """For every row the optimal eps with the largest and with the smallest eps_R, in floats, shape (2 rows, rows)."""
    payoff = certificate.solution.game.payoff() / float(certificate.value)
    ends = []
    for objective in np.vstack([np.eye(len(payoff)), -np.eye(len(payoff))]):
        result = linprog(
            objective,
            A_ub=-payoff.T,
            b_ub=np.full(payoff.shape[1], -1 + 1e-12),
            A_eq=np.ones((1, len(payoff))),
            b_eq=[1],
            method="highs-ds",
        )
        assert result.status == 0
        ends.append(result.x)
    return np.array(ends)


HYPEROCTAHEDRAL_4 = "perm:(1,2,3,4)(5,6,7,8);(1,2)(5,6);(1,5)"


@pytest.mark.parametrize(
    ("name", "dimension", "published_width"),
    [("S6", 3, 0.32), ("S7", 3, 0.55), ("S8", 2, 0.74), ("PSL(2,13)", 1, 0.28), (HYPEROCTAHEDRAL_4, 9, 0.30)],
)
def test_groups_with_many_optimal_masses(name, dimension, published_width):
    certificate = certify_group(parse_group(name))
    assert certificate.unique is False
    ends = extreme_masses(certificate)
    assert np.ptp(ends, axis=0).max() == pytest.approx(published_width, abs=0.005)
    assert np.linalg.matrix_rank(ends - ends[0], tol=1e-5) == certificate.faces.mass_dimension == dimension


@pytest.mark.parametrize("name", ["A5", "PSL(2,7)", "D4xS3", "M11", "Z12", "SL(2,3)"])
def test_unique_masses_do_not_move(name):
    certificate = certify_group(parse_group(name))
    assert certificate.unique is True
    assert np.ptp(extreme_masses(certificate), axis=0).max() < 1e-5  # HiGHS meets constraints to 1e-7 only


# ---- any group


permutations = st.integers(2, 6).flatmap(
    lambda d: st.lists(st.permutations(range(d)).map(tuple), min_size=1, max_size=3).map(tuple)
)


@given(permutations)
@settings(max_examples=25, deadline=None)
def test_any_permutation_group_is_certified(generators):
    assume(any(g != tuple(range(len(g))) for g in generators))
    group = PermutationGroup(generators)
    certificate = certify_group(group)
    assert certificate.grade == "exact"
    game = MarginGame(certificate.table)
    verify(game, certificate.value, certificate.solution.eps, certificate.solution.t)
    assert float(certificate.value) == pytest.approx(interior_point_value(game), rel=1e-6)
    assert float(certificate.gamma) >= float(closed_form_margin(game)) * (1 - 1e-15)


# ---- more factors, large groups, what stays enclosed


@pytest.mark.parametrize("k", range(2, 9))
def test_products_in_Z2_of_any_length(k):
    from math import factorial

    certificate = certify_group(parse_group("Z2"), factors=k)
    assert certificate.gamma == 2 * margin_scale(2, k)  # d - chi = 2 is the only payoff
    assert float(certificate.gamma) == pytest.approx(factorial(k) * 2 ** ((1 - k) / 2) * (k + 1) ** (-(k + 1) / 2))


@pytest.mark.parametrize("factors", [1, 2.0, True])
def test_wrong_numbers_of_factors_are_refused(factors):
    with pytest.raises(ValueError, match="number of factors"):
        certify_group(parse_group("Z3"), factors=factors)


def test_a_group_of_order_above_fifty_thousand():
    certificate = certify_group(parse_group("M12"))
    assert (certificate.group.order, certificate.grade) == (95040, "exact")
    assert certificate.enclosure(10) == ("2.880642948e-9", "2.880642949e-9")


def test_radicals_whose_fields_are_huge_are_exact():
    """The rows of PSL(2, 61) have square roots of 31 and 61, which share no field below order 37820."""
    certificate = certify_group(parse_group("PSL(2,61)"))
    assert (certificate.grade, certificate.obstacle) == ("exact", None)
    assert certificate.radicals == {305: 32710518}
    assert certificate.gamma == 1 / (32710518 * sqrt_rational(305))
    assert float(certificate.value) == pytest.approx(interior_point_value(RationalGame(certificate.table)), rel=1e-6)
    lower, upper = (Fraction(decimal) for decimal in certificate.enclosure(12))
    assert lower**2 <= Fraction(1, 32710518**2 * 305) <= upper**2
    assert 0 < upper - lower < lower / 10**11
    assert "exact" in repr(certificate)


def test_square_roots_of_different_primes_need_no_time():
    """The value for PSL(2, 59) lies in a field of order 13688, where a division takes minutes; the margin in none."""
    certificate = certify_group(parse_group("PSL(2,59)"))
    assert (certificate.grade, certificate.unique) == ("exact", True)
    total = sum(float(q) * m**0.5 for m, q in certificate.radicals.items())
    assert certificate.value.order == 13688
    scale = 2 * (3 * certificate.table.order) ** -1.5
    assert scale * float(certificate.value) == pytest.approx(1 / total, rel=1e-12)
    assert scale * interior_point_value(RationalGame(certificate.table)) == pytest.approx(1 / total, rel=1e-6)
    with pytest.raises(FieldError, match="order 68440 is out of reach"):
        _ = certificate.gamma


def test_square_roots_that_share_no_supported_field_are_exact_and_say_so(monkeypatch):
    def out_of_reach(_):
        raise FieldError("The field is out of reach.")

    certificate = certify_group(parse_group("S5"))
    gamma = certify_group(parse_group("S5")).gamma
    for module in (scaled, group_margin):
        monkeypatch.setattr(module, "root_sum_number", out_of_reach)
    assert (certificate.grade, certificate.solution, certificate.obstacle) == ("exact", None, None)
    for name in ("gamma", "value"):
        with pytest.raises(FieldError, match="out of reach"):
            getattr(certificate, name)
    assert gamma == 1 / sum(sqrt_rational(m) * q for m, q in certificate.radicals.items())
    lower, upper = (Fraction(decimal) for decimal in certificate.enclosure(12))
    assert lower <= gamma <= upper


def test_a_rank_that_needs_too_large_a_field_leaves_uniqueness_undecided(monkeypatch):
    def out_of_reach(_):
        raise FieldError("The field is out of reach.")

    monkeypatch.setattr(faces, "_rank", out_of_reach)
    certificate = certify_group(parse_group("A5"))
    assert (certificate.grade, certificate.unique, certificate.faces) == ("exact", None, None)
    assert certificate.obstacle == "The field is out of reach."
    kernel.check(dumps(document_of(certificate)))
    monkeypatch.undo()
    assert certificate.gamma == certify_group(parse_group("A5")).gamma


def test_other_errors_are_no_obstacles(monkeypatch):
    def planted(_):
        raise ValueError("planted")

    monkeypatch.setattr(faces, "_rank", planted)
    with pytest.raises(ValueError, match="planted"):
        certify_group(parse_group("A5"))
