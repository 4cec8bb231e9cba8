"""Forged documents of unseen cells that are consistent but for one false step: each breaks on the line it violates."""

import copy
from fractions import Fraction
from math import isqrt
from typing import Any

import pytest

from lemmata.certificates import operation_kernel
from tests.certificates.operation_documents import CYCLIC_3, certificate, unseen_document, verdict

Document = dict[str, Any]


def with_threshold(document: Document, threshold: Fraction) -> Document:
    """Another threshold, to nine places, and the bounds that would follow from it."""
    units = int(threshold * 10**9)
    document["threshold"] = f"0.{units:09d}"
    for part in document["parts"]:
        square = Fraction(4, 27) * Fraction(part["proof"]["t"]) * Fraction(part["proof"]["t_prime"])
        root = Fraction(isqrt(int(square * 10**40)) + 1, 10**20)
        gain = Fraction(units, 10**9) * Fraction(sum(part["multipliers"]), part["denominator"])
        part["bound"] = f"{float(gain - root):.12f}"[:-2]
    return document


def threshold_above_the_margin(document: Document) -> Document:
    """A claim about networks that need not exist."""
    return with_threshold(document, Fraction(document["threshold"]) * Fraction(1002, 1000))


def threshold_far_above(document: Document) -> Document:
    return with_threshold(document, Fraction(document["threshold"]) * 2)


def threshold_a_unit_below(document: Document) -> Document:
    """True, but not the closest decimal."""
    return with_threshold(document, Fraction(document["threshold"]) - Fraction(1, 10**9))


def smaller_epsilon(document: Document) -> Document:
    """The claim is about networks closer to the maximum than the threshold is."""
    document["epsilon"] = "1/2000"
    return document


def larger_epsilon(document: Document) -> Document:
    """The claim is about more networks than the threshold has."""
    document["epsilon"] = "1/500"
    return document


def filled_in(document: Document) -> Document:
    """The cell is given, with its true label."""
    (a, b), labels = document["cell"], document["table"]["labels"]
    document["table"]["values"][a][b] = document["label"]
    for part in document["parts"]:
        part["multipliers"] += [0] * (labels - 1)  # the last cell in lexicographic order
    return document


def another_cell_is_missing(document: Document) -> Document:
    """The cell is one that the network has learnt, and the multipliers stand on other triples."""
    (a, b), values = document["cell"], document["table"]["values"]
    values[a][b], values[0][0] = document["label"], -1
    document["cell"] = [0, 0]
    return document


def another_label(document: Document) -> Document:
    document["label"] = (document["label"] + 1) % document["table"]["labels"]
    if document["weights"] is not None:
        document["weights"] = [int(c != document["label"]) for c in range(document["table"]["labels"])]
    return document


def the_other_verdict(document: Document) -> Document:
    """The proofs for one verdict as proofs of the other."""
    labels, label = document["table"]["labels"], document["label"]
    if document["verdict"] == "right":
        document["verdict"], document["parts"] = "wrong", document["parts"][:1]
        document["weights"] = [0] * labels
        document["weights"][1 if label == 0 else 0] = 1
    else:
        document["verdict"], document["parts"] = "right", document["parts"] * (labels - 1)
        document["weights"] = None
    return document


def multipliers_on_wrong_triples(document: Document) -> Document:
    for part in document["parts"]:
        part["multipliers"].insert(0, part["multipliers"].pop())
    return document


