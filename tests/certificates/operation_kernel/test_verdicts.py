"""The corpus has the verdicts that follow from the description of the formats, and not only those of the kernel.

Documents are judged by `plain`, which shares nothing with the kernel. Where a limit is set, or a function is replaced
by one that gives a decimal, the verdict is written by hand.
"""

from collections import Counter
from fractions import Fraction
from itertools import count
from math import isqrt

import pytest

from lemmata.certificates import operation_kernel
from lemmata.numerics.exact.precision import precision
from tests.certificates.kernel_mutants import run
from tests.certificates.operation_documents import parity_document
from tests.certificates.operation_kernel.corpus import entries, matrices, networks
from tests.certificates.operation_kernel.plain import outputs, signature, status

BY_HAND = {
    "decimals None 0.25 0.50 0.5": 0,
    "decimals None 0.24 0.50 0.52": 1,
    "decimals None 0.25 0.51 0.51": 1,
    "decimals None 0.25 0.49 0.49": 1,
    "decimals None 0.26 0.50 0.48": 1,
    "decimals None 0.25 0.50 0.6": 1,
    "decimals None 0.25 0.50 0.4": 1,
    "decimals None 0.1 0.2 0.5": 0,
    "decimals None 0.1 0.1 0": 0,
    "decimals 1/4 0.25 0.25 0": 0,
    "decimals 1/4 0.24 0.25 0": 1,
    "decimals 1/4 0.26 0.26 0": 1,
    "decimals 1/4 0.25 0.26 0": 1,
    "MAX_TRIPLES 8": 0,  # four cells of two labels
    "MAX_TRIPLES 7": 2,
    "MAX_PRODUCTS 20": 0,  # two neurons, four triples and six coordinates
    "MAX_PRODUCTS 19": 2,
    "MAX_ORDER_CUBED 512": 0,  # a plane of two rows and two columns: 8^3
    "MAX_ORDER_CUBED 511": 2,
    "MAX_ROOT 6": 0,  # all coordinates are 1 or -1
    "MAX_ROOT 5": 2,
    "MAX_EXACT 294912": 0,  # 8^5 times the square of the three bits of 6
    "MAX_EXACT 294911": 1,  # a singular matrix is not shown to be semidefinite without elimination
    "MAX_SIDE 2": 0,
    "MAX_SIDE 1": 2,
    "MAX_COORDINATE 1": 0,
    "MAX_COORDINATE 0": 2,
    "MAX_INTEGER 6": 0,
    "MAX_INTEGER 5": 2,
    "MAX_LENGTHS 2": 0,
    "MAX_LENGTHS 1": 2,
    "MAX_TERMS 8": 0,
    "MAX_TERMS 7": 2,
    "MAX_ROOT 24": 0,
    "MAX_ROOT 23": 2,
    "apart, MAX_LENGTHS 2": 0,
    "apart, MAX_LENGTHS 1": 2,
    "apart, MAX_TERMS 8": 0,
    "apart, MAX_TERMS 7": 2,
    "apart, MAX_ROOT 24": 0,
    "apart, MAX_ROOT 23": 2,
    "apart, MAX_PRODUCTS 28": 0,
    "apart, MAX_PRODUCTS 27": 2,
    "plane without elimination": 0,  # rounded with room
    "partial without elimination": 0,
    "degree 4 without elimination": 0,
    "degree 6 without elimination": 0,
    "plane, t lowered with its matrix, no elimination": 1,
    "degree 4, t lowered with its matrix, no elimination": 1,
    "degree 6, t lowered with its matrix, no elimination": 1,
    "right, MAX_ORDER_CUBED 1024": 0,  # two planes of order 8
    "right, MAX_ORDER_CUBED 1023": 2,
    "right, MAX_ORDER_CUBED 512": 2,
    "right, MAX_ORDER_CUBED 511": 2,
    "wrong, MAX_ORDER_CUBED 3456": 0,  # one of order 12
    "wrong, MAX_ORDER_CUBED 3455": 0,
    "wrong, MAX_ORDER_CUBED 1728": 0,
    "wrong, MAX_ORDER_CUBED 1727": 2,
    "both, MAX_ORDER_CUBED 3456": 0,
    "both, MAX_ORDER_CUBED 3455": 0,
    "both, MAX_ORDER_CUBED 1728": 0,
    "both, MAX_ORDER_CUBED 1727": 2,
    "threshold 0.1 of 0.1": 0,
    "threshold 0.1 of 0.2": 1,
    "threshold 0.1 of 0.25": 1,
    "threshold 0.2 of 0.1": 1,
    "bound 0.25": 0,  # 0.5 - 0.25
    "bound 0.24": 1,
    "bound 0.26": 1,
    "bound 0.20": 1,
    "bound 0.1": 0,  # 0.5 - 0.4
    "bound 0.0": 1,  # 0.5 - 0.5
    "bound 0.49": 0,  # 0.495 - 0.001
    "bound 0.50": 1,
    "bound 0.5": 1,  # 0.2 - 0.3
    "margin 1/2": 0,
    "margin 1/3": 1,
    "three quarters": 0,
    "outputs ((0, 1), (-1, -1))": 1,  # the first must be above zero everywhere, the second below it somewhere
    "outputs ((1, 1), (0, 1))": 1,
    "outputs ((1, 2), (1, -1))": 0,
    "outputs ((2, -1), (-2, -1))": 1,
    "outputs ((1, 1), (-1, -1))": 0,
}
"""Verdicts of entries with limits or given values: 0 accepted, 1 not proved, 2 malformed or beyond the limits."""


