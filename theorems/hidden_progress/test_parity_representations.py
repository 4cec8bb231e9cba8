"""Appendix B.4.1: which architectures represent the parity chi_S of k out of n signs, and with which weights.

The oracle is the product of the signs, over all 2^n inputs for small n. A network that reads s = sum_{i in S} x_i alone
is also checked at larger k, on one input for each of the k + 1 values of s. All comparisons are in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
from flint import fmpq, fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.activations import OscillatingPolynomial, Power, Sinusoid, TriangleWave, Zigzag
from lemmata.constructions.parity.polynet import PolyNet, polynet
from lemmata.constructions.parity.two_layer import TwoLayerNetwork, neuron, power_network, relu_network
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

Network = TwoLayerNetwork | PolyNet
Builder = Callable[[int, tuple[int, ...]], Network]

BUILDERS: dict[str, Builder] = {
    "relu": lambda n, S: relu_network(n, S, exact=True),
    "relu without output bias": lambda n, S: relu_network(n, S, output_bias=False, exact=True),
    "power": lambda n, S: power_network(n, S, exact=True),
    "zigzag": lambda n, S: neuron(n, S, Zigzag(len(S)), exact=True),
    "polynomial": lambda n, S: neuron(n, S, OscillatingPolynomial(len(S)), exact=True),
    "wave": lambda n, S: neuron(n, S, TriangleWave(period=4, crest=len(S)), exact=True),
    "sinusoid": lambda n, S: neuron(n, S, Sinusoid(len(S)), exact=True),
    "polynet": lambda n, S: polynet(n, S, exact=True),
}
READS_THE_SUM = [name for name in BUILDERS if name != "polynet"]


def _parity(x: np.ndarray, S: tuple[int, ...]) -> np.ndarray:
    return np.prod(x[:, list(S)], axis=1)


def _represents(network: Network, S: tuple[int, ...], n: int) -> bool:
    """Whether the network equals chi_S on all 2^n inputs."""
    x = sign_inputs(n)
    return bool(np.all(network(x) == _parity(x, S)))


def _one_input_for_each_sum(k: int) -> np.ndarray:
    """The inputs with m = 0..k leading +1s, shape (k + 1, k)."""
    return np.where(np.arange(k) < np.arange(k + 1)[:, None], 1, -1)


def _check_all_supports(name: str, largest: int = 5) -> None:
    """The network equals chi_S and no other parity, for all S in n <= largest inputs, on all 2^n inputs."""
    for n in range(1, largest + 1):
        supports = [S for k in range(1, n + 1) for S in combinations(range(n), k)]
        x = sign_inputs(n)
        parities = {T: _parity(x, T) for T in supports}
        for S in supports:
            outputs = BUILDERS[name](n, S)(x)
            assert [T for T, chi in parities.items() if np.all(outputs == chi)] == [S]


def _check_all_sums(name: str, largest: int = 24) -> None:
    """For 1 <= k <= largest the network takes the value (-1)^(k-m) at every m."""
    for k in range(1, largest + 1):
        x = _one_input_for_each_sum(k)
        network = BUILDERS[name](k, tuple(range(k)))
        assert isinstance(network, TwoLayerNetwork)
        assert len({tuple(row) for row in network.hidden.tolist()}) == 1  # it reads a multiple of the sum alone
        assert len(set(network.hidden[0])) == 1
        assert network(x).tolist() == [(-1) ** (k - m) for m in range(k + 1)]


# --- two-layer networks --------------------------------------------------------------------------------------------


@check(
    "hidden-progress:construction-MLP-width-k",
    grade="exact",
    target="corrected",
    cases="all S for n <= 5 on all inputs, all sums for k <= 16",
)
@pytest.mark.parametrize(("name", "extra"), [("relu", 0), ("power", 0), ("relu without output bias", 1)])
def test_two_layer_networks_represent_every_parity(name: str, extra: int) -> None:
    """Width k for ReLU with an output bias and for z^k without one; width k + 1 for ReLU without one."""
    _check_all_supports(name)
    _check_all_sums(name, largest=16)
    for k in range(1, 17):
        network = BUILDERS[name](k + 1, tuple(range(k)))
        assert isinstance(network, TwoLayerNetwork)
        assert network.width == k + extra
        assert network.output_bias == ((-1) ** k if name == "relu" else 0)
        assert network.activation == Power(k) or name != "power"


@check("hidden-progress:construction-MLP-width-k", grade="symbolic", target="corrected", supporting=True)
def test_slope_changes_of_an_alternating_sequence() -> None:
    """For every k: y_m = (-1)^(k-m) has second difference -4 y_m, the slope change that the ramp at m = j >= 1 gets.

    As y_{m+1} = -y_m, the polynomial in y on both sides is the same; k enters only through the sign y_0 = (-1)^k.
    """
    y = fmpq_poly([0, 1])
    before, after = -y, -y
    assert after - 2 * y + before == -4 * y
    for k in range(1, 41):
        for j in range(1, k):
            weight = int(relu_network(k, k, exact=True).readout[j].p)
            assert weight == -4 * (-1) ** (k - j)


@counterexample("hidden-progress:construction-MLP-width-k", grade="exact")
def test_width_one_has_a_constant_sign() -> None:
    """k = 1, no output bias: u max(w x + b, 0) never changes sign, and the parity x does. For all u, w, b.

    The sign of the output is 0 or that of u, so one of the conditions f(1) > 0 > f(-1) fails.
    """
    possible = {
        (u * active_plus, u * active_minus) for u in (-1, 1) for active_plus in (0, 1) for active_minus in (0, 1)
    }
    assert (1, -1) not in possible
    assert (1, 1) in possible
    assert _represents(relu_network(1, 1, output_bias=False, exact=True), (0,), 1)  # width 2


@counterexample("hidden-progress:construction-MLP-width-k", grade="exact")
def test_two_relus_without_output_bias_cannot_even_have_the_signs_of_x1_x2(record: Record, width: int = 2) -> None:
    """k = 2, width 2: no W, b, u give f(x) x1 x2 > 0 on all four inputs (further inputs, held fixed, are biases).

    With |u_i| moved into W and b, f = sum_i s_i max(z_i, 0) with s_i = +-1 and z_i affine. Let A_i be the inputs where
    z_i > 0. For all 2^2 signs and 16^2 pairs of sets there is a contradiction:
    - an input where the wrong sign or 0 comes out whatever the z_i are (all active neurons have the wrong sign); or
    - the multipliers 1 on the four requirements chi(x) f(x) > 0, whose sum is sum_x chi(x) f(x) = sum_x sum_i
      chi(x) s_i 1[x in A_i] z_i(x). An affine function has sum_x chi(x) z(x) = 0, so this is
      -sum_i sum_{x not in A_i} chi(x) s_i z_i(x), in which z_i <= 0 and, as checked, chi(x) s_i = -1: it is <= 0.
    """
    x = sign_inputs(2)
    chi = np.prod(x, axis=1)
    assert np.all(chi @ np.column_stack([x, np.ones(4, dtype=int)]) == 0)  # x1, x2 and 1 span the affine functions
    subsets = [np.array(bits, dtype=bool) for bits in product((0, 1), repeat=4)]
    by_multipliers = patterns = 0
    for signs in product((1, -1), repeat=width):
        for active in product(subsets, repeat=width):
            right = [s * chi > 0 for s in signs]
            impossible = any(not any(a[i] and r[i] for a, r in zip(active, right, strict=True)) for i in range(4))
            # sum_x chi f <= 0: outside A_i, chi(x) s_i z_i(x) must be >= 0, which is so if chi(x) s_i = -1
            refuted = all(not np.any(~a & r) for a, r in zip(active, right, strict=True))
            assert impossible or refuted
            patterns += not (impossible or refuted)
            by_multipliers += refuted and not impossible
    k = 2
    record.hypothesis("r >= k", width, ">=", k)
    record.hypothesis("|S| = k <= n", k, "<=", x.shape[1])
    record.violated("some signs and patterns of activation are possible: their number", patterns, ">", 0)
    assert by_multipliers == 32  # s = (+, -) or (-, +); each A_i contains its two inputs and any of the other two
    # A third neuron, or the output bias, lifts the obstruction.
    assert _represents(relu_network(2, 2, output_bias=False, exact=True), (0, 1), 2)
    assert _represents(relu_network(2, 2, exact=True), (0, 1), 2)


@counterexample("hidden-progress:construction-MLP-width-k", grade="exact")
def test_three_relus_without_output_bias_cannot_even_have_the_signs_of_x1_x2_x3() -> None:
    """k = 3, width 3: no W, b, u give f(x) x1 x2 x3 > 0 on all eight inputs.

    With |u_i| moved into W and b, f = sum_i s_i max(z_i, 0), s_i = +-1. Three equal signs give a constant sign, and
    x -> -x turns chi into -chi, so let f = max(z_1, 0) + max(z_2, 0) - max(z_3, 0). On a face, where x_c is fixed, let
    D_ab(g) = g(++) + g(--) - g(+-) - g(-+), which is 0 for affine g.
    1. z_3 > 0 at the four inputs with chi = -1. If z_3 <= 0 at two others p and q, then p + q = a + b for two of the
       four, and z_3(p) + z_3(q) = z_3(a) + z_3(b) > 0 is a contradiction. So max(z_3, 0) = z_3 + r 1[x = p] with
       r >= 0 and chi(p) = 1.
    2. Hence D_ab(f + r 1[x = p]) = D_ab(max(z_1, 0)) + D_ab(max(z_2, 0)). The left side has the sign of x_c, as each of
       its terms has.
    3. max(t + h, 0) + max(t - h, 0) = t + max(|t|, |h|) grows with |h|, so that D_ab(max(w.x + b, 0)) has the sign of
       |w_a + w_b| - |w_a - w_b|, which is that of w_a w_b, or is 0: on both faces x_c = +-1 alike.
    4. So for each of the three pairs a, b one of the two neurons has w_a w_b > 0 and the other w_a w_b < 0. The product
       of the three w_a w_b is a square for both neurons, but negative for one of them.
    """
    x = sign_inputs(3)
    chi = np.prod(x, axis=1)
    plus, minus = x[chi == 1], x[chi == -1]
    # 1.
    sums = {tuple(a + b) for a, b in combinations(minus, 2)}
    assert all(tuple(p + q) in sums for p, q in combinations(plus, 2))
    # 2. the coefficient of f(x) in D_ab has the sign x_c chi(x), so that right signs of f give D_ab the sign x_c
    for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        coefficient = x[:, a] * x[:, b]
        assert np.array_equal(coefficient, x[:, c] * chi)
        assert all(np.sum(coefficient[x[:, c] == side]) == 0 for side in (1, -1))
    # 3. both sides are linear on the eight cones between the rays where t = 0, h = 0 or t = +-h
    for t, h in product((-1, 0, 1), repeat=2):
        assert max(t + h, 0) + max(t - h, 0) == t + max(abs(t), abs(h))
    # 4.
    pairs = ((0, 1), (0, 2), (1, 2))
    signs = list(product((-1, 0, 1), repeat=3))
    opposite = [all({v[a] * v[b], w[a] * w[b]} == {1, -1} for a, b in pairs) for v, w in product(signs, repeat=2)]
    assert len(opposite) == 27**2
    assert not any(opposite)
    # A fourth neuron, or the output bias, lifts the obstruction.
    assert _represents(relu_network(3, 3, output_bias=False, exact=True), (0, 1, 2), 3)
    assert _represents(relu_network(3, 3, exact=True), (0, 1, 2), 3)


@check("hidden-progress:construction-MLP-width-k", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize("name", ["relu", "power", "relu without output bias"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_planted_faults_are_rejected(name: str, k: int) -> None:
    """A missing neuron, one flipped readout sign, one shifted bias, a wrong output bias, a wrong S."""
    n, S = 5, tuple(range(k))
    network = BUILDERS[name](n, S)
    assert isinstance(network, TwoLayerNetwork)
    assert _represents(network, S, n)
    for i in range(network.width):
        kept = np.arange(network.width) != i
        shift = np.array([fmpq(int(j == i), 4) for j in range(network.width)], dtype=object)
        flip = np.where(kept, 1, -1)
        for faulty in (
            replace(network, hidden=network.hidden[kept], bias=network.bias[kept], readout=network.readout[kept]),
            replace(network, readout=network.readout * flip),
            replace(network, bias=network.bias + shift),
        ):
            assert not _represents(faulty, S, n)
    assert not _represents(replace(network, output_bias=network.output_bias + fmpq(1, 100)), S, n)
    assert not _represents(network, tuple(range(1, k + 1)), n)


# --- single neurons ------------------------------------------------------------------------------------------------


@check(
    "hidden-progress:construction-zigzag",
    grade="exact",
    target="printed",
    cases="all S for n <= 5 on all inputs, all sums for k <= 24",
)
@proof_steps("neurons.md: 1")
def test_a_zigzag_neuron_represents_every_parity() -> None:
    _check_all_supports("zigzag")
    _check_all_sums("zigzag")


@check("hidden-progress:construction-zigzag", grade="exact", target="printed", supporting=True)
@proof_steps("neurons.md: 2")
@pytest.mark.parametrize("k", range(1, 13))
def test_the_zigzag_has_k_linear_pieces(k: int) -> None:
    """Its outer pieces extended, it is linear between consecutive points and its slope changes at k - 1 places."""
    z = np.array([fmpq(i, 2) for i in range(-2 * k - 8, 2 * k + 9)], dtype=object)
    values = Zigzag(k)(z)
    second = values[2:] - 2 * values[1:-1] + values[:-2]
    kinks = [position for position, change in zip(z[1:-1], second, strict=True) if change != 0]
    assert kinks == [2 * m - k for m in range(1, k)]
    assert Zigzag(k)(np.array([fmpq(k)], dtype=object))[0] == 1


@check(
    "hidden-progress:construction-oscillating-polynomial",
    grade="exact",
    target="printed",
    cases="all S for n <= 5 on all inputs, all sums for k <= 24",
)
@proof_steps("neurons.md: 3")
def test_an_oscillating_polynomial_represents_every_parity() -> None:
    """With degree k exactly (not less), for k <= 24."""
    _check_all_supports("polynomial")
    _check_all_sums("polynomial")
    for k in range(1, 25):
        coefficients = OscillatingPolynomial(k).coefficients
        assert len(coefficients) == k + 1
        assert coefficients[k] != 0
        assert all(c == 0 for c in coefficients[k - 1 :: -2])  # even or odd like k


@check("hidden-progress:construction-oscillating-polynomial", grade="exact", target="printed", supporting=True)
def test_the_first_polynomials() -> None:
    """x1 x2 = (s^2 - 2)/2, and (s^3 - 7s)/6 and s^4/24 - 2s^2/3 + 1 for three and four signs."""
    assert OscillatingPolynomial(2).coefficients == (-1, 0, fmpq(1, 2))
    assert OscillatingPolynomial(3).coefficients == (0, fmpq(-7, 6), 0, fmpq(1, 6))
    assert OscillatingPolynomial(4).coefficients == (1, 0, fmpq(-2, 3), 0, fmpq(1, 24))


@counterexample("hidden-progress:construction-infinite-zigzag", grade="exact")
@proof_steps("neurons.md: 4")
@pytest.mark.parametrize("k", range(1, 9))
def test_the_printed_triangle_wave_is_constant_on_the_sums(k: int, record: Record) -> None:
    """The points (2i, 1), (2i+1, -1) have period 2, as have the sums: sigma(w_S . x) = (-1)^k for every x."""
    printed = TriangleWave(period=2, crest=0)
    points = np.array([fmpq(i) for i in range(-6, 7)], dtype=object)
    assert printed(points).tolist() == [1, -1] * 6 + [1]
    x = sign_inputs(k)
    outputs = neuron(k, k, printed, exact=True)(x)
    assert set(outputs.tolist()) == {(-1) ** k}
    labels = _parity(x, tuple(range(k)))
    assert set(labels) == {1, -1}
    if k == 3:
        record.no_hypotheses("a single neuron with the weights w_S, for every degree k; here k = 3")
        record.violated(
            "sigma(w_S.x) = chi_S(x) at every x: the right inputs", int(np.sum(outputs == labels)), "=", 2**k
        )


@check(
    "hidden-progress:construction-infinite-zigzag",
    grade="exact",
    target="corrected",
    cases="all S for n <= 5 on all inputs, all sums for k <= 24",
)
@proof_steps("neurons.md: 4")
def test_the_triangle_wave_of_period_four_represents_every_parity() -> None:
    """Through (k - 4i, 1) and (k - 2 - 4i, -1): at all S for n <= 5, at all sums for k <= 24."""
    _check_all_supports("wave")
    _check_all_sums("wave")
    for k in range(1, 9):
        i = np.array([fmpq(i) for i in range(-9, 10)], dtype=object)
        wave = TriangleWave(period=4, crest=k)
        assert set(wave(k - 4 * i)) == {1}
        assert set(wave(k - 2 - 4 * i)) == {-1}
        for share in (fmpq(1, 7), fmpq(1, 2), fmpq(9, 10)):  # linear between
            assert set(wave(k - 4 * i - 2 * share)) == set(wave(k - 4 * i + 2 * share)) == {1 - 2 * share}


@check("hidden-progress:construction-infinite-zigzag", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize("k", range(1, 13))
def test_the_printed_wave_works_with_halved_weights_and_a_bias(k: int) -> None:
    """The other repair: w = w_S / 2 and b = -k/2 with period 2."""
    network = neuron(k, k, TriangleWave(period=2, crest=0), exact=True)
    x = _one_input_for_each_sum(k)
    halved = replace(network, hidden=network.hidden / 2, bias=np.array([fmpq(-k, 2)], dtype=object))
    assert halved(x).tolist() == [(-1) ** (k - m) for m in range(k + 1)]


@check(
    "hidden-progress:construction-sinusoid",
    grade="exact",
    target="printed",
    cases="all S for n <= 5 on all inputs, all sums for k <= 24",
)
@proof_steps("neurons.md: 5")
def test_a_sinusoidal_neuron_represents_every_parity() -> None:
    """sin(pi s/2 + beta) with beta = pi (1 - k)/2: exact values at multiples of a quarter turn."""
    _check_all_supports("sinusoid")
    _check_all_sums("sinusoid")


@check("hidden-progress:construction-sinusoid", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("k", range(1, 9))
def test_the_phase_matters_modulo_four(k: int) -> None:
    """The phases of k and k + 4 agree, k + 2 gives the negative, and odd shifts give 0 on all sums."""
    x = _one_input_for_each_sum(k)
    right = np.array([(-1) ** (k - m) for m in range(k + 1)])
    outputs = [neuron(k, k, Sinusoid(k + shift), exact=True)(x) for shift in range(5)]
    for shift, factor in enumerate((1, 0, -1, 0, 1)):
        assert np.all(outputs[shift] == factor * right)


@check("hidden-progress:construction-zigzag", grade="exact", target="printed", supporting=True)
@check("hidden-progress:construction-oscillating-polynomial", grade="exact", target="printed", supporting=True)
@check("hidden-progress:construction-infinite-zigzag", grade="exact", target="corrected", supporting=True)
@check("hidden-progress:construction-sinusoid", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("name", ["zigzag", "polynomial", "wave", "sinusoid"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_wrong_neurons_are_rejected(name: str, k: int) -> None:
    """A wrong S, a flipped readout sign, a bias of one, weights off by a per cent."""
    n, S = 5, tuple(range(k))
    network = BUILDERS[name](n, S)
    assert isinstance(network, TwoLayerNetwork)
    assert _represents(network, S, n)
    assert not _represents(network, tuple(range(1, k + 1)), n)
    assert not _represents(replace(network, readout=-network.readout), S, n)
    assert not _represents(replace(network, bias=network.bias + 1), S, n)
    assert not _represents(replace(network, hidden=network.hidden * fmpq(101, 100)), S, n)


# --- PolyNets and degrees ------------------------------------------------------------------------------------------


@check("hidden-progress:construction-polynet", grade="exact", target="printed", cases="all S for n <= 6 on all inputs")
@proof_steps("neurons.md: 6")
def test_a_polynet_without_biases_represents_every_parity() -> None:
    """For all S in n <= 6 inputs, in every order of the factors for n <= 4."""
    _check_all_supports("polynet", largest=6)
    exact, rounded = polynet(5, (0, 2, 3), exact=True), polynet(5, (0, 2, 3))
    assert (exact.weights.dtype, rounded.weights.dtype) == (object, float)
    assert np.array_equal(exact(sign_inputs(5)).astype(float), rounded(sign_inputs(5)))
    for S in [S for k in range(1, 5) for S in combinations(range(4), k)]:
        network = BUILDERS["polynet"](4, S)
        assert isinstance(network, PolyNet)
        for order in permutations(range(len(S))):
            assert _represents(PolyNet(network.weights[list(order)], network.bias), S, 4)


@check("hidden-progress:construction-polynet", grade="exact", target="printed", supporting=True)
def test_wrong_polynets_are_rejected() -> None:
    """A missing factor, a repeated factor, a flipped sign, a bias."""
    network = polynet(5, (0, 2, 3), exact=True)
    W, b = network.weights, network.bias
    signs = np.array([1, -1, 1])
    for faulty in (
        PolyNet(W[1:], b[1:]),
        PolyNet(W[[0, 1, 1]], b),
        PolyNet(W * signs[:, None], b),
        PolyNet(W, b + np.array([0, 0, fmpq(1, 10)], dtype=object)),
    ):
        assert not _represents(faulty, (0, 2, 3), 5)


@check("hidden-progress:unnumbered-degree-obstruction", grade="exact", target="printed", supporting=True)
@proof_steps("parities.md: 5")
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_polynomials_of_degree_below_k_are_orthogonal_to_every_parity(n: int) -> None:
    """E[f chi_S] = 0 for deg f < k = |S|, hence f is no parity of k signs: E[chi_S^2] = 1.

    By linearity it is enough to take monomials; all exponents with total degree below k, all S, all 2^n inputs.
    """
    x = sign_inputs(n)
    exponents = np.array([e for e in product(range(n), repeat=n) if sum(e) < n])
    monomials = np.prod(x[:, None, :] ** exponents, axis=2)
    degrees = exponents.sum(axis=1)
    for S in [S for k in range(1, n + 1) for S in combinations(range(n), k)]:
        correlations = _parity(x, S) @ monomials
        assert np.all(correlations[degrees < len(S)] == 0)
        assert np.any(correlations[degrees == len(S)] != 0) or len(S) == n  # degree k itself is not obstructed
    assert np.all(x.prod(axis=1) @ x.prod(axis=1) == 2**n)


@check(
    "hidden-progress:unnumbered-degree-obstruction",
    grade="sampled",
    target="printed",
    cases="n = 6, 2 <= k <= 5, Hypothesis draws of networks of width up to 4",
)
@proof_steps("parities.md: 5")
@given(data=st.data(), k=st.integers(2, 5), width=st.integers(1, 4))
def test_networks_with_a_power_below_k_have_no_correlation(data: st.DataObject, k: int, width: int) -> None:
    """The example of the text, sigma(z) = z^(k') with k' < k, for random integer weights."""
    n = 6
    integers = st.integers(-3, 3)
    rows = data.draw(st.lists(st.lists(integers, min_size=n + 2, max_size=n + 2), min_size=width, max_size=width))
    degree = data.draw(st.integers(1, k - 1))
    weights = np.array(rows, dtype=object)
    x = sign_inputs(n)
    network = TwoLayerNetwork(weights[:, :n], weights[:, n], weights[:, n + 1], Power(degree), output_bias=1)
    outputs = network(x)
    assert outputs @ _parity(x, tuple(range(k))) == 0
    for row, output in zip(x[:: 7 * width].tolist(), outputs[:: 7 * width], strict=True):
        before = [sum(a * z for a, z in zip(w[:n], row, strict=True)) + w[n] for w in rows]
        assert output == sum(w[n + 1] * z**degree for w, z in zip(rows, before, strict=True)) + 1


@check("hidden-progress:unnumbered-degree-obstruction", grade="exact", target="printed", supporting=True)
def test_the_sign_of_a_polynomial_of_low_degree_may_correlate() -> None:
    """The statement is about f, not about sign(f): f = x1 + x2 + x3 has E[f chi] = 0 and E[sign(f) chi] = -1/2."""
    x = sign_inputs(3)
    f, chi = x.sum(axis=1), x.prod(axis=1)
    assert f @ chi == 0
    assert fmpq(int(np.sign(f) @ chi), 8) == fmpq(-1, 2)
