"""The comparison of a network with its Boolean circuit, step by step, in exact integers.

Weights are rationals with a common denominator, so that every hidden layer is a vector of integers over a denominator
that is carried along. The integers are held in float64, whose products and sums are exact below 2^53; a bound on every
sum is compared with that before it is formed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.circuits.boolean import all_inputs
from lemmata.constructions.circuits.relu import CircuitNetwork
from lemmata.constructions.networks.affine import Affine
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import common_denominator
from lemmata.numerics.exact.systems import Array

LARGEST_EXHAUSTIVE = 16
"""The largest number of inputs for which a network is checked on all of them by default."""


@dataclass(frozen=True)
class Verification:
    """The comparison of a network with its circuit, in exact arithmetic.

    Attributes:
        inputs: on how many inputs.
        exhaustive: whether these are all.
        layers: how many hidden layers were compared on each, the output included.
        fault: the first difference, in words; None if there is none.
    """

    inputs: int
    exhaustive: bool
    layers: int
    fault: str | None


def verify(network: CircuitNetwork, x: Array | None = None) -> Verification:
    """The comparison of every step, every rounded layer and the output of a network with its circuit, in integers.

    Args:
        network: the network; its own circuit is the reference.
        x: bits of shape (n, m); all 2^m if None and m <= 16, else 2^16 drawn at random with a fixed seed.
    """
    m = network.circuit.inputs
    exhaustive = x is None and m <= LARGEST_EXHAUSTIVE
    if x is None:
        random = np.random.default_rng(0)
        x = all_inputs(m) if exhaustive else random.integers(0, 2, (2**LARGEST_EXHAUSTIVE, m))
    expected = _expected(network, x)
    compared = 0
    for name, values, denominator in exact_values(network, x):
        wanted = expected.get(name)
        if wanted is None:
            continue
        compared += 1
        live = values[:, : wanted.shape[1]] != wanted * denominator
        wrong = np.any(live, axis=1) | np.any(values[:, wanted.shape[1] :] != 0, axis=1)
        if wrong.any():
            word = "".join(str(int(bit)) for bit in x[int(np.argmax(wrong))])
            return Verification(len(x), exhaustive, compared, f"{name} differs from the circuit on the input {word}")
    return Verification(len(x), exhaustive, compared, None)


def exact_values(network: CircuitNetwork, x: Array) -> Iterator[tuple[str, NDArray[np.float64], int]]:
    """The exact outputs of f0, zeta0, f1, ..., head: a name, integers (in float64) and their common denominator.

    Raises:
        ValueError: if an integer exceeds 2^53, so that float64 would not hold it (no network of a circuit gets there).
    """
    z, denominator = np.asarray(x, dtype=np.float64), 1
    blocks = [*(block.layers for block in network.maps()), (network.head,)]
    for (name, _), layers in zip(network.blocks(), blocks, strict=True):
        for layer in layers:
            z, denominator = _exact_affine(layer, z, denominator)
            z = z if layer is network.head else np.maximum(z, 0)
        yield name, z, denominator


def _exact_affine(layer: Affine, z: NDArray[np.float64], denominator: int) -> tuple[NDArray[np.float64], int]:
    """The layer's output for the input z / denominator, as integers over a common denominator."""
    weight, weight_denominator = _integers(layer.weight)
    bias, bias_denominator = _integers(layer.bias)
    common = math.lcm(weight_denominator * denominator, bias_denominator)
    a, b = common // (weight_denominator * denominator), common // bias_denominator
    largest = float(np.abs(z).max(initial=0)) * float(np.abs(weight).sum(0).max(initial=0)) * a
    if largest + float(np.abs(bias).max(initial=0)) * b >= 2.0**53:
        raise ValueError("A value of the network has a numerator beyond 2^53; float64 does not hold it exactly.")
    result = a * (z @ weight) + b * bias
    divisor = math.gcd(common, *np.unique(np.abs(result)).astype(np.int64).tolist())
    return result / divisor, common // divisor


def _integers(array: Array) -> tuple[NDArray[np.float64], int]:
    """An exact array as integers (in float64) and their common denominator."""
    if array.dtype != object:
        return array.astype(np.float64), 1
    rationals = as_exact(array)
    denominator = common_denominator(rationals.ravel().tolist())
    return to_float(rationals * denominator), denominator


def _expected(network: CircuitNetwork, x: Array) -> dict[str, Array]:
    """The bits that f0, zeta0, ..., head should give, by name; after a NOR gate's first step the bit is NOR."""
    layers = network.circuit.values(np.asarray(x))
    result: dict[str, Array] = {}
    for number, (gates, bits) in enumerate(zip(network.circuit.layers, layers[1:], strict=True)):
        if network.corrections == "steps":
            negated = np.array([gate.operation == "OR" for gate in gates])
            stages = [(2 * number, bits ^ negated), (2 * number + 1, bits)]
        else:
            stages = [(number, bits)]
        for stage, values in stages:
            result[f"f{stage}"] = result[f"zeta{stage}"] = values.astype(np.float64)
    result["head"] = 2.0 * layers[-1][:, [network.circuit.output]] - 1.0
    return result
