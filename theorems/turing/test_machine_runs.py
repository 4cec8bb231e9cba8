"""The assembled transformer runs every machine: state, symbol, head and every layer against the reference simulator.

That it does for all machines and all T is the induction over the time: the layers of lemmas C.1 to C.8 turn the codes
of step i - 1 into those of step i (`test_machine_layers`, `test_attention_layers`), and step 0 begins it. Here the
whole is run, over the rationals and densely in float64, and every invariant is compared after every layer.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators.registry import DENSE, EXACT, TORCH
from lemmata.constructions.turing.evaluators.run import TransformerRun
from lemmata.constructions.turing.invariants import expected_hidden, reference_run, violations
from lemmata.constructions.turing.machine import (
    BUSY_BEAVERS,
    TuringMachine,
    busy_beaver,
    counter_machine,
    palindrome_machine,
    random_machine,
)
from lemmata.numerics.exact.numbers import to_float
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.compiled_layers import layer_named

TOLERANCE = 1e-9
"""Of float64 entries after a layer. Before it the vectors are within 1e-15 of bits, scores of the largest head are sums
of at most 2P + 1 < 64 products below 64, and the rounding multiplies by 3: errors stay below 1e-12."""


def _agrees_exactly(transformer: TuringTransformer, word: tuple[int, ...]) -> TransformerRun:
    run = EXACT.run(transformer, [word], hidden=True)
    assert run.hidden is not None
    assert violations(transformer, word, run.hidden[0]) == []
    assert run.smallest_gap >= 1
    _same_trace(transformer, word, run, 0)
    return run


def _agrees_densely(transformer: TuringTransformer, words: Sequence[tuple[int, ...]]) -> None:
    run = DENSE.run(transformer, words, hidden=True)
    assert run.hidden is not None
    assert run.smallest_gap >= 1 - TOLERANCE
    for b, word in enumerate(words):
        assert violations(transformer, word, run.hidden[b], tolerance=TOLERANCE) == []
        _same_trace(transformer, word, run, b)


def _same_trace(transformer: TuringTransformer, word: tuple[int, ...], run: TransformerRun, b: int) -> None:
    reference = reference_run(transformer, word)
    assert run.states[b].tolist() == reference.states
    assert run.symbols[b].tolist() == reference.symbols
    assert (run.heads[b] - transformer.start_cell).tolist() == reference.heads
    machine, last = transformer.machine, reference.states[-1]
    assert round(float(run.predictions[b])) == (last in machine.accept) - (last in machine.reject)


def _random_case(rng: np.random.Generator, steps: int) -> tuple[TuringTransformer, tuple[int, ...]]:
    """A random machine with up to 6 states and 4 symbols, T up to ``steps``, any rule at the left end that it obeys."""
    machine = random_machine(rng, int(rng.integers(1, 7)), int(rng.integers(1, 5)))
    word = tuple(rng.integers(len(machine.symbols), size=int(rng.integers(10))).tolist())
    T = int(rng.integers(1, steps + 1))
    rule = ("refuse", "stay", "two-way")[rng.integers(3)]
    transformer = compile_turing_machine(machine, T, max_length=len(word), left_end=rule)  # type: ignore[arg-type]
    try:
        reference_run(transformer, word)
    except ValueError:  # it leaves the tape, which "refuse" excludes: use the textbook rule
        transformer = compile_turing_machine(machine, T, max_length=len(word), left_end="stay")
    return transformer, word


# ---- runs


@check(
    "turing:construction-assembled", grade="sampled", target="printed", supporting=True, cases="25 machines, seed 11"
)
@check("turing:setup-C.1", grade="sampled", target="corrected", supporting=True, cases="25 machines, seed 11")
@proof_steps("machine_layers.md: 17")
def test_random_machines_over_the_rationals(effort) -> None:
    """25 random machines with T <= 25 (full: 100 with T <= 200), every layer at every time, exactly."""
    rng = np.random.default_rng(11)
    for _ in range(effort.pick(quick=25, full=100)):
        _agrees_exactly(*_random_case(rng, effort.pick(quick=25, full=200)))


@check(
    "turing:construction-assembled",
    grade="sampled",
    target="printed",
    supporting=True,
    cases="20 machines (full: 2000), seed 12",
)
def test_random_machines_densely(effort, record_property) -> None:
    """20 random machines with T <= 60 (full: 2000 with T <= 200), every layer at every time, in float64."""
    rng = np.random.default_rng(12)
    count = effort.pick(quick=20, full=2000)
    rules = {"refuse": 0, "stay": 0, "two-way": 0}
    steps = 0
    for _ in range(count):
        transformer, word = _random_case(rng, effort.pick(quick=60, full=200))
        _agrees_densely(transformer, [word])
        rules[transformer.left_end] += 1
        steps += transformer.steps
    record_property("machines", count)
    record_property("steps", steps)
    assert min(rules.values()) > count // 20


@check("turing:construction-assembled", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("states", [2, 3, 4])
def test_busy_beavers_halt_at_their_step(states: int) -> None:
    """6, 21 and 107 steps; one step earlier they have not halted."""
    machine, steps = busy_beaver(states), BUSY_BEAVERS[states][1]
    transformer = compile_turing_machine(machine, steps)
    run = _agrees_exactly(transformer, ())
    halted = [z in machine.terminal for z in run.states[0].tolist()]
    assert halted == [False] * steps + [True]
    assert run.predictions.tolist() == [1]


@check("turing:construction-assembled", grade="numeric", target="printed", supporting=True)
def test_palindromes_are_recognised(effort) -> None:
    """All words over a, b of up to 4 letters with T = 15 (full: up to 6 letters with T = 64)."""
    machine = palindrome_machine()
    longest, T = effort.pick(quick=(4, 15), full=(6, 64))
    words = [word for length in range(longest + 1) for word in itertools.product((1, 2), repeat=length)]
    transformer = compile_turing_machine(machine, T)
    _agrees_densely(transformer, words)
    answers = np.rint(DENSE.run(transformer, words).predictions)
    assert answers.tolist() == [1 if word == word[::-1] else -1 for word in words]


@check("turing:construction-assembled", grade="numeric", target="printed", supporting=True)
def test_halting_times_of_the_palindrome_machine() -> None:
    """At most 3, 6, 10, 15, 21, 28 steps for 1, ..., 6 letters, all attained."""
    machine = palindrome_machine()
    transformer = compile_turing_machine(machine, 28)
    latest = []
    for length in range(1, 7):
        words = list(itertools.product((1, 2), repeat=length))
        runs = [reference_run(transformer, word).states for word in words]
        latest.append(max(next(i for i, z in enumerate(run) if z in machine.terminal) for run in runs))
    assert latest == [3, 6, 10, 15, 21, 28]
    run = DENSE.run(transformer, [(1,) * 6])
    assert [z in machine.terminal for z in run.states[0].tolist()].index(True) == 28


@check("turing:construction-assembled", grade="numeric", target="printed", supporting=True)
def test_counter_counts() -> None:
    transformer = compile_turing_machine(counter_machine(), 100)
    _agrees_densely(transformer, [(), (1, 2, 2)])


GOLDEN = [
    # i: state, symbol, head, written, last visit, for the word aba
    ("start", 1, 1, 0, 0), ("carry a", 2, 2, 3, 0), ("carry a", 1, 3, 2, 0), ("carry a", 0, 4, 1, 0),
    ("check a", 1, 3, 0, 3), ("return", 2, 2, 3, 2), ("return", 3, 1, 2, 1), ("start", 2, 2, 3, 6),
    ("carry b", 3, 3, 3, 5), ("check b", 3, 2, 3, 8), ("accept", 3, 3, 3, 9), ("accept", 0, 4, 3, 4),
    ("accept", 0, 5, 0, 0),
]  # fmt: skip


@check("turing:construction-assembled", grade="exact", target="printed", supporting=True)
def test_golden_trace_of_the_palindrome_machine() -> None:
    """The trace on aba, T = 24, written down by hand, and the last visits that the decoder finds (scr3 after C.5)."""
    machine = palindrome_machine()
    transformer = compile_turing_machine(machine, 24)
    run = EXACT.run(transformer, [machine.encode("aba")], hidden=True)
    assert run.hidden is not None
    stream, P = transformer.layout.stream, transformer.layout.bits
    names = [layer.name for layer in transformer.layers]
    for i, (state, symbol, head, written, last) in enumerate(GOLDEN):
        found = (run.states[0, i], run.symbols[0, i], run.heads[0, i])
        assert found == (machine.states.index(state), symbol, head)
        after = run.hidden[0, i, names.index(f"C.5 bit {P}")]
        assert [int(x) for x in after[stream["scr3"]]] == transformer.layout.binary(last).tolist()
        assert int(np.argmax(after[stream["sym2"]])) == written


# ---- sizes


@check("turing:construction-assembled", grade="exact", target="printed")
@proof_steps("machine_layers.md: 18", "theorem_4_1.md: 10")
@pytest.mark.parametrize(
    ("machine", "steps", "width", "norm"),
    [
        (palindrome_machine(), 40, 90, 15300),
        (random_machine(np.random.default_rng(0), 5, 3, "refuse"), 100, None, None),
        (random_machine(np.random.default_rng(1), 1, 1, "refuse"), 1, None, None),
    ],
)
def test_depth_width_and_norm(machine: TuringMachine, steps: int, width: int | None, norm: int | None) -> None:
    """d = 11 + P layers in the order of the lemmas; w = 2 w_act; the 1-norm by its formula, summed lemma by lemma."""
    transformer = compile_turing_machine(machine, steps)
    k, A, P = len(machine.states) + 1, len(machine.symbols), (steps + 1).bit_length()
    w = k + 4 * A + 4 * P + 5 + max(k * A, 2 * P, 3)
    bits = [f"C.5 bit {j + 1}" for j in range(P)]
    expected = ["C.1a", "C.1b", "C.2a", "C.2b", "C.2c", "C.4", *bits, "C.6", "C.7", "C.8a", "C.8b", "C.8c"]
    assert [layer.name for layer in transformer.layers] == expected
    assert (len(transformer.layers), transformer.layout.bits) == (11 + P, P)
    assert (transformer.width, w) == (2 * w, width or w)
    copied = k + A + 3 * P  # st, sym2, pos1, pos2, pos3
    functional = 2 * (3 * k * A + 2 * P) + (3 * P * (P - 1) // 2 + 10 * P) + 3 * (k + A + 2 * P)
    functional += copied + 3 * A + P + 3  # C.4: sym1, scr1, scr2, scr3, scr4 as well
    functional += P * (copied + 3 * A + (P - 1) + 2 + 1)  # C.5
    functional += (copied + A + 3) + (copied + 2 * A + 3)  # C.6, C.7
    functional += (6 + k + 2 * A + P) + (6 * A + 1 + k + P) + (2 * A + 1 + P + k)  # C.8
    attention = (7 * P + 1) + sum(7 * (P + j) + 6 for j in range(P)) + (14 * P + A) + (7 * P + A + 1)
    rounding = 9 * w * (11 + P)
    ends = A + 2 + len(machine.terminal)
    assert transformer.one_norm == functional + attention + rounding + ends
    if norm is not None:
        assert transformer.one_norm == norm


@check("turing:construction-assembled", grade="numeric", target="printed", supporting=True)
def test_table_of_layers_says_what_the_weights_do() -> None:
    rows = {row.name: row for row in compile_turing_machine(palindrome_machine(), 24).table()}
    assert (rows["C.1a"].reads, rows["C.1a"].writes) == (("st", "sym1"), ("aux",))
    assert (rows["C.2c"].reads, rows["C.2c"].writes) == (("aux",), ("pos3",))
    assert (rows["C.4"].reads, rows["C.4"].writes) == (("pos2", "pos3"), ("scr4",))
    assert rows["C.6"].reads == ("sym2", "pos1", "pos2", "pos3", "scr3")
    assert "scr3" in rows["C.6"].drops
    assert {row.columns["attends to"] for row in rows.values()} == {"-", "self", "encoder"}
    assert [name for name, row in rows.items() if row.columns["attends to"] == "encoder"] == ["C.7"]
    norms = [row.columns["operator norms"] for row in rows.values()]
    assert all(rounding == pytest.approx((2**0.5, 18**0.5), rel=1e-12) for _, *rounding in norms)


# ---- negative controls


def _with_layer(transformer: TuringTransformer, name: str, **changes) -> TuringTransformer:
    layers = [replace(layer, **changes) if layer.name == name else layer for layer in transformer.layers]
    return replace(transformer, layers=tuple(layers))


def _moved_weight(transformer: TuringTransformer, name: str, row: int, column: int) -> TuringTransformer:
    """One weight of the first ReLU layer raised by 1."""
    first, *rounding = layer_named(transformer, name).feed_forward.layers
    weight = first.weight.copy()
    weight[row, column] += 1
    return _with_layer(transformer, name, feed_forward=FeedForward((Affine(weight, first.bias), *rounding)))


def _attention(transformer: TuringTransformer, name: str) -> Head:
    head = layer_named(transformer, name).self_attention
    assert head is not None
    return head


def _changed_head(transformer: TuringTransformer, name: str, **changes) -> TuringTransformer:
    head = _attention(transformer, name)
    return _with_layer(transformer, name, self_attention=replace(head, **changes))


def _swapped_bits(transformer: TuringTransformer, name: str) -> TuringTransformer:
    """The key reads the last two digits of pos2 in exchanged order."""
    key = _attention(transformer, name).key
    weight, last = key.weight.copy(), transformer.layout.stream["pos2"].stop - 1
    weight[[last, last - 1]] = weight[[last - 1, last]]
    return _changed_head(transformer, name, key=Affine(weight, key.bias))


def _moved_null(transformer: TuringTransformer, name: str, by: int) -> TuringTransformer:
    head = _attention(transformer, name)
    null = head.null_key.copy()
    null[-1] += by
    return _changed_head(transformer, name, null=(null, head.null_value))


def _value_reads_time(transformer: TuringTransformer) -> TuringTransformer:
    """The value of C.4 adds the last digit of the time, so that tied visits are no longer alike."""
    layout, value = transformer.layout, _attention(transformer, "C.4").value
    weight = value.weight.copy()
    weight[layout.stream["pos1"].stop - 1, layout.stream["scr4"].start] -= 1
    return _changed_head(transformer, "C.4", value=Affine(weight, value.bias))


def _found(transformer: TuringTransformer, faulty: TuringTransformer, word: tuple[int, ...]) -> list[str]:
    """The layers in which the invariants fail first; exactly: of halves floats cannot tell what ties."""
    run = EXACT.run(faulty, [word], hidden=True)
    assert run.hidden is not None
    return [v.layer for v in violations(transformer, word, run.hidden[0])]


@check("turing:construction-assembled", grade="numeric", target="printed", supporting=True)
def test_planted_faults_are_found_in_their_layer() -> None:
    """The word abba, T = 15: it revisits cells, also with ties. The first violation is in the layer of the fault."""
    transformer = compile_turing_machine(palindrome_machine(), 15)
    stream, word = transformer.layout.stream, (1, 2, 2, 1)
    assert _found(transformer, transformer, word) == []
    faults = {
        "C.1b": _moved_weight(transformer, "C.1b", stream["aux"].start + 1, stream["st"].start),
        "C.2b": _moved_weight(transformer, "C.2b", stream["pos2"].stop - 1, stream["aux"].start + 1),
        "C.4": _moved_null(transformer, "C.4", 1),
        "C.5 bit 2": _swapped_bits(transformer, "C.5 bit 2"),
        "C.6": _moved_null(transformer, "C.6", 2),
        "C.8c": _moved_weight(transformer, "C.8c", stream["scr1"].start + 3, stream["sym1"].start + 1),
    }
    for name, faulty in faults.items():
        assert _found(transformer, faulty, word)[0] == name
    assert _found(transformer, _value_reads_time(transformer), word)[0] == "C.4"


@check("turing:construction-assembled", grade="numeric", target="printed", supporting=True)
def test_codes_with_exchanged_digits_are_found() -> None:
    """The positional encoding with its first two digits exchanged: the time in the first layer is wrong at once."""
    transformer = compile_turing_machine(palindrome_machine(), 15)
    swapped = np.arange(transformer.layout.width)
    first = transformer.layout.stream["pos1"].start
    swapped[[first, first + 1]] = first + 1, first

    class Exchanged(TuringTransformer):
        def beta(self, time: int) -> np.ndarray:
            return super().beta(time)[swapped]

    faulty = Exchanged(**{field.name: getattr(transformer, field.name) for field in fields(transformer)})
    run = DENSE.run(faulty, [(1, 2, 1)], hidden=True)
    assert run.hidden is not None
    (first_found, *_) = violations(transformer, (1, 2, 1), run.hidden[0], tolerance=TOLERANCE)
    assert (first_found.layer, first_found.block, first_found.time) == ("C.1a", "pos1", 8)


@check("turing:construction-assembled", grade="numeric", target="printed", supporting=True)
def test_removed_rounding_is_found_once_weights_are_off() -> None:
    """A value of C.4 that is off by 1/5 is repaired by the rounding and found without it.

    Without any error the rounding changes nothing, since all values are bits.
    """
    transformer = compile_turing_machine(palindrome_machine(), 15)
    word = (1, 2, 2, 1)
    value = _attention(transformer, "C.4").value
    noisy = _changed_head(transformer, "C.4", value=Affine(value.weight, value.bias * fmpq(4, 5)))
    assert _found(transformer, noisy, word) == []

    def bare(source: TuringTransformer) -> TuringTransformer:
        layers = [replace(layer, feed_forward=FeedForward(layer.feed_forward.layers[:1])) for layer in source.layers]
        return replace(source, layers=tuple(layers))

    assert _found(transformer, bare(transformer), word) == []
    assert _found(transformer, bare(noisy), word)[0] == "C.4"


@check("turing:construction-assembled", grade="numeric", target="printed", supporting=True)
def test_ties_may_be_broken_but_not_widened() -> None:
    """Tied visits have equal values, so that one of them alone serves as well; scores 1 below the largest do not.

    The dense evaluator finds out itself what ties. The torch module averages within gap/2, and its evaluator refuses
    a gap that calls other scores ties.
    """
    transformer = compile_turing_machine(palindrome_machine(), 15)
    word = (1, 2, 2, 1)

    def with_gap(gap: float):
        return tuple(
            replace(layer, self_attention=layer.self_attention and replace(layer.self_attention, gap=gap))
            for layer in transformer.map(to_float).layers
        )

    broken = []
    for layer in transformer.map(to_float).layers:
        head = layer.self_attention
        if head is not None:  # the second digit of the time breaks ties by less than the gap of 1
            weight = np.hstack([head.key.weight, np.eye(head.inputs)[:, [transformer.layout.stream["pos1"].stop - 1]]])
            query = Affine(np.pad(head.query.weight, ((0, 0), (0, 1))), np.append(head.query.bias, 0.25))
            key = Affine(weight, np.append(head.key.bias, 0.0))
            head = replace(head, query=query, key=key, null=(np.append(head.null_key, 0.0), head.null_value), gap=0.2)
        broken.append(replace(layer, self_attention=head))
    for layers in (with_gap(1), tuple(broken), with_gap(3)):
        run = DENSE.run(replace(transformer, layers=layers), [word], hidden=True)
        assert run.hidden is not None
        assert not violations(transformer, word, run.hidden[0], tolerance=TOLERANCE)
    run = TORCH.run(replace(transformer, layers=with_gap(1)), [word], hidden=True)
    assert run.hidden is not None
    assert not violations(transformer, word, run.hidden[0], tolerance=TOLERANCE)
    with pytest.raises(ValueError, match="averaged by this module, and they do not tie"):
        TORCH.run(replace(transformer, layers=with_gap(3)), [word])


@check("turing:construction-assembled", grade="exact", target="printed", supporting=True)
def test_expected_layers_are_not_all_zero() -> None:
    """Against vacuity: every layer holds ones, and every block is used somewhere."""
    transformer = compile_turing_machine(palindrome_machine(), 15)
    expected = expected_hidden(transformer, (1, 2, 2, 1))
    assert expected.any(axis=(0, 2)).all()
    stream = transformer.layout.stream
    assert all(expected[..., stream[name]].any() for name in stream.sizes)
