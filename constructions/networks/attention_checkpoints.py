"""Trained attention-only transformers from files, as a `Transformer` of this library.

A file is read by `lemmata.constructions.networks.checkpoints.read_tensors`. Its names say whose it is:

    embedding, readout, layers.0.heads.0.query.weight, ...     what `to_torch` gives
    embed.W_E, blocks.0.attn.W_Q (heads, d, m), unembed.W_U    a HookedTransformer of TransformerLens
    embed.weight, blocks.0.attn.q.weight, unembed.weight       a TransformerBridge, or linear maps (out, in) in general

Something may stand before all names. The third do not say how many heads there are, nor do the first where heads with
output maps lie side by side. None says what a head does with its scores: they are taken as those of causal softmax
attention, divided by the root of the key dimension unless a factor is given, without normalisation of the stream.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.checkpoints import read_tensors
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.integers import checked_integer

__all__ = [
    "ACCEPTED_ATTENTION",
    "PARTS",
    "AttentionOnly",
    "AttentionParts",
    "attention_only",
    "attention_parts",
    "cut_heads",
    "load_attention_only",
]

Floats = NDArray[np.float64]

ACCEPTED_ATTENTION = (
    "names of lm.to_torch (embedding, readout, layers.0.heads.0.query.weight, ...), of a HookedTransformer (embed.W_E, "
    "blocks.0.attn.W_Q, ..., unembed.W_U), or of a TransformerBridge (embed.weight, blocks.0.attn.q.weight, ..., "
    "unembed.weight) with the number of heads"
)

LISTED = 8
"""How many names an error shows."""
SHORTEST, LONGEST = 16, 64
"""Between these a length is chosen; relative keys beyond a table are zero, so that it does not say how long."""
PARTS = {
    "LayerNorm": re.compile(r"(^|\.)(ln\w*|\w*norm\w*|gain|shift)(\.|$)", re.I),
    "an MLP": re.compile(r"(^|\.)(mlp|ffn?|fc\d*|linear\d+|feed_forward)(\.|$)|^layers\.\d+\.layers\.", re.I),
    "a null pair": re.compile(r"\.null_(key|value)$"),
    "rotary positions": re.compile(r"\.rotary_\w+$"),
}
"""What no attention-only model has, by how others name it."""
WITHOUT = (
    " Train it without LayerNorm (HookedTransformerConfig(normalization_type=None), no torch.nn.LayerNorm): folded "
    "into the weights, it still divides the stream by its size."
)
CENTRED = 1e-5
"""Means of rows are 0 if they are below this share of the largest entry."""


@dataclass(frozen=True, eq=False)
class AttentionOnly:
    """What a file holds.

    Attributes:
        model: the transformer, over the symbols 1, ..., k; its prefix has the tokens that precede every sequence.
        source: where the weights were found, for the reader.
        tokens: the token ids of the file that are the symbols 1, ..., k.
        left_out: how many other tokens have outputs, which are not read.
        scale: how the scores are scaled, in words.
    """

    model: Transformer
    source: str
    tokens: tuple[int, ...]
    left_out: int
    scale: str

    @property
    def length(self) -> int:
        """A length that the weights are for: that of their table of positions, or of relative keys, from 16 to 64."""
        if len(self.model.positions):
            return min(LONGEST, len(self.model.positions))
        tables = [len(head.relative_keys) for layer in self.model.layers for head in layer.heads]
        return min(LONGEST, max(SHORTEST, *tables))


@dataclass(frozen=True, eq=False)
class AttentionParts:
    """All matrices of an attention-only transformer, in the row-vector convention.

    Attributes:
        embedding: shape (n, d), a row for every token id.
        positions: shape (T, d), no row if there is no table.
        prefix: shape (r, d), tokens that precede every sequence.
        readout: shape (d, outputs).
        shift: the bias of the readout, shape (outputs,).
        layers: the heads of each layer, as the arguments of `Head`; their outputs are added to the stream.
        source: whose names they had, for the reader.
    """

    embedding: Floats
    positions: Floats
    prefix: Floats
    readout: Floats
    shift: Floats
    layers: tuple[tuple[Mapping[str, Any], ...], ...]
    source: str


def load_attention_only(
    path: str | os.PathLike[str],
    *,
    symbols: int | None = None,
    heads: int | None = None,
    scale: float | None = None,
    bos: Sequence[int] = (),
) -> AttentionOnly:
    """The attention-only transformer in a file; arguments as for `attention_only`.

    Raises:
        ValueError: as `read_tensors` and `attention_only`, naming the file.
        OSError: for a file that cannot be read.
    """
    tensors = read_tensors(path)
    try:
        return attention_only(tensors, symbols=symbols, heads=heads, scale=scale, bos=bos)
    except ValueError as error:
        raise ValueError(f"{Path(path).name}: {error}") from error


def attention_only(
    tensors: Mapping[str, NDArray[Any]],
    *,
    symbols: int | None = None,
    heads: int | None = None,
    scale: float | None = None,
    bos: Sequence[int] = (),
) -> AttentionOnly:
    """The attention-only transformer among named arrays.

    Args:
        tensors: the arrays by name; see the docstring of this module.
        symbols: k, how many tokens are symbols: the first ones that are not in ``bos``. All with an output, if None.
        heads: in every layer, where the arrays do not say it.
        scale: the factor on the scores; 1/sqrt(m) with the key dimension m of the head, if None.
        bos: token ids that stand in front of every sequence.

    Raises:
        ValueError: for arrays that are no such model, naming what was found and what is accepted; for LayerNorm, MLPs,
            rotary positions and null pairs; for a number of symbols or heads, a factor or tokens that do not fit.
    """
    return _assembled(attention_parts(tensors, heads=heads), symbols, scale, bos)


def attention_parts(tensors: Mapping[str, NDArray[Any]], *, heads: int | None = None) -> AttentionParts:
    """The matrices of an attention-only transformer among named arrays; arguments and errors as `attention_only`."""
    plain = _plain(tensors)
    if "embed.W_E" in plain:
        return _hooked(plain, heads)
    if "embed.weight" in plain:
        return _linear(plain, heads)
    if "embedding" in plain:
        return _own(plain, heads)
    raise ValueError(f"These are no weights of an attention-only transformer. {_found(tensors)}")


def _plain(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays in float64, without what stands before all names and causal masks.

    Raises:
        ValueError: for anything that no attention-only model has.
    """
    folders = [name.split(".")[:-1] for name in tensors]
    shared = takewhile(lambda level: len(set(level)) == 1, zip(*folders, strict=False))
    front = "".join(f"{level[0]}." for level in shared)
    named = {name[len(front) :]: array for name, array in tensors.items()}
    plain: dict[str, NDArray[Any]] = {}
    foreign: dict[str, list[str]] = {}
    for name, array in named.items():
        if name.endswith((".attn.mask", ".attn.IGNORE")):
            _check_mask(name, array)
            continue
        kind = next((kind for kind, pattern in PARTS.items() if pattern.search(name)), None)
        if kind is not None:
            foreign.setdefault(kind, []).append(name)
            continue
        if array.dtype.kind != "f":
            raise ValueError(f"{name} holds numbers of type {array.dtype}; weights are real floating-point numbers.")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds numbers that are not finite; every weight must be finite.")
        plain[name] = array.astype(np.float64)
    if foreign:
        parts = "; ".join(f"{kind} ({_listed(names)})" for kind, names in foreign.items())
        advice = WITHOUT if "LayerNorm" in foreign else ""
        raise ValueError(
            f"This model is more than heads of attention between an embedding and a readout: it has {parts}. Accepted "
            f"are models without LayerNorm, MLPs, rotary positions and null pairs.{advice}"
        )
    return plain


