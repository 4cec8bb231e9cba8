"""`lemmata parity`."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from lemmata.certificates.saddle.parity import certify_parity
from lemmata.commands import parity
from tests.lemmata.commands.runner import run


def test_a_rejected_certificate_says_why(monkeypatch):
    certificate = certify_parity(3, 2)
    verdict = replace(certificate.verdict, violations=("(P) the smallest margin falls short",))
    monkeypatch.setattr(parity, "certify_parity", lambda n, k, exact: replace(certificate, verdict=verdict))
    code, output, _ = run("parity", "3", "2")
    assert code == 1
    assert "rejected: (P) the smallest margin falls short" in output
    assert "accepted" not in output


def test_parity():
    code, output, _ = run("parity", "4", "3")
    assert code == 0
    assert "Parity of the first 3 of 4 bits" in output
    assert "norm L_{2,4}" in output
    squared = Fraction(2 * 6**2, 4**4)  # theorem 7.8: 2 (k!)^2 / (k+1)^(k+1)
    assert f"gamma*^2 {squared} {float(squared):.12g}" in output
    assert "gap 0 exactly" in output


def test_parity_as_json():
    code, output, _ = run("parity", "4", "3", "--json")
    data = json.loads(output)
    assert code == 0
    assert data["accepted"] is True
    assert data["maximum_margin"]["decimal"] ** 2 == pytest.approx(2 * 6**2 / 4**4, rel=1e-12)
    assert data["attained"] == pytest.approx(data["bounded"], rel=1e-12)


def test_parity_of_many_bits_is_evaluated_in_floating_point():
    code, output, _ = run("parity", str(parity.LARGEST_EXACT_PARITY + 1), "2")
    assert code == 0
    assert "every input, floating-point" in output


@pytest.mark.parametrize(
    ("n", "k", "reason"),
    [("3", "5", "k = 5 and n = 3"), ("3", "0", "k = 0 and n = 3"), ("17", "2", "N = 17 exceeds 16")],
)
def test_parities_out_of_range_are_refused(n, k, reason):
    code, output, error = run("parity", n, k)
    assert code == 2
    assert output == ""
    assert reason in error
