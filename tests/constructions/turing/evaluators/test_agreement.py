"""The evaluators of one and the same weights: they agree with the simulator and each other, and refuse bad input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.commands.turing import Evaluator as EvaluatorOption
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators.memory import index_memory
from lemmata.constructions.turing.evaluators.registry import DENSE, EVALUATORS, EXACT, torch_evaluator
from lemmata.constructions.turing.invariants import expected_hidden, reference_run, violations
from lemmata.constructions.turing.machine import busy_beaver, palindrome_machine, random_machine
from lemmata.numerics.exact.numbers import to_float

SEEDS = st.integers(0, 10**6)
TOLERANCES = {"indexed": 0.0, "exact": 0.0, "dense": 1e-12, "torch": 1e-12, "torch in float32": 1e-5}
"""Of entries of all layers; float32: a few roundings of numbers below 10, then the rounding to bits."""


def evaluator_named(name: str) -> Any:
    return torch_evaluator(torch.float32) if name == "torch in float32" else EVALUATORS[name]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Torch runs on one thread: for vectors this short several only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def random_case(seed: int, longest: int = 14) -> tuple[TuringTransformer, list[tuple[int, ...]]]:
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, int(rng.integers(1, 6)), int(rng.integers(1, 4)))
    rule: Any = ("stay", "two-way")[rng.integers(2)]
    words = [tuple(rng.integers(len(machine.symbols), size=int(rng.integers(6))).tolist()) for _ in range(2)]
    transformer = compile_turing_machine(machine, int(rng.integers(1, longest)), left_end=rule, max_length=6)
    return transformer, words


@pytest.mark.parametrize("name", TOLERANCES)
@given(seed=SEEDS)
def test_all_evaluators_agree_with_the_simulator_in_all_layers_at_all_times(name: str, seed: int) -> None:
    transformer, words = random_case(seed)
    run = evaluator_named(name).run(transformer, words, hidden=True)
    expected = np.array([expected_hidden(transformer, word) for word in words])
    assert np.abs(to_float(run.hidden - expected)).max() <= TOLERANCES[name]
    references = [reference_run(transformer, word) for word in words]
    assert run.states.tolist() == [reference.states for reference in references]
    assert run.symbols.tolist() == [reference.symbols for reference in references]
    assert (run.heads - transformer.start_cell).tolist() == [reference.heads for reference in references]
    machine, last = transformer.machine, [reference.states[-1] for reference in references]
    answers = [(z in machine.accept) - (z in machine.reject) for z in last]
    assert np.abs(to_float(run.predictions - answers)).max() <= TOLERANCES[name]
    gap = float(run.smallest_gap)  # recorded by two of them
    assert gap >= 1 - TOLERANCES[name] if name in ("exact", "dense") else np.isnan(gap)


@pytest.mark.parametrize("name", ["exact", "dense"])
def test_the_gap_of_a_batch_is_the_smallest_of_its_words(name: str) -> None:
    transformer = compile_turing_machine(palindrome_machine(), 12)
    words = [(), (1,), (1, 2, 1), (1, 1, 2)]
    alone = [float(EVALUATORS[name].run(transformer, [word]).smallest_gap) for word in words]
    together = float(EVALUATORS[name].run(transformer, words).smallest_gap)
    assert together == pytest.approx(min(alone), rel=1e-9)


@pytest.mark.parametrize("name", EVALUATORS)
def test_all_evaluators_decide_words_in_a_batch_as_alone(name: str) -> None:
    transformer = compile_turing_machine(palindrome_machine(), 12)
    words = [(), (1,), (1, 2, 1), (1, 1, 2)]
    batch = EVALUATORS[name].run(transformer, words)
    assert batch.hidden is None
    assert np.rint(batch.predictions.astype(float)).tolist() == [1, 1, 1, -1]
    for b, word in enumerate(words):
        alone = EVALUATORS[name].run(transformer, [word])
        for part in ("states", "symbols", "heads"):
            assert np.array_equal(getattr(batch, part)[b], getattr(alone, part)[0])


def test_the_table_of_evaluators_is_that_of_the_command_line() -> None:
    assert list(EVALUATORS) == [evaluator.name for evaluator in EVALUATORS.values()] == list(EvaluatorOption)


def test_softmax_is_the_same_in_numpy_and_torch() -> None:
    """With a smooth temperature, where no rounding to bits hides a difference; the first 6 steps."""
    transformer = compile_turing_machine(palindrome_machine(), 6)
    soft, words = transformer.softened(1.0), [(1, 2, 1), ()]
    dense, module = (EVALUATORS[name].run(soft, words, hidden=True).hidden for name in ("dense", "torch"))
    assert np.abs(dense - module).max() < 1e-10
    assert np.abs(dense - DENSE.run(transformer, words, hidden=True).hidden).max() > 1e-3


def test_gradients_pass_through_the_soft_attention() -> None:
    """The rounding is flat at bits, so that a layer is differentiated before it: all parts of the head matter."""
    module = compile_turing_machine(palindrome_machine(), 4).softened(0.3).to_torch()
    head = next(layer.own for layer in module.stack if layer.own is not None)
    z = torch.eye(head.query.weight.shape[0], dtype=torch.float64)[:3]
    memory = torch.stack([z, z.flip(0)], dim=1)
    (head.attend(z[:, None], head.key(memory), head.value(memory)) ** 2).sum().backward()
    for part in (head.query, head.key, head.value):
        assert part.weight.grad is not None
        assert bool(part.weight.grad.any())


@given(seed=SEEDS)
def test_dyadic_rounding_works_too(seed: int) -> None:
    transformer, words = random_case(seed, longest=6)
    dyadic = compile_turing_machine(
        transformer.machine, transformer.steps, left_end=transformer.left_end, max_length=6, threshold=fmpq(1, 4)
    )
    run = EXACT.run(dyadic, [words[0]], hidden=True)
    assert run.hidden is not None
    assert not violations(dyadic, words[0], run.hidden[0])
    layers = dyadic.layers[0].feed_forward.layers
    weights = {float(x) for layer in layers for array in layer.arrays() for x in array.ravel().tolist()}
    assert weights <= {0, 1, -1, 2, -2, -0.25, -0.75}


def test_outputs_that_are_no_codes_are_marked() -> None:
    """With a null key of C.4 that ties with a match, the output is half a symbol: states stay, symbols are -1."""
    transformer = compile_turing_machine(palindrome_machine(), 10)
    layers = list(transformer.layers)
    index = next(i for i, layer in enumerate(layers) if layer.name == "C.4")
    head = layers[index].self_attention
    assert head is not None
    null = head.null_key.copy()
    null[-1] += 1
    layers[index] = replace(layers[index], self_attention=replace(head, null=(null, head.null_value)))
    run = EXACT.run(replace(transformer, layers=tuple(layers)), [(1, 2, 1)])
    assert -1 in run.symbols[0]


# ---- refusals


def test_memory_is_what_the_arrays_take() -> None:
    transformer = compile_turing_machine(palindrome_machine(), 10)
    keys = sum(l.self_attention.key.weight.shape[1] + 1 for l in transformer.layers if l.self_attention)
    d = transformer.layout.width
    heads = sum(l.self_attention is not None for l in transformer.layers)
    for name in ("dense", "torch"):
        memory = EVALUATORS[name].memory
        written, digits = 4 + 4, 4 + sum(range(5, 9)) + 8  # numbers of a token; bits that the keys of all searches read
        assert memory(transformer, 3) == 3 * 11 * (8 * (keys - heads + heads * d + d + written) + digits)
        assert memory(transformer, hidden=True) - memory(transformer) == 8 * 11 * 15 * d
    memory = EVALUATORS["indexed"].memory
    assert memory(transformer, 3) == index_memory(10, transformer.layout) + 11 * (2 + 2 + 8 + 4 + 2 + 8 + 8 + 3 * 6 * 8)
    assert memory(transformer, 3, hidden=True) - memory(transformer, 3) == 11 * 15 * d * (2 + 3)
    memory = EVALUATORS["exact"].memory
    layers, once = len(transformer.layers), 400 * 11 * (4 + 2) * (4 * 4 + 4)  # entries of a key and a value of one word
    assert memory(transformer, 3) == 3 * 11 * 8 * (written + d) + once
    assert memory(transformer, 3, hidden=True) == 3 * 11 * 8 * (written + d * (1 + layers)) + once


@pytest.mark.parametrize("name", EVALUATORS)
def test_too_much_memory_is_refused_before_any_work(name: str) -> None:
    transformer, evaluator = compile_turing_machine(busy_beaver(2), 100), EVALUATORS[name]
    needed = evaluator.memory(transformer, 2, hidden=True)
    message = rf"100 steps on 2 words need \d+\.\d GiB in the {name} evaluator; \d+\.\d GiB are allowed: use fewer"
    with pytest.raises(ValueError, match=message):
        evaluator.run(transformer, [(), (1,)], hidden=True, memory_limit=needed - 1)
    assert evaluator.run(transformer, [(), (1,)], hidden=True, memory_limit=needed).states.shape == (2, 101)


@pytest.mark.parametrize("name", EVALUATORS)
def test_bad_words_are_refused_before_any_work(name: str) -> None:
    transformer = compile_turing_machine(palindrome_machine(), 6)
    for words, message in (
        ([(), (1,) * 8], "compiled for at most 7"),
        ([(), (1, 4, -1)], r"the input holds \[-1, 4\]"),
        ([], "at least one word"),
    ):
        with pytest.raises(ValueError, match=message):
            EVALUATORS[name].run(transformer, words)
    with pytest.raises(ValueError, match="sharpness must be positive"):
        transformer.softened(0.0)


def test_floats_and_softmax_are_refused_by_the_exact_evaluator() -> None:
    transformer = compile_turing_machine(palindrome_machine(), 3)
    with pytest.raises(ValueError, match="not the float"):
        EXACT.run(transformer.map(to_float), [()])
    with pytest.raises(ValueError, match="hard attention only"):
        EXACT.run(transformer.softened(1), [()])
