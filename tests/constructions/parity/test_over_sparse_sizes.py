"""Sizes of the over-sparse theorem: the formulas once more in floats, what they grow with, bad input."""

import math

import pytest
from flint import fmpq

from lemmata.constructions.parity.bias_grids import even_kink_grid, offset_grid, solve_readout
from lemmata.constructions.parity.over_sparse_sizes import over_sparse_sizes
from lemmata.numerics.parity.good_neurons import good_probability
from lemmata.numerics.parity.sparse_neurons import over_sparse_values


def _float(x: fmpq) -> float:
    return int(x.p) / int(x.q)


def test_truncated_sizes_are_those_of_the_formulas() -> None:
    n, k, s, eps, delta = 40, 4, 17, fmpq(1, 17), fmpq(1, 10)
    found = over_sparse_sizes(n, k, s, eps, delta)
    readout, values = solve_readout(k, even_kink_grid(k)), over_sparse_values(s, k)
    C, c = abs(_float(values.relevant)), abs(_float(values.irrelevant))
    tau = min(C / 2 - c, C / 2, C / _float(readout.one_norm))
    pairs = math.ceil(2 / _float(good_probability(n, k, s)) * math.log(80))
    assert math.isclose(_float(found.tolerance), tau)
    assert (found.pairs, found.width) == (pairs, 2 * pairs)
    assert math.isclose(found.samples, 2 / tau**2 * math.log(4 * n * pairs / 0.1), rel_tol=1e-9)
    needed = 2176 * (1 + pairs) * _float(readout.norm_squared) * 17**2
    assert found.steps / (1 + math.log(found.steps)) >= needed * (1 - 1e-9)
    assert (found.steps - 1) / (1 + math.log(found.steps - 1)) < needed * (1 + 1e-9)
    assert found.least_sparsity == 11


def test_truncation_saves_samples_and_the_accuracy_costs_none() -> None:
    sizes = [over_sparse_sizes(100, 2, 21, eps, fmpq(1, 10)) for eps in (fmpq(1, 2), fmpq(1, 100))]
    assert sizes[0].samples == sizes[1].samples
    assert sizes[0].steps < sizes[1].steps
    grid = offset_grid(2, fmpq(7, 8))
    plain = over_sparse_sizes(40001, 2, 20001, fmpq(2, 5), fmpq(1, 10), grid, truncate=False)
    short = over_sparse_sizes(40001, 2, 20001, fmpq(2, 5), fmpq(1, 10), grid)
    assert plain.samples > 10**6 * short.samples


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((20, 3, 9, fmpq(1, 5), fmpq(1, 10)), "even number k"),
        ((20, 2, 8, fmpq(1, 5), fmpq(1, 10)), "odd number s"),
        ((8, 2, 9, fmpq(1, 5), fmpq(1, 10)), "k < s <= n"),
        ((20, 4, 9, fmpq(1, 5), fmpq(1, 10)), "at least 11"),
        ((20, 2, 9, 0, fmpq(1, 10)), "epsilon and delta"),
        ((20, 2, 9, fmpq(1, 5), 0.1), "epsilon and delta"),
        ((20, 4, 11, fmpq(1, 5), fmpq(1, 10), offset_grid(4, first=1)), "square"),
        ((20, 2, 9, fmpq(1, 5), fmpq(1, 10), offset_grid(2, 1)), "below -1/4"),
    ],
)
def test_bad_input_is_refused(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        over_sparse_sizes(*arguments)
