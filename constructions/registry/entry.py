"""The form of an entry of the registry: how a small instance of a construction is built, fed, converted and run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.exact.systems import Arithmetic, Array, conversion

if TYPE_CHECKING:
    import torch

ALL: tuple[Arithmetic, ...] = ("exact", "ball", "float")
WITHOUT_EXACT: tuple[Arithmetic, ...] = ("ball", "float")

Draw = Callable[[Any, np.random.Generator], Any]


@dataclass(frozen=True)
class Registered:
    """A construction of the registry.

    Attributes:
        name: subject and construction.
        build: a small instance, in its sharpest number system.
        inputs: exact inputs for an instance, drawn at random; `Registered.given` takes them to a number system.
        symbols: whether the inputs are symbols or bits, which are integers in every system.
        systems: the number systems in which it runs, that of the instance first.
        run: the outputs of an instance in any of its systems.
        run_torch: those of the torch module of an instance.
        convert: the instance in a number system, from that which `build` returns.
        module: the torch module; None where there is none, for hard attention without a proven gap.
        dense: the same in the dense form, for an instance that is stored compactly; None for the others.
    """

    name: str
    build: Callable[[], Any]
    inputs: Draw
    systems: tuple[Arithmetic, ...] = ALL
    symbols: bool = False
    run: Callable[[Any, Any], Array] = lambda instance, x: instance(x)
    run_torch: Callable[[Any, torch.nn.Module, Any], Array] = lambda _, module, x: tensors(module, x)
    convert: Callable[[Any, Arithmetic], Any] = lambda instance, system: in_system(instance, system)
    module: Callable[[Any], torch.nn.Module] | None = lambda instance: instance.to_torch()
    dense: Callable[[Any], Any] | None = None

    def given(self, x: Any, system: Arithmetic) -> Any:
        """Inputs in a number system."""
        return x if self.symbols else conversion(system)(x)


def in_system(instance: Any, system: Arithmetic) -> Any:
    """An instance in a number system: by its own methods, or with all of its arrays converted.

    Raises:
        TypeError: if it has neither.
    """
    if system == "exact":
        return instance
    method = getattr(instance, {"float": "to_float", "ball": "to_balls"}[system], None)
    if method is not None:
        return method()
    if hasattr(instance, "map"):
        return instance.map(conversion(system))
    raise TypeError(f"A {type(instance).__name__} cannot be converted to the number system {system!r}.")


def tensors(module: torch.nn.Module, x: Any) -> Array:
    """The outputs of a module on inputs as float64."""
    import torch  # slow to import

    with torch.no_grad():
        return module(torch.from_numpy(to_float(x))).numpy()


def on_tokens(_: Any, module: torch.nn.Module, x: Any) -> Array:
    """The outputs of a module on integer tokens; an instance comes first, as `Registered.run_torch` has it."""
    import torch

    with torch.no_grad():
        return module(torch.from_numpy(np.asarray(x))).numpy()


def with_converted(*names: str) -> Callable[[Any, Arithmetic], Any]:
    """The conversion of the named parts of a dataclass, for types without methods of their own."""

    def converted(instance: Any, system: Arithmetic) -> Any:
        if system == "exact":
            return instance
        convert = conversion(system)
        changes = {name: convert(np.asarray(getattr(instance, name))) for name in names}
        return replace(instance, **{name: part if part.ndim else part.item() for name, part in changes.items()})

    return converted


def integers(*shape: int, low: int = -3, high: int = 4) -> Draw:
    """Random integers from low to high - 1, in an array of this shape."""
    return lambda _, rng: rng.integers(low, high, shape)


def some_of(inputs: Array) -> Draw:
    """At most 8 of the inputs, in random order."""
    return lambda _, rng: rng.permutation(inputs)[:8]


def weights(*shape: int, seed: int = 0) -> Array:
    """Integers from -2 to 2 in an array of this shape, always the same for a seed."""
    return np.random.default_rng([seed, *shape]).integers(-2, 3, shape)
