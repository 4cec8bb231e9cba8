"""Inexact projected gradient descent: lemma 14 and corollary 1.1, their counterexamples, proofs and certificates.

All counterexamples are one-dimensional quadratics or linear functions, iterated with rational numbers, and one network
(N = 2) for the corollary itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from lemmata.certificates.descent import certify_step
from lemmata.certificates.descent_trajectory import certify_trajectory
from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.bounds import approximate_activation
from lemmata.numerics.descent.errors import (
    LayerBounds,
    LossBounds,
    gradient_error,
    gradient_lipschitz,
    trajectory_error,
)
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.functions import smooth as functions
from lemmata.numerics.functions.relu_sums import affine, constant, squared_loss_derivative
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

NETWORK_CASES = (
    "tanh, widths (2,2,1), n = 3, a box of width 1/5 around one start (seed 11), eta = 1/10, 64 pieces, 6 steps"
)

Gradient = Callable[[fmpq], fmpq]


def clip(x: fmpq, lower: fmpq, upper: fmpq) -> fmpq:
    return max(lower, min(upper, x))


def descend(gradient: Gradient, eta: fmpq, steps: int, bounds: tuple[int, int], error: fmpq) -> list[fmpq]:
    """w_0 = 0, ..., w_steps of projected gradient descent, with `error` added before each projection."""
    lower, upper = fmpq(bounds[0]), fmpq(bounds[1])
    w = [fmpq(0)]
    for _ in range(steps):
        w.append(clip(w[-1] - eta * gradient(w[-1]) + error, lower, upper))
    return w


def mapping(gradient: Gradient, eta: fmpq, bounds: tuple[int, int], w: fmpq) -> fmpq:
    """The gradient mapping G(w)."""
    return (w - clip(w - eta * gradient(w), fmpq(bounds[0]), fmpq(bounds[1]))) / eta


# ---- lemma 14 as printed


@counterexample("deep-icgd:lemma-14", grade="exact")
def test_step_sizes_up_to_the_lipschitz_constant_diverge(record: Record) -> None:
    """f = 5 (w-1)^2 on [-3, 3], eta = 1 <= L_f = 10, no errors: the iterates alternate between 3 and -3 for ever.

    So for every eps > 0 within its hypotheses; the printed bound 0.02 + 10 eps^2 is below 36 for all eps <= 1.
    """
    L, bounds, eta = 2000, (-3, 3), fmpq(1)

    def gradient(w: fmpq) -> fmpq:
        return 10 * (w - 1)

    w = descend(gradient, eta, L, bounds, fmpq(0))
    assert w[:4] == [0, 3, -3, 3]
    squares = [mapping(gradient, eta, bounds, x) ** 2 for x in w[1:L]]
    mean = sum(squares, fmpq(0)) / L
    printed = fmpq(8 * 5) / (eta * L)  # f(0) - inf f = 5
    assert printed == fmpq(1, 50)
    assert min(squares) == 36 > printed
    assert mean > 35
    L_f = max(abs(gradient(a) - gradient(b)) for a, b in pairwise([fmpq(-3), fmpq(0), fmpq(3)])) / 3
    eps, errors = fmpq(1), [b - clip(a - eta * gradient(a), fmpq(-3), fmpq(3)) for a, b in pairwise(w)]
    record.hypothesis("eps = 1 > 0", eps, ">", 0)
    record.hypothesis("f' is 10-Lipschitz on W: largest difference quotient", L_f, "<=", 10)
    record.hypothesis("eta <= L_f = 10", eta, "<=", L_f)
    record.hypothesis("all iterates lie in W = [-3, 3]", max(map(abs, w)), "<=", 3)
    record.hypothesis("|eps^l| <= eta eps", max(map(abs, errors)), "<=", eta * eps)
    record.violated(
        "min |G|^2 <= 8 (f(0) - inf f)/(eta L) + 10 eps^2, L = 2000", min(squares), "<=", printed + 10 * eps**2
    )
    record.number("35.98", mean)
    record.number("0.02", printed)
    record.number("2000", L)


@counterexample("deep-icgd:lemma-14", grade="exact")
def test_sum_misses_the_first_term() -> None:
    """f = w, eps = 0: G = 1 inside W, and the minimum 1 exceeds (1/L) sum_{l=1}^{L-1} 1 = (L-1)/L."""
    bounds, eta, L = (-10, 10), fmpq(1), 5
    w = descend(lambda _: fmpq(1), eta, L, bounds, fmpq(0))
    squares = [mapping(lambda _: fmpq(1), eta, bounds, x) ** 2 for x in w[1:L]]
    assert min(squares) == 1 > sum(squares, fmpq(0)) / L == fmpq(L - 1, L)


@counterexample("deep-icgd:lemma-14", grade="exact")
def test_errors_grow_with_the_step_size_not_with_the_number_of_examples(record: Record, eta: fmpq = fmpq(10)) -> None:
    """f = -5 w^2, L_f = 10, eta = 10 <= L_f, n = 1, eps = 1/1000: distance 1.02 after two steps, printed 0.0121."""
    eps, L_f, n = fmpq(1, 1000), fmpq(10), 1
    exact = descend(lambda w: -L_f * w, eta, 2, (-5, 5), fmpq(0))
    inexact = descend(lambda w: -L_f * w, eta, 2, (-5, 5), eta * eps)
    distance = abs(inexact[2] - exact[2])
    printed = (1 + n * L_f) ** 2 * eps / L_f
    errors = [abs(b - a - eta * L_f * a) for a, b in pairwise(inexact)]  # nothing is clipped
    record.hypothesis("eta <= L_f = 10", eta, "<=", L_f)
    record.hypothesis("|eps^l| <= eta eps, l = 0, 1", max(errors), "<=", eta * eps)
    record.hypothesis("all iterates lie in W = [-5, 5]", max(map(abs, inexact)), "<=", 5)
    record.violated("distance after l = 2 steps <= (1 + n L_f)^l eps / L_f, n = 1", distance, "<=", printed)
    assert distance == fmpq(102, 100) > (1 + n * L_f) ** 2 * eps / L_f == fmpq(121, 10**4)
    assert distance == eps * ((1 + eta * L_f) ** 2 - 1) / L_f  # the corrected bound is attained


# ---- lemma 14 corrected


@check("deep-icgd:lemma-14", grade="symbolic", target="corrected", supporting=True)
@proof_steps("trajectory.md: 3, 4, 5")
def test_proof_of_convergence_and_growth() -> None:
    """W convex and closed, f with an L-Lipschitz gradient on W, eta <= 1/L, errors |e| <= eta eps; l = 0, ..., L-1.

    With w+ = Proj(w - eta grad f + e), D = |w+ - w|, d = D / eta:
    1. Projection on a convex set: <w - eta grad f + e - w+, w - w+> <= 0, so <grad f, w+ - w> <= -D^2/eta + eps D.
    2. Descent lemma on the segment [w, w+] in W: f+ <= f + <grad f, w+ - w> + L D^2 / 2. With eta L <= 1:
       f+ <= f - (eta/2) d^2 + eta eps d, and eta eps d <= (eta/4) d^2 + eta eps^2, so d^2 <= 4 (f - f+)/eta + 4 eps^2.
    3. The projection is nonexpansive: |G(w)| <= d + eps, so |G|^2 <= 2 d^2 + 2 eps^2 <= 8 (f - f+)/eta + 10 eps^2.
       Summing telescopes: mean |G|^2 <= 8 (f(w_0) - inf f)/(eta L) + 10 eps^2.
    4. Growth: nonexpansive again, |wbar+ - w+| <= (1 + eta L) |wbar - w| + eta eps, which iterates to
       eps ((1 + eta L)^l - 1) / L.
    """
    eta, L, eps, d, gap, l, q = sp.symbols("eta L eps d gap l q", positive=True)
    D = eta * d
    decrease = D**2 / eta - eps * D - L * D**2 / 2  # f - f+ is at least this
    target = eta / 2 * d**2 - eta * eps * d
    assert sp.expand((decrease - target).subs(L, (1 - q) / eta) - q * eta * d**2 / 2) == 0  # eta L = 1 - q, q >= 0
    assert sp.expand(target - (eta / 4 * d**2 - eta * eps**2) - eta * (d / 2 - eps) ** 2) == 0
    assert sp.expand(4 / eta * (eta / 4 * d**2 - eta * eps**2) + 4 * eps**2 - d**2) == 0
    assert sp.expand(2 * d**2 + 2 * eps**2 - (d + eps) ** 2 - (d - eps) ** 2) == 0
    assert sp.expand(2 * (4 * gap / eta + 4 * eps**2) + 2 * eps**2 - (8 * gap / eta + 10 * eps**2)) == 0
    distance = eps * ((1 + eta * L) ** l - 1) / L
    assert sp.simplify(distance.subs(l, l + 1) - (1 + eta * L) * distance - eta * eps) == 0
    assert distance.subs(l, 0) == 0


@check(
    "deep-icgd:lemma-14",
    grade="sampled",
    target="corrected",
    cases="up to 80 draws of quadratics on [-1, 1]^k, k = 1, 2, 3, eta = 1/L_f, eps = 1/50, 8 steps; seeds 0, ..., 3",
)
@proof_steps("trajectory.md: 5, 6")
@pytest.mark.parametrize("seed", range(4))
def test_corrected_bounds_on_random_quadratics(seed: int, record_property: Any) -> None:
    """Quadratics with rational coefficients on boxes in up to 3 dimensions, errors along the gradient mapping.

    eta <= 1/L_f with L_f the largest absolute row sum of the Hessian, at least its norm. Errors have |e|_1 <= eta eps.
    """
    rng = np.random.default_rng(seed)
    tightest = 0.0
    for _ in range(20):
        size = int(rng.integers(1, 4))
        A = rng.integers(-3, 4, (size, size))
        H = [[fmpq(int(v)) for v in row] for row in (A + A.T)]
        b = [fmpq(int(v)) for v in rng.integers(-4, 5, size)]
        L_f = max(sum(map(abs, row)) for row in H)
        if L_f == 0:
            continue
        eta, eps, steps = fmpq(1, 1) / L_f, fmpq(1, 50), 8
        step_error = [eta * eps / size * int(v) for v in rng.choice([-1, 1], size)]
        inexact, exact, lowest = run_quadratic(H, b, eta, step_error, steps)
        squares = [square(subtract(w, project(step(H, b, eta, w)))) / eta**2 for w in inexact[:steps]]
        bound = 8 * (value(H, b, inexact[0]) - lowest) / (eta * steps) + 10 * eps**2
        assert sum(squares, fmpq(0)) / steps <= bound
        distances = [d.upper() for d in trajectory_error([eps] * steps, eta, L_f)]
        for w, v, d in zip(inexact, exact, distances, strict=True):
            assert square(subtract(w, v)) <= d**2
            tightest = max(tightest, float(arb(square(subtract(w, v))).sqrt() / d) if d > 0 else 0.0)
    record_property("tightest_distance", round(tightest, 3))
    eta, eps, L_f = fmpq(3 + seed, 7), fmpq(1, 50), fmpq(5, 2)  # f = -L_f w^2 / 2 attains the bound, for any eta
    exact = [abs(w) for w in descend(lambda w: -L_f * w, eta, 6, (-(10**9), 10**9), eta * eps)]
    for bound, distance in zip(trajectory_error([eps] * 6, eta, L_f), exact, strict=True):
        assert abs(bound - arb(distance)) < arb(2) ** -30


def project(w: list[fmpq]) -> list[fmpq]:
    return [clip(x, fmpq(-1), fmpq(1)) for x in w]


def step(H: list[list[fmpq]], b: list[fmpq], eta: fmpq, w: list[fmpq]) -> list[fmpq]:
    gradient = [sum((h * x for h, x in zip(row, w, strict=True)), c) for row, c in zip(H, b, strict=True)]
    return [x - eta * g for x, g in zip(w, gradient, strict=True)]


def value(H: list[list[fmpq]], b: list[fmpq], w: list[fmpq]) -> fmpq:
    quadratic = sum((w[i] * H[i][j] * w[j] for i in range(len(w)) for j in range(len(w))), fmpq(0)) / 2
    return quadratic + sum((c * x for c, x in zip(b, w, strict=True)), fmpq(0))


def subtract(a: list[fmpq], b: list[fmpq]) -> list[fmpq]:
    return [x - y for x, y in zip(a, b, strict=True)]


def square(a: list[fmpq]) -> fmpq:
    return sum((x * x for x in a), fmpq(0))


def run_quadratic(
    H: list[list[fmpq]], b: list[fmpq], eta: fmpq, error: list[fmpq], steps: int
) -> tuple[list[list[fmpq]], list[list[fmpq]], fmpq]:
    """The inexact and the exact trajectory from 0, and the lowest value met: at least inf f, so a sharper test."""
    inexact, exact = [[fmpq(0)] * len(b)], [[fmpq(0)] * len(b)]
    for _ in range(steps):
        inexact.append(project([x + e for x, e in zip(step(H, b, eta, inexact[-1]), error, strict=True)]))
        exact.append(project(step(H, b, eta, exact[-1])))
    return inexact, exact, min(value(H, b, w) for w in inexact + exact)


# ---- corollary 1.1


@counterexample("deep-icgd:corollary-1.1", grade="exact")
@counterexample("deep-icgd:corollary-4.1", grade="exact")
def test_unprojected_descent_leaves_the_domain_and_the_bound(record: Record) -> None:
    """A network within all hypotheses: N = 2, d = K = n = 1, r = 1 + t, squared loss, x = 1, y = 10, W = [-1, 1]^2.

    The block for it is exact, so it satisfies theorem 1 with every eps > 0. The printed bound L_f^-1 (1 + n L_f)^l eps
    tends to 0 with eps; but w_GD, which is not projected, leaves W, and the distance does not depend on eps. L_f is any
    constant > 0: with eps = 10^-9 the printed bound is below the distance for all 10^-6 <= L_f <= 10^2.
    """
    u = squared_loss_derivative()
    block = gradient_descent_block((1, 1, 1), 1, 1, affine(1, 1), constant(1), u, (-1, 1), 1, 10)
    z = block.prompt(column(1, 0), column(10), np.array([fmpq(0), fmpq(0)], dtype=object))
    inside = block.trajectory(z, 2)
    w, steps = (fmpq(0), fmpq(0)), [(fmpq(0), fmpq(0))]
    for _ in range(2):
        p = 1 + w[0]
        error = (1 + w[1] * p - 10) / 2  # u / (2 n)
        w = (w[0] - error * w[1], w[1] - error * p)
        steps.append(w)
    assert inside[1].tolist() == [0, 1]
    projected = certify_trajectory(block, functions.SmoothFunction("1 + t", lambda t: 1 + t), inside, [[1]], [[10]])
    assert max(projected.distances) < 2.0**-50  # it follows descent with the projection, which leaves W without
    assert steps[1] == (0, fmpq(9, 2))  # outside W after one step
    assert abs(steps[2][1] - inside[2][1]) > 1
    for l in (1, 2):
        distance = max(abs(a - b) for a, b in zip(steps[l], inside[l].tolist(), strict=True))
        for L_f in (fmpq(1, 10**6), fmpq(100)):  # the bound is convex in L_f: largest at the ends
            assert distance > (1 + L_f) ** l / L_f * fmpq(1, 10**9)
    # L_f lies between, in either reading. As Lip(L_n): |grad L_n| = 9/2 at 0, and on W, where p(1) is in [0, 2], p in
    # [-1, 3] and |u| / 2 <= 11/2, it is below 13. As Lip(grad L_n): d^2 L_n / dw_2^2 = p(1)^2 / 2 = 1/2 at 0, and:
    assert certify_step(block, functions.SmoothFunction("1 + t", lambda t: 1 + t)).lipschitz < 100
    # No network has its weights nearer than the box: 7/2 after one step. In either reading L_f >= 1/2.
    eps, nearest = fmpq(1, 10), steps[1][1] - max(block.upper)
    record.hypothesis("W: all rows at most B_v = 1", max(abs(end) for end in [*block.lower, *block.upper]), "<=", 1)
    record.hypothesis("|x_1| <= B_x = 1", block.input_bound, "<=", 1)
    record.hypothesis("|y_1| <= B_y = 10", block.label_bound, "<=", 10)
    record.hypothesis("L_f >= 1/2, as d^2 L_n / dw_2^2 = p(1)^2 / 2 at 0", (1 + steps[0][0]) ** 2 / 2, ">=", fmpq(1, 2))
    record.violated(
        "a w in W with |w - w_GD^1| <= (1 + n L_f) eps / L_f, eps = 1/10, L_f = 1/2",
        nearest,
        "<=",
        (1 + fmpq(1, 2)) * eps / fmpq(1, 2),
    )


def by_hand(layers: list[LayerBounds], loss: LossBounds, B_x: float) -> tuple[float, float]:
    """The bounds of |gradbar - grad| and of the Lipschitz constant of grad L_n, step by step in floats.

    Steps 10 to 13 of proofs/block.md, and the same scheme for two weight vectors with exact r, r' and u.
    """
    N, f = len(layers), [{k: float(v) for k, v in vars(layer).items()} for layer in layers]
    G, L_u, e_l = float(loss.size), float(loss.lipschitz), float(loss.error)
    pi = [B_x, *(a["activation"] for a in f)]
    found = []
    for error, spread in ((1.0, 0.0), (0.0, 1.0)):  # errors of the sums; |w - w'| = 1
        e_p, e_r = [0.0], []
        for j, a in enumerate(f):
            moved = (a["norm"] if spread else a["row"]) * e_p[-1] + spread * pi[j]
            e_r.append(error * a["slope_error"] + a["slope_lipschitz"] * moved)
            inner = a["norm"] * e_p[-1] + spread * pi[j]
            e_p.append(error * a["width"] ** 0.5 * a["error"] + a["lipschitz"] * inner)
        e_g = error * f[-1]["width"] ** 0.5 * e_l + L_u * e_p[N]
        S, e_s = [f[-1]["slope"] * G], [e_r[-1] * G + f[-1]["slope"] * e_g]
        for j in range(N - 2, -1, -1):
            back = f[j + 1]["norm"]
            e_s.insert(0, back * (e_r[j] * S[0] + f[j]["slope"] * e_s[0]) + spread * f[j]["slope"] * S[0])
            S.insert(0, f[j]["slope"] * back * S[0])
        found.append(0.5 * sum((e_s[j] * pi[j] + S[j] * e_p[j]) ** 2 for j in range(N)) ** 0.5)
    return found[0], found[1]


@check("deep-icgd:corollary-1.1", "deep-icgd:corollary-4.1", grade="numeric", target="corrected")
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_error_and_lipschitz_constant_of_a_step(depth: int) -> None:
    """eps and L_f of the library at random bounds of the layers, to 40 bits; and eta and l enter as they should."""
    rng = np.random.default_rng(depth)
    for _ in range(5):
        layers = [
            LayerBounds(int(rng.integers(1, 5)), *(arb(int(v)) / 8 for v in rng.integers(1, 30, 8)))
            for _ in range(depth)
        ]
        loss, B_x = LossBounds(*(arb(int(v)) / 8 for v in rng.integers(1, 30, 3))), int(rng.integers(1, 9)) / 4
        eps, L_f = by_hand(layers, loss, B_x)
        found = gradient_error(layers, loss, B_x).gradient, gradient_lipschitz(layers, loss, B_x)
        for value, expected in zip(found, (eps, L_f), strict=True):
            assert abs(float(value) / expected - 1) < 2.0**-40
        distances, d = trajectory_error([fmpq(1, 3), fmpq(1, 5)], fmpq(1, 7), fmpq(2)), fmpq(0)
        for error, distance in zip((fmpq(1, 3), fmpq(1, 5)), distances[1:], strict=True):
            d = d * (1 + fmpq(2, 7)) + error / 7
            assert abs(distance - arb(d)) < arb(2) ** -40


def column(*values: int) -> np.ndarray:
    return np.array([[fmpq(v)] for v in values], dtype=object)


@check("deep-icgd:corollary-1.1", grade="exact", target="corrected", supporting=True)
def test_lipschitz_constant_of_the_loss_is_the_wrong_one() -> None:
    """f' = -clip(10 w, -1/100, 1/100): Lip(f) = 1/100, Lip(f') = 10. eta = 1, eps = 10^-7: 1.33e-5 > 1.03e-5."""
    eps, L = fmpq(1, 10**7), fmpq(1, 100)

    def gradient(w: fmpq) -> fmpq:
        return -clip(10 * w, -L, L)

    inexact = descend(gradient, fmpq(1), 3, (-5, 5), eps)
    exact = descend(gradient, fmpq(1), 3, (-5, 5), fmpq(0))
    assert exact == [0, 0, 0, 0]
    distance = inexact[3]
    assert distance == fmpq(133, 10**7) > (1 + L) ** 3 * eps / L
    assert distance == eps * ((1 + 10) ** 3 - 1) / 10  # attained with L_f = Lip(f')


@check("deep-icgd:corollary-1.1", grade="symbolic", target="corrected", supporting=True)
@check("deep-icgd:corollary-4.1", grade="symbolic", target="corrected", supporting=True)
@proof_steps("trajectory.md: 6")
def test_growth_from_one_bound_per_step() -> None:
    """W convex and closed, the same start in W, both trajectories projected, grad L_n L_f-Lipschitz on W.

    If every step satisfies |gradbar - grad L_n| <= eps at the iterate of the transformer, step 4 of lemma 14 applies:
    |wbar+ - w+| <= |wbar - w| + eta |grad(wbar) - grad(w)| + eta eps. No smoothness of the projection is used, and no
    condition on eta.
    """
    eta, L, eps, l = sp.symbols("eta L eps l", positive=True)
    distance = eps * ((1 + eta * L) ** l - 1) / L
    assert sp.simplify(distance.subs(l, l + 1) - ((1 + eta * L) * distance + eta * eps)) == 0
    assert distance.subs(l, 0) == 0
    assert sp.simplify((1 + eta * L) ** l * eps / L - distance - eps / L) == 0  # the weaker printed shape, with eta


@check("deep-icgd:corollary-1.1", grade="sampled", target="corrected", cases=NETWORK_CASES)
@check("deep-icgd:corollary-4.1", grade="sampled", target="corrected", cases=NETWORK_CASES)
@proof_steps("trajectory.md: 7")
@pytest.mark.parametrize("steps", [6])
def test_certified_distance_from_gradient_descent(steps: int, effort: Any, record_property: Any) -> None:
    """A tanh network in a small box around its start, against projected descent through autograd, for all 6 steps.

    The certificate of the run says the same distances, and that no step is off by more than the bound in advance.
    Rounding of both trajectories is below 10^4 * 2^-53 * steps < 2e-11, added to the bound.
    """
    import torch

    widths, eta = (2, 2, 1), fmpq(1, 10)
    rng = np.random.default_rng(11)
    for pieces in effort.pick(quick=(64,), full=(16, 64, 256)):
        start = np.array([fmpq(int(k), 10) for k in rng.choice([-4, -3, 3, 4], 6)], dtype=object)
        box = (start - fmpq(1, 10), start + fmpq(1, 10))
        r, slope = approximate_activation(widths, functions.tanh, (-1, 1), 1, pieces=pieces)
        block = gradient_descent_block(widths, 3, eta, r, slope, squared_loss_derivative(), box, 1, 1)
        assert 1 <= block.mask_bound <= fmpq(17, 16)  # |tanh|, the labels and 1
        x, y = rng.uniform(-1, 1, (4, 2)), rng.uniform(-1, 1, (3, 1))
        step = certify_step(block, functions.tanh)
        bounds = step.trajectory_error(steps)
        machine = block.to_float()
        found = machine.trajectory(machine.prompt(x, y, to_float(start)), steps)
        run = certify_trajectory(block, functions.tanh, np.array(found), x[:-1], y)
        assert len(run.distances) == steps + 1
        assert max(run.step_errors) <= step.gradient_error + 1e-13  # the machine rounds by less than 1e-14, eta is 1/10
        w, low, high = to_float(start), to_float(box[0]), to_float(box[1])
        ratios = []
        for l in range(1, steps + 1):
            v = torch.tensor(w, requires_grad=True)
            p = torch.tanh(torch.tanh(torch.tensor(x[:-1]) @ v[:4].reshape(2, 2).T) @ v[4:].reshape(1, 2).T)
            loss = ((p - torch.tensor(y)) ** 2).sum() / 2 / 6
            w = np.clip(w - 0.1 * torch.autograd.grad(loss, v)[0].numpy(), low, high)
            distance = float(np.linalg.norm(found[l] - w))
            assert distance <= bounds[l] + 2e-11
            assert run.at_least[l] - 2e-11 <= distance <= run.distances[l] + 2e-11
            assert run.distances[l] <= run.at_least[l] + 2e-11
            ratios.append(bounds[l] / distance)
        assert np.linalg.norm(w - to_float(start)) > 1e-2  # the weights did move
        record_property(f"certified_over_measured_{pieces}", f"{min(ratios):.0f} to {max(ratios):.0f}")
        assert all(b < a for b, a in pairwise(bounds))
