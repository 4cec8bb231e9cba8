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

from constructions.in_context_descent import DescentBlock, gradient_descent_block
from constructions.in_context_descent_bounds import approximate_activation
from constructions.in_context_descent_fast import fast_trajectory
from numerics.exact import to_float
from numerics.relu_sums import interpolant_within, squared_loss_derivative
from numerics.smooth_functions import SmoothFunction, sigmoid, softplus, tanh

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


def seconds(function: object, rounds: int = 3) -> float:
    """The best of several runs: the rest is other load of the machine."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        function()  # type: ignore[operator]
        times.append(perf_counter() - start)
    return min(times)


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
    forward = seconds(lambda: floats(z))
    fast = seconds(lambda: fast_trajectory(block, x, y, w, 10 * steps, every=10 * steps)) / (10 * steps)
    theirs = seconds(lambda: autograd_steps(block, x, y, w, steps)) / steps
    with capsys.disabled():
        print(
            f"\nK = {width}, D_N = {len(w)}, {sum(s.heads for s in block.summaries())} heads and units: "
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
        times.append(seconds(lambda layer=layer, z=z: layer(z)))
        z = layer(z)
    with capsys.disabled():
        print(f"\nK = {width}: {sum(times) * 1e3:.1f} ms per block")
        for summary, time in zip(block.summaries(), times, strict=True):
            print(f"  {summary.purpose:26} {summary.heads:6d} heads {100 * time / sum(times):5.1f} %")
    benchmark.pedantic(block, args=(z,), rounds=2)


@pytest.mark.parametrize(
    ("depth", "width", "examples", "steps"), [(3, 10, 50, 100_000), (6, 60, 100, 2_000), (12, 20, 50, 5_000)]
)
def test_long_runs(
    depth: int, width: int, examples: int, steps: int, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many blocks (2N+4 layers each) the compiled loop runs in a minute on one core."""
    block = tanh_block(width, depth, examples, pieces=8)
    x, y, w = data(block)
    fast_trajectory(block, x, y, w, 1)
    start = perf_counter()
    end = benchmark.pedantic(fast_trajectory, args=(block, x, y, w, steps, steps), rounds=1)[-1]
    elapsed = perf_counter() - start
    assert np.isfinite(end).all()
    assert (end != w).any()
    with capsys.disabled():
        rate = 60 * steps / elapsed
        print(
            f"\nN = {depth}, K = {width}, n = {examples}, D_N = {len(w)}, width {block.layout.stream.width}: "
            f"{steps} blocks in {elapsed:.1f} s, {rate:.3g} blocks ({rate * (2 * depth + 4):.2g} layers) per minute"
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
