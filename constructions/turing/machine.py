"""Single-tape Turing machines: a complete table over named states and symbols, and the ways to write one down.

A machine is given as a Python table (`machine_from_table`) or in the text format of the busy-beaver community
(`parse_machine`). Terminal states loop and keep moving right, so that every machine can be run for any number of steps.

Source: turing, definition-tm.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

LeftEnd = Literal["refuse", "stay", "two-way"]
LEFT_ENDS: tuple[str, ...] = get_args(LeftEnd)

LEFT, RIGHT = -1, 1
_MOVES = {"L": LEFT, "R": RIGHT}
_MOST_ROWS = 25  # states A to Y of the text format; Z halts
_MOST_SYMBOLS = 10  # the digits
_LISTED = 5  # faults named in one error


class Transition(NamedTuple):
    """The new state, the symbol written, and the move (-1 left, +1 right); states and symbols are indices."""

    state: int
    symbol: int
    move: int


@dataclass(frozen=True)
class TuringMachine:
    """A deterministic single-tape machine with a transition for every state and symbol.

    Attributes:
        name: how the machine is called in reports.
        states: names of the states; index = number used everywhere else.
        symbols: names of the tape symbols, the blank among them.
        table: `table[z][a]` is the transition from state z reading symbol a.
        start: the initial state.
        blank: the symbol of cells that hold no input and were never written.
        accept: terminal states whose output is 1.
        reject: terminal states whose output is 0.
        left_end: what lies left of the first cell: "refuse" (the machine must never move there), "stay" (the head stays
            on the first cell, the textbook rule) or "two-way" (the tape goes on to the left).

    Raises:
        ValueError: for a table of the wrong shape or with indices out of range, a terminal state that does not loop
            moving right, or a state that both accepts and rejects.
    """

    name: str
    states: tuple[str, ...]
    symbols: tuple[str, ...]
    table: tuple[tuple[Transition, ...], ...]
    start: int = 0
    blank: int = 0
    accept: frozenset[int] = frozenset()
    reject: frozenset[int] = frozenset()
    left_end: LeftEnd = "refuse"

    def __post_init__(self) -> None:
        self._check_names()
        k, size = len(self.states), len(self.symbols)
        if len(self.table) != k or any(len(row) != size for row in self.table):
            raise ValueError(f"{self.name}: the table must have {k} rows of {size} transitions, one for every symbol.")
        for z, row in enumerate(self.table):
            for a, step in enumerate(row):
                if not (0 <= step.state < k and 0 <= step.symbol < size and step.move in (LEFT, RIGHT)):
                    raise ValueError(
                        f"{self.name}: the transition of ({self.states[z]}, {self.symbols[a]}) is {tuple(step)}; it "
                        f"needs a state below {k}, a symbol below {size} and a move -1 or +1."
                    )
                if z in self.terminal and step != Transition(z, a, RIGHT):
                    raise ValueError(f"{self.name}: the terminal state {self.states[z]} must loop and move right.")

    def _check_names(self) -> None:
        for what, names in (("states", self.states), ("symbols", self.symbols)):
            if not names or len(set(names)) != len(names):
                raise ValueError(f"{self.name}: the {what} must be at least one and have different names, not {names}.")
        inside = range(len(self.states))
        if self.start not in inside or not self.terminal <= set(inside) or self.blank not in range(len(self.symbols)):
            raise ValueError(
                f"{self.name}: the initial and terminal states and the blank must be indices of the lists."
            )
        if both := self.accept & self.reject:
            raise ValueError(f"{self.name}: the states {sorted(both)} cannot both accept and reject.")
        if self.left_end not in LEFT_ENDS:
            raise ValueError(f"{self.name}: left_end is one of {', '.join(LEFT_ENDS)}, not {self.left_end!r}.")

    @property
    def terminal(self) -> frozenset[int]:
        """The terminal states, in which the machine has halted."""
        return self.accept | self.reject

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """New states, written symbols and moves, each of shape (states, symbols)."""
        steps = np.array(self.table, dtype=np.int64).reshape(len(self.states), len(self.symbols), 3)
        return steps[..., 0].copy(), steps[..., 1].copy(), steps[..., 2].copy()

    def encode(self, word: str | Iterable[str]) -> tuple[int, ...]:
        """The indices of the symbols of an input word: a string of one-letter symbols, or a sequence of names.

        Raises ValueError naming the first symbol that the machine does not have.
        """
        numbers = {name: index for index, name in enumerate(self.symbols)}
        letters = list(word)
        for place, letter in enumerate(letters):
            if letter not in numbers:
                raise ValueError(
                    f"The input has {letter!r} at place {place + 1}, which is no symbol of {self.name}; "
                    f"its symbols are {', '.join(self.symbols)}."
                )
        return tuple(numbers[letter] for letter in letters)


def machine_from_table(
    table: Mapping[tuple[str, str], tuple[str, str, int | str]],
    *,
    start: str,
    blank: str,
    accept: Collection[str] = (),
    reject: Collection[str] = (),
    left_end: LeftEnd = "refuse",
    name: str = "machine",
) -> TuringMachine:
    """A machine from `{(state, symbol): (new state, written symbol, move)}` with move -1, +1, "L" or "R".

    Terminal states have no entries (they loop, moving right); all other states need one for every symbol. States and
    symbols are numbered in the order of appearance, the initial state and the blank first.

    Raises:
        ValueError: for missing transitions, entries of terminal states, or moves that are none.
    """
    if isinstance(accept, str) or isinstance(reject, str):
        raise ValueError("accept and reject are collections of names of states, for example accept={'yes'}.")
    ends = [*accept, *reject]
    states = list(dict.fromkeys([start, *(z for z, _ in table), *(step[0] for step in table.values()), *ends]))
    symbols = list(dict.fromkeys([blank, *(a for _, a in table), *(step[1] for step in table.values())]))
    if extra := [pair for pair in table if pair[0] in ends]:
        raise ValueError(f"{name}: terminal states have no transitions, but there are some for {_listed(extra)}.")
    if missing := [(z, a) for z in states if z not in ends for a in symbols if (z, a) not in table]:
        raise ValueError(
            f"{name}: {len(missing)} transitions are missing, namely those of {_listed(missing)}; every state that is "
            "neither accepting nor rejecting needs one for every symbol."
        )
    z_number, a_number = ({name: index for index, name in enumerate(names)} for names in (states, symbols))

    def step(z: str, a: str) -> Transition:
        if z in ends:
            return Transition(z_number[z], a_number[a], RIGHT)
        state, symbol, move = table[z, a]
        if move not in (LEFT, RIGHT, *_MOVES):
            raise ValueError(f"{name}: the move of ({z}, {a}) is {move!r}; moves are -1 or 'L', and +1 or 'R'.")
        return Transition(z_number[state], a_number[symbol], _MOVES[move] if isinstance(move, str) else int(move))

    return TuringMachine(
        name=name,
        states=tuple(states),
        symbols=tuple(symbols),
        table=tuple(tuple(step(z, a) for a in symbols) for z in states),
        accept=frozenset(z_number[z] for z in accept),
        reject=frozenset(z_number[z] for z in reject),
        left_end=left_end,
    )


def _listed(pairs: Sequence[tuple[str, str]]) -> str:
    text = ", ".join(f"({z}, {a})" for z, a in pairs[:_LISTED])
    return text if len(pairs) <= _LISTED else f"{text} and {len(pairs) - _LISTED} more"


def parse_machine(text: str) -> TuringMachine:
    """A machine in the format of the busy-beaver community, for example `1RB1LB_1LA1RZ`, on a two-way tape.

    One row for each state A, B, ..., separated by underscores; in a row one transition for each symbol 0, 1, ...: the
    symbol written, the move L or R, the new state. Z (or H, where there is no row H) halts; the transition into it
    counts as a step. The undefined transition `---` is read as `1RZ`, by which the community counts steps.

    Raises:
        ValueError: for a malformed string; it says at which character, in which row and for which symbol.
    """
    rows = text.split("_")
    size = len(rows[0]) // 3
    if len(rows) > _MOST_ROWS or not 2 <= size <= _MOST_SYMBOLS:
        raise ValueError(
            f"The machine {text!r} has {len(rows)} rows, the first of {len(rows[0])} characters; there may be 1 to "
            f"{_MOST_ROWS} rows of 2 to {_MOST_SYMBOLS} transitions of three characters, as in 1RB1LB_1LA1RZ."
        )
    k, table, offset = len(rows), [], 0
    for z, row in enumerate(rows):
        if len(row) != 3 * size:
            raise ValueError(
                f"Row {z + 1} (state {_letter(z)}, from character {offset + 1}) of {text!r} has {len(row)} characters; "
                f"like the first row it must have {3 * size}, three for each of the {size} symbols."
            )
        table.append(tuple(_parsed(row[3 * a : 3 * a + 3], a, z, k, size, offset, text) for a in range(size)))
        offset += len(row) + 1
    table.append(tuple(Transition(k, a, RIGHT) for a in range(size)))
    return TuringMachine(
        name=text,
        states=(*(_letter(z) for z in range(k)), "Z"),
        symbols=tuple(str(a) for a in range(size)),
        table=tuple(table),
        accept=frozenset({k}),
        left_end="two-way",
    )


def _letter(z: int) -> str:
    return chr(ord("A") + z)


def _parsed(entry: str, a: int, z: int, k: int, size: int, offset: int, text: str) -> Transition:
    """The transition of state z and symbol a, one of k states and ``size`` symbols; its row starts at ``offset``."""
    if entry == "---":
        return Transition(k, 1, RIGHT)
    states = "".join(_letter(index) for index in range(k))
    halting = "Z" if "H" in states else "ZH"
    allowed = ("".join(str(b) for b in range(size)), "LR", states + halting)
    for place, (character, accepted) in enumerate(zip(entry, allowed, strict=True)):
        if character not in accepted:
            what = ("the symbol written", "the move", "the new state")[place]
            raise ValueError(
                f"Character {offset + 3 * a + place + 1} of {text!r} is {character!r}, in the transition {entry!r} of "
                f"state {_letter(z)} and symbol {a}: {what} must be one of {', '.join(accepted)}."
            )
    state = k if entry[2] in halting else states.index(entry[2])
    return Transition(state, int(entry[0]), _MOVES[entry[1]])


def palindrome_machine() -> TuringMachine:
    """Accepts the palindromes over a, b; crosses out the letters from both ends, never leaving the tape to the left."""
    table: dict[tuple[str, str], tuple[str, str, int]] = {
        ("start", "a"): ("carry a", "X", RIGHT),
        ("start", "b"): ("carry b", "X", RIGHT),
        ("start", "_"): ("accept", "_", RIGHT),
        ("start", "X"): ("accept", "X", RIGHT),
        ("check a", "a"): ("return", "X", LEFT),
        ("check a", "b"): ("reject", "b", RIGHT),
        ("check b", "b"): ("return", "X", LEFT),
        ("check b", "a"): ("reject", "a", RIGHT),
        ("return", "a"): ("return", "a", LEFT),
        ("return", "b"): ("return", "b", LEFT),
        ("return", "X"): ("start", "X", RIGHT),
        ("return", "_"): ("reject", "_", RIGHT),
    }
    for c in "ab":
        table |= {(f"carry {c}", d): (f"carry {c}", d, RIGHT) for d in "ab"}
        table |= {(f"carry {c}", d): (f"check {c}", d, LEFT) for d in "_X"}
        table |= {(f"check {c}", "X"): ("accept", "X", RIGHT), (f"check {c}", "_"): ("reject", "_", RIGHT)}
    return machine_from_table(table, start="start", blank="_", accept={"accept"}, reject={"reject"}, name="palindromes")


def counter_machine() -> TuringMachine:
    """Counts up in binary for ever: a mark # in the first cell, then the number, least significant bit first."""
    table: dict[tuple[str, str], tuple[str, str, int]] = {("start", c): ("carry", "#", RIGHT) for c in "_01#"}
    table |= {("carry", "1"): ("carry", "0", RIGHT), ("carry", "#"): ("carry", "#", RIGHT)}
    table |= {("carry", c): ("return", "1", LEFT) for c in "_0"}
    table |= {("return", c): ("return", c, LEFT) for c in "_01"} | {("return", "#"): ("carry", "#", RIGHT)}
    return machine_from_table(table, start="start", blank="_", name="counter")


