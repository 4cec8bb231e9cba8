"""Tables of finite binary operations: what a network can learn of them, and what it says of cells that it never saw.

tables         Table
networks       best_network: the largest margin found, by column generation; integer_network, exact_network: the same
               with integer weights; ascended_network, training_run: by training; neuron_spectrum: are its neurons
               characters?; TableNetwork, FoundNetwork, TrainingRun, NeuronSpectrum
unseen cells   unseen_cells: what all networks of nearly maximum margin say of the cells that are not given, certified;
               UnseenCells, UnseenCell
"""

from certificates.tables.columns import FoundNetwork, best_network, integer_network
from certificates.tables.exact_networks import exact_network
from certificates.tables.neurons import TableNetwork
from certificates.tables.training import NeuronSpectrum, TrainingRun, ascended_network, neuron_spectrum, training_run
from certificates.tables.unseen import UnseenCell, UnseenCells, unseen_cells
from numerics.tables.table import Table

__all__ = [
    "FoundNetwork",
    "NeuronSpectrum",
    "Table",
    "TableNetwork",
    "TrainingRun",
    "UnseenCell",
    "UnseenCells",
    "ascended_network",
    "best_network",
    "exact_network",
    "integer_network",
    "neuron_spectrum",
    "training_run",
    "unseen_cells",
]
