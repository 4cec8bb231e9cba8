"""`lm.certify` and what follows from a certificate."""

import json
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

import lemmata as lm
from lemmata.certificates.game.closed_form_report import closed_form_report
from lemmata.certificates.groups.certify import certify_group
from lemmata.numerics.groups.names import parse_group


def test_a_group_is_certified_in_every_form_alike():
    s3 = certify_group(parse_group("S3"))
    table = lm.groups.symmetric(3).table
    forms = (
        "S3",
        "perm:(1,2,3);(1,2)",
        [(1, 2, 0), (1, 0, 2)],
        np.array([(1, 2, 0), (1, 0, 2)]),
        table,
        table.tolist(),
        lm.groups.symmetric(3),
        lm.groups.PermutationGroup(((1, 2, 0), (1, 0, 2))),
    )
    for form in forms:
        certificate = lm.certify(form)
        assert certificate.group.order == 6
        assert certificate.gamma == s3.gamma
    assert lm.certify((1, 2, 3, 0)).gamma == lm.certify("Z4").gamma  # one permutation
    assert lm.certify([[0, 1], [1, 0]]).gamma == lm.certify("Z2").gamma
    assert lm.certify("S3", 3).factors == 3
    assert lm.certify("S3", 3).gamma != s3.gamma


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("S_", "There is no group named"),
        ([(1, 2, 0), (1, 0)], "rows have different lengths"),
        ([(1, 2, 0), (1, 0, 0)], "is not a permutation"),
        ([[0, 1, 2], [1, 0, 2], [2, 1, 0]], "read as a Cayley table, and this one is none"),
        ([[1, 2, 0], [1, 0, 2], [0, 1, 2]], "better given as one text, such as 'perm:"),
        ("ctbl", "There is no group named"),
        ([[0.5]], "A group is a name such as 'S3'"),
        ([], "A group is a name such as 'S3'"),
        (3, "A group is a name such as 'S3'"),
        ([0], "all the identity"),
    ],
)
def test_what_is_no_group_is_refused_with_what_is_accepted(form, message):
    with pytest.raises(ValueError, match=message):
        lm.certify(form)


def test_the_limit_and_the_number_of_factors_are_checked():
    with pytest.raises(ValueError, match="above the limit of 100"):
        lm.certify("S5", limit=100)
    with pytest.raises(ValueError, match="factors"):
        lm.certify("S3", 1)


def test_the_kernel_accepts_certificates_documents_and_files(tmp_path):
    certificate = lm.certify("Q8")
    document = lm.document_of(certificate)
    file = tmp_path / "with: valid: q8.json"
    lm.save(certificate, file)
    assert json.loads(file.read_bytes()) == document
    lm.save(document, tmp_path / "same.json")
    assert (tmp_path / "same.json").read_bytes() == file.read_bytes()
    for form in (certificate, document, file, str(file)):
        verdict = lm.check(form)
        assert verdict
        assert (verdict.status, verdict.exit_status) == ("valid", 0)
        assert verdict.reason.startswith('group of order 8 called "Q8", 2 factors, maximum margin from 0.01237')


def test_the_kernel_refuses_what_is_false_malformed_or_missing(tmp_path):
    document = lm.document_of(lm.certify("Q8"))
    document["classes"][2]["size"] = 3
    false = lm.check(document)
    assert not false
    assert (false.status, false.exit_status) == ("invalid", 1)
    assert false.reason.startswith("classes[2].size: ")
    document["group"]["order"] = 8.0
    malformed = lm.check(document)
    assert (bool(malformed), malformed.status, malformed.exit_status) == (False, "malformed", 2)
    assert lm.check(tmp_path / "missing" / "none.json").reason == "No such file or directory"
    file = Path(tmp_path / "ä.json")
    file.write_text("{")
    assert lm.check(file).status == "malformed"


def test_the_closed_form_is_compared_without_solving_again():
    for name in ("S3", "PSL(2,7)"):
        certificate = lm.certify(name)
        report, reference = lm.closed_form(certificate), closed_form_report(certificate.table)
        assert report.closed_form == reference.closed_form
        assert (report.sums == reference.sums).all()
        assert report.holds == reference.holds == (name == "S3")
        assert report.gamma == certificate.gamma


@pytest.mark.parametrize(("name", "factors"), [("Q8", 2), ("S3", 3)])
def test_the_optimal_network_attains_the_maximum(name, factors):
    certificate = lm.certify(name, factors)
    attainment, network = lm.attained_margin(certificate), lm.optimal_network(certificate)
    assert attainment.width == network.width
    assert attainment.inputs == certificate.group.order**factors
    assert 0 < attainment.rounding < 1e-10 * attainment.margin
    assert abs(attainment.margin - float(certificate.gamma)) <= attainment.rounding + np.spacing(attainment.margin)


def test_the_regularisation_path_ends_at_the_zero_network():
    certificate = lm.certify("S3")
    limit = lm.penalty_limit(certificate)
    below, above = lm.regularisation_path(certificate, ["1e-7", 2 * float(limit)])
    assert below.normalised_margin == pytest.approx(0.98048531 * float(certificate.gamma), rel=1e-7)
    assert below.used == (0, 1)
    assert not above.masses.any()
    three = lm.certify("S3", 3)
    [optimum] = lm.regularisation_path(three, [fmpq(1, 10**6)])
    assert optimum.game.factors == 3
