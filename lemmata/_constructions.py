"""What is the same for all constructions: the torch module, the table of layers, bounds of the margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

    from lemmata.certificates.margins.attack import Flip
    from lemmata.certificates.margins.direct import DirectBound
    from lemmata.certificates.margins.turing_scores import ScoreFlip
    from lemmata.constructions.circuits.relu import CircuitNetwork
    from lemmata.constructions.turing.compiler import TuringTransformer

__all__ = ["layer_table", "margin_bound", "smallest_flip", "to_torch"]


def to_torch(construction: Any, **options: Any) -> torch.nn.Module:
    """The torch module with the weights of a construction or of a single layer, as parameters that can be trained.

        lm.to_torch(lm.modular_addition_network(7))
        lm.to_torch(lm.ngram_head(2, 3).transformer, context=16)

    Args:
        construction: whatever a function of this namespace built, or a layer of `lm.networks`.
        options: those of the ``to_torch`` of the construction, such as ``dtype``, which is float64 by default.

    Raises:
        TypeError: for something that has no torch module.
    """
    method = getattr(construction, "to_torch", None)
    if method is not None:
        return method(**options)
    from lemmata.constructions.networks.torch import to_torch as module_of  # torch is slow to import

    return module_of(construction, **options)


def layer_table(construction: Any) -> Any:
    """The layers of a transformer, one line each: what a layer reads and writes, its attention, and its norms.

    Args:
        construction: a compiled machine (from `compile_machine`) or a block of gradient descent.

    Raises:
        TypeError: for something that has no layers over named coordinates.
    """
    table = getattr(construction, "table", None)
    if callable(table):
        return table()
    raise TypeError(
        f"A {type(construction).__name__} has no table of layers: give a compiled machine or a block of descent."
    )


def margin_bound(construction: CircuitNetwork | TuringTransformer) -> DirectBound:
    """The certified lower bound of the all-layer margin: no smaller change of all weights flips an answer.

    The bound holds on every input. The same as `lemmata.certificates.margins.circuit_direct.direct_circuit_bound` for
    circuits and `lemmata.certificates.margins.turing_direct.direct_margin_bound` for machines.

    Args:
        construction: from `circuit_network`, with rounding, or from `compile_machine`.

    Returns:
        The bound, with the 2-norm ``value`` (an exact fraction) and the name of the ``binding`` condition.

    Raises:
        TypeError: for another construction.
        ValueError: for a circuit network without rounding, for which nothing is certified.
    """
    from lemmata.constructions.circuits.relu import CircuitNetwork
    from lemmata.constructions.turing.compiler import TuringTransformer

    if isinstance(construction, CircuitNetwork):
        from lemmata.certificates.margins.circuit_direct import direct_circuit_bound

        return direct_circuit_bound(construction)
    if isinstance(construction, TuringTransformer):
        from lemmata.certificates.margins.turing_direct import direct_margin_bound

        return direct_margin_bound(construction)
    raise TypeError(
        f"All-layer margins are bounded for circuit networks and compiled machines, not for a "
        f"{type(construction).__name__}."
    )


def smallest_flip(
    construction: CircuitNetwork | TuringTransformer,
    x: str | Sequence[int],
    *,
    starts: int = 16,
    steps: int = 300,
    seed: int = 0,
) -> Flip | ScoreFlip | None:
    """The smallest change of the weights that was found to flip the answer at one input: an upper bound of the margin.

    For a circuit it is searched by projected gradient steps and re-evaluated exactly, as by
    `lemmata.certificates.margins.attack.smallest_flip`. For a machine a score of some layer and time is pushed past
    another one where that is cheapest, as by `lemmata.certificates.margins.turing_scores.score_flip`; then nothing is
    random.

    Args:
        construction: from `circuit_network` or `compile_machine`.
        x: the input: bits for a circuit, a word for a machine.
        starts, steps, seed: of the search, for a circuit.

    Returns:
        A flip, with its ``norm`` and ``norm_squared``; None if the search finds none.

    Raises:
        TypeError: for another construction.
        ValueError: for an input that does not fit.
    """
    from lemmata.constructions.circuits.relu import CircuitNetwork
    from lemmata.constructions.turing.compiler import TuringTransformer

    if isinstance(construction, CircuitNetwork):
        from lemmata.certificates.margins.attack import circuit_target
        from lemmata.certificates.margins.attack import smallest_flip as search

        bits = np.array([int(bit) for bit in x])
        return search(circuit_target(construction, bits), starts=starts, steps=steps, seed=seed)
    if isinstance(construction, TuringTransformer):
        from lemmata.certificates.margins.turing_scores import score_flip

        return score_flip(construction, construction.machine.encode(x) if isinstance(x, str) else tuple(x))
    raise TypeError(
        f"Flips are searched for circuit networks and compiled machines, not for a {type(construction).__name__}."
    )
