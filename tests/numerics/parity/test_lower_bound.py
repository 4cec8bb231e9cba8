"""The lower-bound checker: against direct sums, in both number systems, and bad input."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.parity.lower_bound import NoisyDescent, parity_view, relu_tables, run_hidden, view_bound

START = [fmpq(a, 16) for a in (3, -2, 5, 1, 4, -3, 2, 5, 2, -1, 14, -13, 1)]  # n = 4, width 2


def test_relu_tables_are_the_network_and_its_gradient() -> None:
    """By differences: the network is linear in each parameter away from the kinks."""
    n, width = 4, 2
    model = relu_tables(n, width)
    theta = to_float(START)
    h, slopes = model(theta)
    w, b, u, c = theta[:8].reshape(2, 4), theta[8:10], theta[10:12], theta[12]
    assert h == pytest.approx(np.maximum(sign_inputs(n) @ w.T + b, 0) @ u + c)
    assert np.abs(sign_inputs(n) @ w.T + b).min() > 0.01
    for i in range(len(theta)):
        moved = theta.copy()
        moved[i] += 1e-6
        assert (model(moved)[0] - h) * 1e6 == pytest.approx(slopes[:, i], abs=1e-8)


def test_both_number_systems_agree_and_exact_runs_are_exact() -> None:
    descent = NoisyDescent(relu_tables(4, 2), fmpq(1, 8), fmpq(1, 10))
    exact = parity_view(descent, START, 3, 2, fmpq(1, 5))
    floats = parity_view(NoisyDescent(relu_tables(4, 2), 0.125, 0.1), to_float(START), 3, 2, 0.2)
    assert to_float(exact.deviations) == pytest.approx(floats.deviations, abs=1e-11)
    assert to_float(exact.trajectory) == pytest.approx(floats.trajectory, abs=1e-11)
    assert to_float(exact.visible_mass) == pytest.approx(floats.visible_mass, abs=1e-11)
    assert exact.hidden == floats.hidden
    assert sorted(exact.hidden + exact.exposed) == list(combinations(range(4), 2))
    for S in combinations(range(4), 2):
        run = run_hidden(descent, exact, S, [np.arange(16)] * 3)
        size = exact.deviations[exact.sets.tolist().index(sum(1 << i for i in S))]
        assert run.hidden == (run.needed <= fmpq(1, 5))
        assert not run.hidden or run.needed <= size  # at theta*, the needed noise is the correlation
        assert max(abs(run.noise.ravel())) <= fmpq(1, 5)


def test_a_loss_of_another_form_is_used() -> None:
    """l_0 = 0: the target-free trajectory only shrinks."""
    descent = NoisyDescent(relu_tables(4, 2), fmpq(1, 8), fmpq(1, 2), loss=lambda h: 0 * h)
    view = parity_view(descent, START, 2, 2, 1)
    assert (view.trajectory[2] == as_exact(START) * fmpq(15, 16) ** 2).all()


def test_the_share_of_hidden_parities() -> None:
    assert view_bound(10, 3, 5, 2, "1/2") == 1 - fmpq(4 * 10 * 4, comb(10, 3))
    assert view_bound(4, 2, 100, 2, 1) < 0


GOOD: dict[str, Any] = {
    "descent": NoisyDescent(relu_tables(4, 2), 0.1),
    "start": to_float(START),
    "steps": 2,
    "k": 2,
    "tau": 0.2,
}
NOT_FINITE = NoisyDescent(lambda t: (np.full(4, np.nan), np.zeros((4, 1))), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "at least one step and noise tau > 0, not 0 and 0.2"),
        ({"tau": 0}, "at least one step and noise tau > 0"),
        ({"k": 5}, r"The degree k of the parities must be in 1, \.\.\., 4, not 5"),
        ({"k": 0}, "The degree k"),
        ({"start": np.zeros((2, 2))}, "The parameters must be a nonempty vector"),
        ({"start": np.array([np.nan] * 13)}, "The parameters must be finite"),
        ({"start": np.zeros(5)}, r"The parameters must have shape \(13,\), not \(5,\)"),
        ({"start": 2 * to_float(START)}, "scale the model down, or take a smaller rate"),
        ({"descent": NoisyDescent(lambda t: (np.zeros(3), np.zeros((3, 13))), 1)}, r"tables of shapes \(2\^n,\)"),
        ({"descent": NoisyDescent(lambda t: (np.zeros(4), np.zeros((4, 12))), 1)}, r"tables of shapes \(2\^n,\)"),
        ({"descent": NOT_FINITE, "start": np.zeros(1)}, "NaN or infinity at step 0"),
    ],
)
def test_bad_views_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parity_view(**{**GOOD, **change})


@pytest.mark.parametrize(
    ("support", "batches", "message"),
    [
        ((0, 1, 2), [[0], [1]], "parities of 2 inputs, but the support has 3"),
        ((0, 1), [[0]], "a batch for each of the 2 steps, not 1"),
        ((0, 1), [[0], []], "A batch is a nonempty vector of indices"),
        ((0, 1), [[0], [16]], r"indices of inputs, 0, \.\.\., 15"),
        ((0, 1), [[0], [0.5]], "A batch is a nonempty vector of indices"),
        ((0, 9), [[0], [1]], "support"),
    ],
)
def test_bad_runs_are_refused(support: Any, batches: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_hidden(GOOD["descent"], parity_view(**GOOD), support, batches)


@pytest.mark.parametrize(("n", "width"), [(0, 1), (21, 1), (3, 0)])
def test_bad_networks_are_refused(n: int, width: int) -> None:
    with pytest.raises(ValueError, match="A network needs 1 <= n <= 20 inputs and a width >= 1"):
        relu_tables(n, width)


@pytest.mark.parametrize("sizes", [(4, 5, 1, 1, 1), (4, 2, 0, 1, 1), (4, 2, 1, 0, 1), (4, 2, 1, 1, 0)])
def test_bad_sizes_of_the_bound_are_refused(sizes: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="The bound needs 1 <= k <= n, at least one parameter and step, and tau > 0"):
        view_bound(*sizes)


def test_the_needed_noise_is_the_largest_of_all_steps() -> None:
    """One input in the first step needs more than the whole cube in the second."""
    descent = NoisyDescent(relu_tables(4, 2), fmpq(1, 8))
    one, two = (parity_view(descent, START, steps, 2, 3) for steps in (1, 2))
    first = run_hidden(descent, one, (0, 1), [[0]]).needed
    assert run_hidden(descent, two, (0, 1), [[0], np.arange(16)]).needed == first
    assert run_hidden(descent, two, (0, 1), [np.arange(16)] * 2).needed < first < 3


def test_networks_that_do_not_fit_in_memory_are_refused() -> None:
    """2^20 inputs times 2.2 million parameters: 35 TiB, said before anything of that size is made."""
    with pytest.raises(ValueError, match=r"The derivatives of 2200001 parameters at 2\^20 inputs need"):
        relu_tables(20, 100_000)(np.zeros(2_200_001))
