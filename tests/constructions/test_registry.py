"""Every construction in every number system, as a torch module, and in its stored and its dense form.

And that nothing is left out: no construction, and of an instance no number system, torch module or dense form.
"""

import dataclasses
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, get_args

import numpy as np
import pytest
import torch
from flint import arb

from lemmata import constructions
from lemmata.constructions.registry import REGISTRY, Registered
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.systems import Arithmetic, number_system, power

NAMES = [one.name for one in REGISTRY]
SEEDS = range(3)


def tolerance(reference) -> float:
    """Fewer than 4096 operations follow one another, each with a relative error of 2^-53, on numbers of this size."""
    return 4096 * 2.0**-53 * max(1.0, float(np.abs(reference).max()))


def outputs(one: Registered, seed: int) -> tuple[Any, Any, dict[Arithmetic, Any]]:
    instance = one.build()
    x = one.inputs(instance, np.random.default_rng([seed, 7]))
    return instance, x, {system: one.run(one.convert(instance, system), one.given(x, system)) for system in one.systems}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("one", REGISTRY, ids=NAMES)
def test_number_systems_and_torch_agree(one: Registered, seed: int) -> None:
    instance, x, found = outputs(one, seed)
    reference = found[one.systems[0]]
    floats = found["float"]
    assert floats.dtype == np.float64
    assert np.ptp(floats) > 0, "the outputs are not all the same"
    size = to_float(reference)
    assert np.abs(floats - size).max() <= tolerance(size)
    if "ball" in found:
        radius = max(float(ball.rad()) for ball in found["ball"].ravel())
        assert radius < 1e-9
        assert np.abs(to_float(found["ball"]) - size).max() <= tolerance(size) + radius
        if "exact" in found:
            enclosed = as_balls(found["exact"], 256).ravel()
            assert all(a.overlaps(b) for a, b in zip(found["ball"].ravel(), enclosed, strict=True))
    if one.module is not None:
        module = one.module(instance)
        by_torch = one.run_torch(instance, module, x)
        assert np.abs(by_torch - floats).max() <= tolerance(size)
        if seed == 0:
            shown = repr(module)
            named = ((name.rpartition(".")[2], part) for name, part in module.named_parameters())
            assert all(f"{name} {tuple(part.shape)}" in shown for name, part in named)
            if one.run_torch is Registered.run_torch and not one.symbols:
                check_the_cast(module, to_float(x).astype(np.float32))
    if seed == 0 and "exact" in one.systems and not one.symbols:
        with suppress(ValueError):  # a sentence, and no TypeError, where floats are refused
            one.run(instance, one.given(x, "float"))


def check_the_cast(module: torch.nn.Module, x: np.ndarray) -> None:
    """Inputs of float32 are those of float64 with the same values."""
    with torch.no_grad():
        single, double = module(torch.from_numpy(x)), module(torch.from_numpy(x.astype(np.float64)))
    assert torch.equal(single.to(double.dtype), double) or not list(module.parameters())


@pytest.mark.parametrize("one", [one for one in REGISTRY if one.dense], ids=lambda one: one.name)
def test_stored_and_dense_forms_agree(one: Registered) -> None:
    instance, x, found = outputs(one, 0)
    assert one.dense is not None
    dense = one.dense(instance)
    for system, stored in found.items():
        again = one.run(one.convert(dense, system), one.given(x, system))
        if system == "exact":
            assert (again == stored).all()
        elif system == "ball":
            assert all(a.overlaps(b) for a, b in zip(again.ravel(), stored.ravel(), strict=True))
        else:
            assert np.abs(again - stored).max() <= tolerance(stored)


LEFT_OUT = {
    "lemmata.constructions.networks.files.load_npz": "reads a network that another construction has written",
    "lemmata.constructions.networks.hooked_perceptrons.hooked_perceptron": "reads what was trained elsewhere",
}
"""Builders that occur in no instance, and why."""


def has_weights(kind: Any) -> bool:
    return inspect.isclass(kind) and hasattr(kind, "to_torch")


