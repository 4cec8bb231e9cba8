"""Trained networks from files: the weights of sum_i (u_i(a) + v_i(b))^2 w_i(c), under the names that others gave them.

A file is a state dict of torch (read without running any code that it may hold), an npz file or a safetensors file. Its
matrices are recognised by their number and shapes, for |A| rows, |B| columns, |C| labels and any number m of neurons:

    hidden (m, |A|+|B|) and readout (m, |C|)   what `to_torch` and `export_npz` write
    three matrices for A, B and C              u, v and w, or in the order of the file: two embeddings and an output
    two matrices for A and B together, and C   an input layer of one-hot pairs and an output layer
    embeddings, an input and an output layer   one embedding (|A|, d) for both or one for each, whose names say embed;
                                               the input layer reads both (2d) or their sum (d), and they are folded in

All but the first may have their neurons along either axis, so long as the shapes tell which. Biases must be zero.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACCEPTED_WEIGHTS", "OperationWeights", "load_operation_weights", "operation_weights", "read_tensors"]

Floats = NDArray[np.float64]

ACCEPTED_WEIGHTS = (
    "hidden (m, |A|+|B|) with readout (m, |C|); three matrices with one axis of |A|, |B| and |C| (named u, v, w, or in "
    "this order in the file); or two matrices with one axis of |A|+|B| and of |C|; the other axis is that of m "
    "neurons; or one or two embeddings (|A|, d), named so, before a matrix with an axis of 2d or d and one with |C|"
)

WRAPPERS = ("state_dict", "model_state_dict", "model")
MASS_FORM = ("hidden", "readout", "masses", "degree", "norm_squared", "table")
KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
LARGEST_HEADER = 2**24


@dataclass(frozen=True, eq=False)
class OperationWeights:
    """The weights of a network for a table A x B -> C, with m neurons: f(a, b)[c] = sum_i (u_i(a) + v_i(b))^2 w_i(c).

    Attributes:
        u: (|A|, m), float64.
        v: (|B|, m).
        w: (|C|, m).
        source: where each was found, for the reader.

    Raises:
        ValueError: for shapes that do not fit, no neurons, no nonzero weight, and numbers that are not finite.
    """

    u: Floats
    v: Floats
    w: Floats
    source: str = field(default="arrays")

    def __post_init__(self) -> None:
        for name in ("u", "v", "w"):
            part = np.asarray(getattr(self, name))
            if part.ndim != 2 or part.dtype.kind not in "iuf":
                raise ValueError(f"{name} must be a matrix of real numbers, not of shape {part.shape} ({part.dtype}).")
            if not np.isfinite(part).all():
                raise ValueError(f"{name} holds numbers that are not finite; every weight must be finite.")
            object.__setattr__(self, name, np.ascontiguousarray(part, dtype=np.float64))
        if len({part.shape[1] for part in self.parts}) != 1 or 0 in {
            size for part in self.parts for size in part.shape
        }:
            shapes = ", ".join(str(part.shape) for part in self.parts)
            raise ValueError(
                f"u, v and w must be (elements, neurons) with the same neurons, at least one, not {shapes}."
            )
        if not any(part.any() for part in self.parts):
            raise ValueError("All weights are zero, so that there is no normalised margin.")

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """u, v and w."""
        return self.u, self.v, self.w

    @property
    def width(self) -> int:
        """The number m of neurons."""
        return self.u.shape[1]


def load_operation_weights(path: str | os.PathLike[str], rows: int, columns: int, labels: int) -> OperationWeights:
    """The weights in a file, for a table of so many rows, columns and labels.

    Raises:
        ValueError: as `read_tensors` and `operation_weights`, naming the file.
        OSError: for a file that cannot be read.
    """
    tensors = read_tensors(path)
    try:
        return operation_weights(tensors, rows, columns, labels)
    except ValueError as error:
        raise ValueError(f"{Path(path).name}: {error}") from error


def operation_weights(tensors: Mapping[str, NDArray[Any]], rows: int, columns: int, labels: int) -> OperationWeights:
    """The weights u, v, w among named arrays, for a table of so many rows, columns and labels.

    Raises:
        ValueError: for biases that are not zero, an activation other than the square, arrays that are none of the
            accepted weights (naming what was found), and square matrices that could be meant either way.
    """
    matrices = _matrices(_without_mass_form(tensors))
    short = {name.removesuffix(".weight").rpartition(".")[2]: name for name in matrices}
    names: list[str] = list(matrices)
    found: list[tuple[Floats, ...]] = []
    meant: tuple[str, ...] = ()
    embeddings = [name for name in names if "embed" in name.lower() and "unembed" not in name.lower()]
    if len(embeddings) in (1, 2) and len(names) == len(embeddings) + 2:
        layers = [name for name in names if name not in embeddings]
        given, rest = ([matrices[name] for name in part] for part in (embeddings, layers))
        found = _folded(given, rest, (rows, columns, labels))
        if found:
            folded = " and ".join(f"{name} {matrices[name].shape}" for name in embeddings)
            names, meant = layers, (f"u and v = {folded} folded into", "w =")
    if not found and len(names) == 3:
        names = [short[key] for key in "uvw"] if set(short) == {"u", "v", "w"} else names
        found = _oriented([matrices[name] for name in names], (rows, columns, labels))
        meant = ("u =", "v =", "w =")
    elif not found and len(names) == 2:
        names = [short[key] for key in ("hidden", "readout")] if set(short) == {"hidden", "readout"} else names
        found = _two_layers(matrices[names[0]], matrices[names[1]], rows, columns, labels, _convention(names, short))
        meant = ("u and v =", "w =")
    if not found:
        listing = ", ".join(f"{name} {array.shape}" for name, array in matrices.items()) or "no matrix"
        raise ValueError(
            f"These are no weights for {rows} rows, {columns} columns and {labels} labels. Found: {listing}. Accepted: "
            f"{ACCEPTED_WEIGHTS}."
        )
    if len(found) > 1:
        raise ValueError(
            f"The matrices {', '.join(names)} could have their neurons along either axis, because there are as many as "
            "elements. Append a neuron of zeros, which changes nothing, or save hidden (neurons, rows + columns) and "
            "readout (neurons, labels)."
        )
    source = ", ".join(f"{part} {name} {matrices[name].shape}" for part, name in zip(meant, names, strict=True))
    u, v, w = found[0]
    return OperationWeights(u, v, w, source)


def _convention(names: list[str], short: Mapping[str, str]) -> str | None:
    """How two matrices are laid out if their shapes leave it open, by their names: as exported, or as linear layers."""
    if set(short) == {"hidden", "readout"} and names == ["hidden", "readout"]:
        return "exported"
    return "linear" if all(name.endswith("weight") for name in names) else None


def _two_layers(
    given: Floats, output: Floats, rows: int, columns: int, labels: int, convention: str | None
) -> list[tuple[Floats, ...]]:
    """Every reading of an input and an output matrix as u, v and w; at most one where names say how they lie."""
    readings = _oriented([given, output], (rows + columns, labels))
    if len(readings) > 1 and convention is not None:  # linear layers are (outputs, inputs)
        output = output.T if convention == "exported" else output
        readings = [(given.T, output)] if (rows + columns, labels) == (given.shape[1], len(output)) else readings
    return [(both[:rows], both[rows:], out) for both, out in readings]


def _folded(embeddings: list[Floats], layers: list[Floats], sides: tuple[int, int, int]) -> list[tuple[Floats, ...]]:
    """Every reading of one embedding of rows and columns, or two, with an input and an output layer, as u, v and w."""
    rows, columns, labels = sides
    left, right = embeddings[0], embeddings[-1]
    width = left.shape[1]
    if (len(left), len(right), right.shape[1]) != (rows, columns, width):
        return []
    return [
        (left @ weight[:width], right @ weight[-width:], output)
        for reads in (2 * width, width)
        for weight, output in _oriented(layers, (reads, labels))
    ]


def _oriented(arrays: list[Floats], sides: tuple[int, ...]) -> list[tuple[Floats, ...]]:
    """Every reading of the arrays as (side, neurons), up to one, with the same neurons."""
    readings = []
    for turned in product((False, True), repeat=len(arrays)):
        reading = tuple(array.T if turn else array for array, turn in zip(arrays, turned, strict=True))
        fits = all(array.shape[0] == side for array, side in zip(reading, sides, strict=True))
        if fits and len({array.shape[1] for array in reading}) == 1:
            readings.append(reading)
    return readings


def _without_mass_form(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays, of an exported network the actual weights alone.

    Raises:
        ValueError: for an exported network with another activation than the square.
    """
    if not {"weights_hidden", "weights_readout"} <= set(tensors):
        return dict(tensors)
    if "degree" in tensors and tensors["degree"].item() != 2:
        raise ValueError(
            f"The activation must be the square, but that of this network is x^{tensors['degree'].item()}."
        )
    rest = {name: array for name, array in tensors.items() if name not in MASS_FORM}
    return {"hidden": rest.pop("weights_hidden"), "readout": rest.pop("weights_readout"), **rest}


