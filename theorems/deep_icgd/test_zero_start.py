"""Problem 2 prescribes w = 0 as the start: vacuous for r(0) = 0 and 0 in W, with few degrees of freedom otherwise.

For all data and losses: if r(0) = 0 and w = 0 then p(j) = 0 for j >= 1, so A(N) = s(N) (x) p(N-1) = 0 for N >= 2; and
for j < N, s(j) = r' * (V_(j+1)^T s(j+1)) = 0 since V_(j+1) = 0. So the gradient is 0, and if 0 lies in W,
the identity is a solution.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.functions.relu_sums import affine, constant, identity, squared_loss_derivative
from lemmata.theorems.deep_icgd.instances import Instance, Scalars, random_instance, rationals, reference_step
from lemmata.theorems.evidence import check, counterexample
from lemmata.theorems.records import Record


def at_zero(instance: Instance) -> Instance:
    return replace(instance, start=as_exact(np.zeros(len(instance.start), dtype=np.int64)))


@counterexample("deep-icgd:problem-2", grade="exact")
@check("deep-icgd:theorem-1", "deep-icgd:theorem-4", grade="exact", target="printed", supporting=True)
@check("deep-icgd:theorem-5", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("kind", ["linear", "huber"])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_gradient_vanishes_at_zero_so_that_the_identity_solves_the_problem(
    kind: str, depth: int, record: Record
) -> None:
    """On data whose gradient is not 0 in any layer at another start; the theorems are true there, and say nothing."""
    rng = np.random.default_rng([depth, len(kind)])
    for number in range(5):
        instance = random_instance(rng, kind, depth, clip=False)
        still = at_zero(instance)
        after, nonzero, _ = reference_step(still, still.start)
        assert not any(nonzero)
        assert (after == still.start).all()
        assert (still.block(still.prompt) == still.prompt).all()  # the block does nothing, as the identity would
        assert all(reference_step(instance, instance.start)[1])
        if (kind, depth, number) == ("huber", 3, 0):
            record.hypothesis("r(0) = 0", instance.scalars.plain[0](fmpq(0)), "=", 0)
            record.hypothesis("N >= 2 layers", instance.block.layout.depth, ">=", 2)
            record.hypothesis("0 lies in W: the largest lower end <= 0", max(instance.block.lower), "<=", 0)
            record.hypothesis("0 lies in W: the least upper end >= 0", min(instance.block.upper), ">=", 0)
            moved = instance.block.weights(still.block(still.prompt)) - still.start
            record.violated("from the printed start a step moves w: the largest change > 0", abs(moved).max(), ">", 0)


@check("deep-icgd:problem-2", "deep-icgd:theorem-1", grade="exact", target="printed", supporting=True)
def test_a_domain_without_0_is_entered_in_the_first_step_and_left_nowhere() -> None:
    """r(t) = t, W = [1/2, 1]^2, x = 1, eta = 1: from 0 to (1/2, 1/2), and for y = 3/8 on to (17/32, 17/32)."""
    block = gradient_descent_block(
        (1, 1, 1), 1, 1, identity(), constant(1), squared_loss_derivative(), (fmpq(1, 2), 1), 1, 1
    )
    for label, second in (("1/8", fmpq(1, 2)), ("3/8", fmpq(17, 32))):  # downwards and back to the corner, or upwards
        z = block.layout.encode(as_exact([[1], [0]]), as_exact([[label]]), as_exact([0, 0]))
        for expected in (fmpq(1, 2), second):
            z = block(z)
            assert block.weights(z).tolist() == [expected] * 2


@check(
    "deep-icgd:problem-2",
    grade="exact",
    target="corrected",
    cases="N = 1, ..., 8, r(t) = t, widths, weights and inputs 1, one example with label 0; N = 1, ..., 4, the widths "
    "2, 3, ..., 3, 2, two examples, other weights and inputs in each entry",
)
@pytest.mark.parametrize("depth", range(1, 9))
def test_from_the_start_of_ones_every_layer_moves(depth: int) -> None:
    """The corrected problem is not vacuous for any N: r(t) = t, widths, weights and x all 1, y = 0.

    All p(j) and s(j) are 1, so every entry of the gradient is 1/2, whatever N; the block makes that step, and that of
    networks whose entries all differ.
    """
    sums = identity(), constant(1), squared_loss_derivative()
    scalars = Scalars(sums, (lambda t: t, lambda t: fmpq(1), lambda t, y: t - y))
    block = gradient_descent_block((1,) * (depth + 1), 1, 1, *sums, (-1, 1), 1, 1)
    instance = Instance(block, scalars, as_exact([[1], [0]]), as_exact([[0]]), as_exact([1] * depth))
    after, nonzero, clipped = reference_step(instance, instance.start)
    assert after.tolist() == block.weights(block(instance.prompt)).tolist() == [fmpq(1, 2)] * depth
    assert all(nonzero)
    assert clipped == 0
    if depth <= 4:
        block = gradient_descent_block((2, *(3,) * (depth - 1), 2), 2, "1/7", *sums, (-1, 1), 1, 1)
        start = as_exact([fmpq((5 * i) % 7 - 3, 8) + fmpq(1, 16) for i in range(block.layout.weight_count)])
        instance = Instance(
            block,
            scalars,
            as_exact([["1/2", "-1/3"], [1, "1/5"], [0, 1]]),
            as_exact([["1/4", -1], ["-1/2", "1/3"]]),
            start,
        )
        after, nonzero, _ = reference_step(instance, start)
        assert all(nonzero)
        assert (block(instance.prompt) == block.layout.encode(instance.inputs, instance.labels, after)).all()


@check("deep-icgd:problem-2", grade="sampled", target="corrected", supporting=True)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_from_another_start_every_layer_moves(depth: int) -> None:
    """The corrected problem is solved with error 0 by the block for a deep linear network (the case r(t) = t)."""
    rng = np.random.default_rng([1, depth])
    instance = random_instance(rng, "linear", depth, clip=False)
    after, nonzero, _ = reference_step(instance, instance.start)
    assert all(nonzero)
    z = instance.block(instance.prompt)
    assert all((w == after).all() for w in instance.block.layout.weights(z))


@check("deep-icgd:problem-2", grade="sampled", target="corrected", supporting=True)
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_descent_from_zero_stays_permutation_symmetric(depth: int) -> None:
    """r(t) = 1 + t: V_1 has equal rows, V_j = c_j 1 1^T, V_N equal columns; layer j first moves at step N-j+1."""
    widths, n, rng = (2, *(3,) * (depth - 1), 1), 2, np.random.default_rng(depth)
    sums = affine(1, 1), constant(1), squared_loss_derivative()
    scalars = Scalars(sums, (lambda t: 1 + t, lambda t: fmpq(1), lambda t, y: t - y))
    block = gradient_descent_block(widths, n, "1/7", *sums, (-2, 2), 1, 1)
    inputs, labels = rationals(rng, n + 1, 2), rationals(rng, n, 1)
    instance = at_zero(Instance(block, scalars, inputs, labels, rationals(rng, block.layout.weight_count)))
    w, z = instance.start, instance.prompt
    for step in range(1, depth + 1):
        w, z = reference_step(instance, w)[0], block(z)
        assert (block.weights(z) == w).all()
        first, *middle, last = block.layout.matrices(w)
        assert (first == first[:1]).all()
        assert (last == last[:, :1]).all()
        assert all(len(set(V.ravel().tolist())) == 1 for V in middle)
        moved = [bool((V != 0).any()) for V in (first, *middle, last)]
        assert moved == [j >= depth - step + 1 for j in range(1, depth + 1)]


@check("deep-icgd:problem-2", grade="exact", target="corrected", supporting=True)
def test_a_guard_that_compares_only_weights_would_pass_at_zero() -> None:
    """Why no check may start at 0: a block without its update layer passes there, and fails at a random start."""
    rng = np.random.default_rng(2)
    instance = random_instance(rng, "linear", 2, clip=False)
    layers: Any = instance.block.layers
    lazy = replace(instance.block, layers=(*layers[:-2], layers[-1]))
    still = at_zero(instance)
    assert (lazy(still.prompt) == instance.block(still.prompt)).all()
    assert (lazy(instance.prompt) != instance.block(instance.prompt)).any()
