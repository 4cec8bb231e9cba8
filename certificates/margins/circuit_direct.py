"""A certified lower bound of the all-layer margin of a corrected circuit network, step by step, to first order sharp.

`circuit_margin_bound` of `lemmata.certificates.margins.all_layer` is theorem D.6 with uniform constants. Here one total
norm rho of the perturbation of all weights is assumed, and every unit is shown to stay within the radius of the
rounding: its deviation is a sum over disjoint blocks of weights, and so at most rho times the root of the sum of the
squared coefficients. The derivation is section 6 of ALL_LAYER_MARGIN.md. Weights of gates are integers, so that all
squared norms are exact; the rest is ball arithmetic.

Source: turing, theorem-3.1, lemma-3.3, theorem-D.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from lemmata.certificates.margins.all_layer import BITS, operator_norm
from lemmata.certificates.margins.direct import (
    DirectBound,
    MovedRounding,
    Squares,
    ball,
    largest_radius,
    moved_rounding,
    token_radius,
)
from lemmata.constructions.circuits.boolean import all_inputs
from lemmata.constructions.circuits.relu import CircuitNetwork, rounding
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.balls import ball_max, precision
from lemmata.numerics.exact.systems import Array

__all__ = ["circuit_loads", "direct_circuit_bound"]

Integers = NDArray[np.int64]
MOST_INPUTS = 10
"""Up to so many bits the ones of the hidden layers are counted on all inputs; beyond, every gate may be a one."""


@dataclass(frozen=True)
class _Column:
    """A unit of the last ReLU layer of a step: its functional on what the step reads, and on each layer's output.

    Attributes:
        read: of |W_1| ... |W_n| e, on the bits that the step reads.
        inner: the squared norms on the outputs of the layers of the step, the last of which is 1.
    """

    read: Squares
    inner: tuple[int, ...]


@dataclass(frozen=True)
class _Step:
    """A step: operator norms of its layers, the norms of the bits before each of them and after the last one."""

    norms: tuple[arb, ...]
    sizes: tuple[arb, ...]
    columns: frozenset[_Column]


def direct_circuit_bound(network: CircuitNetwork, inputs: ArrayLike | None = None) -> DirectBound:
    """The largest rho, to one part in 500, that the conditions of `circuit_loads` certify.

    Args:
        network: a corrected network.
        inputs: bits, shape (n, m), for which the bound is asked; all inputs if None.

    Raises:
        ValueError: for a network without corrections, or with other roundings than its own.
    """
    with precision(BITS):
        steps, output = _facts(network, inputs)

        def conditions(rho: Fraction) -> tuple[Fraction, dict[str, arb]]:
            sigma_h = token_radius(lambda sigma: _largest_norm(network, steps, ball(rho), sigma), rho)
            return sigma_h, _loads(network, steps, output, ball(rho), ball(sigma_h))

        return largest_radius(conditions)


def circuit_loads(
    network: CircuitNetwork, rho: Fraction, sigma_h: Fraction, inputs: ArrayLike | None = None
) -> dict[str, arb]:
    """All deviations that perturbations of norm rho can cause, in units of what is allowed (ALL_LAYER_MARGIN.md, 6).

    If all are below 1, no perturbation of norm at most ``rho`` changes an answer.

    Args:
        network: a corrected network.
        rho: the norm of the perturbation of all weights.
        sigma_h: a radius within which rounded bits are assumed to stay; that they do is one of the conditions.
        inputs: as for `direct_circuit_bound`.

    Raises:
        ValueError: as `direct_circuit_bound`.
    """
    with precision(BITS):
        steps, output = _facts(network, inputs)
        return _loads(network, steps, output, ball(rho), ball(sigma_h))


# ---- the conditions


def _loads(network: CircuitNetwork, steps: Sequence[_Step], output: Squares, rho: arb, sigma_h: arb) -> dict[str, arb]:
    found: dict[str, arb] = {}
    before: MovedRounding | None = None
    for number, step in enumerate(steps):
        extended, _ = _moved(step, rho, sigma_h if number else arb(0))
        units = [_unit(column, before, extended) for column in step.columns]
        found[f"f{number}: bits"] = ball_max(units) * rho / ball(network.radius)
        before = _rounding(network, step, rho, sigma_h if number else arb(0))
        found[f"zeta{number}: tokens"] = before.norm * rho / sigma_h
    assert before is not None
    found["head"] = (before.along(output) ** 2 + (steps[-1].sizes[-1] + sigma_h) ** 2 + 1).sqrt() * rho
    return found


def _unit(column: _Column, before: MovedRounding | None, extended: Sequence[arb]) -> arb:
    """The coefficient of a unit: the rounding before, the layers of the step, and the rounding's own first layer."""
    total = arb(0) if before is None else before.along(column.read) ** 2
    for squared, norm in zip(column.inner, extended, strict=False):
        total = total + squared * norm**2
    return (total + extended[-1] ** 2).sqrt()


