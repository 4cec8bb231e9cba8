"""Margin kernels against brute-force sums over every input."""

import tracemalloc
from collections.abc import Callable
from dataclasses import astuple
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.groups.tables import FiniteGroup, cyclic, dihedral, elementary_abelian, relabel, symmetric
from lemmata.numerics.margins import evaluation
from lemmata.numerics.margins.evaluation import (
    expected_class_margins,
    expected_parity_margins,
    group_margins,
    parity_margins,
)
from lemmata.numerics.margins.loops import reduce_rows

EPS = np.finfo(float).eps
GROUPS = [cyclic(2), cyclic(5), dihedral(4), symmetric(3), symmetric(4), elementary_abelian(3)]


def random_network(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    u, v, w = rng.standard_normal((3, m, n))
    return u, v, w, rng.random(m)


def forward(u: np.ndarray, v: np.ndarray, w: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """All outputs f[a, b, c], by expanding the square: another order of operations than the kernels."""
    cross = np.einsum("i,ia,ib,ic->abc", masses, u, v, w, optimize=True)
    left = np.einsum("i,ia,ic->ac", masses, u**2, w)
    right = np.einsum("i,ib,ic->bc", masses, v**2, w)
    return left[:, None] + right[None] + 2 * cross


def tolerance(u: np.ndarray, v: np.ndarray, w: np.ndarray, masses: np.ndarray) -> float:
    """Both routes add at most 4 m terms, of absolute values sum at most `scale`, a few roundings each."""
    m = len(masses)
    scale = float(np.sum(masses * (abs(u).max(1) + abs(v).max(1)) ** 2 * abs(w).max(1)))
    return 2 * (4 * m + 8) * EPS * scale


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(GROUPS),
    st.integers(1, 30),
    st.integers(0, 10**6),
    st.sampled_from([300, 5000, 4 * 2**20]),
    st.sampled_from([0, evaluation.FEW_NUMBERS]),
)
def test_group_margins_by_brute_force(group: FiniteGroup, m: int, seed: int, block: int, few: int) -> None:
    n = group.order
    u, v, w, masses = random_network(n, m, seed)
    f, tol = forward(u, v, w, masses), tolerance(u, v, w, masses)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "BLOCK_BYTES", block)  # one row to all rows in a block
        patch.setattr(evaluation, "FEW_NUMBERS", few)  # compiled loops, or plain NumPy
        summary = group_margins(u, v, w, group, masses)
    difference: dict[tuple[int, ...], float] = {
        (a, b, c): f[a, b, group.table[a, b]] - f[a, b, c]
        for a, b, c in product(range(n), repeat=3)
        if c != group.table[a, b]
    }
    assert summary.minimum == pytest.approx(min(difference.values()), abs=tol)
    assert summary.maximum == pytest.approx(max(difference.values()), abs=tol)
    assert difference[summary.argmin] == pytest.approx(summary.minimum, abs=tol)
    assert difference[summary.argmax] == pytest.approx(summary.maximum, abs=tol)
    points: dict[tuple[int, int], float] = {}
    classes: dict[int, list[float]] = {0: [0.0]}
    for (a, b, c), value in difference.items():
        points[a, b] = min(points.get((a, b), np.inf), value)
        wrong = group.table[group.table[a, b], group.inverse[c]]
        classes.setdefault(int(group.class_of[wrong]), []).append(value)
    assert summary.point_maximum == pytest.approx(max(points.values()), abs=tol)
    assert summary.class_minimum is not None
    assert summary.class_maximum is not None
    for k, values in classes.items():
        assert summary.class_minimum[k] == pytest.approx(min(values), abs=tol)
        assert summary.class_maximum[k] == pytest.approx(max(values), abs=tol)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
