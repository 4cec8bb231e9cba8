"""SGD on the architectures with which sparse parities are learned, compiled: many short runs of small networks.

Settings (i) to (xv) and the two of width k, for the parity of the first k of n signs:

- (i) (ii) (iii): u . relu(Wx + b) + c of widths 10, 100, 1000; (iv) (v) (vi) the same with z^k; (*i) (*ii) of width k;
- (vii) to (x): u s(w.x + b) + c with one neuron, s the k-zigzag, the oscillating polynomial of degree k, a triangle
  wave, a sinusoid; (xi) to (xiv): s(w.x + b) alone;
- (xv): the PolyNet prod_i (w_i.x + b_i).

The two waves take 2 z, with which (1/2) 1_S is a solution; on all other single neurons it is 1_S. A step is

    theta <- theta - eta grad

on B fresh samples, with the hinge loss (1 - yf)_+, the square (y - f)^2 or the logistic loss log(1 + e^(-yf)). Inputs
are signs: the products with W and the gradient are added up from the tables of
`lemmata.numerics.parity.compiled_training`. Sums run over lanes in a fixed order, and sines and exponentials are taken
in float64 and rounded, so that the same seed gives the same bits on every machine.

Source: hidden-progress, section 5.3 and appendix B.4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from lemmata.numerics.parity.compiled_activations import Activation, Loss, kind_of, shape_of
from lemmata.numerics.parity.compiled_training import count_wrong, descend, draw_codes, tiled, untile
from lemmata.numerics.parity.training import Initialization, Network, initial_network

__all__ = ["ARCHITECTURES", "Architecture", "ArchitectureRun", "initial_architecture", "train_architecture"]


@dataclass(frozen=True)
class Architecture:
    """One setting.

    Attributes:
        activation: of the neurons; "product" multiplies k of them.
        width: the number of neurons; 0 stands for k.
        second_layer: whether the readout u and the bias c of the output are trained; else they are 1 and 0.
    """

    activation: Activation
    width: int
    second_layer: bool = True


_NEURONS: tuple[Activation, ...] = ("zigzag", "polynomial", "wave", "sine")

ARCHITECTURES: dict[str, Architecture] = {
    "i": Architecture("relu", 10),
    "ii": Architecture("relu", 100),
    "iii": Architecture("relu", 1000),
    "iv": Architecture("power", 10),
    "v": Architecture("power", 100),
    "vi": Architecture("power", 1000),
    **{name: Architecture(s, 1) for name, s in zip(("vii", "viii", "ix", "x"), _NEURONS, strict=True)},
    **{name: Architecture(s, 1, False) for name, s in zip(("xi", "xii", "xiii", "xiv"), _NEURONS, strict=True)},
    "xv": Architecture("product", 0, False),
    "*i": Architecture("relu", 0),
    "*ii": Architecture("power", 0),
}
"""The settings by their numbers in the document, without the transformer (*iii)."""


@dataclass
class ArchitectureRun:
    """The records of a run.

    Attributes:
        converged: the first checked step without an error on the held-out sample, or None.
        accuracy: at the checks, on part of the held-out sample; empty if it is not recorded.
    """

    converged: int | None = None
    accuracy: list[float] = field(default_factory=list)


def initial_architecture(
    name: str, n: int, k: int, rng: np.random.Generator, init: Initialization = "uniform"
) -> Network:
    """The random parameters of a setting, with the scales of `initial_network`.

    Raises:
        ValueError: for an unknown setting, and as `initial_network`.
    """
    if name not in ARCHITECTURES:
        raise ValueError(f"There is no setting {name!r}: the settings are {', '.join(ARCHITECTURES)}.")
    setting = ARCHITECTURES[name]
    network = initial_network(n, k, setting.width or k, rng, "relu", init)
    if not setting.second_layer:
        network.readout[:], network.output_bias[:] = 1, 0
    return network


def train_architecture(
    name: str,
    network: Network,
    steps: int,
    rng: np.random.Generator,
    *,
    batch: int = 32,
    rate: float = 0.1,
    loss: Loss = "hinge",
    check_every: int = 10,
    held_out: int = 2**13,
    recorded: int = 0,
) -> ArchitectureRun:
    """The course of training the parameters of a setting in place, until the held-out sample is right.

    Args:
        name: the setting, as in `ARCHITECTURES`.
        network: its parameters, from `initial_architecture`; the parity is that of the ``degree`` first inputs.
        steps: at most so many.
        rng: of the held-out sample and of the seed of the batches, in this order.
        batch: B.
        rate: eta.
        loss: the loss.
        check_every: steps between two checks.
        held_out: the size of the held-out sample.
        recorded: on how many of the held-out samples the accuracy is recorded at each check, 0 for none.

    Raises:
        ValueError: for an unknown setting or loss, a network of another width, sizes below 1, more recorded than held
            out samples, or a rate that is not positive and finite.
    """
    setting, n, k = _checked(name, network, min(steps, batch, check_every, held_out), rate, loss)
    if not 0 <= recorded <= held_out:
        raise ValueError(f"Between 0 and {held_out} of the held-out samples can be recorded, not {recorded}.")
    codes, labels = draw_codes(rng, n, k, held_out)
    seed = np.array([rng.integers(0, 2**64, dtype=np.uint64)], dtype=np.uint64)
    state, run = tiled(network), ArchitectureRun()
    form = (kind_of(setting.activation), len(network.hidden), shape_of(setting.activation, k))
    step = get_args(Loss).index(loss), float(rate), float(batch), np.float32(1), setting.second_layer
    for done in range(0, steps, check_every):
        count = min(check_every, steps - done)
        descend(*state, *form, codes[:0], labels[:0], n, k, seed, count, batch, 0.0, *step)
        if recorded:
            wrong, _ = count_wrong(*state, *form, codes[:recorded], labels[:recorded], False)
            run.accuracy.append(1 - wrong / recorded)
        wrong, finite = count_wrong(*state, *form, codes, labels, True)
        if not finite:
            break  # diverged
        if wrong == 0:
            run.converged = done + count
            break
    untile(state, network)
    return run


def _checked(name: str, network: Network, least: int, rate: float, loss: str) -> tuple[Architecture, int, int]:
    """The setting, n and k, or a refusal of what `train_architecture` does not accept."""
    if name not in ARCHITECTURES or loss not in get_args(Loss):
        raise ValueError(
            f"The settings are {', '.join(ARCHITECTURES)} and the losses {', '.join(get_args(Loss))}: {name}, {loss}."
        )
    setting, k = ARCHITECTURES[name], network.degree
    if len(network.hidden) != (setting.width or k):
        raise ValueError(f"Setting ({name}) has {setting.width or k} neurons for k = {k}, not {len(network.hidden)}.")
    if least < 1 or not 0 < rate < math.inf:
        raise ValueError(f"Sizes must be at least 1 and the rate positive and finite, not {least} and {rate}.")
    return setting, network.hidden.shape[1], k
