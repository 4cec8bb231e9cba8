"""Covers of linear functions (4.2, A.10, 4.10), the division of a budget (A.8), and the norms of the chapter (4.2).

The general statements are proved in proofs/linear_covers.md.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.capacity.linear_codes import decode_matrix, decode_vector, encode_matrix, encode_vector
from lemmata.certificates.capacity.norms import pq_norm, token_norm
from lemmata.numerics.exact.numbers import as_exact, exact_midpoint
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.learning.budgets import optimal_split
from lemmata.numerics.learning.linear_capacity import (
    linear_capacity,
    linear_map_capacity,
    perceptron_steps,
    printed_linear_capacity,
    printed_linear_map_capacity,
    row_radii,
    sign_packing,
    two_stage_capacity,
)
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record
from lemmata.theorems.variable_creation.written_out import near

# ---- notation


def plain_norm(entries: list[fmpq], p: float) -> arb:
    """The p-norm of a list, by its definition."""
    if p == math.inf:
        return arb(max(entries))
    return arb(sum((x ** int(p) for x in entries), start=fmpq(0))).root(int(p))


@check(
    "variable-creation:notation-4.2",
    grade="sampled",
    target="corrected",
    cases="40 random integer matrices up to 5 x 5 (seeds 0, ..., 39), some with a zero column, p, q = 1, 2, infinity",
)
@proof_steps("linear_covers.md: 1, 2")
@pytest.mark.parametrize("seed", range(40))
def test_norms_of_columns_and_of_tokens(seed):
    """Norms by their definition, ||X^T||_(2,inf) is the largest norm of a token, and what the bounds use of them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, rng.integers(1, 6, 2))
    X[:, rng.integers(X.shape[1])] *= seed % 3
    sizes = abs(as_exact(X))
    with precision(128):
        for p, q in product((1, 2, math.inf), repeat=2):
            columns = [plain_norm(list(column), p) for column in sizes.T]
            expected = columns[0]
            for column in columns[1:]:
                joined = {1: expected + column, 2: (expected**2 + column**2).sqrt(), math.inf: expected.max(column)}
                expected = joined[q]
            assert near(pq_norm(X, p, q), expected)
        largest = max(sum(int(x) ** 2 for x in row) for row in X)
        assert near(token_norm(X) ** 2, arb(largest))
        assert near(token_norm(X), pq_norm(X.T, 2, math.inf))
        v = rng.integers(-3, 4, X.shape[1])
        image = arb(sum(int(x) ** 2 for x in X @ v)).sqrt()
        assert image <= pq_norm(X, 2, math.inf) * int(abs(v).sum()) + arb(2) ** -60
        assert int(abs(X @ v).sum()) <= pq_norm(X, 1, 1) * int(abs(v).max())
        frobenius, mixed = pq_norm(X, 2, 2), pq_norm(X, 2, 1)
        assert frobenius <= mixed + arb(2) ** -60
        assert mixed <= frobenius * arb(X.shape[1]).sqrt() + arb(2) ** -60


@counterexample("variable-creation:notation-4.2", grade="exact")
@proof_steps("linear_covers.md: 1")
def test_the_largest_column_norm_is_not_the_largest_token_norm(record: Record, entry: int = 1):
    """T tokens of norm 1 in one dimension: ||X||_(2,inf) = sqrt(T), so X with tokens of norm <= B_X is left out."""
    for T in (4, 9, 10**4):
        X = np.ones((T, 1), dtype=int)
        assert token_norm(X) == 1
        assert max(sum(x * x for x in column) for column in X.T.tolist()) == T > 1
        assert pq_norm(X, 2, math.inf).contains(math.isqrt(T))
    X = np.full((4, 1), entry)
    record.hypothesis("every token has at most the norm B_X = 1", token_norm(X), "<=", 1)
    record.violated("||X||_(2,inf) <= B_X", pq_norm(X, 2, math.inf), "<=", 1)


# ---- the division of a budget