def _moved(step: _Step, rho: arb, sigma_h: arb) -> tuple[list[arb], arb]:
    """|(z, 1)| before every layer of a step and before the rounding, and how far the step is off, in 2-norm."""
    moved, extended = sigma_h, []
    for norm, size in zip(step.norms, step.sizes, strict=False):
        extended.append(((size + moved) ** 2 + 1).sqrt())
        moved = norm * moved + extended[-1] * rho
    return [*extended, ((step.sizes[-1] + moved) ** 2 + 1).sqrt()], moved


def _rounding(network: CircuitNetwork, step: _Step, rho: arb, sigma_h: arb) -> MovedRounding:
    _, moved = _moved(step, rho, sigma_h)
    return moved_rounding(*network.thresholds, step.sizes[-1], moved, rho)


def _largest_norm(network: CircuitNetwork, steps: Sequence[_Step], rho: arb, sigma_h: arb) -> arb:
    first, *others = steps
    norms = [_rounding(network, step, rho, sigma_h).norm for step in others]
    return ball_max([_rounding(network, first, rho, arb(0)).norm, *norms])


# ---- what is read off the weights


def _facts(network: CircuitNetwork, inputs: ArrayLike | None) -> tuple[list[_Step], Squares]:
    """The steps, and the functional of the head."""
    if not network.roundings:
        raise ValueError("The direct bound is that of corrected networks; this one has no corrections.")
    _refuse_other_roundings(network)
    counts = _counts(network, inputs)
    steps = []
    for step, ones in zip(network.steps, counts[:-1], strict=True):
        steps.append(_step_facts(step, ones))
    (output,) = _squares(_whole(network.head.weight), counts[-1][0])
    return steps, output


def _step_facts(step: FeedForward, ones: Sequence[int]) -> _Step:
    functional: Integers = np.eye(step.layers[-1].weight.shape[1], dtype=np.int64)
    inner = []
    for layer in reversed(step.layers):
        inner.append((functional**2).sum(axis=0).tolist())
        functional = np.abs(_whole(layer.weight)) @ functional
    read = _squares(functional, ones[0])
    columns = (_Column(mine, lengths) for mine, lengths in zip(read, zip(*reversed(inner), strict=True), strict=True))
    return _Step(
        norms=tuple(operator_norm(layer.weight) for layer in step.layers),
        sizes=tuple(arb(count).sqrt() for count in ones),
        columns=frozenset(columns),
    )


def _counts(network: CircuitNetwork, inputs: ArrayLike | None) -> list[list[int]]:
    """The most ones before every layer of each step and after its last one; then those that the head reads."""
    m = network.circuit.inputs
    if inputs is None and m > MOST_INPUTS:
        widths, before = [], m
        for number, step in enumerate(network.steps):
            gates = len(network.circuit.layers[number // (2 if network.corrections == "steps" else 1)])
            widths.append([before] + [gates] * len(step.layers))
            before = gates
        return [*widths, [before]]
    z = (all_inputs(m) if inputs is None else _bits(inputs, m)).astype(np.int64)
    counts = []
    for step in network.steps:
        row = [int(z.sum(axis=1).max())]
        for layer in step.layers:
            z = np.maximum(z @ _whole(layer.weight) + _whole(layer.bias), 0)
            if not np.isin(z, (0, 1)).all():
                raise ValueError("The direct bound needs steps that map bits to bits.")
            row.append(int(z.sum(axis=1).max()))
        counts.append(row)
    return [*counts, [counts[-1][-1]]]


def _bits(inputs: ArrayLike, m: int) -> Array:
    rows = np.atleast_2d(np.asarray(inputs))
    if rows.ndim != 2 or rows.shape[1] != m or not len(rows) or not np.isin(rows, (0, 1)).all():
        raise ValueError(f"The inputs must be rows of {m} bits.")
    return rows


def _refuse_other_roundings(network: CircuitNetwork) -> None:
    low, high = network.thresholds
    rounds = 2 if network.corrections == "steps" else 1
    for number, found in enumerate(network.roundings):
        live = len(network.circuit.layers[number // rounds])
        hidden, outputs = found.layers[1].weight.shape
        width = None if (hidden, outputs) == (2 * live, live) else hidden
        wanted = rounding(live, low, high, found.layers[0].weight.shape[0], width)
        pairs = zip(_arrays(found.layers), _arrays(wanted.layers), strict=True)
        if not all(np.array_equal(mine, other) for mine, other in pairs):
            raise ValueError(f"The correction zeta{number} is not the rounding with thresholds {low} and {high}.")


def _arrays(layers: Sequence[Affine]) -> list[Array]:
    return [array for layer in layers for array in layer.arrays()]


def _squares(matrix: Integers, ones: int) -> list[Squares]:
    """The squared norms of all columns of a matrix, and of their parts on so many ones."""
    squared = matrix**2
    largest = np.sort(squared, axis=0)[::-1][:ones].sum(axis=0)
    return [Squares(int(a), int(b)) for a, b in zip(largest, squared.sum(axis=0), strict=True)]


def _whole(array: Array) -> Integers:
    if array.dtype.kind not in "iu":
        raise ValueError("The direct bound needs gates with integer weights.")
    return array.astype(np.int64)