BUSY_BEAVERS: dict[int, tuple[str, int]] = {
    2: ("1RB1LB_1LA1RZ", 6),
    3: ("1RB1RZ_1LB0RC_1LC1LA", 21),
    4: ("1RB1LB_1LA0LC_1RZ1LD_1RD0RA", 107),
    5: ("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA", 47_176_870),
}
"""The 2-symbol machines of 2 to 5 states that run longest before they halt, and their numbers of steps."""


def busy_beaver(states: int) -> TuringMachine:
    """The champion of the given number of states, 2 to 5."""
    if states not in BUSY_BEAVERS:
        raise ValueError(f"The busy beavers at hand have 2 to 5 states, not {states}.")
    return parse_machine(BUSY_BEAVERS[states][0])


NAMED_MACHINES: dict[str, Callable[[], TuringMachine]] = {
    "palindromes": palindrome_machine,
    "counter": counter_machine,
    "bb2": lambda: busy_beaver(2),
    "bb3": lambda: busy_beaver(3),
    "bb4": lambda: busy_beaver(4),
    "bb5": lambda: busy_beaver(5),
}
"""Machines that have a name, for the command line."""


def random_machine(rng: np.random.Generator, states: int, symbols: int, left_end: LeftEnd = "two-way") -> TuringMachine:
    """A random machine with uniform transitions; of 3 or more states the last two accept and reject.

    Symbol 0 is the blank and state 0 the initial one.
    """
    if states < 1 or symbols < 1:
        raise ValueError(f"A random machine needs at least one state and one symbol, not {states} and {symbols}.")
    running = states - 2 if states >= 3 else states

    def step(z: int, a: int) -> Transition:
        if z >= running:
            return Transition(z, a, RIGHT)
        return Transition(int(rng.integers(states)), int(rng.integers(symbols)), int(rng.choice((LEFT, RIGHT))))

    return TuringMachine(
        name=f"random machine of {states} states and {symbols} symbols",
        states=tuple(f"q{z}" for z in range(states)),
        symbols=tuple(str(a) for a in range(symbols)),
        table=tuple(tuple(step(z, a) for a in range(symbols)) for z in range(states)),
        accept=frozenset(range(running, states)[:1]),
        reject=frozenset(range(running, states)[1:]),
        left_end=left_end,
    )
