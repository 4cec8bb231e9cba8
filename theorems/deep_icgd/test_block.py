"""The block of 2N+4 layers is projected gradient descent, exactly: every token and every slot over Q, tolerance zero.

Why for all sizes. Each layer's identity is proved in the docstring of `lemmata.constructions.descent.layers` for any
sizes and any sums of ReLUs; the layers are checked one by one in `test_layers`, their composition here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.layers import error_layer, update_layer
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.stored import StoredAttention
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.theorems.deep_icgd.instances import (
    Instance,
    digits,
    random_instance,
    rationals,
    reference_step,
)
from lemmata.theorems.evidence import check, proof_steps

STEP_CASES = (
    "240 draws, 12 for each N = 1, ..., 5 and each of linear, affine, Huber and piecewise linear r: widths 1, 2, 3 "
    "with d_x != d_y, n = 1, ..., 4, box [-1, 1]; seeded by N and the kind of r"
)

KINDS = ("linear", "affine", "huber", "piecewise")


def with_weights(instance: Instance, z: Array, w: Array) -> Array:
    """The stream z with w in the weight slot of every token."""
    result = z.copy()
    result[..., instance.block.layout.all_weights.coordinates] = w
    return result


@check("deep-icgd:construction-block", grade="sampled", target="printed", cases=STEP_CASES)
@check("deep-icgd:construction-exact", grade="sampled", target="printed", supporting=True)
@check("deep-icgd:theorem-5", grade="sampled", target="printed", supporting=True)
@proof_steps("block.md: 7, 8")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_one_block_is_one_projected_step(kind: str, depth: int, effort: Any, record_property: Any) -> None:
    """Random networks with d_x != d_y, all layer gradients nonzero, the box active: 240 in CI, 1200 at full effort.

    The layers are stored in families of heads that share their numbers; for N <= 2 every head is also run by itself,
    as matrices.
    """
    rng = np.random.default_rng([depth, KINDS.index(kind)])
    for _ in range(effort.pick(quick=12, full=60)):
        instance = random_instance(rng, kind, depth)
        after, nonzero, clipped = reference_step(instance, instance.start)
        assert all(nonzero)
        assert clipped > 0
        z = instance.prompt
        expected = with_weights(instance, z, after)
        assert (instance.block(z) == expected).all()
        assert len(instance.block.layers) == 2 * depth + 4
        if depth <= 2:
            heads = instance.block.dense()
            assert sum(isinstance(layer, AttentionLayer) for layer in heads.layers) == depth + 2
            assert (heads(z) == expected).all()
    record_property("instances", effort.pick(quick=12, full=60))


@check("deep-icgd:construction-block", grade="sampled", target="printed", supporting=True)
@check("deep-icgd:theorem-1", grade="sampled", target="printed", supporting=True)
@proof_steps("block.md: 7")
@pytest.mark.parametrize(
    ("kind", "depth", "most"),
    [("linear", 2, 9), ("affine", 2, 9), ("linear", 3, 6), ("huber", 2, 7), ("affine", 4, 5), ("affine", 5, 4)],
)
def test_several_blocks_are_several_steps(kind: str, depth: int, most: int, effort: Any, record_property: Any) -> None:
    """Three steps (four to nine at full effort), while the numbers grow: the digits after each step are recorded.

    The gradient of a deep linear network is a polynomial of degree 2N-1 in the weights, so that is about the factor.
    """
    rng = np.random.default_rng([7, depth, KINDS.index(kind)])
    instance = random_instance(rng, kind, depth, most=2, clip=False)
    z, w, growth, active = instance.prompt, instance.start, [], 0
    for _ in range(effort.pick(quick=3, full=most)):
        z = instance.block(z)
        w, nonzero, clipped = reference_step(instance, w)
        assert all(nonzero)
        assert (z == with_weights(instance, instance.prompt, w)).all()
        growth.append(digits(w))
        active += clipped
    assert growth[0] < growth[-1] < 10**5
    record_property("digits after each step", growth)
    record_property("clipped weights", active)


@check("deep-icgd:construction-block", grade="sampled", target="printed", supporting=True)
@check("deep-icgd:theorem-5", grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_several_steps_along_the_walls_of_the_box(kind: str, depth: int, record_property: Any) -> None:
    """Three steps, the first of which clips, from a start where every layer has a gradient."""
    rng = np.random.default_rng([12, depth, KINDS.index(kind)])
    clips = []
    for _ in range(3):
        instance = random_instance(rng, kind, depth)
        z, w = instance.prompt, instance.start
        for _ in range(3):
            z = instance.block(z)
            w, _, clipped = reference_step(instance, w)
            assert (z == with_weights(instance, instance.prompt, w)).all()
            clips.append(clipped)
        assert clips[-3] > 0
    record_property("clipped weights", clips)


@check("deep-icgd:construction-block", grade="sampled", target="printed", supporting=True)
@pytest.mark.parametrize("kind", ["linear", "affine", "huber"])
def test_block_on_another_number_of_examples(kind: str, effort: Any) -> None:
    """Built for n and run on n' examples it makes the step eta n'(n+1)/(n(n'+1)), exactly."""
    rng = np.random.default_rng([8, KINDS.index(kind)])
    for other in range(1, effort.pick(quick=5, full=10)):
        instance = random_instance(rng, kind, 2, clip=False)
        block, n = instance.block, instance.block.examples
        longer = replace(
            instance,
            inputs=rationals(rng, other + 1, block.layout.widths[0]),
            labels=rationals(rng, other, block.layout.widths[-1]),
        )
        effective = block.step_size * fmpq(other * (n + 1), n * (other + 1))
        assert block.effective_step_size(other) == effective
        after, _, _ = reference_step(longer, longer.start, effective)
        z = longer.prompt
        assert (block(z) == with_weights(longer, z, after)).all()
        plain, nonzero, _ = reference_step(longer, longer.start)
        assert other == n or not any(nonzero) or (plain != after).any()


@check("deep-icgd:construction-block", grade="sampled", target="printed", supporting=True)
def test_order_of_examples_and_test_input_do_not_matter() -> None:
    rng = np.random.default_rng(9)
    instance = random_instance(rng, "huber", 3, smallest_examples=3)
    order = rng.permutation(len(instance.labels))
    shuffled = replace(
        instance,
        inputs=np.concatenate([instance.inputs[:-1][order], rationals(rng, 1, instance.inputs.shape[1])]),
        labels=instance.labels[order],
    )
    after = [case.block.weights(case.block(case.prompt)) for case in (instance, shuffled)]
    assert (after[0] == after[1]).all()
    assert (after[0] != instance.start).any()


@check("deep-icgd:lemma-5", grade="sampled", target="corrected", supporting=True)
@check("deep-icgd:construction-block", grade="sampled", target="printed", supporting=True)
@proof_steps("block.md: 4")
def test_every_stage_holds_the_quantities_of_back_propagation(effort: Any) -> None:
    """p(j), r'(j-1), g and s(j) in every example's token by loops; g = s = 0 in the test token, although p is not."""
    rng = np.random.default_rng(10)
    for depth in range(1, effort.pick(quick=4, full=6)):
        instance = random_instance(rng, "huber", depth)
        layout, (r, slope, residual) = instance.block.layout, instance.scalars.plain
        matrices = [V.tolist() for V in layout.matrices(instance.start)]
        z = list(instance.block.stages(instance.prompt))[-3]  # before update and clean-up
        for i, row in enumerate(z.tolist()):
            p = [instance.inputs[i].tolist()]
            for j, V in enumerate(matrices, start=1):
                arguments = [sum((a * b for a, b in zip(v, p[-1], strict=True)), fmpq(0)) for v in V]
                p.append([r(t) for t in arguments])
                assert row[layout.stream[f"p{j}"]] == p[-1]
                assert row[layout.stream[f"r'{j - 1}"]] == [slope(t) for t in arguments]
            is_test = i == len(z) - 1
            g = (
                [fmpq(0)] * len(p[-1])
                if is_test
                else [residual(*pair) for pair in zip(p[-1], instance.labels[i], strict=True)]
            )
            assert row[layout.stream["g"]] == g
            s = [a * b for a, b in zip(row[layout.stream[f"r'{depth - 1}"]], g, strict=True)]
            for j in range(depth, 0, -1):
                assert row[layout.stream[f"s{j}"]] == s
                if j > 1:
                    back = [
                        sum((V[b] * e for V, e in zip(matrices[j - 1], s, strict=True)), fmpq(0))
                        for b in range(len(p[j - 1]))
                    ]
                    s = [a * b for a, b in zip(row[layout.stream[f"r'{j - 2}"]], back, strict=True)]


def _without_one_head(block: DescentBlock, number: int) -> list[DescentBlock]:
    """The blocks with one head of attention layer ``number`` removed (its value 0), for every head in turn."""
    layer = block.layers[number]
    assert isinstance(layer, StoredAttention)
    result = []
    for position, family in enumerate(layer.families):
        for h in range(len(family)):
            kept = family.coefficients.copy()
            kept[h] = 0 * kept[h]
            families = [*layer.families[:position], replace(family, coefficients=kept), *layer.families[position + 1 :]]
            result.append(_with_layer(block, number, replace(layer, families=tuple(families))))
    return result


def _with_layer(block: DescentBlock, number: int, layer: Any) -> DescentBlock:
    layers = list(block.layers)
    layers[number] = layer
    return replace(block, layers=tuple(layers))


@check("deep-icgd:construction-block", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("fault", ["head removed", "sign of the update", "transposed", "mask leak", "n off by one"])
def test_faults_are_seen(fault: str) -> None:
    """Negative controls: each planted fault changes the weights that come out."""
    rng = np.random.default_rng(11)
    widths, n = (2, 2, 2, 1), 3
    scalars = random_instance(rng, "linear", 3, clip=False).scalars
    block = gradient_descent_block(widths, n, "1/5", *scalars.sums, (-1, 1), 1, 1)
    layout = block.layout
    start = rationals(rng, layout.weight_count) * fmpq(7, 8)
    instance = Instance(block, scalars, rationals(rng, n + 1, 2), rationals(rng, n, 1), start)
    after, nonzero, _ = reference_step(instance, start)
    z = instance.prompt
    assert all(nonzero)
    assert (block.weights(block(z)) == after).all()
    update = len(block.layers) - 2
    if fault == "head removed":
        for number in (0, 1, 2, 3, update):  # a head whose ReLU is inactive in all tokens cannot be missed
            changed = [(cut.weights(cut(z)) != after).any() for cut in _without_one_head(block, number)]
            assert sum(changed) >= len(changed) / 2
        return
    if fault == "sign of the update":
        faults = [_with_layer(block, update, update_layer(layout, -block.step_size, n))]
    elif fault == "n off by one":
        faults = [_with_layer(block, update, update_layer(layout, block.step_size, n + 1))]
    elif fault == "transposed":
        layer = error_layer(layout, 1)  # the rows of V_2 where its columns belong
        assert widths[1] == widths[2]
        faults = [_with_layer(block, update - 1, replace(layer, query=layout.weight_rows(2)))]
    else:
        z = layout.encode(instance.inputs, instance.labels, start)
        z[-1, layout.stream["x"]] = fmpq(100)
        faults = [block]
        with pytest.raises(ValueError, match="inputs must be at most"):
            block.prompt(np.concatenate([instance.inputs[:-1], as_exact([[100, 100]])]), instance.labels, start)
    for faulty in faults:
        assert (faulty.weights(faulty(z)) != after).any()
