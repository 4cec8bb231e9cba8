"""Forged documents of operations of three arguments: none is accepted that an independent judge refuses."""

import random
from collections import Counter

import pytest

from tests.certificates.ternary_kernel.documents import NAMES, document, verdict
from tests.certificates.ternary_kernel.forgeries import FORGED
from tests.certificates.ternary_kernel.plain import claim_is_possible, proves

SEED = 20261130


@pytest.mark.parametrize("name", NAMES)
def test_the_judge_and_the_kernel_accept_what_is_written(name):
    assert verdict(document(name))[0] == 0
    assert proves(document(name))
    assert claim_is_possible(document(name))


def test_forgeries_are_refused(effort):
    """Full: more than 2,000 of them. An edit may leave the document true; then the judge says so."""
    count = effort.pick(quick=180, full=4500)
    source = random.Random(SEED)
    seen: Counter[tuple[bool, int]] = Counter()
    refused: Counter[str] = Counter()
    for i in range(count):
        value, edit = document(source.choice(NAMES)), FORGED[i % len(FORGED)]
        edit(value, source)
        status, line = verdict(value)
        truth = proves(value)
        seen[truth, status] += 1
        refused[edit.__name__] += not truth
        assert truth == (status == 0), f"{edit.__name__}: {line}"
    assert seen[False, 1] + seen[False, 2] > 0.4 * count, seen
    assert seen[False, 1] > 0.25 * count, seen
    assert seen[True, 0] > 0.1 * count, seen
    assert min(refused[edit.__name__] for edit in FORGED if edit.__name__ not in ("edit_scale", "edit_neuron")) > 0
