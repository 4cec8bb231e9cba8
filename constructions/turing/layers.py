"""The weights of the Turing-machine transformer, lemma by lemma: integer maps before the rounding.

At time i a token holds the machine before step i and leaves as the machine after it. Every function returns the layers
of one lemma; `constructions.turing.compiler` stacks them and adds the rounding.

Source: turing, lemma-C.1 to lemma-C.8, claim-C.4 to claim-C.6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from constructions.networks.affine import Affine
from constructions.networks.decoder import DecoderAttention
from constructions.turing.layout import Integers, TuringLayout
from constructions.turing.machine import LEFT, RIGHT, TuringMachine

_KEPT = ("st", "sym2", "pos1", "pos2")  # what the update of the head keeps
_FOUND = (*_KEPT, "pos3")  # what the searches keep
VISITED, WITHIN, NEXT_BIT = range(3)  # of scr4
MOVE_LEFT, MOVE_RIGHT = range(2)  # of q
CHOOSE_WRITTEN, CHOOSE_INPUT, CHOOSE_BLANK = range(3)  # of aux, in lemma C.8


@dataclass(frozen=True, eq=False)
class LayerPlan:
    """A layer before the rounding is added: its name, its integer map, its attention."""

    name: str
    functional: Affine
    self_attention: DecoderAttention | None = None
    cross_attention: DecoderAttention | None = None


def transition_layers(layout: TuringLayout, machine: TuringMachine, start_symbol: int) -> list[LayerPlan]:
    """Lemma C.1: the pair (state, symbol), then new state, written symbol and move. The time and the head are kept.

    The extra state before step 0 goes to the initial state, writes ``start_symbol`` and moves right.
    """
    k, A = layout.states, layout.symbols
    pairs = layout.stream.sizes["aux"]
    new_state, written, move = machine.arrays()
    outcome = [(int(new_state[z, a]), int(written[z, a]), int(move[z, a])) for z in range(k - 1) for a in range(A)]
    outcome += [(machine.start, start_symbol, RIGHT)] * A

    state_in = np.zeros((k, pairs), dtype=np.int64)
    symbol_in = np.zeros((A, pairs), dtype=np.int64)
    needed = np.zeros(pairs, dtype=np.int64)
    state_out, symbol_out, move_out = (np.zeros((pairs, size), dtype=np.int64) for size in (k, A, 2))
    for pair, (state, symbol, direction) in enumerate(outcome):
        z, a = divmod(pair, A)
        state_in[z, pair] = symbol_in[a, pair] = 1
        needed[pair] = -1
        state_out[pair, state] = symbol_out[pair, symbol] = 1
        move_out[pair, {LEFT: MOVE_LEFT, RIGHT: MOVE_RIGHT}[direction]] = 1
    first = layout.affine({("st", "aux"): state_in, ("sym1", "aux"): symbol_in}, {"aux": needed}, ("pos1", "pos2"))
    outputs = {("aux", "st"): state_out, ("aux", "sym2"): symbol_out, ("aux", "q"): move_out}
    return [LayerPlan("C.1a", first), LayerPlan("C.1b", layout.affine(outputs, copies=("pos1", "pos2")))]


def left_end_layers(layout: TuringLayout) -> list[LayerPlan]:
    """The textbook rule: a move left from cell 1 is dropped, so that the head stays there.

    aux_1 = relu(b_P - sum of the higher digits) is 1 only at cell 1 = Bin(0...01); it is subtracted from the left bit.
    """
    at_one = np.zeros((layout.bits, layout.stream.sizes["aux"]), dtype=np.int64)
    at_one[:, 0] = [-1] * (layout.bits - 1) + [1]
    drop = -layout.one("aux", 0, "q", MOVE_LEFT)
    return [
        LayerPlan("C.2 end", layout.affine({("pos2", "aux"): at_one}, copies=(*_KEPT, "q"))),
        LayerPlan("C.2 stay", layout.affine({("aux", "q"): drop}, copies=(*_KEPT, "q"))),
    ]


def head_layers(layout: TuringLayout) -> list[LayerPlan]:
    """Lemma C.2: pos3 = Bin(l +- 1) in three layers, from pos2 = Bin(l) and the move.

    Carries c_j = relu(right + lower digits - their number), borrows d_j = relu(left - lower digits); then the new digit
    is |b_j - c_j - d_j|, in two halves that the last layer adds. Without a move the head stays; 2^P wraps to 0.
    """
    P, aux = layout.bits, layout.stream.sizes["aux"]
    lower = np.tril(np.ones((P, P), dtype=np.int64), -1)  # [digit, j] = 1 if the digit is below j
    digits_to_carry = np.zeros((P, aux), dtype=np.int64)
    digits_to_carry[:, :P], digits_to_carry[:, P : 2 * P] = lower, -lower
    moves = np.zeros((2, aux), dtype=np.int64)
    moves[MOVE_RIGHT, :P] = moves[MOVE_LEFT, P : 2 * P] = 1
    bias = np.zeros(aux, dtype=np.int64)
    bias[:P] = -lower.sum(axis=0)

    eye = np.eye(P, dtype=np.int64)
    halves = np.zeros((aux, aux), dtype=np.int64)
    halves[: 2 * P, : 2 * P] = np.block([[-eye, eye], [-eye, eye]])
    digits = np.zeros((P, aux), dtype=np.int64)
    digits[:, : 2 * P] = np.hstack([eye, -eye])
    joined = np.zeros((aux, P), dtype=np.int64)
    joined[: 2 * P] = np.vstack([eye, eye])
    return [
        LayerPlan(
            "C.2a", layout.affine({("pos2", "aux"): digits_to_carry, ("q", "aux"): moves}, {"aux": bias}, copies=_KEPT)
        ),
        LayerPlan("C.2b", layout.affine({("pos2", "aux"): digits, ("aux", "aux"): halves}, copies=_KEPT)),
        LayerPlan("C.2c", layout.affine({("aux", "pos3"): joined}, copies=_KEPT)),
    ]


def visited_layer(layout: TuringLayout) -> LayerPlan:
    """Claim C.4: scr4_1 = 1 if some earlier step stood on the cell where the head is now."""
    value = layout.affine({}, {"scr4": np.eye(3, dtype=np.int64)[VISITED]})
    attention = layout.match([("pos3", "pos2", layout.bits)], value)
    names = [name for name in layout.stream.sizes if name not in ("q", "aux")]
    return LayerPlan("C.4", layout.affine({}, copies=names), self_attention=attention)


def search_layer(layout: TuringLayout, j: int) -> LayerPlan:
    """Claim C.5: digit j + 1 (from 1) of the time of the last visit, given its first j digits in scr3.

    The query guesses that the digit is 1; the null pair wins if no visit has these j + 1 digits.
    """
    value = layout.affine({}, {"scr4": np.eye(3, dtype=np.int64)[NEXT_BIT]})
    attention = layout.match([("pos3", "pos2", layout.bits), ("scr3", "pos1", j)], value, guessed="pos1")
    keep_flags = np.diag([1, 1, 0])
    keep_digits = np.eye(layout.bits, dtype=np.int64)
    keep_digits[j, j] = 0
    blocks = {
        ("scr4", "scr4"): keep_flags,
        ("scr3", "scr3"): keep_digits,
        ("scr4", "scr3"): layout.one("scr4", NEXT_BIT, "scr3", j),
    }
    copies = ("st", "sym1", "sym2", "pos1", "pos2", "pos3", "scr1", "scr2")
    return LayerPlan(f"C.5 bit {j + 1}", layout.affine(blocks, copies=copies), self_attention=attention)


def copy_layer(layout: TuringLayout) -> LayerPlan:
    """Claim C.6: scr1 = the symbol that was written at the last visit, else 0."""
    eye = np.eye(layout.symbols, dtype=np.int64)
    pairs = [("pos3", "pos2", layout.bits), ("scr3", "pos1", layout.bits)]
    attention = layout.match(pairs, layout.affine({("sym2", "scr1"): eye}))
    return LayerPlan("C.6", layout.affine({}, copies=(*_FOUND, "scr1", "scr4")), self_attention=attention)


def input_layer(layout: TuringLayout) -> LayerPlan:
    """Lemma C.7: scr2 = the input symbol of the cell where the head is now, scr4_2 = 1 if there is one."""
    eye = np.eye(layout.symbols, dtype=np.int64)
    value = layout.affine({("sym1", "scr2"): eye}, {"scr4": np.eye(3, dtype=np.int64)[WITHIN]})
    attention = layout.match([("pos3", "pos1", layout.bits)], value)
    functional = layout.affine({}, copies=(*_FOUND, "scr1", "scr2", "scr4"))
    return LayerPlan("C.7", functional, cross_attention=attention)


def choice_layers(layout: TuringLayout, blank: int) -> list[LayerPlan]:
    """Lemma C.8: the symbol under the head is the written one, else that of the input, else the blank."""
    A, aux = layout.symbols, layout.stream.sizes["aux"]
    eye = np.eye(A, dtype=np.int64)
    choose = np.zeros((3, aux), dtype=np.int64)
    choose[VISITED, :3] = [1, -1, -1]
    choose[WITHIN, :3] = [0, 1, -1]

    def gate(choice: int, target: str) -> Integers:
        """Adds the choice to every coordinate of the target."""
        block = np.zeros((aux, layout.stream.sizes[target]), dtype=np.int64)
        block[choice] = 1
        return block

    gates = {("aux", "scr1"): gate(CHOOSE_WRITTEN, "scr1"), ("aux", "scr2"): gate(CHOOSE_INPUT, "scr2")}
    gates[("aux", "aux")] = layout.one("aux", CHOOSE_BLANK, "aux", CHOOSE_BLANK)
    closed = {name: np.full(A, -1) for name in ("scr1", "scr2")}
    outputs = {
        ("scr1", "sym1"): eye,
        ("scr2", "sym1"): eye,
        ("aux", "sym1"): layout.one("aux", CHOOSE_BLANK, "sym1", blank),
        ("pos3", "pos2"): np.eye(layout.bits, dtype=np.int64),
    }
    constant = np.zeros(aux, dtype=np.int64)
    constant[CHOOSE_BLANK] = 1
    copies = ("st", "pos3", "scr1", "scr2")
    return [
        LayerPlan("C.8a", layout.affine({("scr4", "aux"): choose}, {"aux": constant}, copies)),
        LayerPlan("C.8b", layout.affine(gates, closed, copies)),
        LayerPlan("C.8c", layout.affine(outputs, copies=("st",))),
    ]
