"""The constructions of all subjects in the registry, the smallest instance of each that has all of its parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from lemmata.constructions.circuits.architectures import attention_circuit, recurrent_circuit
from lemmata.constructions.circuits.arithmetic import gradient, two_layer_mlp, universal_circuit
from lemmata.constructions.circuits.boolean import all_inputs, from_truth_table, layered
from lemmata.constructions.circuits.relu import CircuitNetwork, circuit_network
from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.contextual import contextual_attention
from lemmata.constructions.descent.grid import grid_network, score_network
from lemmata.constructions.descent.products import token_product
from lemmata.constructions.descent.risk import RiskDescentBlock, risk_descent_block
from lemmata.constructions.descent.scales import rescaled
from lemmata.constructions.descent.softmax import softmax_descent_block
from lemmata.constructions.groups.any_type import any_group_network, quaternion_group_network
from lemmata.constructions.groups.cyclic import modular_addition_network, random_phase_network
from lemmata.constructions.groups.memorising import memorising_network
from lemmata.constructions.groups.products import TypedIrrep, product_inputs, product_of_factors_network
from lemmata.constructions.groups.real_type import group_network
from lemmata.constructions.induction.curriculum import long_second_step, two_step_models
from lemmata.constructions.induction.head import (
    bayesian_ngram_head,
    ngram_head,
    printed_induction_head,
    with_affine_readout,
)
from lemmata.constructions.induction.minimal_model import MinimalModel, bigram_minimal_model, unigram_minimal_model
from lemmata.constructions.induction.single_head import single_trigram_head
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_inputs, sign_inputs
from lemmata.constructions.networks.recurrent import RecurrentLayer
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.parity.activations import Power
from lemmata.constructions.parity.exact_sparsity import selected_network
from lemmata.constructions.parity.max_margin import sparse_parity_network
from lemmata.constructions.parity.one_step import one_step_network
from lemmata.constructions.parity.over_sparse import over_sparse_network
from lemmata.constructions.parity.polynet import polynet
from lemmata.constructions.parity.quadratic import quadratic_network
from lemmata.constructions.parity.transformer import parity_transformer
from lemmata.constructions.parity.two_layer import neuron, post_step_network, power_network, relu_network
from lemmata.constructions.parity.under_sparse import draw_under_sparse, under_sparse_network
from lemmata.constructions.parity.under_sparse_training import train_first_layer, training_schedule
from lemmata.constructions.registry.entry import (
    ALL,
    WITHOUT_EXACT,
    Draw,
    Registered,
    integers,
    on_tokens,
    some_of,
    tensors,
    weights,
    with_converted,
)
from lemmata.constructions.representations.orthogonal import real_irreps
from lemmata.constructions.representations.unitary import unitary_irreps
from lemmata.constructions.sparse.circle import compile_on_circle
from lemmata.constructions.sparse.compact import compact_selection
from lemmata.constructions.sparse.compiler import SparseNetwork, compile_sparse
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.constructions.sparse.histogram import compile_histogram
from lemmata.constructions.sparse.memorising import (
    bump_network,
    bump_sum_network,
    inner_memorising_perceptron,
    memorising_perceptron,
    printed_memorising_perceptron,
    ramp_network,
)
from lemmata.constructions.tokens.budgeted import budgeted_network, copies_network, products_network
from lemmata.constructions.tokens.codebook import codebook_layer, storing_layer
from lemmata.constructions.tokens.interpolation import (
    coded_readout,
    interpolating_network,
    interpolating_readout,
    interpolating_recurrence,
    line_interpolant,
)
from lemmata.constructions.tokens.recurrent import Codes, exact_network, recurrent_network
from lemmata.constructions.tokens.recurrent_class import with_state_lipschitz, with_unit_radius
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.machine import busy_beaver
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Arithmetic, Array, conversion
from lemmata.numerics.functions.relu_sums import constant, identity, piecewise_linear, ridge, squared_loss_derivative
from lemmata.numerics.groups.quaternions import quaternion_group
from lemmata.numerics.groups.tables import cyclic, symmetric
from lemmata.numerics.tokens.codes import PositionCodes, field_codes, orthonormal_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.links import linear_link, max_link
from lemmata.numerics.tokens.prompts import draw_prompts

if TYPE_CHECKING:
    import torch

WITHOUT_BALLS: tuple[Arithmetic, ...] = ("exact", "float")


def _descent(builder: Callable[..., Any], **more: Any) -> Any:
    sums = identity(), constant(1), squared_loss_derivative()
    return builder((2, 2, 1), 3, "1/10", *sums, (-1, 1), 1, 1, **more)


def _risk() -> RiskDescentBlock:
    gradient = [piecewise_linear([-1, 0, 1], [-1, 0, 2])] * 2
    sums = [ridge(f, v) for f, v in zip(gradient, ([1, 1, -1, 1], [1, "1/2", 0, -1]), strict=True)]
    return risk_descent_block((1, 1), 2, "1/2", sums, (-1, 1), 1, 1)


def _circuit(network: CircuitNetwork, system: Arithmetic) -> Callable[[Array], Array]:
    """The output of a circuit's network in a number system, from the vector of its parameters."""
    convert = conversion(system)
    return lambda x: network.output(convert(network.parameters), convert(x))


