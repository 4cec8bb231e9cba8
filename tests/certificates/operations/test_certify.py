"""Certificates of the maximum margin of tables: both sides meet, and agree with what is known in other ways."""

from dataclasses import replace
from fractions import Fraction

import pytest

from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.operations.certify import OperationCertificate, certify_operation
from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from tests.certificates.operation_documents import COUNTEREXAMPLE, CYCLIC_3, certificate


def test_groups_of_small_order_have_the_universal_margin(effort):
    full = ("Z2", "Z3", "Z4", "Z2^2", "Z5", "Z6", "S3", "Z7", "Z8", "Z4xZ2", "Z2^3", "D4", "Q8")
    for name in effort.pick(quick=("Z4", "Z5"), full=full):
        lower, upper = (Fraction(decimal) for decimal in certify_group(parse_group(name)).enclosure(20))
        made = certify_operation(parse_operation(f"group:{name}"))
        assert made.lower <= upper, name
        assert lower <= made.upper, name
        assert made.gap < 1e-8, name
        assert made.advice == ()


@pytest.mark.parametrize(("name", "kind"), [("plane", "plane"), ("partial", "plane"), ("degree 4", "degree 4")])
def test_what_a_certificate_says(name, kind):
    made = certificate(name)
    assert isinstance(made, OperationCertificate)
    assert made.kind == kind
    assert made.grade == "enclosed"
    assert made.exact is None
    assert made.lower < made.upper
    assert made.gap >= float((made.upper - made.lower) / made.upper)
    assert made.cost > 0
    assert made.document["margin"]["lower"] in repr(made)
    assert made.line.endswith("(enclosed)")


def test_degree_4_leaves_the_gap_of_the_counterexample_and_says_so():
    made = certificate("degree 4")
    assert 4e-5 < made.gap < 5e-5
    assert any("take degree 6" in advice for advice in made.advice)
    assert not any("solver" in advice for advice in made.advice)


def test_degree_6_closes_it_without_being_asked():
    made = certify_operation(COUNTEREXAMPLE)
    assert made.kind == "degree 6"
    assert made.gap < 1e-6


def test_a_bad_network_is_told_from_a_bad_proof():
    made = certificate("plane")
    document = made.document | {"margin": made.document["margin"] | {"lower": "0.0780000000000"}, "gap": "0.0073"}
    worse = replace(made, document=document)
    assert worse.advice == ("the network may not be the best: take more starts or another seed",)
    loose = replace(made, relaxation=replace(made.relaxation, dual=made.relaxation.bound * 0.99), document=document)
    assert any("loses to the solver" in advice for advice in loose.advice)


def test_the_same_seed_gives_the_same_document():
    def again(seed):
        return certify_operation(CYCLIC_3, kind="plane", seed=seed).document

    assert again(3) == again(3)


def test_bounds_are_those_of_the_relaxation():
    made = certificate("plane")
    assert abs(float(made.upper) / relaxed_margin(CYCLIC_3).bound - 1) < 1e-8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": 5}, "of the kind plane, 4 or 6, not 5"),
        ({"kind": "plane"}, "at most three labels"),
        ({"kind": 4, "bits": 3}, "16 to 52 bits"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        certify_operation(COUNTEREXAMPLE if options["kind"] == "plane" else CYCLIC_3, **options)


def test_tables_of_more_symmetries_than_can_be_listed():
    """Nine labels without a cell can be permuted in 9! ways; the bounds meet all the same."""
    made = certify_operation(Operation.of([[0, 1]], labels=11))
    assert made.gap < 1e-8