@pytest.mark.parametrize("m", [1, 30])
def test_small_networks_get_the_same_numbers_without_compiled_loops(group: FiniteGroup, m: int, monkeypatch) -> None:
    u, v, w, masses = random_network(group.order, m, seed=m)
    u[0], v[0] = 0, 0  # and outputs that tie
    monkeypatch.setattr(evaluation, "BLOCK_BYTES", 300)
    plain = group_margins(u, v, w, group, masses)
    monkeypatch.setattr(evaluation, "FEW_NUMBERS", 0)
    monkeypatch.setattr(evaluation, "arrays", None)  # not to be used now
    compiled = group_margins(u, v, w, group, masses)
    np.testing.assert_equal(astuple(plain), astuple(compiled))  # to the last bit


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(GROUPS), st.integers(0, 10**6))
def test_group_margins_do_not_depend_on_the_names(group: FiniteGroup, seed: int) -> None:
    u, v, w, masses = random_network(group.order, 5, seed)
    permutation = np.random.default_rng(seed).permutation(group.order)
    old = np.argsort(permutation)
    first = group_margins(u, v, w, group, masses)
    second = group_margins(u[:, old], v[:, old], w[:, old], relabel(group, permutation), masses)
    tol = tolerance(u, v, w, masses)
    assert second.minimum == pytest.approx(first.minimum, abs=tol)
    assert second.maximum == pytest.approx(first.maximum, abs=tol)
    assert second.point_maximum == pytest.approx(first.point_maximum, abs=tol)


def test_group_margins_notice_a_changed_weight_and_label() -> None:
    """Negative control: integer weights, so the summary is exact and must move by the exact amount."""
    u, v, w = np.zeros((3, 1, 3))
    u[0, 0], w[0, 0] = 1, 1  # f(a, b)[c] = 1 iff a = c = 0: the right answer for labels r(0, b) = 0
    table = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2]])
    summary = group_margins(u, v, w, table)
    assert (summary.minimum, summary.maximum, summary.point_maximum) == (0.0, 1.0, 1.0)
    assert summary.argmin == (1, 0, 0)
    assert summary.argmax == (0, 0, 1)
    assert summary.class_minimum is None
    table[0, 2] = 2
    summary = group_margins(u, v, w, table)
    assert (summary.minimum, summary.argmin) == (-1.0, (0, 2, 0))
    u[0, 1] = 3  # f(1, b)[0] = 9 for the right label 1
    summary = group_margins(u, v, w, table)
    assert (summary.minimum, summary.argmin) == (-9.0, (1, 0, 0))


def test_group_margins_of_the_published_modular_network() -> None:
    """Z_7 with 8 neurons per frequency: f = 12 on right and -2 on wrong labels, so every difference is 14."""
    n, h = 7, np.pi / 2
    phases = [(0, 0, 0), (0, 2, 2), (1, -1, 0), (1, 1, 2), (-1, 0, -1), (-1, 2, 1), (0, -1, -1), (0, 1, 1)]
    angles = 2 * np.pi * np.arange(n) / n
    rows = [[np.cos(h * t + z * angles) for t in triple] for z in (1, 2, 3) for triple in phases]
    u, v, w = np.array(rows).transpose(1, 0, 2)
    summary = group_margins(u, v, w, cyclic(n))
    tol = tolerance(u, v, w, np.ones(len(u)))
    assert summary.minimum == pytest.approx(14, abs=tol)
    assert summary.maximum == pytest.approx(14, abs=tol)


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(GROUPS), st.integers(1, 6), st.integers(0, 10**6))
def test_expected_class_margins_by_definition(group: FiniteGroup, m: int, seed: int) -> None:
    n = group.order
    u, v, w, _ = random_network(n, m, seed)
    tau = np.random.default_rng(seed).random(n)
    tau[group.identity] = 0
    tau /= tau.sum()
    values = expected_class_margins(u, v, w, group, tau)
    for i in range(m):
        f = forward(u[i : i + 1], v[i : i + 1], w[i : i + 1], np.ones(1))
        expected = 0.0
        for a, b in product(range(n), repeat=2):
            x = group.table[a, b]
            wrong = sum(tau[group.table[x, group.inverse[c]]] * f[a, b, c] for c in range(n) if c != x)
            expected += (f[a, b, x] - wrong) / n**2
        scale = (abs(u[i]).max() + abs(v[i]).max()) ** 2 * 2 * abs(w[i]).max()
        # means of n^2 terms, each a sum of n products, on both sides
        assert values[i] == pytest.approx(expected, abs=2 * (n**2 + n + 16) * EPS * scale)


def test_expected_class_margins_is_the_mean_of_differences_for_one_wrong_class() -> None:
    """For Z_2 there is one wrong label, so the mean of margins of the network is the sum over its neurons."""
    u, v, w, masses = random_network(2, 9, 1)
    f = forward(u, v, w, masses)
    mean = np.mean([f[a, b, (a + b) % 2] - f[a, b, (a + b + 1) % 2] for a in (0, 1) for b in (0, 1)])
    values = expected_class_margins(u, v, w, [[0, 1], [1, 0]], [0.0, 1.0])
    assert masses @ values == pytest.approx(mean, abs=tolerance(u, v, w, masses))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 10), st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6), st.data())
