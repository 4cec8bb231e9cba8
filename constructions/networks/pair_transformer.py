"""One-layer transformers that answer (a, b, =): all pre-activations and all logits over Z_n x Z_n, and their files.

The tokens 0, ..., n - 1 and n, which is "=", stand at the positions 0, 1 and 2. With rows x of the embedding and P of
the positions, the last token has, after softmax heads that are added to the stream,

    s(a, b) = x_n + P_2 + sum_h head_h(x_a + P_0, x_b + P_1, x_n + P_2),      z(a, b) = s(a, b) W_in + b_in,
    L(a, b) = (s(a, b) + relu(z(a, b)) W_out + b_out) W_U + b_U
            = sum_i relu(z_i(a, b)) w_i + (s(a, b) + b_out) W_U + b_U,        w_i row i of W_out W_U.

So the logits are a sum of neurons, beside a *straight path*. No z_i(a, b) need be u_i(a) + v_i(b): attention depends on
a and b. Nothing is left out here, and nothing approximated: the tables come from a forward pass of every pair.

A file has the names of a HookedTransformer of TransformerLens: embed.W_E, pos_embed.W_pos, blocks.0.attn.W_Q, W_K, W_V
and W_O with a head along the first axis, blocks.0.mlp.W_in and W_out, unembed.W_U, and biases or none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.attention_checkpoints import attention_parts
from lemmata.constructions.networks.checkpoints import read_tensors
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.hooked_perceptrons import hooked_perceptron, without_hooked_perceptron
from lemmata.numerics.exact.integers import checked_integer

__all__ = [
    "ACCEPTED_PAIR_TRANSFORMERS",
    "PairTables",
    "PairTransformer",
    "is_attention",
    "load_pair_transformer",
    "pair_transformer",
]

Floats = NDArray[np.float64]

ACCEPTED_PAIR_TRANSFORMERS = (
    "names of a HookedTransformer (embed.W_E of n + 1 rows, the last of them of the token =, pos_embed.W_pos, "
    "blocks.0.attn.W_Q, ..., blocks.0.mlp.W_in, ..., unembed.W_U), one block, without LayerNorm"
)


@dataclass(frozen=True, eq=False)
class PairTables:
    """What a network computes on all n^2 pairs.

    Attributes:
        preactivations: z_i(a, b), shape (n, n, m).
        directions: w_i(c), shape (m, n).
        straight: the logits of the straight path, shape (n, n, n).

    Raises:
        ValueError: for shapes that do not fit, and for numbers that are not finite, so that a forward pass overflowed.
    """

    preactivations: Floats
    directions: Floats
    straight: Floats

    def __post_init__(self) -> None:
        n, m = len(self.preactivations), self.preactivations.shape[-1]
        shapes = self.preactivations.shape, self.directions.shape, self.straight.shape
        if shapes != ((n, n, m), (m, n), (n, n, n)) or n < 2 or m < 1:
            raise ValueError(
                f"The tables of m neurons over Z_n have shapes (n, n, m), (m, n), (n, n, n), not {shapes}."
            )
        if not all(np.isfinite(part).all() for part in (self.preactivations, self.straight, self.logits)):
            raise ValueError("A forward pass gives numbers that are not finite: the weights are too large for floats.")

    @property
    def activations(self) -> Floats:
        """relu(z_i(a, b)), shape (n, n, m)."""
        return np.maximum(self.preactivations, 0)

    @property
    def logits(self) -> Floats:
        """L(a, b)[c], shape (n, n, n)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.activations @ self.directions + self.straight

    def renumbered(self, rows: NDArray[Any], columns: NDArray[Any], labels: NDArray[Any]) -> PairTables:
        """The tables in which a, b and c stand for rows[a], columns[b] and labels[c] of these."""
        cells = np.ix_(rows, columns)
        return PairTables(
            self.preactivations[cells], self.directions[:, labels], self.straight[np.ix_(rows, columns, labels)]
        )


