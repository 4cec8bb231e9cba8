"""Addition in abelian groups of even order without some cells (ext-T15; proofs/even-orders.md).

The conditions are held against gradients at waves, the form against the payoff by its definition, its definiteness
against ascents, the rank modulo a prime against singular values, and the committed weights against laws that are
counted.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from math import comb, gcd, prod, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import qr

from lemmata.certificates.operations.forced import forced
from lemmata.certificates.operations.forced_survey import checked_row, committed_forced
from lemmata.certificates.operations.root_weights import RootWeights, exact_root_weights
from lemmata.certificates.operations.triangle_weights import triangle_conditions
from lemmata.certificates.operations.wave_form import ball_form, only_waves, wave_form
from lemmata.certificates.operations.wave_networks import margins_decide
from lemmata.numerics.operations.operation import Operation
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.ascents import ascents

T15 = "feature-emergence:ext-T15"
Floats = NDArray[np.float64]
Cells = tuple[tuple[int, int], ...]

DEFINITE: list[tuple[tuple[int, ...], Cells]] = [
    ((8,), ((0, 0), (1, 1))),
    ((2, 4), ((0, 0),)),
    ((10,), ((0, 0), (1, 3))),
    ((2, 2, 2), ((0, 0), (1, 2))),
]


class Group:
    """A product of cyclic groups: its numbered elements, their sums and characters, and the number r of real ones."""

    def __init__(self, orders: tuple[int, ...]) -> None:
        elements = list(product(*map(range, orders)))
        number = {e: i for i, e in enumerate(elements)}
        self.n = len(elements)
        self.table = np.array(
            [
                [number[tuple((x + y) % m for x, y, m in zip(e, f, orders, strict=True))] for f in elements]
                for e in elements
            ]
        )
        self.minus = np.argmin(self.table, axis=1)
        turns = [[sum(x * y / m for x, y, m in zip(e, f, orders, strict=True)) for f in elements] for e in elements]
        self.characters = np.exp(2j * np.pi * np.array(turns))
        self.doubled = np.unique(np.diagonal(self.table))
        self.r = self.n // len(self.doubled)
        self.total = self.r - 1 + sqrt(2) * (self.n - self.r)
        self.top = 2 / (sqrt(self.n) * self.total)

    def shares(self) -> NDArray[np.int64]:
        """(x, y) of the mass x + y sqrt(2) of each d, up to its sum; shape (n, 2)."""
        found = np.tile([1, 0], (self.n, 1))
        found[self.doubled] = [1 - self.r, self.r]
        found[0] = 0
        return found


@cache
def weights_of(orders: tuple[int, ...], missing: Cells) -> RootWeights:
    found = exact_root_weights(triangle_conditions(orders, missing))
    assert found is not None
    return found


def payoff(group: Group, weights: Floats) -> Floats:
    """T over a, b, c."""
    form = np.zeros((group.n,) * 3)
    a, b, d = np.nonzero(weights)
    right = group.table[a, b]
    np.add.at(form, (a, b, right), 2 * weights[a, b, d] / weights.sum())
    np.add.at(form, (a, b, group.table[right, d]), -2 * weights[a, b, d] / weights.sum())
    return form


def _conditions(group: Group) -> tuple[Floats, Floats]:
    """(i) to (iii) for all n^2 (n - 1) triples as a matrix, and its right side for the total mass S'."""
    n, table, minus = group.n, group.table, group.minus
    a, b, d = np.array(list(product(range(n), range(n), range(1, n)))).T
    right, wrong = table[a, b], table[table[a, b], d]

    def law(x: Any, y: Any) -> Floats:
        found = np.zeros((n, n, len(a)))
        found[x, y, np.arange(len(a))] = 1
        return found

    shares = group.shares() @ [1, sqrt(2)] / n
    margins = [law(x, d) for x in (a, b, wrong)]
    differences = [law(table[a, d], b) - law(a, b), law(a, table[b, d]) - law(a, b)]
    for x, s, y, t in (
        (right, table[a, minus[b]], wrong, table[a, minus[b]]),
        (a, table[b, b], a, table[table[b, b], d]),
        (b, table[a, a], b, table[table[a, a], d]),
    ):
        change = law(x, s) - law(y, t)
        mean = np.zeros_like(change)
        for s_ in range(n):
            mean[:, s_] = change[:, table[s_, group.doubled]].mean(axis=1)
        differences.append(change - mean)
    matrix = np.concatenate([one.reshape(n * n, -1) for one in (*margins, *differences)])
    sides = np.concatenate([np.tile(shares, 3 * n), np.zeros(len(differences) * n * n)])
    return matrix, sides


