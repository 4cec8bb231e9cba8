"""Margins of explicit networks on all inputs: certified where the masses are optimal, smaller where they are not.

Edits that change no verdict: the size of the blocks in which inputs are evaluated.
"""

import pytest

from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.saddle.attainment import attained_margin
from lemmata.certificates.saddle.optimal_network import network_numbers, optimal_network
from lemmata.numerics.groups.names import parse_group


@pytest.mark.parametrize(("name", "factors"), [("Q8", 2), ("SL(2,3)", 2), ("S3", 3), ("Z4", 3), ("Q8", 3), ("Z2", 6)])
def test_the_network_attains_the_margin_within_its_rounding_bound(name, factors):
    certificate = certify_group(parse_group(name), factors)
    assert certificate.solution is not None
    group, network = optimal_network(certificate.group, certificate.solution)
    attainment = attained_margin(network, group)
    gamma = float(certificate.gamma)
    assert abs(attainment.margin - gamma) <= min(attainment.rounding, 1e-12 * gamma)
    assert attainment.inputs == group.order**factors
    assert network_numbers(certificate.solution) == network.hidden.size + network.readout.size


def test_other_masses_do_not_attain_it():
    certificate = certify_group(parse_group("S3"), 3)
    group, network = optimal_network(certificate.group, certificate.solution)
    masses = network.masses.copy()
    masses[0] *= 1 + 1e-8
    network = type(network)(network.hidden, network.readout, masses, network.degree, network.norm_squared)
    attainment = attained_margin(network, group)
    assert float(certificate.gamma) - attainment.margin > 10 * attainment.rounding
