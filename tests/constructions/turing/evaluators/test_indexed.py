"""Tests of `lemmata.constructions.turing.evaluators.indexed`: the weights themselves are run, exactly, or the run is
refused."""

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.decoder import identity_attention
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators.indexed import advance_indexed, run_indexed, start_indexed
from lemmata.constructions.turing.evaluators.memory import index_memory
from lemmata.constructions.turing.evaluators.registry import DENSE, EXACT
from lemmata.constructions.turing.invariants import expected_hidden, reference_run, violations
from lemmata.constructions.turing.machine import busy_beaver, counter_machine, palindrome_machine, random_machine
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.turing.simulator import advance, new_tape


def agrees_with_the_simulator(transformer: TuringTransformer, word: tuple[int, ...]) -> None:
    steps, reference = run_indexed(transformer, word, trace=True), reference_run(transformer, word)
    assert steps.states.tolist() == reference.states
    assert steps.symbols.tolist() == reference.symbols
    assert (steps.heads - transformer.start_cell).tolist() == reference.heads
    assert steps.last_visits.tolist() == reference.last_visit
    assert violations(transformer, word, steps.trace[:, :, 1].astype(np.int8)) == []


@pytest.mark.parametrize(
    ("machine", "word", "steps"),
    [
        (busy_beaver(2), "", 8),
        (busy_beaver(3), "", 24),
        (busy_beaver(4), "", 110),
        (palindrome_machine(), "abba", 40),
        (palindrome_machine(), "", 3),
        (counter_machine(), "#101", 90),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_named_machines_agree_with_the_simulator_in_every_layer(machine, word, steps):
    agrees_with_the_simulator(compile_turing_machine(machine, steps), machine.encode(word))


@pytest.mark.parametrize("left_end", ["two-way", "stay"])
def test_random_machines_agree_with_the_simulator_in_every_layer(left_end, effort):
    rng = np.random.default_rng(11)
    for _ in range(effort.pick(quick=15, full=150)):
        machine = random_machine(rng, int(rng.integers(1, 7)), int(rng.integers(2, 5)), left_end)
        steps = int(rng.integers(1, effort.pick(quick=50, full=200)))
        word = tuple(int(a) for a in rng.integers(len(machine.symbols), size=int(rng.integers(min(8, steps + 2)))))
        agrees_with_the_simulator(compile_turing_machine(machine, steps), word)


def test_traces_equal_those_of_dense_attention():
    machine = palindrome_machine()
    transformer, word = compile_turing_machine(machine, 20), machine.encode("aba")
    steps, dense = run_indexed(transformer, word, trace=True), DENSE.run(transformer, [word], hidden=True)
    assert np.allclose(steps.trace[:, :, 1], dense.hidden[0], atol=1e-9)
    assert steps.states.tolist() == dense.states[0].tolist()


def test_binary_thresholds_and_identity_attention_are_understood():
    transformer = compile_turing_machine(busy_beaver(2), 8, threshold=fmpq(1, 4))
    agrees_with_the_simulator(transformer, ())
    first, *others = transformer.layers
    silent = replace(first, self_attention=identity_attention(transformer.layout.width))
    agrees_with_the_simulator(replace(transformer, layers=(silent, *others)), ())


def test_runs_go_on_where_they_stopped():
    machine = busy_beaver(4)
    transformer = compile_turing_machine(machine, 120)
    whole, run = run_indexed(transformer), start_indexed(transformer)
    parts = [advance_indexed(run, count) for count in (1, 7, 50, 1000, 5)]
    assert [len(part.states) for part in parts] == [1, 7, 50, 63, 0]
    for name in ("states", "symbols", "heads", "last_visits"):
        assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name))
    assert run.walked == 0
    stopped = advance_indexed(start_indexed(transformer), 1000, halting=True)
    assert len(stopped.states) == 108  # step 0 and the 107 steps of the machine
    assert stopped.states[-1] in machine.terminal