def _check_mask(name: str, array: NDArray[Any]) -> None:
    """ValueError for a mask that is not causal; the number that stands for a hidden score may be any."""
    if array.ndim == 2 and not np.array_equal(array.astype(bool), np.tril(np.ones(array.shape, dtype=bool))):
        raise ValueError(f"{name} is no causal mask: accepted are models in which tokens see the past alone.")


def _hooked(plain: dict[str, NDArray[Any]], heads: int | None) -> AttentionParts:
    """A HookedTransformer: heads along an axis of their own."""
    rest = dict(plain)
    embedding, positions, readout = _ends(rest, "embed.W_E", "pos_embed.W_pos", "unembed.W_U")
    layers = []
    for number in range(_count(rest, "blocks")):
        q, k, v, o = (_take(rest, f"blocks.{number}.attn.W_{part}", 3) for part in "QKVO")
        _check_heads(f"blocks.{number}.attn", len(q), heads)
        if not len(q) == len(k) == len(v) == len(o):
            raise ValueError(f"blocks.{number}.attn has matrices W_Q, W_K, W_V, W_O of different numbers of heads.")
        front = f"blocks.{number}.attn.b_"
        b, c, e = (_bias(rest, f"{front}{name}", part.shape[::2]) for name, part in zip("QKV", (q, k, v), strict=True))
        last = _first(_bias(rest, f"{front}O", o.shape[2:]), len(q))
        layers.append(
            tuple(
                {
                    "query": Affine(q[h], b[h]),
                    "key": Affine(k[h], c[h]),
                    "value": Affine(v[h], e[h]),
                    "output": Affine(o[h], last[h]),
                }
                for h in range(len(q))
            )
        )
    shift = _bias(rest, "unembed.b_U", readout.shape[1:])
    _nothing_left(rest)
    _check_centred([embedding, positions, *(head["output"].weight for layer in layers for head in layer)])
    source = "names of a HookedTransformer of TransformerLens"
    return AttentionParts(embedding, positions, embedding[:0], readout, shift, tuple(layers), source)


