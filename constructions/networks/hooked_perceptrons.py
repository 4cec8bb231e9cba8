"""The MLP of the first block of a HookedTransformer among named arrays: one hidden layer, which acts on rows.

Its tensors are blocks.0.mlp.W_in (d, m), W_out (m, d) and perhaps b_in (m,) and b_out (d,), behind any front. Its
output is added to the stream. No weight says its activation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from lemmata.constructions.networks.affine import Affine

__all__ = ["hooked_perceptron", "without_hooked_perceptron"]

NAMES = re.compile(r"(^|.*\.)blocks\.0\.mlp\.(W_in|b_in|W_out|b_out)$")


def without_hooked_perceptron(tensors: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The other arrays by name, and those of the MLP by W_in, b_in, W_out and b_out, none if there is no MLP."""
    found = {match[2]: name for name in tensors if (match := NAMES.match(name))}
    rest = {name: array for name, array in tensors.items() if name not in found.values()}
    return rest, {place: tensors[name] for place, name in found.items()}


def hooked_perceptron(found: Mapping[str, Any], width: int) -> tuple[Affine, Affine]:
    """The maps from a stream of some width to the hidden units, and back.

    Raises:
        ValueError: for a matrix that is missing, shapes that do not fit, and what is no finite real number.
    """
    arrays = {name: np.asarray(array) for name, array in found.items()}
    for name in ("W_in", "W_out"):
        if name not in arrays:
            raise ValueError(f"The MLP has no tensor {name}; it has {', '.join(sorted(arrays)) or 'none'}.")
    units = arrays["W_in"].shape[-1:]
    shapes = {"W_in": (width, *units), "b_in": units, "W_out": (*units, width), "b_out": (width,)}
    for name, array in arrays.items():
        if array.shape != shapes[name] or not array.size:
            raise ValueError(f"The tensor {name} of the MLP must have the shape {shapes[name]}, not {array.shape}.")
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ValueError(f"The tensor {name} of the MLP holds what is no finite real number.")
    maps = [arrays[name].astype(np.float64) for name in ("W_in", "W_out")]
    biases = [arrays.get(name, np.zeros(shapes[name])).astype(np.float64) for name in ("b_in", "b_out")]
    return Affine(maps[0], biases[0]), Affine(maps[1], biases[1])
