"""Trained heads that come with the library: their weights in files of decimal numbers, and where they come from.

The weights are float32, written with as many digits as tell them apart, so that they are read back bit for bit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.induction.tables import two_heads
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.runs.files import write_atomically

__all__ = [
    "SEEDS",
    "SOURCE",
    "TrainedModel",
    "exactly",
    "model_from_rows",
    "read_trained",
    "rows_of_model",
    "trained_head",
    "write_trained",
]

RESULTS = Path(__file__).parent / "results"
SOURCE = RESULTS / "trained-head-1.json"
SEEDS = (1, 2, 3, 4, 5)
"""The seeds of the trained heads that come with the library; nothing but the seed differs."""
FORMAT = "lemmata trained head 1"
MATRICES = ("query", "key", "value", "relative_keys")


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A two-layer attention-only transformer over two symbols that was trained, and how.

    Attributes:
        model: the weights.
        provenance: the arguments of `lemmata.train_induction_head`, the versions of what ran it, the measured losses.
    """

    model: Transformer
    provenance: Mapping[str, Any]


def trained_head(seed: int = 1) -> TrainedModel:
    """A trained head that comes with the library, by the seed of its training.

    Raises:
        ValueError: for a seed other than 1, ..., 5.
    """
    if seed not in SEEDS:
        raise ValueError(f"The trained heads have the seeds {', '.join(map(str, SEEDS))}, not {seed!r}.")
    return read_trained(RESULTS / f"trained-head-{seed}.json")


def read_trained(path: str | os.PathLike[str] = SOURCE) -> TrainedModel:
    """The model of a file that `write_trained` wrote; the one that comes with the library by default.

    Raises:
        ValueError: for a file of another format, and for weights that are no matrices of float32 numbers that fit.
        OSError: for a file that cannot be read.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{path} is no JSON file.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path} holds no trained head: its format must be {FORMAT!r}.")
    try:
        model, provenance = model_from_rows(document["weights"]), document["provenance"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} holds no trained head: {error} is missing or of another type.") from None
    return TrainedModel(model, MappingProxyType(dict(provenance)))


def write_trained(model: Transformer, provenance: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a model of two layers with one head each, in float32, and return the path.

    Raises:
        ValueError: if a weight is no float32 number: it would not be read back as it is.
    """
    document = {"format": FORMAT, "provenance": dict(provenance), "weights": rows_of_model(model)}
    target = Path(path)
    write_atomically((json.dumps(document, indent=1) + "\n").encode(), target)
    return target


def rows_of_model(model: Transformer) -> dict[str, Any]:
    """The weights of a model of two layers with one head each, as rows of decimal numbers.

    Raises:
        ValueError: if a weight is no float32 number, or the model has parts that the rows do not hold.
    """
    for head in two_heads(model):
        biased = any(part.bias.any() for part in (head.query, head.key, head.value))
        if biased or head.output is not None or head.sharpness != 1:
            raise ValueError("Rows of a model hold no biases, output maps or sharpness, and this model has some.")
    parts = {"embedding": model.embedding, "readout": model.readout}
    weights: dict[str, Any] = {name: _decimals(np.asarray(part)) for name, part in parts.items()}
    weights["heads"] = [
        {name: _decimals(_part(head, name)) for name in MATRICES} | {"temperature_squared": head.temperature_squared}
        for layer in model.layers
        for head in layer.heads
    ]
    return weights


def model_from_rows(weights: Mapping[str, Any]) -> Transformer:
    """The model whose weights `rows_of_model` gave.

    Raises:
        ValueError: for weights that are no matrices of finite numbers that fit, or further parts.
        KeyError, TypeError: for parts that are missing or of another type.
    """
    heads = [_head(entry) for entry in exactly(weights, ("embedding", "readout", "heads"))["heads"]]
    embedding, readout = _matrix(weights["embedding"]), _matrix(weights["readout"])
    layers = tuple(AttentionLayer((head,)) for head in heads)
    return Transformer(embedding, np.zeros((0, embedding.shape[1])), layers, readout)


def exactly(entries: Any, names: Iterable[str]) -> Mapping[str, Any]:
    """The entries, if they have these names and no others.

    Raises:
        KeyError: for a name that is missing.
        TypeError: for what has no names.
        ValueError: for a name more, which nobody would read.
    """
    if not isinstance(entries, Mapping):
        raise TypeError(repr(entries))
    names = tuple(names)
    for name in names:
        entries[name]
    unknown = [name for name in entries if name not in names]
    if unknown:
        raise ValueError(f"There is no part {unknown[0]!r} here: the parts are {', '.join(names)}.")
    return entries


def _part(head: Head, name: str) -> NDArray[np.float64]:
    part = getattr(head, name)
    return part.weight if isinstance(part, Affine) else part


def _decimals(matrix: NDArray[np.float64]) -> list[str]:
    """The rows of a matrix, entries separated by blanks."""
    narrow = matrix.astype(np.float32)
    if not np.array_equal(narrow.astype(np.float64), matrix):
        raise ValueError("A weight is no float32 number: files of trained heads hold these alone.")
    return [" ".join(np.format_float_scientific(x, unique=True, trim="-") for x in row) for row in narrow]


def _matrix(rows: Any) -> NDArray[np.float64]:
    """The matrix with these rows, as float64.

    Raises:
        ValueError: for rows of different lengths, or entries that are no finite numbers.
    """
    if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
        raise TypeError(repr(rows))
    values = [[np.float32(entry) for entry in row.split()] for row in rows]
    if not values or len({len(row) for row in values}) != 1 or not np.isfinite(values).all():
        raise ValueError("The weights of a trained head must be matrices of finite numbers, with rows of one length.")
    return np.array(values, dtype=np.float32).astype(np.float64)


def _head(entry: Mapping[str, Any]) -> Head:
    exactly(entry, (*MATRICES, "temperature_squared"))
    query, key, value, table = (_matrix(entry[name]) for name in MATRICES)
    return Head(
        Affine(query), Affine(key), Affine(value), temperature_squared=entry["temperature_squared"], relative_keys=table
    )