def _gradients(group: Group) -> tuple[Floats, Floats]:
    """Gradients at random waves as a matrix over all triples, and 3 gamma times the waves for the total mass S'."""
    n, rng, unit = group.n, np.random.default_rng(8), np.eye(group.n)
    a, b, d = np.array(list(product(range(n), range(n), range(1, n)))).T
    right, wrong = group.table[a, b], group.table[group.table[a, b], d]
    rows, sides = [], []
    for k in range(1, n):
        real = group.minus[k] == k
        for _ in range(8 if real else 25):
            x, y = rng.choice([-1, 1], 2) if real else np.exp(1j * rng.uniform(0, 2 * np.pi, 2))
            wave = np.real(np.stack([x, y, x * y])[:, None] * group.characters[k])
            wave /= np.linalg.norm(wave)
            u, v, w = wave
            hidden, turned = u[a] + v[b], w[right] - w[wrong]
            rows += [2 * hidden * turned * unit[:, a], 2 * hidden * turned * unit[:, b]]
            rows.append(hidden**2 * (unit[:, right] - unit[:, wrong]))
            sides.append(3 * group.top / 3**1.5 * group.total * wave.ravel())
    return np.concatenate(rows), np.concatenate(sides)


@check(T15, grade="numeric", target="printed", supporting=True, cases="Z_4, Z_2^2, Z_6, Z_2 x Z_4: all cells, 1e-12")
@proof_steps("even-orders.md: 1")
@pytest.mark.parametrize("orders", [(4,), (2, 2), (6,), (2, 4)], ids=str)
def test_the_mean_of_waves_has_the_margin_in_every_cell(orders: tuple[int, ...]) -> None:
    """Unit waves of the masses of step 1, which sum to 1; phases at 5th roots of 1, as the degree of each is below 5.

    The fewest neurons are 4 and the most 100, with outputs below 1: floats are off by less than 1e-12.
    """
    group = Group(orders)
    n, phases, total, said = group.n, np.exp(2j * np.pi * np.arange(5) / 5), 0.0, np.zeros((group.n,) * 3)
    for k in range(1, n):
        if k <= group.minus[k]:
            real = bool(group.minus[k] == k)
            each = np.array([1, -1]) if real else phases
            mass = (1 if real else 2 * sqrt(2)) / group.total
            for x, y in product(each, each):
                u, v, w = np.real(np.stack([x, y, x * y])[:, None] * group.characters[k])
                u, v, w = (one / sqrt(u @ u + v @ v + w @ w) for one in (u, v, w))
                said += mass / len(each) ** 2 * (u[:, None, None] + v[:, None]) ** 2 * w
            total += mass
    assert total == pytest.approx(1, abs=1e-12)
    right = np.arange(n) == group.table[:, :, None]
    assert np.abs(said - group.top / sqrt(27) * (right - 1 / n)).max() < 1e-12


@check(
    T15,
    grade="numeric",
    target="printed",
    cases="Z_4, Z_2^2, Z_6, Z_2 x Z_4: ranks of both systems, singular values cut at 1e-9",
)
@proof_steps("even-orders.md: 2, 3, 4")
@pytest.mark.parametrize(("orders", "rank"), [((4,), 48), ((2, 2), 42), ((6,), 156), ((2, 4), 298)], ids=str)
def test_gradients_at_waves_say_no_less_and_no_more(orders: tuple[int, ...], rank: int) -> None:
    """Each payment 3 gamma times the wave says (i) to (iii), and is said by them; and the library says the same."""
    group = Group(orders)
    first, second = (np.hstack([m, s[:, None]]) for m, s in (_gradients(group), _conditions(group)))
    made = triangle_conditions(orders, [])
    _, _, _, orbit = made.triples()
    third = np.hstack([made.matrix.toarray()[:, orbit] / made.sizes[orbit], made.values[:, None] / group.n**2])
    ranks = [
        np.linalg.matrix_rank(x, tol=1e-9 * np.linalg.norm(x, 2))
        for x in (first, second, np.vstack([first, second]), np.vstack([second, third]))
    ]
    assert ranks == [rank] * 4


