"""Adam on a one-layer attention network that reads bit strings at a [CLS] token: compiled, in float32.

The network is that of minGPT with one layer, read at [CLS] alone: with tokens x_t = E_{b_t} + P_t and x_CLS = E_2 + P_T

    y = x_CLS + W_O concat_h (softmax over all T + 1 tokens of q_h . k_h / sqrt(k)) v_h + b_O,
    w = y + W_2 gelu(W_1 LN_2(y) + b_1) + b_2,    logits = W_out LN_f(w),

where q, k, v are affine in LN_1(x) and the keys have no bias, which cancels in the softmax. Matrices act
on rows, as x W. The GeLU is in its tanh form and there is no dropout.

The parameters lie in one vector; `parameters` names its parts. The gradient is written out (`loss_and_gradient`).

Source: variable-creation, experiment-fig4.2, appendix A.3.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lemmata.numerics.learning.attention_kernels import (
    adam_step,
    add_columns,
    exponentials,
    gelu,
    mix,
    normalise,
    normalise_back,
    product,
    transposed_product,
    unmix,
)

__all__ = [
    "Adam",
    "AttentionReader",
    "attention_weights",
    "initial_reader",
    "loss_and_gradient",
    "parameters",
    "predictions",
    "string_codes",
]

Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]

_NAMES = (
    "E", "P", "scale1", "shift1", "WQ", "bQ", "WK", "WV", "bV", "WO", "bO",
    "scale2", "shift2", "W1", "b1", "W2", "b2", "scale_out", "shift_out", "W_out",
)  # fmt: skip
_DECAYED = ("WQ", "WK", "WV", "WO", "W1", "W2", "W_out")


def _shapes(T: int, d: int) -> tuple[tuple[int, ...], ...]:
    square, row = (d, d), (d,)
    return (
        (3, d), (T + 1, d), row, row, square, row, square, square, row, square, row,
        row, row, (d, 4 * d), (4 * d,), (4 * d, d), row, row, row, (d, 2),
    )  # fmt: skip


@dataclass(frozen=True)
class AttentionReader:
    """A network: strings of T bits, d channels, heads of dimension d / heads, and the vector ``theta`` (float32)."""

    length: int
    width: int
    heads: int
    theta: Floats


def parameters(reader: AttentionReader) -> dict[str, Floats]:
    """The parts of the parameters by name, as views: ``W`` maps rows from the left, ``P`` has [CLS] last."""
    return {name: reader.theta[at].reshape(shape) for name, at, shape in _layout(reader.length, reader.width)}


@cache
def _layout(T: int, d: int) -> tuple[tuple[str, slice, tuple[int, ...]], ...]:
    """The name, the place and the shape of every part."""
    shapes = _shapes(T, d)
    sizes = [math.prod(shape) for shape in shapes]
    return tuple(
        (name, slice(end - size, end), shape)
        for name, shape, size, end in zip(_NAMES, shapes, sizes, accumulate(sizes), strict=True)
    )


def initial_reader(
    length: int, rng: np.random.Generator, *, width: int = 64, heads: int = 16, deviation: float = 0.02
) -> AttentionReader:
    """A network with matrices, symbols and positions of entries N(0, deviation^2), biases 0 and norms of scale 1.

    Raises:
        ValueError: for a length below 1, heads that do not divide the width, or a deviation that is not positive.
    """
    if length < 1 or heads < 1 or width < 4 or width % heads or width % 4:
        raise ValueError(
            "A reader has a length of at least 1, and a width that its heads and 4 divide, "
            f"not length {length}, width {width}, heads {heads}."
        )
    if not 0 < deviation < math.inf:
        raise ValueError(f"The weights start with a finite positive deviation, not {deviation}.")
    size = sum(math.prod(shape) for shape in _shapes(length, width))
    reader = AttentionReader(length, width, heads, np.zeros(size, np.float32))
    for name, part in parameters(reader).items():
        if name.startswith("scale"):
            part[:] = 1
        elif part.ndim == 2:
            part[:] = deviation * rng.standard_normal(part.shape)
    return reader


def string_codes(bits: ArrayLike) -> Codes:
    """Bits of shape (m, T), four to a code, position 4g + i in bit i of code g.

    Raises:
        ValueError: unless the bits are zeros and ones in two axes.
    """
    array = np.asarray(bits)
    if array.ndim != 2 or not np.isin(array, (0, 1)).all():
        raise ValueError("Strings are zeros and ones of shape (strings, length).")
    padded = np.zeros((len(array), -(-array.shape[1] // 4) * 4), np.uint8)
    padded[:, : array.shape[1]] = array
    return (padded.reshape(len(array), -1, 4) << np.arange(4, dtype=np.uint8)).sum(axis=2, dtype=np.uint8)


def _tokens(reader: AttentionReader, p: Mapping[str, Floats]) -> Floats:
    """All tokens, shape (2T + 1, d): position t with the symbols 0 and 1 in rows 2t and 2t + 1, [CLS] last."""
    both = p["P"][:-1, None, :] + p["E"][None, :2, :]
    return np.concatenate([both.reshape(2 * reader.length, -1), p["E"][2:] + p["P"][-1:]])


@dataclass(frozen=True)
class _Norm:
    """A layer norm that was applied: its result, and what its gradient needs."""

    out: Floats
    normal: Floats
    inverse: Floats


@dataclass(frozen=True)
class _Mixture:
    """The attention of [CLS]: normed tokens, query, keys seen by the query, e = exp(scores), values, and the sums."""

    tokens: _Norm
    query: Floats
    seen: Floats
    weights: Floats
    values: Floats
    sums: Floats


def _norm(x: Floats, scale: Floats, shift: Floats) -> _Norm:
    norm = _Norm(np.empty_like(x), np.empty_like(x), np.empty(len(x), np.float32))
    normalise(x, scale, shift, norm.normal, norm.inverse, norm.out)
    return norm


def _affine(x: Floats, matrix: Floats, bias: Floats | None = None) -> Floats:
    result = np.zeros((len(x), matrix.shape[1]), np.float32)
    if bias is not None:
        result[:] = bias
    product(x, matrix, result)
    return result


def _back(dout: Floats, matrix: Floats) -> Floats:
    """The gradient dout W^T of an affine map in its input."""
    result = np.zeros((len(dout), matrix.shape[0]), np.float32)
    product(dout, np.ascontiguousarray(matrix.T), result)
    return result


def _seen(reader: AttentionReader, query: Floats, keys: Floats) -> Floats:
    """The matrix G (d, heads) with which the scores of tokens u are u G: W_K,h q_h / sqrt(k) in column h."""
    size = reader.width // reader.heads
    per_head = keys.reshape(reader.width, reader.heads, size) * query.reshape(reader.heads, size)
    return np.ascontiguousarray(per_head.sum(axis=2) * np.float32(1 / math.sqrt(size)))


def _mixture(reader: AttentionReader, p: Mapping[str, Floats], x: Floats, codes: Codes) -> _Mixture:
    tokens = _norm(x, p["scale1"], p["shift1"])
    query = _affine(tokens.out[-1:], p["WQ"], p["bQ"])[0]
    seen = _seen(reader, query, p["WK"])
    weights = _affine(tokens.out, seen)
    weights -= weights.max(axis=0)
    exponentials(weights.reshape(-1))
    values = _affine(tokens.out, p["WV"], p["bV"])
    spread = np.repeat(weights, reader.width // reader.heads, axis=1)
    sums = np.empty((len(codes), reader.width + reader.heads), np.float32)
    mix(np.concatenate([spread * values, weights], axis=1), codes, reader.length, sums)
    return _Mixture(tokens, query, seen, weights, values, sums)


def _mixed(reader: AttentionReader, mixture: _Mixture) -> tuple[Floats, Floats]:
    """The mixed values (m, d), and the denominators of the softmax, repeated for the channels of each head."""
    below = np.repeat(mixture.sums[:, reader.width :], reader.width // reader.heads, axis=1)
    return mixture.sums[:, : reader.width] / below, below


def _readout(p: Mapping[str, Floats], mixed: Floats, start: Floats) -> tuple[_Norm, Floats, Floats, _Norm, Floats]:
    """The second norm, the hidden layer with its slopes, the last norm and the logits (m, 2)."""
    y = _affine(mixed, p["WO"], p["bO"] + start)
    second = _norm(y, p["scale2"], p["shift2"])
    before = _affine(second.out, p["W1"], p["b1"])
    hidden, slope = np.empty_like(before), np.empty_like(before)
    gelu(before, hidden, slope)
    y += p["b2"]
    product(hidden, p["W2"], y)
    last = _norm(y, p["scale_out"], p["shift_out"])
    return second, hidden, slope, last, _affine(last.out, p["W_out"])


def _check_codes(reader: AttentionReader, codes: Codes) -> None:
    if codes.ndim != 2 or codes.shape[1] != -(-reader.length // 4):
        raise ValueError(f"The network reads codes of strings of {reader.length} bits, not codes {codes.shape}.")


def predictions(reader: AttentionReader, codes: Codes) -> Floats:
    """The logits of the labels 0 and 1, shape (m, 2), for strings as `string_codes` has them.

    Raises:
        ValueError: for codes of another length.
    """
    _check_codes(reader, codes)
    p = parameters(reader)
    x = _tokens(reader, p)
    mixed, _ = _mixed(reader, _mixture(reader, p, x, codes))
    return _readout(p, mixed, x[-1])[-1]


def attention_weights(reader: AttentionReader, bits: ArrayLike) -> Floats:
    """The softmax weights of [CLS] on the T positions and on itself, shape (m, heads, T + 1), for bits of shape (m, T).

    Raises:
        ValueError: unless the bits are zeros and ones in rows of the length of the reader.
    """
    array, p = np.asarray(bits), parameters(reader)
    codes = string_codes(array)
    if array.shape[1] != reader.length:
        raise ValueError(f"The network reads strings of {reader.length} bits, not of {array.shape[1]}.")
    weights = _mixture(reader, p, _tokens(reader, p), codes).weights
    rows = np.concatenate([2 * np.arange(reader.length) + array, np.full((len(array), 1), 2 * reader.length)], axis=1)
    chosen = weights[rows].transpose(0, 2, 1)
    return chosen / chosen.sum(axis=2, keepdims=True)


def loss_and_gradient(reader: AttentionReader, codes: Codes, labels: NDArray[np.int64]) -> tuple[float, int, Floats]:
    """The mean cross entropy of labelled strings, the number of wrong predictions, and the gradient, shaped as theta.

    Raises:
        ValueError: for codes of another length, or labels that are not a 0 or a 1 for each string.
    """
    _check_codes(reader, codes)
    if labels.shape != (len(codes),) or not len(codes) or not ((labels == 0) | (labels == 1)).all():
        raise ValueError(f"{len(codes)} strings have as many labels, at least one, each 0 or 1.")
    p = parameters(reader)
    result = AttentionReader(reader.length, reader.width, reader.heads, np.zeros_like(reader.theta))
    g = parameters(result)
    x = _tokens(reader, p)
    mixture = _mixture(reader, p, x, codes)
    mixed, below = _mixed(reader, mixture)
    second, hidden, slope, last, logits = _readout(p, mixed, x[-1])

    margin = np.where(labels == 1, logits[:, 1] - logits[:, 0], logits[:, 0] - logits[:, 1])
    wrong_share = (1 / (1 + np.exp(np.float64(margin)))).astype(np.float32)
    toward = np.where(labels == 1, np.float32(1), np.float32(-1)) * wrong_share / np.float32(len(labels))
    dlogits = np.stack([toward, -toward], axis=1)

    transposed_product(last.out, dlogits, g["W_out"])
    dy = np.zeros_like(last.out)
    normalise_back(_back(dlogits, p["W_out"]), last.normal, last.inverse, p["scale_out"],
                   g["scale_out"], g["shift_out"], dy)  # fmt: skip
    add_columns(dy, g["b2"])
    transposed_product(hidden, dy, g["W2"])
    slope *= _back(dy, p["W2"])
    add_columns(slope, g["b1"])
    transposed_product(second.out, slope, g["W1"])
    normalise_back(_back(slope, p["W1"]), second.normal, second.inverse, p["scale2"],
                   g["scale2"], g["shift2"], dy)  # fmt: skip
    add_columns(dy, g["bO"])
    transposed_product(mixed, dy, g["WO"])
    dx = _attention_back(reader, p, g, mixture, _back(dy, p["WO"]) / below, mixed, codes)
    dx[-1] += g["bO"]
    g["E"][:2] = dx[:-1].reshape(reader.length, 2, -1).sum(axis=0)
    g["E"][2] = g["P"][-1] = dx[-1]
    g["P"][:-1] = dx[:-1].reshape(reader.length, 2, -1).sum(axis=1)
    return float(np.logaddexp(0, -np.float64(margin)).mean()), int((margin <= 0).sum()), result.theta


def _attention_back(
    reader: AttentionReader, p: Mapping[str, Floats], g: Mapping[str, Floats], mixture: _Mixture, dtop: Floats,
    mixed: Floats, codes: Codes,
) -> Floats:  # fmt: skip
    """Write the gradients of the attention into g; the gradient in the tokens. ``dtop`` is that of the numerators."""
    d, h = reader.width, reader.heads
    size = d // h
    dbelow = -(dtop * mixed).reshape(-1, h, size).sum(axis=2)
    dtable = np.empty((2 * reader.length + 1, d + h), np.float32)
    unmix(np.concatenate([dtop, dbelow], axis=1), codes, reader.length, dtable)
    dvalues = dtable[:, :d] * np.repeat(mixture.weights, size, axis=1)
    dscores = dtable[:, d:] + (dtable[:, :d] * mixture.values).reshape(-1, h, size).sum(axis=2)
    dscores *= mixture.weights
    u = mixture.tokens.out
    transposed_product(u, dvalues, g["WV"])
    add_columns(dvalues, g["bV"])
    du = _back(dvalues, p["WV"])
    du += _back(dscores, mixture.seen)
    dseen = np.zeros_like(mixture.seen)
    transposed_product(u, dscores, dseen)
    dseen *= np.float32(1 / math.sqrt(size))
    spread = np.repeat(dseen, size, axis=1)
    g["WK"][:] = spread * mixture.query
    dquery = (spread * p["WK"]).sum(axis=0)
    g["WQ"][:] = np.outer(u[-1], dquery)
    g["bQ"][:] = dquery
    du[-1] += _back(dquery[None], p["WQ"])[0]
    dx = np.zeros_like(u)
    normalise_back(du, mixture.tokens.normal, mixture.tokens.inverse, p["scale1"], g["scale1"], g["shift1"], dx)
    return dx


class Adam:
    """Adam with decoupled weight decay on the matrices of the layers, for one network, which it changes in place.

    Raises:
        ValueError: for a rate that is not positive, or a negative decay.
    """

    def __init__(self, reader: AttentionReader, *, rate: float = 1e-3, decay: float = 1e-4) -> None:
        if not 0 < rate < math.inf or not 0 <= decay * rate < 1:
            raise ValueError(f"Adam needs a finite rate > 0 and 0 <= rate * decay < 1, not {rate} and {decay}.")
        self._reader, self._rate, self._steps = reader, np.float32(rate), 0
        self._first, self._second = np.zeros_like(reader.theta), np.zeros_like(reader.theta)
        self._keep = np.ones_like(reader.theta)
        kept = parameters(AttentionReader(reader.length, reader.width, reader.heads, self._keep))
        for name in _DECAYED:
            kept[name][:] = np.float32(1 - rate * decay)

    def step(self, codes: Codes, labels: NDArray[np.int64]) -> tuple[float, int]:
        """One step on labelled strings; their mean loss and the number of wrong predictions before it."""
        loss, wrong, gradient = loss_and_gradient(self._reader, codes, labels)
        self._steps += 1
        adam_step(self._reader.theta, gradient, self._first, self._second, self._keep, self._rate, self._steps,
                  np.float32(0.9), np.float32(0.999))  # fmt: skip
        return loss, wrong
