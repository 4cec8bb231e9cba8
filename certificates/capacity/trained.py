"""Trained heads with everything around them: the norms of a class that training may choose.

The theory covers a sum of softmax heads without activation between tokens and a linear readout of one token:

    f = u.x_tau + sum_h w.head_h(x_tau; x_1, ..., x_T) + b,        x_t = E_(s_t) + P_t.

All of E, P, w, b and the heads are weights that training chose. None is given a norm of its own here. The token (s, t)
is the sum of two one-hot vectors, which no training changes, and F = (E; P) is a factor of the matrices around it:

    v_h = F W_V W_O w,        M_h = F W_Q W_K^T F^T / sqrt(k),        u = F w,

so that no factor can hide a norm from another, or from the report. Biases are weights of a constant coordinate 1; that
of the keys adds the same to all scores of a query, and changes nothing. No file shows whether the heads are added to
the stream: u is a part of the class unless that is excluded.

*A perceptron* of one hidden layer of ReLUs may stand between the stream and the readout, with or without a residual
connection around it. Then one norm W of paths (`lemmata.numerics.learning.perceptron_capacity`), in which every matrix
behind the scores is a factor, stands for the values of all heads and for u: the class has at most the complexity of
linear readers with the norm 2 W.

*Norms that training chose.* A bound is for a class that does not depend on the sample. Each norm is rounded up to a
power 2^(j/4), j >= -240, and pays for it with the share 1/(4 (|j| + 1)^2) of the probability of failure: the shares of
all j have a sum below 1, since 2 zeta(2) - 1 < 4, so that the bound holds for all powers at once.

Source: variable-creation, corollary-4.9, lemma-A.12, with a readout; proofs/head_capacity.md there, step 15, and
ext-perceptron.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, fmpq

from lemmata.certificates.capacity.heads import homogeneous_matrices
from lemmata.certificates.capacity.norms import head_norms, score_norm, token_norm
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.balls import as_balls, ball_max, checked_bound
from lemmata.numerics.exact.systems import Array, matrix_product
from lemmata.numerics.learning.attention_capacity import HeadNorms, ReadNorms
from lemmata.numerics.learning.attention_lipschitz import largest_row_norm
from lemmata.numerics.learning.perceptron_capacity import perceptron_norm

__all__ = ["MeasuredReader", "PeeledNorm", "TrainedPerceptron", "TrainedReader", "measured_reader", "peeled"]

STEPS, LEAST = 4, -240
"""Norms are rounded up to the powers 2^(j/4), j >= -240."""


@dataclass(frozen=True, eq=False)
class TrainedPerceptron:
    """One hidden layer of ReLUs between the stream and the readout.

    Attributes:
        inward: from the stream to the units, d to h.
        outward: back, h to d.
        residual: whether its output is added to the stream; None if nothing says so.
    """

    inward: Affine
    outward: Affine
    residual: bool | None


@dataclass(frozen=True, eq=False)
class TrainedReader:
    """Heads and what is around them, with every tensor accounted for.

    Attributes:
        heads: the softmax heads that are added.
        table: F, shape (n, d): rows for tokens, then rows for positions; None if the tokens come from outside.
        positions: how many of the rows are positions.
        readout: w, shape (d,), in balls, or None.
        shift: b.
        residual: whether the heads are added to the stream; None if nothing says so.
        roles: what every tensor was taken for.
        scale: how the scores are scaled, in words.
        perceptron: behind the heads, or None.
    """

    heads: tuple[Head, ...]
    table: Array | None
    positions: int
    readout: Array | None
    shift: arb
    residual: bool | None
    roles: Mapping[str, str]
    scale: str
    perceptron: TrainedPerceptron | None = None

    def by_role(self) -> dict[str, list[str]]:
        """The names of the tensors of every role."""
        result: dict[str, list[str]] = {}
        for name, role in sorted(self.roles.items()):
            result.setdefault(role, []).append(name)
        return result

    @property
    def kinds(self) -> int | None:
        """How many different tokens there are, with their positions; None if they come from outside."""
        if self.table is None:
            return None
        tokens = len(self.table) - self.positions
        return max(1, tokens) * (self.positions + 1)


@dataclass(frozen=True, eq=False)
class MeasuredReader:
    """The norms of a class that holds a `TrainedReader`.

    Attributes:
        norms: of each head, as a vector reads it if there is one in the file, and else of its matrices.
        residual: U, the norm of u, or None if the class has no residual connection.
        tokens: B_X, what the class knows of tokens without training: the norm of one-hot vectors, or the number given.
        kinds: how many different tokens there are, or None.
        width: the outputs of a head.
        assumed: what no weight shows, in sentences.
        paths: W, if there is a perceptron; 2 W is the norm of values in all `norms` then, and U.
    """

    norms: tuple[ReadNorms, ...] | tuple[HeadNorms, ...]
    residual: arb | None
    tokens: arb
    kinds: int | None
    width: int
    assumed: tuple[str, ...]
    paths: arb | None = None

    def named(self) -> dict[str, arb]:
        """Every norm that training chose, by its name."""
        if self.paths is not None:
            several = len(self.norms) > 1
            fronts = [f"head {number}: " if several else "" for number in range(1, len(self.norms) + 1)]
            scores = {f"{front}scores": one.scores for front, one in zip(fronts, self.norms, strict=True)}
            return {"paths to the output": self.paths, **scores}
        result = {} if self.residual is None else {"residual readout": self.residual}
        for number, one in enumerate(self.norms, start=1):
            front = f"head {number}: " if len(self.norms) > 1 else ""
            if isinstance(one, ReadNorms):
                result |= {f"{front}values as they are read": one.value, f"{front}scores": one.scores}
            else:
                columns = {f"{front}columns of W_V": one.value_columns, f"{front}W_V": one.value}
                result |= columns | {f"{front}scores": one.scores}
        return result

    def rounded(self) -> tuple[MeasuredReader, list[PeeledNorm], fmpq]:
        """The class with every norm rounded up, how, and the share of delta that is left; see the module."""
        norms, share = peeled(self.named())
        powers = [norm.counted for norm in norms]
        if self.paths is not None:
            W, *scores = powers
            residual = None if self.residual is None else 2 * W
            reads = tuple(ReadNorms(2 * W, Q) for Q in scores)
            return replace(self, norms=reads, residual=residual, paths=W), norms, share
        residual = None if self.residual is None else powers.pop(0)
        size = len(powers) // len(self.norms)
        kind = type(self.norms[0])
        groups = [powers[i : i + size] for i in range(0, len(powers), size)]
        return replace(self, norms=tuple(kind(*group) for group in groups), residual=residual), norms, share


@dataclass(frozen=True)
class PeeledNorm:
    """A norm that training chose.

    Attributes:
        name: of what.
        norm: as it was measured.
        counted: the power 2^(j/4) that stands for it in the bound.
        exponent: j.
        share: of the probability of failure.
    """

    name: str
    norm: arb
    counted: arb
    exponent: int
    share: fmpq


def peeled(norms: Mapping[str, arb]) -> tuple[list[PeeledNorm], fmpq]:
    """Every norm rounded up to a power 2^(j/4) with its share, and the product of the shares; see the module."""
    result, product = [], fmpq(1)
    for name, norm in norms.items():
        j = LEAST
        while not norm <= arb(2) ** arb(fmpq(j, STEPS)):
            j += 1
        share = fmpq(1, 4 * (abs(j) + 1) ** 2)
        result.append(PeeledNorm(name, norm, arb(2) ** arb(fmpq(j, STEPS)), j, share))
        product *= share
    return result, product


def measured_reader(
    reader: TrainedReader, *, tokens: object = None, frozen: bool = False, residual: bool | None = None
) -> MeasuredReader:
    """The norms of the class of a trained reader, with sharpness, temperature, output maps and biases in them.

    Args:
        reader: as `lemmata.certificates.capacity.reading.read_trained` gives it.
        tokens: B_X >= 0, the largest norm of a token, where the file has no embedding; needed then.
        frozen: whether embedding and positions were fixed before the sample was drawn, so that they are no weights.
        residual: whether the heads are added to the stream, where no file says it; both are covered if None.

    Raises:
        ValueError: for tokens that are given beside an embedding, or missing without one, or no number; for ``frozen``
            without an embedding, another answer than that of the file on the residual connection, heads with another
            weighing, relative keys or a null pair, and a perceptron without a readout.
    """
    if reader.residual is not None and residual not in (None, reader.residual):
        raise ValueError("These weights belong to heads that are added to the stream: they have a residual connection.")
    for head in reader.heads:
        if head.weigh != "softmax" or len(head.relative_keys) or head.null is not None:
            raise ValueError("The capacity bounds are for softmax heads without relative keys and without a null pair.")
    bound, assumed = _token_bound(reader, tokens, frozen)
    table = None if frozen else reader.table
    parts = [part for head in reader.heads for part in (head.query, head.value, head.output) if part is not None]
    if reader.perceptron is not None:
        if reader.readout is None:
            raise ValueError("Behind a perceptron the readout must be among the weights, which it is not.")
        parts += [reader.perceptron.inward, reader.perceptron.outward]
    biased = not reader.shift.is_zero() or any(part.offset.any() for part in parts)
    if biased:
        bound = (bound**2 + 1).sqrt()
    with_stream = reader.readout is not None and (reader.residual if residual is None else residual) is not False
    if reader.readout is not None and reader.residual is None and residual is None:
        assumed.append("heads that are added to the stream or not: both are covered")
    elif not with_stream:
        assumed.append("heads that are not added to the stream")
    assumed.append(f"{len(reader.heads)} heads side by side, with scores {reader.scale}")
    assumed.append("one token of a context is read, and attends to all of them or to some; heads have no activation")
    if reader.perceptron is not None:
        assumed.append("the perceptron is behind the heads, with ReLUs between its two maps")
    assumed.append("nothing else is between the weights, such as a normalisation that has none of its own")
    made = [_matrices(head, table, biased) for head in reader.heads]
    scores = [score_norm(matrix) for _, matrix in made]
    kept: dict[str, Any] = {"tokens": bound, "kinds": reader.kinds, "width": reader.heads[0].outputs}
    if reader.readout is None:
        norms = tuple(head_norms(*pair) for pair in made)
        return MeasuredReader(norms, None, assumed=tuple(assumed), **kept)
    w = as_balls(reader.readout)[:, None]
    front = None
    if with_stream:
        front = as_balls(np.eye(len(w), dtype=np.int64)) if table is None else as_balls(table)
    if reader.perceptron is not None:
        if reader.perceptron.residual is None:
            assumed.append("a perceptron that is added to the stream or not: both are covered")
        W = _paths(reader, reader.perceptron, w, ([value for value, _ in made], front), biased)
        reads = tuple(ReadNorms(2 * W, Q) for Q in scores)
        return MeasuredReader(reads, 2 * W if with_stream else None, assumed=tuple(assumed), paths=W, **kept)
    values = [matrix_product(value, w) for value, _ in made]
    if biased:
        values[0][-1, 0] = values[0][-1, 0] + reader.shift
    reads = tuple(ReadNorms(largest_row_norm(v.T), Q) for v, Q in zip(values, scores, strict=True))
    stream = None if front is None else largest_row_norm(matrix_product(front, w).T)
    return MeasuredReader(reads, stream, assumed=tuple(assumed), **kept)


def _paths(
    reader: TrainedReader, perceptron: TrainedPerceptron, w: Array, maps: tuple[list[Array], Array | None], biased: bool
) -> arb:
    """W, the larger one if nothing says whether the perceptron is added to the stream.

    Constants are weights of the constant coordinate of the first head, whose weights have the sum 1.
    """
    values, front = maps
    inward, outward = as_balls(perceptron.inward.weight), as_balls(perceptron.outward.weight)
    parts = [*values] if front is None else [*values, front]
    hidden = [matrix_product(part, inward) for part in parts]
    linear = [matrix_product(part, w)[:, 0] for part in parts]
    outputs = matrix_product(outward, w)[:, 0]
    if biased:
        hidden[0][-1] = hidden[0][-1] + as_balls(perceptron.inward.offset)
    found = []
    for added in (True, False) if perceptron.residual is None else (perceptron.residual,):
        straight = [part.copy() if added else 0 * part for part in linear]
        if biased:
            (constant,) = matrix_product(as_balls(perceptron.outward.offset)[None], w)[0].tolist()
            straight[0][-1] = straight[0][-1] + constant + reader.shift
        found.append(perceptron_norm(straight, hidden, outputs))
    return ball_max(found)


def _matrices(head: Head, table: Array | None, biased: bool) -> tuple[Array, Array]:
    """A and M of a head, behind F, with a constant coordinate if there are biases; the bias of keys is left out."""
    plain = replace(head, key=Affine(head.key.weight))
    if table is not None:
        F = as_balls(table)
        query, key, value = (
            Affine(matrix_product(F, as_balls(part.weight)), as_balls(part.offset))
            for part in (plain.query, plain.key, plain.value)
        )
        plain = replace(plain, query=query, key=key, value=value, relative_keys=np.zeros((0, 0), dtype=np.int64))
    value, scores = homogeneous_matrices(plain)
    return (value, scores) if biased else (value[:-1], scores[:-1, :-1])


def _token_bound(reader: TrainedReader, tokens: object, frozen: bool) -> tuple[arb, list[str]]:
    """B_X, and what is assumed of tokens."""
    if reader.table is None:
        if frozen:
            raise ValueError("There is no embedding among the weights that could be fixed.")
        if tokens is None:
            raise ValueError(
                "There is no embedding among the weights: give the largest norm of a token, with its position, that "
                "holds for every sample (--tokens), or weights with an embedding."
            )
        bound = checked_bound("The bound B_X on the norms of tokens", tokens)
        return bound, [f"tokens of norm at most {tokens}, as told, whatever the sample"]
    if tokens is not None:
        raise ValueError("The weights have their own embedding: the norm of tokens is read there, not told (--tokens).")
    rows, places = as_balls(reader.table), len(reader.table) - reader.positions
    if not frozen:
        both = 0 < places < len(rows)
        return arb(2 if both else 1).sqrt(), ["tokens are embedding plus position, and neither is multiplied again"]
    sums = rows[:places, None] + rows[None, places:]
    alone = [rows[:places]] if places else [rows]
    seen = np.concatenate([*alone, sums.reshape(-1, rows.shape[1])])
    return token_norm(seen), ["embedding and positions were fixed before the sample was drawn, and are added"]
