"""The certificate of a descent step: bad input, forged sums, a Lipschitz constant against differences."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates import descent
from lemmata.certificates.descent import certify_step
from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.bounds import approximate_activation
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.functions.interpolation import interpolant, multiplication
from lemmata.numerics.functions.relu_sums import ReluSum, affine, constant, identity, ridge, squared_loss_derivative
from lemmata.numerics.functions.smooth import SmoothFunction, exponential, log_cosh, sigmoid, tanh
from lemmata.numerics.functions.smooth import identity as linear

WIDTHS = (2, 3, 1)


def block_of(pieces: int = 16, box: Any = (-1, 1), label_bound: int = 1) -> DescentBlock:
    r, slope = approximate_activation(WIDTHS, tanh, box, 1, pieces=pieces)
    u = squared_loss_derivative()
    return gradient_descent_block(WIDTHS, 3, "1/10", r, slope, u, box, 1, label_bound)


def test_exact_blocks_have_the_certificate_zero() -> None:
    u = squared_loss_derivative()
    block = gradient_descent_block(WIDTHS, 3, "1/10", identity(), constant(1), u, (-1, 1), 1, 1)
    certificate = certify_step(block, linear)
    assert (certificate.activation_error, certificate.derivative_error, certificate.loss_error) == (0, 0, 0)
    assert certificate.recursion.gradient == 0
    assert certificate.gradient_error < 1e-300


def test_forged_sums_are_refused() -> None:
    block, coarse = block_of(16), block_of(8)
    certify_step(block, tanh)
    for name in ("activation", "derivative"):
        forged = replace(getattr(coarse, name), error=getattr(block, name).error)
        with pytest.raises(ValueError, match=f"The {name} of the block claims"):
            certify_step(replace(block, **{name: forged}), tanh)
    with pytest.raises(ValueError, match="built for another function"):
        certify_step(block, sigmoid)
    with pytest.raises(ValueError, match="loss_derivative of the block claims"):
        certify_step(block, tanh, log_cosh.derivative())


def test_losses_are_functions_of_the_difference() -> None:
    block = block_of()
    with pytest.raises(ValueError, match="function of t - y"):
        certify_step(replace(block, loss_derivative=multiplication(2, 4)), tanh)
    narrow = ridge(interpolant(log_cosh.derivative(), 1, 8), (1, -1))
    with pytest.raises(ValueError, match="t - y may reach"):
        certify_step(replace(block, loss_derivative=narrow), tanh, log_cosh.derivative())


def test_weights_must_fit() -> None:
    block = block_of()
    with pytest.raises(ValueError, match="weights must have shape"):
        certify_step(block, tanh, weights=[fmpq(0)])
    with pytest.raises(ValueError, match="weights must lie in the box"):
        certify_step(block, tanh, weights=[fmpq(2)] * 9)
    with pytest.raises(ValueError, match="number of steps must be an integer >= 1"):
        certify_step(block, tanh).trajectory_error(0)


def test_certificate_at_one_point_is_sharper_than_on_the_box() -> None:
    block = block_of()
    everywhere = certify_step(block, tanh)
    here = certify_step(block, tanh, weights=[fmpq(1, 5)] * 9)
    assert 0 < here.gradient_error < everywhere.gradient_error / 4


def test_report_shows_the_chain_and_the_measured_error() -> None:
    certificate = certify_step(block_of(), tanh)
    lines = certificate.report(measured=certificate.gradient_error / 10).splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("eps_r ")
    assert lines[-1].endswith("ratio 10")
    assert certificate.report().splitlines() == lines[:-1]
    assert "ratio" not in certificate.report(measured=0.0)


def test_certificate_of_a_smooth_loss() -> None:
    r, slope = approximate_activation(WIDTHS, tanh, (-1, 1), 1, pieces=32)
    u = ridge(interpolant(log_cosh.derivative(), 4, 32), (1, -1))
    block = gradient_descent_block(WIDTHS, 3, "1/10", r, slope, u, (-1, 1), 1, 1)
    certificate = certify_step(block, tanh, log_cosh.derivative())
    assert 0 < certificate.loss_error <= u.error
    assert certificate.gradient_error > 0


def test_sums_must_cover_the_true_network() -> None:
    """The sum reaches 1 at most, but the true activation, exp, leads further than the sum is certified."""
    block = block_of(label_bound=1)
    with pytest.raises(ValueError, match=r"claims|outside the interval"):
        certify_step(block, exponential)


@pytest.mark.parametrize("seed", range(5))
def test_lipschitz_constant_bounds_difference_quotients(seed: int) -> None:
    """|grad L_n(w) - grad L_n(w')| <= L_f |w - w'| for tanh networks and the squared loss, at random pairs."""
    rng = np.random.default_rng(seed)
    L = float(certify_step(block_of(), tanh).lipschitz)
    x, y = rng.uniform(-1, 1, (3, 2)), rng.uniform(-1, 1, (3, 1))
    largest = 0.0
    for _ in range(40):
        w, v = rng.uniform(-1, 1, (2, 9))
        if rng.random() < 0.5:
            v = np.clip(w + 1e-3 * v, -1, 1)
        quotient = np.linalg.norm(gradient(w, x, y) - gradient(v, x, y)) / np.linalg.norm(w - v)
        largest = max(largest, float(quotient))
    assert 0 < largest <= L


def gradient(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    V, W = w[:6].reshape(3, 2), w[6:].reshape(1, 3)
    p = np.tanh(x @ V.T)
    q = np.tanh(p @ W.T)
    s = (1 - q**2) * (q - y)
    t = (1 - p**2) * (s @ W)
    return np.concatenate([(t.T @ x).ravel(), (s.T @ p).ravel()]) / (2 * len(x))


# ---- the whole chain, written out again with floats


QUADRATIC = SmoothFunction("t + t^2 / 2", lambda t: t + t * t / 2)
LINEAR = SmoothFunction("t", lambda t: t)


def number(x: Any) -> float:
    return float(to_float([x])[0])


def claimed(sums: ReluSum, error: str, radius: int = 64) -> ReluSum:
    return replace(sums, error=fmpq(Fraction(error).numerator, Fraction(error).denominator), radius=fmpq(radius))


CHAINS = {
    "quadratic": (QUADRATIC, claimed(interpolant(QUADRATIC, 64, 64), "1/2"), claimed(affine(1, "17/16"), "1/16")),
    "steeper": (LINEAR, claimed(affine("9/8"), "8"), claimed(constant("9/8"), "1/8")),
    "flatter": (LINEAR, claimed(affine("7/8"), "8"), claimed(constant("7/8"), "1/8")),
}


@pytest.mark.parametrize("widths", [(3, 2), (3, 2, 4), (1, 3, 2, 2), (2, 1, 3, 1)], ids=str)
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("where", ["box", "point"])
def test_certificate_is_the_chain_of_its_definition(name: str, widths: tuple[int, ...], where: str) -> None:
    """Every number of the certificate against plain loops: asymmetric boxes, d_x != d_y, K = 1, all three errors > 0.

    The sups of smooth functions are the library's (tested in test_relu_sums); a factor sqrt(K), a row for a norm, an
    order of a derivative or an end of the box that is wrong changes a number by more than rounding.
    """
    function, r, slope = CHAINS[name]
    rng = np.random.default_rng(len(widths))
    count = sum(a * b for a, b in pairwise(widths))
    ends = np.sort(rng.integers(-9, 10, (2, count)) / 16, axis=0)
    lower, upper = ([fmpq(int(16 * x), 16) for x in end] for end in ends)
    double, u = SmoothFunction("2t", lambda t: 2 * t), ridge(claimed(affine("17/8"), "9"), (1, -1))
    block = gradient_descent_block(widths, 2, "1/7", r, slope, u, (lower, upper), "3/4", "2/3")
    middle = [(a + b) / 2 for a, b in zip(lower, upper, strict=True)]
    certificate = certify_step(block, function, double, weights=middle if where == "point" else None)
    eps = [number(x) for x in (certificate.activation_error, certificate.derivative_error, certificate.loss_error)]
    sizes = [max(abs(a), abs(b)) for a, b in zip(lower, upper, strict=True)]
    expected = chain(block, function, eps, [abs(x) for x in middle] if where == "point" else sizes)
    found = certificate.recursion
    for key, values in expected.items():
        balls = [certificate.lipschitz] if key == "lipschitz" else getattr(found, key)
        balls = [balls] if key in ("loss", "gradient") else balls
        np.testing.assert_allclose([float(x) for x in balls], values, rtol=1e-12, atol=1e-300, err_msg=key)
    rounded_up = certificate.gradient_error
    assert expected["gradient"][0] * (1 - 1e-12) <= rounded_up <= expected["gradient"][0] * (1 + 1e-12)
    distances, L = [0.0], expected["lipschitz"][0]
    for _ in range(3):
        distances.append((1 + L / 7) * distances[-1] + expected["gradient"][0] / 7)
    np.testing.assert_allclose(certificate.trajectory_error(3), distances, rtol=1e-12, atol=1e-300)


def chain(block: DescentBlock, function: SmoothFunction, eps: list[float], sizes: list[fmpq]) -> dict[str, list[float]]:
    k, (eps_r, eps_s, eps_l) = block.layout.widths, eps
    N, top, rho, nu, row, start = len(k) - 1, [block.input_bound], [], [], [], 0
    points = block.activation.breakpoints()
    for j in range(1, N + 1):
        V = [sizes[start + k[j - 1] * a : start + k[j - 1] * (a + 1)] for a in range(k[j])]
        start += k[j - 1] * k[j]
        rho.append(max(sum(line, fmpq(0)) for line in V) * top[-1])
        at = [t for t in points if -rho[-1] < t < rho[-1]] + [-rho[-1], rho[-1]]
        own = block.activation(np.array(at, dtype=object)).tolist()
        top.append(max(function.bound(-rho[-1], rho[-1]), *own, *(-v for v in own)))
        squares = [sum(number(x) ** 2 for x in line) for line in V]
        nu.append(sum(squares) ** 0.5)
        row.append(max(squares) ** 0.5)
    L_r, L_s = ([number(function.bound(-t, t, order)) for t in rho] for order in (1, 2))
    slope = [L + eps_s for L in L_r]
    pi = [width**0.5 * number(t) for width, t in zip(k, top, strict=True)]
    G, L_u = k[-1] ** 0.5 * (2 * number(top[-1] + block.label_bound) + eps_l), 2.0  # u = 2 (t - y)
    e_p, moved = [0.0], [0.0]
    for j in range(N):
        e_p.append(k[j + 1] ** 0.5 * eps_r + L_r[j] * nu[j] * e_p[-1])
        moved.append(L_r[j] * (pi[j] + nu[j] * moved[-1]))
    e_slope = [eps_s + L_s[j] * row[j] * e_p[j] for j in range(N)]
    q = [L_s[j] * (pi[j] + nu[j] * moved[j]) for j in range(N)]
    e_g = k[-1] ** 0.5 * eps_l + L_u * e_p[-1]
    S, e_s, t = [slope[-1] * G], [e_slope[-1] * G + slope[-1] * e_g], [q[-1] * G + slope[-1] * L_u * moved[-1]]
    for j in range(N - 2, -1, -1):
        e_s.insert(0, nu[j + 1] * (e_slope[j] * S[0] + slope[j] * e_s[0]))
        t.insert(0, nu[j + 1] * (q[j] * S[0] + slope[j] * t[0]) + slope[j] * S[0])
        S.insert(0, slope[j] * nu[j + 1] * S[0])
    gradient = sum((e_s[j] * pi[j] + S[j] * e_p[j]) ** 2 for j in range(N)) ** 0.5 / 2
    lipschitz = sum((t[j] * pi[j] + S[j] * moved[j]) ** 2 for j in range(N)) ** 0.5 / 2
    return {
        "forward": e_p,
        "slopes": e_slope,
        "loss": [e_g],
        "sizes": S,
        "backward": e_s,
        "gradient": [gradient],
        "lipschitz": [lipschitz],
    }


def test_claims_a_tenth_too_small_are_refused() -> None:
    """The true error of every sum is at least (1 - 1/50) of the bound, so that a claim of 9/10 of it is false."""
    r = interpolant(QUADRATIC, 2, 4)  # off by h^2 / 8 exactly
    slope, u = affine("9/8", 1), ridge(replace(affine("9/8"), radius=fmpq(8)), (1, -1))  # off by |t| / 8
    honest = {
        "activation": r,
        "derivative": replace(slope, radius=fmpq(2), error=fmpq(1, 4)),
        "loss_derivative": replace(u, error=fmpq(1)),
    }
    block = gradient_descent_block((1, 1, 1), 1, 1, *honest.values(), ("-1/2", "1/2"), 1, 1)
    found = certify_step(block, QUADRATIC)
    assert [found.activation_error, found.derivative_error, found.loss_error] == [fmpq(1, 32), fmpq(1, 4), fmpq(1)]
    for name, sums in honest.items():
        forged = replace(block, **{name: replace(sums, error=sums.error * fmpq(9, 10))})
        with pytest.raises(ValueError, match=f"The {name} of the block claims"):
            certify_step(forged, QUADRATIC)


def test_sums_must_cover_the_true_network_too() -> None:
    """rbar = t / 2 (claimed to be off by 1) stays within its radius, but r = t leads to 3/2 in layer 2."""
    r, slope = claimed(affine("1/2"), "1", 1), claimed(constant(1), "0", 2)
    block = gradient_descent_block((2, 3, 1), 1, 1, r, slope, squared_loss_derivative(), ("-1/2", "1/2"), 1, 1)
    with pytest.raises(ValueError, match="argument of the activation, for the true network, may reach"):
        certify_step(block, LINEAR)


@pytest.mark.parametrize(("excess", "granted"), [(fmpq(0), True), (fmpq(1, 2**80), False)])
def test_an_error_is_granted_a_sixteenth_more_than_it_is_said_to_be(excess, granted, monkeypatch):
    """Bounds of derivatives are 1/16 too large at most: 17/16 of the error and 2^-60 are granted, and no more."""
    r, _ = approximate_activation(WIDTHS, tanh, (-1, 1), 1, pieces=16)
    limit = r.error * fmpq(17, 16) + fmpq(1, 2**60)
    monkeypatch.setattr(descent, "sup_error", lambda *_: limit + excess)
    if granted:
        assert descent._verified(r, tanh, "activation", [fmpq(1)]) == limit
    else:
        with pytest.raises(ValueError, match="it was built for another function, or with fewer knots"):
            descent._verified(r, tanh, "activation", [fmpq(1)])
