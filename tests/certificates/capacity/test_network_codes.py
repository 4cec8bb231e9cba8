"""Codes of networks of attention blocks: outputs of the rebuilt network by float arithmetic, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

import lemmata.certificates.capacity.network_codes as network_codes
from lemmata.certificates.capacity.blocks import AttentionBlock
from lemmata.certificates.capacity.linear_codes import CodeError, exact_array
from lemmata.certificates.capacity.network_codes import compress_network, rebuild_network, verify_network_code
from lemmata.numerics.exact.numbers import to_float


def network(seed: int, depth: int = 2) -> tuple[list[AttentionBlock], np.ndarray]:
    rng = np.random.default_rng(seed)
    parts = [[rng.integers(-5, 6, (2, 2)) / 6 for _ in range(4)] for _ in range(depth)]
    blocks = [AttentionBlock(*four, activation=("relu", "identity")[seed % 2]) for four in parts]  # type: ignore[arg-type]
    return blocks, rng.integers(-2, 3, (2, 2, 2)) / 3


def in_floats(blocks: list[AttentionBlock], g: np.ndarray) -> np.ndarray:
    def projected(rows: np.ndarray) -> np.ndarray:
        return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))

    for block in blocks:
        W_Q, W_K, W_V, W_C = (to_float(part) for part in (block.query, block.key, block.value, block.mixing))
        weights = np.exp(g @ W_Q @ W_K.T @ g.T)
        mixed = projected(weights / weights.sum(axis=1, keepdims=True) @ g @ W_V)
        g = projected((np.maximum(mixed, 0) if block.activation == "relu" else mixed) @ W_C)
    return g


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_networks_are_rebuilt_from_their_codes(seed):
    blocks, X = network(seed)
    code = compress_network(blocks, X, "1/2")
    rebuilt = rebuild_network(code, X)
    largest = max(np.linalg.norm(in_floats(blocks, g) - in_floats(rebuilt, g), axis=1).max() for g in X)
    assert 0 < largest <= 0.5
    assert abs(float(verify_network_code(code, blocks, X).mid()) - largest) < 1e-9
    assert code.bits == sum(b.scores.bits + b.values.bits + b.mixing.bits for b in code.blocks) > 0


def test_allowed_errors_end_at_the_error_of_the_output():
    """Every change has 1/(3 D) of eps behind all blocks: slopes L C V (1 + 2 Q), scores on tokens of norm B_X first."""
    blocks, X = network(1, depth=3)
    V, C = (
        [float(np.linalg.norm(to_float(part), 2)) for part in parts]
        for parts in zip(*map(value_and_mixing, blocks), strict=True)
    )
    Q = [float(np.linalg.norm(to_float(b.query) @ to_float(b.key).T, 2)) for b in blocks]
    radii = [float(np.linalg.norm(X, axis=2).max()), 1.0, 1.0]
    found = list(network_codes._allowed_errors(blocks, exact_array("sample", X), fmpq(1, 2)))
    for i, (score, value, mixing) in enumerate(found):
        behind = np.prod([C[j] * V[j] * (1 + 2 * Q[j]) for j in range(i + 1, 3)])
        for error, rate in ((score, C[i] * V[i] * radii[i]), (value, C[i]), (mixing, 1.0)):
            assert float(error.p) / float(error.q) * rate * behind == pytest.approx(1 / 18, rel=1e-3)


def value_and_mixing(block: AttentionBlock) -> tuple[np.ndarray, np.ndarray]:
    return block.value, block.mixing


def test_a_changed_symbol_is_rejected():
    blocks, X = network(1, depth=1)
    code = compress_network(blocks, X, "1/4")
    block = code.blocks[0]
    row = max(block.mixing.rows, key=lambda one: len(one.steps))
    for k, (i, sign) in enumerate(row.steps[:5]):
        changed = replace(row, steps=(*row.steps[:k], (i, -sign), *row.steps[k + 1 :]))
        rows = tuple(changed if one is row else one for one in block.mixing.rows)
        wrong = replace(code, blocks=(replace(block, mixing=replace(block.mixing, rows=rows)),))
        with pytest.raises(CodeError, match="A symbol"):
            verify_network_code(wrong, blocks, X)


def test_codes_of_other_networks_are_rejected():
    blocks, X = network(1)
    code = compress_network(blocks, X, "1/2")
    other = [replace(blocks[0], mixing=-blocks[0].mixing), blocks[1]]
    with pytest.raises(CodeError, match="A symbol"):
        verify_network_code(code, other, X)


def test_outputs_that_are_too_far_are_rejected(monkeypatch):
    blocks, X = network(1)
    code = compress_network(blocks, X, "1/2")
    allowed = network_codes._allowed_errors
    coarse = [tuple(64 * x for x in three) for three in allowed(blocks, network_codes.exact_array("", X), code.eps)]
    monkeypatch.setattr(network_codes, "_allowed_errors", lambda *_: coarse)
    with pytest.raises(CodeError, match="at distance"):
        compress_network(blocks, X, "1/100")


def test_bad_arguments_are_refused():
    blocks, X = network(0)
    with pytest.raises(ValueError, match="error eps"):
        compress_network(blocks, X, 0)
    with pytest.raises(ValueError, match="at least one block"):
        compress_network([], X, 1)
    with pytest.raises(ValueError, match="must have shape"):
        compress_network(blocks, X[..., :1], 1)
    with pytest.raises(ValueError, match="pairs of tokens have more than"):
        compress_network(blocks, np.zeros((1, 710, 2), dtype=int), 1)
    with pytest.raises(ValueError, match="NaN or infinity"):
        compress_network(blocks, X * float("nan"), 1)
    with pytest.raises(ValueError, match="allow a larger error"):
        compress_network(blocks, X, "1/1000")
