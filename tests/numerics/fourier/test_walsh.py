"""Walsh-Hadamard transforms against direct sums over {-1, 1}^n, SciPy's Hadamard matrix and a NumPy twin."""

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.fourier.walsh import inverse_walsh_hadamard, walsh_hadamard, walsh_hadamard_inplace

quick = settings(max_examples=40, deadline=None)


def numpy_twin(x: np.ndarray) -> np.ndarray:
    half = 1
    while half < len(x):
        pairs = x.reshape(-1, 2, half)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return x


def direct_sums(f: np.ndarray, n: int) -> list:
    """sum_x f(x) chi_T(x), written with points and sets instead of bit tricks."""
    # product() runs through the last coordinate fastest; index bit 0 must be coordinate 0, hence the reversal
    points = [point[::-1] for point in product([1, -1], repeat=n)]
    sets = [[i for i, used in enumerate(chosen[::-1]) if used] for chosen in product([0, 1], repeat=n)]
    return [sum(f[x] * prod(points[x][i] for i in T) for x in range(2**n)) for T in sets]


@quick
@given(st.integers(0, 6), st.integers(0, 2**32))
def test_integer_transform_is_exact(n: int, seed: int) -> None:
    f = np.random.default_rng(seed).integers(-(2**40), 2**40, size=2**n)
    transform = walsh_hadamard(f)
    assert transform.dtype == np.int64
    assert transform.tolist() == direct_sums(f.astype(object), n)
    assert transform.tolist() == (scipy.linalg.hadamard(2**n).astype(object) @ f.astype(object)).tolist()
    assert transform.tolist() == numpy_twin(f).tolist()
    assert inverse_walsh_hadamard(transform).tolist() == f.tolist()


@quick
@given(st.integers(0, 10), st.integers(0, 2**32))
def test_float_transform_equals_its_numpy_twin(n: int, seed: int) -> None:
    f = np.random.default_rng(seed).normal(size=2**n)
    before = f.copy()
    assert walsh_hadamard(f).tolist() == numpy_twin(f).tolist()  # the same additions, hence the same bits
    assert (f == before).all()
    # n levels of additions round n times each way: relative to sum |f| <= 2^n max|f|, an error of n 2^-53 each way
    back = inverse_walsh_hadamard(walsh_hadamard(f))
    assert np.max(np.abs(back - f)) <= 3 * max(n, 1) * 2.0**-53 * np.sum(np.abs(f))


@pytest.mark.parametrize("n", [11, 12, 13, 14, 15, 16, 17, 19])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_blocked_transform_equals_the_plain_loop(n: int, dtype: Any) -> None:
    """Every split of the levels into blocks and tiles, with the same bits as level by level."""
    rng = np.random.default_rng(n)
    f = rng.integers(-(2**30), 2**30, size=2**n).astype(dtype) if dtype == np.int64 else rng.normal(size=2**n)
    assert (walsh_hadamard(f) == numpy_twin(f)).all()


def test_characters_transform_to_points() -> None:
    n, T = 5, 0b10110
    chi = np.array([(-1) ** (x & T).bit_count() for x in range(2**n)])
    expected = np.zeros(2**n, dtype=int)
    expected[T] = 2**n
    assert walsh_hadamard(chi).tolist() == expected.tolist()
    chi[3] *= -1  # one flipped value is seen in every coefficient
    assert (walsh_hadamard(chi) != expected).all()


def test_exact_objects_and_balls() -> None:
    root = sqrt_rational(2)
    f = np.array([root, fmpq(1, 3), 2, -root], dtype=object)
    transform = walsh_hadamard(f)
    assert transform.tolist() == direct_sums(f, 2)
    assert inverse_walsh_hadamard(transform).tolist() == f.tolist()
    assert walsh_hadamard(np.array([2**70, 1], dtype=object)).tolist() == [2**70 + 1, 2**70 - 1]
    assert inverse_walsh_hadamard(np.array([1, 0], dtype=object)).tolist() == [fmpq(1, 2)] * 2
    balls = np.array([arb(1, 0.25), arb(2), 3, arb(0)], dtype=object)
    assert walsh_hadamard(balls)[2].contains(arb(-0.1))
    assert not walsh_hadamard(balls)[2].contains(arb(0.5))
    assert inverse_walsh_hadamard(walsh_hadamard(balls))[1].contains(arb(2))


def test_inplace_overwrites() -> None:
    x = np.array([1, 2, 3, 4])
    walsh_hadamard_inplace(x)
    assert x.tolist() == [10, -2, -4, 0]


def test_int64_overflow_is_refused_exactly_at_the_bound() -> None:
    top = np.iinfo(np.int64)
    fits = np.array([top.max - 3, -1, 1, 1], dtype=np.int64)
    assert walsh_hadamard(fits).tolist() == direct_sums(fits.astype(object), 2)
    for overflow in ([top.max - 2, -1, 1, 1], [top.min, 0], [top.max] * 8):
        with pytest.raises(ValueError, match=r"sum to \d+ > 2\^63 - 1"):
            walsh_hadamard(np.array(overflow, dtype=np.int64))
    with pytest.raises(ValueError, match=r"exceeds 2\^63 - 1"):
        walsh_hadamard(np.array([2**63, 0], dtype=np.uint64))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: walsh_hadamard(np.broadcast_to(np.float32(1), 2**45)), r"needs 262144.0 GiB .* are available"),
        (lambda: walsh_hadamard([1, 2, 3]), "length 2"),
        (lambda: walsh_hadamard([]), "length 2"),
        (lambda: walsh_hadamard([[1, 2]]), "length 2"),
        (lambda: walsh_hadamard([1j, 0]), "dtype complex128"),
        (lambda: walsh_hadamard(np.array([0.5, None], dtype=object)), "not exact"),
        (lambda: walsh_hadamard_inplace(np.ones(4, dtype=np.float32)), "not on float32"),
        (lambda: walsh_hadamard_inplace([1.0, 2.0]), "not on list"),  # type: ignore[arg-type]
        (lambda: walsh_hadamard_inplace(np.ones(8)[::2]), "contiguous"),
        (lambda: walsh_hadamard_inplace(np.broadcast_to(1.0, 4)), "read-only or not contiguous"),
        (lambda: inverse_walsh_hadamard([1, 0]), "is 1/2, not an integer"),
    ],
)
def test_refusals(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()
