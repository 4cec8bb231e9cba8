"""`numerics.parity_sizes`: least sizes, planted faults, bad input."""

from dataclasses import replace

import pytest
from flint import fmpq

from numerics.parity_sizes import audit, printed_sizes, repaired_sizes


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


def test_bad_number_of_inputs() -> None:
    with pytest.raises(ValueError, match="odd and above"):
        printed_sizes(4, fmpq(1, 10), 100)
    with pytest.raises(ValueError, match="odd and above"):
        printed_sizes(4, fmpq(1, 10), 3)
