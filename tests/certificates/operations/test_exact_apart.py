"""Exact optima in quadratic fields, against the margins of their networks in floats and another program."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from lemmata.certificates import kernel, operation_kernel
from lemmata.certificates.coq.source import coq_file
from lemmata.certificates.operations.apart import ApartNetwork
from lemmata.certificates.operations.certify import certify_operation
from lemmata.certificates.operations.columns import best_network
from lemmata.certificates.operations.document import margin_document
from lemmata.certificates.operations.exact_apart import apart_solution
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from tests.certificates.operation_documents import apart_document, verdict

EXACT = {
    "0/1": ("1/3*sqrt(2)", 3),
    "00/11": ("2/9*sqrt(3)", 2),
    "001/001": ("2/15*sqrt(5)", 30),
    "000/001/010": ("8/123*sqrt(6)", 1),
    "001/001/110": ("4/51*sqrt(6)", 1),
}
"""Margins, and the roots of the fields of their neurons."""


def table_of(text: str) -> Operation:
    return Operation.of([[int(label) for label in row] for row in text.split("/")])


@pytest.mark.parametrize("text", EXACT)
def test_optima_in_quadratic_fields_are_exact(text):
    exact, root = EXACT[text]
    made = certify_operation(table_of(text))
    assert (made.grade, made.exact, made.gap, made.advice) == ("exact", exact, 0, ())
    assert verdict(made.document)[0] == 0
    assert (made.document["version"], made.document["network"]["root"]) == (2, root)
    coefficient, _, under = exact.removesuffix(")").partition("*sqrt(")
    value = float(Fraction(coefficient)) * int(under) ** 0.5
    assert made.network.floats().margin(made.table) == pytest.approx(value, rel=1e-12)
    relaxed = relaxed_margin(made.table)  # of the plane, another program than that of the proof
    assert relaxed.dual * (1 - 1e-8) < value < relaxed.bound * (1 + 1e-8)


def test_without_apart_the_margin_is_enclosed():
    made = certify_operation(table_of("00/11"), apart=False)
    assert (made.document["version"], made.grade) == (1, "enclosed")


def test_whole_neurons_stay_in_version_1():
    made = certify_operation(table_of("01/10"))
    assert (made.document["version"], made.exact) == (1, "1/9*sqrt(6)")


def test_another_square_leads_nowhere():
    table = table_of("00/11")
    found = best_network(table, symmetries=operation_symmetries(table))
    assert apart_solution(found, Fraction(4, 27)) is not None
    for square in (Fraction(4, 26), Fraction(4, 27) + Fraction(1, 10**9), Fraction(1)):
        assert apart_solution(found, square) is None


def test_floats_have_the_shares_of_the_definition():
    """Two neurons of one field: x = (1 + sqrt 2, 0; 1), and x = (0, 1; 1) with p = 3 - 2 sqrt 2."""
    whole = [[[1, 0, 1], [1, 0, 0], [1, -1]], [[0, 1, 1], [0, 0, 0], [-2, 2]]]
    x, beside, w = (np.array([neuron[part] for neuron in whole], object) for part in range(3))
    numbers = np.array([[Fraction(1, 2), Fraction(0)], [Fraction(3), Fraction(-2)]], object)
    unit = ApartNetwork(2, 2, x, beside, w, numbers).floats()
    first = 0.5 * ((1 + 2**0.5) ** 2 + 1)
    second = (3 - 2 * 2**0.5) * 2
    assert unit.masses == pytest.approx([first / (first + second), second / (first + second)])
    assert unit.squares() == pytest.approx([1, 1])
    assert (unit.w**2).sum(axis=1) == pytest.approx([1 / 3, 1 / 3])
    assert unit.u[0, 0] / unit.v[0, 0] == pytest.approx(1 + 2**0.5)


def test_an_enclosed_margin_needs_whole_neurons():
    made = certify_operation(table_of("00/11"))
    with pytest.raises(ValueError, match="for exact margins alone"):
        margin_document(made.table, made.network, made.bound)


def test_a_larger_margin_with_a_true_bound_is_refused_by_the_network():
    """t and its matrix are raised together, and all decimals with them: the network alone does not follow."""
    document = apart_document()
    proof, size = document["proof"], len(document["network"]["neurons"][0][0])
    t, unit = Fraction(proof["t"]), proof["denominator"]
    larger = t * Fraction(101, 100) ** 2
    scale = 10_000 * t.denominator
    proof["matrix"] = [[entry * scale for entry in row] for row in proof["matrix"]]
    proof["denominator"], proof["t"] = unit * scale, str(larger)
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    for place, (i, j) in enumerate(pairs):
        proof["matrix"][place][place] += int((larger - t) * unit * scale) * (1 if i == j else 2)
    square = Fraction(4, 27) * larger * Fraction(proof["t_prime"])
    places = 10**12
    low = isqrt(int(square * places**2))
    document["margin"] = {
        "exact": "101/450*sqrt(3)",
        "lower": f"0.{low:012}",
        "upper": f"0.{low + 1:012}",
    }
    status, line = verdict(document)
    assert (status, line) == (1, "network: at cell (0, 0) and label 1 it is below margin.exact")


def test_coq_refuses_the_version_by_name():
    with pytest.raises(ValueError, match=r"a document of version 2, with x and w apart"):
        coq_file(apart_document())


def test_roots_are_simplified_once_for_each_length(monkeypatch):
    """A number near 10^10 takes 10^5 divisions: with all triples and lengths that a file may have, minutes."""
    document = apart_document()
    for i, (_, _, w) in enumerate(neurons := document["network"]["neurons"]):
        neurons[i][2] = [(10_007 + i) * z for z in w]  # the same neuron, as another length of w
    table = operation_kernel.Operation(document["table"])
    asked = []
    square_part = kernel.square_part
    monkeypatch.setattr(kernel, "square_part", lambda a: asked.append(a) or square_part(a))
    network = operation_kernel.ApartNetwork(document["network"], "network", table)
    large = [a for a in asked if a > 10**6]
    assert sorted(large) == sorted({3 * square for square in network.squares})
    asked.clear()
    assert all(network.total(table, *triple) for triple in table.triples)
    assert not asked
    assert verdict(document)[0] == 0


def test_a_radical_is_one_of_two_numbers():
    assert operation_kernel.radical(3, -2, 8) == {1: 3, 2: -4}
    assert operation_kernel.radical(3, -2, 4) == kernel.plus({}, {1: Fraction(-1)})
    assert operation_kernel.radical(0, 0, 5) == {}
