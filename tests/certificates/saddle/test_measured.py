"""The margin of given weights, against exact arithmetic, certificates and Fourier transforms."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

import lemmata as lm
from lemmata.certificates.saddle.measured import measured_margin, representation_shares
from lemmata.constructions.networks.checkpoints import OperationWeights
from lemmata.numerics.margins.evaluation import group_margins
from lemmata.numerics.operations.operation import MISSING


def weights_of(network) -> OperationWeights:
    hidden, readout = network.weights()
    n = readout.shape[1]
    return OperationWeights(hidden[:, :n].T, hidden[:, n:].T, readout.T)


def exact_margin(weights: OperationWeights, table) -> arb:
    """The normalised margin by its definition, in rational numbers; the norm in balls."""
    u, v, w = ([[fmpq(*x.as_integer_ratio()) for x in row] for row in part.tolist()] for part in weights.parts)
    neurons = range(weights.width)
    differences = []
    for a, b in product(range(len(u)), range(len(v))):
        if table[a][b] == MISSING:
            continue
        outputs = [sum((u[a][i] + v[b][i]) ** 2 * row[i] for i in neurons) for row in w]
        differences += [outputs[table[a][b]] - other for c, other in enumerate(outputs) if c != table[a][b]]
    squares = [sum((row[i] ** 2 for part in (u, v, w) for row in part), start=fmpq(0)) for i in neurons]
    return arb(min(differences)) / sum(arb(square).sqrt() ** 3 for square in squares)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_margin_is_that_of_exact_arithmetic_up_to_its_rounding(seed, scale):
    random = np.random.default_rng(seed)
    table = random.integers(4, size=(3, 5))
    table[1, 2] = MISSING
    weights = OperationWeights(*(scale * random.normal(size=(size, 7)) for size in (3, 5, 4)))
    found = measured_margin(weights, table)
    assert abs(float(exact_margin(weights, table.tolist()) - arb(found.margin))) <= found.rounding
    assert found.rounding < 1e-12 * abs(found.margin)
    assert np.isnan(found.cell_margins[1, 2])
    assert found.right == np.mean(found.cell_margins[table != MISSING] > 0)


def test_the_rounding_error_of_cancelling_weights_is_seen():
    big = 1e9
    weights = OperationWeights(
        np.array([[big, big, 1.0], [0, 0, 1.0]]), np.zeros((1, 3)), np.array([[big, -big, 3e-7], [0, 0, 0.0]])
    )
    found = measured_margin(weights, [[0], [0]])
    exact = exact_margin(weights, [[0], [0]])
    assert abs(float(exact - arb(found.margin))) <= found.rounding
    assert found.rounding > abs(found.margin)


def test_what_underflows_is_in_the_rounding_error():
    tiny = 1.7e-160  # its square has four digits
    weights = OperationWeights(np.array([[tiny, tiny / 3]]), np.zeros((1, 2)), np.array([[1.0, 0.5], [0, 0.0]]))
    found = measured_margin(weights, [[0]])
    error = abs(exact_margin(weights, [[0]]) - arb(found.margin))
    assert error > 0
    assert error <= found.rounding


def test_a_margin_of_zero_is_not_right():
    weights = OperationWeights(np.array([[1.0], [0.0]]), np.zeros((1, 1)), np.array([[1.0], [0.0]]))
    assert measured_margin(weights, [[0], [0]]).right == 0.5


def test_the_deficit_holds_every_margin_and_every_maximum_within_their_bounds():
    random = np.random.default_rng(7)
    weights = OperationWeights(*random.normal(size=(3, 2, 3)))
    known = measured_margin(weights, [[0, 1], [1, 0]])
    widest = 0.0
    for margin, rounding in product([0.01, -0.02, 0.02, 1 / 3], [0.0, 1e-3]):
        for _ in range(25):
            lower = Fraction(
                int(random.integers(4 * 10**11, 8 * 10**11)), 10**12
            )  # decimals, which floats only approach
            upper = lower * Fraction(int(random.integers(100, 103)), 100)
            found = replace(known, margin=margin, rounding=rounding).deficit(float(lower), float(upper))
            ends = [
                1 - (Fraction(margin) + sign * Fraction(rounding)) / bound
                for sign in (-1, 1)
                for bound in (lower, upper)
            ]
            assert Fraction(found[0]) <= min(ends)
            assert max(ends) <= Fraction(found[1])
            widest = max(widest, float(min(ends) - Fraction(found[0])), float(Fraction(found[1]) - max(ends)))
    assert widest < 1e-14


@pytest.mark.parametrize("name", ["Z7", "S3", "Q8", "A4"])
def test_an_optimal_network_has_no_deficit_and_its_own_masses(name):
    certificate = lm.certify(name)
    weights = weights_of(lm.optimal_network(certificate))
    found = measured_margin(weights, certificate.group.to_finite_group().table)
    lower, upper = (float(end) for end in certificate.enclosure())
    least, largest = found.deficit(lower, upper)
    assert least <= 0 <= largest < 1e-11
    assert found.balanced == pytest.approx(found.margin, rel=1e-12)
    solution = certificate.solution
    assert solution is not None
    shares = representation_shares(weights, certificate.group, certificate.table)
    assert sum(entry.share for entry in shares) == pytest.approx(1, abs=1e-12)
    masses = dict(zip(solution.game.rows, solution.eps, strict=True))
    for entry in shares:  # the game has one row for a conjugate pair
        wanted = sum(float(masses.get(row, 0)) for row in entry.rows)
        assert entry.share == pytest.approx(wanted, abs=1e-10)


def test_a_perturbed_weight_costs_margin():
    certificate = lm.certify("S3")
    table = certificate.group.to_finite_group().table
    hidden, readout = lm.optimal_network(certificate).weights()
    lower, upper = (float(end) for end in certificate.enclosure())
    for part in (hidden, readout):
        part[0, 1] += 0.01
        weights = OperationWeights(hidden[:, :6].T, hidden[:, 6:].T, readout.T)
        assert measured_margin(weights, table).deficit(lower, upper)[0] > 1e-4
        part[0, 1] -= 0.01


def test_balancing_undoes_the_scaling_of_neurons():
    certificate = lm.certify("S3")
    table = certificate.group.to_finite_group().table
    weights = weights_of(lm.optimal_network(certificate))
    factors = np.random.default_rng(0).uniform(0.5, 2, weights.width)
    scaled = OperationWeights(weights.u * factors, weights.v * factors, weights.w / factors**2)
    found = measured_margin(scaled, table)
    assert found.margin < 0.9 * float(certificate.gamma)
    assert found.balanced == pytest.approx(float(certificate.gamma), rel=1e-12)


def test_the_worst_triple_and_the_cells_agree_with_the_compiled_evaluation():
    group = lm.certify("S4").group.to_finite_group()
    weights = OperationWeights(*np.random.default_rng(5).normal(size=(3, 24, 30)))
    found = measured_margin(weights, group.table)
    other = group_margins(weights.u.T, weights.v.T, weights.w.T, group)
    norm = (sum((part**2).sum(axis=0) for part in weights.parts) ** 1.5).sum()
    assert found.worst == other.argmin
    assert found.margin == pytest.approx(other.minimum / norm, rel=1e-12)
    assert np.nanmax(found.cell_margins) == pytest.approx(other.point_maximum / norm, rel=1e-12)
    assert np.nanmin(found.cell_margins) == found.margin


def test_shares_of_a_cyclic_group_are_those_of_frequencies():
    certificate = lm.certify("Z7")
    weights = OperationWeights(*np.random.default_rng(1).normal(size=(3, 7, 4)))
    energy = (np.abs(np.fft.fft(np.stack(weights.parts), axis=1)) ** 2).sum(axis=0) / 7
    total = energy.sum(axis=0)
    masses = total**1.5 / (total**1.5).sum()
    by_frequency = (energy / total) @ masses
    wanted = sorted([by_frequency[0], *(by_frequency[k] + by_frequency[-k] for k in (1, 2, 3))])
    shares = representation_shares(weights, certificate.group, certificate.table)
    assert sorted(entry.share for entry in shares) == pytest.approx(wanted, abs=1e-12)
    assert shares[0].share == pytest.approx(by_frequency[0], abs=1e-12)


def test_what_does_not_fit_is_refused():
    certificate = lm.certify("S3")
    weights = OperationWeights(*np.random.default_rng(1).normal(size=(3, 6, 4)))
    table = certificate.group.to_finite_group().table
    for bad in (table[1:], table + 1, np.full((6, 6), MISSING), table.astype(float)):
        with pytest.raises(ValueError, match="labels"):
            measured_margin(weights, bad)
    with pytest.raises(ValueError, match="the group has 7"):
        representation_shares(weights, lm.certify("Z7").group, lm.certify("Z7").table)
    found = measured_margin(weights_of(lm.optimal_network(certificate)), table)
    with pytest.raises(ValueError, match="no bound for this table"):
        found.deficit(0.02, 0.0236)
    with pytest.raises(ValueError, match="positive and in order"):
        found.deficit(0.03, 0.02)
