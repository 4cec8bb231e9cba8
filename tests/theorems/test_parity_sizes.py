"""`lemmata.theorems.hidden_progress.sizes`: least sizes, planted faults, bad input."""

import math
from dataclasses import replace

import pytest
from flint import fmpq

from lemmata.numerics.parity.sgd_sizes import top_coefficient
from lemmata.theorems.hidden_progress.sizes import MlpSizes, audit, printed_sizes, repaired_sizes


def _demands(n: int, k: int, epsilon: float, width: int) -> tuple[float, float, float, float]:
    """Missing levels, batch, distance and steps in floats, from the formulas of the proof."""
    half = (n - 1) // 2
    xi = math.exp(math.lgamma(n) - 2 * math.lgamma(half + 1) - (n - 1) * math.log(2))
    xi *= math.comb(half, (k - 2) // 2) / math.comb(n - 1, k - 2)
    failure = epsilon / (64 * k**2 * n)
    log = math.log(2 * (k + 1) / failure)
    tau = xi / (16 * k * math.sqrt(2 * n * log))
    root = math.sqrt(2 * n * log)
    missing = (k + 1) * (1 - 2.0 ** (1 - k) / (2 * k - 1)) ** (width / 2)
    distance = tau / xi * (1 + 1 / k) + (tau / xi / k + (k - 1) / (2 * k * (n - k))) * root
    batch = 2 / tau**2 * math.log(4 * n * width / (epsilon / 8))
    return missing, batch, distance, (16 * k**1.5 * math.sqrt(width) * n * 4 / epsilon) ** 2


@pytest.mark.parametrize(("k", "epsilon"), [(4, fmpq(1, 10)), (6, fmpq(1, 3))])
def test_sizes_and_demands_equal_the_formulas_in_floats(k: int, epsilon: fmpq) -> None:
    """Relative error 1e-6; rounding errs by about 1e-8, from the logarithms of factorials of a million."""
    sizes, eps = repaired_sizes(k, epsilon), int(epsilon.p) / int(epsilon.q)
    n, r = sizes.n, sizes.width

    def room(inputs: int) -> float:
        return inputs - 160 * k**4 * math.log(2 * (k + 1) * 64 * k**2 * inputs / eps)

    assert n % 2 == 1
    assert room(n - 2) < 0 <= room(n)
    assert r % 2 == 0
    assert r - 2 < (2 * k - 1) * 2**k * math.log(8 * (k + 1) / eps) <= r
    missing, batch, distance, steps = _demands(n, k, eps, r)
    assert sizes.batch == pytest.approx(batch, rel=1e-6)
    assert sizes.steps == pytest.approx(steps, rel=1e-6)
    demands = audit(sizes)
    assert [float(d.value) for d in demands] == pytest.approx([missing, batch, distance, steps], rel=1e-6)
    allowed = [eps / 8, batch, 1 / (8 * k**2), steps]
    assert [float(d.allowed) for d in demands] == pytest.approx(allowed, rel=1e-6)


def test_printed_sizes_equal_the_formulas_in_floats() -> None:
    k, n, eps = 4, 1001, 0.1
    sizes = printed_sizes(k, fmpq(1, 10), n)
    assert sizes.width - 2 < k * 2**k * math.log(8 * k / eps) <= sizes.width
    assert sizes.steps == 2**9 * k**3 * sizes.width * n**2 * 100
    logs = math.log(128 * k**3 * n / eps) * math.log(32 * n * sizes.width / eps)
    assert sizes.batch == pytest.approx(2**8 * k ** (7 / 6) * n * math.comb(n, k - 1) * logs, rel=1e-12)


@pytest.mark.parametrize("field", ["width", "batch", "steps"])
def test_slightly_smaller_sizes_are_refused(field: str) -> None:
    sizes = repaired_sizes(4, fmpq(1, 10))
    smaller = replace(sizes, **{field: getattr(sizes, field) * 9 // 10})
    failed = {demand.name for demand in audit(smaller) if demand.failed}
    assert field in failed
    assert audit(replace(sizes, steps=sizes.steps - 1))[-1].failed
    assert audit(replace(sizes, batch=sizes.batch - 1))[1].failed


def test_a_smaller_number_of_inputs_is_refused() -> None:
    sizes = repaired_sizes(4, fmpq(1, 10))
    assert audit(replace(sizes, n=sizes.n // 4 | 1))[2].failed


@pytest.mark.parametrize(("k", "epsilon"), [(2, fmpq(1, 10)), (5, fmpq(1, 10)), (4, fmpq(1, 2)), (4, 0), (4, -1)])
def test_bad_input(k: int, epsilon: object) -> None:
    with pytest.raises(ValueError, match="must be"):
        repaired_sizes(k, epsilon)


@pytest.mark.parametrize(
    ("n", "k", "width", "message"),
    [
        (100, 4, 10, "odd and above"),
        (5, 6, 10, "odd and above"),
        (101, 3, 10, "coefficients of majority of the even orders"),
        (101, 4, 11, "neurons come in pairs"),
        (101, 4, 0, "positive"),
    ],
)
def test_sizes_that_no_run_can_have(n: int, k: int, width: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MlpSizes(n, k, fmpq(1, 10), width, 10, 10)
    if width == 10:
        with pytest.raises(ValueError, match=message):
            top_coefficient(n, k)


def test_bad_number_of_inputs() -> None:
    with pytest.raises(ValueError, match="odd and above"):
        printed_sizes(4, fmpq(1, 10), 100)
    with pytest.raises(ValueError, match="odd and above"):
        printed_sizes(4, fmpq(1, 10), 3)
