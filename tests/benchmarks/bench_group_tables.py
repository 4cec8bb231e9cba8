"""Certificates of groups beside the character tables of GAP, as ratios of processor times within one run.

Each group is certified, written as a document, turned into bytes and checked by the kernel, all in this process and
after the start-up of everything that is measured. Where the optional extra ``gap`` is installed, GAP makes the
character table of the same group (`Irr`), and the ratio is printed; elsewhere only the times are. No time is asserted:
machines differ, and ratios are for reading.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.certificates import kernel
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.format import dumps
from lemmata.numerics.groups.lists import named_groups, small_groups
from lemmata.numerics.groups.names import gap_available, gap_interpreter, parse_group
from lemmata.numerics.groups.permutations import PermutationGroup

LARGEST_ORDER = 63
STAGES = ("group", "certificate", "document", "kernel")


def stages(name: str) -> tuple[PermutationGroup, list[float]]:
    """The group, and the seconds of each stage from its name to the verdict of the kernel."""
    times = [process_time()]
    group = parse_group(name)
    times.append(process_time())
    certificate = certify_group(group)
    times.append(process_time())
    data = dumps(document_of(certificate))
    times.append(process_time())
    kernel.check(data)
    times.append(process_time())
    return group, [end - start for start, end in pairwise(times)]


def gap_table_seconds(group: PermutationGroup) -> float:
    """The seconds that GAP takes for the irreducible characters of a permutation group that it has not seen."""
    gap = gap_interpreter()
    images = [[image + 1 for image in g] for g in group.generators]
    fresh = gap.Group([gap.PermList(g) for g in images])
    start = process_time()
    gap.Irr(gap.CharacterTable(fresh))
    return process_time() - start


def gap_library_seconds(names: Sequence[str]) -> float:
    """The seconds that GAP takes for the irreducible characters of groups of its library, as it holds them."""
    gap = gap_interpreter()
    fresh: list[Any] = [gap.SmallGroup(*map(int, name.removeprefix("small:").split(","))) for name in names]
    start = process_time()
    for group in fresh:
        gap.Irr(gap.CharacterTable(group))
    return process_time() - start


def report(title: str, ours: Sequence[list[float]], theirs: float | None) -> str:
    """The sums over groups by stage, and the ratio to GAP."""
    sums = [sum(times) for times in zip(*ours, strict=True)]
    parts = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in zip(STAGES, sums, strict=True))
    beside = "GAP is not installed" if theirs is None else f"GAP {theirs:.2f} s, ratio {sum(sums) / theirs:.1f}"
    return f"\n{title}: {sum(sums):.2f} s ({parts}); character tables by {beside}"


def measured(names: Sequence[str], theirs: Callable[[list[PermutationGroup]], float]) -> tuple[Any, float | None]:
    """The stages of every group, and the seconds of GAP where it is there."""
    stages("S3")  # start-up
    results = [stages(name) for name in names]
    if not gap_available():
        return [times for _, times in results], None
    gap_table_seconds(parse_group("S3"))
    return [times for _, times in results], theirs([group for group, _ in results])


def test_named_groups(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    names = named_groups(LARGEST_ORDER).names
    ours, theirs = measured(names, lambda groups: sum(map(gap_table_seconds, groups)))
    with capsys.disabled():
        print(report(f"{len(names)} groups of order 2 to {LARGEST_ORDER} by name", ours, theirs))
    benchmark.pedantic(stages, ("Z63",), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("name", ["M11", "S7", "Z63", "PSL(2,47)"])
def test_single_groups(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """PSL(2, 47) has no document: its characters need roots of unity beyond the limit."""
    if name == "PSL(2,47)":
        benchmark.pedantic(lambda: certify_group(parse_group(name)), rounds=3, warmup_rounds=1)
        return
    ours, theirs = measured([name], lambda groups: gap_table_seconds(groups[0]))
    with capsys.disabled():
        print(report(name, ours, theirs))
    benchmark.pedantic(stages, (name,), rounds=3, warmup_rounds=1)


if gap_available():

    def test_the_small_groups_library(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
        names = small_groups(LARGEST_ORDER).names
        ours, theirs = measured(names, lambda _: gap_library_seconds(names))
        with capsys.disabled():
            print(report(f"All {len(names)} groups of order 2 to {LARGEST_ORDER}", ours, theirs))
        benchmark.pedantic(stages, (names[-1],), rounds=3, warmup_rounds=1)
