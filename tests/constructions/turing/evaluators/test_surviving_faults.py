"""Faults that single lines of the indexed evaluator and its neighbours could have, each with the test that sees it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import arb

import lemmata.certificates.margins.all_layer as all_layer
import lemmata.constructions.turing.evaluators.indexed as indexed
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.turing.compiler import TuringTransformer, compile_turing_machine
from lemmata.constructions.turing.evaluators.indexed import run_indexed, start_indexed
from lemmata.constructions.turing.evaluators.registry import EXACT
from lemmata.constructions.turing.invariants import reference_run
from lemmata.constructions.turing.machine import Transition, busy_beaver, counter_machine, parse_machine, random_machine


def swapped_rows(transformer: TuringTransformer, number: int, first: int, second: int) -> TuringTransformer:
    """The transformer whose layer writes two copied coordinates in exchanged order."""
    layers = list(transformer.layers)
    affine, *rounding = layers[number].feed_forward.layers
    weight = affine.weight.copy()
    weight[:, [first, second]] = weight[:, [second, first]]
    parts = (Affine(weight, affine.bias), *rounding)
    layers[number] = replace(layers[number], feed_forward=replace(layers[number].feed_forward, layers=parts))
    return replace(transformer, layers=tuple(layers))


@pytest.mark.parametrize("block", ["pos1", "pos2", "sym2"])
def test_swapped_rows_between_the_searches_are_refused_in_every_layer(block):
    """Also in the last layer before the copy, whose keys and values are read from what it writes."""
    transformer = compile_turing_machine(busy_beaver(3), 12)
    searching = [n for n, layer in enumerate(transformer.layers) if layer.self_attention is not None]
    start = transformer.layout.stream[block].start
    for number in searching[:-1]:
        changed = swapped_rows(transformer, number, start, start + 1)
        name = transformer.layers[number].name
        with pytest.raises(ValueError, match=rf"Layer {name}: its map does not copy the indexed coordinates"):
            start_indexed(changed)
    after = swapped_rows(transformer, searching[-1], start, start + 1)  # what it writes no search reads any more
    run = EXACT.run(after, [()], hidden=True)
    assert run.hidden is not None
    assert (run_indexed(after, trace=True).trace[:, :, 1] == run.hidden[0]).all()


@pytest.mark.parametrize("symbols", [7, 8, 9, 10])
def test_all_symbols_fit_into_the_payload(symbols):
    """Writes the symbols in turn to the right, and reads them on the way back."""
    rows = [[Transition(0, (a + 1) % symbols, 1) for a in range(symbols)]]
    machine = replace(random_machine(np.random.default_rng(0), 1, symbols), table=tuple(map(tuple, rows)))
    rising = machine.table[0]
    back = [Transition(1, a, -1) for a in range(symbols)]
    forth = [*rising[:-1], Transition(1, symbols - 1, -1)]
    machine = replace(machine, states=("q0", "q1"), table=(tuple(forth), tuple(back)))
    word = tuple(range(symbols))
    transformer = compile_turing_machine(machine, 3 * symbols, left_end="two-way")
    steps, right = run_indexed(transformer, word), reference_run(transformer, word)
    assert steps.symbols.tolist() == right.symbols
    assert set(right.symbols) == set(range(symbols))
    assert max(a for a, visit in zip(right.symbols, right.last_visit, strict=True) if visit) == symbols - 1


@pytest.mark.parametrize("first", [0, 2**62], ids=["machine code", "interpreter"])
def test_a_value_of_the_input_that_leaves_the_bits_is_refused(first, monkeypatch):
    """The attention to the encoder adds 1 to a flag that is 1 already."""
    monkeypatch.setattr(indexed, "TRANSLATED_FROM", first)
    transformer = compile_turing_machine(counter_machine(), 12)
    layers, stream = list(transformer.layers), transformer.layout.stream
    number = [layer.name for layer in layers].index("C.7")
    head = layers[number].cross_attention
    assert head is not None
    bias = head.value.offset.copy()
    bias[stream["scr4"].start] += 1  # "visited before"
    layers[number] = replace(layers[number], cross_attention=replace(head, value=replace(head.value, bias=bias)))
    changed = replace(transformer, layers=tuple(layers))
    with pytest.raises(ValueError, match=r"layer C\.7 .*block scr4.*its attention leaves a number"):
        run_indexed(changed, counter_machine().encode("#111"))


def test_a_row_h_makes_h_a_state():
    """With eight rows the letter H names the last of them, and Z alone halts."""
    rows = ["1RB0RB", *("1RC0RC", "1RD0RD", "1RE0RE", "1RF0RF", "1RG0RG", "1RH0RH"), "1RZ0LA"]
    machine = parse_machine("_".join(rows))
    assert machine.states[-2:] == ("H", "Z")
    assert machine.table[6][0].state == 7 == machine.states.index("H")
    assert machine.table[7][0].state == 8
    assert parse_machine("1RB1RH_1LA1RB").table[0][1].state == 2  # two rows: H halts
    short = parse_machine("_".join(rows[:6] + ["1RH0RH"]))
    assert short.table[6][0].state == 7 == short.states.index("Z")


@pytest.mark.parametrize("blank", [0, 1, 2])
def test_step_0_writes_the_blank_whatever_its_number(blank):
    machine = replace(random_machine(np.random.default_rng(3), 4, 3), blank=blank)
    transformer = compile_turing_machine(machine, 8)
    sym1, sym2 = (transformer.layout.stream[name] for name in ("sym1", "sym2"))
    assert np.flatnonzero(transformer.start[sym1]).tolist() == [blank]
    run = EXACT.run(transformer, [()], hidden=True)
    assert run.hidden is not None
    written = run.hidden[0, 0, [layer.name for layer in transformer.layers].index("C.1b"), sym2]
    assert np.flatnonzero(written).tolist() == [blank]
    assert run.written[0, 0] == blank
    assert run.states[0].tolist() == reference_run(transformer, ()).states


def test_elimination_proves_positive_definite_matrices_alone():
    def balls(rows):
        return np.array([[arb(x) for x in row] for row in rows], dtype=object)

    assert all_layer._positive_definite(balls([[2, 1], [1, 2]]))
    assert not all_layer._positive_definite(balls([[1, 2], [2, 1]]))
    assert not all_layer._positive_definite(balls([[-1, 0], [0, 1]]))
    assert not all_layer._positive_definite(balls([[1, 1], [1, 1]]))
    wide = balls([[2, 1], [1, 2]])
    wide[0, 0] = arb(2, 3)  # from -1 to 5
    assert not all_layer._positive_definite(wide)


def test_the_lower_end_of_a_ball_is_below_all_of_it():
    for middle, radius in ((3, 1), (0.5, 0.25), (-2, 0.5)):
        end = all_layer.lower_end(arb(middle, radius))
        assert middle - radius - 2.0**-20 < end <= middle - radius