def _check_centred(writing: Sequence[Floats]) -> None:
    """ValueError if all rows that are written into the stream have the mean 0, as where LayerNorm was folded in."""
    written = [part for part in writing if part.any()]
    if written and all(abs(part.mean(axis=1)).max() <= CENTRED * abs(part).max() for part in written):
        raise ValueError(
            "All rows that are written into the stream have the mean 0, as TransformerLens leaves them where LayerNorm "
            f"was folded into the weights (LNPre), which has no weights of its own. It is not accepted.{WITHOUT}"
        )


def _linear(plain: dict[str, NDArray[Any]], heads: int | None) -> AttentionParts:
    """Linear maps (out, in), the outputs of q, k and v, and the inputs of o, running over the heads."""
    rest = dict(plain)
    embedding, positions, readout = _ends(rest, "embed.weight", "pos_embed.weight", "unembed.weight")
    if heads is None:
        raise ValueError("These names do not say how many heads lie side by side in blocks.0.attn.q.weight: give it.")
    H = checked_integer("The number of heads", heads, 1)
    layers = []
    for number in range(_count(rest, "blocks")):
        maps = {
            long: _take(rest, f"blocks.{number}.attn.{short}.weight", 2).T
            for short, long in zip("qkvo", ("query", "key", "value", "output"), strict=True)
        }
        biases = {
            long: _bias(rest, f"blocks.{number}.attn.{short}.bias", maps[long].shape[1:])
            for short, long in zip("qkvo", ("query", "key", "value", "output"), strict=True)
        }
        layers.append(cut_heads(f"blocks.{number}.attn", maps, biases, H))
    shift = _bias(rest, "unembed.bias", readout.shape[:1])
    _nothing_left(rest)
    source = "names of a TransformerBridge of TransformerLens"
    return AttentionParts(embedding, positions, embedding[:0], readout.T, shift, tuple(layers), source)


