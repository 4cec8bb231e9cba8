"""The layers of the Turing transformer for every number P of digits: their units, bit by bit, from the weights.

A unit of a ReLU layer reads a state and a symbol, the two bits of a move, or digits that all enter alike; a coordinate
of a query or a key reads one digit. So each is a Boolean function that a table decides. The tables below run through
all values of all bits that a unit reads, with the compiled weights, and the units of a digit are the same for every P;
proofs/machine_layers.md puts them together, by induction over the digits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.compiled_layers import attended, compiled, functional, layer_named
from lemmata.theorems.turing.units import Place, Unit, compared_digits, form, places, units

Bits = Mapping[Place, int]


@dataclass(frozen=True)
class Function:
    """What a unit has to compute: a function of some bits; None where they cannot occur together."""

    reads: tuple[Place, ...]
    value: Callable[[Bits], int | None]

    def agrees(self, unit: Unit) -> bool:
        """Whether the unit has this value on all values of all bits that the function or the unit reads."""
        every = tuple(dict.fromkeys((*self.reads, *unit.weights)))
        for values in itertools.product((0, 1), repeat=len(every)):
            bits = dict(zip(every, values, strict=True))
            wanted = self.value(bits)
            if wanted is not None and unit(bits) != wanted:
                return False
        return True


SIZES = [(1, 1), (2, 2), (3, 2)]
"""States without the extra one, and symbols."""
KEPT = ("st", "sym2", "pos1", "pos2")
FOUND = (*KEPT, "pos3")
WITHOUT_HEADS = ["C.1a", "C.1b", "C.2 end", "C.2 stay", "C.2a", "C.2b", "C.2c", "C.8a", "C.8b", "C.8c"]


def _copies(layout: TuringLayout, *blocks: str) -> dict[Place, Function]:
    return {(block, r): _bit(block, r) for block in blocks for r in range(layout.stream.sizes[block])}


def _bit(block: str, r: int) -> Function:
    return Function(((block, r),), lambda bits: bits[block, r])


def _and(*ones: Place, none: tuple[Place, ...] = ()) -> Function:
    return Function((*ones, *none), lambda bits: int(all(bits[p] for p in ones) and not any(bits[p] for p in none)))


def _one_of(sources: list[Place]) -> Function:
    """Whether one of the bits is 1, of which at most one is."""

    def value(bits: Bits) -> int | None:
        total = sum(bits[p] for p in sources)
        return total if total <= 1 else None

    return Function(tuple(sources), value)


def expected_functions(transformer: TuringTransformer, name: str) -> dict[Place, Function]:
    """What the units of a layer compute, from the lemmas: Boolean functions, by the place that they write."""
    layout, machine = transformer.layout, transformer.machine
    k, A, P = layout.states, layout.symbols, layout.bits
    left, right = ("q", 0), ("q", 1)
    if name == "C.1a":
        pairs = {("aux", z * A + a): _and(("st", z), ("sym1", a)) for z in range(k) for a in range(A)}
        return {**pairs, **_copies(layout, "pos1", "pos2")}
    if name == "C.1b":
        outcome = {(z, a): machine.table[z][a] for z in range(k - 1) for a in range(A)}
        outcome |= {(k - 1, a): (machine.start, machine.blank, 1) for a in range(A)}
        reads: dict[Place, list[Place]] = {}
        for (z, a), (state, symbol, move) in outcome.items():
            for place in (("st", state), ("sym2", symbol), right if move == 1 else left):
                reads.setdefault(place, []).append(("aux", z * A + a))
        return {**{place: _one_of(pairs) for place, pairs in reads.items()}, **_copies(layout, "pos1", "pos2")}
    if name == "C.2 end":
        first = _and(("pos2", P - 1), none=tuple(("pos2", r) for r in range(P - 1)))
        return {("aux", 0): first, **_copies(layout, *KEPT, "q")}
    if name == "C.2 stay":
        return {**_copies(layout, *KEPT, "q"), left: _and(left, none=(("aux", 0),))}
    if name in ("C.2a", "C.2b", "C.2c"):
        return {**_copies(layout, *KEPT), **_digit_functions(name, P)}
    return _choice_functions(layout, name, machine.blank)


def _digit_functions(name: str, P: int) -> dict[Place, Function]:
    """C.2a: carry and borrow; C.2b: the two halves of the new digit, never with carry and borrow; C.2c: their union."""
    functions: dict[Place, Function] = {}
    for r in range(P):
        lower = tuple(("pos2", s) for s in range(r + 1, P))
        digit, first, second = ("pos2", r), ("aux", r), ("aux", P + r)
        if name == "C.2a":
            functions[first] = _and(("q", 1), *lower)
            functions[second] = _and(("q", 0), none=lower)
        elif name == "C.2b":
            functions[first] = _flip(digit, first, second, keeps=True)
            functions[second] = _flip(digit, first, second, keeps=False)
        else:
            functions["pos3", r] = _one_of([first, second])
    return functions


def _flip(digit: Place, carry: Place, borrow: Place, *, keeps: bool) -> Function:
    def value(bits: Bits) -> int | None:
        b, c, d = (bits[p] for p in (digit, carry, borrow))
        if c and d:
            return None  # the move is not both left and right
        return int(b and not (c or d)) if keeps else int((c or d) and not b)

    return Function((digit, carry, borrow), value)


def _choice_functions(layout: TuringLayout, name: str, blank: int) -> dict[Place, Function]:
    """Lemma C.8: which symbol, the gated symbols, and their union."""
    visited, within = ("scr4", 0), ("scr4", 1)
    written, read, empty = ("aux", 0), ("aux", 1), ("aux", 2)
    symbols = range(layout.symbols)
    if name == "C.8a":
        kinds = {
            written: _and(visited),
            read: _and(within, none=(visited,)),
            empty: _and(none=(visited, within)),
        }
        return {**kinds, **_copies(layout, "st", "pos3", "scr1", "scr2")}
    if name == "C.8b":
        gated = {("scr1", a): _and(("scr1", a), written) for a in symbols}
        gated |= {("scr2", a): _and(("scr2", a), read) for a in symbols}
        return {**gated, empty: _and(empty), **_copies(layout, "st", "pos3")}
    found = {("sym1", a): _one_of([("scr1", a), ("scr2", a), *([empty] if a == blank else [])]) for a in symbols}
    head = {("pos2", r): _and(("pos3", r)) for r in range(layout.bits)}
    return {**found, **head, **_copies(layout, "st")}


def _all_machines_of(bits: int) -> Iterator[TuringTransformer]:
    for states, symbols in SIZES:
        yield compiled(bits, states=states, symbols=symbols, left_end="stay", seed=bits)


@check("turing:lemma-C.1", grade="exact", target="printed")
@check("turing:lemma-C.2", grade="exact", target="printed")
@check("turing:lemma-C.8", grade="exact", target="printed")
@proof_steps("machine_layers.md: 3")
@pytest.mark.parametrize("bits", range(1, 9))
def test_every_unit_is_a_boolean_function_of_the_bits_that_it_reads(bits: int) -> None:
    """All units of all layers without attention, on all values of all bits that they read or should; and no others."""
    tables = 0
    for transformer in _all_machines_of(bits):
        for name in WITHOUT_HEADS:
            found, functions = units(transformer, name), expected_functions(transformer, name)
            assert found.keys() == functions.keys()
            for place, unit in found.items():
                assert functions[place].agrees(unit), (name, place)
                tables += 1
    assert tables > 100


@check("turing:lemma-C.1", grade="exact", target="printed")
@check("turing:lemma-C.2", grade="exact", target="printed")
@check("turing:lemma-C.8", grade="exact", target="printed")
@check("turing:claim-C.5", grade="exact", target="printed")
@proof_steps("machine_layers.md: 2")
@pytest.mark.parametrize("bits", range(1, 11))
def test_units_of_a_digit_are_the_same_for_every_number_of_digits(bits: int) -> None:
    """From P to P + 1 no unit changes, with digits counted from the lowest, and only those of the new digit are added.

    The layers of C.5 are counted from the lowest digit as well: that of digit j of P is that of digit j + 1 of P + 1.
    """
    few, more = (compiled(P, states=2, symbols=2, left_end="stay") for P in (bits, bits + 1))
    for layer in few.layers:
        name, flips = layer.name, layer.name.startswith("C.2") and layer.name not in ("C.2 end", "C.2 stay")
        other = f"C.5 bit {int(name.removeprefix('C.5 bit ')) + 1}" if name.startswith("C.5") else name
        forms = [
            {form(t.layout, place, unit, flips=flips) for place, unit in units(t, which).items()}
            for t, which in ((few, name), (more, other))
        ]
        if name == "C.2 end":  # reads all digits: whether the lowest alone is 1
            kept = {one for one in forms[0] if one[0][0] != "aux"}
            (before,), (after,) = ([one for one in part if one[0][0] == "aux"] for part in forms)
            assert after[1] - before[1] == {(("pos2", bits), -1)}
            assert before[1] < after[1]
            forms = [kept, {one for one in forms[1] if one[0][0] != "aux"}]
        assert forms[0] <= forms[1]
        assert all(written[1] == bits for written, _, _ in forms[1] - forms[0])
        assert len(forms[1]) > len(forms[0])


@check("turing:construction-assembled", grade="exact", target="printed")
@proof_steps("machine_layers.md: 9")
@pytest.mark.parametrize("bits", [1, 2, 5])
def test_layers_with_attention_hand_on_what_they_keep(bits: int) -> None:
    """Their ReLU layers copy bits, each from its own place; C.5 writes the bit that it found to its digit of scr3."""
    for transformer in _all_machines_of(bits):
        layout = transformer.layout
        every = [block for block in layout.stream.sizes if block not in ("q", "aux")]
        kept = {"C.4": every, "C.6": [*FOUND, "scr1", "scr4"], "C.7": [*FOUND, "scr1", "scr2", "scr4"]}
        for layer in transformer.layers:
            if not layer.attentions():
                continue
            number = layer.name.removeprefix("C.5 bit ")
            source = {
                place: place for block in kept.get(layer.name, every) for place in places(layout) if place[0] == block
            }
            if number != layer.name:
                source["scr3", int(number) - 1] = ("scr4", 2)
                del source["scr4", 2]
            found = units(transformer, layer.name)
            assert {place: (dict(unit.weights), unit.bias) for place, unit in found.items()} == {
                place: ({origin: 1}, 0) for place, origin in source.items()
            }


@check("turing:construction-assembled", grade="exact", target="printed")
@proof_steps("machine_layers.md: 1")
@pytest.mark.parametrize("bits", [1, 4])
def test_every_layer_ends_with_the_rounding_that_keeps_bits(bits: int) -> None:
    """The last two ReLU layers of every layer send each coordinate z to 3 relu(z - 1/3) - 3 relu(z - 2/3), its own."""
    third, three = fmpq(1, 3), 3
    for transformer in _all_machines_of(bits):
        d = transformer.layout.width
        eye = np.eye(d, dtype=int)
        for layer in transformer.layers:
            _, expand, collapse = layer.feed_forward.layers
            assert (expand.weight == np.hstack([eye, eye])).all()
            assert (expand.bias == np.array([-third] * d + [-2 * third] * d, dtype=object)).all()
            assert (collapse.weight == np.vstack([three * eye, -three * eye])).all()
            assert not collapse.bias.any()
    for bit in (0, 1):
        assert three * max(bit - third, 0) - three * max(bit - 2 * third, 0) == bit


# ---- attention, digit by digit


def _compared(transformer: TuringTransformer) -> Iterator[tuple[str, list[tuple[Place | None, Place]]]]:
    """Every head, and the digits of query and key that it compares; None where it guesses that the key has a 1."""
    P = transformer.layout.bits
    cell: list[tuple[Place | None, Place]] = [(("pos3", r), ("pos2", r)) for r in range(P)]
    time: list[tuple[Place | None, Place]] = [(("scr3", r), ("pos1", r)) for r in range(P)]
    yield "C.4", cell
    for j in range(P):
        yield f"C.5 bit {j + 1}", [*cell, *time[:j], (None, ("pos1", j))]
    yield "C.6", [*cell, *time]
    yield "C.7", [(("pos3", r), ("pos1", r)) for r in range(P)]


@check("turing:claim-C.4", grade="exact", target="printed")
@check("turing:claim-C.5", grade="exact", target="printed")
@check("turing:claim-C.6", grade="exact", target="printed")
@check("turing:lemma-C.7", grade="exact", target="printed")
@proof_steps("machine_layers.md: 7")
@pytest.mark.parametrize("bits", range(1, 13))
def test_every_compared_digit_adds_one_or_minus_one(bits: int) -> None:
    """Coordinate by coordinate of query and key, on all values of the two digits: 1 if they agree, else -1.

    The last coordinate adds nothing for tokens and D - 1 for the null pair, D the number of digits.
    """
    transformer = compiled(bits)
    for name, digits in _compared(transformer):
        (head,) = layer_named(transformer, name).attentions()
        pairs, last_query, last_key, null = compared_digits(transformer, head)
        assert (last_query.weights, last_query.bias, last_key, null) == ({}, 1, 0, len(digits) - 1)
        assert len(pairs) == len(digits)
        for (query, key), (mine, theirs) in zip(pairs, digits, strict=True):
            assert set(query.weights) == ({mine} if mine else set())
            assert set(key.weights) == {theirs}
            for a, b in itertools.product((0, 1) if mine else (1,), (0, 1)):
                q = query.weights.get(mine, 0) * a + query.bias if mine else query.bias
                assert q * (key.weights[theirs] * b + key.bias) == (1 if a == b else -1)


@check("turing:claim-C.4", grade="exact", target="printed")
@check("turing:claim-C.5", grade="exact", target="printed")
@check("turing:claim-C.6", grade="exact", target="printed")
@check("turing:lemma-C.7", grade="exact", target="printed")
@proof_steps("machine_layers.md: 8")
@pytest.mark.parametrize("bits", [1, 2, 6])
def test_values_are_flags_or_copied_symbols(bits: int) -> None:
    """C.4 and C.5 add 1 to their flag, whoever is attended; C.6 adds sym2 to scr1; C.7 adds sym1 to scr2, and its flag.

    The null pair adds nothing.
    """
    for transformer in _all_machines_of(bits):
        stream, A = transformer.layout.stream, transformer.layout.symbols
        flags = {"C.4": 0, "C.7": 1, **{f"C.5 bit {j + 1}": 2 for j in range(bits)}}
        copied = {"C.6": ("sym2", "scr1"), "C.7": ("sym1", "scr2")}
        for layer in transformer.layers:
            for head in layer.attentions():
                weight, bias = np.zeros((stream.width, stream.width), int), np.zeros(stream.width, int)
                if layer.name in copied:
                    source, target = copied[layer.name]
                    weight[stream[source], stream[target]] = np.eye(A, dtype=int)
                if layer.name in flags:
                    bias[stream["scr4"].start + flags[layer.name]] = 1
                assert np.array_equal(head.value.weight, weight)
                assert np.array_equal(head.value.bias, bias)
                assert not head.null_value.any()


@check("turing:claim-C.4", grade="exact", target="printed")
@check("turing:claim-C.5", grade="exact", target="printed")
@check("turing:claim-C.6", grade="exact", target="printed")
@check("turing:lemma-C.3", grade="exact", target="printed")
@proof_steps("machine_layers.md: 10, 12, 13")
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_the_search_finds_the_last_of_every_set_of_visits(bits: int) -> None:
    """All sets of times 1, ..., 2^P - 1 that stood on the cell, the others on a cell that differs in one digit.

    C.4, C.5 digit by digit, and C.6, on the tokens themselves: flag, digits and symbol of the last visit.
    """
    transformer = compiled(bits, symbols=3)
    layout, stream, cell = transformer.layout, transformer.layout.stream, 1
    times = list(range(1, 2**bits))
    for visited in itertools.product((False, True), repeat=len(times)):
        last = max((t for t, there in zip(times, visited, strict=True) if there), default=0)
        cells = [cell if there else cell ^ (1 << t % bits) for t, there in zip(times, visited, strict=True)]
        memory = np.array([_token(layout, t, before) for t, before in zip(times, cells, strict=True)])
        z = memory[-1] + layout.vector({"pos3": layout.binary(cell)})
        for layer in transformer.layers:
            if layer.self_attention is None:
                continue
            added, gap, _ = attended(layer.self_attention, z, memory)
            assert gap >= 1
            assert all(x.denominator == 1 for x in added)
            (z,) = functional(transformer, [layer.name], (z + np.array([int(x) for x in added]))[None])
            if layer.name.startswith("C.5"):
                found = bits - int(layer.name.removeprefix("C.5 bit "))
                assert z[stream["scr3"]].tolist() == layout.binary(last >> found << found).tolist()
            assert z[stream["scr4"]].tolist() == [int(last > 0), 0, 0]
        symbol = np.eye(3, dtype=int)[last % 3] if last else np.zeros(3, dtype=int)
        assert z[stream["scr1"]].tolist() == symbol.tolist()
        assert not z[stream["scr3"]].any()


def _token(layout: TuringLayout, time: int, before: int) -> np.ndarray:
    """A token of (C.5) but for pos3: time t, the cell before, and t mod 3 as the symbol that was written."""
    blocks = {"sym2": np.eye(3)[time % 3], "pos1": layout.binary(time), "pos2": layout.binary(before)}
    return layout.vector({"st": np.eye(layout.states)[0], **blocks})
