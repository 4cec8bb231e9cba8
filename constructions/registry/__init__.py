"""All constructions of the library in one table, each as a small instance, with how it is fed and run.

Whoever adds a construction adds a line to `REGISTRY`. One test then takes it through the number systems (exact numbers,
balls, float64), the torch module, and the stored form where there is one, on random inputs.

An instance is built in its sharpest number system. `Registered.inputs` draws exact inputs (integers or rationals),
which fit every system. `run` takes an instance in any system to its outputs, `run_torch` a torch module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.circuits.arithmetic import gradient, two_layer_mlp
from constructions.circuits.boolean import all_inputs, from_truth_table, layered
from constructions.circuits.relu import circuit_network
from constructions.descent.block import gradient_descent_block
from constructions.descent.softmax import softmax_descent_block
from constructions.groups.any_type import quaternion_group_network
from constructions.groups.cyclic import modular_addition_network
from constructions.groups.memorising import memorising_network
from constructions.induction.head import bayesian_ngram_head, ngram_head, printed_induction_head
from constructions.induction.minimal_model import MinimalModel
from constructions.networks.affine import Affine
from constructions.networks.attention import AttentionLayer
from constructions.networks.feed_forward import FeedForward
from constructions.networks.head import Head, merged_head
from constructions.networks.inputs import group_inputs
from constructions.networks.layer_norm import LayerNorm
from constructions.networks.projection import BallProjection, Clipping
from constructions.networks.recurrent import RecurrentCell, RecurrentLayer, elman_cell
from constructions.networks.residual import Residual
from constructions.parity.max_margin import sparse_parity_network
from constructions.parity.polynet import polynet
from constructions.parity.quadratic import quadratic_network
from constructions.parity.transformer import parity_transformer
from constructions.parity.two_layer import power_network, relu_network
from numerics.exact.numbers import as_exact, to_float
from numerics.exact.systems import Arithmetic, Array, conversion
from numerics.functions.relu_sums import constant, identity, squared_loss_derivative

if TYPE_CHECKING:
    import torch

__all__ = ["REGISTRY", "Registered", "in_system"]

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
    run_torch: Callable[[Any, torch.nn.Module, Any], Array] = lambda _, module, x: _tensors(module, x)
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


def _tensors(module: torch.nn.Module, x: Any) -> Array:
    """The outputs of a module on inputs as float64."""
    import torch  # slow to import

    with torch.no_grad():
        return module(torch.from_numpy(to_float(x))).numpy()


def _tokens(_: Any, module: torch.nn.Module, x: Any) -> Array:
    """The outputs of a module on integer tokens."""
    import torch

    with torch.no_grad():
        return module(torch.from_numpy(np.asarray(x))).numpy()


def _parts(*names: str) -> Callable[[Any, Arithmetic], Any]:
    """The conversion of the named parts of a dataclass, for types without methods of their own."""

    def converted(instance: Any, system: Arithmetic) -> Any:
        if system == "exact":
            return instance
        convert = conversion(system)
        changes = {name: convert(np.asarray(getattr(instance, name))) for name in names}
        return replace(instance, **{name: part if part.ndim else part.item() for name, part in changes.items()})

    return converted


# ---- inputs


def _integers(*shape: int, low: int = -3, high: int = 4) -> Draw:
    return lambda _, rng: rng.integers(low, high, shape)


def _group(n: int) -> Draw:
    return lambda _, rng: rng.permutation(group_inputs(n))[:8]


def _signs(n: int) -> Draw:
    return lambda _, rng: rng.choice([-1, 1], (8, n))


def _symbols(k: int, t: int, first: int = 1) -> Draw:
    return lambda _, rng: rng.integers(first, first + k, (4, t))


def _prompts(block: Any, rng: np.random.Generator) -> Array:
    widths, n = block.layout.widths, block.examples
    shapes = ((n + 1, widths[0]), (n, widths[-1]), (block.layout.weight_count,))
    exact = block if block.arithmetic == "exact" else None
    parts = [as_exact(rng.integers(-8, 9, shape)) / 16 for shape in shapes]
    return block.layout.encode(*parts) if exact is None else exact.prompt(*parts)


# ---- small instances


def _weights(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng([seed, *shape]).integers(-2, 3, shape)


def _affine(d: int, e: int, seed: int) -> Affine:
    return Affine(_weights(d, e, seed=seed), _weights(e, seed=seed))


def _head(**options: Any) -> Head:
    return Head(_affine(5, 3, 1), _affine(5, 3, 2), _affine(5, 5, 3), **options)


def _both_directions(bound: Any) -> RecurrentLayer:
    """Transitions of two layers with a residual and a bound, states before a token, a read-out of states and token."""
    transitions = [
        FeedForward((_affine(7, 3, seed), _affine(3, 2, seed + 1)), activations=("relu", "identity")) for seed in (1, 3)
    ]
    cells = [RecurrentCell(transition, residual=True, bound=bound) for transition in transitions]
    return RecurrentLayer(*cells, moment="before", keep_token=True, readout=_affine(9, 2, 5))


def _null() -> tuple[Array, Array]:
    return _weights(3, seed=4), _weights(5, seed=5)


def _descent(builder: Callable[..., Any], **more: Any) -> Any:
    sums = identity(), constant(1), squared_loss_derivative()
    return builder((2, 2, 1), 3, "1/10", *sums, (-1, 1), 1, 1, **more)


def _exact_circuit(network: Any, x: Array) -> Array:
    """The output of a circuit's network in rationals, from the vector of its parameters."""
    return network.output(network.parameters, as_exact(x))


