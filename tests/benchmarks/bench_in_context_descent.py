"""Cost of gradient descent in context: a step beside autograd, layer by layer, at scale, and heads against eps.

Three ways to make the same step of an N-layer tanh network: the forward pass of the block, head by head in families;
its compiled equivalent for long runs; and torch's autograd on the network itself, on one thread. The box of the weights
is [-2/K, 2/K], so that the arguments of the activation stay below 2.
"""

from time import perf_counter

import numpy as np
import pytest
import torch
from flint import fmpq
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.bounds import approximate_activation
from lemmata.constructions.descent.fast import fast_trajectory
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.functions.interpolation import interpolant_within
from lemmata.numerics.functions.relu_sums import squared_loss_derivative
from lemmata.numerics.functions.smooth import SmoothFunction, sigmoid, softplus, tanh
from tests.benchmarks.timing import best_time

EXAMPLES, DEPTH, PIECES = 20, 3, 16


def tanh_block(width: int, depth: int = DEPTH, examples: int = EXAMPLES, pieces: int = PIECES) -> DescentBlock:
    """Two inputs, ``width`` hidden units per layer, one output."""
    widths = (2, *(width,) * (depth - 1), 1)
    box = (fmpq(-2, width), fmpq(2, width))
    sums = approximate_activation(widths, tanh, box, 1, pieces=pieces)
    return gradient_descent_block(widths, examples, "1/10", *sums, squared_loss_derivative(), box, 1, 1)


def wall(block: DescentBlock) -> float:
    """The upper end of the box."""
    return float(to_float(block.upper[:1])[0])


def data(block: DescentBlock, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, k, n = np.random.default_rng(seed), block.layout.widths, block.examples
    w = rng.uniform(-1, 1, block.layout.weight_count) * wall(block)
    return rng.uniform(-1, 1, (n + 1, k[0])), rng.uniform(-1, 1, (n, k[-1])), w


def autograd_steps(block: DescentBlock, x: np.ndarray, y: np.ndarray, w: np.ndarray, steps: int) -> np.ndarray:
    """Projected gradient descent with torch."""
    inputs, labels = torch.tensor(x[:-1]), torch.tensor(y)
    matrices = [torch.tensor(V, requires_grad=True) for V in block.layout.matrices(w)]
    for _ in range(steps):
        p = inputs
        for V in matrices:
            p = torch.tanh(p @ V.T)
        gradients = torch.autograd.grad(((p - labels) ** 2).sum() / (4 * len(y)), matrices)
        with torch.no_grad():
            for V, gradient in zip(matrices, gradients, strict=True):
                V.sub_(gradient, alpha=0.1).clamp_(-wall(block), wall(block))
    return block.layout.flatten([V.detach().numpy() for V in matrices])


@pytest.fixture(autouse=True)
def one_thread() -> object:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("width", [2, 8, 32, 128])
def test_step_beside_autograd(width: int, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """One step each, N = 3 and 20 examples: microseconds of the forward pass, the compiled loop and autograd."""
    block, steps = tanh_block(width), 100
    floats, (x, y, w) = block.to_float(), data(block)
    z = floats.prompt(x, y, w)
    last = fast_trajectory(block, x, y, w, steps, every=steps)[-1]
    # two descents that differ by the interpolation error, at most 100 steps of 1/10 of it
    np.testing.assert_allclose(last, autograd_steps(block, x, y, w, steps), rtol=0, atol=1e-2)
    forward = best_time(lambda: floats(z), 3)
    fast = best_time(lambda: fast_trajectory(block, x, y, w, 10 * steps, every=10 * steps), 3) / (10 * steps)
    theirs = best_time(lambda: autograd_steps(block, x, y, w, steps), 3) / steps
    with capsys.disabled():
        print(
            f"\nK = {width}, D_N = {len(w)}, {sum(row.heads + row.units for row in block.table())} heads and units: "
            f"forward pass {forward * 1e6:.0f} us, compiled {fast * 1e6:.0f} us, autograd {theirs * 1e6:.0f} us"
        )
    benchmark.pedantic(lambda: floats(z), rounds=2)


@pytest.mark.parametrize("width", [8, 64])
def test_where_the_time_goes(width: int, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """The share of each layer in the forward pass."""
    block = tanh_block(width).to_float()
    z = block.prompt(*data(block))
    times = []
    for layer in block.layers:
        times.append(best_time(lambda layer=layer, z=z: layer(z), 3))
        z = layer(z)
    with capsys.disabled():
        print(f"\nK = {width}: {sum(times) * 1e3:.1f} ms per block")
        for row, time in zip(block.table(), times, strict=True):
            print(f"  {row.name:26} {row.heads + row.units:6d} heads and units {100 * time / sum(times):5.1f} %")
    benchmark.pedantic(block, args=(z,), rounds=2)


@pytest.mark.parametrize(
    ("depth", "width", "examples"), [(3, 10, 50), (12, 20, 50), (6, 60, 100), (6, 100, 50), (10, 300, 100)]
)
def test_blocks_in_a_minute(
    depth: int, width: int, examples: int, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a minute buys, building the exact weights included: how many blocks of 2N+4 layers the loop then runs."""
    start = perf_counter()
    block = tanh_block(width, depth, examples, pieces=8)
    built = perf_counter() - start
    x, y, w = data(block)

    def run(steps: int, rounds: int = 1) -> float:
        return best_time(lambda: fast_trajectory(block, x, y, w, steps, steps), rounds)

    overhead, steps = run(1, rounds=2), 2  # the second of two rounds is compiled
    while (elapsed := run(steps)) < overhead + 1:
        steps *= 4
    end = benchmark.pedantic(fast_trajectory, args=(block, x, y, w, steps, steps), rounds=1)[-1]
    assert np.isfinite(end).all()
    assert (end != w).any()
    rate = steps / (elapsed - overhead)
    blocks = max(0.0, (60 - built - overhead) * rate)
    with capsys.disabled():
        print(
            f"\nN = {depth}, K = {width}, n = {examples}: D_N = {len(w)}, stream of width {block.layout.stream.width}, "
            f"built in {built:.1f} s, checked and converted in {overhead:.1f} s, {1e3 / rate:.3g} ms per block: "
            f"L = {blocks:.3g} blocks, {blocks * (2 * depth + 4):.2g} layers, in a minute"
        )


@pytest.mark.parametrize("function", [tanh, sigmoid, softplus], ids=lambda function: function.name)
def test_units_against_eps(
    function: SmoothFunction, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Units M of r and r' on [-3, 3] for eps = 10^-1, ..., 10^-4: M ~ eps^(-1/2), against eps^(-2) of the document."""
    errors = [10, 100, 1000, 10_000]
    counts = [[interpolant_within(g, 3, f"1/{e}").units for e in errors] for g in (function, function.derivative())]
    exponents = [np.polyfit(np.log(errors[1:]), np.log(row[1:]), 1)[0] for row in counts]
    with capsys.disabled():
        print(f"\n{function.name}: M = {counts[0]}, M' = {counts[1]}, exponents {exponents[0]:.2f}, {exponents[1]:.2f}")
    benchmark.pedantic(interpolant_within, args=(function, 3, "1/1000"), rounds=1)
    assert max(exponents) < 0.6