def changed(transformer: TuringTransformer, layer: int, part: str, change) -> TuringTransformer:
    """The transformer with one array of weights changed; part is like "map 0 weight" or "self key bias"."""
    old = transformer.layers[layer]
    kind, *path = part.split()
    if kind == "map":
        number, name = int(path[0]), path[1]
        affine = list(old.feed_forward.layers)
        affine[number] = replace(affine[number], **{name: change(getattr(affine[number], name))})
        new = replace(old, feed_forward=replace(old.feed_forward, layers=tuple(affine)))
    else:
        which = f"{kind}_attention"
        head = getattr(old, which)
        if len(path) == 1:
            null = {"null_key": head.null_key, "null_value": head.null_value}
            null[path[0]] = change(null[path[0]])
            head = replace(head, null=(null["null_key"], null["null_value"]))
        else:
            inner = getattr(head, path[0])
            head = replace(head, **{path[0]: replace(inner, **{path[1]: change(getattr(inner, path[1]))})})
        new = replace(old, **{which: head})
    layers = list(transformer.layers)
    layers[layer] = new
    return replace(transformer, layers=tuple(layers))


def add_at(index, amount):
    def change(array):
        result = array.astype(object) if isinstance(amount, fmpq) else array.copy()
        result[index] = result[index] + amount
        return result

    return change


def parts_of(transformer: TuringTransformer, layer: int) -> list[tuple[str, np.ndarray]]:
    parts = []
    for number, affine in enumerate(transformer.layers[layer].feed_forward.layers):
        parts += [(f"map {number} weight", affine.weight), (f"map {number} bias", affine.bias)]
    for kind in ("self", "cross"):
        head = getattr(transformer.layers[layer], f"{kind}_attention")
        if head is not None:
            for name in ("query", "key", "value"):
                parts += [(f"{kind} {name} {what}", getattr(getattr(head, name), what)) for what in ("weight", "bias")]
            parts += [(f"{kind} {name}", getattr(head, name)) for name in ("null_key", "null_value")]
    return parts


def test_changed_weights_are_evaluated_as_they_are_or_refused(effort):
    """Single weights are moved at random; the outputs are those of exact dense attention on the moved weights."""
    machine, word = busy_beaver(3), (1, 0)
    transformer = compile_turing_machine(machine, 9)
    expected = expected_hidden(transformer, word)
    rng = np.random.default_rng(3)
    outcomes = {"refused": 0, "differs": 0, "equal": 0}
    for _ in range(effort.pick(quick=40, full=1000)):
        layer = int(rng.integers(len(transformer.layers)))
        parts = parts_of(transformer, layer)
        part, array = parts[int(rng.integers(len(parts)))]
        used = np.argwhere(array != 0)
        if len(used) and rng.random() < 0.8:
            index = tuple(used[int(rng.integers(len(used)))])
        else:
            index = tuple(int(rng.integers(n)) for n in array.shape)
        amount = [1, -1, 2, fmpq(1, 10), fmpq(-1, 2)][int(rng.integers(5))]
        moved = changed(transformer, layer, part, add_at(index, amount))
        try:
            steps = run_indexed(moved, word, trace=True)
        except ValueError:
            outcomes["refused"] += 1
            continue
        exact = EXACT.run(moved, [word], hidden=True).hidden
        assert (steps.trace[:, :, 1] == exact[0]).all(), (part, index, amount)
        outcomes["equal" if (steps.trace[:, :, 1] == expected).all() else "differs"] += 1
    assert min(outcomes.values()) > 0, outcomes


CASES = {
    "null key of claim C.4 raised to a tie": ("C.4", "self null_key", -1, 1, "a full match and the null pair tie"),
    "null key of claim C.4 lowered": ("C.4", "self null_key", -1, -1, "no full match could win"),
    "query digit halved": ("C.5 bit 2", "self query weight", "pos3", -1, "no full match could win"),
    "key digit of the time dropped": ("C.6", "self key weight", "pos1", -2, "digits of the time|several tokens"),
    "half a value": ("C.4", "self value bias", "scr4", fmpq(-1, 2), "values of attention that are integers"),
    "value moved": ("C.4", "self value bias", "scr4", 1, "its attention leaves a number"),
    "time digit not copied": ("C.5 bit 1", "map 0 weight", "pos1", -1, "does not copy the indexed coordinates"),
    "rounding removed": ("C.1a", "map 1 bias", 0, fmpq(1, 3) - fmpq(1, 10), None),
}


