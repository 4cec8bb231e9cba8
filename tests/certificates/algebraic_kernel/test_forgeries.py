"""Forged documents of algebraic margins: none is accepted that an independent judge refuses, and true ones are."""

import random
from collections import Counter

import pytest

from tests.certificates.algebraic_kernel.documents import SMALL, document, verdict
from tests.certificates.algebraic_kernel.forgeries import FORGED, TRUE
from tests.certificates.algebraic_kernel.plain import proves

SEED = 20261128


@pytest.mark.parametrize("name", SMALL)
def test_the_judge_and_the_kernel_accept_what_is_committed(name):
    assert proves(document(name))
    assert verdict(document(name))[0] == 0


def test_forgeries_are_refused(effort):
    """Full: more than 2,000 of them. An edit may leave the document true; then the judge says so."""
    count = effort.pick(quick=52, full=3200)
    source = random.Random(SEED)
    seen: Counter[tuple[bool, int]] = Counter()
    refused: Counter[str] = Counter()
    for i in range(count):
        value, edit = document(source.choice(SMALL)), FORGED[i % len(FORGED)]
        edit(value, source)
        status, line = verdict(value)
        truth = proves(value)
        seen[truth, status] += 1  # the kernel may refuse what is true: without vectors of the kernel, or in few bits
        refused[edit.__name__] += not truth
        assert truth or status, f"{edit.__name__}: {line}"
    forged = seen[False, 1] + seen[False, 2]
    assert forged > 0.6 * count, seen
    assert seen[False, 1] > 0.25 * count, seen
    assert len(refused) == len(FORGED), refused
    assert effort.name == "quick" or min(refused.values()) > 0, refused  # four tries of each may all leave it true


def test_edits_that_leave_the_claim_true_are_accepted(effort):
    source = random.Random(SEED)
    for i in range(effort.pick(quick=8, full=200)):
        value = document(source.choice(SMALL))
        TRUE[i % len(TRUE)](value, source)
        assert proves(value)
        assert verdict(value)[0] == 0, TRUE[i % len(TRUE)].__name__