def test_parity_margins_by_brute_force(n: int, m: int, degree: int, seed: int, data: st.DataObject) -> None:
    support = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    rng = np.random.default_rng(seed)
    hidden, readout, masses = rng.standard_normal((m, n)), rng.standard_normal((m, 2)), rng.random(m)
    inputs = np.array(list(product((1, -1), repeat=n)))
    labels = (1 - np.prod(inputs[:, support], axis=1)) // 2
    neurons = (inputs @ hidden.T) ** degree
    f = (neurons * masses) @ readout
    margins = f[np.arange(len(f)), labels] - f[np.arange(len(f)), 1 - labels]
    reach = abs(hidden).sum(axis=1) ** degree * (abs(readout).sum(axis=1))
    tol = 2 * (degree * n + m + 8) * EPS * float(masses @ reach)
    summary = parity_margins(hidden, readout, masses, degree, support)
    assert summary.minimum == pytest.approx(margins.min(), abs=tol)
    assert summary.maximum == pytest.approx(margins.max(), abs=tol)
    assert summary.point_maximum == summary.maximum
    at = {tuple(x): value for x, value in zip(inputs.tolist(), margins, strict=True)}
    assert at[summary.argmin] == pytest.approx(summary.minimum, abs=tol)
    assert at[summary.argmax] == pytest.approx(summary.maximum, abs=tol)

    signs = 1 - 2 * labels
    means = (signs[:, None] * neurons).mean(axis=0) * (readout[:, 0] - readout[:, 1])
    values = expected_parity_margins(hidden, readout, degree, support)
    # the mean of the oracle adds 2^n terms
    assert np.all(abs(values - means) <= 2 * (degree * n + 2**n + 8) * EPS * reach)


def test_parity_moment_identity() -> None:
    """E y (u . x)^k = k! prod_(i in S) u_i for |S| = k; exact for integer weights, and 0 for larger S."""
    hidden = np.array([[1, 2, 3, 4, -1], [2, -1, 1, 5, 3]])
    readout = np.array([[1, 0], [0, 1]])
    assert expected_parity_margins(hidden, readout, 3, [0, 1, 3]).tolist() == [6.0 * 8, 6.0 * 10]
    assert expected_parity_margins(hidden, readout, 3, [0, 1, 2, 3]).tolist() == [0.0, 0.0]


def test_parity_argmin_is_the_first_input_in_bit_order() -> None:
    """(x_0 + x_1)^2 / 2 - 1 = x_0 x_1 up to a constant that both labels share: all margins tie."""
    summary = parity_margins([[1, 1, 0], [1, -1, 0]], [[1, -1], [-1, 1]], None, 2, [0, 1])
    assert summary.minimum == summary.maximum == 8.0
    assert summary.argmin == summary.argmax == (1, 1, 1)
    broken = parity_margins([[1, 1, 0], [1, -1, 0.5]], [[1, -1], [-1, 1]], None, 2, [0, 1])
    assert (broken.minimum, broken.argmin) == (
        4.5,
        (-1, 1, 1),
    )  # 2 (-2 + 1/2)^2; so has (1, -1, -1), a later input


def test_rows_of_sixty_columns_are_reduced_by_definition() -> None:
    """The largest of the others stands once on each side of the label, next to it as well."""
    f = np.random.default_rng(7).standard_normal((60, 60))
    right = np.arange(60)
    for row in range(59):
        f[row, row + 1 if row % 2 else row - 1] = 9.0
    low, high = np.empty(60), np.empty(60)
    reduce_rows(f, right, low, high)
    for row in range(60):
        others = np.delete(f[row], row)
        assert (low[row], high[row]) == (f[row, row] - others.max(), f[row, row] - others.min())