def _matrices(tensors: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """The matrices among named arrays, in float64.

    Raises:
        ValueError: for biases that are not zero, and for anything else that is no matrix of real numbers.
    """
    matrices = {}
    for name, array in tensors.items():
        if array.dtype.kind != "f":
            raise ValueError(f"{name} holds numbers of type {array.dtype}; weights are real floating-point numbers.")
        if array.ndim == 2 and "bias" not in name.lower():
            matrices[name] = array.astype(np.float64)
        elif array.ndim == 1 and not array.any():
            continue  # a bias of zeros, under any name
        elif array.ndim == 1:
            raise ValueError(
                f"{name} of shape {array.shape} is not zero. The certified maximum is that of networks without biases: "
                "train without them (bias=False)."
            )
        else:
            raise ValueError(f"{name} of shape {array.shape} is no weight matrix. Accepted: {ACCEPTED_WEIGHTS}.")
    return matrices


def read_tensors(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The named arrays of a file: .npz, .safetensors, and anything else as a state dict of torch.

    A state dict may lie under "state_dict", "model_state_dict" or "model". Nothing in the file is executed. bfloat16 is
    read as float32, which holds it exactly.

    Raises:
        ValueError: for a file that is none of these.
        OSError: for a file that cannot be read.
    """
    file = Path(path)
    with file.open("rb"):  # so that a missing file is an OSError for every kind
        pass
    if file.suffix == ".npz":
        return _read_npz(file)
    return _read_safetensors(file) if file.suffix == ".safetensors" else _read_torch(file)


def _read_npz(file: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, zipfile.BadZipFile, EOFError, AttributeError) as error:
        raise ValueError(f"{file.name} is no npz file of arrays of numbers.") from error


def _read_torch(file: Path) -> dict[str, NDArray[Any]]:
    import torch  # slow to import

    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # of torch, pickle or zipfile, as the file has it
        raise ValueError(
            f"{file.name} is no file of weights that torch reads safely: save model.state_dict() with torch.save. "
            "Files of NumPy end in .npz, those of safetensors in .safetensors."
        ) from error
    for key in WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
            break
    if not isinstance(content, dict) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise ValueError(
            f"{file.name} holds no state dict: a dict from names to tensors is needed, by itself or under one of the "
            f"keys {', '.join(WRAPPERS)}."
        )
    wide = {name: value.float() if value.dtype == torch.bfloat16 else value for name, value in content.items()}
    return {str(name): value.detach().numpy() for name, value in wide.items()}


def _read_safetensors(file: Path) -> dict[str, NDArray[Any]]:
    data = file.read_bytes()
    refused = ValueError(f"{file.name} is no safetensors file of floating-point numbers.")
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(LARGEST_HEADER, len(data) - 8):
        raise refused
    body, arrays = data[8 + length :], {}
    try:
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if name == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            numbers = np.frombuffer(body[first:last], KINDS[entry["dtype"]])
            if entry["dtype"] == "BF16":
                numbers = (numbers.astype("<u4") << 16).view("<f4")
            arrays[name] = numbers.reshape(entry["shape"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise refused from error
    return arrays
