"""Modular-addition networks against loops over all triples and against published margins."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.constructions.groups.cyclic import (
    frequency_shares,
    modular_addition_network,
    phase_triples,
    random_phase_network,
)
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks, group_inputs
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational

EPS = float(np.finfo(np.float64).eps)
ROOT = sqrt_rational(2)
MAX_MARGIN = {
    3: 7.8567420132e-2,
    5: 3.0429030973e-2,
    7: 1.7144816662e-2,
    11: 8.2060993986e-3,
    13: 6.2904279675e-3,
    23: 2.5795652447e-3,
    31: 1.6294123891e-3,
    71: 4.6143007915e-4,
}


def max_margin(n: int) -> float:
    """2 / (3 sqrt(3n) M), M = sqrt(2) (n - 1) for odd n and 1 + sqrt(2) (n - 2) for even n."""
    total = math.sqrt(2) * (n - 1) if n % 2 else 1 + math.sqrt(2) * (n - 2)
    return 2 / (3 * math.sqrt(3 * n) * total)


def margin_range(network: HomogeneousNetwork) -> tuple[float, float]:
    """The smallest and the largest normalised margin over all (a, b), by a loop over the pairs."""
    n = network.readout.shape[1]
    outputs = network(group_inputs(n)).reshape(n, n, n) / network.norm_power
    margins = []
    for a in range(n):
        for b in range(n):
            wrong = [outputs[a, b, c] for c in range(n) if c != (a + b) % n]
            margins.append([outputs[a, b, (a + b) % n] - other for other in wrong])
    return float(np.min(margins)), float(np.max(margins))


def rounding(network: HomogeneousNetwork) -> float:
    """(m + 16) eps times the largest |(u + v)^2 w| for entries up to sqrt(2), times r^(-3/2)."""
    return (network.width + 16) * EPS * 8 * math.sqrt(2) * network.scale


class TestPhases:
    @pytest.mark.parametrize("per_frequency", [2, 6, 8])
    def test_triples_are_aligned(self, per_frequency: int) -> None:
        triples = phase_triples(per_frequency)
        assert len(set(triples)) == per_frequency
        assert all((u + v - w).denominator == 1 for u, v, w in triples)

    @pytest.mark.parametrize("per_frequency", [6, 8])
    def test_unwanted_characters_vanish_on_the_phases(self, per_frequency: int) -> None:
        triples = phase_triples(per_frequency)

        def mean(j: int, k: int) -> complex:
            turns = [float((j * u + k * v) % 1) for u, v, _ in triples]
            return complex(np.mean(np.exp(2j * np.pi * np.array(turns))))

        for j, k in ((1, 1), (3, 1), (1, -1), (1, 3), (2, 2), (2, 0), (0, 2)):
            assert abs(mean(j, k)) <= 16 * EPS
        assert mean(0, 0) == 1

    def test_other_numbers_are_refused(self) -> None:
        with pytest.raises(ValueError, match="not for 5"):
            phase_triples(5)


class TestExact:
    @pytest.mark.parametrize("per_frequency", [6, 8])
    @pytest.mark.parametrize("n", [3, 5, 7])
    def test_odd_modulus(self, n: int, per_frequency: int) -> None:
        network = modular_addition_network(n, per_frequency, exact=True)
        m = per_frequency * (n - 1) // 2
        assert (network.width, network.norm_squared, network.norm_power) == (m, fmpq(3 * n, 2), 1)
        outputs = network.raw(group_inputs(n)).reshape(n, n, n)
        # 4(n - 1) equal masses of the 8-neuron network turn 2(n - 1) and -2 into these
        right, wrong = fmpq(1, 2), fmpq(-1, 2 * (n - 1))
        for a in range(n):
            for b in range(n):
                for c in range(n):
                    assert outputs[a, b, c] == (right if c == (a + b) % n else wrong)
        assert network.normalised_squared(right - wrong) == fmpq(2, 27 * n * (n - 1) ** 2)

    @pytest.mark.parametrize(("n", "per_frequency"), [(2, 8), (4, 6), (4, 8), (6, 6), (8, 8)])
    def test_even_modulus(self, n: int, per_frequency: int) -> None:
        network = modular_addition_network(n, per_frequency, exact=True)
        m = per_frequency * (n - 2) // 2 + 2
        assert (network.width, network.norm_squared, network.norm_power) == (m, 3 * n, 1)
        outputs = network.raw(group_inputs(n)).reshape(n, n, n)
        total = 1 + ROOT * (n - 2)
        right, wrong = 2 * (n - 1) / total, -2 / total
        for a in range(n):
            for b in range(n):
                for c in range(n):
                    assert outputs[a, b, c] == (right if c == (a + b) % n else wrong)
        assert network.normalised_squared(right - wrong) * total**2 == fmpq(4, 27 * n)

    @pytest.mark.parametrize("n", [2, 5, 6, 8])
    def test_float_network_is_the_rounded_exact_one(self, n: int) -> None:
        exact = modular_addition_network(n, 8, exact=True).to_float()
        floating = modular_addition_network(n, 8)
        for name in ("hidden", "readout", "masses"):
            np.testing.assert_allclose(getattr(floating, name), getattr(exact, name), rtol=0, atol=4 * EPS)

    def test_shares_are_exact(self) -> None:
        assert frequency_shares(7, exact=True) == [fmpq(1, 3)] * 3
        for n in (2, 4, 10):
            shares = frequency_shares(n, exact=True)
            assert sum(shares) == 1
            assert all(share == 2 * ROOT * shares[-1] for share in shares[:-1])


class TestFloat:
    @pytest.mark.parametrize("n", [3, 5, 7, 11, 13, 23, 31, 71])
    def test_all_margins_are_the_published_maximum(self, n: int) -> None:
        assert max_margin(n) == pytest.approx(MAX_MARGIN[n], rel=1e-10)  # eleven digits are published
        for per_frequency in (6, 8) if n < 50 else (8,):
            network = modular_addition_network(n, per_frequency)
            low, high = margin_range(network)
            assert max_margin(n) - rounding(network) <= low <= high <= max_margin(n) + rounding(network)

    @pytest.mark.parametrize(("n", "width"), [(2, 2), (4, 10), (8, 26), (12, 42), (9, 32), (15, 56)])
    def test_composite_moduli(self, n: int, width: int) -> None:
        network = modular_addition_network(n)
        assert network.width == width
        low, high = margin_range(network)
        assert max_margin(n) - rounding(network) <= low <= high <= max_margin(n) + rounding(network)

    def test_tight_widths_for_even_moduli(self) -> None:
        assert modular_addition_network(8, 6).width == 20
        assert modular_addition_network(12, 6).width == 32

    def test_weights_are_the_printed_cosines(self) -> None:
        p = 7
        hidden, readout = modular_addition_network(p).weights()
        amplitude = math.sqrt(2 / (3 * p)) * (4 * (p - 1)) ** (-1 / 3)
        first_sine_pair = 8 * 1 + 2  # frequency 2, phases (pi/2, -pi/2, 0)
        for a in range(p):
            angle = 2 * math.pi * 2 * a / p
            assert hidden[first_sine_pair, a] == pytest.approx(-amplitude * math.sin(angle), abs=32 * EPS)
            assert hidden[first_sine_pair, p + a] == pytest.approx(amplitude * math.sin(angle), abs=32 * EPS)
            assert readout[first_sine_pair, a] == pytest.approx(amplitude * math.cos(angle), abs=32 * EPS)

    def test_large_moduli_keep_their_norms(self) -> None:
        for n in (499, 500):
            network = modular_addition_network(n, 6)
            omega = np.concatenate([network.hidden, network.readout], axis=1)
            np.testing.assert_allclose(np.sum(omega**2, axis=1), network.norm_squared, rtol=3 * n * EPS)


class TestFaults:
    """Changes that make a max-margin network suboptimal must lower the margin."""

    def lowered(self, network: HomogeneousNetwork) -> bool:
        n = network.readout.shape[1]
        return margin_range(network)[0] < 0.999 * max_margin(n)

    @pytest.mark.parametrize("per_frequency", [6, 8])
    def test_wrong_neurons(self, per_frequency: int) -> None:
        good = modular_addition_network(7, per_frequency)
        assert not self.lowered(good)
        for neuron in (0, 3, good.width - 1):
            flipped = good.readout.copy()
            flipped[neuron] *= -1
            assert self.lowered(dataclasses.replace(good, readout=flipped))
            shifted = good.hidden.copy()
            shifted[neuron, :7] = np.roll(shifted[neuron, :7], 1)
            assert self.lowered(dataclasses.replace(good, hidden=shifted))
            removed = good.masses.copy()
            removed[neuron] = 0
            assert self.lowered(dataclasses.replace(good, masses=removed))

    def test_missing_frequency_and_uneven_shares(self) -> None:
        good = modular_addition_network(7)
        for factors in ((0, 1, 1), (1.02, 1, 1)):
            masses = good.masses * np.repeat(factors, 8)
            assert self.lowered(dataclasses.replace(good, masses=masses))

    def test_equal_shares_are_wrong_for_even_moduli(self) -> None:
        good = modular_addition_network(8)
        masses = np.concatenate([np.full(24, 1 / 3.5 / 8), np.full(2, 0.5 / 3.5 / 2)])
        assert sum(masses) == pytest.approx(1, abs=32 * EPS)
        assert self.lowered(dataclasses.replace(good, masses=masses))


class TestRandomPhases:
    @given(n=st.integers(2, 9), width=st.integers(1, 12), seed=st.integers(0, 10**6))
    @settings(max_examples=60)
    def test_neurons_are_optimal_and_margins_at_most_the_maximum(self, n: int, width: int, seed: int) -> None:
        network = random_phase_network(n, width, np.random.default_rng(seed))
        assert (network.width, network.norm_squared) == (width, 3 * n)
        assert network.norm_power == pytest.approx(1, abs=width * EPS)
        assert margin_range(network)[0] <= max_margin(n) + rounding(network)
        u, v, w = group_blocks(network)
        for i in range(width):
            spectra = [np.abs(np.fft.fft(block[i])) ** 2 for block in (u, v, w)]
            z = int(np.argmax(spectra[0][: n // 2 + 1]))
            others = [j for j in range(n) if j not in (z, n - z)]
            assert z > 0
            # Parseval: n * n is all the power that a block of squared norm n has
            assert all(np.all(power[others] <= (64 * n * EPS) ** 2 * n * n) for power in spectra)
            coefficients = [np.fft.fft(block[i])[z] for block in (u, v, w)]
            alignment = coefficients[0] * coefficients[1] * np.conj(coefficients[2])
            assert alignment.real > 0
            assert abs(alignment.imag) <= 64 * n * EPS * alignment.real

    def test_wide_networks_approach_the_maximum(self) -> None:
        n, width = 5, 100_000
        network = random_phase_network(n, width, np.random.default_rng(7))
        u, v, w = group_blocks(network)
        expected = max_margin(n) / network.scale
        for a, b in ((0, 0), (1, 3), (4, 4)):
            for shift in range(1, n):
                right, wrong = (a + b) % n, (a + b + shift) % n
                contributions = (u[:, a] + v[:, b]) ** 2 * (w[:, right] - w[:, wrong])
                margin = float(network.masses @ contributions)
                # Six standard errors, from the second moment: all 12 hold with probability > 1 - 1e-7.
                error = 6 * math.sqrt(float(network.masses**2 @ contributions**2))
                assert error < 0.1 * expected
                assert abs(margin - expected) <= error

    def test_narrow_networks_fall_short(self) -> None:
        for seed in range(20):
            network = random_phase_network(7, 24, np.random.default_rng(seed))
            assert margin_range(network)[0] < 0.9 * max_margin(7)

    def test_frequency_half_has_phases_zero_and_half(self) -> None:
        network = random_phase_network(2, 50, np.random.default_rng(0))
        patterns = {tuple(row) for row in np.rint(np.concatenate([network.hidden, network.readout], axis=1)).tolist()}
        assert len(patterns) == 4


class TestRefusals:
    @pytest.mark.parametrize("n", [1, 0, -3])
    def test_modulus(self, n: int) -> None:
        for build in (modular_addition_network, frequency_shares):
            with pytest.raises(ValueError, match="modulus n must be an integer >= 2"):
                build(n)
        with pytest.raises(ValueError, match="modulus"):
            random_phase_network(n, 3, np.random.default_rng(0))

    def test_other_arguments(self) -> None:
        with pytest.raises(ValueError, match="per_frequency must be 8"):
            modular_addition_network(5, 2)
        with pytest.raises(ValueError, match="width"):
            random_phase_network(5, 0, np.random.default_rng(0))


def test_phase_type_is_a_fraction_of_a_turn() -> None:
    assert phase_triples(6)[1] == (Fraction(1, 6), Fraction(2, 3), Fraction(5, 6))
