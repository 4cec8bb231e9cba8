"""The one dispatch from layers and constructions to torch modules, what all modules share, and affine maps.

A module is registered by the decorator `module_of`. Kept apart because torch is slow to import; use
`lemmata.constructions.networks.torch`, which knows all layers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.layer import Layer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.numbers import to_float

Builder = TypeVar("Builder", bound=Callable[[Any, torch.dtype | None, ResidualStream | None], torch.nn.Module])


@singledispatch
def to_torch(layer: Any, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> torch.nn.Module:
    """The torch module of a layer: a function of the same tensors, with the weights as parameters.

    Args:
        layer: of any type of the vocabulary, a tuple of layers, one after the other, or a construction whose module is
            registered; balls count with their midpoints.
        dtype: of the parameters, float64 by default.
        stream: if given, the module prints the names of the blocks that the layer reads and writes.

    The module takes real inputs of every floating type, and casts them to that of its parameters.

    Raises:
        TypeError: for something that is no layer with a torch module.
        ValueError: if a head has hard attention without a proven gap, for then rounding may make or break a tie; if
            the matrices of a stored layer would have more than 2^27 entries.
    """
    if isinstance(layer, Translated):  # its module is registered when its translator is imported
        import_module(f"lemmata.constructions.{layer.translator}")
        build = to_torch.dispatch(type(layer))
        if build is not to_torch.dispatch(object):
            return build(layer, dtype=dtype, stream=stream)
    raise TypeError(f"There is no torch module of a {type(layer).__name__}: give a layer or a construction.")


def module_of(kind: type) -> Callable[[Builder], Builder]:
    """The decorator of what builds the torch module of a type from an instance, the dtype and the stream."""

    def register(builder: Builder) -> Builder:
        def build(
            layer: Any, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None
        ) -> torch.nn.Module:
            module = builder(layer, dtype, stream)
            module.register_forward_pre_hook(_cast)
            return module

        to_torch.register(kind, build)
        return builder

    return register


def _cast(module: torch.nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs with those of another floating type in that of the parameters, or of the buffers without any."""
    weights = next((part for part in (*module.parameters(), *module.buffers()) if part.is_floating_point()), None)
    if weights is None:
        return given
    return tuple(
        x.to(weights.dtype) if isinstance(x, torch.Tensor) and x.is_floating_point() and x.dtype != weights.dtype else x
        for x in given
    )


def parameter(values: ArrayLike, dtype: torch.dtype | None) -> torch.nn.Parameter:
    """The values as a parameter, float64 by default."""
    number = torch.float64 if dtype is None else dtype
    return torch.nn.Parameter(torch.tensor(to_float(np.asarray(values)), dtype=number))


def array(tensor: torch.Tensor) -> NDArray[np.float64]:
    """The values of a tensor, in float64."""
    return tensor.detach().cpu().numpy().astype(np.float64)


class ShownModule(torch.nn.Module):
    """The base of all modules here: they print the shapes of their own parameters and constants."""

    def extra_repr(self) -> str:
        """Every name with its shape."""
        parts = (*self.named_parameters(recurse=False), *self.named_buffers(recurse=False))
        return ", ".join(f"{name} {tuple(part.shape)}" for name, part in parts)


class LayerModule(ShownModule):
    """The base of the modules of layers: it prints shapes, and names of blocks where the stream is known."""

    def __init__(self, layer: Layer, stream: ResidualStream | None) -> None:
        super().__init__()
        self.touched = "" if stream is None else _touched(layer, stream)

    def extra_repr(self) -> str:
        """The shapes of the module's own parameters, and what it reads and writes."""
        shapes = super().extra_repr()
        return shapes + ("; " if shapes and self.touched else "") + self.touched


class WeightsModule(ShownModule):
    """The base of the modules of networks that are no layers: the named weights as parameters."""

    def __init__(self, weights: Mapping[str, ArrayLike], dtype: torch.dtype | None) -> None:
        super().__init__()
        for name, part in weights.items():
            self.register_parameter(name, parameter(part, dtype))


@module_of(Affine)
class AffineModule(LayerModule):
    """z W + b with the parameters ``weight`` and, if there is one, ``bias``; buffers where the map is fixed."""

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, layer: Affine, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> None:
        super().__init__(layer, None)
        self.fixed = layer.fixed
        parts = {"weight": layer.weight, "bias": layer.bias if layer.bias.size else None}
        for name, part in parts.items():
            held = None if part is None else parameter(part, dtype)
            if layer.fixed:
                self.register_buffer(name, None if held is None else held.detach())
            else:
                self.register_parameter(name, held)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Shape (..., e) for z of shape (..., d)."""
        return z @ self.weight if self.bias is None else torch.nn.functional.linear(z, self.weight.T, self.bias)

    def to_layer(self) -> Affine:
        """The map with the present weights, in float64."""
        return columns(self, 1)[0]


def columns(module: AffineModule, count: int) -> list[Affine]:
    """The map with its present weights, its outputs cut into so many parts."""
    weights = np.split(array(module.weight), count, axis=1)
    biases = [np.zeros(0)] * count if module.bias is None else np.split(array(module.bias), count)
    return [Affine(weight, bias, fixed=module.fixed) for weight, bias in zip(weights, biases, strict=True)]


def _touched(layer: Layer, stream: ResidualStream) -> str:
    parts = (("reads", layer.reads(stream)), ("writes", layer.writes(stream)))
    return "; ".join(f"{verb} {', '.join(names)}" for verb, names in parts if names)