@check(T15, grade="numeric", target="printed", cases="Z_8, Z_10, Z_2 x Z_4, Z_2^3: all coefficients, 1e-9 of W")
@proof_steps("even-orders.md: 5")
@pytest.mark.parametrize(("orders", "missing"), DEFINITE, ids=str)
def test_the_form_of_the_weights(orders: tuple[int, ...], missing: Cells) -> None:
    """W at a wave, and 0 where the three characters are of two pairs, or one of them is 1."""
    group = Group(orders)
    chi, minus, kinds = group.characters, group.minus, Counter[int]()
    t = np.einsum(
        "abc,ia,jb,kc->ijk", payoff(group, weights_of(orders, missing).values()), chi, chi, chi, optimize=True
    )
    for i, j, k in product(range(group.n), repeat=3):
        pairs = {min(x, minus[x]) for x in (i, j, k)}
        if 0 in pairs or len(pairs) == 2 or (len(pairs) == 1 and not (i == j == minus[k])):
            assert abs(t[i, j, k]) < 1e-9
        elif len(pairs) == 1:
            size = sqrt(2) if minus[i] != i else 1
            assert t[i, j, k] == pytest.approx(2 * group.n * size / group.total, rel=1e-9)
        kinds[len(pairs)] += 1
    assert kinds[3] > 0


def _coordinates(group: Group, one: Floats) -> tuple[NDArray[np.complex128], NDArray[np.bool_]]:
    """x_k for the part Re(x_k chi) of norm |x_k| of each pair or real character, and which are real."""
    chosen = [k for k in range(1, group.n) if k <= group.minus[k]]
    real = np.array([k == group.minus[k] for k in chosen])
    norms = np.where(real, sqrt(group.n), sqrt(group.n / 2))
    return group.characters[chosen].conj() @ one / norms, real


@check(
    T15, grade="numeric", target="printed", cases="Z_8, Z_10, Z_2 x Z_4, Z_2^3: 3 random u, v, w each, floats to 1e-9"
)
@proof_steps("even-orders.md: 6")
@pytest.mark.parametrize(("orders", "missing"), DEFINITE, ids=str)
def test_the_form_is_what_is_missing_to_the_norm(orders: tuple[int, ...], missing: Cells) -> None:
    """Phi(e, s) for e = w - u*v and s of u and v, by both matrices, against |w|^2 + |u|^2 |v|^2 - 2T/W."""
    group, weights = Group(orders), weights_of(orders, missing)
    form = payoff(group, weights.values())
    balls = [[float(x) for x in row] for row in ball_form(orders, weights.balls())]
    matrices = np.stack([wave_form(orders, weights.values()), balls])
    rng = np.random.default_rng(3)
    for _ in range(3):
        u, v, w = (x - x.mean() for x in rng.normal(size=(3, group.n)))
        (x, real), (y, _), (z, _) = (_coordinates(group, one) for one in (u, v, w))
        flat = [
            np.concatenate([[c.real] if alone else [c.real, -c.imag] for c, alone in zip(one, real, strict=True)])
            for one in (x, y, z - x * y)
        ]
        assert flat[0] @ flat[0] == pytest.approx(u @ u)
        pair = np.repeat(np.arange(len(real)), np.where(real, 1, 2))
        s = np.outer(flat[0], flat[1])[pair[:, None] != pair]
        coordinates = np.concatenate([flat[2], s])
        expected = w @ w + (u @ u) * (v @ v) - 2 * np.einsum("abc,a,b,c->", form, u, v, w) / group.top
        assert matrices @ coordinates @ coordinates == pytest.approx([expected, expected], rel=1e-9)


@check(T15, grade="sampled", target="printed", cases="Z_8, Z_10, Z_2 x Z_4, Z_2^3: 20 ascents each, seed 6; 1e-9 of W")
@proof_steps("even-orders.md: 6")
@pytest.mark.parametrize(("orders", "missing"), DEFINITE, ids=str)
def test_where_the_form_is_definite_only_waves_are_paid_the_most(orders: tuple[int, ...], missing: Cells) -> None:
    """No ascent is paid more than gamma, squares and all; those paid gamma are waves; the report says gamma."""
    group, weights = Group(orders), weights_of(orders, missing)
    assert only_waves(orders, weights.balls())
    shares = weights.values() / weights.values().sum()
    a, b, d = np.nonzero(shares)
    right, wrong = group.table[a, b], group.table[group.table[a, b], d]
    reached = 0
    for _, (u, v, w) in ascents(payoff(group, shares), 20, 6, 300):
        neuron = shares[a, b, d] @ ((u[a] + v[b]) ** 2 * (w[right] - w[wrong]))
        paid = neuron / sqrt(27)  # of norm 1: u, v, w over sqrt(3)
        assert paid <= group.top / sqrt(27) * (1 + 1e-9)
        if paid > group.top / sqrt(27) * (1 - 1e-9):
            powers = [np.abs(_coordinates(group, one)[0]) ** 2 for one in (u, v, w)]
            assert np.prod(powers, axis=0).max() > 1 - 1e-6
            reached += 1
    assert reached > 0
    operation = Operation.of(group.table.tolist())
    known = forced(operation, operation.without(missing))
    assert known is not None
    assert known.margin == pytest.approx(group.top / sqrt(27), rel=1e-14)


