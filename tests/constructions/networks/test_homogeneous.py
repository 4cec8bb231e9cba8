"""The homogeneous network in mass form: forward passes, export, and what its constructor refuses."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks, group_inputs, sign_inputs
from lemmata.numerics.exact.cyclotomic.numbers import root_of_unity, sqrt_rational

EPS = float(np.finfo(np.float64).eps)


def forward_by_loops(hidden: Any, readout: Any, degree: int, x: Any) -> list[Any]:
    """sum_i (hidden_i . x)^k readout_i for one input, in plain Python."""
    output: list[Any] = [0] * len(readout[0])
    for u, w in zip(hidden, readout, strict=True):
        activation = sum((u[j] * x[j] for j in range(len(x))), start=0) ** degree
        output = [old + activation * entry for old, entry in zip(output, w, strict=True)]
    return output


def rounding(hidden: np.ndarray, readout: np.ndarray, degree: int, x: np.ndarray) -> np.ndarray:
    """A bound on the difference of two float64 evaluations: operations on a path * eps * sum of absolutes.

    Weights that went through the mass form carry 2 (k + 4) further roundings: norm, quotient, power and root.
    """
    m, D = hidden.shape
    operations = degree * (D + 1) + m + 1 + 2 * (degree + 4) * (degree + 1)
    absolute = (np.abs(x) @ np.abs(hidden).T) ** degree @ np.abs(readout)
    return operations * EPS * absolute


def random_weights(seed: int, degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    m, D, L = rng.integers(1, 7, size=3)
    scales = np.exp(rng.normal(scale=2.0, size=(m, 1)))
    return scales * rng.normal(size=(m, D)), scales * rng.normal(size=(m, L)), rng.normal(size=(4, D))


def rationals(rows: Any) -> np.ndarray:
    array = np.asarray(rows)
    return np.array([fmpq(int(entry)) for entry in array.flat], dtype=object).reshape(array.shape)


def small_exact_network() -> HomogeneousNetwork:
    """Three rational neurons with 2 inputs, 2 outputs and squared norm 9, degree 3, masses 1/2, 1/3, 1/6."""
    return HomogeneousNetwork(
        rationals([[2, 2], [0, 1], [-2, 0]]),
        rationals([[1, 0], [2, -2], [1, 2]]),
        np.array([fmpq(1, 2), fmpq(1, 3), fmpq(1, 6)], dtype=object),
        3,
        9,
    )


class TestForward:
    @given(seed=st.integers(0, 10**6), degree=st.integers(1, 5))
    def test_from_weights_computes_the_network_of_the_weights(self, seed: int, degree: int) -> None:
        hidden, readout, x = random_weights(seed, degree)
        network = HomogeneousNetwork.from_weights(hidden, readout, degree)
        expected = [forward_by_loops(hidden, readout, degree, row) for row in x]
        assert np.all(np.abs(network(x) - expected) <= rounding(hidden, readout, degree, x))
        omega = np.concatenate([hidden, readout], axis=1)
        norm_power = sum(float(np.dot(row, row)) ** ((degree + 1) / 2) for row in omega)
        assert network.norm_power == pytest.approx(norm_power, rel=(degree + 1) * (omega.shape[1] + 8) * EPS)

    @given(seed=st.integers(0, 10**6), degree=st.integers(1, 5))
    def test_weights_undo_from_weights(self, seed: int, degree: int) -> None:
        hidden, readout, _ = random_weights(seed, degree)
        again = HomogeneousNetwork.from_weights(hidden, readout, degree).weights()
        # norm, quotient, power (relative error nu * that of the norm), root (divides it by nu again), product
        allowed = (hidden.shape[1] + readout.shape[1] + 2 * degree + 16) * EPS
        np.testing.assert_allclose(again[0], hidden, rtol=allowed, atol=0)
        np.testing.assert_allclose(again[1], readout, rtol=allowed, atol=0)

    @given(seed=st.integers(0, 10**6), degree=st.integers(1, 5))
    def test_torch_module_equals_the_forward_pass(self, seed: int, degree: int) -> None:
        hidden, readout, x = random_weights(seed, degree)
        network = HomogeneousNetwork.from_weights(hidden, readout, degree)
        module = network.to_torch()
        names = {name: tuple(p.shape) for name, p in module.named_parameters()}
        assert names == {"hidden": hidden.shape, "readout": readout.shape}
        output = module(torch.tensor(x)).detach().numpy()
        assert np.all(np.abs(output - network(x)) <= rounding(hidden, readout, degree, x))

    def test_torch_module_trains_and_takes_a_dtype(self) -> None:
        network = small_exact_network()
        module = network.to_torch(dtype=torch.float32)
        output = module(torch.tensor([[1.0, 2.0]]))
        assert output.dtype == torch.float32
        output.sum().backward()
        assert all(p.grad is not None and bool((p.grad != 0).any()) for p in module.parameters())

    @given(c=st.floats(0.1, 10), seed=st.integers(0, 10**6), degree=st.integers(1, 4))
    def test_scaling_the_weights_multiplies_masses_by_a_power(self, c: float, seed: int, degree: int) -> None:
        hidden, readout, _ = random_weights(seed, degree)
        one = HomogeneousNetwork.from_weights(hidden, readout, degree)
        scaled = HomogeneousNetwork.from_weights(c * hidden, c * readout, degree)
        allowed = 2 * (degree + 1) * (hidden.shape[1] + readout.shape[1] + 8) * EPS
        np.testing.assert_allclose(scaled.masses, c ** (degree + 1) * one.masses, rtol=allowed)

    def test_exact_forward_is_the_rational_one(self) -> None:
        network = small_exact_network()
        x = np.array([[1, 2], [-3, 5], [0, 0]])
        hidden, readout, masses = network.hidden, network.readout, network.masses
        for row, output in zip(x, network.raw(x), strict=True):
            weighted = [[mass * entry for entry in w] for mass, w in zip(masses, readout, strict=True)]
            assert list(output) == forward_by_loops(hidden, weighted, 3, [int(v) for v in row])
        assert network.arithmetic == "exact"
        assert network.norm_power == 1
        # (1, 2): activations 216, 8, -8, so that the first output is 108 + 16/3 - 4/3
        assert network.raw(x)[0, 0] == 112
        assert network(x)[0, 0] == pytest.approx(112 / 81, rel=4 * EPS)

    def test_ball_forward_encloses_the_exact_one(self) -> None:
        exact = small_exact_network()
        balls = {
            name: np.array([arb(entry) for entry in getattr(exact, name).flat], dtype=object)
            for name in ("hidden", "readout", "masses")
        }
        network = HomogeneousNetwork(
            balls["hidden"].reshape(3, 2), balls["readout"].reshape(3, 2), balls["masses"], 3, arb(9)
        )
        x = np.array([[1, 2], [-3, 5]])
        assert network.arithmetic == "ball"
        for ball, value in zip(network.raw(x).flat, exact.raw(x).flat, strict=True):
            assert ball.contains(value)
            assert not ball.contains(value + fmpq(1, 10**9))
        np.testing.assert_allclose(network(x), exact(x), rtol=8 * EPS)

    def test_cyclotomic_forward_is_exact(self) -> None:
        root = sqrt_rational(2)
        network = HomogeneousNetwork(
            np.array([[root, 1], [1, -root]], dtype=object),
            np.array([[root], [root]], dtype=object),
            np.array([1, 1], dtype=object),
            2,
            5,
        )
        # ((r + 2)^2 + (1 - 2 r)^2) r with r^2 = 2: 6 + 4 r + 9 - 4 r = 15
        assert network.raw(np.array([1, 2]))[0] == 15 * root
        assert network.normalised_squared(15 * root) == fmpq(450, 4 * 125)
        np.testing.assert_allclose(network.to_float().raw([1, 2]), 15 * np.sqrt(2), rtol=32 * EPS)

    def test_inputs_keep_their_leading_axes(self) -> None:
        network = small_exact_network().to_float()
        x = np.arange(24.0).reshape(3, 4, 2)
        output = network(x)
        assert output.shape == (3, 4, 2)
        np.testing.assert_array_equal(output[1, 2], network(x[1, 2]))

    def test_zero_neurons_are_dropped(self) -> None:
        network = HomogeneousNetwork.from_weights([[1.0, 2.0], [0.0, 0.0]], [[1.0], [0.0]], 2)
        assert network.width == 1
        empty = HomogeneousNetwork.from_weights(np.zeros((2, 2)), np.zeros((2, 1)), 2)
        np.testing.assert_array_equal(empty([[1.0, 1.0]]), [[0.0]])
        with pytest.raises(ValueError, match="total mass zero"):
            empty.normalised_squared(1.0)

    def test_from_weights_survives_extreme_scales(self) -> None:
        for scale in (1e-100, 1e100):
            network = HomogeneousNetwork.from_weights([[3 * scale]], [[4 * scale]], 1)
            assert network.masses[0] == pytest.approx(25 * scale**2, rel=16 * EPS)

    def test_normalised_squared_is_the_square_of_the_normalised_value(self) -> None:
        network = small_exact_network()
        assert network.normalised_squared(112) == fmpq(112**2, 9**4)
        heavier = dataclasses.replace(network, masses=network.masses * 2)
        assert heavier.normalised_squared(224) == fmpq(112**2, 9**4)


class TestRefusals:
    def test_fields_are_copies_and_read_only(self) -> None:
        hidden = np.array([[0.6]])
        network = HomogeneousNetwork(hidden, np.array([[0.8]]), np.array([1.0]), 2, 1.0)
        hidden[0, 0] = 7.0
        assert network.hidden[0, 0] == 0.6
        with pytest.raises(ValueError, match="read-only"):
            network.masses[0] = 2.0

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"degree": 0}, "degree"),
            ({"degree": 2.0}, "degree"),
            ({"hidden": np.ones((2, 2))}, r"shapes.*\(2, 2\)"),
            ({"hidden": np.ones(3)}, "shapes"),
            ({"readout": np.ones((3, 0))}, "shapes"),
            ({"masses": np.ones((3, 1))}, "shapes"),
            ({"masses": np.array([0.5, 0.7, -0.2])}, "neurons 2 are negative"),
            ({"masses": np.array([0.5, np.nan, 0.2])}, r"masses has NaN or infinity at \(1,\)"),
            ({"masses": np.array([0.5, np.inf, 0.2])}, "NaN or infinity"),
            ({"hidden": np.array([[2.0, 2.0], [0.0, np.nan], [-2.0, 0.0]])}, r"hidden.*\(1, 1\)"),
            ({"norm_squared": 0.0}, "norm_squared must be a positive"),
            ({"norm_squared": -9.0}, "norm_squared must be a positive"),
            ({"norm_squared": float("nan")}, "norm_squared is nan"),
            ({"norm_squared": np.ones(3)}, "one number"),
            ({"norm_squared": 9.09}, "neurons 0, 1, 2 have not"),
            ({"hidden": np.array([[2.0, 2.0], [0.0, 1.0], [-2.0, 1e-6]])}, "neurons 2 have not"),
            ({"hidden": np.ones((3, 2), dtype=complex)}, "complex"),
            ({"masses": np.array(["1", "1", "1"])}, "str"),
            ({"masses": np.array([fmpq(1), fmpq(1), fmpq(1)], dtype=object)}, "cannot be combined"),
            ({"masses": np.array([0.5, 0.5, None], dtype=object)}, "NoneType"),
        ],
    )
    def test_bad_float_networks(self, changes: dict[str, Any], message: str) -> None:
        good = small_exact_network().to_float()
        with pytest.raises(ValueError, match=message):
            dataclasses.replace(good, **changes)

    def test_the_float_tolerance_is_a_few_roundings(self) -> None:
        good = small_exact_network().to_float()
        for relative, accepted in ((EPS, True), (100 * EPS, False)):
            hidden = good.hidden * (1 + relative)
            if accepted:
                dataclasses.replace(good, hidden=hidden)
            else:
                with pytest.raises(ValueError, match="squared norm"):
                    dataclasses.replace(good, hidden=hidden)

    def test_exact_norms_admit_no_tolerance(self) -> None:
        good = small_exact_network()
        hidden = good.hidden.copy()
        hidden[1, 1] += fmpq(1, 10**30)
        with pytest.raises(ValueError, match="neurons 1 have not"):
            dataclasses.replace(good, hidden=hidden)
        dataclasses.replace(good, hidden=hidden, masses=good.masses * np.array([1, 0, 1]))

    def test_exact_negative_masses(self) -> None:
        good = small_exact_network()
        masses = good.masses.copy()
        masses[2] = sqrt_rational(2) - fmpq(3, 2)
        with pytest.raises(ValueError, match="neurons 2 are negative"):
            dataclasses.replace(good, masses=masses)

    def test_exact_numbers_must_be_real(self) -> None:
        i = root_of_unity(1, 4)
        with pytest.raises(ValueError, match=r"real, but hidden is not at \(0, 0\)"):
            HomogeneousNetwork(
                np.array([[i]], dtype=object), np.array([[1]], dtype=object), np.array([1], dtype=object), 2, 2
            )

    def test_balls_are_refused_only_if_they_exclude(self) -> None:
        readout, mass = np.array([[arb(0)]], dtype=object), np.array([arb(1)], dtype=object)
        for hidden, accepted in ((arb(2, 0.01), True), (arb(2.1, 0.01), False), (arb("nan"), False)):
            directions = np.array([[hidden]], dtype=object)
            if accepted:
                HomogeneousNetwork(directions, readout, mass, 2, 4)
            else:
                with pytest.raises(ValueError, match=r"squared norm|finite"):
                    HomogeneousNetwork(directions, readout, mass, 2, 4)
        half = np.array([[arb(1) / 2, arb(1) / 2]], dtype=object)
        HomogeneousNetwork(half, readout, mass, 2, arb(1) / 2)
        two = np.array([[arb(2)]], dtype=object)
        HomogeneousNetwork(two, readout, np.array([arb(0, 0.1)], dtype=object), 2, 4)
        with pytest.raises(ValueError, match="negative"):
            HomogeneousNetwork(two, readout, np.array([arb(-1, 0.1)], dtype=object), 2, 4)

    def test_balls_and_cyclotomic_numbers_do_not_mix(self) -> None:
        root = sqrt_rational(2)
        for hidden in ([[arb(1), root]], [[root, 0]]):
            with pytest.raises(ValueError, match="Cyclotomic"):
                HomogeneousNetwork(
                    np.array(hidden, dtype=object), np.array([[arb(0)]], dtype=object), np.array([1]), 2, 2
                )

    def test_inputs(self) -> None:
        exact = small_exact_network()
        floating = exact.to_float()
        with pytest.raises(ValueError, match=r"shape \(\.\.\., 2\)"):
            floating([1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="shape"):
            floating(3.0)
        with pytest.raises(ValueError, match="finite"):
            floating([1.0, np.nan])
        with pytest.raises(ValueError, match="not object arrays"):
            floating(rationals([1, 2]))
        with pytest.raises(ValueError, match="not floats"):
            exact.raw([1.0, 2.0])
        with pytest.raises(ValueError, match="does not take balls"):
            exact.raw(np.array([arb(1), arb(2)], dtype=object))
        with pytest.raises(ValueError, match="str"):
            exact.raw(["1", "2"])

    @pytest.mark.parametrize(
        ("hidden", "readout", "degree", "message"),
        [
            ([[1.0]], [[1.0], [2.0]], 2, "shapes"),
            ([1.0], [[1.0]], 2, "shapes"),
            ([[np.nan]], [[1.0]], 2, "finite"),
            ([[1.0]], [[np.inf]], 2, "finite"),
            ([[1.0]], [[1.0]], 0, "degree"),
            ([[1e200]], [[1.0]], 2, "masses has NaN or infinity"),
        ],
    )
    def test_from_weights(self, hidden: Any, readout: Any, degree: int, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            HomogeneousNetwork.from_weights(hidden, readout, degree)


class TestInputs:
    def test_group_inputs_are_in_row_major_order(self) -> None:
        x = group_inputs(3)
        assert x.shape == (9, 6)
        for a in range(3):
            for b in range(3):
                row = [0] * 6
                row[a] = row[3 + b] = 1
                assert x[3 * a + b].tolist() == row

    def test_sign_inputs_follow_the_bits(self) -> None:
        assert sign_inputs(2).tolist() == [[1, 1], [-1, 1], [1, -1], [-1, -1]]
        x = sign_inputs(5)
        assert x.shape == (32, 5)
        assert all(x[s, i] == (-1 if s >> i & 1 else 1) for s in range(32) for i in range(5))

    def test_group_blocks(self) -> None:
        hidden, readout = np.arange(12.0).reshape(2, 6) + 1, np.arange(6.0).reshape(2, 3) + 20
        network = HomogeneousNetwork.from_weights(hidden, readout, 2)
        u, v, w = group_blocks(network)
        np.testing.assert_array_equal(np.concatenate([u, v], axis=1), network.hidden)
        assert u.shape == v.shape == w.shape == (2, 3)
        with pytest.raises(ValueError, match="D = 2 and L = 2"):
            group_blocks(small_exact_network())
        with pytest.raises(ValueError, match="D = 3 and L = 1"):
            group_blocks(HomogeneousNetwork.from_weights([[1.0, 2.0, 3.0]], [[1.0]], 2))

    @pytest.mark.parametrize("inputs", [group_inputs, sign_inputs])
    def test_sizes_below_one(self, inputs: Any) -> None:
        with pytest.raises(ValueError, match="must be >= 1"):
            inputs(0)
