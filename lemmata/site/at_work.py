"""What the weights of a construction do on one input, as matrices and graphs: computed by the construction itself.

Which picture it is follows from the type of the construction: attention weights of every head, the spectrum or the
weights of a hidden layer, states of a recurrent network, values of a circuit, the weights that a block trains, the tape
of a machine, the graph of a function. All runs in float64, as a user would run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lemmata as lm
from lemmata.constructions.circuits.arithmetic import Circuit
from lemmata.constructions.circuits.relu import CircuitNetwork
from lemmata.constructions.descent.products import TokenProduct
from lemmata.constructions.descent.step import LayeredStep
from lemmata.constructions.induction.head import CountingHead
from lemmata.constructions.induction.minimal_model import MinimalModel
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.recurrent import RecurrentLayer
from lemmata.constructions.networks.stored import StoredAttention
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.parity.polynet import PolyNet
from lemmata.constructions.parity.quadratic import QuadraticNetwork
from lemmata.constructions.parity.transformer import ParityTransformer
from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.constructions.registry import Registered
from lemmata.constructions.sparse.compiler import SparseNetwork
from lemmata.constructions.tokens.moments import BlockMoments
from lemmata.constructions.tokens.separating import SeparatingAttention
from lemmata.constructions.tokens.transformer import TokenTransformer
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.fourier.cyclic import folded_power
from lemmata.site.cells import Curve, Matrix

__all__ = ["panels_of"]

Floats = NDArray[np.float64]
Panel = Matrix | Curve
MOST = 16, 24
"""The rows and columns of a matrix of weights that are shown, the first ones."""
MOST_PANELS = 6
SPECTRA = ("groups: modular addition", "groups: random phases", "groups: complex type")
"""Networks for cyclic groups, whose neurons have a frequency."""


def panels_of(one: Registered) -> list[Panel]:
    """The pictures of a registered construction on the first input that its generator draws, none if there are none."""
    instance = one.build()
    x = one.inputs(instance, np.random.default_rng(0))
    inputs = one.given(x, "float")
    network = instance if isinstance(instance, CircuitNetwork) else one.convert(instance, "float")
    if one.name in SPECTRA and isinstance(network, HomogeneousNetwork):
        return list(_spectra(network))
    return list(_panels(network, inputs))[:MOST_PANELS]


def _spectra(network: HomogeneousNetwork) -> Iterator[Panel]:
    """The share of each frequency in the three parts u, v, w of every neuron."""
    n = network.readout.shape[1]
    parts = {"u(a)": network.hidden[:, :n], "v(b)": network.hidden[:, n:], "w(c)": network.readout}
    for name, vectors in parts.items():
        yield _matrix(f"spectrum of {name}", folded_power(to_float(vectors)), "neuron", "frequency ", first=0)


@singledispatch
def _panels(network: Any, x: Any) -> Iterator[Panel]:
    """The panels of a network for a batch of inputs, of which the first is shown."""
    yield from ()


@_panels.register
def _(network: HomogeneousNetwork, x: Any) -> Iterator[Panel]:
    hidden, readout = network.weights()
    yield _matrix("hidden weights", hidden, "neuron", "input ")
    yield _matrix("output weights", readout, "neuron", "label ", first=0)


@_panels.register
def _(network: TwoLayerNetwork, x: Any) -> Iterator[Panel]:
    yield _matrix("hidden weights", to_float(network.hidden), "neuron", "x")
    yield _matrix("output weights", to_float(network.readout)[:, None], "neuron", "out")


@_panels.register
def _(network: PolyNet, x: Any) -> Iterator[Panel]:
    yield _matrix("weights of the factors", to_float(network.weights), "factor", "x")


@_panels.register
def _(network: QuadraticNetwork, x: Any) -> Iterator[Panel]:
    for i, (weights, _) in enumerate(network.layers, start=1):
        yield _matrix(f"weights of layer {i}", to_float(weights), "unit", "x" if i == 1 else "unit ")


@_panels.register
def _(network: Transformer, x: Any) -> Iterator[Panel]:
    symbols = np.asarray(x)[0]
    tokens = [f"row {i}" for i in range(len(network.prefix))]
    tokens += [str(one) if np.ndim(one) == 0 else f"token {i}" for i, one in enumerate(symbols.tolist(), start=1)]
    for number, layer in enumerate(network.layers):
        if isinstance(layer, AttentionLayer):
            yield from _attention(layer, network.stream(symbols, number), tokens, f"layer {number + 1}, ")


@_panels.register
def _(network: CountingHead, x: Any) -> Iterator[Panel]:
    yield from _panels(network.transformer, x)


@_panels.register
def _(network: ParityTransformer, x: Any) -> Iterator[Panel]:
    yield from _panels(network.transformer, x)


@_panels.register
def _(network: SparseNetwork, x: Any) -> Iterator[Panel]:
    yield from _panels(network.transformer, network.tokens(x))


@_panels.register(TokenTransformer)
@_panels.register(SeparatingAttention)
@_panels.register(BlockMoments)
def _(network: Any, x: Any) -> Iterator[Panel]:
    yield from _panels(network.attention, x)


@_panels.register
def _(layer: AttentionLayer, x: Any) -> Iterator[Panel]:
    z = x[0] if np.ndim(x) == 3 else x
    yield from _attention(layer, z, [f"token {i + 1}" for i in range(len(z))], "")


@_panels.register
def _(model: MinimalModel, x: Any) -> Iterator[Panel]:
    yield _matrix("position weights v", to_float(model.v)[None, :], "v", "back ", first=0)
    yield _matrix("state weights W", to_float(model.W), "state", "state ", first=0)


@_panels.register
def _(layer: RecurrentLayer, x: Any) -> Iterator[Panel]:
    cells = [name for name, cell in (("forward", layer.forward), ("backward", layer.backward)) if cell is not None]
    for cell, states in zip(cells, layer.states(x[0]), strict=True):
        yield _matrix(f"states, {cell} in time", to_float(states).T, "unit", "token ")


@_panels.register
def _(network: CircuitNetwork, x: Any) -> Iterator[Panel]:
    bits = np.asarray(x, dtype=np.float64)
    order = np.lexsort(bits.T[::-1])
    names = ["".join(str(int(bit)) for bit in row) for row in bits[order].tolist()]
    values = network.hidden(to_float(network.parameters), bits[order])
    for (name, _), after in zip(network.blocks(), values, strict=True):
        yield Matrix(f"after {name}", after, names, [str(i + 1) for i in range(after.shape[1])])


@_panels.register
def _(circuit: Circuit, x: Any) -> Iterator[Panel]:
    counts = circuit.counts()
    yield Matrix("its gates", np.array([list(counts.values())], dtype=np.float64), ["number"], list(counts))


@_panels.register
def _(block: LayeredStep, x: Any) -> Iterator[Panel]:
    weights = [block.weights(z) for z in (x, *block.stages(x))]
    rows = ["prompt", *(f"after layer {i}" for i in range(1, len(weights)))]
    columns = [str(i + 1) for i in range(len(weights[0]))]
    yield Matrix("the weights that the block trains, as its first token holds them", np.array(weights), rows, columns)
    yield from _sums(block.layers, x)


@_panels.register
def _(network: TokenProduct, x: Any) -> Iterator[Panel]:
    yield from _sums(network.layers, x[0])


@_panels.register
def _(transformer: TuringTransformer, x: Any) -> Iterator[Panel]:
    """Six steps of the machine of the instance, compiled anew, as the instance makes fewer."""
    machine = transformer.machine
    run = lm.run_machine(lm.compile_machine(machine, 6))
    heads, cells, written = run.heads[0], run.cells[0], run.written[0]
    low, high = int(heads.min()), int(heads.max())
    tape, rows = dict.fromkeys(range(low, high + 1), 0), []
    for time in range(len(heads)):
        if time:
            tape[int(cells[time])] = int(written[time])
        rows.append([float(tape[cell]) for cell in range(low, high + 1)])
    marked = frozenset((time, int(head) - low) for time, head in enumerate(heads))
    steps = [f"step {time}, {machine.states[state]}" for time, state in enumerate(run.states[0])]
    yield Matrix(
        f"tape and head of {machine.name}, compiled for 6 steps",
        np.array(rows),
        steps,
        [str(i) for i in range(high - low + 1)],
        marked,
    )


@_panels.register
def _(network: FeedForward, x: Any) -> Iterator[Panel]:
    """The graph of a function of one variable, the values on a grid of one of two."""
    inputs = to_float(np.asarray(x)).reshape(-1, np.shape(x)[-1])
    low, high = inputs.min(axis=0) - 0.5, inputs.max(axis=0) + 0.5
    if network.inputs == 1 and network.outputs == 1:
        points = np.linspace(low[0], high[0], 241)
        yield Curve("its graph", points, network(points[:, None])[:, 0])
    elif network.inputs == 2:
        first, second = (np.linspace(a, b, 15) for a, b in zip(low, high, strict=True))
        grid = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1)
        for i in range(network.outputs):
            rows, columns = ([f"{value:.2f}" for value in axis] for axis in (first, second))
            title = "its values on a grid" + (f", output {i + 1}" if network.outputs > 1 else "")
            yield Matrix(title, network(grid)[..., i], rows, columns)


def _attention(layer: AttentionLayer, z: Floats, tokens: Sequence[str], where: str) -> Iterator[Panel]:
    """The attention weights of every head: of all tokens, or of the first one alone."""
    for number, head in enumerate(layer.heads, start=1):
        first = layer.attending == "first"
        weights = head.attention(z[:1], memory=z) if first else head.attention(z)
        columns = [*(["null"] if head.null is not None else []), *tokens]
        yield Matrix(f"{where}head {number}: attention", weights, tokens[: len(weights)], columns)


def _sums(layers: Sequence[Any], z: Floats) -> Iterator[Panel]:
    """What attention layers multiply the tokens with, each the sum over a family of heads that read the same."""
    tokens = [f"token {i + 1}" for i in range(len(z))]
    for number, layer in enumerate(layers, start=1):
        if isinstance(layer, StoredAttention):
            for family in layer.families:
                yield Matrix(f"layer {number}: attention of {len(family)} heads", family.attention(z), tokens, tokens)
        elif isinstance(layer, AttentionLayer):
            yield from _attention(layer, z, tokens, f"layer {number}, ")
        z = layer(z)


def _matrix(title: str, values: Floats, row: str, column: str, first: int = 1) -> Matrix:
    """A matrix with numbered rows and columns, or the first of them."""
    r, c = values.shape
    cut = values[: MOST[0], : MOST[1]]
    shown = title if cut.shape == values.shape else f"{title}, {cut.shape[0]} x {cut.shape[1]} of {r} x {c}"
    rows = [f"{row} {i + 1}" if r > 1 else row for i in range(len(cut))]
    columns = [f"{column}{i + first}" if c > 1 else column for i in range(cut.shape[1])]
    return Matrix(shown, cut, rows, columns)