@pytest.mark.parametrize("case", CASES)
def test_faults_that_the_index_cannot_answer_are_refused(case):
    name, part, where, amount, message = CASES[case]
    transformer = compile_turing_machine(busy_beaver(3), 9)
    layer = next(n for n, candidate in enumerate(transformer.layers) if candidate.name == name)
    array = dict(parts_of(transformer, layer))[part]
    if isinstance(where, str):
        block = transformer.layout.stream[where]
        used = [tuple(i) for i in np.argwhere(array != 0).tolist() if block.start <= i[0] < block.stop]
        where = used[-1]
    moved = changed(transformer, layer, part, add_at(where, amount))
    if message is None:  # a rounding that is off by less than its slack changes nothing
        agrees_with_the_simulator(moved, ())
        return
    with pytest.raises(ValueError, match=message):
        run_indexed(moved)


def test_null_key_that_always_wins_changes_the_answer():
    transformer = compile_turing_machine(busy_beaver(3), 12)
    layer = next(n for n, candidate in enumerate(transformer.layers) if candidate.name == "C.4")
    moved = changed(transformer, layer, "self null_key", add_at(-1, 2))
    steps = run_indexed(moved, trace=True)
    exact = EXACT.run(moved, [()], hidden=True).hidden
    assert (steps.trace[:, :, 1] == exact[0]).all()
    assert violations(moved, (), steps.trace[:, :, 1].astype(np.int8)) != []


def test_swapped_transition_is_seen():
    transformer = compile_turing_machine(busy_beaver(3), 12)
    st = transformer.layout.stream["st"].start

    def swap(weight):
        result = weight.copy()
        result[:, [st, st + 1]] = weight[:, [st + 1, st]]
        return result

    moved = changed(transformer, 1, "map 0 weight", swap)
    assert run_indexed(moved).states.tolist() != reference_run(transformer, ()).states


def test_too_few_bits_are_refused_where_the_time_wraps():
    transformer = compile_turing_machine(palindrome_machine(), 8, bits=3, max_length=3, wrap=True)
    with pytest.raises(ValueError, match=r"Time 8, layer C.4: the stream does not hold the digits of the time"):
        run_indexed(transformer, (1, 2, 1))


def test_floats_softmax_and_other_layers_are_refused():
    transformer = compile_turing_machine(busy_beaver(2), 8)
    floats = replace(transformer, layers=tuple(layer.map(to_float) for layer in transformer.layers))
    with pytest.raises(ValueError, match="exact"):
        run_indexed(floats)
    layers = list(transformer.layers)
    layers[5] = replace(layers[5], self_attention=replace(layers[5].self_attention, weigh="softmax"))
    with pytest.raises(ValueError, match="hard attention only"):
        run_indexed(replace(transformer, layers=tuple(layers)))
    old = transformer.layers[5]
    with pytest.raises(ValueError, match="without a residual"):
        replace(old, feed_forward=replace(old.feed_forward, residual=True))
    first = replace(old.feed_forward, layers=old.feed_forward.layers[:1], activations=("relu",))
    layers[5] = replace(old, feed_forward=first)
    with pytest.raises(ValueError, match="three ReLU layers"):
        run_indexed(replace(transformer, layers=tuple(layers)))


def test_memory_is_told_before_the_work():
    transformer = compile_turing_machine(busy_beaver(5), 2**31)
    with pytest.raises(ValueError, match=r"2147483648 steps need 42.0 GiB"):
        start_indexed(transformer)
    small = compile_turing_machine(busy_beaver(5), 10**6)
    assert index_memory(small.steps, small.layout) < 16 * 2**20
    with pytest.raises(ValueError, match="GiB"):
        start_indexed(small, memory_limit=2**20)


def test_fifth_busy_beaver_is_followed_over_many_steps(effort):
    machine, count = busy_beaver(5), effort.pick(quick=60_000, full=1_000_000)
    run = start_indexed(compile_turing_machine(machine, 47_176_870))
    tape, zeroth = new_tape(()), advance_indexed(run, 1)
    assert zeroth.states.tolist() == [machine.start]
    steps, expected = advance_indexed(run, count), advance(tape, machine.arrays(), count)
    assert np.array_equal(steps.states, expected.states)
    assert np.array_equal(steps.symbols, expected.symbols)
    assert np.array_equal(steps.heads - run.transformer.start_cell, expected.heads)
    assert run.walked == 0
