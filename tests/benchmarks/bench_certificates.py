"""Speed of exact certificates of groups: by themselves, beside a solver of convex programs, and beside training.

The times of small groups are taken after the start-up (imports, compiled kernels), but the first time that each group
is seen, so that nothing of it is cached. Ratios compare runs that alternate within one process.
"""

from collections.abc import Callable, Iterable
from functools import partial
from statistics import median
from time import perf_counter
from typing import TypeVar

import cvxpy
import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.certificates.characters.tables import CharacterTable
from lemmata.certificates.game.margin_game import MarginGame, solve
from lemmata.certificates.game.rational import RationalGame
from lemmata.certificates.groups.certify import GroupMarginCertificate, certify_group
from lemmata.constructions.networks.inputs import group_inputs
from lemmata.numerics.groups.lists import named_groups
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.margins.ascent import ascend_from_random

Result = TypeVar("Result")
LARGEST_ORDER = 63


def certified(name: str) -> GroupMarginCertificate:
    """Generators, classes, character table, exact optimal pair, and whether it is unique."""
    return certify_group(parse_group(name))


def exact_value(table: CharacterTable) -> float:
    """The exact optimal pair of the game on a character table; its value in floating point."""
    return float(solve(RationalGame(table, 2)).value)


def cvxpy_value(table: CharacterTable) -> float:
    """The value of the same game from cvxpy, with its default solver."""
    payoff = MarginGame(table).payoff()
    eps, value = cvxpy.Variable(len(payoff), nonneg=True), cvxpy.Variable()
    problem = cvxpy.Problem(cvxpy.Maximize(value), [payoff.T @ eps >= value, cvxpy.sum(eps) == 1])
    problem.solve()
    return float(problem.value)


def timed(function: Callable[..., Result], *arguments: object) -> tuple[float, Result]:
    """Seconds and result of a call."""
    start = perf_counter()
    result = function(*arguments)
    return perf_counter() - start, result


def milliseconds(seconds: Iterable[float]) -> str:
    """The median."""
    return f"{1e3 * median(seconds):.1f} ms"


@pytest.fixture(scope="module")
def small_groups() -> tuple[str, ...]:
    """The groups of order 2 to 63 that have a name, after the start-up of everything that is measured."""
    table = certified("S3").table
    exact_value(table)
    cvxpy_value(table)
    return named_groups(LARGEST_ORDER).names


def test_small_groups_beside_cvxpy(
    benchmark: BenchmarkFixture, small_groups: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Certificates from the name on; then the game alone, from the same character table, exactly and by cvxpy."""
    whole, exact, convex, errors = {}, {}, {}, []
    for name in small_groups:
        whole[name], certificate = timed(certified, name)
        assert certificate.grade == "exact"
        exact[name], value = timed(exact_value, certificate.table)
        convex[name], other = timed(cvxpy_value, certificate.table)
        errors.append(abs(other / value - 1))
    slowest = max(whole, key=whole.__getitem__)
    typical = sorted(whole, key=whole.__getitem__)[len(whole) // 2]
    with capsys.disabled():
        print(
            f"\n{len(whole)} groups of order 2 to {LARGEST_ORDER}: whole certificate {milliseconds(whole.values())} "
            f"(median; slowest {1e3 * whole[slowest]:.0f} ms, {slowest}), game alone exactly "
            f"{milliseconds(exact.values())}, by cvxpy {milliseconds(convex.values())} with errors up to "
            f"{max(errors):.0e}\n"
            f"median ratios: exact game / cvxpy {median(exact[name] / convex[name] for name in exact):.2f}, "
            f"whole certificate / cvxpy {median(whole[name] / convex[name] for name in whole):.2f}"
        )
    benchmark(certified, typical)


@pytest.mark.parametrize(("name", "width"), [("S3", 36), ("Z6", 28), ("D4", 44), ("Q8", 76)])
def test_small_groups_beside_gradient_ascent(
    benchmark: BenchmarkFixture, name: str, width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """One random start, twice as wide as the optimal network: a lower bound without a proof that it is the maximum."""
    certificate = certified(name)
    finite = certificate.group.to_finite_group()
    inputs = group_inputs(finite.order).astype(float)
    exact, climb = [], []
    for seed in range(3):
        exact.append(timed(certified, name)[0])
        climb_once = partial(ascend_from_random, starts=1, seed=seed)
        seconds, found = timed(climb_once, inputs, finite.table.reshape(-1), finite.order, 2, width)
        climb.append((seconds, found.margin / float(certificate.gamma)))
    ratio = median(seconds for seconds, _ in climb) / median(exact)
    with capsys.disabled():
        print(
            f"\n{name}: one gradient ascent / exact certificate: {ratio:.0f} times as long; it reached "
            f"{', '.join(f'{share:.6f}' for _, share in climb)} of the maximum margin"
        )
    assert max(share for _, share in climb) < 1 + 1e-12
    benchmark(certified, name)


@pytest.mark.parametrize("name", ["S7", "M11", "M12"])
def test_large_groups(benchmark: BenchmarkFixture, name: str) -> None:
    """The exact solution from the generators on; M12 has order 95040."""
    certificate = benchmark.pedantic(certified, (name,), rounds=3, warmup_rounds=1)
    assert certificate.grade == "exact"
    assert np.isfinite(float(certificate.gamma))
