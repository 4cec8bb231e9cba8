"""ReLU networks that compute a Boolean circuit exactly: naive, and corrected by rounding after each step.

Row-vector convention, z W + b. A gate g in place j with parents a, b becomes two ReLU layers (lemma B.1); the entries
are those of column j of W_1, b_1, W_2, b_2, and repeated parents add up:

    AND:  W_1[a] += 1, W_1[b] += 1, b_1 = -1;   W_2[j] = 1, b_2 = 0       1-norm 4
    OR:   W_1[a] -= 1, W_1[b] -= 1, b_1 = 1;    W_2[j] = -1, b_2 = 1      1-norm 5
    NOT:  W_1[a] = -1, b_1 = 1;                 W_2[j] = 1, b_2 = 0       1-norm 3
    ID:   W_1[a] = 1, b_1 = 0;                  W_2[j] = 1, b_2 = 0       1-norm 2

On bits the first ReLU gives the bit AND, NOR, NOT or ID of the parents, and the second the gate. The head 2 z - 1 turns
the output bit into -1 or 1. A correction rounds every coordinate with thresholds 0 < low < high < 1,

    round(z) = s relu(z - low) - s relu(z - high),  s = 1 / (high - low):   0 below low, 1 above high,

which is two more ReLU layers of 1-norm 2 + low + high + 2 s a coordinate (9 for thirds), and maps everything within
min(low, 1 - high) of a bit vector back to it. With corrections "layers" there is one after each pair of ReLU layers,
that is, after each layer of the circuit; with "steps" one after each single ReLU layer, so that every step is one ReLU
layer and all constants of theorem D.6 are global (`lemmata.certificates.margins.all_layer`).

Source: turing, theorem-3.1, lemma-3.2, lemma-3.3, proposition-3.4, lemma-B.1, definition-D.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.circuits.boolean import BooleanGate, LayeredCircuit
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.activations import relu

Corrections = Literal["none", "layers", "steps"]
THIRDS = (Fraction(1, 3), Fraction(2, 3))
"""The thresholds of the source."""
QUARTERS = (Fraction(1, 4), Fraction(3, 4))
"""Thresholds whose rounding is exact in floating point."""
LARGEST_NETWORK = 50_000_000
"""The largest number of parameters of a network that is built: 400 MB of weights."""


@dataclass(frozen=True, eq=False)
class CircuitNetwork(Translated):
    """The network head . zeta_(d-1) . f_(d-1) . ... . zeta_0 . f_0 of a circuit, in exact numbers.

    Attributes:
        circuit: the layered circuit.
        corrections: where the zeta are: "none", after "layers" of the circuit, or after "steps" (every ReLU layer).
        thresholds: low and high of the rounding.
        steps: f_0, ..., f_(d-1), of one ReLU layer each ("steps") or two.
        roundings: zeta_0, ..., zeta_(d-1), or none.
        head: f_d, the map 2 z - 1 on the output.
    """

    translator: ClassVar[str] = "circuits.torch"

    circuit: LayeredCircuit
    corrections: Corrections
    thresholds: tuple[Fraction, Fraction]
    steps: tuple[FeedForward, ...]
    roundings: tuple[FeedForward, ...]
    head: Affine

    def maps(self) -> Iterator[FeedForward]:
        """The maps f_0, zeta_0, f_1, zeta_1, ... in the order of the computation, without the head."""
        for number, step in enumerate(self.steps):
            yield step
            if self.roundings:
                yield self.roundings[number]

    def affine_layers(self) -> list[Affine]:
        """All affine layers in the order of the computation, the head last."""
        return [*(layer for block in self.maps() for layer in block.layers), self.head]

    @property
    def radius(self) -> Fraction:
        """The radius sigma_zeta of the corrections, in the 2-norm: min(low, 1 - high)."""
        return min(self.thresholds[0], 1 - self.thresholds[1])

    @property
    def width(self) -> int:
        """The largest number of coordinates after a ReLU layer."""
        return max(layer.weight.shape[1] for layer in self.affine_layers())

    @property
    def depth(self) -> int:
        """The number of ReLU layers."""
        return len(self.affine_layers()) - 1

    @property
    def one_norm(self) -> Fraction:
        """The sum of the absolute values of all parameters."""
        return sum((_one_norm(layer) for layer in self.affine_layers()), start=Fraction(0))

    @property
    def parameters(self) -> NDArray[np.object_]:
        """All parameters as one exact vector of length p: of each layer the weight row by row, then the bias."""
        return as_exact(np.concatenate([a.ravel().astype(object) for f in self.affine_layers() for a in f.arrays()]))

    def blocks(self) -> list[tuple[str, slice]]:
        """The names f0, zeta0, f1, ..., head and the places of their parameters in the vector `parameters`."""
        maps = [block.layers for block in self.maps()] + [(self.head,)]
        names = [f"{name}{number}" for number in range(len(self.steps)) for name in ("f", "zeta")]
        names = [name for name in names if self.roundings or name.startswith("f")] + ["head"]
        ends = np.cumsum([sum(a.size for layer in layers for a in layer.arrays()) for layers in maps]).tolist()
        return [(name, slice(a, b)) for name, a, b in zip(names, [0, *ends[:-1]], ends, strict=True)]

    def hidden(self, theta: Any, x: Any) -> list[Any]:
        """The outputs of f_0, zeta_0, ..., and the head, for any parameters.

        Args:
            theta: parameters, shape (..., p): exact or float64 NumPy, or a torch tensor.
            x: inputs of the same kind, shape (n, m).

        Returns:
            arrays of shape (..., n, width).
        """
        z, position, outputs = x, 0, []
        for block in [*(block.layers for block in self.maps()), (self.head,)]:
            for layer in block:
                inputs, width = layer.weight.shape
                middle, end = position + inputs * width, position + inputs * width + width
                weight = theta[..., position:middle].reshape((*theta.shape[:-1], inputs, width))
                z = z @ weight + theta[..., None, middle:end]
                z, position = (z if layer is self.head else _relu(z)), end
            outputs.append(z)
        return outputs

    def output(self, theta: Any, x: Any) -> Any:
        """F(x, theta), shape (..., n); arguments as for `hidden`."""
        return self.hidden(theta, x)[-1][..., 0]

    def __call__(self, x: Array) -> Array:
        """F(x) in float64, shape (n,), for bits of shape (n, m)."""
        return self.output(to_float(self.parameters), np.asarray(x, dtype=np.float64))


def circuit_network(
    circuit: LayeredCircuit,
    corrections: Corrections = "steps",
    thresholds: tuple[Fraction, Fraction] = THIRDS,
    width: int | None = None,
) -> CircuitNetwork:
    """The network of a layered circuit: F(x) = 2 G(x) - 1 on all bits.

    Args:
        circuit: see `lemmata.constructions.circuits.boolean.layered`.
        corrections: "none" for the naive network, or after "layers" of the circuit, or after "steps".
        thresholds: low and high of the rounding.
        width: pad every hidden layer with zeros to this width; as narrow as possible if None.

    Raises:
        ValueError: for unknown corrections, thresholds that are not 0 < low < high < 1, a width that is too small, or a
            network of more than 50 million parameters.
    """
    if corrections not in get_args(Corrections):
        raise ValueError(f"The corrections must be one of {', '.join(get_args(Corrections))}, not {corrections!r}.")
    low, high = thresholds
    if not 0 < low < high < 1:
        raise ValueError(f"The thresholds of the rounding must satisfy 0 < low < high < 1, not {low} and {high}.")
    needed = max(map(len, circuit.layers)) * (1 if corrections == "none" else 2)
    if width is not None and width < needed:
        raise ValueError(f"This network has layers of {needed} coordinates; a width of {width} is too small for it.")
    _check_size(circuit, corrections, width)
    steps: list[FeedForward] = []
    roundings: list[FeedForward] = []
    inputs = circuit.inputs
    for gates in circuit.layers:
        pair = _gate_layers(gates, inputs, width or len(gates))
        inputs = width or len(gates)
        new = [FeedForward((layer,)) for layer in pair] if corrections == "steps" else [FeedForward(pair)]
        steps += new
        if corrections != "none":
            roundings += [rounding(len(gates), low, high, inputs, width)] * len(new)
    head = Affine(np.zeros((inputs, 1), dtype=np.int64), np.array([-1]))
    head.weight[circuit.output] = 2
    return CircuitNetwork(circuit, corrections, thresholds, tuple(steps), tuple(roundings), head)


def _check_size(circuit: LayeredCircuit, corrections: Corrections, width: int | None) -> None:
    """Refuse a network that would not fit, before any of it is built."""
    rounds = {"none": 0, "layers": 1, "steps": 2}[corrections]
    inputs, total = circuit.inputs, 0
    for gates in circuit.layers:
        r = width or len(gates)
        total += (inputs + r) * r + rounds * 2 * (width or 2 * r) * r
        inputs = r
    if total > LARGEST_NETWORK:
        raise ValueError(
            f"The network would have about {total:,} parameters, more than {LARGEST_NETWORK:,}: its layers have up to "
            f"{circuit.width} gates, and weight matrices are dense. Use a circuit with narrower layers."
        )


def rounding(
    live: int, low: Fraction, high: Fraction, inputs: int | None = None, width: int | None = None
) -> FeedForward:
    """The map that rounds the first `live` of `inputs` coordinates (all if None), padded to a width if one is given."""
    inputs, hidden, outputs = inputs or live, width or 2 * live, width or live
    slope = 1 / (high - low)
    number = int(slope) if slope.denominator == 1 else as_exact([slope])[0]
    places = np.arange(live)
    first = np.zeros((inputs, hidden), dtype=np.int64)
    first[places, places] = first[places, live + places] = 1
    bias = as_exact(np.zeros(hidden, dtype=np.int64))
    bias[:live], bias[live : 2 * live] = as_exact([-low])[0], as_exact([-high])[0]
    second = np.zeros((hidden, outputs), dtype=np.int64 if isinstance(number, int) else object)
    second[places, places], second[live + places, places] = number, -number
    return FeedForward((Affine(first, bias), Affine(second, np.zeros(outputs, dtype=np.int64))))


def _gate_layers(gates: Sequence[BooleanGate], inputs: int, outputs: int) -> tuple[Affine, Affine]:
    """The two affine layers of lemma B.1, on `inputs` coordinates, padded with zeros to `outputs` coordinates."""
    W1, W2 = np.zeros((inputs, outputs), dtype=np.int64), np.zeros((outputs, outputs), dtype=np.int64)
    b1, b2 = np.zeros(outputs, dtype=np.int64), np.zeros(outputs, dtype=np.int64)
    for j, (operation, parents) in enumerate(gates):
        for parent in parents:
            W1[parent, j] += 1 if operation in {"AND", "ID"} else -1
        b1[j] = {"AND": -1, "ID": 0}.get(operation, 1)
        W2[j, j], b2[j] = (-1, 1) if operation == "OR" else (1, 0)
    return Affine(W1, b1), Affine(W2, b2)


def _one_norm(layer: Affine) -> Fraction:
    """The sum of the absolute values of the weights; in whole arrays where they are integers, which most are."""
    integral = [array for array in layer.arrays() if array.dtype != object]
    rational = [x for array in layer.arrays() if array.dtype == object for x in np.abs(array).ravel().tolist()]
    return Fraction(sum(int(np.abs(array).sum()) for array in integral)) + sum(map(as_fraction, rational))


def _relu(z: Any) -> Any:
    return relu(z) if isinstance(z, np.ndarray) else z.clamp(min=0)
