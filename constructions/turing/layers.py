"""The weights of the Turing-machine transformer, lemma by lemma: integer maps before the rounding.

At time i a token holds the machine before step i and leaves as the machine after it. Every function returns the layers
of one lemma; `lemmata.constructions.turing.compiler` stacks them and adds the rounding.

Source: turing, lemma-C.1 to lemma-C.8, claim-C.4 to claim-C.6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import Directions, Place
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.constructions.turing.machine import LEFT, RIGHT, TuringMachine

_KEPT = ("st", "sym2", "pos1", "pos2")  # what the update of the head keeps
_FOUND = (*_KEPT, "pos3")  # what the searches keep
VISITED, WITHIN, NEXT_BIT = range(3)  # of scr4
MOVE_LEFT, MOVE_RIGHT = range(2)  # of q
CHOOSE_WRITTEN, CHOOSE_INPUT, CHOOSE_BLANK = range(3)  # of aux, in lemma C.8


def transition_layers(layout: TuringLayout, machine: TuringMachine, start_symbol: int) -> list[DecoderLayer]:
    """Lemma C.1: the pair (state, symbol), then new state, written symbol and move. The time and the head are kept.

    pair = relu(state + symbol - 1). The extra state before step 0 goes to the initial state, writes ``start_symbol``
    and moves right.
    """
    k, A = layout.states, layout.symbols
    st, sym1, sym2, q = (layout.stream.directions(name) for name in ("st", "sym1", "sym2", "q"))
    pairs = layout.stream.directions("aux")[: k * A].reshape(k, A)
    recognised: dict[tuple[Place, Place], ArrayLike] = {(st[z], pairs[z]): 1 for z in range(k)}
    recognised |= {(sym1[a], pairs[:, a]): 1 for a in range(A)}

    outcomes: dict[tuple[Place, Place], ArrayLike] = {}
    new_state, written, move = machine.arrays()
    for z in range(k):
        for a in range(A):
            state, symbol, direction = machine.start, start_symbol, RIGHT
            if z < k - 1:
                state, symbol, direction = int(new_state[z, a]), int(written[z, a]), int(move[z, a])
            moved = q[{LEFT: MOVE_LEFT, RIGHT: MOVE_RIGHT}[direction]]
            outcomes |= {(pairs[z, a], part): 1 for part in (st[state], sym2[symbol], moved)}
    kept = ("pos1", "pos2")
    return [
        _layer("C.1a", layout.affine(recognised, {pairs: -1}, kept)),
        _layer("C.1b", layout.affine(outcomes, copies=kept)),
    ]


def left_end_layers(layout: TuringLayout) -> list[DecoderLayer]:
    """The textbook rule: a move left from cell 1 is dropped, so that the head stays there.

    aux_1 = relu(b_P - sum of the higher digits) is 1 only at cell 1 = Bin(0...01); it is subtracted from the left bit.
    """
    head, at_one = layout.stream.directions("pos2"), layout.stream.directions("aux")[0]
    left = layout.stream.directions("q")[MOVE_LEFT]
    return [
        _layer("C.2 end", layout.affine({(head[:-1], at_one): -1, (head[-1], at_one): 1}, copies=(*_KEPT, "q"))),
        _layer("C.2 stay", layout.affine({(at_one, left): -1}, copies=(*_KEPT, "q"))),
    ]


def head_layers(layout: TuringLayout) -> list[DecoderLayer]:
    """Lemma C.2: pos3 = Bin(l +- 1) in three layers, from pos2 = Bin(l) and the move.

    Carries c_j = relu(right + lower digits - their number), borrows d_j = relu(left - lower digits); then the new digit
    is |b_j - c_j - d_j|, in two halves that the last layer adds. Without a move the head stays; 2^P wraps to 0.
    """
    P = layout.bits
    digits, moves, aux = (layout.stream.directions(name) for name in ("pos2", "q", "aux"))
    lower = np.tril(np.ones((P, P), dtype=np.int64), -1)  # [digit, j] = 1 if the digit is below j
    carry, borrow = aux[:P], aux[P : 2 * P]
    flips: dict[tuple[Place, Place], ArrayLike] = {
        (digits, carry): lower,
        (moves[MOVE_RIGHT], carry): 1,
        (digits, borrow): -lower,
        (moves[MOVE_LEFT], borrow): 1,
    }
    eye = np.eye(P, dtype=np.int64)
    above, below = aux[:P], aux[P : 2 * P]  # relu(b - c - d) and relu(c + d - b), where the flips stood
    halves: dict[tuple[Place, Place], ArrayLike] = {(digits, above): eye, (digits, below): -eye}
    halves |= {(flip, above): -eye for flip in (carry, borrow)} | {(flip, below): eye for flip in (carry, borrow)}
    return [
        _layer("C.2a", layout.affine(flips, {carry: -lower.sum(axis=0)}, copies=_KEPT)),
        _layer("C.2b", layout.affine(halves, copies=_KEPT)),
        _layer("C.2c", layout.affine({(above, "pos3"): eye, (below, "pos3"): eye}, copies=_KEPT)),
    ]


def visited_layer(layout: TuringLayout) -> DecoderLayer:
    """Claim C.4: scr4_1 = 1 if some earlier step stood on the cell where the head is now."""
    value = layout.affine({}, {layout.stream.directions("scr4")[VISITED]: 1})
    names = [name for name in layout.stream.sizes if name not in ("q", "aux")]
    return _layer("C.4", layout.affine({}, copies=names), own=layout.match([_cells(layout)], value))


def search_layer(layout: TuringLayout, j: int) -> DecoderLayer:
    """Claim C.5: digit j + 1 (from 1) of the time of the last visit, given its first j digits in scr3.

    The query guesses that the digit is 1; the null pair wins if no visit has these j + 1 digits.
    """
    found, time, flags = (layout.stream.directions(name) for name in ("scr3", "pos1", "scr4"))
    value = layout.affine({}, {flags[NEXT_BIT]: 1})
    attention = layout.match([_cells(layout), (found[:j], time[:j])], value, one=time[j])
    kept: dict[tuple[Place, Place], ArrayLike] = {
        (part, part): np.eye(len(part), dtype=np.int64)
        for part in (flags[[VISITED, WITHIN]], found[:j], found[j + 1 :])
    }
    kept[flags[NEXT_BIT], found[j]] = 1
    copies = ("st", "sym1", "sym2", "pos1", "pos2", "pos3", "scr1", "scr2")
    return _layer(f"C.5 bit {j + 1}", layout.affine(kept, copies=copies), own=attention)


def copy_layer(layout: TuringLayout) -> DecoderLayer:
    """Claim C.6: scr1 = the symbol that was written at the last visit, else 0."""
    visits = layout.stream.directions("scr3"), layout.stream.directions("pos1")
    value = layout.affine({("sym2", "scr1"): np.eye(layout.symbols, dtype=np.int64)})
    attention = layout.match([_cells(layout), visits], value)
    return _layer("C.6", layout.affine({}, copies=(*_FOUND, "scr1", "scr4")), own=attention)


def input_layer(layout: TuringLayout) -> DecoderLayer:
    """Lemma C.7: scr2 = the input symbol of the cell where the head is now, scr4_2 = 1 if there is one."""
    head, cell, flags = (layout.stream.directions(name) for name in ("pos3", "pos1", "scr4"))
    value = layout.affine({("sym1", "scr2"): np.eye(layout.symbols, dtype=np.int64)}, {flags[WITHIN]: 1})
    functional = layout.affine({}, copies=(*_FOUND, "scr1", "scr2", "scr4"))
    return _layer("C.7", functional, cross=layout.match([(head, cell)], value))


def choice_layers(layout: TuringLayout, blank: int) -> list[DecoderLayer]:
    """Lemma C.8: the symbol under the head is the written one, else that of the input, else the blank."""
    flags, aux, symbol = (layout.stream.directions(name) for name in ("scr4", "aux", "sym1"))
    visited, within = flags[VISITED], flags[WITHIN]
    old, read, empty = aux[CHOOSE_WRITTEN], aux[CHOOSE_INPUT], aux[CHOOSE_BLANK]
    choices: dict[tuple[Place, Place], ArrayLike] = {
        (visited, old): 1,
        (visited, read): -1,
        (visited, empty): -1,
        (within, read): 1,
        (within, empty): -1,
    }
    gates: dict[tuple[Place, Place], ArrayLike] = {(old, "scr1"): 1, (read, "scr2"): 1, (empty, empty): 1}
    eye = np.eye(layout.symbols, dtype=np.int64)
    outputs = {
        ("scr1", "sym1"): eye,
        ("scr2", "sym1"): eye,
        (empty, symbol[blank]): 1,
        ("pos3", "pos2"): np.eye(layout.bits, dtype=np.int64),
    }
    copies = ("st", "pos3", "scr1", "scr2")
    return [
        _layer("C.8a", layout.affine(choices, {empty: 1}, copies)),
        _layer("C.8b", layout.affine(gates, {"scr1": -1, "scr2": -1}, copies)),
        _layer("C.8c", layout.affine(outputs, copies=("st",))),
    ]


def _cells(layout: TuringLayout) -> tuple[Directions, Directions]:
    """Where the head is now, and where it was before an earlier step."""
    return layout.stream.directions("pos3"), layout.stream.directions("pos2")


def _layer(name: str, functional: Affine, own: Head | None = None, cross: Head | None = None) -> DecoderLayer:
    return DecoderLayer(name, own, cross, FeedForward((functional,)))