def _mass_form(
    name: str, build: Callable[[], HomogeneousNetwork], inputs: Draw, systems: tuple[Arithmetic, ...] = ALL
) -> Registered:
    """A homogeneous network: compared are its raw outputs, to which the outputs of the torch module are scaled."""
    return Registered(
        name,
        build,
        inputs,
        systems,
        convert=with_converted("hidden", "readout", "masses", "norm_squared"),
        run=lambda network, x: network.raw(x),
        run_torch=lambda network, module, x: tensors(module, x) / network.scale,
    )


def _counting(name: str, build: Callable[[], Any], k: int = 3, **options: Any) -> Registered:
    """A head that counts n-grams, or a transformer, on four sequences of 7 of k symbols."""
    options = {"systems": WITHOUT_EXACT, "run_torch": on_tokens} | options
    return Registered(f"induction: {name}", build, _symbols(k, 7), symbols=True, **options)


def _minimal(name: str, build: Callable[[], MinimalModel], states: int = 3, **options: Any) -> Registered:
    """A minimal model, on one sequence."""
    return Registered(
        f"induction: {name}",
        build,
        lambda model, rng: rng.integers(0, states, model.context),
        symbols=True,
        run_torch=lambda _, module, x: on_tokens(_, module, x[None])[0],
        **options,
    )


def _factors_of_quaternions() -> HomogeneousNetwork:
    """The product of three elements of the quaternion group, with irreps of all that are real and quaternionic."""
    irreps = [TypedIrrep.of(R) for R in unitary_irreps(quaternion_group())[1:]]
    return product_of_factors_network(irreps, [1 / len(irreps)] * len(irreps), 3)


def _factors_of_permutations() -> HomogeneousNetwork:
    """The product of three permutations of three points, exactly."""
    irreps = [TypedIrrep(R.group, "real", R.matrices, R.name) for R in real_irreps(symmetric(3), exact=True)[1:]]
    return product_of_factors_network(irreps, [fmpq(2, 3), fmpq(1, 3)], 3)


def _machine() -> TuringTransformer:
    """Two steps of a machine with a left end, with a rounding whose weights are binary, so that balls are exact."""
    return compile_turing_machine(busy_beaver(2), 2, left_end="stay", threshold=fmpq(1, 4))


def _decoded(transformer: TuringTransformer, words: Array) -> Array:
    """The outputs at the times 0, ..., T, shape (B, T + 1, d), of words of one length, by calls of all layers."""
    encoded = np.stack([transformer.encode(word) for word in words.tolist()])
    z = np.tile(transformer.start + transformer.beta(0), (len(words), 1, 1))
    histories = [z[:, :0] for _ in transformer.layers]
    outputs = []
    for time in range(transformer.steps + 1):
        for number, layer in enumerate(transformer.layers):
            if time:
                histories[number] = np.concatenate([histories[number], z], axis=1)
            z = layer(z, histories[number], encoded)
        outputs.append(z)
        z = z + transformer.beta(time + 1)
    return np.concatenate(outputs, axis=1)


