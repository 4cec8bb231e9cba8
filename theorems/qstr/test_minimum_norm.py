"""Theorem 9 and its lemmas 36 to 38: interpolation by short networks, exactly; `proofs/minimum-norm.md`."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.tokens.minimum_norm import (
    coded_chance,
    coded_norm,
    coded_samples,
    generalising_norm,
    interpolation_constant,
    interpolation_norm,
    minimum_norm_report,
    narrow_samples,
    wide_samples,
)
from lemmata.certificates.tokens.recurrent import least_squared_norm
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.tokens.interpolation import (
    coded_readout,
    interpolating_network,
    interpolating_readout,
    interpolating_recurrence,
    least_gap,
    line_interpolant,
    separating_direction,
    squared_norm,
    unit_direction,
)
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import exact_values
from lemmata.numerics.runs.confidence import proportion_interval
from lemmata.numerics.tokens.codes import extremal_codes, field_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.prompts import draw_prompts
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort

LINE = "qstr:lemma-38"
DIRECTION = "qstr:lemma-37"
SAMPLES = "qstr:lemma-36"
THEOREM = "qstr:theorem-9"
CODED = "qstr:ext-coded-interpolation"


def _generalising_product(N: int, e: Any) -> Any:
    """q, the least product of the squared norms, over the values of beta that are tried."""
    betas = [(1 - e) * k / 64 for k in range(1, 64)]
    return max(mpmath.e * beta**2 * (N - 1) * mpmath.log(1 / (beta + e)) for beta in betas)


def _relu(t: fmpq) -> fmpq:
    return t if t > 0 else fmpq(0)


def _on_a_line(x: Any) -> bool:
    """Whether points of R^1 are separated: the directions are 1 and -1."""
    n = len(x)
    gap = min((abs(x[i] - x[j]) for i in range(n) for j in range(i)), default=fmpq(1))
    return bool(arb(gap) >= arb.pi().sqrt() / (3 * n * n)) and (x**2).sum() <= 3 * n


def _points(seed: int, n: int) -> tuple[Any, Any]:
    """Different places and labels, multiples of 1/4 and 1/3, not sorted."""
    rng = np.random.default_rng([seed, n])
    places = rng.choice(np.arange(-4 * n - 8, 4 * n + 8), n, replace=False)
    return as_exact(places) / fmpq(4), as_exact(rng.integers(-9, 10, n)) / fmpq(3)


@check(LINE, grade="exact", target="printed")
@proof_steps("minimum-norm.md: 1")
@pytest.mark.parametrize("n", [1, 2, 3, 5, 9, 20])
def test_networks_interpolate_on_a_line(n: int) -> None:
    """n neurons through n points, evaluated one by one; and the slope of every piece is that of its chord."""
    for seed in range(5):
        z, y = _points(seed, n)
        network = line_interpolant(z, y)
        first, second = network.layers
        assert first.weight.shape == (1, n)
        w, b, a = first.weight[0], first.bias, second.weight[:, 0]
        for place, label in zip(z, y, strict=True):
            value = sum((a[k] * _relu(w[k] * place + b[k]) for k in range(n)), start=fmpq(0))
            assert value == label
        order = np.argsort(z)
        for i, j in pairwise(order):
            assert network(as_exact([[(z[i] + z[j]) / 2]]))[0, 0] == (y[i] + y[j]) / 2
        small = line_interpolant(z, y / fmpq(2) ** 3200)  # labels whose balance is about 2^1600
        assert (small(z[:, None])[:, 0] * fmpq(2) ** 3200 == y).all()
        zero = line_interpolant(z, 0 * y)
        assert squared_norm(zero) == 0 == zero(z[:, None]).sum()


@check(LINE, grade="exact", target="printed")
@proof_steps("minimum-norm.md: 2, 3")
@given(st.integers(0, 2**32), st.integers(1, 9), st.sampled_from([1, 4, 30]))
def test_norms_on_a_line(seed: int, n: int, spread: int) -> None:
    """The total is at most 8 sqrt 3 |y| sqrt(n + |z|^2)/eps, no rescaling is shorter, and both halves are bounded."""
    z, y = _points(seed, n)
    z = z * fmpq(spread, 4)
    network = line_interpolant(z, y)
    eps = min([fmpq(1), *np.diff(np.sort(z))])
    total = squared_norm(network)
    bound = 192 * (y**2).sum() * (n + (z**2).sum()) / eps**2
    assert total**2 <= bound
    if not (y != 0).any():
        return
    w, b, a = network.layers[0].weight[0], network.layers[0].bias, network.layers[1].weight[:, 0]
    scale = w[0]
    assert ((w == scale) & (scale > 0)).all()
    assert (a**2).sum() * scale**2 <= 16 * (y**2).sum() / eps**2
    assert (b**2).sum() / scale**2 <= 2 + 3 * (z**2).sum()
    outer, inner = (a**2).sum(), (w**2).sum() + (b**2).sum()
    assert total == outer + inner == squared_norm(network.layers[0]) + squared_norm(network.layers[1])
    assert abs(outer - inner) <= total / 10**6  # balanced
    assert total**2 <= 4 * outer * inner * (1 + fmpq(1, 10**6))


@check(LINE, grade="exact", target="printed", supporting=True)
def test_the_constant_is_not_far_off() -> None:
    """Labels that alternate on a fine grid: more than half of 8 sqrt 3 in the limit of many points about 0."""
    n = 40
    z = as_exact(np.arange(n)) / fmpq(100) - fmpq(n, 200)
    y = as_exact([(-1) ** i for i in range(n)])
    total = squared_norm(line_interpolant(z, y))
    assert total**2 > 192 * n * (n + (z**2).sum()) * 100**2 / fmpq(16)


# ---- directions


@check(DIRECTION, grade="numeric", target="printed")
@proof_steps("minimum-norm.md: 4")
@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 1000])
def test_probabilities_of_the_events(n: int) -> None:
    """The union over pairs of P(|N(0, 2)| <= gap) = erf(gap/2) is at most 1/6, P(chi^2_n > 3 n) at most 1/3."""
    gap = least_gap(n)
    assert abs(float(gap) - math.sqrt(math.pi) / (3 * n * n)) < 1e-12
    union = fmpq(n * (n - 1), 2) * (gap / 2).erf()
    assert union <= arb(1) / 6
    assert (gap / 2).erf() <= gap / arb.pi().sqrt()
    if n >= 10:
        assert union > arb("0.149")  # nothing was given away
    assert arb(fmpq(3 * n, 2)).gamma_upper(fmpq(n, 2), 1) < arb(1) / 3
    assert arb(1) - arb(1) / 6 - arb(1) / 3 > arb(1) / 3


@check(DIRECTION, grade="sampled", target="printed", supporting=True)
@proof_steps("minimum-norm.md: 4")
@pytest.mark.parametrize(("n", "d"), [(5, 3), (15, 2), (30, 6), (12, 1)])
def test_random_directions_separate(n: int, d: int, effort: Effort) -> None:
    """Rational unit vectors; how often one random direction does it for Gaussian points, at 99.9 %."""
    rng, draws, good = np.random.default_rng([n, d]), effort.pick(quick=120, full=1000), 0
    for _ in range(draws):
        X = as_exact(np.rint(rng.standard_normal((n, d)) * 1024).astype(np.int64)) / fmpq(1024)
        v = unit_direction(d, rng)
        assert (v**2).sum() == 1
        places = to_float(X @ v)
        gaps = np.diff(np.sort(places))
        good += bool(gaps.min() >= math.sqrt(math.pi) / (3 * n * n) and (places**2).sum() <= 3 * n)
    assert proportion_interval(good, draws, 0.999).low > 1 / 2


@check(DIRECTION, grade="exact", target="printed", cases="n = 1, ..., 40 points, seeds 0 to 4")
@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 1), (6, 3), (40, 4)])
def test_directions_that_are_found_separate(n: int, d: int) -> None:
    """Their gap and squares, computed anew in pairs."""
    for seed in range(5):
        rng = np.random.default_rng([seed, n, d])
        X = exact_values("x", rng.standard_normal((n, d)))
        if d == 1 and not _on_a_line(X[:, 0]):
            with pytest.raises(ValueError, match="None of 100 directions"):
                separating_direction(X, rng)
            continue
        drawn = unit_direction(d, np.random.default_rng(seed))
        point = exact_values("point", np.random.default_rng(seed).standard_normal(d))
        assert (drawn * point).sum() ** 2 > (point**2).sum() * fmpq(2**38 - 1, 2**38)  # an angle of about 2^-19
        found = separating_direction(X, rng)
        assert (found.vector**2).sum() == 1
        places = [sum((v * x for v, x in zip(found.vector, row, strict=True)), start=fmpq(0)) for row in X]
        assert places == found.places.tolist()
        pairs = [abs(places[i] - places[j]) for i in range(n) for j in range(i)]
        assert found.gap == min(pairs, default=fmpq(1))
        assert arb(found.gap) >= arb.pi().sqrt() / (3 * n * n)
        assert found.square == sum((x * x for x in places), start=fmpq(0)) <= 3 * n
        least = fmpq(round(10**9 * math.sqrt(math.pi) / (3 * n * n)), 10**9)
        assert not replace(found, gap=least * fmpq(99, 100)).separates
        assert replace(found, gap=least * fmpq(101, 100)).separates
        factor = fmpq(round(10**6 * math.sqrt(3 * n / float(to_float([found.square])[0]))), 10**6)
        for share, held in ((fmpq(199, 200), True), (fmpq(201, 200), False)):  # squares 1 % below and above 3 n
            other = replace(found, places=found.places * factor * share)
            assert abs(other.square / (3 * n * share**2) - 1) < fmpq(1, 1000)
            assert other.separates == held


# ---- samples


@check(SAMPLES, grade="exact", target="printed", cases="n = 1, ..., 30 samples, d = 1, 2, 5, 3 seeds")
@proof_steps("minimum-norm.md: 5")
@pytest.mark.parametrize(("n", "d"), [(1, 2), (4, 1), (10, 5), (30, 2)])
def test_gaussian_samples_are_interpolated(n: int, d: int) -> None:
    """Labels of another token of each prompt; squared norm below 144 sqrt(2/pi) n^3; more neurons than samples."""
    met = 0
    for seed in range(3):
        rng = np.random.default_rng([seed, n, d, 1])
        prompts = as_exact(np.rint(rng.standard_normal((n, 3, d)) * 2**16).astype(np.int64)) / fmpq(2**16)
        u = as_exact([1] + [0] * (d - 1))
        X, y = prompts[:, 0], prompts[np.arange(n), rng.integers(0, 3, n)] @ u
        if d == 1 and not _on_a_line(X[:, 0]):
            continue
        met += 1
        found = separating_direction(X, rng)
        network = interpolating_network(X, y, found.vector, n + 3)
        first, second = network.layers
        assert first.weight.shape == (d, n + 3)
        for row, label in zip(X, y, strict=True):
            hidden = [_relu(row @ first.weight[:, k] + first.bias[k]) for k in range(n + 3)]
            assert sum((a * h for a, h in zip(second.weight[:, 0], hidden, strict=True)), start=fmpq(0)) == label
        outer, inner = squared_norm(second), squared_norm(first)
        assert outer + inner == squared_norm(network)
        assert abs(outer - inner) <= outer / 10**6  # balanced
        if (y**2).sum() <= 6 * n:
            assert squared_norm(network) <= interpolation_norm(n, 2)
            assert squared_norm(network) ** 2 <= 192 * (y**2).sum() * (n + found.square) / found.gap**2
        line = line_interpolant(found.places, y)
        assert abs(squared_norm(network) - squared_norm(line)) <= squared_norm(line) / 10**6  # |W| = |w|
    assert met >= 2


@check(SAMPLES, THEOREM, grade="numeric", target="printed")
@proof_steps("minimum-norm.md: 5, 6")
def test_the_constant_of_interpolation() -> None:
    """8 sqrt 3 sqrt 6 sqrt 4 (3/sqrt pi) from the lemmas, below 115; and for deeper read-outs."""
    expected = 8 * mpmath.sqrt(3) * mpmath.sqrt(6) * mpmath.sqrt(4) * 3 / mpmath.sqrt(mpmath.pi)
    assert abs(float(interpolation_constant()) - float(expected)) < 1e-10
    assert arb("114.8") < interpolation_constant() < 115
    for n in (1, 2, 7, 100):
        assert abs(float(interpolation_norm(n, 2)) / float(expected * n**3) - 1) < 1e-12
        for L in (3, 4, 9):
            deep = mpmath.sqrt(2) * expected * n**3 + 2 * (L - 2)
            assert abs(float(interpolation_norm(n, L)) / float(deep) - 1) < 1e-12


@check(THEOREM, grade="exact", target="printed")
@proof_steps("minimum-norm.md: 6")
@pytest.mark.parametrize("L", [2, 3, 5])
def test_recurrent_networks_interpolate(L: int) -> None:
    """Whole prompts through the recurrent layer: the sampled position has its label, with U = 0 and d_h = n."""
    n, N, d, encoding = 4, 3, 2, 3
    rng = np.random.default_rng(L)
    prompts = as_exact(np.rint(rng.standard_normal((n, N, d + encoding)) * 64).astype(np.int64)) / fmpq(64)
    position, t = rng.integers(0, N, n), rng.integers(0, N, n)
    X = prompts[np.arange(n), position, :d]
    y = prompts[np.arange(n), t, :d] @ as_exact(["3/5", "4/5"])
    found = separating_direction(X, rng)
    readout = interpolating_readout(X, y, found.vector, L, n)
    network = interpolating_recurrence(readout, n, encoding)
    outputs = network(prompts)[..., 0]
    assert (outputs[np.arange(n), position] == y).all()
    assert (outputs != outputs[:, :1]).any()
    assert len(readout.layers) == L
    assert [layer.bias.size for layer in readout.layers] == [n] + [0] * (L - 1)
    assert squared_norm(network) == squared_norm(readout)
    assert squared_norm(readout) <= interpolation_norm(n, L)
    line = squared_norm(interpolating_readout(X, y, found.vector, 2))
    deep = squared_norm(readout) - (0 if L == 2 else 2 * (L - 2))
    factor = 1 if L == 2 else 2
    assert abs(deep**2 - factor * line**2) <= deep**2 / 10**5  # sqrt 2 for the second copy of the read-out
    assert network.readout is not None
    first = network.readout.layers[0]  # type: ignore[union-attr]
    assert not (first.weight[: 2 * n] != 0).any()  # U
    for cell in (network.forward, network.backward):
        assert cell is not None
        assert isinstance(cell.transition, Affine)
        assert not (cell.transition.weight != 0).any()


@check(THEOREM, "qstr:remark-width-search", grade="numeric", target="printed")
@proof_steps("minimum-norm.md: 8, 9, 10", "remarks.md: 6")
@pytest.mark.parametrize(("N", "L"), [(10**6, 2), (10**12, 2), (10**12, 3), (10**30, 3), (10**30, 5)])
def test_thresholds_are_where_the_norms_cross(N: int, L: int) -> None:
    """By bisection and by mpmath: n interpolates below L q^(1/L), n + 1 does not."""
    for risk in ("1/100", "1/10"):
        e = mpmath.sqrt(mpmath.mpf(1) / int(risk.partition("/")[2]) * N / (N - 1))
        best = _generalising_product(N, e)
        assert abs(float(generalising_norm(N, L, risk)) / float(L * best ** (mpmath.mpf(1) / L)) - 1) < 1e-12
        n = wide_samples(N, L, risk)
        factor = 144 * mpmath.sqrt(2 / mpmath.pi) * (1 if L == 2 else mpmath.sqrt(2))
        more = 0 if L == 2 else 2 * (L - 2)
        assert n >= 1
        assert factor * n**3 + more < L * best ** (mpmath.mpf(1) / L) <= factor * (n + 1) ** 3 + more
    e = mpmath.sqrt(mpmath.mpf(1) / 100 * N / (N - 1))
    narrow = narrow_samples(N, L, "1/100", "1/2")
    for exponent in (2, 10):  # c = 1/10 shows the factor L^(-L/2) of the scale
        scale = mpmath.root(N, exponent) - mpmath.mpf(L) / 2 * mpmath.log(L)  # the logarithm of L ||U||_op
        widths = [
            (N - 1) * mpmath.log(1 / (beta + e)) / (mpmath.log(2 / beta**2 + mpmath.exp(-2 * scale)) + 2 * scale)
            for beta in [(1 - e) * k / 64 for k in range(1, 64)]
        ]
        found = narrow_samples(N, L, "1/100", fmpq(1, exponent))
        assert abs(found / float(max(widths)) - 1) < 1e-12 + 1 / found
    report = minimum_norm_report(N, L, "1/100", "1/2")
    assert report.samples == min(report.wide, report.narrow or 0) == min(wide_samples(N, L, "1/100"), narrow)


@check(THEOREM, "qstr:remark-width-search", grade="enclosed", target="printed")
@proof_steps("minimum-norm.md: 10", "remarks.md: 6")
@pytest.mark.parametrize("L", [2, 3, 4])
def test_thresholds_grow_like_a_power(L: int) -> None:
    """Of N: n^(3 L)/N tends to a constant, and for the narrow case n/N^(1 - c) does; q >= 3 (N - 1)/10."""
    found = [wide_samples(2 ** (3 * L * k), L, "1/100") for k in (10, 12, 14)]
    assert all(abs(later / earlier - 4) < 0.02 for earlier, later in pairwise(found))
    for k in (10, 14):
        assert least_squared_norm(2 ** (3 * L * k), "1/100") > 3 * arb(2 ** (3 * L * k) - 1) / 10
    narrow = [narrow_samples(2 ** (4 * k), L, "1/100", "1/4") for k in (8, 10, 12)]
    assert all(abs(later / earlier / 64 - 1) < 0.05 for earlier, later in pairwise(narrow))


# ---- with codes of positions


@check(CODED, grade="exact", target="printed", cases="n = 1, 4, 12 of N = 16 field codes and 7 extremal codes, d = 2")
@proof_steps("minimum-norm.md: 11, 12")
@pytest.mark.parametrize(("L", "n"), [(2, 1), (2, 12), (3, 4), (5, 12)])
def test_codes_interpolate_with_a_norm_of_the_order_of_the_samples(L: int, n: int) -> None:
    """Whole prompts, encoded, through the recurrent network: y_i where the index is t_i, 0 elsewhere; the norm."""
    for codes in (field_codes(16), extremal_codes(7)):
        rng = np.random.default_rng([L, n])
        prompts = draw_prompts(3, codes.count, 2, 1, law="rational", seed=n)
        t = rng.permutation(np.unique(prompts.indices))[:n]
        y = as_exact(rng.integers(1, 9, len(t)) * rng.choice([-1, 1], len(t))) / fmpq(4)
        readout = coded_readout(codes, t, y, L, 2)
        assert len(readout.layers) == L
        outputs = interpolating_recurrence(readout, len(t))(encode(prompts, codes, "recurrent"))[..., 0]
        asked = prompts.indices[..., 0]
        answers = dict(zip(t.tolist(), y.tolist(), strict=True))
        assert outputs.tolist() == [[answers.get(k, fmpq(0)) for k in row] for row in asked.tolist()]
        assert any(k in answers for k in asked.ravel().tolist())
        total = sum(abs(label) for label in y)
        claimed = L * (5 * 2 ** (L - 2) * arb(total) ** 2).root(L)
        assert abs(arb(squared_norm(readout)) / claimed - 1) < arb(2) ** -16  # roots are rounded to 30 bits
        squares = [squared_norm(layer) for layer in readout.layers]
        assert max(squares) < min(squares) * (1 + fmpq(1, 10**6))  # balanced


@check(CODED, grade="sampled", target="printed", cases="n = 5, 22, 84; labels and indices of 400 samples, seed n")
@proof_steps("minimum-norm.md: 13")
@pytest.mark.parametrize(("N", "n"), [(1000, 5), (10**4, 22), (10**5, 84)])
def test_chances_of_different_indices_and_small_labels(N: int, n: int) -> None:
    """How often both hold, at 99.9 %; mean and deviation of |y| by quadrature; the norm with S_n from them."""
    mean = 2 * mpmath.quad(lambda y: y * mpmath.npdf(y), [0, 3, 12])
    square = 2 * mpmath.quad(lambda y: y * y * mpmath.npdf(y), [0, 3, 12])
    most = n * mean + 3 * mpmath.sqrt(n * (square - mean**2))
    assert abs(float(coded_norm(n, 2)) / float(2 * mpmath.sqrt(5) * most) - 1) < 1e-9
    assert abs(float(coded_norm(n, 4)) / float(4 * (20 * most**2) ** 0.25) - 1) < 1e-9
    rng = np.random.default_rng(n)
    sums = np.abs(rng.standard_normal((400, n))).sum(axis=1) <= float(most)
    different = [len(set(row)) == n for row in rng.integers(0, N, (400, n)).tolist()]
    good = int((sums & np.array(different)).sum())
    agree = 1 - float(mpmath.fprod(1 - mpmath.mpf(k) / N for k in range(n)))
    assert float(coded_chance(N, n)) <= 0.9 - agree + 1e-12
    assert abs(float(coded_chance(N, n)) - (0.9 - n * (n - 1) / (2 * N))) < 1e-12
    assert proportion_interval(good, 400, 0.999).high > float(coded_chance(N, n))
    assert proportion_interval(good, 400, 0.999).low > 0.8


@check(CODED, grade="numeric", target="printed")
@proof_steps("minimum-norm.md: 14")
@pytest.mark.parametrize("L", [2, 3, 5])
def test_thresholds_with_codes(L: int) -> None:
    """By mpmath: n samples are below L q^(1/L), n + 1 are not; the printed numbers; sqrt(N) at every depth."""
    counts = []
    for N in (10**4, 10**5, 10**6, 10**8, 10**10):
        e = mpmath.sqrt(mpmath.mpf(1) / 100 * N / (N - 1))
        q = _generalising_product(N, e)
        n = coded_samples(N, L, "1/100")
        counts.append(n)
        for size, below in ((n, True), (n + 1, False)):
            if size:
                most = size * mpmath.sqrt(2 / mpmath.pi) + 3 * mpmath.sqrt(size * (1 - 2 / mpmath.pi))
                assert (5 * mpmath.mpf(2) ** (L - 2) * most**2 < q) == below
        assert not n or float(coded_norm(n, L)) < float(generalising_norm(N, L, "1/100"))
    if L == 2:
        assert counts[:3] == [22, 84, 294]
        assert float(coded_chance(10**5, 84)) > 0.86
    assert 9 < counts[4] / counts[3] < 11
    assert minimum_norm_report(10**5, L).coded == counts[1]