def test_group_margins_keep_to_the_memory_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """512 neurons for Z_16 have 2^17 squares, of which a block of 2^17 bytes holds an eighth."""
    u, v, w, masses = random_network(16, 512, 0)
    monkeypatch.setattr(evaluation, "FEW_NUMBERS", 0)
    monkeypatch.setattr(evaluation, "BLOCK_BYTES", 2**17)
    group_margins(u, v, w, cyclic(16), masses)  # loads the loops
    tracemalloc.start()
    try:
        group_margins(u, v, w, cyclic(16), masses)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 2**17 < most < 2**17 + 6 * u.nbytes


GOOD = np.ones((2, 3))
Z3 = cyclic(3)
TAU = [0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: group_margins(np.ones((2, 4)), GOOD, GOOD, Z3), r"u must have shape \(any, 3\)"),
        (lambda: group_margins(GOOD, np.ones((1, 3)), GOOD, Z3), r"v must have shape \(2, 3\)"),
        (lambda: group_margins(GOOD, GOOD, np.ones(3), Z3), r"w must have shape"),
        (lambda: group_margins(GOOD, [[0, 0, 0], [0, np.nan, 0]], GOOD, Z3), r"v\[1, 1\] is nan"),
        (lambda: group_margins(GOOD, GOOD, GOOD * np.inf, Z3), r"w\[0, 0\] is inf"),
        (lambda: group_margins(GOOD, GOOD, GOOD.astype(complex), Z3), "real numbers"),
        (lambda: group_margins(GOOD, GOOD, GOOD, Z3, [1.0, -2.0]), r"masses\[1\] is -2.0"),
        (lambda: group_margins(GOOD, GOOD, GOOD, Z3, [1.0]), "masses must have shape"),
        (lambda: group_margins(GOOD[:0], GOOD[:0], GOOD[:0], Z3), "no neurons"),
        (lambda: group_margins(1e200 * GOOD, GOOD, GOOD, Z3), "overflow"),
        (lambda: group_margins(1e-200 * GOOD, 0 * GOOD, 1e200 * GOOD, Z3, [1e200, 1]), "overflow"),
        (lambda: group_margins(GOOD[:, :1], GOOD[:, :1], GOOD[:, :1], [[0]]), "order at least 2"),
        (lambda: group_margins(GOOD, GOOD, GOOD, [[0, 1, 3], [1, 2, 0], [2, 0, 1]]), r"Entry \(0, 2\)"),
        (lambda: expected_class_margins(GOOD, GOOD, GOOD, Z3, [0.2, 0.4, 0.4]), r"tau\[0\] is 0.2"),
        (lambda: expected_class_margins(GOOD, GOOD, GOOD, Z3, [0, 1, 1]), "sums to 2.0"),
        (lambda: expected_class_margins(GOOD, GOOD, GOOD, Z3, [0, 1]), "tau must have shape"),
        (lambda: expected_class_margins(1e200 * GOOD, 1e200 * GOOD, np.eye(3)[:2], Z3, TAU), "overflow"),
        (lambda: expected_class_margins(GOOD, GOOD, GOOD, np.zeros((3, 3), int), TAU), "no identity"),
        (lambda: parity_margins(np.ones((1, 25)), [[1, 0]], None, 2, [0]), "1 to 24 inputs"),
        (lambda: parity_margins(GOOD, GOOD, None, 2, [0]), r"readout must have shape \(2, 2\)"),
        (lambda: parity_margins(GOOD, GOOD[:, :2], None, 0, [0]), "positive integer"),
        (lambda: parity_margins(GOOD, GOOD[:, :2], None, True, [0]), "positive integer"),
        (lambda: parity_margins(GOOD, GOOD[:, :2], None, 1.5, [0]), "positive integer"),  # type: ignore[arg-type]
        (lambda: parity_margins(GOOD, GOOD[:, :2], None, 2, []), "nonempty"),
        (lambda: parity_margins(GOOD, GOOD[:, :2], None, 2, [0, 3]), "distinct coordinates in 0..2"),
        (lambda: parity_margins(GOOD, GOOD[:, :2], None, 2, [1, 1]), "distinct coordinates in 0..2"),
        (lambda: parity_margins(GOOD, GOOD[:, :2], [-1, 1], 2, [1]), r"masses\[0\] is -1"),
        (lambda: parity_margins(1e200 * GOOD, GOOD[:, :2], None, 2, [1]), "overflow"),
        (lambda: expected_parity_margins(GOOD * np.nan, GOOD[:, :2], 2, [1]), r"hidden\[0, 0\] is nan"),
    ],
)
def test_first_violation_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
