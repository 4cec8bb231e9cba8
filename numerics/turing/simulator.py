"""Reference simulators of a single-tape Turing machine: a plain one in Python, and a compiled one for long runs.

A machine is three arrays of shape (states, symbols): the new state, the symbol written and the move (-1 or +1). Heads
are counted from the start cell, which is 0. Neither simulator shares code with the other or with any network.

Source: turing, definition-tm and outline-4.2.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Run", "Steps", "Tables", "Tape", "advance", "last_visits", "new_tape", "simulate"]

Tables = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

_STAY, _TWO_WAY = 1, 2
_LEFT_ENDS = {"refuse": 0, "stay": _STAY, "two-way": _TWO_WAY}


@dataclass(frozen=True)
class Run:
    """A run of T steps: entry i of every list, 0 <= i <= T, is taken after step i.

    Attributes:
        states: z_i.
        symbols: a_i, the symbol under the head.
        heads: l_i minus the start cell.
        written: u_i, the symbol written in step i; -1 for i = 0.
        last_visit: i', the last t with 1 <= t <= i whose step began in the cell of the head after step i, or 0.
    """

    states: list[int]
    symbols: list[int]
    heads: list[int]
    written: list[int]
    last_visit: list[int]


def simulate(
    tables: Tables, word: Sequence[int], steps: int, *, start: int = 0, blank: int = 0, left_end: str = "two-way"
) -> Run:
    """The run of a machine for a number of steps from a state ``start`` on a word, whose first letter is in cell 0.

    The left end is "refuse" (cell -1 does not exist), "stay" (there the head stays in cell 0) or "two-way".

    Raises:
        ValueError: if the head leaves the tape to the left where that is refused.
    """
    new_state, write, move = (array.tolist() for array in tables)
    tape = dict(enumerate(word))
    visited: dict[int, int] = {}
    state, head = start, 0
    run = Run([state], [tape.get(head, blank)], [head], [-1], [0])
    for i in range(1, steps + 1):
        symbol = tape.get(head, blank)
        tape[head] = write[state][symbol]
        visited[head] = i
        run.written.append(tape[head])
        target = head + move[state][symbol]
        if target < 0 and left_end == "refuse":
            raise ValueError(f"The machine moves left from its first cell in step {i}, where the tape ends.")
        head = 0 if target < 0 and left_end == "stay" else target
        state = new_state[state][symbol]
        run.states.append(state)
        run.symbols.append(tape.get(head, blank))
        run.heads.append(head)
        run.last_visit.append(visited.get(head, 0))
    return run


def last_visits(heads: Sequence[int]) -> list[int]:
    """The last visits i' = max{1 <= t <= i : l_{t-1} = l_i}, or 0, straight from the definition in O(T^2)."""
    return [max((t for t in range(1, i + 1) if heads[t - 1] == heads[i]), default=0) for i in range(len(heads))]


@dataclass
class Tape:
    """The configuration of a long run; ``cells[head + origin]`` is the cell of the head.

    ``left`` and ``right`` bound the cells visited, ``steps`` counts the steps made.
    """

    cells: NDArray[np.uint16]
    origin: int
    state: int
    blank: int
    head: int = 0
    left: int = 0
    right: int = 0
    steps: int = 0

    def visited(self) -> NDArray[np.uint16]:
        """The symbols from the leftmost to the rightmost visited cell."""
        return self.cells[self.origin + self.left : self.origin + self.right + 1]


class Steps(NamedTuple):
    """The states, symbols under the head and heads after each of n steps, three arrays of shape (n,)."""

    states: NDArray[np.uint16]
    symbols: NDArray[np.uint16]
    heads: NDArray[np.int64]


def new_tape(word: Sequence[int], *, start: int = 0, blank: int = 0) -> Tape:
    """The initial configuration on a word, whose first letter is in cell 0."""
    return Tape(np.array([*word, blank], dtype=np.uint16), 0, start, blank)


def advance(tape: Tape, tables: Tables, steps: int, terminal: Collection[int] = (), left_end: str = "two-way") -> Steps:
    """The next steps of a run, which change the tape, until a terminal state at most; see `simulate` for the rules.

    Raises:
        ValueError: as `simulate`; the tape is then as it was before the step refused.
    """
    _make_room(tape, steps + 1)
    stop = np.zeros(len(tables[0]), dtype=np.bool_)
    stop[list(terminal)] = True
    record = Steps(np.empty(steps, np.uint16), np.empty(steps, np.uint16), np.empty(steps, np.int64))
    rule = _LEFT_ENDS[left_end]
    done, state, cell, left, right, refused = _advance(
        tape.cells, *tables, stop, rule, tape.origin, tape.state, tape.head + tape.origin, *record
    )
    tape.state, tape.head, tape.steps = state, cell - tape.origin, tape.steps + done
    tape.left, tape.right = min(tape.left, left - tape.origin), max(tape.right, right - tape.origin)
    if refused:
        raise ValueError(f"The machine moves left from its first cell in step {tape.steps + 1}, where the tape ends.")
    return Steps(record.states[:done], record.symbols[:done], record.heads[:done])


def _make_room(tape: Tape, steps: int) -> None:
    """Have blank cells on both sides, as far as the head can come in so many steps."""
    before = max(0, steps - (tape.head + tape.origin))
    after = max(0, tape.head + tape.origin + steps + 1 - len(tape.cells))
    if before or after:
        slack = len(tape.cells) // 2  # so that growing is rare
        before, after = (size + slack if size else 0 for size in (before, after))
        tape.cells = np.pad(tape.cells, (before, after), constant_values=tape.blank)
        tape.origin += before


@njit(cache=True)
def _advance(
    cells: NDArray[np.uint16],
    new_state: NDArray[np.int64],
    write: NDArray[np.int64],
    move: NDArray[np.int64],
    stop: NDArray[np.bool_],
    rule: int,
    origin: int,
    state: int,
    cell: int,
    states: NDArray[np.uint16],
    symbols: NDArray[np.uint16],
    heads: NDArray[np.int64],
) -> tuple[int, int, int, int, int, bool]:
    left = right = cell
    for i in range(len(states)):
        if stop[state]:
            return i, state, cell, left, right, False
        symbol = cells[cell]
        target = cell + move[state, symbol]
        if target < origin and rule != _TWO_WAY:
            if rule != _STAY:
                return i, state, cell, left, right, True
            target = origin
        cells[cell] = write[state, symbol]
        state = new_state[state, symbol]
        cell = target
        left, right = min(left, cell), max(right, cell)
        states[i], symbols[i], heads[i] = state, cells[cell], cell - origin
    return len(states), state, cell, left, right, False