def _own(plain: dict[str, NDArray[Any]], heads: int | None) -> AttentionParts:
    """The modules of this library: runs of heads of one form, side by side."""
    rest = dict(plain)
    embedding, positions, readout = _ends(rest, "embedding", "positions", "readout")
    prefix = _take(rest, "prefix", 2) if "prefix" in rest else embedding[:0]
    width, layers = embedding.shape[1], []
    for number in range(_count(rest, "layers")):
        runs = range(_count(rest, f"layers.{number}.heads"))
        found: list[Mapping[str, Any]] = []
        for run in runs:
            front = f"layers.{number}.heads.{run}."
            maps = {name: _take(rest, f"{front}{name}.weight", 2) for name in ("query", "key", "value")}
            if f"{front}relative_keys" in rest:
                maps["relative_keys"] = _take(rest, f"{front}relative_keys", 2)
            count = maps["value"].shape[1] // width
            if f"{front}output.weight" in rest:
                maps["output"] = _take(rest, f"{front}output.weight", 2)
                if heads is None or len(runs) > 1:
                    raise ValueError(
                        f"The names do not say how many heads lie side by side in {front}query.weight: give it, for "
                        "layers with one run of heads."
                    )
                count = checked_integer("The number of heads", heads, 1)
            mapped = [name for name in maps if name != "relative_keys"]
            biases = {name: _bias(rest, f"{front}{name}.bias", maps[name].shape[1:]) for name in mapped}
            found.extend(cut_heads(front[:-1], maps, biases, count))
        _check_heads(f"layers.{number}", len(found), heads)
        layers.append(tuple(found))
    _nothing_left(rest)
    shift = np.zeros(readout.shape[1])
    return AttentionParts(embedding, positions, prefix, readout, shift, tuple(layers), "names of lm.to_torch")


def _ends(rest: dict[str, NDArray[Any]], embedding: str, positions: str, readout: str) -> tuple[Floats, Floats, Floats]:
    """The embedding, the table of positions, of no rows if it is missing, and the readout."""
    E = _take(rest, embedding, 2)
    return E, _take(rest, positions, 2) if positions in rest else E[:0], _take(rest, readout, 2)


def cut_heads(
    place: str, maps: Mapping[str, Floats], biases: Mapping[str, Floats], count: int
) -> tuple[Mapping[str, Any], ...]:
    """The maps of each of so many heads that lie side by side; those of an output map one below the other.

    Args:
        place: where the maps were found, for errors.
        maps: matrices that act on rows, by the names of the arguments of `Head`.
        biases: of those that have one; that of the output becomes the bias of the first head.
        count: how many heads.

    Raises:
        ValueError: for sizes that so many heads do not divide.
    """
    if count < 1 or any(
        part.shape[0 if name == "output" else 1] % count or not part.size for name, part in maps.items()
    ):
        shapes = ", ".join(f"{name} {part.shape}" for name, part in maps.items())
        raise ValueError(f"{place} cannot be cut into {count} heads: {shapes}.")
    cut = {name: np.split(part, count, axis=0 if name == "output" else 1) for name, part in maps.items()}
    shifts = {name: _first(bias, count) if name == "output" else np.split(bias, count) for name, bias in biases.items()}
    return tuple(
        {name: Affine(part[h], shifts[name][h]) if name in shifts else part[h] for name, part in cut.items()}
        for h in range(count)
    )


