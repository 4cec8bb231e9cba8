"""The input embedding of token regression: the token, the code of its position, and the codes of its indices.

    z_i = (x_i; sqrt(c) omega_i; sqrt(c) omega_(t_i1); ...; sqrt(c) omega_(t_iq)),      width d + (q + 1) d_e,

with c = d/q for attention, so that |z_i|^2 = |x_i|^2 + d (1 + 1/q), and c = 1 for recurrent networks, where
|z_i|^2 = |x_i|^2 + q + 1. Exact numbers need sqrt(c) times the codes rational.

Source: qstr, construction-encoding.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from flint import fmpq

from lemmata.numerics.exact.systems import Arithmetic, Array, conversion, number_system
from lemmata.numerics.tokens.codes import PositionCodes
from lemmata.numerics.tokens.prompts import MEMORY, Prompts, require_memory

__all__ = ["Variant", "block_sizes", "encode", "encoding_scale", "radius"]

Variant = Literal["attention", "recurrent"]


def block_sizes(dimension: int, sparsity: int, code_dimension: int) -> dict[str, int]:
    """The blocks of z and their sizes, in order: x, position, index_1, ..., index_q; for a `ResidualStream`."""
    return {"x": dimension, "position": code_dimension} | {
        f"index_{number}": code_dimension for number in range(1, sparsity + 1)
    }


def encoding_scale(dimension: int, sparsity: int, variant: Variant) -> fmpq:
    """c, the square of the factor on the codes: d/q for attention, 1 for recurrent networks."""
    if variant not in get_args(Variant):
        raise ValueError(f"The encoding is one of {', '.join(get_args(Variant))}, not {variant!r}.")
    return fmpq(dimension, sparsity) if variant == "attention" else fmpq(1)


def encode(
    prompts: Prompts,
    codes: PositionCodes,
    variant: Variant = "attention",
    system: Arithmetic | None = None,
    *,
    limit: int = MEMORY,
) -> Array:
    """z, shape (n, N, d + (q + 1) d_e), in a number system.

    Args:
        prompts: n prompts of N tokens.
        codes: at least N of them.
        variant: "attention" or "recurrent".
        system: that of the tokens if None.
        limit: the bytes that z may take.

    Raises:
        ValueError: for too few codes, exact numbers whose factor is irrational, or more than the limit.
    """
    if codes.count < prompts.length:
        raise ValueError(f"Prompts of {prompts.length} tokens need as many position codes, not {codes.count}.")
    d, q = prompts.dimension, prompts.sparsity
    system = number_system([prompts.tokens]) if system is None else system
    require_memory("The encoded prompts", (prompts.count, prompts.length, d + (q + 1) * codes.dimension), limit)
    scale = encoding_scale(d, q, variant)
    rows = codes.rows(np.arange(prompts.length), system, scale)
    own = np.broadcast_to(rows, (prompts.count, *rows.shape))
    pointed = rows[prompts.indices].reshape(prompts.count, prompts.length, q * codes.dimension)
    return np.concatenate([conversion(system)(prompts.tokens), own, pointed], axis=-1)


def radius(token_radius: float, dimension: int, sparsity: int, variant: Variant = "attention") -> float:
    """r_z, the largest |z_i| for tokens of length at most r_x: the root of r_x^2 + c (q + 1)."""
    scale = encoding_scale(dimension, sparsity, variant) * (sparsity + 1)
    return float(np.sqrt(token_radius**2 + int(scale.p) / int(scale.q)))
