"""All constructions of the library in one table, each as a small instance, with how it is fed and run.

Whoever adds a construction adds a line to `REGISTRY`. One test then takes it through the number systems (exact numbers,
balls, float64), the torch module, and the stored form where there is one, on random inputs.

An instance is built in its sharpest number system. `Registered.inputs` draws exact inputs (integers or rationals),
which fit every system. `run` takes an instance in any system to its outputs, `run_torch` a torch module.
"""

from __future__ import annotations

from lemmata.constructions.registry.entry import Registered, in_system
from lemmata.constructions.registry.layers import LAYERS
from lemmata.constructions.registry.networks import NETWORKS
from lemmata.constructions.registry.tokens import TOKENS

__all__ = ["REGISTRY", "Registered", "in_system"]

REGISTRY: tuple[Registered, ...] = (*LAYERS, *NETWORKS, *TOKENS)