def _mass_form(name: str, build: Callable[[], Any], inputs: Draw) -> Registered:
    """A homogeneous network: compared are its raw outputs, to which the outputs of the torch module are scaled."""
    return Registered(
        name,
        build,
        inputs,
        convert=_parts("hidden", "readout", "masses", "norm_squared"),
        run=lambda network, x: network.raw(x),
        run_torch=lambda network, module, x: _tensors(module, x) / network.scale,
    )


def _parity(name: str, build: Callable[[], Any], *parts: str) -> Registered:
    """A network for sparse parities, over the rationals and in float64."""
    return Registered(name, build, _signs(5), ("exact", "float"), convert=_parts(*parts))


def _layer(name: str, build: Callable[[], Any], width: int = 5, **options: Any) -> Registered:
    """A layer on streams of four tokens."""
    return Registered(f"layer: {name}", build, _integers(2, 4, width), **options)


_TWO_LAYERS = ("hidden", "bias", "readout", "output_bias")

REGISTRY: tuple[Registered, ...] = (
    _layer("affine", lambda: _affine(5, 3, 1)),
    _layer("head, softmax", lambda: _head(temperature_squared=3), systems=WITHOUT_EXACT),
    _layer("head, hard maximum", lambda: _head(weigh="hardmax", gap=1)),
    _layer("head, ReLU", lambda: _head(weigh="relu", causal=False)),
    _layer(
        "head, relative keys and sharpness",
        lambda: _head(relative_keys=_weights(2, 3), sharpness=2),
        systems=WITHOUT_EXACT,
    ),
    _layer("head, null pair", lambda: _head(weigh="hardmax", gap=1, null=_null())),
    _layer("attention", lambda: AttentionLayer((_head(weigh="hardmax", gap=1), _head(weigh="relu")))),
    _layer("attention, concatenated", lambda: AttentionLayer((_head(weigh="relu"),) * 2, combination="concatenate")),
    _layer(
        "attention of a class token",
        lambda: AttentionLayer((_head(weigh="hardmax", gap=1, causal=False),), attending="first"),
    ),
    _layer("feed-forward, ReLU", lambda: FeedForward((_affine(5, 4, 1), _affine(4, 5, 2)), residual=True)),
    _layer(
        "feed-forward, GeLU",
        lambda: FeedForward((_affine(5, 4, 1), _affine(4, 5, 2)), activations=("gelu", "identity")),
        systems=WITHOUT_EXACT,
    ),
    _layer("layer norm", lambda: LayerNorm(_weights(5, seed=6), _weights(5)), systems=WITHOUT_EXACT),
    _layer("residual", lambda: Residual((AttentionLayer((_head(weigh="relu"),), "concatenate"), _affine(5, 5, 4)))),
    _layer("merged scores", lambda: merged_head(_weights(5, 5), weigh="relu", causal=False)),
    _layer("clipping", lambda: Clipping(5, -1, 2)),
    _layer("projection on a ball", lambda: BallProjection(5, 2), systems=WITHOUT_EXACT),
    _layer("recurrent", lambda: RecurrentLayer(elman_cell(_weights(3, 3), _weights(5, 3)), readout=_affine(3, 2, 1))),
    _layer("recurrent, both directions, clipped", lambda: _both_directions(Clipping(2, -1, 2))),
    _layer(
        "recurrent, both directions, projected", lambda: _both_directions(BallProjection(2, 2)), systems=WITHOUT_EXACT
    ),
    _mass_form("groups: modular addition", lambda: modular_addition_network(5, per_frequency=6, exact=True), _group(5)),
    _mass_form("groups: quaternion group", quaternion_group_network, _group(8)),
    _mass_form("groups: memorising", lambda: memorising_network([[0, 1], [1, 0]], exact=True), _group(2)),
    _mass_form("parity: max margin", lambda: sparse_parity_network(4, 3, exact=True), _signs(4)),
    _parity("parity: ReLU network", lambda: relu_network(5, 3, exact=True), *_TWO_LAYERS),
    _parity("parity: power network", lambda: power_network(5, 3, exact=True), *_TWO_LAYERS),
    _parity("parity: PolyNet", lambda: polynet(5, 3, exact=True), "weights", "bias"),
    Registered(
        "parity: quadratic network",
        lambda: quadratic_network(5, 3, 3, exact=True),
        _signs(5),
        ("exact", "float"),
        convert=lambda instance, system: instance if system == "exact" else quadratic_network(5, 3, 3),
    ),
    Registered(
        "parity: transformer",
        lambda: parity_transformer(5, 3),
        _signs(5),
        WITHOUT_EXACT,
        symbols=True,
        run_torch=_tokens,
    ),
    Registered(
        "circuits: network of a circuit",
        lambda: circuit_network(layered(from_truth_table("0110"))),
        lambda _, rng: rng.permutation(all_inputs(2)).astype(np.int64),
        ("exact", "float"),
        symbols=True,
        run_torch=lambda _, module, x: _tensors(module, x)[:, 0],
        convert=lambda network, system: partial(_exact_circuit, network) if system == "exact" else network,
    ),
    Registered(
        "circuits: gradient of an arithmetic circuit",
        lambda: gradient(two_layer_mlp(2, 3)),
        _integers(8, 11),
        ("exact", "float"),
        run=lambda circuit, x: np.array([circuit(row) for row in x.tolist()]),
        convert=lambda circuit, system: circuit,
    ),
    Registered(
        "induction: bigram head",
        lambda: ngram_head(2, 3, 3, 2),
        _symbols(3, 7),
        WITHOUT_EXACT,
        symbols=True,
        run_torch=_tokens,
    ),
    Registered(
        "induction: bigram head, hard", lambda: ngram_head(2, 3).hard(), _symbols(3, 7), symbols=True, module=None
    ),
    Registered(
        "induction: trigram head with a prior",
        lambda: bayesian_ngram_head(3, 2, 3, 2),
        _symbols(2, 7),
        WITHOUT_EXACT,
        symbols=True,
        run_torch=_tokens,
    ),
    Registered(
        "induction: printed head",
        lambda: printed_induction_head(3, 2),
        _symbols(3, 7),
        WITHOUT_EXACT,
        symbols=True,
        run_torch=_tokens,
    ),
    Registered(
        "induction: minimal model",
        lambda: MinimalModel(as_exact(_weights(6)), as_exact(_weights(3, 3))),
        lambda _, rng: rng.integers(0, 3, 6),
        symbols=True,
        run_torch=lambda _, module, x: _tokens(_, module, x[None])[0],
        convert=_parts("v", "W"),
    ),
    Registered("descent: ReLU attention", partial(_descent, gradient_descent_block), _prompts),
    Registered(
        "descent: softmax attention",
        partial(_descent, softmax_descent_block, product_pieces=4),
        _prompts,
        WITHOUT_EXACT,
    ),
)