@pytest.fixture(scope="module")
def corpus():
    return list(entries())


def test_documents_are_judged_as_the_formats_say(corpus):
    documents = [entry for entry in corpus if not entry[2]]
    judged = [status(document) for _, document, _ in documents]
    assert len(documents) > 2000
    assert min(Counter(judged)[one] for one in (0, 1, 2)) >= 50
    wrong = [
        (entry[0], expected, run(operation_kernel, entry))
        for entry, expected in zip(documents, judged, strict=True)
        if run(operation_kernel, entry)[0] != expected
    ]
    assert wrong == []


def test_limits_and_given_decimals_have_the_verdicts_written_by_hand(corpus):
    given = [entry for entry in corpus if entry[2]]
    assert {entry[0] for entry in given} == set(BY_HAND)
    assert len(given) == len(BY_HAND)
    assert {entry[0]: run(operation_kernel, entry)[0] for entry in given} == BY_HAND


def test_matrices_of_the_corpus_are_definite_by_the_signs_of_their_eigenvalues(monkeypatch):
    found = Counter()
    for matrix in matrices():
        _, zero, negative = signature(matrix)
        assert operation_kernel.eliminates(matrix, "x") == (negative == 0)
        positive = zero == negative == 0
        shown = operation_kernel.has_dominated_factor(matrix)
        assert positive or not shown
        if positive and max(row[-1] for row in matrix) < 1000:
            assert shown
        found[negative == 0, zero == 0, shown] += 1
        with monkeypatch.context() as patch:
            patch.setattr(operation_kernel, "EXTRA_BITS", 0)
            assert positive or not operation_kernel.has_dominated_factor(matrix)
    assert found[True, True, True] > 50
    assert found[False, True, False] > 5
    assert found[True, False, False] > 5


@pytest.mark.parametrize("bits", [3, 20, 400])
def test_networks_of_the_corpus_have_outputs_within_their_enclosures(monkeypatch, bits):
    monkeypatch.setattr(operation_kernel, "BITS", bits)
    for table, network in networks(operation_kernel):
        plain = {"values": table.values, "labels": table.labels}
        given = {"neurons": network.neurons, "masses": network.masses}
        enclosed = operation_kernel.enclosures(table, network, table.triples)
        with precision(600):
            means = outputs(plain, given, table.triples)
            for (low, high), mean in zip(enclosed, means, strict=True):
                for end, sign in ((low, 1), (high, -1)):
                    assert (mean * end.denominator - end.numerator) * sign >= 0
                most = sum(mass * max(map(abs, x)) ** 3 * 8 for x, mass in zip(*given.values(), strict=True))
                assert high - low <= Fraction(most, sum(network.masses) << bits)


def written(square: Fraction, least: Fraction, places: int) -> list[str]:
    """The closest decimals below `least` and above the root of a square, and their gap."""
    unit = Fraction(1, 10**places)
    low = least // unit
    high = next(n for n in count(max(0, isqrt(int(square / unit**2)) - 1)) if (n * unit) ** 2 >= square)
    gap = -(-(Fraction(high - low, high)) // unit)
    return [f"{n // 10**places}.{n % 10**places:0{places}}" for n in (low, high, gap)]


@pytest.mark.parametrize(
    ("t_prime", "accepted"), [("1/2", True), ("49/200", False), ("499999/1000000", False), ("51/100", False)]
)
def test_a_plane_has_half_of_t_beside_it_even_where_the_decimals_follow_another(t_prime, accepted):
    """The network is a poorer one, so that a lower bound from above contradicts nothing else: the margin is 2/3 of it.

    With masses 2 and 1 the second neuron alone serves two cells: 1/3 of 4 2 / 6^(3/2), which is sqrt(6)/9 2/3.
    """
    document = parity_document()
    document["network"]["masses"] = [2, 1]
    document["proof"]["t_prime"] = t_prime
    margin = Fraction(isqrt(6 * (2 * 10**30) ** 2), 27 * 10**30)
    low, high, gap = written(Fraction(4, 27) * Fraction(t_prime), margin, 6)
    document |= {"grade": "enclosed", "gap": gap, "margin": {"exact": None, "lower": low, "upper": high}}
    name = 'table of 2 rows, 2 columns and 2 labels called "addition mod 2"'
    proved = f"{name}, maximum margin from {low} to {high} (enclosed)"
    expected = (0, proved) if accepted else (1, "proof.t_prime: is not t/2")
    assert run(operation_kernel, ("", document, {})) == expected