def _decoded_by_torch(_: Any, module: torch.nn.Module, words: Array) -> Array:
    return module(words.tolist())[0].detach().numpy()


def _pairs(n: int) -> Draw:
    return some_of(group_inputs(n))


def _signs(n: int) -> Draw:
    return lambda _, rng: rng.choice([-1, 1], (8, n))


def _symbols(k: int, t: int, first: int = 1) -> Draw:
    return lambda _, rng: rng.integers(first, first + k, (4, t))


def _prompts(block: Any, rng: np.random.Generator) -> Array:
    (d_x, d_y), n = block.layout.data_sizes, block.examples
    shapes = ((n + 1, d_x), (n, d_y), (block.layout.weight_count,))
    parts = [as_exact(rng.integers(-8, 9, shape)) / 16 for shape in shapes]
    return block.prompt(*parts) if block.arithmetic == "exact" else block.layout.encode(*parts)


def _trained_first_layer() -> Any:
    """What the five steps make of an under-sparse start on all inputs."""
    start, x = draw_under_sparse(6, 2, 0, fmpq(1, 100), 8, np.random.default_rng(1)), sign_inputs(6)
    schedule = training_schedule(6, 2, 0, fmpq(1, 100))
    return train_first_layer(start.network(), x, np.ones(len(x), dtype=int), (1, 4), schedule)[-1]


def _parity(name: str, build: Callable[[], Any], *parts: str) -> Registered:
    """A network for sparse parities, over the rationals and in float64."""
    return Registered(name, build, _signs(5), WITHOUT_BALLS, convert=with_converted(*parts))


def _sparse(name: str, built: Callable[[], Any] | Any, **options: Any) -> Registered:
    """A perceptron, or the network of a function of five symbols that reads two of them, with these values."""
    if callable(built):
        columns = 2 if "perceptron" in name else 1
        return Registered(f"sparse: {name}", built, lambda _, rng: as_exact(rng.integers(-9, 10, (40, columns))) / 4)
    return Registered(
        f"sparse: {name}",
        lambda: compile_sparse(sparse_function(5, (1, 3), built), **options),
        lambda _, rng: rng.integers(0, 2, (8, 5)),
        WITHOUT_EXACT,
        symbols=True,
        run_torch=_sparse_by_torch,
    )


def _on_strings(name: str, build: Callable[[], Transformer], alphabet: int) -> Registered:
    """A transformer that reads five symbols."""
    draw = _symbols(alphabet, 5, first=0)
    return Registered(f"sparse: {name}", build, draw, WITHOUT_EXACT, symbols=True, run_torch=on_tokens)


def _sparse_by_torch(network: SparseNetwork, module: torch.nn.Module, strings: Array) -> Array:
    tokens = network.tokens(strings)
    return on_tokens(network, module, tokens) if network.inputs.name != "bag" else tensors(module, tokens)


def _simple_regression(code_dimension: int, codes: Codes) -> RecurrentLayer:
    """The maximum of two linear functions of two tokens of dimension 2, without error."""
    link = max_link([[1, 2], [-1, 3]], [[0, 1], [2, -2]])
    return exact_network(2, 2, code_dimension, 2, link, codes)


def _budgeted_regression() -> RecurrentLayer:
    """A linear function of one token, with the errors of the document; states in the ball of radius 1."""
    return with_unit_radius(budgeted_network(1, 1, 4, 1, linear_link([[3]]), 8))


def _contracting_states() -> RecurrentLayer:
    """Transitions that read the state, scaled to a Lipschitz constant of 1/4."""
    parts = (Affine(weights(5, 4, seed=1), weights(4)), Affine(weights(4, 2, seed=2)))
    transition = with_state_lipschitz(FeedForward(parts, activations=("relu", "identity")), 2, 0.25)
    return recurrent_network(transition, FeedForward((Affine(weights(7, 3, seed=3)),)), 2)


