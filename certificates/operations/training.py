"""Networks for a table that are trained, not constructed: how near do they come to the certified margin?

Two ways: ascent on the normalised margin itself (`lemmata.numerics.margins.ascent`), and gradient descent on the
cross-entropy with a small penalty, the training of experiment D.2 of feature-emergence, recorded on its way. And the
Fourier mass of the neurons of any network for a table of residues, which tells whether they are characters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.numerics.fourier.cyclic import folded_power
from lemmata.numerics.margins.ascent import ascend_from_random, normalised_margin
from lemmata.numerics.margins.descent import descend, doubling_rate
from lemmata.numerics.operations.operation import Operation

__all__ = ["NeuronSpectrum", "TrainingRun", "ascended_network", "neuron_spectrum", "training_run"]

Floats = NDArray[np.float64]


def one_hot_cells(table: Operation) -> tuple[Floats, NDArray[np.int64]]:
    """The given cells as inputs (cells, N), one-hot in a and in b, and their labels (cells,)."""
    a, b = np.array(table.cells, np.int64).T
    inputs = np.zeros((len(a), table.size))
    inputs[np.arange(len(a)), a] = 1.0
    inputs[np.arange(len(a)), table.rows + b] = 1.0
    return inputs, table.array()[a, b]


def ascended_network(
    table: Operation, *, width: int | None = None, starts: int = 4, enough: float = np.inf, seed: int = 0
) -> OperationNetwork:
    """The best network found by ascent on the normalised margin from Gaussian starts.

    Args:
        table: the table.
        width: neurons; by default 4 (N + C).
        starts: so many at most.
        enough: no further start once a margin reaches this, a certified bound for instance.
        seed: of the starts.

    Raises:
        ValueError: for a width or a number of starts below 1.
    """
    inputs, labels = one_hot_cells(table)
    chosen = 4 * (table.size + table.label_count) if width is None else width
    found = ascend_from_random(inputs, labels, table.label_count, 2, chosen, starts=starts, enough=enough, seed=seed)
    return OperationNetwork.of_weights(found.hidden[:, : table.rows], found.hidden[:, table.rows :], found.readout)


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """A run of gradient descent.

    Attributes:
        network: at the end.
        steps: at which the margin was recorded.
        margins: the normalised margins there.
    """

    network: OperationNetwork
    steps: tuple[int, ...]
    margins: tuple[float, ...]


def training_run(
    table: Operation,
    *,
    width: int | None = None,
    steps: int = 20_000,
    rate: float = 0.05,
    doublings: int = 6,
    penalty: float = 1e-4,
    record_every: int = 200,
    seed: int = 0,
) -> TrainingRun:
    """Full-batch gradient descent on the mean cross-entropy plus penalty * ||theta||^3 over the given cells.

    Args:
        table: the table.
        width: neurons; by default 4 (N + C).
        steps: of gradient descent.
        rate: the learning rate at the start; it doubles ``doublings`` times, evenly over the run.
        doublings: see above.
        penalty: of the third power of the norm; the smaller, the nearer the minimum is to the maximum margin.
        record_every: steps between two records.
        seed: of the Gaussian start.

    Raises:
        ValueError: for a width, steps or record_every below 1, and for a run that diverges.
    """
    chosen = 4 * (table.size + table.label_count) if width is None else width
    for name, value in (("width", chosen), ("number of steps", steps), ("record_every", record_every)):
        if value < 1:
            raise ValueError(f"The {name} must be at least 1, not {value}.")
    inputs, labels = one_hot_cells(table)
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(chosen, table.size)) / np.sqrt(table.size)
    readout = rng.normal(size=(chosen, table.label_count)) / np.sqrt(chosen)
    times = [steps * (i + 1) // (doublings + 1) for i in range(doublings)]
    end = descend(
        inputs,
        labels,
        hidden,
        readout,
        2,
        penalty=penalty,
        steps=steps,
        rate=doubling_rate(rate, times),
        record_every=record_every,
        record=lambda step, x, w: (step, normalised_margin(inputs, labels, x, w, 2)),
    )
    network = OperationNetwork.of_weights(end.hidden[:, : table.rows], end.hidden[:, table.rows :], end.readout)
    return TrainingRun(network, tuple(step for step, _ in end.records), tuple(margin for _, margin in end.records))


@dataclass(frozen=True, eq=False)
class NeuronSpectrum:
    """The Fourier mass of the neurons of a network for a table of residues.

    Attributes:
        u, v, w: (m, frequencies 0, .., n // 2), the share of the squared length of u, v, w of each neuron at the
            frequencies k and n - k together; the rows have sum 1, or 0 where the part is 0.
        masses: of the neurons, of sum 1.
    """

    u: Floats
    v: Floats
    w: Floats
    masses: Floats

    @property
    def purity(self) -> float:
        """The mean over neurons, by mass, of the least share that one frequency has in u, v and w: 1 for characters."""
        shares = np.minimum(np.minimum(self.u, self.v), self.w).max(axis=1)
        return float(self.masses @ shares)


def neuron_spectrum(network: OperationNetwork) -> NeuronSpectrum:
    """The Fourier mass of each neuron of a network on residues modulo n, where |A| = |B| = C = n.

    Raises:
        ValueError: for other shapes.
    """
    sizes = {network.u.shape[1], network.v.shape[1], network.w.shape[1]}
    if len(sizes) != 1:
        raise ValueError(f"A spectrum needs as many rows as columns and labels, not {sorted(sizes)}.")
    unit = network.floats()

    def shares(part: Floats) -> Floats:
        present = np.linalg.norm(part, axis=1) > 1e-9
        found = np.zeros((len(part), part.shape[1] // 2 + 1))
        if present.any():
            found[present] = folded_power(part[present])
        return found

    return NeuronSpectrum(shares(unit.u), shares(unit.v), shares(unit.w), unit.masses)
