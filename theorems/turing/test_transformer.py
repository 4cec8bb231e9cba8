"""The architecture F_{w,d,alpha,T}, and the setup of the construction: its base case, position bits and width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer, identity_attention
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine, needed_bits
from lemmata.constructions.turing.evaluators.registry import DENSE, EXACT
from lemmata.constructions.turing.invariants import violations
from lemmata.constructions.turing.machine import (
    RIGHT,
    Transition,
    TuringMachine,
    busy_beaver,
    machine_from_table,
    random_machine,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.turing.simulator import simulate
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record

# ---- the architecture, by loops over the printed formulas

Vector = list[Fraction]


def _fractions(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return [_fractions(entry) for entry in array]
    return as_fraction(array)


def _linear(layer: Affine, z: Vector) -> Vector:
    """W z + b with the columns of the printed W as rows here."""
    result = _fractions(layer.bias)
    for x, row in zip(z, layer.weight, strict=True):
        if x:
            result = [y + x * _fractions(w) if w else y for y, w in zip(result, row, strict=True)]
    return result


def _attend(head: Head, z: Vector, memory: Sequence[Vector]) -> Vector:
    """Attn(h', (h_1..h_i)) = h' + the mean of v_j over the maximisers of tau_0, ..., tau_i."""
    query = _linear(head.query, z)
    keys = [_fractions(head.null_key), *(_linear(head.key, m) for m in memory)]
    values = [_fractions(head.null_value), *(_linear(head.value, m) for m in memory)]
    tau = [sum((a * b for a, b in zip(query, key, strict=True)), Fraction(0)) for key in keys]
    chosen = [v for t, v in zip(tau, values, strict=True) if t == max(tau)]
    return [x + sum(column, Fraction(0)) / len(chosen) for x, *column in zip(z, *chosen, strict=True)]


def _layer(layer: DecoderLayer, z: Vector, history: Sequence[Vector], encoded: Sequence[Vector]) -> Vector:
    for head, memory in ((layer.self_attention, history), (layer.cross_attention, encoded)):
        z = _attend(identity_attention(len(z)) if head is None else head, z, memory)
    for affine in layer.feed_forward.layers:
        z = [max(x, Fraction(0)) for x in _linear(affine, z)]
    return z


def _decode(transformer: TuringTransformer, word: Sequence[int], first: Any, first_time: int) -> list[Vector]:
    """The outputs from a given input at a given time on, up to time T."""
    encoded = _fractions(transformer.encode(word))
    histories: list[list[Vector]] = [[] for _ in transformer.layers]
    z, outputs = _fractions(first), []
    for time in range(first_time, transformer.steps + 1):
        for layer, history in zip(transformer.layers, histories, strict=True):
            if time > 0:
                history.append(z)
            z = _layer(layer, z, history, encoded)
        outputs.append(z)
        z = [x + b for x, b in zip(z, _fractions(transformer.beta(time + 1)), strict=True)]
    return outputs


def _prediction(transformer: TuringTransformer, output: Vector) -> Fraction:
    return sum((x * int(c) for x, c in zip(output, transformer.classifier, strict=True)), Fraction(0))


def _first_symbol_machine() -> TuringMachine:
    """Accepts if and only if the first symbol is 1; halts after one step."""
    table = {("go", c): ("yes" if c == "1" else "no", c, RIGHT) for c in "_12"}
    return machine_from_table(table, start="go", blank="_", accept={"yes"}, reject={"no"}, name="first symbol")


@check(
    "turing:definition-transformer",
    grade="numeric",
    target="printed",
    cases="the busy beaver of two states on a two-way tape and with the textbook rule, the machine that accepts words "
    "beginning with 1; T = 3; the words (), 1, 10",
)
@pytest.mark.parametrize("number", range(3))
def test_forward_pass_is_the_printed_one(number: int) -> None:
    """Both attentions, three ReLU layers, the output fed back: by loops in fractions, against the evaluators.

    The identity attention is run with its zero weights here and left out there.
    """
    machine = (_first_symbol_machine(), busy_beaver(2), busy_beaver(2))[number]
    transformer = compile_turing_machine(machine, 3, left_end=("refuse", "stay", "two-way")[number])
    word = ((1, 0), (), (1,))[number]  # the beavers read what they wrote: without self-attention they go astray
    outputs = _decode(transformer, word, transformer.start + transformer.beta(0), 0)
    exact, dense = EXACT.run(transformer, [word], hidden=True), DENSE.run(transformer, [word], hidden=True)
    assert exact.hidden is not None
    assert dense.hidden is not None
    assert np.array_equal(_fractions(exact.hidden[0, :, -1]), np.array(outputs, dtype=object))
    assert np.abs(dense.hidden[0, :, -1] - np.array(outputs, dtype=float)).max() < 1e-12
    assert _fractions(exact.predictions) == [_prediction(transformer, outputs[-1])]


@check(
    "turing:definition-transformer",
    grade="exact",
    target="printed",
    cases="one token of width 5, memories of 0, 1 and 4 tokens, key dimensions 1 and 3",
)
@pytest.mark.parametrize("tokens", [0, 1, 4])
def test_zero_attention_is_the_identity(tokens: int) -> None:
    """All scores tie at 0 and all values are 0, so that h' is returned, for any memory and any key dimension."""
    rng = np.random.default_rng(tokens)
    z, memory = as_exact(rng.integers(-9, 9, size=5)), as_exact(rng.integers(-9, 9, size=(tokens, 5)))
    keep = FeedForward((Affine(np.eye(5, dtype=int)),), activations=("identity",))
    for keys in (1, 3):
        head = identity_attention(5, keys)
        assert head.one_norm == 0
        for own, cross in ((head, None), (None, head), (head, head)):
            assert DecoderLayer("zero", own, cross, keep)(z[None], memory, memory)[0].tolist() == z.tolist()


@check(
    "turing:definition-transformer", grade="exact", target="printed", cases="a head that copies a flag, times 0 and 1"
)
def test_self_attention_includes_the_time_itself_and_not_time_zero() -> None:
    """A head that copies a flag of the token of the same time: it finds it at time 1; at time 0 there is only null."""
    one, zero = np.ones((1, 1), dtype=int), np.zeros(1, dtype=int)
    copy = Affine(one, zero)
    head = Head(copy, copy, copy, weigh="hardmax", null=(zero, zero))
    layer = DecoderLayer("copy", head, None, FeedForward((copy,)))
    z, memory = np.array([[fmpq(1)]], dtype=object), np.array([[fmpq(3)]], dtype=object)
    assert layer(z, memory, memory[:0])[0].tolist() == [4]
    assert layer(z, memory[:0], memory)[0].tolist() == [1]


# ---- setup C.1: the base case (E2), the bits (E3), the width (E5), (C.3) (E7)


@counterexample("turing:setup-C.1", grade="exact")
def test_constant_first_output_cannot_hold_the_first_symbol() -> None:
    """ "Accept iff x_1 = 1", T = 3: from a constant o_0 the inputs (1, 2) and (2, 1) get one answer, whatever it reads.

    Also if step 0 is run on z_init itself: it already consumes a blank, and the answer is -1 on both.
    """
    transformer = compile_turing_machine(_first_symbol_machine(), 3)
    layout, words = transformer.layout, [(1, 2), (2, 1)]
    for symbol in range(3):
        constant = layout.vector({
            "st": [1, 0, 0, 0], "sym1": np.eye(3)[symbol], "pos2": layout.binary(1),
        })  # fmt: skip
        first = constant + transformer.beta(1)
        answers = [_prediction(transformer, _decode(transformer, word, first, 1)[-1]) for word in words]
        assert answers == [1 if symbol == 1 else -1] * 2
    early = replace(transformer, start=layout.vector({"st": [1, 0, 0, 0], "sym1": np.eye(3)[0]}))
    assert [EXACT.run(early, [word]).predictions[0] for word in words] == [-1, -1]


@check("turing:setup-C.1", grade="exact", target="corrected")
@proof_steps("machine_layers.md: 16")
def test_extra_state_reads_the_first_symbol() -> None:
    """With z_pre and step 0: +1 on (1, 2), -1 on (2, 1) and on the empty input; o_0 is (z_init, x_1 or blank, 1)."""
    transformer = compile_turing_machine(_first_symbol_machine(), 3)
    runs = [EXACT.run(transformer, [word]) for word in ((1, 2), (2, 1), ())]
    assert [run.predictions[0] for run in runs] == [1, -1, -1]
    assert [(run.states[0, 0], run.symbols[0, 0], run.heads[0, 0]) for run in runs] == [(0, 1, 1), (0, 2, 1), (0, 0, 1)]


def _runner() -> TuringMachine:
    """Moves right for ever, and keeps the tape."""
    return TuringMachine("runner", ("go",), ("0", "1"), ((Transition(0, 0, RIGHT), Transition(0, 1, RIGHT)),))


@counterexample("turing:setup-C.1", grade="exact")
def test_printed_number_of_bits_is_too_small(record_property, record: Record) -> None:
    """With P = ceil(log2 T), (C.2) fails for T = 2, 3, 4, 7, 8, 15, 16 of 2, ..., 16 on a machine that runs right.

    Bin(i) for i <= T needs more bits if T = 2^k, and l_T = T + 1 if T = 2^k - 1 or 2^k; T = 1 gets no bit at all. With
    P = ceil(log2(T + 2)) all invariants hold.
    """
    failing = []
    for T in range(2, 17):
        printed = compile_turing_machine(_runner(), T, bits=math.ceil(math.log2(T)), wrap=True)
        enough = compile_turing_machine(_runner(), T)
        found = []
        for transformer in (printed, enough):
            run = EXACT.run(transformer, [(1, 0)], hidden=True)
            assert run.hidden is not None
            found.append(bool(violations(transformer, (1, 0), run.hidden[0])))
        assert not found[1]
        failing += [T] if found[0] else []
        if T == 4:
            record.hypothesis("T = 4: the input has at most T symbols", len((1, 0)), "<=", T)
            record.hypothesis("the printed number of position bits ceil(log2 T)", printed.layout.bits, "=", 2)
            record.violated(
                "Bin(i) has these bits for 0 <= i <= T: at i = T", T.bit_length(), "<=", printed.layout.bits
            )
            record.violated("no invariant (C.2) fails with them", found[0], "=", False)
    assert failing == [2, 3, 4, 7, 8, 15, 16]
    assert math.ceil(math.log2(1)) == 0
    record_property("failing_T", failing)


@counterexample("turing:setup-C.1", grade="exact")
def test_long_input_gets_a_wrong_answer_with_few_bits(record: Record) -> None:
    """T = 2, x = (1, 2, 2, 2, 2, 2, 2): -1 with the printed P = 1, 0 with P = 2 (a soft symbol), +1 with P = 3.

    The codes of cells beyond T, which are not printed, are cut to P bits.
    """
    word = (1, 2, 2, 2, 2, 2, 2)
    answers = []
    for bits in (1, 2, 3):
        transformer = compile_turing_machine(_first_symbol_machine(), 2, bits=bits, wrap=True)
        answers.append(EXACT.run(transformer, [word]).predictions[0])
    assert answers == [-1, 0, 1]
    machine = _first_symbol_machine()
    run = simulate(machine.arrays(), word, 2, start=machine.start, blank=machine.blank, left_end="refuse")
    steps = next(i for i, z in enumerate(run.states) if z in machine.terminal)
    record.hypothesis("the machine terminates within T = 2 steps", steps, "<=", 2)
    record.hypothesis("its states (with z_pre) are at most k = 4", len(machine.states) + 1, "<=", 4)
    record.hypothesis("the printed number of position bits ceil(log2 T)", math.ceil(math.log2(2)), "=", 1)
    record.hypothesis("a choice of ours: cells beyond T have their last P bits; the last cell", len(word), ">", 2)
    wanted = 1 if run.states[-1] in machine.accept else -1
    record.violated("the network with these bits answers as the machine", answers[0], "=", wanted)


@check("turing:setup-C.1", grade="exact", target="corrected", supporting=True)
@proof_steps("machine_layers.md: 16")
def test_enough_bits_for_every_position() -> None:
    """P = ceil(log2(T + 2)) for T < 5000, and T + 2 <= 2^P: times 0..T and cells 0..T + 1 have codes; two-way too."""
    for T in range(1, 5000):
        assert needed_bits(T) == next(P for P in range(20) if 2**P >= T + 2)
        assert needed_bits(T, "two-way") == next(P for P in range(20) if 2**P >= 2 * T + 2)


@counterexample("turing:setup-C.1", grade="exact")
def test_printed_width_cannot_hold_the_pairs() -> None:
    """w_TM = |Z| + 2|A| + 3P + w_scr with the listed scratch 2|A| + P + 3: below |Z||A| for |Z| = |A| = 20, T = 1000.

    Lemma C.1 has one hidden unit per pair; O(P + |A| + |Z|) with any constant C is below |Z||A| for |Z| = |A| = 10 C,
    P <= |Z|. The two bits of the move have no place in the scratch either; the compiled layout has all of these.
    """
    machine = random_machine(np.random.default_rng(0), 20, 20, "refuse")
    layout = compile_turing_machine(machine, 1000).layout
    k, A, P = layout.states, layout.symbols, layout.bits
    assert k + 2 * A + 3 * P + (2 * A + P + 3) < k * A
    assert layout.stream.sizes["aux"] == k * A
    assert layout.stream.sizes["q"] == 2
    C = sp.symbols("C", positive=True)
    assert sp.expand((10 * C) ** 2 - C * (3 * 10 * C)) == 70 * C**2


@counterexample("turing:setup-C.1", grade="exact")
def test_time_code_of_the_next_input_is_that_of_the_next_time() -> None:
    """(o_i + beta(i + 1))^pos1 = Bin(i + 1), not Bin(i) as (C.3) prints: o_i is 0 there; T = 6."""
    transformer = compile_turing_machine(_runner(), 6)
    layout = transformer.layout
    where = layout.stream["pos1"]
    outputs = EXACT.run(transformer, [()], hidden=True).hidden
    assert outputs is not None
    for i in range(6):
        code = (outputs[0, i, -1] + transformer.beta(i + 1))[where].tolist()
        assert code == layout.binary(i + 1).tolist() != layout.binary(i).tolist()
