"""`lemmata.numerics.parity.architecture_training`: steps against autograd, solutions, records, bad input."""

import copy
import math

import numpy as np
import pytest
import torch

from lemmata.constructions.parity.activations import OscillatingPolynomial, Power, Ramp, Sinusoid, TriangleWave, Zigzag
from lemmata.numerics.parity.architecture_training import ARCHITECTURES, initial_architecture, train_architecture
from lemmata.numerics.parity.compiled_activations import bend, kind_of, shape_of
from lemmata.numerics.parity.compiled_training import fill_batch

NAMES = sorted(ARCHITECTURES)


def output(name: str, k: int, parameters: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """The outputs in float64, written out from the definition, with the activations of `constructions`."""
    W, b, u, c = parameters
    z = x @ W.T + b
    if name == "xv":
        return z.prod(dim=1)
    activation = {
        "relu": Ramp(), "power": Power(k), "zigzag": Zigzag(k), "polynomial": OscillatingPolynomial(k),
        "wave": lambda z: TriangleWave(4, k)(2 * z), "sine": lambda z: Sinusoid(k)(2 * z),
    }[ARCHITECTURES[name].activation]  # fmt: skip
    return activation(z) @ u + c


def losses(loss: str, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if loss == "hinge":
        return (1 - y * f).clamp(min=0).mean()
    return ((y - f) ** 2).mean() if loss == "square" else torch.log1p(torch.exp(-y * f)).mean()


def inputs(seed: np.ndarray, n: int, k: int, batch: int) -> np.ndarray:
    codes, y = np.empty((batch, -(-n // 4)), np.uint8), np.empty(batch, np.float32)
    fill_batch(codes[:0], y[:0], n, k, seed, 0.0, codes, y)
    bits = np.unpackbits(codes[:, :, None], axis=2, bitorder="little")[:, :, :4].reshape(batch, -1)
    return 2.0 * bits[:, :n] - 1


def assert_steps_agree(name: str, loss: str, n: int = 11, k: int = 3, batch: int = 6, steps: int = 15) -> None:
    """Some steps of the compiled kind against autograd in float64."""
    network = initial_architecture(name, n, k, np.random.default_rng(1))
    start = copy.deepcopy(network)
    parameters = [torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in network.parameters()]
    rng = np.random.default_rng(2)
    rng.integers(0, 16, size=(40, -(-n // 4)), dtype=np.uint8)
    seed = np.array([rng.integers(0, 2**64, dtype=np.uint64)], dtype=np.uint64)
    rate = 0.02 if ARCHITECTURES[name].width == 1 or loss == "square" else 0.2
    for _ in range(steps):
        x = torch.tensor(inputs(seed, n, k, batch))
        value = losses(loss, output(name, k, parameters, x), x[:, :k].prod(dim=1))
        trained = parameters if ARCHITECTURES[name].second_layer else parameters[:2]
        for parameter, g in zip(trained, torch.autograd.grad(value, trained), strict=True):
            parameter.data -= rate * g
    train_architecture(
        name, network, steps, np.random.default_rng(2),
        batch=batch, rate=rate, loss=loss, check_every=steps, held_out=40,  # type: ignore[arg-type]
    )  # fmt: skip
    for part, expected in zip(network.parameters(), parameters, strict=True):
        assert np.abs(part - expected.detach().numpy()).max() < 2e-4
    assert np.abs(network.hidden - start.hidden).max() > 2e-3


@pytest.mark.parametrize("loss", ["hinge", "square", "logistic"])
@pytest.mark.parametrize("name", NAMES)
def test_steps_are_those_of_autograd(name: str, loss: str) -> None:
    assert_steps_agree(name, loss, steps=4 if ARCHITECTURES[name].width == 1000 else 15)


@pytest.mark.parametrize("name", ["vii", "x", "xv"])
def test_the_accuracy_is_that_on_the_held_out_sample(name: str) -> None:
    """Which is drawn first; after a step of no length, and written out again in float64."""
    network = initial_architecture(name, 11, 3, np.random.default_rng(1))
    codes = np.random.default_rng(2).integers(0, 16, size=(500, 3), dtype=np.uint8)
    x = torch.tensor(2.0 * np.unpackbits(codes[:, :, None], axis=2, bitorder="little")[:, :, :4].reshape(500, -1) - 1)
    run = train_architecture(
        name, network, 1, np.random.default_rng(2), rate=1e-30, check_every=1, held_out=500, recorded=500
    )
    f = output(name, 3, [torch.tensor(part, dtype=torch.float64) for part in network.parameters()], x[:, :11])
    assert f.abs().min() > 1e-6  # so that its sign in float32 is the same
    assert run.accuracy == [float((f * x[:, :3].prod(dim=1) > 0).double().mean())]


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_solutions_of_the_single_neurons_are_solutions(k: int) -> None:
    """From w = 1_S (half of it for the waves) and b = 0 a run without steps to speak of has no error at once."""
    for name in ("xi", "xii", "xiii", "xiv"):
        network = initial_architecture(name, 9, k, np.random.default_rng(0))
        network.hidden[:] = np.arange(9) < k
        network.hidden /= 2 if name in ("xiii", "xiv") else 1
        network.bias[:] = 0
        run = train_architecture(name, network, 1, np.random.default_rng(0), rate=1e-9, check_every=1)
        assert run.converged == 1
        network.hidden[0, k] += 1
        assert train_architecture(name, network, 1, np.random.default_rng(0), rate=1e-9).converged is None


def test_the_zigzag_goes_on_beyond_its_last_kinks() -> None:
    """Inside, and up to twice as far out, against that of `constructions`; the slope is 1 or -1, by differences."""
    z = np.linspace(-6, 6, 48, endpoint=False, dtype=np.float32)[None] + np.float32(1 / 64)
    values, slopes, step = z.copy(), np.empty_like(z), 1 / 128
    bend(kind_of("zigzag"), z.shape[1], shape_of("zigzag", 3), values, slopes)
    assert np.abs(values - Zigzag(3)(z.astype(float))).max() < 1e-5
    assert np.abs(slopes - (Zigzag(3)(z + step) - Zigzag(3)(z - step)) / (2 * step)).max() < 1e-2


def test_runs_learn_repeat_and_record() -> None:
    def go(seed: int, **changes: object) -> tuple[int | None, list[float], np.ndarray]:
        network = initial_architecture("vii", 12, 3, np.random.default_rng(seed))
        run = train_architecture(
            "vii", network, 9000, np.random.default_rng(seed + 50), recorded=300, **changes  # type: ignore[arg-type]
        )  # fmt: skip
        return run.converged, run.accuracy, network.hidden

    time, accuracy, hidden = go(1)
    assert time is not None
    assert len(accuracy) == time // 10
    assert accuracy[-1] == 1 > accuracy[0]
    again = go(1)
    assert again[:2] == (time, accuracy)
    assert (again[2] == hidden).all()
    assert go(2)[1] != accuracy
    other = go(1, check_every=1)
    assert other[0] is not None
    assert math.ceil(other[0] / 10) * 10 <= time


def test_a_run_that_diverges_is_given_up() -> None:
    network = initial_architecture("v", 8, 4, np.random.default_rng(0))
    run = train_architecture("v", network, 10**6, np.random.default_rng(1), rate=1e9, recorded=50)
    assert run.converged is None
    assert len(run.accuracy) < 10**4


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="no setting 'xvi'"):
        initial_architecture("xvi", 9, 3, rng)
    network = initial_architecture("i", 9, 3, rng)
    with pytest.raises(ValueError, match="losses hinge"):
        train_architecture("i", network, 9, rng, loss="cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has 1000 neurons"):
        train_architecture("iii", network, 9, rng)
    for options in ({"batch": 0}, {"check_every": 0}, {"held_out": 0}, {"rate": 0.0}, {"rate": math.nan}):
        with pytest.raises(ValueError, match="at least 1 and the rate positive"):
            train_architecture("i", network, 9, rng, **options)
    with pytest.raises(ValueError, match="can be recorded"):
        train_architecture("i", network, 9, rng, recorded=9000)
