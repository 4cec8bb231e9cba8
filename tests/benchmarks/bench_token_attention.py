"""Speed of blocked attention over long prompts in float64, beside PyTorch and beside plain NumPy, on one thread.

The unit is a score: one query with one key, with the share of the value. The kernel is compiled before the clock runs.
"""

import tracemalloc
from time import perf_counter

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from lemmata.constructions.tokens.attention import retrieval_attention
from lemmata.constructions.tokens.long_prompts import shown_tokens
from lemmata.constructions.tokens.transformer import token_stream
from lemmata.numerics.tokens.attention import blocked_attention
from lemmata.numerics.tokens.codes import random_sign_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.prompts import draw_prompts
from tests.benchmarks.timing import best_time
from tests.numerics.tokens.test_attention import plain

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def arrays(queries: int, keys: int, width: int) -> Arrays:
    rng = np.random.default_rng(width)
    return tuple(rng.standard_normal((n, width)) / width**0.25 for n in (queries, keys, keys))  # type: ignore[return-value]


def by_torch(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    parts = [torch.from_numpy(part)[None, None] for part in (q, k, v)]
    with torch.no_grad():
        return torch.nn.functional.scaled_dot_product_attention(*parts, scale=1.0)[0, 0].numpy()


@pytest.mark.parametrize("width", [16, 64])
@pytest.mark.parametrize("length", [1_000, 10_000])
def test_blocked_attention_beside_torch_and_numpy(
    length: int, width: int, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """1,000 queries; torch's own fused attention, and a matrix of all scores."""
    data = arrays(1_000, length, width)
    np.testing.assert_allclose(blocked_attention(*data), by_torch(*data), rtol=0, atol=1e-11)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        theirs = best_time(lambda: by_torch(*data))
    finally:
        torch.set_num_threads(threads)
    ours, dense = best_time(lambda: blocked_attention(*data)), best_time(lambda: plain(*data), 3)
    with capsys.disabled():
        print(
            f"\nN = {length}, width {width}: {ours / length / 1e3 * 1e9:.1f} ns a score, torch / ours "
            f"{theirs / ours:.2f}, NumPy / ours {dense / ours:.2f}"
        )
    benchmark(blocked_attention, *data)


def test_a_prompt_of_a_hundred_thousand_tokens(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """Retrieval at 1,000 of 10^5 positions: the matrix of all scores would take 80 GB."""
    N, d, dimension = 100_000, 2, 64
    codes = random_sign_codes(N, dimension, 0)
    z = encode(draw_prompts(1, N, d, 1, seed=1), codes)[0]
    layer, stream = retrieval_attention(d, 1, codes, 20), token_stream(d, 1, dimension)
    positions = np.arange(0, N, 100)
    shown_tokens(layer, stream, z, positions[:2])
    tracemalloc.start()
    start = perf_counter()
    shown_tokens(layer, stream, z, positions)
    took, peak = perf_counter() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**30
    with capsys.disabled():
        print(f"\nN = 10^5: {took:.1f} s for 1,000 positions, {peak / 2**20:.0f} MiB beside the prompt's own")
    benchmark.pedantic(shown_tokens, args=(layer, stream, z, positions[:100]), rounds=2)
