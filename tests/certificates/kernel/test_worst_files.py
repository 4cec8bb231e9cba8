"""Legal files that cost the kernel much are decided, and what bounds their cost is counted before it is spent.

`tests/benchmarks/bench_worst_files.py` measures the large files of the same families.
"""

import json
from itertools import pairwise

import pytest

from lemmata.certificates import kernel
from tests.certificates.documents import margin_document, verdict
from tests.certificates.kernel import worst
from tests.certificates.kernel.worst import WORST
from tests.certificates.permutations import closure


@pytest.mark.parametrize("name", WORST)
def test_small_files_of_each_family_are_decided(name):
    """The constructors make what they promise: valid documents, but for those with a lie."""
    data = WORST[name].small()
    expected = {0: None, 1: kernel.ViolatedError, 2: kernel.MalformedError}[WORST[name].status]
    if expected is None:
        assert kernel.check(data).startswith("group of order ")
    else:
        with pytest.raises(expected):
            kernel.check(data)


def test_terms_that_vanish_change_no_verdict_and_are_no_zeros():
    """The values of the inflated tables are those of the plain ones, in other terms; one term off is a lie."""
    plain, long = worst.abelian([2, 2], 12), worst.longest(worst.abelian([2, 2], 12))
    assert plain.rows != long.rows
    packing = kernel.Packing(12, 10**9)
    for row, other in zip(plain.rows, long.rows, strict=True):
        for x, y in zip(row, other, strict=True):
            assert packing.times_z(x) == packing.times_z(y)
    document = worst.document(long)
    document["characters"]["rows"][1]["values"][1][0][0] += 1
    assert verdict(document) == 1


# ---- coefficients


@pytest.mark.parametrize("values", [1_000_001, -1_000_001, [[1, 0], [1_000_000, 1]], [[-500_000, 0], [500_001, 2]]])
def test_coefficients_are_limited_together(values):
    with pytest.raises(
        kernel.MalformedError, match=r"x (must be an integer from -1000000|has coefficients of over 1000000)"
    ):
        kernel.cyclotomic_integer(values, "x", 3)


def test_coefficients_up_to_the_limit_are_read():
    assert kernel.cyclotomic_integer(-1_000_000, "x", 3) == {0: -1_000_000}
    assert kernel.cyclotomic_integer([[-500_000, 0], [500_000, 2]], "x", 3) == {0: -500_000, 2: 500_000}


# ---- generators


def test_only_generators_that_enlarge_the_group_are_used():
    """S_4 from transpositions, with products of earlier ones in between: the same elements, three generators."""
    chain = [(1, 0, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2)]
    document = kernel.Document(margin_document("S4"))
    document.generators = [
        chain[0],
        (0, 1, 2, 3),
        chain[0],
        chain[1],
        (1, 2, 0, 3),
        (2, 1, 0, 3),
        chain[2],
        (1, 2, 3, 0),
    ]
    elements, needed = kernel.check_order(document)
    assert needed == chain
    assert elements == closure(chain)
    for smaller, larger in pairwise([chain[:1], chain[:2], chain]):
        assert 2 * len(closure(smaller)) <= len(closure(larger))


@pytest.mark.parametrize("order", [12, 23])
def test_a_group_larger_than_claimed_is_refused_after_any_generator(order):
    document = kernel.Document(margin_document("S4"))
    document.order = order
    for generators in ([(1, 2, 3, 0), (1, 0, 2, 3)], [(1, 0, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2)]):
        document.generators = generators
        with pytest.raises(kernel.ViolatedError, match=rf"group\.order: the group has more than {order} elements"):
            kernel.check_order(document)


def test_a_group_smaller_than_claimed_is_refused():
    document = kernel.Document(margin_document("S4"))
    document.generators = [(1, 0, 2, 3), (0, 2, 1, 3)]
    with pytest.raises(kernel.ViolatedError, match=r"group\.order: the group has 6 elements"):
        kernel.check_order(document)


# ---- work


def test_work_is_counted_and_limited(monkeypatch):
    packing = kernel.Packing(30, 1000)
    bits = packing.bits
    root = max(x for x in range(bits) if x * x <= bits)
    assert kernel.limited_work(packing, 7, 0, 0, 0, 9) == 7
    assert kernel.limited_work(packing, 7, 3, 0, 0, 9) == 7 + 3 * bits * root
    assert kernel.limited_work(packing, 7, 0, 5, 0, 9) == 7 + 100 * bits
    assert kernel.limited_work(packing, 7, 0, 0, 11, 9) == 7 + 11 * 2500 * 59
    total = kernel.limited_work(packing, 7, 3, 5, 11, 9)
    monkeypatch.setattr(kernel, "MAX_WORK", total)
    assert kernel.limited_work(packing, 7, 3, 5, 11, 9) == total
    with pytest.raises(kernel.MalformedError, match=f"beyond the limit of {total} units of work"):
        kernel.limited_work(packing, 8, 3, 5, 11, 9)


@pytest.mark.parametrize("name", ["S4", "Z9", "D4xS3"])
def test_what_is_computed_is_counted(name, monkeypatch):
    """Products of elements, and of packed numbers and sums of them, against a count while the kernel runs."""
    counted = []
    limited = kernel.limited_work
    totals = [0]

    def counting(packing, work, *parts):
        assert work == totals[-1]  # it adds up
        counted.append(parts)
        totals.append(limited(packing, work, *parts))
        return totals[-1]

    monkeypatch.setattr(kernel, "limited_work", counting)
    steps = {"permutations": 0, "found": 0, "calls": []}

    class Counting(kernel.Counter):
        def __init__(self, classes):
            listed = list(classes)
            super().__init__(listed)
            steps["permutations"] += len(listed)
            steps["found"] += len(self)
            steps["calls"].append(len(counted))

    monkeypatch.setattr(kernel, "Counter", Counting)
    data = json.dumps(margin_document(name)).encode()
    kernel.check(data)
    document = kernel.Document(json.loads(data))
    K = len(document.sizes)
    chosen = len(steps["calls"]) // K
    terms = K**2 + sum(len(x) for row in document.characters for x in row)
    assert [parts[:2] for parts in counted[::2]] == [(K**2, 2 * terms)] + [(0, parts[1]) for parts in counted[2::2]]
    assert {parts[2] for parts in counted[::2]} == {0}
    assert len(counted) == 1 + 2 * chosen
    before = counted[1::2]  # of each class that separates, before its products are formed
    assert all(parts[:2] == (K**2, terms + K**2) for parts in before)
    assert sum(parts[2] for parts in before) == steps["permutations"]
    assert {parts[3] for parts in before} == {len(document.representatives[0])}
    assert sum(parts[1] for parts in counted[2::2]) == K * steps["found"]
    assert steps["calls"] == [2 + 2 * i for i in range(chosen) for _ in range(K)]  # counted first, then computed


def test_work_beyond_the_limit_is_refused_before_it_is_done(monkeypatch):
    data = json.dumps(margin_document("S4")).encode()
    kernel.check(data)
    monkeypatch.setattr(kernel, "MAX_WORK", 1000)
    monkeypatch.setattr(kernel, "separating_classes", lambda *_: pytest.fail("The work had to be refused before."))
    with pytest.raises(kernel.MalformedError, match="beyond the limit of 1000 units of work"):
        kernel.check(data)