@check(
    "variable-creation:lemma-A.8",
    grade="sampled",
    target="corrected",
    cases="60 random rational splits of 1 to 5 parts (seeds 0, ..., 59), 20 other points each",
)
@proof_steps("linear_covers.md: 3")
@pytest.mark.parametrize("seed", range(60))
def test_the_best_division_of_a_budget(seed):
    """With alpha = a^3, beta = b^3 all is rational: gamma = sum a b^2, x = C a/(b gamma), cost gamma^3/C^2, the least.

    That it is least: 20 other feasible points cost more.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    a, b = ([fmpq(int(x), int(y)) for x, y in rng.integers(1, 9, (n, 2))] for _ in range(2))
    C = fmpq(int(rng.integers(1, 9)), int(rng.integers(1, 9)))
    gamma = sum((x * y**2 for x, y in zip(a, b, strict=True)), start=fmpq(0))
    best = [C * x / (y * gamma) for x, y in zip(a, b, strict=True)]
    cost = gamma**3 / C**2
    alphas, betas = [x**3 for x in a], [y**3 for y in b]
    with precision(128):
        split = optimal_split(alphas, betas, C)
        assert near(split.cost, arb(cost))
        assert all(near(x, arb(y)) for x, y in zip(split.radii, best, strict=True))
        assert all(near(s, arb(x * y**2 / gamma)) for s, x, y in zip(split.shares, a, b, strict=True))
    assert sum((y * x for y, x in zip(betas, best, strict=True)), start=fmpq(0)) == C
    assert sum((y / x**2 for y, x in zip(alphas, best, strict=True)), start=fmpq(0)) == cost
    for moved in range(20):
        weights = [fmpq(int(w)) for w in np.random.default_rng([seed, moved]).integers(1, 20, n)]
        total = sum((y * w for y, w in zip(betas, weights, strict=True)), start=fmpq(0))
        other = [w * C / total for w in weights]
        assert sum((y / x**2 for y, x in zip(alphas, other, strict=True)), start=fmpq(0)) >= cost


@counterexample("variable-creation:lemma-A.8", grade="exact")
@proof_steps("linear_covers.md: 4")
def test_without_positivity_the_minimum_is_not_attained(record: Record, first: fmpq = fmpq(2)):
    """n = 2, all coefficients 1, C = 1: the points (N + 1, -N) are feasible and cost less than the minimum 8."""
    printed = fmpq(2) ** 3
    assert optimal_split([1, 1], [1, 1], 1).cost.contains(printed)
    for N in (1, 10, 100, 10**6):
        x = (fmpq(N + 1), fmpq(-N))
        assert sum(x) == 1
        assert sum((1 / y**2 for y in x), start=fmpq(0)) < fmpq(2, N**2) < printed
    alphas, betas, x = as_exact([1, 1]), as_exact([1, 1]), np.array([first, fmpq(-1)])
    record.hypothesis("alpha_i, beta_i >= 0", min([*alphas, *betas]), ">=", 0)
    record.hypothesis("the budget is spent: sum beta_i x_i = C = 1", betas @ x, "=", 1)
    cost = (alphas / x**2).sum()
    record.violated("the objective is at least gamma^3/C^2 = 8", cost, ">=", printed)


# ---- vectors


def perceptron(w: np.ndarray, points: np.ndarray, step: fmpq, eps: fmpq) -> list[tuple[int, int]]:
    """The code of w: pairs (point, sign) of the perceptron without projection, in rational numbers."""
    current, code = w * 0, []
    while True:
        errors = points @ (current - w)
        wrong = [i for i, error in enumerate(errors) if abs(error) > eps]
        if not wrong:
            return code
        sign = 1 if errors[wrong[0]] > 0 else -1
        code.append((wrong[0], sign))
        current = current - step * sign * points[wrong[0]]


def decode(code: list[tuple[int, int]], points: np.ndarray, step: fmpq) -> np.ndarray:
    """The vector that a code stands for."""
    result = points[0] * 0
    for i, sign in code:
        result = result - step * sign * points[i]
    return result


@check(
    "variable-creation:lemma-A.10",
    grade="exact",
    target="printed",
    cases="orthonormal points of radius R = 1, 2, 1/3 in d = 1, 4, 9, 16, 25 dimensions",
)
@check(
    "variable-creation:fact-4.2lin",
    grade="exact",
    target="corrected",
    cases="orthonormal points of radius R = 1, 2, 1/3 in d = 1, 4, 9, 16, 25 dimensions",
)
@proof_steps("linear_covers.md: 5, 9")
@pytest.mark.parametrize("R", [fmpq(1), fmpq(2), fmpq(1, 3)])
@pytest.mark.parametrize("root", [1, 2, 3, 4, 5])
def test_orthonormal_points_take_all_steps_and_hold_all_signs(root, R):
    """At eps a little below B R/sqrt(d): d steps, the most; 2^d vectors 2 eps apart; d log 2 <= d log(2 d + 1)."""
    d, B = root**2, fmpq(3, 2)
    eps = B * R / root * fmpq(99, 100)
    points = np.diag([R] * d) + fmpq(0)
    assert perceptron_steps(B, R, eps) == sign_packing(B, R, eps) == d
    for period in range(1, 6):
        w = as_exact([(-1) ** (i // period) for i in range(d)]) * (B / root)
        assert w @ w == B**2
        code = perceptron(w, points, eps / R**2, eps)
        assert len(code) == d
        assert max(abs(points @ (decode(code, points, eps / R**2) - w))) <= eps
        found = encode_vector(w, points, eps)
        assert len(found.steps) == found.limit == d
        assert max(abs(points @ (decode_vector(found, points) - w))) <= eps
        assert found.bits == ((2 * d + 1) ** d - 1).bit_length()
        other = w.copy()
        other[period % d] *= -1
        assert max(abs(points @ (other - w))) > 2 * eps
    with precision(128):
        found = linear_capacity(B, R, eps, d)
        assert near(found, arb((2 * d + 1) ** d).log())
        assert d * arb(2).log() <= found <= printed_linear_capacity(B, R, eps, d)


@check(
    "variable-creation:lemma-A.10",
    grade="exact",
    target="printed",
    cases="N = 1, 2 points in 1 or 2 dimensions, (B R/eps)^2 <= 5: all codes, a grid of vectors",
)
@check(
    "variable-creation:fact-4.2lin",
    grade="exact",
    target="corrected",
    cases="N = 1, 2 points in 1 or 2 dimensions, (B R/eps)^2 <= 5: all codes, a grid of vectors",
)
@proof_steps("linear_covers.md: 6")
@pytest.mark.parametrize(("N", "squared"), [(1, 2), (1, 4), (1, 5), (2, 2), (2, 3), (2, 5)])
def test_the_codes_are_a_cover_of_the_counted_size(N, squared):
    """The vectors of all codes of at most K symbols are within eps of every vector of a grid in the ball."""
    points = as_exact([[3, 4], [-4, 3]][:N]) / 5
    B = fmpq(10)
    eps = B * fmpq(1000, math.isqrt(squared * 10**6) + 1)  # (B R/eps)^2 is a little above `squared`
    K = perceptron_steps(B, 1, eps)
    assert squared == K
    symbols = list(product(range(N), (1, -1)))
    codes = [code for k in range(K + 1) for code in product(symbols, repeat=k)]
    images = {tuple((points @ decode(list(code), points, eps)).tolist()) for code in codes}
    with precision(128):
        assert arb(len(codes)).log() <= linear_capacity(B, 1, eps, N)
        assert near(linear_capacity(B, 1, eps, N), arb((2 * N + 1) ** K).log())
    grid = [as_exact([x, y]) for x, y in product(range(-10, 11), repeat=2) if x * x + y * y <= 100]
    for w in grid:
        seen = points @ w
        assert any(all(abs(x - y) <= eps for x, y in zip(image, seen, strict=True)) for image in images)
        assert tuple((points @ decode(perceptron(w, points, eps, eps), points, eps)).tolist()) in images


@check(
    "variable-creation:lemma-A.10",
    grade="enclosed",
    target="printed",
    cases="48 tuples (B, R, eps, N), and every argument scaled by 1000",
)
@proof_steps("linear_covers.md: 7")
@pytest.mark.parametrize(("B", "R"), list(product((1, "5/2"), (1, "1/3", 7))))
@pytest.mark.parametrize("eps", ["1/10", "3/100", 3, 100])
def test_the_printed_bound_is_a_weaker_one(B, R, eps):
    """36 (B R/eps)^2 log(2 ceil(4 B R/eps + 2) N + 1), which is at least K log(2 N + 1); with its exponents."""
    with precision(128):
        for N in (1, 10**4):
            ratio = as_exact([B])[0] * as_exact([R])[0] / as_exact([eps])[0]
            size = 2 * int((4 * ratio + 2).ceil()) * N + 1
            printed = printed_linear_capacity(B, R, eps, N)
            assert near(printed, 36 * arb(ratio**2) * arb(size).log())
            assert linear_capacity(B, R, eps, N) <= printed
            steps = max(int((ratio**2).ceil()) - 1, 0)
            assert near(linear_capacity(B, R, eps, N), steps * arb(2 * N + 1).log())
            assert perceptron_steps(B, R, as_exact([eps])[0] / 1000) == int((10**6 * ratio**2).ceil()) - 1


@counterexample("variable-creation:fact-4.2lin", grade="enclosed")
@proof_steps("linear_covers.md: 8")
def test_without_a_logarithm_on_the_left_the_bound_is_exponentially_small(record: Record):
    """x_i = e_i, m = d, B_X = B_W = 1, eps = 1/(2 sqrt d): N >= vol(ball)/(2 eps)^d, printed 4 d log(2 d^(3/2)).

    The quotient of the number and the printed bound exceeds every constant along d = 100, 400, 1600, ...
    """
    previous = arb(0)
    for root in (10, 20, 40, 80):
        d = root**2
        volume = arb.pi().log() * d / 2 - (arb(d) / 2 + 1).lgamma() + arb(root).log() * d  # eps = 1/(2 root)
        packing = sign_packing(1, 1, fmpq(1, 2 * root)) * arb(2).log()
        assert packing > 0
        assert linear_capacity(1, 1, fmpq(1, 2 * root), d) >= volume
        excess = volume - (4 * d * arb(2 * root**3).log()).log()
        if root == 10:
            norms = (np.eye(d, dtype=int) ** 2).sum(axis=1)
            record.hypothesis("d = m points e_i of norm at most B_X = 1", int(norms.max()), "<=", 1)
            record.hypothesis("eps > 0", fmpq(1, 2 * root), ">", 0)
            size = (10**9 * 4 * d * arb(2 * root**3).log()).log()
            record.violated("log N <= log of 10^9 times the printed bound, by volumes", volume, "<=", size)
        assert excess > 2 * previous + 1
        previous = excess


# ---- matrices


@check(
    "variable-creation:lemma-4.10",
    grade="enclosed",
    target="corrected",
    cases="32 tuples (B, R, eps, N, d); the closed form against 199 divisions of eps",
)
@proof_steps("linear_covers.md: 11, 12")
@pytest.mark.parametrize(("B", "R"), [(1, 1), (2, 3), ("1/2", 5), (7, "1/3")])
@pytest.mark.parametrize("eps", ["1/10", "1/100"])
def test_the_closed_form_is_the_best_of_the_two_stages(B, R, eps):
    """Counts of both stages in integers; the closed form is their best division, and (B R/eps)^2 log(d + 1)."""
    B, R, eps = as_exact([B, R, eps]).tolist()
    squared = (B * R / eps) ** 2
    with precision(128):
        for N, d in product((1, 1000), (1, 50)):
            a, b = arb(d + 1).log(), arb(2 * N + 1).log()
            first, second = eps / (3 * R), eps * fmpq(2, 3)
            means, steps = int((B**2 / first**2).ceil()), int(((B * R / second) ** 2).ceil()) - 1
            assert near(two_stage_capacity(B, R, first, second, N, d), means * a + steps * b)
            bound = linear_map_capacity(B, R, eps, N, d)
            relaxed = bound - squared * a
            shares = [fmpq(k, 200) for k in range(1, 200)]
            assert all(squared * (a / share**2 + b / (1 - share) ** 2) >= relaxed for share in shares)
            x, y = row_radii(B, R, eps, N, d)
            assert near(y + R * x, arb(eps))
            assert near(B**2 * a / x**2 + (B * R) ** 2 * b / y**2, relaxed)
            below, above = (int(float(z.mid() / eps) * 10**9) for z in (x, y))
            stages = two_stage_capacity(B, R, eps * fmpq(below, 10**9), eps * fmpq(above, 10**9), N, d)
            assert stages <= bound * (1 + arb("1e-6"))


@check(
    "variable-creation:lemma-4.10",
    grade="sampled",
    target="corrected",
    cases="20 random matrices up to 4 x 4 of integers/8 on up to 12 points (seeds 0, ..., 19), eps = B R/2 and B R/3",
)
@proof_steps("linear_covers.md: 10, 11")
@pytest.mark.parametrize("seed", range(20))
def test_matrices_are_rebuilt_from_their_codes(seed):
    """Maurey's row norms and a perceptron for each row: error <= eps, sum of row norms <= B, counted length."""
    rng = np.random.default_rng(seed)
    outputs, inputs, count = (int(x) for x in rng.integers(1, 5, 3))
    W, points = (as_exact(rng.integers(1, 9, shape)) / 8 for shape in ((outputs, inputs), (3 * count, inputs)))
    W = W * as_exact(rng.choice([-1, 1], W.shape))
    R = max(arb(x @ x).sqrt() for x in points)
    for part in (2, 3):
        size = sum((arb(row @ row).sqrt() for row in W), start=arb(0)) * R / part
        eps = fmpq(int(float(size.mid()) * 1000), 1000)
        code = encode_matrix(W, points, eps)
        rebuilt = decode_matrix(code, points)
        assert all((x := (rebuilt - W) @ point) @ x <= eps**2 for point in points)
        assert sum((arb(row @ row).sqrt() for row in rebuilt), start=arb(0)) <= code.norm
        assert sum(len(row.steps) for row in code.rows) <= perceptron_steps(code.norm, exact_midpoint(R), code.error)
        bound = linear_map_capacity(code.norm, R, eps, len(points), outputs) / arb(2).log()
        assert code.bits <= bound + 1 + outputs