def _bias(rest: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> Floats:
    """A bias, which is removed; zeros if it is missing."""
    if name not in rest:
        return np.zeros(shape)
    array = rest.pop(name)
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, not {array.shape}.")
    return array


def _first(bias: Floats, count: int) -> list[Floats]:
    """A bias of the sum of so many heads as that of the first one."""
    return [bias, *(np.zeros_like(bias) for _ in range(count - 1))]


def _count(rest: Mapping[str, Any], what: str) -> int:
    """How many layers, or runs of heads, are there; ValueError for none, or a gap in their numbers."""
    pattern = re.compile(rf"{re.escape(what)}\.(\d+)\.")
    numbers = sorted({int(match[1]) for name in rest if (match := pattern.match(name))})
    if not numbers or numbers != list(range(len(numbers))):
        raise ValueError(f"The numbers of {what} must be 0, 1, ..., not {numbers or 'none'}. {_found(rest)}")
    return len(numbers)


def _take(rest: dict[str, NDArray[Any]], name: str, axes: int) -> Floats:
    """An array of so many axes, which is removed."""
    if name not in rest:
        raise ValueError(f"{name} is missing. {_found(rest)}")
    array = rest.pop(name)
    if array.ndim != axes or not array.size:
        raise ValueError(f"{name} must have {axes} axes, not the shape {array.shape}.")
    return array


def _check_heads(place: str, found: int, heads: int | None) -> None:
    if heads is not None and heads != found:
        raise ValueError(f"{place} has {found} heads, not {heads}.")


def _nothing_left(rest: Mapping[str, NDArray[Any]]) -> None:
    if rest:
        raise ValueError(f"Beside the parts of an attention-only transformer there are others. {_found(rest)}")


def _found(arrays: Mapping[str, NDArray[Any]]) -> str:
    listing = _listed([f"{name} {array.shape}" for name, array in arrays.items()]) or "nothing"
    return f"Found: {listing}. Accepted: {ACCEPTED_ATTENTION}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join([*names[:LISTED], *(["..."] if len(names) > LISTED else [])])


def _assembled(parts: AttentionParts, symbols: int | None, scale: float | None, bos: Sequence[int]) -> AttentionOnly:
    """The transformer over the chosen symbols."""
    if scale is not None and not (np.isfinite(scale) and scale > 0):
        raise ValueError(f"The factor on the scores must be positive and finite, not {scale}.")
    E, outputs = parts.embedding, parts.readout.shape[1]
    widths = {E.shape[1], parts.readout.shape[0], *(rows.shape[1] for rows in (parts.positions, parts.prefix))}
    if len(widths) > 1:
        raise ValueError(f"Embedding, positions and readout are those of one width, not of {sorted(widths)}.")
    foreign = [token for token in bos if not 0 <= token < len(E)]
    if foreign:
        raise ValueError(f"The embedding has the tokens 0, ..., {len(E) - 1}, not {foreign[0]}.")
    free = [token for token in range(min(len(E), outputs)) if token not in set(bos)]
    k = len(free) if symbols is None else checked_integer("The number of symbols", symbols, 2)
    if not 2 <= k <= len(free):
        raise ValueError(f"{len(free)} tokens have an embedding and an output; at least 2 symbols are needed, not {k}.")
    tokens, r = free[:k], len(bos)
    positions = parts.positions
    if len(positions) and len(positions) <= r:
        raise ValueError(f"There are {len(positions)} positions, too few for a token after {r} in front.")
    front = E[list(bos)] + (positions[:r] if len(positions) else 0)
    model = Transformer(
        embedding=E[tokens],
        prefix=np.concatenate([parts.prefix, front]),
        layers=tuple(AttentionLayer(tuple(_head(maps, scale) for maps in layer)) for layer in parts.layers),
        readout=Affine(parts.readout[:, tokens], parts.shift[tokens])
        if parts.shift.any()
        else parts.readout[:, tokens],
        positions=positions[r:],
    )
    dimensions = sorted({head.key_dimension for layer in model.layers for head in layer.heads})
    roots = " or ".join(f"sqrt({m})" for m in dimensions)
    words = f"divided by {roots}, the key dimension" if scale is None else f"times {scale:g}, as told"
    return AttentionOnly(model, parts.source, tuple(tokens), outputs - k, words)


def _head(maps: Mapping[str, Any], scale: float | None) -> Head:
    """A causal softmax head."""
    factor: dict[str, Any] = (
        {"temperature_squared": maps["query"].outputs} if scale is None else {"sharpness": float(scale)}
    )
    return Head(**maps, **factor)
