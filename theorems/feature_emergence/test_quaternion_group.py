"""What real means in theorem 7.9: for the quaternion group, with real characters alone, the formula fails.

Section D.8 asks that every representation of the group maps to real matrices, which excludes Q_8.

Q_8 has five conjugacy classes, five real irreducible representations, and the real character table of D_4; its
characters satisfy the condition of theorem 7.9. But the irreducible representation of degree 2 is of quaternionic
type. In coordinates: a function in its block is a -> <p, a> with a quaternion p, and

    E u(a) v(b) w(ab) = <p q, t> / 16      for u = <p, .>, v = <q, .>, w = <t, .>,      |p q| = |p| |q|,

while ||u||^2 = 2 |p|^2. So with tau(-1) = 5/11 and 1/11 on the six other wrong labels, every unit neuron has

    E psi' <= (16/11) 24^(-3/2) = 0.012371,

in the one-dimensional characters and in the block alike. A network of 38 neurons attains it. The formula gives
0.015720 for the characters of Q_8, and 0.003888 for its list of real irreducible representations (degrees 1, 1, 1, 4).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.characters.traces import characters_of
from lemmata.certificates.game.closed_form import closed_form_margin
from lemmata.certificates.game.equalising import condition_sums, equalising_class_weights, equalising_masses
from lemmata.certificates.game.margin_game import MarginGame, solve, verify
from lemmata.certificates.saddle.pair import ClassWeights, class_function_weights, judge
from lemmata.certificates.saddle.pricing import climb, pricing_tensor
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, exact_matmul, rational, sqrt_rational
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.groups.tables import FiniteGroup, dihedral, group_from_table
from lemmata.numerics.margins.evaluation import expected_class_margins
from lemmata.theorems.evidence import check
from lemmata.theorems.feature_emergence.group_coordinates import margin_rounding, unit_neurons
from lemmata.theorems.feature_emergence.small_groups import hamilton
from lemmata.theorems.plugin import Effort

UNITS = [tuple(sign * int(i == k) for k in range(4)) for i in range(4) for sign in (1, -1)]
"""The elements 1, -1, i, -i, j, -j, k, -k of Q_8."""


def _q8() -> FiniteGroup:
    return group_from_table([[UNITS.index(hamilton(p, q)) for q in UNITS] for p in UNITS], "Q_8")


def _linear_characters() -> np.ndarray:
    """The four homomorphisms to +-1, by the signs of i and j, shape (4, 8); the trivial one first."""
    signs = [(1, x, y, x * y) for x in (1, -1) for y in (1, -1)]
    return np.array([[row[np.flatnonzero(unit)[0]] for unit in UNITS] for row in signs])


def _characters(group: FiniteGroup) -> CharacterTable:
    """The complex characters of Q_8: four of degree 1, and (2, -2, 0, 0, 0)."""
    rows = [*_linear_characters(), 2 * np.array(UNITS)[:, 0]]
    heads = [C[0] for C in group.classes]
    return CharacterTable(
        "Q8",
        np.array([[int(row[g]) for g in heads] for row in rows], dtype=object),
        tuple(len(C) for C in group.classes),
        tuple(int(group.class_of[group.squaring[g]]) for g in heads),
        tuple(int(group.class_of[group.inverse[g]]) for g in heads),
        ("1", "-1", "i", "j", "k"),
        ("1", "A", "B", "C", "H"),
    )


def _weights(group: FiniteGroup) -> ClassWeights:
    """tau = 5/11 at -1 and 1/11 at +-i, +-j, +-k."""
    per_element = np.array([fmpq(0), fmpq(5, 11), *[fmpq(1, 11)] * 6], dtype=object)
    return class_function_weights(group, per_element)


def _gamma() -> Cyclotomic:
    """(16/11) 24^(-3/2)."""
    return fmpq(16, 11) / (24 * sqrt_rational(24))


def _network() -> HomogeneousNetwork:
    """38 neurons: (chi, +-chi, +-chi) for the three characters, and 2 (Re a q, +-Re q^-1 b r, +-Re c r), q, r in 1..k.

    Re(a q) = <conj q, a>; all directions have squared norm 24. The masses of A, B, C are 1/11 each, of H 8/11.
    """
    rows: list[list[int]] = []
    for chi in _linear_characters()[1:]:
        rows += [[*chi, *(sign * chi), *(sign * chi)] for sign in (1, -1)]
    for q, r, sign in product(UNITS[::2], UNITS[::2], (1, -1)):
        bar = (q[0], -q[1], -q[2], -q[3])
        u, v, w = (
            [hamilton(hamilton(left, g), right)[0] for g in UNITS]
            for left, right in ((UNITS[0], q), (bar, r), (UNITS[0], r))
        )
        rows.append([2 * x for x in (*u, *(sign * y for y in v), *(sign * z for z in w))])
    directions = as_exact(np.array(rows))
    masses = np.array([fmpq(1, 22)] * 6 + [fmpq(8, 11) / 32] * 32, dtype=object)
    return HomogeneousNetwork(directions[:, :16], directions[:, 16:], masses, 2, fmpq(24))


@check(
    "feature-emergence:theorem-7.9",
    grade="symbolic",
    target="printed",
    supporting=True,
    cases="Q_8, which is not of real type",
)
def test_quaternions_multiply_lengths() -> None:
    """|p q|^2 = |p|^2 |q|^2; as matrices of degree 2, ||A B||_F^2 = ||A||_F^2 ||B||_F^2 / 2: half of what lemma D.13
    allows. And <p q, t>^2 = |p q|^2 |t|^2 - a sum of squares. So <p q, t>^2 <= |p|^2 |q|^2 |t|^2.
    """
    p, q, t = (sp.symbols(f"{name}:4", real=True) for name in "pqt")

    def matrix(x: tuple[sp.Symbol, ...]) -> np.ndarray:
        z, w = x[0] + sp.I * x[1], x[2] + sp.I * x[3]
        return np.array([[z, w], [-sp.conjugate(w), sp.conjugate(z)]], dtype=object)

    def frobenius(M: np.ndarray) -> sp.Expr:
        return sp.expand(sum(entry * sp.conjugate(entry) for entry in M.flat))

    A, B = matrix(p), matrix(q)
    assert sp.expand(frobenius(A @ B) - frobenius(A) * frobenius(B) / 2) == 0
    lengths = [sum(x**2 for x in side) for side in (p, q, hamilton(p, q), t)]
    assert sp.expand(lengths[0] * lengths[1] - lengths[2]) == 0
    x = sp.symbols("x:4", real=True)  # for p q
    squares = sum((x[i] * t[j] - x[j] * t[i]) ** 2 for i in range(4) for j in range(i + 1, 4))
    inner = sum(a * b for a, b in zip(x, t, strict=True))
    assert sp.expand(sum(a**2 for a in x) * lengths[3] - inner**2 - squares) == 0


@check(
    "feature-emergence:theorem-7.9",
    grade="exact",
    target="printed",
    supporting=True,
    cases="Q_8, which is not of real type",
)
def test_expected_margin_splits_into_characters_and_a_quaternion() -> None:
    """In the basis of the four characters and the four coordinates, the tensor of E psi' is exactly

    2 (8/11) uvw at each nontrivial character and 2 (16/11)/16 <p q, t> on the quaternions, and 0 elsewhere.
    The basis is orthogonal with squared lengths 8 and 2.
    """
    group = _q8()
    basis = np.concatenate([_linear_characters().T, np.array(UNITS)], axis=1).astype(object) * fmpq(1)
    assert np.all(exact_matmul(basis.T, basis) == np.diag([8] * 4 + [2] * 4))
    weights = _weights(group)
    tensor = -weights.tau
    tensor[np.arange(64), weights.task.labels] = fmpq(1)
    tensor = (tensor * fmpq(1, 64)).reshape(8, 8, 8)
    assert np.all(tensor.sum(axis=0) == 0)  # so that u(a)^2 and v(b)^2 drop out and 2 u(a) v(b) remains
    assert np.all(tensor.sum(axis=1) == 0)
    for axis in range(3):
        moved = np.moveaxis(2 * tensor if axis == 0 else tensor, axis, 2)
        tensor = np.moveaxis(exact_matmul(moved.reshape(64, 8), basis).reshape(8, 8, 8), 2, axis)
    expected = np.full((8, 8, 8), fmpq(0), dtype=object)
    for r in (1, 2, 3):
        expected[r, r, r] = fmpq(16, 11)
    for i, j in product(range(4), repeat=2):
        for k, coefficient in enumerate(hamilton(UNITS[2 * i], UNITS[2 * j])):
            expected[4 + i, 4 + j, 4 + k] = fmpq(2, 11) * coefficient
    assert np.all(tensor == expected)


@check(
    "feature-emergence:theorem-7.9",
    grade="symbolic",
    target="printed",
    supporting=True,
    cases="Q_8, which is not of real type",
)
def test_value_of_the_bound() -> None:
    """Unit norm, sum_R N_R = 1 over the blocks: (16/11) |x y z| with 8 (x^2 + y^2 + z^2) = N, and (2/11) |p| |q| |t|
    with 2 (|p|^2 + |q|^2 + |t|^2) = N, are both at most (16/11) 24^(-3/2) N^(3/2).

    By the inequality of the means a product is at most (sum of squares / 3)^(3/2), and sum N_R^(3/2) <= 1.
    """
    N = sp.symbols("N", positive=True)
    bound = sp.Rational(16, 11) * (N / 24) ** sp.Rational(3, 2)
    assert sp.simplify(sp.Rational(16, 11) * (N / 8 / 3) ** sp.Rational(3, 2) - bound) == 0
    assert sp.simplify(sp.Rational(2, 11) * (N / 2 / 3) ** sp.Rational(3, 2) - bound) == 0


@check(
    "feature-emergence:theorem-7.9",
    grade="numeric",
    target="printed",
    supporting=True,
    cases="Q_8, which is not of real type",
)
def test_margin_of_q8_is_not_that_of_the_formula() -> None:
    """The maximum margin is (16/11) 24^(-3/2), attained at all 448 wrong labels; that of the formula is another.

    Both readings of 'real irreducible representations' satisfy the printed condition: the real characters (degrees 1,
    1, 1, 2), and the irreducible representations over R (degrees 1, 1, 1, 4, with character 4, -4, 0, 0, 0).
    """
    group = _q8()
    network, weights = _network(), _weights(group)
    verdict = judge(network, weights, _gamma())
    assert verdict.accepted
    assert verdict.primal == _gamma() > 0
    logits = network.raw(weights.task.inputs)
    margins = (logits[np.arange(64), weights.task.labels][:, None] - logits).ravel().tolist()
    assert set(margins) == {fmpq(0), fmpq(16, 11)}
    assert margins.count(fmpq(16, 11)) == 448

    linear = _linear_characters()[1:]
    printed = {}
    for degree, character in ((2, 2 * np.array(UNITS)[:, 0]), (4, 4 * np.array(UNITS)[:, 0])):
        root = sqrt_rational(degree)
        sums = linear.sum(axis=0).astype(object) + degree * root * character.astype(object)
        assert all(value < 0 for value in sums[1:])  # the condition of the theorem
        printed[degree] = 2 / (3 * sqrt_rational(24) * (3 + degree**2 * root))
    # No network of any width reaches the first, and the network above, padded by zero neurons, exceeds the second.
    assert printed[4] < _gamma() < printed[2]
    assert network.width >= 2 * (3 + 2**3)
    assert abs(float(printed[2]) - 1.5719655e-2) < 1e-9
    assert abs(float(_gamma()) - 1.2371160e-2) < 1e-9


@check("feature-emergence:theorem-7.9", grade="exact", target="printed", supporting=True)
def test_the_table_alone_does_not_decide() -> None:
    """D_4 and Q_8 have the same character table; the indicators separate them, and the game gives both margins."""
    group = _q8()
    q8, d4 = _characters(group), characters_of(dihedral(4), real_irreps(dihedral(4), exact=True))
    assert q8.class_sizes == d4.class_sizes
    assert {tuple(row) for row in q8.values} == {tuple(row) for row in d4.values}
    assert q8.indicators == (1, 1, 1, 1, -1)
    assert d4.indicators == (1, 1, 1, 1, 1)
    solution = solve(MarginGame(q8))
    assert solution.gamma == _gamma()
    assert list(solution.eps) == [fmpq(1, 11), fmpq(1, 11), fmpq(1, 11), fmpq(8, 11)]
    assert list(solution.t) == [fmpq(5, 11), fmpq(2, 11), fmpq(2, 11), fmpq(2, 11)]
    d4_game = MarginGame(d4)
    assert all(value < 0 for value in condition_sums(d4_game))
    assert closed_form_margin(d4_game) == 2 / (3 * sqrt_rational(24) * (3 + 4 * sqrt_rational(2)))


@check("feature-emergence:theorem-7.9", grade="exact", target="printed", supporting=True)
def test_the_formula_of_d4_is_refused_for_q8() -> None:
    """Negative control: value, masses and class weights that certify D_4 are refused on the table of Q_8."""
    d4 = MarginGame(characters_of(dihedral(4), real_irreps(dihedral(4), exact=True)))
    value = 8 / (3 + 4 * sqrt_rational(2))
    eps, t = equalising_masses(d4), equalising_class_weights(d4)
    assert verify(d4, value, eps, t).value == value
    q8 = MarginGame(_characters(_q8()))
    with pytest.raises(ValueError, match="below the claimed value"):
        verify(q8, value, eps, t)
    with pytest.raises(ValueError, match="must add up to 1"):
        verify(q8, value, eps * rational(2), t)


@check(
    "feature-emergence:theorem-7.9",
    grade="sampled",
    target="printed",
    supporting=True,
    cases="Q_8, which is not of real type",
)
def test_no_neuron_beats_the_bound_of_q8(effort: Effort) -> None:
    """10^5 random unit neurons and 1000 climbed ones (seed 8), by definition: none above the bound, some on it."""
    group, rng = _q8(), np.random.default_rng(8)
    weights = _weights(group)
    tau = np.array([0, 5, 1, 1, 1, 1, 1, 1]) / 11
    bound, slack = float(_gamma()), margin_rounding(8)
    u, v, w = unit_neurons(rng.normal(size=(effort.pick(quick=100_000, full=1_000_000), 3, 8))).transpose(1, 0, 2)
    assert expected_class_margins(u, v, w, group, tau).max() <= bound + slack
    u, v, w = climb(pricing_tensor(weights), starts=1000, rounds=200, rng=rng)
    values = expected_class_margins(u, v, w, group, tau)
    print(f"Q_8: best climbed {values.max() / bound:.15f} of the bound")
    assert bound - slack <= values.max() <= bound + slack
