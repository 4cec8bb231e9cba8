"""Sparse networks before and after one step: against a plain gradient, silence over the cube, faults, bad input."""

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.constructions.parity.bias_grids import (
    averaged_ramp_features,
    even_kink_grid,
    offset_grid,
    ramp_features,
    ramp_labels,
    solve_readout,
)
from lemmata.constructions.parity.over_sparse import (
    SparseInitialization,
    draw_over_sparse,
    over_sparse_network,
    over_sparse_step,
    population_gradients,
    sample_gradients,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.parity.exhaustive import margin_range


@pytest.fixture
def drawn() -> SparseInitialization:
    return draw_over_sparse(13, 11, even_kink_grid(4), 30, np.random.default_rng(0))


def test_gradients_of_the_whole_cube_are_those_of_the_population(drawn: SparseInitialization) -> None:
    S, x = (1, 4, 7, 9), sign_inputs(13)
    labels = x[:, S].prod(axis=1)
    gradients = population_gradients(drawn, S)
    assert np.array_equal(sample_gradients(drawn, x, labels), gradients)
    assert len({tuple(row) for row in gradients.tolist()}) > 2  # good and bad neurons


def test_a_sample_gives_the_gradient_of_the_hinge_loss() -> None:
    """Central differences of the exact loss of the whole network: at f = 0 it is linear in a small step."""
    rng = np.random.default_rng(3)
    drawn = draw_over_sparse(6, 5, offset_grid(2), 4, rng)
    x = rng.choice([-1, 1], (9, 6))
    y = rng.choice([-1, 1], 9)
    network = drawn.network()

    def loss(hidden: np.ndarray) -> fmpq:
        outputs = np.maximum(as_exact(x) @ hidden.T + network.bias, fmpq(0)) @ network.readout
        return sum((max(1 - int(t) * f, fmpq(0)) for t, f in zip(y, outputs, strict=True)), fmpq(0)) / 9

    gradients, step = sample_gradients(drawn, x, y), fmpq(1, 1000)
    for i in range(4):
        for j in range(6):
            moved = np.array(network.hidden)
            moved[i, j] += step
            assert (loss(moved) - loss(network.hidden)) / step == -int(drawn.signs[i]) * gradients[i, j]


def test_the_network_before_is_zero(drawn: SparseInitialization) -> None:
    network = drawn.network()
    assert network.width == 60
    assert not np.any(network(sign_inputs(13)[::50]))


def test_silent_neurons_vanish_and_others_do_not() -> None:
    drawn = draw_over_sparse(9, 5, offset_grid(2), 12, np.random.default_rng(0))
    for truncate in (True, False):
        after = over_sparse_step(drawn, (0, 3), truncate=truncate)
        alive = (np.abs(as_exact(sign_inputs(9)) @ after.hidden.T) + after.bias > 0).any(axis=0)
        assert np.array_equal(~alive, after.silent())
        assert after.silent().any()
        assert not after.silent().all()


def test_the_whole_network_computes_the_parity_and_a_moved_weight_does_not(drawn: SparseInitialization) -> None:
    S = (1, 4, 7, 9)
    after = over_sparse_step(drawn, S)
    network = after.network(solve_readout(4, even_kink_grid(4)), drawn.good(S))
    parts = network.hidden, network.bias, network.readout, S, network.output_bias
    assert margin_range(*parts) == (1, 1)
    moved = np.array(network.readout)
    moved[int(np.flatnonzero(drawn.good(S))[0])] *= -1
    assert margin_range(parts[0], parts[1], moved, *parts[3:])[0] < 1


def test_a_bad_neuron_called_good_spoils_the_read_out(drawn: SparseInitialization) -> None:
    S = (1, 4, 7, 9)
    used = drawn.good(S)
    used[int(np.flatnonzero(~used)[0])] = True
    network = over_sparse_step(drawn, S).network(solve_readout(4, even_kink_grid(4)), used)
    low, _ = margin_range(network.hidden, network.bias, network.readout, S, network.output_bias)
    assert low < 1


@pytest.mark.parametrize(("n", "k", "s"), [(7, 2, 5), (14, 4, 11), (18, 6, 17)])
def test_one_good_pair_for_each_bias_is_enough(n: int, k: int, s: int) -> None:
    S = tuple(range(n - k, n))
    for grid in (None, offset_grid(k)):
        network = over_sparse_network(n, S, s, grid, exact=True)
        assert network.width == k
        assert margin_range(network.hidden, network.bias, network.readout, S, network.output_bias) == (1, 1)


def test_kinks_and_features() -> None:
    assert [-8 * b for b in offset_grid(4)] == [fmpq(63, 16), fmpq(31, 16)]
    assert offset_grid(4, first=1) == (fmpq(-31, 128),)
    assert offset_grid(2, first=1) == ()
    assert [-16 * b for b in even_kink_grid(8)] == [6, 4, 2, fmpq(3, 2)]
    table = ramp_features(4, offset_grid(4))
    assert table.shape == (5, 5)
    readout = solve_readout(4, offset_grid(4))
    assert list(table @ np.array([readout.constant, *readout.plus, *readout.minus])) == ramp_labels(4)
    assert [readout(z) for z in range(-4, 5, 2)] == ramp_labels(4)
    assert readout.plus == readout.minus


def test_averages_of_features_over_the_cube() -> None:
    """Good neurons with different ones, after an exact step without truncation: their means given the sum over S."""
    grid, S = offset_grid(2, fmpq(1, 2)), (0, 3)
    drawn = draw_over_sparse(7, 5, grid, 12, np.random.default_rng(2))
    after, x = over_sparse_step(drawn, S, truncate=False), sign_inputs(7)
    table = averaged_ramp_features(2, grid, 5)
    good = drawn.good(S)
    assert len({tuple(row) for row in drawn.rows[good].tolist()}) > 1
    before = as_exact(x) @ after.hidden.T
    for i in np.flatnonzero(good):
        for sign in (1, -1):
            values = np.maximum(sign * before[:, i] + after.bias[i], fmpq(0))
            column = 1 if after.rising[i] == (sign == 1) else 2
            for row, z in enumerate((-2, 0, 2)):
                chosen = values[x[:, S].sum(axis=1) == z]
                assert chosen.sum() / len(chosen) == table[row, column]
    with pytest.raises(ValueError, match="odd number s > k"):
        averaged_ramp_features(4, grid, 4)


def test_bad_initializations_are_refused(drawn: SparseInitialization) -> None:
    rows, rng = np.eye(3, dtype=int), np.random.default_rng(0)
    third = [fmpq(1, 3)] * 3
    for arguments, words in [
        ((rows, third[:2], [1, 1, 1]), "shapes must be"),
        ((2 * rows, third, [1, 1, 1]), "0 and 1"),
        ((rows, third, [1, 0, 1]), "signs must be"),
        ((1 - rows, third, [1, 1, 1]), "odd number of ones"),
        ((rows, [1, 0, 0], [1, 1, 1]), "between -1 and 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            SparseInitialization(*arguments)
    with pytest.raises(ValueError, match="printed grid is empty for k = 2"):
        draw_over_sparse(9, 5, offset_grid(2, first=1), 4, rng)
    with pytest.raises(ValueError, match=r"needs 149011\.6 GiB of memory"):  # rows and ones, 8 bytes each
        draw_over_sparse(10**7, 5, offset_grid(2), 10**6, rng)
    for support, words in [((0, 1, 2), "even number k"), (range(12), "k < s <= n"), ((0, 13), "must lie in")]:
        with pytest.raises(ValueError, match=words):
            over_sparse_step(drawn, support)
    with pytest.raises(ValueError, match="shape"):
        over_sparse_step(drawn, (0, 1), [[1, 2]])
    with pytest.raises(ValueError, match="inputs"):
        sample_gradients(drawn, np.ones((3, 12)), np.ones(3))
    with pytest.raises(ValueError, match="1 or -1"):
        sample_gradients(drawn, np.zeros((3, 13)), np.ones(3))
    with pytest.raises(ValueError, match="1 or -1"):
        sample_gradients(drawn, np.ones((3, 13)), np.zeros(3))
    after, readout = over_sparse_step(drawn, (0, 1, 2, 3)), solve_readout(4, even_kink_grid(4))
    for used in ([True], np.ones(31, dtype=bool)):
        with pytest.raises(ValueError, match="mask"):
            after.network(readout, used)
    with pytest.raises(ValueError, match="draw more neurons"):
        after.network(readout, np.zeros(30, dtype=bool))
    with pytest.raises(ValueError, match="3k - 2"):
        over_sparse_network(20, 4, 9)


def test_bad_grids_are_refused() -> None:
    for call, words in [
        (lambda: offset_grid(3), "even number"),
        (lambda: offset_grid(4, 0), "0 < offset <= 2"),
        (lambda: offset_grid(4, first=-1), "numbered from 0"),
        (lambda: even_kink_grid(4, 3), "0 < offset <= 2"),
        (lambda: ramp_features(4, [0.5]), "exact"),
        (lambda: solve_readout(4, offset_grid(4, first=1)), "system square"),
        (lambda: solve_readout(4, [fmpq(-1, 4), fmpq(-1, 4)]), "dependent"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
