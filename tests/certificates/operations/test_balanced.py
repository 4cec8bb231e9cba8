"""Bounds by balanced multipliers: against known margins, in all six roles, and what the kernel refuses of documents."""

import json
from fractions import Fraction

import numpy as np
import pytest

from lemmata.certificates import kernel, operation_kernel
from lemmata.certificates.atlas.lookup import atlas_row
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.operations import balanced
from lemmata.certificates.operations.balanced import balanced_bound, balanced_document, is_balanced
from lemmata.certificates.operations.certify import certify_operation
from lemmata.certificates.operations.columns import best_network
from lemmata.certificates.operations.forms import residual
from lemmata.certificates.operations.programs import OperationProgramError, relaxed_margin
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.squares import random_latin_square, steiner_square


@pytest.mark.parametrize("name", ["Z3", "Z2xZ2", "Z5", "Z6", "S3", "Z7"])
def test_bounds_of_groups_are_their_margins(name):
    """Class functions are balanced weights, and degree 4 is exact for these groups."""
    bound = balanced_bound(parse_operation(name))
    gamma = float(certify_group(parse_group(name)).gamma)
    assert gamma < bound.proof.bound < gamma * (1 + 1e-4)
    assert min(bound.multipliers) > 0


@pytest.mark.parametrize("name", ["latin:5:reduced:1", "latin:6:reduced:226", "latin:6:reduced:54", "latin:7:steiner"])
def test_bounds_are_above_the_margins_of_the_atlas(name):
    """And next to them but for one, for which nothing balanced is optimal."""
    lower = float(atlas_row(name)["margin"][0])
    bound = balanced_bound(parse_operation(name)).proof.bound
    assert lower < bound < lower * 1.01
    assert (bound < lower * (1 + 1e-4)) == (name != "latin:6:reduced:226")


def test_degree_4_closes_the_gap_of_the_square_with_24_symmetries():
    """The margin that it encloses is inside of the row, whose upper bound is 0.04 % above it."""
    certificate = certify_operation(parse_operation("latin:7:reduced:1"))
    lower, upper = map(Fraction, atlas_row("latin:7:reduced:1")["margin"])
    assert (certificate.kind, certificate.grade) == ("degree 4", "enclosed")
    assert certificate.gap < 1e-6
    assert lower < certificate.lower <= certificate.upper < upper < certificate.lower * Fraction(10005, 10**4)


def test_a_bound_is_not_below_that_of_degree_4():
    table = parse_operation("latin:5:reduced:1")
    degree_4 = relaxed_margin(table, kind=4)
    assert degree_4.dual <= balanced_bound(table).proof.bound * (1 + 1e-6)


def test_one_proof_is_for_all_six_roles():
    """The tensor with its axes permuted is that of nonnegative multipliers, and no network of another role is above."""
    table = random_latin_square(5, 3)
    bound = balanced_bound(table)
    assert is_balanced(table, np.array(bound.multipliers))
    assert not is_balanced(table, np.arange(len(table.triples)))
    tensor = residual(table, np.array(bound.multipliers, np.int64))
    for axes in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0)):
        moved = tensor.transpose(axes)
        values = [[int(np.flatnonzero(line > 0)[0]) for line in plane] for plane in moved]  # one right label in a cell
        turned = Operation.of(values)
        weights = np.array([-moved[triple] for triple in turned.triples])
        assert (weights > 0).all()
        assert weights.sum() == sum(bound.multipliers)
        assert (residual(turned, weights) == moved).all()
        margin = best_network(turned, start_q=weights, rounds=4, starts=16).margin
        assert 0.5 * bound.proof.bound < margin < bound.proof.bound


def test_a_document_and_what_is_refused():
    document = balanced_document(steiner_square(7))
    assert operation_kernel.check(json.dumps(document).encode())
    upper = Fraction(document["margin"]["upper"])
    assert Fraction(atlas_row("latin:7:steiner")["margin"][0]) < upper < Fraction(18101, 10**6)
    for change in (
        lambda d: d["multipliers"].__setitem__(5, d["multipliers"][5] + 1000),
        lambda d: d["table"]["values"][1].__setitem__(0, d["table"]["values"][1][1]),
        lambda d: d["margin"].update(upper="0.0180"),
        lambda d: d["proof"]["matrix"][3].__setitem__(2, d["proof"]["matrix"][3][2] + 1),
    ):
        edited = json.loads(json.dumps(document))
        change(edited)
        with pytest.raises((kernel.ViolatedError, kernel.MalformedError)):
            operation_kernel.check(json.dumps(edited).encode())


def test_refusals(monkeypatch):
    for name in ("op:max:4", "op:a+b:2", "random:3x4:5:1"):
        with pytest.raises(ValueError, match="for Latin squares of an order from 3 on"):
            balanced_bound(parse_operation(name))
    monkeypatch.setattr(balanced, "STEPS", 2)
    with pytest.raises(OperationProgramError, match="ended with: limit of steps"):
        balanced_bound(parse_operation("op:a+b:3"))