def _tokens(codes: PositionCodes, dimension: int, sparsity: int) -> Draw:
    """Six encoded prompts of four tokens with multiples of 1/4 as entries."""
    return lambda _, rng: encode(
        draw_prompts(6, 4, dimension, sparsity, law="rational", simple=True, seed=int(rng.integers(99))),
        codes,
        "recurrent",
    )


def _quarters(*shape: int) -> Draw:
    """Random multiples of 1/4 in [-1, 1]."""
    return lambda _, rng: as_exact(rng.integers(-4, 5, shape)) / 4


_TWO_LAYERS = ("hidden", "bias", "readout", "output_bias")

_SAMPLES = [[0, 1], [2, -1], [1, 1]], [1, -2, 3], [1, 2]
"""Points, labels, and a direction in which the points differ."""
_UNITS = orthonormal_codes(4)

NETWORKS: tuple[Registered, ...] = (
    _mass_form("groups: modular addition", lambda: modular_addition_network(5, per_frequency=6, exact=True), _pairs(5)),
    _mass_form(
        "groups: random phases", lambda: random_phase_network(5, 6, np.random.default_rng(0)), _pairs(5), WITHOUT_EXACT
    ),
    _mass_form("groups: real type", lambda: group_network(real_irreps(symmetric(3), True), exact=True), _pairs(6)),
    _mass_form("groups: complex type", lambda: any_group_network(unitary_irreps(cyclic(5))), _pairs(5), WITHOUT_EXACT),
    _mass_form("groups: quaternion group", quaternion_group_network, _pairs(8)),
    _mass_form("groups: products of permutations", _factors_of_permutations, some_of(product_inputs(6, 3))),
    _mass_form(
        "groups: products of quaternions", _factors_of_quaternions, some_of(product_inputs(8, 3)), WITHOUT_EXACT
    ),
    _mass_form("groups: memorising", lambda: memorising_network([[0, 1], [1, 0]], exact=True), _pairs(2)),
    _mass_form("parity: max margin", lambda: sparse_parity_network(4, 3, exact=True), _signs(4)),
    _parity("parity: ReLU network", lambda: relu_network(5, 3, exact=True), *_TWO_LAYERS),
    _parity("parity: power network", lambda: power_network(5, 3, exact=True), *_TWO_LAYERS),
    _parity("parity: one neuron", lambda: neuron(5, 3, Power(3), exact=True), *_TWO_LAYERS),
    _parity("parity: after one step", lambda: post_step_network(5, 2, exact=True), *_TWO_LAYERS),
    Registered(
        "parity: under-sparse",
        lambda: under_sparse_network(6, 4, 2, fmpq(1, 40), exact=True),
        _signs(6),
        WITHOUT_BALLS,
        convert=with_converted(*_TWO_LAYERS),
    ),
    Registered(
        "parity: under-sparse, odd",
        lambda: one_step_network(6, 3, 2, fmpq(1, 40)),
        _signs(6),
        WITHOUT_BALLS,
        convert=with_converted(*_TWO_LAYERS),
    ),
    Registered(
        "parity: trained end to end, first layer",
        _trained_first_layer,
        _signs(6),
        WITHOUT_BALLS,
        convert=with_converted(*_TWO_LAYERS),
    ),
    _parity("parity: after one truncated step", lambda: over_sparse_network(5, 2, 5, exact=True), *_TWO_LAYERS),
    _parity("parity: selected by one step", lambda: selected_network(5, 4), *_TWO_LAYERS),
    _parity("parity: PolyNet", lambda: polynet(5, 3, exact=True), "weights", "bias"),
    Registered(
        "parity: quadratic network",
        lambda: quadratic_network(5, 3, 3, exact=True),
        _signs(5),
        WITHOUT_BALLS,
        convert=lambda instance, system: instance if system == "exact" else quadratic_network(5, 3, 3),
    ),
    Registered(
        "parity: transformer",
        lambda: parity_transformer(5, (0, 2, 4), beta=2, sharpness=8),
        _signs(5),
        WITHOUT_EXACT,
        symbols=True,
        run_torch=on_tokens,
    ),
    Registered(
        "circuits: network of a circuit",
        lambda: circuit_network(layered(from_truth_table("0110"))),
        some_of(all_inputs(2).astype(np.int64)),
        symbols=True,
        run_torch=lambda _, module, x: tensors(module, x)[:, 0],
        convert=_circuit,
    ),
    Registered(
        "circuits: gradient of an arithmetic circuit",
        lambda: gradient(two_layer_mlp(2, 3)),
        integers(8, 11),
        run=lambda circuit, x: np.array([circuit(row) for row in x.tolist()]),
        convert=lambda circuit, system: circuit,
    ),
    Registered(
        "circuits: softmax attention",
        lambda: attention_circuit(3, 2, 1, 2),
        integers(8, 14, low=-1, high=2),
        run=lambda circuit, x: np.array([circuit(row) for row in x.tolist()]),
        systems=WITHOUT_EXACT,
        convert=lambda circuit, system: circuit,
    ),
    Registered(
        "circuits: a recurrent network, unrolled",
        lambda: recurrent_circuit(3, 2, 2),
        integers(8, 14),
        run=lambda circuit, x: np.array([circuit(row) for row in x.tolist()]),
        convert=lambda circuit, system: circuit,
    ),
    Registered(
        "circuits: one gate for all functions of two bits",
        lambda: universal_circuit(2),
        lambda _, rng: np.concatenate([rng.integers(0, 16, (20, 1)), rng.integers(0, 2, (20, 2))], axis=1),
        run=lambda circuit, x: np.array([circuit(row) for row in x.tolist()]),
        convert=lambda circuit, system: circuit,
    ),
    _counting("bigram head", lambda: ngram_head(2, 3, 3, 2)),
    _counting("bigram head, hard", lambda: ngram_head(2, 3).hard(), systems=ALL, module=None),
    _counting("bigram head, affine readout", lambda: with_affine_readout(ngram_head(2, 3, 3, 2), 2, 1)),
    _counting("trigram head with a prior", lambda: bayesian_ngram_head(3, 2, 3, 2), k=2),
    _counting("single heads for trigrams", single_trigram_head, k=2),
    _counting("printed head", lambda: printed_induction_head(3, 2)),
    _minimal("minimal model", lambda: MinimalModel(as_exact(weights(6)), as_exact(weights(3, 3)))),
    _minimal("minimal model of bigrams", lambda: bigram_minimal_model(6, 3)),
    _minimal("minimal model of unigrams", lambda: unigram_minimal_model(6, 3)),
    _minimal("minimal model after two steps", lambda: two_step_models(6, fmpq(1, 4))[1], states=2),
    _minimal(
        "minimal model after two steps, long",
        lambda: long_second_step(6, 0.25, np.array([[2.0, 1.0], [1.0, 2.0]]), 1.0, 1.0),
        states=2,
        systems=WITHOUT_EXACT,
    ),
    Registered(
        "descent: ReLU attention",
        partial(_descent, gradient_descent_block),
        _prompts,
        dense=lambda block: block.dense(),
    ),
    Registered(
        "descent: ReLU attention in small units",
        lambda: rescaled(_descent(gradient_descent_block)),
        _prompts,
        dense=lambda block: block.dense(),
    ),
    Registered(
        "descent: layer of the answer",
        lambda: _descent(gradient_descent_block).answer_layers()[-1],
        lambda layer, rng: rng.integers(-3, 4, (2, 4, layer.stream.width)),
        dense=lambda layer: layer.dense(),
    ),
    Registered(
        "descent: softmax attention",
        partial(_descent, softmax_descent_block, product_pieces=4),
        _prompts,
        WITHOUT_EXACT,
        dense=lambda block: block.dense(),
    ),
    Registered(
        "descent: products within a token",
        lambda: token_product(3),
        lambda network, rng: network.encode(*rng.integers(-3, 4, (2, 2, 3))),
    ),
    Registered("descent: general risk", _risk, _prompts, WITHOUT_EXACT, dense=lambda block: block.dense()),
    Registered(
        "descent: function on a grid",
        lambda: grid_network([(-2, 2), (0, 3)], as_exact([[[1], [-2]], [[3], [0]], [[2], [5]]])),
        integers(8, 2),
    ),
    Registered(
        "descent: score of a normal law on a grid",
        lambda: score_network(lambda x, t: -x / t, 1, 2, (2, 4), "1/2", (5, 2)),
        lambda _, rng: as_exact(rng.integers([-4, 4], [5, 9], (8, 2))) / 2,
        ("float", "ball"),
    ),
    Registered(
        "descent: contextual mapping",
        lambda: contextual_attention([as_exact([[1, 0], [0, 1]]), as_exact([[1, 0], [1, 1]])], "3/4", [1, 2]).layer,
        integers(2, 3, 2),
        WITHOUT_EXACT,
    ),
    _sparse("symmetric", [1, -1, 3]),
    _sparse("all functions", "0110"),
    _sparse("all functions, trainable positions", "0110", inputs="trainable"),
    _sparse("bag of vectors", "0110", inputs="bag"),
    _sparse("ramp", lambda: ramp_network("1/4")),
    _sparse("bump", lambda: bump_network("1/2", 1)),
    _sparse("bumps on a line", lambda: bump_sum_network([-2, 0, 2], [3, 1, 2], "1/2")),
    _sparse("memorising perceptron", lambda: memorising_perceptron([[-2, 0], [0, 1]], [3, 2], "1/2")),
    _sparse("inner perceptron", lambda: inner_memorising_perceptron([[-2, 0], [0, 1]], [3, 2], "1/2")),
    _sparse("printed perceptron", lambda: printed_memorising_perceptron([[-2, 0], [0, 1]], [3, 2], "1/2")),
    _on_strings("heads in few dimensions", lambda: compact_selection(5, (1, 3, 4), 4), 2),
    _on_strings("one head on a circle", lambda: compile_on_circle(sparse_function(5, (3, 1), [1, -1, -1, 1])), 2),
    _on_strings("histogram", lambda: compile_histogram(5, (3, 1), [0, 1, -2, 3, 4, 5], alphabet=3), 3),
    Registered(
        "tokens: codebook",
        lambda: codebook_layer(2),
        lambda _, rng: as_exact(2 * rng.integers(0, 2, (2, 4, 4)) - 1) * fmpq(1, 2),
    ),
    Registered("tokens: interpolant on a line", lambda: line_interpolant([0, 3, 1], [1, 0, -2]), integers(5, 1)),
    Registered("tokens: interpolating network", lambda: interpolating_network(*_SAMPLES, 4), integers(5, 2)),
    Registered(
        "tokens: interpolating recurrent network",
        lambda: interpolating_recurrence(interpolating_readout(*_SAMPLES, 4), 3, 1),
        integers(2, 3, 3),
    ),
    Registered("tokens: answers by codes", lambda: coded_readout(_UNITS, [2, 0], [1, -3], 3, 1), integers(5, 9)),
    Registered("tokens: storing network", lambda: storing_layer(3), integers(2, 3, 3, low=-1, high=2)),
    Registered(
        "tokens: recurrent network, sign codes",
        lambda: _simple_regression(16, "sign"),
        _tokens(field_codes(4, 4, 3), 2, 2),
    ),
    Registered("tokens: recurrent network, unit codes", lambda: _simple_regression(4, "unit"), _tokens(_UNITS, 2, 2)),
    Registered("tokens: recurrent network with a budget", _budgeted_regression, _tokens(_UNITS, 1, 1)),
    Registered("tokens: inner products", lambda: products_network(1, 2, 4, "1/4"), _quarters(4, 15)),
    Registered("tokens: gated copies", lambda: copies_network(2, 1, 1, "1/4"), _quarters(8, 3)),
    Registered("tokens: recurrent network, bounded slope", _contracting_states, integers(2, 4, 3), WITHOUT_EXACT),
    Registered(
        "turing: compiled machine",
        _machine,
        lambda _, rng: rng.integers(0, 2, (1, 2)),
        symbols=True,
        run=_decoded,
        run_torch=_decoded_by_torch,
    ),
)