@check(T15, grade="numeric", target="printed", cases="Z_8, Z_10, Z_2 x Z_4, Z_2^3: singular values, cut at 1e-3")
@proof_steps("even-orders.md: 6")
@pytest.mark.parametrize(("orders", "missing"), DEFINITE, ids=str)
def test_margins_at_the_triples_decide(orders: tuple[int, ...], missing: Cells) -> None:
    """The rank modulo a prime where the different ones of the nine functions are told by their values."""
    group, weights = Group(orders), weights_of(orders, missing)
    chi, support = group.characters, weights.support()
    assert np.array_equal(support > 0, weights.values() > 1e-9 * weights.values().max())
    exponents = [(0, 0), (2, 0), (-2, 0), (0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1)]
    a, b, d = triples = np.argwhere(support).T
    right, wrong = group.table[a, b], group.table[group.table[a, b], d]
    columns = []
    for k in range(1, group.n):
        squares = np.stack([np.outer(chi[k] ** i, chi[k] ** j).ravel() for i, j in exponents])
        kept = [i for i in range(9) if np.abs(squares[:i] - squares[i]).sum(axis=1).min(initial=1) > 1e-6]
        change = (chi[k, right] - chi[k, wrong]).conj()
        columns += [chi[k, a] ** exponents[i][0] * chi[k, b] ** exponents[i][1] * change for i in kept]
    equations, unknown = np.stack(columns, axis=1), len(columns)
    least = qr(equations.T, mode="r", pivoting=True)[1][:unknown]  # independent rows
    everything, one_step = np.arange(len(a)), np.flatnonzero(d == 1)
    for chosen, decides in ((everything, True), (least, True), (least[:-1], False), (one_step, False)):
        sizes = np.linalg.svd(equations[chosen], compute_uv=False)
        assert (len(chosen) >= unknown and sizes[unknown - 1] > 1e-3 * sizes[0]) == decides
        part = np.zeros_like(support)
        part[tuple(triples[:, chosen])] = 1
        assert margins_decide(orders, part) == decides


# ---- particular sets of cells


def _rows() -> list[dict[str, Any]]:
    return [row for row in committed_forced()["rows"] if prod(row["orders"]) % 2 == 0]


@check(T15, grade="exact", target="printed")
@proof_steps("even-orders.md: 7")
def test_committed_weights_meet_the_conditions() -> None:
    """(i) to (iii) in integers, of x and of y by itself, triple by triple; and x + y sqrt(2) is not negative."""
    rows = [row for row in _rows() if row["verdict"] == "forced"]
    assert len(rows) == 10 + 3 + 14
    for row in rows:
        orders, missing = tuple(row["orders"]), [(a, b) for a, b in row["missing"]]
        group, orbit = Group(orders), triangle_conditions(orders, missing).orbit
        n, table, minus = group.n, group.table, group.minus
        a, b, d = np.nonzero(orbit >= 0)
        parts = np.array([row["weights"], row["roots"]], object)[:, orbit[a, b, d]]
        for x, y in parts.T:  # x + y sqrt(2) >= 0
            assert x >= 0 or (y > 0 and 2 * y * y > x * x)
            assert y >= 0 or (x > 0 and x * x > 2 * y * y)
        right, wrong = table[a, b], table[table[a, b], d]

        def law(part: NDArray[Any], x: Any, y: Any, n: int = n) -> NDArray[Any]:
            found = np.zeros((n, n), object)
            np.add.at(found, (x, y), part)
            return found

        other = next(x for x in range(n) if x not in group.doubled)
        unit = law(parts[0], a, d)[0, other]
        assert unit > 0
        for part, share in zip(parts, group.shares().T, strict=True):
            cells = law(part, a, b)
            assert not any(cells[cell] for cell in missing)
            assert np.array_equal(cells, law(part, table[a, d], b))
            assert np.array_equal(cells, law(part, a, table[b, d]))
            for margin in (law(part, a, d), law(part, b, d), law(part, wrong, d)):
                assert np.array_equal(margin, np.tile(share.astype(object) * unit, (n, 1)))
            for x, s, y, t in (
                (right, table[a, minus[b]], wrong, table[a, minus[b]]),
                (a, table[b, b], a, table[table[b, b], d]),
                (b, table[a, a], b, table[table[a, a], d]),
            ):
                change = law(part, x, s) - law(part, y, t)
                assert all(np.array_equal(change, change[:, table[:, e]]) for e in group.doubled)