@check(
    "variable-creation:lemma-4.10",
    grade="exact",
    target="corrected",
    cases="d_1 = 1, ..., 4 rows, p = 1, 4, 9 points a row; every argument scaled by 2^10",
)
@proof_steps("linear_covers.md: 13")
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.parametrize("root", [1, 2, 3])
def test_matrices_of_signs_are_below_the_bound_with_its_exponents(rows, root):
    """Row j has p signs of size B/(d_1 sqrt p): m = d_1 p signs, error R B/(d_1 sqrt p) > eps. Slopes 2, 2 and -2."""
    B, R = fmpq(3), fmpq(5, 2)
    p = root**2
    size = B / (rows * root)
    eps = size * R * fmpq(999, 1000)
    W = np.zeros((rows, rows * p), dtype=object) + fmpq(0)
    for j in range(rows):
        W[j, j * p : (j + 1) * p] = size
    assert sum((fmpq(math.isqrt(int(row @ row / size**2))) * size for row in W), start=fmpq(0)) == B
    points = rows * p
    assert all(sum(x * x for x in W[:, i] * R) > eps**2 for i in range(points))
    at = {"norm": B, "radius": R, "eps": eps, "points": points, "outputs": rows}
    with precision(128):
        bound = linear_map_capacity(**at)
        assert points * arb(2).log() <= bound
        for name, slope in (("norm", 2), ("radius", 2), ("eps", -2)):
            scaled = at | {name: at[name] * fmpq(2) ** (5 * slope)}
            assert near(linear_map_capacity(**scaled), bound * 2**20)
            truth, before = (sign_packing(one["norm"], one["radius"], one["eps"]) for one in (scaled, at))
            assert truth >= 2**20 * before > 0