def larger_multipliers(document: Document) -> Document:
    """More gain, with the proof of the old tensor."""
    for part in document["parts"]:
        part["multipliers"] = [q + q // 10 for q in part["multipliers"]]
    return with_threshold(document, Fraction(document["threshold"]))


def smaller_denominator(document: Document) -> Document:
    for part in document["parts"]:
        part["denominator"] -= part["denominator"] // 10
    return with_threshold(document, Fraction(document["threshold"]))


def proof_of_a_multiple(document: Document) -> Document:
    """t, t' and the matrix halved: a proof for half of the tensor."""
    for part in document["parts"]:
        proof = part["proof"]
        proof["t"], proof["t_prime"] = str(Fraction(proof["t"]) / 2), str(Fraction(proof["t_prime"]) / 2)
        proof["denominator"] *= 2
    return with_threshold(document, Fraction(document["threshold"]))


NOT_BELOW = "threshold: is not the closest decimal below 1 - epsilon times the margin of the network"
NO_PROOF = "parts[0].proof.matrix"
FORGERIES = [
    (threshold_above_the_margin, NOT_BELOW),
    (threshold_far_above, NOT_BELOW),
    (threshold_a_unit_below, NOT_BELOW),
    (smaller_epsilon, NOT_BELOW),
    (larger_epsilon, NOT_BELOW),
    (filled_in, "cell: is given in the table"),
    (another_cell_is_missing, "threshold: "),
    (another_label, NO_PROOF),
    (the_other_verdict, NO_PROOF),
    (multipliers_on_wrong_triples, NO_PROOF),
    (larger_multipliers, NO_PROOF),
    (smaller_denominator, NO_PROOF),
    (proof_of_a_multiple, NO_PROOF),
]


@pytest.mark.parametrize("name", ["right", "wrong"])
@pytest.mark.parametrize(("forge", "line"), FORGERIES, ids=lambda value: getattr(value, "__name__", ""))
def test_consistent_forgeries_break_on_the_line_that_they_violate(name, forge, line):
    status, found = verdict(forge(unseen_document(name)))
    assert (status, found[: len(line)]) == (1, line)


def one_network_twice(document: Document) -> Document:
    document["networks"][1] = copy.deepcopy(document["networks"][0])
    return document


def the_wrong_network_twice(document: Document) -> Document:
    document["networks"][0] = copy.deepcopy(document["networks"][1])
    return document


def exchanged(document: Document) -> Document:
    document["networks"].reverse()
    return document


def below_the_gap(document: Document) -> Document:
    """An epsilon below the distance of the networks from the maximum, with the threshold that belongs to it."""
    bound = certificate("partial").bound.proof.square
    epsilon = Fraction(1, 10**15)
    scaled = (1 - epsilon) ** 2 * bound * 10**40
    document["epsilon"], document["threshold"] = str(epsilon), f"0.{isqrt(int(scaled)) + 1:020d}"
    return document


def bound_of_another_table(document: Document) -> Document:
    """The bound of the whole table, which is another one than that of the partial table."""
    whole = certificate("plane").document
    document["upper"] = {"multipliers": whole["multipliers"][: -(CYCLIC_3.label_count - 1)], "proof": whole["proof"]}
    return document


def lower_threshold(document: Document) -> Document:
    document["threshold"] = document["threshold"][:-1] + str((int(document["threshold"][-1]) - 1) % 10)
    return document


@pytest.mark.parametrize(
    ("forge", "line"),
    [
        (one_network_twice, "networks[1]: is not wrong at the cell"),
        (the_wrong_network_twice, "networks[0]: is not right at the cell"),
        (exchanged, "networks[0]: is not right at the cell"),
        (below_the_gap, "networks[0]: has a margin below the threshold"),
        (bound_of_another_table, "upper.proof.matrix"),
        (lower_threshold, "threshold: is not the closest decimal above 1 - epsilon times the upper bound"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_two_networks_that_do_not_show_both(forge, line):
    status, found = verdict(forge(unseen_document("both")))
    assert (status, found[: len(line)]) == (1, line)


@pytest.mark.parametrize("name", ["right", "wrong", "both"])
@pytest.mark.parametrize("key", ["weights", "upper"])
def test_parts_that_a_verdict_does_not_need_are_null(name, key):
    document, other = unseen_document(name), unseen_document("wrong" if key == "weights" else "both")
    document[key] = other[key] if document[key] is None else None
    assert verdict(document) == (2, "weights must be null except for wrong, upper must be null except for both")


def test_a_bound_of_one_unit_is_above_zero():
    """At this epsilon the bounds are 0.0112 and 0.0110, and may be claimed to one digit; a bound of none is refused."""
    margin = Fraction(unseen_document("right")["threshold"]) * Fraction(1000, 999)
    epsilon = Fraction(1, 2000)
    document = with_threshold(unseen_document("right") | {"epsilon": str(epsilon)}, margin * (1 - epsilon))
    for bound, status in (("0.01", 0), ("0.0", 1), ("0.02", 1)):
        for part in document["parts"]:
            part["bound"] = bound
        assert verdict(document)[0] == status


@pytest.mark.parametrize(
    ("threshold", "root", "bound", "accepted"),
    [
        ("0.5", "0.25", "0.25", True),  # the square is that of a decimal: gain - root is the bound itself
        ("0.5", "0.25", "0.24", False),
        ("0.5", "0.25", "0.26", False),
        ("0.5", "0.25", "0.250", True),
        ("0.5", "0.25", "0.249", False),
        ("0.5", "0.4", "0.1", True),
        ("0.5", "0.24999", "0.25", True),
        ("0.5", "0.25001", "0.25", False),
        ("0.5", "0.25001", "0.24", True),
        ("0.5", "0.5", "0.0", False),  # nothing above zero is shown
        ("0.495", "0.001", "0.49", True),  # the next decimal is above the gain
        ("0.495", "0.001", "0.50", False),
        ("0.2", "0.3", "0.5", False),  # the square of gain - bound is large because it is negative
        ("0.2", "0.3", "0.1", False),
    ],
)
def test_bounds_are_the_closest_decimals_below(monkeypatch, threshold, root, bound, accepted):
    """One multiplier of 1 makes the gain the threshold; phi 2/(3 sqrt 3) is `root`, in place of what a proof shows."""
    document = unseen_document("right")
    document["threshold"] = threshold
    for part in document["parts"]:
        part.update(multipliers=[1] + [0] * (len(part["multipliers"]) - 1), denominator=1, bound=bound)
    monkeypatch.setattr(operation_kernel, "check_proof", lambda *_: Fraction(27, 4) * Fraction(root) ** 2)
    monkeypatch.setattr(operation_kernel, "check_threshold", lambda _: None)
    status, line = verdict(document)
    assert status == (0 if accepted else 1)
    assert accepted or line == "parts[0].bound: is not the closest decimal, above zero"
    exact = Fraction(threshold) - Fraction(root)
    step = Fraction(1, 10 ** len(bound.partition(".")[2]))
    assert accepted == (exact > 0 and Fraction(bound) == exact // step * step > 0)