@check(T15, grade="numeric", target="printed", supporting=True, cases="the sets with a larger margin")
@proof_steps("even-orders.md: 8")
def test_larger_margins_from_the_definitions() -> None:
    """The combination is one of (i) to (iii), as least squares find it, and is negative only by its right side."""
    larger = [row for row in _rows() if row["verdict"] == "larger"]
    assert len(larger) == 2 + 10 + 2
    for row in larger:
        orders, missing = tuple(row["orders"]), [(a, b) for a, b in row["missing"]]
        group, made = Group(orders), triangle_conditions(orders, missing)
        a, b, d, orbit = made.triples()
        n, table = group.n, group.table
        corners = {(int(x), int(y), int(z)) for x, y, z in zip(a, b, d, strict=True)}
        everything = list(product(range(n), range(n), range(1, n)))
        assert corners == {
            (x, y, z) for x, y, z in everything if not {(x, y), (table[x, z], y), (x, table[y, z])} & set(missing)
        }
        matrix, sides = _conditions(group)
        there = np.array([triple in corners for triple in everything])
        y = np.array(row["combination"], float)
        left = (y @ made.matrix.toarray() / made.sizes)[orbit]
        whole = np.append(left, y @ made.values / n**2)
        system = np.hstack([matrix[:, there], sides[:, None]])
        fit = np.linalg.lstsq(system.T, whole, rcond=None)[0]
        assert fit @ system == pytest.approx(whole, abs=1e-6)
        assert left.min() >= 0
        assert whole[-1] < -1e-6


@check(T15, grade="enclosed", target="printed")
@proof_steps("even-orders.md: 7, 8")
def test_committed_rows_show_their_verdicts() -> None:
    """Each row again without a solver; those of two cells of Z_10 by the rule of the statement."""
    counted: Counter[tuple[int, int, str]] = Counter()
    single: set[tuple[int, ...]] = set()
    for row in _rows():
        orders, missing = row["orders"], row["missing"]
        verdict = checked_row(row)
        counted[prod(orders), len(missing), verdict] += 1
        if len(missing) == 1:
            single.add(tuple(orders))
        elif orders == [10]:
            (a, b), (x, y) = missing
            apart = {(a - x) % 10, (b - y) % 10, (a + b - x - y) % 10} != {0, 5}
            assert verdict == ("forced" if apart else "larger")
    # all groups of order 4 to 16, but for Z_2^k
    assert single == {(4,), (6,), (8,), (2, 4), (10,), (12,), (2, 6), (14,), (16,), (2, 8), (4, 4), (2, 2, 4)}
    assert counted == {
        (4, 1, "larger"): 1, (6, 1, "larger"): 1, (8, 1, "forced"): 2, (10, 1, "forced"): 1, (12, 1, "forced"): 2,
        (14, 1, "forced"): 1, (16, 1, "forced"): 4, (8, 2, "forced"): 3, (8, 2, "larger"): 10, (8, 2, "undecided"): 1,
        (10, 2, "forced"): 14, (10, 2, "larger"): 2,
    }  # fmt: skip
    pairs = {verdict: [row["missing"][1] for row in _rows() if row["orders"] == [8] and row["verdict"] == verdict
                       and len(row["missing"]) == 2] for verdict in ("forced", "undecided")}  # fmt: skip
    assert pairs == {"forced": [[1, 1], [1, 4], [1, 6]], "undecided": [[1, 3]]}


@check(T15, grade="exact", target="printed")
@proof_steps("even-orders.md: 9")
@pytest.mark.parametrize("n", [8, 10])
def test_every_set_of_two_cells_is_of_a_kind_that_is_there(n: int) -> None:
    """The images of the committed sets under t, x, y and the exchange are all sets of two cells."""
    sets: set[frozenset[int]] = set()
    for row in _rows():
        if row["orders"] == [n] and len(row["missing"]) == 2:
            for t, swap in product([t for t in range(n) if gcd(t, n) == 1], (False, True)):
                turned = [(t * y % n, t * x % n) if swap else (t * x % n, t * y % n) for x, y in row["missing"]]
                sets |= {
                    frozenset((x + i) % n * n + (y + j) % n for x, y in turned) for i in range(n) for j in range(n)
                }
    assert len(sets) == comb(n * n, 2)