@counterexample("variable-creation:lemma-4.10", grade="exact")
@proof_steps("linear_covers.md: 14")
def test_the_printed_space_of_points_and_the_printed_logarithm_fail(record: Record, point: fmpq = fmpq(1)):
    """Points in R^(d_1) cannot be multiplied by W; and for d_1 = N = 1 the printed bound is 0 for every constant.

    One row and one point: the values fill [-B R, B R], so that ceil(B R/eps) functions are needed.
    """
    with pytest.raises(ValueError, match="mismatch"):
        np.matmul(np.ones((2, 3)), np.ones(2))
    for ratio in (2, 10, 10**6):
        needed = ratio  # intervals of length 2 eps that cover one of length 2 B R
        for constant in (1, 10**9):
            assert printed_linear_map_capacity(ratio, 1, 1, 1, 1, constant=constant) == 0 < arb(needed).log()
        assert arb(needed).log() <= linear_map_capacity(ratio, 1, 1, 1, 1)
    B_W, eps = fmpq(10), fmpq(1)  # one row and one point: the values w x fill [-10, 10]
    record.hypothesis("eps > 0", eps, ">", 0)
    record.hypothesis("||x^(1)|| <= B_X = 1", abs(point), "<=", 1)
    largest, least = printed_linear_map_capacity(B_W, 1, eps, 1, 1, constant=10**9), arb(B_W * point / eps).log()
    record.violated("log N <= 10^9 (B_X B_W/eps)^2 log(d_1 N), with N >= 10", least, "<=", largest)
    printed = printed_linear_map_capacity(2, 3, 1, 5, 7, constant=2)
    assert abs(printed - 72 * arb(35).log()) < arb("1e-10")


@counterexample("variable-creation:lemma-4.10", grade="exact", supporting=True)
@proof_steps("linear_covers.md: 14")
def test_two_steps_of_the_printed_proof_fail():
    """The error of a rescaled row is |v - ||w|| | |w.x|/||w||, not with ||w||^2, and the sum runs over all rows.

    W = (2), v = 1, x = 1: the error is 1, printed 1/2. Two rows and one input: the printed sum over d_2 = 1 rows is 0.
    """
    w, v, x = fmpq(2), fmpq(1), fmpq(1)
    error = abs(v / abs(w) * w * x - w * x)
    assert error == abs(v - abs(w)) * abs(w * x) / abs(w) == 1
    assert abs(v - abs(w)) * abs(w * x) / w**2 == fmpq(1, 2) < error
    W, rebuilt = as_exact([[1], [3]]), as_exact([[1], [2]])
    errors = [(a - b) ** 2 for a, b in zip(W[:, 0], rebuilt[:, 0], strict=True)]
    assert sum(errors[: W.shape[1]], start=fmpq(0)) == 0 < sum(errors, start=fmpq(0))
