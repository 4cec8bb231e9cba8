"""Any missing cells of an addition table: what is enough, and small groups (ext-T11, ext-T12; proofs/triangles.md).

The form is held against the payoff by its definition, triple by triple; its definiteness against ascents, also where it
is not definite; the rank modulo a prime against singular values; the committed weights against laws that are counted.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from math import comb, gcd, prod, sqrt
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy.linalg import qr

from lemmata.certificates.operations.forced import forced
from lemmata.certificates.operations.forced_survey import checked_row, committed_forced
from lemmata.certificates.operations.triangle_weights import exact_weights, triangle_conditions
from lemmata.certificates.operations.wave_form import ball_form, only_waves, wave_form
from lemmata.certificates.operations.wave_networks import margins_decide
from lemmata.numerics.operations.operation import Operation
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.feature_emergence.ascents import ascents

T11 = "feature-emergence:ext-T11"
T12 = "feature-emergence:ext-T12"
Floats = NDArray[np.float64]
Cells = tuple[tuple[int, int], ...]

DEFINITE: list[tuple[tuple[int, ...], Cells]] = [
    ((9,), ((0, 0), (1, 1))),
    ((3, 3), ((0, 0),)),
    ((11,), ((0, 0), (2, 5))),
]
NOT_DEFINITE: list[tuple[tuple[int, ...], Cells]] = [((7,), ((0, 0), (1, 1))), ((7,), ((0, 0), (1, 3)))]


@cache
def weights_of(orders: tuple[int, ...], missing: Cells) -> NDArray[np.int64]:
    found = exact_weights(triangle_conditions(orders, missing))
    assert found is not None
    return found


class Group:
    """Elements as tuples, numbered in their order, and their characters."""

    def __init__(self, orders: tuple[int, ...]) -> None:
        self.orders = orders
        self.elements = list(product(*map(range, orders)))
        self.number = {e: i for i, e in enumerate(self.elements)}
        turns = np.array([[sum(x * y / m for x, y, m in zip(e, f, orders, strict=True)) for f in self.elements]
                          for e in self.elements])  # fmt: skip
        self.characters = np.exp(2j * np.pi * turns)

    def plus(self, *terms: int) -> int:
        parts = zip(*(self.elements[i] for i in terms), strict=True)
        return self.number[tuple(sum(x) % m for x, m in zip(parts, self.orders, strict=True))]

    def table(self) -> NDArray[np.int64]:
        every = range(len(self.elements))
        return np.array([[self.plus(x, y) for y in every] for x in every])

    def pairs(self) -> list[int]:
        """One character of each pair."""
        minus = [self.number[tuple(-x % m for x, m in zip(e, self.orders, strict=True))] for e in self.elements]
        return [k for k in range(1, len(minus)) if k < minus[k]]


def payoff(group: Group, weights: NDArray[np.int64]) -> Floats:
    """T over a, b, c, triple by triple."""
    n = len(group.elements)
    form = np.zeros((n, n, n))
    total = int(weights.sum())
    for a, b, d in zip(*map(list, np.nonzero(weights)), strict=True):
        right = group.plus(int(a), int(b))
        share = 2 * int(weights[a, b, d]) / total
        form[a, b, right] += share
        form[a, b, group.plus(right, int(d))] -= share
    return form


@check(
    T11, grade="numeric", target="printed", cases="Z_9, Z_3^2, Z_11, Z_7, several cells; all coefficients, 1e-9 of W"
)
@proof_steps("triangles.md: 20")
@pytest.mark.parametrize(("orders", "missing"), DEFINITE + NOT_DEFINITE, ids=str)
def test_the_form_of_any_weights(orders: tuple[int, ...], missing: Cells) -> None:
    """W at a wave, and 0 where the three characters are of two pairs, or one of them is 1."""
    group = Group(orders)
    n, chi = len(group.elements), group.characters
    t = np.einsum("abc,ia,jb,kc->ijk", payoff(group, weights_of(orders, missing)), chi, chi, chi, optimize=True)
    minus = {k: int(np.argmin(np.abs(chi - chi[k].conj()).sum(axis=1))) for k in range(n)}
    kinds: Counter[int] = Counter()
    for i, j, k in product(range(n), repeat=3):
        pairs = {min(x, minus[x]) for x in (i, j, k)}
        if 0 in pairs or len(pairs) == 2 or (len(pairs) == 1 and not (i == j == minus[k])):
            assert abs(t[i, j, k]) < 1e-9
        elif len(pairs) == 1:
            assert t[i, j, k] == pytest.approx(2 * n / (n - 1), rel=1e-9)
        kinds[len(pairs)] += 1
    N = (n - 1) // 2
    assert kinds[3] > 8 * N * (N - 1) * (N - 2) > 0


@check(T11, grade="numeric", target="printed", cases="Z_9, Z_3^2, Z_11, Z_7; 3 random u, v, w each, floats to 1e-9")
@proof_steps("triangles.md: 21")
@pytest.mark.parametrize(("orders", "missing"), DEFINITE + NOT_DEFINITE[:1], ids=str)
def test_the_form_is_what_is_missing_to_the_norm(orders: tuple[int, ...], missing: Cells) -> None:
    """Phi(e, s) for e = w - u*v and s of u and v, by both matrices, against |w|^2 + |u|^2 |v|^2 - 2T/W."""
    group, weights = Group(orders), weights_of(orders, missing)
    n, form = len(group.elements), payoff(group, weights)
    balls = [[float(x) for x in row] for row in ball_form(orders, weights)]
    matrices = np.stack([wave_form(orders, weights), balls])
    top = sqrt(2 / n) / (n - 1)
    chosen = group.characters[group.pairs()] * sqrt(2 / n)
    rng = np.random.default_rng(3)
    for _ in range(3):
        u, v, w = (x - x.mean() for x in rng.normal(size=(3, n)))
        x, y, z = (chosen.conj() @ one for one in (u, v, w))  # u_k = Re(x_k chi) sqrt(2/n)
        e = z - x * y
        real = [np.stack([one.real, -one.imag], axis=1).ravel() for one in (x, y, e)]
        assert real[0] @ real[0] == pytest.approx(u @ u)
        pair = np.arange(n - 1) // 2
        s = np.outer(real[0], real[1])[pair[:, None] != pair]
        coordinates = np.concatenate([real[2], s])
        expected = w @ w + (u @ u) * (v @ v) - 2 * np.einsum("abc,a,b,c->", form, u, v, w) / top
        assert matrices @ coordinates @ coordinates == pytest.approx([expected, expected], rel=1e-9)


@check(T11, grade="sampled", target="printed", cases="Z_9, Z_3^2, Z_11: 20 ascents each, seed 6; 1e-9 of W")
@proof_steps("triangles.md: 22, 23")
@pytest.mark.parametrize(("orders", "missing"), DEFINITE, ids=str)
def test_where_the_form_is_definite_only_waves_are_paid_the_most(orders: tuple[int, ...], missing: Cells) -> None:
    group, weights = Group(orders), weights_of(orders, missing)
    assert only_waves(orders, weights)
    n, best = len(group.elements), []
    top = sqrt(2 / n) / (n - 1)
    for value, parts in ascents(payoff(group, weights), 20, 6):
        assert value <= top * (1 + 1e-9)
        if value > top * (1 - 1e-9):
            powers = [np.abs(group.characters.conj() @ x) ** 2 * 2 / n for x in parts]
            assert np.prod(powers, axis=0).max() > 1 - 1e-6
            best.append(parts)
    a, b, d = np.nonzero(weights)
    table = group.table()
    right = table[a, b]
    u, v, w = np.array(best[0]) / sqrt(3)  # a neuron of norm 1
    paid = (u[a] + v[b]) ** 2 * (w[right] - w[table[right, d]])
    gamma = sqrt(2 / 27) / (sqrt(n) * (n - 1))
    assert paid @ weights[a, b, d] / weights.sum() == pytest.approx(gamma, rel=1e-9)
    operation = Operation.of(table.tolist())
    known = forced(operation, operation.without(missing))
    assert known is not None
    assert known.margin == pytest.approx(gamma, rel=1e-15)


@check(
    T11, grade="sampled", target="printed", supporting=True, cases="Z_7 without two cells, two kinds: 10 ascents each"
)
@pytest.mark.parametrize(("orders", "missing"), NOT_DEFINITE, ids=str)
def test_the_form_is_not_definite_where_other_neurons_are_paid_more(orders: tuple[int, ...], missing: Cells) -> None:
    """The conditions of ext-T8 alone are not enough."""
    group, weights = Group(orders), weights_of(orders, missing)
    assert not only_waves(orders, weights)
    assert np.linalg.eigvalsh(wave_form(orders, weights))[0] < -0.1
    top = sqrt(2 / 7) / 6
    assert max(value for value, _ in ascents(payoff(group, weights), 10, 6)) > 1.01 * top


@check(T11, grade="numeric", target="printed", cases="Z_9, Z_3^2, Z_11: the least singular value, relative, above 1e-3")
@proof_steps("triangles.md: 24")
@pytest.mark.parametrize(("orders", "missing"), DEFINITE, ids=str)
def test_margins_at_the_triples_decide(orders: tuple[int, ...], missing: Cells) -> None:
    """The rank modulo a prime, where singular values say it: for all triples, and for as few as decide, but one."""
    group, weights = Group(orders), weights_of(orders, missing)
    n, chi = len(group.elements), group.characters
    minus = np.argmin(np.abs(chi[:, None] - chi.conj()[None]).sum(axis=2), axis=1)
    exponents = [(0, 0), (2, 0), (-2, 0), (0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1)]
    unknown = len(exponents) * (n - 1)
    a, b, d = triples = np.argwhere(weights).T
    right = np.array([group.plus(int(x), int(y)) for x, y in zip(a, b, strict=True)])
    wrong = np.array([group.plus(int(x), int(y)) for x, y in zip(right, d, strict=True)])
    columns = [
        chi[k, a] ** i * chi[k, b] ** j * (chi[minus[k], right] - chi[minus[k], wrong])
        for k in range(1, n)
        for i, j in exponents
    ]
    equations = np.stack(columns, axis=1)
    least = qr(equations.T, mode="r", pivoting=True)[1][:unknown]  # independent rows
    everything, one_step = np.arange(len(a)), np.flatnonzero(d == 1)
    for chosen, decides in ((everything, True), (least, True), (least[:-1], False), (one_step, False)):
        sizes = np.linalg.svd(equations[chosen], compute_uv=False)
        assert (len(chosen) >= unknown and sizes[unknown - 1] > 1e-3 * sizes[0]) == decides
        part = np.zeros_like(weights)
        part[tuple(triples[:, chosen])] = 1
        assert margins_decide(orders, part) == decides


def _rows() -> list[dict[str, Any]]:
    return [row for row in committed_forced()["rows"] if prod(row["orders"]) % 2]


def _points(table: NDArray[np.int64], a: Any, b: Any, d: Any) -> tuple[tuple[Any, Any], ...]:
    """The three corners and the three midpoints of triangles."""
    half = np.argsort(np.diagonal(table))[d]  # the element whose double is d
    return (
        (a, b),
        (table[a, d], b),
        (a, table[b, d]),
        (table[a, half], b),
        (a, table[b, half]),
        (table[a, half], table[b, half]),
    )


def _counted(row: dict[str, Any]) -> bool:
    """Whether the weights of a row meet the conditions of ext-T8, triple by triple."""
    orders, missing = tuple(row["orders"]), {(a, b) for a, b in row["missing"]}
    conditions, table = triangle_conditions(orders, missing), Group(orders).table()
    weights = conditions.spread(np.array(row["weights"], np.int64))
    laws: list[Counter[Any]] = [Counter() for _ in range(9)]
    a, b, d = np.nonzero(weights)
    counted = (*_points(table, a, b, d), (a, d), (b, d), (table[table[a, b], d], d))
    for law, (first, second) in zip(laws, counted, strict=True):
        for point, mass in zip(
            zip(first.tolist(), second.tolist(), strict=True), weights[a, b, d].tolist(), strict=True
        ):
            law[point] += mass
    n = len(table)
    return (
        weights.min() >= 0
        and not missing & set(laws[0])
        and all(law == laws[0] for law in laws[:6])
        and all(len(law) == n * (n - 1) and len(set(law.values())) == 1 for law in laws[6:])
        and all(d != 0 for law in laws[6:] for _, d in law)
    )


def _contradicted(row: dict[str, Any]) -> bool:
    """Whether the integers of a row contradict every strategy that pays nothing above gamma, for addition modulo n."""
    (n,), missing = row["orders"], {(a, b) for a, b in row["missing"]}
    conditions, table = triangle_conditions((n,), missing), Group((n,)).table()
    given = np.array([[(a, b) not in missing for b in range(n)] for a in range(n)])
    a, b, d = np.indices((n, n, n)).reshape(3, -1)
    allowed = (d > 0) & np.all([given[point] for point in _points(table, a, b, d)], axis=0)
    orbit = conditions.orbit.ravel()
    assert np.array_equal(orbit >= 0, allowed)
    # triples of one orbit are images of each other under maps of the table that keep the missing cells
    number, same = np.arange(n**3), np.zeros((n**3, n**3), bool)
    for t, x, y, swap in product([t for t in range(n) if gcd(t, n) == 1], range(n), range(n), (False, True)):

        def image(p: Any, q: Any) -> Any:
            return ((t * q + x) % n, (t * p + y) % n) if swap else ((t * p + x) % n, (t * q + y) % n)  # noqa: B023

        if {image(*cell) for cell in missing} == missing:
            p, q = image(a, b)
            same[number, (p * n + q) * n + t * d % n] = True
    first = np.unique(orbit, return_index=True)[1]
    assert all(same[first[orbit[i] + 1], i] for i in np.flatnonzero(allowed))
    # every row of the system is one condition of ext-T8, summed over orbits
    a, b, d, orbit = a[allowed], b[allowed], d[allowed], orbit[allowed]
    masses = [p * n + q for p, q in (*_points(table, a, b, d), (a, d), (b, d), (table[table[a, b], d], d))]
    counts = np.zeros((9, n * n, orbit.max() + 1), np.int64)
    for count, place in zip(counts, masses, strict=True):
        np.add.at(count, (place, orbit), 1)
    laws = {(*line, 0) for law in counts[1:6] for line in (law - counts[0]).tolist()}
    uniform = {(*line, n) for margin in counts[6:] for line in margin[np.arange(n * n) % n > 0].tolist()}
    system = np.hstack([conditions.matrix.toarray(), conditions.right[:, None]])
    assert set(map(tuple, system.tolist())) <= laws | uniform
    # the sum of combination and neurons is nonnegative on all orbits, and negative by the conditions
    left = np.array(row["combination"], object) @ system.astype(object)
    most = arb(int(left[-1]))
    for (u, v, w), share in zip(np.array(row["neurons"], int).reshape(-1, 3, n), row["shares"], strict=True):
        paid = np.zeros(len(left) - 1, np.int64)
        np.add.at(paid, orbit, u[a] * v[b] * (w[(a + b) % n] - w[(a + b + d) % n]))
        left[:-1] += share * paid
        most += share * (arb(int(u @ u) * int(v @ v) * int(w @ w) * n**3) / 2).sqrt()
    return bool(min(left[:-1]) >= 0 and min(row["shares"], default=0) >= 0 and most < 0)


@check(T12, grade="exact", target="printed")
@proof_steps("triangles.md: 25")
def test_committed_weights_meet_the_conditions() -> None:
    forced = [row for row in _rows() if row["verdict"] == "forced"]
    assert len(forced) == 4 + 6 + 7 + 8
    for row in forced:
        assert _counted(row), row["missing"]


@check(T12, grade="enclosed", target="printed", supporting=True, cases="the sets with a larger margin")
@proof_steps("triangles.md: 26")
def test_larger_margins_from_the_definitions() -> None:
    """Triples, symmetries, conditions and payments are counted here; only the integers are read."""
    larger = [row for row in _rows() if row["verdict"] == "larger"]
    assert len(larger) == 4 + 4 + 39
    for row in larger:
        assert _contradicted(row), row["missing"]
    with_neurons = next(row for row in larger if row["shares"])
    assert not _contradicted(with_neurons | {"combination": [x + 1 for x in with_neurons["combination"]]})


@check(T12, grade="enclosed", target="printed")
@proof_steps("triangles.md: 25, 26")
def test_committed_rows_show_their_verdicts() -> None:
    """Each row again without a solver; those of Z_9 by the rule of the statement."""
    counted: Counter[tuple[int, int, str]] = Counter()
    for row in _rows():
        orders, missing = row["orders"], row["missing"]
        verdict = checked_row(row)
        counted[prod(orders), len(missing), verdict] += 1
        if orders == [9] and len(missing) == 2:
            (a, b), (x, y) = missing
            apart = a != x and b != y and (a + b - x - y) % 9 != 0
            assert verdict == ("forced" if apart else "larger")
    assert counted == {
        (9, 1, "forced"): 2, (15, 1, "forced"): 1, (21, 1, "forced"): 1, (9, 2, "forced"): 6, (9, 2, "larger"): 4,
        (11, 2, "forced"): 7, (13, 2, "forced"): 8,
        (7, 2, "larger"): 4, (7, 2, "undecided"): 1, (7, 3, "larger"): 39, (7, 3, "undecided"): 2,
    }  # fmt: skip
    undecided = [row["missing"] for row in _rows() if row["verdict"] == "undecided"]
    assert undecided == [[[0, 0], [1, 2]], [[0, 0], [1, 2], [2, 4]], [[0, 0], [1, 2], [3, 6]]]


@check(T12, grade="exact", target="printed")
@proof_steps("triangles.md: 27")
@pytest.mark.parametrize(("n", "count"), [(9, 2), (11, 2), (13, 2), (7, 2), (7, 3)])
def test_every_set_of_cells_is_of_a_kind_that_is_there(n: int, count: int) -> None:
    """The images of the committed sets under t, x, y and the exchange are all sets of so many cells."""
    units = [t for t in range(1, n) if gcd(t, n) == 1]
    sets: set[frozenset[int]] = set()
    for row in _rows():
        if row["orders"] == [n] and len(row["missing"]) == count:
            for t, swap in product(units, (False, True)):
                turned = [(t * y % n, t * x % n) if swap else (t * x % n, t * y % n) for x, y in row["missing"]]
                sets |= {
                    frozenset((x + i) % n * n + (y + j) % n for x, y in turned) for i in range(n) for j in range(n)
                }
    assert len(sets) == comb(n * n, count)
