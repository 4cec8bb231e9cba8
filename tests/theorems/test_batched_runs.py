"""Batches of compiled machines: what they have to share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import random_machine
from lemmata.theorems.turing.batched_runs import batched_run


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("part", ["start", "embedding", "layers"])
def test_machines_that_differ_in_more_than_transitions_are_refused(place: int, part: str) -> None:
    rng = np.random.default_rng(3)
    machines = [compile_turing_machine(random_machine(rng, 2, 2, "stay"), 2, left_end="stay") for _ in range(3)]
    assert batched_run(machines, [(), (1,)]).shape[:3] == (3, 2, 3)
    one = machines[place]
    if part == "layers":
        first, *others = one.layers
        second = first.feed_forward.layers[0]
        moved = replace(second, bias=second.bias - 1)
        layers = (moved, *first.feed_forward.layers[1:])
        changed = (replace(first, feed_forward=replace(first.feed_forward, layers=layers)), *others)
    else:
        changed = getattr(one, part) + 1
    machines[place] = replace(one, **{part: changed})
    with pytest.raises(AssertionError):
        batched_run(machines, [(), (1,)])