@dataclass(frozen=True, eq=False)
class PairTransformer:
    """Heads and an MLP of ReLUs, both added to the stream, with all that is around them; see the module.

    Attributes:
        embedding: x, shape (n + 1, d); row n is that of "=".
        positions: P, shape (3, d).
        heads: added to the stream; softmax.
        inward: W_in, b_in.
        outward: W_out, b_out.
        readout: W_U, b_U, to n labels.

    Raises:
        ValueError: for widths that do not fit.
    """

    embedding: Floats
    positions: Floats
    heads: AttentionLayer
    inward: Affine
    outward: Affine
    readout: Affine

    def __post_init__(self) -> None:
        d, n = self.embedding.shape[1], len(self.embedding) - 1
        if self.positions.shape != (3, d) or self.readout.weight.shape != (d, n) or self.heads.inputs != d:
            raise ValueError(
                f"An embedding {self.embedding.shape} needs positions (3, {d}), heads of width {d} and a readout "
                f"({d}, {n}), not {self.positions.shape}, {self.heads.inputs} and {self.readout.weight.shape}."
            )

    @property
    def modulus(self) -> int:
        """The number n of elements."""
        return len(self.embedding) - 1

    def tables(self) -> PairTables:
        """Everything on all pairs, by n^2 forward passes, a row at a time.

        Raises:
            ValueError: where a forward pass overflows.
        """
        n, P = self.modulus, self.positions
        last = np.broadcast_to(self.embedding[n] + P[2], (n, len(P[2])))
        second = self.embedding[:n] + P[1]
        with np.errstate(over="ignore", invalid="ignore"):  # refused by the tables
            rows = [
                self.heads(np.stack([np.broadcast_to(x + P[0], second.shape), second, last], axis=1))[:, -1]
                for x in self.embedding[:n]
            ]
            stream = np.stack(rows)
            return PairTables(
                self.inward(stream),
                self.outward.weight @ self.readout.weight,
                self.readout(stream + self.outward.offset),
            )


def is_attention(names: Iterable[str]) -> bool:
    """Whether named tensors are those of a model with attention, which is no network for `load_operation_weights`."""
    marks = (".attn.", "attn.W_", "in_proj_weight", "query.weight", "q_proj")
    return any(mark in name for name in names for mark in marks)


def load_pair_transformer(path: str | os.PathLike[str], modulus: int) -> PairTransformer:
    """The one-layer transformer in a file; see `pair_transformer`.

    Raises:
        ValueError: as `read_tensors` and `pair_transformer`, naming the file.
        OSError: for a file that cannot be read.
    """
    tensors = read_tensors(path)
    try:
        return pair_transformer(tensors, modulus)
    except ValueError as error:
        raise ValueError(f"{Path(path).name}: {error}") from error


def pair_transformer(
    tensors: Mapping[str, NDArray[Any]], modulus: int, *, scale: float | None = None
) -> PairTransformer:
    """The one-layer transformer among named arrays, for pairs of 0, ..., n - 1.

    Args:
        tensors: the arrays by name; see the module. Outputs and positions beyond those needed are left out.
        modulus: n, at least 2.
        scale: the factor on the scores; 1/sqrt(k) with the key dimension k of a head, if None.

    Raises:
        ValueError: for names of another kind, LayerNorm, several blocks, no MLP, shapes that do not fit, numbers that
            are not finite, another number of tokens than n + 1, and a factor that is not positive and finite.
    """
    n = checked_integer("The modulus", modulus, 2)
    if scale is not None and not (np.isfinite(scale) and scale > 0):
        raise ValueError(f"The factor on the scores must be positive and finite, not {scale}.")
    rest, found = without_hooked_perceptron(tensors)
    if not found:
        raise ValueError(
            "There is no tensor blocks.0.mlp.W_in of an MLP, whose neurons could be read. Accepted: "
            f"{ACCEPTED_PAIR_TRANSFORMERS}."
        )
    parts = attention_parts(rest)
    if len(parts.layers) != 1:
        raise ValueError(f"There are {len(parts.layers)} blocks. Accepted: {ACCEPTED_PAIR_TRANSFORMERS}.")
    width = parts.embedding.shape[1]
    if len(parts.embedding) != n + 1:
        raise ValueError(
            f"The embedding has {len(parts.embedding)} tokens; those of addition modulo {n} are 0, ..., {n - 1} and "
            f"{n}, which is =, at the positions a, b, =."
        )
    positions = parts.positions[:3] if len(parts.positions) else np.zeros((3, width))
    if parts.readout.shape[1] < n or len(positions) < 3:
        raise ValueError(
            f"For a, b, = and {n} labels three positions and {n} outputs are needed, not {len(positions)} and "
            f"{parts.readout.shape[1]}."
        )
    factor: dict[str, Any] = {"sharpness": float(scale)} if scale is not None else {}
    heads = tuple(
        Head(**maps, **(factor or {"temperature_squared": maps["query"].outputs})) for maps in parts.layers[0]
    )
    return PairTransformer(
        parts.embedding,
        positions,
        AttentionLayer(heads),
        *hooked_perceptron(found, width),
        Affine(parts.readout[:, :n], parts.shift[:n]),
    )
