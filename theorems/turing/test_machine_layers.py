"""Lemmas C.1, C.2 and C.8: the transition, the head and the choice of the symbol by ReLU layers without attention.

Each unit of these layers reads a few bits, so a table of truth over all their values decides it for every machine and
every P; the families below run through all inputs of all layers for the stated sizes. All numbers are integers.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy as sp

from lemmata.constructions.turing.compiler import THIRD, compile_turing_machine
from lemmata.constructions.turing.layout import rounding_layers
from lemmata.constructions.turing.machine import RIGHT, random_machine
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.compiled_layers import compiled, functional, functional_norm, layer_named

KEPT = ("st", "sym2", "pos1", "pos2")


@check("turing:construction-assembled", grade="exact", target="printed", supporting=True)
@proof_steps("machine_layers.md: 1")
def test_rounding_keeps_bits() -> None:
    """The rounding after every layer sends 0 to 0 and 1 to 1, coordinate by coordinate, exactly."""
    expand, collapse = rounding_layers(1, THIRD)
    for bit in (0, 1):
        hidden = [max(bit * int(w) + b, 0) for w, b in zip(expand.weight[0], expand.bias, strict=True)]
        assert max(sum(h * int(w) for h, w in zip(hidden, collapse.weight[:, 0], strict=True)), 0) == bit


# ---- lemma C.1


@check("turing:lemma-C.1", grade="sampled", target="printed", supporting=True, cases="3 tables each, seeds 0, 1, 2")
@proof_steps("machine_layers.md: 4")
@pytest.mark.parametrize(("states", "symbols"), list(itertools.product((1, 2, 3, 4), (1, 2, 3))))
def test_transition_of_every_state_and_symbol(states: int, symbols: int) -> None:
    """All (z, a), the extra state included, for 3 random tables each, at all pairs of positions of P = 2 bits.

    For all machines: the unit of a pair is relu(st_z + sym1_a - 1), which is the AND of two bits (all four values are
    met below), so that exactly the unit of the pair at hand is on; row (z, a) of the second layer is then the output.
    """
    for seed in range(3):
        machine = random_machine(np.random.default_rng(seed), states, symbols, "refuse")
        transformer = compile_turing_machine(machine, 2)
        layout, P = transformer.layout, transformer.layout.bits
        pairs = list(itertools.product(range(states + 1), range(symbols), range(2**P), range(2**P)))
        rows = [
            layout.vector(
                {
                    "st": np.eye(states + 1)[z],
                    "sym1": np.eye(symbols)[a],
                    "pos1": layout.binary(t),
                    "pos2": layout.binary(l),
                }
            )
            for z, a, t, l in pairs
        ]
        hidden = functional(transformer, ["C.1a"], np.array(rows))
        outputs = functional(transformer, ["C.1b"], hidden)
        for (z, a, t, l), inner, outer in zip(pairs, hidden, outputs, strict=True):
            step = machine.table[z][a] if z < states else (machine.start, machine.blank, RIGHT)
            assert inner[layout.stream["aux"]].sum() == 1
            expected = {
                "st": np.eye(states + 1)[step[0]],
                "sym2": np.eye(symbols)[step[1]],
                "q": [step[2] == -1, step[2] == 1],
                "pos1": layout.binary(t),
                "pos2": layout.binary(l),
            }
            assert np.array_equal(outer, layout.vector(expected))


@check("turing:lemma-C.1", grade="exact", target="printed")
@proof_steps("machine_layers.md: 4")
@pytest.mark.parametrize(("states", "symbols", "steps"), [(1, 1, 1), (3, 2, 9), (6, 4, 200), (9, 7, 1000)])
def test_transition_has_norm_of_order_pairs_plus_bits(states: int, symbols: int, steps: int) -> None:
    """||theta||_1 = 2 (3 k' |A| + 2P): each pair has three weights in each layer, each position digit one."""
    machine = random_machine(np.random.default_rng(1), states, symbols, "refuse")
    transformer = compile_turing_machine(machine, steps)
    for name in ("C.1a", "C.1b"):
        norm = functional_norm(layer_named(transformer, name))
        assert norm == 3 * (states + 1) * symbols + 2 * transformer.layout.bits


# ---- lemma C.2


def _heads(transformer, moves: list[tuple[int, int]]) -> tuple[list[tuple[int, tuple[int, int]]], np.ndarray]:
    """All cells with all the given moves (left bit, right bit), as tokens with random other blocks."""
    layout = transformer.layout
    rng = np.random.default_rng(0)
    cases = list(itertools.product(range(2**layout.bits), moves))
    rows = [
        layout.vector(
            {
                "st": np.eye(layout.states)[rng.integers(layout.states)],
                "sym2": np.eye(layout.symbols)[rng.integers(layout.symbols)],
                "pos1": layout.binary(int(rng.integers(2**layout.bits))),
                "pos2": layout.binary(cell),
                "q": move,
            }
        )
        for cell, move in cases
    ]
    return cases, np.array(rows)


@check("turing:lemma-C.2", grade="exact", target="printed")
@proof_steps("machine_layers.md: 5")
@pytest.mark.parametrize("bits", range(1, 9))
def test_head_moves_by_one_modulo_the_range(bits: int) -> None:
    """All cells and moves, P = 1, ..., 8, without a move also; all blocks that are kept are kept.

    For all P: with N lower digits of which n are 1, c = relu(right + n - N) is 1 only if the move is right and n = N,
    and d = relu(left - n) is 1 only if it is left and n = 0 (0 <= n <= N); a digit flips exactly then, in l + 1 and in
    l - 1; and |b - c - d| is the flipped digit, since c and d are never both 1. The next test checks these steps.
    """
    transformer = compiled(bits)
    layout = transformer.layout
    cases, rows = _heads(transformer, [(1, 0), (0, 1), (0, 0)])
    outputs = functional(transformer, ["C.2a", "C.2b", "C.2c"], rows)
    for (cell, (left, right)), row, output in zip(cases, rows, outputs, strict=True):
        expected = layout.vector(
            {
                **{name: row[layout.stream[name]] for name in KEPT},
                "pos3": layout.binary((cell + right - left) % 2**bits),
            }
        )
        assert np.array_equal(output, expected)


@check("turing:lemma-C.2", grade="symbolic", target="printed", supporting=True)
@proof_steps("machine_layers.md: 3")
def test_steps_of_the_adder_for_all_numbers_of_digits() -> None:
    """c and d as functions of n and N, and the flip, by cases; N, n are symbols with 0 <= n <= N."""
    n, missing = sp.symbols("n missing", integer=True, nonnegative=True)  # N = n + missing
    for right in (0, 1):
        argument = sp.expand(right + n - (n + missing))  # relu of it: positive only if right and nothing is missing
        assert argument == right - missing
        assert sp.Max(argument, 0).subs(missing, 0) == right
        assert sp.Max(argument, 0).subs(missing, missing + 1) == 0
    for left in (0, 1):
        assert sp.Max(left - n, 0).subs(n, 0) == left
        assert sp.Max(left - n, 0).subs(n, n + 1) == 0
    for b, c, d in itertools.product((0, 1), repeat=3):
        if not (c and d):
            assert max(b - c - d, 0) + max(c + d - b, 0) == (b ^ (c | d))


@check("turing:lemma-C.2", grade="exact", target="printed", supporting=True)
@proof_steps("machine_layers.md: 5")
@pytest.mark.parametrize("bits", range(2, 8))
def test_stay_variant_keeps_the_head_on_the_first_cell(bits: int) -> None:
    """With two more layers a move left from cell 1 is dropped, and no other move is."""
    transformer = compiled(bits, left_end="stay")
    layout = transformer.layout
    cases, rows = _heads(transformer, [(1, 0), (0, 1)])
    names = ["C.2 end", "C.2 stay", "C.2a", "C.2b", "C.2c"]
    outputs = functional(transformer, names, rows)
    for (cell, (left, right)), output in zip(cases, outputs, strict=True):
        target = 1 if cell == 1 and left else (cell + right - left) % 2**bits
        assert output[layout.stream["pos3"]].tolist() == layout.binary(target).tolist()


@check("turing:lemma-C.2", grade="exact", target="printed")
@proof_steps("machine_layers.md: 5")
@pytest.mark.parametrize(("bits", "states", "symbols"), [(1, 1, 1), (4, 2, 3), (8, 6, 4), (12, 9, 7)])
def test_head_update_has_few_layers_and_the_stated_norm(bits: int, states: int, symbols: int) -> None:
    """Three layers, of 1-norm 3P(P-1)/2 + 2P, 6P, 2P and the copies: at most a constant times P (k' + |A| + P)."""
    transformer = compiled(bits, states=states, symbols=symbols)
    copies = states + 1 + symbols + 2 * bits
    norms = [functional_norm(layer_named(transformer, name)) for name in ("C.2a", "C.2b", "C.2c")]
    assert norms == [3 * bits * (bits - 1) // 2 + 2 * bits + copies, 6 * bits + copies, 2 * bits + copies]
    assert sum(norms) <= 10 * bits * (states + 1 + symbols + bits)


# ---- lemma C.8


@check("turing:lemma-C.8", grade="exact", target="printed")
@proof_steps("machine_layers.md: 6")
@pytest.mark.parametrize("symbols", [1, 2, 3])
def test_written_symbol_wins_over_input_and_blank(symbols: int) -> None:
    """All flags (visited, within) and symbols, a written one without a visit excepted; P = 2, all cells, all blanks.

    For all sizes: the three units v are the cases "visited", "within and not visited", "neither" (all four values of
    the flags are met), one of them is 1, relu(s + v - 1) is the AND of two bits, and the gated vectors are added.
    """
    for blank in range(symbols):
        machine = random_machine(np.random.default_rng(0), 2, symbols, "refuse")
        transformer = compile_turing_machine(
            type(machine)(machine.name, machine.states, machine.symbols, machine.table, blank=blank), 2
        )
        layout = transformer.layout
        eye = np.eye(symbols, dtype=int)
        zero = np.zeros(symbols, dtype=int)
        for visited, within, a, b, cell in itertools.product((0, 1), (0, 1), range(symbols), range(symbols), range(4)):
            kept = {"st": np.eye(layout.states)[1]}
            row = layout.vector(
                {
                    **kept,
                    "sym2": eye[0],
                    "pos1": layout.binary(3),
                    "pos2": layout.binary(2),
                    "pos3": layout.binary(cell),
                    "scr1": eye[a] if visited else zero,
                    "scr2": eye[b] if within else zero,
                    "scr4": [visited, within, 0],
                }
            )
            middle = functional(transformer, ["C.8a"], row[None])
            assert middle[0, layout.stream["aux"]].sum() == 1
            output = functional(transformer, ["C.8b", "C.8c"], middle)[0]
            found = a if visited else b if within else blank
            expected = layout.vector({**kept, "sym1": eye[found], "pos2": layout.binary(cell)})
            assert np.array_equal(output, expected)


@check("turing:lemma-C.8", grade="exact", target="printed")
@proof_steps("machine_layers.md: 6")
@pytest.mark.parametrize(("bits", "states", "symbols"), [(1, 1, 1), (4, 2, 3), (8, 6, 4), (12, 9, 7)])
def test_choice_has_norm_of_order_states_symbols_bits(bits: int, states: int, symbols: int) -> None:
    """6 + k' + 2|A| + P, 6|A| + 1 + k' + P, 2|A| + 1 + P + k'."""
    transformer = compiled(bits, states=states, symbols=symbols)
    k = states + 1
    norms = [functional_norm(layer_named(transformer, name)) for name in ("C.8a", "C.8b", "C.8c")]
    assert norms == [6 + k + 2 * symbols + bits, 6 * symbols + 1 + k + bits, 2 * symbols + 1 + bits + k]
