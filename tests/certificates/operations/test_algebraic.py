"""Exact margins in number fields: recognised from enclosures, and not where there is nothing to recognise."""

import json
from typing import Any

import numpy as np
import pytest

from lemmata.certificates.atlas.committed import atlas_document, atlas_rows
from lemmata.certificates.atlas.lookup import atlas_row
from lemmata.certificates.operations.algebraic import algebraic_document
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.numerics.operations.operation import Operation


def recognised(name: str, **options: Any) -> dict[str, Any] | None:
    """What is found from the enclosure of a table in the atlas."""
    enclosed = json.loads(atlas_document(atlas_row(name)))
    table = Operation.of(enclosed["table"]["values"], labels=enclosed["table"]["labels"], name=name)
    neurons = np.array(enclosed["network"]["neurons"], float)
    A, N = table.rows, table.size
    masses = np.array(enclosed["network"]["masses"], float)
    network = OperationNetwork(neurons[:, :A], neurons[:, A:N], neurons[:, N:], masses)
    return algebraic_document(table, enclosed["multipliers"], network, **options)


def committed(name: str) -> dict[str, Any]:
    return json.loads(atlas_document(atlas_row(f"{name} exactly")))


@pytest.mark.parametrize("name", ["00/01", "01/23"])
def test_small_tables_are_recognised_again(name):
    """Also with less precision: the kernel has accepted what is returned."""
    found = recognised(name, bits=[1500])
    assert found is not None
    assert found["margin"] == committed(name)["margin"]


def test_neurons_with_outputs_of_small_integers():
    """Where best neurons form circles that no symmetry meets in points, such outputs are looked for."""
    found = recognised("001/112/220", bits=[1500])
    assert found is not None
    assert found["margin"] == committed("001/112/220")["margin"]


@pytest.mark.parametrize("name", [row["name"].removesuffix(" exactly") for row in atlas_rows("exact")])
def test_all_exact_margins_are_found_again(name, effort):
    """From the enclosures of the atlas, at the precision that is the default."""
    if effort.pick(quick=True, full=False):
        pytest.skip("minutes together: at --effort full")
    found = recognised(name)
    assert found is not None
    assert found["margin"] == committed(name)["margin"]
    assert found["table"]["values"] == committed(name)["table"]["values"]


def test_a_margin_of_large_degree_is_not_recognised():
    """Its degree is 26: no polynomial of degree 16 fits, however many bits there are."""
    assert recognised("00/12", bits=[1500, 1800]) is None