def public(kind: Callable[[Any], bool]) -> Iterator[Any]:
    """The public functions or classes of all modules of the constructions but the registry and torch modules.

    The zoo is left out too: its networks are those of other rooms, by name or in another basis.
    """
    for info in pkgutil.walk_packages(constructions.__path__, "lemmata.constructions."):
        if not re.search(r"\.registry|\.zoo|torch|_lens$", info.name):
            for name, value in vars(import_module(info.name)).items():
                if not name.startswith("_") and kind(value) and value.__module__ == info.name:
                    yield value


def builds_weights(function: Any) -> bool:
    """Whether a function is annotated to return something with weights, also in a list or a tuple."""
    if not inspect.isfunction(function):
        return False
    annotation = function.__annotations__.get("return")
    names = re.findall(r"\w+", annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))
    return any(has_weights(function.__globals__.get(name)) for name in names)


def parts(value: Any) -> Iterator[Any]:
    """The types of a construction and of all that its fields hold."""
    if isinstance(value, tuple | list):
        for entry in value:
            yield from parts(entry)
    elif dataclasses.is_dataclass(value):
        yield type(value)
        for field in dataclasses.fields(value):
            yield from parts(getattr(value, field.name))


def test_every_builder_and_every_type_occurs() -> None:
    """Mechanically: functions that return something with weights are called as instances are built, types are parts."""
    builders = {function.__code__: function for function in public(builds_weights)}
    called, found = set[Any](), set[type]()
    for one in REGISTRY:
        sys.setprofile(lambda frame, event, _: called.add(frame.f_code) if event == "call" else None)
        try:
            instance = one.build()
        finally:
            sys.setprofile(None)
        found.update(parts(instance), parts(one.dense(instance)) if one.dense else ())
    names = {f"{f.__module__}.{f.__name__}" for code, f in builders.items() if code not in called}
    assert names == set(LEFT_OUT), "give the registry an instance that needs it, or say here why not"
    assert len(builders) > 50
    types = list(public(has_weights))
    leaves = [kind for kind in types if not any(other is not kind and issubclass(other, kind) for other in types)]
    assert [kind.__name__ for kind in leaves if kind not in found] == []
    assert len(leaves) > 25


@pytest.mark.parametrize("one", REGISTRY, ids=NAMES)
def test_what_an_entry_leaves_out_is_refused(one: Registered) -> None:
    """A number system in which an instance would run, a torch module or a dense form that it has, must be tested."""
    instance = one.build()
    x = one.inputs(instance, np.random.default_rng(0))
    systems: tuple[Arithmetic, ...] = get_args(Arithmetic)
    for system in systems:
        if system not in one.systems:
            with suppress(TypeError, ValueError):
                result = one.run(one.convert(instance, system), one.given(x, system))
                assert number_system([result]) != system, "it runs"
    if one.module is None:
        with pytest.raises(ValueError, match="proven gap"):
            instance.to_torch()
    assert (one.dense is not None) == hasattr(instance, "dense")


def test_the_dispatch_finds_modules_that_nobody_has_imported() -> None:
    """In a process of its own: `to_torch` of constructions of three subjects, without their own methods."""
    program = """
from lemmata.constructions.networks.torch import to_torch
from lemmata.constructions.induction.minimal_model import bigram_minimal_model
from lemmata.constructions.parity.polynet import polynet
from lemmata.constructions.parity.transformer import parity_transformer
from lemmata.constructions.circuits.arithmetic import two_layer_mlp
for construction in (bigram_minimal_model(4, 2), polynet(4, 2), parity_transformer(4, 2), two_layer_mlp(2, 2)):
    print(type(to_torch(construction)).__name__)
try:
    to_torch(3)
except TypeError as error:
    print(error)
"""
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == [
        *("MinimalModule", "PolyNetModule", "TransformerModule", "CircuitModule"),
        "There is no torch module of a int: give a layer or a construction.",
    ]


def test_powers_of_balls_that_hold_zero_are_finite() -> None:
    """FLINT's own `**` gives NaN there, which the networks of groups in ball arithmetic once did too."""
    ball = np.array([arb(0, 1e-17)], dtype=object)
    (square,), (cube,) = power(ball, 2), power(ball, 3)
    assert square.is_finite()
    assert 0 in square
    assert cube.is_finite()
    assert (power(as_exact([2, -3]), 3) == [8, -27]).all()
