"""Neurons and evaluators of the library against the definitions, for the lemmas whose proofs are on paper.

The written proofs (proofs/modular-addition.md, proofs/sparse-parity.md, proofs/homogeneous-networks.md) decide the
statements for all parameters; here the neurons that the library builds and the averages that it evaluates are compared
with the definitions, summed point by point.
"""

from __future__ import annotations

from itertools import product
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.certificates.saddle.pair import parity_task
from lemmata.certificates.saddle.parity import parity_bound
from lemmata.constructions.groups.cyclic import modular_addition_network
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_blocks, group_inputs
from lemmata.constructions.parity.max_margin import sparse_parity_network
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, rational, root_of_unity
from lemmata.numerics.margins.evaluation import expected_parity_margins
from lemmata.theorems.evidence import check, proof_steps


def _expected_margin(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> Any:
    """E psi' of one neuron for addition modulo n by its definition, uniform q and tau, in the neuron's own numbers."""
    n = len(u)
    total: Any = 0
    for a, b in product(range(n), repeat=2):
        right = w[(a + b) % n]
        total = total + (u[a] + v[b]) ** 2 * (right - fmpq(1, n - 1) * (sum(w) - right))
    return total / (n * n)


@check(
    "feature-emergence:lemma-D.6.1b",
    grade="exact",
    target="printed",
    cases="p = 3, 5, 7: all neurons of the networks with 8 and 6 neurons for each frequency",
)
@proof_steps("modular-addition.md: 8")
@pytest.mark.parametrize("p", [3, 5, 7])
@pytest.mark.parametrize("per_frequency", [8, 6])
def test_every_neuron_of_the_network_is_optimal(p: int, per_frequency: int) -> None:
    """Each attains the bound exactly, by the definition, and its spectra are p/2 at +-z alone, with aligned phases.

    The amplitude is 1 and the squared norm 3p/2, so that p/2 stands for the printed sqrt(p/6) of a unit neuron.
    """
    network = modular_addition_network(p, per_frequency, exact=True)
    F = np.array([[root_of_unity(-j * k, p) for k in range(p)] for j in range(p)], dtype=object)
    used = set()
    for u, v, w in zip(*group_blocks(network), strict=True):
        norm = sum(u * u) + sum(v * v) + sum(w * w)
        value = _expected_margin(u, v, w)
        assert norm == network.norm_squared == fmpq(3 * p, 2)
        assert value > 0
        assert value * value == fmpq(2, 27 * p * (p - 1) ** 2) * fmpq(3 * p, 2) ** 3
        spectra = [F @ block for block in (u, v, w)]
        (support,) = {tuple(j for j in range(p) if spectrum[j] != 0) for spectrum in spectra}
        z = support[0]
        assert support == (z, p - z)
        assert all(spectrum[z] * spectrum[z].conjugate() == fmpq(p * p, 4) for spectrum in spectra)
        assert spectra[0][z] * spectra[1][z] * spectra[2][z].conjugate() == fmpq(p**3, 8)
        used.add(z)
    assert used == set(range(1, (p + 1) // 2))


@check(
    "feature-emergence:identity-7.1",
    grade="exact",
    target="corrected",
    cases="p = 3, 5, 7, 11: the neurons of each frequency alone, all a, b, c",
)
@proof_steps("modular-addition.md: 1")
@pytest.mark.parametrize("p", [3, 5, 7, 11])
def test_the_neurons_of_one_frequency_answer_a_plus_b(p: int) -> None:
    """The six neurons of a frequency k have their only largest logit at c = a + b, for all a, b."""
    network = modular_addition_network(p, 6, exact=True)
    for k in range(1, (p + 1) // 2):
        block = slice(6 * (k - 1), 6 * k)
        alone = HomogeneousNetwork(
            network.hidden[block], network.readout[block], network.masses[block], 2, network.norm_squared
        )
        outputs = alone.raw(group_inputs(p)).reshape(p, p, p)
        for a, b in product(range(p), repeat=2):
            largest = max(outputs[a, b].tolist())
            assert [c for c in range(p) if outputs[a, b, c] == largest] == [(a + b) % p]


@check(
    "feature-emergence:lemma-D.7a",
    grade="exact",
    target="printed",
    cases="n = 1, ..., 4, every support, all u in {-1, 0, 1, 2}^n, three readouts",
)
@proof_steps("sparse-parity.md: 2")
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_evaluator_of_parity_gives_the_product_of_the_weights(n: int) -> None:
    """E psi = k! prod_S u (w_0 - w_1): integers below 2^53, so that the floating-point average over 2^n is exact."""
    hidden = np.array(list(product((-1, 0, 1, 2), repeat=n)))
    for bits in range(1, 2**n):
        support = tuple(j for j in range(n) if bits >> j & 1)
        k = len(support)
        for first, second in ((1, 0), (0, 1), (2, -1)):
            values = expected_parity_margins(hidden, np.tile([first, second], (len(hidden), 1)), k, support)
            expected = factorial(k) * hidden[:, list(support)].prod(axis=1) * (first - second)
            assert np.array_equal(values, expected)


@check(
    "feature-emergence:lemma-D.7a",
    grade="exact",
    target="printed",
    cases="k = 1, ..., 4, n = k, k + 1: all neurons of the explicit network",
)
@proof_steps("sparse-parity.md: 3")
@pytest.mark.parametrize(("n", "k"), [(n, k) for k in range(1, 5) for n in (k, k + 1)])
def test_every_neuron_of_the_parity_network_attains_the_bound(n: int, k: int) -> None:
    """E psi by the definition, over all 2^n inputs, is sqrt 2 k! (k + 1)^(-(k+1)/2) once the norm is divided out."""
    network, task = sparse_parity_network(n, k, exact=True), parity_task(n, tuple(range(k)))
    for u, w in zip(network.hidden, network.readout, strict=True):
        total: Any = rational(0)
        for x, label in zip(task.inputs.tolist(), task.labels.tolist(), strict=True):
            power = sum((a * b for a, b in zip(u, x, strict=True)), start=fmpq(0)) ** k
            total = total + (w[label] - w[1 - label]) * power
        value = total / 2**n
        assert value > 0
        assert value * value == fmpq((k + 1) ** (k + 1)) * parity_bound(k) ** 2
        assert parity_bound(k) ** 2 == fmpq(2 * factorial(k) ** 2, (k + 1) ** (k + 1))
        squared = sum(entry * entry for entry in u) + sum((entry * entry for entry in w), start=rational(0))
        assert squared == network.norm_squared == k + 1
        assert isinstance(value, Cyclotomic)
        assert prod(u[:k]) * w[0] > 0


@check(
    "feature-emergence:remark-D.5",
    grade="numeric",
    target="printed",
    cases="nu = 3, b = 1, 2, 4, 5, 6; three copies of an optimal neuron with norms in {0, ..., 4}",
)
@pytest.mark.parametrize("b", [1, 2, 4, 5, 6])
def test_norms_of_the_neurons_of_a_network(b: int) -> None:
    """Parity of two signs: E g = c sum z_i^3 from the outputs of the network whose weights have the norms z_i.

    At given sum z_i^b it is largest exactly for one neuron (b < 3) or for equal norms (b > 3).
    """
    task, c = parity_task(2, (0, 1)), fmpq(1, 2)
    points = range(len(task.labels))
    for norms in product(range(5), repeat=3):
        if not any(norms):
            continue
        network = HomogeneousNetwork(
            np.array([[1, 1]] * 3, dtype=object),
            np.array([[1, -1]] * 3, dtype=object),
            np.array([z**3 for z in norms], dtype=object),
            2,
            4,
        )
        outputs = network.raw(task.inputs) * fmpq(1, 8)
        value = sum((outputs[x, task.labels[x]] - outputs[x, 1 - task.labels[x]] for x in points), fmpq(0)) / len(
            points
        )
        hidden, readout = network.weights()
        np.testing.assert_allclose(np.sqrt(np.sum(np.c_[hidden, readout] ** 2, axis=1)), norms, rtol=1e-14)
        power = sum(z**b for z in norms)
        if b < 3:
            bound, optimal = (c**b) * power**3, sum(z > 0 for z in norms) == 1
        else:
            bound, optimal = (c**b) * 3 ** (b - 3) * power**3, len(set(norms)) == 1
        assert value**b <= bound
        assert (value**b == bound) == optimal
