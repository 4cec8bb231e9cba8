"""Speed of the programs of tables beside a plain program in CVXPY and without symmetry; of symmetries and forms."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.certificates.operations.programs import relaxed_margin
from lemmata.numerics.operations.classes import canonical_form
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from tests.certificates.plain_program import plain_margin

DRAWN = Operation.of(np.random.default_rng(0).integers(0, 4, (4, 4)).tolist(), labels=4, name="4 x 4 drawn")


@pytest.mark.parametrize("name", ["drawn", "op:max:4", "op:mul:5", "op:a^2+b^2:5"])
def test_a_table_beside_the_plain_program(
    name: str, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """The upper bound with symmetry, without, and by the plain program, in one run on the same machine."""
    table = DRAWN if name == "drawn" else parse_operation(name)
    relaxed_margin(table)  # compiles
    symmetries = operation_symmetries(table)
    found = benchmark.pedantic(lambda: relaxed_margin(table, symmetries=symmetries), rounds=3)
    times = []
    for action in (lambda: relaxed_margin(table).bound, lambda: plain_margin(table)):
        start = perf_counter()
        value = action()
        times.append(perf_counter() - start)
        assert value == pytest.approx(found.bound, rel=1e-5)
    with capsys.disabled():
        print(
            f"\n{table.name}: {benchmark.stats.stats.min:.3f} s with {symmetries.order} symmetries, {times[0]:.3f} s "
            f"without, {times[1]:.3f} s plain; relative slack {(found.bound - found.dual) / found.bound:.0e}"
        )


@pytest.mark.parametrize("name", ["op:mul:7", "op:a^2+b^2:7", "op:mul:11", "op:mul:13"])
def test_larger_tables(name: str, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables of order 7 to 13, where a plain program takes minutes and gigabytes, or does not fit."""
    table = parse_operation(name)
    symmetries = operation_symmetries(table)
    found = benchmark.pedantic(lambda: relaxed_margin(table, symmetries=symmetries), rounds=1)
    assert 0 <= found.bound - found.dual < 1e-7 * found.bound
    with capsys.disabled():
        print(f"\n{table.name}: {benchmark.stats.stats.min:.3f} s, Gram matrix of order {len(found.matrix)}")


@pytest.mark.parametrize(
    "name", ["Z13", "Z2^3", "Z2^4", "op:mul:13", "op:a^2+b^2:13", "conj:S3", "latin:13:1", "random:12x12:3:1"]
)
def test_symmetries(name: str, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """All symmetries by generators, with the order of the group and the orbits of triples."""
    table = parse_operation(name)
    found = benchmark.pedantic(lambda: operation_symmetries(table), rounds=3, warmup_rounds=1)
    with capsys.disabled():
        print(
            f"\n{name}: {benchmark.stats.stats.min:.3f} s, {found.order} symmetries by {len(found.generators)} "
            f"generators, {found.triple_orbits().max() + 1} orbits of {len(table.triples)} triples"
        )


@pytest.mark.parametrize("name", ["Z13", "op:mul:13", "latin:13:1", "random:12x12:3:1"])
def test_canonical_forms(name: str, benchmark: BenchmarkFixture) -> None:
    """The form that is the same for all tables of a class."""
    table = parse_operation(name)
    form = benchmark.pedantic(lambda: canonical_form(table), rounds=3, warmup_rounds=1)
    assert form == canonical_form(form)
