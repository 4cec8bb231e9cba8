"""Documents of operations: what they state, and what cannot be stated."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lemmata.certificates import operation_kernel
from lemmata.certificates.groups.format import write
from lemmata.certificates.operations.document import (
    exact_root,
    line_of,
    load,
    lower_margin,
    margin_document,
    threshold_below,
    unseen_right,
    unseen_wrong,
)
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.rounding import RoundedBound, RoundedProof, UnseenPart, rounded_part
from lemmata.numerics.operations.operation import Operation
from tests.certificates.operation_documents import (
    CYCLIC_3,
    certificate,
    parity_document,
    unseen_document,
    unseen_part,
    verdict,
)

PARITY = Operation.of([[0, 1], [1, 0]], name="addition mod 2")


def whole(*neurons: list[int], masses: list[Fraction]) -> OperationNetwork:
    """An exact network for two rows, two columns and two labels."""
    rows = np.array(neurons, object)
    return OperationNetwork(rows[:, :2], rows[:, 2:4], rows[:, 4:], np.array(masses, object))


BEST = whole([1, -1, 1, -1, 1, -1], [1, -1, -1, 1, -1, 1], masses=[Fraction(1, 2)] * 2)


def parity_bound() -> RoundedBound:
    """The proof of the document that is written by hand."""
    proof = parity_document()["proof"]
    P = np.zeros((8, 8), np.int64)
    for i, row in enumerate(proof["matrix"]):
        P[i, : i + 1] = P[: i + 1, i] = row
    return RoundedBound((1,) * 4, RoundedProof("plane", Fraction(1), Fraction(1, 2), 2, P, 0.0))


def test_the_document_written_by_hand_is_made_from_its_network_and_proof():
    root = exact_root(PARITY, BEST, parity_bound())
    assert root == (Fraction(1, 9), 6)
    assert margin_document(PARITY, BEST, parity_bound(), root=root) == parity_document()


def test_a_worse_network_has_no_exact_root_and_a_gap():
    worse = whole([1, -1, 1, -1, 1, -1], [1, -1, -1, 1, -1, 1], masses=[Fraction(1), Fraction(2)])
    assert exact_root(PARITY, worse, parity_bound()) is None
    document = margin_document(PARITY, worse, parity_bound(), digits=5)
    assert document["margin"] == {"exact": None, "lower": "0.18144", "upper": "0.27217"}
    assert document["gap"] == "0.34"
    assert verdict(document)[0] == 0


@pytest.mark.parametrize("digits", [1, 2, 7, 30, 60])
def test_decimals_are_the_closest_ones(digits):
    document = margin_document(PARITY, BEST, parity_bound(), digits=digits)
    assert verdict(document)[0] == 0
    low, high = (Fraction(document["margin"][side]) for side in ("lower", "upper"))
    assert low**2 < Fraction(6, 81) < high**2
    places = len(document["margin"]["lower"].partition(".")[2])
    assert places == digits
    assert high - low == Fraction(1, 10**places)


def test_masses_are_made_integers():
    scaled = whole([1, -1, 1, -1, 1, -1], [2, -2, -2, 2, -2, 2], masses=[Fraction(3, 7), Fraction(3, 7)])
    document = margin_document(PARITY, scaled, parity_bound())
    assert document["network"]["masses"] == [3, 3]
    assert verdict(document)[0] == 0
    long = whole([1, -1, 1, -1, 1, -1], [1, -1, -1, 1, -1, 1], masses=[Fraction(10**30 + 1), Fraction(10**30)])
    document = margin_document(PARITY, long, parity_bound())
    assert max(document["network"]["masses"]) == 2**60
    assert verdict(document)[0] == 0


def test_lower_margins_are_those_of_the_network_to_400_bits():
    made = certificate("partial")
    other = made.network.lower_margin(made.table, bits=500)
    assert 0 < other - lower_margin(made.table, made.network) < Fraction(1, 2**250)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (whole([1, -1, 1, -1, -1, 1], masses=[Fraction(1)]), "which is not positive: it proves nothing"),
        (whole([10**13, -1, 1, -1, 1, -1], masses=[Fraction(1)]), "does not fit the format of certificates: network"),
        (BEST.floats(), "needs a network of integers; this one is in floats"),
    ],
)
def test_networks_that_prove_nothing_are_refused(network, message):
    with pytest.raises(ValueError, match=message):
        margin_document(PARITY, network, parity_bound())


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1), Fraction(-1, 2)])
def test_epsilon_is_between_0_and_1(epsilon):
    with pytest.raises(ValueError, match="Epsilon must be between 0 and 1"):
        threshold_below(PARITY, BEST, epsilon)


def test_the_threshold_is_rounded_down():
    assert threshold_below(PARITY, BEST, Fraction(1, 10), digits=4) == "0.2449"  # of .244948974


def test_a_part_that_proves_nothing_at_the_threshold_is_refused():
    """Multipliers for the label 1 as the true one, which is wrong on addition mod 3, do not prove it right."""
    made = certificate("partial")
    g = float(Fraction(threshold_below(made.table, made.network, Fraction(1, 1000))))
    part = unseen_part(made.table, (2, 2), 1, [1, 0, 1], -1, g, "plane")
    assert part.bound(g) < 0
    with pytest.raises(ValueError, match="The multipliers prove nothing at the margin"):
        unseen_right(made.table, (2, 2), 1, Fraction(1, 1000), made.network, [part, part])


def test_the_bound_of_a_part_is_the_gain_less_the_bound_of_its_proof():
    part = UnseenPart((3, 1, 0, 0), 2, parity_bound().proof)
    assert part.bound(0.5) == pytest.approx(0.5 * 2 - 6**0.5 / 9, rel=1e-14)


def test_what_networks_have_at_the_cell_is_above_the_bound():
    """The network of the certificate is one of those that the bound is about."""
    document = unseen_document("wrong")
    made = certificate("partial")
    outputs = made.network.outputs()[2, 2]
    assert 0 < float(document["parts"][0]["bound"]) <= (outputs[0] + outputs[2]) / 2 - outputs[1]
    document = unseen_document("right")
    outputs = certificate("three labels").network.outputs()[1, 1]
    for part, c in zip(document["parts"], (1, 2), strict=True):
        assert 0 < float(part["bound"]) <= outputs[0] - outputs[c]


@pytest.mark.parametrize(
    ("cell", "weights", "sign", "message"),
    [
        ((0, 0), [1, 0, 1], 1, "is given in the table"),
        ((2, 2), [1, 1, 1], 1, "must be 3 nonnegative integers, 0 at the true label 1"),
        ((2, 2), [0, 0, 0], 1, "must be 3 nonnegative integers"),
        ((2, 2), [1, 0], 1, "must be 3 nonnegative integers"),
        ((2, 2), [1, 0, 1], 0, "the sign 1 or -1"),
    ],
)
def test_parts_that_fit_no_cell_are_refused(cell, weights, sign, message):
    table = CYCLIC_3.without([(2, 2)])
    with pytest.raises(ValueError, match=message):
        rounded_part(table, cell, 1, weights, sign, np.ones(16), "plane", np.eye(12), 1.0, 0.5)


def test_files(tmp_path):
    file = tmp_path / "certificate.json"
    write(parity_document(), file)
    assert load(file) == parity_document()
    assert operation_kernel.check(file.read_bytes()) == line_of(parity_document())
    for text in ("{", "[]", '{"format": "lemmata/group-margin"}'):
        file.write_text(text)
        with pytest.raises(ValueError, match="is no certificate of an operation"):
            load(file)


def test_a_false_document_has_no_line():
    document = parity_document()
    document["margin"]["upper"] = "0.272165526974"
    with pytest.raises(ValueError, match=r"The kernel refuses the certificate: margin\.upper"):
        line_of(document)


def test_wrong_weights_are_not_those_of_the_part():
    made = certificate("partial")
    g = float(Fraction(threshold_below(made.table, made.network, Fraction(1, 1000))))
    part = unseen_part(made.table, (2, 2), 1, [1, 0, 1], 1, g, "plane")
    document = unseen_wrong(made.table, (2, 2), 1, Fraction(1, 1000), made.network, [1, 0, 2], part)
    assert verdict(document)[0] == 1
    lowered = replace(part, proof=replace(part.proof, t=part.proof.t * (1 - Fraction(1, 10**6))))
    document = unseen_wrong(made.table, (2, 2), 1, Fraction(1, 1000), made.network, [1, 0, 1], lowered)
    assert verdict(document)[0] == 1
